"""Ready-made functions that would answer an exercise without doing it: found by what runs and by reading source.

Whatever runs is seen under any name, and costs the points. What the source alone says does not: a method of one's own,
a label or a comparison has the same name. It is a question for a person.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any

from .guard import USES
from .operators import AND_MORE, CALLER, FOR_NUMPY, LATER
from .syntax import as_code, called, reachable, words_of
from .values import Outcome, Returned
from .verdict import Failure, Verdict

FINDERS = ("getattr", "attrgetter", "methodcaller", "import_module", "__import__")
UNMISTAKABLE = 20  # characters: of a name as long as that, PyTorch has variants
ATTENTION = ("*attention*", "*transformer_encoder*", "_safe_softmax", "_fused_sdp_choice", "*_sfdp_*")
SOFTMAX = ("*softmax*", "softmin")
DERIVATIVES = ("grad", "backward", "_make_dual", "*_backward_data")
EVERYTHING = "torch"  # forbids all of PyTorch, for an exercise that does without
PACKAGES = (EVERYTHING, "keras", "scipy", "transformers")  # whoever names one uses it
RUNS_AS = {
    EVERYTHING: ("*",),
    "scaled_dot_product_attention": ATTENTION,
    "MultiheadAttention": ATTENTION,
    "multi_head_attention_forward": ATTENTION,
    "softmax": SOFTMAX,
    "Softmax": SOFTMAX,
    "log_softmax": ("*log_softmax",),
    "jacobian": DERIVATIVES,
    "jacrev": DERIVATIVES,
    "jacfwd": DERIVATIVES,
    "complex": ("complex", "polar", "view_as_real", "view_as_complex", "_conj", "angle", "__complex__"),
    "NumPy": FOR_NUMPY,
    "item": ("item", "__float__", "__complex__"),
}


@dataclass(frozen=True)
class Shortcut:
    """What an exercise's solution may not use.

    Args:
        exercise: its name.
        names: functions, methods or classes, without what stands before the dot; or packages, and what comes from
            them. "torch" forbids all of PyTorch, under whatever name it runs.
        because: a sentence for the student.
    """

    exercise: str
    names: tuple[str, ...]
    because: str


def shortcut(exercise: str, *names: str, because: str) -> Shortcut:
    """Declare, in checks.py, what an exercise's solution may not use."""
    return Shortcut(exercise, names, because)


@dataclass(frozen=True)
class Permission:
    """What an honest answer to an exercise may run or use, though the exercise's own solution does not."""

    exercise: str
    names: tuple[str, ...]
    because: str


def allow(exercise: str, *names: str, because: str) -> Permission:
    """Declare, in hidden.py, what an honest answer may use beyond what is usual, so that nobody is asked about it.

    Args:
        exercise: its name.
        names: what runs, as a record says it, or a pattern of it: `aten::_cdist*`; words of a source, such as `eval`.
        because: which honest answer that is.
    """
    return Permission(exercise, names, because)


def permissions_in(module: ModuleType) -> list[Permission]:
    """Return what a file of hidden checks allows."""
    return [item for item in vars(module).values() if isinstance(item, Permission)]


def shortcuts_in(module: ModuleType) -> list[Shortcut]:
    """Return what a checks file forbids."""
    return [item for item in vars(module).values() if isinstance(item, Shortcut)]


def bans_of(shortcuts: Iterable[Shortcut], exercise: str) -> list[Shortcut]:
    """Return what one exercise's solution may not use."""
    return [ban for ban in shortcuts if ban.exercise == exercise]


def barred_by(
    shortcuts: Iterable[Shortcut], exercise: str, sources: Sequence[str], outcomes: Iterable[Outcome]
) -> tuple[str, str] | None:
    """Return what costs an exercise its points, and why: a forbidden function that ran, or a package in its code."""
    packages = [replace(ban, names=tuple(name for name in ban.names if name in PACKAGES)) for ban in shortcuts]
    return ran_in(shortcuts, exercise, outcomes) or found_in(packages, exercise, sources)


def found_in(shortcuts: Iterable[Shortcut], exercise: str, sources: Sequence[str]) -> tuple[str, str] | None:
    """Return the first forbidden name that an exercise's code uses, and why it may not.

    Args:
        shortcuts: a lesson's.
        exercise: which of them count.
        sources: all cells that may matter. Read is what binds the exercise's name, and what that leads to: a line
            that compares with PyTorch's function, below one's own, is welcome.
    """
    bans = bans_of(shortcuts, exercise)
    nodes = reachable(["", *sources], exercise, given=False) if any(ban.names for ban in bans) else []
    codes = [as_code(source) for source in sources] if nodes else []
    own = set().union(*(code.defined.difference(code.imports) for code in codes))
    methods = {part.name for node in nodes for part in methods_in(node)}
    for ban in bans:
        hits = [name for name in ban.names if any(uses(node, name, own, methods) for node in nodes)]
        if hits:
            return hits[0], ban.because
    return None


