"""Pages that a student can fetch while lessons are graded at hand-in. What goes wrong with one stops no other."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from html import escape

from ..errors import CourseError, escaped, one_line
from ..paths import Course, Lesson, replace_bytes
from .attempts import FULL, OPEN
from .deliveries import Files
from .exchange import CollectPlainFiles
from .feedback import PAGE_SECONDS, at_most, make_page
from .rules import Rules, now_utc
from .sanitize import IN_HEAD
from .submissions import SECRET, TIMESTAMP

NOTICE_STYLE = "<style>:root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; }</style>"


class Pages:
    """Makes pages and has nbgrader release them."""

    def __init__(self, course: Course, exchange: CollectPlainFiles, say: Callable[[str], None]) -> None:
        self._course, self._exchange, self._say = course, exchange, say

    def release(self, target: Course, lesson: Lesson, student: str, rules: Rules) -> str:
        """Make a student's feedback and release it; return which one it is, `open` or `full`.

        Args:
            target: where the graded notebook is.
            lesson: of which lesson.
            student: whose.
            rules: the lesson's.
        """
        try:
            with at_most(PAGE_SECONDS):
                make_page(target, lesson, student)
            self._hand_out(target, lesson, student)
        except (CourseError, OSError) as error:
            self._say(f"{escaped(student)}  {lesson.name}  no feedback: {one_line(str(error))}")
            return FULL
        return FULL if rules.explains_hidden(now_utc()) else OPEN

    def release_notice(self, lesson: Lesson, student: str, files: Files, why: str) -> None:
        """Release a page that says why there is no feedback."""
        apart = apart_from(self._course, lesson, student)
        page = apart.feedback_page(lesson, student)
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(page, notice_page(lesson, why).encode())
            for name in {SECRET, TIMESTAMP} & files.keys():
                replace_bytes(page.with_name(name), files[name])
            self._hand_out(apart, lesson, student)
        except (CourseError, OSError) as error:
            self._say(f"{escaped(student)}  {lesson.name}  not told why: {one_line(str(error))}")
        forget(apart)

    def _hand_out(self, target: Course, lesson: Lesson, student: str) -> None:
        """Have nbgrader release a page, where the work came through the exchange."""
        if target.feedback_page(lesson, student).with_name(SECRET).is_file():
            self._exchange.release(lesson, student, target.feedback)


def notice_page(lesson: Lesson, why: str) -> str:
    """Return a page that says why there is no feedback."""
    head = f'<meta charset="utf-8"><title>{escape(lesson.name)}</title>{IN_HEAD}{NOTICE_STYLE}'
    words = escape(f"An attempt was not graded. {why[:1].upper()}{why[1:]}")
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><p>{words}</p></body></html>'


def apart_from(course: Course, lesson: Lesson, student: str) -> Course:
    """Return the course as it is for one attempt that does not count."""
    return replace(course, attempt=f"{student}/{lesson.name}")


def forget(course: Course) -> None:
    """Remove what was needed to grade one attempt apart."""
    if course.attempt:
        shutil.rmtree(course.attempts / course.attempt, ignore_errors=True)
