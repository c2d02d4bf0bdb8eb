"""The operators that edit a student's code, one table: each looks at one node and yields changes of it.

What a form of code becomes, whatever stands in it, is a rule of `RULES`. Operators that look around are functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from .sentences import CHANGES
from .site import (
    Change,
    Operator,
    Site,
    Size,
    filled,
    fits,
    in_one_line,
    line_of,
    made,
    parameters_of,
    parsed_template,
    statements_of,
    with_fields,
)
from .syntax import DRAW, called, constant, is_self, number_in

MODULES = ("torch", "math", "functional", "nn", "np")
OWNERS = (*MODULES, "self", "F", "numpy", "random", "einops")
MOST_DTYPES = 2  # of the first parameters: all inputs have one
LONGEST_LIST = 6
FARTHEST = 4  # that a statement is moved
ROUNDING = "1e-4"

RULES: Sequence[tuple[str, ...]] = (  # a key of `CHANGES`, a form, and what it becomes
    ("sign", "-A", "A"),
    ("sign", "~A", "A"),
    ("sign", "not A", "A"),
    ("one case", "A if B else C", "A", "C"),
    ("none", "A or B", "A if A is not None else B"),
    *(("sides", f"A {sign} B", f"B {sign} A") for sign in ("-", "/", "@", "%")),
    ("cases", "A if B else C", "C if B else A"),
    ("other transpose", "A.T", "A.mT"),
    ("other transpose", "A.mT", "A.T"),
)


def rule(kinds: Sequence[str]) -> Operator:
    """Return the operator that the rules of some kinds are."""
    forms = [(kind, parsed_template(form), new) for kind, form, *new in RULES if kind in kinds]

    def by_rules(site: Site) -> Iterator[Change]:
        for kind, form, templates in forms:
            parts: dict[str, ast.AST] = {}
            if type(form) is type(site.node) and number_in(site.node) is None and fits(form, site.node, parts):
                for template in templates:
                    yield site.becomes(kind, filled(parsed_template(template), parts))

    return by_rules


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


def with_keywords(node: ast.Call, **options: int | ast.expr) -> ast.Call:
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
            yield Change(left, f"{SIGNS[type(op)]} {site.code(right)}", line=line_of(right))
            if not isinstance(op, ast.Div | ast.FloorDiv | ast.Pow):
                yield Change(right, f"{site.code(left)} {SIGNS[type(op)]}")
        case ast.BoolOp(op=op, values=values):
            for value in values:
                rest = [other for other in values if other is not value]
                yield Change(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest), site.code(value))


def argument_deleted(site: Site) -> Iterator[Change]:
    """`f(x, dim=0)` becomes `f(x)`; so does `f(x, 2)`. Over all axes, it may never act at all: see `axis_removed`."""
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


def decorator_deleted(site: Site) -> Iterator[Change]:
    """A function loses one of its decorators."""
    match site.node:
        case ast.FunctionDef(decorator_list=decorators) as node:
            for decorator in decorators:
                rest = [other for other in decorators if other is not decorator]
                new = with_fields(node, decorator_list=rest)
                yield Change(new, f"@{site.code(decorator)}", line=line_of(decorator))


def statement_deleted(site: Site) -> Iterator[Change]:
    """A statement is left out; of an `if` or a `with` the body may stay."""
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
    if isinstance(node, ast.If):
        yield Change(statements_of(node.body), head, CHANGES["body always"])
        if node.orelse:
            yield Change(statements_of(node.orelse), head, CHANGES["other case always"])


# Numbers, axes and keywords

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
TAKE_SIZES = (
    *("zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "new_zeros", "new_ones", "new_full"),
    *("view", "reshape", "expand", "unflatten", "repeat"),
)
CREATORS = ("zeros", "ones", "full", "empty", "eye", "tensor", "arange", "linspace")
PAIRS = ((-2, -1), (1, 2), (-3, -2), (0, 1), (2, 3))
TAKE_PAIRS = ("transpose", "swapaxes", "movedim", "flatten", "diagonal")
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
        for other in (*other_values(value), *roots):
            yield Change(constant(other), site.code(shown), words_for_number(site, value, other))
    if value == 0 and isinstance(parent, ast.Subscript | ast.Tuple):
        for name in sorted(names_of_loops(site)):
            yield site.becomes("round", ast.Name(name, ast.Load()), shown, name=name)
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        yield site.becomes("number", made("-A", A=node), shown, how="negative", what=f"in place of `{site.code()}`")


def words_for_number(site: Site, value: float, other: float) -> str:
    """Return what a number is changed to: another axis, a larger value for an argument, a diagonal further left."""
    parent = site.parent
    name = parent.arg if isinstance(parent, ast.keyword) else ""
    if name in ("offset", "diagonal") or is_offset(site):
        how, side = ("larger", "right") if other > value else ("smaller", "left")
        return CHANGES["offset"].format(how=how, side=side)
    if is_axis(site):
        return CHANGES["axis"]
    if isinstance(parent, ast.Subscript) and parent.slice is site.node:
        return CHANGES["index"]
    how = ("positive" if other > 0 else "negative") if value * other < 0 else "larger" if other > value else "smaller"
    return CHANGES["number"].format(how=how, what=f"for `{name}`" if name else f"in place of `{site.code()}`")


def is_offset(site: Site) -> bool:
    """Say whether a number says which diagonal is meant."""
    call = site.parent
    if not isinstance(call, ast.Call) or called(call) not in ("diagonal", "tril", "triu"):
        return False
    place = 0 if is_method(call) else 1
    return call.args[place : place + 1] == [site.node]


def is_axis(site: Site) -> bool:
    """Say whether a number says along which axis something happens."""
    match site.parents[1] if isinstance(site.parent, ast.Tuple) else site.parent:
        case ast.keyword(arg=name):
            return name in AXIS_NAMES
        case ast.Subscript(value=value):
            return isinstance(value, ast.Attribute) and value.attr == "shape"
        case parent:
            return called(parent) in TAKE_AXES


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
        elif len(node.args) >= 2 and None not in map(number_in, node.args[-2:]):
            yield site.becomes("two axes", ast.Call(node.func, [*node.args[:-2], *axes], node.keywords))


def axis_added(site: Site) -> Iterator[Change]:
    """`x.softmax()` gets an axis, `x.sum(dim=1)` keeps it, `x.diagonal()` runs over the last two."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or name not in (*ALONG, "diagonal", "flatten", "squeeze"):
        return
    given = {keyword.arg for keyword in node.keywords}
    others = (not is_method(node)) + (name == "diagonal")  # arguments that come before the axes
    axes = given & set(AXIS_NAMES) or len(node.args) > others
    if name in REDUCED and axes and not given & {"keepdim", "keepdims"}:
        yield site.becomes("axis kept", with_keywords(node, keepdim=True))
    if axes:
        return
    if name == "diagonal":
        yield site.becomes("two axes", with_keywords(node, dim1=-2, dim2=-1))
    elif name in ALONG:
        yield from (site.becomes("one axis", with_keywords(node, dim=axis)) for axis in (-1, -2, 0, 1))
    else:
        for axis in (-2, 1, -3, -1):
            call = ast.Call(node.func, [*node.args, constant(axis)], node.keywords)
            yield site.becomes("from axis" if name == "flatten" else "one axis", call)


