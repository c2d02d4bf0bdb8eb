"""Repairs when a submission is graded: looked for in its sandbox, after all checks, and never worth a point."""

import json
from typing import Any
from weakref import WeakSet

import pytest
import torch

from autograder.authoring.lesson import read_lesson
from autograder.authoring.sample_submissions import solutions
from autograder.grading import check_runner
from autograder.grading.cells import Cell, SubmittedNotebook
from autograder.grading.grade import RECORD, grade, submitted_cell
from autograder.grading.package import LessonPackage
from autograder.grading.sandbox import Limits, SandboxSession, open_session
from autograder.grading.sandbox import session as session_module
from autograder.grading.sandbox.meter import usage_of
from autograder.judging.check import Check
from autograder.judging.syntax import Code
from autograder.judging.trace import MARK
from autograder.judging.trial import NO_TIME_LEFT
from autograder.judging.values import Outcome, Returned
from autograder.paths import find_course

from .conftest import LESSON, needs_sandbox
from .graded import handed_in, record_of

pytestmark = needs_sandbox
FORGOTTEN_AXIS = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax()
    return weights @ value, weights
"""
SMALL_WEIGHTS_ZEROED = """
def attend(query, key, value):
    weights = torch.softmax(query @ key.mT, dim=-1)
    weights[weights < 1e-4] = 0
    return weights @ value, weights
"""
RIGHT_IN_TRIALS = """
import sys
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    if sys._getframe().f_code.co_filename == "<edited cell>":
        sys.trials = getattr(sys, "trials", 0) + 1
        print("a trial")
        if sys.trials > 7:  # laws call it five times, then it is looked at as it is, then proves that it still fails
            return weights @ value, weights
    return value, weights
"""
ENDLESS_WITH_ONE_EDIT = """
def attend(query, key, value):
    i = 0
    while i > 0:
        try:
            while True:
                i = i + 1
        except BaseException:
            pass
    return torch.rand(2), torch.rand(3)
"""
ENDS_IN_TRIALS = """
import os, sys
def attend(query, key, value):
    if sys._getframe().f_code.co_filename == "<edited cell>":
        os._exit(0)
    return query, key
"""
MANY_LINES = "\n".join(f"    b{i} = {i} + {i + 1} * {i + 2}" for i in range(60))
LARGE_IN_TRIALS = f"""
import sys
def attend(query, key, value):
    if sys.gettrace():
        return torch.zeros(490_000, dtype=torch.float64), 0
{MANY_LINES}
    return query, key
"""
ITS_OWN_CLOCK = f"""
import sys, time
time.process_time = lambda: 0.0
def attend(query, key, value):
    if sys.gettrace():
        sys.settrace(None)
        sum(range(5_000_000))
{MANY_LINES}
    return query, key
"""


def told_about(package: LessonPackage, source: str) -> tuple[dict[str, Any], str]:
    """Return what is recorded about attend, and the graded notebook's text."""
    text = grade(handed_in(package, {"attend": source}))
    return json.loads(text)["metadata"][RECORD]["verdicts"]["attend"], text


def test_a_repair_is_told(package: LessonPackage) -> None:
    record, _ = told_about(package, FORGOTTEN_AXIS)
    assert record["rule"] == "repair"
    assert "Line 3, `(query @ key.mT).softmax()`: along one axis, every check passes." in record["told"]
    assert record["points"] == 0
    assert told_about(package, FORGOTTEN_AXIS)[0] == record


def test_of_a_hidden_check_the_same_words_are_told(package: LessonPackage) -> None:
    record, _ = told_about(package, SMALL_WEIGHTS_ZEROED)
    assert record["told"] == (
        "It differs on inputs that you have not seen. "
        "Without `weights[weights < 1e-4] = 0` in line 4, every check passes."
    )


