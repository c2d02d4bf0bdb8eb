"""What was read and run of a cell's edits: once, though two searches ask, and without the values that came out.

A graded answer is searched for a repair twice, with the visible checks, whose words a student reads as long as work
can be handed in, and then with all of them. The second search reads and runs only what the first one has not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import tee
from typing import Any

from .neighbors import Edit, edits_of
from .observations import arguments_in_effect
from .site import parameters_of
from .syntax import called
from .trial import definitions_in

MOST_READ = 200_000  # syntax nodes of all edited cells of one answer: also those that are not run take time


class Tried:
    """What was read and run of one cell's edits, for all searches that begin with the same failed check.

    Args:
        cell: the student's cell.
        needed: functions that the solution calls too: whoever leaves one out keeps the checks, and not the promise.

    Attributes:
        cell: the same.
        tree: its definitions.
        special: where NaN appears first, and the like, by kind; None before that was asked.
        failed: the edited cells that fail the first failed check, with how far they get.
    """

    def __init__(self, cell: str, needed: Collection[str] = ()) -> None:
        self.cell, self.tree = cell, definitions_in(cell)
        self.failed: dict[str, Any] = {}
        self.special: dict[str, str] | None = None
        self._needed = frozenset(needed)
        self._nodes, self._left = sum(1 for _ in ast.walk(self.tree)), MOST_READ
        self._read: dict[int, Iterator[tuple[Edit, str]]] = {}

    def edits(self, near: int, after: Edit | None = None) -> Iterator[tuple[Edit, str]]:
        """Yield the edits that may be a repair, smallest first, each with the code that it makes.

        Args:
            near: the line where it stopped with an error, 0 where it did not.
            after: the edit that is applied meanwhile, if there is one.
        """
        kept = self._read.get(id(after)) or self._reading(near)
        self._read[id(after)], again = tee(kept)
        return again

    def _reading(self, near: int) -> Iterator[tuple[Edit, str]]:
        in_effect, calls = arguments_in_effect(self.tree), self._calls()
        functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        stored = {n.attr for n in ast.walk(self.tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        matter = stored.union(self._needed, *map(parameters_of, functions))
        for edit in edits_of(self.tree, self.cell, near):
            self._left -= self._nodes
            if self._left < 0:
                return
            before = [write.container[write.key] for write in edit.writes]
            less = matter & mentioned(before) - mentioned([write.value for write in edit.writes])
            with edit.applied():
                lost = less and (
                    in_effect - arguments_in_effect(self.tree) or (not edit.change and calls - self._calls())
                )
                source = "" if lost else ast.unparse(self.tree)
            if not lost:
                yield edit, source

    def _calls(self) -> frozenset[str]:
        """Return what the cell calls and the solution calls too: no deletion may leave it out."""
        return self._needed.intersection(map(called, ast.walk(self.tree)))


def mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some code reads, its attributes and its parameters."""
    parts = [part for node in nodes for part in ast.walk(node)]
    names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    names |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return names | {part.arg for part in parts if isinstance(part, ast.arg)}
