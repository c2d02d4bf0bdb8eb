"""`earlier(lesson, exercise)`: what the reader wrote in an earlier lesson, where it passes its checks."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ..errors import CourseError
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
        cells = exercise_cells(folder / f"{lesson}.ipynb")
        released = ReleasedChecks.beside_the_notebook(folder)
        with torch.random.fork_rng(devices=[]), importing_from(folder), contextlib.redirect_stdout(io.StringIO()):
            names: dict[str, Any] = {"__name__": "__main__"}
            for source in cells:
                exec(compile(source, f"<{lesson}>", "exec"), names)
            verdict, _ = released.judge(exercise, names[exercise])
    except (Exception, SystemExit):  # whatever is wrong there is no error here
        return None
    return names[exercise] if verdict.passed else None


def exercise_cells(notebook: Path) -> list[str]:
    """Return the code of a notebook's setup and exercise cells. Raises CourseError where there are none."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    wanted = [c for c in cells if c["cell_type"] == "code" and is_for_exercises(c["metadata"].get("nbgrader", {}))]
    if not wanted:
        raise CourseError(f"{notebook.name} has no exercise cells.")
    return ["".join(cell["source"]) for cell in wanted]


def is_for_exercises(data: dict[str, Any]) -> bool:
    """Say whether nbgrader's metadata is that of the setup cell or of an exercise."""
    return data.get("grade_id") == "setup" or (bool(data.get("solution")) and not data.get("grade"))


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Import that lesson's modules first, and afterward this lesson's own again."""
    own = {path.stem for path in folder.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in own if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in own:
            sys.modules.pop(name, None)
        sys.modules.update(before)
