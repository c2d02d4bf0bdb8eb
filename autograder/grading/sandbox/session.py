"""The outside: asks a submission's process for outputs and values, and believes nothing else of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...errors import SandboxError
from ...judging.black_box import BlackBox, answer_call
from ...judging.check import Check
from ...judging.values import Lost, Outcome
from .channel import TooLargeError, TooSlowError, receive, send, send_descriptor
from .codec import CellResult, pack, pack_answer, unpack_call, unpack_outcome, unpack_ready, unpack_result
from .limits import Limits

COPY_SECONDS = 10.0
CELLS_FULL_OF_OUTPUT = 8
SMALL = 64 * 2**10
SENT_TOO_MUCH = "More came out of it than may, so its Python process was stopped."
TOO_MUCH = {"output_type": "stream", "name": "stdout", "text": "[more output was left out]\n"}


class Budget:
    """What a submission's process and its copies share: an end, an amount of output, and who can kill whom."""

    def __init__(self, limits: Limits) -> None:
        self.sessions: list[Session] = []
        self._ends = time.monotonic() + limits.total_seconds
        self._bytes_left = limits.output_bytes * CELLS_FULL_OF_OUTPUT
        self._unread_left = limits.cell_reply_bytes * CELLS_FULL_OF_OUTPUT

    @property
    def seconds_left(self) -> float:
        """How long the submission may still run, cells and checks together."""
        return self._ends - time.monotonic()

    def read(self, reply: bytes, most: int) -> CellResult:
        """Return a cell's result, without its outputs once the submission has sent or shown too much.

        Args:
            reply: what its process sent.
            most: how much one cell may show.
        """
        self._unread_left -= len(reply)
        if self._unread_left < 0:
            return CellResult([TOO_MUCH], True)
        result = unpack_result(reply)
        size = len(str(result.outputs))
        self._bytes_left -= size
        return result if size <= most and self._bytes_left >= 0 else replace(result, outputs=[TOO_MUCH])

    def kill(self, pid: int) -> None:
        """Have one of the other processes, which share a namespace, end the one that runs over time."""
        for session in self.sessions:
            if not session.lost and session.pid != pid and session.try_kill(pid):
                return


