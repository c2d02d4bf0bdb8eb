"""The outside: asks a submission's process for outputs and values, and believes nothing else of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ...errors import SandboxError
from ...judging.check import Check
from ...judging.trial import NO_TIME_LEFT
from ...judging.values import Lost, Outcome
from .boxes import BOX_ENDED, BoxEndedError, OpenLine
from .channel import (
    Deadline,
    Patience,
    TooLargeError,
    TooSlowError,
    announcing,
    receive,
    send,
    send_descriptor,
    sender_of,
)
from .codec import CellResult, pack, unpack_outcome, unpack_ready, unpack_result
from .limits import Limits
from .meter import AsleepError, Meter, TimeAllowance

START_SECONDS = 120.0  # until a process is ready, on a busy computer, too
COPY_SECONDS, COPY_ATTEMPTS = 5.0, 3
TRIAL_SECONDS = 5.0  # of computing and of sleep, for a trial that does not watch its own processor time
KEPT_FOR_CHECKS = 0.2  # of all the time: whoever trains for long beside the exercises is graded all the same
LEAST_FOR_A_CELL = 0.2  # of that: with less, no cell is begun
CELLS_FULL_OF_OUTPUT = 2  # all that a page shows: about what may be handed in, and ten times a lesson's own
SMALL = 64 * 2**10
SENT_TOO_MUCH = "More came out of it than may, so its Python process was stopped."
MORE_LEFT_OUT = {"output_type": "stream", "name": "stdout", "text": "[more output was left out]\n"}


class SubmissionBudget:
    """What a submission's process and its copies share: time, an amount of output, and who can kill whom."""

    def __init__(self, limits: Limits) -> None:
        self.sessions: list[SandboxSession] = []
        self._left = TimeAllowance(limits.total_seconds, limits.total_seconds)
        self._for_checks, self.left_out = KEPT_FOR_CHECKS * limits.total_seconds, 0
        self._ends = time.monotonic() + limits.clock_seconds
        self._bytes_left = limits.output_bytes * CELLS_FULL_OF_OUTPUT
        self._unread_left = limits.cell_reply_bytes * CELLS_FULL_OF_OUTPUT

    def for_a_cell(self, seconds: float) -> TimeAllowance:
        """Return what a cell may use that has so many seconds; nothing of what is kept for checks."""
        left = self.seconds_left - self._for_checks
        allowance = self.allowance(min(seconds, left) if left > LEAST_FOR_A_CELL * self._for_checks else 0.0)
        self.left_out += not allowance
        return allowance

    def allowance(self, seconds: float) -> TimeAllowance:
        """Return what a request may use that has so many seconds, of what all cells and checks may use together."""
        return TimeAllowance(min(seconds, self._left.computing), min(seconds, self._left.asleep), self._ends)

    @property
    def seconds_left(self) -> float:
        """How long cells and checks may still compute, sleep or last, whichever is least."""
        return min(self._left.computing, self._left.asleep, self._ends - time.monotonic())

    def charge(self, used: TimeAllowance) -> None:
        """Take note of what a request has used."""
        self._left = TimeAllowance(self._left.computing - used.computing, self._left.asleep - used.asleep)

    def hosts(self) -> Set[int]:
        """Return the numbers, on this computer, of the submission's process and its copies."""
        return {session.host for session in self.sessions}

    def read(self, reply: bytes, most: int) -> CellResult:
        """Return a cell's result, without its outputs once the submission has sent or shown too much."""
        self._unread_left -= len(reply)
        if self._unread_left < 0:
            return CellResult([MORE_LEFT_OUT])
        result = unpack_result(reply)
        size = len(str(result.outputs))
        self._bytes_left -= size
        return result if size <= most and self._bytes_left >= 0 else replace(result, outputs=[MORE_LEFT_OUT])

    def kill(self, pid: int) -> None:
        """Have one of the other processes, which share a namespace, end the one that runs over time."""
        for session in self.sessions:
            if not session.lost and session.pid != pid and session.try_kill(pid):
                return


