"""Benchmarks run by hand and seldom: what they import must still be there when somebody does."""

import importlib
import pkgutil

import pytest

import benchmarks
from benchmarks.lab import grew


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__)))
def test_a_benchmark_imports_what_there_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def test_memory_is_flat_unless_of_every_ten_submissions_a_megabyte_stays() -> None:
    assert not grew([541, 539])
    assert not grew([541, 549])
    assert grew([541, 541 + 300 / 10 / 1.049])
