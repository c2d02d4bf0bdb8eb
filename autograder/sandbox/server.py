"""The inside: runs a submission's cells, and each check in a throw-away fork.

Started as `python -m autograder.sandbox.server DESCRIPTOR`, or forked by `warm`; ends when the other side closes the
socket. On request it forks: the copy answers on a socket of its own and keeps the state of that moment.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from ..checks import Check, checks_in, load_module
from ..errors import SandboxError
from ..values import Lost, Outcome, Raised
from .channel import ClosedError, TooSlowError, receive, receive_descriptor, send
from .limits import Limits
from .shell import GradingShell
from .wire import pack, pack_outcome, unpack

NO_SUCH_NAME = "NotDefined"
_copies: list[int] = []


def main(descriptor: int) -> None:
    """Answer requests until the other side has gone."""
    torch.set_num_threads(1)
    silence()
    serve(socket.socket(fileno=descriptor), GradingShell.instance())


def serve(channel: socket.socket, shell: Any) -> None:
    """Say that all is ready, then answer requests."""
    with contextlib.suppress(OSError):
        module_of(Path("checks.py").read_text(encoding="utf-8"))
    send(channel, pack({"ready": True}))
    while True:
        try:
            request, _ = unpack(receive(channel, Limits.reply_bytes))
            if request["do"] == "copy":
                channel = copied(channel)
                continue
        except ClosedError:
            return
        send(channel, run_cell(shell, request) if request["do"] == "cell" else run_check(shell, request))


def copied(channel: socket.socket) -> socket.socket:
    """Fork. Return the channel to go on with: the old one, or in the copy the one that came with the request."""
    descriptor = receive_descriptor(channel)
    _copies[:] = [pid for pid in _copies if not ended(pid)]
    if pid := os.fork():
        _copies.append(pid)
        os.close(descriptor)
        return channel
    _copies.clear()
    channel.close()
    own = socket.socket(fileno=descriptor)
    send(own, pack({"ready": True}))
    return own


def ended(pid: int) -> bool:
    """Say whether a copy has ended, and forget it then: an ended process counts until somebody asks."""
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def silence() -> None:
    """Send what is written past Python's streams to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def run_cell(shell: Any, request: dict[str, Any]) -> bytes:
    """Run one cell and return its outputs as a message."""
    try:
        outputs, success = shell.run(request["source"], request["output_bytes"])
        return pack({"outputs": outputs, "success": success, "count": shell.execution_count - 1})
    except BaseException as error:
        note = {"output_type": "error", "ename": type(error).__name__, "evalue": str(error)[:500], "traceback": []}
        return pack({"outputs": [note], "success": False, "count": None})


def run_check(shell: Any, request: dict[str, Any]) -> bytes:
    """Run one check in a fork, so that nothing of it stays in the submission's process."""
    ours, theirs = socket.socketpair()
    try:
        checks = loaded(*request["sources"])
        child = os.fork()
    except OSError as error:
        return pack_outcome(Lost(f"The check could not be started: {error.strerror}."))
    if child == 0:
        try:
            ours.close()
            send(theirs, pack_outcome(outcome_in_fork(shell, request, checks)))
        finally:
            os._exit(0)
    theirs.close()
    try:
        return receive(ours, Limits.reply_bytes, request["seconds"])
    except TooSlowError:
        return pack_outcome(Lost(f"It was still running after {request['seconds']:g} seconds."))
    except SandboxError:
        return pack_outcome(Lost("The Python process ended in the middle of it."))
    finally:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        ours.close()


@lru_cache(maxsize=1)
def module_of(source: str) -> ModuleType:
    """Load the visible checks once for all forks; each fork changes its own copy of them only."""
    return load_module(source, "checks.py")


@lru_cache(maxsize=1)
def loaded(visible_source: str, hidden_source: str) -> dict[str, Check]:
    """Return all checks by name."""
    visible = module_of(visible_source)
    hidden = load_module(hidden_source, "hidden.py", visible)
    return {c.name: c for c in (*checks_in(visible), *checks_in(hidden))}


def outcome_in_fork(shell: Any, request: dict[str, Any], checks: Mapping[str, Check]) -> Outcome:
    """Run the check on what the submission defines."""
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    name = request["exercise"]
    if name not in shell.user_ns:
        return Raised(NO_SUCH_NAME, f"{name} is not defined: its cell is missing or stopped with an error.")
    return checks[request["name"]].values(shell.user_ns[name], request["seed"])


if __name__ == "__main__":
    main(int(sys.argv[1]))
