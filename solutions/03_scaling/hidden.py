"""The hidden checks of lesson 3. Never released to students."""

from functools import partial
from typing import Any

import torch
from checks import as_multiples, measured, responses_far_apart

from autograder.checks import Inputs, battery, check, invariant

# Scale


@battery("scale_scores", points=1)
def scores_of_every_kind(scale_scores: Any, draw: Inputs) -> Any:
    """Other tables of scores, axes in front, dtypes, gradients."""
    return partial(scale_scores, draw.normal(2, 3, 5, 7), 12)


# Measure


@check("score_std", points=1, summary=as_multiples)
def another_width(score_std: Any, draw: Inputs) -> Any:
    """Another dimension."""
    return measured(score_std, draw, draw.integer(20, 30))


# The Jacobian


SYMMETRIC = "A softmax's table of derivatives is symmetric."
TRANSPOSED = invariant("softmax_jacobian", "transposed", because=SYMMETRIC)
LAST_TRANSPOSED = invariant(
    "softmax_jacobian", "with its last result transposed", because=SYMMETRIC
)


@battery("softmax_jacobian", points=1)
def weights_of_every_kind(softmax_jacobian: Any, draw: Inputs) -> Any:
    """Weights that are all on one key or far apart, other sizes, axes in front, dtypes, gradients."""
    sure = draw.give((200 * draw.normal(4, 6, dtype=torch.float32)).softmax(dim=-1))
    even = draw.give(torch.full((1, 6), 1 / 6))
    of_scores = partial(after_softmax, softmax_jacobian)
    apart = responses_far_apart(softmax_jacobian, draw)
    extremes = softmax_jacobian(sure), softmax_jacobian(even), apart
    return partial(of_scores, draw.normal(2, 3, 4)), extremes


def after_softmax(function: Any, scores: torch.Tensor, *others: Any) -> Any:
    """Call a function with weights, so that every variation of the scores gives rows that sum to 1."""
    return function(scores.softmax(dim=-1), *others)


# Attention


@battery("scaled_attend", points=1, tolerance=1e-3)
def given_scales(scaled_attend: Any, draw: Inputs) -> Any:
    """Given scales, zero among them, with heads, other sizes and dtypes, and scores in the thousands."""
    inputs = draw.normal(2, 3, 4, 8), draw.normal(2, 3, 6, 8), draw.normal(2, 3, 6, 5)
    large = 50 * draw.normal(6, 8), 50 * draw.normal(7, 8), draw.normal(7, 2)
    given = [scaled_attend(*inputs, scale=scale) for scale in (0.3, 0.0, None)]
    return partial(scaled_attend, *inputs), given, scaled_attend(*large)


# The response to the query


@battery("query_jacobian", points=0)
def responses_of_every_kind(query_jacobian: Any, draw: Inputs) -> Any:
    """Queries that have decided, a single key, axes in front, dtypes, gradients."""
    keys, values = draw.normal(6, 5), draw.normal(6, 4)
    sure = draw.give((200 * draw.normal(3, 6)).softmax(dim=-1))
    results = {
        "decided queries": query_jacobian(sure, keys, values, 0.3),
        "a single key": query_jacobian(
            draw.give(torch.ones(2, 1, dtype=torch.float64)),
            draw.normal(1, 5),
            draw.normal(1, 3),
            1.0,
        ),
    }
    of_scores = partial(after_softmax, query_jacobian)
    inputs = draw.normal(2, 3, 4, 6), draw.normal(2, 3, 6, 5), draw.normal(2, 3, 6, 7)
    return partial(of_scores, *inputs, 0.7), results
