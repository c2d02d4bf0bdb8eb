"""What the kernel does not limit for us: a submission's number of processes, and the computer's memory.

The kernel does not hold the superuser to a number of processes, and a grader may be one. Sources: proc(5).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..cgroup import MemoryGroup
from .meter import descendants

SCARCE = 0.03  # of all memory
THREADS_EACH = 4  # a process may have so many on average
RECOVERY_SECONDS = 1.0
PROC = Path("/proc")


class ResourceMonitor:
    """Counts what submissions use, and ends the one that uses too much.

    Attributes:
        submissions: each submission's first process, with the number of processes that it may have.
        ended: those that were ended, with the reason.
    """

    def __init__(self, groups: Sequence[MemoryGroup] = ()) -> None:
        self._groups = groups
        self.submissions: dict[int, int] = {}
        self.ended: dict[int, str] = {}
        self._idle = sum(1 for _ in process_numbers())
        self._wait_until = 0.0  # memory of what was ended takes a moment to come back

    def end_the_excessive(self) -> None:
        """End submissions with too many processes; where memory is scarce, the one that holds most of it."""
        scarce = time.monotonic() > self._wait_until and memory_is_scarce(self._groups)
        running = list(process_numbers())
        few = len(running) - self._idle <= min(self.submissions.values())
        if not scarce and few and sum(map(threads_of, running)) <= THREADS_EACH * min(self.submissions.values()):
            return
        members = self.members()
        for first, pids in members.items():
            most = self.submissions[first]
            if len(pids) > most or sum(map(threads_of, pids)) > THREADS_EACH * most:
                self._end(first, "processes")
        if scarce:
            self._wait_until = time.monotonic() + RECOVERY_SECONDS
            self._end(max(members, key=lambda first: sum(map(resident_kilobytes, members[first]))), "memory")

    def _end(self, first: int, reason: str) -> None:
        """Kill a submission's first process, and with it all others of its namespace."""
        self.ended.setdefault(first, reason)
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)

    def forget(self, first: int) -> str:
        """Stop watching a submission; return why it was ended, or ''."""
        self.submissions.pop(first, None)
        return self.ended.pop(first, "")

    def members(self) -> dict[int, set[int]]:
        """Return each submission's processes: an orphan's parent is the first process of its namespace."""
        return {first: {first, *descendants(first)} for first in self.submissions}


def process_numbers() -> Iterator[int]:
    """Yield the numbers of all processes in view."""
    return (int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208 - called often


def threads_of(pid: int) -> int:
    """Return how many threads a process has; 0 where it has gone. One call, because it is asked for often."""
    with contextlib.suppress(OSError):
        return os.stat(f"{PROC}/{pid}/task").st_nlink - 2  # noqa: PTH116 - a folder for each thread
    return 0


def resident_kilobytes(pid: int) -> int:
    """Return a process's share of the memory in use; what it shares with others counts in parts."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def memory_is_scarce(groups: Iterable[MemoryGroup]) -> bool:
    """Say whether the computer, or one of the control groups that limit memory, has nearly none left."""
    words = (PROC / "meminfo").read_text(encoding="ascii").split()  # MemTotal: n kB MemFree: n kB MemAvailable: n kB
    pairs = [(int(words[7]), int(words[1]))]
    with contextlib.suppress(OSError, ValueError):  # a limit may be lifted at any time
        pairs += [group.left() for group in groups]
    return any(left < SCARCE * most for left, most in pairs)
