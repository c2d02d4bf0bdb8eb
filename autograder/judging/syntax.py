"""What a cell's code defines and what it reads, by its syntax tree."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

from .parsing import parse, read_statements

WANTED: WeakKeyDictionary[ast.stmt, frozenset[str]] = WeakKeyDictionary()

# PyTorch's functions that draw random numbers
DRAW = (
    *("rand", "randn", "randint", "randperm", "multinomial", "normal", "bernoulli", "rand_like", "randn_like"),
    *("normal_", "uniform_", "random_", "bernoulli_", "exponential_", "randint_like"),
)

Definition = ast.FunctionDef | ast.ClassDef
Path = tuple[str, ...]  # a module's whole name, then the names that lead on from it
NAMED = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
TOKEN = re.compile(r"\w+|[^\w\s]")


class Code(str):
    """A cell's source, read once. What was read of it is kept as long as the cell is, and no longer."""

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Its statements, as Python or as IPython's extension of it; none where it is neither."""
        return read_statements(str(self))

    @cached_property
    def binding(self) -> list[tuple[ast.stmt, set[str]]]:
        """Its statements, each with the names that it binds for later cells; of an import, one for each name."""
        return [(node, bound_by(node)) for statement in self.statements for node in one_by_one(statement)]

    @cached_property
    def changing(self) -> list[tuple[ast.stmt, frozenset[str]]]:
        """Its statements, each with the names of objects from outside of it that it may change."""
        return [(node, changed_by(node)) for node in self.statements]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that it binds for later cells."""
        return frozenset().union(*(names for _, names in self.binding))

    @cached_property
    def held(self) -> frozenset[str]:
        """The names that it binds to something other than its own functions, classes and imports."""
        defining = (Definition, ast.Import, ast.ImportFrom)
        return frozenset().union(*(names for node, names in self.binding if not isinstance(node, defining)))

    @cached_property
    def defined(self) -> frozenset[str]:
        """All names that it binds at any depth: functions, arguments, variables, imports by name."""
        return frozenset(name for node in self.statements for part in ast.walk(node) for name in bound_at(part))

    @cached_property
    def imports(self) -> dict[str, Path]:
        """What the names stand for that it imports at any depth."""
        parts = (part for node in self.statements for part in ast.walk(node))
        return {name: path for part in parts for name, path in imported(part).items()}


def one_by_one(node: ast.stmt) -> list[ast.stmt]:
    """Return an import of several things as several imports; anything else as it is."""
    if isinstance(node, ast.Import):
        return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parts = (ast.ImportFrom(node.module, [alias], node.level) for alias in node.names)
        return [ast.copy_location(part, node) for part in parts]
    return [node]


def as_code(source: str) -> Code:
    """Return a source that remembers what was read of it: the same one where it is one already."""
    return source if isinstance(source, Code) else Code(source)


def tokens_in(source: str) -> int:
    """Count words and signs, without reading the code: it has no more than a few syntax nodes for each of them."""
    return sum(1 for _ in TOKEN.finditer(source))


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


def top_level_names(source: str) -> frozenset[str]:
    """Return the names that a cell binds for later cells."""
    return as_code(source).bound


def reachable(sources: Sequence[str], start: str = "", *, given: bool = True) -> list[ast.stmt]:
    """Return the statements of the first source, and those of the others that bind or change what is used.

    Args:
        sources: the code where the search starts, then other cells.
        start: a name; statements of any cell that bind it are where the search starts too.
        given: what holds data, and is no function, class or module, may be changed by whoever is given it: all that
            name it count, too.
    """
    codes = [as_code(source) for source in sources]
    found = list(codes[0].statements) if codes else []
    binding: dict[str, list[ast.stmt]] = {}
    libraries = {name for code in codes for name in code.imports}
    for node, names in (bound for code in codes[1:] for bound in code.binding):
        for name in names:
            binding.setdefault(name, []).append(node)
    held = {name for code in codes[1:] for name in code.held} - libraries if given else set()
    changing = [changes for code in codes[1:] for changes in code.changing]
    setters = {node.name for node, changed in changing if sets_others(node, changed)} - {start}  # type: ignore[attr-defined]
    for node, changed in changing:
        alone = {called(part.value) for part in ast.walk(node) if isinstance(part, ast.Expr)} & setters
        for name in (changed | alone | (wanted_by(node) & held)) - libraries - set(dir(builtins)):
            binding.setdefault(name, []).append(node)
    found += binding.pop(start, [])
    seen, stars = {id(node) for node in found}, binding.pop("*", [])
    bound = set(dir(builtins)).union(*(code.bound for code in codes))
    for node in found:  # grows while it is read
        if stars and wanted_by(node) - bound:  # a star may bring it
            found += stars
            stars = []
        for name in wanted_by(node) | ({node.name} if isinstance(node, Definition) else set()):
            new = [other for other in binding.pop(name, []) if id(other) not in seen]
            seen |= {id(other) for other in new}
            found += new
    return found


def sets_others(node: ast.stmt, changed: Collection[str]) -> bool:
    """Say whether a statement defines what, when it is called, gives other names or objects their values."""
    return isinstance(node, Definition) and (bool(changed) or len(bound_by(node)) > 1)


def changed_by(node: ast.stmt) -> frozenset[str]:
    """Return the names of objects from outside a statement that it may change.

    It stores into them, calls a method of theirs for nothing but its effect, or decorates with them: what a function
    finds in a list, a field or a registry is its code, too. A name of its own that it stores into may stand for any of
    what it uses and does not call.
    """
    changed: list[ast.AST] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
            changed.append(part)
        elif isinstance(part, ast.Expr) and isinstance(getattr(part.value, "func", None), ast.Attribute):
            changed.append(part.value.func)  # type: ignore[attr-defined]
        changed += (getattr(each, "func", each) for each in getattr(part, "decorator_list", ()))
    roots, wanted, parts = frozenset(map(root_of, changed)), wanted_by(node), list(ast.walk(node))
    if roots.isdisjoint(name for part in parts for name in bound_at(part)):
        return roots & wanted
    return wanted - ({called(part) for part in parts} - roots)


def root_of(node: ast.AST) -> str:
    """Return the name of the object that an expression is a part of; '' where it is part of what a call made."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def wanted_by(node: ast.stmt) -> frozenset[str]:
    """Return the names that a statement takes from outside itself. They are kept with it, and no longer than it is."""
    if node not in WANTED:
        WANTED[node] = outside_names(node)
    return WANTED[node]


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
        if isinstance(table, symtable.Function):  # of one that is called `top`, each symbol says that it is global
            wanted.update(table.get_globals())
        else:
            wanted |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    return frozenset(wanted - bound_by_loops(node))


