"""What a learning management system delivers: archives in archives, and what the names of the files in them say."""

from __future__ import annotations

import io
import re
import unicodedata
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
MOST_FILES, MOST_BYTES_EACH = 1000, 500 * 2**20  # that one student hands in


@dataclass(frozen=True)
class DeliveredFile:
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
    late: set[str] = field(default_factory=set)
    used: dict[str, tuple[int, int]] = field(default_factory=dict)
    as_before: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)

    def lines(self, lesson: Lesson) -> list[str]:
        """Return the report as text, free of what a terminal would obey."""
        late = dict.fromkeys(self.late, "  (late)")
        taken = sorted(self.collected.items())
        lines = [f"collected  {student}  from {origin}{late.get(student, '')}" for student, origin in taken]
        lines += [f"left out   {text}" for text in self.left_out]
        lines += [f"look at    {text}" for text in self.remarks]
        as_before = f", {len(self.as_before)} as before" * bool(self.as_before)
        lines.append(f"{lesson.name}: {len(self.collected)} collected, {len(self.left_out)} left out{as_before}.")
        return [one_line(line) for line in lines]

    def is_too_much(self, owner: str, size: int) -> bool:
        """Count one more file of one upload; say whether that is more than anybody hands in."""
        files, together = self.used.get(owner, (0, 0))
        files, together = files + 1, together + size
        self.used[owner] = files, together
        if files == MOST_FILES + 1 or together > MOST_BYTES_EACH >= together - size:
            self.left_out.append(
                f"{owner}: whatever comes after {files - 1} files, which is more than one student hands in"
            )
        return files > MOST_FILES or together > MOST_BYTES_EACH


@dataclass(frozen=True)
class LmsName:
    """What a learning management system's name for a file says.

    Args:
        student: as the system writes it.
        longer: more of the file's name, for telling apart students who would be read as one; '' where it is certain.
        late: the system says that the file came late.
        handed_in: when, as nbgrader's timestamps are written; '' where the name does not say.
    """

    student: str
    longer: str = ""
    late: bool = False
    handed_in: str = ""


# as Moodle names files: "Jane Doe_12345_assignsubmission_file_/notebook.ipynb"
MOODLE = re.compile(r"(?:^|/)(?P<student>[^/]+?)_(?P<number>\d+)_assignsubmission_file")
# as Blackboard does, and nbgrader's own example: Lesson 2_jane_attempt_2026-11-02-10-00-00_notebook.ipynb
BLACKBOARD = re.compile(
    r"(?:^|/)(?P<head>[^/]+)_attempt_(?P<day>\d{4}-\d\d-\d\d)-(?P<hour>\d\d)-(?P<minute>\d\d)-(?P<second>\d\d)"
)
# as Canvas does: doejane_LATE_1234_567890_notebook.ipynb
CANVAS = re.compile(r"(?:^|/)(?P<student>[^/_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_[^/]+")


def parse_lms_name(name: str, lesson: Lesson) -> LmsName | None:
    """Read a file's name as learning management systems write them; None where it is not one of theirs."""
    name = name[:LONGEST_NAME]
    if found := MOODLE.search(name):
        return LmsName(found["student"], f"{found['student']}_{found['number']}")
    if found := BLACKBOARD.search(name):
        head = found["head"].removeprefix(f"{lesson.name}_")
        student, longer = (head, "") if head != found["head"] else (head.rpartition("_")[2], head)
        return LmsName(student, longer, handed_in="{day} {hour}:{minute}:{second}".format(**found.groupdict()))
    if found := CANVAS.search(name):  # the number is the student's own here
        return LmsName(f"{found['student']}_{found['number']}", late=bool(found["late"]))
    return None


def expand(name: str, source: Path, lesson: Lesson, report: CollectionReport) -> Iterator[DeliveredFile]:
    """Yield a file, or each file in an archive. Nothing is unpacked to disk."""
    name = unicodedata.normalize("NFC", name)
    if source.suffix.lower() != ".zip":
        if source.stat().st_size > MOST_BYTES:
            report.left_out.append(f"{name}: larger than {MOST_BYTES // 2**20} MB")
            return
        yield DeliveredFile(name, source.read_bytes(), name)
        return
    with source.open("rb") as stream:
        yield from read_zip(name, stream, lesson, report, 0, name if parse_lms_name(name, lesson) else "")


def read_zip(
    name: str, stream: IO[bytes], lesson: Lesson, report: CollectionReport, depth: int, entry: str
) -> Iterator[DeliveredFile]:
    """Give the files of an archive."""
    try:
        archive = zipfile.ZipFile(stream)
    except Exception as error:  # not an archive, of an unknown version, with a name in no known writing
        known = isinstance(error, zipfile.BadZipFile)
        report.left_out.append(f"{name}: not a zip archive" if known else f"{name}: cannot be opened ({error})")
        return
    with archive:
        yield from zip_members(name, archive, lesson, report, depth, entry)


def owner_of(entry: str, archive: str, lesson: Lesson) -> str:
    """Return whose upload a file belongs to, as far as names tell: the student, else its folder in the archive."""
    known = parse_lms_name(entry, lesson)
    if known:
        return known.student
    return entry.removeprefix(f"{archive.removesuffix('.zip')}/").partition("/")[0]


def zip_members(
    name: str, archive: zipfile.ZipFile, lesson: Lesson, report: CollectionReport, depth: int, entry: str
) -> Iterator[DeliveredFile]:
    """Give the files in an archive, with the archive's own name as their folder."""
    for info in archive.infolist():
        inner = unicodedata.normalize("NFC", f"{name.removesuffix('.zip')}/{info.filename}")
        if info.is_dir() or PurePosixPath(info.filename).name.startswith((".", "_")):
            continue
        mine = entry or (inner if depth == 0 else "")
        if info.file_size > MOST_BYTES:
            report.left_out.append(f"{inner}: larger than {MOST_BYTES // 2**20} MB")
            continue
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            report.left_out.append(f"{inner}: compressed in a way that learning management systems do not use")
            continue
        if report.is_too_much(owner_of(mine or inner, name, lesson), info.file_size):
            continue
        try:
            content = archive.read(info)
        except Exception as error:  # encrypted, damaged, compressed in an unknown way
            report.left_out.append(f"{inner}: cannot be unpacked ({error})")
            continue
        if info.filename.lower().endswith(".zip") and depth < NESTED:
            own = mine if parse_lms_name(mine, lesson) else ""
            yield from read_zip(inner, io.BytesIO(content), lesson, report, depth + 1, own)
        else:
            yield DeliveredFile(inner, content, mine)
