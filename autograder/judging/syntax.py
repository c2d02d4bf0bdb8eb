"""What a cell's code defines and what it reads, by its syntax tree."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import symtable
import threading
import tokenize
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

PARSING = threading.RLock()  # Python's parser counts how deep it is for all threads together
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
# what IPython may change in a text that is Python already: prompts, and what only it takes for the end of a line
PROMPTS = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|^[^\S\n]*(?:>>>|\.{3,}:|(?:\[\w+\] )?In \[)", re.MULTILINE)
BARE_MAGIC = re.compile(r"\s*(?:pip|conda|mamba|micromamba|uv)[ \t]+\S.*\s*")  # which a notebook runs without its `%`
AROUND_A_CELL = ("time", "timeit", "prun", "capture", "debug")  # without these the cell is an ordinary one
HARMLESS_SETTING = re.compile(r"(?:InlineBackend\.\w+|InteractiveShell\.ast_node_interactivity)\s*=\s*['\"\w.]+")
ESCAPED = re.compile(r"[^\S\n]*[%!?,;/]|[^=#'\"\n]*=[ \t]*[%!]")  # a line that is not Python's, whatever comes after it
MOST_LINES = 10_000  # read in translating a cell, some of them more than once


class Code(str):
    """A cell's source, read once. What was read of it is kept as long as the cell is, and no longer."""

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Its statements, as Python or as IPython's extension of it; none where it is neither."""
        return read_statements(str(self))

    @cached_property
    def magics(self) -> list[str]:
        """The names of IPython's magics in it."""
        magics = Magics("get_ipython" in self)
        with contextlib.suppress(Exception):
            magics.statements(without_magic_around(self)[1])
        return magics.names

    @cached_property
    def can_be_read(self) -> bool:
        """Whether it has no other statements than those: it may have none because it is no Python and cannot run."""
        try:
            return bool(self.statements or parse(as_python(without_magic_around(self)[1])))
        except (SyntaxError, ValueError):
            return True
        except Exception:
            return False

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that it binds for later cells."""
        return frozenset().union(*map(bound_by, self.statements))

    @cached_property
    def defined(self) -> frozenset[str]:
        """All names that it binds at any depth: functions, arguments, variables, imports by name."""
        return frozenset(name for node in self.statements for part in ast.walk(node) for name in bound_at(part))

    @cached_property
    def imports(self) -> dict[str, Path]:
        """What the names stand for that it imports at any depth."""
        parts = (part for node in self.statements for part in ast.walk(node))
        return {name: path for part in parts for name, path in imported(part).items()}


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
        own = table.get_type() == "function"
        wanted |= {s.get_name() for s in table.get_symbols() if (s.is_global() if own else s.is_referenced())}
    return frozenset(wanted)


def parsed(source: str) -> list[ast.stmt]:
    """Return a cell's statements, as Python or as IPython's extension of it; none where it is neither."""
    return as_code(source).statements


def parse(source: str) -> ast.Module:
    """Parse Python as `ast.parse` does, which fails now and then if two threads are in it (SystemError)."""
    with PARSING:
        return ast.parse(source)


def without_magic_around(cell: str) -> tuple[str, str]:
    """Return the magic in a cell's first line that would time it or hide its output, '' for none, and the rest."""
    first, _, rest = cell.lstrip().partition("\n")
    name = first.removeprefix("%%").split()[:1]
    return (first, rest) if first.startswith("%%") and name and name[0] in AROUND_A_CELL else ("", cell)


def read_statements(source: str) -> list[ast.stmt]:
    """Read a cell's statements."""
    try:
        return Magics("get_ipython" in source).statements(without_magic_around(source)[1])
    except Exception:  # what IPython raises is not said anywhere
        return []


