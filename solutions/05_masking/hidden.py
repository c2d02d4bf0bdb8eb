"""The hidden checks of lesson 5, and the mistakes that students make in it. Never given to students."""

import math
from typing import Any

import torch
from checks import (
    attending,
    last_token_everywhere,
    made_there,
    next_token,
    noisy,
    rule,
)
from torch.nn import functional

from autograder.checks import Inputs, check, mistake

# The causal mask


@check("causal_mask", points=1)
def one_query(causal_mask: Any, draw: Inputs) -> Any:
    """A single query, a single key, and longer sequences."""
    return (
        causal_mask(1, 5),
        causal_mask(1, 1),
        causal_mask(1),
        causal_mask(3, 9),
        causal_mask(12),
    )


@check("causal_mask", points=1)
def on_a_device(causal_mask: Any, draw: Inputs) -> Any:
    """The requested device, and a long sequence."""
    return (
        made_there(lambda device: causal_mask(2, device=device)),
        causal_mask(2, 3, device="cpu"),
        causal_mask(40, 60),
    )


def ones(q_len, k_len, device):
    """Make a table of True, with as many keys as queries unless k_len is given."""
    return torch.ones(
        q_len, q_len if k_len is None else k_len, dtype=torch.bool, device=device
    )


@mistake("causal_mask")
def hides_instead(q_len, k_len=None, *, device=None):
    """True marks where looking is forbidden. In these lessons, as in PyTorch's function, True means "may look"."""
    m = ones(q_len, k_len, device)
    return m.triu(m.size(1) - m.size(0) + 1)


@mistake("causal_mask", hint=2)
def top_left(q_len, k_len=None, *, device=None):
    """The triangle starts at the top left. With cached keys, the last query is the newest: it lines up with the last
    key.
    """
    return ones(q_len, k_len, device).tril()


@mistake("causal_mask", hint=2)
def hides_at_the_top_left(q_len, k_len=None, *, device=None):
    """Two things: True must mean "may look", and with cached keys the triangle ends at the last key."""
    return ones(q_len, k_len, device).triu(1)


@mistake("causal_mask", hint=3)
def not_oneself(q_len, k_len=None, *, device=None):
    """A token cannot see itself here, so the first row is empty. A query may see its own key, only not later ones."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0) - 1)


@mistake("causal_mask", hint=3)
def one_ahead(q_len, k_len=None, *, device=None):
    """Each query sees one key too many: the next one, which is exactly the answer it must not see."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0) + 1)


@mistake("causal_mask", hint=2)
def past_hidden(q_len, k_len=None, *, device=None):
    """Inverted: each query sees the future and not the past. Which of the two triangles is the past?"""
    m = ones(q_len, k_len, device)
    return m.triu(m.size(1) - m.size(0))


@mistake("causal_mask", hint=3)
def floats(q_len, k_len=None, *, device=None):
    """This is a mask of floats, which PyTorch's function would add to the scores. Make it boolean."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).float()


@mistake("causal_mask", hint=3)
def integers(q_len, k_len=None, *, device=None):
    """This is a mask of integers. PyTorch's function rejects those, and ~ flips their bits. Make it boolean."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).long()


@mistake("causal_mask", hint=3)
def numbers_to_add(q_len, k_len=None, *, device=None):
    """Zeros and minus infinities are another convention, a mask to be added to the scores. Here a mask is True and
    False.
    """
    m = ones(q_len, k_len, device)
    return torch.zeros(m.shape, device=device).masked_fill(
        ~m.tril(m.size(1) - m.size(0)), -torch.inf
    )


@mistake("causal_mask", hint=1)
def everything(q_len, k_len=None, *, device=None):
    """Every key is allowed. Which keys come after the query?"""
    return ones(q_len, k_len, device)


@mistake("causal_mask", hint=2)
def own_key_only(q_len, k_len=None, *, device=None):
    """Each query sees only one key and none of the earlier ones. Looking back is allowed."""
    m = ones(q_len, k_len, device)
    shift = m.size(1) - m.size(0)
    return m.tril(shift) & m.triu(shift)


@mistake("causal_mask", hint=2)
def shifted_the_wrong_way(q_len, k_len=None, *, device=None):
    """The triangle moved the wrong way: with more keys than queries its edge moves to the right, not to the left."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(0) - m.size(1))


@mistake("causal_mask", hint=1)
def square_only(q_len, k_len=None, *, device=None):
    """k_len was not used: the mask has as many columns as rows. It needs one column per key."""
    return ones(q_len, None, device).tril()


@mistake("causal_mask")
def lying(q_len, k_len=None, *, device=None):
    """The table is transposed: rows belong to queries, columns to keys."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).mT


@mistake("causal_mask")
def device_ignored(q_len, k_len=None, *, device=None):
    """The right table, but always on the CPU: the argument device was not passed on."""
    m = ones(q_len, k_len, None)
    return m.tril(m.size(1) - m.size(0))


@mistake("causal_mask")
def axes_in_front(q_len, k_len=None, *, device=None):
    """Too many axes: the mask should be a plain table, (q_len, k_len). It broadcasts over batch and heads by itself."""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0))[None, None]


@mistake("causal_mask", hint=1)
def earlier_keys_forgotten(q_len, k_len=None, *, device=None):
    """The queries see one another but none of the cached keys. All keys before the queries are in their past."""
    m = ones(q_len, k_len, device)
    shift = m.size(1) - m.size(0)
    return m.tril(shift) & (torch.arange(m.size(1), device=device) >= shift)


# The padding mask


