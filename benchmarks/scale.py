"""`make bench-scale`: what a large class costs. Measured where that is possible, simulated from it where it is not.

Processor times, wherever nothing else is said: a machine that does something else too gives nearly the same numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from matplotlib.figure import Figure

from autograder.authoring.lesson import read_lesson
from autograder.authoring.nbgrader_course import load_config
from autograder.authoring.sample_submissions import solutions, submission
from autograder.classroom.database import VARIABLE
from autograder.classroom.exports import CanvasExport, GradesExport, MoodleExport, export_grades
from autograder.classroom.gradebook import COMMENT, GRADE, GRADED_ANSWER, NOTEBOOK, SUBMISSION, open_gradebook
from autograder.classroom.report import make_report
from autograder.classroom.run import grade_lesson
from autograder.classroom.writer import STUDENT, GradebookWriter, write_notebook
from autograder.paths import Course, Lesson, find_course
from tests.postgres import Server, binaries, serving

from .__main__ import machine
from .classes import Classes
from .filling import fill
from .simulation import CORES, Measured, one_writer, several_writers, shards

REPORT, FIGURE = Path(__file__).with_name("README.md"), Path(__file__).with_name("scale.svg")
MARK = "<!-- measured: everything below is written by `make bench-scale` -->"
END = "<!-- end of what `make bench-scale` writes -->"
LESSON = "02_queries_keys_values"
SIZES = (0, 10_000, 100_000)
MACHINES = (1, 2, 5, 10, 20, 50, 100)
SMALL, CLASS, WRITES, ON_DISK = 12, 60, 120, 1000
GOAL_MINUTES, GOAL_MACHINES, GOAL_SUBMISSIONS = 40, 10, 100_000
EXPORTS = {"grades": GradesExport, "canvas": CanvasExport, "moodle": MoodleExport}
ROWS = (STUDENT, SUBMISSION, NOTEBOOK, GRADE, COMMENT, GRADED_ANSWER)
FOREVER = "def {}(*_given, **_named):\n    while True:\n        pass\n"


def processes(workers: int) -> AbstractContextManager[Executor]:
    """Return processes of this machine, to which everything is pickled."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    """Yield what `make grade EXECUTOR=tcp://…` takes: a scheduler and workers, each a process of its own."""
    from autograder.classroom.cluster import cluster_executor
    from tests.dask_cluster import PATIENCE, Cluster, wait_until

    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        cluster.connect()
        try:
            cluster.have_workers(workers)
            with cluster_executor(cluster.address, workers, PATIENCE) as executor:
                wait_until(lambda: executor.at_once == 2 * workers)
                yield executor
        finally:
            cluster.close()


# what may grade submissions: another executor of `concurrent.futures` is one more line here
EXECUTORS: dict[str, Callable[[int], AbstractContextManager[Executor]]] = {"threads": ThreadPoolExecutor}
EXECUTORS["processes"] = processes
if find_spec("distributed"):
    EXECUTORS["Dask"] = dask


@dataclass(frozen=True)
class Grading:
    """What one submission costs with an executor, in seconds: of the clock, of all processes, of this one alone."""

    clock: float
    all: float
    own: float


@dataclass(frozen=True)
class Cost:
    """What one thing costs, in seconds: of the clock, of this process, of the database server's processes."""

    clock: float
    own: float
    server: float


@dataclass
class Results:
    """All that is measured."""

    grading: dict[tuple[str, int], Grading] = field(default_factory=dict)
    writing: dict[tuple[str, int], Cost] = field(default_factory=dict)
    exports: dict[tuple[str, str], Cost] = field(default_factory=dict)
    report: Cost = field(default_factory=lambda: Cost(0, 0, 0))
    nothing_new: Cost = field(default_factory=lambda: Cost(0, 0, 0))
    loop: float = 0.0
    merge: float = 0.0


def family_seconds() -> float:
    """Return the processor seconds of this process and all below it, with those of children that have ended."""
    me = psutil.Process()
    times = [process.cpu_times() for process in [me, *me.children(recursive=True)]]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


def server_seconds(server: Server | None) -> float:
    """Return the processor seconds that a database server's processes have worked."""
    if server is None:
        return 0.0
    top = psutil.Process(server.pid)
    mine = top.cpu_times()
    living = [process.cpu_times() for process in top.children()]
    return float(mine.children_user + mine.children_system + sum(t.user + t.system for t in living))


