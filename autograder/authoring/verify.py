"""Proves that a lesson's exercises, checks, mistakes and messages fit together, through the grading function itself."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from inspect import signature
from itertools import combinations
from typing import Any

from ..grading.grade import RECORD, grade
from ..grading.package import LessonPackage
from ..grading.submission import Submission
from ..judging.answer_key import AnswerKey
from ..judging.battery import Battery, kind_of, promises_of
from ..judging.card import number
from ..judging.cell_metadata import checked_exercise
from ..judging.edits import Mutant, family_of
from ..judging.fingerprint import same
from ..judging.inputs import PUBLIC_SEED
from ..judging.shortcuts import Shortcut
from ..judging.target import Target
from ..judging.verdict import Failure, judge
from ..paths import Lesson
from .lesson import LessonCell, read_lesson, solution_of
from .lesson_package import package_of
from .located import located
from .notebook import notebook_text
from .proofs import GRADED_WITH, SEED, as_released, derived_answers_fail, same_points_under_seeds, variant_problems
from .sample_submissions import Edits, one_mistake_each, solutions, submission, with_what_it_uses

SEEDS = range(1, 21)
STOPPED, PYTORCHS = "SubmissionStopped", "use PyTorch's function there"  # by a limit of the sandbox, which names it
HEADING = re.compile(r"^#+ .*$", re.M)
OPTIONAL = "(optional, without points)"
FORBIDS = re.compile(r"not allowed|may not use|not PyTorch's|without PyTorch|write it yourself|alone\b", re.I)
ATTENTION, JACOBIAN, NUMPY_ALONE = "attention", "Jacobian", "NumPy alone"
SAID_AS = {  # the word that a text uses for what a shortcut names
    "scaled_dot_product_attention": ATTENTION,
    "MultiheadAttention": ATTENTION,
    "multi_head_attention_forward": ATTENTION,
    "jacrev": JACOBIAN,
    "jacfwd": JACOBIAN,
    "log_softmax": "softmax",
    "logaddexp2": "logaddexp",
    "logcumsumexp": "logsumexp",
    "torch": "PyTorch",
    "keras": NUMPY_ALONE,
    "scipy": NUMPY_ALONE,
}
PROMISES = {  # words of a text, the kinds of item that ask what they promise, and what a check's title may say instead
    "(...": (("front",), "axes in front|axis in front|heads|leading|more axes|axes"),
    "dtype": (("float16", "float32"), "dtype|float|half"),
    "half precision": (("float16",), "half|float16"),
    "radient": (("gradients",), "gradient"),
    "changed": (("twice", "views"), "unchanged|alone|afterward|before|untouched"),
    "thousands": (("large",), "large|thousand"),
    "any magnitude": (("large", "low"), "any size|large"),
    "too large": (("large",), "large"),
    "empty": (("empty",), "empty"),
}
GradedNotebook = dict[str, Any]


def verify(
    lesson: Lesson, jobs: int = 1, *, demonstrations: bool = True, seeds: int | None = None, wrong: int | None = None
) -> list[str]:
    """Return what is wrong with a lesson, one line each; nothing where all is proved.

    Proved are: the solution passes every check; the released notebook earns none and is told "not started"; every
    mistake fails and gets its own message, at home and when graded; no two mistakes look alike on all checks; every
    check is failed by a mistake; every exercise has visible and hidden checks and a question has points; whatever
    the seed, a mistake has the same points, and what is derived from the right answer fails; right answers written
    another way earn every point, and nobody is asked about them.

    Args:
        lesson: which lesson.
        jobs: how many submissions run at once.
        demonstrations: run the lesson's own cells too, and report those that stop in the released notebook.
        seeds: how many of the twenty seeds each mistake meets beside the first; by default all. The mistakes of an
            exercise share them out, and right answers written another way meet one at home and one when graded, not
            two.
        wrong: how many wrong submissions are graded, each with one mistake in every exercise; by default as many as
            hold all mistakes. All are judged on the same inputs here in any case, which takes a hundredth of the time.
    """
    cells, graded_with = read_lesson(lesson), GRADED_WITH if seeds is None else GRADED_WITH[:1]
    with located(lesson):
        package = package_of(lesson)
        problems = [*key_problems(package.key, cells, seeds), *variant_problems(package.key, graded_with)]
    right = solutions(cells)
    edits = one_mistake_each(package, right)[:wrong]
    problems += graded_submission_problems(package, right, edits, jobs, demonstrations=demonstrations)
    return [f"{lesson.name}: {problem}" for problem in problems]


def key_problems(key: AnswerKey, cells: list[LessonCell], seeds: int | None) -> Iterator[str]:
    """Prove what can be proved without grading a submission, in a second or two."""
    yield from public_message_problems(key)  # these two run every mistake, and the next two look at what came out
    yield from judged_mistake_problems(key)
    yield from missing_part_problems(key, cells)
    yield from distinctness_problems(key)
    yield from unsaid_ban_problems(key.shortcuts, cells)
    yield from unasked_promise_problems(key)
    yield from same_points_under_seeds(key, SEEDS, seeds)
    yield from derived_answers_fail(key, SEED)


def asked(key: AnswerKey, exercise: str) -> list[Target]:
    """Return what is known about an exercise's checks: of visible ones on a student's inputs, of others when graded."""
    at_home, graded = key.targets(exercise, PUBLIC_SEED), key.targets(exercise, SEED)
    return [hidden if hidden.hidden else visible for visible, hidden in zip(at_home, graded, strict=True)]


def missing_part_problems(key: AnswerKey, cells: list[LessonCell]) -> Iterator[str]:
    """Check that nothing is missing."""
    for exercise in key.exercises:
        targets = asked(key, exercise)
        for hidden in (False, True):
            if not any(t.hidden is hidden for t in targets):
                kind, file = ("hidden", "hidden.py") if hidden else ("visible", "checks.py")
                yield f"{exercise} has no {kind} check: add one to {key.source.folder}/{file}"
        if (OPTIONAL in heading_of(exercise, cells)) is bool(key.points()[exercise]):
            yield f"{exercise}: its heading says {OPTIONAL} if, and only if, all of its checks have points=0"
        for target in targets:
            if not any(map(target.tells_apart, target.mistakes)):
                yield f"{exercise}: no mistake fails {target.name}, so nobody needs it: add the mistake that it is for"
    asks = any(re.search(r"^## Questions$", cell.text, re.M) for cell in cells if cell.kind == "prose")
    if asks and not any(cell.kind == "question" for cell in cells):
        yield "there is no question for a person to grade: add `# %% question NAME [markdown] points=2` to lesson.py"


def unsaid_ban_problems(shortcuts: Sequence[Shortcut], cells: list[LessonCell]) -> Iterator[str]:
    """Check that what an exercise forbids stands in its text, in a sentence that says that it is forbidden."""
    for ban in shortcuts:
        forbidding = [sentence for sentence in sentences_of(ban.exercise, cells) if FORBIDS.search(sentence)]
        for word in dict.fromkeys(SAID_AS.get(name, name) for name in ban.names):
            if not any(word.casefold() in sentence.casefold() for sentence in forbidding):
                yield f"{ban.exercise}: its text does not say that {word} is not allowed, and a shortcut forbids it"


def unasked_promise_problems(key: AnswerKey) -> Iterator[str]:
    """Check that what a solution's text promises is asked: by an item of a battery, or by a check that names it."""
    for exercise in key.exercises:
        checks, promises = key.checks_of(exercise), promises_of(key.reference[exercise])
        asked = {kind_of(item) for check in checks if isinstance(check, Battery) for item in check.items}
        told = " ".join(check.title for check in checks)
        takes_inputs = bool(signature(key.reference[exercise]).parameters)
        for word, (kinds, names) in PROMISES.items():
            if takes_inputs and word in promises and not asked & set(kinds) and not re.search(names, told, re.I):
                remedy = f"add a battery to hidden.py, or a check whose title has one of: {names.replace('|', ', ')}"
                yield f"{exercise}: its text promises {word!r}, and no check asks it: {remedy}"


