"""Tables of grades for other systems."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.plugins.export import CsvExportPlugin, ExportPlugin
from sqlalchemy import event

from autograder.__main__ import main
from autograder.authoring.lesson_package import package_of
from autograder.classroom.exports import TABLES, canvas_ids, escape_formula, export_grades, write
from autograder.classroom.gradebook import ensure_registered, open_gradebook
from autograder.paths import Course

from .conftest import LESSON

LATE_ADDING = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader 0.9.6 adds to sessions late


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_canvas_finds_its_columns_and_the_points_possible(reported: Course, full: int, possible: int) -> None:
    path = reported.root / export_grades(reported, "canvas")[0]
    heads = path.read_text(encoding="utf-8").splitlines()[0]
    assert heads == f'"Student","ID","SIS User ID","SIS Login ID","Section","{LESSON}"'
    first, *rows = read(path)
    assert first["Student"].strip() == "Points Possible"
    assert float(first[LESSON]) == possible
    ada = next(row for row in rows if row["Student"] == "Bo, Ada")
    assert (ada["ID"], ada["SIS Login ID"]) == ("101", "right_101")
    assert float(ada[LESSON]) == full
    assert all(not value.startswith("=") for row in rows for value in row.values())


def test_a_name_stays_one_cell_where_a_semicolon_separates(tmp_path: Path) -> None:
    write(str(tmp_path / "table.csv"), ["Student"], iter([["a;=1+1"]]))
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert list(csv.reader(lines, delimiter=";"))[1] == ["a;=1+1"]


def test_a_name_that_ends_in_another_ones_number_gets_nobodys_canvas_id() -> None:
    assert canvas_ids({"doe_55": None, "x_55": None, "ann_7": ""}) == {"doe_55": "", "x_55": "", "ann_7": "7"}
    assert canvas_ids({"doe": "55", "x_55": None}) == {"doe": "55", "x_55": ""}


def test_moodle_finds_its_columns(reported: Course) -> None:
    rows = read(reported.root / export_grades(reported, "moodle")[0])
    ada = next(row for row in rows if row["First name"] == "Ada")
    assert list(ada) == ["First name", "Last name", "ID number", "Email address", f"Assignment: {LESSON} (Real)"]
    assert ada["Email address"] == "ada@example.org"
    assert next(row for row in rows if row["ID number"] == "unsolved")[f"Assignment: {LESSON} (Real)"] == "0.0"


def test_nbgrader_takes_the_plugins_by_name(reported: Course) -> None:
    tool = str(Path(sys.executable).with_name("nbgrader"))
    command = [tool, "export", "--exporter=autograder.classroom.exports.CanvasExport", "--to", "out.csv"]
    done = subprocess.run(command, cwd=reported.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (reported.root / "out.csv").read_text().startswith('"Student","ID",')


def test_the_table_of_grades_is_nbgraders_own(reported: Course, full: int, tmp_path: Path) -> None:
    stock = CsvExportPlugin()
    stock.to = str(tmp_path / "stock.csv")
    with open_gradebook(reported) as gradebook:
        stock.export(gradebook)
    ours, theirs = read(reported.root / export_grades(reported)[0]), read(Path(stock.to))
    assert list(ours[0]) == [*theirs[0], "status"]
    graded = [row for row in ours if row.pop("status") == "graded"]
    assert len(graded) == 5
    known = {tuple(row.values()) for row in theirs}
    assert {tuple(value.removeprefix("'") for value in row.values()) for row in graded} <= known
    assert {row["student_id"]: row["score"] for row in ours}["fragile"] == f"{full - 1:.1f}"


@pytest.fixture
def waiting(scratch: Course) -> Course:
    """One student has all points, one is late, one loses everything for that; one waits for a person; others are blank.

    Of these, one has a submission without grades, one has handed in what nobody could grade, and one nothing.
    """
    with open_gradebook(scratch) as gradebook:
        ensure_registered(gradebook, package_of(scratch.lesson(LESSON)))
        for student in ("early", "late", "later", "none", "unread", "wait"):
            gradebook.add_student(student)
        given = {"late": (3.0, 1.0), "later": (1.0, 2.0), "wait": (4.0, 0.0)}
        for student, (points, penalty) in given.items():
            submission = gradebook.add_submission(LESSON, student)
            submission.notebooks[0].late_submission_penalty = penalty
            submission.notebooks[0].grades[0].auto_score = points
            for grade in submission.notebooks[0].grades:
                grade.needs_manual_grade = student == "wait"
        gradebook.add_submission(LESSON, "early")
        gradebook.db.commit()
    scratch.submission(scratch.lesson(LESSON), "unread").parent.mkdir(parents=True)
    return scratch


def points(course: Course, table: str, **how) -> list[str]:
    """Return the lesson's column."""
    export_grades(course, table, LESSON, **how)
    rows = read(course.coursework / f"{table}.csv")[-6:]
    return [next(value for head, value in row.items() if LESSON in head) for row in rows]


@LATE_ADDING
def test_points_that_nobody_knows_are_blank_and_not_nothing(waiting: Course) -> None:
    known = ["", "2.0", "0.0", "", "", ""]
    assert points(waiting, "canvas") == points(waiting, "moodle") == known
    export_grades(waiting, "grades", LESSON)
    rows = read(waiting.coursework / "grades.csv")
    assert [row["score"] for row in rows] == known
    words = ["not graded", "graded", "graded", "not handed in", "not graded", "waits for a person"]
    assert [row["status"] for row in rows] == words


@LATE_ADDING
def test_automatic_points_can_be_exported_before_a_person_has_graded(waiting: Course) -> None:
    assert points(waiting, "canvas", automatic=True) == ["", "2.0", "0.0", "", "", "4.0"]


@LATE_ADDING
def test_an_export_says_who_waits_and_how_to_export_what_is_known(waiting: Course) -> None:
    path, note = export_grades(waiting, "canvas")
    assert path == "coursework/canvas.csv"
    assert note == (
        "1 submission with questions that a person has still to grade: left blank. "
        "`lessons canvas --automatic` exports automatic points."
    )
    assert export_grades(waiting, "canvas", automatic=True)[1].endswith("with automatic points.")


def test_one_lesson_is_exported_alone(reported: Course, monkeypatch) -> None:
    monkeypatch.chdir(reported.root)
    assert main(["canvas", "--lesson", LESSON]) == 0
    assert list(read(reported.coursework / "canvas.csv")[0])[5:] == [LESSON]


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
@pytest.mark.parametrize("plugin", TABLES.values())
def test_a_table_of_a_larger_class_takes_no_more_queries(scratch: Course, plugin: type[ExportPlugin]) -> None:
    with open_gradebook(scratch) as gradebook:
        ensure_registered(gradebook, package_of(scratch.lesson(LESSON)))
    assert queries_for(scratch, 3, plugin) == queries_for(scratch, 9, plugin) < 10


@pytest.mark.parametrize("sign", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_what_a_spreadsheet_takes_for_a_formula_is_text(sign: str) -> None:
    assert escape_formula(f"{sign}1+1") == f"'{sign}1+1"
