"""Why two tensors do not fit together, read off the shapes that met on the line that stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations

from .sentences import SHAPES

Shape = tuple[int, ...]

MET = re.compile(r"(?:^|, )(\w+) is \(([\d, ]*)\)")
SLICE = re.compile(r"(\w+) is \(([\d, ]+)\), a slice of (\w+) \([\d, ]+\)")
PRODUCT = re.compile(r"(?<![\w.@)\]])(\w+)(\.m?T)? @ (\w+)(\.m?T)?(?![\w.\[(])")
ADDED_TO = re.compile(r"^(\w+) (?:[-+*]=|= \1 [-+*])")
ONE_ASKED = "Boolean value of Tensor with more than one value"
NOT_ALIKE = "must match the size of tensor"
NO_PRODUCT = re.compile(r"shapes cannot be multiplied|first two dimensions of batch2|size mismatch")


def misfit(said: str, line: str, shapes: str, *, hidden: bool = False) -> tuple[str, str] | None:
    """Return why the tensors on a line do not fit, by its id and in words; None where their shapes do not tell.

    Args:
        said: the error.
        line: where it stopped.
        shapes: the tensors of that line, as `values.shapes_on` describes them.
        hidden: leave out their names, which are the student's own and could carry inputs.
    """
    met = {name: sizes_in(sizes) for name, sizes in MET.findall(shapes)}
    if ONE_ASKED in said:
        slices = SLICE.findall(shapes)
        found = ("one slice asked", slices[0][0], slices[0][2]) if len(slices) == 1 else None
    elif NO_PRODUCT.search(said):
        found = next(in_a_product(line, shapes, met), None)
    else:
        found = next(entry_by_entry(line, met), None) if NOT_ALIKE in said else None
    if found is None:
        return None
    name, a, b = found
    words = SHAPES[name].format(a="one tensor" if hidden else f"`{a}`", b="the other" if hidden else f"`{b}`")
    return name, words[:1].upper() + words[1:]


def sizes_in(text: str) -> Shape:
    """Read a shape."""
    return tuple(int(size) for size in re.findall(r"\d+", text))


def in_a_product(line: str, shapes: str, met: Mapping[str, Shape]) -> Iterator[tuple[str, str, str]]:
    """Look for the reason why a matrix product of two names stopped."""
    slices = [(name, sizes_in(sizes), whole) for name, sizes, whole in SLICE.findall(shapes)]
    if len(slices) == 1:
        name, shape, whole = slices[0]
        if len(shape) > 1 and any(len(other) > max(2, len(shape)) for n, other in met.items() if n != whole):
            yield "one slice", name, whole
    for a, a_turned, b, b_turned in PRODUCT.findall(line):
        left, right = turned_by(a_turned, met.get(a, ())), turned_by(b_turned, met.get(b, ()))
        if len(left) > 1 and len(right) == 1:
            turned = left[-2] == right[0], False
        elif len(left) == 1 and len(right) > 1:
            turned = False, left[0] == right[-1]
        elif min(len(left), len(right)) > 1:
            turned = left[-2] == right[-2], left[-1] == right[-1]
        else:
            continue
        if left[-1] != right[max(-2, -len(right))] and turned != (True, True) and any(turned):
            yield "left transposed" if turned[0] else "right transposed", a + a_turned, b + b_turned


def turned_by(suffix: str, shape: Shape) -> Shape:
    """Return the shape of `x`, `x.mT` or `x.T`."""
    return shape[::-1] if suffix == ".T" else (*shape[:-2], *shape[-2:][::-1]) if suffix else shape


def entry_by_entry(line: str, met: Mapping[str, Shape]) -> Iterator[tuple[str, str, str]]:
    """Look for the reason why two tensors did not broadcast."""
    yield from (("empty", name, name) for name, shape in met.items() if 0 in shape)
    pairs = [(a, b) for a, b in permutations(met, 2) if not broadcast(met[a], met[b])]
    if sum(len(shape) == 1 for shape in met.values()) == 2:
        store = ADDED_TO.match(line)
        for a, b in pairs:
            if len(met[a]) == len(met[b]) == 1 and (store is None or store[1] == a):
                yield "made too early" if store else "two rows", a, b
    for a, b in pairs:
        yield from ((reason, a, b) for reason in one_axis_off(met[a], met[b]))


def one_axis_off(mine: Shape, other: Shape) -> Iterator[str]:
    """Look for an axis that one shape has lost, or has in another place."""
    for axis in range(len(other)):
        rest = other[:axis] + other[axis + 1 :]
        elsewhere = [(*rest[:n], 1, *rest[n:]) for n in range(len(other)) if n != axis]
        if axis > 0 and mine == rest:
            yield "axis lost"
        elif mine in elsewhere:
            yield "axis moved"
    if sorted(mine) == sorted(other) and sum(m != o for m, o in zip(mine, other, strict=True)) == 2:
        yield "axes swapped"


def broadcast(a: Shape, b: Shape) -> bool:
    """Say whether two shapes broadcast."""
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))
