"""What the filter refuses inside a sandbox and nothing refuses outside, and that ordinary work goes on."""

import platform
from pathlib import Path

import psutil
import pytest

from autograder.grading.sandbox import BubblewrapSandbox, Limits, open_process, unavailable_reason
from autograder.grading.sandbox.calls import ALLOWED, FEIGNED, GUARDED
from autograder.grading.sandbox.seccomp import MACHINES

pytestmark = pytest.mark.skipif(bool(unavailable_reason()), reason=unavailable_reason() or "isolated")

# number on x86-64, number in the generic table
REFUSED = {
    # known to tell one submission about another, to reach other processes, or to escape limits
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
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "fallocate": (285, 47),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
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
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "personality": (135, 92),
    # what starts programs, connects, counts what all share, or moves data past the page cache's back
    "pipe": (22, None),
    "pipe2": (293, 59),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "bind": (49, 200),
    "listen": (50, 201),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "execve": (59, 221),
    "execveat": (322, 281),
    "vfork": (58, None),
    "clone3": (435, 435),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "setrlimit": (160, 164),
    "setpriority": (141, 140),
    "syslog": (103, 116),
    "sendfile": (40, 71),
    "splice": (275, 76),
    "tee": (276, 77),
    "vmsplice": (278, 75),
    "copy_file_range": (326, 285),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "openat2": (437, 437),
    "futex_waitv": (449, 449),
    "timer_create": (222, 107),
    "timerfd_create": (283, 85),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "signalfd4": (289, 74),
    "inotify_add_watch": (254, 27),
    "mlock": (149, 228),
    "mlock2": (325, 284),
    "mbind": (237, 235),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "process_madvise": (440, 440),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "chroot": (161, 51),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "quotactl": (179, 60),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "capset": (126, 91),
    "sethostname": (170, 161),
    "chown": (92, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "rt_sigqueueinfo": (129, 138),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "remap_file_pages": (216, 234),
    "lookup_dcookie": (212, 18),
    "pkey_alloc": (330, 289),
}

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
}
print({name: refused(function) for name, function in calls.items()})
"""
RAW = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print({name: (libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) for name, number in NUMBERS.items()})
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


def numbers() -> dict[str, int]:
    """Return this processor's numbers by name."""
    tables = REFUSED | ALLOWED | {name: own for name, (own, _) in GUARDED.items()}
    return {name: own[COLUMN] for name, own in tables.items() if own[COLUMN] is not None}


def printed_by(session, cell: str, only: set[str]) -> str:
    chosen = {name: number for name, number in numbers().items() if not only or name in only}
    outputs = session.run(f"NUMBERS = {chosen}\n{cell}").outputs
    return "".join(o.get("text", str(o)) for o in outputs)


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    sandbox = BubblewrapSandbox()
    try:
        with sandbox.session({}, Limits()) as session:
            found = {"calls": printed_by(session, CELL, set()), "raw": printed_by(session, RAW, set(REFUSED))}
            return found | {cell: printed_by(session, cell, set()) for cell in (FINE, TIMED)}
    finally:
        sandbox.close()


def test_no_way_to_another_submission_is_open(printed: dict[str, str]) -> None:
    found = eval(printed["calls"])
    assert found == dict.fromkeys(found, True)


def test_without_the_filter_the_same_calls_are_not_refused() -> None:
    with open_process({}, Limits()) as session:
        found = eval(printed_by(session, CELL, set()))
    assert [name for name, answer in found.items() if answer is True] == []


def test_what_is_not_listed_is_refused_and_young_calls_are_unknown(printed: dict[str, str]) -> None:
    found, here = eval(printed["raw"]), numbers()
    assert found.keys() >= {"ptrace", "execve", "socket", "io_setup"}
    assert found == {name: (-1, 38 if here[name] >= 424 else 1) for name in found}


def test_no_refused_call_is_on_the_list() -> None:
    assert not REFUSED.keys() & {*ALLOWED, *GUARDED, *FEIGNED}


def test_no_number_is_listed_twice() -> None:
    for column in (0, 1):
        tables = [*ALLOWED.values(), *FEIGNED.values(), *(numbers for numbers, _ in GUARDED.values())]
        listed = [numbers[column] for numbers in tables if numbers[column] is not None]
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
