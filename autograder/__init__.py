"""What a lesson imports: `check`, `earlier`, `plot`, `predict`, `progress`, `recap`, `reveal` and `sharing`.

The package has six layers. `student`, `authoring` and `grading` import `judging`; `classroom` imports `grading` and
`authoring`; all may import `errors`, and all but `judging`, `plot` and `grading` may import `paths`. docs/glossary.md
explains the words that they share.

Importing the package imports nothing else: PyTorch and matplotlib take seconds, which most commands do not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import plot
    from .student.check import check
    from .student.earlier import earlier
    from .student.predict import predict, recap, reveal
    from .student.progress import progress
    from .student.sharing import sharing

__all__ = ["check", "earlier", "plot", "predict", "progress", "recap", "reveal", "sharing"]

_MODULES = {
    "check": "student.check",
    "earlier": "student.earlier",
    "predict": "student.predict",
    "recap": "student.predict",
    "reveal": "student.predict",
    "progress": "student.progress",
    "sharing": "student.sharing",
}


def __getattr__(name: str) -> Any:
    """Import what a lesson asks for when it asks for it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
