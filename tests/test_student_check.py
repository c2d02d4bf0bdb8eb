"""`check(...)` as a student meets it: in a notebook's folder, without solutions."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch

import autograder
from autograder import predict, reveal
from autograder.authoring.lesson_package import package_of
from autograder.errors import CheckFailed, CourseError, NotStarted
from autograder.judging.case import Failure
from autograder.judging.verdict import Result, Verdict
from autograder.paths import find_course
from autograder.student.check import next_hint

from .conftest import LESSON, OVER_QUERIES


@cache
def released() -> tuple[str, str]:
    key = package_of(find_course(Path(__file__).parent).lesson(LESSON)).key
    return key.source.checks, json.dumps(key.fingerprints())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder such as a student has, with the two files beside the notebook."""
    here = tmp_path / LESSON
    here.mkdir()
    for name, text in zip(("checks.py", "fingerprints.json"), released(), strict=True):
        (here / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(here)
    return here


def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value, weights


def test_a_right_answer_shows_a_card_and_raises_nothing(capsys: pytest.CaptureFixture) -> None:
    autograder.check(attend)
    shown = capsys.readouterr()
    assert "✓ attend: 2 of 2 checks passed" in shown.out
    assert "2 hidden checks will run when this is graded." in shown.out
    assert shown.err == ""


def test_a_stub_is_not_started() -> None:
    def attend(query, key, value):
        raise NotImplementedError()

    with pytest.raises(NotStarted, match="attend: not started"):
        autograder.check(attend)


def test_a_known_mistake_is_told_in_its_own_words() -> None:
    def attend(query, key, value):
        weights = (query @ key.mT).softmax(dim=-2)
        return weights @ value, weights

    with pytest.raises(CheckFailed, match=OVER_QUERIES):
        autograder.check(attend)


def test_the_traceback_is_the_message_alone() -> None:
    assert CheckFailed("attend: look here")._render_traceback_() == ["CheckFailed: attend: look here"]


def test_another_name_for_the_same_exercise_is_understood(capsys: pytest.CaptureFixture) -> None:
    def mine(query, key, value):
        return attend(query, key, value)

    code = "import autograder\nattend = mine\nautograder.check(attend)"
    exec(code, {"mine": mine})
    assert "attend: 2 of 2" in capsys.readouterr().out


def test_something_that_is_no_exercise_is_refused_with_the_list() -> None:
    with pytest.raises(CourseError, match="'ReLU' is not an exercise of this lesson"):
        autograder.check(torch.nn.ReLU())


def test_outside_a_lessons_folder_the_message_says_what_is_missing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match=r"No checks\.py with fingerprints\.json"):
        autograder.check(attend)


def test_a_solution_on_another_dtype_or_device_is_told_so() -> None:
    def attend(query, key, value):
        weights = (query @ key.mT).softmax(dim=-1).float()
        return weights @ value.float(), weights

    with pytest.raises(CheckFailed, match="output is float32; it should be float64"):
        autograder.check(attend)


def test_a_check_needs_nothing_but_the_two_files(folder: Path) -> None:
    code = "def attend(q, k, v): raise NotImplementedError()\nfrom autograder import check\ncheck(attend)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert "NotStarted" in done.stderr


@pytest.mark.parametrize("value", [{}, [], (), [[]], {"a": {}}, None, torch.zeros(2, device="meta")])
def test_a_result_without_values_is_told_and_breaks_nothing(value: object) -> None:
    def attend(query, key, value_):
        return value

    with pytest.raises(CheckFailed, match="attend: "):
        autograder.check(attend)


def test_an_error_of_pytorch_for_want_of_a_kernel_is_no_stub() -> None:
    def attend(query, key, value):
        weights = (query @ key.mT).long().softmax(-1)
        return weights @ value, weights

    with pytest.raises(CheckFailed, match="not defined for whole numbers") as caught:
        autograder.check(attend)
    assert not isinstance(caught.value, NotStarted)


def failed(hint: int = 0) -> Verdict:
    result = Result("t", 1, passed=False, hidden=False)
    return Verdict("attend", (result,), Failure("t", "m", hint=hint))


def test_the_hint_that_fits_is_opened_else_the_first_one_not_yet_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.student.check._suggested", {})
    assert [next_hint("attend", failed(hint)) for hint in (2, 0, 2, 0)] == [2, 1, 3, 0]
    assert next_hint("attend", Verdict("attend", (Result("t", 1, passed=True, hidden=False),))) == 0


def test_a_prediction_is_compared_and_never_required(capsys: pytest.CaptureFixture) -> None:
    from autograder.student.predict import _stated

    reveal("q1", "8")
    _stated["q2"], _stated["q3"] = "8", "64"
    reveal("q2", "8")
    reveal("q3", "8")
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["q1: 8.", "q2: 8, as you predicted.", "q3: 8. You predicted: 64."]


def test_in_plain_python_a_prediction_is_text(monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("autograder.student.predict.InteractiveShell.initialized", lambda: False)
    predict("8 words", options=("right", "wrong"))
    assert capsys.readouterr().out == "Your prediction, 8 words: right / wrong\n"


def test_a_prediction_can_be_read_without_a_live_page(monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("autograder.student.predict.InteractiveShell.initialized", lambda: True)
    predict("how large", options=("64", "8"))
    assert "Your prediction, how large: 64 / 8" in capsys.readouterr().out


def test_the_first_import_is_quiet() -> None:
    code = "import autograder"
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
