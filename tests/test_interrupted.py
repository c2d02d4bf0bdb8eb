"""Grading that is killed, stopped or kept waiting: nothing is lost, nothing is skipped afterwards."""

import contextlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from autograder.classroom import run
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson
from autograder.classroom.writer import GradebookWriter
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox
from .waiting import wait_until

pytestmark = [needs_sandbox, pytest.mark.slow]
COMMAND = [sys.executable, "-m", "autograder", "grade", "--lesson", LESSON, "--jobs", "2", "--seed", "11"]
STUDENTS = [f"student{n}" for n in range(4)]
SEED = {"seed": 11}
END_SECONDS = 600.0  # far more than it takes; a slow computer decides nothing


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, right) -> Course:
    for n, student in enumerate(STUDENTS):
        hand_in(classroom, student, right if n % 2 else {})
    return classroom


@pytest.fixture
def ungraded(handed_in: Course) -> Course:
    for path in graded_files(handed_in):
        path.unlink()
    return handed_in


def start(course: Course) -> subprocess.Popen[str]:
    """Start a grader as a terminal does: what a shell starts in the background ignores Ctrl-C, and hands that down."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(COMMAND, cwd=course.root, text=True, **pipes)
    finally:
        signal.signal(signal.SIGINT, before)


def is_midway(grader: subprocess.Popen[str], course: Course, after: int) -> bool:
    """Say whether a grader has graded so many and goes on, or has ended already."""
    return grader.poll() is not None or (len(graded_files(course)) >= after and bool(below(grader)))


def held_midway(course: Course, after: int = 1) -> subprocess.Popen[str]:
    """Return a grader that has graded some of the class and is held there. One that was too quick is started again."""
    while True:
        grader = start(course)
        wait_until(partial(is_midway, grader, course, after))
        grader.send_signal(signal.SIGSTOP)
        if len(done := graded_files(course)) < len(STUDENTS) and grader.poll() is None:
            return grader
        grader.send_signal(signal.SIGCONT)
        grader.communicate()
        for path in done:
            path.unlink()


def graded_files(course: Course) -> list[Path]:
    return sorted(course.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb"))


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes that a grader has started: its sandbox and what runs in it."""
    return psutil.Process(process.pid).children(recursive=True)


def scores(course: Course) -> dict[str, float]:
    with open_gradebook(course) as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(LESSON)}


def finish(course: Course, full: int) -> None:
    """Grade what is left, and see that everything is there once."""
    results = grade_lesson(course, course.lesson(LESSON), jobs=2, options=SEED)
    assert {result.status for result in results} <= {"graded", "as before"}
    assert scores(course) == {student: full * (n % 2) for n, student in enumerate(STUDENTS)}
    again = grade_lesson(course, course.lesson(LESSON), options=SEED)
    assert [result.status for result in again] == ["as before"] * len(STUDENTS)


@pytest.mark.parametrize("after", [0, 2])
def test_killed_at_any_moment_the_next_run_finishes(ungraded: Course, full: int, after: int) -> None:
    grader = held_midway(ungraded, after)
    sandbox = below(grader)
    grader.kill()
    grader.communicate()
    assert psutil.wait_procs(sandbox, END_SECONDS)[1] == []
    finish(ungraded, full)


def test_ctrl_c_says_how_to_go_on(ungraded: Course, full: int) -> None:
    grader = held_midway(ungraded)
    sandbox = below(grader)
    grader.send_signal(signal.SIGINT)
    grader.send_signal(signal.SIGCONT)
    _, errors = grader.communicate(timeout=END_SECONDS)
    assert grader.returncode == 130, errors
    assert "stopped; the same command goes on with what is not finished" in errors
    assert "Traceback" not in errors
    assert psutil.wait_procs(sandbox, END_SECONDS)[1] == []
    finish(ungraded, full)


class Doomed:
    """Python swallows what a destructor raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_falls_into_a_destructor_stops_grading_too(ungraded: Course, full: int, monkeypatch) -> None:
    real, handler, before = GradebookWriter.save, signal.default_int_handler, signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, handler)

    def save(*given):
        Doomed()
        return real(*given)

    monkeypatch.setattr(GradebookWriter, "save", save)
    with pytest.raises(KeyboardInterrupt):
        grade_lesson(ungraded, ungraded.lesson(LESSON), jobs=2, options=SEED)
    assert signal.getsignal(signal.SIGINT) is handler
    signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    finish(ungraded, full)


@pytest.mark.parametrize(
    ("lock", "owner", "name"), [("EXCLUSIVE", run, "open_gradebook"), ("IMMEDIATE", GradebookWriter, "save")]
)
def test_a_locked_gradebook_is_waited_for(handed_in: Course, monkeypatch, lock: str, owner: object, name: str) -> None:
    lesson, met, real = handed_in.lesson(LESSON), threading.Event(), getattr(owner, name)
    grade_lesson(handed_in, lesson, options=SEED)
    monkeypatch.setattr(owner, name, lambda *given: (met.set(), real(*given))[1])
    gradebook = sqlite3.connect(handed_in.coursework / "gradebook.db", isolation_level=None)
    with contextlib.closing(gradebook), ThreadPoolExecutor(1) as pool:
        gradebook.execute(f"BEGIN {lock}")
        running = pool.submit(grade_lesson, handed_in, lesson, force=True, jobs=2, options=SEED)
        assert met.wait(END_SECONDS)
        time.sleep(0.5)  # that something waits cannot be seen from outside, only that it does not end
        assert not running.done()
        gradebook.execute("ROLLBACK")
        assert [result.status for result in running.result()] == ["graded"] * len(STUDENTS)


def test_a_submission_that_vanished_after_grading_stops_nobody(handed_in: Course) -> None:
    lesson = handed_in.lesson(LESSON)
    grade_lesson(handed_in, lesson, options=SEED)
    path = handed_in.submission(lesson, STUDENTS[1])
    kept = path.read_bytes()
    path.unlink()
    results = {result.student: result.status for result in grade_lesson(handed_in, lesson, options=SEED)}
    path.write_bytes(kept)
    assert results == {s: "needs a person" if s == STUDENTS[1] else "as before" for s in STUDENTS}
