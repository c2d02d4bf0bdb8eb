"""What students read. The texts are pinned in tests/golden; `UPDATE_GOLDEN=1 make test` writes them anew."""

import os
from pathlib import Path

import pytest

from autograder.judging.card import Card
from autograder.judging.compare import Picture
from autograder.judging.verdict import Failure, Result, Verdict

GOLDEN = Path(__file__).parent / "golden"
PASSED = Result("Two queries, three keys.", 1, passed=True, hidden=False)
FAILED = Result("A batch with several heads.", 1, passed=False, hidden=False)
HIDDEN = Result("A single query.", 2, passed=False, hidden=True)
PICTURE = Picture("output", [[0.5, 0.25]], [[0.5, 0.75]], [[False, True]])
MASKS = Picture("the result", [[1.0, 1.0]], [[1.0, 0.0]], [[False, True]], truth=True)
CARDS = {
    "passed": Card(Verdict("attend", (PASSED,)), hidden_left=2),
    "not_started": Card(Verdict("attend", (FAILED,), Failure("t", "not started"), started=False)),
    "mistake": Card(
        Verdict("attend", (PASSED, FAILED), Failure(FAILED.title, "Your columns sum to 1.", "x[0] is 1.", "m", PICTURE))
    ),
    "graded": Card(
        Verdict("attend", (PASSED, FAILED, HIDDEN), Failure(HIDDEN.title, "It differs.", hidden=True)), graded=True
    ),
    "booleans": Card(Verdict("causal_mask", (FAILED,), Failure("t", "It looks ahead.", picture=MASKS)), hint=2),
    "hostile": Card(Verdict("attend", (FAILED,), Failure("a < b & c", "<script>alert(1)</script>"))),
}


def pinned(name: str, text: str) -> str:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("name", CARDS)
def test_the_text_of_a_card_is_as_pinned(name: str) -> None:
    assert repr(CARDS[name]) == pinned(f"{name}.txt", repr(CARDS[name]))


@pytest.mark.parametrize("name", CARDS)
def test_the_html_of_a_card_is_as_pinned(name: str) -> None:
    assert CARDS[name]._repr_html_() == pinned(f"{name}.html", CARDS[name]._repr_html_())


def test_an_optional_exercise_is_told_no_points() -> None:
    verdict = Verdict("attend", (Result("Two queries.", 0, passed=True, hidden=False),))
    assert repr(Card(verdict, graded=True)) == "✓ attend: 1 of 1 check passed"


def test_text_and_html_say_the_same() -> None:
    html = CARDS["mistake"]._repr_html_()
    for line in repr(CARDS["mistake"]).splitlines()[:4]:
        assert line in html


def test_nothing_from_a_student_becomes_markup() -> None:
    assert "<script" not in CARDS["hostile"]._repr_html_()


def test_differing_cells_are_marked_by_a_sign_and_not_by_color_alone() -> None:
    assert CARDS["mistake"]._repr_html_().count("≠") == 1
    assert ">  0.250<" in repr(CARDS["mistake"])
