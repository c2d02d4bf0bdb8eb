"""Wrong answers' fingerprints, as students get them: smaller, and recognized as before."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.authoring.lesson_package import package_of
from autograder.judging.compact import compact, expanded
from autograder.judging.fingerprint import fingerprint, same
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.values import Lost, Other, Raised, Returned

NUMBERS = st.lists(st.floats(width=32) | st.floats(-1, 1, width=32), min_size=1, max_size=6)
TREES = st.one_of(
    NUMBERS.map(torch.tensor),
    NUMBERS.map(lambda row: torch.tensor(row).round()),
    NUMBERS.map(lambda row: torch.tensor(row) > 0),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(Other("Thing")),
    st.lists(NUMBERS.map(torch.tensor), min_size=2, max_size=3),
    st.dictionaries(st.sampled_from("abc"), NUMBERS.map(torch.tensor), min_size=1),
)
OUTCOMES = st.one_of(
    st.builds(Returned, TREES, st.booleans()),
    st.builds(Raised, st.just("ValueError"), st.text(max_size=5)),
    st.just(Lost("It took too long.")),
)


def there_and_back(known: dict, right: dict) -> dict:
    return expanded(json.loads(json.dumps(compact(known, right))), right)


@given(OUTCOMES, OUTCOMES)
def test_a_fingerprint_survives_being_compact(wrong, right) -> None:
    known, right = fingerprint(wrong), fingerprint(right)
    again = there_and_back({"one": known, "two": known}, right)
    for name in ("one", "two"):
        assert same(known, again[name])
        assert same(known, right) == same(again[name], right)


def test_equal_fingerprints_are_written_once() -> None:
    right, wrong = (fingerprint(Returned(torch.tensor([number]))) for number in (1.0, 2.5))
    data = compact({"a": wrong, "b": wrong, "c": right}, right)
    assert data["b"] == "a"
    assert data["c"] == {"but": {}}


@pytest.mark.parametrize("name", ["04_softmax", "12_numpy_and_keras"])
def test_every_mistake_of_a_lesson_is_recognized_through_it(course, name: str) -> None:
    key = package_of(course.lesson(name)).key
    for target in (t for e in key.exercises for t in key.targets(e, PUBLIC_SEED) if not t.hidden):
        again = there_and_back(dict(target.mistakes), target.right)
        assert all(same(known, again[mistake], target.tolerance) for mistake, known in target.mistakes.items())
