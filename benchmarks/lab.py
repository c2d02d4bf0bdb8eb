"""`python -m benchmarks.lab`: 200 students' half hour in five minutes: they check, hand in, and read their feedback.

What `check` tells the board is `benchmarks.board`'s. Beside it, students hand notebooks in to an exchange that `lessons
serve` watches. Fails where something is lost, the board is older than two seconds, or feedback takes a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.attempts import read_attempts
from autograder.classroom.gradebook import open_gradebook, standings_by_student
from autograder.paths import Course, find_course
from tests.handing_in import add_exchange, hand_in, page_of

from . import board
from .classes import Classes

MINUTES_BETWEEN_SUBMISSIONS, PAUSE = 15.0, 60.0
SLOWEST = 60.0  # seconds until there is feedback
SAMPLES = 10


class Waiting(threading.Thread):
    """Notes how long each hand-in waits for its page."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.pages, self.waited = dict[Path, float](), dict[Path, float]()

    def run(self) -> None:
        """Look again and again."""
        while True:
            for page, begun in list(self.pages.items()):
                if page.exists():
                    self.waited[page] = time.monotonic() - begun
                    del self.pages[page]
            time.sleep(0.1)


@contextmanager
def serving(course: Course) -> Any:
    """Run `lessons serve`; give its process."""
    command = [sys.executable, "-m", "autograder", "serve", "--jobs", str(os.cpu_count() or 1)]
    with (
        (course.coursework / "serve.log").open("w") as log,
        subprocess.Popen(command, cwd=course.root, stdout=log) as served,
    ):
        try:
            yield psutil.Process(served.pid)
        finally:
            served.terminate()


def moments(student: int, seconds: float) -> list[float]:
    """Return when a student hands in, in seconds after the lab's begin as it is compressed."""
    draw, now, found = random.Random(student), 0.0, []
    while (now := now + draw.expovariate(1 / (60 * MINUTES_BETWEEN_SUBMISSIONS))) < board.LAB_SECONDS:
        found.append(now * seconds / board.LAB_SECONDS)
    return found


def memory(process: psutil.Process) -> float:
    """Return the MiB that a process and all below it hold, what they share counted once."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.Error):
            total += one.memory_full_info().pss
    return total / 2**20


def lab(course: Course, exchange: Path, texts: dict[str, str], seconds: float) -> dict[str, Any]:
    """Let all hand in as they do; return how many did, how long each waited, and the service's memory over time."""
    plan = sorted((when, name) for n, name in enumerate(texts) for when in moments(n, seconds))
    waiting, sizes, held = Waiting(), [], dict[str, int]()
    waiting.start()
    with serving(course) as process:
        time.sleep(10)  # it starts
        begin = time.monotonic()
        for index, (when, name) in enumerate(plan):
            time.sleep(max(0.0, begin + when - time.monotonic()))
            held[name] = held.get(name, 0) + 1
            page = page_of(exchange, hand_in(exchange, name, texts[name], board.LESSON), board.LESSON)
            waiting.pages[page] = time.monotonic()
            if index % (len(plan) // SAMPLES or 1) == 0:
                sizes.append(memory(process))
        ends = time.monotonic() + 5 * SLOWEST
        while waiting.pages and time.monotonic() < ends:
            time.sleep(0.5)
    return {"held": held, "waited": sorted(waiting.waited.values()), "memory": sizes}


def problems(course: Course, found: dict[str, Any]) -> list[str]:
    """Return what was lost, doubled or late."""
    lesson, lines = course.lesson(board.LESSON), []
    for name, count in found["held"].items():
        if len(read_attempts(course, lesson, name)) != count:
            lines.append(f"{name}: handed in {count} times, and that is not what was noted")
    with open_gradebook(course) as gradebook:
        if standings_by_student(gradebook, lesson.name).keys() != found["held"].keys():
            lines.append("the gradebook has others than those who handed in")
    if len(found["waited"]) < sum(found["held"].values()):
        lines.append(f"{sum(found['held'].values()) - len(found['waited'])} have no feedback")
    if max(found["waited"], default=0.0) > SLOWEST:
        lines.append(f"feedback took more than {SLOWEST:g} s")
    return lines


def main() -> int:
    """Run the lab, print what came out, and return 1 where something was lost, doubled or late."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--students", type=int, default=200)
    reader.add_argument("--seconds", type=float, default=300.0, help="what half an hour is compressed to")
    options = reader.parse_args()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(1) as pool:
        classes, places = Classes(find_course(), find_course().lesson(board.LESSON)), Path(name)
        course = Course(classes.ours(0, places / "course"))
        pause = PAUSE * options.seconds / board.LAB_SECONDS
        rules = f"c.ExchangeCollect.check_owner = False\nc.HandIn.pause = {pause:.0f}\n"
        exchange = add_exchange(course, places / "exchange", rules)
        texts = {who: notebook_text(submission(classes.package, e)) for who, e in classes.edits(options.students)}
        (places / "board").mkdir()
        told = pool.submit(board.measured, places / "board", list(texts), options)
        found = lab(course, exchange, texts, options.seconds)
        lines, waited = problems(course, found), found["waited"]
        print(
            f"{sum(found['held'].values())} handed in; feedback after {waited[len(waited) // 2]:.1f} s (median), ",
            f"{waited[len(waited) * 19 // 20]:.1f} s (one in twenty waits longer), {waited[-1]:.1f} s (most); ",
            end="",
            sep="",
        )
        print(f"memory {', '.join(f'{size:.0f}' for size in found['memory'])} MiB")
        print("\n".join(lines), end="\n" * bool(lines))
        return board.report(told.result()) or bool(lines)


if __name__ == "__main__":
    sys.exit(main())
