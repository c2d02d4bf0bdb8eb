"""Derived answers: recognized through fingerprints alone, never on a right answer, never before a known mistake."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.judging.case import Failure
from autograder.judging.fingerprint import fingerprint
from autograder.judging.relations import Known, relation_of
from autograder.judging.sentences import ANSWERS, RELATIONS
from autograder.judging.target import Target
from autograder.judging.values import Returned
from autograder.judging.verdict import judge

seeds = st.integers(0, 10**6)
shapes = st.sampled_from([(3, 4), (2, 3, 5), (2, 3, 4, 5), (7,), (4, 4), (1, 6)])


def random(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def known(right: Tensor, *inputs: Tensor) -> Known:
    """What a student's workspace knows: JSON, and the inputs."""
    return Known(json.loads(json.dumps(fingerprint(Returned(right))["leaves"][""])), inputs)


def found(mine: Tensor, right: Tensor, *inputs: Tensor) -> str:
    relation = relation_of(mine, known(right, *inputs))
    return relation.name if relation else ""


RIGHT = random(1, 2, 3, 4, 5)
WEIGHTS = random(2, 2, 3, 4, 5).softmax(dim=-1)
MASK = torch.ones(5, 5, dtype=torch.bool).tril()
DERIVED = {  # by the id of the sentence: the answer, the right one, and what went in
    "dtype": (RIGHT.float(), RIGHT),
    "shape": (RIGHT.flatten(0, 1), RIGHT),
    "transposed": (RIGHT.mT, RIGHT),
    "permuted": (RIGHT.transpose(0, 1), RIGHT),
    "complement": (~MASK, MASK),
    "negative": (-RIGHT, RIGHT),
    "scores": (random(2, 2, 3, 4, 5), WEIGHTS),
    "factor of a size": (RIGHT * 5**-0.5, RIGHT),
    "factor": (RIGHT * 3.7, RIGHT),
    "nearly": (RIGHT + 1e-3 * random(9, *RIGHT.shape), RIGHT),
    "one value": (torch.zeros_like(RIGHT), RIGHT),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_answer_is_recognized(name: str) -> None:
    assert found(*DERIVED[name]) == name


def test_each_sentence_belongs_to_one() -> None:
    assert {name for name in RELATIONS if not name.endswith("unseen")} == {*DERIVED, "wrong order"}


@pytest.mark.parametrize(("factor", "words"), [(5**0.5, "√5"), (1 / 7, "1/7"), (7**-0.5, "1/√7"), (3.0, "3 times")])
def test_a_factor_is_named_by_the_size_that_it_is(factor: float, words: str) -> None:
    relation = relation_of(RIGHT * factor, known(RIGHT, random(9, 7, 5)))
    assert relation is not None
    assert words in relation.message


@given(seeds, shapes)
@settings(max_examples=100)
def test_no_relation_fires_between_two_unrelated_results(seed: int, shape: tuple[int, ...]) -> None:
    right, other = random(seed, *shape), random(seed + 1, *shape)
    assert found(other, right) == ""


@given(seeds, shapes, st.sampled_from([torch.neg, lambda t: 2 * t, lambda t: t.flip(0), lambda t: t * (1 + 1e-9)]))
@settings(max_examples=100)
def test_no_relation_beats_a_known_mistake_or_a_right_answer(seed: int, shape: tuple[int, ...], derive) -> None:
    right = random(seed, *shape)
    mine = derive(right)
    known_mistake = {"listed": fingerprint(Returned(mine))}
    target = Target("t", "T.", 1, fingerprint(Returned(right)), known_mistake)
    verdict = judge("task", [target], [Returned(mine)], {"listed": "The author's own words."})
    if not verdict.passed:
        assert verdict.failure is not None
        assert (verdict.failure.mistake, verdict.failure.message) == ("listed", "The author's own words.")


def test_a_hidden_check_names_the_relation_and_no_size_of_the_inputs() -> None:
    for name in ("negative", "transposed", "factor of a size", "one value"):
        mine, right, *_ = DERIVED[name]
        exact = Returned(right)
        target = Target("t", "T.", 1, fingerprint(exact), exact=exact, hidden=True)
        failure = judge("task", [target], [Returned(mine)], {}).failure
        assert failure is not None
        assert failure.relation == name
        assert failure.message.startswith(ANSWERS["differs"])
        assert not any(character.isdigit() for character in failure.message)


ARRAY = RIGHT.numpy()


def told_about_arrays(mine: object, right: np.ndarray = ARRAY, *, hidden: bool = False) -> Failure:
    exact = Returned(right)
    target = Target("t", "T.", 1, fingerprint(exact), exact=exact, hidden=hidden)
    failure = judge("task", [target], [Returned(mine)], {}).failure
    assert failure is not None
    return failure


@pytest.mark.parametrize(
    ("mine", "name"),
    [(ARRAY.swapaxes(-1, -2), "transposed"), (3.7 * ARRAY, "factor"), (ARRAY.astype(np.float32), "dtype")],
)
def test_what_is_wrong_with_an_array_is_recognized_like_that_of_a_tensor(mine: object, name: str) -> None:
    failure = told_about_arrays(mine)
    assert failure.relation == name
    assert "tensor" not in failure.message
    assert "torch" not in failure.message


def test_a_tensor_in_the_place_of_an_array_is_told_so_and_nothing_else() -> None:
    assert told_about_arrays(RIGHT).message == "The result is a PyTorch tensor; a NumPy array was asked for."
    assert "a tensor for an array" in told_about_arrays(RIGHT.mT, hidden=True).message
