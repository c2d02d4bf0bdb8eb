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


@law("learn_merges")
def often_counts_more(learn_merges: Any, draw: Inputs) -> bool:
    """A pair counts as often as its words occur: one word that occurs nine times outweighs two that occur once."""
    return learn_merges({"ab": 9, "xy": 1, "xyz": 1}, 1) == [("a", "b")]


@law("learn_merges")
def smallest_first(learn_merges: Any, draw: Inputs) -> bool:
    """Of equally frequent pairs the smallest comes first, in whatever order the words are."""
    orders = {"ab": 2, "ac": 2}, {"ac": 2, "ab": 2}
    return all(learn_merges(words, 1) == [("a", "b")] for words in orders)


@law("learn_merges")
def not_across_words(learn_merges: Any, draw: Inputs) -> bool:
    """Words of one character have no pairs: nothing is merged across words, and no pair comes that is not there."""
    return learn_merges({"a": 5, "b": 5}, 3) == []


@law("learn_merges")
def as_often_as_it_could_be_merged(learn_merges: Any, draw: Inputs) -> bool:
    """In "aaa" the pair of two a counts once, since a merge takes both."""
    return learn_merges({"aaa": 2, "bc": 3}, 1) == [("b", "c")]


@law("split_word")
def wherever_it_occurs(split_word: Any, draw: Inputs) -> bool:
    """A pair is merged wherever it occurs in the word, and from left to right: of three a the first two."""
    found = split_word("abcab", [("a", "b")]), split_word("aaa", [("a", "a")])
    return found == (["ab", "c", "ab"], ["aa", "a"])


@law("split_word")
def merged_tokens_are_merged_on(split_word: Any, draw: Inputs) -> bool:
    """What a merge makes may be merged again, also by a pair that comes earlier in the list."""
    return split_word("abc", [("ab", "c"), ("a", "b")]) == ["abc"]


@law("split_word")
def nothing_is_lost(split_word: Any, draw: Inputs) -> bool:
    """The tokens joined are the word, whatever is merged; an empty word has none."""
    merges = [("a", "b"), ("c", "d"), ("ab", "cd")]
    words = "abxcd", "xyz", "dcba", ""
    return (
        all("".join(split_word(word, merges)) == word for word in words)
        and split_word("", merges) == []
    )


@law("GPT")
def places_count(model_class: Any, draw: Inputs) -> bool:
    """The same token at two places has different logits: each place adds a vector of its own."""
    logits = filled(model_class(**SIZES), draw)(torch.full((1, 4), 3))
    return not torch.allclose(logits[:, 0], logits[:, 1], atol=1e-4)


@law("GPT")
def the_matrix_of_the_tokens(model_class: Any, draw: Inputs) -> bool:
    """The logits are the last norm's output times the matrix of token_embedding: where that norm gives 0, all are 0."""
    model = filled(model_class(**SIZES), draw)
    model.norm.weight.data.zero_()
    model.norm.bias.data.zero_()
    return not model(drawn_tokens(draw, 11, 1, 4)).any()


@law("GPT")
def as_numbers_begin(model_class: Any, draw: Inputs) -> bool:
    """All matrices, those of the embeddings too, begin with mean 0 and a standard deviation of 0.02, and biases of
    linear layers as PyTorch makes them.
    """
    state = torch.random.get_rng_state()
    torch.manual_seed(draw.integer(0, 999))
    model = model_class(
        vocab_size=300, max_len=200, d_model=48, num_layers=1, num_heads=3
    )
    torch.random.set_rng_state(state)
    matrices = [p.detach() for p in model.parameters() if p.dim() > 1]
    return all(
        0.017 < float(p.std()) < 0.023 and abs(float(p.mean())) < 0.003
        for p in matrices
    )


@law("learning_rate")
def floor_at_the_end(learning_rate: Any, draw: Inputs) -> bool:
    """At step `total` the rate is floor, and every later step has floor too: the cosine does not rise again."""
    rates = [
        learning_rate(n, peak=2.0, warmup=4, total=10, floor=0.5)
        for n in (10, 11, 16, 30)
    ]
    return all(abs(rate - 0.5) < 1e-6 for rate in rates)


