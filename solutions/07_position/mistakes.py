"""The mistakes that students make in lesson 7, as edits of its solutions. Never given to students."""

import math

import torch

from autograder.checks import solution


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

sinusoidal = solution("sinusoidal_positions")
sinusoidal.mutant("sines_then_cosines", hint=2, body="""
    even = angles(length, d_model, base)
    return torch.cat([even.sin(), even.cos()[:, :d_model // 2]], dim=-1)""", says="All sines came first, then all "
    "cosines, as in some libraries. Here they alternate: sine, cosine, sine, cosine.")
sinusoidal.mutant("cosine_first", hint=2, body="""
    turns = angles(length, d_model, base)
    made = torch.empty(length, d_model)
    made[:, 0::2] = turns.cos()
    made[:, 1::2] = turns.sin()[:, :d_model // 2]
    return made""", says="Sine and cosine are swapped. The even entries, 0, 2, 4, are the sines.")
sinusoidal.mutant("cosines_then_sines", hint=2, body="""
    even = angles(length, d_model, base)
    return torch.cat([even.cos(), even.sin()[:, :d_model // 2]], dim=-1)""",
    says="All cosines came first, then all sines. Here they alternate, and the sine comes first.")
sinusoidal.mutant("only_sines", "angles.cos", "angles.sin", hint=2,
    says="Every entry is a sine. The odd entries are the cosines of the same angles.")
sinusoidal.mutant("only_cosines", "angles.sin", "angles.cos", hint=2,
    says="Every entry is a cosine. The even entries are the sines of the same angles.")
sinusoidal.mutant("angles_themselves", hint=2,
    body="return angles(length, d_model, base).repeat_interleave(2, 1)[:, :d_model]",
    says="These are the angles. What is asked for is the sine and the cosine of each.")
sinusoidal.mutant("exponent_of_each_entry", hint=3, body="""
    turns = torch.arange(length)[:, None] / powers(torch.arange(d_model), d_model, base)
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())""", says="Sine and cosine of a pair have different angles: "
    "each entry got an exponent of its own. Entries 2i and 2i + 1 share the exponent 2i / d_model.")
sinusoidal.mutant("i_over_d_model", hint=3, body="""
    pair = torch.arange((d_model + 1) // 2)
    turns = torch.arange(length)[:, None] / powers(pair, d_model, base)
    return table(turns, d_model)""",
    says="The exponent is i / d_model, where i counts the pairs. It should be 2i / d_model.")
sinusoidal.mutant("doubled_twice", hint=3, body="""
    even = torch.arange(length)[:, None] / powers(2 * torch.arange(0, d_model, 2), d_model, base)
    return table(even, d_model)""", says="The exponent of pair i is 4i / d_model, twice too large. It should be 2i / "
    "d_model, where i counts the pairs: 0, 1, 2.")
sinusoidal.mutant("pairs_from_one", body="""
    even = torch.arange(length)[:, None] / powers(torch.arange(2, d_model + 2, 2), d_model, base)
    return table(even[:, :(d_model + 1) // 2], d_model)""", says="Every exponent is one pair too far, as if the pairs "
    "were counted from 1. The first pair, i = 0, turns by p itself.")
sinusoidal.mutant("multiplied", "/ base", "* base",
    says="Later pairs turn faster: each angle is p times the power of the base. Divide p by it: later pairs turn more "
    "and more slowly.")
sinusoidal.mutant("one_speed", "torch.arange(length)[:, None] / base ** (even / d_model)",
    "torch.arange(length)[:, None]", says="All pairs turn at the same speed, as if every exponent were 0. It should be "
    "2i / d_model, which is a fraction; whole-number division, //, would make it 0.")
sinusoidal.mutant("slowest_reaches_the_base", hint=3, body="""
    even = torch.arange(length)[:, None] / base ** torch.linspace(0, 1, (d_model + 1) // 2)
    return table(even, d_model)""", says="The exponents run from 0 to 1, so the last pair turns by p / base, as in "
    "some libraries. Here pair i has the exponent 2i / d_model, which stays below 1.")
sinusoidal.mutant("whole_angles", body="return table(angles(length, d_model, base).floor(), d_model)",
    says="The angles are rounded down to whole numbers, as // does. Keep their fractions: divide with /.")
sinusoidal.mutant("degrees", body="return table(angles(length, d_model, base).deg2rad(), d_model)",
    says="The angles are too small by a factor of π / 180, as if they were degrees. They are radians already, which is "
    "what sin and cos expect.")
sinusoidal.mutant("whole_turns", body="return table(2 * math.pi * angles(length, d_model, base), d_model)",
    says="The angles are 2π times too large. p / base^(2i / d_model) is the angle itself, in radians.")
sinusoidal.mutant("positions_as_fractions", body="return table(angles(length, d_model, base) / length, d_model)",
    says="The positions are fractions of the length, p / length. A position is a whole number: 0, 1, 2 and so on.")