class SandboxSession:
    """One submission's process, or a copy of it as it was at some moment.

    Args:
        channel: the socket to it.
        limits: how much it may use.
        ready: what is known of the process.
        budget: what it shares with its copies.

    Attributes:
        lost: why it can be asked for nothing more; '' where it can.
        computed: seconds of processor time that it has used for requests.
    """

    def __init__(
        self, channel: socket.socket, limits: Limits, ready: Ready, budget: SubmissionBudget | None = None
    ) -> None:
        self._channel, self._limits = channel, limits
        self.pid, self.host, self.threads = ready.pid, ready.host, ready.threads
        self._budget = budget or SubmissionBudget(limits)
        self._budget.sessions.append(self)
        self.lost, self.computed = "", 0.0

    def copy(self) -> SandboxSession | None:
        """Fork the process; return the copy, which keeps this moment's state, or None where it cannot be forked."""
        for _ in range(COPY_ATTEMPTS):
            allowance = self._budget.allowance(COPY_SECONDS)
            if self.lost or not allowance:
                return None
            try:
                return self._copy(allowance)
            except AsleepError:  # a thread held a lock at that moment
                continue
            except SandboxError:
                return None
        return None

    def _copy(self, allowance: TimeAllowance) -> SandboxSession:
        near, far = socket.socketpair()
        announcing(near)
        meter, began = Meter([self.host], allowance, self._budget.hosts), time.monotonic()
        try:
            with far:
                send(self._channel, pack({"do": "copy"}))
                send_descriptor(self._channel, far.fileno())
            return SandboxSession(near, self._limits, receive_ready(near, meter), self._budget)
        except SandboxError:
            near.close()
            raise
        finally:
            used = meter.used()  # by copies that have ended too, which have paid for it
            self._budget.charge(replace(used, computing=min(used.computing, time.monotonic() - began)))

    @property
    def seconds_left(self) -> float:
        """What is left of the time that the submission's cells and checks may take together."""
        return self._budget.seconds_left

    @property
    def cells_left_out(self) -> int:
        """How many cells found no time left, or less than a cell may have, and were stopped."""
        return self._budget.left_out

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

    def run(self, source: str, alone: Mapping[str, Any] | None = None) -> CellResult:
        """Run one cell.

        Args:
            source: the cell.
            alone: where an exercise runs by itself: what the `Guard` is made of, and whether it looks at this cell.
        """
        most = self._limits.cell_reply_bytes
        request = {"do": "cell", "source": source, "output_bytes": self._limits.output_bytes, "reply_bytes": most}
        request |= {"alone": alone and dict(alone)}
        allowance = self._budget.for_a_cell(self._limits.cell_seconds)
        if not allowance:
            seconds = (1 - KEPT_FOR_CHECKS) * self._limits.total_seconds
            words = f"All cells together ran for {seconds:g} seconds; this one was left out."
            return CellResult([error_output("SubmissionStopped", words)])
        try:
            return self._budget.read(self._ask(request, allowance, most), self._limits.output_bytes + SMALL)
        except SandboxError as error:
            self._budget.left_out += isinstance(error, TooSlowError) and allowance.computing < self._limits.cell_seconds
            slow = f"A cell was still running after {allowance.computing:.0f} seconds, so it was stopped."
            asleep = f"A cell did nothing for {allowance.asleep:.0f} seconds, so it was stopped."
            ended = "The Python process ended in this cell."
            return CellResult([error_output("SubmissionStopped", self._lose(error, slow, asleep, ended))])

    def check(
        self,
        check: Check,
        sources: tuple[str, str],
        seed: int,
        boxes: OpenLine | None = None,
        share: float = 1.0,
        *,
        record: bool = False,
    ) -> Outcome:
        """Run one check on what the submission has defined so far, in this very process.

        Args:
            check: which one.
            sources: the visible checks, and the hidden ones where it is one of them; no mistakes, no solutions.
            seed: what its inputs are drawn from.
            boxes: a way to functions that it may have called elsewhere; it gets what they return.
            share: the part of a check's time that it has.
            record: note which of PyTorch's functions run, too.
        """
        allowance = self._budget.allowance(self._limits.check_seconds * share)
        if not allowance:
            return Lost(
                f"The whole submission ran for {self._limits.total_seconds:g} seconds; this check was left out."
            )
        request = {"do": "check", "sources": sources, "name": check.name, "exercise": check.exercise, "seed": seed}
        try:
            return unpack_outcome(self._ask(request | {"record": record}, allowance, boxes=boxes))
        except BoxEndedError:
            self._lose(SandboxError(), "", "", BOX_ENDED)
            return Lost(BOX_ENDED)
        except SandboxError as error:
            slow = f"It was still running after {allowance.computing:g} seconds."
            asleep = f"It did nothing for {allowance.asleep:g} seconds: does it sleep, or wait for something?"
            reason = self._lose(error, slow, asleep, "The Python process ended in the middle of it.")
            return Lost(reason, overtime=isinstance(error, TooSlowError))

    def trial(
        self, cell: str, check: Check, sources: tuple[str, str], seed: int, boxes: OpenLine | None = None
    ) -> Outcome:
        """Run one check on an edited cell, in this very process; NO_TIME_LEFT where it has ended.

        Args:
            cell: the definitions that take the place of the submission's own, in this trial alone.
            check: which one.
            sources: the visible checks, and the hidden ones where it is one of them.
            seed: what its inputs are drawn from.
            boxes: a way to functions that it may have called elsewhere.
        """
        allowance = self._budget.allowance(TRIAL_SECONDS)
        if not allowance:
            return NO_TIME_LEFT
        request = {"do": "trial", "sources": sources, "name": check.name, "exercise": check.exercise, "seed": seed}
        try:
            return unpack_outcome(self._ask({**request, "cell": cell}, allowance, boxes=boxes))
        except SandboxError as error:
            slow = "A trial took too long."
            self._lose(error, slow, slow, "A trial ended the process.")
            return NO_TIME_LEFT

    def answer(self, lesson: Mapping[str, Any], descriptor: int) -> None:
        """Have the process answer calls of a lesson's black boxes on a socket, until that is closed."""
        send(self._channel, pack({"do": "answer", **lesson}))
        send_descriptor(self._channel, descriptor)

    def answered(self) -> None:
        """Wait until it has stopped answering. Raises SandboxError where it has ended, or does not stop."""
        allowance = self._budget.allowance(self._limits.check_seconds)
        meter = Meter([self.host], allowance)
        receive(self._channel, SMALL, meter)
        self._budget.charge(TimeAllowance(meter.used().computing, 0.0))

    def _ask(
        self, request: dict[str, Any], allowance: TimeAllowance, most: int | None = None, boxes: OpenLine | None = None
    ) -> bytes:
        """Send a request; return the reply, whatever else the process may be waiting for meanwhile."""
        if self.lost:
            raise SandboxError(self.lost)
        with boxes() if boxes else nullcontext() as line:
            meter = Meter([self.host, *([line.host] if line else [])], allowance, self._budget.hosts)
            try:
                send(self._channel, pack(request | ({"line": line.names} if line else {})))
                if line:
                    send_descriptor(self._channel, line.descriptor)
                reply = receive(self._channel, most or self._limits.reply_bytes, meter)
            finally:
                used = meter.used()
                self._budget.charge(used)
                self.computed += used.computing
            if used.computing > allowance.computing:
                raise TooSlowError("too slow")
            return reply

    def _lose(self, error: SandboxError, slow: str, asleep: str, ended: str) -> str:
        """End the process after it broke the protocol or a limit; return why, in words for the student."""
        if not self.lost:
            words = asleep if isinstance(error, AsleepError) else slow
            large = isinstance(error, TooLargeError)
            self.lost = words if isinstance(error, TooSlowError) else SENT_TOO_MUCH if large else ended
            self._channel.close()
            self._budget.kill(self.pid)
        return self.lost


@dataclass(frozen=True)
class Ready:
    """What is known of a process that is ready.

    Args:
        pid: its number, as it says itself: that is how others of its submission know it.
        host: its number on this computer, from the kernel.
        threads: how many threads were running beside the one that was copied, as it says itself.
    """

    pid: int
    host: int
    threads: int = 0


@contextmanager
def connected_session(channel: socket.socket, limits: Limits, seconds: float) -> Iterator[SandboxSession]:
    """Wait until a process is ready, give its session, and let it and its copies end afterwards."""
    try:
        session = SandboxSession(channel, limits, receive_ready(channel, Deadline(seconds)))
        try:
            yield session
        finally:
            session.close_all()
    finally:
        channel.close()


def receive_ready(channel: socket.socket, patience: Patience) -> Ready:
    """Wait until a process says that it is ready. Raises SandboxError where it does not."""
    host = sender_of(channel, patience)
    pid, threads = unpack_ready(receive(channel, SMALL, patience))
    return Ready(pid, host or pid, threads)


def error_output(name: str, text: str) -> dict[str, Any]:
    """Return an error as a notebook output."""
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
