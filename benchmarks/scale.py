"""`make bench-scale`: what one more submission costs, and how long 100,000 take on many machines by that.

What is measured is processor time: a machine that does something else too gives nearly the same numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.authoring.nbgrader_course import load_config
from autograder.classroom.database import VARIABLE
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson
from autograder.classroom.writer import GradebookWriter, write_notebook
from autograder.grading.running import LATER_SHARE
from autograder.grading.sandbox import Limits
from autograder.paths import Course, find_course
from tests.postgres import Server, binaries, serving

from .__main__ import machine
from .classes import Classes

REPORT = Path(__file__).with_name("README.md")
MARK = "<!-- measured: everything below is written by `make bench-scale` -->"
END = "<!-- end of what `make bench-scale` writes -->"
LESSON, SUBMISSIONS = "02_queries_keys_values", 100_000
SMALL, LARGE, WRITES = 12, 60, 120  # submissions
CORES, MACHINES = 2, (1, 2, 5, 10, 20, 50, 100)
LOOP = Limits().check_seconds * (1 + LATER_SHARE)  # processor seconds of an exercise that never ends
LOOPING = 0.01  # of the submissions have one


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
            with cluster_executor(cluster.address, PATIENCE) as executor:
                wait_until(lambda: executor.at_once == 2 * workers)
                yield executor
        finally:
            cluster.close()


EXECUTORS: dict[str, Callable[[int], AbstractContextManager[Executor]]] = {"threads": ThreadPoolExecutor, "Dask": dask}


@dataclass(frozen=True)
class Cost:
    """Processor seconds of one more submission: of all processes, and of the one that writes the gradebook."""

    total: float
    writer: float


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
    ended, living = top.cpu_times(), [process.cpu_times() for process in top.children()]
    return float(ended.children_user + ended.children_system + sum(t.user + t.system for t in living))


def grading_cost(executor: Executor, few: Course, many: Course) -> Cost:
    """Grade a small and a large class; what counts is the difference, so that starting costs nothing."""
    spent = []
    for course in (few, few, many):  # the first time starts everything
        total, writer = family_seconds(), time.process_time()
        grade_lesson(course, course.lesson(LESSON), executor=executor, jobs=CORES, force=True, options={"seed": 5})
        spent.append((family_seconds() - total, time.process_time() - writer))
    return Cost(*((large - small) / (LARGE - SMALL) for small, large in zip(*spent[1:], strict=True)))


def writing_cost(course: Course, texts: Sequence[str], server: Server | None) -> Cost:
    """Write graded submissions into a gradebook that is empty before."""
    lesson = course.lesson(LESSON)
    with open_gradebook(course) as gradebook:
        writer = GradebookWriter(gradebook, load_config(course.root), LESSON)
        server_began, began = server_seconds(server), time.process_time()
        for number in range(WRITES):
            student, text = f"new{number:04}", texts[number % len(texts)]
            writer.save(student, json.loads(text), None)
            write_notebook(course, lesson, student, text)
        own = time.process_time() - began
    return Cost((own + server_seconds(server) - server_began) / WRITES, own / WRITES)


@contextmanager
def gradebook_at(url: str) -> Iterator[None]:
    """Have the courses that are made now keep their gradebook there; '' stands for a file."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = url
    try:
        yield
    finally:
        os.environ[VARIABLE] = before


def measured(course: Course) -> tuple[dict[str, Cost], dict[str, Cost]]:
    """Return what grading costs by executor, and what writing costs by database."""
    classes = Classes(course, course.lesson(LESSON))
    grading, writing = dict[str, Cost](), dict[str, Cost]()
    with tempfile.TemporaryDirectory() as name, gradebook_at(""):
        folder = Path(name)
        few, many = (Course(classes.ours(size, folder / f"class{size}")) for size in (SMALL, LARGE))
        for executor, start in EXECUTORS.items():
            with start(CORES) as pool:
                grading[executor] = grading_cost(pool, few, many)
        lesson = many.lesson(LESSON)
        texts = [many.graded_notebook(lesson, s).read_text(encoding="utf-8") for s in many.students(lesson)]
        with serving(()) if binaries() else nullcontext() as server:
            databases = {"SQLite": None, **({"PostgreSQL": server} if server else {})}
            for database, where in databases.items():
                with gradebook_at(where.make("scale") if where else ""):
                    empty = Course(classes.ours(0, folder / database))
                    writing[database] = writing_cost(empty, texts, where)
    return grading, writing


def hours(seconds: float) -> str:
    """Return a time as people say it."""
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def one_writer(grading: Cost, alone: Cost, machines: int, loops: float) -> float:
    """Return the seconds of all where one machine writes: workers and writer go on beside each other."""
    if machines == 1:
        return SUBMISSIONS * (alone.total + loops) / CORES
    workers = SUBMISSIONS * (grading.total - grading.writer + loops) / (machines * CORES - 1)
    return max(workers, SUBMISSIONS * grading.writer)


def shards(alone: Cost, merging: float, machines: int, loops: float) -> float:
    """Return the seconds of all where each machine grades its own part, and one merges them in the end."""
    return SUBMISSIONS * ((alone.total + loops) / (machines * CORES) + merging)


def report_of(grading: dict[str, Cost], writing: dict[str, Cost]) -> str:
    """Return the section of the README."""
    alone, merging = grading["threads"], writing["SQLite"].total

    def milliseconds(costs: dict[str, Cost]) -> list[list[str]]:
        return [[name, f"{1000 * cost.total:.1f}", f"{1000 * cost.writer:.1f}"] for name, cost in costs.items()]

    rows = []
    for words, loops in {"": 0.0, f", {LOOPING:.0%} endless loops": LOOPING * LOOP}.items():
        rows.append(
            [f"one writer, Dask{words}", *(hours(one_writer(grading["Dask"], alone, m, loops)) for m in MACHINES)]
        )
        rows.append([f"shards and a merge{words}", *(hours(shards(alone, merging, m, loops)) for m in MACHINES)])
    parts = (
        f"{machine()} Lesson {LESSON}, processor milliseconds of one more submission.",
        table(["executor", "all processes", "the one that writes"], milliseconds(grading)),
        table(["into an empty gradebook", "writer and server", "the writer"], milliseconds(writing)),
        f"By these numbers {SUBMISSIONS:,} submissions take, on machines of {CORES} cores:",
        table(["way", *(f"{m} machine{'s' * (m > 1)}" for m in MACHINES)], rows),
    )
    return "\n\n".join([MARK, *parts, END])


def main() -> None:
    """Measure, calculate, and write the section of the report."""
    argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__).parse_args()
    section = report_of(*measured(find_course()))
    before, rest = REPORT.read_text(encoding="utf-8").split(MARK)
    REPORT.write_text(before + section + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
