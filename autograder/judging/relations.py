"""How a wrong result is related to the right one: derived answers that nobody has to write down.

Some relations can be undone, such as a transpose: then the student's own tensor is turned back and compared with the
fingerprint of the right one. For the others `facts_of` keeps, beside that fingerprint, what the first sentence alone,
a sum, or a shift would look like. Both work in a student's workspace, where the right values are not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from .fingerprint import SMALLEST_SIZE, Fingerprint, distance, same_leaf, tensor_fingerprint, tolerance_of, vectors
from .sentences import RELATIONS
from .values import Returned, plain

Facts = dict[str, Any]
MOST_AXES = 4
SCRAMBLED = 6  # entries from which on an order is no coincidence
FAR = 80.0  # exp of it overflows in float32, and of minus it is nearly 0
NEARLY = 5e-3  # of the value's size: right to two or three digits
VAGUE = ("first only", "last only", "rearranged")  # another result of the same call may tell more


@dataclass(frozen=True)
class Relation:
    """What a wrong tensor is, seen from the right one.

    Args:
        name: a word for it.
        message: a sentence for the student, without a number of the inputs or the result.
        rearranges: the numbers are the right ones; where two such relations fit, only that much is certain.
        unseen: what to say instead about inputs that the student has not seen, where the message names their sizes.
        path: where the tensor is among several results.
    """

    name: str
    message: str
    rearranges: bool = False
    unseen: str = ""
    path: str = ""


def relation(name: str, words: str = "", *, rearranges: bool = False, unseen: str = "", **gaps: object) -> Relation:
    """Return a relation with its sentence from the catalog, by its own name or by another id.

    Args:
        name: its name.
        words: the sentence's id, where it is another.
        rearranges: the numbers are the right ones.
        unseen: the id of the sentence for inputs that the student has not seen.
        gaps: what fills the gaps.
    """
    message = RELATIONS[words or name].format(**gaps)
    return Relation(name, message, rearranges, RELATIONS[unseen] if unseen else "")


@dataclass(frozen=True)
class Known:
    """What is known about the right tensor, and what went in.

    Args:
        print: its fingerprint.
        facts: what its parts look like.
        inputs: the tensors that the check drew.
        tolerance: the check's own, if it has one.
    """

    print: Fingerprint
    facts: Facts = field(default_factory=dict)
    inputs: Sequence[Tensor] = ()
    tolerance: float | None = None

    def is_right(self, tensor: Tensor) -> bool:
        """Say whether a tensor has the right numbers, whatever its dtype, and whether or not it was an array."""
        if list(tensor.shape) != self.print["shape"]:
            return False
        kind = {"dtype": self.print["dtype"], "array": self.print.get("array")}
        return same_leaf(tensor_fingerprint(tensor) | kind, self.print, self.tolerance)

    def is_part(self, tensor: Tensor, part: Sequence[float]) -> bool:
        """Say whether a tensor has the numbers of a part that `facts_of` kept."""
        mine, size = outline(tensor), max(part[0], SMALLEST_SIZE)
        return distance(mine[1:], part[1:]) <= tolerance_of(self.print, self.tolerance) * size + 1e-5


def outline(tensor: Tensor) -> list[float]:
    """Return a part's norm and inner products."""
    numbers = torch.nan_to_num(plain(tensor).to(torch.float64).flatten(), 0.0, 0.0, 0.0)
    return [round(n, 6) + 0.0 for n in (float(numbers.norm()), *(vectors(numbers.numel()) @ numbers).tolist())]


def facts_of(right: Returned) -> dict[str, Facts]:
    """Return, by path, what is worth knowing about the tensors of a right answer."""
    leaves = [(leaf.path, leaf.value) for leaf in right.leaves() if isinstance(leaf.value, Tensor)]
    return {path: tensor_facts(plain(value)) for path, value in leaves if value.numel() > 1 and value.ndim <= MOST_AXES}


