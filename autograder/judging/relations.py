"""How a wrong result is related to the right one: derived answers that nobody has to write down.

A student's own tensor is turned back and compared with the fingerprint of the right one, so this works in a student's
workspace, where the right values are not known. What a result shows without that is an observation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

from .fingerprint import SMALLEST_SIZE, Fingerprint, distance, same_leaf, tensor_fingerprint, vectors
from .sentences import RELATIONS
from .values import plain

MOST_AXES = 4
NEARLY = 5e-3  # of the value's size: right to two or three digits
UNDONE: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("negative", torch.neg),
    ("scores", lambda t: t.softmax(-1) if t.ndim else t),
)


@dataclass(frozen=True)
class Relation:
    """What a wrong tensor is, seen from the right one.

    Args:
        name: a word for it, the id of its sentence.
        message: a sentence for the student.
        unseen: what to say instead about inputs that the student has not seen, where the message names their sizes.
        path: where the tensor is among several results.
    """

    name: str
    message: str
    unseen: str = ""
    path: str = ""


def relation(name: str, *, unseen: str = "", **gaps: object) -> Relation:
    """Return a relation with its sentence from the catalog; `unseen` is the id of the one without numbers."""
    return Relation(name, RELATIONS[name].format(**gaps), RELATIONS[unseen] if unseen else "")


@dataclass(frozen=True)
class Known:
    """What is known about the right tensor.

    Args:
        print: its fingerprint.
        tolerance: the check's own, if it has one.
    """

    print: Fingerprint
    tolerance: float | None = None

    def is_right(self, tensor: Tensor) -> bool:
        """Say whether a tensor has the right numbers, whatever its dtype, and whether or not it was an array."""
        if list(tensor.shape) != self.print["shape"]:
            return False
        kind = {"dtype": self.print["dtype"], "array": self.print.get("array")}
        return same_leaf(tensor_fingerprint(tensor) | kind, self.print, self.tolerance)


def relation_of(mine: Tensor, known: Known) -> Relation | None:
    """Return how a wrong tensor is related to the right one, or None."""
    if mine.numel() == 0 or mine.ndim > MOST_AXES + 1 or mine.is_complex():
        return None
    return next(relations_of(plain(mine), known), None)


def relations_of(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Yield all relations, those that say most first."""
    yield from same_numbers(mine, known)
    if mine.is_floating_point() and bool(mine.isnan().any()):
        return
    if known.print.get("norm", 0) > SMALLEST_SIZE:
        for search in (moved, undone, by_one_factor, nearly, of_one_value):
            yield from search(mine, known)


def same_numbers(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the right numbers in another dtype or shape."""
    shape = known.print["shape"]
    if known.is_right(mine):
        yield relation("dtype", mine=str(mine.dtype).removeprefix("torch."), right=known.print["dtype"])
    elif mine.numel() == math.prod(shape) and list(mine.shape) != shape and known.is_right(mine.reshape(shape)):
        yield relation("shape")


def moved(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the right numbers in other places: axes in another order, now or when a reshape made the shape."""
    axes = list(range(mine.ndim))
    for order in permutations(axes):
        if list(order) != axes and known.is_right(mine.permute(order)):
            yield relation("transposed" if [i for i in axes if order[i] != i] == axes[-2:] else "permuted")
            return


def undone(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for results from which one more step leads to the right one."""
    if mine.dtype == torch.bool and known.print["dtype"] == "bool":
        yield from (relation("complement") for _ in range(is_mixed(mine) and known.is_right(~mine)))
    elif mine.dtype != torch.bool and known.print["dtype"] != "bool":
        yield from (relation(name) for name, undo in UNDONE if known.is_right(undo(mine.double())))


def is_mixed(mask: Tensor) -> bool:
    """Say whether a mask has both True and False, so that being inverted is more than one wrong yes or no."""
    return bool(mask.any()) and not bool(mask.all())


def by_one_factor(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for one factor between all entries and the right ones."""
    if list(mine.shape) != known.print["shape"] or mine.dtype == torch.bool or mine.numel() < 3:
        return
    right, numbers = torch.tensor(known.print["products"], dtype=torch.float64), mine.double()
    factor = float(vectors(mine.numel()) @ numbers.flatten() @ right / (right @ right).clamp(min=SMALLEST_SIZE**2))
    if not 1e-4 < abs(factor) < 1e4 or abs(abs(factor) - 1) < 1e-2 or not known.is_right(numbers / factor):
        return
    yield relation("factor", unseen="factor unseen", factor=f"{factor:.4g}")


def nearly(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look whether the numbers are right to two or three digits."""
    if mine.is_floating_point() and list(mine.shape) == known.print["shape"] and known.print["dtype"] != "bool":
        away = distance(tensor_fingerprint(mine)["products"], known.print["products"])
        if away <= NEARLY * known.print["norm"]:
            yield relation("nearly")


def of_one_value(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look whether all entries are the same."""
    mask, first = mine.dtype == torch.bool, mine.flatten()[0]
    if (
        list(mine.shape) == known.print["shape"]
        and mask == (known.print["dtype"] == "bool")
        and bool((mine == first).all())
    ):
        yield relation("one value", unseen="one value unseen", value=bool(first) if mask else f"{float(first):.4g}")
