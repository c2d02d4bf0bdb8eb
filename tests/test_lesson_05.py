"""Lesson 5's reference against independent oracles, and what it claims of training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn import functional

from .answer_keys import key_of
from .test_measured import cells

REFERENCE = key_of("05_masking").reference
attention = REFERENCE["scaled_dot_product_attention"]


def drawn_mask(*shape: int) -> torch.Tensor:
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(0)) < 0.5
    mask[0] = False
    return mask


@given(st.integers(1, 6), st.integers(0, 5))
def test_a_causal_mask_allows_what_the_words_say(q_len: int, earlier: int) -> None:
    mask = REFERENCE["causal_mask"](q_len, q_len + earlier)
    expected = [[j <= i + earlier for j in range(q_len + earlier)] for i in range(q_len)]
    assert mask.tolist() == expected


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_a_padding_mask_counts_tokens(lengths: list[int]) -> None:
    mask = REFERENCE["padding_mask"](torch.tensor(lengths), 5)
    assert mask.shape == (len(lengths), 1, 1, 5)
    assert mask.sum(-1).flatten().tolist() == lengths


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_attention_agrees_with_pytorchs(dtype: torch.dtype) -> None:
    q, k, v = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 6)
    mask = drawn_mask(2, 1, 5, 7)
    output, weights = attention(q.to(dtype), k.to(dtype), v.to(dtype), mask)
    right = functional.scaled_dot_product_attention(q, k, v, mask)
    assert output.dtype == weights.dtype == dtype
    torch.testing.assert_close(output.float(), right, rtol=3e-2, atol=3e-2)


def test_gradients_are_right_with_an_empty_row() -> None:
    inputs = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (4, 5, 5)]
    assert gradcheck(lambda q, k, v: attention(q, k, v, drawn_mask(4, 5)), inputs)


def test_nothing_leaks_through_a_causal_mask() -> None:
    x = torch.randn(6, 4)
    changed = torch.cat([x[:-1], torch.randn(1, 4)])
    mask = REFERENCE["causal_mask"](6)
    assert attention(x, x, x, mask)[0][:-1].equal(attention(changed, changed, changed, mask)[0][:-1])


def test_no_mask_stays_no_mask() -> None:
    assert REFERENCE["combine_masks"]() is None
    assert REFERENCE["combine_masks"](None, None) is None


def test_the_numbers_in_the_text_are_right() -> None:
    q = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
    v = torch.arange(1.0, 10).view(3, 3)
    output, _ = attention(q, q, v, REFERENCE["causal_mask"](3))
    torch.testing.assert_close(output[:, 0], torch.tensor([1.0, 3.0093, 4.7657]), rtol=0, atol=1e-4)
    assert torch.tensor([1.0, 0, 0]).softmax(-1)[0].item() == pytest.approx(0.576, abs=5e-4)
    assert (~torch.tensor([1, 0])).tolist() == [-2, -1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_a_mask_a_coin_is_predicted_and_with_one_it_is_not(seed: int) -> None:
    names = cells("05_masking", "def flips", "class Guesser", "def trained", "def moved", seed=seed)
    x, mask = names["flips"](2000, 999), torch.ones(8, 8, dtype=torch.bool).tril()
    leaking, honest = names["trained"](None), names["trained"](mask)

    def right(guesses: torch.Tensor, sides: torch.Tensor) -> float:
        return float((guesses.argmax(dim=-1) == sides).double().mean())

    assert right(leaking(x)[:, :-1], x[:, 1:]) == 1
    assert right(leaking(x[:, :5])[:, -1], x[:, 5]) == pytest.approx(0.5, abs=0.05)
    assert right(honest(x, mask)[:, :-1], x[:, 1:]) == pytest.approx(0.5, abs=0.03)
    assert names["moved"](honest, mask).tolist() == [False] * 7 + [True]
    leaking.requires_grad_(False)
    h = leaking.side(x) + leaking.place.weight
    weights = (leaking.q_proj(h) @ leaking.k_proj(h).mT / 4).softmax(dim=-1).mean(dim=0)
    assert float(weights.diagonal(1).min()) > 0.8
