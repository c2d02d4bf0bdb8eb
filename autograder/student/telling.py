"""Getting word to a teacher's board: a queue in a file, and a thread that empties it while nobody waits."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock

from ..errors import CourseError
from ..paths import replace_text

BOARD, TOKEN = "LESSONS_BOARD", "JUPYTERHUB_API_TOKEN"
ANSWER_SECONDS, LOCK_SECONDS, TURN_SECONDS = 3.0, 0.5, 10.0
MOST_CODE = 8_000  # characters
MOST_KEPT = 500  # tries; beyond them the oldest are dropped
MOST_AT_ONCE, MOST_SENT_BYTES = 50, 2**18
DONE, NEVER_TAKEN = 200, (400, 413)
_guard = threading.Lock()
_running = False


def board_address() -> str:
    """Return where the board listens, as the hub's configuration says: a socket's path or a URL; '' for nowhere."""
    return os.environ.get(BOARD, "") if os.environ.get(TOKEN) else ""


def queue_beside(path: Path) -> Path:
    """Return the file of what is still to be sent."""
    return path.with_name(f".{path.stem}.queue")


def locked(queue: Path, what: str, seconds: float) -> FileLock:
    """Return a lock that all kernels of a student share."""
    return FileLock(queue.with_name(f"{queue.name}.{what}"), timeout=seconds)


def append(queue: Path, told: dict[str, Any]) -> None:
    """Put a try at the end of the queue. Raises OSError where that is not possible at once."""
    with locked(queue, "lock", LOCK_SECONDS):
        lines = [*read_lines(queue), json.dumps(told)]
        replace_text(queue, "\n".join(lines[-MOST_KEPT:]) + "\n")


def read_lines(queue: Path) -> list[str]:
    """Return what waits, the oldest first."""
    try:
        return queue.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def take_out(queue: Path, sent: list[str]) -> None:
    """Remove what has arrived."""
    with locked(queue, "lock", TURN_SECONDS):
        gone = set(sent)
        left = [line for line in read_lines(queue) if line not in gone]
        if left:
            replace_text(queue, "\n".join(left) + "\n")
        else:
            queue.unlink(missing_ok=True)


def deliver_soon(queue: Path) -> None:
    """Let a thread send what waits, unless one is at it."""
    global _running
    with _guard:
        if not _running:
            threading.Thread(target=deliver, args=(queue,), name="board", daemon=True).start()
            _running = True


def deliver(queue: Path) -> None:
    """Send what waits, in order, until nothing is left or the board does not take it."""
    global _running
    taken = True
    while taken:
        taken = False
        with contextlib.suppress(OSError, HTTPException, ValueError), locked(queue, "turn", TURN_SECONDS):
            taken = deliver_some(queue)
        with _guard:
            if not taken or not read_lines(queue):
                _running = taken = False


def deliver_some(queue: Path) -> bool:
    """Send the oldest of what waits; say whether the board has taken it, or never will."""
    lines, size = list[str](), 0
    for line in read_lines(queue)[:MOST_AT_ONCE]:
        size += len(line)
        if lines and size > MOST_SENT_BYTES:
            break
        lines.append(line)
    status, _ = request("POST", f'{{"tries": [{", ".join(lines)}]}}'.encode()) if lines else (DONE, b"")
    if status == DONE or status in NEVER_TAKEN:
        take_out(queue, lines)
        return True
    return False


def withdraw(queue: Path, everything: bool) -> bool:
    """Drop what waits with code, or all, and have the board delete the code that it has; say whether it has done so."""
    take_out(queue, [line for line in read_lines(queue) if everything or '"code": ' in line])
    with contextlib.suppress(OSError, HTTPException, ValueError), locked(queue, "turn", TURN_SECONDS):
        return request("DELETE")[0] == DONE  # what was being sent with code has arrived by now
    return False


def request(method: str, body: bytes = b"") -> tuple[int, bytes]:
    """Ask the board, and tell it by the token of this server whose checks these are; follow nobody elsewhere.

    Raises:
        OSError, HTTPException: it does not answer.
        ValueError: its address is none.
    """
    address = board_address()
    connection = connection_to(address)
    path = "/tries" if address.startswith("/") else urlsplit(address).path.rstrip("/") + "/tries"
    try:
        headers = {"Authorization": f"token {os.environ[TOKEN]}", "Content-Type": "application/json"}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def connection_to(address: str) -> HTTPConnection:
    """Return a connection to a socket in the file system, or to a URL, and never through a proxy."""
    if address.startswith("/"):
        return SocketConnection(address)
    url = urlsplit(address)
    connection = HTTPSConnection if url.scheme == "https" else HTTPConnection
    return connection(url.hostname or "", url.port, timeout=ANSWER_SECONDS)


class SocketConnection(HTTPConnection):
    """HTTP through a socket in the file system, which nobody but the owner of its folder can put there."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect; wait for a place where many others wait, which the system does for no socket with a timeout."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(ANSWER_SECONDS), 0))
        self.sock.connect(self._path)
        self.sock.settimeout(self.timeout)


def ask_board() -> list[dict[str, Any]]:
    """Return what the board has kept about this student, the oldest first. Raises CourseError where it says nothing."""
    with contextlib.suppress(OSError, HTTPException, ValueError):
        status, body = request("GET")
        if status == DONE:
            return list(json.loads(body)["tries"])
    raise CourseError("The board does not answer. Try again later.")
