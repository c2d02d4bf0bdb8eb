"""Running an exercise's checks in copies of a submission's process. What comes out is values."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

from ..judging.answer_key import RunOnCheck
from ..judging.check import Check
from ..judging.trial import NO_TIME_LEFT
from ..judging.values import Lost, Outcome, Raised
from .sandbox import BoxProcess, OpenLine, SandboxSession
from .submission import Submission

RELEASED_STUB = Raised("NotImplementedError", "", "raise NotImplementedError()")
PROCESS_ENDED = Lost("The Python process had ended before.")
NOT_RUN = Lost("It was not run, because others of this exercise's checks took too long.")
MOST_TRIALS = 500
MOST_COMPUTED = 2.0  # seconds of processor time for a search, as the judge sees it: a submission can set its own clock
LONGEST_SEARCH = 20.0  # seconds by the clock
LATER_SHARE = 0.1  # of a check's time, once another one of the same exercise took too long
MOST_OVERTIME = 2


@dataclass
class Copies:
    """Two copies of the process as it was at an exercise's check cell."""

    visible: SandboxSession | None
    hidden: SandboxSession | None


class CheckRunner:
    """Runs checks on the copies that were made where the check cells are.

    An exercise's visible checks run in one copy and its hidden ones in another. A check that ends its process costs
    itself alone: the next one gets a fork of the other copy. Nothing that a copy does can be shown.

    An endless loop costs about one timeout, however many checks meet it. After the first check of an exercise that
    takes too long, the others have a tenth of the time: far more than an honest answer needs, so one that loops on some
    inputs keeps its other points. After the second one, the rest are not run.

    Args:
        submission: what is being graded.
        copies: by exercise; None for one that was not started.
        boxes: computes what checks call and submissions must not read.
        record: note which of PyTorch's functions the exercises run, too.
    """

    def __init__(
        self, submission: Submission, copies: Mapping[str, Copies | None], boxes: BoxProcess, *, record: bool = False
    ) -> None:
        self._submission, self._copies, self._boxes, self._record = submission, copies, boxes, record
        self._overtime = Counter[str]()

    def run_visible(self) -> dict[str, dict[str, Outcome]]:
        """Run all visible checks; return what came out, by exercise and check."""
        return {exercise: self._run(exercise, hidden=False) for exercise in self._copies}

    def run_hidden(self) -> dict[str, dict[str, Outcome]]:
        """Run all hidden checks, after all visible ones; return what came out, by exercise and check."""
        for copies in filter(None, self._copies.values()):
            self._process(copies, hidden=False)  # whatever replaces a lost process has seen no hidden check
        return {exercise: self._run(exercise, hidden=True) for exercise in self._copies}

    def _run(self, exercise: str, *, hidden: bool) -> dict[str, Outcome]:
        key, copies = self._submission.lesson.key, self._copies[exercise]
        checks = [check for check in key.checks_of(exercise) if (check in key.hidden) is hidden]
        if copies is None:
            return {check.name: RELEASED_STUB for check in checks}
        visible_source, hidden_source = self._submission.lesson.sandbox_sources[exercise]
        sources = visible_source, hidden_source if hidden else ""
        outcomes: dict[str, Outcome] = {}
        for check in checks:
            if self._overtime[exercise] == MOST_OVERTIME:
                outcomes[check.name] = NOT_RUN
                continue
            session = self._process(copies, hidden=hidden)
            share = LATER_SHARE if self._overtime[exercise] else 1.0
            outcome = self._outcome(session, check, sources, share) if session else PROCESS_ENDED
            self._overtime[exercise] += isinstance(outcome, Lost) and outcome.overtime
            outcomes[check.name] = outcome
        return outcomes

    def _outcome(self, session: SandboxSession, check: Check, sources: tuple[str, str], share: float) -> Outcome:
        boxes = self._boxes_of(check)
        return session.check(check, sources, self._submission.seed, boxes, share, record=self._record)

    def _boxes_of(self, check: Check) -> OpenLine | None:
        """Return the way to the black boxes that a check may call, under the submission's names."""
        names = self._submission.lesson.key.boxes_of(check, self._submission.seed)
        return partial(self._boxes.line, names) if names else None

    @contextmanager
    def trials(self, exercise: str) -> Iterator[RunOnCheck]:
        """Give what runs a check on an edited cell, in a copy of its own that ends with the block.

        All checks have run by then, so a trial can change nothing that they gave.
        """
        key, copies = self._submission.lesson.key, self._copies.get(exercise)
        visible, hidden = self._submission.lesson.sandbox_sources[exercise]
        sessions: list[SandboxSession | None] = []
        ends = time.monotonic() + LONGEST_SEARCH
        left = count(MOST_TRIALS, -1)

        def run(cell: str, check: Check, seed: int) -> Outcome:
            if not sessions:  # most answers need none
                process = self._process(copies, hidden=False) if copies else None
                sessions.append(process.copy() if process else None)
            session = sessions[0]
            if session is None or session.lost or session.computed > MOST_COMPUTED:
                return NO_TIME_LEFT
            if next(left) <= 0 or time.monotonic() > ends:
                return NO_TIME_LEFT
            sources = visible, hidden if check in key.hidden else ""
            return session.trial(cell, check, sources, seed, self._boxes_of(check))

        try:
            yield run
        finally:
            for session in filter(None, sessions):
                session.close()

    @staticmethod
    def _process(copies: Copies, *, hidden: bool) -> SandboxSession | None:
        """Return the copy to use, replaced by a fork of the other one where it was lost."""
        used, other = (copies.hidden, copies.visible) if hidden else (copies.visible, copies.hidden)
        if used is None or used.lost:
            used = other.copy() if other else None
            if hidden:
                copies.hidden = used
            else:
                copies.visible = used
        return used
