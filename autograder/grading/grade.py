"""Grading one submission, as a pure function: what was handed in goes in, the graded notebook comes out.

It runs unchanged in a thread, in another process and, pickled, on another machine: it touches no gradebook and no file.
All that it changes is PyTorch's number of threads in its process.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import torch
from nbformat.notebooknode import from_dict
from nbformat.v4 import writes_json

from ..errors import NoSandboxError, SandboxError
from ..judging.answer_key import Run
from ..judging.card import Card, number
from ..judging.check import Check
from ..judging.shortcuts import barred, found_in, ran_in, record_is_odd, record_of
from ..judging.syntax import needs_names_of, top_level_names
from ..judging.trial import NO_TIME_LEFT
from ..judging.values import Lost, Outcome, Raised
from ..judging.verdict import Verdict
from ..judging.vocabulary import outside
from ..judging.ways_round import way_round
from .outputs import clean_outputs, score_output
from .package import Cell, LessonPackage, checked_exercise, grade_id_of
from .repair import repair
from .sandbox import Limits, Session, open_session

Outcomes = Mapping[str, Mapping[str, Outcome]]
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
    record |= {"seed": submission.seed, "lesson": submission.lesson.digest}
    record["submission"] = hashlib.sha256(submission.notebook).hexdigest()
    record["seconds"] = round(time.monotonic() - began, 1)
    return str(writes_json(from_dict(notebook))) + "\n"


def run_and_judge(submission: Submission) -> dict[str, Any]:
    """Grade once; a sandbox that broke is replaced and the submission tried again, so no student pays for it."""
    for last in (False, True):
        notebook = repair(submission.notebook, submission.lesson)
        try:
            with ran(notebook, submission) as (runner, outcomes):
                if last:  # the first run may have seen hidden checks: nothing that this one shows is kept
                    forget_outputs(notebook)
                judge_exercises(notebook, submission, outcomes, runner)
            break
        except NoSandboxError:
            raise
        except SandboxError:
            if last:
                raise
    add_rubrics(notebook, submission.lesson)
    return notebook


def forget_outputs(notebook: dict[str, Any]) -> None:
    """Drop what a submission has shown."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []


@contextmanager
def ran(notebook: dict[str, Any], submission: Submission) -> Iterator[tuple[CheckRunner, Outcomes]]:
    """Run the cells, then the visible checks, then the hidden ones; give each check's outcome by exercise.

    The submission's processes end with the block.

    A solution may use what a demonstration cell defined. Those cells are left out first; where a name is missing,
    everything runs again with them. That is decided before any hidden check leaves this process.
    """
    skipped = () if submission.demonstrations else submission.lesson.demonstrations
    if skipped and needs_demonstrations(notebook, submission.lesson):
        skipped = ()
    for skip in (skipped, ()) if skipped else ((),):
        with session_for(submission) as session:
            runner = CheckRunner(submission, run_cells(notebook, submission.lesson, session, skip))
            outcomes = runner.run_visible()
            if skip and any(is_undefined(o) for found in outcomes.values() for o in found.values()):
                continue
            hidden = runner.run_hidden()
            yield runner, {name: found | hidden[name] for name, found in outcomes.items()}
            return


def session_for(submission: Submission) -> Any:
    """Open a fresh process for a submission."""
    lesson, limits = submission.lesson, submission.limits
    return open_session(lesson.files, lesson.source.checks, limits, allow_unsandboxed=submission.allow_unsandboxed)


def needs_demonstrations(notebook: dict[str, Any], lesson: LessonPackage) -> bool:
    """Say whether a solution reads a name that only the lesson's demonstration cells define."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    exercises = [cell["source"] for cell in code if grade_id_of(cell) in lesson.source.exercises]
    others = [cell["source"] for cell in own_cells(notebook, lesson)] + [lesson.setup]
    return needs_names_of(lesson.demonstrations, exercises, others)


def is_undefined(outcome: Outcome) -> bool:
    """Say whether a check failed for want of a name."""
    return isinstance(outcome, Raised) and outcome.kind in NOT_DEFINED


@dataclass
class Copies:
    """Two copies of the process as it was at an exercise's check cell."""

    visible: Session | None
    hidden: Session | None


def run_cells(
    notebook: dict[str, Any], lesson: LessonPackage, session: Session, skip: Collection[str]
) -> dict[str, Copies | None]:
    """Run a submission's cells; return copies of the process as it was at each check cell, None where not started.

    A cell that a student may have changed can end the process, so a copy from before it goes on then.
    """
    copies: dict[str, Copies | None] = {}
    spare: Session | None = None  # another process in the state of this one, where there is one
    untouched = set(untouched_exercises(notebook, lesson))
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or cell["source"] in skip:
            continue
        if exercise := checked_exercise(cell):
            here = None if exercise in untouched else Copies(session.copy(), session.copy())
            copies[exercise], spare = here, here.visible if here else spare
            continue
        if spare is None and cell["source"] not in lesson.sources:
            spare = session.copy()
        result = session.run(cell["source"])
        cell["outputs"], cell["execution_count"] = clean_outputs(result.outputs), result.count
        if session.lost:
            session = (spare.copy() if spare else None) or session
        else:
            close_unless_needed(spare, copies)
            spare = None
    return copies


def close_unless_needed(spare: Session | None, copies: Mapping[str, Copies | None]) -> None:
    """Let a copy end that nobody will run checks on."""
    if spare and not any(spare is found.visible for found in copies.values() if found):
        spare.close()