@check("padding_mask", points=1)
def one_sentence(padding_mask: Any, draw: Inputs) -> Any:
    """A single sentence, lengths of another integer type, and a batch wider than every sentence."""
    lengths = draw.give(torch.tensor([3], dtype=torch.int32))
    return padding_mask(lengths, 7), padding_mask(draw.give(torch.tensor([1, 4])), 6)


def real(lengths, max_len):
    """Make the (B, S) table."""
    return torch.arange(max_len) < lengths[:, None]


@mistake("padding_mask", hint=1)
def one_too_many(lengths, max_len):
    """One padding token slips through: a length of n means positions 0 to n - 1."""
    return real(lengths + 1, max_len)[:, None, None]


@mistake("padding_mask", hint=1)
def one_too_few(lengths, max_len):
    """The last token of each sentence is hidden: a length of n means positions 0 to n - 1, counting from 0."""
    return real(lengths - 1, max_len)[:, None, None]


@mistake("padding_mask", hint=3)
def a_row_per_sentence(lengths, max_len):
    """The shape is (B, S). Next to scores (B, H, L, S), its rows would be read as queries: it needs two axes in
    between.
    """
    return real(lengths, max_len)


@mistake("padding_mask", hint=3)
def one_axis_between(lengths, max_len):
    """One axis is missing: heads and queries need one each, (B, 1, 1, S)."""
    return real(lengths, max_len)[:, None]


@mistake("padding_mask", hint=3)
def axes_at_the_end(lengths, max_len):
    """The new axes came last, so positions line up with heads. Keys are the last axis."""
    return real(lengths, max_len)[:, :, None, None]


@mistake("padding_mask", hint=3)
def queries_hidden(lengths, max_len):
    """This hides queries: the positions are on the query axis. Hide keys, which are on the last axis."""
    return real(lengths, max_len)[:, None, :, None]


@mistake("padding_mask", hint=3)
def axes_in_front_of_all(lengths, max_len):
    """The new axes came first, so sentences line up with queries. The batch stays the first axis."""
    return real(lengths, max_len)[None, None]


@mistake("padding_mask")
def true_at_padding(lengths, max_len):
    """Inverted: True marks the padding. It should mean "may look"."""
    return ~real(lengths, max_len)[:, None, None]


@mistake("padding_mask", hint=1)
def padded_in_front(lengths, max_len):
    """The tokens ended up at the end of the row. A sentence starts at position 0, and padding follows it."""
    return real(lengths, max_len).flip(-1)[:, None, None]


@mistake("padding_mask", hint=3)
def keys_and_queries_hidden(lengths, max_len):
    """Queries are hidden as well: the mask has a query axis. Padding is hidden as keys, the same for all queries."""
    m = real(lengths, max_len)
    return (m[:, :, None] & m[:, None, :])[:, None]


@mistake("padding_mask")
def floats_or_integers(lengths, max_len):
    """The right entries, but as numbers. A mask is boolean: what a comparison returns, or dtype=torch.bool."""
    return real(lengths, max_len)[:, None, None].float()


@mistake("padding_mask")
def integer_mask(lengths, max_len):
    """The right entries, but as integers, which PyTorch's function rejects. Leave the comparison as it is, boolean."""
    return real(lengths, max_len)[:, None, None].long()


@mistake("padding_mask")
def as_wide_as_the_longest(lengths, max_len):
    """The mask is as wide as the longest sentence, equal to max_len only by chance. It must have max_len columns."""
    places = torch.arange(int(lengths.max()), device=lengths.device)
    return (places < lengths[:, None])[:, None, None]


@mistake("padding_mask", hint=1)
def only_at_the_length(lengths, max_len):
    """Only one position per sentence came out True. All positions before the length hold tokens."""
    return (torch.arange(max_len) == lengths[:, None] - 1)[:, None, None]


@mistake("padding_mask", hint=2)
def no_column(lengths, max_len):
    """Positions and lengths were compared entry by entry. One of them has to be a column, so that every pair is
    compared.
    """
    return (torch.arange(max_len) < lengths)[:, None, None]


@mistake("padding_mask", hint=3)
def device_forgotten(lengths, max_len):
    """The right table, but its positions are created on the default device. Create them where `lengths` is: device=."""
    return (torch.arange(max_len) < lengths[:, None])[:, None, None]


@mistake("padding_mask", hint=2)
def positions_as_column(lengths, max_len):
    """Positions run down and sentences across. A sentence is a row: make the lengths the column."""
    return (torch.arange(max_len)[:, None] < lengths)[:, None, None]


# Several masks


@check("combine_masks", points=1)
def three_rules_left_alone(combine_masks: Any, draw: Inputs) -> Any:
    """Three masks that broadcast against one another and are left unchanged; a mask that allows everything."""
    third = draw.normal(1, 3, 4, 1) > 0
    third[0, 0, :2, 0] = torch.tensor([True, False])
    rules = [rule(draw, 4, 4), rule(draw, 2, 1, 1, 4), draw.give(third)]
    everything = draw.give(torch.ones(3, 1, 1, dtype=torch.bool))
    return combine_masks(*rules), rules, combine_masks(everything, rules[0])


def present(masks):
    """Leave out every None."""
    return [m for m in masks if m is not None]


def folded(masks, step):
    """Combine masks with a given operator."""
    found = present(masks)
    result = found[0] if found else None
    for m in found[1:]:
        result = step(result, m)
    return result


@mistake("combine_masks", hint=2)
def missing_ones_counted(*masks):
    """None was counted as a missing vote, so nothing is allowed next to a None. Leave None out."""
    kept = [mask for mask in masks if mask is not None]
    if not kept:
        return None
    return sum(mask.int() for mask in kept) == len(masks)


