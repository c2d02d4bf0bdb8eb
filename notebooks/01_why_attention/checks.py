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


@law("soft_lookup")
def temperature_and_scores(soft_lookup: Any, draw: Inputs) -> bool:
    """A query twice as long at twice the temperature finds the same: scores are divided by the temperature."""
    query, key, value = draw.normal(3), draw.normal(5, 3), draw.normal(5, 2)
    one, other = (
        soft_lookup(query, key, value, 0.7),
        soft_lookup(2 * query, key, value, 1.4),
    )
    return torch.allclose(one, other, atol=1e-4)


@law("soft_lookup")
def shares_sum_to_one(soft_lookup: Any, draw: Inputs) -> bool:
    """The same vector added to all values is added to the result: the shares sum to 1, at any temperature."""
    query, key, value = draw.normal(3), draw.normal(5, 3), draw.normal(5, 2)
    results = [
        (soft_lookup(query, key, value + 4, t), soft_lookup(query, key, value, t) + 4)
        for t in (0.5, 1.0, 3.0)
    ]
    return all(torch.allclose(a, b, atol=1e-4) for a, b in results)


@law("soft_lookup")
def every_entry_counts(soft_lookup: Any, draw: Inputs) -> bool:
    """Every value has a share, also one with a low score: another value there changes the result a little."""
    query, key, value = (
        torch.ones(1).double(),
        torch.zeros(3, 1).double(),
        draw.normal(3, 2),
    )
    key[0] = 1.0
    other = torch.cat([value[:2], value[2:] + 5])
    change = soft_lookup(query, key, other) - soft_lookup(query, key, value)
    return torch.allclose(change, torch.full_like(change, 5 / (torch.e + 2)), atol=1e-3)


@law("additive_scores")
def linear_in_v(additive_scores: Any, draw: Inputs) -> bool:
    """With v twice as long all scores are twice as large: tanh acts before v, and nothing acts after it."""
    inputs = (
        draw.normal(2, 3, 4),
        draw.normal(2, 5, 6),
        draw.normal(7, 4),
        draw.normal(7, 6),
    )
    v = draw.normal(7)
    one, two = additive_scores(*inputs, v), additive_scores(*inputs, 2 * v)
    return torch.allclose(two, 2 * one, atol=1e-4)


@law("additive_scores")
def tanh_has_bounds(additive_scores: Any, draw: Inputs) -> bool:
    """With h ones in v no score is beyond h: tanh gives each of the h sums a number between -1 and 1."""
    inputs = (
        draw.normal(2, 3, 4),
        draw.normal(2, 5, 6),
        draw.normal(7, 4),
        draw.normal(7, 6),
    )
    scores = additive_scores(*inputs, torch.ones(7, dtype=torch.float64))
    return bool((scores.abs() <= 7.001).all())


def additive_inputs(draw: Inputs) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """Draw a query and a key, a value, and two matrices with v."""
    both = [draw.normal(2, 3, 4), draw.normal(2, 5, 6)]
    return (
        both,
        draw.normal(2, 5, 3),
        [draw.normal(7, 4), draw.normal(7, 6), draw.normal(7)],
    )


@law("additive_attention")
def weights_of_a_query_sum_to_one(additive_attention: Any, draw: Inputs) -> bool:
    """The weights of each query sum to 1 over the keys: softmax runs along the last axis of the scores."""
    both, value, weights = additive_inputs(draw)
    sums = additive_attention(*both, value, *weights)[1].sum(dim=-1)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


@law("additive_attention")
def contexts_are_mixed_values(additive_attention: Any, draw: Inputs) -> bool:
    """Values twice as large give contexts twice as large and the same weights, which come from query and key alone."""
    both, value, weights = additive_inputs(draw)
    one, two = (additive_attention(*both, v, *weights) for v in (value, 2 * value))
    return torch.allclose(two[0], 2 * one[0], atol=1e-4) and torch.allclose(
        two[1], one[1], atol=1e-4
    )


@law("additive_attention")
def mixed_by_these_weights(additive_attention: Any, draw: Inputs) -> bool:
    """The contexts are the values mixed by the very weights that are returned."""
    both, value, weights = additive_inputs(draw)
    contexts, shares = additive_attention(*both, value, *weights)
    return torch.allclose(contexts, shares @ value, atol=1e-4)
