"""What tests of other processes need: to wait for them, and a port for them."""

import contextlib
import secrets
import socket
import time
from collections.abc import Callable


def wait_until(done: Callable[[], object], seconds: float = 600.0) -> None:
    """Ask again until it is so; a slow computer decides nothing."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def free_port(among: range = range(10_000, 30_000)) -> int:
    """Return a port below those that a system takes for outgoing connections: nobody takes it before a server does."""
    while True:
        port = secrets.choice(among)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
