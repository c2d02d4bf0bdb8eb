"""Several submissions at once: the same rows as one after another, over any executor, and a clean stop."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from autograder.classroom.run import grade
from autograder.errors import CourseError
from autograder.paths import Course
from autograder.grading.sandbox import missing
from autograder.classroom.turns import in_turns, taking_turns

from .conftest import LESSON

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")
SEED = {"seed": 11}


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, right) -> Course:
    for number in range(3):
        hand_in(classroom, f"right{number}", right)
    hand_in(classroom, "wrong", {**right, "attend": "def attend(query, key, value):\n    return query, key"})
    hand_in(classroom, "unsolved", {})
    return classroom


def rows(course: Course, **how) -> list[tuple[str, float | None]]:
    graded = grade(course, course.lesson(LESSON), force=True, options=SEED, **how)
    return [(row.student, row.score) for row in graded]


def test_side_by_side_gives_the_rows_of_one_after_another(handed_in: Course) -> None:
    before = Path.cwd()
    assert rows(handed_in, jobs=3) == rows(handed_in, jobs=1)
    assert Path.cwd() == before
    assert "NBGRADER_EXECUTION" not in os.environ


def test_any_executor_will_do(handed_in: Course) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert rows(handed_in, jobs=1, executor=pool) == rows(handed_in, jobs=1)


def test_a_stop_ends_what_has_not_begun(tmp_path: Path) -> None:
    done = []

    def work(number: int) -> int:
        done.append(number)
        if number == 0:
            raise KeyboardInterrupt
        return number

    with taking_turns(tmp_path, 1) as turns:
        with pytest.raises(KeyboardInterrupt):
            list(in_turns(turns, 1, [lambda n=n: work(n) for n in range(50)]))
        with pytest.raises(CourseError, match="stopped before"):
            turns.take(lambda: 1)
    assert len(done) < 50
