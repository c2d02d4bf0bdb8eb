"""LMS archives and loose notebooks to `coursework/submitted/<student>/<lesson>/`."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import CourseError
from ..grading.cells import BUDGET, TOO_LARGE, cells_in
from ..judging.cell_metadata import CHECK_PREFIX, grade_id_of
from ..paths import Course, Lesson
from .archives import LONGEST_NAME, CollectionReport, DeliveredFile, LmsName, expand, parse_lms_name
from .writer import TIMESTAMP

LONGEST_STUDENT = 100
DELIVERED = (".zip", ".ipynb")
# what is left of a notebook's name without the lesson's, and names nobody
NO_NAME = re.compile(r"(copy|final|new|old|done|finished|solutions?|submission|notebook|v)?[ _-]*\d*", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A notebook that somebody has handed in.

    Args:
        name: where it was, archives counted as folders.
        content: a file that holds it until all are sorted: a class does not fit into memory.
        delivery: what its name says.
        origin: the upload that it came in: two of one student in one upload are an earlier and a later one.
        path: the file that was found on disk.
    """

    name: str
    content: Path
    delivery: LmsName
    origin: str
    path: Path


def collect(course: Course, lesson: Lesson, origin: Path) -> CollectionReport:
    """Collect one lesson's submissions.

    Where two uploads claim to be the same student's, neither is taken: one of them may be somebody else's.

    Args:
        course: where to.
        lesson: which lesson; notebooks of others are left out.
        origin: a folder with archives, student folders or notebooks, or one such file.

    Raises:
        CourseError: there is nothing at `origin`.
    """
    if not origin.exists():
        raise CourseError(f"{origin} does not exist: put the LMS zip or the notebooks there, or set FROM=…")
    files = [origin] if origin.is_file() else sorted(p for p in origin.rglob("*") if p.is_file())
    if not files:
        raise CourseError(f"{origin} is empty: put the LMS zip or the notebooks there.")
    report, base = CollectionReport(), origin.parent if origin.is_file() else origin
    with tempfile.TemporaryDirectory() as aside:
        candidates = [found for path in files for found in candidates_in(lesson, path, base, report, Path(aside))]
        store_latest(course, lesson, candidates, report)
    for path in sorted({candidate.path for candidate in candidates}):
        keep_original(course, lesson, path, base)
    return report


def store_latest(course: Course, lesson: Lesson, candidates: Sequence[Candidate], report: CollectionReport) -> None:
    """Store each student's latest notebook, and report what is left out."""
    for student, mine in by_student(candidates).items():
        if len({candidate.origin for candidate in mine}) > 1:
            names = " and ".join(sorted(candidate.name for candidate in mine))
            report.left_out.append(f"{names}: all of them claim to be {student}'s; a person has to decide")
            continue
        for earlier in mine[:-1]:
            report.left_out.append(f"{earlier.name}: replaced by {mine[-1].name}, a later file of {student}")
        store(course, lesson, student, mine[-1])
        report.collected[student] = mine[-1].name
        report.late |= {student} if mine[-1].delivery.late else set()


def candidates_in(lesson: Lesson, path: Path, base: Path, report: CollectionReport, aside: Path) -> list[Candidate]:
    """Return the submissions in one file on disk, each put aside, and report what else is in it."""
    outer, found = path.relative_to(base).as_posix(), []
    if path.suffix.lower() not in DELIVERED:
        report.left_out.append(f"{outer}: not a notebook")
        return []
    for file in expand(outer, path, lesson, report):
        problem = problem_with(lesson, file.name, file.content)
        delivery = None if problem else parse_lms_name(file.entry, lesson)
        student = delivery.student if delivery else "" if problem else student_from_path(file.name, lesson)
        if problem or not safe_student_id(student):
            report.left_out.append(f"{file.name}: {problem or 'no student name in its path'}")
            continue
        origin = outer if delivery or file.name == outer else file.name
        content = put_aside(file, aside)
        found.append(Candidate(file.name, content, delivery or LmsName(student), origin, path))
    return found


