"""A wrong solution with words: written down by a lesson's author, or made from the solution by an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

VARIANT = "~"


def family_of(name: str) -> str:
    """Return the name of a mistake as its author gave it, of itself or of one of its variants."""
    return name.partition(VARIANT)[0]


@dataclass(frozen=True, eq=False)
class Mutant:
    """A wrong solution, and what it is called.

    Args:
        exercise: whose.
        name: its own, unique in an exercise.
        message: what a student who wrote it should read; an operator's is a clause.
        source: a cell that defines it.
        define: returns what a source defines under the exercise's name.
        hint: the number of the hint that helps here, 0 for the next one.
    """

    exercise: str
    name: str
    message: str
    source: str
    define: Callable[[str, str], Any]
    hint: int = 0

    @cached_property
    def work(self) -> Any:
        """The wrong function or class."""
        return self.define(self.source, self.exercise)
