"""A whole class: collect, grade, write the gradebook, give feedback, report, export. The only layer with a gradebook.

May import every other layer.
"""
