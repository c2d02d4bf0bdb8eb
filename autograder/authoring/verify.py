"""Proves that a lesson's exercises, checks, mistakes and messages fit together, through the grading function itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from html import escape
from itertools import combinations
from typing import Any

from ..grading.grade import RECORD, Submission, grade
from ..grading.package import LessonPackage, checked_exercise
from ..judging.answer_key import AnswerKey
from ..judging.card import number
from ..judging.check import Mistake
from ..judging.fingerprint import same
from ..judging.inputs import PUBLIC_SEED
from ..judging.mutant import Mutant, family_of
from ..judging.proofs import derived_answers_fail, same_points_under_seeds
from ..judging.verdict import Target, judge
from ..paths import Lesson
from .lesson import LessonCell, read_lesson
from .located import located
from .notebook import text_of
from .package import package_of
from .sample_submissions import Edits, one_mistake_each, solutions, submission, with_what_it_uses

SEED, SEEDS = 20260101, 20
Notebook = dict[str, Any]


def verify(lesson: Lesson, jobs: int = 1, *, demonstrations: bool = True, seeds: int = SEEDS) -> list[str]:
    """Return what is wrong with a lesson, one line each; nothing where all is proved.

    Proved are: the solution earns every point; the released notebook earns none and is told "not started"; every
    mistake fails and gets its own message, at home and when graded; no two mistakes look alike on all checks; every
    check is failed by a mistake; every exercise has visible and hidden checks and a question has points; whatever
    the seed, a mistake has the same points, and what is derived from the right answer fails.

    Args:
        lesson: which lesson.
        jobs: how many submissions run at once.
        demonstrations: run the lesson's own cells too, and report those that stop in the released notebook.
        seeds: with how many seeds the last two are proved.
    """
    cells = read_lesson(lesson)
    with located(lesson):
        package = package_of(lesson)
        problems = [*key_problems(package.key, cells, seeds)]
    problems += graded_submission_problems(package, solutions(cells), jobs, demonstrations=demonstrations)
    return [f"{lesson.name}: {problem}" for problem in problems]


def key_problems(key: AnswerKey, cells: list[LessonCell], seeds: int) -> Iterator[str]:
    """Prove what can be proved without grading a submission, in a second or two."""
    yield from missing_part_problems(key, cells)
    yield from distinctness_problems(key)
    yield from public_message_problems(key)
    yield from same_points_under_seeds(key, range(1, seeds + 1))
    yield from derived_answers_fail(key, SEED)


def missing_part_problems(key: AnswerKey, cells: list[LessonCell]) -> Iterator[str]:
    """Check that nothing is missing."""
    for exercise in key.exercises:
        targets = key.targets(exercise, PUBLIC_SEED)
        for hidden in (False, True):
            if not any(t.hidden is hidden for t in targets):
                kind, file = ("hidden", "hidden.py") if hidden else ("visible", "checks.py")
                yield f"{exercise} has no {kind} check: add one to {key.source.place}/{file}"
        for target in targets:
            if not any(map(target.tells_apart, target.mistakes)):
                yield f"{exercise}: no mistake fails {target.name}, so nobody needs it: add the mistake that it is for"
    asks = any(re.search(r"^## Questions$", cell.text, re.M) for cell in cells if cell.kind == "prose")
    if asks and not any(cell.kind == "question" and cell.points > 0 for cell in cells):
        yield "there is no question for a person to grade: add `# %% question NAME [markdown] points=2` to lesson.py"


def distinctness_problems(key: AnswerKey) -> Iterator[str]:
    """Check that every mistake is one, and that no two look alike."""
    for exercise in key.exercises:
        targets = key.targets(exercise, PUBLIC_SEED)
        for mistake in key.mistakes_of(exercise):
            if not any(t.tells_apart(mistake.name) for t in targets):
                yield f"{exercise}: the mistake {mistake.name} passes every check: it is right, or a check is missing"
        for a, b in combinations(key.mistakes_of(exercise), 2):
            one = family_of(a.name) == family_of(b.name)  # with and without what may be missing
            if not one and all(same(t.mistakes[a.name], t.mistakes[b.name]) for t in targets):
                yield f"{exercise}: {a.name} and {b.name} look alike on all checks: merge them or add a check"


def public_message_problems(key: AnswerKey) -> Iterator[str]:
    """Check that a student who makes a mistake is told of that one, where a visible check can see it."""
    for exercise in key.exercises:
        targets = key.targets(exercise, PUBLIC_SEED)
        visible = [(c, as_released(t)) for c, t in zip(key.checks_of(exercise), targets, strict=True) if not t.hidden]
        for mistake in key.mistakes_of(exercise):
            outcomes = [c.summarise(c.values(mistake.work, PUBLIC_SEED)) for c, _ in visible]
            clauses = partial(key.clauses, exercise)
            verdict = judge(
                exercise, [t for _, t in visible], outcomes, key.messages(exercise), key.hints(exercise), clauses
            )
            if verdict.failure and verdict.failure.message != mistake.message:
                yield f"{exercise}: {mistake.name} is told {verdict.failure.message!r} at home"


def as_released(target: Target) -> Target:
    """Return a target without what students do not have."""
    return replace(target, exact=None, hidden=False)


def graded_submission_problems(
    package: LessonPackage, right: Edits, jobs: int, *, demonstrations: bool, mistakes: bool = True
) -> Iterator[str]:
    """Grade the solved and the released notebook, and the wrong ones, and look at what came out.

    Args:
        package: the lesson.
        right: every exercise's solution.
        jobs: how many submissions run at once.
        demonstrations: run the lesson's own cells too.
        mistakes: grade the wrong ones.
    """
    wrong = one_mistake_each(package, right) if mistakes else []
    edits = [with_what_it_uses(package, found, right) for found in wrong]
    with ThreadPoolExecutor(jobs) as pool:
        solved = pool.submit(graded, package, right, demonstrations=demonstrations)
        released = pool.submit(graded, package, {}, demonstrations=demonstrations)
        results = pool.map(lambda e: graded(package, e), edits)
        yield from solved_and_released_problems(package, solved.result(), released.result())
        for found, notebook in zip(wrong, results, strict=True):
            for mistake in found.values():
                yield from graded_mistake_problems(notebook, mistake)


def graded(package: LessonPackage, edits: Edits, *, demonstrations: bool = False) -> Notebook:
    """Grade one submission. These are our own, so they may run where nothing can be isolated."""
    content = text_of(submission(package, edits)).encode()
    text = grade(Submission(content, package, SEED, demonstrations=demonstrations, allow_unsandboxed=True))
    notebook: Notebook = json.loads(text)
    return notebook


def solved_and_released_problems(package: LessonPackage, solved: Notebook, released: Notebook) -> Iterator[str]:
    """Check the solved notebook's points, and the released one's."""
    for exercise, points in package.key.points().items():
        earned = verdict_in(solved, exercise)["points"]
        if earned != points:
            yield f"{exercise}: the solution earns {earned} of {number(points, 'point')}"
        if verdict_in(released, exercise)["points"] != 0:
            yield f"{exercise}: the released notebook earns points"
        if "not started" not in card_in(released, exercise):
            yield f"{exercise}: the released notebook is not told 'not started'"
    for cell in released["cells"]:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                first = "".join(cell["source"]).splitlines()[0]
                yield f"the released notebook stops at `{first}` with {output['ename']}: use PyTorch's function there"


def graded_mistake_problems(notebook: Notebook, mistake: Mistake | Mutant) -> Iterator[str]:
    """Check that one graded mistake lost points and was told so in its own words."""
    if verdict_in(notebook, mistake.exercise)["passed"]:
        yield f"{mistake.exercise}: the mistake {mistake.name} earns full points"
    if escape(mistake.message) not in card_in(notebook, mistake.exercise):
        yield f"{mistake.exercise}: the mistake {mistake.name} does not get its own message when graded"


def verdict_in(notebook: Notebook, exercise: str) -> Mapping[str, Any]:
    """Return what grading wrote down about an exercise."""
    verdict: Mapping[str, Any] = notebook["metadata"][RECORD]["verdicts"][exercise]
    return verdict


def card_in(notebook: Notebook, exercise: str) -> str:
    """Return an exercise's card."""
    cell = next(cell for cell in notebook["cells"] if checked_exercise(cell) == exercise)
    return "".join(cell["outputs"][0]["data"]["text/html"])
