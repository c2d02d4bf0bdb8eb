"""The hidden checks of lesson 11, and the mistakes that students make in it. Never given to students.

The attentions that testers are tried on are numbered by chance, and called in an order that is drawn: what a submission
learns of one is what it answers.
"""

import math
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
from torch import nn
from torch.nn import functional
from wrong import hide, random_inputs, scores_of, shares

from autograder.checks import Inputs, allow, black_box, check, mistake

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


@check("revealing_example", points=1, summary=each_told)
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


@mistake("revealing_example")
def drawn_anew():
    """Each call draws other numbers, and who runs your test again sees another one. Draw from a generator with a
    seed of its own, or write the numbers down.
    """
    shapes = ((5, 4), (7, 4), (7, 6))
    tensors = (torch.randn(2, 3, *shape, dtype=torch.float64) for shape in shapes)
    return (*tensors, rule(5, 7))


@mistake("revealing_example", hint=2)
def no_empty_row():
    """Each query can see at least one key. Two of the wrong attentions go wrong only for a query that may look at
    nothing.
    """
    return example(mask=rule(5, 7, empty=None))


@mistake("revealing_example", hint=3)
def all_may_look():
    """The mask hides nothing, so what an attention does with it cannot show."""
    return example(mask=torch.ones(5, 7, dtype=torch.bool))


@mistake("revealing_example", hint=3)
def all_hidden():
    """The mask hides everything, so the right result is all zeros, and so are those of half of the wrong attentions.
    True means "may look".
    """
    return example(mask=torch.zeros(5, 7, dtype=torch.bool))


@mistake("revealing_example", hint=3)
def nothing_hidden_but_one_row():
    """Apart from the query that may look at nothing, nothing is hidden from anyone. An attention whose rows no longer
    sum to 1 goes unnoticed.
    """
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[1] = False
    return example(mask=mask)


@mistake("revealing_example")
def one_table_for_all_three():
    """Query, key and value are one tensor, so an attention that confuses them gives the right result."""
    x = table(2, 3, 4, 4)
    return x, x, x, rule(4, 4)


@mistake("revealing_example")
def keys_are_values():
    """Key and value are one tensor, so an attention that mixes the keys gives the right result."""
    query, key, _, mask = example()
    return query, key, key, mask


@mistake("revealing_example")
def queries_are_keys():
    """Query and key are one tensor, so an attention that swaps them gives the right result."""
    x = table(2, 3, 4, 4)
    return x, x, table(2, 3, 4, 6, seed=1), rule(4, 4)


@mistake("revealing_example")
def all_sizes_equal():
    """L, S, D and D_v are equal, so an attention that scales by the wrong one gives the right result."""
    return example(q_len=4, k_len=4, d=4, d_v=4)


@mistake("revealing_example")
def values_as_wide_as_keys():
    """D_v equals D, so you cannot see which of the two an attention scales by."""
    return example(d_v=4)


@mistake("revealing_example")
def as_many_keys_as_dimensions():
    """S equals D, so you cannot see which of the two an attention scales by."""
    return example(d=7)


@mistake("revealing_example")
def one_dimension():
    """D is 1, and so is its root: dividing by the wrong thing, or not at all, makes no difference."""
    return example(d=1)


@mistake("revealing_example")
def one_key():
    """There is a single key. Its weight is 1 whatever its score is."""
    return example(k_len=1)


@mistake("revealing_example")
def a_table_without_batch():
    """These are plain tables, in which axis 1 is that of the keys. With an axis in front, it is not."""
    return example(lead=())


@mistake("revealing_example")
def square_tables_without_batch():
    """These are plain tables of one size. Give each axis a size of its own, and put an axis or two in front."""
    return example(lead=(), q_len=4, k_len=4, d=4, d_v=4)


@mistake("revealing_example")
def scores_of_zero():
    """How the scores are scaled makes no difference here: either all of a query's scores are equal, or one is so large
    that it gets all the weight, or all the values are equal.
    """
    query, key, value, mask = example()
    return 0 * query, key, value, mask


@mistake("revealing_example")
def tiny_values():
    """The values are so small that all results are within 0.001 of one another. Numbers around 1 will do."""
    query, key, value, mask = example()
    return query, key, 1e-4 * value, mask


