"""The operators that edit a student's code, one table, and those that put another operation in a place.

An operator looks at one node and yields changes of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from . import smaller_edits, wider_edits
from .sentences import CHANGES
from .site import Change, Operator, Site, Size, line_of, statements_of, with_fields
from .smaller_edits import OWNERS, expression_around, is_owned_by_self, names_of_loops
from .syntax import called, constant

INSTEAD: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mod, ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.Pow: (ast.Mult,),
    ast.BitXor: (ast.Pow, ast.BitAnd, ast.BitOr),
}


def other_operation(site: Site) -> Iterator[Change]:
    """`a * b` becomes `a / b`, `a ^ b` becomes `a ** b`, `a and b` becomes `a or b`."""
    node = site.node
    if isinstance(node, ast.BinOp | ast.AugAssign):
        for other in INSTEAD.get(type(node.op), ()):
            yield Change(with_fields(node, op=other()), site.code(), CHANGES["operation"])
    if isinstance(node, ast.BoolOp):
        other_op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield Change(ast.BoolOp(other_op, node.values), site.code(), CHANGES["joined"])


ANY_OTHER: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
COMPARISONS: Mapping[type[ast.cmpop], Mapping[type[ast.cmpop], str]] = {  # what becomes what, and in which words
    ast.Lt: {ast.LtE: "equal too", ast.Gt: "opposite", ast.GtE: "opposite"},
    ast.LtE: {ast.Lt: "equal not", ast.Gt: "opposite", ast.GtE: "opposite"},
    ast.Gt: {ast.GtE: "equal too", ast.Lt: "opposite", ast.LtE: "opposite"},
    ast.GtE: {ast.Gt: "equal not", ast.Lt: "opposite", ast.LtE: "opposite"},
    ast.Eq: {ast.NotEq: "opposite"},
    ast.NotEq: {ast.Eq: "opposite"},
}


def other_comparison(site: Site) -> Iterator[Change]:
    """`a < b` becomes `a <= b`, and every other comparison; so does each of a chain."""
    node = site.node
    if not isinstance(node, ast.Compare):
        return
    for i, op in enumerate(node.ops):
        known = COMPARISONS.get(type(op), {})
        for sign in dict.fromkeys((*known, *ANY_OTHER)) if known else ():
            if sign is not type(op):
                ops = [*node.ops[:i], sign(), *node.ops[i + 1 :]]
                yield Change(with_fields(node, ops=ops), site.code(), CHANGES[known.get(sign, "comparison")])


def none_asked_for(site: Site) -> Iterator[Change]:
    """`x or y` becomes `x if x is not None else y`; `if x` becomes `if x is not None`."""
    node, words = site.node, CHANGES["none"]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        first, second = node.values
        yield Change(ast.IfExp(is_none(first, ast.IsNot()), first, second), site.code(), words)
    if not isinstance(node, ast.If | ast.IfExp | ast.While):
        return
    inverted = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    inner = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    if isinstance(inner, ast.Name | ast.Attribute):
        test = is_none(inner, ast.Is() if inverted else ast.IsNot())
        yield Change(with_fields(node, test=test), site.code(node.test), words)


def is_none(node: ast.expr, sign: ast.cmpop) -> ast.expr:
    """Return `node is None`, or `node is not None`."""
    return ast.Compare(node, [sign], [ast.Constant(None)])


def condition_inverted(site: Site) -> Iterator[Change]:
    """`if x` becomes `if not x`."""
    node = site.node
    if isinstance(node, ast.If | ast.IfExp):
        test = ast.UnaryOp(ast.Not(), node.test)
        yield Change(with_fields(node, test=test), site.code(node.test), CHANGES["condition"])


def exchanged(site: Site) -> Iterator[Change]:
    """`f(a, b)` becomes `f(b, a)`, `[a, b]` becomes `[b, a]`, `a - b` becomes `b - a`."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Mod):
        yield Change(ast.BinOp(node.right, node.op, node.left), site.code(), CHANGES["sides"])
    if isinstance(node, ast.Tuple | ast.List):
        for items in with_two_exchanged(node.elts):
            yield Change(with_fields(node, elts=items), site.code(), CHANGES["elements"])
    if isinstance(node, ast.Call):
        for items in with_two_exchanged(node.args):
            yield Change(ast.Call(node.func, items, node.keywords), site.code(), CHANGES["arguments"])
    if isinstance(node, ast.IfExp):
        changed = ast.IfExp(node.test, node.orelse, node.body)
        yield Change(changed, site.code(), CHANGES["cases"])


