"""Collecting from nbgrader's exchange, where every student can write: with accounts of the system's own."""

import copy
import datetime
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.authoring.nbgrader_course import load_config
from autograder.classroom import exchange as exchange_module
from autograder.classroom.commands import COMMANDS
from autograder.classroom.exchange_folders import changed_at
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson
from autograder.classroom.submissions import timestamp_of
from autograder.errors import SubmissionError
from autograder.paths import CONFIG_NAME, Course

from .accounts import Account, accounts, acting_as, needs_accounts
from .conftest import LESSON

LEFT_OPEN = ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")  # a file, by nbgrader when it releases
pytestmark = [needs_accounts, *(pytest.mark.filterwarnings(f"ignore::{name}") for name in LEFT_OPEN)]
NOTEBOOK = f"{LESSON}.ipynb"
RANDOM = "abcdefghijkl"
WRITTEN = "%Y-%m-%d %H:%M:%S.%f UTC"


def written(**ahead: int) -> str:
    """A time as nbgrader writes it, counted from now and not from when this file was read: the suite takes minutes."""
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(**ahead)).strftime(WRITTEN)


EARLIER = written(hours=-5)
FUTURE = written(days=1)


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("ada", "bob", "mallory", "prof") as made:
        yield made


@pytest.fixture
def ada(people: list[Account]) -> Account:
    return people[0]


@pytest.fixture
def bob(people: list[Account]) -> Account:
    return people[1]


@pytest.fixture
def mallory(people: list[Account]) -> Account:
    return people[2]


@pytest.fixture
def prof(people: list[Account]) -> Account:
    return people[3]


@pytest.fixture
def exchange() -> Iterator[Path]:
    """An exchange that others can reach, with the course's folder as docs/hub.md makes it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as root:
        Path(root).chmod(0o1777)
        modes = {"": 0o755, "outbound": 0o755, f"outbound/{LESSON}": 0o755, "inbound": 0o1733, "feedback": 0o711}
        for folder, mode in modes.items():
            path = Path(root, "attention", folder)
            path.mkdir()
            path.chmod(mode)
        yield Path(root)


def nbgrader(course: Course, exchange: Path, **settings: object) -> NbGraderAPI:
    """nbgrader with the course's own configuration and this exchange: what `nbgrader collect` and Formgrader use."""
    config: Config = copy.deepcopy(load_config(course.root))
    config.Exchange.root = str(exchange)
    config.ExchangeCollect.update(settings)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def collect(course: Course, exchange: Path, **settings: object) -> list[str]:
    """Collect; return the lines of nbgrader's log without those about who was collected."""
    result = nbgrader(course, exchange, **settings).collect(LESSON)
    assert result["success"], result
    return [line for line in result["log"].splitlines() if "WARNING" in line]


def collected(course: Course) -> list[str]:
    return [name.split("-")[0] for name in course.students(course.lesson(LESSON))]


def deliver(exchange: Path, by: Account, content: bytes, named: str = "", time: str = "") -> Path:
    """Hand in as nbgrader does, or as somebody who makes the folder by hand."""
    time = time or written()
    folder = exchange / "attention" / "inbound" / f"{named or by.name}+{LESSON}+{time}+{RANDOM}"
    with acting_as(by):
        folder.mkdir()
        folder.chmod(0o777)
        (folder / NOTEBOOK).write_bytes(content)
        (folder / "timestamp.txt").write_text(time)
        (folder / "submission_secret.txt").write_text(f"secret {time}")
    return folder


def last_change(folder: Path) -> datetime.datetime:
    """When the system last saw a folder or its notebook change, UTC."""
    seconds = max(folder.stat().st_ctime, (folder / NOTEBOOK).stat().st_ctime)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)


def replace_notebook(folder: Path, by: Account, make) -> None:
    with acting_as(by):
        (folder / NOTEBOOK).unlink()
        make(folder / NOTEBOOK)


def test_what_is_handed_in_is_collected_with_its_time_and_its_secret(scratch, exchange, ada, notebook) -> None:
    folder, lesson = deliver(exchange, ada, notebook), scratch.lesson(LESSON)
    with acting_as(ada):
        (folder / "other.txt").write_text("not needed")
    assert collect(scratch, exchange) == []
    stored = scratch.submission(lesson, ada.name)
    assert {p.name for p in stored.parent.iterdir()} == {NOTEBOOK, "timestamp.txt", "submission_secret.txt"}
    assert stored.read_bytes() == notebook
    assert timestamp_of(scratch, lesson, ada.name) == last_change(folder)


