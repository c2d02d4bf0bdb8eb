"""What an instructor takes away: the class report, and tables for other systems."""

import csv
import re
from pathlib import Path

import pytest

from autograder.classroom.run import export_grades, feedback, grade
from autograder.classroom.exports import CanvasExport, MoodleExport
from autograder.paths import Course
from autograder.authoring.sample_submissions import mistake_cell
from autograder.authoring.nbgrader_course import gradebook_of
from autograder.classroom.report import class_of, make_report

from .conftest import LESSON

STUDENTS = ("=cmd_77", "broken", "right_101", "two_mistakes", "unsolved")


@pytest.fixture(scope="module")
def reported(classroom: Course, hand_in, kit, right) -> Course:
    """A graded class: one right, one with a mistake twice over, one unsolved, one unreadable, one with an odd name."""
    known = {(m.exercise, m.name): m for m in kit.mistakes}
    wrong = {"attend": mistake_cell(kit, known["attend", "softmax_over_queries"])}
    hand_in(classroom, "right_101", right)
    hand_in(classroom, "two_mistakes", {**right, **wrong})
    hand_in(classroom, "=cmd_77", {**right, **wrong})
    hand_in(classroom, "unsolved", {})
    hand_in(classroom, "broken", {}).write_text("{")
    lesson = classroom.lesson(LESSON)
    grade(classroom, lesson, options={"allow_unsandboxed": True, "seed": 5})
    feedback(classroom, lesson)
    with gradebook_of(classroom) as gradebook:
        gradebook.update_or_create_student("right_101", first_name="Ada", last_name="Bo", email="ada@example.org")
    return classroom


def test_the_report_counts_as_the_gradebook_does(reported: Course, kit) -> None:
    students = {s.name: s for s in class_of(reported, reported.lesson(LESSON))}
    assert tuple(sorted(students)) == STUDENTS
    most = sum(kit.points().values())
    assert students["right_101"].points == most
    assert students["unsolved"].points == 0
    assert students["broken"].points is None
    assert students["two_mistakes"].verdicts["attend"]["mistake"] == "softmax_over_queries"
    for name in ("two_mistakes", "=cmd_77"):
        assert students[name].points == sum(v["points"] for v in students[name].verdicts.values())


def test_the_page_names_mistakes_people_and_reasons(reported: Course, kit) -> None:
    page, _ = make_report(reported, reported.lesson(LESSON))
    html = page.read_text()
    assert "5 handed in, 4 graded" in html
    message = next(m.message for m in kit.mistakes if m.name == "softmax_over_queries")
    assert message.split(".")[0] in html
    row = next(line for line in html.splitlines() if "<code>softmax_over_queries</code>" in line)
    assert '<td class="number">2</td>' in row
    assert "cannot be read as a notebook" in html
    for link in re.findall(r'<a href="([^"]+)"', html):
        assert (page.parent / link).resolve().is_file()
    assert len(re.findall(r'<img src="data:image/png;base64,[^"]+" alt="[^"]{20,}">', html)) == 2
    assert "http" not in html.replace("http-equiv", "")


def test_the_same_as_csv(reported: Course) -> None:
    _, table = make_report(reported, reported.lesson(LESSON))
    with table.open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"'=cmd_77", *STUDENTS[1:]}
    assert rows["two_mistakes"]["attend mistake"] == "softmax_over_queries"
    assert rows["broken"]["points"] == ""


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_canvas_finds_its_columns_and_the_points_possible(reported: Course, kit) -> None:
    path = export_grades(reported, CanvasExport, "canvas.csv")
    heads = path.read_text(encoding="utf-8").splitlines()[0]
    assert heads == f"Student,ID,SIS User ID,SIS Login ID,Section,{LESSON}"
    possible, *rows = read(path)
    assert possible["Student"].strip() == "Points Possible"
    assert float(possible[LESSON]) == sum(kit.points().values()) + 2
    ada = next(row for row in rows if row["Student"] == "Bo, Ada")
    assert (ada["ID"], ada["SIS Login ID"]) == ("101", "right_101")
    assert float(ada[LESSON]) == sum(kit.points().values())
    assert all(not value.startswith("=") for row in rows for value in row.values())


def test_moodle_finds_its_columns(reported: Course) -> None:
    rows = read(export_grades(reported, MoodleExport, "moodle.csv"))
    ada = next(row for row in rows if row["First name"] == "Ada")
    assert list(ada) == ["First name", "Last name", "ID number", "Email address", f"Assignment: {LESSON} (Real)"]
    assert ada["Email address"] == "ada@example.org"
    assert next(row for row in rows if row["ID number"] == "unsolved")[f"Assignment: {LESSON} (Real)"] == "0.0"


def test_nbgrader_takes_the_plugins_by_name(reported: Course) -> None:
    import subprocess
    import sys

    tool = str(Path(sys.executable).with_name("nbgrader"))
    command = [tool, "export", "--exporter=autograder.classroom.exports.CanvasExport", "--to", "out.csv"]
    done = subprocess.run(command, cwd=reported.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (reported.root / "out.csv").read_text().startswith("Student,ID,")
