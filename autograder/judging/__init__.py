"""From a student's values to a verdict, the same way at the student's desk and when graded.

Pure: no files, no processes, no notebooks. May import `paths` and `errors`; needs torch, and IPython's parser of cells.
"""
