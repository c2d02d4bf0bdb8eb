"""Up to where a wrong answer's numbers are those of a solution, and which expression makes others.

Both are run, and every expression is looked at (`trace`). What is compared knows no order and no layout, so a loop, a
product of transposed tables and an einsum have the same numbers. An observation: there may be other ways to be right.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any
from zlib import crc32

from torch import Tensor

from .check import Check
from .flow import inputs_in, sources_in
from .observations import made_of
from .sentences import OBSERVED, TRACED
from .site import in_one_line, line_of, written
from .syntax import DRAW, called, definition
from .trace import SUMS, TRACE, rewritten

EQUAL = 2e-5  # of their size
SAME_ORDER = 1e-3
DIGITS = 4
MOST_LOOKS = 5000  # at values of a right answer other than the solution: half a second
MOST_NAMED = 2
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
        name: of the operation, as a checksum.
        made_from: which of a solution's steps it works on, by number.
    """

    size: float
    mean: float
    skew: float
    special: tuple[float, float, float]
    order: float
    complement: float
    name: int = 0
    made_from: tuple[int, ...] = ()

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


def operation(node: ast.AST) -> int:
    """Return a checksum of what an expression does: of the function that it calls, or the kind of operation."""
    return crc32((called(node) or type(getattr(node, "op", node)).__name__).encode())


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
    found = list(known)
    numbered: dict[int, int] = {}
    sources, inputs = sources_in(tree, places), inputs_in(tree, places)
    given = [numbers_of(row) for row in table.tolist() if row[0] in inputs]
    for row in table.tolist():
        place, numbers = int(row[0]), numbers_of(row)
        if not tells(numbers, row) or any(map(numbers.is_like, given)):
            continue
        same = next((i for i, other in enumerate(found) if numbers.is_like(other)), None)
        if same is None:
            name = operation(places[place]) if place >= 0 else 0
            made_from = tuple(last_of(sources.get(place, set()), numbered, sources))
            found.append(replace(numbers, name=name, made_from=made_from))
        numbered[place] = len(found) - 1 if same is None else same
    return found


def last_of(places: set[int], numbered: Mapping[int, int], sources: Mapping[int, set[int]]) -> list[int]:
    """Return the steps among some places that lead to no other of them."""
    steps = {place for place in places if place in numbered}
    last = {place for place in steps if not any(place in sources.get(other, ()) for other in steps)}
    return sorted({numbered[place] for place in last})


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
            step.name,
            list(step.made_from),
            *(round(share, DIGITS) for share in step.special if any(step.special)),
        ]
        for step in steps
    ]


def unpacked(data: Sequence[Sequence[Any]]) -> list[Numbers]:
    """Return the steps that `packed` was given, but for the last digits."""
    return [
        Numbers(size, mean, skew, (*special, 0.0, 0.0, 0.0)[:3], order, complement, name, tuple(made_from))
        for size, mean, skew, order, complement, name, made_from, *special in data
    ]


