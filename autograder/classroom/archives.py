"""What a learning management system delivers: archives in archives, and what the names of the files in them say.

Who has handed something in is decided by the outermost name that names anybody, which no student has written, and never
by what is inside somebody's upload.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from ..errors import one_line
from ..paths import Course, Lesson, replace_text

MOST_UNPACKED_BYTES = 50 * 2**20
NESTED = 3
LONGEST_NAME = 500
LONGEST_STUDENT = 100  # bytes, of the 255 that a folder's name may have
LONGEST_LIST = 2_000_000  # bytes of an archive's list of files: an upload's is a few kilobytes
MOST_FILES = 1000  # that one student hands in


@dataclass(frozen=True)
class Bounds:
    """How much is taken of somebody.

    Args:
        files: at most.
        bytes: at most, of all of them.
        reason: why no more of them: "… files, which …".
    """

    files: int
    bytes: int
    reason: str


HANDED_IN = Bounds(MOST_FILES, 500 * 2**20, "files, which is more than one student hands in")
PARSED = Bounds(100, 50 * 2**20, "notebooks, and no more of one student's are read")
PARSED_OF_ALL = Bounds(20_000, 2**31, "notebooks, and no more of one archive are read: collect it in parts")


@dataclass(frozen=True)
class Owner:
    """Who has handed something in, as its name says.

    Args:
        student: as the name writes it; '' where it names nobody, or may be read as two systems'.
        longer: more of the name, for telling apart students who would be read as one; '' where it is certain.
        late: the learning management system says that it came late.
        handed_in: when, as nbgrader's timestamps are written; '' where the name does not say.
        system: the learning management system whose name it is; '' where whoever named the file says whose it is.
    """

    student: str
    longer: str = ""
    late: bool = False
    handed_in: str = ""
    system: str = ""

    @property
    def key(self) -> str:
        """Whose it is within a lesson, as nobody can choose who hands in; '' where whoever named the file says so."""
        return f"{self.system}:{self.longer or self.student}" if self.system else ""


@dataclass(frozen=True)
class Upload:
    """What one student has handed in at once: a notebook, a folder or an archive, with all that is in it.

    Args:
        name: where it is, archives counted as folders.
        owner: whose it is.
        archive: the archive of many uploads that it came in, or ''.
    """

    name: str
    owner: Owner
    archive: str = ""

    @property
    def whose(self) -> str:
        """By what its files are counted: all that tells its owner from others."""
        return self.owner.longer or self.owner.student

    @property
    def origin(self) -> str:
        """Where it is from: two uploads of one student from one origin are an earlier and a later one."""
        return self.archive if self.owner.system else self.name


@dataclass(frozen=True)
class DeliveredFile:
    """One file, and how the system that delivered it called it.

    Args:
        name: where it is, archives counted as folders.
        content: its bytes.
        upload: what it was handed in with.
    """

    name: str
    content: bytes
    upload: Upload


@dataclass
class CollectionReport:
    """Who was collected, and what was left out and why."""

    collected: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    used: dict[tuple[str, Bounds], tuple[int, int]] = field(default_factory=dict)
    as_before: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)  # of what was left out, what may be read later

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

    def keep(self, course: Course, lesson: Lesson, origin: str) -> None:
        """Write down for the class's report what was left out, in place of what was noted of the same origin."""
        path = course.left_out(lesson)
        noted = {**noted_left_out(path), origin: [one_line(text) for text in self.left_out]}
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, json.dumps({name: lines for name, lines in noted.items() if lines}, indent=1) + "\n")

    def is_too_much(self, owner: str, size: int, bounds: Bounds = HANDED_IN) -> bool:
        """Count one more file of one upload; say whether that is more than is taken."""
        files, together = self.used.get((owner, bounds), (0, 0))
        files, together = files + 1, together + size
        self.used[owner, bounds] = files, together
        if files == bounds.files + 1 or together > bounds.bytes >= together - size:
            self.left_out.append(f"{owner}: whatever comes after {files - 1} {bounds.reason}")
        return files > bounds.files or together > bounds.bytes


