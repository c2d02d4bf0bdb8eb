"""Up to where a wrong answer's numbers are those of a solution, and which expression is the first that makes others.

Both are run, and every expression is looked at (`trace`). What is compared knows no order and no layout, so a loop, a
product of transposed tables and an einsum have the same numbers. This is an observation, because there may be other
ways to be right. It is told only where a run falls into two parts: first numbers of a solution, and then none.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from .check import Check
from .observations import made_of
from .sentences import OBSERVED, TRACED
from .site import in_one_line, line_of, written
from .syntax import DRAW, called, definition
from .trace import COLUMNS, SUMS, TRACE, rewritten

EQUAL = 2e-5  # of their size
SAME_ORDER = 1e-3
DIGITS = 4
MOST_LOOKS = 5000  # at values of a right answer other than the solution: half a second
LARGEST_SUM = 1e60
KEPT = (  # what makes no new numbers, but of sizes
    *("len", "arange", "eye", "zeros", "ones", "full", "linspace", "zeros_like", "ones_like", "full_like", "range"),
    *("empty", "empty_like", "new_empty"),
    *("new_zeros", "new_ones", "new_full", "new_tensor", "size", "numel", "tensor", "from_numpy", "array", "asarray"),
    *("to", "float", "double", "long", "int", "type", "astype", "detach", "clone", "copy", "numpy", "item", "tolist"),
    *("view", "reshape", "transpose", "permute", "swapaxes", "movedim", "flatten", "unflatten", "squeeze", "unsqueeze"),
    *("expand", "expand_as", "contiguous", "repeat", "repeat_interleave", "tile", "cat", "concatenate", "stack", "zip"),
    *("chunk", "split", "unbind", "list", "tuple", "enumerate", "diag_embed", "flip", "roll", "getattr"),
)


@dataclass(frozen=True)
class Numbers:
    """What one expression gave, in all calls together, in a form that no order and no layout changes.

    Args:
        size: the root of the mean square.
        mean: relative to the size.
        skew: the mean cube, relative to the size.
        special: which shares of the numbers are NaN, infinity, and minus infinity.
        order: tells the order of the numbers.
        complement: the same for 1 minus each.
    """

    size: float
    mean: float
    skew: float
    special: tuple[float, float, float]
    order: float
    complement: float

    @property
    def is_table(self) -> bool:
        """Whether all are 0 or 1: of these, only the order tells something."""
        square = self.size**2
        return abs(self.mean * self.size - square) < EQUAL and abs(self.skew * self.size**3 - square) < EQUAL

    @property
    def is_constant(self) -> bool:
        """Whether all are the same, or none is a number."""
        usual = not any(self.special) and (not self.size or abs(abs(self.mean) - 1) < EQUAL**2)
        return usual or sum(self.special) == 1

    def is_like(self, other: Numbers) -> bool:
        """Say whether these are the same numbers, in some order; of a table of 0 and 1 in the same one."""
        if self.is_table and other.is_table:
            return abs(self.order - other.order) < SAME_ORDER or abs(self.complement - other.order) < SAME_ORDER
        return abs(self.size - other.size) <= EQUAL * other.size and self.is_multiple_of(other)

    def is_multiple_of(self, other: Numbers) -> bool:
        """Say whether these are others times one positive factor."""
        alike = all(abs(a - b) < SAME_ORDER for a, b in zip(self.special, other.special, strict=True))
        return alike and abs(self.mean - other.mean) <= EQUAL and abs(self.skew - other.skew) <= 4 * EQUAL


def numbers_of(row: Sequence[float]) -> Numbers:
    """Return what a row of a trace's table says."""
    count, nan, large, small, first, second, third, order, weight = row[1 : 1 + SUMS]
    usual = max(count - nan - large - small, 1.0)
    size = math.sqrt(max(second, 0.0) / usual)
    scale = size or 1.0
    special = (nan / count, large / count, small / count)
    spread = math.sqrt(usual)
    return Numbers(
        size,
        first / usual / scale,
        third / usual / scale**3,
        special,
        order / spread,
        (weight - order) / spread,
    )


