"""Derived answers: recognized through fingerprints alone, never on a right answer, never before a known mistake."""

import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.judging.case import Failure
from autograder.judging.fingerprint import fingerprint
from autograder.judging.relations import Known, facts_of, relation_of
from autograder.judging.sentences import ANSWERS
from autograder.judging.target import Target
from autograder.judging.values import Returned
from autograder.judging.verdict import judge

seeds = st.integers(0, 10**6)
shapes = st.sampled_from([(3, 4), (2, 3, 5), (2, 3, 4, 5), (7,), (4, 4), (1, 6)])


def random(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def known(right: Tensor, *inputs: Tensor) -> Known:
    """What a student's workspace knows: JSON, and the inputs."""
    outcome = Returned(right)
    data = json.loads(json.dumps([fingerprint(outcome)["leaves"][""], facts_of(outcome).get("", {})]))
    return Known(*data, inputs)


def found(mine: Tensor, right: Tensor, *inputs: Tensor) -> str:
    relation = relation_of(mine, known(right, *inputs))
    return relation.name if relation else ""


RIGHT = random(1, 2, 3, 4, 5)
WEIGHTS = random(2, 2, 3, 4, 5).softmax(dim=-1)
DERIVED = {
    "transposed": RIGHT.mT,
    "negative": -RIGHT,
    "factor": RIGHT * 5**-0.5,
    "difference": RIGHT + 0.5,
    "complement": 1 - RIGHT,
    "dtype": RIGHT.float(),
    "shape": RIGHT.flatten(0, 1),
    "reversed": RIGHT.flip(2),
    "rolled": RIGHT.roll(1, -1),
    "first alone": RIGHT[0],
    "first only": torch.cat([RIGHT[:1], 0.3 + RIGHT[:1] ** 2]),
    "last alone": RIGHT[:, -1],
    "repeated": RIGHT[:1].expand(2, 3, 4, 5),
    "unfilled": torch.cat([RIGHT[..., :3], torch.zeros(2, 3, 4, 2)], dim=-1),
    "summed": RIGHT.sum(dim=1),
    "not summed": torch.stack([RIGHT - 1, torch.ones_like(RIGHT)]),
    "square": RIGHT.abs() ** 2,
    "zeros": torch.zeros_like(RIGHT),
    "nearly": RIGHT + 3e-3 * random(3, 2, 3, 4, 5),
    "cut anew": RIGHT.mT.reshape(2, 3, 4, 5),
    "one number": RIGHT.mean(),
    "rearranged": RIGHT.flatten()[torch.randperm(120, generator=torch.Generator().manual_seed(0))].view(2, 3, 4, 5),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_answer_is_recognized(name: str) -> None:
    right = RIGHT.abs() if name == "square" else RIGHT
    assert found(DERIVED[name], right) == name


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("scores", random(2, 2, 3, 4, 5)),
        ("logarithm", WEIGHTS.log()),
        ("wrong axis", random(2, 2, 3, 4, 5).softmax(dim=-2)),
        ("whole table", random(2, 2, 3, 4, 5).flatten(2).softmax(dim=-1).view(2, 3, 4, 5)),
        ("negative weights", random(8, 2, 3, 4, 5)),
        ("causal", random(2, 2, 3, 4, 5).masked_fill(torch.ones(4, 5).triu(1) > 0, -torch.inf).softmax(dim=-1)),
    ],
)
def test_weights_that_are_none_are_recognized(name: str, mine: Tensor) -> None:
    assert found(mine, WEIGHTS) == name


def test_a_softmax_too_many_is_recognized() -> None:
    assert found(RIGHT.softmax(dim=-1), RIGHT) == "weights"


def test_empty_rows_are_told_apart_from_the_rest() -> None:
    right = random(4, 3, 4).softmax(dim=-1)
    right[1] = 0
    for fill in (0.25, torch.nan):
        mine = right.clone()
        mine[1] = fill
        assert found(mine, right) in ("empty rows", "nan")


