"""Running one submission: its cells, then each exercise's checks in copies of its process. What comes out is values."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from ..errors import LongRunError
from ..judging.answer_key import RunOnCheck
from ..judging.card import number
from ..judging.check import Check
from ..judging.syntax import needs_names_of
from ..judging.trial import NO_TIME_LEFT
from ..judging.values import Lost, Outcome, Raised
from .cells import SubmittedNotebook
from .outputs import MOST_OUTPUTS, clean_outputs
from .package import LessonPackage, Role
from .sandbox import BOX_ENDED, BOX_MEMORY, BoxProcess, Limits, OpenLine, SandboxSession, open_session
from .sandbox.session import error_output
from .submission import Submission

Outcomes = Mapping[str, Mapping[str, Outcome]]
NOT_DEFINED = ("NotDefined", "NameError")
RELEASED_STUB = Raised("NotImplementedError", "", "raise NotImplementedError()")
PROCESS_ENDED = Lost("The Python process had ended before.")
NOT_RUN = Lost("It was not run, because others of this exercise's checks took too long.")
MOST_TRIALS = 500
MOST_COMPUTED = 2.0  # seconds of processor time for a search, as the judge sees it: a submission can set its own clock
LONGEST_SEARCH = 20.0  # seconds by the clock
LATER_SHARE = 0.1  # of a check's time, once another one of the same exercise took too long
MOST_OVERTIME = 2
CLOCK_PATIENCE = 3.0  # by the clock, in terms of processor time: what starts others can keep it from running
LEAST_SECONDS = 1.0  # what is left is counted in whole seconds before everything runs again


@dataclass(frozen=True)
class Run:
    """What came of running a submission.

    Args:
        submission: what was run.
        notebook: its cells, with what they have shown.
        outcomes: what each check gave, by exercise and by the check's name.
        oddities: what a person should know of how it ran.
        runner: runs further checks, as long as the submission's processes are there.
    """

    submission: Submission
    notebook: SubmittedNotebook
    outcomes: Outcomes
    oddities: tuple[str, ...]
    runner: CheckRunner


@contextmanager
def ran(notebook: SubmittedNotebook, submission: Submission) -> Iterator[Run]:
    """Run the cells, then the visible checks, then the hidden ones. The submission's processes end with the block.

    A solution may use what a demonstration cell defined. Those cells are left out first; where a name is missing,
    everything runs again with them. That is decided before any hidden check leaves this process.

    Raises:
        LongRunError: with more patience, something might have come out differently.
    """
    demonstrations, most = submission.lesson.demonstrations, submission.limits.total_seconds
    seconds = min(most, submission.patience)
    needed = submission.demonstrations or not demonstrations or needs_demonstrations(notebook, submission.lesson)
    for skip in ((),) if needed else (demonstrations, ()):
        with session_for(submission, seconds) as session, closing(boxes_for(submission)) as boxes:
            copies = run_cells(notebook, submission.lesson, session, skip)
            runner = CheckRunner(submission, copies, boxes)
            outcomes = runner.run_visible()
            every = [outcome for of_exercise in outcomes.values() for outcome in of_exercise.values()]
            seconds = max(int(session.seconds_left), 0)  # both runs together have the time of a submission
            if skip and seconds and any(isinstance(each, Raised) and each.kind in NOT_DEFINED for each in every):
                continue
            hidden = runner.run_hidden()
            both = {name: visible | hidden[name] for name, visible in outcomes.items()}
            odd = tuple(oddities(copies, both, session.cells_left_out))
            yield Run(submission, notebook, both, odd, runner)
            if submission.patience < most and (session.seconds_left < LEAST_SECONDS or session.cells_left_out):
                raise LongRunError
            return


def oddities(
    copies: Mapping[str, Copies | None], outcomes: Mapping[str, Mapping[str, Outcome]], left_out: int
) -> Iterator[str]:
    """Yield what a person should know of how cells and checks ran."""
    if left_out:
        yield f"look at the notebook: {number(left_out, 'cell')} found no time left, because others took all of it"
    for exercise, pair in copies.items():
        if pair and any(copy.threads for copy in (pair.visible, pair.hidden) if copy):
            yield f"look at {exercise}: a thread was running when it was checked, and was left behind"
        if Lost(BOX_ENDED) in outcomes[exercise].values():
            yield f"look at {exercise}: a call that it made ended the process of the lesson's black boxes"


def session_for(submission: Submission, seconds: float) -> Any:
    """Open a fresh process for a submission that has so many seconds left."""
    lesson, clock = submission.lesson, CLOCK_PATIENCE * submission.patience
    limits = replace(submission.limits, total_seconds=seconds, clock_seconds=min(clock, Limits.clock_seconds))
    return open_session(lesson.files, lesson.source.checks, limits, allow_unsandboxed=submission.allow_unsandboxed)


def boxes_for(submission: Submission) -> BoxProcess:
    """Return the process that computes black boxes for a submission. It is opened when one is called."""
    lesson, limits = submission.lesson, replace(submission.limits, memory_bytes=BOX_MEMORY)

    def open_process() -> Any:
        return open_session({}, lesson.source.checks, limits, allow_unsandboxed=submission.allow_unsandboxed)

    return BoxProcess(open_process, lesson.key.box_sources, lesson.source.modules)


def needs_demonstrations(notebook: SubmittedNotebook, lesson: LessonPackage) -> bool:
    """Say whether a solution reads a name that only the lesson's demonstration cells define."""
    solutions = [cell.source for cell in notebook.code if cell.role is Role.SOLUTION]
    others = [cell.source for cell in notebook.own] + [lesson.setup]
    return needs_names_of(lesson.demonstrations, solutions, others)


