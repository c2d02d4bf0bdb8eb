"""A lesson as grading needs it, read from its folder, and as nbgrader makes students' files from it."""

from __future__ import annotations

import shutil
from functools import lru_cache

from ..grading.package import LessonPackage
from ..judging.answer_key import AnswerKey, load_answer_key
from ..judging.cell_metadata import QUESTION_PREFIX
from ..paths import Lesson, digest
from .lesson import LessonCell, lesson_source, read_lesson
from .nbgrader_course import graded_questions
from .notebook import notebook_text, released_notebook, source_notebook

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


def source_files(lesson: Lesson, cells: list[LessonCell], key: AnswerKey, fingerprints: str) -> dict[str, bytes]:
    """Return nbgrader's source folder, by file name. It holds only what is named here: students get all of it."""
    notebook = notebook_text(source_notebook(cells, key.points()))
    files = {f"{lesson.name}.ipynb": notebook.encode(), lesson.fingerprints_json.name: fingerprints.encode()}
    return files | {path.name: path.read_bytes() for path in lesson.released_files}


def write_source(lesson: Lesson, files: dict[str, bytes]) -> None:
    """Write nbgrader's source folder, and nothing else into it."""
    shutil.rmtree(lesson.nbgrader_source_dir, ignore_errors=True)
    lesson.nbgrader_source_dir.mkdir(parents=True)
    for name, content in files.items():
        (lesson.nbgrader_source_dir / name).write_bytes(content)


def ensure_nbgrader_source(lesson: Lesson) -> None:
    """Write nbgrader's source folder where it is missing or old: a fresh clone has released notebooks only."""
    package = package_of(lesson)
    fingerprints = lesson.fingerprints_json.read_text(encoding="utf-8") if lesson.fingerprints_json.is_file() else "{}"
    files = source_files(lesson, read_lesson(lesson), package.key, fingerprints)
    existing = {p.name: p.read_bytes() for p in lesson.nbgrader_source_dir.glob("*") if p.is_file()}
    if existing != files:
        write_source(lesson, files)
