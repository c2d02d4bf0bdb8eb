"""Where a submission runs: a fork in this thread's sandbox, or where that is allowed an ordinary process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import NoSandboxError
from .lessons import Lesson
from .sandbox import Bubble, Limits, Session, missing, open_process

_mine = threading.local()


@contextmanager
def session_for(lesson: Lesson, limits: Limits, *, unsandboxed: bool) -> Iterator[Session]:
    """Open a fresh process for a submission: a fork inside the sandbox, or where that is allowed an ordinary one."""
    files = {name: (lesson.released / name).read_text(encoding="utf-8") for name in ("checks.py", "fingerprints.json")}
    if not missing():
        with sandbox_of_this_thread(limits).session(files) as session:
            yield session
    elif unsandboxed:
        with open_process(files, limits) as session:
            yield session
    else:
        raise NoSandboxError(missing())


def sandbox_of_this_thread(limits: Limits) -> Bubble:
    """Return the thread's sandbox, started at first use and again when the limits have changed."""
    if getattr(_mine, "limits", None) != limits:
        drop_sandbox()
        _mine.sandbox, _mine.limits = Bubble(limits), limits
    sandbox: Bubble = _mine.sandbox
    return sandbox


def drop_sandbox() -> None:
    """End the thread's sandbox."""
    if getattr(_mine, "limits", None) is not None:
        _mine.sandbox.close()
        _mine.limits = None
