"""The warm process inside bubblewrap: everything is imported, and each submission gets a fork of it.

Started by `bubble` as `python -m autograder.sandbox.warm DESCRIPTOR`. It never runs a line of a student's code itself.
A submission is three processes deep: a keeper, which only waits; the first process of its own namespace, whose end
ends all the others; and the server, where cells run.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import torch
from matplotlib import pyplot

from ..checks import Check, Draw
from .channel import ClosedError, receive, receive_descriptor, send
from .confine import confine, separate
from .limits import SCRATCH, Limits
from .pages import join_pages
from .server import serve, silence
from .shell import GradingShell
from .wire import pack, pack_outcome, unpack

WATCH_SECONDS = 0.03
SCARCE = 0.03  # of all memory
SPARE = 8  # short-lived processes of our own
KINDS = (torch.float32, torch.float64)
WORK = Path(SCRATCH) / "work"


def main(descriptor: int) -> None:
    """Open and close submissions until the other side has gone."""
    control = socket.socket(fileno=descriptor)
    shell = warmed()
    silence()
    send(control, pack({"ready": True}))
    while True:
        try:
            request, _ = unpack(receive(control, Limits.reply_bytes))
        except ClosedError:
            return
        if request["do"] == "open":
            send(control, pack({"pid": opened(control, shell, request)}))
        else:
            closed(request["pid"])
            send(control, pack({"closed": True}))


def warmed() -> Any:
    """Import and touch what every submission needs, with one thread, and keep it out of the garbage collector's way."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    shell = GradingShell.instance()
    shell.run("import torch\n(torch.ones(2, 2) @ torch.ones(2, 2)).softmax(-1).sum()", 2**16)
    figure = pyplot.figure()
    figure.add_subplot().imshow([[0.0, 1.0]])
    figure.canvas.draw()
    pyplot.close(figure)
    shell.reset(new_session=True)
    pack_outcome(Check("", "trial", 0, "", trial).values(None, 0))
    gc.collect()
    gc.freeze()
    join_pages()
    return shell


def trial(_work: Any, draw: Draw) -> Any:
    """Do what most checks do, so that what PyTorch loads at first use is there before the forks."""
    return [(draw.normal(2, 3, dtype=kind) @ draw.normal(3, 2, dtype=kind)).softmax(-1) for kind in KINDS]


def opened(control: socket.socket, shell: Any, request: dict[str, Any]) -> int:
    """Fork a submission's processes; return the first one's number."""
    descriptor = receive_descriptor(control)
    reading, writing = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        try:
            keep(shell, request, descriptor, writing)
        finally:
            os._exit(1)
    os.close(descriptor)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return int(pipe.read() or -keeper)


def keep(shell: Any, request: dict[str, Any], descriptor: int, writing: int) -> None:
    """Become the keeper: fork the first process of a new namespace and wait for its end.

    The kernel does not hold the superuser to a number of processes, and a grader may be one: so the keeper counts.
    """
    everything = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    before = len(os.listdir(everything))  # noqa: PTH208 - an open folder has no path
    separate()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    first = os.fork()
    if first == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.close(writing)
        begin(shell, request, descriptor)
    os.write(writing, str(first).encode())
    watched = os.dup2(everything, 3)
    os.closerange(4, 2**16)  # whoever waits at the other end of a socket must see it close
    while os.waitpid(first, os.WNOHANG) == (0, 0):
        crowded = len(os.listdir(watched)) > before + request["limits"]["processes"] + SPARE  # noqa: PTH208
        if crowded or memory_is_scarce(watched):
            os.kill(first, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, WATCH_SECONDS)
    os._exit(0)


def memory_is_scarce(proc: int) -> bool:
    """Say whether the computer has nearly no memory left, which is when a submission's processes have to go."""
    descriptor = os.open("meminfo", os.O_RDONLY, dir_fd=proc)
    words = os.read(descriptor, 200).split()  # MemTotal, MemFree, MemAvailable
    os.close(descriptor)
    return int(words[7]) < SCARCE * int(words[1])


def begin(shell: Any, request: dict[str, Any], descriptor: int) -> None:
    """Become the first process: give everything up, fork the server, wait for whatever is left behind."""
    try:
        os.dup2(descriptor, 3)
        os.closerange(4, 2**16)
        confine(Limits(**request["limits"]))
        WORK.mkdir()
        for name, text in request["files"].items():
            (WORK / Path(name).name).write_text(text, encoding="utf-8")
        os.chdir(WORK)
        if os.fork() == 0:
            torch.manual_seed(0)
            random.seed(0)
            serve(socket.socket(fileno=3), shell)
            os._exit(0)
        os.close(3)
        while True:
            os.wait()
    finally:
        os._exit(0)


def closed(first: int) -> None:
    """End a submission's processes, all at once, and forget them."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(abs(first), signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
