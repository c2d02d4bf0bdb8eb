"""The hidden checks of lesson 4. Never given to students."""

from typing import Any

import torch
from checks import both_ways, what_happens

from autograder.checks import Inputs, check

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