@mistake("combine_masks", hint=3)
def either(*masks):
    """Combined with "or": one permission is enough, so the future leaks in through the padding mask. Both must allow
    it.
    """
    return folded(masks, lambda a, b: a | b)


@mistake("combine_masks")
def one_list_expected(*masks):
    """Only the first mask was gone through, row by row. *masks collects all arguments into a tuple: loop over
    `masks`.
    """
    return folded(
        list(masks[0]) if masks and masks[0] is not None else [], lambda a, b: a & b
    )


@mistake("combine_masks", hint=3)
def exactly_one(*masks):
    """Combined with "exactly one of them": where both masks allow looking, it came out forbidden."""
    return folded(masks, lambda a, b: a ^ b)


@mistake("combine_masks", hint=3)
def numbers_multiplied(*masks):
    """The result is a mask of numbers. Boolean masks combined with & stay boolean."""
    return folded([m if m is None else m.int() for m in masks], lambda a, b: a * b)


@mistake("combine_masks", hint=3)
def floats_multiplied(*masks):
    """The result is a mask of floats, which PyTorch's function would add to the scores. & keeps masks boolean."""
    return folded([m if m is None else m.float() for m in masks], lambda a, b: a * b)


@mistake("combine_masks", hint=3)
def numbers_added(*masks):
    """The masks were added. A sum counts permissions, but all of them are needed. That is what & is for."""
    return folded([m if m is None else m.int() for m in masks], lambda a, b: a + b)


@mistake("combine_masks")
def first_only(*masks):
    """Only the first mask counts. A `return` inside the loop does that, and so does a result that is not assigned:
    `a.logical_and(b)` alone changes nothing.
    """
    return folded(masks, lambda a, b: a)


@mistake("combine_masks", hint=3)
def last_only(*masks):
    """Only the last mask counts. With `and`, Python returns one of the two; & works entry by entry."""
    return folded(masks, lambda a, b: b)


@mistake("combine_masks")
def result_turned_round(*masks):
    """The result is inverted: True marks where a rule forbids looking."""
    result = folded(masks, lambda a, b: a & b)
    return None if result is None else ~result


@mistake("combine_masks", hint=2)
def none_not_expected(*masks):
    """It failed on a mask of None, or on no masks at all. None forbids nothing: leave it out before combining."""
    result = masks[0] & masks[1]
    for m in masks[2:]:
        result = result & m
    return result


@mistake("combine_masks", hint=1)
def none_forbids_everything(*masks):
    """One None among the masks made the whole result None. None means "no rule"; the other rules still hold."""
    return (
        None
        if any(m is None for m in masks) or not masks
        else folded(masks, lambda a, b: a & b)
    )


@mistake("combine_masks", hint=2)
def stops_at_the_first_none(*masks):
    """The first None ended the loop, so no mask after it counts. None means "no rule": go on with the next one."""
    before = masks[: masks.index(None)] if None in masks else masks
    return folded(before, lambda a, b: a & b) if before else None


@mistake("combine_masks", hint=1)
def true_for_nothing(*masks):
    """With no mask to combine, something other than None came back. Return None in that case."""
    result = folded(masks, lambda a, b: a & b)
    return torch.tensor(True) if result is None else result


@mistake("combine_masks", hint=2)
def two_masks_only(*masks):
    """Right for two masks, but a third one was ignored. There may be any number of them."""
    return folded(present(masks)[:2], lambda a, b: a & b)


@mistake("combine_masks")
def full_masks_left_out(*masks):
    """A mask that allows everything was left out, and its axes are missing from the shape. Only None is no mask."""
    return folded([m for m in present(masks) if not m.all()], lambda a, b: a & b)


@mistake("combine_masks", hint=3)
def same_shapes_only(*masks):
    """It failed on masks of different shapes. & broadcasts axes of size 1 by itself; stacking needs equal shapes."""
    found = present(masks)
    return torch.stack(found).all(dim=0) if found else None


@mistake("combine_masks", hint=3)
def written_into_a_mask(*masks):
    """The combination is right, but one of the caller's masks was changed: &= works in place. Use &."""
    found = present(masks)
    for m in found[1:]:
        if m.shape == found[0].shape or found[0].dim() < m.dim():
            found[0] = found[0] & m
        else:
            found[0] &= m
    return found[0].logical_and_(found[0]) if found else None


@mistake("combine_masks", hint=3)
def python_and(*masks):
    """`and`, `or`, `not` and `if` need a single truth value, and a mask has many. Use &, and check `is not None`."""
    found = [m for m in masks if m is not None]
    result = found[0] if found else None
    for m in found[1:]:
        result = result and m
    return result


# Masked softmax


@check("masked_softmax", points=1)
def gradients(masked_softmax: Any, draw: Inputs) -> Any:
    """Gradients, with an empty row."""
    scores = draw.normal(2, 3, 4).requires_grad_()
    (
        masked_softmax(scores, rule(draw, 2, 3, 4, empty=(1, 2))) * draw.normal(2, 3, 4)
    ).sum().backward()
    return scores.grad


@check("masked_softmax", points=1, tolerance=1e-3)
def precision_and_size(masked_softmax: Any, draw: Inputs) -> Any:
    """Half precision, scores around ten thousand, and inputs left unchanged."""
    mask = rule(draw, 4, 5, empty=0)
    half, large = (
        draw.normal(4, 5, dtype=torch.float16),
        draw.give(1e4 + draw.normal(4, 5)),
    )
    return masked_softmax(half, mask), masked_softmax(large, mask)


