"""How long a large class takes on many machines: a simulation from measured numbers. It measures nothing itself."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from dataclasses import dataclass

CORES = 2
SERVER_CORES = 8
SEED = 1


@dataclass(frozen=True)
class Measured:
    """Seconds per submission.

    Args:
        worker: of a processor core, where it is graded for another machine that writes.
        writer: of a processor core, in the one process that hands out work and writes.
        alone: of a processor core, where a machine hands out, grades and writes by itself.
        server: of a processor core, in PostgreSQL's server.
        loop: by the clock, of a submission in which one exercise never ends.
        merge: of a processor core, to bring one submission's rows from a shard's gradebook into the course's.
    """

    worker: float
    writer: float
    alone: float
    server: float
    loop: float
    merge: float


def graded_at(cores: int, submissions: int, seconds: float, loop: float, share: float) -> list[float]:
    """Return when each submission is graded, in order, with a worker on each core."""
    draw, free = random.Random(SEED), [0.0] * cores
    found = []
    for _ in range(submissions):
        done = heapq.heappop(free) + (loop if draw.random() < share else seconds)
        heapq.heappush(free, done)
        found.append(done)
    return sorted(found)


def written_at(arrivals: Iterable[float], writers: int, seconds: float) -> float:
    """Return when the last result is written, first come, first served."""
    free = [0.0] * writers
    for arrival in arrivals:
        heapq.heappush(free, max(arrival, heapq.heappop(free)) + seconds)
    return max(free)


def one_writer(times: Measured, machines: int, submissions: int, share: float = 0.0) -> float:
    """Return the seconds of a class that one process writes. It has a core to itself, if there are several machines."""
    if machines == 1:
        return graded_at(CORES, submissions, times.alone, times.loop, share)[-1]
    arrivals = graded_at(machines * CORES - 1, submissions, times.worker, times.loop, share)
    return written_at(arrivals, 1, times.writer)


def several_writers(times: Measured, machines: int, submissions: int, share: float = 0.0) -> float:
    """Return the seconds where each machine writes what it has graded, into one PostgreSQL server elsewhere."""
    arrivals = graded_at(machines * CORES, submissions, times.alone, times.loop, share)
    return written_at(arrivals, SERVER_CORES, times.server)


def shards(times: Measured, machines: int, submissions: int, share: float = 0.0) -> float:
    """Return the seconds where each machine has a gradebook of its own, and all are merged in the end."""
    graded = graded_at(machines * CORES, submissions, times.alone, times.loop, share)
    return graded[-1] + submissions * times.merge
