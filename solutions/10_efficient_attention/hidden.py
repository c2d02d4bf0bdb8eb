"""The hidden checks of lesson 10. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import (
    RoomyCache,
    all_compared,
    attention_for,
    decoded,
    grown,
    in_order,
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


@check("KVCache", points=1, summary=all_compared)
def other_sizes(cache_class: Any, draw: Inputs) -> Any:
    """Edge: growing by one and by many, single sentences and heads, caches of different lengths, half precision."""
    return {
        "one by one": grown(cache_class, draw, (1, 3, 2), (1, 1, 1, 1, 5)),
        "many": grown(cache_class, draw, (4, 1, 3), (7, 2)),
        "long": grown(cache_class, draw, (1, 1, 2), (300, 1, 1, 40)),
        "float16": grown(cache_class, draw, (3, 2, 5), (1, 6), dtype=torch.float16),
    }


# One step of decoding


class SharedCache(RoomyCache):
    """A cache that returns what it keeps, and no copies."""

    def contents(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return all keys and all values."""
        key, value = (room[:, :, : self._used] for room in self._room)
        return key, value


@check("decode_step", points=1)
def other_modules(decode_step: Any, draw: Inputs) -> Any:
    """Edge: biases, one head and many, a single sentence, two texts in turn, unchanged caches, float32."""
    one, many = attention_for(draw, 4, 1, bias=True), attention_for(draw, 6, 6)
    first, second = RoomyCache(), SharedCache()
    texts = draw.normal(2, 4, 4), draw.normal(1, 6, 4)
    in_turn = [
        decode_step(one, texts[text][:, start:stop], (first, second)[text])
        for text, start, stop in ((0, 0, 1), (1, 0, 3), (0, 1, 4), (1, 3, 5), (1, 5, 6))
    ]
    single = attention_for(draw, 10, 2, bias=True).float()
    return {
        "in turn": in_turn,
        "lengths": [len(first), len(second)],
        "many heads": decoded(decode_step, many, draw.normal(1, 9, 6), (2, 3, 1, 3)),
        "float32": decoded(
            decode_step, single, draw.normal(3, 4, 10, dtype=torch.float32), (3, 1)
        ),
    }


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


def gradients(blockwise_attention, draw):
    """Return the gradients of queries, keys and values, with masks that hide whole blocks and whole rows."""
    shapes = (3, 5, 4), (3, 8, 4), (3, 8, 2)
    q, k, v = (draw.normal(*shape).requires_grad_() for shape in shapes)
    mask = rule(draw, 5, 8)
    mask[:, 3:6], mask[2], mask[4, 1:] = False, False, False
    mask[4, 0] = True
    results = [
        blockwise_attention(q, k, v, 3),
        blockwise_attention(q, k, v, 3, mask=draw.give(mask)),
        blockwise_attention(q, k, v, 100, mask=mask),
    ]
    weights = [draw.normal(3, 5, 2) for _ in results]
    sum((r * w).sum() for r, w in zip(results, weights, strict=True)).backward()
    return q.grad, k.grad, v.grad, [r.isfinite().all().item() for r in results]


@check("blockwise_attention", points=1)
def edges(blockwise_attention: Any, draw: Inputs) -> Any:
    """Edge: a single query or key, float32, inputs that are not contiguous, blocks of one, masks that broadcast or hide
    everything; gradients; and the sizes of tensors with a mask.
    """
    turned = [draw.give(draw.normal(3, n, m).mT) for n, m in ((4, 5), (4, 7), (2, 7))]
    single = [draw.normal(2, n, 4, dtype=torch.float32) for n in (3, 5, 5)]
    one = draw.normal(1, 6), draw.normal(9, 6), draw.normal(9, 3)
    nothing = draw.give(torch.zeros(5, 7, dtype=torch.bool))
    late = rule(draw, 3, 1, 7)
    late[..., :6], late[..., 6] = False, True
    rising = torch.arange(9, dtype=torch.float64)[:, None] * 1000 + one[1]
    results = [
        blockwise_attention(*turned, 2, draw.give(rule(draw, 5, 7))),
        blockwise_attention(*turned, 3, nothing),
        blockwise_attention(*turned, 1, draw.give(late)),
        blockwise_attention(*turned, 7, draw.give(rule(draw, 7))),
        blockwise_attention(*single, 2, draw.give(rule(draw, 2, 3, 5))),
        blockwise_attention(*one, 4),
        blockwise_attention(*(t[:1] for t in one), 4),
        blockwise_attention(one[0].abs() + 1, draw.give(rising), one[2], 2),
        blockwise_attention(one[0].abs() + 1, draw.give(-rising), one[2], 2),
    ]
    long = draw.normal(150, 17), draw.normal(331, 17), draw.normal(331, 2)
    sizes = sizes_inside(blockwise_attention, long, 16, draw.give(rule(draw, 331)))
    return results, gradients(blockwise_attention, draw), sizes
