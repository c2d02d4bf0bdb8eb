"""Who is ended where processes or memory run out: the one that took them."""

import pytest

from autograder.grading.sandbox import watch
from autograder.grading.sandbox.watch import Watch

PARENTS = {1: 0, 10: 1, 11: 10, 12: 11, 20: 1, 21: 20, 22: 20, 23: 22}
SHARES = {10: 5, 11: 5, 12: 5, 20: 1, 21: 1, 22: 500, 23: 1}


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    killed: list[int] = []
    monkeypatch.setattr(watch, "process_numbers", lambda: iter(PARENTS))
    monkeypatch.setattr(watch, "parent_of", PARENTS.get)
    monkeypatch.setattr(watch, "resident_kilobytes", lambda pid: SHARES.get(pid, 0))
    monkeypatch.setattr(watch, "memory_is_scarce", lambda: False)
    monkeypatch.setattr("os.kill", lambda pid, _signal: killed.append(pid))
    return killed


def watching(most: int) -> Watch:
    made = Watch()
    made._idle = 1
    made.submissions.update({10: most, 20: most})
    return made


def test_each_process_belongs_to_the_submission_that_it_descends_from(ended: list[int]) -> None:
    assert watching(9).members() == {10: {10, 11, 12}, 20: {20, 21, 22, 23}}


def test_nobody_is_ended_while_there_is_enough(ended: list[int]) -> None:
    watching(9).end_the_excessive()
    assert ended == []


def test_who_has_too_many_processes_is_ended_and_nobody_else(ended: list[int]) -> None:
    made = watching(3)
    made.end_the_excessive()
    assert ended == [20]
    assert (made.forget(20), made.forget(10)) == ("processes", "")


def test_where_memory_is_scarce_who_holds_most_is_ended(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "memory_is_scarce", lambda: True)
    made = watching(9)
    made.end_the_excessive()
    assert ended == [20]
    assert made.forget(20) == "memory"


def test_nobody_else_is_ended_while_the_memory_comes_back(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "memory_is_scarce", lambda: True)
    made = watching(9)
    made.end_the_excessive()
    made.end_the_excessive()
    assert ended == [20]
