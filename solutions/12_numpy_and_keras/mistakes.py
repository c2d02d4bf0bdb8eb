"""The mistakes that students make in lesson 12, as edits of its solutions. Never given to students."""

import numpy as np
import torch
from torch import nn

from autograder.checks import SHARED, solution


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

attention = solution("numpy_attention")
attention.mutant("hidden_maximum", hint=2, body="""
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    exps = exps if mask is None else exps * mask
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value""",
    says="Where a hidden score is far larger than the visible ones, every visible exponential becomes 0, as if the "
    "largest score were taken over hidden keys too. Hide first, then subtract.")
attention.mutant("all_axes_turned", "key.swapaxes(-1, -2)", "key.swapaxes(1, -2)", hint=1,
    says="Right for plain tables. With sentences and heads in front, only the last two axes of the keys should change "
    "places; `.T`, for example, reverses all of them.")
attention.mutant("two_axes_for_transpose", hint=1, body="""
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value""", says="Right for plain tables: NumPy's transpose wants the new order of all "
    "axes, not two of them as in PyTorch. What swaps two axes has another name.")
attention.mutant("old_order_for_transpose", hint=1, body="""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value""", says="NumPy's transpose(-2, -1) names the new order of the axes, and of a "
    "plain table that is the old one: nothing is turned. What swaps two axes has another name.")
attention.mutant("keys_not_turned", "key.swapaxes(-1, -2)", "key.swapaxes(-1, -1)", says="It stopped where queries met "
    "keys: both have D as their last axis. A dot product of each query with each key needs the keys turned.")
attention.mutant("dot_of_all_pairs", hint=1, body="""
    scores = np.dot(query, key.swapaxes(-1, -2)) / query.shape[-1] ** 0.5
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return np.dot(weights_of(scores), value)""", says="Right for plain tables. With leading axes, each sentence met "
    "every other one, as with np.dot; `@` goes through them side by side.")
attention.mutant("axis_lost", "exps.sum(axis=-1, keepdims=True)", "exps.sum(axis=-1)",
    says="It stopped where one number for each row, such as its maximum or its sum, met the table without an axis of "
    "its own. NumPy keeps the axis if you ask.")
attention.mutant("softmax_over_queries", body="return weights_of(scores_of(query, key, mask), axis=-2) @ value",
    says=SHARED["softmax over queries"])
attention.mutant("softmax_over_the_first_axis", body="return weights_of(scores_of(query, key, mask), axis=0) @ value",
    says="Softmax ran over axis 0, which is the sentences where there are any. The keys are the last axis: count "
    "from the end.")
attention.mutant("softmax_over_everything", body="""
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max())
    return exps / exps.sum() @ value""", says="The sum was taken over all entries, so a whole array shares one unit. "
    "Each row of weights should sum to 1: say along which axis.")
attention.mutant("no_scale", body="return weights_of(scores_of(query, key, mask) * query.shape[-1] ** 0.5) @ value",
    says="The scores were not scaled. They are divided by the root of D, the size of a query.")
attention.mutant("divided_by_d", body="return weights_of(scores_of(query, key, mask) / query.shape[-1] ** 0.5) @ value",
    says="The scores were divided by D and not by its root.")
attention.mutant("multiplied_by_the_root", "/ query.shape[-1]", "* query.shape[-1]",
    says="The scores were multiplied by the root of D: they should be divided by it.")
attention.mutant("scaled_by_the_number_of_keys", body="""
    exps = (query.shape[-1] / key.shape[-2]) ** 0.5
    return weights_of(scores_of(query, key, mask) * exps) @ value""",
    says="The scale is the root of another size, the number of keys. It belongs to D, the last axis of query.")
attention.mutant("scaled_by_the_values_width", "query.shape", "value.shape",
    says="The scale is the root of D_v, the width of the values. It belongs to D, the last axis of query.")
attention.mutant("scaled_after_softmax", body="""
    scores = scores_of(query, key, mask) * query.shape[-1] ** 0.5
    return weights_of(scores) / query.shape[-1] ** 0.5 @ value""",
    says="The scale came after softmax, so the weights of a query sum to 1/√D. Scale the scores.")
attention.mutant("keys_mixed", body="return weights_of(scores_of(query, key, mask)) @ key",
    says="The keys were mixed instead of the values. Keys decide how much, values are what is mixed.")
