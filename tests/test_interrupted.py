"""Grading that is killed, stopped or kept waiting: nothing is lost, nothing is skipped afterwards."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.classroom.run import grade
from autograder.paths import Course
from autograder.authoring.nbgrader_course import gradebook_of
from autograder.grading.sandbox import missing

from .conftest import LESSON

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")
COMMAND = [sys.executable, "-m", "autograder", "grade", "--lesson", LESSON, "--jobs", "2", "--seed", "11"]
STUDENTS = [f"student{n}" for n in range(6)]
LOCKED_SECONDS = 8  # nbgrader itself gives up after 5


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, right) -> Course:
    for n, student in enumerate(STUDENTS):
        hand_in(classroom, student, right if n % 2 else {})
    return classroom


def start(course: Course) -> subprocess.Popen[str]:
    return subprocess.Popen(COMMAND, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def graded_files(course: Course) -> list[Path]:
    return sorted(course.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb"))


def wait_until(done, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def sandboxes() -> set[str]:
    """Return the numbers of the processes that run a sandbox."""
    lines = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0] for line in lines if "autograder.grading.sandbox.fork_server" in line}


def scores(course: Course) -> dict[str, float]:
    with gradebook_of(course) as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(LESSON)}


@pytest.mark.parametrize("after", [0, 1, 4])
def test_killed_at_any_moment_the_next_run_finishes(handed_in: Course, after: int) -> None:
    before = sandboxes()
    for path in graded_files(handed_in):
        path.unlink()
    grader = start(handed_in)
    try:
        wait_until(lambda: len(graded_files(handed_in)) >= after and sandboxes() - before)
    finally:
        grader.send_signal(signal.SIGKILL)
        grader.communicate()
    wait_until(lambda: not sandboxes() - before, 20)
    done = subprocess.run(COMMAND, cwd=handed_in.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "6 graded, 0 need a person." in done.stdout
    assert scores(handed_in) == {student: 12.0 * (n % 2) for n, student in enumerate(STUDENTS)}
    again = subprocess.run(COMMAND, cwd=handed_in.root, capture_output=True, text=True, check=False)
    assert again.stdout.count("as before") == len(STUDENTS)


def test_ctrl_c_says_how_to_go_on(handed_in: Course) -> None:
    before = sandboxes()
    for path in graded_files(handed_in):
        path.unlink()
    grader = start(handed_in)
    wait_until(lambda: graded_files(handed_in))
    grader.send_signal(signal.SIGINT)
    _, errors = grader.communicate(timeout=60)
    assert grader.returncode == 130
    assert "stopped; the same command goes on with what is not finished" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not sandboxes() - before, 20)
    done = subprocess.run(COMMAND, cwd=handed_in.root, capture_output=True, text=True, check=False)
    assert "6 graded, 0 need a person." in done.stdout


def test_a_locked_gradebook_is_waited_for(handed_in: Course) -> None:
    for path in graded_files(handed_in):
        path.unlink()
    locked = threading.Event()

    def lock() -> None:
        with sqlite3.connect(handed_in.database, isolation_level=None) as gradebook:
            gradebook.execute("BEGIN EXCLUSIVE")
            locked.set()
            time.sleep(LOCKED_SECONDS)
            gradebook.execute("ROLLBACK")

    thread = threading.Thread(target=lock)
    thread.start()
    locked.wait()
    began = time.monotonic()
    rows = grade(handed_in, handed_in.lesson(LESSON), jobs=2, options={"seed": 11})
    thread.join()
    assert time.monotonic() - began >= LOCKED_SECONDS - 1  # it did meet the lock
    assert [row.status for row in rows] == ["graded"] * len(STUDENTS)


def test_a_regrade_with_the_recorded_seed_gives_the_same_rows(handed_in: Course) -> None:
    lesson = handed_in.lesson(LESSON)
    first = [(r.student, r.score) for r in grade(handed_in, lesson, force=True)]
    seed = json.loads(graded_files(handed_in)[0].read_text())["metadata"]["autograder"]["seed"]
    assert [(r.student, r.score) for r in grade(handed_in, lesson, force=True, options={"seed": seed})] == first
    assert {json.loads(p.read_text())["metadata"]["autograder"]["seed"] for p in graded_files(handed_in)} == {seed}


def test_a_submission_that_vanished_after_grading_stops_nobody(handed_in: Course) -> None:
    lesson = handed_in.lesson(LESSON)
    grade(handed_in, lesson, options={"seed": 11})
    path = handed_in.submitted / STUDENTS[1] / LESSON / f"{LESSON}.ipynb"
    kept = path.read_bytes()
    path.unlink()
    rows = {row.student: row.status for row in grade(handed_in, lesson, options={"seed": 11})}
    path.write_bytes(kept)
    assert rows == {student: "needs a person" if student == STUDENTS[1] else "as before" for student in STUDENTS}
