"""A class in parts: each task of a job array grades one shard into a folder of its own, and a merge takes them all.

A shard writes graded notebooks and nothing else: no gradebook, which tasks would contend for, and which SQLite cannot
keep safely on many network file systems. The gradebook's rows follow from the notebooks, and the merge writes them as
any run does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import load_config
from ..errors import CourseError, command
from ..grading.grade import RECORD
from ..paths import Course, Lesson
from .preprocessors import GradeSubmission
from .run import (
    AS_BEFORE,
    GradingRun,
    StudentResult,
    grade_lesson,
    grading_settings,
    is_current,
    refused_before,
    write_results,
)
from .submissions import submission_digest, why_not_gradable
from .writer import read_notebook_record

DAMAGED = "cannot be read; copy it again"
OTHER_WORK = "is of another submission than the one here; grade it again"
OTHER_LESSON = "is of another version of the lesson; grade it again"


@dataclass(frozen=True)
class Shard:
    """One part of a class: who belongs to it depends on the student's id alone, so no list has to be agreed on."""

    number: int
    of: int

    @property
    def name(self) -> str:
        """The shard's folder."""
        return f"{self.number}-of-{self.of}"

    def __contains__(self, student: str) -> bool:
        """Say whether a student belongs to this shard."""
        return int(hashlib.sha256(student.encode()).hexdigest(), 16) % self.of == self.number - 1


def shard_from(text: str) -> Shard:
    """Return the shard that `2/8` means. Raises CourseError for what means none."""
    parts = re.fullmatch(r"(\d+)/(\d+)", text)
    number, of = map(int, parts.groups()) if parts else (0, 0)
    if not 1 <= number <= of:
        raise CourseError(f"--shard {text}: write it as 2/8, the second of eight parts.")
    return Shard(number, of)


def grader_of(shard: str | None) -> Callable[..., list[StudentResult]]:
    """Return what grades a lesson: all of it, or the part that `2/8` means."""
    return partial(grade_shard, shard=shard_from(shard)) if shard else grade_lesson


def grade_shard(
    course: Course,
    lesson: Lesson,
    *,
    shard: Shard,
    force: bool = False,
    jobs: int = 1,
    options: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
) -> list[StudentResult]:
    """Grade one part of a lesson's submissions into a folder of its own. A task that is started again goes on.

    It takes and raises what `grade_lesson` does. With the same seed in the options, all shards draw the same inputs.
    """
    settings = grading_settings(course, options, jobs, executor)
    package, own = package_of(lesson), replace(course, shard=shard.name)
    students = [student for student in course.students(lesson) if student in shard]
    courses = (course, own)  # where a submission may have been graded
    blank = settings.submission(b"", package)
    current = partial(is_current, lesson=lesson, package=package, rules=blank.rules)
    new = [s for s in students if force or not any(current(folder, student=s) for folder in courses)]
    results = {s: StudentResult(s, lesson.name, AS_BEFORE) for s in students if s not in new}
    results |= {} if force else refused_before(own, lesson, new, package)
    results |= GradingRun(own, lesson, blank, None).all([s for s in new if s not in results], executor, jobs)
    own.autograded.mkdir(parents=True, exist_ok=True)  # a shard without students is there, too
    return [with_points(result, courses, lesson) for _, result in sorted(results.items())]


def with_points(result: StudentResult, courses: Sequence[Course], lesson: Lesson) -> StudentResult:
    """Return a result with the points that its graded notebook records. Questions have none yet."""
    records = (
        read_notebook_record(course.graded_notebook(lesson, result.student), RECORD) for course in reversed(courses)
    )
    record = next(filter(None, records), {})
    if result.needs_person or not record:
        return result
    verdicts = record["verdicts"].values()
    score, most = (sum(verdict[key] for verdict in verdicts) for key in ("points", "of"))
    return replace(result, score=score, max_score=most, note="; ".join(map(str, record["flags"])))


def merge(course: Course, lesson: Lesson, *, force: bool = False) -> list[StudentResult]:
    """Write what shards have graded into the gradebook, and their graded notebooks beside the others.

    What was graded here meanwhile stays, unless that is forced, and so do points and comments that a person has given.

    Returns:
        A result for each student, with the reason where no shard's notebook could be taken.

    Raises:
        CourseError: no shard is there, or the gradebook cannot be used.
    """
    folders = (re.fullmatch(r"(\d+)-of-(\d+)", path.name) for path in course.shards.glob("*-of-*"))
    shards = [Shard(int(folder[1]), int(folder[2])) for folder in folders if folder]
    if not shards:
        where = lesson.shown(course.shards)
        raise CourseError(
            f"{where}/ has no shard to merge. `{command('grade --shard 1/8')}` grades the first of eight."
        )

    def merged(run: GradingRun, students: Sequence[str]) -> dict[str, StudentResult]:
        return {student: result_of(run, student, shards) for student in students}

    settings = GradeSubmission(config=load_config(course.root))
    return write_results(course, lesson, settings, merged, force=force)


def result_of(run: GradingRun, student: str, shards: Sequence[Shard]) -> StudentResult:
    """Write down what a shard has made of a student's submission, or say why there is nothing to write."""
    course, lesson, package = run.course, run.lesson, run.template.lesson
    try:
        submission = run.submission(student)
        text = text_in_shards(run, student, shards)
    except CourseError as error:
        if is_current(course, lesson, student, package):
            return StudentResult(student, lesson.name, AS_BEFORE)
        return run.failed(student, error)
    return run.written(student, submission, lambda: text)


def text_in_shards(run: GradingRun, student: str, shards: Sequence[Shard]) -> str:
    """Return a graded notebook of what a student has handed in here, with the lesson as it is here.

    Raises CourseError where no shard has one, with the reason.
    """
    lesson, reason = run.lesson, ""
    wanted = submission_digest(run.course, lesson, student)
    for shard in shards:
        path = replace(run.course, shard=shard.name).graded_notebook(lesson, student)
        if not path.is_file():
            continue
        text, record = path.read_text(encoding="utf-8", errors="replace"), read_notebook_record(path, RECORD)
        if record.get("submission") == wanted and record.get("lesson") == run.template.lesson.digest:
            return text
        problem = DAMAGED if not record else OTHER_LESSON if record.get("submission") == wanted else OTHER_WORK
        reason = f"the result in shard {shard.number}/{shard.of} {problem}"
    counts = sorted({shard.of for shard in shards})
    own = [f"{number}/{of}" for of in counts for number in range(1, of + 1) if student in Shard(number, of)]
    missing = f"no result in shard {' or '.join(own)}; grade it"
    raise CourseError(reason or why_not_gradable(run.course, lesson, student) or missing)