def test_masks_with_one_value_only_are_recognized() -> None:
    right = torch.ones(5, 5, dtype=torch.bool).tril()
    assert found(torch.zeros_like(right), right) == "all false"
    assert found(torch.ones_like(right), right) == "all true"


def test_an_axis_of_size_one_that_was_expanded_is_recognized() -> None:
    right = random(5, 3, 1, 4)
    assert found(right.expand(3, 4, 4), right) == "expanded"


def test_masks_that_are_inverted_or_off_by_one_are_recognized() -> None:
    right = torch.ones(5, 5, dtype=torch.bool).tril()
    assert found(~right, right) == "complement"
    assert found(torch.ones(5, 5, dtype=torch.bool).tril(-1), right) == "shifted"
    assert found(torch.ones(5, 5, dtype=torch.bool).tril(1), right) == "shifted"


def test_an_input_and_one_term_of_a_sum_are_recognized() -> None:
    values = random(5, 6, 4)
    assert found(values, random(6, 6, 4), values) == "input"
    assert found(0.3 * values[-1], random(6, 4), values) == "one term"


@pytest.mark.parametrize(("factor", "words"), [(5**0.5, "√5"), (1 / 7, "1/7"), (7**-0.5, "1/√7"), (3.0, "3 times")])
def test_a_factor_is_named_by_the_size_that_it_is(factor: float, words: str) -> None:
    relation = relation_of(RIGHT * factor, known(RIGHT, random(9, 7, 5)))
    assert relation is not None
    assert words in relation.message


def test_where_two_rearrangements_coincide_only_that_is_said() -> None:
    right = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    mine = torch.tensor([[3.0, 4.0], [1.0, 2.0]], dtype=torch.float64)
    assert found(mine, right) == "reversed"  # and moved by one: with two rows that is the same


def test_what_was_stacked_along_another_axis_and_joined_is_recognized() -> None:
    sines, cosines = random(3, 6, 4), random(4, 6, 4)
    right = torch.stack([sines, cosines], dim=-1).flatten(-2)
    relation = relation_of(torch.stack([sines, cosines]).reshape(6, 8), known(right))
    assert relation is not None
    assert "the axes were (2, 6, 4) when" in relation.message


def test_a_transposed_mask_that_was_viewed_back_is_recognized() -> None:
    right = torch.arange(5) < torch.tensor([1, 5, 3])[:, None]
    assert found(right.mT.reshape(3, 1, 1, 5), right[:, None, None]) == "cut anew"


@given(seeds, shapes)
@settings(deadline=None, max_examples=100)
def test_no_relation_fires_between_two_unrelated_results(seed: int, shape: tuple[int, ...]) -> None:
    right, other = random(seed, *shape), random(seed + 1, *shape)
    assert found(other, right) == ""


@given(seeds, shapes)
@settings(deadline=None, max_examples=100)
def test_no_relation_fires_on_a_right_answer(seed: int, shape: tuple[int, ...]) -> None:
    right = random(seed, *shape)
    target = Target("t", "T.", 1, fingerprint(Returned(right)), facts=facts_of(Returned(right)))
    verdict = judge("task", [target], [Returned(right * (1 + 1e-9))], {})
    assert verdict.passed


@given(seeds, shapes, st.sampled_from([torch.neg, lambda t: 2 * t, lambda t: t + 1, lambda t: t.flip(0)]))
@settings(deadline=None, max_examples=100)
def test_no_relation_beats_a_known_mistake(seed: int, shape: tuple[int, ...], derive) -> None:
    right = random(seed, *shape)
    mine = derive(right)
    known_mistake = {"listed": fingerprint(Returned(mine))}
    target = Target("t", "T.", 1, fingerprint(Returned(right)), known_mistake, facts=facts_of(Returned(right)))
    verdict = judge("task", [target], [Returned(mine)], {"listed": "The author's own words."})
    if not verdict.passed:
        assert verdict.failure is not None
        assert (verdict.failure.mistake, verdict.failure.message) == ("listed", "The author's own words.")


