"""Submissions made from a lesson's own solutions and mistakes, to prove that grading does what it should."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import nbformat

from ..grading.package import LessonPackage
from ..judging.cell_metadata import grade_id_of
from ..judging.edits import Mutant
from .lesson import LessonCell, solution_of

Edits = dict[str, str]


def submission(package: LessonPackage, edits: Mapping[str, str]) -> Any:
    """Return the released notebook with other text in some cells, by grade id."""
    notebook = nbformat.reads(package.released, as_version=4)
    for cell in notebook.cells:
        cell.source = edits.get(grade_id_of(cell), cell.source)
    return notebook


def solutions(cells: list[LessonCell]) -> Edits:
    """Return every exercise's solution."""
    return {cell.name: solution_of(cell) for cell in cells if cell.kind == "exercise"}


def one_mistake_each(package: LessonPackage, code: Edits) -> list[dict[str, Mutant]]:
    """Distribute all mistakes over as few submissions as possible, at most one mistake per exercise in each.

    Exercises whose solutions use one another never share a submission.
    """
    key = package.key
    linked = linked_exercises(code)
    free = [name for name in key.exercises if name not in linked]
    rows = max((len(key.mistakes_of(name)) for name in free), default=0)
    shared = [{e: key.mistakes_of(e)[i] for e in free if i < len(key.mistakes_of(e))} for i in range(rows)]
    return shared + [{name: m} for name in sorted(linked) for m in key.mistakes_of(name)]


def with_what_it_uses(wrong: Mapping[str, Mutant], code: Edits) -> Edits:
    """Return mistakes as a submission's cells, with the solutions that they may use; nothing else is started."""
    linked = linked_exercises(code)
    used = {name: code[name] for name in linked} if wrong.keys() & linked else {}
    return {**used, **{exercise: mistake.source for exercise, mistake in wrong.items()}}


def linked_exercises(code: Edits) -> set[str]:
    """Return the exercises whose solution uses another exercise, and the used ones."""
    used = {a: {node.id for node in ast.walk(ast.parse(code[a])) if isinstance(node, ast.Name)} for a in code}
    pairs = {(a, b) for a in code for b in code if a != b and b in used[a]}  # to be named in a docstring is no use
    return {name for pair in pairs for name in pair}