def test_a_link_to_the_solutions_earns_nothing(scratch: Course, exchange: Path, ada, mallory, notebook) -> None:
    deliver(exchange, ada, notebook)
    lesson = scratch.lesson(LESSON)
    folder = deliver(exchange, mallory, b"")
    replace_notebook(folder, mallory, lambda path: path.symlink_to(lesson.solved_ipynb))
    (line,) = collect(scratch, exchange)
    assert "mallory" in line
    assert "is a symbolic link, not a file" in line
    results = grade_lesson(scratch, lesson, options={"allow_unsandboxed": True})
    assert [(r.student, r.status) for r in results] == [(ada.name, "graded")]


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 12 * 2**30)


ODD = {
    "pipe": (os.mkfifo, "is a named pipe"),
    "dangling": (lambda path: path.symlink_to("nowhere"), "is a symbolic link"),
    "endless": (lambda path: path.symlink_to("/dev/zero"), "is a symbolic link"),
    "sparse": (sparse, "is larger than 5 MB"),
    "folder": (lambda path: path.mkdir(), "is a folder, not a file"),
    "missing": (lambda path: path.with_name("pip\x1be").touch(), "the folder holds pip\\x1be"),
}


@pytest.mark.parametrize("kind", ODD)
def test_whatever_lies_there_is_one_line_about_one_student(scratch, exchange, ada, mallory, notebook, kind) -> None:
    folder = deliver(exchange, mallory, notebook)
    make, problem = ODD[kind]
    replace_notebook(folder, mallory, make)
    deliver(exchange, ada, notebook)
    (line,) = collect(scratch, exchange)
    assert problem in line
    assert line.isprintable()
    assert collected(scratch) == ["ada"]


def test_what_lies_beside_the_notebook_is_not_opened(scratch, exchange, ada, notebook) -> None:
    folder = deliver(exchange, ada, notebook, time=EARLIER)
    with acting_as(ada):
        (folder / "timestamp.txt").write_text("whenever")
        os.mkfifo(folder / "pipe")
        sparse(folder / "large")
        (folder / "loop").symlink_to(".")
        for number in range(2000):
            (folder / str(number)).touch()
    collect(scratch, exchange)
    assert collected(scratch) == ["ada"]
    assert timestamp_of(scratch, scratch.lesson(LESSON), ada.name) == last_change(folder)
    assert len(list(scratch.submission(scratch.lesson(LESSON), ada.name).parent.iterdir())) == 3


def test_nobody_hands_in_as_somebody_else(scratch, exchange, bob, mallory, notebook) -> None:
    deliver(exchange, bob, notebook, time=EARLIER)
    deliver(exchange, mallory, b"{}", named=bob.name)
    line, remark = collect(scratch, exchange)
    assert f"named after {bob.name}, and belongs to {mallory.name}" in line
    assert bob.name in remark
    assert scratch.submission(scratch.lesson(LESSON), bob.name).read_bytes() == notebook


def test_a_file_of_another_account_is_refused(scratch, exchange, bob, mallory, notebook) -> None:
    folder = deliver(exchange, bob, notebook)
    replace_notebook(folder, mallory, lambda path: path.write_bytes(b"{}"))  # nbgrader makes the folder 777
    (line,) = collect(scratch, exchange)
    assert "is somebody else's file" in line
    assert collected(scratch) == []


def test_a_second_name_of_a_file_is_refused(scratch, exchange, mallory, notebook) -> None:
    folder = deliver(exchange, mallory, notebook)
    secret = exchange / "hidden.ipynb"
    secret.write_bytes(notebook)
    (folder / NOTEBOOK).unlink()
    (folder / NOTEBOOK).hardlink_to(secret)  # as root: the kernel may forbid it to her
    (line,) = collect(scratch, exchange)
    assert "somebody else's file" in line
    os.chown(secret, mallory.uid, mallory.gid)
    (line,) = collect(scratch, exchange)
    assert "a hard link" in line


@pytest.mark.parametrize(
    ("named", "time", "problem"),
    [
        ("", "notatime", "no time in its name"),
        ("", "tomorrow", "c.Exchange.timezone there is not UTC"),
        ("a[bc]", "now", "a student's id must be printable"),
        ("*", "now", "a student's id must be printable"),
        ("esc\x1b[2J", "now", "esc\\x1b[2J"),
        ("two\nlines", "now", "two\\nlines"),
        ("nobody-of-that-name", "now", "belongs to mallory"),
        (".hidden", "now", "must not begin with a dot"),
    ],
)
def test_a_folders_name_is_checked(scratch, exchange, ada, mallory, notebook, named, time, problem) -> None:
    deliver(exchange, ada, notebook)
    deliver(exchange, mallory, notebook, named, {"now": "", "tomorrow": FUTURE}.get(time, time))
    (line,) = collect(scratch, exchange)
    assert problem in line
    assert line.isprintable()
    assert collected(scratch) == ["ada"]


