"""The hidden checks of lesson 1. Never given to students."""

from typing import Any

import torch
from checks import network

from autograder.checks import Inputs, check

# A soft lookup


@check("soft_lookup", points=1, tolerance=1e-3)
def one_entry_and_large_scores(soft_lookup: Any, draw: Inputs) -> Any:
    """One entry, scores of thousands, float32."""
    one = soft_lookup(draw.normal(2), draw.normal(1, 2), draw.normal(1, 3))
    query, keys = draw.normal(4), draw.normal(6, 4)
    query[0] = keys[:, 0] = (
        60.0  # adds 3600 to every score, and shares stay as they are
    )
    large = soft_lookup(draw.give(query), draw.give(keys), draw.normal(6, 3), 0.8)
    single = [
        0.7 * draw.normal(*shape, dtype=torch.float32)
        for shape in ((3,), (4, 3), (4, 5))
    ]
    return one, large, soft_lookup(*single, 0.5)


# Additive scores


@check("additive_scores", points=1)
def lonely_and_large(additive_scores: Any, draw: Inputs) -> Any:
    """A single query, a single key, h = 1, float32, gradients, and keys with very large numbers."""
    weights = [
        draw.normal(*shape, dtype=torch.float32) for shape in ((1, 3), (1, 2), (1,))
    ]
    single = additive_scores(
        draw.normal(3, 1, 3, dtype=torch.float32),
        draw.normal(3, 4, 2, dtype=torch.float32),
        *weights,
    )
    query = draw.normal(1, 5, 2).requires_grad_()
    keys = draw.normal(1, 1, 4)
    scores = additive_scores(query, keys, *network(draw, 7, 2, 4))
    (scores * draw.normal(1, 5, 1)).sum().backward()
    large = additive_scores(query, 1e5 * keys, *network(draw, 7, 2, 4))
    return single, scores, query.grad, large


# Additive attention


@check("additive_attention", points=1)
def lonely_and_single(additive_attention: Any, draw: Inputs) -> Any:
    """A single query, a single key, gradients."""
    query = draw.normal(2, 1, 3).requires_grad_()
    keys, values, weights = (
        draw.normal(2, 5, 3),
        draw.normal(2, 5, 4),
        network(draw, 4, 3, 3),
    )
    contexts, shares = additive_attention(query, keys, values, *weights)
    (contexts * draw.normal(2, 1, 4)).sum().backward()
    one = additive_attention(
        draw.normal(1, 3, 3), draw.normal(1, 1, 3), draw.normal(1, 1, 2), *weights
    )
    return contexts, shares, query.grad, one
