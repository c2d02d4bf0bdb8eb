"""`make bench`: stock nbgrader and ours grade the same classes in turns; medians go into benchmarks/README.md."""

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from autograder.authoring.lesson_package import package_of
from autograder.grading.package import LessonPackage
from autograder.paths import Course, find_course

from .classes import Classes, nbgrader

REPORT = Path(__file__).with_name("README.md")
MARK = "<!-- measured: everything below is written by `make bench` -->"
SIZES = (12, 60)
LESSONS = ("02_queries_keys_values", "05_masking")


@dataclass(frozen=True)
class Run:
    """One whole command: wall-clock seconds, and the machine's busy processor seconds."""

    seconds: float
    cpu: float


def measured(command: Callable[[], object]) -> Run:
    """Run a command on a machine that does nothing else."""
    begun, began = time.perf_counter(), busy_seconds()
    command()
    return Run(time.perf_counter() - begun, busy_seconds() - began)


def busy_seconds() -> float:
    """Return the processor seconds that the machine has worked, in all processes: ended ones of a sandbox too."""
    user, nice, system = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def fresh(template: Path) -> Iterator[Path]:
    """Copy a course, so that every run grades it for the first time."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(template, Path(folder) / "course"))


def stock(template: Path, package: LessonPackage) -> Run:
    """Grade with `nbgrader autograde`, as it comes."""
    with fresh(template) as root:
        return measured(lambda: nbgrader(root, "autograde", package.name))


def ours(template: Path, package: LessonPackage, jobs: int) -> Run:
    """Grade with what `make grade` calls."""
    command = [sys.executable, "-m", "autograder", "grade", "--lesson", package.name, "--jobs", str(jobs)]
    with fresh(template) as root:
        return measured(lambda: subprocess.run(command, cwd=root, check=True, capture_output=True))


def middle(runs: list[Run]) -> Run:
    """Return the medians."""
    return Run(*(statistics.median(getattr(run, name) for run in runs) for name in ("seconds", "cpu")))


def compared(course: Course, name: str, sizes: list[int], rounds: int) -> list[str]:
    """Grade a lesson's classes by stock and by ours in turns; return the table's rows."""
    package, rows = package_of(course.lesson(name)), []
    classes = Classes(course, course.lesson(name))
    with tempfile.TemporaryDirectory() as folder:
        medians: dict[tuple[int, str], Run] = {}
        for size in sizes:
            our = classes.ours(size, Path(folder) / f"ours{size}")
            plain = classes.stock(size, Path(folder) / f"stock{size}")
            ways = {"stock": lambda p=plain: stock(p, package)}
            ways |= {f"ours, {n}": lambda o=our, n=n: ours(o, package, n) for n in (1, 2)}
            runs: dict[str, list[Run]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way, run in ways.items():
                    runs[way].append(run())
                    print(name, size, way, runs[way][-1], flush=True)
            medians |= {(size, way): middle(some) for way, some in runs.items()}
        for way in ways:
            rows.append(row(name, way, {size: medians[size, way] for size in sizes}, medians))
    return rows


def row(name: str, way: str, own: dict[int, Run], medians: dict[tuple[int, str], Run]) -> str:
    """Return one line of the table: whole runs, then what one more submission costs."""
    few, many = min(own), max(own)

    def more(runs: dict[int, Run], what: str) -> float:
        if few == many:
            return float("nan")
        return float(getattr(runs[many], what) - getattr(runs[few], what)) / (many - few)

    plain = {size: medians[size, "stock"] for size in own}
    seconds, cpu = more(own, "seconds"), more(own, "cpu")
    whole = " | ".join(f"{own[size].seconds:.1f}" for size in (few, many))
    start = own[few].seconds - few * seconds
    return (
        f"| {name} | {way} | {whole} | {seconds:.2f} | {more(plain, 'seconds') / seconds:.1f} | {cpu:.2f} | "
        f"{1 / seconds:.1f} | {start:.1f} |"
    )


def machine() -> str:
    """Say what this was measured on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{p} {version(p)}" for p in ("torch", "nbgrader", "nbclient", "ipykernel"))
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB; Python {platform.python_version()}, {packages}."


def main() -> None:
    """Measure and write the report."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--lessons", nargs="*", default=LESSONS, help="which lessons")
    options.add_argument("--rounds", type=int, default=3, help="runs of each command; medians are reported")
    options.add_argument("--sizes", type=int, nargs=2, default=SIZES, help="a small and a large class")
    chosen = options.parse_args()
    course = find_course()
    names = list(chosen.lessons)
    rows = [line for name in names for line in compared(course, name, list(chosen.sizes), chosen.rounds)]
    few, many = chosen.sizes
    text = REPORT.read_text(encoding="utf-8").split(MARK)[0]
    table = [
        f"| lesson | way, workers | {few} submissions, s | {many}, s | one more, s | times faster | its CPU s | "
        "per second | start, s |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
    ]
    parts = [MARK, f"{machine()} Medians of {chosen.rounds}.", "\n".join(table)]
    REPORT.write_text(text + "\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
