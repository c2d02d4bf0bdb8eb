"""Grading one submission, as a pure function: what was handed in goes in, the graded notebook comes out.

It runs unchanged in a thread, in another process and, pickled, on another machine: it touches no gradebook and no file
of the course. All that it changes in its process is PyTorch's number of threads.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import torch
from nbformat.notebooknode import from_dict
from nbformat.v4 import writes_json

from .. import judging
from ..errors import NoSandboxError, SandboxError
from ..judging.answer_key import RunOnCheck
from ..judging.card import Card, number
from ..judging.cell_metadata import grade_id_of
from ..judging.check import Check
from ..judging.shortcuts import bans_of, barred, found_in, ran_in, record_is_odd, record_of
from ..judging.syntax import needs_names_of, top_level_names
from ..judging.trial import NO_TIME_LEFT
from ..judging.values import Lost, Outcome, Raised
from ..judging.verdict import Verdict
from .cells import Cell, Role, SubmittedNotebook
from .outputs import MOST_OUTPUTS, clean_outputs, score_output
from .package import LessonPackage
from .repair import repair_submission
from .sandbox import BOX_ENDED, BOX_MEMORY, Boxes, BoxProcess, Limits, SandboxSession, open_session
from .sandbox.session import error_output
from .untrusted import printable
from .vocabulary import outside
from .ways_round import starred, way_round
from .withheld import withheld

Outcomes = Mapping[str, Mapping[str, Outcome]]
LOG = logging.getLogger(__name__)
RECORD = "autograder"  # the key of a graded notebook's metadata under which `grade` leaves what it found
RUBRIC_TAG = "rubric"
NOT_DEFINED = ("NotDefined", "NameError")
RELEASED_STUB = Raised("NotImplementedError", "", "raise NotImplementedError()")
PROCESS_ENDED = Lost("The Python process had ended before.")
NOT_RUN = Lost("It was not run, because others of this exercise's checks took too long.")
MOST_TRIALS = 1000
LONGEST_SEARCH = 20.0  # seconds by the clock, for a process that does not watch its own processor time
LATER_SHARE = 0.1  # of a check's time, once another one of the same exercise took too long
MOST_OVERTIME = 2


@dataclass(frozen=True)
class Submission:
    """All that is needed to grade one submission.

    Args:
        notebook: the file that was handed in.
        lesson: the lesson that it belongs to.
        seed: what the inputs of all checks are drawn from.
        limits: how much the submission may use.
        demonstrations: run the lesson's own demonstration cells too.
        allow_unsandboxed: go on without isolation where there is none.
    """

    notebook: bytes
    lesson: LessonPackage
    seed: int
    limits: Limits = field(default_factory=Limits)
    demonstrations: bool = False
    allow_unsandboxed: bool = False

    @property
    def rules(self) -> str:
        """A checksum of what decides points beside the lesson: the machinery, and the limits."""
        return hashlib.sha256(f"{machinery_digest()} {self.limits}".encode()).hexdigest()


@lru_cache(maxsize=1)
def machinery_digest() -> str:
    """Return a checksum of the code that runs and judges: what an older version graded is graded anew."""
    folders = (Path(__file__).parent, Path(judging.__file__).parent)
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def grade(submission: Submission) -> str:
    """Return the graded notebook's text: fresh outputs, a card with points in each check cell, and a record.

    Raises:
        SubmissionError: it cannot be graded as it is.
        NoSandboxError: there is no isolation, and nobody allowed to go on without it.
        SandboxError: the sandbox itself failed, twice.
        ScarcityError: it was ended because the computer had no memory left; it may fare better alone.
    """
    began = time.monotonic()
    torch.set_num_threads(1)  # what is compared is small: more threads take turns in waiting, on a whole core
    notebook = run_and_judge(submission)
    record = notebook["metadata"][RECORD]
    record |= {"seed": submission.seed, "lesson": submission.lesson.digest, "rules": submission.rules}
    record["submission"] = hashlib.sha256(submission.notebook).hexdigest()
    record["seconds"] = round(time.monotonic() - began, 1)
    return printable(str(writes_json(from_dict(notebook)))) + "\n"


def run_and_judge(submission: Submission) -> dict[str, Any]:
    """Grade once; a sandbox that broke is replaced and the submission tried again, so no student pays for it."""
    for last in (False, True):
        notebook, flags = repair_submission(submission.notebook, submission.lesson), list[str]()
        try:
            with ran(notebook, submission, flags) as (runner, outcomes):
                if last:  # the first run may have seen hidden checks: nothing that this one shows is kept
                    forget_outputs(notebook)
                judge_exercises(notebook, submission, outcomes, runner, flags)
            break
        except NoSandboxError:
            raise
        except SandboxError:
            if last:
                raise
    graded = notebook.as_dict()
    add_rubrics(graded, submission.lesson)
    return graded


def forget_outputs(notebook: SubmittedNotebook) -> None:
    """Drop what a submission has shown."""
    for cell in notebook.code:
        cell.outputs = []


@contextmanager
def ran(
    notebook: SubmittedNotebook, submission: Submission, flags: list[str] | None = None
) -> Iterator[tuple[CheckRunner, Outcomes]]:
    """Run the cells, then the visible checks, then the hidden ones; give each check's outcome by exercise.

    The submission's processes end with the block. What a person should know of how it ran is added to the flags.

    A solution may use what a demonstration cell defined. Those cells are left out first; where a name is missing,
    everything runs again with them. That is decided before any hidden check leaves this process.
    """
    skipped = () if submission.demonstrations else submission.lesson.demonstrations
    if skipped and needs_demonstrations(notebook, submission.lesson):
        skipped = ()
    for skip in (skipped, ()) if skipped else ((),):
        with session_for(submission) as session, closing(boxes_for(submission)) as boxes:
            copies = run_cells(notebook, submission.lesson, session, skip)
            runner = CheckRunner(submission, copies, boxes)
            outcomes = runner.run_visible()
            if skip and any(is_undefined(o) for found in outcomes.values() for o in found.values()):
                continue
            hidden = runner.run_hidden()
            every = {name: found | hidden[name] for name, found in outcomes.items()}
            if flags is not None:
                flags += oddities(copies, every)
            yield runner, every
            return


def oddities(copies: Mapping[str, Copies | None], outcomes: Mapping[str, Mapping[str, Outcome]]) -> Iterator[str]:
    """Yield what a person should know of how an exercise's checks ran."""
    for exercise, pair in copies.items():
        if pair and any(copy.threads for copy in (pair.visible, pair.hidden) if copy):
            yield f"look at {exercise}: a thread was running when it was checked, and was left behind"
        if Lost(BOX_ENDED) in outcomes[exercise].values():
            yield f"look at {exercise}: a call that it made ended the process of the lesson's black boxes"


