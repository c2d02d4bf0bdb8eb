"""Grading a class: reads what is new or changed, has it graded side by side, and writes results as they come."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any

from tqdm import tqdm
from traitlets.config import Config

from ..authoring.lesson_package import ensure_nbgrader_source, package_of
from ..authoring.nbgrader_course import load_config
from ..errors import (
    ClusterError,
    CourseError,
    NoSandboxError,
    ScarcityError,
    SubmissionError,
    command,
    escaped,
    one_line,
)
from ..grading.grade import RECORD, grade
from ..grading.launch import is_in_view
from ..grading.package import LessonPackage
from ..grading.sandbox import shared_sandbox, unavailable_reason
from ..grading.sandbox.pool import stopping
from ..grading.submission import Submission
from ..paths import Course, Lesson
from .database import UNUSABLE
from .gradebook import SubmissionScore, ensure_registered, open_gradebook, scores_by_student
from .preprocessors import GradeSubmission
from .rules import enter_due_date
from .submissions import (
    changing_submissions,
    handed_in,
    read_submission,
    record_refusal,
    refusal_of,
    submission_digest,
)
from .writer import GradebookWriter, read_notebook_record, write_notebook

PREFETCH = 2  # submissions that are read while the workers are busy
GRADED, AS_BEFORE, NEEDS_PERSON = "graded", "as before", "needs a person"
QUESTIONS_WAIT = "questions wait for a person's grade"
CHANGED = "an answer has changed since a person gave it points: look at it in Formgrader"


@dataclass(frozen=True)
class StudentResult:
    """One line of the closing table."""

    student: str
    lesson: str
    status: str
    score: float | None = None
    max_score: float | None = None
    note: str = ""

    @property
    def needs_person(self) -> bool:
        """Whether this submission could not be graded."""
        return self.status == NEEDS_PERSON


def grade_lesson(
    course: Course,
    lesson: Lesson,
    *,
    force: bool = False,
    jobs: int = 1,
    options: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
) -> list[StudentResult]:
    """Grade a lesson's submissions that are new or changed; one student's trouble never stops another's grade.

    Args:
        course: where the submissions are.
        lesson: which lesson.
        force: grade again what is graded already.
        jobs: how many submissions run at once.
        options: settings of GradeSubmission for this run, such as the seed of an earlier one.
        executor: runs the submissions, in place of `jobs` threads; any of `concurrent.futures`.

    Raises:
        NoSandboxError: submissions cannot be isolated here, and the settings do not allow to go on without that.
        CourseError: the lesson or the gradebook cannot be used.
    """
    settings = grading_settings(course, options, jobs, executor)
    students = course.students(lesson)
    if executor is None and students and not unavailable_reason():
        shared_sandbox()  # takes seconds; goes on beside what follows
    grading = partial(GradingRun.all, executor=executor, jobs=jobs)
    return write_results(course, lesson, settings, grading, force=force)


def write_results(
    course: Course,
    lesson: Lesson,
    settings: GradeSubmission,
    results_of: Callable[[GradingRun, Sequence[str]], dict[str, StudentResult]],
    *,
    force: bool = False,
) -> list[StudentResult]:
    """Have results written of what is new or changed, or of all if that is forced; return everybody's by student."""
    package, students = package_of(lesson), course.students(lesson)
    with open_gradebook(course) as gradebook:
        ensure_registered(gradebook, package)
        ensure_nbgrader_source(lesson)
        known = scores_by_student(gradebook, lesson.name).keys()
        blank = settings.submission(b"", package)
        current = partial(is_current, course, lesson, package=package, rules=blank.rules)
        new = [s for s in students if force or s not in known or not current(s)]
        run = GradingRun(course, lesson, blank, GradebookWriter(gradebook, load_config(course.root), lesson.name))
        results = {s: StudentResult(s, lesson.name, AS_BEFORE) for s in students if s not in new}
        results |= {} if force else refused_before(course, lesson, new, package)
        results |= results_of(run, [s for s in new if s not in results])
        return with_scores(course, lesson, gradebook, results)


def grading_settings(
    course: Course, options: Mapping[str, Any] | None, jobs: int, executor: Executor | None
) -> GradeSubmission:
    """Return the settings of one run. Raises CourseError where nothing can be graded, or not safely, with them."""
    if jobs < 1:
        raise CourseError(f"--jobs {jobs}: at least one submission has to run at a time.")
    settings = GradeSubmission(config=merged(load_config(course.root), options or {}))
    refuse_unsafe(course, settings, executor)
    return settings


