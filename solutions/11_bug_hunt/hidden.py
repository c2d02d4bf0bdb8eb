"""The hidden checks of lesson 11. Never given to students.

The attentions that testers are tried on are numbered by chance, and called in an order that is drawn: what a submission
learns of one is what it answers.
"""

import math
from functools import partial
from typing import Any

import torch
import wrong
from checks import (
    LAYERS,
    all_told,
    filled,
    labels_as_text,
    number_from,
    only_tensors,
    plain_attention,
    reported,
)
from torch.nn import functional
from wrong import hide, random_inputs, scores_of, shares

from autograder.checks import Inputs, allow, battery, black_box, check

MAY_BE_READY_MADE = allow(
    "RepairedAttention",
    "aten::*scaled_dot_product*",
    "aten::_safe_softmax",
    because="PyTorch's own attention has none of the bugs, and the exercise does not forbid it.",
)

# One example that tells


def each_told(examples: Any) -> Any:
    """Return how many wrong attentions each example tells apart. Raises ValueError where one is not like another."""
    first, *others = (only_tensors(example) for example in examples)
    for other in others:
        if not all(a.equal(b) for a, b in zip(first, other, strict=True)):
            raise ValueError("Another call gave another example.")
    return [all_told(example) for example in examples]


@check("revealing_example", points=1, summary=each_told, may_change=("seed",))
def called_again(revealing_example: Any, draw: Inputs) -> Any:
    """Edge: called three times, each time with another state of the random numbers."""
    return [revealing_example() for _ in range(3)]


def table(*shape, seed=0):
    """Return random numbers, the same ones each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def rule(q_len, k_len, empty=1):
    """Return a mask in which one query sees nothing."""
    mask = torch.ones(q_len, k_len, dtype=torch.bool).tril(diagonal=2)
    if empty is not None:
        mask[empty] = False
    return mask


def example(lead=(2, 3), *, q_len=5, k_len=7, d=4, d_v=6, mask=None):
    """Return an example of some sizes."""
    inputs = (
        table(*lead, *shape, seed=i)
        for i, shape in enumerate(((q_len, d), (k_len, d), (k_len, d_v)))
    )
    return (*inputs, rule(q_len, k_len) if mask is None else mask)


# How far apart


def strengths(seed: int, trials: int) -> list[float]:
    """Return a number for each of the trials with a seed, which follows from the query of the trial."""
    generator = torch.Generator().manual_seed(seed)
    return [float(random_inputs(generator)[0].sum()) for _ in range(trials)]


def seed_where(draw: Inputs, trials: int, wanted: Any) -> int:
    """Draw a seed for which the numbers of the trials are as wanted."""
    seed = draw.integer(40, 200)  # small: some take it for the number of trials
    while not wanted(strengths(seed, trials)):
        seed += 1
    return seed


def in_the_middle(numbers: Any) -> bool:
    """Say whether the largest number is clearly so, and is neither among the first two nor among the last two."""
    largest = max(numbers)
    others = sorted(numbers)[:-1]
    return largest in numbers[2:-2] and largest > max(map(abs, others)) + 0.5


def one_entry_moved(sign: float, entry: int) -> Any:
    """Return an attention that is off in one entry, by an amount that follows from the query."""

    def attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
        result = plain_attention(query, key, value, mask).contiguous()
        result.view(-1)[entry] += sign * query.sum()
        return result

    return attention


def in_float32_alone(query: Any, key: Any, value: Any, may_look: Any) -> Any:
    """Return attention in float32."""
    return plain_attention(query.float(), key.float(), value.float(), may_look)


@check("max_difference", points=1)
def somewhere(max_difference: Any, draw: Inputs) -> Any:
    """Edge: the largest difference is in one entry of one trial, whichever; negative ones, other dtypes, no trials."""
    seed = seed_where(draw, 9, in_the_middle)
    right, other = plain_attention, draw.integer(40, 200)
    cases = {
        "upward": (right, one_entry_moved(1, -1), 9, seed),
        "downward": (right, one_entry_moved(-1, 0), 9, seed),
        "one trial": (right, one_entry_moved(1, 0), 1, seed + 7),
        "two trials": (one_entry_moved(2, 0), right, 2, other),
        "in float32": (in_float32_alone, wrong.divide_by_d, 5, other),
        "without the mask": (wrong.mask_ignored, right, 9, other),
        "alike": (right, wrong.right, 5, other),
        "no trials": (right, wrong.no_scale, 0, other),
    }
    return {name: number_from(max_difference, *case) for name, case in cases.items()}


def spoiled(with_what: float, limit: float) -> Any:
    """Return an attention that puts something into one entry, where the query's sum is large."""

    def attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
        result = plain_attention(query, key, value, mask).contiguous()
        if query.sum() > limit:
            result.view(-1)[-1] = with_what
        return result

    return attention


