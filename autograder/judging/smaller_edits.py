"""Operators on a student's code that leave something out, or write another number, axis or keyword."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from typing import Any

from .sentences import CHANGES
from .site import Change, Site, defaults_of, in_one_line, line_of, made, statements_of, with_fields
from .syntax import DRAW, called, constant, is_self, number_in

MODULES = ("torch", "math", "functional", "nn", "np")
OWNERS = (*MODULES, "self", "F", "numpy", "random", "einops")
MOST_DTYPES = 2  # of the first parameters: all inputs have one


def is_owner_of_functions(node: ast.AST) -> bool:
    """Say whether an expression is a module or `self`: what stands before the dot is no argument."""
    if isinstance(node, ast.Attribute):
        return is_owner_of_functions(node.value)
    return isinstance(node, ast.Name) and node.id in OWNERS


def is_method(call: ast.Call) -> bool:
    """Say whether a call works on what stands before the dot."""
    return isinstance(call.func, ast.Attribute) and not is_owner_of_functions(call.func.value)


def is_owned_by_self(call: ast.Call) -> bool:
    """Say whether a call is one of a module's own layers."""
    return isinstance(call.func, ast.Attribute) and is_self(call.func.value)


def with_keywords(node: ast.Call, /, **options: int | ast.expr) -> ast.Call:
    """Return a call with some keywords more."""
    values = {name: v if isinstance(v, ast.expr) else constant(v) for name, v in options.items()}
    return ast.Call(node.func, node.args, [*node.keywords, *(ast.keyword(n, v) for n, v in values.items())])


def expression_around(site: Site) -> ast.AST:
    """Return the smallest expression that shows what a constant or a name is for."""
    for parent in site.parents:
        if not isinstance(parent, ast.keyword | ast.UnaryOp | ast.Slice | ast.Tuple):
            return parent if isinstance(parent, ast.expr) else site.node
    return site.node


def names_of_loops(site: Site) -> set[str]:
    """Return the variables of the loops around a node."""
    loops = [parent for parent in site.parents if isinstance(parent, ast.For)]
    return {part.id for loop in loops for part in ast.walk(loop.target) if isinstance(part, ast.Name)}


# What is left out


def call_deleted(site: Site) -> Iterator[Change]:
    """`x.float()` becomes `x`; so do `x.T` and `F.dropout(x, 0.1)`."""
    match site.node:
        case ast.Attribute(value=owner, attr="T" | "mT" | "data" | "H" | "real" as name):
            yield Change(owner, f".{name}")
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as func) as call if is_method(call):
            rest = site.code().removeprefix(site.code(owner))
            piece = f".{name}(…)" if rest == site.code() else rest
            yield Change(owner, piece, line=getattr(func, "end_lineno", 0) or 0)
        case ast.Call(func=func, args=[first, *_]) if not isinstance(first, ast.Starred):
            yield Change(first, f"{ast.unparse(func)}(…)")


SIGNED = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
SIGNS = {type(made(f"A {sign} B").op): sign for sign in SIGNED}


def side_deleted(site: Site) -> Iterator[Change]:
    """`a / b` becomes `a`, `a + b` becomes `b` too; `a and b` becomes `a`. Whoever writes `x * x` means both."""
    match site.node:
        case ast.BinOp(left=left, op=op, right=right) if ast.dump(left) != ast.dump(right):
            yield Change(left, f"{SIGNS[type(op)]} {operand(site, right)}", line=line_of(right))
            if not isinstance(op, ast.Div | ast.FloorDiv | ast.Pow):
                yield Change(right, f"{operand(site, left)} {SIGNS[type(op)]}")
        case ast.BoolOp(op=op, values=values):
            for value in values:
                rest = [other for other in values if other is not value]
                yield Change(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest), site.code(value))


def operand(site: Site, node: ast.expr) -> str:
    """Return one side of an operation as it is written, in parentheses where they may be needed."""
    return f"({site.code(node)})" if isinstance(node, ast.BinOp | ast.Compare | ast.IfExp) else site.code(node)