@law("learning_rate")
def no_warm_up(learning_rate: Any, draw: Inputs) -> bool:
    """With a warmup of 0 step 0 has the peak; with a warmup of `total` there is no cosine."""
    first = learning_rate(0, peak=2.0, warmup=0, total=10)
    last = learning_rate(9, peak=2.0, warmup=10, total=10)
    return abs(first - 2.0) < 1e-6 and abs(last - 2.0) < 1e-6


@law("parameter_groups")
def each_once(parameter_groups: Any, draw: Inputs) -> bool:
    """Every parameter that learns is there once, also one that two layers share; those that do not learn are not."""
    model = Model()
    model.final.weight.requires_grad_(False)
    found = [id(p) for group in parameter_groups(model, 0.1) for p in group["params"]]
    wanted = {id(p) for p in model.parameters() if p.requires_grad}
    return len(found) == len(set(found)) and set(found) == wanted


@law("parameter_groups")
def the_first_decays(parameter_groups: Any, draw: Inputs) -> bool:
    """The first group has the decay, and the second one a decay of 0.0."""
    return [group["weight_decay"] for group in parameter_groups(Model(), 0.3)] == [
        0.3,
        0.0,
    ]


@law("next_token_probabilities")
def sums_of_what_is_kept(next_token_probabilities: Any, draw: Inputs) -> bool:
    """What is kept sums to 1: the probabilities of the others are shared out again."""
    logits = draw.normal(2, 6)
    kinds = {}, {"temperature": 0.5}, {"temperature": 0}, {"top_k": 2}, {"top_p": 0.5}
    sums = [
        next_token_probabilities(logits, **options).sum(dim=-1) for options in kinds
    ]
    return all(torch.allclose(each, torch.ones_like(each), atol=1e-4) for each in sums)


@law("next_token_probabilities")
def in_their_order(next_token_probabilities: Any, draw: Inputs) -> bool:
    """Probabilities are in the order of the logits, and not sorted: the largest is where the largest logit is."""
    logits = draw.normal(3, 7)
    kinds = {"top_k": 3}, {"top_p": 0.7}, {"temperature": 0}
    places = [
        next_token_probabilities(logits, **options).argmax(dim=-1) for options in kinds
    ]
    return all(torch.equal(each, logits.argmax(dim=-1)) for each in places)


@law("next_token_probabilities")
def as_many_as_top_k(next_token_probabilities: Any, draw: Inputs) -> bool:
    """top_k=2 keeps exactly two tokens of each row, also where a third is equal; where there are fewer, all
    are kept.
    """
    logits = torch.tensor([[3.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]).double()
    kept = next_token_probabilities(logits, top_k=2).gt(0).sum(dim=-1)
    every = next_token_probabilities(logits, top_k=9).gt(0).sum(dim=-1)
    return kept.tolist() == [2, 2] and every.tolist() == [4, 4]


@law("next_token_probabilities")
def temperature_comes_first(next_token_probabilities: Any, draw: Inputs) -> bool:
    """The temperature divides the logits before anything is left out: twice the logits at twice the temperature keep
    the same tokens with the same probabilities.
    """
    logits = draw.normal(2, 7)
    one = next_token_probabilities(logits, temperature=0.5, top_p=0.7)
    return torch.allclose(
        one, next_token_probabilities(2 * logits, top_p=0.7), atol=1e-4
    )


@law("from_published")
def copies_of_its_own(from_published: Any, draw: Inputs) -> bool:
    """The numbers are copied: what happens to the file's tensors later changes nothing in the model."""
    weights, tokens = published(draw, layers=1), drawn_tokens(draw, 11, 1, 4)
    weights = {name: tensor.clone() for name, tensor in weights.items()}
    model = from_published(weights, 2)
    before = model(tokens)
    for tensor in weights.values():
        tensor.add_(1)
    return torch.equal(model(tokens), before)


@law("from_published")
def turned_matrices(from_published: Any, draw: Inputs) -> bool:
    """The file's matrices of blocks are (in, out), and those of nn.Linear (out, in): each is turned, and no embedding
    is.
    """
    weights = published(draw, layers=1)
    parameters = [p.detach() for p in from_published(weights, 2).parameters()]

    def there(tensor: Tensor) -> bool:
        return any(
            p.shape == tensor.shape and torch.equal(p, tensor) for p in parameters
        )

    names = "h.0.mlp.c_fc", "h.0.mlp.c_proj", "h.0.attn.c_proj"
    return there(weights["wte.weight"]) and all(
        there(weights[f"{n}.weight"].T) for n in names
    )
