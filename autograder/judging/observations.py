"""What a student's code says of itself, without being run: unread arguments, and what it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .sentences import OBSERVED
from .site import parameters_of
from .syntax import Definition, called, parsed

MOST_NAMED = 2
NOT_READ = ("self", "cls")
MEANINGFUL = (  # hardly another way of writing what a solution calls
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


def seen_in(source: str) -> list[str]:
    """Return sentences about a student's code: arguments that nothing reads."""
    sentences = []
    for function in (function for node in parsed(source) for function in functions_in(node)):
        if unread := unread_parameters(function):
            kind = "unread" if len(unread) == 1 else "unread ones"
            sentences.append(OBSERVED[kind].format(name="` and `".join(unread)))
    return sentences[:MOST_NAMED]


def calls_in(reference: str, exercise: str) -> list[str]:
    """Return which meaningful functions a solution calls, with those that it is made of."""
    return sorted(set(map(called, made_of(exercise, definitions_in(reference)))).intersection(MEANINGFUL))


def definitions_in(source: str) -> dict[str, ast.stmt]:
    """Return what a text defines, by name."""
    return {node.name: node for node in reversed(parsed(source)) if isinstance(node, Definition)}


def made_of(exercise: str, definitions: Mapping[str, ast.stmt]) -> list[ast.AST]:
    """Return the nodes of a solution, and of what it calls, directly or not."""
    waiting, nodes = [exercise], list[ast.AST]()
    for name in waiting:  # grows while it is read
        nodes += (new := list(ast.walk(definitions.get(name, ast.Pass()))))
        waiting += sorted(set(map(called, new)).difference(waiting))
    return nodes
