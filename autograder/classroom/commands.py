"""The commands that instructors and authors have: each prints what came out and returns the exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import CourseError, command
from ..grading.cgroup import processors
from ..paths import Course, Lesson


def available_cores() -> int:
    """Return how many processors this process may use: not the computer's, where a container or a job has fewer."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(allowed, processors())))


CORES = available_cores()


def build_command(course: Course, options: argparse.Namespace) -> int:
    """Make all generated files."""
    from ..authoring.build import build
    from ..authoring.index import build_index

    for lesson in course.chosen(options.lesson):
        build(lesson)
        print(f"built {lesson.name}")
    build_index(course)
    return 0


def verify_command(course: Course, options: argparse.Namespace) -> int:
    """Prove that lessons, checks and grading fit together, and that rules of style are kept."""
    from ..authoring.style import style_problems
    from ..authoring.verify import verify

    chosen = course.chosen(options.lesson)
    problems = [line for lesson in chosen for line in (*verify(lesson, CORES), *style_problems(lesson))]
    print("\n".join(problems) if problems else "No problems found.")
    return 1 if problems else 0


def lesson_command(course: Course, options: argparse.Namespace) -> int:
    """Start a lesson from the template."""
    from ..authoring.template import start_lesson

    print(f"Write {start_lesson(course, options.lesson or '')}, then `{command(f'build --lesson {options.lesson}')}`.")
    return 0


def pretrain_command(course: Course, options: argparse.Namespace) -> int:
    """Train the model that a lesson ships, on the prose of the others."""
    from ..authoring.prose import SCRIPT, pretrain

    for lesson in course.chosen(options.lesson):
        if options.lesson or (lesson.folder / SCRIPT).is_file():
            pretrain(course, lesson)
            print(f"trained; now `{command(f'build --lesson {lesson.name}')}`")
    return 0


def bundle_command(course: Course, _options: argparse.Namespace) -> int:
    """Make the zip that students get."""
    from ..authoring.bundle import make_bundle

    print(make_bundle(course).relative_to(course.root))
    return 0


def site_command(course: Course, _options: argparse.Namespace) -> int:
    """Make the lessons' website."""
    from ..authoring.site import make_site

    print(make_site(course).relative_to(course.root))
    return 0


def collect_command(course: Course, options: argparse.Namespace) -> int:
    """Take an LMS archive, loose notebooks, or what is in nbgrader's exchange."""
    lesson = course.lesson(options.lesson or "")
    if options.origin == "exchange":
        from .exchange import collect_from_exchange

        report = collect_from_exchange(course, lesson)
    else:
        from .collect import collect

        report = collect(course, lesson, Path(options.origin))
    print("\n".join(report.lines(lesson)))
    return 0 if report.collected or report.as_before else 1


def lessons_to_grade(course: Course, options: argparse.Namespace) -> list[Lesson]:
    """Return the lesson that was named, or all that somebody has handed in."""
    return [lesson for lesson in course.chosen(options.lesson) if options.lesson or course.students(lesson)]


def register_command(course: Course, options: argparse.Namespace) -> int:
    """Enter lessons into the gradebook, so that Formgrader lists them."""
    from .run import register

    for lesson in course.chosen(options.lesson):
        print(f"entering {lesson.name} into the gradebook", flush=True)
        register(course, lesson)
    return 0


def grade_command(course: Course, options: argparse.Namespace) -> int:
    """Grade what is new or changed."""
    from ..grading.launch import launch_early

    if not options.executor:
        launch_early()
    from .run import StudentResult, closing_table
    from .shards import grader_of

    settings = {"seed": options.seed, "run_demonstrations": options.demonstrations or None}
    settings["allow_unsandboxed"] = options.allow_unsandboxed or None
    chosen = {name: value for name, value in settings.items() if value is not None}
    lessons, results = lessons_to_grade(course, options), list[StudentResult]()
    grade_lesson = partial(grader_of(options.shard), force=options.force, jobs=options.jobs, options=chosen)
    try:
        with executor_for(options) as executor:
            for lesson in lessons:
                results += grade_lesson(course, lesson, executor=executor)
    finally:  # what is graded is said, also where a later lesson cannot be
        if results or sys.exc_info()[0] is None:
            print("\n".join(closing_table(results)))
    return 1 if any(result.needs_person for result in results) else 0


