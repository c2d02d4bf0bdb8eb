"""The operators that edit a student's code, one table: each looks at one node and yields changes of it.

What a form of code becomes, whatever stands in it, is a rule of `RULES`. Operators that look around are functions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from . import larger_edits as large
from . import smaller_edits as small
from .sentences import CHANGES
from .site import (
    Change,
    Operator,
    Site,
    Size,
    filled,
    fits,
    made,
    parameters_of,
    parsed_template,
    statements_of,
    with_fields,
)
from .smaller_edits import MODULES, SIGNS, expression_around, names_of_loops
from .syntax import called, is_self, number_in

LONGEST_LIST = 6

SIMILAR_SIGNS = "+: - *; -: + /; *: / + @; /: * //; //: % / *; %: //; @: *; &: |; |: &; **: *; ^: ** & |"
INSTEAD = {sign.strip(): others.split() for sign, others in (entry.split(":") for entry in SIMILAR_SIGNS.split(";"))}
RULES: Sequence[tuple[str, ...]] = (  # a key of `CHANGES`, a form, and what it becomes
    ("sign", "-A", "A"),
    ("sign", "~A", "A"),
    ("sign", "not A", "A"),
    ("none", "A or B", "A if A is not None else B"),
    *(("sides", f"A {sign} B", f"B {sign} A") for sign in ("-", "/", "@", "%")),
    *(("operation", f"A {sign} B", *(f"A {other} B" for other in others)) for sign, others in INSTEAD.items()),
    *(("grouping", f"A {sign} B {product} C", f"(A {sign} B) {product} C") for sign in "+-" for product in "*/"),
    *(("grouping", f"A {product} B {sign} C", f"A {product} (B {sign} C)") for sign in "+-" for product in "*/"),
    ("grouping", "A / B * C", "A / (B * C)"),
    ("other transpose", "A.T", "A.mT"),
    ("other transpose", "A.mT", "A.T"),
    *(
        (kind, before, before.replace("B", after))
        for kind, after in (("opposite sign", "-B"), ("transposed", "B.mT"))
        for before in ("return B", "A = B")
    ),
    ("opposite sign", "A if B else C", "-A if B else C", "A if B else -C"),
    ("plain", "A += B", "A = B"),
    ("added", "A = B", "A = A + B"),
    *(("not in place", f"A {sign}= B", f"A = A {sign} B") for sign in "+-*/@&|"),
)


def rule(kinds: Sequence[str]) -> Operator:
    """Return the operator that the rules of some kinds are."""
    forms = [(kind, parsed_template(form), new) for kind, form, *new in RULES if kind in kinds]

    def by_rules(site: Site) -> Iterator[Change]:
        for kind, form, templates in forms:
            parts: dict[str, ast.AST] = {}
            if type(form) is type(site.node) and number_in(site.node) is None and fits(form, site.node, parts):
                shown = site.node.value if isinstance(site.node, ast.Return | ast.Assign) else None
                for template in templates:
                    new = filled(parsed_template(template), parts)
                    yield Change(new, site.code(shown), CHANGES[kind], alike=kind if kind == "not in place" else "")

    return by_rules


# Another operation, order or name


EQUAL_TOO = {ast.Lt: ast.LtE, ast.Gt: ast.GtE}
EQUAL_NOT = {other: sign for sign, other in EQUAL_TOO.items()}
TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


def other_comparison(site: Site) -> Iterator[Change]:
    """`a < b` becomes `a <= b`, and the reverse, or `a > b`; so does each of a chain."""
    ops = site.node.ops if isinstance(site.node, ast.Compare) else []
    for i, op in enumerate(ops):
        for kind, others in (("equal too", EQUAL_TOO), ("equal not", EQUAL_NOT), ("turned around", TURNED)):
            if other := others.get(type(op)):
                yield site.becomes(kind, with_fields(site.node, ops=[*ops[:i], other(), *ops[i + 1 :]]))


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
log1p: log; any: all; all: any; view: reshape;
eval: train; train: eval; append: extend; extend: append; round: floor ceil; floor: ceil round;
ceil: floor round; isqrt: sqrt; split: chunk; chunk: split
"""
SIBLINGS = {name.strip(): others.split() for name, others in (entry.split(":") for entry in SIMILAR.split(";"))}
TOGETHER = {"stack": "stack", "cat": "cat"}  # whoever takes one for the other does so for keys and for values


