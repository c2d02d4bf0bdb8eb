"""What feedback says of hidden checks while a lesson can be handed in, and how much a submission can learn from it."""

from itertools import combinations
from math import log2

import pytest

from autograder.authoring.lesson_package import package_of
from autograder.grading.withheld import LATER, withheld
from autograder.judging.answer_key import AnswerKey
from autograder.judging.case import Failure
from autograder.judging.shortcuts import bans_of
from autograder.judging.verdict import Result, Verdict
from autograder.paths import find_course

from .conftest import FRAGILE, OVER_QUERIES
from .graded import handed_in, record_of
from .test_threats import THREATS

SEEN, HIDDEN = Result("seen", 1, True, False), Result("secret", 1, False, True)
LESSONS = find_course().lessons()


def test_where_a_hidden_check_alone_fails_only_its_number_is_said() -> None:
    verdict = Verdict("attend", (SEEN, HIDDEN), Failure("secret", "about the secret", hidden=True))
    shown = withheld(verdict, Verdict("attend", (SEEN,)))
    assert shown.results == verdict.results
    assert (shown.failure.title, shown.failure.message) == ("1 of 1 did not pass", LATER)


def test_where_a_visible_check_fails_its_own_words_stay() -> None:
    failed = Result("seen", 1, False, False)
    verdict = Verdict("attend", (failed, HIDDEN), Failure("seen", "chosen by the secret"))
    shown = withheld(verdict, Verdict("attend", (failed,), Failure("seen", "Your rows are columns.")))
    assert shown.failure.message == "Your rows are columns. Of the hidden checks, 0 of 1 passed."


def test_a_graded_notebook_holds_both_and_the_words_do_not_depend_on_hidden_checks(package, right) -> None:
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    wrong = known["attend", "softmax_over_queries"].source
    for cell, told in ((FRAGILE, LATER), (wrong, OVER_QUERIES)):
        record = record_of(handed_in(package, {**right, "attend": cell}, allow_unsandboxed=True))
        shown = record["verdicts"]["attend"]["open"]
        assert told in shown["told"]
        assert "thousands" not in shown["card"]


def outcomes(key: AnswerKey, exercise: str) -> int:
    """Return how many different counts and points of hidden checks there are, and one more for each shortcut."""
    points = [check.points for check in key.hidden if check.exercise == exercise]
    found = {(size, sum(some)) for size in range(len(points) + 1) for some in combinations(points, size)}
    return len(found) + sum(len(ban.names) for ban in bans_of(key.shortcuts, exercise))  # its words name what ran


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_submission_learns_no_more_than_the_threats_say(lesson) -> None:
    key = package_of(lesson).key
    assert sum(log2(outcomes(key, exercise)) for exercise in key.exercises) <= 13
    assert "13 bits" in THREATS
