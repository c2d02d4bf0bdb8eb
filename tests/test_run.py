"""A class is graded: what is new or changed, side by side, with a clean stop; `test_cluster` has other executors."""

import os
from concurrent.futures import Executor, Future
from pathlib import Path

import nbformat
import pytest

from autograder.classroom import run
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import AS_BEFORE, GRADED, StudentResult, closing_table, grade_lesson
from autograder.classroom.writer import GradebookWriter
from autograder.errors import NoSandboxError
from autograder.grading import submission
from autograder.grading.grade import RECORD
from autograder.judging.answer_key import AnswerKey
from autograder.paths import Course

from .conftest import FRAGILE, LESSON, needs_sandbox

pytestmark = needs_sandbox
SEED = {"seed": 11}
WRONG = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-2)
    return weights @ value, weights
"""


@pytest.fixture(scope="module")
def one_after_another(classroom: Course, hand_in, right) -> list[StudentResult]:
    """What comes of grading a class the plainest way."""
    hand_in(classroom, "ada", {**right, "question_R2": "Keys find, values give."})
    hand_in(classroom, "ben", {**right, "attend": WRONG})
    hand_in(classroom, "eve", {**right, "attend": FRAGILE})
    hand_in(classroom, "tom", {})
    return grade_lesson(classroom, classroom.lesson(LESSON), options=SEED)


@pytest.fixture(scope="module")
def graded(classroom: Course, one_after_another: list[StudentResult]) -> Course:
    assert one_after_another
    return classroom


def rows_in(course: Course) -> dict[tuple[str, str], tuple[float, bool]]:
    """Return every grade in the gradebook: points, and whether a person has to look."""
    with open_gradebook(course) as gradebook:
        return {
            (submission.student.id, grade.name): (grade.score, grade.needs_manual_grade)
            for submission in gradebook.assignment_submissions(LESSON)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def scores(results: list[StudentResult]) -> list[tuple[str, float | None]]:
    return [(result.student, result.score) for result in results]


def again(course: Course, **how) -> list[StudentResult]:
    return grade_lesson(course, course.lesson(LESSON), force=True, options=SEED, **how)


def score(course: Course, student: str, exercise: str) -> float:
    return rows_in(course)[(student, f"check_{exercise}")][0]


def test_credit_is_partial_and_in_whole_points(graded: Course, key: AnswerKey) -> None:
    assert score(graded, "ben", "attend") == 0
    assert 0 < score(graded, "eve", "attend") == key.points()["attend"] - 1


def test_side_by_side_gives_the_scores_of_one_after_another(graded: Course, one_after_another) -> None:
    before = Path.cwd()
    assert scores(again(graded, jobs=3)) == scores(one_after_another)
    assert Path.cwd() == before
    assert "NBGRADER_EXECUTION" not in os.environ


def test_the_seed_of_a_run_is_recorded_with_its_result(graded: Course) -> None:
    path = graded.graded_notebook(graded.lesson(LESSON), "ada")
    assert nbformat.read(path, 4).metadata[RECORD]["seed"] == SEED["seed"]


def test_a_second_run_grades_only_what_is_new_or_changed(scratch: Course, hand_in, right, full: int) -> None:
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "ada", {**right, "attend": WRONG})
    hand_in(scratch, "ben", right)
    assert [r.status for r in grade_lesson(scratch, lesson)] == ["graded", "graded"]
    hand_in(scratch, "ada", right)
    assert [(r.status, r.score) for r in grade_lesson(scratch, lesson)] == [("graded", full), ("as before", full)]


def test_a_changed_lesson_is_graded_anew(scratch: Course, hand_in, right) -> None:
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "ada", right)
    grade_lesson(scratch, lesson)
    lesson.hidden_py.write_text(lesson.hidden_py.read_text() + "\n# another hidden.py\n")
    assert [r.status for r in grade_lesson(scratch, lesson)] == ["graded"]


def test_demonstrations_can_be_skipped_and_a_students_own_cells_never_are(
    scratch: Course, hand_in, right, full: int
) -> None:
    changed = {**right, "attend": right["attend"] + "\nprint('mine')"}
    path = hand_in(scratch, "ada", changed)
    lesson = scratch.lesson(LESSON)
    path.write_text(path.read_text().replace("shares * norms", "shares * norms * 10"))
    (row,) = grade_lesson(scratch, lesson)
    cells = nbformat.read(scratch.graded_notebook(lesson, "ada"), 4).cells
    shown = {cell.source: bool(cell.outputs) for cell in cells if cell.cell_type == "code"}
    assert row.score == full
    assert not next(out for source, out in shown.items() if source.endswith("keys @ q"))
    assert next(out for source, out in shown.items() if "norms * 10" in source)
    assert next(out for source, out in shown.items() if "print('mine')" in source)


def stop(*_given: object) -> None:
    raise KeyboardInterrupt


class Postponed(Executor):
    """Runs nothing before somebody asks for a result, and remembers what it was given."""

    def __init__(self) -> None:
        self.futures: list[Future] = []

    def submit(self, work, /, *arguments) -> Future:
        future: Future = Future()
        if not self.futures:
            future.set_result(work(*arguments))
        self.futures.append(future)
        return future


def test_a_stop_cancels_what_has_not_begun_and_the_next_run_goes_on(scratch: Course, hand_in, monkeypatch) -> None:
    for number in range(9):
        hand_in(scratch, f"student{number}", {})
    lesson, pool = scratch.lesson(LESSON), Postponed()
    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, "save", stop)
        with pytest.raises(KeyboardInterrupt):
            grade_lesson(scratch, lesson, executor=pool)
    assert len(pool.futures) < 9
    assert all(future.cancelled() for future in pool.futures[1:])
    assert rows_in(scratch) == {}
    assert {r.status for r in grade_lesson(scratch, lesson, jobs=2)} == {"graded"}


def test_a_few_submissions_are_read_ahead_and_never_a_whole_class(scratch: Course, hand_in, monkeypatch) -> None:
    for number in range(9):
        hand_in(scratch, f"student{number}", {})
    reads: list[str] = []
    real = run.read_submission
    monkeypatch.setattr(run, "read_submission", lambda *place: (reads.append(place[2]), real(*place))[1])
    monkeypatch.setattr(GradebookWriter, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        grade_lesson(scratch, scratch.lesson(LESSON), executor=Postponed())
    assert len(reads) == 1 + run.PREFETCH


def statuses(course: Course, **options) -> set[str]:
    results = grade_lesson(course, course.lesson(LESSON), options={**SEED, **options})
    return {result.status for result in results}


def test_other_limits_or_a_newer_judge_grade_anew(graded: Course, monkeypatch) -> None:
    statuses(graded)
    assert statuses(graded) == {AS_BEFORE}
    assert statuses(graded, memory=1600) == {GRADED}
    monkeypatch.setattr(submission, "machinery_digest", lambda: "newer")
    assert statuses(graded, memory=1600) == {GRADED}
    assert statuses(graded, memory=1600) == {AS_BEFORE}


def test_where_nothing_can_be_isolated_nobody_is_graded_unasked(graded: Course, monkeypatch) -> None:
    monkeypatch.setattr(run, "unavailable_reason", lambda: "no bubblewrap")
    with pytest.raises(NoSandboxError, match="no bubblewrap"):
        grade_lesson(graded, graded.lesson(LESSON))


def test_the_closing_table_says_who_needs_a_person() -> None:
    good = StudentResult("ada", LESSON, "graded", 12, 14)
    bad = StudentResult("ben", LESSON, "needs a person", note="no notebook")
    lines = closing_table([good, bad])
    assert lines[-1] == "1 graded, 1 need a person."
    assert "no notebook" in lines[1]