attention.mutant("mask_ignored", hint=2, body="return weights_of(scores_of(query, key)) @ value",
    says="The mask had no effect: the output is that of all keys.")
attention.mutant("mask_inverted",
    body="return weights_of(scores_of(query, key, None if mask is None else ~mask)) @ value", says="What may be seen "
    "was hidden, and the rest was seen. True means may attend: np.where(mask, a, b) takes a where mask is True.")
attention.mutant("hidden_scores_zero", "-np.inf", "0.0", hint=2,
    says="Hidden scores became 0, and exp(0) is 1: hidden keys still get a share. Only minus infinity gives none.")
attention.mutant("mask_added", hint=2, body="""
    scores = scores_of(query, key)
    return weights_of(scores if mask is None else scores + mask) @ value""",
    says="The mask was added as it is: True counts as 1, so allowed scores rose by 1 and nothing was hidden.")
attention.mutant("mask_after_softmax", hint=2, body="""
    exps = weights_of(scores_of(query, key))
    return (exps if mask is None else np.where(mask, exps, 0)) @ value""", says="The mask came after softmax. Hidden "
    "keys had taken their share by then, so the weights of a query sum to less than 1.")
attention.mutant("large_negative_number", hint=2, body="""
    scores = scores_of(query, key)
    scores = scores if mask is None else np.where(mask, scores, -1000000000.0)
    return weights_of(scores) @ value""", says="A query that may look at nothing shares itself out evenly: -1e9, or "
    "the smallest float, in every place is as good as 0. It should get zeros.")
attention.mutant("empty_rows_nan", "np.isfinite(largest)", "largest", hint=2, says="A query that may look at nothing "
    "gets NaN: its largest score is minus infinity, and ∞ − ∞ is not a number. What can be subtracted there instead?")
attention.mutant("divided_by_nothing", hint=3, body="""
    scores = scores_of(query, key, mask)
    largest = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    return exps / exps.sum(axis=-1, keepdims=True) @ value""", says="A query that may look at nothing gets NaN: the "
    "sum of its exponentials is 0, and 0/0 is not a number. What could it be divided by instead?")
attention.mutant("repaired_afterward", hint=2, body="""
    scores = scores_of(query, key, mask)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.nan_to_num(exps / exps.sum(axis=-1, keepdims=True)) @ value""",
    says="The numbers are right, but NumPy warned: NaN was computed for a query that may look at nothing, and "
    "replaced later. Avoid ∞ − ∞ in the first place.")
attention.mutant("logarithm_of_the_mask", body="""
    scores = scores_of(query, key)
    return weights_of(scores if mask is None else scores + np.log(mask)) @ value""", says="The numbers are right, "
    "but NumPy warned: log(0) is minus infinity, as you want, and it says so each time. np.where hides without it.")
attention.mutant("exp_of_large_scores", "scores - np.where(np.isfinite(largest), largest, 0)", "scores", hint=1,
    says="Right for small scores only: exp of several hundred is infinite, and ∞/∞ is NaN. What can be subtracted "
    "from a row first without changing its weights?")
attention.mutant("one_maximum_for_all", "scores.max(axis=-1, keepdims=True)", "scores.max(keepdims=True)",
    says="In a row whose scores are all far below those of others, every exponential rounds to 0, as if one maximum "
    "were subtracted everywhere. Each row has its own.")
attention.mutant("always_float64", hint=1, body="""
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    return weights_of(scores) @ value""", says="float32 came back as float64: np.sqrt of a whole number, np.zeros "
    "and astype(float) all make float64, and it spreads. A plain Python number does not.")
attention.mutant("query_overwritten", body="""
    query /= query.shape[-1] ** 0.5
    return weights_of(scores_of(query, key, mask) * query.shape[-1] ** 0.5) @ value""",
    says="The output is right, but query was changed. What works in place, such as /=, writes into the caller's array; "
    "query / … makes a new one.")
attention.mutant("weights_returned_too", body="""
    exps = weights_of(scores_of(query, key, mask))
    return (exps @ value, exps)""", says="Output and weights came back. Return the output alone.")
attention.mutant("tensor_returned", body="""
    exps = weights_of(scores_of(query, key, mask)) @ value
    return torch.from_numpy(np.ascontiguousarray(exps))""", says="The numbers are right, but they came back as a "
    "PyTorch tensor. Stay with NumPy: an array goes in, an array comes out.")

