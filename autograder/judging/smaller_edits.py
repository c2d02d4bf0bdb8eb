"""Operators on a student's code that leave something out, or write another number, axis or keyword."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import product

from .sentences import CHANGES
from .site import Change, Site, in_one_line, line_of, statements_of, with_fields
from .syntax import called, constant, is_self, number_in
from .wider_edits import MODULES

MOST_DTYPES = 2  # of the first parameters: all inputs have one


def is_owner_of_functions(node: ast.AST) -> bool:
    """Say whether an expression is a module or `self`: what stands before the dot is no argument."""
    if isinstance(node, ast.Attribute):
        return is_owner_of_functions(node.value)
    return isinstance(node, ast.Name) and node.id in OWNERS


OWNERS = (*MODULES, "self", "F", "numpy", "random", "einops")


def is_method(call: ast.Call) -> bool:
    """Say whether a call works on what stands before the dot."""
    return isinstance(call.func, ast.Attribute) and not is_owner_of_functions(call.func.value)


def call_deleted(site: Site) -> Iterator[Change]:
    """`x.float()` becomes `x`; so does `F.dropout(x, 0.1)`."""
    node = site.node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data", "H", "real"):
        yield Change(node.value, f".{node.attr}")
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and is_method(node):
        owner, whole = site.code(node.func.value), site.code()
        piece = whole[len(owner) :] if whole.startswith(owner) else f".{node.func.attr}(…)"
        yield Change(node.func.value, piece, line=getattr(node.func, "end_lineno", 0) or 0)
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield Change(node.args[0], f"{ast.unparse(node.func)}(…)")


def side_deleted(site: Site) -> Iterator[Change]:
    """`a / b` becomes `a`, `a + b` becomes `b` too; `a and b` becomes `a`. Whoever writes `x * x` means both."""
    node = site.node
    if isinstance(node, ast.BinOp) and ast.dump(node.left) != ast.dump(node.right):
        sign = SIGNS.get(type(node.op), "")
        yield Change(node.left, f"{sign} {site.code(node.right)}", line=line_of(node.right))
        if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Pow):
            yield Change(node.right, f"{site.code(node.left)} {sign}")
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            rest = [other for other in node.values if other is not value]
            yield Change(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), site.code(value))


SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}


def argument_deleted(site: Site) -> Iterator[Change]:
    """`f(x, dim=0)` becomes `f(x)`; so does `f(x, 2)`."""
    node = site.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg in AXIS_NAMES and called(node) in REDUCED:
                continue  # over all axes it may never act at all: see `axis_removed`
            rest = [other for other in node.keywords if other is not keyword]
            yield Change(ast.Call(node.func, node.args, rest), site.code(keyword), line=line_of(keyword))
        if len(node.args) > 1:
            last = node.args[-1]
            yield Change(ast.Call(node.func, node.args[:-1], node.keywords), f", {site.code(last)}", line=line_of(last))


def index_deleted(site: Site) -> Iterator[Change]:
    """`x[:, None]` becomes `x`."""
    node = site.node
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield Change(node.value, f"[{site.code(node.slice)}]")


def decorator_deleted(site: Site) -> Iterator[Change]:
    """A function loses one of its decorators."""
    node = site.node
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            rest = [other for other in node.decorator_list if other is not decorator]
            changed = with_fields(node, decorator_list=rest)
            yield Change(changed, f"@{site.code(decorator)}", line=line_of(decorator))


def statement_deleted(site: Site) -> Iterator[Change]:
    """A statement is left out; of an `if` or a `with` the body may stay."""
    node = site.node
    if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    head = in_one_line(ast.unparse(node).split("\n")[0])
    yield Change(ast.Pass(), head if hasattr(node, "body") else site.code())
    if isinstance(node, ast.With):
        yield Change(statements_of(node.body), head)
    if isinstance(node, ast.If):
        yield Change(statements_of(node.body), head, CHANGES["body always"])
        if node.orelse:
            yield Change(statements_of(node.orelse), head, CHANGES["other case always"])


def other_number(site: Site) -> Iterator[Change]:
    """One number, or one of True and False, is another one; an axis is another axis."""
    node = site.node
    if isinstance(site.parent, ast.UnaryOp) and isinstance(site.parent.op, ast.USub):
        return  # -2 is one number
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield Change(ast.Constant(not node.value), site.code(expression_around(site)), CHANGES["setting"])
    value = number_of(node)
    if value is not None:
        power = site.parent if isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, ast.Pow) else None
        roots = [0.5, -0.5] if isinstance(value, int) and power is not None and power.right is node else []
        for other in (*other_values(value), *roots):
            yield Change(constant(other), site.code(expression_around(site)), words_for_number(site, value, other))
    if value == 0 and isinstance(site.parent, ast.Subscript | ast.Tuple):
        for name in sorted(names_of_loops(site)):
            words = CHANGES["round"].format(name=name)
            yield Change(ast.Name(name, ast.Load()), site.code(expression_around(site)), words)
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        words = CHANGES["number"].format(how="negative", what=f"in place of `{site.code()}`")
        yield Change(ast.UnaryOp(ast.USub(), node), site.code(expression_around(site)), words)


TAKE_SIZES = (
    *("zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "new_zeros", "new_ones", "new_full"),
    *("view", "reshape", "expand", "unflatten", "repeat"),
)


def size_of_an_argument(site: Site) -> Iterator[Change]:
    """`torch.zeros(3)` becomes `torch.zeros(value.shape[-1])`: a size that fits whatever comes in."""
    call = next((parent for parent in site.parents if not isinstance(parent, ast.Tuple | ast.List)), None)
    if isinstance(number_of(site.node), int) and isinstance(call, ast.Call) and called(call) in TAKE_SIZES:
        for name, axis in product(sorted(site.arguments - {"self"}), (-1, 0, -2)):
            shape = ast.Attribute(ast.Name(name, ast.Load()), "shape", ast.Load())
            size = ast.Subscript(shape, constant(axis), ast.Load())
            yield Change(size, site.code(expression_around(site)), CHANGES["size"])


def words_for_number(site: Site, value: float, other: float) -> str:
    """Return what a number is changed to: another axis, a larger value for an argument, a diagonal further left."""
    parent = site.parent
    name = parent.arg if isinstance(parent, ast.keyword) else ""
    if name in ("offset", "diagonal") or is_offset(site):
        return CHANGES["offset"].format(**dict(zip(("how", "side"), HIGHER if other > value else LOWER, strict=True)))
    if is_axis(site):
        return CHANGES["axis"]
    if isinstance(parent, ast.Subscript) and parent.slice is site.node:
        return CHANGES["index"]
    how = ("positive" if other > 0 else "negative") if value * other < 0 else "larger" if other > value else "smaller"
    return CHANGES["number"].format(how=how, what=f"for `{name}`" if name else f"in place of `{site.code()}`")


HIGHER, LOWER = ("larger", "right"), ("smaller", "left")


def is_offset(site: Site) -> bool:
    """Say whether a number says which diagonal is meant."""
    call = site.parent
    if not isinstance(call, ast.Call) or called(call) not in ("diagonal", "tril", "triu"):
        return False
    place = 0 if is_method(call) else 1
    return call.args[place : place + 1] == [site.node]


def expression_around(site: Site) -> ast.AST:
    """Return the smallest expression that shows what a constant or a name is for."""
    for parent in site.parents:
        if not isinstance(parent, ast.keyword | ast.UnaryOp | ast.Slice | ast.Tuple):
            return parent if isinstance(parent, ast.expr) else site.node
    return site.node


def other_values(value: float) -> list[float]:
    """Return the numbers that are most often meant where another one is written."""
    if isinstance(value, int):
        numbers: list[float] = [-1, -2, 0, 1, 2, -3, 3, value + 1, value - 1, -value]
    else:
        numbers = [0.0, 1.0, -value, 0.5, -0.5, 2.0, value * 2, value / 2, 1 / value if value else 1.0]
    return [number for number in dict.fromkeys(numbers) if number != value]


def number_of(node: ast.AST) -> int | float | None:
    """Return the number that is written, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return node.value
    return number_in(node)