def axis_removed(site: Site) -> Iterator[Change]:
    """`x.all(dim=1)` becomes `x.all()`."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in REDUCED:
        rest = [keyword for keyword in node.keywords if keyword.arg not in AXIS_NAMES]
        if len(rest) < len(node.keywords):
            yield site.becomes("all axes", ast.Call(node.func, node.args, rest))


def keyword_shared(site: Site) -> Iterator[Change]:
    """A call gets a keyword that another call of the same function has."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or not name:
        return
    given = {keyword.arg for keyword in node.keywords}
    for other in (part for function in site.functions[:1] for part in ast.walk(function)):
        if isinstance(other, ast.Call) and other is not node and called(other) == name:
            for keyword in other.keywords:
                if keyword.arg and keyword.arg not in given:
                    new = with_keywords(node, **{keyword.arg: keyword.value})
                    yield site.becomes("keyword", new, keyword=keyword.arg, name=name)


def keyword_given(site: Site) -> Iterator[Change]:
    """`torch.zeros(n)` gets the dtype of a parameter."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in CREATORS and not is_method(node):
        for name in site.names[:MOST_DTYPES] if all(keyword.arg != "dtype" for keyword in node.keywords) else ():
            yield site.becomes("dtype", with_keywords(node, dtype=made(f"{name}.dtype")), name=name)


def end_moved(site: Site) -> Iterator[Change]:
    """`arange(n)` becomes `arange(n + 1)`, or `arange(n - 1)`."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in ENDS and node.args:
        last = min(ENDS[called(node)], len(node.args) - 1)
        for form in ("A + 1", "A - 1"):
            arguments = [*node.args[:last], made(form, A=node.args[last]), *node.args[last + 1 :]]
            yield site.becomes("end", ast.Call(node.func, arguments, node.keywords))


