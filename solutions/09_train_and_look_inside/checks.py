"""The checks of lesson 9 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from collections.abc import Sequence
from typing import Any

import torch
from attention import MultiHeadAttention
from torch import Tensor, nn

from autograder.checks import Inputs, check, law, shortcut

ROWS = 300  # sequences: with so many, every period and every token occurs
SINGLE = 20  # batches of one sequence

Facts = dict[str, str]

NO_OTHER_SCORE = shortcut(
    "previous_token_score",
    "one_back",
    because="The exercise is to write the score yourself.",
)
NO_OTHER_INDUCTION = shortcut(
    "induction_score",
    "repetition",
    because="The exercise is to write the score yourself.",
)
NO_OTHER_SWITCH = shortcut(
    "ablate_head",
    "silenced",
    because="The exercise is to switch the head off yourself.",
)


def two_tensors(result: Any, rows: int, length: int) -> tuple[Tensor, Tensor]:
    """Return the tokens and periods of one batch. Raises ValueError where they are something else."""
    if result is None:
        raise ValueError("It returned None. Is a `return` missing?")
    if not isinstance(result, list | tuple) or len(result) != 2:
        one = "One tensor" if isinstance(result, Tensor) else "Something else"
        raise ValueError(
            f"{one} came back. Two tensors were asked for: the tokens (B, L), then the periods (B,)."
        )
    wanted = {"tokens": (rows, length), "periods": (rows,)}
    for (name, shape), tensor in zip(wanted.items(), result, strict=True):
        if not isinstance(tensor, Tensor):
            raise ValueError(f"The {name} should be a tensor.")
        if tuple(tensor.shape) != shape:
            raise ValueError(
                f"The {name} have shape {tuple(tensor.shape)}; "
                f"they should have shape {shape}."
            )
        if tensor.is_floating_point() or tensor.dtype == torch.bool:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise ValueError(f"The {name} are {kind}; they should be integers.")
    return result[0].long(), result[1].long()


def compared(number: Tensor, name: str, limit: int) -> str:
    """Say how a number compares with what the docstring calls `name`."""
    away = int(number) - limit
    side = "more" if away > 0 else "less"
    return f"{'one ' if abs(away) == 1 else ''}{side} than {name}" if away else name


def sequences_in(tokens: Tensor, periods: Tensor) -> list[tuple[list[int], int]]:
    """Return each sequence with a period that fits into it."""
    fitting = periods.clamp(1, tokens.size(1)).tolist()
    return list(zip(tokens.tolist(), fitting, strict=True))


def beginning(rows: list[tuple[list[int], int]]) -> str:
    """Describe the first period of the sequences."""
    kinds = [(len(set(row[:p])), p) for row, p in rows]
    if all(kinds_of_token == p for kinds_of_token, p in kinds):
        return "a run of distinct tokens"
    if all(kinds_of_token == 1 for kinds_of_token, _ in kinds):
        return "one token again and again"
    return "a run in which a token occurs twice"


def continuation(rows: list[tuple[list[int], int]]) -> str:
    """Describe what follows the first period of the sequences."""

    def repeats(row: list[int], p: int) -> bool:
        return row[p:] == row[:-p]

    wrong = [(row, p) for row, p in rows if p < len(row) and not repeats(row, p)]
    if not wrong:
        return "the same tokens again and again"
    own = [
        next((q for q in range(1, len(row) // 2 + 2) if repeats(row, q)), 0)
        for row, _ in rows
    ]
    if all(own):
        apart = {q - p for q, (_, p) in zip(own, rows, strict=True)}
        if len(set(own)) == 1:
            return "a repetition with the same period in every row"
        if apart == {-1} or apart == {1}:
            return f"a repetition one token too {'short' if apart == {-1} else 'long'}"
        return "a repetition with another period than the one returned"
    pairs = [(row[:p], row[p : 2 * p]) for row, p in wrong]
    if all(a[: len(b)] == b for a, b in pairs):
        return "the same tokens once more, and then others"
    if all(a[::-1] == b for a, b in pairs):
        return "the same tokens in reverse order"
    if all(sorted(a) == sorted(b) for a, b in pairs):
        return "the same tokens in another order"
    return "other tokens"


def order_of(tokens: Tensor, vocab: int) -> str:
    """Describe how the first few tokens of the sequences follow one another."""
    start = tokens[:, : min(3, tokens.size(1))]
    steps = start.diff(dim=1)
    if bool((start == start[0]).all()):
        return "the same in every row"
    if bool((start[:, 0] == start[0, 0]).all()):
        return "one that always begins with the same token"
    if bool((steps > 0).all()):
        return "always ascending"
    if len(set(map(tuple, (steps % vocab).tolist()))) == 1:
        return "always in the same steps"
    if len(set(map(tuple, start[:, :2].tolist()))) <= 2 * vocab:
        return "taken from a few fixed ones"
    return "a new one in every row"


def described(sizes: Any, result: Any, rows: int, more: Sequence[Tensor] = ()) -> Facts:
    """Describe one batch, in words that are the same for every sound way of drawing it; more tokens may come along."""
    length, vocab, shortest = sizes
    tokens, periods = two_tensors(result, rows, length)
    sequences = sequences_in(tokens, periods)
    found = torch.cat([tokens.flatten(), *(t.flatten() for t in more)])
    own = bool((tokens.amax(dim=1) == periods - 1).all()) and length // 2 != shortest
    largest = "period - 1" if own else compared(found.amax(), "vocab - 1", vocab - 1)
    facts = {
        "the smallest period": compared(periods.amin(), "min_period", shortest),
        "the largest period": compared(periods.amax(), "length // 2", length // 2),
    }
    if bool((periods == periods[0]).all()) and length // 2 > shortest:
        facts = dict.fromkeys(facts, "that of every row")
    return {
        **facts,
        "the smallest token": compared(found.amin(), "0", 0),
        "the largest token": largest,
        "the first period of a sequence": beginning(sequences),
        "the rest of a sequence": continuation(sequences),
    }


def as_described(measured: Any) -> Facts:
    """Describe a large batch, and how the periods of small ones differ."""
    sizes, large, *small = measured
    two_tensors(large, ROWS, sizes[0])
    singles = [two_tensors(result, 1, sizes[0]) for result in small]
    facts = described(sizes, large, ROWS, [tokens for tokens, _ in singles])
    alone = {int(period) for _, period in singles}
    if facts["the smallest period"] == "that of every row":
        once = "drawn once for each batch" if len(alone) > 1 else "never drawn"
        return {"the period of a row": once, **facts}
    return {"the period of a row": "its own", **facts}


def generator_of(seed: int) -> torch.Generator:
    """Make a generator that starts from a seed."""
    return torch.Generator().manual_seed(seed)


@check("make_repeating_batch", points=1, summary=as_described)
def how_sequences_repeat(make_repeating_batch: Any, draw: Inputs) -> Any:
    """300 sequences of 27 tokens from a vocabulary of 17, then 20 batches of one sequence: periods and tokens."""
    generator = generator_of(draw.integer(0, 999))
    batches = [
        make_repeating_batch(rows, 27, 17, generator=generator)
        for rows in (ROWS, *[1] * SINGLE)
    ]
    return (27, 17, 6), *batches


def as_drawn(measured: Any) -> Facts:
    """Describe where the random numbers of four batches come from."""
    (length, vocab, shortest), *results = measured
    batches = [two_tensors(result, ROWS, length) for result in results]
    first, second, again, other = batches
    below = bool((first[1] < shortest).any())

    def against(batch: tuple[Tensor, Tensor]) -> str:
        starts = [tokens[:, :shortest] for tokens, _ in (first, batch)]
        periods, tokens = first[1].equal(batch[1]), starts[0].equal(starts[1])
        if bool((first[1] == first[1][0]).all()):
            periods = tokens  # a single period may be drawn twice by chance
        if periods and tokens:
            return "the same batch" if first[0].equal(batch[0]) else "other tokens"
        if not periods and not tokens:
            return "another batch"
        return "the old tokens with other periods" if tokens else "other tokens"

    return {
        "the order of the tokens": order_of(first[0], vocab),
        "the smallest period": "below min_period" if below else "at least min_period",
        "the batch from an equal generator": against(again),
        "the batch from the next call": against(second),
        "the batch from a generator with another seed": against(other),
    }


@check("make_repeating_batch", points=1, summary=as_drawn)
def where_the_randomness_comes_from(make_repeating_batch: Any, draw: Inputs) -> Any:
    """Periods of at least 8, a new order in every row, and four batches: two from one generator, one from an equal
    generator, one from another.
    """
    seeds = draw.integer(0, 99), draw.integer(100, 199)
    sizes = 31, 19, 8
    batches = []
    one = generator_of(seeds[0])
    for i, generator in enumerate(
        (one, one, generator_of(seeds[0]), generator_of(seeds[1]))
    ):
        torch.default_generator.manual_seed(i)  # which should make no difference
        batches.append(
            make_repeating_batch(
                ROWS, sizes[0], sizes[1], generator=generator, min_period=sizes[2]
            )
        )
    return sizes, *batches


def looks(draw: Inputs, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Draw attention weights (B, H, L, L) without a mask, so that every entry can be told from the others."""
    return draw.give((2 * draw.normal(*shape, shape[-1], dtype=dtype)).softmax(dim=-1))


