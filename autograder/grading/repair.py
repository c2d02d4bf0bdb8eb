"""What was handed in, as a notebook that can be graded: known keys only, locked cells as they were released.

A submission may have been through other editors, merged, copied, stripped, or made by hand. Whatever is not known is
left out; where even the exercises cannot be found, a person has to look.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ..errors import SubmissionError
from .outputs import IMAGES, known_data
from .package import Cell, LessonPackage, grade_id_of, is_locked, nbgrader_metadata

MOST_BYTES = 5 * 2**20  # without its outputs, a lesson is a hundredth of this
TOO_LARGE = f"larger than {MOST_BYTES // 2**20} MB: ask for it again, without its outputs"
MOST_SOURCE = 100 * 2**10  # characters of one cell
MOST_CELLS = 2000
CELL_TYPES = ("code", "markdown", "raw")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
ATTACHED = re.compile(r"attachment:([^\s()\"'<>]+)")


def repair(content: bytes, package: LessonPackage) -> dict[str, Any]:
    """Return a notebook in which every graded cell is as grading needs it.

    Args:
        content: the file that was handed in.
        package: the lesson.

    Raises:
        SubmissionError: the file is not a notebook, or none of the lesson's exercises can be found in it.
    """
    cells = [clean for cell in cells_of(content, package) if (clean := clean_cell(cell))]
    known = package.nbgrader_cells
    if not any(grade_id_of(cell) in known for cell in cells):
        match_by_content(cells, package)
    drop_unknown_and_copies(cells, package)
    if not {grade_id_of(cell) for cell in cells} & set(package.source.exercises):
        raise SubmissionError(f"{package.name}.ipynb has none of the lesson's exercise cells (cell metadata is gone)")
    for cell in cells:
        restore(cell, known.get(grade_id_of(cell)))
    add_missing(cells, package)
    give_ids(cells)
    return {"cells": cells, "metadata": copy.deepcopy(package.notebook["metadata"]), "nbformat": 4, "nbformat_minor": 5}


def cells_of(content: bytes, package: LessonPackage) -> list[Any]:
    """Return the cells in a file, whatever they are. Raises SubmissionError where it is not a notebook."""
    file = f"{package.name}.ipynb"
    if len(content) > MOST_BYTES:
        raise SubmissionError(f"{file} is {TOO_LARGE}")
    try:
        notebook = json.loads(content)
        if notebook.get("nbformat", 4) != 4:
            notebook = upgraded(content)
        cells = notebook["cells"]
        if not isinstance(cells, list):
            raise TypeError("cells is a list in every notebook")
    except Exception as error:
        raise SubmissionError(f"{file} cannot be read as a notebook: ask for it again") from error
    if len(cells) > MOST_CELLS:
        raise SubmissionError(f"{file} has {len(cells)} cells; at most {MOST_CELLS} are read")
    return cells


def upgraded(content: bytes) -> Any:
    """Return a notebook of an older format as one of version 4."""
    import nbformat

    return nbformat.reads(content.decode("utf-8"), as_version=4)


def clean_cell(cell: Any) -> Cell | None:
    """Return a cell with known keys of the right types only, or None for what is not a cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in CELL_TYPES:
        return None
    metadata = {"nbgrader": dict(nbgrader_metadata(cell))} if grade_id_of(cell) else {}
    clean: Cell = {"cell_type": cell["cell_type"], "metadata": metadata, "source": joined(cell.get("source"))}
    name = cell.get("id")
    clean["id"] = name if isinstance(name, str) and CELL_ID.fullmatch(name) else ""
    if clean["cell_type"] == "code":
        clean |= {"execution_count": None, "outputs": []}
    else:
        images = dict(attached_images(cell.get("attachments")))
        clean["source"] = ATTACHED.sub(
            lambda link: link[0] if link[1] in images else "missing-" + link[0], clean["source"]
        )
        clean |= {"attachments": images} if images else {}
    return clean


def joined(source: Any) -> str:
    """Return a cell's source as one text. Raises SubmissionError where it is longer than anybody writes."""
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    if len(text) > MOST_SOURCE:
        raise SubmissionError(f"a cell holds {len(text)} characters; at most {MOST_SOURCE} are read")
    return text.encode("utf-8", "replace").decode("utf-8")  # no half characters, which no file can hold


def attached_images(attachments: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the images that were pasted into a text cell, by name."""
    for name, data in attachments.items() if isinstance(attachments, dict) else ():
        images = dict(known_data(data)) if isinstance(data, dict) else {}
        if images := {kind: image for kind, image in images.items() if kind in IMAGES}:
            yield name, images


def match_by_content(cells: list[Cell], package: LessonPackage) -> None:
    """Give cells their names back where a submission lost all of them; all or nothing.

    A cell is the same one that was released; or defines what an exercise is named; or follows the same cell.
    """
    pairs: list[tuple[Cell, Cell]] = []
    before: Cell | None = None
    for released in package.notebook["cells"]:
        if grade_id_of(released):
            found = partner(cells, released, before)
            if found is None:
                return
            pairs.append((found, released))
        before = released
    if len({id(found) for found, _ in pairs}) == len(pairs):
        for found, released in pairs:
            found["metadata"] = copy.deepcopy(released["metadata"])


def partner(cells: list[Cell], released: Cell, before: Cell | None) -> Cell | None:
    """Return the submission's cell that a released one has become, or None."""
    if is_locked(released):
        return next((c for c in cells if c["source"].strip() == released["source"].strip()), None)
    defines = re.compile(rf"^(def|class) {re.escape(grade_id_of(released))}\b", re.MULTILINE)
    if released["cell_type"] == "code":
        return next((c for c in cells if c["cell_type"] == "code" and defines.search(c["source"])), None)
    return next((c for a, c in pairwise(cells) if before and a["source"].strip() == before["source"].strip()), None)


def drop_unknown_and_copies(cells: list[Cell], package: LessonPackage) -> None:
    """Make ordinary cells of those that nbgrader does not know, and of all copies of a cell but the last one."""
    seen = set()
    for cell in reversed(cells):
        name = grade_id_of(cell)
        if name and (name in seen or name not in package.nbgrader_cells):
            cell["metadata"] = {}
        seen.add(name)


def restore(cell: Cell, released: Cell | None) -> None:
    """Put a graded cell's type and metadata back, and where it is locked its source."""
    if released is None:
        return
    cell["metadata"] = copy.deepcopy(released["metadata"])
    if cell["cell_type"] != released["cell_type"]:
        cell["cell_type"] = released["cell_type"]
        for key in ("outputs", "execution_count", "attachments"):
            cell.pop(key, None)
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    if is_locked(released):
        cell["source"] = released["source"]


def add_missing(cells: list[Cell], package: LessonPackage) -> None:
    """Add deleted cells that carry points or are locked, each after the one that came before it.

    A deleted exercise stays deleted: its name may be defined in another cell.
    """
    place = 0
    for name, released in package.nbgrader_cells.items():
        at = next((i for i, cell in enumerate(cells) if grade_id_of(cell) == name), None)
        if at is None and (is_locked(released) or nbgrader_metadata(released).get("grade")):
            cells.insert(place, copy.deepcopy(released))
            at = place
        place = place if at is None else at + 1


def give_ids(cells: list[Cell]) -> None:
    """See to it that every cell has an id of its own: the one that it came with, or one that follows from its place."""
    seen = set()
    for index, cell in enumerate(cells):
        if not cell["id"] or cell["id"] in seen:
            cell["id"] = next(n for n in (f"cell-{index}{'x' * k}" for k in range(len(cells) + 1)) if n not in seen)
        seen.add(cell["id"])