def refuse_unsafe(course: Course, settings: GradeSubmission, executor: Executor | None) -> None:
    """Raise where submissions cannot be isolated, unless that is allowed, or where they could read the course."""
    if executor is None and unavailable_reason() and not settings.allow_unsandboxed:
        raise NoSandboxError(unavailable_reason())
    if is_in_view(course.root):
        raise CourseError(
            f"{course.root} is among Python's or the system's own folders, which submissions can read: move it."
        )


def register(course: Course, lesson: Lesson) -> None:
    """Enter a lesson into the gradebook, and give nbgrader the source that it lists."""
    with open_gradebook(course) as gradebook:
        ensure_registered(gradebook, package_of(lesson))
        enter_due_date(gradebook, load_config(course.root), lesson.name)
        ensure_nbgrader_source(lesson)


def merged(config: Config, options: Mapping[str, Any]) -> Config:
    """Return what nbgrader_config.py sets for grading, with this run's options."""
    return Config(GradeSubmission={**config.get("GradeSubmission", {}), **options})


@contextmanager
def noticing_interrupts() -> Iterator[threading.Event]:
    """Give an event that is set by Ctrl-C: Python swallows the KeyboardInterrupt where it falls into a destructor."""
    seen, before = threading.Event(), signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield seen
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.set()
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def workers(executor: Executor | None, jobs: int) -> Iterator[Executor]:
    """Give the executor, or threads of our own, which end with the run: at once where it was stopped."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        except BaseException:
            with stopping():
                pool.shutdown(cancel_futures=True)
            raise


@dataclass(frozen=True)
class GradingRun:
    """One run over a lesson's submissions."""

    course: Course  # where submissions are read and graded notebooks are written
    lesson: Lesson
    template: Submission  # a submission with all but the notebook
    writer: GradebookWriter | None  # writes the gradebook, here alone; None where only graded notebooks are wanted

    def all(self, students: Sequence[str], executor: Executor | None, jobs: int) -> dict[str, StudentResult]:
        """Grade all of these, with a progress bar; return what came out, by student."""
        results = {}
        progress = tqdm(total=len(students), unit="submission", disable=None)
        with noticing_interrupts() as interrupted, workers(executor, jobs) as pool, progress as bar:
            for result in self.results(pool, students, lambda: int(getattr(pool, "at_once", jobs + PREFETCH))):
                results[result.student] = result
                bar.update()
                if interrupted.is_set():
                    raise KeyboardInterrupt
        return results

    def results(self, pool: Executor, students: Sequence[str], at_once: Callable[[], int]) -> Iterator[StudentResult]:
        """Yield one result per student as they come. A few submissions are under way at a time, not a whole class.

        One that was ended for want of memory runs again when all others are done, alone.
        """
        alone: list[str] = []
        yield from self._round(pool, students, at_once, alone)
        for student in alone:
            again: list[str] = []
            yield from self._round(pool, [student], lambda: 1, again)
            for _ in again:
                yield self.failed(
                    student, CourseError("it takes all of the computer's memory, even when it runs alone")
                )

    def _round(
        self, pool: Executor, students: Sequence[str], at_once: Callable[[], int], alone: list[str]
    ) -> Iterator[StudentResult]:
        waiting, running = list(reversed(students)), dict[Future[str], tuple[str, Submission]]()
        try:
            while waiting or running:
                while waiting and len(running) < at_once():
                    student = waiting.pop()
                    try:
                        submission = self.submission(student)
                        running[pool.submit(grade, submission)] = student, submission
                    except SubmissionError as error:
                        yield self.failed(student, error)
                for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                    student, submission = running.pop(future)
                    if isinstance(future.exception(), ScarcityError):
                        alone.append(student)
                    else:
                        yield self.written(student, submission, future.result)
        finally:
            for future in running:
                future.cancel()

    def submission(self, student: str) -> Submission:
        """Read what a student handed in. Raises SubmissionError where there is nothing of this lesson."""
        return replace(self.template, notebook=read_submission(self.course, self.lesson, student))

    def written(self, student: str, submission: Submission, result: Callable[[], str]) -> StudentResult:
        """Write one student's result down, or say why that is not possible; the others go on either way."""
        try:
            text = result()
            with changing_submissions(self.course):
                if self.writer:
                    self._refuse_replaced(student, submission)
                    self.writer.save(student, json.loads(text), *handed_in(self.course, self.lesson, student))
                write_notebook(self.course, self.lesson, student, text)
        except (NoSandboxError, ClusterError, *UNUSABLE):  # the next submission would fare no better
            raise
        except SubmissionError as error:
            package = submission.lesson
            record_refusal(self.course, self.lesson, student, package, submission.notebook, str(error))
            return self.failed(student, error)
        except Exception as error:
            return self.failed(student, error)
        return StudentResult(student, self.lesson.name, GRADED)

    def _refuse_replaced(self, student: str, submission: Submission) -> None:
        """Raise CourseError where another submission has come in while this one was graded."""
        now = submission_digest(self.course, self.lesson, student)
        if now and now != hashlib.sha256(submission.notebook).hexdigest():
            raise CourseError(f"handed in again while it was graded: `{command('grade')}` grades that")

    def failed(self, student: str, error: Exception) -> StudentResult:
        """Return the result of a submission that a person has to look at."""
        kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
        return StudentResult(student, self.lesson.name, NEEDS_PERSON, note=kind + one_line(str(error)))


