"""Mutation operators: the small slips that a right solution is one edit away from, each with words for a student.

An operator looks at one node of a solution's syntax tree and yields other nodes for its place. None of them can make
a loop longer, so whatever comes out ends when the solution does.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from .sentences import SLIPS

Operator = Callable[[ast.AST, "Scope"], Iterator[tuple[ast.AST, str]]]

OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "an addition",
    ast.Sub: "a subtraction",
    ast.Mult: "a multiplication",
    ast.Div: "a division",
    ast.FloorDiv: "a whole division",
    ast.Mod: "a remainder",
    ast.Pow: "a power",
    ast.MatMult: "a matrix product",
    ast.BitAnd: "`&`",
    ast.BitOr: "`|`",
}
INSTEAD: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: ("<", (ast.LtE, ast.Gt)),
    ast.LtE: ("<=", (ast.Lt, ast.GtE)),
    ast.Gt: (">", (ast.GtE, ast.Lt)),
    ast.GtE: (">=", (ast.Gt, ast.LtE)),
    ast.Eq: ("==", (ast.NotEq,)),
    ast.NotEq: ("!=", (ast.Eq,)),
}
SIBLINGS = {
    "sum": ("mean",),
    "mean": ("sum",),
    "std": ("var",),
    "var": ("std",),
    "amax": ("amin", "sum", "mean"),
    "argmax": ("argmin", "argsort"),
    "maximum": ("minimum",),
    "tril": ("triu",),
    "triu": ("tril",),
    "sin": ("cos",),
    "cos": ("sin",),
    "softmax": ("log_softmax",),
    "repeat_interleave": ("repeat",),
    "cat": ("stack",),
    "ones": ("zeros",),
    "new_ones": ("new_zeros",),
    "relu": ("sigmoid", "tanh"),
    "tanh": ("relu", "sigmoid"),
    "randn": ("rand",),
    "rand": ("randn",),
}
NOUNS = {
    "softmax": "softmax",
    "masked_fill": "masking",
    "mT": "the transpose",
    "T": "the transpose",
    "transpose": "the transpose",
    "swapaxes": "the transpose",
    "exp": "exp",
    "log": "the logarithm",
    "sqrt": "the square root",
    "abs": "the absolute value",
    "clamp": "the limit",
    "clone": "the copy",
    "detach": "the detaching",
    "tanh": "tanh",
    "relu": "ReLU",
    "mean": "the mean",
    "sum": "the sum",
    "std": "the spread",
    "amax": "the maximum",
    "max": "the maximum",
    "flatten": "flattening",
    "unflatten": "unflattening",
    "reshape": "reshaping",
    "argsort": "the sorting",
    "gather": "the picking",
    "bool": "the conversion to booleans",
}
AXIS_ARGUMENTS = {
    "softmax": (0,),
    "sum": (0,),
    "mean": (0,),
    "argmax": (0,),
    "argsort": (0,),
    "gather": (0,),
    "size": (0,),
    "flatten": (0, 1),
    "unflatten": (0,),
    "transpose": (0, 1),
    "swapaxes": (0, 1),
}
AXIS_OPTIONS = ("dim", "axis")  # what PyTorch and NumPy call it
KEEP_OPTIONS = ("keepdim", "keepdims")
FILLS = {"masked_fill": 2, "new_full": 2, "where": 3}  # with so many arguments the last one fills
ENDS = {"arange": 1, "range": 1, "tril": 1, "triu": 1, "diagonal": 1}  # which argument says where it ends
MODULES = ("torch", "math", "functional", "nn", "np")
NO_STEPS = frozenset(
    {"size", "dim", "append", "items", "item", "register_buffer", "new_tensor", "new_full", "new_zeros"}
)


@dataclass(frozen=True)
class Scope:
    """What is known around a node.

    Args:
        parameters: the names that a student knows, because the exercise's signature has them; with annotations.
        layers: the attributes of `self` that are called.
        siblings: names that one assignment defines together.
    """

    parameters: dict[str, str]
    layers: tuple[str, ...] = ()
    siblings: tuple[tuple[str, ...], ...] = ()

    def with_names(self, *nodes: ast.AST) -> str:
        """Return `, the one with …,` for the known names in expressions; '' where there are none."""
        names = self.names_in(*nodes)
        return f", the one with {names}," if names else ""

    def names_in(self, *nodes: ast.AST) -> str:
        """Return the known names in expressions, joined; '' where there are none, or too many to tell anything."""
        found = [n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)]
        found += [n.attr for node in nodes for n in ast.walk(node) if isinstance(n, ast.Attribute) and is_self(n.value)]
        known = dict.fromkeys(name for name in found if name in self.parameters or name in self.layers)
        return f"`{'` and `'.join(known)}`" if 0 < len(known) < 3 else ""


def is_self(node: ast.AST) -> bool:
    """Say whether a node is the name `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def noun(name: str) -> str:
    """Return what a step is called in a sentence."""
    return NOUNS.get(name, f"`{name}`")


def constant(value: float) -> ast.expr:
    """Return a number as an expression; a negative one as Python's parser would."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def number_in(node: ast.AST | None) -> int | None:
    """Return the whole number that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_in(node.operand)
        return None if inner is None else -inner
    return None


def with_field(node: ast.AST, field: str, value: object) -> ast.AST:
    """Return a copy of a node with one field replaced."""
    changed = copy.deepcopy(node)
    setattr(changed, field, value)
    return changed


def one_side_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`a / b` becomes `a`; `a + b` becomes `b` too."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        what = OPERATIONS[type(node.op)]
        yield node.left, side_missing(what, scope.with_names(node.right) or scope.with_names(node))
        if not isinstance(node.op, ast.Div | ast.Pow | ast.Sub) and not isinstance(node.left, ast.Constant):
            yield node.right, side_missing(what, scope.with_names(node.left) or scope.with_names(node))
        elif isinstance(node.left, ast.Constant) or isinstance(node.op, ast.Sub):
            yield node.right, SLIPS["one side missing"].format(what=what, names=scope.with_names(node.right))


def side_missing(what: str, names: str) -> str:
    """Return that an operation is missing, as a clause."""
    return SLIPS["side missing"].format(what=what, names=names)


def other_operation(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`a * b` becomes `a / b`."""
    if isinstance(node, ast.BinOp):
        for other in INSTEAD.get(type(node.op), ()):
            instead, right = OPERATIONS[other], OPERATIONS[type(node.op)]
            names = scope.with_names(node.right) or scope.with_names(node)
            yield (
                with_field(node, "op", other()),
                SLIPS["other operation"].format(what=right, names=names, other=instead),
            )


def sides_swapped(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`a - b` becomes `b - a`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Mod):
        what = OPERATIONS[type(node.op)]
        yield (
            ast.BinOp(copy.deepcopy(node.right), node.op, copy.deepcopy(node.left)),
            SLIPS["sides swapped"].format(what=what, names=scope.with_names(node)),
        )


def root_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`math.sqrt(d)` becomes `d`, `d ** 0.5` becomes `d`, `d ** -0.5` becomes `1 / d`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and number_of(node.right) in (0.5, -0.5):
        names = scope.with_names(node.left)
        if number_of(node.right) == 0.5:
            yield node.left, SLIPS["root missing"].format(names=names)
        else:
            yield ast.BinOp(ast.Constant(1.0), ast.Div(), node.left), SLIPS["root missing"].format(names=names)
            yield (
                with_field(node, "right", ast.Constant(0.5)),
                SLIPS["root multiplied"].format(names=names),
            )
    if called(node) == "sqrt" and isinstance(node, ast.Call) and node.args:
        yield node.args[0], SLIPS["root missing"].format(names=scope.with_names(node.args[0]))


def number_of(node: ast.AST) -> float | None:
    """Return the number that an expression is, or None."""
    if not isinstance(node, ast.expr):
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return float(value) if isinstance(value, int | float) else None


def sign_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`-x` becomes `x`, `~mask` becomes `mask`."""
    if isinstance(node, ast.UnaryOp) and number_of(node) is None:
        if isinstance(node.op, ast.USub) and not is_infinity(node.operand):
            yield node.operand, SLIPS["minus missing"].format(names=scope.with_names(node.operand))
        elif isinstance(node.op, ast.Invert):
            yield node.operand, SLIPS["mask inverted"].format(names=scope.with_names(node.operand))


def opposite_sign(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`x.softmax(-1)` becomes `(-x).softmax(-1)`, as in Boltzmann's exp(-E)."""
    step = step_of(node)
    if step and step.name in ("softmax", "exp"):
        yield step.around(ast.UnaryOp(ast.USub(), step.inner)), SLIPS["opposite sign"].format(what=step.noun)


def is_infinity(node: ast.AST) -> bool:
    """Say whether an expression is `torch.inf` or its like."""
    return isinstance(node, ast.Attribute) and node.attr == "inf"


def comparison(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`<` becomes `<=`, then `>`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        sign, others = COMPARISONS[type(node.ops[0])]
        for other in others:
            words = SLIPS["comparison"].format(names=scope.with_names(node), other=COMPARISONS[other][0], sign=sign)
            yield with_field(node, "ops", [other()]), words


def called(node: ast.AST) -> str:
    """Return the name of the function or method that a call calls; '' for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


@dataclass(frozen=True)
class Step:
    """What a solution does to one thing to get another: `x.exp()`, `x.mT`, `self.norm(x)`, `torch.tanh(x)`, `x / t`.

    Args:
        name: of the function, method, attribute or operation.
        inner: what it works on.
        around: makes the same step around something else.
    """

    name: str
    inner: ast.expr
    around: Callable[[ast.expr], ast.expr]

    @property
    def noun(self) -> str:
        """What the step is called in a sentence."""
        return self.name if self.name in OPERATIONS.values() else noun(self.name)


def step_of(node: ast.AST) -> Step | None:
    """Return the step that an expression is, or None."""
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        return Step(node.attr, node.value, partial(ast.Attribute, attr=node.attr, ctx=ast.Load()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult | ast.Add | ast.Sub):
        return Step(OPERATIONS[type(node.op)], node.left, partial(ast.BinOp, op=node.op, right=node.right))
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


def step_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`x.exp()` becomes `x`, `self.norm1(x)` becomes `x`."""
    step = step_of(node)
    if step and not isinstance(node, ast.BinOp) and step.name != "sqrt":
        yield step.inner, SLIPS["step missing"].format(what=step.noun)


def steps_swapped(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`(x / t).softmax()` becomes `x.softmax() / t`."""
    outer = step_of(node)
    inner = step_of(outer.inner) if outer else None
    if outer and inner and not (isinstance(node, ast.BinOp) and isinstance(outer.inner, ast.BinOp)):
        words = SLIPS["steps swapped"].format(inner=inner.noun, outer=outer.noun)
        yield inner.around(outer.around(inner.inner)), words


def other_axis(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`dim=-1` becomes `dim=-2` and `dim=0`; so does the place of an axis without its name."""
    name = called(node)
    if not isinstance(node, ast.Call) or not name or name == "size":
        return
    for i, keyword in enumerate(node.keywords):
        if keyword.arg in AXIS_OPTIONS:
            for value in other_axes(keyword.value):
                changed = copy.deepcopy(node)
                changed.keywords[i].value = value
                options = {"option": keyword.arg, "value": ast.unparse(value)}
                yield changed, SLIPS["axis option"].format(what=noun(name), **options)
    for i in AXIS_ARGUMENTS.get(name, ()):
        if i < len(node.args) and number_in(node.args[i]) is not None:
            for value in other_axes(node.args[i]):
                changed = copy.deepcopy(node)
                changed.args[i] = value
                yield changed, SLIPS["axis"].format(what=noun(name))


def other_axes(axis: ast.expr) -> Iterator[ast.expr]:
    """Yield the axes that are taken by mistake for one."""
    number = number_in(axis)
    if isinstance(axis, ast.Tuple):
        yield from (copy.deepcopy(item) for item in axis.elts)
    elif isinstance(axis, ast.Name):
        yield from (constant(-1), constant(0))
    elif number is not None:
        yield from (constant(n) for n in (-1, -2, 0, 1, 2) if n != number)


def option_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`sum(dim=-1, keepdim=True)` becomes `sum(dim=-1)`, `layer(x, mask=mask)` becomes `layer(x)`."""
    if isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in ("dim", None):
                continue
            changed = copy.deepcopy(node)
            del changed.keywords[i]
            words = SLIPS["keepdim" if keyword.arg in KEEP_OPTIONS else "option"]
            yield changed, words.format(option=keyword.arg, what=noun(called(node)))


def sibling(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`mean` becomes `sum`, `tril` becomes `triu`."""
    name = called(node)
    if isinstance(node, ast.Call):
        for other in SIBLINGS.get(name, ()):
            changed = copy.deepcopy(node)
            if isinstance(changed.func, ast.Attribute):
                changed.func.attr = other
                yield changed, SLIPS["sibling"].format(other=noun(other), what=noun(name))


def another_name(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """One parameter, layer or intermediate result stands in another's place."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other, kind in scope.parameters.items():
            if node.id in scope.parameters and other != node.id and kind == scope.parameters[node.id]:
                yield ast.Name(other, ast.Load()), SLIPS["other name"].format(other=other, name=node.id)
        for group in scope.siblings:
            for other in group if node.id in group else ():
                if other != node.id:
                    yield ast.Name(other, ast.Load()), SLIPS["other result"]
    if isinstance(node, ast.Attribute) and is_self(node.value) and node.attr in scope.layers:
        for other in scope.layers:
            if other != node.attr:
                yield with_field(node, "attr", other), SLIPS["other name"].format(other=other, name=node.attr)


def names_exchanged(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`a * sin + b * cos` becomes `a * cos + b * sin`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        there = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        for a, b in (pair for group in scope.siblings for pair in combinations(group, 2)):
            if sum(n.id == a for n in there) == 1 == sum(n.id == b for n in there):
                changed = copy.deepcopy(node)
                for name in ast.walk(changed):
                    if isinstance(name, ast.Name) and name.id in (a, b):
                        name.id = b if name.id == a else a
                yield changed, SLIPS["results exchanged"].format(what=OPERATIONS[type(node.op)].split()[-1])


def off_by_one(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """A position or a count is one too large or too small; never the axis of a call."""
    places: list[tuple[str, ast.expr | None]] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
        places = [("left", node.left), ("right", node.right)]
    elif isinstance(node, ast.Slice):
        places = [("lower", node.lower), ("upper", node.upper)]
    for field, value in places:
        number = number_in(value)
        if number is not None:
            for step in (1, -1):
                yield with_field(node, field, constant(number + step)), SLIPS["off by one"]
    if isinstance(node, ast.Call) and called(node) in ENDS and node.args:
        last = min(ENDS[called(node)], len(node.args) - 1)
        for step in (-1, 1) if called(node) != "range" else (-1,):
            moved = ast.BinOp(node.args[last], ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
            words = SLIPS["end"].format(name=called(node), when="late" if step > 0 else "early")
            yield with_field(node, "args", [*node.args[:last], moved, *node.args[last + 1 :]]), words


def other_item(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`x[-1]` becomes `x[0]`, `x[:, None]` becomes `x[None, :]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    for i, item in enumerate(items):
        if number_in(item) in (0, -1):
            taken, right = ("last", "first") if number_in(item) == 0 else ("first", "last")
            changed = [*items[:i], constant(0 if right == "last" else -1), *items[i + 1 :]]
            yield at(node, changed), SLIPS["item"].format(taken=taken, right=right)
    if any(isinstance(item, ast.Constant) and item.value is None for item in items) and len(items) > 1:
        for turned in (items[::-1], [*items[1:], items[0]], [items[-1], *items[:-1]]):
            yield at(node, turned), SLIPS["new axis"]


