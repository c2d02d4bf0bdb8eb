"""What comes out of a student's work: a tree of tensors and plain numbers, flattened into named leaves."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Plain = bool | int | float | str | None


@dataclass(frozen=True)
class Other:
    """Stands for an object that is neither a tensor nor plain data. Only its type's name is known."""

    kind: str


@dataclass(frozen=True)
class Leaf:
    """One value of a tree and where it is: `""` for the whole, `"[0]"`, `"['weights']"`."""

    path: str
    value: Tensor | Plain | Other


@dataclass(frozen=True)
class Returned:
    """A check function came back with values.

    Args:
        tree: the values.
        changed: an input was changed in place on the way.
    """

    tree: Any
    changed: bool = False

    def leaves(self) -> tuple[Leaf, ...]:
        """Return the values with their paths, in order."""
        return tuple(flatten(self.tree))


@dataclass(frozen=True)
class Raised:
    """A check function, or the student's work in it, raised an exception."""

    kind: str
    text: str
    where: str = ""


@dataclass(frozen=True)
class Lost:
    """No usable value came back; the reason is a sentence for the student."""

    reason: str


Outcome = Returned | Raised | Lost


def flatten(tree: Any, path: str = "") -> list[Leaf]:
    """List the leaves of nested tuples, lists and dicts. A tuple and a list of equal content are the same."""
    if isinstance(tree, list | tuple):
        inner = [leaf for i, item in enumerate(tree) for leaf in flatten(item, f"{path}[{i}]")]
        return inner or [Leaf(path, Other("empty " + type(tree).__name__))]
    if isinstance(tree, dict):
        return [leaf for key, item in tree.items() for leaf in flatten(item, f"{path}[{key!r}]")]
    if isinstance(tree, Tensor | bool | int | float | str | Other) or tree is None:
        return [Leaf(path, tree)]
    return [Leaf(path, Other(type(tree).__name__))]


def plain(tensor: Tensor) -> Tensor:
    """Return a detached base-class copy on the CPU, whatever subclass, device or layout it came in."""
    with torch._C.DisableTorchFunctionSubclass():
        copy = tensor.detach().to("cpu").resolve_conj().resolve_neg().contiguous().clone()
        return copy.as_subclass(Tensor)


def capture_outcome(function: Callable[[], Any]) -> Outcome:
    """Call a function and say what came of it. Whatever it raises becomes a value too."""
    try:
        return Returned(function())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Raised(type(error).__name__, str(error)[:500], last_line(error))


def last_line(error: BaseException) -> str:
    """Return the source line nearest to the error that a notebook cell holds, or ''."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if "ipykernel" in f.filename or "<ipython" in f.filename
    ]
    return (frames[-1].line or "") if frames else ""