def put_aside(file: DeliveredFile, folder: Path) -> Path:
    """Write a file's content into a folder under a name of its own."""
    descriptor, path = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(file.content)
    return Path(path)


def by_student(candidates: Sequence[Candidate]) -> Mapping[str, list[Candidate]]:
    """Sort submissions by student. Two people whose files look like one person's are told apart by more of the name."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(safe_student_id(candidate.delivery.student), []).append(candidate)
    found: dict[str, list[Candidate]] = {}
    for student, mine in groups.items():
        longer = told_apart(student, sorted({c.delivery.longer for c in mine} - {""}))
        for candidate in mine:
            found.setdefault(longer.get(candidate.delivery.longer, student), []).append(candidate)
    return found


def told_apart(student: str, names: list[str]) -> Mapping[str, str]:
    """Return ids for several people whose names were read as one, by a longer part of it.

    Moodle adds a number, which is kept then. Blackboard puts the assignment before the name, and both may hold `_`:
    what all of them begin with is the assignment.
    """
    if len(names) < 2:
        return {}
    shared = os.path.commonprefix(names)  # noqa: RUF071 - by characters, which is what is wanted
    cut = 0 if safe_student_id(shared).startswith(student) else shared.rfind("_") + 1
    return {name: safe_student_id(name[cut:]) for name in names}


def store(course: Course, lesson: Lesson, student: str, candidate: Candidate) -> None:
    """Put a notebook where submissions are, with the time at which it was handed in, where that is known."""
    path = course.submission(lesson, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(candidate.content, path)
    timestamp = path.with_name(TIMESTAMP)
    timestamp.unlink(missing_ok=True)
    if candidate.delivery.handed_in:
        timestamp.write_text(candidate.delivery.handed_in + "\n", encoding="utf-8")


def keep_original(course: Course, lesson: Lesson, path: Path, base: Path) -> None:
    """Copy what came from the LMS to nbgrader's folder for it, so that nothing depends on `origin` later."""
    kept = course.downloaded / lesson.name / "archive" / path.relative_to(base)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.resolve() != path.resolve():
        shutil.copy2(path, kept)


def problem_with(lesson: Lesson, name: str, content: bytes) -> str:
    """Say why a file is no submission of this lesson, or ''."""
    if not name.endswith(".ipynb"):
        return "not a notebook"
    if len(name) > LONGEST_NAME:
        return "its name is too long"
    if len(content) > BUDGET.bytes:  # reading it takes twenty times its size in memory
        return TOO_LARGE
    try:
        cells = cells_in(content)
    except ValueError:
        return "cannot be read as a notebook (not valid JSON with cells); ask for it again"
    if lesson.name not in name and not {grade_id_of(cell) for cell in cells} & known_ids(lesson):
        return f"not {lesson.name}: neither its name nor a cell says so"
    return ""


def known_ids(lesson: Lesson) -> set[str]:
    """Return the grade ids of a lesson's check cells."""
    released: Any = json.loads((lesson.released / lesson.notebook).read_text(encoding="utf-8"))
    return {name for cell in released["cells"] if (name := grade_id_of(cell)).startswith(CHECK_PREFIX)}


def student_from_path(name: str, lesson: Lesson) -> str:
    """Return the student's id that a path names, in letters that are safe in paths, or ''."""
    path = PurePosixPath(name)
    stem = re.sub(rf"[ _-]*{re.escape(lesson.name)}[ _-]*", "", path.stem)
    stem = re.sub(r"[ _-]*\(\d+\)$", "", stem)
    folders = [part for part in path.parts[:-1] if part != lesson.name]
    says_nothing = not stem or (folders and NO_NAME.fullmatch(stem))
    return safe_student_id((folders[-1] if folders else "") if says_nothing else stem)


def safe_student_id(student: str) -> str:
    """Return a student id without characters that mean something in a path or a table."""
    return re.sub(r"[^\w.@+-]+", "_", student.strip()).strip("._-")[:LONGEST_STUDENT]