def argument_deleted(site: Site) -> Iterator[Change]:
    """`f(x, dim=0)` becomes `f(x)`; so does `f(x, 2)`. Over all axes, it may never act at all."""
    node = site.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg not in AXIS_NAMES or called(node) not in REDUCED:
                rest = [other for other in node.keywords if other is not keyword]
                yield Change(ast.Call(node.func, node.args, rest), site.code(keyword), line=line_of(keyword))
        if len(node.args) > 1:
            last = node.args[-1]
            yield Change(ast.Call(node.func, node.args[:-1], node.keywords), f", {site.code(last)}", line=line_of(last))


def index_deleted(site: Site) -> Iterator[Change]:
    """`x[:, None]` becomes `x`."""
    match site.node:
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()):
            yield Change(value, f"[{site.code(index)}]")


def statement_deleted(site: Site) -> Iterator[Change]:
    """A statement is left out; of a `with` the body may stay."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(
        node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass
    ):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    head = in_one_line(ast.unparse(node).split("\n")[0])
    yield Change(ast.Pass(), head if hasattr(node, "body") else site.code())
    if isinstance(node, ast.With):
        yield Change(statements_of(node.body), head)


# Numbers, axes and keywords

AXIS_NAMES = ("dim", "axis", "dim0", "dim1", "dim2", "dims", "start_dim", "end_dim")
REDUCED = (
    *("sum", "mean", "prod", "amax", "amin", "max", "min", "std", "var", "logsumexp", "norm", "any", "all"),
    *("argmax", "argmin"),
)
ALONG = (*REDUCED, "softmax", "log_softmax", "cumsum", "squeeze", "repeat_interleave", "argsort", "sort")
TAKE_AXES = (
    *(*ALONG, "size", "transpose", "swapaxes", "permute", "unsqueeze", "squeeze", "flatten", "unflatten", "diagonal"),
    *("flip", "gather", "sort", "argsort", "chunk", "split", "cat", "stack"),
)
SEVERAL_AXES = ("transpose", "swapaxes", "permute", "flatten", "squeeze", "diagonal", "flip")
SIZE_FIRST = ("chunk", "split", "norm", "diagonal")  # how many, how large or which: the axis comes after it
TAKE_SIZES = (
    *("zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "new_zeros", "new_ones", "new_full"),
    *("view", "reshape", "expand", "unflatten", "repeat"),
)
CREATORS = ("zeros", "ones", "full", "empty", "eye", "tensor", "arange", "linspace")
PAIRS = ((-2, -1), (1, 2), (-3, -2), (0, 1), (2, 3))
TAKE_PAIRS = ("transpose", "swapaxes", "movedim", "flatten", "diagonal")
ENDS_OF_SLICES = (ast.Name, ast.BinOp)
ENDS = {"arange": 1, "range": 1, "tril": 1, "triu": 1, "diagonal": 1}  # which argument says where it ends


def other_number(site: Site) -> Iterator[Change]:
    """One number, or one of True and False, is another one; an axis is another axis."""
    node, parent, shown = site.node, site.parent, expression_around(site)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        return  # -2 is one number
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield site.becomes("setting", ast.Constant(not node.value), shown)
    value = number_of(node)
    if value is not None:
        power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.right is node
        roots = [0.5, -0.5] if isinstance(value, int) and power else []
        turned = called(parent) in TAKE_PAIRS  # and put back, with the same number
        for other in (*other_values(value), *roots):
            alike = f"{value} to {other}" if turned else ""
            yield Change(constant(other), site.code(shown), words_for_number(site, value, other), alike=alike)
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        yield site.becomes("number", made("-A", A=node), shown, how="negative", what=f"in place of `{site.code()}`")


def words_for_number(site: Site, value: float, other: float) -> str:
    """Return what a number is changed to: another axis or index, or a larger number."""
    parent = site.parent
    name = parent.arg if isinstance(parent, ast.keyword) else ""
    if is_axis(site):
        return CHANGES["axis"]
    if isinstance(parent, ast.Subscript) and parent.slice is site.node:
        return CHANGES["index"]
    how = ("positive" if other > 0 else "negative") if value * other < 0 else "larger" if other > value else "smaller"
    return CHANGES["number"].format(how=how, what=f"for `{name}`" if name else f"in place of `{site.code()}`")


def is_axis(site: Site) -> bool:
    """Say whether a number says along which axis something happens: of a call, which of its arguments it is counts."""
    in_tuple = isinstance(site.parent, ast.Tuple)
    match site.parents[1] if in_tuple else site.parent:
        case ast.keyword(arg=name):
            return name in AXIS_NAMES
        case ast.Subscript(value=value):
            return isinstance(value, ast.Attribute) and value.attr == "shape"
        case ast.Call(func=ast.Attribute(attr=name), args=args) as call if name in TAKE_AXES:
            first = (name in SIZE_FIRST) + (not is_method(call))
            axes = args[first:] if name in SEVERAL_AXES else args[first : first + 1]
            return any(argument is (site.parent if in_tuple else site.node) for argument in axes)
    return False


def other_values(value: float) -> list[float]:
    """Return the numbers that are most often meant where another one is written."""
    if isinstance(value, int):
        numbers: list[float] = [-1, -2, 0, 1, 2, -3, 3, value + 1, value - 1, -value]
    else:
        numbers = [0.0, 1.0, -value, 0.5, -0.5, 2.0, value * 2, value / 2, 1 / value if value else 1.0]
    return [number for number in dict.fromkeys(numbers) if number != value]


def number_of(node: ast.AST) -> int | float | None:
    """Return the number that is written, or None."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is float else number_in(node)


