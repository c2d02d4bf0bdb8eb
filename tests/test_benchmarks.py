"""Benchmarks run by hand and seldom: what they import must still be there when somebody does."""

import importlib
import pkgutil

import pytest

import benchmarks
from benchmarks.lab import grew


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__)))
def test_a_benchmark_imports_what_there_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def test_memory_is_flat_once_a_service_has_started() -> None:
    assert not grew([410, 719, 747, 721, 630, 626, 753, 684, 764, 765, 645])
    assert grew([410, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300])
