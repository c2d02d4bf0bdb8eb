"""The hidden checks of lesson 12, and the mistakes that students make in it. Never given to students."""

from typing import Any

import numpy as np
import torch
from checks import (
    array,
    called,
    keras_weights,
    masks,
    parameters_of,
    rule,
    torch_module,
)
from torch import nn

from autograder.checks import Inputs, check, invariant, mistake

# Attention in NumPy


@check("numpy_attention", points=1)
def empty_rows_and_large_scores(numpy_attention: Any, draw: Inputs) -> Any:
    """Edge: a query that may look at nothing, without a warning, and scores of several hundred."""
    q, k, v = array(draw, 2, 4, 6), array(draw, 2, 5, 6), array(draw, 2, 5, 3)
    mask = rule(draw, 2, 4, 5)
    mask[0, 1] = mask[1, 3] = False
    output, warned = called(numpy_attention, q, k, v, draw.give(mask))
    large, keys, values = array(draw, 4, 4), array(draw, 5, 4), array(draw, 5, 2)
    keys[:, 0], keys[:, 1] = 1, 0
    keys[0, 1] = 1
    large[:, 0] = 0, 2000, -2000, 0  # the scores of a query move by half of that
    large[:, 1] = 0, 0, 0, 4000  # and here by far more for one key than for the others
    with_large, then_warned = called(
        numpy_attention, draw.give(large), draw.give(keys), values
    )
    seen = np.ones((4, 5), dtype=bool)
    seen[3, 0] = False  # the largest score of all
    with_hidden, last_warned = called(numpy_attention, large, keys, values, seen)
    return {
        "with an empty row": output,
        "what NumPy said about the empty row": warned,
        "with a large score that is hidden": with_hidden,
        "what NumPy said about the hidden one": last_warned,
        "with large scores": with_large,
        "what NumPy said about large scores": then_warned,
    }


@check("numpy_attention", points=1)
def float32_and_broadcasting(numpy_attention: Any, draw: Inputs) -> Any:
    """Edge: float32, leading axes and masks that broadcast, a single query and a single key, inputs left alone."""
    single = np.float32
    q = array(draw, 2, 1, 4, 6, dtype=single)
    k, v = array(draw, 1, 3, 5, 6, dtype=single), array(draw, 3, 5, 7, dtype=single)
    plain = array(draw, 4, 6, dtype=single)
    return {
        "float32": called(numpy_attention, q, k, v)[0],
        "one mask for all heads": called(
            numpy_attention, q, k, v, rule(draw, 2, 1, 4, 5)
        )[0],
        "one row for all queries": called(numpy_attention, q, k, v, rule(draw, 5))[0],
        "plain queries": called(numpy_attention, plain, k, v, rule(draw, 4, 5))[0],
        "one query, one key": called(
            numpy_attention, plain[:1], k[..., :1, :], v[..., :1, :]
        )[0],
    }


def scores_of(query, key, mask=None):
    """Return scaled scores; what is hidden gets minus infinity."""
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    return scores if mask is None else np.where(mask, scores, -np.inf)


def weights_of(scores, axis=-1):
    """Return softmax along an axis, 0 where nothing may be seen."""
    largest = scores.max(axis=axis, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


@mistake("numpy_attention", hint=2)
def hidden_maximum(query, key, value, mask=None):
    """The largest score was taken over hidden keys too. Where a hidden one is far larger than the others, every visible
    exponential becomes 0. Hide first, then subtract.
    """
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    exps = exps if mask is None else exps * mask
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value


@mistake("numpy_attention", hint=1)
def all_axes_turned(query, key, value, mask=None):
    """Right for plain tables: `.T` reverses all axes of an array. With sentences and heads in front, only the last
    two should change places.
    """
    scores = query @ key.T / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value


@mistake("numpy_attention", hint=1)
def two_axes_for_transpose(query, key, value, mask=None):
    """Right for plain tables: NumPy's transpose wants the new order of all axes, not two of them as in PyTorch. What
    swaps two axes has another name.
    """
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value


@mistake("numpy_attention", hint=1)
def old_order_for_transpose(query, key, value, mask=None):
    """NumPy's transpose(-2, -1) names the new order of the axes, and of a plain table that is the old one: nothing is
    turned. What swaps two axes has another name.
    """
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value


@mistake("numpy_attention")
def keys_not_turned(query, key, value, mask=None):
    """It stopped at query @ key: both have D as their last axis. A dot product of each query with each key needs the
    keys turned.
    """
    scores = query @ key / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value


@mistake("numpy_attention", hint=1)
def dot_of_all_pairs(query, key, value, mask=None):
    """Right for plain tables: with leading axes, np.dot pairs each sentence with every other. `@` goes through them
    side by side.
    """
    scores = np.dot(query, key.swapaxes(-1, -2)) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return np.dot(weights_of(scores), value)


@mistake("numpy_attention")
def leading_axes_joined(query, key, value, mask=None):
    """The leading axes were flattened into one. Where one set of keys serves several sets of queries, the two no
    longer fit: `@` broadcasts leading axes itself.
    """
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    m = None if mask is None else mask.reshape(-1, *mask.shape[-2:])
    output = weights_of(scores_of(q, k, m)) @ v
    return output.reshape(*query.shape[:-1], value.shape[-1])


@mistake("numpy_attention")
def axis_lost(query, key, value, mask=None):
    """The maximum, or the sum, of each row lost its axis, so it lies along the wrong one when it meets the table.
    NumPy keeps the axis if you ask.
    """
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max(axis=-1))
    return exps / exps.sum(axis=-1, keepdims=True) @ value


