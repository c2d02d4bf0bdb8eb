"""The hidden checks of lesson 7, and the mistakes that students make in it. Never given to students."""

import math
from typing import Any

import torch
from checks import largest, scores_at

from autograder.checks import Inputs, check, mistake

# Sinusoids


@check("sinusoidal_positions", points=1)
def smallest_tables(sinusoidal_positions: Any, draw: Inputs) -> Any:
    """Edge: a single position, a single entry, a single pair."""
    length = draw.integer(4, 9)
    return (
        sinusoidal_positions(1, 1),
        sinusoidal_positions(length, 1),
        sinusoidal_positions(length, 2),
        sinusoidal_positions(1, 2),
    )


@check("sinusoidal_positions", points=1)
def tables_of_a_model(sinusoidal_positions: Any, draw: Inputs) -> Any:
    """Long tables, dimensions of real models, bases as an int and by keyword."""
    length, base = draw.integer(150, 300), draw.integer(50, 5000)
    return (
        sinusoidal_positions(length, 64),
        sinusoidal_positions(length=length // 5, d_model=33, base=base),
        sinusoidal_positions(length // 3, 128, 500_000.0),
    )


def angles(length, d_model, base, first=0):
    """Return the angle of each pair at each position, with a pair of its own for an odd entry."""
    even = torch.arange(0, d_model, 2)
    return torch.arange(first, first + length)[:, None] / base ** (even / d_model)


def table(turns, d_model):
    """Write the sines to even entries and the cosines to odd ones."""
    made = torch.empty(turns.size(0), d_model, dtype=turns.dtype)
    made[:, 0::2] = turns.sin()
    made[:, 1::2] = turns.cos()[:, : d_model // 2]
    return made


def powers(exponents, d_model, base):
    """Return a power of the base for each exponent."""
    return base ** (exponents / d_model)


@mistake("sinusoidal_positions", hint=2)
def sines_then_cosines(length, d_model, base=10_000.0):
    """All sines came first, then all cosines, as in some libraries. Here they alternate: sine, cosine, sine, cosine."""
    turns = angles(length, d_model, base)
    return torch.cat([turns.sin(), turns.cos()[:, : d_model // 2]], dim=-1)


@mistake("sinusoidal_positions", hint=2)
def cosine_first(length, d_model, base=10_000.0):
    """Sine and cosine are swapped. The even entries, 0, 2, 4, are the sines."""
    turns = angles(length, d_model, base)
    made = torch.empty(length, d_model)
    made[:, 0::2] = turns.cos()
    made[:, 1::2] = turns.sin()[:, : d_model // 2]
    return made


@mistake("sinusoidal_positions", hint=2)
def cosines_then_sines(length, d_model, base=10_000.0):
    """All cosines came first, then all sines. Here they alternate, and the sine comes first."""
    turns = angles(length, d_model, base)
    return torch.cat([turns.cos(), turns.sin()[:, : d_model // 2]], dim=-1)


@mistake("sinusoidal_positions", hint=2)
def only_sines(length, d_model, base=10_000.0):
    """Every entry is a sine. The odd entries are the cosines of the same angles."""
    return angles(length, d_model, base).sin().repeat_interleave(2, 1)[:, :d_model]


@mistake("sinusoidal_positions", hint=2)
def only_cosines(length, d_model, base=10_000.0):
    """Every entry is a cosine. The even entries are the sines of the same angles."""
    return angles(length, d_model, base).cos().repeat_interleave(2, 1)[:, :d_model]


@mistake("sinusoidal_positions", hint=2)
def angles_themselves(length, d_model, base=10_000.0):
    """These are the angles. What is asked for is the sine and the cosine of each."""
    return angles(length, d_model, base).repeat_interleave(2, 1)[:, :d_model]


@mistake("sinusoidal_positions", hint=3)
def exponent_of_each_entry(length, d_model, base=10_000.0):
    """Sine and cosine of a pair have different angles: each entry got an exponent of its own. Entries 2i and 2i + 1
    share the exponent 2i / d_model.
    """
    turns = torch.arange(length)[:, None] / powers(torch.arange(d_model), d_model, base)
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())


@mistake("sinusoidal_positions", hint=3)
def exponent_of_the_next_entry(length, d_model, base=10_000.0):
    """The cosine of a pair uses the exponent of the next pair. It has the angle of its sine: 2i, not 2i + 2."""
    turns = torch.arange(length)[:, None] / powers(
        torch.arange(d_model + 1) // 2 * 2, d_model, base
    )
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns[:, :-1].sin(), turns[:, 1:].roll(-1, 1).cos())


@mistake("sinusoidal_positions", hint=3)
def i_over_d_model(length, d_model, base=10_000.0):
    """The exponent is i / d_model, where i counts the pairs. It should be 2i / d_model."""
    pair = torch.arange((d_model + 1) // 2)
    turns = torch.arange(length)[:, None] / powers(pair, d_model, base)
    return table(turns, d_model)


@mistake("sinusoidal_positions", hint=3)
def doubled_twice(length, d_model, base=10_000.0):
    """The exponents are twice too large, as if 2i had been doubled once more. What does your i count: pairs, or entries
    in steps of 2?
    """
    turns = torch.arange(length)[:, None] / powers(
        2 * torch.arange(0, d_model, 2), d_model, base
    )
    return table(turns, d_model)


@mistake("sinusoidal_positions")
def pairs_from_one(length, d_model, base=10_000.0):
    """The pairs are counted from 1, so every exponent is one pair too far. The first pair, i = 0, turns by p itself."""
    turns = torch.arange(length)[:, None] / powers(
        torch.arange(2, d_model + 2, 2), d_model, base
    )
    return table(turns[:, : (d_model + 1) // 2], d_model)


@mistake("sinusoidal_positions")
def multiplied(length, d_model, base=10_000.0):
    """The positions were multiplied by the power of the base. Divide: later pairs turn more and more slowly."""
    turns = torch.arange(length)[:, None] * powers(
        torch.arange(0, d_model, 2), d_model, base
    )
    return table(turns, d_model)


@mistake("sinusoidal_positions")
def one_speed(length, d_model, base=10_000.0):
    """All pairs turn at the same speed: the exponent came out as 0 everywhere. Is there a whole-number division, //?"""
    turns = torch.arange(length)[:, None].expand(-1, (d_model + 1) // 2)
    return table(turns.float(), d_model)


@mistake("sinusoidal_positions", hint=3)
def slowest_reaches_the_base(length, d_model, base=10_000.0):
    """The exponents run from 0 to 1, so the last pair turns by p / base, as in some libraries. Here pair i has the
    exponent 2i / d_model, which stays below 1.
    """
    turns = torch.arange(length)[:, None] / base ** torch.linspace(
        0, 1, (d_model + 1) // 2
    )
    return table(turns, d_model)


@mistake("sinusoidal_positions")
def whole_angles(length, d_model, base=10_000.0):
    """The angles were rounded down to whole numbers by //. Divide with /."""
    return table(angles(length, d_model, base).floor(), d_model)


@mistake("sinusoidal_positions")
def degrees(length, d_model, base=10_000.0):
    """The angles were treated as degrees. They are radians already, which is what sin and cos expect."""
    return table(angles(length, d_model, base).deg2rad(), d_model)


@mistake("sinusoidal_positions")
def whole_turns(length, d_model, base=10_000.0):
    """The angles were multiplied by 2π. p / base^(2i / d_model) is the angle itself, in radians."""
    return table(2 * math.pi * angles(length, d_model, base), d_model)


@mistake("sinusoidal_positions")
def half_turns(length, d_model, base=10_000.0):
    """The angles were multiplied by π. p / base^(2i / d_model) is the angle itself, in radians."""
    return table(math.pi * angles(length, d_model, base), d_model)


@mistake("sinusoidal_positions")
def positions_as_fractions(length, d_model, base=10_000.0):
    """The positions were divided by the length, so they end at 1. A position is a whole number: 0, 1, 2 and so on."""
    return table(angles(length, d_model, base) / length, d_model)


@mistake("sinusoidal_positions")
def from_position_one(length, d_model, base=10_000.0):
    """The positions start at 1. The first one is 0: its sines are 0 and its cosines 1."""
    return table(angles(length, d_model, base, first=1), d_model)


@mistake("sinusoidal_positions", hint=3)
def length_in_the_exponent(length, d_model, base=10_000.0):
    """In the exponent, 2i was divided by the length of the sequence. Divide it by d_model."""
    return table(
        torch.arange(length)[:, None]
        / powers(torch.arange(0, d_model, 2), length, base),
        d_model,
    )


@mistake("sinusoidal_positions", hint=3)
def roles_swapped(length, d_model, base=10_000.0):
    """Positions and entries changed roles: the position is in the exponent, and the number of the pair is divided."""
    pair = torch.arange((d_model + 1) // 2)
    turns = pair / powers(2 * torch.arange(length)[:, None], d_model, base)
    return table(turns, d_model)


@mistake("sinusoidal_positions", hint=1)
def lying_on_its_side(length, d_model, base=10_000.0):
    """The table is transposed: (d_model, length). There is one row per position."""
    return table(angles(length, d_model, base), d_model).mT.contiguous()


@mistake("sinusoidal_positions")
def batch_in_front(length, d_model, base=10_000.0):
    """There is an axis of size 1 in front. The table is (length, d_model); it broadcasts over a batch by itself."""
    return table(angles(length, d_model, base), d_model)[None]


@mistake("sinusoidal_positions")
def batch_in_the_middle(length, d_model, base=10_000.0):
    """There is an axis of size 1 in the middle, as in a well-known tutorial. The table is (length, d_model)."""
    return table(angles(length, d_model, base), d_model)[:, None]


@mistake("sinusoidal_positions")
def flat(length, d_model, base=10_000.0):
    """A single position came back without its row, as a vector. The result always has two axes."""
    return table(angles(length, d_model, base), d_model).squeeze(0)


@mistake("sinusoidal_positions")
def base_ignored(length, d_model, base=10_000.0):
    """Passing another base had no effect: is 10000 written in the code?"""
    return table(angles(length, d_model, 10_000.0), d_model)


@mistake("sinusoidal_positions")
def in_float64(length, d_model, base=10_000.0):
    """The numbers are right, but the table is float64, which is what NumPy makes. It should be float32."""
    return table(angles(length, d_model, base).double(), d_model)


@mistake("sinusoidal_positions", hint=3)
def odd_not_expected(length, d_model, base=10_000.0):
    """It stopped where d_model is odd: there is one cosine fewer than sines. How many odd entries are there?"""
    turns = angles(length, d_model, base)
    made = torch.zeros(length, d_model)
    made[:, 0::2] = turns.sin()
    made[:, 1::2] = turns.cos()
    return made


@mistake("sinusoidal_positions", hint=3)
def odd_not_expected_pairs(length, d_model, base=10_000.0):
    """It stopped where d_model is odd: d_model // 2 pairs leave the last sine without an angle."""
    turns = angles(length, d_model, base)[:, : d_model // 2]
    made = torch.zeros(length, d_model)
    made[:, 0::2] = turns.sin()
    made[:, 1::2] = turns.cos()
    return made


@mistake("sinusoidal_positions", hint=3)
def one_entry_too_many(length, d_model, base=10_000.0):
    """Where d_model is odd, there is one entry too many: the last sine has no cosine."""
    turns = angles(length, d_model, base)
    return torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)


@mistake("sinusoidal_positions", hint=3)
def one_entry_too_few(length, d_model, base=10_000.0):
    """Where d_model is odd, the last entry is missing: a sine without its cosine."""
    turns = angles(length, d_model, base)[:, : d_model // 2]
    return torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(1)


@mistake("sinusoidal_positions", hint=3)
def last_entry_zero(length, d_model, base=10_000.0):
    """Where d_model is odd, the last entry is 0 at every position. It is a sine, of an angle of its own."""
    made = table(angles(length, d_model, base), d_model)
    if d_model % 2:
        made[:, -1] = 0.0
    return made


@mistake("sinusoidal_positions", hint=3)
def last_entry_cosine(length, d_model, base=10_000.0):
    """Where d_model is odd, the last entry is a cosine. Entry d_model - 1 is even then, so it is a sine."""
    made = table(angles(length, d_model, base), d_model)
    if d_model % 2:
        made[:, -1] = angles(length, d_model, base)[:, -1].cos()
    return made


@mistake("sinusoidal_positions", hint=3)
def made_even_first(length, d_model, base=10_000.0):
    """Where d_model is odd, the angles are those of a table with one more entry. Divide 2i by d_model
    as it is.
    """
    even = d_model + d_model % 2
    return table(angles(length, even, base), even)[:, :d_model]


@mistake("sinusoidal_positions", hint=3)
def rounded_down_to_even(length, d_model, base=10_000.0):
    """Where d_model is odd, 2i was divided by d_model rounded down to even. Divide it by d_model as it is."""
    turns = torch.arange(length)[:, None] / powers(
        torch.arange(0, d_model, 2), max(d_model // 2 * 2, 1), base
    )
    return table(turns, d_model)


@mistake("sinusoidal_positions")
def logarithm_to_base_ten(length, d_model, base=10_000.0):
    """The logarithm to the base 10 met exp, which undoes the natural one. Use math.log, or a power of the base."""
    even = torch.arange(0, d_model, 2)
    turns = torch.arange(length)[:, None] * (-even * math.log10(base) / d_model).exp()
    return table(turns, d_model)


@mistake("sinusoidal_positions")
def caret(length, d_model, base=10_000.0):
    """In Python `^` is not a power but a bitwise operation. A power is written with **."""
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] / (base ^ (even / d_model)), d_model)


@mistake("sinusoidal_positions", hint=2)
def pairs_on_an_axis(length, d_model, base=10_000.0):
    """Sines and cosines came back on an axis of their own. Interleave them along the last axis: (length, d_model)."""
    turns = angles(length, d_model, base)
    return torch.stack([turns.sin(), turns.cos()], dim=-1)


@mistake("sinusoidal_positions", hint=2)
def sine_and_cosine_apart(length, d_model, base=10_000.0):
    """Sines and cosines came back as two tensors. They belong in one table, in turn."""
    turns = angles(length, d_model, base)
    return turns.sin(), turns.cos()


@mistake("sinusoidal_positions")
def one_position_too_many(length, d_model, base=10_000.0):
    """There is one position too many. `length` positions are 0 to length - 1."""
    return table(angles(length + 1, d_model, base), d_model)


@mistake("sinusoidal_positions", hint=1)
def one_position_only(length, d_model, base=10_000.0):
    """Only the last position came back: one vector. The table has a row for each of them."""
    return table(angles(1, d_model, base, first=length - 1), d_model)[0]


@mistake("sinusoidal_positions", hint=3)
def exponent_from_the_entry(length, d_model, base=10_000.0):
    """The exponent is 2j / d_model with j the number of the entry. In 2i / d_model, i counts pairs: entries 2i and
    2i + 1 share it.
    """
    turns = torch.arange(length)[:, None] / powers(
        2 * torch.arange(d_model), d_model, base
    )
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())


@mistake("sinusoidal_positions")
def cosine_of_the_sine(length, d_model, base=10_000.0):
    """The cosines were taken of the sines: the angles were overwritten before both were computed."""
    turns = angles(length, d_model, base)
    made = table(turns, d_model)
    made[:, 1::2] = turns.sin().cos()[:, : d_model // 2]
    return made


@mistake("sinusoidal_positions")
def power_before_the_fraction(length, d_model, base=10_000.0):
    """The power was computed before its exponent was divided by d_model: ** comes before /. Put the fraction in
    parentheses.
    """
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] / base**even / d_model, d_model)


@mistake("sinusoidal_positions")
def power_of_the_fraction(length, d_model, base=10_000.0):
    """The whole fraction p / base was raised to the power. Only the base is: p / base^(2i / d_model)."""
    even = torch.arange(0, d_model, 2)
    return table((torch.arange(length)[:, None] / base) ** (even / d_model), d_model)


@mistake("sinusoidal_positions")
def times_the_exponent(length, d_model, base=10_000.0):
    """The base was multiplied by the exponent instead of raised to it. A power is written with **."""
    fraction = torch.arange(0, d_model, 2) / d_model
    return table(torch.arange(length)[:, None] * fraction / base, d_model)


@mistake("sinusoidal_positions", hint=2)
def cosines_never_written(length, d_model, base=10_000.0):
    """The odd entries are still 0. They are the cosines of the same angles."""
    made = torch.zeros(length, d_model)
    made[:, 0::2] = angles(length, d_model, base).sin()
    return made


@mistake("sinusoidal_positions", hint=2)
def sines_never_written(length, d_model, base=10_000.0):
    """The even entries are still 0. They are the sines of the same angles."""
    made = torch.zeros(length, d_model)
    made[:, 1::2] = angles(length, d_model, base).cos()[:, : d_model // 2]
    return made


@mistake("sinusoidal_positions", hint=2)
def angles_one_after_the_other(length, d_model, base=10_000.0):
    """Sines and cosines alternate, but the angles do not come in pairs: they were repeated as a whole, 0, 1, 2, 0, 1,
    2, where 0, 0, 1, 1, 2, 2 is needed.
    """
    turns = angles(length, d_model, base)
    turns = torch.cat([turns, turns], dim=-1)[:, :d_model]
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())


@mistake("sinusoidal_positions")
def table_of_integers(length, d_model, base=10_000.0):
    """The table holds integers, so every sine and cosine was cut down to 0 or 1. Make a table of float32."""
    return table(angles(length, d_model, base), d_model).long()


@mistake("sinusoidal_positions")
def positions_backward(length, d_model, base=10_000.0):
    """The positions run backward. The first row belongs to position 0."""
    return table(angles(length, d_model, base), d_model).flip(0)


@mistake("sinusoidal_positions", hint=3)
def first_cosine_dropped(length, d_model, base=10_000.0):
    """Where d_model is odd, the wrong cosine was left out: the first instead of the last. The last sine is alone."""
    turns = angles(length, d_model, base)
    made = table(turns, d_model)
    made[:, 1::2] = turns[:, d_model % 2 :].cos()
    return made


@mistake("sinusoidal_positions")
def sine_of_a_tensor(length, d_model, base=10_000.0):
    """It stopped because math.sin takes one number, and here are many. torch.sin takes them all at once."""
    return math.sin(angles(length, d_model, base))


@mistake("sinusoidal_positions")
def base_is_e(length, d_model, base=10_000.0):
    """The powers are powers of e: exp needs the logarithm of the base as a factor."""
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] * (-even / d_model).exp(), d_model)


# Rotations


@check("apply_rope", points=1)
def learning_and_small_sizes(apply_rope: Any, draw: Inputs) -> Any:
    """Gradients; edge: a single token, a single pair, no axes in front."""
    x = draw.normal(2, 3, 4).requires_grad_()
    (apply_rope(x) * draw.normal(2, 3, 4)).sum().backward()
    alone, late = draw.normal(1, 4), draw.give(torch.tensor([draw.integer(10, 40)]))
    return (
        x.grad,
        apply_rope(alone),
        apply_rope(alone, late),
        apply_rope(draw.normal(2, 3, 5, 2)),
    )


@check("apply_rope", points=1)
def a_long_cache(apply_rope: Any, draw: Inputs) -> Any:
    """Precision of every dtype; positions of each sentence; distances far from the start."""
    x, start, moved = (
        draw.normal(2, 3, 4, 8),
        draw.integer(1100, 1900),
        draw.integer(100, 200),
    )
    steps = draw.give(torch.tensor([[[0, 1, 2, 4]], [[7, 9, 20, 8]]]) + start)
    query, key = draw.normal(3, 8), draw.normal(3, 8)
    near, far = (scores_at(apply_rope, query, key, at) for at in (0, moved))
    dtypes = (torch.float16, torch.bfloat16, torch.float32)
    kept = [
        apply_rope(draw.give(x.detach().to(dtype)), steps, base=500.0)
        for dtype in dtypes
    ]
    step = 100 * (apply_rope(x + 0.01 * query[0]) - apply_rope(x))  # rounding shows
    return kept, apply_rope(x, steps.int()), largest(near - far), step


def turns_of(x, positions=None, base=10_000.0, *, first=0, step=2.0, width=None):
    """Return the angle of each pair, with positions, exponents or dimension changed."""
    if positions is None:
        positions = torch.arange(first, first + x.size(-2), device=x.device)
    precise = torch.promote_types(x.dtype, torch.float32)
    pair = torch.arange(x.size(-1) // 2, device=x.device, dtype=precise)
    return positions[..., None] / base ** (step * pair / (width or x.size(-1)))


def turned(x, cos, sin):
    """Rotate the pairs counterclockwise."""
    first, second = x[..., 0::2].to(cos.dtype), x[..., 1::2].to(cos.dtype)
    pairs = [first * cos - second * sin, first * sin + second * cos]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


def rope(x, positions=None, base=10_000.0, **changes):
    """Rotate as asked for, but for the changes."""
    turns = turns_of(x, positions, base, **changes)
    return turned(x, turns.cos(), turns.sin())


def halves(x):
    """Cut the last axis in two."""
    return x[..., : x.size(-1) // 2], x[..., x.size(-1) // 2 :]


def interleaved_quarter(x):
    """Turn each adjacent pair by a quarter."""
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)


def half_quarter(x):
    """Turn each pair of halves by a quarter."""
    first, second = halves(x)
    return torch.cat([-second, first], dim=-1)


@mistake("apply_rope", hint=1)
def rotated_halves(x, positions=None, base=10_000.0):
    """Entry i was paired with entry i + D/2. That is the layout of other libraries, and valid there; here the pairs are
    adjacent: 0 and 1, 2 and 3.
    """
    turns = turns_of(x, positions, base)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + half_quarter(x) * sin).to(x.dtype)


@mistake("apply_rope", hint=3)
def written_back_as_halves(x, positions=None, base=10_000.0):
    """The pairs were rotated correctly but written back in two halves. Interleave them again: entry 2i, then 2i + 1."""
    made = rope(x, positions, base)
    return torch.cat([made[..., 0::2], made[..., 1::2]], dim=-1)


@mistake("apply_rope", hint=1)
def halves_written_back_as_pairs(x, positions=None, base=10_000.0):
    """Entry i was paired with entry i + D/2 and then written next to it. A pair is 2i and 2i + 1 before and after."""
    return rope(torch.stack(halves(x), dim=-1).flatten(-2), positions, base)


@mistake("apply_rope", hint=2)
def angles_in_halves(x, positions=None, base=10_000.0):
    """Two layouts are mixed: the pairs are adjacent, but the angles are lined up for halves, so the two entries of a
    pair turn by different angles.
    """
    turns = turns_of(x, positions, base)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + interleaved_quarter(x) * sin).to(x.dtype)


@mistake("apply_rope", hint=1)
def halves_with_angles_of_pairs(x, positions=None, base=10_000.0):
    """Two layouts are mixed: the angles are lined up for adjacent pairs, but entry i was paired with entry i + D/2."""
    turns = turns_of(x, positions, base)
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + half_quarter(x) * sin).to(x.dtype)


@mistake("apply_rope")
def clockwise(x, positions=None, base=10_000.0):
    """The rotation is clockwise. Counterclockwise, (1, 0) moves toward (0, 1): check the sign of the sines."""
    turns = turns_of(x, positions, base)
    return turned(x, turns.cos(), -turns.sin())


@mistake("apply_rope")
def both_signs_minus(x, positions=None, base=10_000.0):
    """Both entries of a pair subtract their sine term, which is a reflection, not a rotation. One of the two adds."""
    turns = turns_of(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]
    cos, sin = turns.cos(), turns.sin()
    pairs = [first * cos - second * sin, second * cos - first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


@mistake("apply_rope")
def both_signs_plus(x, positions=None, base=10_000.0):
    """Both entries of a pair add their sine term. In a rotation one of the two signs is minus."""
    turns = turns_of(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]
    cos, sin = turns.cos(), turns.sin()
    pairs = [first * cos + second * sin, second * cos + first * sin]
    return torch.stack(pairs, dim=-1).flatten(-2).to(x.dtype)


@mistake("apply_rope")
def sine_and_cosine_swapped(x, positions=None, base=10_000.0):
    """Sine and cosine are swapped: at position 0 the angle is 0, and x should stay as it is."""
    turns = turns_of(x, positions, base)
    return turned(x, turns.sin(), turns.cos())


@mistake("apply_rope")
def entries_not_swapped(x, positions=None, base=10_000.0):
    """Each entry met its own sine. In a rotation the sine brings in the other entry of the pair."""
    turns = turns_of(x, positions, base)
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + x * sin).to(x.dtype)


@mistake("apply_rope")
def overwritten_too_early(x, positions=None, base=10_000.0):
    """The second entry of each pair was computed from the first one already rotated. Both need the old values."""
    turns = turns_of(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]
    first = first * turns.cos() - second * turns.sin()
    second = first * turns.sin() + second * turns.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(x.dtype)


@mistake("apply_rope")
def overwritten_too_early_second(x, positions=None, base=10_000.0):
    """The first entry of each pair was computed from the second one already rotated. Both need the old values."""
    turns = turns_of(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]
    second = first * turns.sin() + second * turns.cos()
    first = first * turns.cos() - second * turns.sin()
    return torch.stack([first, second], dim=-1).flatten(-2).to(x.dtype)


@mistake("apply_rope", hint=2)
def one_angle_for_all_pairs(x, positions=None, base=10_000.0):
    """All pairs turn by the same angle. The angle of pair i is p / base^(2i / D): later pairs turn more slowly."""
    return rope(x, positions, base, step=0.0)


@mistake("apply_rope", hint=2)
def angle_of_each_entry(x, positions=None, base=10_000.0):
    """The two entries of a pair have different angles: each entry got an exponent of its own. A pair shares one."""
    entry = torch.arange(x.size(-1), device=x.device) / x.size(-1)
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    turns = positions[..., None] / base**entry
    return (x * turns.cos() + interleaved_quarter(x) * turns.sin()).to(x.dtype)


@mistake("apply_rope")
def i_over_d(x, positions=None, base=10_000.0):
    """The exponent is i / D, where i counts the pairs. It should be 2i / D."""
    return rope(x, positions, base, step=1.0)


@mistake("apply_rope")
def doubled_twice_here(x, positions=None, base=10_000.0):
    """The exponents are twice too large: 2i / D, where i counts the pairs, was doubled once more."""
    return rope(x, positions, base, step=4.0)


@mistake("apply_rope")
def slow_to_fast(x, positions=None, base=10_000.0):
    """The positions were multiplied by the power of the base. Divide: the first pair turns fastest."""
    return rope(x, positions, base, step=-2.0)


@mistake("apply_rope")
def pairs_counted_from_one(x, positions=None, base=10_000.0):
    """The pairs are counted from 1. The first pair, i = 0, turns by p itself."""
    turns = turns_of(x, positions, base) / base ** (2 / x.size(-1))
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def slowest_pair_reaches_the_base(x, positions=None, base=10_000.0):
    """The exponents run from 0 to 1, so the last pair turns by p / base. Pair i has the exponent 2i / D."""
    turns = turns_of(x, positions, base, width=max(x.size(-1) - 2, 1))
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def frequencies_reversed(x, positions=None, base=10_000.0):
    """The angles are in the wrong order: the last pair turns fastest. It should be the first."""
    turns = turns_of(x, positions, base).flip(-1)
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def in_degrees(x, positions=None, base=10_000.0):
    """The angles were treated as degrees. They are radians already, which is what sin and cos expect."""
    turns = turns_of(x, positions, base).deg2rad()
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def whole_circles(x, positions=None, base=10_000.0):
    """The angles were multiplied by 2π. p / base^(2i / D) is the angle itself, in radians."""
    turns = 2 * math.pi * turns_of(x, positions, base)
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope", hint=2)
def angle_without_position(x, positions=None, base=10_000.0):
    """Every token turns by the same angle: the position plays no part. Multiply each frequency by the position."""
    return rope(x, torch.ones(x.size(-2), dtype=torch.long, device=x.device), base)


@mistake("apply_rope")
def left_as_it_was(x, positions=None, base=10_000.0):
    """x came back as it was: nothing was rotated. Is the result of the rotation what you return?"""
    return x.clone()


@mistake("apply_rope", hint=1)
def first_pair_only(x, positions=None, base=10_000.0):
    """Only the first pair was rotated. Every pair turns, each at its own speed."""
    return torch.cat([rope(x, positions, base)[..., :2], x[..., 2:]], dim=-1)


@mistake("apply_rope")
def tokens_counted_from_one(x, positions=None, base=10_000.0):
    """The positions start at 1. By default they are 0 to L - 1, and the first token stays as it is."""
    return rope(x, positions, base, first=1)


@mistake("apply_rope")
def sinusoids_added(x, positions=None, base=10_000.0):
    """Sines and cosines were added to x, as in exercise 7.1. Here the entries of x are rotated, and norms stay."""
    turns = turns_of(x, positions, base)
    return (x + torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(-2)).to(x.dtype)


@mistake("apply_rope")
def sinusoids_multiplied(x, positions=None, base=10_000.0):
    """x was multiplied entry by entry with sines and cosines. A rotation mixes the two entries of each pair."""
    turns = turns_of(x, positions, base)
    return (x * torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(-2)).to(x.dtype)


@mistake("apply_rope")
def only_scaled_by_cosines(x, positions=None, base=10_000.0):
    """The entries were multiplied by cosines only. The sine terms are missing."""
    turns = turns_of(x, positions, base)
    return turned(x, turns.cos(), torch.zeros_like(turns))


@mistake("apply_rope")
def counted_along_the_batch(x, positions=None, base=10_000.0):
    """The positions were counted along the first axis, which holds sentences as soon as there is a batch. Tokens are
    the second-to-last axis.
    """
    return rope(x, torch.arange(x.size(0)) if positions is None else positions, base)


@mistake("apply_rope")
def counted_along_axis_one(x, positions=None, base=10_000.0):
    """The positions were counted along axis 1, which holds tokens only in (B, L, D). Count axes from the end: -2."""
    return rope(x, torch.arange(x.size(1)) if positions is None else positions, base)


@mistake("apply_rope")
def heads_as_positions(x, positions=None, base=10_000.0):
    """Right for a single sequence. With sentences and heads in front, the wrong axis was counted: every token of a head
    turns by the same angle.
    """
    if positions is not None or x.dim() < 3:
        return rope(x, positions, base)
    return rope(x.transpose(-2, -3), None, base).transpose(-2, -3)


@mistake("apply_rope", hint=1)
def tokens_paired(x, positions=None, base=10_000.0):
    """Neighboring tokens were mixed with each other. A pair is two entries of the same token: slice the last axis."""
    return rope(x.mT[..., : x.size(-2) // 2 * 2], None, base).mT


@mistake("apply_rope", hint=2)
def three_axes_expected(x, positions=None, base=10_000.0):
    """It stopped unless x has exactly four axes. There may be fewer in front, or none: write x[...]."""
    _, _, _, _ = x.shape
    return rope(x, positions, base)


@mistake("apply_rope", hint=2)
def exactly_three_axes(x, positions=None, base=10_000.0):
    """It stopped unless x has exactly three axes. There may be none in front, or several: write x[...]."""
    _, _, _ = x.shape
    return rope(x, positions, base)


@mistake("apply_rope", hint=2)
def exactly_two_axes(x, positions=None, base=10_000.0):
    """It stopped where there are sentences and heads in front. Write x[...], and count axes from the end."""
    _, _ = x.shape
    return rope(x, positions, base)


@mistake("apply_rope")
def positions_not_used(x, positions=None, base=10_000.0):
    """The positions that were passed in had no effect. After a cache, the first token is not at position 0."""
    return rope(x, None, base)


@mistake("apply_rope")
def first_position_only(x, positions=None, base=10_000.0):
    """The tokens were counted on from the first given position. Each token has its own: there may be gaps."""
    if positions is not None:
        steps = torch.arange(x.size(-2), device=x.device)
        positions = positions[..., :1] + steps
    return rope(x, positions, base)


@mistake("apply_rope")
def sentences_share_positions(x, positions=None, base=10_000.0):
    """All sentences got the positions of the first one. Positions may differ from sentence to sentence."""
    if positions is not None:
        positions = positions.reshape(-1, x.size(-2))[0]
    return rope(x, positions, base)


@mistake("apply_rope")
def positions_added_to_the_default(x, positions=None, base=10_000.0):
    """The given positions were added to the default ones. They replace them."""
    if positions is not None:
        positions = positions + torch.arange(x.size(-2), device=x.device)
    return rope(x, positions, base)


@mistake("apply_rope")
def positions_as_a_truth(x, positions=None, base=10_000.0):
    """It stopped because a tensor of positions was used as True or False, with `or`, `if` or `not`. Test whether it
    `is None`.
    """
    positions = positions or torch.arange(x.size(-2), device=x.device)
    return rope(x, positions, base)


@mistake("apply_rope")
def none_as_positions(x, positions=None, base=10_000.0):
    """It stopped because positions is None when nobody passes it in. Use 0 to L - 1 then."""
    return rope(x, positions[..., :], base)


@mistake("apply_rope", hint=2)
def outer_product(x, positions=None, base=10_000.0):
    """It stopped on positions of each sentence: torch.outer takes vectors only. Give the positions a last axis of size
    1 and broadcast.
    """
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    torch.outer(positions.double(), torch.ones(x.size(-1) // 2, dtype=torch.float64))
    return rope(x, positions, base)


@mistake("apply_rope", hint=2)
def axis_in_second_place(x, positions=None, base=10_000.0):
    """The new axis of the positions is the second one, which is last only for a vector. Count from the end: pairs are
    the last axis.
    """
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    even = torch.arange(0, x.size(-1), 2, device=x.device)
    turns = positions[:, None] / base ** (even / x.size(-1))
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def base_not_used(x, positions=None, base=10_000.0):
    """Passing another base had no effect: is 10000 written in the code?"""
    return rope(x, positions, 10_000.0)


@mistake("apply_rope", hint=3)
def x_overwritten(x, positions=None, base=10_000.0):
    """The values are right, but x itself was changed: the rotation was written into it. Its owner still needs it."""
    made = rope(x.detach(), positions, base)
    x.data[..., :] = made
    x += 0
    return x


@mistake("apply_rope", hint=3)
def x_overwritten_on_the_way(x, positions=None, base=10_000.0):
    """The rotation was written into x, and its second half was computed from entries already overwritten. Write into a
    new tensor.
    """
    turns = turns_of(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = first * turns.cos() - second * turns.sin()
    x[..., 1::2] = first * turns.sin() + second * turns.cos()
    return x


@mistake("apply_rope", hint=3)
def angles_in_half_precision(x, positions=None, base=10_000.0):
    """The angles were computed in half precision, which cannot tell position 2101 from 2102. Compute them in float32,
    then convert the result.
    """
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    even = torch.arange(0, x.size(-1), 2, device=x.device, dtype=x.dtype)
    turns = positions[..., None].to(x.dtype) / base ** (even / x.size(-1))
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope", hint=3)
def everything_in_float32(x, positions=None, base=10_000.0):
    """The result is float32 whatever x is. Compute in float32 if you like, but return the dtype of x."""
    return rope(x, positions, base).float()


@mistake("apply_rope", hint=3)
def half_promoted(x, positions=None, base=10_000.0):
    """Half precision went in and float32 came out: the angles promoted it. Convert the result to the dtype of x."""
    turns = turns_of(x, positions, base)
    made = rope(x, positions, base)
    return made.to(torch.promote_types(x.dtype, turns.dtype))


@mistake("apply_rope")
def created_on_the_cpu(x, positions=None, base=10_000.0):
    """Right, but the positions or frequencies are always created on the default device. Create them where x is:
    device=.
    """
    if positions is None:
        positions = torch.arange(x.size(-2))
    even = torch.arange(0, x.size(-1), 2)
    turns = positions[..., None] / base ** (even / x.size(-1))
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope", hint=3)
def pairs_left_apart(x, positions=None, base=10_000.0):
    """The pairs came back on an axis of their own: (..., L, D / 2, 2). Flatten the last two axes."""
    return rope(x, positions, base).unflatten(-1, (-1, 2))


@mistake("apply_rope", hint=3)
def stacked_before_flattening(x, positions=None, base=10_000.0):
    """First and second entries were stacked along an axis other than the last, so flattening did not alternate them."""
    made = rope(x, positions, base)
    return torch.stack([made[..., 0::2], made[..., 1::2]], dim=-3).reshape(x.shape)


@mistake("apply_rope")
def query_and_key(x, positions=None, base=10_000.0):
    """Several tensors came back. The function rotates one tensor; it is called once for queries and once for keys."""
    made = rope(x, positions, base)
    return made, made


@mistake("apply_rope", hint=1)
def halves_clockwise(x, positions=None, base=10_000.0):
    """Two things: entry i was paired with entry i + D/2, where the pairs should be adjacent, 0 and 1, and the rotation
    is clockwise.
    """
    turns = turns_of(x, positions, base)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos - half_quarter(x) * sin).to(x.dtype)


@mistake("apply_rope", hint=1)
def last_pair_left_out(x, positions=None, base=10_000.0):
    """The last pair was not rotated. There are D / 2 pairs: does a loop stop one too early?"""
    return torch.cat([rope(x, positions, base)[..., :-2], x[..., -2:]], dim=-1)


@mistake("apply_rope")
def added_to_x(x, positions=None, base=10_000.0):
    """The rotated vectors were added to x. They replace it."""
    return x + rope(x, positions, base)


@mistake("apply_rope")
def fractions_of_the_length(x, positions=None, base=10_000.0):
    """The positions were divided by the length. A position is a whole number, the same whatever the length."""
    turns = turns_of(x, positions, base) / x.size(-2)
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def made_unit_vectors(x, positions=None, base=10_000.0):
    """The rotated vectors were divided by their norm. A rotation keeps the norm as it is."""
    made = rope(x, positions, base)
    return made / made.norm(dim=-1, keepdim=True)


@mistake("apply_rope")
def real_parts_only(x, positions=None, base=10_000.0):
    """Both entries of a pair came out the same: the real part of a complex number. The second one is the imaginary
    part.
    """
    return rope(x, positions, base)[..., 0::2].repeat_interleave(2, dim=-1)


@mistake("apply_rope")
def real_and_imaginary_mixed_up(x, positions=None, base=10_000.0):
    """The two entries of each pair are swapped in the result. The first one is cosine times first minus sine times
    second.
    """
    return rope(x, positions, base).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


@mistake("apply_rope", hint=1)
def angles_meet_all_entries(x, positions=None, base=10_000.0):
    """It stopped: there are D / 2 angles, and they met all D entries. Each angle belongs to two entries, a pair."""
    turns = turns_of(x, positions, base)
    return x * turns.cos() + x * turns.sin()


@mistake("apply_rope", hint=2)
def positions_flattened(x, positions=None, base=10_000.0):
    """It stopped on positions of each sentence: they were made into one long vector. Keep their axes, and add one at
    the end.
    """
    if positions is not None:
        positions = positions.reshape(-1)
    return rope(x, positions, base)


@mistake("apply_rope")
def table_too_short(x, positions=None, base=10_000.0):
    """It stopped: the angles were looked up in a table with L rows. After a cache, positions are larger than that:
    compute the angles from them.
    """
    turns = turns_of(x, None, base)
    if positions is not None:
        turns = turns[positions]
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope")
def power_before_fraction(x, positions=None, base=10_000.0):
    """The power was computed before its exponent was divided by D: ** comes before /. Put it in parentheses."""
    turns = turns_of(x, positions, base, width=1) / x.size(-1)
    return turned(x, turns.cos(), turns.sin())


@mistake("apply_rope", hint=1)
def rolled_by_one(x, positions=None, base=10_000.0):
    """The sine met the entry before, not the other one of the pair: the last axis was moved by one as a whole."""
    turns = turns_of(x, positions, base).repeat_interleave(2, dim=-1)
    return (x * turns.cos() + x.roll(1, -1) * turns.sin()).to(x.dtype)


@mistake("apply_rope")
def counted_from_the_first_token(x, positions=None, base=10_000.0):
    """The first given position was subtracted from all. After a cache, the angles go on from the position itself."""
    if positions is not None:
        positions = positions - positions.min()
    return rope(x, positions, base)


@mistake("apply_rope")
def cut_off(x, positions=None, base=10_000.0):
    """The result is right, but no gradient reaches x: something on the way drops the graph, as detach,
    .data, torch.tensor and numpy do.
    """
    return rope(x.detach(), positions, base)


# Biases


@check("alibi_bias", points=1)
def many_heads_and_long_sequences(alibi_bias: Any, draw: Inputs) -> Any:
    """Edge: one head, one query, one key; many heads; long sequences."""
    n = draw.integer(30, 60)
    return (
        alibi_bias(1, 1, 1),
        alibi_bias(1, 1, 5),
        alibi_bias(12, 3, 4),
        alibi_bias(8, n, 2 * n),
        alibi_bias(num_heads=2, q_len=5, k_len=5),
    )


def slopes_of(num_heads, first=1):
    """Return the slope of each head."""
    heads = torch.arange(first, first + num_heads)
    return 2.0 ** (-8 * heads / num_heads)


def steps_back(q_len, k_len, start=None):
    """Return query position minus key position."""
    start = k_len - q_len if start is None else start
    return torch.arange(start, start + q_len)[:, None] - torch.arange(k_len)


def biased(slopes, distance):
    """Return minus slope times distance."""
    return -slopes[:, None, None] * distance


@mistake("alibi_bias", hint=3)
def distant_keys_win(num_heads, q_len, k_len):
    """The bias is positive, so distant keys win. It is minus the slope times the distance."""
    return -biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias", hint=3)
def one_slope(num_heads, q_len, k_len):
    """All heads have the same slope. Each head has its own: some look far, some near."""
    return biased(
        slopes_of(num_heads)[:1].expand(num_heads), steps_back(q_len, k_len).abs()
    )


@mistake("alibi_bias")
def slopes_in_a_line(num_heads, q_len, k_len):
    """The slopes grow in equal steps, h / H. They form a geometric series: 2 to the power of minus 8 h / H."""
    slopes = torch.arange(1, num_heads + 1) / num_heads
    return biased(slopes, steps_back(q_len, k_len).abs())


@mistake("alibi_bias", hint=3)
def no_slope(num_heads, q_len, k_len):
    """This is minus the distance itself. The slope of the head is missing."""
    return biased(torch.ones(num_heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias", hint=2)
def top_left(num_heads, q_len, k_len):
    """The first query is at position 0. With cached keys, the queries are the newest tokens: the last query is at the
    last key.
    """
    return biased(slopes_of(num_heads), steps_back(q_len, k_len, 0).abs())


@mistake("alibi_bias")
def heads_from_zero(num_heads, q_len, k_len):
    """The heads are counted from 0, so the first slope is 1. Count from 1."""
    return biased(slopes_of(num_heads, first=0), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def steepest_last(num_heads, q_len, k_len):
    """The slopes are in reverse order. The first head has the steepest one."""
    return biased(slopes_of(num_heads).flip(0), steps_back(q_len, k_len).abs())


@mistake("alibi_bias", hint=3)
def later_keys_rewarded(num_heads, q_len, k_len):
    """Keys after their query get a positive bias: the difference of the positions is negative there. A distance is
    never negative.
    """
    return biased(slopes_of(num_heads), steps_back(q_len, k_len))


@mistake("alibi_bias", hint=3)
def earlier_keys_rewarded(num_heads, q_len, k_len):
    """The bias is positive for earlier keys and negative for later ones: it has the sign of a difference. A distance is
    never negative.
    """
    return biased(slopes_of(num_heads), -steps_back(q_len, k_len))


@mistake("alibi_bias", hint=3)
def later_keys_at_zero(num_heads, q_len, k_len):
    """Keys after their query have a bias of 0. They have a distance too; hiding them is the causal mask's task."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).clamp(min=0))


@mistake("alibi_bias")
def later_keys_hidden(num_heads, q_len, k_len):
    """Keys after their query have a bias of minus infinity. Hiding them is the causal mask's task; here they have a
    distance like any other.
    """
    back = steps_back(q_len, k_len)
    return biased(slopes_of(num_heads), back.abs()).masked_fill(back < 0, -math.inf)


@mistake("alibi_bias")
def for_eight_heads_only(num_heads, q_len, k_len):
    """The slopes are 1/2, 1/4, 1/8 and so on, which is right for 8 heads only. The exponent is divided by the number of
    heads.
    """
    return biased(
        2.0 ** -torch.arange(1, num_heads + 1), steps_back(q_len, k_len).abs()
    )


@mistake("alibi_bias")
def eight_forgotten(num_heads, q_len, k_len):
    """The exponent is -h / H. The 8 is missing."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-heads / num_heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def upside_down_exponent(num_heads, q_len, k_len):
    """The 8 is in the wrong place: h is divided by it. The exponent is minus 8h / H."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-heads / (8 * num_heads)), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def exponents_divided_before(num_heads, q_len, k_len):
    """The exponents were rounded to whole numbers by //, which shows where H does not divide 8h. Divide with /."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8 * heads // num_heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def eight_over_heads_rounded(num_heads, q_len, k_len):
    """8 was divided by the number of heads with //, which drops the remainder. Divide with /."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-(8 // num_heads) * heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def power_of_e(num_heads, q_len, k_len):
    """The slopes are powers of e. They are powers of 2."""
    heads = torch.arange(1, num_heads + 1)
    return biased((-8 * heads / num_heads).exp(), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def growing_slopes(num_heads, q_len, k_len):
    """The exponent of the slope is positive, so slopes grow up to 256. The minus belongs in the exponent as well."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (8 * heads / num_heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def exponents_as_slopes(num_heads, q_len, k_len):
    """The exponent itself, 8h / H, was used as the slope. The slope is 2 to the power of minus that."""
    heads = torch.arange(1, num_heads + 1)
    return biased(8 * heads / num_heads, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def slopes_over_heads(num_heads, q_len, k_len):
    """The slope is 2^(-8) times h / H. The fraction h / H belongs in the exponent."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0**-8 * heads / num_heads, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def slopes_of_the_papers_code(num_heads, q_len, k_len):
    """Right for 1, 2, 4, 8 heads. For other counts these are the slopes of the paper's code, which takes some from the
    next power of 2; here the formula holds for every count.
    """
    power = 2 ** math.floor(math.log2(num_heads))
    more = slopes_of(2 * power)[0::2][: num_heads - power]
    slopes = torch.cat([slopes_of(power), more])
    return biased(slopes, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def distance_squared(num_heads, q_len, k_len):
    """The distance was squared. The bias falls in a straight line: that is the L in ALiBi."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len) ** 2)


@mistake("alibi_bias", hint=3)
def distance_from_one(num_heads, q_len, k_len):
    """Every distance is one too large. A token has distance 0 to itself, and so a bias of 0."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs() + 1)


@mistake("alibi_bias", hint=2)
def one_step_too_late(num_heads, q_len, k_len):
    """The last query is one place after the last key. It is at the last key: its distance there is 0."""
    return biased(
        slopes_of(num_heads), steps_back(q_len, k_len, k_len - q_len + 1).abs()
    )


@mistake("alibi_bias", hint=2)
def one_step_too_early(num_heads, q_len, k_len):
    """The last query is one place before the last key. It is at the last key: its distance there is 0."""
    return biased(
        slopes_of(num_heads), steps_back(q_len, k_len, k_len - q_len - 1).abs()
    )


@mistake("alibi_bias", hint=2)
def shifted_the_wrong_way(num_heads, q_len, k_len):
    """With more keys than queries, the queries moved to the left, before the first key. They are the newest tokens."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len, q_len - k_len).abs())


@mistake("alibi_bias", hint=1)
def from_the_first_key(num_heads, q_len, k_len):
    """The bias depends on the key alone: its distance to the first key. After softmax that can amount to the same for
    causal attention, but here the distance to the query is asked for.
    """
    keys = torch.arange(k_len).expand(q_len, k_len)
    return -biased(slopes_of(num_heads), keys)


@mistake("alibi_bias", hint=1)
def from_the_last_key(num_heads, q_len, k_len):
    """The bias depends on the key alone: its distance to the last key. Each query measures from its own position."""
    keys = (k_len - 1 - torch.arange(k_len)).expand(q_len, k_len)
    return biased(slopes_of(num_heads), keys)


@mistake("alibi_bias", hint=1)
def one_row_of_keys(num_heads, q_len, k_len):
    """The bias has a single row of keys, as in some libraries: (H, 1, S). Each query has its own row."""
    return -biased(slopes_of(num_heads), torch.arange(k_len)[None])


@mistake("alibi_bias", hint=3)
def factors(num_heads, q_len, k_len):
    """These are factors between 0 and 1, exp of the bias, to multiply weights by. The bias itself is added to the
    scores.
    """
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).exp()


@mistake("alibi_bias", hint=2)
def square_only(num_heads, q_len, k_len):
    """There are as many rows as keys. There is one row per query: the last q_len of these."""
    return biased(slopes_of(num_heads), steps_back(k_len, k_len).abs())


@mistake("alibi_bias", hint=1)
def keys_ignored(num_heads, q_len, k_len):
    """There are as many columns as queries. There is one column per key."""
    return biased(slopes_of(num_heads), steps_back(q_len, q_len).abs())


@mistake("alibi_bias")
def keys_down(num_heads, q_len, k_len):
    """The table is transposed: rows belong to queries, columns to keys."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).mT


@mistake("alibi_bias", hint=3)
def heads_last(num_heads, q_len, k_len):
    """The heads are the last axis. They come first: (H, L, S)."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).permute(1, 2, 0)


@mistake("alibi_bias", hint=3)
def heads_in_the_middle(num_heads, q_len, k_len):
    """The heads are in the middle. They come first: (H, L, S)."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).transpose(0, 1)


@mistake("alibi_bias", hint=3)
def heads_missing(num_heads, q_len, k_len):
    """The axis of the heads is missing. Each head has a table of its own: (H, L, S)."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())[0]


@mistake("alibi_bias")
def batch_in_front_too(num_heads, q_len, k_len):
    """There is an axis of size 1 in front. The bias is (H, L, S); it broadcasts over the batch by itself."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())[None]


@mistake("alibi_bias", hint=3)
def slopes_meet_the_keys(num_heads, q_len, k_len):
    """It stopped: the slopes met the axis of the keys. Give them two axes of size 1 behind: (H, 1, 1)."""
    return -slopes_of(num_heads) * steps_back(q_len, k_len).abs()


@mistake("alibi_bias", hint=3)
def slopes_with_one_axis(num_heads, q_len, k_len):
    """It stopped: the slopes have one axis behind them and need two, (H, 1, 1), to meet queries and keys."""
    return -slopes_of(num_heads)[:, None] * steps_back(q_len, k_len).abs()


@mistake("alibi_bias")
def bias_in_float64(num_heads, q_len, k_len):
    """The numbers are right, but the bias is float64, which is what NumPy makes. It should be float32."""
    return biased(slopes_of(num_heads).double(), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def whole_numbers(num_heads, q_len, k_len):
    """The bias holds whole numbers only: it was rounded, or written into a tensor of integers. It should be float32."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).long()


@mistake("alibi_bias", hint=3)
def slopes_returned(num_heads, q_len, k_len):
    """These are the slopes alone, one number per head. Multiply them by the distances: (H, L, S)."""
    return slopes_of(num_heads)


@mistake("alibi_bias", hint=3)
def earlier_keys_at_zero(num_heads, q_len, k_len):
    """Keys before their query have a bias of 0, and only later ones lose. A distance counts in both directions."""
    return biased(slopes_of(num_heads), (-steps_back(q_len, k_len)).clamp(min=0))


@mistake("alibi_bias")
def one_over_the_exponent(num_heads, q_len, k_len):
    """The slope is 1 divided by 8h / H. It is 2 to the power of minus 8h / H."""
    heads = torch.arange(1, num_heads + 1)
    return biased(num_heads / (8 * heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def eight_over_h(num_heads, q_len, k_len):
    """The exponent is minus 8 / h. It is minus 8h / H: the number of the head above, the number of heads below."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8 / heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def heads_forgotten_in_the_exponent(num_heads, q_len, k_len):
    """The exponent is minus 8h. It is divided by the number of heads."""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8 * heads), steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def last_head_forgotten(num_heads, q_len, k_len):
    """The last head has a bias of 0 everywhere. The heads are 1 to H, both included."""
    slopes = slopes_of(num_heads)
    slopes[-1] = 0.0
    return biased(slopes, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def whole_power(num_heads, q_len, k_len):
    """The slopes came out as the integer 0: a whole number to a negative power is rounded down. Use 2.0 and /."""
    slopes = torch.zeros(num_heads, dtype=torch.long)
    return biased(slopes, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def logarithm_of_the_distance(num_heads, q_len, k_len):
    """The bias falls with the logarithm of the distance. It falls in a straight line: slope times distance."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs().add(1).log())


@mistake("alibi_bias")
def slopes_evenly_spaced(num_heads, q_len, k_len):
    """The slopes are evenly spaced. They are powers: each is the one before times the same factor."""
    slopes = torch.linspace(0.5, 2.0**-8, num_heads)
    return biased(slopes, steps_back(q_len, k_len).abs())


@mistake("alibi_bias")
def softmax_applied(num_heads, q_len, k_len):
    """Softmax was applied to the bias. Return the bias itself: softmax comes after it has been added to the scores."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).softmax(dim=-1)


@mistake("alibi_bias", hint=2)
def positive_at_the_top_left(num_heads, q_len, k_len):
    """Two things: the bias should be negative, and the last query is at the last key, not the first at the first."""
    return -biased(slopes_of(num_heads), steps_back(q_len, k_len, 0).abs())


@mistake("alibi_bias")
def fractions_of_the_keys(num_heads, q_len, k_len):
    """The distance was divided by the number of keys. It is counted in tokens, the same for every length."""
    return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs() / k_len)
