"""An endless loop costs about one timeout, not one per check; an answer that loops now and then keeps its points."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from autograder.errors import LongRunError
from autograder.grading import check_runner, running
from autograder.grading.check_runner import NOT_RUN
from autograder.grading.grade import RECORD, grade
from autograder.grading.package import LessonPackage
from autograder.grading.sandbox import Limits
from autograder.grading.submission import Submission
from autograder.judging.values import Lost, Returned

from .conftest import needs_sandbox
from .graded import graded, handed_in, outcomes_of, points_in, record_of

pytestmark = needs_sandbox
LIMITS = Limits(check_seconds=1.5)
ENDLESS = "def attend(query, key, value):\n    while True: pass"
# endless in the named checks, which nobody can know outside a test
CHOOSY = """
import sys
def attend(query, key, value):
    frame = sys._getframe()
    while frame := frame.f_back:
        while frame.f_code.co_name in NAMES: pass
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
"""


@pytest.fixture(scope="module")
def names(package: LessonPackage) -> list[str]:
    return [check.name for check in package.key.checks_of("attend")]


def submitted(package: LessonPackage, edits: dict[str, str]) -> Submission:
    return handed_in(package, edits, limits=LIMITS)


def outcomes(given: Submission) -> Mapping[str, object]:
    return outcomes_of(given)["attend"]


def test_an_endless_loop_is_waited_for_once_and_then_for_a_tenth_of_the_time(package, right, names) -> None:
    found = outcomes(submitted(package, {**right, "attend": ENDLESS}))
    first, second, *others = (found[name] for name in names)
    assert [" 1.5 seconds" in first.reason, " 0.15 seconds" in second.reason] == [True, True]  # of whatever it was
    assert others == [NOT_RUN] * (len(names) - 2)


@pytest.mark.parametrize("place", [0, -2])  # the last one is a battery, which an answer cannot tell from its callers
def test_who_loops_in_one_check_keeps_the_points_of_the_others(package, right, names, monkeypatch, place: int) -> None:
    monkeypatch.setattr(check_runner, "LATER_SHARE", 20.0)  # a slow computer decides nothing
    found = outcomes(submitted(package, {**right, "attend": CHOOSY.replace("NAMES", repr([names[place]]))}))
    assert [name for name, outcome in found.items() if isinstance(outcome, Lost)] == [names[place]]
    assert all(isinstance(outcome, Returned) for name, outcome in found.items() if name != names[place])


def test_what_runs_again_with_demonstrations_has_the_time_that_is_left(package, right, monkeypatch) -> None:
    had, real = [], running.open_session

    def open_session(files, checks, limits, **options):
        had.append(limits.total_seconds)
        return real(files, checks, limits, **options)

    monkeypatch.setattr(running, "open_session", open_session)
    given = submitted(package, {**right, "attend": "print(no_such_name)\nwhile True: pass"})
    outcomes(replace(given, limits=Limits(cell_seconds=2.0, total_seconds=60.0)))
    assert had[0] == 60
    assert had[1] <= 58


def test_who_needs_more_patience_than_there_is_earns_the_same_where_there_is_more(package, right) -> None:
    busy = "import time\nends = time.process_time() + 2\nwhile time.process_time() < ends: pass\n"
    given = replace(submitted(package, {**right, "attend": busy + right["attend"]}), limits=Limits())
    with pytest.raises(LongRunError):
        grade(replace(given, patience=1.0))
    records = [record_of(each) for each in (given, replace(given, patience=60.0))]
    assert [record.pop("seconds") > 1 for record in records] == [True, True]
    assert records[0] == records[1]
    assert all(verdict["passed"] for verdict in records[0]["verdicts"].values())


def test_patience_ends_by_the_clock_too(package, right, monkeypatch) -> None:
    monkeypatch.setattr(running, "CLOCK_PATIENCE", 0.1)
    asleep = "import time\ntime.sleep(5)\n"
    given = replace(submitted(package, {**right, "attend": asleep + right["attend"]}), limits=Limits())
    with pytest.raises(LongRunError):
        grade(replace(given, patience=20.0))
    assert grade(replace(given, patience=2000.0))


def test_other_exercises_have_all_their_time(package, right) -> None:
    given = submitted(package, {**right, "attend": ENDLESS})
    assert points_in(record_of(given)) == {**package.key.points(), "attend": 0}


def test_feedback_says_what_was_not_run_and_why(package, right, names) -> None:
    made = graded(submitted(package, {**right, "attend": ENDLESS}))
    told = made["metadata"][RECORD]["verdicts"]["attend"]["told"]
    title = package.key.checks_of("attend")[0].title
    left = len(names) - 2
    assert " 1.5 seconds" in told
    assert told.endswith(f" {left} checks were not run, because “{title}” took too long.")
    assert "were not run, because" in json.dumps(made["cells"])


def test_cells_leave_time_for_the_checks(package, right) -> None:
    """Own experiments took all of the time: every exercise had 0 points, and nobody was told."""
    busy = "import time\nends = time.process_time() + 30\nwhile time.process_time() < ends: pass\n"
    given = submitted(package, right)
    notebook = json.loads(given.notebook)
    own = {"cell_type": "code", "metadata": {}, "source": busy, "outputs": [], "execution_count": None}
    notebook["cells"] += [{**own, "id": f"own-{n}"} for n in range(2)]
    limits = Limits(cell_seconds=5.0, total_seconds=6.0)
    record = record_of(replace(given, notebook=json.dumps(notebook).encode(), limits=limits))
    assert all(verdict["points"] == verdict["of"] for verdict in record["verdicts"].values())
    assert "look at the notebook: 2 cells found no time left, because others took all of it" in record["flags"]
