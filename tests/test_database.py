"""GRADEBOOK_URL: what it may say, what is told where it is wrong, and that no password is ever shown."""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from sqlalchemy import event

from autograder.__main__ import main
from autograder.authoring.lesson_package import package_of
from autograder.authoring.nbgrader_course import load_config, read_config
from autograder.classroom.database import connect, gradebook_url, lock_student_rows
from autograder.classroom.gradebook import ensure_registered, open_gradebook
from autograder.classroom.run import register
from autograder.errors import CourseError
from autograder.paths import Course

from .conftest import LESSON

SECRET = "open-sesame"
POSTGRESQL = "postgresql+psycopg://ada"


@pytest.fixture
def here(classroom: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Read the course's configuration and the driver anew, and forget passwords afterwards."""
    monkeypatch.chdir(classroom.root)
    monkeypatch.setenv("PGPASSWORD", "")
    read_config.cache_clear()
    connect.cache_clear()
    yield monkeypatch
    read_config.cache_clear()


def said(capsys: pytest.CaptureFixture) -> str:
    """Return the one line that a command says where it fails."""
    assert main(["register", "--lesson", LESSON]) == 2
    line = capsys.readouterr().err.strip()
    assert SECRET not in line
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("my gradebook", "is no URL of a database"),
        (f"postgresql://ada:{SECRET}", "is no URL of a database"),
        (f"{POSTGRESQL}:{SECRET}@{SECRET}@localhost/class", "write %40 instead"),
        (f"{POSTGRESQL}:x@y/{SECRET}@localhost/class", "write %40 instead"),
        ("postgrsql://localhost/class", "a kind of database that nobody here knows (postgrsql)"),
        ("mysql+nobody://localhost/class", "a kind of database that nobody here knows (mysql+nobody)"),
        (f"{POSTGRESQL}:{SECRET}@127.0.0.1:1/class", "Connection refused"),
        ("sqlite:////nowhere/gradebook.db", "unable to open database file"),
    ],
)
def test_what_is_wrong_with_the_url_is_one_line(here, capsys, url: str, words: str) -> None:
    here.setenv("GRADEBOOK_URL", url)
    line = said(capsys)
    assert words in line
    assert "GRADEBOOK_URL" in line


def test_a_missing_driver_is_named_with_the_command_that_installs_it(here, capsys) -> None:
    here.setenv("GRADEBOOK_URL", f"{POSTGRESQL}:{SECRET}@127.0.0.1:1/class")
    here.setitem(sys.modules, "psycopg", None)
    assert "pip install -c constraints.txt 'psycopg[binary]'" in said(capsys)


@pytest.mark.parametrize("url", [f"{POSTGRESQL}:{SECRET}@db/class", f"{POSTGRESQL}@db/class?password={SECRET}"])
def test_the_password_goes_where_postgresql_looks_and_nowhere_else(here, classroom: Course, url: str) -> None:
    here.setenv("GRADEBOOK_URL", url)
    config = load_config(classroom.root)
    assert os.environ["PGPASSWORD"] == SECRET
    assert SECRET not in str(config)
    assert config.CourseDirectory.db_url == f"{POSTGRESQL}@db/class?connect_timeout=10"


def test_a_url_without_a_password_leaves_the_one_that_is_set(here) -> None:
    here.setenv("PGPASSWORD", "another")
    here.setenv("GRADEBOOK_URL", f"{POSTGRESQL}@db/class?connect_timeout=3")
    assert gradebook_url("sqlite://") == f"{POSTGRESQL}@db/class?connect_timeout=3"
    assert os.environ["PGPASSWORD"] == "another"


@pytest.mark.parametrize("set_to", [None, ""])
def test_without_a_url_the_gradebook_is_a_file_of_the_course(here, classroom: Course, set_to: str | None) -> None:
    if set_to is None:
        here.delenv("GRADEBOOK_URL", raising=False)
    else:
        here.setenv("GRADEBOOK_URL", set_to)
    place = classroom.coursework / "gradebook.db"
    assert load_config(classroom.root).CourseDirectory.db_url == f"sqlite:///{place}?timeout=60"


def test_a_registered_lesson_is_registered_again_without_a_change(scratch: Course) -> None:
    register(scratch, scratch.lesson(LESSON))
    statements: list[str] = []
    with open_gradebook(scratch) as gradebook:
        event.listen(gradebook.engine, "before_cursor_execute", lambda *seen: statements.append(seen[2]))
        ensure_registered(gradebook, package_of(scratch.lesson(LESSON)))
    assert statements
    assert {s.split()[0] for s in statements} <= {"SELECT", "PRAGMA"}


def test_who_writes_a_students_rows_waits_for_who_does(scratch: Course) -> None:
    order, waiting = [], threading.Event()

    def second() -> None:
        with open_gradebook(scratch) as gradebook:
            waiting.set()
            lock_student_rows(gradebook.db, "ada")
            order.append("second")

    with open_gradebook(scratch) as gradebook, ThreadPoolExecutor(1) as pool:
        lock_student_rows(gradebook.db, "ada")
        other = pool.submit(second)
        assert waiting.wait(30)
        order.append("first")
        gradebook.db.commit()
        other.result()
    assert order == ["first", "second"]


def test_an_error_of_another_kind_is_not_blamed_on_the_database(scratch: Course) -> None:
    with pytest.raises(ValueError, match="mine"), open_gradebook(scratch):
        raise ValueError("mine")
    with pytest.raises(CourseError, match="no such table"), open_gradebook(scratch) as gradebook:
        gradebook.db.connection().exec_driver_sql("SELECT * FROM absent")


def test_a_gradebook_that_was_used_is_not_forgotten_in_silence(scratch: Course, monkeypatch, capsys) -> None:
    monkeypatch.chdir(scratch.root)
    elsewhere = f"sqlite:///{scratch.root}/elsewhere.db"
    monkeypatch.setenv("GRADEBOOK_URL", elsewhere)
    read_config.cache_clear()
    assert main(["grades"]) == 0
    monkeypatch.delenv("GRADEBOOK_URL")
    read_config.cache_clear()
    assert main(["grades"]) == 2
    last = scratch.coursework / ".gradebook_url"
    words = f"GRADEBOOK_URL is not set here, and the last run used {elsewhere}. Set it to that; or delete {last}"
    assert words in capsys.readouterr().err
    last.unlink()
    read_config.cache_clear()
    assert main(["grades"]) == 0
    read_config.cache_clear()


def test_a_connection_that_nbgrader_leaves_open_fails_no_other_test() -> None:
    """It does where a database cannot be used; the garbage collector finds that out whenever it runs."""
    psycopg = pytest.importorskip("psycopg")
    left = object.__new__(psycopg.Connection)
    left.pgconn = SimpleNamespace(status=psycopg.pq.ConnStatus.OK)
    del left
    gc.collect()
