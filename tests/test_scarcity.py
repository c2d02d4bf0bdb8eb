"""A submission that was ended for want of memory has no grade: it runs again, alone, and then a person looks."""

from concurrent.futures import Executor, Future

import pytest

from autograder.classroom import run
from autograder.classroom.run import grade_lesson
from autograder.errors import ScarcityError
from autograder.grading.grade import grade
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox


class AtOnce(Executor):
    """Does everything as soon as it is asked, in this thread."""

    def submit(self, function, *args):
        future: Future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def handed_in(scratch: Course, hand_in, right) -> Course:
    hand_in(scratch, "hungry", {**right, "copy_previous_qk": "# hungry"})
    hand_in(scratch, "quiet", right)
    return scratch


def graded(course: Course, times: int, monkeypatch) -> dict[str, tuple[str, float | None, str]]:
    """Grade with a `grade` that meets scarcity the first few times that it sees the hungry one."""
    seen = []

    def scarce(submission):
        if b"# hungry" in submission.notebook and len(seen) < times:
            seen.append(submission)
            raise ScarcityError
        return grade(submission)

    monkeypatch.setattr(run, "grade", scarce)
    options = {"allow_unsandboxed": True}
    results = grade_lesson(course, course.lesson(LESSON), options=options, executor=AtOnce())
    return {r.student: (r.status, r.score, r.note) for r in results}


@needs_sandbox
def test_it_runs_again_alone_and_is_graded(handed_in: Course, key, full: int, monkeypatch) -> None:
    results = graded(handed_in, 1, monkeypatch)
    assert results["hungry"][:2] == ("graded", full - key.points()["copy_previous_qk"])
    assert results["quiet"][:2] == ("graded", full)


@needs_sandbox
def test_the_second_time_it_needs_a_person_and_has_no_points(handed_in: Course, monkeypatch) -> None:
    status, score, note = graded(handed_in, 2, monkeypatch)["hungry"]
    assert (status, score) == ("needs a person", None)
    assert "even when it runs alone" in note
