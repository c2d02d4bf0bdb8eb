"""The sandbox that all of a process's threads share: started once, replaced where it broke."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...errors import NoSandboxError, SandboxError
from .bubblewrap import BubblewrapSandbox, unavailable_reason
from .limits import Limits
from .session import Session
from .unsandboxed import open_process

_lock = threading.Lock()
_shared: dict[Limits, BubblewrapSandbox] = {}


def start_sandbox(limits: Limits) -> BubblewrapSandbox:
    """Return the sandbox with these limits. Starts it where there is none, and does not wait for it."""
    with _lock:
        if limits not in _shared:
            _end_all()
            _shared[limits] = BubblewrapSandbox(limits)
        return _shared[limits]


@contextmanager
def open_session(
    files: Mapping[str, str], checks: str, limits: Limits, *, allow_unsandboxed: bool
) -> Iterator[Session]:
    """Open a fresh process for a submission: a fork inside the sandbox, or where that is allowed an ordinary one.

    Args:
        files: what lies in its working directory, by name.
        checks: the text of the lesson's checks.py.
        limits: how much it may use.
        allow_unsandboxed: go on without isolation where there is none.

    Raises:
        NoSandboxError: there is no isolation, and nobody allowed to go on without it.
        SandboxError: the sandbox broke; the next session gets a new one.
    """
    if not unavailable_reason():
        sandbox = start_sandbox(limits)
        try:
            sandbox.prepare(checks)
            with sandbox.session(files) as session:
                yield session
        except SandboxError:
            discard(sandbox)
            raise
    elif allow_unsandboxed:
        with open_process(files, limits) as session:
            yield session
    else:
        raise NoSandboxError(unavailable_reason())


def discard(broken: BubblewrapSandbox) -> None:
    """End a sandbox that broke, unless another thread did so already."""
    with _lock:
        for limits, sandbox in list(_shared.items()):
            if sandbox is broken:
                del _shared[limits]
    broken.close()


def close_sandboxes() -> None:
    """End all sandboxes of this process."""
    with _lock:
        _end_all()


def _end_all() -> None:
    for sandbox in _shared.values():
        sandbox.close()
    _shared.clear()


atexit.register(close_sandboxes)
