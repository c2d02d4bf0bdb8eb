"""The mistakes that students make in lesson 5, as edits of its solutions. Never given to students."""

import math

import torch
from torch.nn import functional

from autograder.checks import SHARED, solution


def ones(q_len, k_len, device):
    """Make a table of True, with as many keys as queries unless k_len is given."""
    return torch.ones(
        q_len, q_len if k_len is None else k_len, dtype=torch.bool, device=device
    )


def real(lengths, max_len):
    """Make the (B, S) table."""
    return torch.arange(max_len) < lengths[:, None]


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


def hide(scores, mask, fill=-math.inf):
    """Overwrite hidden scores with a number; without a mask nothing is hidden."""
    return scores if mask is None else scores.masked_fill(~mask, fill)


def shares(scores):
    """Apply softmax, with zeros where a row is nothing but minus infinity."""
    empty = (scores == -math.inf).all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)


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

causal = solution("causal_mask")
causal.mutant("hides_instead", body="""
    m = ones(q_len, k_len, device)
    return m.triu(m.size(1) - m.size(0) + 1)""", says="True marks where looking is forbidden. In these lessons, as "
    "in PyTorch's function, True means \"may look\".")
causal.mutant("top_left", hint=2, body="return ones(q_len, k_len, device).tril()", says="The triangle starts at the "
    "top left. With cached keys, the last query is the newest: it lines up with the last key.")
causal.mutant("hides_at_the_top_left", hint=2, body="return ones(q_len, k_len, device).triu(1)",
    says="Two things: True must mean \"may look\", and with cached keys the triangle ends at the last key.")
causal.mutant("not_oneself", hint=3, body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0) - 1)""", says="A token cannot see itself here, so the first row is empty. A "
    "query may see its own key, only not later ones.")
causal.mutant("one_ahead", hint=3, body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0) + 1)""",
    says="Each query sees one key too many: the next one, which is exactly the answer it must not see.")
causal.mutant("past_hidden", hint=2, body="""
    m = ones(q_len, k_len, device)
    return m.triu(m.size(1) - m.size(0))""",
    says="Inverted: each query sees the future and not the past. Which of the two triangles is the past?")
causal.mutant("floats", hint=3, body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).float()""",
    says="This is a mask of floats, which PyTorch's function would add to the scores. Make it boolean.")
causal.mutant("integers", hint=3, body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).long()""",
    says="This is a mask of integers. PyTorch's function rejects those, and ~ flips their bits. Make it boolean.")
causal.mutant("numbers_to_add", hint=3, body="""
    m = ones(q_len, k_len, device)
    return torch.zeros(m.shape, device=device).masked_fill(~m.tril(m.size(1) - m.size(0)), -torch.inf)""",
    says="Zeros and minus infinities are another convention, a mask to be added to the scores. Here a mask is True "
    "and False.")
causal.mutant("everything", hint=1, body="return ones(q_len, k_len, device)",
    says="Every key is allowed. Which keys come after the query?")
causal.mutant("own_key_only", "q_len if k_len is None else k_len", "ones(q_len, k_len, device)",
    "torch.ones(q_len, k_len, dtype=torch.bool, device=device)", "k_len.size(1) - k_len.size(0)",
    "every.tril(k_len - q_len)", "k_len.tril(every) & k_len.triu(every)", hint=2,
    says="Of the keys that come with the queries, each query sees only its own. Looking back is allowed.")
causal.mutant("shifted_the_wrong_way", hint=2, body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(0) - m.size(1))""", says="The triangle moved the wrong way: with more keys than queries its "
    "edge moves to the right, not to the left.")
causal.mutant("square_only", hint=1, body="return ones(q_len, None, device).tril()",
    says="The mask has as many columns as rows, whatever k_len is. It needs one column per key.")
causal.mutant("lying", body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0)).mT""",
    says="The table is transposed: rows belong to queries, columns to keys.")
causal.mutant("device_ignored", body="""
    m = ones(q_len, k_len, None)
    return m.tril(m.size(1) - m.size(0))""",
    says="The right table, but not on the device that was asked for: every tensor on the way needs it.")
