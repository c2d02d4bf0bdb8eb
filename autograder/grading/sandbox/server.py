"""The inside: runs a submission's cells and checks.

Started as `python -m autograder.grading.sandbox.server DESCRIPTOR`, or forked by the fork server; ends when the other
side closes the socket. On request it forks: the copy answers on a socket of its own and keeps that moment's state.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import random
import signal
import socket
import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import torch

from ...judging import black_box
from ...judging.check import Check, checks_in, load_module
from ...judging.trial import Trials
from ...judging.values import Outcome, Raised
from .channel import ClosedError, receive, receive_descriptor, send
from .codec import pack, pack_call, pack_outcome, unpack, unpack_answer
from .limits import Limits
from .not_graded import refuse_input, replace_what_is_not_run
from .shell import GradingShell

NO_SUCH_NAME = "NotDefined"
LONGEST_TRIAL = 0.5  # seconds of processor time; one that is still in a call of C by then ends its process
_copies: list[int] = []
_trials: list[Trials] = []


def main(descriptor: int) -> None:
    """Answer requests until the other side has gone."""
    initialise()
    redirect_standard_streams()
    serve(socket.socket(fileno=descriptor), GradingShell.instance())


def initialise() -> None:
    """Begin as every submission does, whatever the backend: one thread, no denormals, the same random numbers."""
    replace_what_is_not_run()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.default_generator.manual_seed(0)
    random.seed(0)


def serve(channel: socket.socket, shell: Any) -> None:
    """Say that all is ready, then answer requests."""
    send(channel, pack({"ready": os.getpid()}))
    while True:
        try:
            request, _ = unpack(receive(channel, Limits.reply_bytes))
            if request["do"] == "copy":
                channel = fork_copy(channel)
                continue
            if request["do"] == "kill":
                kill(request["pid"])
                continue
        except ClosedError:
            return
        send(channel, ANSWERS[request["do"]](shell, request, channel))


def fork_copy(channel: socket.socket) -> socket.socket:
    """Fork. Return the channel to go on with: the old one, or in the copy the one that came with the request."""
    descriptor = receive_descriptor(channel)
    _copies[:] = [pid for pid in _copies if not reap_if_ended(pid)]
    if pid := os.fork():
        _copies.append(pid)
        os.close(descriptor)
        return channel
    _copies.clear()
    channel.close()
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    own = socket.socket(fileno=descriptor)
    send(own, pack({"ready": os.getpid()}))
    return own


def reap_if_ended(pid: int) -> bool:
    """Say whether a copy has ended, and forget it then: an ended process counts until somebody asks."""
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def kill(pid: int) -> None:
    """End another process of the same submission, which ran over time."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    reap_if_ended(pid)


def redirect_standard_streams() -> None:
    """Send what is written past Python's streams to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def run_cell(shell: Any, request: dict[str, Any], _channel: socket.socket) -> bytes:
    """Run one cell and return its outputs as a message."""
    try:
        outputs, success = shell.run(request["source"], request["output_bytes"])
        return pack({"outputs": outputs, "success": success, "count": shell.execution_count - 1})
    except BaseException as error:
        name, text = type(error).__name__, str(error)[:500]
        note = {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
        return pack({"outputs": [note], "success": False, "count": None})


def run_check(shell: Any, request: dict[str, Any], channel: socket.socket) -> bytes:
    """Run one check and return what came out as a message."""
    black_box.reach(partial(ask_judge, channel))
    builtins.input = refuse_input
    return pack_outcome(outcome_of(shell.user_ns, request))


def run_trial(shell: Any, request: dict[str, Any], channel: socket.socket) -> bytes:
    """Run one check on an edited cell and return what came out as a message. No copy of a process repairs two cells."""
    black_box.reach(partial(ask_judge, channel))
    if not _trials:
        _trials.append(Trials(shell.user_ns, request["exercise"]))
    check = load_checks(*request["sources"])[request["name"]]
    signal.setitimer(signal.ITIMER_PROF, LONGEST_TRIAL)
    try:
        return pack_outcome(_trials[0].run(request["cell"], check, request["seed"]))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def ask_judge(channel: socket.socket, name: str, arguments: black_box.Arguments) -> black_box.Answer:
    """Have the judge's process call one of the lesson's black boxes."""
    send(channel, pack_call(name, arguments))
    return unpack_answer(receive(channel, Limits.reply_bytes))


def outcome_of(names: Mapping[str, Any], request: Mapping[str, Any]) -> Outcome:
    """Run a check on what the submission defines."""
    exercise = request["exercise"]
    if exercise not in names:
        return Raised(NO_SUCH_NAME, f"{exercise} is not defined: its cell is missing or stopped with an error.")
    check = load_checks(*request["sources"])[request["name"]]
    return check.values(names[exercise], request["seed"], record=True)


@lru_cache(maxsize=1)
def load_visible(source: str) -> ModuleType:
    """Load the visible checks, once for all forks; each fork changes its own copy of them only."""
    return load_module(source, "checks.py")


@lru_cache(maxsize=1)
def load_checks(visible_source: str, hidden_source: str) -> dict[str, Check]:
    """Return all checks by name."""
    visible = load_visible(visible_source)
    hidden = load_module(hidden_source, "hidden.py", visible)
    return {c.name: c for c in (*checks_in(visible), *checks_in(hidden))}


ANSWERS = {"cell": run_cell, "check": run_check, "trial": run_trial}

if __name__ == "__main__":
    main(int(sys.argv[1]))
