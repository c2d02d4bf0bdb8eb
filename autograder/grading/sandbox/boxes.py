"""A process of the judge's own for a lesson's black boxes: a call that goes wrong costs the submission that made it.

It is opened like a submission's process, with the same limits, and never meets a student's code. A submission's process
reaches it over a socket that both inherit, so that nobody stands between the two while a check runs.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ...errors import SandboxError

BOX_MEMORY = 512 * 2**20
BOX_ENDED = "A function that this check calls was stopped: one of the calls took more memory or time than it may."

PUBLIC = "checks"  # the module whose boxes a submission's process knows by other names
Names = Mapping[str, tuple[str, str]]


class BoxEndedError(SandboxError):
    """The process that computes black boxes has ended."""


class Host(Protocol):
    """The part of a session that computes black boxes."""

    host: int

    def answer(self, lesson: Mapping[str, Any], descriptor: int) -> None:
        """Answer calls on a socket."""

    def answered(self) -> None:
        """Wait until that socket has been closed. Raises SandboxError where the process has ended."""


@dataclass(frozen=True)
class BoxConnection:
    """A way from a submission's process to the boxes, for one check.

    Args:
        descriptor: the submission's end of the socket.
        names: what the submission's process calls the boxes that it knows by other names.
        host: the number of the process that computes, on this computer.
    """

    descriptor: int
    names: Mapping[str, str]
    host: int


OpenLine = Callable[[], AbstractContextManager[BoxConnection]]  # gives one check a way to the boxes that it may call


class BoxProcess:
    """The process that computes one submission's calls, opened when the first check needs it.

    Args:
        open_process: opens a process like a submission's.
        sources: the text of checks.py, and what the boxes need of hidden.py.
        modules: file name and text of each further module of the lesson.
    """

    def __init__(
        self,
        open_process: Callable[[], AbstractContextManager[Host]],
        sources: tuple[str, str],
        modules: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._open, self._lesson = open_process, {"sources": sources, "modules": list(modules), "memory": BOX_MEMORY}
        self._opened = ExitStack()
        self._process: Host | None = None

    @contextmanager
    def line(self, names: Names) -> Iterator[BoxConnection]:
        """Give a way to some of the boxes, and close it afterward, whoever holds an end of it.

        Raises:
            BoxEndedError: the process ended meanwhile; the next line gets a new one.
            ScarcityError: it was ended because the computer had no memory left.
        """
        if self._process is None:
            self._process = self._opened.enter_context(self._open())
        far, near = socket.socketpair()  # the process's end and the submission's
        try:
            with far:  # the process alone holds its end, so that the submission notices where it ends
                self._process.answer({**self._lesson, "names": names}, far.fileno())
            public = {own: sent for sent, (module, own) in names.items() if module == PUBLIC}
            yield BoxConnection(near.fileno(), public, self._process.host)
        finally:
            with near, contextlib.suppress(OSError):
                near.shutdown(socket.SHUT_RDWR)
            self._wait_for_the_end()

    def _wait_for_the_end(self) -> None:
        try:
            if self._process is not None:
                self._process.answered()
        except SandboxError as error:
            self.close()
            raise BoxEndedError(BOX_ENDED) from error

    def close(self) -> None:
        """End the process. Raises ScarcityError where it was ended for want of memory."""
        self._process = None
        self._opened.close()