@mistake("numpy_attention")
def softmax_over_queries(query, key, value, mask=None):
    """Softmax ran over the queries, axis -2: each key shared itself out. Each query shares its attention among the
    keys.
    """
    return weights_of(scores_of(query, key, mask), axis=-2) @ value


@mistake("numpy_attention")
def softmax_over_the_first_axis(query, key, value, mask=None):
    """Softmax ran over axis 0, which is the sentences where there are any. The keys are the last axis: count from the
    end.
    """
    return weights_of(scores_of(query, key, mask), axis=0) @ value


@mistake("numpy_attention")
def softmax_over_everything(query, key, value, mask=None):
    """The sum was taken over all entries, so a whole array shares one unit. Each row of weights should sum to 1: say
    along which axis.
    """
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max())
    return exps / exps.sum() @ value


@mistake("numpy_attention")
def no_scale(query, key, value, mask=None):
    """The scores were not scaled. They are divided by the root of D, the size of a query."""
    return weights_of(scores_of(query, key, mask) * query.shape[-1] ** 0.5) @ value


@mistake("numpy_attention")
def divided_by_d(query, key, value, mask=None):
    """The scores were divided by D and not by its root."""
    return weights_of(scores_of(query, key, mask) / query.shape[-1] ** 0.5) @ value


@mistake("numpy_attention")
def multiplied_by_the_root(query, key, value, mask=None):
    """The scores were multiplied by the root of D: they should be divided by it."""
    return weights_of(scores_of(query, key, mask) * query.shape[-1]) @ value


@mistake("numpy_attention")
def scaled_by_the_number_of_keys(query, key, value, mask=None):
    """The scale is the root of another size, the number of keys. It belongs to D, the last axis of query."""
    factor = (query.shape[-1] / key.shape[-2]) ** 0.5
    return weights_of(scores_of(query, key, mask) * factor) @ value


@mistake("numpy_attention")
def scaled_by_the_values_width(query, key, value, mask=None):
    """The scale is the root of D_v, the width of the values. It belongs to D, the last axis of query."""
    factor = (query.shape[-1] / value.shape[-1]) ** 0.5
    return weights_of(scores_of(query, key, mask) * factor) @ value


@mistake("numpy_attention")
def scaled_after_softmax(query, key, value, mask=None):
    """The scale came after softmax, so the weights of a query sum to 1/√D. Scale the scores."""
    scores = scores_of(query, key, mask) * query.shape[-1] ** 0.5
    return weights_of(scores) / query.shape[-1] ** 0.5 @ value


@mistake("numpy_attention")
def keys_mixed(query, key, value, mask=None):
    """The keys were mixed instead of the values. Keys decide how much, values are what is mixed."""
    return weights_of(scores_of(query, key, mask)) @ key


@mistake("numpy_attention", hint=2)
def mask_ignored(query, key, value, mask=None):
    """The mask had no effect: the output is that of all keys."""
    return weights_of(scores_of(query, key)) @ value


@mistake("numpy_attention")
def mask_inverted(query, key, value, mask=None):
    """What may be seen was hidden, and the rest was seen. True means may attend: np.where(mask, a, b) takes a where
    mask is True.
    """
    return weights_of(scores_of(query, key, None if mask is None else ~mask)) @ value


@mistake("numpy_attention", hint=2)
def hidden_scores_zero(query, key, value, mask=None):
    """Hidden scores became 0, and exp(0) is 1: hidden keys still get a share. Only minus infinity gives none."""
    scores = scores_of(query, key)
    return weights_of(scores if mask is None else scores * mask) @ value


@mistake("numpy_attention", hint=2)
def mask_added(query, key, value, mask=None):
    """The mask was added as it is: True counts as 1, so allowed scores rose by 1 and nothing was hidden."""
    scores = scores_of(query, key)
    return weights_of(scores if mask is None else scores + mask) @ value


