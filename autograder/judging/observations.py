"""What a student's code says of itself, without being run: arguments that nothing reads, results that nothing keeps."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from .sentences import OBSERVED
from .site import in_one_line
from .syntax import called, definition, parsed

NOT_READ = ("self", "cls")
MOST_STRANGE = 3
MEANINGFUL = (  # steps that are hardly another way of writing one that a solution takes
    *("mean", "std", "var", "median", "multinomial", "bernoulli", "cumsum", "cumprod"),
    *("log2", "log10", "tanh", "sigmoid", "relu", "gelu", "sin", "cos", "prod", "dropout", "softmax", "norm"),
    *("normalize", "layer_norm", "sort", "round", "floor", "ceil"),
)
WHOLE = ("max", "min", "amax", "amin", "sum", "mean", "norm")
CALCULATES = (
    *("masked_fill", "softmax", "transpose", "permute", "reshape", "view", "unsqueeze", "squeeze", "clone", "detach"),
    *("float", "double", "long", "bool", "sqrt", "exp", "log", "clamp", "sum", "mean", "div", "mul", "sub", "scatter"),
    *("index_fill", "tril", "triu", "flip", "roll", "abs", "neg", "pow", "flatten", "unflatten", "contiguous", "type"),
    *("where", "cat", "stack", "matmul", "nan_to_num", "logical_not", "logical_and", "repeat", "expand", "swapaxes"),
)


def parameters_of(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters, those with a star left out."""
    given = function.args
    return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def unread_parameters(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the parameters that nothing in a function reads."""
    read = names_in(function)
    names = (name for name in parameters_of(function) if name not in NOT_READ and not name.startswith("_"))
    return [name for name in names if name not in read]


def arguments_in_effect(tree: ast.Module) -> frozenset[str]:
    """Return the parameters that something in a cell's definitions depends on, by function and name.

    One that a class only stores in `self` counts where what was stored is read.
    """
    found: set[str] = set()
    for node in tree.body:
        fields = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
        for function in functions_in(node):
            read = {name for statement in function.body for name in names_read(statement, fields)}
            found |= {f"{function.name}({name})" for name in parameters_of(function) if name in read}
    return frozenset(found)


def names_read(statement: ast.stmt, fields: set[str]) -> set[str]:
    """Return the names that a statement reads, but for those that it only stores in fields that nothing reads."""
    if not isinstance(statement, ast.Assign):
        return names_in(statement)
    pairs = stored_in(statement)
    unread = [value for target, value in pairs if isinstance(target, ast.Attribute) and target.attr not in fields]
    kept = [part for pair in pairs for part in pair if pair[1] not in unread]
    return {name for part in kept for name in names_in(part)}


def stored_in(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Return what an assignment stores where, taken apart where both sides are."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def names_in(node: ast.AST) -> set[str]:
    """Return the names whose values a piece of code reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def functions_in(node: ast.stmt) -> list[ast.FunctionDef]:
    """Return a function, or those of a class."""
    functions = [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
    return [function for function in functions if isinstance(function, ast.FunctionDef)]


def parts_of(source: str) -> Iterator[ast.AST]:
    """Yield every node of a student's code."""
    return (part for statement in parsed(source) for part in ast.walk(statement))


def observed(source: str) -> str:
    """Return what strikes the eye in a student's code; '' where nothing does."""
    seen = (unread_arguments, results_lost, exact_comparisons, axes_not_named)
    return " ".join(dict.fromkeys(sentence for sentences in seen for sentence in sentences(source)))


def unread_arguments(source: str) -> Iterator[str]:
    """Yield a sentence about arguments that the code asks for and never reads."""
    for node in parsed(source):
        for function in functions_in(node):
            unread = unread_parameters(function)
            if len(unread) == 1:
                yield OBSERVED["unread"].format(name=unread[0])
            elif unread:
                yield OBSERVED["unread ones"].format(names="` and `".join(unread))


def results_lost(source: str) -> Iterator[str]:
    """Yield a sentence about a statement that calculates something new and keeps it nowhere."""
    for node in parts_of(source):
        if isinstance(node, ast.Expr) and called(node.value) in CALCULATES:
            yield OBSERVED["lost"].format(code=in_one_line(ast.unparse(node.value)))


def exact_comparisons(source: str) -> Iterator[str]:
    """Yield a sentence about what an unknown function returned, compared with `!=`, or asked for nothing but NaN."""
    for function in parts_of(source):
        if not isinstance(function, ast.FunctionDef):
            continue
        inner = [part for part in ast.walk(function) if part is not function]
        unknown = {*parameters_of(function), *(part.name for part in inner if isinstance(part, ast.FunctionDef))}
        for kind in ("exact", "nan alone"):
            asked = (left_side(part) if kind == "exact" else asked_for_nan(part) for part in inner)
            found = [part for part, node in zip(inner, asked, strict=True) if called(node) in unknown]
            yield from (OBSERVED[kind].format(code=in_one_line(ast.unparse(part))) for part in found[:1])


def asked_for_nan(node: ast.AST) -> ast.AST:
    """Return what stands left of `.isnan()`; an empty statement where it is no such call."""
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) == "isnan"
    return getattr(getattr(node, "func", None), "value", ast.Pass()) if method else ast.Pass()


def axes_not_named(source: str) -> Iterator[str]:
    """Yield a sentence about `diagonal` without its axes, or about a row that is calculated with one number of all."""
    for part in parts_of(source):
        code = in_one_line(ast.unparse(part)) if isinstance(part, ast.expr) else ""
        if called(part) == "diagonal" and isinstance(part, ast.Call) and not takes_axes(part):
            yield OBSERVED["first two axes"].format(code=code)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub | ast.Div) and not has_loop(source):
            whole, owner = part.right, getattr(getattr(part.right, "func", None), "value", ast.Pass())
            if called(whole) in WHOLE and not takes_axes(whole) and ast.dump(owner) == ast.dump(part.left):
                yield OBSERVED["one number"].format(code=ast.unparse(whole))


