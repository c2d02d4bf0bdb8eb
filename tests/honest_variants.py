"""Right answers that differ in their numerics: loops, einsum, other orders of sums, float32 inside, tiny epsilons."""

import copy
import math
import runpy
from collections.abc import Callable
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize


class Variant(NamedTuple):
    lesson: str
    exercise: str
    name: str
    work: Any


VARIANTS: list[Variant] = []


def honest(lesson: str, exercise: str) -> Callable[[Any], Any]:
    def register(work: Any) -> Any:
        VARIANTS.append(Variant(lesson, exercise, work.__name__, work))
        return work

    return register


def by_hand(scores, dim=-1, eps=0.0):
    e = (scores - scores.amax(dim=dim, keepdim=True)).exp()
    return e / (e.sum(dim=dim, keepdim=True) + eps)


def in_float32(scores, dim=-1):
    return scores.softmax(dim=dim, dtype=torch.float32).to(scores.dtype)


# Lesson 0

ZERO = "00_warm_up"


@honest(ZERO, "pairwise_dots")
def dots_by_an_equation(a, b):
    return torch.einsum("...md,...nd->...mn", a, b)


@honest(ZERO, "pairwise_dots")
def dots_by_broadcasting(a, b):
    return (a.unsqueeze(-2) * b.unsqueeze(-3)).sum(-1)


@honest(ZERO, "pairwise_dots")
def dots_row_by_row(a, b):
    dots = torch.zeros(*a.shape[:-1], b.shape[-2], dtype=a.dtype)
    for i in range(a.shape[-2]):
        for j in range(b.shape[-2]):
            dots[..., i, j] = (a[..., i, :] * b[..., j, :]).sum(dim=-1)
    return dots


@honest(ZERO, "pairwise_dots")
def dots_transposed_twice(a, b):
    return torch.matmul(b, a.transpose(-1, -2)).transpose(-1, -2)


@honest(ZERO, "pairwise_dots")
def dots_of_flattened_batches(a, b):
    dots = torch.bmm(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:]).swapaxes(1, 2))
    return dots.reshape(*a.shape[:-1], b.size(-2))


@honest(ZERO, "pairwise_dots")
def dots_as_linear(a, b):
    if a.dim() == 2:
        return F.linear(a, b)
    return torch.stack([dots_as_linear(x, y) for x, y in zip(a, b, strict=True)])


@honest(ZERO, "pairwise_dots")
def dots_column_by_column(a, b):
    return torch.stack([(a @ b[..., j, :, None])[..., 0] for j in range(b.size(-2))], dim=-1)


@honest(ZERO, "normalize_rows")
def rows_by_unsqueeze(x):
    return x / x.sum(-1).unsqueeze(-1)


@honest(ZERO, "normalize_rows")
def rows_by_f_normalize(x):
    return F.normalize(x, p=1, dim=-1)


@honest(ZERO, "normalize_rows")
def rows_by_softmax_of_logs(x):
    return x.log().softmax(dim=-1)


@honest(ZERO, "normalize_rows")
def rows_in_a_loop(x):
    if x.dim() == 1:
        return x / sum(x)
    return torch.stack([rows_in_a_loop(part) for part in x])


@honest(ZERO, "normalize_rows")
def rows_with_an_epsilon(x):
    return x.div(torch.einsum("...s->...", x)[..., None] + 1e-9)


@honest(ZERO, "normalize_rows")
def rows_of_a_copy(x):
    made = x.clone()
    made /= made.sum(dim=-1, keepdim=True)
    return made


@honest(ZERO, "normalize_rows")
def rows_transposed(x):
    columns = x.transpose(-2, -1)
    return (columns / columns.sum(dim=-2, keepdim=True)).transpose(-2, -1)


@honest(ZERO, "normalize_rows")
def rows_times_the_inverse(x):
    return x * (x @ torch.ones_like(x[..., :1, :]).mT).reciprocal()


@honest(ZERO, "normalize_rows")
def rows_in_float32(x):
    return torch.exp(x.float().log() - x.float().sum(dim=-1, keepdim=True).log()).to(x.dtype)


FOUR_TENSORS = {"a": torch.zeros(2, 3, 4), "b": torch.zeros(4, 5), "c": torch.zeros(3, 1), "d": torch.zeros(5)}
EXPRESSIONS = ("a @ b", "a.mT", "c + d", "a.sum(dim=-1)", "a.mean(dim=1, keepdim=True)", "a.flatten(1)")


@honest(ZERO, "shapes")
def shapes_by_running_them():
    return {expression: eval(expression, dict(FOUR_TENSORS)).shape for expression in EXPRESSIONS}


@honest(ZERO, "shapes")
def shapes_in_another_order():
    found = shapes_by_running_them()
    return {expression: tuple(found[expression]) for expression in sorted(EXPRESSIONS)}


@honest(ZERO, "shapes")
def shapes_as_lists():
    return {expression: list(shape) for expression, shape in shapes_by_running_them().items()}


@honest(ZERO, "shapes")
def shapes_by_zip():
    return dict(zip(EXPRESSIONS, [(2, 3, 5), (2, 4, 3), (3, 5), (2, 3), (2, 1, 4), (2, 3 * 4)], strict=True))


@honest(ZERO, "shapes")
def shapes_from_sizes():
    x, y, z = 2, 3, 4
    return {
        "a.mT": (x, z, y),
        "a.flatten(1)": (x, y * z),
        "a @ b": (x, y, 5),
        "c + d": (max(3, 1), max(1, 5)),
        "a.sum(dim=-1)": (x, y),
        "a.mean(dim=1, keepdim=True)": (x, 1, z),
    }


@honest(ZERO, "shapes")
def shapes_with_a_key_more():
    return {**shapes_by_running_them(), "b": (4, 5)}


# Lesson 1

ONE = "01_why_attention"


@honest(ONE, "soft_lookup")
def lookup_in_a_loop(query, keys, values, temperature=1.0):
    shares = torch.stack([k @ query / temperature for k in keys]).softmax(dim=0)
    return sum(share * value for share, value in zip(shares, values, strict=True))


@honest(ONE, "soft_lookup")
def lookup_with_epsilon(query, keys, values, temperature=1.0):
    return torch.einsum("n,nd->d", by_hand(keys @ query / temperature, 0, 1e-8), values)


@honest(ONE, "soft_lookup")
def lookup_in_float32(query, keys, values, temperature=1.0):
    return in_float32(keys @ query / temperature) @ values


@honest(ONE, "soft_lookup")
def lookup_scaling_the_query(query, keys, values, temperature=1.0):
    return (F.softmax((query / temperature) @ keys.T, dim=0)[:, None] * values).sum(0)


@honest(ONE, "additive_scores")
def scores_by_einsum(query, keys, w_q, w_k, v):
    q, k = torch.einsum("bld,hd->blh", query, w_q), torch.einsum("bsd,hd->bsh", keys, w_k)
    return torch.einsum("blsh,h->bls", torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)), v)


@honest(ONE, "additive_scores")
def scores_in_loops(query, keys, w_q, w_k, v):
    rows = [
        [torch.stack([torch.tanh(w_q @ q + w_k @ k) @ v for k in ks]) for q in qs]
        for qs, ks in zip(query, keys, strict=True)
    ]
    return torch.stack([torch.stack(table) for table in rows])


@honest(ONE, "additive_scores")
def scores_by_linear(query, keys, w_q, w_k, v):
    q, k = F.linear(query, w_q)[:, :, None], F.linear(keys, w_k)[:, None]
    return F.linear((q + k).tanh(), v[None]).squeeze(-1)


@honest(ONE, "additive_scores")
def tanh_by_sigmoid(query, keys, w_q, w_k, v):
    s = (query @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, None]
    return ((2 * torch.sigmoid(2 * s) - 1) * v).sum(dim=-1)


def additive(query, keys, w_q, w_k, v):
    return torch.tanh((query @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, None]) @ v


@honest(ONE, "additive_attention")
def contexts_in_float32(query, keys, values, w_q, w_k, v):
    weights = in_float32(additive(query, keys, w_q, w_k, v))
    return torch.bmm(weights, values), weights


@honest(ONE, "additive_attention")
def contexts_by_hand(query, keys, values, w_q, w_k, v):
    e = additive(query, keys, w_q, w_k, v).exp()
    weights = e / (e.sum(dim=2, keepdim=True) + 1e-12)
    return [torch.einsum("bls,bsd->bld", weights, values), weights]


@honest(ONE, "additive_attention")
def contexts_summed(query, keys, values, w_q, w_k, v):
    weights = additive(query, keys, w_q, w_k, v).log_softmax(dim=-1).exp()
    return (weights[..., None] * values[:, None]).sum(dim=2), weights


# Lesson 2

TWO = "02_queries_keys_values"


@honest(TWO, "project_qkv")
def projected_by_einsum(x, w_q, w_k, w_v):
    return tuple(torch.einsum("ble,ed->bld", x, w) for w in (w_q, w_k, w_v))


@honest(TWO, "project_qkv")
def projected_at_once(x, w_q, w_k, w_v):
    return (x @ torch.cat([w_q, w_k, w_v], dim=1)).split([w_q.size(1), w_k.size(1), w_v.size(1)], dim=-1)


@honest(TWO, "project_qkv")
def projected_in_a_loop(x, w_q, w_k, w_v):
    return [torch.stack([sentence @ w for sentence in x]) for w in (w_q, w_k, w_v)]


@honest(TWO, "attention_scores")
def dots_by_einsum(query, key):
    return torch.einsum("...ld,...sd->...ls", query, key)


@honest(TWO, "attention_scores")
def dots_in_float32(query, key):
    return (query.float() @ key.float().mT).to(query.dtype)


@honest(TWO, "attention_scores")
def dots_summed(query, key):
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)


@honest(TWO, "attend")
def attend_in_float32(query, key, value):
    weights = F.softmax(torch.matmul(query, key.transpose(-2, -1)), dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(weights, value), weights


@honest(TWO, "attend")
def attend_with_epsilon(query, key, value):
    weights = by_hand(query @ key.mT, eps=1e-8)
    return weights @ value, weights


@honest(TWO, "attend")
def attend_by_einsum(query, key, value):
    weights = torch.einsum("...ld,...sd->...ls", query, key).softmax(-1)
    return torch.einsum("...ls,...sd->...ld", weights, value), weights


@honest(TWO, "copy_previous_qk")
def one_position_each(length):
    query, key = torch.zeros(length, length), torch.zeros(length, length)
    for i in range(length):
        key[i, i] = 40.0
        query[i, max(i - 1, 0)] = 40.0
    return query, key


@honest(TWO, "copy_previous_qk")
def one_hot_in_float64(length):
    key = F.one_hot(torch.arange(length), length).double()
    query = torch.cat([key[:1], key[:-1]])
    return 100 * query, key


# Lesson 3

THREE = "03_scaling"


@honest(THREE, "scale_scores")
def root_in_float32(scores, d_k):
    return scores / torch.sqrt(torch.tensor(d_k, dtype=torch.float32)).to(scores.dtype)


@honest(THREE, "scale_scores")
def root_as_a_power(scores, d_k):
    return scores * d_k**-0.5


@honest(THREE, "score_std")
def drawn_alternately(d_k, n, generator):
    raw = torch.stack([torch.randn(2, d_k, generator=generator).prod(dim=0).sum() for _ in range(n)])
    return float(raw.std()), float((raw / math.sqrt(d_k)).std())


@honest(THREE, "score_std")
def drawn_at_once(d_k, n, generator):
    q, k = torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)
    raw = torch.einsum("nd,nd->n", q, k)
    return raw.std(correction=0).item(), raw.std(correction=0).item() / d_k**0.5


@honest(THREE, "softmax_jacobian")
def jacobian_by_the_delta(weights):
    eye = torch.eye(weights.size(-1), dtype=weights.dtype)
    return weights[..., :, None] * (eye - weights[..., None, :])


@honest(THREE, "softmax_jacobian")
def jacobian_by_einsum(weights):
    return torch.diag_embed(weights) - torch.einsum("...i,...j->...ij", weights, weights)


