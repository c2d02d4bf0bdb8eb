"""The outside: asks a submission's process for outputs and values, and believes nothing else of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...errors import SandboxError
from ...judging.black_box import BlackBox, answer_call
from ...judging.check import Check
from ...judging.trial import NO_TIME_LEFT
from ...judging.values import Lost, Outcome
from .channel import TooSlowError, receive, send, send_descriptor
from .codec import pack, pack_answer, unpack, unpack_call, unpack_outcome
from .limits import Limits

OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error")
COPY_SECONDS = 10.0
TRIAL_SECONDS = 5.0  # by the clock, for a trial that does not watch its own processor time
CELLS_FULL_OF_OUTPUT = 8
ESCAPED = 6  # characters that JSON writes for one
SMALL = 64 * 2**10
TOO_MUCH = {"output_type": "stream", "name": "stdout", "text": "[more output was left out]\n"}


@dataclass(frozen=True)
class CellResult:
    """What one cell showed, and whether it ended well."""

    outputs: list[dict[str, Any]]
    success: bool
    count: int | None = None


class Budget:
    """What a submission's process and its copies share: an end, an amount of output, and who can kill whom."""

    def __init__(self, limits: Limits) -> None:
        self.sessions: list[Session] = []
        self._ends = time.monotonic() + limits.total_seconds
        self._bytes_left = limits.output_bytes * CELLS_FULL_OF_OUTPUT

    @property
    def seconds_left(self) -> float:
        """How long the submission may still run, cells and checks together."""
        return self._ends - time.monotonic()

    def spend(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return outputs as long as the submission has not shown too much."""
        self._bytes_left -= len(str(outputs))
        return outputs if self._bytes_left >= 0 else [TOO_MUCH]

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
        request = {"do": "cell", "source": source, "output_bytes": self._limits.output_bytes}
        seconds = min(self._limits.cell_seconds, self._budget.seconds_left)
        if seconds <= 0:
            words = f"All cells together ran for {self._limits.total_seconds:g} seconds; this one was left out."
            return CellResult([error_output("SubmissionStopped", words)], True)
        try:
            most = ESCAPED * self._limits.output_bytes + SMALL
            header, _ = unpack(self._ask(request, seconds, most))
            result = read_result(header)
            if len(str(result.outputs)) > self._limits.output_bytes + SMALL:
                raise SandboxError("The submission's process sent more output than it may.")
            return CellResult(self._budget.spend(result.outputs), result.success, result.count)
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

    def trial(
        self, cell: str, check: Check, sources: tuple[str, str], seed: int, boxes: Mapping[str, BlackBox]
    ) -> Outcome:
        """Run one check on an edited cell, in this very process; NO_TIME_LEFT where it has ended.

        Args:
            cell: the definitions that take the place of the submission's own, in this trial alone.
            check: which one.
            sources: the visible checks, and the hidden ones where it is one of them.
            seed: what its inputs are drawn from.
            boxes: functions that it may have called here.
        """
        request = {"do": "trial", "sources": sources, "name": check.name, "exercise": check.exercise, "seed": seed}
        seconds = min(TRIAL_SECONDS, self._budget.seconds_left)
        try:
            return unpack_outcome(self._ask({**request, "cell": cell}, seconds, boxes=boxes))
        except SandboxError as error:
            self._lose(error, "A trial took too long.", "A trial ended the process.")
            return NO_TIME_LEFT

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
            self.lost = slow if isinstance(error, TooSlowError) else ended
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
    header, _ = unpack(receive(channel, SMALL, seconds))
    pid = header.get("ready")
    if not isinstance(pid, int):
        raise SandboxError("The submission's process did not say that it is ready.")
    return pid


def read_result(header: dict[str, Any]) -> CellResult:
    """Return a cell's result. Raises SandboxError where it is not made of notebook outputs."""
    outputs, count = header.get("outputs"), header.get("count")
    if not isinstance(outputs, list) or not all(is_output(item) for item in outputs):
        raise SandboxError("The submission's process sent something other than outputs.")
    return CellResult(outputs, bool(header.get("success")), count if isinstance(count, int) else None)


def is_output(item: Any) -> bool:
    """Say whether this is one notebook output, as far as the notebook format cares."""
    if not isinstance(item, dict) or item.get("output_type") not in OUTPUT_TYPES:
        return False
    if item["output_type"] == "stream":
        return item.get("name") in ("stdout", "stderr") and isinstance(item.get("text"), str)
    if item["output_type"] == "error":
        named = all(isinstance(item.get(key), str) for key in ("ename", "evalue"))
        lines = item.get("traceback")
        return named and isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return isinstance(item.get("data"), dict) and isinstance(item.get("metadata"), dict)


def error_output(name: str, text: str) -> dict[str, Any]:
    """Return an error as a notebook output."""
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
