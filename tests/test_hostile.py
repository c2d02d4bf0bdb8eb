"""Broken submissions, beside good ones whose grades must not change."""

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.notebook import notebook_text, read_notebook
from autograder.classroom.run import StudentResult, grade_lesson
from autograder.judging.answer_key import AnswerKey
from autograder.paths import Course

from .conftest import LESSON

HOSTILE = Path(__file__).parent / "hostile"


def edit(path: Path, change) -> None:
    notebook = read_notebook(path)
    change(notebook)
    path.write_text(notebook_text(notebook), encoding="utf-8")


def cell(notebook, grade_id: str):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def duplicate(notebook) -> None:
    copy = nbformat.from_dict(dict(cell(notebook, "check_attend")))
    notebook.cells.append(nbformat.from_dict({**copy, "id": "copied"}))


def delete_check(notebook) -> None:
    notebook.cells.remove(cell(notebook, "check_attend"))


def edit_check(notebook) -> None:
    cell(notebook, "check_attend").source = "pass"


def strip(notebook) -> None:
    for c in notebook.cells:
        c.metadata.pop("nbgrader", None)


def strip_and_rename(notebook) -> None:
    strip(notebook)
    for c in notebook.cells:
        c.source = c.source.replace("def attend(", "def my_attend(").replace("check(attend)", "check(my_attend)")


def scribble(notebook) -> None:
    """Add more cells of one's own than a submission may have processes."""
    notebook.cells[10:10] = [nbformat.v4.new_code_cell(f"i{n} = {n}", id=f"own-{n}") for n in range(90)]


def raise_points(notebook) -> None:
    cell(notebook, "check_attend").metadata["nbgrader"]["points"] = 400


@pytest.fixture(scope="module")
def rows(classroom: Course, hand_in, right) -> dict[str, StudentResult]:
    unsolved = {**right, "attend": "def attend(query, key, value):\n    raise NotImplementedError()"}
    hand_in(classroom, "aa_good", right)
    edit(hand_in(classroom, "duplicated", right), duplicate)
    edit(hand_in(classroom, "deleted", right), delete_check)
    edit(hand_in(classroom, "edited", unsolved), edit_check)
    edit(hand_in(classroom, "stripped", right), strip)
    edit(hand_in(classroom, "unrecognizable", right), strip_and_rename)
    edit(hand_in(classroom, "scribbler", right), scribble)
    edit(hand_in(classroom, "greedy", unsolved), raise_points)
    warn = "import warnings, sys\nwarnings.warn('careful')\nprint('!', file=sys.stderr)\n"
    hand_in(classroom, "warning", {**right, "attend": warn + right["attend"]})
    hand_in(classroom, "exits", {**right, "copy_previous_qk": "import os\nos._exit(0)"})
    hand_in(classroom, "printed", {**right, "attend": right["attend"] + "\nprint('x' * 10_000_000)"})
    hand_in(classroom, "number", {**right, "attend": "def attend(query, key, value):\n    return 1\n4.0"})
    for name in ("not_json", "not_a_notebook", "empty_notebook"):
        path = hand_in(classroom, name, {})
        shutil.copy(HOSTILE / f"{name}.ipynb", path)
    hand_in(classroom, "renamed", right).rename(classroom.submitted / "renamed" / LESSON / "mine.ipynb")
    (classroom.submitted / "empty" / LESSON).mkdir(parents=True)
    hand_in(classroom, "zz_good", right)
    return {row.student: row for row in grade_lesson(classroom, classroom.lesson(LESSON), jobs=2)}


def test_an_answer_survives_the_loss_of_all_metadata(classroom: Course, hand_in, right, rows, full: int) -> None:
    path = hand_in(classroom, "writer", right)

    def answer(notebook) -> None:
        cell(notebook, "question_R2").source = "Because keys are for finding."
        strip(notebook)

    edit(path, answer)
    row = next(r for r in grade_lesson(classroom, classroom.lesson(LESSON)) if r.student == "writer")
    assert (row.status, row.score, row.note) == ("graded", full, "questions wait for a person's grade")
    kept = read_notebook(classroom.autograded / "writer" / LESSON / f"{LESSON}.ipynb")
    assert cell(kept, "question_R2").source == "Because keys are for finding."


@pytest.mark.parametrize(
    "student", ["aa_good", "zz_good", "duplicated", "deleted", "stripped", "scribbler", "warning", "printed"]
)
def test_honest_work_earns_its_points_whatever_happened_to_the_file(
    rows: dict[str, StudentResult], full: int, student: str
) -> None:
    assert (rows[student].status, rows[student].score) == ("graded", full)


@pytest.mark.parametrize("student", ["edited", "greedy", "number"])
def test_a_changed_check_cell_earns_nothing(
    rows: dict[str, StudentResult], key: AnswerKey, full: int, possible: int, student: str
) -> None:
    earned = ("graded", full - key.points()["attend"], possible)
    assert (rows[student].status, rows[student].score, rows[student].max_score) == earned


def test_points_earned_before_the_process_ended_are_kept(
    rows: dict[str, StudentResult], key: AnswerKey, full: int
) -> None:
    earned = ("graded", full - key.points()["copy_previous_qk"])
    assert (rows["exits"].status, rows["exits"].score) == earned


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("not_json", "cannot be read as a notebook"),
        ("not_a_notebook", "cannot be read as a notebook"),
        ("empty_notebook", "none of the lesson's exercise cells"),
        ("unrecognizable", "none of the lesson's exercise cells (cell metadata is gone"),
        ("renamed", f"no {LESSON}.ipynb; the folder holds mine.ipynb"),
        ("empty", f"no {LESSON}.ipynb; the folder holds nothing"),
    ],
)
def test_what_cannot_be_graded_is_said_in_one_line(rows: dict[str, StudentResult], student: str, words: str) -> None:
    row = rows[student]
    assert row.needs_person
    assert words in row.note
    assert "\n" not in row.note