sinusoidal.mutant("from_position_one", body="return table(angles(length, d_model, base, first=1), d_model)",
    says="The positions start at 1. The first one is 0: its sines are 0 and its cosines 1.")
sinusoidal.mutant("length_in_the_exponent", "even / d_model", "even / length", hint=3,
    says="The exponent is 2i divided by the length of the sequence. Divide it by d_model.")
sinusoidal.mutant("lying_on_its_side", hint=1,
    body="return table(angles(length, d_model, base), d_model).mT.contiguous()",
    says="The table is transposed: (d_model, length). There is one row per position.")
sinusoidal.mutant("batch_in_front", body="return table(angles(length, d_model, base), d_model)[None]",
    says="There is an axis of size 1 in front. The table is (length, d_model); it broadcasts over a batch by itself.")
sinusoidal.mutant("batch_in_the_middle", body="return table(angles(length, d_model, base), d_model)[:, None]",
    says="There is an axis of size 1 in the middle, as in a well-known tutorial. The table is (length, d_model).")
sinusoidal.mutant("flat", body="return table(angles(length, d_model, base), d_model).squeeze(0)",
    says="A single position came back without its row, as a vector. The result always has two axes.")
sinusoidal.mutant("base_ignored", body="return table(angles(length, d_model, 10000.0), d_model)",
    says="Passing another base had no effect: the angles are still those of base 10000. They should follow from the "
    "argument `base`.")
sinusoidal.mutant("in_float64", body="return table(angles(length, d_model, base).double(), d_model)",
    says="The numbers are right, but the table is float64. It should be float32, PyTorch's usual dtype.")
sinusoidal.mutant("odd_not_expected", hint=3, body="""
    turns = angles(length, d_model, base)
    made = torch.zeros(length, d_model)
    made[:, 0::2] = turns.sin()
    made[:, 1::2] = turns.cos()
    return made""",
    says="It stopped where d_model is odd: there is one cosine fewer than sines. How many odd entries are there?")
sinusoidal.mutant("one_entry_too_many", hint=3, body="""
    even = angles(length, d_model, base)
    return torch.stack([even.sin(), even.cos()], dim=-1).flatten(1)""",
    says="Where d_model is odd, there is one entry too many: the last sine has no cosine.")
sinusoidal.mutant("one_entry_too_few", hint=3, body="""
    even = angles(length, d_model, base)[:, :d_model // 2]
    return torch.stack([even.sin(), even.cos()], dim=-1).flatten(1)""",
    says="Where d_model is odd, the last entry is missing: a sine without its cosine.")
sinusoidal.mutant("last_entry_zero", hint=3, body="""
    made = table(angles(length, d_model, base), d_model)
    if d_model % 2:
        made[:, -1] = 0.0
    return made""",
    says="Where d_model is odd, the last entry is 0 at every position. It is a sine, of an angle of its own.")
sinusoidal.mutant("logarithm_to_base_ten", body="""
    even = torch.arange(0, d_model, 2)
    turns = torch.arange(length)[:, None] * (-even * math.log10(base) / d_model).exp()
    return table(turns, d_model)""",
    says="The pairs slow down too little, as if the logarithm to the base 10 had met exp, which undoes the natural "
    "one. Use math.log, or a power of the base.")
sinusoidal.mutant("caret", body="""
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] / (base ^ even / d_model), d_model)""",
    says="In Python `^` is not a power but a bitwise operation. A power is written with **.")
sinusoidal.mutant("pairs_on_an_axis", hint=2, body="""
    even = angles(length, d_model, base)
    return torch.stack([even.sin(), even.cos()], dim=-1)""", says="Sines and cosines came back on an axis of their "
    "own. Interleave them along the last axis: (length, d_model).")
sinusoidal.mutant("sine_and_cosine_apart", hint=2, body="""
    even = angles(length, d_model, base)
    return (even.sin(), even.cos())""",
    says="Sines and cosines came back as two tensors. They belong in one table, in turn.")
sinusoidal.mutant("one_position_too_many", body="return table(angles(length + 1, d_model, base), d_model)",
    says="There is one position too many. `length` positions are 0 to length - 1.")
sinusoidal.mutant("one_position_only", hint=1,
    body="return table(angles(1, d_model, base, first=length - 1), d_model)[0]",
    says="Only the last position came back: one vector. The table has a row for each of them.")
sinusoidal.mutant("exponent_from_the_entry", hint=3, body="""
    turns = torch.arange(length)[:, None] / powers(2 * torch.arange(d_model), d_model, base)
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())""", says="The exponent is 2j / d_model with j the number of "
    "the entry. In 2i / d_model, i counts pairs: entries 2i and 2i + 1 share it.")
sinusoidal.mutant("power_before_the_fraction", body="""
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] / base ** even / d_model, d_model)""", says="The angles are p / "
    "base^(2i) / d_model: only 2i is in the exponent. The whole fraction 2i / d_model belongs there; as ** comes "
    "before /, it needs parentheses.")