def hide(scores, mask, fill=-math.inf):
    """Overwrite hidden scores with a number; without a mask nothing is hidden."""
    return scores if mask is None else scores.masked_fill(~mask, fill)


def shares(scores):
    """Apply softmax, with zeros where a row is nothing but minus infinity."""
    empty = (scores == -math.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)


@mistake("masked_softmax", hint=2)
def cut_after_softmax(scores, mask=None):
    """Weights were zeroed after softmax, so rows sum to less than 1: the hidden keys had already taken their share."""
    return scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask


@mistake("masked_softmax")
def visible_keys_hidden(scores, mask=None):
    """Inverted: visible keys were hidden and hidden ones seen. masked_fill writes where its mask is True."""
    return shares(hide(scores, None if mask is None else ~mask))


@mistake("masked_softmax", hint=2)
def empty_row_is_nan(scores, mask=None):
    """A row with nothing to look at is NaN: softmax of nothing but minus infinity is 0/0. It should be all zeros."""
    return hide(scores, mask).softmax(dim=-1)


@mistake("masked_softmax", hint=3)
def minus_a_billion(scores, mask=None):
    """The empty row spreads its weight evenly over hidden keys, as softmax does with equal scores, such as one large
    negative number. Set all its weights to 0 after softmax.
    """
    return hide(scores, mask, -1e9).softmax(dim=-1)


@mistake("masked_softmax")
def minus_a_billion_then_zeroed(scores, mask=None):
    """Hidden keys got a large negative score, which is a score like any other: visible ones can be lower still, and
    float16 cannot hold it. Only minus infinity loses to every score.
    """
    weights = hide(scores, mask, -1e9).softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


@mistake("masked_softmax")
def a_score_of_zero(scores, mask=None):
    """Hidden keys still get weight: a score near 0 is a score like any other, and e to the 0 is 1. Only −∞ gives 0."""
    return hide(scores, mask, 0.0).softmax(dim=-1)


@mistake("masked_softmax", hint=2)
def scores_times_mask_then_cut(scores, mask=None):
    """Hidden scores became 0 and entered the sum; only then were their weights zeroed, so rows sum to less than 1."""
    return (
        scores.softmax(dim=-1)
        if mask is None
        else (scores * mask).softmax(dim=-1) * mask
    )


@mistake("masked_softmax", hint=2)
def mask_added(scores, mask=None):
    """The mask was added as 0 and 1: allowed scores rose by 1 and hidden keys stayed visible."""
    return (
        scores.softmax(dim=-1)
        if mask is None
        else (scores + mask.to(scores.dtype)).softmax(dim=-1)
    )


@mistake("masked_softmax")
def mask_not_used(scores, mask=None):
    """The mask had no effect. masked_fill returns a new tensor; is its result used?"""
    return scores.softmax(dim=-1)


@mistake("masked_softmax", hint=2)
def cut_and_shared_again(scores, mask=None):
    """The remaining weights were divided by their sum, which is 0 in an empty row: 0/0 is NaN."""
    w = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask
    return w / w.sum(dim=-1, keepdim=True)


@mistake("masked_softmax", hint=2)
def cut_and_shared_again_safely(scores, mask=None):
    """The mask came after softmax, or after its shift by the largest score. A hidden key with a large score then takes
    all the weight, and nothing is left to share: hide first.
    """
    w = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask
    total = w.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, w / total.masked_fill(total == 0, 1.0), 0.0)


@mistake("masked_softmax", hint=2)
def small_number_in_the_sum(scores, mask=None):
    """Rows do not sum to exactly 1: a small number was added to the sum to avoid 0/0. Only the empty row
    needs help, and after softmax.
    """
    e = torch.zeros_like(scores) if scores.numel() == 0 else scores.softmax(dim=-1)
    e = e if mask is None else e * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-2)


@mistake("masked_softmax")
def exponentials_by_hand(scores, mask=None):
    """Right for small scores, but large ones overflow: exp without a shift. Use softmax, or shift as in lesson 4."""
    e = scores.exp() if mask is None else scores.exp() * mask
    total = e.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, e / total.masked_fill(total == 0, 1.0), 0.0)


@mistake("masked_softmax", hint=2)
def nan_replaced(scores, mask=None):
    """The values are right, but the gradient of the empty row is NaN: minus infinity was added. Write it with
    masked_fill, and zero the row.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    return (
        (scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf))
        .softmax(dim=-1)
        .nan_to_num(0.0)
    )


@mistake("masked_softmax", hint=2)
def zero_times_infinity(scores, mask=None):
    """NaN everywhere: infinity was multiplied by the mask, and 0 times infinity is NaN. Write it with masked_fill."""
    return (
        scores.softmax(dim=-1)
        if mask is None
        else (scores + (1 - mask.to(scores.dtype)) * -math.inf).softmax(-1)
    )


@mistake("masked_softmax")
def along_queries(scores, mask=None):
    """Softmax ran over the queries: columns sum to 1. It runs along the last axis, over keys."""
    w = hide(scores, mask).softmax(dim=-2)
    return w if mask is None else w.masked_fill(~mask, 0.0)


@mistake("masked_softmax")
def along_axis_one(scores, mask=None):
    """Softmax ran along axis 1, which is right only for a plain table. Count from the end: -1."""
    w = hide(scores, mask).softmax(dim=1)
    return w if mask is None else w.masked_fill(~mask, 0.0)


@mistake("masked_softmax")
def mask_required(scores, mask=None):
    """It failed when there was no mask. None allows everything."""
    return (
        hide(scores, mask & torch.ones_like(mask))
        .softmax(dim=-1)
        .masked_fill(~mask, 0.0)
    )


@mistake("masked_softmax")
def scores_overwritten(scores, mask=None):
    """The weights are right, but the caller's scores were changed: masked_fill_, `scores[...] =` and += write into
    them. masked_fill makes a new tensor.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    with torch.no_grad():
        hidden = scores.masked_fill_(~mask, -math.inf)
    return shares(hidden)


