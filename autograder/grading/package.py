"""A lesson as grading needs it: one value that can be sent to another machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from ..judging.answer_key import AnswerKey, LessonSource, load_answer_key
from ..judging.cell_metadata import (
    CHECK_PREFIX,
    grade_id_of,
    is_graded,
    is_locked,
    is_solution,
    nbgrader_metadata,
)
from ..judging.syntax import Code

NamedContents = tuple[tuple[str, bytes], ...]


class Role(Enum):
    """What a cell is for."""

    PLAIN = "a demonstration, a text, or a cell of the student's own"
    LOCKED = "the course's own"
    SOLUTION = "where an exercise is solved, or a question answered that carries no points"
    CHECK = "where an exercise is checked"
    QUESTION = "what a person grades"


@dataclass(frozen=True)
class ReleasedCell:
    """A cell as students were given it. Nobody may change what is in it.

    Args:
        kind: code or markdown.
        source: its text.
        name: what nbgrader knows it by, '' where it does not.
        role: what it is for.
        id: the notebook format's.
        metadata: the notebook's.
        points: how many it carries; None where it carries none.
        checksum: nbgrader's, of the cell as it was released.
    """

    kind: str
    source: Code
    name: str
    role: Role
    id: str
    metadata: Mapping[str, Any]
    points: float | None
    checksum: str

    @classmethod
    def parse(cls, cell: Mapping[str, Any]) -> ReleasedCell:
        """Read a cell of a released notebook."""
        name, data = grade_id_of(cell), nbgrader_metadata(cell)
        if is_graded(cell):
            role, points = Role.CHECK if name.startswith(CHECK_PREFIX) else Role.QUESTION, float(data["points"])
        else:
            role, points = Role.LOCKED if is_locked(cell) else Role.SOLUTION if is_solution(cell) else Role.PLAIN, None
        source, about = Code("".join(cell["source"])), (cell["id"], cell["metadata"])
        return cls(cell["cell_type"], source, name, role, *about, points, data.get("checksum", ""))

    @property
    def locked(self) -> bool:
        """Whether it is the course's own, so that nothing in it is a student's."""
        return self.role in (Role.LOCKED, Role.CHECK)

    @property
    def graded(self) -> bool:
        """Whether it carries points."""
        return self.role in (Role.CHECK, Role.QUESTION)

    @property
    def answered(self) -> bool:
        """Whether a student writes into it, and nbgrader comments on it."""
        return self.role in (Role.SOLUTION, Role.QUESTION)


@dataclass(frozen=True)
class ReleasedNotebook:
    """What students were given. Nobody may change what is in it.

    Args:
        metadata: the notebook's.
        cells: in order.
        named: those that nbgrader knows, by name.
        code: the sources of code cells, by their text.
    """

    metadata: Mapping[str, Any]
    cells: tuple[ReleasedCell, ...]
    named: Mapping[str, ReleasedCell]
    code: Mapping[str, Code]


@dataclass(frozen=True)
class LessonPackage:
    """A lesson's answer key as text, and the notebook that students were given.

    Args:
        key: the loaded answer key.
        released: the released notebook's text. Its cells' metadata say which of them are graded.
        rubrics: what a person grades a question by, by the question's grade id.
        data: what the notebook reads, by file name: a text, a model's parameters.
    """

    key: AnswerKey
    released: str
    rubrics: Mapping[str, str]
    data: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def source(self) -> LessonSource:
        """What judging needs, as text."""
        return self.key.source

    @property
    def name(self) -> str:
        """The lesson's name."""
        return self.source.name

    @property
    def digest(self) -> str:
        """A checksum of all of it: what was graded with another one is graded anew."""
        rubrics = repr(sorted(self.rubrics.items()))
        parts = (self.source.digest, self.released, rubrics, *contents_digests(tuple(sorted(self.data.items()))))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def files(self) -> dict[str, bytes]:
        """What lies beside the notebook while it runs: all that students have but fingerprints.json, the answers'."""
        texts = {"checks.py": self.source.checks, **dict(self.source.modules)}
        return {name: text.encode() for name, text in texts.items()} | dict(self.data)

    @property
    def notebook(self) -> ReleasedNotebook:
        """The released notebook, read."""
        return read_released(self.released)

    @property
    def nbgrader_cells(self) -> Mapping[str, ReleasedCell]:
        """The cells that nbgrader knows, by grade id, in order: set-up, exercises, check cells, questions."""
        return self.notebook.named

    @property
    def code(self) -> Mapping[str, Code]:
        """The sources of all released code cells by their text: whatever else a submission holds is the student's."""
        return self.notebook.code

    @property
    def demonstrations(self) -> frozenset[Code]:
        """The sources of the lesson's own demonstration cells."""
        return frozenset(self.code.values()) - {cell.source for cell in self.nbgrader_cells.values()}

    @property
    def setup(self) -> Code:
        """The code of the locked cells that are no check cells."""
        locked = (cell for cell in self.notebook.cells if cell.role is Role.LOCKED and cell.kind == "code")
        return Code("\n\n".join(cell.source for cell in locked))

    @property
    def sandbox_sources(self) -> Mapping[str, tuple[str, str]]:
        """What the sandbox may see for each exercise's hidden checks: checks.py, and its part of hidden.py."""
        return {name: self.key.sandbox_source(name) for name in self.source.exercises}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text: checks are functions, which do not travel, and are loaded once per process."""
        return unpickled, (self.source, self.released, tuple(self.rubrics.items()), tuple(self.data.items()))


@lru_cache(maxsize=8)
def read_released(text: str) -> ReleasedNotebook:
    """Read a released notebook, once for all submissions."""
    notebook = json.loads(text)
    cells = tuple(map(ReleasedCell.parse, notebook["cells"]))
    named = {cell.name: cell for cell in cells if cell.name}
    code = {str(cell.source): cell.source for cell in cells if cell.kind == "code"}
    return ReleasedNotebook(notebook["metadata"], cells, named, code)


@lru_cache(maxsize=8)
def contents_digests(files: NamedContents) -> tuple[str, ...]:
    """Return a checksum of each file's name and content."""
    return tuple(name + hashlib.sha256(content).hexdigest() for name, content in files)


@lru_cache(maxsize=8)
def unpickled(
    source: LessonSource, released: str, rubrics: tuple[tuple[str, str], ...], data: NamedContents
) -> LessonPackage:
    """Return a package that came from elsewhere: the same one for the same content, with all that it has computed."""
    return LessonPackage(load_answer_key(source), released, dict(rubrics), dict(data))
