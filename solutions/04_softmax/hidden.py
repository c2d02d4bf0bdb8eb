"""The hidden checks of lesson 4, and the mistakes that students make in it. Never given to students."""

import math
from typing import Any

import torch
from checks import both_ways, what_happens

from autograder.checks import Inputs, check, mistake

# A softmax that does not overflow


@check("stable_softmax", points=1)
def other_axes_in_half_precision(stable_softmax: Any, draw: Inputs) -> Any:
    """Other axes, and half precision with scores beyond the range of exp."""
    x = draw.give(20 + draw.normal(2, 3, 4, dtype=torch.float16))
    return stable_softmax(x, 1), stable_softmax(x, dim=0), stable_softmax(x, dim=-2)


@check("stable_softmax", points=1)
def minus_infinity_and_gradients(stable_softmax: Any, draw: Inputs) -> Any:
    """Entries of minus infinity, and gradients."""
    x = draw.normal(4, 5).masked_fill(torch.eye(4, 5) > 0, -torch.inf).requires_grad_()
    weights = stable_softmax(x)
    (weights * draw.normal(4, 5)).sum().backward()
    far_below = draw.normal(2, 5) - 30_000
    far_below[:, 1] = -torch.inf
    return weights, x.grad, stable_softmax(draw.give(far_below))


