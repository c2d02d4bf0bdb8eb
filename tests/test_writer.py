"""The gradebook's rows, however they came there: `make grade`, `nbgrader autograde`, nbgrader's own preprocessors."""

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from sqlalchemy import inspect, text

from autograder.authoring.lesson_package import ensure_nbgrader_source, package_of
from autograder.authoring.nbgrader_course import load_config, open_nbgrader
from autograder.authoring.notebook import read_notebook
from autograder.classroom import run
from autograder.classroom.gradebook import INDEXED, ensure_registered, open_gradebook
from autograder.classroom.run import CHANGED, grade_lesson
from autograder.classroom.submissions import timestamp_of
from autograder.classroom.writer import GradebookWriter, write_notebook
from autograder.errors import CourseError
from autograder.grading.grade import RECORD
from autograder.paths import CONFIG_NAME, Course, Lesson

from .accounts import accounts, acting_as, needs_accounts
from .conftest import LESSON, copy_course, needs_sandbox

pytestmark = needs_sandbox
NBGRADER = str(Path(sys.executable).parent / "nbgrader")
QUESTION = "question_R2"
DUE = datetime(2026, 11, 2, 10)
DAYS_LATE = {"ada": -1, "ben": 2, "cyd": 30}  # the others' submissions have no timestamp
PENALTY = """
from nbgrader.plugins import BasePlugin

class PerDay(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 1.5 * (total_seconds_late // 86400)

c.AssignLatePenalties.plugin_class = PerDay
c.GradeSubmission.seed = 5
"""
WRONG = "def attend(query, key, value):\n    return query, key"
# what a person gave after the first run: points, extra points, a comment
BY_HAND = {"ada": (QUESTION, 1.0, 0.5, "Good."), "zoe": (QUESTION, 2.0, None, "Very good.")}
TABLES = {
    "assignment": "SELECT name, duedate FROM assignment",
    "cells": """
        SELECT b.name, b.type, g.max_score, g.cell_type FROM base_cell b LEFT JOIN grade_cells g ON g.id = b.id""",
    "source": "SELECT name, cell_type, locked, source, checksum FROM source_cell",
    "submission": "SELECT student_id, timestamp FROM submitted_assignment",
    "notebook": """
        SELECT a.student_id, n.late_submission_penalty
        FROM submitted_notebook n JOIN submitted_assignment a ON a.id = n.assignment_id""",
    "grade": """
        SELECT a.student_id, b.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade
        FROM grade g JOIN base_cell b ON b.id = g.cell_id JOIN submitted_notebook n ON n.id = g.notebook_id
        JOIN submitted_assignment a ON a.id = n.assignment_id""",
    "comment": """
        SELECT a.student_id, b.name, c.auto_comment, c.manual_comment
        FROM comment c JOIN base_cell b ON b.id = c.cell_id JOIN submitted_notebook n ON n.id = c.notebook_id
        JOIN submitted_assignment a ON a.id = n.assignment_id""",
}
Rows = dict[str, set[tuple[Any, ...]]]


def rows_in(course: Course) -> Rows:
    """Return what is in the gradebook, table by table and field by field, with names in place of numbers."""
    with open_gradebook(course) as gradebook, gradebook.engine.connect() as connection:
        return {name: {tuple(row) for row in connection.execute(text(query))} for name, query in TABLES.items()}


def graded(course: Course) -> dict[str, dict[str, Any]]:
    """Return the graded notebooks by student, without what differs from run to run."""
    found = {p.parent.parent.name: json.loads(p.read_text()) for p in course.autograded.glob(f"*/{LESSON}/*.ipynb")}
    for notebook in found.values():
        del notebook["metadata"][RECORD]["seconds"]
    return found


def submit(course: Course, hand_in, right: dict[str, str]) -> None:
    """Hand in: right, wrong and late, right and very late, not started, right with an answer that changes later."""
    answered = {**right, QUESTION: "Keys find, values give."}
    edits = {"ada": answered, "ben": {**right, "attend": WRONG}, "cyd": answered, "tom": {}, "zoe": answered}
    for student, cells in edits.items():
        path = hand_in(course, student, cells)
        if student in DAYS_LATE:
            handed_in = DUE + timedelta(days=DAYS_LATE[student])
            path.with_name("timestamp.txt").write_text(f"{handed_in} UTC")


def prepare(original: Course, root: Path, hand_in, right) -> Course:
    """Make a course with a penalty per day, and with submissions."""
    course = copy_course(original, root)
    with (root / CONFIG_NAME).open("a") as config:
        config.write(PENALTY)
    submit(course, hand_in, right)
    return course


def set_due_date(course: Course) -> None:
    """Do what Formgrader does when a person types a date."""
    with Gradebook(load_config(course.root).CourseDirectory.db_url) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=DUE)


