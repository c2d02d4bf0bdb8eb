"""What was graded at hand-in and is to be graded again: its lesson, the rules or what counts have changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256

from ..authoring.lesson_package import package_of
from ..errors import CourseError
from ..grading.grade import RECORD
from ..paths import Course, Lesson
from .attempts import REFUSED, USED, Attempt, counting, graded_attempts, points_in, read_attempts, write_attempts
from .deliveries import Delivered, Files
from .exchange import CollectPlainFiles
from .exchange_folders import WRITTEN, uid_of
from .gradebook import open_gradebook, submission_scores, unknown_students
from .rules import BEST, Rules, now_utc
from .run import is_current
from .submissions import TIMESTAMP, files_beside, submission_digest, time_in
from .writer import read_notebook_record

EARLIER = "It was graded with an earlier version of the lesson."
TINY = 1e-6  # points


def extensions_for_nobody(course: Course, rules: Iterable[Rules]) -> list[str]:
    """Return whose extension is nobody's: a name that is mistyped."""
    named = {student for each in rules for student in each.extensions if uid_of(student) is None}
    return unknown_students(course, named) if named else []


def graded_earlier(
    course: Course, exchange: CollectPlainFiles, lesson: Lesson, rules: Rules, changed: bool = True, student: str = "*"
) -> Iterator[Delivered]:
    """Yield each student's attempt that counts, where the lesson has changed since, or `grade` has graded it anew.

    The student's other attempts count no more, as their points are those of another lesson; they were had all the same.
    Where only its penalty is another one by now, as after an extension, or another attempt counts, they stay what they
    were.

    Args:
        course: the course.
        exchange: where what is not kept any more may still lie.
        lesson: the lesson.
        rules: its rules.
        changed: whether the lesson can have changed; it takes a while to find out.
        student: the student's id; all students by default.
    """
    overdue = other_penalty(course, lesson, rules)
    for path in sorted(course.attempts.glob(f"{student}/{lesson.name}.json")):
        student = path.parent.name
        with suppress(OSError):  # whose notes cannot be read or written: `read_finished` has said so
            # what is not released yet is graded anyway, as what has just been handed in
            noted = read_attempts(course, lesson, student, rules)
            released = [a for a in graded_attempts(noted) if a.released]
            attempt = counting(released, rules.counts == BEST)
            if attempt is None:
                continue
            read: Callable[[], Files] = partial(stored_files, course, exchange, lesson, student, attempt)
            stored = submission_digest(course, lesson, student)
            others = {a.submission for a in noted if a.finished and a.status != REFUSED}
            if stored in others - {attempt.submission, ""}:  # it counted before, or was left out, and is collected now
                read = partial(files_again, exchange, lesson, attempt)
            elif changed and not is_as_recorded(course, lesson, student, attempt):
                used = [replace(a, status=USED, note=EARLIER) for a in released if a is not attempt]
                write_attempts(course, lesson, student, *used)
            elif student not in overdue or stored != attempt.submission:
                continue
            yield Delivered(lesson, student, attempt.delivery, attempt.when or now_utc(), read)


def stored_files(course: Course, exchange: CollectPlainFiles, lesson: Lesson, student: str, attempt: Attempt) -> Files:
    """Return what is stored as an attempt's files: they may be those of another attempt with the same notebook."""
    files = files_beside(course, lesson, student)
    if not attempt.timed or time_in(files.get(TIMESTAMP, b"").decode()) == attempt.when:
        return files
    return files_again(exchange, lesson, attempt) or as_of(attempt, files)


def as_of(attempt: Attempt, files: Files) -> Files:
    """Return files with the time at which an attempt arrived, where that is known."""
    return {**files, TIMESTAMP: attempt.when.strftime(WRITTEN).encode()} if attempt.when else files


def files_again(exchange: CollectPlainFiles, lesson: Lesson, attempt: Attempt) -> Files:
    """Return an attempt's files from the exchange; none where they are gone, or are not what was graded any more."""
    with suppress(CourseError):
        for delivery in exchange.arrivals(lesson, [attempt.delivery], Counter())[0]:
            files = exchange.files_of(lesson, delivery)
            if attempt.when and sha256(files[lesson.notebook_name]).hexdigest() == attempt.submission:
                return as_of(attempt, files)
    return {}


def other_penalty(course: Course, lesson: Lesson, rules: Rules) -> set[str]:
    """Return whose penalty in the gradebook is not the one that the rules say now."""
    with open_gradebook(course) as gradebook:
        scores = list(submission_scores(gradebook, lesson.name))
    due = {s.student_id: rules.penalty(s.student_id, s.raw_score, s.timestamp) for s in scores}
    return {s.student_id for s in scores if abs(s.penalty - due[s.student_id]) > TINY}


def is_as_recorded(course: Course, lesson: Lesson, student: str, attempt: Attempt) -> bool:
    """Say whether an attempt has the points that it gets now, as far as its notebook is still here."""
    if submission_digest(course, lesson, student) != attempt.submission:
        return True
    if not is_current(course, lesson, student, package_of(lesson)):
        return False
    record = read_notebook_record(course.graded_notebook(lesson, student), RECORD)
    return bool(points_in(record)["exercises"] == attempt.exercises)