convert = solution("convert_mask")
convert.mutant("minus_a_billion", hint=3, body="""
    ask_for_names(source, target)
    names = written(visible_of(mask, source), target)
    return names.clamp(min=-1000000000.0) if target == 'additive' else names""",
    says="The additive mask hides with a large negative number. Asked for is minus infinity: where everything is "
    "hidden, a finite number hides nothing.")
convert.mutant("zero_times_infinity", hint=3, body="""
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    if target == 'additive':
        return (1 - visible.float()) * -torch.inf
    return written(visible, target)""", says="There is NaN in the additive mask, as when 0 is multiplied by infinity. "
    "Fill the places that are hidden, and do not multiply.")
convert.mutant("ones_to_add", hint=3, body="""
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    return visible.float() if target == 'additive' else written(visible, target)""", says="The additive mask holds 1 "
    "and 0: added to the scores, that hides nothing. It is 0 where a query may look and minus infinity where not.")
convert.mutant("infinity_where_allowed", "device=mask.device).masked_fill(~visible, -torch.inf)",
    "device=mask.device).masked_fill(visible, -torch.inf)", hint=3, says="The additive mask is inverted: minus "
    "infinity stands where a query may look. A fill mask marks the places that are written to.")
convert.mutant("zeros_like_the_mask", body="""
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    if target == 'additive':
        return torch.zeros_like(mask).masked_fill(~visible, -torch.inf)
    return written(visible, target)""", says="It stopped because a tensor of booleans or of whole numbers cannot hold "
    "minus infinity. torch.zeros_like(mask) has the dtype of the mask: create the additive mask as float32.")
convert.mutant("booleans_for_numbers", "visible.long()", "visible", says="zero_one came back boolean. Tokenizers "
    "have whole numbers there, int64: those can be added up to count tokens.")
convert.mutant("hide_read_as_may_attend", 'source == "hide"', "False", hint=2, says="\"hide\" was read like "
    "\"may_attend\". In nn.MultiheadAttention's masks, True means hidden: what comes in has to be inverted.")
convert.mutant("hide_written_as_may_attend", '~visible if target == "hide" else visible', "visible",
    says="\"hide\" was written like \"may_attend\". In nn.MultiheadAttention's masks, True means hidden: what "
    "goes out has to be inverted.")
convert.mutant("hide_taken_for_may_attend", 'source == "hide"', 'target == "hide"', hint=2,
    says="\"hide\" was both read and written like \"may_attend\", so from one to the other nothing changes. In "
    "one of them True means hidden.")
convert.mutant("booleans_mixed_up", hint=2, body="""
    ask_for_names(source, target)
    other = {'may_attend': 'hide', 'hide': 'may_attend'}
    visible = visible_of(mask, other.get(source, source))
    return written(visible, other.get(target, target))""", says="The two boolean conventions are mixed up: True "
    "means may attend in \"may_attend\", and hidden in \"hide\".")
convert.mutant("ones_hide", hint=2, body="""
    ask_for_names(source, target)
    visible = visible_of(mask, source)
    visible = ~visible if source == 'zero_one' else visible
    return written(~visible if target == 'zero_one' else visible, target)""",
    says="zero_one is inverted: in a tokenizer's mask, 1 marks a token and 0 padding, so 1 means may attend.")
convert.mutant("additive_read_as_booleans", "mask == 0", "mask != 0", hint=2, says="The additive mask was read as if "
    "it were booleans: .bool() of minus infinity is True, and of 0 False. So what is hidden counts as seen.")
convert.mutant("other_names_pass", hint=3, body="return written(visible_of(mask, source), target)",
    says="A name that is none of the four went through, as when an `else` takes it for one of them. Compare both "
    "names with the four first, and raise ValueError.")
convert.mutant("nothing_for_other_names", hint=3, body="""
    if not is_name(source) or not is_name(target):
        return None
    return written(visible_of(mask, source), target)""", says="For a name that is none of the four, None came back. "
    "Who misspells a name should be told: raise ValueError.")
convert.mutant("only_the_source_checked", "target not in names", "source not in names", hint=3,
    says="An unknown target went through. Both names are to be compared with the four.")
convert.mutant("only_the_target_checked", "source not in names", "target not in names", hint=3,
    says="An unknown source went through. Both names are to be compared with the four.")