@check("previous_token_score", points=1, show=True)
def three_heads(previous_token_score: Any, draw: Inputs) -> Any:
    """Two sequences of five tokens, three heads."""
    return previous_token_score(looks(draw, 2, 3, 5))


def given(draw: Inputs, *periods: int) -> Tensor:
    """Make the tensor of periods."""
    return draw.give(torch.tensor(periods))


@check("induction_score", points=1, show=True)
def one_period_for_both(induction_score: Any, draw: Inputs) -> Any:
    """Two sequences of seven tokens that both repeat after three, in five heads."""
    return induction_score(looks(draw, 2, 5, 7), given(draw, 3, 3))


@check("induction_score", points=1, show=True)
def a_period_for_each(induction_score: Any, draw: Inputs) -> Any:
    """Three sequences of ten tokens that repeat after two, three and seven, in four heads."""
    return induction_score(looks(draw, 3, 4, 10), given(draw, 2, 3, 7))


LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj")


def attention_for(draw: Inputs, width: int, heads: int, bias: bool = True) -> nn.Module:
    """Make a float64 module with drawn parameters."""
    module = MultiHeadAttention(width, heads, bias=bias).double()
    for name in LAYERS:
        layer = getattr(module, name)
        layer.weight.data = draw.normal(width, width) / width**0.5
        if bias:
            layer.bias.data = draw.normal(width).clone()
    return module


