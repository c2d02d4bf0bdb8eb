"""No library runs a text as code for a submission: nobody has read it, and it can change whatever runs after it.

A table's `query` is one way of many, so Python's own audit events are watched, whatever leads to them. Source: PEP 578.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import FrameType
from typing import Any

TOOLS = {  # run cells, show errors, or read no text of a submission's as code
    *("IPython", "ipykernel", "autograder", "asttokens", "executing", "pure_eval", "stack_data"),
    *("__main__", "checks", "hidden", "reference", "torch", "matplotlib", "decorator"),
}
PROCESS_CLASS: Callable[..., type] = dataclasses._process_class  # type: ignore[attr-defined]
NO_OTHER_CODE = "The code of a function was to be changed, which nobody could read. Write another function."
REFUSED = "{library} was to run a text as code. Nobody reads texts, so none is run when graded: write it as Python."


@lru_cache(maxsize=1)
def refuse_texts() -> None:
    """Refuse, from now on and for good, to let libraries run texts."""
    sys.addaudithook(look)
    close_other_ways()


def close_other_ways() -> None:
    """Refuse two texts that no event tells of: the hooks of a figure, and a name that a dataclass's code is made of."""
    dataclasses._process_class = partial(process_class, PROCESS_CLASS)  # type: ignore[attr-defined]
    if "matplotlib.pyplot" in sys.modules:
        vars(sys.modules["matplotlib.pyplot"])["importlib"] = None


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
