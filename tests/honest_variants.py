"""Right answers that differ in their numerics: loops, einsum, other orders of sums, float32 inside, tiny epsilons."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


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
    return by_hand(x / temperature, dim)


@honest(FOUR, "temperature_softmax")
def hot_in_float32(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(temperature)
    return in_float32(x / temperature, dim)


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
        other[0, t] += 5
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


@honest(SIX, "merge_heads")
def merged_by_cat(x):
    return torch.cat(list(x.unbind(dim=1)), dim=-1)


@honest(SIX, "merge_heads")
def merged_contiguously(x):
    b, h, length, d = x.shape
    return x.transpose(1, 2).contiguous().view(b, length, h * d)


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


@honest(SIX, "count_parameters")
def counted_on_a_module(d_model, num_heads, bias):
    layer = nn.Linear(d_model, d_model, bias=bias, device="meta")
    return 4 * sum(p.numel() for p in layer.parameters())


@honest(SIX, "count_parameters")
def counted_by_hand(d_model, num_heads, bias):
    return 4 * d_model**2 + bool(bias) * 4 * d_model
