"""One strictness: what passes in a student's workspace passes when graded. `verify` asks it of variants.py."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.judging.answer_key import AnswerKey
from autograder.judging.compare import equal
from autograder.judging.fingerprint import GRADING_SLACK, TOLERANCES, fingerprint, same, vectors
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.target import Target
from autograder.judging.values import Returned
from autograder.judging.verdict import judge

from .answer_keys import key_of


def targets_for(right: torch.Tensor) -> tuple[Target, Target]:
    """The same check at home and graded."""
    outcome = Returned(right)
    return Target("t", "T.", 1, fingerprint(outcome)), Target("t", "T.", 1, fingerprint(outcome), exact=outcome)


@given(st.integers(0, 10**6), st.floats(-7.0, -1.0), st.integers(1, 5))
@settings(max_examples=200)
def test_what_passes_at_home_passes_graded(seed: int, size: float, width: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    right, noise = (torch.randn(3, width, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    home, graded = targets_for(right)
    outcome = Returned(right + 10**size * noise)
    assert graded.accepts(outcome) or not home.accepts(outcome)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=200)
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


def test_a_nearly_right_answer_is_no_known_mistake() -> None:
    right = torch.rand(4, 5, dtype=torch.float64) + 0.5
    nearly = right + 1e-3 * torch.randn(4, 5, dtype=torch.float64)
    known = {"other": fingerprint(Returned(right + 1e-5))}
    target = Target("t", "T.", 1, fingerprint(Returned(right)), known)
    failure = judge("task", [target], [Returned(nearly)], {"other": "Wrong reason."}).failure
    assert (failure.mistake, failure.message) == (None, "The shape is right, the numbers are not.")


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
        for factor in (0.5, GRADING_SLACK - 0.5, 100 * GRADING_SLACK)
    }
    assert accepted == {0.5: [True, True], GRADING_SLACK - 0.5: [False, True], 100 * GRADING_SLACK: [False, False]}


INF = torch.inf


@pytest.fixture(scope="module")
def masks_key() -> AnswerKey:
    return key_of("12_numpy_and_keras")


def reversed_table(table: Tensor) -> Tensor:
    return table.flip(-1)


def hidden_first(table: Tensor) -> Tensor:
    return table.sort(dim=-1).values


@pytest.mark.parametrize("move", [reversed_table, hidden_first])
@pytest.mark.parametrize("seed", [PUBLIC_SEED, 7], ids=["at home", "graded"])
def test_an_additive_mask_that_hides_other_keys_earns_nothing(masks_key: AnswerKey, move: Any, seed: int) -> None:
    right = masks_key.reference["convert_mask"]

    def moved(mask: Tensor, source: str, target: str) -> Tensor:
        result: Tensor = right(mask, source, target)
        return move(result) if target == "additive" else result

    check = next(check for check in masks_key.checks_of("convert_mask") if check.name == "all_pairs")
    target = next(t for t in masks_key.targets("convert_mask", seed) if t.name == "all_pairs")
    outcome = check.values(moved, seed)
    assert not target.accepts(outcome)
    assert not same(fingerprint(outcome), target.right, target.tolerance)


@pytest.mark.parametrize("kind", [torch.nan, INF, -INF])
@pytest.mark.parametrize(
    "wrap", [lambda t: t, lambda t: t.numpy(), lambda t: {"a": [t]}], ids=["tensor", "array", "in"]
)
def test_entries_that_are_not_finite_have_places(kind: float, wrap: Any) -> None:
    right, moved = (Returned(wrap(torch.tensor(row, dtype=torch.float64))) for row in ([kind, 0, 0], [0, kind, 0]))
    assert not same(fingerprint(moved), fingerprint(right))
    assert not equal(moved, right, None)
    assert same(fingerprint(right), fingerprint(right))
    assert equal(right, right, None)


def test_one_infinity_is_not_the_other_in_the_same_place() -> None:
    right, swapped = (Returned(torch.tensor(row)) for row in ([INF, -INF], [-INF, INF]))
    assert not same(fingerprint(swapped), fingerprint(right))
    assert not equal(swapped, right, None)


def test_grading_looks_at_places_and_not_at_their_product() -> None:
    """Among so many pairs of places there are two whose products agree by chance, and who looks for them finds them."""
    first, second = torch.triu_indices(400, 400, 1)
    products, order = (vectors(400)[0][first] + vectors(400)[0][second]).sort()
    alike = order[int(products.diff().argmin()) :][:2]
    right, moved = (
        Returned(torch.zeros(400, dtype=torch.float64).index_fill(0, torch.stack([first[n], second[n]]), -INF))
        for n in alike
    )
    assert same(fingerprint(moved), fingerprint(right))
    assert not equal(moved, right, None)


@pytest.mark.parametrize("huge", [1e200, torch.finfo(torch.float64).max, -torch.finfo(torch.float64).max])
def test_numbers_too_large_to_be_squared_have_places(huge: float) -> None:
    right, moved = (Returned(torch.tensor(row, dtype=torch.float64)) for row in ([huge, 0, 0], [0, huge, 0]))
    assert not equal(moved, right, None)
    assert not same(fingerprint(moved), fingerprint(right))
    assert equal(right, right, None)
    assert same(fingerprint(right), fingerprint(right))


def test_a_print_of_finite_numbers_is_as_short_as_before() -> None:
    assert "positions" not in fingerprint(Returned(torch.ones(2, 3)))["leaves"][""]


def test_norms_are_compared() -> None:
    right = fingerprint(Returned(torch.randn(20, dtype=torch.float64)))
    leaf = right["leaves"][""]
    assert not same({"leaves": {"": {**leaf, "norm": 1.01 * leaf["norm"]}}}, right)


def test_imaginary_parts_are_numbers_too() -> None:
    right, wrong = (Returned(torch.tensor([1 + 2j, imaginary])) for imaginary in (3j, -3j))
    assert not same(fingerprint(wrong), fingerprint(right))
    assert not equal(wrong, right, None)
    assert equal(Returned(np.array([1 + 2j])), Returned(np.array([1 + 2j])), None)