@mistake("numpy_attention", hint=2)
def mask_after_softmax(query, key, value, mask=None):
    """The mask came after softmax. Hidden keys had taken their share by then, so the weights of a query sum to less
    than 1.
    """
    weights = weights_of(scores_of(query, key))
    return (weights if mask is None else np.where(mask, weights, 0)) @ value


@mistake("numpy_attention", hint=2)
def large_negative_number(query, key, value, mask=None):
    """A query that may look at nothing shares itself out evenly: -1e9, or the smallest float, in every place is as
    good as 0. It should get zeros.
    """
    scores = scores_of(query, key)
    scores = scores if mask is None else np.where(mask, scores, -1e9)
    return weights_of(scores) @ value


@mistake("numpy_attention", hint=2)
def empty_rows_nan(query, key, value, mask=None):
    """A query that may look at nothing gets NaN: its largest score is minus infinity, and ∞ − ∞ is not a number. What
    can be subtracted there instead?
    """
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ value


@mistake("numpy_attention", hint=3)
def divided_by_nothing(query, key, value, mask=None):
    """A query that may look at nothing gets NaN: the sum of its exponentials is 0, and 0/0 is not a number. What
    could it be divided by instead?
    """
    scores = scores_of(query, key, mask)
    largest = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    return exps / exps.sum(axis=-1, keepdims=True) @ value


@mistake("numpy_attention", hint=2)
def repaired_afterward(query, key, value, mask=None):
    """The numbers are right, but NumPy warned: NaN was computed for a query that may look at nothing, and replaced
    later. Avoid ∞ − ∞ in the first place.
    """
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True)) @ value


@mistake("numpy_attention", hint=3)
def both_branches(query, key, value, mask=None):
    """The numbers are right, but NumPy warned: np.where computes both of its branches, so 0/0 happens before 0 is
    chosen. Choose the divisor first.
    """
    scores = scores_of(query, key, mask)
    largest = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, exps / total) @ value


@mistake("numpy_attention")
def logarithm_of_the_mask(query, key, value, mask=None):
    """The numbers are right, but NumPy warned: log(0) is minus infinity, as you want, and it says so each time.
    np.where hides without it.
    """
    scores = scores_of(query, key)
    return weights_of(scores if mask is None else scores + np.log(mask)) @ value


@mistake("numpy_attention", hint=1)
def exp_of_large_scores(query, key, value, mask=None):
    """Right for small scores only: exp of several hundred is infinite, and ∞/∞ is NaN. What can be subtracted from a
    row first without changing its weights?
    """
    exps = np.exp(scores_of(query, key, mask))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value


@mistake("numpy_attention")
def one_maximum_for_all(query, key, value, mask=None):
    """One maximum was subtracted everywhere. In a row whose scores are all far below it, every exponential rounds to
    0: each row has its own.
    """
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max())
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value


@mistake("numpy_attention")
def mean_subtracted(query, key, value, mask=None):
    """The mean of each row was subtracted: exp still overflows where one score is far above the others. Only the
    largest makes all of them at most 0.
    """
    scores = scores_of(query, key)
    scores = scores - scores.mean(axis=-1, keepdims=True)
    exps = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value


@mistake("numpy_attention", hint=1)
def always_float64(query, key, value, mask=None):
    """float32 came back as float64: np.sqrt of a whole number, np.zeros and astype(float) all make float64, and it
    spreads. A plain Python number does not.
    """
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value


@mistake("numpy_attention")
def query_overwritten(query, key, value, mask=None):
    """The output is right, but query was changed: /= writes into the caller's array. query / … makes a new one."""
    query /= query.shape[-1] ** 0.5
    return weights_of(scores_of(query, key, mask) * query.shape[-1] ** 0.5) @ value


@mistake("numpy_attention")
def weights_returned_too(query, key, value, mask=None):
    """Output and weights came back. Return the output alone."""
    weights = weights_of(scores_of(query, key, mask))
    return weights @ value, weights


@mistake("numpy_attention")
def tensor_returned(query, key, value, mask=None):
    """The numbers are right, but they came back as a PyTorch tensor. Stay with NumPy: an array goes in, an array
    comes out.
    """
    output = weights_of(scores_of(query, key, mask)) @ value
    return torch.from_numpy(np.ascontiguousarray(output))


# One mask, four conventions


def raised_by(function: Any) -> str:
    """Return which error a call raises; any kind of ValueError is one."""
    try:
        result = function()
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error" if result is not None else "no error, and None"


