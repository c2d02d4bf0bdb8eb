"""Right answers of lesson 4 written another way, as edits of its solutions. Never given to students."""

import math

import torch

from autograder.checks import solution

softmax = solution("stable_softmax")
softmax.variant("in_float32", body="""
    e = (x - x.max(dim=dim, keepdim=True).values).float().exp()
    return (e / e.sum(dim=dim, keepdim=True)).to(x.dtype)""")
softmax.variant("with_a_detached_shift", body="""
    e = torch.exp(x - x.detach().amax(dim, keepdim=True))
    return e / (e.sum(dim, keepdim=True) + 1e-12)""")
softmax.variant("moved_to_the_end", body="""
    e = (x.movedim(dim, -1) - x.movedim(dim, -1).amax(-1, keepdim=True)).exp()
    return (e / e.sum(-1, keepdim=True)).movedim(-1, dim)""")

temperature = solution("temperature_softmax")
temperature.variant("by_hand", body="""
    if not temperature > 0:
        raise ValueError("a temperature is above 0")
    e = ((x - x.amax(dim, keepdim=True)) / temperature).exp()
    return e / e.sum(dim=dim, keepdim=True)""")
temperature.variant("in_float32", body="""
    if temperature <= 0:
        raise ValueError(temperature)
    return ((x.float() - x.float().amax(dim=dim, keepdim=True)) / temperature).softmax(dim=dim).to(x.dtype)""")

entropy = solution("attention_entropy")
entropy.variant("with_a_clamp", body="return -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1)")
entropy.variant("with_a_tiny_epsilon", body="""
    if weights.dtype == torch.float64:
        return -torch.einsum("...n,...n->...", weights, (weights + 1e-12).log())
    return -(weights * weights.clamp(min=1e-30).log()).sum(dim=-1)""")

streaming = solution("streaming_attend")
streaming.variant("one_by_one", body="""
    largest, total, mixed = -math.inf, 0.0, torch.zeros_like(values[0])
    for start in range(0, len(scores), chunk):
        for s, v in zip(scores[start : start + chunk].tolist(), values[start : start + chunk], strict=True):
            new = max(largest, s)
            shrink = math.exp(largest - new)
            total, mixed = total * shrink + math.exp(s - new), mixed * shrink + math.exp(s - new) * v
            largest = new
    return mixed / total""")
streaming.variant("by_slices", body="""
    m, total, mixed = torch.full((), -math.inf, dtype=scores.dtype), 0, 0
    for i in range(0, scores.size(0), chunk):
        new = torch.max(m, scores[i : i + chunk].max())
        p, shrink, m = torch.exp(scores[i : i + chunk] - new), torch.exp(m - new), new
        total = total * shrink + p.sum()
        mixed = mixed * shrink + (p[:, None] * values[i : i + chunk]).sum(dim=0)
    return mixed / (total + 1e-9)""")
