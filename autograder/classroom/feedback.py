"""Feedback pages: nbgrader makes them, one student at a time, and each is sealed against what it shows.

Who handed in what was not graded has a page that says why, which comes back the way that feedback does.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from types import FrameType

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import open_nbgrader, raise_on_failure
from ..errors import CourseError, command, escaped, one_line
from ..paths import Course, Lesson, replace_bytes, replace_text
from .sanitize import IN_HEAD, without_scripts
from .submissions import ODD_ID, SECRET, TIMESTAMP, files_beside, is_odd, refusal_of

PAGE_MODE = 0o644  # whatever the teacher's umask is
PAGE_SECONDS = 30.0  # a page takes one or two
NO_PAGE = "It was graded, and no page could be made: "
WAITS = "It was handed in, and is graded "
STYLE = "<style>:root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; }</style>"
TOO_SLOW = f"the page takes longer than {PAGE_SECONDS:g} seconds to make: look at the notebook's text"


@dataclass(frozen=True)
class Feedback:
    """What came of making a lesson's pages."""

    pages: list[str]  # the pages' paths, as messages show them
    failed: dict[str, str]  # who has none, and why

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
    """Raise CourseError where this takes more processor time on the main thread, where the system has such an alarm.

    The alarm counts all threads' time, so it says no more than that it is time to look; and what runs may swallow an
    exception. So it comes again and again.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    late, ends = threading.Event(), time.thread_time() + seconds

    def ring(_number: int, _frame: FrameType | None) -> None:
        if time.thread_time() < ends:
            return
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
    page = course.feedback_page(lesson, student)
    if not page.is_file():
        raise CourseError(f"there is no graded notebook: `{command('grade')}`")
    write_page(page, without_scripts(page.read_text(encoding="utf-8")))  # nbgrader has made it read-only


def write_page(page: Path, text: str) -> None:
    """Write a page so that its student can read it: the exchange gets a copy with the same mode."""
    replace_text(page, text)
    page.chmod(PAGE_MODE)


def release_notice(
    course: Course,
    lesson: Lesson,
    student: str,
    files: Mapping[str, bytes],
    why: str,
    release: Callable[[Lesson, str, Path], None],
) -> None:
    """Make a page that says why there is no feedback, and release it, where the work came through the exchange.

    Without nbgrader's secret among the files that lie beside the work, no page finds its way back.

    Raises:
        CourseError: nbgrader could not.
        OSError: the page cannot be written.
    """
    if SECRET not in files:
        return
    apart = course_of_attempt(course, lesson, student)
    try:
        write_notice(apart, lesson, student, files, why)
        release(lesson, student, apart.feedback)
    finally:
        remove_attempt(apart)


def write_notice(course: Course, lesson: Lesson, student: str, files: Mapping[str, bytes], why: str) -> Path:
    """Write a page that says why there is no feedback, and beside it what nbgrader releases it by; return its path."""
    page = course.feedback_page(lesson, student)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_page(page, notice_page(lesson, why))
    for name in {SECRET, TIMESTAMP} & files.keys():
        replace_bytes(page.with_name(name), files[name])
    return page


def notice_page(lesson: Lesson, why: str) -> str:
    """Return a page that says why there is no feedback."""
    head = f'<meta charset="utf-8"><title>{escape(lesson.name)}</title>{IN_HEAD}{STYLE}'
    what = "" if why.startswith((NO_PAGE, WAITS)) else "An attempt was not graded. "
    words = escape(f"{what}{why[:1].upper()}{why[1:]}")
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><p>{words}</p></body></html>'


def course_of_attempt(course: Course, lesson: Lesson, student: str) -> Course:
    """Return the course as it is for one attempt that does not count."""
    return replace(course, attempt=f"{student}/{lesson.name}")


def remove_attempt(course: Course) -> None:
    """Remove what was needed to grade one attempt apart."""
    if course.attempt:
        shutil.rmtree(course.attempts / course.attempt, ignore_errors=True)