@mistake("revealing_example")
def huge_scores():
    """The numbers are so large that their products overflow. Numbers around 1 will do."""
    query, key, value, mask = example()
    return 1e200 * query, 1e200 * key, value, mask


@mistake("revealing_example")
def in_float32():
    """The query is in float32, which is what torch.randn gives unless it is asked for another dtype."""
    query, key, value, mask = example()
    return query.float(), key.float(), value.float(), mask


@mistake("revealing_example")
def mask_of_numbers():
    """The mask holds numbers. A comparison, or `.bool()`, gives True and False."""
    query, key, value, mask = example()
    return query, key, value, mask.double()


@mistake("revealing_example", hint=1)
def mask_left_out():
    """There are three tensors. The fourth is the mask."""
    return example()[:3]


@mistake("revealing_example", hint=1)
def mask_is_none():
    """The mask is None, which hides nothing, so mistakes with masks cannot show."""
    return (*example()[:3], None)


@mistake("revealing_example")
def axes_too_long():
    """An axis is longer than 8. Sizes need to differ; they do not need to be large."""
    return example(k_len=12)


@mistake("revealing_example")
def mask_transposed():
    """The axes of the mask are in the wrong order. Its rows belong to queries: (..., L, S)."""
    return example(mask=rule(7, 5))


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


def in_float32_alone(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return attention in float32."""
    return plain_attention(query.float(), key.float(), value.float(), mask)


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


def absolute(a, b):
    """Return the largest absolute difference, infinite where the docstring says so."""
    if a.shape != b.shape or not (a.isfinite().all() and b.isfinite().all()):
        return math.inf
    return float((a.double() - b.double()).abs().max())


def measured(a, b, trials, seed, *, distance=absolute, overall=max, generator=None):
    """Measure differences, with another distance, or otherwise put together."""
    generator = generator or torch.Generator().manual_seed(seed)
    found = []
    for _ in range(trials):
        inputs = random_inputs(generator)
        results = (f(*(x.clone() for x in inputs)) for f in (a, b))
        found.append(distance(*results))
    return overall(found) if found else 0.0


@mistake("max_difference", hint=1)
def first_trial_only(a, b, *, trials, seed):
    """Only the first trial counts: a `return` inside the loop ended it, or each trial made the generator anew and so
    had the same inputs.
    """
    return measured(a, b, min(trials, 1), seed)


@mistake("max_difference")
def last_trial_only(a, b, *, trials, seed):
    """Only the last trial counts. Keep the largest difference so far."""
    return measured(a, b, trials, seed, overall=lambda found: found[-1])


@mistake("max_difference")
def one_trial_too_few(a, b, *, trials, seed):
    """One trial is missing. How often does the loop run?"""
    return measured(a, b, trials - 1, seed)


@mistake("max_difference")
def mean_of_entries(a, b, *, trials, seed):
    """The difference of a trial was averaged over its entries, so a single entry that is far off hardly counts."""

    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).abs().mean()) if largest < math.inf else largest

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference")
def mean_of_trials(a, b, *, trials, seed):
    """The trials were averaged. One bad trial in a thousand is what a test is for: keep the largest."""
    return measured(a, b, trials, seed, overall=lambda found: sum(found) / len(found))


@mistake("max_difference")
def sum_of_trials(a, b, *, trials, seed):
    """The trials' differences were added up. Keep the largest."""
    return measured(a, b, trials, seed, overall=sum)


@mistake("max_difference")
def smallest_trial(a, b, *, trials, seed):
    """The smallest difference of all trials came back, not the largest."""
    return measured(a, b, trials, seed, overall=min)


@mistake("max_difference")
def signed(a, b, *, trials, seed):
    """Only entries in which a is larger than b count. Take the absolute value of the difference."""

    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).max()) if largest < math.inf else largest

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference")
def relative(a, b, *, trials, seed):
    """The differences were divided by the size of the results. The absolute difference was asked for."""

    def distance(x, y):
        largest = absolute(x, y)
        size = float(y.abs().max()) if largest < math.inf else 1.0
        return largest / size if size else largest

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference")
def euclidean(a, b, *, trials, seed):
    """The norm of the difference came back, which adds up the squares of all entries. The largest entry was asked
    for.
    """

    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).norm()) if largest < math.inf else largest

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference", hint=3)
def nan_lost(a, b, *, trials, seed):
    """NaN went unnoticed: a comparison with it, as in max, is always False. Test whether results are finite."""

    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        return float((x.double() - y.double()).abs().max())

    return measured(
        a, b, trials, seed, distance=distance, overall=lambda found: max([0.0, *found])
    )