AXIS_NAMES = ("dim", "axis", "dim0", "dim1", "dim2", "dims", "start_dim", "end_dim")
REDUCED = (
    *("sum", "mean", "prod", "amax", "amin", "max", "min", "std", "var", "logsumexp", "norm", "any", "all"),
    *("argmax", "argmin"),
)
ALONG = (*REDUCED, "softmax", "log_softmax", "cumsum")
TAKE_AXES = (
    *(*ALONG, "size", "transpose", "swapaxes", "permute", "unsqueeze", "squeeze", "flatten", "unflatten", "diagonal"),
    *("flip", "gather", "sort", "argsort", "chunk", "split", "cat", "stack"),
)


def is_axis(site: Site) -> bool:
    """Say whether a number says along which axis something happens."""
    parent = site.parents[1] if isinstance(site.parent, ast.Tuple) else site.parent
    if isinstance(parent, ast.keyword):
        return parent.arg in AXIS_NAMES
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.value, ast.Attribute) and parent.value.attr == "shape"
    return called(parent) in TAKE_AXES


PAIRS = ((-2, -1), (1, 2), (-3, -2), (0, 1), (2, 3))
TAKE_PAIRS = ("transpose", "swapaxes", "movedim", "flatten", "diagonal")


def other_pair_of_axes(site: Site) -> Iterator[Change]:
    """`x.transpose(1, 2)` becomes `x.transpose(-2, -1)`; so does `x.flatten(start_dim=2, end_dim=3)`."""
    node = site.node
    if not isinstance(node, ast.Call) or called(node) not in TAKE_PAIRS:
        return
    named = [keyword for keyword in node.keywords if keyword.arg in AXIS_NAMES]
    if len(named) == 2:
        for axes in PAIRS:
            new = {keyword.arg: constant(axis) for keyword, axis in zip(named, axes, strict=True)}
            keywords = [ast.keyword(k.arg, new.get(k.arg, k.value)) for k in node.keywords]
            yield Change(ast.Call(node.func, node.args, keywords), site.code(), CHANGES["two axes"])
    elif len(node.args) >= 2 and None not in [number_in(argument) for argument in node.args[-2:]]:
        for axes in PAIRS:
            call = ast.Call(node.func, [*node.args[:-2], *map(constant, axes)], node.keywords)
            yield Change(call, site.code(), CHANGES["two axes"])


