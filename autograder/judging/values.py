"""What comes out of a student's work: a tree of tensors, arrays and plain numbers, flattened into named leaves."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor

Plain = bool | int | float | str | None
MOST_SHAPES = 4
LONGEST_ERROR = 500


@dataclass(frozen=True)
class Other:
    """Stands for an object that is neither a tensor nor plain data. Only its type's name is known."""

    kind: str


@dataclass(frozen=True)
class Leaf:
    """One value of a tree and where it is: `""` for the whole, `"[0]"`, `"['weights']"`.

    Args:
        path: where it is.
        value: the value, of a NumPy array its numbers as a tensor.
        array: it is a NumPy array.
    """

    path: str
    value: Tensor | Plain | Other
    array: bool = False


@dataclass(frozen=True, eq=False)
class Returned:
    """A check function came back with values. It equals itself alone: `compare.equal` compares values.

    Args:
        tree: the values.
        changed: an input was changed in place on the way.
        settings: which settings of the whole program were left changed, by name.
        ran: which of PyTorch's functions the student's code ran, where somebody asked.
    """

    tree: Any
    changed: bool = False
    settings: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()

    def leaves(self) -> tuple[Leaf, ...]:
        """Return the values with their paths, in order."""
        return tuple(flatten(self.tree))


@dataclass(frozen=True)
class Raised:
    """A check function, or the student's work in it, raised an exception.

    Args:
        kind: the exception's class.
        text: what it says.
        where: the line of a notebook cell that it came from, as far as that is known.
        shapes: which tensors met on that line.
    """

    kind: str
    text: str
    where: str = ""
    shapes: str = ""


@dataclass(frozen=True)
class Lost:
    """No usable value came back; the reason is a sentence for the student.

    Args:
        reason: that sentence.
        overtime: it took longer than it may.
    """

    reason: str
    overtime: bool = field(default=False, compare=False)


Outcome = Returned | Raised | Lost


def flatten(tree: Any, path: str = "") -> list[Leaf]:
    """List the leaves of nested tuples, lists and dicts. A tuple and a list of equal content are the same."""
    if isinstance(tree, list | tuple | dict):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        inner = [leaf for key, item in items for leaf in flatten(item, f"{path}[{key!r}]")]
        return inner or [Leaf(path, Other("empty " + ("dict" if isinstance(tree, dict) else "tuple or list")))]
    if isinstance(tree, np.ndarray):
        numbers = numbers_of(tree)
        return [Leaf(path, numbers, not isinstance(numbers, Other))]
    if isinstance(tree, Tensor):
        return [Leaf(path, tree if has_numbers(tree) else Other(kind_of_tensor(tree)))]
    if isinstance(tree, bool | int | float | str | Other) or tree is None:
        return [Leaf(path, tree)]
    return [Leaf(path, Other(type(tree).__name__))]


def numbers_of(array: np.ndarray[Any, Any]) -> Tensor | Other:
    """Return an array's numbers as a tensor with memory of its own, or the name of a kind that tensors have not."""
    try:
        return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), copy=True, order="C", subok=False))
    except (TypeError, ValueError, MemoryError):  # a view of one number may claim to be larger than the memory
        return Other(f"array of {array.dtype}")


def identical(a: Tensor, b: Tensor) -> bool:
    """Say whether two tensors hold the same entries, NaN in the same places included."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())


def has_numbers(tensor: Tensor) -> bool:
    """Say whether a tensor has numbers of its own, one for each entry."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.layout == torch.strided and not tensor.is_meta and not tensor.is_quantized


