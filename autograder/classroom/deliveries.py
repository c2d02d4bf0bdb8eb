"""What arrives to be graded at once: folders in nbgrader's exchange, and files that somebody puts into the inbox."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from errno import EDQUOT, EIO, ENOSPC, EROFS
from functools import partial
from pathlib import Path

from ..errors import (
    CourseError,
    GradebookError,
    NoSandboxError,
    SandboxError,
    ScarcityError,
    SubmissionError,
    UnansweredError,
    UnfinishedError,
    one_line,
)
from ..judging.card import number
from ..paths import Course, Lesson
from .attempts import GRADED, REFUSED, USED, Attempt, course_of_copy
from .collect import collect
from .exchange import CollectPlainFiles
from .exchange_folders import WRITTEN, Delivery
from .plain_files import NAMELESS
from .reader import NOBODY
from .rules import Rules, duration, now_utc
from .submissions import TIMESTAMP, files_beside, store_submission, submission_digest, time_in

Files = Mapping[str, bytes]
Listing = frozenset[tuple[str, int, int]]  # the path, the time of change and the size of each file
FRESH_SECONDS = 5.0  # a folder that has changed since is looked at again: its time is not exact
FOLDERS_AT_A_LOOK = 20  # folders of one account at each look: who has put thousands there keeps nobody waiting
UNANSWERED_SECONDS = 60.0  # after which a folder is looked at again that could not be read
MOST_UNFINISHED = 5  # times that a folder is looked at again which nbgrader has not filled yet
AGAIN_SECONDS = 600.0  # after which a folder is looked at again that belonged to an id without a name
LINES_SECONDS = 3600.0  # in which few lines are written about an account's folders
SETTLED_SECONDS = 10.0  # nbgrader has filled a folder by then
MOST_COPIES, MOST_COPIED = 20, 100 * 2**20  # of one student's work that waits: more copies only of few bytes
COPIED_SECONDS = 2.0  # a file in the inbox that has not changed for so long has been copied there completely
COLLECTED = "collected by hand"  # before a lesson was graded at hand-in
COLLECTED_BEFORE = "It was collected before."
NO_ROOM = (ENOSPC, EDQUOT, EIO, EROFS)  # nobody's attempt can be written down
COMPUTERS_FAULT = (ScarcityError, SandboxError, OSError)  # while an attempt was graded or written down
FREE_ENDS = 2
ASIDE = ".inbox"  # no student's id begins with a dot


@dataclass(frozen=True)
class Delivered:
    """Something that a student has handed in."""

    lesson: Lesson
    student: str  # whose it is
    name: str  # what tells it from all others
    arrived: datetime  # when, UTC
    read: Callable[[], Files]  # returns the files to keep, by name; raises SubmissionError where they cannot be taken
    way_back: Callable[[], Files] = dict  # returns those by which a page finds its student; none where there are none
    copy: Callable[[], object] = dict  # copies it from where its student can change it; tells nobody that it could not
    # when it was first seen, by this computer's clock, which the exchange's may differ from
    seen: float = field(default_factory=time.monotonic)

    @property
    def now(self) -> datetime:
        """The time, by the clock by which it arrived, or earlier."""
        return self.arrived + timedelta(seconds=time.monotonic() - self.seen)


class Copy:
    """What lies in the exchange, copied when it was first seen, because its content can change without a new time.

    A write that has begun keeps its time, and its content can come from its author's own file system hours later. So
    the copy is what is graded, and what could not be copied at once counts as having arrived when it could.

    Args:
        course: where to.
        exchange: where from.
        lesson: which lesson.
        delivery: the folder.
        seen: when it was first seen, by this computer's clock.
        in_time: whether that was when it arrived, and the time that the system gives it counts.
    """

    def __init__(
        self,
        course: Course,
        exchange: CollectPlainFiles,
        lesson: Lesson,
        delivery: Delivery,
        seen: float,
        in_time: bool,
    ) -> None:
        self._exchange, self._lesson, self._delivery, self._in_time = exchange, lesson, delivery, in_time
        self._ends, self._why = seen + SETTLED_SECONDS, SubmissionError("it was not looked at in time")
        self._kept = course_of_copy(course, delivery.student, delivery.folder)

    def attempt(self) -> None:
        """Copy it, unless that was done, also by the process before this one, or has failed for too long."""
        if self._is_done() or (not self._in_time and time.monotonic() > self._ends):
            return
        try:
            self._take()
        except SubmissionError as error:
            self._in_time, self._why = False, error

    def _is_done(self) -> bool:
        return self._kept.submission(self._lesson, self._delivery.student).exists()

    def files(self) -> Files:
        """Return the files as they were copied, by name. Raises SubmissionError where they could not be."""
        self.attempt()
        if not self._is_done():
            raise self._why
        return files_beside(self._kept, self._lesson, self._delivery.student)

    def _take(self) -> None:
        student, folder = self._delivery.student, self._kept.submitted.parent.parent
        many = len(list(folder.glob("*"))) >= MOST_COPIES  # counted, and rarely looked into: that is done often
        if many and sum(size for *_, size in files_in(folder)) > MOST_COPIED:
            raise SubmissionError(f"{MOST_COPIED // 2**20} MB of {student}'s submissions wait to be graded")
        files = dict(self._exchange.files_of(self._lesson, self._delivery))
        if not self._in_time:
            arrived = time_in(files[TIMESTAMP].decode()) or self._delivery.arrived
            files[TIMESTAMP] = max(arrived, now_utc()).strftime(WRITTEN).encode()
        try:
            store_submission(self._kept, self._lesson, student, files)
        except OSError as error:
            raise no_room(error) or SubmissionError(f"cannot be copied ({error.strerror})") from error


class Exchange:
    """Watches the folder of nbgrader's exchange that students hand in to."""

    def __init__(self, course: Course, exchange: CollectPlainFiles) -> None:
        self._course, self._exchange = course, exchange
        self._changed, self._noticed, self._looked_again = 0.0, 0.0, time.monotonic()
        self._seen, self._refused, self._counted_from = set[str](), Counter[int](), 0.0
        self._owners: dict[str, int] = {}
        self._withheld = list[str]()  # what is in the names of folders of lessons that are not released
        self._unanswered: dict[str, float] = {}  # what could not be read, and when it is looked at again
        self._unfinished = Counter[str]()  # how often a folder was not filled yet
        self._put_off = set[str]()  # what was seen, and not looked at: its account has handed in too much at once
        self._backlog: set[str] | None = None  # what lay there before this process began

    def new(self, known: Collection[str], say: Callable[[str], None]) -> Iterator[Delivered]:
        """Yield what has arrived and is not known, once.

        Raises:
            CourseError: the exchange cannot be used.
        """
        try:
            changed, now = self._exchange.inbound.stat().st_mtime, time.monotonic()
        except OSError:  # no lesson is released, or there is no exchange here
            return
        self._look_again(now)
        withheld = [f"+{lesson.name}+" for lesson in self._course.lessons() if not self._exchange.is_released(lesson)]
        if withheld != self._withheld:
            self._withheld, self._changed = withheld, 0.0
        if changed == self._changed and now > self._noticed + FRESH_SECONDS:
            return
        if now > self._counted_from + LINES_SECONDS:
            self._counted_from = now
            self._refused.clear()
        names = {path.name for path in self._exchange.inbound.iterdir()}
        names = {name for name in names if not any(lesson in name for lesson in withheld)}
        self._seen &= names
        self._owners = {name: owner for name, owner in self._owners.items() if name in names}
        waiting = names.difference(self._seen, known)
        chosen = set(self._some_of_each(waiting))
        self._backlog = names if self._backlog is None else self._backlog & names
        self._put_off = (self._put_off & names) | (waiting - chosen - self._backlog)
        for lesson in self._course.lessons():
            if new := {name for name in chosen if f"+{lesson.name}+" in name}:
                yield from self._new_of(lesson, new, say)
        self._seen |= chosen  # only now: what could not be looked at now is looked at again
        if chosen != waiting:
            self._changed = 0.0  # the rest is looked at the next time, whenever that is
        elif changed != self._changed:
            self._changed, self._noticed = changed, now

    def expects(self, name: str, error: SubmissionError) -> bool:
        """Say whether a folder that cannot be read now may be readable later: it is still being filled, for example."""
        self._unfinished[name] += isinstance(error, UnfinishedError)
        return isinstance(error, UnansweredError) and self._unfinished[name] <= MOST_UNFINISHED

    def wait_for(self, names: Iterable[str]) -> None:
        """Have looked at once more, in a while, what could not be read: its file system may be away."""
        self._unanswered |= dict.fromkeys(names, time.monotonic() + UNANSWERED_SECONDS)

    def _look_again(self, now: float) -> None:
        """Have looked at now what was waited for, and now and then what belonged to nobody.

        What knows the accounts' names may have been away, too.
        """
        names = {name for name, when in self._unanswered.items() if now > when}
        self._unanswered = {name: when for name, when in self._unanswered.items() if name not in names}
        if now > self._looked_again + AGAIN_SECONDS:
            names |= {name for name, owner in self._owners.items() if owner == NAMELESS}
            self._looked_again, self._changed = now, 0.0
        if names:
            self._owners = {name: owner for name, owner in self._owners.items() if name not in names}
            self._seen -= names
            self._put_off |= names
            self._changed = 0.0

    def _some_of_each(self, names: Set[str]) -> Iterator[str]:
        """Yield some folders of each account."""
        taken = Counter[int]()
        self._owners |= self._exchange.owners_of(names - self._owners.keys())
        for name in sorted(names):
            owner = self._owners.get(name, NOBODY)
            taken[owner] += 1
            if taken[owner] <= FOLDERS_AT_A_LOOK:
                yield name

    def _new_of(self, lesson: Lesson, names: Collection[str], say: Callable[[str], None]) -> Iterator[Delivered]:
        deliveries, report = self._exchange.arrivals(lesson, names, self._refused)
        self.wait_for(report.unanswered)
        for line in report.left_out:
            say(f"left out   {line}")
        for delivery in deliveries:
            yield self._delivered(lesson, delivery)

    def _delivered(self, lesson: Lesson, delivery: Delivery) -> Delivered:
        seen, in_time = time.monotonic(), delivery.folder not in self._put_off
        copy = Copy(self._course, self._exchange, lesson, delivery, seen, in_time)
        way_back = partial(self._exchange.way_back, delivery.folder, delivery.owner)
        arrived = delivery.arrived if in_time else max(delivery.arrived, now_utc())
        return Delivered(lesson, delivery.student, delivery.folder, arrived, copy.files, way_back, copy.attempt, seen)


