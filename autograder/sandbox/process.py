"""The backend without isolation: an ordinary child process.

It keeps a submission out of the grading process's memory, and no more than that.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .channel import receive
from .client import Session
from .limits import Limits

START_SECONDS = 120.0
SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


@contextmanager
def open_process(folder: Path, limits: Limits) -> Iterator[Session]:
    """Start a process for one submission and end it afterwards.

    Args:
        folder: its working directory.
        limits: how much it may use.
    """
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "autograder.sandbox.server", str(theirs.fileno())]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **SINGLE_THREAD},
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    theirs.close()
    try:
        receive(ours, limits.reply_bytes, START_SECONDS)
        yield Session(ours, limits, process.kill)
    finally:
        ours.close()
        process.kill()
        process.wait()