def bound_by_loops(node: ast.stmt) -> set[str]:
    """Return the names that a statement reads nowhere but in loops that bind them; it has no scope but its own."""
    parts = list(ast.walk(node))
    read, bound = Counter(names_read(node)), set[str]()
    scopes = (*NAMED[:3], ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for loop in (part for part in parts if isinstance(part, ast.For) and not any(isinstance(p, scopes) for p in parts)):
        inside = Counter(name for statement in loop.body for name in names_read(statement))
        bound |= {name for part in ast.walk(loop.target) for name in bound_at(part) if inside[name] == read[name]}
    return bound


def names_read(node: ast.AST) -> Iterator[str]:
    """Yield each name that code reads, as often as it does."""
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))


def parsed(source: str) -> list[ast.stmt]:
    """Return a cell's statements, as Python or as IPython's extension of it; none where it is neither."""
    return as_code(source).statements


def bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {node.name}.union(*(part.names for part in ast.walk(node) if isinstance(part, ast.Global)))
    return {name for part in ast.walk(node) for name in bound_at(part)}


def bound_at(part: ast.AST) -> list[str]:
    """Return the names that one node binds by itself."""
    if isinstance(part, ast.Name):
        return [part.id] if isinstance(part.ctx, ast.Store) else []
    if isinstance(part, ast.arg):
        return [part.arg]
    if isinstance(part, NAMED):
        return [part.name] if part.name else []
    if isinstance(part, ast.MatchMapping):
        return [part.rest] if part.rest else []
    return [*imported(part)]


def imported(part: ast.AST) -> dict[str, Path]:
    """Return what the names stand for that a node imports: `F` for `torch.nn.functional`, `nn` for `nn` in `torch`."""
    if isinstance(part, ast.ImportFrom):
        module = "." * part.level + (part.module or "")
        return {alias.asname or alias.name: (module, alias.name) for alias in part.names}
    names = part.names if isinstance(part, ast.Import) else []
    return {alias.asname or alias.name.split(".")[0]: bound_path(alias) for alias in names}


def bound_path(alias: ast.alias) -> Path:
    """Return what `import a.b` binds: `a`; with a name of its own, what it is."""
    return (alias.name if alias.asname else alias.name.split(".")[0],)


def words_of(node: ast.AST) -> Iterator[str]:
    """Yield the names in a piece of code: bare, after a dot, and in imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Import | ast.ImportFrom):
            for path in (getattr(part, "module", None) or "", *(alias.name for alias in part.names)):
                yield from path.split(".")


def definition(source: str, name: str) -> Definition | None:
    """Return the definition of a name in a text, without its docstrings."""
    for node in parse(source).body:
        if isinstance(node, Definition) and node.name == name:
            for inner in ast.walk(node):
                if isinstance(inner, Definition) and ast.get_docstring(inner) is not None:
                    inner.body = inner.body[1:] or [ast.Pass()]
            return node
    return None


def imports_and_helpers(module: Code, source: str) -> list[str]:
    """Return what some code needs of a module's imports, functions, classes and values, directly or not."""
    code = Code(source)
    waiting, needed = list(code.statements), set()
    own = top_level_names(code)
    statements = {s: bound_by(s) - own for s in module.statements if not is_ours(s) and not isinstance(s, ast.Expr)}
    for node in waiting:  # grows while it is read
        for statement, bound in statements.items():
            if id(statement) not in needed and bound & wanted_by(node):
                needed.add(id(statement))
                waiting.append(statement)
    return [ast.unparse(s) for s in statements if id(s) in needed]


def is_ours(node: ast.stmt) -> bool:
    """Say whether an import is of the machinery, which a student's cell does not need."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("autograder", "checks")


def called(node: ast.AST) -> str:
    """Return the name of the function or method that a call calls; '' for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_self(node: ast.AST) -> bool:
    """Say whether a node is the name `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def number_in(node: ast.AST | None) -> int | None:
    """Return the whole number that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_in(node.operand)
        return None if inner is None else -inner
    return None


def constant(value: float) -> ast.expr:
    """Return a number as an expression; a negative one as Python's parser would."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)
