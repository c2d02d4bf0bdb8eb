"""nbgrader's gradebook: opened once for a run, with a lesson entered as it is now.

nbgrader's own functions open it many times per submission and commit once per cell. Here its tables are used directly,
so that a submission is one transaction. The rows are those that nbgrader would write; a test compares them.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from sqlalchemy import Column, MetaData, String, Table, case, delete, func, inspect, select, text

from ..authoring.nbgrader_course import load_config
from ..errors import CourseError
from ..grading.package import LessonPackage, ReleasedCell
from ..paths import Course
from .database import LAST_GRADEBOOK, as_course_error, connect, exclusive, remember

GRADE, COMMENT = api.Grade.__table__, api.Comment.__table__
SUBMISSION, NOTEBOOK = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
CELL = api.BaseCell.__table__
# a class's rows are looked up by these columns, which nbgrader 0.9.6 does not index
INDEXED = {
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "submitted_assignment": "student_id",
}
# which answer a person's points were given for: they stay on a regrade, and are flagged where the answer has changed
GRADED_ANSWER = Table(
    "autograder_graded_answer",
    MetaData(),
    Column("grade_id", String(32), primary_key=True),
    Column("answer", String(64), nullable=False),
)


@contextmanager
def open_gradebook(course: Course) -> Iterator[Gradebook]:
    """Open the course's gradebook; make it where there is none.

    Raises:
        GradebookError: the database cannot be used, now or while the gradebook is open.
    """
    config = load_config(course.root).CourseDirectory
    course.coursework.mkdir(exist_ok=True)
    with as_course_error():
        with exclusive(connect(config.db_url)):
            gradebook = Gradebook(config.db_url, config.course_id)
        remember(config.db_url, course.coursework / LAST_GRADEBOOK)
        with gradebook:
            yield gradebook


def add_what_is_missing(gradebook: Gradebook) -> None:
    """Add indexes on foreign keys, and our own table.

    PostgreSQL locks a table even to find that an index is there, and lets only the owner of the table ask.
    """
    known = inspect(gradebook.engine)
    if not known.has_table(GRADED_ANSWER.name):
        GRADED_ANSWER.create(gradebook.engine)
    for table, column in INDEXED.items():
        name = f"ix_{table}_{column}"
        if name not in {index["name"] for index in known.get_indexes(table)}:
            with gradebook.engine.begin() as connection:
                connection.execute(text(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})"))


def ensure_registered(gradebook: Gradebook, lesson: LessonPackage) -> None:
    """Enter a lesson into the gradebook where it is missing there, or is not as the gradebook knows it.

    Raises:
        CourseError: the lesson no longer has a question for which a person has given points.
    """
    with exclusive(gradebook.engine):
        add_what_is_missing(gradebook)
        if lesson.name not in {a.name for a in gradebook.assignments}:
            gradebook.add_assignment(lesson.name)
        assignment = gradebook.find_assignment(lesson.name)
        if lesson.name not in {n.name for n in assignment.notebooks}:
            kernelspec = json.dumps(lesson.notebook.metadata["kernelspec"])
            gradebook.add_notebook(lesson.name, lesson.name, kernelspec=kernelspec)
        if known_cells(gradebook, lesson.name) != {n: cell_summary(c) for n, c in lesson.nbgrader_cells.items()}:
            remove_cells(gradebook, lesson)
            for cell in lesson.nbgrader_cells.values():
                enter_cell(gradebook, lesson.name, cell)


def known_cells(gradebook: Gradebook, lesson: str) -> dict[str, tuple[Any, ...]]:
    """Return what the gradebook knows about a lesson's cells, by grade id."""
    notebook = gradebook.find_notebook(lesson, lesson)
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    return {
        cell.name: (
            cell.cell_type,
            cell.locked,
            cell.source,
            cell.checksum,
            points.get(cell.name),
            cell.name in solutions,
        )
        for cell in notebook.source_cells
    }


def cell_summary(cell: ReleasedCell) -> tuple[Any, ...]:
    """Return what the gradebook should know about a cell."""
    return cell.kind, cell.locked, cell.source, cell.checksum, cell.points, cell.answered


def enter_cell(gradebook: Gradebook, lesson: str, cell: ReleasedCell) -> None:
    """Enter one cell as nbgrader's SaveCells does."""
    where = (cell.name, lesson, lesson)
    if cell.graded:
        gradebook.update_or_create_grade_cell(*where, max_score=cell.points, cell_type=cell.kind)
    if cell.answered:
        gradebook.update_or_create_solution_cell(*where)
    source = {"cell_type": cell.kind, "locked": cell.locked, "source": str(cell.source)}
    gradebook.update_or_create_source_cell(*where, checksum=cell.checksum, **source)


def remove_cells(gradebook: Gradebook, lesson: LessonPackage) -> None:
    """Remove cells that a lesson no longer has. What a person has graded is never removed."""
    notebook = gradebook.find_notebook(lesson.name, lesson.name)
    for cell in [*notebook.grade_cells, *notebook.solution_cells]:
        released = lesson.nbgrader_cells.get(cell.name)
        if released and (released.graded if isinstance(cell, api.GradeCell) else released.answered):
            continue
        judged = select(GRADE.c.id).where(GRADE.c.cell_id == cell.id, GRADE.c.manual_score.is_not(None))
        if gradebook.db.execute(judged).first():
            raise CourseError(
                f"{lesson.name} no longer has {cell.name}, for which people have points by hand. "
                "Put it back, or give the new lesson another name."
            )
        for table in (GRADE, COMMENT):
            gradebook.db.execute(delete(table).where(table.c.cell_id == cell.id))
        gradebook.db.delete(cell)
    for source in notebook.source_cells:
        if source.name not in lesson.nbgrader_cells:
            gradebook.db.delete(source)
    gradebook.db.commit()


