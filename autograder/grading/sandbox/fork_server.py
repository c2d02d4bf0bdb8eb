"""The process inside bubblewrap that has everything imported, and of which every submission is a fork.

Started by `bubblewrap` as `python -m autograder.grading.sandbox.fork_server DESCRIPTOR [GROUP ...]`. It never runs a
line of a student's code. A submission is two processes deep: the first of its own namespace, whose end ends all the
others, and the server, where cells run. Between requests the fork server watches what they use.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import PathEntryFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

import torch
from matplotlib import pyplot
from torch import Tensor

from ...judging.check import Check, load_for_meta
from ...judging.inputs import Inputs
from ...judging.operators import is_frozen
from ..cgroup import MemoryGroup
from ..launch import SCRATCH
from .channel import ClosedError, receive, receive_descriptor, send
from .codec import pack, pack_outcome, unpack
from .confine import confine, fork_in_new_namespace
from .huge_pages import collapse_huge_pages
from .limits import Limits
from .monitor import ResourceMonitor
from .server import answer_requests, initialize, load_visible, redirect_standard_streams
from .shell import GradingShell
from .usage import replace_getrusage

WATCH_SECONDS = 0.03
WARM_UP_DTYPES = (torch.float32, torch.float64)
FIRST_CELL = """
import torch
from autograder import check, plot, predict, recap, reveal
(torch.ones(2, 2) @ torch.ones(2, 2)).softmax(-1).sum()
"""
WORK = Path(SCRATCH) / "work"


def main(descriptor: int, groups: Sequence[MemoryGroup]) -> None:
    """Open and close submissions until the other side has gone.

    Args:
        descriptor: the socket to it.
        groups: the control groups that limit memory, as far as there are any.
    """
    control = socket.socket(fileno=descriptor)
    shell = preload()
    redirect_standard_streams()
    monitor = ResourceMonitor(groups)
    send(control, pack({"ready": os.getpid()}))
    while True:
        if not select.select([control], [], [], WATCH_SECONDS if monitor.submissions else None)[0]:
            monitor.end_the_excessive()
            continue
        try:
            request, contents = unpack(receive(control, Limits.reply_bytes))
        except ClosedError:
            return
        if request["do"] == "prepare":
            prepare(request["checks"])
            send(control, pack({"prepared": True}))
        elif request["do"] == "open":
            pid = fork_submission(control, shell, request, contents)
            monitor.submissions[pid] = int(request["limits"]["processes"])
            send(control, pack({"pid": pid}))
        else:
            ended = monitor.forget(request["pid"])
            end_submission(request["pid"])
            send(control, pack({"closed": True, "ended": ended}))


def preload() -> Any:
    """Import and touch what every submission needs, with one thread, and keep it out of the garbage collector's way."""
    initialize()
    replace_getrusage()
    shell = GradingShell.instance()
    shell.run(FIRST_CELL, 2**16)
    figure = pyplot.figure()
    figure.add_subplot().imshow([[0.0, 1.0]])
    figure.canvas.draw()
    pyplot.close(figure)
    shell.reset(new_session=True)
    pack_outcome(Check("", "trial", 0, "", trial).values(None, 0, record=True))
    make_forks_cheap()
    return shell


def prepare(checks: str) -> None:
    """Load a lesson's visible checks, so that no submission has to."""
    with contextlib.suppress(Exception):  # a submission that needs them reports what is wrong with them
        load_visible(checks)
        load_for_meta(checks)
    make_forks_cheap()


def make_forks_cheap() -> None:
    """Make forks cheap: nothing for the garbage collector to touch, and few pages."""
    gc.collect()
    gc.freeze()
    is_frozen()
    collapse_huge_pages()


def trial(_work: Any, draw: Inputs) -> Any:
    """Do what most checks do, so that what PyTorch loads at first use is there before the forks."""
    return [(draw.normal(2, 3, dtype=dtype) @ draw.normal(3, 2, dtype=dtype)).softmax(-1) for dtype in WARM_UP_DTYPES]


def fork_submission(control: socket.socket, shell: Any, request: dict[str, Any], files: Mapping[str, Tensor]) -> int:
    """Fork the first process of a new namespace; return its number."""
    descriptor = receive_descriptor(control)
    first = fork_in_new_namespace()
    if first == 0:
        start_submission(shell, request, files, descriptor)
    os.close(descriptor)
    return first


def start_submission(shell: Any, request: dict[str, Any], files: Mapping[str, Tensor], descriptor: int) -> None:
    """Become a submission's first process: give everything up, fork the server, wait for whatever is left behind."""
    try:
        os.dup2(descriptor, 3)
        os.closerange(4, 2**16)
        confine(Limits(**request["limits"]))
        WORK.mkdir()
        for name, content in files.items():
            path = WORK / Path(name).name
            path.write_bytes(content.numpy().tobytes())
            path.chmod(0o444)
        os.chdir(WORK)
        import_nothing_written({f"{WORK}/{name}": content.numpy().tobytes() for name, content in files.items()})
        if os.fork() == 0:
            initialize()
            answer_requests(socket.socket(fileno=3), shell)
            os._exit(0)
        os.close(3)
        while True:
            os.wait()
    finally:
        os._exit(0)


def import_nothing_written(files: Mapping[str, bytes]) -> None:
    """Let a submission import what is installed, and the lesson's modules as they were: no file that it writes.

    Args:
        files: the lesson's, by path.
    """
    sys.path[:] = [path for path in sys.path if path not in ("", SCRATCH)]
    folders = list(sys.path)

    def refuse(path: str) -> WrittenFolder:
        shown = Path(os.path.normpath(Path(path).absolute()))  # a link that is followed now may lead elsewhere later
        if any(shown.is_relative_to(folder) for folder in folders):
            raise ImportError  # the next hook finds what is there
        return WrittenFolder()

    sys.path_hooks.insert(0, refuse)
    sys.path_importer_cache.clear()
    sys.meta_path.append(LessonModules(files))


class WrittenFolder(PathEntryFinder):
    """A folder in which no module is found, because a submission may write there."""


class LessonModules(SourceLoader):
    """Finds a lesson's modules as they were handed over, whatever has become of their files.

    Args:
        files: contents by path.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module comes from, if it is one of the lesson's."""
        file = self.get_filename(fullname)
        return spec_from_file_location(fullname, file, loader=self) if file in self._files else None

    def get_filename(self, fullname: str) -> str:
        """Return the path of a module's file."""
        return f"{WORK}/{fullname}.py"

    def get_data(self, path: str | bytes) -> bytes:
        """Return a file's content."""
        return self._files[os.fsdecode(path)]


def end_submission(first: int) -> None:
    """End a submission's processes, all at once, and forget them."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(first, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(first, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), [MemoryGroup.parse(word) for word in sys.argv[2:]])
