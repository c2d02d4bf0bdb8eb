"""lesson.py to everything that is made from it: solved notebook, nbgrader's source, release, fingerprints."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

from ..errors import LessonError, one_line
from ..judging.answer_key import AnswerKey, load_answer_key
from ..paths import Lesson
from .lesson import LessonCell, at_line, is_code, lesson_source, line_in_lesson, read_lesson, solution_of
from .lesson_package import source_files, write_source
from .located import located
from .manifest import refuse_edited, replace_generated
from .notebook import notebook_text, released_notebook, solved_notebook, tidy

CELL_SECONDS = 1800


def build(lesson: Lesson) -> None:
    """Make all generated files of a lesson.

    Raises:
        EditedByHandError: a generated file holds changes that a build would destroy; nothing was written.
        LessonError: the lesson does not fit together or does not run; nothing was written.

    Stopped at any moment, it can be run again: generated files are replaced last, and the next build knows them.
    """
    refuse_edited(lesson, generated(lesson))
    cells = read_lesson(lesson)
    refuse_broken_syntax(lesson, cells)
    with located(lesson):
        key = load_answer_key(lesson_source(lesson, cells))
        refuse_unchecked(lesson, key)
        prints = json.dumps(key.fingerprints(), separators=(",", ":"), ensure_ascii=False) + "\n"
        files = source_files(lesson, cells, key, prints)
    write_source(lesson, files)
    solved = execute(lesson, cells)
    files[lesson.notebook_name] = notebook_text(released_notebook(cells, key.points())).encode()
    released = {lesson.released_dir / name: content for name, content in files.items()}
    replace_generated(lesson, {lesson.solved_ipynb: notebook_text(solved).encode(), **released})


def refuse_broken_syntax(lesson: Lesson, cells: list[LessonCell]) -> None:
    """Raise LessonError for the first cell that is not Python."""
    for cell in (c for c in cells if is_code(c)):
        try:
            compile(solution_of(cell), lesson.lesson_py.name, "exec")
        except SyntaxError as error:
            where = at_line(lesson.shown(lesson.lesson_py), line_in_lesson(cell, error.lineno or 1))
            raise LessonError(where, f"{error.msg}.", "Fix the cell.") from error


def refuse_unchecked(lesson: Lesson, key: AnswerKey) -> None:
    """Raise LessonError for the first exercise that no check belongs to: it would be worth nothing."""
    for exercise in key.exercises:
        if not key.checks_of(exercise):
            remedy = f'Write a function under `@check("{exercise}", points=1)`.'
            raise LessonError(lesson.shown(lesson.checks_py), f"no check belongs to {exercise}.", remedy)


def generated(lesson: Lesson) -> dict[Path, Path]:
    """Return each generated and committed file with the file that a change to it belongs in."""
    return {
        lesson.solved_ipynb: lesson.lesson_py,
        lesson.released_dir / lesson.notebook_name: lesson.lesson_py,
        lesson.fingerprints_json: lesson.hidden_py,
        **{lesson.released_dir / path.name: path for path in lesson.released_files},
    }


def execute(lesson: Lesson, cells: list[LessonCell]) -> Any:
    """Run the solved notebook beside the files that students get, and return it with outputs.

    Raises:
        LessonError: a cell fails; the first one that does is named.
    """
    notebook = solved_notebook(cells)
    with tempfile.TemporaryDirectory() as folder:
        beside = shutil.copytree(
            lesson.nbgrader_source_dir, Path(folder) / lesson.name, ignore=shutil.ignore_patterns("*.ipynb")
        )
        client = NotebookClient(
            notebook,
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}}),
            timeout=CELL_SECONDS,
            iopub_timeout=CELL_SECONDS,  # what a cell shows arrives late on a busy computer
            coalesce_streams=True,
            kernel_name="python3",
            resources={"metadata": {"path": str(beside)}},
        )
        try:
            client.execute(env={**os.environ, "LESSONS_FRAMES": "all"})  # as plot.frames expects it
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise LessonError(*stopped(lesson, cells, notebook, error)) from error
    return tidy(notebook)


def stopped(lesson: Lesson, cells: list[LessonCell], notebook: Any, error: Exception) -> tuple[str, str, str]:
    """Return where the lesson stops, with what, and what to do: the last cell that began is the one."""
    began = [n for n, cell in enumerate(notebook.cells) if cell.get("execution_count")]
    cell, outputs = (cells[began[-1]], notebook.cells[began[-1]].outputs) if began else (cells[0], [])
    trace = "\n".join(line for o in outputs if o.output_type == "error" for line in o.traceback)
    lines = re.findall(r"Cell In\[\d+\], line (\d+)", re.sub(r"\x1b\[[0-9;]*m", "", trace))
    where = at_line(lesson.shown(lesson.lesson_py), line_in_lesson(cell, int(lines[0]) if lines else 1))
    said = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else one_line(str(error))
    return where, f"the solved lesson stops: {said.rstrip('.')}.", "Fix the cell."