def noted_left_out(path: Path) -> dict[str, list[str]]:
    """Return what was left out, by where it came from; nothing where nothing was, or the note is damaged."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


# as Moodle names files: "Jane Doe_12345_assignsubmission_file_/notebook.ipynb"
MOODLE = re.compile(r"(?P<student>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)")
MOODLE_MARK = re.compile(r"_\d+_assignsubmission_")
# as Blackboard does, and nbgrader's own example: Lesson 2_jane_attempt_2026-11-02-10-00-00_notebook.ipynb
BLACKBOARD = re.compile(
    r"(?P<head>.+?)_attempt_(?P<day>\d{4}-\d\d-\d\d)-(?P<hour>\d\d)-(?P<minute>\d\d)-(?P<second>\d\d)"
)
# as Canvas does: doejane_LATE_1234_567890_notebook.ipynb; a person's own name may end in a number
CANVAS = re.compile(r"(?P<student>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?=.)")
CANVAS_MARK = re.compile(r"\d+_")
# what is left of a notebook's name without the lesson's, and names nobody
NO_NAME = re.compile(r"((copy|final|new|old|done|finished|solutions?|submissions?|notebook|v)[ _-]*\d*)?", re.I)
LMS_PATTERNS = {"moodle": MOODLE, "blackboard": BLACKBOARD, "canvas": CANVAS}
TWO_SYSTEMS = "two systems"
# what computers write of their own accord
JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", ".ipynb_checkpoints"})


def parse_lms_name(name: str, lesson: Lesson) -> Owner | None:
    """Read the name of a file or folder as learning management systems write them.

    Returns:
        None where it is not one of theirs, or one can have written it in two ways: then all of it is the name. Where
        two can have written it, it names nobody: what a student chose in one may be a name in the other.
    """
    marks = lms_marks(name)
    if len(marks) > 1:
        return Owner("", name, system=TWO_SYSTEMS)
    for system, match in marks.items():
        rest = name[match.end() :]
        if system == "moodle" and len(MOODLE_MARK.findall(name)) > 1:  # a person may be called like that, or a file
            return None
        if system == "canvas" and CANVAS_MARK.match(rest) and not rest.startswith(lesson.name):
            return None
        if system == "moodle":
            return Owner(match["student"], f"{match['student']}_{match['number']}", system=system)
        if system == "blackboard":
            head = match["head"].removeprefix(f"{lesson.name}_")
            student, longer = (head, "") if head != match["head"] else (head.rpartition("_")[2], head)
            when = "{day} {hour}:{minute}:{second}".format(**match.groupdict())
            return Owner(student, longer, handed_in=when, system=system)
        student = f"{match['student']}_{match['number']}"  # the number is the student's own
        return Owner(student, late=bool(match["late"]), system=system)
    return None


def lms_marks(name: str) -> dict[str, re.Match[str]]:
    """Return what learning management systems may have written into a name, by system."""
    begun = name[:LONGEST_NAME]
    return {system: match for system, pattern in LMS_PATTERNS.items() if (match := pattern.match(begun))}


def upload_of(path: str, lesson: Lesson, archive: str = "") -> Upload:
    """Return the upload that a path is part of: the outermost name on it that names anybody decides.

    Args:
        path: of a notebook or archive, relative to where uploads are.
        lesson: its name names nobody.
        archive: the archive of many uploads that they are in, which may be named after somebody itself.
    """
    folder, parts = archive.removesuffix(".zip"), PurePosixPath(path).parts
    for depth, part in enumerate(parts, 1):
        name = PurePosixPath(part).stem if depth == len(parts) else part
        if owner := parse_lms_name(part, lesson) or owner_named(name, lesson):
            return Upload("/".join([*filter(None, [folder]), *parts[:depth]]), owner, archive)
    return Upload(folder, owner_named(PurePosixPath(folder).name, lesson) or Owner(""), archive)


def owner_named(name: str, lesson: Lesson) -> Owner | None:
    """Return whom a name without an LMS's marks names; None where it names nobody."""
    rest = re.sub(rf"[ _-]*{re.escape(lesson.name)}[ _-]*", "", name)
    student = safe_student_id(re.sub(r"[ _-]*\(\d+\)$", "", rest))
    return None if NO_NAME.fullmatch(student) else Owner(student)


