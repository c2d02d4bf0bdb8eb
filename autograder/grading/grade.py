"""Grading one submission, as a pure function: what was handed in goes in, the graded notebook comes out.

It runs unchanged in a thread, in another process and, pickled, on another machine: it touches no gradebook and no file
of the course. All that it changes in its process is PyTorch's number of threads.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from nbformat.notebooknode import from_dict
from nbformat.v4 import writes_json

from ..errors import NoSandboxError, SandboxError
from ..judging.answer_key import RunOnCheck
from ..judging.card import Card, number
from ..judging.cell_metadata import grade_id_of
from ..judging.guard import used_in
from ..judging.shortcuts import barred, barred_by, found_in, record_is_odd, record_of
from ..judging.syntax import top_level_names
from ..judging.values import Lost, Outcome
from ..judging.verdict import Verdict
from ..judging.vocabulary import outside
from .cells import SubmittedNotebook
from .check_runner import NOT_RUN
from .outputs import score_output
from .package import LessonPackage, Role
from .repair import repair_submission
from .running import Run, ran
from .submission import Submission
from .untrusted import printable
from .withheld import withheld
from .witness import above_check

LOG = logging.getLogger(__name__)
RECORD = "autograder"  # the key of a graded notebook's metadata under which `grade` leaves what it found
RUBRIC_TAG = "rubric"
OTHER_ALONE = "without the notebook's other cells it does not give what it gives with them"
LACKED_TIME = "there was not enough time to run it by itself, without the notebook's other cells"


def grade(submission: Submission) -> str:
    """Return the graded notebook's text: fresh outputs, a card with points in each check cell, and a record.

    Raises:
        SubmissionError: it cannot be graded as it is.
        NoSandboxError: there is no isolation, and nobody allowed to go on without it.
        SandboxError: the sandbox itself failed, twice.
        LongRunError: it needs more time than the submission's `patience`.
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
        notebook = repair_submission(submission.notebook, submission.lesson)
        try:
            with ran(notebook, submission) as run:
                for cell in notebook.code if last else ():  # the first run may have seen hidden checks
                    cell.outputs = []
                judge_exercises(run)
            break
        except NoSandboxError:
            raise
        except SandboxError:
            if last:
                raise
    graded = notebook.as_dict()
    add_rubrics(graded, submission.lesson)
    return graded


def judge_exercises(run: Run) -> None:
    """Put a card with points into every check cell, and what a person should know into the notebook's record."""
    flags = [*run.notebook.remarks(), *run.oddities]
    summaries: dict[str, dict[str, Any]] = {}
    checks = [cell for cell in run.notebook.cells if cell.role is Role.CHECK]
    judged = {cell.exercise: judge_exercise(run, cell.exercise) for cell in checks}
    run.end()  # what comes now runs by itself
    earned = [exercise for exercise, (_, verdict) in judged.items() if verdict.points]
    seen = {exercise: run.witness.outcomes(exercise) for exercise in earned}
    for cell in checks:
        exercise = cell.exercise
        short = shortcut_of(run, exercise, seen.get(exercise, {}))
        visible, verdict = (barred(each, *short) if short and each.started else each for each in judged[exercise])
        flags += [f"{exercise} uses {short[0]}"] if short and verdict.started else []
        if verdict.failure and verdict.failure.problem:
            flags.append(f"explaining failed: {exercise}, {verdict.failure.problem}")
            LOG.error("%s, seed %d: explaining failed: %s", exercise, run.submission.seed, verdict.failure.problem)
        summaries[exercise] = verdict_summary(verdict) | summary_while_open(verdict, withheld(verdict, visible))
        cell.outputs, cell.count = [score_output(verdict.points, card_of(verdict))], None
    flags += questions(run, {exercise: seen[exercise] for exercise in earned if summaries[exercise]["points"]})
    run.notebook.metadata[RECORD] = {"flags": flags, "verdicts": summaries}


def judge_exercise(run: Run, exercise: str) -> tuple[Verdict, Verdict]:
    """Return what an exercise's visible checks say, and what all of them say."""
    with run.runner.trials(exercise) as trial:
        # the words about visible checks come first: nothing hidden has run for them
        return verdict_of(run, exercise, trial, hidden=False), verdict_of(run, exercise, trial)


def card_of(verdict: Verdict) -> str:
    """Return a verdict as HTML."""
    return Card(verdict, graded=True)._repr_html_()


def verdict_of(run: Run, exercise: str, trial: RunOnCheck, *, hidden: bool = True) -> Verdict:
    """Compare an exercise's values with the reference's; where they differ, look for a repair of the cell.

    Args:
        run: what the checks gave.
        exercise: which exercise.
        trial: runs a check on an edited cell.
        hidden: judge the hidden checks too.
    """
    key, outcomes = run.submission.lesson.key, run.outcomes[exercise]
    values = [outcomes[check.name] for check in key.checks_of(exercise) if hidden or check not in key.hidden]
    cell = submitted_cell(run.notebook, exercise)
    return with_left_out(key.verdict(exercise, run.submission.seed, values, cell, trial), values)


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


def shortcut_of(run: Run, exercise: str, seen: Mapping[str, Outcome]) -> tuple[str, str] | None:
    """Return the ready-made function that costs an exercise its points, and why it does; None where there is none."""
    sources = [cell.source for cell in above_check(run.notebook.code, exercise)]
    return barred_by(run.submission.lesson.key.shortcuts, exercise, sources, seen.values())


def questions(run: Run, earned: Mapping[str, Mapping[str, Outcome]]) -> Iterator[str]:
    """Yield what a person should look at before the points of a submission count.

    Args:
        run: what the submission gave.
        earned: what each exercise with points gave where it ran by itself.
    """
    key = run.submission.lesson.key
    for exercise, alone in earned.items():
        code = [cell.source for cell in above_check(run.notebook.code, exercise)]  # what has run for it, and no other
        if why := question_about(run, exercise, alone):
            yield f"look at {exercise}: {why}"
        elif named := found_in(key.shortcuts, exercise, code):
            yield f"look at {exercise}: its code names {named[0]}, which is not allowed there; it was not seen to run"


def question_about(run: Run, exercise: str, alone: Mapping[str, Outcome]) -> str:
    """Return why a person should look at an exercise that has earned points, or ''.

    Args:
        run: what the submission gave.
        exercise: which exercise.
        alone: what its checks gave where it ran by itself.
    """
    key, seed = run.submission.lesson.key, run.submission.seed
    known = key.known(exercise, seed)
    ran_by_known = known - key.permitted(exercise)  # a permission for what is used runs nothing
    if word := used_in(alone.values()):
        return f"its code uses `{word}`"
    if key.passed(exercise, seed, run.outcomes[exercise]) - key.passed(exercise, seed, alone):
        return LACKED_TIME if run.witness.lacked_time else OTHER_ALONE
    if record_is_odd(key.shortcuts, exercise, alone.values(), ran_by_known):
        return "what ran could not be recorded"
    name = outside(record_of(alone.values()), known, key.module_names)
    return f"it ran `{name}`, which no known solution needs" if name else ""


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