def axis_added(site: Site) -> Iterator[Change]:
    """`x.softmax()` gets an axis, `x.sum(dim=1)` keeps it, `x.diagonal()` runs over the last two."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or name not in (*ALONG, "diagonal", "flatten", "squeeze"):
        return
    given = {keyword.arg for keyword in node.keywords}
    others = (not is_method(node)) + (name == "diagonal")  # arguments that come before the axes
    axes = given & set(AXIS_NAMES) or len(node.args) > others
    if name in ALONG and not axes:
        for axis in (-1, -2, 0, 1):
            yield Change(with_keywords(node, dim=axis), site.code(), CHANGES["one axis"])
    if name in REDUCED and axes and not given & {"keepdim", "keepdims"}:
        yield Change(with_keywords(node, keepdim=True), site.code(), CHANGES["axis kept"])
    if name == "diagonal" and not axes:
        yield Change(with_keywords(node, dim1=-2, dim2=-1), site.code(), CHANGES["two axes"])
    if name in ("flatten", "squeeze") and not axes:
        for axis in (-2, 1, -3, -1):
            call = ast.Call(node.func, [*node.args, constant(axis)], node.keywords)
            yield Change(call, site.code(), CHANGES["from axis"] if name == "flatten" else CHANGES["one axis"])


def with_keywords(node: ast.Call, **options: int | bool) -> ast.Call:
    """Return a call with more keywords."""
    new = [ast.keyword(n, ast.Constant(v) if isinstance(v, bool) else constant(v)) for n, v in options.items()]
    return ast.Call(node.func, node.args, [*node.keywords, *new])


def keyword_shared(site: Site) -> Iterator[Change]:
    """A call gets a keyword that another call of the same function has."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or not name:
        return
    given = {keyword.arg for keyword in node.keywords}
    function = next((p for p in site.parents if isinstance(p, ast.FunctionDef)), None)
    for other in ast.walk(function) if function else ():
        if isinstance(other, ast.Call) and other is not node and called(other) == name:
            for keyword in other.keywords:
                if keyword.arg and keyword.arg not in given:
                    call = ast.Call(node.func, node.args, [*node.keywords, keyword])
                    yield Change(call, site.code(), CHANGES["keyword"].format(keyword=keyword.arg, name=name))