@mistake("max_difference", hint=3)
def nan_returned(a, b, *, trials, seed):
    """NaN came back. A result that is not finite counts as an infinite difference."""

    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        return float((x.double() - y.double()).abs().max())

    def overall(found):
        return math.nan if any(map(math.isnan, found)) else max(found)

    return measured(a, b, trials, seed, distance=distance, overall=overall)


@mistake("max_difference", hint=3)
def nan_as_zero(a, b, *, trials, seed):
    """What is not finite was replaced by a number, which hides the fault. It counts as an infinite difference."""

    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        x, y = (t.double().nan_to_num(0.0, posinf=0.0, neginf=0.0) for t in (x, y))
        return float((x - y).abs().max())

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference", hint=3)
def equal_infinities_agree(a, b, *, trials, seed):
    """Two attentions that give infinity, or NaN, in the same entry were taken to agree. Neither is a result."""

    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        x, y = x.double(), y.double()
        apart = (x - y).abs().nan_to_num(math.inf)
        both = (x == y) | (x.isnan() & y.isnan())
        return float(apart.masked_fill(both, 0.0).max())

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference", hint=3)
def shapes_broadcast(a, b, *, trials, seed):
    """Results of different shapes were subtracted: they broadcast, or it stops with an error. Compare shapes first."""

    def distance(x, y):
        apart = (x.double() - y.double()).abs().max()
        return float(apart) if apart.isfinite() else math.inf

    return measured(a, b, trials, seed, distance=distance)


@mistake("max_difference")
def dtypes_have_to_agree(a, b, *, trials, seed):
    """Results of different dtypes were taken to be infinitely far apart. Compare their numbers."""
    return measured(
        a,
        b,
        trials,
        seed,
        distance=lambda x, y: absolute(x, y) if x.dtype == y.dtype else math.inf,
    )


@mistake("max_difference")
def global_numbers(a, b, *, trials, seed):
    """torch.manual_seed changes the random numbers of the whole program. The seed is for a generator of your own."""
    generator = torch.default_generator.manual_seed(seed)
    return measured(a, b, trials, seed, generator=generator)


@mistake("max_difference")
def seed_ignored(a, b, *, trials, seed):
    """The inputs do not follow from the seed: two seeds give the same number, or one seed gives two."""
    return measured(a, b, trials, 0)


@mistake("max_difference")
def inputs_of_their_own(a, b, *, trials, seed):
    """The two attentions had different inputs. Draw once in each trial, and give both the same."""
    generator = torch.Generator().manual_seed(seed)
    found = [0.0]
    for _ in range(trials):
        found.append(absolute(*(f(*random_inputs(generator)) for f in (a, b))))
    return max(found)


@mistake("max_difference", hint=2)
def shared_inputs(a, b, *, trials, seed):
    """Both attentions had the same tensors, and one of them may have written to its own. Give each its copies."""
    generator = torch.Generator().manual_seed(seed)
    found = [0.0]
    for _ in range(trials):
        inputs = random_inputs(generator)
        found.append(absolute(*(f(*inputs) for f in (a, b))))
    return max(found)


@mistake("max_difference")
def mask_not_passed(a, b, *, trials, seed):
    """The mask was not passed on, so mistakes with masks cannot show."""
    return measured(
        lambda q, k, v, mask: a(q, k, v, None),
        lambda q, k, v, mask: b(q, k, v, None),
        trials,
        seed,
    )


@mistake("max_difference")
def tensor_returned(a, b, *, trials, seed):
    """The difference is a tensor. float(...) turns it into a number."""
    return torch.tensor(measured(a, b, trials, seed), dtype=torch.float64)


@mistake("max_difference")
def no_trials_no_number(a, b, *, trials, seed):
    """Without any trial it stopped with an error, or gave something other than 0. What is the largest of nothing?"""
    return measured(a, b, trials, seed) if trials else max([])


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


