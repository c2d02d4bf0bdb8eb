"""One submission in, one graded notebook out: a pure function of bytes, which runs wherever Python does.

May import `judging` and `errors`; knows no gradebook and no path of the course.
"""
