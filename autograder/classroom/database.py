"""The database behind the gradebook: where it is, who may change it at a time, and what is wrong with it, in words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, InvalidEntry
from sqlalchemy import Connection, Engine, create_engine, func, inspect, make_url, select, text
from sqlalchemy.exc import (
    ArgumentError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.pool import NullPool
from tornado.log import app_log

from ..errors import CourseError, GradebookError, one_line
from ..paths import replace_text

VARIABLE, PASSWORD = "GRADEBOOK_URL", "PGPASSWORD"
LAST_GRADEBOOK = ".gradebook_url"  # in coursework/
POSTGRESQL, SQLITE = "postgresql", "sqlite"
LOCK, SERVING_LOCK = 8041, 8042  # all graders of a course have to name the same numbers, and nobody else these
CONNECT_SECONDS = "10"
EXAMPLE = "postgresql+psycopg://name@host/database"
# the database is away, or forbids what is asked of it: no student's submission can be the reason
UNUSABLE = (OperationalError, InternalError, ProgrammingError, InterfaceError)


def gradebook_url(default: str, last: Path | None = None) -> str:
    """Return where the gradebook is: what GRADEBOOK_URL says, without its password.

    nbgrader prints the URL and writes it to files. The password goes where PostgreSQL's library looks for one.

    Args:
        default: where it is if nobody has said.
        last: the file in which `remember` has written which one was used last.

    Raises:
        CourseError: what GRADEBOOK_URL says is no URL of a database, or it says nothing and did so before.
    """
    if last and last.is_file() and not os.environ.get(VARIABLE):
        raise CourseError(
            f"{VARIABLE} is not set here, and the last run used {last.read_text(encoding='utf-8').strip()}. "
            f"Set it to that; or delete {last} to go on with SQLite."
        )
    try:
        url = make_url(os.environ.get(VARIABLE) or default)
    except (ArgumentError, ValueError):
        raise CourseError(f"{VARIABLE} is no URL of a database, such as {EXAMPLE}.") from None
    if url.get_backend_name() != POSTGRESQL:
        return url.render_as_string(hide_password=False)
    if "@" in f"{url.host}{url.database}":
        raise CourseError(f"{VARIABLE} has more than one @: in a name or a password, write %40 instead.")
    query = {"connect_timeout": CONNECT_SECONDS, **url.query}
    password = query.pop("password", url.password)
    if password:
        os.environ[PASSWORD] = str(password)
    return url.create(url.drivername, url.username, None, url.host, url.port, url.database, query).render_as_string()


def remember(url: str, last: Path) -> None:
    """Write down which gradebook was used, where GRADEBOOK_URL names it."""
    said = os.environ.get(VARIABLE)
    if said and url == gradebook_url(said) and not (last.is_file() and last.read_text(encoding="utf-8").strip() == url):
        replace_text(last, url + "\n")


@contextmanager
def as_course_error() -> Iterator[None]:
    """Raise GradebookError, with the database's own words, where the database cannot be used."""
    try:
        with without_tracebacks():
            yield
    except UNUSABLE as error:
        raise unusable(error) from error
    except InvalidEntry as error:  # nbgrader's word for all that a database can say
        if isinstance(error.__context__, UNUSABLE):
            raise unusable(error.__context__) from error
        raise


@contextmanager
def without_tracebacks() -> Iterator[None]:
    """Keep nbgrader from printing the traceback of what it raises anyway."""
    before, app_log.disabled = app_log.disabled, True
    try:
        yield
    finally:
        app_log.disabled = before


def unusable(error: Any) -> GradebookError:
    """Return what is wrong with a database, as one line."""
    lines = str(error.orig).strip().splitlines()
    return GradebookError(
        f"The gradebook cannot be used ({one_line(lines[0]) if lines else type(error).__name__}). "
        f"{VARIABLE} says which database that is."
    )


@lru_cache(maxsize=8)
def connect(url: str) -> Engine:
    """Return an engine that keeps no connection open; the same one each time, as it knows what it has compiled.

    Raises:
        CourseError: nothing here can talk to such a database.
    """
    try:
        return create_engine(url, poolclass=NullPool)
    except NoSuchModuleError:
        name = make_url(url).drivername
        raise CourseError(f"{VARIABLE} asks for a kind of database that nobody here knows ({name}).") from None
    except ImportError as error:
        raise CourseError(
            f"{VARIABLE} needs a driver that is not installed ({one_line(str(error))}). For PostgreSQL: "
            "`.venv/bin/pip install -c constraints.txt 'psycopg[binary]'`."
        ) from None


def due_dates(connection: Connection) -> dict[str, datetime | None]:
    """Return when each lesson in the gradebook is due, UTC; nothing where there is no gradebook yet."""
    lessons = Assignment.__table__
    if not inspect(connection).has_table(lessons.name):
        return {}
    rows = connection.execute(select(lessons.c.name, lessons.c.duedate))
    return {name: due for name, due in rows}  # noqa: C416 - a row is no tuple to a type checker


@contextmanager
def exclusive(engine: Engine) -> Iterator[None]:
    """Let one process at a time make tables or register a lesson; the others wait. SQLite sees to that itself."""
    if engine.dialect.name != POSTGRESQL:
        yield
        return
    with engine.begin() as connection:
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
        yield


class Claim:
    """A claim on a database that one process has at a time, as long as its connection lives; a file needs none.

    Attributes:
        away: why the database could not be asked the last time, '' where it could.
    """

    def __init__(self, url: str) -> None:
        self.away = ""
        self._engine = connect(url)
        self._connection: Connection | None = None

    def held(self) -> bool:
        """Take it where it is free; say whether this process has it now, or has it still."""
        if self._engine.dialect.name != POSTGRESQL:
            return True
        try:
            if self._connection is not None:
                self._connection.execute(select(1))
                return True
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            if connection.scalar(select(func.pg_try_advisory_lock(SERVING_LOCK))):
                self._connection = connection
                return True
            connection.close()
            self.away = ""
        except UNUSABLE as error:  # the server was away: somebody else may have it by now
            self._connection, self.away = None, str(unusable(error))
        return False

    def end(self) -> None:
        """Give it up."""
        if self._connection is not None:
            self._connection.close()


def lock_student_rows(session: Any, student: str) -> None:
    """Begin a transaction during which nobody else writes the same student's rows; wait for who does."""
    name = session.get_bind().dialect.name
    if name == POSTGRESQL:
        session.execute(select(func.pg_advisory_xact_lock(LOCK, func.hashtext(student))))
    elif name == SQLITE:
        session.execute(text("BEGIN IMMEDIATE"))
