"""Runs a lesson's own code: one thread at a time, its modules importable meanwhile, and without keeping its set-up."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

# Held while a lesson's code runs or draws: modules, random numbers and PyTorch's settings are the whole process's.
LESSON_CODE = threading.RLock()


@contextlib.contextmanager
def running_lesson(modules: Iterable[tuple[str, str]], place: str) -> Iterator[dict[str, Any]]:
    """Run a lesson's code without keeping its set-up: modules, random state, threads, denormals, print options.

    Yields the names in which to run it, with a `print` of their own: nobody is to read what a lesson prints, and to
    replace sys.stdout would silence other threads as well.

    Args:
        modules: file name and text of each module of the lesson.
        place: the lesson's folder, as messages show it.
    """
    with LESSON_CODE, importable(modules, place), torch.random.fork_rng(devices=[]):
        threads = torch.get_num_threads()
        try:
            yield {"__name__": "reference", "print": print_nothing}
        finally:
            torch.set_num_threads(threads)
            torch.set_flush_denormal(False)
            torch.set_printoptions(profile="default")  # type: ignore[no-untyped-call]


def print_nothing(*_values: object, **_options: object) -> None:
    """Stand in for `print`."""


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

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, and show nothing of what it prints."""
        vars(module)["print"] = print_nothing
        super().exec_module(module)
