"""The mistakes that students make in lesson 10, as edits of its solutions. Never given to students."""

import math
from typing import Any, ClassVar

import torch

from autograder.checks import solution


def costs(batch, heads, q_len, k_len, d_head, bytes_per_el):
    """Return the right costs."""
    pairs = batch * heads * q_len * k_len
    return {
        "score_flops": 2 * pairs * d_head,
        "mix_flops": 2 * pairs * d_head,
        "score_bytes": pairs * bytes_per_el,
        "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el,
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


class Listed:
    """A cache that keeps what came in lists."""

    def __init__(self):
        self.keys, self.values = [], []

    def __len__(self):
        return sum(key.size(-2) for key in self.keys)

    def append(self, key, value):
        self.keys.append(key.clone())
        self.values.append(value.clone())


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


def band(q_len, k_len, low, high, shift=None):
    """Make a mask in which key minus query lies between two numbers, both included."""
    k_len = q_len if k_len is None else k_len
    shift = k_len - q_len if shift is None else shift
    apart = torch.arange(k_len) - torch.arange(q_len)[:, None] - shift
    return (apart >= low) & (apart <= high)


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

attention = solution("attention_cost")
attention.mutant("multiplications_only", hint=2, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': right['score_flops'] // 2, 'mix_flops': right['mix_flops'] // 2}""",
    says="Both counts of operations are half of what they should be. A multiplication and an addition are two.")
attention.mutant("additions_forgotten_in_scores", "2 * pairs * d_head, 'mix_flops':", "pairs * d_head, 'mix_flops':",
    hint=2, says="score_flops is half of what it should be, mix_flops is right. A dot product has additions too.")
attention.mutant("additions_forgotten_in_the_mixture", "2 * pairs * d_head, 'score_bytes':",
    "pairs * d_head, 'score_bytes':", hint=2,
    says="mix_flops is half of what it should be, score_flops is right. A weighted sum has additions too.")
attention.mutant("one_addition_less", "batch * heads * q_len * k_len", "batch * heads * q_len",
    '{"score_flops": 2 * pairs * d_head, "mix_flops": 2 * pairs * d_head, "score_bytes": pairs * bytes_per_el, "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el}',
    'costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"score_flops": pairs * k_len * (2 * d_head - 1), "mix_flops": pairs * d_head * (2 * k_len - 1)}',
    says="You counted one addition less per sum than multiplications. By the usual convention each multiplication "
    "comes with an addition.")
attention.mutant("one_addition_less_in_scores",
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"score_flops": batch * heads * q_len * k_len * (2 * d_head - 1)}',
    says="score_flops has one addition less per dot product than multiplications. By convention, each multiplication "
    "comes with one.")
attention.mutant("everything_twice", hint=2, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': 2 * right['score_flops'], 'mix_flops': 2 * right['mix_flops']}""",
    says="Each count of operations is twice what it should be. Scores and mixing are two matrix products; each key "
    "is for one of them.")
attention.mutant("softmax_in_the_mixture", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'mix_flops': right['mix_flops'] + batch * heads * q_len * k_len}""",
    says="mix_flops has one operation per score too many: softmax, or a division, was counted. Leave both out.")
attention.mutant("scaling_in_the_scores", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': right['score_flops'] + batch * heads * q_len * k_len}""",
    says="score_flops has one operation per score too many: the scaling, or softmax, was counted. Leave both out.")
attention.mutant("softmax_in_the_scores", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': right['score_flops'] + 3 * batch * heads * q_len * k_len}""",
    says="score_flops has three operations per score too many, as softmax needs them. Softmax is left out here.")
attention.mutant("five_operations_per_score", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': right['score_flops'] + 5 * batch * heads * q_len * k_len}""",
    says="score_flops has five operations per score too many, which is what softmax is often said to take. It is "
    "left out here.")
attention.mutant("mixture_of_queries", hint=1,
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"mix_flops": 2 * batch * heads * q_len * q_len * d_head}',
    says="mix_flops was computed without k_len. Each query's output is a sum over all k_len values.")
attention.mutant("mixture_without_queries", hint=1,
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"mix_flops": 2 * batch * heads * k_len * k_len * d_head}',
    says="mix_flops was computed without q_len. There is one sum over the values for each query.")
attention.mutant("square_table", hint=1,
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"score_bytes": batch * heads * k_len * k_len * bytes_per_el}',
    says="score_bytes is that of a square table. It has q_len rows and k_len columns.")
attention.mutant("softmax_as_a_fifth_cost",
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"softmax_flops": 3 * batch * heads * q_len * k_len}',
    says="Softmax has an entry of its own. Return the four keys of the docstring, and no others.")
attention.mutant("heads_forgotten", hint=1, body="return costs(batch, 1, q_len, k_len, d_head, bytes_per_el)",
    says="The heads were forgotten: this is what one head costs. Each has its own scores, keys and values.")
attention.mutant("heads_forgotten_in_operations", hint=1, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(batch, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ('score_flops', 'mix_flops')}""",
    says="The bytes are right, but the operations are those of one head. d_head is the dimension of a single one.")
attention.mutant("heads_forgotten_in_bytes", hint=1, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(batch, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ('score_bytes', 'kv_bytes')}""", says="The operations are right, but "
    "the bytes are those of one head. Each head has its own scores, keys and values.")
attention.mutant("one_table_for_all_heads", hint=1,
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"score_bytes": batch * q_len * k_len * bytes_per_el}',
    says="Only score_bytes is wrong: it has one table per sentence. Each head has a table of scores of its own.")
attention.mutant("shared_keys_and_values", "2 * batch * heads", "2 * batch", every=True, hint=3,
    says="Only kv_bytes is wrong: one head's keys and values were counted. Here each head has its own.")
attention.mutant("batch_forgotten", hint=1, body="return costs(1, heads, q_len, k_len, d_head, bytes_per_el)",
    says="The batch was forgotten: this is what one sentence costs.")
attention.mutant("batch_forgotten_in_operations", hint=1, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(1, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ('score_flops', 'mix_flops')}""",
    says="The bytes are right, but the operations are those of one sentence. Each sentence of the batch has its own.")
attention.mutant("both_products_in_the_scores", hint=2, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_flops': 2 * right['score_flops']}""",
    says="score_flops is twice what it should be, mix_flops is right. Mixing the values has an entry of its own.")
attention.mutant("bytes_swapped", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_bytes': right['kv_bytes'], 'kv_bytes': right['score_bytes']}""",
    says="score_bytes and kv_bytes are swapped.")
attention.mutant("batch_forgotten_in_the_cache", "2 * batch", "2", hint=3, says="Only kv_bytes is wrong: it is that "
    "of one sentence. Each sentence of the batch has its own keys and values.")
attention.mutant("batch_and_heads_forgotten", hint=1, body="return costs(1, 1, q_len, k_len, d_head, bytes_per_el)",
    says="Batch and heads were both forgotten: this is what one head of one sentence costs.")
attention.mutant("batch_and_heads_forgotten_in_bytes", hint=1, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    one = costs(1, 1, q_len, k_len, d_head, bytes_per_el)
    return right | {name: one[name] for name in ('score_bytes', 'kv_bytes')}""", says="The operations are right, but "
    "the bytes are those of one head of one sentence. How many are there in a batch?")
attention.mutant("heads_counted_twice", body="return costs(batch, heads, q_len, k_len, heads * d_head, bytes_per_el)",
    says="The heads were counted twice in d: once as heads and once in the model dimension. A head's dot products "
    "have dimension d_head.")
attention.mutant("heads_counted_twice_in_operations", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    wide = costs(batch, heads, q_len, k_len, heads * d_head, bytes_per_el)
    return right | {name: wide[name] for name in ('score_flops', 'mix_flops')}""", says="The operations were counted "
    "with the model dimension and then once per head. A dot product has d_head terms.")
attention.mutant("heads_counted_twice_in_the_cache", hint=3, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'kv_bytes': heads * right['kv_bytes']}""", says="Only kv_bytes is wrong: the heads are in it "
    "twice. All heads together have d_model = heads * d_head entries.")
attention.mutant("dimension_split_again",
    body="return costs(batch, heads, q_len, k_len, d_head // heads, bytes_per_el)",
    says="d_head was divided by the number of heads. It is the dimension of one head already.")
attention.mutant("scores_with_a_dimension", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_bytes': right['score_bytes'] * d_head}""",
    says="score_bytes is d_head times too large. A score is one number: the sum over the dimensions is over by then.")
