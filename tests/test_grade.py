"""The whole path for a few submissions: graded by our command and by nbgrader's own."""

import csv
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.classroom.run import Row, export_grades, feedback, grade, table
from autograder.classroom.preprocessors import RECORD
from autograder.paths import Course
from autograder.authoring.nbgrader_course import gradebook_of

from .conftest import LESSON

WRONG = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-2)
    return weights @ value, weights
"""
HALF = """
def attend(query, key, value):
    weights = (query @ key.mT).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights
"""
NBGRADER = Path(sys.executable).parent / "nbgrader"


def rows_in(course: Course) -> dict[tuple[str, str], tuple[float, bool]]:
    """Return every grade in the gradebook: points, and whether a person has to look."""
    with gradebook_of(course) as gradebook:
        return {
            (submission.student.id, grade.name): (grade.score, grade.needs_manual_grade)
            for submission in gradebook.assignment_submissions(LESSON)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@pytest.fixture(scope="module")
def graded(classroom: Course, hand_in, right) -> Course:
    hand_in(classroom, "ada", {**right, "question_R2": "Keys find, values give."})
    hand_in(classroom, "ben", {**right, "attend": WRONG})
    hand_in(classroom, "eve", {**right, "attend": HALF})
    hand_in(classroom, "tom", {})
    grade(classroom, classroom.lesson(LESSON), options={"seed": 5})
    return classroom


def score(course: Course, student: str, exercise: str) -> float:
    return rows_in(course)[(student, f"check_{exercise}")][0]


def test_a_right_solution_earns_every_point(graded: Course, kit) -> None:
    assert {e: score(graded, "ada", e) for e in kit.exercises} == kit.points()


def test_an_unsolved_notebook_earns_none(graded: Course, kit) -> None:
    assert [score(graded, "tom", e) for e in kit.exercises] == [0, 0, 0, 0]


def test_credit_is_partial_and_in_whole_points(graded: Course) -> None:
    assert score(graded, "ben", "attend") == 0
    assert score(graded, "eve", "attend") == 3


def test_an_answered_question_waits_for_a_person_and_an_empty_one_does_not(graded: Course) -> None:
    assert rows_in(graded)[("ada", "question_R2")] == (0, True)
    assert rows_in(graded)[("ben", "question_R2")] == (0, False)


def test_nbgraders_own_command_gives_the_same_rows(graded: Course) -> None:
    before = rows_in(graded)
    command = [NBGRADER, "autograde", LESSON, "--force"]
    done = subprocess.run(command, cwd=graded.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rows_in(graded) == before


def test_the_seed_of_a_run_is_recorded_with_its_result(graded: Course, hand_in, right) -> None:
    hand_in(graded, "zoe", right)
    grade(graded, graded.lesson(LESSON), options={"seed": 5})
    path = graded.autograded / "zoe" / LESSON / f"{LESSON}.ipynb"
    assert nbformat.read(path, 4).metadata[RECORD]["seed"] == 5


def test_a_second_run_grades_only_what_is_new_or_changed(scratch: Course, hand_in, right) -> None:
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "ada", {**right, "attend": WRONG})
    hand_in(scratch, "ben", right)
    assert [r.status for r in grade(scratch, lesson)] == ["graded", "graded"]
    hand_in(scratch, "ada", right)
    assert [(r.status, r.score) for r in grade(scratch, lesson)] == [("graded", 12), ("as before", 12)]


def test_demonstrations_can_be_skipped_and_a_students_own_cells_never_are(scratch: Course, hand_in, right) -> None:
    changed = {**right, "attend": right["attend"] + "\nprint('mine')"}
    path = hand_in(scratch, "ada", changed)
    lesson = scratch.lesson(LESSON)
    path.write_text(path.read_text().replace("shares * lengths", "shares * lengths * 10"))
    (row,) = grade(scratch, lesson)
    cells = nbformat.read(scratch.autograded / "ada" / LESSON / f"{LESSON}.ipynb", 4).cells
    shown = {cell.source: bool(cell.outputs) for cell in cells if cell.cell_type == "code"}
    assert row.score == 12
    assert not next(out for source, out in shown.items() if source.endswith("keys @ q"))
    assert next(out for source, out in shown.items() if "lengths * 10" in source)
    assert next(out for source, out in shown.items() if "print('mine')" in source)


def test_feedback_explains_and_shows_nothing_hidden(graded: Course, kit) -> None:
    pages = feedback(graded, graded.lesson(LESSON))
    page = (graded.root / next(p for p in pages if "/ben/" in p)).read_text()
    assert "Your columns sum to 1" in page
    for secret in ("edge: scores in the thousands", "def scores_of_a_thousand", "exp_without_care", "BEGIN SOLUTION"):
        assert secret not in page


def test_feedback_names_the_kind_of_a_hidden_check_that_failed(graded: Course) -> None:
    feedback(graded, graded.lesson(LESSON))
    page = (graded.feedback / "eve" / LESSON / f"{LESSON}.html").read_text()
    assert "Hidden check: edge: scores in the thousands." in page
    assert "infinity over infinity is NaN" in page


def test_the_table_is_exported(graded: Course) -> None:
    rows = list(csv.DictReader(export_grades(graded).read_text().splitlines()))
    assert {r["student_id"]: float(r["score"]) for r in rows}["eve"] == 11
    assert {r["max_score"] for r in rows} == {"14.0"}


def test_the_closing_table_says_who_needs_a_person() -> None:
    rows = [Row("ada", LESSON, "graded", 12, 14), Row("ben", LESSON, "needs a person", note="no notebook")]
    assert table(rows)[-1] == "1 graded, 1 need a person."
    assert "no notebook" in table(rows)[1]
