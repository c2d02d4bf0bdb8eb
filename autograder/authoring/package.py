"""A lesson as grading needs it, read from its folder."""

from __future__ import annotations

from functools import lru_cache

from ..grading.package import QUESTION_PREFIX, LessonPackage
from ..judging.answer_key import AnswerKey, load_answer_key
from ..paths import Lesson, digest
from .lesson import LessonCell, lesson_source, read_lesson
from .notebook import released_notebook, text_of


def package_of(lesson: Lesson) -> LessonPackage:
    """Read a lesson once, and again when its files have changed.

    The notebook in it follows from the lesson's text alone: what somebody did to the released one does not matter.

    Raises:
        LessonError: the lesson does not fit together.
    """
    fingerprints = lesson.fingerprints.read_text(encoding="utf-8") if lesson.fingerprints.is_file() else "{}"
    files = (lesson.text, lesson.checks, lesson.hidden, *lesson.modules, *lesson.data)
    return _package(lesson, digest(*files), fingerprints)


@lru_cache(maxsize=8)
def _package(lesson: Lesson, _digest: str, fingerprints: str) -> LessonPackage:
    cells = read_lesson(lesson)
    return package_with(lesson, load_answer_key(lesson_source(lesson, cells)), cells, fingerprints)


def package_with(lesson: Lesson, key: AnswerKey, cells: list[LessonCell], fingerprints: str) -> LessonPackage:
    """Return a lesson as grading needs it, with an answer key that is loaded already."""
    released = text_of(released_notebook(cells, key.points()))
    rubrics = {QUESTION_PREFIX + cell.name: cell.text for cell in cells if cell.kind == "question"}
    data = tuple((path.name, path.read_bytes()) for path in lesson.data)
    return LessonPackage(key, released, fingerprints, rubrics, data)
