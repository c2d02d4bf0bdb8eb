"""The checks of lesson 1 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from typing import Any

import torch
from torch import Tensor

from autograder.checks import Inputs, check, law, shortcut

NO_SOFT_LOOKUP = shortcut(
    "soft_lookup",
    "scaled_dot_product_attention",
    because="Writing its steps is the exercise.",
)


@check("soft_lookup", points=1, show=True)
def a_small_store(soft_lookup: Any, draw: Inputs) -> Any:
    """Four entries: a lookup as it is, and with temperatures of 0.5, 3 and 0.01, and with large scores."""
    query, keys, values = draw.normal(3), draw.normal(4, 3), draw.normal(4, 2)
    results = {
        f"temperature {t:g}": soft_lookup(query, keys, values, t) for t in (0.5, 3.0)
    }
    results["temperature 0.01"] = soft_lookup(
        draw.give(query / 100), keys, values, 0.01
    )
    ahead = query / query.norm()  # its key's score is 2000
    results["scores in the thousands"] = soft_lookup(
        draw.give(2000 * ahead), draw.give(torch.cat([keys[1:], ahead[None]])), values
    )
    return {"without a temperature": soft_lookup(query, keys, values), **results}


@check("soft_lookup", points=1, show=True)
def can_be_trained(soft_lookup: Any, draw: Inputs) -> Any:
    """Gradients for the query, the keys and the values."""
    inputs = [draw.normal(*shape).requires_grad_() for shape in ((3,), (5, 3), (5, 4))]
    (soft_lookup(*inputs, temperature=2.0) * draw.normal(4)).sum().backward()
    return {
        f"the gradient of the {name}": tensor.grad
        for name, tensor in zip(("query", "keys", "values"), inputs, strict=True)
    }


def network(draw: Inputs, h: int, d_q: int, d_k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw the weights of an additive score."""
    return draw.normal(h, d_q), draw.normal(h, d_k), draw.normal(h)


@check("additive_scores", points=0, show=True)
def one_sentence(additive_scores: Any, draw: Inputs) -> Any:
    """Two sentences of three queries and four keys, of different widths."""
    return additive_scores(
        draw.normal(2, 3, 5), draw.normal(2, 4, 6), *network(draw, 7, 5, 6)
    )


@check("additive_scores", points=0, show=True)
def equal_sizes(additive_scores: Any, draw: Inputs) -> Any:
    """Two sentences with as many queries as keys, all of one width."""
    return additive_scores(
        draw.normal(2, 3, 4), draw.normal(2, 3, 4), *network(draw, 4, 4, 4)
    )


@check("additive_attention", points=0, show=True)
def contexts_and_weights(additive_attention: Any, draw: Inputs) -> Any:
    """Three queries, four keys, values of another width."""
    query, keys, values = (
        draw.normal(2, 3, 4),
        draw.normal(2, 4, 5),
        draw.normal(2, 4, 2),
    )
    return additive_attention(query, keys, values, *network(draw, 6, 4, 5))


@law("soft_lookup")
def equal_scores(soft_lookup: Any, draw: Inputs) -> bool:
    """Where all scores are equal, the result is the mean of all values."""
    value = draw.normal(4, 3)
    found = soft_lookup(torch.zeros(5, dtype=value.dtype), draw.normal(4, 5), value)
    return torch.allclose(found, value.mean(dim=0), atol=1e-4)


@law("soft_lookup")
def scores_moved_together(soft_lookup: Any, draw: Inputs) -> bool:
    """The same number added to all scores, even 5000, changes nothing, at any temperature."""
    query, key, value = draw.normal(5), draw.normal(4, 5), draw.normal(4, 3)
    ones = torch.ones(4, 1, dtype=key.dtype)
    moved = torch.cat([query, 5000 * ones[0]]), torch.cat([key, ones], dim=-1)
    results = [
        (soft_lookup(*moved, value, t), soft_lookup(query, key, value, t))
        for t in (0.5, 1.0, 4.0)
    ]
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in results)


@law("additive_scores")
def added_and_not_multiplied(additive_scores: Any, draw: Inputs) -> bool:
    """A key of zeros still has a score: query and key are added before tanh, and not multiplied."""
    query, key = draw.normal(1, 2, 5), torch.zeros(1, 3, 6, dtype=torch.float64)
    return bool(additive_scores(query, key, *network(draw, 7, 5, 6)).abs().max() > 1e-3)


@law("additive_scores")
def a_score_for_each_pair(additive_scores: Any, draw: Inputs) -> bool:
    """Row i, column j has the score of query i and key j, which depends on no other query or key."""
    query, key = draw.normal(1, 3, 5), draw.normal(1, 4, 6)
    weights = network(draw, 7, 5, 6)
    part = additive_scores(query[:, :2], key[:, :3], *weights)
    return torch.allclose(
        additive_scores(query, key, *weights)[:, :2, :3], part, atol=1e-4
    )