# What is missing: arguments, copies, axes, room for rounding


def unused_argument(site: Site) -> Iterator[Change]:
    """An argument that the function never reads takes an expression's place: `10_000` becomes `base`."""
    node = site.node
    if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if text or any(isinstance(part, ast.JoinedStr) for part in (node, *site.parents)):
        return
    yield from (site.becomes("unread", ast.Name(name, ast.Load())) for name in site.unread)


def argument_passed(site: Site) -> Iterator[Change]:
    """A call gets an argument that nothing reads, or one by name: `attend(x, x)` becomes `attend(x, x, mask)`."""
    node = site.node
    if not isinstance(node, ast.Call) or not site.functions:
        return
    given = {keyword.arg for keyword in node.keywords}
    for name in dict.fromkeys((*site.unread, *(argument.arg for argument in site.functions[0].args.kwonlyargs))):
        value = ast.Name(name, ast.Load())
        if name in site.unread:
            yield site.becomes("passed", with_fields(node, args=[*node.args, value]), name=name)
        if name not in given:
            yield site.becomes("passed", with_keywords(node, **{name: value}), name=name)


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


def copy_kept(site: Site) -> Iterator[Change]:
    """`old = w[:, a:b]` becomes `old = w[:, a:b].clone()`: it is no view then."""
    node = site.node
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        value = node.value
        if isinstance(value, ast.Subscript | ast.Attribute | ast.Name) or called(value) in ("detach", "view"):
            yield site.becomes("copy kept", with_fields(node, value=made("A.clone()", A=value)))


def whole_axis(site: Site) -> Iterator[Change]:
    """`x[0, i]` becomes `x[:, i]`, and so does every index like it."""
    match site.node:
        case ast.Subscript(slice=ast.Tuple(elts=items), ctx=ast.Load()) as node:
            for i, item in enumerate(items):
                if number_in(item) in (0, -1):
                    changed = ast.Tuple([*items[:i], ast.Slice(), *items[i + 1 :]], ast.Load())
                    new = with_fields(node, slice=changed)
                    yield Change(new, site.code(), CHANGES["whole axis"], alike="whole axis")


def multiple_of_its_size(site: Site) -> Iterator[Change]:
    """`x[h : h + d]` becomes `x[h * d : h * d + d]`."""
    match site.node:
        case ast.Slice(lower=ast.expr() as low, upper=ast.BinOp(left=left, op=ast.Add(), right=size)) as node:
            if ast.dump(left) == ast.dump(low):
                start, end = made("A * B", A=low, B=size), made("A * B + B", A=low, B=size)
                yield site.becomes("multiple", with_fields(node, lower=start, upper=end))


def dots_returned(site: Site) -> Iterator[Change]:
    """`einsum("...md,...nd->mn", …)` becomes `einsum("...md,...nd->...mn", …)`."""
    text = getattr(site.node, "value", None) if called(site.parent) == "einsum" else None
    before, _, after = text.partition("->") if isinstance(text, str) else ("", "", "")
    if after and "..." in before and "..." not in after:
        yield site.becomes("dots", ast.Constant(f"{before}->...{after.strip()}"), site.parent)


