"""The same class twice: as a course of ours, and as a course of stock nbgrader with plain asserts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import torch

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import ensure_nbgrader_source, package_of
from autograder.authoring.notebook import notebook_text, read_notebook
from autograder.authoring.sample_submissions import Edits, one_mistake_each, solutions, submission
from autograder.classroom.run import register
from autograder.errors import CourseError
from autograder.grading.package import LessonPackage
from autograder.judging.cell_metadata import checked_exercise
from autograder.judging.values import Returned
from autograder.paths import CONFIG_NAME, Course, Lesson

from .plain_asserts import SEED

PLAIN = Path(__file__).with_name("plain_asserts.py")
STOCK_CONFIG = 'c = get_config()\nc.CourseDirectory.root = "."\n'


@dataclass(frozen=True)
class Classes:
    """Makes classes of one lesson: a third right, a third wrong in known ways, a third unsolved."""

    course: Course
    lesson: Lesson

    @property
    def package(self) -> LessonPackage:
        """The lesson."""
        return package_of(self.lesson)

    def edits(self, size: int) -> Iterator[tuple[str, Edits]]:
        """Yield students with their exercise cells."""
        right = solutions(read_lesson(self.lesson))
        wrong = one_mistake_each(self.package, right)
        for number in range(size):
            mistakes = wrong[number // 3 % len(wrong)]
            cells = {exercise: mistake.source for exercise, mistake in mistakes.items()}
            yield f"student{number:03}", (right, {**right, **cells}, {})[number % 3]

    def ours(self, size: int, root: Path) -> Path:
        """Make a course of ours with a class's submissions, and its gradebook."""
        for part in (self.lesson.folder, self.lesson.released_dir):
            shutil.copytree(part, root / part.relative_to(self.course.root))
        shutil.copy(self.course.root / CONFIG_NAME, root)
        register(Course(root), Course(root).lesson(self.lesson.name))
        for student, edits in self.edits(size):
            self.hand_in(root / "coursework", student, submission(self.package, edits))
        return root

    def stock(self, size: int, root: Path) -> Path:
        """Make a stock course: the same notebook without demonstrations, its checks replaced by asserts."""
        source = root / "source" / self.lesson.name
        ensure_nbgrader_source(self.lesson)
        shutil.copytree(self.lesson.nbgrader_source_dir, source)
        shutil.copy(PLAIN, source / "plain_asserts.py")
        hidden = "\n".join(self.package.key.sandbox_source(name)[1] for name in self.package.key.exercises)
        (source / "hidden_checks.py").write_text(hidden, encoding="utf-8")
        torch.save(self.expected(), source / "expected.pt")
        (root / CONFIG_NAME).write_text(STOCK_CONFIG, encoding="utf-8")
        self.with_asserts(source / self.lesson.notebook_name)
        nbgrader(root, "generate_assignment", self.lesson.name)
        released = (root / "release" / self.lesson.name / self.lesson.notebook_name).read_text(encoding="utf-8")
        for student, edits in self.edits(size):
            notebook = nbformat.reads(released, as_version=4)
            for cell in notebook.cells:
                cell.source = edits.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
            self.hand_in(root, student, notebook)
        return root

    def with_asserts(self, path: Path) -> None:
        """Leave the demonstrations out, and put asserts where our checks are."""
        notebook, skipped = read_notebook(path), self.package.demonstrations
        notebook.cells = [c for c in notebook.cells if c.cell_type != "code" or c.source not in skipped]
        for cell in notebook.cells:
            if exercise := checked_exercise(cell):
                cell.source = f'from plain_asserts import assert_passes\n\nassert_passes("{exercise}", {exercise})'
        path.write_text(notebook_text(notebook), encoding="utf-8")

    def expected(self) -> dict[str, dict[str, object]]:
        """Return what the solutions give, by check and path."""
        key = self.package.key
        values: dict[str, dict[str, object]] = {}
        for exercise in key.exercises:
            for check in key.checks_of(exercise):
                outcome = check.summarize(check.values(key.reference[exercise], SEED))
                assert isinstance(outcome, Returned)
                values[check.name] = {leaf.path: leaf.value for leaf in outcome.leaves()}
        return values

    def hand_in(self, root: Path, student: str, notebook: object) -> None:
        """Put a notebook where submissions are."""
        folder = root / "submitted" / student / self.lesson.name
        folder.mkdir(parents=True)
        (folder / self.lesson.notebook_name).write_text(notebook_text(notebook), encoding="utf-8")


def nbgrader(root: Path, command: str, lesson: str) -> None:
    """Run one of nbgrader's commands as it comes."""
    tool = str(Path(sys.executable).with_name("nbgrader"))
    path = {**os.environ, "PATH": f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([tool, command, lesson], cwd=root, env=path, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CourseError(f"nbgrader {command} failed: {done.stderr[-500:]}")
