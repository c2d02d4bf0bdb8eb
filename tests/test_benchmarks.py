"""Benchmarks run by hand and seldom: what they import must still be there when somebody does."""

import importlib
import pkgutil

import pytest

import benchmarks
from benchmarks.lab import grew


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__)))
def test_a_benchmark_imports_what_there_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


# of a lab, a look each second: what the service keeps, and what one to three submissions that run take beside it
RUNNING = [0.0, 130.0, 260.0, 130.0, 390.0, 0.0, 130.0]
LAB = [(n, 540 + RUNNING[n % len(RUNNING)]) for n in range(300)]


def test_memory_is_flat_where_only_what_runs_comes_and_goes() -> None:
    assert not grew([min(420 + 3 * n, memory) for n, memory in LAB])
    assert not grew([memory + n % 7 for n, memory in LAB])


def test_memory_is_not_flat_where_of_every_ten_submissions_a_megabyte_stays() -> None:
    assert grew([memory + 400 / 10 * n / 300 for n, memory in LAB])