def steps_of(ways: Sequence[str], reference: str, names: Mapping[str, Any], check: Check, seed: int) -> list[Numbers]:
    """Run a check on right answers, and return the numbers that they calculate on their way.

    Args:
        ways: cells that define the exercise, '' for the solution itself; of the others, slow ones are left out.
        reference: the code that defines every solution.
        names: what it defines.
        check: the check.
        seed: what its inputs are drawn from.
    """
    steps: list[Numbers] = []
    for way in ways:
        tree, places, code = looked_at(way, reference, check.exercise)
        own = dict(names)
        exec(code, own)
        trace = own[TRACE]
        trace.left = MOST_LOOKS if way else math.inf
        check.values(own[check.exercise], seed)
        if trace.left > 0:
            steps = steps_in(tree, places, trace.table(), steps)
    return steps


@lru_cache(maxsize=256)
def looked_at(way: str, reference: str, exercise: str) -> tuple[ast.Module, Sequence[ast.AST], CodeType]:
    """Return the definitions of a right answer, what is looked at in them, and code that defines it looking."""
    text = f"{way}\n\n{reference}"
    tree = ast.Module(list(filter(None, (definition(text, name) for name in made_of(text, exercise)))), [])
    looking = rewritten(tree, widely=True)
    return tree, looking.places, compile(f"{way}\n\n{looking.source}", "solution", "exec", dont_inherit=True)


def steps_in(
    tree: ast.Module, places: Sequence[ast.AST], table: Tensor, known: Sequence[Numbers] = ()
) -> list[Numbers]:
    """Return what is known, and the numbers that a solution calculates on its way, once each, but not what went in."""
    found, inputs = list(known), inputs_in(tree, places)
    given = [numbers_of(row) for row in table.tolist() if row[0] in inputs]
    for row in table.tolist():
        numbers = numbers_of(row)
        if tells(numbers, row) and not any(map(numbers.is_like, [*given, *found])):
            found.append(numbers)
    return found


def inputs_in(tree: ast.Module, places: Sequence[ast.AST]) -> set[int]:
    """Return the places of what goes in from outside: parameters of functions that the cell itself does not call."""
    inner = {called(node) for node in ast.walk(tree)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name not in inner]
    outer = {id(node) for function in functions for node in ast.walk(function.args)}
    return {place for place, node in enumerate(places) if id(node) in outer}


def tells(numbers: Numbers, row: Sequence[float]) -> bool:
    """Say whether numbers are hardly met by chance: more than one value, or a single one."""
    if not numbers.is_constant:
        return True
    return row[1] == 1 and numbers.size > 0


def packed(steps: Sequence[Numbers]) -> list[list[Any]]:
    """Return steps as a student is given them: a few rounded numbers each."""
    return [
        [
            float(f"{step.size:.6g}"),
            *(round(number, DIGITS + 1) + 0.0 for number in (step.mean, step.skew)),
            *(round(number, DIGITS) + 0.0 for number in (step.order, step.complement)),
            *(round(share, DIGITS) for share in step.special if any(step.special)),
        ]
        for step in steps
    ]


def unpacked(data: Sequence[Sequence[Any]]) -> list[Numbers]:
    """Return the steps that `packed` was given, but for the last digits."""
    return [
        Numbers(size, mean, skew, (*special, 0.0, 0.0, 0.0)[:3], order, complement)
        for size, mean, skew, order, complement, *special in data
    ]


def is_table(table: Any, places: Sequence[ast.AST]) -> bool:
    """Say whether what a submission's process sent may be what was seen: it may send anything."""
    if not isinstance(table, Tensor) or table.dtype != torch.float64 or table.ndim != 2 or table.size(1) != COLUMNS:
        return False
    numbers = table[:, 0].tolist()
    in_range = len(set(numbers)) == len(numbers) and set(numbers) <= set(range(len(places)))
    return in_range and bool((table.abs() < LARGEST_SUM).all() and (table[:, 1] >= 1).all())