def ran_in(shortcuts: Iterable[Shortcut], exercise: str, outcomes: Iterable[Outcome]) -> tuple[str, str] | None:
    """Return the first forbidden function that ran in an exercise's checks, under any name, and why it may not."""
    functions = {name.split("::")[-1] for name in record_of(outcomes) if not name.startswith((CALLER, LATER, USES))}
    for ban in bans_of(shortcuts, exercise):
        for name in ban.names:
            if any(fnmatchcase(function, pattern) for pattern in RUNS_AS.get(name, (name,)) for function in functions):
                return name, ban.because
    return None


def record_of(outcomes: Iterable[Outcome]) -> set[str]:
    """Return what ran in an exercise's checks."""
    return {name for outcome in outcomes if isinstance(outcome, Returned) for name in outcome.ran}


def record_is_odd(
    shortcuts: Iterable[Shortcut], exercise: str, outcomes: Iterable[Outcome], known: Collection[str] = ("",)
) -> bool:
    """Say whether too many functions ran to record them, or none where something is forbidden.

    Where none of them may run, or the exercise's solution runs none (`known`), an empty record is what was asked for.
    """
    bans = bans_of(shortcuts, exercise)
    some_wanted = bool(bans) and bool(known) and not any(EVERYTHING in ban.names for ban in bans)
    records = [outcome.ran for outcome in outcomes if isinstance(outcome, Returned)]
    return any(AND_MORE in ran or (some_wanted and not ran) for ran in records)


def methods_in(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the methods of the classes in some code."""
    classes = (part for part in ast.walk(node) if isinstance(part, ast.ClassDef))
    return (method for each in classes for method in each.body if isinstance(method, ast.FunctionDef))


def uses(node: ast.AST, name: str, own: Collection[str] = (), methods: Collection[str] = ()) -> bool:
    """Say whether code reaches for a name: bare, after a dot, in an import, or as the word that something finds it by.

    Args:
        node: what is searched.
        name: what is forbidden. Of a long one PyTorch has variants, which carry it within theirs: those count too.
        own: what the submission itself defines; a bare name of these is its own.
        methods: what its classes define; a name of these after `self` or a class is its own.
    """
    long = len(name) >= UNMISTAKABLE

    def same(text: str) -> bool:
        return name in text if long else text.strip("_") == name

    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and same(part.attr) and not is_of_own(part, own, methods):
            return True
        if isinstance(part, ast.Name) and same(part.id) and part.id not in own:
            return True
        if isinstance(part, ast.Import | ast.ImportFrom) and any(map(same, words_of(part))):
            return True
    finds = any(called(part) in FINDERS for part in ast.walk(node))  # by a text, which a loop may hand over
    return finds and any(is_word(part) and same(part.value) for part in ast.walk(node))  # type: ignore[attr-defined]


def is_of_own(part: ast.Attribute, own: Collection[str], methods: Collection[str]) -> bool:
    """Say whether what stands after a dot is a method of one's own: of `self`, of a class, or of what a class makes."""
    value = part.value.func if isinstance(part.value, ast.Call) else part.value
    return part.attr in methods and isinstance(value, ast.Name) and value.id in own


def is_word(node: ast.AST) -> bool:
    """Say whether this is a string that could be a name, not a sentence such as a docstring."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) == 1


def source_of(work: Any) -> list[str]:
    """Return the source of a student's function or class, as far as it can be had."""
    work = work.func if isinstance(work, functools.partial) else work
    described = work if inspect.isroutine(work) or isinstance(work, type) else type(work)
    try:
        return [inspect.cleandoc("\n" + inspect.getsource(described))]
    except (OSError, TypeError):
        return []


def barred(verdict: Verdict, name: str, because: str) -> Verdict:
    """Return a verdict without points. What is wrong with the values is said first, else the shortcut."""
    results = tuple(replace(result, passed=False) for result in verdict.results)
    told = Failure("Written by yourself.", f"Your code uses {name}. {because}", mistake="shortcut", rule="shortcut")
    return replace(verdict, results=results, failure=verdict.failure or told)
