"""What students have handed in, as it is on disk."""

from __future__ import annotations

from ..authoring.package import package_of
from ..errors import CourseError, SubmissionError, one_line
from ..grading.repair import repair
from ..paths import Course, Lesson


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
    """Say why a submission cannot be graded, or ''."""
    try:
        repair(read_submission(course, lesson, student), package_of(lesson))
    except SubmissionError as error:
        return str(error)
    return ""
