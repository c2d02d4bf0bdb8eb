"""One page about a class and a lesson: points, exercises, known mistakes, what needs a person. Offline, and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from .course import check_readable, graded_metadata, waiting
from .engine import VERDICTS, current_kit
from .errors import SubmissionError
from .exports import harmless
from .grade import RECORD
from .lessons import Course, Lesson
from .nbgrader_api import gradebook_of
from .report_plots import points_plot, solved_plot


@dataclass(frozen=True)
class Student:
    """One row of the class.

    Args:
        name: the student's id.
        points: earned, None where nothing was graded.
        of: how many there are.
        verdicts: per exercise what the judge wrote down.
        waits: why a person is needed, '' where nobody is.
        page: the feedback page as seen from the report, '' where there is none.
        seconds: how long the submission ran.
    """

    name: str
    points: float | None
    of: float
    verdicts: dict[str, dict[str, Any]]
    waits: str
    page: str
    seconds: float


@dataclass
class Exercise:
    """How a class did in one exercise."""

    name: str
    points: int
    solved: int = 0
    started: int = 0
    mistakes: dict[str, list[Student]] = field(default_factory=dict)

    @property
    def by_number(self) -> list[tuple[str, list[Student]]]:
        """Known mistakes, the most frequent first."""
        return sorted(self.mistakes.items(), key=lambda item: (-len(item[1]), item[0]))


def make_report(course: Course, lesson: Lesson) -> list[Path]:
    """Write coursework/reports/<lesson>.html and .csv; return their paths."""
    students = class_of(course, lesson)
    page, table = (course.reports / f"{lesson.name}{suffix}" for suffix in (".html", ".csv"))
    course.reports.mkdir(parents=True, exist_ok=True)
    page.write_text(html_of(lesson, students), encoding="utf-8")
    write_csv(table, lesson, students)
    return [page, table]


def class_of(course: Course, lesson: Lesson) -> list[Student]:
    """Read everybody who handed something in."""
    names = set(course.students(lesson))
    with gradebook_of(course) as gradebook:
        found = {s.student.id: s for a in gradebook.assignments if a.name == lesson.name for s in a.submissions}
        return [student_of(course, lesson, name, found.get(name)) for name in sorted(names | found.keys())]


def student_of(course: Course, lesson: Lesson, name: str, submission: Any) -> Student:
    """Join what the gradebook and the graded notebook say about a student."""
    metadata = graded_metadata(course, lesson.name, name)
    reason = reason_against(course.submitted / name / lesson.name / lesson.notebook, lesson)
    most = float(sum(current_kit(lesson).points().values()))
    if submission is None or not metadata or reason:
        return Student(name, None, most, {}, reason or "not graded yet: `make grade`", "", 0.0)
    waits = waiting(metadata, submission)
    page = course.feedback / name / lesson.name / f"{lesson.name}.html"
    link = f"../feedback/{name}/{lesson.name}/{lesson.name}.html" if page.exists() else ""
    seconds = float(metadata.get(RECORD, {}).get("seconds", 0.0))
    return Student(
        name, submission.score, submission.max_score, metadata.get(VERDICTS, {}), "; ".join(waits), link, seconds
    )


def reason_against(path: Path, lesson: Lesson) -> str:
    """Say why a submission cannot be graded, or ''."""
    try:
        check_readable(path, lesson)
    except SubmissionError as error:
        return str(error)
    return ""


def exercises_of(lesson: Lesson, students: Sequence[Student]) -> list[Exercise]:
    """Count per exercise who solved it and which known mistakes were made by whom."""
    found = {name: Exercise(name, points) for name, points in current_kit(lesson).points().items()}
    for student in students:
        for name, verdict in student.verdicts.items():
            if name not in found:
                continue
            found[name].solved += bool(verdict["passed"])
            found[name].started += bool(verdict["started"])
            if verdict["mistake"]:
                found[name].mistakes.setdefault(verdict["mistake"], []).append(student)
    return list(found.values())


def html_of(lesson: Lesson, students: Sequence[Student]) -> str:
    """Return the page."""
    pages = Environment(loader=PackageLoader("autograder", "pages"), autoescape=select_autoescape(["html"]))
    graded = [s for s in students if s.points is not None]
    most = max((s.of for s in graded), default=1.0)
    exercises, kit = exercises_of(lesson, students), current_kit(lesson)
    page: str = pages.get_template("report.html").render(
        lesson=lesson.name,
        students=students,
        graded=graded,
        waiting=[s for s in students if s.waits],
        exercises=exercises,
        messages={e.name: {n: with_code(text) for n, text in kit.messages(e.name).items()} for e in exercises},
        seconds=sum(s.seconds for s in graded),
        points=points_plot([s.points for s in graded], most),
        solved=solved_plot({e.name: e.solved for e in exercises}, len(graded)),
    )
    return page


def with_code(text: str) -> Markup:
    """Return a message as HTML, what stands between backticks as code."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def write_csv(path: Path, lesson: Lesson, students: Sequence[Student]) -> None:
    """Write one row per student: points, points and mistake per exercise, what needs a person."""
    names = list(current_kit(lesson).points())
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["student", "points", "of", *(f"{n} {w}" for n in names for w in ("points", "mistake")), "note"]
        )
        for s in students:
            known = [s.verdicts.get(n, {}).get(w) for n in names for w in ("points", "mistake")]
            cells = [s.name, s.points, s.of, *known, s.waits]
            writer.writerow(["" if cell is None else harmless(cell) for cell in cells])
