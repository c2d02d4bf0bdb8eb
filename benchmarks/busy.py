"""`python -m benchmarks.busy`: the answer key's points on a busy computer are those that it gets alone.

Grades every lesson's own solutions alone, and then beside processes that keep all processors busy. It fails where any
points differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import solutions, submission
from autograder.grading.grade import RECORD, Submission, grade
from autograder.paths import Lesson, find_course

BUSY = 8
TIMES = 3
SEED = 5
SPIN = "while True: pass"


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep so many processes computing."""
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", SPIN]))
            stack.callback(process.kill)
        yield


def points(lesson: Lesson) -> dict[str, int]:
    """Return what a lesson's own solutions get, by exercise."""
    package = package_of(lesson)
    handed_in = notebook_text(submission(package, solutions(read_lesson(lesson)))).encode()
    record = json.loads(grade(Submission(handed_in, package, SEED)))["metadata"][RECORD]
    return {name: verdict["points"] for name, verdict in record["verdicts"].items()}


def differences(lessons: list[Lesson], busy: int, times: int) -> list[str]:
    """Return a line for each lesson and time in which points differ from those alone."""
    alone, found = {lesson: points(lesson) for lesson in lessons}, []
    with busy_processes(busy):
        for time in range(times):
            for lesson in lessons:
                now = points(lesson)
                print(f"{time + 1}. {lesson.name:<24}{sum(now.values()):>4} of {sum(alone[lesson].values())}")
                if now != alone[lesson]:
                    found.append(f"{lesson.name}: {now} beside {busy} busy processes, {alone[lesson]} alone")
    return found


def main() -> None:
    """Compare, and exit with what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", type=int, default=BUSY, help="how many processes keep the computer busy")
    parser.add_argument("--times", type=int, default=TIMES, help="how often each lesson is graded beside them")
    parser.add_argument("--lesson", action="append", help="only this one; may be given several times")
    options = parser.parse_args()
    course = find_course()
    lessons = [course.lesson(name) for name in options.lesson] if options.lesson else list(course.lessons())
    sys.exit("\n".join(differences(lessons, options.busy, options.times)))


if __name__ == "__main__":
    main()
