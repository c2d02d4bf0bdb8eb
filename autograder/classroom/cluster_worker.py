"""What runs on a worker of a Dask cluster: it gets a lesson once, starts its sandbox, and grades what comes.

The scheduler loads this module too, so it imports nothing heavy.
"""

from __future__ import annotations

import asyncio
import platform
import threading
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed import WorkerPlugin
from distributed.core import Status

from ..errors import CourseError, SandboxError
from ..paths import digest

if TYPE_CHECKING:
    from ..grading.package import LessonPackage

COMPARED = ("torch", "dask", "distributed")
_lessons: dict[str, LessonPackage] = {}
_runs: set[str] = set()  # that use this worker's sandbox
_turn = threading.Lock()  # one submission at a time


def grade_here(lesson: str, notebook: bytes, seed: int, limits: Mapping[str, Any], demonstrations: bool) -> Any:
    """Grade a submission on this worker. What is wrong with the submission is returned: only other trouble is raised.

    Args:
        lesson: the name under which the lesson was sent.
        notebook: the file that was handed in.
        seed: what the inputs of all checks are drawn from.
        limits: how much the submission may use, as a dictionary.
        demonstrations: run the lesson's own demonstration cells too.
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

    Args:
        name: the run's, and that of the resource which its submissions ask for.
        versions: the client's.

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
