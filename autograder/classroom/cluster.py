"""Grading on many computers: submissions run on the workers of a Dask cluster.

A submission travels as its text. A lesson goes to each worker once, and a worker needs nothing of the course's folder.
Dask sends functions and values as pickles, so whoever reaches the scheduler runs code on every worker: docs/scale.md
begins with TLS. The scheduler loads this module too, so nothing heavy is imported before a worker needs it.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, WorkerPlugin
from distributed.core import Status
from distributed.scheduler import KilledWorker
from distributed.versions import VersionMismatchWarning

from ..errors import ClusterError, CourseError, SandboxError, command
from ..paths import digest

if TYPE_CHECKING:
    from ..grading.package import LessonPackage
    from ..grading.submission import Submission

CONNECT_SECONDS = 10.0
WATCH_SECONDS = 0.5
MOST_NAMED = 10
GOES_ON = "What was graded is written; the same command goes on with the rest."
QUIET = {
    "distributed.admin.large-graph-warning-threshold": "1GiB",  # one notebook with many figures
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
}
COMPARED = ("torch", "dask", "distributed")
_lessons: dict[str, LessonPackage] = {}
_runs: set[str] = set()  # that use this worker's sandbox
_turn = threading.Lock()  # one submission at a time


class ClusterExecutor(Executor):
    """Has submissions graded by the workers of a cluster.

    Attributes:
        left_out: the workers that get no submissions, with the reason.
    """

    def __init__(self, client: Client, wait_seconds: float) -> None:
        self._client, self._wait_seconds = client, wait_seconds
        self._name = f"lessons-{uuid.uuid4().hex[:12]}"
        self._executor = client.get_executor(pure=False, retries=1, resources={self._name: 1})
        self._sent: set[str] = set()
        self._pending: set[Future[str]] = set()
        self._ended = threading.Event()
        self._fit = 0
        self.left_out: dict[str, str] = {}

    def start(self) -> None:
        """Make the workers ready. Raises ClusterError where none can grade."""
        with lost_as_cluster_error(self._client):
            self._refuse_other_installations()
            self._client.register_plugin(SandboxReady(self._name, versions_here()))
            self._wait_for_a_worker()
        threading.Thread(target=self._watch, daemon=True, name="cluster-watch").start()

    def end(self) -> None:
        """Let workers forget the lessons and end their sandboxes, as far as they can still be reached."""
        self._ended.set()
        for name in (*self._sent, self._name) if self._client.status == "running" else ():
            with suppress(Exception):
                self._client.unregister_worker_plugin(name)

    @property
    def at_once(self) -> int:
        """How many submissions should be under way, so that no worker waits for the next one: two for each."""
        return 2 * max(self._fit, 1)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_none: Any) -> Future[Any]:
        """Have a submission graded: the one argument. The function is `grade`, which the workers import themselves."""
        (submission,) = arguments
        result: Future[str] = Future()
        self._pending.add(result)
        with lost_as_cluster_error(self._client):
            inner = self._executor.submit(grade_here, *self._as_sent(submission))
        result.add_done_callback(partial(self._done, inner))
        inner.add_done_callback(partial(pass_on, result))
        return result

    def _as_sent(self, submission: Submission) -> tuple[Any, ...]:
        """Return a submission as it travels, after the lesson has gone to all workers."""
        lesson = f"{self._name}-{submission.lesson.digest[:12]}"
        if lesson not in self._sent:
            self._client.register_plugin(LessonSent(lesson, submission.lesson))
            self._sent.add(lesson)
        return lesson, submission.notebook, submission.seed, asdict(submission.limits), submission.demonstrations

    def _done(self, inner: Future[Any], result: Future[str]) -> None:
        self._pending.discard(result)
        if result.cancelled():
            inner.cancel()

    def _refuse_other_installations(self) -> None:
        """Raise where the scheduler, or a worker, cannot even load this module: each would break the run for all."""
        try:
            self._client.run_on_scheduler(versions_here)
        except ImportError as error:
            raise ClusterError(f"The scheduler runs where this project is not installed ({error}).") from error
        states = self._client.run(state_of_worker, self._name, on_error="return")
        lacking = {address: str(error) for address, error in states.items() if isinstance(error, ImportError)}
        if lacking:
            raise ClusterError(f"This project is not installed for these workers: {listed(lacking)}.")

    def _wait_for_a_worker(self) -> None:
        ends = time.monotonic() + self._wait_seconds
        while True:
            states = self._client.run(state_of_worker, self._name, on_error="ignore")
            self.left_out = {address: reason for address, reason in states.items() if reason}
            self._fit = sum(reason == "" for reason in states.values())
            if self._fit:
                return
            if states and len(self.left_out) == len(states):
                raise ClusterError(f"No worker can grade: {listed(self.left_out)}.")
            if time.monotonic() > ends:
                longer = f"`{command('grade --wait=600')}` waits longer"
                raise ClusterError(f"No worker has joined in {self._wait_seconds:g} seconds; {longer}.")
            time.sleep(WATCH_SECONDS)

    def _watch(self) -> None:
        """Count the workers now and then. Where none is left for too long, or the scheduler is gone, end the wait."""
        seen = time.monotonic()
        while not self._ended.wait(WATCH_SECONDS):
            try:
                workers = self._client.scheduler_info()["workers"].values()
            except Exception:
                workers = ()
            self._fit = sum(self._name in worker["resources"] for worker in workers)
            if self._fit:
                seen = time.monotonic()
            elif time.monotonic() - seen > self._wait_seconds:
                lost = f"No worker has been there for {self._wait_seconds:g} seconds. {GOES_ON}"
                for result in list(self._pending):
                    resolve(result, ClusterError(lost))


def pass_on(result: Future[str], inner: Future[Any]) -> None:
    """Give a worker's answer to whoever waits for it; trouble that is not the submission's own as a ClusterError."""
    try:
        resolve(result, inner.result())
    except CancelledError:
        resolve(result, ClusterError(f"The scheduler is gone. {GOES_ON}"))
    except CourseError as error:
        resolve(result, error)
    except KilledWorker as error:
        last = getattr(error.last_worker, "address", error.last_worker)
        words = f"{error.allowed_failures + 1} workers ended one after another with the same submission, last {last}."
        resolve(result, ClusterError(f"{words} Their logs say why. {GOES_ON}"))
    except Exception as error:
        resolve(result, ClusterError(f"The cluster failed ({type(error).__name__}: {error}). {GOES_ON}"))


def resolve(result: Future[str], answer: str | Exception) -> None:
    """Set a result or an exception, unless that has happened, or nobody waits any more."""
    with suppress(InvalidStateError):
        if isinstance(answer, Exception):
            result.set_exception(answer)
        else:
            result.set_result(answer)


def listed(reasons: Mapping[str, str]) -> str:
    """Return workers with what is wrong with each, as a text."""
    named = [f"{address}: {reason}" for address, reason in sorted(reasons.items())[:MOST_NAMED]]
    return "; ".join(named) + (f"; and {len(reasons) - MOST_NAMED} more" if len(reasons) > MOST_NAMED else "")


@contextmanager
def lost_as_cluster_error(client: Client) -> Iterator[None]:
    """Turn what Dask raises where it has lost its scheduler into one line."""
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        if client.status == "running":
            raise ClusterError(f"The cluster failed ({type(error).__name__}: {error}). {GOES_ON}") from error
        raise ClusterError(f"The scheduler is gone. {GOES_ON}") from error


@contextmanager
def cluster_executor(address: str, wait_seconds: float) -> Iterator[ClusterExecutor]:
    """Connect to a cluster and give an executor; end all that was started for it.

    Args:
        address: the scheduler's, as tls://host:8786, for which the certificates are those of Dask's settings.
        wait_seconds: how long to wait for a worker, at the start and when none is left.

    Raises:
        ClusterError: no scheduler answers, or no worker can grade.
    """
    warnings.simplefilter("ignore", VersionMismatchWarning)
    for name in list(logging.root.manager.loggerDict):  # what is said about a cluster is left to us
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set(QUIET):
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:
            reason = str(error).rpartition(": ")[2]
            raise ClusterError(f"No Dask scheduler answers at {address} ({reason}).") from error
        executor = ClusterExecutor(client, wait_seconds)
        try:
            executor.start()
            yield executor
        finally:
            executor.end()
            with suppress(Exception):
                client.close(timeout=CONNECT_SECONDS)


def grade_here(lesson: str, notebook: bytes, seed: int, limits: Mapping[str, Any], demonstrations: bool) -> Any:
    """Grade a submission on this worker, with the lesson that was sent under a name.

    What is wrong with the submission is returned: only other trouble is raised.
    """
    from ..grading.grade import grade
    from ..grading.sandbox import Limits
    from ..grading.submission import Submission

    try:
        with _turn:
            return grade(Submission(notebook, _lessons[lesson], seed, Limits(**limits), demonstrations))
    except SandboxError:  # Dask tries once more, maybe on another worker
        raise
    except CourseError as error:
        return error
    except Exception as error:
        return CourseError(f"{type(error).__name__}: {error}")


class LessonSent(WorkerPlugin):  # type: ignore[misc]
    """Keeps a lesson on every worker, also on those that join later."""

    def __init__(self, name: str, lesson: LessonPackage) -> None:
        self.name, self.lesson = name, lesson

    def setup(self, worker: Any) -> None:
        """Keep the lesson."""
        _lessons[self.name] = self.lesson

    def teardown(self, worker: Any) -> None:
        """Forget it."""
        _lessons.pop(self.name, None)


class SandboxReady(WorkerPlugin):  # type: ignore[misc]
    """Starts a worker's sandbox, and only then lets the worker have submissions; ends the sandbox with the run.

    The name is the run's, and that of the resource which its submissions ask for.

    Attributes:
        unfit: why the worker gets no submissions, '' where it does; None as long as that is not known.
    """

    def __init__(self, name: str, versions: Mapping[str, str]) -> None:
        self.name, self.versions = name, versions
        self.unfit: str | None = None

    async def setup(self, worker: Any) -> None:
        """Start the sandbox, then tell the scheduler."""
        _runs.add(self.name)
        unfit = await asyncio.to_thread(why_unfit, self.versions)
        if not unfit:
            await worker.set_resources(**{self.name: 1})
            # only a worker that begins to run has the scheduler look for submissions that nobody else could take
            worker.status = Status.paused
            worker.status = Status.running
        self.unfit = unfit

    async def teardown(self, worker: Any) -> None:
        """End the sandbox, and what still runs in it."""
        _runs.discard(self.name)
        if not _runs:
            await asyncio.to_thread(end_sandbox)


def why_unfit(versions: Mapping[str, str]) -> str:
    """Say why this worker cannot grade for a client with these versions; '' where it can, with its sandbox ready."""
    from ..grading.sandbox import shared_sandbox, unavailable_reason
    from ..grading.sandbox.pool import discard

    own = versions_here()
    for name, needed in versions.items():
        if own[name] != needed:
            return f"its {name} is {own[name]}, here it is {needed}"
    if reason := unavailable_reason():
        return reason
    sandbox = shared_sandbox()
    try:
        sandbox.wait_until_ready()
    except SandboxError as error:
        discard(sandbox)
        return str(error)
    return ""


def end_sandbox() -> None:
    """End this worker's sandbox, and wait until whoever used it has noticed."""
    from ..grading.sandbox.pool import stopping

    with stopping(), _turn:
        pass


async def state_of_worker(name: str, dask_worker: Any) -> str | None:
    """Return why a worker gets no submissions of a run, '' where it does, None as long as that is not known."""
    plugin = dask_worker.plugins.get(name)
    return plugin.unfit if plugin else None


@lru_cache(maxsize=1)
def versions_here() -> dict[str, str]:
    """Return what has to be the same on all computers, so that it does not matter which one grades."""
    package = Path(__file__).parents[1]
    versions = {"Python": ".".join(platform.python_version_tuple()[:2])}
    versions |= {name: version(name).partition("+")[0] for name in COMPARED}
    return versions | {"autograder": digest(*sorted(package.rglob("*.py")))[:8]}