causal.mutant("axes_in_front", body="""
    m = ones(q_len, k_len, device)
    return m.tril(m.size(1) - m.size(0))[None, None]""", says="Too many axes: the mask should be a plain table, "
    "(q_len, k_len). It broadcasts over batch and heads by itself.")
causal.mutant("earlier_keys_forgotten", "q_len if k_len is None else k_len", "ones(q_len, k_len, device)",
    "torch.ones(q_len, k_len, dtype=torch.bool, device=device)", "k_len.size(1) - k_len.size(0)",
    "every.tril(k_len - q_len)", "k_len.tril(every) & (torch.arange(k_len.size(1), device=device) >= every)", hint=1,
    says="The queries see one another but none of the cached keys. All keys before the queries are in their past.")

padding = solution("padding_mask")
padding.mutant("one_too_many", hint=1, body="return real(lengths + 1, max_len)[:, None, None]",
    says="One padding token slips through: a length of n means positions 0 to n - 1.")
padding.mutant("one_too_few", hint=1, body="return real(lengths - 1, max_len)[:, None, None]",
    says="The last token of each sentence is hidden: a length of n means positions 0 to n - 1, counting from 0.")
padding.mutant("a_row_per_sentence", hint=3, body="return real(lengths, max_len)", says="The shape is (B, S). Next "
    "to scores (B, H, L, S), its rows would be read as queries: it needs two axes in between.")
padding.mutant("one_axis_between", hint=3, body="return real(lengths, max_len)[:, None]",
    says="One axis is missing: heads and queries need one each, (B, 1, 1, S).")
padding.mutant("axes_at_the_end", hint=3, body="return real(lengths, max_len)[:, :, None, None]",
    says="The new axes came last, so positions line up with heads. Keys are the last axis.")
padding.mutant("queries_hidden", hint=3, body="return real(lengths, max_len)[:, None, :, None]",
    says="This hides queries: the positions are on the query axis. Hide keys, which are on the last axis.")
padding.mutant("axes_in_front_of_all", hint=3, body="return real(lengths, max_len)[None, None]",
    says="The new axes came first, so sentences line up with queries. The batch stays the first axis.")
padding.mutant("true_at_padding", body="return ~real(lengths, max_len)[:, None, None]",
    says="Inverted: True marks the padding. It should mean \"may look\".")
padding.mutant("padded_in_front", hint=1, body="return real(lengths, max_len).flip(-1)[:, None, None]",
    says="The tokens ended up at the end of the row. A sentence starts at position 0, and padding follows it.")
padding.mutant("keys_and_queries_hidden", "torch.arange(max_len, device=lengths.device)", "real(lengths, max_len)",
    "(positions < lengths[:, None])[:, None,", "(positions[:, :, None] & positions[:, None, :])[:,", hint=3,
    says="Queries are hidden as well: the mask has a query axis. Padding is hidden as keys, the same for all "
    "queries.")
padding.mutant("floats_or_integers", body="return real(lengths, max_len)[:, None, None].float()",
    says="The right entries, but as numbers. A mask is boolean: what a comparison returns, or dtype=torch.bool.")
padding.mutant("integer_mask", body="return real(lengths, max_len)[:, None, None].long()", says="The right entries, "
    "but as integers, which PyTorch's function rejects. A comparison gives a boolean mask by itself.")
padding.mutant("as_wide_as_the_longest", "torch.arange(max_len, device=lengths.device)",
    "torch.arange(int(lengths.max()), device=lengths.device)", says="The mask is as wide as the longest sentence, "
    "equal to max_len only by chance. It must have max_len columns.")
padding.mutant("only_at_the_length", hint=1,
    body="return (torch.arange(max_len) == lengths[:, None] - 1)[:, None, None]",
    says="Only one position per sentence came out True. All positions before the length hold tokens.")
padding.mutant("no_column", hint=2, body="return (torch.arange(max_len) < lengths)[:, None, None]",
    says="Positions and lengths were compared entry by entry. One of them has to be a column, so that every pair is "
    "compared.")
padding.mutant("device_forgotten", hint=3, body="return (torch.arange(max_len) < lengths[:, None])[:, None, None]",
    says="The right table, but not on the device of `lengths`. What is created on the way, such as the positions, "
    "needs device=.")
