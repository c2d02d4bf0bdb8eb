"""`make bench`: grades classes of two sizes with one worker and with two; medians go into benchmarks/README.md."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from autograder.paths import Lesson, find_course

from .classes import Classes

REPORT = Path(__file__).with_name("README.md")
MARK = "<!-- measured: everything below is written by `make bench` -->"
SIZES, WORKERS = (12, 60), (1, 2)
LESSONS = ("02_queries_keys_values", "05_masking")


@dataclass(frozen=True)
class Run:
    """One whole command: wall-clock seconds, and the machine's busy processor seconds."""

    seconds: float
    cpu: float


def graded(template: Path, lesson: Lesson, jobs: int) -> Run:
    """Grade a copy of a course with what `make grade` calls, on a machine that does nothing else."""
    command = [sys.executable, "-m", "autograder", "grade", "--lesson", lesson.name, "--jobs", str(jobs)]
    with tempfile.TemporaryDirectory() as folder:
        root = shutil.copytree(template, Path(folder) / "course")
        begun, began = time.perf_counter(), busy_seconds()
        subprocess.run(command, cwd=root, check=True, capture_output=True)
        return Run(time.perf_counter() - begun, busy_seconds() - began)


def busy_seconds() -> float:
    """Return the processor seconds that the machine has worked, in all processes: ended ones of a sandbox too."""
    user, nice, system = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def middle(runs: list[Run]) -> Run:
    """Return the medians."""
    return Run(statistics.median(run.seconds for run in runs), statistics.median(run.cpu for run in runs))


def measured(classes: Classes, sizes: list[int], rounds: int) -> list[str]:
    """Grade a lesson's classes in turns; return the table's rows."""
    runs: dict[int, dict[int, list[Run]]] = {jobs: {size: [] for size in sizes} for jobs in WORKERS}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            template = classes.make(size, Path(folder) / "template")
            for _ in range(rounds):
                for jobs in WORKERS:
                    runs[jobs][size].append(graded(template, classes.lesson, jobs))
                    print(classes.lesson.name, size, jobs, runs[jobs][size][-1], flush=True)
    medians = {jobs: {size: middle(some) for size, some in own.items()} for jobs, own in runs.items()}
    return [row(classes.lesson.name, jobs, own) for jobs, own in medians.items()]


def row(name: str, jobs: int, runs: Mapping[int, Run]) -> str:
    """Return one line of the table: whole runs, then what one more submission costs."""
    (few, small), (many, large) = sorted(runs.items())
    seconds = (large.seconds - small.seconds) / (many - few)
    cpu = (large.cpu - small.cpu) / (many - few)
    start = small.seconds - few * seconds
    cells = [name, jobs, f"{small.seconds:.1f}", f"{large.seconds:.1f}", f"{seconds:.2f}", f"{cpu:.2f}"]
    return f"| {' | '.join(map(str, cells))} | {1 / seconds:.1f} | {start:.1f} |"


def machine() -> str:
    """Say what this was measured on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{p} {version(p)}" for p in ("torch", "nbgrader"))
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB; Python {platform.python_version()}, {packages}."


def main() -> None:
    """Measure and write the report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--lessons", nargs="*", default=LESSONS, help="which lessons")
    options.add_argument("--rounds", type=int, default=3, help="runs of each command; medians are reported")
    options.add_argument("--sizes", type=int, nargs=2, default=SIZES, help="a small and a large class")
    chosen, course = options.parse_args(), find_course()
    few, many = chosen.sizes
    lines = [
        f"| lesson | workers | {few} submissions, s | {many}, s | one more, s | its CPU s | per second | start, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in chosen.lessons:
        lines += measured(Classes(course, course.lesson(name)), chosen.sizes, chosen.rounds)
    text = REPORT.read_text(encoding="utf-8").split(MARK)[0]
    parts = [MARK, f"{machine()} Medians of {chosen.rounds}.", "\n".join(lines)]
    REPORT.write_text(text + "\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
