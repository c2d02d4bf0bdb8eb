"""Ready-made functions that would answer an exercise without doing it, found by reading the source."""

from __future__ import annotations

import ast
import inspect
import symtable
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from .judge import Failure, Verdict


@dataclass(frozen=True)
class Shortcut:
    """What an exercise's solution may not use.

    Args:
        exercise: its name.
        names: functions, methods or classes, without what stands before the dot.
        because: a sentence for the student.
    """

    exercise: str
    names: tuple[str, ...]
    because: str


def shortcut(exercise: str, *names: str, because: str) -> Shortcut:
    """Declare, in checks.py, what an exercise's solution may not use."""
    return Shortcut(exercise, names, because)


def shortcuts_in(module: ModuleType) -> list[Shortcut]:
    """Return what a checks file forbids."""
    return [item for item in vars(module).values() if isinstance(item, Shortcut)]


def found_in(shortcuts: Iterable[Shortcut], exercise: str, sources: Sequence[str]) -> tuple[str, str] | None:
    """Return the first forbidden name that an exercise's code uses, and why it may not.

    Args:
        shortcuts: a lesson's.
        exercise: which of them count.
        sources: the exercise's own code first, then other cells; of those only what the first one leads to is read.
    """
    bans = [ban for ban in shortcuts if ban.exercise == exercise]
    nodes = reachable(sources) if bans else []
    for ban in bans:
        hits = [name for name in ban.names if any(uses(node, name) for node in nodes)]
        if hits:
            return hits[0], ban.because
    return None


def reachable(sources: Sequence[str]) -> list[ast.stmt]:
    """Return the statements of the first source, and those of the others that bind what is used, directly or not."""
    trees = [parsed(source) for source in sources]
    nodes, others = trees[0] if trees else [], [node for tree in trees[1:] for node in tree]
    while True:
        names = set().union(*(wanted_by(node) for node in nodes))
        more = [node for node in others if node not in nodes and bound_by(node) & names]
        if not more:
            return nodes
        nodes = [*nodes, *more]


def wanted_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement takes from outside itself: not a function's own variables."""
    try:
        tables = [symtable.symtable(ast.unparse(node), "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return set()
    wanted = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        own = table.get_type() == "function"
        wanted |= {s.get_name() for s in table.get_symbols() if (s.is_global() if own else s.is_referenced())}
    return wanted


def parsed(source: str) -> list[ast.stmt]:
    """Return a cell's statements; none where it is no Python."""
    plain = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
    try:
        return ast.parse(plain).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def uses(node: ast.AST, name: str) -> bool:
    """Say whether code reaches for a name: after a dot, in an import, or as a word handed to getattr and the like."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr == name:
            return True
        if isinstance(part, ast.ImportFrom) and any(alias.name == name for alias in part.names):
            return True
        if isinstance(part, ast.Call) and any(isinstance(a, ast.Constant) and a.value == name for a in part.args):
            return True
    return False


def source_of(work: Any) -> list[str]:
    """Return the source of a student's function or class, as far as it can be had."""
    try:
        return [inspect.cleandoc("\n" + inspect.getsource(work))]
    except (OSError, TypeError):
        return []


def barred(verdict: Verdict, name: str, because: str) -> Verdict:
    """Return a verdict without points. What is wrong with the values is said first, else the shortcut."""
    results = tuple(replace(result, passed=False) for result in verdict.results)
    told = Failure("Written by yourself.", f"Your code uses {name}. {because}", mistake="shortcut")
    return replace(verdict, results=results, failure=verdict.failure or told)
