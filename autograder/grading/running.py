"""Running one submission: its cells, then each exercise's checks in copies of its process. What comes out is values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..errors import LongRunError
from ..judging.card import number
from ..judging.syntax import needs_names_of
from ..judging.values import Lost, Outcome, Raised
from .cells import SubmittedNotebook
from .check_runner import CheckRunner, Copies
from .outputs import MOST_OUTPUTS, clean_outputs
from .package import LessonPackage, Role
from .sandbox import BOX_ENDED, BOX_MEMORY, BoxProcess, Limits, SandboxSession, open_session
from .sandbox.session import error_output
from .submission import Submission
from .witness import LEAST_SECONDS, Witness

Outcomes = Mapping[str, Mapping[str, Outcome]]
NOT_DEFINED = ("NotDefined", "NameError")
CLOCK_PATIENCE = 3.0  # by the clock, in terms of processor time: what starts others can keep it from running


@dataclass(frozen=True)
class Run:
    """What came of running a submission.

    Args:
        submission: what was run.
        notebook: its cells, with what they have shown.
        outcomes: what each check gave, by exercise and by the check's name.
        oddities: what a person should know of how it ran.
        runner: runs further checks, as long as the submission's processes are there.
        witness: runs exercises by themselves and records what they run, as long as that.
        end: lets the processes end in which the notebook's cells have run.
    """

    submission: Submission
    notebook: SubmittedNotebook
    outcomes: Outcomes
    oddities: tuple[str, ...]
    runner: CheckRunner
    witness: Witness
    end: Callable[[], None]


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
            opened = partial(session_for, submission, min(most, submission.patience))
            with closing(Witness(submission, notebook, opened, boxes)) as witness:
                yield Run(submission, notebook, both, odd, runner, witness, session.close_all)
                short = session.seconds_left < LEAST_SECONDS or session.cells_left_out or witness.lacked_time
            if submission.patience < most and short:
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
