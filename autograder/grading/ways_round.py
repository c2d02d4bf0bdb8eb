"""Code that reaches a function by a way that the names in it do not tell: what a person should look at.

Two witnesses say what an answer uses: a record of what ran, and the names in its source. Code from a text, names that
are put together, PyTorch's private parts, threads and processes escape one of them or both. None of these is forbidden,
and few answers need them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from ..judging.syntax import parsed, reachable, words_of

CALLED = ("exec", "eval", "compile", "__import__", "vars", "globals", "locals")
ELSEWHERE = (
    *("threading", "_thread", "concurrent", "multiprocessing", "asyncio", "subprocess", "fork", "forkpty", "gc"),
    *(
        "importlib",
        "import_module",
        "builtins",
        "__builtins__",
        "__globals__",
        "__subclasses__",
        "__dict__",
        "__code__",
    ),
    *("attrgetter", "methodcaller", "pkgutil", "resolve_name", "posix_spawn", "popen"),
)
# by these the record itself can be taken away, from any cell
OF_THE_RECORD = (
    *("_getframe", "f_back", "currentframe", "ctypes", "_C", "_python_dispatch", "overrides", "judging", "grading"),
    *("_disable_current_modes", "DisableTorchFunction", "operators", "setprofile", "settrace"),
)
PATH = re.compile(r"\w+([.:]\w+)+|_\w+")
RUNS_TEXTS = ("exec", "eval", "compile", "__import__")
INNER = ("ops", "onnx", "ao", "fx", "overrides", "library")  # parts of PyTorch that are not for answers
TORCH = "torch"
MOST_STEPS = 20


def way_round(sources: Sequence[str], exercise: str, own: Sequence[str], allowed: Collection[str] = ()) -> str:
    """Return what in a submission a person should look at before its points for an exercise count, or ''.

    Args:
        sources: all code cells. Read is what binds the exercise's name, and what that leads to.
        exercise: its name.
        own: the student's own cells.
        allowed: words that this exercise's honest answers use.
    """
    nodes = reachable(["", *sources], exercise)
    aliases = torch_names(nodes)
    hidden = (word for node in nodes for word in hidden_in(node, aliases) if word not in allowed)
    read = [node for source in own for node in parsed(source)]
    taken = (word for node in read for word in (*words_of(node), *words_in_texts(node)) if word in OF_THE_RECORD)
    passed_on = (word for node in read for word in passed_on_in(node) if word not in allowed)
    unread = any(exercise in source and source.strip() and not parsed(source) for source in own)
    word = next(hidden, "")
    if word:
        return f"its code uses `{word}`"
    word = next(taken, "") or next(passed_on, "")
    return f"a cell uses `{word}`" if word else "a cell with its name cannot be read" if unread else ""


def words_in_texts(node: ast.AST) -> Iterator[str]:
    """Yield the steps of paths that are written as texts, such as "torch:_C.ops"."""
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    for text in texts:
        if PATH.fullmatch(text):
            yield from re.split("[.:]", text)


def passed_on_in(node: ast.AST) -> Iterator[str]:
    """Yield what runs a text and is not called here: it gets another name, or goes into an object."""
    called = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))
    yield from (name.id for name in names if name.id in RUNS_TEXTS and id(name) not in called)


def starred(own: Sequence[str], modules: Collection[str]) -> str:
    """Return the first of the lesson's modules that a cell imports everything from, forbidden names with it, or ''."""
    imports = (part for source in own for node in parsed(source) for part in ast.walk(node))
    found = (part for part in imports if isinstance(part, ast.ImportFrom) and part.names[0].name == "*")
    return next((part.module for part in found if part.module in modules), None) or ""


def hidden_in(node: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """Yield what in a piece of code reaches something by another way than its name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            if part.func.id in CALLED and not is_self(part):
                yield part.func.id
            elif part.func.id == "getattr" and not is_self(part) and not has_constant_name(part):
                yield "getattr"
        elif isinstance(part, ast.Attribute):
            if part.attr in ELSEWHERE:
                yield part.attr
            yield from inner_part(dotted(part, aliases))
        elif isinstance(part, ast.Import | ast.ImportFrom):
            yield from (word for word in words_of(part) if word in ELSEWHERE)
            for path in imported(part).values():
                yield from inner_part(path)


def is_self(call: ast.Call) -> bool:
    """Say whether a call is about the object itself: `vars(self)`, `getattr(self, name)`."""
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id in ("self", "cls")


def has_constant_name(call: ast.Call) -> bool:
    """Say whether the second argument of a call is written out."""
    return len(call.args) > 1 and isinstance(call.args[1], ast.Constant)


def torch_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return what imported names stand for, as far as it comes from PyTorch: `F` for torch.nn.functional."""
    imports = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
    return {TORCH: TORCH} | {name: path for part in imports for name, path in imported(part).items() if is_torch(path)}


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return the names that an import binds, each with its whole path."""
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {alias.asname or alias.name: alias.name for alias in node.names}


def dotted(node: ast.Attribute, aliases: dict[str, str]) -> str:
    """Return the whole path of an attribute that comes from PyTorch, or ''."""
    parts: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute) and len(parts) <= MOST_STEPS:  # of a longer one, what it begins with is asked
        parts.append(base.attr)
        base = base.value
    root = aliases.get(base.id, "") if isinstance(base, ast.Name) else ""
    return ".".join([root, *reversed(parts)]) if root else ""


def inner_part(path: str) -> Iterator[str]:
    """Yield a path into PyTorch that leads to what is private or not for answers."""
    steps = path.split(".")
    if is_torch(path) and any((s.startswith("_") and not s.startswith("__")) or s in INNER for s in steps[1:]):
        yield path


def is_torch(path: str) -> bool:
    """Say whether a path begins in PyTorch."""
    return path.split(".")[0] == TORCH
