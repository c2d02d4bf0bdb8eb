"""LMS archives and loose notebooks to `coursework/submitted/<student>/<lesson>/`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import CourseError, SubmissionError, command
from ..grading.cells import BUDGET, NOTEBOOK_TOO_LARGE, TOO_MANY_VALUES, cells_in
from ..grading.untrusted import TooManyValuesError
from ..judging.cell_metadata import CHECK_PREFIX, grade_id_of
from ..paths import Course, Lesson
from .archives import (
    LONGEST_NAME,
    PARSED,
    PARSED_OF_ALL,
    TWO_SYSTEMS,
    CollectionReport,
    DeliveredFile,
    Owner,
    Upload,
    is_junk,
    is_of_an_lms,
    lms_marks,
    read_zip,
    safe_student_id,
    upload_of,
)
from .plain_files import open_folder, open_plain, read_plain
from .submissions import LATE, OWNER, TIMESTAMP, owners_of, store_submission

DELIVERED = (".zip", ".ipynb")


@dataclass(frozen=True)
class Candidate:
    """A notebook that somebody has handed in.

    Args:
        name: where it was, archives counted as folders.
        content: a file that holds it until all are sorted: a class does not fit into memory.
        upload: what it was handed in with.
        path: the file that was found on disk.
    """

    name: str
    content: Path
    upload: Upload
    path: Path

    @property
    def owner(self) -> Owner:
        """Whose it is."""
        return self.upload.owner


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
        raise CourseError(f"{origin} does not exist: put the LMS zip or the notebooks there, or add --from …")
    report, base = CollectionReport(), origin.parent if origin.is_file() else origin
    files = [origin] if origin.is_file() else files_below(origin)
    if not files:
        raise CourseError(f"{origin} is empty: put the LMS zip or the notebooks there.")
    packed = {origin} if origin.is_file() else packed_by_an_lms(lesson, origin, files, report)
    with tempfile.TemporaryDirectory() as aside:
        candidates = []
        for path in files:
            for file in expand(lesson, path, base, path in packed, report):
                candidates += candidates_in(lesson, file, path, report, Path(aside))
        store_latest(course, lesson, candidates, report)
    for path in sorted({candidate.path for candidate in candidates}):
        keep_original(course, lesson, path, base)
    report.keep(course, lesson, str(origin.resolve()))
    return report


def files_below(folder: Path) -> list[Path]:
    """Return all that is in a folder but folders; links are not followed."""
    paths = (Path(parent, name) for parent, folders, names in os.walk(folder) for name in [*folders, *names])
    return sorted(
        path
        for path in paths
        if (path.is_symlink() or not path.is_dir()) and not is_junk(path.relative_to(folder).as_posix())
    )


def packed_by_an_lms(lesson: Lesson, origin: Path, files: list[Path], report: CollectionReport) -> set[Path]:
    """Return the archives in a folder that an LMS has made of many students' uploads, not a student of files.

    Their names do not tell, and a student can imitate what is in them. So nothing else may be beside them.
    """
    zips = [path for path in files if path.parent == origin and path.suffix.lower() == ".zip"]
    loose = {path for path in zips if not lms_marks(path.name) and holds_an_lms(path)}
    others = [path for path in files if path not in loose and path.suffix.lower() in DELIVERED]
    if not others:
        return loose
    for path in sorted(loose):
        remedy = command(f"collect --lesson {lesson.name} --from {shlex.quote(str(path))}")
        report.left_out.append(f"{path.name}: an LMS's zip, beside other work. If it is, collect it alone: `{remedy}`")
        files.remove(path)
    return set()


def holds_an_lms(path: Path) -> bool:
    """Say whether an archive on disk is like one that an LMS has made."""
    try:
        with open_folder(path.parent) as folder, open_plain(folder, path.name) as stream:
            return is_of_an_lms(stream)
    except SubmissionError:
        return False


def expand(lesson: Lesson, path: Path, base: Path, packed: bool, report: CollectionReport) -> Iterator[DeliveredFile]:
    """Yield a file on disk, or each file in an archive, with the upload that it is part of; report what is neither.

    Args:
        lesson: for reading names.
        path: the file.
        base: the folder that uploads are in.
        packed: whether it is an archive of many students' uploads.
        report: what is left out.
    """
    outer = unicodedata.normalize("NFC", path.relative_to(base).as_posix())
    if path.suffix.lower() not in DELIVERED:
        report.left_out.append(f"{outer}: not a notebook")
        return
    upload = upload_of(outer, lesson)
    many = packed and not upload.owner.system
    try:
        with open_folder(base, path.relative_to(base).parts[:-1]) as folder:
            if path.suffix.lower() == ".zip":
                with open_plain(folder, path.name) as stream:
                    yield from read_zip(outer, stream, lesson, report, None if many else upload)
            else:
                yield DeliveredFile(outer, read_plain(folder, path.name, BUDGET.bytes), upload)
    except SubmissionError as error:
        report.left_out.append(f"{outer}: {error}")


def candidates_in(
    lesson: Lesson, file: DeliveredFile, path: Path, report: CollectionReport, aside: Path
) -> list[Candidate]:
    """Return the submission that a file is, put aside, or report why it is none."""
    if file.upload.owner.system == TWO_SYSTEMS:
        line = f"{file.upload.name}: its name has the marks of two systems, so a person has to say whose it is"
        report.left_out += [line] if report.left_out[-1:] != [line] else []
        return []
    problem = problem_unread(file.name, file.content)
    if not problem and (
        report.is_too_much(file.upload.whose, len(file.content), PARSED)
        or report.is_too_much(path.name, len(file.content), PARSED_OF_ALL)
    ):
        return []
    problem = problem or problem_with(lesson, file.name, file.content)
    if problem or not safe_student_id(file.upload.owner.student):
        report.left_out.append(f"{file.name}: {problem or 'no student name in its path'}")
        return []
    return [Candidate(file.name, put_aside(file, aside), file.upload, path)]


def store_latest(course: Course, lesson: Lesson, candidates: Sequence[Candidate], report: CollectionReport) -> None:
    """Store each student's latest notebook, and report what is left out."""
    known = owners_of(course, lesson)
    by_student = dict[str, list[Candidate]]()
    students = students_of({c.owner for c in candidates if c.owner.system}, known)
    for candidate in candidates:
        plain = safe_student_id(candidate.owner.student)
        by_student.setdefault(students.get(candidate.owner.key, plain), []).append(candidate)
    for student, own in by_student.items():
        owners = {*(candidate.owner.key for candidate in own), known.get(student, "")} - {""}
        taken = bool(owners) and known.get(student) == ""  # by somebody whom no system has named
        if len({candidate.upload.origin for candidate in own}) > 1 or len(owners) > 1 or taken:
            names = " and ".join(sorted(candidate.name for candidate in own))
            report.left_out.append(f"{names}: all of them claim to be {student}'s; a person has to decide")
            continue
        *others, latest = ordered_candidates(own, lesson)
        for other in others:
            same = other.upload == latest.upload
            reason = f"{latest.name} counts, in the same upload" if same else f"replaced by {latest.name}, a later file"
            report.left_out.append(f"{other.name}: {reason} of {student}")
        store(course, lesson, student, latest)
        report.collected[student] = latest.name
        report.late |= {student} if latest.owner.late else set()
        if student != (plain := safe_student_id(latest.owner.student)):
            report.remarks.append(
                f"{student}: others are called {plain}, too, and Moodle's numbers change with the lesson"
            )


