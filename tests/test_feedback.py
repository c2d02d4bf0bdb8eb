"""Feedback pages: they explain, and show nothing hidden."""

import pytest

from autograder.paths import Course

from .conftest import LESSON


def page(course: Course, student: str) -> str:
    return course.feedback_page(course.lesson(LESSON), student).read_text(encoding="utf-8")


def test_everybody_who_was_graded_has_a_page(reported: Course) -> None:
    made = {path.parent.parent.name for path in reported.feedback.glob(f"*/{LESSON}/{LESSON}.html")}
    assert made == {"=cmd_77", "fragile", "right_101", "two_mistakes", "unsolved"}


def test_a_page_names_the_mistake(reported: Course) -> None:
    assert "Your columns sum to 1" in page(reported, "two_mistakes")


def test_a_page_names_the_kind_of_a_hidden_check_that_failed(reported: Course) -> None:
    assert "hidden check: scores in the thousands" in page(reported, "fragile").lower()
    assert "infinity over infinity is NaN" in page(reported, "fragile")


@pytest.mark.parametrize("student", ["two_mistakes", "right_101", "unsolved"])
def test_a_page_shows_nothing_hidden(reported: Course, student: str) -> None:
    text = page(reported, student)
    title = "cores in the thousands, above and below zero"
    for secret in (title, "def scores_of_a_thousand", "exp_without_care", "BEGIN SOLUTION"):
        assert secret not in text


def test_a_page_shows_no_rubric(reported: Course, package) -> None:
    (rubric,) = package.rubrics.values()
    assert "For the grader only" not in page(reported, "right_101")
    assert rubric.splitlines()[0][:60] not in page(reported, "right_101")
