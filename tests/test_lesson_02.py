"""Lesson 2's reference against independent oracles, and the numbers in its prose."""

import math

import pytest
import torch
from torch.nn import functional

from autograder.authoring.lesson import read_lesson
from autograder.judging.answer_key import AnswerKey
from autograder.paths import Course

from .conftest import LESSON

ln2, ln3 = math.log(2), math.log(3)


def numbers(course: Course) -> str:
    return " ".join(cell.text for cell in read_lesson(course.lesson(LESSON)))


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


@pytest.mark.parametrize("text", ["0.946", "0.047", "0.643", "0.576", "0.212", "[6.821, 3.179]", "0.83", "0.60"])
def test_a_number_in_the_prose_stands_in_the_lesson_and_is_recomputed(course: Course, text: str) -> None:
    shelf = torch.tensor([0.0, 0, 6, 0, 3]).softmax(-1)
    small = torch.tensor([2.0, 1, 1]).softmax(-1)
    out = small @ torch.tensor([[10.0, 0], [0, 10], [5, 5]])
    sat, on = torch.tensor([4.0, 2, 0, 0, 0, 0]).softmax(-1)[0], torch.tensor([2.0, 0, 0, 0, 0, 0]).softmax(-1)[0]
    nine = torch.tensor([0.0, 2 * ln2, 2 * ln3]).softmax(-1)[2]
    known = [f"{x:.3f}" for x in (shelf[2], shelf[4], nine, small[0], small[1])] + [f"{sat:.2f}", f"{on:.2f}"]
    assert text in numbers(course)
    assert text in [*known, f"[{out[0]:.3f}, {out[1]:.3f}]"]
