"""The outside: asks a submission's process for outputs and values, and believes nothing else of it."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from ..checks import Check
from ..errors import SandboxError
from ..values import Lost, Outcome
from .channel import TooSlowError, receive, send, send_descriptor
from .limits import Limits
from .wire import pack, unpack, unpack_outcome

OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error")
GRACE_SECONDS = 5.0
COPY_SECONDS = 10.0


@dataclass(frozen=True)
class CellResult:
    """What one cell showed, and whether it ended well."""

    outputs: list[dict[str, Any]]
    success: bool
    count: int | None = None


class Session:
    """One submission's process, or a copy of it as it was at some moment.

    Args:
        channel: the socket to it.
        limits: how much it may use.
        family: where it and all its copies are listed, so that they can be closed together.
    """

    def __init__(self, channel: socket.socket, limits: Limits, family: list[Session] | None = None) -> None:
        self._channel, self._limits = channel, limits
        self._family = [] if family is None else family
        self._family.append(self)
        self.lost = ""

    def copy(self) -> Session | None:
        """Fork the process; return the copy, which keeps this moment's state, or None where it cannot be forked."""
        if self.lost:
            return None
        ours, theirs = socket.socketpair()
        try:
            send(self._channel, pack({"do": "copy"}))
            send_descriptor(self._channel, theirs.fileno())
            theirs.close()
            receive(ours, self._limits.reply_bytes, COPY_SECONDS)
        except SandboxError:
            ours.close()
            theirs.close()
            return None
        return Session(ours, self._limits, self._family)

    def close(self) -> None:
        """Let the process end."""
        self._channel.close()

    def close_all(self) -> None:
        """Let the process and all its copies end."""
        for session in self._family:
            session.close()

    def run(self, source: str) -> CellResult:
        """Run one cell."""
        request = {"do": "cell", "source": source, "output_bytes": self._limits.output_bytes}
        try:
            header, _ = unpack(self._ask(request, self._limits.cell_seconds))
            return read_result(header)
        except SandboxError as error:
            return CellResult([error_output("SubmissionStopped", self._lose(error, self._limits.cell_seconds))], False)

    def check(self, check: Check, sources: tuple[str, str], seed: int) -> Outcome:
        """Run one check on what the submission has defined so far.

        Args:
            check: which one.
            sources: the visible checks, and the hidden ones where it is one of them; no mistakes, no solutions.
            seed: what its inputs are drawn from.
        """
        seconds = self._limits.check_seconds
        request = {"do": "check", "sources": sources, "name": check.name, "exercise": check.exercise}
        try:
            return unpack_outcome(self._ask({**request, "seed": seed, "seconds": seconds}, seconds + GRACE_SECONDS))
        except SandboxError as error:
            return Lost(self._lose(error, seconds))

    def _ask(self, request: dict[str, Any], seconds: float) -> bytes:
        if self.lost:
            raise SandboxError(self.lost)
        send(self._channel, pack(request))
        return receive(self._channel, self._limits.reply_bytes, seconds)

    def _lose(self, error: SandboxError, seconds: float) -> str:
        """End the process after it broke the protocol or a limit; return why, in words for the student."""
        if not self.lost:
            slow = f"A cell was still running after {seconds:g} seconds, so it was stopped."
            self.lost = slow if isinstance(error, TooSlowError) else "The Python process ended in this cell."
            self.close()
        return self.lost


def read_result(header: dict[str, Any]) -> CellResult:
    """Return a cell's result. Raises SandboxError where it is not made of notebook outputs."""
    outputs, count = header.get("outputs"), header.get("count")
    if not isinstance(outputs, list) or not all(is_output(item) for item in outputs):
        raise SandboxError("The submission's process sent outputs that are none.")
    return CellResult(outputs, bool(header.get("success")), count if isinstance(count, int) else None)


def is_output(item: Any) -> bool:
    """Say whether this is one notebook output, as far as the notebook format cares."""
    if not isinstance(item, dict) or item.get("output_type") not in OUTPUT_TYPES:
        return False
    if item["output_type"] == "stream":
        return item.get("name") in ("stdout", "stderr") and isinstance(item.get("text"), str)
    if item["output_type"] == "error":
        return all(isinstance(item.get(key), str) for key in ("ename", "evalue")) and isinstance(
            item.get("traceback"), list
        )
    return isinstance(item.get("data"), dict) and isinstance(item.get("metadata"), dict)


def error_output(name: str, text: str) -> dict[str, Any]:
    """Return an error as a notebook output."""
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
