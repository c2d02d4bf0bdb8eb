"""A seccomp filter of the calls in `calls`: the others are refused to a submission's processes.

Linux only. Sources: seccomp(2), prctl(2), linux/filter.h.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .calls import ALLOWED, FEIGNED, GUARDED, Having, Numbers, OneOf, Rule, Without

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, ARGUMENT_BYTES, HIGH_HALF = 0, 4, 16, 8, 4  # offsets in struct seccomp_data
ALLOW, ANSWER, KILL = 0x7FFF0000, 0x00050000, 0x80000000
SUCCESS, REFUSE, TRY_AGAIN, UNKNOWN = ANSWER, ANSWER | errno.EPERM, ANSWER | errno.EAGAIN, ANSWER | errno.ENOSYS
X32 = 0x40000000  # the second numbering that x86-64 kernels accept
YOUNGEST = 424  # from here on libraries try a call, and use an older one where the kernel does not know it

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True)
class Machine:
    """How a kind of processor numbers its calls: by which column of the table."""

    architecture: int
    column: int

    def numbers(self, table: dict[str, Numbers]) -> tuple[int, ...]:
        """Return the numbers of a table's calls."""
        column = (numbers[self.column] for numbers in table.values())
        return tuple(number for number in column if number is not None)


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter() -> None:
    """Refuse all other calls to this process and to all that come from it.

    Raises:
        OSError: the kernel has no filters, or this kind of processor is unknown.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(f"the sandbox supports {', '.join(MACHINES)}, not {platform.machine()}")
    code = program(machine)
    filter_program = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_program), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def program(machine: Machine) -> bytes:
    """Return the filter as the kernel's byte code.

    A jump names how many instructions to skip where the comparison holds, and where it does not. Each block below ends
    by falling through to the next, so that none has to know how long the others are. The guarded calls come first: of
    those that are always allowed the kernel knows without running the filter.
    """
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, machine.architecture),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_IF_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
    ]
    for numbers, rule in GUARDED.values():
        if (number := numbers[machine.column]) is not None:
            block = list(guarded(rule))
            lines += [(JUMP_IF_EQUAL, 0, len(block), number), *block]
    for table, answer in ((ALLOWED, ALLOW), (FEIGNED, SUCCESS)):
        for number in machine.numbers(table):
            lines += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    lines += [(JUMP_IF_AT_LEAST, 0, 1, YOUNGEST), (RETURN, 0, 0, UNKNOWN), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def guarded(rule: Rule) -> Iterator[Instruction]:
    """Yield what decides about one call by its argument; every way through it ends."""
    offset = FIRST_ARGUMENT + ARGUMENT_BYTES * rule.argument
    yield LOAD, 0, 0, offset
    if isinstance(rule, OneOf):
        for value in rule.values:
            yield from ((JUMP_IF_EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW))
    elif isinstance(rule, Having):
        yield from ((JUMP_IF_ANY_BIT, 0, 1, rule.bit), (RETURN, 0, 0, ALLOW))
        for value in rule.again:
            yield from ((JUMP_IF_EQUAL, 0, 1, value), (RETURN, 0, 0, TRY_AGAIN))
    elif isinstance(rule, Without):
        yield from ((JUMP_IF_ANY_BIT, 1, 0, rule.bits), (RETURN, 0, 0, ALLOW))
    else:
        yield from ((JUMP_IF_EQUAL, 0, 3, 0), (LOAD, 0, 0, offset + HIGH_HALF), (JUMP_IF_EQUAL, 0, 1, 0))
        yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, REFUSE