def as_python(cell: str) -> str:
    """Return a cell as the Python that runs: this is what is read, and what the sandbox runs.

    It is IPython's translation, line by line: IPython itself reads a cell anew for each of its magics.

    Raises:
        SyntaxError: it holds too much of IPython's own syntax.
    """
    if is_python(cell) and not PROMPTS.search(cell):
        return cell
    if BARE_MAGIC.fullmatch(cell):
        return as_python("%" + cell.lstrip())
    from IPython.core.inputtransformer2 import TransformerManager  # takes half a second

    manager = TransformerManager()
    parts = (cell if cell.endswith("\n") else f"{cell}\n").splitlines(keepends=True)
    for transform in (*manager.cleanup_transforms, *manager.line_transforms):
        parts = transform(parts)
    lines = [f"{line}\n" for line in "".join(parts).removesuffix("\n").split("\n")]
    start, left = 0, MOST_LINES
    while start < len(lines):
        end = end_of_line(lines, start)
        changed, new = manager.do_one_token_transform(lines[start:end])
        left -= end - start
        if left < 0:
            raise SyntaxError("This cell holds too much of IPython's own syntax.")
        lines[start:end] = new
        start = start if changed else end
    return "".join(lines)


def end_of_line(lines: Sequence[str], start: int) -> int:
    """Return the number of the line after the one that begins at a number, and may go on over several."""
    if ESCAPED.match(lines[start]):
        return next((n for n in range(start + 1, len(lines)) if not lines[n - 1].endswith("\\\n")), len(lines))
    rows, depth = iter(range(start, len(lines))), 0
    try:
        for token in tokenize.generate_tokens(lambda: lines[next(rows)]):
            if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and depth <= 0):
                return start + token.start[0]
            depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
    except (tokenize.TokenError, SyntaxError):
        pass
    return len(lines)


def is_python(text: str) -> bool:
    """Say whether a text is Python as it is."""
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class Magics(ast.NodeTransformer):
    """Puts what IPython's magics run in place of its calls of them; what cannot be read so is left a call.

    Args:
        left: leave all calls: the cell has some of its own.

    Attributes:
        names: the magics' names.
    """

    def __init__(self, left: bool) -> None:
        self.names: list[str] = []
        self._left = left

    def statements(self, cell: str) -> list[ast.stmt]:
        """Return a cell's statements."""
        text = as_python(cell)
        tree = parse(text)
        return tree.body if self._left or "get_ipython" not in text else self.visit(tree).body

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """Return the statements of a magic that stands alone."""
        found = self._run_by(node.value)
        return self.generic_visit(node) if found is None else found or ast.Pass()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the value of a magic that is part of something."""
        match self._run_by(node):
            case []:
                return ast.Constant(None)
            case [ast.Expr(value=value)]:
                return value
            case _:
                return self.generic_visit(node)

    def _run_by(self, node: ast.AST) -> list[ast.stmt] | None:
        """Return what a call of a magic runs, or None where this is no such call or cannot be read."""
        owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if not isinstance(node, ast.Call) or owner is None or called(owner) != "get_ipython":
            return None
        texts = [text.value for text in node.args if isinstance(text, ast.Constant) and isinstance(text.value, str)]
        match called(node), texts:
            case (("system" | "getoutput"), [_]):
                return []
            case "run_cell_magic", [name, _, _] if name not in AROUND_A_CELL:
                self.names.append(name)
                return []
            case "run_line_magic", [name, text]:
                return self._run_by_line(name, text)
        return None

    def _run_by_line(self, name: str, text: str) -> list[ast.stmt] | None:
        """Return what the magic of a line runs."""
        self.names.append(f"{name} {text}" if name == "load_ext" else name)
        if name == "config":
            return [] if HARMLESS_SETTING.fullmatch(text.strip()) or not text.strip() else None
        try:
            return self.statements(text)
        except (SyntaxError, ValueError):
            return None if name == "time" else []


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


def defined_in(source: str) -> frozenset[str]:
    """Return all names that a cell binds at any depth."""
    return as_code(source).defined


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
