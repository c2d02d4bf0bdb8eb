"""What was handed in, read once: cells of known types with known contents, and no more of it than a budget allows.

Outputs and attached pictures are left unread. A budget counts; no clock decides what is read.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import Any

from ..errors import CLEARED, SubmissionError, notebook_too_large
from ..judging.cell_metadata import CHECK_PREFIX, grade_id_of
from ..judging.syntax import Code, tokens_in
from .outputs import Output
from .package import LessonPackage, ReleasedCell, Role
from .untrusted import TooManyValuesError, parse_json


@dataclass(frozen=True)
class NotebookBudget:
    """How much of a submission is read. A lesson with its solutions is a tenth of each, or less.

    Args:
        bytes: of the file.
        cells: of the notebook.
        characters: of one cell.
        cell_tokens: words and signs of one cell of the student's own code; its syntax tree has about as many nodes.
        tokens: words and signs of all of them.
    """

    bytes: int = 5 * 2**20
    cells: int = 2000
    characters: int = 100 * 2**10
    cell_tokens: int = 10_000
    tokens: int = 40_000


BUDGET = NotebookBudget()
NOTEBOOK_TOO_LARGE = notebook_too_large(BUDGET.bytes)
TOO_MANY_VALUES = f"made of too many values: {CLEARED}"
SHOWN = 2000  # characters of a cell that is left out
KINDS = ("code", "markdown", "raw")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass
class Cell:
    """One cell of a submission.

    Args:
        kind: code, markdown or raw.
        source: its text.
        name: what nbgrader knows it by, '' where it does not.
        id: the notebook format's; '' where it came without one.
        released: the released cell that it belongs to.
        own: whether the student has written or changed its code.
        left_out: why it is not run, '' where it is.
        outputs: what it showed when it ran.
        count: its number when it ran.
    """

    kind: str
    source: Code
    name: str = ""
    id: str = ""
    released: ReleasedCell | None = None
    own: bool = False
    left_out: str = ""
    outputs: list[Output] = field(default_factory=list)
    count: int | None = None

    @classmethod
    def of(cls, released: ReleasedCell) -> Cell:
        """Return a released cell as it would have been handed in untouched."""
        return cls(released.kind, released.source, released.name, released.id, released)

    @property
    def role(self) -> Role:
        """What it is for, as the released notebook says."""
        return self.released.role if self.released else Role.PLAIN

    @property
    def exercise(self) -> str:
        """The exercise that it solves or checks, or ''."""
        return self.name.removeprefix(CHECK_PREFIX) if self.role in (Role.SOLUTION, Role.CHECK) else ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as notebooks hold cells."""
        metadata = copy.deepcopy(dict(self.released.metadata)) if self.released else {}
        shared = {"cell_type": self.kind, "id": self.id, "metadata": metadata, "source": str(self.source)}
        if self.kind == "code":
            return {**shared, "execution_count": self.count, "outputs": self.outputs}
        return shared


@dataclass
class SubmittedNotebook:
    """A submission whose cells are as grading needs them: none is added, moved or left out any more.

    Args:
        cells: in order.
        metadata: the released notebook's.

    Attributes:
        code: the cells that are run.
        own: those of them that the student has written or changed.
    """

    cells: list[Cell]
    metadata: dict[str, Any]
    code: list[Cell] = field(init=False)
    own: list[Cell] = field(init=False)

    def __post_init__(self) -> None:
        self.code = [cell for cell in self.cells if cell.kind == "code" and not cell.left_out]
        self.own = [cell for cell in self.code if cell.own]

    def remarks(self) -> list[str]:
        """Return what a person should know about what was left out."""
        count = sum(bool(cell.left_out) for cell in self.cells)
        return [f"{count} cell{'s were' if count > 1 else ' was'} too large and left out"] if count else []

    def as_dict(self) -> dict[str, Any]:
        """Return it as the notebook format has it."""
        cells = [cell.as_dict() for cell in self.cells]
        return {"cells": cells, "metadata": self.metadata, "nbformat": 4, "nbformat_minor": 5}


def read_cells(content: bytes, package: LessonPackage) -> list[Cell]:
    """Return the cells in a file.

    Raises:
        SubmissionError: it is not a notebook, or holds more than is read.
    """
    file = f"{package.name}.ipynb"
    if len(content) > BUDGET.bytes:
        raise SubmissionError(f"{file} is {NOTEBOOK_TOO_LARGE}")
    try:
        cells = cells_in(content)
    except TooManyValuesError as error:
        raise SubmissionError(f"{file} is {TOO_MANY_VALUES}") from error
    except ValueError as error:
        raise SubmissionError(f"{file} cannot be read as a notebook: it has to be handed in again") from error
    if len(cells) > BUDGET.cells:
        raise SubmissionError(f"{file} has {len(cells)} cells; at most {BUDGET.cells} are read")
    return [cell for raw in cells if (cell := read_cell(raw, package))]


def cells_in(content: bytes) -> list[Any]:
    """Return what a notebook of format 4 holds as cells, whatever they are. Raises ValueError for anything else.

    Nothing is validated or upgraded, which would take a gigabyte for a megabyte of outputs.
    """
    notebook = parse_json(content)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("a notebook has a list of cells")
    return cells


def read_cell(raw: Any, package: LessonPackage) -> Cell | None:
    """Return a cell with known contents of the right types only, or None for what is not a cell."""
    kind = raw.get("cell_type") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        return None
    text, name = cell_text(raw.get("source")), raw.get("id")
    is_id = isinstance(name, str) and CELL_ID.fullmatch(name)
    cell = Cell(kind, Code(), grade_id_of(raw), name if is_id else "")
    if len(text) > BUDGET.characters:
        cell.left_out = f"it holds {len(text):,} characters; at most {BUDGET.characters:,} are read"
        text = f"{text[:SHOWN]}\n… ({cell.left_out})"
    cell.source = package.code.get(text) or Code(text)
    return cell


def cell_text(source: Any) -> str:
    """Return a cell's source, a text or a list of lines, as one text."""
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def leave_out_excess(cells: list[Cell]) -> None:
    """Mark the cells whose code would take long to read. The lesson's own cost nothing."""
    left = BUDGET.tokens
    for cell in cells:
        if not cell.own or cell.left_out:
            continue
        tokens = tokens_in(cell.source)
        if tokens > BUDGET.cell_tokens:
            cell.left_out = f"it holds {tokens:,} words and signs; at most {BUDGET.cell_tokens:,} of a cell are read"
        elif tokens > left:
            cell.left_out = f"the cells before it hold most of the {BUDGET.tokens:,} words and signs that are read"
        else:
            left -= tokens
