"""Who is stuck, which messages a class sees, and which of them helped."""

import pytest

from autograder.classroom.board_state import (
    NO_PROGRESS,
    PASSED,
    PAUSE,
    RULES,
    STUCK,
    WORKING,
    Helped,
    Try,
    board_of,
    message_words,
    messages_that_helped,
)
from autograder.judging.diagnose import EXPLAINERS

NOW = 1_800_000_000.0


def tries(*rows: tuple, student: str = "ada", end: float = NOW) -> list[Try]:
    """Tries from rows of exercise, message ('' passed) and seconds before the end."""
    return [Try(student, exercise, not message, message, end - before) for exercise, message, before in rows]


def state(found: list[Try], exercise: str = "attend", now: float = NOW) -> str:
    done = {(t.student, t.exercise): any(o.passed for o in found if o.exercise == t.exercise) for t in found}
    return board_of(done, found, now).states["ada"][exercise]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("attend", "a", 5)], WORKING),
        ([("attend", "a", 9), ("attend", "a", 7), ("attend", "a", 5)], STUCK),
        ([("attend", "a", 9), ("attend", "b", 7), ("attend", "a", 5)], WORKING),
        ([("attend", "a", 9), ("attend", "a", 7), ("attend", "a", 5), ("attend", "b", 1)], WORKING),
        ([("attend", "a", 9), ("attend", "a", 7), ("attend", "a", 5), ("attend", "", 1)], PASSED),
        ([("attend", "a", NO_PROGRESS), ("attend", "b", 1)], STUCK),
        ([("attend", "a", NO_PROGRESS - 1), ("attend", "b", 1)], WORKING),
        ([("attend", "a", NO_PROGRESS)], WORKING),  # one try, then ten minutes of reading
        ([("attend", "a", NO_PROGRESS), ("other", "", 60), ("attend", "b", 1)], WORKING),  # passed another meanwhile
        ([("attend", "a", PAUSE + 9), ("attend", "a", PAUSE + 8), ("attend", "a", PAUSE + 7)], WORKING),  # went home
        ([("attend", "", 900), ("attend", "a", 9), ("attend", "a", 7), ("attend", "a", 5)], PASSED),
    ],
)
def test_a_cells_state(rows: list[tuple], expected: str) -> None:
    assert state(tries(*rows)) == expected


def test_a_new_session_begins_after_a_pause() -> None:
    found = tries(("attend", "a", PAUSE + 700), ("attend", "b", 600), ("attend", "c", 1))
    assert state(found) == STUCK
    assert state(tries(("attend", "a", PAUSE + 700), ("attend", "b", 60), ("attend", "c", 1))) == WORKING


def test_the_messages_are_those_seen_now_the_most_frequent_first() -> None:
    found = [
        *tries(("attend", "a", 50), ("attend", "b", 5), student="ada"),
        *tries(("attend", "b", 4), student="bob"),
        *tries(("attend", "a", 3), student="eve"),
        *tries(("attend", "a", 9), ("attend", "", 1), student="max"),
        *tries(("attend", "a", PAUSE + 1), student="who left"),
    ]
    seen = board_of({}, sorted(found, key=lambda t: t.time), NOW).messages["attend"]
    assert [(s.message, sorted(s.students)) for s in seen] == [("b", ["ada", "bob"]), ("a", ["eve"])]


def test_of_a_past_hour_all_messages_count_once_per_student() -> None:
    found = tries(("attend", "a", 3000), ("attend", "a", 50), ("attend", "b", 40), ("attend", "", 5))
    seen = board_of({}, found, NOW, since=NOW - 3600).messages["attend"]
    assert [(s.message, s.students) for s in seen] == [("a", ["ada"]), ("b", ["ada"])]


def test_an_example_is_shown_with_its_author() -> None:
    shared = Try("bob", "attend", False, "what_is_there", NOW - 1, "def attend(): ...")
    (seen,) = board_of({}, [*tries(("attend", "what_is_there", 5)), shared], NOW).messages["attend"]
    assert (seen.example, seen.author) == ("def attend(): ...", "bob")


def test_a_message_helped_whoever_passed_within_two_tries_of_first_seeing_it() -> None:
    found = [
        *tries(("attend", "a", 9), ("attend", "", 8), student="ada"),
        *tries(("attend", "a", 9), ("attend", "b", 8), ("attend", "", 7), student="bob"),
        *tries(("attend", "a", 9), ("attend", "a", 8), ("attend", "a", 7), ("attend", "", 6), student="eve"),
        *tries(("attend", "a", 9), ("other", "", 8), student="max"),
    ]
    assert messages_that_helped(found) == [Helped("attend", "a", 4, 2), Helped("attend", "b", 1, 1)]


def test_every_rule_that_students_read_has_words() -> None:
    rules = {explainer.__name__ for explainer in EXPLAINERS}
    assert {rule for rule in rules if not rule.startswith("known_mistake")} <= RULES.keys()


def test_a_message_is_its_authors_words_or_its_rules() -> None:
    assert message_words("a", {"a": "Look at a."}) == "Look at a."
    assert message_words("repair:axis", {}) == "One edit of their own code passes: along another axis."
    assert message_words("repair:dtype", {}) == "One edit of their own code passes: with the dtype of `…`."


@pytest.mark.parametrize("message", ["Our_teacher_is_a_fool", "repair:of_our_teacher", "exception:in_our_teacher"])
def test_nobody_writes_on_the_board(message: str) -> None:
    assert "teacher" not in message_words(message, {})