def with_two_exchanged(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with two neighbors exchanged, each pair once."""
    for i in range(min(len(items), LONGEST_LIST) - 1):
        if not (isinstance(items[i], ast.Starred) or isinstance(items[i + 1], ast.Starred)):
            yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]


LONGEST_LIST = 6
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
    """`x.mean()` becomes `x.sum()`, `x.add_(y)` becomes `x.add(y)`, `.T` becomes `.mT`."""
    node = site.node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        other = "mT" if node.attr == "T" else "T"
        yield Change(with_fields(node, attr=other), site.code(), CHANGES["other transpose"])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    for other in SIBLINGS.get(name, ()):
        func = with_fields(node.func, attr=other)
        words = CHANGES[CONFUSED.get(name, "function")]
        yield Change(ast.Call(func, node.args, node.keywords), site.code(), words, alike=TOGETHER.get(name, ""))
    if name.endswith("_") and not name.startswith("_"):
        func = with_fields(node.func, attr=name.rstrip("_"))
        yield Change(ast.Call(func, node.args, node.keywords), site.code(), CHANGES["not in place"])


def new_not_in_place(site: Site) -> Iterator[Change]:
    """`x += y` becomes `x = x + y`; `x[m] = 0` and `x.add_(y)` work on a copy."""
    node = site.node
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        yield Change(ast.Assign([node.target], value, lineno=line_of(node)), site.code(), CHANGES["not in place"])
    written = None
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        written = target.value if isinstance(target, ast.Subscript) else None
    elif isinstance(node, ast.Expr) and called(node.value).endswith("_"):
        func = getattr(node.value, "func", None)
        written = func.value if isinstance(func, ast.Attribute) else None
    if isinstance(written, ast.Name) and isinstance(node, ast.stmt):
        yield Change(statements_of([cloned(written.id, line_of(node)), node]), site.code(), CHANGES["copy"])


def cloned(name: str, line: int) -> ast.stmt:
    """Return `x = x.clone()`."""
    call = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "clone", ast.Load()), [], [])
    return ast.Assign([ast.Name(name, ast.Store())], call, lineno=line)


TAKE_CONDITIONS = ("masked_fill", "masked_fill_", "where", "logical_and", "logical_or", "any", "all")


def inverted(site: Site) -> Iterator[Change]:
    """`mask` becomes `~mask`, where a condition is expected."""
    node, parent = site.node, site.parent
    if not isinstance(node, ast.Name | ast.Attribute | ast.Compare | ast.Call | ast.BinOp):
        return
    condition = (
        (isinstance(parent, ast.Call) and called(parent) in TAKE_CONDITIONS and node in parent.args[:2])
        or (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitAnd | ast.BitOr))
        or (isinstance(parent, ast.Subscript) and parent.slice is node)
        or isinstance(parent, ast.Return | ast.Lambda)
        or (isinstance(parent, ast.keyword) and "mask" in str(parent.arg))
    )
    if condition:
        yield Change(ast.UnaryOp(ast.Invert(), node), site.code(), CHANGES["inverted"])


def method_added(site: Site) -> Iterator[Change]:
    """`a @ b` becomes `a @ b.mT`; a name in an operation gets a new axis, or a root."""
    node, parent = site.node, site.parent
    if not isinstance(node, ast.expr) or not isinstance(parent, ast.BinOp) or isinstance(node, ast.Constant):
        return
    if isinstance(parent.op, ast.MatMult):
        yield Change(ast.Attribute(node, "mT", ast.Load()), site.code(), CHANGES["transposed"])
    if isinstance(node, ast.Name | ast.Subscript):
        for axis in (-1, -2, 1, 0):
            call = ast.Call(ast.Attribute(node, "unsqueeze", ast.Load()), [constant(axis)], [])
            yield Change(call, site.code(parent), CHANGES["new axis"].format(name=ast.unparse(node)))
    if isinstance(node, ast.Name):
        root = ast.BinOp(node, ast.Pow(), ast.Constant(0.5))
        yield Change(root, site.code(parent), CHANGES["root"].format(name=node.id))


def sign_added(site: Site) -> Iterator[Change]:
    """What is assigned, returned or one of two cases becomes its negative."""
    node, parent = site.node, site.parent
    if isinstance(node, ast.BinOp | ast.Call | ast.Name | ast.Subscript):
        cases = (parent.body, parent.orelse) if isinstance(parent, ast.IfExp) else (getattr(parent, "value", None),)
        if node in cases and isinstance(parent, ast.IfExp | ast.Assign | ast.AugAssign | ast.Return):
            yield Change(ast.UnaryOp(ast.USub(), node), site.code(), CHANGES["opposite sign"])


def returned_or_raised(site: Site) -> Iterator[Change]:
    """`return ValueError(…)` becomes `raise ValueError(…)`; what is printed, or nothing, is returned."""
    node = site.node
    if isinstance(node, ast.Return) and node.value and called(node.value).endswith("Error"):
        yield Change(ast.Raise(node.value, None), site.code(), CHANGES["raised for returned"])
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if called(node.value).endswith("Error"):
            yield Change(ast.Raise(node.value, None), site.code(), CHANGES["raised"])
        elif called(node.value) == "print" and node.value.args:
            yield Change(ast.Return(node.value.args[0]), site.code(), CHANGES["returned for printed"])
    function = site.parent
    if isinstance(node, ast.Assign) and isinstance(function, ast.FunctionDef) and function.body[-1] is node:
        yield Change(ast.Return(node.value), site.code(), CHANGES["returned"])


MOVED = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For)
FARTHEST = 4


def statement_moved(site: Site) -> Iterator[Change]:
    """A statement comes earlier, before one of those in front of it that speaks of the same things."""
    for field in ("body", "orelse", "finalbody"):
        block = wider_edits.statements_in(site.node, field)
        for i, statement in enumerate(block):
            for place in reversed(range(max(0, i - FARTHEST), i)):
                if not all(isinstance(each, MOVED) for each in block[place : i + 1]):
                    break
                if names_of(block[place]).isdisjoint(names_of(statement)):
                    continue
                order = [*block[:place], statement, *block[place:i], *block[i + 1 :]]
                words = CHANGES["moved"].format(before=site.code(block[place]))
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
                words = CHANGES["argument" if other in site.arguments else "name"].format(name=node.id)
                yield Change(ast.Name(other, ast.Load()), site.code(expression_around(site)), words)


def other_default(site: Site) -> Iterator[Change]:
    """`value = query` becomes `value = key`, where all are the function's own arguments."""
    assigned = site.parents[1] if isinstance(site.parent, ast.IfExp) else site.parent
    target = assigned.targets[0] if isinstance(assigned, ast.Assign) else None
    if isinstance(target, ast.Name) and target.id in site.arguments:
        yield from (change for change in other_name(site) if getattr(change.new, "id", "") in site.arguments)


def other_layer(site: Site) -> Iterator[Change]:
    """`self.norm1(x)` becomes `self.norm2(x)`."""
    node = site.node
    if isinstance(node, ast.Call) and is_owned_by_self(node):
        module = next((parent for parent in site.parents if isinstance(parent, ast.ClassDef)), ast.Pass())
        layers = [part.func for part in ast.walk(module) if isinstance(part, ast.Call) and is_owned_by_self(part)]
        for layer in {
            ast.unparse(layer): layer for layer in layers if called(node) != getattr(layer, "attr", "")
        }.values():
            yield Change(with_fields(node, func=with_fields(layer)), site.code(), CHANGES["layer"])


OPERATORS: Sequence[tuple[Operator, Size]] = (
    (wider_edits.generator_passed, Size.DELETION),  # where these three apply, they are what is meant
    (smaller_edits.mode_passed_on, Size.DELETION),
    (wider_edits.rounding_allowed, Size.DELETION),
    (smaller_edits.call_deleted, Size.DELETION),
    (smaller_edits.side_deleted, Size.DELETION),
    (smaller_edits.sign_deleted, Size.DELETION),
    (smaller_edits.one_case_only, Size.DELETION),
    (smaller_edits.argument_deleted, Size.DELETION),
    (smaller_edits.index_deleted, Size.DELETION),
    (smaller_edits.decorator_deleted, Size.DELETION),
    (smaller_edits.statement_deleted, Size.DELETION),
    (smaller_edits.size_of_an_argument, Size.CONSTANT),
    (smaller_edits.other_number, Size.CONSTANT),
    (smaller_edits.other_pair_of_axes, Size.CONSTANT),
    (smaller_edits.axis_added, Size.CONSTANT),
    (smaller_edits.keyword_shared, Size.CONSTANT),
    (smaller_edits.dtype_given, Size.CONSTANT),
    (smaller_edits.end_moved, Size.CONSTANT),
    (other_default, Size.CONSTANT),
    (wider_edits.unused_argument, Size.CONSTANT),
    (wider_edits.argument_passed, Size.CONSTANT),
    (wider_edits.dots_returned, Size.CONSTANT),
    (wider_edits.multiple_of_its_size, Size.CONSTANT),
    (wider_edits.new_axis_moved, Size.CONSTANT),
    (wider_edits.whole_axis, Size.CONSTANT),
    (wider_edits.copy_kept, Size.CONSTANT),
    (none_asked_for, Size.OPERATION),
    (returned_or_raised, Size.OPERATION),
    (new_not_in_place, Size.OPERATION),
    (other_operation, Size.OPERATION),
    (other_comparison, Size.OPERATION),
    (exchanged, Size.OPERATION),
    (wider_edits.steps_swapped, Size.OPERATION),
    (inverted, Size.OPERATION),
    (sibling_called, Size.OPERATION),
    (condition_inverted, Size.OPERATION),
    (method_added, Size.OPERATION),
    (sign_added, Size.OPERATION),
    (smaller_edits.loop_shortened, Size.OPERATION),
    (wider_edits.cut_anew, Size.OPERATION),
    (statement_moved, Size.WHOLE),
    (wider_edits.axes_in_front, Size.WHOLE),
    (smaller_edits.axis_removed, Size.NAME),
    (other_name, Size.NAME),
    (other_layer, Size.NAME),
)
