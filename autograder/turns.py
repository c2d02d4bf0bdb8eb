"""Several submissions at once, and still one writer: nbgrader's steps take turns, students' code runs side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

import nbgrader.utils

from .engine import Job, graded
from .errors import CourseError
from .grade import GradeSubmission
from .isolation import drop_sandbox

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
def taking_turns(root: Path, jobs: int, executor: Executor | None = None) -> Iterator[Turns]:
    """Let nbgrader's grading of the course in `root` run its submissions through `jobs` workers."""
    own = ThreadPoolExecutor(jobs) if executor is None else None
    turns = Turns(executor or own)  # type: ignore[arg-type]
    GradeSubmission.run = staticmethod(turns.run)
    try:
        with one_environment(root):
            yield turns
    finally:
        GradeSubmission.run = staticmethod(graded)
        if own is not None:
            for ended in [
                own.submit(end_of_worker, barrier) for barrier in [threading.Barrier(jobs)] for _ in range(jobs)
            ]:
                with suppress(Exception):
                    ended.result()
            own.shutdown()


@contextmanager
def one_environment(root: Path) -> Iterator[None]:
    """Set what nbgrader sets around each submission once for all: threads would unset it under one another."""
    place, own, os.environ[EXECUTION] = Path.cwd(), nbgrader.utils.setenv, "autograde"
    os.chdir(root)
    nbgrader.utils.setenv = lambda **_names: nullcontext()
    try:
        yield
    finally:
        nbgrader.utils.setenv = own
        del os.environ[EXECUTION]
        os.chdir(place)


def end_of_worker(barrier: threading.Barrier) -> None:
    """End a worker thread's sandbox; the barrier sees to it that each thread gets one call."""
    drop_sandbox()
    barrier.wait(timeout=60)


def in_turns(turns: Turns, jobs: int, works: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Do all works, `jobs` submissions at a time; yield results as they come. Ctrl-C stops after those under way."""
    with ThreadPoolExecutor(jobs + 1) as pool:
        futures: list[Future[T]] = [pool.submit(turns.take, work) for work in works]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            turns.stopped = True
            for future in futures:
                future.cancel()
            raise
