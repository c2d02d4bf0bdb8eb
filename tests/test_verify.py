"""The proofs, and that each of them can fail."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.proofs import variant_problems
from autograder.authoring.sample_submissions import linked_exercises, solutions
from autograder.authoring.verify import (
    distinctness_problems,
    graded_submission_problems,
    judged_mistake_problems,
    missing_part_problems,
    public_message_problems,
    solved_and_released_problems,
    stop_problem,
    unsaid_ban_problems,
    verify,
)
from autograder.errors import LessonError
from autograder.grading.grade import RECORD
from autograder.grading.package import LessonPackage
from autograder.judging.shortcuts import shortcut
from autograder.paths import Course, Lesson, find_course

from .conftest import LESSON
from .proofs_kept import ROOT, machinery, proof_digest

LESSONS = [lesson.name for lesson in find_course().lessons()]
FEW = 1  # of the twenty seeds, beside the one under which all are judged: the others would take longer than the rest


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_is_proved(course: Course, name: str, pytestconfig: pytest.Config) -> None:
    """What its demonstrations do is proved by nbval, which runs them once more.

    `make verify` grades all mistakes and has each of them meet all seeds.
    """
    lesson, proofs = course.lesson(name), pytestconfig.cache
    digest = proof_digest(lesson)
    if proofs.get(f"proofs/{name}", None) != digest:
        assert verify(lesson, demonstrations=False, seeds=FEW, wrong=1) == []
        proofs.set(f"proofs/{name}", digest)


def test_a_proof_is_kept_until_anything_changes_that_goes_into_it(scratch: Course, monkeypatch) -> None:
    lesson = scratch.lesson(LESSON)
    proved = proof_digest(lesson)
    for path in (lesson.lesson_py, lesson.checks_py, lesson.hidden_py, lesson.fingerprints_json):
        before = path.read_text()
        path.write_text(before + "\n")
        assert proof_digest(lesson) != proved, path
        path.write_text(before)
    (lesson.folder / "more.txt").write_text("a text to learn from")
    assert proof_digest(lesson) != proved
    (lesson.folder / "more.txt").unlink()
    assert proof_digest(lesson) == proved
    monkeypatch.setattr("tests.proofs_kept.platform.python_version", lambda: "3.99.0")
    assert proof_digest(lesson) != proved


def test_a_proof_follows_the_layers_that_prove_and_the_tests_that_keep_it() -> None:
    """`test_architecture` sees to it that these layers import nothing of the one that is left out."""
    names = {path.relative_to(ROOT).as_posix() for path in machinery()}
    assert "autograder/classroom/run.py" not in names
    assert {"autograder/judging/compare.py", "autograder/authoring/verify.py", "constraints.txt"} <= names
    assert {"tests/test_verify.py", "tests/proofs_kept.py", "pyproject.toml"} <= names


def test_an_exercise_without_a_right_answer_written_another_way_is_found(course: Course) -> None:
    lesson = course.lesson(LESSON)
    key = package_of(lesson).key
    others = tuple(variant for variant in key.variants if variant.exercise != "attend")
    problem, *more = variant_problems(replace(key, variants=others))
    assert not more
    assert problem.startswith("attend has no right answer written another way")
    assert problem.endswith(f'solution("attend").variant(…) in solutions/{LESSON}/variants.py')


def test_a_variant_that_does_not_fit_names_its_line(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    lesson.variants_py.write_text(
        'from autograder.checks import solution\nsolution("attend").variant("x", "y_y", "z")\n'
    )
    with pytest.raises(LessonError, match=r"variants\.py:2: x: `y_y` is not there"):
        package_of(lesson)


def test_a_mistake_is_judged_as_grading_would(scratch: Course) -> None:
    lesson = spoil(scratch, "mistakes.py", r'"key @ query\.mT"', '"(query @ key.mT)"')
    problems = list(judged_mistake_problems(package_of(lesson).key))
    assert problems == ["attention_scores: the mistake keys_in_rows earns full points"]


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
    lesson = spoil(scratch, "hidden.py", r'@battery\("project_qkv", points=1\)\n', "")
    assert "project_qkv has no hidden check" in "".join(
        missing_part_problems(package_of(lesson).key, read_lesson(lesson))
    )


def test_an_exercise_without_points_says_that_it_is_optional(scratch: Course) -> None:
    lesson = spoil(scratch, "hidden.py", r'(@battery\("project_qkv", points=)1\)\n', r"\g<1>0)\n")
    lesson = spoil(scratch, "checks.py", r'(@check\("project_qkv", points=)\d', r"\g<1>0")
    problems = "".join(missing_part_problems(package_of(lesson).key, read_lesson(lesson)))
    assert "project_qkv: its heading says (optional, without points) if, and only if," in problems
    lesson = spoil(scratch, "lesson.py", r"(### Exercise 2.1: [^\n]*)", r"\1 (optional, without points)")
    assert "optional" not in "".join(missing_part_problems(package_of(lesson).key, read_lesson(lesson)))


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


def graded(lesson: Lesson, right: dict[str, str] | None = None) -> str:
    """Return what is wrong with the solved and the released notebook, graded with the lesson's own cells."""
    right = right or solutions(read_lesson(lesson))
    return "".join(graded_submission_problems(package_of(lesson), right, [], 1, demonstrations=True))


