"""The modules that lie beside a lesson's notebook, importable while the lesson's code runs and not afterward."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def importable(modules: Iterable[tuple[str, str]], place: str) -> Iterator[None]:
    """Let a lesson's code import its own modules, and nobody else's of the same name.

    Args:
        modules: file name and text of each.
        place: the lesson's folder, as messages show it.
    """
    names = {Path(name).stem: text for name, text in modules}
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    finder = ModuleFinder(names, place)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


class ModuleFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds a lesson's modules, which are texts and not files.

    Args:
        texts: source by module name.
        place: the lesson's folder, as messages show it.
    """

    def __init__(self, texts: Mapping[str, str], place: str) -> None:
        self._texts, self._place = texts, place

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module comes from, if it is one of the lesson's."""
        if fullname not in self._texts:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=f"{self._place}/{fullname}.py")

    def get_source(self, fullname: str) -> str:
        """Return a module's text."""
        return self._texts[fullname]
