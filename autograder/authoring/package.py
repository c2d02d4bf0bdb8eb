"""A lesson as grading needs it, read from its folder."""

from __future__ import annotations

from functools import lru_cache

from ..grading.package import QUESTION_PREFIX, LessonPackage
from ..judging.answer_key import load_answer_key
from ..paths import Lesson, digest
from .lesson import lesson_source, read_lesson
from .notebook import released_notebook, text_of


def package_of(lesson: Lesson) -> LessonPackage:
    """Read a lesson once, and again when its files have changed.

    The notebook in it follows from the lesson's text alone: what somebody did to the released one does not matter.

    Raises:
        LessonError: the lesson does not fit together.
    """
    return _package(lesson, digest(lesson.text, lesson.checks, lesson.hidden, *lesson.modules))


@lru_cache(maxsize=8)
def _package(lesson: Lesson, _digest: str) -> LessonPackage:
    cells = read_lesson(lesson)
    source = lesson_source(lesson, cells)
    key = load_answer_key(source)
    released = text_of(released_notebook(cells, key.points()))
    rubrics = {QUESTION_PREFIX + cell.name: cell.text for cell in cells if cell.kind == "question"}
    fingerprints = lesson.fingerprints.read_text(encoding="utf-8") if lesson.fingerprints.is_file() else "{}"
    package = LessonPackage(source, released, fingerprints, rubrics)
    package.__dict__["key"] = key  # loaded already
    return package
