"""Right answers of lesson 6 written another way, as edits of its solutions. Never given to students."""

import torch

from autograder.checks import solution

split = solution("split_heads")
split.variant("by_chunks", "x.unflatten(-1, (num_heads, -1)).transpose(1, 2)",
    "torch.stack(x.chunk(num_heads, dim=-1), dim=1)")
split.variant("by_reshape", "x.unflatten(-1, (num_heads, -1)).transpose(1, 2)",
    "x.reshape(*x.shape[:2], num_heads, x.size(-1) // num_heads).permute(0, 2, 1, 3)")

attention = solution("MultiHeadAttention")
attention.variant("head_by_head", method="forward", body="""
    given = query, query if key is None else key, (query if key is None else key) if value is None else value
    layers = (self.q_proj, self.k_proj, self.v_proj)
    q, k, v = (p(t).chunk(self.num_heads, dim=-1) for p, t in zip(layers, given, strict=True))
    mask = mask.unsqueeze(1) if mask is not None and mask.ndim == 3 else mask
    scores = torch.stack([a @ b.mT for a, b in zip(q, k, strict=True)], dim=1) * q[0].size(-1) ** -0.5
    weights = scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -1e30).softmax(-1) * mask
    kept = self.dropout(weights)
    heads = [kept[:, h] @ own for h, own in enumerate(v)]
    return self.out_proj(torch.cat(heads, dim=-1)), weights if need_weights else None""")

copying = solution("copy_torch_weights")
copying.variant("through_data", "layer.weight.copy_(weight)", "layer.weight.data[:] = weight.data",
    "layer.bias.copy_(bias)", "layer.bias.data[:] = bias.data")
copying.variant("by_a_state_dict", body="""
    state = {}
    for kind in ("weight", "bias"):
        stacked = getattr(reference, f"in_proj_{kind}")
        if stacked is not None:
            state |= {f"{n}_proj.{kind}": part for n, part in zip("qkv", stacked.chunk(3), strict=True)}
            state[f"out_proj.{kind}"] = getattr(reference.out_proj, kind)
    mine.load_state_dict(state)""")