def judge_by_hand(course: Course) -> None:
    """Do what Formgrader does when a person types points and a comment."""
    with open_gradebook(course) as gradebook:
        for student, (cell, points, extra, comment) in BY_HAND.items():
            grade = gradebook.find_grade(cell, LESSON, LESSON, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
            gradebook.find_comment(cell, LESSON, LESSON, student).manual_comment = comment
        gradebook.db.commit()


def change_answer(course: Course, hand_in, right) -> None:
    hand_in(course, "zoe", {**right, QUESTION: "Values find, keys give."})


def autograde(course: Course) -> None:
    """Run nbgrader's own command line."""
    command = [NBGRADER, "autograde", LESSON, "--force"]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def stock(course: Course, notebooks: Course) -> None:
    """Have nbgrader's own preprocessors read the notebooks that we graded."""
    lesson, config = course.lesson(LESSON), load_config(course.root)
    url = config.CourseDirectory.db_url
    for student in course.students(lesson):
        with open_gradebook(course) as gradebook:
            gradebook.update_or_create_student(student)
            timestamp = timestamp_of(course, lesson, student)
            gradebook.update_or_create_submission(LESSON, student, **({"timestamp": timestamp} if timestamp else {}))
        place = {"nbgrader": {"assignment": LESSON, "notebook": LESSON, "student": student, "db_url": url}}
        notebook = read_notebook(notebooks.graded_notebook(lesson, student))
        SaveAutoGrades(config=config).preprocess(notebook, place)
        AssignLatePenalties(config=config).preprocess(notebook, place)


def snapshot(course: Course) -> tuple[Rows, dict[str, dict[str, Any]]]:
    return rows_in(course), graded(course)


@pytest.fixture(scope="module")
def ways(
    course: Course, pristine: Course, hand_in, right, tmp_path_factory
) -> dict[str, list[tuple[Rows, dict[str, Any]]]]:
    """Grade the same class in three ways; return each one's rows and notebooks after the first run and the second.

    Between the runs a person gives points and comments, and one student's answer changes. What nbgrader's command needs
    nbgrader has made, and nothing of ours.
    """
    ours = prepare(pristine, tmp_path_factory.mktemp("ours"), hand_in, right)
    command, other = (prepare(course, tmp_path_factory.mktemp(name), hand_in, right) for name in ("cmd", "stock"))
    with open_gradebook(ours) as gradebook:
        ensure_registered(gradebook, package_of(ours.lesson(LESSON)))
    for by_nbgrader in (command, other):
        ensure_nbgrader_source(by_nbgrader.lesson(LESSON))
        assert open_nbgrader(by_nbgrader).generate_assignment(LESSON, force=True)["success"]
    found: dict[str, list[tuple[Rows, dict[str, Any]]]] = {"ours": [], "command": [], "stock": []}
    for again in (False, True):
        for each in (ours, command, other):
            if again:
                judge_by_hand(each)
                change_answer(each, hand_in, right)
            else:
                set_due_date(each)
        grade_lesson(ours, ours.lesson(LESSON), force=True, jobs=2)
        autograde(command)
        stock(other, ours)
        for way, graded_course in {"ours": ours, "command": command, "stock": other}.items():
            found[way].append(snapshot(graded_course))
    return found


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("way", ["command", "stock"])
def test_the_first_run_gives_the_same_rows(ways, way: str, table: str) -> None:
    assert ways[way][0][0][table] == ways["ours"][0][0][table]


@pytest.mark.parametrize("table", TABLES)
def test_a_second_run_of_nbgraders_command_gives_the_same_rows(ways, table: str) -> None:
    assert ways["command"][1][0][table] == ways["ours"][1][0][table]


@pytest.mark.parametrize("table", TABLES)
def test_a_second_run_differs_from_stock_in_what_it_flags_and_in_nothing_else(ways, table: str) -> None:
    end = -1 if table == "grade" else None
    ours, other = ({row[:end] for row in ways[way][1][0][table]} for way in ("ours", "stock"))
    assert ours == other


@pytest.mark.parametrize("again", [0, 1])
def test_nbgraders_command_writes_the_same_notebooks(ways, again: int) -> None:
    ours, command = ways["ours"][again][1], ways["command"][again][1]
    assert command.keys() == ours.keys() == {"ada", "ben", "cyd", "tom", "zoe"}
    for student, notebook in ours.items():
        assert command[student] == notebook


def flagged(rows: Rows) -> set[tuple[str, str]]:
    return {(student, cell) for student, cell, *_, needs in rows["grade"] if needs}


def test_an_answered_question_waits_for_a_person_and_an_empty_one_does_not(ways) -> None:
    assert flagged(ways["ours"][0][0]) == {(student, QUESTION) for student in ("ada", "cyd", "zoe")}


def test_after_a_regrade_what_a_person_has_judged_is_flagged_where_the_answer_changed_only(ways) -> None:
    assert flagged(ways["ours"][1][0]) == {("cyd", QUESTION), ("zoe", QUESTION)}
    assert flagged(ways["stock"][1][0]) == {(student, QUESTION) for student in ("ada", "cyd", "zoe")}


def test_points_and_comments_of_a_person_are_kept(ways) -> None:
    rows = ways["ours"][1][0]
    given = {(row[0], *row[1:2], *row[3:5]) for row in rows["grade"] if row[3] is not None}
    assert given == {("ada", QUESTION, 1.0, 0.5), ("zoe", QUESTION, 2.0, None)}
    said = {(row[0], row[3]) for row in rows["comment"] if row[3] is not None}
    assert said == {("ada", "Good."), ("zoe", "Very good.")}


def test_penalties_are_per_day_and_at_most_the_points(ways, full: int) -> None:
    assert ways["ours"][0][0]["notebook"] == {("ada", None), ("ben", 3.0), ("cyd", full), ("tom", None), ("zoe", None)}


@pytest.fixture(scope="module")
def graded_once(classroom: Course, hand_in, right) -> Course:
    """A course with one graded submission, whose answer a person has still to read."""
    hand_in(classroom, "ada", {**right, QUESTION: "Keys find, values give."})
    grade_lesson(classroom, classroom.lesson(LESSON), options={"seed": 5})
    return classroom


@pytest.fixture
def small(graded_once: Course, tmp_path: Path) -> Course:
    """A copy of it, which a test may change."""
    return copy_course(graded_once, tmp_path)


@pytest.mark.parametrize("step", ["_save_grades", "_save_comments", "_assign_penalty"])
def test_a_stop_in_the_middle_of_a_submission_leaves_no_row(scratch: Course, hand_in, monkeypatch, step: str) -> None:
    def stop(*_given: object) -> None:
        raise KeyboardInterrupt

    hand_in(scratch, "ada", {})
    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, step, stop)
        with pytest.raises(KeyboardInterrupt):
            grade_lesson(scratch, scratch.lesson(LESSON))
    rows = rows_in(scratch)
    assert [rows[table] for table in ("submission", "notebook", "grade", "comment")] == [set()] * 4
    assert not scratch.graded_notebook(scratch.lesson(LESSON), "ada").exists()


