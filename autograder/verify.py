"""Proves that a lesson's exercises, checks, mistakes and messages fit together, through the real grading pipeline."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from itertools import combinations
from pathlib import Path

from .card import number
from .cells import exercise_of
from .checks import HOME_SEED, Mistake
from .course import grade
from .fingerprint import same
from .judge import Target, judge
from .kit import Kit, load_kit
from .lessons import CONFIG_NAME, Course, Lesson
from .mutants import mistake_cell, packed, solutions, submission
from .nbgrader_api import gradebook_of
from .notebooks import read_notebook, text_of

SEED = 20260101
SOLVED, RELEASED = "solved", "released"


def verify(course: Course, lesson: Lesson, jobs: int = 1) -> list[str]:
    """Return what is wrong with a lesson, one line each; nothing where all is proved.

    Proved are: the solution earns every point; the released notebook earns none and is told "not started"; every
    mistake fails and gets its own message, at home and when graded; no two mistakes look alike on all checks; every
    check is failed by a mistake; every exercise has visible and hidden checks and a question has points.
    """
    kit = load_kit(lesson)
    problems = [*structure(kit), *distinctness(kit), *home_messages(kit)]
    with scratch_course(course, lesson) as scratch:
        problems += graded(scratch, load_kit(scratch.lesson(lesson.name)), jobs)
    return [f"{lesson.name}: {problem}" for problem in problems]


def structure(kit: Kit) -> Iterator[str]:
    """Check that nothing is missing."""
    for exercise in kit.exercises:
        targets = kit.targets(exercise, HOME_SEED)
        for hidden in (False, True):
            if not any(t.hidden is hidden for t in targets):
                kind, file = ("hidden", kit.lesson.hidden) if hidden else ("visible", kit.lesson.checks)
                yield f"{exercise} has no {kind} check: add one to {kit.lesson.shown(file)}"
        for target in targets:
            if all(same(known, target.right) for known in target.mistakes.values()):
                yield f"{exercise}: no mistake fails {target.name}, so nobody needs it: add the mistake that it is for"
    if not any(cell.kind == "question" and cell.points > 0 for cell in kit.cells):
        yield "there is no question for a person to grade: add `# %% question NAME [markdown] points=2` to lesson.py"


def distinctness(kit: Kit) -> Iterator[str]:
    """Check that every mistake is one, and that no two look alike."""
    for exercise in kit.exercises:
        targets = kit.targets(exercise, HOME_SEED)
        for mistake in kit.mistakes_of(exercise):
            if all(same(t.mistakes[mistake.name], t.right) for t in targets):
                yield f"{exercise}: the mistake {mistake.name} passes every check: it is right, or a check is missing"
        for a, b in combinations(kit.mistakes_of(exercise), 2):
            if all(same(t.mistakes[a.name], t.mistakes[b.name]) for t in targets):
                yield f"{exercise}: {a.name} and {b.name} look alike on all checks: merge them or add a check"


def home_messages(kit: Kit) -> Iterator[str]:
    """Check that a student who makes a mistake is told of that one, where a visible check can see it."""
    for exercise in kit.exercises:
        for mistake in kit.mistakes_of(exercise):
            pairs = [(c, t) for c, t in zip(kit.checks_of(exercise), kit.targets(exercise, HOME_SEED), strict=True)]
            visible = [(c, as_at_home(t)) for c, t in pairs if not t.hidden]
            outcomes = [c.summarise(c.values(mistake.work, HOME_SEED)) for c, _ in visible]
            verdict = judge(exercise, [t for _, t in visible], outcomes, kit.messages(exercise))
            if verdict.failure and verdict.failure.message != mistake.message:
                yield f"{exercise}: {mistake.name} is told {verdict.failure.message!r} at home"


def as_at_home(target: Target) -> Target:
    """Return a target without what students do not have."""
    return Target(target.name, target.title, target.points, target.right, target.mistakes, target.expected)


@contextmanager
def scratch_course(course: Course, lesson: Lesson) -> Iterator[Course]:
    """Make a course with this one lesson, so that proofs never touch a class's data."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Course(Path(folder))
        shutil.copy(course.root / CONFIG_NAME, scratch.root)
        for part in (lesson.folder, lesson.released):
            shutil.copytree(part, scratch.root / part.relative_to(course.root))
        yield scratch