padding.mutant("positions_as_column", hint=2, body="return (torch.arange(max_len)[:, None] < lengths)[:, None, None]",
    says="Positions run down and sentences across. A sentence is a row: make the lengths the column.")

combine = solution("combine_masks")
combine.mutant("missing_ones_counted", hint=2, body="""
    kept = [mask for mask in masks if mask is not None]
    if not kept:
        return None
    return sum((mask.int() for mask in kept)) == len(masks)""",
    says="Next to a None nothing is allowed, as when None counts as a missing vote. Leave None out.")
combine.mutant("either", hint=3, body="return folded(masks, lambda a, b: a | b)", says="Combined with \"or\": one "
    "permission is enough, so the future leaks in through the padding mask. Both must allow it.")
combine.mutant("one_list_expected",
    body="return folded(list(masks[0]) if masks and masks[0] is not None else [], lambda a, b: a & b)",
    says="Only the rows of the first mask were combined with one another. *masks collects all arguments into a tuple: "
    "loop over `masks`.")
combine.mutant("exactly_one", hint=3, body="return folded(masks, lambda a, b: a ^ b)",
    says="Combined with \"exactly one of them\": where both masks allow looking, it came out forbidden.")
combine.mutant("numbers_multiplied", hint=3,
    body="return folded([m if m is None else m.int() for m in masks], lambda a, b: a * b)",
    says="The result is a mask of numbers. Boolean masks combined with & stay boolean.")
combine.mutant("floats_multiplied", hint=3,
    body="return folded([m if m is None else m.float() for m in masks], lambda a, b: a * b)",
    says="The result is a mask of floats, which PyTorch's function would add to the scores. & keeps masks boolean.")
combine.mutant("numbers_added", hint=3,
    body="return folded([m if m is None else m.int() for m in masks], lambda a, b: a + b)",
    says="The masks were added. A sum counts permissions, but all of them are needed. That is what & is for.")
combine.mutant("first_only", body="return folded(masks, lambda a, b: a)",
    says="Only the first mask counts. Go through all of them, and assign the result each time: `a.logical_and(b)` "
    "alone changes nothing.")
combine.mutant("last_only", hint=3, body="return folded(masks, lambda a, b: b)",
    says="Only the last mask counts. Combine each mask with the result so far: & works entry by entry.")
combine.mutant("result_turned_round", body="""
    mask = folded(masks, lambda a, b: a & b)
    return None if mask is None else ~mask""", says="The result is inverted: True marks where a rule forbids looking.")
combine.mutant("none_not_expected", hint=2, body="""
    result = masks[0] & masks[1]
    for m in masks[2:]:
        result = result & m
    return result""",
    says="It stopped at a mask that is not there. There may be a single mask, or none at all, and None among them, "
    "which is left out before combining.")
combine.mutant("none_forbids_everything", hint=1,
    body="return None if any((m is None for m in masks)) or not masks else folded(masks, lambda a, b: a & b)",
    says="One None among the masks made the whole result None. None means \"no rule\"; the other rules still hold.")
combine.mutant("stops_at_the_first_none", hint=2, body="""
    mask = masks[:masks.index(None)] if None in masks else masks
    return folded(mask, lambda a, b: a & b) if mask else None""",
    says="No mask after the first None counts. None means \"no rule\": go on with the next one.")
combine.mutant("true_for_nothing", hint=1, body="""
    mask = folded(masks, lambda a, b: a & b)
    return torch.tensor(True) if mask is None else mask""",
    says="With no mask to combine, something other than None came back. Return None in that case.")
combine.mutant("two_masks_only", hint=2, body="return folded(present(masks)[:2], lambda a, b: a & b)",
    says="Right for two masks, but a third one was ignored. There may be any number of them.")
combine.mutant("full_masks_left_out",
    body="return folded([m for m in present(masks) if not m.all()], lambda a, b: a & b)",
    says="A mask that allows everything was left out, and its axes are missing from the shape. Only None is no mask.")
combine.mutant("same_shapes_only", hint=3, body="""
    mask = present(masks)
    return torch.stack(mask).all(dim=0) if mask else None""", says="It failed on masks of different shapes. & "
    "broadcasts axes of size 1 by itself; stacking needs equal shapes.")
