"""Functions of a lesson that a student's code may call and must not read: what a tester is tried on.

At a student's desk, and wherever the judge itself runs a check, a black box is an ordinary function. A submission's
process knows only its name. There a call goes out as data, the judge's process computes it, and the result comes back
as data, so that nobody can learn from a hidden box more than what it answers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

MOST_AXES = 4
MOST_ENTRIES = 4096  # of all arguments together: the judge calculates with them
LARGEST_RESULT = 2**16
TOO_LARGE = f"a call takes tensors of at most {MOST_AXES} axes and {MOST_ENTRIES:,} entries altogether"
ERRORS = {kind.__name__: kind for kind in (RuntimeError, ValueError, TypeError, IndexError)}

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What came of one call.

    Args:
        result: what was returned.
        arguments: the arguments after the call: a box may write to them.
        error: the class and the text of an exception, where there was one.
    """

    result: Any = None
    arguments: Arguments = ((), {})
    error: tuple[str, str] | None = None


Line = Callable[[str, Arguments], Answer]
_line: list[Line] = []  # how to reach the judge; empty where boxes are called directly


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
            raise ValueError(TOO_LARGE)
        return call_from_afar(_line[0], self.name, (args, options)) if _line else self._work(*args, **options)


def black_box(work: Callable[..., Any]) -> BlackBox:
    """Declare a function whose body is kept from submissions, in hidden.py, or one that is called the same way."""
    return BlackBox(work)


def black_boxes_in(*modules: ModuleType) -> dict[str, BlackBox]:
    """Return the black boxes of some modules by name."""
    return {box.name: box for module in modules for box in vars(module).values() if isinstance(box, BlackBox)}


def fits(arguments: Arguments) -> bool:
    """Say whether arguments are few and small enough for the judge to calculate with."""
    tensors = tensors_in(arguments)
    return all(t.ndim <= MOST_AXES for t in tensors) and sum(t.numel() for t in tensors) <= MOST_ENTRIES


def tensors_in(arguments: Arguments) -> list[Tensor]:
    """Return the tensors among a call's arguments."""
    return [value for value in (*arguments[0], *arguments[1].values()) if isinstance(value, Tensor)]


def reach(line: Line) -> None:
    """From now on, have every box of this process answered elsewhere."""
    _line[:] = [line]


def call_from_afar(line: Line, name: str, arguments: Arguments) -> Any:
    """Call a box elsewhere, and do here what it did there: write to an argument, raise an error."""
    answer = line(name, arguments)
    with torch.no_grad():
        for mine, after in zip(tensors_in(arguments), tensors_in(answer.arguments), strict=True):
            if not torch.equal(mine.nan_to_num(), after.nan_to_num()):
                mine.copy_(after)
    if answer.error:
        raise ERRORS.get(answer.error[0], RuntimeError)(answer.error[1])
    return answer.result


def answer_call(boxes: Mapping[str, BlackBox], name: str, arguments: Arguments) -> Answer:
    """Call a box on behalf of a submission. Raises KeyError for one that is not there."""
    box = boxes[name]
    try:
        result = box(*arguments[0], **arguments[1])
        if isinstance(result, Tensor) and result.numel() > LARGEST_RESULT:
            raise ValueError(TOO_LARGE)
        return Answer(result, arguments)
    except Exception as error:
        return Answer(None, arguments, (type(error).__name__, str(error)[:500]))


def without_body(node: ast.stmt) -> ast.stmt:
    """Return a definition of a black box with nothing in it; any other statement as it is."""
    if isinstance(node, ast.FunctionDef) and any(is_black_box(d) for d in node.decorator_list):
        return ast.FunctionDef(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]}, lineno=0, col_offset=0)
    return node


def is_black_box(decorator: ast.expr) -> bool:
    """Say whether a decorator is `@black_box`."""
    return isinstance(decorator, ast.Name) and decorator.id == "black_box"
