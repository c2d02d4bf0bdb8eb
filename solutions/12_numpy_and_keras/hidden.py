"""The hidden checks of lesson 12. Never given to students."""

from functools import partial
from typing import Any

import numpy as np
import torch
from checks import (
    array,
    called,
    keras_weights,
    masks,
    parameters_of,
    rule,
    torch_module,
)

from autograder.checks import Inputs, battery, check, invariant

# Attention in NumPy


@check("numpy_attention", points=1)
def empty_rows_and_large_scores(numpy_attention: Any, draw: Inputs) -> Any:
    """Edge: a query that may look at nothing, without a warning, and scores in the thousands."""
    q, k, v = array(draw, 2, 4, 6), array(draw, 2, 5, 6), array(draw, 2, 5, 3)
    mask = rule(draw, 2, 4, 5)
    mask[0, 1] = mask[1, 3] = False
    output, warned = called(numpy_attention, q, k, v, draw.give(mask))
    large, keys, values = array(draw, 4, 4), array(draw, 5, 4), array(draw, 5, 2)
    keys[:, 0], keys[:, 1] = 1, 0
    keys[0, 1] = 1
    large[:, 0] = 0, 2000, -2000, 0  # the scores of a query move by half of that
    large[:, 1] = 0, 0, 0, 4000  # and here by far more for one key than for the others
    with_large, then_warned = called(
        numpy_attention, draw.give(large), draw.give(keys), values
    )
    seen = np.ones((4, 5), dtype=bool)
    seen[3, 0] = False  # the largest score of all
    with_hidden, last_warned = called(numpy_attention, large, keys, values, seen)
    return {
        "with an empty row": output,
        "what NumPy said about the empty row": warned,
        "with a large score that is hidden": with_hidden,
        "what NumPy said about the hidden one": last_warned,
        "with large scores": with_large,
        "what NumPy said about large scores": then_warned,
    }


@battery(
    "numpy_attention", points=1, off={"float16": "The text names two other dtypes."}
)
def float32_and_broadcasting(numpy_attention: Any, draw: Inputs) -> Any:
    """Edge: leading axes and masks that broadcast, a single query and a single key, other sizes and dtypes."""
    q, k, v = array(draw, 2, 1, 4, 6), array(draw, 1, 3, 5, 6), array(draw, 3, 5, 7)
    broadcast = {
        "one mask for all heads": numpy_attention(q, k, v, rule(draw, 2, 1, 4, 5)),
        "one row for all queries": numpy_attention(q, k, v, rule(draw, 5)),
        "plain queries": numpy_attention(array(draw, 4, 6), k, v, rule(draw, 4, 5)),
    }
    return partial(numpy_attention, q, k, v), broadcast


# One mask, four conventions


def raised_by(function: Any) -> str:
    """Return which error a call raises; any kind of ValueError is one."""
    try:
        result = function()
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error" if result is not None else "no error, and None"


@check("convert_mask", points=1)
def unknown_names(convert_mask: Any, draw: Inputs) -> Any:
    """Edge: names that are none of the four, for source, for target and for both."""
    mask = masks(draw)["may_attend"]
    pairs = {
        "an unknown source": ("allowed", "hide"),
        "an unknown target": ("may_attend", "boolean"),
        "an unknown target of numbers": ("may_attend", "float"),
        "the same unknown name twice": ("keep", "keep"),
        "capital letters": ("may_attend", "Hide"),
        "no name": ("", "additive"),
    }
    return {
        what: raised_by(lambda s=source, t=target: convert_mask(mask, s, t))
        for what, (source, target) in pairs.items()
    }


