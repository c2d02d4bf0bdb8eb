"""Operators on a student's code that move a statement, use an argument of the function, or keep what the caller has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .sentences import CHANGES
from .site import Change, Site, defaults_of, line_of, made, parameters_of, statements_of, with_fields
from .smaller_edits import expression_around
from .syntax import called

Block = ast.For | ast.While | ast.With | ast.If


def moved_out(site: Site) -> Iterator[Change]:
    """A statement of a loop, a `with` or an `if` comes after that block, or before it."""
    node = site.node
    body = node.body if isinstance(node, Block) else []
    for i, statement in enumerate(body if len(body) > 1 else ()):
        rest = with_fields(node, body=[*body[:i], *body[i + 1 :]])
        for kind, order in (("after", [rest, statement]), ("before", [statement, rest])):
            yield Change(statements_of(order), site.code(statement), CHANGES[kind], line_of(statement))


def not_added_up(site: Site) -> Iterator[Change]:
    """`x += y` becomes `x = y`."""
    match site.node:
        case ast.AugAssign(target=target, value=value):
            yield site.becomes("plain", made("A = B", A=target, B=value))


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
    """`if x` becomes `if x is not None`, and so does each of several conditions."""
    if isinstance(site.parent, ast.BoolOp) or getattr(site.parent, "test", None) is site.node:
        match site.node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as inner):
                yield site.becomes("none", made("A is None", A=inner))
            case ast.Name() | ast.Attribute() as inner:
                yield site.becomes("none", made("A is not None", A=inner))


WRITING = ("append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update", "setdefault")


def caller_kept(site: Site) -> Iterator[Change]:
    """A function that writes into something works on a copy of one of its arguments."""
    node = site.node
    if isinstance(node, ast.FunctionDef) and any(map(writes, ast.walk(node))):
        for name in parameters_of(node):
            for way in ("clone", "copy"):  # a tensor's; a list's or a dictionary's
                new = with_fields(node, body=[made(f"{name} = {name}.{way}()"), *node.body])
                yield Change(new, f"def {node.name}", CHANGES["copied"].format(name=name))


def writes(node: ast.AST) -> bool:
    """Say whether a piece of code may write into what it is given."""
    into = isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load)
    name = called(node)
    return into or isinstance(node, ast.AugAssign) or name in WRITING or (name.endswith("_") and name[:1] != "_")
