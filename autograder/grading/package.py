"""A lesson as grading needs it: one value that can be sent to another machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..judging.answer_key import AnswerKey, LessonSource, load_answer_key
from ..judging.cell_metadata import checked_exercise, grade_id_of, is_locked
from ..judging.syntax import Code

CHECK_PREFIX, QUESTION_PREFIX = "check_", "question_"
ReleasedCell = dict[str, Any]
Files = tuple[tuple[str, bytes], ...]


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
    def notebook(self) -> dict[str, Any]:
        """The released notebook, each cell's source as one text; nobody may change it."""
        return parsed_notebook(self.released)

    @property
    def nbgrader_cells(self) -> dict[str, ReleasedCell]:
        """The cells that nbgrader knows, by grade id, in order: set-up, exercises, check cells, questions."""
        return nbgrader_cells_of(self.released)

    @property
    def code(self) -> dict[str, Code]:
        """The sources of all released code cells by their text: whatever else a submission holds is the student's."""
        return code_of(self.released)

    @property
    def demonstrations(self) -> frozenset[Code]:
        """The sources of the lesson's own demonstration cells."""
        return frozenset(self.code.values()) - {cell["source"] for cell in self.nbgrader_cells.values()}

    @property
    def setup(self) -> Code:
        """The code of the locked cells that are no check cells."""
        locked = (c for c in self.nbgrader_cells.values() if is_locked(c) and not checked_exercise(c))
        return Code("\n\n".join(cell["source"] for cell in locked if cell["cell_type"] == "code"))

    @property
    def sandbox_sources(self) -> Mapping[str, tuple[str, str]]:
        """What the sandbox may see for each exercise's hidden checks: checks.py, and its part of hidden.py."""
        return {name: self.key.sandbox_source(name) for name in self.source.exercises}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text: checks are functions, which do not travel, and are loaded once per process."""
        return unpickled, (self.source, self.released, tuple(self.rubrics.items()), tuple(self.data.items()))


@lru_cache(maxsize=8)
def parsed_notebook(text: str) -> dict[str, Any]:
    """Read a notebook, each cell's source as one text."""
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


@lru_cache(maxsize=8)
def nbgrader_cells_of(text: str) -> dict[str, ReleasedCell]:
    """Return the cells of a notebook that nbgrader knows, by grade id."""
    named = ((grade_id_of(cell), cell) for cell in parsed_notebook(text)["cells"])
    return {grade_id: cell for grade_id, cell in named if grade_id}


@lru_cache(maxsize=8)
def code_of(text: str) -> dict[str, Code]:
    """Return the sources of a notebook's code cells by their text, each read once for all submissions."""
    return {c["source"]: Code(c["source"]) for c in parsed_notebook(text)["cells"] if c["cell_type"] == "code"}


@lru_cache(maxsize=8)
def contents_digests(files: Files) -> tuple[str, ...]:
    """Return a checksum of each file's name and content."""
    return tuple(name + hashlib.sha256(content).hexdigest() for name, content in files)


@lru_cache(maxsize=8)
def unpickled(source: LessonSource, released: str, rubrics: tuple[tuple[str, str], ...], data: Files) -> LessonPackage:
    """Return a package that came from elsewhere: the same one for the same content, with all that it has computed."""
    return LessonPackage(load_answer_key(source), released, dict(rubrics), dict(data))
