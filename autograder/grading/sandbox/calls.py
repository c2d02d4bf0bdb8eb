"""The system calls that a submission may make: what computing takes, and nothing beside it.

None of them starts a program, opens a pipe or a socket, wakes or counts somebody else's processes, or tells how the
computer and its page cache are doing: submissions are to learn nothing of one another. Sources: the kernel's tables of
system calls for x86-64 and for the generic numbering (arm64), and each call's manual page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Numbers = tuple[int | None, int | None]


@dataclass(frozen=True)
class OneOf:
    """A call that is allowed where an argument has one of these values.

    Args:
        argument: which one, from 0.
        values: as 32 bits, since the kernel reads no more of these arguments.
    """

    argument: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class Without:
    """A call that is allowed where an argument has none of these bits."""

    argument: int
    bits: int


@dataclass(frozen=True)
class Having:
    """A call that is allowed where an argument has this bit.

    Args:
        argument: which one, from 0.
        bit: the bit.
        again: values that are answered with "try again" instead.
    """

    argument: int
    bit: int
    again: tuple[int, ...]


@dataclass(frozen=True)
class Null:
    """A call that is allowed where a pointer is null."""

    argument: int


Rule = OneOf | Without | Having | Null

# by what they are for, each with its number on x86-64 and in the generic table, - where that has another form of it
CALLS = {
    "the channel to the judge, with which a process is born": (
        "read=0/63 write=1/64 sendto=44/206 recvfrom=45/207 recvmsg=47/212 getsockname=51/204 getpeername=52/205 "
        "poll=7/- ppoll=271/73 select=23/- pselect6=270/72 close=3/57"
    ),
    "memory": ("mmap=9/222 munmap=11/215 mprotect=10/226 mremap=25/216 brk=12/214 msync=26/227"),
    "time": (
        "clock_gettime=228/113 clock_getres=229/114 clock_nanosleep=230/115 nanosleep=35/101 gettimeofday=96/169 "
        "time=201/- times=100/153 getitimer=36/102 setitimer=38/103 alarm=37/-"
    ),
    "processes and threads: copies are forks, and PyTorch has threads": (
        "fork=57/- exit=60/93 exit_group=231/94 kill=62/129 tkill=200/130 tgkill=234/131 gettid=186/178 "
        "getpid=39/172 getppid=110/173 set_tid_address=218/96 set_robust_list=273/99 get_robust_list=274/100 "
        "rseq=334/293 sched_yield=24/124 sched_getaffinity=204/123 getcpu=309/168 getrlimit=97/163 "
        "getrandom=318/278 restart_syscall=219/128"
    ),
    "signals": (
        "rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigsuspend=130/133 rt_sigpending=127/136 "
        "rt_sigtimedwait=128/137 sigaltstack=131/132 pause=34/-"
    ),
    "files, of which its own folder alone can be written to": (
        "open=2/- openat=257/56 creat=85/- access=21/- faccessat=269/48 faccessat2=439/439 stat=4/- lstat=6/- "
        "fstat=5/80 newfstatat=262/79 statx=332/291 readlink=89/- readlinkat=267/78 getdents=78/- getdents64=217/61 "
        "getcwd=79/17 lseek=8/62 pread64=17/67 pwrite64=18/68 readv=19/65 writev=20/66 preadv=295/69 pwritev=296/70 "
        "ftruncate=77/46 truncate=76/45 dup=32/23 dup2=33/- dup3=292/24 close_range=436/436 chdir=80/49 "
        "fchdir=81/50 umask=95/166 mkdir=83/- mkdirat=258/34 rmdir=84/- unlink=87/- unlinkat=263/35 rename=82/- "
        "renameat=264/38 renameat2=316/276 link=86/- linkat=265/37 symlink=88/- symlinkat=266/36 chmod=90/- "
        "fchmod=91/52 fchmodat=268/53 utime=132/- utimes=235/- utimensat=280/88 listxattr=194/11 llistxattr=195/12 "
        "flistxattr=196/13 getxattr=191/8 lgetxattr=192/9 fgetxattr=193/10"
    ),
    "who it is": (
        "getuid=102/174 geteuid=107/175 getgid=104/176 getegid=108/177 getresuid=118/148 getresgid=120/150 "
        "getgroups=115/158 getpgid=121/155 getpgrp=111/- getsid=124/156 setsid=112/157 uname=63/160 capget=125/90"
    ),
}


def numbers_in(calls: str) -> Iterator[tuple[str, Numbers]]:
    """Yield each call with its numbers."""
    for call in calls.split():
        name, x86, generic = re.split("[=/]", call)
        yield name, (None if x86 == "-" else int(x86), None if generic == "-" else int(generic))


ALLOWED: dict[str, Numbers] = dict(pair for calls in CALLS.values() for pair in numbers_in(calls))

NEW_NAMESPACES, CLONE_PIDFD = 0x7E020000, 0x1000
FUTEX_PRIVATE_FLAG, FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_CLOCK_REALTIME = 128, 0, 9, 256

# calls of which only some forms are allowed
GUARDED: dict[str, tuple[Numbers, Rule]] = {
    # a futex on a page of a file wakes whoever else has that file mapped. A thread that joins another one waits for a
    # futex that is not called private; it tries again until the other one has ended
    "futex": (
        (202, 98),
        Having(1, FUTEX_PRIVATE_FLAG, (FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME)),
    ),
    # normal, random, sequential, don't need, free, [no] huge pages, [not] in a dump, guard pages: not what fills or
    # empties the page cache
    "madvise": ((28, 233), OneOf(2, (0, 1, 2, 4, 8, 14, 15, 16, 17, 102, 103))),
    # duplicate, flags: not locks, leases, notifications, and sizes of pipes, which belong to files or users
    "fcntl": ((72, 25), OneOf(1, (0, 1, 2, 3, 4, 1030))),
    # is it a terminal, how wide, how much can be read, non-blocking, [not] closed at exec
    "ioctl": ((16, 29), OneOf(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A))),
    # type, error, protocol, family: not cookies, which count the computer's sockets
    "getsockopt": ((55, 209), OneOf(2, (3, 4, 38, 39))),
    # signal at the parent's end, the name of a thread, and names of memory: not a new name of a thread, which all
    # accounts of the computer can read
    "prctl": ((157, 167), OneOf(0, (1, 2, 16, 0x53564D41))),
    # AMX, the matrix unit of some processors
    "arch_prctl": ((158, None), OneOf(0, (0x1021, 0x1022, 0x1023))),
    "clone": ((56, 220), Without(0, NEW_NAMESPACES | CLONE_PIDFD)),
    # who was waited for, but not what it used: faults tell what is in the page cache
    "wait4": ((61, 260), Null(3)),
    "waitid": ((247, 95), Null(4)),
    # limits can be read. Whoever could lower their own one on processes could count everybody's
    "prlimit64": ((302, 261), Null(2)),
}

# calls that do nothing here, and say that they have: the file system is memory
FEIGNED: dict[str, Numbers] = {"fsync": (74, 82), "fdatasync": (75, 83)}
