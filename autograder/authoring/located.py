"""Errors in what an author wrote, with the file and the line that they come from."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import CourseError, LessonError
from ..paths import Lesson
from .lesson import at_line, line_in_lesson, read_lesson, solution_of


@contextmanager
def located(lesson: Lesson) -> Iterator[None]:
    """Turn an error in a lesson's own files into a LessonError that names file and line.

    An error that comes from nowhere in them is ours, and goes on as it is.
    """
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        where = place_of(lesson, error)
        if not where:
            raise
        said = f"{error.msg}." if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        raise LessonError(where, said) from error


def place_of(lesson: Lesson, error: Exception) -> str:
    """Return the last place in a lesson's own files that an error went through, or ''."""
    frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno or 0))
    for name, line in reversed(frames):
        folder, _, file = name.rpartition("/")
        if folder == lesson.shown(lesson.folder):
            return at_line(name, line_of_solution(lesson, line) if file == lesson.lesson_py.name else line)
    return ""


def line_of_solution(lesson: Lesson, line: int) -> int:
    """Return where a line of the reference, which is the setup and all solutions, is in lesson.py."""
    for cell in read_lesson(lesson):
        if cell.kind in ("setup", "exercise"):
            length = len(solution_of(cell).split("\n"))
            if line <= length:
                return line_in_lesson(cell, line)
            line -= length + 1
    return 0
