"""Part of a lesson: some exercises with all that their proof depends on, so that an edit is proved without the rest."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from ..grading.package import LessonPackage
from ..judging.answer_key import LessonSource
from ..judging.check import declared
from ..judging.syntax import bound_by, parsed, top_level_names, wanted_by
from .lesson import LessonCell, solution_of
from .notebook import notebook_text, released_notebook
from .sample_submissions import Edits, solutions

Bases = dict[str, str]


def proof_bases(source: LessonSource, cells: list[LessonCell]) -> Bases:
    """Return a checksum, for each exercise, of everything that its proof depends on.

    That is the setup, the lesson's modules, its solution with those of the exercises that it needs, its checks and
    mistakes, and whatever in checks.py and hidden.py belongs to no other exercise.
    """
    code = solutions(cells)
    setup = [cell.text for cell in cells if cell.kind == "setup"]
    bases = Bases()
    for name, needed in needed_exercises(code).items():
        files = (source.checks, source.hidden, source.mistakes)
        declarations = [statement for file in files for statement in statements_for(file, name)]
        parts = (setup, source.modules, name, [code[other] for other in needed], declarations)
        bases[name] = hashlib.sha256(repr(parts).encode()).hexdigest()
    return bases


def needed_exercises(code: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return, for each exercise, those whose cells bind a name that its cell reads, directly or not, and itself.

    Args:
        code: every exercise's solution.
    """
    reads = {name: frozenset({name}).union(*map(wanted_by, parsed(text))) for name, text in code.items()}
    found = {}
    for name in code:
        needed = [name]
        for one in needed:  # grows while it is read
            needed += [other for other in code if other not in needed and reads[one] & top_level_names(code[other])]
        found[name] = tuple(other for other in code if other in needed)
    return found


def statements_for(source: str, exercise: str) -> Iterator[str]:
    """Yield what in checks.py or hidden.py belongs to no other exercise, without comments."""
    tree = ast.parse(source)
    solutions = {name: owner for node in tree.body for name in bound_by(node) if (owner := edited_solution(node))}
    for node in tree.body:
        if (edited_solution(node) or solutions.get(start_of(node)) or owner_of(node)) in ("", exercise):
            yield ast.dump(node)


def edited_solution(node: ast.stmt) -> str:
    """Return the exercise in `name = solution(exercise)`; '' for any other statement."""
    call = node.value if isinstance(node, ast.Assign) else None
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "solution" and call.args
    return str(call.args[0].value) if named and isinstance(call.args[0], ast.Constant) else ""  # type: ignore[union-attr]


def start_of(node: ast.stmt) -> str:
    """Return the name in `name.mutant(…)`; '' for any other statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    owner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) else ""


def owner_of(node: ast.stmt) -> str:
    """Return the exercise that a check is declared for; '' for any other statement."""
    call = declared(node, "check")
    return str(call.args[0].value) if call and call.args and isinstance(call.args[0], ast.Constant) else ""


def part_of(package: LessonPackage, cells: list[LessonCell], exercises: Collection[str]) -> LessonPackage:
    """Return a lesson with some of its exercises only. What they need of the others is part of its setup.

    What the answer key has computed already is shared.

    Args:
        package: the lesson.
        cells: the same.
        exercises: which exercises to keep.
    """
    key = package.key
    source = replace(key.source, exercises=tuple(name for name in key.exercises if name in exercises))
    part = replace(key, source=source, mistakes=tuple(m for m in key.mistakes if m.exercise in exercises))
    released = notebook_text(released_notebook(cells_of(cells, exercises), part.points()))
    return replace(package, key=part, released=released)


def cells_of(cells: list[LessonCell], exercises: Collection[str]) -> list[LessonCell]:
    """Return a lesson's cells without the other exercises; the solutions that are needed of those join the setup."""
    code: Edits = solutions(cells)
    needed = {other for name, others in needed_exercises(code).items() if name in exercises for other in others}
    solved = [text for name, text in code.items() if name in needed and name not in exercises]
    kept = []
    for cell in cells:
        if cell.kind == "setup":
            kept.append(replace(cell, text="\n\n".join([solution_of(cell), *solved])))
        elif cell.kind not in ("exercise", "hints", "check") or cell.name in exercises:
            kept.append(cell)
    return kept
