"""How the board is reached: a few connections of each account at a time, so that nobody keeps the others out."""

from __future__ import annotations

import asyncio
import resource
import socket
import struct
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_unix_socket
from tornado.web import Application

MOST_BYTES = 2**19  # of one request whose sender is known: fifty tries with code
NO_BODY = 2**10  # of any other
MOST_OF_AN_ACCOUNT, MOST = 50, 5000  # connections at a time
PROXY = -1  # what comes through the hub is no account's
CREDENTIALS = "3i"  # process, user and group, as the kernel gives them


class BoundedServer(HTTPServer):
    """Closes a connection at once where its account has many, or all together have half of what a process may open.

    Where no more can be opened, Tornado would write that to the log without end.
    """

    def initialize(self, *given: Any, **named: Any) -> None:
        """Take what Tornado's server takes."""
        super().initialize(*given, **named)
        self._accounts: dict[IOStream, int] = {}
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Answer a connection, or close it."""
        account = account_of(stream)
        others = list(self._accounts.values())
        if len(others) >= self._most or (account != PROXY and others.count(account) >= MOST_OF_AN_ACCOUNT):
            stream.close()
            return
        self._accounts[stream] = account
        super().handle_stream(stream, address)

    def on_close(self, server_conn: Any) -> None:
        """Forget a connection."""
        self._accounts.pop(server_conn.stream, None)
        super().on_close(server_conn)


def account_of(stream: IOStream) -> int:
    """Return the user id at the other end of a socket in the file system; -1 where the kernel does not tell."""
    if stream.socket.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return PROXY
    told = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(CREDENTIALS))
    return int(struct.unpack(CREDENTIALS, told)[1])


def server_of(app: Application) -> BoundedServer:
    """Return a server that bounds connections, what they send and how long they take."""
    return BoundedServer(
        app, max_body_size=NO_BODY, max_buffer_size=2 * MOST_BYTES, idle_connection_timeout=60, body_timeout=20
    )


async def listen(app: Application, address: str, path: str = "") -> None:
    """Answer at an address, and where there is one through a socket in the file system.

    Args:
        app: what answers.
        address: such as http://127.0.0.1:10101.
        path: of the socket, in a folder that only the service's account can change; '' for none.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):  # macOS takes no such number
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server, place = server_of(app), urlsplit(address)
    server.listen(place.port or 80, place.hostname or "127.0.0.1")
    if path.startswith("/"):
        server.add_socket(bind_unix_socket(path, mode=0o666))
    await asyncio.Event().wait()
