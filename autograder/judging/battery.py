"""The standard battery: what an answer has to stand besides its lesson's own checks, made from one example of a call.

Each item is a variation of that call. What should come out is what the solution gives, as in every check.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .check import Check, docstring_text
from .inputs import PUBLIC_SEED, Inputs
from .values import Returned

Call = partial[Any]
Example = Callable[[Any, Inputs], Call | tuple[Any, ...]]
Change = Callable[[Tensor], Tensor]

LONG = 331  # longer than any constant that an answer could have been written for
MOST_ENTRIES = 200_000  # of all tensors that an item returns: they are sent from the sandbox
DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16}
HALF, ANY_SIZE = ("dtype", "half"), "any magnitude"
MORE = "more"  # what is compared beside the call
PROMISED_BY = {
    "float16": HALF,
    "bfloat16": HALF,
    "front": ("(...",),
    "large": ("thousands", "too large", ANY_SIZE),
    "low": (ANY_SIZE,),
    "tiny": ("positive",),
    "empty": ("any shape", "any leading axes"),
}
WHAT = {
    "gradients": "the gradient of every floating-point input, and of a module's parameters",
    **{name: f"inputs in {name}" for name in DTYPES},
    "front": "one more axis in front",
    "views": "inputs that are not contiguous in memory",
    "tiny": "entries of a millionth",
    "large": "scores in the thousands",
    "low": "scores far below zero",
    "twice": "a second call, with another one in between",
    "empty": "an empty batch",
    "single": "each axis with size 1",
    "long": f"each axis with size {LONG}",
}


@dataclass(frozen=True)
class Battery(Check):
    """A hidden check that is made from an example of a call.

    Args:
        example: makes the call from the work and drawn inputs.
        off: the items and kinds of item that are left out, each with a reason; `WHAT` has all kinds.
        items: the names of those that are asked, as `asking` chooses them.
    """

    example: Example = field(default=partial, kw_only=True)
    off: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    items: tuple[str, ...] = field(default=(), kw_only=True)

    def only(self, items: Iterable[str]) -> Battery:
        """Return the battery with these items."""
        chosen = tuple(items)
        return replace(self, items=chosen, run=partial(stand, self.example, chosen))


def battery(
    exercise: str, *, points: int, off: Mapping[str, str] | None = None, tolerance: float | None = None
) -> Callable[[Example], Battery]:
    """Declare, in hidden.py, what an exercise's answers have to stand.

    The function returns a call that is not made, `partial(work, …)`; or a tuple, that and what else is compared.

    Args:
        exercise: whose.
        points: whole points, all or nothing.
        off: what to leave out, each with a reason: an item such as `long 2`, or all items of a kind such as `long`.
        tolerance: as in `check`.

    Raises:
        ValueError: there is no item of a kind that is left out.
    """
    for item in off or {}:
        if kind_of(item) not in WHAT:
            raise ValueError(f"The battery has no item {item!r}; it has {', '.join(WHAT)}.")

    def declare(example: Example) -> Battery:
        title = docstring_text(example, "battery")
        nothing = partial(stand, example, ())
        name = example.__name__
        return Battery(
            exercise, name, points, title, nothing, tolerance=tolerance, example=example, off=dict(off or {})
        )

    return declare


def asking(checks: Iterable[Check], solution_of: Callable[[str], Any]) -> tuple[Check, ...]:
    """Return checks, the batteries among them with the items that the solution's text promises and that it stands.

    Args:
        checks: a lesson's.
        solution_of: returns an exercise's solution.
    """
    return tuple(
        asked_of(check, solution_of(check.exercise)) if isinstance(check, Battery) else check for check in checks
    )


def asked_of(check: Battery, work: Any) -> Battery:
    """Return one battery with the items that are asked."""
    wanted = partial(is_wanted, promises=promises_of(work), off=check.off)
    tried = replace(check, run=partial(standing, check.example, wanted)).values(work, PUBLIC_SEED)
    return check.only(tried.tree if isinstance(tried, Returned) else ())


def promises_of(work: Any) -> str:
    """Return what a solution's text says: its docstring, and that of a module's `forward`."""
    texts = (work.__doc__, getattr(getattr(work, "forward", None), "__doc__", None))
    return " ".join(" ".join(filter(None, texts)).split())


def choices_in(checks: Iterable[Check]) -> str:
    """Return code that chooses the same items where batteries are loaded without their solutions."""
    return "".join(
        f"\n{check.name} = {check.name}.only({check.items!r})" for check in checks if isinstance(check, Battery)
    )


def is_wanted(item: str, promises: str, off: Collection[str]) -> bool:
    """Say whether an item is promised, and not left out."""
    words = PROMISED_BY.get(kind_of(item), ("",))
    return not {item, kind_of(item)} & set(off) and any(word in promises for word in words)


def kind_of(item: str) -> str:
    """Return an item's kind: one may be asked for each axis."""
    return item.split()[0]