def tensor_facts(right: Tensor) -> Facts:
    """Return what the parts of one right tensor look like."""
    numbers = right.to(torch.float64)
    wide = [axis for axis in range(right.ndim) if right.size(axis) > 1]
    facts: Facts = {
        "first": {str(axis): outline(right.select(axis, 0)) for axis in wide},
        "last": {str(axis): outline(right.select(axis, -1)) for axis in wide},
        "cubes": round(float(numbers.pow(3).nan_to_num(0.0, 0.0, 0.0).sum()), 6),
    }
    if right.dtype == torch.bool:
        facts["later"], facts["earlier"] = outline(shifted(right, 1)), outline(shifted(right, -1))
        return facts
    facts["sums"] = {str(axis): outline(numbers.sum(axis)) for axis in wide}
    facts["total"] = outline(numbers.sum())
    if right.ndim >= 2 and right.size(-1) == right.size(-2) > 1:
        facts["diagonal"] = outline(right.diagonal(dim1=-2, dim2=-1))
    facts["weights"] = [axis for axis in wide if shares_along(numbers, axis)]
    facts["zeros"] = int((numbers == 0).sum())
    empty = (right == 0).all(dim=-1) if right.ndim else torch.tensor(False)
    if right.ndim >= 2 and bool(empty.any()) and not bool(empty.all()):
        facts["empty"] = empty.flatten().nonzero().flatten().tolist()
    return facts


def shares_along(numbers: Tensor, axis: int) -> bool:
    """Say whether entries are weights along an axis: none negative, each sum 1, or 0 where nothing is allowed."""
    totals = numbers.sum(dim=axis)
    one_or_none = ((totals - 1).abs() < 1e-3) | (totals == 0)
    return bool((numbers > -1e-6).all()) and bool(one_or_none.all()) and bool(totals.any())


def shifted(mask: Tensor, steps: int) -> Tensor:
    """Move each row of a mask by one, so that it allows one more (steps = 1) or one fewer (-1)."""
    moved = mask.roll(steps, dims=-1)
    moved[..., 0 if steps > 0 else -1] = steps > 0
    return moved


def relation_of(mine: Tensor, known: Known) -> Relation | None:
    """Return how a wrong tensor is related to the right one, or None.

    Where several rearrangements lead from one to the other, the message says no more than that.
    """
    if mine.numel() == 0 or mine.ndim > MOST_AXES + 1 or mine.is_complex():
        return None
    mine = plain(mine)
    for search in (same_numbers, not_numbers, rearranged, cut_anew, recalculated, parts_only, properties):
        found = list(search(mine, known))
        if len(found) > 1 and all(one.rearranges for one in found):
            return relation("rearranged")
        if found:
            return found[0]
    return None