@check("ablate_head", points=1, show=True)
def each_head_in_turn(ablate_head: Any, draw: Inputs) -> Any:
    """The output of three heads with each of them switched off in turn, inside the block and after it."""
    module, x = attention_for(draw, 6, 3), draw.normal(2, 4, 6)
    results = {}
    for head in range(3):
        with ablate_head(module, head):
            results[f"the output inside the block of head {head}"] = module(x)[0]
        results[f"the output after the block of head {head}"] = module(x)[0]
    return results


class OnPurposeError(Exception):
    """What a block is left with."""


@check("ablate_head", points=1, show=True)
def after_an_exception(ablate_head: Any, draw: Inputs) -> Any:
    """A block that an exception ends: what leaves it, and the output afterward."""
    module, x = attention_for(draw, 6, 3), draw.normal(2, 4, 6)
    left = "none"
    try:
        with ablate_head(module, 1):
            raise OnPurposeError
    except OnPurposeError:
        left = OnPurposeError.__name__
    return {"the error that left the block": left, "the output afterward": module(x)[0]}


@check("ablate_head", points=1, show=True)
def still_learning(ablate_head: Any, draw: Inputs) -> Any:
    """Gradients inside the block and after it, and the same parameter objects as before."""
    module, x = attention_for(draw, 6, 2), draw.normal(2, 4, 6).requires_grad_()
    factor, before = draw.normal(2, 4, 6), dict(module.named_parameters())
    with ablate_head(module, 0):
        inside = module(x)[0]
        gradient = (
            torch.autograd.grad((inside * factor).sum(), x)[0]
            if inside.requires_grad
            else None
        )
    module.zero_grad()
    (module(x)[0] * factor).sum().backward()
    now = dict(module.named_parameters())
    same = all(now.get(name) is parameter for name, parameter in before.items())
    return {
        "the gradient of the input inside the block": gradient,
        "the parameters are the same objects afterward": same,
        **{
            f"the gradient of {name}.weight afterward": before[f"{name}.weight"].grad
            for name in LAYERS
        },
    }