def new_axis_moved(site: Site) -> Iterator[Change]:
    """`x[i, None]` becomes `x[None, i]`, `x[:, None]` becomes `x[None]`, `x[:, :, None]` or `x[..., None]`."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    new = [item for item in items if isinstance(item, ast.Constant) and item.value is None]
    simple = all(isinstance(item, ast.Slice) and item.lower is item.upper is None for item in items if item not in new)
    turned = [items[::-1], [*items[1:], items[0]], [items[-1], *items[:-1]]] if new and len(items) > 1 else []
    moved = [with_fields(node, slice=ast.Tuple(order, ast.Load())) for order in turned]
    if len(new) == 1 and simple:
        before = ("", ":, ", ":, :, ", "..., ")
        forms = [f"{front}None{after}" for front in before for after in (",", ", :")]
        moved += [made(f"A[{form}]", A=node.value) for form in forms]
    for other in moved:
        if ast.unparse(other) != ast.unparse(node):
            yield site.becomes("new axis moved", other)


def rounding_allowed(site: Site) -> Iterator[Change]:
    """`a != b` becomes `abs(a - b) > 1e-4`, `torch.equal` becomes `allclose`: everywhere at once too."""
    node, new = site.node, None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new = compared_with_tolerance(node.left, type(node.ops[0]), node.comparators[0])
    elif called(node) in ("ne", "eq", "equal") and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        left, right = node.args if len(node.args) == 2 else (node.func.value, node.args[0])
        if called(node) == "equal":
            new = made(f"torch.allclose(A, B, atol={ROUNDING}, equal_nan=True)", A=left, B=right)
        else:
            new = compared_with_tolerance(left, ast.NotEq if called(node) == "ne" else ast.Eq, right)
    if new is not None:
        yield Change(new, site.code(), CHANGES["tolerance"], alike="tolerance")


def compared_with_tolerance(left: ast.expr, sign: type[ast.cmpop], right: ast.expr) -> ast.expr | None:
    """Return a comparison that leaves room for rounding, or None where that makes no sense."""
    if (isinstance(right, ast.Constant) and not isinstance(right.value, int | float)) or isinstance(right, ast.Tuple):
        return None
    forms: dict[type[ast.cmpop], str] = {ast.Eq: "abs(A - B) <= {}", ast.NotEq: "abs(A - B) > {}"}
    if number_in(right) == 0:
        forms |= {ast.Gt: "A > {}", ast.LtE: "A <= {}"}
    new: ast.expr | None = made(forms[sign].format(ROUNDING), A=left, B=right) if sign in forms else None
    return new


AXES_IN_FRONT = r"\b{name}\b[^().]*\(\.\.\.((?:, *\w+)*)\)"
ONE_PART = """
if {first}.ndim > {axes}:
    parts = [{function}({arguments}) for index in range(len({first}))]
    return {library}.stack(parts) if hasattr(parts[0], "ndim") else tuple(map({library}.stack, zip(*parts)))
"""
ONE_BATCH = """
if {first}.ndim != {axes} + 1:
    front, made = {first}.shape[:{first}.ndim - {axes}], {function}({arguments})
    apart = [part.reshape(*front, *part.shape[1:]) for part in (made if isinstance(made, tuple) else (made,))]
    return tuple(apart) if isinstance(made, tuple) else apart[0]
