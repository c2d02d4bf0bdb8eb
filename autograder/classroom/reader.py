"""Reading what can keep its reader waiting for ever: a process of its own asks, and is ended if it gets no answer.

A student can mount a file system of their own in the exchange, whose calls need not return. Nothing in the process that
has made such a call can end it, and even its being killed can wait for that file system. So nobody waits for its end.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import Any, TypeVar, cast

from ..errors import CourseError, SubmissionError, UnansweredError
from .plain_files import NAMES_SECONDS, owners_in

ANSWER_SECONDS = 10.0
SILENT_SECONDS = 600.0  # in which what has not answered is not asked again
START_SECONDS = 60.0
END_SECONDS = 1.0
NOBODY = -1  # whose something is where the file system does not say
NAMES_AT_ONCE = 1000  # whose owners are asked for
NO_ANSWER = "cannot be read: the file system that it is on does not answer"
MOUNTED = "cannot be read: another file system is mounted there"
MOUNTS = Path("/proc/self/mountinfo")
PACKAGES = Path(__file__).parents[2]  # on a hub, what is installed is the students' side of this package alone
T = TypeVar("T")


class Reader:
    """Has a process of its own look into folders.

    Args:
        seconds: how long it may take for each answer.
    """

    def __init__(self, seconds: float = ANSWER_SECONDS) -> None:
        self._seconds = seconds
        self._connection: Connection | None = None
        self._end: Callable[[], object] = bool  # nothing has begun
        self._silent: dict[str, float] = {}  # what has not answered, and until when it is left alone

    def ask(self, function: Callable[..., T], folder: int, name: str, *given: Any) -> T:
        """Return what a function makes of a folder's descriptor, a name in it, and more; raise what it raises.

        Raises:
            UnansweredError: it does not answer.
            SubmissionError: something is mounted there, which is not even touched.
            CourseError: no process can be started.
        """
        now = time.monotonic()
        if now < self._silent.get(name, 0.0):
            raise UnansweredError(NO_ANSWER)
        if is_mounted(folder, name):
            raise SubmissionError(MOUNTED)
        return self._asked(function, folder, name, *given)

    def owners(self, folder: int, names: Collection[str]) -> dict[str, int]:
        """Return the user ids that names in a folder belong to, as far as there is an answer in time; many at a time.

        Raises:
            UnansweredError: it does not answer.
            CourseError: no process can be started.
        """
        now, owners = time.monotonic(), dict[str, int]()
        left_alone = mounted_in(folder) | {name for name, until in self._silent.items() if now < until}
        asked = [name for name in names if name not in left_alone]
        for first in range(0, len(asked), NAMES_AT_ONCE):
            if time.monotonic() > now + NAMES_SECONDS:  # the rest is asked the next time
                break
            owners |= self._asked(owners_in, folder, "", asked[first : first + NAMES_AT_ONCE])
        return owners

    def _asked(self, function: Callable[..., T], folder: int, name: str, *given: Any) -> T:
        self._connection = self._connection or self._start()
        try:
            error, answer = self._answer(self._connection, function, folder, name, *given)
        except BaseException:  # what it answers later is no answer to the next question
            self._connection = None
            self._end()
            raise
        if error is not None:
            raise error
        return cast(T, answer)

    def _answer(self, connection: Connection, function: Callable[..., T], folder: int, name: str, *given: Any) -> Any:
        try:
            connection.send((function, name, given))
            send_handle(connection, folder, 0)
            if connection.poll(self._seconds):
                return connection.recv()
        except (EOFError, OSError) as error:
            raise UnansweredError("cannot be read: the process that reads it has ended") from error
        now = time.monotonic()
        self._silent = {silent: until for silent, until in self._silent.items() if until > now}
        if name:  # of many, nobody knows which one it was; what is mounted is seen the next time
            self._silent[name] = now + SILENT_SECONDS
        raise UnansweredError(NO_ANSWER)

    def _start(self) -> Connection:
        near, far = socket.socketpair()
        connection = Connection(near.detach())
        with far, suppress(EOFError, OSError):
            path = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(far.fileno())],
                env=os.environ | {"PYTHONPATH": path},
                pass_fds=(far.fileno(),),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            far.close()  # its end is seen then
            self._end = weakref.finalize(self, end, process, connection)
            if connection.poll(START_SECONDS) and connection.recv():
                return connection
        self._end()
        raise CourseError(f"{sys.executable} could not be started, to read the exchange.")


def end(process: subprocess.Popen[bytes], connection: Connection) -> None:
    """End a process, without waiting for one that cannot be ended now."""
    connection.close()
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)


def is_mounted(folder: int, name: str) -> bool:
    """Say whether a file system is mounted at a name in a folder, or below it, as far as the system tells."""
    return name in mounted_in(folder)


def mounted_in(folder: int) -> set[str]:
    """Return the names in a folder at which, or below which, a file system is mounted, as far as the system tells."""
    try:
        place = f"{Path(f'/proc/self/fd/{folder}').readlink()}/"
        rows = [row.split(" ") for row in os.fsdecode(MOUNTS.read_bytes()).split("\n")]  # a name may hold other ends
    except OSError:  # not Linux
        return set()
    points = [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), row[4]) for row in rows if len(row) > 4]
    return {point.removeprefix(place).partition("/")[0] for point in points if point.startswith(place)}


def answer_questions(connection: Connection) -> None:
    """Answer, as the process that is asked, until nobody asks any more."""
    connection.send(True)
    while True:
        try:
            function, name, given = connection.recv()
        except EOFError:
            return
        folder = recv_handle(connection)
        answer: tuple[Exception | None, Any]
        try:
            answer = None, function(folder, name, *given)
        except Exception as error:
            answer = error, None
        os.close(folder)
        connection.send(answer)


if __name__ == "__main__":
    answer_questions(Connection(int(sys.argv[1])))