@check("convert_mask", points=1)
def unknown_names(convert_mask: Any, draw: Inputs) -> Any:
    """Edge: names that are none of the four, for source, for target and for both."""
    mask = masks(draw)["may_attend"]
    pairs = {
        "an unknown source": ("allowed", "hide"),
        "an unknown target": ("may_attend", "boolean"),
        "an unknown target of numbers": ("may_attend", "float"),
        "the same unknown name twice": ("keep", "keep"),
        "capital letters": ("may_attend", "Hide"),
        "no name": ("", "additive"),
    }
    return {
        what: raised_by(lambda s=source, t=target: convert_mask(mask, s, t))
        for what, (source, target) in pairs.items()
    }


@check("convert_mask", points=1)
def axes_and_dtypes(convert_mask: Any, draw: Inputs) -> Any:
    """Edge: leading axes, a single row, other integers, nothing or everything hidden; the mask left as it was."""
    rows = {name: mask[0] for name, mask in masks(draw).items()}
    batches = {
        name: draw.give(torch.stack([mask, mask.roll(1, -1)])[:, None])
        for name, mask in masks(draw).items()
    }
    all_seen = draw.give(torch.zeros(2, 3))
    none_seen = draw.give(torch.zeros(2, 3, dtype=torch.bool))
    whole = rows["zero_one"]
    other_integers = {
        f"{dtype} to {target}": convert_mask(
            draw.give(whole.to(dtype)), "zero_one", target
        )
        for dtype in (torch.uint8, torch.int32)
        for target in rows
    }
    return {
        **{
            f"a row to {name}": convert_mask(rows["hide"], "hide", name)
            for name in rows
        },
        **{
            f"a batch from {source} to {target}": convert_mask(
                batches[source], source, target
            )
            for source in batches
            for target in batches
        },
        **other_integers,
        "nothing hidden": convert_mask(all_seen, "additive", "hide"),
        "everything hidden": convert_mask(none_seen, "may_attend", "additive"),
    }


TWICE_IS_ONCE = invariant(
    "convert_mask",
    "doubled",
    because="Twice 0 is 0, and twice minus infinity is itself.",
)


def is_name(name):
    """Say whether a name is one of the four."""
    return name in ("may_attend", "hide", "zero_one", "additive")


def ask_for_names(source, target):
    """Raise ValueError for unknown names."""
    if not is_name(source) or not is_name(target):
        raise ValueError("unknown name")


def visible_of(mask, source):
    """Read a mask: True where a query may look."""
    if source == "additive":
        return mask == 0
    return ~mask if source == "hide" else mask.bool()


def written(visible, target):
    """Write a mask."""
    if target == "additive":
        return torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)
    if target == "zero_one":
        return visible.long()
    return ~visible if target == "hide" else visible


@mistake("convert_mask", hint=3)
def minus_a_billion(mask, source, target):
    """The additive mask hides with a large negative number. Asked for is minus infinity: where everything is hidden,
    a finite number hides nothing.
    """
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.clamp(min=-1e9) if target == "additive" else result


@mistake("convert_mask", hint=3)
def plus_infinity(mask, source, target):
    """The additive mask has plus infinity where a key is hidden: added to a score, that gives it all the attention.
    The sign is missing.
    """
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.abs() if target == "additive" else result


@mistake("convert_mask", hint=3)
def zero_times_infinity(mask, source, target):
    """There is NaN in the additive mask: 0 times infinity is not a number. Fill the places that are hidden, and do
    not multiply.
    """
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    if target == "additive":
        return (1 - visible.float()) * -torch.inf
    return written(visible, target)


@mistake("convert_mask", hint=3)
def ones_to_add(mask, source, target):
    """The additive mask holds 1 and 0: added to the scores, that hides nothing. It is 0 where a query may look and
    minus infinity where not.
    """
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    return visible.float() if target == "additive" else written(visible, target)


@mistake("convert_mask", hint=3)
def infinity_where_allowed(mask, source, target):
    """The additive mask is inverted: minus infinity stands where a query may look. A fill mask marks the places that
    are written to.
    """
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    return written(~visible if target == "additive" else visible, target)


@mistake("convert_mask")
def zeros_like_the_mask(mask, source, target):
    """torch.zeros_like(mask) has the dtype of the mask, and neither booleans nor whole numbers have an infinity.
    Create the additive mask as float32.
    """
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    if target == "additive":
        return torch.zeros_like(mask).masked_fill(~visible, -torch.inf)
    return written(visible, target)


@mistake("convert_mask")
def additive_float64(mask, source, target):
    """The additive mask is float64; asked for is float32, which is what PyTorch makes of plain numbers."""
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.double() if target == "additive" else result