class Inbox:
    """Watches `coursework/inbox/<lesson>/`, which holds what collecting takes: archives, folders, notebooks."""

    def __init__(self, course: Course) -> None:
        self._course, self._taken = course, dict[str, Listing]()
        self._changed = dict[str, tuple[Listing, float]]()  # by lesson: what lies there, and since when it is so

    def new(self, known: Collection[str], say: Callable[[str], None]) -> Iterator[Delivered]:
        """Yield what has arrived and is not known. Takes what `Exchange.new` does."""
        for lesson in self._course.lessons():
            folder = self._course.inbox / lesson.name
            files, now = frozenset(files_in(folder)), time.monotonic()
            before, since = self._changed.get(lesson.name, (frozenset(), now))
            if files != before:
                self._changed[lesson.name], since = (files, now), now
            if files and files != self._taken.get(lesson.name) and now > since + COPIED_SECONDS:
                self._taken[lesson.name] = files
                yield from self._new_of(lesson, folder, known, say)

    def _new_of(
        self, lesson: Lesson, folder: Path, known: Collection[str], say: Callable[[str], None]
    ) -> Iterator[Delivered]:
        aside = replace(self._course, attempt=ASIDE)
        try:
            report = collect(aside, lesson, folder)
        except CourseError as error:  # such as what computers put into an empty folder
            say(one_line(str(error)))
            return
        for line in report.left_out:
            say(f"left out   {line}")
        for student in aside.students(lesson):
            files = files_beside(aside, lesson, student)  # now: the student's next file takes this one's place
            when = time_in(files.get(TIMESTAMP, b"").decode())
            name = f"inbox {student} {submission_digest(aside, lesson, student)}{f' {when}' if when else ''}"
            if name not in known:
                yield Delivered(lesson, student, name, when or now_utc(), partial(dict, files))


