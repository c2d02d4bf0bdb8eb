"""LMS archives and loose notebooks to `coursework/submitted/<student>/<lesson>/`."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from .errors import CourseError
from .lessons import Course, Lesson

MOST_BYTES = 50 * 2**20
NESTED = 3

# How learning management systems name a student's file. The first pattern that fits gives the student.
PATTERNS = (
    # Moodle: Jane Doe_12345_assignsubmission_file_/notebook.ipynb
    re.compile(r"(?:^|/)(?P<student>[^/]+?_\d+)_assignsubmission_file"),
    # Blackboard, and nbgrader's own example: lesson_jane_attempt_2026-11-02-10-00-00_notebook.ipynb
    re.compile(r"(?:^|/)[^/]+_(?P<student>[^/_]+)_attempt_\d"),
    # Canvas names it so: doejane_LATE_1234_567890_notebook.ipynb
    re.compile(r"(?:^|/)(?P<student>[^/_]+_(?:LATE_)?\d+)_\d+_[^/]+"),
)


@dataclass
class Report:
    """Who was collected, and what was left out and why."""

    collected: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def lines(self, lesson: Lesson) -> list[str]:
        """Return the report as text."""
        lines = [f"collected  {student}  from {origin}" for student, origin in sorted(self.collected.items())]
        lines += [f"left out   {text}" for text in self.left_out]
        return [*lines, f"{lesson.name}: {len(self.collected)} collected, {len(self.left_out)} left out."]


def collect(course: Course, lesson: Lesson, origin: Path) -> Report:
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
    report, base = Report(), origin.parent if origin.is_file() else origin
    for path in files:
        keep_original(course, lesson, path, base)
        for name, content in expand(path.relative_to(base).as_posix(), path, report):
            take(course, lesson, name, content, report)
    return report


def keep_original(course: Course, lesson: Lesson, path: Path, base: Path) -> None:
    """Copy what came from the LMS to nbgrader's folder for it, so that nothing depends on `origin` later."""
    kept = course.downloaded / lesson.name / "archive" / path.relative_to(base)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.resolve() != path.resolve():
        shutil.copy2(path, kept)


def expand(name: str, source: Path, report: Report, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """Give a file's name and content; of an archive, those of each file in it. Nothing is unpacked to disk."""
    if source.suffix.lower() != ".zip":
        yield name, source.read_bytes()
        return
    try:
        with source.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            yield from members(name, archive, report, depth)
    except zipfile.BadZipFile:
        report.left_out.append(f"{name}: not a zip archive")


def members(name: str, archive: zipfile.ZipFile, report: Report, depth: int) -> Iterator[tuple[str, bytes]]:
    """Give the files in an archive, with the archive's own name as their folder."""
    for info in archive.infolist():
        inner = f"{name.removesuffix('.zip')}/{info.filename}"
        if info.is_dir() or PurePosixPath(info.filename).name.startswith((".", "_")):
            continue
        if info.file_size > MOST_BYTES:
            report.left_out.append(f"{inner}: larger than {MOST_BYTES // 2**20} MB")
        elif info.filename.lower().endswith(".zip") and depth < NESTED:
            with archive.open(info) as stream:
                yield from nested(inner, stream, report, depth + 1)
        else:
            yield inner, archive.read(info)


def nested(name: str, stream: IO[bytes], report: Report, depth: int) -> Iterator[tuple[str, bytes]]:
    """Give the files of an archive within an archive."""
    try:
        with zipfile.ZipFile(stream) as archive:
            yield from members(name, archive, report, depth)
    except zipfile.BadZipFile:
        report.left_out.append(f"{name}: not a zip archive")


def take(course: Course, lesson: Lesson, name: str, content: bytes, report: Report) -> None:
    """Store one notebook as its student's submission, or say why not."""
    problem = problem_with(lesson, name, content)
    student = "" if problem else student_of(name, lesson)
    if problem or not student:
        report.left_out.append(f"{name}: {problem or 'no student name in its path'}")
        return
    if student in report.collected:
        report.left_out.append(f"{report.collected[student]}: replaced by {name}, a later file of {student}")
    folder = course.submitted / student / lesson.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / lesson.notebook).write_bytes(content)
    report.collected[student] = name


def problem_with(lesson: Lesson, name: str, content: bytes) -> str:
    """Say why a file is no submission of this lesson, or ''."""
    if not name.endswith(".ipynb"):
        return "not a notebook"
    try:
        data = json.loads(content)
        cells = [c for c in data["cells"] if isinstance(c, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "cannot be read as a notebook (not valid JSON with cells); ask for it again"
    ids = {str(c.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")) for c in cells}
    if lesson.name not in name and not ids & known_ids(lesson):
        return f"not {lesson.name}: neither its name nor a cell says so"
    return ""


def known_ids(lesson: Lesson) -> set[str]:
    """Return the grade ids of a lesson's check cells."""
    data = json.loads((lesson.released / lesson.notebook).read_text(encoding="utf-8"))
    ids = (c["metadata"].get("nbgrader", {}).get("grade_id", "") for c in data["cells"])
    return {i for i in ids if i.startswith("check_")}


def student_of(name: str, lesson: Lesson) -> str:
    """Return the student's id that a path names, in letters that are safe in paths, or ''."""
    for pattern in PATTERNS:
        found = pattern.search(name)
        if found:
            return safe(found["student"].replace("_LATE", ""))
    path = PurePosixPath(name)
    stem = re.sub(rf"[ _-]*{re.escape(lesson.name)}[ _-]*", "", path.stem)
    stem = re.sub(r"[ _-]*\(\d+\)$", "", stem)
    folders = [part for part in path.parts[:-1] if part != lesson.name]
    return safe(stem or (folders[-1] if folders else ""))


def safe(student: str) -> str:
    """Return a student id without characters that mean something in a path or a table."""
    return re.sub(r"[^\w.@+-]+", "_", student.strip()).strip("._-")
