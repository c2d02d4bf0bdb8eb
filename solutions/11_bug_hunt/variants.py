"""Right answers of lesson 11 written another way, as edits of its solutions. Never given to students."""

import copy
import math

import torch
import torch.nn.functional as F

from autograder.checks import solution


def drawn(*shape, seed=0, dtype=torch.float64):
    """Draw a table."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def agree(a, b):
    """Say whether two results are the same."""
    return a.shape == b.shape and bool((a.double() - b.double()).abs().max() < 1e-4)


def called(attention, *inputs):
    """Call an attention on copies."""
    return attention(*(None if x is None else x.clone() for x in inputs)).double()


def side_effects(attention, mask, *tables):
    """Say what an attention does beside answering."""
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


example = solution("revealing_example")
example.variant("from_the_global_stream", body="""
    torch.manual_seed(7)
    query, key, value = (torch.randn(2, 2, *s, dtype=torch.float64) for s in ((3, 5), (4, 5), (4, 2)))
    return query, key, value, torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]]) > 0""")
example.variant("with_three_axes_in_a_list", body="""
    mask = torch.ones(2, 3, 6, dtype=torch.bool).tril()
    mask[1, 2] = False
    return [drawn(2, 3, 5), drawn(2, 6, 5, seed=1).requires_grad_(), drawn(1, 6, 8, seed=2), mask]""")

apart = solution("max_difference")
apart.variant("with_deep_copies", body="""
    generator = torch.Generator()
    generator.manual_seed(seed)
    largest = torch.zeros((), dtype=torch.float64)
    for _ in range(trials):
        inputs = random_inputs(generator)
        x, y = a(*copy.deepcopy(inputs)), b(*copy.deepcopy(inputs))
        if x.shape != y.shape or not (x.isfinite().all() and y.isfinite().all()):
            return math.inf
        largest = torch.maximum(largest, torch.dist(x.double(), y.double(), p=math.inf))
    return largest.item()""")
apart.variant("in_python_numbers_after_all_draws", body="""
    generator, largest = torch.Generator().manual_seed(seed), [0]
    for draw in [random_inputs(generator) for _ in range(trials)]:
        x, y = (f(*(t.clone() for t in draw)).flatten().tolist() for f in (a, b))
        numbers = [abs(p - q) for p, q in zip(x, y, strict=False)]
        largest.append(max(numbers) if len(x) == len(y) and all(map(math.isfinite, numbers)) else math.inf)
    return max(largest)""")

bugs = solution("find_bugs")
bugs.variant("in_float32_and_plain_tables", body="""
    single = torch.float32
    query, key = drawn(4, 6, dtype=single), drawn(5, 6, seed=1, dtype=single)
    value = drawn(5, 3, seed=2, dtype=single)
    found, same_key = set(), key[:1].repeat(5, 1)
    for lead in ((), (1, 1), (4, 1), (1, 3), (3,)):
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
    return found""")

module = solution("RepairedAttention")
module.variant("by_pytorch", method="forward", body="""
    layers = (self.q_proj, self.k_proj, self.v_proj)
    q, k, v = (p(x).view(*x.shape[:2], self.num_heads, -1).transpose(1, 2) for p in layers)
    dropped = self.dropout if self.training else 0.0
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropped)
    return self.out_proj(mixed.transpose(1, 2).reshape(x.shape))""")
module.variant("with_einsum", method="forward", body="""
    q, k, v = (p(x).unflatten(2, (self.num_heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
    scores = torch.einsum("blhd,bshd->bhls", q, k) * q.size(-1) ** -0.5
    scores += torch.full(scores.shape[-2:], -torch.inf, dtype=x.dtype).triu(1)
    dropped = torch.nn.Dropout(self.dropout).train(self.training)(scores.softmax(-1))
    return self.out_proj(torch.einsum("bhls,bshd->blhd", dropped, v).flatten(2))""")
module.variant("head_by_head_and_divided_again", method="forward", body="""
    layers, heads = (self.q_proj, self.k_proj, self.v_proj), []
    seen = torch.ones(x.size(1), x.size(1), dtype=x.dtype).tril()
    for q, k, v in zip(*(layer(x).chunk(self.num_heads, dim=-1) for layer in layers), strict=True):
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) * seen
        weights = F.dropout(weights / weights.sum(-1, keepdim=True), self.dropout, self.training)
        heads.append(weights @ v)
    return self.out_proj(torch.cat(heads, dim=-1))""")
