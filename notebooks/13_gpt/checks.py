"""The checks of lesson 13 that you can run yourself. Grading runs them again on new inputs, with a few more."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import Inputs, check, law, shortcut

# Byte pairs


def alphabet(draw: Inputs, size: int) -> str:
    """Draw letters in ascending order, at most eleven."""
    code, letters = ord("a") + draw.integer(0, 3), ""
    for _ in range(size):
        letters += chr(code)
        code += draw.integer(1, 2)
    return letters


def spelled(draw: Inputs, counts: Mapping[str, int], factor: int = 0) -> dict[str, int]:
    """Write words of A, B, C and so on in drawn letters, which have the same order, and multiply their counts."""
    capitals = sorted(set("".join(counts)))
    table = str.maketrans(
        dict(zip(capitals, alphabet(draw, len(capitals)), strict=True))
    )
    factor = factor or draw.integer(2, 9)
    return {word.translate(table): factor * count for word, count in counts.items()}


def in_words(counts: Mapping[str, int]) -> str:
    """Write counted words as a title has them."""
    return ", ".join(f"{word} x {count}" for word, count in counts.items())


def as_pairs(result: Any) -> Any:
    """Write a list of pairs as one text."""
    if result is None:
        return None
    pairs = isinstance(result, list | tuple) and all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and all(isinstance(part, str) for part in pair)
        for pair in result
    )
    return ", ".join(map("+".join, result)) if pairs else "no list of pairs of strings"


def as_tokens(result: Any) -> Any:
    """Write a list of strings as one text."""
    if result is None:
        return None
    if isinstance(result, str):
        return "one text"
    strings = isinstance(result, list | tuple) and all(
        isinstance(t, str) for t in result
    )
    return (
        ", ".join(t or "(empty)" for t in result) if strings else "no list of strings"
    )


def learned(learn_merges: Any, words: Mapping[str, int], merges: int) -> Any:
    """Learn merges of some words, under a name that says which."""
    number = "1 merge" if merges == 1 else f"{merges} merges"
    return {
        f"the list of {number} of {in_words(words)}": as_pairs(
            learn_merges(words, merges)
        )
    }


@check("learn_merges", points=1, show=True)
def often_and_rare_words(learn_merges: Any, draw: Inputs) -> Any:
    """Words of different counts: five merges, each of which is by far the most frequent pair."""
    counts = {"ABC": 5, "BCBCD": 4, "DEFDE": 9, "FDDDEA": 1, "EFA": 2}
    return learned(learn_merges, spelled(draw, counts), 5)


@check("learn_merges", points=1, show=True)
def equally_frequent(learn_merges: Any, draw: Inputs) -> Any:
    """Pairs that are equally frequent: of those the first one in Python's order of tuples comes first."""
    return {
        **learned(learn_merges, spelled(draw, {"CD": 3, "AB": 3, "EF": 3}), 3),
        **learned(
            learn_merges, spelled(draw, {"ABD": 2, "ABC": 2, "AC": 2, "EAB": 2}), 5
        ),
    }


@check("learn_merges", points=1, show=True)
def as_long_as_there_are_pairs(learn_merges: Any, draw: Inputs) -> Any:
    """A letter three or four times in a row, and more merges than there are pairs."""
    return {
        **learned(learn_merges, spelled(draw, {"BBB": 2, "AB": 3}), 1),
        **learned(learn_merges, spelled(draw, {"AAAA": 2, "BCB": 3, "DE": 1}, 1), 9),
    }


def pairs_of(text: str, table: Mapping[int, str]) -> list[tuple[str, str]]:
    """Read pairs such as `A+B AB+C`."""
    return [tuple(pair.translate(table).split("+")) for pair in text.split()]


def split(
    split_word: Any, draw: Inputs, words: Sequence[str], text: str
) -> dict[str, Any]:
    """Split words of A, B, C and so on with merges, all in drawn letters."""
    capitals = sorted(set("".join(words)) | set(text) - set("+ "))
    table = str.maketrans(
        dict(zip(capitals, alphabet(draw, len(capitals)), strict=True))
    )
    merges = pairs_of(text, table)
    return {
        f"the list of tokens of {word} with {as_pairs(merges)}": as_tokens(
            split_word(word, merges)
        )
        for word in (w.translate(table) for w in words)
    }


