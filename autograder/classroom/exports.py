"""Tables of grades as learning management systems import them, as nbgrader's export plugins.

Sources: Canvas, "How do I import grades in the Gradebook?"; Moodle, "Grade import".
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from nbgrader import api
from nbgrader.plugins.export import ExportPlugin
from sqlalchemy import select
from traitlets import Bool

from ..errors import command
from ..judging.card import number
from ..paths import Course
from .gradebook import SubmissionScore, open_gradebook, submission_scores

GRADES = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score", "status"),
)
NOT_HANDED_IN, NOT_GRADED, WAITS, COMPLETE = "not handed in", "not graded", "waits for a person", "graded"
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("First name", "Last name", "ID number", "Email address")
POINTS_POSSIBLE = "    Points Possible"  # Canvas writes the spaces itself and knows the row by them
TRAILING_NUMBER = re.compile(r"_(\d+)$")
FORMULA = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")  # and =+-@ as wide as Chinese characters

Record = list[Any]


class Table(ExportPlugin):  # type: ignore[misc]
    """What the tables have in common: a class, lessons, and points that are left blank where nobody knows them yet."""

    automatic = Bool(False, help="Export automatic points where a person has still to grade.").tag(config=True)
    handed_in: Collection[tuple[str, str]] = ()  # by whom and which lesson, as far as that is not in the gradebook
    file = ""
    columns: tuple[str, ...] = ()
    lesson_column = ""

    def export(self, gradebook: Any) -> None:
        """Write the table to `to`, by default into a file named after it. Raises OSError where that is impossible."""
        named = self.assignment
        lessons = sorted((a for a in gradebook.assignments if not named or a.name in named), key=lambda a: str(a.name))
        everybody = gradebook.db.execute(select(api.Student.__table__)).all()
        students = [s for s in everybody if not self.student or s.id in self.student]
        students.sort(key=lambda s: (s.last_name or "", s.first_name or "", s.id))
        self.scores = {(score.student_id, score.lesson): score for score in submission_scores(gradebook)}
        self.canvas_ids = canvas_ids({s.id: s.lms_user_id for s in everybody})
        own = [self.lesson_column.format(lesson.name) for lesson in lessons if self.lesson_column]
        write(self.to or self.file, [*self.columns, *own], self.rows(students, lessons))

    def rows(self, students: Sequence[Any], lessons: Sequence[Any]) -> Iterator[Record]:
        """Yield the rows below the columns' names."""
        raise NotImplementedError

    def known(self, score: SubmissionScore | None) -> bool:
        """Say whether a submission's points can be told."""
        return status_of(score) == COMPLETE or (self.automatic and status_of(score) == WAITS)

    def points(self, student: Any, lessons: Sequence[Any]) -> Record:
        """Return a student's points in each lesson; nothing where they are not known, so no grade is overwritten."""
        own = [self.scores.get((student.id, lesson.name)) for lesson in lessons]
        return [score.score if score and self.known(score) else "" for score in own]


class GradesExport(Table):
    """The table that nbgrader's own exporter writes, with a status, one row per lesson and student."""

    file, columns = "grades.csv", GRADES

    def rows(self, students: Sequence[Any], lessons: Sequence[Any]) -> Iterator[Record]:
        """Yield one row per lesson and student."""
        for lesson, student in product(lessons, students):
            score = self.scores.get((student.id, lesson.name))
            points: Record = ["", "", ""]
            if score and self.known(score):
                points = [score.raw_score, score.penalty, score.score]
            status = NOT_GRADED if (student.id, lesson.name) in self.handed_in else NOT_HANDED_IN
            when = [lesson.duedate, score.timestamp if score else None]
            who = [student.id, student.last_name, student.first_name, student.email]
            yield [lesson.name, *when, *who, *points, lesson.max_score, status_of(score) or status]


class CanvasExport(Table):
    """One column per lesson: `nbgrader export --exporter=autograder.classroom.exports.CanvasExport`."""

    file, columns, lesson_column = "canvas.csv", CANVAS, "{}"

    def rows(self, students: Sequence[Any], lessons: Sequence[Any]) -> Iterator[Record]:
        """Yield the points possible, then one row per student."""
        yield [POINTS_POSSIBLE, "", "", "", "", *(lesson.max_score for lesson in lessons)]
        for student in students:
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            yield [name, self.canvas_ids[student.id], "", student.id, "", *self.points(student, lessons)]


class MoodleExport(Table):
    """Map "ID number" or "Email address" at import: `--exporter=autograder.classroom.exports.MoodleExport`."""

    file, columns, lesson_column = "moodle.csv", MOODLE, "Assignment: {} (Real)"

    def rows(self, students: Sequence[Any], lessons: Sequence[Any]) -> Iterator[Record]:
        """Yield one row per student."""
        for student in students:
            who = [student.first_name or "", student.last_name or "", student.lms_user_id or student.id]
            yield [*who, student.email or "", *self.points(student, lessons)]


TABLES: Mapping[str, type[Table]] = {"grades": GradesExport, "canvas": CanvasExport, "moodle": MoodleExport}


def export_grades(
    course: Course, table: str = "grades", lesson: str | None = None, automatic: bool = False
) -> list[str]:
    """Write a table of TABLES into `coursework/`, of one lesson or of all; return what to say about it, its path first.

    With `automatic`, points are exported also where a person has still to grade.
    """
    with open_gradebook(course) as gradebook:
        exporter = TABLES[table](automatic=automatic)
        path = course.coursework / exporter.file
        exporter.to, exporter.assignment = str(path), [lesson] if lesson else []
        exporter.handed_in = {(s, each.name) for each in course.chosen(lesson) for s in course.students(each)}
        exporter.export(gradebook)
        waiting = sum(status_of(score) == WAITS for score in submission_scores(gradebook, lesson))
    shown = path.relative_to(course.root).as_posix()
    if not waiting:
        return [shown]
    how = "exported with automatic points" if automatic else "left blank"
    ask = "" if automatic else f" `{command(f'{table} --automatic')}` exports automatic points."
    return [shown, f"{number(waiting, 'submission')} with questions that a person has still to grade: {how}.{ask}"]


def status_of(score: SubmissionScore | None) -> str:
    """Return how far a submission is, as the gradebook has it; '' where it has none."""
    if score is None or not score.is_graded:
        return "" if score is None else NOT_GRADED
    return WAITS if score.needs_manual_grade else COMPLETE


def canvas_ids(entered: Mapping[str, str | None]) -> Mapping[str, str]:
    """Return students' IDs at Canvas; '' where two of them would have one, because a name may end in any number.

    Args:
        entered: by student, the ID that a person has entered, if any. That one always counts.
    """
    ids = {student: own or trailing_number(student) for student, own in entered.items()}
    claims = Counter(ids.values())
    return {student: number if entered[student] or claims[number] == 1 else "" for student, number in ids.items()}


def trailing_number(student: str) -> str:
    """Return the number that an LMS archive put at the end of a student's name, or ''."""
    match = TRAILING_NUMBER.search(student)
    return match[1] if match else ""


def write(path: str, columns: list[str], rows: Iterator[Record]) -> None:
    """Write a CSV file. What a spreadsheet would take for a formula gets an apostrophe before it."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # one cell, whatever separates a spreadsheet's lists
        writer.writerow(columns)
        writer.writerows([[escape_formula(value) for value in row] for row in rows])


def escape_formula(value: Any) -> Any:
    """Return a value that no spreadsheet executes."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
