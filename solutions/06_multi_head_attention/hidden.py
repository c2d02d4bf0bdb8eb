"""The hidden checks of lesson 6. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import LAYERS, filled, pair

from autograder.checks import Inputs, allow, battery, check

MAY_NAME_PARAMETERS = allow(
    "copy_torch_weights",
    "texts put together",
    because="A state dictionary's keys are put together from their parts.",
)

# Split


@battery("split_heads", points=1)
def other_memory_order(split_heads: Any, draw: Inputs) -> Any:
    """Tokens that are not contiguous in memory, other sizes and dtypes, and gradients."""
    return partial(split_heads, draw.normal(3, 5, 4), 2)


@check("split_heads", points=1)
def one_head_and_many(split_heads: Any, draw: Inputs) -> Any:
    """One head, as many heads as dimensions, and a single token."""
    x = draw.normal(2, 3, 4)
    return split_heads(x, 1), split_heads(x, 4), split_heads(draw.normal(1, 1, 8), 2)


# The module


@check("MultiHeadAttention", points=1)
def dropout_in_training_only(attention_class: Any, draw: Inputs) -> Any:
    """Dropout on the weights, in training and at no other time."""
    module = filled(attention_class(8, 2, dropout=0.25), draw)
    x = draw.normal(1, 6, 8)
    calm = [module(x, need_weights=True) for _ in range(2)]
    module.out_proj.weight.data = torch.eye(8, dtype=torch.float64)
    query, key = draw.normal(200, 1, 8), draw.normal(1, 1, 8).expand(200, 1, 8)
    single = module(query, key)[
        0
    ]  # one key: its weight is 1, so each head is its value, dropped or scaled up
    module.train()
    output, weights = module(query, key, need_weights=True)
    factors = (output / single).view(200, 2, 4).round(decimals=6)
    together = bool((factors == factors[..., :1]).all())
    return (
        calm,
        weights,
        factors.unique(),
        together,
        filled(attention_class(8, 2), draw).training,
    )


@battery("MultiHeadAttention", points=1)
def learning(attention_class: Any, draw: Inputs) -> Any:
    """Gradients of every parameter and of the input, with a query that has no visible keys; names for saving."""
    module = filled(attention_class(4, 2, bias=True), draw, bias=True)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    mask[0] = False
    call = partial(module, draw.normal(2, 3, 4), mask=draw.give(mask))
    return call, sorted(module.state_dict())


# Copying


@check("copy_torch_weights", points=1)
def still_two_modules(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The two modules do not share tensors afterward."""
    mine, reference = pair(draw, bias=True)
    copy_torch_weights(mine, reference)
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(100.0)
    return {
        name: [getattr(mine, name).weight, getattr(mine, name).bias] for name in LAYERS
    }


@check("copy_torch_weights", points=1)
def same_objects(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The parameters stay the same objects and still learn, and the reference is unchanged."""
    mine, reference = pair(draw, bias=True)
    before = dict(mine.named_parameters())
    kept = {name: p.detach().clone() for name, p in reference.named_parameters()}
    copy_torch_weights(mine, reference)
    now = dict(mine.named_parameters())
    same = [now.get(name) is parameter for name, parameter in before.items()]
    learning = [p.requires_grad and p.is_leaf for p in now.values()]
    untouched = [bool(p.equal(kept[name])) for name, p in reference.named_parameters()]
    return same, learning, untouched, mine.v_proj.weight
