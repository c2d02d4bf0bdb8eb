"""Whole messages over a socket, with a deadline and a largest size."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from ...errors import SandboxError

LENGTH = struct.Struct(">Q")
CREDENTIALS = struct.Struct("3i")  # struct ucred: process, user, group
SEND_SECONDS = 60.0  # the other side reads at once, or hangs
SEND_ALL = socket.socket.sendall  # as it is: a cell may change the class


Received = TypeVar("Received")


class ClosedError(SandboxError):
    """The other side has gone."""


class TooSlowError(SandboxError):
    """The deadline has passed."""


class TooLargeError(SandboxError):
    """A message is larger than it may be."""


class Patience(Protocol):
    """How long to wait for a message."""

    def wait(self) -> float:
        """Return after how many seconds to ask again. Raises TooSlowError where it has been long enough."""


class Deadline:
    """Waits for so many seconds by the clock."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def wait(self) -> float:
        """Return how many seconds are left. Raises TooSlowError where there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TooSlowError("too slow")
        return left


def send(channel: socket.socket, message: bytes, seconds: float = SEND_SECONDS) -> None:
    """Send one message, in so many seconds at most."""
    try:
        channel.settimeout(seconds)
        SEND_ALL(channel, LENGTH.pack(len(message)) + message)
    except TimeoutError as error:
        raise TooSlowError("too slow") from error
    except OSError as error:
        raise ClosedError("The submission's process has ended.") from error


def send_descriptor(channel: socket.socket, descriptor: int) -> None:
    """Send an open file along with one byte, after the message that announces it."""
    try:
        socket.send_fds(channel, [b"+"], [descriptor])
    except OSError as error:
        raise ClosedError("The submission's process has ended.") from error


def receive_descriptor(channel: socket.socket) -> int:
    """Receive one open file."""
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    if len(descriptors) != 1:
        raise ClosedError("No open file came.")
    return descriptors[0]


def sender_of(channel: socket.socket, patience: Patience) -> int | None:
    """Return the number of the process that sent the next byte, from the kernel; None where it does not tell.

    The channel has to be `announcing`.
    """
    if not hasattr(socket, "SO_PASSCRED"):
        return None
    size = socket.CMSG_SPACE(CREDENTIALS.size)
    _, ancillary, _, _ = waiting(channel, patience, lambda: channel.recvmsg(1, size, socket.MSG_PEEK))
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    sent = (data for level, what, data in ancillary if (level, what) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS))
    return next((CREDENTIALS.unpack(data[: CREDENTIALS.size])[0] for data in sent), None)


def announcing(channel: socket.socket) -> socket.socket:
    """Have the kernel tell who sends to a channel, from now on."""
    if hasattr(socket, "SO_PASSCRED"):
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return channel


def receive(channel: socket.socket, largest: int, patience: Patience | None = None) -> bytes:
    """Receive one message.

    Args:
        channel: where from.
        largest: bytes; a longer message raises SandboxError.
        patience: how long to wait for all of it; None waits forever.
    """
    (size,) = LENGTH.unpack(read(channel, LENGTH.size, patience))
    if size > largest:
        raise TooLargeError(f"The submission's process sent {size} bytes; {largest} are allowed.")
    return read(channel, size, patience)


def read(channel: socket.socket, size: int, patience: Patience | None) -> bytes:
    """Receive exactly `size` bytes."""
    parts = bytearray()
    while len(parts) < size:
        most = min(size - len(parts), 2**20)
        part = waiting(channel, patience, lambda most=most: channel.recv(most))  # type: ignore[misc]
        if not part:
            raise ClosedError("The submission's process has ended.")
        parts += part
    return bytes(parts)


def waiting(channel: socket.socket, patience: Patience | None, attempt: Callable[[], Received]) -> Received:
    """Try to receive until something comes, or patience has ended."""
    while True:
        try:
            channel.settimeout(patience.wait() if patience else None)
            return attempt()
        except TimeoutError:
            continue
        except OSError as error:
            raise ClosedError("The submission's process has ended.") from error
