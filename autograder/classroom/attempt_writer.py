"""What comes of attempts that are graded at hand-in: their record, the gradebook's rows, and pages to fetch."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..authoring.lesson_package import ensure_nbgrader_source, package_of
from ..authoring.nbgrader_course import load_config
from ..errors import CourseError, GradebookError, SubmissionError, UnreleasedError, escaped, one_line
from ..grading.grade import RECORD
from ..grading.package import LessonPackage
from ..paths import Course, Lesson
from .attempts import (
    FORGOTTEN,
    FULL,
    LEFT_OUT,
    OPEN,
    REFUSED,
    USED,
    Attempt,
    counting,
    course_of_copy,
    graded_attempts,
    points_in,
    read_attempts,
    write_attempts,
)
from .begun import Begun
from .deliveries import COLLECTED, COLLECTED_BEFORE, COMPUTERS_FAULT, Delivered, Files, is_everybodys
from .exchange import CollectPlainFiles
from .feedback import (
    NO_PAGE,
    PAGE_SECONDS,
    TOO_SLOW,
    WAITS,
    at_most,
    course_of_attempt,
    make_page,
    release_notice,
    remove_attempt,
)
from .gradebook import ensure_registered, open_gradebook
from .rules import BEST, Rules, duration, now_utc, rules_by_lesson, rules_now
from .submissions import (
    LATE,
    SECRET,
    TIMESTAMP,
    changing_submissions,
    files_beside,
    store_submission,
    submission_digest,
    time_in,
)
from .writer import GradebookWriter, read_notebook_record, write_notebook

MOST_NOTICES, NOTICE_SECONDS = 3, 10.0  # to one student within so long, of what is left out
LONG_PAUSE = timedelta(minutes=5)  # of which a student is told
LessonOfStudent = tuple[str, str]  # a lesson's name, a student's id
Say = Callable[[str], None]


@dataclass(frozen=True)
class Work:
    """An attempt that is being graded."""

    delivered: Delivered
    files: Files  # its files, by name
    rules: Rules  # the lesson's, as they were when it began
    long: bool = False  # whether it takes long, so that others go first
    again: bool = False  # whether it was graded before: what came of that stays until something else has

    @property
    def arrived(self) -> datetime:
        """When it arrived, UTC, as the system saw it."""
        return time_in(self.files.get(TIMESTAMP, b"").decode()) or self.delivered.arrived


class AttemptWriter:
    """Writes down what came of attempts, and lets their students have it.

    Attributes:
        withheld: whose pages do not explain hidden checks yet.
        begun: what is being graded, or explained.
    """

    def __init__(self, course: Course, exchange: CollectPlainFiles, say: Say) -> None:
        self._course, self._exchange, self._say = course, exchange, say
        self.withheld, self.begun = set[LessonOfStudent](), Begun(course)
        self._unreleased = set[LessonOfStudent]()  # of those, what this look could not release
        self._told = dict[str, float]()  # when students were last told that something was left out
        self._told_to_wait: dict[LessonOfStudent, str] = {}  # what waits for long, as its student knows
        self._prepared: dict[str, LessonPackage] = {}  # lessons that the gradebook knows as they are now

    def read_finished(self) -> dict[LessonOfStudent, set[str]]:
        """Return the names of what was finished before this process began; note whose pages are still withheld."""
        finished = {}
        for lesson in self._course.lessons():
            for path in self._course.attempts.glob(f"*/{lesson.name}.json"):
                who = lesson.name, path.parent.name
                try:
                    attempts = self._noted(lesson, path)
                except OSError as error:  # they are read again when their student hands in
                    self._say(f"{lesson.shown(path)} cannot be read ({one_line(str(error))}).")
                    continue
                if any(attempt.released == OPEN for attempt in attempts):
                    self.withheld.add(who)
                finished[who] = {attempt.delivery for attempt in attempts if attempt.finished}
        return finished

    def _noted(self, lesson: Lesson, path: Path, rules: Rules | None = None) -> list[Attempt]:
        """Return the attempts that a file holds. A damaged one is set aside; what counted stays."""
        try:
            return read_attempts(self._course, lesson, path.parent.name, rules)
        except CourseError:
            aside = path.replace(path.with_suffix(".damaged"))
            self._say(f"{lesson.shown(path)} is damaged and set aside as {aside.name}. What counted stays.")
            return []

    def attempts_of(self, lesson: Lesson, student: str) -> list[Attempt]:
        """Return a student's attempts, with a note of what was graded before this service was used, or is forgotten."""
        attempts = self._noted(lesson, self._course.attempts_of(lesson, student))
        known = any(attempt.note != FORGOTTEN for attempt in attempts)
        record = {} if known else read_notebook_record(self._course.graded_notebook(lesson, student), RECORD)
        if not record:
            return attempts
        handed_in = self._course.submission(lesson, student).with_name(TIMESTAMP)
        when = time_in(handed_in.read_text(encoding="utf-8").strip()) if handed_in.is_file() else None
        name = next((attempt.delivery for attempt in attempts if attempt.status == USED), COLLECTED)
        before = Attempt(name, when.isoformat() if when else "", released=FULL)
        before = replace(before, submission=record["submission"], **points_in(record))
        write_attempts(self._course, lesson, student, before)
        return read_attempts(self._course, lesson, student)

    def leave_out(self, lesson: Lesson, student: str, left_out: Sequence[tuple[Delivered, str]]) -> None:
        """Tell a student that attempts are not graded, and record it."""
        now = time.monotonic()
        told = left_out[-MOST_NOTICES:] if now >= self._told.get(student, 0.0) + NOTICE_SECONDS else []
        self._told |= {student: now} if told else {}
        for delivered, why in told:
            self._say(f"{escaped(student)}  {lesson.name}  left out  {why}")
            if why != COLLECTED_BEFORE:
                self.release_notice(lesson, student, delivered.way_back(), why)
        new = []
        for each, why in left_out:
            copy = submission_digest(course_of_copy(self._course, student, each.name), lesson, student)
            new.append(Attempt(each.name, each.arrived.isoformat(), LEFT_OUT, why, copy))
        write_attempts(self._course, lesson, student, *new)

    def tell_to_wait(self, delivered: Delivered, until: datetime, rules: Rules) -> None:
        """Tell a student, once, when an attempt is graded that has to wait for long."""
        lesson, student = delivered.lesson, delivered.student
        waits = until - delivered.arrived
        if waits < LONG_PAUSE or self._told_to_wait.get((lesson.name, student)) == delivered.name:
            return
        if time.monotonic() < self._told.get(student, 0.0) + NOTICE_SECONDS:
            return
        self._told_to_wait[lesson.name, student] = delivered.name
        when, pause = rules.shown(until), duration(waits.total_seconds())
        self._say(f"{escaped(student)}  {lesson.name}  waits until {when}")
        why = f"{WAITS}at {when}, {pause} after handing in. What you hand in before then takes its place."
        self.release_notice(lesson, student, delivered.way_back(), why)

    def refuse_unread(self, delivered: Delivered, error: SubmissionError) -> None:
        """Record that what arrived cannot be read, and tell its student."""
        attempt = Attempt(delivered.name, delivered.arrived.isoformat(), REFUSED, one_line(str(error)))
        self.release_notice(delivered.lesson, delivered.student, delivered.way_back(), str(error))
        write_attempts(self._course, delivered.lesson, delivered.student, attempt)
        self._say(f"left out   {escaped(delivered.name)}: {error}")

    def refuse(self, work: Work, error: Exception) -> None:
        """Record that a person has to look, keep what nobody has seen, and tell its student."""
        lesson, student = work.delivered.lesson, work.delivered.student
        kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
        note = kind + one_line(str(error))
        if work.again:
            self._say(f"{escaped(student)}  {lesson.name}  not graded again until a restart: {note}")
            return
        shown = note if isinstance(error, SubmissionError) else "It could not be graded. Your teacher can see why."
        with changing_submissions(self._course):
            if not self._course.submission(lesson, student).parent.exists():
                store_submission(self._course, lesson, student, work.files)
        self.release_notice(lesson, student, work.files, shown)
        ran = not isinstance(error, (SubmissionError, *COMPUTERS_FAULT))  # which counts as an attempt
        digest = sha256(work.files[lesson.notebook_name]).hexdigest() if ran else ""
        attempt = Attempt(work.delivered.name, work.arrived.isoformat(), REFUSED, note, digest)
        write_attempts(self._course, lesson, student, attempt)
        self._say(f"{escaped(student)}  {lesson.name}  needs a person  {note}")

    def write(self, work: Work, text: str) -> bool:
        """Record a graded attempt; where it counts, write the gradebook; release its page; return whether it counts."""
        lesson, student, notebook = work.delivered.lesson, work.delivered.student, json.loads(text)
        attempt = self._record(work, notebook["metadata"][RECORD])
        attempts = read_attempts(self._course, lesson, student, work.rules)
        counts = counting(attempts, work.rules.counts == BEST) == attempt
        target = self._course if counts else course_of_attempt(self._course, lesson, student)
        with changing_submissions(self._course):
            store_submission(target, lesson, student, work.files)
            if counts:
                try:
                    self._save(work, notebook)
                except GradebookError:
                    self._prepared.clear()
                    raise
            write_notebook(target, lesson, student, text)
        attempt = replace(attempt, released=self.release(target, lesson, student, work.rules))
        write_attempts(self._course, lesson, student, attempt, again=True)
        if attempt.released == OPEN:
            self.withheld.add((lesson.name, student))
        remove_attempt(target)
        took = (now_utc() - work.delivered.arrived).total_seconds()
        points = f"{attempt.points:g} of {attempt.of}{'' if counts else ', does not count'}"
        number = len(graded_attempts(attempts))
        self._say(f"{escaped(student)}  {lesson.name}  attempt {number}: {points}  ({took:.1f} s after handing in)")
        return counts

    def _record(self, work: Work, record: Mapping[str, Any]) -> Attempt:
        """Write down what an attempt earned; return it."""
        lesson, student = work.delivered.lesson, work.delivered.student
        earned = points_in(record)
        before = {each.delivery: each.released for each in read_attempts(self._course, lesson, student)}
        released = before.get(work.delivered.name, "")  # until the new page takes the old one's place
        about = (work.delivered.name, work.arrived.isoformat())
        attempt = Attempt(*about, submission=record["submission"], **earned, released=released)
        flags = [str(flag) for flag in record.get("flags", [])]
        attempt = replace(attempt, timed=TIMESTAMP in work.files, late=LATE in work.files, flags=flags)
        write_attempts(self._course, lesson, student, attempt, again=work.again)
        return replace(attempt, penalty=attempt.penalty_by(work.rules, student))

    def _save(self, work: Work, notebook: Mapping[str, Any]) -> None:
        """Write the gradebook's rows."""
        lesson = work.delivered.lesson
        with open_gradebook(self._course) as gradebook:
            if self._prepared.get(lesson.name) is not (package := package_of(lesson)):
                ensure_registered(gradebook, package)
                ensure_nbgrader_source(lesson)
                self._prepared[lesson.name] = package
            writer = GradebookWriter(gradebook, load_config(self._course.root), lesson.name)
            timestamp = time_in(work.files.get(TIMESTAMP, b"").decode())
            writer.save(work.delivered.student, notebook, timestamp, LATE in work.files)

    def release(self, target: Course, lesson: Lesson, student: str, rules: Rules) -> str:
        """Make a student's feedback and release it; return which one it is, `open` or `full`.

        Raises:
            GradebookError: the gradebook is away; once it is back, there can be a page.
            UnreleasedError: there is one, and the exchange does not take it now.
        """
        try:
            self._make_page(target, lesson, student)
        except GradebookError:
            raise
        except (CourseError, OSError) as error:
            why = one_line(str(error))
            self._say(f"{escaped(student)}  {lesson.name}  no feedback: {why}")
            self.release_notice(lesson, student, files_beside(target, lesson, student), f"{NO_PAGE}{why}")
            return FULL
        if target.feedback_page(lesson, student).with_name(SECRET).is_file():  # it came through the exchange
            try:
                self._exchange.release(lesson, student, target.feedback)
            except (CourseError, OSError) as error:
                raise UnreleasedError(str(error)) from error
        return FULL if rules.explains_hidden(now_utc()) else OPEN

    def _make_page(self, target: Course, lesson: Lesson, student: str) -> None:
        """Make a page; once more where nbgrader could not, because the gradebook may have been cut off."""
        for last in (False, True):
            try:
                with at_most(PAGE_SECONDS):
                    make_page(target, lesson, student)
                return
            except CourseError as error:
                if last or TOO_SLOW in str(error):
                    raise
                rules_now(self._course, lesson.name)  # raises while the gradebook is away

    def release_notice(self, lesson: Lesson, student: str, files: Files, why: str) -> None:
        """Release a page that says why there is no feedback."""
        try:
            release_notice(self._course, lesson, student, files, why, self._exchange.release)
        except (CourseError, OSError) as error:
            self._say(f"{escaped(student)}  {lesson.name}  not told why: {one_line(str(error))}")

    def explain_one_that_is_due(self) -> bool:
        """Release one full page of a lesson that nobody can hand in any more; say whether there was one."""
        rules = rules_by_lesson(self._course, {name for name, _ in self.withheld})
        for name, student in sorted(self.withheld - self._unreleased):
            if rules[name].explains_hidden(now_utc()):
                self.withheld.discard((name, student))
                try:
                    with self.begun.noting(f"{name} {student}"):
                        self._explain(self._course.lesson(name), student, rules[name])
                except Exception as error:
                    later = is_everybodys(error) or isinstance(error, UnreleasedError)
                    self.withheld |= {(name, student)} if later else set()
                    if is_everybodys(error):
                        raise
                    self._unreleased.add((name, student))
                    when = "now" if later else "until a restart"
                    self._say(f"{escaped(student)}  {name}  not explained {when}: {one_line(str(error))}")
                return True
        self._unreleased.clear()
        return False

    def _explain(self, lesson: Lesson, student: str, rules: Rules) -> None:
        attempts = self._noted(lesson, self._course.attempts_of(lesson, student), rules)
        for attempt in attempts:
            if attempt == counting(attempts, rules.counts == BEST):
                self.release(self._course, lesson, student, rules)
                self._say(f"{escaped(student)}  {lesson.name}  feedback with hidden checks is released")
            if attempt.released == OPEN:
                write_attempts(self._course, lesson, student, replace(attempt, released=FULL), again=True)
