"""Right answers of lesson 2 written another way, as edits of its solutions. Never given to students."""

import torch
import torch.nn.functional as F

from autograder.checks import solution

project = solution("project_qkv")
project.variant("by_einsum", body='return tuple(torch.einsum("ble,ed->bld", x, w) for w in (w_q, w_k, w_v))')
project.variant("at_once", body="""
    return (x @ torch.cat([w_q, w_k, w_v], dim=1)).split([w_q.size(1), w_k.size(1), w_v.size(1)], dim=-1)""")
project.variant("in_a_loop", body="return [torch.stack([sentence @ w for sentence in x]) for w in (w_q, w_k, w_v)]")

scores = solution("attention_scores")
scores.variant("by_einsum", body='return torch.einsum("...ld,...sd->...ls", query, key)')
scores.variant("in_float32", body="return (query.float() @ key.float().mT).to(query.dtype)")
scores.variant("summed", body="return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)")

attend = solution("attend")
attend.variant("in_float32", body="""
    weights = F.softmax(torch.matmul(query, key.transpose(-2, -1)), dim=-1, dtype=torch.float32).to(query.dtype)
    return torch.matmul(weights, value), weights""")
attend.variant("with_an_epsilon", body="""
    e = (query @ key.mT - (query @ key.mT).amax(dim=-1, keepdim=True)).exp()
    weights = e / (e.sum(dim=-1, keepdim=True) + 1e-8)
    return weights @ value, weights""")
attend.variant("by_einsum", body="""
    weights = torch.einsum("...ld,...sd->...ls", query, key).softmax(-1)
    return torch.einsum("...ls,...sd->...ld", weights, value), weights""")

puzzle = solution("copy_previous_qk")
puzzle.variant("one_position_each", body="""
    query, key = torch.zeros(length, length), torch.zeros(length, length)
    for i in range(length):
        key[i, i] = 40.0
        query[i, max(i - 1, 0)] = 40.0
    return query, key""")
puzzle.variant("one_hot_in_float64", body="""
    key = F.one_hot(torch.arange(length), length).double()
    return 100 * torch.cat([key[:1], key[:-1]]), key""")