def one_row(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return the mean over the queries, which broadcasts."""
    return plain_attention(query, key, value, mask).mean(dim=-2, keepdim=True)


def a_row_more(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return attention with the first row again at the end, which does not broadcast."""
    result = plain_attention(query, key, value, mask)
    return torch.cat([result, result[..., :1, :]], dim=-2)


@check("max_difference", points=1)
def without_bounds(max_difference: Any, draw: Inputs) -> Any:
    """Edge: results that are not finite, in one of the two or in both, and results of different shapes."""
    seed = seed_where(draw, 9, in_the_middle)
    limit = sorted(strengths(seed, 9))[-2] + 0.25
    bad = {"NaN": math.nan, "infinity": math.inf, "minus infinity": -math.inf}
    right, found = plain_attention, {}
    for name, number in bad.items():
        odd = spoiled(number, limit)
        found[f"{name} in b"] = number_from(max_difference, right, odd, 9, seed)
        found[f"{name} in a"] = number_from(max_difference, odd, right, 9, seed)
        found[f"{name} in both"] = number_from(max_difference, odd, odd, 9, seed)
    found["one row"] = number_from(max_difference, right, one_row, 9, seed)
    found["a row more"] = number_from(max_difference, a_row_more, right, 9, seed)
    return found


def writes_to_its_inputs(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return attention, and leave nothing as it was."""
    result = plain_attention(query, key, value, mask)
    for tensor in (query, key, value):
        tensor.mul_(-2.0)
    mask.logical_not_()
    return result


def the_values(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return the values themselves."""
    return value


def the_values_at_last(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Overwrite the values, and return them."""
    return value.zero_()


@check("max_difference", points=1)
def undisturbed(max_difference: Any, draw: Inputs) -> Any:
    """Edge: attentions that write to what they are given, the same seed twice, and PyTorch's own random numbers."""
    seed, right = seed_where(draw, 9, in_the_middle), plain_attention
    off, numbers = one_entry_moved(1, 0), strengths(seed, 9)
    pairs = {
        "one that writes first": (writes_to_its_inputs, right),
        "one that writes second": (right, writes_to_its_inputs),
        "the same one twice": (writes_to_its_inputs, writes_to_its_inputs),
        "what is returned is written to": (the_values, the_values_at_last),
    }
    found = {
        name: number_from(max_difference, *pair, 9, seed)
        for name, pair in pairs.items()
    }
    for n in (1, 2):
        torch.default_generator.manual_seed(draw.integer(1, 10**6))
        before = torch.get_rng_state()
        found[f"time {n}"] = number_from(max_difference, right, off, 9, seed)
        found[f"PyTorch's own random numbers moved, time {n}"] = not before.equal(
            torch.get_rng_state()
        )
    enough = numbers.index(max(numbers)) + 1
    found["fewer trials"] = number_from(max_difference, right, off, enough, seed)
    return found


# Finding bugs


def blockwise(query: Any, key: Any, value: Any, mask: Any, block: int) -> Any:
    """Return attention over a few keys at a time, with a running maximum, in the dtype of the values."""
    scores = scores_of(query, key, mask)
    most = scores.new_full((*scores.shape[:-1], 1), -math.inf)
    total, mixture = torch.zeros_like(most), torch.zeros_like(query @ key.mT @ value)
    for s, v in zip(scores.split(block, -1), value.split(block, -2), strict=True):
        new = torch.maximum(most, s.amax(dim=-1, keepdim=True))
        shift = new.clamp(min=-1e30)
        old, part = (most - shift).exp(), (s - shift).exp()
        total = total * old + part.sum(dim=-1, keepdim=True)
        mixture, most = mixture * old + part @ v, new
    return mixture / total.masked_fill(total == 0, 1.0)


@black_box
def suspect_01(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Hidden scores become -3."""
    return shares(hide(scores_of(query, key, None), mask, -3.0)) @ value


@black_box
def suspect_02(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Divides by the root of D_v."""
    return shares(hide(query @ key.mT / value.size(-1) ** 0.5, mask)) @ value


@black_box
def suspect_03(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over axis 1: right for plain tables."""
    return shares(scores_of(query, key, mask), dim=1) @ value


@black_box
def suspect_04(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Minus a billion."""
    return hide(scores_of(query, key, None), mask, -1e9).softmax(dim=-1) @ value


@black_box
def suspect_05(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """NaN, and float32."""
    q, k, v = (x.float() for x in (query, key, value))
    return scores_of(q, k, mask).softmax(dim=-1) @ v


@black_box
def suspect_06(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: writes to its own copies."""
    q, k, v = (x.clone() for x in (query, key, value))
    q /= q.size(-1) ** 0.5
    scores = q @ k.mT
    if mask is not None:
        scores.masked_fill_(~mask, -math.inf)
    return scores.softmax(dim=-1).nan_to_num_(0.0) @ v


@black_box
def suspect_07(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over the first axis."""
    return shares(scores_of(query, key, mask), dim=0) @ value


@black_box
def suspect_08(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Adds the mask as 0 and 1."""
    scores = scores_of(query, key, None)
    return shares(scores if mask is None else scores + mask) @ value


@black_box
def suspect_09(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Mixes values whose entries have moved by one."""
    return shares(scores_of(query, key, mask)) @ value.roll(1, dims=-1)


@black_box
def suspect_10(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over the queries."""
    return shares(scores_of(query, key, mask), dim=-2) @ value


@black_box
def suspect_11(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Uses the first sentence's mask for all."""
    if mask is not None and mask.ndim > 2:
        mask = mask[:1]
    return shares(scores_of(query, key, mask)) @ value


@black_box
def suspect_12(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Mixes the keys."""
    return shares(scores_of(query, key, mask)) @ key


@black_box
def suspect_13(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Ignores the mask."""
    return shares(scores_of(query, key, None)) @ value


@black_box
def suspect_14(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Divides by 8, the root of another dimension."""
    return shares(hide(query @ key.mT / 8.0, mask)) @ value


@black_box
def suspect_15(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Inverted, and the values without their signs."""
    scores = scores_of(query, key, None if mask is None else ~mask)
    return shares(scores) @ value.abs()


@black_box
def suspect_16(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over axis 2: wrong for four axes."""
    return shares(scores_of(query, key, mask), dim=min(2, query.ndim - 1)) @ value


@black_box
def suspect_17(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Inverts the mask in place."""
    if mask is None:
        return shares(scores_of(query, key, None)) @ value
    scores = query @ key.mT / query.size(-1) ** 0.5
    return shares(scores.masked_fill(mask.logical_not_(), -math.inf)) @ value


@black_box
def suspect_18(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """NaN where nothing may be seen."""
    return scores_of(query, key, mask).softmax(dim=-1) @ value


@black_box
def suspect_19(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Mixes the values without their signs."""
    return shares(scores_of(query, key, mask)) @ value.abs()


@black_box
def suspect_20(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Zeroes weights after softmax."""
    return hide(shares(scores_of(query, key, None)), mask, 0.0) @ value


@black_box
def suspect_21(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: three keys at a time."""
    return blockwise(query, key, value, mask, block=3)


@black_box
def suspect_22(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """A query that may see nothing sees everything."""
    if mask is not None:
        mask = mask | ~mask.any(dim=-1, keepdim=True)
    return shares(scores_of(query, key, mask)) @ value


@black_box
def suspect_23(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scales the query in place."""
    query /= query.size(-1) ** 0.5
    return shares(hide(query @ key.mT, mask)) @ value


@black_box
def suspect_24(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: adds minus infinity."""
    scores = query @ key.mT * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0) @ value


@black_box
def suspect_25(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Hides what may be seen."""
    return shares(scores_of(query, key, None if mask is None else ~mask)) @ value


@black_box
def suspect_26(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: query by query."""
    scores = scores_of(query, key, mask)
    rows = [shares(scores[..., i, :]) for i in range(query.size(-2))]
    return torch.stack([(row[..., None, :] @ value)[..., 0, :] for row in rows], dim=-2)


@black_box
def suspect_27(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: calculates in float32."""
    q, k, v = (x.float() for x in (query, key, value))
    return (shares(scores_of(q, k, mask)) @ v).to(query.dtype)


@black_box
def suspect_28(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Does not scale."""
    return shares(hide(query @ key.mT, mask)) @ value


@black_box
def suspect_29(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """float64, and zeroes weights after softmax."""
    q, k, v = (x.double() for x in (query, key, value))
    return hide(shares(scores_of(q, k, None)), mask, 0.0) @ v


@black_box
def suspect_30(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Divides by D."""
    return shares(hide(query @ key.mT / query.size(-1), mask)) @ value


@black_box
def suspect_31(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Multiplies by the root."""
    return shares(hide(query @ key.mT * query.size(-1) ** 0.5, mask)) @ value


@black_box
def suspect_32(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scales the key in place."""
    key *= key.size(-1) ** -0.5
    return shares(hide(query @ key.mT, mask)) @ value


@black_box
def suspect_33(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: with einsum, softmax in steps."""
    scores = torch.einsum("...ld,...sd->...ls", query, key) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = (scores - scores.amax(-1, keepdim=True).clamp(min=-1e30)).exp()
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / total.masked_fill(total == 0, 1.0)
    return torch.einsum("...ls,...sv->...lv", weights, value)


@black_box
def suspect_34(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: from the last key to the first."""
    flipped = (
        None if mask is None else mask.broadcast_to((query @ key.mT).shape).flip(-1)
    )
    return shares(scores_of(query, key.flip(-2), flipped)) @ value.flip(-2)


@black_box
def suspect_35(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Leaves zeros where the values were."""
    result = shares(scores_of(query, key, mask)) @ value
    value.zero_()
    return result


@black_box
def suspect_36(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Divides by the root of S."""
    return shares(hide(query @ key.mT / key.size(-2) ** 0.5, mask)) @ value


@black_box
def suspect_37(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: PyTorch's own."""
    if mask is not None:
        mask = mask.broadcast_to((query @ key.mT).shape)
    return functional.scaled_dot_product_attention(query, key, value, mask)


@black_box
def suspect_38(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """float64 whatever comes in."""
    q, k, v = (x.double() for x in (query, key, value))
    return shares(scores_of(q, k, mask)) @ v


@black_box
def suspect_39(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """No scale, no mask."""
    return shares(query @ key.mT) @ value


@black_box
def suspect_40(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: with logsumexp."""
    scores = scores_of(query, key, mask)
    weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
    return weights.nan_to_num(0.0) @ value


@black_box
def suspect_41(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """By D, in place, and minus a billion."""
    query /= query.size(-1)
    return hide(query @ key.mT, mask, -1e9).softmax(dim=-1) @ value


@black_box
def suspect_42(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Scales in place, softmax over the queries."""
    query /= query.size(-1) ** 0.5
    return shares(hide(query @ key.mT, mask), dim=-2) @ value


@black_box
def suspect_43(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """float32 whatever comes in."""
    q, k, v = (x.float() for x in (query, key, value))
    return shares(scores_of(q, k, mask)) @ v


@black_box
def suspect_44(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Multiplies scores by the mask."""
    scores = scores_of(query, key, None)
    return shares(scores if mask is None else scores * mask) @ value


@black_box
def suspect_45(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Right: two keys at a time, with a running maximum."""
    return blockwise(query, key, value, mask, block=2)


@black_box
def suspect_46(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over the queries of two axes alone."""
    return (
        shares(scores_of(query, key, mask), dim=-2 if query.ndim == 2 else -1) @ value
    )


@black_box
def suspect_47(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    """Softmax over axis 1 of three axes alone: the queries."""
    return shares(scores_of(query, key, mask), dim=1 if query.ndim == 3 else -1) @ value


def numbered(boxes: Any) -> Any:
    """Return attentions by number: what they are called is not the same in a submission's process."""
    return {f"attention {n}": box for n, box in enumerate(boxes, 1)}


@check("find_bugs", points=2, summary=labels_as_text, may_change=("seed",))
def several_ways(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: attentions that are written in other ways."""
    boxes = (
        suspect_13,
        suspect_14,
        suspect_26,
        suspect_27,
        suspect_33,
        suspect_37,
        suspect_45,
    )
    return reported(find_bugs, draw, numbered(boxes))


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def scores_and_values(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: scores, softmax and values, in tensors of two, three and four axes."""
    boxes = (
        suspect_02,
        suspect_03,
        suspect_07,
        suspect_09,
        suspect_10,
        suspect_12,
        suspect_16,
        suspect_19,
        suspect_21,
        suspect_24,
        suspect_28,
        suspect_30,
        suspect_31,
        suspect_36,
        suspect_46,
        suspect_47,
    )
    return reported(find_bugs, draw, numbered(boxes))


@check("find_bugs", points=2, summary=labels_as_text, may_change=("seed",))
def what_masks_do(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: masks, and empty rows."""
    boxes = (
        suspect_01,
        suspect_04,
        suspect_08,
        suspect_11,
        suspect_18,
        suspect_20,
        suspect_22,
        suspect_25,
        suspect_34,
        suspect_44,
    )
    return reported(find_bugs, draw, numbered(boxes))


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def beside_the_result(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: dtypes, and what else happens beside the numbers of the result."""
    boxes = (
        suspect_06,
        suspect_17,
        suspect_23,
        suspect_32,
        suspect_35,
        suspect_38,
        suspect_43,
    )
    return reported(find_bugs, draw, numbered(boxes))


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def several_at_once(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: several bugs in one attention."""
    boxes = (
        suspect_05,
        suspect_15,
        suspect_29,
        suspect_39,
        suspect_40,
        suspect_41,
        suspect_42,
    )
    return reported(find_bugs, draw, numbered(boxes))


# The repaired module


@check("RepairedAttention", points=1)
def nobody_looks_ahead(repaired: Any, draw: Inputs) -> Any:
    """Edge: no output depends on a later token, by gradients and by other tokens; a single token."""
    module, x = filled(repaired(6, 2), draw), draw.normal(2, 5, 6)
    watched = x.clone().requires_grad_()
    output = module(watched)
    seen = [
        torch.autograd.grad(output[:, i].square().sum(), watched, retain_graph=True)[0]
        .abs()
        .amax(dim=(0, 2))
        > 1e-7
        for i in range(5)
    ]
    later = torch.cat([x[:, :3], draw.normal(2, 2, 6)], dim=1)
    return {
        "which outputs depend on which tokens": torch.stack(seen),
        "outputs before the other tokens": module(later)[:, :3],
        "a single token": module(x[:, :1]),
    }


@check("RepairedAttention", points=1)
def dropout_when_training(repaired: Any, draw: Inputs) -> Any:
    """Kind: dropout, in training and in evaluation."""
    module, x = filled(repaired(8, 4, dropout=0.5), draw), draw.normal(64, 3, 8)
    calm = [module(x) for _ in range(2)]
    module.out_proj.weight.data = torch.eye(8, dtype=torch.float64)
    module.out_proj.bias.data.zero_()
    none = repaired(8, 4).double().train()
    none.load_state_dict(module.state_dict())
    first = none(x)[:, 0].unflatten(-1, (4, 2))  # sees itself alone: its weight is 1
    module.train()
    factors = module(x)[:, 0].unflatten(-1, (4, 2)) / first
    share = float((factors[..., 0].abs() < 1e-6).double().mean())
    return {
        "evaluation is repeatable": bool((calm[0] - calm[1]).abs().max() < 1e-9),
        "about half of the weights are dropped": 0.3 < share < 0.7,
        "the others are doubled": bool(
            ((factors.abs() < 1e-6) | ((factors - 2).abs() < 1e-6)).all()
        ),
        "a weight is dropped for the whole value": bool(
            (factors[..., 0] - factors[..., 1]).abs().max() < 1e-6
        ),
        "no dropout unless asked for": none(x),
        "the ways in which the weights of a query fall": ways_to_drop(repaired, draw),
    }


def ways_to_drop(repaired: Any, draw: Inputs) -> tuple[int, bool]:
    """Count what dropout leaves of three equal weights, and say whether two queries always lose the same ones."""
    module = filled(repaired(3, 1, dropout=0.5), draw).train()
    for name in LAYERS:
        getattr(module, name).bias.data.zero_()
        getattr(module, name).weight.data = torch.eye(3, dtype=torch.float64)
    for layer in (module.q_proj, module.k_proj):
        layer.weight.data.zero_()
    tokens = torch.eye(3, dtype=torch.float64).expand(400, 3, 3)
    kept = module(draw.give(tokens.clone())) > 0  # (B, L, S)
    return len(kept[:, 2].unique(dim=0)), bool(kept[:, 1, :2].equal(kept[:, 2, :2]))


@battery("RepairedAttention", points=1)
def fit_to_be_trained(repaired: Any, draw: Inputs) -> Any:
    """Kind: dtypes, gradients of all parameters, their names, and sequences of several lengths."""
    module = filled(repaired(d_model=8, num_heads=2), draw)
    found = {f"length {n}": module(draw.normal(3, n, 8)) for n in (4, 2, 7)}
    (found["length 7"] * draw.normal(3, 7, 8)).sum().backward()
    found["gradients"] = [getattr(module, name).weight.grad for name in LAYERS]
    shapes = [(name, tuple(p.shape)) for name, p in module.named_parameters()]
    found["parameters"] = ", ".join(f"{name} {shape}" for name, shape in shapes)
    return partial(module, draw.normal(3, 5, 8)), found
