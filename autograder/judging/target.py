"""What is known about one check's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .compare import equal
from .fingerprint import GRADING_SLACK, Fingerprint, fingerprint, same, same_leaf
from .values import Outcome


@dataclass(frozen=True)
class Target:
    """What is known about one check's answers.

    Args:
        name: the check's own.
        title: what it checks, in a sentence.
        points: all or nothing.
        right: the fingerprint of the right answer.
        mistakes: the fingerprint of each known mistake's answer, by name.
        expected: the right values by path, where the student may see them.
        exact: the right answer itself, where the judge has it; otherwise the fingerprint decides.
        hidden: a check that students do not have. Nothing of its inputs or values may be shown.
        tolerance: replaces the one that follows from the dtype where it is wider.
        names: what the docstring calls the things that are returned.
    """

    name: str
    title: str
    points: int
    right: Fingerprint
    mistakes: Mapping[str, Fingerprint] = field(default_factory=dict)
    expected: Mapping[str, Any] | None = None
    exact: Outcome | None = None
    hidden: bool = False
    tolerance: float | None = None
    names: Sequence[str] = ()

    def accepts(self, outcome: Outcome) -> bool:
        """Say whether an outcome is the right answer."""
        if self.exact is not None:
            return equal(outcome, self.exact, self.tolerance)
        return same(fingerprint(outcome), self.right, self.tolerance)

    def tells_apart(self, mistake: str) -> bool:
        """Say whether a known mistake gives something other than the right answer here."""
        return self.is_wrong(self.mistakes.get(mistake))

    def is_wrong(self, known: Fingerprint | None) -> bool:
        """Say whether a fingerprint, if there is one, is that of something other than the right answer."""
        return known is not None and not same(known, self.right, self.tolerance, GRADING_SLACK)


def shows_numbers(known: Fingerprint, right: Fingerprint, tolerance: float | None, *, own: bool = False) -> bool:
    """Say whether a wrong answer differs from the right one in a tensor: no two mistakes give that by chance.

    Args:
        known: the wrong answer.
        right: the right one.
        tolerance: the check's.
        own: what differs in dtype or shape alone, in a yes or no, or has NaN in it, many mistakes have in common, so it
            does not count; a summary's text does.
    """
    theirs = right.get("leaves", {})
    for path, leaf in known.get("leaves", {}).items():
        asked = theirs.get(path, {})
        if own and isinstance(leaf.get("plain"), str) and leaf != asked:
            return True
        if "dtype" not in leaf or (own and (leaf["dtype"] == "bool" or leaf["nan"])):
            continue
        if leaf["norm"] == 0 and (own or "positions" not in leaf):
            continue
        form = {name: asked.get(name) for name in ("dtype", "shape", "array")} if own else {}
        if "dtype" not in asked or not same_leaf({**leaf, **form}, asked, tolerance):
            return True
    return False