@given(seeds, shapes)
@settings(deadline=None, max_examples=60)
def test_a_transpose_or_a_factor_of_random_results_is_always_found(seed: int, shape: tuple[int, ...]) -> None:
    right = random(seed, *shape)
    assert found(3.7 * right, right) == ("factor" if right.numel() > 2 else "")
    if right.ndim > 1 and min(shape[-2:]) > 1:
        assert found(right.mT.clone(), right) in ("transposed", "rearranged")


def test_a_hidden_check_names_the_relation_and_no_size_of_the_inputs() -> None:
    right = Returned(RIGHT)
    target = Target("t", "T.", 1, fingerprint(right), exact=right, hidden=True, facts=facts_of(right))
    for name in ("negative", "transposed", "factor", "complement"):
        failure = judge("task", [target], [Returned(DERIVED[name])], {}).failure
        assert failure is not None
        assert failure.relation == name
        assert failure.message.startswith(ANSWERS["differs"])
        assert not any(str(size) in failure.message for size in RIGHT.shape)


def test_weights_scaled_by_a_size_are_recognized_and_on_unseen_inputs_without_it() -> None:
    scores, inputs = random(6, 2, 3, 5), [random(7, 3, 11), random(8, 5, 11)]
    mask = torch.ones(3, 5, dtype=torch.bool).tril(2)
    right = (scores / 11**0.5).masked_fill(~mask, -torch.inf).softmax(dim=-1)
    mine = {
        "scale": scores.masked_fill(~mask, -torch.inf).softmax(dim=-1),
        "other size": (scores / 3**0.5).masked_fill(~mask, -torch.inf).softmax(dim=-1),
    }
    for name, weights in mine.items():
        assert found(weights, right, *inputs) == name
        exact = Returned(right)
        target = Target(
            "t", "T.", 1, fingerprint(exact), exact=exact, hidden=True, facts=facts_of(exact), inputs=inputs
        )
        failure = judge("task", [target], [Returned(weights)], {}).failure
        assert failure is not None
        assert not re.search(r"\d", failure.message), failure.message


def test_proportions_that_are_right_and_not_shared_out_are_recognized() -> None:
    assert found(WEIGHTS * random(9, 2, 3, 4, 1).exp(), WEIGHTS) == "not shared out"


@pytest.mark.parametrize(("level", "name"), [(1000.0, "overflow"), (-1000.0, "underflow"), (0.0, "not a number")])
def test_nan_is_traced_to_the_size_of_what_went_in(level: float, name: str) -> None:
    scores = random(3, 4, 5) + torch.tensor([0.0, 0.0, 0.0, level], dtype=torch.float64)[:, None]
    mine = scores.softmax(dim=-1)
    mine[3] = torch.nan
    assert found(mine, scores.softmax(dim=-1), scores) == name


ARRAY = RIGHT.numpy()


def told_about_arrays(mine: object, right: np.ndarray = ARRAY, *, hidden: bool = False) -> Failure:
    exact = Returned(right)
    target = Target("t", "T.", 1, fingerprint(exact), exact=exact, facts=facts_of(exact), hidden=hidden)
    failure = judge("task", [target], [Returned(mine)], {}).failure
    assert failure is not None
    return failure


@pytest.mark.parametrize(
    ("mine", "name"),
    [
        (ARRAY.swapaxes(-1, -2), "transposed"),
        (-ARRAY, "negative"),
        (3.7 * ARRAY, "factor"),
        (ARRAY.astype(np.float32), "dtype"),
        ((0 * ARRAY, ARRAY), "too many"),
        (list(ARRAY), "not stacked"),
        (ARRAY.tolist(), "lists"),
    ],
)
def test_what_is_wrong_with_an_array_is_recognized_like_that_of_a_tensor(mine: object, name: str) -> None:
    failure = told_about_arrays(mine)
    assert failure.relation == name
    assert "tensor" not in failure.message
    assert "torch" not in failure.message


def test_a_tensor_in_the_place_of_an_array_is_told_so_and_nothing_else() -> None:
    assert told_about_arrays(RIGHT).message == "The result is a PyTorch tensor; a NumPy array was asked for."
    assert "a tensor for an array" in told_about_arrays(RIGHT.mT, hidden=True).message