def stand(example: Example, items: Collection[str], work: Any, draw: Inputs) -> dict[str, Any]:
    """Make the calls of some items; return what came out by item."""
    found = dict(one_by_one(example, items, work, draw))
    return {item: found[item] for item in (*items, MORE) if item in found}


def one_by_one(example: Example, items: Collection[str], work: Any, draw: Inputs) -> Iterator[tuple[str, Any]]:
    """Yield what is compared beside the call, if there is anything, and then what comes out of each item."""
    call, more = parts_of(example(work, draw))
    if more:
        yield MORE, more
    found = variations(call, draw)
    yield from ((item, found[item]()) for item in items)


def parts_of(returned: Call | tuple[Any, ...]) -> tuple[Call, tuple[Any, ...]]:
    """Return an example's call, and the values that are compared beside it."""
    return (returned[0], returned[1:]) if isinstance(returned, tuple) else (returned, ())


def standing(example: Example, wanted: Callable[[str], bool], work: Any, draw: Inputs) -> list[str]:
    """Return the items that are wanted, that work stands without an error or a NaN, and that are small enough."""
    names = []
    for item, run in variations(parts_of(example(work, draw))[0], draw).items():
        try:
            if not wanted(item):
                continue
            values = [leaf.value for leaf in Returned(run()).leaves()]
            entries = sum(value.numel() for value in values if isinstance(value, Tensor))
            if entries <= MOST_ENTRIES and not any(map(has_nan, values)):
                names.append(item)
        except Exception:  # it promises nothing about such inputs
            continue
    return names


def has_nan(value: Any) -> bool:
    """Say whether a value is a tensor that holds NaN."""
    return isinstance(value, Tensor) and bool((value != value).any())


def variations(call: Call, draw: Inputs) -> dict[str, Callable[[], Any]]:
    """Return all variations of a call by name, not made yet."""
    changes: dict[str, Change] = {"views": as_view}
    tensors = tensors_of(call)
    for axis, size in enumerate(dict.fromkeys(size for tensor in tensors for size in tensor.shape if size > 1)):
        sizes = {"single": 1, "long": LONG}
        if size == max(tensors, key=Tensor.dim).size(0) and max(map(Tensor.dim, tensors)) > 2:
            sizes["empty"] = 0
        for kind, new in sizes.items():
            changes[f"{kind} {axis}"] = partial(with_size, size, new)
    items = {"twice": partial(twice, call, draw)}
    items |= {name: partial(made, call, draw, change) for name, change in changes.items()}
    return items | (on_numbers(call, draw) if any(map(Tensor.is_floating_point, tensors)) else {})


def on_numbers(call: Call, draw: Inputs) -> dict[str, Callable[[], Any]]:
    """Return the variations that need floating-point inputs."""
    return {
        "gradients": partial(gradients, call, draw),
        "front": partial(made, call, draw, with_an_axis_in_front),
        "tiny": partial(made, call, draw, partial(times, 1e-6)),
        "large": partial(with_first, call, draw, partial(times, 1e3)),
        "low": partial(with_first, call, draw, lambda x: -1e30 * x.abs()),
        **{name: partial(in_dtype, call, draw, dtype) for name, dtype in DTYPES.items()},
    }


