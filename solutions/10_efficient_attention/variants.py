"""Right answers of lesson 10 written another way, as edits of its solutions. Never given to students."""

import math

import torch
import torch.nn.functional as F

from autograder.checks import solution


def parts_of(length, block):
    """Cut so many keys into blocks."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


cost = solution("attention_cost")
cost.variant("added_up", body="""
    result = {"score_flops": 0, "mix_flops": 0, "score_bytes": 0, "kv_bytes": 0}
    for _ in range(batch * heads):
        result["score_flops"] += q_len * k_len * d_head + q_len * k_len * d_head
        result["mix_flops"] += 2 * q_len * d_head * k_len
        result["score_bytes"] += q_len * k_len * bytes_per_el
        result["kv_bytes"] += 2 * k_len * d_head * bytes_per_el
    return result""")
cost.variant("of_tensors_without_memory", "batch * heads * q_len * k_len",
    'torch.empty(batch, heads, q_len, k_len, device="meta").numel()')

cache = solution("KVCache")
cache.variant("lists_joined_at_the_end", code="""
    class KVCache:
        def __init__(self):
            self.parts = []

        def __len__(self):
            return sum(key.shape[2] for key, _ in self.parts)

        def append(self, key, value):
            self.parts.append((key.clone(), value.clone()))
            keys, values = zip(*self.parts, strict=True)
            return [torch.cat(keys, dim=2), torch.cat(values, dim=2)]""")
cache.variant("room_that_grows", code="""
    class KVCache:
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
            return keys, values""")
cache.variant("detached", "(key.clone(), value.clone())", "(key.detach().clone(), value.detach().clone())",
    "[self.key, key]", "(self.key, key.detach())", "[self.value, value]", "(self.value, value.detach())")

step = solution("decode_step")
step.variant("token_by_token", body="""
    rows = []
    for x in x_new.split(1, dim=1):
        q, k, v = (p(x).unflatten(-1, (mha.num_heads, -1)).movedim(1, 2) for p in (mha.q_proj, mha.k_proj, mha.v_proj))
        keys, values = cache.append(k, v)
        weights = (q @ keys.transpose(-2, -1) * q.size(-1) ** -0.5).softmax(dim=-1)
        rows.append(mha.out_proj((weights @ values).transpose(1, 2).flatten(2)))
    return torch.cat(rows, dim=1)""")
step.variant("with_plain_products_in_float32", body="""
    b, t, e = x_new.shape
    start, h = len(cache), mha.num_heads
    layers = mha.q_proj, mha.k_proj, mha.v_proj
    q, k, v = (F.linear(x_new, p.weight, p.bias).reshape(b, t, h, e // h).permute(0, 2, 1, 3) for p in layers)
    keys, values = cache.append(key=k, value=v)
    later = torch.arange(len(cache)) > torch.arange(start, start + t)[:, None]
    scores = (q @ keys.mT).float() / (e // h) ** 0.5 + torch.zeros(t, len(cache)).masked_fill(later, -torch.inf)
    out = scores.softmax(dim=-1).to(values.dtype) @ values
    return mha.out_proj(out.permute(0, 2, 1, 3).reshape(b, t, e))""")
step.variant("by_a_causal_mask_and_a_large_number", "q.new_ones(new, length).triu(length - new + 1).bool()",
    "~torch.ones(length, length).tril().bool()[-new:]", "-torch.inf", "-1e9",
    "scores.softmax(dim=-1) @ values", "mha.dropout(scores.softmax(dim=-1)).matmul(values)")

repeat = solution("repeat_kv")
repeat.variant("expanded_unless_once", body="""
    return x if n_rep == 1 else x.unsqueeze(2).expand(-1, -1, n_rep, -1, -1).flatten(1, 2)""")
repeat.variant("stacked", body="return torch.stack([x[:, g] for g in range(x.size(1)) for _ in range(n_rep)], dim=1)")
repeat.variant("by_index", body="return x[:, torch.arange(x.size(1) * n_rep) // n_rep]")
repeat.variant("tiled", body="return x.repeat(1, n_rep, 1, 1).unflatten(1, (n_rep, -1)).transpose(1, 2).flatten(1, 2)")
repeat.variant("joined", body="return torch.cat([head for head in x.split(1, dim=1) for _ in range(n_rep)], dim=1)")
repeat.variant("by_einsum", body="""
    return torch.einsum("bgld,n->bgnld", x, torch.ones(n_rep, dtype=x.dtype)).flatten(1, 2)""")
repeat.variant("filled_in", body="""
    out = x.new_empty(x.size(0), x.size(1) * n_rep, *x.shape[2:])
    for i in range(n_rep):
        out[:, i::n_rep] = x
    return out""")

window = solution("sliding_window_mask")
window.variant("in_a_loop", body="""
    k_len = q_len if k_len is None else k_len
    mask = torch.zeros((q_len, k_len)).bool()
    for i in range(k_len - q_len, k_len):
        mask[i - k_len + q_len, max(0, i - window + 1) : i + 1] = True
    return mask""")
window.variant("entry_by_entry", body="""
    k_len = q_len if k_len is None else k_len
    return torch.tensor([[0 <= i + k_len - q_len - j < window for j in range(k_len)] for i in range(q_len)])""")
window.variant("as_a_difference", body="""
    square = torch.ones(k_len or q_len, k_len or q_len, dtype=torch.bool)
    return (square.tril() ^ square.tril(-window))[-q_len:]""")
window.variant("by_distance", "(key <= query) & (key > query - window)",
    "torch.logical_and((query - key.unsqueeze(0)).ge(0), (query - key).lt(window))")

blockwise = solution("blockwise_attention")
blockwise.variant("in_two_passes", body="""
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
    return torch.where(total > 0, output / torch.where(total > 0, total, 1), 0)""")
blockwise.variant("by_logsumexp", body="""
    lowest = torch.finfo(query.dtype).min
    out = torch.zeros(*query.shape[:-1], value.size(-1), dtype=query.dtype)
    lse = torch.full((*query.shape[:-1], 1), lowest, dtype=query.dtype)
    for part in parts_of(key.size(-2), block):
        scores = (query * query.size(-1) ** -0.5) @ key[..., part, :].transpose(-2, -1)
        scores = scores if mask is None else scores.masked_fill(~mask[..., part], -torch.inf)
        seen = scores.isfinite().any(dim=-1, keepdim=True)
        own = scores.masked_fill(~seen, lowest).logsumexp(dim=-1, keepdim=True)
        mixture, new = scores.masked_fill(~seen, 0.0).softmax(dim=-1) @ value[..., part, :], torch.logaddexp(lse, own)
        out = torch.where(seen, out * (lse - new).exp() + mixture * (own - new).exp(), out)
        lse = torch.where(seen, new, lse)
    return out""")
blockwise.variant("in_float32", "shape = (*query.shape[:-1], 1)", """if query.dtype == torch.float64:
    q, k, v = (t.float() for t in (query, key, value))
    return blockwise_attention(q, k, v, block, mask).to(query.dtype)
shape = (*query.shape[:-1], 1)""")
