"""Lesson 2's reference against independent oracles."""

import math

import pytest
import torch
from torch.nn import functional

from autograder.judging.answer_key import AnswerKey

ln2, ln3 = math.log(2), math.log(3)


@pytest.mark.parametrize("shape", [(5, 7, 4, 6), (1, 3, 2, 2), (4, 1, 8, 1)])
def test_attend_agrees_with_pytorchs_own_attention(key: AnswerKey, shape: tuple[int, ...]) -> None:
    length, keys, width, out = shape
    q, k, v = (torch.randn(2, 3, *s, dtype=torch.float64) for s in ((length, width), (keys, width), (keys, out)))
    output, weights = key.reference["attend"](q, k, v)
    oracle = functional.scaled_dot_product_attention(q, k, v, scale=1.0)
    torch.testing.assert_close(output, oracle, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, length, dtype=torch.float64))


def test_attention_scores_agrees_with_einsum(key: AnswerKey) -> None:
    q, k = torch.randn(2, 5, 4), torch.randn(2, 7, 4)
    torch.testing.assert_close(key.reference["attention_scores"](q, k), torch.einsum("bld,bsd->bls", q, k))


@pytest.mark.parametrize("length", [1, 2, 6, 1000])
def test_the_puzzle_is_solved_for_any_length(key: AnswerKey, length: int) -> None:
    query, key = key.reference["copy_previous_qk"](length)
    weights = (query @ key.mT).softmax(-1)
    assert (weights[range(length), [max(i - 1, 0) for i in range(length)]] > 0.99).all()


def test_the_example_by_hand_is_exact() -> None:
    scores, values = torch.tensor([0.0, ln2, ln3]).double(), torch.tensor([[6.0, 0], [0, 6], [12, 12]]).double()
    torch.testing.assert_close(scores.softmax(-1) @ values, torch.tensor([7.0, 8.0]).double())
    torch.testing.assert_close((2 * scores).softmax(-1), torch.tensor([1.0, 4, 9]).double() / 14, rtol=1e-6, atol=1e-6)
