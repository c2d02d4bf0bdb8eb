"""Grading at the moment of handing in: what arrives is graded, and its student can fetch the feedback seconds later.

One process at a time does that for a course. Whatever moment it is killed at, the next one goes on from the files: an
attempt is finished when its record says that its feedback is released, and is graded anew before that.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from tqdm import tqdm

from ..authoring.lesson_package import package_of
from ..authoring.nbgrader_course import load_config
from ..errors import (
    CourseError,
    GradebookError,
    LongRunError,
    NoSandboxError,
    SubmissionError,
    UnfinishedError,
    UnreleasedError,
    escaped,
    one_line,
)
from ..grading.grade import grade
from ..grading.sandbox import shared_sandbox, unavailable_reason
from ..grading.submission import Submission
from ..paths import CONFIG_NAME, Course, Lesson
from .alone import TICK, only_one
from .attempt_writer import AttemptWriter, LessonOfStudent, Say, Work
from .attempts import remove_copy
from .deliveries import COMPUTERS_FAULT, SETTLED_SECONDS, Delivered, Exchange, Inbox, is_everybodys, next_turn, no_room
from .exchange import open_exchange
from .grade_again import extensions_for_nobody, graded_earlier
from .rules import Rules, now_utc, rules_by_lesson, rules_now
from .run import grading_settings, workers
from .service_log import service_handler

LOG = logging.getLogger(__name__)
TURN = 10.0  # seconds after a student's turn in which others who wait go first
SHORT_SECONDS = 20.0  # of processor time: what needs more waits for all others, and leaves them one worker
LONG_SECONDS = 60.0  # of grading and writing, lately: whatever comes from who has had more waits in the same way
HALF_LIFE = 600.0  # seconds in which half of that is forgotten
RETRY_SECONDS = 10.0  # between two tries to use the gradebook or the configuration, and the first two to grade
AFTER_DUE_SECONDS = 30.0  # between two looks at due dates: who moves one, and what is due by now
REST_SECONDS = 1.0  # without anything to do, after which memory that is free goes back to the system
LONGEST_REST = 300.0  # of a student between two tries to grade, while the computer is at fault
MOST_TRIES, MOST_FAULTS = 3, 15  # the second takes nearly an hour
MOST_HANDED_IN = 500  # of one student, of one lesson: somebody who hands in all the time holds nobody up


def serve(course: Course, jobs: int, options: Mapping[str, Any], say: Say, until: Callable[[], bool]) -> None:
    """Grade what is handed in, for as long as nobody stops it.

    Raises:
        NoSandboxError: submissions cannot be isolated here, and the options do not allow to go on without that.
        CourseError: the configuration or the gradebook cannot be used.
    """
    logging.getLogger("autograder").addHandler(service_handler())
    grading_settings(course, options, jobs, None)
    if not unavailable_reason():
        shared_sandbox()
    while not until():  # begins anew where the database went away, and another one may have taken over
        with only_one(course, say) as alone, workers(None, jobs) as pool:
            service = HandInService(course, pool, jobs, options, say)
            say(f"Watching {service.exchange.inbound} and {course.inbox}/; Ctrl-C ends it.")
            try:
                service.regrade()
                with tqdm(total=0, unit=" attempts graded", disable=None) as bar:
                    while alone() and not until():
                        service.work()
                        bar.n, bar.total = service.finished, service.finished + service.waiting
                        bar.refresh()
            finally:
                service.begun.stop()


class HandInService:
    """One process that grades at hand-in. Its memory holds what is not graded yet; all else is in files."""

    def __init__(self, course: Course, pool: Executor, jobs: int, options: Mapping[str, Any], say: Say) -> None:
        self.course, self._pool, self._jobs, self._options = course, pool, jobs, options
        self._say: Say = lambda text: say(one_line(text))
        self.exchange = open_exchange(course)
        self._writer = AttemptWriter(course, self.exchange, self._say)
        self.begun = self._writer.begun
        self._sources = (Exchange(course, self.exchange), Inbox(course))
        self._waiting: dict[LessonOfStudent, list[Delivered]] = {}
        self._running: dict[Future[str], Work] = {}
        # for when nobody waits, without its files, which would fill the memory: what takes long, what was graded before
        self._later: list[Work] = []
        self._tries, self._faults, self._rest_until = Counter[str](), Counter[str](), dict[str, float]()
        self._config, self._rules = load_config(course.root), rules_by_lesson(course)  # as they were at the latest look
        self._handed_in, self._began = Counter[LessonOfStudent](), dict[str, float]()
        self._had = dict[str, tuple[float, float]]()  # seconds of grading and writing, by student, and as of when
        self._looked_for_due = self._rests = 0.0
        self.finished = 0
        self._known = set[str]()
        for who, names in self._writer.read_finished().items():
            self._known |= names
            self._handed_in[who] = len(names)
            for name in names:  # the one before this may have been killed before it could
                remove_copy(course, who[1], name)

    @property
    def waiting(self) -> int:
        """How many attempts are not finished."""
        return len(self._running) + len(self._later) + sum(map(len, self._waiting.values()))

    def regrade(self, changed: bool = True) -> None:
        """Begin to grade again what counts and has other points now: its lesson, if it can, or rules have changed."""
        config, rules = load_config(self.course.root), rules_by_lesson(self.course)
        if unknown := extensions_for_nobody(self.course, rules.values()):
            self._say(f"look at {CONFIG_NAME}: extensions for {', '.join(unknown)}, and nobody has that name yet")
        for lesson in self.course.lessons():
            if any(self.course.attempts.glob(f"*/{lesson.name}.json")):
                self._regrade(lesson, rules[lesson.name], changed)
        self._config, self._rules = config, rules

    def _regrade(self, lesson: Lesson, rules: Rules, changed: bool, student: str = "*") -> None:
        begun = {work.delivered.name for work in [*self._later, *self._running.values()]}
        for delivered in graded_earlier(self.course, self.exchange, lesson, rules, changed, student):
            if delivered.name not in begun:
                self._later.append(Work(delivered, {}, rules, again=True))

    def work(self) -> None:
        """Look once, and grade what may be graded. All waits while gradebook, configuration or a lesson is no use.

        A lesson or a configuration that somebody edits is code, and can raise anything; so can a fault of ours, of
        which the log says where it is. Either way, nothing that was handed in is forgotten.
        """
        try:
            try:
                self.look()
                self.start()
            finally:  # whatever is in the way of one does not keep others' work from being written down
                self.finish(TICK)
            self._rest()
        except NoSandboxError:
            raise
        except Exception as error:
            if not isinstance(error, CourseError):
                LOG.error("The service pauses.", exc_info=error)
            why = str(error) if isinstance(error, CourseError) else f"{type(error).__name__}: {one_line(str(error))}."
            self._say(f"{why} Trying again in {RETRY_SECONDS:g} s.")
            time.sleep(RETRY_SECONDS)

    def _rest(self) -> None:
        """After work, give back what it has taken: the C library keeps some of that, and a little more each time."""
        if self.waiting:
            self._rests = time.monotonic() + REST_SECONDS
        elif self._rests and time.monotonic() > self._rests:
            self._rests = 0.0
            gc.collect()
            with suppress(AttributeError, OSError):  # the C library is one that cannot
                ctypes.CDLL(None).malloc_trim(0)

    def look(self) -> None:
        """Note what has arrived, and copy it: what its student does to it from then on changes nothing."""
        for source in self._sources:
            for delivered in source.new(self._known, self._say):
                who = delivered.lesson.name, delivered.student
                self._handed_in[who] += 1
                if self._handed_in[who] <= MOST_HANDED_IN:
                    self._known.add(delivered.name)
                    self._waiting.setdefault(who, []).append(delivered)
                elif self._handed_in[who] == MOST_HANDED_IN + 1:
                    why = f"You have handed in {MOST_HANDED_IN} times: nothing more is read."
                    self._writer.leave_out(delivered.lesson, delivered.student, [(delivered, why)])
        for waiting in self._waiting.values():
            for delivered in waiting:
                delivered.copy()

    def start(self) -> None:
        """Begin to grade what may be graded now, one of each student's at a time, fairly."""
        if load_config(self.course.root) is not self._config:
            self.regrade(changed=False)
        busy = {work.delivered.student for work in self._running.values()}
        busy |= {work.delivered.student for work in self._later if work.long}
        resting = {student for student, until in self._rest_until.items() if time.monotonic() < until}
        rules = rules_by_lesson(self.course, {name for name, _ in self._waiting})
        for who in sorted(self._waiting, key=self._since):
            if self._has_room() and who[1] not in busy | resting and self._take_turn(who, rules[who[0]]):
                busy.add(who[1])
        for work in list(self._later):
            if work.delivered.student not in resting and self._has_room(work):
                self._later.remove(work)
                self._begin_later(work)

    def _begin_later(self, work: Work) -> None:
        """Begin with what others went before, unless it was removed meanwhile; where that cannot be now, it waits."""
        try:
            read = self._read(work.delivered, work.rules)
            if read and work.delivered.lesson.notebook_name in read.files:
                self._begin(replace(work, files=read.files))
            elif read:
                name = escaped(work.delivered.name)
                self._say(f"look at {name}: it is to be graded again, and what was graded is not there any more")
        except Exception:
            self._later.append(work)
            raise

    def _take_turn(self, who: LessonOfStudent, rules: Rules) -> bool:
        """Begin with what a student has handed in, if its turn has come; say so. After an error, others go first."""
        chosen, before = None, self._began.get(who[1], 0.0)
        self._began[who[1]] = time.monotonic()
        try:
            if chosen := self._choose(who, rules):
                work = self._read(chosen, rules)
                if work and work.long:
                    self._later.append(replace(work, files={}))
                elif work:
                    self._begin(work)
                return True
        except Exception:
            if chosen:
                self._wait_for(chosen)
            raise
        self._began[who[1]] = before
        return False

    def _since(self, who: LessonOfStudent) -> tuple[float, datetime]:
        """Return since when a student waits: since the work was seen, or since a while after the last turn."""
        first = self._waiting[who][0]
        return max(first.seen, self._began.get(who[1], 0.0) + TURN), first.arrived

    def _has_room(self, work: Work | None = None) -> bool:
        """Say whether one more may begin. One that others go before leaves a worker to them, where there are several.

        What was being graded when a process ended runs alone, so that nothing else is held to be the reason.
        """
        running = self._running.values()
        suspects = [each for each in (*running, work) if each and self.begun.ended_one(each.delivered.name)]
        if (suspects and running) or len(running) > self._jobs:
            return False
        return not (work and work.long) or sum(each.long for each in running) < max(1, self._jobs - 1)

    def _had_lately(self, student: str) -> float:
        """Return how long a student's submissions have kept this computer busy, the less the longer ago."""
        seconds, then = self._had.get(student, (0.0, 0.0))
        return float(seconds * 0.5 ** ((time.monotonic() - then) / HALF_LIFE))

    @contextmanager
    def _noting(self, work: Work, clock: Callable[[], float]) -> Iterator[None]:
        """Note how long this takes because of a student."""
        began, student = clock(), work.delivered.student
        try:
            yield
        finally:
            self._had[student] = self._had_lately(student) + clock() - began, time.monotonic()

    def _grade(self, work: Work, submission: Submission) -> str:
        """Grade, as a worker."""
        with self._noting(work, time.monotonic):
            return grade(submission if work.long else replace(submission, patience=SHORT_SECONDS))

    def _choose(self, who: LessonOfStudent, rules: Rules) -> Delivered | None:
        """Take from what a student has handed in what is to be graded now; leave out what never will be."""
        lesson, student = self.course.lesson(who[0]), who[1]
        now = max(now_utc(), *(each.now for each in self._waiting[who]))
        turn = next_turn(self._waiting[who], self._writer.attempts_of(lesson, student), rules, now)
        if turn.left_out:
            self._writer.leave_out(lesson, student, turn.left_out)
            self._regrade(lesson, rules, changed=False, student=student)  # somebody may have collected it meanwhile
        del self._waiting[who]
        if turn.waiting:
            self._waiting[who] = list(turn.waiting)
        if turn.until:
            self._writer.tell_to_wait(turn.waiting[0], turn.until, rules)
        return turn.chosen

    def _read(self, delivered: Delivered, rules: Rules) -> Work | None:
        """Read what was handed in. What cannot be read yet waits a little."""
        try:
            files = delivered.read()
        except SubmissionError as error:
            if time.monotonic() < delivered.seen + SETTLED_SECONDS:
                self._wait_for(delivered)
            elif self._sources[0].expects(delivered.name, error):
                self._look_later(delivered, error)
            else:
                self._writer.refuse_unread(delivered, error)
            return None
        others_first = self._had_lately(delivered.student) > LONG_SECONDS or self.begun.ended_one(delivered.name)
        return Work(delivered, files, rules, others_first)

    def _look_later(self, delivered: Delivered, error: SubmissionError) -> None:
        """Take what cannot be read now for something that has not arrived."""
        self._say(f"left out   {escaped(delivered.name)}: {error}. It is looked at again.")
        self._known.discard(delivered.name)
        if not isinstance(error, UnfinishedError):  # its student can make as many of these as there is room for
            self._handed_in[delivered.lesson.name, delivered.student] -= 1
        self._sources[0].wait_for([delivered.name])

    def _begin(self, work: Work) -> None:
        """Have a worker grade it, with inputs that no earlier run has seen."""
        settings = grading_settings(self.course, self._options, self._jobs, None)
        lesson = work.delivered.lesson
        submission = settings.submission(work.files[lesson.notebook_name], package_of(lesson))
        try:
            self.begun.begin(work.delivered.name)
        except CourseError as error:
            self._writer.refuse(work, error)
            return
        graded = self._pool.submit(self._grade, work, submission)
        graded.add_done_callback(lambda _: submission.lesson.key.forget(submission.seed))
        self._running[graded] = work

    def _wait_for(self, delivered: Delivered) -> None:
        """Let an attempt wait for its turn."""
        self._waiting.setdefault((delivered.lesson.name, delivered.student), []).append(delivered)

    def _put_back(self, work: Work) -> None:
        """Let an attempt wait once more; one that was graded before has had its turn, and needs none."""
        if work.again:
            self._later.append(replace(work, files={}))
        else:
            self._wait_for(work.delivered)

    def finish(self, seconds: float) -> None:
        """Write down what is graded and let its student have it; wait a little where nothing is graded yet."""
        if self._look_at_due_dates():
            seconds = 0.0
        if not self._running:
            time.sleep(seconds)
        for future in wait(self._running, seconds, FIRST_COMPLETED).done if self._running else ():
            lesson = self._running[future].delivered.lesson
            rules, _ = rules_now(self.course, lesson.name), package_of(lesson)  # these raise while they cannot be used
            work, finished = replace(self._running.pop(future), rules=rules), self.finished
            try:
                with self._noting(work, time.thread_time):
                    self._write_down(work, future)
            except Exception as error:
                self._tries[work.delivered.name] += not is_everybodys(error)
                if is_everybodys(error) or self._tries[work.delivered.name] < MOST_TRIES:
                    self._put_back(work)
                    raise
                self._say(f"{escaped(work.delivered.name)}: {one_line(str(error))}. The next start tries it again.")
            finally:
                self.begun.end(work.delivered.name, succeeded=self.finished > finished)

    def _write_down(self, work: Work, future: Future[str]) -> None:
        try:
            counts = self._writer.write(work, future.result())
            self.finished += 1
        except (NoSandboxError, GradebookError):
            raise
        except LongRunError:
            self._later.append(replace(work, files={}, long=True))
        except UnreleasedError as error:  # what came of it is written down, and stays
            self._again(replace(work, again=True), error)
        except COMPUTERS_FAULT as error:
            if isinstance(error, OSError) and future.exception() is None and (away := no_room(error)):
                raise away from error
            self._again(work, error)
        except Exception as error:  # one student's trouble is nobody else's
            self._writer.refuse(work, error)
        else:
            if not counts:  # a teacher may have collected it meanwhile, and taken away what does
                self._regrade(work.delivered.lesson, work.rules, changed=False, student=work.delivered.student)

    def _again(self, work: Work, error: Exception) -> None:
        """Grade it once more, later each time: the computer was at fault. In the end, a person has to look."""
        delivered = work.delivered
        self._faults[delivered.name] += 1
        faults = self._faults[delivered.name]
        if faults >= MOST_FAULTS:
            self._writer.refuse(work, error)
            return
        rest, why = min(RETRY_SECONDS * 2 ** (faults - 1), LONGEST_REST), one_line(str(error))
        self._rest_until[delivered.student] = time.monotonic() + rest
        self._say(f"{escaped(delivered.student)}  {delivered.lesson.name}  again in {rest:g} s: {why}")
        self._put_back(work)

    def _look_at_due_dates(self) -> bool:
        """Release one page that may explain hidden checks by now; say whether there was one.

        Looks now and then, and at once again where there was one. Formgrader moves dates without a new configuration.
        """
        if time.monotonic() < self._looked_for_due + AFTER_DUE_SECONDS:
            return False
        if rules_by_lesson(self.course) != self._rules:
            self.regrade(changed=False)
        if self._writer.explain_one_that_is_due():
            return True
        self._looked_for_due = time.monotonic()
        return False
