"""A lesson built and proved again whenever one of its files is saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from ..errors import CourseError
from ..paths import Lesson
from .build import build
from .verify import verify

POLL_SECONDS, SETTLE_SECONDS, SEEDS = 0.3, 0.1, 2
Saved = dict[str, tuple[int, int]]


def watch(lesson: Lesson, jobs: int, say: Callable[[str], None]) -> None:
    """Build and prove a lesson now and after every save, until Ctrl-C."""
    seen = Saved()
    while True:
        if saved(lesson) != seen:
            time.sleep(SETTLE_SECONDS)  # an editor may empty a file before it fills it
            seen = saved(lesson)
            for line in build_and_prove(lesson, jobs):
                say(line)
                if saved(lesson) != seen:
                    say("saved again")
                    break
        time.sleep(POLL_SECONDS)


def saved(lesson: Lesson) -> Saved:
    """Return when each file that an author writes was saved last, and its size."""
    stats = [(path.name, path.stat()) for path in lesson.written_files if path.is_file()]
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats}


def build_and_prove(lesson: Lesson, jobs: int) -> Iterator[str]:
    """Yield what one save comes to, a line at a time: built, what is to fix, and whether all is proved.

    The proof is that of `verify` with fewer seeds, and grades the solved and the released notebook alone.
    """
    began = time.monotonic()

    def after(what: str) -> str:
        return f"{what} ({time.monotonic() - began:.1f} s)"

    try:
        build(lesson)
        yield after(f"built {lesson.name}")
        problems = verify(lesson, jobs, demonstrations=False, seeds=SEEDS, wrong=0)
    except CourseError as error:
        yield str(error)
    except Exception as error:  # the next save may be better
        yield f"{type(error).__name__}: {error}"
    else:
        yield from problems
        yield after(f"{len(problems)} to fix" if problems else "proved")