def entries_of(tensor: Tensor) -> int:
    """Count a tensor's entries, whatever a subclass says."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.numel()


def kind_of_tensor(tensor: Tensor) -> str:
    """Name a tensor that has no numbers of its own."""
    return "tensor on the device meta" if tensor.is_meta else "sparse tensor"


def plain(tensor: Tensor) -> Tensor:
    """Return a detached base-class copy on the CPU, whatever subclass, device or layout it came in."""
    with torch._C.DisableTorchFunctionSubclass():
        copy = tensor.detach().to("cpu").resolve_conj().resolve_neg().contiguous().clone()
        return copy.as_subclass(Tensor)


STILL_OPEN = "{name} is still open"


def capture_outcome(function: Callable[[], Any], name: str = "") -> Outcome:
    """Call a function and say what came of it. Whatever it raises becomes a value too.

    Args:
        function: what to call.
        name: the exercise that it checks; where the stub of another one is reached, the error's text says so.
    """
    try:
        return Returned(function())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        where, shapes = last_line(error)
        other = open_elsewhere(error, name) if name else ""
        text = STILL_OPEN.format(name=other) if other else text_of_error(error)
        return Raised(type(error).__name__, text, where, shapes)


def open_elsewhere(error: BaseException, name: str) -> str:
    """Return which other function or class of the notebook an error's last line is in, where that is a stub's.

    Args:
        error: what was raised.
        name: the exercise's.
    """
    inside, trace = "", error.__traceback__ if type(error) is NotImplementedError and not error.args else None
    while trace is not None:
        code = trace.tb_frame.f_code
        inside = code.co_qualname.partition(".")[0] if is_of_a_cell(code.co_filename) else inside
        trace = trace.tb_next
    return inside if inside.isidentifier() and inside != name else ""


def is_of_a_cell(file: str) -> bool:
    """Say whether a file's name is that of a notebook's cell."""
    return "ipykernel" in file or "<ipython" in file


def text_of_error(error: BaseException) -> str:
    """Return what an error says, in so many characters; nothing where it cannot say it."""
    try:
        return str.__getitem__(str(error), slice(LONGEST_ERROR))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return ""


def last_line(error: BaseException) -> tuple[str, str]:
    """Return the notebook cell's line nearest to an error, and the shapes that met on it; '' where there is none."""
    found: tuple[str, str] = ("", "")
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        file = frame.f_code.co_filename
        if is_of_a_cell(file):
            line = linecache.getline(file, trace.tb_lineno).strip()
            found = line, shapes_on(line, frame)
        trace = trace.tb_next
    return found


def shapes_on(line: str, frame: FrameType) -> str:
    """Describe the tensors that a line names, and what is None there: `q is (3, 4), mask is None`."""
    names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", line))
    found = [(name, frame.f_locals[name]) for name in names if name in frame.f_locals]
    with torch._C.DisableTorchFunctionSubclass():
        words = [f"{n} is {described(v, frame.f_locals)}" for n, v in found if is_shown(v)]
    return ", ".join(words[:MOST_SHAPES])


def described(value: Tensor | np.ndarray[Any, Any] | list[Any] | None, names: Mapping[str, Any]) -> str:
    """Return a tensor's shape, and of which other tensor it is a slice along the first axis, as a loop takes it."""
    if isinstance(value, list):
        return "an empty list"
    if not isinstance(value, Tensor) or not has_numbers(value):
        return str(value if value is None else tuple(value.shape))
    place, wholes = value.untyped_storage().data_ptr(), (n for n, v in names.items() if is_slice(value, v))
    whole = next((n for n in wholes if place == names[n].untyped_storage().data_ptr() != 0), "")
    return f"{tuple(value.shape)}, a slice of {whole} {tuple(names[whole].shape)}" if whole else str(tuple(value.shape))


def is_slice(value: Tensor, whole: Any) -> bool:
    """Say whether a tensor has the shape of another one's slices along the first axis."""
    return isinstance(whole, Tensor) and has_numbers(whole) and whole.ndim > 1 and whole.shape[1:] == value.shape


def is_shown(value: Any) -> bool:
    """Say whether a value on a line that stopped is worth naming."""
    return value is None or isinstance(value, Tensor | np.ndarray) or (type(value) is list and not value)