def session_for(submission: Submission) -> Any:
    """Open a fresh process for a submission."""
    lesson, limits = submission.lesson, submission.limits
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
    others = [cell.source for cell in own_cells(notebook, lesson)] + [lesson.setup]
    return needs_names_of(lesson.demonstrations, solutions, others)


def is_undefined(outcome: Outcome) -> bool:
    """Say whether a check failed for want of a name."""
    return isinstance(outcome, Raised) and outcome.kind in NOT_DEFINED


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
            pair = None if cell.exercise in untouched else Copies(session.copy(), session.copy())
            copies[cell.exercise], spare = pair, pair.visible if pair else spare
            continue
        if spare is None and cell.source not in lesson.code:
            spare = session.copy()
        result = session.run(cell.source)
        cell.outputs, cell.count = clean_outputs(result.outputs, outputs_left), result.count
        outputs_left -= len(cell.outputs)
        if session.lost:
            session = (spare.copy() if spare else None) or session
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
    if spare and not any(spare is found.visible for found in copies.values() if found):
        spare.close()


def untouched_exercises(notebook: SubmittedNotebook, lesson: LessonPackage) -> list[str]:
    """Return the exercises that are as they were released, and that no other cell mentions."""
    students, untouched = own_cells(notebook, lesson), []
    for name in lesson.source.exercises:
        solutions = [c.source for c in notebook.code if c.name == name]
        others = [c.source for c in students if c.name != name]
        released = [lesson.nbgrader_cells[name]["source"]]
        if solutions == released and not any(re.search(rf"\b{name}\b", source) for source in others):
            untouched.append(name)
    return untouched