combine.mutant("python_and", hint=3, body="""
    found = [m for m in masks if m is not None]
    result = found[0] if found else None
    for m in found[1:]:
        result = result and m
    return result""", says="`and`, `or`, `not` and `if` need a single truth value, and a mask has many. Use &, and "
    "check `is not None`.")

softmax = solution("masked_softmax")
softmax.mutant("cut_after_softmax", "scores.masked_fill(~mask, -torch.inf)", "scores", hint=2,
    says="Weights were zeroed after softmax, so rows sum to less than 1: the hidden keys had already taken their "
    "share.")
softmax.mutant("visible_keys_hidden", body="return shares(hide(scores, None if mask is None else ~mask))",
    says="Inverted: visible keys were hidden and hidden ones seen. masked_fill writes where its mask is True.")
softmax.mutant("empty_row_is_nan", hint=2, body="return hide(scores, mask).softmax(dim=-1)", says="A row with "
    "nothing to look at is NaN: softmax of nothing but minus infinity is 0/0. It should be all zeros.")
softmax.mutant("minus_a_billion", hint=3, body="return hide(scores, mask, -1000000000.0).softmax(dim=-1)",
    says="The empty row spreads its weight evenly over hidden keys, as softmax does with equal scores, such as one "
    "large negative number. Set all its weights to 0 after softmax.")
softmax.mutant("minus_a_billion_then_zeroed", body="""
    weights = hide(scores, mask, -1000000000.0).softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(~mask, 0.0)""",
    says="Where scores are far below zero, hidden keys took the weight, as when theirs is a large negative number: "
    "visible ones can be lower, and float16 cannot hold it. Only minus infinity loses to all.")
softmax.mutant("a_score_of_zero", body="return hide(scores, mask, 0.0).softmax(dim=-1)", says="Hidden keys still get "
    "weight: a score near 0 is a score like any other, and e to the 0 is 1. Only −∞ gives 0.")
softmax.mutant("scores_times_mask_then_cut", "-torch.inf", "0.0", hint=2, says="Hidden scores became 0 and entered "
    "the sum; only then were their weights zeroed, so rows sum to less than 1.")
softmax.mutant("mask_added", hint=2,
    body="return scores.softmax(dim=-1) if mask is None else (scores + mask.to(scores.dtype)).softmax(dim=-1)",
    says="The mask was added as 0 and 1: allowed scores rose by 1 and hidden keys stayed visible.")
softmax.mutant("mask_not_used", body="return scores.softmax(dim=-1)",
    says="The mask had no effect. Where does it enter, and is what comes out there used?")
softmax.mutant("cut_and_shared_again", hint=2, body="""
    w = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask
    return w / w.sum(dim=-1, keepdim=True)""",
    says="The empty row is NaN, in the gradient as well, as when the remaining weights are divided by their sum, which "
    "is 0 there: 0/0. It should be all zeros.")
softmax.mutant("cut_and_shared_again_safely", hint=2, body="""
    w = scores.softmax(dim=-1) if mask is None else scores.softmax(dim=-1) * mask
    total = w.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, w / total.masked_fill(total == 0, 1.0), 0.0)""",
    says="A hidden key with a large score took all the weight, and nothing was left to share, as when the mask comes "
    "after softmax, or after its shift: hide first.")
softmax.mutant("small_number_in_the_sum", hint=2, body="""
    e = torch.zeros_like(scores) if scores.numel() == 0 else scores.softmax(dim=-1)
    e = e if mask is None else e * mask
    return e / (e.sum(dim=-1, keepdim=True) + 0.01)""", says="Rows do not sum to exactly 1, as when a small number is "
    "added to the sum. Only the empty row needs help, and after softmax.")
softmax.mutant("exponentials_by_hand", body="""
    e = scores.exp() if mask is None else scores.exp() * mask
    total = e.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, e / total.masked_fill(total == 0, 1.0), 0.0)""", says="Right for small scores, but "
    "large ones come out as NaN, as when exp overflows without a shift. Use softmax, or shift as in lesson 4.")
softmax.mutant("nan_replaced", hint=2, body="""
    if mask is None:
        return scores.softmax(dim=-1)
    return (scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)).softmax(dim=-1).nan_to_num(0.0)""",
    says="The values are right, but the gradient of the empty row is NaN, as when minus infinity is added. Write it "
    "with masked_fill, and zero the row.")
