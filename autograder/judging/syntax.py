"""What a cell's code defines and what it reads, by its syntax tree."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Collection, Sequence
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

SHORT = 20_000  # characters
Definition = ast.FunctionDef | ast.ClassDef


def needs_names_of(defining: Collection[str], sources: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether code reads a name that only certain cells define.

    Args:
        defining: the cells in question.
        sources: the code.
        others: further cells, which may define what it reads.
    """
    nodes = [node for source in sources for node in reachable([source, *others])]
    own = set(vars(builtins)).union(*map(top_level_names, (*sources, *others)))
    return bool(set().union(*map(wanted_by, nodes)) - own & set().union(*map(top_level_names, defining)))


@lru_cache(maxsize=1024)
def top_level_names(source: str) -> frozenset[str]:
    """Return the names that a cell binds for later cells."""
    return frozenset().union(*map(bound_by, parsed(source)))


def reachable(sources: Sequence[str], start: str = "") -> list[ast.stmt]:
    """Return the statements of the first source, and those of the others that bind what is used, directly or not.

    Args:
        sources: the code where the search starts, then other cells.
        start: a name; statements of any cell that bind it are where the search starts too.
    """
    trees = [parsed(source) for source in sources]
    found = list(trees[0]) if trees else []
    binding: dict[str, list[ast.stmt]] = {}
    for node in (node for tree in trees[1:] for node in tree):
        for name in bound_by(node):
            binding.setdefault(name, []).append(node)
    found += binding.pop(start, [])
    seen = {id(node) for node in found}
    for node in found:  # grows while it is read
        for name in wanted_by(node):
            new = [other for other in binding.pop(name, []) if id(other) not in seen]
            seen |= {id(other) for other in new}
            found += new
    return found


def wanted_by(node: ast.stmt) -> frozenset[str]:
    """Return the names that a statement takes from outside itself. They are kept with it, and no longer than it is."""
    kept = vars(node)
    if "wanted" not in kept:
        kept["wanted"] = outside_names(node)
    return frozenset(kept["wanted"])


def outside_names(node: ast.stmt) -> frozenset[str]:
    """Look up the names that a statement takes from outside itself: not a function's own variables."""
    try:
        tables = [symtable.symtable(ast.unparse(node), "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    wanted: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        own = table.get_type() == "function"
        wanted |= {s.get_name() for s in table.get_symbols() if (s.is_global() if own else s.is_referenced())}
    return frozenset(wanted)


def parsed(source: str) -> list[ast.stmt]:
    """Return a cell's statements, as Python or as IPython's extension of it; none where it is neither.

    Short cells are kept: most cells of a class are the lesson's own. IPython reads a cell anew for each of its magics,
    so a long one, or one of many magics, is read as plain Python only.
    """
    return (kept_statements if len(source) <= SHORT else kept_statements.__wrapped__)(source)


@lru_cache(maxsize=1024)
def kept_statements(source: str) -> list[ast.stmt]:
    """Read a cell's statements, and keep them."""
    magics = sum(
        line.lstrip().startswith(("%", "!", "?")) or line.rstrip().endswith("?") for line in source.split("\n")
    )
    for translate in (str, TransformerManager().transform_cell) if len(source) * magics <= SHORT else (str,):
        try:
            tree: ast.Module = ast.parse(translate(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError):
            continue
        return tree.body
    return []


def bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


@lru_cache(maxsize=256)
def defined_in(source: str) -> frozenset[str]:
    """Return all names that a cell binds at any depth: functions, arguments, variables, imports by name."""
    found = set()
    for part in (part for node in parsed(source) for part in ast.walk(node)):
        if isinstance(part, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(part.name)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in part.names}
    return frozenset(found)


def definition(source: str, name: str) -> Definition | None:
    """Return the definition of a name in a text, without its docstrings."""
    for node in ast.parse(source).body:
        if isinstance(node, Definition) and node.name == name:
            for inner in ast.walk(node):
                if isinstance(inner, Definition) and ast.get_docstring(inner) is not None:
                    inner.body = inner.body[1:] or [ast.Pass()]
            return node
    return None


def imports_and_helpers(module: str, source: str) -> list[str]:
    """Return what some code needs of a module's imports, functions, classes and values, directly or not."""
    waiting, needed = list(parsed(source)), set()
    own = top_level_names(source)
    statements = [s for s in parsed(module) if not is_ours(s) and not isinstance(s, ast.Expr)]
    for node in waiting:  # grows while it is read
        for statement in statements:
            if id(statement) not in needed and (bound_by(statement) - own) & wanted_by(node):
                needed.add(id(statement))
                waiting.append(statement)
    return [ast.unparse(s) for s in statements if id(s) in needed]


def is_ours(node: ast.stmt) -> bool:
    """Say whether an import is of the machinery, which a student's cell does not need."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("autograder", "checks")
