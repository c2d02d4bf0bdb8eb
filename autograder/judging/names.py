"""What a submission's names stand for: modules, and what is reached from them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from .ordinary import LEADING
from .syntax import Path, as_code, called, imported, words_of

MOST_STEPS = 20
TOO_LONG = "a path of very many names"
TWO_MODULES = ("a name of two modules",)  # which of them it is nobody follows
Names = Mapping[str, Path]


def with_renamed(parts: Iterable[ast.AST], names: Names) -> dict[str, Path]:
    """Return what names stand for, those with it that code imports itself or gives to what a path leads to.

    In whatever order they are given it: the code is read again until nothing is new.
    """
    known, binding = dict(names), [*binding_in(parts)]
    for _ in range(MOST_STEPS):
        before = dict(known)
        for name, path in chain.from_iterable(given_in(part, known) for part in binding):
            known[name] = path if may_both_be(known.get(name, path), path) else TWO_MODULES
        if known == before:
            return known
    return known | dict.fromkeys(filter(None, map(only_name, binding)), (TOO_LONG,))


def binding_in(parts: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield what gives names a meaning; of a star that comes many times, which brings many names each time, the first.

    Few words bring thousands of names, so a submission's size does not bound them.
    """
    stars: set[str] = set()
    for part in parts:
        if isinstance(part, ast.Import | ast.ImportFrom | ast.Assign):
            star = imported(part).get("*", ("",))[0]
            if star not in stars:
                yield part
            stars |= {star} - {""}


def given_in(part: ast.AST, known: Names) -> list[tuple[str, Path]]:
    """Return which names a statement makes stand for what."""
    target = only_name(part)
    path = path_of(part.value, known) if target and isinstance(part, ast.Assign) else ()
    return [(target, path)] if path else [*brought(part).items()]


def brought(part: ast.AST) -> dict[str, Path]:
    """Return what the names stand for that a node imports, those that a star brings among them."""
    given = imported(part)
    return {name: (given["*"][0], name) for name in public_names(given["*"][0])} or given if "*" in given else given


def public_names(module: str) -> list[str]:
    """Return the names that a star brings from a module; none where it is not loaded here."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    return list(names.get("__all__") or (name for name in names if not name.startswith("_")))


def only_name(part: ast.AST) -> str:
    """Return the one name that an assignment gives a value to; '' where it is several, or something else."""
    targets = part.targets if isinstance(part, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def may_both_be(one: Path, other: Path) -> bool:
    """Say whether a name may stand for two things: the same, of one usual package, or none of them a known module."""
    words = ".".join(one), ".".join(other)
    packages = {word.partition(".")[0] for word in words}
    usual = len(packages) == 1 and packages.isdisjoint(LEADING)  # `time` is a module and its function
    modules = any(len(path) == 1 for path in (one, other)) or not {*words}.isdisjoint(sys.modules)
    return words[0] == words[1] or usual or not modules


@lru_cache(maxsize=100)  # modules, of all lessons
def names_in_module(text: str) -> Names:
    """Return what the names in a lesson's module stand for: nothing else where it defines them itself.

    A function that gives a whole module is left out, as if it were not there: nobody follows what a call gives.
    """
    code = as_code(text)
    functions = [node for node in code.statements if isinstance(node, ast.FunctionDef)]
    giving = {node.name for node in functions if node.returns and "ModuleType" in words_of(node.returns)}
    return dict.fromkeys(code.bound - giving, ()) | with_renamed(chain(*map(ast.walk, code.statements)), {})


def path_of(node: ast.AST | None, names: Names) -> Path:
    """Return the path of an expression that begins in a module; of a very long one none: its beginning is asked too."""
    steps: list[str] = []
    while len(steps) < MOST_STEPS and (step := step_of(node)):
        steps.append(step[1])
        node = step[0]
    begun = names.get(node.id, ()) if isinstance(node, ast.Name) else ()
    if begun and (len(begun) + len(steps) > MOST_STEPS or begun == (TOO_LONG,)):
        return (TOO_LONG,)  # names that stand for one another make paths without an end
    return (*begun, *reversed(steps)) if begun else ()


def step_of(node: ast.AST | None) -> tuple[ast.AST, str] | None:
    """Return what an expression takes an attribute of, and the attribute's name; None where it takes none."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and called(node) == "getattr" and len(node.args) > 1:
        name = getattr(node.args[1], "value", None)
        return (node.args[0], name) if isinstance(name, str) else None
    return None