def same_numbers(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the right numbers in another dtype or shape, with NaN in between, or with garbage in empty rows."""
    shape = known.print["shape"]
    if known.is_right(mine):
        yield relation("dtype", mine=short(mine), right=known.print["dtype"])
    elif mine.numel() == math.prod(shape) and list(mine.shape) != shape and known.is_right(mine.reshape(shape)):
        ones = [n for n in mine.shape if n != 1] == [n for n in shape if n != 1]
        yield relation("shape", "ones" if ones else "shape")
    elif mine.ndim == len(shape) and known.is_right(narrow := mine[tuple(slice(n if n == 1 else None) for n in shape)]):
        if bool((narrow == mine).all()):
            axis = next(axis for axis, size in enumerate(shape) if size != mine.size(axis))
            yield relation("expanded", axis=axis)
    elif bool(mine.isnan().any()) and known.is_right(mine.nan_to_num(0.0)):
        yield relation("nan")
    elif list(mine.shape) == shape and known.facts.get("empty"):
        rows = mine.clone().flatten(0, -2)
        rows[known.facts["empty"]] = 0
        if known.is_right(rows.reshape(shape)):
            yield relation("empty rows")


def not_numbers(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the rows of an input that became NaN: those too large for exp, or those too small."""
    if not mine.is_floating_point() or not bool(mine.isnan().any()) or known.print.get("nan"):
        return
    for given in known.inputs:
        rows = given.shape[:-1] == mine.shape[:-1] and (given.shape == mine.shape or mine.ndim == 1)
        if rows and given.is_floating_point() and given.numel():
            largest = given.detach().double().amax(dim=-1)[mine.isnan().any(dim=-1)]
            if bool((largest > FAR).all()):
                yield relation("overflow")
            elif bool((largest < -FAR).all()):
                yield relation("underflow")
    yield relation("not a number")


def short(tensor: Tensor) -> str:
    """Return a dtype's name without its package."""
    return str(tensor.dtype).removeprefix("torch.")


def rearranged(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the right numbers in other places."""
    if known.print.get("norm", 0) <= SMALLEST_SIZE or max(known.print["shape"], default=0) < 2:
        return
    axes = list(range(mine.ndim))
    for order in permutations(axes):
        if list(order) != axes and known.is_right(mine.permute(order)):
            pair = [i for i in axes if order[i] != i]
            table = pair == axes[-2:]
            yield relation("transposed", "transposed" if table else "permuted", rearranges=True)
    for axis in axes:
        if mine.size(axis) > 1 and known.is_right(mine.flip(axis)):
            yield relation("reversed", rearranges=True, axis=axis)
        for steps in (1, -1):
            if mine.size(axis) > 2 and known.is_right(mine.roll(steps, axis)):
                yield relation("rolled", rearranges=True, axis=axis)


def cut_anew(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for the right numbers whose axes were in another order when a reshape made the shape."""
    shape = list(mine.shape)
    if shape != known.print["shape"] or known.print.get("norm", 0) <= SMALLEST_SIZE or mine.numel() < SCRAMBLED:
        return
    splits = [shape] if mine.dtype == torch.bool else [shape, *split_once(shape)]  # two values coincide too easily
    for sizes in (sizes for sizes in splits if len(sizes) <= MOST_AXES):
        for order in permutations(range(len(sizes))):
            before = [sizes[i] for i in order]
            back = [order.index(i) for i in range(len(sizes))]
            moved = [n for n in before if n > 1] != [sizes[i] for i in sorted(order) if sizes[i] > 1]
            if moved and known.is_right(mine.reshape(before).permute(back).reshape(shape)):
                axes, wanted = (tuple(n for n in split if n > 1) for split in (before, sizes))
                yield relation("cut anew", unseen="cut anew unseen", before=axes, right=wanted)
                return


def split_once(shape: Sequence[int]) -> Iterator[list[int]]:
    """Yield the shapes in which one axis is two."""
    for axis, size in enumerate(shape):
        for part in range(2, size // 2 + 1):
            if size % part == 0:
                yield [*shape[:axis], part, size // part, *shape[axis + 1 :]]


def recalculated(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for results from which one more step, or one step fewer, leads to the right one."""
    if mine.dtype == torch.bool or known.print["dtype"] == "bool":
        mixed = mine.dtype == torch.bool and bool(mine.any()) and not bool(mine.all())  # all False is not inverted
        if mixed and known.is_right(~mine):
            yield relation("complement")
        return
    numbers = mine.to(torch.float64)
    if known.print.get("norm", 0) > SMALLEST_SIZE:
        yield from (relation(name, words) for name, words, undo in UNDONE if known.is_right(undo(numbers)))
    yield from weights_of_other_scores(numbers, known)
    yield from by_a_constant(numbers, known)
    for axis in range(mine.ndim):
        for name, total in (("added up", numbers.sum(axis)), ("averaged", numbers.mean(axis))):
            if mine.size(axis) > 1 and known.is_right(total):
                yield relation("not summed", done=name, axis=axis)


def weights_of_other_scores(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for weights of the right scores that were not shared out, went through softmax twice, or were scaled."""
    axes = known.facts.get("weights", ())
    if list(mine.shape) != known.print["shape"] or mine.ndim - 1 not in axes or not bool((mine >= 0).all()):
        return
    one_unit = mine.ndim > 1 and bool(((mine.sum(dim=(-2, -1)) - 1).abs() < 1e-3).all())
    scores = mine.log()  # minus infinity where nothing may be seen
    shares = scores - scores.mean(dim=-1, keepdim=True) + 1 / mine.size(-1)
    if not one_unit and known.is_right((mine / mine.sum(dim=-1, keepdim=True)).nan_to_num(0.0)):
        yield relation("not shared out")
    elif bool(scores.isfinite().all()) and known.is_right(shares):
        yield relation("softmax twice")
    else:
        yield from scaled_by_a_size(scores, known)


def scaled_by_a_size(scores: Tensor, known: Known) -> Iterator[Relation]:
    """Look for scores that were scaled by a size of the inputs, or by the root of a wrong one."""

    def fits(factor: float) -> bool:
        return known.is_right((scores / factor).softmax(dim=-1).nan_to_num(0.0))

    sizes = sizes_of(known)
    for size, factor, name in factors_of(sizes):
        if fits(factor):
            yield relation("scale", unseen="scale unseen", factor=name, size=size)
            return
    for a, b in permutations(sizes, 2):
        if fits(math.sqrt(a / b)):
            yield relation("other size", unseen="other size unseen", a=a, b=b)
            return


UNDONE: tuple[tuple[str, str, Callable[[Tensor], Tensor]], ...] = (
    ("negative", "negative", torch.neg),
    ("complement", "one minus", lambda t: 1 - t),
    ("logarithm", "logarithm", torch.exp),
    ("scores", "scores", lambda t: t.softmax(-1) if t.ndim else t),
    ("root", "root", torch.square),
    ("square", "square", torch.sqrt),
    ("inverse", "inverse", torch.reciprocal),
)


def by_a_constant(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for one factor, or one difference, between all entries and the right ones."""
    if list(mine.shape) != known.print["shape"] or not bool(mine.isfinite().all()) or mine.numel() < 3:
        return
    right = torch.tensor(known.print["products"], dtype=torch.float64)
    here = vectors(mine.numel()) @ mine.flatten()
    if float(right.norm()) > SMALLEST_SIZE and known.print["norm"] > SMALLEST_SIZE:
        factor = float(here @ right / (right @ right))
        if (
            1e-4 < abs(factor) < 1e4
            and abs(factor - 1) > 1e-2
            and abs(factor + 1) > 1e-2
            and known.is_right(mine / factor)
        ):
            yield factor_of(factor, sizes_of(known))
    ones = vectors(mine.numel()).sum(dim=1)
    difference = float((here - right) @ ones / (ones @ ones))
    if abs(difference) > 1e-2 and known.is_right(mine - difference):
        yield relation("difference")


LOGARITHMS = {math.e: "natural", 2: "base-2", 10: "base-10"}


def sizes_of(known: Known) -> list[int]:
    """Return the sizes of the axes that went in and should come out, each once."""
    shapes = [known.print["shape"], *(list(tensor.shape) for tensor in known.inputs)]
    return sorted({size for shape in shapes for size in shape if size > 1}, reverse=True)


def factors_of(sizes: Sequence[int]) -> Iterator[tuple[int, float, str]]:
    """Yield each size with itself, its inverse, its root and the root's inverse, as numbers and in words."""
    for size in sizes:
        yield from (
            (size, float(size), f"{size}"),
            (size, 1 / size, f"1/{size}"),
            (size, size**0.5, f"√{size}"),
            (size, size**-0.5, f"1/√{size}"),
        )


def factor_of(factor: float, sizes: Sequence[int]) -> Relation:
    """Name a factor by the size that it is, its root or its inverse, or by two logarithms."""
    sign = "minus " if factor < 0 else ""
    for size, value, name in factors_of(sizes):
        if abs(abs(factor) / value - 1) < 1e-3:
            return relation("factor", "factor of a size", unseen="factor unseen", sign=sign, factor=name, size=size)
    for base, name in LOGARITHMS.items():
        for other, wanted in LOGARITHMS.items():
            if base != other and abs(abs(factor) * math.log(base) / math.log(other) - 1) < 1e-3:
                return relation("factor", "base", unseen="factor unseen", mine=name, right=wanted)
    return relation("factor", unseen="factor unseen", sign=sign, factor=f"{abs(factor):.4g}")


def parts_only(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for results that are right in one part only, or that are one part of the right one."""
    if not bool(mine.isfinite().all()):
        return
    if mine.dtype == torch.bool:
        yield from all_alike(mine, known)
    yield from unfilled(mine, known)
    for place in ("first", "last"):
        for axis, part in known.facts.get(place, {}).items():
            if part[0] > SMALLEST_SIZE:
                yield from one_part(mine, known, int(axis), place)
    if mine.dtype == torch.bool:
        yield from shifted_by_one(mine, known)
    else:
        yield from summed_up(mine, known)
    diagonal = known.facts.get("diagonal")
    if diagonal and list(mine.shape) == known.print["shape"][:-1] and known.is_part(mine, diagonal):
        yield relation("diagonal")


def one_part(mine: Tensor, known: Known, axis: int, place: str) -> Iterator[Relation]:
    """Look for the first or the last part along an axis."""
    shape, part = known.print["shape"], known.facts[place][str(axis)]
    rest, what = shape[:axis] + shape[axis + 1 :], part_name(axis, len(shape))
    if math.prod(rest) < 2:
        return
    if list(mine.shape) == rest and known.is_part(mine, part):
        yield relation(f"{place} alone", "first alone", place=place, part=what)
    elif list(mine.shape) != shape:
        return
    elif all(known.is_part(mine.select(axis, n), part) for n in range(shape[axis])):
        yield relation("repeated", place=place, part=what)
    elif is_telling(at_end(mine, axis, place)) and known.is_part(at_end(mine, axis, place), part):
        yield relation(f"{place} only", "first only", place=place, part=what)


def is_telling(part: Tensor) -> bool:
    """Say whether a part holds enough to be recognized by: two numbers other than 0 and 1."""
    return part.dtype != torch.bool and int(((part != 0) & (part != 1)).sum()) > 1


def summed_up(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for a result that lost an axis in a sum or a mean."""
    shape = known.print["shape"]
    if mine.ndim == 0 and "total" in known.facts and known.facts["total"][0] > SMALLEST_SIZE:
        for words, number in (("added up", mine), ("averaged", mine.double() * math.prod(shape))):
            if known.is_part(number, known.facts["total"]):
                yield relation("one number", done=words)
    for axis, part in known.facts.get("sums", {}).items():
        i = int(axis)
        rest = shape[:i] + shape[i + 1 :]
        if list(mine.shape) != rest or math.prod(rest) < 2:
            continue
        for words, numbers in (("added up", mine), ("averaged", mine.double() * shape[i])):
            if known.is_part(numbers, part):
                yield relation("summed", done=words, axis=axis)


def shifted_by_one(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for a mask whose edge is off by one."""
    for step, amount in (("later", "many"), ("earlier", "few")):
        if list(mine.shape) == known.print["shape"] and step in known.facts and known.is_part(mine, known.facts[step]):
            yield relation("shifted", amount=amount)


def all_alike(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for a mask that hides everything, or nothing."""
    if list(mine.shape) == known.print["shape"] and mine.ndim > 1 and known.print["dtype"] == "bool":
        if not bool(mine.any()):
            yield relation("all false")
        elif bool(mine.all()):
            yield relation("all true")


def unfilled(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for a result whose beginning is right along an axis, and whose end was never written to."""
    if known.facts.get("weights"):
        return  # a row of weights that is 0 has another cause
    for axis, part in known.facts.get("first", {}).items():
        i = int(axis)
        if list(mine.shape) != known.print["shape"] or "sums" not in known.facts or part[0] < SMALLEST_SIZE:
            continue
        ends_in_zeros = not bool(mine.select(i, -1).any()) and known.facts["last"][axis][0] > SMALLEST_SIZE
        if ends_in_zeros and known.is_part(mine.select(i, 0), part):
            yield relation("unfilled", part=part_name(i, mine.ndim))


def at_end(tensor: Tensor, axis: int, place: str) -> Tensor:
    """Return the first or the last slice along an axis."""
    return tensor.select(axis, 0 if place == "first" else -1)


def part_name(axis: int, axes: int) -> str:
    """Name a part along an axis as a reader of the lessons would."""
    names = {
        1: ["entry"],
        2: ["row", "column"],
        3: ["sentence", "row", "column"],
        4: ["sentence", "head", "row", "column"],
    }
    return names.get(axes, [])[axis] if axes in names else f"slice along axis {axis}"


def properties(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look at what can be said without the right numbers: inputs, sums of rows, equal rows, zeros."""
    yield from from_an_input(mine, known)
    if list(mine.shape) != known.print["shape"] or not mine.is_floating_point() or not bool(mine.isfinite().all()):
        return
    away = distance(tensor_fingerprint(mine)["products"], known.print["products"])
    if away <= NEARLY * max(known.print["norm"], SMALLEST_SIZE):
        yield relation("nearly")
    if not bool(mine.any()) and known.print["norm"] > SMALLEST_SIZE:
        yield relation("zeros", "no weights" if known.facts.get("weights") else "zeros")
    if "weights" in known.facts:
        yield from what_sums_to_one(mine.double(), known.facts)
    if mine.ndim > 1 and mine.size(-2) > 1 and bool((mine - mine[..., :1, :]).abs().max() < 1e-6):
        yield relation("equal rows")
    if known.facts and moved_about(mine.double(), known):
        yield relation("rearranged")


def from_an_input(mine: Tensor, known: Known) -> Iterator[Relation]:
    """Look for an input that came back, or for one term of a sum over an input's rows."""
    numbers = mine.double()
    for given in (tensor.double() for tensor in known.inputs):
        if mine.numel() < 2 or given.ndim == 0:
            continue
        if given.shape == mine.shape and bool(torch.isclose(given, numbers).all()):
            yield relation("input")
        elif given.ndim > 1 and list(given.shape[1:]) == list(mine.shape) == known.print["shape"]:
            for place, row in (("first", given[0]), ("last", given[-1])):
                if bool(torch.isclose(row, numbers).all()):
                    yield relation("one row", place=place)
                elif proportional(numbers, row):
                    yield relation("one term", place=place)


def proportional(mine: Tensor, row: Tensor) -> bool:
    """Say whether one vector is a multiple of another."""
    size = float(mine.norm() * row.norm())
    return size > SMALLEST_SIZE and abs(abs(float((mine * row).sum())) / size - 1) < 1e-9


def what_sums_to_one(mine: Tensor, facts: Facts) -> Iterator[Relation]:
    """Compare the axes along which a result consists of weights with those along which it should."""
    axes = [axis for axis in range(mine.ndim) if mine.size(axis) > 1]
    right, here = facts["weights"], [axis for axis in axes if shares_along(mine, axis)]
    if here and not right:
        yield relation("weights")
    elif here and not set(here) & set(right):
        yield relation("wrong axis", "columns" if here == [mine.ndim - 2] else "wrong axis")
    elif right and not here and mine.ndim > 1 and bool(((mine.sum(dim=(-2, -1)) - 1).abs() < 1e-3).all()):
        yield relation("whole table")
    elif right:
        yield from weights_astray(mine, facts)


def weights_astray(mine: Tensor, facts: Facts) -> Iterator[Relation]:
    """Say what is wrong with weights that are shares of nothing, or that no mask has touched."""
    if bool((mine < -1e-6).any()):
        yield relation("negative weights")
    elif not any(shares_along(mine, axis) for axis in range(mine.ndim)):
        yield relation("no shares")
    elif facts["zeros"] and not bool((mine == 0).any()):
        yield relation("nothing hidden")
    elif mine.ndim > 1 and mine.size(-2) > 1 and not facts["zeros"] and hides_later(mine):
        yield relation("causal")


def hides_later(mine: Tensor) -> bool:
    """Say whether exactly what a causal mask hides is 0."""
    later = torch.ones(mine.shape[-2:], dtype=torch.bool).triu(1)
    return bool(later.any()) and bool(((mine == 0) == later).all())


def moved_about(mine: Tensor, known: Known) -> bool:
    """Say whether a tensor seems to hold the right numbers in other places: norm, sum of cubes."""
    norm, cubes = known.print["norm"], known.facts["cubes"]
    size = float(mine.abs().pow(3).sum())
    close = (
        abs(float(mine.norm()) - norm) <= 1e-6 * norm and abs(float(mine.pow(3).sum()) - cubes) <= 1e-5 + 1e-6 * size
    )
    return norm > SMALLEST_SIZE and mine.numel() > 3 and close
