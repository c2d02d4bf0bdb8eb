"""The backend with isolation: a bubblewrap sandbox with a fork server, of which every submission is a fork."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from ...errors import SandboxError, ScarcityError
from ..launch import take_or_launch
from .channel import Deadline, announcing, receive, send, send_descriptor
from .codec import pack, unpack
from .limits import Limits
from .session import START_SECONDS, SandboxSession, connected_session, receive_ready


class BubblewrapSandbox:
    """A sandbox that opens sessions, one after another or several at once, for any number of threads.

    Starting takes seconds; the first caller waits.
    """

    def __init__(self) -> None:
        self._turn = threading.RLock()  # one request at a time
        self._prepared: str | None = None
        self._ready = False
        self._launched = take_or_launch()
        self._control = self._launched.control

    def wait_until_ready(self) -> None:
        """Wait for the fork server. Raises SandboxError with its last words where it does not start."""
        with self._turn:
            if self._ready:
                return
            try:
                receive_ready(self._control, Deadline(START_SECONDS))
            except SandboxError as error:
                raise SandboxError(f"The sandbox did not start: {self._launched.stop_and_read_errors()}") from error
            self._ready = True

    def prepare(self, checks: str) -> None:
        """Load a lesson's visible checks before its submissions are forked."""
        with self._turn:
            self.wait_until_ready()
            if self._prepared != checks:
                self._ask({"do": "prepare", "checks": checks})
                self._prepared = checks

    @contextmanager
    def session(self, files: Mapping[str, bytes], limits: Limits) -> Iterator[SandboxSession]:
        """Open one submission's process, and end everything of it afterwards.

        Args:
            files: what lies in its working directory, by name.
            limits: how much it may use.

        Raises:
            ScarcityError: it was ended because the computer had no memory left.
        """
        self.wait_until_ready()
        near, far = socket.socketpair()
        announcing(near)
        try:
            first = self._open(files, limits, far)
        except SandboxError:
            near.close()
            far.close()
            raise
        try:
            with connected_session(near, limits, START_SECONDS) as session:
                yield session
        finally:
            ended = self._ask({"do": "close", "pid": first}).get("ended")
        if ended == "memory":
            raise ScarcityError

    def _open(self, files: Mapping[str, bytes], limits: Limits, far: socket.socket) -> int:
        with self._turn:
            contents = {
                name: torch.from_numpy(np.frombuffer(content, np.uint8).copy()) for name, content in files.items()
            }
            send(self._control, pack({"do": "open", "limits": asdict(limits)}, contents))
            send_descriptor(self._control, far.fileno())
            far.close()
            return int(self._answer()["pid"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._turn:
            send(self._control, pack(request))
            return self._answer()

    def _answer(self) -> dict[str, Any]:
        return unpack(receive(self._control, Limits.reply_bytes, Deadline(START_SECONDS)))[0]

    def close(self) -> None:
        """End the sandbox and every process in it."""
        self._launched.close()
