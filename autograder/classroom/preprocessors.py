"""nbgrader's own commands, `nbgrader autograde` and Formgrader's button, through the same two functions as ours."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Int, validate

from ..authoring.lesson_package import package_of
from ..errors import CourseError
from ..grading.grade import grade
from ..grading.package import LessonPackage
from ..grading.sandbox import Limits
from ..grading.submission import Submission
from ..judging.inputs import LARGEST_SEED, PUBLIC_SEED
from ..paths import Course
from .gradebook import ensure_registered, open_gradebook
from .submissions import handed_in, read_submission
from .writer import GradebookWriter

MIB = 2**20


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Grade what was handed in; what nbgrader has read of it is put aside. The settings of all grading."""

    seed = Int(None, allow_none=True, help="Hidden inputs are drawn from this number; by default from a new one.").tag(
        config=True
    )
    run_demonstrations = Bool(False, help="Run the lesson's own demonstration cells too, so feedback shows them.").tag(
        config=True
    )
    allow_unsandboxed = Bool(
        False, help="Grade even where submissions cannot be isolated. They run with your rights then."
    ).tag(config=True)
    cell_seconds = Float(30.0, help="Processor seconds that one cell may take.").tag(config=True)
    check_seconds = Float(20.0, help="Processor seconds that one check may take.").tag(config=True)
    total_seconds = Float(300.0, help="Processor seconds that a submission may take, all its cells and checks.").tag(
        config=True
    )
    memory = Int(1536, help="Memory that one process of a submission may allocate, in MiB.").tag(config=True)
    processes = Int(64, help="How many processes and threads a submission may have at once.").tag(config=True)
    files = Int(64, help="Size of one file of a submission, and of all together, in MiB.").tag(config=True)
    output = Int(2, help="What one cell may print and show, in MiB.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one submission. Called by nbgrader in place of its sanitizing and its `Execute`."""
        course = Course(Path(self.config.CourseDirectory.root))
        about = resources["nbgrader"]
        lesson = course.lesson(about["assignment"])
        content = read_submission(course, lesson, about["student"])
        return nbformat.reads(grade(self.submission(content, package_of(lesson))), as_version=4), resources

    def submission(self, notebook: bytes, package: LessonPackage) -> Submission:
        """Return what was handed in, to be graded with these settings."""
        return Submission(
            notebook,
            package,
            secrets.randbelow(LARGEST_SEED) + 1 if self.seed is None else self.seed,
            self.limits(),
            self.run_demonstrations,
            self.allow_unsandboxed,
        )

    @validate("seed")  # type: ignore[untyped-decorator]
    def _usable(self, proposal: Any) -> int | None:
        seed: int | None = proposal["value"]
        if seed is not None and not 0 <= seed <= LARGEST_SEED:
            raise CourseError(f"--seed {seed}: choose a number from 1 to {LARGEST_SEED}.")
        if seed == PUBLIC_SEED:
            raise CourseError(f"--seed {seed} draws the inputs that students have: choose another number.")
        return seed

    def limits(self) -> Limits:
        """Return the settings as limits."""
        return Limits(
            cell_seconds=self.cell_seconds,
            check_seconds=self.check_seconds,
            total_seconds=self.total_seconds,
            memory_bytes=self.memory * MIB,
            processes=self.processes,
            file_bytes=self.files * MIB,
            output_bytes=self.output * MIB,
        )


class SaveGrades(NbGraderPreprocessor):  # type: ignore[misc]
    """Write a graded notebook's rows, in place of nbgrader's `SaveAutoGrades` and `AssignLatePenalties`."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Write the rows of one submission."""
        course = Course(Path(self.config.CourseDirectory.root))
        about = resources["nbgrader"]
        lesson, student = course.lesson(about["assignment"]), about["student"]
        with open_gradebook(course) as gradebook:
            ensure_registered(gradebook, package_of(lesson))
            writer = GradebookWriter(gradebook, self.config, lesson.name)
            writer.save(student, nb, *handed_in(course, lesson, student))
        return nb, resources