def test_a_stop_between_rows_and_notebook_is_graded_anew(scratch: Course, hand_in, right, monkeypatch) -> None:
    def stop(*_given: object) -> None:
        raise KeyboardInterrupt

    hand_in(scratch, "ada", right)
    lesson = scratch.lesson(LESSON)
    with monkeypatch.context() as patch:
        patch.setattr(run, "write_notebook", stop)
        with pytest.raises(KeyboardInterrupt):
            grade_lesson(scratch, lesson)
    assert [result.status for result in grade_lesson(scratch, lesson)] == ["graded"]
    assert len(rows_in(scratch)["submission"]) == 1


def test_what_cannot_be_written_stops_nobody_else(scratch: Course, hand_in, monkeypatch) -> None:
    real = GradebookWriter.save

    def save(writer: GradebookWriter, student: str, *given: Any) -> None:
        if student == "ada":
            raise OSError("no space left")
        real(writer, student, *given)

    for student in ("ada", "ben"):
        hand_in(scratch, student, {})
    monkeypatch.setattr(GradebookWriter, "save", save)
    results = {r.student: (r.status, r.note) for r in grade_lesson(scratch, scratch.lesson(LESSON))}
    assert results == {"ada": ("needs a person", "OSError: no space left"), "ben": ("graded", "")}


def test_the_gradebook_has_the_indexes_that_nbgraders_lacks(small: Course) -> None:
    with open_gradebook(small) as gradebook:
        for table, column in INDEXED.items():
            found = {tuple(index["column_names"]) for index in inspect(gradebook.engine).get_indexes(table)}
            assert (column,) in found


def replace_in(path: Path, old: str, new: str) -> None:
    source = path.read_text()
    assert old in source
    path.write_text(source.replace(old, new))


def regraded(course: Course) -> Lesson:
    lesson = course.lesson(LESSON)
    assert [result.status for result in grade_lesson(course, lesson, options={"seed": 5})] == ["graded"]
    return lesson


def test_a_changed_set_up_cell_is_registered_anew(small: Course) -> None:
    replace_in(small.lesson(LESSON).lesson_py, "import torch\n", "import torch\nimport math\n")
    regraded(small)
    assert "import math" in next(row[3] for row in rows_in(small)["source"] if row[0] == "setup")


