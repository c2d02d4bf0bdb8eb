"""The hidden checks of lesson 7. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import largest, scores_at

from autograder.checks import Inputs, allow, battery, check

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


# Rotations


@battery(
    "apply_rope",
    points=1,
    off={
        "single 2": "D is even.",
        "views": "Visible checks have some; complex numbers want pairs side by side.",
    },
)
def learning_and_small_sizes(apply_rope: Any, draw: Inputs) -> Any:
    """Gradients; edge: a single token, a single pair, no axes in front, other sizes and dtypes."""
    alone, late = draw.normal(1, 4), draw.give(torch.tensor([draw.integer(10, 40)]))
    few = apply_rope(alone), apply_rope(alone, late)
    return partial(apply_rope, draw.normal(3, 5, 2)), few


@check("apply_rope", points=1)
def a_long_cache(apply_rope: Any, draw: Inputs) -> Any:
    """Precision of every dtype; positions of each sentence; distances far from the start; one base after another."""
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
    other_base = apply_rope(x, base=500.0)
    return kept, apply_rope(x, steps.int()), largest(near - far), step, other_base


# Biases

MAY_MEASURE = allow(
    "alibi_bias",
    "aten::_cdist_forward",
    because="The bias is a distance, which PyTorch can measure.",
)


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
