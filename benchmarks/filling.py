"""A gradebook with a large class in it, made row by row as the writer would, but in bulk."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from sqlalchemy import Table, insert, text

from autograder.classroom.database import POSTGRESQL
from autograder.classroom.gradebook import COMMENT, GRADE, GRADED_ANSWER, NOTEBOOK, SUBMISSION
from autograder.classroom.writer import NO_RESPONSE, STUDENT

SEED, AT_ONCE = 1, 2000
Row = dict[str, Any]


def fill(gradebook: Gradebook, lesson: str, first: int, beyond: int) -> None:
    """Add students number `first` to before `beyond`, each with a graded submission of one lesson."""
    notebook = gradebook.find_notebook(lesson, lesson)
    place = notebook.assignment_id, notebook.id
    graded = [(cell.id, cell.max_score, cell.cell_type == "code") for cell in notebook.grade_cells]
    answered = [cell.id for cell in notebook.solution_cells]
    gradebook.db.commit()
    for start in range(first, beyond, AT_ONCE):
        tables: dict[Table, list[Row]] = {}
        for number in range(start, min(start + AT_ONCE, beyond)):
            for table, row in rows_of(number, place, graded, answered):
                tables.setdefault(table, []).append(row)
        for table, rows in tables.items():
            add(gradebook, table, rows)
    with gradebook.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))  # PostgreSQL does that by itself some minutes later


def rows_of(
    number: int, place: tuple[str, str], graded: list[tuple[str, float, bool]], answered: list[str]
) -> Iterator[tuple[Table, Row]]:
    """Yield all rows of one graded submission; points are drawn."""
    draw, student = random.Random(SEED * 10**9 + number), f"student{number:06}"
    submission, mine = api.new_uuid(), api.new_uuid()
    yield STUDENT, {"id": student}
    yield SUBMISSION, {"id": submission, "assignment_id": place[0], "student_id": student}
    yield NOTEBOOK, {"id": mine, "notebook_id": place[1], "assignment_id": submission}
    for cell, most, by_machine in graded:
        key, points = api.new_uuid(), float(draw.randint(0, int(most))) if by_machine else None
        marks = {"auto_score": points, "needs_manual_grade": not by_machine}
        yield GRADE, {"id": key, "notebook_id": mine, "cell_id": cell, **marks}
        yield GRADED_ANSWER, {"grade_id": key, "answer": hashlib.sha256(key.encode()).hexdigest()}
    for cell in answered:
        comment = NO_RESPONSE if draw.random() < 0.2 else None
        yield COMMENT, {"id": api.new_uuid(), "notebook_id": mine, "cell_id": cell, "auto_comment": comment}


def add(gradebook: Gradebook, table: Table, rows: list[Row]) -> None:
    """Insert rows the fastest way that a database has."""
    if gradebook.engine.dialect.name != POSTGRESQL:
        with gradebook.engine.begin() as connection:
            connection.execute(insert(table), rows)
        return
    columns = list(rows[0])
    statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN"
    connection = gradebook.engine.raw_connection()
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row([row[column] for column in columns])
        connection.commit()
    finally:
        connection.close()
