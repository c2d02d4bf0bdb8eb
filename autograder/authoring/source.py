"""nbgrader's source folder of a lesson: what it makes students' files from."""

from __future__ import annotations

import shutil

from ..judging.answer_key import AnswerKey
from ..paths import Lesson
from .lesson import LessonCell, read_lesson
from .lesson_package import package_of
from .notebook import notebook_text, source_notebook


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