def graded(scratch: Course, kit: Kit, jobs: int) -> Iterator[str]:
    """Hand in the solved, the released and the wrong notebooks, grade them, and look at what came out."""
    right, wrong = solutions(kit), packed(kit)
    hand_in(scratch, kit, SOLVED, right)
    hand_in(scratch, kit, RELEASED, {})
    trusted = {"seed": SEED, "allow_unsandboxed": True}  # these notebooks are our own
    grade(scratch, kit.lesson, options={**trusted, "run_demonstrations": True})
    for index, mistakes in enumerate(wrong):
        cells = {exercise: mistake_cell(kit, mistake) for exercise, mistake in mistakes.items()}
        hand_in(scratch, kit, f"wrong{index:02}", {**right, **cells})
    for row in grade(scratch, kit.lesson, jobs=jobs, options=trusted):
        if row.needs_person:
            yield f"the {row.student} notebook was not graded: {row.note}"
    yield from full_and_none(scratch, kit)
    for index, mistakes in enumerate(wrong):
        for mistake in mistakes.values():
            yield from graded_mistake(scratch, kit, f"wrong{index:02}", mistake)


def hand_in(scratch: Course, kit: Kit, student: str, edits: dict[str, str]) -> None:
    """Put a notebook where submissions are."""
    folder = scratch.submitted / student / kit.lesson.name
    folder.mkdir(parents=True)
    (folder / kit.lesson.notebook).write_text(text_of(submission(kit, edits)), encoding="utf-8")


def full_and_none(scratch: Course, kit: Kit) -> Iterator[str]:
    """Check the solved notebook's points, and the released one's."""
    for exercise, points in kit.points().items():
        earned = points_of(scratch, kit, SOLVED, exercise)
        if earned != points:
            yield f"{exercise}: the solution earns {earned:g} of {number(points, 'point')}"
        if points_of(scratch, kit, RELEASED, exercise) != 0:
            yield f"{exercise}: the released notebook earns points"
        if "not started" not in card_of(scratch, kit, RELEASED, exercise):
            yield f"{exercise}: the released notebook is not told 'not started'"
    notebook = read_notebook(scratch.autograded / RELEASED / kit.lesson.name / kit.lesson.notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                first = cell.source.splitlines()[0]
                yield f"the released notebook stops at `{first}` with {output.ename}: use PyTorch's function there"


def graded_mistake(scratch: Course, kit: Kit, student: str, mistake: Mistake) -> Iterator[str]:
    """Check that one graded mistake lost points and was told so in its own words."""
    points = kit.points()[mistake.exercise]
    if points_of(scratch, kit, student, mistake.exercise) >= points:
        yield f"{mistake.exercise}: the mistake {mistake.name} earns full points"
    if escape(mistake.message) not in card_of(scratch, kit, student, mistake.exercise):
        yield f"{mistake.exercise}: the mistake {mistake.name} does not get its own message when graded"


def points_of(scratch: Course, kit: Kit, student: str, exercise: str) -> float:
    """Read an exercise's points from the gradebook."""
    name = kit.lesson.name
    with gradebook_of(scratch) as gradebook:
        return float(gradebook.find_grade(f"check_{exercise}", name, name, student).score)


def card_of(scratch: Course, kit: Kit, student: str, exercise: str) -> str:
    """Read an exercise's card from the graded notebook."""
    notebook = read_notebook(scratch.autograded / student / kit.lesson.name / kit.lesson.notebook)
    cell = next(cell for cell in notebook.cells if exercise_of(cell) == exercise)
    return str(cell.outputs[0].data["text/html"])
