"""What students have handed in, as it is on disk."""

from __future__ import annotations

import hashlib
import json

from ..authoring.package import package_of
from ..errors import CourseError, SubmissionError, one_line
from ..grading.cells import BUDGET
from ..grading.package import LessonPackage
from ..grading.repair import repair
from ..paths import Course, Lesson, file_digest, replace_text


def read_submission(course: Course, lesson: Lesson, student: str) -> bytes:
    """Return the file that a student handed in. Raises SubmissionError where there is none under the right name."""
    path = course.submission(lesson, student)
    try:
        return path.read_bytes()
    except OSError as error:
        there = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        listing = one_line(", ".join(there)) or "nothing"
        raise SubmissionError(f"no {lesson.notebook}; the folder holds {listing}") from error


def exercise_cell(course: Course, lesson: Lesson, student: str, exercise: str) -> str:
    """Return what a student wrote into an exercise's cell.

    Raises:
        CourseError: there is no such exercise, or no such cell in what the student handed in.
    """
    package = package_of(lesson)
    if exercise not in package.source.exercises:
        raise CourseError(f"{exercise!r} is not an exercise. Exercises: {', '.join(package.source.exercises)}.")
    cells = repair(read_submission(course, lesson, student), package).cells
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
        repair(content, package)
    except SubmissionError as error:
        record_refusal(course, lesson, student, package, content, str(error))
        return str(error)
    return ""


def refusal_of(course: Course, lesson: Lesson, student: str, package: LessonPackage) -> str:
    """Return why a submission, as it is now, was refused before, or ''."""
    try:
        record = json.loads(course.refusal(lesson, student).read_text(encoding="utf-8"))
        seen = record["seen"] == seen_as(file_digest(course.submission(lesson, student)), package)
        return str(record["reason"]) if seen else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def record_refusal(
    course: Course, lesson: Lesson, student: str, package: LessonPackage, content: bytes, reason: str
) -> None:
    """Write down why a submission cannot be read, so that it is not met as a new one at every run.

    Args:
        course: where submissions are.
        lesson: the lesson.
        student: whose it is.
        package: the lesson, as it is now.
        content: what was handed in.
        reason: why it cannot be read.
    """
    path = course.refusal(lesson, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"seen": seen_as(hashlib.sha256(content).hexdigest(), package), "reason": reason}
    replace_text(path, json.dumps(record, indent=1) + "\n")


def seen_as(submission: str, package: LessonPackage) -> str:
    """Return what decides whether a submission can be read: its checksum, the lesson's, and how much is read."""
    return f"{submission} {package.digest} {BUDGET}"
