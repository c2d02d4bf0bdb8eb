"""Lesson 3's reference against independent oracles."""

import pytest
import torch
from torch.nn import functional

from autograder.judging.answer_key import AnswerKey

from .answer_keys import SEED, key_of

WIDTHS = (4, 16, 64, 256, 1024)


@pytest.fixture(scope="module")
def scaling() -> AnswerKey:
    return key_of("03_scaling")


@pytest.mark.parametrize("scale", [None, 0.0, 0.3])
def test_scaled_attend_agrees_with_pytorchs_own_attention(scaling: AnswerKey, scale: float | None) -> None:
    q, k, v = (torch.randn(2, 3, *size, dtype=torch.float64) for size in ((5, 4), (7, 4), (7, 6)))
    output, weights = scaling.reference["scaled_attend"](q, k, v, scale)
    oracle = functional.scaled_dot_product_attention(q, k, v, scale=scale)
    torch.testing.assert_close(output, oracle, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))


def test_the_jacobian_agrees_with_autograd(scaling: AnswerKey) -> None:
    scores = torch.randn(4, 6, dtype=torch.float64)
    table = scaling.reference["softmax_jacobian"](scores.softmax(-1))
    for row, own in zip(scores, table, strict=True):
        torch.testing.assert_close(own, torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row))
    torch.testing.assert_close(table.sum(-1), torch.zeros(4, 6, dtype=torch.float64), atol=1e-12, rtol=0)


def test_the_response_to_the_query_agrees_with_autograd(scaling: AnswerKey) -> None:
    query, key, value = (torch.randn(2, size, width, dtype=torch.float64) for size, width in ((3, 4), (5, 4), (5, 6)))
    weights = (query @ key.mT * 0.3).softmax(-1)
    table = scaling.reference["query_jacobian"](weights, key, value, 0.3)

    def output(query: torch.Tensor) -> torch.Tensor:
        return (query @ key.mT * 0.3).softmax(-1) @ value

    full = torch.autograd.functional.jacobian(output, query)  # (2, 3, 6, 2, 3, 4)
    torch.testing.assert_close(table, torch.einsum("blvblq->blvq", full))


@pytest.mark.parametrize("d", [16, 256])
def test_the_measured_spread_is_the_root_of_the_width(scaling: AnswerKey, d: int) -> None:
    raw, scaled = scaling.reference["score_std"](d, 20_000, torch.Generator().manual_seed(3))
    assert raw == pytest.approx(d**0.5, rel=0.03)
    assert scaled == pytest.approx(1.0, rel=0.03)


def test_any_sound_way_of_measuring_passes(scaling: AnswerKey) -> None:
    def drawn_in_another_order(d_k, n, generator):
        k = torch.randn(d_k, n, generator=generator, dtype=torch.float64)
        q = torch.randn(d_k, n, generator=generator, dtype=torch.float64)
        scores = torch.einsum("dn,dn->n", q, k)
        return float(scores.std(correction=0)), float((scores / d_k**0.5).std())

    for seed in range(5):
        for check, target in zip(scaling.checks_of("score_std"), scaling.targets("score_std", seed), strict=True):
            assert target.accepts(check.summarize(check.values(drawn_in_another_order, seed)))


def test_only_the_root_keeps_the_largest_weight(scaling: AnswerKey) -> None:
    def largest(d: int, factor: float) -> float:
        generator = torch.Generator().manual_seed(0)
        q, k = (torch.randn(500, n, d, generator=generator) for n in (1, 16))
        return float((q @ k.mT * factor).softmax(-1).amax(-1).mean())

    assert f"{largest(1024, 1):.2f} {largest(1024, 1 / 1024):.2f}" == "0.97 0.07"
    assert {f"{largest(d, d**-0.5):.2f}" for d in WIDTHS} <= {"0.24", "0.25"}


def by_differences(weights: torch.Tensor) -> torch.Tensor:
    """Compute the Jacobian of softmax to twelve digits without its formula."""
    steps = torch.eye(weights.shape[-1], dtype=torch.float64)

    def slope(h: float) -> torch.Tensor:
        up, down = (weights.double().unsqueeze(-2) * (sign * h * steps).exp() for sign in (1, -1))
        return (up / up.sum(-1, keepdim=True) - down / down.sum(-1, keepdim=True)) / (2 * h)

    table = (64 * slope(0.0025) - 20 * slope(0.005) + slope(0.01)) / 45
    return table.mT.to(weights.dtype)


def test_differences_are_no_formula(scaling: AnswerKey) -> None:
    exercise = "softmax_jacobian"
    weights = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    assert torch.allclose(by_differences(weights), scaling.reference[exercise](weights), atol=1e-11)
    targets = zip(scaling.checks_of(exercise), scaling.targets(exercise, SEED), strict=True)
    passed = [target.accepts(check.summarize(check.values(by_differences, SEED))) for check, target in targets]
    assert passed == [True, False, False]
