"""Starting a sandbox: what bubblewrap lets it see and do. Imports nothing heavy, so that it can be the first step."""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path

from .cgroup import memory_groups

SCRATCH = "/scratch"  # all that an isolated submission may write to
PACKAGE = Path(__file__).resolve().parents[1]
INSIDE = "/course"
PACKAGES = ("/packages", "/packages-of-the-platform")  # what is installed; its own place may be in the checkout
# what runs beside a submission, and what a lesson imports. What asks a student something is not run when graded
OWN = (
    *("__init__.py", "checks.py", "errors.py", "judging", "plot", "student/__init__.py", "student/predict.py"),
    *("grading/__init__.py", "grading/cgroup.py", "grading/launch.py", "grading/sandbox", "grading/untrusted.py"),
)
# these say where the environment and the packages that are being worked on have their places
TELLING = ("*.pth", "__editable__*", "*.egg-link", "*.dist-info/direct_url.json")
TEMPORARY = "/tmp"
FORK_SERVER = "autograder.grading.sandbox.fork_server"
SYSTEM = (
    *("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share/fonts", "/usr/share/zoneinfo", "/bin", "/lib", "/lib64"),
    *("/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives"),
)
PYTHON = ("bin", "lib", "lib64")  # of the interpreter that an environment was made from
SUPPORTED_MACHINES = ("x86_64", "aarch64")
TOO_OLD = "Unknown option"
FORBIDDEN = ("Permission denied", "Operation not permitted", "No permissions", "Creating new namespace failed")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": SCRATCH,
    "TMPDIR": SCRATCH,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": f"{SCRATCH}/matplotlib",
    "PYTHONPATH": ":".join((INSIDE, *PACKAGES)),
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LESSON_STEPS": "8",  # of a training that takes minutes at a desk
}


@dataclass
class Launched:
    """A fork server that is starting, and the socket to it."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def close(self) -> None:
        """End it, and every process in its sandbox. Several threads may find at once that it broke."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()

    def stop_and_read_errors(self) -> str:
        """End it; return the end of what it wrote to stderr."""
        self.control.close()
        self.process.kill()
        try:
            _, text = self.process.communicate()
        except ValueError:  # another thread has closed it already
            return "it was stopped"
        return (text or b"").decode(errors="replace").strip()[-300:] or "it said nothing"


_early: list[Launched] = []
# bubblewrap ends with the thread that started it, so that is one which lasts as long as this process
_starter = ThreadPoolExecutor(1, thread_name_prefix="sandbox")


