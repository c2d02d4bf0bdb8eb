"""The checks of lesson 11 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from collections.abc import Mapping, Sequence
from typing import Any

import teams
import torch
import wrong
from torch import Tensor, nn
from wrong import Attention, Mask

from autograder.checks import Inputs, black_box, check, law

MOST_NAMED = 4
LONGEST = 8
PARTS = ("query", "key", "value", "mask")
ABOUT_MASKS = (
    "mask_inverted",
    "mask_ignored",
    "mask_with_zero_score",
    "mask_after_softmax",
    "fill_minus_1e9",
    "fill_minus_inf",
    "fill_1e_minus_9",
    "mask_added",
)
WITHOUT_MASK = tuple(name for name in wrong.WRONG if name not in ABOUT_MASKS)
LABELS = (
    "scale",
    "softmax_axis",
    "value",
    "mask_inverted",
    "mask_leak",
    "empty_row",
    "mutates_input",
    "dtype",
)

# One example that tells


def only_tensors(example: Any) -> list[Tensor]:
    """Return an example's four tensors. Raises ValueError, with a sentence, where it has others."""
    if not isinstance(example, list | tuple):
        raise ValueError(
            "Four tensors were asked for: a query, a key, a value and a mask."
        )
    if len(example) != len(PARTS):
        raise ValueError(
            f"{len(example)} things came back. Four were asked for: a query, a key, a value and a mask."
        )
    for name, part in zip(PARTS, example, strict=True):
        dtype = torch.bool if name == "mask" else torch.float64
        if not isinstance(part, Tensor):
            raise ValueError(f"The {name} is not a tensor.")
        if part.dtype != dtype:
            raise ValueError(
                f"The {name} is {part.dtype}. It should be {dtype}.".replace(
                    "torch.", ""
                )
            )
        if not 2 <= part.ndim <= 4:
            raise ValueError(
                f"The {name} should have two to four axes, and it has {part.ndim}."
            )
        if max(part.shape) > LONGEST:
            raise ValueError(
                f"The {name} has an axis of {max(part.shape)}. No axis may be longer than {LONGEST}."
            )
        if min(part.shape) == 0:
            raise ValueError(f"The {name} has an axis without entries.")
        if not bool(part.isfinite().all()):
            raise ValueError(f"The {name} has an entry that is not a finite number.")
    return [part.detach().clone() for part in example]


