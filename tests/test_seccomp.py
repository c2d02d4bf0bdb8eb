"""What the filter refuses inside a sandbox and nothing refuses outside, and that ordinary work goes on."""

import platform
from pathlib import Path

import psutil
import pytest

from autograder.grading.sandbox import BubblewrapSandbox, Limits, open_process
from autograder.grading.sandbox.calls import ALLOWED, FEIGNED, GUARDED, Numbers
from autograder.grading.sandbox.seccomp import MACHINES

from .conftest import needs_sandbox

pytestmark = needs_sandbox

# that tell one submission about another, reach other processes, start programs, connect, or escape limits
REFUSED = """
    accept accept4 add_key bind bpf cachestat capset chown chroot clone3 connect copy_file_range epoll_create1
    eventfd2 execve execveat fadvise64 fallocate fanotify_init fchownat flock fsmount fsopen fstatfs futex_waitv
    getrusage init_module inotify_add_watch inotify_init inotify_init1 io_setup io_submit io_uring_enter
    io_uring_register io_uring_setup ioprio_set kcmp kexec_load keyctl landlock_create_ruleset listen listmount
    lookup_dcookie mbind memfd_create memfd_secret migrate_pages mincore mknod mknodat mlock mlock2 mount move_mount
    move_pages mq_open msgget name_to_handle_at open_by_handle_at open_tree openat2 perf_event_open personality
    pidfd_getfd pidfd_open pidfd_send_signal pipe pipe2 pivot_root pkey_alloc preadv2 process_madvise
    process_vm_readv process_vm_writev ptrace pwritev2 quotactl readahead reboot remap_file_pages request_key
    rt_sigqueueinfo sched_setaffinity sched_setattr sched_setscheduler seccomp semget sendfile sendmmsg sendmsg
    setgid sethostname setns setpriority setrlimit setuid setxattr shmget signalfd4 socket socketpair splice statfs
    statmount swapon sync syncfs sysinfo syslog tee timer_create timerfd_create umount2 unshare userfaultfd vfork
    vmsplice
"""
# of those that the cell below makes: number on x86-64, number in the generic table
CALLED = {
    "getrusage": (98, 165),
    "io_setup": (206, 0),
    "mincore": (27, 232),
    "mlock": (149, 228),
    "openat2": (437, 437),
    "sendmsg": (46, 211),
    "splice": (275, 76),
    "syncfs": (306, 267),
    "sysinfo": (99, 179),
    "timer_create": (222, 107),
}
YOUNGEST, BEYOND = 424, 480  # from the first number on, calls that nothing lists are unknown
PROBES = {335, 336} if platform.machine() == "x86_64" else set()  # the kernel answers them itself, with a signal

CELL = """
import ctypes, errno, fcntl, mmap, os, resource, select, socket

libc = ctypes.CDLL(None, use_errno=True)
buffer, address = ctypes.create_string_buffer(4096), ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~3

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "syscall")

def refused(function):
    try:
        function()
    except OSError as error:
        return error.errno in (errno.EPERM, errno.ENOSYS) or errno.errorcode[error.errno]
    return False

held, page, limits = open("held", "w+"), mmap.mmap(-1, 4096), NUMBERS["prlimit64"]
held.write("x"), held.flush()
fd = held.fileno()
calls = {
    "pipe": os.pipe,
    "fifo": lambda: os.mkfifo("fifo"),
    "socketpair": socket.socketpair,
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "inet": lambda: socket.socket(socket.AF_INET),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "passed on": lambda: call(NUMBERS["sendmsg"], 99, 0, 0),
    "program": lambda: os.posix_spawn("/usr/bin/true", ["true"], {}),
    "memory left": lambda: call(NUMBERS["sysinfo"], buffer),
    "faults": lambda: call(NUMBERS["getrusage"], 0, buffer),
    "children's faults": lambda: os.wait3(os.WNOHANG),
    "disk left": lambda: os.statvfs("/usr"),
    "lower limit": lambda: (call(limits, 0, 6, None, buffer), call(limits, 0, 6, buffer, None)),
    "names cached": lambda: call(NUMBERS["openat2"], -100, b"/", ctypes.create_string_buffer(24), 24),
    "read if cached": lambda: call(NUMBERS["io_setup"], 1, ctypes.byref(ctypes.c_ulong(0))),
    "pages cached": lambda: call(NUMBERS["mincore"], address & ~4095, 1, buffer),
    "fill the cache": lambda: page.madvise(mmap.MADV_WILLNEED),
    "hint": lambda: os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED),
    "wake others": lambda: call(NUMBERS["futex"], ctypes.c_void_p(address), 1, 1),
    "flock": lambda: fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "lockf": lambda: fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "size of a pipe": lambda: fcntl.fcntl(fd, 1032),
    "typing": lambda: fcntl.ioctl(fd, 0x5412, b"x"),
    "memfd": lambda: os.memfd_create("x"),
    "fallocate": lambda: os.posix_fallocate(fd, 0, 10),
    "pidfd": lambda: os.pidfd_open(os.getpid()),
    "affinity": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)),
    "owner": lambda: os.chown("held", -1, -1),
    "eventfd": lambda: os.eventfd(0),
    "epoll": select.epoll,
    "sendfile": lambda: os.sendfile(fd, fd, 0, 0),
    "splice": lambda: call(NUMBERS["splice"], fd, 0, fd, 0, 1, 0),
    "copy": lambda: os.copy_file_range(fd, fd, 0),
    "sync": lambda: call(NUMBERS["syncfs"], fd),
    "timer": lambda: call(NUMBERS["timer_create"], 1, 0, buffer),
    "lock memory": lambda: call(NUMBERS["mlock"], address & ~4095, 1),
    "dumpable": lambda: call(NUMBERS["prctl"], 4, 1, 0, 0, 0),
    "own name": lambda: call(NUMBERS["prctl"], 15, ctypes.create_string_buffer(b"told"), 0, 0, 0),
}
print({name: refused(function) for name, function in calls.items()})
"""
RAW = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print({number: (libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) for number in NUMBERS.values()})
"""
FINE = """
import fcntl, os, threading, time, torch
thread = threading.Thread(target=lambda: None)
thread.start(), thread.join()
torch.set_num_threads(2)
x = torch.randn(1000, 1000)
y = (x @ x).exp()
torch.set_num_threads(1)
torch.save(torch.ones(2), "kept.pt")
with open("kept.pt", "rb") as kept:
    flags = fcntl.fcntl(kept, fcntl.F_GETFL) >= 0, os.fsync(kept.fileno())
