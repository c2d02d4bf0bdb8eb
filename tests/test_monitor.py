"""Who is ended where processes or memory run out: the one that took them."""

from pathlib import Path

import pytest

from autograder.grading.cgroup import memory_groups, processors
from autograder.grading.sandbox import monitor
from autograder.grading.sandbox.monitor import ResourceMonitor, memory_is_scarce

STARTED = {10: [11, 12], 20: [21, 22, 23]}
SHARES = {10: 5, 11: 5, 12: 5, 20: 1, 21: 1, 22: 500, 23: 1}


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    killed: list[int] = []
    monkeypatch.setattr(monitor, "process_numbers", lambda: iter([1, *SHARES]))
    monkeypatch.setattr(monitor, "descendants", STARTED.get)
    monkeypatch.setattr(monitor, "resident_kilobytes", lambda pid: SHARES.get(pid, 0))
    monkeypatch.setattr(monitor, "memory_is_scarce", lambda _: False)
    monkeypatch.setattr("os.kill", lambda pid, _signal: killed.append(pid))
    return killed


def watching(most: int) -> ResourceMonitor:
    made = ResourceMonitor()
    made._idle = 1
    made.submissions.update({10: most, 20: most})
    return made


def test_nobody_is_ended_while_there_is_enough(ended: list[int]) -> None:
    watching(9).end_the_excessive()
    assert ended == []


def test_who_has_too_many_processes_is_ended_and_nobody_else(ended: list[int]) -> None:
    made = watching(3)
    made.end_the_excessive()
    assert ended == [20]
    assert (made.forget(20), made.forget(10)) == ("processes", "")


def test_where_memory_is_scarce_who_holds_most_is_ended(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "memory_is_scarce", lambda _: True)
    made = watching(9)
    made.end_the_excessive()
    assert ended == [20]
    assert made.forget(20) == "memory"


def test_nobody_else_is_ended_while_the_memory_comes_back(ended: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "memory_is_scarce", lambda _: True)
    made = watching(9)
    made.end_the_excessive()
    made.end_the_excessive()
    assert ended == [20]


# Memory that control groups limit: a fake tree of either version

MIB = 2**20
NAMES = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes"), 2: ("memory.max", "memory.current")}
MEMBERSHIP = {1: "9:name=systemd:/\n4:memory,pids:/jobs/one\n0::/\n", 2: "0::/jobs/one\n"}


def write_group(root: Path, version: int, path: str, limit: str, used: int, inactive: int = 0) -> None:
    folder = root / ("memory" if version == 1 else "") / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(NAMES[version], (limit, str(used)), strict=True):
        (folder / name).write_text(f"{text}\n")
    kind = "total_inactive_file" if version == 1 else "inactive_file"
    (folder / "memory.stat").write_text(f"anon {used - inactive}\n{kind} {inactive}\n")


def is_scarce(root: Path, version: int) -> bool:
    (root / "membership").write_text(MEMBERSHIP[version])
    with memory_groups(root, root / "membership") as groups:
        return memory_is_scarce(groups)


@pytest.fixture
def plenty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer with much memory left."""
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 900 kB\nMemAvailable: 900 kB\n")
    monkeypatch.setattr(monitor, "PROC", tmp_path)
    return tmp_path


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("path", "quota", "count"),
    [("jobs/one", 150, 1.5), ("jobs", 50, 0.5), (".", 200, 2), ("elsewhere", 50, None), ("jobs", None, None)],
)
def test_processors_are_those_of_the_tightest_group(tmp_path: Path, version: int, path: str, quota, count) -> None:
    folder = tmp_path / ("cpu" if version == 1 else "") / path
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"cpu.max": f"{quota or 'max'} 100"}
    if version == 1:
        texts = {"cpu.cfs_quota_us": str(quota or -1), "cpu.cfs_period_us": "100"}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n")
    (tmp_path / "membership").write_text(MEMBERSHIP[version].replace("memory,pids", "cpu,cpuacct"))
    assert processors(tmp_path, tmp_path / "membership") == (count or float("inf"))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("path", ["jobs/one", "jobs"])
def test_memory_is_scarce_where_a_group_has_none_left(plenty: Path, version: int, path: str) -> None:
    write_group(plenty, version, "jobs/one", "max" if version == 2 else str(2**63 - 4096), 10 * MIB)
    assert not is_scarce(plenty, version)
    write_group(plenty, version, path, str(100 * MIB), 98 * MIB)
    assert is_scarce(plenty, version)


@pytest.mark.parametrize("version", [1, 2])
def test_what_the_page_cache_holds_is_not_used_up(plenty: Path, version: int) -> None:
    write_group(plenty, version, "jobs/one", str(100 * MIB), 98 * MIB, inactive=50 * MIB)
    assert not is_scarce(plenty, version)


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_that_is_not_in_view_limits_nothing(plenty: Path, version: int) -> None:
    assert not is_scarce(plenty, version)


def test_the_computers_own_memory_counts_too(plenty: Path) -> None:
    (plenty / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 20 kB\n")
    write_group(plenty, 2, "jobs/one", str(100 * MIB), MIB)
    assert is_scarce(plenty, 2)