def at(node: ast.Subscript, items: list[ast.expr]) -> ast.AST:
    """Return the same tensor with another index."""
    return with_field(node, "slice", items[0] if len(items) == 1 else ast.Tuple(items, ast.Load()))


def cut_anew(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`x.transpose(1, 2)` becomes a reshape to the same shape, and neighboring sizes change places."""
    step = step_of(node)
    if step and isinstance(node, ast.expr) and step.name in ("transpose", "swapaxes", "mT", "T"):
        shape, before = ast.Attribute(node, "shape", ast.Load()), step_of(step.inner)
        yield method_call(step.inner, "reshape", shape), SLIPS["reshape"]
        if before and before.name == "unflatten":
            yield method_call(before.inner, "reshape", shape), SLIPS["one reshape"]
    if step and step.name == "unflatten" and isinstance(node, ast.Call) and isinstance(node.args[1], ast.Tuple):
        sizes = ast.Tuple(node.args[1].elts[::-1], ast.Load())
        turned = method_call(method_call(step.inner, "unflatten", node.args[0], sizes), "mT")
        yield turned, SLIPS["neighbors"]


def method_call(owner: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
    """Return the call of a method, or without arguments the attribute."""
    attribute = ast.Attribute(owner, name, ast.Load())
    return ast.Call(attribute, list(arguments), []) if arguments else attribute


def arguments_swapped(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`f(a, b)` becomes `f(b, a)`."""
    if (
        isinstance(node, ast.Call)
        and len(node.args) > 1
        and called(node) not in ("unflatten", "transpose", "swapaxes", "range")
    ):
        for i in range(len(node.args) - 1):
            a, b = node.args[i : i + 2]
            if not isinstance(a, ast.Constant) and not isinstance(b, ast.Constant):
                changed = copy.deepcopy(node)
                changed.args[i], changed.args[i + 1] = changed.args[i + 1], changed.args[i]
                words = SLIPS["arguments swapped"].format(what=noun(called(node)), names=scope.with_names(a, b))
                yield changed, words


def fill_value(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`masked_fill(mask, -inf)` and `where(mask, x, -inf)` fill with 0."""
    if isinstance(node, ast.Call) and FILLS.get(called(node)) == len(node.args):
        value = node.args[-1]
        if isinstance(value, ast.UnaryOp) and is_infinity(value.operand):
            changed = copy.deepcopy(node)
            changed.args[-1] = ast.Constant(0.0)
            yield changed, SLIPS["filled with 0"]


def one_case_only(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """A choice between two cases takes one of them always."""
    if isinstance(node, ast.IfExp):
        names = scope.names_in(node.test)
        words = SLIPS["one case"].format(names=f", whatever {names} is" if names else "")
        yield node.body, words
        yield node.orelse, words


def branch_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """An `if` is never, or always, entered."""
    if isinstance(node, ast.If):
        names = scope.names_in(node.test)
        words = SLIPS["branch missing"].format(names=f" on {names}" if names else "")
        for test in (False, True):
            yield with_field(node, "test", ast.Constant(test)), words


def overwritten(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """`x += y` becomes `x = y`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        store = ast.Name(node.target.id, ast.Store())
        yield ast.Assign([store], node.value, lineno=0), SLIPS["overwritten"]


def first_round_only(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """A loop ends after its first round."""
    if isinstance(node, ast.For):
        yield with_field(node, "body", [*copy.deepcopy(node.body), ast.Break()]), SLIPS["first round"]


def statement_missing(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """One assignment to a name that has a value already is left out."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        again = isinstance(target, ast.Name) and any(
            isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(node.value)
        )
        if again or isinstance(target, ast.Subscript):
            yield ast.Pass(), SLIPS["statement missing"].format(names=scope.with_names(node.value))


OPERATORS: Sequence[Operator] = (
    root_missing,
    fill_value,
    other_axis,
    cut_anew,
    one_side_missing,
    step_missing,
    option_missing,
    sign_missing,
    opposite_sign,
    comparison,
    other_operation,
    sides_swapped,
    sibling,
    one_case_only,
    branch_missing,
    off_by_one,
    other_item,
    overwritten,
    first_round_only,
    statement_missing,
    arguments_swapped,
    another_name,
    names_exchanged,
)