sinusoidal.mutant("power_of_the_fraction", body="""
    even = torch.arange(0, d_model, 2)
    return table((torch.arange(length)[:, None] / base) ** (even / d_model), d_model)""",
    says="The angles are (p / base)^(2i / d_model). Only the base is raised to the power: p / base^(2i / d_model).")
sinusoidal.mutant("times_the_exponent", body="""
    even = torch.arange(0, d_model, 2) / d_model
    return table(torch.arange(length)[:, None] * even / base, d_model)""",
    says="The angles are p / base times 2i / d_model. The base is raised to that exponent, not multiplied by it: p / "
    "base^(2i / d_model).")
sinusoidal.mutant("cosines_never_written", hint=2, body="""
    made = torch.zeros(length, d_model)
    made[:, 0::2] = angles(length, d_model, base).sin()
    return made""", says="The odd entries are all 0. They are the cosines of the same angles.")
sinusoidal.mutant("sines_never_written", hint=2, body="""
    made = torch.zeros(length, d_model)
    made[:, 1::2] = angles(length, d_model, base).cos()[:, :d_model // 2]
    return made""", says="The even entries are all 0. They are the sines of the same angles.")
sinusoidal.mutant("angles_one_after_the_other", hint=2, body="""
    turns = angles(length, d_model, base)
    turns = torch.cat([turns, turns], dim=-1)[:, :d_model]
    even = torch.arange(d_model) % 2 == 0
    return torch.where(even, turns.sin(), turns.cos())""", says="Sines and cosines alternate, but the angles do not "
    "come in pairs: they belong to pairs 0, 1, 2, 0, 1, 2, where 0, 0, 1, 1, 2, 2 is needed.")
sinusoidal.mutant("table_of_integers", body="return table(angles(length, d_model, base), d_model).long()",
    says="The table holds integers, so every sine and cosine was cut down to 0 or 1. Make a table of float32.")
sinusoidal.mutant("positions_backward", body="return table(angles(length, d_model, base), d_model).flip(0)",
    says="The positions run backward. The first row belongs to position 0.")
sinusoidal.mutant("sine_of_a_tensor", body="return math.sin(angles(length, d_model, base))",
    says="It stopped where many numbers met a function that takes a single one, as those of math do. torch.sin and "
    "torch.cos take them all at once.")
sinusoidal.mutant("base_is_e", body="""
    even = torch.arange(0, d_model, 2)
    return table(torch.arange(length)[:, None] * (-even / d_model).exp(), d_model)""",
    says="The powers are powers of e, whatever the base is. With exp, the exponent needs the logarithm of the base as "
    "a factor.")

apply = solution("apply_rope")
apply.mutant("rotated_halves", hint=1, body="""
    turns = turns_of(x, positions, base)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + half_quarter(x) * sin).to(x.dtype)""", says="Entry i was paired with entry i + D/2. That is "
    "the layout of other libraries, and valid there; here the pairs are adjacent: 0 and 1, 2 and 3.")
apply.mutant("written_back_as_halves", "dim=-1", "dim=-2", hint=3, says="The pairs were rotated correctly but "
    "written back in two halves. Interleave them again: entry 2i, then 2i + 1.")
apply.mutant("halves_written_back_as_pairs", hint=1,
    body="return rope(torch.stack(halves(x), dim=-1).flatten(-2), positions, base)", says="Entry i was paired with "
    "entry i + D/2 and then written next to it. A pair is 2i and 2i + 1 before and after.")
apply.mutant("angles_in_halves", hint=2, body="""
    turns = turns_of(x, positions, base)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + interleaved_quarter(x) * sin).to(x.dtype)""", says="Two layouts are mixed: the pairs are "
    "adjacent, but the angles are lined up for halves, so the two entries of a pair turn by different angles.")
apply.mutant("halves_with_angles_of_pairs", hint=1, body="""
    turns = turns_of(x, positions, base)
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + half_quarter(x) * sin).to(x.dtype)""", says="Two layouts are mixed: the angles are lined up "
    "for adjacent pairs, but entry i was paired with entry i + D/2.")
apply.mutant("clockwise", body="""
    turns = turns_of(x, positions, base)
    return turned(x, turns.cos(), -turns.sin())""",
    says="The rotation is clockwise. Counterclockwise, (1, 0) moves toward (0, 1): check the sign of the sines.")
apply.mutant("both_signs_plus", "first * cos - second * sin", "first * cos + second * sin",
    says="Both entries of a pair add their sine term. In a rotation one of the two signs is minus.")
apply.mutant("sine_and_cosine_swapped", body="""
    turns = turns_of(x, positions, base)
    return turned(x, turns.sin(), turns.cos())""",
    says="Sine and cosine are swapped: at position 0 the angle is 0, and x should stay as it is.")
