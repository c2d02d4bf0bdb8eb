"""The hidden checks of lesson 2. Never released to students."""

from typing import Any

import torch
from checks import where_rows_look

from autograder.checks import Inputs, check

# Project


@check("project_qkv", points=1)
def one_word_and_gradients(project_qkv: Any, draw: Inputs) -> Any:
    """A single word in float32, and gradients for all three matrices."""
    x = draw.normal(1, 1, 6, dtype=torch.float32)
    weights = [
        draw.normal(6, width, dtype=torch.float32).requires_grad_()
        for width in (2, 2, 7)
    ]
    projected = project_qkv(x, *weights)
    sum((part * draw.normal(*part.shape)).sum() for part in projected).backward()
    return *projected, x, *(w.grad for w in weights)


# Scores


@check("attention_scores", points=1)
def single_query_in_float32(attention_scores: Any, draw: Inputs) -> Any:
    """A single query in float32, with the inputs left unchanged."""
    query, key = (
        draw.normal(3, 1, 4, dtype=torch.float32),
        draw.normal(3, 6, 4, dtype=torch.float32),
    )
    return attention_scores(query, key), query, key


# Attention


@check("attend", points=1, tolerance=1e-3)
def scores_of_a_thousand(attend: Any, draw: Inputs) -> Any:
    """Scores in the thousands, above and below zero."""
    query, key = draw.normal(2, 3, 4), draw.normal(2, 5, 4)
    query[..., 0] = torch.tensor([50.0, 0.0, -50.0])  # adds 2500, 0, -2500 to rows
    key[..., 0] = 50.0  # which leaves the weights unchanged
    return attend(draw.give(query), draw.give(key), draw.normal(2, 5, 2))


@check("attend", points=1)
def single_query_and_gradients(attend: Any, draw: Inputs) -> Any:
    """A single query, inputs that are not contiguous, and gradients for all three."""
    inputs = [
        draw.normal(3, width, length).mT.requires_grad_()
        for length, width in ((1, 4), (6, 4), (6, 2))
    ]
    before = [tensor.detach().clone() for tensor in inputs]
    output, weights = attend(*inputs)
    (output * draw.normal(3, 1, 2)).sum().backward()
    changed = [
        float((tensor.detach() - old).abs().max())
        for tensor, old in zip(inputs, before, strict=True)
    ]
    return output, weights, *(tensor.grad for tensor in inputs), changed


# Look one back


@check("copy_previous_qk", points=1, summary=where_rows_look)
def hundreds_of_positions(copy_previous_qk: Any, draw: Inputs) -> Any:
    """Hundreds of positions."""
    return copy_previous_qk(draw.integer(300, 400))
