"""What grading tells the instructor beside the points."""

import logging

import pytest

from autograder.judging import verdict

from .conftest import needs_sandbox
from .graded import handed_in, points_in, record_of

pytestmark = needs_sandbox
WRONG = "def attend(query, key, value):\n    return query, key"
THREADS = """
import threading
def work():
    table = torch.randn(200, 200)
    while True:
        table = (table @ table).softmax(-1) + torch.randn(200, 200)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
"""


def test_threads_that_go_on_computing_cost_no_points_and_are_told(package, right) -> None:
    first = next(iter(right))
    graded = record_of(handed_in(package, {**right, first: THREADS + right[first]}))
    assert points_in(graded) == package.key.points()
    assert f"look at {first}: a thread was running when it was checked, and was left behind" in graded["flags"]


def test_an_explanation_that_stops_is_logged_and_flagged_and_costs_no_points(
    package, right, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*_: object) -> None:
        raise AttributeError("a defect")

    monkeypatch.setattr(verdict, "SURVIVED", (Exception,))
    monkeypatch.setattr(verdict, "explain", stop)
    with caplog.at_level(logging.ERROR):
        graded = record_of(handed_in(package, {**right, "attend": WRONG}))
    assert graded["flags"] == ["explaining failed: attend, AttributeError: a defect"]
    assert "explaining failed" in caplog.text
    points = package.key.points()
    assert points_in(graded) == {**points, "attend": 0}


def test_in_tests_an_explanation_that_stops_is_an_error(package, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise AttributeError("a defect")

    monkeypatch.setattr(verdict, "explain", stop)
    with pytest.raises(AttributeError, match="a defect"):
        record_of(handed_in(package, {"attend": WRONG}))
