"""More operators on a student's code: of what is missing in it, and of what only some inputs show."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from .observations import parameters_of
from .parsing import parse
from .sentences import CHANGES
from .site import Change, Site, with_fields
from .syntax import DRAW, called, constant, is_self, number_in

ROUNDING = 1e-4
MODULES = ("torch", "math", "functional", "nn", "np")
NO_STEPS = ("size", "dim", "append", "items", "item", "register_buffer", "new_tensor", "new_full", "new_zeros")


def unused_argument(site: Site) -> Iterator[Change]:
    """An argument that the function never reads takes an expression's place: `10_000` becomes `base`."""
    node = site.node
    if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if text or any(isinstance(part, ast.JoinedStr) for part in (node, *site.parents)):
        return
    for name in site.unread:
        yield Change(ast.Name(name, ast.Load()), site.code(), CHANGES["unread"])


def argument_passed(site: Site) -> Iterator[Change]:
    """A call gets an argument that nothing reads, or one by name: `attend(x, x)` becomes `attend(x, x, mask)`."""
    node = site.node
    function = next((p for p in site.parents if isinstance(p, ast.FunctionDef)), None)
    if not isinstance(node, ast.Call) or function is None:
        return
    given = {keyword.arg for keyword in node.keywords}
    for name in dict.fromkeys((*site.unread, *(argument.arg for argument in function.args.kwonlyargs))):
        value, words = ast.Name(name, ast.Load()), CHANGES["passed"].format(name=name)
        if name in site.unread:
            yield Change(with_fields(node, args=[*node.args, value]), site.code(), words)
        if name not in given:
            yield Change(with_fields(node, keywords=[*node.keywords, ast.keyword(name, value)]), site.code(), words)


def copy_kept(site: Site) -> Iterator[Change]:
    """`old = w[:, a:b]` becomes `old = w[:, a:b].clone()`: it is no view then."""
    node = site.node
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        value = node.value
        if isinstance(value, ast.Subscript | ast.Attribute | ast.Name) or called(value) in ("detach", "view"):
            copied = ast.Call(ast.Attribute(value, "clone", ast.Load()), [], [])
            yield Change(with_fields(node, value=copied), site.code(), CHANGES["copy kept"])


def generator_passed(site: Site) -> Iterator[Change]:
    """`torch.randperm(n)` gets `generator=generator`."""
    node = site.node
    if not isinstance(node, ast.Call) or called(node) not in DRAW or "generator" not in site.names:
        return
    if not any(keyword.arg == "generator" for keyword in node.keywords):
        given = ast.keyword("generator", ast.Name("generator", ast.Load()))
        yield Change(with_fields(node, keywords=[*node.keywords, given]), site.code(), CHANGES["generator"])


def whole_axis(site: Site) -> Iterator[Change]:
    """`x[0, i]` becomes `x[:, i]`, and so does every index like it."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else []
    for i, item in enumerate(items):
        if number_in(item) in (0, -1):
            changed = ast.Tuple([*items[:i], ast.Slice(), *items[i + 1 :]], ast.Load())
            yield Change(with_fields(node, slice=changed), site.code(), CHANGES["whole axis"], alike="whole axis")


def multiple_of_its_size(site: Site) -> Iterator[Change]:
    """`x[h : h + d]` becomes `x[h * d : h * d + d]`."""
    node = site.node
    if not isinstance(node, ast.Slice) or not isinstance(node.upper, ast.BinOp) or node.lower is None:
        return
    if isinstance(node.upper.op, ast.Add) and ast.dump(node.upper.left) == ast.dump(node.lower):
        size = node.upper.right
        start = ast.BinOp(node.lower, ast.Mult(), size)
        cut = with_fields(node, lower=start, upper=ast.BinOp(start, ast.Add(), size))
        yield Change(cut, site.code(), CHANGES["multiple"])


def dots_returned(site: Site) -> Iterator[Change]:
    """`einsum("...md,...nd->mn", …)` becomes `einsum("...md,...nd->...mn", …)`."""
    node = site.node
    text = node.value if isinstance(node, ast.Constant) and called(site.parent) == "einsum" else None
    if isinstance(text, str) and "..." in text and "->" in text and "..." not in text.partition("->")[2]:
        before, _, after = text.partition("->")
        yield Change(ast.Constant(f"{before}->...{after.strip()}"), site.code(site.parent), CHANGES["dots"])


def new_axis_moved(site: Site) -> Iterator[Change]:
    """`x[i, None]` becomes `x[None, i]`, `x[:, None]` becomes `x[None]`, `x[:, :, None]` or `x[..., None]`."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    new = [item for item in items if isinstance(item, ast.Constant) and item.value is None]
    simple = all(isinstance(item, ast.Slice) and item.lower is item.upper is None for item in items if item not in new)
    for turned in (items[::-1], [*items[1:], items[0]], [items[-1], *items[:-1]]) if new and len(items) > 1 else ():
        moved = with_fields(node, slice=ast.Tuple(turned, ast.Load()))
        yield Change(moved, site.code(), CHANGES["new axis moved"])
    if len(new) != 1 or not simple:
        return
    dots = ast.Constant(...)
    for before in ([], [ast.Slice()], [ast.Slice()] * 2, [dots], [ast.Slice()] * 3):
        after = [ast.Slice()] if before == [dots] else []
        for index in ([*before, new[0]], [*before, new[0], *after]):
            moved = with_fields(node, slice=ast.Tuple(index, ast.Load()))
            if ast.unparse(moved) != ast.unparse(node):
                yield Change(moved, site.code(), CHANGES["new axis moved"])


