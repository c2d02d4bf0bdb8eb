"""A seccomp filter: calls through which one submission could reach the next one, other processes, or the kernel.

Linux only. Sources: seccomp(2), prctl(2), the kernel's tables of system calls for x86-64 and for the generic numbering
(arm64).
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from dataclasses import dataclass

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # places in struct seccomp_data
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
X32 = 0x40000000  # the second numbering that x86-64 kernels accept
AF_UNIX = 1
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # fcntl's locks, leases and notifications: they belong to files

# name: number on x86-64, number in the generic table, which lacks calls that have a younger form
REFUSED: dict[str, tuple[int, int | None]] = {
    # these outlive a submission, or can be seen from another one
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "flock": (73, 32),
    "mincore": (27, 232),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "cachestat": (451, 451),
    "preadv2": (327, 286),  # with RWF_NOWAIT they tell what is in the page cache
    "pwritev2": (328, 287),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # memory that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "fallocate": (285, 47),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    # namespaces and mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "statmount": (457, 457),
    "listmount": (458, 458),
    # these widen what can be attacked, and are of no use here
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "personality": (135, 92),
}


@dataclass(frozen=True)
class Machine:
    """How a kind of processor numbers its calls."""

    architecture: int
    column: int
    socket: int
    fcntl: int

    @property
    def refused(self) -> tuple[int, ...]:
        """The numbers of the calls that are refused whatever they are called with."""
        found = (numbers[self.column] for numbers in REFUSED.values())
        return tuple(number for number in found if number is not None)


MACHINES = {"x86_64": Machine(0xC000003E, 0, 41, 72), "aarch64": Machine(0xC00000B7, 1, 198, 25)}


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter() -> None:
    """Refuse the calls for this process and all that come from it.

    Raises:
        OSError: the kernel has no filters, or this kind of processor is unknown.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(f"the sandbox supports {', '.join(MACHINES)}, not {platform.machine()}")
    code = program(machine)
    wanted = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: Machine) -> bytes:
    """Return the filter as the kernel's byte code.

    A jump names how many instructions to skip where the comparison holds, and where it does not. Each block below ends
    by falling through to the next, so that none has to know how long the others are.
    """
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, machine.architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_IF_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
        # a socket of any family but one
        (JUMP_IF_EQUAL, 0, 4, machine.socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_IF_EQUAL, 1, 0, AF_UNIX),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
        # a lock
        (JUMP_IF_EQUAL, 0, len(LOCKS) * 2 + 2, machine.fcntl),
        (LOAD, 0, 0, SECOND_ARGUMENT),
        *(line for lock in LOCKS for line in ((JUMP_IF_EQUAL, 0, 1, lock), (RETURN, 0, 0, REFUSE))),
        (RETURN, 0, 0, ALLOW),
        *(line for call in machine.refused for line in ((JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, REFUSE))),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
