"""NaN and infinities are compared by where they are, at home and graded: their number alone tells nothing."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from autograder.judging.answer_key import AnswerKey
from autograder.judging.compare import equal
from autograder.judging.fingerprint import fingerprint, same
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.values import Returned

from .answer_keys import key_of

INF = torch.inf


@pytest.fixture(scope="module")
def masks_key() -> AnswerKey:
    return key_of("12_numpy_and_keras")


def reversed_table(table: Tensor) -> Tensor:
    return table.flip(-1)


def hidden_first(table: Tensor) -> Tensor:
    return table.sort(dim=-1).values


@pytest.mark.parametrize("move", [reversed_table, hidden_first])
@pytest.mark.parametrize("seed", [PUBLIC_SEED, 7], ids=["at home", "graded"])
def test_an_additive_mask_that_hides_other_keys_earns_nothing(masks_key: AnswerKey, move: Any, seed: int) -> None:
    right = masks_key.reference["convert_mask"]

    def moved(mask: Tensor, source: str, target: str) -> Tensor:
        result: Tensor = right(mask, source, target)
        return move(result) if target == "additive" else result

    check = next(check for check in masks_key.checks_of("convert_mask") if check.name == "all_pairs")
    target = next(t for t in masks_key.targets("convert_mask", seed) if t.name == "all_pairs")
    outcome = check.values(moved, seed)
    assert not target.accepts(outcome)
    assert not same(fingerprint(outcome), target.right, target.tolerance)


@pytest.mark.parametrize("kind", [torch.nan, INF, -INF])
@pytest.mark.parametrize(
    "wrap", [lambda t: t, lambda t: t.numpy(), lambda t: {"a": [t]}], ids=["tensor", "array", "in"]
)
def test_entries_that_are_not_finite_have_places(kind: float, wrap: Any) -> None:
    right, moved = (Returned(wrap(torch.tensor(row, dtype=torch.float64))) for row in ([kind, 0, 0], [0, kind, 0]))
    assert not same(fingerprint(moved), fingerprint(right))
    assert not equal(moved, right, None)
    assert same(fingerprint(right), fingerprint(right))
    assert equal(right, right, None)


def test_one_infinity_is_not_the_other_in_the_same_place() -> None:
    right, swapped = (Returned(torch.tensor(row)) for row in ([INF, -INF], [-INF, INF]))
    assert not same(fingerprint(swapped), fingerprint(right))
    assert not equal(swapped, right, None)


def test_a_print_of_finite_numbers_is_as_short_as_before() -> None:
    assert "positions" not in fingerprint(Returned(torch.ones(2, 3)))["leaves"][""]


def test_norms_are_compared() -> None:
    right = fingerprint(Returned(torch.randn(20, dtype=torch.float64)))
    leaf = right["leaves"][""]
    assert not same({"leaves": {"": {**leaf, "norm": 1.01 * leaf["norm"]}}}, right)


def test_imaginary_parts_are_numbers_too() -> None:
    right, wrong = (Returned(torch.tensor([1 + 2j, imaginary])) for imaginary in (3j, -3j))
    assert not same(fingerprint(wrong), fingerprint(right))
    assert not equal(wrong, right, None)
    assert equal(Returned(np.array([1 + 2j])), Returned(np.array([1 + 2j])), None)