CREATORS = ("zeros", "ones", "full", "empty", "eye", "tensor", "arange", "linspace")


def dtype_given(site: Site) -> Iterator[Change]:
    """`torch.zeros(n)` gets the dtype of a parameter."""
    node = site.node
    if not isinstance(node, ast.Call) or called(node) not in CREATORS or is_method(node):
        return
    if not any(keyword.arg == "dtype" for keyword in node.keywords):
        for name in site.names[:MOST_DTYPES]:
            dtype = ast.keyword("dtype", ast.Attribute(ast.Name(name, ast.Load()), "dtype", ast.Load()))
            call = ast.Call(node.func, node.args, [*node.keywords, dtype])
            yield Change(call, site.code(), CHANGES["dtype"].format(name=name))


ENDS = {"arange": 1, "range": 1, "tril": 1, "triu": 1, "diagonal": 1}  # which argument says where it ends


def end_moved(site: Site) -> Iterator[Change]:
    """`arange(n)` becomes `arange(n + 1)`, or `arange(n - 1)`."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in ENDS and node.args:
        last = min(ENDS[called(node)], len(node.args) - 1)
        for sign in (ast.Add(), ast.Sub()):
            moved = ast.BinOp(node.args[last], sign, ast.Constant(1))
            arguments = [*node.args[:last], moved, *node.args[last + 1 :]]
            yield Change(ast.Call(node.func, arguments, node.keywords), site.code(), CHANGES["end"])


def mode_passed_on(site: Site) -> Iterator[Change]:
    """`F.dropout(x, p)` in a module gets `training=self.training`."""
    node = site.node
    if isinstance(node, ast.Call) and "dropout" in called(node) and not is_owned_by_self(node) and site.in_method:
        mode = ast.keyword("training", ast.Attribute(ast.Name("self", ast.Load()), "training", ast.Load()))
        kept = [keyword for keyword in node.keywords if keyword.arg != "training"]
        yield Change(ast.Call(node.func, node.args[:2], [*kept, mode]), site.code(), CHANGES["mode"])


def is_owned_by_self(call: ast.Call) -> bool:
    """Say whether a call is one of a module's own layers."""
    return isinstance(call.func, ast.Attribute) and is_self(call.func.value)


def names_of_loops(site: Site) -> set[str]:
    """Return the variables of the loops around a node."""
    loops = [parent for parent in site.parents if isinstance(parent, ast.For)]
    parts = [part for loop in loops for part in ast.walk(loop.target)]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def axis_removed(site: Site) -> Iterator[Change]:
    """`x.all(dim=1)` becomes `x.all()`."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in REDUCED:
        rest = [keyword for keyword in node.keywords if keyword.arg not in AXIS_NAMES]
        if len(rest) < len(node.keywords):
            yield Change(ast.Call(node.func, node.args, rest), site.code(), CHANGES["all axes"])


def sign_deleted(site: Site) -> Iterator[Change]:
    """`-x` becomes `x`, `~mask` becomes `mask`."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        sign = {ast.USub: "-", ast.Invert: "~", ast.Not: "not "}.get(type(node.op), "+")
        yield Change(node.operand, f"{sign}{site.code(node.operand)}", CHANGES["sign"])


def one_case_only(site: Site) -> Iterator[Change]:
    """`a if test else b` becomes `a`, or `b`."""
    node = site.node
    if isinstance(node, ast.IfExp):
        yield Change(node.body, site.code(), CHANGES["one case"])
        yield Change(node.orelse, site.code(), CHANGES["one case"])


def loop_shortened(site: Site) -> Iterator[Change]:
    """A loop ends after its first round."""
    node = site.node
    if isinstance(node, ast.For):
        head = in_one_line(ast.unparse(node).split("\n")[0])
        yield Change(with_fields(node, body=[*node.body, ast.Break()]), head, CHANGES["first round"])
