"""What is being worked on, noted where it outlives the process: work that ends the process is not begun for ever."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import CourseError
from ..paths import Course, replace_text
from .attempts import digest_of

MOST_ENDS = 3
ENDED = f"the service ended {MOST_ENDS} times while it worked on this"


class Begun:
    """Counts, for each piece of work, the processes that ended during it since it last succeeded."""

    def __init__(self, course: Course) -> None:
        self._path, self._now = course.coursework / ".serve.begun", set[str]()
        self._ends = Counter[str]()
        with suppress(OSError, ValueError):  # a damaged one costs no more than the counts
            self._ends.update(json.loads(self._path.read_text(encoding="utf-8")))

    def ended_one(self, name: str) -> bool:
        """Say whether a process has ended during this work: what else ran then may have been the reason."""
        return self._ends[digest_of(name)] > 0

    def begin(self, name: str) -> None:
        """Note that work begins. Raises CourseError where too many processes have ended during it."""
        if self._ends[digest_of(name)] >= MOST_ENDS:
            raise CourseError(ENDED)
        self._now.add(digest_of(name))
        self._write()

    def end(self, name: str, *, succeeded: bool) -> None:
        """Note that this process has outlived it. Whether it is counted from the beginning depends on its success."""
        self._now.discard(digest_of(name))
        if succeeded:
            del self._ends[digest_of(name)]
        with suppress(OSError):  # then it is counted once too often
            self._write()

    def stop(self) -> None:
        """Note that nothing that is under way is the reason why this process ends: somebody stops it, or takes over."""
        self._now.clear()
        with suppress(OSError):
            self._write()

    @contextmanager
    def noting(self, name: str) -> Iterator[None]:
        """Note work for as long as it takes. Raises CourseError as `begin` does."""
        self.begin(name)
        succeeded = False
        try:
            yield
            succeeded = True
        finally:
            self.end(name, succeeded=succeeded)

    def _write(self) -> None:
        replace_text(self._path, json.dumps(self._ends + Counter(self._now)))