@mistake("masked_softmax")
def always_float32(scores, mask=None):
    """The weights have a different dtype than the scores. Nothing here needs more bits."""
    return shares(
        hide(scores.float() if scores.dtype != torch.float32 else scores.double(), mask)
    )


@mistake("masked_softmax")
def no_gradient(scores, mask=None):
    """The weights are right, but no gradient reaches the scores. Leave out detach and .data."""
    return shares(hide(scores.detach(), mask))


@mistake("masked_softmax", hint=2)
def hidden_scores_only(scores, mask=None):
    """These are the scores with the hidden ones overwritten. Softmax is missing."""
    return hide(scores, mask)


@mistake("masked_softmax", hint=2)
def zero_times_infinity_then_hidden(scores, mask=None):
    """Minus infinity was multiplied by the mask, and 0 times infinity is NaN: allowed keys became NaN. Write it with
    masked_fill.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    return (scores + ~mask * -math.inf).softmax(dim=-1).masked_fill(~mask, 0.0)


@mistake("masked_softmax", hint=3)
def any_empty_row_zeroes_all(scores, mask=None):
    """One empty row made all rows zero. Test each row separately: any along the last axis, with keepdim."""
    if mask is None:
        return scores.softmax(dim=-1)
    return shares(hide(scores, mask)) * bool(mask.any(dim=-1).all())


# Scaled dot-product attention


@check("scaled_dot_product_attention", points=1)
def empty_rows_and_gradients(attention: Any, draw: Inputs) -> Any:
    """An empty row, in values and gradients."""
    q, k, v = (
        draw.normal(*shape).requires_grad_()
        for shape in ((2, 4, 3), (2, 5, 3), (2, 5, 2))
    )
    output, weights = attention(q, k, v, rule(draw, 2, 4, 5, empty=(0, 1)))
    (output * draw.normal(2, 4, 2)).sum().backward()
    return output, weights, q.grad, k.grad, v.grad


@check("scaled_dot_product_attention", points=1)
def other_inputs(attention: Any, draw: Inputs) -> Any:
    """A single query, half precision, inputs that are not contiguous, and scores of any size."""
    half = [draw.normal(2, n, 4, dtype=torch.float16) for n in (1, 3, 3)]
    turned = [draw.give(draw.normal(3, n, 2).mT) for n in (5, 5, 6)]
    turned[2] = draw.give(draw.normal(3, 4, 5).mT[:, :2])
    large = [draw.normal(n, width) for n, width in ((2, 4), (6, 4), (6, 7))]
    large[0][:, 0] = large[1][:, 0] = (
        60.0  # adds 1800 to every score and leaves the weights as they are
    )
    low = draw.give(
        -(2.0**15 + torch.arange(6, dtype=torch.float64))[:, None]
    )  # with them, every score is below -2e9
    below = (
        draw.give(torch.full((2, 1), 2.0**16, dtype=torch.float64)),
        low,
        draw.normal(6, 3),
    )
    results = attention(*half), attention(*turned), attention(*large, rule(draw, 1, 6))
    return *results, attention(*below, rule(draw, 2, 6))


def scaled(query, key, scale=None):
    """Return the scaled scores."""
    return query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)


def mixed(weights, value):
    """Return the pair of output and weights."""
    return weights @ value, weights


def attention_with(factor):
    """Make an attention function with a different default scale."""

    def attention(query, key, value, mask=None, *, scale=None):
        own = factor(query, key, value) if scale is None else scale
        return mixed(shares(hide(scaled(query, key, own), mask)), value)

    return attention


def weighted(query, key, value, mask=None, *, scale=None):
    """Do it the right way."""
    return mixed(shares(hide(scaled(query, key, scale), mask)), value)


@mistake("scaled_dot_product_attention", hint=1)
def not_scaled(query, key, value, mask=None, *, scale=None):
    """The scores were not scaled. By default the scale is 1 over the square root of d_k."""
    return attention_with(lambda q, k, v: 1.0)(query, key, value, mask, scale=scale)


@mistake("scaled_dot_product_attention", hint=1)
def over_d(query, key, value, mask=None, *, scale=None):
    """The scores were divided by d_k instead of its square root: the weights are too even (lesson 3)."""
    return attention_with(lambda q, k, v: 1 / q.size(-1))(
        query, key, value, mask, scale=scale
    )


@mistake("scaled_dot_product_attention", hint=1)
def times_root(query, key, value, mask=None, *, scale=None):
    """The scores were multiplied by the square root of d_k. They should be divided by it."""
    return attention_with(lambda q, k, v: q.size(-1) ** 0.5)(
        query, key, value, mask, scale=scale
    )


@mistake("scaled_dot_product_attention")
def given_scale_divides(query, key, value, mask=None, *, scale=None):
    """Right by default, but a scale that is passed in divides the scores. It multiplies them."""
    own = query.size(-1) ** 0.5 if scale is None else scale
    return mixed(shares(hide(scaled(query, key, 1 / own), mask)), value)


@mistake("scaled_dot_product_attention", hint=1)
def over_value_width(query, key, value, mask=None, *, scale=None):
    """Scaled by the dimension of the values. It is the dimension of queries and keys that made the scores large."""
    return attention_with(lambda q, k, v: v.size(-1) ** -0.5)(
        query, key, value, mask, scale=scale
    )


@mistake("scaled_dot_product_attention", hint=1)
def over_number_of_keys(query, key, value, mask=None, *, scale=None):
    """Scaled by the number of keys. It is the dimension of queries and keys that made the scores large."""
    return attention_with(lambda q, k, v: k.size(-2) ** -0.5)(
        query, key, value, mask, scale=scale
    )


@mistake("scaled_dot_product_attention")
def scaled_after_softmax(query, key, value, mask=None, *, scale=None):
    """The weights were scaled after softmax, so rows do not sum to 1. The scale belongs to the scores."""
    own = query.size(-1) ** -0.5 if scale is None else scale
    return mixed(shares(hide(query @ key.mT, mask)) * own, value)


@mistake("scaled_dot_product_attention")
def divided_by_the_scale(query, key, value, mask=None, *, scale=None):
    """The scores were divided by the scale that was passed in. It should multiply them."""
    own = query.size(-1) ** 0.5 if scale is None else scale
    return mixed(shares(hide(query @ key.mT / own, mask)), value)


@mistake("scaled_dot_product_attention", hint=2)
def scale_ignored(query, key, value, mask=None, *, scale=None):
    """Passing a scale had no effect: the argument is not used."""
    return weighted(query, key, value, mask)


@mistake("scaled_dot_product_attention", hint=2)
def scale_of_zero_lost(query, key, value, mask=None, *, scale=None):
    """A scale of 0.0 was taken for "not given": Python treats 0.0 as false. Test whether it is None."""
    return weighted(query, key, value, mask, scale=scale or query.size(-1) ** -0.5)


@mistake("scaled_dot_product_attention", hint=2)
def scaled_twice(query, key, value, mask=None, *, scale=None):
    """The given scale came on top of the default one. It should replace it."""
    own = query.size(-1) ** -0.5 * (1.0 if scale is None else scale)
    return weighted(query, key, value, mask, scale=own)


@mistake("scaled_dot_product_attention")
def over_queries(query, key, value, mask=None, *, scale=None):
    """Softmax ran over the queries: the columns of the weights sum to 1. It should run over keys, the last axis."""
    w = hide(scaled(query, key, scale), mask).softmax(dim=-2)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)


@mistake("scaled_dot_product_attention")
def over_axis_one(query, key, value, mask=None, *, scale=None):
    """Softmax ran along axis 1, which is the key axis only in a plain table. Count from the end: -1."""
    w = hide(scaled(query, key, scale), mask).softmax(dim=1)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)


@mistake("scaled_dot_product_attention")
def over_axis_zero(query, key, value, mask=None, *, scale=None):
    """Softmax ran along the first axis, so weights of different queries or sentences sum to 1. It should run along the
    last axis.
    """
    w = hide(scaled(query, key, scale), mask).softmax(dim=0).nan_to_num(0.25)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)


@mistake("scaled_dot_product_attention")
def without_softmax(query, key, value, mask=None, *, scale=None):
    """Softmax is missing: these weights can be negative and do not sum to 1."""
    return mixed(hide(scaled(query, key, scale), mask, 0.0), value)


@mistake("scaled_dot_product_attention")
def one_softmax_for_all(query, key, value, mask=None, *, scale=None):
    """All weights together sum to 1. Each query has a whole unit of attention of its own."""
    s = hide(scaled(query, key, scale), mask)
    return mixed(s.flatten().softmax(dim=0).view(s.shape), value)


@mistake("scaled_dot_product_attention")
def mask_turned_round(query, key, value, mask=None, *, scale=None):
    """The mask was inverted: hidden keys were seen and visible ones hidden. True means "may look"."""
    return weighted(query, key, value, None if mask is None else ~mask, scale=scale)


@mistake("scaled_dot_product_attention")
def mask_ignored(query, key, value, mask=None, *, scale=None):
    """The mask had no effect: hidden keys get weight. masked_fill returns a new tensor; is its result used?"""
    return weighted(query, key, value, None, scale=scale)


@mistake("scaled_dot_product_attention")
def hidden_with_zero(query, key, value, mask=None, *, scale=None):
    """Hidden keys still get weight: a score near 0 is a score like any other. Only minus infinity gives 0."""
    return mixed(shares(hide(scaled(query, key, scale), mask, 0.0)), value)


@mistake("scaled_dot_product_attention", hint=3)
def hidden_after_softmax(query, key, value, mask=None, *, scale=None):
    """Weights were zeroed after softmax: rows sum to less than 1, and hidden keys shaped the rest."""
    w = scaled(query, key, scale).softmax(dim=-1)
    return mixed(w if mask is None else w * mask, value)


@mistake("scaled_dot_product_attention", hint=3)
def hidden_with_a_billion(query, key, value, mask=None, *, scale=None):
    """A large negative number took the place of minus infinity: a query with nothing to look at mixes hidden values."""
    return mixed(hide(scaled(query, key, scale), mask, -1e9).softmax(dim=-1), value)


@mistake("scaled_dot_product_attention", hint=3)
def nan_in_empty_rows(query, key, value, mask=None, *, scale=None):
    """A query with nothing to look at came out as NaN. It should get zeros; exercise 5.4 has the softmax for that."""
    return mixed(hide(scaled(query, key, scale), mask).softmax(dim=-1), value)


@mistake("scaled_dot_product_attention")
def nan_mended_afterwards(query, key, value, mask=None, *, scale=None):
    """The values are right, but the gradients are NaN: minus infinity was added to the scores. Write it with
    masked_fill, as in exercise 5.4.
    """
    s = scaled(query, key, scale)
    s = s if mask is None else s + torch.zeros_like(s).masked_fill(~mask, -math.inf)
    return mixed(s.softmax(dim=-1).nan_to_num(0.0), value)


@mistake("scaled_dot_product_attention", hint=3)
def output_only_mended(query, key, value, mask=None, *, scale=None):
    """The output is right, but the weights of an empty row are NaN: they were fixed too late."""
    s = scaled(query, key, scale)
    w = hide(s, mask).softmax(dim=-1)
    return shares(hide(s, mask)) @ value, w


@mistake("scaled_dot_product_attention")
def mask_as_numbers(query, key, value, mask=None, *, scale=None):
    """The mask was added to the scores as 0 and 1, so hidden keys stay visible."""
    s = scaled(query, key, scale)
    return mixed(shares(s if mask is None else s + mask.to(s.dtype)), value)


@mistake("scaled_dot_product_attention")
def keys_mixed(query, key, value, mask=None, *, scale=None):
    """The keys were mixed. Keys decide how much; values are what is mixed."""
    return weighted(query, key, key, mask, scale=scale)


@mistake("scaled_dot_product_attention")
def query_and_key_swapped(query, key, value, mask=None, *, scale=None):
    """Queries and keys were swapped, so the table of scores is transposed. Rows belong to queries."""
    w = shares(scaled(key, query, scale))
    return w.mT @ value, w


@mistake("scaled_dot_product_attention", hint=3)
def pair_swapped(query, key, value, mask=None, *, scale=None):
    """The right tensors in the wrong order: the output should come first, then the weights."""
    return weighted(query, key, value, mask, scale=scale)[::-1]


@mistake("scaled_dot_product_attention", hint=3)
def output_alone(query, key, value, mask=None, *, scale=None):
    """Only the output came back. The exercise asks for the weights as well."""
    return weighted(query, key, value, mask, scale=scale)[0]


@mistake("scaled_dot_product_attention")
def pytorchs_own(query, key, value, mask=None, *, scale=None):
    """The weights are missing: PyTorch's function gives the output alone. Write the steps yourself."""
    return functional.scaled_dot_product_attention(
        query, key, value, mask, scale=scale
    ), None


