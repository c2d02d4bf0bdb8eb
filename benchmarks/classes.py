"""Classes of one lesson, to be graded: a third right, a third wrong in known ways, a third unsolved."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import Edits, one_mistake_each, solutions, submission
from autograder.classroom.run import register
from autograder.grading.package import LessonPackage
from autograder.paths import CONFIG_NAME, Course, Lesson


@dataclass(frozen=True)
class Classes:
    """Makes classes of one lesson."""

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

    def make(self, size: int, root: Path) -> Path:
        """Make a course with a class's submissions, and its gradebook."""
        for part in (self.lesson.folder, self.lesson.released_dir):
            shutil.copytree(part, root / part.relative_to(self.course.root))
        shutil.copy(self.course.root / CONFIG_NAME, root)
        made = Course(root)
        register(made, made.lesson(self.lesson.name))
        for student, edits in self.edits(size):
            path = made.submission(self.lesson, student)
            path.parent.mkdir(parents=True)
            path.write_text(notebook_text(submission(self.package, edits)), encoding="utf-8")
        return root