@honest(THREE, "scaled_attend")
def keys_scaled(query, key, value, scale=None):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    weights = in_float32(query @ (factor * key).mT)
    return weights @ value, weights


@honest(THREE, "scaled_attend")
def scaled_by_hand(query, key, value, scale=None):
    factor = 1 / torch.tensor(float(query.shape[-1])).sqrt() if scale is None else scale
    weights = by_hand(torch.einsum("...ld,...sd->...ls", query, key) * factor, eps=1e-6)
    return weights @ value, weights


# Lesson 4

FOUR = "04_softmax"


@honest(FOUR, "stable_softmax")
def softmax_in_float32(x, dim=-1):
    e = (x - x.max(dim=dim, keepdim=True).values).float().exp()
    return (e / e.sum(dim=dim, keepdim=True)).to(x.dtype)


@honest(FOUR, "stable_softmax")
def softmax_with_a_detached_shift(x, dim=-1):
    e = torch.exp(x - x.detach().amax(dim, keepdim=True))
    return e / (e.sum(dim, keepdim=True) + 1e-12)


@honest(FOUR, "stable_softmax")
def softmax_moved_to_the_end(x, dim=-1):
    moved = x.movedim(dim, -1)
    e = (moved - moved.amax(-1, keepdim=True)).exp()
    return (e / e.sum(-1, keepdim=True)).movedim(-1, dim)


@honest(FOUR, "temperature_softmax")
def hot_by_hand(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError("a temperature is above 0")
    return by_hand((x - x.amax(dim, keepdim=True)) / temperature, dim)


@honest(FOUR, "temperature_softmax")
def hot_in_float32(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(temperature)
    shifted = x.float() - x.float().amax(dim=dim, keepdim=True)
    return in_float32(shifted / temperature, dim).to(x.dtype)


@honest(FOUR, "temperature_softmax")
def hot_in_float64(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(temperature)
    return (x.double() / temperature).softmax(dim).to(x.dtype)


@honest(FOUR, "attention_entropy")
def entropy_by_xlogy_of_safe_weights(weights):
    safe = weights.masked_fill(weights == 0, 1.0)
    return -(safe * safe.log()).sum(-1)


@honest(FOUR, "attention_entropy")
def entropy_with_a_clamp(weights):
    return -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1)


@honest(FOUR, "attention_entropy")
def entropy_with_a_tiny_epsilon(weights):
    return (
        -torch.einsum("...n,...n->...", weights, (weights + 1e-12).log())
        if weights.dtype == torch.float64
        else (-(weights * weights.clamp(min=1e-30).log()).sum(dim=-1))
    )


@honest(FOUR, "streaming_attend")
def streamed_one_by_one(scores, values, chunk):
    largest, total, mixed = -math.inf, 0.0, torch.zeros_like(values[0])
    for start in range(0, len(scores), chunk):
        for s, v in zip(scores[start : start + chunk].tolist(), values[start : start + chunk], strict=True):
            new = max(largest, s)
            shrink = math.exp(largest - new)
            total, mixed = total * shrink + math.exp(s - new), mixed * shrink + math.exp(s - new) * v
            largest = new
    return mixed / total


@honest(FOUR, "streaming_attend")
def streamed_by_slices(scores, values, chunk):
    m, l, o = torch.full((), -math.inf, dtype=scores.dtype), 0, 0  # noqa: E741
    for i in range(0, scores.size(0), chunk):
        s = scores[i : i + chunk]
        new = torch.max(m, s.max())
        p = torch.exp(s - new)
        l = l * torch.exp(m - new) + p.sum()  # noqa: E741
        o = o * torch.exp(m - new) + (p[:, None] * values[i : i + chunk]).sum(dim=0)
        m = new
    return o / (l + 1e-9)


# Lesson 5

FIVE = "05_masking"


@honest(FIVE, "causal_mask")
def mask_by_comparison(q_len, k_len=None, *, device=None):
    k_len = q_len if k_len is None else k_len
    last = torch.arange(k_len - q_len, k_len, device=device)
    return torch.arange(k_len, device=device) <= last[:, None]


@honest(FIVE, "causal_mask")
def mask_moved_there(q_len, k_len=None, *, device=None):
    k_len = k_len or q_len
    mask = torch.zeros(q_len, k_len, dtype=torch.bool)
    for i in range(q_len):
        mask[i, : k_len - q_len + i + 1] = True
    return mask if device is None else mask.to(device)


@honest(FIVE, "causal_mask")
def mask_inverted_twice(q_len, k_len=None, *, device=None):
    k_len = k_len or q_len
    return ~torch.triu(torch.ones(q_len, k_len, device=device), diagonal=k_len - q_len + 1).bool()


@honest(FIVE, "padding_mask")
def padding_in_a_loop(lengths, max_len):
    mask = torch.zeros(len(lengths), 1, 1, max_len, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths):
        mask[b, ..., :length] = True
    return mask


@honest(FIVE, "padding_mask")
def padding_moved_there(lengths, max_len):
    positions = torch.arange(max_len).to(lengths.device)
    return positions.expand(len(lengths), 1, 1, max_len) < lengths.view(-1, 1, 1, 1)


@honest(FIVE, "combine_masks")
def combined_by_reduce(*masks):
    found = [mask for mask in masks if mask is not None]
    return torch.stack(torch.broadcast_tensors(*found)).all(dim=0) if found else None


@honest(FIVE, "combine_masks")
def combined_by_logical_and(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask.clone() if result is None else torch.logical_and(result, mask)
    return result


@honest(FIVE, "masked_softmax")
def masked_by_where(scores, mask=None):
    if mask is None:
        return in_float32(scores)
    empty = ~mask.any(dim=-1, keepdim=True)
    hidden = torch.where(mask | empty, scores, -torch.inf)
    return torch.where(mask, hidden.softmax(dim=-1), 0.0)


@honest(FIVE, "masked_softmax")
def masked_by_hand(scores, mask=None):
    if mask is None:
        return by_hand(scores)
    largest = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(dim=-1, keepdim=True)
    e = (scores - largest).masked_fill(~mask, -torch.inf).exp()
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))


def weights_of(scores, mask):
    return scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -1e30).softmax(-1) * mask


@honest(FIVE, "scaled_dot_product_attention")
def attention_with_a_large_number(query, key, value, mask=None, *, scale=None):
    scores = query.double() @ key.double().mT * (query.size(-1) ** -0.5 if scale is None else scale)
    weights = weights_of(scores, mask).to(query.dtype)
    return weights @ value, weights


@honest(FIVE, "scaled_dot_product_attention")
def attention_in_float32(query, key, value, mask=None, *, scale=None):
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.einsum("...ld,...sd->...ls", query, key).float() * factor
    weights = weights_of(scores, mask).to(query.dtype)
    return torch.einsum("...ls,...sd->...ld", weights, value), weights


@honest("05_masking", "leaks")
def by_the_jacobian(attention, length, d_model):
    x = torch.randn(1, length, d_model)
    table = torch.autograd.functional.jacobian(attention, x)[0, :, :, 0].abs().amax(dim=(1, 3))  # (L, L)
    return bool((table.triu(1) > 1e-4).any())


@honest("05_masking", "leaks")
def with_large_changes_in_numpys_way(attention, length, d_model):
    x, found = torch.rand(1, length, d_model), []
    for t in range(length):
        other = x.clone()
        other[0, t] += 5 * torch.randn(d_model)
        found.append(not torch.allclose(attention(other)[0, :t], attention(x)[0, :t], atol=1e-4))
    return any(found)


# Lesson 6

SIX = "06_multi_head_attention"


@honest(SIX, "split_heads")
def heads_by_chunks(x, num_heads):
    if x.size(-1) % num_heads != 0:
        raise ValueError("the heads do not divide the width")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@honest(SIX, "split_heads")
