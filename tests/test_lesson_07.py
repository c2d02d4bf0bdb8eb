"""Lesson 7's reference against independent oracles: complex numbers, the papers' own formulas."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from .answer_keys import key_of

REFERENCE = key_of("07_position").reference
sinusoidal_positions = REFERENCE["sinusoidal_positions"]
apply_rope = REFERENCE["apply_rope"]
alibi_bias = REFERENCE["alibi_bias"]

PAIRS, LENGTHS, POSITIONS = st.integers(1, 6), st.integers(1, 7), st.integers(0, 500)
BASES = st.sampled_from([10.0, 100.0, 10_000.0, 500_000.0])


def tokens(*shape: int) -> Tensor:
    return functional.normalize(torch.randn(*shape, dtype=torch.float64), dim=-1)


def turned_by_complex_numbers(x: Tensor, positions: Tensor, base: float) -> Tensor:
    pairs = torch.view_as_complex(x.contiguous().unflatten(-1, (-1, 2)))
    speeds = torch.tensor([base ** (-2 * i / x.size(-1)) for i in range(x.size(-1) // 2)], dtype=torch.float64)
    return torch.view_as_real(pairs * torch.exp(1j * positions[..., None] * speeds)).flatten(-2)


# Sinusoids


@given(LENGTHS, st.integers(1, 11), BASES)
def test_each_entry_is_the_sine_or_cosine_of_the_paper(length: int, d_model: int, base: float) -> None:
    table = sinusoidal_positions(length, d_model, base)
    assert (table.shape, table.dtype) == ((length, d_model), torch.float32)
    for p in range(length):
        for j in range(d_model):
            angle = p / base ** ((j - j % 2) / d_model)
            assert table[p, j].item() == pytest.approx(math.cos(angle) if j % 2 else math.sin(angle), abs=1e-5)


# Rotations


@given(LENGTHS, PAIRS, POSITIONS, BASES)
def test_rope_multiplies_complex_numbers(length: int, pairs: int, start: int, base: float) -> None:
    x, positions = tokens(2, 3, length, 2 * pairs), torch.arange(start, start + length)
    right = turned_by_complex_numbers(x, positions, base)
    torch.testing.assert_close(apply_rope(x, positions, base), right, rtol=0, atol=1e-12)


def test_a_cached_sequence_goes_on_where_it_stopped() -> None:
    x = tokens(2, 3, 8, 6)
    parts = [apply_rope(x[..., :5, :]), apply_rope(x[..., 5:, :], torch.arange(5, 8))]
    torch.testing.assert_close(torch.cat(parts, dim=-2), apply_rope(x), rtol=0, atol=1e-12)


def test_each_sentence_may_have_its_own_positions() -> None:
    x, positions = tokens(2, 3, 4, 6), torch.randint(0, 50, (2, 1, 4))
    each = torch.stack([apply_rope(x[b], positions[b, 0]) for b in range(2)])
    assert apply_rope(x, positions).equal(each)


@pytest.mark.parametrize(("dtype", "far"), [(torch.float16, 1e-3), (torch.bfloat16, 8e-3), (torch.float32, 2e-4)])
def test_a_lower_precision_costs_its_own_rounding_and_no_more(dtype: torch.dtype, far: float) -> None:
    x, positions = tokens(4, 8).to(dtype), torch.arange(2997, 3001)
    rotated = apply_rope(x, positions)
    assert rotated.dtype == dtype
    torch.testing.assert_close(rotated.double(), apply_rope(x.double(), positions), rtol=0, atol=far)


def test_rope_works_on_another_device() -> None:
    x = torch.empty(2, 3, 4, 6, dtype=torch.float16, device="meta")
    rotated = apply_rope(x)
    assert (rotated.device.type, rotated.dtype, rotated.shape) == ("meta", x.dtype, x.shape)


# Biases


def test_the_slopes_are_those_of_the_paper() -> None:
    eight, sixteen = (-alibi_bias(heads, 1, 2)[:, 0, 0] for heads in (8, 16))
    assert eight.tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    torch.testing.assert_close(sixteen[1::2], eight)
    torch.testing.assert_close(sixteen[1:] / sixteen[:-1], torch.full((15,), 2**-0.5))


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 6))
def test_the_bias_is_a_distance_times_a_slope(heads: int, queries: int, cached: int) -> None:
    keys = queries + cached
    bias = alibi_bias(heads, queries, keys)
    assert (bias.shape, bias.dtype) == ((heads, queries, keys), torch.float32)
    for h in range(heads):
        for i in range(queries):
            for j in range(keys):
                right = -(2 ** (-8 * (h + 1) / heads)) * abs(cached + i - j)
                assert bias[h, i, j].item() == pytest.approx(right, rel=1e-6)
