"""Operators on a student's code that move a statement, use an argument of the function, or keep what the caller has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from .observations import names_in
from .sentences import CHANGES
from .site import Change, Site, defaults_of, filled, line_of, made, parameters_of, statements_of, with_fields
from .smaller_edits import expression_around

MOST_NAMES = 8
Block = ast.For | ast.While | ast.With | ast.If


def moved_out(site: Site) -> Iterator[Change]:
    """A statement of a loop, a `with` or an `if` comes after that block, or before it."""
    node = site.node
    body = node.body if isinstance(node, Block) else []
    for i, statement in enumerate(body if len(body) > 1 else ()):
        rest = with_fields(node, body=[*body[:i], *body[i + 1 :]])
        for kind, order in (("after", [rest, statement]), ("before", [statement, rest])):
            yield Change(statements_of(order), site.code(statement), CHANGES[kind], line_of(statement))


def order_changed(site: Site) -> Iterator[Change]:
    """A statement comes after the next one."""
    body = getattr(site.node, "body", ())
    for i, (one, next_one) in enumerate(pairwise(body if isinstance(body, list) else ())):
        if not isinstance(next_one, ast.Return | ast.Raise | ast.FunctionDef):
            new = with_fields(site.node, body=[*body[:i], next_one, one, *body[i + 2 :]])
            yield Change(new, site.code(one), CHANGES["later"], line_of(one))


def done_to_another(site: Site) -> Iterator[Change]:
    """`x = x.masked_fill(hidden, 0)` is followed by the same for another variable."""
    match site.node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) as node if name in names_in(value):
            for other in site.names[-MOST_NAMES:]:
                if other not in names_in(value):
                    both = [node, filled(node, {name: made(other)})]
                    yield site.becomes("another", statements_of(both), name=other)


def argument_for_default(site: Site) -> Iterator[Change]:
    """`e.sum(dim=-1)` becomes `e.sum(dim=dim)` where -1 is the default of `dim`; so do `mask=None` and `None`."""
    node, parent = site.node, site.parent
    if not isinstance(node, ast.Constant | ast.UnaryOp) or isinstance(parent, ast.arguments) or not site.functions:
        return
    names = [name for name, value in defaults_of(site.functions[0]).items() if ast.dump(value) == ast.dump(node)]
    if isinstance(node, ast.Constant) and node.value is None and isinstance(parent, ast.Call | ast.keyword):
        names = parameters_of(site.functions[0])
    names += [parent.arg] if isinstance(parent, ast.keyword) and parent.arg in site.arguments else []
    for name in dict.fromkeys(map(str, names)):
        yield site.becomes("argument", ast.Name(name, ast.Load()), expression_around(site), name=site.code())


def none_asked(site: Site) -> Iterator[Change]:
    """`if x` becomes `if x is not None`, and so does each of several conditions, and that of a comprehension."""
    asked = (getattr(site.parent, "test", None), *getattr(site.parent, "ifs", ()))
    if isinstance(site.parent, ast.BoolOp) or any(test is site.node for test in asked):
        match site.node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() | ast.Call() as inner):
                yield site.becomes("none", made("A is None", A=inner))
            case ast.Name() | ast.Attribute() | ast.Call() as inner:
                yield site.becomes("none", made("A is not None", A=inner))
