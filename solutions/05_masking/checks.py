"""The checks of lesson 5 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

import contextlib
from typing import Any

import torch
from torch import Tensor

from autograder.checks import Inputs, check, law, shortcut

NO_MASKED_SOFTMAX = shortcut(
    "masked_softmax",
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    because="The exercise is to write its steps yourself.",
)
NO_SCALED_DOT_PRODUCT_ATTENTION = shortcut(
    "scaled_dot_product_attention",
    "scaled_dot_product_attention",
    "MultiheadAttention",
    "multi_head_attention_forward",
    because="The exercise is to write its steps yourself.",
)


def rule(draw: Inputs, *shape: int, empty: Any = None) -> Tensor:
    """Draw a mask with about half of its entries True; each row has a True and a False, the empty ones no True."""
    mask, shown = draw.normal(*shape) > 0, draw.integer(0, shape[-1] - 1)
    mask[..., shown], mask[..., shown - 1] = True, False
    if empty is not None:
        mask[empty] = False
    return draw.give(mask)


def made_there(make: Any) -> bool:
    """Say whether a function creates its tensor on the requested device, on a computer that may have only one.

    Tensors on the "meta" device have a shape but no data, so some correct solutions fail on it. If one does, creating
    a tensor on the CPU is tried instead, with another device as the default.
    """
    with contextlib.suppress(RuntimeError):
        return bool(make(torch.device("meta")).device.type == "meta")
    with contextlib.suppress(RuntimeError), torch.device("meta"):
        return bool(make(torch.device("cpu")).device.type == "cpu")
    return False


@check("causal_mask", points=1, show=True)
def as_many_queries_as_keys(causal_mask: Any, draw: Inputs) -> Any:
    """As many queries as keys, with and without k_len."""
    n = draw.size(4, 5, 7)
    return {
        f"causal_mask({n})": causal_mask(n),
        f"causal_mask({n}, {n})": causal_mask(n, n),
    }


@check("causal_mask", points=1, show=True)
def two_new_queries(causal_mask: Any, draw: Inputs) -> Any:
    """Fewer queries than keys, and the requested device."""
    few, more = draw.size(2, 1, 3), draw.size(3, 4, 6)
    tables = {
        f"causal_mask({few}, {few + 3})": causal_mask(few, few + 3),
        f"causal_mask({more}, {more + 1})": causal_mask(more, k_len=more + 1),
    }
    there = made_there(lambda device: causal_mask(2, 3, device=device))
    return {**tables, "created on the requested device": there}


@check("padding_mask", points=1, show=True)
def three_lengths(padding_mask: Any, draw: Inputs) -> Any:
    """Three sentences in a batch as wide as the longest."""
    longest = draw.size(5, 6, 9)
    return padding_mask(draw.give(torch.tensor([2, longest, 3])), longest)


@check("padding_mask", points=1, show=True)
def as_many_sentences_as_tokens(padding_mask: Any, draw: Inputs) -> Any:
    """As many sentences as tokens, one of them empty and none as long as that; and the device of the lengths."""
    n = draw.size(4, 5, 7)
    mask = padding_mask(draw.give(torch.tensor([0, 1, 3, 2, 4, 4, 6][:n])), n)
    there = made_there(
        lambda device: padding_mask(torch.tensor([1, 3], device=device), 4)
    )
    return {"the mask": mask, "created on the device of the lengths": there}


@check("combine_masks", points=1, show=True)
def two_rules(combine_masks: Any, draw: Inputs) -> Any:
    """A rule per query and a rule per sentence."""
    return combine_masks(rule(draw, 3, 4), rule(draw, 2, 1, 1, 4))


@check("combine_masks", points=1, show=True)
def some_are_none(combine_masks: Any, draw: Inputs) -> Any:
    """One mask alone, None among masks, nothing but None, and no mask at all."""
    one, two = rule(draw, 2, 3), rule(draw, 2, 3)
    one[0, :2], two[0, :2] = torch.eye(
        2, dtype=torch.bool
    )  # neither allows everything the other does
    one[1, 0] = two[1, 0] = True
    return {
        "combine_masks(a)": combine_masks(one),
        "combine_masks(None, a, None, b)": combine_masks(None, one, None, two),
        "combine_masks(a, None, b)": combine_masks(one, None, two),
        "combine_masks(None, None)": combine_masks(None, None),
        "combine_masks()": combine_masks(),
    }


@check("masked_softmax", points=1, show=True)
def a_few_hidden(masked_softmax: Any, draw: Inputs) -> Any:
    """Three rows of four keys, each with at least one key to look at."""
    return masked_softmax(draw.normal(3, 4), rule(draw, 3, 4))


@check("masked_softmax", points=1, show=True)
def an_empty_row(masked_softmax: Any, draw: Inputs) -> Any:
    """One row with nothing to look at: the weights, and the gradient that reaches the scores."""
    scores = draw.normal(3, 4).requires_grad_()
    mask = rule(draw, 3, 4, empty=1)
    mask[::2, :2] = torch.tensor([False, True])
    weights = masked_softmax(scores, draw.give(mask))
    (weights * draw.normal(3, 4)).sum().backward()
    return {"weights": weights, "gradient": scores.grad}


@check("masked_softmax", points=1, show=True, tolerance=1e-3)
def no_mask_broadcast_large(masked_softmax: Any, draw: Inputs) -> Any:
    """No mask; one mask for three heads, with an empty sentence; scores around a million, far below 0, or hidden."""
    scores, large = draw.normal(2, 3, 4, 5), draw.give(1e6 * draw.normal(6, 5))
    low = draw.give(
        (50 * draw.normal(6, 5)).round() * 1024 - 2.0**31
    )  # numbers that float32 holds exactly
    hidden = draw.give(torch.tensor([[1e4, 0.3, -0.5], [1e4, 1.0, 0.0]]).double())
    after_it = draw.give(hidden < 1e3)
    return {
        "without a mask": masked_softmax(scores),
        "with heads": masked_softmax(scores, mask=rule(draw, 2, 1, 1, 5, empty=1)),
        "with large scores": masked_softmax(large, rule(draw, 6, 5)),
        "with a large hidden score": masked_softmax(hidden, after_it),
        "with scores far below zero": masked_softmax(low, rule(draw, 6, 5)),
    }


@check("scaled_dot_product_attention", points=1, show=True)
def without_a_mask(attention: Any, draw: Inputs) -> Any:
    """Three queries, five keys, values of a different dimension, no mask."""
    return attention(draw.normal(3, 4), draw.normal(5, 4), draw.normal(5, 2))


@check("scaled_dot_product_attention", points=1, show=True)
def with_a_mask(attention: Any, draw: Inputs) -> Any:
    """A mask, for two sentences and three heads; one query has nothing to look at."""
    q, k, v = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4), draw.normal(2, 3, 7, 6)
    return attention(q, k, v, rule(draw, 2, 1, 5, 7, empty=(1, 0, 2)))


@check("scaled_dot_product_attention", points=1, show=True)
def with_a_scale(attention: Any, draw: Inputs) -> Any:
    """Scales of 2, 1 and 0, and a scale of 0 with a mask."""
    q, k, v, mask = (
        draw.normal(3, 4),
        draw.normal(5, 4),
        draw.normal(5, 2),
        rule(draw, 3, 5),
    )
    results = {
        f"scale={scale:g}": attention(q, k, v, scale=scale) for scale in (2.0, 1.0, 0.0)
    }
    return {**results, "scale=0 and a mask": attention(q, k, v, mask, scale=0.0)}


def attending(may_look: Any) -> Any:
    """Make an attention of tokens among themselves that obeys a rule; the rule takes queries' and keys' positions."""

    def attention(x: Tensor) -> Tensor:
        positions = torch.arange(x.size(1))
        mask = may_look(positions[:, None], positions)
        scores = (x @ x.mT / x.size(-1) ** 0.5).masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-1) @ x

    return attention


def noisy(x: Tensor) -> Tensor:
    """Attend causally, with noise in the last digits, as another order of sums makes it."""
    return attending(lambda i, j: j <= i)(x) + 1e-6 * (30 * x.sum()).sin()


def of_one_length(attention: Any, length: int) -> Any:
    """Make an attention that takes tokens of one length only, as one with a fixed mask does."""

    def fixed(x: Tensor) -> Tensor:
        if x.size(1) != length:
            raise ValueError(f"this attention takes {length} tokens, not {x.size(1)}")
        return attention(x)

    return fixed


def next_token(x: Tensor) -> Tensor:
    """Give every output the token after it, so that half of all changes lower it."""
    return 100 * x.roll(-1, dims=1)


def last_token_everywhere(x: Tensor) -> Tensor:
    """Give every output the last token, as a view."""
    return x[:, -1:].expand_as(x)


@check("leaks", points=1, may_change=("seed",))
def plain_cases(leaks: Any, draw: Inputs) -> Any:
    """Attention without a mask, with a causal one, with one that is a step too generous, and no attention at all."""
    causal, generous = (
        attending(lambda i, j: j <= i),
        attending(lambda i, j: j <= i + 1),
    )
    return {
        "without a mask": leaks(attending(lambda i, j: j == j + 0 * i), 5, 4),
        "a causal mask": leaks(causal, 5, 4),
        "one key too many": leaks(generous, 5, 4),
        "each token doubled": leaks(lambda x: 2 * x, 5, 4),
    }


def last_number_of_the_next_token(x: Tensor) -> Tensor:
    """Give every output one number of the token after it, its last."""
    return torch.cat([x[..., :-1], x[..., -1:].roll(-1, dims=1)], dim=-1)


@check("leaks", points=1, may_change=("seed",))
def small_holes(leaks: Any, draw: Inputs) -> Any:
    """One hole in a causal mask, in different places; a leak through one number of each token; outputs that rise or
    sink; noise in the last digits; a view; an attention for one length only.
    """
    holes = {
        f"query {query} sees key {key}": leaks(
            attending(lambda i, j, q=query, k=key: (j <= i) | ((i == q) & (j == k))),
            6,
            4,
        )
        for query, key in ((0, 2), (2, 3), (3, 5))
    }
    return {
        **holes,
        "the last number of the next token": leaks(last_number_of_the_next_token, 6, 4),
        "an attention for six tokens only": leaks(
            of_one_length(attending(lambda i, j: j <= i), 6), 6, 4
        ),
        "an output that only sinks": all(leaks(next_token, 2, 1) for _ in range(30)),
        "noise in the last digits": leaks(noisy, 6, 4),
        "a view of the last token": leaks(last_token_everywhere, 6, 4),
    }


@law("causal_mask")
def one_key_more_each(causal_mask: Any, draw: Inputs) -> bool:
    """Each query sees one key more than the query before it, and the last one sees all of them."""
    seen = causal_mask(3, 7).sum(dim=-1).tolist()
    return seen == [5, 6, 7]


@law("combine_masks")
def none_changes_nothing(combine_masks: Any, draw: Inputs) -> bool:
    """None among the masks changes nothing, and nothing but None is None."""
    mask = rule(draw, 2, 3)
    combined = combine_masks(None, mask, None)
    return combine_masks(None, None) is None and torch.equal(combined, mask)


@law("combine_masks")
def both_allow(combine_masks: Any, draw: Inputs) -> bool:
    """What is allowed is what all masks allow."""
    one, two = rule(draw, 2, 3), rule(draw, 2, 3)
    return torch.equal(combine_masks(one, two), one & two)


@law("masked_softmax")
def each_row_by_itself(masked_softmax: Any, draw: Inputs) -> bool:
    """The weights of a query do not depend on other queries, also where it has nothing to look at and they do."""
    scores, mask = draw.normal(3, 4), rule(draw, 3, 4, empty=1)
    rows = [masked_softmax(scores[i : i + 1], mask[i : i + 1]) for i in range(3)]
    return torch.allclose(masked_softmax(scores, mask), torch.cat(rows), atol=1e-4)


@law("masked_softmax")
def scores_moved_together(masked_softmax: Any, draw: Inputs) -> bool:
    """The same number added to all scores, even -20000 or -3e9, changes no weight."""
    scores, mask = (8 * draw.normal(3, 4)).round() / 8, rule(draw, 3, 4)
    moved = [masked_softmax(scores + number, mask) for number in (0, -20_000, -3e9)]
    return all(torch.allclose(moved[0], each, atol=1e-4) for each in moved[1:])


@law("scaled_dot_product_attention")
def hidden_keys_change_nothing(attention: Any, draw: Inputs) -> bool:
    """What a hidden key and its value hold changes nothing."""
    query, key, value = draw.normal(3, 4), draw.normal(5, 4), draw.normal(5, 2)
    mask = rule(draw, 5).expand(3, 5)
    hidden = ~mask[0].unsqueeze(-1)
    other = key.masked_fill(hidden, 30.0), value.masked_fill(hidden, -50.0)
    one, two = attention(query, key, value, mask)[0], attention(query, *other, mask)[0]
    return torch.allclose(one, two, atol=1e-4)


@law("scaled_dot_product_attention")
def an_empty_query_gets_zeros(attention: Any, draw: Inputs) -> bool:
    """A query with nothing to look at gets weights and an output of 0, whatever the other queries see."""
    query, key, value = draw.normal(3, 4), draw.normal(5, 4), draw.normal(5, 2)
    results = attention(query, key, value, rule(draw, 3, 5, empty=1))
    return all(not each[1].any() for each in results)


@law("scaled_dot_product_attention")
def equal_values(attention: Any, draw: Inputs) -> bool:
    """Where all values are the same vector, every output is that vector: the weights sum to 1."""
    value = draw.normal(2)
    output, _ = attention(draw.normal(3, 4), draw.normal(5, 4), value.expand(5, 2))
    return torch.allclose(output, value.expand(3, 2), atol=1e-4)


@law("causal_mask")
def the_first_key_is_seen(causal_mask: Any, draw: Inputs) -> bool:
    """True means that a query may look: every query sees the first key, and only the last one sees the last."""
    mask = causal_mask(3, 5)
    return bool(mask[:, 0].all()) and mask[:, -1].tolist() == [False, False, True]


@law("padding_mask")
def tokens_come_first(padding_mask: Any, draw: Inputs) -> bool:
    """In a sentence of n tokens, the first n positions are True, and no other one."""
    mask = padding_mask(torch.tensor([0, 2, 5]), 5)
    return mask.sum(dim=-1).flatten().tolist() == [0, 2, 5] and bool(
        mask[1, ..., :2].all()
    )


@law("padding_mask")
def a_row_for_each_sentence(padding_mask: Any, draw: Inputs) -> bool:
    """The row of a sentence depends on its own length alone, whatever else is in the batch."""
    both, one = (padding_mask(torch.tensor(n), 6) for n in ([4, 1], [4]))
    return torch.equal(both[:1], one)


@law("combine_masks")
def any_order(combine_masks: Any, draw: Inputs) -> bool:
    """The order of the masks changes nothing, also with three of them and one of them None."""
    one, two, three = (rule(draw, 2, 3) for _ in range(3))
    return torch.equal(
        combine_masks(one, None, two, three), combine_masks(three, two, one)
    )


@law("combine_masks")
def shapes_broadcast(combine_masks: Any, draw: Inputs) -> bool:
    """A mask of the shape (B, 1, 1, S) and one of (L, S) make one of (B, 1, L, S): each forbids in all of it."""
    padding, causal = rule(draw, 2, 1, 1, 4), rule(draw, 3, 4)
    return torch.equal(combine_masks(padding, causal), padding & causal)


@law("masked_softmax")
def visible_weights_sum_to_one(masked_softmax: Any, draw: Inputs) -> bool:
    """The visible weights of a row sum to 1, as they do where hidden keys are left out before softmax."""
    scores, mask = draw.normal(3, 4), rule(draw, 3, 4)
    sums = masked_softmax(scores, mask).masked_fill(~mask, 0).sum(dim=-1)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


@law("masked_softmax")
def hidden_scores_change_nothing(masked_softmax: Any, draw: Inputs) -> bool:
    """What the score of a hidden key is changes no weight, be it 1000 or -1000."""
    scores, mask = draw.normal(3, 4), rule(draw, 3, 4)
    one, other = (
        masked_softmax(scores.masked_fill(~mask, s), mask) for s in (1000, -1000)
    )
    return torch.allclose(one, other, atol=1e-4)


@law("scaled_dot_product_attention")
def these_weights_mix(attention: Any, draw: Inputs) -> bool:
    """The output is the values mixed by the very weights that are returned."""
    query, key, value = draw.normal(3, 4), draw.normal(5, 4), draw.normal(5, 2)
    output, weights = attention(query, key, value, rule(draw, 3, 5, empty=1))
    return torch.allclose(output, weights @ value, atol=1e-4)


@law("scaled_dot_product_attention")
def the_default_scale(attention: Any, draw: Inputs) -> bool:
    """Without a scale the scores are multiplied by 1/sqrt(D), with D the last size of query and key."""
    inputs = draw.normal(3, 4), draw.normal(5, 4), draw.normal(5, 2)
    return torch.allclose(
        attention(*inputs)[0], attention(*inputs, scale=0.5)[0], atol=1e-4
    )


@law("scaled_dot_product_attention")
def a_scale_that_levels(attention: Any, draw: Inputs) -> bool:
    """With a scale of 0 a query looks at all visible keys alike: 0 is a scale like any other."""
    query, key, value, mask = (
        draw.normal(3, 4),
        draw.normal(5, 4),
        draw.normal(5, 2),
        rule(draw, 3, 5),
    )
    weights = attention(query, key, value, mask, scale=0.0)[1]
    return torch.allclose(
        weights, mask / mask.sum(dim=-1, keepdim=True).to(weights), atol=1e-4
    )


def mean_of(x: Tensor, may_look: Tensor) -> Tensor:
    """Mix tokens with equal weights, as a table says who may look at whom."""
    return (may_look.to(x) / may_look.sum(dim=-1, keepdim=True)) @ x


@law("leaks")
def looking_back_is_no_leak(leaks: Any, draw: Inputs) -> bool:
    """An attention in which each token looks at itself and at what came before it has no leak."""
    return leaks(lambda x: mean_of(x, torch.ones(6, 6).tril()), 6, 4) is False


@law("leaks")
def one_pair_is_enough(leaks: Any, draw: Inputs) -> bool:
    """One output that one later token moves is a leak, whichever two they are."""
    found = []
    for i, j in ((0, 1), (0, 5), (4, 5), (2, 4)):
        table = torch.ones(6, 6).tril()
        table[i, j] = 1
        found.append(leaks(lambda x, table=table: mean_of(x, table), 6, 4))
    return found == [True] * 4


@law("leaks")
def normalized_tokens_leak_too(leaks: Any, draw: Inputs) -> bool:
    """An attention that normalizes each token leaks as one that does not: the same number added to all entries of a
    token would change nothing in it.
    """

    def attention(x: Tensor) -> Tensor:
        centered = x - x.mean(dim=-1, keepdim=True)
        return mean_of(centered / x.std(dim=-1, keepdim=True), torch.ones(5, 5))

    return leaks(attention, 5, 8) is True
