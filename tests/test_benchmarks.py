"""Benchmarks run by hand and seldom: what they import must still be there when somebody does."""

import importlib
import pkgutil

import pytest

import benchmarks


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__)))
def test_a_benchmark_imports_what_there_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")
