"""The checks of lesson 7 that you can run yourself. Grading runs them again on new inputs, with a few more."""

import contextlib
from typing import Any

import torch
from torch import Tensor

from autograder.checks import Inputs, check, law


def made_there(make: Any) -> bool:
    """Say whether a function's result is on the device of its input, on a computer that may have only one.

    Tensors on the "meta" device have a shape but no data, so some correct solutions fail on it. If one does, an input
    on the CPU is tried instead, with another device as the default.
    """
    with contextlib.suppress(RuntimeError):
        return bool(make(torch.device("meta")).device.type == "meta")
    with contextlib.suppress(RuntimeError), torch.device("meta"):
        return bool(make(torch.device("cpu")).device.type == "cpu")
    return False


@check("sinusoidal_positions", points=1, show=True)
def a_few_positions(sinusoidal_positions: Any, draw: Inputs) -> Any:
    """A table with three pairs of sine and cosine per position."""
    return sinusoidal_positions(draw.size(4, 3, 5), 6)


@check("sinusoidal_positions", points=1, show=True)
def other_tables(sinusoidal_positions: Any, draw: Inputs) -> Any:
    """An odd dimension, another base, and a single position."""
    length, base = draw.size(4, 5, 7), float(draw.size(100, 20, 500))
    return {
        f"sinusoidal_positions({length}, 5)": sinusoidal_positions(length, 5),
        f"sinusoidal_positions({length}, 8, base={base:g})": sinusoidal_positions(
            length, 8, base=base
        ),
        "sinusoidal_positions(1, 7)": sinusoidal_positions(1, 7),
    }


@check("apply_rope", points=1, show=True)
def a_few_tokens(apply_rope: Any, draw: Inputs) -> Any:
    """Four tokens with three pairs of entries each, at positions 0 to 3."""
    return apply_rope(draw.normal(4, 6))


@check("apply_rope", points=1, show=True)
def given_positions(apply_rope: Any, draw: Inputs) -> Any:
    """Sentences and heads in front, positions after a cache, positions of each sentence, and another base."""
    start, base = draw.size(9, 5, 20), float(draw.size(100, 20, 500))
    heads = draw.give(draw.normal(2, 5, 3, 8).transpose(1, 2))
    cached = draw.give(torch.tensor([0, 1, 2, 6, 3]) + start)
    each = draw.give(torch.tensor([[[0, 1, 2, 3, 4]], [[0, 0, 0, 1, 2]]]))
    return {
        "with sentences and heads": apply_rope(heads),
        "with positions after a cache": apply_rope(draw.normal(3, 5, 4), cached),
        "with positions (B, 1, L)": apply_rope(draw.normal(2, 3, 5, 4), each),
        f"with base={base:g}": apply_rope(draw.normal(5, 4), base=base),
    }


def scores_at(apply_rope: Any, query: Tensor, key: Tensor, start: int) -> Tensor:
    """Return the dot products of rotated queries and keys whose positions begin at start."""
    q = apply_rope(query, torch.arange(start, start + query.size(-2)))
    k = apply_rope(key, torch.arange(start, start + key.size(-2)))
    return q @ k.mT


def largest(difference: Tensor) -> float:
    """Return the largest entry, to three decimals, which rounding errors do not reach."""
    return round(float(difference.abs().max()), 3)


@check("apply_rope", points=1, show=True)
def what_rotations_keep(apply_rope: Any, draw: Inputs) -> Any:
    """Scores depend on the distance only; norms, dtype and device stay; half precision at large positions."""
    query, key, far = draw.normal(4, 6), draw.normal(5, 6), draw.size(50, 20, 90)
    near, moved = (scores_at(apply_rope, query, key, start) for start in (0, far))
    half, late = draw.normal(3, 4, dtype=torch.float16), draw.integer(2100, 2900)
    positions = draw.give(torch.tensor([1, 3, 8]) + late)
    there = made_there(lambda device: apply_rope(torch.ones(2, 3, 4, device=device)))
    return {
        f"the largest change of a score when all tokens move by {far}": largest(
            near - moved
        ),
        "the largest change of a norm": largest(
            apply_rope(query).norm(dim=-1) - query.norm(dim=-1)
        ),
        "in float16": apply_rope(half, positions),
        "created on the device of x": there,
    }


@check("alibi_bias", points=1, show=True)
def as_many_queries_as_keys(alibi_bias: Any, draw: Inputs) -> Any:
    """Four heads, as many queries as keys."""
    n = draw.size(3, 4, 7)
    return alibi_bias(4, n, n)


@check("alibi_bias", points=1, show=True)
def newest_queries(alibi_bias: Any, draw: Inputs) -> Any:
    """Fewer queries than keys, in three heads and in six."""
    few, more = draw.size(2, 2, 3), draw.size(3, 4, 5)
    return {
        f"alibi_bias(3, {few}, {few + 3})": alibi_bias(3, few, few + 3),
        f"alibi_bias(6, {more}, {more + 2})": alibi_bias(6, more, more + 2),
    }