def ordered_candidates(candidates: Sequence[Candidate], lesson: Lesson) -> list[Candidate]:
    """Return one student's notebooks, the one that counts last: of the last upload, under its own name, further out."""
    order = {upload: number for number, upload in enumerate(dict.fromkeys(c.upload for c in candidates))}
    return sorted(
        candidates,
        key=lambda c: (order[c.upload], PurePosixPath(c.name).name == lesson.notebook_name, -c.name.count("/")),
    )


def put_aside(file: DeliveredFile, folder: Path) -> Path:
    """Write a file's content into a folder under a name of its own."""
    descriptor, path = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(file.content)
    return Path(path)


def students_of(owners: Collection[Owner], known: Mapping[str, str]) -> Mapping[str, str]:
    """Return who is meant by what a system calls the owners of uploads. Nobody takes an id that another one has.

    Args:
        owners: whose names a system gave.
        known: by student, what a system calls whose submission is there; '' where a person has named it.
    """
    ids = {key: student for student, key in known.items() if key}
    groups: dict[str, dict[str, str]] = {}
    for owner in owners:
        if owner.key not in ids:
            groups.setdefault(safe_student_id(owner.student), {})[owner.key] = owner.longer
    for student, names in groups.items():
        others = {known[student].partition(":")[2]} if student in known else set()
        longer = longer_ids(student, sorted({*names.values()} - {""}), sorted({*names.values()} | others))
        ids |= {key: longer.get(name, student) for key, name in names.items()}
    return ids


