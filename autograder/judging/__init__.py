"""From a student's values to a verdict, the same way in the student's workspace and when graded.

No processes and no notebooks; of files, Python's own. May import `errors`; needs torch, and IPython's parser of cells.
"""
