"""Grading one notebook: sanitised notebook in, graded notebook out; and the nbgrader preprocessor that does it."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Int

from .card import Card
from .judge import Verdict, judge
from .kit import Kit, load_kit
from .lessons import Course, Lesson
from .sandbox import Limits, Session, open_process

RECORD = "autograder"
CHECK_PREFIX = "check_"


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission's cells in another process and judge what its functions return in this one."""

    seed = Int(None, allow_none=True, help="Hidden inputs are drawn from this number; by default from a new one.").tag(
        config=True
    )
    cell_seconds = Float(30.0, help="Wall-clock seconds that one cell may take.").tag(config=True)
    check_seconds = Float(20.0, help="Wall-clock seconds that one check may take.").tag(config=True)

    run_demonstrations = Bool(
        True, help="Run the lesson's own demonstration cells too, so that feedback shows them."
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one sanitised notebook. Called by nbgrader in place of its `Execute`."""
        place, config = resources["nbgrader"], self.config.CourseDirectory
        course = Course(Path(config.root))
        kit = current_kit(course.lesson(place["assignment"]))
        seed = secrets.randbits(31) if self.seed is None else self.seed
        limits = Limits(cell_seconds=self.cell_seconds, check_seconds=self.check_seconds)
        with working_folder(kit.lesson) as folder, open_process(folder, limits) as session:
            nb = grade_notebook(nb, kit, session, seed, skip=() if self.run_demonstrations else demonstrations(kit))
        submission = course.submitted / place["student"] / place["assignment"] / kit.lesson.notebook
        nb.metadata[RECORD] = {"seed": seed, "submission": digest(submission), "lesson": lesson_digest(kit.lesson)}
        return nb, resources


def grade_notebook(nb: Any, kit: Kit, session: Session, seed: int, skip: Collection[str] = ()) -> Any:
    """Return the notebook with fresh outputs: what its cells showed, and a card with points in each check cell.

    Args:
        nb: a sanitised notebook; check cells are recognised by their grade id.
        kit: the lesson.
        session: a fresh process for this submission.
        seed: what the inputs of all checks are drawn from.
        skip: sources of cells that need not run.
    """
    for cell in nb.cells:
        if cell.cell_type != "code" or cell.source in skip:
            continue
        exercise = exercise_of(cell)
        if exercise in kit.exercises:
            verdict = judge_exercise(kit, exercise, session, seed)
            cell.outputs, cell.execution_count = [graded_output(verdict)], None
        else:
            result = session.run(cell.source)
            cell.outputs, cell.execution_count = as_outputs(result.outputs), result.count
    return nb


def demonstrations(kit: Kit) -> set[str]:
    """Return the sources of the lesson's own demonstration cells. A cell that a student changed is not among them."""
    return {cell.text for cell in kit.cells if cell.kind == "demo"}


def exercise_of(cell: Any) -> str:
    """Return the exercise that a cell checks, or ''."""
    data = cell.metadata.get("nbgrader", {})
    grade_id = str(data.get("grade_id", ""))
    return grade_id.removeprefix(CHECK_PREFIX) if data.get("grade") and grade_id.startswith(CHECK_PREFIX) else ""


def judge_exercise(kit: Kit, exercise: str, session: Session, seed: int) -> Verdict:
    """Ask the submission's process for values and compare them with the reference's."""
    checks = kit.checks_of(exercise)
    outcomes = [c.summarise(session.check(c, kit.sandbox_source(c), seed)) for c in checks]
    return judge(exercise, kit.targets(exercise, seed), outcomes, kit.messages(exercise))


def graded_output(verdict: Verdict) -> Any:
    """Return the one output of a graded check cell: nbgrader reads the number, people read the card."""
    card = Card(verdict, graded=True)._repr_html_()
    return as_outputs(
        [{"output_type": "execute_result", "data": {"text/plain": str(verdict.points), "text/html": card}}]
    )[0]


def as_outputs(outputs: list[dict[str, Any]]) -> list[Any]:
    """Return outputs as the notebook format wants them."""
    full = [
        {"metadata": {}, "execution_count": None, **o} if o["output_type"] == "execute_result" else o for o in outputs
    ]
    return [nbformat.from_dict(output) for output in full]


@contextmanager
def working_folder(lesson: Lesson) -> Iterator[Path]:
    """Make a folder with what a student has beside the notebook."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / lesson.name
        folder.mkdir()
        for file in ("checks.py", "fingerprints.json"):
            shutil.copy(lesson.released / file, folder / file)
        yield folder


def current_kit(lesson: Lesson) -> Kit:
    """Load a lesson once, and again when its files have changed."""
    return _kit(lesson, lesson_digest(lesson))


@lru_cache(maxsize=8)
def _kit(lesson: Lesson, _digest: str) -> Kit:
    return load_kit(lesson)


def digest(*paths: Path) -> str:
    """Return a checksum of files' contents."""
    return hashlib.sha256(b"".join(hashlib.sha256(p.read_bytes()).digest() for p in paths)).hexdigest()


def lesson_digest(lesson: Lesson) -> str:
    """Return a checksum of everything that decides a lesson's points."""
    return digest(lesson.text, lesson.checks, lesson.hidden)