"""
PART = "{name}[index] if getattr({name}, 'ndim', 0) > {axes} else {name}"
BATCH = "{name}.reshape(-1, *{name}.shape[{name}.ndim - {axes}:]) if getattr({name}, 'ndim', -1) >= {axes} else {name}"


def axes_in_front(site: Site) -> Iterator[Change]:
    """A function whose docstring promises axes in front calls itself without them, or with all of them in one."""
    node = site.node
    if not isinstance(node, ast.FunctionDef) or not isinstance(site.parent, ast.Module):
        return
    text, names = ast.get_docstring(node) or "", parameters_of(node)
    found = {name: re.search(AXES_IN_FRONT.format(name=name), text) for name in names}
    axes = {name: match[1].count(",") for name, match in found.items() if match}
    library = "np" if "np." in ast.unparse(node.args) else "torch"
    for first in list(axes)[:1]:
        for template, given, kind in ((ONE_PART, PART, "one part"), (ONE_BATCH, BATCH, "one batch")):
            values = [given.format(name=n, axes=axes[n]) if n in axes else n for n in names]
            arguments = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
            gaps = {"first": first, "axes": axes[first], "function": node.name, "arguments": arguments}
            new = with_fields(node, body=[made(template.format(library=library, **gaps).strip()), *node.body])
            yield Change(new, f"def {node.name}", CHANGES[kind])


# Another operation, order or name

SIMILAR_SIGNS = "+: - *; -: + /; *: / + @; /: * //; //: % / *; %: //; @: *; &: |; |: &; **: *; ^: ** & |"
INSTEAD = {sign.strip(): others.split() for sign, others in (entry.split(":") for entry in SIMILAR_SIGNS.split(";"))}
OPPOSITE = {"<": "> >=", "<=": "> >=", ">": "< <=", ">=": "< <=", "==": "!=", "!=": "=="}
COMPARED = {type(made(f"A {sign} B").ops[0]): sign for sign in ["<", "<=", ">", ">=", "==", "!="]}


def other_operation(site: Site) -> Iterator[Change]:
    """`a * b` becomes `a / b`, `a ^ b` becomes `a ** b`, `a and b` becomes `a or b`."""
    node = site.node
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for sign in INSTEAD.get(SIGNS[type(node.op)], ()):
            yield site.becomes("operation", with_fields(node, op=made(f"A {sign} B").op))
    if isinstance(node, ast.BoolOp):
        yield site.becomes("joined", ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values))


def other_comparison(site: Site) -> Iterator[Change]:
    """`a < b` becomes `a <= b`, and every other comparison; so does each of a chain."""
    ops = site.node.ops if isinstance(site.node, ast.Compare) else []
    for i, op in enumerate(ops):
        sign = COMPARED.get(type(op), "")
        equal = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}.get(sign, "")
        kinds = {equal: "equal too" if "=" in equal else "equal not"} if equal else {}
        kinds |= dict.fromkeys(OPPOSITE.get(sign, "").split(), "opposite")
        for other in dict.fromkeys((*kinds, *COMPARED.values())) if sign else ():
            if other != sign:
                changed = [*ops[:i], made(f"A {other} B").ops[0], *ops[i + 1 :]]
                yield site.becomes(kinds.get(other, "comparison"), with_fields(site.node, ops=changed))


def condition_changed(site: Site) -> Iterator[Change]:
    """`if x` becomes `if x is not None`, and `if not x`."""
    node = site.node
    if not isinstance(node, ast.If | ast.IfExp | ast.While):
        return
    match node.test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as inner):
            yield site.becomes("none", with_fields(node, test=made("A is None", A=inner)), node.test)
        case ast.Name() | ast.Attribute() as inner:
            yield site.becomes("none", with_fields(node, test=made("A is not None", A=inner)), node.test)
    if not isinstance(node, ast.While):
        yield site.becomes("condition", with_fields(node, test=made("not A", A=node.test)), node.test)


def exchanged(site: Site) -> Iterator[Change]:
    """`f(a, b)` becomes `f(b, a)`, `[a, b]` becomes `[b, a]`."""
    node = site.node
    if isinstance(node, ast.Tuple | ast.List):
        yield from (site.becomes("elements", with_fields(node, elts=items)) for items in with_two_exchanged(node.elts))
    if isinstance(node, ast.Call):
        for items in with_two_exchanged(node.args):
            yield site.becomes("arguments", ast.Call(node.func, items, node.keywords))


def with_two_exchanged(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with two neighbors exchanged, each pair once."""
    for i in range(min(len(items), LONGEST_LIST) - 1):
        if not (isinstance(items[i], ast.Starred) or isinstance(items[i + 1], ast.Starred)):
            yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]


