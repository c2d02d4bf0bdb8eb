"""Grading at hand-in: what arrives is graded, counted by the lesson's rules, and its feedback is released."""

import os
import re
import shutil
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from errno import EACCES, EAGAIN, ENOSPC, ESTALE
from functools import partial
from hashlib import sha256
from pathlib import Path
from signal import SIGINT, SIGTERM, getsignal, raise_signal, signal
from threading import Event
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom import attempt_writer, grade_again, rules, run
from autograder.classroom import exchange as exchange_module
from autograder.classroom import serve as serve_module
from autograder.classroom.alone import only_one
from autograder.classroom.attempt_writer import AttemptWriter, Work
from autograder.classroom.attempts import (
    GRADED,
    LEFT_OUT,
    REFUSED,
    USED,
    Attempt,
    forget_attempts,
    read_attempts,
    write_attempts,
)
from autograder.classroom.begun import ENDED, MOST_ENDS, Begun
from autograder.classroom.commands import COMMANDS
from autograder.classroom.deliveries import Delivered, counted
from autograder.classroom.exchange import CollectPlainFiles, collect_from_exchange
from autograder.classroom.feedback import TOO_SLOW, make_feedback
from autograder.classroom.gradebook import open_gradebook, scores_by_student
from autograder.classroom.plain_files import read_folder, status_in
from autograder.classroom.reader import Reader
from autograder.classroom.rules import now_utc, rules_now, rules_of
from autograder.classroom.run import grade_lesson, register
from autograder.classroom.serve import MOST_FAULTS, MOST_TRIES, HandInService
from autograder.classroom.submissions import store_submission
from autograder.classroom.writer import GradebookWriter
from autograder.errors import CourseError, GradebookError, SandboxError, ScarcityError, UnreleasedError
from autograder.grading.cells import BUDGET
from autograder.paths import CONFIG_NAME, Course

from . import handing_in
from .conftest import FRAGILE, LESSON, needs_sandbox
from .handing_in import add_exchange, configure, page_of, rewrite

# nbgrader leaves a file to the garbage collector when it releases feedback
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{name}")
    for name in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
]
UNSAFE = {"allow_unsandboxed": True}
END_SECONDS = 600.0  # far more than it takes; a slow computer decides nothing


@pytest.fixture
def exchange(tmp_path_factory, scratch: Course, monkeypatch) -> Path:
    """An exchange, and a course that collects from it."""
    root = add_exchange(scratch, tmp_path_factory.mktemp("exchange"))
    root.chmod(0o777)
    monkeypatch.chdir(scratch.root)
    return root


def hand_in(exchange: Path, student: str, content: str, lesson: str = LESSON, secret: str | None = None) -> str:
    return handing_in.hand_in(exchange, student, content, lesson, secret)


def feedback(exchange: Path, secret: str) -> str:
    """Return the page that a student can fetch."""
    return page_of(exchange, secret, LESSON).read_text()


@pytest.fixture
def service(scratch: Course, exchange: Path, notebooks: dict[str, str]) -> Iterator["Running"]:
    with ThreadPoolExecutor(1) as pool:
        yield Running(scratch, pool, exchange, notebooks)


class Running:
    """A service that works until nothing is left to do."""

    def __init__(self, course: Course, pool: ThreadPoolExecutor, exchange: Path, notebooks: dict[str, str]) -> None:
        self.said: list[str] = []
        self.course, self.lesson, self._pool = course, course.lesson(LESSON), pool
        self._exchange, self._notebooks = exchange, notebooks
        self.begin()

    def begin(self) -> None:
        self.service = HandInService(self.course, self._pool, 1, UNSAFE, self.said.append)

    def run(self) -> None:
        self.service.look()
        while self.service.waiting:
            self.service.start()
            self.service.finish(0.01)

    def submit(self, student: str, name: str) -> str:
        """Have a student hand in one of the notebooks, and grade it; return the secret of its feedback."""
        secret = hand_in(self._exchange, student, self._notebooks[name])
        self.run()
        return secret

    def attempts(self, student: str) -> list[Attempt]:
        return read_attempts(self.course, self.lesson, student)

    def points(self) -> dict[str, float]:
        with open_gradebook(self.course) as gradebook:
            return {s.student.id: s.score for s in gradebook.assignment_submissions(LESSON)}

    def net_points(self) -> dict[str, float]:
        """Return the points less what is taken off for being late."""
        with open_gradebook(self.course) as gradebook:
            return {student: s.score for student, s in scores_by_student(gradebook, LESSON).items()}


@pytest.fixture(scope="module")
def notebooks(package, right) -> dict[str, str]:
    edits = {"right": right, "nothing": {}, "fragile": {**right, "attend": FRAGILE}}
    return {name: notebook_text(submission(package, cells)) for name, cells in edits.items()}


def test_what_is_handed_in_is_graded_and_its_feedback_released(service, exchange, notebooks) -> None:
    secret = service.submit("ada", "right")
    (attempt,) = service.attempts("ada")
    assert service.points()["ada"] == attempt.points > 0
    page = feedback(exchange, secret)
    assert "Attempt 1. It counts." in page
    assert "all checks passed" in page
    results = grade_lesson(service.course, service.lesson, options=UNSAFE)
    assert [(r.student, r.status) for r in results] == [("ada", "as before")]


def test_the_best_attempt_counts_and_each_has_its_own_feedback(service, exchange, notebooks) -> None:
    first = service.submit("ada", "right")
    best = service.points()["ada"]
    second = service.submit("ada", "nothing")
    assert service.points() == {"ada": best}
    assert "Attempt 1. It counts." in feedback(exchange, first)
    assert f"Attempt 2. It does not count: attempt 1 counts, with {best:g} of" in feedback(exchange, second)
    assert "not started" in feedback(exchange, second)
    stored = service.course.submission(service.lesson, "ada").read_text()
    assert stored == notebooks["right"]
    assert list(service.course.attempts.glob(f"ada/{LESSON}/*")) == []


def test_what_was_forgotten_is_not_graded_again_and_what_counted_stays(service, exchange, notebooks) -> None:
    for name in ("right", "nothing"):
        service.submit("ada", name)
    before = service.points()
    assert forget_attempts(service.course, "ada") == 1
    assert [(a.points, a.arrived, a.submission) for a in service.attempts("ada")] == [(0, "", "")] * 2
    assert forget_attempts(service.course, "ada") == 0
    graded = sum("attempt" in line for line in service.said)
    service.begin()
    service.service.regrade()
    service.run()
    assert sum("attempt" in line for line in service.said) == graded
    service.submit("ada", "nothing")
    assert sum("attempt" in line for line in service.said) == graded + 1
    assert service.points() == before


@pytest.mark.parametrize("when", ["write", "_explain"])
def test_who_is_forgotten_while_an_attempt_is_released_stays_forgotten(
    service, exchange, notebooks, monkeypatch, when
) -> None:
    real = AttemptWriter.release

    def release(*given) -> str:
        forget_attempts(service.course, "ada")
        return real(*given)

    hand_in(exchange, "ada", notebooks["fragile"])
    if when == "_explain":
        service.run()
        configure(service.course, "c.HandIn.due = '2026-01-01'\n")
    monkeypatch.setattr(AttemptWriter, "release", release)
    service.run()
    service.service._looked_for_due = 0.0
    service.service.finish(0)
    assert [(a.finished, a.points, a.submission) for a in service.attempts("ada")] == [(True, 0, "")]


def test_who_is_forgotten_has_no_attempts_anew_and_loses_none(service, exchange, notebooks) -> None:
    configure(service.course, "c.HandIn.attempts = 3\n")
    for _ in range(2):
        service.submit("ada", "nothing")
    for name, points in (("nothing", False), ("right", False)):
        forget_attempts(service.course, "ada")
        secret = service.submit("ada", name)
        assert bool(service.points()["ada"]) is points
    assert "3 attempts can be graded" in feedback(exchange, secret)
    assert sum(": 0 of" in line for line in service.said) == 3


def test_work_from_before_a_clock_was_set_back_is_graded(service, exchange, notebooks, monkeypatch) -> None:
    hand_in(exchange, "ada", notebooks["right"])
    real = now_utc()
    monkeypatch.setattr("autograder.classroom.exchange.now_utc", lambda: real - timedelta(hours=1))
    service.run()
    assert [a.status for a in service.attempts("ada")] == [GRADED]


