"""Runs a check on an edited copy of a student's definition, within limits, in names of its own.

An edit can make code that never ends, so a trial is watched line by line and stopped when it has used more processor
time than it may. One call of C that takes long is not seen that way: whoever runs trials does so in a process of its
own, which can be ended.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any

from torch import Tensor

from .check import Check
from .syntax import parsed
from .trace import watching
from .values import Lost, Outcome, Raised, Returned

CELL = "<edited cell>"
SECONDS = 0.75  # of processor time, for all trials of one answer
LONGEST, SHORTEST = 0.25, 0.04  # seconds of processor time for one trial
MANY_TIMES = 20  # as long as the check's first trial took
TOO_LONG = Raised("OutOfTime", "")
NO_TIME_LEFT = Lost("No time is left for further trials.")
MOST_CHARACTERS = 20_000  # of a cell
MOST_NODES = 3000
DEEPEST = 60
MOST_COPIED = 10_000  # entries of one global tensor, list or dict


class OutOfTime(BaseException):
    """A trial has used more processor time than it may."""


class LineWatch:
    """Looks at each line of an edited cell that runs, and stops it when it takes too long.

    Args:
        seconds: of processor time.
    """

    def __init__(self, seconds: float) -> None:
        self._ends = time.process_time() + seconds

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        """Look at one line: the interpreter's hook."""
        if frame.f_code.co_filename != CELL:
            return None
        if time.process_time() > self._ends:
            raise OutOfTime
        return self


def definitions_in(cell: str) -> ast.Module:
    """Return a copy of a cell's definitions, none where it is very long or deep.

    Its other statements have run, and need not run again.
    """
    kept: list[ast.stmt] = [node for node in parsed(cell) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    editable = len(cell) <= MOST_CHARACTERS and is_small(kept)
    return ast.Module(copy.deepcopy(kept) if editable else [], [])


def is_small(nodes: Sequence[ast.AST]) -> bool:
    """Say whether code has so few nodes, nested so little, that all its edits can be listed."""
    total, depth, level = 0, 0, list(nodes)
    while level and total <= MOST_NODES and depth <= DEEPEST:
        total, depth = total + len(level), depth + 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return not level


class Trials:
    """Runs the checks of one exercise on edited definitions.

    Args:
        names: what the notebook has defined; nothing is written to it.
        exercise: the name that the edited source defines.
        seconds: of processor time, for all trials.
    """

    def __init__(self, names: Mapping[str, Any], exercise: str, seconds: float = SECONDS) -> None:
        self._names, self._exercise, self._left = names, exercise, seconds
        self._longest: dict[str, float] = {}

    def run(self, source: str, check: Check, seed: int) -> Outcome:
        """Run one check on edited definitions; NO_TIME_LEFT where all trials together have used up their time."""
        if self._left <= 0:
            return NO_TIME_LEFT
        began = time.process_time()
        try:
            return self._outcome(source, check, seed)
        finally:
            took = time.process_time() - began
            self._left -= took
            self._longest.setdefault(check.name, min(LONGEST, max(SHORTEST, MANY_TIMES * took)))

    def _outcome(self, source: str, check: Check, seed: int) -> Outcome:
        try:
            with watched(self._longest.get(check.name, LONGEST)), watching(source, CELL) as watch:
                code = compile(source, CELL, "exec", dont_inherit=True)
                names = own_names(self._names, code)
                exec(code, names)
                outcome = check.values(names[self._exercise], seed)
            return Returned(watch.table()) if watch else outcome
        except OutOfTime:
            return TOO_LONG
        except Exception as error:
            return Raised(type(error).__name__, str(error)[:500])


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Stop edited code in the block when it has used so much processor time."""
    before = sys.gettrace()
    sys.settrace(LineWatch(seconds))
    try:
        yield
    finally:
        sys.settrace(before)


def own_names(names: Mapping[str, Any], code: CodeType) -> dict[str, Any]:
    """Return names for one trial: what the code mentions and could write into is a copy."""
    new = dict(names)
    for name in mentioned_in(code) & names.keys():
        value = names[name]
        if isinstance(value, Tensor) and value.numel() <= MOST_COPIED:
            new[name] = value.detach().clone()
        elif isinstance(value, list | dict | set) and len(value) <= MOST_COPIED:
            new[name] = copy.copy(value)
    return new


def mentioned_in(code: CodeType) -> set[str]:
    """Return the names that a code, and the functions in it, take from outside."""
    inner = (mentioned_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def function_of(work: Any) -> FunctionType | None:
    """Return a function that a piece of work is made of: itself, or a class's first method; without decorators."""
    parts = map(inspect.unwrap, vars(work).values() if isinstance(work, type) else [work])
    return next((part for part in parts if isinstance(part, FunctionType)), None)
