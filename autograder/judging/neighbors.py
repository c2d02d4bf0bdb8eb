"""The one-edit neighbors of a student's code: what it is without one call, along another axis, with one sign more.

An edit writes into the syntax tree and is taken back afterward, so that trying a thousand of them copies nothing. Each
keeps the line, the piece of the student's own text and the kind of change. What the change puts in is kept nowhere: it
would be the answer.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, NamedTuple

from .edit_operators import OPERATORS
from .observations import unread_parameters
from .site import Change, Site, Size, parameters_of
from .syntax import called

MOST_EDITS = 20_000  # that are made of one cell: an honest one of 1,600 nodes has 12,000
MOST_NODES_DELETED = 6  # whoever deletes more has changed what the code does, and not one slip in it
MOST_TOGETHER = 8
NO_CODE = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.arg)
NOT_EDITED = ("annotation", "returns", "type_params", "type_comment")


class Write(NamedTuple):
    """One write into a syntax tree: `container[key] = value`; the container is a node's fields, or one of its lists."""

    container: Any
    key: Any
    value: Any


@dataclass(frozen=True)
class Edit:
    """One change of a student's code, at one location or at several.

    Args:
        writes: what is written into the tree.
        size: how much it changes.
        order: what decides between edits of one size: the lower one is tried first.
        lines: where it changes something, in the student's text.
        piece: what is deleted or changed, in the student's own words.
        change: the kind of change as a clause, such as `along another axis`; '' for a deletion.
        site: where it is in the tree: equal for different changes of one piece.
        key: equal for the same change of equal pieces.
    """

    writes: tuple[Write, ...]
    size: Size
    order: tuple[int, ...]
    lines: tuple[int, ...]
    piece: str
    change: str
    site: int
    key: tuple[str, ...]

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Change the tree, and take the change back."""
        before = [write.container[write.key] for write in self.writes]
        for write in self.writes:
            write.container[write.key] = write.value
        try:
            yield
        finally:
            for write, value in zip(reversed(self.writes), reversed(before), strict=True):
                write.container[write.key] = value


def edits_of(tree: ast.Module, text: str, near: int = 0) -> list[Edit]:
    """Return the edits of a cell's definitions, smallest first; of one size those of one line first.

    Names and arguments without end have more neighbors than anybody can try: then it is those of the first lines.

    Args:
        tree: the definitions; edits write into them.
        text: the cell.
        near: the line where it stopped with an error, 0 where it did not.
    """
    number = count()
    single = [
        edit_at(site, at, change, size, (site.line != near, next(number)))
        for site, at, change, size in islice(changes_in(tree, text), MOST_EDITS)
    ]
    return sorted([*single, *edits_together(single)], key=lambda edit: (edit.size, len(edit.writes), edit.order))


def changes_in(tree: ast.Module, text: str) -> Iterator[tuple[Site, tuple[Any, Any], Change, Size]]:
    """Yield each change that an operator makes, with its site and the container that it writes into."""
    for site, container, key in sites_in(Site(tree, (), (), text)):
        for size, operators in OPERATORS.items():
            for change in (change for operator in operators for change in operator(site)):
                yield site, (container, key), change, size


def edit_at(site: Site, at: tuple[Any, Any], change: Change, size: Size, order: tuple[int, ...]) -> Edit:
    """Return the edit that an operator's change is at its site."""
    container, key = at
    deleted = 0
    if not change.words:
        deleted = size_of(site.node) - size_of(change.new)
        large = deleted > MOST_NODES_DELETED and not is_one_step(site.node, change.new)
        size = Size.REMOVAL if large or changes_much(site, change.new) else size
    whole = str(id(change.new)) if size is Size.WHOLE else ""  # no two of these are the same, and each is long to write
    what = whole or (ast.dump(change.new) if change.words else "")
    line = change.line or site.line
    return Edit(
        (Write(container, key, change.new),),
        size,
        (order[0], deleted, *order[1:]),
        (line,),
        change.piece,
        change.words,
        id(site.node),
        (change.alike,) if change.alike else (change.piece, change.words, what),
    )


def is_one_step(node: ast.AST, new: ast.AST) -> bool:
    """Say whether a statement or a call is left out as a whole, however much is in it."""
    return isinstance(node, ast.stmt) or (isinstance(node, ast.Call) and getattr(new, "func", None) is not node.func)


def changes_much(site: Site, new: ast.AST) -> bool:
    """Say whether all that was calculated has gone, or a module's dropout: that is seldom the slip."""
    return isinstance(new, ast.Constant) or (site.in_method and "dropout" in called(site.node))


def size_of(node: ast.AST) -> int:
    """Return how many nodes a piece of code has."""
    return sum(not isinstance(part, NO_CODE) for part in ast.walk(node))


def edits_together(edits: Sequence[Edit]) -> Iterator[Edit]:
    """Yield, for each change that can be made at several locations, the edit that makes it at all of them."""
    groups: dict[tuple[str, ...], list[Edit]] = {}
    for edit in edits:
        groups.setdefault(edit.key, []).append(edit)
    for group in groups.values():
        if 1 < len(group) == len({edit.site for edit in group}) <= MOST_TOGETHER:
            writes = tuple(write for edit in group for write in edit.writes)
            lines = tuple(line for edit in group for line in edit.lines)
            piece = "` and `".join(dict.fromkeys(edit.piece for edit in group))
            yield replace(group[0], writes=writes, lines=lines, piece=piece, key=(*group[0].key, "everywhere"))


def sites_in(outer: Site) -> Iterator[tuple[Site, Any, Any]]:
    """Yield the nodes below a node, each with the container that it is in, and its key there."""
    node, names, unread = outer.node, outer.names, outer.unread
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        names, unread = tuple(dict.fromkeys((*names, *local_names(node)))), (*unread, *unread_parameters(node))
    for container, key, child in children_of(node):
        site = Site(child, (node, *outer.parents), names, outer.text, unread)
        if not isinstance(child, ast.arguments):
            yield site, container, key
        yield from sites_in(site)


def children_of(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield what is directly in a node and can be edited."""
    for name, value in ast.iter_fields(node):
        if name in NOT_EDITED:
            continue
        if isinstance(value, ast.AST) and not isinstance(value, NO_CODE):
            yield vars(node), name, value
        for i, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, ast.AST) and not isinstance(item, NO_CODE):
                yield value, i, item


def local_names(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return a function's parameters and variables, `self` left out."""
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [name for name in dict.fromkeys((*parameters_of(function), *stored)) if name != "self"]
