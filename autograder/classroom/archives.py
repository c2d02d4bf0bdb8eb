"""What a learning management system delivers: archives in archives, whose names say whose work it is."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from ..errors import one_line
from ..paths import Lesson

MOST_BYTES = 50 * 2**20
NESTED = 3
LONGEST_NAME = 500
MOST_FILES, MOST_BYTES_TOGETHER = 20_000, 2 * 2**30

# How learning management systems name a student's file. The first pattern that fits gives the student.
PATTERNS = (
    # Moodle: Jane Doe_12345_assignsubmission_file_/notebook.ipynb
    re.compile(r"(?:^|/)(?P<student>[^/]+?_\d+)_assignsubmission_file"),
    # Blackboard, and nbgrader's own example: lesson_jane_attempt_2026-11-02-10-00-00_notebook.ipynb
    re.compile(r"(?:^|/)[^/]+?_(?P<student>[^/_]+)_attempt_\d{4}-"),
    # Canvas names it so: doejane_LATE_1234_567890_notebook.ipynb
    re.compile(r"(?:^|/)(?P<student>[^/_]+_(?:LATE_)?\d+)_\d+_[^/]+"),
)


@dataclass(frozen=True)
class ArchivedFile:
    """One file, and how the system that delivered it called it.

    Args:
        name: where it is, archives counted as folders.
        content: its bytes.
        entry: the name that the learning management system gave: nothing inside a student's own archive counts.
    """

    name: str
    content: bytes
    entry: str


@dataclass
class CollectionReport:
    """Who was collected, and what was left out and why."""

    collected: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    files: int = 0
    size: int = 0

    def lines(self, lesson: Lesson) -> list[str]:
        """Return the report as text, free of what a terminal would obey."""
        lines = [f"collected  {student}  from {origin}" for student, origin in sorted(self.collected.items())]
        lines += [f"left out   {text}" for text in self.left_out]
        lines.append(f"{lesson.name}: {len(self.collected)} collected, {len(self.left_out)} left out.")
        return [one_line(line) for line in lines]

    def full(self, size: int) -> bool:
        """Count one more file; say whether that is more than any class hands in."""
        self.files, self.size = self.files + 1, self.size + size
        return self.files > MOST_FILES or self.size > MOST_BYTES_TOGETHER


def expand(name: str, source: Path, report: CollectionReport) -> Iterator[ArchivedFile]:
    """Give a file; of an archive, each file in it. Nothing is unpacked to disk."""
    if source.suffix.lower() != ".zip":
        yield ArchivedFile(name, source.read_bytes(), name)
        return
    with source.open("rb") as stream:
        yield from read_zip(name, stream, report, 0, name if named_by_lms(name) else "")


def read_zip(name: str, stream: IO[bytes], report: CollectionReport, depth: int, entry: str) -> Iterator[ArchivedFile]:
    """Give the files of an archive."""
    try:
        with zipfile.ZipFile(stream) as archive:
            yield from zip_members(name, archive, report, depth, entry)
    except zipfile.BadZipFile:
        report.left_out.append(f"{name}: not a zip archive")


def zip_members(
    name: str, archive: zipfile.ZipFile, report: CollectionReport, depth: int, entry: str
) -> Iterator[ArchivedFile]:
    """Give the files in an archive, with the archive's own name as their folder."""
    for info in archive.infolist():
        inner = f"{name.removesuffix('.zip')}/{info.filename}"
        if info.is_dir() or PurePosixPath(info.filename).name.startswith((".", "_")):
            continue
        mine = entry or (inner if depth == 0 else "")
        if info.file_size > MOST_BYTES:
            report.left_out.append(f"{inner}: larger than {MOST_BYTES // 2**20} MB")
            continue
        if report.full(info.file_size):
            report.left_out.append(f"{inner}: and what follows it, because that is more than a class hands in")
            return
        try:
            content = archive.read(info)
        except Exception as error:  # encrypted, damaged, compressed in an unknown way
            report.left_out.append(f"{inner}: cannot be unpacked ({error})")
            continue
        if info.filename.lower().endswith(".zip") and depth < NESTED:
            yield from read_zip(inner, io.BytesIO(content), report, depth + 1, mine if named_by_lms(mine) else "")
        else:
            yield ArchivedFile(inner, content, mine)


def named_by_lms(name: str) -> bool:
    """Say whether a learning management system named this file."""
    return any(pattern.search(name[:LONGEST_NAME]) for pattern in PATTERNS)
