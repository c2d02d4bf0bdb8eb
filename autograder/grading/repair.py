"""What was handed in, as a notebook that can be graded: known keys only, locked cells as they were released.

A submission may have been through other editors, merged, copied, stripped, or made by hand. Whatever is not known is
left out; where even the exercises cannot be found, a person has to look.
"""

from __future__ import annotations

import copy
import re
from itertools import pairwise

from ..errors import SubmissionError
from .cells import Cell, SubmittedNotebook, leave_out_excess, read_cells
from .package import LessonPackage, ReleasedCell


def repair_submission(content: bytes, package: LessonPackage) -> SubmittedNotebook:
    """Return a notebook in which every graded cell is as grading needs it.

    Raises:
        SubmissionError: the file is not a notebook, or none of the lesson's exercises can be found in it.
    """
    cells = read_cells(content, package)
    known = package.nbgrader_cells
    if not any(cell.name in known for cell in cells):
        match_by_content(cells, package)
    drop_unknown_and_copies(cells, package)
    if not {cell.name for cell in cells} & set(package.source.exercises):
        raise SubmissionError(f"{package.name}.ipynb has none of the lesson's exercise cells (cell metadata is gone)")
    for cell in cells:
        if cell.name:
            restore(cell, known[cell.name])
    add_missing(cells, package)
    give_ids(cells)
    for cell in cells:
        cell.own = cell.kind == "code" and cell.source not in package.code
    leave_out_excess(cells)
    return SubmittedNotebook(cells, copy.deepcopy(dict(package.notebook.metadata)))


def match_by_content(cells: list[Cell], package: LessonPackage) -> None:
    """Give cells their names back where a submission lost all of them; all or nothing.

    A cell is the same one that was released; or defines what an exercise is named; or follows the same cell.
    """
    pairs: list[tuple[Cell, str]] = []
    before: ReleasedCell | None = None
    for released in package.notebook.cells:
        if released.name:
            partner = partner_of(released, cells, before)
            if partner is None:
                return
            pairs.append((partner, released.name))
        before = released
    if len({id(partner) for partner, _ in pairs}) == len(pairs):
        for partner, name in pairs:
            partner.name = name


def partner_of(released: ReleasedCell, cells: list[Cell], before: ReleasedCell | None) -> Cell | None:
    """Return the submission's cell that a released one has become, or None."""
    if released.locked:
        return next((c for c in cells if c.source.strip() == released.source.strip()), None)
    defines = re.compile(rf"^(def|class) {re.escape(released.name)}\b", re.MULTILINE)
    if released.kind == "code":
        return next((c for c in cells if c.kind == "code" and defines.search(c.source)), None)
    return next((c for a, c in pairwise(cells) if before and a.source.strip() == before.source.strip()), None)


def drop_unknown_and_copies(cells: list[Cell], package: LessonPackage) -> None:
    """Make ordinary cells of those that nbgrader does not know, and of all copies of a cell but the last one."""
    seen, known = set(), package.nbgrader_cells
    for cell in reversed(cells):
        if cell.name in seen or cell.name not in known:
            cell.name = ""
        seen.add(cell.name)


def restore(cell: Cell, released: ReleasedCell) -> None:
    """Put a graded cell's type and metadata back, and where it is locked its source."""
    cell.released = released
    cell.kind = released.kind
    if released.locked:
        cell.source, cell.left_out = released.source, ""


def add_missing(cells: list[Cell], package: LessonPackage) -> None:
    """Add deleted cells that carry points or are locked, each after the one that came before it.

    A deleted exercise stays deleted: its name may be defined in another cell.
    """
    index = 0
    for name, released in package.nbgrader_cells.items():
        at = next((i for i, cell in enumerate(cells) if cell.name == name), None)
        if at is None and (released.locked or released.graded):
            cells.insert(index, Cell.of(released))
            at = index
        index = index if at is None else at + 1


def give_ids(cells: list[Cell]) -> None:
    """See to it that every cell has an id of its own: the one that it came with, or one that follows from its place."""
    seen = set()
    for index, cell in enumerate(cells):
        if not cell.id or cell.id in seen:
            cell.id = next(n for n in (f"cell-{index}{'x' * k}" for k in range(len(cells) + 1)) if n not in seen)
        seen.add(cell.id)