def cost_of(action: Callable[[], object], server: Server | None = None, times: int = 1) -> Cost:
    """Return what an action costs, per one of `times` equal parts."""
    began, own, theirs = time.perf_counter(), time.process_time(), server_seconds(server)
    action()
    spent = (time.perf_counter() - began, time.process_time() - own, server_seconds(server) - theirs)
    return Cost(*(seconds / times for seconds in spent))


def measure_grading(few: Course, many: Course, found: Results) -> None:
    """Grade a small and a large class with each executor and one or two workers; what is counted is the difference."""
    for name, make in EXECUTORS.items():
        for workers in (1, CORES):
            with make(workers) as pool:
                spent = []
                for course in (few, few, many):  # the first time starts everything
                    how: dict[str, Any] = {"executor": pool, "jobs": workers, "force": True, "options": {"seed": 5}}
                    began, all_, own = time.perf_counter(), family_seconds(), time.process_time()
                    grade_lesson(course, course.lesson(LESSON), **how)
                    spent.append((time.perf_counter() - began, family_seconds() - all_, time.process_time() - own))
            more = [(large - small) / (CLASS - SMALL) for small, large in zip(*spent[1:], strict=True)]
            found.grading[name, workers] = Grading(*more)
            print(name, workers, found.grading[name, workers], flush=True)


def measure_loop(course: Course, lesson: Lesson) -> float:
    """Return the seconds, by the clock, of a right submission in which one exercise never ends."""
    classes = Classes(course, lesson)
    right = solutions(read_lesson(lesson))
    name = next(iter(right))
    text = submission(classes.package, {**right, name: FOREVER.format(name)})
    with tempfile.TemporaryDirectory() as folder:
        root = classes.ours(0, Path(folder) / "course")
        classes.hand_in(root / "coursework", "forever", text)
        ours = Course(root)
        spent = cost_of(lambda: grade_lesson(ours, ours.lesson(lesson.name), options={"seed": 5}))
    return spent.clock


def measure_writing(course: Course, lesson: Lesson, texts: Sequence[str], server: Server | None, mark: int) -> Cost:
    """Return what one more graded submission costs the process that writes."""
    costs = []
    with open_gradebook(course) as gradebook:
        writer = GradebookWriter(gradebook, load_config(course.root), lesson.name)

        def write(number: int) -> None:
            student, text = f"new{mark}_{number:04}", texts[number % len(texts)]
            writer.save(student, json.loads(text), None)
            write_notebook(course, lesson, student, text)

        write(0)
        half = WRITES // 2
        for start in (1, 1 + half):  # a server's processor time is counted in hundredths of a second
            numbers = range(start, start + half)
            costs.append(cost_of(lambda some=numbers: [write(n) for n in some], server, half))
    return Cost(*(statistics.mean(getattr(c, name) for c in costs) for name in ("clock", "own", "server")))


def measure_database(name: str, course: Course, texts: Sequence[str], server: Server | None, found: Results) -> None:
    """Measure the writer while the gradebook grows, then the exports of all of it."""
    lesson, there = course.lesson(LESSON), 0
    for size in SIZES:
        with open_gradebook(course) as gradebook:
            fill(gradebook, LESSON, there, size)
        there = size
        found.writing[name, size] = measure_writing(course, lesson, texts, server, size)
        print(name, size, found.writing[name, size], flush=True)
    for export, plugin in EXPORTS.items():
        found.exports[name, export] = cost_of(lambda p=plugin, e=export: export_grades(course, p, f"{e}.csv"), server)
        print(name, export, found.exports[name, export], flush=True)


def measure_merge(course: Course, empty: Path) -> float:
    """Return the seconds per submission of a plain attach-and-insert of one gradebook into an empty one."""
    target = empty.with_name("merged.db")
    shutil.copy(empty, target)
    with closing(sqlite3.connect(target)) as merged:
        merged.execute("ATTACH ? AS shard", (str(course.coursework / "gradebook.db"),))
        (count,) = merged.execute("SELECT count(*) FROM shard.submitted_assignment").fetchone()

        def insert() -> None:
            for table in ROWS:
                columns = ", ".join(column.name for column in table.columns)
                merged.execute(f"INSERT INTO main.{table.name} ({columns}) SELECT {columns} FROM shard.{table.name}")
            merged.commit()

        return cost_of(insert).own / int(count)