def section_of(exercise: str, cells: list[LessonCell]) -> tuple[int, int]:
    """Return where an exercise's last heading before it is, and its own cell."""
    at = next(n for n, cell in enumerate(cells) if (cell.kind, cell.name) == ("exercise", exercise))
    headed = (n for n in range(at) if cells[n].kind == "prose" and HEADING.search(cells[n].text))
    return max(headed, default=0), at


def heading_of(exercise: str, cells: list[LessonCell]) -> str:
    """Return an exercise's heading; '' where there is none."""
    return next(reversed(HEADING.findall(cells[section_of(exercise, cells)[0]].text)), "")


def sentences_of(exercise: str, cells: list[LessonCell]) -> list[str]:
    """Return the sentences of an exercise: its prose from the last heading on, and its docstring."""
    start, at = section_of(exercise, cells)
    prose = [HEADING.split(cell.text)[-1] for cell in cells[start:at] if cell.kind == "prose"]
    return re.split(r"(?<=[.!?])\s+", " ".join("\n".join([*prose, solution_of(cells[at])]).split()))


def distinctness_problems(key: AnswerKey) -> Iterator[str]:
    """Check that every mistake is one, and that no two look alike."""
    for exercise in key.exercises:
        targets = asked(key, exercise)
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
        visible = [check for check in key.visible if check.exercise == exercise]
        targets = [as_released(target) for target in key.targets(exercise, PUBLIC_SEED)[: len(visible)]]
        for mistake in key.mistakes_of(exercise):
            values = key.outcomes(mistake, PUBLIC_SEED, len(visible))
            outcomes = [check.summarize(value) for check, value in zip(visible, values, strict=True)]
            messages, hints = key.messages(exercise), key.hints(exercise)
            told = judge(exercise, targets, outcomes, messages, hints).failure
            if told and told.mistake != family_of(mistake.name) and told.message != mistake.message:
                yield f"{exercise}: {mistake.name} is told {told.message!r} at home"


