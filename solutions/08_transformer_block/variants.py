"""Right answers of lesson 8 written another way, as edits of its solutions. Never given to students."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks import solution

LAYERS = "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))"
NETWORK = """self.network = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
self.linear1, self.linear2 = (self.network[0], self.network[2])"""
HIDDEN, ADDED = "hidden = self.linear1(self.norm2(x)).relu()", "x + self.dropout(self.linear2(hidden))"

block = solution("TransformerBlock")
block.variant("with_parts", LAYERS, NETWORK, "self.norm1, self.norm2 = (nn.LayerNorm(d_model), nn.LayerNorm(d_model))",
    "self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))\nself.norm1, self.norm2 = self.norms",
    HIDDEN, "hidden = self.network(self.norm2(x))", ADDED, "x + self.dropout(hidden)")
block.variant("of_functions", "self.dropout = nn.Dropout(dropout)", "self.p, self.width = dropout, d_model",
    method="forward", body="""
    n = F.layer_norm(x, (self.width,), self.norm1.weight, self.norm1.bias)
    total = torch.add(x, F.dropout(self.attention(query=n, mask=mask)[0], p=self.p, training=self.training))
    hidden = torch.clamp(F.linear(self.norm2(total), self.linear1.weight, self.linear1.bias), min=0)
    added = torch.einsum("blf,ef->ble", hidden, self.linear2.weight) + self.linear2.bias
    return total + F.dropout(added, p=self.p, training=self.training)""")
block.variant("normed_by_hand", method="forward", body="""
    def normed(norm, x):
        centered = x - x.mean(dim=-1, keepdim=True)
        return norm.weight * centered / (centered.square().mean(dim=-1, keepdim=True) + norm.eps).sqrt() + norm.bias

    n = normed(self.norm1, x)
    x = x + self.dropout(self.attention(n, key=n, value=n, mask=mask)[0])
    return x + self.dropout(self.linear2(nn.ReLU(inplace=True)(self.linear1(normed(self.norm2, x)))))""")
block.variant("in_a_loop_over_branches", "self.dropout = nn.Dropout(dropout)",
    'self.add_module("dropout", nn.Dropout(dropout))\nself.register_buffer("one", torch.tensor(1.0), persistent=False)',
    method="forward", body="""
    branches = (
        lambda x: self.attention(self.norm1(x), mask=mask)[0],
        lambda x: self.linear2(torch.maximum(h := self.linear1(self.norm2(x)), torch.zeros_like(h))),
    )
    for branch in branches:
        x = x + self.one * self.dropout(branch(x))
    return x""")

decoder = solution("DecoderBlock")
decoder.variant("of_modules", LAYERS, NETWORK, "self.dropout = nn.Dropout(dropout)",
    'for i in (1, 2, 3):\n    setattr(self, f"dropout{i}", nn.Dropout(dropout))', method="forward", body="""
    n = self.norm1(x)
    x = x + self.dropout1(self.self_attention(n, n, n, self_mask)[0])
    x = x + self.dropout2(self.cross_attention(self.norm2(x), memory, memory, memory_mask)[0])
    return x + self.dropout3(self.network(self.norm3(x)))""")
decoder.variant("in_place_in_a_loop", method="forward", body="""
    branches = (
        (self.norm1, lambda n: self.self_attention(n, mask=self_mask)[0]),
        (self.norm2, lambda n: self.cross_attention(n, memory, mask=memory_mask)[0]),
        (self.norm3, lambda n: self.linear2(self.linear1(n).clamp_min(0))),
    )
    for norm, branch in branches:
        added = branch(norm(x))
        x = x.clone()
        x += F.dropout(added, self.dropout.p, training=self.training)
    return x""")
decoder.variant("position_by_position", "x + self.dropout(self.linear2(hidden))", """torch.stack(
    [t + self.dropout(self.linear2(h)) for t, h in zip(x.unbind(dim=1), hidden.unbind(dim=1), strict=True)], dim=1)""")

decode = solution("greedy_decode")
decode.variant("into_a_buffer", body="""
    tokens = torch.empty(batch, length + 1, dtype=torch.long)
    tokens[:, 0] = start
    for t in range(length):
        tokens[:, t + 1] = step(tokens[:, : t + 1])[:, t].max(dim=-1).indices
    return tokens[:, 1:]""")
decode.variant("by_probabilities", body="""
    tokens = torch.ones(batch, 1, dtype=torch.long) * start
    with torch.no_grad():
        while tokens.size(1) <= length:
            shares = F.softmax(step(tokens)[:, -1, :], dim=-1)
            tokens = torch.hstack([tokens, shares.topk(1, dim=-1).indices])
    return tokens[:, -length:]""")
decode.variant("in_python_numbers", body="""
    rows = [[start] for _ in range(batch)]
    for _ in range(length):
        for row, logits in zip(rows, step(torch.tensor(rows)), strict=True):
            row.append(int(logits[-1].argmax()))
    return torch.tensor([row[1:] for row in rows])""")
decode.variant("in_int32", "torch.full((batch, 1), start)", "torch.full((batch, 1), start, dtype=torch.int32)",
    ".argmax(dim=-1, keepdim=True)", ".sort(dim=-1, descending=True).indices[:, :1].to(torch.int32)")
decode.variant("recursively", body="""
    def more(tokens):
        if tokens.shape[1] == length + 1:
            return tokens[:, 1:]
        return more(torch.cat((tokens, step(tokens).argmax(-1)[:, -1:]), -1))

    return more(torch.full(size=(batch, 1), fill_value=start))""")
