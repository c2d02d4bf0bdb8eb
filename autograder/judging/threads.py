"""Threads that recorded code starts. In them nothing is recorded, so that each is noted, whatever starts it."""

from __future__ import annotations

import _thread
import contextlib
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

STARTS = ("start_new_thread", "start_new", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread")
_notes: dict[int, Callable[[], object]] = {}  # what to call where such a thread starts another one


@lru_cache(maxsize=1)
def watch_threads() -> None:
    """See from now on, and for good, which thread starts another: Python's own event for it is younger than 3.11."""
    for module in (_thread, threading):
        for name in STARTS:
            if start := vars(module).get(name):
                setattr(module, name, noted(start))


def noted(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that starts a thread as another one does, and says so where the calling thread is watched."""

    def start_noticed(*given: Any, **options: Any) -> Any:
        if note := _notes.get(get_ident()):
            note()
        return start(*given, **options)

    return start_noticed


@contextlib.contextmanager
def noting_threads(note: Callable[[], object]) -> Iterator[None]:
    """Call a function for each thread that this one starts in the block: others start theirs beside it."""
    watch_threads()
    this, before = get_ident(), _notes.get(get_ident())
    _notes[this] = note
    try:
        yield
    finally:
        if before:
            _notes[this] = before
        else:
            del _notes[this]
