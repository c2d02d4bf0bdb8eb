"""nbgrader's source folder of a lesson: what it makes students' files from."""

from __future__ import annotations

import shutil

from ..judging.answer_key import AnswerKey
from ..paths import Lesson
from .lesson import LessonCell, read_lesson
from .notebook import notebook_text, source_notebook
from .package import package_of


def source_files(lesson: Lesson, cells: list[LessonCell], key: AnswerKey, fingerprints: str) -> dict[str, bytes]:
    """Return nbgrader's source folder, by file name. It holds only what is named here: students get all of it."""
    notebook = notebook_text(source_notebook(cells, key.points()))
    made = {f"{lesson.name}.ipynb": notebook.encode(), lesson.fingerprints.name: fingerprints.encode()}
    return made | {path.name: path.read_bytes() for path in lesson.beside}


def write_source(lesson: Lesson, files: dict[str, bytes]) -> None:
    """Write nbgrader's source folder, and nothing else into it."""
    shutil.rmtree(lesson.source, ignore_errors=True)
    lesson.source.mkdir(parents=True)
    for name, content in files.items():
        (lesson.source / name).write_bytes(content)


def ensure_source(lesson: Lesson) -> None:
    """Write nbgrader's source folder where it is missing or old: a fresh clone has released notebooks only."""
    package = package_of(lesson)
    fingerprints = lesson.fingerprints.read_text(encoding="utf-8") if lesson.fingerprints.is_file() else "{}"
    files = source_files(lesson, read_lesson(lesson), package.key, fingerprints)
    there = {p.name: p.read_bytes() for p in lesson.source.glob("*") if p.is_file()}
    if there != files:
        write_source(lesson, files)
