"""What control groups leave of memory and processors: less than the computer has, in a container or a cluster's job.

The sandbox sees no control groups. So their files are opened outside and passed in.
Sources: cgroups(7); the kernel's "Control Group v2", Memory, and "Memory Resource Controller" for version 1.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
UNLIMITED = 2**60  # version 1 writes a number of this kind, version 2 "max"
LONGEST = 2**14
# the limit, what is used, and of that what the kernel would give back, by version
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
VERSION_2 = ("memory.max", "memory.current", "memory.stat")
# the processor time that a group may use, and in which time, in microseconds
QUOTAS = ("cpu.cfs_quota_us", "cpu.cfs_period_us"), ("cpu.max",)
INACTIVE = ("total_inactive_file", "inactive_file")


@dataclass(frozen=True)
class MemoryGroup:
    """The open files of a control group that limits memory.

    Args:
        limit: bytes that it may use.
        used: bytes that it uses.
        detail: what for.
    """

    limit: int
    used: int
    detail: int

    @classmethod
    def parse(cls, word: str) -> MemoryGroup:
        """Return the group that a word of a command line describes."""
        return cls(*map(int, word.split(",")))

    def __str__(self) -> str:
        return f"{self.limit},{self.used},{self.detail}"

    def left(self) -> tuple[int, int]:
        """Return how many bytes are left, and of how many; what lies in the page cache unused is left."""
        most, used = (int(content(descriptor)) for descriptor in (self.limit, self.used))
        pairs = (line.split() for line in content(self.detail).splitlines())
        detail = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
        inactive = next((detail[name] for name in INACTIVE if name in detail), 0)
        return most - used + inactive, most


def content(descriptor: int) -> str:
    """Return what is in an open file now."""
    return os.pread(descriptor, LONGEST, 0).decode("ascii")


@contextlib.contextmanager
def memory_groups(root: Path = ROOT, membership: Path = MEMBERSHIP) -> Iterator[list[MemoryGroup]]:
    """Open the files of all groups that limit this process's memory: its own, and those that it lies in."""
    with contextlib.ExitStack() as stack:
        groups = []
        for folder, version in folders("memory", root, membership):
            names = (VERSION_1, VERSION_2)[version - 1]
            with contextlib.suppress(OSError, ValueError):
                if int((folder / names[0]).read_text(encoding="ascii")) < UNLIMITED:
                    files = [stack.enter_context((folder / name).open("rb", buffering=0)) for name in names]
                    groups.append(MemoryGroup(*(file.fileno() for file in files)))
        yield groups


def processors(root: Path = ROOT, membership: Path = MEMBERSHIP) -> float:
    """Return how many processors all groups leave to this process: its own, and those that it lies in."""
    most = float("inf")
    for folder, version in folders("cpu", root, membership):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            words = " ".join((folder / name).read_text(encoding="ascii") for name in QUOTAS[version - 1])
            quota, period = map(int, words.split())  # `max`: no quota, and -1 in version 1
            most = min(most, quota / period) if quota > 0 else most
    return most


def folders(controller: str, root: Path, membership: Path) -> Iterator[tuple[Path, int]]:
    """Yield the folders of a process's groups that limit something, each with the version of control groups."""
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        inner = Path(os.path.normpath(path.lstrip("/") or "."))  # "/.." is outside this container's view
        top, version = (root / controller, 1) if controllers else (root, 2)
        yield from ((top / part, version) for part in (inner, *inner.parents) if ".." not in part.parts)
