"""The checks of lesson 2 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from typing import Any

import torch
from torch import Tensor

from autograder.checks import Draw, check


@check("project_qkv", points=1, show=True)
def a_batch_of_sentences(project_qkv: Any, draw: Draw) -> Any:
    """Two sentences of four words: queries, keys and values, in this order."""
    x = draw.normal(2, 4, 6)
    return project_qkv(x, draw.normal(6, 5), draw.normal(6, 5), draw.normal(6, 3))


@check("attention_scores", points=1, show=True)
def three_queries_five_keys(attention_scores: Any, draw: Draw) -> Any:
    """Three queries and five keys: a score for each pair."""
    return attention_scores(draw.normal(3, 4), draw.normal(5, 4))


@check("attention_scores", points=1)
def scores_with_heads(attention_scores: Any, draw: Draw) -> Any:
    """A batch with several heads: each head has a table of its own."""
    return attention_scores(draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4))


@check("attend", points=1, show=True)
def two_queries_three_keys(attend: Any, draw: Draw) -> Any:
    """Two queries, three keys: the output, then the weights."""
    return attend(draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 6))


@check("attend", points=1)
def attention_with_heads(attend: Any, draw: Draw) -> Any:
    """A batch with several heads: each query shares out its attention among its own
    keys.
    """
    return attend(
        draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4), draw.normal(2, 3, 7, 6)
    )


def where_rows_look(result: Any) -> dict[str, Any]:
    """Describe the pattern that a query and a key make. Many pairs of matrices make
    the right one.
    """
    pair = list(result) if isinstance(result, list | tuple) else []
    if len(pair) != 2 or not all(
        isinstance(item, Tensor) and item.ndim == 2 for item in pair
    ):
        raise ValueError("It should return two matrices, query and key.")
    query, key = (item.double() for item in pair)
    if query.shape != key.shape:
        shapes = f"{tuple(query.shape)} and {tuple(key.shape)}"
        raise ValueError(f"Query and key should have the same shape, not {shapes}.")
    if not (query.isfinite().all() and key.isfinite().all()):
        raise ValueError("Query and key should hold finite numbers only.")
    weights = (query @ key.mT).softmax(dim=-1)  # (L, S)
    previous = (torch.arange(len(weights)) - 1).clamp(min=0)
    enough = weights[range(len(weights)), previous] > 0.99
    return {
        "the column that each row looks at": weights.argmax(dim=-1),
        "every weight above 0.99": bool(enough.all()),
    }


@check("copy_previous_qk", points=1, show=True, summary=where_rows_look)
def six_positions(copy_previous_qk: Any, draw: Draw) -> Any:
    """Six positions: where each row looks, and whether its weight there is above 0.99."""
    return copy_previous_qk(6)
