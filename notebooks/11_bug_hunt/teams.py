"""Five attentions that were handed in, and eight to practice on, each with the one bug that its label names."""

import torch
import wrong
from torch import Tensor
from wrong import Attention, Mask


def ada(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return team Ada's attention."""
    scores = torch.einsum("...ld,...sd->...ls", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True).clamp(min=-1e30)).exp()
    total = weights.sum(-1, keepdim=True)
    weights = weights / total.masked_fill(total == 0, 1)
    return torch.einsum("...ls,...sv->...lv", weights, value)


def bo(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return team Bo's attention."""
    scores = query @ key.mT / query.size(-1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0) @ value


def cleo(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return team Cleo's attention."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0) @ value


def dag(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return team Dag's attention."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1) @ value


def eve(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    """Return team Eve's attention."""
    query /= query.size(-1) ** 0.5
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0) @ value


def mask_turned_in_place(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Leave the mask inverted."""
    if mask is None:
        return wrong.right(query, key, value)
    return wrong.right(query, key, value, ~mask.logical_not_())


def always_float32(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
) -> Tensor:
    """Return float32 whatever comes in."""
    return wrong.right(query.float(), key.float(), value.float(), mask)


TEAMS: dict[str, Attention] = {f.__name__: f for f in (ada, bo, cleo, dag, eve)}
PRACTICE: dict[str, Attention] = {
    "scale": wrong.no_scale,
    "softmax_axis": wrong.softmax_over_queries,
    "value": wrong.values_from_keys,
    "mask_inverted": wrong.mask_inverted,
    "mask_leak": wrong.mask_after_softmax,
    "empty_row": wrong.fill_minus_inf,
    "mutates_input": mask_turned_in_place,
    "dtype": always_float32,
}