@mistake("scaled_dot_product_attention")
def scores_returned(query, key, value, mask=None, *, scale=None):
    """The second result holds scores. Weights are what softmax makes of them."""
    return weighted(query, key, value, mask, scale=scale)[0], scaled(query, key, scale)


@mistake("scaled_dot_product_attention", hint=2)
def mask_is_needed(query, key, value, mask=None, *, scale=None):
    """It failed when no mask was given. None allows everything."""
    return weighted(query, key, value, mask & torch.ones_like(mask), scale=scale)


@mistake("scaled_dot_product_attention")
def scores_before_scale_overflow(query, key, value, mask=None, *, scale=None):
    """Right for small scores, but large ones overflow: exp without a shift. Use softmax, as in lesson 4."""
    e = scaled(query, key, scale).exp()
    e = e if mask is None else e * mask
    total = e.sum(dim=-1, keepdim=True)
    return mixed(
        torch.where(total > 0, e / total.masked_fill(total == 0, 1.0), 0.0), value
    )


@mistake("scaled_dot_product_attention", hint=1)
def masked_before_scaling(query, key, value, mask=None, *, scale=None):
    """The mask was applied before the scale: minus infinity times 0 is NaN. Scale the scores first, then hide."""
    s = hide(query @ key.mT, mask) * (
        query.size(-1) ** -0.5 if scale is None else scale
    )
    return mixed(
        s.softmax(dim=-1)
        if mask is None
        else s.softmax(dim=-1).masked_fill(~mask, 0.0),
        value,
    )


