"""Benchmarks run by hand and seldom: what they import must still be there when somebody does."""

import importlib
import mmap
import pkgutil
from pathlib import Path

import psutil
import pytest

import benchmarks
from benchmarks.lab import grew, memory_of


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__)))
def test_a_benchmark_imports_what_there_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def test_memory_is_flat_unless_of_every_ten_submissions_a_megabyte_stays() -> None:
    assert not grew([541, 539])
    assert not grew([541, 549])
    assert grew([541, 541 + 300 / 10 / 1.049])


def test_what_comes_from_files_is_no_growth_of_a_service(tmp_path: Path) -> None:
    """Libraries are shared with other processes, the board among them, and belong to whoever is left when they end."""
    (path := tmp_path / "library").write_bytes(bytes(32 * 2**20))
    before = memory_of(psutil.Process())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
        assert not any(library[:: mmap.PAGESIZE])
        assert not grew([before, memory_of(psutil.Process())])