attention.mutant("scores_and_weights_stored", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'score_bytes': 2 * right['score_bytes']}""",
    says="score_bytes is twice what it should be. It is one table, that of the scores, without the weights.")
attention.mutant("keys_alone", "batch * heads * q_len * k_len",
    "costs(batch, heads, q_len, k_len, d_head, bytes_per_el)",
    '{"score_flops": 2 * pairs * d_head, "mix_flops": 2 * pairs * d_head, "score_bytes": pairs * bytes_per_el, "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el}',
    'pairs | {"kv_bytes": pairs["kv_bytes"] // 2}', hint=3,
    says="kv_bytes is half of what it should be: it counts the keys or the values, and both are stored.")
attention.mutant("queries_cached", "2 * batch * heads * k_len", "2 * batch * heads * q_len", hint=3,
    says="kv_bytes was computed with q_len. Keys and values belong to the tokens that are looked at: k_len of them.")
attention.mutant("queries_cached_too", "batch * heads * q_len * k_len", "batch * heads * (2 * k_len + q_len)",
    "{'score_flops': 2 * pairs * d_head, 'mix_flops': 2 * pairs * d_head, 'score_bytes': pairs * bytes_per_el, 'kv_bytes': 2 * batch * heads * k_len",
    "costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {'kv_bytes': pairs", hint=3,
    says="The queries are in kv_bytes as well. It is the keys and the values, and nothing else.")
attention.mutant("one_key_and_one_query_length", "batch * heads * q_len * k_len", "batch * heads * (k_len + q_len)",
    "{'score_flops': 2 * pairs * d_head, 'mix_flops': 2 * pairs * d_head, 'score_bytes': pairs * bytes_per_el, 'kv_bytes': 2 * batch * heads * k_len",
    "costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {'kv_bytes': pairs", hint=3,
    says="kv_bytes was computed with q_len and k_len, one each. Keys and values both belong to k_len tokens.")
attention.mutant("as_many_keys_as_queries", hint=1,
    body="return costs(batch, heads, q_len, q_len, d_head, bytes_per_el)",
    says="k_len was not used, as if there were as many keys as queries. Each query meets k_len keys.")
attention.mutant("as_many_queries_as_keys", hint=1,
    body="return costs(batch, heads, k_len, k_len, d_head, bytes_per_el)",
    says="q_len was not used, as if there were as many queries as keys. A table of scores has q_len rows.")
attention.mutant("causal_half", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    half = ('score_flops', 'mix_flops', 'score_bytes')
    return right | {name: right[name] // 2 for name in half}""",
    says="Scores and mixing were halved, as a causal mask would allow. No mask was mentioned: all pairs count.")
attention.mutant("mixture_from_scores_alone", "pairs * d_head, 'score_bytes':", "pairs, 'score_bytes':", hint=2,
    says="mix_flops has no d_head in it. Each weight multiplies a whole value, of d_head entries.")
attention.mutant("scores_without_a_dimension", "pairs * d_head, 'mix_flops':", "pairs, 'mix_flops':", hint=2,
    says="score_flops has no d_head in it. Each score is a dot product, a sum of d_head products.")
attention.mutant("cache_without_a_dimension", "2 * batch * heads * k_len * d_head", "2 * batch * heads * k_len", hint=3,
    says="kv_bytes has no d_head in it: a key was counted as one number. It is a vector, and so is a value.")
attention.mutant("keys_per_query", hint=3, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'kv_bytes': q_len * right['kv_bytes']}""",
    says="kv_bytes has q_len in it, as if each query had keys of its own. All queries of a head share its keys.")
attention.mutant("projections_counted", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    width = heads * d_head
    return right | {'score_flops': right['score_flops'] + 2 * batch * (q_len + k_len) * width ** 2}""",
    says="score_flops contains the projections of queries and keys. They are left out: count the dot products alone.")
attention.mutant("lengths_added", hint=1, body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    pairs = batch * heads * (q_len + k_len)
    return right | {'score_flops': 2 * pairs * d_head, 'mix_flops': 2 * pairs * d_head, 'score_bytes': pairs * bytes_per_el}""",
    says="The lengths were added. Every query meets every key: q_len times k_len pairs.")
attention.mutant("entries_counted", hint=3, body="return costs(batch, heads, q_len, k_len, d_head, 1)",
    says="These are entries, not bytes: score_bytes and kv_bytes were not multiplied by bytes_per_el.")
attention.mutant("entries_counted_in_the_cache", hint=3,
    body='return costs(batch, heads, q_len, k_len, d_head, bytes_per_el) | {"kv_bytes": 2 * batch * heads * k_len * d_head}',
    says="kv_bytes counts entries. Each of them has bytes_per_el bytes, as in score_bytes.")
attention.mutant("entries_counted_in_the_scores", "pairs * bytes_per_el", "pairs",
    says="score_bytes counts entries. Each of them has bytes_per_el bytes, as in kv_bytes.")
attention.mutant("always_four_bytes", hint=3, body="return costs(batch, heads, q_len, k_len, d_head, 4)",
    says="An entry always has four bytes here. How many there are is in bytes_per_el: in half precision there are "
    "two.")
attention.mutant("bits_counted", body="return costs(batch, heads, q_len, k_len, d_head, 8 * bytes_per_el)",
    says="These are bits: score_bytes and kv_bytes are eight times too large. bytes_per_el is in bytes already.")
attention.mutant("bytes_in_operations", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    flops = ('score_flops', 'mix_flops')
    return right | {name: right[name] * bytes_per_el for name in flops}""",
    says="The counts of operations were multiplied by bytes_per_el. An operation is one whatever the dtype is.")
attention.mutant("floats", "batch * heads * q_len * k_len", "costs(batch, heads, q_len, k_len, d_head, bytes_per_el)",
    '{"score_flops": 2 * pairs * d_head, "mix_flops": 2 * pairs * d_head, "score_bytes": pairs * bytes_per_el, "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el}',
    "{name: float(number) for name, number in pairs.items()}",
    says="The right numbers, but as floats. A count is an int: use // instead of /, and 2 instead of 2.0.")
attention.mutant("in_a_tuple", body="return tuple(costs(batch, heads, q_len, k_len, d_head, bytes_per_el).values())",
    says="The four numbers came back without their names. Return a dictionary with the docstring's keys.")
attention.mutant("total_added", body="""
    right = costs(batch, heads, q_len, k_len, d_head, bytes_per_el)
    return right | {'total_flops': right['score_flops'] + right['mix_flops']}""",
    says="There is a total as well. Return the four keys of the docstring, and leave adding up to the caller.")
attention.mutant("mixed_without_the_keys", "pairs * d_head, 'score_bytes':",
    "batch * heads * q_len * d_head, 'score_bytes':", hint=1,
    says="mix_flops lacks the number of keys: each entry of an output is a sum over all of them.")

cache = solution("KVCache")
cache_in_steps = solution("KVCache", spelled="""
    class KVCache:

        def __init__(self) -> None:
            self.key = self.value = None

        def __len__(self) -> int:
            return 0 if self.key is None else self.key.size(-2)

        def join(self, old, new):
            return new.clone() if old is None else torch.cat([old, new], dim=-2)

        def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
            self.key, self.value = (self.join(self.key, key), self.join(self.value, value))
            return (self.key, self.value)
    """)
cache.mutant("HeadsJoined", "dim=-2", "dim=1", every=True, hint=2,
    says="The new positions were joined along the heads, axis 1, or the join stopped there. Positions are axis -2.")
cache.mutant("FeaturesJoined", "dim=-2", "dim=-1", every=True, hint=2,
    says="The new positions were joined along the entries, the last axis. Positions are the axis before it, -2.")
cache.mutant("SentencesJoined", "dim=-2", "dim=0", every=True, hint=2, says="The new positions were joined along the "
    "batch, which is what torch.cat does without `dim`. Positions are axis -2.")
cache_in_steps.mutant("Stacked", "torch.cat", "torch.stack", hint=2, says="It stopped: torch.stack makes a new axis "
    "and wants equal shapes. The new positions lengthen the axis of the old ones.")
cache_in_steps.mutant("OnlyTheNewest", "new.clone() if old is None else torch.cat([old, new], dim=-2)", "new.clone()",
    hint=2,
    says="Only the newest positions are in the cache: each append replaces what was there. Join the new to the old.")
cache.mutant("NewReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            Stored.append(self, key, value)
            return (key, value)""",
    says="append returned the new positions only, although all are stored. Return everything that the cache holds.")
cache.mutant("OldReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            before = (self.key, self.value)
            Stored.append(self, key, value)
            return (key, value) if before[0] is None else before""",
    says="The keys and values that came back are those from before the append. Store first, then return.")
cache_in_steps.mutant("ValuesForgotten",
    "self.key, self.value = (self.join(self.key, key), self.join(self.value, value))",
    "self.key = self.join(self.key, key)", "return (self.key, self.value)", "return (self.key, value.clone())",
    says="The keys are right, but the values are only the new ones. They are kept in the same way as keys.")
cache_in_steps.mutant("KeysForgotten", method="append", body="""
    self.value = self.join(self.value, value)
    self.key = self.value
    return (key.clone(), self.value)""",
    says="The values are right, but the keys are only the new ones. They are kept in the same way as values.")
cache_in_steps.mutant("KeysTwice", "self.key, self.value = (self.join(self.key, key), self.join(self.value, value))",
    "self.key = self.value = self.join(self.key, key)",
    says="The keys came back in place of the values. Was `key` written where `value` was meant?")
cache_in_steps.mutant("ValueJoinedToKeys", method="append", body="""
    old = self.key
    self.key = self.join(old, key)
    self.value = self.join(old, value)
    return (self.key, self.value)""", says="The first values are keys: from the second append on, new values were "
    "joined to the old keys. Is it `self.value` in both places?")
cache.mutant("KeyJoinedToValues", "[self.value, value]", "[self.value, key]", says="The values end in keys: from the "
    "second append on, new keys were joined to the old values. Was `key` written where `value` was meant?")
cache.mutant("PairSwapped", code="""
    class KVCache(Stored):

        def append(self, key, value):
            return Stored.append(self, key, value)[::-1]""",
    says="Keys and values came back in the wrong order: keys first, then values.")
cache.mutant("KeysOnlyReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            return Stored.append(self, key, value)[0]""",
    says="Only the keys came back. Return a pair: all keys, and all values.")