apply.mutant("entries_not_swapped", body="""
    turns = turns_of(x, positions, base)
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in (turns.cos(), turns.sin()))
    return (x * cos + x * sin).to(x.dtype)""",
    says="Each entry met its own sine. In a rotation the sine brings in the other entry of the pair.")
apply.mutant("overwritten_too_early", body="""
    turns = turns_of(x, positions, base)
    first, second = (x[..., 0::2], x[..., 1::2])
    first = first * turns.cos() - second * turns.sin()
    second = first * turns.sin() + second * turns.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(x.dtype)""",
    says="The second entry of each pair was computed from the first one already rotated. Both need the old values.")
apply.mutant("one_angle_for_all_pairs", hint=2, body="return rope(x, positions, base, step=0.0)",
    says="All pairs turn by the same angle. The angle of pair i is p / base^(2i / D): later pairs turn more slowly.")
apply.mutant("angle_of_each_entry", hint=2, body="""
    entry = torch.arange(x.size(-1), device=x.device) / x.size(-1)
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    turns = positions[..., None] / base ** entry
    return (x * turns.cos() + interleaved_quarter(x) * turns.sin()).to(x.dtype)""",
    says="The two entries of a pair have different angles: each entry got an exponent of its own. A pair shares one.")
apply.mutant("i_over_d", body="return rope(x, positions, base, step=1.0)",
    says="The exponent is i / D, where i counts the pairs. It should be 2i / D.")
apply.mutant("doubled_twice_here", body="return rope(x, positions, base, step=4.0)",
    says="The exponent of pair i is 4i / D, twice too large. It should be 2i / D, where i counts the pairs: 0, 1, 2.")
apply.mutant("slow_to_fast", body="return rope(x, positions, base, step=-2.0)",
    says="Later pairs turn faster: each angle is p times the power of the base. Divide p by it: the first pair turns "
    "fastest.")
apply.mutant("pairs_counted_from_one", body="""
    turns = turns_of(x, positions, base) / base ** (2 / x.size(-1))
    return turned(x, turns.cos(), turns.sin())""",
    says="Every exponent is one pair too far, as if the pairs were counted from 1. The first pair, i = 0, turns by p "
    "itself.")
apply.mutant("slowest_pair_reaches_the_base", body="""
    turns = turns_of(x, positions, base, width=max(x.size(-1) - 2, 1))
    return turned(x, turns.cos(), turns.sin())""",
    says="The exponents run from 0 to 1, so the last pair turns by p / base. Pair i has the exponent 2i / D.")
apply.mutant("frequencies_reversed", body="""
    turns = turns_of(x, positions, base).flip(-1)
    return turned(x, turns.cos(), turns.sin())""",
    says="The angles are in the wrong order: the last pair turns fastest. It should be the first.")
apply.mutant("in_degrees", body="""
    turns = turns_of(x, positions, base).deg2rad()
    return turned(x, turns.cos(), turns.sin())""",
    says="The angles are too small by a factor of π / 180, as if they were degrees. They are radians already, which is "
    "what sin and cos expect.")
apply.mutant("whole_circles", body="""
    turns = 2 * math.pi * turns_of(x, positions, base)
    return turned(x, turns.cos(), turns.sin())""",
    says="The angles are 2π times too large. p / base^(2i / D) is the angle itself, in radians.")
apply.mutant("angle_without_position", hint=2,
    body="return rope(x, torch.ones(x.size(-2), dtype=torch.long, device=x.device), base)",
    says="Every token turns by the same angle: the position plays no part. Multiply each frequency by the position.")
apply.mutant("left_as_it_was", body="return x.clone()",
    says="x came back as it was: nothing was rotated. Return the result of the rotation.")
apply.mutant("first_pair_only", "even / x.size(-1)", "even * x.size(-1)", hint=1,
    says="Only the first pair was rotated. Every pair turns, each at its own speed.")
apply.mutant("tokens_counted_from_one", body="return rope(x, positions, base, first=1)",
    says="The positions start at 1. By default they are 0 to L - 1, and the first token stays as it is.")
apply.mutant("sinusoids_added", body="""
    turns = turns_of(x, positions, base)
    return (x + torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(-2)).to(x.dtype)""",
    says="Sines and cosines were added to x, as in exercise 7.1. Here the entries of x are rotated, and norms stay.")
apply.mutant("sinusoids_multiplied", body="""
    turns = turns_of(x, positions, base)
    return (x * torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(-2)).to(x.dtype)""",
    says="x was multiplied entry by entry with sines and cosines. A rotation mixes the two entries of each pair.")
apply.mutant("only_scaled_by_cosines", body="""
    turns = turns_of(x, positions, base)
    return turned(x, turns.cos(), torch.zeros_like(turns))""",
    says="The entries were multiplied by cosines only. The sine terms are missing.")
apply.mutant("counted_along_the_batch",
    body="return rope(x, torch.arange(x.size(0)) if positions is None else positions, base)",
    says="It stopped where x has axes in front: there are as many angles as the first axis is long, which holds "
    "sentences. Tokens are the second-to-last axis.")
