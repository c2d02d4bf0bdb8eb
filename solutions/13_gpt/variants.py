"""Right answers of lesson 13 written another way, as edits of its solutions. Never given to students."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks import solution

merges = solution("learn_merges")
merges.variant("counted_by_merging", body="""
    tokens, learned = {word: tuple(word) for word in words}, []
    while len(learned) < merges:
        counts = {}
        for word, parts in tokens.items():
            for pair in set(itertools.pairwise(parts)):
                counts[pair] = counts.get(pair, 0) + words[word] * (len(parts) - len(merge(parts, pair)))
        if not counts:
            return learned
        largest = max(counts.values())
        learned.append(sorted(pair for pair in counts if counts[pair] == largest)[0])
        tokens = {word: tuple(merge(parts, learned[-1])) for word, parts in tokens.items()}
    return learned""")

split = solution("split_word")
split.variant("by_the_first_merge_that_fits", body="""
    tokens = [*word]
    while pair := next((pair for pair in merges if pair in set(itertools.pairwise(tokens))), None):
        tokens = merge(tokens, pair)
    return tokens""")

gpt = solution("GPT")
gpt.variant("with_a_tied_layer_and_a_buffer", "self.norm = nn.LayerNorm(d_model)", """self.norm = nn.LayerNorm(d_model)
self.register_buffer("mask", torch.ones(max_len, max_len, dtype=torch.bool).tril(), persistent=False)
self.head = nn.Linear(d_model, vocab_size, bias=False)
self.head.weight = self.token_embedding.weight""",
    "causal = positions[:, None] >= positions", "causal = self.mask[:length, :length]",
    "self.position_embedding(positions)", "self.position_embedding.weight[:length]",
    "x = self.dropout(x)", "x = F.dropout(x, self.dropout.p, training=self.training)",
    "self.norm(x) @ self.token_embedding.weight.mT", "self.head(self.norm(x))",
    "for parameter in self.parameters():\n    if parameter.dim() == 2:\n        nn.init.normal_(parameter, std=0.02)",
    "for module in self.modules():\n    if isinstance(module, nn.Linear | nn.Embedding):\n"
    "        nn.init.normal_(module.weight, std=0.02)")

rate = solution("learning_rate")
rate.variant("by_a_squared_cosine", body="""
    if step >= total:
        return floor
    if step < warmup:
        return peak * ((step + 1) / warmup)
    share = math.cos(0.5 * math.pi * (step - warmup) / (total - warmup)) ** 2
    return share * peak + (1 - share) * floor""")

groups = solution("parameter_groups")
groups.variant("collected_module_by_module", body="""
    groups, seen = ({"params": [], "weight_decay": decay}, {"params": [], "weight_decay": 0}), set()
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if p.requires_grad and id(p) not in seen:
                seen.add(id(p))
                groups[p.ndim < 2]["params"].append(p)
    return list(groups)""")

chances = solution("next_token_probabilities")
chances.variant("filtered_and_divided_by_their_sum", body="""
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
    return shares.gather(-1, index.argsort(dim=-1))""")

published = solution("from_published")
published.variant("copied_tensor_by_tensor", "model.load_state_dict(state)",
    "for name, parameter in model.named_parameters():\n    parameter.data.copy_(state[name])")