@dataclass(frozen=True)
class Walk:
    """A student's run, beside the numbers of a solution.

    Args:
        tree: the student's definitions.
        places: the expressions of it that were looked at, by number.
        table: what was seen, a row for each of some places.
        steps: a solution's numbers.
        text: the cell.
    """

    tree: ast.Module
    places: Sequence[ast.AST]
    table: Tensor
    steps: Sequence[Numbers]
    text: str

    @cached_property
    def rows(self) -> Mapping[int, list[float]]:
        """What was seen, by place, in the order in which it was calculated."""
        return {int(row[0]): row for row in sorted(self.table.tolist(), key=lambda row: row[SUMS + 1])}

    @cached_property
    def numbers(self) -> Mapping[int, Numbers]:
        """The same as numbers."""
        return {place: numbers_of(row) for place, row in self.rows.items()}

    @cached_property
    def given(self) -> list[Numbers]:
        """What went in."""
        inputs = inputs_in(self.tree, self.places)
        return [numbers for place, numbers in self.numbers.items() if place in inputs]

    @cached_property
    def known(self) -> set[int]:
        """The places whose numbers a solution has too, and that did not just go in."""
        return {place for place in self.rows if self.tells(place) and self.is_among(place, self.steps)}

    def tells(self, place: int) -> bool:
        """Say whether what a place gave is hardly met by chance, and did not just go in."""
        return tells(self.numbers[place], self.rows[place]) and not self.is_among(place, self.given)

    def is_among(self, place: int, known: Sequence[Numbers]) -> bool:
        """Say whether a place's numbers are some of those that are known."""
        return any(self.numbers[place].is_like(numbers) for numbers in known)

    def is_other(self, place: int) -> bool:
        """Say whether a solution has not these numbers, up to a factor."""
        own = self.numbers[place]
        if place in self.known or own.is_table or self.makes_none(place) or not self.tells(place):
            return False
        if self.rows[place][-1] == 1 and any(row[-1] > 1 for row in self.rows.values()):
            return False  # a factor, which may be another one in another place
        known = [numbers for numbers in (*self.steps, *self.given) if not numbers.is_table]
        sizes = {round(numbers.size, DIGITS) for numbers in known if own.is_multiple_of(numbers)}
        return len(sizes) != 1  # what a solution multiplies too has another factor here

    def makes_none(self, place: int) -> bool:
        """Say whether an expression makes no new numbers, or writes what it has into a tensor."""
        node, name = self.places[place], called(self.places[place])
        return isinstance(node, ast.Subscript | ast.arg | ast.IfExp) or name in KEPT or name.endswith("_")

    @cached_property
    def has_chance(self) -> bool:
        """Whether something is drawn, or comes from a function that was passed in: both may be right and differ."""
        given = {a.arg for node in ast.walk(self.tree) if isinstance(node, ast.arguments) for a in node.args}
        names = {called(node) for node in ast.walk(self.tree)} - {""}
        return any(name in DRAW or name in given or name.startswith("drop") for name in names)

    @cached_property
    def parting(self) -> tuple[int, int] | None:
        """The last place with a solution's numbers and the first with others; None where they alternate."""
        before = [place for place in self.rows if place in self.known]
        others = [place for place in self.rows if self.is_other(place)]
        if self.has_chance or not before or not others:
            return None
        times = {place: time for time, place in enumerate(self.rows)}
        return (before[-1], others[0]) if times[before[-1]] < times[others[0]] else None

    def found(self) -> str:
        """Return up to where the numbers are those of a solution; '' where nothing tells it."""
        if self.parting is None:
            return ""
        known, other = self.parting
        return TRACED.format(known=self.named(known, line_first=False), other=self.named(other))

    def first_special(self) -> str:
        """Say which expression first gives NaN, and which one infinity; '' where none does."""
        nan, infinite = self._first(SUMS + 2), self._first(SUMS + 3)
        if nan is None:
            return ""
        came_in = any(row[SUMS + 3] for place, row in self.rows.items() if isinstance(self.places[place], ast.arg))
        reason = NOT_A_NUMBER.get(type(getattr(self.places[nan], "op", None)), "")
        if infinite in (None, nan) or came_in:
            more = OBSERVED["nan by"].format(reason=reason) if reason else ""
            return " ".join(filter(None, [OBSERVED["nan from"].format(nan=self.named(nan)), more]))
        return OBSERVED["nan after infinity"].format(nan=self.named(nan), infinite=self.named(infinite))

    def _first(self, column: int) -> int | None:
        """Return the expression that first gave what a column counts."""
        looked = {place: row for place, row in self.rows.items() if not isinstance(self.places[place], ast.arg)}
        places = [place for place, row in looked.items() if row[column]]
        return min(places, key=lambda place: self.rows[place][column], default=None)

    def named(self, place: int, *, line_first: bool = True) -> str:
        """Return a place's line and its code."""
        node = self.places[place]
        code = in_one_line(written(node, self.text) or ast.unparse(node))
        return f"line {line_of(node)}, `{code}`" if line_first else f"`{code}` in line {line_of(node)}"


# what makes NaN of numbers that are none
NOT_A_NUMBER: Mapping[type, str] = {
    ast.Sub: "infinity minus infinity",
    ast.Mult: "0 times infinity",
    ast.Div: "0 divided by 0, or infinity by infinity,",
    ast.MatMult: "0 times infinity, or infinity minus infinity,",
}
