"""Functions of a lesson that a student's code may call and must not read: what a tester is tried on.

In a student's workspace, and wherever the judge itself runs a check, a black box is an ordinary function. A
submission's process knows only a name that says nothing. There a call goes out as data, a process of the judge's own
computes it, and the result comes back as data, so that nobody can learn from a box more than what it answers.
"""

from __future__ import annotations

import ast
import dis
import hashlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from types import ModuleType
from typing import Any, TypeGuard

import torch
from torch import Tensor

from .parsing import parse
from .values import flatten, identical

MOST_AXES = 4
MOST_ENTRIES = 4096  # of all arguments together: the judge's own process calculates with them
LARGEST_BROADCAST = 2**18
LARGEST_RESULT = 2**16
TOO_LARGE_FOR_A_BOX = (
    f"a call takes tensors of at most {MOST_AXES} axes and {MOST_ENTRIES:,} entries altogether, "
    f"{LARGEST_BROADCAST:,} once they are broadcast, and smaller whole numbers"
)
NO_WORDS = "the function stopped with this error"
ERRORS = {kind.__name__: kind for kind in (RuntimeError, ValueError, TypeError, IndexError)}

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What came of one call.

    Args:
        result: what was returned.
        written: the tensors among the arguments that the box has written to, by their number as text.
        error: the class and the text of an exception, where there was one.
    """

    result: Any = None
    written: Mapping[str, Tensor] = field(default_factory=dict)
    error: tuple[str, str] | None = None


Transport = Callable[[str, Arguments], Answer]
_transport: list[Transport] = []  # how to reach the judge; empty where boxes are called directly


class BlackBox:
    """A function that can be called and not read.

    Args:
        work: the function itself; in a submission's process, one without a body.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        self.name = self.__name__ = work.__name__
        self.__doc__ = work.__doc__
        self._work = work

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function. Raises ValueError for tensors that are too large."""
        if not fits((args, options)):
            raise ValueError(TOO_LARGE_FOR_A_BOX)
        return call_remotely(_transport[0], self.name, (args, options)) if _transport else self._work(*args, **options)


def black_box(work: Callable[..., Any]) -> BlackBox:
    """Declare a function whose body is kept from submissions, in hidden.py, or one that is called the same way.

    The sizes of its arguments are bounded, and so are the memory and the time of the process that computes it.
    """
    return BlackBox(work)


def black_boxes_in(*modules: ModuleType) -> dict[str, BlackBox]:
    """Return the black boxes of some modules by name."""
    return {box.name: box for module in modules for box in vars(module).values() if isinstance(box, BlackBox)}


def fits(arguments: Arguments) -> bool:
    """Say whether arguments, and what a call makes of them, are small enough, however deep they lie."""
    values = [leaf.value for leaf in flatten([list(arguments[0]), dict(arguments[1])])]
    tensors = [value for value in values if isinstance(value, Tensor)]
    narrow = all(tensor.ndim <= MOST_AXES for tensor in tensors)
    return narrow and sum(map(extent, values)) <= MOST_ENTRIES and broadcast_extent(tensors) <= LARGEST_BROADCAST


def broadcast_extent(tensors: Sequence[Tensor]) -> int:
    """Return how many entries a table for all pairs of rows may have once the axes in front are broadcast.

    The last two axes of any two tensors can meet, as L and S do in scores: the two longest of them count.
    """
    shapes = [tuple(tensor.shape) for tensor in tensors]
    in_front = [shape[:-2][::-1] for shape in shapes]
    broadcast = (max(sizes) for sizes in zip_longest(*in_front, fillvalue=1))
    pairs = sorted((size for shape in shapes for size in shape[-2:]), reverse=True)[:2]
    return math.prod(max(size, 1) for size in (*broadcast, *pairs))


def extent(value: Any) -> int:
    """Return how large something may become: an empty tensor's other axes count, and a whole number may be a size."""
    if isinstance(value, Tensor):
        return math.prod(max(size, 1) for size in value.shape)
    return len(value) if isinstance(value, str) else abs(value) if isinstance(value, int) else 1


def tensors_in(arguments: Arguments) -> list[Tensor]:
    """Return the tensors among a call's arguments."""
    return [value for value in (*arguments[0], *arguments[1].values()) if isinstance(value, Tensor)]


