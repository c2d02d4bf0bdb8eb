"""The hidden checks of lesson 4. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import both_ways, how_it_reads, what_happens

from autograder.checks import Inputs, battery, check

ROUNDING = 3e-7  # more than that of one number in float32


def one_far_above(draw: Inputs) -> torch.Tensor:
    """Draw rows of scores whose sum of exponentials, shifted, is 1."""
    return draw.give(draw.normal(3, 4) + 100 * torch.eye(3, 4))


# A softmax that does not overflow


@check("stable_softmax", points=1)
def other_axes_in_half_precision(stable_softmax: Any, draw: Inputs) -> Any:
    """Other axes, one or four of them, and half precision with scores beyond the range of exp; rows that sum to 1."""
    x = draw.give(20 + draw.normal(2, 3, 4, dtype=torch.float16))
    large = [draw.normal(*shape) + 800 for shape in ((5,), (4, 5), (2, 3, 4, 5))]
    sums = stable_softmax(one_far_above(draw)).sum(-1)
    return (
        *(stable_softmax(x, 1), stable_softmax(x, dim=0), stable_softmax(x, dim=-2)),
        *(stable_softmax(scores, dim=-scores.dim()) for scores in large),
        (sums - 1).abs() < ROUNDING,
    )


@battery("stable_softmax", points=1)
def minus_infinity_and_gradients(stable_softmax: Any, draw: Inputs) -> Any:
    """Entries of minus infinity, gradients, other sizes and dtypes."""
    x = draw.normal(4, 5).masked_fill(torch.eye(4, 5) > 0, -torch.inf)
    far_below = draw.normal(2, 5) - 30_000
    far_below[:, 1] = -torch.inf
    return partial(stable_softmax, x), stable_softmax(draw.give(far_below))


# Temperature


@battery("temperature_softmax", points=1, tolerance=1e-3)
def other_axes_and_large_scores(temperature_softmax: Any, draw: Inputs) -> Any:
    """Other axes, sizes and dtypes, large scores, tiny temperatures, and one of 0 given as an integer."""
    x = draw.normal(3, 4)
    others = (
        what_happens(lambda: temperature_softmax(x, 0)),
        temperature_softmax(x, 2.0, dim=0),
        (temperature_softmax(one_far_above(draw), 1.0).sum(-1) - 1).abs() < ROUNDING,
        *(temperature_softmax(draw.normal(*s), 2.0, dim=0) for s in ((4,), (3, 2, 4))),
        temperature_softmax(3000 * x, 3000.0),
        temperature_softmax(1e-6 * x, 1e-6),
        temperature_softmax(draw.give((1e36 * x).float()), 1e-4),
    )
    return partial(temperature_softmax, draw.normal(2, 3, 4), 0.5), others


# Entropy


@battery("attention_entropy", points=1)
def gradient_at_zero(attention_entropy: Any, draw: Inputs) -> Any:
    """Gradients where weights are 0, weights near 0 or exactly 1, other sizes, axes in front and dtypes."""
    w = torch.tensor(
        [[1.0, 0, 0], [0.5, 0.5, 0]], dtype=torch.float64, requires_grad=True
    )
    attention_entropy(w).sum().backward()
    nearly = draw.give(torch.tensor([[1 - 1e-5, 1e-5, 0]], dtype=torch.float64))
    of_scores = partial(after_softmax, attention_entropy)
    certain = [
        attention_entropy(torch.eye(3, dtype=dtype)).abs() < 1e-11
        for dtype in (torch.float64, torch.float32)
    ]
    edges = attention_entropy(nearly), certain, w.grad.isnan(), w.grad.isinf()
    return partial(of_scores, draw.normal(2, 3, 4)), edges


def after_softmax(function: Any, scores: torch.Tensor) -> Any:
    """Call a function with weights, so that every variation of the scores gives rows that sum to 1."""
    return function(scores.softmax(dim=-1))


# In one pass


@battery(
    "streaming_attend", points=1, off={"gradients": "The text promises a value only."}
)
def pieces_of_every_kind(streaming_attend: Any, draw: Inputs) -> Any:
    """Pieces of one key, a piece larger than the whole input, other sizes and dtypes."""
    scores, values = draw.normal(5), draw.normal(5, 2)
    others = [streaming_attend(scores, values, chunk) for chunk in (1, 99)]
    others.append(streaming_attend(draw.normal(40), draw.normal(40, 3), 4))
    read = how_it_reads(streaming_attend, draw)
    return partial(streaming_attend, scores, values, 2), others, read


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