def safe_student_id(student: str) -> str:
    """Return a student id without characters that mean something in a path or a table, short enough for a folder."""
    safe = re.sub(r"[^\w.@+-]+", "_", student.strip()).strip("._-")
    return safe.encode()[:LONGEST_STUDENT].decode(errors="ignore")


def is_junk(path: str) -> bool:
    """Say whether a file is one that computers write of their own accord."""
    parts = PurePosixPath(path).parts
    return not JUNK.isdisjoint(parts) or bool(parts and parts[-1].startswith("._"))


def opened(stream: IO[bytes]) -> zipfile.ZipFile:
    """Open an archive, unless its list of files is far longer than any: opening makes an object of each at once.

    Raises:
        zipfile.BadZipFile: it is no archive.
        ValueError: its list of files is too long.
    """
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]  # what ZipFile itself reads first
    if end and end[zipfile._ECD_SIZE] > LONGEST_LIST:  # type: ignore[attr-defined]
        raise ValueError(f"its list of files is longer than {LONGEST_LIST // 1_000_000} MB")
    stream.seek(0)
    return zipfile.ZipFile(stream)


def is_of_an_lms(stream: IO[bytes]) -> bool:
    """Say whether all that an archive holds has names as a learning management system gives them."""
    try:
        with opened(stream) as archive:
            names = [info.filename for info in archive.infolist() if not is_junk(info.filename)]
    except Exception:  # whoever opens it next says why
        return False
    outermost = {PurePosixPath(name).parts[0] for name in names if PurePosixPath(name).parts}
    return bool(outermost) and all(map(lms_marks, outermost))


def read_zip(
    name: str, stream: IO[bytes], lesson: Lesson, report: CollectionReport, upload: Upload | None, depth: int = 0
) -> Iterator[DeliveredFile]:
    """Yield each file in an archive. Nothing is unpacked to disk.

    Args:
        name: the archive's, as messages show it.
        stream: what it holds.
        lesson: for reading names.
        report: what is left out.
        upload: the upload that it is part of; None where its first names are those of uploads.
        depth: how many archives it is in.
    """
    try:
        archive = opened(stream)
    except Exception as error:  # not an archive, of an unknown version, with a name in no known writing
        known = isinstance(error, zipfile.BadZipFile)
        report.left_out.append(f"{name}: not a zip archive" if known else f"{name}: cannot be opened ({error})")
        return
    with archive:
        for info in archive.infolist():
            if not info.is_dir() and not is_junk(info.filename):
                yield from zip_member(name, archive, info, lesson, report, upload, depth)
            elif upload:  # reading the list of them takes as long as that of files
                report.is_too_much(upload.whose, 0)


def zip_member(
    name: str,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    lesson: Lesson,
    report: CollectionReport,
    upload: Upload | None,
    depth: int,
) -> Iterator[DeliveredFile]:
    """Yield one file in an archive, or what is in it, with the archive's own name as its folder."""
    folder, path = name.removesuffix(".zip"), unicodedata.normalize("NFC", info.filename)
    inner = f"{folder}/{path}"
    upload = upload or upload_of(path, lesson, name)
    large = info.file_size > MOST_UNPACKED_BYTES
    if report.is_too_much(upload.whose, 0 if large else info.file_size):
        return
    if large:
        report.left_out.append(f"{inner}: larger than {MOST_UNPACKED_BYTES // 2**20} MB")
        return
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        report.left_out.append(f"{inner}: compressed in a way that learning management systems do not use")
        return
    try:
        content = archive.read(info)
    except Exception as error:  # encrypted, damaged, compressed in an unknown way
        report.left_out.append(f"{inner}: cannot be unpacked ({error})")
        return
    if path.lower().endswith(".zip") and depth < NESTED:
        yield from read_zip(inner, io.BytesIO(content), lesson, report, upload, depth + 1)
    else:
        yield DeliveredFile(inner, content, upload)