def rounding_allowed(site: Site) -> Iterator[Change]:
    """`a != b` becomes `abs(a - b) > 1e-4`, `torch.equal` becomes `allclose`: everywhere at once too."""
    node, new = site.node, None
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new = compared_with_tolerance(node)
    elif called(node) in ("ne", "eq", "equal") and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        pair = node.args if len(node.args) == 2 else [node.func.value, *node.args]
        if called(node) == "equal":
            closeness = [ast.keyword("atol", ast.Constant(ROUNDING)), ast.keyword("equal_nan", ast.Constant(True))]
            new = ast.Call(ast.Attribute(ast.Name("torch", ast.Load()), "allclose", ast.Load()), pair, closeness)
        else:
            sign = ast.NotEq() if called(node) == "ne" else ast.Eq()
            new = compared_with_tolerance(ast.Compare(pair[0], [sign], [pair[1]]))
    if new is not None:
        yield Change(new, site.code(), CHANGES["tolerance"], alike="tolerance")


def compared_with_tolerance(node: ast.Compare) -> ast.expr | None:
    """Return a comparison that leaves room for rounding, or None where that makes no sense."""
    right, sign = node.comparators[0], node.ops[0]
    zero = number_in(right) == 0
    if (isinstance(right, ast.Constant) and not isinstance(right.value, int | float)) or isinstance(right, ast.Tuple):
        return None
    if isinstance(sign, ast.Gt | ast.LtE) and zero:
        return ast.Compare(node.left, [sign], [ast.Constant(ROUNDING)])
    if not isinstance(sign, ast.Eq | ast.NotEq):
        return None
    size = ast.Call(ast.Name("abs", ast.Load()), [ast.BinOp(node.left, ast.Sub(), right)], [])
    return ast.Compare(size, [ast.LtE() if isinstance(sign, ast.Eq) else ast.Gt()], [ast.Constant(ROUNDING)])


def statements_in(node: ast.AST, field: str) -> list[ast.stmt]:
    """Return one of the blocks of a statement; none where it has no such block."""
    block = getattr(node, field, None)
    return block if isinstance(block, list) else []