def own_cells(notebook: SubmittedNotebook, lesson: LessonPackage) -> list[Cell]:
    """Return the code cells that a student wrote or changed."""
    return [cell for cell in notebook.code if cell.source not in lesson.code]


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
        found: dict[str, Outcome] = {}
        for check in checks:
            if self._overtime[exercise] == MOST_OVERTIME:
                found[check.name] = NOT_RUN
                continue
            session = self._process(copies, hidden=hidden)
            seed, share = self._submission.seed, LATER_SHARE if self._overtime[exercise] else 1.0
            outcome = session.check(check, sources, seed, self._boxes_of(check), share) if session else PROCESS_ENDED
            self._overtime[exercise] += isinstance(outcome, Lost) and outcome.overtime
            found[check.name] = outcome
        return found

    def _boxes_of(self, check: Check) -> Boxes | None:
        """Return the black boxes that a check may call, under the submission's names, whatever its inputs are."""
        names = self._submission.lesson.key.boxes_of(check, self._submission.seed)
        return Boxes(self._boxes, names) if names else None

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
            if session is None or session.lost or next(left) <= 0 or time.monotonic() > ends:
                return NO_TIME_LEFT
            sources = visible, hidden if check in key.hidden else ""
            return session.trial(cell, check, sources, seed, self._boxes_of(check))

        known: dict[tuple[str, str, int], Outcome] = {}

        def run_once(cell: str, check: Check, seed: int) -> Outcome:
            place = cell, check.name, seed
            if place not in known:
                known[place] = run(cell, check, seed)
            return known[place]

        try:
            yield run_once
        finally:
            for session in filter(None, sessions):
                session.close()

    @staticmethod
    def _process(copies: Copies, *, hidden: bool) -> SandboxSession | None:
        """Return the copy to use, replaced by a fork of the other one where it was lost."""
        mine, other = (copies.hidden, copies.visible) if hidden else (copies.visible, copies.hidden)
        if mine is None or mine.lost:
            mine = other.copy() if other else None
            if hidden:
                copies.hidden = mine
            else:
                copies.visible = mine
        return mine


def judge_exercises(
    notebook: SubmittedNotebook,
    submission: Submission,
    outcomes: Outcomes,
    runner: CheckRunner,
    flags: Collection[str] = (),
) -> None:
    """Put a card with points into every check cell, and what a person should know into the notebook's record."""
    flags = [*notebook.remarks(), *flags]
    verdicts: dict[str, dict[str, Any]] = {}
    for cell in notebook.cells:
        if cell.role is not Role.CHECK:
            continue
        exercise, found = cell.exercise, outcomes[cell.exercise]
        with runner.trials(
            exercise
        ) as run:  # the words about visible checks come first: nothing hidden has run for them
            visible = verdict_of(submission, exercise, found, submitted_cell(notebook, exercise), run, hidden=False)
            verdict = verdict_of(submission, exercise, found, submitted_cell(notebook, exercise), run)
        verdict, flag = apply_shortcuts(notebook, submission, verdict, found)
        visible, _ = apply_shortcuts(notebook, submission, visible, found)
        flags += [flag] if flag else []
        if verdict.failure and verdict.failure.problem:
            flags.append(f"explaining failed: {exercise}, {verdict.failure.problem}")
            LOG.error("%s, seed %d: explaining failed: %s", exercise, submission.seed, verdict.failure.problem)
        verdicts[exercise] = verdict_summary(verdict) | summary_while_open(verdict, withheld(verdict, visible))
        cell.outputs, cell.count = [score_output(verdict.points, card_of(verdict))], None
    notebook.metadata[RECORD] = {"flags": flags, "verdicts": verdicts}


def card_of(verdict: Verdict) -> str:
    """Return a verdict as HTML."""
    return Card(verdict, graded=True)._repr_html_()


def verdict_of(
    submission: Submission,
    exercise: str,
    outcomes: Mapping[str, Outcome],
    cell: str = "",
    run: RunOnCheck | None = None,
    *,
    hidden: bool = True,
) -> Verdict:
    """Compare an exercise's values with the reference's; where they differ, look for a repair of the cell.

    Args:
        submission: what is graded.
        exercise: which exercise.
        outcomes: what its checks gave.
        cell: the student's cell that defines it.
        run: runs a check on an edited cell, where a repair may be looked for.
        hidden: judge the hidden checks too.
    """
    key = submission.lesson.key
    values = [outcomes[check.name] for check in key.checks_of(exercise) if hidden or check not in key.hidden]
    return with_left_out(key.verdict(exercise, submission.seed, values, cell, run), values)