def size_of_an_argument(site: Site) -> Iterator[Change]:
    """`torch.zeros(3)` becomes `torch.zeros(value.shape[-1])`: a size that fits whatever comes in."""
    call = next((parent for parent in site.parents if not isinstance(parent, ast.Tuple | ast.List)), None)
    if isinstance(number_of(site.node), int) and call and called(call) in TAKE_SIZES:
        for name, axis in product(sorted(site.arguments - {"self"}), (-1, 0, -2)):
            yield site.becomes("size", made(f"{name}.shape[{axis}]"), expression_around(site))


def other_pair_of_axes(site: Site) -> Iterator[Change]:
    """`x.transpose(1, 2)` becomes `x.transpose(-2, -1)`; so does `x.flatten(start_dim=2, end_dim=3)`."""
    node = site.node
    if not isinstance(node, ast.Call) or called(node) not in TAKE_PAIRS:
        return
    named = [keyword.arg for keyword in node.keywords if keyword.arg in AXIS_NAMES]
    for pair in PAIRS:
        axes = [constant(axis) for axis in pair]
        if len(named) == 2:
            new: dict[str | None, ast.expr] = dict(zip(named, axes, strict=True))
            keywords = [ast.keyword(k.arg, new.get(k.arg, k.value)) for k in node.keywords]
            yield site.becomes("two axes", ast.Call(node.func, node.args, keywords))
        elif None not in (turned := tuple(map(number_in, node.args[-2:]))) and len(turned) == 2:
            new_call, alike = ast.Call(node.func, [*node.args[:-2], *axes], node.keywords), f"{turned} to {pair}"
            yield Change(new_call, site.code(), CHANGES["two axes"], alike=alike)


def end_moved(site: Site) -> Iterator[Change]:
    """`arange(n)` becomes `arange(n + 1)`, or `arange(n - 1)`; so does n in `x[:n]` and `x[n]`."""
    node = site.node
    place = isinstance(site.parent, ast.Slice | ast.Subscript) and getattr(site.parent, "value", None) is not node
    for form, how in (("A + 1", "larger"), ("A - 1", "smaller")) if place and isinstance(node, ENDS_OF_SLICES) else ():
        yield site.becomes("end", made(form, A=node), expression_around(site), end=site.code(), how=how)
    if isinstance(node, ast.Call) and called(node) in ENDS and node.args:
        last = min(ENDS[called(node)], len(node.args) - 1)
        for form, how in (("A + 1", "larger"), ("A - 1", "smaller")):
            arguments = [*node.args[:last], made(form, A=node.args[last]), *node.args[last + 1 :]]
            yield site.becomes("end", with_fields(node, args=arguments), end=site.code(node.args[last]), how=how)


