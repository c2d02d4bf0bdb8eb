"""What was graded at hand-in with an earlier version of a lesson, and has to be graded again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ..authoring.lesson_package import package_of
from ..grading.grade import RECORD
from ..paths import Course, Lesson
from .attempts import LEFT_OUT, Attempt, counting, graded, points_in, read_attempts, write_attempts
from .deliveries import Delivered, files_beside
from .rules import now_utc
from .run import is_current
from .submissions import submission_digest
from .writer import read_notebook_record

EARLIER = "It was graded with an earlier version of the lesson."


def graded_earlier(course: Course, lesson: Lesson, best: bool) -> Iterator[Delivered]:
    """Yield each student's attempt that counts, where the lesson has changed since, or `grade` has graded it anew.

    The student's other attempts count no more: their points are those of another lesson.
    """
    for path in sorted(course.attempts.glob(f"*/{lesson.name}.json")):
        student = path.parent.name
        attempts = read_attempts(course, lesson, student)
        attempt = counting(attempts, best)
        if attempt is None or not attempt.released or is_as_recorded(course, lesson, student, attempt):
            continue
        others = [replace(a, status=LEFT_OUT, note=EARLIER) for a in graded(attempts) if a is not attempt]
        write_attempts(course, lesson, student, *others)
        arrived = attempt.when or now_utc()
        yield Delivered(lesson, student, attempt.delivery, arrived, partial(files_beside, course, lesson, student))


def is_as_recorded(course: Course, lesson: Lesson, student: str, attempt: Attempt) -> bool:
    """Say whether an attempt has the points that it gets now, as far as its notebook is still here."""
    if submission_digest(course, lesson, student) != attempt.submission:
        return True
    if not is_current(course, lesson, student, package_of(lesson)):
        return False
    record = read_notebook_record(course.graded_notebook(lesson, student), RECORD)
    return bool(points_in(record)["exercises"] == attempt.exercises)
