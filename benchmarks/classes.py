"""The same class twice: as a course of ours, and as a course of stock nbgrader with plain asserts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.authoring.build import make_source, register
from autograder.grading.cells import exercise_of
from autograder.grading.grade import demonstrations
from autograder.errors import CourseError
from autograder.judging.answer_key import Kit
from autograder.paths import CONFIG_NAME, Course
from autograder.authoring.sample_submissions import Edits, mistake_cell, packed, solutions, submission
from autograder.authoring.notebook import read_notebook, text_of
from autograder.judging.values import Returned

from .plain_asserts import SEED

PLAIN = Path(__file__).with_name("plain_asserts.py")
STOCK_CONFIG = 'c = get_config()\nc.CourseDirectory.root = "."\n'


def edits_of(kit: Kit, size: int) -> Iterator[tuple[str, Edits]]:
    """Yield students with their exercise cells: a third right, a third wrong, a third unsolved."""
    right, wrong = solutions(kit), packed(kit)
    for number in range(size):
        mistakes = wrong[number // 3 % len(wrong)]
        cells = {exercise: mistake_cell(kit, mistake) for exercise, mistake in mistakes.items()}
        yield f"student{number:03}", (right, {**right, **cells}, {})[number % 3]


def our_class(course: Course, kit: Kit, size: int, root: Path) -> Path:
    """Make a course of ours with a class's submissions, and its gradebook."""
    for part in (kit.lesson.folder, kit.lesson.released):
        shutil.copytree(part, root / part.relative_to(course.root))
    shutil.copy(course.root / CONFIG_NAME, root)
    register(Course(root), Course(root).lesson(kit.lesson.name))
    for student, edits in edits_of(kit, size):
        put(root / "coursework", kit, student, submission(kit, edits))
    return root


def stock_class(kit: Kit, size: int, root: Path) -> Path:
    """Make a stock course: the same notebook without demonstrations, its checks replaced by asserts."""
    source = root / "source" / kit.lesson.name
    make_source(kit)
    shutil.copytree(kit.lesson.source, source)
    shutil.copy(PLAIN, source / "plain_asserts.py")
    (source / "hidden_checks.py").write_text(kit.sandbox_sources[1], encoding="utf-8")
    torch.save(expected(kit), source / "expected.pt")
    (root / CONFIG_NAME).write_text(STOCK_CONFIG, encoding="utf-8")
    with_asserts(kit, source / kit.lesson.notebook)
    nbgrader(root, "generate_assignment", kit)
    released = read_notebook(root / "release" / kit.lesson.name / kit.lesson.notebook)
    for student, edits in edits_of(kit, size):
        for cell in released.cells:
            cell.source = edits.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        put(root, kit, student, released)
        released = read_notebook(root / "release" / kit.lesson.name / kit.lesson.notebook)
    return root


def with_asserts(kit: Kit, path: Path) -> None:
    """Leave the demonstrations out, and put asserts where our checks stand."""
    notebook, skipped = read_notebook(path), demonstrations(kit)
    notebook.cells = [c for c in notebook.cells if c.cell_type != "code" or c.source not in skipped]
    for cell in notebook.cells:
        if exercise := exercise_of(cell):
            cell.source = f'from plain_asserts import assert_passes\n\nassert_passes("{exercise}", {exercise})'
    path.write_text(text_of(notebook), encoding="utf-8")


def expected(kit: Kit) -> dict[str, dict[str, object]]:
    """Return what the solutions give, by check and path."""
    found: dict[str, dict[str, object]] = {}
    for exercise in kit.exercises:
        for check in kit.checks_of(exercise):
            outcome = check.summarise(check.values(kit.reference[exercise], SEED))
            assert isinstance(outcome, Returned)
            found[check.name] = {leaf.path: leaf.value for leaf in outcome.leaves()}
    return found


def put(root: Path, kit: Kit, student: str, notebook: object) -> None:
    """Hand a notebook in."""
    folder = root / "submitted" / student / kit.lesson.name
    folder.mkdir(parents=True)
    (folder / kit.lesson.notebook).write_text(text_of(notebook), encoding="utf-8")


def nbgrader(root: Path, command: str, kit: Kit) -> None:
    """Run one of nbgrader's commands as it comes."""
    tool = str(Path(sys.executable).with_name("nbgrader"))
    path = {**os.environ, "PATH": f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}"}
    words = [tool, command, kit.lesson.name]
    done = subprocess.run(words, cwd=root, env=path, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"nbgrader {command} failed: {done.stderr[-500:]}")