def fit_together(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> None:
    """Raise ValueError, with a sentence, where an attention could not work with these shapes."""
    if query.size(-1) != key.size(-1):
        raise ValueError("The last axes of query and key should have the same size, D.")
    if key.size(-2) != value.size(-2):
        raise ValueError("There should be as many values as keys, S.")
    try:
        lead = torch.broadcast_shapes(*(t.shape[:-2] for t in (query, key, value)))
    except RuntimeError:
        raise ValueError(
            "The axes before the last two of query, key and value do not fit."
        ) from None
    scores = torch.Size((*lead, query.size(-2), key.size(-2)))
    try:
        fits = torch.broadcast_shapes(mask.shape, scores) == scores
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(
            f"The mask, {tuple(mask.shape)}, does not broadcast to (..., L, S), which is {tuple(scores)} here."
        )


def is_told_apart(attention: Attention, inputs: Sequence[Tensor], own: Tensor) -> bool:
    """Say whether an attention gives something other than the right result, or nothing."""
    try:
        result = attention(*(tensor.clone() for tensor in inputs))
    except Exception:
        return True
    if result.shape != own.shape or bool(result.isnan().any()):
        return True
    return bool((result - own).abs().max() > 1e-3)


def told_apart(example: Any, names: Sequence[str]) -> int:
    """Return how many wrong attentions are told apart by an example. Raises ValueError where some are not."""
    inputs = only_tensors(example)
    fit_together(*inputs)
    try:
        own = wrong.right(*(tensor.clone() for tensor in inputs))
    except Exception:
        raise ValueError("`wrong.right` stops with an error on this example.") from None
    if not bool(own.isfinite().all()):
        raise ValueError(
            "`wrong.right` itself gives NaN on this example: its numbers are too large."
        )
    alike = [n for n in names if not is_told_apart(wrong.WRONG[n], inputs, own)]
    if alike:
        raise ValueError(f"Not told apart yet: {some_of(alike)}.")
    return len(names)


def some_of(names: Sequence[str]) -> str:
    """Return names as a text, at most four of them."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f", and {more} more" if more > 0 else "")


def without_mask_told(example: Any) -> int:
    """Return how many are told apart of those that no mask is needed for."""
    return told_apart(example, WITHOUT_MASK)


def all_told(example: Any) -> int:
    """Return how many of all wrong attentions are told apart."""
    return told_apart(example, tuple(wrong.WRONG))


@check("revealing_example", points=1, summary=without_mask_told, may_change=("seed",))
def mistakes_without_a_mask(revealing_example: Any, draw: Inputs) -> Any:
    """All wrong attentions that are not about masks are told from the right one."""
    return revealing_example()


@check("revealing_example", points=1, summary=all_told, may_change=("seed",))
def all_mistakes(revealing_example: Any, draw: Inputs) -> Any:
    """All 21 wrong attentions are told from the right one."""
    return revealing_example()


# How far apart


def plain_attention(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Tensor:
    """Return attention step by step."""
    return wrong.shares(wrong.scores_of(query, key, mask)) @ value


def number_from(
    max_difference: Any, a: Attention, b: Attention, trials: int, seed: int
) -> Any:
    """Return what max_difference returns; 0 as 0.0, which is the same difference."""
    found = max_difference(a, b, trials=trials, seed=seed)
    return float(found) if type(found) is int else found


def off_by_one(query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> Tensor:
    """Return attention, and 1 more in each entry."""
    return plain_attention(query, key, value, mask) + 1


@check("max_difference", points=1)
def two_small_attentions(max_difference: Any, draw: Inputs) -> Any:
    """The right attention against one without the scale, one without the mask, one that is right too, and, in a single
    trial, one that is off by 1.
    """
    trials, seed = draw.size(20, 12, 30), draw.integer(40, 200)
    others = {
        "without the scale": (wrong.no_scale, trials),
        "without the mask": (wrong.mask_ignored, trials),
        "right too": (plain_attention, trials),
        "off by 1": (off_by_one, 1),
    }
    return {
        name: number_from(max_difference, wrong.right, other, n, seed)
        for name, (other, n) in others.items()
    }


# Finding bugs


def boxed(number: int, attention: Attention) -> Any:
    """Return an attention that can be called and not read, under a name that gives nothing away."""

    def call(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
        return attention(query, key, value, mask)

    call.__name__ = f"attention_{number}"
    return black_box(call)


ADA, BO, CLEO, DAG, EVE = map(boxed, range(1, 6), teams.TEAMS.values())
P1, P2, P3, P4, P5, P6, P7, P8 = map(boxed, range(6, 14), teams.PRACTICE.values())
PRACTICE = dict(zip(teams.PRACTICE, (P1, P2, P3, P4, P5, P6, P7, P8), strict=True))
NEED_NO_MASK = {label: PRACTICE[label] for label in ("scale", "softmax_axis", "value")}


def reported(find_bugs: Any, draw: Inputs, suspects: Mapping[str, Any]) -> Any:
    """Run a tester on attentions in an order that is drawn; return for each its answer's type and labels."""
    waiting, found = list(suspects), {}
    while waiting:
        name = waiting.pop(draw.integer(0, len(waiting) - 1))
        found[name] = as_list(find_bugs(suspects[name]))
    return {name: found[name] for name in suspects}


def as_list(answer: Any) -> Any:
    """Return a set as a list, which begins with its type: no set can leave a submission's process."""
    if answer is None:
        return None
    inside = list(answer) if isinstance(answer, set | frozenset) else []
    return [type(answer).__name__, *sorted(map(str, inside))]


def labels_as_text(found: Any) -> Any:
    """Return each answer's labels as one text. Raises ValueError, with a sentence, where one is no set of labels."""
    return {str(name): one_text(answer) for name, answer in found.items()}


def one_text(answer: Any) -> str:
    """Return the labels of one answer, joined."""
    if answer is None:
        raise ValueError(
            "For one of the attentions None came back. Is a `return` missing in one of the branches?"
        )
    kind, labels = answer[0], answer[1:]
    if kind not in ("set", "frozenset"):
        raise ValueError(
            f"An object of type {kind} came back; a set of labels was asked for. An empty one is written set()."
        )
    for label in labels:
        if label not in LABELS:
            raise ValueError(
                f"{label[:30]!r} is not one of the labels. They are: {', '.join(LABELS)}."
            )
    return ", ".join(sorted(labels)) or "none"


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def without_a_mask(find_bugs: Any, draw: Inputs) -> Any:
    """The first stage: three attentions whose bug shows without a mask, and Ada's, which is right."""
    suspects = {f"the one with {label}": box for label, box in NEED_NO_MASK.items()}
    return reported(find_bugs, draw, {**suspects, "Ada": ADA})


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def one_bug_each(find_bugs: Any, draw: Inputs) -> Any:
    """The eight attentions to practice on, which have one bug each."""
    suspects = {f"the one with {label}": box for label, box in PRACTICE.items()}
    return reported(find_bugs, draw, suspects)


@check("find_bugs", points=1, summary=labels_as_text, may_change=("seed",))
def five_teams(find_bugs: Any, draw: Inputs) -> Any:
    """The attentions of the five teams."""
    boxes = (ADA, BO, CLEO, DAG, EVE)
    names = [name.title() for name in teams.TEAMS]
    return reported(find_bugs, draw, dict(zip(names, boxes, strict=True)))


# The repaired module

LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj")


def filled(module: nn.Module, draw: Inputs) -> Any:
    """Write drawn numbers to the four layers of a module, in float64 and evaluation mode."""
    module = module.double().eval()
    for name in LAYERS:
        layer = getattr(module, name)
        width = layer.weight.size(-1)
        layer.weight.data = 1.5 * width**-0.5 * draw.normal(*layer.weight.shape)
        layer.bias.data = draw.normal(*layer.bias.shape)
    return module


@check("RepairedAttention", points=1, show=True)
def a_single_head(repaired: Any, draw: Inputs) -> Any:
    """One head: two sentences of four tokens."""
    return filled(repaired(6, 1), draw)(draw.normal(2, 4, 6))


@check("RepairedAttention", points=1, show=True)
def several_heads(repaired: Any, draw: Inputs) -> Any:
    """Three heads: two sentences of four tokens."""
    return filled(repaired(6, 3), draw)(draw.normal(2, 4, 6))


@law("max_difference")
def nan_in_both(max_difference: Any, draw: Inputs) -> bool:
    """Where a result is not finite, the difference is infinite, also where both are NaN in the same place."""

    def broken(query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        return torch.full((*query.shape[:-1], value.size(-1)), float("nan"))

    return max_difference(broken, broken, trials=2, seed=0) == float("inf")


@law("find_bugs")
def any_number_of_axes(find_bugs: Any, draw: Inputs) -> bool:
    """A softmax along the wrong axis is found, also where it happens only for inputs with two, three or four axes."""
    return all("softmax_axis" in find_bugs(astray_with(axes)) for axes in (2, 3, 4))


def astray_with(axes: int) -> Attention:
    """Make an attention whose softmax runs along the queries for inputs with so many axes."""

    def attention(
        query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
    ) -> Tensor:
        if query.dim() != axes:
            return plain_attention(query, key, value, mask)
        return wrong.scores_of(query, key, mask).softmax(dim=-2) @ value

    return attention


@law("find_bugs")
def one_label_about_masks(find_bugs: Any, draw: Inputs) -> bool:
    """Of the three labels about masks only the first one that applies is reported."""

    def inverted(
        query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
    ) -> Tensor:
        return plain_attention(query, key, value, None if mask is None else ~mask)

    return find_bugs(inverted) == {"mask_inverted"}


@law("find_bugs")
def the_mask_is_passed_in_too(find_bugs: Any, draw: Inputs) -> bool:
    """An attention that writes to its mask changes a tensor that was passed in, and does nothing else wrong."""

    def overwriting(
        query: Tensor, key: Tensor, value: Tensor, mask: Mask = None
    ) -> Tensor:
        result = plain_attention(query, key, value, mask)
        if mask is not None:
            mask.logical_not_()
        return result

    return find_bugs(overwriting) == {"mutates_input"}


@law("find_bugs")
def both_dtypes(find_bugs: Any, draw: Inputs) -> bool:
    """A result in another dtype than the inputs is found, for inputs in float32 and in float64."""

    def always(dtype: torch.dtype) -> Attention:
        return lambda query, key, value, mask=None: plain_attention(
            query, key, value, mask
        ).to(dtype)

    return all("dtype" in find_bugs(always(d)) for d in (torch.float32, torch.float64))


@law("find_bugs")
def several_bugs(find_bugs: Any, draw: Inputs) -> bool:
    """An attention with two bugs has two labels."""

    def two(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
        return plain_attention(2 * query, key, value, mask).to(torch.float32)

    return {"scale", "dtype"} <= find_bugs(two)


@law("RepairedAttention")
def each_head_has_its_entries(repaired: Any, draw: Inputs) -> bool:
    """A head mixes its own entries of the values, and the heads stand side by side in what out_proj reads."""
    module = filled(repaired(6, 3), draw)
    with torch.no_grad():
        module.v_proj.weight[2:4], module.v_proj.bias[2:4] = 0, 0
        module.out_proj.weight.copy_(torch.eye(6))
        module.out_proj.bias.zero_()
        output = module(draw.normal(2, 4, 6))
    used = output.flatten(0, 1).abs().gt(1e-6).any(dim=0)
    return used.tolist() == [True] * 2 + [False] * 2 + [True] * 2


@law("RepairedAttention")
def no_later_token(repaired: Any, draw: Inputs) -> bool:
    """A later token changes no earlier output."""
    module, x = filled(repaired(6, 3), draw), draw.normal(1, 4, 6)
    other = torch.cat([x[:, :2], draw.normal(1, 2, 6)], dim=1)
    return torch.allclose(module(x)[:, :2], module(other)[:, :2], atol=1e-4)


@law("revealing_example")
def sizes_that_differ(revealing_example: Any, draw: Inputs) -> bool:
    """D differs from D_v and from the number of keys: where two sizes are equal, the root of one is that of the
    other.
    """
    _, key, value, _ = revealing_example()
    return key.size(-1) not in (value.size(-1), key.size(-2))


@law("revealing_example")
def tensors_that_differ(revealing_example: Any, draw: Inputs) -> bool:
    """Query, key and value hold different numbers: where two are the same tensor, taking one for the other is no
    mistake.
    """
    query, key, value, _ = revealing_example()
    return not (torch.equal(query, key) or torch.equal(key, value))


@law("max_difference")
def an_attention_and_itself(max_difference: Any, draw: Inputs) -> bool:
    """An attention differs by 0 from itself: both are called with the same numbers in each trial."""
    return max_difference(wrong.right, wrong.right, trials=3, seed=1) == 0


@law("max_difference")
def more_trials(max_difference: Any, draw: Inputs) -> bool:
    """More trials can only find a larger difference: it is the largest of all entries and trials, not a mean, and the
    first trials draw the same as before.
    """
    found = [
        max_difference(wrong.right, wrong.no_scale, trials=n, seed=3) for n in (1, 2, 4)
    ]
    return found == sorted(found)


@law("max_difference")
def inputs_of_their_own(max_difference: Any, draw: Inputs) -> bool:
    """An attention that writes to its inputs when it has finished changes nothing for the other one, whichever is
    first.
    """

    def writing(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
        result = plain_attention(query, key, value, mask)
        for tensor in (query, key, value):
            tensor.zero_()
        return result

    pairs = (writing, plain_attention), (plain_attention, writing)
    return all(max_difference(a, b, trials=2, seed=5) < 1e-6 for a, b in pairs)


@law("RepairedAttention")
def dropout_in_training_alone(repaired: Any, draw: Inputs) -> bool:
    """In eval mode nothing is dropped, whatever the probability; in training something is."""
    module, x = filled(repaired(6, 3, dropout=0.5), draw), draw.normal(2, 4, 6)
    in_training = [module.train()(x) for _ in range(2)]
    in_eval = [module.eval()(x) for _ in range(2)]
    return torch.equal(*in_eval) and not torch.equal(*in_training)


@law("RepairedAttention")
def each_sentence_by_itself(repaired: Any, draw: Inputs) -> bool:
    """The output of one sentence in a batch does not depend on the other sentences."""
    module, x = filled(repaired(6, 3), draw), draw.normal(2, 4, 6)
    return torch.allclose(module(x)[:1], module(x[:1]), atol=1e-4)


@law("RepairedAttention")
def the_root_of_a_heads_size(repaired: Any, draw: Inputs) -> bool:
    """A head's scores are divided by the root of its own dimension, E / num_heads."""
    module = filled(repaired(8, 2), draw)
    for layer in (module.q_proj, module.k_proj, module.v_proj, module.out_proj):
        layer.weight.data, layer.bias.data = (
            torch.eye(8).to(layer.weight),
            0 * layer.bias.data,
        )
    x = torch.zeros(1, 2, 8, dtype=torch.float64)
    x[0, 0, 0], x[0, 1, 0] = (
        1.0,
        2.0,
    )  # the second token's scores are 2 and 4, halved 1 and 2
    output = module(x).detach()[0, 1, 0]
    return abs(float(output) - (1 + 2 * torch.e) / (1 + torch.e)) < 1e-3
