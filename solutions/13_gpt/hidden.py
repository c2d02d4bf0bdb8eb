"""The hidden checks of lesson 13. Never given to students."""

import math
from types import MappingProxyType
from typing import Any

import torch
from checks import (
    Model,
    as_pairs,
    as_tokens,
    drawn_tokens,
    error_of,
    filled,
    groups_in,
    learned,
    published,
    rows_of,
    spelled,
    split,
)
from torch import Tensor, nn

from autograder.checks import Inputs, allow, check

MAY_JOIN_TOKENS = allow(
    "learn_merges",
    "texts put together",
    because="Tokens are texts, and merging is joining them.",
)
MAY_JOIN_PAIRS = allow(
    "split_word",
    "texts put together",
    because="Tokens are texts, and merging is joining them.",
)

# Byte pairs

LONG = {
    "ABCABC": 7,
    "CAB": 11,
    "DDDD": 5,
    "EDDDF": 4,
    "GHGHGHG": 3,
    "HGA": 6,
    "BCAF": 13,
    "FEFEFE": 2,
    "I": 50,
    "AIA": 1,
    "KAK": 2,
    "CCCCC": 3,
}


@check("learn_merges", points=1)
def nothing_to_learn(learn_merges: Any, draw: Inputs) -> Any:
    """Edge: no words, no merges, words of a single character, words that may not be changed, and a second call."""
    words = spelled(draw, {"ABAB": 3, "B": 9, "BA": 2})
    calls = [
        learned(learn_merges, {}, 5),
        learned(learn_merges, words, 0),
        learned(learn_merges, {"a": 3, "b": 2}, 4),
        learned(learn_merges, MappingProxyType(words), 1),
        learned(learn_merges, words, 2),
        learned(learn_merges, words, 2),
    ]
    return [next(iter(call.values())) for call in calls], list(words.items())


@check("learn_merges", points=1)
def many_merges(learn_merges: Any, draw: Inputs) -> Any:
    """Many merges of more words, in any order, with characters of every kind."""
    words = spelled(draw, LONG)
    back = dict(reversed(words.items()))
    table = str.maketrans(
        "".join(sorted({*"".join(words)})), "'-.59AZaéßя"[: len({*"".join(words)})]
    )
    others = {word.translate(table): count for word, count in words.items()}
    return [as_pairs(learn_merges(w, 22)) for w in (words, back, others)]


@check("split_word", points=1)
def edges_of_words(split_word: Any, draw: Inputs) -> Any:
    """Edge: an empty word, no merges, a letter many times, a tuple of merges, other characters, pairs that spell the
    same, a second call.
    """
    merges = (("a", "a"), ("aa", "aa"), ("é", "b"), ("é" + "b", " "))
    kept = [("b", "c"), ("a", "b")]
    return [
        as_tokens(split_word("", kept)),
        as_tokens(split_word("abc", [])),
        *(as_tokens(split_word("a" * n, merges)) for n in (1, 2, 3, 4, 5, 7)),
        as_tokens(split_word("éb é", merges)),
        as_tokens(split_word("abcab", kept)),
        as_tokens(split_word("abcab", kept)),
        as_pairs(kept),
        split(split_word, draw, ["ABABAB", "CABCAB"], "C+A A+B AB+AB B+CA CA+B"),
        split(split_word, draw, ["ABC", "CABCD"], "B+C AB+C A+B"),
    ]


# The model


def factors_of_dropout(model: nn.Module, tokens: Tensor) -> Any:
    """Name the factors by which dropout changes what the first block is given."""
    seen: list[Tensor] = []
    hook = model.blocks[0].register_forward_pre_hook(
        lambda _, given: seen.append(given[0])
    )
    model.eval()(tokens)
    model.train()(tokens)
    hook.remove()
    factors = (seen[1] / seen[0]).round(decimals=3) + 0.0
    values = factors.unique().tolist()
    return " and ".join(f"{v:g}" for v in values) if len(values) < 4 else "many"


