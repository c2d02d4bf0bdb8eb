"""The hidden checks of lesson 5. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import (
    attending,
    last_token_everywhere,
    made_there,
    next_token,
    noisy,
    rule,
)
from torch.nn import functional

from autograder.checks import Inputs, allow, battery, check

# The causal mask


@check("causal_mask", points=1)
def one_query(causal_mask: Any, draw: Inputs) -> Any:
    """A single query, a single key, and longer sequences."""
    return (
        causal_mask(1, 5),
        causal_mask(1, 1),
        causal_mask(1),
        causal_mask(3, 9),
        causal_mask(12),
    )


@check("causal_mask", points=1)
def on_a_device(causal_mask: Any, draw: Inputs) -> Any:
    """The requested device, and a long sequence."""
    return (
        made_there(lambda device: causal_mask(2, device=device)),
        causal_mask(2, 3, device="cpu"),
        causal_mask(40, 60),
    )


# The padding mask


@battery("padding_mask", points=1)
def one_sentence(padding_mask: Any, draw: Inputs) -> Any:
    """One sentence and many, lengths of another integer type, and a batch wider than every sentence."""
    lengths = draw.give(torch.tensor([3], dtype=torch.int32))
    several = draw.give(torch.tensor([1, 4, 0, 6]))
    return partial(padding_mask, several, 6), padding_mask(lengths, 7)


# Several masks


@battery("combine_masks", points=1)
def three_rules_left_alone(combine_masks: Any, draw: Inputs) -> Any:
    """Three masks that broadcast against one another and are left unchanged; a mask that allows everything."""
    third = draw.normal(1, 3, 4, 1) > 0
    third[0, 0, :2, 0] = torch.tensor([True, False])
    rules = [rule(draw, 4, 4), rule(draw, 2, 1, 1, 4), draw.give(third)]
    everything = draw.give(torch.ones(3, 1, 1, dtype=torch.bool))
    whole = combine_masks(everything), combine_masks(everything, None, everything)
    return partial(combine_masks, *rules), combine_masks(everything, rules[0]), whole


# Masked softmax


@battery("masked_softmax", points=1)
def rows_of_every_kind(masked_softmax: Any, draw: Inputs) -> Any:
    """Gradients, with an empty row; scores of any size; other sizes, axes in front and dtypes."""
    mask = rule(draw, 2, 3, 4, empty=(1, 2))
    return partial(masked_softmax, draw.normal(2, 3, 4), mask)


@check("masked_softmax", points=1, tolerance=1e-3)
def precision_and_size(masked_softmax: Any, draw: Inputs) -> Any:
    """Half precision, scores around ten thousand, and inputs left unchanged."""
    mask = rule(draw, 4, 5, empty=0)
    half, large = (
        draw.normal(4, 5, dtype=torch.float16),
        draw.give(1e4 + draw.normal(4, 5)),
    )
    return masked_softmax(half, mask), masked_softmax(large, mask)


# Scaled dot-product attention


@battery("scaled_dot_product_attention", points=1)
def empty_rows_and_gradients(attention: Any, draw: Inputs) -> Any:
    """An empty row, in values and gradients; other sizes, axes in front and dtypes."""
    q, k, v = (draw.normal(2, *shape) for shape in ((4, 3), (5, 3), (5, 6)))
    return partial(attention, q, k, v, rule(draw, 2, 4, 5, empty=(0, 1)))


@check("scaled_dot_product_attention", points=1)
def other_inputs(attention: Any, draw: Inputs) -> Any:
    """A single query, half precision, inputs that are not contiguous, and scores of any size, hidden ones too."""
    half = [draw.normal(2, n, 4, dtype=torch.float16) for n in (1, 3, 3)]
    turned = [draw.give(draw.normal(3, n, 2).mT) for n in (5, 5, 6)]
    turned[2] = draw.give(draw.normal(3, 4, 5).mT[:, :2])
    large = [draw.normal(n, width) for n, width in ((2, 4), (6, 4), (6, 7))]
    large[0][:, 0] = large[1][:, 0] = (
        60.0  # adds 1800 to every score and leaves the weights as they are
    )
    low = draw.give(
        -(2.0**15 + torch.arange(6, dtype=torch.float64))[:, None]
    )  # with them, every score is below -2e9
    below = (
        draw.give(torch.full((2, 1), 2.0**16, dtype=torch.float64)),
        low,
        draw.normal(6, 3),
    )
    outshone = [draw.normal(n, width) for n, width in ((2, 4), (5, 4), (5, 3))]
    outshone[0][:, 0], outshone[1][:, 0] = 40.0, 0.0
    outshone[1][2, 0] = 80.0  # the hidden key's score is 1600, so the others underflow
    results = attention(*half), attention(*turned), attention(*large, rule(draw, 1, 6))
    results += (attention(*outshone, draw.give(torch.arange(5) != 2)),)
    mask = rule(draw, 2, 6)
    hidden = attention(*large, mask)[1].masked_fill(
        mask, 0
    )  # exactly 0, however small the rest
    return *results, attention(*below, mask), int(hidden.count_nonzero())


# The leak test

MAY_DIFFERENTIATE = allow(
    "leaks",
    "aten::native_layer_norm_backward",
    because="A Jacobian shows leaks, and an attention that is tested may normalize its tokens.",
)


@check("leaks", points=1, may_change=("seed",))
def other_sizes(leaks: Any, draw: Inputs) -> Any:
    """Other lengths and dimensions, a single token, holes wherever they may be, outputs that only sink, and a leak that
    one entry of a token does not show.
    """
    length = draw.integer(7, 12)
    key = draw.integer(3, length - 2)  # neither the first nor the last of anything
    query = draw.integer(1, key - 2)
    hole = attending(lambda i, j: (j <= i) | ((i == query) & (j == key)))
    causal = attending(lambda i, j: j <= i)
    return (
        leaks(hole, length, 8),
        leaks(causal, length, 8),
        leaks(causal, 1, 3),
        leaks(causal, 2, 3),
        all(leaks(next_token, 2, 1) for _ in range(30)),
        leaks(
            lambda x: torch.cat([x[..., :1], x[..., 1:].roll(-1, dims=1)], dim=-1), 5, 4
        ),
        leaks(attending(lambda i, j: j <= i + 1), 2, 3),
        leaks(last_token_everywhere, 3, 2),
        leaks(noisy, 9, 16),
        leaks(lambda x: hole(functional.layer_norm(x, x.shape[-1:])), length, 8),
        leaks(one_sentence_alone(causal, 5), 5, 4),
        leaks(one_sentence_alone(hole, length), length, 8),
    )


def one_sentence_alone(attention: Any, length: int) -> Any:
    """Make an attention that takes a batch of one sentence only, and only of one length."""

    def fixed(x: torch.Tensor) -> torch.Tensor:
        if x.shape[:2] != (1, length):
            raise ValueError(f"this attention takes one sentence of {length} tokens")
        return attention(x)

    return fixed
