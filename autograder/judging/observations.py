"""What a student's code says of itself, without being run: arguments that nothing reads, results that nothing keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from .sentences import OBSERVED
from .site import defaults_of, in_one_line, parameters_of
from .syntax import DRAW, called, definition, is_self, parsed

MOST_NAMED = 2
NOT_READ = ("self", "cls")
READ_BY_NAME = {"getattr", "vars", "children", "modules", "named_children", "named_modules", "__dict__"}
NOT_FOR_RESULTS = ("backward", "register_hook", "retain_grad", "add", "sort")  # the last two are a set's and a list's
MEANINGFUL = (  # steps that are hardly another way of writing one that a solution takes
    *("mean", "std", "var", "median", "multinomial", "bernoulli", "cumsum", "cumprod"),
    *("log2", "log10", "tanh", "sigmoid", "relu", "gelu", "sin", "cos", "prod", "dropout", "softmax", "norm"),
    *("normalize", "layer_norm", "sort", "round", "floor", "ceil"),
)


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


def unread_names(source: str) -> list[str]:
    """Return sentences about what nothing reads: arguments, what a class makes, values, results that are dropped."""
    sentences = []
    for node in parsed(source):
        functions = functions_in(node)
        for function in functions:
            if unread := unread_parameters(function):
                kind = "unread" if len(unread) == 1 else "unread ones"
                sentences.append(OBSERVED[kind].format(name="` and `".join(unread)))
        sentences += [OBSERVED["unread field"].format(name=name) for name in unread_fields(node)]
        sentences += [said for function in functions for said in (*unread_values(function), *slips_in(function))]
    return sentences[:MOST_NAMED]


def unread_fields(node: ast.stmt) -> list[str]:
    """Return the fields of `self` where a class keeps what a call makes, such as a layer, and which it never reads."""
    inner = [part for part in ast.walk(node) if isinstance(node, ast.ClassDef)]
    read = {part.attr for part in inner if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)}
    if read & READ_BY_NAME or any(called(part) in READ_BY_NAME for part in inner):
        return []
    stored = [pair for part in inner if isinstance(part, ast.Assign) for pair in stored_in(part)]
    made = [target for target, value in stored if isinstance(value, ast.Call) and isinstance(target, ast.Attribute)]
    return list(dict.fromkeys(t.attr for t in made if is_self(t.value) and t.attr not in read))


def unread_values(function: ast.FunctionDef) -> Iterator[str]:
    """Yield a sentence about each value that a function names and never reads, or makes and does not keep."""
    inner = list(ast.walk(function))
    outer = {name for part in inner if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    read = names_in(function) | outer
    for part in inner:
        names = [target.id for target in getattr(part, "targets", ()) if isinstance(target, ast.Name)]
        if isinstance(part, ast.Assign) and names and not names[0].startswith("_") and not read.intersection(names):
            yield OBSERVED["unread value"].format(name=names[0], line=part.lineno)
        elif isinstance(part, ast.Expr) and is_new_tensor(part.value):
            yield OBSERVED["dropped"].format(code=in_one_line(ast.unparse(part)), line=part.lineno)


def slips_in(function: ast.FunctionDef) -> Iterator[str]:
    """Yield a sentence about each loop that ends at once, draw without the generator, and None taken for a no."""
    optional = [name for name, default in defaults_of(function).items() if getattr(default, "value", "") is None]
    parts: Iterator[Any] = ast.walk(function)
    for part in parts:
        loops = isinstance(part, ast.For | ast.While) and isinstance(part.body[-1], ast.Return | ast.Break)
        if loops and not any(isinstance(inner, ast.Continue) for inner in ast.walk(part)):
            yield OBSERVED["one round"].format(line=part.lineno, end=part.body[-1].lineno)
        if called(part) in DRAW and "generator" in set(parameters_of(function)) - names_in(part):
            yield OBSERVED["own draw"].format(line=part.lineno, code=in_one_line(ast.unparse(part)))
        asked = [getattr(part, "test", None), *getattr(part, "values", ())]  # of an `if`, of `and` and `or`
        asked += [part.operand] if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) else []
        for name in (each.id for each in asked if isinstance(each, ast.Name) and each.id in optional):
            yield OBSERVED["none as false"].format(line=part.lineno, name=name)


def is_new_tensor(node: ast.expr) -> bool:
    """Say whether an expression calls a tensor's method that changes nothing, and so is there for its result alone."""
    method = called(node) if isinstance(getattr(node, "func", None), ast.Attribute) else ""
    return callable(getattr(Tensor, method, None)) and not method.endswith("_") and method not in NOT_FOR_RESULTS


def calls_in(reference: str, exercise: str) -> list[str]:
    """Return which meaningful functions a solution calls, with those that it is made of."""
    return sorted(set(made_of(reference, exercise)).intersection(MEANINGFUL))


def made_of(reference: str, exercise: str) -> list[str]:
    """Return a solution's name, and what it calls, directly or not."""
    waiting = [exercise]
    for name in waiting:  # grows while it is read
        whole = definition(reference, name)
        names = {name for node in ast.walk(whole) if (name := called(node))} if whole else set()
        waiting += sorted(names.difference(waiting))
    return waiting
