"""What the proofs find in a lesson whose checks are not good enough."""

from dataclasses import replace

import pytest
import torch

from autograder.authoring.proofs import (
    ReferenceOutcomes,
    derived_answers_fail,
    honest_answers_pass,
    same_points_under_seeds,
    shared_out,
)
from autograder.judging.answer_key import AnswerKey, LessonSource, load_answer_key
from autograder.judging.edits import Mutant

BOXED = "import torch\ndef double(x):\n    return x(torch.ones(2)) if callable(x) else 2 * x\n"
REFERENCE = "import torch\ndef double(x):\n    return 2 * x\n"
HEAD = "import torch\nfrom autograder.checks import black_box, check\n"
GOOD = """
@check("double", points=1)
def numbers(double, draw):
    \"\"\"Some numbers.\"\"\"
    return double(draw.normal(2, 3))
"""
LUCKY = """
@check("double", points=1)
def sometimes(double, draw):
    \"\"\"Positive numbers, now and then.\"\"\"
    return double(torch.ones(1) * draw.integer(0, 1))
"""
SYMMETRIC = """
@check("double", points=1)
def symmetric(double, draw):
    \"\"\"A table that is its own transpose.\"\"\"
    return double(torch.ones(2, 2))
"""
OF_EVERY_KIND = """
from functools import partial
from autograder.checks import battery

@battery("double", points=1)
def kinds(double, draw):
    \"\"\"Every kind.\"\"\"
    return partial(double, draw.normal(2, 3)), double(draw.normal(1))
"""
ABOUT_BOXES = """
@black_box
def three(x):
    return 3 * x

@check("double", points=1)
def about(double, draw):
    \"\"\"A function.\"\"\"
    return double(three), double(draw.normal(1))
"""
DECLARED = "\nSYMMETRY = invariant('double', 'transposed', because='It is symmetric.')\n"
MISTAKES = """
from autograder.checks import solution
double = solution("double")
double.mutant("tripled", "2 * x", "3 * x", says="Three times, not twice.")
"""


def key_with(check: str) -> AnswerKey:
    return load_answer_key(
        LessonSource("l", "l", "L", 1, ("double",), REFERENCE, HEAD + check, HEAD, mistakes=MISTAKES)
    )


def test_good_checks_have_no_problem() -> None:
    key = key_with(GOOD)
    assert [*same_points_under_seeds(key, range(5)), *derived_answers_fail(key, 1)] == []


def test_a_mistake_in_an_optional_exercise_fails_although_it_loses_no_points() -> None:
    key = key_with(GOOD.replace("points=1", "points=0"))
    assert list(same_points_under_seeds(key, range(5))) == []


def test_a_check_that_tells_a_mistake_under_some_seeds_only_is_named() -> None:
    problems = list(same_points_under_seeds(key_with(LUCKY), range(10)))
    assert "double: the mistake tripled passes every check with seed" in problems[0]
    assert "double: whether tripled passes sometimes depends on the seed" in problems[1]


@pytest.mark.parametrize(("count", "each", "met"), [(6, 2, 2), (2, 2, 5), (1, 2, 10), (6, None, 10)])
def test_mistakes_share_out_the_seeds_of_which_none_is_left(count: int, each: int | None, met: int) -> None:
    key = key_with(GOOD)
    mistakes = tuple(replace(key.mistakes[0], name=f"tripled{number}") for number in range(count))
    dealt = [own for _, own in shared_out(replace(key, mistakes=mistakes), "double", range(10), each)]
    assert [len(set(own)) for own in dealt] == [met] * count
    assert set().union(*dealt) == set(range(10))


def test_a_derived_answer_that_passes_is_named() -> None:
    problems = list(derived_answers_fail(key_with(SYMMETRIC), 1))
    assert "double: the right result, transposed, passes every check: add one that it fails" in problems
    assert not any("negated" in problem for problem in problems)


def test_what_an_author_declares_to_make_no_difference_is_left_out() -> None:
    declared = HEAD.replace("check\n", "check, invariant\n") + DECLARED
    source = LessonSource("l", "l", "L", 1, ("double",), REFERENCE, HEAD + SYMMETRIC, declared)
    assert not any(", transposed," in problem for problem in derived_answers_fail(load_answer_key(source), 1))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("x + x", []),
        ("2 * x + 1e-9", []),
        ("2.1 * x", ["fails numbers at home", "fails numbers when graded with seed 1"]),
        ("torch.cdist(x, 0 * x[:1]) * 0 + 2 * x", ["raises a question: it ran aten::_cdist_forward"]),
        ("eval('x + x')", ["raises a question: its code uses eval"]),
    ],
)
def test_a_right_answer_that_is_refused_or_asked_about_is_named(body: str, told: list[str]) -> None:
    key = key_with(GOOD)
    variant = Mutant("double", "another", "", f"import torch\ndef double(x):\n    return {body}", key.define)
    assert list(honest_answers_pass(key, [variant], [1])) == [f"double: the right answer another {why}" for why in told]


def test_the_derived_answers_of_arrays_are_arrays() -> None:
    arrays = HEAD + SYMMETRIC.replace("torch.ones(2, 2)", "torch.ones(2, 2).numpy()")
    key = load_answer_key(LessonSource("l", "l", "L", 1, ("double",), REFERENCE, arrays, HEAD, mistakes=MISTAKES))
    assert any("the right result, transposed, passes every check" in found for found in derived_answers_fail(key, 1))
    assert not any("negated" in found for found in derived_answers_fail(key, 1))


@pytest.mark.parametrize(("work", "calls"), [(lambda x: 3 * x, 1), (lambda x: 2 * x if x.dim() < 2 else x, 4)])
def test_a_battery_is_asked_until_an_item_differs_and_to_its_end_where_none_does(work, calls: int) -> None:
    key = load_answer_key(LessonSource("l", "l", "L", 1, ("double",), REFERENCE, HEAD, HEAD + OF_EVERY_KIND))
    rights, asked = ReferenceOutcomes(key, 1), []

    def counted(x):
        asked.append(x)
        return work(x)

    assert rights.passed("double", counted) == []
    assert len(asked) == calls
    assert rights.passed("double", lambda x: x + x) == key.checks_of("double")


@pytest.mark.parametrize(("noise", "calls"), [(False, 1), (True, 3)])
def test_a_mistake_is_asked_about_a_black_box_once_unless_it_draws_numbers(noise: bool, calls: int) -> None:
    asked: list[object] = []

    def tripled(x):
        if not isinstance(x, torch.Tensor):
            asked.append(x)
            return x(torch.ones(2)) * (torch.rand(()) if noise else 1)
        return 3 * x

    key = load_answer_key(LessonSource("l", "l", "L", 1, ("double",), BOXED, HEAD + ABOUT_BOXES, HEAD))
    mistakes = (Mutant("double", "tripled", "Three times.", "", lambda *_: tripled),)
    assert list(same_points_under_seeds(replace(key, mistakes=mistakes), range(3))) == []
    assert len(asked) == calls
