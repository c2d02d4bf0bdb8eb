"""A lesson as grading needs it, read from its folder."""

from __future__ import annotations

from functools import lru_cache

from ..grading.package import LessonPackage
from ..judging.answer_key import load_answer_key
from ..judging.cell_metadata import QUESTION_PREFIX
from ..paths import Lesson, digest
from .lesson import lesson_source, read_lesson
from .nbgrader_course import graded_questions
from .notebook import notebook_text, released_notebook

load_once = lru_cache(maxsize=16)(load_answer_key)  # copies of a lesson share one answer key


def package_of(lesson: Lesson) -> LessonPackage:
    """Read a lesson once, and again when its files, their names or the questions that count have changed.

    The notebook in it follows from the lesson's text alone: what somebody did to the released one does not matter.

    Raises:
        LessonError: the lesson does not fit together.
    """
    read = tuple((path.name, digest(path)) for path in lesson.written_files)
    return _package(lesson, read, tuple(graded_questions(lesson.root)))


@lru_cache(maxsize=16)
def _package(lesson: Lesson, _files: tuple[tuple[str, str], ...], _questions: tuple[str, ...]) -> LessonPackage:
    cells = read_lesson(lesson)
    key = load_once(lesson_source(lesson, cells))
    released = notebook_text(released_notebook(cells, key.points()))
    rubrics = {QUESTION_PREFIX + cell.name: cell.text for cell in cells if cell.kind == "question"}
    return LessonPackage(key, released, rubrics, {path.name: path.read_bytes() for path in lesson.data_files})
