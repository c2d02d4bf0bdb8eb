"""A class: grade what is new, make feedback, export the table. nbgrader does the work and owns the gradebook."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.plugins.export import CsvExportPlugin
from tqdm import tqdm
from traitlets.config import Config

from .build import register
from .engine import FLAGS, current_kit, lesson_digest
from .errors import CourseError, NoSandboxError, SubmissionError, one_line
from .grade import RECORD, GradeSubmission
from .lessons import Course, Lesson, digest
from .nbgrader_api import api_of, gradebook_of, load_config, require
from .notebooks import read_notebook
from .repair import ids_in, match
from .sandbox import missing
from .turns import in_turns, taking_turns


@dataclass(frozen=True)
class Row:
    """One line of the closing table."""

    student: str
    lesson: str
    status: str
    score: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def needs_person(self) -> bool:
        """Whether this submission could not be graded."""
        return self.status == "needs a person"


def grade(
    course: Course,
    lesson: Lesson,
    *,
    force: bool = False,
    jobs: int = 1,
    options: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
) -> list[Row]:
    """Grade a lesson's submissions that are new or changed; one student's trouble never stops another's grade.

    Args:
        course: where the submissions are.
        lesson: which lesson.
        force: grade again what is graded already.
        jobs: how many submissions run at once.
        options: settings of GradeSubmission for this run, such as the seed of an earlier one.
        executor: runs the submissions, in place of `jobs` threads with a sandbox each.
    """
    settings = {**setting(course), **(options or {})}
    if missing() and not settings.get("allow_unsandboxed"):
        raise NoSandboxError(missing())
    settings["seed"] = secrets.randbits(31) if settings.get("seed") is None else settings["seed"]
    students = course.students(lesson)
    new = {student for student in students if force or not is_current(course, lesson, student)}
    works = [partial(grade_one, course, lesson, student, settings, student in new) for student in students]
    warm = GradeSubmission(config=Config(GradeSubmission=settings)).limits() if new and not missing() else None
    with taking_turns(course.root, jobs, executor, warm) as turns, closing_bar(lesson, len(works)) as bar:
        ensure_registered(course, lesson)
        rows = []
        for row in in_turns(turns, jobs, works):
            rows.append(row)
            bar.update()
    return sorted(rows, key=lambda row: row.student)


def setting(course: Course) -> dict[str, Any]:
    """Return what nbgrader_config.py sets for grading."""
    return dict(load_config(course.root).get("GradeSubmission", {}))


def closing_bar(lesson: Lesson, total: int) -> Any:
    """Return a progress bar with a rate; none where nobody watches."""
    return tqdm(total=total, desc=lesson.name, unit="submission", disable=None)


def grade_one(course: Course, lesson: Lesson, student: str, options: dict[str, Any], new: bool) -> Row:
    """Grade one submission where it is new, and say how that went."""
    path = course.submitted / student / lesson.name / lesson.notebook
    try:
        check_readable(path, lesson)
        status = "as before"
        if new:
            api = api_of(course)
            api.config.GradeSubmission.update(options)
            require(api.autograde(lesson.name, student, force=True), "not graded")
            status = "graded"
    except CourseError as error:
        return Row(student, lesson.name, "needs a person", note=str(error))
    except Exception as error:  # whatever one submission breaks, the others are graded
        return Row(student, lesson.name, "needs a person", note=f"{type(error).__name__}: {one_line(str(error))}")
    return with_score(course, Row(student, lesson.name, status))


def check_readable(path: Path, lesson: Lesson) -> None:
    """Raise SubmissionError for a file that nbgrader would stumble over."""
    if not path.is_file():
        others = ", ".join(sorted(p.name for p in path.parent.iterdir())) or "nothing"
        raise SubmissionError(f"no {lesson.notebook}; the folder holds {others}")
    try:
        notebook = nbformat.read(path, as_version=4)
        known = ids_in(notebook)
        if not known:
            match(notebook, read_notebook(lesson.released / lesson.notebook))
            known = ids_in(notebook)
    except Exception as error:
        raise SubmissionError(f"{lesson.notebook} cannot be read as a notebook: ask for it again") from error
    if not known & set(current_kit(lesson).exercises):
        raise SubmissionError(f"{lesson.notebook} has none of the lesson's exercise cells (cell metadata is gone)")


def is_current(course: Course, lesson: Lesson, student: str) -> bool:
    """Say whether a submission was graded completely, as it is now, with the lesson as it is now."""
    record = graded_metadata(course, lesson.name, student).get(RECORD)
    path = course.submitted / student / lesson.name / lesson.notebook
    if not isinstance(record, dict) or not path.is_file():
        return False
    return bool(record.get("submission") == digest(path) and record.get("lesson") == lesson_digest(lesson))


def ensure_registered(course: Course, lesson: Lesson) -> None:
    """Enter the lesson into the gradebook where it is missing there or has other points."""
    wanted = {f"check_{name}": points for name, points in current_kit(lesson).points().items()}
    with gradebook_of(course) as gradebook:
        known = {a.name for a in gradebook.assignments}
        cells = gradebook.find_notebook(lesson.name, lesson.name).grade_cells if lesson.name in known else []
        points = {cell.name: cell.max_score for cell in cells if cell.name in wanted}
    if points != wanted or not lesson.source.exists():
        register(course, lesson)


def with_score(course: Course, row: Row) -> Row:
    """Read a row's score from the gradebook."""
    with gradebook_of(course) as gradebook:
        submission = gradebook.find_submission(row.lesson, row.student)
        notes = waiting(graded_metadata(course, row.lesson, row.student), submission)
        return Row(row.student, row.lesson, row.status, submission.score, submission.max_score, "; ".join(notes))


