"""Right answers of lesson 5 written another way, as edits of its solutions. Never given to students."""

import math

import torch

from autograder.checks import solution

causal = solution("causal_mask")
causal.variant("by_comparison", body="""
    k_len = q_len if k_len is None else k_len
    return torch.arange(k_len, device=device) <= torch.arange(k_len - q_len, k_len, device=device)[:, None]""")
causal.variant("moved_there", body="""
    k_len = k_len or q_len
    mask = torch.zeros(q_len, k_len, dtype=torch.bool)
    for i in range(q_len):
        mask[i, : k_len - q_len + i + 1] = True
    return mask if device is None else mask.to(device)""")

padding = solution("padding_mask")
padding.variant("in_a_loop", body="""
    mask = torch.zeros(len(lengths), 1, 1, max_len, dtype=torch.bool, device=lengths.device)
    for b, length in enumerate(lengths):
        mask[b, ..., :length] = True
    return mask""")

combine = solution("combine_masks")
combine.variant("by_reduce", body="""
    given = [mask for mask in masks if mask is not None]
    return torch.stack(torch.broadcast_tensors(*given)).all(dim=0) if given else None""")
combine.variant("by_logical_and", body="""
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask.clone() if result is None else torch.logical_and(result, mask)
    return result""")

softmax = solution("masked_softmax")
softmax.variant("by_where", body="""
    if mask is None:
        return scores.softmax(dim=-1, dtype=torch.float32).to(scores.dtype)
    empty = ~mask.any(dim=-1, keepdim=True)
    return torch.where(mask, torch.where(mask | empty, scores, -torch.inf).softmax(dim=-1), 0.0)""")
softmax.variant("by_hand", body="""
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    largest = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(dim=-1, keepdim=True)
    e = (scores - largest).masked_fill(~mask, -torch.inf).exp()
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))""")

attention = solution("scaled_dot_product_attention")
attention.variant("with_a_large_number", body="""
    scores = query.double() @ key.double().mT * (query.size(-1) ** -0.5 if scale is None else scale)
    weights = scores.softmax(-1) if mask is None else scores.masked_fill(~mask, -1e30).softmax(-1) * mask
    return weights.to(query.dtype) @ value, weights.to(query.dtype)""")
attention.variant("in_float32", body="""
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.einsum("...ld,...sd->...ls", query, key).float() * factor
    weights = masked_softmax(scores, mask).to(query.dtype)
    return torch.einsum("...ls,...sd->...ld", weights, value), weights""")

leaks = solution("leaks")
leaks.variant("by_the_jacobian", body="""
    x = torch.randn(1, length, d_model)
    table = torch.autograd.functional.jacobian(attention, x)[0, :, :, 0].abs().amax(dim=(1, 3))  # (L, L)
    return bool((table.triu(1) > 1e-4).any())""")
leaks.variant("with_large_changes_in_numpys_way", body="""
    x, moved = torch.rand(1, length, d_model), []
    for t in range(length):
        other = x.clone()
        other[0, t] += 5 * torch.randn(d_model)
        moved.append(not torch.allclose(attention(other)[0, :t], attention(x)[0, :t], atol=1e-4))
    return any(moved)""")
