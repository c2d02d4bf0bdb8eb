"""What `check` told the board, in the teacher's database: a table of our own beside the gradebook's."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from nbgrader import api
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    MetaData,
    String,
    Table,
    Text,
    case,
    delete,
    func,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ..authoring.nbgrader_course import load_config
from ..paths import Course
from .board_messages import OLDEST
from .board_state import PAUSE, Try
from .database import POSTGRESQL, UNUSABLE, as_course_error, connect, exclusive, unusable

LOOK_BACK = 4 * PAUSE  # seconds of tries from which a class's states are made
MOST_OF_A_STUDENT = 20_000  # tries: checking every two minutes, ten hours a week, makes fewer in a year
MOST_SHOWN = 1000  # of these, to their student
MOST_AT_ONCE = 1000  # of each student in what a class's states are made from: one every ten seconds
TRIES = Table(
    "autograder_board",
    MetaData(),
    Column("student", String(255), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("lesson", String(80), nullable=False),
    Column("exercise", String(80), nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("message", String(80), nullable=False),
    Column("time", Float, nullable=False),
    Column("code", Text),
    Index("ix_autograder_board_lesson_time", "lesson", "time"),
    Index("ix_autograder_board_student_time", "student", "time"),
)
T = TRIES.c
FORGOTTEN = Table(
    "autograder_board_forgotten",
    TRIES.metadata,
    Column("student", String(255), primary_key=True),
    Column("time", Float, nullable=False),  # what was told until then may still be under way
)
F = FORGOTTEN.c
WITH_CODE = T.code.is_not(None)
# a student's code is found among the few rows that have any
Index(
    "ix_autograder_board_code",
    *(T.student, T.lesson, T.exercise, T.time, T.id),
    sqlite_where=WITH_CODE,
    postgresql_where=WITH_CODE,
)
PERSON, LESSON, WORK = (each.__table__ for each in (api.Student, api.Assignment, api.SubmittedAssignment))


class BoardStore:
    """The board's table in the database that the gradebook is in."""

    def __init__(self, url: str) -> None:
        self._engine: Engine = connect(url)

    @classmethod
    def of(cls, course: Course) -> BoardStore:
        """Open a course's, and make its tables where there are none.

        Raises:
            CourseError: the database cannot be used.
        """
        course.coursework.mkdir(exist_ok=True)
        store = cls(load_config(course.root).CourseDirectory.db_url)
        with as_course_error(), exclusive(store._engine):
            TRIES.metadata.create_all(store._engine)
        return store

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except UNUSABLE as error:
            raise unusable(error) from error

    def add(self, tries: Sequence[Try]) -> None:
        """Keep tries that are not known yet: of each student the latest; of code, only the latest of each exercise."""
        postgres = self._engine.dialect.name == POSTGRESQL
        insert = (postgresql.insert(TRIES) if postgres else sqlite.insert(TRIES)).on_conflict_do_nothing()
        with self._transaction() as connection:
            for one in tries:
                same = (T.student == one.student, T.lesson == one.lesson, T.exercise == one.exercise)
                connection.execute(insert, asdict(one))
                if one.code:  # in whatever order they arrive, and whatever times they claim
                    with_code = select(T.id).where(*same, WITH_CODE)
                    older = connection.scalars(with_code.order_by(T.time.desc(), T.id.desc()).offset(1)).all()
                    connection.execute(update(TRIES).where(*same, T.id.in_(older)).values(code=None))
            for student in {one.student for one in tries}:
                latest = select(T.id).where(T.student == student).order_by(T.time.desc())
                too_many = latest.offset(MOST_OF_A_STUDENT)
                connection.execute(delete(TRIES).where(T.student == student, T.id.in_(too_many)))
                forgotten = select(F.time).where(F.student == student).scalar_subquery()
                connection.execute(delete(TRIES).where(T.student == student, T.time <= forgotten))

    def withdraw_code(self, student: str) -> None:
        """Delete the code of a student's tries, and nothing else."""
        with self._transaction() as connection:
            connection.execute(update(TRIES).where(T.student == student, WITH_CODE).values(code=None))

    def done(self, lesson: str, until: float) -> dict[tuple[str, str], bool]:
        """Return whether each student and exercise that was ever tried has passed by a moment."""
        passed = func.max(case((T.passed, 1), else_=0))
        query = select(T.student, T.exercise, passed).where(T.lesson == lesson, T.time <= until)
        with self._transaction() as connection:
            rows = connection.execute(query.group_by(T.student, T.exercise))
            return {(student, exercise): bool(passed) for student, exercise, passed in rows}

    def tries(self, lesson: str, since: float = 0.0, until: float = float("inf")) -> list[Try]:
        """Return a lesson's tries between two moments, in order; each student's latest, where there are too many."""
        columns = (T.student, T.exercise, T.passed, T.message, T.time, T.code)
        nth = func.row_number().over(partition_by=T.student, order_by=T.time.desc()).label("nth")
        within = select(*columns, nth).where(T.lesson == lesson, T.time >= since, T.time <= until).subquery()
        chosen = select(*(within.c[column.name] for column in columns)).where(within.c.nth <= MOST_AT_ONCE)
        with self._transaction() as connection:
            return [Try(*row) for row in connection.execute(chosen.order_by(within.c.time))]

    def every_try(self, lesson: str) -> list[Try]:
        """Return all of a lesson's tries in order, without anybody's code."""
        query = select(T.student, T.exercise, T.passed, T.message, T.time).where(T.lesson == lesson)
        with self._transaction() as connection:
            return [Try(*row) for row in connection.execute(query.order_by(T.time))]

    def lessons(self) -> set[str]:
        """Return the lessons of which somebody has told the board something."""
        with self._transaction() as connection:
            return set(connection.scalars(select(T.lesson).distinct()))

    def students(self) -> list[str]:
        """Return everybody who has told the board something, or is in the gradebook."""
        with self._transaction() as connection:
            names = set(connection.scalars(select(T.student).distinct()))
            if inspect(connection).has_table(PERSON.name):
                names |= set(connection.scalars(select(PERSON.c.id)))
        return sorted(names)

    def handed_in(self, lesson: str, until: float) -> dict[str, datetime]:
        """Return when what counts of each student's arrived by a moment, UTC, as the gradebook has it."""
        of_lesson = select(WORK.c.student_id, WORK.c.timestamp).join(LESSON).where(LESSON.c.name == lesson)
        moment = datetime.fromtimestamp(until, UTC).replace(tzinfo=None)
        with self._transaction() as connection:
            if not inspect(connection).has_table(WORK.name):
                return {}
            rows = connection.execute(of_lesson.where(WORK.c.timestamp <= moment))
            return {student: when for student, when in rows}  # noqa: C416 - a row is no pair for the type checker

    def of_student(self, student: str) -> list[dict[str, Any]]:
        """Return the latest of what is kept about a student, in order."""
        query = select(TRIES).where(T.student == student).order_by(T.time.desc()).limit(MOST_SHOWN)
        with self._transaction() as connection:
            return [dict(row) for row in connection.execute(query).mappings()][::-1]

    def forget(self, student: str, now: float = 0.0) -> int:
        """Delete all that is kept about a student, and what was told until now when it arrives; return how many tries.

        What has been told for longer than a message can be under way is not looked for any more.
        """
        now = now or time.time()
        with self._transaction() as connection:
            if self._engine.dialect.name == POSTGRESQL:  # who is adding tries ends first
                connection.execute(text(f"LOCK TABLE {TRIES.name} IN SHARE ROW EXCLUSIVE MODE"))
            old = (F.student == student) | (F.time < now - OLDEST)
            connection.execute(delete(FORGOTTEN).where(old))
            connection.execute(FORGOTTEN.insert().values(student=student, time=now))
            return connection.execute(delete(TRIES).where(T.student == student)).rowcount
