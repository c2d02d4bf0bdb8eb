"""Lesson 6's reference against independent oracles."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck
from torch.utils.flop_counter import FlopCounterMode

from .answer_keys import key_of

REFERENCE = key_of("06_multi_head_attention").reference
Attention = REFERENCE["MultiHeadAttention"]


def twins(bias: bool) -> tuple[Any, nn.MultiheadAttention]:
    theirs = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True).double()
    mine = Attention(12, 3, bias=bias).double()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter)
    REFERENCE["copy_torch_weights"](mine, theirs)
    return mine, theirs


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_a_head_gets_its_entries_of_each_token(batch: int, length: int, heads: int, width: int) -> None:
    x = torch.randn(batch, length, heads * width)
    split = REFERENCE["split_heads"](x, heads)
    assert split.shape == (batch, heads, length, width)
    assert split[:, 0].equal(x[..., :width])
    assert split.transpose(1, 2).flatten(2).equal(x)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("axes", [None, 2, 3])
def test_the_module_equals_pytorchs(bias: bool, axes: int | None) -> None:
    mine, theirs = twins(bias)
    query, key = torch.randn(2, 4, 12, dtype=torch.float64), torch.randn(2, 5, 12, dtype=torch.float64)
    mask = None if axes is None else torch.rand((2, 4, 5)[3 - axes :]) < 0.6
    if mask is not None:
        mask[..., 0] = True
    hide = None if mask is None else ~(mask.repeat_interleave(3, dim=0) if axes == 3 else mask)
    right, weights = theirs(query, key, key, attn_mask=hide, average_attn_weights=False)
    output, own = mine(query, key, mask=mask, need_weights=True)
    torch.testing.assert_close((output, own), (right, weights), rtol=1e-10, atol=1e-10)


def test_gradients_are_right_with_an_empty_row() -> None:
    mine, _ = twins(bias=True)
    mask = torch.ones(3, 3, dtype=torch.bool).tril(-1)
    x = torch.randn(2, 3, 12, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: mine(x, mask=mask)[0], (x,))


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_the_work_is_that_of_the_formula(heads: int) -> None:
    length, width = 20, 16
    with FlopCounterMode(display=False) as counter:
        Attention(width, heads)(torch.randn(1, length, width))
    multiplications = 4 * length * width**2 + 2 * length**2 * width
    assert counter.get_total_flops() == 2 * multiplications
