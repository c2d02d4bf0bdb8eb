"""`earlier(lesson, exercise)`: what the reader wrote in an earlier lesson, where it passes its checks."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ..judging.cell_metadata import grade_id_of, is_solution
from ..judging.modules import importable
from ..paths import student_files
from .check import ReleasedChecks


def earlier(lesson: str, exercise: str) -> Any | None:
    """Return the reader's own work on an exercise of another lesson, to build on.

    Args:
        lesson: the name of the folder beside this lesson's.
        exercise: the exercise's name.

    Returns:
        What the exercise's cell defines, if it passes the checks that a student has. None if the notebook is missing,
        does not run or does not pass: the lesson then goes on with PyTorch's own.
    """
    try:
        checks, _ = student_files()
        folder = checks.parent.parent / lesson
        released = ReleasedChecks.beside_the_notebook(folder)
        modules = [(path.name, path.read_text(encoding="utf-8")) for path in folder.glob("*.py")]
        names: dict[str, Any] = {"__name__": "__main__"}
        with (
            torch.random.fork_rng(devices=[]),
            importable(modules, str(folder)),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            for source in exercise_cells(folder / f"{lesson}.ipynb"):
                exec(compile(source, f"<{lesson}>", "exec"), names)
            verdict, _ = released.judge(exercise, names[exercise])
    except (Exception, SystemExit):  # whatever is wrong there is no error here
        return None
    return names[exercise] if verdict.passed else None


def exercise_cells(notebook: Path) -> Iterator[str]:
    """Yield the code of a notebook's setup cell and of its exercises."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code" and (grade_id_of(cell) == "setup" or is_solution(cell)):
            yield "".join(cell["source"])