if not (child := os.fork()):
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8, torch.load("kept.pt"), *flags, sorted(os.listdir()))
"""
TIMED = "%time sum(range(10**6))\n"
COLUMN = MACHINES[platform.machine()].column if platform.machine() in MACHINES else 0


LISTED = [ALLOWED, FEIGNED, {name: own for name, (own, _) in GUARDED.items()}]


def numbers(*tables: dict[str, Numbers]) -> dict[str, int]:
    """Return this processor's numbers by name."""
    return {name: own[COLUMN] for table in tables for name, own in table.items() if own[COLUMN] is not None}


def unlisted() -> dict[str, int]:
    """Return the numbers of all calls that a submission may not make, whatever they do, each as its own name."""
    return {str(n): n for n in range(BEYOND) if n not in {*numbers(*LISTED).values(), *PROBES}}


def printed_by(session, cell: str, named: dict[str, int]) -> str:
    outputs = session.run(f"NUMBERS = {named}\n{cell}").outputs
    return "".join(o.get("text", str(o)) for o in outputs)


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    sandbox = BubblewrapSandbox()
    try:
        with sandbox.session({}, Limits()) as session:
            known = numbers(CALLED, *LISTED)
            found = {"calls": printed_by(session, CELL, known), "raw": printed_by(session, RAW, unlisted())}
            return found | {cell: printed_by(session, cell, {}) for cell in (FINE, TIMED)}
    finally:
        sandbox.close()


def test_no_way_to_another_submission_is_open(printed: dict[str, str]) -> None:
    found = eval(printed["calls"])
    assert found == dict.fromkeys(found, True)


def test_without_the_filter_the_same_calls_are_not_refused() -> None:
    with open_process({}, Limits()) as session:
        found = eval(printed_by(session, CELL, numbers(CALLED, *LISTED)))
    assert [name for name, answer in found.items() if answer is True] == []


def test_what_is_not_listed_is_refused_and_young_calls_are_unknown(printed: dict[str, str]) -> None:
    found = eval(printed["raw"])
    assert found == {number: (-1, 38 if number >= YOUNGEST else 1) for number in unlisted().values()}
    assert len(found) > 200


def test_what_is_known_to_do_harm_is_not_on_the_list() -> None:
    assert not {*REFUSED.split(), *CALLED} & {*ALLOWED, *GUARDED, *FEIGNED}


def test_no_number_is_listed_twice() -> None:
    for column in (0, 1):
        listed = [own[column] for table in LISTED for own in table.values() if own[column] is not None]
        assert len(listed) == len(set(listed)) > 90


def test_ordinary_work_goes_on(printed: dict[str, str]) -> None:
    assert printed[FINE].strip() == "3 tensor([1., 1.]) True None ['held', 'kept.pt']"


def test_time_is_told_without_page_faults(printed: dict[str, str]) -> None:
    assert "CPU times" in printed[TIMED]


def test_submissions_do_not_share_a_network_namespace() -> None:
    sandbox = BubblewrapSandbox()
    try:
        with sandbox.session({}, Limits()), sandbox.session({}, Limits()):
            inside = psutil.Process(sandbox._launched.process.pid).children(recursive=True)
            spaces = [Path(f"/proc/{process.pid}/ns/net").stat().st_ino for process in inside]
    finally:
        sandbox.close()
    assert len(set(spaces)) >= 3  # the fork server's and one for each
