"""Feedback pages: nbgrader makes them, one student at a time, and each is sealed against what it shows."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import open_nbgrader, raise_on_failure
from ..errors import CourseError, command, escaped, one_line
from ..paths import Course, Lesson, replace_text
from .notices import write_notice
from .sanitize import without_scripts
from .submissions import ODD_ID, files_beside, is_odd, refusal_of

PAGE_SECONDS = 30.0  # a page takes one or two
TOO_SLOW = f"the page takes longer than {PAGE_SECONDS:g} seconds to make: look at the notebook's text"


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
        without = (f"no feedback for {escaped(student)}: {why}" for student, why in sorted(self.failed.items()))
        return [*map(escaped, self.pages), *without]


def make_feedback(course: Course, lesson: Lesson) -> Feedback:
    """Make the feedback page of every graded submission; one that cannot be made stops no other.

    Who has handed in nothing that can be graded has a page that says why.
    """
    pages, failed = [], {}
    graded = sorted(folder.parent.name for folder in course.autograded.glob(f"*/{lesson.name}"))
    for student in course.students(lesson):
        if student not in graded and (why := refusal_of(course, lesson, student, package_of(lesson))):
            beside = files_beside(course, lesson, student)
            pages.append(lesson.shown(write_notice(course, lesson, student, beside, why)))
    for student in graded:
        page = course.feedback_page(lesson, student)
        try:
            if is_odd(student):
                raise CourseError(f"{ODD_ID}: rename the folder")
            with at_most(PAGE_SECONDS):
                make_page(course, lesson, student)
            pages.append(lesson.shown(page))
        except Exception as error:
            page.unlink(missing_ok=True)  # an old page would pass for this one
            failed[student] = one_line(str(error) or type(error).__name__)
    return Feedback(pages, failed)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise CourseError where this takes more processor time, on the main thread of systems that have such an alarm.

    What runs may swallow an exception, so the alarm comes again and again.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    late = threading.Event()

    def ring(_number: int, _frame: FrameType | None) -> None:
        late.set()
        raise CourseError(TOO_SLOW)

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    except Exception as error:
        if late.is_set():
            raise CourseError(TOO_SLOW) from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def make_page(course: Course, lesson: Lesson, student: str) -> None:
    """Have nbgrader make one page, and seal it. Raises CourseError where it does not."""
    result = open_nbgrader(course).generate_feedback(lesson.name, student, force=True)
    raise_on_failure(result, "nbgrader could not make the page")
    if not course.feedback_page(lesson, student).is_file():
        raise CourseError(f"there is no graded notebook: `{command('grade')}`")
    rewrite(course.feedback_page(lesson, student), without_scripts)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change a page that nbgrader has written, and made read-only."""
    replace_text(path, change(path.read_text(encoding="utf-8")))
