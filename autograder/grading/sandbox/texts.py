"""No library runs a text as code for a submission: nobody has read it, and it can change whatever runs after it.

A table's `query` is one way of many, so Python's own audit events are watched, whatever leads to them. Source: PEP 578.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import FrameType

TOOLS = {  # run cells, show errors, or read no text of a submission's as code
    *("IPython", "ipykernel", "autograder", "asttokens", "executing", "pure_eval", "stack_data"),
    *("__main__", "checks", "hidden", "reference", "torch", "matplotlib", "decorator"),
}
REFUSED = "{library} was to run a text as code. Nobody reads texts, so none is run when graded: write it as Python."


@lru_cache(maxsize=1)
def refuse_texts() -> None:
    """Refuse, from now on and for good, to let libraries run texts."""
    sys.addaudithook(look)


def look(event: str, _details: object) -> None:
    """Stop where a library compiles or runs a text, unless it is being imported."""
    if event in ("compile", "exec") and (library := library_at(sys._getframe(1))):
        raise RuntimeError(REFUSED.format(library=library))


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
