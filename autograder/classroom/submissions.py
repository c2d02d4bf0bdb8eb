"""What students have handed in, as it is on disk."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock
from nbgrader.utils import parse_utc

from ..authoring.lesson_package import package_of
from ..errors import CourseError, SubmissionError, escaped
from ..grading.cells import BUDGET
from ..grading.package import LessonPackage
from ..grading.repair import repair_submission
from ..paths import Course, Lesson, replace_text
from .plain_files import listing, open_folder, read_below, read_plain
from .rules import EARLIEST, LATEST

TIMESTAMP = "timestamp.txt"
SECRET = "submission_secret.txt"  # by which feedback finds its way back through the exchange
LATE = "late.txt"  # the learning management system says so, and not when it was handed in
OWNER = "owner.txt"  # whose it is, as a learning management system names it
MOST_BESIDE = 2000  # bytes of each
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
                return read_plain(folder, lesson.notebook_name, BUDGET.bytes)
            except FileNotFoundError as error:
                raise SubmissionError(f"no {lesson.notebook_name}; the folder holds {listing(folder)}") from error
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


def files_beside(course: Course, lesson: Lesson, student: str) -> dict[str, bytes]:
    """Return a submission that was collected, with what is known of when, as far as that lies there as plain files.

    Raises:
        SubmissionError: the submission itself cannot be read.
    """
    files = {lesson.notebook_name: read_submission(course, lesson, student)}
    folder = course.submission(lesson, student).parent
    for name in (TIMESTAMP, LATE, SECRET, OWNER):
        with suppress(FileNotFoundError, SubmissionError):
            files[name] = read_below(course.submitted, folder / name, MOST_BESIDE)
    return files


@contextmanager
def changing_submissions(course: Course) -> Iterator[None]:
    """Let one process at a time replace a submission, or write down what came of one. The system ends the lock."""
    course.coursework.mkdir(exist_ok=True)
    with FileLock(course.coursework / ".changing.lock"):
        yield


def owners_of(course: Course, lesson: Lesson) -> dict[str, str]:
    """Return by student what the system that delivered a lesson's submissions calls them, '' where none did.

    Whose submission holds nothing about that, because somebody has put it there by hand, is left out.
    """
    owners = {}
    for student in course.students(lesson):
        folder = course.submission(lesson, student).parent
        with suppress(FileNotFoundError, SubmissionError):
            owners[student] = read_below(course.submitted, folder / OWNER, MOST_BESIDE).decode(errors="replace")
        if student not in owners and (folder / SECRET).is_file():  # an account's, from the exchange
            owners[student] = ""
    return owners


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


def handed_in(course: Course, lesson: Lesson, student: str) -> tuple[datetime.datetime | None, bool]:
    """Return when it was handed in, and whether whoever delivered it calls it late. Raises as `timestamp_of` does."""
    return timestamp_of(course, lesson, student), course.submission(lesson, student).with_name(LATE).is_file()


def time_in(text: str) -> datetime.datetime | None:
    """Return the time that a text of nbgrader's names, UTC; None where it names none, or one that cannot be."""
    try:
        parsed: datetime.datetime = parse_utc(text)
        return parsed if EARLIEST <= parsed <= LATEST else None
    except Exception:  # dateutil has many
        return None


def package_with(lesson: Lesson, exercise: str) -> LessonPackage:
    """Return a lesson's package. Raises CourseError where the lesson has no such exercise."""
    package = package_of(lesson)
    if exercise not in package.source.exercises:
        raise CourseError(f"{exercise!r} is not an exercise. Exercises: {', '.join(package.source.exercises)}.")
    return package


def exercise_cell(course: Course, lesson: Lesson, student: str, exercise: str) -> str:
    """Return what a student wrote into an exercise's cell.

    Raises:
        CourseError: there is no such exercise, or no such cell in what the student handed in.
    """
    package = package_with(lesson, exercise)
    cells = repair_submission(read_submission(course, lesson, student), package).cells
    sources = [cell.source for cell in cells if cell.name == exercise]
    if not sources:
        raise CourseError(f"{student}'s notebook has no cell of {exercise}.")
    return str(sources[-1])


def why_not_gradable(course: Course, lesson: Lesson, student: str) -> str:
    """Say why a submission cannot be graded, or ''. What cannot be read is read once."""
    package = package_of(lesson)
    if reason := refusal_of(course, lesson, student, package):
        return reason
    try:
        content = read_submission(course, lesson, student)
    except SubmissionError as error:
        return str(error)
    try:
        repair_submission(content, package)
    except SubmissionError as error:
        record_refusal(course, lesson, student, package, content, str(error))
        return str(error)
    return ""


def refusal_of(course: Course, lesson: Lesson, student: str, package: LessonPackage) -> str:
    """Return why a submission, as it is now, was refused before, or ''."""
    try:
        record = json.loads(course.refusal(lesson, student).read_text(encoding="utf-8"))
        seen = record["seen"] == seen_as(submission_digest(course, lesson, student), package)
        return str(record["reason"]) if seen else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def record_refusal(
    course: Course, lesson: Lesson, student: str, package: LessonPackage, content: bytes, reason: str
) -> None:
    """Write down why a submission cannot be read, so that it is not met as a new one at every run."""
    path = course.refusal(lesson, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"seen": seen_as(hashlib.sha256(content).hexdigest(), package), "reason": reason}
    replace_text(path, json.dumps(record, indent=1) + "\n")


def seen_as(submission: str, package: LessonPackage) -> str:
    """Return what decides whether a submission can be read: its checksum, the lesson's, and how much is read."""
    return f"{submission} {package.digest} {BUDGET}"