@check("convert_mask", points=1)
def axes_and_dtypes(convert_mask: Any, draw: Inputs) -> Any:
    """Edge: leading axes, a single row, other integer dtypes, nothing or everything hidden; the mask is unchanged."""
    rows = {name: mask[0] for name, mask in masks(draw).items()}
    batches = {
        name: draw.give(torch.stack([mask, mask.roll(1, -1)])[:, None])
        for name, mask in masks(draw).items()
    }
    all_seen = draw.give(torch.zeros(2, 3))
    none_seen = draw.give(torch.zeros(2, 3, dtype=torch.bool))
    whole = rows["zero_one"]
    other_integers = {
        f"{dtype} to {target}": convert_mask(
            draw.give(whole.to(dtype)), "zero_one", target
        )
        for dtype in (torch.uint8, torch.int32)
        for target in rows
    }
    return {
        **{
            f"a row to {name}": convert_mask(rows["hide"], "hide", name)
            for name in rows
        },
        **{
            f"a batch from {source} to {target}": convert_mask(
                batches[source], source, target
            )
            for source in batches
            for target in batches
        },
        **other_integers,
        "nothing hidden": convert_mask(all_seen, "additive", "hide"),
        "everything hidden": convert_mask(none_seen, "may_attend", "additive"),
    }


TWICE_IS_ONCE = invariant(
    "convert_mask",
    "doubled",
    because="Twice 0 is 0, and twice minus infinity is itself.",
)


# Keras's weights


def keras_output(weights, query, value, heads):
    """Return what Keras's MultiHeadAttention computes."""
    q, k, v = (
        np.einsum("...le,ehd->...hld", x, weights[f"{part}/kernel"])
        + weights[f"{part}/bias"][:, None]
        for part, x in (("query", query), ("key", value), ("value", value))
    )
    scores = np.einsum("...hld,...hsd->...hls", q, k) / q.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = np.einsum(
        "...hls,...hsd->...hld", exps / exps.sum(axis=-1, keepdims=True), v
    )
    out = np.einsum("...hld,hde->...le", mixed, weights["attention_output/kernel"])
    return out + weights["attention_output/bias"]


@check("keras_to_torch", points=1)
def the_same_output(keras_to_torch: Any, draw: Inputs) -> Any:
    """The module's output, and how far it is from Keras's; for several heads, with more keys than queries."""
    found: dict[str, Any] = {}
    for heads, dim in ((2, 4), (4, 3)):
        size = heads * dim
        weights = keras_weights(draw, heads, dim, dtype=np.float64)
        module = torch_module(draw, size, heads, dtype=torch.float64)
        keras_to_torch(weights, module)
        query, value = draw.normal(2, 3, size), draw.normal(2, 5, size)
        with torch.no_grad():
            output, _ = module(query, value, value)
        right = keras_output(weights, query.numpy(), value.numpy(), heads)
        found[f"the output with {heads} heads"] = output
        found[f"far from Keras with {heads} heads"] = float(
            np.abs(output.numpy() - right).max()
        )
    return found


@check("keras_to_torch", points=1)
def the_same_parameters(keras_to_torch: Any, draw: Inputs) -> Any:
    """Edge: the same parameter objects, trainable, in their own dtype, and not in the arrays' memory."""
    found: dict[str, Any] = {}
    for arrays, own in (
        (np.float32, torch.float32),
        (np.float32, torch.float64),
        (np.float64, torch.float64),
    ):
        module = torch_module(draw, 6, 2, dtype=own)
        before = dict(module.named_parameters())
        drawn = keras_weights(draw, 2, 3, dtype=arrays)
        weights = {name: numbers.copy() for name, numbers in drawn.items()}
        keras_to_torch(weights, module)
        for numbers in weights.values():
            numbers[...] = 0
        after = dict(module.named_parameters())
        replaced = [name for name, old in before.items() if after.get(name) is not old]
        frozen = [
            name for name, p in after.items() if not p.requires_grad or not p.is_leaf
        ]
        what = f"{arrays.__name__} arrays, {own} module"
        found[f"{what}: other objects"] = ", ".join(sorted(replaced)) or "none"
        found[f"{what}: not trainable"] = ", ".join(sorted(frozen)) or "none"
        found[f"{what}: parameters"] = parameters_of(module)
    return found