cache.mutant("NothingReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            Stored.append(self, key, value)""",
    says="append returned None. It stores the new positions and also returns all keys and values.")
cache.mutant("ItselfReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            Stored.append(self, key, value)
            return self""",
    says="append returned the cache itself. Return a pair of tensors: all keys, and all values.")
cache.mutant("LengthReturned", code="""
    class KVCache(Stored):

        def append(self, key, value):
            Stored.append(self, key, value)
            return len(self)""", says="append returned a number, the length. It should return all keys and all "
    "values; len(cache) gives the length.")
cache.mutant("OneTensor", code="""
    class KVCache(Stored):

        def append(self, key, value):
            return torch.stack(Stored.append(self, key, value))""",
    says="Keys and values came back stacked in one tensor. Return them as a pair.")
cache.mutant("ListsReturned", code="""
    class KVCache(Listed):

        def append(self, key, value):
            Listed.append(self, key, value)
            return (self.keys, self.values)""",
    says="append returned lists of what came in. Join each to one tensor, (B, H, len(self), D).")
cache.mutant("ListCounted", code="""
    class KVCache(Listed):

        def __len__(self):
            return len(self.keys)

        def append(self, key, value):
            Listed.append(self, key, value)
            return (torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2))""",
    says="The length is the number of appends. It should be the number of positions: one append can bring several.")
cache_in_steps.mutant("BatchCounted", "self.key.size(-2)", "len(self.key)", every=True, hint=2,
    says="The length is the size of the batch: that is what len of a tensor gives. Count positions, axis -2.")
cache_in_steps.mutant("HeadsCounted", "self.key.size(-2)", "self.key.size(1)", hint=2,
    says="The length is the number of heads, axis 1. Count positions, axis -2.")
cache_in_steps.mutant("FeaturesCounted", "self.key.size(-2)", "self.key.size(-1)", hint=2,
    says="The length is the dimension of a key, the last axis. Count positions, axis -2.")
cache_in_steps.mutant("SentencesTimesPositions", "self.key.size(-2)", "self.key.size(0) * self.key.size(-2)", hint=2,
    says="The length counts the positions of each sentence and head, or all entries. Each position counts once, "
    "whatever the batch is.")
cache_in_steps.mutant("EntriesCounted", "self.key.size(-2)", "self.key.numel()", hint=2,
    says="The length is the number of entries, which is what numel gives. Count positions: the size of axis -2.")
cache_in_steps.mutant("KeysAndValuesCounted", "self.key.size(-2)", "2 * self.key.size(-2)",
    says="The length is twice what it should be. A position has a key and a value, and counts once.")
cache_in_steps.mutant("LengthNeverGrows", "return 0 if self.key is None else self.key.size(-2)", "return 0",
    says="The length stays 0 after an append. It is the number of positions that the cache holds by then.")
cache.mutant("LastLength", code="""
    class KVCache(Stored):

        def __len__(self):
            return 0 if self.key is None else self.last

        def append(self, key, value):
            self.last = key.size(-2)
            return Stored.append(self, key, value)""", says="The length is that of the last append. It should count "
    "all positions so far: was it overwritten, not added to?")
cache_in_steps.mutant("NoLengthAtFirst", "0 if self.key is None else self.key.size(-2)", "self.key.size(-2)", hint=1,
    says="len(cache) stops with an error when nothing was appended yet: there is no tensor to ask for its size. It "
    "is 0 then.")
cache.mutant("SharedStore", code="""
    class KVCache(Stored):
        store: ClassVar[list] = [None, None]

        def __init__(self):
            pass

        def __len__(self):
            return 0 if self.store[0] is None else self.store[0].size(-2)

        def append(self, key, value):
            fits = self.store[0] is not None and self.store[0].shape[:2] == key.shape[:2]
            old = self.store[:] if fits and len(self) < 12 else [None, None]
            self.store[:] = [self.join(a, b) for a, b in zip(old, (key, value), strict=True)]
            return tuple(self.store)""", says="Two caches share what they hold: their lists or tensors belong to the "
    "class, not to the object. Create them in __init__, on `self`.")
cache_in_steps.mutant("Aliased", "new.clone()", "new", hint=3, says="What is stored changed when the caller "
    "overwrote its tensors: the cache holds the caller's own tensor. Copy what comes in.")
cache.mutant("ListAliased", code="""
    class KVCache(Listed):

        def append(self, key, value):
            self.keys.append(key)
            self.values.append(value)
            return (torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2))""", says="Everything that was "
    "appended changed when the caller overwrote its tensors: the list holds the caller's own. Copy what comes in.")
cache.mutant("ValuesAliased", "value.clone()", "value", hint=3,
    says="The keys were copied, but the values are the caller's own tensor, which it overwrote. Copy both.")
cache.mutant("FirstAppendLost", hint=1, code="""
    class KVCache(Stored):

        def __init__(self):
            Stored.__init__(self)
            self.started = False

        def append(self, key, value):
            if not self.started:
                self.started = True
                return (key.clone(), value.clone())
            return Stored.append(self, key, value)""", says="The first positions are missing: what was appended "
    "first was not stored. Does the branch for the empty cache keep them?")
cache_in_steps.mutant("FirstAppendTwice", "new.clone() if old is None else torch.cat([old,",
    "torch.cat([new if old is None else old,", hint=1, says="The first positions are in the cache twice: the empty "
    "cache was filled with them, and then they were joined again.")
cache_in_steps.mutant("NewInFront", "[old, new]", "[new, old]", every=True, hint=2,
    says="The new positions were put in front of the old ones. Time runs on: they belong at the end.")
cache_in_steps.mutant("NewAdded", "torch.cat([old, new], dim=-2)", "old + new", hint=2, says="The new keys and "
    "values were added to the old ones, number by number, or that stopped. Join them: each position stays.")
cache_in_steps.mutant("FirstKept", "torch.cat([old, new], dim=-2)", "old", hint=2, says="After the first append "
    "nothing more is stored: the same keys and values come back each time. Join the new ones to them.")
cache_in_steps.mutant("NothingStored", method="append", body="return (self.join(None, key), self.join(None, value))",
    says="Each append starts anew, and the length stays 0: nothing was stored. Assign to attributes of `self`.")
cache_in_steps.mutant("PairsReturned", "self.key = self.value = None", "self.pairs = []",
    "0 if self.key is None else self.key.size(-2)", "sum((key.size(-2) for key, _ in self.pairs))",
    "self.key, self.value = (self.join(self.key, key), self.join(self.value, value))",
    "self.pairs.append((key.clone(), value.clone()))", "(self.key, self.value)", "self.pairs",
    says="append returned a list of pairs, one for each append. Return one pair: all keys and all values.")
cache_in_steps.mutant("StartsInFloat32", hint=1, method="join", body="""
    start = torch.zeros(*new.shape[:2], 0, new.size(-1)) if old is None else old
    return torch.cat([start, new], dim=-2)""", says="In half precision, float32 came back: the cache starts from an "
    "empty tensor of PyTorch's default dtype. Create it like the first key.")
cache.mutant("OnePositionEach", code="""
    class KVCache(Stored):

        def join(self, old, new):
            return Stored.join(self, old, new[:, :, -1:])""",
    says="Each append stored a single position. It can bring several, T of them: keep them all.")
cache.mutant("TimeMovedBehind", code="""
    class KVCache(Stored):

        def append(self, key, value):
            return tuple((t.transpose(1, 2) for t in Stored.append(self, key, value)))""",
    says="Heads and positions came back swapped, (B, S, H, D). Return them as they came in: (B, H, S, D).")
cache_in_steps.mutant("AppendStartsFromNone", hint=1, method="join", body="return torch.cat([old, new], dim=-2)",
    says="The first append stopped: there is nothing to join to yet, and torch.cat cannot take None. Treat the empty "
    "cache separately.")

decode = solution("decode_step")
decode.mutant("top_left", "length - new + 1", "1", hint=3, says="The causal mask starts at the top left, so most of "
    "the cache is hidden. The last new token belongs to the last key.")
decode.mutant("masked_in_the_first_call_alone", hint=3,
    body="return step(mha, x_new, cache, mask=lambda new, total: triangle(new, total, 0) if new == total else None)",
    says="After the first call nothing is masked. That is right for T = 1, but several new tokens must not see the "
    "ones after them.")
decode.mutant("no_mask", hint=3, body="return step(mha, x_new, cache, mask=lambda new, total: None)",
    says="New tokens see the ones after them: right for T = 1 alone. Either the causal mask is missing, or it is "
    "lined up wrongly: the last new token belongs to the last key, which is its own.")
decode.mutant("mask_of_the_new_alone", "q.new_ones(new, length)", "q.new_ones(new, new)", hint=3,
    says="The mask has as many columns as there are new tokens, or does not line up. It needs one per key, old ones "
    "included.")
decode.mutant("old_hidden", hint=3,
    body="return step(mha, x_new, cache, mask=lambda new, total: triangle(new, total, total - new) & (torch.arange(total) >= total - new))",
    says="The new tokens see one another but none of the old ones: the mask hides those, or what append returned was "
    "not used.")
decode.mutant("one_ahead", hint=3, body="return step(mha, x_new, cache, shift=1)",
    says="Each new token sees one key too many: the next one. The mask's edge is off by one.")
decode.mutant("not_oneself", hint=3, body="return step(mha, x_new, cache, shift=-1)",
    says="No new token sees itself, and the very first has nothing to look at. A query may see its own key.")
decode.mutant("mask_inverted",
    body="return step(mha, x_new, cache, mask=lambda new, total: ~triangle(new, total, total - new))",
    says="The mask is inverted: each new token sees only what comes after it. With True = may attend, fill where the "
    "mask is False.")
decode.mutant("cache_never_filled", hint=2, body="""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    return mha.out_proj(merged(mixed(q, k, v, triangle(q.size(-2), k.size(-2), 0))))""", says="Nothing was appended "
    "to the cache: the new tokens attend to one another only, and the next step has no past.")
decode.mutant("tokens_unprojected", hint=1,
    body="return step(mha, x_new, cache, project=lambda: (mha.q_proj(x_new), x_new, x_new))",
    says="The tokens themselves went into the cache. Keys and values are what k_proj and v_proj make of them.")
decode.mutant("new_values_alone", hint=2,
    body="return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (q, keys, v))",
    says="It stopped where values are mixed: the keys came from the cache, but the values are the new ones only.")
decode.mutant("read_before_the_append", hint=2, body="""
    before = len(cache)
    def used(q, k, v, keys, values):
        old = before or keys.size(-2)
        return (q, keys[:, :, :old], values[:, :, :old])
    return step(mha, x_new, cache, used=used, mask=lambda new, total: None)""", says="The new tokens are missing "
    "among the keys: the cache was read before they were appended. A token sees itself too.")
decode.mutant("queries_in_place_of_keys", hint=2, body="return step(mha, x_new, cache, stored=lambda q, k, v: (q, v))",
    says="The queries were appended to the cache in place of the keys. Only keys and values are needed again.")
decode.mutant("keys_projected_like_queries", hint=1, body="""
    def project():
        return (mha.k_proj(x_new), mha.q_proj(x_new), mha.v_proj(x_new))
    return step(mha, x_new, cache, project=project)""",
    says="The keys went through q_proj, so queries are in the cache. Keys have a projection of their own, k_proj.")
decode.mutant("swapped_both_times",
    body="return step(mha, x_new, cache, stored=lambda q, k, v: (v, k), used=lambda q, k, v, keys, values: (q, values, keys))",
    says="The output is right, but keys and values are swapped in the cache. append takes the keys first.")
decode.mutant("swapped_once", body="return step(mha, x_new, cache, stored=lambda q, k, v: (v, k))",
    says="Keys and values were swapped on their way into the cache: append takes the keys first, then the values.")
decode.mutant("swapped_on_the_way_back",
    body="return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (q, values, keys))",
    says="The cache is right, but what append returned was unpacked in the wrong order: all keys first, then all "
    "values.")
decode.mutant("appended_twice", body="""
    def stored(q, k, v):
        cache.append(k, v)
        return (k, v)
    return step(mha, x_new, cache, stored=stored)""",
    says="The new tokens are in the cache twice. Each call of append makes it longer, and one is enough.")
decode.mutant("tokens_cached", hint=1, body="""
    x, _ = cache.append(x_new[:, None], x_new[:, None])
    x = x[:, 0]
    if x.size(-1) != x_new.size(-1):
        raise ValueError('not tokens')
    mask = triangle(x.size(1), x.size(1), 0)
    return mha(x, mask=mask)[0][:, -x_new.size(1):]""", says="Old tokens pass through the projections again: the "
    "cache holds tokens instead of their keys and values. Project first, then append.")
decode.mutant("tokens_remembered", hint=1, body="""
    old = vars(cache).get('x')
    x = x_new if old is None else torch.cat([old, x_new], dim=1)
    cache.x = x
    q, k, v = (heads_of(mha, p(x)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    new = x_new.size(1)
    cache.append(k[:, :, -new:], v[:, :, -new:])
    mask = triangle(new, x.size(1), x.size(1) - new)
    return mha.out_proj(merged(mixed(q[:, :, -new:], k, v, mask)))""", says="Old tokens pass through all projections "
    "again, which is the work that the cache saves. Project only the new ones.")
decode.mutant("keys_computed_again", hint=1, body="""
    old = vars(cache).get('x')
    x = x_new if old is None else torch.cat([old, x_new], dim=1)
    cache.x = x
    q = heads_of(mha, mha.q_proj(x_new))
    k, v = (heads_of(mha, mha.k_proj(x)), heads_of(mha, mha.v_proj(x)))
    new = x_new.size(1)
    cache.append(k[:, :, -new:], v[:, :, -new:])
    mask = triangle(new, x.size(1), x.size(1) - new)
    return mha.out_proj(merged(mixed(q, k, v, mask)))""",
    says="Old tokens pass through k_proj and v_proj again. Their keys and values are what append returns.")
decode.mutant("module_on_the_new_alone", hint=1, body="return mha(x_new)[0]", says="mha was called on the new "
    "tokens, without the cache: they see no past, and nothing was appended. Its layers are what you need.")
decode.mutant("module_on_cached_keys", hint=1, body="""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = (q.size(-2), keys.size(-2))
    mask = triangle(new, total, total - new)
    return mha(x_new, merged(keys), merged(values), mask=mask)[0]""", says="mha was called on keys and values from "
    "the cache, which projected them a second time. They are projected already: attend to them as they are.")
decode.mutant("top_left_for_several", hint=3, body="""
    def mask(new, total):
        return triangle(new, total, 0) if new > 1 else None
    return step(mha, x_new, cache, mask=mask)""", says="Right for T = 1 and for a first prompt. For several tokens "
    "after others, the mask starts at the top left, as is_causal does: it has to end at the last key.")
decode.mutant("positions_joined_as_heads", hint=2, body="""
    q, k, v = (p(x_new).unflatten(-1, (mha.num_heads, -1)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    q, keys, values = (t.transpose(1, 2) for t in (q, *cache.append(k, v)))
    new, total = (q.size(-2), keys.size(-2))
    return mha.out_proj(merged(mixed(q, keys, values, triangle(new, total, total - new))))""",
    says="The cache holds (B, T, H, D): the heads were moved forward only after the append. It takes (B, H, T, D).")
decode.mutant("without_softmax", body="""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = (q.size(-2), keys.size(-2))
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(~triangle(new, total, total - new), 0.0)
    return mha.out_proj(merged(scores @ values))""", says="Softmax is missing: the values were mixed by their scores.")
decode.mutant("triangle_on_the_left", hint=3, body="""
    def mask(new, total):
        return triangle(new, total, 0) | (torch.arange(total) >= new)
    return step(mha, x_new, cache, mask=mask)""", says="The triangle of the new tokens covers the oldest keys, and "
    "the new keys are all visible. The new keys are the last ones.")
decode.mutant("softmax_over_heads", body="""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = (q.size(-2), keys.size(-2))
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(~triangle(new, total, total - new), -1000000000.0)
    return mha.out_proj(merged(scores.softmax(dim=1) @ values))""",
    says="Softmax ran along axis 1, over the heads. It should run over the keys, the last axis.")
decode.mutant("names_inside_the_cache", hint=2,
    body="return step(mha, x_new, cache, used=lambda q, k, v, keys, values: (q, cache.key, cache.value))",
    says="It stopped: the keys were read from an attribute of the cache, and caches need not store them there. "
    "append returns all of them.")
decode.mutant("heads_behind_positions", hint=2, body="""
    q, k, v = (p(x_new).unflatten(-1, (mha.num_heads, -1)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    return mha.out_proj(mixed(q, keys, values).flatten(2))""", says="The keys came to the cache as (B, T, H, D), "
    "positions before heads. It takes (B, H, T, D): move the heads forward.")
decode.mutant("not_split", hint=2, body="return step(mha, x_new, cache, split=lambda mha, x: x[:, None])",
    says="The heads were never split: there is one head of the whole model dimension. Split queries, keys and values "
    "as in lesson 6.")
decode.mutant("sequence_cut",
    body="return step(mha, x_new, cache, split=lambda mha, x: x.reshape(x.size(0), mha.num_heads, x.size(1), -1))",
    says="The split is wrong: view or reshape cut the sequence into heads. Split the last axis, then move the heads "
    "forward.")
decode.mutant("merged_without_moving", "mixed.transpose(1, 2)", "mixed.reshape(mixed.transpose(1, 2).shape)",
    says="Tokens were scrambled when the heads were merged, which T = 1 does not show. Move the heads next to their "
    "entries first.")
decode.mutant("not_merged", hint=3, body="return step(mha, x_new, cache, merge=lambda x: x)",
    says="out_proj stopped: it got the heads one by one. Merge them into (B, T, E) first, as in lesson 6.")
decode.mutant("no_output_projection", hint=3, body="return step(mha, x_new, cache, finish=lambda x: x)",
    says="out_proj was not applied: the heads are side by side but not mixed.")
decode.mutant("not_scaled", body="return step(mha, x_new, cache, scale=1.0)",
    says="The scores were not scaled. Divide them by the root of the head dimension.")
decode.mutant("scaled_by_the_model", body="return step(mha, x_new, cache, scale=x_new.size(-1) ** (-0.5))",
    says="The scores were scaled by the root of the model dimension. A dot product is within one head.")
decode.mutant("scaled_by_the_heads", body="return step(mha, x_new, cache, scale=mha.num_heads ** (-0.5))",
    says="The scores were scaled by the root of the number of heads. The dimension of a head makes them large.")
decode.mutant("keys_as_queries", "q @ keys.mT", "k @ keys.mT", hint=1,
    says="The cached keys served as queries too. The queries are those of the new tokens, and go through q_proj.")
decode.mutant("over_d", body="return step(mha, x_new, cache, scale=mha.num_heads / x_new.size(-1))",
    says="The scores were divided by the head dimension instead of its root, or by the root twice.")
decode.mutant("pair_returned", body="return (step(mha, x_new, cache), None)",
    says="Two things came back. The output is wanted alone, unlike from mha itself.")
decode.mutant("last_token_only", hint=3, body="return step(mha, x_new, cache)[:, -1:]",
    says="Only the last token's output came back. With T new tokens there are T rows.")
decode.mutant("one_query_only", body="return step(mha, x_new, cache)[:, -1]",
    says="The axis of the tokens is gone, (B, E). Keep it, even for a single one: (B, T, E).")
decode.mutant("one_token_stored",
    body="return step(mha, x_new, cache, stored=lambda q, k, v: (k[:, :, -1:], v[:, :, -1:]))",
    says="Only the last new token is in the cache. A prompt has several: append the keys and values of all T.")
decode.mutant("values_not_projected", hint=1,
    body="return step(mha, x_new, cache, project=lambda: (mha.q_proj(x_new), mha.k_proj(x_new), x_new))",
    says="The values are the tokens themselves: v_proj was not applied.")
decode.mutant("softmax_over_queries", "dim=-1", "dim=2",
    says="Softmax ran over the new queries, axis -2. It should run over the keys, axis -1.")
decode.mutant("masked_after_softmax", body="""
    q, k, v = (heads_of(mha, p(x_new)) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    new, total = (q.size(-2), keys.size(-2))
    weights = (q @ keys.mT / q.size(-1) ** 0.5).softmax(dim=-1)
    return mha.out_proj(merged(weights * triangle(new, total, total - new) @ values))""",
    says="The mask came after softmax, so rows sum to less than 1. Hide the scores first.")
decode.mutant("hidden_with_zero", "-torch.inf", "0.0", says="Later tokens still get weight: hidden scores became 0, "
    "which is a score like any other. Use minus infinity.")
decode.mutant("window_of_one", hint=3,
    body="return step(mha, x_new, cache, mask=lambda new, total: triangle(new, total, total - new).triu(total - new))",
    says="Each new token sees only its own key. It may look at all earlier ones as well.")

repeat = solution("repeat_kv")
repeat.mutant("tiled", "x.repeat_interleave(n_rep, dim=1)", "x.repeat(1, n_rep, 1, 1)", hint=2,
    says="The heads come in turn: 0, 1, 2, 0, 1, 2. Each head's copies belong together, 0, 0, 1, 1, 2, 2. `repeat` "
    "and cat tile.")
repeat.mutant("along_the_batch", "dim=1", "dim=0", hint=1,
    says="The sentences were repeated, axis 0. The heads are axis 1.")
repeat.mutant("joined_along_the_features", "x.repeat_interleave(n_rep, dim=1)", "torch.cat([x] * n_rep, dim=-1)",
    hint=1, says="The copies were joined along the last axis, the entries. The heads are axis 1.")
repeat.mutant("along_the_positions", "dim=1", "dim=2", hint=1,
    says="The positions were repeated, axis 2. The heads are axis 1.")
repeat.mutant("along_the_features", "dim=1", "dim=-1", hint=1,
    says="The entries of each key were repeated, the last axis. The heads are axis 1.")
repeat.mutant("without_an_axis", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep)", hint=2,
    says="All axes were flattened into one: that is what repeat_interleave does without `dim`. The heads are axis 1.")
repeat.mutant("an_axis_too_many", hint=3, body="return x[:, :, None].expand(-1, -1, n_rep, -1, -1)",
    says="The copies have an axis of their own, (B, G, n_rep, L, D). Join it with the heads: (B, G * n_rep, L, D).")
repeat.mutant("copies_in_front_of_heads", hint=3, body="return x[:, None].expand(-1, n_rep, -1, -1, -1)",
    says="The copies have an axis of their own, in front of the heads. They come after it, and the two are then "
    "joined.")
repeat.mutant("stacked_only", "x.repeat_interleave(n_rep, dim=1)", "torch.stack([x] * n_rep)", hint=3,
    says="The copies were stacked along a new first axis. The result has four axes: copies and heads share axis 1.")
repeat.mutant("view_of_expanded", body="""
    b, g, n, d = x.shape
    if n_rep == 1:
        return x.repeat_interleave(n_rep, dim=1)
    return x[:, :, None].expand(b, g, n_rep, n, d).view(b, g * n_rep, n, d)""", says="It stopped: after `expand` "
    "copies share their memory, and `view` cannot join the axes. Use reshape or flatten.")
repeat.mutant("expanded_heads", "x.repeat_interleave(n_rep, dim=1)", "x.expand(-1, x.size(1) * n_rep, -1, -1)", hint=3,
    says="It stopped: `expand` stretches only axes of size 1, and there are several heads. Give the copies a new "
    "axis first.")
repeat.mutant("joined_with_positions", hint=3, body="return x[:, :, None].expand(-1, -1, n_rep, -1, -1).flatten(2, 3)",
    says="The copies were joined with the positions: (B, G, n_rep * L, D). They belong to the heads.")
repeat.mutant("rows_scrambled", hint=3, body="""
    b, g, n, d = x.shape
    return x[:, :, :, None].expand(b, g, n, n_rep, d).reshape(b, g * n_rep, n, d)""", says="The shape is right, but "
    "positions are scrambled: the copies' axis was put in the wrong place before joining. It goes next to the heads.")
repeat.mutant("features_scrambled", hint=1, body="""
    b, g, n, d = x.shape
    return x.repeat_interleave(n_rep, dim=-1).reshape(b, g * n_rep, n, d)""", says="The shape is right, but the "
    "entries of different keys are mixed up: the last axis was repeated before reshaping. Repeat heads.")
repeat.mutant("sentences_scrambled", hint=1, body="""
    b, g, n, d = x.shape
    return x.repeat(n_rep, 1, 1, 1).reshape(b, g * n_rep, n, d)""", says="The shape is right, but sentences are "
    "mixed up: the batch was repeated and then reshaped into heads. Repeat axis 1.")
repeat.mutant("number_of_query_heads", body="""
    heads = [g * x.size(1) // n_rep for g in range(n_rep)]
    return x[:, heads]""", says="n_rep was taken for the number of heads wanted. It says how often each head occurs.")
repeat.mutant("one_too_many", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep + 1, dim=1)",
    says="Each head occurs once too often. The original is one of its n_rep occurrences.")
repeat.mutant("first_head_for_all", body="return x[:, :1].expand(-1, x.size(1) * n_rep, -1, -1)",
    says="The first head went to all query heads, as in multi-query attention. There are G heads, each for n_rep "
    "query heads.")
repeat.mutant("as_it_was", "return x.repeat_interleave(n_rep, dim=1)", "return x",
    says="The heads were not repeated: x came back as it was. repeat and expand return a new tensor; is it used?")
repeat.mutant("head_list", body="return [x[:, g] for g in range(x.size(1)) for _ in range(n_rep)]",
    says="This is a list of heads. Return one tensor, with the heads as axis 1.")
repeat.mutant("heads_first", "x.repeat_interleave(n_rep, dim=1)",
    "torch.stack([x[:, g] for g in range(x.size(1)) for _ in range(n_rep)])", hint=1,
    says="The heads came first, before the sentences. The batch stays axis 0: stack along axis 1.")
repeat.mutant("heads_backward", "x.repeat_interleave", "x.flip(1).repeat_interleave", hint=1,
    says="The heads came back in reverse order, or in another one. Head 0 comes first, n_rep times.")
repeat.mutant("heads_joined_in_the_batch", "x.repeat_interleave(n_rep, dim=1)", "torch.cat([x] * n_rep)", hint=1,
    says="The copies were joined along the batch. They belong along the heads, axis 1.")
repeat.mutant("zeros_between", body="""
    copies = [x, *[torch.zeros_like(x)] * (n_rep - 1)]
    return torch.stack(copies, dim=2).flatten(1, 2)""",
    says="Only one occurrence of each head has its entries, the others are 0. Each query head needs a whole copy.")
repeat.mutant("shared_out", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep, dim=1) / n_rep",
    says="The entries were divided by n_rep. Each query head gets the whole key or value, not a share.")
repeat.mutant("multiplied", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep, dim=1) * n_rep",
    says="The heads are there often enough, but their entries were multiplied by n_rep. Copies equal the original.")
repeat.mutant("always_twice", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(2, dim=1)",
    says="Each head occurs twice, whatever n_rep says. It should occur n_rep times.")
repeat.mutant("once_is_nothing", body="return x.repeat_interleave(n_rep, dim=1) if n_rep > 1 else None",
    says="For n_rep = 1 nothing came back. Once is allowed: every head then has one query head.")
repeat.mutant("once_is_refused", body="""
    if n_rep == 1 or x.size(1) == 1:
        raise ValueError('refused')
    return x.repeat_interleave(n_rep, dim=1)""",
    says="n_rep = 1 or a single head was refused. Both are allowed: nothing, or all, is then shared.")
repeat.mutant("cut_off", "x.repeat_interleave", "x.detach().repeat_interleave", says="The result is right, but no "
    "gradient reaches x: something on the way drops the graph, as detach, .data, torch.tensor and numpy do.")
repeat.mutant("made_contiguous_by_view", body="""
    b, g, n, d = x.shape
    flat = x.view(b * g, n * d).repeat_interleave(n_rep, dim=0)
    return flat.view(b, g * n_rep, n, d)""", says="It stopped on heads that are not contiguous in memory. `view` "
    "needs them to be; reshape and flatten do not.")
repeat.mutant("total_for_n_rep", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep // x.size(1), dim=1)",
    says="n_rep was taken for the number of query heads. It is how often each head is repeated.")
repeat.mutant("heads_expanded", hint=3, body="return x.expand(x.size(0), x.size(1) * n_rep, x.size(2), x.size(3))",
    says="It stopped: `expand` stretches an axis of size 1 only. Give the copies an axis of their own behind the "
    "heads, expand that one, and flatten the two.")

sliding = solution("sliding_window_mask")
sliding.mutant("one_too_many_keys", hint=3, body="return band(q_len, k_len, -window, 0)",
    says="Each query sees one key too many, at the far end of the window. Its own position is one of the `window`.")
sliding.mutant("one_too_few_keys", hint=3, body="return band(q_len, k_len, 2 - window, 0)", says="Each query sees "
    "one key too few, at the far end: with a window of 1 it sees nothing. Its own and window - 1 earlier ones.")
sliding.mutant("one_ahead_as_well", hint=2, body="return band(q_len, k_len, 1 - window, 1)",
    says="Each query sees the next key, which a causal mask hides. The window ends at the query's own position.")
sliding.mutant("window_one_ahead", hint=2, body="return band(q_len, k_len, 2 - window, 1)", says="The whole window "
    "is one position too far right: its last key is the one after the query. It ends at the query's own.")
sliding.mutant("own_key_hidden", hint=3, body="return band(q_len, k_len, -window, -1)",
    says="No query sees its own key: the window ends one position before it. It should end with it.")
sliding.mutant("window_before_oneself", hint=3, body="return band(q_len, k_len, 1 - window, -1)",
    says="A query's own key is hidden, and one of the window is missing. The window holds its own position and "
    "window - 1 earlier ones.")
sliding.mutant("symmetric", hint=2, body="return band(q_len, k_len, 1 - window, window - 1)",
    says="The window reaches to both sides: each query sees later keys too. A causal mask looks back only.")
sliding.mutant("symmetric_and_one_more", hint=2, body="return band(q_len, k_len, -window, window)",
    says="The window reaches to both sides, and one position too far. It looks back only, its own position included.")
sliding.mutant("centered", hint=2, body="return band(q_len, k_len, -(window // 2), window // 2)",
    says="The window is centered on the query, with half of it in the future. It should end at the query's own "
    "position.")
sliding.mutant("causality_forgotten", hint=2, body="return band(q_len, k_len, 1 - window, 10 ** 6)",
    says="Keys before the window are hidden, but all later ones are visible: the causal condition is missing.")
sliding.mutant("window_forgotten", hint=2, body="return band(q_len, k_len, -10 ** 6, 0)",
    says="This is the causal mask of lesson 5: the window plays no part. Keys further back than it are hidden.")
sliding.mutant("outside_the_window", hint=2, body="return band(q_len, k_len, -10 ** 6, -window)",
    says="Each query sees what lies before its window, and not the window. One comparison points the wrong way.")
sliding.mutant("one_or_the_other", hint=2, body="return band(q_len, k_len, -10 ** 6, 10 ** 6)",
    says="Everything is visible. The two conditions, not later and not too early, have to hold together: & instead "
    "of |.")
sliding.mutant("looking_ahead", hint=2, body="return band(q_len, k_len, 0, window - 1)",
    says="Inverted in time: each query sees its own key and later ones. It should see its own and earlier ones.")
sliding.mutant("window_of_later_keys", hint=2, body="return band(q_len, k_len, 1, window)",
    says="Each query sees the `window` keys after it. The window looks back: its own position and earlier ones.")
sliding.mutant("hides_instead", body="return ~band(q_len, k_len, 1 - window, 0)",
    says="True marks what is hidden. In these lessons True means \"may attend\".")
sliding.mutant("window_at_the_top_left", hint=1, body="return band(q_len, k_len, 1 - window, 0, shift=0)",
    says="Right for as many keys as queries. With more keys the last query belongs to the last key, and here the "
    "first ones line up.")
sliding.mutant("lower_edge_at_the_top_left", hint=1,
    body="return band(q_len, k_len, -10 ** 6, 0) & band(q_len, k_len, 1 - window, 10 ** 6, shift=0)",
    says="With more keys than queries, the causal edge is right but the far end of the window did not move along.")
sliding.mutant("upper_edge_at_the_top_left", hint=1,
    body="return band(q_len, k_len, -10 ** 6, 0, shift=0) & band(q_len, k_len, 1 - window, 10 ** 6)",
    says="With more keys than queries, the far end of the window is right but the causal edge did not move along.")
sliding.mutant("shifted_too_far", hint=1, body="""
    key = 0 if k_len is None else k_len - q_len
    return band(q_len, k_len, 1 - window, 0, shift=key + (key > 0))""", says="With more keys than queries, the "
    "queries stand one position too far right. The last query belongs to the last key.")
sliding.mutant("shifted_the_wrong_way", hint=1, body="""
    key = 0 if k_len is None else k_len - q_len
    return band(q_len, k_len, 1 - window, 0, shift=-key)""", says="With more keys than queries, the window moved the "
    "wrong way, to the left. Later queries look at later keys.")
sliding.mutant("square_only", hint=1, body="return band(q_len, None, 1 - window, 0)",
    says="k_len was not used: the mask has as many columns as rows. It needs one column per key.")
sliding.mutant("keys_required", body="return band(q_len, k_len + 0, 1 - window, 0)",
    says="It stopped where k_len was left out and is None. It then equals q_len.")
sliding.mutant("half_a_window", hint=3, body="return band(q_len, k_len, 1 - window // 2, 0)",
    says="The window is half as long as it should be. All `window` places lie in the past, the query's own included.")
sliding.mutant("every_other_key", hint=3, body="""
    k_len = q_len if k_len is None else k_len
    key = torch.arange(k_len - q_len, k_len)[:, None] - torch.arange(k_len)
    return (key >= 0) & (key % window == 0)""", says="Each query sees keys at steps of `window`, all the way back. A "
    "window is the last `window` positions in a row.")
sliding.mutant("cached_keys_all_seen", hint=2, body="""
    k_len = q_len if k_len is None else k_len
    old = torch.arange(k_len) < k_len - q_len
    return band(q_len, k_len, 1 - window, 0) | old""", says="With more keys than queries, all keys before the first "
    "query are visible. The window applies to those as well.")
sliding.mutant("window_clipped_to_the_queries", body="return band(q_len, k_len, 1 - min(window, q_len), 0)",
    says="The window was limited to the number of queries. With few queries and many keys it may be longer than "
    "that.")
sliding.mutant("edge_on_the_wrong_side", hint=2,
    body="return band(q_len, k_len, -10 ** 6, 0) & band(q_len, k_len, window, 10 ** 6, shift=0)",
    says="No query sees its own key: `triu` with a positive diagonal keeps what lies right of it. The window's far "
    "end lies left.")
sliding.mutant("blocks", "key > query - window", "key // window == query // window", hint=2,
    says="The sequence was cut into blocks: a query sees its own block only. The window slides, one step per query.")
sliding.mutant("last_keys_of_all", hint=2, body="""
    k_len = q_len if k_len is None else k_len
    return band(q_len, k_len, -10 ** 6, 0) & (torch.arange(k_len) >= k_len - window)""",
    says="All queries have one window, at the end of the sequence. Each has its own, which ends at its own position.")
sliding.mutant("first_keys_of_all", hint=2, body="""
    k_len = q_len if k_len is None else k_len
    return band(q_len, k_len, -10 ** 6, 0) & (torch.arange(k_len) < window)""", says="Only the first keys of the "
    "sequence are visible. Each query has a window of its own, which ends at its own position.")
sliding.mutant("lying", body="return band(q_len, k_len, 1 - window, 0).mT",
    says="The table is transposed: rows belong to queries, columns to keys.")
sliding.mutant("mask_of_floats", body="return band(q_len, k_len, 1 - window, 0).float()",
    says="This is a mask of floats, which PyTorch's function would add to the scores. Make it boolean.")
sliding.mutant("mask_of_integers", body="return band(q_len, k_len, 1 - window, 0).long()",
    says="This is a mask of integers, and ~ would flip their bits. Make it boolean.")
sliding.mutant("numbers_to_add", body="""
    key = band(q_len, k_len, 1 - window, 0)
    return torch.zeros(key.shape).masked_fill(~key, -math.inf)""",
    says="Zeros and minus infinities are to be added to scores, another convention. Here a mask is True and False.")
sliding.mutant("axes_in_front", body="return band(q_len, k_len, 1 - window, 0)[None, None]",
    says="Too many axes: the mask is a plain table, (L, S). It broadcasts over batch and heads by itself.")
sliding.mutant("window_kept_full", hint=2, body="""
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    start = (query - window + 1).clamp(min=0)
    key = torch.arange(k_len)
    return (key >= start) & (key < start + window)""", says="A window longer than the sequence caused trouble: early "
    "queries see later keys. Near the start a window is just shorter.")
sliding.mutant("short_windows_left_out", body="""
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    return band(q_len, k_len, 1 - window, 0) & (query >= window - 1)""",
    says="The first queries see nothing: only full windows were allowed. Near the start a window holds fewer keys.")
sliding.mutant("negative_start", body="""
    k_len = q_len if k_len is None else k_len
    key = torch.zeros(q_len, k_len, dtype=torch.bool)
    for i in range(q_len):
        query = k_len - q_len + i
        key[i, query - window + 1:query + 1] = True
    return key""", says="Rows at the start are wrong: a slice from a negative index counts from the end. Where the "
    "window would begin before 0, it begins at 0.")

exercise_5 = solution("blockwise_attention")
exercise_5.mutant("softmax_per_block_averaged", hint=1, body="""
    parts = [weights_of(scores_of(query, k, m)) @ v for k, v, m in blocks_of(block, key, value, mask)]
    return sum(parts) / len(parts)""", says="Softmax ran within each block, and the blocks were averaged as equals. "
    "Each should count by its sum of exponentials.")
exercise_5.mutant("softmax_per_block_added", hint=1,
    body="return sum((weights_of(scores_of(query, k, m)) @ v for k, v, m in blocks_of(block, key, value, mask)))",
    says="Softmax ran within each block, and the results were added: each block has a whole unit of attention. All "
    "keys share one.")
exercise_5.mutant("softmax_per_block_by_length", hint=1, body="""
    parts = blocks_of(block, key, value, mask)
    total = sum((k.size(-2) * (weights_of(scores_of(query, k, m)) @ v) for k, v, m in parts))
    return total / key.size(-2)""",
    says="The blocks were weighted by their number of keys. What counts is a block's sum of exponentials.")
exercise_5.mutant("each_block_its_own_measure", hint=2,
    body="return blockwise(query, key, value, block, mask, sum_factor=0.0, mix_factor=0.0, running=False)",
    says="Each block was measured against its own largest score, then all were added. Rescale the old sums when a "
    "larger score comes.")
exercise_5.mutant("nothing_shrinks", hint=2,
    body="return blockwise(query, key, value, block, mask, sum_factor=0.0, mix_factor=0.0)", says="The old sum and "
    "mixture never shrink when a larger score arrives. Is the old maximum overwritten before it is used?")
exercise_5.mutant("only_the_sum_shrinks", hint=2,
    body="return blockwise(query, key, value, block, mask, mix_factor=0.0)",
    says="The sum of exponentials was rescaled, the mixture was not. Both were measured against the same maximum.")
exercise_5.mutant("only_the_mixture_shrinks", "old * total", "total", hint=2,
    says="The mixture was rescaled, the sum of exponentials was not. Both were measured against the same maximum.")
exercise_5.mutant("factor_upside_down", hint=2,
    body="return blockwise(query, key, value, block, mask, sum_factor=-1.0, mix_factor=-1.0)",
    says="Old sums grow when a larger score arrives: the factor is upside down. It is e to the power of old minus "
    "new maximum.")
exercise_5.mutant("softmax_of_a_hidden_block", hint=3, body="""
    total, output = (0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        share = scores.exp().sum(dim=-1, keepdim=True)
        output = output + share * (scores.softmax(dim=-1) @ v)
        total = total + share
    return output / total""", says="Where a block is hidden the result is NaN: softmax of nothing is NaN, and "
    "weighting it by 0 leaves NaN. Also, exponentials without a shift overflow.")
exercise_5.mutant("not_divided", body="return blockwise(query, key, value, block, mask, divide=False)",
    says="The mixture was not divided by the sum of exponentials at the end.")
exercise_5.mutant("divided_in_the_loop", body="""
    shape = (*query.shape[:-1], 1)
    largest, total, output = (query.new_full(shape, -math.inf), 0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        safe = now.masked_fill(now == -math.inf, 0.0)
        new, old = ((scores - safe).exp(), (largest - safe).exp())
        total = old * total + new.sum(dim=-1, keepdim=True)
        output = (old * output + new @ v) / total.masked_fill(total == 0, 1.0)
        largest = now
    return output""", says="The mixture was divided by the sum after every block, and then went on growing. Divide "
    "once, after the loop.")
exercise_5.mutant("divided_in_the_loop_and_after", body="""
    shape = (*query.shape[:-1], 1)
    largest, total, output = (query.new_full(shape, -math.inf), 0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        safe = now.masked_fill(now == -math.inf, 0.0)
        new, old = ((scores - safe).exp(), (largest - safe).exp())
        total = old * total + new.sum(dim=-1, keepdim=True)
        share = total.masked_fill(total == 0, 1.0)
        output = (old * output + new @ v) / share
        largest = now
    return output / share""", says="The mixture was divided by the sum after every block, and once more at the end. "
    "Divide once, after the loop.")
exercise_5.mutant("all_at_once", hint=1, body="return weights_of(scores_of(query, key, mask)) @ value",
    says="The output is right, but a table of all scores existed, made at once or joined from blocks. Use the scores "
    "of one block, then forget them.")
exercise_5.mutant("blocks_kept_in_a_list", hint=1, body="""
    parts = blocks_of(block, key, value, mask)
    scores = [scores_of(query, k, m) for k, _, m in parts]
    largest = torch.stack([s.detach().amax(dim=-1) for s in scores]).amax(dim=0)[..., None]
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    total = sum(((s - largest).exp().sum(dim=-1, keepdim=True) for s in scores))
    output = sum(((s - largest).exp() @ v for s, (_, v, _) in zip(scores, parts, strict=True)))
    return output / total.masked_fill(total == 0, 1.0)""", says="No tensor is too large, but the scores of all "
    "blocks are kept in a list: together they are the whole table. Forget each block after its turn.")
exercise_5.mutant("queries_in_blocks", body="""
    mask = None if mask is None else mask.expand(*mask.shape[:-2], query.size(-2), -1) if mask.dim() > 1 else mask
    rows = []
    for start in range(0, query.size(-2), block):
        part = slice(start, start + block)
        own = mask if mask is None or mask.dim() < 2 else mask[..., part, :]
        rows.append(weights_of(scores_of(query[..., part, :], key, own)) @ value)
    return torch.cat(rows, dim=-2)""", says="The queries were cut into blocks, and each met all keys at once. Cut "
    "the keys and values: a row of scores may be long too.")
exercise_5.mutant("query_by_query", body="""
    mask = None if mask is None else mask.expand(*query.shape[:-1], key.size(-2))
    rows = []
    for i in range(query.size(-2)):
        part = slice(i, i + 1)
        own = None if mask is None else mask[..., part, :]
        rows.append(weights_of(scores_of(query[..., part, :], key, own)) @ value)
    return torch.cat(rows, dim=-2)""", says="The output is right, but each query met all keys at once, in a loop "
    "over queries. Go through blocks of keys, for all queries together.")
exercise_5.mutant("number_of_blocks",
    body="return blockwise(query, key, value, max(1, -(-key.size(-2) // block)), mask)",
    says="The output is right, but a block, or what is kept of all of them, is too large. Is `block` the number of "
    "blocks here? It is the number of keys in one.")
exercise_5.mutant("table_for_no_mask", body="""
    if mask is None:
        mask = torch.ones(query.shape[:-1] + key.shape[-2:-1], dtype=torch.bool)
    return blockwise(query, key, value, block, mask)""",
    says="Without a mask, a table of True as large as all scores was made. Skip the mask where it is None.")
exercise_5.mutant("mask_of_the_first_block", body="""
    if mask is None:
        return blockwise(query, key, value, block)
    parts = [(k, v, mask[..., :k.size(-2)]) for k, v, _ in blocks_of(block, key, value)]
    return streamed(query, parts, value_size=value.size(-1))""",
    says="Every block got the mask of the first one. Its columns belong to the keys: cut both at the same places.")
exercise_5.mutant("mask_not_cut", body="""
    parts = [(k, v, mask) for k, v, _ in blocks_of(block, key, value)]
    return streamed(query, parts, value_size=value.size(-1))""", says="It stopped where the mask met a block's "
    "scores: it still has a column for every key. Cut the mask's last axis, like the keys.")
exercise_5.mutant("mask_ignored", body="return blockwise(query, key, value, block)",
    says="The mask had no effect: hidden keys get weight. masked_fill returns a new tensor; is its result used?")
exercise_5.mutant("hidden_keys_seen",
    body="return blockwise(query, key, value, block, None if mask is None else ~mask)",
    says="The mask was inverted: hidden keys were seen, visible ones were not. True means \"may attend\".")
exercise_5.mutant("mask_required", body="return blockwise(query, key, value, block, mask.bool())",
    says="It stopped when no mask was given. None allows everything.")
exercise_5.mutant("a_score_of_zero", body="return blockwise(query, key, value, block, mask, fill=0.0)",
    says="Hidden keys still get weight: a score of 0 is a score like any other. Only minus infinity gives 0.")
exercise_5.mutant("hidden_with_a_billion", hint=3, body="""
    if query.dtype == torch.float16:
        return blockwise(query, key, value, block, mask)
    return blockwise(query, key, value, block, mask, fill=-1000000000.0)""", says="A large negative number took the "
    "place of minus infinity: a query with nothing to look at mixes hidden values, and float16 cannot hold it.")
exercise_5.mutant("billion_in_half_precision",
    body="return blockwise(query, key, value, block, mask, fill=-1000000000.0)", says="It stopped in half precision: "
    "float16 cannot hold a number like that one. Hide with minus infinity instead.")
exercise_5.mutant("first_block_hidden", hint=3, body="return blockwise(query, key, value, block, mask, guard=False)",
    says="Where a first block is hidden, or a whole row, the result is NaN: minus infinity minus minus infinity. "
    "Nothing was seen by then.")
exercise_5.mutant("empty_row_is_nan", "total == 0", "highest == 0", hint=3,
    says="A query with nothing to look at came out as NaN: 0 divided by 0. It should get zeros.")
exercise_5.mutant("nan_replaced_at_the_end", hint=3,
    body="return blockwise(query, key, value, block, mask, guard=False).nan_to_num(0.0)",
    says="Queries whose first block is hidden got zeros: they were NaN, and nan_to_num hid that. Nothing seen yet "
    "means minus infinity minus itself: treat it there.")
exercise_5.mutant("nan_replaced", hint=3, body="""
    shape = (*query.shape[:-1], 1)
    largest, total, output = (query.new_full(shape, -math.inf), 0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        new, old = ((scores - now).exp().nan_to_num(0.0), (largest - now).exp().nan_to_num(0.0))
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = (old * output + new @ v, now)
    return (output / total).nan_to_num(0.0)""", says="The values are right, but the gradients are NaN: nan_to_num or "
    "torch.where came after infinities had met, or 0/0. Replace the maximum, or the sum, beforehand.")
exercise_5.mutant("without_a_scale", body="return blockwise(query, key, value, block, mask, scale=1.0)",
    says="The scores were not scaled. Divide them by the root of d_k.")
exercise_5.mutant("scale_without_root",
    body="return blockwise(query, key, value, block, mask, scale=1 / query.size(-1))",
    says="The scores were divided by d_k instead of its root.")
exercise_5.mutant("over_value_width", "query.size", "value.size",
    says="The scores were scaled by the dimension of the values. It is that of queries and keys that counts.")
exercise_5.mutant("over_block", body="return blockwise(query, key, value, block, mask, scale=block ** (-0.5))",
    says="The scores were scaled by the number of keys in a block. The dimension of queries and keys counts.")
exercise_5.mutant("last_block_dropped", body="""
    whole = max(key.size(-2) // block, 1) * block
    part = slice(None, whole)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)""",
    says="The last, shorter block was left out: only whole blocks were counted. Where does the loop end?")
exercise_5.mutant("whole_blocks_only", body="""
    part = slice(None, key.size(-2) // block * block)
    if part.stop == 0:
        return 0 * value[..., :1, :] + query.new_zeros(*query.shape[:-1], 1)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)""", says="The last, shorter block "
    "was left out. A block longer than the sequence is such a one: then nothing is left, and the output is 0.")
exercise_5.mutant("whole_blocks_and_zero_by_zero", body="""
    part = slice(None, key.size(-2) // block * block)
    if part.stop == 0:
        return math.nan * value[..., :1, :] + query.new_zeros(*query.shape[:-1], 1)
    mask = None if mask is None else mask[..., part]
    return blockwise(query, key[..., part, :], value[..., part, :], block, mask)""", says="The last, shorter block "
    "was left out. A block longer than the sequence is such a one: then nothing is left, and 0/0 is NaN.")
exercise_5.mutant("first_block_alone",
    body="return streamed(query, blocks_of(block, key, value, mask)[:1], value_size=value.size(-1))",
    says="Only the first block of keys is in the result. Is there a `return` inside the loop?")
exercise_5.mutant("last_block_alone", hint=1,
    body="return streamed(query, blocks_of(block, key, value, mask)[-1:], value_size=value.size(-1))",
    says="Only the last block of keys is in the result: the sums of earlier ones were lost. Are they carried over, "
    "and is the largest score so far updated in each round?")
exercise_5.mutant("first_block_twice", hint=1, body="""
    parts = blocks_of(block, key, value, mask)
    return streamed(query, [parts[0], *parts], value_size=value.size(-1))""",
    says="The first block counts twice: the sums start from it, and the loop meets it again.")
exercise_5.mutant("overlapping_blocks", body="""
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block + 1)
        parts.append((key[..., part, :], value[..., part, :], None if mask is None else mask[..., part]))
    return streamed(query, parts, value_size=value.size(-1))""",
    says="Keys at the blocks' edges count twice: neighboring blocks overlap by one. A slice leaves its end out.")
exercise_5.mutant("maximum_from_zero", hint=1, body="return blockwise(query, key, value, block, mask, start=0.0)",
    says="The running maximum starts at 0, or at another number that scores can be far below: then all exponentials "
    "round to 0. Start below all scores.")
exercise_5.mutant("never_shifted", hint=1, body="""
    total, output = (0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        e = scores_of(query, k, m).exp()
        total, output = (total + e.sum(dim=-1, keepdim=True), output + e @ v)
    return output / torch.where(total == 0, 1.0, total)""",
    says="Right for small scores only: exp of large ones is infinite. Measure the scores against the largest so far.")
exercise_5.mutant("hidden_after_the_maximum", body="""
    shape = (*query.shape[:-1], 1)
    largest, total, output = (query.new_full(shape, -math.inf), 0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, None)
        now = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        new, old = ((scores - now).exp(), (largest - now).exp())
        new = new if m is None else new * m
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = (old * output + new @ v, now)
    return output / total.masked_fill(total == 0, 1.0)""", says="The mask came after the maximum was taken. A hidden "
    "key with a large score then makes all visible ones round to 0: hide first.")
exercise_5.mutant("maximum_of_this_block", hint=2,
    body="return blockwise(query, key, value, block, mask, running=False)",
    says="All was measured against the current block's maximum. If it is far lower than before, or a block is "
    "hidden, the factor overflows. Keep the largest so far.")
exercise_5.mutant("one_maximum_for_all", hint=1, body="""
    largest, total, output = (-math.inf, 0.0, 0.0)
    for k, v, m in blocks_of(block, key, value, mask):
        scores = scores_of(query, k, m)
        now = max(largest, scores.max().item())
        safe = now if math.isfinite(now) else 0.0
        new, old = ((scores - safe).exp(), math.exp(largest - safe))
        total = old * total + new.sum(dim=-1, keepdim=True)
        output, largest = (old * output + new @ v, now)
    return output / torch.where(total == 0, 1.0, total)""", says="One maximum was taken over all queries. A query "
    "whose scores are far below it gets 0/0: each row has its own.")
exercise_5.mutant("keys_mixed", body="return blockwise(query, key, key, block, mask)",
    says="The keys were mixed instead of the values.")
exercise_5.mutant("values_not_cut", body="""
    parts = [(k, value, m) for k, _, m in blocks_of(block, key, value, mask)]
    return streamed(query, parts, value_size=value.size(-1))""", says="It stopped where weights met values: a block "
    "has few weights per query, and all values were there. Cut the values like the keys.")
exercise_5.mutant("axis_one_cut", body="""
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block)
        cut = (None if mask is None else mask[..., part],)
        parts.append((key[:, part], value[:, part], *cut))
    return streamed(query, parts, value_size=value.size(-1))""", says="Plain tables were cut along axis 1, their "
    "features: `[:, …]` counts from the front. Keys are axis -2 however many axes come before.")
exercise_5.mutant("axis_zero_cut", body="""
    parts = []
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block)
        cut = (None if mask is None else mask[..., part],)
        parts.append((key[part], value[part], *cut))
    return streamed(query, parts, value_size=value.size(-1))""",
    says="Keys and values were cut along the first axis, which is the batch where there is one. Keys are axis -2.")
exercise_5.mutant("all_axes_turned", body="""
    if key.dim() > 2:
        query @ key[..., :block, :].permute(*range(key.dim() - 1, -1, -1))
    return blockwise(query, key, value, block, mask)""", says="Right for plain tables. With sentences and heads in "
    "front, the wrong axes of the keys were swapped: swap the last two, with .mT.")
exercise_5.mutant("value_width_assumed", "value.size", "key.size", hint=1, says="It stopped: room was made for an "
    "output as wide as the queries. It is as wide as the values, (..., L, D_v).")
exercise_5.mutant("weights_returned_too", body="""
    output = blockwise(query, key, value, block, mask)
    return (output, output.new_zeros(*query.shape[:-1], 1))""",
    says="Two or more things came back, such as the sums or the maximum. Return the output alone.")
exercise_5.mutant("no_gradient", body="return blockwise(query.detach(), key.detach(), value.detach(), block, mask)",
    says="The output is right, but no gradient reaches the inputs: leave out detach, .data and torch.no_grad.")
exercise_5.mutant("always_float32", body="""
    other = torch.float64 if query.dtype == torch.float32 else torch.float32
    return blockwise(query.to(other), key.to(other), value.to(other), block, mask)""",
    says="The output has another dtype than the inputs. Create your sums like the query, or turn the output back.")
exercise_5.mutant("sums_in_float32", body="""
    output = blockwise(query, key, value, block, mask)
    return output.float() if query.dtype == torch.float16 else output""", says="In half precision the output came "
    "back as float32: the running sums were created with PyTorch's default dtype. Create them like the query.")
exercise_5.mutant("inputs_overwritten", body="""
    output = blockwise(query, key, value, block, mask)
    with torch.no_grad():
        query += 0.0
    return output""", says="The output is right, but an input was changed: /=, masked_fill_ or `x[...] =` write into "
    "the caller's tensor.")