def tensors_of(call: Call) -> list[Tensor]:
    """Return the tensors that a call is made with, arrays as tensors."""
    values = (*call.args, *call.keywords.values())
    found = (torch.from_numpy(value) if isinstance(value, np.ndarray) else value for value in values)
    return [value for value in found if isinstance(value, Tensor)]


def varied(call: Call, draw: Inputs, change: Change) -> Call:
    """Return a call with every tensor changed, arrays as tensors are. Writes to the new ones are noticed too."""

    def new(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return draw.give(change(torch.from_numpy(value)).numpy())
        return draw.give(change(value)) if isinstance(value, Tensor) else value

    return partial(call.func, *map(new, call.args), **{name: new(value) for name, value in call.keywords.items()})


def made(call: Call, draw: Inputs, change: Change) -> Any:
    """Make a call with every tensor changed."""
    return varied(call, draw, change)()


def with_first(call: Call, draw: Inputs, change: Change) -> Any:
    """Make a call with its first argument changed."""
    first, *others = call.args
    return made(partial(call.func, change(first), *others, **call.keywords), draw, torch.clone)


def times(factor: float, tensor: Tensor) -> Tensor:
    """Multiply a floating-point tensor by a factor."""
    return factor * tensor if tensor.is_floating_point() else tensor


def with_work(call: Call, change: Callable[[nn.Module], nn.Module]) -> Call:
    """Return a call of a changed copy, where a module is called."""
    work = call.func
    return partial(change(copy.deepcopy(work)) if isinstance(work, nn.Module) else work, *call.args, **call.keywords)


def gradients(call: Call, draw: Inputs) -> Any:
    """Return the gradients of floating-point inputs, and of a module's parameters."""
    own = with_work(call, lambda module: module.requires_grad_())
    trained = varied(own, draw, lambda x: x.clone().requires_grad_() if x.is_floating_point() else x)
    leaves = [leaf.value for leaf in Returned(trained()).leaves()]
    outputs = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
    torch.autograd.backward([(x * waves_like(x)).sum() for x in outputs])
    inputs = [x.grad for x in tensors_of(trained) if x.is_floating_point()]
    parameters = trained.func.parameters() if isinstance(trained.func, nn.Module) else ()
    return inputs, [p.grad for p in sorted(parameters, key=what_it_holds)]


def what_it_holds(parameter: Tensor) -> tuple[tuple[int, ...], float]:
    """Return what orders parameters whatever they are called: a right module may have a layer under two names."""
    return tuple(parameter.shape), float(parameter.detach().sum())


def waves_like(tensor: Tensor) -> Tensor:
    """Return numbers of a tensor's shape that weigh each of its entries differently."""
    return torch.arange(1, tensor.numel() + 1).sin().view(tensor.shape).to(tensor)


def twice(call: Call, draw: Inputs) -> Any:
    """Return what two equal calls give, and another one between them."""
    return call(), made(call, draw, lambda x: x.flip(0) if x.dim() else x), call()


def in_dtype(call: Call, draw: Inputs, dtype: torch.dtype) -> Any:
    """Make a call with every floating-point input, and a module's parameters, in one dtype."""
    own = with_work(call, lambda module: module.to(dtype))
    return made(own, draw, lambda x: x.to(dtype, copy=True) if x.is_floating_point() else x)


def as_view(tensor: Tensor) -> Tensor:
    """Return the same entries in another order in memory, with others between them."""
    turned = tensor.mT if tensor.dim() > 1 else tensor
    apart = torch.stack([turned, turned], dim=-1)[..., 0]
    return apart.mT if tensor.dim() > 1 else apart


def with_an_axis_in_front(tensor: Tensor) -> Tensor:
    """Stack two different ones of a floating-point tensor."""
    return torch.stack([tensor, tensor.flip(0)]) if tensor.is_floating_point() else tensor


def with_size(size: int, new: int, tensor: Tensor) -> Tensor:
    """Cut, or repeat, all axes of one size to another one."""
    for axis in (axis for axis, own in enumerate(tensor.shape) if own == size):
        tensor = tensor.index_select(axis, torch.arange(new) % size)
    return tensor.clone()