def test_an_exchange_whose_clock_is_ahead_makes_nobody_wait_longer(
    reader: HandInService, exchange: Path, monkeypatch
) -> None:
    configure(reader.course, "c.HandIn.pause = 60\n")
    monkeypatch.setattr("autograder.classroom.serve.now_utc", lambda: datetime.now() - timedelta(days=1))
    monkeypatch.setattr(AttemptWriter, "attempts_of", lambda *_: [earlier])
    earlier = Attempt("earlier", now_utc().isoformat(), released="open")
    turn(reader, exchange, "ada")
    assert running(reader) == []
    ((delivered,),) = reader._waiting.values()
    reader._waiting = {(LESSON, "ada"): [replace(delivered, seen=delivered.seen - 61)]}
    reader.start()
    assert running(reader) == [("ada", LESSON)]


def test_where_the_last_attempt_counts_it_takes_the_place_of_a_better_one(service, exchange, notebooks) -> None:
    configure(service.course, "c.HandIn.counts = 'last'\n")
    for name in ("right", "nothing"):
        service.submit("ada", name)
    assert service.points() == {"ada": 0}


def test_hidden_checks_are_counted_until_nobody_can_hand_in_any_more(service, exchange, notebooks) -> None:
    due = datetime.now(UTC) + timedelta(hours=1)
    configure(service.course, f"c.HandIn.due = {due.isoformat()!r}\n")
    secret = service.submit("ada", "fragile")
    page = feedback(exchange, secret)
    assert re.search(r"Hidden check: \d of \d did not pass", page)
    assert "infinity over infinity" not in page
    assert "cores in the thousands" not in page
    configure(service.course, f"c.HandIn.due = {(due - timedelta(hours=2)).isoformat()!r}\n")
    service.service._looked_for_due = 0.0
    service.service.finish(0)
    assert "infinity over infinity" in feedback(exchange, secret)
    assert service.attempts("ada")[0].released == "full"


def test_hidden_checks_are_explained_at_once_and_beside_work_that_takes_long(service, exchange, notebooks) -> None:
    secrets = [hand_in(exchange, student, notebooks["fragile"]) for student in ("ada", "bob")]
    service.run()
    configure(service.course, "c.HandIn.due = '2026-01-01'\n")
    began, service.service._looked_for_due = time.monotonic(), 0.0
    service.service.finish(END_SECONDS)  # waits for nothing where there is a page to make
    service.service._running[Future()] = None
    service.service.finish(END_SECONDS)
    assert time.monotonic() - began < END_SECONDS
    assert all("infinity over infinity" in feedback(exchange, secret) for secret in secrets)


def test_a_look_for_what_is_due_asks_the_database_twice_however_many_pages_there_are(service, monkeypatch) -> None:
    opened, real = [], rules.due_dates
    monkeypatch.setattr(rules, "due_dates", lambda connection: opened.append(connection) or real(connection))
    service.service._writer.withheld = {(lesson, f"s{n}") for lesson in (LESSON, "03_scaling") for n in range(5)}
    service.service.finish(0)
    assert len(opened) == 2


def test_what_cannot_be_graded_is_told_to_its_student_and_stops_nobody(service, exchange, notebooks) -> None:
    broken, good = hand_in(exchange, "bob", "{"), hand_in(exchange, "ada", notebooks["right"])
    service.run()
    assert "cannot be read as a notebook" in feedback(exchange, broken)
    assert "It counts" in feedback(exchange, good)
    assert [attempt.status for attempt in service.attempts("bob")] == [REFUSED]
    (bob,) = (r for r in grade_lesson(service.course, service.lesson, options=UNSAFE) if r.student == "bob")
    assert bob.needs_person


TOO_LARGE = "x" * (BUDGET.bytes + 1)