def test_what_is_no_folder_is_one_line(scratch, exchange, ada, mallory, notebook) -> None:
    own = deliver(exchange, ada, notebook)
    inbound = own.parent
    with acting_as(mallory):
        (inbound / f"{mallory.name}+{LESSON}+{written()}+{RANDOM}").symlink_to(own)
        os.mkfifo(inbound / f"{mallory.name}+{LESSON}+{EARLIER}+{RANDOM}")
    lines = sorted(collect(scratch, exchange))
    assert ["is a named pipe" in lines[0], "is a symbolic link, not a folder" in lines[1]] == [True, True]
    assert collected(scratch) == ["ada"]


@pytest.mark.parametrize(
    ("secret", "problem"),
    [(None, "no submission_secret.txt"), (b"\xff", "is not nbgrader's"), (b"", "is not nbgrader's")],
)
def test_what_would_stop_everybodys_feedback_is_refused(
    scratch, exchange, ada, mallory, notebook, secret, problem
) -> None:
    deliver(exchange, ada, notebook)
    folder = deliver(exchange, mallory, notebook)
    with acting_as(mallory):
        (folder / "submission_secret.txt").unlink()
        if secret is not None:
            (folder / "submission_secret.txt").write_bytes(secret)
    (line,) = collect(scratch, exchange)
    assert problem in line
    assert collected(scratch) == ["ada"]


def test_an_account_has_one_spelling(scratch, exchange, ada, notebook, monkeypatch) -> None:
    real = pwd.getpwnam
    monkeypatch.setattr(pwd, "getpwnam", lambda name: real(name.lower()))  # as some directory services answer
    deliver(exchange, ada, notebook)
    deliver(exchange, ada, notebook, named=ada.name.upper())
    (line,) = collect(scratch, exchange)
    assert f"named after {ada.name.upper()}, and belongs to {ada.name}" in line
    assert collected(scratch) == ["ada"]


def test_many_folders_are_few_lines(scratch, exchange, ada, mallory, notebook) -> None:
    deliver(exchange, ada, notebook)
    with acting_as(mallory):
        for number in range(500):
            (exchange / "attention" / "inbound" / f"{ada.name}+{LESSON}+{written()}+{RANDOM}{number}").mkdir()
    lines = collect(scratch, exchange)
    assert len(lines) == 4
    assert f"more folders of {mallory.name}" in lines[3]
    assert collected(scratch) == ["ada"]


def test_the_latest_that_is_in_order_counts_and_is_replaced_by_later_ones_only(
    scratch, exchange, ada, notebook
) -> None:
    good, bad = deliver(exchange, ada, notebook, time=EARLIER), deliver(exchange, ada, b"")
    replace_notebook(bad, ada, os.mkfifo)
    lesson = scratch.lesson(LESSON)
    assert "named pipe" in collect(scratch, exchange)[0]
    assert timestamp_of(scratch, lesson, ada.name) == last_change(good)
    replace_notebook(bad, ada, lambda path: path.write_bytes(notebook + b" "))
    assert collect(scratch, exchange) == []
    assert scratch.submission(lesson, ada.name).read_bytes() == notebook + b" "
    log = nbgrader(scratch, exchange).collect(LESSON)["log"]
    assert "0 collected, 0 left out, 1 as before" in log


def test_what_was_collected_with_a_time_in_the_future_does_not_stay_for_ever(scratch, exchange, ada, notebook) -> None:
    stored = scratch.submission(scratch.lesson(LESSON), ada.name)
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"{}")
    stored.with_name("timestamp.txt").write_text(FUTURE)
    deliver(exchange, ada, notebook)
    collect(scratch, exchange)
    assert stored.read_bytes() == notebook


@pytest.mark.parametrize("time", [1e18, -1e18, 1e300, float("nan"), 253402300799.0, -62135596800.0])
def test_a_file_system_that_makes_times_up_is_one_students_trouble(time: float) -> None:
    with pytest.raises(SubmissionError, match="no time"):
        changed_at(SimpleNamespace(st_ctime=time))


def test_a_time_that_the_system_contradicts_is_remarked(scratch, exchange, ada, notebook) -> None:
    deliver(exchange, ada, notebook, time=EARLIER)
    (line,) = collect(scratch, exchange)
    assert f"{ada.name}: it says that it was handed in at" in line
    assert collected(scratch) == ["ada"]


