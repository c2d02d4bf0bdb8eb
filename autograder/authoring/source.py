"""nbgrader's source folder of a lesson: what it makes students' files from."""

from __future__ import annotations

import shutil

from ..judging.answer_key import AnswerKey
from ..paths import Lesson
from .lesson import LessonCell, read_lesson
from .notebook import source_notebook, text_of
from .package import package_of


def source_files(cells: list[LessonCell], key: AnswerKey, fingerprints: str) -> dict[str, str]:
    """Return nbgrader's source folder, by file name. It holds only what is named here: students get all of it."""
    notebook = text_of(source_notebook(cells, key.points()))
    beside = {"checks.py": key.source.checks, "fingerprints.json": fingerprints, **dict(key.source.modules)}
    return {f"{key.source.name}.ipynb": notebook, **beside}


def write_source(lesson: Lesson, files: dict[str, str]) -> None:
    """Write nbgrader's source folder, and nothing else into it."""
    shutil.rmtree(lesson.source, ignore_errors=True)
    lesson.source.mkdir(parents=True)
    for name, text in files.items():
        (lesson.source / name).write_text(text, encoding="utf-8")


def ensure_source(lesson: Lesson) -> None:
    """Write nbgrader's source folder where it is missing or old: a fresh clone has released notebooks only."""
    package = package_of(lesson)
    files = source_files(read_lesson(lesson), package.key, package.fingerprints)
    there = {p.name: p.read_text(encoding="utf-8") for p in lesson.source.glob("*") if p.is_file()}
    if there != files:
        write_source(lesson, files)
