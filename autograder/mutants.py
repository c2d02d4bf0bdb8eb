"""Submissions made from a lesson's own solutions and mistakes, to prove that grading does what it should."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping
from typing import Any

from .checks import Mistake, is_declared_by
from .kit import Kit
from .lesson_text import solution_of
from .notebooks import read_notebook

Edits = dict[str, str]


def submission(kit: Kit, edits: Mapping[str, str]) -> Any:
    """Return the released notebook with other code in some exercise cells, by exercise."""
    notebook = read_notebook(kit.lesson.released / kit.lesson.notebook)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = edits.get(grade_id, cell.source)
    return notebook


def solutions(kit: Kit) -> Edits:
    """Return every exercise's solution."""
    return {cell.name: solution_of(cell) for cell in kit.cells if cell.kind == "exercise"}


def mistake_cell(kit: Kit, mistake: Mistake) -> str:
    """Return a mistake as the exercise cell of a student who made it: its imports, its helpers, itself renamed."""
    tree = ast.parse(kit.lesson.hidden.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and not is_ours(node)]
    wrong: Any = next(n for n in tree.body if is_declared_by(n, "mistake") and getattr(n, "name", "") == mistake.name)
    helpers = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.decorator_list}
    renamed: Any = copy.deepcopy(wrong)
    renamed.name, renamed.decorator_list, renamed.body = mistake.exercise, [], wrong.body[1:]  # without its message
    needed = [node for name, node in helpers.items() if name in names_in(renamed, helpers)]
    return "\n\n".join(ast.unparse(node) for node in [*imports, *needed, renamed])


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


def packed(kit: Kit) -> list[dict[str, Mistake]]:
    """Distribute all mistakes over as few submissions as possible, at most one mistake per exercise in each.

    Exercises whose solutions use one another never share a submission.
    """
    linked = linked_exercises(kit)
    free = [name for name in kit.exercises if name not in linked]
    rows = max((len(kit.mistakes_of(name)) for name in free), default=0)
    shared = [{e: kit.mistakes_of(e)[i] for e in free if i < len(kit.mistakes_of(e))} for i in range(rows)]
    return shared + [{name: m} for name in sorted(linked) for m in kit.mistakes_of(name)]


def linked_exercises(kit: Kit) -> set[str]:
    """Return the exercises whose solution uses another exercise, and the used ones."""
    code = solutions(kit)
    pairs = {(a, b) for a in code for b in code if a != b and re.search(rf"\b{re.escape(b)}\b", code[a])}
    return {name for pair in pairs for name in pair}
