"""Grading on a Dask cluster: whatever fails, the rows are those of one computer, or one line says what is wrong."""

import contextlib
import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path

import psutil
import pytest

from autograder import __main__
from autograder.classroom.run import grade_lesson
from autograder.classroom.writer import GradebookWriter
from autograder.errors import ClusterError, ScarcityError, SubmissionError
from autograder.grading.grade import RECORD
from autograder.grading.submission import Submission
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox
from .test_run import rows_in
from .waiting import wait_until

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install -e '.[cluster]'")
import dask  # noqa: E402 - only where Dask is

from autograder.classroom import cluster  # noqa: E402

pytestmark = [needs_sandbox, pytest.mark.slow]
SEED = {"seed": 11}
STUDENTS = [f"student{n}" for n in range(8)]
PATIENCE = 600.0  # seconds, far more than anything takes
cluster.CONNECT_SECONDS = PATIENCE
cluster.QUIET["distributed.comm.timeouts.connect"] = f"{PATIENCE}s"


class Cluster:
    """A scheduler and its workers, each a process of its own, as on other computers."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self._place = folder, folder / "scheduler.json"
        self.isolating: list[psutil.Popen] = []
        self.bare: psutil.Popen | None = None
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._place), *options)
        wait_until(self._place.is_file)
        wait_until(lambda: self._place.read_text().endswith("}"))
        self.address = json.loads(self._place.read_text())["address"]

    def _start(self, what: str, *options: str, **env: str) -> psutil.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / f"{what}.log").open("ab") as log:
            where = {"stdout": log, "stderr": log, "cwd": self.folder, "env": {**os.environ, **env}}
            return psutil.Popen([*command, *options], **where)

    def connect(self) -> None:
        self.client = distributed.Client(self.address, set_as_default=False)

    def workers(self) -> dict[str, int]:
        """Return the workers' addresses and process numbers."""
        return self.client.run(os.getpid)

    def start_worker(self, **env: str) -> psutil.Popen:
        """Start a worker with its nanny; return when the scheduler knows it."""
        before, name = self.workers().keys(), str(time.monotonic_ns())
        place = str(self.folder / name)
        made = self._start("worker", self.address, "--nthreads", "1", "--name", name, "--local-directory", place, **env)
        wait_until(lambda: self.workers().keys() - before)
        return made

    def have_workers(self, count: int) -> None:
        """Start or end workers until there are so many that isolate."""
        self.isolating = [worker for worker in self.isolating if worker.is_running()]
        self.isolating += [self.start_worker() for _ in range(count - len(self.isolating))]
        end_all(*self.isolating[count:])
        del self.isolating[count:]

    def close(self) -> None:
        self.client.close()
        end_all(self.scheduler, *self.isolating, *filter(None, [self.bare]))


def end_all(*processes: psutil.Process) -> None:
    """Kill processes with all that they have started, nannies first: they would start workers again."""
    for process in processes:
        if process.is_running():
            below = process.children(recursive=True)
            for each in (process, *below):
                with contextlib.suppress(psutil.NoSuchProcess):  # it has followed those above it already
                    each.kill()
            psutil.wait_procs([process, *below])


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, right) -> Course:
    for n, student in enumerate(STUDENTS):
        hand_in(classroom, student, right if n % 4 == 1 else {})
    return classroom


@pytest.fixture(scope="module")
def expected(handed_in: Course) -> tuple[dict, dict]:
    """The rows and graded notebooks of a run on this computer."""
    results = grade_lesson(handed_in, handed_in.lesson(LESSON), options=SEED)
    assert [result.note for result in results if result.needs_person] == []
    return rows_in(handed_in), notebooks(handed_in)


def notebooks(course: Course) -> dict[str, dict]:
    """Return the graded notebooks, without how long each took."""
    found = {p.parts[-3]: json.loads(p.read_text()) for p in course.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb")}
    for notebook in found.values():
        del notebook["metadata"][RECORD]["seconds"]
    return found


@pytest.fixture
def ungraded(handed_in: Course, expected) -> Course:
    for student in STUDENTS:
        handed_in.graded_notebook(handed_in.lesson(LESSON), student).unlink(missing_ok=True)
    return handed_in


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Cluster]:
    """A cluster with a worker that cannot isolate anything, and one that can."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.connect()
    made.bare = made.start_worker(PATH="/nonexistent")
    yield made
    made.close()


@pytest.fixture(scope="module")
def executor(shared: Cluster) -> Iterator[cluster.ClusterExecutor]:
    """One run's, which several tests share, so that sandboxes stay warm."""
    shared.have_workers(1)
    with cluster.cluster_executor(shared.address, PATIENCE) as made:
        yield made