def sibling_called(site: Site) -> Iterator[Change]:
    """`x.mean()` becomes `x.sum()`, `x.add_(y)` becomes `x.add(y)`."""
    node, name = site.node, called(site.node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    for other in SIBLINGS.get(name, ()):
        new = with_fields(node, func=with_fields(node.func, attr=other))
        yield Change(new, site.code(), CHANGES["function"], alike=TOGETHER.get(name, ""))
    if name.endswith("_") and not name.startswith("_"):
        yield site.becomes("not in place", with_fields(node, func=with_fields(node.func, attr=name.rstrip("_"))))


def on_a_copy(site: Site) -> Iterator[Change]:
    """`x[m] = 0` and `x.add_(y)` work on a copy: everywhere at once too."""
    match site.node:
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)), *_])
            | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)))
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
        ) as node if not isinstance(node, ast.Expr) or called(node.value).endswith("_"):
            new, kind = statements_of([made(f"{name} = {name}.clone()"), node]), "copy"
        case _:
            return
    yield Change(new, site.code(), CHANGES[kind], alike=kind)


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


def name_in_another_form(site: Site) -> Iterator[Change]:
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


TAKE_LIMITS = ("masked_fill", "masked_fill_", "where", "full", "full_like", "new_full", "clamp")


def infinite(site: Site) -> Iterator[Change]:
    """`x.masked_fill(m, -1e4)` becomes `x.masked_fill(m, -inf)`; so does `x[m] = -1e4`."""
    match site.parent:
        case ast.Call(args=args) as call:
            filled_in = called(call) in TAKE_LIMITS and site.node in args[1:]
        case ast.Assign(targets=[ast.Subscript()], value=value):
            filled_in = value is site.node
        case _:
            filled_in = False
    for form in ('-float("inf")', 'float("inf")') if filled_in else ():
        yield site.becomes("infinite", made(form), site.parent, name=site.code())


def returned_otherwise(site: Site) -> Iterator[Change]:
    """What is returned gets the dtype of an argument, or is added to one."""
    outer = site.parents[1] if isinstance(site.parent, ast.Tuple) else site.parent
    if isinstance(outer, ast.Return) and isinstance(site.node, ast.expr) and site.functions:
        for name in [name for name in parameters_of(site.functions[0]) if name != "self"][: small.MOST_DTYPES]:
            in_dtype, words = made(f"A.to({name}.dtype)", A=site.node), CHANGES["dtype"].format(name=name)
            yield Change(in_dtype, site.code(), words, alike=words)
            yield site.becomes("added to", made(f"{name} + A", A=site.node), name=name)


def returned_or_raised(site: Site) -> Iterator[Change]:
    """`return ValueError(…)` becomes `raise ValueError(…)`; what is printed is returned."""
    match site.node:
        case ast.Return(value=ast.Call() as call) if called(call).endswith("Error"):
            yield site.becomes("raised for returned", ast.Raise(call, None))
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[first, *_])):
            yield site.becomes("returned for printed", ast.Return(first))


MOST_JOINED = 4  # sizes: with so many, an axis was split
AND_BACK = "there and back"  # whoever exchanges two axes where one is split does so again where they are joined


def cut_anew(site: Site) -> Iterator[Change]:
    """`x.view(b, h, l, d)` becomes `x.view(b, l, h, d).transpose(1, 2)`, `x.transpose(1, 2).view(…)`, or no `view`."""
    match site.node:
        case ast.Call(func=ast.Attribute(value=owner, attr="view" | "reshape" | "flatten" as name) as func) as node:
            if ast.unparse(owner) in ("torch", "np"):
                return
            for axes in ("1, 2", "-2, -1", "0, 1"):
                turned = made(f"A.transpose({axes})", A=owner)
                yield site.becomes("turned instead", turned, name=name)
                func = with_fields(func, value=turned, attr="reshape" if name == "view" else name)
                alike = AND_BACK if axes == "1, 2" and len(node.args) < MOST_JOINED else ""
                yield Change(with_fields(node, func=func), site.code(), CHANGES["turned first"], alike=alike)
            if len(node.args) >= MOST_JOINED:
                split = made("A.transpose(1, 2)", A=node)
                yield Change(split, site.code(), CHANGES["turned too"], alike=AND_BACK)


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
        names = step_name(outer[0]), step_name(site.node)
        yield site.becomes("steps", inner[1](outer[1](inner[0])), inner=names[0], outer=names[1])