softmax.mutant("zero_times_infinity", hint=2,
    body="return scores.softmax(dim=-1) if mask is None else (scores + (1 - mask.to(scores.dtype)) * -math.inf).softmax(-1)",
    says="NaN everywhere, as when infinity is multiplied by the mask: 0 times infinity is NaN. Write it with "
    "masked_fill.")
softmax.mutant("along_queries", "dim=-1", "dim=-2", every=True,
    says=SHARED["softmax over queries"])
softmax.mutant("along_axis_one", "dim=-1", "dim=1", every=True,
    says="Softmax ran along axis 1, which is right only for a plain table. Count from the end: -1.")
softmax.mutant("mask_required",
    body="return hide(scores, mask & torch.ones_like(mask)).softmax(dim=-1).masked_fill(~mask, 0.0)",
    says="It failed when there was no mask. None allows everything.")
softmax.mutant("scores_overwritten", body="""
    if mask is None:
        return scores.softmax(dim=-1)
    with torch.no_grad():
        hidden = scores.masked_fill_(~mask, -math.inf)
    return shares(hidden)""", says="The weights are right, but the caller's scores were changed: masked_fill_, "
    "`scores[...] =` and += write into them. masked_fill makes a new tensor.")
softmax.mutant("always_float32",
    body="return shares(hide(scores.float() if scores.dtype != torch.float32 else scores.double(), mask))",
    says="The weights have a different dtype than the scores. Nothing here needs more bits.")
softmax.mutant("no_gradient", body="return shares(hide(scores.detach(), mask))",
    says="The weights are right, but no gradient reaches the scores. detach and .data, for example, cut it off.")
softmax.mutant("hidden_scores_only", hint=2, body="return hide(scores, mask)",
    says="These are the scores with the hidden ones overwritten. Softmax is missing.")
softmax.mutant("zero_times_infinity_then_hidden", hint=2, body="""
    if mask is None:
        return scores.softmax(dim=-1)
    return (scores + ~mask * -math.inf).softmax(dim=-1).masked_fill(~mask, 0.0)""", says="Allowed keys became NaN, as "
    "when minus infinity is multiplied by the mask: 0 times infinity is NaN. Write it with masked_fill.")
softmax.mutant("any_empty_row_zeroes_all", hint=3, body="""
    if mask is None:
        return scores.softmax(dim=-1)
    return shares(hide(scores, mask)) * bool(mask.any(dim=-1).all())""",
    says="One empty row made all rows zero. Test each row separately: any along the last axis, with keepdim.")

attention = solution("scaled_dot_product_attention")
attention.mutant("not_scaled", "1 / math.sqrt(query.size(-1))", "1", hint=1,
    says="The scores were not scaled. By default the scale is 1 over the square root of d_k.")
attention.mutant("over_d", "math.sqrt", "query.size", "query.size(-1)", "-1", hint=1,
    says="The scores were divided by d_k instead of its square root: the weights are too even (lesson 3).")
attention.mutant("times_root", "1 / math.sqrt(query.size(-1))", "math.sqrt(query.size(-1))", hint=1,
    says="The scores were multiplied by the square root of d_k. They should be divided by it.")
attention.mutant("given_scale_divides", body="""
    own = query.size(-1) ** 0.5 if scale is None else scale
    return mixed(shares(hide(scaled(query, key, 1 / own), mask)), value)""",
    says="Right by default, but it stopped at a scale of 0, which became a divisor. A scale that is passed in "
    "multiplies the scores.")
attention.mutant("over_value_width", "query.size", "value.size", hint=1,
    says="Scaled by the dimension of the values. It is the dimension of queries and keys that made the scores large.")
attention.mutant("over_number_of_keys", hint=1,
    body="return attention_with(lambda q, k, v: k.size(-2) ** (-0.5))(query, key, value, mask, scale=scale)",
    says="Scaled by the number of keys. It is the dimension of queries and keys that made the scores large.")
attention.mutant("scaled_after_softmax", body="""
    own = query.size(-1) ** (-0.5) if scale is None else scale
    return mixed(shares(hide(query @ key.mT, mask)) * own, value)""",
    says="The weights were scaled after softmax, so rows do not sum to 1. The scale belongs to the scores.")
