"""The hidden checks of lesson 3. Never released to students."""

from typing import Any

import torch
from checks import as_multiples, measured

from autograder.checks import Inputs, check, invariant

# Scale


@check("scale_scores", points=1)
def heads_in_float32(scale_scores: Any, draw: Inputs) -> Any:
    """A batch with heads in float32, with the scores left unchanged."""
    scores = draw.normal(2, 3, 5, 7, dtype=torch.float32)
    return scale_scores(scores, 12), scores


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


@check("softmax_jacobian", points=1)
def one_hot_and_float32(softmax_jacobian: Any, draw: Inputs) -> Any:
    """Weights that are all on one key, in float32, and left unchanged."""
    sure = (200 * draw.normal(4, 6, dtype=torch.float32)).softmax(dim=-1)
    even = torch.full((1, 6), 1 / 6)
    weights = torch.cat([sure, even])
    return softmax_jacobian(weights), weights


# Attention


@check("scaled_attend", points=1, tolerance=1e-3)
def given_scales(scaled_attend: Any, draw: Inputs) -> Any:
    """Given scales, zero among them, with heads, and scores in the thousands."""
    inputs = draw.normal(2, 3, 4, 8), draw.normal(2, 3, 6, 8), draw.normal(2, 3, 6, 5)
    large = 50 * draw.normal(6, 8), 50 * draw.normal(7, 8), draw.normal(7, 2)
    given = [scaled_attend(*inputs, scale=scale) for scale in (0.3, 0.0, None)]
    return [*given, scaled_attend(*large)]
