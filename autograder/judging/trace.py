"""Where NaN and infinity appear first in a wrong answer: a cell is rewritten so that every expression is looked at.

The rewritten cell runs where the submission does, and sends a table back, a row for each place. Nothing else of its
values is kept. It says which expression gave what, and no cause.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .sentences import OBSERVED
from .site import in_one_line, line_of, written

TRACE = "__trace__"  # the name under which a rewritten cell finds its trace
MOST_ENTRIES = 2**18  # of one value
MOST_ITEMS = 100
LOOKED_AT = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Compare, ast.Subscript, ast.IfExp)
NAN, INFINITY = 0, 1
COLUMNS = 3  # a place, and the number of the look at which it first gave NaN and infinity, 0 for never


class Trace:
    """Looks at values, and notes when a place first gave NaN, and when infinity."""

    def __init__(self) -> None:
        self._rows: dict[int, list[int]] = {}
        self._looks = 0

    def __call__(self, value: Any, place: int) -> Any:
        """Look at a value, and give it back."""
        # what cannot be looked at, as inside of vmap, is left out
        with contextlib.suppress(Exception), torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            self._looks += 1
            row = self._rows.setdefault(place, [0, 0])
            for kind, found in enumerate(special_in(value)):
                row[kind] = row[kind] or (self._looks if found else 0)
        return value

    def table(self) -> Tensor:
        """Return what was seen, `(places, 3)`."""
        rows = [[place, *row] for place, row in self._rows.items()]
        return torch.tensor(rows, dtype=torch.float64).reshape(-1, COLUMNS)


def special_in(value: Any) -> tuple[bool, bool]:
    """Say whether a value holds NaN, and infinity; of one with very many entries nothing is said."""
    if isinstance(value, list | tuple):
        found = [special_in(item) for item in value[:MOST_ITEMS]]
        return any(nan for nan, _ in found), any(infinite for _, infinite in found)
    if isinstance(value, float | np.ndarray | np.generic):
        value = torch.as_tensor(value)
    if not isinstance(value, Tensor) or value.is_meta or value.numel() > MOST_ENTRIES:
        return False, False
    return bool(value.isnan().any()), bool(value.isposinf().any())


def rewritten(tree: ast.Module) -> tuple[str, list[ast.AST]]:
    """Return definitions in which every expression is looked at, and what is looked at, by number."""
    looking, new = Looking(), copy.deepcopy(tree)
    for old, node in zip(ast.walk(tree), ast.walk(new), strict=True):
        node.origin = old  # type: ignore[attr-defined]
    source = ast.unparse(ast.fix_missing_locations(looking.visit(new)))
    return f"from {__name__} import Trace\n{TRACE} = Trace()\n{source}", looking.places


class Looking(ast.NodeTransformer):
    """Has every expression in a function looked at, its parameters, and what it changes in place.

    Attributes:
        places: what is looked at, by number.
    """

    def __init__(self) -> None:
        self.places: list[ast.AST] = []

    def _look(self, value: ast.expr, node: ast.AST) -> ast.expr:
        self.places.append(getattr(node, "origin", node))
        return ast.Call(ast.Name(TRACE, ast.Load()), [value, ast.Constant(len(self.places) - 1)], [])

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

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Look at an expression, and what is in it before that."""
        super().generic_visit(node)
        if isinstance(node, LOOKED_AT) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self._look(node, node)
        return node


def is_table(table: Any, places: Sequence[ast.AST]) -> bool:
    """Say whether what a submission's process sent may be what was seen: it may send anything."""
    if not isinstance(table, Tensor) or table.dtype != torch.float64 or table.ndim != 2 or table.size(1) != COLUMNS:
        return False
    numbers = table[:, 0].tolist()
    return len(set(numbers)) == len(numbers) and set(numbers) <= set(range(len(places)))


def first_special(places: Sequence[ast.AST], table: Tensor, text: str) -> str:
    """Say which expression first gave NaN, and which one infinity; '' where none gave NaN.

    Args:
        places: the expressions of a cell, as `rewritten` numbers them.
        table: what was seen.
        text: the cell.
    """
    rows = {int(place): times for place, *times in table.tolist()}

    def first(kind: int) -> ast.AST | None:
        found = [n for n, row in rows.items() if row[kind] and not isinstance(places[n], ast.arg)]
        return places[min(found, key=lambda n: rows[n][kind])] if found else None

    nan, infinite = first(NAN), first(INFINITY)
    if nan is None:
        return ""
    came_in = any(row[INFINITY] for place, row in rows.items() if isinstance(places[place], ast.arg))
    reason = NOT_A_NUMBER.get(type(getattr(nan, "op", None)), "")
    if infinite in (None, nan) or came_in:
        more = OBSERVED["nan by"].format(reason=reason) if reason else ""
        return " ".join(filter(None, [OBSERVED["nan from"].format(nan=in_its_line(nan, text)), more]))
    return OBSERVED["nan after infinity"].format(nan=in_its_line(nan, text), infinite=in_its_line(infinite, text))


def in_its_line(node: ast.AST, text: str) -> str:
    """Return a node's line and its code."""
    return f"line {line_of(node)}, `{in_one_line(written(node, text) or ast.unparse(node))}`"


# what makes NaN of numbers that are none
NOT_A_NUMBER: Mapping[type, str] = {
    ast.Sub: "infinity minus infinity",
    ast.Mult: "0 times infinity",
    ast.Div: "0 divided by 0, or infinity by infinity,",
    ast.MatMult: "0 times infinity, or infinity minus infinity,",
}