@mistake("convert_mask", hint=2)
def bits_flipped(mask, source, target):
    """On whole numbers, ~ flips bits: ~1 is -2 and ~0 is -1. Turn numbers into booleans before you invert them."""
    ask_for_names(source, target)
    visible = mask if source == "zero_one" else visible_of(mask, source)
    if target == "hide":
        return ~visible
    return written(visible.bool(), target)


@mistake("convert_mask", hint=2)
def bits_flipped_then_booleans(mask, source, target):
    """On whole numbers, ~ flips bits: ~1 is -2 and ~0 is -1, and both count as True. Make booleans first,
    then invert.
    """
    ask_for_names(source, target)
    if source == "zero_one":
        return written(~(~mask).bool(), target)
    return written(visible_of(mask, source), target)


@mistake("convert_mask")
def numbers_for_booleans(mask, source, target):
    """The right table, but of numbers: may_attend and hide are boolean. Turn the numbers into booleans at the end."""
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.long() if target in ("may_attend", "hide") else result


@mistake("convert_mask")
def booleans_for_numbers(mask, source, target):
    """zero_one came back boolean. Tokenizers have whole numbers there, int64: those can be added up to count tokens."""
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.bool() if target == "zero_one" else result


@mistake("convert_mask")
def floats_for_integers(mask, source, target):
    """zero_one came back as floats. Asked for is int64; .float() makes what PyTorch's attention would add to the
    scores.
    """
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.float() if target == "zero_one" else result


@mistake("convert_mask")
def short_integers(mask, source, target):
    """zero_one came back as int32. Asked for is int64, PyTorch's usual integer."""
    ask_for_names(source, target)
    result = written(visible_of(mask, source), target)
    return result.int() if target == "zero_one" else result


@mistake("convert_mask", hint=2)
def hide_read_as_may_attend(mask, source, target):
    """ "hide" was read like "may_attend". In nn.MultiheadAttention's masks, True means hidden: what comes in has to be
    inverted.
    """
    ask_for_names(source, target)
    return written(mask if source == "hide" else visible_of(mask, source), target)


@mistake("convert_mask")
def hide_written_as_may_attend(mask, source, target):
    """ "hide" was written like "may_attend". In nn.MultiheadAttention's masks, True means hidden: what goes out has to
    be inverted.
    """
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    return visible if target == "hide" else written(visible, target)


@mistake("convert_mask", hint=2)
def hide_taken_for_may_attend(mask, source, target):
    """ "hide" was both read and written like "may_attend", so from one to the other nothing changes. In one of them
    True means hidden.
    """
    ask_for_names(source, target)
    visible = mask if source == "hide" else visible_of(mask, source)
    return visible if target == "hide" else written(visible, target)


@mistake("convert_mask", hint=2)
def booleans_mixed_up(mask, source, target):
    """The two boolean conventions are mixed up: True means may attend in "may_attend", and hidden in "hide"."""
    ask_for_names(source, target)
    other = {"may_attend": "hide", "hide": "may_attend"}
    visible = visible_of(mask, other.get(source, source))
    return written(visible, other.get(target, target))


@mistake("convert_mask", hint=2)
def ones_hide(mask, source, target):
    """zero_one is inverted: in a tokenizer's mask, 1 marks a token and 0 padding, so 1 means may attend."""
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    visible = ~visible if source == "zero_one" else visible
    return written(~visible if target == "zero_one" else visible, target)


@mistake("convert_mask", hint=2)
def additive_read_as_booleans(mask, source, target):
    """The additive mask was read as if it were booleans: .bool() of minus infinity is True, and of 0 False. So what
    is hidden counts as seen.
    """
    ask_for_names(source, target)
    return written(
        mask.bool() if source == "additive" else visible_of(mask, source), target
    )


@mistake("convert_mask", hint=3)
def other_names_pass(mask, source, target):
    """A name that is none of the four went through: an `else` took it for one of them. Compare both names with the
    four first, and raise ValueError.
    """
    return written(visible_of(mask, source), target)


@mistake("convert_mask", hint=3)
def nothing_for_other_names(mask, source, target):
    """For a name that is none of the four, None came back. Who misspells a name should be told: raise ValueError."""
    if not is_name(source) or not is_name(target):
        return None
    return written(visible_of(mask, source), target)


@mistake("convert_mask", hint=3)
def only_the_source_checked(mask, source, target):
    """An unknown target went through. Both names are to be compared with the four."""
    ask_for_names(source, "hide")
    return written(visible_of(mask, source), target)


@mistake("convert_mask", hint=3)
def only_the_target_checked(mask, source, target):
    """An unknown source went through. Both names are to be compared with the four."""
    ask_for_names("hide", target)
    return written(visible_of(mask, source), target)