@check("GPT", points=1)
def learning(model_class: Any, draw: Inputs) -> Any:
    """Gradients of every parameter, how much is dropped and where, and integers of another kind."""
    model = filled(model_class(9, 8, 8, 2, 3, dropout=0.25), draw)
    tokens, weights = drawn_tokens(draw, 9, 3, 8), draw.normal(3, 8, 9)
    output = model(tokens)
    (output * weights).sum().backward()
    gradients = {
        f"{layer}.{name}": p.grad
        for layer in ("token_embedding", "position_embedding", "blocks", "norm")
        for name, p in sorted(getattr(model, layer).named_parameters())
    }
    rates = [(b.dropout.p, b.attention.dropout.p) for b in model.blocks]
    dropped = factors_of_dropout(model, drawn_tokens(draw, 9, 20, 8))
    return output, gradients, rates, dropped, model.eval()(tokens.int())


def about(p: Tensor) -> Any:
    """Describe the numbers that a matrix begins with."""
    p = p.detach()
    close = abs(float(p.std()) / 0.02 - 1) < 0.2 and abs(float(p.mean())) < 0.004
    return "as asked" if close else "others"


@check("GPT", points=1)
def how_it_begins(model_class: Any, draw: Inputs) -> Any:
    """What parameters begin with, other sizes, the longest text and a longer one, and two models side by side."""
    model, other = model_class(300, 40, 48, 4, 2), model_class(300, 40, 48, 4, 2)
    matrices = {
        name: about(p) for name, p in sorted(model.named_parameters()) if p.dim() > 1
    }
    gains = {name: p for name, p in sorted(model.named_parameters()) if "norm" in name}
    zeros = [name for name, p in sorted(model.named_parameters()) if not p.any()]
    independent = not model.token_embedding.weight.equal(other.token_embedding.weight)
    other.load_state_dict(model.state_dict())
    tokens = drawn_tokens(draw, 300, 1, 40)
    copied = bool(other.eval()(tokens).equal(model.eval()(tokens)))
    with torch.no_grad():
        for p in other.parameters():
            p.add_(1.0)
    small = filled(model_class(5, 1, 4, 1, 0), draw)
    one = filled(model_class(3, 9, 4, 2, 1), draw)
    return (
        matrices,
        gains,
        zeros,
        independent,
        copied,
        error_of(model, torch.cat([tokens, tokens], dim=1)),
        small(drawn_tokens(draw, 5, 2, 1)),
        error_of(small, drawn_tokens(draw, 5, 2, 2)),
        one(drawn_tokens(draw, 3, 1, 9)),
        str(model(tokens).dtype),
    )


# The recipe


@check("learning_rate", points=1)
def other_trainings(learning_rate: Any, draw: Inputs) -> Any:
    """Edge: no warm-up, nothing but warm-up, one step, no floor, and steps long after the end."""
    peak = (1 + draw.integer(1, 99)) / 1000
    return [
        [
            learning_rate(n, peak=peak, warmup=0, total=7, floor=peak / 5)
            for n in range(9)
        ],
        [
            learning_rate(n, peak=peak, warmup=6, total=6, floor=peak / 4)
            for n in range(8)
        ],
        [learning_rate(n, peak=peak, warmup=0, total=1) for n in range(3)],
        [
            learning_rate(n, peak=peak, warmup=100, total=1000)
            for n in (0, 99, 100, 101, 550, 999, 1000, 5000)
        ],
        [learning_rate(n, peak=peak, warmup=1, total=4, floor=peak) for n in range(5)],
    ]


