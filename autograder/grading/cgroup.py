"""The memory that control groups leave: less than the computer's, in a container or in a job of a cluster.

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
CONTROLLER = "memory"
UNLIMITED = 2**60  # version 1 writes a number of this kind, version 2 "max"
LONGEST = 2**14
# the limit, what is used, and of that what the kernel would give back, by version
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
VERSION_2 = ("memory.max", "memory.current", "memory.stat")
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
        for folder, names in folders(root, membership):
            with contextlib.suppress(OSError, ValueError):
                if int((folder / names[0]).read_text(encoding="ascii")) < UNLIMITED:
                    files = [stack.enter_context((folder / name).open("rb", buffering=0)) for name in names]
                    groups.append(MemoryGroup(*(file.fileno() for file in files)))
        yield groups


def folders(root: Path, membership: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Yield the folders of a process's groups, with their files' names."""
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if CONTROLLER in controllers.split(","):
            top, names = root / CONTROLLER, VERSION_1
        elif not controllers:
            top, names = root, VERSION_2
        else:
            continue
        inner = Path(os.path.normpath(path.lstrip("/") or "."))  # "/.." is outside this container's view
        yield from ((top / part, names) for part in (inner, *inner.parents) if ".." not in part.parts)