def test_a_solution_that_does_not_earn_its_points_is_found(course: Course) -> None:
    problems = graded(course.lesson(LESSON), {"attend": "attend = None"})
    assert "attend: the solution does not pass every check (0 of 4 points)" in problems


def test_the_solution_of_an_optional_exercise_passes_its_checks() -> None:
    record = {RECORD: {"flags": [], "verdicts": {"double": {"points": 0, "passed": False}}}}
    package = SimpleNamespace(key=SimpleNamespace(points=lambda: {"double": 0}))
    problems = solved_and_released_problems(cast(LessonPackage, package), {"metadata": record}, {"metadata": record})
    assert next(problems) == "double: the solution does not pass every check (0 of 0 points)"


def test_a_demonstration_that_needs_an_exercise_is_found(scratch: Course) -> None:
    lesson = spoil(scratch, "lesson.py", r"shares \* norms\n", "attend(q2, k3, v3)\n")
    assert "with NotImplementedError: use PyTorch's function there" in graded(lesson)


def test_an_exercise_that_is_only_named_in_a_docstring_is_not_used() -> None:
    code = {"f": "def f(x):\n    return g(x)", "g": "def g(x):\n    return x", "h": 'def h(x):\n    """As in f."""'}
    assert linked_exercises(code) == {"f", "g"}


def test_a_demonstration_may_read_what_students_are_given(scratch: Course) -> None:
    lesson = spoil(scratch, "lesson.py", r"shares \* norms\n", "open('tale.txt').read()\n")
    (lesson.folder / "tale.txt").write_text("Once upon a time")
    assert "FileNotFoundError" not in graded(lesson)


def test_a_ban_that_its_exercise_does_not_state_is_named(course: Course) -> None:
    bans = [shortcut("attend", "scaled_dot_product_attention", "einsum", because="Write it.")]
    (problem,) = unsaid_ban_problems(bans, read_lesson(course.lesson(LESSON)))
    assert problem == "attend: its text does not say that einsum is not allowed, and a shortcut forbids it"


def test_what_a_limit_has_stopped_is_not_told_to_use_another_function() -> None:
    slow = {"ename": "SubmissionStopped", "evalue": "This cell took more than 30 seconds of processor time."}
    assert stop_problem("train()\nshow()", slow) == f"the released notebook stops at `train()`: {slow['evalue']}"
    lost = {"ename": "FileNotFoundError", "evalue": "prose.txt"}
    assert stop_problem("read()", lost) == "the released notebook stops at `read()` with FileNotFoundError: prose.txt"
    unsolved = {"ename": "NameError", "evalue": "name 'attend' is not defined"}
    assert stop_problem("attend(x)", unsolved).endswith("with NameError: use PyTorch's function there")