def graded_by(course: Course, executor, monkeypatch, midway: Callable[[], object], *, written=False) -> dict[str, str]:
    """Grade the class; do something when the first result is about to be written, or has been.

    Returns each one's status and note.
    """
    todo, real = [midway], GradebookWriter.save

    def save(*given):
        if todo and not written:
            todo.pop()()
        saved = real(*given)
        if todo:
            todo.pop()()
        return saved

    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, "save", save)
        results = grade_lesson(course, course.lesson(LESSON), options=SEED, executor=executor)
    return {result.student: result.status + result.note for result in results}


def nothing(shared: Cluster, executor) -> None:
    """Nothing fails. The worker that cannot isolate gets no submission all the same."""
    assert [reason.split(" (")[0] for reason in executor.left_out.values()] == ["bubblewrap is not installed"]


def worker_killed(shared: Cluster, executor) -> None:
    """Its nanny starts another one, and nobody else could go on."""
    (nanny,) = shared.isolating
    (pid,) = {child.pid for child in nanny.children()} & {*shared.workers().values()}
    os.kill(pid, signal.SIGKILL)


def joins_late(shared: Cluster, executor) -> None:
    """A second worker joins when all submissions that are under way have gone to the first one."""
    shared.have_workers(2)
    wait_until(lambda: executor.at_once == 4)


def nanny_killed(shared: Cluster, executor) -> None:
    """A worker goes for good, with its nanny; the other one goes on."""
    end_all(shared.isolating.pop(0))


FAULTS = {nothing: 1, worker_killed: 1, joins_late: 1, nanny_killed: 2}  # with how many workers it begins


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_whatever_fails_the_rows_are_those_of_one_computer(
    shared: Cluster, executor, ungraded: Course, expected, monkeypatch, fault
) -> None:
    shared.have_workers(FAULTS[fault])
    wait_until(lambda: executor.at_once == 2 * FAULTS[fault])
    statuses = graded_by(ungraded, executor, monkeypatch, lambda: fault(shared, executor))
    assert statuses == dict.fromkeys(STUDENTS, "graded")
    assert (rows_in(ungraded), notebooks(ungraded)) == expected
    counts = shared.client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert [address for address, count in counts.items() if not count] == [*executor.left_out]


def test_a_lesson_goes_to_the_workers_once_and_not_with_each_submission(executor, package, monkeypatch) -> None:
    sent = []
    monkeypatch.setattr(executor, "_sent", set())
    monkeypatch.setattr(executor._client, "register_plugin", sent.append)
    travels = [executor._as_sent(Submission(b"{}", package, seed)) for seed in (1, 2)]
    assert [plugin.lesson for plugin in sent] == [package]
    assert all(len(pickle.dumps(parts)) < 1000 for parts in travels)


def test_the_sandbox_ends_with_the_run(shared: Cluster, executor) -> None:
    shared.have_workers(1)
    wait_until(lambda: executor.at_once == 2)
    assert sandboxes(shared)
    executor.end()
    assert sandboxes(shared) == []


def sandboxes(shared: Cluster) -> list[psutil.Process]:
    below = [child for worker in shared.isolating for child in worker.children(recursive=True)]
    return [process for process in below if process.name() == "bwrap"]


def test_when_the_only_worker_dies_the_run_stops_and_what_was_written_stays(
    shared: Cluster, ungraded: Course, expected, monkeypatch
) -> None:
    shared.have_workers(1)
    with cluster.cluster_executor(shared.address, PATIENCE) as executor:
        monkeypatch.setattr(executor, "_wait_seconds", 0.0)
        with pytest.raises(ClusterError, match="No worker has been there for 0 seconds"):
            graded_by(ungraded, executor, monkeypatch, lambda: end_all(shared.isolating.pop()), written=True)
    assert 1 <= len(notebooks(ungraded)) < len(STUDENTS)
    assert notebooks(ungraded).items() <= expected[1].items()


