"""The writer alone: what one graded submission costs the process that owns the gradebook."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from autograder.authoring.nbgrader_course import load_config
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson
from autograder.classroom.writer import GradebookWriter, write_notebook
from autograder.paths import Course

from .classes import Classes

CLASS, TIMES = 6, 20


def writer_milliseconds(course: Course, name: str) -> float:
    """Return the median time to write the rows and the notebook of a submission that was not graded before."""
    with tempfile.TemporaryDirectory() as folder:
        root = Classes(course, course.lesson(name)).ours(CLASS, Path(folder) / "course")
        ours = Course(root)
        lesson = ours.lesson(name)
        grade_lesson(ours, lesson)
        texts = [ours.graded_notebook(lesson, s).read_text(encoding="utf-8") for s in ours.students(lesson)]
        taken = []
        with open_gradebook(ours) as gradebook:
            writer = GradebookWriter(gradebook, load_config(root), name)
            for number in range(TIMES * CLASS):
                text, student = texts[number % CLASS], f"new{number:04}"
                began = time.perf_counter()
                writer.save(student, json.loads(text), None)
                write_notebook(ours, lesson, student, text)
                taken.append(1000 * (time.perf_counter() - began))
        return statistics.median(taken)
