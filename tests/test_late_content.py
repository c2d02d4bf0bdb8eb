"""A write that began in time keeps its time, whenever its content comes. So what is graded is what was seen first."""

from datetime import timedelta
from pathlib import Path

import pytest

from autograder.classroom import deliveries
from autograder.classroom import exchange as exchange_module
from autograder.classroom.attempt_writer import Work
from autograder.classroom.attempts import COPIES, forget_attempts
from autograder.classroom.deliveries import SETTLED_SECONDS
from autograder.classroom.rules import now_utc
from autograder.classroom.serve import HandInService

from .conftest import LESSON
from .test_serve import UNSAFE, NeverDone, exchange, hand_in, pytestmark, reader  # noqa: F401

NOTEBOOK, SECRET = f"{LESSON}.ipynb", "submission_secret.txt"
IN_TIME = now_utc() - timedelta(hours=1)


@pytest.fixture
def service(reader: HandInService, monkeypatch) -> HandInService:  # noqa: F811
    """A service that never finishes grading, and a file system on which all was handed in an hour ago."""
    monkeypatch.setattr(exchange_module, "changed_at", lambda _: IN_TIME)
    return reader


def folder_of(service: HandInService) -> Path:
    (folder,) = service.exchange.inbound.iterdir()
    return folder


def chosen(service: HandInService) -> Work:
    service.start()
    (work,) = service._running.values()
    return work


def test_what_comes_after_the_first_look_is_not_graded(service, exchange) -> None:  # noqa: F811
    hand_in(exchange, "ada", "{}")
    service.look()
    (folder_of(service) / NOTEBOOK).write_text("late")
    work = chosen(service)
    assert work.files[NOTEBOOK] == b"{}"
    assert work.arrived == IN_TIME


def test_nor_by_the_process_after_this_one(service, exchange) -> None:  # noqa: F811
    hand_in(exchange, "ada", "{}")
    service.look()
    (folder_of(service) / NOTEBOOK).write_text("late")
    another = HandInService(service.course, NeverDone(), 1, UNSAFE, print)
    another.look()
    assert chosen(another).files[NOTEBOOK] == b"{}"


def test_what_could_not_be_copied_counts_from_when_it_could(service, exchange) -> None:  # noqa: F811
    hand_in(exchange, "ada", "{}")
    notebook = folder_of(service) / NOTEBOOK
    notebook.unlink()
    service.look()
    notebook.write_text("late")
    before = now_utc()
    assert chosen(service).arrived >= before


def test_it_is_tried_again_at_each_look_and_not_for_ever(service, exchange, monkeypatch) -> None:  # noqa: F811
    hand_in(exchange, "ada", "{}")
    notebook = folder_of(service) / NOTEBOOK
    notebook.unlink()
    service.look()
    notebook.write_text("late")
    for seconds, copied in ((SETTLED_SECONDS + 1, False), (0, True)):
        with monkeypatch.context() as patched:
            now = service._waiting[LESSON, "ada"][0].seen + seconds
            patched.setattr("autograder.classroom.deliveries.time.monotonic", lambda now=now: now)
            service.look()
        assert bool(list(service.course.attempts.glob(f"{COPIES}/ada/*/submitted/ada/{LESSON}/{NOTEBOOK}"))) is copied


def test_nobody_gains_time_by_folders_that_were_not_looked_at(service, exchange, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr("autograder.classroom.deliveries.FOLDERS_AT_A_LOOK", 1)
    service.look()
    before = now_utc()
    for _ in range(2):
        hand_in(exchange, "ada", "{}")
    for _ in range(2):
        service.look()
    deliveries = service._waiting[LESSON, "ada"]
    assert [each.arrived == IN_TIME for each in deliveries] == [True, False]  # or no pause would come between
    first, second = (delivered.read() for delivered in deliveries)
    assert first["timestamp.txt"].decode() == IN_TIME.strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    assert second["timestamp.txt"].decode() >= before.strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def test_what_was_put_off_is_looked_at_however_long_that_takes(service, exchange, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(deliveries, "FOLDERS_AT_A_LOOK", 1)
    monkeypatch.setattr(deliveries, "FRESH_SECONDS", -1.0)  # as if the others' work had taken longer
    for student in ("ada", "bob"):
        hand_in(exchange, student, "{}")
    for _ in range(2):
        service.look()
    assert sorted(student for _, student in service._waiting) == ["ada", "bob"]


def test_who_was_in_time_while_nobody_served_is_in_time(service, exchange, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr("autograder.classroom.deliveries.FOLDERS_AT_A_LOOK", 1)
    for student in ("ada", "bob"):
        hand_in(exchange, student, "{}")
    for _ in range(2):
        service.look()
    times = {each.read()["timestamp.txt"] for waiting in service._waiting.values() for each in waiting}
    assert times == {IN_TIME.strftime("%Y-%m-%d %H:%M:%S.%f UTC").encode()}


def test_all_that_waits_is_copied_where_nobody_served_for_weeks(service, exchange) -> None:  # noqa: F811
    for _ in range(deliveries.MOST_COPIES + 2):
        hand_in(exchange, "ada", "{}")
    for _ in range(2):
        service.look()
    assert all(each.read() for waiting in service._waiting.values() for each in waiting)


def test_copies_are_bounded_and_go_when_they_are_not_needed(service, exchange, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(deliveries, "MOST_COPIES", 1)
    monkeypatch.setattr(deliveries, "MOST_COPIED", 1, raising=False)
    copies = service.course.attempts / COPIES / "ada"
    for _ in range(3):
        hand_in(exchange, "ada", "{}")
        service.look()
    (first,) = copies.glob("*")
    service.start()  # the latest replaces the others
    (latest,) = copies.glob("*")
    assert latest != first
    hand_in(exchange, "ada", "{}")
    service.look()
    forget_attempts(service.course, "ada")
    assert not copies.exists()
