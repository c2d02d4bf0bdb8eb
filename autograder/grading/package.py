"""A lesson as grading needs it: one value that can be sent to another machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ..judging.answer_key import AnswerKey, LessonSource, load_answer_key
from ..judging.cell_metadata import checked_exercise, grade_id_of, is_locked
from ..judging.syntax import Code

ReleasedCell = dict[str, Any]


@dataclass(frozen=True)
class LessonPackage:
    """A lesson's answer key as text, and the notebook that students were given.

    Args:
        source: what judging needs.
        released: the released notebook's text. Its cells' metadata say which of them are graded.
        fingerprints: the text of fingerprints.json, which lies beside the notebook.
        rubrics: what a person grades a question by, by the question's grade id.
    """

    source: LessonSource
    released: str
    fingerprints: str
    rubrics: Mapping[str, str]

    @property
    def name(self) -> str:
        """The lesson's name."""
        return self.source.name

    @cached_property
    def key(self) -> AnswerKey:
        """The loaded answer key."""
        return load_answer_key(self.source)

    @cached_property
    def digest(self) -> str:
        """A checksum of all of it: what was graded with another one is graded anew."""
        parts = (self.source.digest, self.released, repr(sorted(self.rubrics.items())))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def files(self) -> dict[str, str]:
        """What lies beside the notebook while it runs."""
        beside = {"checks.py": self.source.checks, "fingerprints.json": self.fingerprints}
        return beside | dict(self.source.modules)

    @cached_property
    def notebook(self) -> dict[str, Any]:
        """The released notebook, each cell's source as one text."""
        notebook: dict[str, Any] = json.loads(self.released)
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        return notebook

    @cached_property
    def nbgrader_cells(self) -> dict[str, ReleasedCell]:
        """The cells that nbgrader knows, by grade id, in order: set-up, exercises, check cells, questions."""
        named = ((grade_id_of(cell), cell) for cell in self.notebook["cells"])
        return {grade_id: cell for grade_id, cell in named if grade_id}

    @cached_property
    def code(self) -> dict[str, Code]:
        """The sources of all released code cells by their text: whatever else a submission holds is the student's."""
        return {c["source"]: Code(c["source"]) for c in self.notebook["cells"] if c["cell_type"] == "code"}

    @cached_property
    def demonstrations(self) -> frozenset[Code]:
        """The sources of the lesson's own demonstration cells."""
        return frozenset(self.code.values()) - {cell["source"] for cell in self.nbgrader_cells.values()}

    @cached_property
    def setup(self) -> Code:
        """The code of the locked cells that are no check cells."""
        locked = (c for c in self.nbgrader_cells.values() if is_locked(c) and not checked_exercise(c))
        return Code("\n\n".join(cell["source"] for cell in locked if cell["cell_type"] == "code"))

    @cached_property
    def sandbox_sources(self) -> Mapping[str, tuple[str, str]]:
        """What the sandbox may see for each exercise's hidden checks: checks.py, and its part of hidden.py."""
        return {name: self.key.sandbox_source(name) for name in self.source.exercises}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text: checks are functions, which do not travel, and are loaded once per process."""
        return unpickled, (self.source, self.released, self.fingerprints, tuple(self.rubrics.items()))


@lru_cache(maxsize=8)
def unpickled(
    source: LessonSource, released: str, fingerprints: str, rubrics: tuple[tuple[str, str], ...]
) -> LessonPackage:
    """Return a package that came from elsewhere: the same one for the same content, with all that it has computed."""
    return LessonPackage(source, released, fingerprints, dict(rubrics))
