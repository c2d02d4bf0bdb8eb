"""The checks of lesson 10 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch
from attention import MultiHeadAttention
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.checks import Inputs, check, law, shortcut

READY_MADE = (
    "scaled_dot_product_attention",
    "MultiheadAttention",
    "multi_head_attention_forward",
)
NO_DECODE_STEP = shortcut(
    "decode_step", *READY_MADE, because="The exercise is to write its steps yourself."
)
NO_BLOCKWISE_ATTENTION = shortcut(
    "blockwise_attention",
    *READY_MADE,
    because="The exercise is to write its steps yourself.",
)
NO_OTHER_MEMORY = shortcut(
    "blockwise_attention",
    "NumPy",
    "tolist",
    "item",
    because="What you keep can be measured in PyTorch's tensors only.",
)
ROOM = 700  # positions that fit into a RoomyCache
FOLLOW = "Keys and values that follow those in a cache have their shape: (B, H, T, D)."

# What attention costs


def in_order(result: Any) -> Any:
    """Sort a dictionary by its keys, so that their order does not matter."""
    return dict(sorted(result.items())) if isinstance(result, dict) else result


@check("attention_cost", points=1)
def one_head(attention_cost: Any, draw: Inputs) -> Any:
    """One head of one sentence, with more keys than queries, in float32."""
    q_len, k_len, d_head = (
        draw.size(5, 13, 17),
        draw.size(7, 19, 23),
        draw.size(3, 29, 31),
    )
    return in_order(attention_cost(1, 1, q_len, k_len, d_head))


@check("attention_cost", points=1)
def heads_in_half_precision(attention_cost: Any, draw: Inputs) -> Any:
    """Several heads of several sentences, with two bytes per entry."""
    batch, heads, d_head = (
        draw.size(3, 7, 9),
        draw.size(5, 11, 12),
        draw.size(6, 25, 28),
    )
    q_len, k_len = draw.size(11, 13, 16), draw.size(13, 17, 20)
    return in_order(attention_cost(batch, heads, q_len, k_len, d_head, bytes_per_el=2))


# The cache


def length_of(cache: Any) -> Any:
    """Return len(cache), or 'an error'."""
    try:
        return len(cache)
    except Exception:
        return "an error"


def kept(result: Any, cache: Any) -> Any:
    """Copy what came back, because a cache may go on writing to it."""
    if isinstance(result, list | tuple):
        return [kept(item, cache) for item in result]
    if result is cache:
        return "the cache itself"
    return result.detach().clone() if isinstance(result, Tensor) else result


def second_cache(cache_class: Any, key: Tensor, value: Tensor) -> Any:
    """Return the length of a cache after something was appended to another one."""
    one, other = cache_class(), cache_class()
    with suppress(Exception):
        one.append(key.clone(), value.clone())
    return length_of(other)


def grown(
    cache_class: Any,
    draw: Inputs,
    shape: Sequence[int],
    steps: Sequence[int],
    dtype: Any = torch.float64,
) -> Any:
    """Append some positions at a time to a new cache; what was passed in is overwritten with zeros afterward."""
    batch, heads, d_head = shape
    parts = [
        [draw.normal(batch, heads, t, d_head, dtype=dtype) for _ in range(2)]
        for t in steps
    ]
    found: dict[str, Any] = {"a second cache": second_cache(cache_class, *parts[0])}
    if found["a second cache"] != 0:
        return found
    cache = cache_class()
    for n, part in enumerate(parts, 1):
        key, value = (tensor.clone() for tensor in part)
        found[f"what append {n} returned"] = kept(cache.append(key, value), cache)
        found[f"len(cache) after append {n}"] = length_of(cache)
        key.zero_()
        value.zero_()
    return found


def compared(found: Any) -> Any:
    """Say what is wrong with the length of a cache that nothing was appended to; else return what is compared."""
    length = found["a second cache"]
    if length == "an error":
        raise ValueError(
            "len(cache) stops with an error when nothing was appended yet; it should be 0."
        )
    if length != 0:
        raise ValueError(
            "Nothing was appended to a cache, and its length is not 0: it shares what another one holds. "
            "Create what a cache holds in __init__, on `self`."
        )
    return found


def all_compared(found: Any) -> Any:
    """Compare what several caches gave."""
    return {name: compared(part) for name, part in found.items()}


@check("KVCache", points=1, show=True, summary=all_compared)
def three_appends(cache_class: Any, draw: Inputs) -> Any:
    """Three positions, then one, then two: what comes back, and the length; and the same in half precision."""
    return {
        "float64": grown(cache_class, draw, (5, 2, 7), (3, 1, 2)),
        "float16": grown(cache_class, draw, (3, 2, 4), (1, 3), dtype=torch.float16),
    }


# One step of decoding


class RoomyCache:
    """A cache with room for some positions from the start. All it offers is append and len."""

    def __init__(self) -> None:
        self._room: list[Tensor] = []
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "A cache offers append and len(cache), and no other names."
        )

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write the new positions behind the others, and return all of them."""
        if not self._room:
            self._room = [
                t.new_zeros(*t.shape[:2], ROOM, *t.shape[3:]) for t in (key, value)
            ]
        after = self._used + key.size(-2)
        for room, new in zip(self._room, (key, value), strict=True):
            place = room[:, :, self._used : after]
            if place.shape != new.shape:
                raise ValueError(FOLLOW)
            place.copy_(new)
        self._used = after
        return self.contents()

    def contents(self) -> tuple[Tensor, Tensor]:
        """Return all keys and all values."""
        key, value = (room[:, :, : self._used].clone() for room in self._room)
        return key, value


