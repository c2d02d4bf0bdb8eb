"""Twenty-one wrong attentions, each one slip away from the right one, and random inputs to try them on."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

Attention = Callable[..., Tensor]
Mask = Tensor | None
WRONG: dict[str, Attention] = {}


def right(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return PyTorch's own attention: a query that may look at nothing gets zeros."""
    return functional.scaled_dot_product_attention(query, key, value, mask)


def wrong(attention: Attention) -> Attention:
    """Add an attention to the list."""
    WRONG[attention.__name__] = attention
    return attention


def scores_of(query: Tensor, key: Tensor, mask: Mask) -> Tensor:
    """Return scaled scores, minus infinity where the mask hides a key."""
    return hide(query @ key.mT / query.size(-1) ** 0.5, mask)


def hide(scores: Tensor, mask: Mask, fill: float = -torch.inf) -> Tensor:
    """Put a number in place of the hidden scores."""
    return scores if mask is None else scores.masked_fill(~mask, fill)


def shares(scores: Tensor, dim: int = -1) -> Tensor:
    """Return a softmax in which a row of minus infinity becomes zeros."""
    return scores.softmax(dim).nan_to_num(0.0)


# The scale


@wrong
def no_scale(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Forget the scale."""
    return shares(hide(query @ key.mT, mask)) @ value


@wrong
def divide_by_d(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Divide by D, not by its root."""
    return shares(hide(query @ key.mT / query.size(-1), mask)) @ value


@wrong
def multiply_sqrt(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Multiply by the root of D."""
    return shares(hide(query @ key.mT * query.size(-1) ** 0.5, mask)) @ value


@wrong
def scale_by_dv(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Divide by the root of the values' size."""
    return shares(hide(query @ key.mT / value.size(-1) ** 0.5, mask)) @ value


@wrong
def scale_by_len(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Divide by the root of the number of keys."""
    return shares(hide(query @ key.mT / key.size(-2) ** 0.5, mask)) @ value


@wrong
def scale_after_softmax(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Scale the weights, not the scores."""
    return shares(hide(query @ key.mT, mask)) / query.size(-1) ** 0.5 @ value


# The softmax


@wrong
def softmax_over_queries(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Share each key's attention among the queries."""
    return shares(scores_of(query, key, mask), dim=-2) @ value


@wrong
def softmax_dim_0(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Run softmax along the first axis."""
    return shares(scores_of(query, key, mask), dim=0) @ value


@wrong
def softmax_dim_1(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Run softmax along the second axis."""
    return shares(scores_of(query, key, mask), dim=1) @ value


@wrong
def no_softmax(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Mix with the scores themselves."""
    return hide(query @ key.mT / query.size(-1) ** 0.5, mask, fill=0.0) @ value


@wrong
def softmax_all_entries(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Let all entries of a table sum to 1."""
    scores = scores_of(query, key, mask)
    return shares(scores.flatten(-2)).view_as(scores) @ value


# The mask


@wrong
def mask_inverted(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Take True for hidden."""
    return right(query, key, value, mask if mask is None else ~mask)


@wrong
def mask_ignored(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Do not use the mask."""
    return right(query, key, value)


@wrong
def mask_with_zero_score(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Set hidden scores to 0."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    return shares(hide(scores, mask, fill=0.0)) @ value


@wrong
def mask_after_softmax(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Set hidden weights to 0, and leave the others."""
    return hide(shares(scores_of(query, key, None)), mask, fill=0.0) @ value


@wrong
def fill_minus_1e9(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Set hidden scores to a large negative number."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    return shares(hide(scores, mask, fill=-1e9)) @ value


@wrong
def fill_minus_inf(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Forget the query that may look at nothing."""
    return scores_of(query, key, mask).softmax(dim=-1) @ value


@wrong
def fill_1e_minus_9(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Set hidden scores to a small number."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    return shares(hide(scores, mask, fill=1e-9)) @ value


@wrong
def mask_added(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Add the mask, 0 or 1, to the scores."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    return shares(scores if mask is None else scores + mask) @ value


# What goes in


@wrong
def values_from_keys(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Mix the keys."""
    return right(query, key, key, mask)


@wrong
def swapped_q_k(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Let the keys ask."""
    return right(key, query, value, mask)


def unnoticed(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> list[str]:
    """Return the names of the wrong attentions that an example does not tell from the right one."""
    expected = right(query, key, value, mask)
    found = []
    for name, attention in WRONG.items():
        try:
            result = attention(query, key, value, mask)
        except (RuntimeError, IndexError):  # an error is noticed
            continue
        if result.shape == expected.shape and (result - expected).abs().max() <= 1e-3:
            found.append(name)
    return found


def random_inputs(
    generator: torch.Generator,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw a query (B, H, L, D), keys (B, H, S, D), values (B, H, S, D_v) and a mask (B, 1, L, S), all sizes 1 to 4."""
    sizes = torch.randint(1, 5, (6,), generator=generator).tolist()
    batch, heads, queries, keys, entries, value_entries = sizes
    shapes = ((queries, entries), (keys, entries), (keys, value_entries))
    query, key, value = (
        torch.randn(batch, heads, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    )
    mask = torch.rand(batch, 1, queries, keys, generator=generator) < 0.7
    return query, key, value, mask
