"""The backend without isolation: an ordinary child process.

It keeps a submission out of the grading process's memory, and no more than that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .channel import announcing
from .limits import Limits
from .session import START_SECONDS, SandboxSession, connected_session

SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


@contextmanager
def open_process(files: Mapping[str, bytes], limits: Limits) -> Iterator[SandboxSession]:
    """Start a process for one submission and end it afterwards.

    Args:
        files: what lies in its working directory, by name.
        limits: how much it may use; only times and sizes of messages are enforced.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        with started(Path(folder), limits) as session:
            yield session


@contextmanager
def started(folder: Path, limits: Limits) -> Iterator[SandboxSession]:
    """Start the process in a folder."""
    near, far = socket.socketpair()
    announcing(near)
    command = [sys.executable, "-m", "autograder.grading.sandbox.server", str(far.fileno())]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **SINGLE_THREAD},
        pass_fds=(far.fileno(),),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    far.close()
    try:
        with connected_session(near, limits, START_SECONDS) as session:
            yield session
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
