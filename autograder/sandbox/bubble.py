"""The backend with isolation: one bubblewrap sandbox with a warm process, from which every submission is forked."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import SandboxError
from .channel import receive, send, send_descriptor
from .client import Session
from .limits import SCRATCH, Limits
from .wire import pack, unpack

PACKAGE = Path(__file__).resolve().parent.parent
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


class Bubble:
    """A sandbox that opens sessions, one after another or several at once.

    Args:
        limits: how much each submission may use.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._control, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            bubblewrap([sys.executable, "-m", "autograder.sandbox.warm", str(theirs.fileno())]),
            env={},
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        try:
            receive(self._control, limits.reply_bytes, START_SECONDS)
        except SandboxError as error:
            raise SandboxError(f"The sandbox did not start: {self._last_words()}") from error

    def _last_words(self) -> str:
        self._control.close()
        self._process.kill()
        _, text = self._process.communicate()
        return (text or b"").decode(errors="replace").strip()[-300:] or "it said nothing"

    @contextmanager
    def session(self, files: Mapping[str, str]) -> Iterator[Session]:
        """Open one submission's process in a folder with the given files, and end everything of it afterwards."""
        ours, theirs = socket.socketpair()
        try:
            pid = self._open(files, theirs)
        except SandboxError:
            ours.close()
            theirs.close()
            raise
        try:
            receive(ours, self._limits.reply_bytes, OPEN_SECONDS)
            session = Session(ours, self._limits)
            try:
                yield session
            finally:
                session.close_all()
        finally:
            ours.close()
            self._ask({"do": "close", "pid": pid})

    def _open(self, files: Mapping[str, str], theirs: socket.socket) -> int:
        send(self._control, pack({"do": "open", "limits": asdict(self._limits), "files": dict(files)}))
        send_descriptor(self._control, theirs.fileno())
        theirs.close()
        return int(self._answer()["pid"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        send(self._control, pack(request))
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        return unpack(receive(self._control, self._limits.reply_bytes, OPEN_SECONDS))[0]

    def close(self) -> None:
        """End the sandbox and every process in it."""
        self._control.close()
        self._process.kill()
        self._process.communicate()


def bubblewrap(command: list[str]) -> list[str]:
    """Return the command line that runs a command in a sandbox: what it sees, and what it may."""
    seen = [part for path in visible() for part in ("--ro-bind", path, path)]
    linked = {path: path.readlink() for path in map(Path, SYSTEM) if path.is_symlink()}
    links = [part for path, target in linked.items() for part in ("--symlink", str(target), str(path))]
    if not any(Path(path).is_relative_to(TEMPORARY) for path in visible()):
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


def visible() -> list[str]:
    """Return the folders of the system and of Python that a submission needs to see."""
    python = {sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}
    system = {path for path in SYSTEM if Path(path).exists() and not Path(path).is_symlink()}
    paths = sorted({str(Path(p).absolute()) for p in python} | system)
    return [p for p in paths if not any(p != q and Path(p).is_relative_to(q) for q in paths)]


@lru_cache(maxsize=1)
def missing() -> str:
    """Say why submissions cannot be isolated on this computer; '' where they can."""
    if not sys.platform.startswith("linux"):
        return f"bubblewrap does not exist for {sys.platform}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: `apt install bubblewrap`)"
    with tempfile.TemporaryFile() as errors:
        trial = subprocess.run(bubblewrap(["/usr/bin/true"]), env={}, stdout=errors, stderr=errors, check=False)
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
    return (
        "" if trial.returncode == 0 else f"bubblewrap does not work here ({words[-1] if words else 'no reason given'})"
    )