@law("previous_token_score")
def weights_and_not_places(previous_token_score: Any, draw: Inputs) -> bool:
    """Where every query but the first gives 0.4 to the token before it, the score is 0.4, whoever gets most."""
    weights = torch.diag(torch.tensor([1.0, 0.6, 0.6, 0.6, 0.6]).double())
    weights += torch.diag(torch.full((4,), 0.4).double(), -1)
    score = previous_token_score(weights.view(1, 1, 5, 5))
    return torch.allclose(score, torch.tensor([0.4]).to(score), atol=1e-3)


@law("induction_score")
def the_previous_occurrence_alone(induction_score: Any, draw: Inputs) -> bool:
    """Of several earlier occurrences only the previous one counts: weight on the token after an older one earns
    nothing.
    """
    weights = torch.zeros(1, 1, 8, 8, dtype=torch.float64)
    weights[0, 0, torch.arange(8), (torch.arange(8) - 5).clamp(min=0)] = 1.0
    score = induction_score(weights, given(draw, 3))
    return torch.allclose(score, torch.zeros_like(score), atol=1e-3)


@law("induction_score")
def a_period_each(induction_score: Any, draw: Inputs) -> bool:
    """Each sequence is scored with its own period, and every place counts the same."""
    weights = looks(draw, 2, 3, 9)
    both = induction_score(weights, given(draw, 3, 7))
    alone = [
        induction_score(weights[i : i + 1], given(draw, p)) for i, p in ((0, 3), (1, 7))
    ]
    return torch.allclose(both, (6 * alone[0] + 2 * alone[1]) / 8, atol=1e-3)


@law("make_repeating_batch")
def tokens_repeat_after_the_period(make_repeating_batch: Any, draw: Inputs) -> bool:
    """A sequence has at each place the token that it had one period before."""
    tokens, periods = make_repeating_batch(
        20, 17, 30, generator=generator_of(draw.integer(0, 999))
    )
    rows = zip(tokens, periods.tolist(), strict=True)
    return all(torch.equal(row[p:], row[:-p]) for row, p in rows)


@law("make_repeating_batch")
def tokens_of_a_period_differ(make_repeating_batch: Any, draw: Inputs) -> bool:
    """The tokens of one period are all different, also where the vocabulary is hardly larger than the period."""
    tokens, periods = make_repeating_batch(
        20, 18, 9, generator=generator_of(draw.integer(0, 999))
    )
    rows = zip(tokens.tolist(), periods.tolist(), strict=True)
    return all(len(set(row[:p])) == p for row, p in rows)


@law("make_repeating_batch")
def each_row_has_a_period(make_repeating_batch: Any, draw: Inputs) -> bool:
    """Each sequence draws a period of its own, and of many every length from min_period to length // 2 occurs."""
    _, periods = make_repeating_batch(
        400, 16, 20, generator=generator_of(draw.integer(0, 999))
    )
    return sorted(set(periods.tolist())) == [6, 7, 8]


@law("make_repeating_batch")
def each_row_has_its_tokens(make_repeating_batch: Any, draw: Inputs) -> bool:
    """Each sequence draws tokens of its own, out of all of the vocabulary."""
    tokens, _ = make_repeating_batch(
        200, 16, 20, generator=generator_of(draw.integer(0, 999))
    )
    return (
        len(set(map(tuple, tokens[:, :6].tolist()))) > 150
        and len(set(tokens.flatten().tolist())) == 20
    )


