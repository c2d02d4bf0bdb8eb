"""Lesson 4's reference against independent oracles."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck

from .answer_keys import key_of

REFERENCE = key_of("04_softmax").reference


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_stable_softmax_agrees_with_pytorchs(dim: int, size: float) -> None:
    x = size * torch.randn(3, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(REFERENCE["stable_softmax"](x, dim), x.softmax(dim), rtol=1e-10, atol=1e-12)


def test_stable_softmax_has_the_right_gradient() -> None:
    assert gradcheck(REFERENCE["stable_softmax"], torch.randn(3, 4, dtype=torch.float64, requires_grad=True))


@given(st.integers(1, 12), st.integers(1, 14), st.sampled_from([1.0, 30.0, 1e4]), st.integers(0, 999))
def test_streaming_agrees_with_all_at_once(n: int, chunk: int, size: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = size * torch.randn(n, generator=generator, dtype=torch.float64)
    values = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    streamed = REFERENCE["streaming_attend"](scores, values, chunk)
    torch.testing.assert_close(streamed, scores.softmax(-1) @ values, rtol=1e-10, atol=1e-10)


def test_entropy_agrees_with_pytorchs_and_has_a_finite_gradient() -> None:
    w = torch.randn(4, 6, dtype=torch.float64).softmax(-1)
    torch.testing.assert_close(REFERENCE["attention_entropy"](w), torch.special.entr(w).sum(-1))
    one_hot = torch.eye(3, dtype=torch.float64, requires_grad=True)
    entropy = REFERENCE["attention_entropy"](one_hot)
    entropy.sum().backward()
    assert entropy.tolist() == [0.0, 0.0, 0.0]
    assert one_hot.grad.isfinite().all()


def test_a_temperature_has_to_be_above_zero() -> None:
    for temperature in (0, -1.0):
        with pytest.raises(ValueError, match="above 0"):
            REFERENCE["temperature_softmax"](torch.randn(3), temperature)


def test_a_quotient_that_half_precision_cannot_hold_is_no_obstacle() -> None:
    half = torch.tensor([20.0, 19.0, 7.0], dtype=torch.float16)
    assert (half / 0.0001).softmax(-1).isnan().all()
    assert REFERENCE["temperature_softmax"](half, 0.0001).tolist() == [1.0, 0.0, 0.0]


def test_the_streaming_example_by_hand() -> None:
    scores, values = torch.tensor([0, math.log(2), math.log(3)]), torch.tensor([[6.0, 0], [0, 6], [12, 12]])
    torch.testing.assert_close(REFERENCE["streaming_attend"](scores, values, 2), torch.tensor([7.0, 8.0]))
    by_piece = torch.stack([scores[:1].softmax(-1) @ values[:1], scores[1:].softmax(-1) @ values[1:]]).mean(0)
    torch.testing.assert_close(by_piece, torch.tensor([6.6, 4.8]))


def test_the_range_of_exp_is_as_the_lesson_says() -> None:
    for dtype, below, above in ((torch.float16, 11.0, 11.2), (torch.float32, 88.7, 88.8)):
        assert torch.tensor([below, above], dtype=dtype).exp().isinf().tolist() == [False, True]
