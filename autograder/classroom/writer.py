"""Writes graded submissions down: the gradebook's rows in one transaction, then the graded notebook."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import from_dict
from nbgrader import api
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum, determine_grade
from sqlalchemy import Table, insert, select, update
from traitlets.config import Config

from ..errors import SubmissionError
from ..judging.cell_metadata import checked_exercise, grade_id_of, is_graded, is_solution, nbgrader_metadata
from ..paths import Course, Lesson, replace_bytes, replace_text
from .database import due_dates, lock_student_rows
from .gradebook import COMMENT, GRADE, GRADED_ANSWER, NOTEBOOK, SUBMISSION
from .plain_files import read_below
from .rules import enter_due_date, late_penalty, rules_of
from .submissions import MOST_BESIDE, SECRET, TIMESTAMP

STUDENT = api.Student.__table__
NO_RESPONSE = "No response."
A_SECOND = datetime.timedelta(seconds=1)
Row = dict[str, Any]


@dataclass(frozen=True)
class CellGrade:
    """What a graded notebook says about one of its cells."""

    auto_score: float | None  # points, None where a person has to give them
    comment: str | None  # what nbgrader remarks by itself
    answer: str  # a checksum of what a person would look at: the answer, of a check cell the exercise


class GradebookWriter:
    """Writes one lesson's graded submissions."""

    def __init__(self, gradebook: Gradebook, config: Config, lesson: str) -> None:
        self._db, self._gradebook, self._config, self._lesson = gradebook.db, gradebook, config, lesson
        enter_due_date(gradebook, config, lesson)
        notebook = gradebook.find_notebook(lesson, lesson)
        self._assignment_id, self._notebook_id = notebook.assignment_id, notebook.id
        self._rules = rules_of(config, lesson, due_dates(gradebook.db.connection()))
        self._due_is_configured = rules_of(config, lesson).due is not None
        self._grade_cells = {cell.name: cell.id for cell in notebook.grade_cells}
        self._comment_cells = {cell.name: cell.id for cell in notebook.solution_cells}

    def save(
        self, student: str, notebook: Mapping[str, Any], timestamp: datetime.datetime | None, late: bool = False
    ) -> None:
        """Write all rows of one graded submission, or none.

        Points and comments that a person has given stay. Where the answer has changed, they are flagged.

        Args:
            student: the student's id.
            notebook: the graded notebook.
            timestamp: when it was handed in, UTC, where that is known.
            late: it was handed in late, as whoever took it says. Where nobody knows when, a second counts.
        """
        results, due = results_in(notebook), self._rules.due_for(student)
        if late and timestamp is None and due is not None:
            timestamp = due + A_SECOND
        try:
            lock_student_rows(self._db, student)
            submission = self._submitted_notebook(student, timestamp)
            self._save_grades(submission, results)
            self._save_comments(submission, results)
            self._db.flush()
            self._assign_penalty(student, submission)
            self._db.commit()
        except BaseException:
            self._db.rollback()
            raise

    def _submitted_notebook(self, student: str, timestamp: datetime.datetime | None) -> str:
        """Return the id of the student's submitted notebook; make the rows above it where they are missing."""
        if self._db.execute(select(STUDENT.c.id).where(STUDENT.c.id == student)).first() is None:
            self._db.execute(insert(STUDENT).values(id=student))
        assignment = {"assignment_id": self._assignment_id, "student_id": student}
        submission = self._find_or_add(SUBMISSION, assignment)
        values: Row = {"timestamp": timestamp} if timestamp is not None else {}
        if self._due_is_configured or self._rules.extensions:
            values["extension"] = self._extension(student)
        if values:
            self._db.execute(update(SUBMISSION).where(SUBMISSION.c.id == submission).values(**values))
        return self._find_or_add(NOTEBOOK, {"notebook_id": self._notebook_id, "assignment_id": submission})

    def _extension(self, student: str) -> datetime.timedelta | None:
        later, due = self._rules.extensions.get(student), self._rules.due
        return later - due if later and due else None

    def _find_or_add(self, table: Table, values: Row) -> str:
        row_id = self._db.execute(select(table.c.id).where(*(table.c[k] == v for k, v in values.items()))).scalar()
        if row_id is None:
            row_id = api.new_uuid()
            self._db.execute(insert(table).values(id=row_id, **values))
        return str(row_id)

    def _save_grades(self, submission: str, results: Mapping[str, CellGrade]) -> None:
        columns = (GRADE.c.cell_id, GRADE.c.id, GRADE.c.manual_score, GRADE.c.needs_manual_grade)
        known = select(*columns, GRADED_ANSWER.c.answer).outerjoin(
            GRADED_ANSWER, GRADED_ANSWER.c.grade_id == GRADE.c.id
        )
        rows = {row.cell_id: row for row in self._db.execute(known.where(GRADE.c.notebook_id == submission))}
        new: list[Row] = []
        answers: list[Row] = []
        for name, cell_id in self._grade_cells.items():
            result, row = results.get(name), rows.get(cell_id)
            grade_id = row.id if row else api.new_uuid()
            values = graded_values(result, row)
            if row is None:
                new.append({"id": grade_id, "notebook_id": submission, "cell_id": cell_id, **values})
            else:
                self._db.execute(update(GRADE).where(GRADE.c.id == grade_id).values(**values))
            if result and row is not None and row.answer is not None:
                same = GRADED_ANSWER.c.grade_id == grade_id
                self._db.execute(update(GRADED_ANSWER).where(same).values(answer=result.answer))
            elif result:
                answers.append({"grade_id": grade_id, "answer": result.answer})
        self._insert(GRADE, new)
        self._insert(GRADED_ANSWER, answers)

    def _insert(self, table: Table, rows: list[Row]) -> None:
        if rows:
            self._db.execute(insert(table), rows)

    def _save_comments(self, submission: str, results: Mapping[str, CellGrade]) -> None:
        known = select(COMMENT.c.cell_id, COMMENT.c.id).where(COMMENT.c.notebook_id == submission)
        rows = {row.cell_id: row.id for row in self._db.execute(known)}
        new = []
        for name, cell_id in self._comment_cells.items():
            auto_comment = results[name].comment if name in results else None
            if cell_id in rows:
                self._db.execute(update(COMMENT).where(COMMENT.c.id == rows[cell_id]).values(auto_comment=auto_comment))
            else:
                comment = {"id": api.new_uuid(), "notebook_id": submission, "cell_id": cell_id}
                new.append({**comment, "auto_comment": auto_comment})
        self._insert(COMMENT, new)

    def _assign_penalty(self, student: str, submission: str) -> None:
        """Do what nbgrader's AssignLatePenalties does, with the plugin that the course has chosen."""
        penalty = None
        if self._rules.due:
            handed_in = self._gradebook.find_submission(self._lesson, student)
            (notebook,) = handed_in.notebooks
            self._db.refresh(handed_in)
            self._db.refresh(notebook)
            penalty = late_penalty(self._config, student, notebook.score, handed_in.total_seconds_late)
        row = NOTEBOOK.c.id == submission
        self._db.execute(update(NOTEBOOK).where(row).values(late_submission_penalty=penalty))