attention.mutant("divided_by_the_scale", body="""
    own = query.size(-1) ** 0.5 if scale is None else scale
    return mixed(shares(hide(query @ key.mT / own, mask)), value)""",
    says="The scores were divided by the scale that was passed in. It should multiply them.")
attention.mutant("scale_ignored", hint=2, body="return weighted(query, key, value, mask)",
    says="Passing a scale had no effect. It should take the place of the default.")
attention.mutant("scale_of_zero_lost", hint=2,
    body="return weighted(query, key, value, mask, scale=scale or query.size(-1) ** (-0.5))",
    says="With a scale of 0.0, the default was used instead. Only None means that no scale was given (and Python "
    "treats 0.0 as false).")
attention.mutant("scaled_twice", hint=2, body="""
    own = query.size(-1) ** (-0.5) * (1.0 if scale is None else scale)
    return weighted(query, key, value, mask, scale=own)""",
    says="The given scale came on top of the default one. It should replace it.")
attention.mutant("over_queries", body="""
    w = hide(scaled(query, key, scale), mask).softmax(dim=-2)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)""",
    says=SHARED["softmax over queries"])
attention.mutant("over_axis_one", body="""
    w = hide(scaled(query, key, scale), mask).softmax(dim=1)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)""",
    says="Softmax ran along axis 1, which is the key axis only in a plain table. Count from the end: -1.")
attention.mutant("over_axis_zero", body="""
    w = hide(scaled(query, key, scale), mask).softmax(dim=0).nan_to_num(0.25)
    return mixed(w if mask is None else w.masked_fill(~mask, 0.0), value)""", says="Softmax ran along the first "
    "axis, so weights of different queries or sentences sum to 1. It should run along the last axis.")
attention.mutant("without_softmax", body="return mixed(hide(scaled(query, key, scale), mask, 0.0), value)",
    says="Softmax is missing: these weights can be negative and do not sum to 1.")
attention.mutant("one_softmax_for_all", body="""
    s = hide(scaled(query, key, scale), mask)
    return mixed(s.flatten().softmax(dim=0).view(s.shape), value)""",
    says="All weights together sum to 1. Each query has a whole unit of attention of its own.")
attention.mutant("mask_turned_round",
    body="return weighted(query, key, value, None if mask is None else ~mask, scale=scale)",
    says="The mask was inverted: hidden keys were seen and visible ones hidden. True means \"may look\".")
attention.mutant("mask_ignored", body="return weighted(query, key, value, None, scale=scale)",
    says="The mask had no effect: hidden keys get weight. Where does it enter, and is what comes out there used?")
attention.mutant("hidden_with_zero", body="return mixed(shares(hide(scaled(query, key, scale), mask, 0.0)), value)",
    says="Hidden keys still get weight: a score near 0 is a score like any other. Only minus infinity gives 0.")
attention.mutant("hidden_after_softmax", hint=3, body="""
    w = scaled(query, key, scale).softmax(dim=-1)
    return mixed(w if mask is None else w * mask, value)""",
    says="Weights were zeroed after softmax: rows sum to less than 1, and hidden keys shaped the rest.")
attention.mutant("hidden_after_softmax_and_shared_anew", hint=3, body="""
    w = scaled(query, key, scale).softmax(dim=-1)
    w = w if mask is None else w * mask
    return mixed(w / w.sum(dim=-1, keepdim=True).masked_fill(w.sum(dim=-1, keepdim=True) == 0, 1.0), value)""",
    says="Beside a hidden key with a much larger score, no weight is left, as when weights are zeroed after softmax: "
    "all others had rounded to 0 by then. Hide the scores before softmax.")
attention.mutant("hidden_with_a_billion", hint=3,
    body="return mixed(hide(scaled(query, key, scale), mask, -1000000000.0).softmax(dim=-1), value)",
    says="A query with nothing to look at mixes hidden values, as when a large negative number takes the place of "
    "minus infinity. It should get zeros.")
attention.mutant("nan_in_empty_rows", hint=3,
    body="return mixed(hide(scaled(query, key, scale), mask).softmax(dim=-1), value)", says="A query with nothing to "
    "look at came out as NaN. It should get zeros; exercise 5.4 has the softmax for that.")