@mistake("scaled_dot_product_attention")
def all_axes_turned(query, key, value, mask=None, *, scale=None):
    """Right for plain tables. With batches and heads, the wrong axes of the key were swapped: swap the last two, with
    .mT.
    """
    turned = key.permute(*range(key.dim() - 1, -1, -1))
    s = query @ turned * (query.size(-1) ** -0.5 if scale is None else scale)
    return mixed(shares(hide(s, mask)), value)


# The leak test


@check("leaks", points=1)
def other_sizes(leaks: Any, draw: Inputs) -> Any:
    """Other lengths and dimensions, a single token, holes wherever they may be, outputs that only sink, and a leak that
    one entry of a token does not show.
    """
    length = draw.integer(7, 12)
    key = draw.integer(3, length - 2)  # neither the first nor the last of anything
    query = draw.integer(1, key - 2)
    hole = attending(lambda i, j: (j <= i) | ((i == query) & (j == key)))
    causal = attending(lambda i, j: j <= i)
    return (
        leaks(hole, length, 8),
        leaks(causal, length, 8),
        leaks(causal, 1, 3),
        leaks(causal, 2, 3),
        all(leaks(next_token, 2, 1) for _ in range(30)),
        leaks(
            lambda x: torch.cat([x[..., :1], x[..., 1:].roll(-1, dims=1)], dim=-1), 5, 4
        ),
        leaks(attending(lambda i, j: j <= i + 1), 2, 3),
        leaks(last_token_everywhere, 3, 2),
        leaks(noisy, 9, 16),
    )


def finds_leak(
    attention,
    length,
    d_model,
    changes=None,
    watched=None,
    moved=lambda a, b: bool((a - b).abs().max() > 1e-3),
):
    """Test for leaks, with other tokens changed, other outputs watched or another way to compare."""
    x = torch.randn(1, length, d_model)
    before = attention(x).clone()
    for t in range(1, length) if changes is None else changes(length):
        changed = x.clone()
        changed[:, t] = torch.randn(d_model)
        part = slice(0, t) if watched is None else watched(t)
        after = attention(changed)[:, part]
        if after.numel() and moved(after, before[:, part]):
            return True
    return False


