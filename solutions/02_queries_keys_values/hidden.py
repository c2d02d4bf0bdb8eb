"""The hidden checks of lesson 2. Never released to students."""

from functools import partial
from typing import Any

import torch
from checks import where_rows_look

from autograder.checks import Inputs, battery, check

# Project


@battery("project_qkv", points=1)
def words_of_every_kind(project_qkv: Any, draw: Inputs) -> Any:
    """A single word, other dtypes, and gradients for all three matrices."""
    weights = draw.normal(6, 2), draw.normal(6, 2), draw.normal(6, 7)
    return partial(project_qkv, draw.normal(3, 4, 6), *weights)


# Scores


@battery("attention_scores", points=1)
def queries_of_every_kind(attention_scores: Any, draw: Inputs) -> Any:
    """A single query, other dtypes, axes in front, gradients."""
    return partial(attention_scores, draw.normal(3, 2, 4), draw.normal(3, 6, 4))


# Attention


@check("attend", points=1, tolerance=1e-3)
def scores_of_a_thousand(attend: Any, draw: Inputs) -> Any:
    """Scores in the thousands, above and below zero, and far apart in one row."""
    query, key = draw.normal(2, 3, 4), draw.normal(2, 5, 4)
    query[..., 0] = torch.tensor([50.0, 0.0, -50.0])  # adds 2500, 0, -2500 to rows
    key[..., 0] = 50.0  # which leaves the weights unchanged
    value = draw.normal(2, 5, 2)
    apart = attend(draw.give(30 * draw.normal(3, 4)), 30 * draw.normal(5, 4), value[0])
    return attend(draw.give(query), draw.give(key), value), apart


LARGE = "The check of scores in the thousands asks for large ones."


@battery("attend", points=1, off={"large": LARGE, "long 2": LARGE})
def inputs_of_every_kind(attend: Any, draw: Inputs) -> Any:
    """A single query, other dtypes, inputs that are not contiguous, and gradients for all three."""
    q, k, v = (draw.normal(3, *shape) for shape in ((5, 4), (6, 4), (6, 2)))
    return partial(attend, q, k, v)


# Look one back


@check("copy_previous_qk", points=1, summary=where_rows_look)
def hundreds_of_positions(copy_previous_qk: Any, draw: Inputs) -> Any:
    """Hundreds of positions."""
    return copy_previous_qk(draw.integer(300, 400))
