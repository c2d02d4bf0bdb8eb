"""Where an exercise runs by itself, no text runs as code: nobody has read it, and it could change the record.

What is read is the first wall, and this is the second one. Python's own audit events tell of a text that is to run,
whatever leads there. Source: PEP 578.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import FrameType, ModuleType
from typing import Any

from ...judging.operators import is_students

MAKERS = {  # what runs texts of its own making, or what it imports
    *(("collections", "namedtuple"), ("dataclasses", "_create_fn"), ("dataclasses", "add_fns_to_class")),
    *(("importlib._bootstrap", "_call_with_frames_removed"), ("autograder.judging.check", "load_module")),
}
SHELL = "IPython.core.interactiveshell", "run_code"
PROCESS_CLASS: Callable[..., type] = dataclasses._process_class  # type: ignore[attr-defined]
REFUSED = "A text was to run as code. Nobody reads texts, so none runs where this is recorded: write it as Python."
NO_OTHER_CODE = "The code of a function was to be changed, which nobody could read. Write another function."
NO_NAME = "What the name of a dataclass's field would be is no name."


@lru_cache(maxsize=1)
def refuse_texts() -> None:
    """Refuse, from now on and for good, to run texts, and to change what is the recorder's."""
    sys.addaudithook(look)
    dataclasses._process_class = partial(process_class, PROCESS_CLASS)  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "autograder" and type(module) is ModuleType:
            module.__class__ = Sealed


class Sealed(ModuleType):
    """A module of ours. Whoever has got hold of it replaces nothing in it; what it imports later is added."""

    def __setattr__(self, name: str, value: object) -> None:
        """Add a module; refuse anything else."""
        if name in vars(self) or not isinstance(value, ModuleType):
            raise AttributeError(f"{vars(self)['__name__']} does not change while a notebook is graded.")
        super().__setattr__(name, value)


def look(event: str, details: Sequence[object]) -> None:
    """Stop where a text is to run, and where a function is to get other code."""
    if event == "exec" and not may_run(sys._getframe(1)):
        raise RuntimeError(REFUSED)
    if event == "code.__new__" or (event == "object.__setattr__" and details[1] == "__code__"):
        raise RuntimeError(NO_OTHER_CODE)


def may_run(frame: FrameType) -> bool:
    """Say whether the code that runs something is one that may: the shell runs cells, and no cell has the shell."""
    module = str(frame.f_globals.get("__name__", ""))
    if vars(sys.modules.get(module, sys)) is not frame.f_globals:
        return False
    caller: FrameType | None = frame
    while caller is not None and not is_students(caller.f_code, caller.f_globals):
        caller = caller.f_back
    return (module, frame.f_code.co_name) in MAKERS or ((module, frame.f_code.co_name) == SHELL and caller is None)


def process_class(process: Callable[..., type], kind: type, *given: Any, **options: Any) -> type:
    """Make a dataclass, unless a field has something for its name that is none, or may come to have it."""
    kept = [vars(base).get("__dataclass_fields__", {}) for base in kind.__mro__]
    if any(type(each) is not dict for each in (*kept, vars(kind).get("__annotations__", {}))):
        raise TypeError(NO_NAME)
    fields = [field for each in kept for field in each.values()]
    fields += [value for value in vars(kind).values() if isinstance(value, dataclasses.Field)]
    if any(type(field) is not dataclasses.Field for field in fields):
        raise TypeError(NO_NAME)
    names = [*(field.name for field in fields), *inspect.get_annotations(kind)]
    if any(name is not None and (type(name) is not str or not name.isidentifier()) for name in names):
        raise TypeError(NO_NAME)  # a field has none yet where it stands in the class
    return process(kind, *given, **options)
