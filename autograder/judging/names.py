"""What an exercise calls the things that it returns, as its docstring says."""

from __future__ import annotations

import re
from typing import Any

RETURNS = re.compile(r"Returns? (.*?)(?:\.\s|\.$|;|$)", re.DOTALL)
NAMED_SHAPE = re.compile(r"(\w+) \([^()]*\)")


def names_in(work: Any) -> tuple[str, ...]:
    """Return the names of several results: `Returns the output (L, D) and the weights (L, S)` has two.

    A single result needs no name. A class is asked for what its `forward` returns.
    """
    documented = getattr(work, "forward", work) if isinstance(work, type) else work
    found = RETURNS.search(" ".join((documented.__doc__ or "").split()))
    names = tuple(NAMED_SHAPE.findall(found[1])) if found else ()
    return names if len(names) > 1 else ()
