"""The hidden checks of lesson 10, and the mistakes that students make in it. Never given to students."""

import math
from typing import Any, ClassVar

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

from autograder.checks import Inputs, check, mistake

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


def costs(batch, heads, q_len, k_len, d_head, bytes_per_el):
    """Return the right costs."""
    pairs = batch * heads * q_len * k_len
    return {
        "score_flops": 2 * pairs * d_head,
        "mix_flops": 2 * pairs * d_head,
        "score_bytes": pairs * bytes_per_el,
        "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el,
    }


@mistake("attention_cost", hint=2)
def multiplications_only(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Both counts of operations are half of what they should be: only the multiplications were counted, without the
    additions.
    """
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {
        "score_flops": right["score_flops"] // 2,
        "mix_flops": right["mix_flops"] // 2,
    }


@mistake("attention_cost", hint=2)
def additions_forgotten_in_scores(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """score_flops is half of what it should be, mix_flops is right. A dot product has additions too."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"score_flops": right["score_flops"] // 2}


@mistake("attention_cost", hint=2)
def additions_forgotten_in_the_mixture(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """mix_flops is half of what it should be, score_flops is right. A weighted sum has additions too."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"mix_flops": right["mix_flops"] // 2}


@mistake("attention_cost")
def one_addition_less(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """You counted one addition less per sum than multiplications. By the usual convention each multiplication comes
    with an addition.
    """
    rows = batch * heads * q_len
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_flops": rows * k_len * (2 * d_head - 1),
        "mix_flops": rows * d_head * (2 * k_len - 1),
    }


@mistake("attention_cost")
def one_addition_less_in_scores(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops has one addition less per dot product than multiplications. By convention, each multiplication comes
    with one.
    """
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_flops": batch * heads * q_len * k_len * (2 * d_head - 1)
    }


@mistake("attention_cost", hint=2)
def everything_twice(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Each count of operations is twice what it should be. Scores and mixing are two matrix products; each key is for
    one of them.
    """
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {
        "score_flops": 2 * right["score_flops"],
        "mix_flops": 2 * right["mix_flops"],
    }


@mistake("attention_cost")
def softmax_in_the_mixture(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """mix_flops has one operation per score too many: softmax, or a division, was counted. Leave both out."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"mix_flops": right["mix_flops"] + batch * heads * q_len * k_len}


@mistake("attention_cost")
def scaling_in_the_scores(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops has one operation per score too many: the scaling, or softmax, was counted. Leave both out."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"score_flops": right["score_flops"] + batch * heads * q_len * k_len}


@mistake("attention_cost")
def softmax_in_the_scores(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops has three operations per score too many, as softmax needs them. Softmax is left out here."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {
        "score_flops": right["score_flops"] + 3 * batch * heads * q_len * k_len
    }


@mistake("attention_cost")
def five_operations_per_score(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops has five operations per score too many, which is what softmax is often said to take. It is left out
    here.
    """
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {
        "score_flops": right["score_flops"] + 5 * batch * heads * q_len * k_len
    }


@mistake("attention_cost", hint=1)
def mixture_of_queries(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """mix_flops was computed without k_len. Each query's output is a sum over all k_len values."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "mix_flops": 2 * batch * heads * q_len * q_len * d_head
    }


@mistake("attention_cost", hint=1)
def mixture_without_queries(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """mix_flops was computed without q_len. There is one sum over the values for each query."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "mix_flops": 2 * batch * heads * k_len * k_len * d_head
    }


@mistake("attention_cost", hint=1)
def square_table(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_bytes is that of a square table. It has q_len rows and k_len columns."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_bytes": batch * heads * k_len * k_len * bytes_per_el
    }


@mistake("attention_cost")
def softmax_as_a_fifth_cost(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Softmax has an entry of its own. Return the four keys of the docstring, and no others."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "softmax_flops": 3 * batch * heads * q_len * k_len
    }


@mistake("attention_cost", hint=1)
def heads_forgotten(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The heads were forgotten: this is what one head costs. Each has its own scores, keys and values."""
    return costs(batch, 1, q_len, k_len, d_head, bytes_per_el)


@mistake("attention_cost", hint=1)
def heads_forgotten_in_operations(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """The bytes are right, but the operations are those of one head. d_head is the dimension of a single one."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(batch, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ("score_flops", "mix_flops")}


@mistake("attention_cost", hint=1)
def heads_forgotten_in_bytes(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The operations are right, but the bytes are those of one head. Each head has its own scores, keys and values."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(batch, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ("score_bytes", "kv_bytes")}


@mistake("attention_cost", hint=1)
def one_table_for_all_heads(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Only score_bytes is wrong: it has one table per sentence. Each head has a table of scores of its own."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_bytes": batch * q_len * k_len * bytes_per_el
    }


@mistake("attention_cost", hint=3)
def shared_keys_and_values(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Only kv_bytes is wrong: one head's keys and values were counted. Here each head has its own."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": 2 * batch * k_len * d_head * bytes_per_el
    }


@mistake("attention_cost", hint=1)
def batch_forgotten(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The batch was forgotten: this is what one sentence costs."""
    return costs(1, heads, q_len, k_len, d_head, bytes_per_el)


@mistake("attention_cost", hint=1)
def batch_forgotten_in_operations(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """The bytes are right, but the operations are those of one sentence. Each sentence of the batch has its own."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(1, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ("score_flops", "mix_flops")}


@mistake("attention_cost", hint=2)
def both_products_in_the_scores(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops is twice what it should be, mix_flops is right. Mixing the values has an entry of its own."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"score_flops": 2 * right["score_flops"]}


@mistake("attention_cost")
def bytes_swapped(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_bytes and kv_bytes are swapped."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {
        "score_bytes": right["kv_bytes"],
        "kv_bytes": right["score_bytes"],
    }


@mistake("attention_cost", hint=3)
def batch_forgotten_in_the_cache(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Only kv_bytes is wrong: it is that of one sentence. Each sentence of the batch has its own keys and values."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": 2 * heads * k_len * d_head * bytes_per_el
    }


@mistake("attention_cost", hint=1)
def batch_and_heads_forgotten(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Batch and heads were both forgotten: this is what one head of one sentence costs."""
    return costs(1, 1, q_len, k_len, d_head, bytes_per_el)


@mistake("attention_cost", hint=1)
def batch_and_heads_forgotten_in_bytes(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """The operations are right, but the bytes are those of one head of one sentence. How many are there in a batch?"""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(1, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ("score_bytes", "kv_bytes")}


@mistake("attention_cost")
def heads_counted_twice(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The heads were counted twice in d: once as heads and once in the model dimension. A head's dot products have
    dimension d_head.
    """
    return costs(batch, heads, q_len, k_len, heads * d_head, bytes_per_el)


@mistake("attention_cost")
def heads_counted_twice_in_operations(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """The operations were counted with the model dimension and then once per head. A dot product has d_head terms."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    wide = costs(batch, heads, q_len, k_len, heads * d_head, bytes_per_el)
    return right | {name: wide[name] for name in ("score_flops", "mix_flops")}


@mistake("attention_cost", hint=3)
def heads_counted_twice_in_the_cache(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """Only kv_bytes is wrong: the heads are in it twice. All heads together have d_model = heads * d_head entries."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"kv_bytes": heads * right["kv_bytes"]}


@mistake("attention_cost")
def dimension_split_again(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """d_head was divided by the number of heads. It is the dimension of one head already."""
    return costs(batch, heads, q_len, k_len, d_head // heads, bytes_per_el)


@mistake("attention_cost")
def scores_with_a_dimension(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_bytes is d_head times too large. A score is one number: the sum over the dimensions is over by then."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"score_bytes": right["score_bytes"] * d_head}


@mistake("attention_cost")
def scores_and_weights_stored(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_bytes is twice what it should be. It is one table, that of the scores, without the weights."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"score_bytes": 2 * right["score_bytes"]}


@mistake("attention_cost", hint=3)
def keys_alone(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes is half of what it should be: it counts the keys or the values, and both are stored."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"kv_bytes": right["kv_bytes"] // 2}


@mistake("attention_cost", hint=3)
def queries_cached(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes was computed with q_len. Keys and values belong to the tokens that are looked at: k_len of them."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": 2 * batch * heads * q_len * d_head * bytes_per_el
    }


@mistake("attention_cost", hint=3)
def queries_cached_too(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The queries are in kv_bytes as well. It is the keys and the values, and nothing else."""
    rows = batch * heads * (2 * k_len + q_len)
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": rows * d_head * bytes_per_el
    }


@mistake("attention_cost", hint=3)
def one_key_and_one_query_length(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes was computed with q_len and k_len, one each. Keys and values both belong to k_len tokens."""
    rows = batch * heads * (k_len + q_len)
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": rows * d_head * bytes_per_el
    }


@mistake("attention_cost", hint=1)
def as_many_keys_as_queries(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """k_len was not used, as if there were as many keys as queries. Each query meets k_len keys."""
    return costs(batch, heads, q_len, q_len, d_head, bytes_per_el)


@mistake("attention_cost", hint=1)
def as_many_queries_as_keys(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """q_len was not used, as if there were as many queries as keys. A table of scores has q_len rows."""
    return costs(batch, heads, k_len, k_len, d_head, bytes_per_el)


@mistake("attention_cost")
def causal_half(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """Scores and mixing were halved, as a causal mask would allow. No mask was mentioned: all pairs count."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    half = ("score_flops", "mix_flops", "score_bytes")
    return right | {name: right[name] // 2 for name in half}


@mistake("attention_cost", hint=2)
def mixture_from_scores_alone(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """mix_flops has no d_head in it. Each weight multiplies a whole value, of d_head entries."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "mix_flops": 2 * batch * heads * q_len * k_len
    }


@mistake("attention_cost", hint=2)
def scores_without_a_dimension(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops has no d_head in it. Each score is a dot product, a sum of d_head products."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_flops": 2 * batch * heads * q_len * k_len
    }


@mistake("attention_cost", hint=3)
def cache_without_a_dimension(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes has no d_head in it: a key was counted as one number. It is a vector, and so is a value."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": 2 * batch * heads * k_len * bytes_per_el
    }


@mistake("attention_cost", hint=3)
def keys_per_query(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes has q_len in it, as if each query had keys of its own. All queries of a head share its keys."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"kv_bytes": q_len * right["kv_bytes"]}


@mistake("attention_cost")
def projections_counted(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """score_flops contains the projections of queries and keys. They are left out: count the dot products alone."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    width = heads * d_head
    return right | {
        "score_flops": right["score_flops"] + 2 * batch * (q_len + k_len) * width**2
    }


@mistake("attention_cost", hint=1)
def lengths_added(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The lengths were added. Every query meets every key: q_len times k_len pairs."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    pairs = batch * heads * (q_len + k_len)
    return right | {
        "score_flops": 2 * pairs * d_head,
        "mix_flops": 2 * pairs * d_head,
        "score_bytes": pairs * bytes_per_el,
    }


@mistake("attention_cost", hint=3)
def entries_counted(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """These are entries, not bytes: score_bytes and kv_bytes were not multiplied by bytes_per_el."""
    return costs(batch, heads, q_len, k_len, d_head, 1)


@mistake("attention_cost", hint=3)
def entries_counted_in_the_cache(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """kv_bytes counts entries. Each of them has bytes_per_el bytes, as in score_bytes."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "kv_bytes": 2 * batch * heads * k_len * d_head
    }


@mistake("attention_cost")
def entries_counted_in_the_scores(
    batch, heads, q_len, k_len, d_head, *, bytes_per_el=4
):
    """score_bytes counts entries. Each of them has bytes_per_el bytes, as in kv_bytes."""
    return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {
        "score_bytes": batch * heads * q_len * k_len
    }


@mistake("attention_cost", hint=3)
def always_four_bytes(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """An entry always has four bytes here. How many there are is in bytes_per_el: in half precision there are two."""
    return costs(batch, heads, q_len, k_len, d_head, 4)


@mistake("attention_cost")
def bits_counted(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """These are bits: score_bytes and kv_bytes are eight times too large. bytes_per_el is in bytes already."""
    return costs(batch, heads, q_len, k_len, d_head, 8 * bytes_per_el)


@mistake("attention_cost")
def bytes_in_operations(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The counts of operations were multiplied by bytes_per_el. An operation is one whatever the dtype is."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    flops = ("score_flops", "mix_flops")
    return right | {name: right[name] * bytes_per_el for name in flops}


@mistake("attention_cost")
def floats(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The right numbers, but as floats. A count is an int: use // instead of /, and 2 instead of 2.0."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return {name: float(number) for name, number in right.items()}


@mistake("attention_cost")
def in_a_tuple(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """The four numbers came back without their names. Return a dictionary with the docstring's keys."""
    return tuple(costs(batch, heads, q_len, k_len, d_head, bytes_per_el).values())


@mistake("attention_cost")
def total_added(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """There is a total as well. Return the four keys of the docstring, and leave adding up to the caller."""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {"total_flops": right["score_flops"] + right["mix_flops"]}


# The cache


@check("KVCache", points=1, summary=all_compared)
def other_sizes(cache_class: Any, draw: Inputs) -> Any:
    """Edge: growing by one and by many, single sentences and heads, caches of different lengths, half precision."""
    return {
        "one by one": grown(cache_class, draw, (1, 3, 2), (1, 1, 1, 1, 5)),
        "many": grown(cache_class, draw, (4, 1, 3), (7, 2)),
        "float16": grown(cache_class, draw, (3, 2, 5), (1, 6), dtype=torch.float16),
    }


class Stored:
    """A right cache in steps, so that a mistake can get one of them wrong."""

    def __init__(self):
        self.key = self.value = None

    def __len__(self):
        return 0 if self.key is None else self.key.size(-2)

    def join(self, old, new):
        return new.clone() if old is None else torch.cat([old, new], dim=-2)

    def append(self, key, value):
        self.key, self.value = self.join(self.key, key), self.join(self.value, value)
        return self.key, self.value


def joined_along(dim):
    """Make a way to join that cats along another axis."""
    return lambda self, old, new: (
        new.clone() if old is None else torch.cat([old, new], dim=dim)
    )


@mistake("attention_cost", hint=1)
def mixed_without_the_keys(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    """mix_flops lacks the number of keys: each entry of an output is a sum over all of them."""
    pairs = batch * heads * q_len * k_len
    return {
        "score_flops": 2 * pairs * d_head,
        "mix_flops": 2 * batch * heads * q_len * d_head,
        "score_bytes": pairs * bytes_per_el,
        "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el,
    }


@mistake("KVCache", hint=2)
class HeadsJoined(Stored):
    """The new positions were joined along the heads, axis 1, or the join stopped there. Positions are axis -2."""

    join = joined_along(1)


@mistake("KVCache", hint=2)
class FeaturesJoined(Stored):
    """The new positions were joined along the entries, the last axis. Positions are the axis before it, -2."""

    join = joined_along(-1)


@mistake("KVCache", hint=2)
class SentencesJoined(Stored):
    """The new positions were joined along the batch, which is what torch.cat does without `dim`. Positions are axis
    -2.
    """

    join = joined_along(0)


@mistake("KVCache", hint=2)
class Stacked(Stored):
    """It stopped: torch.stack makes a new axis and wants equal shapes. The new positions lengthen the axis of the old
    ones.
    """

    def join(self, old, new):
        return new.clone() if old is None else torch.stack([old, new], dim=-2)


@mistake("KVCache", hint=2)
class OnlyTheNewest(Stored):
    """Only the newest positions are in the cache: each append replaces what was there. Join the new to the old."""

    def join(self, old, new):
        return new.clone()


@mistake("KVCache")
class NewReturned(Stored):
    """append returned the new positions only, although all are stored. Return everything that the cache holds."""

    def append(self, key, value):
        Stored.append(self, key, value)
        return key, value


@mistake("KVCache")
class OldReturned(Stored):
    """The keys and values that came back are those from before the append. Store first, then return."""

    def append(self, key, value):
        before = self.key, self.value
        Stored.append(self, key, value)
        return (key, value) if before[0] is None else before


@mistake("KVCache")
class ValuesForgotten(Stored):
    """The keys are right, but the values are only the new ones. They are kept in the same way as keys."""

    def append(self, key, value):
        self.key = self.join(self.key, key)
        return self.key, value.clone()


@mistake("KVCache")
class KeysForgotten(Stored):
    """The values are right, but the keys are only the new ones. They are kept in the same way as values."""

    def append(self, key, value):
        self.value = self.join(self.value, value)
        self.key = self.value
        return key.clone(), self.value


@mistake("KVCache")
class KeysTwice(Stored):
    """The keys came back in place of the values. Was `key` written where `value` was meant?"""

    def append(self, key, value):
        self.key = self.value = self.join(self.key, key)
        return self.key, self.value


@mistake("KVCache")
class ValueJoinedToKeys(Stored):
    """The first values are keys: from the second append on, new values were joined to the old keys. Is it
    `self.value` in both places?
    """

    def append(self, key, value):
        old = self.key
        self.key = self.join(old, key)
        self.value = self.join(old, value)
        return self.key, self.value


@mistake("KVCache")
class KeyJoinedToValues(Stored):
    """The values end in keys: from the second append on, new keys were joined to the old values. Was `key` written
    where `value` was meant?
    """

    def append(self, key, value):
        new = value if self.value is None else key
        self.key, self.value = self.join(self.key, key), self.join(self.value, new)
        return self.key, self.value


@mistake("KVCache")
class PairSwapped(Stored):
    """Keys and values came back in the wrong order: keys first, then values."""

    def append(self, key, value):
        return Stored.append(self, key, value)[::-1]


@mistake("KVCache")
class KeysOnlyReturned(Stored):
    """Only the keys came back. Return a pair: all keys, and all values."""

    def append(self, key, value):
        return Stored.append(self, key, value)[0]


@mistake("KVCache")
class NothingReturned(Stored):
    """append returned None. It stores the new positions and also returns all keys and values."""

    def append(self, key, value):
        Stored.append(self, key, value)


@mistake("KVCache")
class ItselfReturned(Stored):
    """append returned the cache itself. Return a pair of tensors: all keys, and all values."""

    def append(self, key, value):
        Stored.append(self, key, value)
        return self


@mistake("KVCache")
class LengthReturned(Stored):
    """append returned a number, the length. It should return all keys and all values; len(cache) gives the length."""

    def append(self, key, value):
        Stored.append(self, key, value)
        return len(self)


@mistake("KVCache")
class OneTensor(Stored):
    """Keys and values came back stacked in one tensor. Return them as a pair."""

    def append(self, key, value):
        return torch.stack(Stored.append(self, key, value))


class Listed:
    """A cache that keeps what came in lists."""

    def __init__(self):
        self.keys, self.values = [], []

    def __len__(self):
        return sum(key.size(-2) for key in self.keys)

    def append(self, key, value):
        self.keys.append(key.clone())
        self.values.append(value.clone())


@mistake("KVCache")
class ListsReturned(Listed):
    """append returned lists of what came in. Join each to one tensor, (B, H, len(self), D)."""

    def append(self, key, value):
        Listed.append(self, key, value)
        return self.keys, self.values


@mistake("KVCache")
class ListCounted(Listed):
    """The length is the number of appends. It should be the number of positions: one append can bring several."""

    def __len__(self):
        return len(self.keys)

    def append(self, key, value):
        Listed.append(self, key, value)
        return torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2)


@mistake("KVCache", hint=2)
class BatchCounted(Stored):
    """The length is the size of the batch: that is what len of a tensor gives. Count positions, axis -2."""

    def __len__(self):
        return 0 if self.key is None else len(self.key)


@mistake("KVCache", hint=2)
class HeadsCounted(Stored):
    """The length is the number of heads, axis 1. Count positions, axis -2."""

    def __len__(self):
        return 0 if self.key is None else self.key.size(1)


@mistake("KVCache", hint=2)
class FeaturesCounted(Stored):
    """The length is the dimension of a key, the last axis. Count positions, axis -2."""

    def __len__(self):
        return 0 if self.key is None else self.key.size(-1)


@mistake("KVCache", hint=2)
class SentencesTimesPositions(Stored):
    """The length counts the positions of each sentence and head, or all entries. Each position counts once, whatever
    the batch is.
    """

    def __len__(self):
        return 0 if self.key is None else self.key.size(0) * self.key.size(-2)


@mistake("KVCache", hint=2)
class EntriesCounted(Stored):
    """The length is the number of entries, which is what numel gives. Count positions: the size of axis -2."""

    def __len__(self):
        return 0 if self.key is None else self.key.numel()


@mistake("KVCache")
class KeysAndValuesCounted(Stored):
    """The length is twice what it should be. A position has a key and a value, and counts once."""

    def __len__(self):
        return 0 if self.key is None else 2 * self.key.size(-2)


@mistake("KVCache")
class LengthNeverGrows(Stored):
    """The length stays 0 after an append. It is the number of positions that the cache holds by then."""

    def __len__(self):
        return 0


@mistake("KVCache")
class LastLength(Stored):
    """The length is that of the last append. It should count all positions so far: was it overwritten, not added to?"""

    def __len__(self):
        return 0 if self.key is None else self.last

    def append(self, key, value):
        self.last = key.size(-2)
        return Stored.append(self, key, value)


@mistake("KVCache", hint=1)
class NoLengthAtFirst(Stored):
    """len(cache) stops with an error when nothing was appended yet: there is no tensor to ask for its size. It is 0
    then.
    """

    def __len__(self):
        return self.key.size(-2)


@mistake("KVCache")
class SharedStore(Stored):
    """Two caches share what they hold: their lists or tensors belong to the class, not to the object. Create them in
    __init__, on `self`.
    """

    store: ClassVar[list] = [None, None]  # bounded below

    def __init__(self):
        pass

    def __len__(self):
        return 0 if self.store[0] is None else self.store[0].size(-2)

    def append(self, key, value):
        fits = self.store[0] is not None and self.store[0].shape[:2] == key.shape[:2]
        old = self.store[:] if fits and len(self) < 12 else [None, None]
        self.store[:] = [
            self.join(a, b) for a, b in zip(old, (key, value), strict=True)
        ]
        return tuple(self.store)


@mistake("KVCache", hint=3)
class Aliased(Stored):
    """What is stored changed when the caller overwrote its tensors: the cache holds the caller's own tensor. Copy what
    comes in.
    """

    def join(self, old, new):
        return new if old is None else torch.cat([old, new], dim=-2)


@mistake("KVCache")
class ListAliased(Listed):
    """Everything that was appended changed when the caller overwrote its tensors: the list holds the caller's own.
    Copy what comes in.
    """

    def append(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        return torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2)


@mistake("KVCache", hint=3)
class ValuesAliased(Stored):
    """The keys were copied, but the values are the caller's own tensor, which it overwrote. Copy both."""

    def append(self, key, value):
        self.key = self.join(self.key, key)
        self.value = (
            value if self.value is None else torch.cat([self.value, value], dim=-2)
        )
        return self.key, self.value


@mistake("KVCache", hint=1)
class FirstAppendLost(Stored):
    """The first positions are missing: what was appended first was not stored. Does the branch for the empty cache
    keep them?
    """

    def __init__(self):
        Stored.__init__(self)
        self.started = False

    def append(self, key, value):
        if not self.started:
            self.started = True
            return key.clone(), value.clone()
        return Stored.append(self, key, value)


@mistake("KVCache", hint=1)
class FirstAppendTwice(Stored):
    """The first positions are in the cache twice: the empty cache was filled with them, and then they were joined
    again.
    """

    def join(self, old, new):
        return torch.cat([new if old is None else old, new], dim=-2)


@mistake("KVCache", hint=2)
class NewInFront(Stored):
    """The new positions were put in front of the old ones. Time runs on: they belong at the end."""

    def join(self, old, new):
        return new.clone() if old is None else torch.cat([new, old], dim=-2)


@mistake("KVCache", hint=2)
class NewAdded(Stored):
    """The new keys and values were added to the old ones, number by number, or that stopped. Join them: each position
    stays.
    """

    def join(self, old, new):
        return new.clone() if old is None else old + new


@mistake("KVCache", hint=2)
class FirstKept(Stored):
    """After the first append nothing more is stored: the same keys and values come back each time. Join the new ones
    to them.
    """

    def join(self, old, new):
        return new.clone() if old is None else old


@mistake("KVCache")
class NothingStored(Stored):
    """Each append starts anew, and the length stays 0: nothing was stored. Assign to attributes of `self`."""

    def append(self, key, value):
        return self.join(None, key), self.join(None, value)


@mistake("KVCache")
class PairsReturned(Stored):
    """append returned a list of pairs, one for each append. Return one pair: all keys and all values."""

    def __init__(self):
        self.pairs = []

    def __len__(self):
        return sum(key.size(-2) for key, _ in self.pairs)

    def append(self, key, value):
        self.pairs.append((key.clone(), value.clone()))
        return self.pairs


@mistake("KVCache", hint=1)
class StartsInFloat32(Stored):
    """In half precision, float32 came back: the cache starts from an empty tensor of PyTorch's default dtype. Create it
    like the first key.
    """

    def join(self, old, new):
        start = torch.zeros(*new.shape[:2], 0, new.size(-1)) if old is None else old
        return torch.cat([start, new], dim=-2)


@mistake("KVCache")
class OnePositionEach(Stored):
    """Each append stored a single position. It can bring several, T of them: keep them all."""

    def join(self, old, new):
        return Stored.join(self, old, new[:, :, -1:])


@mistake("KVCache")
class TimeMovedBehind(Stored):
    """Heads and positions came back swapped, (B, S, H, D). Return them as they came in: (B, H, S, D)."""

    def append(self, key, value):
        return tuple(t.transpose(1, 2) for t in Stored.append(self, key, value))


@mistake("KVCache", hint=1)
class AppendStartsFromNone(Stored):
    """The first append stopped: there is nothing to join to yet, and torch.cat cannot take None. Treat the empty cache
    separately.
    """

    def join(self, old, new):
        return torch.cat([old, new], dim=-2)


# One step of decoding


@check("decode_step", points=1)
def other_modules(decode_step: Any, draw: Inputs) -> Any:
    """Edge: biases, one head and many, a single sentence, two texts in turn, and float32."""
    one, many = attention_for(draw, 4, 1, bias=True), attention_for(draw, 6, 6)
    first, second = RoomyCache(), RoomyCache()
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


def heads_of(mha, x):
    """Split into heads: (B, H, T, D)."""
    return x.unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)


def merged(x):
    """Merge heads: (B, T, E)."""
    return x.transpose(1, 2).flatten(2)


def triangle(new, total, shift):
    """Make a table of True below a diagonal."""
    return torch.ones(new, total, dtype=torch.bool).tril(shift)


def mixed(q, keys, values, mask=None, scale=None):
    """Attend with a mask."""
    scores = q @ keys.mT * (q.size(-1) ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1) @ values


def step(
    mha,
    x_new,
    cache,
    *,
    shift=0,
    mask=None,
    scale=None,
    split=heads_of,
    merge=merged,
    project=None,
    stored=lambda q, k, v: (k, v),
    used=lambda q, k, v, keys, values: (q, keys, values),
    finish=None,
):
    """Take a step that is right but for what is passed in."""
    project = project or (
        lambda: (mha.q_proj(x_new), mha.k_proj(x_new), mha.v_proj(x_new))
    )
    q, k, v = (split(mha, x) for x in project())
    keys, values = cache.append(*stored(q, k, v))
    q, keys, values = used(q, k, v, keys, values)
    new, total = q.size(-2), keys.size(-2)
    own = (
        triangle(new, total, total - new + shift) if mask is None else mask(new, total)
    )
    return (finish or mha.out_proj)(merge(mixed(q, keys, values, own, scale)))


@mistake("decode_step", hint=3)
def top_left(mha, x_new, cache):
    """The causal mask starts at the top left, so most of the cache is hidden. The last new token belongs to the last
    key.
    """
    return step(mha, x_new, cache, mask=lambda new, total: triangle(new, total, 0))


@mistake("decode_step", hint=3)
def masked_in_the_first_call_alone(mha, x_new, cache):
    """After the first call nothing is masked. That is right for T = 1, but several new tokens must not see
    the ones after them.
    """
    return step(
        mha,
        x_new,
        cache,
        mask=lambda new, total: triangle(new, total, 0) if new == total else None,
    )


@mistake("decode_step", hint=3)
def no_mask(mha, x_new, cache):
    """New tokens see the ones after them: right for T = 1 alone. Either the causal mask is missing, or it is lined up
    wrongly: the last new token belongs to the last key, which is its own.
    """
    return step(mha, x_new, cache, mask=lambda new, total: None)


@mistake("decode_step", hint=3)
def mask_of_the_new_alone(mha, x_new, cache):
    """The mask has as many columns as there are new tokens, or does not line up. It needs one per key, old ones
    included.
    """
    return step(mha, x_new, cache, mask=lambda new, total: triangle(new, new, 0))


@mistake("decode_step", hint=3)
def old_hidden(mha, x_new, cache):
    """The new tokens see one another but none of the old ones: the mask hides those, or what append returned was not
    used.
    """

    return step(
        mha,
        x_new,
        cache,
        mask=lambda new, total: (
            triangle(new, total, total - new) & (torch.arange(total) >= total - new)
        ),
    )


@mistake("decode_step", hint=3)
def one_ahead(mha, x_new, cache):
    """Each new token sees one key too many: the next one. The mask's edge is off by one."""
    return step(mha, x_new, cache, shift=1)


@mistake("decode_step", hint=3)
def not_oneself(mha, x_new, cache):
    """No new token sees itself, and the very first has nothing to look at. A query may see its own key."""
    return step(mha, x_new, cache, shift=-1)


@mistake("decode_step")
def mask_inverted(mha, x_new, cache):
    """The mask is inverted: each new token sees only what comes after it. With True = may attend, fill where the mask
    is False.
    """
    return step(
        mha,
        x_new,
        cache,
        mask=lambda new, total: ~triangle(new, total, total - new),
    )


@mistake("decode_step", hint=2)
def cache_never_filled(mha, x_new, cache):
    """Nothing was appended to the cache: the new tokens attend to one another only, and the next step has no past."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    return mha.out_proj(merged(mixed(q, k, v, triangle(q.size(-2), k.size(-2), 0))))


@mistake("decode_step", hint=1)
def tokens_unprojected(mha, x_new, cache):
    """The tokens themselves went into the cache. Keys and values are what k_proj and v_proj make of them."""
    return step(mha, x_new, cache, project=lambda: (mha.q_proj(x_new), x_new, x_new))


@mistake("decode_step", hint=2)
def new_values_alone(mha, x_new, cache):
    """It stopped where values are mixed: the keys came from the cache, but the values are the new ones only."""
    return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (q, keys, v))


@mistake("decode_step", hint=2)
def read_before_the_append(mha, x_new, cache):
    """The new tokens are missing among the keys: the cache was read before they were appended. A token sees itself
    too.
    """
    before = len(cache)

    def used(q, k, v, keys, values):
        old = before or keys.size(-2)
        return q, keys[:, :, :old], values[:, :, :old]

    return step(mha, x_new, cache, used=used, mask=lambda new, total: None)


@mistake("decode_step", hint=2)
def queries_in_place_of_keys(mha, x_new, cache):
    """The queries were appended to the cache in place of the keys. Only keys and values are needed again."""
    return step(mha, x_new, cache, stored=lambda q, k, v: (q, v))


@mistake("decode_step", hint=1)
def keys_projected_like_queries(mha, x_new, cache):
    """The keys went through q_proj, so queries are in the cache. Keys have a projection of their own, k_proj."""

    def project():
        return mha.k_proj(x_new), mha.q_proj(x_new), mha.v_proj(x_new)

    return step(mha, x_new, cache, project=project)


@mistake("decode_step")
def swapped_both_times(mha, x_new, cache):
    """The output is right, but keys and values are swapped in the cache. append takes the keys first."""
    return step(
        mha,
        x_new,
        cache,
        stored=lambda q, k, v: (v, k),
        used=lambda q, k, v, keys, values: (q, values, keys),
    )


@mistake("decode_step")
def swapped_once(mha, x_new, cache):
    """Keys and values were swapped on their way into the cache: append takes the keys first, then the values."""
    return step(mha, x_new, cache, stored=lambda q, k, v: (v, k))


@mistake("decode_step")
def swapped_on_the_way_back(mha, x_new, cache):
    """The cache is right, but what append returned was unpacked in the wrong order: all keys first, then all values."""
    return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (q, values, keys))


@mistake("decode_step")
def appended_twice(mha, x_new, cache):
    """The new tokens are in the cache twice. Each call of append makes it longer, and one is enough."""

    def stored(q, k, v):
        cache.append(k, v)
        return k, v

    return step(mha, x_new, cache, stored=stored)


@mistake("decode_step", hint=1)
def tokens_cached(mha, x_new, cache):
    """Old tokens pass through the projections again: the cache holds tokens instead of their keys and values. Project
    first, then append.
    """
    x, _ = cache.append(x_new[:, None], x_new[:, None])
    x = x[:, 0]
    if x.size(-1) != x_new.size(-1):
        raise ValueError("not tokens")
    mask = triangle(x.size(1), x.size(1), 0)
    return mha(x, mask=mask)[0][:, -x_new.size(1) :]


@mistake("decode_step", hint=1)
def tokens_remembered(mha, x_new, cache):
    """Old tokens pass through all projections again, which is the work that the cache saves. Project only the new
    ones.
    """
    old = vars(cache).get("x")
    x = x_new if old is None else torch.cat([old, x_new], dim=1)
    cache.x = x
    q, k, v = (heads_of(mha, p(x)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    new = x_new.size(1)
    cache.append(k[:, :, -new:], v[:, :, -new:])
    mask = triangle(new, x.size(1), x.size(1) - new)
    return mha.out_proj(merged(mixed(q[:, :, -new:], k, v, mask)))


@mistake("decode_step", hint=1)
def keys_computed_again(mha, x_new, cache):
    """Old tokens pass through k_proj and v_proj again. Their keys and values are what append returns."""
    old = vars(cache).get("x")
    x = x_new if old is None else torch.cat([old, x_new], dim=1)
    cache.x = x
    q = heads_of(mha, mha.q_proj(x_new))
    k, v = heads_of(mha, mha.k_proj(x)), heads_of(mha, mha.v_proj(x))
    new = x_new.size(1)
    cache.append(k[:, :, -new:], v[:, :, -new:])
    mask = triangle(new, x.size(1), x.size(1) - new)
    return mha.out_proj(merged(mixed(q, k, v, mask)))


@mistake("decode_step", hint=1)
def module_on_the_new_alone(mha, x_new, cache):
    """mha was called on the new tokens, without the cache: they see no past, and nothing was appended. Its layers are
    what you need.
    """
    return mha(x_new)[0]


@mistake("decode_step", hint=1)
def module_on_cached_keys(mha, x_new, cache):
    """mha was called on keys and values from the cache, which projected them a second time. They are projected already:
    attend to them as they are.
    """
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    mask = triangle(new, total, total - new)
    return mha(x_new, merged(keys), merged(values), mask=mask)[0]


@mistake("decode_step", hint=3)
def top_left_for_several(mha, x_new, cache):
    """Right for T = 1 and for a first prompt. For several tokens after others, the mask starts at the top left, as
    is_causal does: it has to end at the last key.
    """

    def mask(new, total):
        return triangle(new, total, 0) if new > 1 else None

    return step(mha, x_new, cache, mask=mask)


@mistake("decode_step", hint=2)
def positions_joined_as_heads(mha, x_new, cache):
    """The cache holds (B, T, H, D): the heads were moved forward only after the append. It takes (B, H, T, D)."""
    q, k, v = (
        p(x_new).unflatten(-1, (mha.num_heads, -1))
        for p in (mha.q_proj, mha.k_proj, mha.v_proj)
    )
    q, keys, values = (t.transpose(1, 2) for t in (q, *cache.append(k, v)))
    new, total = q.size(-2), keys.size(-2)
    return mha.out_proj(
        merged(mixed(q, keys, values, triangle(new, total, total - new)))
    )


@mistake("decode_step")
def without_softmax(mha, x_new, cache):
    """Softmax is missing: the values were mixed by their scores."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(
        ~triangle(new, total, total - new), 0.0
    )
    return mha.out_proj(merged(scores @ values))


@mistake("decode_step", hint=3)
def triangle_on_the_left(mha, x_new, cache):
    """The triangle of the new tokens covers the oldest keys, and the new keys are all visible. The new keys are the
    last ones.
    """

    def mask(new, total):
        return triangle(new, total, 0) | (torch.arange(total) >= new)

    return step(mha, x_new, cache, mask=mask)


@mistake("decode_step")
def softmax_over_heads(mha, x_new, cache):
    """Softmax ran along axis 1, over the heads. It should run over the keys, the last axis."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(
        ~triangle(new, total, total - new), -1e9
    )
    return mha.out_proj(merged(scores.softmax(dim=1) @ values))


@mistake("decode_step", hint=2)
def names_inside_the_cache(mha, x_new, cache):
    """It stopped: the keys were read from an attribute of the cache, and caches need not store them there. append
    returns all of them.
    """
    return step(
        mha,
        x_new,
        cache,
        used=lambda q, k, v, keys, values: (q, cache.key, cache.value),
    )


@mistake("decode_step", hint=2)
def heads_behind_positions(mha, x_new, cache):
    """The keys came to the cache as (B, T, H, D), positions before heads. It takes (B, H, T, D): move the heads
    forward.
    """
    q, k, v = (
        p(x_new).unflatten(-1, (mha.num_heads, -1))
        for p in (mha.q_proj, mha.k_proj, mha.v_proj)
    )
    keys, values = cache.append(k, v)
    return mha.out_proj(mixed(q, keys, values).flatten(2))


@mistake("decode_step", hint=2)
def not_split(mha, x_new, cache):
    """The heads were never split: there is one head of the whole model dimension. Split queries, keys and values as in
    lesson 6.
    """
    return step(mha, x_new, cache, split=lambda mha, x: x[:, None])


@mistake("decode_step")
def sequence_cut(mha, x_new, cache):
    """The split is wrong: view or reshape cut the sequence into heads. Split the last axis, then move the heads
    forward.
    """
    return step(
        mha,
        x_new,
        cache,
        split=lambda mha, x: x.reshape(x.size(0), mha.num_heads, x.size(1), -1),
    )


@mistake("decode_step")
def merged_without_moving(mha, x_new, cache):
    """Tokens were scrambled when the heads were merged, which T = 1 does not show. Move the heads next to their
    entries first.
    """
    return step(
        mha,
        x_new,
        cache,
        merge=lambda x: x.reshape(x.size(0), x.size(2), -1),
    )


@mistake("decode_step", hint=3)
def not_merged(mha, x_new, cache):
    """out_proj stopped: it got the heads one by one. Merge them into (B, T, E) first, as in lesson 6."""
    return step(mha, x_new, cache, merge=lambda x: x)


@mistake("decode_step", hint=3)
def no_output_projection(mha, x_new, cache):
    """out_proj was not applied: the heads are side by side but not mixed."""
    return step(mha, x_new, cache, finish=lambda x: x)


@mistake("decode_step")
def not_scaled(mha, x_new, cache):
    """The scores were not scaled. Divide them by the root of the head dimension."""
    return step(mha, x_new, cache, scale=1.0)


@mistake("decode_step")
def scaled_by_the_model(mha, x_new, cache):
    """The scores were scaled by the root of the model dimension. A dot product is within one head."""
    return step(mha, x_new, cache, scale=x_new.size(-1) ** -0.5)


@mistake("decode_step")
def scaled_by_the_heads(mha, x_new, cache):
    """The scores were scaled by the root of the number of heads. The dimension of a head makes them large."""
    return step(mha, x_new, cache, scale=mha.num_heads**-0.5)


@mistake("decode_step", hint=1)
def keys_as_queries(mha, x_new, cache):
    """The cached keys served as queries too. The queries are those of the new tokens, and go through q_proj."""
    return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (k, keys, values))


@mistake("decode_step")
def over_d(mha, x_new, cache):
    """The scores were divided by the head dimension instead of its root, or by the root twice."""
    return step(mha, x_new, cache, scale=mha.num_heads / x_new.size(-1))


@mistake("decode_step")
def pair_returned(mha, x_new, cache):
    """Two things came back. The output is wanted alone, unlike from mha itself."""
    return step(mha, x_new, cache), None


@mistake("decode_step", hint=3)
def last_token_only(mha, x_new, cache):
    """Only the last token's output came back. With T new tokens there are T rows."""
    return step(mha, x_new, cache)[:, -1:]


@mistake("decode_step")
def one_query_only(mha, x_new, cache):
    """The axis of the tokens is gone, (B, E). Keep it, even for a single one: (B, T, E)."""
    return step(mha, x_new, cache)[:, -1]


@mistake("decode_step")
def one_token_stored(mha, x_new, cache):
    """Only the last new token is in the cache. A prompt has several: append the keys and values of all T."""
    return step(mha, x_new, cache, stored=lambda q, k, v: (k[:, :, -1:], v[:, :, -1:]))


@mistake("decode_step", hint=1)
def values_not_projected(mha, x_new, cache):
    """The values are the tokens themselves: v_proj was not applied."""
    return step(
        mha,
        x_new,
        cache,
        project=lambda: (mha.q_proj(x_new), mha.k_proj(x_new), x_new),
    )


@mistake("decode_step")
def softmax_over_queries(mha, x_new, cache):
    """Softmax ran over the new queries, axis -2. It should run over the keys, axis -1."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(
        ~triangle(new, total, total - new), -math.inf
    )
    return mha.out_proj(merged(scores.softmax(dim=-2).nan_to_num(0.0) @ values))


@mistake("decode_step")
def masked_after_softmax(mha, x_new, cache):
    """The mask came after softmax, so rows sum to less than 1. Hide the scores first."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    weights = (q @ keys.mT / q.size(-1) ** 0.5).softmax(dim=-1)
    return mha.out_proj(merged(weights * triangle(new, total, total - new) @ values))


@mistake("decode_step")
def hidden_with_zero(mha, x_new, cache):
    """Later tokens still get weight: hidden scores became 0, which is a score like any other. Use minus infinity."""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = q.size(-2), keys.size(-2)
    scores = q @ keys.mT / q.size(-1) ** 0.5 * triangle(new, total, total - new)
    return mha.out_proj(merged(scores.softmax(dim=-1) @ values))


@mistake("decode_step", hint=3)
def window_of_one(mha, x_new, cache):
    """Each new token sees only its own key. It may look at all earlier ones as well."""
    return step(
        mha,
        x_new,
        cache,
        mask=lambda new, total: triangle(new, total, total - new).triu(total - new),
    )


# Fewer heads for keys and values


@check("repeat_kv", points=1)
def in_other_memory_order(repeat_kv: Any, draw: Inputs) -> Any:
    """Edge: heads that are not contiguous in memory, half precision, gradients, and n_rep = 1 with one head."""
    moved = draw.give(draw.normal(2, 5, 3, 4, dtype=torch.float16).transpose(1, 2))
    x = draw.normal(1, 3, 2, 4).requires_grad_()
    repeat_kv(x, 3).square().sum().backward()
    return (
        repeat_kv(moved, 2),
        x.grad,
        repeat_kv(draw.normal(2, 1, 3, 5), 1),
        repeat_kv(draw.give(draw.normal(2, 2, 4, 3).mT), n_rep=5),
    )


@mistake("repeat_kv", hint=2)
def tiled(x, n_rep):
    """The heads come in turn: 0, 1, 2, 0, 1, 2. Each head's copies belong together, 0, 0, 1, 1, 2, 2. `repeat` and
    cat tile.
    """
    return x.repeat(1, n_rep, 1, 1)


@mistake("repeat_kv", hint=1)
def along_the_batch(x, n_rep):
    """The sentences were repeated, axis 0. The heads are axis 1."""
    return x.repeat_interleave(n_rep, dim=0)


@mistake("repeat_kv", hint=1)
def joined_along_the_features(x, n_rep):
    """The copies were joined along the last axis, the entries. The heads are axis 1."""
    return torch.cat([x] * n_rep, dim=-1)


@mistake("repeat_kv", hint=1)
def along_the_positions(x, n_rep):
    """The positions were repeated, axis 2. The heads are axis 1."""
    return x.repeat_interleave(n_rep, dim=2)


@mistake("repeat_kv", hint=1)
def along_the_features(x, n_rep):
    """The entries of each key were repeated, the last axis. The heads are axis 1."""
    return x.repeat_interleave(n_rep, dim=-1)


@mistake("repeat_kv", hint=2)
def without_an_axis(x, n_rep):
    """All axes were flattened into one: that is what repeat_interleave does without `dim`. The heads are axis 1."""
    return x.repeat_interleave(n_rep)


@mistake("repeat_kv", hint=3)
def an_axis_too_many(x, n_rep):
    """The copies have an axis of their own, (B, G, n_rep, L, D). Join it with the heads: (B, G * n_rep, L, D)."""
    return x[:, :, None].expand(-1, -1, n_rep, -1, -1)


@mistake("repeat_kv", hint=3)
def copies_in_front_of_heads(x, n_rep):
    """The copies have an axis of their own, in front of the heads. They come after it, and the two are then joined."""
    return x[:, None].expand(-1, n_rep, -1, -1, -1)


@mistake("repeat_kv", hint=3)
def stacked_only(x, n_rep):
    """The copies were stacked along a new first axis. The result has four axes: copies and heads share axis 1."""
    return torch.stack([x] * n_rep)


@mistake("repeat_kv")
def view_of_expanded(x, n_rep):
    """It stopped: after `expand` copies share their memory, and `view` cannot join the axes. Use reshape or flatten."""
    b, g, n, d = x.shape
    if n_rep == 1:
        return x.repeat_interleave(n_rep, dim=1)
    return x[:, :, None].expand(b, g, n_rep, n, d).view(b, g * n_rep, n, d)


@mistake("repeat_kv", hint=3)
def expanded_heads(x, n_rep):
    """It stopped: `expand` stretches only axes of size 1, and there are several heads. Give the copies a new axis
    first.
    """
    return x.expand(-1, x.size(1) * n_rep, -1, -1)


@mistake("repeat_kv", hint=3)
def joined_with_positions(x, n_rep):
    """The copies were joined with the positions: (B, G, n_rep * L, D). They belong to the heads."""
    return x[:, :, None].expand(-1, -1, n_rep, -1, -1).flatten(2, 3)


@mistake("repeat_kv", hint=3)
def rows_scrambled(x, n_rep):
    """The shape is right, but positions are scrambled: the copies' axis was put in the wrong place before joining. It
    goes next to the heads.
    """
    b, g, n, d = x.shape
    return x[:, :, :, None].expand(b, g, n, n_rep, d).reshape(b, g * n_rep, n, d)


@mistake("repeat_kv", hint=1)
def features_scrambled(x, n_rep):
    """The shape is right, but the entries of different keys are mixed up: the last axis was repeated before reshaping.
    Repeat heads.
    """
    b, g, n, d = x.shape
    return x.repeat_interleave(n_rep, dim=-1).reshape(b, g * n_rep, n, d)


@mistake("repeat_kv", hint=1)
def sentences_scrambled(x, n_rep):
    """The shape is right, but sentences are mixed up: the batch was repeated and then reshaped into heads. Repeat
    axis 1.
    """
    b, g, n, d = x.shape
    return x.repeat(n_rep, 1, 1, 1).reshape(b, g * n_rep, n, d)


@mistake("repeat_kv")
def number_of_query_heads(x, n_rep):
    """n_rep was taken for the number of heads wanted. It says how often each head occurs."""
    heads = [g * x.size(1) // n_rep for g in range(n_rep)]
    return x[:, heads]


@mistake("repeat_kv")
def one_too_many(x, n_rep):
    """Each head occurs once too often. The original is one of its n_rep occurrences."""
    return x.repeat_interleave(n_rep + 1, dim=1)


@mistake("repeat_kv")
def first_head_for_all(x, n_rep):
    """The first head went to all query heads, as in multi-query attention. There are G heads, each for n_rep query
    heads.
    """
    return x[:, :1].expand(-1, x.size(1) * n_rep, -1, -1)


@mistake("repeat_kv")
def as_it_was(x, n_rep):
    """The heads were not repeated: x came back as it was. repeat and expand return a new tensor; is it used?"""
    return x


@mistake("repeat_kv")
def head_list(x, n_rep):
    """This is a list of heads. Return one tensor, with the heads as axis 1."""
    return [x[:, g] for g in range(x.size(1)) for _ in range(n_rep)]


@mistake("repeat_kv", hint=1)
def heads_first(x, n_rep):
    """The heads came first, before the sentences. The batch stays axis 0: stack along axis 1."""
    return torch.stack([x[:, g] for g in range(x.size(1)) for _ in range(n_rep)])


@mistake("repeat_kv", hint=1)
def heads_backward(x, n_rep):
    """The heads came back in reverse order, or in another one. Head 0 comes first, n_rep times."""
    return x.flip(1).repeat_interleave(n_rep, dim=1)


@mistake("repeat_kv", hint=1)
def heads_joined_in_the_batch(x, n_rep):
    """The copies were joined along the batch. They belong along the heads, axis 1."""
    return torch.cat([x] * n_rep)


@mistake("repeat_kv")
def zeros_between(x, n_rep):
    """Only one occurrence of each head has its entries, the others are 0. Each query head needs a whole copy."""
    copies = [x, *[torch.zeros_like(x)] * (n_rep - 1)]
    return torch.stack(copies, dim=2).flatten(1, 2)


@mistake("repeat_kv")
def shared_out(x, n_rep):
    """The entries were divided by n_rep. Each query head gets the whole key or value, not a share."""
    return x.repeat_interleave(n_rep, dim=1) / n_rep


@mistake("repeat_kv")
def multiplied(x, n_rep):
    """The heads are there often enough, but their entries were multiplied by n_rep. Copies equal the original."""
    return x.repeat_interleave(n_rep, dim=1) * n_rep


@mistake("repeat_kv")
def always_twice(x, n_rep):
    """Each head occurs twice, whatever n_rep says. It should occur n_rep times."""
    return x.repeat_interleave(2, dim=1)


@mistake("repeat_kv")
def once_is_nothing(x, n_rep):
    """For n_rep = 1 nothing came back. Once is allowed: every head then has one query head."""
    return x.repeat_interleave(n_rep, dim=1) if n_rep > 1 else None


@mistake("repeat_kv")
def once_is_refused(x, n_rep):
    """n_rep = 1 or a single head was refused. Both are allowed: nothing, or all, is then shared."""
    if n_rep == 1 or x.size(1) == 1:
        raise ValueError("refused")
    return x.repeat_interleave(n_rep, dim=1)


@mistake("repeat_kv")
def cut_off(x, n_rep):
    """The result is right, but no gradient reaches x: something on the way drops the graph, as detach,
    .data, torch.tensor and numpy do.
    """
    return x.detach().repeat_interleave(n_rep, dim=1)


@mistake("repeat_kv")
def made_contiguous_by_view(x, n_rep):
    """It stopped on heads that are not contiguous in memory. `view` needs them to be; reshape and flatten do not."""
    b, g, n, d = x.shape
    flat = x.view(b * g, n * d).repeat_interleave(n_rep, dim=0)
    return flat.view(b, g * n_rep, n, d)


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


def band(q_len, k_len, low, high, shift=None):
    """Make a mask in which key minus query lies between two numbers, both included."""
    k_len = q_len if k_len is None else k_len
    shift = k_len - q_len if shift is None else shift
    apart = torch.arange(k_len) - torch.arange(q_len)[:, None] - shift
    return (apart >= low) & (apart <= high)


@mistake("repeat_kv")
def total_for_n_rep(x, n_rep):
    """n_rep was taken for the number of query heads. It is how often each head is repeated."""
    return x.repeat_interleave(n_rep // x.size(1), dim=1)


@mistake("repeat_kv", hint=3)
def heads_expanded(x, n_rep):
    """It stopped: `expand` stretches an axis of size 1 only. Give the copies an axis of their own behind the heads,
    expand that one, and flatten the two.
    """
    return x.expand(x.size(0), x.size(1) * n_rep, x.size(2), x.size(3))


@mistake("sliding_window_mask", hint=3)
def one_too_many_keys(q_len, window, k_len=None):
    """Each query sees one key too many, at the far end of the window. Its own position is one of the `window`."""
    return band(q_len, k_len, -window, 0)


@mistake("sliding_window_mask", hint=3)
def one_too_few_keys(q_len, window, k_len=None):
    """Each query sees one key too few, at the far end: with a window of 1 it sees nothing. Its own and window - 1
    earlier ones.
    """
    return band(q_len, k_len, 2 - window, 0)


@mistake("sliding_window_mask", hint=2)
def one_ahead_as_well(q_len, window, k_len=None):
    """Each query sees the next key, which a causal mask hides. The window ends at the query's own position."""
    return band(q_len, k_len, 1 - window, 1)


@mistake("sliding_window_mask", hint=2)
def window_one_ahead(q_len, window, k_len=None):
    """The whole window is one position too far right: its last key is the one after the query. It ends at the query's
    own.
    """
    return band(q_len, k_len, 2 - window, 1)


@mistake("sliding_window_mask", hint=3)
def own_key_hidden(q_len, window, k_len=None):
    """No query sees its own key: the window ends one position before it. It should end with it."""
    return band(q_len, k_len, -window, -1)


@mistake("sliding_window_mask", hint=3)
def window_before_oneself(q_len, window, k_len=None):
    """A query's own key is hidden, and one of the window is missing. The window holds its own position and window - 1
    earlier ones.
    """
    return band(q_len, k_len, 1 - window, -1)


@mistake("sliding_window_mask", hint=2)
def symmetric(q_len, window, k_len=None):
    """The window reaches to both sides: each query sees later keys too. A causal mask looks back only."""
    return band(q_len, k_len, 1 - window, window - 1)


@mistake("sliding_window_mask", hint=2)
def symmetric_and_one_more(q_len, window, k_len=None):
    """The window reaches to both sides, and one position too far. It looks back only, its own position included."""
    return band(q_len, k_len, -window, window)


@mistake("sliding_window_mask", hint=2)
def centered(q_len, window, k_len=None):
    """The window is centered on the query, with half of it in the future. It should end at the query's own position."""
    return band(q_len, k_len, -(window // 2), window // 2)


@mistake("sliding_window_mask", hint=2)
def causality_forgotten(q_len, window, k_len=None):
    """Keys before the window are hidden, but all later ones are visible: the causal condition is missing."""
    return band(q_len, k_len, 1 - window, 10**6)


@mistake("sliding_window_mask", hint=2)
def window_forgotten(q_len, window, k_len=None):
    """This is the causal mask of lesson 5: the window plays no part. Keys further back than it are hidden."""
    return band(q_len, k_len, -(10**6), 0)


@mistake("sliding_window_mask", hint=2)
def outside_the_window(q_len, window, k_len=None):
    """Each query sees what lies before its window, and not the window. One comparison points the wrong way."""
    return band(q_len, k_len, -(10**6), -window)


@mistake("sliding_window_mask", hint=2)
def one_or_the_other(q_len, window, k_len=None):
    """Everything is visible. The two conditions, not later and not too early, have to hold together: & instead of |."""
    return band(q_len, k_len, -(10**6), 10**6)


@mistake("sliding_window_mask", hint=2)
def looking_ahead(q_len, window, k_len=None):
    """Inverted in time: each query sees its own key and later ones. It should see its own and earlier ones."""
    return band(q_len, k_len, 0, window - 1)


@mistake("sliding_window_mask", hint=2)
def window_of_later_keys(q_len, window, k_len=None):
    """Each query sees the `window` keys after it. The window looks back: its own position and earlier ones."""
    return band(q_len, k_len, 1, window)


@mistake("sliding_window_mask")
def hides_instead(q_len, window, k_len=None):
    """True marks what is hidden. In these lessons True means "may attend"."""
    return ~band(q_len, k_len, 1 - window, 0)


@mistake("sliding_window_mask", hint=1)
def window_at_the_top_left(q_len, window, k_len=None):
    """Right for as many keys as queries. With more keys the last query belongs to the last key, and here the first ones
    line up.
    """
    return band(q_len, k_len, 1 - window, 0, shift=0)


@mistake("sliding_window_mask", hint=1)
def lower_edge_at_the_top_left(q_len, window, k_len=None):
    """With more keys than queries, the causal edge is right but the far end of the window did not move along."""
    return band(q_len, k_len, -(10**6), 0) & band(
        q_len, k_len, 1 - window, 10**6, shift=0
    )


@mistake("sliding_window_mask", hint=1)
def upper_edge_at_the_top_left(q_len, window, k_len=None):
    """With more keys than queries, the far end of the window is right but the causal edge did not move along."""
    return band(q_len, k_len, -(10**6), 0, shift=0) & band(
        q_len, k_len, 1 - window, 10**6
    )


@mistake("sliding_window_mask", hint=1)
def shifted_too_far(q_len, window, k_len=None):
    """With more keys than queries, the queries stand one position too far right. The last query belongs to the last
    key.
    """
    more = 0 if k_len is None else k_len - q_len
    return band(q_len, k_len, 1 - window, 0, shift=more + (more > 0))


@mistake("sliding_window_mask", hint=1)
def shifted_the_wrong_way(q_len, window, k_len=None):
    """With more keys than queries, the window moved the wrong way, to the left. Later queries look at later keys."""
    more = 0 if k_len is None else k_len - q_len
    return band(q_len, k_len, 1 - window, 0, shift=-more)


@mistake("sliding_window_mask", hint=1)
def square_only(q_len, window, k_len=None):
    """k_len was not used: the mask has as many columns as rows. It needs one column per key."""
    return band(q_len, None, 1 - window, 0)


@mistake("sliding_window_mask")
def keys_required(q_len, window, k_len=None):
    """It stopped where k_len was left out and is None. It then equals q_len."""
    return band(q_len, k_len + 0, 1 - window, 0)


@mistake("sliding_window_mask", hint=3)
def half_a_window(q_len, window, k_len=None):
    """The window is half as long as it should be. All `window` places lie in the past, the query's own included."""
    return band(q_len, k_len, 1 - window // 2, 0)


@mistake("sliding_window_mask", hint=3)
def every_other_key(q_len, window, k_len=None):
    """Each query sees keys at steps of `window`, all the way back. A window is the last `window` positions in a row."""
    k_len = q_len if k_len is None else k_len
    apart = torch.arange(k_len - q_len, k_len)[:, None] - torch.arange(k_len)
    return (apart >= 0) & (apart % window == 0)


@mistake("sliding_window_mask", hint=2)
def cached_keys_all_seen(q_len, window, k_len=None):
    """With more keys than queries, all keys before the first query are visible. The window applies to those as well."""
    k_len = q_len if k_len is None else k_len
    old = torch.arange(k_len) < k_len - q_len
    return band(q_len, k_len, 1 - window, 0) | old


@mistake("sliding_window_mask")
def window_clipped_to_the_queries(q_len, window, k_len=None):
    """The window was limited to the number of queries. With few queries and many keys it may be longer than that."""
    return band(q_len, k_len, 1 - min(window, q_len), 0)


@mistake("sliding_window_mask", hint=2)
def edge_on_the_wrong_side(q_len, window, k_len=None):
    """No query sees its own key: `triu` with a positive diagonal keeps what lies right of it. The window's far end lies
    left.
    """
    return band(q_len, k_len, -(10**6), 0) & band(q_len, k_len, window, 10**6, shift=0)


@mistake("sliding_window_mask", hint=2)
def blocks(q_len, window, k_len=None):
    """The sequence was cut into blocks: a query sees its own block only. The window slides, one step per query."""
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    key = torch.arange(k_len)
    return (key <= query) & (key // window == query // window)


@mistake("sliding_window_mask", hint=2)
def last_keys_of_all(q_len, window, k_len=None):
    """All queries have one window, at the end of the sequence. Each has its own, which ends at its own position."""
    k_len = q_len if k_len is None else k_len
    return band(q_len, k_len, -(10**6), 0) & (torch.arange(k_len) >= k_len - window)


@mistake("sliding_window_mask", hint=2)
def first_keys_of_all(q_len, window, k_len=None):
    """Only the first keys of the sequence are visible. Each query has a window of its own, which ends at its own
    position.
    """
    k_len = q_len if k_len is None else k_len
    return band(q_len, k_len, -(10**6), 0) & (torch.arange(k_len) < window)


@mistake("sliding_window_mask")
def lying(q_len, window, k_len=None):
    """The table is transposed: rows belong to queries, columns to keys."""
    return band(q_len, k_len, 1 - window, 0).mT


@mistake("sliding_window_mask")
def mask_of_floats(q_len, window, k_len=None):
    """This is a mask of floats, which PyTorch's function would add to the scores. Make it boolean."""
    return band(q_len, k_len, 1 - window, 0).float()


@mistake("sliding_window_mask")
def mask_of_integers(q_len, window, k_len=None):
    """This is a mask of integers, and ~ would flip their bits. Make it boolean."""
    return band(q_len, k_len, 1 - window, 0).long()


@mistake("sliding_window_mask")
def numbers_to_add(q_len, window, k_len=None):
    """Zeros and minus infinities are to be added to scores, another convention. Here a mask is True and False."""
    mask = band(q_len, k_len, 1 - window, 0)
    return torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


@mistake("sliding_window_mask")
def axes_in_front(q_len, window, k_len=None):
    """Too many axes: the mask is a plain table, (L, S). It broadcasts over batch and heads by itself."""
    return band(q_len, k_len, 1 - window, 0)[None, None]


@mistake("sliding_window_mask", hint=2)
def window_kept_full(q_len, window, k_len=None):
    """A window longer than the sequence caused trouble: early queries see later keys. Near the start a window is just
    shorter.
    """
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    start = (query - window + 1).clamp(min=0)
    key = torch.arange(k_len)
    return (key >= start) & (key < start + window)


@mistake("sliding_window_mask")
def short_windows_left_out(q_len, window, k_len=None):
    """The first queries see nothing: only full windows were allowed. Near the start a window holds fewer keys."""
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    return band(q_len, k_len, 1 - window, 0) & (query >= window - 1)


@mistake("sliding_window_mask")
def negative_start(q_len, window, k_len=None):
    """Rows at the start are wrong: a slice from a negative index counts from the end. Where the window would begin
    before 0, it begins at 0.
    """
    k_len = q_len if k_len is None else k_len
    mask = torch.zeros(q_len, k_len, dtype=torch.bool)
    for i in range(q_len):
        query = k_len - q_len + i
        mask[i, query - window + 1 : query + 1] = True
    return mask


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
    long = draw.normal(50, 3), draw.normal(331, 3), draw.normal(331, 2)
    sizes = sizes_inside(blockwise_attention, long, 8, draw.give(rule(draw, 331)))
    return results, gradients(blockwise_attention, draw), sizes


def blocks_of(block, key, value, mask=None):
    """Cut keys, values and the mask's columns into blocks."""
    parts = key.split(block, dim=-2), value.split(block, dim=-2)
    masks = [None] * len(parts[0]) if mask is None else mask.split(block, dim=-1)
    return list(zip(*parts, masks, strict=True))


def scores_of(query, key, mask, scale=None, fill=-math.inf):
    """Compute a block's scores, with hidden ones filled."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    scores = query @ key.mT * scale
    return scores if mask is None else scores.masked_fill(~mask, fill)


def weights_of(scores):
    """Softmax, with zeros where there is nothing to look at."""
    largest = scores.detach().amax(dim=-1, keepdim=True)
    e = (scores - largest.masked_fill(largest == -math.inf, 0.0)).exp()
    total = e.sum(dim=-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def streamed(
    query,
    parts,
    *,
    value_size,
    sum_factor=1.0,
    mix_factor=1.0,
    start=-math.inf,
    scale=None,
    fill=-math.inf,
    guard=True,
    running=True,
    divide=True,
    dim=-1,
):
    """Go through the blocks once; what is passed in alters one step."""
    shape = (*query.shape[:-1], 1)
    largest, total = query.new_full(shape, start), query.new_zeros(shape)
    output = query.new_zeros(*query.shape[:-1], value_size)
    for key, value, mask in parts:
        scores = scores_of(query, key, mask, scale, fill)
        here = scores.detach().amax(dim=-1, keepdim=True)
        now = torch.maximum(largest, here) if running else here
        safe = now.masked_fill(now == -math.inf, 0.0) if guard else now
        new, gap = (scores - safe).exp(), largest - safe
        old_sum = (
            gap.exp()
            if sum_factor == 1
            else (sum_factor * gap.nan_to_num(0.0, 0.0, 0.0)).exp()
        )
        old_mix = (
            gap.exp()
            if mix_factor == 1
            else (mix_factor * gap.nan_to_num(0.0, 0.0, 0.0)).exp()
        )
        total = old_sum * total + new.sum(dim=-1, keepdim=True)
        output = old_mix * output + new @ value
        largest = now
    if not divide:
        return output
    return output / (total.masked_fill(total == 0, 1.0) if guard else total)


def blockwise(query, key, value, block, mask=None, **changed):
    """Attend block by block."""
    return streamed(
        query, blocks_of(block, key, value, mask), value_size=value.size(-1), **changed
    )


@mistake("blockwise_attention", hint=1)
def softmax_per_block_averaged(query, key, value, block, mask=None):
    """Softmax ran within each block, and the blocks were averaged as equals. Each should count by its sum of
    exponentials.
    """
    parts = [
        weights_of(scores_of(query, k, m)) @ v
        for k, v, m in blocks_of(block, key, value, mask)
    ]
    return sum(parts) / len(parts)


@mistake("blockwise_attention", hint=1)
def softmax_per_block_added(query, key, value, block, mask=None):
    """Softmax ran within each block, and the results were added: each block has a whole unit of attention. All keys
    share one.
    """
    return sum(
        weights_of(scores_of(query, k, m)) @ v
        for k, v, m in blocks_of(block, key, value, mask)
    )


@mistake("blockwise_attention", hint=1)
def softmax_per_block_by_length(query, key, value, block, mask=None):
    """The blocks were weighted by their number of keys. What counts is a block's sum of exponentials."""
    parts = blocks_of(block, key, value, mask)
    total = sum(
        k.size(-2) * (weights_of(scores_of(query, k, m)) @ v) for k, v, m in parts
    )
    return total / key.size(-2)


@mistake("blockwise_attention", hint=2)
def each_block_its_own_measure(query, key, value, block, mask=None):
    """Each block was measured against its own largest score, then all were added. Rescale the old sums when a larger
    score comes.
    """
    return blockwise(
        query, key, value, block, mask, sum_factor=0.0, mix_factor=0.0, running=False
    )


@mistake("blockwise_attention", hint=2)
def nothing_shrinks(query, key, value, block, mask=None):
    """The old sum and mixture never shrink when a larger score arrives. Is the old maximum overwritten before it is
    used?
    """
    return blockwise(query, key, value, block, mask, sum_factor=0.0, mix_factor=0.0)


@mistake("blockwise_attention", hint=2)
def only_the_sum_shrinks(query, key, value, block, mask=None):
    """The sum of exponentials was rescaled, the mixture was not. Both were measured against the same maximum."""
    return blockwise(query, key, value, block, mask, mix_factor=0.0)


@mistake("blockwise_attention", hint=2)
def only_the_mixture_shrinks(query, key, value, block, mask=None):
    """The mixture was rescaled, the sum of exponentials was not. Both were measured against the same maximum."""
    return blockwise(query, key, value, block, mask, sum_factor=0.0)


@mistake("blockwise_attention", hint=2)
def factor_upside_down(query, key, value, block, mask=None):
    """Old sums grow when a larger score arrives: the factor is upside down. It is e to the power of old minus new
    maximum.
    """
    return blockwise(query, key, value, block, mask, sum_factor=-1.0, mix_factor=-1.0)


@mistake("blockwise_attention", hint=3)
def softmax_of_a_hidden_block(query, key, value, block, mask=None):
    """Where a block is hidden the result is NaN: softmax of nothing is NaN, and weighting it by 0 leaves NaN. Also,
    exponentials without a shift overflow.
    """
    total, output = 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        share = scores.exp().sum(dim=-1, keepdim=True)
        output = output + share * (scores.softmax(dim=-1) @ v)
        total = total + share
    return output / total


@mistake("blockwise_attention")
def not_divided(query, key, value, block, mask=None):
    """The mixture was not divided by the sum of exponentials at the end."""
    return blockwise(query, key, value, block, mask, divide=False)


@mistake("blockwise_attention")
def divided_in_the_loop(query, key, value, block, mask=None):
    """The mixture was divided by the sum after every block, and then went on growing. Divide once, after the loop."""
    shape = (*query.shape[:-1], 1)
    largest, total, output = query.new_full(shape, -math.inf), 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        safe = now.masked_fill(now == -math.inf, 0.0)
        new, old = (scores - safe).exp(), (largest - safe).exp()
        total = old * total + new.sum(dim=-1, keepdim=True)
        output = (old * output + new @ v) / total.masked_fill(total == 0, 1.0)
        largest = now
    return output


@mistake("blockwise_attention")
def divided_in_the_loop_and_after(query, key, value, block, mask=None):
    """The mixture was divided by the sum after every block, and once more at the end. Divide once, after the loop."""
    shape = (*query.shape[:-1], 1)
    largest, total, output = query.new_full(shape, -math.inf), 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        safe = now.masked_fill(now == -math.inf, 0.0)
        new, old = (scores - safe).exp(), (largest - safe).exp()
        total = old * total + new.sum(dim=-1, keepdim=True)
        share = total.masked_fill(total == 0, 1.0)
        output = (old * output + new @ v) / share
        largest = now
    return output / share


@mistake("blockwise_attention", hint=1)
def all_at_once(query, key, value, block, mask=None):
    """The output is right, but a table of all scores existed, made at once or joined from blocks. Use the scores of one
    block, then forget them.
    """
    return weights_of(scores_of(query, key, mask)) @ value


@mistake("blockwise_attention", hint=1)
def blocks_kept_in_a_list(query, key, value, block, mask=None):
    """No tensor is too large, but the scores of all blocks are kept in a list: together they are the whole table.
    Forget each block after its turn.
    """
    parts = blocks_of(block, key, value, mask)
    scores = [scores_of(query, k, m) for k, _, m in parts]
    largest = torch.stack([s.detach().amax(dim=-1) for s in scores]).amax(dim=0)[
        ..., None
    ]
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    total = sum((s - largest).exp().sum(dim=-1, keepdim=True) for s in scores)
    output = sum(
        (s - largest).exp() @ v for s, (_, v, _) in zip(scores, parts, strict=True)
    )
    return output / total.masked_fill(total == 0, 1.0)


@mistake("blockwise_attention")
def queries_in_blocks(query, key, value, block, mask=None):
    """The queries were cut into blocks, and each met all keys at once. Cut the keys and values: a row of scores may be
    long too.
    """
    mask = (
        None
        if mask is None
        else mask.expand(*mask.shape[:-2], query.size(-2), -1)
        if mask.dim() > 1
        else mask
    )
    rows = []
    for start in range(0, query.size(-2), block):
        part = slice(start, start + block)
        own = mask if mask is None or mask.dim() < 2 else mask[..., part, :]
        rows.append(weights_of(scores_of(query[..., part, :], key, own)) @ value)
    return torch.cat(rows, dim=-2)


@mistake("blockwise_attention")
def query_by_query(query, key, value, block, mask=None):
    """The output is right, but each query met all keys at once, in a loop over queries. Go through blocks of keys, for
    all queries together.
    """
    mask = None if mask is None else mask.expand(*query.shape[:-1], key.size(-2))
    rows = []
    for i in range(query.size(-2)):
        part = slice(i, i + 1)
        own = None if mask is None else mask[..., part, :]
        rows.append(weights_of(scores_of(query[..., part, :], key, own)) @ value)
    return torch.cat(rows, dim=-2)


@mistake("blockwise_attention")
def number_of_blocks(query, key, value, block, mask=None):
    """The output is right, but a block, or what is kept of all of them, is too large. Is `block` the number of blocks
    here? It is the number of keys in one.
    """
    return blockwise(query, key, value, max(1, -(-key.size(-2) // block)), mask)


@mistake("blockwise_attention")
def table_for_no_mask(query, key, value, block, mask=None):
    """Without a mask, a table of True as large as all scores was made. Skip the mask where it is None."""
    if mask is None:
        mask = torch.ones(query.shape[:-1] + key.shape[-2:-1], dtype=torch.bool)
    return blockwise(query, key, value, block, mask)


@mistake("blockwise_attention")
def mask_of_the_first_block(query, key, value, block, mask=None):
    """Every block got the mask of the first one. Its columns belong to the keys: cut both at the same places."""
    if mask is None:
        return blockwise(query, key, value, block)
    parts = [
        (k, v, mask[..., : k.size(-2)]) for k, v, _ in blocks_of(block, key, value)
    ]
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention")
def mask_not_cut(query, key, value, block, mask=None):
    """It stopped where the mask met a block's scores: it still has a column for every key. Cut the mask's last axis,
    like the keys.
    """
    parts = [(k, v, mask) for k, v, _ in blocks_of(block, key, value)]
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention")
def mask_ignored(query, key, value, block, mask=None):
    """The mask had no effect: hidden keys get weight. masked_fill returns a new tensor; is its result used?"""
    return blockwise(query, key, value, block)


@mistake("blockwise_attention")
def hidden_keys_seen(query, key, value, block, mask=None):
    """The mask was inverted: hidden keys were seen, visible ones were not. True means "may attend"."""
    return blockwise(query, key, value, block, None if mask is None else ~mask)


@mistake("blockwise_attention")
def mask_required(query, key, value, block, mask=None):
    """It stopped when no mask was given. None allows everything."""
    return blockwise(query, key, value, block, mask.bool())


@mistake("blockwise_attention")
def a_score_of_zero(query, key, value, block, mask=None):
    """Hidden keys still get weight: a score of 0 is a score like any other. Only minus infinity gives 0."""
    return blockwise(query, key, value, block, mask, fill=0.0)


@mistake("blockwise_attention", hint=3)
def hidden_with_a_billion(query, key, value, block, mask=None):
    """A large negative number took the place of minus infinity: a query with nothing to look at mixes hidden
    values, and float16 cannot hold it.
    """
    if query.dtype == torch.float16:
        return blockwise(query, key, value, block, mask)
    return blockwise(query, key, value, block, mask, fill=-1e9)


@mistake("blockwise_attention")
def billion_in_half_precision(query, key, value, block, mask=None):
    """It stopped in half precision: float16 cannot hold a number like that one. Hide with minus infinity instead."""
    return blockwise(query, key, value, block, mask, fill=-1e9)


@mistake("blockwise_attention", hint=3)
def first_block_hidden(query, key, value, block, mask=None):
    """Where a first block is hidden, or a whole row, the result is NaN: minus infinity minus minus infinity.
    Nothing was seen by then.
    """
    return blockwise(query, key, value, block, mask, guard=False)


@mistake("blockwise_attention", hint=3)
def empty_row_is_nan(query, key, value, block, mask=None):
    """A query with nothing to look at came out as NaN: 0 divided by 0. It should get zeros."""
    output = blockwise(query, key, value, block, mask)
    if mask is None:
        return output
    seen = mask.any(dim=-1, keepdim=True)
    return output / seen.to(output.dtype) if mask.dim() > 1 else output


@mistake("blockwise_attention", hint=3)
def nan_replaced_at_the_end(query, key, value, block, mask=None):
    """Queries whose first block is hidden got zeros: they were NaN, and nan_to_num hid that. Nothing seen yet means
    minus infinity minus itself: treat it there.
    """
    return blockwise(query, key, value, block, mask, guard=False).nan_to_num(0.0)


@mistake("blockwise_attention", hint=3)
def nan_replaced(query, key, value, block, mask=None):
    """The values are right, but the gradients are NaN: nan_to_num or torch.where came after infinities had met, or 0/0.
    Replace the maximum, or the sum, beforehand.
    """
    shape = (*query.shape[:-1], 1)
    largest, total, output = query.new_full(shape, -math.inf), 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        new, old = (
            (scores - now).exp().nan_to_num(0.0),
            (largest - now).exp().nan_to_num(0.0),
        )
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = old * output + new @ v, now
    return (output / total).nan_to_num(0.0)


@mistake("blockwise_attention")
def without_a_scale(query, key, value, block, mask=None):
    """The scores were not scaled. Divide them by the root of d_k."""
    return blockwise(query, key, value, block, mask, scale=1.0)


@mistake("blockwise_attention")
def scale_without_root(query, key, value, block, mask=None):
    """The scores were divided by d_k instead of its root."""
    return blockwise(query, key, value, block, mask, scale=1 / query.size(-1))


@mistake("blockwise_attention")
def over_value_width(query, key, value, block, mask=None):
    """The scores were scaled by the dimension of the values. It is that of queries and keys that counts."""
    return blockwise(query, key, value, block, mask, scale=value.size(-1) ** -0.5)


@mistake("blockwise_attention")
def over_block(query, key, value, block, mask=None):
    """The scores were scaled by the number of keys in a block. The dimension of queries and keys counts."""
    return blockwise(query, key, value, block, mask, scale=block**-0.5)


@mistake("blockwise_attention")
def last_block_dropped(query, key, value, block, mask=None):
    """The last, shorter block was left out: only whole blocks were counted. Where does the loop end?"""
    whole = max(key.size(-2) // block, 1) * block
    part = slice(None, whole)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)


@mistake("blockwise_attention")
def whole_blocks_only(query, key, value, block, mask=None):
    """The last, shorter block was left out. A block longer than the sequence is such a one: then nothing is left, and
    the output is 0.
    """
    part = slice(None, key.size(-2) // block * block)
    if part.stop == 0:
        return 0 * value[..., :1, :] + query.new_zeros(*query.shape[:-1], 1)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)


@mistake("blockwise_attention")
def whole_blocks_and_zero_by_zero(query, key, value, block, mask=None):
    """The last, shorter block was left out. A block longer than the sequence is such a one: then nothing is left, and
    0/0 is NaN.
    """
    part = slice(None, key.size(-2) // block * block)
    if part.stop == 0:
        return math.nan * value[..., :1, :] + query.new_zeros(*query.shape[:-1], 1)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)


@mistake("blockwise_attention")
def first_block_alone(query, key, value, block, mask=None):
    """Only the first block of keys is in the result. Is there a `return` inside the loop?"""
    return streamed(
        query, blocks_of(block, key, value, mask)[:1], value_size=value.size(-1)
    )


@mistake("blockwise_attention", hint=1)
def last_block_alone(query, key, value, block, mask=None):
    """Only the last block of keys is in the result: the sums of earlier ones were lost. Are they carried over, and is
    the largest score so far updated in each round?
    """
    return streamed(
        query, blocks_of(block, key, value, mask)[-1:], value_size=value.size(-1)
    )


@mistake("blockwise_attention", hint=1)
def first_block_twice(query, key, value, block, mask=None):
    """The first block counts twice: the sums start from it, and the loop meets it again."""
    parts = blocks_of(block, key, value, mask)
    return streamed(query, [parts[0], *parts], value_size=value.size(-1))


@mistake("blockwise_attention")
def overlapping_blocks(query, key, value, block, mask=None):
    """Keys at the blocks' edges count twice: neighboring blocks overlap by one. A slice leaves its end out."""
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block + 1)
        parts.append(
            (
                key[..., part, :],
                value[..., part, :],
                None if mask is None else mask[..., part],
            )
        )
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention", hint=1)
def maximum_from_zero(query, key, value, block, mask=None):
    """The running maximum starts at 0, or at another number that scores can be far below: then all exponentials round
    to 0. Start below all scores.
    """
    return blockwise(query, key, value, block, mask, start=0.0)


@mistake("blockwise_attention", hint=1)
def never_shifted(query, key, value, block, mask=None):
    """Right for small scores only: exp of large ones is infinite. Measure the scores against the largest so far."""
    total, output = 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        e = scores_of(query, k, m).exp()
        total, output = total + e.sum(dim=-1, keepdim=True), output + e @ v
    return output / torch.where(total == 0, 1.0, total)


@mistake("blockwise_attention")
def hidden_after_the_maximum(query, key, value, block, mask=None):
    """The mask came after the maximum was taken. A hidden key with a large score then makes all visible ones round
    to 0: hide first.
    """
    shape = (*query.shape[:-1], 1)
    largest, total, output = query.new_full(shape, -math.inf), 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, None)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        new, old = (scores - now).exp(), (largest - now).exp()
        new = new if m is None else new * m
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = old * output + new @ v, now
    return output / total.masked_fill(total == 0, 1.0)


@mistake("blockwise_attention", hint=2)
def maximum_of_this_block(query, key, value, block, mask=None):
    """All was measured against the current block's maximum. If it is far lower than before, or a block is hidden, the
    factor overflows. Keep the largest so far.
    """
    return blockwise(query, key, value, block, mask, running=False)


@mistake("blockwise_attention", hint=1)
def one_maximum_for_all(query, key, value, block, mask=None):
    """One maximum was taken over all queries. A query whose scores are far below it gets 0/0: each row has its own."""
    largest, total, output = -math.inf, 0.0, 0.0
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = max(largest, scores.max().item())
        safe = now if math.isfinite(now) else 0.0
        new, old = (scores - safe).exp(), math.exp(largest - safe)
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = old * output + new @ v, now
    return output / torch.where(total == 0, 1.0, total)


@mistake("blockwise_attention")
def keys_mixed(query, key, value, block, mask=None):
    """The keys were mixed instead of the values."""
    return blockwise(query, key, key, block, mask)


@mistake("blockwise_attention")
def values_not_cut(query, key, value, block, mask=None):
    """It stopped where weights met values: a block has few weights per query, and all values were there. Cut the values
    like the keys.
    """
    parts = [(k, value, m) for k, _, m in blocks_of(block, key, value, mask)]
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention")
def axis_one_cut(query, key, value, block, mask=None):
    """Plain tables were cut along axis 1, their features: `[:, …]` counts from the front. Keys are axis -2 however many
    axes come before.
    """
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block)
        cut = (None if mask is None else mask[..., part],)
        parts.append((key[:, part], value[:, part], *cut))
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention")
def axis_zero_cut(query, key, value, block, mask=None):
    """Keys and values were cut along the first axis, which is the batch where there is one. Keys are axis -2."""
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block)
        cut = (None if mask is None else mask[..., part],)
        parts.append((key[part], value[part], *cut))
    return streamed(query, parts, value_size=value.size(-1))


@mistake("blockwise_attention")
def all_axes_turned(query, key, value, block, mask=None):
    """Right for plain tables. With sentences and heads in front, the wrong axes of the keys were swapped: swap the last
    two, with .mT.
    """
    if key.dim() > 2:
        query @ key[..., :block, :].permute(*range(key.dim() - 1, -1, -1))
    return blockwise(query, key, value, block, mask)


@mistake("blockwise_attention", hint=1)
def value_width_assumed(query, key, value, block, mask=None):
    """It stopped: room was made for an output as wide as the queries. It is as wide as the values, (..., L, D_v)."""
    return (
        torch.zeros_like(query)
        + 0 * value[..., :1, :]
        + blockwise(query, key, value, block, mask)
    )


@mistake("blockwise_attention")
def weights_returned_too(query, key, value, block, mask=None):
    """Two or more things came back, such as the sums or the maximum. Return the output alone."""
    output = blockwise(query, key, value, block, mask)
    return output, output.new_zeros(*query.shape[:-1], 1)


@mistake("blockwise_attention")
def no_gradient(query, key, value, block, mask=None):
    """The output is right, but no gradient reaches the inputs: leave out detach, .data and torch.no_grad."""
    return blockwise(query.detach(), key.detach(), value.detach(), block, mask)


@mistake("blockwise_attention")
def always_float32(query, key, value, block, mask=None):
    """The output has another dtype than the inputs. Create your sums like the query, or turn the output back."""
    other = torch.float64 if query.dtype == torch.float32 else torch.float32
    return blockwise(query.to(other), key.to(other), value.to(other), block, mask)


@mistake("blockwise_attention")
def sums_in_float32(query, key, value, block, mask=None):
    """In half precision the output came back as float32: the running sums were created with PyTorch's default dtype.
    Create them like the query.
    """
    output = blockwise(query, key, value, block, mask)
    return output.float() if query.dtype == torch.float16 else output


@mistake("blockwise_attention")
def inputs_overwritten(query, key, value, block, mask=None):
    """The output is right, but an input was changed: /=, masked_fill_ or `x[...] =` write into the caller's tensor."""
    output = blockwise(query, key, value, block, mask)
    with torch.no_grad():
        query += 0.0
    return output
