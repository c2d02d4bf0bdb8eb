"""nbgrader's part of grading one submission: a preprocessor in place of `Execute`, and the settings of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Int

from .engine import Job, current_kit, graded, lesson_digest
from .lessons import Course, digest
from .rubrics import add_rubrics
from .sandbox import Limits

RECORD = "autograder"
MIB = 2**20


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission's cells in a sandbox and judge what its functions return in this process."""

    seed = Int(None, allow_none=True, help="Hidden inputs are drawn from this number; by default from a new one.").tag(
        config=True
    )
    run_demonstrations = Bool(False, help="Run the lesson's own demonstration cells too, so feedback shows them.").tag(
        config=True
    )
    allow_unsandboxed = Bool(
        False, help="Grade even where submissions cannot be isolated. They run with your rights then."
    ).tag(config=True)
    cell_seconds = Float(30.0, help="Wall-clock seconds that one cell may take.").tag(config=True)
    check_seconds = Float(20.0, help="Wall-clock seconds that one check may take.").tag(config=True)
    total_seconds = Float(300.0, help="Wall-clock seconds that all cells of a submission may take.").tag(config=True)
    cpu_seconds = Int(60, help="Processor seconds that one process of a submission may take.").tag(config=True)
    memory = Int(1536, help="Memory that one process of a submission may allocate, in MiB.").tag(config=True)
    processes = Int(64, help="How many processes and threads a submission may have at once.").tag(config=True)
    files = Int(64, help="Size of one file of a submission, and of all together, in MiB.").tag(config=True)
    output = Int(2, help="What one cell may print and show, in MiB.").tag(config=True)

    run: Callable[[Job], str] = staticmethod(graded)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one sanitised notebook. Called by nbgrader in place of its `Execute`."""
        place, course = resources["nbgrader"], Course(Path(self.config.CourseDirectory.root))
        lesson = course.lesson(place["assignment"])
        seed = secrets.randbits(31) if self.seed is None else self.seed
        record: dict[str, Any] = {"seed": seed, "lesson": lesson_digest(lesson)}
        record["submission"] = digest(course.submitted / place["student"] / lesson.name / lesson.notebook)
        settings = (self.run_demonstrations, self.allow_unsandboxed)
        job = Job(nbformat.writes(nb), course.root, lesson.name, seed, self.limits(), *settings)
        began = time.monotonic()
        done = nbformat.reads(GradeSubmission.run(job), as_version=4)
        record["seconds"] = round(time.monotonic() - began, 1)
        done.metadata[RECORD] = record
        add_rubrics(done, current_kit(lesson))
        return done, resources

    def limits(self) -> Limits:
        """Return the settings as limits."""
        return Limits(
            cell_seconds=self.cell_seconds,
            check_seconds=self.check_seconds,
            total_seconds=self.total_seconds,
            cpu_seconds=self.cpu_seconds,
            memory_bytes=self.memory * MIB,
            processes=self.processes,
            file_bytes=self.files * MIB,
            output_bytes=self.output * MIB,
        )
