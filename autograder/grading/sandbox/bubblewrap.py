"""The backend with isolation: a bubblewrap sandbox with a fork server, of which every submission is a fork."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import SandboxError
from .channel import receive, send, send_descriptor
from .codec import pack, unpack
from .limits import SCRATCH, Limits
from .session import Session, receive_ready

PACKAGE = Path(__file__).resolve().parents[2]
INSIDE = "/course"
TEMPORARY = "/tmp"
START_SECONDS = 120.0
OPEN_SECONDS = 20.0
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": f"{SCRATCH}/matplotlib",
    "PYTHONPATH": INSIDE,
    "PYTHONDONTWRITEBYTECODE": "1",
}


class BubblewrapSandbox:
    """A sandbox that opens sessions, one after another or several at once, for any number of threads.

    Starting takes seconds, and opening the first session waits for it.

    Args:
        limits: how much each submission may use.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turn = threading.RLock()  # one request at a time
        self._prepared: str | None = None
        self._ready = False
        self._control, theirs = socket.socketpair()
        server = [sys.executable, "-m", "autograder.grading.sandbox.fork_server", str(theirs.fileno())]
        self._process = subprocess.Popen(
            bubblewrap_command(server),
            env={},
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait for the fork server. Raises SandboxError with its last words where it does not start."""
        with self._turn:
            if self._ready:
                return
            try:
                receive_ready(self._control, self._limits, START_SECONDS)
            except SandboxError as error:
                raise SandboxError(f"The sandbox did not start: {self._stderr_tail()}") from error
            self._ready = True

    def prepare(self, checks: str) -> None:
        """Load a lesson's visible checks before its submissions are forked.

        Args:
            checks: the text of checks.py.
        """
        with self._turn:
            self.wait_until_ready()
            if self._prepared != checks:
                self._ask({"do": "prepare", "checks": checks})
                self._prepared = checks

    @contextmanager
    def session(self, files: Mapping[str, str]) -> Iterator[Session]:
        """Open one submission's process in a folder with the given files, and end everything of it afterwards."""
        self.wait_until_ready()
        ours, theirs = socket.socketpair()
        try:
            first = self._open(files, theirs)
        except SandboxError:
            ours.close()
            theirs.close()
            raise
        try:
            session = Session(ours, self._limits, receive_ready(ours, self._limits, OPEN_SECONDS))
            try:
                yield session
            finally:
                session.close_all()
        finally:
            ours.close()
            self._ask({"do": "close", "pid": first})

    def _open(self, files: Mapping[str, str], theirs: socket.socket) -> int:
        with self._turn:
            send(self._control, pack({"do": "open", "limits": asdict(self._limits), "files": dict(files)}))
            send_descriptor(self._control, theirs.fileno())
            theirs.close()
            return int(self._answer()["pid"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._turn:
            send(self._control, pack(request))
            return self._answer()

    def _answer(self) -> dict[str, Any]:
        return unpack(receive(self._control, self._limits.reply_bytes, OPEN_SECONDS))[0]

    def _stderr_tail(self) -> str:
        self._control.close()
        self._process.kill()
        _, text = self._process.communicate()
        return (text or b"").decode(errors="replace").strip()[-300:] or "it said nothing"

    def close(self) -> None:
        """End the sandbox and every process in it."""
        self._control.close()
        self._process.kill()
        self._process.communicate()


def bubblewrap_command(command: list[str]) -> list[str]:
    """Return the command line that runs a command in a sandbox: what it sees, and what it may."""
    seen = [part for path in readable_folders() for part in ("--ro-bind", path, path)]
    linked = {path: path.readlink() for path in map(Path, SYSTEM) if path.is_symlink()}
    links = [part for path, target in linked.items() for part in ("--symlink", str(target), str(path))]
    if not any(Path(path).is_relative_to(TEMPORARY) for path in readable_folders()):
        links += ["--symlink", SCRATCH, TEMPORARY]
    settings = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    apart = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--unshare-cgroup-try",
    ]
    return [
        *("bwrap", *apart, "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"),
        *("--uid", "65534", "--gid", "65534", "--hostname", "sandbox"),
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
        *(*links, *seen, "--proc", "/proc", "--dev", "/dev", "--tmpfs", SCRATCH),
        *("--ro-bind", str(PACKAGE), f"{INSIDE}/autograder", "--remount-ro", "/dev", "--remount-ro", "/"),
        *(*settings, "--chdir", SCRATCH, "--", *command),
    ]


def readable_folders() -> list[str]:
    """Return the folders of the system and of Python that a submission needs to see."""
    python = {sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}
    system = {path for path in SYSTEM if Path(path).exists() and not Path(path).is_symlink()}
    paths = sorted({str(Path(p).absolute()) for p in python} | system)
    return [p for p in paths if not any(p != q and Path(p).is_relative_to(q) for q in paths)]


@lru_cache(maxsize=1)
def unavailable_reason() -> str:
    """Say why submissions cannot be isolated on this computer; '' where they can."""
    if not sys.platform.startswith("linux"):
        return f"bubblewrap does not exist for {sys.platform}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: `apt install bubblewrap`)"
    with tempfile.TemporaryFile() as errors:
        trial = subprocess.run(bubblewrap_command(["/usr/bin/true"]), env={}, stdout=errors, stderr=errors, check=False)
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
    return (
        "" if trial.returncode == 0 else f"bubblewrap does not work here ({words[-1] if words else 'no reason given'})"
    )