def launch() -> Launched:
    """Start a fork server in a sandbox of its own. It is ready some seconds later."""
    control, far = socket.socketpair()
    with far, memory_groups() as groups:
        descriptors = [far.fileno(), *(number for group in groups for number in astuple(group))]
        try:
            process = subprocess.Popen(
                bubblewrap_command([interpreter(), "-S", "-m", FORK_SERVER, str(far.fileno()), *map(str, groups)]),
                env={},
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError:
            control.close()
            raise
    return Launched(process, control)


def interpreter() -> str:
    """Return the path of the Python that the environment was made from: the environment's own tells where it is."""
    return str(Path(sys.base_prefix).absolute() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def launch_early() -> None:
    """Start a fork server for the first caller of `take_or_launch`: both sides need seconds to import PyTorch."""
    if not _early and not unavailable_reason():
        _early.append(_starter.submit(launch).result())
        atexit.register(end_what_nobody_took)


def end_what_nobody_took() -> None:
    """End a fork server that was started early and never used."""
    while _early:
        _early.pop().close()


def take_or_launch() -> Launched:
    """Return the fork server that was started early, or start one."""
    return _early.pop() if _early else _starter.submit(launch).result()


def bubblewrap_command(command: list[str]) -> list[str]:
    """Return the command line that runs a command in a sandbox: what it sees, and what it may."""
    seen = [part for path in readable_folders() for part in ("--ro-bind", path, path)]
    linked = {path: path.readlink() for path in map(Path, SYSTEM) if path.is_symlink()}
    links = [part for path, target in linked.items() for part in ("--symlink", str(target), str(path))]
    if not any(Path(path).is_relative_to(TEMPORARY) for path in readable_folders()):
        links += ["--symlink", SCRATCH, TEMPORARY]
    settings = [part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)]
    apart = [f"--unshare-{namespace}" for namespace in ("user", "pid", "ipc", "uts", "net", "cgroup-try")]
    return [
        *(shutil.which("bwrap") or "bwrap", *apart, "--disable-userns", "--die-with-parent", "--new-session"),
        "--clearenv",
        *("--uid", "65534", "--gid", "65534", "--hostname", "sandbox"),
        *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
        *(*links, *seen, *packages(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", SCRATCH),
        *(part for name in OWN for part in ("--ro-bind", str(PACKAGE / name), f"{INSIDE}/autograder/{name}")),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *(*settings, "--chdir", SCRATCH, "--", *command),
    ]


def readable_folders() -> list[str]:
    """Return the folders of the system and of Python that a submission needs to see, and no more of either."""
    python = {Path(sys.base_prefix).absolute() / part for part in PYTHON}
    folders = {*map(Path, SYSTEM), *python, Path(sysconfig.get_path("stdlib")).absolute()}
    folders = {path for path in folders if path.exists() and not path.is_symlink()}
    return sorted(str(p) for p in folders if not any(p != q and p.is_relative_to(q) for q in folders))


def packages() -> Iterator[str]:
    """Yield bubblewrap's options for what is installed, without the files that tell where something else is."""
    for installed, shown_as in zip(installed_folders(), PACKAGES, strict=False):
        yield from ("--ro-bind", str(installed), shown_as)
        seen_as = [shown_as, *([str(installed)] if is_in_view(installed, readable_folders()) else [])]
        telling = [path.relative_to(installed) for pattern in TELLING for path in sorted(installed.glob(pattern))]
        for folder in seen_as:
            for path in telling:
                yield from ("--ro-bind", os.devnull, f"{folder}/{path}")


def installed_folders() -> list[Path]:
    """Return where packages are installed: in most environments all of them in one folder."""
    return sorted({Path(sysconfig.get_path(scheme)).resolve() for scheme in ("purelib", "platlib")})


def is_in_view(folder: Path, shown: Iterable[str] | None = None) -> bool:
    """Say whether a submission could read a folder, because it is part of what Python needs.

    Args:
        folder: the folder.
        shown: what a submission sees; by default all that it does.
    """
    shown = [*readable_folders(), *map(str, installed_folders())] if shown is None else shown
    return any(folder.resolve().is_relative_to(Path(path).resolve()) for path in shown)


@lru_cache(maxsize=1)
def unavailable_reason() -> str:
    """Say why submissions cannot be isolated on this computer; '' where they can."""
    if not sys.platform.startswith("linux"):
        return f"bubblewrap does not exist for {sys.platform}"
    if platform.machine() not in SUPPORTED_MACHINES:
        return f"the sandbox supports {' and '.join(SUPPORTED_MACHINES)}, not {platform.machine()}"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: `apt install bubblewrap`)"
    with tempfile.TemporaryFile() as errors:
        trial = subprocess.run(bubblewrap_command(["/usr/bin/true"]), env={}, stdout=errors, stderr=errors, check=False)
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
    return "" if trial.returncode == 0 else bwrap_error_text(words[-1] if words else "no reason given")


def bwrap_error_text(words: str) -> str:
    """Say what is wrong with bubblewrap here, in words that help."""
    if TOO_OLD in words:
        return f"bubblewrap is too old, 0.8 or newer is needed ({words})"
    if any(sign in words for sign in FORBIDDEN):
        return f"this system does not let bubblewrap make user namespaces, as in many containers ({words})"
    return f"bubblewrap does not work here ({words})"
