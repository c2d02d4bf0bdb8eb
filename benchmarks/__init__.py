"""`make bench`: how fast grading is, beside stock nbgrader."""
