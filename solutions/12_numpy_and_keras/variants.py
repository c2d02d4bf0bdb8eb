"""Right answers of lesson 12 written another way, as edits of its solutions. Never given to students."""

import numpy as np
import torch

from autograder.checks import solution

attention = solution("numpy_attention")
attention.variant("in_float64_and_quiet", body="""
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    scores = q @ np.moveaxis(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True))
    return (weights @ v).astype(query.dtype)""")
attention.variant("query_by_query", body="""
    shape = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*shape, *x.shape[-2:])) for x in (query, key, value))
    seen = np.broadcast_to(True if mask is None else mask, (*shape, q.shape[-2], k.shape[-2]))
    output = np.zeros((*shape, q.shape[-2], v.shape[-1]), dtype=query.dtype)
    for row in np.ndindex(*shape, q.shape[-2]):
        if seen[row].any():
            scores = k[row[:-1]][seen[row]] @ q[row] / q.shape[-1] ** 0.5
            exps = np.exp(scores - scores.max())
            output[row] = exps @ v[row[:-1]][seen[row]] / exps.sum()
    return output""")

masks = solution("convert_mask")
masks.variant("by_tables", body="""
    read = {"may_attend": lambda m: m, "hide": torch.logical_not}
    write = read | {"zero_one": lambda m: m.to(torch.int64), "additive": lambda m: torch.where(m, 0.0, -torch.inf)}
    read |= {"zero_one": lambda m: m == 1, "additive": lambda m: ~m.isinf()}
    if not {source, target} <= set(read):
        raise ValueError(f"{source!r} or {target!r} is not among {', '.join(read)}")
    return write[target](read[source](mask))""")
masks.variant("through_numbers", "mask == 0 if source == 'additive' else mask.bool()",
    "(mask.exp() if source == 'additive' else mask.float()) > 0.5",
    "torch.zeros(mask.shape, device=mask.device).masked_fill(~visible, -torch.inf)", "visible.float().log()")

weights = solution("keras_to_torch")
weights.variant("by_an_order_of_axes", body="""
    state, size, parts = {}, module.embed_dim, ("query", "key", "value")
    kernels = [torch.tensor(weights[f"{part}/kernel"]).permute(1, 2, 0).reshape(size, size) for part in parts]
    state["in_proj_weight"] = torch.cat(kernels)
    state["in_proj_bias"] = torch.cat([torch.tensor(weights[f"{part}/bias"]).flatten() for part in parts])
    state["out_proj.weight"] = torch.tensor(weights["attention_output/kernel"]).permute(2, 0, 1).flatten(1)
    state["out_proj.bias"] = torch.tensor(weights["attention_output/bias"])
    module.load_state_dict(state)""")
weights.variant("into_thirds", "module.in_proj_weight.copy_(torch.from_numpy(np.concatenate(kernels)))",
    """for third, part in zip(module.in_proj_weight.detach().chunk(3), parts, strict=True):
    third.copy_(torch.as_tensor(weights[f"{part}/kernel"]).flatten(1).mT)""")
