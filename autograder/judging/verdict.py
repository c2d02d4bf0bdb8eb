"""Values to a verdict: what passed, how many points, and what the student should read. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .case import Case, Failure, Seen
from .diagnose import explain
from .sentences import ANSWERS
from .target import Target
from .values import Outcome, Raised

SURVIVED: tuple[type[Exception], ...] = (Exception,)  # tests survive none
STUB = "raise NotImplementedError"


@dataclass(frozen=True)
class Result:
    """How one check ended."""

    title: str
    points: int
    passed: bool
    hidden: bool


@dataclass(frozen=True)
class Verdict:
    """An exercise's result."""

    exercise: str
    results: tuple[Result, ...]
    failure: Failure | None = None
    started: bool = True
    case: Case | None = field(default=None, repr=False, compare=False)  # what can be asked for further explanations

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(r.points for r in self.results if r.passed)

    @property
    def max_points(self) -> int:
        """Points that can be earned."""
        return sum(r.points for r in self.results)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(r.passed for r in self.results)


def judge(
    exercise: str,
    targets: Sequence[Target],
    outcomes: Sequence[Outcome],
    messages: Mapping[str, str],
    hints: Mapping[str, int] | None = None,
    source: str = "",
    search: Callable[[], Seen] = Seen,
) -> Verdict:
    """Compare one outcome per target.

    Args:
        exercise: its name.
        targets: the checks, simple to rich; visible ones first.
        outcomes: what the student's work gave, in the same order.
        messages: what to tell a student who made a known mistake, by the mistake's name.
        hints: the number of the hint that fits a known mistake, where the author named one.
        source: the student's code, where it is known; it decides nothing but words.
        search: runs that code, as it is and edited, and returns what was seen.
    """
    passed = [target.accepts(outcome) for target, outcome in zip(targets, outcomes, strict=True)]
    results = tuple(Result(t.title, t.points, p, t.hidden) for t, p in zip(targets, passed, strict=True))
    if all(passed):
        return Verdict(exercise, results)
    if not any(passed) and all(is_stub(outcome) for outcome in outcomes):
        return Verdict(exercise, results, Failure(targets[0].title, "not started"), started=False)
    first = passed.index(False)
    case = Case(targets, outcomes, first, messages, hints or {}, source, search)
    try:
        failure = explain(case)
    except SURVIVED as error:  # an explanation never decides about points
        words, problem = ANSWERS["unexplained"], f"{type(error).__name__}: {error}"[:200]
        failure = Failure(targets[first].title, words, hidden=targets[first].hidden, problem=problem)
    return Verdict(exercise, results, failure, case=case)


def is_stub(outcome: Outcome) -> bool:
    """Say whether the released stub raised this: PyTorch's own NotImplementedErrors have a text."""
    return (
        isinstance(outcome, Raised)
        and outcome.kind == "NotImplementedError"
        and not outcome.text
        and (not outcome.where or outcome.where.startswith(STUB))
    )


__all__ = ["Failure", "Result", "Verdict", "is_stub", "judge"]