@mistake("leaks", hint=2)
def last_token_only(attention, length, d_model):
    """Only the last token was changed. A leak from any other one goes unnoticed: change each token in turn."""
    return finds_leak(attention, length, d_model, changes=lambda n: [n - 1])


@mistake("leaks", hint=1)
def first_output_only(attention, length, d_model):
    """Only the first output was watched. A leak into any other one goes unnoticed."""
    return finds_leak(attention, length, d_model, watched=lambda t: slice(0, 1))


@mistake("leaks", hint=1)
def neighbor_only(attention, length, d_model):
    """Leaks that reach back by more than one place went unnoticed. Was only the output just before the changed token
    watched, or were signed differences averaged?
    """
    return finds_leak(attention, length, d_model, watched=lambda t: slice(t - 1, t))


@mistake("leaks", hint=1)
def own_output_too(attention, length, d_model):
    """An honest attention was accused. Either outputs that may move were watched too, the changed token's own or later
    ones; or the changes piled up: each round begins with a fresh copy of the original tokens.
    """
    return finds_leak(attention, length, d_model, watched=lambda t: slice(0, t + 1))


@mistake("leaks", hint=1)
def later_outputs(attention, length, d_model):
    """Only outputs after the changed token were watched. They may depend on it, but the earlier ones must not."""
    return finds_leak(
        attention, length, d_model, range, watched=lambda t: slice(t + 1, None)
    )


@mistake("leaks", hint=3)
def no_tolerance(attention, length, d_model):
    """Outputs were compared for exact equality. Their last digits can differ without any leak: allow a little."""
    return finds_leak(attention, length, d_model, moved=lambda a, b: not a.equal(b))


@mistake("leaks")
def change_too_small(attention, length, d_model):
    """The changes are so small that no output moves by more than the tolerance. Draw a whole new token, or add 1."""
    x = torch.randn(1, length, d_model)
    before = attention(x).clone()
    for t in range(1, length):
        changed = x.clone()
        changed[:, t] += 1e-4
        if (attention(changed) - before)[:, :t].abs().max() > 1e-3:
            return True
    return False


@mistake("leaks", hint=2)
def changes_pile_up(attention, length, d_model):
    """The changes pile up: `y = x` makes no copy, so tokens changed before are still changed. Begin each round with
    x.clone().
    """
    x = torch.randn(1, length, d_model)
    before = attention(x)
    for t in range(1, length):
        x[:, t] += 1
        if (attention(x) - before)[:, :t].abs().max() > 1e-3:
            return True
    return False


@mistake("leaks", hint=3)
def answer_inverted(attention, length, d_model):
    """The answer is inverted: True should mean that there is a leak."""
    return not finds_leak(attention, length, d_model)


@mistake("leaks", hint=2)
def input_changed_in_place(attention, length, d_model):
    """The tokens were changed in place. An output that is a view of them changes too, so nothing seems to have moved:
    change a copy.
    """
    x = torch.randn(1, length, d_model)
    before = attention(x)
    for t in range(1, length):
        x[:, t] = torch.randn(d_model)
        after = attention(x)
        if (after - before)[:, :t].abs().max() > 1e-3:
            return True
        before = after
    return False


@mistake("leaks", hint=3)
def first_change_decides(attention, length, d_model):
    """The answer was given after the first change. A `return False` inside the loop ends it: finish the loop."""
    return finds_leak(attention, length, d_model, changes=lambda n: range(1, min(n, 2)))


@mistake("leaks")
def tensor_returned(attention, length, d_model):
    """The answer is a tensor, not a Python bool. `bool(...)` or `.item()` turns one into the other."""
    return torch.tensor(finds_leak(attention, length, d_model))


@mistake("leaks")
def table_returned(attention, length, d_model):
    """A whole table came back. Is there any leak, yes or no: `any` turns the table into one answer."""
    return torch.zeros(length, length, dtype=torch.bool)


@mistake("leaks")
def signed_difference(attention, length, d_model):
    """Only outputs that grew were noticed. A leak can lower them too: compare absolute differences."""
    return finds_leak(
        attention, length, d_model, moved=lambda a, b: bool((a - b).max() > 1e-3)
    )


@mistake("leaks", hint=3)
def last_token_never_changed(attention, length, d_model):
    """The last token was never changed. It is the one that the most outputs might see too early: change it too."""
    return finds_leak(attention, length, d_model, changes=lambda n: range(1, n - 1))


@mistake("leaks", hint=2)
def shorter_inputs(attention, length, d_model):
    """The attention was given fewer tokens than `length`. It may take that many only; keep them all, and change one."""
    x = torch.randn(1, length, d_model)
    before = attention(x)
    return any(
        bool((attention(x[:, :t]) - before[:, :t]).abs().max() > 1e-3)
        for t in range(1, length)
    )


@mistake("leaks")
def first_entry_changed(attention, length, d_model):
    """Only one entry of a token was changed. A leak may run through the others: draw the whole token anew."""
    x = torch.randn(1, length, d_model)
    before = attention(x).clone()
    for t in range(1, length):
        changed = x.clone()
        changed[:, t, 0] += 10 * torch.randn(()).abs() + 1
        if (attention(changed) - before)[:, :t].abs().max() > 1e-3:
            return True
    return False


@mistake("leaks", hint=2)
def never(attention, length, d_model):
    """No leak was ever found. Is the changed copy what goes through the attention the second time?"""
    return False
