"""nbgrader's gradebook: opened once for a run, with a lesson entered as it is now.

nbgrader's own functions open it many times per submission and commit once per cell. Here its tables are used directly,
so that a submission is one transaction. The rows are those that nbgrader would write; a test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from sqlalchemy import Column, MetaData, String, Table, delete, select, text
from sqlalchemy.exc import OperationalError

from ..authoring.nbgrader_course import load_config
from ..errors import CourseError
from ..grading.package import Cell, LessonPackage, is_locked, nbgrader_metadata
from ..paths import Course

GRADE, COMMENT = api.Grade.__table__, api.Comment.__table__
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
    """Open the course's gradebook, with what nbgrader's lacks for large classes.

    Raises:
        CourseError: the database does not open.
    """
    config = load_config(course.root).CourseDirectory
    course.coursework.mkdir(exist_ok=True)
    try:
        gradebook = Gradebook(config.db_url, config.course_id)
        add_what_is_missing(gradebook)
    except OperationalError as error:
        problem = str(error.orig).strip().splitlines()[0]
        raise CourseError(f"The gradebook does not open ({problem}). GRADEBOOK_URL says where it is.") from error
    with gradebook:
        yield gradebook


def add_what_is_missing(gradebook: Gradebook) -> None:
    """Add indexes on foreign keys, and our own table."""
    GRADED_ANSWER.create(gradebook.engine, checkfirst=True)
    with gradebook.engine.begin() as connection:
        for table, column in INDEXED.items():
            connection.execute(text(f"CREATE INDEX IF NOT EXISTS ix_{table}_{column} ON {table} ({column})"))


def ensure_registered(gradebook: Gradebook, lesson: LessonPackage) -> None:
    """Enter a lesson into the gradebook where it is missing there, or is not as the gradebook knows it.

    Raises:
        CourseError: the lesson no longer has a question for which a person has given points.
    """
    assignments = {a.name for a in gradebook.assignments}
    if lesson.name not in assignments:
        gradebook.add_assignment(lesson.name)
    assignment = gradebook.find_assignment(lesson.name)
    if lesson.name not in {n.name for n in assignment.notebooks}:
        kernelspec = json.dumps(lesson.notebook["metadata"]["kernelspec"])
        gradebook.add_notebook(lesson.name, lesson.name, kernelspec=kernelspec)
    if known_cells(gradebook, lesson.name) != {n: cell_summary(c) for n, c in lesson.nbgrader_cells.items()}:
        remove_cells(gradebook, lesson)
        for name, cell in lesson.nbgrader_cells.items():
            enter_cell(gradebook, lesson.name, name, cell)


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


def cell_summary(cell: Cell) -> tuple[Any, ...]:
    """Return what the gradebook should know about a cell."""
    data = nbgrader_metadata(cell)
    points = float(data["points"]) if data["grade"] else None
    return cell["cell_type"], is_locked(cell), cell["source"], data["checksum"], points, data["solution"]


def enter_cell(gradebook: Gradebook, lesson: str, name: str, cell: Cell) -> None:
    """Enter one cell as nbgrader's SaveCells does."""
    data, where = nbgrader_metadata(cell), (name, lesson, lesson)
    if data["grade"]:
        gradebook.update_or_create_grade_cell(*where, max_score=float(data["points"]), cell_type=cell["cell_type"])
    if data["solution"]:
        gradebook.update_or_create_solution_cell(*where)
    source = {"cell_type": cell["cell_type"], "locked": is_locked(cell), "source": cell["source"]}
    gradebook.update_or_create_source_cell(*where, checksum=data["checksum"], **source)


def remove_cells(gradebook: Gradebook, lesson: LessonPackage) -> None:
    """Remove cells that a lesson no longer has. What a person has graded is never removed."""
    notebook = gradebook.find_notebook(lesson.name, lesson.name)
    for cell in [*notebook.grade_cells, *notebook.solution_cells]:
        released = lesson.nbgrader_cells.get(cell.name)
        kind = "grade" if isinstance(cell, api.GradeCell) else "solution"
        if released is not None and nbgrader_metadata(released)[kind]:
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


def points_of(submission: Any) -> float:
    """Return a submission's points, less what is taken off for being late, as nbgrader's own export does."""
    return float(max(0.0, submission.score - (submission.late_submission_penalty or 0.0)))


def submissions_by_student(gradebook: Gradebook, lesson: str) -> Mapping[str, Any]:
    """Return the gradebook's submissions of a lesson by student id, with points, in one query."""
    found = gradebook.db.query(api.SubmittedAssignment).join(api.Assignment).filter(api.Assignment.name == lesson)
    return {submission.student_id: submission for submission in found}
