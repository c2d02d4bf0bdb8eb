"""A lesson rebuilt and proved again whenever one of its files is saved, as fast as that goes.

First, the exercises that an edit concerns are proved. Then, the cells from the edit on run again, in a kernel that has
run those before it. A save in the meantime ends the round. What students get is written without nbgrader, which a test
proves to be equal.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from types import TracebackType

from ..errors import CourseError, LessonError
from ..grading.package import LessonPackage
from ..judging.answer_key import AnswerKey, load_answer_key
from ..paths import Course, Lesson, digest
from .build import build, fingerprints_text, refuse_broken_syntax
from .kernel import KeptKernel, Ran, fill_in
from .lesson import LessonCell, at_line, is_code, lesson_source, read_lesson, solution_of
from .lesson_package import package_with
from .located import located
from .notebook import Notebook, notebook_text, released_notebook, solved_notebook, tidy
from .part import Bases, part_of, proof_bases
from .sample_submissions import one_mistake_each, solutions
from .source import source_files
from .verify import graded_submission_problems, key_problems

POLL_SECONDS, SETTLE_SECONDS, SEEDS = 0.3, 0.1, 3
Saved = dict[str, tuple[int, int]]


def watch(course: Course, lesson: Lesson, jobs: int, say: Callable[[str], None]) -> None:
    """Build and prove a lesson now and after every save, until Ctrl-C."""
    seen = Saved()
    with Watcher(course, lesson, jobs) as watcher:
        while True:
            if saved(lesson) != seen:
                seen = settled(lesson)
                for line in watcher.round():
                    if line:
                        say(line)
                    if saved(lesson) != seen:
                        say("saved again")
                        break
                else:
                    next((True for _ in watcher.stand_by() if saved(lesson) != seen), None)
            time.sleep(POLL_SECONDS)


def saved(lesson: Lesson) -> Saved:
    """Return when each file that an author writes was saved last, and its size."""
    files = [lesson.lesson_py, lesson.checks_py, *lesson.secret_files, *lesson.module_files, *lesson.data_files]
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
        key: the answer key of the last round.
        bases: what each exercise's proof depended on then.
        proved: what it depended on when it was proved last.
        whole: what was graded as a whole without a problem.
        ran: what each code cell gave when all of them ran last.
    """

    course: Course
    lesson: Lesson
    jobs: int
    key: AnswerKey | None = None
    bases: Bases = field(default_factory=dict)
    proved: Bases = field(default_factory=dict)
    whole: str = ""
    ran: list[Ran] = field(default_factory=list)
    _began: float = field(default=0.0)
    _before_edit: tuple[list[LessonCell], list[str], dict[str, bytes]] | None = None

    def __post_init__(self) -> None:
        self._kernel = KeptKernel(self.lesson)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._kernel.close()

    def round(self) -> Iterator[str]:
        """Yield what one save comes to, a line at a time; '' is a moment at which the round can be left, no more.

        What is quick comes first.
        """
        self._began = time.monotonic()
        try:
            with located(self.lesson):
                yield from self._steps()
        except CourseError as error:
            yield str(error)
        except Exception as error:  # the next save may be better
            yield f"{type(error).__name__}: {error}"

    def _steps(self) -> Iterator[str]:
        cells = read_lesson(self.lesson)
        refuse_broken_syntax(self.lesson, cells)
        source = lesson_source(self.lesson, cells)
        key, bases = load_answer_key(source), proof_bases(source, cells)
        if self.key is not None:
            unchanged = [name for name, basis in bases.items() if basis == self.bases.get(name)]
            key.cache.take_over(self.key.cache, unchanged)
        self.key, self.bases = key, bases
        concerned = [name for name, basis in bases.items() if basis != self.proved.get(name)]
        package = package_with(key, cells, {path.name: path.read_bytes() for path in self.lesson.data_files})
        problems = []
        if concerned:
            part = part_of(package, cells, concerned)
            for problem in chain(key_problems(part.key, cells, SEEDS), self.graded(part, cells, mistakes=True)):
                problems.append(problem)
                yield problem
            if not problems:
                self.proved |= {name: bases[name] for name in concerned}
                yield f"proved {', '.join(concerned)} {self.seconds()}" if len(concerned) < len(bases) else ""
        notebook = solved_notebook(cells)
        yield from self._run(cells, notebook, package)
        build(self.course, self.lesson, lambda *_: notebook, self.publish, key)
        yield f"built {self.lesson.name} {self.seconds()}"
        if not problems and source.digest != self.whole:
            if len(concerned) < len(bases):
                problems = list(self.graded(package, cells, mistakes=False))
                yield from problems
            self.whole = "" if problems else source.digest
        yield f"{'proved' if not problems else f'{len(problems)} to fix'} {self.seconds()}"

    def graded(self, package: LessonPackage, cells: list[LessonCell], *, mistakes: bool) -> Iterator[str]:
        """Yield what is wrong with the points and messages of submissions made from the lesson."""
        right = {name: text for name, text in solutions(cells).items() if name in package.source.exercises}
        wrong = one_mistake_each(package, right) if mistakes else []
        return graded_submission_problems(package, right, wrong, self.jobs, demonstrations=False)

    def seconds(self) -> str:
        """Return how long the round has taken."""
        return f"({time.monotonic() - self._began:.1f} s)"

    def _run(self, cells: list[LessonCell], notebook: Notebook, package: LessonPackage) -> Iterator[str]:
        """Fill in the notebook's outputs. Cells run again from the first one on that differs from the last run's."""
        bases = cell_bases(self.lesson, cells, self.bases)
        before = [ran.basis for ran in self.ran]
        if bases != before:
            first, last = differing(before, bases)
            files = source_files(self.lesson, cells, package.key, fingerprints_text(package.key))
            del files[self.lesson.notebook_name]
            self._before_edit = cells, bases[: first or 1], files
            for number in self._kernel.run(cells, notebook, bases, files):
                more = 0 < number == last < len(bases)
                yield f"{self.place(cells, number)} runs {self.seconds()}" if more and before else ""
            self.ran = list(self._kernel.ran)
        fill_in(notebook, self.ran)
        tidy(notebook)

    def place(self, cells: list[LessonCell], number: int) -> str:
        """Return where the n-th code cell is."""
        return at_line(self.lesson.shown(self.lesson.lesson_py), runnable(cells)[number - 1].line)

    def stand_by(self) -> Iterator[int]:
        """Run the cells before the last edit in a fresh kernel, so that the next edit need not wait for them."""
        if self._before_edit:
            cells, bases, files = self._before_edit
            with contextlib.suppress(LessonError):
                yield from self._kernel.run(cells, solved_notebook(cells), bases, files)

    def publish(self, _course: Course, lesson: Lesson, folder: Path) -> None:
        """Write what students get."""
        cells = read_lesson(lesson)
        shutil.copytree(lesson.nbgrader_source_dir, folder)
        points = self.key.points() if self.key else {}
        text = notebook_text(released_notebook(cells, points))
        (folder / lesson.notebook_name).write_text(text, encoding="utf-8")


def runnable(cells: list[LessonCell]) -> list[LessonCell]:
    """Return the cells that become code cells of the notebook."""
    return [cell for cell in cells if is_code(cell) or cell.kind == "check"]


def cell_bases(lesson: Lesson, cells: list[LessonCell], bases: Bases) -> list[str]:
    """Return, for each code cell, all that its outputs depend on beside the cells before it.

    Args:
        lesson: the cells'.
        cells: all of them.
        bases: what each exercise's proof depends on: a check cell shows what came of it.
    """
    beside = digest(*lesson.module_files, *lesson.data_files)

    def basis(cell: LessonCell) -> str:
        further = beside if cell.kind == "setup" else bases[cell.name] if cell.kind == "check" else ""
        return repr((solution_of(cell), further))

    return [basis(cell) for cell in runnable(cells)]


def differing(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many items two sequences begin with in common, and where in the second one their common end begins."""
    common = sum(1 for _ in takewhile(bool, map(str.__eq__, before, after)))
    rest = zip(reversed(before[common:]), reversed(after[common:]), strict=False)
    return common, len(after) - sum(1 for _ in takewhile(bool, (a == b for a, b in rest)))