def untouched_exercises(notebook: dict[str, Any], lesson: LessonPackage) -> list[str]:
    """Return the exercises that are as they were released, and that no other cell mentions."""
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    students, found = own_cells(notebook, lesson), []
    for name in lesson.source.exercises:
        mine = [c["source"] for c in code if grade_id_of(c) == name]
        own = [c["source"] for c in students if grade_id_of(c) != name]
        if mine == [lesson.nbgrader_cells[name]["source"]] and not any(re.search(rf"\b{name}\b", s) for s in own):
            found.append(name)
    return found


def own_cells(notebook: dict[str, Any], lesson: LessonPackage) -> list[Cell]:
    """Return the code cells that a student wrote or changed."""
    return [c for c in notebook["cells"] if c["cell_type"] == "code" and c["source"] not in lesson.sources]


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
    """

    def __init__(self, submission: Submission, copies: Mapping[str, Copies | None]) -> None:
        self._submission, self._copies = submission, copies
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
            boxes, seed = key.boxes_of(check), self._submission.seed
            share = LATER_SHARE if self._overtime[exercise] else 1.0
            outcome = session.check(check, sources, seed, boxes, share) if session else PROCESS_ENDED
            self._overtime[exercise] += isinstance(outcome, Lost) and outcome.overtime
            found[check.name] = outcome
        return found

    @contextmanager
    def trials(self, exercise: str) -> Iterator[Run]:
        """Give what runs a check on an edited cell, in a copy of its own that ends with the block.

        All checks have run by then, so a trial can change nothing that they gave.
        """
        key, copies = self._submission.lesson.key, self._copies.get(exercise)
        visible, hidden = self._submission.lesson.sandbox_sources[exercise]
        sessions: list[Session | None] = []
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
            return session.trial(cell, check, sources, seed, key.boxes_of(check))

        try:
            yield run
        finally:
            for session in filter(None, sessions):
                session.close()

    @staticmethod
    def _process(copies: Copies, *, hidden: bool) -> Session | None:
        """Return the copy to use, replaced by a fork of the other one where it was lost."""
        mine, other = (copies.hidden, copies.visible) if hidden else (copies.visible, copies.hidden)
        if mine is None or mine.lost:
            mine = other.copy() if other else None
            if hidden:
                copies.hidden = mine
            else:
                copies.visible = mine
        return mine


def judge_exercises(notebook: dict[str, Any], submission: Submission, outcomes: Outcomes, runner: CheckRunner) -> None:
    """Put a card with points into every check cell, and what a person should know into the notebook's record."""
    flags: list[str] = []
    verdicts: dict[str, dict[str, Any]] = {}
    for cell in notebook["cells"]:
        exercise = checked_exercise(cell)
        if not exercise:
            continue
        with runner.trials(exercise) as run:
            verdict = verdict_of(submission, exercise, outcomes[exercise], cell_of(notebook, exercise), run)
        checks = submission.lesson.key.checks_of(exercise)
        verdict = with_left_out(verdict, [outcomes[exercise][check.name] for check in checks])
        verdict, flag = apply_shortcuts(notebook, submission, verdict, outcomes[exercise])
        flags += [flag] if flag else []
        verdicts[exercise] = verdict_summary(verdict)
        cell["outputs"], cell["execution_count"] = [score_output(verdict.points, card_of(verdict))], None
    notebook["metadata"][RECORD] = {"flags": flags, "verdicts": verdicts}


def card_of(verdict: Verdict) -> str:
    """Return a verdict as HTML."""
    return Card(verdict, graded=True)._repr_html_()


def verdict_of(
    submission: Submission, exercise: str, outcomes: Mapping[str, Outcome], cell: str = "", run: Run | None = None
) -> Verdict:
    """Compare an exercise's values with the reference's; where they differ, look for a repair of the cell."""
    key = submission.lesson.key
    values = [outcomes[check.name] for check in key.checks_of(exercise)]
    return key.verdict(exercise, submission.seed, values, cell, run)


def cell_of(notebook: dict[str, Any], exercise: str) -> str:
    """Return the last cell that defines an exercise; '' where none does."""
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return next((source for source in reversed(code) if exercise in top_level_names(source)), "")


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


def apply_shortcuts(
    notebook: dict[str, Any], submission: Submission, verdict: Verdict, outcomes: Mapping[str, Outcome]
) -> tuple[Verdict, str]:
    """Return the verdict without points where a shortcut was used, and what the instructor should know, or ''.

    What ran and what the source says are two witnesses; where only one of them speaks, the note says which.
    """
    shortcuts, exercise = submission.lesson.key.shortcuts, verdict.exercise
    sources = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    written = found_in(shortcuts, exercise, sources)
    ran = ran_in(shortcuts, exercise, outcomes.values())
    if short := written or ran:
        alone = "" if written and ran else ", by its source; it was not seen to run" if written else ", as it ran"
        return (barred(verdict, *short), f"{exercise} uses {short[0]}{alone}") if verdict.started else (verdict, "")
    if not verdict.points:
        return verdict, ""
    own = [cell["source"] for cell in own_cells(notebook, submission.lesson)]
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
    if record_is_odd(key.shortcuts, exercise, outcomes):
        return "what ran could not be recorded"
    known = key.known(exercise, submission.seed)
    if name := outside(record_of(outcomes), known, key.module_names):
        return f"it ran `{name}`, which no known solution needs"
    return way_round(sources, exercise, own, known)


def add_rubrics(notebook: dict[str, Any], lesson: LessonPackage) -> None:
    """Put each question's rubric after the student's answer, for whoever grades it."""
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        rubric = lesson.rubrics.get(grade_id_of(cell))
        if rubric:
            text = f"**For the grader only**\n\n{rubric}"
            name = f"rubric-{grade_id_of(cell)}"
            cells.append({"cell_type": "markdown", "id": name, "metadata": {"tags": [RUBRIC_TAG]}, "source": text})
    notebook["cells"] = cells
