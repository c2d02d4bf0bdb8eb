"""Measurements whose claims need not be measured again: nothing has changed that their numbers come from.

Tests marked `measures(lesson)` train models from several seeds. `make test-measured` runs all of them and writes down a
checksum of what they ran; where it still fits, other runs skip them, CI's too. A lesson that has changed is measured.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.authoring.lesson import read_lesson
from autograder.paths import Course, Lesson, find_course

ROOT = Path(__file__).parent.parent
KNOWN = Path(__file__).with_name("measured.json")
RUN = ("setup", "demo", "measured", "exercise")  # the cells that these tests take code from
UNUSED = ("lesson.py", "checks.py", "hidden.py", "mistakes.py", "variants.py", "generated.json")
MARKED = re.compile(r"measures\(([^)]*)\)")
AGAIN = "MEASURE"  # a variable of the environment


def measured_already(item: pytest.Item) -> bool:
    """Say whether a test's measurements were made of just what there is now."""
    marks = list(item.iter_markers("measures"))
    if not marks or os.environ.get(AGAIN) or not KNOWN.is_file():
        return False
    known, course = json.loads(KNOWN.read_text(encoding="utf-8")), find_course(ROOT)
    names = [name for mark in marks for name in mark.args]
    return all(known.get(entry(item.path, name)) == digest(item.path, course.lesson(name)) for name in names)


def entry(test: Path, lesson: str) -> str:
    """Return the name under which the checksum of a file's measurements of a lesson is kept."""
    return f"{test.name} {lesson}"


def digest(test: Path, lesson: Lesson) -> str:
    """Return a checksum of what decides the numbers: the test, the code that the lesson runs, its files, libraries."""
    total = hashlib.sha256(f"{torch.__version__.partition('+')[0]} {np.__version__}\n".encode())
    code = [cell.text.encode() for cell in read_lesson(lesson) if cell.kind in RUN]
    files = [
        p for p in sorted(lesson.folder.iterdir()) if p.is_file() and p.suffix != ".ipynb" and p.name not in UNUSED
    ]
    for content in (test.read_bytes(), *code, *(part for p in files for part in (p.name.encode(), p.read_bytes()))):
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def digests(course: Course) -> Iterator[tuple[str, str]]:
    """Yield the checksum of each file's measurements of each lesson."""
    for test in sorted(Path(__file__).parent.glob("test_*.py")):
        for name in {
            name for names in MARKED.findall(test.read_text("utf-8")) for name in re.findall(r'"(\w+)"', names)
        }:
            yield entry(test, name), digest(test, course.lesson(name))


def main() -> int:
    """Measure all, and note it where all is as claimed."""
    before = dict(digests(find_course(ROOT)))
    files = {f"tests/{name.partition(' ')[0]}" for name in before}
    command = [sys.executable, "-m", "pytest", "-m", "measures", *sorted(files), *sys.argv[1:]]
    failed = subprocess.run(command, cwd=ROOT, env={**os.environ, AGAIN: "1"}, check=False).returncode
    if not failed:
        KNOWN.write_text(json.dumps(before, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