@law("sinusoidal_positions")
def distances_alone(sinusoidal_positions: Any, draw: Inputs) -> bool:
    """The dot product of two positions depends on their distance alone."""
    table = sinusoidal_positions(9, 6)
    products = [(table[n:] * table[: 9 - n]).sum(dim=-1) for n in (1, 3)]
    return all(torch.allclose(p, p[:1].expand_as(p), atol=1e-3) for p in products)


@law("apply_rope")
def lengths_of_pairs(apply_rope: Any, draw: Inputs) -> bool:
    """A rotation keeps the length of each pair of entries: it mixes the two, and stretches neither."""
    x = draw.normal(4, 6)
    before, after = (t.unflatten(-1, (-1, 2)).norm(dim=-1) for t in (x, apply_rope(x)))
    return torch.allclose(before, after, atol=1e-3)


@law("apply_rope")
def position_zero(apply_rope: Any, draw: Inputs) -> bool:
    """At position 0 nothing is rotated."""
    x = draw.normal(1, 6)
    return torch.allclose(apply_rope(x), x, atol=1e-3)


@law("apply_rope")
def scores_by_distance(apply_rope: Any, draw: Inputs) -> bool:
    """The score of a rotated query and a rotated key depends on the distance of their positions alone."""
    query, key = draw.normal(4, 6), draw.normal(5, 6)
    near, far = (scores_at(apply_rope, query, key, start) for start in (0, 40))
    return torch.allclose(near, far, atol=1e-3)


@law("alibi_bias")
def bias_by_distance(alibi_bias: Any, draw: Inputs) -> bool:
    """The last query is at the last key, and each step away from it, to either side, costs the same."""
    last = alibi_bias(2, 3, 6)[0, -1]
    steps = last.diff()
    return bool(last[-1] == 0) and torch.allclose(steps, steps[:1].expand_as(steps))


@law("sinusoidal_positions")
def the_first_position(sinusoidal_positions: Any, draw: Inputs) -> bool:
    """At position 0 every sine is 0 and every cosine 1, in turn: 0, 1, 0, 1."""
    first = sinusoidal_positions(3, 6)[0]
    return torch.allclose(first.float(), torch.tensor([0.0, 1.0] * 3), atol=1e-4)


@law("sinusoidal_positions")
def one_angle_for_a_pair(sinusoidal_positions: Any, draw: Inputs) -> bool:
    """Entries 2i and 2i + 1 are sine and cosine of one angle: their squares sum to 1."""
    squares = sinusoidal_positions(7, 6).unflatten(-1, (-1, 2)).square().sum(dim=-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


@law("sinusoidal_positions")
def first_pairs_turn_fastest(sinusoidal_positions: Any, draw: Inputs) -> bool:
    """The first pair turns by 1 radian at each position, and every later pair more slowly."""
    table = sinusoidal_positions(2, 8, 16.0)
    angles = torch.atan2(table[1, 0::2], table[1, 1::2])
    return abs(float(angles[0]) - 1) < 1e-3 and bool((angles.diff() < 0).all())


@law("apply_rope")
def pairs_of_neighbors(apply_rope: Any, draw: Inputs) -> bool:
    """Entries 2i and 2i + 1 are a pair, and what the other entries hold does not change them."""
    x = draw.normal(4, 6)
    other = torch.cat([x[:, :2], x[:, 2:] + 3], dim=-1)
    return torch.allclose(apply_rope(x)[:, :2], apply_rope(other)[:, :2], atol=1e-3)


@law("apply_rope")
def first_pairs_turn_by_one(apply_rope: Any, draw: Inputs) -> bool:
    """At position 1 the first pair turns by 1 radian, counterclockwise: (1, 0) becomes (cos 1, sin 1)."""
    x = torch.tensor([[1.0, 0.0, 1.0, 0.0]] * 2)
    wanted = torch.tensor([0.5403, 0.8415])
    return torch.allclose(apply_rope(x)[1, :2].float(), wanted, atol=1e-3)


@law("apply_rope")
def no_token_meets_another(apply_rope: Any, draw: Inputs) -> bool:
    """A token is rotated by its own position, and no other token changes it."""
    x = draw.normal(2, 4, 6)
    other = torch.cat([x[:, :3] + 2, x[:, 3:]], dim=1)
    return torch.allclose(apply_rope(x)[:, 3:], apply_rope(other)[:, 3:], atol=1e-3)


@law("alibi_bias")
def slopes_of_the_heads(alibi_bias: Any, draw: Inputs) -> bool:
    """Each head's slope is the same part of the slope of the head before it, and the last one's is 2^-8."""
    slopes = -alibi_bias(4, 3, 3)[:, -1, -2]
    ratios = slopes[1:] / slopes[:-1]
    return (
        torch.allclose(ratios, torch.full_like(ratios, 0.25), atol=1e-4)
        and abs(float(slopes[-1]) * 256 - 1) < 1e-3
    )


@law("alibi_bias")
def never_a_reward(alibi_bias: Any, draw: Inputs) -> bool:
    """No entry is above 0: distance is a cost, to either side, and the key at the query's own position
    costs nothing.
    """
    bias = alibi_bias(2, 4, 4)
    return bool((bias <= 0).all()) and not bias.diagonal(dim1=-2, dim2=-1).any()