def cut_anew(site: Site) -> Iterator[Change]:
    """`x.reshape(b, h, l, d)` becomes `x.reshape(b, l, h, d).transpose(1, 2)`, or `x.transpose(1, 2).reshape(…)`."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or called(node) not in RESHAPES:
        return
    if ast.unparse(node.func.value) in ("torch", "np"):
        return
    for axes in ((1, 2), (-2, -1)):
        turned = with_fields(node.func, value=transposed(node.func.value, *axes), attr=RESHAPES[node.func.attr])
        yield Change(with_fields(node, func=turned), site.code(), CHANGES["turned first"])
    for i in range(1, len(node.args) - 1):
        sizes = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        yield Change(transposed(with_fields(node, args=sizes), i, i + 1), site.code(), CHANGES["turned after"])


RESHAPES = {"view": "reshape", "reshape": "reshape", "flatten": "flatten"}


def transposed(node: ast.expr, *axes: int) -> ast.Call:
    """Return an expression with two axes exchanged."""
    return ast.Call(ast.Attribute(node, "transpose", ast.Load()), [constant(axis) for axis in axes], [])


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


def axes_in_front(site: Site) -> Iterator[Change]:
    """A function whose docstring promises axes in front calls itself without them, or with all of them in one."""
    node = site.node
    if isinstance(node, ast.FunctionDef) and isinstance(site.parent, ast.Module):
        text = ast.get_docstring(node) or ""
        found = {name: re.search(AXES_IN_FRONT.format(name=name), text) for name in parameters_of(node)}
        axes = {name: match[1].count(",") for name, match in found.items() if match}
        parts = {n: f"{n}[index] if getattr({n}, 'ndim', 0) > {count} else {n}" for n, count in axes.items()}
        batches = {
            n: f"{n}.reshape(-1, *{n}.shape[{n}.ndim - {count}:]) if getattr({n}, 'ndim', -1) >= {count} else {n}"
            for n, count in axes.items()
        }
        for first in list(axes)[:1]:
            for template, given, words in ((ONE_PART, parts, "one part"), (ONE_BATCH, batches, "one batch")):
                new = calling_itself(node, template, given, first=first, axes=axes[first])
                yield Change(new, f"def {node.name}", CHANGES[words])


def library_of(function: ast.FunctionDef) -> str:
    """Return `np` where a function's annotations speak of arrays, else `torch`."""
    return "np" if "np." in ast.unparse(function.args) else "torch"


def calling_itself(node: ast.FunctionDef, template: str, given: Mapping[str, str], **names: object) -> ast.FunctionDef:
    """Return a function that first looks at its arguments and calls itself with others, as a template says.

    Args:
        node: the function.
        template: what comes before its own statements.
        given: which arguments are others in that call, as code.
        names: what else the template names.
    """
    arguments = ", ".join(f"{name}={given.get(name, name)}" for name in parameters_of(node))
    code = template.format(function=node.name, arguments=arguments, library=library_of(node), **names)
    changed: ast.FunctionDef = with_fields(node, body=[*statements(code), *node.body])
    return changed


def statements(code: str) -> list[ast.stmt]:
    """Return statements that stand nowhere in the student's text."""
    tree = parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno, node.end_lineno = 0, None
    return tree.body


def expression(code: str) -> ast.AST:
    """Return an expression that stands nowhere in the student's text."""
    (statement,) = statements(f"({code})")
    return next(ast.iter_child_nodes(statement))


class Step(NamedTuple):
    """What is done to one thing to get another: `x.exp()`, `x.mT`, `self.norm(x)`, `torch.tanh(x)`, `x / t`.

    Args:
        name: of the function, method, attribute or operation.
        inner: what it works on.
        around: makes the same step around something else.
    """

    name: str
    inner: ast.expr
    around: Callable[[ast.expr], ast.expr]


def step_of(node: ast.AST) -> Step | None:
    """Return the step that an expression is, or None."""
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        return Step(node.attr, node.value, partial(ast.Attribute, attr=node.attr, ctx=ast.Load()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.Add | ast.Sub):
        return Step("", node.left, partial(ast.BinOp, op=node.op, right=node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return call_step(node, node.func)
    return None


def call_step(node: ast.Call, func: ast.Attribute) -> Step | None:
    """Return the step that a call of a method, of a layer or of one of torch's functions is."""
    if is_self(func.value) or (isinstance(func.value, ast.Name) and func.value.id in MODULES):
        if not node.args or (len(node.args) > 1 and not is_self(func.value)):
            return None
        return Step(func.attr, node.args[0], lambda x: ast.Call(func, [x, *node.args[1:]], node.keywords))
    if func.attr in NO_STEPS:
        return None

    def method(x: ast.expr) -> ast.expr:
        return ast.Call(ast.Attribute(x, func.attr, ast.Load()), node.args, node.keywords)

    return Step(func.attr, func.value, method)


def steps_swapped(site: Site) -> Iterator[Change]:
    """`x.softmax() / t` becomes `(x / t).softmax()`."""
    outer = step_of(site.node)
    inner = step_of(outer.inner) if outer else None
    if outer and inner and not (isinstance(site.node, ast.BinOp) and isinstance(outer.inner, ast.BinOp)):
        yield Change(inner.around(outer.around(inner.inner)), site.code(), CHANGES["steps"])
