"""Where NaN, infinity, a dtype and what autograd cannot follow appear first: each function of PyTorch's is looked at.

A cell's definitions run where they stand in it, so that an instruction's position is one in the student's own text.
Positions alone are sent back. They say which expression gave what, and no cause.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, tensor
from torch.overrides import TorchFunctionMode

from .sentences import OBSERVED
from .site import in_one_line, written
from .syntax import parsed

MARK = "# where NaN appears first"  # the last line of code that is looked at
MOST_ENTRIES, MOST_ITEMS = 2**18, 100  # of one value
TRACED_DTYPES = ("float16", "bfloat16", "float32", "float64")
KINDS: dict[str, Any] = {
    "nan": torch.isnan,
    "infinity": torch.isposinf,
    "graph": lambda x: tensor(x.requires_grad),
    **{name: lambda x, name=name: tensor(x.dtype == getattr(torch, name)) for name in TRACED_DTYPES},
}
FIRST = ("nan", "infinity", "cut", *TRACED_DTYPES)  # rows of the table
NUMPY_INVALID = 8  # a flag of NumPy's: NaN came out of a calculation without NaN
NEW = re.compile(r"_like$|^new_")  # functions whose results belong in no graph
Position = tuple[int, ...]  # first and last line, first and last column
NOWHERE: Position = (0, 0, 0, 0)


def marked(cell: str) -> str:
    """Return a cell's definitions, each where it stands, to be looked at."""
    nodes = [node for node in parsed(cell) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    starts = [min(part.lineno for part in (node, *node.decorator_list)) for node in nodes]
    kept = {n for start, node in zip(starts, nodes, strict=True) for n in range(start, (node.end_lineno or start) + 1)}
    lines = cell.split("\n")
    return "\n".join([*(line if n in kept else "" for n, line in enumerate(lines, 1)), MARK])


class SpecialWatch(TorchFunctionMode):
    """Notes which call in a cell first made NaN of other numbers, or infinity, or left the graph.

    Args:
        file: the name under which the cell's code was compiled.
    """

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self._first: dict[str, Position] = dict.fromkeys(FIRST, NOWHERE)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function, and look at what it returns."""
        came_in = {kind for kind in KINDS if is_in(kind, [args, kwargs])}
        result = func(*args, **(kwargs or {}))
        seen = {kind for kind in KINDS if kind not in ("graph", *came_in) and is_in(kind, result)}
        seen |= {"cut"} if "graph" in came_in and leaves_graph(func, result) else set()
        self._note(seen, sys._getframe(1))
        return result

    def note_numpy(self, _error: str, flags: int) -> None:
        """Note that NumPy has made NaN, or infinity: its hook."""
        self._note({"nan" if flags & NUMPY_INVALID else "infinity"}, sys._getframe(1))

    def _note(self, seen: set[str], frame: FrameType) -> None:
        for kind in (kind for kind in seen if not any(self._first[kind])):
            self._first[kind] = position_in(self._file, frame)

    def table(self) -> Tensor:
        """Return what was seen, a position for each kind."""
        return torch.tensor(list(self._first.values()), dtype=torch.float64)


@contextlib.contextmanager
def watching(source: str, file: str) -> Iterator[SpecialWatch | None]:
    """Look at what runs in the block, if a code is to be looked at."""
    if not source.endswith(MARK):
        yield None
        return
    watch = SpecialWatch(file)
    with watch, np.errstate(over="call", divide="call", invalid="call", call=watch.note_numpy):
        yield watch


def leaves_graph(func: Any, result: Any) -> bool:
    """Say whether numbers come out of a function that autograd cannot follow."""
    numbers = isinstance(result, float | list | np.ndarray) or (
        isinstance(result, Tensor) and result.is_floating_point()
    )
    name = getattr(func, "__name__", "")
    return numbers and not NEW.search(name) and not is_in("graph", result)


def is_in(kind: str, value: Any) -> bool:
    """Say whether NaN, or infinity, is in a value; of one with very many entries nothing is said."""
    if isinstance(value, list | tuple | dict):
        items = list(value.values() if isinstance(value, dict) else value)
        return any(is_in(kind, item) for item in items[:MOST_ITEMS])
    if not isinstance(value, Tensor) or value.is_meta or value.numel() > MOST_ENTRIES or not value.is_floating_point():
        return False
    with torch._C.DisableTorchFunction(), torch.no_grad():
        return bool(KINDS[kind](value).any())


def position_in(file: str, frame: FrameType | None) -> Position:
    """Return which expression of a file a frame is at, or is called from; zeros where it is none."""
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    found = list(frame.f_code.co_positions())[frame.f_lasti // 2] if frame else (None,)
    return tuple(number or 0 for number in found) if None not in found else NOWHERE


def first_special(table: Any, text: str, kinds: Collection[str]) -> dict[str, str]:
    """Say which expression of a cell first gave what, by kind, where one did.

    Args:
        table: what a submission's process sent. It may send anything.
        text: the cell.
        kinds: what to say something about: "nan", "cut", or a dtype.
    """
    if not isinstance(table, Tensor) or table.shape != (len(FIRST), 4) or table.dtype != torch.float64:
        return {}
    if not bool(((table >= 0) & (table < 2**31)).all()):
        return {}
    nan, infinity, cut, *dtypes = (in_its_line(tuple(map(int, row)), text) for row in table.tolist())
    firsts = zip(TRACED_DTYPES, dtypes, strict=True)
    said = {dtype: OBSERVED["dtype"].format(dtype=dtype, first=first) for dtype, first in firsts if first}
    if nan:
        kind = "nan after infinity" if infinity not in ("", nan) else "nan from"
        said["nan"] = OBSERVED[kind].format(nan=nan, infinite=infinity)
    if cut:
        said["cut"] = OBSERVED["cut"].format(cut=cut)
    return {kind: words for kind, words in said.items() if kind in kinds}


def in_its_line(position: Position, text: str) -> str:
    """Return an expression's line and its code; '' where there is none."""
    first, last, start, end = position
    code = written(ast.Pass(lineno=first, end_lineno=last, col_offset=start, end_col_offset=end), text)
    return f"line {first}, `{in_one_line(code)}`" if code else ""