def attention_for(
    draw: Inputs, d_model: int, num_heads: int, *, bias: bool = False
) -> MultiHeadAttention:
    """Make a module with drawn float64 parameters, in eval mode."""
    mha = MultiHeadAttention(d_model, num_heads, bias=bias).double().eval()
    for _, parameter in sorted(mha.named_parameters()):
        size = parameter.size(-1) ** -0.5 if parameter.dim() > 1 else 1.0
        parameter.data = size * draw.normal(*parameter.shape)
    return mha.requires_grad_(False)


@contextmanager
def projected_others(mha: MultiHeadAttention, x_new: Tensor) -> Iterator[set[str]]:
    """Note the names of projections that any token other than the new ones passes through."""
    found: set[str] = set()
    new = x_new.detach().clone().flatten(0, 1)

    def note(name: str, given: Any) -> None:
        rows = given[0].detach().reshape(-1, new.size(-1))
        if not bool((rows[:, None] == new).all(dim=-1).any(dim=-1).all()):
            found.add(name)

    hooks = [
        getattr(mha, name).register_forward_pre_hook(
            lambda _, given, name=name: note(name, given)
        )
        for name in ("q_proj", "k_proj", "v_proj")
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def decoded(
    decode_step: Any, mha: MultiHeadAttention, x: Tensor, steps: Sequence[int]
) -> Any:
    """Run a sequence through decode_step in steps, with a new cache."""
    cache, outputs, others = RoomyCache(), [], set()
    for x_new in x.split(list(steps), dim=1):
        with projected_others(mha, x_new) as found:
            outputs.append(decode_step(mha, x_new, cache))
        others |= found
    names = [name for name in ("q_proj", "k_proj", "v_proj") if name in others]
    return {
        **{f"the output of step {n}": output for n, output in enumerate(outputs, 1)},
        "len(cache) at the end": len(cache),
        "old tokens passed again through": ", ".join(names) or "no projection",
    }


@check("decode_step", points=1, show=True)
def a_prompt(decode_step: Any, draw: Inputs) -> Any:
    """Two prompts of four tokens, and what is in the cache then."""
    mha, cache = attention_for(draw, 6, 3), RoomyCache()
    output = decode_step(mha, draw.normal(2, 4, 6), cache)
    length = len(cache)
    keys, values = cache.contents() if length else (None, None)
    return {
        "the output": output,
        "len(cache)": length,
        "the keys in the cache": keys,
        "the values in the cache": values,
    }


@check("decode_step", points=1, show=True)
def step_by_step(decode_step: Any, draw: Inputs) -> Any:
    """The same five tokens one by one, two at a time, and a prompt of four followed by another token."""
    mha, x = attention_for(draw, 6, 3), draw.normal(2, 5, 6)
    return {
        "one by one": decoded(decode_step, mha, x[:, :3], (1, 1, 1)),
        "four and one": decoded(decode_step, mha, x, (4, 1)),
        "two and two": decoded(decode_step, mha, x[:, :4], (2, 2)),
    }


@check("decode_step", points=1, show=True)
def a_filled_cache(decode_step: Any, draw: Inputs) -> Any:
    """A cache that somebody else has filled with five positions, and two new tokens."""
    mha, cache = attention_for(draw, 8, 2), RoomyCache()
    cache.append(draw.normal(3, 2, 5, 4), draw.normal(3, 2, 5, 4))
    output = decode_step(mha, draw.normal(3, 2, 8), cache)
    return {"the output": output, "len(cache)": len(cache)}


# Fewer heads for keys and values


def numbered(*shape: int) -> Tensor:
    """Make a tensor that holds 0, 1, 2 and so on, so that you can see where each entry went."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float64).view(shape)


@check("repeat_kv", points=1, show=True)
def numbered_heads(repeat_kv: Any, draw: Inputs) -> Any:
    """Two sentences, three heads, each for two query heads."""
    return repeat_kv(draw.give(numbered(2, 3, 4, 5) + draw.size(0, 1, 99)), 2)


@check("repeat_kv", points=1, show=True)
def once_and_often(repeat_kv: Any, draw: Inputs) -> Any:
    """A single head for all four query heads, two heads for three each, with the gradient, and n_rep = 1."""
    x = draw.normal(1, 2, 4, 5).requires_grad_()
    repeated = repeat_kv(x, 3)
    repeated.square().sum().backward()
    return {
        "1 head, n_rep = 4": repeat_kv(draw.normal(3, 1, 2, 5), 4),
        "2 heads, n_rep = 3": repeated,
        "the gradient of the 2 heads": x.grad,
        "3 heads, n_rep = 1": repeat_kv(draw.normal(2, 3, 4, 5), 1),
    }


# The sliding window


@check("sliding_window_mask", points=1, show=True)
def as_many_keys_as_queries(sliding_window_mask: Any, draw: Inputs) -> Any:
    """As many keys as queries, and windows of three, two and one."""
    n = draw.size(6, 7, 9)
    return {
        f"sliding_window_mask({n}, {window})": sliding_window_mask(n, window)
        for window in (3, 2, 1)
    }


@check("sliding_window_mask", points=1, show=True)
def more_keys_than_queries(sliding_window_mask: Any, draw: Inputs) -> Any:
    """More keys than queries, and windows longer than the sequence."""
    few = draw.size(2, 3, 4)
    return {
        f"sliding_window_mask({few}, 3, {few + 5})": sliding_window_mask(
            few, 3, few + 5
        ),
        f"sliding_window_mask({few + 1}, 2, {few + 3})": sliding_window_mask(
            few + 1, 2, k_len=few + 3
        ),
        f"sliding_window_mask({few}, 20, {few + 4})": sliding_window_mask(
            few, 20, few + 4
        ),
        f"sliding_window_mask({few + 2}, 20)": sliding_window_mask(few + 2, 20),
    }


# Block by block


def rule(draw: Inputs, *shape: int) -> Tensor:
    """Draw a mask with about half of its entries True and at least one True in each row."""
    mask = draw.normal(*shape) > 0
    mask[..., draw.integer(0, shape[-1] - 1)] = True
    return mask


@check("blockwise_attention", points=1, show=True)
def without_a_mask(blockwise_attention: Any, draw: Inputs) -> Any:
    """Three queries and eight keys, in blocks of two, three, one and twenty; and two sentences in four heads."""
    q, k, v = draw.normal(3, 4), draw.normal(8, 4), draw.normal(8, 5)
    heads = draw.normal(2, 4, 3, 6), draw.normal(2, 4, 7, 6), draw.normal(2, 4, 7, 5)
    blocks = {f"block = {n}": blockwise_attention(q, k, v, n) for n in (2, 3, 1, 20)}
    return {**blocks, "with heads, block = 3": blockwise_attention(*heads, 3)}


class Meter(TorchDispatchMode):
    """Notes how large the tensors are that PyTorch makes, and how much is kept at a time: of all, and of what is
    computed from the queries.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # leave the compiler out of it: importing it takes two seconds

    def __init__(self, query: Tensor) -> None:
        super().__init__()
        self.largest = self.most_kept = self.most_of_query = 0
        self._query = reference_to(query)
        self._kept: dict[int, tuple[StorageWeakRef, int]] = {}
        self._of_query = {self._query.cdata}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run an operator, and note its results."""
        result = func(*args, **(kwargs or {}))
        read = [] if func.overloadpacket.__name__.startswith("new_") else args
        of_query = any(
            reference_to(t).cdata in self._of_query
            for t in tensors_in([read, *(kwargs or {}).values()])
        )
        for tensor in tensors_in([result]):
            self.note(tensor, of_query)
        return result

    def note(self, tensor: Tensor, of_query: bool) -> None:
        """Note one tensor. A view takes no room of its own."""
        entries = tensor.untyped_storage().nbytes() // tensor.element_size()
        self.largest = max(self.largest, min(entries, tensor.numel()))
        for key in [key for key, item in self._kept.items() if item[0].expired()]:
            del self._kept[key]
            self._of_query.discard(key)
        reference = reference_to(tensor)
        self._kept.setdefault(reference.cdata, (reference, entries))
        if of_query:
            self._of_query.add(reference.cdata)
        kept = self._kept
        of_it = sum(kept[key][1] for key in self._of_query if key in kept)
        self.most_kept = max(self.most_kept, sum(size for _, size in kept.values()))
        self.most_of_query = max(self.most_of_query, of_it)


def tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    """Yield the tensors that an operator takes or returns, alone or in lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def reference_to(tensor: Tensor) -> StorageWeakRef:
    """Return what tells a tensor's room from others, as long as the reference exists."""
    return StorageWeakRef(tensor.untyped_storage())


def sizes_inside(
    blockwise_attention: Any, inputs: Sequence[Tensor], block: int, mask: Any = None
) -> Any:
    """Run it on plain tables, and say how large the tensors are that are made on the way.

    A single query shows whether its scores exist for all keys at once: they are nearly all that is computed from it.
    """
    query, key, value = inputs
    table = len(query) * len(key)
    allowed = 2 * max(len(query) * block, key.numel(), value.numel())
    single = query[:1].clone()
    with Meter(query) as meter:
        output = blockwise_attention(query, key, value, block, mask)
    with Meter(single) as row:
        blockwise_attention(single, key, value, block, mask)
    largest = "within the limit" if meter.largest <= allowed else "far above the limit"
    largest = "as large as all scores" if meter.largest >= table else largest
    all_kept, all_keys = meter.most_kept >= table, row.most_of_query >= len(key)
    return {
        "the output": output,
        "the largest tensor": largest,
        "what is kept at a time": f"{'as much as' if all_kept else 'less than'} all scores",
        "a row of scores": f"for {'all keys' if all_keys else 'a block of keys'}",
    }


@check("blockwise_attention", points=2)
def never_all_scores(blockwise_attention: Any, draw: Inputs) -> Any:
    """513 keys in blocks of 16, for 100 queries and for a single one: how large the tensors on the way are."""
    inputs = draw.normal(100, 2), draw.normal(513, 2), draw.normal(513, 2)
    return sizes_inside(blockwise_attention, inputs, 16)


@check("blockwise_attention", points=1, show=True)
def masks_and_large_scores(blockwise_attention: Any, draw: Inputs) -> Any:
    """Masks, a first block that is hidden, a query with nothing to look at, with gradients; large scores; half
    precision.
    """
    q, k, v = (
        draw.normal(*shape).requires_grad_()
        for shape in ((2, 3, 4, 6), (2, 3, 7, 6), (2, 3, 7, 5))
    )
    table, padding, hidden = rule(draw, 4, 7), rule(draw, 2, 1, 1, 7), rule(draw, 4, 7)
    table[:, 0] = padding[..., 0] = True
    hidden[:, :2], hidden[:, 5], hidden[2, :4] = False, True, False
    empty = rule(draw, 2, 1, 4, 7)
    empty[1, 0, 2] = empty[0, 0, 0] = False
    masks = {
        "mask (L, S)": table,
        "mask (B, 1, 1, S)": padding,
        "the first block hidden": hidden,
        "queries with nothing to look at": empty,
    }
    results = {
        name: blockwise_attention(q, k, v, 2, draw.give(mask))
        for name, mask in masks.items()
    }
    weight = draw.normal(2, 3, 4, 5)
    sum((output * weight).sum() for output in results.values()).backward()
    whole, keys, values = (
        draw.normal(5, 4).round(),
        draw.normal(9, 4).round(),
        draw.normal(9, 3),
    )  # exact in float32
    tall, visible = keys.clone(), rule(draw, 5, 9)
    tall[3], visible[:, 3], visible[:, 5] = 4096.0, False, True
    half = [draw.normal(2, n, 4, dtype=torch.float16) for n in (3, 5, 5)]
    return {
        **results,
        "the gradient of the queries": q.grad,
        "the gradient of the keys": k.grad,
        "the gradient of the values": v.grad,
        "large scores": blockwise_attention(8192 * whole, keys, values, 2),
        "scores far below zero": blockwise_attention(
            whole.abs() + 1, keys - 8192, values, 4
        ),
        "a large hidden score": blockwise_attention(
            whole.abs() + 1, draw.give(tall), values, 2, draw.give(visible)
        ),
        "float16": blockwise_attention(*half, 2, draw.give(rule(draw, 3, 5))),
    }


@law("attention_cost")
def heads_and_sentences(attention_cost: Any, draw: Inputs) -> bool:
    """Twice as many heads, each of dimension d_head, cost twice as much, and so do twice as many sentences."""
    one, heads, batch = (
        attention_cost(b, h, 5, 7, 4) for b, h in ((1, 1), (1, 2), (2, 1))
    )
    return all(heads[name] == batch[name] == 2 * one[name] for name in one)


@law("KVCache")
def every_position_counts(cache_class: Any, draw: Inputs) -> bool:
    """len(cache) is the number of positions, and equal tokens are kept as often as they come."""
    cache, token = cache_class(), draw.normal(2, 3, 1, 4)
    lengths = [cache.append(token, token)[0].size(2) for _ in range(3)]
    return lengths == [1, 2, 3] and len(cache) == 3


@law("repeat_kv")
def copies_side_by_side(repeat_kv: Any, draw: Inputs) -> bool:
    """The copies of one set stand next to each other: set 0 n_rep times, then set 1 n_rep times."""
    sets = torch.arange(3.0).view(1, 3, 1, 1).expand(1, 3, 2, 2)
    return repeat_kv(sets.contiguous(), 2)[0, :, 0, 0].tolist() == [0, 0, 1, 1, 2, 2]


@law("sliding_window_mask")
def as_many_as_the_window(sliding_window_mask: Any, draw: Inputs) -> bool:
    """A query sees its own position and window - 1 before it, and fewer only at the beginning."""
    return sliding_window_mask(6, 3).sum(dim=-1).tolist() == [1, 2, 3, 3, 3, 3]


@law("blockwise_attention")
def blocks_of_any_size(blockwise_attention: Any, draw: Inputs) -> bool:
    """Blocks of any size give the same result, all keys in one block as well."""
    inputs = draw.normal(3, 4), draw.normal(7, 4), draw.normal(7, 2)
    one, three, every = (blockwise_attention(*inputs, block) for block in (1, 3, 7))
    alike = torch.allclose(one, three, atol=1e-4)
    return alike and torch.allclose(three, every, atol=1e-4)


@law("attention_cost")
def what_grows_with_the_queries(attention_cost: Any, draw: Inputs) -> bool:
    """With twice as many queries all but "kv_bytes" doubles: there are as many keys and values as before."""
    one, two = attention_cost(1, 2, 5, 7, 4), attention_cost(1, 2, 10, 7, 4)
    grown = {name: two[name] / one[name] for name in one}
    return grown == {"score_flops": 2, "mix_flops": 2, "score_bytes": 2, "kv_bytes": 1}


@law("attention_cost")
def what_grows_with_the_dimension(attention_cost: Any, draw: Inputs) -> bool:
    """With a d_head twice as large all but "score_bytes" doubles: a score is one number, however long its vectors
    are.
    """
    one, two = attention_cost(1, 2, 5, 7, 4), attention_cost(1, 2, 5, 7, 8)
    grown = {name: two[name] / one[name] for name in one}
    return grown == {"score_flops": 2, "mix_flops": 2, "score_bytes": 1, "kv_bytes": 2}


@law("attention_cost")
def what_grows_with_the_keys(attention_cost: Any, draw: Inputs) -> bool:
    """With twice as many keys everything doubles."""
    one, two = attention_cost(1, 2, 5, 7, 4), attention_cost(1, 2, 5, 14, 4)
    return all(two[name] == 2 * one[name] for name in one)


@law("attention_cost")
def numbers_of_other_sizes(attention_cost: Any, draw: Inputs) -> bool:
    """Numbers of half as many bytes halve the bytes, and change no count of operations."""
    one, half = (attention_cost(1, 2, 5, 7, 4, bytes_per_el=n) for n in (4, 2))
    return {name: one[name] / half[name] for name in one} == {
        "score_flops": 1,
        "mix_flops": 1,
        "score_bytes": 2,
        "kv_bytes": 2,
    }


@law("attention_cost")
def one_of_everything(attention_cost: Any, draw: Inputs) -> bool:
    """One query and one key with one entry cost a multiplication and an addition for the score, and as much for the
    mixing; the score takes one number's bytes, key and value two.
    """
    cost = attention_cost(1, 1, 1, 1, 1, bytes_per_el=1)
    return cost == {"score_flops": 2, "mix_flops": 2, "score_bytes": 1, "kv_bytes": 2}


@law("KVCache")
def in_the_order_in_which_they_came(cache_class: Any, draw: Inputs) -> bool:
    """What comes back are all keys and all values so far, the old ones first, along the axis of positions."""
    cache = cache_class()
    parts = [(draw.normal(2, 3, n, 4), draw.normal(2, 3, n, 4)) for n in (2, 1, 3)]
    for key, value in parts:
        found = cache.append(key, value)
    wanted = [torch.cat(tensors, dim=2) for tensors in zip(*parts, strict=True)]
    return all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


@law("KVCache")
def each_cache_by_itself(cache_class: Any, draw: Inputs) -> bool:
    """A new cache is empty, whatever other caches hold."""
    first, token = cache_class(), draw.normal(1, 2, 1, 3)
    first.append(token, token)
    second = cache_class()
    return len(second) == 0 and second.append(token, token)[0].size(2) == 1


@law("decode_step")
def one_by_one_or_at_once(decode_step: Any, draw: Inputs) -> bool:
    """Tokens that come one by one give what they give all at once."""
    mha, x = attention_for(draw, 6, 2), draw.normal(2, 4, 6)
    at_once = decode_step(mha, x, RoomyCache())
    cache = RoomyCache()
    steps = [decode_step(mha, x[:, i : i + 1], cache) for i in range(4)]
    return torch.allclose(torch.cat(steps, dim=1), at_once, atol=1e-4)


@law("decode_step")
def no_new_token_looks_ahead(decode_step: Any, draw: Inputs) -> bool:
    """Of several new tokens none sees those after it, with or without a cache that is filled."""
    mha, x = attention_for(draw, 6, 2), draw.normal(2, 4, 6)
    other = torch.cat([x[:, :2], draw.normal(2, 2, 6)], dim=1)
    one, two = (decode_step(mha, t, RoomyCache())[:, :2] for t in (x, other))
    return torch.allclose(one, two, atol=1e-4)


@law("decode_step")
def the_cache_is_seen(decode_step: Any, draw: Inputs) -> bool:
    """A new token sees all tokens in the cache: another one there changes its output."""
    mha, new, outputs = attention_for(draw, 6, 2), draw.normal(1, 1, 6), []
    for first in (draw.normal(1, 2, 6), draw.normal(1, 2, 6)):
        cache = RoomyCache()
        decode_step(mha, first, cache)
        outputs.append(decode_step(mha, new, cache))
    return not torch.allclose(*outputs, atol=1e-4)


@law("repeat_kv")
def sets_stay_whole(repeat_kv: Any, draw: Inputs) -> bool:
    """There are n_rep times as many heads afterward, and each is one of the sets, whole."""
    x = draw.normal(2, 3, 4, 5)
    found = repeat_kv(x, 2)
    heads = [
        any(torch.equal(found[:, h], x[:, g]) for g in range(3))
        for h in range(found.size(1))
    ]
    return heads == [True] * 6


@law("repeat_kv")
def once_is_nothing(repeat_kv: Any, draw: Inputs) -> bool:
    """With an n_rep of 1 nothing changes."""
    x = draw.normal(2, 3, 4, 5)
    return torch.equal(repeat_kv(x, 1), x)


@law("sliding_window_mask")
def a_window_of_one(sliding_window_mask: Any, draw: Inputs) -> bool:
    """With a window of 1 a query sees its own position alone; with one as long as the keys, all that came
    before too.
    """
    one, every = sliding_window_mask(4, 1), sliding_window_mask(4, 4)
    return torch.equal(one, torch.eye(4).bool()) and torch.equal(
        every, torch.ones(4, 4).tril().bool()
    )


@law("sliding_window_mask")
def last_with_last(sliding_window_mask: Any, draw: Inputs) -> bool:
    """With more keys than queries the last query belongs to the last key, and sees it and those right before it."""
    last = sliding_window_mask(2, 3, 6)[-1]
    return last.tolist() == [False, False, False, True, True, True]


@law("blockwise_attention")
def hidden_keys_change_nothing(blockwise_attention: Any, draw: Inputs) -> bool:
    """What a hidden key and its value hold changes nothing, in whichever block it is."""
    query, key, value = draw.normal(3, 4), draw.normal(7, 4), draw.normal(7, 2)
    mask = rule(draw, 7)
    hidden = ~mask.unsqueeze(-1)
    other = key.masked_fill(hidden, 30.0), value.masked_fill(hidden, -50.0)
    one, two = (
        blockwise_attention(query, *kv, 2, mask) for kv in ((key, value), other)
    )
    return torch.allclose(one, two, atol=1e-4)


@law("blockwise_attention")
def equal_values(blockwise_attention: Any, draw: Inputs) -> bool:
    """Where all values are the same vector, every output is that vector: it is divided once, by all exponentials."""
    value = draw.normal(2)
    output = blockwise_attention(
        draw.normal(3, 4), draw.normal(7, 4), value.expand(7, 2), 3
    )
    return torch.allclose(output, value.expand(3, 2), atol=1e-4)


@law("blockwise_attention")
def keys_in_another_order(blockwise_attention: Any, draw: Inputs) -> bool:
    """Keys and values in another order, both the same, give the same, also where the largest score comes last: what was
    summed up so far shrinks then.
    """
    query, key, value = 5 * draw.normal(3, 4), draw.normal(7, 4), draw.normal(7, 2)
    one, two = (
        blockwise_attention(query, k, v, 2)
        for k, v in ((key, value), (key.flip(0), value.flip(0)))
    )
    return torch.allclose(one, two, atol=1e-4)


@law("blockwise_attention")
def the_root_of_d(blockwise_attention: Any, draw: Inputs) -> bool:
    """Scores are divided by sqrt(D): one that is larger by sqrt(D) has a weight e times as large."""
    query, key = torch.zeros(1, 4).double(), torch.zeros(2, 4).double()
    query[0, 0], key[0, 0] = 1.0, 2.0
    weights = blockwise_attention(query, key, torch.eye(2).double(), 1)[0]
    return abs(float(weights[0] / weights[1]) - torch.e) < 1e-3
