"""The sandbox that all of a process's threads share: started once, replaced where it broke."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...errors import NoSandboxError, SandboxError, StoppedError
from ..launch import unavailable_reason
from .bubblewrap import BubblewrapSandbox
from .limits import Limits
from .session import SandboxSession
from .unsandboxed import open_process

_lock = threading.Lock()
_shared: list[BubblewrapSandbox] = []
_stopping = threading.Event()


def shared_sandbox() -> BubblewrapSandbox:
    """Return the sandbox that all share. Starts it where there is none, and does not wait for it."""
    with _lock:
        if not _shared:
            _shared.append(BubblewrapSandbox())
        return _shared[0]


@contextmanager
def open_session(
    files: Mapping[str, bytes], checks: str, limits: Limits, *, allow_unsandboxed: bool
) -> Iterator[SandboxSession]:
    """Open a fresh process for a submission: a fork inside the sandbox, or where that is allowed an ordinary one.

    Args:
        files: what lies in its working directory, by name.
        checks: the text of the lesson's checks.py.
        limits: how much it may use.
        allow_unsandboxed: go on without isolation where there is none.

    Raises:
        NoSandboxError: there is no isolation, and nobody allowed to go on without it.
        SandboxError: the sandbox broke; the next session gets a new one.
        StoppedError: the run was stopped meanwhile.
    """
    if _stopping.is_set():
        raise StoppedError
    if not unavailable_reason():
        sandbox = shared_sandbox()
        try:
            sandbox.prepare(checks)
            with sandbox.session(files, limits) as session:
                yield session
        except SandboxError:
            discard(sandbox)
            if _stopping.is_set():
                raise StoppedError from None
            raise
    elif allow_unsandboxed:
        with open_process(files, limits) as session:
            yield session
    else:
        raise NoSandboxError(unavailable_reason())


@contextmanager
def stopping() -> Iterator[None]:
    """End the sandbox, and let nobody start another one until all who use it have noticed."""
    _stopping.set()
    try:
        close_sandboxes()
        yield
    finally:
        _stopping.clear()


def discard(broken: BubblewrapSandbox) -> None:
    """End a sandbox that broke, unless another thread did so already."""
    with _lock:
        _shared[:] = [sandbox for sandbox in _shared if sandbox is not broken]
    broken.close()


def close_sandboxes() -> None:
    """End this process's sandbox."""
    with _lock:
        while _shared:
            _shared.pop().close()


atexit.register(close_sandboxes)
