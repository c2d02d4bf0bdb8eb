"""A cache and its use, for readers who have not written those of lesson 10. The notebook imports it via `given`."""

import torch
from attention import MultiHeadAttention
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


class KVCache:
    """Keys and values of all tokens so far, (B, H, S, D) each."""

    def __init__(self) -> None:
        self.kept: list[tuple[Tensor, Tensor]] = []

    def __len__(self) -> int:
        return sum(key.size(-2) for key, _ in self.kept)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add those of new tokens, (B, H, T, D); return all."""
        self.kept.append((key, value))
        keys, values = zip(*self.kept, strict=True)
        return torch.cat(keys, dim=-2), torch.cat(values, dim=-2)


def decode_step(mha: MultiHeadAttention, x_new: Tensor, cache: KVCache) -> Tensor:
    """Return what causal attention returns for the last T tokens, x_new (B, T, E); the cache holds all earlier ones."""
    query, *new = (
        layer(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
        for layer in (mha.q_proj, mha.k_proj, mha.v_proj)
    )
    seen = len(cache)
    keys, values = cache.append(*new)
    places = torch.arange(keys.size(-2), device=x_new.device)
    mask = places[seen:, None] >= places  # (T, S)
    mixed = scaled_dot_product_attention(query, keys, values, mask)
    return mha.out_proj(mixed.transpose(1, 2).flatten(2))
