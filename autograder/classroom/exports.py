"""Tables of grades as learning management systems import them, as nbgrader's export plugins.

Sources: Canvas, "How do I import grades in the Gradebook?"; Moodle, "Grade import".
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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
    """What the tables have in common: points that nobody knows yet are left blank."""

    automatic = Bool(False, help="Export automatic points where a person has still to grade.").tag(config=True)
    handed_in: Collection[tuple[str, str]] = ()  # by whom and which lesson, as far as that is not in the gradebook

    def known(self, standing: SubmissionScore | None) -> bool:
        """Say whether a submission's points can be told."""
        return status_of(standing) == COMPLETE or (self.automatic and status_of(standing) == WAITS)

    def scores(
        self, student: Any, lessons: list[Any], standings: Mapping[tuple[str, str], SubmissionScore]
    ) -> list[Any]:
        """Return a student's points in each lesson; nothing where they are not known, so no grade is overwritten."""
        own = [standings.get((student.id, lesson.name)) for lesson in lessons]
        return [standing.score if standing and self.known(standing) else "" for standing in own]


class GradesExport(Table):
    """The table that nbgrader's own exporter writes, with a status, one row per lesson and student."""

    def export(self, gradebook: Any) -> None:
        """Write the table to `to`, by default grades.csv. Raises OSError where that cannot be written."""
        write(self.to or "grades.csv", list(GRADES), self.rows(gradebook, chosen(self, gradebook)))

    def rows(self, gradebook: Any, lessons: list[Any]) -> Iterator[Record]:
        """Yield one row per lesson and student."""
        everyones, class_ = scores_by_student_and_lesson(gradebook), students(self, gradebook)
        for lesson in lessons:
            for student in class_:
                standing = everyones.get((student.id, lesson.name))
                points: Record = ["", "", ""]
                if standing and self.known(standing):
                    points = [standing.raw_score, standing.penalty, standing.score]
                status = NOT_GRADED if (student.id, lesson.name) in self.handed_in else NOT_HANDED_IN
                when = [lesson.duedate, standing.timestamp if standing else None]
                who = [student.id, student.last_name, student.first_name, student.email]
                yield [lesson.name, *when, *who, *points, lesson.max_score, status_of(standing) or status]


class CanvasExport(Table):
    """One column per lesson: `nbgrader export --exporter=autograder.classroom.exports.CanvasExport`."""

    def export(self, gradebook: Any) -> None:
        """Write the table to `to`, by default canvas.csv. Raises OSError where that cannot be written."""
        lessons = chosen(self, gradebook)
        write(self.to or "canvas.csv", [*CANVAS, *(a.name for a in lessons)], self.rows(gradebook, lessons))

    def rows(self, gradebook: Any, lessons: list[Any]) -> Iterator[Record]:
        """Yield the points possible, then one row per student."""
        everyones, class_ = scores_by_student_and_lesson(gradebook), students(self, gradebook)
        ids = canvas_ids({s.id: s.lms_user_id for s in gradebook.db.execute(select(api.Student.__table__))})
        yield [POINTS_POSSIBLE, "", "", "", "", *(a.max_score for a in lessons)]
        for student in class_:
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            yield [
                name,
                ids[student.id],
                "",
                student.id,
                "",
                *self.scores(student, lessons, everyones),
            ]


class MoodleExport(Table):
    """Map "ID number" or "Email address" at import: `--exporter=autograder.classroom.exports.MoodleExport`."""

    def export(self, gradebook: Any) -> None:
        """Write the table to `to`, by default moodle.csv. Raises OSError where that cannot be written."""
        lessons = chosen(self, gradebook)
        columns = [*MOODLE, *(f"Assignment: {a.name} (Real)" for a in lessons)]
        write(self.to or "moodle.csv", columns, self.rows(gradebook, lessons))

    def rows(self, gradebook: Any, lessons: list[Any]) -> Iterator[Record]:
        """Yield one row per student."""
        everyones = scores_by_student_and_lesson(gradebook)
        for student in students(self, gradebook):
            who = [student.first_name or "", student.last_name or "", student.lms_user_id or student.id]
            yield [*who, student.email or "", *self.scores(student, lessons, everyones)]


def export_grades(
    course: Course,
    plugin: type[Table] = GradesExport,
    name: str = "grades.csv",
    lesson: str | None = None,
    automatic: bool = False,
) -> list[str]:
    """Write a table of grades into `coursework/`; return what to say about it, its path first.

    Args:
        course: the course.
        plugin: which table.
        name: the file's name.
        lesson: the only lesson to export; None for all.
        automatic: whether points are exported where a person has still to grade.
    """
    with open_gradebook(course) as gradebook:
        exporter = plugin(automatic=automatic)
        exporter.to = str(course.coursework / name)
        exporter.assignment = [lesson] if lesson else []
        exporter.handed_in = {(s, each.name) for each in course.chosen(lesson) for s in course.students(each)}
        exporter.export(gradebook)
        waiting = sum(status_of(standing) == WAITS for standing in submission_scores(gradebook, lesson))
    path = (course.coursework / name).relative_to(course.root).as_posix()
    if not waiting:
        return [path]
    how = "exported with automatic points" if automatic else "left blank"
    ask = "" if automatic else f" `{command(f'{Path(name).stem} --automatic')}` exports automatic points."
    return [path, f"{number(waiting, 'submission')} with questions that a person has still to grade: {how}.{ask}"]


def chosen(plugin: Any, gradebook: Any) -> list[Any]:
    """Return the lessons to export: all, or those that the command line named."""
    named = plugin.assignment
    return sorted((a for a in gradebook.assignments if not named or a.name in named), key=lambda a: str(a.name))


def students(plugin: Any, gradebook: Any) -> list[Any]:
    """Return the students to export by name: all, or those that the command line named."""
    everybody = gradebook.db.execute(select(api.Student.__table__))
    some = (s for s in everybody if not plugin.student or s.id in plugin.student)
    return sorted(some, key=lambda s: (s.last_name or "", s.first_name or "", s.id))


def scores_by_student_and_lesson(gradebook: Any) -> Mapping[tuple[str, str], SubmissionScore]:
    """Return all standings by student and lesson."""
    return {(standing.student_id, standing.lesson): standing for standing in submission_scores(gradebook)}


def status_of(standing: SubmissionScore | None) -> str:
    """Return how far a submission is, as the gradebook has it; '' where it has none."""
    if standing is None:
        return ""
    if not standing.is_graded:
        return NOT_GRADED
    return WAITS if standing.needs_manual_grade else COMPLETE


def canvas_ids(entered: Mapping[str, str | None]) -> Mapping[str, str]:
    """Return students' IDs at Canvas; '' where two of them would have one, because a name may end in any number.

    Args:
        entered: by student, the ID that a person has entered, if any. That one always counts.
    """
    found = {student: own or trailing_number(student) for student, own in entered.items()}
    claims = Counter(found.values())
    return {student: number if entered[student] or claims[number] == 1 else "" for student, number in found.items()}


def trailing_number(student: str) -> str:
    """Return the number that an LMS archive put at the end of a student's name, or ''."""
    match = TRAILING_NUMBER.search(student)
    return match[1] if match else ""


def write(path: str, columns: list[str], rows: Iterator[Record]) -> None:
    """Write a CSV file. What a spreadsheet would take for a formula gets an apostrophe before it."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([[escape_formula(value) for value in row] for row in rows])


def escape_formula(value: Any) -> Any:
    """Return a value that no spreadsheet executes."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
