"""The hidden checks of lesson 8. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import (
    ATTENTIONS,
    BLOCK,
    DECODER,
    factors,
    filled,
    in_int64,
    model,
    rule,
)
from torch import nn

from autograder.checks import Inputs, battery, check

# The block


def apart(block_class: Any, names: tuple[str, ...], draw: Inputs, *inputs: Any) -> Any:
    """Say whether a block is untouched by what happens to a second one, and whether it can be saved and loaded."""
    block, other = (filled(block_class(6, 3, 10), names, draw) for _ in range(2))
    before = block(*inputs)
    other.load_state_dict(block.state_dict())
    copied = bool(other(*inputs).equal(before))
    with torch.no_grad():
        for p in other.parameters():
            p.add_(100.0)
    layers = [name.split(".")[0] for name in block.state_dict()]
    return before, block(*inputs), copied, [name in layers for name in names]


def masks_drawn(block: nn.Module, outer: list[nn.Linear], *inputs: Any) -> int:
    """Count the ways in which dropout falls on what the branches add: with a mask of its own for each, all occur."""
    with torch.no_grad():
        for i, layer in enumerate(outer):
            layer.weight.zero_()
            layer.bias = nn.Parameter(torch.full_like(layer.weight[:, 0], 10.0**i))
    added = block.train()(*inputs) - inputs[0]
    return len(added.round().unique())


@check("TransformerBlock", points=1)
def share_that_is_dropped(block_class: Any, draw: Inputs) -> Any:
    """Dropout: how much, where, and in training only."""
    block = filled(block_class(6, 3, 10, dropout=0.25), BLOCK, draw)
    x = draw.normal(4, 9, 6)
    calm = block.train().eval()(x)
    without = filled(block_class(6, 3, 10), BLOCK, draw).train()(x)
    outer = [block.attention.out_proj, block.linear2]
    parts = factors(block, ("attention",), outer, x)
    masks = masks_drawn(block, outer, draw.normal(9, 9, 6))
    return calm, without, parts, block.attention.dropout.p, masks


@battery("TransformerBlock", points=1)
def learning(block_class: Any, draw: Inputs) -> Any:
    """Edge: other sizes and dtypes, gradients of every parameter, one head, names for saving, and two blocks."""
    block = filled(block_class(8, 2, 5), BLOCK, draw)
    mask = rule(draw, 7, 7)
    mask[2] = False
    single = filled(block_class(4, 1, 6), BLOCK, draw)(draw.normal(1, 1, 4))
    pair = apart(block_class, BLOCK, draw, draw.normal(2, 3, 6))
    return partial(block, draw.normal(3, 7, 8), mask), single, pair


# The decoder block


@battery("DecoderBlock", points=1)
def everything_else(block_class: Any, draw: Inputs) -> Any:
    """Edge: other sizes and dtypes, masks of each rank, gradients, one head, how much is dropped, and two blocks."""
    block = filled(block_class(8, 2, 5), DECODER, draw)
    own, far = rule(draw, 4, 4), rule(draw, 4, 7)
    own[2], far[3] = False, False
    x, memory = draw.normal(3, 4, 8), draw.normal(3, 7, 8)
    outputs = [
        block(x, memory, rule(draw, 3, 1, 1, 4), rule(draw, 3, 2, 4, 7)),
        block(x, memory, rule(draw, 3, 2, 4, 4), rule(draw, 3, 4, 7)),
        filled(block_class(4, 1, 6), DECODER, draw)(
            draw.normal(1, 1, 4), draw.normal(1, 1, 4)
        ),
    ]
    one = filled(block_class(6, 3, 10, dropout=0.25), DECODER, draw)
    outer = [getattr(one, name).out_proj for name in ATTENTIONS] + [one.linear2]
    parts = factors(one, ATTENTIONS, outer, draw.normal(5, 8, 6), draw.normal(5, 4, 6))
    masks = masks_drawn(one, outer, draw.normal(9, 8, 6), draw.normal(9, 4, 6))
    rates = [getattr(one, name).dropout.p for name in ATTENTIONS]
    pair = apart(block_class, DECODER, draw, draw.normal(3, 5, 6), draw.normal(3, 4, 6))
    call = partial(block, x, memory, own, far)
    return call, outputs, parts, masks, rates, pair


# Greedy decoding


@check("greedy_decode", points=1)
def other_logits(greedy_decode: Any, draw: Inputs) -> Any:
    """Another start token and vocabulary, float32 logits that are all negative, and more tokens."""
    step = model(draw, 4, 11, torch.float32)
    return (
        in_int64(greedy_decode(lambda tokens: step(tokens) - 20.0, 0, 12, 4)),
        [in_int64(greedy_decode(model(draw, 1, 2), 40, 12, 1)) for _ in range(4)],
    )