apply.mutant("counted_along_axis_one",
    body="return rope(x, torch.arange(x.size(1)) if positions is None else positions, base)", says="It stopped: there "
    "are as many angles as axis 1 is long, which holds tokens only in (B, L, D). Count axes from the end: -2.")
apply.mutant("tokens_paired", hint=1, body="return rope(x.mT[..., :x.size(-2) // 2 * 2], None, base).mT",
    says="Neighboring tokens were mixed with each other. A pair is two entries of the same token: slice the last "
    "axis.")
apply.mutant("three_axes_expected", hint=2, body="""
    _, _, _, _ = x.shape
    return rope(x, positions, base)""",
    says="It stopped unless x has exactly four axes. There may be fewer in front, or none: write x[...].")
apply.mutant("exactly_three_axes", hint=2, body="""
    _, _, _ = x.shape
    return rope(x, positions, base)""",
    says="It stopped unless x has exactly three axes. There may be none in front, or several: write x[...].")
apply.mutant("exactly_two_axes", hint=2, body="""
    _, _ = x.shape
    return rope(x, positions, base)""",
    says="It stopped where there are sentences and heads in front. Write x[...], and count axes from the end.")
apply.mutant("positions_not_used", body="return rope(x, None, base)",
    says="The positions that were passed in had no effect. After a cache, the first token is not at position 0.")
apply.mutant("first_position_only", body="""
    if positions is not None:
        steps = torch.arange(x.size(-2), device=x.device)
        positions = positions[..., :1] + steps
    return rope(x, positions, base)""",
    says="The tokens were counted on from the first given position. Each token has its own: there may be gaps.")
apply.mutant("sentences_share_positions", body="""
    if positions is not None:
        positions = positions.reshape(-1, x.size(-2))[0]
    return rope(x, positions, base)""",
    says="All sentences got the positions of the first one. Positions may differ from sentence to sentence.")
apply.mutant("positions_added_to_the_default", body="""
    if positions is not None:
        positions = positions + torch.arange(x.size(-2), device=x.device)
    return rope(x, positions, base)""", says="The given positions were added to the default ones. They replace them.")
apply.mutant("positions_as_a_truth", body="""
    positions = positions or torch.arange(x.size(-2), device=x.device)
    return rope(x, positions, base)""", says="It stopped because a tensor with several entries was used as True or "
    "False, as `or`, `if` and `not` do. To see whether positions were passed in, test `is None`.")
apply.mutant("none_as_positions", body="return rope(x, positions[..., :], base)",
    says="It stopped because something that is None was indexed. positions is None when nobody passes it in: use 0 to "
    "L - 1 then.")
apply.mutant("outer_product", hint=2, body="""
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    torch.outer(positions.double(), torch.ones(x.size(-1) // 2, dtype=torch.float64))
    return rope(x, positions, base)""", says="It stopped on positions of each sentence: torch.outer takes vectors "
    "only. Give the positions a last axis of size 1 and broadcast.")
apply.mutant("base_not_used", body="return rope(x, positions, 10000.0)",
    says="Passing another base had no effect: the angles are still those of base 10000. They should follow from the "
    "argument `base`.")
apply.mutant("x_overwritten", hint=3, body="""
    made = rope(x.detach(), positions, base)
    x.data[..., :] = made
    x += 0
    return x""", says="The values are right, but x itself was changed. Its owner still needs it: write the result into "
    "a new tensor.")
apply.mutant("x_overwritten_on_the_way", hint=3, body="""
    turns = turns_of(x, positions, base)
    first, second = (x[..., 0::2], x[..., 1::2])
    x[..., 0::2] = first * turns.cos() - second * turns.sin()
    x[..., 1::2] = first * turns.sin() + second * turns.cos()
    return x""", says="x itself was changed, and the second entry of each pair came out as if computed from the first "
    "one already rotated. Write into a new tensor.")
apply.mutant("angles_in_half_precision", hint=3, body="""
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    even = torch.arange(0, x.size(-1), 2, device=x.device, dtype=x.dtype)
    turns = positions[..., None].to(x.dtype) / base ** (even / x.size(-1))
    return turned(x, turns.cos(), turns.sin())""", says="In half precision the result is off, as if the angles had "
    "been computed in it: it cannot tell position 2100 from 2101. Compute them in float32, then convert the result.")
apply.mutant("everything_in_float32", hint=3, body="return rope(x, positions, base).float()",
    says="The result is float32 whatever x is. Compute in float32 if you like, but return the dtype of x.")
apply.mutant("created_on_the_cpu", "device=x.device, dtype=precise)", "dtype=precise)",
    says="Right, but not for an x on another device. Positions and frequencies have to be created where x is: device=.")
apply.mutant("pairs_left_apart", hint=3, body="return rope(x, positions, base).unflatten(-1, (-1, 2))",
    says="The pairs came back on an axis of their own: (..., L, D / 2, 2). Flatten the last two axes.")
