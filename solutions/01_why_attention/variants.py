"""Right answers of lesson 1 written another way, as edits of its solutions. Never given to students."""

import torch
import torch.nn.functional as F

from autograder.checks import solution

lookup = solution("soft_lookup")
lookup.variant("in_a_loop", body="""
    shares = torch.stack([k @ query / temperature for k in key]).softmax(dim=0)
    return sum(share * v for share, v in zip(shares, value, strict=True))""")
lookup.variant("with_an_epsilon", body="""
    e = (key @ query / temperature - (key @ query / temperature).amax()).exp()
    return torch.einsum("n,nd->d", e / (e.sum() + 1e-8), value)""")
lookup.variant("in_float32", ".softmax(dim=-1)", ".softmax(dim=-1, dtype=torch.float32).to(key.dtype)")
lookup.variant("scaling_the_query", body="""
    return (F.softmax((query / temperature) @ key.T, dim=0)[:, None] * value).sum(0)""")

scores = solution("additive_scores")
scores.variant("in_loops", body="""
    tables = [[torch.stack([torch.tanh(w_q @ x + w_k @ y) @ v for y in ys]) for x in xs]
        for xs, ys in zip(query, key, strict=True)]
    return torch.stack([torch.stack(table) for table in tables])""")
scores.variant("by_linear", body="""
    q, k = F.linear(query, w_q)[:, :, None], F.linear(key, w_k)[:, None]
    return F.linear((q + k).tanh(), v[None]).squeeze(-1)""")
scores.variant("tanh_by_sigmoid", "torch.tanh(q[:, :, None] + k[:, None]) @ v",
    "((2 * torch.sigmoid(2 * (q[:, :, None] + k[:, None])) - 1) * v).sum(dim=-1)")

attention = solution("additive_attention")
attention.variant("in_float32", ".softmax(dim=-1)", ".softmax(dim=-1, dtype=torch.float32).to(value.dtype)",
    "weights @ value", "torch.bmm(weights, value)")
attention.variant("by_hand_in_a_list", body="""
    e = additive_scores(query, key, w_q, w_k, v).exp()
    weights = e / (e.sum(dim=2, keepdim=True) + 1e-12)
    return [torch.einsum("bls,bsd->bld", weights, value), weights]""")
attention.variant("summed", ".softmax(dim=-1)", ".log_softmax(dim=-1).exp()",
    "weights @ value", "(weights[..., None] * value[:, None]).sum(dim=2)")