@contextmanager
def executor_for(options: argparse.Namespace) -> Iterator[Executor | None]:
    """Give the executor that `--executor` names, and say which workers it does without; None for this process's own."""
    if not options.executor:
        yield None
        return
    if find_spec("distributed") is None:
        raise CourseError(
            f"--executor {options.executor} needs Dask: "
            f"`{sys.executable} -m pip install --constraint constraints.txt --editable '.[cluster]'`."
        )
    from .cluster import cluster_executor

    if options.executor.startswith("tcp://"):
        print(
            "tcp:// is open: whoever reaches that port can run programs as you. docs/scale.md has TLS.", file=sys.stderr
        )
    with cluster_executor(options.executor, options.wait) as executor:
        for address, reason in sorted(executor.left_out.items()):
            print(f"{address} gets no submissions: {reason}", file=sys.stderr)
        yield executor


def merge_command(course: Course, options: argparse.Namespace) -> int:
    """Take what the tasks of a job array have graded."""
    from .run import closing_table
    from .shards import merge

    lessons = lessons_to_grade(course, options)
    results = [result for lesson in lessons for result in merge(course, lesson, force=options.force)]
    print("\n".join(closing_table(results)))
    return 0 if results and not any(result.needs_person for result in results) else 1


def feedback_command(course: Course, options: argparse.Namespace) -> int:
    """Make feedback pages."""
    from .feedback import make_feedback

    results = [make_feedback(course, lesson) for lesson in course.chosen(options.lesson)]
    lines = [line for feedback in results for line in feedback.lines()]
    print("\n".join(lines) if lines else f"Nothing is graded yet: `{command('grade')}` first.")
    return 0 if lines and not any(feedback.failed for feedback in results) else 1


def grades_command(course: Course, options: argparse.Namespace) -> int:
    """Export the table of grades."""
    from .exports import export_grades

    lesson = course.lesson(options.lesson).name if options.lesson else None
    print("\n".join(export_grades(course, options.command, lesson, options.automatic)))
    return 0


def canvas_command(course: Course, options: argparse.Namespace) -> int:
    """Export the table of grades for Canvas."""
    return grades_command(course, options)


def moodle_command(course: Course, options: argparse.Namespace) -> int:
    """Export the table of grades for Moodle."""
    return grades_command(course, options)


def report_command(course: Course, options: argparse.Namespace) -> int:
    """Make one page about the class per lesson, and the same as CSV; also where nobody has done more than check."""
    from .board_store import BoardStore
    from .report import make_report

    handed_in, checked = lessons_to_grade(course, options), BoardStore.of(course).lessons()
    reported = [each for each in course.chosen(options.lesson) if each in handed_in or each.name in checked]
    paths = [path for lesson in reported for path in make_report(course, lesson)]
    print("\n".join(p.relative_to(course.root).as_posix() for p in paths) or "Nobody has handed anything in.")
    return 0 if paths else 1


def serve_command(course: Course, options: argparse.Namespace) -> int:
    """Grade what is handed in as it arrives, and release its feedback, until Ctrl-C."""
    import signal
    import time
    from threading import Event

    from tqdm import tqdm

    from .serve import serve

    stopped = Event()

    def stop(number: int, _frame: object) -> None:
        """Leave at once, and else after this turn: while nbgrader makes a page, it swallows whatever is raised."""
        stopped.set()
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    def say(line: str) -> None:
        tqdm.write(f"{time.strftime('%H:%M:%S')}  {line}")
        sys.stdout.flush()

    for number in (signal.SIGTERM, signal.SIGINT):  # what was begun is not the reason
        signal.signal(number, stop)
    allowed = {"allow_unsandboxed": True} if options.allow_unsandboxed else {}
    serve(course, options.jobs, allowed, say, stopped.is_set)
    return 0


def mistake_command(course: Course, options: argparse.Namespace) -> int:
    """Draft a known mistake from what a student handed in."""
    from ..authoring.draft import add_draft
    from .submissions import exercise_cell

    lesson = course.lesson(options.lesson or "")
    name = add_draft(course, lesson, options.exercise, exercise_cell(course, lesson, options.student, options.exercise))
    print(f"Drafted {name} in {lesson.shown(course.drafts(lesson))}, which nothing loads: it is a student's code.")
    mistakes_py = lesson.shown(lesson.mistakes_py)
    print(f"Read it, move it to {mistakes_py} and give it a name and a message. It runs from then on.")
    print(f"Then `{command(f'build --lesson {lesson.name}')}` and `{command(f'verify --lesson {lesson.name}')}`.")
    return 0