def test_who_hands_in_too_much_is_told_what_to_do(service, exchange, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.serve.SETTLED_SECONDS", -1.0)
    secret = hand_in(exchange, "bob", TOO_LARGE)
    service.run()
    assert "larger than 5 MB" in feedback(exchange, secret)
    assert "Clear Outputs of All Cells" in feedback(exchange, secret)


@pytest.mark.parametrize(
    ("content", "name", "words"), [(TOO_LARGE, "", "5 MB"), ("{}", "2099-01-01 00:00:00 UTC", "future")]
)
def test_who_is_left_out_when_a_teacher_collects_is_told_why(service, exchange, content, name: str, words: str) -> None:
    secret = hand_in(exchange, "bob", content)
    (folder,) = service.service.exchange.inbound.iterdir()
    if name:
        folder.rename(folder.with_name(f"bob+{LESSON}+{name}"))
    report = collect_from_exchange(service.course, service.lesson)
    assert len(report.left_out) == 1
    assert words in feedback(exchange, secret)


def test_who_was_collected_and_cannot_be_graded_has_a_page_that_says_so(service, exchange) -> None:
    hand_in(exchange, "bob", "{")
    collect_from_exchange(service.course, service.lesson)
    grade_lesson(service.course, service.lesson, options=UNSAFE)
    assert make_feedback(service.course, service.lesson).pages
    page = service.course.feedback_page(service.lesson, "bob")
    assert "has to be handed in again" in page.read_text()
    assert {"submission_secret.txt", "timestamp.txt"} <= {path.name for path in page.parent.iterdir()}


def test_an_empty_secret_stops_nobody(service, exchange, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.serve.SETTLED_SECONDS", -1.0)
    hand_in(exchange, "mallory", notebooks["right"], secret="")
    good = hand_in(exchange, "ada", notebooks["right"])
    service.run()
    assert "It counts" in feedback(exchange, good)
    assert [(attempt.status, "secret" in attempt.note) for attempt in service.attempts("mallory")] == [(REFUSED, True)]


def test_who_has_to_wait_for_long_is_told_until_when_once(reader, exchange, monkeypatch) -> None:
    monkeypatch.setattr(attempt_writer, "NOTICE_SECONDS", -1.0)
    configure(reader.course, "c.HandIn.pause = 3600\nc.HandIn.time_zone = 'Europe/Berlin'\n")
    lesson = reader.course.lesson(LESSON)
    write_attempts(reader.course, lesson, "ada", graded("before", 1, released="open"))
    when = rules_now(reader.course, LESSON).shown(now_utc() + timedelta(hours=1))
    first = hand_in(exchange, "ada", "{}")
    for _ in range(2):
        turn(reader)
    assert f"<p>It was handed in, and is graded at {when}" in feedback(exchange, first)
    assert (len(reader.said), reader.waiting) == (1, 1)
    second = hand_in(exchange, "ada", "{}")
    turn(reader)
    assert "An attempt was not graded" in feedback(exchange, first)
    assert "is graded at" in feedback(exchange, second)


@pytest.mark.parametrize("pause", [200, 0])
def test_who_waits_for_a_few_minutes_is_told_nothing(reader, exchange, pause: int) -> None:
    configure(reader.course, f"c.HandIn.pause = {pause}\n")
    lesson = reader.course.lesson(LESSON)
    write_attempts(reader.course, lesson, "ada", graded("before", 1, released="open"))
    secret = hand_in(exchange, "ada", "{}")
    turn(reader)
    assert not page_of(exchange, secret, LESSON).exists()


def test_what_comes_after_the_last_attempt_is_left_out_and_said(service, exchange, notebooks) -> None:
    configure(service.course, "c.HandIn.attempts = 1\n")
    service.submit("ada", "nothing")
    secret = service.submit("ada", "right")
    assert "1 attempt can be graded" in feedback(exchange, secret)
    assert [attempt.status for attempt in service.attempts("ada")] == [GRADED, LEFT_OUT]
    assert service.points() == {"ada": 0}


def test_another_process_goes_on_with_what_was_not_released(service, exchange, notebooks, monkeypatch) -> None:
    secret = hand_in(exchange, "ada", notebooks["right"])
    monkeypatch.setattr(AttemptWriter, "release", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        service.run()
    monkeypatch.undo()
    monkeypatch.chdir(service.course.root)
    before = service.points()
    service.begin()
    service.run()
    assert service.points() == before
    assert [attempt.released for attempt in service.attempts("ada")] == ["open"]
    assert "It counts" in feedback(exchange, secret)
    service.begin()
    service.run()
    assert len(service.attempts("ada")) == 1


def test_a_second_service_waits_until_the_first_ends(scratch: Course) -> None:
    said, said_it, in_turn = [], Event(), Event()

    def second() -> None:
        with only_one(scratch, lambda line: (said.append(line), said_it.set())):
            in_turn.set()

    with ThreadPoolExecutor(1) as pool:
        with only_one(scratch, said.append):
            waiting = pool.submit(second)
            assert said_it.wait(END_SECONDS)
            assert not in_turn.is_set()
        waiting.result(END_SECONDS)
    assert len(said) == 1


def test_who_cannot_reach_the_database_hears_that_and_nothing_of_another_service(scratch: Course, monkeypatch) -> None:
    pytest.importorskip("psycopg")
    configure(scratch, "c.CourseDirectory.db_url = 'postgresql+psycopg://ada@127.0.0.1:1/none'\n")
    monkeypatch.setattr(time, "sleep", lambda _: 1 / 0)
    said: list[str] = []
    with pytest.raises(ZeroDivisionError), only_one(scratch, said.append):
        pass
    assert ["The gradebook cannot be used" in line for line in said] == [True]


def test_what_is_graded_by_hand_meanwhile_does_not_take_a_later_attempts_place(
    service, exchange, notebooks, monkeypatch
) -> None:
    service.submit("ada", "nothing")
    real = run.grade

    def grade(submission):
        service.submit("ada", "right")
        return real(submission)

    monkeypatch.setattr(run, "grade", grade)
    (result,) = grade_lesson(service.course, service.lesson, options=UNSAFE, force=True)
    assert "handed in again while it was graded" in result.note
    assert service.points()["ada"] == service.attempts("ada")[1].points > 0


def test_the_inbox_is_graded_where_there_is_no_hub(service, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -1.0)
    folder = service.course.inbox / LESSON
    folder.mkdir(parents=True)
    (folder / "jane.ipynb").write_text(notebooks["nothing"])
    service.run()
    (folder / "jane.ipynb").write_text(notebooks["right"])
    service.run()
    assert [attempt.points for attempt in service.attempts("jane")] == [0, service.points()["jane"]]
    assert "It counts, being the best" in service.course.feedback_page(service.lesson, "jane").read_text()


def test_a_file_from_the_future_holds_up_nothing_in_the_inbox(service, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", 0.1)
    file = service.course.inbox / LESSON / "jane.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(notebooks["nothing"])
    os.utime(file, (4e9, 4e9))  # as an archive says that is unpacked
    service.service.look()
    time.sleep(0.2)
    service.service.look()
    assert service.service.waiting == 1


def test_two_files_of_one_student_in_the_inbox_are_two_attempts(service, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -60.0)
    folder = service.course.inbox / LESSON
    folder.mkdir(parents=True)
    (folder / "jane.ipynb").write_text(notebooks["right"])
    service.service.look()
    (folder / "jane.ipynb").write_text(notebooks["nothing"])
    service.service.look()
    service.run()
    assert service.points()["jane"] == max(attempt.points for attempt in service.attempts("jane")) > 0


def test_the_same_file_handed_in_at_another_time_is_another_attempt_in_the_inbox(
    reader, notebooks, monkeypatch
) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -60.0)
    folder = reader.course.inbox / LESSON
    folder.mkdir(parents=True)
    for second in (1, 2, 2):
        (folder / f"{LESSON}_jane_attempt_2026-01-01-12-00-0{second}_a.ipynb").write_text(notebooks["right"])
        reader.look()
    assert [each.arrived.second for each in reader._waiting[LESSON, "jane"]] == [1, 2]


def test_nobody_is_late_because_a_teacher_fills_the_inbox_late(service, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -1.0)
    configure(service.course, "c.HandIn.due = '2026-01-01'\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    for name in ("jane.ipynb", "joe_LATE_101_901_x.ipynb"):
        folder = service.course.inbox / LESSON
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(notebooks["right"])
    service.run()
    points = service.net_points()
    assert [points[student] > 0 for student in sorted(points)] == [True, False]
    (attempt,) = read_attempts(service.course, service.lesson, max(points), rules_now(service.course, LESSON))
    assert (attempt.penalty > 0, attempt.points) == (True, 0)


@pytest.mark.parametrize("restarted", [True, False])
def test_an_extension_that_is_given_afterward_is_taken_and_costs_nothing_later(
    service, exchange, notebooks, restarted: bool
) -> None:
    dates = "c.HandIn.due = '2026-01-01'\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"
    configure(service.course, dates)
    secret = service.submit("ada", "right")
    assert service.net_points() == {"ada": 0}
    configure(service.course, "c.HandIn.extensions = {'ada': '2999-01-01'}\n")
    if restarted:
        service.begin()
        service.service.regrade()
    service.service.start()
    service.run()
    full = service.net_points()["ada"]
    assert full == sum(service.attempts("ada")[0].exercises.values()) > 0
    assert f"{full:g} of" in feedback(exchange, secret)
    service.begin()
    service.service.regrade()
    assert service.service.waiting == 0
    service.submit("ada", "nothing")
    assert service.net_points() == {"ada": full}
    assert [a.status for a in service.attempts("ada")] == [GRADED, GRADED]


def test_what_was_collected_by_hand_is_not_graded_again(service, exchange, notebooks) -> None:
    hand_in(exchange, "ada", notebooks["right"])
    collect_from_exchange(service.course, service.lesson)
    grade_lesson(service.course, service.lesson, options=UNSAFE)
    service.run()
    assert [attempt.status for attempt in service.attempts("ada")] == [GRADED, LEFT_OUT]
    service.submit("ada", "nothing")
    assert service.points()["ada"] == service.attempts("ada")[0].points > 0


def test_only_what_is_released_is_graded(reader: HandInService, exchange: Path, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.FRESH_SECONDS", -1.0)
    (released := exchange / "attention" / "outbound" / LESSON).rmdir()
    hand_in(exchange, "ada", "{}")
    hand_in(exchange, "bob", "{}", "03_scaling")
    reader.look()
    assert [student for _, student in reader._waiting] == ["bob"]
    released.mkdir()
    reader.look()
    assert sorted(student for _, student in reader._waiting) == ["ada", "bob"]


def test_the_same_notebook_in_time_and_late_is_two_attempts_also_when_rules_change(
    service, exchange, notebooks
) -> None:
    first = hand_in(exchange, "ada", notebooks["right"])
    service.run()
    second = hand_in(exchange, "ada", notebooks["right"])
    service.run()
    (one, two), full = service.attempts("ada"), service.points()["ada"]
    assert "Attempt 2. It counts" in feedback(exchange, second)
    due = (two.when - timedelta(microseconds=1)).isoformat()
    configure(service.course, f"c.HandIn.due = '{due}'\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    service.service.start()
    service.run()
    assert (service.net_points(), service.attempts("ada")[0].when) == ({"ada": full}, one.when)
    assert "Attempt 1. It counts. Due " in re.sub(r"(<[^>]*>)+", " ", feedback(exchange, first))


def test_an_extension_for_nobody_is_one_line(reader: HandInService, exchange: Path) -> None:
    with open_gradebook(reader.course) as gradebook:
        gradebook.add_student("ada")
    configure(reader.course, "c.HandIn.extensions = {name: '2999-01-01' for name in ('ada', 'Ada', 'root')}\n")
    reader.regrade()
    assert reader.said == ["look at nbgrader_config.py: extensions for Ada, and nobody has that name yet"]


def test_who_collects_beside_it_does_not_take_what_an_attempt_was(reader: HandInService, exchange) -> None:
    course, lesson = reader.course, reader.course.lesson(LESSON)
    store_submission(
        course, lesson, "ada", {lesson.notebook_name: b"best", "timestamp.txt": b"2026-01-01 12:00:00 UTC"}
    )
    hand_in(exchange, "ada", "worse")
    (folder,) = reader.exchange.inbound.iterdir()
    write_attempts(course, lesson, "ada", graded("best", 4, released="open"), graded(folder.name, 0, released="open"))
    report = collect_from_exchange(course, lesson)
    assert (report.as_before, course.submission(lesson, "ada").read_text()) == ({"ada"}, "best")
    hand_in(exchange, "ada", "new")
    assert set(collect_from_exchange(course, lesson).collected) == {"ada"}


def test_the_lines_that_hub_md_shows_are_what_they_say(course: Course) -> None:
    page = (course.documents / "hub.md").read_text(encoding="utf-8")
    section = page.split("## Grade at hand-in")[1].split("\n## ")[0]
    hub, rules = re.findall(r"```python\n(.*?)```", section, re.S)
    (unit,) = re.findall(r"```ini\n(.*?)```", section, re.S)
    found = {"c": Config(JupyterHub={"services": []})}
    exec(hub, found)
    (service,) = found["c"].JupyterHub.services
    assert f"ExecStart={' '.join(service['command'])}\n" in unit
    assert service["command"][-1] in COMMANDS
    exec(rules, found := {"c": Config()})
    assert rules_of(found["c"], LESSON).shown(datetime(2026, 11, 30, 22, 59)) == "Mon 30 Nov 2026, 23:59 CET"
    found["c"].HandIn.lessons = {}
    assert rules_of(found["c"], LESSON) == replace(rules_of(Config(), LESSON), zone=ZoneInfo("Europe/Berlin"))


class NeverDone(Executor):
    def __init__(self) -> None:
        self.given: list[tuple[object, ...]] = []

    def submit(self, function, *arguments) -> Future:
        self.given.append(arguments)
        return Future()


@pytest.fixture
def reader(scratch: Course, exchange: Path) -> HandInService:
    """A service that never finishes grading; `said` is what it has said."""
    said: list[str] = []
    service = HandInService(scratch, NeverDone(), 1, UNSAFE, said.append)
    service.said = said
    return service


def turn(service: HandInService, exchange: Path | None = None, *students: str) -> None:
    """Let students hand in, and the service look once and begin."""
    for student in students if exchange else ():
        hand_in(exchange, student, "{}")
    service.look()
    service.start()


def running(service: HandInService) -> list[tuple[str, str]]:
    return [(work.delivered.student, work.delivered.lesson.name) for work in service._running.values()]


def after_a_kill(service: HandInService) -> HandInService:
    """Return the service that takes over from one whose process has been killed."""
    following = HandInService(service.course, NeverDone(), 1, UNSAFE, service.said.append)
    following.said = service.said
    turn(following)
    return following


def test_work_during_which_the_service_ends_again_and_again_is_refused(reader: HandInService, exchange: Path) -> None:
    hand_in(exchange, "mallory", "{}")
    for _ in range(MOST_ENDS):
        reader = after_a_kill(reader)
        assert running(reader) == [("mallory", LESSON)]
    reader = after_a_kill(reader)
    assert (running(reader), reader.waiting) == ([], 0)
    (attempt,) = read_attempts(reader.course, reader.course.lesson(LESSON), "mallory")
    assert (attempt.status, attempt.note) == (REFUSED, ENDED)
    assert f"needs a person  {ENDED}" in reader.said[-1]


def test_what_ran_when_the_service_ended_runs_alone_after_the_others(reader: HandInService, exchange: Path) -> None:
    for student in ("ada", "bob"):
        hand_in(exchange, student, "{}")
    reader = after_a_kill(reader)
    assert len(running(reader)) == 2
    for student in ("zoe", "kim"):
        hand_in(exchange, student, "{}")
    reader = after_a_kill(reader)
    assert sorted(student for student, _ in running(reader)) == ["kim", "zoe"]
    for _ in range(2):
        reader._running.clear()
        reader.start()
        assert len(running(reader)) == 1
    assert reader.waiting == 1


@pytest.fixture
def handlers() -> Iterator[None]:
    """What signals do, as before once the test is over."""
    before = {number: getsignal(number) for number in (SIGTERM, SIGINT)}
    yield
    for number, handler in before.items():
        signal(number, handler)


def test_whoever_stops_the_service_takes_nothing_from_anybody(
    reader: HandInService, exchange, monkeypatch, handlers
) -> None:
    hand_in(exchange, "ada", "{}")
    (folder,) = reader.exchange.inbound.iterdir()
    begun = []

    def stop(service: HandInService) -> None:
        service._pool = NeverDone()
        service.look()
        service.start()
        begun.append(Begun(reader.course).ended_one(folder.name))
        os.kill(os.getpid(), SIGTERM)

    monkeypatch.setattr(HandInService, "work", stop)
    with pytest.raises(SystemExit):
        COMMANDS["serve"](reader.course, Namespace(jobs=1, allow_unsandboxed=True))
    assert (begun, Begun(reader.course).ended_one(folder.name)) == ([True], False)


@pytest.mark.parametrize(("number", "raised"), [(SIGTERM, SystemExit), (SIGINT, KeyboardInterrupt)])
def test_a_service_ends_also_where_nbgrader_swallows_what_a_signal_raises(
    scratch, monkeypatch, handlers, number, raised
) -> None:
    turns = []

    def making_a_page(service: HandInService) -> None:
        turns.append(service)
        assert len(turns) == 1
        with suppress(raised):
            raise_signal(number)

    monkeypatch.setattr(HandInService, "work", making_a_page)
    assert COMMANDS["serve"](scratch, Namespace(jobs=1, allow_unsandboxed=True)) == 0


@pytest.mark.parametrize(("succeeded", "counted"), [(True, False), (False, True)])
def test_what_succeeds_is_not_held_against_it_any_more(scratch: Course, succeeded: bool, counted: bool) -> None:
    Begun(scratch).begin("ada's")
    begun = Begun(scratch)
    assert begun.ended_one("ada's")
    begun.begin("ada's")
    begun.end("ada's", succeeded=succeeded)
    assert Begun(scratch).ended_one("ada's") is counted


def test_a_page_during_which_the_service_ends_again_and_again_is_not_explained(reader: HandInService) -> None:
    configure(reader.course, "c.HandIn.due = '2026-01-01'\n")
    for _ in range(MOST_ENDS):
        Begun(reader.course).begin(f"{LESSON} bob")
    writer = after_a_kill(reader)._writer
    writer.withheld = {(LESSON, "bob")}
    assert writer.explain_one_that_is_due()
    assert reader.said[-1].endswith(f"not explained until a restart: {ENDED}")


def test_one_student_with_many_lessons_holds_up_nobody_else(reader: HandInService, exchange: Path) -> None:
    for student, lesson in (("mallory", LESSON), ("mallory", "03_scaling"), ("ann", LESSON)):
        hand_in(exchange, student, "{}", lesson)
    turn(reader)
    assert sorted(running(reader)) == [("ann", LESSON), ("mallory", LESSON)]
    for lesson in ("04_softmax", "05_masking"):
        hand_in(exchange, "mallory", "{}", lesson)
    hand_in(exchange, "zoe", "{}")
    reader.look()
    reader._running.clear()
    reader.start()
    assert running(reader)[0] == ("zoe", LESSON)


def test_who_hands_in_again_is_not_held_up_by_all_who_come_later(reader: HandInService, exchange: Path) -> None:
    turn(reader, exchange, "ann")
    reader._running.clear()
    reader._began["ann"] -= 60
    hand_in(exchange, "ann", "{}", "03_scaling")
    reader.look()
    turn(reader, exchange, "bob", "eve", "zoe")
    assert running(reader)[0] == ("ann", "03_scaling")


def test_nobody_waits_for_the_second_long_one_of_somebody_else(reader: HandInService, exchange: Path) -> None:
    reader._jobs, reader._had = 2, dict.fromkeys(("mallory", "malet"), (300.0, time.monotonic()))
    turn(reader, exchange, "mallory", "malet")
    assert len(running(reader)) == 1
    turn(reader, exchange, "ann", "zoe")
    assert [student for student, _ in running(reader)][1:] == ["ann", "zoe"]


LONG_CELL = "import time\nends = time.process_time() + 3\nwhile time.process_time() < ends:\n    pass\n"


@needs_sandbox
def test_first_long_ones_of_several_fresh_accounts_leave_a_worker_to_others(
    scratch: Course, exchange: Path, notebooks, monkeypatch
) -> None:
    monkeypatch.setattr("autograder.classroom.serve.SHORT_SECONDS", 2.0)  # a right one takes a quarter of one
    written = nbformat.reads(notebooks["right"], as_version=4)
    written.cells.insert(0, new_code_cell(LONG_CELL))
    attackers = [f"mallory{number}" for number in range(3)]
    for student in attackers:
        hand_in(exchange, student, nbformat.writes(written))
    hand_in(exchange, "ann", notebooks["right"])
    with ThreadPoolExecutor(2) as pool:
        service = HandInService(scratch, pool, 2, {}, lambda _: None)
        service.look()
        graded: dict[str, Attempt] = {}
        while service.waiting:
            service.start()
            service.finish(0.1)
            for student in (*attackers, "ann"):
                for attempt in read_attempts(scratch, scratch.lesson(LESSON), student):
                    graded.setdefault(student, attempt)
    assert list(graded).index("ann") <= 1
    assert len({attempt.points for attempt in graded.values()}) == 1
    assert len(graded) == 4


def test_what_is_graded_again_lets_those_go_first_who_hand_in(service, exchange, notebooks) -> None:
    for student in ("ada", "bob", "eve", "joe"):
        hand_in(exchange, student, notebooks["nothing"])
    service.run()
    checks = service.lesson.checks_py.read_text()
    service.lesson.checks_py.write_text(checks.replace("points=1", "points=3", 1))
    service.begin()
    service.service.regrade()
    service.submit("zoe", "nothing")
    lines = [line for line in service.said if "attempt 1" in line][4:]
    assert len(lines) == 5
    assert any(line.startswith("zoe") for line in lines[:2])


def test_a_class_that_is_graded_again_is_not_held_in_memory(reader: HandInService, exchange, monkeypatch) -> None:
    lesson, read = reader.course.lesson(LESSON), []

    def files(student: str) -> dict[str, bytes]:
        read.append(student)
        return {} if student == "gone" else {lesson.notebook_name: b"{}"}

    earlier = [Delivered(lesson, name, name, now_utc(), partial(files, name)) for name in ("gone", *"abcdef")]
    monkeypatch.setattr("autograder.classroom.serve.graded_earlier", lambda *_: earlier)
    write_attempts(reader.course, lesson, "a", Attempt("a", released="open"))
    reader.regrade()
    assert (read, reader.waiting) == ([], 7)
    reader.start()
    assert (read, running(reader)) == (["gone", "a", "b"], [("a", LESSON), ("b", LESSON)])
    assert reader.waiting == 6


def test_whose_notes_cannot_be_read_stops_nobody_else(reader: HandInService, exchange, monkeypatch) -> None:
    real = AttemptWriter.attempts_of

    def attempts_of(self, lesson, student: str) -> list[Attempt]:
        if student == "ada":
            raise PermissionError(EACCES, "Permission denied")
        return real(self, lesson, student)

    monkeypatch.setattr(AttemptWriter, "attempts_of", attempts_of)
    for student in ("ada", "bob"):
        hand_in(exchange, student, "{}")
        reader.look()
    for _ in range(2):
        with pytest.raises(PermissionError):
            reader.start()
    assert running(reader) == [("bob", LESSON)]
    assert reader.waiting == 2


def test_what_one_students_trouble_is_in_the_way_of_is_written_down_all_the_same(reader, monkeypatch) -> None:
    finished = []
    monkeypatch.setattr(reader, "look", partial(print, "looked"))
    monkeypatch.setattr(reader, "start", lambda: 1 / 0)
    monkeypatch.setattr(reader, "finish", finished.append)
    monkeypatch.setattr(serve_module, "RETRY_SECONDS", 0.0)
    reader.work()
    assert len(finished) == 1


@pytest.mark.parametrize(("number", "waiting"), [(EACCES, 0), (ENOSPC, 1)])
def test_what_cannot_be_written_about_one_student_is_left(reader, exchange, monkeypatch, number, waiting) -> None:
    def write_down(*_: object) -> None:
        raise OSError(number, "It cannot be written.")

    monkeypatch.setattr(reader, "_write_down", write_down)
    hand_in(exchange, "ada", "{}")
    reader.look()
    for _ in range(MOST_TRIES):
        reader.start()
        next(iter(reader._running)).set_result("")
        with suppress(OSError):
            reader.finish(0)
    assert reader.waiting == waiting
    assert ["The next start tries it again" in line for line in reader.said] == [True] * (1 - waiting)


FAULTS = [ScarcityError(), SandboxError("It was lost."), OSError(EAGAIN, "No process can be started.")]


@pytest.mark.parametrize("fault", FAULTS)
def test_while_the_computer_is_at_fault_work_rests_and_nobody_is_told(
    reader: HandInService, exchange, monkeypatch, fault: Exception
) -> None:
    secret, now = hand_in(exchange, "ada", "{}"), time.monotonic()
    reader.look()
    for number in range(1, MOST_FAULTS + 1):
        monkeypatch.setattr(time, "monotonic", lambda number=number: now + 301 * number)
        reader.start()
        next(iter(reader._running)).set_exception(fault)
        assert not page_of(exchange, secret, LESSON).exists()
        reader.finish(0)
        reader.start()
        assert running(reader) == []
    (attempt,) = read_attempts(reader.course, reader.course.lesson(LESSON), "ada")
    assert (attempt.status, counted([attempt] * 5)) == (REFUSED, [])
    assert [line.split("again in ")[1].split()[0] for line in reader.said[:6]] == ["10", "20", "40", "80", "160", "300"]


def test_a_page_that_cannot_be_explained_stops_no_other(reader: HandInService) -> None:
    configure(reader.course, "c.HandIn.due = '2026-01-01'\n")
    reader._writer.withheld = {("01_gone", "ada"), (LESSON, "bob")}
    assert [reader._writer.explain_one_that_is_due() for _ in range(3)] == [True, True, False]
    assert [line.split()[:2] for line in reader.said] == [["ada", "01_gone"]]


def test_the_time_that_pages_take_counts_as_well(reader: HandInService, exchange, monkeypatch) -> None:
    monkeypatch.setattr(reader, "_write_down", lambda *_: None)
    monkeypatch.setattr(time, "thread_time", iter((0.0, 300.0)).__next__)
    turn(reader, exchange, "mallory")
    next(iter(reader._running)).set_result("")
    reader.finish(0)
    turn(reader, exchange, "mallory")
    assert [work.long for work in reader._running.values()] == [True]


def test_what_somebody_has_had_is_noted_and_forgotten(reader: HandInService, exchange, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.serve.grade", lambda _: time.sleep(0.05) or 1 / 0)
    turn(reader, exchange, "mallory")
    (work,) = reader._running.values()
    with pytest.raises(ZeroDivisionError):
        reader._grade(replace(work, long=True), None)
    assert 0.04 <= reader._had_lately("mallory") < 60  # a little is forgotten at once
    reader._had = {"mallory": (300.0, time.monotonic() - 3600)}
    assert 0 < reader._had_lately("mallory") < 60


def test_work_that_a_look_could_not_read_is_read_at_the_next(reader: HandInService, exchange, monkeypatch) -> None:
    real, failures = CollectPlainFiles.arrivals, iter([True])

    def arrivals(*given):
        if next(failures, False):
            raise CourseError("The exchange is away.")
        return real(*given)

    monkeypatch.setattr(CollectPlainFiles, "arrivals", arrivals)
    monkeypatch.setattr("autograder.classroom.deliveries.FRESH_SECONDS", -1.0)
    hand_in(exchange, "ann", "{}")
    with pytest.raises(CourseError):
        reader.look()
    reader.look()
    assert reader.waiting == 1


@pytest.mark.parametrize("step", [status_in, read_folder])
def test_work_whose_file_system_is_away_for_a_while_is_graded(reader, exchange, monkeypatch, step) -> None:
    real, lesson = Reader.ask, reader.course.lesson(LESSON)

    def ask(self, function, *given):
        if function is step:
            raise OSError(ESTALE, "Stale file handle")
        return real(self, function, *given)

    secret = hand_in(exchange, "ann", "{}")
    monkeypatch.setattr("autograder.classroom.deliveries.FRESH_SECONDS", -1.0)
    with monkeypatch.context() as patched:
        patched.setattr("autograder.classroom.serve.SETTLED_SECONDS", -1.0)
        patched.setattr("autograder.classroom.deliveries.UNANSWERED_SECONDS", -1.0, raising=False)
        patched.setattr(Reader, "ask", ask)
        for _ in range(3):
            turn(reader)
    assert (running(reader), read_attempts(reader.course, lesson, "ann")) == ([], [])
    assert not page_of(exchange, secret, LESSON).exists()
    assert "Stale file handle" in reader.said[0]
    turn(reader)
    assert running(reader) == [("ann", LESSON)]


@pytest.mark.parametrize("filled", [True, False])
def test_work_that_nbgrader_copies_for_a_minute_is_graded(reader, exchange, monkeypatch, filled: bool) -> None:
    monkeypatch.setattr("autograder.classroom.serve.SETTLED_SECONDS", -1.0)
    monkeypatch.setattr("autograder.classroom.deliveries.UNANSWERED_SECONDS", -1.0)
    monkeypatch.setattr("autograder.classroom.deliveries.FRESH_SECONDS", -1.0)
    secret, lesson = hand_in(exchange, "ann", "{}"), reader.course.lesson(LESSON)
    (folder,) = reader.exchange.inbound.iterdir()
    (folder / "submission_secret.txt").unlink()  # nbgrader writes it last
    for _ in range(2 if filled else 10):
        reader.look()
        reader.start()
    (folder / "submission_secret.txt").write_text(secret)
    reader.look()
    reader.start()
    assert running(reader) == [("ann", LESSON)] * filled
    assert [a.status for a in read_attempts(reader.course, lesson, "ann")] == [REFUSED] * (not filled)


STEPS = ["attempt_writer.AttemptWriter.attempts_of", "serve.grading_settings"]


@pytest.mark.parametrize("step", STEPS)
def test_no_work_is_lost_where_something_is_away_when_its_turn_comes(
    reader: HandInService, exchange, monkeypatch, step: str
) -> None:
    hand_in(exchange, "ann", "{}")
    reader.look()
    with monkeypatch.context() as patched:
        patched.setattr(f"autograder.classroom.{step}", away)
        with pytest.raises(CourseError):
            reader.start()
    assert reader.waiting == 1
    reader.start()
    assert running(reader) == [("ann", LESSON)]


def away(*_given: object, **_options: object) -> None:
    raise CourseError("It is away.")


def test_no_work_is_lost_where_nothing_can_be_written_down(service, exchange, notebooks, monkeypatch) -> None:
    secret = hand_in(exchange, "ada", "{")
    with monkeypatch.context() as patched:
        patched.setattr("autograder.classroom.attempt_writer.write_attempts", away)
        with pytest.raises(CourseError):
            service.run()
    assert service.service.waiting == 1
    service.run()
    assert "cannot be read as a notebook" in feedback(exchange, secret)


def test_a_record_that_is_damaged_while_it_runs_stops_nobody(service, exchange, notebooks) -> None:
    service.submit("ada", "nothing")
    service.course.attempts_of(service.lesson, "ada").write_text("[{")
    hand_in(exchange, "ada", notebooks["nothing"]), hand_in(exchange, "bob", notebooks["nothing"])
    service.run()
    assert [a.status for name in ("ada", "bob") for a in service.attempts(name)].count(GRADED) >= 2


def test_folders_without_end_cost_little_and_are_forgotten(reader: HandInService, exchange: Path, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.serve.MOST_HANDED_IN", 6)
    monkeypatch.setattr("autograder.classroom.serve.SETTLED_SECONDS", -1.0)
    told = []
    monkeypatch.setattr(AttemptWriter, "release_notice", lambda *given: told.append(given))
    inbound = exchange / "attention" / "inbound"
    for _ in range(4):
        for student, lesson in (("mallory", LESSON), (".odd", LESSON)):
            for _ in range(5):
                hand_in(exchange, student, "{}", lesson)
        turn(reader)
        for folder in inbound.iterdir():
            shutil.rmtree(folder)
    reader.look()
    assert len(read_attempts(reader.course, reader.course.lesson(LESSON), "mallory")) <= 6
    assert len(told) <= 6
    assert len(reader.said) < 20
    assert not reader._sources[0]._seen


def test_who_has_handed_in_too_often_is_told_once(reader: HandInService, exchange: Path, monkeypatch) -> None:
    monkeypatch.setattr(serve_module, "MOST_HANDED_IN", 0)
    first, second = (hand_in(exchange, "ada", "{}") for _ in range(2))
    reader.look()
    assert [line.split("  ")[-1] for line in reader.said] == ["You have handed in 0 times: nothing more is read."]
    pages = [page_of(exchange, secret, LESSON) for secret in (first, second)]
    assert [page.exists() for page in pages].count(True) == 1


def test_folders_that_are_never_filled_are_counted(reader: HandInService, exchange: Path, monkeypatch) -> None:
    monkeypatch.setattr(serve_module, "SETTLED_SECONDS", -1.0)
    for _ in range(3):
        hand_in(exchange, "mallory", "{}")
    for folder in reader.exchange.inbound.iterdir():
        (folder / "submission_secret.txt").unlink()
    turn(reader), reader.start(), reader.start()
    assert reader._handed_in[LESSON, "mallory"] == 3


def test_an_exchange_whose_clock_is_wrong_loses_nothing(
    reader: HandInService, exchange: Path, notebooks, monkeypatch
) -> None:
    real = exchange_module.changed_at
    monkeypatch.setattr(exchange_module, "changed_at", lambda status: real(status) - timedelta(hours=1))
    secret = hand_in(exchange, "ada", notebooks["nothing"])
    (folder,) = (exchange / "attention" / "inbound").iterdir()
    (folder / "submission_secret.txt").unlink()  # nbgrader writes it last
    turn(reader)
    assert running(reader) == []
    (folder / "submission_secret.txt").write_text(secret)
    reader.start()
    assert running(reader) == [("ada", LESSON)]


def test_a_page_that_cannot_be_released_stops_nobody_and_comes_later(service, exchange, notebooks, monkeypatch) -> None:
    real = CollectPlainFiles.release

    def release(self, lesson, student, pages):
        if student != "ada":
            raise CourseError("The disk is full.")
        real(self, lesson, student, pages)

    bob, _ = hand_in(exchange, "bob", notebooks["right"]), hand_in(exchange, "eve", "{")
    good = hand_in(exchange, "ada", notebooks["right"])
    with monkeypatch.context() as patched:
        patched.setattr(CollectPlainFiles, "release", release)
        while not service.attempts("ada") or service.service.waiting > 1:
            service.service.work()
    assert "It counts" in feedback(exchange, good)
    assert service.points()["bob"] == service.points()["ada"]
    assert sum("The disk is full." in line for line in service.said) == 2
    service.service._rest_until.clear()
    service.run()
    assert "It counts" in feedback(exchange, bob)


def test_a_page_that_can_never_be_released_takes_nobodys_points(reader, exchange, monkeypatch) -> None:
    def write(*_: object) -> bool:
        raise UnreleasedError("There is no room.")

    monkeypatch.setattr(serve_module, "MOST_FAULTS", 1)
    monkeypatch.setattr(AttemptWriter, "write", write)
    turn(reader, exchange, "bob")
    next(iter(reader._running)).set_result("")
    reader.finish(0)
    assert reader.said[-1].endswith("not graded again until a restart: There is no room.")
    assert read_attempts(reader.course, reader.course.lesson(LESSON), "bob") == []
    assert running(after_a_kill(reader)) == [("bob", LESSON)]


def test_a_page_that_cannot_be_released_once_it_is_due_is_explained_later(reader: HandInService, monkeypatch) -> None:
    configure(reader.course, "c.HandIn.due = '2026-01-01'\n")
    writer = reader._writer
    writer.withheld = {(LESSON, "ada"), (LESSON, "bob")}
    tried, faults = [], iter([UnreleasedError("There is no room.")])

    def explain(_lesson, student, _rules):
        tried.append(student)
        for fault in faults:
            raise fault

    monkeypatch.setattr(writer, "_explain", explain)
    while writer.explain_one_that_is_due():
        assert len(tried) < 9
    assert (tried, writer.withheld) == (["ada", "bob"], {(LESSON, "ada")})
    assert writer.explain_one_that_is_due()
    assert (tried, writer.withheld) == (["ada", "bob", "ada"], set())


def test_what_counts_is_graded_again_where_its_lesson_has_changed(service, exchange, notebooks) -> None:
    service.submit("ada", "nothing")
    secret = service.submit("ada", "right")
    before = service.points()["ada"]
    service.service.regrade()
    assert service.service.waiting == 0
    checks = service.lesson.checks_py.read_text()
    service.lesson.checks_py.write_text(checks.replace("points=1", "points=3", 1))
    service.begin()
    service.service.regrade()
    service.run()
    assert service.points()["ada"] == before + 2
    assert [a.status for a in service.attempts("ada")] == [USED, GRADED]  # nobody has attempts anew
    assert service.attempts("ada")[1].points == before + 2
    assert "Attempt 1. It counts." in feedback(exchange, secret)


def test_while_the_gradebook_cannot_be_used_work_waits_and_is_not_refused(
    service, exchange, notebooks, monkeypatch
) -> None:
    real, failures = GradebookWriter.save, iter((True, True, True, True))

    def save(self, *given):
        if next(failures, False):
            raise OperationalError("UPDATE", {}, Exception("database is locked"))
        return real(self, *given)

    monkeypatch.setattr(GradebookWriter, "save", save)
    monkeypatch.setattr("autograder.classroom.serve.RETRY_SECONDS", 0.0)
    hand_in(exchange, "ada", notebooks["nothing"])
    while service.service.waiting or not service.attempts("ada"):
        service.service.work()
    assert [a.status for a in service.attempts("ada")] == [GRADED]
    assert sum("database is locked" in line for line in service.said) == 4


def test_who_has_no_page_because_it_takes_too_long_is_told(service, exchange, notebooks, monkeypatch) -> None:
    def slow(*given):
        raise CourseError(TOO_SLOW)

    monkeypatch.setattr("autograder.classroom.attempt_writer.make_page", slow)
    secret = service.submit("ada", "right")
    assert "It was graded, and no page could be made: the page takes longer" in feedback(exchange, secret)


@pytest.mark.parametrize("away", [False, True])
def test_a_page_is_made_although_the_gradebook_was_cut_off(service, exchange, notebooks, monkeypatch, away) -> None:
    real_page, real_rules, failures = attempt_writer.make_page, attempt_writer.rules_now, iter([True])
    outage = iter([away])

    def make_page(*given):
        if next(failures, False):
            raise CourseError("nbgrader could not make the page: GradebookError")
        return real_page(*given)

    def rules_now(*given):
        if next(outage, False):
            raise GradebookError("The gradebook cannot be used.")
        return real_rules(*given)

    monkeypatch.setattr(attempt_writer, "make_page", make_page)
    monkeypatch.setattr(attempt_writer, "rules_now", rules_now)
    monkeypatch.setattr("autograder.classroom.serve.RETRY_SECONDS", 0.0)
    secret = hand_in(exchange, "ada", notebooks["right"])
    while service.service.waiting or not service.attempts("ada"):
        service.service.work()
    assert [(a.status, a.released) for a in service.attempts("ada")] == [(GRADED, "open")]
    assert "It counts" in feedback(exchange, secret)


def test_a_page_that_the_disk_has_no_room_for_takes_nobodys_points(service, exchange, notebooks, monkeypatch) -> None:
    def full(*given):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("autograder.classroom.attempt_writer.make_page", full)
    service.submit("ada", "right")
    assert [a.status for a in service.attempts("ada")] == [GRADED]
    assert any("No space left on device" in line for line in service.said)


def test_a_better_attempt_waits_while_the_disk_is_full(service, exchange, notebooks, monkeypatch) -> None:
    def full(*given):
        raise OSError(ENOSPC, "No space left on device")

    service.submit("ada", "nothing")
    hand_in(exchange, "ada", notebooks["right"])
    with monkeypatch.context() as patched:
        patched.setattr("autograder.classroom.attempt_writer.store_submission", full)
        for _ in range(5):
            with pytest.raises(GradebookError, match="No space left on device"):
                service.run()
    service.run()
    assert service.points()["ada"] > 0


def test_a_damaged_record_of_one_student_is_set_aside(service, exchange, notebooks) -> None:
    hand_in(exchange, "ada", notebooks["right"]), hand_in(exchange, "bob", notebooks["right"])
    service.run()
    path = service.course.attempts_of(service.lesson, "ada")
    path.write_text("[{")
    before = service.points()
    service.begin()
    service.service.regrade()
    service.run()
    assert service.points() == before
    service.submit("ada", "nothing")
    assert service.attempts("ada")[-1].status == GRADED
    assert service.points() == before
    assert path.with_suffix(".damaged").read_text() == "[{"
    assert any("is damaged" in line for line in service.said)


@pytest.mark.parametrize("beside", [".DS_Store", "__MACOSX/._a.ipynb"])
def test_what_computers_write_into_the_inbox_does_not_end_the_service(service, beside: str, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -1.0)
    place = service.course.inbox / LESSON / beside
    place.parent.mkdir(parents=True)
    place.write_text("")
    service.service.look()
    assert service.service.waiting == 0
    assert "empty" in service.said[-1]


def test_no_line_has_what_a_terminal_would_obey(service, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -1.0)
    (service.course.inbox / LESSON).mkdir(parents=True)
    (service.course.inbox / LESSON / "ada\x1b[31m.txt").write_text("{}")
    service.service.look()
    assert len(service.said) == 1
    assert service.said[0].isprintable()


def test_a_file_that_is_renamed_while_the_inbox_is_looked_at_ends_nothing(service, exchange, monkeypatch) -> None:
    inbox, real = service.course.inbox / LESSON, Path.lstat
    inbox.mkdir(parents=True)
    (inbox / ".ada.ipynb.x").write_text("{}")

    def gone(path: Path):
        if path.name == ".ada.ipynb.x":
            path.unlink(missing_ok=True)
        return real(path)

    monkeypatch.setattr(Path, "lstat", gone)
    service.service.look()
    assert service.service.waiting == 0


@pytest.mark.parametrize("accounts", [1, 10])  # a user can have thousands of ids, none of which has a name
def test_who_fills_the_exchange_keeps_nobody_waiting(service, exchange, notebooks, monkeypatch, accounts) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.FOLDERS_AT_A_LOOK", 3)
    for n in range(10):
        folder = service.service.exchange.inbound / f"aaa+{LESSON}+2026-01-01 00:00:{n:02} UTC+{n}"
        folder.mkdir(parents=True)
        os.chown(folder, 4321 + n % accounts, -1)
    hand_in(exchange, "zoe", notebooks["nothing"])
    service.service.look()
    assert service.service.waiting == 4
    for _ in range(3):
        service.service.look()
    assert service.service.waiting == 11


def test_work_of_an_account_whose_name_was_not_known_at_once_is_graded(reader, exchange, monkeypatch) -> None:
    reader.exchange.check_owner = True
    hand_in(exchange, "ada", "{}")
    (folder,) = reader.exchange.inbound.iterdir()
    for path in (folder, *folder.iterdir()):
        os.chown(path, 4321, -1)
    for uid, waiting in ((None, 0), (4321, 1)):  # the directory service is away, and comes back
        monkeypatch.setattr(exchange_module, "uid_of", lambda _, uid=uid: uid)
        before = now_utc()
        reader.look()
        assert reader.waiting == waiting
        monkeypatch.setattr("autograder.classroom.deliveries.AGAIN_SECONDS", -1.0, raising=False)
    (work,) = reader._waiting[LESSON, "ada"]
    assert work.read()["timestamp.txt"].decode() >= f"{before:%Y-%m-%d %H:%M:%S.%f} UTC"  # it may have come since


def test_the_owners_of_thousands_of_folders_are_found_at_once(reader: HandInService, exchange, monkeypatch) -> None:
    asked, real = [], Reader._answer
    monkeypatch.setattr(Reader, "_answer", lambda *given: asked.append(given) or real(*given))
    for number in range(3000):
        (exchange / "attention" / "inbound" / f"mallory{number}").mkdir()
    hand_in(exchange, "bob", "{}")
    reader.look()
    assert len(asked) < 10


def test_a_folder_that_never_answers_holds_up_nobody(reader: HandInService, exchange, monkeypatch) -> None:
    ask, (silent, written) = Reader.ask, os.pipe()

    def asked(self, function, folder, name, *given):
        question = (os.read, silent, 1) if name.startswith("mallory") else (function, folder, name, *given)
        return ask(self, *question)

    monkeypatch.setattr(Reader, "ask", asked)
    reader.exchange._reader = Reader(0.2)
    for student in ("ann", "mallory", "zoe"):
        hand_in(exchange, student, "{}")
    reader.look()
    os.close(silent), os.close(written)
    assert sorted(student for _, student in reader._waiting) == ["ann", "zoe"]
    (line,) = reader.said
    assert "mallory" in line
    assert "does not answer" in line


@pytest.mark.parametrize(
    ("file", "half", "words"),
    [
        ("checks_py", "def half(\n", "SyntaxError"),
        ("", "c.HandIn.due = '2026-1'\n", "is not a time"),
        ("", "c.HandIn.due = (\n", "SyntaxError"),
    ],
)
def test_while_somebody_edits_a_lesson_or_the_configuration_work_waits(
    service, exchange, notebooks, monkeypatch, file: str, half: str, words: str
) -> None:
    monkeypatch.setattr("autograder.classroom.serve.RETRY_SECONDS", 0.0)
    edited = getattr(service.lesson, file) if file else service.course.root / CONFIG_NAME
    before = edited.read_text(encoding="utf-8")
    hand_in(exchange, "ada", notebooks["nothing"])
    rewrite(edited, before + half)
    service.service.work()
    assert words in service.said[-1]
    assert service.service.waiting == 1
    rewrite(edited, before)
    service.service.start()
    rewrite(edited, before + half)  # while it is graded
    wait(service.service._running)
    service.said.clear()
    service.service.work()
    assert words in service.said[-1]
    assert service.attempts("ada") == []
    rewrite(edited, before)
    while service.service.waiting:
        service.service.work()
    assert [a.status for a in service.attempts("ada")] == [GRADED]


def graded(delivery: str, points: int, **more: str) -> Attempt:
    return Attempt(delivery, now_utc().isoformat(), exercises={"attend": points}, of=4, **more)


def test_what_is_graded_again_keeps_its_record_until_there_is_another(
    reader: HandInService, exchange, monkeypatch
) -> None:
    configure(reader.course, "c.HandIn.attempts = 1\n")
    lesson, before = reader.course.lesson(LESSON), graded("a", 4, released="full")
    write_attempts(reader.course, lesson, "ada", before)
    earlier = Delivered(lesson, "ada", "a", now_utc(), partial(dict, {lesson.notebook_name: b"{}"}))
    monkeypatch.setattr(serve_module, "graded_earlier", lambda *_: [earlier])
    monkeypatch.setattr(serve_module, "RETRY_SECONDS", 0.0)
    reader.regrade()
    for _ in range(MOST_FAULTS):
        reader.start()
        (future,) = reader._running
        future.set_exception(ScarcityError())
        reader.finish(0)
    assert (reader.waiting, read_attempts(reader.course, lesson, "ada")) == (0, [before])


def test_feedback_that_is_there_stays_noted_while_the_next_is_made(reader: HandInService, exchange) -> None:
    lesson = reader.course.lesson(LESSON)
    write_attempts(reader.course, lesson, "ada", graded("a", 4, released="full"))
    work = Work(Delivered(lesson, "ada", "a", now_utc(), dict), {}, rules_of(Config(), LESSON), again=True)
    record = {"submission": "x", "verdicts": {"attend": {"points": 3, "of": 4}}, "flags": ["look at cell 1"]}
    attempt = reader._writer._record(work, record)
    assert read_attempts(reader.course, lesson, "ada") == [attempt]
    assert (attempt.points, attempt.released, attempt.flags) == (3, "full", ["look at cell 1"])


def test_an_attempt_without_feedback_is_not_had_when_its_lesson_changes(
    reader: HandInService, exchange, monkeypatch
) -> None:
    lesson = reader.course.lesson(LESSON)
    attempts = [graded("a", 2, released="full"), graded("b", 4, released="full"), graded("c", 1)]
    for best in (attempts, [*attempts[:2], replace(attempts[2], exercises={"attend": 5})]):
        write_attempts(reader.course, lesson, "ada", *best)
        monkeypatch.setattr(grade_again, "is_as_recorded", lambda *_: False)
        assert [
            each.name
            for each in grade_again.graded_earlier(reader.course, reader.exchange, lesson, rules_of(Config(), LESSON))
        ] == ["b"]
        assert [a.status for a in read_attempts(reader.course, lesson, "ada")] == [USED, GRADED, GRADED]


@pytest.fixture
def displaced(reader: HandInService, exchange: Path) -> Path:
    """The exchange's folder of ada's attempt that counts, where another one was stored and graded instead."""
    lesson = reader.course.lesson(LESSON)
    hand_in(exchange, "ada", "better")
    (folder,) = reader.exchange.inbound.iterdir()
    store_submission(reader.course, lesson, "ada", {lesson.notebook_name: b"worse"})
    best = graded(folder.name, 4, submission=sha256(b"better").hexdigest(), released="open")
    worse = graded("worse", 1, submission=sha256(b"worse").hexdigest(), released="open")
    write_attempts(reader.course, lesson, "ada", replace(best, arrived="2026-01-01T12:00:00"), worse)
    return folder


def test_where_another_attempt_counts_by_now_it_is_graded_again(reader: HandInService, displaced: Path) -> None:
    """As after an extension, which takes a penalty off an attempt that did not count with it."""
    reader.regrade(changed=False)
    reader.start()
    (work,) = reader._running.values()
    assert (work.delivered.name, work.files[f"{LESSON}.ipynb"]) == (displaced.name, b"better")
    assert (work.arrived.isoformat(), work.again) == ("2026-01-01T12:00:00", True)


def test_a_due_date_that_is_moved_in_the_gradebook_is_seen_while_it_runs(reader, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(serve_module, "AFTER_DUE_SECONDS", -1.0)
    monkeypatch.setattr(
        reader, "_regrade", lambda lesson, rules, changed: seen.append((lesson.name, rules.due, changed))
    )
    lesson = reader.course.lesson(LESSON)
    write_attempts(reader.course, lesson, "ada", graded("one", 1))
    register(reader.course, lesson)
    for due in (datetime(2026, 1, 1), datetime(2027, 1, 1)):
        with open_gradebook(reader.course) as gradebook:
            gradebook.find_assignment(LESSON).duedate = due
            gradebook.db.commit()
        reader.finish(0)
        reader.finish(0)
        assert seen.pop() == (LESSON, due, False)
        assert seen == []


def test_what_has_changed_since_it_counted_is_not_graded_again(reader: HandInService, displaced: Path) -> None:
    (displaced / f"{LESSON}.ipynb").write_text("best")
    reader.regrade(changed=False)
    reader.start()
    assert (running(reader), reader.waiting) == ([], 0)
    assert reader.said[-1].startswith(f"look at {displaced.name}")


def test_who_collects_what_waits_takes_no_better_attempt_away(reader, displaced: Path, monkeypatch) -> None:
    lesson, done = reader.course.lesson(LESSON), Future()
    done.set_result("")
    monkeypatch.setattr(reader._writer, "write", lambda *_: False)
    reader._write_down(Work(Delivered(lesson, "ada", "worse", now_utc(), dict), {}, rules_of(Config(), LESSON)), done)
    assert [work.delivered.name for work in reader._later] == [displaced.name]


def test_who_collects_what_is_then_left_out_takes_no_better_attempt_away(reader, exchange, displaced: Path) -> None:
    lesson = reader.course.lesson(LESSON)
    store_submission(reader.course, lesson, "ada", {lesson.notebook_name: b"collected"})
    hand_in(exchange, "ada", "collected")
    configure(reader.course, "c.HandIn.attempts = 1\n")
    reader.look()
    reader.start()
    assert read_attempts(reader.course, lesson, "ada")[-1].status == LEFT_OUT
    assert [work.delivered.name for work in reader._running.values()] == [displaced.name]


@pytest.mark.parametrize("refused", [True, False])
def test_what_a_person_has_put_there_stays(reader: HandInService, displaced: Path, refused: bool) -> None:
    lesson = reader.course.lesson(LESSON)
    store_submission(reader.course, lesson, "ada", {lesson.notebook_name: b"by a person"})
    ended = Attempt("ended", now_utc().isoformat(), REFUSED, submission=sha256(b"by a person").hexdigest())
    write_attempts(reader.course, lesson, "ada", *[ended] * refused)  # which a person has seen to
    reader.regrade()
    assert reader.waiting == 0


def test_notes_that_cannot_be_read_keep_no_service_from_starting(reader: HandInService, exchange, monkeypatch) -> None:
    lesson, real = reader.course.lesson(LESSON), attempt_writer.read_attempts
    for student in ("ada", "bob"):
        write_attempts(reader.course, lesson, student, graded(student, 1, released="open"))

    def read(course: Course, lesson, student: str, *rules) -> list[Attempt]:
        if student == "ada":
            raise PermissionError(EACCES, "Permission denied")
        return real(course, lesson, student, *rules)

    for module in (attempt_writer, grade_again):
        monkeypatch.setattr(module, "read_attempts", read)
    monkeypatch.setattr(grade_again, "is_as_recorded", lambda *_: False)
    service = HandInService(reader.course, NeverDone(), 1, UNSAFE, reader.said.append)
    service.regrade()
    assert [work.delivered.student for work in service._later] == ["bob"]
    assert ["ada" in line and "cannot be read" in line for line in reader.said] == [True]


def test_a_time_at_the_end_of_time_stops_nobody(reader: HandInService, exchange, notebooks, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.deliveries.COPIED_SECONDS", -1.0)
    configure(reader.course, "c.HandIn.pause = 60\n")
    before = replace(graded("a", 1, released="open"), arrived="2026-01-01T12:00:00")
    write_attempts(reader.course, reader.course.lesson(LESSON), "jane", before)
    for name in (f"{LESSON}_jane_attempt_9999-12-31-23-59-59_a.ipynb", "joe.ipynb"):
        (path := reader.course.inbox / LESSON / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebooks["nothing"])
    turn(reader)
    assert sorted(running(reader)) == [("jane", LESSON), ("joe", LESSON)]


def test_what_cannot_be_read_again_waits_behind_the_others(reader: HandInService, exchange) -> None:
    lesson = reader.course.lesson(LESSON)

    def unreadable() -> dict[str, bytes]:
        raise PermissionError(EACCES, "Permission denied")

    reads = {"ada": unreadable, "bob": partial(dict, {lesson.notebook_name: b"{}"})}
    for student, read in reads.items():
        reader._later.append(Work(Delivered(lesson, student, student, now_utc(), read), {}, rules_of(Config(), LESSON)))
    with pytest.raises(PermissionError):
        reader.start()
    with suppress(PermissionError):
        reader.start()
    assert running(reader) == [("bob", LESSON)]


def test_free_memory_goes_back_once_after_each_time_of_work(reader: HandInService, exchange, monkeypatch) -> None:
    moment, given_back = [1000.0], []
    monkeypatch.setattr(serve_module.ctypes, "CDLL", lambda _: given_back.append(moment[0]))
    reader._running[Future()] = None
    with monkeypatch.context() as patched:
        patched.setattr(serve_module, "time", SimpleNamespace(monotonic=lambda: moment[0]))
        reader._rest()
        reader._running.clear()
        for moment[0] in (1000.5, 1002.0, 1010.0):
            reader._rest()
    assert given_back == [1002.0]


def test_what_was_computed_for_one_submission_is_not_kept(reader: HandInService, exchange) -> None:
    turn(reader, exchange, "ada", "bob")
    targets = package_of(reader.course.lesson(LESSON)).key.cache.targets
    (ada, bob), seeds = reader._running, [submission.seed for _, submission in reader._pool.given]
    targets |= {("attend", seed + more): [] for seed in seeds for more in (0, 1)}
    ada.set_result("")
    assert {seed for _, seed in targets} & {*seeds, *(seed + 1 for seed in seeds)} == {seeds[1], seeds[1] + 1}
    bob.cancel()
