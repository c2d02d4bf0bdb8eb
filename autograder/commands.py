"""What each command does: imports what it needs, prints what came out, returns the exit status."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from .errors import CourseError
from .lessons import Course

CORES = os.cpu_count() or 1
Command = Callable[[Course, argparse.Namespace], int]


def build(course: Course, options: argparse.Namespace) -> int:
    """Make all generated files."""
    from .build import build as build_lesson
    from .index import build_index

    if not course.index_source.is_file():
        raise CourseError("This copy is for students: it has no solutions/ to build from.")
    for lesson in course.chosen(options.lesson):
        build_lesson(course, lesson)
        print(f"built {lesson.name}")
    build_index(course)
    return 0


def verify(course: Course, options: argparse.Namespace) -> int:
    """Prove that lessons, checks and grading fit together."""
    from .verify import verify as verify_lesson

    problems = [line for lesson in course.chosen(options.lesson) for line in verify_lesson(course, lesson, CORES)]
    print("\n".join(problems) if problems else "every lesson is proved")
    return 1 if problems else 0


def collect(course: Course, options: argparse.Namespace) -> int:
    """Take an LMS archive or loose notebooks."""
    from .collect import collect as collect_lesson

    lesson = course.lesson(options.lesson or "")
    report = collect_lesson(course, lesson, Path(options.origin))
    print("\n".join(report.lines(lesson)))
    return 0 if report.collected else 1


def register(course: Course, options: argparse.Namespace) -> int:
    """Enter lessons into the gradebook, so that Formgrader lists them."""
    from .course import ensure_registered

    for lesson in course.chosen(options.lesson):
        ensure_registered(course, lesson)
    return 0


def grade(course: Course, options: argparse.Namespace) -> int:
    """Grade what is new or changed."""
    from .course import grade as grade_lesson
    from .course import table

    settings = {"seed": options.seed, "run_demonstrations": options.demonstrations or None}
    settings = {name: value for name, value in settings.items() if value is not None}
    if options.allow_unsandboxed:
        settings["allow_unsandboxed"] = True
    rows = [
        row
        for lesson in course.chosen(options.lesson)
        for row in grade_lesson(course, lesson, force=options.force, jobs=options.jobs, options=settings)
    ]
    print("\n".join(table(rows)))
    return 1 if any(row.needs_person for row in rows) else 0


def feedback(course: Course, options: argparse.Namespace) -> int:
    """Make feedback pages."""
    from .course import feedback as make_feedback

    pages = [page for lesson in course.chosen(options.lesson) for page in make_feedback(course, lesson)]
    print("\n".join(pages) if pages else "Nothing is graded yet: `make grade` first.")
    return 0 if pages else 1


def grades(course: Course, _options: argparse.Namespace) -> int:
    """Export the table of grades."""
    from .course import export_grades

    print(export_grades(course).relative_to(course.root))
    return 0


def canvas(course: Course, _options: argparse.Namespace) -> int:
    """Export the table of grades for Canvas."""
    return exported(course, "CanvasExport", "canvas.csv")


def moodle(course: Course, _options: argparse.Namespace) -> int:
    """Export the table of grades for Moodle."""
    return exported(course, "MoodleExport", "moodle.csv")


def exported(course: Course, plugin: str, name: str) -> int:
    """Write a table with one of our export plugins."""
    from . import exports
    from .course import export_grades

    print(export_grades(course, getattr(exports, plugin), name).relative_to(course.root))
    return 0


def report(course: Course, options: argparse.Namespace) -> int:
    """Make one page about the class per lesson, and the same as CSV."""
    from .report import make_report

    chosen = [lesson for lesson in course.chosen(options.lesson) if options.lesson or course.students(lesson)]
    paths = [path for lesson in chosen for path in make_report(course, lesson)]
    print("\n".join(p.relative_to(course.root).as_posix() for p in paths) or "Nobody has handed anything in.")
    return 0 if paths else 1


def bundle(course: Course, _options: argparse.Namespace) -> int:
    """Make the zip that students get."""
    from .bundle import make_bundle

    print(make_bundle(course).relative_to(course.root))
    return 0


def check(course: Course, options: argparse.Namespace) -> int:
    """Run a lesson's checks as a student has them."""
    from .workbook import check_lesson

    lines, passed = check_lesson(course.lesson(options.lesson or ""))
    print("\n".join(lines))
    return 0 if passed else 1


def submit(course: Course, options: argparse.Namespace) -> int:
    """Make the file that a student uploads."""
    from .workbook import hand_in

    print("\n".join(hand_in(course, course.lesson(options.lesson or ""))))
    return 0


def reset(course: Course, options: argparse.Namespace) -> int:
    """Start a lesson anew and keep the old notebook."""
    from .workbook import reset as reset_lesson

    print("\n".join(reset_lesson(course, course.lesson(options.lesson or ""))))
    return 0


def lesson(course: Course, options: argparse.Namespace) -> int:
    """Start a lesson from the template."""
    from .template import start_lesson

    print(f"Write {start_lesson(course, options.lesson or '')}, then `make build LESSON={options.lesson}`.")
    return 0


INSTRUCTORS = (build, verify, collect, register, grade, feedback, grades, canvas, moodle, report, bundle, lesson)
STUDENTS = (check, submit, reset)
COMMANDS: dict[str, Command] = {f.__name__: f for f in (*INSTRUCTORS, *STUDENTS)}
