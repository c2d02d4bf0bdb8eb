"""No grade depends on a clock: what counts is the processor time of a submission, and how long it sleeps."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.sample_submissions import solutions
from autograder.grading.sandbox import Limits, SandboxSession, shared_sandbox
from autograder.grading.sandbox import meter as metering
from autograder.grading.sandbox.channel import TooSlowError
from autograder.grading.sandbox.meter import AsleepError, Meter, TimeAllowance, Usage
from autograder.judging.check import checks_in, load_module
from autograder.judging.values import Lost, Returned
from autograder.paths import find_course

from .conftest import needs_sandbox
from .graded import errors_in, handed_in, points_in, record_of

CHECKS = '''
from autograder.judging.check import check

@check("work", points=1)
def done(work, draw):
    """Done."""
    return work()
'''
(DONE,) = checks_in(load_module(CHECKS, "checks.py"))
LIMITS = Limits(cell_seconds=1.0, check_seconds=1.0)
COMPUTE = """
import os, time
def work(seconds={seconds}):
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    return 1
"""
BUSY = 2  # processes
SLEEP = "import time\ndef work():\n    time.sleep({seconds})\n    return 1"
IN_A_CHILD = """
import os
def work():
    if os.fork() == 0:
        while True: pass
    os.wait()
"""


@contextmanager
def busy_processes() -> Iterator[None]:
    """Keep the computer busy."""
    with ExitStack() as stack:
        for _ in range(BUSY):
            stack.callback(stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"])).kill)
        yield


@pytest.fixture
def session() -> Iterator[SandboxSession]:
    with shared_sandbox().session({}, LIMITS) as opened:
        yield opened


def outcome(session: SandboxSession, source: str) -> object:
    session.run(source)
    return session.check(DONE, (CHECKS, ""), 1)


@needs_sandbox
def test_what_computes_less_than_it_may_is_waited_for_on_a_busy_computer(session: SandboxSession) -> None:
    with busy_processes():
        assert isinstance(outcome(session, COMPUTE.format(seconds=0.6)), Returned)


@needs_sandbox
def test_a_cell_too_is_waited_for_on_a_busy_computer(session: SandboxSession) -> None:
    with busy_processes():
        assert errors_in(session.run(COMPUTE.format(seconds=0.6) + "work()")) == []


@needs_sandbox
def test_what_computes_more_than_it_may_is_stopped(session: SandboxSession) -> None:
    assert outcome(session, COMPUTE.format(seconds=5)) == Lost("It was still running after 1 seconds.")


@needs_sandbox
def test_what_sleeps_is_stopped_as_soon_as_what_computes_and_told_so(session: SandboxSession) -> None:
    told = Lost("It did nothing for 1 seconds: does it sleep, or wait for something?")
    assert outcome(session, SLEEP.format(seconds=600)) == told


@needs_sandbox
def test_what_sleeps_for_a_moment_is_waited_for(session: SandboxSession) -> None:
    assert isinstance(outcome(session, SLEEP.format(seconds=0.3)), Returned)


@needs_sandbox
def test_what_a_child_computes_counts(session: SandboxSession) -> None:
    assert outcome(session, IN_A_CHILD) == Lost("It was still running after 1 seconds.")


@needs_sandbox
def test_all_requests_together_have_a_limit_of_processor_time() -> None:
    with shared_sandbox().session({}, Limits(total_seconds=1.0)) as session:
        assert errors_in(session.run(COMPUTE.format(seconds=0.7) + "work()")) == []
        assert errors_in(session.run("work(0.7)")) == ["SubmissionStopped"]
        assert session.copy() is None


@needs_sandbox
def test_what_an_ended_copy_has_computed_is_charged_once() -> None:
    with shared_sandbox().session({}, Limits(total_seconds=60.0)) as session:
        copy = session.copy()
        assert copy is not None
        copy.run(COMPUTE.format(seconds=2.0) + "work()")
        copy.close()
        left = session.seconds_left
        while session.copy() is not None and left - session.seconds_left < 0.1:
            pass
        assert left - session.seconds_left < 1.0


# The meter alone, on made-up accounts


class Account:
    """A process's account, and a clock, that a test moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, queued: float | None = 0.0) -> None:
        self.now, self.usage = 1000.0, Usage(5.0, queued)
        monkeypatch.setattr(metering.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(metering, "usage_of", lambda _: self.usage)
        monkeypatch.setattr(metering, "descendants", lambda _: [])

    def passes(self, seconds: float, computed: float = 0.0, queued: float = 0.0) -> None:
        self.now += seconds
        self.usage += Usage(computed, queued)


def test_time_in_the_queue_counts_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(monkeypatch)
    meter = Meter([1], TimeAllowance(20.0, 20.0))
    account.passes(190.0, computed=19.0, queued=170.0)
    assert meter.wait() == pytest.approx(1.0)


def test_sleeping_counts_as_sleeping(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(monkeypatch)
    meter = Meter([1], TimeAllowance(20.0, 20.0))
    account.passes(21.0)
    with pytest.raises(AsleepError):
        meter.wait()


def test_where_the_kernel_does_not_tell_who_waits_a_tenth_of_the_clock_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(monkeypatch, queued=None)
    meter = Meter([1], TimeAllowance(20.0, 20.0))
    account.passes(190.0, computed=3.0)
    meter.wait()
    account.passes(15.0)
    with pytest.raises(AsleepError):
        meter.wait()


def test_a_process_that_never_gets_a_turn_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(monkeypatch)
    meter = Meter([1], TimeAllowance(20.0, 20.0))
    account.passes(199.0, queued=199.0)
    meter.wait()
    account.passes(2.0, queued=2.0)
    with pytest.raises(AsleepError):
        meter.wait()


def test_computing_counts_when_it_has_happened_and_the_clock_is_early(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(monkeypatch)
    meter = Meter([1], TimeAllowance(20.0, 20.0))
    account.passes(20.0, computed=40.0)  # two threads
    with pytest.raises(TooSlowError):
        meter.wait()


@needs_sandbox
@pytest.mark.slow
def test_the_answer_key_gets_all_points_beside_busy_processes() -> None:
    """Lesson 11's has black boxes too, so that three processes wait for each other. A proof grades it alone."""
    lesson = find_course().lesson("11_bug_hunt")
    package = package_of(lesson)
    with busy_processes():
        points = points_in(record_of(handed_in(package, solutions(read_lesson(lesson)))))
    assert points == package.key.points()
