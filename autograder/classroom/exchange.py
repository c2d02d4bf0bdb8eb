"""nbgrader's exchange, collected as a border: every student can write there, and the teacher's rights read it.

nbgrader's own command, Formgrader's button and ours all end here. Of what a student hands in,
the lesson's notebook is taken, and the secret by which feedback finds its way back. Nothing else is opened. Whatever
lies in a student's hands is read by a process of its own, which can wait for ever in their place.
"""

from __future__ import annotations

import datetime
import logging
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import CollectApp
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import capture_log, temp_attrs

from ..authoring.nbgrader_course import raise_on_failure
from ..errors import CourseError, SubmissionError, UnansweredError, escaped
from ..grading.cells import BUDGET
from ..paths import Course, Lesson
from .archives import CollectionReport
from .attempts import read_attempts
from .exchange_folders import WRITTEN, Delivery, account, changed_at, ordered_deliveries, secret_in, uid_of
from .feedback import release_notice
from .plain_files import FolderContent, file_kind, open_folder, read_folder, status_in, unread
from .reader import NOBODY, Reader
from .rules import now_utc
from .submissions import (
    MOST_BESIDE,
    ODD_ID,
    SECRET,
    TIMESTAMP,
    changing_submissions,
    is_odd,
    store_submission,
    time_in,
    timestamp_of,
)

TOLERANCE = datetime.timedelta(minutes=10)  # between clocks, and between naming a folder and having filled it
MOST_TRIED = 5  # of one student's folders, the latest first
MOST_LINES = 3  # about one account


