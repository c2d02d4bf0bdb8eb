"""The module of lesson 6, so that this lesson does not depend on your other notebooks."""

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Multi-head attention, with dropout on the weights in training (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(
        self, d_model: int, num_heads: int, *, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        query is (B, L, E), key and value are (B, S, E). key defaults to the query, and value to the key.
        mask is boolean, True where a query may look: (L, S), (B, L, S), (B, H, L, S), or what broadcasts to one.
        A query with no visible keys has weights 0.
        Returns the output (B, L, E), and the weights (B, H, L, S) before dropout if need_weights is set, else None.
        """
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)
            for layer, x in (
                (self.q_proj, query),
                (self.k_proj, key),
                (self.v_proj, value),
            )
        )
        scores = q @ k.mT / math.sqrt(q.size(-1))  # (B, H, L, S)
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        mixed = (self.dropout(weights) @ v).movedim(-3, -2).flatten(-2)
        return self.out_proj(mixed), weights if need_weights else None