attention.mutant("nan_mended_afterwards", "scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale",
    "s = scaled(query, key, scale)", "weights = masked_softmax(scale * query @ key.mT, mask)",
    "s = s if mask is None else s + torch.zeros_like(s).masked_fill(~mask, -math.inf)", "(weights @ value, weights)",
    "mixed(s.softmax(dim=-1).nan_to_num(0.0), value)", says="The values are right, but the gradients are NaN, as when "
    "minus infinity is added to the scores. Write it with masked_fill, as in exercise 5.4.")
attention.mutant("output_only_mended", "1 / math.sqrt(query.size(-1)) if scale is None else scale",
    "scaled(query, key, scale)", "masked_softmax(scale * query @ key.mT, mask)", "hide(scale, mask).softmax(dim=-1)",
    "weights @ value", "shares(hide(scale, mask)) @ value", hint=3,
    says="The output is right, but the weights of an empty row are NaN. They should be zeros, too.")
attention.mutant("mask_as_numbers", body="""
    s = scaled(query, key, scale)
    return mixed(shares(s if mask is None else s + mask.to(s.dtype)), value)""",
    says="The mask was added to the scores as 0 and 1, so hidden keys stay visible.")
attention.mutant("keys_mixed", body="return weighted(query, key, key, mask, scale=scale)",
    says="The keys were mixed. Keys decide how much; values are what is mixed.")
attention.mutant("query_and_key_swapped", body="""
    w = shares(scaled(key, query, scale))
    return (w.mT @ value, w)""",
    says="Queries and keys were swapped, so the table of scores is transposed. Rows belong to queries.")
attention.mutant("pair_swapped", hint=3, body="return weighted(query, key, value, mask, scale=scale)[::-1]",
    says="The right tensors in the wrong order: the output should come first, then the weights.")
attention.mutant("output_alone", hint=3, body="return weighted(query, key, value, mask, scale=scale)[0]",
    says="Only the output came back. The exercise asks for the weights as well.")
attention.mutant("pytorchs_own",
    body="return (functional.scaled_dot_product_attention(query, key, value, mask, scale=scale), None)",
    says="The weights are missing: there is None in their place. PyTorch's function gives the output alone. Write the "
    "steps yourself.")
attention.mutant("scores_returned",
    body="return (weighted(query, key, value, mask, scale=scale)[0], scaled(query, key, scale))",
    says="The second result holds scores. Weights are what softmax makes of them.")
attention.mutant("mask_is_needed", hint=2,
    body="return weighted(query, key, value, mask & torch.ones_like(mask), scale=scale)",
    says="It failed when no mask was given. None allows everything.")
attention.mutant("scores_before_scale_overflow", body="""
    e = scaled(query, key, scale).exp()
    e = e if mask is None else e * mask
    total = e.sum(dim=-1, keepdim=True)
    return mixed(torch.where(total > 0, e / total.masked_fill(total == 0, 1.0), 0.0), value)""",
    says="Right for small scores, but not for large ones, as when exp overflows without a shift. Use softmax, as in "
    "lesson 4.")
attention.mutant("masked_before_scaling", hint=1, body="""
    s = hide(query @ key.mT, mask) * (query.size(-1) ** (-0.5) if scale is None else scale)
    return mixed(s.softmax(dim=-1) if mask is None else s.softmax(dim=-1).masked_fill(~mask, 0.0), value)""",
    says="With a scale of 0, hidden scores became NaN, as when the mask comes before the scale: minus infinity times 0 "
    "is NaN. Scale the scores first, then hide.")
attention.mutant("all_axes_turned", "scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale",
    "turned = key.permute(*range(key.dim() - 1, -1, -1))", "weights = masked_softmax(scale * query @ key.mT, mask)",
    "s = query @ turned * (query.size(-1) ** (-0.5) if scale is None else scale)", "(weights @ value, weights)",
    "mixed(shares(hide(s, mask)), value)", says="Right for plain tables. With batches and heads it stopped, because "
    "the key's axes in front no longer line up: swap the last two, with .mT.")