class CollectPlainFiles(ExchangeCollect):  # type: ignore[misc]
    """Collects from the exchange in nbgrader's place, with nbgrader's settings.

    With `check_owner`, the default, work counts as a student's if it belongs to the account of that name.
    """

    def init_src(self) -> None:
        """Do nothing: what is looked at has to be what is copied."""

    def copy_files(self) -> None:
        """Collect, and write the report into nbgrader's log."""
        lesson = self._course.lesson(self.coursedir.assignment_id)
        try:
            report = self.collect(lesson)
        except CourseError as error:
            self.fail(str(error))
        for line in report.lines(lesson):
            self.log.log(self._level(line), "%s", line)

    @staticmethod
    def _level(line: str) -> int:
        return logging.WARNING if line.startswith(("left out", "look at")) else logging.INFO

    @cached_property
    def _reader(self) -> Reader:
        return Reader()

    @property
    def _course(self) -> Course:
        return Course(Path(self.coursedir.root))

    def collect(self, lesson: Lesson) -> CollectionReport:
        """Collect what is newer than what was collected; return who was collected, and what was left out and why.

        Raises:
            CourseError: the course has no folder in the exchange, or it is somebody else's.
        """
        report, by_student = CollectionReport(), dict[str, list[Delivery]]()
        due = self._due(lesson) if self.before_duedate else None
        with self._inbound() as inbound:
            for delivery in self._deliveries(inbound, lesson, report, None, Counter()):
                own = [*by_student.get(delivery.student, []), delivery]
                by_student[delivery.student] = ordered_deliveries(own, due)[:MOST_TRIED]
            for student, deliveries in sorted(by_student.items()):
                self._take_latest(inbound, lesson, student, deliveries, report)
        report.keep(self._course, lesson, "exchange")
        return report

    def arrivals(
        self, lesson: Lesson, names: Collection[str], refused: Counter[int]
    ) -> tuple[list[Delivery], CollectionReport]:
        """Return some folders, in the order of their arrival, and a report about those that are not in order.

        Args:
            lesson: which lesson.
            names: the folders' names.
            refused: how many were refused before, by account: few lines are written about each. It is counted on.
        """
        report = CollectionReport()
        with self._inbound() as inbound:
            deliveries = list(self._deliveries(inbound, lesson, report, names, refused))
        return sorted(deliveries, key=lambda delivery: delivery.arrived), report

    def files_of(self, lesson: Lesson, delivery: Delivery) -> dict[str, bytes]:
        """Return what a folder holds, as it is stored. Raises SubmissionError where it cannot be taken."""
        with self._inbound() as inbound:
            return self._read(inbound, lesson, delivery, CollectionReport())

    def way_back(self, folder: str, owner: int) -> dict[str, bytes]:
        """Return the files by which a page about a folder finds its student; none where there are none."""
        try:
            with self._inbound() as inbound:
                secret = secret_in(self._contents(inbound, folder, owner))
        except (FileNotFoundError, SubmissionError):
            return {}
        return {SECRET: secret, TIMESTAMP: now_utc().strftime(WRITTEN).encode()}

    def owners_of(self, folders: Collection[str]) -> dict[str, int]:
        """Return whose folders are, as far as the file system says."""
        with suppress(SubmissionError, OSError), self._inbound() as inbound:
            return self._reader.owners(inbound, folders)
        return {}

    def _contents(self, inbound: int, folder: str, owner: int, notebook: str | None = None) -> FolderContent:
        """Return what is needed of a folder. Raises FileNotFoundError or SubmissionError where it cannot be read."""
        most = {SECRET: MOST_BESIDE} | ({notebook: BUDGET.bytes} if notebook else {})
        with readable():
            return self._reader.ask(read_folder, inbound, folder, most, owner)

    def tell(self, lesson: Lesson, student: str, folder: str, owner: int, why: str) -> None:
        """Tell a student why a folder was left out. Where that cannot be, the report alone says so."""
        with suppress(CourseError, OSError):
            release_notice(self._course, lesson, student, self.way_back(folder, owner), why, self.release)

    def release(self, lesson: Lesson, student: str, pages: Path) -> None:
        """Have nbgrader release one student's feedback.

        Raises:
            CourseError: nbgrader could not.
        """
        settings = {"assignment_id": lesson.name, "student_id": student, "feedback_directory": str(pages)}
        factory = ExchangeFactory(parent=self.parent)
        with temp_attrs(self.coursedir, **settings):
            step = factory.ReleaseFeedback(coursedir=self.coursedir, parent=self.parent)
            raise_on_failure(capture_log(step), "feedback was not released")

    @property
    def inbound(self) -> Path:
        """The folder that students hand in to."""
        return Path(self.root, self.coursedir.course_id, "inbound")

    def is_released(self, lesson: Lesson) -> bool:
        """Say whether students can fetch a lesson."""
        return Path(self.root, self.coursedir.course_id, "outbound", lesson.name).is_dir()

    @contextmanager
    def _inbound(self) -> Iterator[int]:
        """Give a descriptor of the folder that students hand in to, after a look at whose it is."""
        course, path = self.coursedir.course_id, Path(self.root)
        with ExitStack() as stack:
            try:
                descriptor = stack.enter_context(open_folder(path, (course,)))
                self._refuse_foreign(descriptor, path / course)
                descriptor = stack.enter_context(open_folder(descriptor, ("inbound",)))
                self._refuse_foreign(descriptor, path / course / "inbound")
            except FileNotFoundError as error:
                raise CourseError(f"{path} has no folder {course}/inbound: release a lesson first") from error
            yield descriptor

    def _refuse_foreign(self, folder: int, path: Path) -> None:
        owner = os.fstat(folder).st_uid
        if owner not in (0, os.geteuid()) and not self.coursedir.groupshared:
            raise CourseError(f"{path} belongs to {account(owner)}: ask an administrator to remove it")

    def _deliveries(
        self,
        inbound: int,
        lesson: Lesson,
        report: CollectionReport,
        chosen: Collection[str] | None,
        refused: Counter[int],
    ) -> Iterator[Delivery]:
        """Yield a lesson's folders, all or some, whose names and owners are in order; report the others."""
        students = self.coursedir.student_id or "*"
        pattern = re.compile(rf"(?P<student>.+)\+{re.escape(lesson.name)}\+(?P<time>.*?)(\+[\w-]{{6,}})?", re.DOTALL)
        for name in os.listdir(inbound) if chosen is None else chosen:
            words = re.fullmatch(pattern, name)
            if not words or not fnmatchcase(words["student"], students):
                continue
            try:
                with readable():
                    delivery = self._delivery(inbound, name, words["student"], words["time"])
                yield delivery
            except FileNotFoundError:  # taken back
                continue
            except SubmissionError as error:
                owner, again = self.owners_of([name]).get(name, NOBODY), isinstance(error, UnansweredError)
                report.unanswered += [name] * again
                refused[owner] += 1
                if refused[owner] <= MOST_LINES:
                    report.left_out.append(f"{escaped(name)}: {error}")
                    if not again and not is_odd(words["student"]) and self._is_of(owner, words["student"]):
                        self.tell(lesson, words["student"], name, owner, str(error))
                elif refused[owner] == MOST_LINES + 1:
                    report.left_out.append(f"more folders of {account(owner)}, for such reasons")

    def _delivery(self, inbound: int, folder: str, student: str, time: str) -> Delivery:
        """Return what a folder's name says. Raises SubmissionError where that cannot be."""
        status, handed_in = self._reader.ask(status_in, inbound, folder), time_in(time)
        kind = file_kind(status.st_mode)
        if kind != "a folder":
            raise SubmissionError(f"is {kind}, not a folder")
        if is_odd(student):
            raise SubmissionError(ODD_ID)
        if not self._is_of(status.st_uid, student):
            raise SubmissionError(f"named after {student}, and belongs to {account(status.st_uid)}")
        if handed_in is None:
            raise SubmissionError("there is no time in its name")
        if handed_in > max(now_utc(), changed_at(status)) + TOLERANCE:  # a clock that was set back is the system's
            why = (
                "the clock of the computer that it was handed in from is fast, or c.Exchange.timezone there is not UTC"
            )
            raise SubmissionError(f"its time is in the future: {why}")
        return Delivery(folder, student, handed_in, changed_at(status), status.st_uid)

    def _is_of(self, owner: int, student: str) -> bool:
        """Say whether what belongs to an account counts as a student's."""
        return not self.check_owner or owner == uid_of(student)

    def _due(self, lesson: Lesson) -> datetime.datetime | None:
        with suppress(MissingEntry), Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            due: datetime.datetime | None = gradebook.find_assignment(lesson.name).duedate
            return due
        return None

    def _take_latest(
        self, inbound: int, lesson: Lesson, student: str, deliveries: list[Delivery], report: CollectionReport
    ) -> None:
        """Store the first folder that can be read, unless that is what was collected before."""
        for delivery in deliveries:
            try:
                if not self._is_wanted(inbound, lesson, delivery):
                    report.as_before.add(student)
                    return
                files = self._read(inbound, lesson, delivery, report)
            except FileNotFoundError:  # taken back
                continue
            except SubmissionError as error:
                report.left_out.append(f"{escaped(delivery.folder)}: {error}")
                self.tell(lesson, student, delivery.folder, delivery.owner, str(error))
                continue
            with changing_submissions(self._course):
                store_submission(self._course, lesson, student, files)
            self._share(self._course.submission(lesson, student).parent)
            report.collected[student] = delivery.folder
            return

    def _is_wanted(self, inbound: int, lesson: Lesson, delivery: Delivery) -> bool:
        """Say whether a folder takes the place of what was collected before. The secret beside both tells them apart.

        Raises:
            FileNotFoundError: the folder is gone.
            SubmissionError: it is not in order.
        """
        stored = self._course.submission(lesson, delivery.student).with_name(SECRET)
        if not stored.parent.exists():
            return True
        if not self.update or self._was_attempted(lesson, delivery):
            return False
        secret = secret_in(self._contents(inbound, delivery.folder, delivery.owner))
        if stored.is_file() and stored.read_bytes() == secret:
            return False
        try:
            before = timestamp_of(self._course, lesson, delivery.student)
        except SubmissionError:
            before = None
        return self.before_duedate or before is None or before > now_utc() + TOLERANCE or delivery.arrived > before

    def _was_attempted(self, lesson: Lesson, delivery: Delivery) -> bool:
        """Say whether a folder was dealt with at hand-in: which of a student's folders counts is decided there."""
        with suppress(CourseError):  # damaged notes, of which grading at hand-in tells
            noted = read_attempts(self._course, lesson, delivery.student)
            return delivery.folder in {attempt.delivery for attempt in noted}
        return False

    def _read(self, inbound: int, lesson: Lesson, delivery: Delivery, report: CollectionReport) -> dict[str, bytes]:
        """Return the files to keep, by name. Raises SubmissionError where one cannot be taken."""
        name = lesson.notebook_name
        try:
            found = self._contents(inbound, delivery.folder, delivery.owner, name)
        except FileNotFoundError as error:
            raise SubmissionError("it was there, and is gone") from error
        if found.status.st_uid != delivery.owner:
            raise SubmissionError(f"belongs to {account(found.status.st_uid)} now")
        secret = secret_in(found)
        if name not in found.files:
            raise SubmissionError(f"no {name}; the folder holds {found.listing}")
        arrived = max(changed_at(found.status), changed_at(found.statuses[name]))
        if arrived > delivery.handed_in + TOLERANCE:
            counts = f"was changed at {arrived:%F %T}, which counts"
            report.remarks.append(
                f"{delivery.student}: it says that it was handed in at {delivery.handed_in:%F %T} UTC, and {counts}"
            )
        return {TIMESTAMP: arrived.strftime(WRITTEN).encode(), SECRET: secret, name: found.files[name]}

    def _share(self, folder: Path) -> None:
        """Let the course's group read and write what was stored, where nbgrader is told so."""
        if self.coursedir.groupshared:
            for path in (folder.parent, folder):
                path.chmod(0o2770)
            for path in folder.iterdir():
                path.chmod(0o660)


def collect_from_exchange(course: Course, lesson: Lesson) -> CollectionReport:
    """Collect a lesson as `nbgrader collect --update` does, with all settings that nbgrader would read."""
    return open_exchange(course).collect(lesson)


def open_exchange(course: Course) -> CollectPlainFiles:
    """Return a course's exchange, with all settings that nbgrader would read."""
    app = CollectApp()
    app.initialize([], root=str(course.root))
    app.log_level = logging.WARNING
    return CollectPlainFiles(coursedir=app.coursedir, parent=app, update=True)


@contextmanager
def readable() -> Iterator[None]:
    """Raise SubmissionError where a file system does not answer, which can be a student's own."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unread("cannot be read", error) from error