def takes_axes(call: ast.expr) -> bool:
    """Say whether a call of a method names axes; of `diagonal` its offset is none."""
    if not isinstance(call, ast.Call) or any(keyword.arg in ("dim", "axis", "dim1") for keyword in call.keywords):
        return True
    return len(call.args) > 2 if called(call) == "diagonal" else bool(call.args)


def left_side(node: ast.AST) -> ast.AST:
    """Return what stands left of `==` or `!=`, or of `.eq(…)` or `.ne(…)`; an empty statement where it is neither."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("eq", "ne"):
        return node.func.value
    return ast.Pass()


def strange_calls(source: str, calls: Collection[str]) -> str:
    """Return a sentence about steps that a solution does not take; '' where there are none.

    Args:
        source: the student's code.
        calls: what the solution calls.
    """
    names = dict.fromkeys(map(called, parts_of(source)))
    strange = [name for name in names if name in MEANINGFUL and name not in calls]
    return OBSERVED["strange"].format(names="` and `".join(strange)) if 0 < len(strange) < MOST_STRANGE else ""


def calls_in(reference: str, exercise: str) -> list[str]:
    """Return which meaningful functions a solution calls, with those that it is made of."""
    waiting, found = [exercise], set[str]()
    for name in waiting:  # grows while it is read
        whole = definition(reference, name)
        names = {name for node in ast.walk(whole) if (name := called(node))} if whole else set()
        waiting += sorted(names - found)
        found |= names
    return sorted(found.intersection(MEANINGFUL))


def where_given(source: str, name: str, stopped: str) -> str:
    """Say which statement gave a name its value, where only one can have; '' otherwise.

    Args:
        source: the student's code.
        name: the variable.
        stopped: the line that stopped with an error: it gave nothing.
    """
    nodes = list(parts_of(source))
    named = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    given = [node for node in named if isinstance(node.ctx, ast.Store)]
    stores = [n for n in nodes if isinstance(n, ast.Assign) and ast.unparse(n) != stopped]
    stores = [n for n in stores if isinstance(n.targets[0], ast.Name) and n.targets[0].id == name]
    parameter = any(isinstance(node, ast.FunctionDef) and name in parameters_of(node) for node in nodes)
    others = len(given) - sum(ast.unparse(n) == stopped for n in nodes if isinstance(n, ast.Assign))
    if parameter and not others:
        return OBSERVED["left out"]
    if not parameter and len(stores) == 1 == others:
        return OBSERVED["given"].format(code=in_one_line(ast.unparse(stores[0])))
    return ""


def has_loop(source: str) -> bool:
    """Say whether code repeats something."""
    loops = (ast.For, ast.While, ast.comprehension)
    return any(isinstance(part, loops) for part in parts_of(source))