# the opposite, or what other libraries or days call something similar
SIMILAR = """
sum: mean; mean: sum; std: var; var: std; amax: amin sum mean; argmax: argmin argsort; maximum: minimum;
tril: triu; triu: tril; sin: cos; cos: sin; softmax: log_softmax; repeat_interleave: repeat; cat: stack;
ones: zeros; new_ones: new_zeros; relu: sigmoid tanh; tanh: relu sigmoid; randn: rand; rand: randn;
max: amax maximum; min: amin minimum; amin: amax; argmin: argmax; minimum: maximum; log_softmax: softmax;
repeat: repeat_interleave tile; concat: stack; stack: cat; zeros: ones; ones_like: zeros_like;
zeros_like: ones_like; sigmoid: tanh; exp: expm1; expm1: exp; log: log1p log2; log2: log; log10: log;
log1p: log; any: all; all: any; view: transpose reshape; reshape: transpose; transpose: reshape view;
eval: train; train: eval; append: extend; extend: append; round: floor ceil; floor: ceil round;
ceil: floor round; isqrt: sqrt; split: chunk; chunk: split
"""
SIBLINGS = {name.strip(): others.split() for name, others in (entry.split(":") for entry in SIMILAR.split(";"))}
CONFUSED = {"split": "pieces", "chunk": "pieces", "repeat_interleave": "repeated", "repeat": "repeated"}
CONFUSED |= {"append": "added", "extend": "added"}
TOGETHER = {"stack": "stack", "cat": "cat"}  # whoever takes one for the other does so for keys and for values


