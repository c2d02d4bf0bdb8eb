"""What students have handed in, as it is on disk."""

from __future__ import annotations

import datetime
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nbgrader.utils import parse_utc

from ..authoring.package import package_of
from ..errors import CourseError, SubmissionError, escaped
from ..grading.package import grade_id_of
from ..grading.repair import MOST_BYTES, repair
from ..paths import Course, Lesson
from .plain_files import listing, open_folder, read_below, read_plain

TIMESTAMP = "timestamp.txt"
SECRET = "submission_secret.txt"  # by which feedback finds its way back through the exchange
MOST_BESIDE = 1000  # bytes of either
SPECIAL = frozenset("*?[]<>")  # to nbgrader, which reads ids as patterns, and to a browser
ODD_ID = "a student's id must be printable, without * ? [ ] < >, and must not begin with a dot"


def is_odd(student: str) -> bool:
    """Say whether nbgrader or a terminal would take a student's id for something else."""
    return not student.isprintable() or not SPECIAL.isdisjoint(student) or student.startswith(".")


def read_submission(course: Course, lesson: Lesson, student: str) -> bytes:
    """Return the file that a student handed in. Raises SubmissionError where there is none that can be read."""
    if is_odd(student):
        raise SubmissionError(f"{ODD_ID}: rename the folder")
    try:
        with open_folder(course.submitted, (student, lesson.name)) as folder:
            try:
                return read_plain(folder, lesson.notebook, MOST_BYTES)
            except FileNotFoundError as error:
                raise SubmissionError(f"no {lesson.notebook}; the folder holds {listing(folder)}") from error
    except FileNotFoundError as error:
        raise SubmissionError(f"{escaped(student)} has not handed in {lesson.name}") from error


def store_submission(course: Course, lesson: Lesson, student: str, files: Mapping[str, bytes]) -> None:
    """Put what a student handed in where submissions are, in place of what was there, and never half of it."""
    target = course.submission(lesson, student).parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=course.submitted, prefix=".", ignore_cleanup_errors=True) as aside:
        new, old = Path(aside, "new"), Path(aside, "old")
        new.mkdir()
        for name, content in files.items():
            (new / name).write_bytes(content)
        if os.path.lexists(target):
            target.rename(old)
        new.rename(target)


def submission_digest(course: Course, lesson: Lesson, student: str) -> str:
    """Return the SHA-256 of what a student handed in; '' where it cannot be read."""
    try:
        return hashlib.sha256(read_submission(course, lesson, student)).hexdigest()
    except SubmissionError:
        return ""


def timestamp_of(course: Course, lesson: Lesson, student: str) -> datetime.datetime | None:
    """Return when a submission was handed in, UTC, as nbgrader's timestamp.txt beside it says.

    Raises:
        SubmissionError: there is such a file, and no time in it.
    """
    path = course.submission(lesson, student).with_name(TIMESTAMP)
    try:
        text = read_below(course.submitted, path, MOST_BESIDE).decode(errors="replace").strip()
    except FileNotFoundError:
        return None
    handed_in = time_in(text)
    if text and handed_in is None:
        raise SubmissionError(f"there is no time in {TIMESTAMP} ({escaped(text[:40])}): correct it, or delete the file")
    return handed_in


def time_in(text: str) -> datetime.datetime | None:
    """Return the time that a text of nbgrader's names, UTC; None where it names none."""
    try:
        parsed: datetime.datetime = parse_utc(text)
    except Exception:  # dateutil has many
        return None
    return parsed


def exercise_cell(course: Course, lesson: Lesson, student: str, exercise: str) -> str:
    """Return what a student wrote into an exercise's cell.

    Raises:
        CourseError: there is no such exercise, or no such cell in what the student handed in.
    """
    package = package_of(lesson)
    if exercise not in package.source.exercises:
        raise CourseError(f"{exercise!r} is not an exercise. Exercises: {', '.join(package.source.exercises)}.")
    cells = repair(read_submission(course, lesson, student), package)["cells"]
    found = [cell["source"] for cell in cells if grade_id_of(cell) == exercise]
    if not found:
        raise CourseError(f"{student}'s notebook has no cell of {exercise}.")
    return str(found[-1])


def why_not_gradable(course: Course, lesson: Lesson, student: str) -> str:
    """Say why a submission cannot be graded, or ''."""
    try:
        repair(read_submission(course, lesson, student), package_of(lesson))
    except SubmissionError as error:
        return str(error)
    return ""
