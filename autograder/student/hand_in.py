"""What a student does with a lesson outside JupyterLab: check it, hand it in, start it anew. Nothing is ever lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ..errors import CourseError, command
from ..judging.cell_metadata import (
    CHECK_PREFIX,
    UNANSWERED,
    checked_exercise,
    grade_id_of,
    is_solution,
    nbgrader_metadata,
)
from ..judging.verdict import STUB
from ..paths import Course, Lesson, packed_lessons, progress_file
from .progress import changing_progress
from .release_record import forget_newer

LATE_SECONDS = 60  # for what a cell has shown to arrive, once it has ended; on a busy computer nbclient's 4 lose some


def check_lesson(lesson: Lesson) -> tuple[list[str], bool]:
    """Run a lesson's notebook as Run All does; return what its checks say, and whether all passed.

    The file itself is not changed.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = read_student_notebook(lesson)
    resources = {"metadata": {"path": str(lesson.released_dir)}}
    with tempfile.TemporaryDirectory() as folder:
        quiet = {} if os.name == "nt" else {"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}}
        client = NotebookClient(
            notebook,
            config=Config(quiet),
            timeout=None,
            iopub_timeout=LATE_SECONDS,
            allow_errors=True,
            kernel_name="python3",
            resources=resources,
        )
        client.execute()
    lines = [words for cell in notebook.cells for words in cell_messages(cell)]
    checks = [cell for cell in notebook.cells if grade_id_of(cell).startswith(CHECK_PREFIX)]
    return lines, bool(checks) and not any(failed(cell) for cell in checks)


def cell_messages(cell: Any) -> Iterator[str]:
    """Yield what a check cell shows, and the error of any other cell that is no unsolved exercise."""
    checking = grade_id_of(cell).startswith(CHECK_PREFIX)
    for output in cell.get("outputs", []):
        if checking and output.output_type == "display_data":
            yield str(output.data["text/plain"])
        elif checking and output.output_type == "error" and output.ename == "NotStarted":
            yield "\n".join(output.traceback)
        elif output.output_type == "error" and output.ename not in ("CheckFailed", "NotStarted", "NotImplementedError"):
            yield f"✗ `{cell.source.splitlines()[0]}` stops with {output.ename}: {output.evalue}"


def failed(cell: Any) -> bool:
    """Say whether a cell stopped with an error."""
    return any(output.output_type == "error" for output in cell.outputs)


def submit(course: Course, lesson: Lesson) -> list[str]:
    """Copy a lesson's notebook to where it is uploaded from; return what to say about it.

    An earlier copy that differs keeps its place under another name.
    """
    notebook = read_student_notebook(lesson)
    source, target = lesson.released_dir / lesson.notebook_name, course.handin / lesson.notebook_name
    target.parent.mkdir(exist_ok=True)
    if target.exists() and target.read_bytes() != source.read_bytes():
        target.rename(unused_path(target, "earlier"))
    shutil.copyfile(source, target)
    base = Path.cwd() if target.is_relative_to(Path.cwd()) else course.root
    return [f"Upload {target.relative_to(base).as_posix()}.", *still_open(notebook)]


def still_open(notebook: Any) -> Iterator[str]:
    """Say which exercises and questions are as they were released."""
    solution_cells = [cell for cell in notebook.cells if is_solution(cell)]
    stubs = [grade_id_of(cell) for cell in solution_cells if cell.cell_type == "code" and STUB in cell.source]
    texts = [cell for cell in solution_cells if cell.cell_type == "markdown"]
    blank = [grade_id_of(cell).replace("_", " ") for cell in texts if UNANSWERED in cell.source]
    optional = [checked_exercise(cell) for cell in notebook.cells if nbgrader_metadata(cell).get("points") == 0]
    if stubs:
        yield f"Not started: {', '.join(f'{name} (optional)' if name in optional else name for name in stubs)}."
    if blank:
        yield f"Not answered: {', '.join(blank)}."


def reset(course: Course, lesson: Lesson) -> list[str]:
    """Put a lesson's notebook back as it was released; keep the old one beside it. Return what to say."""
    path, original = lesson.released_dir / lesson.notebook_name, released_bytes(course, lesson)
    if path.exists() and path.read_bytes() == original:
        return [f"{lesson.shown(path)} is as it was released."]
    lines = [f"{lesson.shown(path)} is back to its released state."]
    if path.exists():
        kept = path.rename(unused_path(path, "old"))
        lines.append(f"Your work is in {lesson.shown(kept)}.")
    path.write_bytes(original)
    forget_progress(lesson)
    forget_newer(course.release_record, lesson.name)
    return lines


def forget_progress(lesson: Lesson) -> None:
    """Take a lesson out of what `check` has recorded."""
    path = progress_file(lesson.released_dir)
    if path and path.exists():
        with changing_progress(path) as states:
            states.pop(lesson.name, None)


def released_bytes(course: Course, lesson: Lesson) -> bytes:
    """Return the notebook as it was released: from the package, else from git."""
    name = (lesson.released_dir / lesson.notebook_name).relative_to(course.root).as_posix()
    if packed_lessons().is_file():
        with zipfile.ZipFile(packed_lessons()) as archive:
            return archive.read(name)
    try:
        show = ["git", "show", f"HEAD:./{name}"]
        return subprocess.run(show, cwd=course.root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        nowhere = f"Neither this copy of the course nor git has the released {name}"
        raise CourseError(f"{nowhere}. Nothing changed.") from error


def read_student_notebook(lesson: Lesson) -> Any:
    """Read a lesson's notebook. Raises CourseError where it is missing or no notebook."""
    import nbformat

    path = lesson.released_dir / lesson.notebook_name
    remedy = f"`{command(f'reset --lesson {lesson.name}')}` puts a fresh one there and keeps what is in its place."
    if not path.is_file():
        raise CourseError(f"{lesson.shown(path)} is missing. {remedy}")
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:
        raise CourseError(f"{lesson.shown(path)} cannot be read as a notebook. {remedy}") from error


def unused_path(path: Path, word: str) -> Path:
    """Return a name beside a file that nothing has yet: lesson.old-1.ipynb."""
    names = (path.with_suffix(f".{word}-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())