@check("split_word", points=1, show=True)
def in_the_order_of_the_merges(split_word: Any, draw: Inputs) -> Any:
    """Words in which pairs overlap: the pair that comes first in merges goes first, wherever it is in the word."""
    return {
        **split(split_word, draw, ["ABC", "ABCBC", "CABAB"], "B+C A+B A+BC"),
        **split(split_word, draw, ["ABCD", "DABCDD"], "A+B C+D AB+C"),
        **split(split_word, draw, ["CAB"], "B+C C+A A+B"),
    }


@check("split_word", points=1, show=True)
def until_nothing_is_left(split_word: Any, draw: Inputs) -> Any:
    """Merges that make an earlier pair possible, and characters that are in no pair."""
    return {
        **split(split_word, draw, ["ABCD", "EABCDE"], "ABC+D B+C A+BC AB+D"),
        **split(split_word, draw, ["BCBC", "ADDD"], "BC+B B+C"),
    }


# The model

LAYERS = ("token_embedding", "position_embedding", "blocks", "norm")
SIZES = {"vocab_size": 11, "max_len": 7, "d_model": 6, "num_heads": 3, "num_layers": 2}


def layers_of(model_class: Any) -> dict[str, Any]:
    """List the parameters of each layer, those of no layer, and how many numbers there are in all."""
    model, other = model_class(**SIZES, dropout=0.5), model_class(**SIZES)
    found = sorted(model.named_parameters(remove_duplicate=False))
    first: dict[int, str] = {}
    listed = {}
    for layer in LAYERS:
        own = [(name, p) for name, p in found if name.startswith(f"{layer}.")]
        for name, p in own:
            first.setdefault(id(p), name)
        words = [
            f"{name.removeprefix(layer)[1:]} {tuple(p.shape)}"
            if first[id(p)] == name
            else f"{first[id(p)]} once more"
            for name, p in own
        ]
        there = "without parameters" if hasattr(model, layer) else "missing"
        listed[layer] = ", ".join(words) or there
    rest = [f"{name} {tuple(p.shape)}" for name, p in found if id(p) not in first]
    shared = {id(p) for p in model.parameters()} & {id(p) for p in other.parameters()}
    return {
        **listed,
        "the list of other parameters": ", ".join(rest) or "empty",
        "the number of entries in all parameters": sum(
            p.numel() for p in model.parameters()
        ),
        "the number of parameters that two models share": len(shared),
    }


def filled(model: nn.Module, draw: Inputs) -> nn.Module:
    """Draw float64 parameters for a model's layers, and choose eval mode."""
    model = model.double()
    for layer in LAYERS:
        for _, p in sorted(getattr(model, layer).named_parameters()):
            scale = p.size(-1) ** -0.5 if p.dim() > 1 else 1.0
            p.data = draw.normal(*p.shape) * scale
    return model.eval()


def drawn_tokens(draw: Inputs, vocab_size: int, *shape: int) -> Tensor:
    """Draw tokens."""
    numbers = [draw.integer(0, vocab_size - 1) for _ in range(math.prod(shape))]
    return draw.give(torch.tensor(numbers).reshape(shape))


def error_of(model: nn.Module, tokens: Tensor) -> str:
    """Name the error that a model ends with; any kind of ValueError is one."""
    try:
        model(tokens)
    except Exception as error:
        return "ValueError" if isinstance(error, ValueError) else type(error).__name__
    return "none"


NO_OTHER_SPLIT = shortcut(
    "split_word",
    "Dictionary",
    because="The exercise is to split the word yourself.",
)
NO_OTHER_RATE = shortcut(
    "learning_rate", "Recipe", because="The exercise is to write the rate yourself."
)
NO_OTHER_GROUPS = shortcut(
    "parameter_groups",
    "Recipe",
    because="The exercise is to sort the parameters yourself.",
)
NO_OTHER_CLASS = shortcut(
    "GPT", "GPT", because="The exercise is to write the model yourself."
)


@check("GPT", points=1)
def its_layers(model_class: Any, draw: Inputs) -> Any:
    """The four layers, the number of entries in all parameters, and two models that share none."""
    return layers_of(model_class)