leaks = solution("leaks")
leaks.mutant("last_token_only", hint=2, body="return finds_leak(attention, length, d_model, changes=lambda n: [n - 1])",
    says="Leaks from any token but the last went unnoticed, as when only that one is changed. Change each token in "
    "turn.")
leaks.mutant("first_output_only", hint=1,
    body="return finds_leak(attention, length, d_model, watched=lambda t: slice(0, 1))",
    says="Leaks into any output but the first went unnoticed, as when only that one is watched. Watch all outputs "
    "before the changed token.")
leaks.mutant("neighbor_only", hint=1,
    body="return finds_leak(attention, length, d_model, watched=lambda t: slice(t - 1, t))",
    says="Leaks that reach back by more than one place went unnoticed, as when only one output is watched. Watch all "
    "those before the changed token, and compare absolute differences.")
leaks.mutant("own_output_too", "attention(changed) - before", "before", hint=1,
    says="An honest attention was accused. Outputs from the changed token on may move, so watch those before it, and "
    "begin each round with a fresh copy of the original tokens.")
leaks.mutant("later_outputs", hint=1,
    body="return finds_leak(attention, length, d_model, range, watched=lambda t: slice(t + 1, None))",
    says="A causal mask was accused. Outputs after the changed token may depend on it, but the earlier ones must not: "
    "watch those.")
leaks.mutant("no_tolerance", hint=3,
    body="return finds_leak(attention, length, d_model, moved=lambda a, b: not a.equal(b))",
    says="Differences in the last digits were taken for a leak. They can come from rounding: allow about 0.001.")
leaks.mutant("change_too_small", "attention(x)", "attention(x).clone()", "changed[:, t] = torch.randn(d_model)",
    "changed[:, t] += 0.0001", says="No leak was found, as when the changes are so small that no output moves by more "
    "than the tolerance. Draw a whole new token, or add 1.")
leaks.mutant("changes_pile_up", "x.clone()", "x", hint=2, says="Honest attentions were accused, as when the changes "
    "pile up: `y = x` makes no copy, so tokens changed before are still changed. Begin each round with x.clone().")
leaks.mutant("answer_inverted", hint=3, body="return not finds_leak(attention, length, d_model)",
    says="The answer is inverted: True should mean that there is a leak.")
leaks.mutant("first_change_decides", hint=3,
    body="return finds_leak(attention, length, d_model, changes=lambda n: range(1, min(n, 2)))",
    says="Leaks from later tokens went unnoticed, as when the answer is given after the first change. Return False "
    "only when the loop has finished.")
leaks.mutant("tensor_returned", body="return torch.tensor(finds_leak(attention, length, d_model))",
    says="The answer is a tensor, not a Python bool. `bool(...)` or `.item()` turns one into the other.")
leaks.mutant("table_returned", body="return torch.zeros(length, length, dtype=torch.bool)",
    says="A whole table came back. Is there any leak, yes or no: `any` turns the table into one answer.")
leaks.mutant("signed_difference",
    body="return finds_leak(attention, length, d_model, moved=lambda a, b: bool((a - b).max() > 0.001))",
    says="A leak that lowers outputs went unnoticed, as when only those that grew count. Compare absolute differences.")
leaks.mutant("last_token_never_changed", "range(1, length)", "range(1, length - 1)", hint=3,
    says="A leak from the last token went unnoticed, as when it is never changed. It is the one that the most outputs "
    "might see too early: change it too.")
leaks.mutant("shorter_inputs", hint=2, body="""
    x = torch.randn(1, length, d_model)
    before = attention(x)
    return any((bool((attention(x[:, :t]) - before[:, :t]).abs().max() > 0.001) for t in range(1, length)))""",
    says="The attention was given fewer tokens than `length`. It may take that many only; keep them all, and change "
    "one.")
leaks.mutant("first_entry_changed", "attention(x)", "attention(x).clone()", "changed[:, t] = torch.randn(d_model)",
    "changed[:, t, 0] += 10 * torch.randn(()).abs() + 1",
    says="A leak through the last entry of a token went unnoticed, as when only one of its entries is changed. Draw "
    "the whole token anew.")
leaks.mutant("never", hint=2, body="return False",
    says="No leak was ever found. What goes through the attention the second time should be the changed copy.")