def test_work_that_is_changed_after_the_due_date_is_late_whatever_its_name_says(
    scratch, exchange, ada, bob, notebook
) -> None:
    due = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    with (scratch.root / CONFIG_NAME).open("a") as config:
        config.write(f"c.HandIn.due = {due.isoformat()!r}\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
        config.write(f"c.HandIn.extensions = {{{bob.name!r}: {written(hours=5)[:16]!r}}}\n")
    for account in (ada, bob):
        deliver(exchange, account, notebook, time=EARLIER)
    assert len(collect(scratch, exchange)) == 2
    grade_lesson(scratch, scratch.lesson(LESSON), options={"allow_unsandboxed": True})
    with open_gradebook(scratch) as gradebook:
        late = {s.student.id: s.total_seconds_late > 3000 for s in gradebook.assignment_submissions(LESSON)}
    assert late == {ada.name: True, bob.name: False}


def test_a_course_folder_that_somebody_else_has_made_is_not_used(scratch, exchange, ada, mallory, notebook) -> None:
    deliver(exchange, ada, notebook)
    os.chown(exchange / "attention", mallory.uid, mallory.gid)
    result = nbgrader(scratch, exchange).collect(LESSON)
    assert not result["success"]
    assert f"belongs to {mallory.name}: ask an administrator to remove it" in result["log"]
    assert collected(scratch) == []


def test_where_everybody_is_one_account_the_owner_can_be_left_out(scratch, exchange, ada, notebook) -> None:
    deliver(exchange, ada, notebook, named="jane")
    assert "belongs to ada" in collect(scratch, exchange)[0]
    assert collect(scratch, exchange, check_owner=False) == []
    assert collected(scratch) == ["jane"]


class ReadsHere:
    def ask(self, function, *given):
        return function(*given)


def test_a_teacher_without_special_rights_gets_a_line_about_what_cannot_be_read(
    exchange, ada, bob, prof, notebook, pristine, monkeypatch
) -> None:
    from .conftest import copy_course

    monkeypatch.setattr(exchange_module, "Reader", ReadsHere)  # this account may not be able to start Python
    with tempfile.TemporaryDirectory(dir="/tmp") as root:
        course = copy_course(pristine, Path(root))
        api = nbgrader(course, exchange)  # reads what its account need not
        for path in (Path(root), *Path(root).rglob("*"), *(exchange / "attention").rglob("*"), exchange / "attention"):
            os.chown(path, prof.uid, prof.gid)
        folder = deliver(exchange, bob, notebook)
        (folder / NOTEBOOK).chmod(0)
        deliver(exchange, ada, notebook)
        with acting_as(prof):
            log = api.collect(LESSON)["log"]
        assert f"{NOTEBOOK} cannot be read (Permission denied)" in log
        assert collected(course) == ["ada"]


SWAP = """while :; do
  ln -s "$2" next; mv -fT next "$1"
  echo hers >next; mv -fT next "$1"
done"""


def test_a_file_that_is_swapped_all_the_time_is_hers_or_nothing(scratch, exchange, mallory, notebook) -> None:
    folder, secret = deliver(exchange, mallory, notebook), exchange / "secret.ipynb"
    secret.write_bytes(b"secret")
    secret.chmod(0o600)
    api, stored = nbgrader(scratch, exchange), scratch.submission(scratch.lesson(LESSON), mallory.name)
    command, seen = ["sh", "-c", SWAP, "swap", NOTEBOOK, str(secret)], set()
    whose = {"user": mallory.uid, "group": mallory.gid}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **whose) as swap:
        try:
            while len(seen & {None, b"hers\n"}) < 2:  # it has met the link, and her file
                api.collect(LESSON)
                seen.add(stored.read_bytes() if stored.exists() else None)
                shutil.rmtree(stored.parent, ignore_errors=True)
        finally:
            os.killpg(swap.pid, signal.SIGKILL)  # what it has started, too
    assert b"secret" not in seen


def test_our_command_collects_as_nbgraders_does(scratch, exchange, ada, notebook, monkeypatch, capsys) -> None:
    import argparse

    settings = exchange / "jupyter"
    settings.mkdir()
    (settings / "nbgrader_config.py").write_text(f"get_config().Exchange.root = {str(exchange)!r}")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(settings))
    monkeypatch.chdir(scratch.root)
    deliver(exchange, ada, notebook)
    options = argparse.Namespace(lesson=LESSON, origin="exchange")
    assert COMMANDS["collect"](scratch, options) == 0
    assert f"collected  {ada.name}  from {ada.name}+{LESSON}" in capsys.readouterr().out
    assert COMMANDS["collect"](scratch, options) == 0
    assert "0 collected, 0 left out, 1 as before." in capsys.readouterr().out
