"""Feedback pages: nbgrader makes them, one student at a time."""

from __future__ import annotations

from ..authoring.nbgrader_course import open_nbgrader, raise_on_failure
from ..paths import Course, Lesson


def make_feedback(course: Course, lesson: Lesson) -> list[str]:
    """Make the feedback page of every graded submission; return the pages' paths.

    Raises:
        CourseError: nbgrader failed at a page.
    """
    students = sorted(folder.parent.name for folder in course.autograded.glob(f"*/{lesson.name}"))
    for student in students:
        result = open_nbgrader(course).generate_feedback(lesson.name, student, force=True)
        raise_on_failure(result, f"no feedback for {student}")
    pages = [course.feedback_page(lesson, student) for student in students]
    return [lesson.shown(page) for page in pages if page.exists()]
