"""From a student's values to a verdict, the same way at the student's desk and when graded.

Pure: no files, no processes, no notebooks. May import `paths` and `errors`, and needs torch only.
"""
