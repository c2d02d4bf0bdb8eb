"""Checks and mistakes, and how a lesson's files of them are loaded.

A check is a function from the student's work to values. The same function is run on the student's object,
on the reference solution and on each known mistake, so what should come out is written down nowhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from .inputs import Inputs
from .values import Lost, Outcome, Returned, capture_outcome

WIDEST = 2048  # entries along an axis of what a summary is made from: it runs where the judge runs

CheckFunction = Callable[[Any, Inputs], Any]


@dataclass(frozen=True)
class Check:
    """One check of one exercise.

    Args:
        exercise: the name that the student defines.
        name: the check's own name, unique in a lesson.
        points: whole points, all or nothing.
        title: one sentence that says what is checked; what a student reads when it passed.
        run: the function itself.
        show: a student may see the expected values at home (grading draws new inputs, so knowing them earns nothing).
        summary: turns the values into what is compared, where more than one answer is right.
            It runs where the judge runs, never beside the student's code.
        tolerance: how far apart values may be, where that is more than what follows from the dtype.
    """

    exercise: str
    name: str
    points: int
    title: str
    run: CheckFunction
    show: bool = False
    summary: Callable[[Any], Any] | None = None
    tolerance: float | None = None

    def values(self, work: Any, seed: int) -> Outcome:
        """Run the check on a piece of work: a student's, the reference or a mistake."""
        draw = Inputs(seed, self.name)
        with torch.random.fork_rng(devices=[]):  # what work draws itself, such as dropout, is repeatable too
            torch.manual_seed(seed)
            outcome = capture_outcome(lambda: self.run(work, draw))
        return replace(outcome, changed=draw.changed) if isinstance(outcome, Returned) else outcome

    def summarise(self, outcome: Outcome) -> Outcome:
        """Return what is compared. A summary's ValueError is a sentence for the student."""
        if self.summary is None or not isinstance(outcome, Returned):
            return outcome
        if any(
            max(leaf.value.shape, default=0) > WIDEST for leaf in outcome.leaves() if isinstance(leaf.value, Tensor)
        ):
            return Lost(f"A tensor came back with more than {WIDEST} entries along one axis.")
        try:
            return replace(outcome, tree=self.summary(outcome.tree))
        except ValueError as reason:
            return Lost(str(reason))
        except Exception as error:
            return Lost(f"It returned something else than what was asked for ({type(error).__name__}).")


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation, and what a student who wrote it should read."""

    exercise: str
    name: str
    message: str
    work: Any


def docstring_text(documented: Any, what: str) -> str:
    """Return a docstring as running text. Raises ValueError where it is missing."""
    text = " ".join((documented.__doc__ or "").split())
    if not text:
        raise ValueError(f"{what} {documented.__name__} needs a docstring: students read it.")
    return text


def check(
    exercise: str,
    *,
    points: int,
    show: bool = False,
    summary: Callable[[Any], Any] | None = None,
    tolerance: float | None = None,
) -> Callable[[CheckFunction], Check]:
    """Declare a check. The function's docstring is its title."""

    def declare(run: CheckFunction) -> Check:
        return Check(exercise, run.__name__, points, docstring_text(run, "check"), run, show, summary, tolerance)

    return declare


def mistake(exercise: str) -> Callable[[Any], Mistake]:
    """Declare a known mistake: a wrong function or class. Its docstring is the message."""

    def declare(work: Any) -> Mistake:
        return Mistake(exercise, work.__name__, docstring_text(work, "mistake"), work)

    return declare


def load_module(source: str, filename: str, checks: ModuleType | None = None) -> ModuleType:
    """Execute a checks file without leaving it among the imported modules.

    Args:
        source: the file's text.
        filename: its name, for tracebacks.
        checks: what `import checks` finds meanwhile, so that hidden checks can use what the visible ones define.
    """
    module = ModuleType(Path(filename).stem)
    module.__file__ = filename
    before = sys.modules.get("checks")
    try:
        if checks is not None:
            sys.modules["checks"] = checks
        exec(compile(source, filename, "exec"), module.__dict__)
    finally:
        sys.modules.pop("checks", None)
        if before is not None:
            sys.modules["checks"] = before
    return module


def checks_in(module: ModuleType) -> list[Check]:
    """Return a module's checks in the order in which they are written."""
    return [item for item in vars(module).values() if isinstance(item, Check)]


def mistakes_in(module: ModuleType) -> list[Mistake]:
    """Return a module's mistakes in the order in which they are written."""
    return [item for item in vars(module).values() if isinstance(item, Mistake)]


def checks_alone(source: str, exercise: str) -> str:
    """Return a hidden.py without its mistakes and without other exercises' checks."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if declared(node, "mistake") is None and is_for(node, exercise)]
    return ast.unparse(tree)


def is_for(node: ast.stmt, exercise: str) -> bool:
    """Say whether a top-level definition belongs to an exercise: it is its check, or no check at all."""
    call = declared(node, "check")
    return call is None or (isinstance(call.args[0], ast.Constant) and call.args[0].value == exercise)


def declared(node: ast.stmt, decorator: str) -> ast.Call | None:
    """Return the call in `@decorator(...)` above a top-level definition, or None."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return None
    calls = (d for d in node.decorator_list if isinstance(d, ast.Call))
    return next((c for c in calls if isinstance(c.func, ast.Name) and c.func.id == decorator), None)