@check("GPT", points=1, show=True)
def logits_of_two_texts(model_class: Any, draw: Inputs) -> Any:
    """The logits of one token, then of two texts of five tokens, without dropout."""
    model = filled(model_class(**SIZES), draw)
    return {
        "one token": model(drawn_tokens(draw, 11, 1, 1)),
        "two texts": model(drawn_tokens(draw, 11, 2, 5)),
    }


@check("GPT", points=1)
def what_a_token_sees(model_class: Any, draw: Inputs) -> Any:
    """Which logits change when one token of a text does: its own and those after it, in that text alone."""
    model = filled(model_class(**SIZES), draw)
    tokens = drawn_tokens(draw, 11, 3, 6)
    before, changed = model(tokens), []
    for position in range(6):
        other = tokens.clone()
        other[1, position] = (other[1, position] + 1) % 11
        apart = (model(other) - before).abs().amax(dim=-1) > 1e-9
        changed.append(apart)
    return {
        f"logits that change with token {n} of text 1": c.long()
        for n, c in enumerate(changed)
    }


@check("GPT", points=1, show=True)
def dropout_and_the_longest_text(model_class: Any, draw: Inputs) -> Any:
    """With dropout=1 nothing of the tokens is left in training; and a text as long as max_len, and a longer one."""
    model = filled(model_class(**SIZES, dropout=1.0), draw)
    tokens = drawn_tokens(draw, 11, 2, 7)
    longer = torch.cat([tokens, tokens[:, :1]], dim=1)
    return {
        "in training": model.train()(tokens),
        "in eval mode": model.eval()(tokens),
        "the error of a text that is longer by one": error_of(model, longer),
    }


# The recipe


@check("learning_rate", points=1, show=True)
def up_and_down(learning_rate: Any, draw: Inputs) -> Any:
    """Every step of a short training, and those after its end."""
    peak = (1 + draw.integer(1, 99)) / 1000
    floor = peak / draw.integer(3, 5)
    warmup, total = draw.size(4, 5, 7), draw.size(12, 13, 17)
    return {
        f"step {step} of {total}, {warmup} of them warm-up": learning_rate(
            step, peak=peak, warmup=warmup, total=total, floor=floor
        )
        for step in range(total + 2)
    }


