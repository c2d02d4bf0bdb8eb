"""What happens in a student's workspace: `check`, predictions, progress, and handing in. Knows no solution.

May import `judging`, `paths` and `errors`; nothing of nbgrader and nothing of the instructor's layers.
"""
