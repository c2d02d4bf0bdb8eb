"""Tables of grades for other systems."""

import csv
import subprocess
import sys
from pathlib import Path

from autograder.classroom.exports import CanvasExport, MoodleExport, export_grades
from autograder.paths import Course

from .conftest import LESSON


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


def test_nbgraders_own_table_is_exported(reported: Course) -> None:
    rows = read(export_grades(reported))
    assert {row["student_id"]: float(row["score"]) for row in rows}["fragile"] == 11
    assert {row["max_score"] for row in rows} == {"14.0"}
