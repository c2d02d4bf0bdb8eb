"""`make bench`: how fast grading is."""