class Model(nn.Module):
    """A model with each kind of parameter, and names that say nothing about it."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Embedding(5, 4)
        self.weights = nn.Linear(4, 3)
        self.gain = nn.Conv1d(3, 3, 2)
        self.tied = nn.Linear(4, 5, bias=False)
        self.tied.weight = self.bias.weight
        self.final = nn.LayerNorm(3)
        self.scale = nn.Parameter(torch.ones(()))


def groups_in(result: Any, model: nn.Module) -> Any:
    """Name the parameters of each group, with its decay."""
    grouped = isinstance(result, list | tuple)
    if not grouped or not all(isinstance(group, dict) for group in result):
        raise ValueError("Return a list of two dictionaries.")
    names = {id(p): name for name, p in model.named_parameters()}

    def named(params: Any) -> str:
        if isinstance(params, set):
            return "a set, which AdamW does not take"
        if not isinstance(params, list | tuple):
            return "no list, but something to go through once"
        return ", ".join(sorted(names.get(id(p), "something else") for p in params))

    return [
        {
            "the list of params": named(group["params"])
            if "params" in group
            else "missing",
            "weight_decay": float(group["weight_decay"])
            if "weight_decay" in group
            else "missing",
        }
        for group in result
    ]


@check("parameter_groups", points=1)
def each_kind_of_parameter(parameter_groups: Any, draw: Inputs) -> Any:
    """An embedding that is also the output matrix, a linear layer, a convolution, a norm, and a single number."""
    model = Model()
    return groups_in(parameter_groups(model, draw.integer(1, 99) / 100), model)


# The next token


@check("next_token_probabilities", points=1, show=True)
def temperature_and_top_k(next_token_probabilities: Any, draw: Inputs) -> Any:
    """Two rows of six logits, with nothing, with a temperature, with top_k, and with both."""
    logits = draw.normal(2, 6)
    return {
        "no options": next_token_probabilities(logits),
        "temperature=0.5": next_token_probabilities(logits, temperature=0.5),
        "top_k=3": next_token_probabilities(logits, top_k=3),
        "temperature=2, top_k=2": next_token_probabilities(
            logits, temperature=2.0, top_k=2
        ),
    }


def rows_of(draw: Inputs, *probabilities: float) -> Tensor:
    """Return three rows of logits with given probabilities, each in an order of its own."""
    shares = torch.tensor(probabilities, dtype=torch.float64)
    shift = draw.normal(3, 1)
    rows = [shares[draw.normal(len(shares)).argsort()] for _ in range(3)]
    return draw.give(torch.stack(rows).log() + shift)


@check("next_token_probabilities", points=1, show=True)
def top_p_with_the_others(next_token_probabilities: Any, draw: Inputs) -> Any:
    """Probabilities 0.4, 0.3, 0.15, 0.1, 0.05 in three orders: top_p alone, with a temperature, with top_k."""
    logits = rows_of(draw, 0.4, 0.3, 0.15, 0.1, 0.05)
    return {
        "top_p=0.6": next_token_probabilities(logits, top_p=0.6),
        "top_p=0.3": next_token_probabilities(logits, top_p=0.3),
        "temperature=0.5, top_p=0.6": next_token_probabilities(
            logits, temperature=0.5, top_p=0.6
        ),
        "temperature=3, top_p=0.6": next_token_probabilities(
            logits, temperature=3.0, top_p=0.6
        ),
        "top_k=3, top_p=0.45": next_token_probabilities(logits, top_k=3, top_p=0.45),
    }


@check("next_token_probabilities", points=1, show=True)
def zero_and_ties(next_token_probabilities: Any, draw: Inputs) -> Any:
    """Equal logits, of which the first ones count as the larger, a temperature of 0, and a sum that is just top_p."""
    low, high = -1.0 - draw.integer(0, 3), 1.0 + draw.integer(0, 3)
    ties = draw.give(
        torch.tensor([[low, high, low, high, high], [high, low, low, low, 0.0]])
    ).double()
    return {
        "temperature=0": next_token_probabilities(ties, temperature=0.0),
        "top_k=2": next_token_probabilities(ties, top_k=2),
        "top_k=3": next_token_probabilities(ties, top_k=3),
        "top_k=9": next_token_probabilities(ties, top_k=9),
        "top_p=0.5 of four equal logits": next_token_probabilities(
            torch.full((1, 4), high).double(), top_p=0.5
        ),
    }


# Published weights


def published(
    draw: Inputs,
    *,
    layers: int = 2,
    width: int = 6,
    vocab_size: int = 11,
    max_len: int = 7,
    prefix: str = "",
    masks: bool = False,
    head: bool = False,
    spread: float = 1.0,
) -> dict[str, Tensor]:
    """Draw float32 weights with the names and layouts in which GPT-2 was published."""
    shapes = {
        "ln_1.weight": (width,),
        "ln_1.bias": (width,),
        "attn.c_attn.weight": (width, 3 * width),
        "attn.c_attn.bias": (3 * width,),
        "attn.c_proj.weight": (width, width),
        "attn.c_proj.bias": (width,),
        "ln_2.weight": (width,),
        "ln_2.bias": (width,),
        "mlp.c_fc.weight": (width, 4 * width),
        "mlp.c_fc.bias": (4 * width,),
        "mlp.c_proj.weight": (4 * width, width),
        "mlp.c_proj.bias": (width,),
    }
    all_shapes = {
        "wte.weight": (vocab_size, width),
        "wpe.weight": (max_len, width),
        **{f"h.{n}.{name}": s for n in range(layers) for name, s in shapes.items()},
        "ln_f.weight": (width,),
        "ln_f.bias": (width,),
    }
    weights = {}
    for name, shape in all_shapes.items():
        scale = spread * shape[0] ** -0.5 if len(shape) > 1 else 1.0
        weights[name] = draw.give((draw.normal(*shape) * scale).float())
    if masks:
        triangle = torch.ones(1, 1, max_len, max_len).tril()
        for n in range(layers):
            weights[f"h.{n}.attn.bias"] = triangle
            weights[f"h.{n}.attn.masked_bias"] = torch.tensor(-1e4)
    weights = {f"{prefix}{name}": tensor for name, tensor in weights.items()}
    if head:
        weights["lm_head.weight"] = weights[f"{prefix}wte.weight"]
    return weights


NO_LIBRARY = shortcut(
    "from_published",
    "transformers",
    because="The exercise is to write the translation yourself.",
)


@check("from_published", points=1, show=True)
def one_block(from_published: Any, draw: Inputs) -> Any:
    """One block with two heads: the logits of two texts."""
    model = from_published(published(draw, layers=1), 2)
    return model(drawn_tokens(draw, 11, 2, 5))


@check("from_published", points=1, show=True)
def with_prefix_masks_and_head(from_published: Any, draw: Inputs) -> Any:
    """Two blocks with three heads; every name begins with `transformer.`, and there are masks and an lm_head.weight."""
    weights = published(draw, prefix="transformer.", masks=True, head=True)
    return from_published(weights, 3)(drawn_tokens(draw, 11, 2, 7))


@law("learn_merges")
def counted_anew(learn_merges: Any, draw: Inputs) -> bool:
    """Pairs are counted anew after each merge: one that a merge has used up does not come next."""
    return learn_merges({"abc": 10, "bc": 1}, 2) == [("b", "c"), ("a", "bc")]


@law("split_word")
def the_pairs_themselves(split_word: Any, draw: Inputs) -> bool:
    """Only a pair in the list is joined: ("ab", "c") does not join "a" and "bc"."""
    return split_word("abc", [("b", "c"), ("ab", "c")]) == ["a", "bc"]


@law("split_word")
def the_first_pair(split_word: Any, draw: Inputs) -> bool:
    """The first pair of the list goes before the second, wherever they are in the word."""
    return split_word("abc", [("b", "c"), ("a", "b")]) == ["a", "bc"]


@law("learning_rate")
def the_peak(learning_rate: Any, draw: Inputs) -> bool:
    """The last step of the warm-up and the one after it have the peak: the cosine begins where the warm-up ends."""
    rates = [learning_rate(n, peak=2.0, warmup=4, total=10) for n in (3, 4)]
    return all(abs(rate - 2.0) < 1e-6 for rate in rates)


@law("learning_rate")
def the_middle(learning_rate: Any, draw: Inputs) -> bool:
    """Halfway between the warm-up and the end, the rate is in the middle between peak and floor."""
    rate = learning_rate(7, peak=2.0, warmup=4, total=10, floor=0.5)
    return abs(rate - 1.25) < 1e-6


@law("learning_rate")
def equal_parts(learning_rate: Any, draw: Inputs) -> bool:
    """The warm-up rises in equal parts, the first step having peak / warmup."""
    rates = [learning_rate(n, peak=2.0, warmup=4, total=10) for n in range(4)]
    return all(abs(rate - 0.5 * n) < 1e-6 for n, rate in enumerate(rates, 1))


@law("parameter_groups")
def names_decide_nothing(parameter_groups: Any, draw: Inputs) -> bool:
    """The number of axes decides, and neither a name nor a layer's class does."""
    model = nn.Module()
    model.bias_table = nn.Parameter(torch.ones(2, 3))
    model.norm = nn.Linear(3, 2)
    model.weight = nn.Parameter(torch.ones(3))
    decays, rest = (group["params"] for group in parameter_groups(model, 0.1))
    return all(p.dim() > 1 for p in decays) and all(p.dim() < 2 for p in rest)


@law("next_token_probabilities")
def a_sure_model(next_token_probabilities: Any, draw: Inputs) -> bool:
    """Where one token has a probability of 0.9, top_p=0.8 keeps that token alone: top_p is a share of the probability
    and not of the vocabulary.
    """
    logits = torch.tensor([0.9, 0.05, 0.03, 0.02]).double().log()
    kept = next_token_probabilities(logits, top_p=0.8)
    return torch.equal(kept > 0, torch.tensor([True, False, False, False]))


@law("next_token_probabilities")
def enough_is_kept(next_token_probabilities: Any, draw: Inputs) -> bool:
    """What top_p keeps has together at least the probability top_p, so the token that reaches it is kept too."""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).double().log()
    kept = next_token_probabilities(logits, top_p=0.6)
    return torch.equal(kept > 0, torch.tensor([True, True, False, False]))


@law("from_published")
def all_blocks_in_order(from_published: Any, draw: Inputs) -> bool:
    """A file with twelve blocks gives a model with twelve: their numbers are compared as numbers, not as texts."""
    model = from_published(published(draw, layers=12), 2)
    return len(model.blocks) == 12
