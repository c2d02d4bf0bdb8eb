"""The hidden checks of lesson 10. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import (
    RoomyCache,
    attention_for,
    decoded,
    in_order,
    kept,
    rule,
    sizes_inside,
)

from autograder.checks import Inputs, battery, check

# What attention costs


@check("attention_cost", points=1)
def long_sequences(attention_cost: Any, draw: Inputs) -> Any:
    """Edge: a single query, a single key, and the sizes of large models."""
    k_len = 32768 + draw.integer(1, 9)
    return [
        in_order(attention_cost(1, 32, 1, k_len, 128, bytes_per_el=2)),
        in_order(attention_cost(batch=3, heads=8, q_len=k_len, k_len=1, d_head=64)),
        in_order(attention_cost(2, 12, 4099, k_len, 96, bytes_per_el=8)),
    ]


# The cache


@battery("KVCache", points=1, off={"gradients": "A model that writes does not learn."})
def other_sizes(cache_class: Any, draw: Inputs) -> Any:
    """Edge: caches of every size, growing by one and by many, single sentences and heads."""

    def appended(*parts: torch.Tensor) -> Any:
        cache = cache_class()
        pairs = list(zip(parts[::2], parts[1::2], strict=True))
        pairs += pairs[-1:]  # a token may be like the one before it
        return [kept(cache.append(*pair), cache) for pair in pairs], len(cache)

    return partial(appended, *(draw.normal(2, 3, t, 5) for t in (4, 4, 1, 1, 4, 4)))


# One step of decoding


class SharedCache(RoomyCache):
    """A cache that returns what it keeps, and no copies."""

    def contents(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return all keys and all values."""
        key, value = (room[:, :, : self._used] for room in self._room)
        return key, value


@battery(
    "decode_step", points=1, off={"gradients": "A model that writes does not learn."}
)
def other_modules(decode_step: Any, draw: Inputs) -> Any:
    """Edge: texts and caches of every size, biases, one head, a single sentence, two texts in turn, float32."""
    one = attention_for(draw, 4, 1, bias=True)
    first, second = RoomyCache(), SharedCache()
    texts = draw.normal(2, 4, 4), draw.normal(1, 6, 4)
    in_turn = [
        decode_step(one, texts[text][:, start:stop], (first, second)[text])
        for text, start, stop in ((0, 0, 1), (1, 0, 3), (0, 1, 4), (1, 3, 5), (1, 5, 6))
    ]
    single = attention_for(draw, 10, 2, bias=True).float()
    float32 = decoded(
        decode_step, single, draw.normal(3, 4, 10, dtype=torch.float32), (3, 1)
    )
    many = attention_for(draw, 6, 6)

    def step(x_new: torch.Tensor, *past: torch.Tensor) -> Any:
        cache = RoomyCache()
        cache.append(*past)
        return decode_step(many, x_new, cache), len(cache)

    past = draw.normal(2, 6, 5, 1), draw.normal(2, 6, 5, 1)
    call = partial(step, draw.normal(2, 3, 6), *past)
    return call, in_turn, len(first), len(second), float32


# Fewer heads for keys and values


@battery("repeat_kv", points=1)
def in_other_memory_order(repeat_kv: Any, draw: Inputs) -> Any:
    """Edge: heads that are not contiguous in memory, other sizes and dtypes, gradients, and n_rep = 1 with one head."""
    once = repeat_kv(draw.normal(2, 1, 3, 5), 1)
    return partial(repeat_kv, draw.normal(2, 3, 5, 4), n_rep=6), once


# The sliding window


@check("sliding_window_mask", points=1)
def single_rows(sliding_window_mask: Any, draw: Inputs) -> Any:
    """Edge: a single query, a single key, as many keys as queries on request, long sequences."""
    window = draw.integer(4, 9)
    return [
        sliding_window_mask(1, 3, 8),
        sliding_window_mask(1, 1),
        sliding_window_mask(1, 50, 6),
        sliding_window_mask(5, 2, 5),
        sliding_window_mask(q_len=40, window=window, k_len=60),
        sliding_window_mask(30, window),
    ]


# Block by block


@battery("blockwise_attention", points=1)
def edges(blockwise_attention: Any, draw: Inputs) -> Any:
    """Edge: inputs of every size and dtype, gradients, blocks of one, masks that broadcast or hide everything; and the
    sizes of tensors with a mask.
    """
    q, k, v = draw.normal(5, 4), draw.normal(7, 4), draw.normal(7, 3)
    mask, late = rule(draw, 5, 7), rule(draw, 5, 7)
    mask[:, 2:4], mask[2] = False, False
    late[:, :6], late[:, 6] = False, True
    one = draw.normal(1, 6).abs() + 1, draw.normal(9, 3)
    rising = torch.arange(9, dtype=torch.float64)[:, None] * 1000 + draw.normal(9, 6)
    results = [
        blockwise_attention(q, k, v, 3, draw.give(torch.zeros_like(mask))),
        blockwise_attention(q, k, v, 1, draw.give(late)),
        blockwise_attention(q, k, v, 7, draw.give(rule(draw, 7))),
        blockwise_attention(one[0], draw.give(rising), one[1], 2),
        blockwise_attention(one[0], draw.give(-rising), one[1], 2),
    ]
    long = draw.normal(50, 2), draw.normal(505, 2), draw.normal(505, 2)
    sizes = sizes_inside(blockwise_attention, long, 16, draw.give(rule(draw, 505)))
    return partial(blockwise_attention, q, k, v, 2, mask), results, sizes
