"""LMS archives and loose notebooks to `coursework/submitted/<student>/<lesson>/`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import CourseError
from ..paths import Course, Lesson
from .archives import LONGEST_NAME, PATTERNS, ArchivedFile, CollectionReport, expand, named_by_lms

LONGEST_STUDENT = 100


def collect(course: Course, lesson: Lesson, origin: Path) -> CollectionReport:
    """Collect one lesson's submissions.

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
    for path in files:
        keep_original(course, lesson, path, base)
        outer = path.relative_to(base).as_posix()
        for found in expand(outer, path, report):
            try:
                store_submission(course, lesson, found, outer, report)
            except Exception as error:  # whatever one file is, the others are collected
                report.left_out.append(f"{found.name}: {type(error).__name__}: {error}")
    return report


def keep_original(course: Course, lesson: Lesson, path: Path, base: Path) -> None:
    """Copy what came from the LMS to nbgrader's folder for it, so that nothing depends on `origin` later."""
    kept = course.downloaded / lesson.name / "archive" / path.relative_to(base)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.resolve() != path.resolve():
        shutil.copy2(path, kept)


def store_submission(course: Course, lesson: Lesson, found: ArchivedFile, outer: str, report: CollectionReport) -> None:
    """Store one notebook as its student's submission, or say why not. Nobody replaces what another upload brought."""
    problem = problem_with(lesson, found.name, found.content)
    by_system = named_by_lms(found.entry)
    student = "" if problem else student_from_path(found.entry if by_system else found.name, lesson, by_system)
    if problem or not student:
        report.left_out.append(f"{found.name}: {problem or 'no student name in its path'}")
        return
    origin = outer if by_system or found.name == outer else found.name
    if student in report.collected:
        if report.origins[student] != origin:
            kept = report.collected[student]
            report.left_out.append(f"{found.name}: {student} came from {kept} already; a person has to decide")
            return
        report.left_out.append(f"{report.collected[student]}: replaced by {found.name}, a later file of {student}")
    folder = course.submitted / student / lesson.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / lesson.notebook).write_bytes(found.content)
    report.collected[student], report.origins[student] = found.name, origin


def problem_with(lesson: Lesson, name: str, content: bytes) -> str:
    """Say why a file is no submission of this lesson, or ''."""
    if not name.endswith(".ipynb"):
        return "not a notebook"
    if len(name) > LONGEST_NAME:
        return "its name is too long"
    try:
        data = json.loads(content)
        cells = [c for c in data["cells"] if isinstance(c, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "cannot be read as a notebook (not valid JSON with cells); ask for it again"
    ids = {grade_id(c) for c in cells}
    if lesson.name not in name and not ids & known_ids(lesson):
        return f"not {lesson.name}: neither its name nor a cell says so"
    return ""


def grade_id(cell: dict[str, Any]) -> str:
    """Return the name that nbgrader knows a cell by, or '', whatever stands there."""
    data: Any = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, str) else ""


def known_ids(lesson: Lesson) -> set[str]:
    """Return the grade ids of a lesson's check cells."""
    data = json.loads((lesson.released / lesson.notebook).read_text(encoding="utf-8"))
    ids = (c["metadata"].get("nbgrader", {}).get("grade_id", "") for c in data["cells"])
    return {i for i in ids if i.startswith("check_")}


def student_from_path(name: str, lesson: Lesson, by_system: bool = True) -> str:
    """Return the student's id that a path names, in letters that are safe in paths, or ''."""
    for pattern in PATTERNS if by_system else ():
        found = pattern.search(name)
        if found:
            return safe_student_id(found["student"].replace("_LATE", ""))
    path = PurePosixPath(name)
    stem = re.sub(rf"[ _-]*{re.escape(lesson.name)}[ _-]*", "", path.stem)
    stem = re.sub(r"[ _-]*\(\d+\)$", "", stem)
    folders = [part for part in path.parts[:-1] if part != lesson.name]
    return safe_student_id(stem or (folders[-1] if folders else ""))


def safe_student_id(student: str) -> str:
    """Return a student id without characters that mean something in a path or a table."""
    return re.sub(r"[^\w.@+-]+", "_", student.strip()).strip("._-")[:LONGEST_STUDENT]
