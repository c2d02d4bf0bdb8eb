"""Grading one notebook, as a pure function: a sanitised notebook in, a graded one out, over any executor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat

from .cells import as_outputs, exercise_of, graded_output, in_short, is_locked, sources_for
from .errors import NoSandboxError, SandboxError
from .isolation import drop_sandbox, session_for
from .judge import Verdict, judge
from .kit import Kit, load_kit
from .lessons import Course, Lesson, digest
from .sandbox import Limits, Session
from .shortcuts import barred, found_in, mentioned
from .values import Lost, Outcome, Raised

FLAGS = "autograder_flags"
VERDICTS = "autograder_verdicts"
NOT_DEFINED = ("NotDefined", "NameError")


@dataclass(frozen=True)
class Job:
    """All that is needed to grade one notebook.

    Args:
        notebook: a sanitised notebook's text; check cells are recognised by their grade id.
        root: the course's folder.
        lesson: the lesson's name.
        seed: what the inputs of all checks are drawn from.
        limits: how much the submission may use.
        demonstrations: run the lesson's own demonstration cells too.
        unsandboxed: go on without isolation where there is none.
    """

    notebook: str
    root: Path
    lesson: str
    seed: int
    limits: Limits = field(default_factory=Limits)
    demonstrations: bool = False
    unsandboxed: bool = False


def graded(job: Job) -> str:
    """Return the graded notebook's text: fresh outputs, and a card with points in each check cell.

    A solution may use what a demonstration cell defined. Those cells are left out first; where a name is missing
    then, everything runs again with them.

    Raises:
        NoSandboxError: there is no isolation, and nobody allowed to go on without it.
        SandboxError: the sandbox itself failed, twice.
    """
    kit = current_kit(Course(job.root).lesson(job.lesson))
    notebook, incomplete = attempt(job, kit, () if job.demonstrations else demonstrations(kit))
    if incomplete and not job.demonstrations:
        drop_sandbox()  # whatever the first attempt saw and hid somewhere ends with it
        notebook, _ = attempt(job, kit, ())
    return str(nbformat.writes(notebook))


def attempt(job: Job, kit: Kit, skip: Collection[str]) -> tuple[Any, bool]:
    """Grade once. A sandbox that broke is replaced and the notebook tried again, so no student pays for it."""
    for last in (False, True):
        try:
            with session_for(kit.lesson, job.limits, unsandboxed=job.unsandboxed) as session:
                return grade_notebook(nbformat.reads(job.notebook, as_version=4), kit, session, job.seed, skip)
        except NoSandboxError:
            raise
        except SandboxError:
            drop_sandbox()
            if last:
                raise
    raise AssertionError("unreachable")


def grade_notebook(nb: Any, kit: Kit, session: Session, seed: int, skip: Collection[str] = ()) -> tuple[Any, bool]:
    """Run the cells, then the checks; return the notebook and whether a name was missing.

    Only when the last cell has run, and nothing that the submission does can be shown any more, do the copies that were
    made at the check cells run checks: first all visible ones, then all hidden ones.
    """
    copies, cards = run_cells(nb, kit, session, skip)
    outcomes = {exercise: run_checks(kit, exercise, copies, seed, hidden=False) for exercise in cards}
    for exercise in cards:
        outcomes[exercise] |= run_checks(kit, exercise, copies, seed, hidden=True)
    nb.metadata.update({FLAGS: [], VERDICTS: {}})  # whatever a submission wrote there
    for exercise, cell in cards.items():
        verdict, flag = with_shortcuts(nb, kit, verdict_of(kit, exercise, outcomes[exercise], seed))
        nb.metadata[FLAGS] += [flag] if flag else []
        nb.metadata[VERDICTS][exercise] = in_short(verdict)
        cell.outputs, cell.execution_count = [graded_output(verdict)], None
    everything = [outcome for found in outcomes.values() for outcome in found.values()]
    return nb, any(isinstance(o, Raised) and o.kind in NOT_DEFINED for o in everything)


def run_cells(
    nb: Any, kit: Kit, session: Session, skip: Collection[str]
) -> tuple[dict[str, Session | None], dict[str, Any]]:
    """Run a submission's cells; return a copy of the process as it was at each check cell, and these cells.

    A cell that a student may have changed can end the process, so there is a copy from before it as well.
    """
    copies: dict[str, Session | None] = {}
    cards: dict[str, Any] = {}
    latest: Session | None = None  # a copy of the process as it is now, where there is one
    for cell in nb.cells:
        if cell.cell_type != "code" or cell.source in skip:
            continue
        exercise = exercise_of(cell)
        if exercise in kit.exercises:
            latest = latest or session.copy()
            copies[exercise], cards[exercise] = latest, cell
            continue
        latest = latest or (None if is_locked(cell) else session.copy())
        if not run_cell(cell, session):
            session = (latest.copy() if latest else None) or session
        elif latest:
            if latest not in copies.values():
                latest.close()
            latest = None
    return copies, cards


def with_shortcuts(nb: Any, kit: Kit, verdict: Verdict) -> tuple[Verdict, str]:
    """Return the verdict without points where a shortcut was used, and what the instructor should know, or ''."""
    short = found_in(kit.shortcuts, verdict.exercise, sources_for(nb, verdict.exercise))
    if short and verdict.started:
        return barred(verdict, *short), f"{verdict.exercise} uses {short[0]}"
    word = mentioned(kit.shortcuts, verdict.exercise, own_cells(nb, kit)) if verdict.points else ""
    return verdict, f"look at {verdict.exercise}: a cell mentions {word}" if word else ""


def run_cell(cell: Any, session: Session) -> bool:
    """Run one cell; return whether the process is still there afterwards."""
    result = session.run(cell.source)
    cell.outputs, cell.execution_count = as_outputs(result.outputs), result.count
    return not session.lost


def run_checks(
    kit: Kit, exercise: str, copies: Mapping[str, Session | None], seed: int, *, hidden: bool
) -> dict[str, Outcome]:
    """Run an exercise's visible or hidden checks on the copy that was made where its check cell stands."""
    copy = copies[exercise]
    return {
        c.name: Lost("The Python process had ended before.")
        if copy is None
        else copy.check(c, kit.sandbox_source(c), seed)
        for c in kit.checks_of(exercise)
        if (c in kit.hidden) is hidden
    }


def verdict_of(kit: Kit, exercise: str, outcomes: Mapping[str, Outcome], seed: int) -> Verdict:
    """Compare an exercise's values with the reference's."""
    found = [c.summarise(outcomes[c.name]) for c in kit.checks_of(exercise)]
    return judge(exercise, kit.targets(exercise, seed), found, kit.messages(exercise))


def demonstrations(kit: Kit) -> set[str]:
    """Return the sources of the lesson's own demonstration cells. A cell that a student changed is not among them."""
    return {cell.text for cell in kit.cells if cell.kind == "demo"}


def own_cells(nb: Any, kit: Kit) -> list[str]:
    """Return the code that a student wrote: what is in no cell of the released lesson."""
    released = {cell.text for cell in kit.cells}
    return [cell.source for cell in nb.cells if cell.cell_type == "code" and cell.source not in released]


def current_kit(lesson: Lesson) -> Kit:
    """Load a lesson once, and again when its files have changed."""
    return _kit(lesson, lesson_digest(lesson))


@lru_cache(maxsize=8)
def _kit(lesson: Lesson, _digest: str) -> Kit:
    return load_kit(lesson)


def lesson_digest(lesson: Lesson) -> str:
    """Return a checksum of everything that decides a lesson's points."""
    return digest(lesson.text, lesson.checks, lesson.hidden)
