"""One process at a time grades a course at hand-in, wherever it was started."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from ..authoring.nbgrader_course import load_config
from ..errors import command
from ..paths import Course
from .database import Claim

TICK = 0.5  # seconds between two looks at what has arrived, or at whether another process still is there


@contextmanager
def only_one(course: Course, say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Wait until no other process serves the course, here or in another clone with the same database.

    What it gives says whether that is still so. The system ends the lock with the process that holds it.
    """
    course.coursework.mkdir(exist_ok=True)
    lock, claim = FileLock(course.coursework / ".serve.lock"), Claim(load_config(course.root).CourseDirectory.db_url)

    def alone() -> bool:
        with suppress(Timeout):
            lock.acquire(timeout=0)
        return lock.is_locked and claim.held()

    try:
        if not alone():
            another = f"Another `{command('serve')}` grades this course. This one takes over when that ends."
            say(f"{claim.away} Trying again until it can." if claim.away else another)
        while not alone():
            time.sleep(TICK)
        yield claim.held
    finally:
        claim.end()
        lock.release(force=True)