class Session:
    """One submission's process, or a copy of it as it was at some moment.

    Args:
        channel: the socket to it.
        limits: how much it may use.
        pid: the process's number, as it says itself.
        budget: what it shares with its copies.
    """

    def __init__(self, channel: socket.socket, limits: Limits, pid: int, budget: Budget | None = None) -> None:
        self._channel, self._limits, self.pid = channel, limits, pid
        self._budget = budget or Budget(limits)
        self._budget.sessions.append(self)
        self.lost = ""

    def copy(self) -> Session | None:
        """Fork the process; return the copy, which keeps this moment's state, or None where it cannot be forked."""
        seconds = min(COPY_SECONDS, self._budget.seconds_left)
        if self.lost or seconds <= 0:
            return None
        ours, theirs = socket.socketpair()
        try:
            send(self._channel, pack({"do": "copy"}), seconds)
            send_descriptor(self._channel, theirs.fileno())
            theirs.close()
            pid = receive_ready(ours, seconds)
        except SandboxError:
            ours.close()
            theirs.close()
            return None
        return Session(ours, self._limits, pid, self._budget)

    def close(self) -> None:
        """Let the process end."""
        self.lost = self.lost or "It was closed."
        self._channel.close()

    def close_all(self) -> None:
        """Let the process and all its copies end."""
        for session in self._budget.sessions:
            session.close()

    def try_kill(self, pid: int) -> bool:
        """Ask this process to kill another one of the same submission; return whether the request went out."""
        try:
            send(self._channel, pack({"do": "kill", "pid": pid}))
        except SandboxError:
            return False
        return True

    def run(self, source: str) -> CellResult:
        """Run one cell."""
        most = self._limits.cell_reply_bytes
        request = {"do": "cell", "source": source, "output_bytes": self._limits.output_bytes, "reply_bytes": most}
        seconds = min(self._limits.cell_seconds, self._budget.seconds_left)
        if seconds <= 0:
            words = f"All cells together ran for {self._limits.total_seconds:g} seconds; this one was left out."
            return CellResult([error_output("SubmissionStopped", words)], True)
        try:
            return self._budget.read(self._ask(request, seconds, most), self._limits.output_bytes + SMALL)
        except SandboxError as error:
            slow = f"A cell was still running after {seconds:.0f} seconds, so it was stopped."
            ended = "The Python process ended in this cell."
            return CellResult([error_output("SubmissionStopped", self._lose(error, slow, ended))], False)

    def check(
        self,
        check: Check,
        sources: tuple[str, str],
        seed: int,
        boxes: Mapping[str, BlackBox] | None = None,
        share: float = 1.0,
    ) -> Outcome:
        """Run one check on what the submission has defined so far, in this very process.

        Args:
            check: which one.
            sources: the visible checks, and the hidden ones where it is one of them; no mistakes, no solutions.
            seed: what its inputs are drawn from.
            boxes: functions that it may have called here; it gets what they return.
            share: the part of a check's time that it has.
        """
        seconds = min(self._limits.check_seconds * share, self._budget.seconds_left)
        if seconds <= 0:
            return Lost(
                f"The whole submission ran for {self._limits.total_seconds:g} seconds; this check was left out."
            )
        request = {"do": "check", "sources": sources, "name": check.name, "exercise": check.exercise, "seed": seed}
        try:
            return unpack_outcome(self._ask(request, seconds, boxes=boxes or {}))
        except SandboxError as error:
            slow = f"It was still running after {seconds:g} seconds."
            reason = self._lose(error, slow, "The Python process ended in the middle of it.")
            return Lost(reason, overtime=isinstance(error, TooSlowError))

    def _ask(
        self,
        request: dict[str, Any],
        seconds: float,
        most: int | None = None,
        boxes: Mapping[str, BlackBox] | None = None,
    ) -> bytes:
        """Send a request; return the reply, after answering the calls that come before it."""
        if self.lost:
            raise SandboxError(self.lost)
        ends = time.monotonic() + seconds
        send(self._channel, pack(request), seconds)
        while True:
            message = receive(self._channel, most or self._limits.reply_bytes, ends - time.monotonic())
            call = unpack_call(message) if boxes else None
            if not boxes or call is None:
                return message
            name, arguments = call
            if name not in boxes:
                raise SandboxError("The submission's process called a function that is not there.")
            send(self._channel, pack_answer(answer_call(boxes, name, arguments)), ends - time.monotonic())

    def _lose(self, error: SandboxError, slow: str, ended: str) -> str:
        """End the process after it broke the protocol or a limit; return why, in words for the student."""
        if not self.lost:
            large = isinstance(error, TooLargeError)
            self.lost = slow if isinstance(error, TooSlowError) else SENT_TOO_MUCH if large else ended
            self._channel.close()
            self._budget.kill(self.pid)
        return self.lost


@contextmanager
def connected(channel: socket.socket, limits: Limits, seconds: float) -> Iterator[Session]:
    """Wait until a process is ready, give its session, and let it and its copies end afterwards.

    Args:
        channel: the socket to it.
        limits: how much it may use.
        seconds: how long to wait for it.
    """
    try:
        session = Session(channel, limits, receive_ready(channel, seconds))
        try:
            yield session
        finally:
            session.close_all()
    finally:
        channel.close()


def receive_ready(channel: socket.socket, seconds: float) -> int:
    """Wait until a process says that it is ready; return its number. Raises SandboxError where it does not."""
    return unpack_ready(receive(channel, SMALL, seconds))


def error_output(name: str, text: str) -> dict[str, Any]:
    """Return an error as a notebook output."""
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
