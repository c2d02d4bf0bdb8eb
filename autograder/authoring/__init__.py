"""From lesson.py to everything that is generated from it, and the proof that it fits together.

May import `grading` (the proof grades through the real thing), `judging`, `student`, `paths` and `errors`.
"""