@pytest.fixture
def bare(shared: Cluster) -> str:
    """The address of the one worker that is there, and cannot isolate."""
    end_all(*shared.isolating)
    wait_until(lambda: len(shared.workers()) == 1)
    return next(iter(shared.workers()))


def test_where_no_worker_can_isolate_each_is_named_with_the_reason(shared: Cluster, bare: str) -> None:
    with pytest.raises(ClusterError, match=f"No worker can grade: {bare}: bubblewrap is not installed"):
        connect(shared.address)


def test_a_worker_with_another_version_is_named_with_both(shared: Cluster, bare: str, monkeypatch) -> None:
    monkeypatch.setattr(cluster, "versions_here", lambda: {"torch": "1.0"})
    monkeypatch.setattr(cluster.ClusterExecutor, "_refuse_other_installations", lambda self: None)
    with pytest.raises(ClusterError, match=rf"{bare}: its torch is [\d.]+, here it is 1.0"):
        connect(shared.address)


def connect(address: str, wait_seconds: float = PATIENCE) -> None:
    with cluster.cluster_executor(address, wait_seconds):
        pass


def test_a_scheduler_with_tls_refuses_a_plain_client(tmp_path: Path, monkeypatch) -> None:
    keys = write_keys(tmp_path)
    secure = Cluster(tmp_path, *(part for name, path in keys.items() for part in (f"--tls-{name}", path)))
    assert secure.address.startswith("tls://")
    with monkeypatch.context() as hasty:
        hasty.setattr(cluster, "CONNECT_SECONDS", 1.0)
        with pytest.raises(ClusterError, match="No Dask scheduler answers at tcp://"):
            connect(secure.address.replace("tls://", "tcp://"))
    names = {"ca-file": "ca-file", "cert": "client.cert", "key": "client.key"}
    settings = {f"distributed.comm.tls.{names[name]}": path for name, path in keys.items()}
    with dask.config.set(settings), pytest.raises(ClusterError, match="No worker has joined"):
        connect(secure.address, 0.0)
    end_all(secure.scheduler)


def write_keys(folder: Path) -> dict[str, str]:
    """Write a key and its certificate, which all sides share, as files."""
    made = distributed.Security.temporary()
    texts = {"ca-file": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


def test_when_the_scheduler_dies_one_line_says_so_and_the_next_run_goes_on(
    shared: Cluster, ungraded: Course, expected, monkeypatch, capfd
) -> None:
    shared.have_workers(1)
    with (
        pytest.raises(ClusterError, match=r"^The scheduler is gone\. What was graded is written; the same command"),
        cluster.cluster_executor(shared.address, PATIENCE) as executor,
    ):
        graded_by(ungraded, executor, monkeypatch, lambda: end_all(shared.scheduler))
    assert "Traceback" not in capfd.readouterr().err
    results = grade_lesson(ungraded, ungraded.lesson(LESSON), options=SEED)
    assert {result.status for result in results} == {"as before", "graded"}
    assert (rows_in(ungraded), notebooks(ungraded)) == expected


def test_without_dask_it_is_said_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert __main__.main(["grade", "--executor", "tls://host:8786"]) == 2
    assert "pip install --constraint constraints.txt --editable '.[cluster]'" in capsys.readouterr().err


def test_an_address_without_tls_is_warned_about(monkeypatch, capsys) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.1)
    assert __main__.main(["grade", "--executor", "tcp://127.0.0.1:1"]) == 2
    warning, error = capsys.readouterr().err.splitlines()
    assert "whoever reaches that port can run programs as you" in warning
    assert error.startswith("error: No Dask scheduler answers at tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(ScarcityError(), ScarcityError), (SubmissionError("no"), SubmissionError), ("text", type(None))],
)
def test_what_a_submission_did_itself_comes_back_as_it_is(answer, kind: type) -> None:
    inner, result = Future(), Future()
    inner.set_result(answer)
    cluster.pass_on(result, inner)
    assert type(result.exception()) is kind


class Broken(Executor):
    """A cluster that has lost its workers."""

    def submit(self, function, *arguments) -> Future:
        result: Future = Future()
        cluster.resolve(result, ClusterError("lost"))
        return result


def test_trouble_of_the_cluster_is_nobodys_need_for_a_person(ungraded: Course) -> None:
    with pytest.raises(ClusterError, match="lost"):
        grade_lesson(ungraded, ungraded.lesson(LESSON), executor=Broken())
    assert notebooks(ungraded) == {}
