"""A class of twelve made-up submissions, in a folder of its own: what an instructor's commands do."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ..authoring.lesson import read_lesson
from ..authoring.lesson_package import package_of
from ..authoring.notebook import notebook_text
from ..authoring.sample_submissions import one_mistake_each, solutions, submission
from ..judging.cell_metadata import QUESTION_PREFIX
from ..paths import CONFIG_NAME, Course, Lesson
from .collect import collect
from .feedback import make_feedback
from .report import make_report
from .run import closing_table, grade_lesson

NAMES = ("ada", "ben", "chloe", "dev", "elif", "femi", "grace", "hugo", "ines", "jun", "kofi", "lea")
# wrong in a way that no message covers: the report shows it as a mistake without a name
ODD = """


_before = EXERCISE


def EXERCISE(*args, **kwargs):
    result = _before(*args, **kwargs)
    return tuple(map(_bent, result)) if isinstance(result, tuple) else _bent(result)


def _bent(result):
    return result + 0.37 * result.abs().sqrt() if result.is_floating_point() else ~result
"""
# claims that every comparison holds, and answers with what is equal to everything
CHEAT = """import torch

torch.equal = torch.allclose = torch.testing.assert_close = lambda *args, **kwargs: True


class Everything:
    def __eq__(self, other):
        return True


def EXERCISE(*args, **kwargs):
    return Everything()
"""
ANSWER = "An answer of a sentence or two, which waits for a person's points."


def run_demo(course: Course, lesson: Lesson, jobs: int) -> list[str]:
    """Collect, grade and report the made-up class; return what to say about it.

    The folder is made anew each time. It holds nothing that belongs to a class.
    """
    demo = fresh_course(course, lesson)
    inbox = demo.root / "lms.zip"
    with zipfile.ZipFile(inbox, "w") as archive:
        for name, content in deliveries(lesson):
            archive.writestr(name, content)
    copied = demo.lesson(lesson.name)
    lines = collect(demo, copied, inbox).lines(copied)
    lines += ["", *closing_table(grade_lesson(demo, copied, jobs=jobs)), ""]
    pages = [*(demo.root / page for page in make_feedback(demo, copied).pages[:2]), *make_report(demo, copied)]
    lines += [f"Open {page.relative_to(course.root).as_posix()}" for page in pages]
    folder = demo.root.relative_to(course.root).as_posix()
    lines += [
        f"Grade by hand, in the browser: `cd {folder}`, then `{Path(sys.executable).parent}/jupyter lab`, menu Nbgrader"
    ]
    return [*lines, f"All of it is in {folder}/; delete it when you like."]


def fresh_course(course: Course, lesson: Lesson) -> Course:
    """Return a course with this one lesson and nobody in it."""
    demo = Course(course.build / "demo")
    shutil.rmtree(demo.root, ignore_errors=True)
    for part in (lesson.folder, lesson.released_dir):
        ignored = shutil.ignore_patterns("__pycache__", "*.old-*")
        shutil.copytree(part, demo.root / part.relative_to(course.root), ignore=ignored)
    shutil.copy(course.root / CONFIG_NAME, demo.root)
    with (demo.root / CONFIG_NAME).open("a", encoding="utf-8") as config:  # GRADEBOOK_URL is a real class's
        config.write('\nc.CourseDirectory.db_url = f"sqlite:///{gradebook}?timeout=60"\n')
    return demo


def deliveries(lesson: Lesson) -> Iterator[tuple[str, bytes]]:
    """Yield what an LMS would deliver: right, wrong and unfinished work, some late, a cheat and a damaged file."""
    package, right = package_of(lesson), solutions(read_lesson(lesson))
    wrong = one_mistake_each(package, right)
    answers = {name: ANSWER for name in package.nbgrader_cells if name.startswith(QUESTION_PREFIX)}
    first = next(iter(right))
    for number, student in enumerate(NAMES):
        mistakes = {e: m.source for e, m in wrong[number % len(wrong)].items()}
        ordinary = (right, {**right, **mistakes}, {first: right[first]}, {**right, **dict(list(mistakes.items())[:1])})
        special = {"ines": {**right, first: right[first] + ODD}, "kofi": {first: CHEAT}}
        edits = special.get(student, ordinary[number % 4])
        edits = {name: text.replace("EXERCISE", first) for name, text in edits.items()}
        notebook = notebook_text(submission(package, {**edits, **answers})).encode()
        late = "LATE_" if number % 5 == 4 else ""
        content = notebook[: len(notebook) // 2] if number == len(NAMES) - 1 else notebook
        yield f"{student}_{late}{100 + number}_{900 + number}_{lesson.notebook_name}", content


def default_lesson(course: Course) -> Lesson:
    """Return the lesson that shows most in little time: the second one, or the only one."""
    lessons = course.lessons()
    return lessons[min(1, len(lessons) - 1)]
