"""Where NaN comes from: the student's code runs once more, and each expression is looked at as it is calculated."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from .fingerprint import Fingerprint
from .sentences import OBSERVED
from .site import in_one_line, line_of, written
from .values import Outcome, Raised

TESTS = {"nan": "value != value", "infinite": "value == float('inf')"}
LOOK = """
def look_at(value, place):
    try:
        found = bool(({test}).any())
    except Exception:
        found = False
    if found:
        raise FloatingPointError(place)
    return value
"""


class Looking(ast.NodeTransformer):
    """Has every operation and call in a function looked at.

    Attributes:
        seen: what is looked at, by the number of its place.
    """

    def __init__(self) -> None:
        self.seen: list[ast.AST] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """Look at an operation or a call, and what is in it before that."""
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(statement) for statement in node.body]  # type: ignore[misc]
            return node
        self.generic_visit(node)
        if not isinstance(node, ast.BinOp | ast.Call):
            return node
        self.seen.append(node)
        return ast.Call(ast.Name("look_at", ast.Load()), [node, ast.Constant(len(self.seen) - 1)], [])


def has_new_nan(mine: Fingerprint, right: Fingerprint) -> bool:
    """Say whether there is NaN in a result where the right one has none."""
    theirs = right.get("leaves", {})
    return any(leaf.get("nan") and not theirs.get(p, {}).get("nan") for p, leaf in mine.get("leaves", {}).items())


def where_from(tree: ast.Module, text: str, run: Callable[[str], Outcome]) -> str:
    """Say which expression first gives NaN, and which one infinity; '' where none does.

    Args:
        tree: the definitions in the student's cell.
        text: the cell.
        run: runs the failed check on another cell.
    """
    looking, places = Looking(), dict[str, str]()
    source = ast.unparse(looking.visit(copy.deepcopy(tree)))
    seen = {str(place): node for place, node in enumerate(looking.seen)}
    for kind, test in TESTS.items():
        outcome = run(LOOK.format(test=test) + source)
        if isinstance(outcome, Raised) and outcome.kind == "FloatingPointError" and outcome.text in seen:
            node = seen[outcome.text]
            places[kind] = f"line {line_of(node)}, `{in_one_line(written(node, text))}`"
    if "nan" not in places:
        return ""
    return OBSERVED["nan after infinity" if len(places) > 1 else "nan from"].format(**places)