@mistake("stable_softmax", hint=3)
def no_shift(x, dim=-1):
    """exp overflowed: exp of ten thousand is infinite, and infinity over infinity is NaN. Shift the scores first."""
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def one_shift_for_all(x, dim=-1):
    """The whole table was shifted by one number. Rows far below it underflow to 0/0: each row has a largest score of
    its own.
    """
    e = (x - x.max()).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def shifted_by_the_mean(x, dim=-1):
    """Shifted by the mean. The largest score can still be far above it and overflow. Shift by the largest."""
    e = (x - x.mean(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def shifted_by_the_smallest(x, dim=-1):
    """The scores were shifted by the smallest, so no exponent is negative and large ones overflow. Shift by the
    largest.
    """
    e = (x - x.amin(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=1)
def sum_without_its_axis(x, dim=-1):
    """The sums, or the largest scores, lost their axis and were matched with columns instead. Keep it, with keepdim."""
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim)


@mistake("stable_softmax", hint=2)
def both_results_of_max(x, dim=-1):
    """`max` with a `dim` returns the maxima and their indices. You need only the maxima: amax, or the first result."""
    return (x - x.max(dim=dim, keepdim=True)).exp()


@mistake("stable_softmax", hint=3)
def whole_table_sums_to_one(x, dim=-1):
    """All weights together sum to 1. Each row should, so the sum needs the axis too."""
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / e.sum()


@mistake("stable_softmax", hint=3)
def not_divided(x, dim=-1):
    """The exponentials were not divided by their sum: rows do not sum to 1."""
    return (x - x.amax(dim=dim, keepdim=True)).exp()


@mistake("stable_softmax", hint=3)
def divided_by_the_mean(x, dim=-1):
    """The exponentials were divided by their mean, so each row sums to the number of keys. Divide by the sum."""
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / e.mean(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def another_axis_for_the_largest(x, dim=-1):
    """The largest scores were taken along a different axis than the sums. Both go along dim."""
    e = (x - x.amax(dim=0, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def largest_along_the_last_axis(x, dim=-1):
    """The largest scores were taken along the last axis, the sums along `dim`. Both go along `dim`."""
    e = (x - x.amax(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=1)
def axis_ignored(x, dim=-1):
    """Right along the last axis, but the argument dim had no effect."""
    return x.softmax(dim=-1)


@mistake("stable_softmax", hint=3)
def shifted_by_the_largest_magnitude(x, dim=-1):
    """Shifted by the largest absolute value. Where all scores are far below 0, that shifts them further down, and every
    exp rounds to 0. Shift by the largest score, whatever its sign.
    """
    e = (x - x.abs().amax(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def capped_from_above(x, dim=-1):
    """Large scores were capped, so keys with different scores got the same weight, and rows far below 0 still fail.
    Shift each row instead: that changes no weight.
    """
    e = x.clamp(max=80.0).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=3)
def scores_clipped(x, dim=-1):
    """Large scores were clipped, so keys with different scores got the same weight. A shift needs no clipping."""
    e = x.clamp(-80, 80).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax")
def more_bits(x, dim=-1):
    """The weights have a different dtype than the scores. With a shift, no extra bits are needed."""
    wide = torch.float32 if x.dtype != torch.float32 else torch.float64
    return x.to(wide).softmax(dim=dim)


@mistake("stable_softmax")
def gradient_cut_off(x, dim=-1):
    """The weights are right, but no gradient reaches the scores. Leave out detach and .data."""
    return x.detach().softmax(dim=dim)


@mistake("stable_softmax", hint=3)
def scores_changed(x, dim=-1):
    """The weights are right, but the caller's scores were changed: -= works in place. Make a new tensor."""
    x -= x.amax(dim=dim, keepdim=True)
    return x.softmax(dim=dim)


@mistake("stable_softmax")
def logarithms(x, dim=-1):
    """These are the logarithms of the weights. Weights are positive and sum to 1."""
    return x.log_softmax(dim=dim)


@mistake("stable_softmax")
def small_number_added(x, dim=-1):
    """Rows do not sum to exactly 1: something was added to the sum. After the shift the sum is at least 1, so it is
    safe.
    """
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / (e.sum(dim=dim, keepdim=True) + 1e-2)


@mistake("stable_softmax", hint=3)
def divided_by_the_largest(x, dim=-1):
    """The scores were divided by the largest one. That changes their differences; a shift does not."""
    return (x / x.amax(dim=dim, keepdim=True)).softmax(dim=dim)


@mistake("stable_softmax", hint=3)
def shifted_above_only(x, dim=-1):
    """Rows do not sum to 1: the exponentials in the numerator differ from those in the sum. Compute them once."""
    return (x - x.amax(dim=dim, keepdim=True)).exp() / x.exp().sum(
        dim=dim, keepdim=True
    )


@mistake("stable_softmax", hint=3)
def nan_replaced_by_zero(x, dim=-1):
    """Large scores overflowed, and nan_to_num turned the NaN into 0: those rows have no weights at all. Shift the
    scores before exp, and nothing overflows.
    """
    return torch.nan_to_num(x.exp() / x.exp().sum(dim=dim, keepdim=True))


@mistake("stable_softmax", hint=3)
def shifted_by_the_sum(x, dim=-1):
    """The scores were shifted by their sum, which can be anything. Only a shift by the largest keeps every exp between
    0 and 1.
    """
    e = (x - x.sum(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("stable_softmax", hint=1)
def first_axis_in_a_loop(x, dim=-1):
    """The loop runs along the first axis and treats whatever it finds as one row, so `dim` plays no part."""
    rows = [(row - row.max()).exp() for row in x]
    return torch.stack([e / e.sum() for e in rows])


@mistake("stable_softmax", hint=3)
def sum_along_the_last_axis(x, dim=-1):
    """The largest score was found along `dim`, but the sum ran along the last axis. Both go along `dim`."""
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)


@mistake("stable_softmax")
def infinities_replaced(x, dim=-1):
    """Right for finite scores, but a score of minus infinity was replaced, so its key got some weight. It must get
    none.
    """
    return x.nan_to_num(neginf=0.0).softmax(dim=dim)


@mistake("stable_softmax")
def infinities_made_finite(x, dim=-1):
    """Right as long as the other scores are larger. A score of minus infinity was replaced by a finite one, so in a row
    of even lower scores its key still gets all the weight.
    """
    return x.clamp(min=-10_000.0).softmax(dim=dim)


# Temperature


@check("temperature_softmax", points=1, tolerance=1e-3)
def other_axes_and_large_scores(temperature_softmax: Any, draw: Inputs) -> Any:
    """Another axis, large scores, small ones, and a temperature of 0 given as an integer."""
    x = draw.normal(3, 4)
    refused = what_happens(lambda: temperature_softmax(x, 0))
    return (
        refused,
        temperature_softmax(x, 2.0, dim=0),
        temperature_softmax(3000 * x, 0.5),
        temperature_softmax(3000 * x, 3000.0),
        temperature_softmax(0.01 * x, 0.01),
    )


@mistake("temperature_softmax", hint=1)
def multiplied(x, temperature, dim=-1):
    """Inverted: hot came out sharper. A higher temperature makes differences smaller."""
    return (x * temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=1)
def weights_divided(x, temperature, dim=-1):
    """The weights were divided after softmax, so rows sum to 1/T. The temperature should divide the scores."""
    return x.softmax(dim=dim) / temperature


@mistake("temperature_softmax", hint=1)
def temperature_ignored(x, temperature, dim=-1):
    """The temperature had no effect. Is it used at all, or did a later division cancel it?"""
    return x.softmax(dim=dim)


@mistake("temperature_softmax", hint=1)
def powers_of_weights(x, temperature, dim=-1):
    """Right on paper. But a weight that softmax rounded to 0 stays 0, whatever power you take: divide the scores."""
    if temperature <= 0:
        raise ValueError("temperature")
    weights = x.softmax(dim=dim) ** (1 / temperature)
    return weights / weights.sum(dim=dim, keepdim=True)


@mistake("temperature_softmax", hint=2)
def any_temperature(x, temperature, dim=-1):
    """Right for temperatures above 0, but those of 0 and below are not rejected. Raise a ValueError."""
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=2)
def zero_accepted(x, temperature, dim=-1):
    """Negative temperatures are rejected, but 0 is not. It would divide by 0."""
    if temperature < 0:
        raise ValueError("negative")
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=2)
def another_error(x, temperature, dim=-1):
    """A bad temperature raises something other than a ValueError. `assert` raises AssertionError; use `raise
    ValueError(...)`.
    """
    assert temperature > 0
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax")
def axis_ignored_here(x, temperature, dim=-1):
    """Right along the last axis, but the argument dim had no effect."""
    if temperature <= 0:
        raise ValueError("temperature")
    return ((x - x.amax(dim=-1, keepdim=True)) / temperature).softmax(dim=-1)


@mistake("temperature_softmax")
def power_of_the_scores(x, temperature, dim=-1):
    """The scores were raised to a power. The temperature should divide them."""
    if temperature <= 0:
        raise ValueError("temperature")
    return (x.sign() * x.abs() ** (1 / temperature)).softmax(dim=dim)


@mistake("temperature_softmax")
def root_of_the_temperature(x, temperature, dim=-1):
    """The scores were divided by the square root of the temperature. The square root belongs to d_k, not to T."""
    if temperature <= 0:
        raise ValueError("temperature")
    return (x / math.sqrt(temperature)).softmax(dim=dim)


@mistake("temperature_softmax", hint=2)
def below_one_refused(x, temperature, dim=-1):
    """A valid temperature was rejected. Only 0 and below have no meaning."""
    if temperature < 1:
        raise ValueError("temperature")
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax")
def rounded_down(x, temperature, dim=-1):
    """The scores were rounded down: // drops the fraction. Use /."""
    if temperature <= 0:
        raise ValueError("temperature")
    return (x // temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=3)
def overflow(x, temperature, dim=-1):
    """Right for small scores, but large ones overflow: use PyTorch's softmax, or shift as in exercise 4.1."""
    if temperature <= 0:
        raise ValueError("temperature")
    e = (x / temperature).exp()
    return e / e.sum(dim=dim, keepdim=True)


@mistake("temperature_softmax", hint=1)
def multiplied_and_refusing(x, temperature, dim=-1):
    """Bad temperatures are rejected, as they should be, but good ones multiply the scores. They should divide them."""
    if temperature <= 0:
        raise ValueError("temperature")
    return (x * temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=1)
def weights_divided_and_refusing(x, temperature, dim=-1):
    """Bad temperatures are rejected, as they should be, but good ones divide the weights. They should divide the
    scores.
    """
    if temperature <= 0:
        raise ValueError("temperature")
    return x.softmax(dim=dim) / temperature


@mistake("temperature_softmax", hint=2)
def error_returned(x, temperature, dim=-1):
    """The error was returned as a result, so the caller carries on with it. `raise` stops the function."""
    if temperature <= 0:
        return ValueError("a temperature is above 0")
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=2)
def negative_accepted(x, temperature, dim=-1):
    """0 is rejected, but negative temperatures are not. They would reverse the order."""
    if temperature == 0:
        raise ValueError("a temperature is above 0")
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax")
def squared_and_refusing(x, temperature, dim=-1):
    """Bad temperatures are rejected, as they should be, but good ones divide twice: the scores were divided by the
    square of the temperature.
    """
    if temperature <= 0:
        raise ValueError("temperature")
    return (x / temperature**2).softmax(dim=dim)


@mistake("temperature_softmax", hint=1)
def ignored_and_refusing(x, temperature, dim=-1):
    """Bad temperatures are rejected, as they should be, but good ones have no effect. They should divide the scores."""
    if temperature <= 0:
        raise ValueError("temperature")
    return x.softmax(dim=dim)


@mistake("temperature_softmax", hint=3)
def quotient_overflows(x, temperature, dim=-1):
    """Right until scores / T no longer fits the dtype: there it is infinite, and softmax gives nan. Shift each row,
    before you divide, so that no score is above 0.
    """
    if temperature <= 0:
        raise ValueError("temperature")
    return (x / temperature).softmax(dim=dim)


@mistake("temperature_softmax", hint=3)
def table_shifted(x, temperature, dim=-1):
    """The largest score of the whole table was subtracted, so every score of a lower row became −∞. Subtract each
    row's own largest.
    """
    if temperature <= 0:
        raise ValueError("temperature")
    return ((x - x.max()) / temperature).softmax(dim=dim)


@mistake("temperature_softmax")
def never_below_a_tenth(x, temperature, dim=-1):
    """Small temperatures had the effect of a larger one. Any temperature above 0 is allowed, and counts as it is."""
    if temperature <= 0:
        raise ValueError("temperature")
    shifted = x - x.amax(dim=dim, keepdim=True)
    return (shifted / max(temperature, 0.1)).softmax(dim=dim)


# Entropy


@check("attention_entropy", points=1)
def gradient_at_zero(attention_entropy: Any, draw: Inputs) -> Any:
    """The gradient where weights are 0, weights that are nearly 0, and more axes, in float32."""
    w = torch.tensor(
        [[1.0, 0, 0], [0.5, 0.5, 0]], dtype=torch.float64, requires_grad=True
    )
    attention_entropy(w).sum().backward()
    more = draw.normal(2, 3, 4, dtype=torch.float32).softmax(dim=-1)
    nearly = draw.give(torch.tensor([[1 - 1e-5, 1e-5, 0]], dtype=torch.float64))
    return (
        attention_entropy(more),
        attention_entropy(nearly),
        w.grad.isnan(),
        w.grad.isinf(),
    )


@mistake("attention_entropy", hint=1)
def logarithm_of_zero(weights):
    """A weight of 0 gave NaN: its logarithm is minus infinity. It should contribute nothing."""
    return -(weights * weights.log()).sum(dim=-1)


@mistake("attention_entropy", hint=3)
def zero_mended_afterwards(weights):
    """The values are right, but the gradient at 0 is NaN: the product was fixed after the logarithm had already
    seen the 0.
    """
    return -(weights * weights.log()).nan_to_num(0.0).sum(dim=-1)


@mistake("attention_entropy", hint=3)
def built_in_entr(weights):
    """The values are right, but the gradient at 0 is infinite, as it is for entr and xlogy."""
    return torch.special.entr(weights).sum(dim=-1)


@mistake("attention_entropy", hint=2)
def small_number_added_to_weights(weights):
    """A small number was added before the logarithm, so a row with all weight on one key no longer gives exactly 0."""
    return -(weights * (weights + 1e-2).log()).sum(dim=-1)


@mistake("attention_entropy", hint=3)
def weights_clamped(weights):
    """Small weights were raised to a lower bound, in the product too, so rows with zeros get too large an entropy."""
    w = weights.clamp(min=1e-3)
    return -(w * w.log()).sum(dim=-1)


@mistake("attention_entropy")
def bits(weights):
    """This is in bits: the logarithm has base 2. Nats use the natural logarithm."""
    return torch.special.entr(weights).sum(dim=-1) / math.log(2)


@mistake("attention_entropy")
def sign_missing(weights):
    """The entropy came out negative: the minus sign is missing."""
    return -torch.special.entr(weights).sum(dim=-1)


@mistake("attention_entropy")
def mean_of_terms(weights):
    """The terms were averaged. They should be summed: n equal weights then give ln n."""
    return torch.special.entr(weights).mean(dim=-1)


@mistake("attention_entropy")
def one_number_for_all(weights):
    """All rows were summed into one number: by a sum without `dim`, or by a boolean index, which flattens. Each row has
    an entropy of its own.
    """
    return torch.special.entr(weights).sum()


@mistake("attention_entropy")
def along_the_first_axis(weights):
    """The sum ran along the first axis. A row's weights lie along the last one."""
    return torch.special.entr(weights).sum(dim=0)


@mistake("attention_entropy")
def terms_not_summed(weights):
    """These are the terms, one per weight. The entropy of a row is their sum."""
    return torch.special.entr(weights)


@mistake("attention_entropy")
def softmax_again(weights):
    """Softmax was applied to the input, which already holds weights."""
    return torch.special.entr(weights.softmax(dim=-1)).sum(dim=-1)


@mistake("attention_entropy")
def effective_keys(weights):
    """This is the effective number of keys, e to the entropy. The exercise asks for the entropy itself."""
    return torch.special.entr(weights).sum(dim=-1).exp()


@mistake("attention_entropy")
def share_of_the_largest(weights):
    """The entropy was divided by ln n, the largest it can be. The exercise asks for the entropy itself, in nats."""
    return torch.special.entr(weights).sum(dim=-1) / math.log(weights.size(-1))


@mistake("attention_entropy", hint=3)
def logarithms_unweighted(weights):
    """The logarithms were summed without their weights. Each counts in proportion to its weight."""
    return -torch.where(weights > 0, weights, 1.0).log().sum(dim=-1)


@mistake("attention_entropy", hint=2)
def tiny_number_added(weights):
    """A small number was added, so a row with all its weight on one key no longer has an entropy of exactly 0."""
    w = weights + 1e-6
    return -(w * w.log()).sum(dim=-1)


@mistake("attention_entropy")
def axis_kept(weights):
    """There is one axis too many: each row gives one number, so the last axis should be gone."""
    return torch.special.entr(weights).sum(dim=-1, keepdim=True)


# In one pass


@check("streaming_attend", points=1)
def single_keys_and_one_piece(streaming_attend: Any, draw: Inputs) -> Any:
    """Pieces of one key, and a piece larger than the whole input, in float32."""
    scores, values = (
        draw.normal(5, dtype=torch.float32),
        draw.normal(5, 2, dtype=torch.float32),
    )
    return both_ways(streaming_attend, scores, values, 1), streaming_attend(
        scores, values, 99
    )


@check("streaming_attend", points=1, tolerance=2e-3)
def far_from_zero(streaming_attend: Any, draw: Inputs) -> Any:
    """Scores around ten thousand, above and below zero."""
    values = draw.normal(9, 3)
    return [
        both_ways(streaming_attend, draw.normal(9) + level, values, 4)
        for level in (1e4, -1e4)
    ]


@check("streaming_attend", points=1)
def rising_and_falling(streaming_attend: Any, draw: Inputs) -> Any:
    """The largest score comes last, or first, or far from its neighbors, or all are alike; the inputs are unchanged."""
    apart = torch.tensor(
        [-900.0, 40.0, 900.0, 901.0, -30.0, 899.0], dtype=torch.float64
    )
    ramp = torch.linspace(-30, 30, 12, dtype=torch.float64)
    values = draw.normal(12, 3)
    rising = ramp + draw.normal(12)
    return (
        streaming_attend(rising, values, 5),
        streaming_attend(-rising, values, 5),
        streaming_attend(apart, values[:6], 3),
        streaming_attend(torch.zeros(6, dtype=torch.float64), values[:6], 3),
        rising,
        values,
    )


def pieces_of(scores, values, chunk):
    """Cut scores and values into the same pieces."""
    return list(zip(scores.split(chunk), values.split(chunk), strict=True))


@mistake("attention_entropy")
def log_softmax_of_weights(weights):
    """log_softmax takes scores, and these are weights: it applies softmax a second time, and the logarithm is that of
    other, more even weights.
    """
    return -(weights * weights.log_softmax(dim=-1)).sum(dim=-1)


@mistake("streaming_attend", hint=2)
def pieces_averaged(scores, values, chunk):
    """The pieces were averaged as equals. Each should count in proportion to its sum of exponentials."""
    outputs = [s.softmax(dim=-1) @ v for s, v in pieces_of(scores, values, chunk)]
    return torch.stack(outputs).mean(dim=0)


@mistake("streaming_attend", hint=2)
def measured_against_the_mean(scores, values, chunk):
    """Each piece was measured against its mean or its smallest score: larger ones in it overflow. Only the largest
    score is safe.
    """
    level, total, mixed = torch.tensor(-torch.inf), 0.0, 0.0
    for s, v in pieces_of(scores, values, chunk):
        new = torch.maximum(level.to(s.dtype), s.mean())
        e, shrink = (s - new).exp(), (level - new).exp()
        total, mixed, level = total * shrink + e.sum(), mixed * shrink + e @ v, new
    return mixed / total


@mistake("streaming_attend", hint=3)
def pieces_added(scores, values, chunk):
    """The pieces were added up, each with a whole unit of attention. Together they should have only one."""
    return sum(s.softmax(dim=-1) @ v for s, v in pieces_of(scores, values, chunk))


@mistake("streaming_attend", hint=2)
def pieces_by_their_length(scores, values, chunk):
    """The pieces were weighted by their number of keys. What counts is their sum of exponentials."""
    outputs = [
        len(s) * (s.softmax(dim=-1) @ v) for s, v in pieces_of(scores, values, chunk)
    ]
    return sum(outputs) / len(scores)


@mistake("streaming_attend", hint=2)
def each_piece_its_own_measure(scores, values, chunk):
    """Each piece was measured against its own largest score and then added to the others. Rescale the earlier ones."""
    mixed, total = 0, 0
    for s, v in pieces_of(scores, values, chunk):
        e = (s - s.max()).exp()
        mixed, total = mixed + e @ v, total + e.sum()
    return mixed / total


def one_pass(
    scores, values, chunk, sum_factor=1.0, mix_factor=1.0, start=-math.inf, divide=True
):
    """Run the pass with altered factors on the exponents that shrink the old sum and the old mixture."""
    largest = scores.new_tensor(start)
    total, mixed = scores.new_zeros(()), values.new_zeros(values.size(-1))
    for s, v in pieces_of(scores, values, chunk):
        new = torch.maximum(largest, s.amax())
        gap, e = largest - new, (s - new).exp()
        gap = torch.where(gap.isinf(), 0.0, gap)
        total = total * (sum_factor * gap).exp() + e.sum()
        mixed = mixed * (mix_factor * gap).exp() + e @ v
        largest = new
    return mixed / total if divide else mixed


@mistake("streaming_attend", hint=1)
def first_piece_twice(scores, values, chunk):
    """The first piece counts twice: the loop starts from it and then meets it again."""
    first, again = scores[:chunk], values[:chunk]
    pieces = [(first, again), *pieces_of(scores, values, chunk)]
    largest = max(piece.amax() for piece, _ in pieces)
    parts = [((s - largest).exp(), v) for s, v in pieces]
    return sum(e @ v for e, v in parts) / sum(e.sum() for e, _ in parts)


@mistake("streaming_attend", hint=2)
def nothing_shrinks(scores, values, chunk):
    """The old sum and mixture never shrink when a larger score arrives. Is the old largest score overwritten before the
    factor is computed from it?
    """
    return one_pass(scores, values, chunk, sum_factor=0.0, mix_factor=0.0)


@mistake("streaming_attend", hint=3)
def factor_upside_down(scores, values, chunk):
    """The old sum and mixture grow when a larger score arrives. The factor is e to the power of old minus new, at most
    1.
    """
    return one_pass(scores, values, chunk, sum_factor=-1.0, mix_factor=-1.0)


@mistake("streaming_attend", hint=3)
def only_the_sum_shrinks(scores, values, chunk):
    """The old sum was rescaled, but the old mixture was not. Both were measured against the same score."""
    return one_pass(scores, values, chunk, mix_factor=0.0)


@mistake("streaming_attend", hint=3)
def only_the_mixture_shrinks(scores, values, chunk):
    """The old mixture was rescaled, but the old sum was not. Both were measured against the same score."""
    return one_pass(scores, values, chunk, sum_factor=0.0)


@mistake("streaming_attend", hint=2)
def measured_against_the_old(scores, values, chunk):
    """The result is NaN. Measure each piece against the new largest score, and shrink the old sum and mixture by e to
    the power of old minus new, never the reverse.
    """
    largest, total, mixed = scores.new_tensor(-math.inf), 0.0, 0.0
    for s, v in pieces_of(scores, values, chunk):
        e = (s - largest).exp()
        total, mixed = total + e.sum(), mixed + e @ v
        largest = torch.maximum(largest, s.amax())
    return mixed / total


@mistake("streaming_attend", hint=1)
def largest_not_remembered(scores, values, chunk):
    """Only the last piece is in the result: the largest score so far, or the sums, are not carried over."""
    mixed, total = 0, 0
    for s, v in pieces_of(scores, values, chunk):
        e = (s - s.max()).exp()
        mixed, total = 0 * mixed + e @ v, 0 * total + e.sum()
    return mixed / total


@mistake("streaming_attend", hint=3)
def divided_in_the_loop(scores, values, chunk):
    """The mixture was divided by the sum after every piece. Divide once, at the end."""
    largest, total, mixed = scores.new_tensor(-math.inf), 0.0, 0.0
    for s, v in pieces_of(scores, values, chunk):
        new = torch.maximum(largest, s.amax())
        shrink, e = (largest - new).exp(), (s - new).exp()
        total = total * shrink + e.sum()
        mixed = (mixed * shrink + e @ v) / total
        largest = new
    return mixed


@mistake("streaming_attend", hint=3)
def not_divided_by_the_sum(scores, values, chunk):
    """The mixture was not divided by the sum of exponentials at the end."""
    return one_pass(scores, values, chunk, divide=False)


@mistake("streaming_attend", hint=1)
def starts_at_zero(scores, values, chunk):
    """The largest score so far starts at 0, or at another number that is not low enough. If all scores are far below
    it, everything rounds to 0/0. Start below them all.
    """
    return one_pass(scores, values, chunk, start=0.0)


@mistake("streaming_attend", hint=2)
def never_shifted(scores, values, chunk):
    """Right for small scores only: exp of ten thousand is infinite. Measure against the largest score so far."""
    mixed, total = 0, 0
    for s, v in pieces_of(scores, values, chunk):
        mixed, total = mixed + s.exp() @ v, total + s.exp().sum()
    return mixed / total


@mistake("streaming_attend", hint=2)
def last_piece_dropped(scores, values, chunk):
    """The last, shorter piece was left out: `n // chunk` counts full pieces only."""
    level, total, mixed = (
        scores.new_tensor(-torch.inf),
        0.0,
        values.new_zeros(values.size(-1)),
    )
    for s, v in pieces_of(scores, values, chunk):
        if len(s) == chunk:
            new = torch.maximum(level, s.amax())
            e, shrink = (s - new).exp(), (level - new).exp()
            total, mixed, level = total * shrink + e.sum(), mixed * shrink + e @ v, new
    return mixed / total


@mistake("streaming_attend")
def first_piece_alone(scores, values, chunk):
    """Only the first piece is in the result. Is there a `return` inside the loop, or does the loop end too early?"""
    s, v = pieces_of(scores, values, chunk)[0]
    return s.softmax(dim=-1) @ v


@mistake("streaming_attend", hint=2)
def largest_of_the_first_piece(scores, values, chunk):
    """Everything was measured against the first piece's largest score. If a later one is far larger, its exp overflows:
    update the largest score in each round.
    """
    mixed, total, largest = 0.0, 0.0, scores[:chunk].max()
    for s, v in pieces_of(scores, values, chunk):
        e = (s - largest).exp()
        mixed, total = mixed + e @ v, total + e.sum()
    return mixed / total


@mistake("streaming_attend", hint=1)
def largest_of_this_piece(scores, values, chunk):
    """Everything was measured against the current piece's largest score. If that is far lower than before, the factor
    for the old sums overflows: keep the largest score so far.
    """
    largest, total, mixed = scores.new_tensor(-math.inf), 0.0, 0.0
    for s, v in pieces_of(scores, values, chunk):
        shrink, e = (largest - s.max()).exp(), (s - s.max()).exp()
        total, mixed, largest = (
            total * shrink + e.sum(),
            mixed * shrink + e @ v,
            s.max(),
        )
    return mixed / total


@mistake("streaming_attend", hint=2)
def all_at_once(scores, values, chunk):
    """The right result, but from all scores at once: `chunk` plays no part. Use only one piece at a time."""
    e = (scores - scores.max()).exp()
    return e @ values / e.sum()


@mistake("streaming_attend")
def row_of_a_matrix(scores, values, chunk):
    """The result has one axis too many. One query gives one vector, (D_v,)."""
    return one_pass(scores, values, chunk).unsqueeze(0)
