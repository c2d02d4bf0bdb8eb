"""How the board is reached: whoever holds many connections makes room, so that nobody keeps the others out."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import struct
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_unix_socket
from tornado.web import Application

from .board_messages import Allowance
from .plain_files import named

LOG = logging.getLogger("autograder.board")
MOST_BODY_BYTES = 2**19  # of one request whose sender is known: fifty tries with code
NO_BODY = 2**10  # of any other
HEADER_BYTES = 2**15  # more than the hub's proxy lets through: what is too long has its answer, and not just an end
BODY_SECONDS = 5.0  # in which a body has to be complete; the student's side waits three for the answer
MOST_OF_AN_ACCOUNT, MOST = 50, 5000  # connections at a time
AT_ONCE, PER_SECOND = 200, 50  # connections that an account may begin
UNKNOWN = -1  # whose a connection is that does not come from this computer
CREDENTIALS = "3i"  # process, user and group, as the kernel gives them
LOCAL_CONNECTIONS = Path("/proc/net/tcp")
FIRST_OPEN_PORT, USUAL_FIRST_OPEN_PORT = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start"), 1024


class BoundedServer(HTTPServer):
    """Holds half as many connections as a process may open: where no more can be opened, Tornado would log without end.

    Through the socket in the file system, an account has a few, and may begin a few a second: whoever connects and
    hangs up without end is turned away, which takes next to no time. Through an address, a hub's proxy speaks for many,
    so there is a bound for all together; when it is reached, the account that holds most loses the older half of them.
    """

    def initialize(self, *given: Any, **named: Any) -> None:
        """Take what Tornado's server takes."""
        super().initialize(*given, **named)
        self._held: dict[IOStream, tuple[int, tuple[Any, ...]]] = {}  # the account, and the address; the oldest first
        self._begun = Allowance(AT_ONCE, PER_SECOND)
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Answer a connection, or close it."""
        account = account_of(stream)
        if account != UNKNOWN and not self._admits(account):
            stream.close()
            return
        if len(self._held) >= self._most:
            self._make_room()
        self._held[stream] = account, address
        super().handle_stream(stream, address)

    def _admits(self, account: int) -> bool:
        held = [holder for holder, _ in self._held.values()].count(account)
        return self._begun.spend(account, 1) and held < MOST_OF_AN_ACCOUNT

    def _make_room(self) -> None:
        """Close the older half of what one account holds, the one that holds most."""
        users, held_by = users_of_local_connections(), defaultdict[int, list[IOStream]](list)
        for stream, (account, address) in self._held.items():
            held_by[users.get(address[:2], UNKNOWN) if account == UNKNOWN else account].append(stream)
        streams = max(held_by.values(), key=len)
        for stream in streams[: len(streams) // 2 + 1]:
            del self._held[stream]
            stream.close()

    def on_close(self, server_conn: Any) -> None:
        """Forget a connection."""
        self._held.pop(server_conn.stream, None)
        super().on_close(server_conn)


def users_of_local_connections() -> dict[tuple[Any, ...], int]:
    """Return the user ids of this computer's connections over IPv4, by their own address and port.

    Reading them takes milliseconds, which is why it is done only when there is no room.
    """
    try:
        rows = [line.split() for line in LOCAL_CONNECTIONS.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:  # not Linux
        return {}
    return {address_in(row[1]): int(row[7]) for row in rows}


def address_in(text: str) -> tuple[str, int]:
    """Return an address and a port as the kernel writes them: 0100007F:2775."""
    address, port = text.split(":")
    return socket.inet_ntoa(int(address, 16).to_bytes(4, sys.byteorder)), int(port, 16)


def account_of(stream: IOStream) -> int:
    """Return the user id at the other end of a socket in the file system, one for all that have no name."""
    if stream.socket.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return UNKNOWN
    told = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(CREDENTIALS))
    return named(int(struct.unpack(CREDENTIALS, told)[1]))


def server_of(app: Application) -> BoundedServer:
    """Return a server that bounds connections, what they send and how long they take."""
    return BoundedServer(
        app,
        max_header_size=HEADER_BYTES,
        max_body_size=NO_BODY,
        max_buffer_size=2 * MOST_BODY_BYTES,
        idle_connection_timeout=60,
        body_timeout=BODY_SECONDS,
    )


def warn_of_open_port(port: int) -> None:
    """Log that a port is one that any account may take while this service is stopped, if it is."""
    first = USUAL_FIRST_OPEN_PORT
    with suppress(OSError, ValueError):  # not Linux
        first = int(FIRST_OPEN_PORT.read_text(encoding="ascii"))
    if port >= first:
        LOG.error(
            "Any account of this computer can listen on port %d while this service is stopped, and is given tokens "
            "that are meant for it. Take a port below 1024, as in docs/hub.md; here, all from %d on are open.",
            *(port, first),
        )


async def listen(app: Application, address: str, path: str = "") -> None:
    """Answer at an address, and through a socket in the file system where a path names one.

    The socket's folder has to be one that only the service's account can change.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):  # macOS takes no such number
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server, url = server_of(app), urlsplit(address)
    server.listen(port := url.port or 80, url.hostname or "127.0.0.1")
    if path.startswith("/"):  # students' servers are accounts of this computer
        warn_of_open_port(port)
        server.add_socket(bind_unix_socket(path, mode=0o666))
    await asyncio.Event().wait()
