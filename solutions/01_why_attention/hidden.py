"""The hidden checks of lesson 1. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import network

from autograder.checks import Inputs, battery

# A soft lookup


@battery("soft_lookup", points=1, tolerance=1e-3)
def stores_of_every_kind(soft_lookup: Any, draw: Inputs) -> Any:
    """Other stores, scores of thousands at temperatures of 1 and 1000, other dtypes."""
    query, key, value = draw.normal(4), draw.normal(6, 4), draw.normal(6, 3)
    one = query / query.norm()
    large = soft_lookup(one, 3000 * one + key, value)  # all scores are near 3000
    hot = soft_lookup(1000 * query, key, value, 1000.0)
    return partial(soft_lookup, query, key, value, 0.8), large, hot


# Additive scores


@battery("additive_scores", points=0)
def pairs_of_every_kind(additive_scores: Any, draw: Inputs) -> Any:
    """A single query, a single key, h = 1, other dtypes, gradients, and keys with very large numbers."""
    inputs = draw.normal(3, 5, 2), draw.normal(3, 6, 4), *network(draw, 7, 2, 4)
    large = additive_scores(inputs[0], 1e5 * inputs[1], *inputs[2:])
    return partial(additive_scores, *inputs), large


# Additive attention


@battery(
    "additive_attention",
    points=0,
    off={"long 5": "Scores grow with h, and no softmax for large ones is asked for."},
)
def sentences_of_every_kind(additive_attention: Any, draw: Inputs) -> Any:
    """A single query, a single key, other dtypes, gradients, and scores around -12."""
    inputs = draw.normal(2, 6, 3), draw.normal(2, 5, 3), draw.normal(2, 5, 4)
    ones = torch.ones(2, 3, dtype=torch.float64)
    low = additive_attention(100 + inputs[0], *inputs[1:], ones, ones, -6 * ones[:, 0])
    return partial(additive_attention, *inputs, *network(draw, 7, 3, 3)), low
