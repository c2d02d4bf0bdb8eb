"""Looking for a repair in the student's workspace: in a copy of the kernel that ends afterward.

The copy is a fork, so nothing that an edited definition does remains: no name, no random number, no print, no figure.
It may open no file, start no program, open no connection and ask nobody for input, and it has little memory and
little time. Where processes cannot be forked, as on Windows, no repair is looked for at home.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import linecache
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import torch

from ..judging.case import Seen
from ..judging.check import Check, Law
from ..judging.inputs import PUBLIC_SEED
from ..judging.repairs import Search
from ..judging.target import Target
from ..judging.trial import Trials, function_of
from ..judging.values import Outcome

TRIED = 1.2  # seconds of processor time for all trials: a fork has less to do afterward than a judge
LONGEST_RUN = 1.8  # seconds of processor time
LONGEST_WAIT = 5.0  # seconds by the clock, whatever the copy does
MEMORY = 2 * 2**30  # bytes more than the kernel has
MOST_REPLY_BYTES = 2**16
STATM = Path("/proc/self/statm")
FORBIDDEN_EVENTS = ("subprocess.", "socket.", "shutil.", "os.", "ftplib.", "urllib.", "webbrowser.", "ctypes.dlopen")
HARMLESS = ("os.listdir", "os.scandir", "os.putenv", "os.unsetenv", "os.fwalk", "os.walk")


class RefusedError(OSError):
    """An edited definition wanted to change something outside the copy."""


def defining_cell(work: Any) -> str:
    """Return the notebook cell that defines a function or a class; '' for what no cell defines."""
    function = function_of(work)
    file = function.__code__.co_filename if function else ""
    return "".join(linecache.getlines(file)) if "ipykernel" in file or "<ipython" in file else ""


def search_in_copy(
    cell: str,
    checks: Sequence[Check],
    targets: Sequence[Target],
    outcomes: Sequence[Outcome],
    names: Mapping[str, Any],
    calls: Collection[str] = (),
    laws: Sequence[Law] = (),
) -> Seen:
    """Return what was seen when a cell ran, as it is and edited."""
    if not cell or not hasattr(os, "fork"):
        return Seen()
    trials = Trials(names, checks[0].exercise, TRIED)

    def run(source: str, i: int) -> Outcome:
        return checks[i].summarize(trials.run(source, checks[i], PUBLIC_SEED))

    def trace(source: str, i: int) -> Outcome:
        return trials.run(source, checks[i], PUBLIC_SEED)

    def obeyed(source: str) -> dict[str, Outcome]:
        return {law.title: trials.run(source, law, PUBLIC_SEED) for law in laws}

    search = Search(cell, targets, outcomes, run, needed=calls, trace=trace, laws=obeyed)
    line = last_line_of_copy(lambda: (json.dumps(asdict(seen)) for seen in search.found()))
    return Seen(**json.loads(line)) if line else Seen()


def last_line_of_copy(lines: Callable[[], Iterable[str]]) -> str:
    """Fork, and return the last line that the copy has to say before its time is over."""
    inlet, outlet = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the copy needs none of them
        pid = os.fork()
    if pid == 0:
        speak(outlet, lines)
    os.close(outlet)
    try:
        told = read_until(inlet, time.monotonic() + LONGEST_WAIT)
    finally:
        os.close(inlet)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    complete = told.decode("utf-8", "replace").split("\n")[:-1]
    return complete[-1] if complete else ""


def read_until(inlet: int, ends: float) -> bytes:
    """Read what comes through a pipe until it is closed, or a moment has come."""
    told = b""
    while len(told) < MOST_REPLY_BYTES and (left := ends - time.monotonic()) > 0:
        if select.select([inlet], [], [], left)[0]:
            part = os.read(inlet, MOST_REPLY_BYTES)
            if not part:
                break
            told += part
    return told


def speak(outlet: int, lines: Callable[[], Iterable[str]]) -> NoReturn:
    """Be the copy: say the lines, and end without any of what a Python process does at its end."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        keep_from_harm()
        for line in lines():
            os.write(outlet, f"{line}\n".encode())
    finally:
        os._exit(0)


def keep_from_harm() -> None:
    """Give up what a trial does not need. It cannot be taken back, and need not be."""
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    sys.stdout = sys.stderr = io.StringIO()
    builtins.input = answer_nothing
    limit()
    sys.addaudithook(refuse)


def limit() -> None:
    """Limit the copy's memory, time and files, beyond what it watches itself.

    Without a descriptor left, libraries of C open nothing either; what was open before takes nothing more.
    """
    signal.setitimer(signal.ITIMER_PROF, LONGEST_RUN)  # ends the copy, also in the middle of a call of C
    import resource

    with contextlib.suppress(OSError, ValueError):  # macOS knows no such limit
        mapped = int(STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY,) * 2)
    for limited in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
        resource.setrlimit(limited, (0, 0))


def answer_nothing(_prompt: object = "") -> str:
    """Answer nothing."""
    raise RefusedError("Nobody is asked for input here.")


def refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    """Refuse what would change something outside the copy: an audit hook."""
    if event.startswith(FORBIDDEN_EVENTS) and event not in HARMLESS:
        raise RefusedError(f"{event} is not allowed here.")