@mistake("convert_mask", hint=3)
def the_same_name_passes(mask, source, target):
    """Where source and target are equal, the mask came back before the names were looked at. Look at them first, and
    mind that zero_one is int64.
    """
    if source == target:
        return mask
    ask_for_names(source, target)
    return written(visible_of(mask, source), target)


@mistake("convert_mask", hint=1)
def the_same_mask_back(mask, source, target):
    """Where source and target are equal, the mask came back as it was. A 0/1 mask of uint8 or int32 should come back
    as int64 too.
    """
    ask_for_names(source, target)
    return mask if source == target else written(visible_of(mask, source), target)


@mistake("convert_mask")
def key_error(mask, source, target):
    """An unknown name ends in a KeyError. Asked for is a ValueError: look whether the name is in the dictionary, and
    raise it yourself.
    """
    known = {name: name for name in ("may_attend", "hide", "zero_one", "additive")}
    return written(visible_of(mask, known[source]), known[target])


@mistake("convert_mask")
def assertion(mask, source, target):
    """An unknown name ends in an AssertionError. Asked for is a ValueError: an assert disappears when Python runs
    with -O.
    """
    assert is_name(source)
    assert is_name(target)
    return written(visible_of(mask, source), target)


@mistake("convert_mask")
def not_implemented(mask, source, target):
    """An unknown name ends in a NotImplementedError. Asked for is a ValueError: the argument has a wrong value."""
    if not is_name(source) or not is_name(target):
        raise NotImplementedError("unknown name")
    return written(visible_of(mask, source), target)


@mistake("convert_mask")
def mask_overwritten(mask, source, target):
    """The caller's mask was changed: logical_not_, masked_fill_ and `mask[...] =` write into it. Make a new tensor."""
    ask_for_names(source, target)
    if source == "hide":
        return written(mask.logical_not_(), target)
    return written(visible_of(mask, source), target)


@mistake("convert_mask")
def two_axes_only(mask, source, target):
    """It stopped, or gave another shape, where a mask has not two axes. Work on all entries at once, without sizes or
    loops.
    """
    ask_for_names(source, target)
    _, _ = mask.shape
    return written(visible_of(mask, source), target)


# Keras's weights


def keras_output(weights, query, value, heads):
    """Return what Keras's MultiHeadAttention computes."""
    q, k, v = (
        np.einsum("...le,ehd->...hld", x, weights[f"{part}/kernel"])
        + weights[f"{part}/bias"][:, None]
        for part, x in (("query", query), ("key", value), ("value", value))
    )
    scores = np.einsum("...hld,...hsd->...hls", q, k) / q.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = np.einsum(
        "...hls,...hsd->...hld", exps / exps.sum(axis=-1, keepdims=True), v
    )
    out = np.einsum("...hld,hde->...le", mixed, weights["attention_output/kernel"])
    return out + weights["attention_output/bias"]


@check("keras_to_torch", points=1)
def the_same_output(keras_to_torch: Any, draw: Inputs) -> Any:
    """The module's output, and how far it is from Keras's; for several heads, with more keys than queries."""
    found: dict[str, Any] = {}
    for heads, dim in ((2, 4), (4, 3)):
        size = heads * dim
        weights = keras_weights(draw, heads, dim, dtype=np.float64)
        module = torch_module(draw, size, heads, dtype=torch.float64)
        keras_to_torch(weights, module)
        query, value = draw.normal(2, 3, size), draw.normal(2, 5, size)
        with torch.no_grad():
            output, _ = module(query, value, value)
        right = keras_output(weights, query.numpy(), value.numpy(), heads)
        found[f"the output with {heads} heads"] = output
        found[f"far from Keras with {heads} heads"] = float(
            np.abs(output.numpy() - right).max()
        )
    return found


@check("keras_to_torch", points=1)
def the_same_parameters(keras_to_torch: Any, draw: Inputs) -> Any:
    """Edge: the same parameter objects, trainable, in their own dtype, and not in the arrays' memory."""
    found: dict[str, Any] = {}
    for arrays, own in (
        (np.float32, torch.float32),
        (np.float32, torch.float64),
        (np.float64, torch.float64),
    ):
        module = torch_module(draw, 6, 2, dtype=own)
        before = dict(module.named_parameters())
        drawn = keras_weights(draw, 2, 3, dtype=arrays)
        weights = {name: numbers.copy() for name, numbers in drawn.items()}
        keras_to_torch(weights, module)
        for numbers in weights.values():
            numbers[...] = 0
        after = dict(module.named_parameters())
        replaced = [name for name, old in before.items() if after.get(name) is not old]
        frozen = [
            name for name, p in after.items() if not p.requires_grad or not p.is_leaf
        ]
        what = f"{arrays.__name__} arrays, {own} module"
        found[f"{what}: other objects"] = ", ".join(sorted(replaced)) or "none"
        found[f"{what}: not trainable"] = ", ".join(sorted(frozen)) or "none"
        found[f"{what}: parameters"] = parameters_of(module)
    return found


