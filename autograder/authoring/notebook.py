"""A lesson's cells as notebooks: the solved one, and nbgrader's source. Same text in, same bytes out."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import compute_checksum

from ..judging.cell_metadata import CHECK_PREFIX, QUESTION_PREFIX, UNANSWERED, grade_id_of
from .lesson import BEGIN, END, LessonCell, hints_html, solution_of

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
BAR = re.compile(r" *\d+%\|")  # as tqdm writes it
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")  # as nbgrader's ClearSolutions
MEASURED_TAG = "nbval-ignore-output"
Notebook = Any


def solved_notebook(cells: list[LessonCell]) -> Notebook:
    """Return the notebook with solutions and rubrics, not yet executed."""
    return join_cells([solved_cell(cell) for cell in cells])


def source_notebook(cells: list[LessonCell], points: dict[str, int]) -> Notebook:
    """Return nbgrader's source: solutions between markers, metadata, points."""
    return join_cells([source_cell(cell, points) for cell in cells])


def released_notebook(cells: list[LessonCell], points: dict[str, int]) -> Notebook:
    """Return what nbgrader makes of its source: no solutions, locked cells, checksums.

    This is what nbgrader's own `generate_assignment` writes, without a gradebook; a test compares the two.
    """
    notebook = source_notebook(cells, points)
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader")
        if data is None:
            continue
        if data["solution"]:
            cell.source = stubbed(cell.source) if cell.cell_type == "code" else UNANSWERED
        cell.metadata["deletable"] = False
        if data["locked"]:
            cell.metadata["editable"] = False
        data["checksum"], data["cell_type"] = compute_checksum(cell), cell.cell_type
    return notebook


def stubbed(source: str) -> str:
    """Return an exercise's code with the released stub in place of what is between the markers."""
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + stub for stub in STUB]
        if not inside and line.strip() not in (BEGIN, END):
            lines.append(line)
        inside = line.strip() == BEGIN or (inside and line.strip() != END)
    return "\n".join(lines)


def join_cells(cells: list[Any]) -> Notebook:
    """Join cells, with ids that follow from their content."""
    seen: dict[str, int] = {}
    for cell in cells:
        stem = grade_id_of(cell) or hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        count = seen[stem] = seen.get(stem, 0) + 1
        cell.id = stem if count == 1 else f"{stem}-{count}"
    return new_notebook(cells=cells, metadata=METADATA)


def solved_cell(cell: LessonCell) -> Any:
    """Return a cell as an instructor reads it."""
    if cell.kind in ("prose", "question"):
        return new_markdown_cell(cell.text)
    if cell.kind == "hints":
        return new_markdown_cell(hints_html(cell))
    if cell.kind == "check":
        return new_code_cell(f"check({cell.name})")
    if cell.kind == "measured":
        return new_code_cell(cell.text, metadata={"tags": [MEASURED_TAG]})
    return new_code_cell(solution_of(cell) if cell.kind == "exercise" else cell.text)


def source_cell(cell: LessonCell, points: dict[str, int]) -> Any:
    """Return a cell with nbgrader's metadata. A question's text is its rubric, which the release clears."""
    notebook_cell = new_code_cell(cell.text) if cell.kind == "exercise" else solved_cell(cell)
    if cell.kind == "setup":
        notebook_cell.metadata["nbgrader"] = nbgrader_data("setup", locked=True)
    elif cell.kind == "exercise":
        notebook_cell.metadata["nbgrader"] = nbgrader_data(cell.name, solution=True)
    elif cell.kind == "check":
        notebook_cell.metadata["nbgrader"] = nbgrader_data(
            CHECK_PREFIX + cell.name, grade=True, locked=True, points=points[cell.name]
        )
        notebook_cell.metadata["tags"] = ["raises-exception"]
    elif cell.kind == "question":
        notebook_cell.metadata["nbgrader"] = nbgrader_data(
            QUESTION_PREFIX + cell.name, grade=cell.points > 0, solution=True, points=cell.points or None
        )
    return notebook_cell


def nbgrader_data(
    grade_id: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: int | None = None
) -> dict[str, Any]:
    """Return one cell's nbgrader metadata, schema 3."""
    data = {"grade_id": grade_id, "grade": grade, "solution": solution, "locked": locked, "task": False}
    return {**data, "schema_version": 3, **({} if points is None else {"points": points})}


def tidy(notebook: Notebook) -> Notebook:
    """Remove from an executed notebook what differs from run to run."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if not is_bar(output)]
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return notebook


def is_bar(output: Any) -> bool:
    """Say whether an output is a progress bar, of which a page without a kernel would show where it began."""
    return bool(BAR.match(output.get("data", {}).get("text/plain", "")))


def notebook_text(notebook: Notebook) -> str:
    """Return a notebook as the text of its file."""
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def read_notebook(path: Path) -> Notebook:
    """Read a notebook of any version as version 4."""
    return nbformat.read(path, as_version=4)