convert.mutant("the_same_name_passes", hint=3, body="""
    if source == target:
        return mask
    ask_for_names(source, target)
    return written(visible_of(mask, source), target)""", says="Where source and target are equal, the mask came back "
    "as it was, whatever the names are. Look at them first, and mind that zero_one is int64.")
convert.mutant("the_same_mask_back", hint=1, body="""
    ask_for_names(source, target)
    return mask if source == target else written(visible_of(mask, source), target)""", says="Where source and target "
    "are equal, the mask came back as it was. A 0/1 mask of uint8 or int32 should come back as int64 too.")
convert.mutant("key_error", body="""
    known = {name: name for name in ('may_attend', 'hide', 'zero_one', 'additive')}
    return written(visible_of(mask, known[source]), known[target])""", says="An unknown name ends in a KeyError. Asked "
    "for is a ValueError: compare the name with the four, and raise it yourself.")
convert.mutant("assertion", body="""
    assert is_name(source)
    assert is_name(target)
    return written(visible_of(mask, source), target)""", says="An unknown name ends in an AssertionError. Asked for is "
    "a ValueError, which you raise yourself: an assert disappears when Python runs with -O.")
convert.mutant("not_implemented", body="""
    if not is_name(source) or not is_name(target):
        raise NotImplementedError('unknown name')
    return written(visible_of(mask, source), target)""",
    says="An unknown name ends in a NotImplementedError. Asked for is a ValueError: the argument has a wrong value.")
convert.mutant("mask_overwritten", body="""
    ask_for_names(source, target)
    if source == 'hide':
        return written(mask.logical_not_(), target)
    return written(visible_of(mask, source), target)""",
    says="The caller's mask was changed, as logical_not_, masked_fill_ and `mask[...] =` do. Make a new tensor.")
convert.mutant("two_axes_only", body="""
    ask_for_names(source, target)
    _, _ = mask.shape
    return written(visible_of(mask, source), target)""",
    says="It stopped where a mask does not have two axes. Work on all entries at once, without sizes or loops.")

keras = solution("keras_to_torch")
keras.mutant("kernels_not_turned", 'weights[f"{part}/kernel"].reshape(size, size).T',
    'weights[f"{part}/kernel"].reshape(size, size)', hint=1, says="The kernels of query, key and value came in as "
    "they are. Keras multiplies x @ kernel, so input by output; PyTorch x @ weight.T, output by input.")
keras.mutant("output_kernel_not_turned", 'weights["attention_output/kernel"].reshape(size, size).T',
    'weights["attention_output/kernel"].reshape(size, size)', hint=3, says="The output kernel came in as it is. Its "
    "two axes of heads come first, as input; PyTorch's weight has the output first.")
keras.mutant("nothing_turned", 'weights[f"{part}/kernel"].reshape(size, size).T',
    'weights[f"{part}/kernel"].reshape(size, size)', 'weights["attention_output/kernel"].reshape(size, size).T',
    'weights["attention_output/kernel"].reshape(size, size)', hint=1, says="No kernel was turned. Keras keeps input "
    "by output, for x @ kernel; PyTorch output by input, for x @ weight.T.")
keras.mutant("turned_before_joined", hint=1, body="""
    size = module.embed_dim
    kernels = [weights[f'{part}/kernel'].T.reshape(size, size) for part in inputs()]
    write(module, pieces(weights, size) | {'in_proj_weight': np.concatenate(kernels)})""",
    says="Heads and head dimension have changed places in the kernels of query, key and value, as when `.T` turns all "
    "three axes. Join heads and dimension first.")
keras.mutant("output_turned_before_joined", hint=3, body="""
    size = module.embed_dim
    out = weights['attention_output/kernel'].T.reshape(size, size)
    write(module, pieces(weights, size) | {'out_proj.weight': out})""", says="Heads and head dimension have changed "
    "places in the output kernel, as when `.T` turns all three axes. Join heads and dimension first.")
keras.mutant("all_turned_before_joined", hint=1, body="""
    size = module.embed_dim
    kernels = [weights[f'{part}/kernel'].T.reshape(size, size) for part in inputs()]
    out = weights['attention_output/kernel'].T.reshape(size, size)
    new = {'in_proj_weight': np.concatenate(kernels), 'out_proj.weight': out}
    write(module, pieces(weights, size) | new)""", says="Heads and head dimension have changed places in all kernels, "
    "as when `.T` turns all three axes. Join heads and dimension into one axis first.")