def test_changed_points_are_registered_anew_and_count(small: Course) -> None:
    replace_in(small.lesson(LESSON).checks_py, '@check("attend", points=', '@check("attend", points=1')
    regraded(small)
    points = package_of(small.lesson(LESSON)).key.points()["attend"]
    assert points > 10
    assert ("ada", "check_attend", points) in {row[:3] for row in rows_in(small)["grade"]}


def question(name: str) -> str:
    return f"\n\n# %% question {name} [markdown] points=3\n# | 3 | All. |\n# | 0 | Nothing. |\n"


def test_a_new_question_gets_its_rows_on_a_regrade(small: Course) -> None:
    with small.lesson(LESSON).lesson_py.open("a") as lesson:
        lesson.write(question("R9"))
    regraded(small)
    assert {row[1] for row in rows_in(small)["grade"]} >= {QUESTION, "question_R9"}
    assert {row[1] for row in rows_in(small)["comment"]} >= {QUESTION, "question_R9"}


def test_a_question_that_nobody_has_judged_may_go(small: Course) -> None:
    replace_in(small.lesson(LESSON).lesson_py, "question R2", "question R3")
    regraded(small)
    names = {row[1] for row in rows_in(small)["grade"]}
    assert "question_R3" in names
    assert QUESTION not in names


def test_a_question_for_which_a_person_gave_points_may_not_go(small: Course) -> None:
    with open_gradebook(small) as gradebook:
        gradebook.find_grade(QUESTION, LESSON, LESSON, "ada").manual_score = 1.0
        gradebook.db.commit()
    before = rows_in(small)
    replace_in(small.lesson(LESSON).lesson_py, "question R2", "question R3")
    with pytest.raises(CourseError, match=f"no longer has {QUESTION}"):
        grade_lesson(small, small.lesson(LESSON))
    assert rows_in(small) == before


def test_a_changed_answer_stays_flagged_until_a_person_has_looked(small: Course, hand_in, right) -> None:
    def judge() -> None:
        with open_gradebook(small) as gradebook:
            grade = gradebook.find_grade(QUESTION, LESSON, LESSON, "ada")
            grade.manual_score, grade.needs_manual_grade = 1.0, False
            gradebook.db.commit()

    judge()
    hand_in(small, "ada", {**right, QUESTION: "Another answer."})
    for _ in range(2):
        grade_lesson(small, small.lesson(LESSON), force=True)
        assert flagged(rows_in(small)) == {("ada", QUESTION)}
    judge()
    grade_lesson(small, small.lesson(LESSON), force=True)
    assert flagged(rows_in(small)) == set()


def test_points_given_over_a_check_are_flagged_where_the_solution_changed(small: Course, hand_in, right) -> None:
    with open_gradebook(small) as gradebook:
        gradebook.find_grade("check_attend", LESSON, LESSON, "ada").manual_score = 1.0
        gradebook.db.commit()
    grade_lesson(small, small.lesson(LESSON), force=True)
    assert ("ada", "check_attend") not in flagged(rows_in(small))
    hand_in(small, "ada", {**right, "attend": WRONG})
    (result,) = grade_lesson(small, small.lesson(LESSON))
    assert ("ada", "check_attend") in flagged(rows_in(small))
    assert CHANGED in result.note


def test_no_draft_of_a_notebook_is_left(small: Course) -> None:
    assert [path.name for path in small.autograded.rglob("*.ipynb")] == [f"{LESSON}.ipynb"]


def test_what_the_exchange_finds_feedback_by_goes_with_the_graded_notebook(scratch: Course, hand_in) -> None:
    lesson, names = scratch.lesson(LESSON), ("timestamp.txt", "submission_secret.txt")
    for name in names:
        hand_in(scratch, "ada", {}).with_name(name).write_text(f"of {name}")
    write_notebook(scratch, lesson, "ada", "{}")
    graded = scratch.graded_notebook(lesson, "ada")
    assert [graded.with_name(name).read_text() for name in names] == [f"of {name}" for name in names]


@needs_accounts
def test_what_formgraders_button_has_made_read_only_is_graded_again_by_its_owner() -> None:
    with tempfile.TemporaryDirectory() as folder, accounts("prof") as (prof,):
        course = Course(Path(folder))
        lesson = Lesson(LESSON, course.root)
        for path in (course.submission(lesson, "ada"), course.graded_notebook(lesson, "ada")):
            path.parent.mkdir(parents=True)
            for name in (path.name, "timestamp.txt", "submission_secret.txt"):
                path.with_name(name).write_text("")
                path.with_name(name).chmod(0o444)  # as nbgrader leaves them
        for path in (course.root, *course.root.rglob("*")):
            os.chown(path, prof.uid, prof.gid)
        with acting_as(prof):
            write_notebook(course, lesson, "ada", "{}")
        assert course.graded_notebook(lesson, "ada").read_text() == "{}"
