"""lesson.py to everything that is made from it: solved notebook, nbgrader's source, release, fingerprints."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from .errors import LessonError
from .kit import Kit, load_kit
from .lessons import Course, Lesson
from .manifest import refuse_edited, write_manifest
from .nbgrader_api import api_of, require
from .notebooks import read_notebook, solved_notebook, source_notebook, text_of, tidy

CELL_SECONDS = 60


def build(course: Course, lesson: Lesson) -> None:
    """Make all generated files of a lesson.

    Raises:
        EditedByHandError: a generated file holds changes that a build would destroy; nothing was written.
        LessonError: the lesson does not fit together or does not run.
    """
    refuse_edited(lesson, generated(lesson))
    kit = load_kit(lesson)
    make_source(kit)
    release(course, lesson)
    solved = execute(kit)
    lesson.solved.write_text(text_of(solved), encoding="utf-8")
    write_manifest(lesson, generated(lesson))


def generated(lesson: Lesson) -> dict[Path, Path]:
    """Return each generated and committed file with the file that a change to it belongs into."""
    return {
        lesson.solved: lesson.text,
        lesson.released / lesson.notebook: lesson.text,
        lesson.released / "checks.py": lesson.checks,
        lesson.released / "fingerprints.json": lesson.hidden,
    }


def make_source(kit: Kit) -> None:
    """Write nbgrader's source folder. It holds only what is named here: nbgrader gives students all of it."""
    lesson = kit.lesson
    shutil.rmtree(lesson.source, ignore_errors=True)
    lesson.source.mkdir(parents=True)
    notebook = source_notebook(kit.cells, kit.points())
    (lesson.source / lesson.notebook).write_text(text_of(notebook), encoding="utf-8")
    (lesson.source / "checks.py").write_text(lesson.checks.read_text(encoding="utf-8"), encoding="utf-8")
    prints = json.dumps(kit.fingerprints(), indent=1, ensure_ascii=False) + "\n"
    (lesson.source / "fingerprints.json").write_text(prints, encoding="utf-8")


def release(course: Course, lesson: Lesson) -> None:
    """Run nbgrader's generate_assignment, which also enters the lesson into the gradebook."""
    result = api_of(course).generate_assignment(lesson.name, force=True)
    require(result, f"{lesson.name} was not released")
    path = lesson.released / lesson.notebook
    path.write_text(text_of(tidy(read_notebook(path))), encoding="utf-8")


def register(course: Course, lesson: Lesson) -> None:
    """Enter a lesson into the gradebook without touching what students have.

    A fresh clone has the released notebooks but no gradebook.
    """
    kit = load_kit(lesson)
    make_source(kit)
    api = api_of(course)
    api.coursedir.release_directory = str(course.root / "build" / "release")
    require(api.generate_assignment(lesson.name, force=True), f"{lesson.name} was not entered into the gradebook")


def execute(kit: Kit) -> Any:
    """Run the solved notebook and return it with outputs. Raises LessonError at the first cell that fails."""
    lesson = kit.lesson
    notebook = solved_notebook(kit.cells)
    with tempfile.TemporaryDirectory() as sockets:
        client = NotebookClient(
            notebook,
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}}),
            timeout=CELL_SECONDS,
            coalesce_streams=True,
            kernel_name="python3",
            resources={"metadata": {"path": str(lesson.folder)}},
        )
        try:
            client.execute()
        except CellExecutionError as error:
            where = lesson.shown(lesson.text)
            raise LessonError(where, f"the solved lesson stops: {error}", "Mend the cell.") from error
    return tidy(notebook)
