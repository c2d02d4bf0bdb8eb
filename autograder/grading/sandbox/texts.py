"""No library runs a text as code for a submission, or finds by a text what leads to all that Python has.

Nobody has read such a text, and it can change whatever runs after it. A table's `query` is one way of many, so Python's
own audit events are watched, whatever leads to them, and what libraries find things by. Source: PEP 578.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import FrameType, ModuleType
from typing import Any

import torch

from ...judging.ordinary import CALLED, DESCRIBING, LEADING, MODULES, READ, is_ordinary_in_torch
from ...judging.private import RUNNING, UNSEEN

TOOLS = frozenset(
    {  # run cells, show errors, or read no text of a submission's as code
        *("IPython", "ipykernel", "autograder", "asttokens", "executing", "pure_eval", "stack_data"),
        *("__main__", "checks", "hidden", "reference", "torch", "matplotlib", "decorator"),
    }
)
PROCESS_CLASS: Callable[..., type] = dataclasses._process_class  # type: ignore[attr-defined]
NO_OTHER_CODE = "The code of a function was to be changed, which nobody could read. Write another function."
REFUSED = "{library} was to run a text as code. Nobody reads texts, so none is run when graded: write it as Python."
NOT_BY_TEXT = "`{name}` was to be found by a text that is not in the code. When graded, write the name itself."
KINDS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, ModuleType, type)
USUAL = DESCRIBING.union(CALLED, READ, ("__annotations__", "__class__", "__wrapped__"))
OF_PYTHON = {name for kind in KINDS for name in dir(kind) if name.startswith("__")} - USUAL  # they lead everywhere
OF_PYTHON |= UNSEEN - {"metadata"}  # a usual name of a field
LISTING = frozenset(
    {  # ask for all names of an object, or for those of their own making
        *("IPython", "importlib", "inspect", "traitlets", "unittest.loader.loadTestsFromModule"),
        *("dataclasses._set_new_attribute", "autograder.__getattr__"),
    }
)
LOOKING_AROUND = ("gc.get_objects", "gc.get_referrers", "gc.get_referents")  # what is in memory, the record as well
VARS = vars
STREAMS = ("stdin", "stdout", "stderr")
INSIDE = frozenset(map(id, (*RUNNING, types.CodeType)))


@lru_cache(maxsize=1)
def refuse_texts() -> None:
    """Refuse, from now on and for good, to let libraries run texts."""
    sys.addaudithook(look)
    close_other_ways()
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "autograder" and type(module) is ModuleType:
            module.__class__ = Sealed


def close_other_ways() -> None:
    """Refuse texts that no event tells of: a figure's hooks, names of a dataclass's fields, and of what is private."""
    for real in (getattr, setattr):
        setattr(builtins, real.__name__, by_written_names(real))
    builtins.vars = names_in  # type: ignore[assignment]
    dataclasses._process_class = partial(process_class, PROCESS_CLASS)  # type: ignore[attr-defined]
    if "matplotlib.pyplot" in sys.modules:
        vars(sys.modules["matplotlib.pyplot"])["importlib"] = None


class Sealed(ModuleType):
    """A module of ours. A cell that has got hold of it replaces nothing in it; what it imports later is added."""

    def __setattr__(self, name: str, value: object) -> None:
        """Add a module; refuse anything else."""
        if name in vars(self) or not isinstance(value, ModuleType):
            raise AttributeError(f"{vars(self)['__name__']} does not change while a notebook is graded.")
        super().__setattr__(name, value)


def process_class(process: Callable[..., type], kind: type, *given: Any, **options: Any) -> type:
    """Make a dataclass, unless the name of a field has been changed to something that is no name."""
    fields = (field for base in kind.__mro__ for field in vars(base).get("__dataclass_fields__", {}).values())
    if any(type(field.name) is not str or not field.name.isidentifier() for field in fields):
        raise TypeError("The name of a dataclass's field was changed to something that is no name.")
    return process(kind, *given, **options)


def look(event: str, details: Sequence[object]) -> None:
    """Stop where a library runs a text, unless it is being imported, and where a function is to get other code."""
    if event in ("compile", "exec") and (library := library_at(sys._getframe(1))):
        raise RuntimeError(REFUSED.format(library=library))
    if event in LOOKING_AROUND:
        raise RuntimeError(NOT_BY_TEXT.format(name=event))
    is_frame = event == "object.__getattr__" and str(details[1]).endswith("_frame")
    if is_frame and not may_name(str(details[1]), sys._getframe(1)):
        raise RuntimeError(NOT_BY_TEXT.format(name=details[1]))
    changes = event == "code.__new__" or (event == "object.__setattr__" and details[1] == "__code__")
    if changes and sys._getframe(1).f_globals is not vars(types):  # which marks generators that can be awaited
        raise RuntimeError(NO_OTHER_CODE)


def library_at(frame: FrameType | None) -> str:
    """Return the library whose code compiles or runs something in a frame, '' where that is Python's or a tool."""
    library = ""
    while frame is not None:
        module, name = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        package = module.split(".")[0]
        if package == "importlib" or (module == "ast" and name == "literal_eval"):
            return ""
        if not library and module != "ast":
            if package in TOOLS or package in sys.stdlib_module_names or package not in sys.modules:
                return ""
            library = package
        frame = frame.f_back
    return library