@dataclass(frozen=True)
class Walk:
    """A student's run, beside the numbers of a solution.

    Args:
        tree: the student's definitions.
        places: the expressions of it that were looked at, by number.
        table: what was seen.
        steps: a solution's numbers.
        text: the cell.
        idle: places without which the same comes out: they are to blame for nothing.
    """

    tree: ast.Module
    places: Sequence[ast.AST]
    table: Tensor
    steps: Sequence[Numbers]
    text: str = field(repr=False)
    idle: frozenset[int] = frozenset()

    @cached_property
    def rows(self) -> Mapping[int, list[float]]:
        """What was seen, by place."""
        return {int(row[0]): row for row in self.table.tolist()}

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

    @cached_property
    def others(self) -> set[int]:
        """The places whose numbers a solution has not, up to a factor or as a part."""
        return {place for place in self.rows if self.tells(place) and self.is_other(place)}

    def tells(self, place: int) -> bool:
        """Say whether what a place gave is hardly met by chance, and did not just go in."""
        return tells(self.numbers[place], self.rows[place]) and not self.is_among(place, self.given)

    def is_among(self, place: int, known: Sequence[Numbers]) -> bool:
        """Say whether a place's numbers are some of those that are known."""
        return any(self.numbers[place].is_like(numbers) for numbers in known)

    def is_other(self, place: int) -> bool:
        """Say whether a solution has not these numbers."""
        own = self.numbers[place]
        if place in self.known or own.is_table or self.makes_none(place):
            return False
        if self.rows[place][-1] == 1 and not self.only_single:
            return False  # a factor, which may be another one in another place
        known = [numbers for numbers in (*self.steps, *self.given) if not numbers.is_table]
        sizes = {round(numbers.size, DIGITS) for numbers in known if own.is_multiple_of(numbers)}
        return len(sizes) != 1  # what a solution multiplies too has another factor here

    @cached_property
    def only_single(self) -> bool:
        """Whether all that was calculated are single numbers."""
        return all(row[-1] == 1 for row in self.rows.values())

    @cached_property
    def sources(self) -> Mapping[int, set[int]]:
        """From which places each place's value is made, directly or not."""
        return sources_in(self.tree, self.places)

    def sources_of(self, place: int) -> set[int]:
        """Return from which places a value is made."""
        return self.sources.get(place, set())

    @cached_property
    def parting(self) -> int | None:
        """The first place whose numbers a solution has not, though it has all that they are made from."""
        lost = (self.others or self.unknown) - self.leading_back - self.idle
        first = [place for place in lost if not self.sources_of(place) & lost]
        return min(first, key=lambda place: self.rows[place][SUMS + 1], default=None)

    @cached_property
    def by_chance(self) -> set[int]:
        """The places whose numbers a solution need not have: what is drawn, and what a given function gives."""
        given = {a.arg for node in ast.walk(self.tree) if isinstance(node, ast.arguments) for a in node.args}
        return {
            place
            for place in self.rows.keys() - self.known
            if (name := called(self.places[place])) in given or name in DRAW or name.startswith("drop")
        }

    @cached_property
    def leading_back(self) -> set[int]:
        """The places that numbers of a solution are made from."""
        return set[int]().union(*map(self.sources_of, self.known))

    @cached_property
    def all_known(self) -> bool:
        """Whether all numbers are those of a solution, or lead to them."""
        return self.unknown <= self.leading_back

    @cached_property
    def unknown(self) -> set[int]:
        """The places whose numbers a solution has not, or only up to a factor."""
        single = set() if self.only_single else {place for place, row in self.rows.items() if row[-1] == 1}
        telling = {place for place in self.rows if self.tells(place) and not self.makes_none(place)}
        return {place for place in telling - self.known - single if not self.numbers[place].is_table}

    def makes_none(self, place: int) -> bool:
        """Say whether an expression makes no new numbers, or writes what it has into a tensor."""
        node, name = self.places[place], called(self.places[place])
        return isinstance(node, ast.Subscript | ast.arg | ast.IfExp) or name in KEPT or name.endswith("_")

    def before(self, place: int | None) -> list[int]:
        """Return the last places with a solution's numbers, of all, or of those that a value is made from."""
        known = self.known if place is None else self.known & self.sources_of(place)
        known = {k for k in known if not isinstance(self.places[k], ast.arg)}
        last = [k for k in known if not any(k in self.sources_of(other) for other in known)]
        return sorted(last, key=lambda k: self.rows[k][SUMS + 1])[-MOST_NAMED:]

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

    def found(self) -> tuple[str, str]:
        """Return where it parts from a solution, after numbers of a solution or at once; '' where nothing tells it."""
        place = self.parting
        if place is None:
            return "", TRACED["all"] if self.known and self.all_known else ""
        if self.by_chance & (self.sources_of(place) | {place}):
            return "", ""  # it may well be right, and has other inputs
        before = self.before(place)
        known = " and ".join(self.named(k, line_first=False) for k in before)
        words = TRACED["parts" if known else "parts at once"].format(known=known, other=self.named(place))
        words = words[:1].upper() + words[1:] + self.beside(place, before)
        return (words, "") if known else ("", words)

    def beside(self, place: int, before: Sequence[int]) -> str:
        """Say what a solution does with the same numbers."""
        node = self.places[place]
        name = f"`{called(node)}`" if called(node) else OPERATIONS.get(type(getattr(node, "op", node)), "")
        if not before and name:
            kind = "same too" if self.has(operation(node)) else "none"
            return TRACED[kind].format(name=name if called(node) or kind == "same too" else name.partition(" ")[2])
        if not before:
            return ""
        steps = {i for i, step in enumerate(self.steps) if any(self.numbers[k].is_like(step) for k in before)}
        following = [step.name for step in self.steps if steps.intersection(step.made_from)]
        if not following or not name:
            return ""
        kind = "same" if operation(node) in following else "later" if self.has(operation(node)) else "another"
        words = {crc32(kind.__name__.encode()): words for kind, words in OPERATIONS.items()}
        if kind == "another" and set(following) <= words.keys():
            return TRACED["another one"].format(steps=" or ".join(sorted({words[step] for step in following})))
        return TRACED[kind].format(name=name)

    def has(self, name: int) -> bool:
        """Say whether a solution has an operation."""
        return any(step.name == name for step in self.steps)


OPERATIONS: Mapping[type, str] = {
    ast.Add: "a sum",
    ast.Sub: "a difference",
    ast.Mult: "a product",
    ast.Div: "a quotient",
    ast.MatMult: "a matrix product",
    ast.Pow: "a power",
}

# what makes NaN of numbers that are none
NOT_A_NUMBER: Mapping[type, str] = {
    ast.Sub: "infinity minus infinity",
    ast.Mult: "0 times infinity",
    ast.Div: "0 divided by 0, or infinity by infinity,",
    ast.MatMult: "0 times infinity, or infinity minus infinity,",
}