apply.mutant("query_and_key", body="""
    made = rope(x, positions, base)
    return (made, made)""", says="Several tensors came back. The function rotates one tensor; it is called once for "
    "queries and once for keys.")
apply.mutant("last_pair_left_out", hint=1,
    body="return torch.cat([rope(x, positions, base)[..., :-2], x[..., -2:]], dim=-1)",
    says="The last pair was not rotated. All D / 2 pairs turn, the last one most slowly.")
apply.mutant("added_to_x", body="return x + rope(x, positions, base)",
    says="The rotated vectors were added to x. They replace it.")
apply.mutant("made_unit_vectors", body="""
    made = rope(x, positions, base)
    return made / made.norm(dim=-1, keepdim=True)""",
    says="The rotated vectors all have the norm 1. A rotation keeps the norm of x as it is.")
apply.mutant("real_parts_only", body="return rope(x, positions, base)[..., 0::2].repeat_interleave(2, dim=-1)",
    says="Both entries of a pair came out the same, as if the real part of a complex number had been taken twice. The "
    "second one is its imaginary part.")
apply.mutant("real_and_imaginary_mixed_up",
    body="return rope(x, positions, base).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)", says="The two entries of "
    "each pair are swapped in the result. The first one is cosine times first minus sine times second.")
apply.mutant("angles_meet_all_entries", hint=1, body="""
    turns = turns_of(x, positions, base)
    return x * turns.cos() + x * turns.sin()""",
    says="It stopped: D / 2 numbers met all D entries. There are D / 2 angles, and each belongs to two entries, a "
    "pair.")
apply.mutant("table_too_short", body="""
    turns = turns_of(x, None, base)
    if positions is not None:
        turns = turns[positions]
    return turned(x, turns.cos(), turns.sin())""", says="It stopped: a position was looked up where there are only L "
    "rows. After a cache, positions are larger than that: compute the angles from them.")
apply.mutant("power_before_fraction", body="""
    turns = turns_of(x, positions, base, width=1) / x.size(-1)
    return turned(x, turns.cos(), turns.sin())""",
    says="The angles are p / base^(2i) / D: only 2i is in the exponent. The whole fraction 2i / D belongs there; as ** "
    "comes before /, it needs parentheses.")
apply.mutant("counted_from_the_first_token", body="""
    if positions is not None:
        positions = positions - positions.min()
    return rope(x, positions, base)""", says="The angles begin at 0, whatever the first given position is. After a "
    "cache, they go on from the position itself.")
apply.mutant("cut_off", body="return rope(x.detach(), positions, base)", says="The result is right, but no gradient "
    "reaches x: something on the way drops the graph, as detach, .data, torch.tensor and numpy do.")

alibi = solution("alibi_bias")
alibi.mutant("distant_keys_win", hint=3, body="return -biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())",
    says="The bias is positive, so distant keys win. It is minus the slope times the distance.")
alibi.mutant("one_slope", hint=3,
    body="return biased(slopes_of(num_heads)[:1].expand(num_heads), steps_back(q_len, k_len).abs())",
    says="All heads have the same slope. Each head has its own: some look far, some near.")
alibi.mutant("slopes_in_a_line", body="""
    slopes = torch.arange(1, num_heads + 1) / num_heads
    return biased(slopes, steps_back(q_len, k_len).abs())""",
    says="The slopes grow in equal steps, h / H. They form a geometric series: 2 to the power of minus 8 h / H.")
alibi.mutant("no_slope", hint=3, body="return biased(torch.ones(num_heads), steps_back(q_len, k_len).abs())",
    says="This is minus the distance itself. The slope of the head is missing.")
alibi.mutant("top_left", hint=2, body="return biased(slopes_of(num_heads), steps_back(q_len, k_len, 0).abs())",
    says="The first query is at position 0. With cached keys, the queries are the newest tokens: the last query is "
    "at the last key.")
alibi.mutant("heads_from_zero", body="return biased(slopes_of(num_heads, first=0), steps_back(q_len, k_len).abs())",
    says="The first slope is 1, as if the heads were counted from 0. Count from 1.")
alibi.mutant("steepest_last", body="return biased(slopes_of(num_heads).flip(0), steps_back(q_len, k_len).abs())",
    says="The slopes are in reverse order. The first head has the steepest one.")
alibi.mutant("later_keys_rewarded", hint=3, body="return biased(slopes_of(num_heads), steps_back(q_len, k_len))",
    says="Keys after their query get a positive bias: the difference of the positions is negative there. A distance "
    "is never negative.")
alibi.mutant("earlier_keys_rewarded", hint=3, body="return biased(slopes_of(num_heads), -steps_back(q_len, k_len))",
    says="The bias is positive for earlier keys and negative for later ones: it has the sign of a difference. A "
    "distance is never negative.")
