"""One strictness: what passes in a student's workspace passes when graded, and honest numerics pass both."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.authoring.proofs import accepts_everywhere
from autograder.judging.fingerprint import GRACE, TOLERANCES, fingerprint
from autograder.judging.target import Target
from autograder.judging.values import Returned
from autograder.judging.verdict import judge
from autograder.paths import find_course

from .answer_keys import key_of, rights_of
from .honest_variants import VARIANTS, Variant

COURSE = find_course(Path(__file__).parent)
LESSONS = [lesson.name for lesson in COURSE.lessons()]


def targets_for(right: torch.Tensor) -> tuple[Target, Target]:
    """The same check at home and graded."""
    outcome = Returned(right)
    return Target("t", "T.", 1, fingerprint(outcome)), Target("t", "T.", 1, fingerprint(outcome), exact=outcome)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v.exercise}-{v.name}")
def test_an_honest_answer_passes_at_home_and_graded(variant: Variant) -> None:
    rights = [rights_of(variant.lesson, seed) for seed in (101, 102)]
    assert list(accepts_everywhere(key_of(variant.lesson), variant.exercise, variant.work, rights)) == []


def test_every_exercise_has_honest_variants() -> None:
    for lesson in LESSONS:
        assert {v.exercise for v in VARIANTS if v.lesson == lesson} == set(key_of(lesson).exercises)


@given(st.integers(0, 10**6), st.floats(-7.0, -1.0), st.integers(1, 5))
@settings(deadline=None, max_examples=200)
def test_what_passes_at_home_passes_graded(seed: int, size: float, width: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    right, noise = (torch.randn(3, width, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    home, graded = targets_for(right)
    outcome = Returned(right + 10**size * noise)
    assert graded.accepts(outcome) or not home.accepts(outcome)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=200)
def test_an_error_that_passes_at_home_passes_graded_on_other_inputs(seed: int, other: int) -> None:
    def pair(draw: int) -> tuple[torch.Tensor, Returned]:
        scores = torch.randn(4, 5, generator=torch.Generator().manual_seed(draw), dtype=torch.float64)
        return scores.softmax(-1), Returned(scores.softmax(-1) * (1 - 0.5 * TOLERANCES["float64"]))

    (here, mine), (there, theirs) = pair(seed), pair(other)
    assert targets_for(there)[1].accepts(theirs) or not targets_for(here)[0].accepts(mine)


def test_a_sum_with_a_tiny_epsilon_earns_everything() -> None:
    e = torch.randn(3, 4, dtype=torch.float64).exp()
    home, graded = targets_for(e / e.sum(-1, keepdim=True))
    for target in (home, graded):
        assert target.accepts(Returned(e / (e.sum(-1, keepdim=True) + 1e-8)))


def test_a_nearly_right_answer_is_told_so_and_not_a_known_mistake() -> None:
    right = torch.rand(4, 5, dtype=torch.float64) + 0.5
    nearly = right + 1e-3 * torch.randn(4, 5, dtype=torch.float64)
    known = {"other": fingerprint(Returned(right + 1e-5))}
    target = Target("t", "T.", 1, fingerprint(Returned(right)), known)
    failure = judge("task", [target], [Returned(nearly)], {"other": "Wrong reason."}).failure
    assert failure.message.startswith("Right to about three digits")


def test_a_mistake_that_is_right_on_the_failing_check_never_explains_it() -> None:
    right = Returned(torch.rand(4, 5, dtype=torch.float64))
    known = {"elsewhere": fingerprint(right)}
    targets = [Target("a", "A.", 1, fingerprint(right), known), Target("b", "B.", 1, fingerprint(right), known)]
    verdict = judge("task", targets, [Returned(right.tree + 1.0), right], {"elsewhere": "Wrong reason."})
    assert verdict.failure.mistake is None


def test_whole_numbers_are_compared_exactly() -> None:
    right = torch.arange(120, dtype=torch.float64).view(2, 60)
    swapped = right.clone()
    swapped[0, 4], swapped[0, 5] = right[0, 5], right[0, 4]
    assert not any(target.accepts(Returned(swapped)) for target in targets_for(right))


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
def test_an_answer_that_is_not_finite_agrees_with_its_like_alone(value: float) -> None:
    for right in (float(value), torch.tensor([value, 1.0], dtype=torch.float64)):
        home, graded = targets_for(right)
        others = [1.0, -value] if value == value else [1.0]
        wrong = [v if isinstance(right, float) else torch.tensor([v, 1.0], dtype=torch.float64) for v in others]
        assert home.accepts(Returned(right))
        assert graded.accepts(Returned(right))
        assert not any(t.accepts(Returned(w)) for t in (home, graded) for w in wrong)


def test_grading_allows_more_than_the_workspace() -> None:
    right = torch.ones(40, dtype=torch.float64)
    home, graded = targets_for(right)
    accepted = {
        factor: [t.accepts(Returned(right * (1 + factor * TOLERANCES["float64"]))) for t in (home, graded)]
        for factor in (0.5, GRACE - 0.5, 100 * GRACE)
    }
    assert accepted == {0.5: [True, True], GRACE - 0.5: [False, True], 100 * GRACE: [False, False]}
