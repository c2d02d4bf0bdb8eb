"""Pages that say why something was not graded, for whoever handed it in: they come back the way that feedback does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path

from ..paths import Course, Lesson, replace_bytes
from .sanitize import IN_HEAD
from .submissions import SECRET, TIMESTAMP

GRADED = "It was graded, and no page could be made: "
STYLE = "<style>:root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; }</style>"


def release_notice(
    course: Course,
    lesson: Lesson,
    student: str,
    files: Mapping[str, bytes],
    why: str,
    release: Callable[[Lesson, str, Path], None],
) -> None:
    """Make a page that says why there is no feedback, and release it, where the work came through the exchange.

    Args:
        course: the course.
        lesson: of which lesson.
        student: whose.
        files: what lies beside the work, by name; without nbgrader's secret, no page finds its way back.
        why: the reason.
        release: has nbgrader release what is in a folder of pages.

    Raises:
        CourseError: nbgrader could not.
        OSError: the page cannot be written.
    """
    if SECRET not in files:
        return
    apart = apart_from(course, lesson, student)
    try:
        write_notice(apart, lesson, student, files, why)
        release(lesson, student, apart.feedback)
    finally:
        forget(apart)


def write_notice(course: Course, lesson: Lesson, student: str, files: Mapping[str, bytes], why: str) -> Path:
    """Write a page that says why there is no feedback, and beside it what nbgrader releases it by; return its path."""
    page = course.feedback_page(lesson, student)
    page.parent.mkdir(parents=True, exist_ok=True)
    replace_bytes(page, notice_page(lesson, why).encode())
    for name in {SECRET, TIMESTAMP} & files.keys():
        replace_bytes(page.with_name(name), files[name])
    return page


def notice_page(lesson: Lesson, why: str) -> str:
    """Return a page that says why there is no feedback."""
    head = f'<meta charset="utf-8"><title>{escape(lesson.name)}</title>{IN_HEAD}{STYLE}'
    what = "" if why.startswith(GRADED) else "An attempt was not graded. "
    words = escape(f"{what}{why[:1].upper()}{why[1:]}")
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><p>{words}</p></body></html>'


def apart_from(course: Course, lesson: Lesson, student: str) -> Course:
    """Return the course as it is for one attempt that does not count."""
    return replace(course, attempt=f"{student}/{lesson.name}")


def forget(course: Course) -> None:
    """Remove what was needed to grade one attempt apart."""
    if course.attempt:
        shutil.rmtree(course.attempts / course.attempt, ignore_errors=True)
