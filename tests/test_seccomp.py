"""What the filter refuses inside a sandbox, and that ordinary work goes on."""

import pytest

from autograder.grading.sandbox import BubblewrapSandbox, Limits, unavailable_reason

pytestmark = pytest.mark.skipif(bool(unavailable_reason()), reason=unavailable_reason() or "isolated")

CELL = """
import errno, fcntl, os, socket, tempfile, mmap

def refused(call):
    try:
        call()
    except PermissionError:
        return True
    except OSError as error:
        return errno.errorcode[error.errno]
    return False

held = open("held", "w+")
vsock = getattr(socket, "AF_VSOCK", 40)
calls = {
    "inet": lambda: socket.socket(socket.AF_INET),
    "inet6": lambda: socket.socket(socket.AF_INET6),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "vsock": lambda: socket.socket(vsock, socket.SOCK_STREAM),
    "flock": lambda: fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "lockf": lambda: fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "memfd": lambda: os.memfd_create("x"),
    "fallocate": lambda: os.posix_fallocate(held.fileno(), 0, 10),
    "fadvise": lambda: os.posix_fadvise(held.fileno(), 0, 0, os.POSIX_FADV_DONTNEED),
    "pidfd": lambda: os.pidfd_open(os.getpid()),
}
print({name: refused(call) for name, call in calls.items()})
"""
FINE = """
import socket, subprocess, threading, torch
a, b = socket.socketpair()
a.sendall(b"x")
thread = threading.Thread(target=lambda: None)
thread.start(), thread.join()
torch.save(torch.ones(2), "kept.pt")
flags = __import__("fcntl").fcntl(a, __import__("fcntl").F_GETFL)
print(b.recv(1), subprocess.run(["true"]).returncode, torch.load("kept.pt"), flags > 0)
"""


@pytest.fixture(scope="module")
def printed() -> list[str]:
    sandbox = BubblewrapSandbox()
    try:
        with sandbox.session({}, Limits()) as session:
            return ["".join(o.get("text", str(o)) for o in session.run(cell).outputs) for cell in (CELL, FINE)]
    finally:
        sandbox.close()


def test_every_channel_to_other_submissions_is_refused(printed: list[str]) -> None:
    assert eval(printed[0]) == dict.fromkeys(eval(printed[0]), True)


def test_ordinary_work_goes_on(printed: list[str]) -> None:
    assert printed[1].strip() == "b'x' 0 tensor([1., 1.]) True"


def test_submissions_do_not_share_a_network_namespace() -> None:
    listen = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind(chr(0) + 'here')\ns.listen()"
    knock = "import socket\nprint(socket.socket(socket.AF_UNIX).connect_ex(chr(0) + 'here'))"
    sandbox = BubblewrapSandbox()
    try:
        with sandbox.session({}, Limits()) as one, sandbox.session({}, Limits()) as other:
            assert one.run(listen).success
            assert one.run(knock).outputs[0]["text"] == "0\n"  # the door is open to itself
            assert other.run(knock).outputs[0]["text"] != "0\n"
    finally:
        sandbox.close()