def by_written_names(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does as `getattr` or `setattr` does, but for names that lead everywhere and that no code shows."""

    def find(thing: Any, name: Any, *rest: Any) -> Any:
        word = str.__str__(name) if isinstance(name, str) else ""  # a class of its own might call itself something else
        if leads_on(thing, word) and not may_name(word, sys._getframe(1)):
            raise RuntimeError(NOT_BY_TEXT.format(name=word))
        return real(thing, name, *rest)

    find.__name__ = find.__qualname__ = real.__name__
    return find


def names_in(*thing: Any) -> dict[str, Any]:
    """Return what `vars` does; of a module a copy, by which nothing in it is changed, unless our own code asks."""
    frame = sys._getframe(1)
    names: dict[str, Any] = VARS(*thing) if thing else frame.f_locals
    ours = str(frame.f_globals.get("__name__", ""))
    by_us = ours.split(".")[0] == "autograder" and VARS(sys.modules.get(ours, sys)) is frame.f_globals
    return dict(names) if thing and isinstance(thing[0], ModuleType) and not by_us else names


def leads_on(thing: object, name: str) -> bool:
    """Say whether a name leads from an object to what Python or the recorders are made of."""
    kind = type(thing)
    if kind not in (ModuleType, Sealed):
        return name in OF_PYTHON or id(kind) in INSIDE
    package, found = str(vars(thing).get("__name__")).split(".")[0], vars(thing).get(name)
    if package == "torch":  # what is C's own may switch the record off
        if type(found) is ModuleType:
            return vars(found).get("__name__") not in MODULES
        return name.startswith("_") or (hasattr(torch._C, name) and not is_ordinary_in_torch(name))
    return name in OF_PYTHON or (package in LEADING and name not in STREAMS)


def may_name(name: str, frame: FrameType) -> bool:
    """Say whether the code that asks for a name shows it, or is one that looks at all there is, or is imported."""
    code = frame.f_code
    shown = (*code.co_names, *(text for each in code.co_consts for text in (each if type(each) is tuple else (each,))))
    return name in shown or (name == "__dict__" and frame.f_globals is vars(functools)) or is_listing(frame)


def is_listing(frame: FrameType | None) -> bool:
    """Say whether a library that asks for all names of an object, or imports one, is between a frame and a cell."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == "__main__" or vars(sys.modules.get(module, sys)) is not frame.f_globals:
            return False
        if not {module.split(".")[0], f"{module}.{frame.f_code.co_name}"}.isdisjoint(LISTING):
            return True
        frame = frame.f_back
    return False
