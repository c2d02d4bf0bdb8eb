"""What a submission's process gives up, with the kernel's own calls. Linux only; runs inside bubblewrap.

Sources: clone(2), unshare(2), mount(2), capabilities(7), prctl(2), setrlimit(2).
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import resource
import signal
from pathlib import Path

from ..launch import SCRATCH
from .limits import Limits
from .seccomp import install_filter

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV = 2, 4
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SHARED_BY = 16  # submissions at a time, of one user
CAPABILITIES = 41
CAPABILITY_VERSION_3 = 0x20080522
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096
KEPT = {os.ST_NOSUID: 2, os.ST_NODEV: 4, os.ST_NOEXEC: 8, os.ST_NOATIME: 1024, os.ST_RELATIME: 1 << 21}
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")  # the computer's own, bound into the sandbox
HIDDEN = ("/proc", "/dev/shm", "/dev/pts")

CLONE = {"x86_64": 56, "aarch64": 220}

libc = ctypes.CDLL(None, use_errno=True)
holding_the_lock = ctypes.PyDLL(None, use_errno=True)


def check_result(result: int, what: str) -> None:
    """Raise OSError where a call of the C library failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def fork_in_new_namespace() -> int:
    """Fork like `os.fork`; the child is the first process of a process namespace of its own.

    Python has no call for clone(2), and unshare(2) would move all later children too. The C library does not learn of
    this fork, so the child must do no more than give things up and fork the ordinary way.

    Raises:
        OSError: the kernel refuses, or this kind of processor is unknown.
    """
    number = CLONE.get(platform.machine())
    if number is None:
        raise OSError(f"the sandbox supports {', '.join(CLONE)}, not {platform.machine()}")
    ctypes.pythonapi.PyOS_BeforeFork()
    child: int = holding_the_lock.syscall(number, CLONE_NEWPID | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        check_result(child, "clone")
    return child


def mount_tmpfs(path: str, size: int) -> None:
    """Put an empty file system over a folder."""
    options = f"size={size},nr_inodes=4096,mode=0755".encode()
    check_result(libc.mount(b"tmpfs", path.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options), f"mount {path}")


def remount_read_only(path: str) -> None:
    """Make one mount read-only, so that mode and times of a device cannot be changed; it still reads and writes."""
    flags = os.statvfs(path).f_flag
    kept = sum(mount for seen, mount in KEPT.items() if flags & seen)
    check_result(libc.mount(None, path.encode(), None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, None), f"freeze {path}")


def confine(limits: Limits) -> None:
    """Give up file systems, capabilities and resources, for this process and all that come from it."""
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    check_result(libc.unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET), "unshare")
    mount_tmpfs(SCRATCH, limits.file_bytes)
    for name in DEVICES:
        if os.path.ismount(f"/dev/{name}"):
            remount_read_only(f"/dev/{name}")
    for path in HIDDEN:
        mount_tmpfs(path, 4096)
    check_result(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient capabilities")
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    check_result(libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())), "capabilities")
    check_result(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    for limit, most in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_AS, mapped + limits.memory_bytes),  # shared memory too
        (resource.RLIMIT_NPROC, SHARED_BY * limits.processes),  # per user: `ResourceMonitor` counts per submission
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CPU, math.ceil(limits.total_seconds)),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_SIGPENDING, 0),  # queued signals are counted per user; without a queue there is no count
    ):
        resource.setrlimit(limit, (most, most))
    install_filter()
