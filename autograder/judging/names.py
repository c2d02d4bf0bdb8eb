"""What a submission's names stand for: modules, and what is reached from them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain

from .syntax import Path, as_code, called, imported

MOST_STEPS = 20
TOO_LONG = "a path of very many names"
TWO_MODULES = ("a name of two modules",)  # which of them it is nobody follows
Names = Mapping[str, Path]


def with_renamed(parts: Iterable[ast.AST], names: Names) -> dict[str, Path]:
    """Return what names stand for, those with it that code imports itself or gives to what a path leads to."""
    known = dict(names)
    for part in parts:
        given = imported(part)
        if (target := only_name(part)) and isinstance(part, ast.Assign) and (path := path_of(part.value, known)):
            given = {target: path}
        for name, path in given.items():
            known[name] = path if may_both_be(known.get(name, path), path) else TWO_MODULES
    return known


def only_name(part: ast.AST) -> str:
    """Return the one name that an assignment gives a value to; '' where it is several, or something else."""
    targets = part.targets if isinstance(part, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def may_both_be(one: Path, other: Path) -> bool:
    """Say whether a name may stand for two things, because they are the same, or neither is known to be a module."""
    words = ".".join(one), ".".join(other)
    return words[0] == words[1] or (not any(len(path) == 1 for path in (one, other)) and not {*words} & {*sys.modules})


@lru_cache(maxsize=100)  # modules, of all lessons
def names_in_module(text: str) -> Names:
    """Return what the names in a lesson's module stand for: nothing else where it defines them itself."""
    code = as_code(text)
    return dict.fromkeys(code.bound, ()) | with_renamed(chain(*map(ast.walk, code.statements)), {})


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