def measure_files(course: Course, lesson: Lesson, found: Results) -> None:
    """Measure what reads notebooks, per submission: the report, and `make grade` where nothing is new."""
    originals = course.students(lesson)
    with open_gradebook(course) as gradebook:
        fill(gradebook, LESSON, 0, ON_DISK)
    for number in range(ON_DISK):
        original, student = originals[number % len(originals)], f"student{number:06}"
        for path in (course.submission, course.graded_notebook):
            copy = path(lesson, student)
            copy.parent.mkdir(parents=True)
            shutil.copy(path(lesson, original), copy)
    for original in originals:
        shutil.rmtree(course.submission(lesson, original).parent)
    found.report = cost_of(lambda: make_report(course, lesson), None, ON_DISK)
    found.nothing_new = cost_of(lambda: grade_lesson(course, lesson), None, ON_DISK)
    print("report", found.report, "nothing new", found.nothing_new, flush=True)


@contextmanager
def gradebook_at(url: str) -> Iterator[None]:
    """Have the courses that are made now keep their gradebook there; '' stands for a file."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = url
    try:
        yield
    finally:
        os.environ[VARIABLE] = before


def measured(course: Course) -> Results:
    """Measure everything."""
    lesson, found = course.lesson(LESSON), Results()
    classes = Classes(course, lesson)
    with tempfile.TemporaryDirectory() as name, gradebook_at(""):
        folder = Path(name)
        ours = Course(classes.ours(CLASS, folder / "class"))
        empty = folder / "empty.db"
        shutil.copy(ours.coursework / "gradebook.db", empty)
        measure_grading(Course(classes.ours(SMALL, folder / "few")), ours, found)
        mine = ours.lesson(LESSON)
        texts = [ours.graded_notebook(mine, s).read_text(encoding="utf-8") for s in ours.students(mine)]
        found.loop = measure_loop(course, lesson)
        print("loop", found.loop, flush=True)
        with serving(()) if binaries() else nullcontext() as server:
            for kind, where in {"SQLite": None, "PostgreSQL": server}.items():
                if kind != "SQLite" and server is None:
                    continue
                with gradebook_at(where.make("scale") if where else ""):
                    large = Course(classes.ours(0, folder / kind))
                    measure_database(kind, large, texts, where, found)
        found.merge = measure_merge(Course(folder / "SQLite"), empty)
        measure_files(ours, mine, found)
    return found


def summary(found: Results) -> Measured:
    """Return what the simulation starts from."""
    way = "Dask" if "Dask" in EXECUTORS else "processes"
    spread, alone = found.grading[way, CORES], found.grading["threads", CORES]
    last = "PostgreSQL" if ("PostgreSQL", SIZES[-1]) in found.writing else "SQLite"
    return Measured(
        worker=spread.all - spread.own,
        writer=spread.own,
        alone=alone.all,
        server=found.writing[last, SIZES[-1]].server,
        loop=found.loop,
        merge=found.merge,
    )


def simulated(times: Measured) -> dict[str, dict[int, float]]:
    """Return the hours of the goal's class, by way and number of machines."""
    ways: dict[str, Callable[[int, float], float]] = {
        "one writer": lambda m, share: one_writer(times, m, GOAL_SUBMISSIONS, share),
        "several writers, PostgreSQL": lambda m, share: several_writers(times, m, GOAL_SUBMISSIONS, share),
        "shards and a merge": lambda m, share: shards(times, m, GOAL_SUBMISSIONS, share),
    }
    cases = {"": 0.0, ", 1% endless loops": 0.01}
    return {
        way + what: {m: run(m, share) for m in MACHINES} for what, share in cases.items() for way, run in ways.items()
    }


