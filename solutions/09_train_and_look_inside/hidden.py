"""The hidden checks of lesson 9. Never given to students."""

from functools import partial
from typing import Any

import torch
from checks import (
    ROWS,
    attention_for,
    described,
    generator_of,
    given,
    looks,
    two_tensors,
)

from autograder.checks import Inputs, battery, check

# Sequences that repeat

EDGES = (
    (12, 6, 6),  # no freedom: one period, and a token for each of its places
    (9, 4, 1),
    (40, 20, 3),
    (3, 1, 1),
)


MANY = 2000  # sequences, twice: each share is within 0.04 of a third


def described_edges(measured: Any) -> Any:
    """Describe a batch of each of some sizes, and how often large ones have each of three periods."""
    *edges, large = measured
    periods = torch.cat([two_tensors(result, MANY, 16)[1] for result in large])
    shares = [float((periods == period).double().mean()) for period in (6, 7, 8)]
    return [
        *(described(tuple(sizes), result, ROWS) for sizes, result in edges),
        all(0.29 < share < 0.38 for share in shares),
    ]


@check("make_repeating_batch", points=1, summary=described_edges)
def small_and_tight(make_repeating_batch: Any, draw: Inputs) -> Any:
    """Other lengths, short periods, a single possible period, the smallest vocabulary that is allowed, and shares."""
    generator = generator_of(draw.integer(0, 999))
    edges = [
        (
            (length, vocab, shortest),
            make_repeating_batch(
                ROWS, length, vocab, generator=generator, min_period=shortest
            ),
        )
        for length, vocab, shortest in EDGES
    ]
    large = [make_repeating_batch(MANY, 16, 9, generator=generator) for _ in range(2)]
    return [*edges, large]


# The token before


@battery(
    "previous_token_score",
    points=1,
    off={"gradients": "A measurement: nobody trains it."},
)
def other_sizes(previous_token_score: Any, draw: Inputs) -> Any:
    """Two tokens, one sequence, one head, many of each, other dtypes."""
    two = previous_token_score(looks(draw, 4, 3, 2))
    return partial(previous_token_score, looks(draw, 3, 2, 7)), two


# Induction


@battery(
    "induction_score", points=1, off={"gradients": "A measurement: nobody trains it."}
)
def longest_and_shortest(induction_score: Any, draw: Inputs) -> Any:
    """The shortest and longest periods, two tokens, one sequence with one head, other sizes and dtypes."""
    two = induction_score(looks(draw, 4, 3, 2), given(draw, 1, 1, 1, 1))
    return partial(induction_score, looks(draw, 3, 2, 6), given(draw, 5, 1, 4)), two


# Ablation


@check("ablate_head", points=1)
def blocks_in_blocks(ablate_head: Any, draw: Inputs) -> Any:
    """One block inside another, an exception in the inner one, a single head, no bias, and nothing left behind."""
    module, x = attention_for(draw, 12, 4, bias=False), draw.normal(2, 5, 12)
    single = attention_for(draw, 3, 1)
    seen = []
    with ablate_head(module, 0):
        try:
            with ablate_head(module, 2):
                seen.append(module(x)[0])
                raise KeyError
        except KeyError:
            seen.append(module(x)[0])
    seen.append(module(x)[0])
    with ablate_head(single, 0):
        seen.append(single(draw.normal(1, 2, 3))[0])
    learning = [p.requires_grad and p.is_leaf for p in module.parameters()]
    layers = list(module.modules())
    hooks = sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in layers)
    names = sorted(name for name, _ in module.named_parameters())
    return seen, learning, hooks, names, module.training
