"""Grading at the moment of handing in: what arrives is graded, and its student can fetch the feedback seconds later.

One process at a time does that for a course. Whatever moment it is killed at, the next one goes on from the files: an
attempt is finished when its record says that its feedback is released, and is graded anew before that.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from tqdm import tqdm
from traitlets.config import Config

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import current_config
from ..authoring.source import ensure_nbgrader_source
from ..errors import (
    CourseError,
    GradebookError,
    NoSandboxError,
    ScarcityError,
    SubmissionError,
    command,
    escaped,
    one_line,
)
from ..grading.grade import RECORD, grade
from ..grading.package import LessonPackage
from ..grading.sandbox import shared_sandbox, unavailable_reason
from ..paths import Course, Lesson
from .attempts import (
    FULL,
    GRADED,
    LEFT_OUT,
    OPEN,
    REFUSED,
    Attempt,
    counting,
    graded,
    points_in,
    read_attempts,
    write_attempts,
)
from .changed import graded_earlier
from .deliveries import COLLECTED, COLLECTED_BEFORE, Delivered, Exchange, Files, Inbox, next_turn
from .exchange import open_exchange
from .gradebook import ensure_registered, open_gradebook
from .releasing import Pages, apart_from, forget
from .rules import BEST, Rules, late_penalty, now_utc, rules_of
from .run import settings_of, workers
from .submissions import LATE, TIMESTAMP, changing_submissions, store_submission, time_in
from .writer import GradebookWriter, read_notebook_record, write_notebook

TURN = timedelta(seconds=10)  # so long after a student's turn, others who wait go first
TICK = 0.5  # seconds between two looks at what has arrived
SETTLED_SECONDS = 10.0  # nbgrader has filled a folder by then
RETRY_SECONDS = 10.0  # between two tries to use the gradebook or the configuration
AFTER_DUE_SECONDS = 30.0  # between two looks for lessons that became due
MOST_TRIES = 3
MOST_HANDED_IN = 500  # of one student, of one lesson: somebody who hands in all the time holds nobody up
MOST_NOTICES = 3  # at once, of what is left out
Place = tuple[str, str]  # a lesson's name, a student's id
Say = Callable[[str], None]


@contextmanager
def only_one(course: Course, say: Say) -> Iterator[None]:
    """Wait until no other process serves the course. The system ends the lock with the process that holds it."""
    course.coursework.mkdir(exist_ok=True)
    lock = FileLock(course.coursework / ".serve.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"Another `{command('serve')}` grades this course. This one takes over when that ends.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def serve(course: Course, jobs: int, options: Mapping[str, Any], say: Say, until: Callable[[], bool]) -> None:
    """Grade what is handed in, for as long as nobody stops it.

    Args:
        course: the course.
        jobs: how many submissions run at once.
        options: settings of GradeSubmission.
        say: is told what happens, line by line.
        until: says whether to end; asked between two looks.

    Raises:
        NoSandboxError: submissions cannot be isolated here, and the options do not allow to go on without that.
        CourseError: the configuration or the gradebook cannot be used.
    """
    with only_one(course, say):
        settings_of(course, options, jobs, None)
        if not unavailable_reason():
            shared_sandbox()
        with workers(None, jobs) as pool:
            service = Service(course, pool, jobs, options, say)
            say(f"Watching {service.exchange.inbound} and {course.inbox}/; Ctrl-C ends it.")
            service.regrade()
            with tqdm(total=0, unit=" attempts graded", disable=None) as bar:
                while not until():
                    service.work()
                    bar.n, bar.total = service.finished, service.finished + service.waiting
                    bar.refresh()


@dataclass(frozen=True)
class Work:
    """An attempt that is being graded.

    Args:
        delivered: what arrived.
        files: its files, by name.
        rules: the lesson's, as they were when it began.
    """

    delivered: Delivered
    files: Files
    rules: Rules

    @property
    def place(self) -> Place:
        """The lesson and the student."""
        return self.delivered.lesson.name, self.delivered.student

    @property
    def arrived(self) -> datetime:
        """When it arrived, UTC, as the system saw it."""
        return time_in(self.files.get(TIMESTAMP, b"").decode()) or self.delivered.arrived


class Service:
    """One process that grades at hand-in. Its memory holds what is not graded yet; all else is in files.

    Args:
        course: the course.
        pool: grades submissions.
        jobs: how many at once.
        options: settings of GradeSubmission.
        say: is told what happens, line by line.
    """

    def __init__(self, course: Course, pool: Executor, jobs: int, options: Mapping[str, Any], say: Say) -> None:
        self.course, self._pool, self._jobs, self._options, self._say = course, pool, jobs, options, say
        self.exchange = open_exchange(course)
        self._pages = Pages(course, self.exchange, say)
        self._sources = (Exchange(course, self.exchange), Inbox(course))
        self._waiting: dict[Place, list[Delivered]] = {}
        self._running: dict[Future[str], Work] = {}
        self._tries: dict[str, int] = {}
        self._known, self._withheld = set[str](), set[Place]()
        self._prepared: dict[str, LessonPackage] = {}
        self._handed_in, self._began = Counter[Place](), dict[str, datetime]()
        self._looked_for_due = 0.0
        self.finished = 0
        self._remember()

    def _remember(self) -> None:
        """Read what was done before this process began."""
        for lesson in self.course.lessons():
            for path in self.course.attempts.glob(f"*/{lesson.name}.json"):
                place, attempts = (lesson.name, path.parent.name), self._noted(lesson, path)
                done = {a.delivery for a in attempts if a.status != GRADED or a.released}
                self._known |= done
                self._handed_in[place] = len(done)
                if any(attempt.released == OPEN for attempt in attempts):
                    self._withheld.add(place)

    def _noted(self, lesson: Lesson, path: Path) -> list[Attempt]:
        """Return the attempts that a file holds. A damaged one is set aside; what counted stays."""
        try:
            return read_attempts(self.course, lesson, path.parent.name)
        except CourseError:
            aside = path.replace(path.with_suffix(".damaged"))
            self._say(f"{lesson.shown(path)} is damaged and set aside as {aside.name}. What counted stays.")
            return []

    @property
    def waiting(self) -> int:
        """How many attempts are not finished."""
        return len(self._running) + sum(map(len, self._waiting.values()))

    @property
    def _config(self) -> Config:
        """What nbgrader_config.py says now: due dates may be moved while this runs."""
        return current_config(self.course.root)

    def regrade(self) -> None:
        """Begin to grade again what counts of lessons that have changed since, or were graded by hand."""
        for lesson in self.course.lessons():
            if any(self.course.attempts.glob(f"*/{lesson.name}.json")):
                rules = self._rules(lesson.name)
                for delivered in graded_earlier(self.course, lesson, rules.counts == BEST):
                    self._begin(delivered, rules)

    def work(self) -> None:
        """Look once, and grade what may be graded. While gradebook or configuration cannot be used, all waits."""
        try:
            self.look()
            self.start()
            self.finish(TICK)
        except NoSandboxError:
            raise
        except CourseError as error:
            self._say(f"{error} Trying again in {RETRY_SECONDS:g} s.")
            time.sleep(RETRY_SECONDS)

    def look(self) -> None:
        """Note what has arrived."""
        for source in self._sources:
            for delivered in source.new(self._known, self._say):
                place = delivered.lesson.name, delivered.student
                self._handed_in[place] += 1
                if self._handed_in[place] <= MOST_HANDED_IN:
                    self._known.add(delivered.name)
                    self._waiting.setdefault(place, []).append(delivered)
                elif self._handed_in[place] == MOST_HANDED_IN + 1:
                    self._say(
                        f"{escaped(place[1])}  {place[0]}  handed in {MOST_HANDED_IN} times: the rest is not read"
                    )

    def start(self) -> None:
        """Begin to grade what may be graded now, one of each student's at a time, fairly."""
        busy = {work.delivered.student for work in self._running.values()}
        rules = {name: self._rules(name) for name in {name for name, _ in self._waiting}}
        for place in sorted(self._waiting, key=self._since):
            if len(self._running) > self._jobs:
                return
            if place[1] not in busy and (chosen := self._choose(place, rules[place[0]])):
                self._begin(chosen, rules[place[0]])
                self._began[place[1]] = now_utc()
                busy.add(place[1])

    def _since(self, place: Place) -> datetime:
        """Return since when a student waits: since the work arrived, or since a while after the last turn."""
        arrived, began = self._waiting[place][0].arrived, self._began.get(place[1])
        return max(arrived, began + TURN) if began else arrived

    def _rules(self, lesson: str) -> Rules:
        with open_gradebook(self.course) as gradebook:
            return rules_of(self._config, lesson, gradebook)

    def _choose(self, place: Place, rules: Rules) -> Delivered | None:
        """Take from what a student has handed in what is to be graded now; leave out what never will be."""
        lesson, student = self.course.lesson(place[0]), place[1]
        turn = next_turn(self._waiting.pop(place), self._attempts(lesson, student), rules, now_utc())
        if turn.waiting:
            self._waiting[place] = list(turn.waiting)
        if turn.left_out:
            self._leave_out(lesson, student, turn.left_out)
        return turn.chosen

    def _attempts(self, lesson: Lesson, student: str) -> list[Attempt]:
        """Return a student's attempts, after a note of what was graded before this service was used."""
        attempts = read_attempts(self.course, lesson, student)
        record = {} if attempts else read_notebook_record(self.course.graded_notebook(lesson, student), RECORD)
        if not record:
            return attempts
        handed_in = self.course.submission(lesson, student).with_name(TIMESTAMP)
        when = time_in(handed_in.read_text(encoding="utf-8").strip()) if handed_in.is_file() else None
        before = Attempt(COLLECTED, when.isoformat() if when else "", released=FULL)
        before = replace(before, submission=record["submission"], **points_in(record))
        write_attempts(self.course, lesson, student, before)
        return [before]

    def _leave_out(self, lesson: Lesson, student: str, left_out: Sequence[tuple[Delivered, str]]) -> None:
        """Tell a student that attempts are not graded, and record it."""
        for delivered, why in left_out[-MOST_NOTICES:]:
            self._say(f"{escaped(student)}  {lesson.name}  left out  {why}")
            if why != COLLECTED_BEFORE:
                with suppress(SubmissionError):
                    self._pages.release_notice(lesson, student, delivered.read(), why)
        new = (Attempt(each.name, each.arrived.isoformat(), LEFT_OUT, why) for each, why in left_out)
        write_attempts(self.course, lesson, student, *new)

    def _begin(self, delivered: Delivered, rules: Rules) -> None:
        """Read what was handed in and have it graded. What cannot be read yet waits a little."""
        lesson, place = delivered.lesson, (delivered.lesson.name, delivered.student)
        try:
            files = delivered.read()
        except SubmissionError as error:
            if time.monotonic() < delivered.seen + SETTLED_SECONDS:
                self._waiting.setdefault(place, []).append(delivered)
                return
            attempt = Attempt(delivered.name, delivered.arrived.isoformat(), REFUSED, one_line(str(error)))
            write_attempts(self.course, lesson, delivered.student, attempt)
            self._say(f"left out   {escaped(delivered.name)}: {error}")
            return
        settings = settings_of(self.course, self._options, self._jobs, None)
        submission = settings.submission(files[lesson.notebook_name], package_of(lesson))
        self._running[self._pool.submit(grade, submission)] = Work(delivered, files, rules)

    def finish(self, seconds: float) -> None:
        """Write down what is graded and let its student have it.

        Args:
            seconds: how long to wait, where nothing is graded yet.
        """
        if not self._running:
            self._explain_what_is_due()
            time.sleep(seconds)
            return
        for future in wait(self._running, seconds, FIRST_COMPLETED).done:
            self._rules(self._running[future].place[0])  # raises while configuration or gradebook cannot be used
            work = self._running.pop(future)
            try:
                self._write(work, future.result())
            except NoSandboxError:
                raise
            except GradebookError:
                self._prepared.clear()
                self._waiting.setdefault(work.place, []).append(work.delivered)
                raise
            except (ScarcityError, OSError) as error:
                self._again(work, error)
            except Exception as error:  # one student's trouble is nobody else's
                self._refuse(work, error)

    def _again(self, work: Work, error: Exception) -> None:
        """Grade it once more: the computer was at fault. After some tries, a person has to look."""
        name = work.delivered.name
        self._tries[name] = self._tries.get(name, 0) + 1
        if self._tries[name] >= MOST_TRIES:
            self._refuse(work, error)
            return
        self._say(f"{escaped(work.delivered.student)}  {work.place[0]}  again: {one_line(str(error))}")
        self._waiting.setdefault(work.place, []).append(work.delivered)
        time.sleep(TICK)

    def _refuse(self, work: Work, error: Exception) -> None:
        """Record that a person has to look, keep what nobody has seen, and tell its student."""
        lesson, student = work.delivered.lesson, work.delivered.student
        kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
        note = kind + one_line(str(error))
        shown = note if isinstance(error, SubmissionError) else "It could not be graded. Your teacher can see why."
        with changing_submissions(self.course):
            if not self.course.submission(lesson, student).parent.exists():
                store_submission(self.course, lesson, student, work.files)
        self._pages.release_notice(lesson, student, work.files, shown)
        digest = sha256(work.files[lesson.notebook_name]).hexdigest()
        attempt = Attempt(work.delivered.name, work.arrived.isoformat(), REFUSED, note, digest)
        write_attempts(self.course, lesson, student, attempt)
        self._say(f"{escaped(student)}  {lesson.name}  needs a person  {note}")

    def _write(self, work: Work, text: str) -> None:
        """Record a graded attempt; where it counts, write the gradebook; make its page, and release it."""
        lesson, student = work.delivered.lesson, work.delivered.student
        attempt = self._record(work, json.loads(text)["metadata"][RECORD])
        attempts = read_attempts(self.course, lesson, student)
        counts = counting(attempts, work.rules.counts == BEST) == attempt
        target = self.course if counts else apart_from(self.course, lesson, student)
        with changing_submissions(self.course):
            store_submission(target, lesson, student, work.files)
            if counts:
                self._save(work, json.loads(text))
            write_notebook(target, lesson, student, text)
        attempt = replace(attempt, released=self._pages.release(target, lesson, student, work.rules))
        write_attempts(self.course, lesson, student, attempt)
        if attempt.released == OPEN:
            self._withheld.add(work.place)
        forget(target)
        self.finished += 1
        took = (now_utc() - work.delivered.arrived).total_seconds()
        number = len(graded(attempts))
        points = f"{attempt.points:g} of {attempt.of}{'' if counts else ', does not count'}"
        self._say(f"{escaped(student)}  {lesson.name}  attempt {number}: {points}  ({took:.1f} s after handing in)")

    def _record(self, work: Work, record: Mapping[str, Any]) -> Attempt:
        """Write down what an attempt earned; return it."""
        lesson, student = work.delivered.lesson, work.delivered.student
        earned = points_in(record)
        due, total = work.rules.due_for(student), float(sum(earned["exercises"].values()))
        known = TIMESTAMP in work.files  # when a teacher filled the inbox says nothing about its students
        late = (work.arrived - due).total_seconds() if due and known else 0.0
        late = max(late, 1.0) if due and LATE in work.files else late
        penalty = late_penalty(self._config, student, total, late) or 0.0
        attempt = Attempt(work.delivered.name, work.arrived.isoformat(), submission=record["submission"], **earned)
        attempt = replace(attempt, penalty=penalty)
        write_attempts(self.course, lesson, student, attempt)
        return attempt

    def _save(self, work: Work, notebook: Mapping[str, Any]) -> None:
        """Write the gradebook's rows."""
        lesson = work.delivered.lesson
        with open_gradebook(self.course) as gradebook:
            if self._prepared.get(lesson.name) is not (package := package_of(lesson)):
                ensure_registered(gradebook, package)
                ensure_nbgrader_source(lesson)
                self._prepared[lesson.name] = package
            writer = GradebookWriter(gradebook, self._config, lesson.name)
            timestamp = time_in(work.files.get(TIMESTAMP, b"").decode())
            writer.save(work.delivered.student, notebook, timestamp, LATE in work.files)

    def _explain_what_is_due(self) -> None:
        """Release one full page of a lesson that nobody can hand in any more."""
        if not self._withheld or time.monotonic() < self._looked_for_due + AFTER_DUE_SECONDS:
            return
        for name, student in sorted(self._withheld):
            lesson = self.course.lesson(name)
            rules = self._rules(name)
            if rules.explains_hidden(now_utc()):
                self._withheld.discard((name, student))
                self._explain(lesson, student, rules)
                return
        self._looked_for_due = time.monotonic()

    def _explain(self, lesson: Lesson, student: str, rules: Rules) -> None:
        attempts = read_attempts(self.course, lesson, student)
        for attempt in attempts:
            if attempt == counting(attempts, rules.counts == BEST):
                self._pages.release(self.course, lesson, student, rules)
                self._say(f"{escaped(student)}  {lesson.name}  feedback with hidden checks is released")
            if attempt.released == OPEN:
                write_attempts(self.course, lesson, student, replace(attempt, released=FULL))