def draw(times: dict[str, dict[int, float]]) -> None:
    """Draw the simulation: time against machines, both logarithmic, with the goal."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    colors = dict(zip([way for way in times if "loops" not in way], ("#0072b2", "#d55e00", "#009e73"), strict=True))
    for way, found in times.items():
        style = "--" if "loops" in way else "-"
        minutes = [seconds / 60 for seconds in found.values()]
        axes.plot(list(found), minutes, style, color=colors[way.split(", 1%")[0]], marker="o", markersize=3, label=way)
    axes.plot([GOAL_MACHINES], [GOAL_MINUTES], "k*", markersize=11, label="goal")
    axes.set(xscale="log", yscale="log", xlabel="machines of two cores", ylabel="minutes")
    axes.set_xticks(MACHINES, [str(m) for m in MACHINES], minor=False)
    axes.set_yticks([5, 10, 20, 40, 60, 120, 240, 480, 960], ["5", "10", "20", "40", "60", "2 h", "4 h", "8 h", "16 h"])
    axes.minorticks_off()
    axes.set_title(
        f"{GOAL_SUBMISSIONS:,} submissions: one writer is the limit from {limit(times)} machines on", loc="left"
    )
    axes.legend(fontsize=8)
    figure.savefig(FIGURE, metadata={"Date": None})


def limit(times: dict[str, dict[int, float]]) -> str:
    """Return from how many machines on one writer is no faster."""
    found = times["one writer"]
    return str(next(m for m in MACHINES if found[m] < 1.05 * found[MACHINES[-1]]))


def clock(seconds: float) -> str:
    """Return a time as people say it."""
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report_of(found: Results) -> str:
    """Return the section of the README."""
    times = summary(found)
    simulation = simulated(times)
    draw(simulation)
    ms = lambda seconds: f"{1000 * seconds:.1f}"  # noqa: E731
    grading = [[name, str(n), f"{1 / g.clock:.1f}", ms(g.all), ms(g.own)] for (name, n), g in found.grading.items()]
    writing = [[name, f"{size:,}", ms(c.own), ms(c.server), ms(c.clock)] for (name, size), c in found.writing.items()]
    exports = [[name, e, f"{c.own:.1f}", f"{c.server:.1f}", f"{c.clock:.1f}"] for (name, e), c in found.exports.items()]
    files = [
        [what, ms(c.own), clock(c.own * GOAL_SUBMISSIONS)]
        for what, c in {"`make report`": found.report, "`make grade`, nothing new": found.nothing_new}.items()
    ]
    machines = [[way, *(clock(by[m]) for m in MACHINES)] for way, by in simulation.items()]
    reached = simulation["one writer"][GOAL_MACHINES] / 60
    slowest = max(c.clock for c in found.exports.values())
    most = GOAL_SUBMISSIONS
    return "\n\n".join(
        [
            MARK,
            f"{machine()} Lesson {LESSON}. Processor milliseconds, unless a column says clock.",
            table(
                ["executor", "workers", "per second, clock", "all processes, ms", "the one that writes, ms"], grading
            ),
            f"One endless loop in one exercise: {found.loop:.0f} s by the clock.",
            "### The writer, one more submission",
            table(["database", "submissions there", "writer, ms", "server, ms", "clock, ms"], writing),
            f"### {most:,} submissions exported",
            table(["database", "command", "our process, s", "server, s", "clock, s"], exports),
            "### What reads every notebook, per submission",
            table(["command", "ms", f"{most:,} of them"], files),
            f"### {most:,} submissions on many machines, simulated",
            f"From these numbers, per submission: {ms(times.worker)} ms of a worker's core, {ms(times.writer)} ms of "
            f"the one writer, {ms(times.alone)} ms where a machine does all by itself, {ms(times.server)} ms of "
            f"PostgreSQL's eight cores, {1e6 * times.merge:.0f} µs to merge.",
            table(["way", *(f"{m} machines" if m > 1 else "1 machine" for m in MACHINES)], machines),
            f"![Minutes against machines, for each way, with the goal as a star]({FIGURE.name})",
            f"The goal was {GOAL_MINUTES} minutes on {GOAL_MACHINES} machines with one writer: it is {reached:.0f}. "
            f"The goal for an export was 10 s: the slowest took {slowest:.1f} s by the clock.",
            END,
        ]
    )


def main() -> None:
    """Measure, simulate, and write the section of the report."""
    argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__).parse_args()
    section = report_of(measured(find_course()))
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(MARK)
    REPORT.write_text(before + section + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
