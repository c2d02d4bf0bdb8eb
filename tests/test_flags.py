"""What grading tells the instructor beside the points."""

import json
import logging

import pytest

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.grading.grade import RECORD, grade
from autograder.grading.package import LessonPackage
from autograder.grading.submission import Submission
from autograder.judging import verdict

from .conftest import needs_sandbox

pytestmark = needs_sandbox
THREADS = """
import threading
def work():
    table = torch.randn(200, 200)
    while True:
        table = (table @ table).softmax(-1) + torch.randn(200, 200)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
"""


def record(package: LessonPackage, edits: dict[str, str]) -> dict:
    given = Submission(notebook_text(submission(package, edits)).encode(), package, seed=5)
    return json.loads(grade(given))["metadata"][RECORD]


def test_threads_that_go_on_computing_cost_no_points_and_are_told(package, right) -> None:
    first = next(iter(right))
    graded = record(package, {**right, first: THREADS + right[first]})
    assert {name: v["points"] for name, v in graded["verdicts"].items()} == package.key.points()
    assert f"look at {first}: a thread was running when it was checked, and was left behind" in graded["flags"]


def test_an_explanation_that_stops_is_logged_and_flagged_and_costs_no_points(
    package, right, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*_: object) -> None:
        raise AttributeError("a defect")

    monkeypatch.setattr(verdict, "SURVIVED", (Exception,))
    monkeypatch.setattr(verdict, "explain", stop)
    with caplog.at_level(logging.ERROR):
        graded = record(package, {**right, "attend": "def attend(query, key, value):\n    return query, key"})
    assert graded["flags"] == ["explaining failed: attend, AttributeError: a defect"]
    assert "explaining failed" in caplog.text
    points = package.key.points()
    assert {name: v["points"] for name, v in graded["verdicts"].items()} == {**points, "attend": 0}


def test_in_tests_an_explanation_that_stops_is_an_error(package, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise AttributeError("a defect")

    monkeypatch.setattr(verdict, "explain", stop)
    with pytest.raises(AttributeError, match="a defect"):
        record(package, {"attend": "def attend(query, key, value):\n    return query, key"})
