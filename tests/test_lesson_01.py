"""Lesson 1's reference against independent oracles, and what it claims of training."""

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.judging.modules import importable
from autograder.paths import find_course

LESSON = find_course().lesson("01_why_attention")
REFERENCE = package_of(LESSON).key.reference


@pytest.mark.parametrize("temperature", [0.1, 1.0, 5.0])
def test_a_soft_lookup_is_pytorchs_attention_with_one_query(temperature: float) -> None:
    q, k, v = torch.randn(1, 3), torch.randn(4, 3), torch.randn(4, 2)
    right = nn.functional.scaled_dot_product_attention(q, k, v, scale=1 / temperature)[0]
    torch.testing.assert_close(REFERENCE["soft_lookup"](q[0], k, v, temperature), right)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
def test_additive_scores_are_a_small_network_on_pairs(batch: int, queries: int, keys: int, h: int) -> None:
    q, k = torch.randn(batch, queries, 3), torch.randn(batch, keys, 2)
    w_q, w_k, v = torch.randn(h, 3), torch.randn(h, 2), torch.randn(h)
    pairs = torch.cat([q[:, :, None].expand(-1, -1, keys, -1), k[:, None].expand(-1, queries, -1, -1)], dim=-1)
    right = torch.tanh(pairs @ torch.cat([w_q, w_k], dim=1).mT) @ v
    torch.testing.assert_close(REFERENCE["additive_scores"](q, k, w_q, w_k, v), right)


@cache
def look() -> Any:
    """Return the function that the lesson's cell of this name defines."""
    names: dict[str, Any] = {"torch": torch, "Tensor": torch.Tensor, "nn": nn}
    exec(next(cell.text for cell in read_lesson(LESSON) if "def look" in cell.text), names)
    return names["look"]


@pytest.fixture
def translator() -> Iterator[Any]:
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as the lesson does: saturated networks are several times slower without
    with importable(package_of(LESSON).source.modules, package_of(LESSON).source.folder):
        yield importlib.import_module("translator")
    torch.set_flush_denormal(False)


Ranges = dict[int, tuple[float, float]]  # by the number of steps


def within(translator: Any, task: Any, known: Any, ranges: Ranges, *, symbols: int = 12, **settings: Any) -> list[bool]:
    """Train one model, and say of each number of steps whether its share of right sequences is in range by then."""
    models, shares = [], {}

    class Kept(translator.Translator):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            models.append(self)

    def draw(n: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        if step in ranges:
            shares[step] = translator.accuracy(models[0], task)
        return task(n, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translator, "Translator", Kept)
        last = translator.train(draw, symbols, known, steps=max(ranges), **settings)
    shares[max(ranges)] = translator.accuracy(last, task)
    return [low <= shares[step] <= high for step, (low, high) in ranges.items()]


def words(length: int, written: Any = lambda x: x) -> Any:
    def task(n: int, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randint(0, 12, (n, length), generator=torch.Generator().manual_seed(number))
        return x, written(x)

    return task


@pytest.mark.slow
@pytest.mark.measures("01_why_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("length", "attends", "ranges"),
    [
        (4, False, {250: (0.8, 1)}),
        (8, False, {250: (0, 0.2), 750: (0.3, 0.6)}),  # longer training moves the limit
        (16, False, {250: (0, 0.05)}),
        (8, True, {250: (0.9, 1)}),
        (16, True, {250: (0.8, 1)}),
    ],
)
def test_copying_fails_with_length_and_attention_brings_it_back(
    translator: Any, length: int, attends: bool, ranges: Ranges, seed: int
) -> None:
    known = look() if attends else None
    assert all(within(translator, words(length), known, ranges, rate=0.005, seed=seed))


@pytest.mark.slow
@pytest.mark.measures("01_why_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("attends", "ranges"), [(False, {200: (0, 0.1)}), (True, {100: (0.5, 0.9), 200: (0.9, 1)})])
def test_dates_are_learned_with_attention_only(translator: Any, attends: bool, ranges: Ranges, seed: int) -> None:
    """With attention it is the recurrent network of lesson 8, too, which is behind the transformer at step 100."""
    known, symbols = look() if attends else None, len(translator.CHARACTERS)
    assert all(within(translator, translator.dates, known, ranges, symbols=symbols, rate=0.01, seed=seed))


@pytest.mark.slow
@pytest.mark.measures("01_why_attention")
@pytest.mark.parametrize(
    ("length", "written", "ranges"),
    [
        (16, lambda x: x[:, :4], {250: (0, 0.15), 750: (0.8, 1)}),  # five seeds: 0% to 9%, 82% to 99%
        (4, lambda x: x.repeat(1, 4), {250: (0.85, 1)}),  # 88% to 94%
        (16, lambda x: x, {750: (0, 0.05)}),  # 0%
    ],
)
def test_the_number_of_words_is_the_limit_and_not_the_number_of_steps(
    translator: Any, length: int, written: Any, ranges: Ranges
) -> None:
    assert all(within(translator, words(length, written), None, ranges, rate=0.005))


@pytest.mark.slow
@pytest.mark.measures("01_why_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_dot_product_translates_dates_as_well(translator: Any, seed: int) -> None:
    def dot(_: Any, state: torch.Tensor, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights = (states @ state[..., None]).squeeze(-1).softmax(dim=-1)
        return (weights[..., None] * states).sum(dim=1), weights

    found = translator.train(translator.dates, len(translator.CHARACTERS), dot, steps=200, rate=0.01, seed=seed)
    assert translator.accuracy(found, translator.dates) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_a_recurrent_networks_gradient_shrinks_with_the_distance(seed: int) -> None:
    torch.manual_seed(seed)
    gru, left = nn.GRU(32, 64, batch_first=True), {}
    for length in (2, 32):
        x = torch.randn(1, length, 32, requires_grad=True)
        gru(x)[1].norm().backward()
        size = x.grad[0].norm(dim=-1)
        left[length] = float(size[0] / size[-1])
    assert 0.4 < left[2] < 0.7
    assert left[32] < 1e-6