def install_transport(line: Transport) -> None:
    """From now on, have every box of this process answered elsewhere."""
    _transport[:] = [line]


def disguise(module: ModuleType, names: Mapping[str, str]) -> None:
    """Give a module's boxes names that say nothing, and take away what they do: they are computed elsewhere.

    Args:
        module: the checks that students have, in a submission's process.
        names: for each box's own name the new one.
    """
    for box in black_boxes_in(module).values():
        if box.name in names:
            box.name = box.__name__ = names[box.name]
            box.__doc__, box._work = None, no_work


def no_work(*_args: Any, **_options: Any) -> None:
    """Stand for the body of a box that is computed elsewhere."""


def call_remotely(line: Transport, name: str, arguments: Arguments) -> Any:
    """Call a box elsewhere, and do here what it did there: write to an argument, raise an error."""
    answer = line(name, arguments)
    with torch.no_grad():
        for number, written in answer.written.items():
            tensors_in(arguments)[int(number)].copy_(written)
    if answer.error:
        raise ERRORS.get(answer.error[0], RuntimeError)(answer.error[1])
    return answer.result


def answer_call(boxes: Mapping[str, BlackBox], name: str, arguments: Arguments) -> Answer:
    """Call a box on behalf of a submission. Raises KeyError for one that is not there."""
    box = boxes[name]
    if not fits(arguments):
        return Answer(error=("ValueError", TOO_LARGE_FOR_A_BOX))
    before = [tensor.clone() for tensor in tensors_in(arguments)]
    result, error = None, None
    try:
        result = box(*arguments[0], **arguments[1])
        if sum(extent(leaf.value) for leaf in flatten(result)) > LARGEST_RESULT:
            result, error = None, ("ValueError", TOO_LARGE_FOR_A_BOX)
    except Exception as raised:
        error = type(raised).__name__, own_words(raised)
    pairs = enumerate(zip(tensors_in(arguments), before, strict=True))
    return Answer(result, {str(n): after for n, (after, was) in pairs if not identical(after, was)}, error)


def own_words(error: Exception) -> str:
    """Return what an error says, where the box itself raised it: Python's and PyTorch's words would describe its code.

    Only the last frame of the traceback is looked at: it has to be in no imported module, and at a `raise`.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_globals.get("__name__") in sys.modules:
        return NO_WORDS
    raised = dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
    return str(error)[:500] if raised else NO_WORDS


def without_body(node: ast.stmt) -> ast.stmt:
    """Return a definition of a black box with a name and nothing else; any other statement as it is."""
    if is_box(node):
        return parse(f"@black_box\ndef {node.name}(*args, **options):\n    pass").body[0]
    return node


def name_sent(name: str, source: str) -> str:
    """Return the name under which a submission's process knows a box of hidden.py: it must not say what the box does.

    Args:
        name: the box's own name.
        source: the text of hidden.py, which nobody outside can guess.
    """
    return f"box_{hashlib.sha256(f'{name} {source}'.encode()).hexdigest()[:8]}"


def rename(tree: ast.AST, names: Mapping[str, str]) -> None:
    """Give names in a syntax tree others, wherever they stand."""
    for node in ast.walk(tree):
        for attribute in ("id", "name", "arg"):
            old = getattr(node, attribute, None)
            if isinstance(old, str) and old in names:
                setattr(node, attribute, names[old])


def misplaced(source: str) -> bool:
    """Say whether a hidden.py uses `black_box` in another way than `@black_box` above a function of its own.

    A function that becomes a box in another way would be sent with its body.
    """
    tree = parse(source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    decorators = {id(d) for node in functions for d in node.decorator_list if is_black_box(d)}
    return any(id(node) not in decorators and refers_to_black_box(node) for node in ast.walk(tree))


def refers_to_black_box(node: ast.AST) -> bool:
    """Say whether a part of a syntax tree is `black_box` itself, or gives it another name."""
    if isinstance(node, ast.alias):
        return node.name == "black_box" and node.asname is not None
    return "black_box" in (getattr(node, "id", ""), getattr(node, "attr", ""))


def is_box(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Say whether a statement defines a black box."""
    return isinstance(node, ast.FunctionDef) and any(map(is_black_box, node.decorator_list))


def is_black_box(decorator: ast.expr) -> bool:
    """Say whether a decorator is `@black_box`."""
    return isinstance(decorator, ast.Name) and decorator.id == "black_box"