keras.mutant("alphabetical_order", hint=2,
    body='write(module, pieces(weights, module.embed_dim, ("key", "query", "value")))',
    says="in_proj_weight and in_proj_bias hold key, query, value: the order of the alphabet, or of a dictionary. "
    "PyTorch's is query, key, value.")
keras.mutant("values_before_keys", hint=2,
    body='write(module, pieces(weights, module.embed_dim, ("query", "value", "key")))', says="in_proj_weight and "
    "in_proj_bias hold query, value, key: that is the order of Keras's call. PyTorch's is query, key, value.")
keras.mutant("query_three_times", hint=2,
    body='write(module, pieces(weights, module.embed_dim, ("query", "query", "query")))', says="The query's weights "
    "are there three times. Each third of in_proj_weight and in_proj_bias has weights of its own.")
keras.mutant("biases_forgotten", body="""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if 'bias' not in name})""",
    says="The weights are right, but no bias was copied.")
keras.mutant("input_biases_forgotten", "module.in_proj_bias.copy_(torch.from_numpy(np.concatenate(biases)))",
    "module.in_proj_bias", says="The biases of query, key and value were not copied: they go into in_proj_bias.")
keras.mutant("output_bias_forgotten", 'module.out_proj.bias.copy_(torch.from_numpy(weights["attention_output/bias"]))',
    "module.out_proj.bias", says="The output's bias was not copied: it goes into out_proj.bias.")
keras.mutant("output_forgotten", hint=3, body="""
    arrays = pieces(weights, module.embed_dim)
    write(module, {name: a for name, a in arrays.items() if 'out' not in name})""",
    says="The output projection was not copied: attention_output goes into out_proj, its kernel and its bias.")
keras.mutant("stacked", hint=2, body="""
    size = module.embed_dim
    out = pieces(weights, size)
    write(module, {'in_proj_weight': out['in_proj_weight'].reshape(3, size, size)})""",
    says="Three kernels were stacked along a new axis, (3, E, E). in_proj_weight is (3E, E): the three stand below "
    "one another on an axis that is there.")
keras.mutant("side_by_side", hint=2, body="""
    size = module.embed_dim
    kernels = [weights[f'{part}/kernel'].reshape(size, size).T for part in inputs()]
    write(module, {'in_proj_weight': np.concatenate(kernels, axis=1)})""", says="Three kernels were joined side by "
    "side, (E, 3E). in_proj_weight is (3E, E): the three stand below one another.")
keras.mutant("while_autograd_watches", hint=3, body="""
    arrays = pieces(weights, module.embed_dim)
    module.in_proj_weight.copy_(torch.from_numpy(arrays['in_proj_weight']))""", says="It stopped because autograd "
    "watches a parameter: what is copied into one is no step of a calculation. Copy under torch.no_grad().")
keras.mutant("new_parameters", hint=3, body="""
    arrays = pieces(weights, module.embed_dim)
    for name, numbers in arrays.items():
        owner = module.out_proj if name.startswith('out') else module
        own = nn.Parameter(torch.from_numpy(numbers.copy()).to(module.in_proj_weight.dtype))
        setattr(owner, name.removeprefix('out_proj.'), own)""", says="The module got new Parameter objects. An "
    "optimizer that was made before still holds the old ones: write into those that are there.")
keras.mutant("another_dtype", hint=3, body="""
    for name, numbers in pieces(weights, module.embed_dim).items():
        module.get_parameter(name).data = torch.from_numpy(numbers.copy())""", says="A parameter took the arrays' "
    "dtype, as when another tensor is put in its place. copy_ keeps the parameter's dtype and memory.")
keras.mutant("shared_memory", hint=3, body="""
    for name, numbers in pieces(weights, module.embed_dim).items():
        module.get_parameter(name).data = torch.from_numpy(numbers)""", says="What is in the module changes when the "
    "arrays do: the two share their memory, as after torch.from_numpy. Copy the numbers.")
keras.mutant("no_longer_trainable", hint=3, body="""
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    write(module, pieces(weights, module.embed_dim))""", says="The numbers are right, but the parameters no longer "
    "ask for gradients. torch.no_grad() lets you write without that.")