def step_name(node: ast.AST) -> str:
    """Return what a step is called in a student's code: `softmax`, `self.norm`, `/`."""
    if isinstance(node, ast.BinOp):
        return SIGNS[type(node.op)]
    owner = getattr(getattr(node, "func", None), "value", None)
    return f"self.{called(node)}" if owner and is_self(owner) else called(node) or getattr(node, "attr", "")


def wrapped_too(site: Site) -> Iterator[Change]:
    """`x + self.linear(y)` becomes `x + self.drop(self.linear(y))` beside `x + self.drop(z)`."""
    parts = (part for function in site.functions[:1] for part in ast.walk(function))
    added = [part.right for part in parts if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add)]
    for other in added if site.node in added else ():
        if isinstance(other, ast.Call) and len(other.args) == 1 and is_self(getattr(other.func, "value", other)):
            new = with_fields(other, args=[site.node])
            yield site.becomes("wrapped", new, name=ast.unparse(other.func))


def as_beside(site: Site) -> Iterator[Change]:
    """`x / t - x.max()` becomes `x / t - (x / t).max()`: a name is there too what it is elsewhere in the statement."""
    node = site.node
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id not in site.names:
        return
    statement = next((parent for parent in site.parents if isinstance(parent, ast.stmt)), node)
    for other in ast.walk(statement) if not hasattr(statement, "body") else ():
        if isinstance(other, ast.BinOp | ast.Call | ast.Subscript | ast.Attribute) and other not in site.parents:
            inner = other.func.value if is_method_call(other) else getattr(other, "left", getattr(other, "value", None))
            if isinstance(inner, ast.Name) and inner.id == node.id and inner is not node:
                shown = site.parents[1] if is_method_call(site.parents[1]) else site.parent
                yield site.becomes("as beside", filled(other, {}), shown, inner=site.code(other), name=node.id)


def is_method_call(node: ast.AST) -> TypeGuard[Any]:
    """Say whether a node is a call of a method."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def other_name(site: Site) -> Iterator[Change]:
    """One parameter or variable stands in another's place; a loop's in that of a loop's, or else it is no loop."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in site.names:
        looped = names_of_loops(site)
        for other in site.names:
            if other != node.id and (other in looped) == (node.id in looped):
                kind = "argument" if other in site.arguments else "name"
                yield site.becomes(kind, ast.Name(other, ast.Load()), expression_around(site), name=node.id)


OPERATORS: Mapping[Size, Sequence[Operator]] = {
    Size.DELETION: (
        *(small.help_passed, large.moved_out, wrapped_too),  # these are what is meant
        *(small.call_deleted, small.side_deleted, rule(("sign",)), small.argument_deleted),
        *(small.index_deleted, small.statement_deleted),
    ),
    Size.CONSTANT: (
        *(small.size_of_an_argument, small.other_number, small.other_pair_of_axes, small.keyword_added),
        *(small.end_moved, small.unused_argument, large.argument_for_default, large.order_changed),
    ),
    Size.OPERATION: (
        rule(("none", "operation", "sides", "other transpose", "plain", "added", "not in place", "grouping")),
        *(
            large.none_asked,
            other_comparison,
            returned_or_raised,
            on_a_copy,
            exchanged,
            steps_swapped,
            inverted,
        ),
        *(sibling_called, small.factor_added, name_in_another_form, rule(("opposite sign", "transposed")), cut_anew),
        *(infinite, returned_otherwise, as_beside),
    ),
    Size.WHOLE: (large.done_to_another,),
    Size.NAME: (other_name,),
}
