"""Feedback pages: nbgrader makes them, one student at a time, and each is sealed against what it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..authoring.nbgrader_course import open_nbgrader, raise_on_failure
from ..errors import CourseError, one_line
from ..paths import Course, Lesson
from .sanitize import lock_down


@dataclass(frozen=True)
class Feedback:
    """What came of making a lesson's pages.

    Args:
        pages: the pages' paths, as messages show them.
        failed: who has none, and why.
    """

    pages: list[str]
    failed: dict[str, str]

    def lines(self) -> list[str]:
        """Return what to tell the instructor."""
        return [*self.pages, *(f"no feedback for {student}: {why}" for student, why in sorted(self.failed.items()))]


def make_feedback(course: Course, lesson: Lesson) -> Feedback:
    """Make the feedback page of every graded submission; one that cannot be made stops no other."""
    pages, failed = [], {}
    for student in sorted(folder.parent.name for folder in course.autograded.glob(f"*/{lesson.name}")):
        page = course.feedback_page(lesson, student)
        try:
            make_page(course, lesson, student)
            rewrite(page, lock_down)
            pages.append(lesson.shown(page))
        except Exception as error:
            page.unlink(missing_ok=True)  # an old page would pass for this one
            failed[student] = one_line(str(error) or type(error).__name__)
    return Feedback(pages, failed)


def make_page(course: Course, lesson: Lesson, student: str) -> None:
    """Have nbgrader make one page. Raises CourseError where it does not."""
    result = open_nbgrader(course).generate_feedback(lesson.name, student, force=True)
    raise_on_failure(result, "nbgrader could not make the page")
    if not course.feedback_page(lesson, student).is_file():
        raise CourseError("there is no graded notebook: `make grade`")


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change a page that nbgrader has written, and made read-only."""
    text = change(path.read_text(encoding="utf-8"))
    path.unlink()
    path.write_text(text, encoding="utf-8")
