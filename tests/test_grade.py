"""Grading one submission is a pure function: the same value in, the same notebook out, wherever it runs."""

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.authoring.lesson_package import package_of
from autograder.authoring.sample_submissions import submission
from autograder.grading.check_runner import RELEASED_STUB
from autograder.grading.grade import RECORD, grade
from autograder.grading.package import LessonPackage
from autograder.grading.sandbox import Limits, shared_sandbox
from autograder.judging.values import Lost, Raised, Returned

from .conftest import needs_sandbox
from .graded import handed_in, outcomes_of, points_in, record_of

pytestmark = needs_sandbox
COUNTING = """
calls = 0
def attend(query, key, value):
    global calls
    calls += 1
    raise RuntimeError(str(calls))
"""
EXITING = """
import os, sys
def attend(query, key, value):
    frame = sys._getframe()
    while frame := frame.f_back:
        if frame.f_code.co_name == "CHECK":
            os._exit(0)
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
"""


def timeless(text: str) -> dict[str, Any]:
    """Return a graded notebook without the one thing that differs from run to run."""
    notebook = json.loads(text)
    assert notebook["metadata"][RECORD].pop("seconds") >= 0
    return notebook


def test_grading_keeps_to_one_thread(package) -> None:
    torch.set_num_threads(2)
    grade(handed_in(package, {}))
    assert torch.get_num_threads() == 1


def test_the_same_submission_gives_the_same_notebook_in_another_process(package, right) -> None:
    given = handed_in(package, right)
    here = timeless(grade(given))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert timeless(pool.submit(grade, given).result()) == here


def tensors_in(outcome: Returned) -> list[Tensor]:
    return [
        leaf.value for leaf in outcome.leaves() if isinstance(leaf.value, Tensor) and leaf.value.is_floating_point()
    ]


def test_another_seed_draws_other_inputs(package, right) -> None:
    given = handed_in(package, {**right, "attend": "def attend(query, key, value):\n    return query, key"})
    first, second = (outcomes_of(replace(given, seed=seed))["attend"] for seed in (5, 6))
    drawn = {name: tensors_in(outcome) for name, outcome in first.items() if isinstance(outcome, Returned)}
    assert all(drawn.values())
    for name, tensors in drawn.items():
        assert not all(a.equal(b) for a, b in zip(tensors, tensors_in(second[name]), strict=True)), name


def test_grading_touches_no_file(package, right, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    grade(handed_in(package, right))
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_started_gives_what_its_stub_gives(package) -> None:
    found = outcomes_of(handed_in(package, {}))
    assert {type(o) for checks in found.values() for o in checks.values()} == {type(RELEASED_STUB)}
    assert all(o == RELEASED_STUB for checks in found.values() for o in checks.values())


def test_an_exercise_that_calls_one_that_is_still_open_is_told_so(package) -> None:
    calling = "def attend(q, k, v):\n    w = attention_scores(q, k).softmax(dim=-1)\n    return w @ v, w"
    verdict = record_of(handed_in(package, {"attend": calling}))["verdicts"]["attend"]
    assert (verdict["started"], verdict["points"]) == (True, 0)
    assert verdict["told"].startswith("`attention_scores`, which your code calls, is still open")


def test_the_record_says_what_was_graded_and_how(package, right) -> None:
    record = record_of(handed_in(package, right))
    assert record["lesson"] == package.digest
    assert points_in(record) == package.key.points()


def test_checks_of_an_exercise_share_a_process_and_hidden_ones_have_another(package, right) -> None:
    """A function can remember its calls in visible checks. In hidden ones it starts as its cell has left it."""
    found = outcomes_of(handed_in(package, {**right, "attend": COUNTING}))["attend"]
    hidden = {check.name for check in package.key.hidden}
    for group in (found.keys() & hidden, found.keys() - hidden):
        assert sorted(found[name].text for name in group) == [str(n) for n in range(1, len(group) + 1)]


def test_what_a_visible_check_has_left_reaches_no_cell_and_no_other_exercise(package, right) -> None:
    spy = "print('CALLS', calls)\ndef copy_previous_qk(length):\n    raise RuntimeError(str(calls))"
    given = handed_in(package, {**right, "attend": COUNTING, "copy_previous_qk": spy})
    assert {o.text for o in outcomes_of(given)["copy_previous_qk"].values()} == {"0"}
    assert "CALLS 0" in grade(given)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_check_that_ends_its_process_costs_itself_alone(package, right, hidden: bool) -> None:
    checks = [c for c in package.key.checks_of("attend") if (c in package.key.hidden) is hidden]
    found = outcomes_of(handed_in(package, {**right, "attend": EXITING.replace("CHECK", checks[0].name)}))["attend"]
    assert [name for name, outcome in found.items() if isinstance(outcome, Lost)] == [checks[0].name]
    assert all(isinstance(o, Returned) for name, o in found.items() if name != checks[0].name)


def test_a_solution_may_use_what_a_demonstration_defined(package: LessonPackage, right) -> None:
    """The first one in the notebook's order, which every exercise may use: a set of them has no order of its own."""
    cells = [cell.source for cell in package.notebook.cells]
    demonstration = next(s for s in cells if s in package.demonstrations and " = " in s)
    name = demonstration.split(" = ")[0].splitlines()[-1].split(",")[0].strip()
    found = outcomes_of(handed_in(package, {**right, "attend": f"{name}\n{right['attend']}"}))
    assert all(isinstance(outcome, Returned) for outcome in found["attend"].values())


def test_an_exercise_that_was_deleted_is_said_to_be_missing(package, right) -> None:
    notebook = submission(package, right)
    notebook.cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "attend"]
    found = outcomes_of(handed_in(package, notebook))["attend"]
    assert all(isinstance(o, Raised) and "attend is not defined" in o.text for o in found.values())


def test_beside_a_submission_lies_what_students_have_but_for_the_answers(course) -> None:
    lesson = next(lesson for lesson in course.lessons() if lesson.data_files)
    beside = package_of(lesson).files
    assert beside == {path.name: path.read_bytes() for path in lesson.released_files}
    with shared_sandbox().session(beside, Limits()) as session:
        (shown,) = session.run(LISTING).outputs
    assert shown["text"] == f"{sorted((name, len(content)) for name, content in beside.items())}\nread-only\n"


LISTING = """
from pathlib import Path
print(sorted((path.name, path.stat().st_size) for path in Path().iterdir()))
try:
    open("checks.py", "a")
except PermissionError:
    print("read-only")
"""


def test_a_lesson_with_other_data_is_another_lesson(package) -> None:
    assert replace(package, data={"model": b"1"}).digest != replace(package, data={"model": b"2"}).digest
