"""The inside: runs a submission's cells and checks.

Started as `python -m autograder.grading.sandbox.server DESCRIPTOR`, or forked by the fork server; ends when the other
side closes the socket. On request it forks: the copy answers on a socket of its own and keeps that moment's state.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import random
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import torch

from ...errors import SandboxError
from ...judging import black_box
from ...judging.black_box import black_boxes_in
from ...judging.check import Check, checks_in, laws_in, load_module
from ...judging.guard import STOPPED, USES, Guard
from ...judging.intact import remember_classes
from ...judging.modules import importable
from ...judging.operators import FunctionRecorder, OperatorRecorder, noticing
from ...judging.threads import watch_threads
from ...judging.trial import Trials
from ...judging.values import Outcome, Raised, Returned, text_of_error
from .channel import ClosedError, receive, receive_descriptor, send
from .codec import pack, pack_answer, pack_call, pack_outcome, unpack, unpack_answer, unpack_call
from .limits import Limits
from .not_graded import refuse_input, replace_what_is_not_run
from .shell import TOO_MUCH, GradingShell
from .texts import refuse_texts

NO_SUCH_NAME = "NotDefined"
LONGEST_TRIAL = 0.5  # seconds of processor time; one that is still in a call of C by then ends its process
HELD_SECONDS = 1.0
REST_SECONDS = 0.05  # of processor time: on a busy computer, a thread that does not run for a moment is not at rest
_copies: list[int] = []
_trials: list[Trials] = []


def main(descriptor: int) -> None:
    """Answer requests until the other side has gone."""
    initialize()
    redirect_standard_streams()
    answer_requests(socket.socket(fileno=descriptor), GradingShell.instance())


def initialize() -> None:
    """Begin as every submission does, whatever the backend: one thread, no denormals, the same random numbers."""
    replace_what_is_not_run()
    remember_classes(socket.socket, FunctionRecorder, OperatorRecorder, Check, Returned)
    watch_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.default_generator.manual_seed(0)
    random.seed(0)


def answer_requests(channel: socket.socket, shell: Any) -> None:
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
    with others_at_rest() as threads:
        pid = os.fork()
    if pid:
        _copies.append(pid)
        os.close(descriptor)
        return channel
    _copies.clear()
    channel.close()
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    if threads:  # a copy that cannot calculate does not get ready, and another one is made
        torch.ones(2, 2).matmul(torch.ones(2, 2)).softmax(-1)
    own = socket.socket(fileno=descriptor)
    send(own, pack({"ready": os.getpid(), "threads": threads}))
    return own


@contextlib.contextmanager
def others_at_rest() -> Iterator[int]:
    """Hold the interpreter until all other threads wait for it; give their number.

    One that computes in PyTorch may hold a lock of its own, which would stay locked in a fork for ever. Python gives
    the interpreter to another thread only after the switch interval, and PyTorch's functions end by asking for it.
    """
    others = [number for number in sys._current_frames() if number != threading.get_ident()]
    interval = sys.getswitchinterval()
    try:
        if others and hasattr(time, "pthread_getcpuclockid"):
            sys.setswitchinterval(HELD_SECONDS)
            wait_for_rest([time.pthread_getcpuclockid(number) for number in others])
        yield len(others)
    finally:
        sys.setswitchinterval(interval)


def wait_for_rest(clocks: list[int]) -> None:
    """Compute until some threads have stopped computing, or for as long as makes sense. Gives nobody else a turn."""
    began = rested_since = time.thread_time()
    before: list[float] = []
    while (now := time.thread_time()) < began + HELD_SECONDS and now < rested_since + REST_SECONDS:
        try:
            times = [time.clock_gettime(clock) for clock in clocks]
        except OSError:  # one has ended
            return
        if times != before:
            before, rested_since = times, now


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
    alone = request["alone"]
    if alone and alone["guarded"]:
        refuse_texts()
    if alone and not shell.guard:
        shell.guard = Guard(shell.user_ns, alone["known"], alone["lesson"])
    try:
        outputs = shell.run(request["source"], request["output_bytes"], guarded=bool(alone) and alone["guarded"])
        count = shell.execution_count - 1
        message = pack({"outputs": outputs, "count": count})
        return message if len(message) <= request["reply_bytes"] else pack({"outputs": [TOO_MUCH], "count": count})
    except BaseException as error:
        name, text = type(error).__name__, text_of_error(error)
        note = {"output_type": "error", "ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
        return pack({"outputs": [note], "count": None})


def run_check(shell: Any, request: dict[str, Any], channel: socket.socket) -> bytes:
    """Run one check and return what came out as a message."""
    builtins.input = refuse_input
    afterward: set[str] = set()
    with boxes_reached(request, channel):
        with noticing(afterward if request["record"] else None):
            outcome = outcome_of(shell.user_ns, request)
            message = pack_outcome(outcome)
        used = (*afterward, *dict.fromkeys(shell.guard.words if shell.guard else ()))
        if used and isinstance(outcome, Returned):
            return pack_outcome(replace(outcome, ran=(*outcome.ran, *used)))
        stopped = next((word for word in used if word.startswith(USES)), "")
        return pack_outcome(Raised(STOPPED, stopped)) if stopped else message


def run_trial(shell: Any, request: dict[str, Any], channel: socket.socket) -> bytes:
    """Run one check on an edited cell and return what came out as a message. No copy of a process repairs two cells."""
    if not _trials:
        _trials.append(Trials(shell.user_ns, request["exercise"]))
    with boxes_reached(request, channel):
        check = load_checks(*request["sources"])[request["name"]]
        signal.setitimer(signal.ITIMER_PROF, LONGEST_TRIAL)
        try:
            return pack_outcome(_trials[0].run(request["cell"], check, request["seed"]))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def boxes_reached(request: dict[str, Any], channel: socket.socket) -> Iterator[None]:
    """Have the black boxes that a check calls in the block computed elsewhere, where it may call any."""
    if "line" not in request:
        yield
        return
    with socket.socket(fileno=receive_descriptor(channel)) as line:
        black_box.install_transport(partial(ask_judge, line))
        black_box.disguise(load_visible(request["sources"][0]), request["line"])
        yield


def ask_judge(line: socket.socket, name: str, arguments: black_box.Arguments) -> black_box.Answer:
    """Have the judge's own process call one of the lesson's black boxes."""
    send(line, pack_call(name, arguments))
    return unpack_answer(receive(line, Limits.reply_bytes))


def answer_calls(_shell: Any, request: dict[str, Any], channel: socket.socket) -> bytes:
    """Call black boxes for a submission's process until it has gone, or asks for what is not there."""
    boxes, count = load_boxes(*request["sources"], tuple(map(tuple, request["modules"]))), 0
    limit_memory(request["memory"])
    offered = {sent: boxes[module, own] for sent, (module, own) in request["names"].items()}
    with socket.socket(fileno=receive_descriptor(channel)) as line, contextlib.suppress(SandboxError, KeyError):
        while True:
            name, arguments = unpack_call(receive(line, Limits.reply_bytes))
            send(line, pack_answer(black_box.answer_call(offered, name, arguments)))
            count += 1
    return pack({"answered": count})


