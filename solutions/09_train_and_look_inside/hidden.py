"""The hidden checks of lesson 9. Never given to students."""

from typing import Any

import torch
from checks import (
    ROWS,
    attention_for,
    described,
    generator_of,
    given,
    looks,
)

from autograder.checks import Inputs, check

# Sequences that repeat

EDGES = (
    (12, 6, 6),  # no freedom: one period, and a token for each of its places
    (9, 4, 1),
    (40, 20, 3),
    (3, 1, 1),
)


def described_edges(measured: Any) -> Any:
    """Describe a batch of each of some sizes."""
    return [
        described(tuple(sizes), result, ROWS)
        for *sizes, result in ((*s, r) for s, r in measured)
    ]


@check("make_repeating_batch", points=1, summary=described_edges)
def small_and_tight(make_repeating_batch: Any, draw: Inputs) -> Any:
    """Other lengths, short periods, a single possible period, and the smallest vocabulary that is allowed."""
    generator = generator_of(draw.integer(0, 999))
    return [
        (
            (length, vocab, shortest),
            make_repeating_batch(
                ROWS, length, vocab, generator=generator, min_period=shortest
            ),
        )
        for length, vocab, shortest in EDGES
    ]


# The token before


@check("previous_token_score", points=1)
def other_sizes(previous_token_score: Any, draw: Inputs) -> Any:
    """Two tokens, one sequence, one head, and float32."""
    return [
        previous_token_score(looks(draw, 4, 3, 2)),
        previous_token_score(looks(draw, 1, 1, 6)),
        previous_token_score(looks(draw, 3, 2, 7, dtype=torch.float32)),
    ]


# Induction


@check("induction_score", points=1)
def longest_and_shortest(induction_score: Any, draw: Inputs) -> Any:
    """The shortest and longest periods, two tokens, one sequence with one head, and float32."""
    return [
        induction_score(looks(draw, 3, 2, 6), given(draw, 5, 1, 4)),
        induction_score(looks(draw, 4, 3, 2), given(draw, 1, 1, 1, 1)),
        induction_score(looks(draw, 1, 1, 8), given(draw, 3)),
        induction_score(looks(draw, 2, 5, 7, dtype=torch.float32), given(draw, 6, 2)),
    ]


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