def sibling_called(site: Site) -> Iterator[Change]:
    """`x.mean()` becomes `x.sum()`, `x.add_(y)` becomes `x.add(y)`."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    for other in SIBLINGS.get(name, ()):
        new = with_fields(node, func=with_fields(node.func, attr=other))
        yield Change(new, site.code(), CHANGES[CONFUSED.get(name, "function")], alike=TOGETHER.get(name, ""))
    if name.endswith("_") and not name.startswith("_"):
        yield site.becomes("not in place", with_fields(node, func=with_fields(node.func, attr=name.rstrip("_"))))


def new_not_in_place(site: Site) -> Iterator[Change]:
    """`x += y` becomes `x = x + y`; `x[m] = 0` and `x.add_(y)` work on a copy."""
    match site.node:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            yield site.becomes("not in place", made(f"{name} = A", A=ast.BinOp(made(name), op, value)))
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)), *_])
            | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)))
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
        ) as node if not isinstance(node, ast.Expr) or called(node.value).endswith("_"):
            yield site.becomes("copy", statements_of([made(f"{name} = {name}.clone()"), node]))


TAKE_CONDITIONS = ("masked_fill", "masked_fill_", "where", "logical_and", "logical_or", "any", "all")


def inverted(site: Site) -> Iterator[Change]:
    """`mask` becomes `~mask`, where a condition is expected."""
    node = site.node
    match site.parent:
        case ast.Call(args=args) as call:
            condition = called(call) in TAKE_CONDITIONS and node in args[:2]
        case ast.Subscript(slice=index):
            condition = index is node
        case ast.keyword(arg=name):
            condition = "mask" in str(name)
        case parent:
            joined = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitAnd | ast.BitOr)
            condition = joined or isinstance(parent, ast.Return | ast.Lambda)
    if condition and isinstance(node, ast.Name | ast.Attribute | ast.Compare | ast.Call | ast.BinOp):
        yield site.becomes("inverted", made("~A", A=node))


def method_added(site: Site) -> Iterator[Change]:
    """`a @ b` becomes `a @ b.mT`; a name in an operation gets a new axis, or a root."""
    node, parent = site.node, site.parent
    if not isinstance(parent, ast.BinOp) or not isinstance(node, ast.expr) or isinstance(node, ast.Constant):
        return
    if isinstance(parent.op, ast.MatMult):
        yield site.becomes("transposed", made("A.mT", A=node))
    if isinstance(node, ast.Name | ast.Subscript):
        for axis in (-1, -2, 1, 0):
            yield site.becomes("new axis", made(f"A.unsqueeze({axis})", A=node), parent, name=ast.unparse(node))
    if isinstance(node, ast.Name):
        yield site.becomes("root", made("A ** 0.5", A=node), parent, name=node.id)


def sign_added(site: Site) -> Iterator[Change]:
    """What is assigned, returned or one of two cases becomes its negative."""
    match site.parent:
        case ast.IfExp(body=first, orelse=second):
            cases: tuple[ast.expr | None, ...] = (first, second)
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Return(value=value):
            cases = (value,)
        case _:
            return
    if site.node in cases and isinstance(site.node, ast.BinOp | ast.Call | ast.Name | ast.Subscript):
        yield site.becomes("opposite sign", made("-A", A=site.node))


def returned_or_raised(site: Site) -> Iterator[Change]:
    """`return ValueError(…)` becomes `raise ValueError(…)`; what is printed, or nothing, is returned."""
    node, function = site.node, site.parent
    match node:
        case ast.Return(value=ast.Call() as call) if called(call).endswith("Error"):
            yield site.becomes("raised for returned", ast.Raise(call, None))
        case ast.Expr(value=ast.Call() as call) if called(call).endswith("Error"):
            yield site.becomes("raised", ast.Raise(call, None))
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[first, *_])):
            yield site.becomes("returned for printed", ast.Return(first))
        case ast.Assign(value=value) if isinstance(function, ast.FunctionDef) and function.body[-1] is node:
            yield site.becomes("returned", ast.Return(value))


def loop_shortened(site: Site) -> Iterator[Change]:
    """A loop ends after its first round."""
    node = site.node
    if isinstance(node, ast.For):
        head = in_one_line(ast.unparse(node).split("\n")[0])
        yield Change(with_fields(node, body=[*node.body, ast.Break()]), head, CHANGES["first round"])


def cut_anew(site: Site) -> Iterator[Change]:
    """`x.reshape(b, h, l, d)` becomes `x.reshape(b, l, h, d).transpose(1, 2)`, or `x.transpose(1, 2).reshape(…)`."""
    match site.node:
        case ast.Call(func=ast.Attribute(value=owner, attr="view" | "reshape" | "flatten" as name) as func) as node:
            if ast.unparse(owner) in ("torch", "np"):
                return
            for axes in ("1, 2", "-2, -1"):
                turned = made(f"A.transpose({axes})", A=owner)
                func = with_fields(func, value=turned, attr="reshape" if name == "view" else name)
                yield site.becomes("turned first", with_fields(node, func=func))
            for i in range(1, len(node.args) - 1):
                sizes = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
                cut = with_fields(node, args=sizes)
                yield site.becomes("turned after", made(f"A.transpose({i}, {i + 1})", A=cut))


NO_STEPS = ("size", "dim", "append", "items", "item", "register_buffer", "new_tensor", "new_full", "new_zeros")
Step = tuple[ast.expr, Callable[[ast.expr], ast.expr]]


def step_of(node: ast.AST) -> Step | None:
    """Return what a step works on, and what makes the same step around something else; None where it is no step.

    A step makes one thing of another: `x.exp()`, `x.mT`, `self.norm(x)`, `torch.tanh(x)`, `x / t`.
    """
    match node:
        case ast.Attribute(value=inner, attr="mT" | "T"):
            return inner, lambda new: with_fields(node, value=new)
        case ast.BinOp(left=inner, op=ast.Div() | ast.Mult() | ast.Add() | ast.Sub()):
            return inner, lambda new: with_fields(node, left=new)
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as func, args=args):
            if not is_self(owner) and not (isinstance(owner, ast.Name) and owner.id in MODULES):
                method: Step = (owner, lambda new: with_fields(node, func=with_fields(func, value=new)))
                return None if name in NO_STEPS else method
            if args and (len(args) == 1 or is_self(owner)):
                return args[0], lambda new: with_fields(node, args=[new, *args[1:]])
    return None


def steps_swapped(site: Site) -> Iterator[Change]:
    """`x.softmax() / t` becomes `(x / t).softmax()`."""
    outer = step_of(site.node)
    inner = step_of(outer[0]) if outer else None
    if outer and inner and not (isinstance(site.node, ast.BinOp) and isinstance(outer[0], ast.BinOp)):
        yield site.becomes("steps", inner[1](outer[1](inner[0])))


MOVED = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For)


def statement_moved(site: Site) -> Iterator[Change]:
    """A statement comes earlier, before one of those in front of it that speaks of the same things."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(site.node, field, None)
        statements: list[ast.stmt] = block if isinstance(block, list) else []
        for i, statement in enumerate(statements):
            for place in reversed(range(max(0, i - FARTHEST), i)):
                if not all(isinstance(each, MOVED) for each in statements[place : i + 1]):
                    break
                if names_of(statements[place]).isdisjoint(names_of(statement)):
                    continue
                order = [*statements[:place], statement, *statements[place:i], *statements[i + 1 :]]
                words = CHANGES["moved"].format(before=site.code(statements[place]))
                new = with_fields(site.node, **{field: order})
                yield Change(new, site.code(statement), words, line_of(statement))