def submitted_cell(notebook: SubmittedNotebook, exercise: str) -> str:
    """Return the last cell that defines an exercise; '' where none does."""
    sources = (cell.source for cell in reversed(notebook.code))
    return next((source for source in sources if exercise in top_level_names(source)), "")


def with_left_out(verdict: Verdict, outcomes: Sequence[Outcome]) -> Verdict:
    """Return the verdict with a sentence about the checks that were not run.

    Args:
        verdict: the exercise's result.
        outcomes: what its checks gave, in the order of the verdict's results.
    """
    left = sum(outcome is NOT_RUN for outcome in outcomes)
    if not left or verdict.failure is None:
        return verdict
    late = next(r.title for r, o in zip(verdict.results, outcomes, strict=True) if isinstance(o, Lost) and o.overtime)
    words = f"{number(left, 'check')} {'was' if left == 1 else 'were'} not run, because “{late}” took too long."
    return replace(verdict, failure=replace(verdict.failure, message=f"{verdict.failure.message} {words}"))


def verdict_summary(verdict: Verdict) -> dict[str, Any]:
    """Return what a report needs to know about an exercise."""
    return {
        "points": verdict.points,
        "of": verdict.max_points,
        "passed": verdict.passed,
        "started": verdict.started,
        "mistake": verdict.failure.mistake if verdict.failure else None,
        "unknown": verdict.failure.unknown if verdict.failure else "",
        "told": verdict.failure.message if verdict.failure else "",
        "rule": verdict.failure.rule if verdict.failure else "",
    }


def summary_while_open(verdict: Verdict, shown: Verdict) -> dict[str, Any]:
    """Return what a feedback page needs in place of a verdict while work can be handed in; nothing where it is that."""
    if shown is verdict or shown.failure is None:
        return {}
    return {"open": {"told": shown.failure.message, "card": card_of(shown)}}


def apply_shortcuts(
    notebook: SubmittedNotebook, submission: Submission, verdict: Verdict, outcomes: Mapping[str, Outcome]
) -> tuple[Verdict, str]:
    """Return the verdict without points where a shortcut was used, and what the instructor should know, or ''.

    What ran and what the source says are two witnesses; where only one of them speaks, the note says which.
    """
    shortcuts, exercise = submission.lesson.key.shortcuts, verdict.exercise
    sources = [cell.source for cell in notebook.code]
    written = found_in(shortcuts, exercise, sources)
    ran = ran_in(shortcuts, exercise, outcomes.values())
    if short := written or ran:
        alone = "" if written and ran else ", by its source; it was not seen to run" if written else ", as it ran"
        return (barred(verdict, *short), f"{exercise} uses {short[0]}{alone}") if verdict.started else (verdict, "")
    if not verdict.points:
        return verdict, ""
    own = [cell.source for cell in own_cells(notebook, submission.lesson)]
    why = question_about(submission, exercise, outcomes.values(), sources, own)
    return verdict, f"look at {exercise}: {why}" if why else ""


def question_about(
    submission: Submission, exercise: str, outcomes: Collection[Outcome], sources: Sequence[str], own: Sequence[str]
) -> str:
    """Return why a person should look at an exercise that has earned points, or ''.

    Args:
        submission: what is graded.
        exercise: which exercise.
        outcomes: what its checks gave.
        sources: all code cells.
        own: those that the student wrote or changed.
    """
    key = submission.lesson.key
    known = key.known(exercise, submission.seed)
    if record_is_odd(key.shortcuts, exercise, outcomes, known):
        return "what ran could not be recorded"
    if name := outside(record_of(outcomes), known, key.module_names):
        return f"it ran `{name}`, which no known solution needs"
    if bans_of(key.shortcuts, exercise) and (module := starred(own, key.module_names)):
        return f"a cell imports everything from `{module}`"
    return way_round(sources, exercise, own, known)


def add_rubrics(notebook: dict[str, Any], lesson: LessonPackage) -> None:
    """Put each question's rubric after the student's answer, for whoever grades it."""
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        name = grade_id_of(cell)
        if rubric := lesson.rubrics.get(name):
            text = f"**For the grader only**\n\n{rubric}"
            tagged = {"tags": [RUBRIC_TAG]}
            cells.append({"cell_type": "markdown", "id": f"rubric-{name}", "metadata": tagged, "source": text})
    notebook["cells"] = cells
