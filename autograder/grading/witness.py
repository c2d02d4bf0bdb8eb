"""What an exercise's answer runs, as seen where nothing else of the notebook has run.

A notebook's other cells can change in more ways than anybody lists what a record of their own process would say. So
that one keeps none: each exercise that has earned points is run once more, in a fresh process, with the course's set-up
and the statements that it leads to, above its check. A guard looks at what these get hold of, and what runs there is
recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import takewhile
from typing import Any

from ..judging.parsing import parse
from ..judging.syntax import Code, reachable
from ..judging.values import Outcome
from .cells import Cell, SubmittedNotebook
from .check_runner import CheckRunner, Copies
from .package import Role
from .sandbox import BoxProcess, SandboxSession
from .submission import Submission

MOST_OPENED = 2
LEAST_SECONDS = 1.0  # what is left is counted in whole seconds


class Witness:
    """Runs exercises by themselves. Nothing is opened until one is asked for.

    Args:
        submission: what is being graded.
        notebook: its cells.
        opened: opens a fresh process, with as much time as the submission's own had.
        boxes: computes what checks call and submissions must not read.
    """

    def __init__(
        self,
        submission: Submission,
        notebook: SubmittedNotebook,
        opened: Callable[[], AbstractContextManager[SandboxSession]],
        boxes: BoxProcess,
    ) -> None:
        self._submission, self._boxes, self._code = submission, boxes, notebook.code
        self._opened, self._stack = opened, ExitStack()
        self._fresh: list[SandboxSession] = []

    def outcomes(self, exercise: str) -> Mapping[str, Outcome]:
        """Return what an exercise's checks give, and what ran in them, by the check's name."""
        copy = next(filter(None, (session.copy() for session in self._sessions())), None)
        if copy is not None:
            key = self._submission.lesson.key
            guard = {"known": sorted(key.permitted(exercise)), "lesson": sorted(key.module_names)}
            run_alone(copy, exercise, above_check(self._code, exercise), guard)
        copies = {exercise: Copies(copy, copy and copy.copy())}
        runner = CheckRunner(self._submission, copies, self._boxes, record=True)
        outcomes = runner.run_visible()[exercise] | runner.run_hidden()[exercise]
        for each in filter(None, (copies[exercise].visible, copies[exercise].hidden)):
            each.close()
        return outcomes

    def _sessions(self) -> Iterator[SandboxSession]:
        """Yield the process that exercises are copies of, and another one where that cannot be copied any more."""
        yield from self._fresh[-1:]
        while len(self._fresh) < MOST_OPENED:
            self._fresh.append(self._stack.enter_context(self._opened()))
            yield self._fresh[-1]

    @property
    def lacked_time(self) -> bool:
        """Whether with more time something might have come out differently."""
        return any(session.seconds_left < LEAST_SECONDS or session.cells_left_out for session in self._fresh)

    def close(self) -> None:
        """Let its processes end."""
        self._stack.close()


def above_check(code: Iterable[Cell], exercise: str) -> list[Cell]:
    """Return the cells above an exercise's check that are no checks: later ones may give its names another meaning.

    Args:
        code: the notebook's cells that run.
        exercise: its name.
    """
    above = takewhile(lambda cell: cell.role is not Role.CHECK or cell.exercise != exercise, code)
    return [cell for cell in above if cell.role is not Role.CHECK]


def run_alone(session: SandboxSession, exercise: str, cells: Collection[Cell], guard: Mapping[str, Any]) -> None:
    """Run what an exercise leads to, with a guard on the student's own code.

    Args:
        session: the process.
        exercise: its name.
        cells: the notebook's code in order. The course's own set-up runs whole.
        guard: what it is made of.
    """
    reached = {id(node) for node in reachable(["", *(cell.source for cell in cells)], exercise)}
    for cell in cells:
        if cell.role is Role.LOCKED:
            session.run(cell.source, {**guard, "guarded": False})
        elif part := part_of(cell.source, reached):
            session.run(part, {**guard, "guarded": cell.own})


def part_of(source: Code, reached: Collection[int]) -> str:
    """Return those of a cell's statements that are reached or change how later ones are compiled; '' where none is.

    Args:
        source: the cell.
        reached: by their identities.
    """
    nodes = [node for node, _ in source.binding if id(node) in reached or is_from_the_future(node)]
    return "\n".join(map(as_read, nodes))


def as_read(node: ast.stmt) -> str:
    """Return a statement's text; '' where what runs would not be what was read, or cannot be written down.

    Python's own way back to a text is not exact: a brace that an escape put into a format becomes an expression.
    """
    try:
        text = ast.unparse(node)
        return text if ast.dump(parse(text)) == ast.dump(ast.Module([node], [])) else ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def is_from_the_future(node: ast.stmt) -> bool:
    """Say whether a statement changes how the others are compiled."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