def explain_command(course: Course, options: argparse.Namespace) -> int:
    """Print what every explainer says of one answer, and which of them the student reads."""
    from ..grading.explain import explained, lines_about
    from ..grading.grade import RECORD
    from ..judging.inputs import PUBLIC_SEED
    from .run import grading_settings
    from .submissions import package_with, read_submission
    from .writer import read_notebook_record

    lesson = course.lesson(options.lesson or "")
    package, file = package_with(lesson, options.exercise), Path(options.student)
    notebook = file.read_bytes() if file.is_file() else read_submission(course, lesson, options.student)
    graded = {} if file.is_file() else read_notebook_record(course.graded_notebook(lesson, options.student), RECORD)
    chosen = {"allow_unsandboxed": True} if options.allow_unsandboxed else {}
    settings = grading_settings(course, chosen, 1, None)
    seed = options.seed or graded.get("seed") or PUBLIC_SEED
    verdict, explanations = explained(replace(settings.submission(notebook, package), seed=seed), options.exercise)
    print("\n".join(lines_about(verdict, explanations)))
    return 0


def demo_command(course: Course, options: argparse.Namespace) -> int:
    """Grade a class of twelve made-up submissions, in a folder of its own."""
    from .demo import default_lesson, run_demo

    lesson = course.lesson(options.lesson) if options.lesson else default_lesson(course)
    print("\n".join(run_demo(course, lesson, CORES)))
    return 0


def board_command(course: Course, _options: argparse.Namespace) -> int:
    """Show the class at a glance, as a service of a JupyterHub."""
    if find_spec("jupyterhub") is None:
        raise CourseError(f"{sys.prefix} has no JupyterHub: `pip install jupyterhub` there, in your hub's version.")
    from .board import serve_board

    serve_board(course)
    return 0


def forget_command(course: Course, options: argparse.Namespace) -> int:
    """Delete what the board knows about a student, and the notes about attempts."""
    from .attempts import forget_attempts
    from .board_store import BoardStore

    tries, lessons = BoardStore.of(course).forget(options.student), forget_attempts(course, options.student)
    if not tries and not lessons:
        print(f"Nothing is known about {options.student} on the board or of attempts.")
        return 1
    noted = f"tries on the board: {tries}; lessons with notes about attempts: {lessons}"
    print(f"Deleted what was kept about {options.student} ({noted}). Submissions and grades were not touched.")
    return 0


Option = tuple[str, dict[str, Any]]
FLAG: dict[str, Any] = {"action": "store_true"}
UNSANDBOXED: Option = ("--allow-unsandboxed", FLAG | {"help": "go on where nothing can be isolated"})
JOBS: Option = ("--jobs", {"type": int, "default": CORES, "help": "submissions at once"})
AUTOMATIC: Option = ("--automatic", FLAG | {"help": "export points also where a person has to grade"})
OPTIONS: dict[str, tuple[Option, ...]] = {  # those that a command has beside --lesson
    "collect": (
        ("--from", {"dest": "origin", "required": True, "help": "a zip, a notebook, a folder of them, or: exchange"}),
    ),
    "mistake": (
        ("--exercise", {"required": True, "help": "the exercise that the student got wrong"}),
        ("--from", {"dest": "student", "required": True, "help": "the student's id"}),
    ),
    "explain": (
        ("--exercise", {"required": True, "help": "the exercise that the answer is to"}),
        ("--from", {"dest": "student", "required": True, "help": "the student's id, or a notebook"}),
        ("--seed", {"type": int, "help": "the seed recorded in the graded notebook"}),
        UNSANDBOXED,
    ),
    "grade": (
        ("--force", FLAG | {"help": "grade again what is graded already"}),
        JOBS,
        ("--demonstrations", FLAG | {"help": "run the lesson's own cells too"}),
        UNSANDBOXED,
        ("--seed", {"type": int, "help": "repeat a run: the seed recorded in its graded notebooks"}),
        ("--executor", {"help": "a Dask scheduler's address, such as tls://host:8786"}),
        ("--wait", {"type": float, "default": 60.0, "help": "seconds to wait for a worker of that cluster"}),
        ("--shard", {"help": "grade one part of a class, such as 2/8; merge joins the parts"}),
    ),
    **dict.fromkeys(("grades", "canvas", "moodle"), (AUTOMATIC,)),
    "forget": (("--student", {"required": True, "help": "the student's name on the hub"}),),
    "serve": (JOBS, UNSANDBOXED),
    "merge": (("--force", FLAG | {"help": "take results also where others were graded here"}),),
}


def add_options(name: str, parser: argparse.ArgumentParser) -> None:
    """Add the options that a command has beside --lesson."""
    for option, settings in OPTIONS.get(name, ()):
        parser.add_argument(option, **settings)


# a command `x` is the function `x_command`
COMMANDS = {name.removesuffix("_command"): run for name, run in list(globals().items()) if name.endswith("_command")}