def inputs():
    """Return the names of the three projections of what comes in."""
    return "query", "key", "value"


def pieces(weights, size, parts=None):
    """Return the four arrays that PyTorch's module wants."""
    parts = parts or inputs()
    return {
        "in_proj_weight": np.concatenate(
            [weights[f"{p}/kernel"].reshape(size, size).T for p in parts]
        ),
        "in_proj_bias": np.concatenate(
            [weights[f"{p}/bias"].reshape(size) for p in parts]
        ),
        "out_proj.weight": weights["attention_output/kernel"].reshape(size, size).T,
        "out_proj.bias": weights["attention_output/bias"],
    }


def write(module, arrays):
    """Copy arrays into a module's parameters, by name."""
    with torch.no_grad():
        for name, numbers in arrays.items():
            module.get_parameter(name).copy_(torch.from_numpy(numbers.copy()))


@mistake("keras_to_torch", hint=1)
def kernels_not_turned(weights, module):
    """The kernels of query, key and value came in as they are. Keras multiplies x @ kernel, so input by output;
    PyTorch x @ weight.T, output by input.
    """
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"].reshape(size, size) for part in inputs()]
    write(module, pieces(weights, size) | {"in_proj_weight": np.concatenate(kernels)})


@mistake("keras_to_torch", hint=3)
def output_kernel_not_turned(weights, module):
    """The output kernel came in as it is. Its two axes of heads come first, as input; PyTorch's weight has the output
    first.
    """
    size = module.embed_dim
    out = weights["attention_output/kernel"].reshape(size, size)
    write(module, pieces(weights, size) | {"out_proj.weight": out})


@mistake("keras_to_torch", hint=1)
def nothing_turned(weights, module):
    """No kernel was turned. Keras keeps input by output, for x @ kernel; PyTorch output by input, for x @ weight.T."""
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"].reshape(size, size) for part in inputs()]
    out = weights["attention_output/kernel"].reshape(size, size)
    new = {"in_proj_weight": np.concatenate(kernels), "out_proj.weight": out}
    write(module, pieces(weights, size) | new)


@mistake("keras_to_torch", hint=1)
def turned_before_joined(weights, module):
    """Heads and head dimension have changed places in the kernels of query, key and value: `.T` turned all three
    axes. Join heads and dimension first.
    """
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"].T.reshape(size, size) for part in inputs()]
    write(module, pieces(weights, size) | {"in_proj_weight": np.concatenate(kernels)})


@mistake("keras_to_torch", hint=3)
def output_turned_before_joined(weights, module):
    """Heads and head dimension have changed places in the output kernel: `.T` turned all three axes. Join heads and
    dimension first.
    """
    size = module.embed_dim
    out = weights["attention_output/kernel"].T.reshape(size, size)
    write(module, pieces(weights, size) | {"out_proj.weight": out})


@mistake("keras_to_torch", hint=1)
def all_turned_before_joined(weights, module):
    """Heads and head dimension have changed places in all kernels: `.T` of three axes turns them all. Join heads and
    dimension into one axis first.
    """
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"].T.reshape(size, size) for part in inputs()]
    out = weights["attention_output/kernel"].T.reshape(size, size)
    new = {"in_proj_weight": np.concatenate(kernels), "out_proj.weight": out}
    write(module, pieces(weights, size) | new)


@mistake("keras_to_torch", hint=1)
def cut_anew(weights, module):
    """The kernels were reshaped to the shape of a transpose and not transposed, so their numbers were cut up anew. An
    axis has to be moved.
    """
    size, heads = module.embed_dim, module.num_heads
    kernels = [
        np.swapaxes(weights[f"{part}/kernel"].reshape(heads, size, -1), 0, 1)
        .reshape(size, size)
        .T
        for part in inputs()
    ]
    write(module, pieces(weights, size) | {"in_proj_weight": np.concatenate(kernels)})


@mistake("keras_to_torch", hint=2)
def alphabetical_order(weights, module):
    """in_proj_weight and in_proj_bias hold key, query, value: the order of the alphabet, or of a dictionary.
    PyTorch's is query, key, value.
    """
    write(module, pieces(weights, module.embed_dim, ("key", "query", "value")))


@mistake("keras_to_torch", hint=2)
def values_before_keys(weights, module):
    """in_proj_weight and in_proj_bias hold query, value, key: that is the order of Keras's call. PyTorch's is query,
    key, value.
    """
    write(module, pieces(weights, module.embed_dim, ("query", "value", "key")))


