"""Submissions made from a lesson's own solutions and mistakes, to prove that grading does what it should."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import nbformat

from ..grading.package import LessonPackage
from ..judging.cell_metadata import grade_id_of
from ..judging.check import Mistake, declared
from ..judging.mutant import Mutant
from .lesson import LessonCell, solution_of

Edits = dict[str, str]


def submission(package: LessonPackage, edits: Mapping[str, str]) -> Any:
    """Return the released notebook with other text in some cells.

    Args:
        package: the lesson.
        edits: the text of exercise and question cells, by grade id.
    """
    notebook = nbformat.reads(package.released, as_version=4)
    for cell in notebook.cells:
        cell.source = edits.get(grade_id_of(cell), cell.source)
    return notebook


def solutions(cells: list[LessonCell]) -> Edits:
    """Return every exercise's solution."""
    return {cell.name: solution_of(cell) for cell in cells if cell.kind == "exercise"}


def mistake_cell(package: LessonPackage, mistake: Mistake | Mutant) -> str:
    """Return a mistake as the exercise cell of a student who made it: its imports, its helpers, itself renamed."""
    if isinstance(mistake, Mutant):
        return mistake.source
    tree = parsed(package.source.hidden)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and not is_ours(node)]
    wrong: Any = next(n for n in tree.body if declared(n, "mistake") and getattr(n, "name", "") == mistake.name)
    helpers = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.decorator_list}
    renamed: Any = copy.deepcopy(wrong)
    renamed.name, renamed.decorator_list, renamed.body = mistake.exercise, [], wrong.body[1:]  # without its message
    needed = [node for name, node in helpers.items() if name in names_in(renamed, helpers)]
    return "\n\n".join(ast.unparse(node) for node in [*imports, *needed, renamed])


@lru_cache(maxsize=1)
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of hidden.py, which takes long to make and is looked at once per mistake."""
    return ast.parse(source)


def is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    """Say whether an import is of the machinery, which a student's cell does not need."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("autograder", "checks")


def names_in(node: ast.AST, helpers: Mapping[str, ast.AST]) -> set[str]:
    """Return the helpers that a definition uses, directly or through another one."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        names = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)} & helpers.keys()
        waiting += [helpers[name] for name in names - found]
        found |= names
    return found


def one_mistake_each(package: LessonPackage, code: Edits) -> list[dict[str, Mistake | Mutant]]:
    """Distribute all mistakes over as few submissions as possible, at most one mistake per exercise in each.

    Exercises whose solutions use one another never share a submission.

    Args:
        package: the lesson.
        code: every exercise's solution.
    """
    key = package.key
    linked = linked_exercises(code)
    free = [name for name in key.exercises if name not in linked]
    rows = max((len(key.mistakes_of(name)) for name in free), default=0)
    shared = [{e: key.mistakes_of(e)[i] for e in free if i < len(key.mistakes_of(e))} for i in range(rows)]
    return shared + [{name: m} for name in sorted(linked) for m in key.mistakes_of(name)]


def with_what_it_uses(package: LessonPackage, wrong: Mapping[str, Mistake | Mutant], code: Edits) -> Edits:
    """Return mistakes as a submission's cells, with the solutions that they may use; nothing else is started."""
    linked = linked_exercises(code)
    used = {name: code[name] for name in linked} if wrong.keys() & linked else {}
    return {**used, **{exercise: mistake_cell(package, mistake) for exercise, mistake in wrong.items()}}


def linked_exercises(code: Edits) -> set[str]:
    """Return the exercises whose solution uses another exercise, and the used ones."""
    used = {a: {node.id for node in ast.walk(ast.parse(code[a])) if isinstance(node, ast.Name)} for a in code}
    pairs = {(a, b) for a in code for b in code if a != b and b in used[a]}  # to be named in a docstring is no use
    return {name for pair in pairs for name in pair}