def judged_mistake_problems(key: AnswerKey) -> Iterator[str]:
    """Check that every mistake loses points and gets its own message on inputs such as grading draws."""
    for exercise in key.exercises:
        for mistake in key.mistakes_of(exercise):
            verdict = key.verdict(exercise, SEED, key.outcomes(mistake, SEED))
            told = verdict.failure or Failure("", "")
            yield from mistake_problems(mistake, verdict.passed, told.message, {told.mistake, told.rule})


def mistake_problems(mistake: Mutant, passed: bool, told: str, named: Collection[str | None]) -> Iterator[str]:
    """Check what a mistake came to when graded: its own words as far as they are shown, or a proved repair."""
    if passed:
        yield f"{mistake.exercise}: the mistake {mistake.name} earns full points"
    elif mistake.message not in told and not {family_of(mistake.name), "repair"}.intersection(named):
        yield f"{mistake.exercise}: the mistake {mistake.name} does not get its own message when graded"


def graded_submission_problems(
    package: LessonPackage,
    right: Edits,
    wrong: Sequence[Mapping[str, Mutant]],
    jobs: int,
    *,
    demonstrations: bool,
) -> Iterator[str]:
    """Grade the solved and the released notebook, and the wrong ones, and look at what came out."""
    edits = [with_what_it_uses(mistakes, right) for mistakes in wrong]
    with ThreadPoolExecutor(jobs) as pool:
        solved = pool.submit(graded_notebook, package, right, demonstrations=demonstrations)
        released = pool.submit(graded_notebook, package, {}, demonstrations=demonstrations)
        results = pool.map(lambda e: graded_notebook(package, e), edits)
        yield from solved_and_released_problems(package, solved.result(), released.result())
        for mistakes, notebook in zip(wrong, results, strict=True):
            for mistake in mistakes.values():
                verdict = verdict_in(notebook, mistake.exercise)
                card = unescape(card_in(notebook, mistake.exercise))
                yield from mistake_problems(mistake, verdict["passed"], card, {verdict["mistake"], verdict["rule"]})


def graded_notebook(package: LessonPackage, edits: Edits, *, demonstrations: bool = False) -> GradedNotebook:
    """Grade one submission. These are our own, so they may run where nothing can be isolated."""
    content = notebook_text(submission(package, edits)).encode()
    text = grade(Submission(content, package, SEED, demonstrations=demonstrations, allow_unsandboxed=True))
    notebook: GradedNotebook = json.loads(text)
    return notebook


def solved_and_released_problems(
    package: LessonPackage, solved: GradedNotebook, released: GradedNotebook
) -> Iterator[str]:
    """Check the solved notebook's points, and the released one's."""
    for flag in solved["metadata"][RECORD]["flags"]:
        yield f"a person would be asked about the solution: {flag}; if that is right, `allow` it in hidden.py"
    for exercise, points in package.key.points().items():
        verdict = verdict_in(solved, exercise)
        if not verdict["passed"]:
            earned = f"{verdict['points']} of {number(points, 'point')}"
            yield f"{exercise}: the solution does not pass every check ({earned})"
        if verdict_in(released, exercise)["points"] != 0:
            yield f"{exercise}: the released notebook earns points"
        if "not started" not in card_in(released, exercise):
            yield f"{exercise}: the released notebook is not told 'not started'"
    for cell in released["cells"]:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                yield stop_problem("".join(cell["source"]), output)


def stop_problem(source: str, output: Mapping[str, Any]) -> str:
    """Return what to say of a cell of the released notebook that stopped, and what may help."""
    where = f"the released notebook stops at `{source.splitlines()[0]}`"
    if output["ename"] == STOPPED:
        return f"{where}: {output['evalue']}"
    unsolved = output["ename"] in ("NameError", "NotImplementedError")
    return f"{where} with {output['ename']}: {PYTORCHS if unsolved else output['evalue']}"


def verdict_in(notebook: GradedNotebook, exercise: str) -> Mapping[str, Any]:
    """Return what grading wrote down about an exercise."""
    verdict: Mapping[str, Any] = notebook["metadata"][RECORD]["verdicts"][exercise]
    return verdict


def card_in(notebook: GradedNotebook, exercise: str) -> str:
    """Return an exercise's card."""
    cell = next(cell for cell in notebook["cells"] if checked_exercise(cell) == exercise)
    return "".join(cell["outputs"][0]["data"]["text/html"])