def graded_metadata(course: Course, lesson: str, student: str) -> dict[str, Any]:
    """Return what grading wrote into a student's graded notebook; nothing where there is none."""
    path = course.autograded / student / lesson / f"{lesson}.ipynb"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["metadata"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def waiting(metadata: Mapping[str, Any], submission: Any) -> list[str]:
    """Return what a person should look at: what grading found, and questions without a grade."""
    questions = ["questions wait for a person's grade"] * bool(submission.needs_manual_grade)
    return [*map(str, metadata.get(FLAGS, [])), *questions]


def table(rows: list[Row]) -> list[str]:
    """Return the closing table as text."""
    if not rows:
        return ["No submissions. `make collect LESSON=… FROM=…` brings them in."]
    width = max(len(row.student) for row in rows)
    lines = []
    for row in rows:
        score = "" if row.score is None else f"{row.score:g}/{row.most:g}"
        lines.append(f"{row.student:<{width}}  {row.lesson}  {row.status:<14}  {score:>7}  {row.note}".rstrip())
    waiting = sum(row.needs_person for row in rows)
    return [*lines, f"{len(rows) - waiting} graded, {waiting} need a person."]


def feedback(course: Course, lesson: Lesson) -> list[str]:
    """Make the HTML feedback of every graded submission; return the pages' paths."""
    students = sorted(folder.parent.name for folder in course.autograded.glob(f"*/{lesson.name}"))
    for student in students:
        require(api_of(course).generate_feedback(lesson.name, student, force=True), f"no feedback for {student}")
    pages = [course.feedback / s / lesson.name / f"{lesson.name}.html" for s in students]
    return [lesson.shown(page) for page in pages if page.exists()]


def export_grades(course: Course, plugin: type[Any] = CsvExportPlugin, name: str = "grades.csv") -> Path:
    """Write a table of grades into `coursework/` with one of nbgrader's exporters or ours; return its path."""
    with gradebook_of(course) as gradebook:
        exporter = plugin()
        exporter.to = str(course.coursework / name)
        exporter.export(gradebook)
    return Path(exporter.to)