def longer_ids(student: str, names: Sequence[str], alike: Sequence[str]) -> Mapping[str, str]:
    """Return ids for people whose names were read as one, by a longer part of it; nothing where there is only one.

    Moodle adds a number, which is kept then. Blackboard puts the assignment before the name, and both may hold `_`:
    what all of them begin with is the assignment.

    Args:
        student: what their names were read as.
        names: the whole of them.
        alike: the same, with those of people who have an id.
    """
    if len(alike) < 2:
        return {}
    shared = os.path.commonprefix(list(filter(None, alike)))  # noqa: RUF071 - by characters, which is what is wanted
    cut = 0 if safe_student_id(shared).startswith(student) else shared.rfind("_") + 1
    return {name: safe_student_id(name[cut:]) for name in names}


def store(course: Course, lesson: Lesson, student: str, candidate: Candidate) -> None:
    """Put a notebook where submissions are, with what is known of when it was handed in."""
    files = {lesson.notebook_name: candidate.content.read_bytes(), OWNER: candidate.owner.key.encode(errors="replace")}
    if candidate.owner.handed_in:
        files[TIMESTAMP] = f"{candidate.owner.handed_in}\n".encode()
    elif candidate.owner.late:
        files[LATE] = b"late, by an unknown time\n"
    store_submission(course, lesson, student, files)


def keep_original(course: Course, lesson: Lesson, path: Path, base: Path) -> None:
    """Copy what came from the LMS to nbgrader's folder for it, so that nothing depends on `origin` later."""
    kept = course.downloaded / lesson.name / "archive" / path.relative_to(base)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.resolve() != path.resolve():
        shutil.copy2(path, kept, follow_symlinks=False)


def problem_unread(name: str, content: bytes) -> str:
    """Say why a file is not read, or ''."""
    if not name.endswith(".ipynb"):
        return "not a notebook"
    if len(name) > LONGEST_NAME:
        return "its name is too long"
    if len(content) > BUDGET.bytes:  # reading it takes twenty times its size in memory
        return NOTEBOOK_TOO_LARGE
    return ""


def problem_with(lesson: Lesson, name: str, content: bytes) -> str:
    """Say why a notebook is no submission of this lesson, or ''."""
    try:
        cells = cells_in(content)
    except TooManyValuesError:
        return TOO_MANY_VALUES
    except ValueError:
        return "cannot be read as a notebook (not valid JSON with cells); ask for it again"
    if lesson.name not in name and not {grade_id_of(cell) for cell in cells} & known_ids(lesson):
        return f"not {lesson.name}: neither its name nor a cell says so"
    return ""


def known_ids(lesson: Lesson) -> set[str]:
    """Return the grade ids of a lesson's check cells."""
    released: Any = json.loads((lesson.released_dir / lesson.notebook_name).read_text(encoding="utf-8"))
    return {name for cell in released["cells"] if (name := grade_id_of(cell)).startswith(CHECK_PREFIX)}
