"""A seccomp filter: calls through which one submission could reach the next one, or the kernel. Linux only.

Sources: seccomp(2), prctl(2), the kernel's tables of system calls for x86-64 and for the generic numbering (arm64).
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4  # places in struct seccomp_data
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
X32 = 0x40000000  # the second numbering that x86-64 kernels accept
# keyrings outlive a submission; the others widen what can be attacked and are of no use here
REFUSED = ("add_key", "request_key", "keyctl", "bpf", "userfaultfd", "perf_event_open", "io_uring_setup")
MACHINES = {
    "x86_64": (0xC000003E, (248, 249, 250, 321, 323, 298, 425)),
    "aarch64": (0xC00000B7, (217, 218, 219, 280, 282, 241, 425)),
}


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter() -> None:
    """Refuse the calls for this process and all that come from it. Raises OSError where the kernel has no filters."""
    machine = platform.machine()
    if machine not in MACHINES:
        return
    code = program(machine)
    wanted = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: str) -> bytes:
    """Return the filter as the kernel's byte code: wrong architecture, then each refused number, then all others.

    A jump names how many instructions to skip where the comparison holds, and where it does not.
    """
    architecture, calls = MACHINES[machine]
    last = len(calls) - 1
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_IF_AT_LEAST, len(calls), 0, X32),
        *((JUMP_IF_EQUAL, last - i, int(i == last), call) for i, call in enumerate(calls)),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