def graded_values(result: CellGrade | None, row: Any) -> Row:
    """Return a grade's columns."""
    if result is None:
        return {"auto_score": 0.0, "needs_manual_grade": False}
    needed = result.auto_score is None
    if row is not None and row.manual_score is not None:  # a person has given points, for this answer or another one
        needed = row.needs_manual_grade or row.answer not in (None, result.answer)
    return {"auto_score": result.auto_score, "needs_manual_grade": needed}


def results_in(notebook: Mapping[str, Any]) -> dict[str, CellGrade]:
    """Return what a graded notebook says about its cells, by grade id, as nbgrader reads it."""
    grades = {}
    sources = {grade_id_of(cell): "".join(cell["source"]) for cell in notebook["cells"]}
    for cell in notebook["cells"]:
        data = nbgrader_metadata(cell)
        if is_graded(cell) or is_solution(cell):
            node = from_dict({**cell, "source": "".join(cell["source"])})
            score = determine_grade(node)[0] if is_graded(cell) else None
            untouched = data.get("checksum") == compute_checksum(node)
            answer = hashlib.sha256(sources.get(checked_exercise(cell) or grade_id_of(cell), "").encode()).hexdigest()
            grades[grade_id_of(cell)] = CellGrade(score, NO_RESPONSE if untouched else None, answer)
    return grades


def write_notebook(course: Course, lesson: Lesson, student: str, text: str) -> None:
    """Put a graded notebook where nbgrader expects it, at once: no reader ever sees half of it."""
    path = course.graded_notebook(lesson, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in (TIMESTAMP, SECRET):
        with suppress(FileNotFoundError, SubmissionError):  # what is odd is left out
            source = course.submission(lesson, student).with_name(name)
            replace_bytes(path.with_name(name), read_below(course.submitted, source, MOST_BESIDE))
    replace_text(path, text)


def read_notebook_record(path: Path, key: str) -> dict[str, Any]:
    """Return what grading wrote into a graded notebook's metadata; nothing where there is none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["metadata"][key])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