alibi.mutant("later_keys_at_zero", hint=3,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).clamp(min=0))",
    says="Keys after their query have a bias of 0. They have a distance too; hiding them is the causal mask's task.")
alibi.mutant("later_keys_hidden", body="""
    back = steps_back(q_len, k_len)
    return biased(slopes_of(num_heads), back.abs()).masked_fill(back < 0, -math.inf)""",
    says="Keys after their query have a bias of minus infinity. Hiding them is the causal mask's task; here they "
    "have a distance like any other.")
alibi.mutant("for_eight_heads_only",
    body="return biased(2.0 ** (-torch.arange(1, num_heads + 1)), steps_back(q_len, k_len).abs())",
    says="The slopes are 1/2, 1/4, 1/8 and so on, which is right for 8 heads only. The exponent is divided by the "
    "number of heads.")
alibi.mutant("eight_forgotten", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-heads / num_heads), steps_back(q_len, k_len).abs())""",
    says="The exponent is -h / H. The 8 is missing.")
alibi.mutant("upside_down_exponent", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-heads / (8 * num_heads)), steps_back(q_len, k_len).abs())""",
    says="The 8 is in the wrong place: h is divided by it. The exponent is minus 8h / H.")
alibi.mutant("exponents_divided_before", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8 * heads // num_heads), steps_back(q_len, k_len).abs())""",
    says="The exponents are rounded to whole numbers, as by //, which shows where H does not divide 8h. Divide with /.")
alibi.mutant("eight_over_heads_rounded", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-(8 // num_heads) * heads), steps_back(q_len, k_len).abs())""",
    says="8 / H is rounded down to a whole number, as by //, which drops the remainder. Divide with /.")
alibi.mutant("power_of_e", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased((-8 * heads / num_heads).exp(), steps_back(q_len, k_len).abs())""",
    says="The slopes are powers of e. They should be powers of 2.")
alibi.mutant("growing_slopes", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (8 * heads / num_heads), steps_back(q_len, k_len).abs())""", says="The exponent of the "
    "slope is positive, so slopes grow up to 256. The minus belongs in the exponent as well.")
alibi.mutant("exponents_as_slopes", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(8 * heads / num_heads, steps_back(q_len, k_len).abs())""",
    says="The exponent itself, 8h / H, was used as the slope. The slope is 2 to the power of minus that.")
alibi.mutant("slopes_over_heads", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8) * heads / num_heads, steps_back(q_len, k_len).abs())""",
    says="The slope is 2^(-8) times h / H. The fraction h / H belongs in the exponent.")
alibi.mutant("slopes_of_the_papers_code", "slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)",
    "distance = 2 ** math.floor(math.log2(num_heads))", "torch.arange(k_len - q_len, k_len)",
    "slopes_of(2 * distance)[0::2][:num_heads - distance]", "distance = (queries[:, None] - torch.arange(k_len)).abs()",
    "slopes = torch.cat([slopes_of(distance), queries])", "-slopes[:, None, None] * distance",
    "biased(slopes, steps_back(q_len, k_len).abs())",
    says="Right for 1, 2, 4, 8 heads. For other counts these are the slopes of the paper's code, which takes some "
    "from the next power of 2; here the formula holds for every count.")
alibi.mutant("distance_squared", body="return biased(slopes_of(num_heads), steps_back(q_len, k_len) ** 2)",
    says="The distance was squared. The bias falls in a straight line: that is the L in ALiBi.")
alibi.mutant("distance_from_one", hint=3,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs() + 1)",
    says="Every distance is one too large. A token has distance 0 to itself, and so a bias of 0.")
alibi.mutant("one_step_too_late", hint=2,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len, k_len - q_len + 1).abs())",
    says="The last query is one place after the last key. It is at the last key: its distance there is 0.")
alibi.mutant("one_step_too_early", hint=2,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len, k_len - q_len - 1).abs())",
    says="The last query is one place before the last key. It is at the last key: its distance there is 0.")
alibi.mutant("shifted_the_wrong_way", hint=2,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len, q_len - k_len).abs())",
    says="With more keys than queries, the queries moved to the left, before the first key. They are the newest "
    "tokens.")
alibi.mutant("from_the_first_key", hint=1, body="""
    keys = torch.arange(k_len).expand(q_len, k_len)
    return -biased(slopes_of(num_heads), keys)""",
    says="The bias depends on the key alone: its distance to the first key. After softmax that can amount to the "
    "same for causal attention, but here the distance to the query is asked for.")
alibi.mutant("from_the_last_key", hint=1, body="""
    keys = (k_len - 1 - torch.arange(k_len)).expand(q_len, k_len)
    return biased(slopes_of(num_heads), keys)""", says="The bias depends on the key alone: its distance to the last "
    "key. Each query measures from its own position.")
alibi.mutant("one_row_of_keys", hint=1, body="return -biased(slopes_of(num_heads), torch.arange(k_len)[None])",
    says="The bias has a single row of keys, as in some libraries: (H, 1, S). Each query has its own row.")