def numbered(boxes: Any) -> Any:
    """Return attentions by number: what they are called is not the same in a submission's process."""
    return {f"attention {n}": box for n, box in enumerate(boxes, 1)}


@check("find_bugs", points=2, summary=labels_as_text)
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


@check("find_bugs", points=2, summary=labels_as_text)
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
    )
    return reported(find_bugs, draw, numbered(boxes))


@check("find_bugs", points=2, summary=labels_as_text)
def what_masks_do(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: masks."""
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


@check("find_bugs", points=1, summary=labels_as_text)
def beside_the_result(find_bugs: Any, draw: Inputs) -> Any:
    """Kind: what happens beside the numbers of the result."""
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


@check("find_bugs", points=1, summary=labels_as_text)
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


def close(a, b, tolerance=1e-4):
    """Compare two results as a tester should."""
    return a.shape == b.shape and torch.allclose(a, b, atol=tolerance)


def only_first(tests):
    """Return the label of the first test that failed, as a set."""
    return set([label for label, failed in tests.items() if failed][:1])


def every(tests):
    """Return the labels of all tests that failed."""
    return {label for label, failed in tests.items() if failed}


class Tester:
    """A tester in steps, so that a mistake can get one of them wrong."""

    lead = (2, 3)
    shapes = ((5, 4), (7, 4), (7, 6))
    dtypes = (torch.float32, torch.float64)
    kept = (0, 1, 2, 3)
    same = staticmethod(close)
    chosen = staticmethod(only_first)
    empty = True
    changed = ("key", "value")
    shared = False

    def table(self, *shape):
        return table(*shape, seed=self.drawn.pop())

    def __call__(self, attention):
        self.attention, self.drawn = attention, [3, 2, 1]
        self.inputs = [self.table(*self.lead, *shape) for shape in self.shapes]
        return self.numbers() | self.masks() | self.sides()

    def result(self, *inputs):
        return self.attention(*map(self.passed, inputs)).double()

    def passed(self, x):
        return x if x is None or self.shared else x.clone()

    def tests_of_numbers(self):
        query, key, value = self.inputs
        ones = self.result(query, torch.ones_like(key), torch.ones_like(value), None)
        mixed = self.result(0 * query, key, value, None)
        mean = value.mean(dim=-2, keepdim=True).expand((*mixed.shape[:-1], -1))
        plain = wrong.right(query, key, value)
        return {
            "softmax_axis": not self.same(ones, torch.ones_like(ones)),
            "value": not self.same(mixed, mean),
            "scale": not self.same(self.result(query, key, value, None), plain),
        }

    def numbers(self):
        return self.chosen(self.tests_of_numbers())

    def rule(self):
        q_len, k_len = self.shapes[0][0], self.shapes[1][0]
        mask = torch.ones(*self.lead[:1], q_len, k_len, dtype=torch.bool)
        if len(self.lead) == 2:
            mask = mask[:, None]
        if self.empty:
            mask[..., 0, :] = False
        mask[..., k_len - 1] = False
        if self.lead:
            mask[0, ..., k_len - 1], mask[0, ..., k_len - 2] = mask[-1, ..., 0], False
        return mask

    def watched(self, result):
        return result[..., 1:, :]

    def matters(self, mask, before, positions):
        query, *others = (x.clone() for x in self.inputs)
        for name, x, change in zip(
            ("key", "value"), others, (-3.0, 1000.0), strict=True
        ):
            if name in self.changed:
                for sentence, position in positions:
                    part = x[sentence, ..., position, :] if self.lead else x[position]
                    part.copy_(part * change if name == "key" else part + change)
        after = self.result(query, *others, mask)
        return not self.same(self.watched(before), self.watched(after))

    def tests_of_masks(self):
        mask = self.rule()
        before = self.result(*self.inputs, mask)
        last = self.shapes[1][0] - 1
        hidden = ((0, last - 1), (-1, last)) if self.lead else ((0, last),)
        seen = self.matters(mask, before, hidden)
        row = before[..., 0, :]
        return {
            "mask_inverted": seen and not self.matters(mask, before, ((0, 1), (-1, 1))),
            "mask_leak": seen,
            "empty_row": self.empty and not self.same(row, torch.zeros_like(row)),
        }

    def masks(self):
        return self.chosen(self.tests_of_masks())

    def sides(self):
        found, mask = set(), self.rule()
        for dtype in self.dtypes:
            inputs = [*(x.to(dtype) for x in self.inputs), mask.clone()]
            before = [x.clone() for x in inputs]
            found |= {"dtype"} if self.attention(*inputs).dtype != dtype else set()
            pairs = [(inputs[i], before[i]) for i in self.kept]
            found |= set() if all(a.equal(b) for a, b in pairs) else {"mutates_input"}
        return found


@mistake("find_bugs")
def nothing_found(attention):
    """No bug was ever found. Which of your tests fails for an attention that you know to be wrong?"""
    return set()


@mistake("find_bugs")
def list_returned(attention):
    """A list came back. A set has no order and holds no label twice; set(...) makes one from a list."""
    return sorted(Tester()(attention))


@mistake("find_bugs")
def nothing_returned_if_right(attention):
    """For a right attention, None came back. An empty set, set(), says that no bug was found."""
    return Tester()(attention) or None


@mistake("find_bugs")
def first_bug_only(attention):
    """Of several bugs, only one was reported. A `return` ends the search: collect the labels first."""
    return set(sorted(Tester()(attention))[:1])


@mistake("find_bugs")
def exactly_equal(attention):
    """Right attentions were accused because results were compared for exact equality. Allow for rounding."""
    tester = Tester()
    tester.same = lambda a, b: a.equal(b)
    return tester(attention)


@mistake("find_bugs")
def tolerance_too_tight(attention):
    """A right attention that calculates in float32 was accused: differences up to 0.0001 are rounding."""
    tester = Tester()
    tester.same = lambda a, b: close(a, b, 1e-8)
    return tester(attention)


@mistake("find_bugs")
def no_empty_rows(attention):
    """None of the queries that you tried was one that may look at nothing."""
    tester = Tester()
    tester.empty = False
    return tester(attention)


@mistake("find_bugs")
def nan_is_no_difference(attention):
    """NaN went unnoticed: any comparison with it is False, `> 0.0001` too. Test that a difference is small, not that
    it is large.
    """
    tester = Tester()
    tester.same = lambda a, b: (
        a.shape == b.shape and not bool((a - b).abs().max() > 1e-4)
    )
    return tester(attention)


@mistake("find_bugs")
def shapes_not_compared(attention):
    """The test itself stopped with an error: a bug may change the result's shape, and then it cannot be subtracted."""
    tester = Tester()
    tester.same = lambda a, b: bool((a - b).abs().max() < 1e-4)
    return tester(attention)


@mistake("find_bugs")
def square_inputs(attention):
    """An attention with the wrong scale went unnoticed because sizes were equal: D_v = D, or S = D."""
    tester = Tester()
    tester.shapes = ((4, 4), (4, 4), (4, 4))
    return tester(attention)


@mistake("find_bugs")
def values_as_wide(attention):
    """An attention that divides by the root of D_v went unnoticed, because D_v equals D in all inputs."""
    tester = Tester()
    tester.shapes = ((5, 4), (7, 4), (7, 4))
    return tester(attention)


@mistake("find_bugs")
def keys_as_many(attention):
    """An attention that divides by the root of S went unnoticed, because S equals D in all inputs."""
    tester = Tester()
    tester.shapes = ((5, 7), (7, 7), (7, 6))
    return tester(attention)


@mistake("find_bugs")
def plain_tables_only(attention):
    """Only plain tables were tried. Some bugs show only when there are axes in front."""
    tester = Tester()
    tester.lead = ()
    return tester(attention)


@mistake("find_bugs")
def three_axes_only(attention):
    """Only inputs with three axes were tried. An axis that is counted from the front is the right one for some numbers
    of axes.
    """
    tester = Tester()
    tester.lead = (2,)
    return tester(attention)


@mistake("find_bugs")
def positive_values(attention):
    """All values that were tried are positive, so it does not show what an attention does with negative ones."""
    tester = Tester()
    tester.table = lambda *shape: Tester.table(tester, *shape).abs()
    return tester(attention)


@mistake("find_bugs", hint=2)
def no_masks(attention):
    """No bug with masks was ever found. Try each attention with a mask that hides something."""
    tester = Tester()
    tester.tests_of_masks = dict
    return tester(attention)


@mistake("find_bugs", hint=2)
def one_rule_for_all(attention):
    """All sentences had the same mask, so an attention that uses one sentence's mask for another went unnoticed."""
    tester = Tester()
    tester.rule = lambda: one_rule(tester)
    return tester(attention)


def one_rule(tester):
    """Return the first sentence's mask for all."""
    mask = Tester.rule(tester)
    return mask[:1].expand_as(mask).clone()


@mistake("find_bugs", hint=2)
def values_changed_only(attention):
    """Only hidden values were changed. A hidden key can matter too, through what softmax divides by."""
    tester = Tester()
    tester.changed = ("value",)
    return tester(attention)


@mistake("find_bugs", hint=2)
def keys_changed_only(attention):
    """Only hidden keys were changed. If hidden scores are overwritten, keys no longer matter, and values do."""
    tester = Tester()
    tester.changed = ("key",)
    return tester(attention)


@mistake("find_bugs", hint=2)
def empty_rows_leak(attention):
    """The row of a query that may look at nothing was taken for a leak. Look for leaks in the other rows."""
    tester = Tester()
    tester.watched = lambda result: result
    return tester(attention)


@mistake("find_bugs", hint=2)
def inverted_is_a_leak(attention):
    """An inverted mask was reported as a leak. Do the visible keys still count?"""
    tester = Tester()

    def tests():
        found = Tester.tests_of_masks(tester)
        return found | {"mask_inverted": False}

    tester.tests_of_masks = tests
    return tester(attention)


@mistake("find_bugs", hint=2)
def all_labels_that_fit(attention):
    """Several labels about masks were reported, where only the first that applies was asked for."""
    tester = Tester()
    tester.masks = lambda: every(tester.tests_of_masks())
    return tester(attention)


@mistake("find_bugs", hint=1)
def scale_for_all(attention):
    """Wrong weights or values were reported as a wrong scale too. Rule out the axis of softmax and the values first."""
    tester = Tester()
    tester.numbers = lambda: every(tester.tests_of_numbers())
    return tester(attention)


@mistake("find_bugs", hint=1)
def softmax_not_tested(attention):
    """A softmax along the wrong axis was reported as something else. What does a query's row of weights sum to?"""
    tester = Tester()

    def tests():
        found = Tester.tests_of_numbers(tester)
        return {label: found[label] for label in ("value", "scale")}

    tester.tests_of_numbers = tests
    return tester(attention)


@mistake("find_bugs", hint=1)
def values_not_tested(attention):
    """Wrong values were reported as a wrong scale. For which queries does the scale make no difference?"""
    tester = Tester()

    def tests():
        found = Tester.tests_of_numbers(tester)
        return {label: found[label] for label in ("softmax_axis", "scale")}

    tester.tests_of_numbers = tests
    return tester(attention)


@mistake("find_bugs", hint=3)
def inputs_shared(attention):
    """An attention changed the inputs that later tests used. Give each call copies, and keep the originals."""
    tester = Tester()
    tester.shared = True
    return tester(attention)


@mistake("find_bugs", hint=3)
def changes_not_tested(attention):
    """No change of an input was ever reported. Compare each input with a copy from before the call."""
    tester = Tester()
    tester.kept = ()
    return tester(attention)


@mistake("find_bugs", hint=3)
def query_watched_only(attention):
    """Not every input was compared with its copy. There are four, and the mask is one of them."""
    tester = Tester()
    tester.kept = (0,)
    return tester(attention)


@mistake("find_bugs", hint=3)
def float32_only(attention):
    """An attention that returns float32 whatever comes in went unnoticed. Look at the result's dtype for inputs of both
    dtypes.
    """
    tester = Tester()
    tester.dtypes = (torch.float32,)
    return tester(attention)


@mistake("find_bugs", hint=3)
def float64_only(attention):
    """The dtype was tested only with float64. An attention that always returns float64 goes unnoticed."""
    tester = Tester()
    tester.dtypes = (torch.float64,)
    return tester(attention)


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
    }


