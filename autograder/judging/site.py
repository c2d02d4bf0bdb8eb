"""A place in a student's code that can be edited, what an operator proposes for it, and code made from a template."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Any

from .parsing import parse
from .sentences import CHANGES

LONGEST_PIECE = 60


class Size(IntEnum):
    """How much an edit changes; smaller ones are tried first."""

    DELETION = 0
    CONSTANT = 1
    OPERATION = 2
    WHOLE = 3  # a whole statement, or one more
    REMOVAL = 4  # of more than a few nodes
    NAME = 5


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
    def functions(self) -> list[ast.FunctionDef]:
        """The functions that it is in, nearest first."""
        return [parent for parent in self.parents if isinstance(parent, ast.FunctionDef)]

    @cached_property
    def arguments(self) -> set[str]:
        """The parameters of the functions that it is in."""
        return {name for function in self.functions for name in parameters_of(function)}

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
        return any(parameters_of(function)[:1] == ["self"] for function in self.functions)

    def code(self, node: ast.AST | None = None) -> str:
        """Return a node as the student wrote it, on one line and not too long."""
        node = self.node if node is None else node
        if id(node) not in self._written:  # an operator may ask for each of a thousand names
            self._written[id(node)] = node, in_one_line(written(node, self.text) or ast.unparse(node))
        return self._written[id(node)][1]

    @cached_property
    def _written(self) -> dict[int, tuple[ast.AST, str]]:
        return {}

    def becomes(self, kind: str, new: ast.AST, shown: ast.AST | None = None, **gaps: object) -> Change:
        """Return a change of a kind in `CHANGES`, which has words with gaps.

        Args:
            kind: a key of `CHANGES`.
            new: what stands in the node's place.
            shown: the student's code that the card names, where that is more or less than the node.
            gaps: what fills the words' gaps.
        """
        return Change(new, self.code(shown), CHANGES[kind].format(**gaps))


Operator = Callable[[Site], Iterator[Change]]


def parameters_of(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters, those with a star left out."""
    given = function.args
    return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def defaults_of(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return a function's parameters that have a default, with it."""
    given = function.args
    last = [*given.posonlyargs, *given.args][-len(given.defaults) or len(given.args) :]
    pairs = [*zip(last, given.defaults, strict=False), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return {parameter.arg: default for parameter, default in pairs if default is not None}


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


def made(template: str, **parts: ast.AST) -> Any:
    """Return code in which some names of a template are replaced by nodes: `made("A.clone()", A=node)`."""
    return filled(parsed_template(template), parts)


@lru_cache(maxsize=512)
def parsed_template(template: str) -> ast.AST:
    """Return a template's expression or statement."""
    (statement,) = parse(template).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def filled(template: Any, parts: dict[str, ast.AST]) -> Any:
    """Return a copy of a template with nodes in place of names. It stands nowhere in the student's text."""
    if isinstance(template, list):
        return [filled(item, parts) for item in template]
    if not isinstance(template, ast.AST):
        return template
    if isinstance(template, ast.Name) and template.id in parts:
        return parts[template.id]
    new = type(template)(**{name: filled(getattr(template, name, None), parts) for name in template._fields})
    if "lineno" in template._attributes:
        new.lineno = 0  # type: ignore[attr-defined]
    return new


def fits(template: Any, node: Any, parts: dict[str, ast.AST]) -> bool:
    """Say whether code has a template's form; what stands in place of its capital letters goes into `parts`."""
    if isinstance(template, list):
        pairs = zip(template, node, strict=False)
        return len(template) == len(node) and all(fits(item, part, parts) for item, part in pairs)
    if not isinstance(template, ast.AST):
        return bool(template == node)
    if isinstance(template, ast.Name) and len(template.id) == 1 and template.id.isupper():
        return isinstance(node, ast.expr) and ast.dump(parts.setdefault(template.id, node)) == ast.dump(node)
    fields = (name for name in template._fields if name != "ctx")
    return type(template) is type(node) and all(
        fits(getattr(template, name, None), getattr(node, name, None), parts) for name in fields
    )
