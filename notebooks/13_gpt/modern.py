"""The GPT of lesson 13 with options: what large models of today do otherwise. The notebook imports it.

Without options it is the model of exercise 13.3, parameter by parameter.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


def rotate(x: Tensor) -> Tensor:
    """Turn each pair of neighboring entries of x (..., L, D) by an angle that grows with the position (lesson 7)."""
    length, size = x.shape[-2:]
    speeds = 10_000 ** (-torch.arange(0, size, 2, device=x.device) / size)
    angles = torch.outer(torch.arange(length, device=x.device), speeds)  # (L, D / 2)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Attention(nn.Module):
    """Causal multi-head attention: rotary or not, and with fewer heads for keys and values or not (lesson 10)."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        kv_heads: int,
        *,
        rotary: bool,
        bias: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.rotary, self.dropout = rotary, dropout
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, kv_heads * self.head_dim, bias=bias)
        self.v_proj = nn.Linear(d_model, kv_heads * self.head_dim, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E)."""
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # (B, H, L, D)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.rotary:
            q, k = rotate(q), rotate(k)
        mixed = functional.scaled_dot_product_attention(
            q,
            k,
            v,
            is_causal=True,
            dropout_p=self.dropout * self.training,
            enable_gqa=q.shape != k.shape,
        )
        return self.out_proj(mixed.transpose(1, 2).flatten(2))


class Gated(nn.Module):
    """A feed-forward network of three matrices, one of which opens and closes the others' way (Shazeer 2020)."""

    def __init__(self, d_model: int, d_ff: int, *, bias: bool) -> None:
        super().__init__()
        self.gate, self.up = (
            nn.Linear(d_model, d_ff, bias=bias),
            nn.Linear(d_model, d_ff, bias=bias),
        )
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E)."""
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """A pre-norm block: attention, then a feed-forward network, each added to what came in."""

    def __init__(
        self,
        attention: nn.Module,
        network: nn.Module,
        norm: Callable[[], nn.Module],
        dropout: float,
    ) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2, self.network = (
            norm(),
            attention,
            norm(),
            network,
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E)."""
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.network(self.norm2(x)))


class GPT(nn.Module):
    """A decoder-only transformer with a tied head: GPT-2's without options, nearly Llama's with all of them.

    Args:
        vocab_size: how many tokens there are.
        max_len: the longest sequence; with rotary positions any length will do.
        d_model: the model dimension E.
        num_heads: heads for queries.
        num_layers: blocks.
        dropout: on the embeddings, the attention weights and what a block's branches add, in training.
        rms: RMSNorm in place of LayerNorm.
        gated: the network of three matrices in place of two with a GELU in its tanh form.
        rotary: positions by rotating queries and keys, in place of a learned embedding.
        kv_heads: heads for keys and values; as many as for queries if None.
        bias: whether linear layers have biases.
        d_ff: the inner width of the networks, 4E if None.
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        *,
        dropout: float = 0.0,
        rms: bool = False,
        gated: bool = False,
        rotary: bool = False,
        kv_heads: int | None = None,
        bias: bool = True,
        d_ff: int | None = None,
    ) -> None:
        super().__init__()
        width = d_ff or 4 * d_model

        def norm() -> nn.Module:
            return nn.RMSNorm(d_model, eps=1e-5) if rms else nn.LayerNorm(d_model)

        def network() -> nn.Module:
            if gated:
                return Gated(d_model, width, bias=bias)
            first, last = (
                nn.Linear(d_model, width, bias=bias),
                nn.Linear(width, d_model, bias=bias),
            )
            return nn.Sequential(first, nn.GELU(approximate="tanh"), last)

        def block() -> Block:
            attention = Attention(
                d_model,
                num_heads,
                kv_heads or num_heads,
                rotary=rotary,
                bias=bias,
                dropout=dropout,
            )
            return Block(attention, network(), norm, dropout)

        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = None if rotary else nn.Embedding(max_len, d_model)
        self.dropout, self.norm = nn.Dropout(dropout), norm()
        self.blocks = nn.ModuleList(block() for _ in range(num_layers))
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, L, vocab_size) for tokens (B, L)."""
        x = self.token_embedding(tokens)
        if self.position_embedding is not None:
            x = x + self.position_embedding(
                torch.arange(tokens.size(1), device=tokens.device)
            )
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.token_embedding.weight)