class Many(nn.Module):
    """Two copies of a model, one of them frozen, and a list of numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Model(), Model()
        for p in self.first.parameters():
            p.requires_grad_(False)
        self.weight = nn.Parameter(torch.ones(3))
        self.embedding_bias = nn.Parameter(torch.ones(3, 2))


@check("parameter_groups", points=1)
def frozen_and_nested(parameter_groups: Any, draw: Inputs) -> Any:
    """Edge: parameters that do not learn, modules in modules, and a decay of 0."""
    model, linear = Many(), nn.Linear(3, 2)
    decay = draw.integer(1, 99) / 100
    return (
        groups_in(parameter_groups(model, decay), model),
        groups_in(parameter_groups(linear, 0.0), linear),
    )


# The next token


@check("next_token_probabilities", points=1)
def other_axes(next_token_probabilities: Any, draw: Inputs) -> Any:
    """More and fewer axes, each option alone and all together, one token, float32, and large logits."""
    logits = draw.normal(2, 3, 4, 9)
    single, large = draw.normal(9), draw.give(1e4 * draw.normal(2, 7))
    shares = rows_of(draw, 0.35, 0.25, 0.2, 0.12, 0.08)
    short = draw.normal(3, 5, dtype=torch.float32)
    kept = draw.normal(2, 6)
    return [
        next_token_probabilities(logits, temperature=0.7, top_k=4),
        next_token_probabilities(single, top_k=5),
        next_token_probabilities(single, top_k=1),
        next_token_probabilities(
            draw.normal(4, 1), temperature=2.0, top_k=3, top_p=0.5
        ),
        next_token_probabilities(shares[:, None], temperature=1.5, top_k=4, top_p=0.7),
        next_token_probabilities(shares[0], top_p=1.0),
        next_token_probabilities(shares, top_k=2, top_p=0.3),
        next_token_probabilities(short, temperature=0.5, top_k=2),
        next_token_probabilities(short, temperature=0.0, top_k=2, top_p=0.5),
        next_token_probabilities(large, temperature=0.5, top_k=3),
        next_token_probabilities(torch.zeros(2, 300).double(), top_k=7),
        next_token_probabilities(kept, temperature=0.7, top_k=4, top_p=0.99),
    ]


# Published weights


@check("from_published", points=1)
def many_blocks(from_published: Any, draw: Inputs) -> Any:
    """Eleven blocks, wider numbers, the largest position, and one head."""
    deep = published(draw, layers=11, width=4)
    wide = published(
        draw, layers=1, width=12, vocab_size=5, max_len=3, spread=6.0, masks=True
    )
    single = published(draw, layers=3, width=4, prefix="transformer.")
    tails = published(draw, layers=1)
    tails |= {  # where the two forms of GELU are a tenth apart, and little else is added
        "h.0.mlp.c_fc.weight": tails["h.0.mlp.c_fc.weight"] / 4,
        "h.0.mlp.c_fc.bias": tails["h.0.mlp.c_fc.bias"] / 10 - 3,
        "h.0.mlp.c_proj.weight": tails["h.0.mlp.c_proj.weight"] * 1000,
    }
    return (
        from_published(deep, 2)(drawn_tokens(draw, 11, 1, 7)),
        from_published(wide, 4)(drawn_tokens(draw, 5, 4, 3)),
        from_published(single, 1)(drawn_tokens(draw, 11, 2, 3)),
        from_published(tails, 2)(drawn_tokens(draw, 11, 2, 3)),
    )


@check("from_published", points=1)
def a_model_of_its_own(from_published: Any, draw: Inputs) -> Any:
    """The model can be trained, and nobody else's weights change; a second model is untouched."""
    weights = published(draw, masks=True)
    names = list(weights)
    model, other = from_published(weights, 2), from_published(weights, 2)
    tokens = drawn_tokens(draw, 11, 2, 6)
    before = other(tokens).detach()
    model(tokens).square().sum().backward()
    count = sum(p.numel() for p in model.parameters())
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.5 if p.grad is None else 0.01 * p.grad.sign())
    learning = all(p.requires_grad and p.grad is not None for p in model.parameters())
    tied = model(tokens).detach()
    return (
        before,
        other(tokens),
        count,
        learning,
        tied,
        names == list(weights),
        math.prod(before.shape),
    )
