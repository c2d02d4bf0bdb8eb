"""Tables of grades for other systems."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.plugins.export import CsvExportPlugin, ExportPlugin
from sqlalchemy import event

from autograder.authoring.lesson_package import package_of
from autograder.classroom.exports import CanvasExport, GradesExport, MoodleExport, export_grades
from autograder.classroom.gradebook import ensure_registered, open_gradebook
from autograder.paths import Course

from .conftest import LESSON

LATE_ADDING = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader 0.9.6 adds to sessions late


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_canvas_finds_its_columns_and_the_points_possible(reported: Course, key) -> None:
    path = export_grades(reported, CanvasExport, "canvas.csv")
    heads = path.read_text(encoding="utf-8").splitlines()[0]
    assert heads == f"Student,ID,SIS User ID,SIS Login ID,Section,{LESSON}"
    possible, *rows = read(path)
    assert possible["Student"].strip() == "Points Possible"
    assert float(possible[LESSON]) == sum(key.points().values()) + 2
    ada = next(row for row in rows if row["Student"] == "Bo, Ada")
    assert (ada["ID"], ada["SIS Login ID"]) == ("101", "right_101")
    assert float(ada[LESSON]) == sum(key.points().values())
    assert all(not value.startswith("=") for row in rows for value in row.values())


def test_moodle_finds_its_columns(reported: Course) -> None:
    rows = read(export_grades(reported, MoodleExport, "moodle.csv"))
    ada = next(row for row in rows if row["First name"] == "Ada")
    assert list(ada) == ["First name", "Last name", "ID number", "Email address", f"Assignment: {LESSON} (Real)"]
    assert ada["Email address"] == "ada@example.org"
    assert next(row for row in rows if row["ID number"] == "unsolved")[f"Assignment: {LESSON} (Real)"] == "0.0"


def test_nbgrader_takes_the_plugins_by_name(reported: Course) -> None:
    tool = str(Path(sys.executable).with_name("nbgrader"))
    command = [tool, "export", "--exporter=autograder.classroom.exports.CanvasExport", "--to", "out.csv"]
    done = subprocess.run(command, cwd=reported.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (reported.root / "out.csv").read_text().startswith("Student,ID,")


def test_the_table_of_grades_is_nbgraders_own(reported: Course, tmp_path: Path) -> None:
    stock = CsvExportPlugin()
    stock.to = str(tmp_path / "stock.csv")
    with open_gradebook(reported) as gradebook:
        stock.export(gradebook)
    ours, theirs = read(export_grades(reported)), read(Path(stock.to))
    assert list(ours[0]) == list(theirs[0])
    rows = [{tuple(row.values()) for row in rows} for rows in (ours, theirs)]
    assert {tuple(value.removeprefix("'") for value in row) for row in rows[0]} == rows[1]
    assert {row["student_id"]: row["score"] for row in ours}["fragile"] == "11.0"


@LATE_ADDING
@pytest.mark.parametrize("plugin", [GradesExport, CanvasExport, MoodleExport])
def test_a_penalty_and_a_submission_without_grades_are_exported_as_nbgrader_does(
    scratch: Course, tmp_path: Path, plugin: type[ExportPlugin]
) -> None:
    with open_gradebook(scratch) as gradebook:
        ensure_registered(gradebook, package_of(scratch.lesson(LESSON)))
        for student in ("early", "late", "later", "none"):
            gradebook.add_student(student)
        late, later = (gradebook.add_submission(LESSON, student) for student in ("late", "later"))
        for submission, points, penalty in ((late, 3.0, 1.0), (later, 1.0, 2.0)):
            submission.notebooks[0].late_submission_penalty = penalty
            submission.notebooks[0].grades[0].auto_score = points
        gradebook.add_submission(LESSON, "early")
        gradebook.db.commit()
    rows = read(export_grades(scratch, plugin, "table.csv"))
    column = "score" if plugin is GradesExport else next(name for name in rows[0] if LESSON in name)
    earned = [row[column] for row in rows[-4:]]
    assert earned == (["0.0", "2.0", "0.0", "0.0"] if plugin is GradesExport else ["", "2.0", "0.0", ""])


def queries_for(course: Course, students: int, plugin: type[ExportPlugin]) -> int:
    """Count the queries that a table of so many students takes."""
    seen: list[str] = []
    with open_gradebook(course) as gradebook:
        for number in range(len(gradebook.students), students):
            gradebook.add_student(f"student{number}")
            gradebook.add_submission(LESSON, f"student{number}")
        gradebook.db.expire_all()
        event.listen(gradebook.engine, "before_cursor_execute", lambda *given: seen.append(given[2]))
        exporter = plugin()
        exporter.to = str(course.coursework / "table.csv")
        exporter.export(gradebook)
    return len(seen)


@LATE_ADDING
@pytest.mark.parametrize("plugin", [GradesExport, CanvasExport, MoodleExport])
def test_a_table_of_a_larger_class_takes_no_more_queries(scratch: Course, plugin: type[ExportPlugin]) -> None:
    with open_gradebook(scratch) as gradebook:
        ensure_registered(gradebook, package_of(scratch.lesson(LESSON)))
    assert queries_for(scratch, 3, plugin) == queries_for(scratch, 9, plugin) < 10
