"""What a student's code says of itself, without being run: arguments that nothing reads, results that nothing keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .mutations import called
from .sentences import OBSERVED
from .site import in_one_line
from .syntax import parsed

NOT_READ = ("self", "cls")
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
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    names = (name for name in parameters_of(function) if name not in NOT_READ and not name.startswith("_"))
    return [name for name in names if name not in read]


def arguments_in_effect(tree: ast.Module) -> frozenset[str]:
    """Return the parameters that something in a cell's definitions depends on, by function and name.

    One that a class only stores in `self` counts where what was stored is read.
    """
    found: set[str] = set()
    for node in tree.body:
        functions = [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
        fields = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
        for function in (f for f in functions if isinstance(f, ast.FunctionDef)):
            read = {name for statement in function.body for name in names_read(statement, fields)}
            found |= {f"{function.name}({name})" for name in parameters_of(function) if name in read}
    return frozenset(found)


def names_read(statement: ast.stmt, fields: set[str]) -> set[str]:
    """Return the names that a statement reads; none for one that stores a field that nothing reads."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Attribute) and target.attr not in fields:
        return set()
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def observed(source: str) -> str:
    """Return what strikes the eye in a student's code; '' where nothing does."""
    return " ".join(dict.fromkeys((*unread_arguments(source), *results_lost(source))))


def unread_arguments(source: str) -> Iterator[str]:
    """Yield a sentence about arguments that the code asks for and never reads."""
    for node in parsed(source):
        functions = [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
        for function in (f for f in functions if isinstance(f, ast.FunctionDef)):
            unread = unread_parameters(function)
            if len(unread) == 1:
                yield OBSERVED["unread"].format(name=unread[0])
            elif unread:
                yield OBSERVED["unread ones"].format(names="` and `".join(unread))


def results_lost(source: str) -> Iterator[str]:
    """Yield a sentence about a statement that calculates something new and keeps it nowhere."""
    for node in (part for statement in parsed(source) for part in ast.walk(statement)):
        if isinstance(node, ast.Expr) and called(node.value) in CALCULATES:
            yield OBSERVED["lost"].format(code=in_one_line(ast.unparse(node.value)))


def has_loop(source: str) -> bool:
    """Say whether code repeats something."""
    loops = (ast.For, ast.While, ast.comprehension)
    return any(isinstance(part, loops) for statement in parsed(source) for part in ast.walk(statement))
