"""Runs a check on an edited copy of a student's definition, within limits, in names of its own.

An edit can make code that never ends, so a trial is watched line by line and stopped when it has used more processor
time than it may. One call of C that takes long is not seen that way: whoever runs trials does so in a process of its
own, which can be ended.
"""

from __future__ import annotations

import ast
import copy
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any

from torch import Tensor

from .check import Check
from .values import Outcome, Raised

CELL = "<edited cell>"
LONGEST = 0.25  # seconds of processor time for one trial
TOO_LONG = Raised("OutOfTime", "")
MOST_COPIED = 10_000  # entries of one global tensor, list or dict


class OutOfTime(BaseException):
    """A trial has used more processor time than it may."""


class LineWatch:
    """Notes which lines of an edited cell run, and stops it when it takes too long.

    Args:
        seconds: of processor time.
    """

    def __init__(self, seconds: float) -> None:
        self.lines: set[int] = set()
        self._ends = time.process_time() + seconds

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        """Look at one line: the interpreter's hook."""
        if frame.f_code.co_filename != CELL:
            return None
        self.lines.add(frame.f_lineno)
        if time.process_time() > self._ends:
            raise OutOfTime
        return self


def definitions_in(cell: str) -> ast.Module:
    """Return a cell's definitions: its other statements have run, and need not run again."""
    kept = (ast.FunctionDef, ast.ClassDef)
    return ast.Module([node for node in ast.parse(cell).body if isinstance(node, kept)], [])


class Trials:
    """Runs the checks of one exercise on edited definitions.

    Args:
        names: what the notebook has defined; nothing is written to it.
        exercise: the name that the edited source defines.
        seed: what the checks' inputs are drawn from.
        record: note which of PyTorch's functions ran, too.
    """

    def __init__(self, names: Mapping[str, Any], exercise: str, seed: int, *, record: bool = False) -> None:
        self._names, self._exercise, self._seed, self._record = names, exercise, seed, record
        self.lines: set[int] = set()

    def run(self, source: str, check: Check) -> Outcome:
        """Run one check on an edited definition; remember which of its lines ran."""
        watch, before = LineWatch(LONGEST), sys.gettrace()
        sys.settrace(watch)
        try:
            return self._outcome(source, check)
        except OutOfTime:
            return TOO_LONG
        except Exception as error:
            return Raised(type(error).__name__, str(error)[:500])
        finally:
            sys.settrace(before)
            self.lines = watch.lines

    def _outcome(self, source: str, check: Check) -> Outcome:
        names = own_names(self._names, source)
        exec(compile(source, CELL, "exec", dont_inherit=True), names)
        return check.values(names[self._exercise], self._seed, record=self._record)


def own_names(names: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return names for one trial: what the code mentions and could write into is a copy."""
    mentioned = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    new = dict(names)
    for name in mentioned & names.keys():
        value = names[name]
        if isinstance(value, Tensor) and value.numel() <= MOST_COPIED:
            new[name] = value.detach().clone()
        elif isinstance(value, list | dict | set) and len(value) <= MOST_COPIED:
            new[name] = copy.copy(value)
    return new


def cell_function(work: Any) -> FunctionType | None:
    """Return a function that a piece of work is made of: itself, or a class's first method."""
    if isinstance(work, FunctionType):
        return work
    methods = vars(work).values() if isinstance(work, type) else ()
    return next((method for method in methods if isinstance(method, FunctionType)), None)
