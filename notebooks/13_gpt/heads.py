"""Stand-ins for the tools of lesson 9: what cells use there, and in lesson 13, where an exercise is still open."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


def one_back(weights: Tensor) -> Tensor:
    """Return how much of its weight (B, H, L, L) each head puts on the token before, (H,)."""
    rows = range(1, weights.size(-1))
    return weights[..., rows, [i - 1 for i in rows]].mean(dim=(0, 2))


def repetition(weights: Tensor, period: Tensor) -> Tensor:
    """Return how much each head puts on the token after the previous occurrence, (H,).

    weights is (B, H, L, L). period is (B,), the number of tokens after which a sequence repeats.
    """
    places = [
        (b, i, i - int(p) + 1)
        for b, p in enumerate(period)
        for i in range(int(p), weights.size(-1))
    ]
    sequences, rows, columns = zip(*places, strict=True)
    return weights[list(sequences), :, list(rows), list(columns)].mean(dim=0)


@contextmanager
def silenced(module: nn.Module, head: int) -> Iterator[None]:
    """Switch one head of attention.MultiHeadAttention off inside a `with` block: what reads it is 0 there."""
    weight = module.out_proj.weight
    size = weight.size(1) // module.num_heads
    columns, kept = slice(head * size, head * size + size), weight.detach().clone()
    with torch.no_grad():
        weight[:, columns] = 0.0
    try:
        yield
    finally:
        with torch.no_grad():
            weight[:, columns] = kept[:, columns]
