"""A place in a student's code that can be edited, and what an operator proposes for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any

LONGEST_PIECE = 60


class Size(IntEnum):
    """How much an edit changes; smaller ones are tried first."""

    DELETION = 0
    CONSTANT = 1
    OPERATION = 2
    WHOLE = 3  # the order of statements, or how a whole function is called
    REMOVAL = 4  # of more than a few nodes
    NAME = 5


@dataclass(frozen=True)
class Site:
    """A node, and what an operator may know of its surroundings.

    Args:
        node: the node.
        parents: what it is in, nearest first.
        names: parameters and variables of the function that it is in.
        text: the student's cell.
        unread: parameters of that function that nothing in it reads.
    """

    node: ast.AST
    parents: tuple[ast.AST, ...]
    names: tuple[str, ...]
    text: str = field(repr=False)
    unread: tuple[str, ...] = ()

    @cached_property
    def arguments(self) -> set[str]:
        """The parameters of the functions that it is in."""
        functions = (parent for parent in self.parents if isinstance(parent, ast.FunctionDef))
        return {argument.arg for f in functions for argument in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)}

    @property
    def parent(self) -> ast.AST:
        """The node that it is directly in."""
        return self.parents[0]

    @property
    def line(self) -> int:
        """The line that it begins in."""
        return next(filter(None, map(line_of, (self.node, *self.parents))), 0)

    @property
    def in_method(self) -> bool:
        """Whether it is in a function with `self`."""
        functions = (parent for parent in self.parents if isinstance(parent, ast.FunctionDef))
        return any(function.args.args and function.args.args[0].arg == "self" for function in functions)

    def code(self, node: ast.AST | None = None) -> str:
        """Return a node as the student wrote it, on one line and not too long."""
        node = self.node if node is None else node
        if id(node) not in self._written:  # an operator may ask for each of a thousand names
            self._written[id(node)] = node, in_one_line(written(node, self.text) or ast.unparse(node))
        return self._written[id(node)][1]

    @cached_property
    def _written(self) -> dict[int, tuple[ast.AST, str]]:
        return {}


@dataclass(frozen=True)
class Change:
    """What an operator proposes for a node.

    Args:
        new: what stands in the node's place.
        piece: what the change is about, in the student's own words.
        words: the kind of change as a clause; '' for a deletion.
        line: where the piece is; 0 where the node begins.
        alike: changes of other pieces that are called the same belong together with it; '' for none.
    """

    new: ast.AST
    piece: str
    words: str = ""
    line: int = 0
    alike: str = ""


Operator = Callable[[Site], Iterator[Change]]


def line_of(node: ast.AST) -> int:
    """Return the line where a node begins; 0 for one that an edit has made."""
    return getattr(node, "lineno", 0)


def written(node: ast.AST, text: str) -> str:
    """Return a node as it is written; '' for one that an edit has made."""
    first, last = line_of(node), getattr(node, "end_lineno", None)
    if not first or last is None or last > len(lines_of(text)):
        return ""
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
    lines = lines_of(text)[first - 1 : last]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"\n".join(lines).decode("utf-8", "replace")


@lru_cache(maxsize=4)
def lines_of(text: str) -> list[bytes]:
    """Return a text's lines as the bytes that positions in a syntax tree count; kept for one search."""
    return text.encode().split(b"\n")


def in_one_line(code: str) -> str:
    """Return code without line breaks, shortened in the middle."""
    code = " ".join(code.split())
    return code if len(code) <= LONGEST_PIECE else f"{code[: LONGEST_PIECE - 20]} … {code[-16:]}"


def with_fields(node: Any, **fields: Any) -> Any:
    """Return a node like another one with some fields replaced; the rest is shared."""
    values = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    lines = {name: getattr(node, name) for name in node._attributes if hasattr(node, name)}
    return type(node)(**{**values, **fields, **lines})


def statements_of(body: list[ast.stmt]) -> ast.stmt:
    """Return one statement that does what several do, or nothing."""
    if not body:
        return ast.Pass()
    return body[0] if len(body) == 1 else ast.If(ast.Constant(True), body, [])