def names_of(node: ast.AST) -> set[str]:
    """Return the names in a piece of code, but for those of modules."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}.difference(OWNERS)


def other_name(site: Site) -> Iterator[Change]:
    """One parameter or variable stands in another's place; a loop's in that of a loop's, or else it is no loop."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in site.names:
        looped = names_of_loops(site)
        for other in site.names:
            if other != node.id and (other in looped) == (node.id in looped):
                kind = "argument" if other in site.arguments else "name"
                yield site.becomes(kind, ast.Name(other, ast.Load()), expression_around(site), name=node.id)


def other_default(site: Site) -> Iterator[Change]:
    """`value = query` becomes `value = key`, where all are the function's own arguments."""
    match site.parents[1] if isinstance(site.parent, ast.IfExp) else site.parent:
        case ast.Assign(targets=[ast.Name(id=name), *_]) if name in site.arguments:
            yield from (change for change in other_name(site) if getattr(change.new, "id", "") in site.arguments)


def other_layer(site: Site) -> Iterator[Change]:
    """`self.norm1(x)` becomes `self.norm2(x)`."""
    node = site.node
    if isinstance(node, ast.Call) and is_owned_by_self(node):
        module = next((parent for parent in site.parents if isinstance(parent, ast.ClassDef)), ast.Pass())
        calls = [part for part in ast.walk(module) if isinstance(part, ast.Call) and is_owned_by_self(part)]
        for layer in {called(call): call.func for call in calls if called(call) != called(node)}.values():
            yield site.becomes("layer", with_fields(node, func=with_fields(layer)))


OPERATORS: Mapping[Size, Sequence[Operator]] = {
    Size.DELETION: (
        *(help_passed, rounding_allowed),  # where these apply, they are what is meant
        *(call_deleted, side_deleted, rule(("sign", "one case")), argument_deleted, index_deleted),
        *(decorator_deleted, statement_deleted),
    ),
    Size.CONSTANT: (
        *(size_of_an_argument, other_number, other_pair_of_axes, axis_added, keyword_shared, keyword_given, end_moved),
        *(other_default, unused_argument, argument_passed, dots_returned, multiple_of_its_size, new_axis_moved),
        *(whole_axis, copy_kept),
    ),
    Size.OPERATION: (
        *(rule(("none",)), condition_changed, returned_or_raised, new_not_in_place, other_operation, other_comparison),
        *(rule(("sides", "cases")), exchanged, steps_swapped, inverted, rule(("other transpose",)), sibling_called),
        *(method_added, sign_added, loop_shortened, cut_anew),
    ),
    Size.WHOLE: (statement_moved, axes_in_front),
    Size.NAME: (axis_removed, other_name, other_layer),
}
