"""One wrong answer to be explained, and what an explainer has to say about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .compare import Picture
from .target import Target
from .values import Outcome


@dataclass(frozen=True)
class Seen:
    """What a student reads of how their code ran, as it is and edited.

    Args:
        nan: where NaN appears first, and each dtype that was not asked for.
        cut: what autograd cannot follow, where a gradient was lost.
        repair: the edit with which every check passes.
        any_value: the edit is another number, of which many would do.
        law: what holds of every right answer, and not of this one.
    """

    nan: str = ""
    cut: str = ""
    repair: str = ""
    any_value: bool = False
    law: str = ""

    @property
    def proof(self) -> str:
        """The edit with which every check passes, '' where any other number would do."""
        return "" if self.any_value else self.repair


@dataclass(frozen=True)
class Case:
    """A wrong answer: what every check gave, and which of them failed first.

    Args:
        targets: what is known about each check, visible ones first.
        outcomes: what the student's work gave, in the same order.
        first: the index of the first failed check.
        messages: what the author wrote about each known mistake, by the mistake's name.
        hints: the number of the hint that fits a known mistake, where the author named one.
        source: the student's code, '' where that is not known.
        search: runs the student's code, as it is and edited, and returns what was seen.
    """

    targets: Sequence[Target]
    outcomes: Sequence[Outcome]
    first: int
    messages: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    search: Callable[[], Seen] = Seen

    @property
    def target(self) -> Target:
        """What is known about the first failed check."""
        return self.targets[self.first]

    @property
    def outcome(self) -> Outcome:
        """What came out of the first failed check."""
        return self.outcomes[self.first]


@dataclass(frozen=True)
class Explanation:
    """What one explainer says.

    Args:
        message: what a student reads about a visible check.
        unseen: what a student reads about a hidden one, where it is not the same.
        mistake: the known mistake that it is, if it is one.
        hint: the number of the hint that fits, 0 for the next one.
        complete: it says all there is to say; otherwise a line about what came out follows.
        sentence: the id of what it says in `sentences`, where that is one of the machinery's.
    """

    message: str
    unseen: str = ""
    mistake: str | None = None
    hint: int = 0
    complete: bool = False
    sentence: str = ""


@dataclass(frozen=True)
class Failure:
    """The first failed check, explained.

    Args:
        title: the check's.
        message: what to know about it.
        detail: what came out.
        mistake: the known mistake that it is, if it is one.
        picture: yours, expected and difference, where they may be shown.
        hidden: the check is one that students do not have.
        hint: the number of the hint that fits, 0 for the next one.
        unknown: what nobody named is the same mistake where this is the same, within one exercise and one seed.
        rule: the name of the explainer that wrote the message.
        problem: why the explanation itself stopped, for an instructor; '' where it did not.
    """

    title: str
    message: str
    detail: str = ""
    mistake: str | None = None
    picture: Picture | None = None
    hidden: bool = False
    hint: int = 0
    unknown: str = ""
    rule: str = ""
    problem: str = ""


Explainer = Callable[[Case], Explanation | None]
