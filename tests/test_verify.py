"""The proofs, and that each of them can fail."""

import re

import pytest

from autograder.authoring.lesson import read_lesson
from autograder.authoring.package import package_of
from autograder.authoring.sample_submissions import linked_exercises
from autograder.authoring.verify import distinctness_problems, missing_part_problems, public_message_problems, verify
from autograder.paths import Course, Lesson, find_course

from .conftest import LESSON

LESSONS = [lesson.name for lesson in find_course().lessons()]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_proved(course: Course, name: str) -> None:
    """What its demonstrations do is proved by nbval, which runs them once more."""
    assert verify(course.lesson(name), demonstrations=False, seeds=1) == []


def spoil(course: Course, file: str, old: str, new: str) -> Lesson:
    lesson = course.lesson(LESSON)
    path = lesson.folder / file
    assert re.search(old, path.read_text(), re.S)
    path.write_text(re.sub(old, new, path.read_text(), count=1, flags=re.S))
    return lesson


def test_a_mistake_that_is_right_is_found(scratch: Course) -> None:
    lesson = spoil(scratch, "mistakes.py", r'"key @ query\.mT"', '"query @ key.mT + 0"')
    assert "the mistake keys_in_rows passes every check" in "".join(distinctness_problems(package_of(lesson).key))


def test_two_mistakes_that_look_alike_are_found(scratch: Course) -> None:
    lesson = spoil(scratch, "mistakes.py", r'"key @ query\.mT"', '"query @ key"')
    assert "no_transpose and keys_in_rows look alike" in "".join(distinctness_problems(package_of(lesson).key))


def test_an_exercise_without_hidden_checks_is_found(scratch: Course) -> None:
    lesson = spoil(scratch, "hidden.py", r'@check\("project_qkv", points=1\)\n', "")
    assert "project_qkv has no hidden check" in "".join(
        missing_part_problems(package_of(lesson).key, read_lesson(lesson))
    )


def test_a_check_that_no_mistake_fails_is_found(scratch: Course) -> None:
    idle = (
        '@check("attend", points=1)\ndef idle(attend: Any, draw: Inputs) -> Any:\n    """Idle."""\n    return 1\n\n\n'
    )
    lesson = spoil(scratch, "hidden.py", "# Attention\n", idle)
    assert "no mistake fails idle" in "".join(missing_part_problems(package_of(lesson).key, read_lesson(lesson)))


def test_a_message_that_reaches_nobody_is_found(scratch: Course) -> None:
    twin = 'attend = solution("attend")\nattend.mutant("twin", "dim=-1", "dim=-2", says="Twin.")\n'
    lesson = spoil(scratch, "mistakes.py", r'attend = solution\("attend"\)\n', twin)
    problems = "".join(public_message_problems(package_of(lesson).key))
    assert "softmax_over_queries is told 'Twin.' at home" in problems


def test_a_solution_that_does_not_earn_its_points_is_found(scratch: Course, monkeypatch) -> None:
    lesson = scratch.lesson(LESSON)
    monkeypatch.setattr("autograder.authoring.verify.solutions", lambda cells: {"attend": "attend = None"})
    monkeypatch.setattr("autograder.authoring.verify.one_mistake_each", lambda package, right: [])
    problems = "".join(verify(lesson, seeds=1))
    assert "attend: the solution earns 0 of 4 points" in problems


def test_a_demonstration_that_needs_an_exercise_is_found(scratch: Course, monkeypatch) -> None:
    lesson = spoil(scratch, "lesson.py", r"shares \* norms\n", "attend(q2, k3, v3)\n")
    monkeypatch.setattr("autograder.authoring.verify.one_mistake_each", lambda package, right: [])
    problems = "".join(verify(lesson, seeds=1))
    assert "with NotImplementedError: use PyTorch's function there" in problems


def test_an_exercise_that_is_only_named_in_a_docstring_is_not_used() -> None:
    code = {"f": "def f(x):\n    return g(x)", "g": "def g(x):\n    return x", "h": 'def h(x):\n    """As in f."""'}
    assert linked_exercises(code) == {"f", "g"}
