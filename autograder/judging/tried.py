"""What was read and run of a cell's edits: once, though two searches ask, and without the values that came out.

A graded answer is searched for a repair twice, with the visible checks, whose words a student reads as long as work
can be handed in, and then with all of them. The second search reads and runs only what the first one has not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import tee

from .fingerprint import SMALLEST_SIZE, Fingerprint, fingerprint, same_leaf
from .neighbors import Edit, edits_of
from .observations import arguments_in_effect
from .site import parameters_of
from .syntax import called
from .target import Target
from .trial import definitions_in
from .values import Lost, Outcome, Returned

LARGE = 20  # a count above it is hardly met by chance
MOST_READ = 200_000  # syntax nodes of all edited cells of one answer: also those that are not run take time
FORMS = {  # what is gained without a value's being right; the first says most
    "numbers": "the numbers come out right",
    "dtype": "the dtype comes out right",
    "shape": "",  # a first step, which nobody is told of alone
}


@dataclass(frozen=True)
class Reach:
    """How far an edited cell gets.

    Args:
        passed: how many checks pass; 0 where the first failed one still fails.
        gained: which of its values are right then and were not before, by path.
    """

    passed: int = 0
    gained: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """What is gained, where that is no value: a key of `FORMS`, or ''."""
        return self.gained[0] if self.gained and self.gained[0] in FORMS else ""

    @property
    def rank(self) -> tuple[int, int]:
        """What the best of several has most of."""
        return self.passed, -1 - list(FORMS).index(self.form) if self.form else len(self.gained)


class Tried:
    """What was read and run of one cell's edits, for all searches that begin with the same failed check.

    Args:
        cell: the student's cell.
        needed: functions that the solution calls too: whoever leaves one out keeps the checks, and not the promise.

    Attributes:
        cell: the same.
        tree: its definitions.
        special: where NaN appears first; None before that was asked.
        failed: how far each edited cell gets that fails the first failed check, by its code.
    """

    def __init__(self, cell: str, needed: Collection[str] = ()) -> None:
        self.cell, self.tree = cell, definitions_in(cell)
        self.failed: dict[str, Reach] = {}
        self.special: str | None = None
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


def gained(target: Target, before: Outcome, after: Outcome) -> tuple[str, ...]:
    """Return the paths of values that an edit has made right, none where it has made one wrong or nothing is told.

    In their place stands "numbers", "dtype" or "shape" where only these are right now. A value is told by numbers that
    nobody meets by chance. The dtype alone counts where the numbers stay as they were, and the shape alone where it was
    wrong, or nothing came back.

    Args:
        target: what is known about the check.
        before: what it gave.
        after: what it gives on the edited cell.
    """
    theirs = target.right.get("leaves", {})
    if not isinstance(after, Returned) or after.changed or after.settings or isinstance(before, Lost):
        return ()
    old, new = fingerprint(before).get("leaves", {}), fingerprint(after)["leaves"]
    if new.keys() != theirs.keys():
        return ()
    was = {path for path in theirs if path in old and same_leaf(old[path], theirs[path], target.tolerance)}
    now = {path for path in theirs if same_leaf(new[path], theirs[path], target.tolerance)}
    if not was <= now:
        return ()
    turned = [path for path in theirs if path in now - was]
    more = [path for path in turned if is_telling(theirs[path])]
    texts = [path for path in turned if isinstance(theirs[path].get("plain"), str)]
    if more or len(texts) > 1:
        return tuple(more or texts)
    form = in_form(old, new, theirs, target.tolerance) if old.keys() == theirs.keys() else []
    return tuple(form or in_shape(old, new, theirs))


def in_shape(old: Fingerprint, new: Fingerprint, theirs: Fingerprint) -> list[str]:
    """Return that every tensor has the right shape now, where some had another one, or nothing came back."""
    asked = {path: leaf["shape"] for path, leaf in theirs.items() if leaf.get("shape")}
    wrong, right = ({p for p in asked if leaves.get(p, {}).get("shape") != asked[p]} for leaves in (old, new))
    return ["shape"] if wrong and not right else []


def in_form(old: Fingerprint, new: Fingerprint, theirs: Fingerprint, tolerance: float | None) -> list[str]:
    """Return what comes out right of one tensor: its dtype, with the numbers that it had, or its numbers alone."""
    for path in theirs:
        was, now, right = old[path], new[path], theirs[path]
        if not all("dtype" in leaf for leaf in (was, now, right)):
            continue
        kept = now["norm"] > 0 and same_leaf({**was, "dtype": now["dtype"]}, now, tolerance)
        if was["dtype"] != now["dtype"] == right["dtype"] and kept:
            return ["dtype"]
        if not is_telling(right):
            continue
        form = {"dtype": right["dtype"]}
        numbers = [same_leaf({**p, **form}, right, tolerance) for p in (was, now)]
        if numbers == [False, True]:
            return ["numbers"]
    return []


def is_telling(right: Fingerprint) -> bool:
    """Say whether a right value is hardly met by chance: a tensor of numbers, or a large count."""
    if "dtype" in right:
        return right["dtype"] != "bool" and right.get("norm", 0) > SMALLEST_SIZE and bool(right["shape"])
    number = right.get("number", right.get("plain"))
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) > LARGE
