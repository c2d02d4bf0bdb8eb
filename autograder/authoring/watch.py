"""A lesson rebuilt and proved again whenever one of its files is saved, as fast as that goes.

The outputs of the last run are kept as long as everything that runs is the same, so an edit of the prose takes a second
or two. What students get is written without nbgrader, which a test proves to be equal.
"""

from __future__ import annotations

import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import CourseError
from ..judging.answer_key import load_answer_key
from ..paths import Course, Lesson
from .build import build, execute, refuse_broken_syntax
from .lesson import LessonCell, at_line, is_code, lesson_source, line_in_lesson, read_lesson, solution_of
from .notebook import released_notebook, solved_notebook, text_of
from .package import package_of
from .sample_submissions import solutions
from .verify import graded_submission_problems, key_problems

POLL_SECONDS, SETTLE_SECONDS, SEEDS = 0.3, 0.1, 3
Saved = dict[str, tuple[int, int]]


def watch(course: Course, lesson: Lesson, jobs: int, say: Callable[[str], None]) -> None:
    """Build and prove a lesson now and after every save, until Ctrl-C."""
    watcher, seen = Watcher(course, lesson, jobs), Saved()
    while True:
        if saved(lesson) != seen:
            seen = settled(lesson)
            for line in watcher.round():
                say(line)
                if saved(lesson) != seen:
                    say("saved again")
                    break
        time.sleep(POLL_SECONDS)


def saved(lesson: Lesson) -> Saved:
    """Return when each file that an author writes was saved last, and its size."""
    files = [lesson.text, lesson.checks, lesson.hidden, *lesson.modules, *lesson.data]
    stats = [(path.name, path.stat()) for path in files if path.is_file()]
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats}


def settled(lesson: Lesson) -> Saved:
    """Return the same once nothing is being written any more: an editor may empty a file before it fills it."""
    before = Saved()
    while (now := saved(lesson)) != before:
        before = now
        time.sleep(SETTLE_SECONDS)
    return now


@dataclass
class Watcher:
    """What is known of a lesson from one save to the next.

    Args:
        course: the lesson's.
        lesson: which one.
        jobs: how many submissions are graded at once.
        ran: what ran last, and the notebook that came of it.
        proved: what was graded last without a problem.
    """

    course: Course
    lesson: Lesson
    jobs: int
    ran: tuple[Any, Any] | None = None
    proved: Any = None
    _began: float = field(default=0.0)

    def round(self) -> Iterator[str]:
        """Yield what one save comes to, a line at a time: what is quick comes first."""
        self._began = time.monotonic()
        try:
            yield from self._steps()
        except CourseError as error:
            yield str(error)
        except Exception as error:  # the author's own code; the next save may be better
            yield self.located(error)

    def _steps(self) -> Iterator[str]:
        cells = read_lesson(self.lesson)
        refuse_broken_syntax(self.lesson, cells)
        key = load_answer_key(lesson_source(self.lesson, cells))
        unproved = key.source.digest != self.proved
        problems = list(key_problems(key, cells, SEEDS)) if unproved else []
        yield from problems
        build(self.course, self.lesson, self.run, self.publish)
        yield f"built {self.lesson.name} {self.seconds()}"
        if unproved:
            graded = list(graded_submission_problems(package_of(self.lesson), solutions(cells), self.jobs, False))
            yield from graded
            problems += graded
            self.proved = None if problems else key.source.digest
        yield f"{'proved' if not problems else f'{len(problems)} to fix'} {self.seconds()}"

    def seconds(self) -> str:
        """Return how long the round has taken."""
        return f"({time.monotonic() - self._began:.1f} s)"

    def run(self, lesson: Lesson, cells: list[LessonCell]) -> Any:
        """Return the executed notebook; only what has changed since is new where nothing that runs has."""
        content = [solution_of(cell) for cell in cells if is_code(cell) or cell.kind == "check"]
        beside = [path.read_bytes() for path in sorted(lesson.source.glob("*")) if path.suffix != ".ipynb"]
        if self.ran is None or self.ran[0] != (content, beside):
            self.ran = (content, beside), execute(lesson, cells)
        notebook = solved_notebook(cells)
        before = [cell for cell in self.ran[1].cells if cell.cell_type == "code"]
        for cell, done in zip((c for c in notebook.cells if c.cell_type == "code"), before, strict=True):
            cell.outputs, cell.execution_count = done.outputs, done.execution_count
        return notebook

    def publish(self, _course: Course, lesson: Lesson) -> None:
        """Write what students get."""
        cells = read_lesson(lesson)
        shutil.copytree(lesson.source, lesson.released, dirs_exist_ok=True)
        points = load_answer_key(lesson_source(lesson, cells)).points()
        text = text_of(released_notebook(cells, points))
        (lesson.released / lesson.notebook).write_text(text, encoding="utf-8")

    def located(self, error: Exception) -> str:
        """Return an error with the place in the lesson's own files that it comes from."""
        said = f"{type(error).__name__}: {error}"
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            folder, _, file = frame.filename.rpartition("/")
            if folder == self.lesson.shown(self.lesson.folder):
                line = self.line_of_solution(frame.lineno or 0) if file == self.lesson.text.name else frame.lineno or 0
                return f"{at_line(frame.filename, line)}: {said}"
        return said

    def line_of_solution(self, line: int) -> int:
        """Return where a line of the reference, which is the setup and all solutions, is in lesson.py."""
        for cell in read_lesson(self.lesson):
            if cell.kind in ("setup", "exercise"):
                length = len(solution_of(cell).split("\n"))
                if line <= length:
                    return line_in_lesson(cell, line)
                line -= length + 1
        return 0
