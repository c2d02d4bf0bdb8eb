"""A class in parts: each task of a job array grades one shard into a folder of its own, and a merge takes them all.

A shard writes graded notebooks and nothing else: no gradebook, which tasks would contend for, and which SQLite cannot
keep safely on many network file systems. The gradebook's rows follow from the notebooks, and the merge writes them as
any run does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import load_config
from ..authoring.source import ensure_nbgrader_source
from ..errors import CourseError, SubmissionError, command, escaped, options
from ..grading.grade import RECORD
from ..grading.package import LessonPackage
from ..paths import Course, Lesson
from .gradebook import ensure_registered, open_gradebook, scores_by_student
from .run import AS_BEFORE, GradingRun, StudentResult, grade_lesson, grading_settings, is_current, refused_before
from .submissions import handed_in, submission_digest, why_not_gradable
from .writer import GradebookWriter, read_notebook_record, write_notebook

MOST_NAMED = 5
MERGED, SAME = "merged", "as before"
DAMAGED = "cannot be read; copy it again"
NO_WORK = "is of a submission that is not here"
OTHER_WORK = "is of another submission than the one here; grade it again"
OTHER_LESSON = "is of another version of the lesson; grade it again"
GRADED_HERE = f"differs from what was graded here; `{command('merge --force')}` takes it all the same"


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
        raise CourseError(f"{options(f'--shard {text}')}: write it as 2/8, the second of eight parts.")
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


@dataclass
class MergeReport:
    """What a merge took, and what it left and why.

    Attributes:
        lesson: the lesson's name.
        merged: whose results were written.
        same: whose results had been written before.
        left: who has no grade, or another one than a shard's, by reason.
    """

    lesson: str
    merged: set[str] = field(default_factory=set)
    same: set[str] = field(default_factory=set)
    left: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the report as text: a line for each reason, with the first few students that it holds for."""
        count = sum(map(len, self.left.values()))
        same = len(self.same - self.merged)
        return [f"{self.lesson}: {len(self.merged)} merged, {same} as before, {count} left", *self._reasons()]

    def _reasons(self) -> Iterator[str]:
        for reason, students in sorted(self.left.items()):
            more = f" and {len(students) - MOST_NAMED} more" if len(students) > MOST_NAMED else ""
            yield f"  {', '.join(map(escaped, students[:MOST_NAMED]))}{more}: {reason}"


def merge(course: Course, lesson: Lesson, *, force: bool = False) -> MergeReport:
    """Write what shards have graded into the gradebook, and their graded notebooks beside the others.

    What was graded here meanwhile stays, unless that is forced, and so do points and comments that a person has given.

    Raises:
        CourseError: no shard is there, or the gradebook cannot be used.
    """
    shards = shards_in(course)
    if not shards:
        where = lesson.shown(course.shards)
        raise CourseError(
            f"{where}/ has no shard to merge. `{command('grade --shard 1/8')}` grades the first of eight."
        )
    package, report, stale = package_of(lesson), MergeReport(lesson.name), dict[str, str]()
    with open_gradebook(course) as gradebook:
        ensure_registered(gradebook, package)
        ensure_nbgrader_source(lesson)
        writer = GradebookWriter(gradebook, load_config(course.root), lesson.name)
        merging = Merging(course, lesson, package, writer, scores_by_student(gradebook, lesson.name).keys(), force)
        for student, shard, path in merging.results(shards):
            outcome = merging.take(student, path)
            if outcome in (MERGED, SAME):
                (report.merged if outcome == MERGED else report.same).add(student)
            else:
                stale[student] = f"the result in shard {shard.number}/{shard.of} {outcome}"
    for student in sorted({*course.students(lesson), *stale}):
        if not is_current(course, lesson, student, package) or GRADED_HERE in stale.get(student, ""):
            reason = stale.get(student) or why_missing(course, lesson, student, shards)
            report.left.setdefault(reason, []).append(student)
    return report


def shards_in(course: Course) -> list[Shard]:
    """Return the shards that have a folder."""
    folders = (re.fullmatch(r"(\d+)-of-(\d+)", path.name) for path in course.shards.glob("*-of-*"))
    shards = (Shard(int(folder[1]), int(folder[2])) for folder in folders if folder)
    return sorted(shards, key=lambda shard: (shard.of, shard.number))


def why_missing(course: Course, lesson: Lesson, student: str, shards: Sequence[Shard]) -> str:
    """Say why a student who has handed in has no grade."""
    counts = sorted({shard.of for shard in shards})
    own = [f"{number}/{of}" for of in counts for number in range(1, of + 1) if student in Shard(number, of)]
    return why_not_gradable(course, lesson, student) or f"no result in shard {' or '.join(own)}; grade it"


@dataclass(frozen=True)
class Merging:
    """One merge of one lesson."""

    course: Course  # where submissions are and results go
    lesson: Lesson
    package: LessonPackage  # the lesson as it is now
    writer: GradebookWriter  # writes the gradebook
    known: Collection[str]  # who is in the gradebook
    force: bool  # take a result also where the same work was graded here

    def results(self, shards: Sequence[Shard]) -> list[tuple[str, Shard, Path]]:
        """Return all shards' graded notebooks by student, in the order in which one run would have written them."""
        pattern = f"*/{self.lesson.name}/{self.lesson.notebook_name}"
        folders = ((shard, replace(self.course, shard=shard.name).autograded) for shard in shards)
        results = [(path.parents[1].name, shard, path) for shard, folder in folders for path in folder.glob(pattern)]
        return sorted(results, key=lambda result: result[0])

    def take(self, student: str, path: Path) -> str:
        """Write one result down, unless something speaks against it; return MERGED, SAME, or what that is."""
        try:
            text = path.read_text(encoding="utf-8")
            notebook = json.loads(text)
            record = dict(notebook["metadata"][RECORD])
        except (OSError, ValueError, KeyError, TypeError):
            return DAMAGED
        if problem := self._problem(student, record):
            return problem
        if student in self.known and is_current(self.course, self.lesson, student, self.package):
            graded_here = read_notebook_record(self.course.graded_notebook(self.lesson, student), RECORD)
            if timeless(graded_here) == timeless(record):
                return SAME
            if not self.force:
                return GRADED_HERE
        try:
            when = handed_in(self.course, self.lesson, student)
        except SubmissionError as error:
            return f"cannot be taken: {error}"
        self.writer.save(student, notebook, *when)
        write_notebook(self.course, self.lesson, student, text)
        return MERGED

    def _problem(self, student: str, record: Mapping[str, Any]) -> str:
        """Say why a result is not one of what was handed in here, with the lesson as it is here; '' where it is."""
        if not self.course.submission(self.lesson, student).is_file():
            return NO_WORK
        if record.get("submission") != submission_digest(self.course, self.lesson, student):
            return OTHER_WORK
        return "" if record.get("lesson") == self.package.digest else OTHER_LESSON


def timeless(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without how long grading took."""
    return {key: value for key, value in record.items() if key != "seconds"}
