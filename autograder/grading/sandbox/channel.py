"""Whole messages over a socket, with a deadline and a largest size."""

from __future__ import annotations

import socket
import struct
import time

from ...errors import SandboxError

LENGTH = struct.Struct(">Q")
SEND_SECONDS = 60.0  # the other side reads at once, or hangs
SHORTEST_WAIT = 1e-3  # 0 would mean not to wait at all


class ClosedError(SandboxError):
    """The other side has gone."""


class TooSlowError(SandboxError):
    """The deadline has passed."""


class TooLargeError(SandboxError):
    """A message is larger than it may be."""


def send(channel: socket.socket, message: bytes, seconds: float = SEND_SECONDS) -> None:
    """Send one message, in so many seconds at most."""
    try:
        channel.settimeout(max(seconds, SHORTEST_WAIT))
        channel.sendall(LENGTH.pack(len(message)) + message)
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


def receive(channel: socket.socket, largest: int, seconds: float | None = None) -> bytes:
    """Receive one message.

    Args:
        channel: where from.
        largest: bytes; a longer message raises SandboxError.
        seconds: how long to wait for all of it; None waits forever.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    (size,) = LENGTH.unpack(read(channel, LENGTH.size, deadline))
    if size > largest:
        raise TooLargeError(f"The submission's process sent {size} bytes; {largest} are allowed.")
    return read(channel, size, deadline)


def read(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    """Receive exactly `size` bytes before the deadline."""
    parts = bytearray()
    while len(parts) < size:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TooSlowError("too slow")
        try:
            channel.settimeout(left)
            part = channel.recv(min(size - len(parts), 2**20))
        except TimeoutError as error:
            raise TooSlowError("too slow") from error
        except OSError as error:
            raise ClosedError("The submission's process has ended.") from error
        if not part:
            raise ClosedError("The submission's process has ended.")
        parts += part
    return bytes(parts)