alibi.mutant("factors", hint=3, body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).exp()",
    says="These are factors between 0 and 1, exp of the bias, to multiply weights by. The bias itself is added to "
    "the scores.")
alibi.mutant("square_only", hint=2, body="return biased(slopes_of(num_heads), steps_back(k_len, k_len).abs())",
    says="There are as many rows as keys. There is one row per query: the last q_len of these.")
alibi.mutant("keys_ignored", hint=1, body="return biased(slopes_of(num_heads), steps_back(q_len, q_len).abs())",
    says="There are as many columns as queries. There is one column per key.")
alibi.mutant("keys_down", body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).mT",
    says="The table is transposed: rows belong to queries, columns to keys.")
alibi.mutant("heads_last", hint=3,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).permute(1, 2, 0)",
    says="The heads are the last axis. They come first: (H, L, S).")
alibi.mutant("heads_in_the_middle", hint=3,
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).transpose(0, 1)",
    says="The heads are in the middle. They come first: (H, L, S).")
alibi.mutant("heads_missing", hint=3, body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())[0]",
    says="The axis of the heads is missing. Each head has a table of its own: (H, L, S).")
alibi.mutant("batch_in_front_too", body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs())[None]",
    says="There is an axis of size 1 in front. The bias is (H, L, S); it broadcasts over the batch by itself.")
alibi.mutant("slopes_meet_the_keys", hint=3, body="return -slopes_of(num_heads) * steps_back(q_len, k_len).abs()",
    says="It stopped: the slopes met the axis of the keys. Give them two axes of size 1 behind: (H, 1, 1).")
alibi.mutant("slopes_with_one_axis", hint=3,
    body="return -slopes_of(num_heads)[:, None] * steps_back(q_len, k_len).abs()",
    says="It stopped: the slopes have one axis behind them and need two, (H, 1, 1), to meet queries and keys.")
alibi.mutant("bias_in_float64", body="return biased(slopes_of(num_heads).double(), steps_back(q_len, k_len).abs())",
    says="The numbers are right, but the bias is float64. It should be float32, PyTorch's usual dtype.")
alibi.mutant("whole_numbers", body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).long()",
    says="The bias holds integers, so slope times distance is cut down to whole numbers. It should be float32.")
alibi.mutant("slopes_returned", hint=3, body="return slopes_of(num_heads)",
    says="These are the slopes alone, one number per head. Multiply them by the distances: (H, L, S).")
alibi.mutant("earlier_keys_at_zero", hint=3,
    body="return biased(slopes_of(num_heads), (-steps_back(q_len, k_len)).clamp(min=0))",
    says="Keys before their query have a bias of 0, and only later ones lose. A distance counts in both directions.")
alibi.mutant("one_over_the_exponent", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(num_heads / (8 * heads), steps_back(q_len, k_len).abs())""",
    says="The slope is 1 divided by 8h / H. It is 2 to the power of minus 8h / H.")
alibi.mutant("eight_over_h", body="""
    heads = torch.arange(1, num_heads + 1)
    return biased(2.0 ** (-8 / heads), steps_back(q_len, k_len).abs())""",
    says="The exponent is minus 8 / h. It is minus 8h / H: the number of the head above, the number of heads below.")
alibi.mutant("heads_forgotten_in_the_exponent", "-8 * torch.arange(1, num_heads + 1) / num_heads",
    "-8 * torch.arange(1, num_heads + 1)", says="The exponent is minus 8h. It is divided by the number of heads.")
alibi.mutant("whole_power", body="""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) // num_heads)
    return biased(slopes, steps_back(q_len, k_len).abs())""",
    says="The bias is the integer 0 everywhere, as when a whole number is raised to a negative power and rounded "
    "down. Use 2.0 and /.")
alibi.mutant("logarithm_of_the_distance",
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs().add(1).log())",
    says="The bias falls with the logarithm of the distance. It falls in a straight line: slope times distance.")
alibi.mutant("slopes_evenly_spaced", body="""
    slopes = torch.linspace(0.5, 2.0 ** (-8), num_heads)
    return biased(slopes, steps_back(q_len, k_len).abs())""",
    says="The slopes are evenly spaced. They are powers: each is the one before times the same factor.")
alibi.mutant("softmax_applied",
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs()).softmax(dim=-1)",
    says="Softmax was applied to the bias. Return the bias itself: softmax comes after it has been added to the "
    "scores.")
alibi.mutant("positive_at_the_top_left", hint=2,
    body="return -biased(slopes_of(num_heads), steps_back(q_len, k_len, 0).abs())", says="Two things: the bias "
    "should be negative, and the last query is at the last key, not the first at the first.")
alibi.mutant("fractions_of_the_keys",
    body="return biased(slopes_of(num_heads), steps_back(q_len, k_len).abs() / k_len)",
    says="The distance is a fraction of the number of keys. It is counted in tokens, the same for every length.")
