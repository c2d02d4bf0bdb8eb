"""A cell's text as the Python that runs: parsed by one thread at a time, with IPython's own syntax translated."""

from __future__ import annotations

import ast
import re
import threading
import tokenize
from collections.abc import Sequence

PARSING = threading.RLock()  # Python's parser counts how deep it is for all threads together
# what IPython may change in a text that is Python already: prompts, and what only it takes for the end of a line
PROMPTS = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|^[^\S\n]*(?:>>>|\.{3,}:|(?:\[\w+\] )?In \[)", re.MULTILINE)
BARE_MAGIC = re.compile(r"(?:pip|conda|mamba|micromamba|uv)[ \t]+\S.*")  # which a notebook runs without its `%`
AROUND_A_CELL = ("time", "timeit", "prun", "capture", "debug")  # without these the cell is an ordinary one
HARMLESS_SETTING = re.compile(r"(?:InlineBackend\.\w+|InteractiveShell\.ast_node_interactivity)\s*=\s*['\"\w.]+")
ESCAPED = re.compile(r"[^\S\n]*[%!?,;/]|[^=#'\"\n]*=[ \t]*[%!]")  # a line that is not Python's, whatever comes after it
MOST_LINES = 10_000  # read in translating a cell, some of them more than once
LONGEST_LINE = 5000  # characters of a line: the time that a string takes which is not closed grows with their square


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
    if any(len(line) > LONGEST_LINE for line in cell.splitlines()):
        raise SyntaxError("A line of this cell is too long to be translated.")
    if BARE_MAGIC.fullmatch(cell.strip()):
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
    """

    def __init__(self, left: bool) -> None:
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
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=method), args=args):
                texts = [a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            case _:
                return None
        match method, texts:
            case (("system" | "getoutput"), [_]):
                return []
            case "run_cell_magic", [name, _, _] if name not in AROUND_A_CELL:
                return []
            case "run_line_magic", [name, text]:
                return self._run_by_line(name, text)
        return None

    def _run_by_line(self, name: str, text: str) -> list[ast.stmt] | None:
        """Return what the magic of a line runs."""
        if name == "config":
            return [] if HARMLESS_SETTING.fullmatch(text.strip()) or not text.strip() else None
        try:
            return self.statements(text)
        except (SyntaxError, ValueError):
            return None if name == "time" else []