@dataclass(frozen=True)
class SubmissionScore:
    """What the gradebook says about one submission, its cells added up."""

    student_id: str
    lesson: str
    timestamp: datetime.datetime | None  # when it was handed in, UTC, where that is known
    raw_score: float  # the points of all cells
    penalty: float  # what is taken off for being late
    max_score: float  # how many points there are
    is_graded: bool  # whether anybody, or any check, has given points
    needs_manual_grade: bool  # whether a person has still to look
    seconds_late: float = 0.0  # how long after it was due for this student it was handed in
    changed_since: bool = False  # whether one has given points for an answer that is another one now

    @property
    def score(self) -> float:
        """The points, less what is taken off for being late, as nbgrader's own export has it."""
        return max(0.0, self.raw_score - self.penalty)


def submission_scores(gradebook: Gradebook, lesson: str | None = None) -> Iterator[SubmissionScore]:
    """Yield the score of every submission, of one lesson or of all. It takes three queries, however large a class.

    nbgrader's own properties take several for each submission.
    """
    lessons = {a.id: a for a in gradebook.assignments if lesson in (None, a.name)}
    of_lessons = SUBMISSION.c.assignment_id.in_(lessons)
    handed_in = SUBMISSION.outerjoin(NOTEBOOK, NOTEBOOK.c.assignment_id == SUBMISSION.c.id)
    late = select(SUBMISSION.c.id, func.sum(NOTEBOOK.c.late_submission_penalty)).select_from(handed_in)
    late = late.where(of_lessons, NOTEBOOK.c.late_submission_penalty > 0).group_by(SUBMISSION.c.id)
    penalties = dict(gradebook.db.execute(late).all())
    added_up = (
        func.coalesce(func.sum(api.Grade.score), 0.0),
        func.count(GRADE.c.auto_score) + func.count(GRADE.c.manual_score),
        func.sum(case((GRADE.c.needs_manual_grade, 1), else_=0)),
        func.sum(case((GRADE.c.needs_manual_grade & GRADE.c.manual_score.is_not(None), 1), else_=0)),
    )
    cells = handed_in.outerjoin(GRADE, GRADE.c.notebook_id == NOTEBOOK.c.id)
    columns = (
        *(SUBMISSION.c.id, SUBMISSION.c.student_id, SUBMISSION.c.assignment_id),
        *(SUBMISSION.c.timestamp, SUBMISSION.c.extension),
    )
    rows = select(*columns, *added_up).select_from(cells).where(of_lessons).group_by(*columns)
    for key, student, assignment, timestamp, extension, score, given, open_cells, changed in gradebook.db.execute(rows):
        of = lessons[assignment]
        points = (score, penalties.get(key, 0.0), of.max_score, bool(given), bool(open_cells))
        late_by = seconds_late(of.duedate, extension, timestamp)
        yield SubmissionScore(student, of.name, timestamp, *points, late_by, bool(changed))


def seconds_late(
    due: datetime.datetime | None, extension: datetime.timedelta | None, handed_in: datetime.datetime | None
) -> float:
    """Return how long after it was due something was handed in, as nbgrader counts; 0 where either is not known."""
    if due is None or handed_in is None:
        return 0.0
    return max(0.0, (handed_in - due - (extension or datetime.timedelta())).total_seconds())


def unknown_students(course: Course, names: Collection[str]) -> list[str]:
    """Return which of some names no student in the gradebook has."""
    with open_gradebook(course) as gradebook:
        return sorted(set(names) - {student.id for student in gradebook.students})


def scores_by_student(gradebook: Gradebook, lesson: str) -> Mapping[str, SubmissionScore]:
    """Return how each student stands in a lesson, by student id."""
    return {score.student_id: score for score in submission_scores(gradebook, lesson)}


def points_by_cell(gradebook: Gradebook, lesson: str) -> Mapping[str, Mapping[str, float | None]]:
    """Return what each student has for each cell of a lesson, by grade id; None where a person has still to say."""
    assignment = gradebook.find_assignment(lesson)
    handed_in = SUBMISSION.join(NOTEBOOK, NOTEBOOK.c.assignment_id == SUBMISSION.c.id)
    graded = handed_in.join(GRADE, GRADE.c.notebook_id == NOTEBOOK.c.id).join(CELL, CELL.c.id == GRADE.c.cell_id)
    waits = GRADE.c.needs_manual_grade & GRADE.c.manual_score.is_(None)
    rows = select(SUBMISSION.c.student_id, CELL.c.name, api.Grade.score, waits).select_from(graded)
    points: dict[str, dict[str, float | None]] = {}
    for student, cell, score, unknown in gradebook.db.execute(rows.where(SUBMISSION.c.assignment_id == assignment.id)):
        points.setdefault(student, {})[cell] = None if unknown else score
    return points
