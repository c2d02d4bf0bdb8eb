"""Right answers of lesson 9 written another way, as edits of its solutions. Never given to students."""

import torch
from torch import nn
from torch.nn.utils import parametrize

from autograder.checks import solution


def columns_of(module, head):
    """Return which columns of the last matrix read a head."""
    d = module.out_proj.weight.shape[1] // module.num_heads
    return slice(d * head, d * head + d)


batch = solution("make_repeating_batch")
batch.variant("in_python_lists", body="""
    rows, periods = [], []
    for _ in range(batch):
        row = torch.randperm(vocab, generator=generator).tolist()
        periods.append(min_period + torch.randint(length // 2 - min_period + 1, (), generator=generator).item())
        rows.append([row[i % periods[-1]] for i in range(length)])
    return torch.tensor(rows), torch.tensor(periods)""")
batch.variant("copied_from_a_period_before", body="""
    order = torch.multinomial(torch.ones(batch, vocab), length // 2, generator=generator)
    span = length // 2 - min_period + 1
    periods = (torch.rand(batch, generator=generator) * span).floor().long() + min_period
    tokens = torch.cat([order, order.new_zeros(batch, length - length // 2)], dim=1)
    for b, p in enumerate(periods.tolist()):
        for i in range(p, length, p):
            tokens[b, i:i + p] = tokens[b, :min(p, length - i)]
    return [tokens, periods]""")
batch.variant("of_small_integers", "generator=generator)\norder", "generator=generator, dtype=torch.int32)\norder",
    "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "torch.randn(batch, vocab, generator=generator).topk(length // 2, dim=1).indices",
    "order.gather(1, places)", "order[torch.arange(batch)[:, None], places].int()")

previous = solution("previous_token_score")
previous.variant("in_loops", body="""
    b, h, length, _ = weights.shape
    total = torch.zeros(h, dtype=weights.dtype)
    for s in range(b):
        for i in range(1, length):
            total += weights[s, :, i, i - 1]
    return total / (b * (length - 1))""")
previous.variant("by_einsum", body="""
    return torch.einsum("bhii->h", weights[:, :, 1:, :-1]) / (weights.shape[0] * (weights.shape[-1] - 1))""")
previous.variant("in_float32", body="""
    heads = [torch.diagonal(w.float(), -1, -2, -1).mean() for w in weights.transpose(0, 1)]
    return torch.stack(heads).to(weights.dtype)""")

induction = solution("induction_score")
induction.variant("in_loops", body="""
    total, count = 0, 0
    for b, p in enumerate(period.tolist()):
        for i in range(p, weights.shape[-1]):
            total, count = total + weights[b, :, i, i - p + 1], count + 1
    return total / count""")
induction.variant("by_diagonals", body="""
    lines = [w.diagonal(1 - int(p), -2, -1)[:, 1:] for w, p in zip(weights, period, strict=True)]
    return torch.cat(lines, dim=1).mean(dim=1)""")
induction.variant("by_pairs", body="""
    b, i = (torch.arange(weights.size(-1)) >= period[:, None]).nonzero(as_tuple=True)
    return weights[b, :, i, i - period[b] + 1].mean(dim=0)""")
induction.variant("with_nan", body="""
    rows = torch.arange(weights.size(-1))
    index = (rows - period[:, None] + 1) % len(rows)
    picked = torch.take_along_dim(weights.float(), index[:, None, :, None], dim=-1)[..., 0]
    return picked.masked_fill((rows < period[:, None])[:, None], torch.nan).nanmean(dim=(0, 2)).to(weights.dtype)""")

ablate = solution("ablate_head")
ablate.variant("by_a_class", code="""
    class ablate_head:
        def __init__(self, module, head):
            self.part = module.out_proj.weight.data[:, columns_of(module, head)]

        def __enter__(self):
            self.kept = self.part.clone()
            self.part.zero_()

        def __exit__(self, *_):
            self.part.copy_(self.kept)""")
ablate.variant("by_another_parameter", body="""
    layer, own = module.out_proj, module.out_proj.weight
    layer.weight = nn.Parameter(own.detach().clone())
    layer.weight.data[:, columns_of(module, head)] = 0
    try:
        yield module
    finally:
        layer.weight = own""")
ablate.variant("by_a_forward_of_its_own", body="""
    layer, own, keep = module.out_proj, module.out_proj.forward, torch.ones_like(module.out_proj.weight[0])
    keep[columns_of(module, head)] = 0
    layer.forward = lambda x: own(x * keep)
    try:
        yield
    finally:
        layer.forward = own""")
ablate.variant("by_zero_values", body="""
    layers = [p for p in (module.v_proj.weight, module.v_proj.bias) if p is not None]
    kept = [p.detach().clone() for p in layers]
    with torch.no_grad():
        for p in layers:
            p[columns_of(module, head)] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            for p, before in zip(layers, kept, strict=True):
                p.copy_(before)""")
ablate.variant("with_a_state_dict", body="""
    state = {name: p.clone() for name, p in module.state_dict().items()}
    module.out_proj.weight.data[:, columns_of(module, head)] *= 0
    try:
        yield
    except BaseException:
        module.load_state_dict(state)
        raise
    module.load_state_dict(state)""")
ablate.variant("by_a_parametrization", body="""
    layer, keep = module.out_proj, torch.ones_like(module.out_proj.weight)
    keep[:, columns_of(module, head)] = 0

    class Without(nn.Module):
        def forward(self, weight):
            return weight * keep

    if parametrize.is_parametrized(layer, "weight"):
        layer.parametrizations.weight.append(Without())
    else:
        parametrize.register_parametrization(layer, "weight", Without())
    try:
        yield
    finally:
        if len(layer.parametrizations.weight) > 1:
            del layer.parametrizations.weight[-1]
        else:
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)""")