@mistake("keras_to_torch", hint=2)
def query_three_times(weights, module):
    """The query's weights are there three times. Each third of in_proj_weight and in_proj_bias has weights of its
    own.
    """
    write(module, pieces(weights, module.embed_dim, ("query", "query", "query")))


@mistake("keras_to_torch", hint=1)
def first_head_only(weights, module):
    """Only the first head's kernel was copied. All heads together are E rows of each third."""
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"][:, 0].T for part in inputs()]
    write(module, {"in_proj_weight": np.concatenate(kernels)})
    write(module, pieces(weights, size))


@mistake("keras_to_torch")
def biases_forgotten(weights, module):
    """The weights are right, but no bias was copied."""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if "bias" not in name})


@mistake("keras_to_torch")
def input_biases_forgotten(weights, module):
    """The biases of query, key and value were not copied: they go into in_proj_bias."""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if name != "in_proj_bias"})


@mistake("keras_to_torch")
def output_bias_forgotten(weights, module):
    """The output's bias was not copied: it goes into out_proj.bias."""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if name != "out_proj.bias"})


@mistake("keras_to_torch", hint=3)
def output_forgotten(weights, module):
    """The output projection was not copied: attention_output goes into out_proj, its kernel and its bias."""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if "out" not in name})


@mistake("keras_to_torch")
def biases_turned(weights, module):
    """The weights are right, but in the biases heads and head dimension have changed places. A bias (H, D) is joined
    as it is.
    """
    size = module.embed_dim
    biases = [weights[f"{part}/bias"].T.reshape(size) for part in inputs()]
    write(module, pieces(weights, size) | {"in_proj_bias": np.concatenate(biases)})


@mistake("keras_to_torch", hint=2)
def stacked(weights, module):
    """Three kernels were stacked along a new axis, (3, E, E). in_proj_weight is (3E, E): the three stand below one
    another on an axis that is there.
    """
    size = module.embed_dim
    arrays = pieces(weights, size)
    write(module, {"in_proj_weight": arrays["in_proj_weight"].reshape(3, size, size)})


@mistake("keras_to_torch", hint=2)
def side_by_side(weights, module):
    """Three kernels were joined side by side, (E, 3E). in_proj_weight is (3E, E): the three stand below one another."""
    size = module.embed_dim
    kernels = [weights[f"{part}/kernel"].reshape(size, size).T for part in inputs()]
    write(module, {"in_proj_weight": np.concatenate(kernels, axis=1)})


@mistake("keras_to_torch", hint=3)
def while_autograd_watches(weights, module):
    """It stopped because autograd watches a parameter: what is copied into one is no step of a calculation. Copy
    under torch.no_grad().
    """
    arrays = pieces(weights, module.embed_dim)
    module.in_proj_weight.copy_(torch.from_numpy(arrays["in_proj_weight"]))


@mistake("keras_to_torch", hint=3)
def new_parameters(weights, module):
    """The module got new Parameter objects. An optimizer that was made before still holds the old ones: write into
    those that are there.
    """
    arrays = pieces(weights, module.embed_dim)
    for name, numbers in arrays.items():
        owner = module.out_proj if name.startswith("out") else module
        own = nn.Parameter(
            torch.from_numpy(numbers.copy()).to(module.in_proj_weight.dtype)
        )
        setattr(owner, name.removeprefix("out_proj."), own)


@mistake("keras_to_torch", hint=3)
def another_dtype(weights, module):
    """A parameter took the arrays' dtype: `.data = …`, or a new Parameter, puts another tensor in its place. copy_
    keeps dtype and memory.
    """
    for name, numbers in pieces(weights, module.embed_dim).items():
        module.get_parameter(name).data = torch.from_numpy(numbers.copy())


@mistake("keras_to_torch", hint=3)
def shared_memory(weights, module):
    """What is in the module changes when the arrays do: torch.from_numpy shares their memory, and `.data = …` keeps
    it. Copy the numbers.
    """
    for name, numbers in pieces(weights, module.embed_dim).items():
        module.get_parameter(name).data = torch.from_numpy(numbers)


@mistake("keras_to_torch", hint=3)
def shared_memory_in_the_right_dtype(weights, module):
    """What is in the module changes when the arrays do, wherever dtypes agree: .to() copies only if it must. copy_
    into the parameter always copies.
    """
    for name, numbers in pieces(weights, module.embed_dim).items():
        own = module.get_parameter(name)
        own.data = torch.from_numpy(numbers).to(own.dtype)


@mistake("keras_to_torch", hint=3)
def no_longer_trainable(weights, module):
    """The numbers are right, but the parameters no longer ask for gradients. torch.no_grad() lets you write without
    that.
    """
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    write(module, pieces(weights, module.embed_dim))
