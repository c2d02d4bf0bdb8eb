"""Questions that do not count: one line of the configuration, no points, nobody who waits, and comments still."""

from collections.abc import Iterator

import pytest

from autograder.authoring.bundle import released_notebooks
from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.nbgrader_course import load_config, read_config
from autograder.authoring.sample_submissions import submission
from autograder.authoring.verify import missing_part_problems
from autograder.classroom.gradebook import ensure_registered, open_gradebook, submission_scores
from autograder.classroom.writer import GradebookWriter
from autograder.paths import CONFIG_NAME, Course

from .conftest import LESSON, copy_course

QUESTION = "question_R2"


@pytest.fixture
def without_r2(course: Course, tmp_path) -> Iterator[Course]:
    """A copy of the course in which one question of another lesson counts."""
    made = copy_course(course, tmp_path)
    with (tmp_path / CONFIG_NAME).open("a") as config:
        config.write('c.Questions.graded = ["R1"]\n')
    yield made
    read_config.cache_clear()


def test_every_question_counts_unless_the_configuration_says_otherwise(course: Course) -> None:
    cell = package_of(course.lesson(LESSON)).nbgrader_cells[QUESTION]
    assert (cell.graded, cell.answered) == (True, True)


def test_an_optional_question_carries_no_points_and_says_so(without_r2: Course) -> None:
    package = package_of(without_r2.lesson(LESSON))
    cell = package.nbgrader_cells[QUESTION]
    assert (cell.graded, cell.answered) == (False, True)
    assert "**Question R2** (optional, without points)." in package.released
    assert "**Question R1** (2 points" in package_of(without_r2.lesson("01_why_attention")).released


def test_students_get_it_without_another_build(without_r2: Course) -> None:
    path = f"notebooks/{LESSON}/{LESSON}.ipynb"
    assert "optional, without points" in released_notebooks(without_r2)[path].decode()


def test_a_lesson_whose_questions_are_optional_still_verifies(without_r2: Course) -> None:
    lesson = without_r2.lesson(LESSON)
    assert list(missing_part_problems(package_of(lesson).key, read_lesson(lesson))) == []


def test_nobody_waits_for_an_optional_answer(without_r2: Course) -> None:
    package = package_of(without_r2.lesson(LESSON))
    answered = submission(package, {QUESTION: "Keys decide how much, values what."})
    with open_gradebook(without_r2) as gradebook:
        ensure_registered(gradebook, package)
        GradebookWriter(gradebook, load_config(without_r2.root), LESSON).save("ada", answered, None)
        (standing,) = submission_scores(gradebook, LESSON)
        assert standing.max_score == sum(package.key.points().values())
        assert not standing.needs_manual_grade
        assert QUESTION in {cell.name for cell in gradebook.find_notebook(LESSON, LESSON).solution_cells}