def refused_before(
    course: Course, lesson: Lesson, students: Sequence[str], package: LessonPackage
) -> dict[str, StudentResult]:
    """Return the results of those whose submission could not be read, and is the same as then."""
    reasons = {student: refusal_of(course, lesson, student, package) for student in students}
    return {s: StudentResult(s, lesson.name, NEEDS_PERSON, note=one_line(why)) for s, why in reasons.items() if why}


def is_current(course: Course, lesson: Lesson, student: str, package: LessonPackage, rules: str = "") -> bool:
    """Say whether a submission was graded completely, as it is now, with the lesson as it is now.

    The rules are those by which it would be graded now; '' where any will do.
    """
    record = read_notebook_record(course.graded_notebook(lesson, student), RECORD)
    if record.get("lesson") != package.digest or (rules and record.get("rules") != rules):
        return False
    digest = submission_digest(course, lesson, student)
    return bool(digest) and record.get("submission") == digest


def with_scores(
    course: Course, lesson: Lesson, gradebook: Any, results: Mapping[str, StudentResult]
) -> list[StudentResult]:
    """Return the results by student, with the gradebook's points and what a person should look at."""
    scores = scores_by_student(gradebook, lesson.name)
    return [
        result
        if result.needs_person or student not in scores  # a graded notebook whose row is gone with another gradebook
        else replace(
            result,
            score=scores[student].score,
            max_score=scores[student].max_score,
            note="; ".join(needing_attention(course, lesson, scores[student])),
        )
        for student, result in sorted(results.items())
    ]


def needing_attention(course: Course, lesson: Lesson, submission: SubmissionScore) -> list[str]:
    """Return what a person should look at: what grading found, and questions without a grade."""
    record = read_notebook_record(course.graded_notebook(lesson, submission.student_id), RECORD)
    changed = [CHANGED] * submission.changed_since
    questions = [QUESTIONS_WAIT] * bool(submission.needs_manual_grade and not changed)
    return [*map(str, record.get("flags", [])), *changed, *questions]


def closing_table(results: Sequence[StudentResult]) -> list[str]:
    """Return the closing table as text; those who need a person come last, where they are seen."""
    if not results:
        return [f"No submissions. `{command('collect --lesson … --from …')}` brings them in."]
    results = sorted(results, key=lambda result: result.needs_person)
    names = [escaped(result.student) for result in results]
    width, lines = max(map(len, names)), []
    for name, result in zip(names, results, strict=True):
        score = "" if result.score is None else f"{result.score:g}/{result.max_score:g}"
        columns = f"{name:<{width}}  {result.lesson}  {result.status:<14}  {score:>7}  {result.note}"
        lines.append(columns.rstrip())
    failed = sum(result.needs_person for result in results)
    ungraded = sum(QUESTIONS_WAIT in result.note for result in results)
    questions = f" {ungraded} have questions to grade by hand, in Formgrader." if ungraded else ""
    return [*lines, f"{len(results) - failed} graded, {failed} need a person.{questions}"]