@dataclass(frozen=True)
class Turn:
    """What is to be done with a student's deliveries of a lesson."""

    chosen: Delivered | None = None  # the one to grade now; None for none
    # those that are never graded, each with the reason that its student reads
    left_out: tuple[tuple[Delivered, str], ...] = ()
    waiting: tuple[Delivered, ...] = ()  # those whose turn comes later
    until: datetime | None = None  # when that of the first one comes, where there is a pause


def counted(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return those that are of the number allowed, and after which there is a pause.

    They are those that were graded, and what has run and could not be graded, but for the first few: the computer may
    have been at fault then. Who hands in such work again and again keeps it busy, or asks about hidden checks.
    """
    ended = [each for each in attempts if each.status == REFUSED and each.submission][FREE_ENDS:]
    had = [each for each in attempts if each.status == USED or (each.status == GRADED and each.released)]
    return [each for each in attempts if each in had or each in ended]


def no_room(error: OSError) -> GradebookError | None:
    """Return what an error is where it hits everybody: nobody's work can be written down."""
    return GradebookError(f"Nothing can be written down ({one_line(str(error))}).") if is_everybodys(error) else None


def is_everybodys(error: Exception) -> bool:
    """Say whether an error is none of one student's: the gradebook or the sandbox is away, or there is no room."""
    away = isinstance(error, GradebookError | NoSandboxError)
    return away or (isinstance(error, OSError) and error.errno in NO_ROOM)


def next_turn(deliveries: Sequence[Delivered], attempts: Sequence[Attempt], rules: Rules, now: datetime) -> Turn:
    """Decide what is to be graded of what a student has handed in. It depends on times and the order of arrival alone.

    A clock that was set back shows in work that arrives long before the attempt before it: that one is no reason to
    wait, and what was collected at a time that is still to come leaves nothing out.

    After an attempt that is graded, the next one is the latest that arrives while the pause lasts, or else the first
    that arrives later. Whatever that one replaces is left out at once, so that few wait, however long the pause is.
    """
    finished = {each.delivery for each in attempts if each.finished}  # what came of them is written down
    deliveries = [each for each in deliveries if each.name not in finished]
    by_hand = attempts[0].when if attempts and attempts[0].delivery == COLLECTED else None
    old = tuple(each for each in deliveries if by_hand and each.arrived <= by_hand <= now)
    new = sorted((each for each in deliveries if each not in old), key=lambda each: each.seen)
    left_out = tuple((each, COLLECTED_BEFORE) for each in old)
    done, used = [each.when for each in counted(attempts) if each.when], len(counted(attempts))
    if rules.attempts and used >= rules.attempts:
        why = f"{number(rules.attempts, 'attempt')} can be graded, and you have had them."
        return Turn(None, (*left_out, *((each, why) for each in new)))
    if not new:
        return Turn(None, left_out)
    pause = rules.pause_after(used)
    began = [when for when in done[-1:] if when <= new[-1].arrived + pause]
    ends = max([new[0].arrived, *(rules.pause_ends(when, used) for when in began)])
    *replaced, chosen = (each for each in new if each.arrived <= ends)
    within = duration(pause.total_seconds())
    why = f"You handed in again within {within} of an attempt: the last one of these is graded."
    left_out = (*left_out, *((each, why) for each in replaced))
    later = tuple(each for each in new if each.arrived > ends)
    if new[0].arrived < ends and now < ends:
        return Turn(None, left_out, (chosen, *later), ends)
    return Turn(chosen, left_out, later)


def files_in(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the path, the time of change in nanoseconds and the size of all that is in a folder."""
    for path in sorted(folder.rglob("*")):
        try:
            status = path.lstat()
        except OSError:  # renamed meanwhile, as whoever copies does, or out of reach
            continue
        yield path.as_posix(), status.st_mtime_ns, status.st_size