@dataclass
class Copies:
    """Two copies of the process as it was at an exercise's check cell."""

    visible: SandboxSession | None
    hidden: SandboxSession | None


def run_cells(
    notebook: SubmittedNotebook, lesson: LessonPackage, session: SandboxSession, skip: Collection[str]
) -> dict[str, Copies | None]:
    """Run a submission's cells; return copies of the process as it was at each check cell, None where not started.

    A cell that a student may have changed can end the process, so a copy from before it goes on then.
    """
    copies: dict[str, Copies | None] = {}
    spare: SandboxSession | None = None  # another process in the state of this one, where there is one
    untouched, outputs_left = set(untouched_exercises(notebook, lesson)), MOST_OUTPUTS
    say_what_is_left_out(notebook)
    for cell in notebook.code:
        if cell.source in skip:
            continue
        if cell.role is Role.CHECK:
            copies[cell.exercise] = None
            if cell.exercise not in untouched:
                copies[cell.exercise] = pair = Copies(session.copy(), session.copy())
                spare = pair.visible
            continue
        if spare is None and cell.own:
            spare = session.copy()
        result = session.run(cell.source)
        cell.outputs, cell.count = clean_outputs(result.outputs, outputs_left), result.count
        outputs_left -= len(cell.outputs)
        if session.lost:
            before = spare.copy() if spare else None
            session = before or session
        else:
            close_unless_needed(spare, copies)
            spare = None
    return copies


def say_what_is_left_out(notebook: SubmittedNotebook) -> None:
    """Put the reason under each cell of code that is not run."""
    for cell in notebook.cells:
        if cell.kind == "code" and cell.left_out:
            cell.outputs = [error_output("SubmissionStopped", f"This cell was not run: {cell.left_out}.")]


def close_unless_needed(spare: SandboxSession | None, copies: Mapping[str, Copies | None]) -> None:
    """Let a copy end that nobody will run checks on."""
    if spare and not any(spare is pair.visible for pair in copies.values() if pair):
        spare.close()


def untouched_exercises(notebook: SubmittedNotebook, lesson: LessonPackage) -> list[str]:
    """Return the exercises that are as they were released, and that no other cell mentions."""
    untouched = []
    for name in lesson.source.exercises:
        solutions = [c.source for c in notebook.code if c.name == name]
        others = [c.source for c in notebook.own if c.name != name]
        released = [lesson.nbgrader_cells[name].source]
        if solutions == released and not any(re.search(rf"\b{name}\b", source) for source in others):
            untouched.append(name)
    return untouched


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
    """

    def __init__(self, submission: Submission, copies: Mapping[str, Copies | None], boxes: BoxProcess) -> None:
        self._submission, self._copies, self._boxes = submission, copies, boxes
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
            seed, share = self._submission.seed, LATER_SHARE if self._overtime[exercise] else 1.0
            outcome = session.check(check, sources, seed, self._boxes_of(check), share) if session else PROCESS_ENDED
            self._overtime[exercise] += isinstance(outcome, Lost) and outcome.overtime
            outcomes[check.name] = outcome
        return outcomes

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