@lru_cache(maxsize=1)
def limit_memory(most: int) -> None:
    """Limit what this process may allocate from now on, where nobody has done so: where there is no isolation."""
    with contextlib.suppress(OSError, ValueError):  # refused where there is
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + most
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


@lru_cache(maxsize=1)
def load_boxes(
    visible: str, hidden: str, modules: tuple[tuple[str, str], ...]
) -> dict[tuple[str, str], black_box.BlackBox]:
    """Return a lesson's black boxes by module and name."""
    with importable(modules, ""):
        checks = load_module(visible, "checks.py")
        loaded = {"checks": checks, "hidden": load_module(hidden, "hidden.py", checks)}
    return {(name, own): box for name, module in loaded.items() for own, box in black_boxes_in(module).items()}


def outcome_of(names: Mapping[str, Any], request: Mapping[str, Any]) -> Outcome:
    """Run a check on what the submission defines."""
    exercise = request["exercise"]
    if exercise not in names:
        return Raised(NO_SUCH_NAME, f"{exercise} is not defined: its cell is missing or stopped with an error.")
    check = load_checks(*request["sources"])[request["name"]]
    return check.values(names[exercise], request["seed"], record=request["record"])


@lru_cache(maxsize=1)
def load_visible(source: str) -> ModuleType:
    """Load the visible checks, once for all forks; each fork changes its own copy of them only."""
    return load_module(source, "checks.py")


@lru_cache(maxsize=1)
def load_checks(visible_source: str, hidden_source: str) -> dict[str, Check]:
    """Return all checks and laws by name."""
    visible = load_visible(visible_source)
    hidden = load_module(hidden_source, "hidden.py", visible)
    return {c.name: c for c in (*checks_in(visible), *laws_in(visible), *checks_in(hidden))}


ANSWERS = MappingProxyType({"cell": run_cell, "check": run_check, "trial": run_trial, "answer": answer_calls})

if __name__ == "__main__":
    main(int(sys.argv[1]))
