"""Lesson 1's reference against independent oracles, and the numbers in its prose."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck

from autograder.authoring.package import package_of
from autograder.paths import find_course

from .conftest import printed

LESSON = find_course().lesson("01_why_attention")
REFERENCE = package_of(LESSON).key.reference


@pytest.mark.parametrize("temperature", [0.1, 1.0, 5.0])
def test_a_soft_lookup_is_pytorchs_attention_with_one_query(temperature: float) -> None:
    q, k, v = torch.randn(1, 3), torch.randn(4, 3), torch.randn(4, 2)
    right = nn.functional.scaled_dot_product_attention(q, k, v, scale=1 / temperature)[0]
    torch.testing.assert_close(REFERENCE["soft_lookup"](q[0], k, v, temperature), right)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
def test_additive_scores_are_a_small_network_on_pairs(batch: int, queries: int, keys: int, h: int) -> None:
    q, k = torch.randn(batch, queries, 3), torch.randn(batch, keys, 2)
    w_q, w_k, v = torch.randn(h, 3), torch.randn(h, 2), torch.randn(h)
    pairs = torch.cat([q[:, :, None].expand(-1, -1, keys, -1), k[:, None].expand(-1, queries, -1, -1)], dim=-1)
    right = torch.tanh(pairs @ torch.cat([w_q, w_k], dim=1).mT) @ v
    torch.testing.assert_close(REFERENCE["additive_scores"](q, k, w_q, w_k, v), right)


def test_additive_attention_has_the_right_gradient() -> None:
    shapes = [(2, 2, 3), (2, 4, 2), (2, 4, 2), (3, 3), (3, 2), (3,)]
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert gradcheck(REFERENCE["additive_attention"], inputs)


@pytest.mark.parametrize(
    "line",
    [
        "[True, False, False] [False, True, True]",
        "True True",
        "without attention, below 0.1: True",
        "with attention, above 0.9:    True",
        "tensor([5., 6.])",
        "(False, True)",
        "0.007, 0.000, 0.993",
        " 2 words: 6e-01",
        "28 january 1955 becomes 1955-01-28",
    ],
)
def test_the_demonstrations_show_what_the_text_says(line: str) -> None:
    assert line in printed(LESSON)


def test_the_counts_in_the_text_are_right() -> None:
    assert 57 < 16 * math.log2(12) < 58
    assert 5 * 130 * 12 * 28 > 200_000
    assert 64 * 200 == 12_800