def heads_by_reshape(x, num_heads):
    b, length, e = x.shape
    if e % num_heads:
        raise ValueError("the heads do not divide the width")
    return x.reshape(b, length, num_heads, e // num_heads).permute(0, 2, 1, 3)


@honest(SIX, "MultiHeadAttention")
class HeadByHead(nn.Module):
    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("the heads do not divide the width")
        self.num_heads, self.dropout = num_heads, dropout
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model, bias) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        key = query if key is None else key
        value = key if value is None else value
        parts = [
            p(t).chunk(self.num_heads, dim=-1)
            for p, t in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        ]
        if mask is not None and mask.ndim == 3:
            mask = mask.unsqueeze(1)
        scores = torch.stack([q @ k.mT for q, k, _ in zip(*parts, strict=True)], dim=1)
        weights = weights_of(scores * (query.size(-1) // self.num_heads) ** -0.5, mask)
        kept = F.dropout(weights, self.dropout, training=self.training)
        heads = [kept[:, h] @ v for h, v in enumerate(parts[2])]
        return self.out_proj(torch.cat(heads, dim=-1)), weights if need_weights else None


@honest(SIX, "copy_torch_weights")
def copied_through_data(mine, reference):
    e = reference.out_proj.weight.size(0)
    for i, layer in enumerate((mine.q_proj, mine.k_proj, mine.v_proj)):
        layer.weight.data[:] = reference.in_proj_weight.data[i * e : (i + 1) * e]
        if layer.bias is not None:
            layer.bias.data[:] = reference.in_proj_bias.data[i * e : (i + 1) * e]
    mine.out_proj.load_state_dict(reference.out_proj.state_dict())


@honest(SIX, "copy_torch_weights")
def copied_by_a_state_dict(mine, reference):
    names, state = ("q_proj", "k_proj", "v_proj"), {}
    for kind in ("weight", "bias"):
        stacked = getattr(reference, f"in_proj_{kind}")
        if stacked is not None:
            state |= {f"{n}.{kind}": part for n, part in zip(names, stacked.chunk(3), strict=True)}
            state[f"out_proj.{kind}"] = getattr(reference.out_proj, kind)
    mine.load_state_dict(state)


# Lesson 7

SEVEN = "07_position"


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_entry_by_entry(length, d_model, base=10_000.0):
    rows = []
    for p in range(length):
        turns = [p / base ** (j // 2 * 2 / d_model) for j in range(d_model)]
        rows.append([math.cos(t) if j % 2 else math.sin(t) for j, t in enumerate(turns)])
    return torch.tensor(rows)


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_by_exponentials(length, d_model, base=10_000.0):
    table, position = torch.zeros(length, d_model), torch.arange(length).unsqueeze(1)
    speed = torch.exp(torch.arange(0, d_model, 2) * -(math.log(base) / d_model))
    table[:, 0::2] = torch.sin(position * speed)
    table[:, 1::2] = torch.cos(position * speed[: d_model // 2])
    return table


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_stacked_and_cut(length, d_model, base=10_000.0):
    speed = 1.0 / torch.pow(base, torch.arange(0, d_model, 2).float() / d_model)
    turns = torch.outer(torch.arange(length).float(), speed)
    return torch.stack((turns.sin(), turns.cos()), dim=-1).flatten(1)[:, :d_model]


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_in_float64(length, d_model, base=10_000.0):
    column = torch.arange(d_model, dtype=torch.float64)
    turns = torch.arange(length)[:, None] * float(base) ** -((column - column % 2) / d_model)
    return torch.where(column % 2 == 0, turns.sin(), turns.cos()).float()


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_as_shifted_sines(length, d_model, base=10_000.0):
    column = torch.arange(d_model)
    turns = torch.einsum("p,j->pj", torch.arange(length).float(), base ** (-2 * (column // 2) / d_model))
    return torch.sin(turns + column % 2 * torch.pi / 2)


@honest(SEVEN, "sinusoidal_positions")
def sinusoids_by_complex_numbers(length, d_model, base=10_000.0):
    turns = torch.arange(length)[:, None] / base ** (torch.arange(0, d_model, 2) / d_model)
    pairs = torch.view_as_real(torch.polar(torch.ones_like(turns), turns)).flip(-1)
    return pairs.reshape(length, -1)[:, :d_model]


def speeds(x, base, dtype):
    return 1.0 / base ** (torch.arange(0, x.size(-1), 2, device=x.device).to(dtype) / x.size(-1))


@honest(SEVEN, "apply_rope")
def rope_by_complex_numbers(x, positions=None, base=10_000.0):
    positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
    turns = positions[..., None] * speeds(x, base, torch.float32)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(turns), turns)).flatten(-2).type_as(x)


@honest(SEVEN, "apply_rope")
def rope_by_a_quarter_turn(x, positions=None, base=10_000.0):
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    turns = (positions.unsqueeze(-1) * speeds(x, base, torch.float32)).repeat_interleave(2, dim=-1)
    quarter = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * turns.cos() + quarter * turns.sin()).to(x.dtype)


@honest(SEVEN, "apply_rope")
def rope_by_rotation_matrices(x, positions=None, base=10_000.0):
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    turns = positions[..., None] * speeds(x, base, torch.float64)
    cos, sin = turns.cos(), turns.sin()
    matrices = torch.stack([torch.stack([cos, -sin], dim=-1), torch.stack([sin, cos], dim=-1)], dim=-2)
    pairs = x.unflatten(-1, (-1, 2)).to(matrices.dtype)
    return torch.einsum("...ij,...j->...i", matrices, pairs).flatten(-2).to(x.dtype)


@honest(SEVEN, "apply_rope")
def rope_by_one_large_matrix_per_position(x, positions=None, base=10_000.0):
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    turns = positions[..., None].expand(*positions.shape, x.size(-1) // 2) * speeds(x, base, torch.float32)
    matrix = torch.zeros(*positions.shape, x.size(-1), x.size(-1), device=x.device)
    even, odd = torch.arange(0, x.size(-1), 2), torch.arange(1, x.size(-1), 2)
    matrix[..., even, even], matrix[..., odd, odd] = turns.cos(), turns.cos()
    matrix[..., even, odd], matrix[..., odd, even] = -turns.sin(), turns.sin()
    return (matrix @ x.float()[..., None])[..., 0].to(x.dtype)


@honest(SEVEN, "apply_rope")
def rope_in_loops(x, positions=None, base=10_000.0):
    length, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(length)
    positions = positions.expand(*x.shape[:-2], length).reshape(-1, length)
    flat, out = x.reshape(-1, length, width), torch.empty_like(x).reshape(-1, length, width)
    for b in range(flat.size(0)):
        for p in range(length):
            for i in range(width // 2):
                turn = float(positions[b, p]) / base ** (2 * i / width)
                one, two = flat[b, p, 2 * i].clone(), flat[b, p, 2 * i + 1].clone()
                out[b, p, 2 * i] = one * math.cos(turn) - two * math.sin(turn)
                out[b, p, 2 * i + 1] = one * math.sin(turn) + two * math.cos(turn)
    return out.reshape(x.shape)


@honest(SEVEN, "apply_rope")
def rope_written_into_a_new_tensor(x, positions=None, base=10_000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2]).to(x.device)
    i = torch.arange(x.shape[-1] // 2, device=x.device)
    theta = torch.exp(-2 * i * math.log(base) / x.shape[-1])
    cos, sin = torch.cos(positions[..., None] * theta).to(x.dtype), torch.sin(positions[..., None] * theta).to(x.dtype)
    out = torch.zeros_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out


@honest(SEVEN, "apply_rope")
def rope_with_padded_leading_axes(x, positions=None, base=10_000.0):
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device).expand(x.shape[:-1])
    turns = torch.einsum("...l,i->...li", positions.float(), speeds(x, base, torch.float32))
    turns = turns.expand(*x.shape[:-1], -1)
    one, two = x.unflatten(-1, (-1, 2)).unbind(-1)
    return (
        torch.cat(
            [(one * turns.cos() - two * turns.sin())[..., None], (two * turns.cos() + one * turns.sin())[..., None]], -1
        )
        .reshape(x.shape)
        .to(x.dtype)
    )


@honest(SEVEN, "alibi_bias")
def bias_entry_by_entry(num_heads, q_len, k_len):
    return torch.tensor(
        [
            [[-(2 ** (-8 * h / num_heads)) * abs(k_len - q_len + i - j) for j in range(k_len)] for i in range(q_len)]
            for h in range(1, num_heads + 1)
        ]
    )


@honest(SEVEN, "alibi_bias")
def bias_by_einsum(num_heads, q_len, k_len):
    slopes = torch.pow(2, -8 / num_heads * torch.arange(1, num_heads + 1))
    rows = torch.arange(q_len).unsqueeze(1) + k_len - q_len
    return -torch.einsum("h,qk->hqk", slopes, (torch.arange(k_len) - rows).abs().float())


@honest(SEVEN, "alibi_bias")
def bias_by_a_geometric_sequence(num_heads, q_len, k_len):
    start = 2 ** (-8 / num_heads)
    slopes = [start * start**i for i in range(num_heads)]
    full = torch.abs(torch.arange(k_len)[None, :] - torch.arange(k_len)[:, None])
    return torch.stack([-slope * full[-q_len:] for slope in slopes])


@honest(SEVEN, "alibi_bias")
def bias_by_exp2_in_float64(num_heads, q_len, k_len):
    slopes = torch.exp2(-torch.arange(1, num_heads + 1, dtype=torch.float64) * 8 / num_heads)
    gap = torch.arange(q_len).view(-1, 1) - torch.arange(k_len) + (k_len - q_len)
    return (slopes.view(-1, 1, 1) * -torch.max(gap, -gap)).float()


@honest(SEVEN, "alibi_bias")
def bias_written_head_by_head(num_heads, q_len, k_len):
    bias = torch.zeros(num_heads, q_len, k_len)
    for h in range(num_heads):
        for i in range(q_len):
            bias[h, i] = -(0.5 ** (8 * (h + 1) / num_heads)) * (i + k_len - q_len - torch.arange(k_len)).abs()
    return bias


@honest(SEVEN, "alibi_bias")
def bias_by_exponentials(num_heads, q_len, k_len):
    slopes = torch.exp(-8 * math.log(2) * torch.linspace(1 / num_heads, 1, num_heads))
    both = torch.arange(k_len - q_len, k_len)[:, None] - torch.arange(k_len)
    return slopes[:, None, None] * torch.minimum(both, -both)


# Lesson 8

EIGHT = "08_transformer_block"
Attention = runpy.run_path(str(Path(__file__).parents[1] / f"solutions/{EIGHT}/attention.py"))["MultiHeadAttention"]


@honest(EIGHT, "TransformerBlock")
class BlockOfModules(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2, nn.Dropout(dropout))
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout=dropout)
        self.drop = nn.Dropout(dropout) if dropout else nn.Identity()

    def forward(self, x, mask=None):
        a, _ = self.attention(self.norm1(x), mask=mask, need_weights=True)
        x = self.drop(a) + x
        return self.feed_forward(self.norm2(x)) + x


@honest(EIGHT, "TransformerBlock")
class BlockWithParts(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.linear1, self.linear2 = self.network[0], self.network[2]
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        self.norm1, self.norm2 = self.norms
        self.attention = Attention(d_model, num_heads, dropout=dropout)
        self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        residual = x
        x = self.norm1(x)
        x = residual + self.dropout1(self.attention(x, x, x, mask)[0])
        residual = x
        return residual + self.dropout2(self.network(self.norm2(x)))


@honest(EIGHT, "TransformerBlock")
class BlockOfFunctions(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.p, self.width = dropout, d_model
        self.attention = Attention(d_model, num_heads, dropout=dropout, bias=False)
        for name, sizes in (("linear1", (d_model, d_ff)), ("linear2", (d_ff, d_model))):
            self.add_module(name, nn.Linear(*sizes))
        for name in ("norm1", "norm2"):
            setattr(self, name, nn.LayerNorm([d_model], eps=1e-6))

    def forward(self, x, mask=None):
        def dropped(branch):
            return F.dropout(branch, p=self.p, training=self.training)

        n = F.layer_norm(x, (self.width,), self.norm1.weight, self.norm1.bias)
        total = torch.add(x, dropped(self.attention(query=n, mask=mask)[0]))
        hidden = torch.clamp(F.linear(self.norm2(total), self.linear1.weight, self.linear1.bias), min=0)
        return total + dropped(torch.einsum("blf,ef->ble", hidden, self.linear2.weight) + self.linear2.bias)


@honest(EIGHT, "TransformerBlock")
class BlockNormedByHand(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear2, self.linear1 = nn.Linear(d_ff, d_model, bias=True), nn.Linear(d_model, d_ff)
        self.attention, self.dropout = Attention(d_model, num_heads, dropout=dropout), dropout
        self.activation = nn.ReLU(inplace=True)

    def _normed(self, norm, x):
        centered = x - x.mean(dim=-1, keepdim=True)
        return norm.weight * centered / (centered.square().mean(dim=-1, keepdim=True) + norm.eps).sqrt() + norm.bias

    def _add(self, x, branch):
        return x + (F.dropout(branch, self.dropout) if self.training else branch)

    def forward(self, x, mask=None):
        n = self._normed(self.norm1, x)
        x = self._add(x, self.attention(n, key=n, value=n, mask=mask)[0])
        return self._add(x, self.linear2(self.activation(self.linear1(self._normed(self.norm2, x)))))


@honest(EIGHT, "TransformerBlock")
class BlockWithDoubledParts(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        parts = {
            "norm1": nn.LayerNorm(d_model),
            "norm2": nn.LayerNorm(d_model),
            "attention": Attention(d_model, num_heads, dropout=dropout),
            "linear1": nn.Linear(d_model, d_ff),
            "linear2": nn.Linear(d_ff, d_model),
            "dropout": nn.Dropout(dropout),
        }
        for name, part in parts.items():
            self.add_module(name, part)
        self.register_buffer("scale", torch.tensor(1.0), persistent=False)

    def forward(self, x, mask=None):
        branches = (
            lambda x: self.attention(self.norm1(x), mask=mask)[0],
            lambda x: self.linear2(torch.maximum(h := self.linear1(self.norm2(x)), torch.zeros_like(h))),
        )
        for branch in branches:
            x = x + self.scale * self.dropout(branch(x))
        return x


@honest(EIGHT, "TransformerBlock")
class BlockSentenceBySentence(BlockOfModules):
    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 2:
            mask = mask.expand(x.size(0), 1, *mask.shape)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        masks = [None] * x.size(0) if mask is None else mask.expand(x.size(0), *mask.shape[1:]).split(1)
        return torch.cat(
            [super(BlockSentenceBySentence, self).forward(a[None], m) for a, m in zip(x, masks, strict=True)]
        )


@honest(EIGHT, "DecoderBlock")
class DecoderOfModules(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.self_attention = Attention(d_model, num_heads, dropout=dropout)
        self.cross_attention = Attention(d_model, num_heads, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", nn.LayerNorm(d_model))
            setattr(self, f"dropout{i}", nn.Dropout(dropout))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm1(x)
        x = x + self.dropout1(self.self_attention(n, n, n, self_mask)[0])
        x = x + self.dropout2(self.cross_attention(self.norm2(x), memory, memory, memory_mask)[0])
        return x + self.dropout3(self.feed_forward(self.norm3(x)))


@honest(EIGHT, "DecoderBlock")
class DecoderFromTheBlock(BlockOfFunctions):
    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        del self.attention
        self.self_attention = Attention(d_model, num_heads, dropout=dropout)
        self.cross_attention = Attention(d_model, num_heads, dropout=dropout)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        def dropped(branch):
            return F.dropout(branch, self.p, self.training)

        x = x + dropped(self.self_attention(self.norm1(x), mask=self_mask)[0])
        output, _ = self.cross_attention(self.norm2(x), key=memory, mask=memory_mask, need_weights=True)
        x = x + dropped(output)
        return x + dropped(self.linear2(F.relu(self.linear1(self.norm3(x)))))


@honest(EIGHT, "DecoderBlock")
class DecoderInALoop(DecoderOfModules):
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        branches = (
            (self.norm1, lambda n: self.self_attention(n, mask=self_mask)[0]),
            (self.norm2, lambda n: self.cross_attention(n, memory, mask=memory_mask)[0]),
            (self.norm3, self.feed_forward),
        )
        for norm, branch in branches:
            added = branch(norm(x))
            x = x.clone()
            x += F.dropout(added, self.dropout1.p, training=self.training)
        return x


@honest(EIGHT, "DecoderBlock")
class DecoderPositionByPosition(DecoderOfModules):
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        def step(x):
            return self.dropout2(self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0])

        x = x + self.dropout1(self.self_attention(self.norm1(x), mask=self_mask)[0])
        x = x + step(x)
        return torch.stack([t + self.dropout3(self.feed_forward(self.norm3(t))) for t in x.unbind(dim=1)], dim=1)


@honest(EIGHT, "DecoderBlock")
class DecoderWithResiduals(DecoderOfModules):
    def forward(self, x, memory, self_mask=None, memory_mask=None):
        residual = x
        x, _ = self.self_attention(query=self.norm1(x), mask=self_mask)
        x = residual + self.dropout1(x)
        residual = x
        x, _ = self.cross_attention(query=self.norm2(x), key=memory, value=memory, mask=memory_mask)
        x = self.dropout1(x) + residual
        residual = x
        x = self.linear2(self.linear1(self.norm3(x)).clamp_min(0))
        return self.dropout1(x).add(residual)


@honest(EIGHT, "DecoderBlock")
class DecoderOfBlockMethods(DecoderOfModules):
    def _attended(self, attention, norm, x, keys, mask):
        return x + self.dropout1(attention(norm(x), norm(x) if keys is None else keys, mask=mask)[0])

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self._attended(self.self_attention, self.norm1, x, None, self_mask)
        x = self._attended(self.cross_attention, self.norm2, x, memory, memory_mask)
        return x + self.dropout1(self.feed_forward(self.norm3(x)))


@honest(EIGHT, "greedy_decode")
def decoded_into_a_buffer(step, start, length, batch):
    tokens = torch.empty(batch, length + 1, dtype=torch.long)
    tokens[:, 0] = start
    for t in range(length):
        tokens[:, t + 1] = step(tokens[:, : t + 1])[:, t].max(dim=-1).indices
    return tokens[:, 1:]


@honest(EIGHT, "greedy_decode")
def decoded_by_probabilities(step, start, length, batch):
    tokens = torch.ones(batch, 1, dtype=torch.long) * start
    with torch.no_grad():
        while tokens.size(1) <= length:
            shares = F.softmax(step(tokens)[:, -1, :], dim=-1)
            tokens = torch.hstack([tokens, shares.topk(1, dim=-1).indices])
    return tokens[:, -length:]


@honest(EIGHT, "greedy_decode")
def decoded_into_a_list(step, start, length, batch):
    columns = [torch.tensor([start] * batch)]
    for _ in range(length):
        columns.append(step(torch.stack(columns, dim=1)).log_softmax(dim=-1)[:, -1].argmax(dim=-1))
    return torch.stack(columns[1:], dim=1)


@honest(EIGHT, "greedy_decode")
def decoded_in_python_numbers(step, start, length, batch):
    rows = [[start] for _ in range(batch)]
    for _ in range(length):
        for row, logits in zip(rows, step(torch.tensor(rows)), strict=True):
            row.append(int(logits[-1].argmax()))
    return torch.tensor([row[1:] for row in rows])


@honest(EIGHT, "greedy_decode")
def decoded_in_int32(step, start, length, batch):
    tokens = torch.full((batch, 1), start, dtype=torch.int32)
    for _ in range(length):
        best = step(tokens)[:, -1].sort(dim=-1, descending=True).indices[:, :1]
        tokens = torch.cat([tokens, best.to(torch.int32)], dim=1)
    return tokens[:, 1:]


@honest(EIGHT, "greedy_decode")
def decoded_recursively(step, start, length, batch):
    def more(tokens):
        if tokens.shape[1] == length + 1:
            return tokens[:, 1:]
        return more(torch.cat((tokens, step(tokens).argmax(-1)[:, -1:]), -1))

    return more(torch.full(size=(batch, 1), fill_value=start))


@honest(EIGHT, "greedy_decode")
def decoded_anew_at_every_position(step, start, length, batch):
    first = torch.full((batch, 1), start)
    tokens = first
    for _ in range(length):
        tokens = torch.cat([first, step(tokens).argmax(dim=-1)], dim=1)
    return tokens[:, 1:]


@honest(EIGHT, "greedy_decode")
def decoded_in_a_padded_buffer(step, start, length, batch):
    tokens = torch.zeros(batch, length + 1).long()
    tokens[:, 0] = start
    for t in range(length):
        tokens[:, t + 1] = step(tokens)[:, t].argmax(dim=-1)
    return tokens[:, 1:]


# Lesson 9

NINE = "09_train_and_look_inside"


@honest(NINE, "make_repeating_batch")
def batch_row_by_row(batch, length, vocab, *, generator, min_period=6):
    tokens, periods = torch.zeros(batch, length, dtype=torch.long), torch.zeros(batch, dtype=torch.long)
    for b in range(batch):
        p = int(torch.randint(min_period, length // 2 + 1, (1,), generator=generator))
        start = torch.randperm(vocab, generator=generator)[:p]
        tokens[b], periods[b] = start.repeat(length // p + 1)[:length], p
    return tokens, periods


@honest(NINE, "make_repeating_batch")
def batch_in_python_lists(batch, length, vocab, *, generator, min_period=6):
    rows, periods = [], []
    for _ in range(batch):
        row = torch.randperm(vocab, generator=generator).tolist()
        p = min_period + torch.randint(length // 2 - min_period + 1, (), generator=generator).item()
        rows.append([row[i % p] for i in range(length)])
        periods.append(p)
    return torch.tensor(rows), torch.tensor(periods)


@honest(NINE, "make_repeating_batch")
def batch_copied_from_a_period_before(batch, length, vocab, *, generator, min_period=6):
    order = torch.multinomial(torch.ones(batch, vocab), length // 2, generator=generator)
    span = length // 2 - min_period + 1
    periods = (torch.rand(batch, generator=generator) * span).floor().long() + min_period
    tokens = torch.cat([order, order.new_zeros(batch, length - length // 2)], dim=1)
    for b, p in enumerate(periods):
        for i in range(int(p), length):
            tokens[b, i] = tokens[b, i - p]
    return [tokens, periods]


@honest(NINE, "make_repeating_batch")
def batch_of_small_integers(batch, length, vocab, *, generator, min_period=6):
    periods = torch.randint(min_period, length // 2 + 1, (batch,), generator=generator, dtype=torch.int32)
    order = torch.randn(batch, vocab, generator=generator).topk(length // 2, dim=1).indices
    places = torch.arange(length).expand(batch, -1) % periods.unsqueeze(1)
    return order[torch.arange(batch)[:, None], places].int(), periods


@honest(NINE, "make_repeating_batch")
def batch_from_one_seed_per_row(batch, length, vocab, *, generator, min_period=6):
    seeds = torch.randint(2**31, (batch,), generator=generator).tolist()
    rows = []
    for seed in seeds:
        own = torch.Generator().manual_seed(seed)
        p = int(torch.randint(min_period, length // 2 + 1, (1,), generator=own))
        rows.append((torch.randperm(vocab, generator=own)[torch.arange(length) % p], p))
    return torch.stack([row for row, _ in rows]), torch.tensor([p for _, p in rows])


@honest(NINE, "make_repeating_batch")
def batch_by_swapping(batch, length, vocab, *, generator, min_period=6):
    choices = torch.arange(min_period, length // 2 + 1)
    periods = choices[torch.randint(len(choices), (batch,), generator=generator)]
    order = torch.arange(vocab).repeat(batch, 1)
    for i in range(vocab - 1):
        j = torch.randint(i, vocab, (batch, 1), generator=generator)
        kept = order[:, i : i + 1].clone()
        order[:, i : i + 1] = order.gather(1, j)
        order.scatter_(1, j, kept)
    return torch.stack([order[b, torch.arange(length).remainder(p)] for b, p in enumerate(periods)]), periods


@honest(NINE, "previous_token_score")
def previous_in_loops(weights):
    b, h, length, _ = weights.shape
    total = torch.zeros(h, dtype=weights.dtype)
    for s in range(b):
        for i in range(1, length):
            total += weights[s, :, i, i - 1]
    return total / (b * (length - 1))


@honest(NINE, "previous_token_score")
def previous_by_indexing(weights):
    i = torch.arange(1, weights.shape[-1])
    return weights[:, :, i, i - 1].mean(-1).mean(0)


@honest(NINE, "previous_token_score")
def previous_by_einsum(weights):
    return torch.einsum("bhii->h", weights[:, :, 1:, :-1]) / (weights.shape[0] * (weights.shape[-1] - 1))


@honest(NINE, "previous_token_score")
def previous_by_a_mask(weights):
    length = weights.size(-1)
    before = torch.eye(length, dtype=torch.bool).roll(1, 0).tril(-1)
    return weights.masked_fill(~before, 0).sum((0, 2, 3)) / before.sum() / len(weights)


@honest(NINE, "previous_token_score")
def previous_in_float32(weights):
    heads = [torch.diagonal(w.float(), -1, -2, -1).mean() for w in weights.transpose(0, 1)]
    return torch.stack(heads).to(weights.dtype)


@honest(NINE, "previous_token_score")
def previous_head_by_head(weights):
    n = range(1, weights.size(2))
    scores = [float(torch.stack([weights[:, h, i, i - 1] for i in n]).mean()) for h in range(weights.size(1))]
    return torch.tensor(scores, dtype=weights.dtype)


@honest(NINE, "induction_score")
def induction_in_loops(weights, period):
    total, count = 0, 0
    for b, p in enumerate(period.tolist()):
        for i in range(p, weights.shape[-1]):
            total, count = total + weights[b, :, i, i - p + 1], count + 1
    return total / count


@honest(NINE, "induction_score")
def induction_by_diagonals(weights, period):
    found = [w.diagonal(1 - int(p), -2, -1)[:, 1:] for w, p in zip(weights, period, strict=True)]
    return torch.cat(found, dim=1).mean(dim=1)


@honest(NINE, "induction_score")
def induction_by_pairs(weights, period):
    b, i = (torch.arange(weights.size(-1)) >= period[:, None]).nonzero(as_tuple=True)
    return weights[b, :, i, i - period[b] + 1].mean(dim=0)


@honest(NINE, "induction_score")
def induction_by_a_mask(weights, period):
    n = torch.arange(weights.size(-1))
    wanted = (n == n[:, None] - period[:, None, None] + 1) & (n[:, None] >= period[:, None, None])
    return torch.einsum("bhij,bij->h", weights, wanted.to(weights.dtype)) / wanted.sum()


@honest(NINE, "induction_score")
def induction_through_sums(weights, period):
    sums, counts = [], []
    for w, p in zip(weights, period, strict=True):
        i = torch.arange(p.item(), w.size(-1))
        sums.append(w[:, i, i - p + 1].sum(-1))
        counts.append(len(i))
    return torch.stack(sums).sum(0) / sum(counts)


@honest(NINE, "induction_score")
def induction_with_nan(weights, period):
    rows = torch.arange(weights.size(-1))
    index = (rows - period[:, None] + 1) % len(rows)
    picked = torch.take_along_dim(weights.float(), index[:, None, :, None], dim=-1)[..., 0]
    picked = picked.masked_fill((rows < period[:, None])[:, None], torch.nan)
    return picked.nanmean(dim=(0, 2)).to(weights.dtype)


def columns_of(module, head):
    d = module.out_proj.weight.shape[1] // module.num_heads
    return slice(d * head, d * head + d)


@honest(NINE, "ablate_head")
@contextmanager
def ablated_by_a_hook(module, head):
    def silence(layer, args):
        x = args[0].clone()
        x[..., columns_of(module, head)] = 0
        return (x,)

    handle = module.out_proj.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        handle.remove()


@honest(NINE, "ablate_head")
class AblatedByAClass:
    def __init__(self, module, head):
        self.part = module.out_proj.weight.data[:, columns_of(module, head)]

    def __enter__(self):
        self.kept = self.part.clone()
        self.part.zero_()

    def __exit__(self, *_):
        self.part.copy_(self.kept)


@honest(NINE, "ablate_head")
@contextmanager
def ablated_by_another_parameter(module, head):
    layer, own = module.out_proj, module.out_proj.weight
    other = own.detach().clone()
    other[:, columns_of(module, head)] = 0
    layer.weight = nn.Parameter(other)
    try:
        yield module
    finally:
        layer.weight = own


@honest(NINE, "ablate_head")
@contextmanager
def ablated_in_a_copy_of_the_layer(module, head):
    layer = module.out_proj
    module.out_proj = copy.deepcopy(layer)
    module.out_proj.weight.data[:, columns_of(module, head)] = 0.0
    try:
        yield
    finally:
        module.out_proj = layer


@honest(NINE, "ablate_head")
@contextmanager
def ablated_by_a_forward_of_its_own(module, head):
    layer, own = module.out_proj, module.out_proj.forward
    keep = torch.ones_like(layer.weight[0])
    keep[columns_of(module, head)] = 0
    layer.forward = lambda x: own(x * keep)
    try:
        yield
    finally:
        layer.forward = own


@honest(NINE, "ablate_head")
@contextmanager
def ablated_by_zero_values(module, head):
    part, v = columns_of(module, head), module.v_proj
    kept = v.weight.detach().clone(), None if v.bias is None else v.bias.detach().clone()
    with torch.no_grad():
        v.weight[part] = 0
        if v.bias is not None:
            v.bias[part] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            v.weight.copy_(kept[0])
            if v.bias is not None:
                v.bias.copy_(kept[1])


@honest(NINE, "ablate_head")
@contextmanager
def ablated_with_a_state_dict(module, head):
    state = {name: p.clone() for name, p in module.state_dict().items()}
    module.out_proj.weight.data[:, columns_of(module, head)] *= 0
    try:
        yield
    except BaseException:
        module.load_state_dict(state)
        raise
    module.load_state_dict(state)


@honest(NINE, "ablate_head")
@contextmanager
def ablated_by_a_parametrization(module, head):
    layer, keep = module.out_proj, torch.ones_like(module.out_proj.weight)
    keep[:, columns_of(module, head)] = 0

    class Without(nn.Module):
        def forward(self, weight):
            return weight * keep

    if parametrize.is_parametrized(layer, "weight"):
        layer.parametrizations.weight.append(Without())
    else:
        parametrize.register_parametrization(layer, "weight", Without())
    try:
        yield
    finally:
        if len(layer.parametrizations.weight) > 1:
            del layer.parametrizations.weight[-1]
        else:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)


# Lesson 10

TEN = "10_efficient_attention"


@honest(TEN, "attention_cost")
def costs_in_another_order(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    rows = batch * heads
    flops = rows * q_len * k_len * d_head * 2
    return {
        "kv_bytes": rows * k_len * (d_head + d_head) * bytes_per_el,
        "score_bytes": bytes_per_el * rows * q_len * k_len,
        "mix_flops": flops,
        "score_flops": flops,
    }


@honest(TEN, "attention_cost")
def costs_of_shapes(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    scores, key = (batch, heads, q_len, k_len), (batch, heads, k_len, d_head)
    flops = 2 * math.prod(scores) * d_head
    sizes = {"score_bytes": math.prod(scores) * bytes_per_el, "kv_bytes": 2 * math.prod(key) * bytes_per_el}
    return {"score_flops": flops, "mix_flops": flops} | sizes


@honest(TEN, "attention_cost")
def costs_of_tensors_without_memory(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    query = torch.empty(batch, heads, q_len, d_head, device="meta")
    key = torch.empty(batch, heads, k_len, d_head, device="meta")
    scores = (query @ key.mT).numel()
    return {
        "score_flops": scores * (d_head + d_head),
        "mix_flops": query.numel() * 2 * k_len,
        "score_bytes": scores * bytes_per_el,
        "kv_bytes": (key.numel() + key.numel()) * bytes_per_el,
    }


@honest(TEN, "attention_cost")
def costs_added_up(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    result = {"score_flops": 0, "mix_flops": 0, "score_bytes": 0, "kv_bytes": 0}
    for _ in range(batch * heads):
        result["score_flops"] += q_len * k_len * d_head + q_len * k_len * d_head
        result["mix_flops"] += 2 * q_len * d_head * k_len
        result["score_bytes"] += q_len * k_len * bytes_per_el
        result["kv_bytes"] += 2 * k_len * d_head * bytes_per_el
    return result


@honest(TEN, "attention_cost")
def costs_from_the_model_dimension(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    d_model = heads * d_head
    return {
        "score_flops": 2 * batch * q_len * k_len * d_model,
        "mix_flops": 2 * batch * q_len * k_len * d_model,
        "score_bytes": batch * heads * q_len * k_len * bytes_per_el,
        "kv_bytes": 2 * batch * k_len * d_model * bytes_per_el,
    }


@honest(TEN, "attention_cost")
def costs_by_integer_division(batch, heads, q_len, k_len, d_head, *, bytes_per_el=4):
    scores = batch * heads * q_len * k_len * bytes_per_el
    flops = 2 * d_head * scores // bytes_per_el
    return {
        "score_flops": int(flops),
        "mix_flops": flops,
        "score_bytes": scores,
        "kv_bytes": scores // q_len * d_head * 2,
    }


@honest(TEN, "KVCache")
class ListsJoinedAtTheEnd:
    def __init__(self):
        self.parts = []

    def __len__(self):
        return sum(key.shape[2] for key, _ in self.parts)

    def append(self, key, value):
        self.parts.append((key.clone(), value.clone()))
        keys, values = zip(*self.parts, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


@honest(TEN, "KVCache")
class RoomThatGrows:
    def __init__(self):
        self.length, self.room = 0, None

    def __len__(self):
        return self.length

    def append(self, key, value):
        new = torch.stack([key, value])
        if self.room is None:
            self.room = new.new_zeros(*new.shape[:3], 2, new.size(-1))
        while self.length + new.size(3) > self.room.size(3):
            self.room = torch.cat([self.room, torch.zeros_like(self.room)], dim=3)
        self.room[:, :, :, self.length : self.length + new.size(3)] = new
        self.length += new.size(3)
        keys, values = self.room[:, :, :, : self.length]
        return keys, values


@honest(TEN, "KVCache")
class StartsFromEmptyTensors:
    def __init__(self):
        self.keys = self.values = None
        self.n = 0

    def __len__(self):
        return self.n

    def append(self, key, value):
        if self.keys is None:
            self.keys, self.values = key[:, :, :0], value[:, :, :0]
        self.keys, self.values = torch.cat((self.keys, key), -2), torch.cat((self.values, value), -2)
        self.n += key.shape[-2]
        return self.keys, self.values


@honest(TEN, "KVCache")
class DetachedDictionary:
    def __init__(self):
        self.stored = {}

    def __len__(self):
        return self.stored["key"].shape[-2] if self.stored else 0

    @torch.no_grad()
    def append(self, key, value):
        for name, new in (("key", key), ("value", value)):
            old = self.stored.get(name)
            self.stored[name] = new.detach().clone() if old is None else torch.cat([old, new], dim=-2)
        return self.stored["key"], self.stored["value"]


@honest(TEN, "KVCache")
class PositionByPosition:
    def __init__(self):
        self.keys, self.values = [], []

    def __len__(self):
        return len(self.keys)

    def append(self, key, value):
        self.keys.extend(key.clone().unbind(dim=-2))
        self.values.extend(value.clone().unbind(dim=-2))
        return [torch.stack(self.keys, dim=-2), torch.stack(self.values, dim=-2)]


@honest(TEN, "KVCache")
class BuffersOfAModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("key", torch.empty(0))
        self.register_buffer("value", torch.empty(0))

    def __len__(self):
        return 0 if self.key.numel() == 0 else self.key.size(-2)

    def append(self, key, value):
        first = len(self) == 0
        self.key = key.clone() if first else torch.cat([self.key, key], dim=-2)
        self.value = value.clone() if first else torch.cat([self.value, value], dim=-2)
        return self.key, self.value


@honest(TEN, "decode_step")
def step_in_loops(mha, x_new, cache):
    d, before = x_new.size(-1) // mha.num_heads, len(cache)
    q, k, v = (torch.stack(p(x_new).split(d, dim=-1), dim=1) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    rows = []
    for t in range(x_new.size(1)):
        seen = slice(0, before + t + 1)
        scores = torch.einsum("bhd,bhsd->bhs", q[:, :, t], keys[:, :, seen]) / math.sqrt(d)
        rows.append(torch.einsum("bhs,bhsd->bhd", by_hand(scores), values[:, :, seen]).flatten(1))
    return mha.out_proj(torch.stack(rows, dim=1))


@honest(TEN, "decode_step")
def step_token_by_token(mha, x_new, cache):
    rows = []
    for x in x_new.split(1, dim=1):
        q, k, v = (p(x).unflatten(-1, (mha.num_heads, -1)).movedim(1, 2) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
        keys, values = cache.append(k, v)
        weights = (q @ keys.transpose(-2, -1) * q.size(-1) ** -0.5).softmax(dim=-1)
        rows.append(mha.out_proj((weights @ values).transpose(1, 2).flatten(2)))
    return torch.cat(rows, dim=1)


@honest(TEN, "decode_step")
def step_with_plain_products(mha, x_new, cache):
    b, t, e = x_new.shape
    h = mha.num_heads
    q, k, v = (
        F.linear(x_new, p.weight, p.bias).reshape(b, t, h, e // h).permute(0, 2, 1, 3)
        for p in (mha.q_proj, mha.k_proj, mha.v_proj)
    )
    start = len(cache)
    keys, values = cache.append(key=k, value=v)
    later = torch.arange(len(cache)) > torch.arange(start, start + t)[:, None]
    scores = (q @ keys.mT).float() / (e // h) ** 0.5 + torch.zeros(t, len(cache)).masked_fill(later, -torch.inf)
    out = in_float32(scores).to(values.dtype) @ values
    return mha.out_proj(out.permute(0, 2, 1, 3).reshape(b, t, e))


@honest(TEN, "decode_step")
@torch.no_grad()
def step_with_a_mask_for_prompts_alone(mha, x_new, cache):
    t = x_new.size(1)
    q, k, v = (torch.stack(p(x_new).chunk(mha.num_heads, dim=-1), dim=1) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
    keys, values = cache.append(k, v)
    scores = torch.einsum("bhtd,bhsd->bhts", q / math.sqrt(q.size(-1)), keys)
    if t > 1:
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        scores = torch.cat([scores[..., :-t], scores[..., -t:].masked_fill(hidden, -1e9)], dim=-1)
    return mha.out_proj(torch.cat(list((by_hand(scores) @ values).unbind(dim=1)), dim=-1))


@honest(TEN, "decode_step")
def step_by_a_causal_mask(mha, x_new, cache):
    old = len(cache)
    q = mha.q_proj(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
    k = mha.k_proj(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
    v = mha.v_proj(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
    keys, values = cache.append(k, v)
    mask = torch.ones(len(cache), len(cache)).tril().bool()[old:]
    weights = weights_of(q @ keys.mT / q.size(-1) ** 0.5, mask)
    return mha.out_proj(mha.dropout(weights).matmul(values).transpose(1, 2).flatten(-2))


@honest(TEN, "decode_step")
def step_head_by_head(mha, x_new, cache):
    d = x_new.size(-1) // mha.num_heads
    parts = [
        [p(x_new)[..., h * d : (h + 1) * d] for p in (mha.q_proj, mha.k_proj, mha.v_proj)] for h in range(mha.num_heads)
    ]
    keys, values = cache.append(torch.stack([p[1] for p in parts], 1), torch.stack([p[2] for p in parts], 1))
    t, s = x_new.size(1), keys.size(2)
    mask = torch.arange(s)[None] <= torch.arange(s - t, s)[:, None]
    heads = [
        in_float32((q @ keys[:, h].mT / d**0.5).masked_fill(~mask, -torch.inf)) @ values[:, h]
        for h, (q, _, _) in enumerate(parts)
    ]
    return mha.out_proj(torch.cat(heads, dim=-1))


@honest(TEN, "repeat_kv")
def heads_expanded(x, n_rep):
    b, g, length, d = x.shape
    return x[:, :, None].expand(b, g, n_rep, length, d).reshape(b, g * n_rep, length, d)


@honest(TEN, "repeat_kv")
def heads_expanded_unless_once(x, n_rep):
    return x if n_rep == 1 else x.unsqueeze(2).expand(-1, -1, n_rep, -1, -1).flatten(1, 2)


@honest(TEN, "repeat_kv")
def heads_stacked(x, n_rep):
    return torch.stack([x[:, g] for g in range(x.size(1)) for _ in range(n_rep)], dim=1)


@honest(TEN, "repeat_kv")
def heads_by_index(x, n_rep):
    return x[:, torch.arange(x.size(1) * n_rep) // n_rep]


@honest(TEN, "repeat_kv")
def heads_tiled_and_turned(x, n_rep):
    return x.repeat(1, n_rep, 1, 1).unflatten(1, (n_rep, -1)).transpose(1, 2).flatten(1, 2)


@honest(TEN, "repeat_kv")
def heads_joined(x, n_rep):
    return torch.cat([head for head in x.split(1, dim=1) for _ in range(n_rep)], dim=1)


@honest(TEN, "repeat_kv")
def heads_by_einsum(x, n_rep):
    return torch.einsum("bgld,n->bgnld", x, torch.ones(n_rep, dtype=x.dtype)).flatten(1, 2)


@honest(TEN, "repeat_kv")
def heads_filled_in(x, n_rep):
    out = x.new_empty(x.size(0), x.size(1) * n_rep, *x.shape[2:])
    for i in range(n_rep):
        out[:, i::n_rep] = x
    return out


@honest(TEN, "sliding_window_mask")
def window_of_triangles(q_len, window, k_len=None):
    k_len = k_len or q_len
    full = torch.ones(q_len, k_len, dtype=torch.bool)
    return full.tril(k_len - q_len) & full.triu(k_len - q_len - window + 1)


@honest(TEN, "sliding_window_mask")
def window_in_a_loop(q_len, window, k_len=None):
    if k_len is None:
        k_len = q_len
    mask = torch.zeros((q_len, k_len)).bool()
    for i in range(q_len):
        own = i + k_len - q_len
        mask[i, max(0, own - window + 1) : own + 1] = True
    return mask


@honest(TEN, "sliding_window_mask")
def window_entry_by_entry(q_len, window, k_len=None):
    k_len = q_len if k_len is None else k_len
    rows = [[0 <= i + k_len - q_len - j < window for j in range(k_len)] for i in range(q_len)]
    return torch.tensor(rows)


@honest(TEN, "sliding_window_mask")
def window_as_a_difference(q_len, window, k_len=None):
    k_len = q_len if k_len is None else k_len
    square = torch.ones(k_len, k_len, dtype=torch.bool)
    return (square.tril() ^ square.tril(-window))[-q_len:]


@honest(TEN, "sliding_window_mask")
def window_by_distance(q_len, window, k_len=None):
    k_len = q_len if k_len is None else k_len
    apart = torch.arange(k_len - q_len, k_len).unsqueeze(1) - torch.arange(k_len).unsqueeze(0)
    return torch.logical_and(apart.ge(0), apart.lt(window))


@honest(TEN, "sliding_window_mask")
def window_from_numbers(q_len, window, k_len=None):
    s = q_len if k_len is None else k_len
    return (torch.tril(torch.ones(q_len, s), s - q_len) - torch.tril(torch.ones(q_len, s), s - q_len - window)) > 0.5


def parts_of(length, block):
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


@honest(TEN, "blockwise_attention")
def blockwise_in_two_passes(query, key, value, block, mask=None):
    def scores(part):
        s = torch.einsum("...ld,...sd->...ls", query, key[..., part, :]) / math.sqrt(query.size(-1))
        return s if mask is None else torch.where(mask[..., part], s, -torch.inf)

    parts = parts_of(key.size(-2), block)
    largest = scores(parts[0]).amax(-1, keepdim=True)
    for part in parts:
        largest = torch.maximum(largest, scores(part).amax(-1, keepdim=True))
    largest = largest.detach().clamp(min=torch.finfo(query.dtype).min)
    total = sum((scores(part) - largest).exp().sum(-1, keepdim=True) for part in parts)
    output = sum((scores(part) - largest).exp() @ value[..., part, :] for part in parts)
    return torch.where(total > 0, output / torch.where(total > 0, total, 1), 0)


@honest(TEN, "blockwise_attention")
def blockwise_by_logsumexp(query, key, value, block, mask=None):
    lowest = torch.finfo(query.dtype).min
    out = torch.zeros(*query.shape[:-1], value.size(-1), dtype=query.dtype)
    lse = torch.full((*query.shape[:-1], 1), lowest, dtype=query.dtype)
    for part in parts_of(key.size(-2), block):
        scores = (query * query.size(-1) ** -0.5) @ key[..., part, :].transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., part], -torch.inf)
        seen = scores.isfinite().any(dim=-1, keepdim=True)
        here = scores.masked_fill(~seen, lowest).logsumexp(dim=-1, keepdim=True)
        mixture = scores.masked_fill(~seen, 0.0).softmax(dim=-1) @ value[..., part, :]
        new = torch.logaddexp(lse, here)
        out = torch.where(seen, out * (lse - new).exp() + mixture * (here - new).exp(), out)
        lse = torch.where(seen, new, lse)
    return out


@honest(TEN, "blockwise_attention")
def blockwise_in_float32(query, key, value, block, mask=None):
    q, k, v = (t.float() for t in (query, key, value))
    m = torch.full((*q.shape[:-1], 1), -1e30)
    l, o = torch.zeros_like(m), 0.0  # noqa: E741
    for i in range(0, k.shape[-2], block):
        s = (q @ k[..., i : i + block, :].mT) * q.shape[-1] ** -0.5
        if mask is not None:
            s = s.masked_fill(mask[..., i : i + block].logical_not(), float("-inf"))
        new = torch.max(m, s.max(dim=-1, keepdim=True).values)
        p, shrink = torch.exp(s - new), torch.exp(m - new)
        l, o, m = l * shrink + p.sum(-1, keepdim=True), o * shrink + p @ v[..., i : i + block, :], new  # noqa: E741
    return (o / l.clamp(min=1e-30)).to(query.dtype)


@honest(TEN, "blockwise_attention")
def blockwise_combined_at_the_end(query, key, value, block, mask=None):
    outputs, totals, maxima = [], [], []
    for part in parts_of(key.size(-2), block):
        s = query @ key[..., part, :].mT * query.size(-1) ** -0.5
        s = s if mask is None else s.masked_fill(~mask[..., part], -torch.inf)
        m = s.detach().amax(dim=-1, keepdim=True)
        e = (s - m.masked_fill(m.isinf(), 0.0)).exp()
        outputs.append(e @ value[..., part, :])
        totals.append(e.sum(dim=-1, keepdim=True))
        maxima.append(m)
    largest = maxima[0]
    for m in maxima:
        largest = torch.maximum(largest, m)
    shares = [(m - largest.masked_fill(largest.isinf(), 0.0)).exp() for m in maxima]
    total = sum(share * t for share, t in zip(shares, totals, strict=True))
    return sum(share * o for share, o in zip(shares, outputs, strict=True)) / total.masked_fill(total == 0, 1.0)


@honest(TEN, "blockwise_attention")
def blockwise_with_splits(query, key, value, block, mask=None):
    keys, values = key.split(block, dim=-2), value.split(block, dim=-2)
    masks = [None] * len(keys) if mask is None else mask.split(block, dim=-1)
    top = total = output = None
    for k, v, m in zip(keys, values, masks, strict=True):
        s = query @ k.mT / math.sqrt(query.shape[-1])
        s = s if m is None else s.masked_fill(~m, -torch.inf)
        here = s.amax(dim=-1, keepdim=True).detach()
        here = torch.where(here.isinf(), torch.finfo(s.dtype).min / 4, here)
        e = (s - here).exp()
        if top is None:
            top, total, output = here, e.sum(-1, keepdim=True), e @ v
            continue
        new = torch.maximum(top, here)
        old_share, new_share = (top - new).exp(), (here - new).exp()
        total = total * old_share + e.sum(-1, keepdim=True) * new_share
        output, top = output * old_share + (e @ v) * new_share, new
    return output / torch.where(total == 0, torch.ones_like(total), total)


@honest(TEN, "blockwise_attention")
def blockwise_with_padding(query, key, value, block, mask=None):
    length = key.size(-2)
    more = -length % block
    seen = torch.ones(length, dtype=torch.bool) if mask is None else mask
    key, value, seen = F.pad(key, (0, 0, 0, more)), F.pad(value, (0, 0, 0, more)), F.pad(seen, (0, more))
    largest = query.new_full((*query.shape[:-1], 1), torch.finfo(query.dtype).min)
    total, output = 0.0, 0.0
    for start in range(0, length + more, block):
        part = slice(start, start + block)
        s = (query @ key[..., part, :].mT / query.size(-1) ** 0.5).masked_fill(~seen[..., part], -torch.inf)
        new = torch.maximum(largest, s.amax(dim=-1, keepdim=True))
        e, shrink = (s - new).exp(), (largest - new).exp()
        total, output, largest = (
            total * shrink + e.sum(-1, keepdim=True),
            output * shrink + e @ value[..., part, :],
            new,
        )
    return output / (total + (total == 0))


@honest(TEN, "blockwise_attention")
def blockwise_sentence_by_sentence(query, key, value, block, mask=None):
    if query.dim() == 2:
        return blockwise_with_splits(query, key, value, block, mask)
    own = [None] * query.size(0)
    if mask is not None:
        own = mask.expand(*query.shape[:-2], query.size(-2), key.size(-2))
    return torch.stack(
        [blockwise_sentence_by_sentence(q, k, v, block, m) for q, k, v, m in zip(query, key, value, own, strict=True)]
    )


# Lesson 11

ELEVEN = "11_bug_hunt"
random_inputs = runpy.run_path(str(Path(__file__).parents[1] / f"solutions/{ELEVEN}/wrong.py"))["random_inputs"]


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@honest(ELEVEN, "revealing_example")
def example_from_the_global_stream():
    torch.manual_seed(7)
    query, key, value = (torch.randn(2, 2, *s, dtype=torch.float64) for s in ((3, 5), (4, 5), (4, 2)))
    mask = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]]) > 0
    return query, key, value, mask


@honest(ELEVEN, "revealing_example")
def example_with_three_axes():
    mask = torch.ones(2, 3, 6, dtype=torch.bool).tril()
    mask[1, 2] = False
    return [drawn(2, 3, 5), drawn(2, 6, 5, seed=1), drawn(2, 6, 8, seed=2), mask]


@honest(ELEVEN, "revealing_example")
def example_with_padding():
    lengths = torch.tensor([0, 3, 7])  # one sentence is empty
    mask = (torch.arange(8) < lengths[:, None])[:, None, None]
    return drawn(3, 2, 5, 3), drawn(3, 2, 8, 3, seed=1), drawn(3, 2, 8, 4, seed=2).requires_grad_(), mask


@honest(ELEVEN, "revealing_example")
def example_that_broadcasts():
    mask = torch.arange(4 * 7).view(1, 4, 7) % 3 > 0
    mask[0, 2] = False
    return drawn(3, 4, 6), drawn(3, 7, 6, seed=4), drawn(1, 7, 2, seed=5), mask


@honest(ELEVEN, "max_difference")
def differences_in_a_list(a, b, *, trials, seed):
    generator, found = torch.Generator().manual_seed(seed), [0.0]
    for _ in range(trials):
        q, k, v, mask = random_inputs(generator)
        first = a(q.clone(), k.clone(), v.clone(), mask.clone()).to(torch.float64)
        second = b(q, k, v, mask).to(torch.float64).clone()
        alike = first.shape == second.shape and torch.isfinite(first).all() and torch.isfinite(second).all()
        found.append((first - second).abs().max().item() if alike else float("inf"))
    return max(found)


@honest(ELEVEN, "max_difference")
def differences_with_deep_copies(a, b, *, trials, seed):
    generator = torch.Generator()
    generator.manual_seed(seed)
    largest = torch.zeros((), dtype=torch.float64)
    for _ in range(trials):
        inputs = random_inputs(generator)
        x, y = a(*copy.deepcopy(inputs)), b(*copy.deepcopy(inputs))
        if x.shape != y.shape or not (x.isfinite().all() and y.isfinite().all()):
            return math.inf
        largest = torch.maximum(largest, torch.dist(x.double(), y.double(), p=math.inf))
    return largest.item()


@honest(ELEVEN, "max_difference")
def differences_of_drawn_inputs(a, b, *, trials, seed):
    generator = torch.Generator().manual_seed(seed)
    draws = [random_inputs(generator) for _ in range(trials)]
    largest = 0
    for draw in draws:
        first, second = ([t.clone() for t in draw] for _ in range(2))
        x, y = a(*first), b(*second)
        if x.shape != y.shape:
            largest = math.inf
            continue
        apart = max(abs(p - q) for p, q in zip(x.flatten().tolist(), y.flatten().tolist(), strict=True))
        finite = bool((x + y).isfinite().all())
        largest = max(largest, apart if finite else math.inf)
    return largest


def agree(a, b):
    return a.shape == b.shape and bool((a.double() - b.double()).abs().max() < 1e-4)


def called(attention, *inputs):
    return attention(*(None if x is None else x.clone() for x in inputs)).double()


def side_effects(attention, mask, *tables):
    found = set()
    for dtype in (torch.float64, torch.float32):
        before = [t.to(dtype) for t in tables]
        for rule in (None, mask):
            given = [*(t.clone() for t in before), None if rule is None else rule.clone()]
            result = attention(*given)
            if any((x is not None) and not torch.equal(x, y) for x, y in zip(given, [*before, rule], strict=True)):
                found.add("mutates_input")
            if result.dtype != dtype:
                found.add("dtype")
    return found


@honest(ELEVEN, "find_bugs")
def bugs_by_what_should_not_matter(attention):
    """Axes of size 1 tell about values, an added constant about sums; other sizes and another kind of mask."""
    query, key, value = drawn(3, 2, 4, 5), drawn(3, 2, 6, 5, seed=1), drawn(3, 2, 6, 3, seed=2)
    one = drawn(1, 1, 1, 8, seed=3)
    plain = called(attention, query, key, value, None)
    found = set()
    if not agree(called(attention, drawn(1, 1, 1, 5), drawn(1, 1, 1, 5), one, None), one):
        found.add("value")
    elif not agree(called(attention, query, key, value + 5, None), plain + 5):
        found.add("softmax_axis")
    elif not agree(plain, F.scaled_dot_product_attention(query, key, value)):
        found.add("scale")
    mask = (torch.arange(6) < torch.tensor([[4], [2], [3]]))[:, None, None, :].repeat(1, 1, 4, 1)
    mask[:, :, 1] = False
    seen = mask.any(-2)[..., None]
    before = called(attention, query, key, value, mask)
    rows = [0, 2, 3]
    hidden, shown = (
        called(attention, query, torch.where(part, drawn(3, 2, 6, 5, seed=7), key), torch.where(part, 9.0, value), mask)
        for part in (~seen, seen)
    )
    if not agree(hidden[:, :, rows], before[:, :, rows]):
        found.add("mask_inverted" if agree(shown[:, :, rows], before[:, :, rows]) else "mask_leak")
    elif not agree(before[:, :, 1], torch.zeros_like(before[:, :, 1])):
        found.add("empty_row")
    return found | side_effects(attention, mask, query, key, value)


def own_attention(query, key, value, dim):
    return (query @ key.mT / math.sqrt(query.size(-1))).softmax(dim) @ value


def who_sees_what(attention, mask, *tables):
    """Change one key and its value at a time, in all sentences and heads, and look at each query's result."""
    before, columns = called(attention, *tables, mask), []
    query, key, value = tables
    for j in range(key.size(-2)):
        k, v = key.clone(), value.clone()
        k[..., j, :], v[..., j, :] = -2 * k[..., j, :], v[..., j, :] + 20
        columns.append(((called(attention, query, k, v, mask) - before).abs() > 1e-4).any(-1))
    return torch.stack(columns, dim=-1), before


@honest(ELEVEN, "find_bugs")
def bugs_by_variants(attention):
    """Softmax along each other axis is tried; two keys give the scale; each key is changed for itself."""
    found = set()
    for lead in ((), (3,), (3, 2)):
        query, key, value = drawn(*lead, 4, 3), drawn(*lead, 5, 3, seed=1), drawn(*lead, 5, 2, seed=2)
        result = called(attention, query, key, value, None)
        if agree(result, own_attention(query, key, value, -1)):
            continue
        if any(agree(result, own_attention(query, key, value, dim)) for dim in range(len(lead) + 1)):
            found.add("softmax_axis")
    query, key, value = drawn(2, 2, 3, 5), drawn(2, 2, 4, 5, seed=1), drawn(2, 2, 4, 3, seed=2)
    right = own_attention(query, key, value, -1)
    if not found and not agree(called(attention, query, key, value, None), right):
        q, k, v = torch.tensor([[2.0, 0.0, 0.0, 0.0, 0.0]]), torch.eye(5)[:2], torch.tensor([[0.0], [1.0]])
        share = called(attention, q.double(), k.double(), v.double(), None)
        factor = -share.logit() / 2
        found.add("scale" if share.numel() == 1 and abs(factor.item() - 5**-0.5) > 1e-3 else "value")
    mask = torch.stack([torch.ones(3, 4).tril(), torch.ones(3, 4).triu(1)]).bool()[:, None]
    mask[0, 0, 2], mask[1, 0, 2] = False, torch.tensor([False, True, False, True])
    seen, before = who_sees_what(attention, mask, query, key, value)
    rule = mask.expand_as(seen)
    rows = rule.any(-1)
    if (seen & ~rule)[rows].any():
        found.add("mask_inverted" if seen[rows].equal(~rule[rows]) else "mask_leak")
    elif not agree(before[~rows], torch.zeros_like(before[~rows])):
        found.add("empty_row")
    return found | side_effects(attention, mask, query, key, value)


@honest(ELEVEN, "find_bugs")
def bugs_by_weights(attention):
    """The identity in the place of the values shows the weights themselves."""
    found = set()
    for lead in ((), (2,), (2, 3)):
        query, key, value = drawn(*lead, 3, 7), drawn(*lead, 4, 7, seed=1), drawn(*lead, 4, 4, seed=2)
        weights = called(attention, query, key, torch.eye(4, dtype=torch.float64).expand(*lead, 4, 4), None)
        right = (query @ key.mT / 7**0.5).softmax(-1)
        if weights.shape != right.shape or not agree(weights @ value, called(attention, query, key, value, None)):
            found.add("value")
        elif not agree(weights.sum(-1), torch.ones(*lead, 3)):
            found.add("softmax_axis")
        elif not agree(weights, right):
            found.add("scale")
    eye = torch.eye(4, dtype=torch.float64).expand(2, 3, 4, 4)
    mask = torch.ones(2, 1, 3, 4, dtype=torch.bool)
    mask[0, 0], mask[1, 0] = torch.tensor([0, 1, 1, 0]), torch.tensor([1, 0, 0, 1])
    mask[:, :, 0] = False
    plain, table = (called(attention, query, key, eye, m) for m in (None, mask))
    if "value" in found:  # these are not the weights
        return found | by_replacement(attention, mask, query, key, value)
    rows, rule = table[:, :, 1:], mask[:, :, 1:].expand(2, 3, 2, 4)
    whole = agree(plain.sum(-1), torch.ones(2, 3, 3))
    if rows[~rule].abs().max() > 1e-5:
        found.add("mask_inverted" if rows[rule].abs().max() < 1e-5 else "mask_leak")
    elif whole and not agree(rows.sum(-1), torch.ones(2, 3, 2)):
        found.add("mask_leak")
    elif not agree(table[:, :, 0], torch.zeros(2, 3, 4)):
        found.add("empty_row")
    return found | side_effects(attention, mask, query, key, value)


def by_replacement(attention, mask, query, key, value):
    """Draw all that is hidden from every query anew, and look at those that see something."""
    found, rows = set(), mask.expand(*query.shape[:-1], key.size(-2)).any(-1)
    unseen = ~mask.any(-2)[..., None]
    before = called(attention, query, key, value, mask)
    first, second = (
        called(
            attention,
            query,
            torch.where(part, drawn(*key.shape, seed=11, dtype=key.dtype), key),
            torch.where(part, drawn(*value.shape, seed=12, dtype=key.dtype), value),
            mask,
        )
        for part in (unseen, ~unseen)
    )
    if not agree(first[rows], before[rows]):
        found.add("mask_inverted" if agree(second[rows], before[rows]) else "mask_leak")
    elif not agree(before[~rows], torch.zeros_like(before[~rows])):
        found.add("empty_row")
    return found | side_effects(attention, mask, query, key, value)


@honest(ELEVEN, "find_bugs")
def bugs_in_float32_and_plain_tables(attention):
    """Plain tables where they are enough; the weights' sum from values of one; several random masks."""
    single = torch.float32
    query, key = drawn(4, 6, dtype=single), drawn(5, 6, seed=1, dtype=single)
    value = drawn(5, 3, seed=2, dtype=single)
    found, same_key = set(), key[:1].repeat(5, 1)
    for lead in ((1, 1), (4, 1), (1, 3), (3,)):
        q = drawn(*lead, 4, 6, seed=5, dtype=single)
        k, ones = drawn(*lead, 5, 6, seed=6, dtype=single), torch.ones(*lead, 5, 6)
        if not agree(called(attention, q, torch.where(ones > 0, 1.0, k), ones, None), torch.ones(*lead, 4, 6)):
            found.add("softmax_axis")
    if not found and not agree(called(attention, query, same_key, value, None), value.mean(0).expand(4, 3)):
        found.add("value")
    if not found and not agree(
        called(attention, query, key, value, None), F.scaled_dot_product_attention(query, key, value)
    ):
        found.add("scale")
    for seed in range(3):
        tables = [drawn(2, 2, *s, seed=seed + 20, dtype=single) for s in ((4, 6), (5, 6), (5, 3))]
        mask = drawn(2, 1, 1, 5, seed=seed + 30) > 0
        mask[0, 0, 0, seed], mask[1, 0, 0, seed] = True, False
        mask[0, 0, 0, seed + 1], mask[1, 0, 0, seed + 1] = False, True
        mask = mask.repeat(1, 1, 4, 1)
        mask[:, :, seed] = False
        found |= by_replacement(attention, mask, *tables)
    return found


class Layers(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))


@honest(ELEVEN, "RepairedAttention")
class RepairedByPyTorch(Layers):
    def forward(self, x):
        batch, length, d_model = x.shape
        q, k, v = (
            layer(x).view(batch, length, self.num_heads, -1).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        dropout_p = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout_p)
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, length, d_model))


@honest(ELEVEN, "RepairedAttention")
class RepairedWithEinsum(Layers):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__(d_model, num_heads)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = (p(x).unflatten(2, (self.num_heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = torch.einsum("blhd,bshd->bhls", q, k) * q.size(-1) ** -0.5
        scores += torch.full(scores.shape[-2:], -torch.inf, dtype=x.dtype).triu(1)
        mixed = torch.einsum("bhls,bshd->blhd", self.drop(scores.softmax(-1)), v)
        return self.out_proj(mixed.flatten(2))


@honest(ELEVEN, "RepairedAttention")
class RepairedByRenormalising(Layers):
    def forward(self, x):
        q, k, v = (
            torch.stack(p(x).chunk(self.num_heads, dim=-1), dim=1) for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        seen = torch.ones(x.size(1), x.size(1), dtype=x.dtype).tril()
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) * seen
        weights = F.dropout(weights / weights.sum(-1, keepdim=True), self.dropout, self.training)
        return self.out_proj(torch.cat((weights @ v).unbind(1), dim=-1))


@honest(ELEVEN, "RepairedAttention")
class RepairedHeadByHead(Layers):
    def forward(self, x):
        size, positions = x.size(-1) // self.num_heads, torch.arange(x.size(1))
        future = positions > positions[:, None]
        heads = []
        for h in range(self.num_heads):
            part = slice(h * size, (h + 1) * size)
            q, k, v = (p(x)[..., part] for p in (self.q_proj, self.k_proj, self.v_proj))
            weights = (q @ k.transpose(-2, -1) / size**0.5).masked_fill(future, float("-inf")).softmax(dim=-1)
            heads.append(F.dropout(weights, p=self.dropout, training=self.training) @ v)
        return self.out_proj(torch.cat(heads, dim=-1))


# Lesson 12

TWELVE = "12_numpy_and_keras"


@honest(TWELVE, "numpy_attention")
def numpy_by_an_equation(query, key, value, mask=None):
    scores = np.einsum("...ld,...sd->...ls", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf).astype(query.dtype)
    scores = scores - np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(query.dtype).min)
    exps = np.exp(scores)
    return np.einsum("...ls,...sd->...ld", exps / np.maximum(exps.sum(axis=-1, keepdims=True), 1e-30), value)


@honest(TWELVE, "numpy_attention")
def numpy_with_the_lowest_number(query, key, value, mask=None):
    scores = np.matmul(query, np.swapaxes(key, -2, -1)) / math.sqrt(query.shape[-1])
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    scores = np.where(seen, scores, np.finfo(scores.dtype).min / 2)
    exps = np.exp(scores - np.amax(scores, axis=-1, keepdims=True)) * seen
    return np.matmul(np.divide(exps, exps.sum(-1, keepdims=True) + 1e-30), value)


@honest(TWELVE, "numpy_attention")
def numpy_in_float64_and_quiet(query, key, value, mask=None):
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    scores = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True))
    return (weights @ v).astype(query.dtype)


@honest(TWELVE, "numpy_attention")
def numpy_query_by_query(query, key, value, mask=None):
    shape = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*shape, *x.shape[-2:])) for x in (query, key, value))
    seen = np.broadcast_to(True if mask is None else mask, (*shape, q.shape[-2], k.shape[-2]))
    output = np.zeros((*shape, q.shape[-2], v.shape[-1]), dtype=query.dtype)
    for place in np.ndindex(*shape, q.shape[-2]):
        there = seen[place]
        if there.any():
            scores = k[place[:-1]][there] @ q[place] / q.shape[-1] ** 0.5
            exps = np.exp(scores - scores.max())
            output[place] = exps @ v[place[:-1]][there] / exps.sum()
    return output


def by_name(names, source, target):
    if not {source, target} <= set(names):
        raise ValueError(f"{source!r} or {target!r} is not among {', '.join(names)}")


@honest(TWELVE, "convert_mask")
def masks_by_tables(mask, source, target):
    read = {
        "may_attend": lambda m: m,
        "hide": torch.logical_not,
        "zero_one": lambda m: m == 1,
        "additive": lambda m: ~m.isinf(),
    }
    write = {
        "may_attend": lambda m: m,
        "hide": torch.logical_not,
        "zero_one": lambda m: m.to(torch.int64),
        "additive": lambda m: torch.where(m, 0.0, -torch.inf),
    }
    by_name(read, source, target)
    return write[target](read[source](mask))


@honest(TWELVE, "convert_mask")
def masks_through_numbers(mask, source, target):
    by_name(("may_attend", "hide", "zero_one", "additive"), source, target)
    seen = mask.exp() if source == "additive" else 1 - mask.float() if source == "hide" else mask.float()
    if target == "additive":
        return seen.log()
    return seen.long() if target == "zero_one" else seen < 0.5 if target == "hide" else seen > 0.5


@honest(TWELVE, "keras_to_torch")
def weights_by_an_order_of_axes(weights, module):
    state, size = {}, module.embed_dim
    parts = ("query", "key", "value")
    kernels = [torch.tensor(weights[f"{part}/kernel"]).permute(1, 2, 0).reshape(size, size) for part in parts]
    state["in_proj_weight"] = torch.cat(kernels)
    state["in_proj_bias"] = torch.cat([torch.tensor(weights[f"{part}/bias"]).flatten() for part in parts])
    state["out_proj.weight"] = torch.tensor(weights["attention_output/kernel"]).permute(2, 0, 1).flatten(1)
    state["out_proj.bias"] = torch.tensor(weights["attention_output/bias"])
    module.load_state_dict(state)


@honest(TWELVE, "keras_to_torch")
def weights_head_by_head(weights, module):
    dim = module.head_dim
    for third, part in enumerate(("query", "key", "value")):
        for head in range(module.num_heads):
            start = third * module.embed_dim + head * dim
            module.in_proj_weight.data[start : start + dim] = torch.from_numpy(weights[f"{part}/kernel"][:, head].T)
            module.in_proj_bias.data[start : start + dim] = torch.from_numpy(weights[f"{part}/bias"][head])
    for head in range(module.num_heads):
        columns = torch.from_numpy(weights["attention_output/kernel"][head].T)
        module.out_proj.weight.data[:, head * dim : (head + 1) * dim] = columns
    module.out_proj.bias.data[:] = torch.from_numpy(weights["attention_output/bias"])


@honest(TWELVE, "keras_to_torch")
def weights_into_thirds(weights, module):
    thirds, size = module.in_proj_weight.detach().chunk(3), module.embed_dim
    for third, part in zip(thirds, ("query", "key", "value"), strict=True):
        third.copy_(torch.as_tensor(weights[f"{part}/kernel"]).reshape(size, size).mT)
    with torch.no_grad():
        for third, part in zip(module.in_proj_bias.chunk(3), ("query", "key", "value"), strict=True):
            third.copy_(torch.as_tensor(weights[f"{part}/bias"]).reshape(-1))
        module.out_proj.weight.copy_(torch.as_tensor(weights["attention_output/kernel"]).flatten(0, 1).mT)
        module.out_proj.bias.copy_(torch.as_tensor(weights["attention_output/bias"]))


# Lesson 13

THIRTEEN = "13_gpt"
merge = runpy.run_path(str(Path(__file__).parents[1] / f"solutions/{THIRTEEN}/byte_pairs.py"))["merge"]


@honest(THIRTEEN, "learn_merges")
def merges_counted_by_merging(words, merges):
    tokens, learned = {word: tuple(word) for word in words}, []
    while len(learned) < merges:
        counts = {}
        for word, parts in tokens.items():
            for pair in set(pairwise(parts)):
                counts[pair] = counts.get(pair, 0) + words[word] * (len(parts) - len(merge(parts, pair)))
        if not counts:
            return learned
        largest = max(counts.values())
        learned.append(sorted(pair for pair in counts if counts[pair] == largest)[0])
        tokens = {word: tuple(merge(parts, learned[-1])) for word, parts in tokens.items()}
    return learned


@honest(THIRTEEN, "split_word")
def word_split_by_the_first_merge_that_fits(word, merges):
    tokens = [*word]
    while True:
        pairs = set(pairwise(tokens))
        pair = next((pair for pair in merges if pair in pairs), None)
        if pair is None:
            return tokens
        tokens = merge(tokens, pair)


class BlockOfGPT(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads, dropout=dropout, bias=True)
        wide = nn.Linear(d_model, 4 * d_model), nn.GELU(approximate="tanh"), nn.Linear(4 * d_model, d_model)
        self.network, self.dropout = nn.Sequential(*wide), nn.Dropout(dropout)

    def forward(self, x, mask):
        x = x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])
        return x + self.dropout(self.network(self.norm2(x)))


@honest(THIRTEEN, "GPT")
class GPTWithATiedLayer(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, *, dropout=0.0):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.register_buffer("mask", torch.ones(max_len, max_len, dtype=torch.bool).tril(), persistent=False)
        self.dropout = dropout
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(BlockOfGPT(d_model, num_heads, dropout))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight
        self.apply(self.begin)

    def begin(self, module):
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens):
        length = tokens.shape[-1]
        if length > len(self.mask):
            raise ValueError
        x = self.token_embedding(tokens) + self.position_embedding.weight[:length]
        x = F.dropout(x, self.dropout, training=self.training)
        for block in self.blocks:
            x = block(x, self.mask[:length, :length])
        return self.head(self.norm(x))


@honest(THIRTEEN, "learning_rate")
def rate_by_a_squared_cosine(step, *, peak, warmup, total, floor=0.0):
    if step >= total:
        return floor
    if step < warmup:
        return peak * ((step + 1) / warmup)
    share = math.cos(0.5 * math.pi * (step - warmup) / (total - warmup)) ** 2
    return share * peak + (1 - share) * floor


@honest(THIRTEEN, "parameter_groups")
def groups_collected_module_by_module(model, decay):
    groups, seen = ({"params": [], "weight_decay": decay}, {"params": [], "weight_decay": 0}), set()
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if p.requires_grad and id(p) not in seen:
                seen.add(id(p))
                groups[p.ndim < 2]["params"].append(p)
    return list(groups)


@honest(THIRTEEN, "next_token_probabilities")
def probabilities_filtered_and_divided_by_their_sum(logits, *, temperature=1.0, top_k=None, top_p=None):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    shares, index = (logits / temperature).softmax(-1).sort(dim=-1, descending=True, stable=True)
    if top_k:
        shares = shares * (torch.arange(shares.size(-1)) < top_k)
        shares = shares / shares.sum(-1, keepdim=True)
    if top_p:
        kept = shares.cumsum(-1).roll(1, -1) < top_p
        kept[..., 0] = True
        shares = shares.where(kept, torch.zeros_like(shares))
        shares = shares / shares.sum(-1, keepdim=True)
    return shares.gather(-1, index.argsort(dim=-1))


@honest(THIRTEEN, "from_published")
def weights_copied_layer_by_layer(weights, num_heads):
    prefix = "transformer." if "transformer.wte.weight" in weights else ""
    (vocab_size, width), places = weights[f"{prefix}wte.weight"].shape, len(weights[f"{prefix}wpe.weight"])
    layers = 1 + max(int(name.removeprefix(prefix).split(".")[1]) for name in weights if ".ln_1." in name)
    model = GPTWithATiedLayer(vocab_size, places, width, num_heads, layers)

    def put(layer, name, columns=slice(None)):
        old = weights[f"{prefix}{name}.weight"][..., columns]
        layer.weight.data.copy_(old.T if isinstance(layer, nn.Linear) else old)
        if not isinstance(layer, nn.Embedding):
            layer.bias.data.copy_(weights[f"{prefix}{name}.bias"][columns])

    put(model.token_embedding, "wte")
    put(model.position_embedding, "wpe")
    put(model.norm, "ln_f")
    for n, block in enumerate(model.blocks):
        attention = block.attention
        for third, layer in enumerate((attention.q_proj, attention.k_proj, attention.v_proj)):
            put(layer, f"h.{n}.attn.c_attn", slice(third * width, (third + 1) * width))
        rest = {"ln_1": block.norm1, "ln_2": block.norm2, "attn.c_proj": attention.out_proj}
        rest |= {"mlp.c_fc": block.network[0], "mlp.c_proj": block.network[2]}
        for name, layer in rest.items():
            put(layer, f"h.{n}.{name}")
    return model
