"""What an answer key has computed, kept for the next answer, and what is computed only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from .check import Check
from .edits import Mutant
from .fingerprint import Fingerprint, fingerprint
from .modules import LESSON_CODE
from .target import Target
from .values import Outcome

Key = TypeVar("Key")
Computed = TypeVar("Computed")


class MistakeFingerprints(Mapping[str, Fingerprint]):
    """What each known mistake gives in a check, computed when it is asked for: most answers are right.

    Args:
        check: the check.
        mistakes: returns the exercise's, when they are asked for.
        seed: what the check's inputs are drawn from.
    """

    def __init__(self, check: Check, mistakes: Callable[[], Sequence[Mutant]], seed: int) -> None:
        self._check, self._seed, self._mistakes = check, seed, mistakes
        self._works: dict[str, dict[str, Any]] = {}
        self._known: dict[str, Fingerprint] = {}

    def works(self) -> dict[str, Any]:
        """Return each mistake's function or class by name."""
        return once(self._works, "", lambda: {mistake.name: mistake.work for mistake in self._mistakes()})

    def __getitem__(self, name: str) -> Fingerprint:
        """Return the fingerprint of one mistake's answer."""
        with LESSON_CODE:
            if name not in self._known:
                self.outcome(name)
            return self._known[name]

    def outcome(self, name: str) -> Outcome:
        """Run the check on one mistake; return what came out, not yet summarized. Its fingerprint is kept."""
        outcome = self._check.values(self.works()[name], self._seed)
        self._known[name] = fingerprint(self._check.summarize(outcome))
        return outcome

    def __iter__(self) -> Iterator[str]:
        """Go through the mistakes' names."""
        return iter(self.works())

    def __len__(self) -> int:
        """Return how many mistakes are known."""
        return len(self.works())


class AnswerCache:
    """What an answer key has computed already; threads share it under one lock, that of the lessons' code."""

    def __init__(self) -> None:
        self.reference: dict[str, dict[str, Any]] = {}
        self.targets: dict[tuple[str, int], list[Target]] = {}
        self.words: dict[str, frozenset[str]] = {}
        self.calls: dict[str, list[str]] = {}


def once(computed: dict[Key, Computed], key: Key, compute: Callable[[], Computed], most: int = 0) -> Computed:
    """Return a value from a cache, computed by one thread alone where it is missing; of `most`, the oldest goes."""
    with LESSON_CODE:
        if key not in computed:
            value = compute()
            if most and len(computed) >= most:
                del computed[next(iter(computed))]
            computed[key] = value
        return computed[key]
