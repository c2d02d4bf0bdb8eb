"""What every expression of a function gives while a check runs: numbers that no order, layout or loop changes.

A cell is rewritten so that each of its expressions is looked at as it is calculated. Of all that one expression gives
in a check, over all rounds of a loop, only a few moments are kept: enough to recognize the numbers, not to read them.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .parsing import parse
from .syntax import called

TRACE = "__trace__"  # the name under which a rewritten cell finds its trace
HUGE = 1e8  # what is larger stands for infinity, as -1e9 does in a mask
FEW = 20
MOST_ENTRIES = 2**18  # of one value
PERIOD = 2**16
LOOKED_AT = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp)
SUMS = 9
MOST_OTHERS = 10
COLUMNS = SUMS + 5  # a place, sums, and when it first gave something, NaN and infinity; how many entries at once


class TooLongError(RuntimeError):
    """A run has been looked at for as long as it may be."""


class Trace:
    """Looks at values, and adds up what was seen at each place.

    Attributes:
        left: how often it may still look before it stops the run.
    """

    def __init__(self) -> None:
        self.left = math.inf
        self._rows: dict[int, list[float]] = {}
        self._looks = 0

    def __call__(self, value: Any, place: int, *others: Callable[[], Any]) -> Any:
        """Look at a value, and give it back; look at what other solutions calculate there, too."""
        if self.left <= 0:
            raise TooLongError
        self._look(value, place)
        for i, other in enumerate(others):
            with contextlib.suppress(Exception):  # of two ways that it may be written, one is no product
                self._look(other(), -MOST_OTHERS * place - i - 1)
        return value

    def _look(self, value: Any, place: int) -> None:
        # what cannot be looked at, as inside of vmap, is left out
        with contextlib.suppress(Exception), torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            self._add(value, place)

    def _add(self, value: Any, place: int) -> None:
        numbers = numbers_in(value)
        if numbers is None:
            return
        self._looks, self.left = self._looks + 1, self.left - 1
        row = self._rows.setdefault(place, [0.0] * SUMS + [self._looks, 0.0, 0.0, float(numbers.numel())])
        sums = sums_of(numbers, int(row[0]))
        row[:SUMS] = [a + b for a, b in zip(row[:SUMS], sums, strict=True)]
        for column, found in ((SUMS + 1, sums[1]), (SUMS + 2, bool(numbers.isposinf().any()))):
            row[column] = row[column] or (self._looks if found else 0.0)

    def table(self) -> Tensor:
        """Return what was seen, a row for each place."""
        rows = [[place, *row] for place, row in self._rows.items()]
        return torch.tensor(rows, dtype=torch.float64).reshape(-1, COLUMNS)


def numbers_in(value: Any) -> Tensor | None:
    """Return all numbers of a value in one row, in float64; None where it has none, or very many."""
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= FEW):
        return None  # it is met by chance
    if isinstance(value, int | float):
        return torch.tensor([float(value)], dtype=torch.float64)
    if isinstance(value, np.ndarray | np.generic):
        value = torch.from_numpy(np.array(value))
    if isinstance(value, list | tuple):
        parts = [numbers_in(item) for item in value[:100]] if len(value) <= 100 else [None]
        return torch.cat(parts) if parts and all(isinstance(part, Tensor) for part in parts) else None  # type: ignore[arg-type]
    if not isinstance(value, Tensor) or value.layout != torch.strided or value.is_meta:
        return None
    if not 0 < value.numel() <= MOST_ENTRIES:
        return None
    value = value.detach()
    return (torch.view_as_real(value.resolve_conj()) if value.is_complex() else value).flatten().double()


def sums_of(numbers: Tensor, start: int) -> list[float]:
    """Return how many numbers there are, how many of them are no usual ones, and sums of the others.

    Args:
        numbers: one row of them.
        start: how many came before at the same place.
    """
    usual = numbers.abs() < HUGE
    kept = torch.where(usual, numbers, 0.0)
    square = kept * kept
    order = weights(start, numbers.numel())
    special = (numbers.isnan(), numbers >= HUGE, numbers <= -HUGE)
    sums = (*special, kept, square, square * kept, kept * order, order * usual)
    return [float(numbers.numel()), *torch.stack([part.double().sum() for part in sums]).tolist()]


def weights(start: int, count: int) -> Tensor:
    """Return random numbers for positions, the same in every process."""
    return random_row()[torch.arange(start, start + count) % PERIOD]


@cache
def random_row() -> Tensor:
    """Draw the random numbers that positions are told by."""
    return torch.randn(PERIOD, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@dataclass(frozen=True)
class Rewritten:
    """A cell in which every expression is looked at.

    Args:
        source: its text.
        places: the expressions, parameters and statements that are looked at, by number.
    """

    source: str
    places: Sequence[ast.AST]


def rewritten(tree: ast.Module, *, widely: bool = False) -> Rewritten:
    """Return definitions in which every expression is looked at.

    Args:
        tree: the definitions.
        widely: look at what other solutions calculate, too.
    """
    looking, new = Looking(widely), copy.deepcopy(tree)
    for old, node in zip(ast.walk(tree), ast.walk(new), strict=True):
        node.origin = old  # type: ignore[attr-defined]
    source = ast.unparse(ast.fix_missing_locations(looking.visit(new)))
    return Rewritten(f"from {__name__} import Trace\n{TRACE} = Trace()\n{source}", looking.places)


class Looking(ast.NodeTransformer):
    """Has every expression in a function looked at, its parameters, and what it changes in place.

    Attributes:
        places: what is looked at, by number.
    """

    def __init__(self, widely: bool = False) -> None:
        self.places: list[ast.AST] = []
        self._widely = widely

    def _look(self, value: ast.expr, node: ast.AST) -> ast.expr:
        origin = getattr(node, "origin", node)
        self.places.append(origin)
        others = [parse(f"lambda: {other}").body[0].value for other in other_ways(origin)] if self._widely else []  # type: ignore[attr-defined]
        return ast.Call(ast.Name(TRACE, ast.Load()), [value, ast.Constant(len(self.places) - 1), *others], [])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Look at the parameters, and at what is in the body."""
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        seen: list[ast.stmt] = [
            ast.Expr(self._look(ast.Name(a.arg, ast.Load()), a)) for a in given if a.arg not in ("self", "cls")
        ]
        documented = node.body[:1] if ast.get_docstring(node) is not None else []
        node.body = [*documented, *seen, *self._block(node.body[len(documented) :])]
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            done += new if isinstance(new, list) else [new]
        return done

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Look at a variable after it was changed."""
        node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            return node
        return [node, ast.Expr(self._look(ast.Name(node.target.id, ast.Load()), node))]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Look at what is returned, though it be a name."""
        if node.value is not None:
            node.value = self.visit(node.value)
            if isinstance(node.value, ast.Name):
                node.value = self._look(node.value, node)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Look at an expression, and what is in it before that."""
        super().generic_visit(node)
        if isinstance(node, LOOKED_AT) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self._look(node, node)
        return node


def other_ways(node: ast.AST) -> Iterator[str]:
    """Yield what is calculated where a solution takes the steps of a softmax one by one, or scales after a product."""
    if called(node) == "softmax" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = ast.unparse(node.func.value)
        given = [ast.unparse(argument) for argument in node.args]
        x, *axes = given if owner in ("torch", "F", "functional") else [owner, *given]
        axes += [ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg in ("dim", "axis")]
        for shifted in (f"({x})", f"(({x}) - ({x}).amax({axes[0]}, True))") if axes else ():
            yield from (shifted, f"{shifted}.exp()", f"{shifted}.exp().sum({axes[0]})")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        for side, other in ((node.left, "({}) @ ({right})"), (node.right, "({left}) @ ({})")):
            if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult | ast.Div):
                for part in (side.left, side.right):
                    yield other.format(ast.unparse(part), left=ast.unparse(node.left), right=ast.unparse(node.right))
