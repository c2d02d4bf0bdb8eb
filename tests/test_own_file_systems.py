"""A student can mount a file system of their own on what they hand in, and it answers as it likes."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from autograder.classroom import exchange as exchange_module
from autograder.classroom.deliveries import Exchange
from autograder.classroom.exchange import open_exchange
from autograder.classroom.reader import Reader

from .accounts import needs_accounts
from .test_exchange import (  # noqa: F401
    LEFT_OPEN,
    ada,
    bob,
    collect,
    collected,
    deliver,
    exchange,
    mallory,
    people,
)

pytestmark = [
    needs_accounts,
    pytest.mark.skipif(not os.access("/dev/fuse", os.W_OK), reason="no FUSE"),
    *(pytest.mark.filterwarnings(f"ignore::{name}") for name in LEFT_OPEN),
]


@contextmanager
def mounted_by(account, place: Path, more: str = "") -> Iterator[None]:
    """What `fusermount` does for its caller: a file system that only that account may look into, not even root."""
    libc, device = ctypes.CDLL(None, use_errno=True), os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={account.uid},group_id={account.gid}{more}".encode()
    if libc.mount(b"mallory", os.fsencode(place), b"fuse", 6, options):
        pytest.skip(os.strerror(ctypes.get_errno()))
    try:
        yield
    finally:
        libc.umount2(os.fsencode(place), 2)
        os.close(device)


def test_a_students_own_file_system_in_the_exchange_stops_nobody(scratch, exchange, bob, mallory, notebook) -> None:  # noqa: F811
    deliver(exchange, bob, notebook)
    with mounted_by(mallory, deliver(exchange, mallory, notebook)):
        lines = collect(scratch, exchange)
    assert collected(scratch) == ["bob"]
    assert "left out" in lines[0]


def test_nor_the_service(scratch, exchange, bob, mallory, notebook) -> None:  # noqa: F811
    deliver(exchange, bob, notebook)
    collector, lines = open_exchange(scratch), []
    collector.root = str(exchange)
    with mounted_by(mallory, deliver(exchange, mallory, notebook)):
        found = list(Exchange(scratch, collector).new(set(), lines.append))
    assert [one.student.split("-")[0] for one in found] == ["bob"]
    assert "cannot be read" in lines[0]


def test_one_that_never_answers_is_one_line(scratch, exchange, bob, mallory, notebook, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr("autograder.classroom.reader.is_mounted", lambda *_: False)  # as if it were mounted just now
    monkeypatch.setattr(exchange_module, "Reader", partial(Reader, 0.5))
    folder = deliver(exchange, mallory, notebook)
    deliver(exchange, bob, notebook)
    with mounted_by(mallory, folder, ",allow_other"):  # every call waits for an answer, and there is nobody to give it
        (line,) = collect(scratch, exchange)
    assert collected(scratch) == ["bob"]
    assert "does not answer" in line
