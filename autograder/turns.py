"""Several submissions at once, and still one writer: nbgrader's steps take turns, students' code runs side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import nbgrader.api
import nbgrader.utils
from sqlalchemy import create_engine

from .engine import Job, graded
from .errors import CourseError
from .grade import GradeSubmission
from .isolation import drop_sandbox, sandbox_of_this_thread
from .sandbox import Limits

T = TypeVar("T")
EXECUTION = "NBGRADER_EXECUTION"


class Turns:
    """A lock that everybody holds who touches the gradebook, and lets go while a submission's code runs.

    Args:
        executor: where submissions run; any `concurrent.futures.Executor`.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor, self._lock, self.stopped = executor, threading.Lock(), False

    def run(self, job: Job) -> str:
        """Grade a notebook elsewhere; called by whoever has the turn. Raises CourseError after a stop."""
        self._lock.release()
        try:
            text = self._executor.submit(graded, job).result()
        finally:
            self._lock.acquire()
        if self.stopped:
            raise CourseError("stopped before it was graded")
        return text

    def take(self, work: Callable[[], T]) -> T:
        """Do something that touches the gradebook, when it is one's turn."""
        with self._lock:
            if self.stopped:
                raise CourseError("stopped before it was graded")
            return work()


@contextmanager
def taking_turns(
    root: Path, jobs: int, executor: Executor | None = None, warm: Limits | None = None
) -> Iterator[Turns]:
    """Let nbgrader's grading of the course in `root` run its submissions through `jobs` workers.

    Args:
        root: the course's folder.
        jobs: how many workers.
        executor: replaces them.
        warm: limits for which the workers' sandboxes start at once, while other things are prepared.
    """
    own = ThreadPoolExecutor(jobs) if executor is None else None
    if own and warm:
        on_each_worker(own, jobs, lambda: sandbox_of_this_thread(warm))
    turns = Turns(executor or own)  # type: ignore[arg-type]
    GradeSubmission.run = staticmethod(turns.run)
    try:
        with one_environment(root):
            yield turns
    finally:
        GradeSubmission.run = staticmethod(graded)
        if own is not None:
            on_each_worker(own, jobs, drop_sandbox)
            own.shutdown()


@contextmanager
def one_environment(root: Path) -> Iterator[None]:
    """Set what nbgrader sets around each submission once for all: threads would unset it under one another.

    nbgrader makes a database engine ten times per submission, and each would compile every query anew.
    """
    place, own, os.environ[EXECUTION] = Path.cwd(), nbgrader.utils.setenv, "autograde"
    os.chdir(root)
    nbgrader.utils.setenv = lambda **_names: nullcontext()
    nbgrader.api.create_engine = lru_cache(create_engine)
    try:
        yield
    finally:
        nbgrader.api.create_engine = create_engine
        nbgrader.utils.setenv = own
        del os.environ[EXECUTION]
        os.chdir(place)


def on_each_worker(pool: Executor, jobs: int, work: Callable[[], object]) -> None:
    """Begin something on every worker thread; the barrier sees to it that each thread gets one call."""
    barrier = threading.Barrier(jobs)

    def once() -> None:
        with suppress(Exception):  # a sandbox that does not start is tried again, and reported, by whoever needs it
            work()
        with suppress(threading.BrokenBarrierError):
            barrier.wait(timeout=60)

    for _ in range(jobs):
        pool.submit(once)


def in_turns(turns: Turns, jobs: int, works: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Do all works, `jobs` submissions at a time while two more are read or written; yield results as they come.

    Ctrl-C stops after those under way.
    """
    with ThreadPoolExecutor(jobs + 2) as pool:
        futures: list[Future[T]] = [pool.submit(turns.take, work) for work in works]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            turns.stopped = True
            for future in futures:
                future.cancel()
            raise
