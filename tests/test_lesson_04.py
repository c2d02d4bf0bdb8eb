"""Lesson 4's reference against independent oracles."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.judging.values import Returned

from .answer_keys import key_of

KEY = key_of("04_softmax")
REFERENCE = KEY.reference


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_stable_softmax_agrees_with_pytorchs(dim: int, size: float) -> None:
    x = size * torch.randn(3, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(REFERENCE["stable_softmax"](x, dim), x.softmax(dim), rtol=1e-10, atol=1e-12)


class TemperatureError(ValueError):
    pass


def test_a_value_error_of_ones_own_is_one() -> None:
    def temperature_softmax(x: torch.Tensor, temperature: float, dim: int = -1) -> torch.Tensor:
        if temperature <= 0:
            raise TemperatureError
        return REFERENCE["temperature_softmax"](x, temperature, dim)

    outcomes = [check.values(temperature_softmax, 1) for check in KEY.checks_of("temperature_softmax")]
    assert KEY.verdict("temperature_softmax", 1, outcomes).points == 2


@given(st.integers(1, 12), st.integers(1, 14), st.sampled_from([1.0, 30.0, 1e4]), st.integers(0, 999))
def test_streaming_agrees_with_all_at_once(n: int, chunk: int, size: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = size * torch.randn(n, generator=generator, dtype=torch.float64)
    values = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    streamed = REFERENCE["streaming_attend"](scores, values, chunk)
    torch.testing.assert_close(streamed, scores.softmax(-1) @ values, rtol=1e-10, atol=1e-10)


def test_entropy_agrees_with_pytorchs_and_has_a_finite_gradient() -> None:
    w = torch.randn(4, 6, dtype=torch.float64).softmax(-1)
    torch.testing.assert_close(REFERENCE["attention_entropy"](w), torch.special.entr(w).sum(-1))
    one_hot = torch.eye(3, dtype=torch.float64, requires_grad=True)
    entropy = REFERENCE["attention_entropy"](one_hot)
    entropy.sum().backward()
    assert entropy.tolist() == [0.0, 0.0, 0.0]
    assert one_hot.grad.isfinite().all()


def test_a_temperature_has_to_be_above_zero() -> None:
    for temperature in (0, -1.0):
        with pytest.raises(ValueError, match="above 0"):
            REFERENCE["temperature_softmax"](torch.randn(3), temperature)


def test_a_quotient_that_half_precision_cannot_hold_is_no_obstacle() -> None:
    half = torch.tensor([20.0, 19.0, 7.0], dtype=torch.float16)
    assert (half / 0.0001).softmax(-1).isnan().all()
    assert REFERENCE["temperature_softmax"](half, 0.0001).tolist() == [1.0, 0.0, 0.0]


def test_the_streaming_example_by_hand() -> None:
    scores, values = torch.tensor([0, math.log(2), math.log(3)]), torch.tensor([[6.0, 0], [0, 6], [12, 12]])
    torch.testing.assert_close(REFERENCE["streaming_attend"](scores, values, 2), torch.tensor([7.0, 8.0]))
    by_piece = torch.stack([scores[:1].softmax(-1) @ values[:1], scores[1:].softmax(-1) @ values[1:]]).mean(0)
    torch.testing.assert_close(by_piece, torch.tensor([6.6, 4.8]))


def test_the_range_of_exp_is_as_the_lesson_says() -> None:
    for dtype, below, above in ((torch.float16, 11.0, 11.2), (torch.float32, 88.7, 88.8)):
        assert torch.tensor([below, above], dtype=dtype).exp().isinf().tolist() == [False, True]


READ = {
    "exp under another name": """
        e = (scores - scores[scores.argmax()]).expm1() + 1
        return e @ values / e.sum()""",
    "all but the first key": """
        e = torch.cat([scores[:1] - 9, scores[1:] - 9]).exp()
        return e @ values / e.sum()""",
    "padded": """
        rows = torch.nn.functional.pad(scores, (0, -len(scores) % chunk), value=-torch.inf).view(-1, chunk)
        e = (rows - rows.amax()).exp().flatten()[: len(scores)]
        return e @ values / e.sum()""",
    "the largest of all": """
        largest, total, mixed = scores[scores.argsort()[-1]], 0.0, 0.0
        for s, v in zip(scores.split(chunk), values.split(chunk)):
            e = (s - largest).exp()
            total, mixed = total + e.sum(), mixed + e @ v
        return mixed / total""",
    "a list": """
        numbers = scores.tolist()
        e = [math.exp(number - max(numbers)) for number in numbers]
        return sum(n * v for n, v in zip(e, values)) / sum(e)""",
    "an array": """
        e = np.exp(np.asarray(scores) - np.asarray(scores).max())
        return torch.as_tensor(e @ np.asarray(values) / e.sum())""",
}
AGAIN = {
    "the largest of all pieces": """
        largest, total, mixed = max(s.max() for s in scores.split(chunk)), 0.0, 0.0
        for s, v in zip(scores.split(chunk), values.split(chunk)):
            e = (s - largest).exp()
            total, mixed = total + e.sum(), mixed + e @ v
        return mixed / total""",
    "the largest of all numbers": """
        largest = max(float(s) for s in scores)
        parts = [((s - largest).exp(), v) for s, v in zip(scores.split(chunk), values.split(chunk))]
        return sum(e @ v for e, v in parts) / sum(e.sum() for e, _ in parts)""",
}
ONCE = {
    "pieces joined at the end": """
        parts = []
        for s, v in zip(scores.split(chunk), values.split(chunk)):
            e = (s - s.max()).exp()
            parts.append((s.max(), e.sum(), e @ v))
        largest, total, mixed = (torch.stack(part) for part in zip(*parts))
        factor = (largest - largest.max()).exp()
        return factor @ mixed / (factor @ total)""",
    "padded": """
        given = torch.nn.functional.pad(scores.double(), (0, -len(scores) % chunk), value=-torch.inf).view(-1, chunk)
        largest, total, mixed = scores.new_full((), -torch.inf), 0.0, values.new_zeros(values.shape[-1])
        for s, v in zip(given, values.split(chunk)):
            new = torch.cat([largest[None], s]).max()
            e, shrink, largest = (s - new).exp(), (largest - new).exp(), new
            total, mixed = total * shrink + e.sum(), mixed * shrink + e[: len(v)] @ v
        return mixed / total""",
    "key by key, printed": """
        print(scores, scores.shape, f"{values}")
        largest, total, mixed = scores[0], 0.0, torch.zeros_like(values[0])
        for s, v in zip(scores, values):
            new = s if s > largest else largest
            total = total * (largest - new).exp() + (s - new).exp()
            mixed, largest = mixed * (largest - new).exp() + (s - new).exp() * v, new
        return mixed / total""",
    "from the last piece to the first": """
        largest, total, mixed = -torch.inf, 0.0, 0.0
        for i in reversed(range(0, len(scores), chunk)):
            s, v = scores[i : i + chunk], values[torch.arange(i, min(i + chunk, len(values)))[0] :][:chunk]
            new = max(largest, s.max().item())
            e, shrink, largest = (s - new).exp(), math.exp(largest - new), new
            total, mixed = total * shrink + e.sum(), mixed * shrink + e @ v
        return mixed / total""",
}


def read_by(body: str) -> str:
    names: dict[str, Any] = {"math": math, "np": np, "torch": torch}
    exec(f"def streaming_attend(scores, values, chunk):{body}", names)
    (check,) = (check for check in KEY.visible if check.name == "two_pieces")
    outcome = check.values(names["streaming_attend"], 5)
    assert isinstance(outcome, Returned), outcome
    return outcome.tree["what it reads"]


@pytest.mark.parametrize("name", READ)
def test_reading_more_than_a_piece_is_seen_under_any_name(name: str) -> None:
    assert read_by(READ[name]) == "more than one piece at a time"


@pytest.mark.parametrize("name", AGAIN)
def test_a_second_pass_is_seen(name: str) -> None:
    assert read_by(AGAIN[name]) == "most pieces twice"


@pytest.mark.parametrize("name", ONCE)
def test_one_pass_may_be_written_in_many_ways(name: str) -> None:
    assert read_by(ONCE[name]) == "each piece once"