@check("RepairedAttention", points=1)
def fit_to_be_trained(repaired: Any, draw: Inputs) -> Any:
    """Kind: dtypes, gradients of all parameters, their names, and sequences of several lengths."""
    module = filled(repaired(d_model=8, num_heads=2), draw)
    found = {f"length {n}": module(draw.normal(3, n, 8)) for n in (4, 2, 7)}
    (found["length 7"] * draw.normal(3, 7, 8)).sum().backward()
    found["gradients"] = [getattr(module, name).weight.grad for name in LAYERS]
    shapes = [(name, tuple(p.shape)) for name, p in module.named_parameters()]
    found["parameters"] = ", ".join(f"{name} {shape}" for name, shape in shapes)
    found["in float32"] = module.float()(draw.normal(2, 3, 8, dtype=torch.float32))
    return found


class Repaired(nn.Module):
    """The repaired module in steps, so that a mistake can get one of them wrong."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def projected(self, x):
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)

    def scaled(self, q, k):
        return q @ k.mT / q.size(-1) ** 0.5

    def future(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)

    def weights(self, scores):
        hidden = self.future(scores.size(-1))
        return scores.masked_fill(hidden, -math.inf).softmax(dim=-1)

    def drop(self, weights):
        return functional.dropout(weights, self.dropout, self.training)

    def forward(self, x):
        q, k, v = (self.split(part) for part in self.projected(x))
        mixed = self.drop(self.weights(self.scaled(q, k))) @ v
        return self.out_proj(self.merge(mixed))


def cut_up(x, heads):
    """Cut a sequence into heads, instead of the dimensions."""
    return x.reshape(x.size(0), heads, x.size(1), -1)


@mistake("RepairedAttention", hint=1)
class AsHandedIn(Repaired):
    """This is still the module as it was handed in, with all six faults. Test one line after another."""

    def forward(self, x):
        batch, length, d_model = x.shape
        q, k, v = (
            cut_up(layer(x), self.num_heads)
            for layer in (self.q_proj, self.q_proj, self.v_proj)
        )
        scores = q @ k.mT / d_model**0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(diagonal=2)
        weights = scores.softmax(dim=-1).masked_fill(future, 0.0)
        weights = functional.dropout(weights, self.dropout)
        return self.out_proj((weights @ v).reshape(batch, length, d_model))


@mistake("RepairedAttention", hint=2)
class TokensScrambled(Repaired):
    """Right for one head. With several, reshape cuts the sequence into pieces instead of the dimensions, both on the
    way in and on the way out.
    """

    def split(self, x):
        return cut_up(x, self.num_heads)

    def merge(self, x):
        return x.reshape(x.size(0), x.size(2), -1)


@mistake("RepairedAttention", hint=2)
class ScrambledOnTheWayIn(Repaired):
    """Merging the heads is right now. On the way in, reshape still cuts the sequence into pieces instead of the
    dimensions.
    """

    def split(self, x):
        return cut_up(x, self.num_heads)


@mistake("RepairedAttention", hint=2)
class ScrambledOnTheWayOut(Repaired):
    """Splitting into heads is right now. On the way out, reshape still puts numbers of several tokens into one row:
    bring a token's heads together first.
    """

    def merge(self, x):
        return x.reshape(x.size(0), x.size(2), -1)


@mistake("RepairedAttention", hint=2)
class Interleaved(Repaired):
    """The dimensions of the heads are interleaved. Those of one head are next to each other in a projection."""

    def split(self, x):
        return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)


@mistake("RepairedAttention", hint=1)
class KeysFromQueries(Repaired):
    """Query and key come from the same layer, and one of the four layers is never used."""

    def projected(self, x):
        return self.q_proj(x), self.q_proj(x), self.v_proj(x)


@mistake("RepairedAttention", hint=1)
class ValuesFromKeys(Repaired):
    """Key and value come from the same layer, and v_proj is never used."""

    def projected(self, x):
        return self.q_proj(x), self.k_proj(x), self.k_proj(x)


@mistake("RepairedAttention", hint=3)
class ScaledByModel(Repaired):
    """Right for one head. With several, over how many dimensions does a dot product run? The scale is the root of
    that.
    """

    def scaled(self, q, k):
        return q @ k.mT / self.q_proj.out_features**0.5


@mistake("RepairedAttention", hint=3)
class NotScaled(Repaired):
    """The scores are not scaled any more. What were they to be divided by?"""

    def scaled(self, q, k):
        return q @ k.mT


@mistake("RepairedAttention", hint=3)
class OneStepAhead(Repaired):
    """Each token sees the next one. Print the mask for three tokens, and compare its diagonal with what you want."""

    def future(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(diagonal=2)


@mistake("RepairedAttention", hint=3)
class WithoutItself(Repaired):
    """A token may look at itself. Here the mask hides the diagonal too, and the first token is left with nothing."""

    def future(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(diagonal=0)


@mistake("RepairedAttention", hint=3)
class PastHidden(Repaired):
    """Tokens see what comes after them, and nothing of what came before: the mask is inverted."""

    def future(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1)


@mistake("RepairedAttention")
class NoMask(Repaired):
    """All tokens see each other. masked_fill returns a new tensor: is its result used?"""

    def weights(self, scores):
        return scores.softmax(dim=-1)


@mistake("RepairedAttention", hint=3)
class ZeroedWeights(Repaired):
    """Weights were set to 0 after softmax, so they no longer sum to 1, and later tokens have already taken their
    share.
    """

    def weights(self, scores):
        return scores.softmax(dim=-1).masked_fill(self.future(scores.size(-1)), 0.0)


@mistake("RepairedAttention", hint=3)
class ZeroedScores(Repaired):
    """Hidden scores were set to 0, which is a score like any other. Which score has weight 0 after softmax?"""

    def weights(self, scores):
        hidden = self.future(scores.size(-1))
        return scores.masked_fill(hidden, 0.0).softmax(dim=-1)


@mistake("RepairedAttention")
class SoftmaxOverQueries(Repaired):
    """Softmax runs over the queries. It should run over the keys, the last axis."""

    def weights(self, scores):
        hidden = self.future(scores.size(-1))
        return scores.masked_fill(hidden, -math.inf).softmax(dim=-2)


@mistake("RepairedAttention", hint=3)
class DropoutAlways(Repaired):
    """Dropout acts in evaluation mode too. It has to be off wherever self.training is False."""

    def drop(self, weights):
        return functional.dropout(weights, self.dropout)


@mistake("RepairedAttention", hint=3)
class DropoutGone(Repaired):
    """Dropout never acts. It should, in training mode."""

    def drop(self, weights):
        return weights


@mistake("RepairedAttention", hint=3)
class DropoutInverted(Repaired):
    """Dropout acts in evaluation mode, and not in training."""

    def drop(self, weights):
        return functional.dropout(weights, self.dropout, not self.training)


@mistake("RepairedAttention")
class DropoutOnOutputs(Repaired):
    """Dropout acts on the mixed values, not on the weights: it removes single dimensions, not whole tokens."""

    def drop(self, weights):
        return weights

    def merge(self, x):
        return functional.dropout(Repaired.merge(self, x), self.dropout, self.training)


@mistake("RepairedAttention")
class DropoutAtTheEnd(Repaired):
    """Dropout acts on the output, not on the weights."""

    def drop(self, weights):
        return weights

    def forward(self, x):
        y = Repaired.forward(self, x)
        return functional.dropout(y + 0.5, self.dropout, self.training) - 0.5


@mistake("RepairedAttention")
class MaskForOneLength(Repaired):
    """It stops at a sequence of another length: the first mask was kept. Make one for the length at hand."""

    def future(self, length):
        if not hasattr(self, "kept"):
            self.kept = Repaired.future(self, length)
        return self.kept


@mistake("RepairedAttention")
class SingleOutput(Repaired):
    """The output projection is missing: the heads are next to each other, but nothing mixes them."""

    def forward(self, x):
        q, k, v = (self.split(part) for part in self.projected(x))
        return self.merge(self.drop(self.weights(self.scaled(q, k))) @ v)


@mistake("RepairedAttention")
class FloatTwiceAsLong(Repaired):
    """The result is float64 whatever comes in. It should have the dtype of x."""

    def forward(self, x):
        return Repaired.forward(self, x).double()


@mistake("RepairedAttention")
class GradientsStopped(Repaired):
    """No gradient reaches the weights of the query and the key: something on the way drops the graph, as detach,
    .data and torch.no_grad do.
    """

    def weights(self, scores):
        return Repaired.weights(self, scores.detach())


@mistake("RepairedAttention")
class AnotherLayer(Repaired):
    """There is a parameter that was not asked for. The four layers are all that is needed."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        Repaired.__init__(self, d_model, num_heads, dropout)
        self.extra = nn.Linear(d_model, d_model)
