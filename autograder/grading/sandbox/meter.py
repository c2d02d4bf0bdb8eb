"""What a submission's processes compute, seen from outside: no grade depends on a clock.

A request has a limit of processor time, and one of time asleep. Time in which a process could run, and others had the
processor, counts as neither. The kernel keeps account of all three. Where it does not tell how long a process waited
for a processor, and as a last resort everywhere, a tenth of the clock's time counts as time asleep.

Sources: proc(5), `stat` and `task/*/schedstat`; psutil's `cpu_times`.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from .channel import TooSlowError

CLOCK_SHARE = 0.1
SHORTEST_WAIT = 0.01  # the kernel's account is as fine as that
NANOSECONDS = 1e-9


class AsleepError(TooSlowError):
    """Nothing was computed for too long."""


@dataclass(frozen=True)
class Usage:
    """What processes have used so far, in seconds.

    Args:
        computed: processor time.
        queued: time in which they could have run; None where the kernel does not tell.
    """

    computed: float = 0.0
    queued: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        queued = None if self.queued is None or other.queued is None else self.queued + other.queued
        return Usage(self.computed + other.computed, queued)


def usage_of(pid: int) -> Usage:
    """Return what a process, and those of its children that it has waited for, have used; nothing where it has gone."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return Usage()
    return Usage(times.user + times.system + times.children_user + times.children_system, queued_seconds(pid))


def queued_seconds(pid: int) -> float | None:
    """Return how long a process's threads were ready to run and did not; None where the kernel does not tell."""
    total, told = 0, False
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):  # a thread may have ended
            total += int(thread.read_text(encoding="ascii").split()[1])
            told = True
    return total * NANOSECONDS if told else None


def descendants(pid: int) -> list[int]:
    """Return all processes that a process has started, however far down."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


@dataclass(frozen=True)
class TimeAllowance:
    """What one request may use, in seconds."""

    computing: float
    asleep: float
    ends: float = math.inf  # by the clock

    def __bool__(self) -> bool:
        return min(self.computing, self.asleep) > 0


class Meter:
    """Counts what one request uses, and says when to look again; `wait` is what a channel asks.

    Args:
        processes: the numbers of the processes that work on it, as this computer knows them.
        allowance: what they may use.
        others: returns those of the same submission that do not work on it, though they may descend from these.
    """

    def __init__(
        self, processes: Sequence[int], allowance: TimeAllowance, others: Callable[[], Collection[int]] = tuple
    ) -> None:
        self._processes, self._allowance, self._others = tuple(processes), allowance, others
        self._before = {pid: usage_of(pid) for pid in self._processes}
        self._known = Usage()
        self._began = time.monotonic()
        self._next_look = min(self._began + min(allowance.computing, allowance.asleep), allowance.ends)

    def wait(self) -> float:
        """Return after how many seconds to ask again. Raises TooSlowError where the allowance has been used up."""
        if time.monotonic() >= self._next_look:
            self._look()
        return max(self._next_look - time.monotonic(), SHORTEST_WAIT)

    def _look(self) -> None:
        used = self.used(deep=True)
        if used.computing > self._allowance.computing:
            raise TooSlowError("too slow")
        if time.monotonic() > self._allowance.ends:
            raise TooSlowError("too late")
        if used.asleep > self._allowance.asleep:
            raise AsleepError("asleep")
        left = min(self._allowance.computing - used.computing, self._allowance.asleep - used.asleep)
        self._next_look = min(time.monotonic() + max(left, SHORTEST_WAIT), self._allowance.ends)

    def used(self, *, deep: bool = False) -> TimeAllowance:
        """Return what has been used: time spent computing, and time asleep.

        Args:
            deep: count the processes too that were started on the way and have not ended.
        """
        usage = self._usage(deep=deep)
        elapsed = time.monotonic() - self._began
        clock = CLOCK_SHARE * elapsed
        asleep = clock if usage.queued is None else max(elapsed - usage.computed - usage.queued, clock)
        return TimeAllowance(usage.computed, asleep)

    def _usage(self, *, deep: bool) -> Usage:
        """Return what was used since the beginning; a process that has ended leaves what was last known of it."""
        computed, queued = 0.0, 0.0
        told = True
        pids = [*self._processes, *(self._started() if deep else ())]
        for pid in pids:
            now, before = usage_of(pid), self._before.get(pid, Usage())
            computed += max(now.computed - before.computed, 0.0)
            if now.queued is None or before.queued is None:
                told = told and now == Usage()
            else:
                queued += max(now.queued - before.queued, 0.0)
        self._known = Usage(max(computed, self._known.computed), max(queued, self._known.queued or 0.0))
        return self._known if told else Usage(self._known.computed, None)

    def _started(self) -> list[int]:
        others = set(self._others())
        return [child for pid in self._processes for child in descendants(pid) if child not in others]