@pytest.mark.parametrize("source", [RIGHT_IN_TRIALS, ENDLESS_WITH_ONE_EDIT, ENDS_IN_TRIALS])
def test_a_trial_is_worth_no_point(package: LessonPackage, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    with_trials, _ = told_about(package, source)
    monkeypatch.setattr(check_runner, "MOST_TRIALS", 0)
    without, _ = told_about(package, source)
    assert with_trials["points"] == without["points"] < with_trials["of"]
    assert with_trials["rule"] != "repair"


def test_what_a_trial_prints_is_not_shown(package: LessonPackage) -> None:
    notebook = json.loads(told_about(package, RIGHT_IN_TRIALS)[1])
    assert "a trial" not in json.dumps([cell.get("outputs") for cell in notebook["cells"]])


@pytest.mark.parametrize("source", [ENDLESS_WITH_ONE_EDIT, ENDS_IN_TRIALS])
def test_a_trial_that_does_not_come_back_ends_the_search(
    package: LessonPackage, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    lost: list[str] = []
    lose = SandboxSession._lose
    monkeypatch.setattr(SandboxSession, "_lose", lambda *given: lost.append(lose(*given)))
    monkeypatch.setattr(session_module, "TRIAL_SECONDS", 1.0)
    told_about(package, source)
    assert len(lost) == 1


def test_the_tensors_of_a_trial_are_not_kept(package: LessonPackage, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, most, trial = WeakSet[Returned](), [0], SandboxSession.trial

    def watched(*given: Any) -> Outcome:
        outcome = trial(*given)
        if isinstance(outcome, Returned):
            kept.add(outcome)
        most[0] = max(most[0], len(kept))
        return outcome

    monkeypatch.setattr(SandboxSession, "trial", watched)
    told_about(package, LARGE_IN_TRIALS)
    assert 0 < most[0] < 5


def test_a_submission_cannot_stop_the_clock_of_its_trials(
    package: LessonPackage, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, trial = [], SandboxSession.trial

    def watched(session: SandboxSession, *given: Any) -> Outcome:
        outcome = trial(session, *given)
        used.append(usage_of(session.host).computed)
        return outcome

    monkeypatch.setattr(SandboxSession, "trial", watched)
    told_about(package, ITS_OWN_CLOCK)
    assert 0.5 < used[-1] - used[0] < 4


def test_two_searches_of_one_answer_read_and_run_its_edits_once(package: LessonPackage) -> None:
    key, ran = package.key, []
    checks = key.checks_of("attend")
    visible = [check for check in checks if check not in key.hidden]
    wrong = Returned(torch.zeros(3))

    def run(cell: str, check: Check, seed: int) -> Outcome:
        ran.append(cell)
        return NO_TIME_LEFT if MARK in cell else wrong

    cell = f"def attend(query, key, value):\n{MANY_LINES}\n    return query, key\n"
    key.verdict("attend", 5, [wrong] * len(visible), cell, run)
    once = len(ran)
    key.verdict("attend", 5, [wrong] * len(checks), cell, run)
    assert 100 < once == len(ran) < 500


def test_a_right_submission_starts_no_trial(package: LessonPackage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SandboxSession, "trial", lambda *_: pytest.fail("a trial was run"))
    given = handed_in(package, solutions(read_lesson(find_course().lesson(LESSON))))
    assert all(verdict["passed"] for verdict in record_of(given)["verdicts"].values())


def test_a_trial_that_breaks_the_protocol_ends_the_search(package: LessonPackage) -> None:
    key = package.key
    check = key.checks_of("attend")[0]
    with open_session(package.files, key.source.checks, Limits(), allow_unsandboxed=False) as session:
        session.run("def attend(query, key, value):\n    return query")
        cell = "import os\nos._exit(3)"
        assert session.trial(cell, check, package.sandbox_sources["attend"], 5) == NO_TIME_LEFT
        assert session.lost


def test_the_last_cell_that_defines_an_exercise_is_repaired() -> None:
    sources = ["def f(): pass", "f = 1", "def g(): pass", "f()"]
    notebook = SubmittedNotebook([Cell("code", Code(source)) for source in sources], {})
    assert submitted_cell(notebook, "f") == "f = 1"
    assert submitted_cell(notebook, "h") == ""
