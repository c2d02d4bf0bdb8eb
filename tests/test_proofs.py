"""What the proofs find in a lesson whose checks are not good enough."""

import pytest

from autograder.judging.answer_key import AnswerKey, LessonSource, load_answer_key
from autograder.judging.proofs import Rights, accepts_everywhere, derived_answers_fail, same_points_under_seeds

REFERENCE = "import torch\ndef double(x):\n    return 2 * x\n"
HEAD = "import torch\nfrom autograder.checks import check\n"
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


def test_a_check_that_tells_a_mistake_under_some_seeds_only_is_named() -> None:
    problems = list(same_points_under_seeds(key_with(LUCKY), range(10)))
    assert "double: the mistake tripled earns full points with seed" in problems[0]
    assert "double: whether tripled passes sometimes depends on the seed" in problems[1]


def test_a_derived_answer_that_passes_is_named() -> None:
    problems = list(derived_answers_fail(key_with(SYMMETRIC), 1))
    assert "double: the right result, transposed, passes every check: add one that it fails" in problems
    assert not any("negated" in problem for problem in problems)


def test_what_an_author_declares_to_make_no_difference_is_left_out() -> None:
    declared = HEAD.replace("import check", "import check, invariant") + DECLARED
    source = LessonSource("l", "l", "L", 1, ("double",), REFERENCE, HEAD + SYMMETRIC, declared)
    assert not any(", transposed," in problem for problem in derived_answers_fail(load_answer_key(source), 1))


@pytest.mark.parametrize(("work", "count"), [(lambda x: x + x, 0), (lambda x: 2.1 * x, 2), (lambda x: 2 * x + 1e-9, 0)])
def test_an_honest_answer_is_accepted_at_home_and_under_every_seed(work, count: int) -> None:
    key = key_with(GOOD)
    assert len(list(accepts_everywhere(key, "double", work, [Rights(key, 1), Rights(key, 2)]))) == count


def test_the_derived_answers_of_arrays_are_arrays() -> None:
    arrays = HEAD + SYMMETRIC.replace("torch.ones(2, 2)", "torch.ones(2, 2).numpy()")
    key = load_answer_key(LessonSource("l", "l", "L", 1, ("double",), REFERENCE, arrays, HEAD, mistakes=MISTAKES))
    assert any("the right result, transposed, passes every check" in found for found in derived_answers_fail(key, 1))
    assert not any("negated" in found for found in derived_answers_fail(key, 1))
