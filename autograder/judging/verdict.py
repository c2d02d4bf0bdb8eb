"""Values to a verdict: what passed, how many points, and what the student should read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .compare import Picture, contract, describe_stop, equal, picture_of
from .fingerprint import Fingerprint, fingerprint, same
from .values import Outcome, Raised, Returned

HOME_ROUNDING = 2e-3
EXACT_PICTURE = 1e-6


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
        tolerance: replaces the one that follows from the dtype.
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

    def accepts(self, outcome: Outcome) -> bool:
        """Say whether an outcome is the right answer."""
        if self.exact is not None:
            return equal(outcome, self.exact, self.tolerance)
        return same(fingerprint(outcome), self.right)


@dataclass(frozen=True)
class Result:
    """How one check ended."""

    title: str
    points: int
    passed: bool
    hidden: bool


@dataclass(frozen=True)
class Failure:
    """The first failed check, explained: which one, what to know about it, and what came out."""

    title: str
    message: str
    detail: str = ""
    mistake: str | None = None
    picture: Picture | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Verdict:
    """An exercise's result."""

    exercise: str
    results: tuple[Result, ...]
    failure: Failure | None = None
    started: bool = True

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
    exercise: str, targets: Sequence[Target], outcomes: Sequence[Outcome], messages: Mapping[str, str]
) -> Verdict:
    """Compare one outcome per target.

    Args:
        exercise: its name.
        targets: the checks, simple to rich; visible ones first.
        outcomes: what the student's work gave, in the same order.
        messages: what to tell a student who made a known mistake, by the mistake's name.
    """
    passed = [target.accepts(outcome) for target, outcome in zip(targets, outcomes, strict=True)]
    results = tuple(Result(t.title, t.points, p, t.hidden) for t, p in zip(targets, passed, strict=True))
    if all(passed):
        return Verdict(exercise, results)
    first = passed.index(False)
    if not any(passed) and all(is_stub(outcome) for outcome in outcomes):
        return Verdict(exercise, results, Failure(targets[0].title, "not started"), started=False)
    found = recognise(targets, outcomes, first)
    return Verdict(exercise, results, explain(targets[first], outcomes[first], found, messages))


def is_stub(outcome: Outcome) -> bool:
    """Say whether the exercise is as it was released."""
    return isinstance(outcome, Raised) and outcome.kind == "NotImplementedError"


def recognise(targets: Sequence[Target], outcomes: Sequence[Outcome], first: int) -> str | None:
    """Name the known mistake that gives these values.

    One that agrees on every check is preferred. Otherwise one that agrees on the first failed check is taken,
    so that a student with two mistakes is told of one.
    """
    prints = [fingerprint(outcome) for outcome in outcomes]
    here = [name for name, known in targets[first].mistakes.items() if same(prints[first], known)]
    for name in here:
        if all(same(p, t.mistakes[name]) for p, t in zip(prints, targets, strict=True) if name in t.mistakes):
            return name
    return here[0] if here else None


def explain(target: Target, outcome: Outcome, found: str | None, messages: Mapping[str, str]) -> Failure:
    """Say what went wrong: the known mistake, and what came out; where it is no known mistake, the latter alone."""
    message = messages[found] if found else ""
    if target.hidden:
        return Failure(target.title, message or hidden_message(outcome), mistake=found, hidden=True)
    words, picture = what_came_out(target, outcome)
    if message:
        return Failure(target.title, message, words, found, picture)
    return Failure(target.title, words or "The shape is right, the numbers are not.", picture=picture)


def what_came_out(target: Target, outcome: Outcome) -> tuple[str, Picture | None]:
    """Describe a wrong outcome of a visible check: how it ended, else what it is, else where it differs."""
    if not isinstance(outcome, Returned):
        return describe_stop(outcome), None
    broken = contract(fingerprint(outcome), target.right)
    if broken or target.expected is None:
        return broken, None
    return picture_of(outcome, target.expected, HOME_ROUNDING if target.exact is None else EXACT_PICTURE)


def hidden_message(outcome: Outcome) -> str:
    """Say no more than the kind of trouble. The student's own text could carry hidden inputs."""
    if isinstance(outcome, Returned):
        return "The result differs on inputs that you have not seen."
    return "It stopped with an error on inputs that you have not seen."