@law("previous_token_score")
def the_first_has_none_before(previous_token_score: Any, draw: Inputs) -> bool:
    """What the first query looks at changes nothing: no token is before it, so it is not counted either."""
    weights = looks(draw, 2, 3, 5)
    other = weights.clone()
    other[:, :, 0] = torch.eye(5)[-1].to(weights)
    one, two = previous_token_score(weights), previous_token_score(other)
    return torch.allclose(one, two, atol=1e-4)


@law("previous_token_score")
def all_on_the_token_before(previous_token_score: Any, draw: Inputs) -> bool:
    """A head that always puts all weight on the token before has a score of 1, at any length."""
    tables = [torch.eye(n).roll(-1, dims=1).view(1, 1, n, n).double() for n in (3, 8)]
    return all(abs(float(previous_token_score(table)) - 1) < 1e-4 for table in tables)


@law("induction_score")
def no_occurrence_before_the_period(induction_score: Any, draw: Inputs) -> bool:
    """What queries before place `period` look at changes nothing: their token has not occurred yet."""
    weights = looks(draw, 1, 2, 8)
    other = weights.clone()
    other[:, :, :3] = looks(draw, 1, 2, 8)[:, :, :3]
    one, two = (induction_score(w, given(draw, 3)) for w in (weights, other))
    return torch.allclose(one, two, atol=1e-4)


@law("induction_score")
def all_on_the_token_after(induction_score: Any, draw: Inputs) -> bool:
    """A head that puts all weight on the place period - 1 back, the token after the previous occurrence, scores 1."""
    weights = torch.zeros(1, 1, 9, 9, dtype=torch.float64)
    weights[0, 0, torch.arange(9), (torch.arange(9) - 3).clamp(min=0)] = 1.0
    return abs(float(induction_score(weights, given(draw, 4))) - 1) < 1e-4


@law("ablate_head")
def what_the_head_looks_at_is_lost(ablate_head: Any, draw: Inputs) -> bool:
    """Inside the block nothing of the head arrives: its part of v_proj and of out_proj may hold anything."""
    module, x = attention_for(draw, 6, 3), draw.normal(2, 4, 6)
    outputs = []
    for _ in range(2):
        with ablate_head(module, 1):
            outputs.append(module(x)[0].detach())
        module.v_proj.weight.data[2:4] += 3
        module.out_proj.weight.data[:, 2:4] *= -2
    return torch.allclose(*outputs, atol=1e-4)


@law("ablate_head")
def the_other_heads_stay(ablate_head: Any, draw: Inputs) -> bool:
    """Inside the block the output lacks what the head adds, and nothing else: the parts of all heads still sum to the
    whole.
    """
    module, x = attention_for(draw, 6, 3, bias=False), draw.normal(2, 4, 6)
    whole, lacking = module(x)[0], []
    for head in range(3):
        with ablate_head(module, head):
            lacking.append(whole - module(x)[0])
    return torch.allclose(sum(lacking), whole, atol=1e-4)


@law("ablate_head")
def as_before_afterward(ablate_head: Any, draw: Inputs) -> bool:
    """After the block the module computes what it computed before, also where an exception has ended the block."""
    module, x = attention_for(draw, 6, 3), draw.normal(2, 4, 6)
    before = module(x)[0]
    try:
        with ablate_head(module, 0):
            raise OnPurposeError
    except OnPurposeError:
        pass
    return torch.allclose(module(x)[0], before, atol=1e-6)


@law("ablate_head")
def nothing_but_the_bias(ablate_head: Any, draw: Inputs) -> bool:
    """Where both heads of two are switched off, in nested blocks, only the output's bias is left."""
    module, x = attention_for(draw, 6, 2), draw.normal(2, 4, 6)
    with ablate_head(module, 0), ablate_head(module, 1):
        output = module(x)[0]
    return torch.allclose(output, module.out_proj.bias.expand_as(output), atol=1e-5)