def unused_argument(site: Site) -> Iterator[Change]:
    """An argument that the function never reads takes an expression's place: `10_000` becomes `base`."""
    node = site.node
    if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if text or any(isinstance(part, ast.JoinedStr) for part in (node, *site.parents)):
        return
    yield from (site.becomes("unread", ast.Name(name, ast.Load())) for name in site.unread)


def factor_added(site: Site) -> Iterator[Change]:
    """`2 * n` becomes `2 * n * heads`, with any argument of the function that is not in the product."""
    if is_product(site.node) and not is_product(site.parent):
        there = {part.id for part in ast.walk(site.node) if isinstance(part, ast.Name)}
        for name in sorted(site.arguments - there):
            yield site.becomes("factor", made(f"A * {name}", A=site.node), name=name)


def is_product(node: ast.AST) -> bool:
    """Say whether a node is a product."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def keyword_added(site: Site) -> Iterator[Change]:
    """`x.softmax()` gets an axis, `torch.zeros(n)` the dtype of a parameter, `attend(x, x)` the argument `mask`."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    given = {keyword.arg for keyword in node.keywords}
    for kind, keywords, gaps in keywords_for(site, node, bool(given.intersection(AXIS_NAMES))):
        if given.isdisjoint(keywords):
            yield Change(with_keywords(node, **keywords), site.code(), CHANGES[kind].format(**gaps))
    for name in site.unread:
        new = with_fields(node, args=[*node.args, ast.Name(name, ast.Load())])
        yield site.becomes("passed", new, name=name)


def keywords_for(site: Site, node: ast.Call, axes: bool) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Yield what a call may lack: the kind of change, the keywords, and what fills the gaps of its words.

    Args:
        site: the call's.
        node: the call.
        axes: it names its axes.
    """
    name = called(node)
    axes = axes or len(node.args) > (not is_method(node)) + (name in ("diagonal", "repeat_interleave"))
    if name in ALONG and not axes:
        yield from (("one axis", {"dim": axis}, {}) for axis in (-1, -2, 0, 1))
    if name in REDUCED and axes:
        yield "axis kept", {"keepdim": True}, {}
    if name in ("std", "var"):
        yield "count", {"correction": 0}, {}
    if name in ("sort", "argsort", "topk"):
        yield "turned around", {"largest": False} if name == "topk" else {"descending": True}, {}
    if name == "diagonal" and not axes:
        yield "two axes", {"dim1": -2, "dim2": -1}, {}
    for given in site.names[:MOST_DTYPES] if name in CREATORS and not is_method(node) else ():
        yield "dtype", {"dtype": made(f"{given}.dtype")}, {"name": given}
    for function in site.functions[:1]:
        others = [part for part in ast.walk(function) if isinstance(part, ast.Call) and called(part) == name != ""]
        for keyword in (keyword for other in others for keyword in other.keywords if keyword.arg):
            yield "keyword", {str(keyword.arg): keyword.value}, {"keyword": str(keyword.arg), "name": name}
        by_name = (argument.arg for argument in function.args.kwonlyargs)
        for given in dict.fromkeys((*site.unread, *by_name, *defaults_of(function))):
            yield "passed", {given: ast.Name(given, ast.Load())}, {"name": given}


def help_passed(site: Site) -> Iterator[Change]:
    """`torch.randperm(n)` gets `generator=generator`; in a module, `F.dropout(x, p)` gets `training=self.training`."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call):
        return
    kept = [keyword for keyword in node.keywords if keyword.arg != "training"]
    if name in DRAW and "generator" in site.names and all(keyword.arg != "generator" for keyword in kept):
        yield site.becomes("generator", with_keywords(node, generator=made("generator")))
    if "dropout" in name and not is_owned_by_self(node) and site.in_method:
        dropout = ast.Call(node.func, node.args[:2], kept)
        yield site.becomes("mode", with_keywords(dropout, training=made("self.training")))
