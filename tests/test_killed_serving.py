"""`lessons serve` killed with SIGKILL at ten moments of one submission's way: nothing is lost, nothing is doubled."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pytest
from nbgrader import api

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.attempts import GRADED
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.serve import serve
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox
from .handing_in import add_exchange
from .test_serve import Running, feedback, hand_in

pytestmark = [
    pytest.mark.slow,
    needs_sandbox,
    *(
        pytest.mark.filterwarnings(f"ignore::{name}")
        for name in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
    ),
]
# the boundary in the program at which it ends: a module, a name in it, and whether before or after the call
MOMENTS = {
    "before collecting": ("deliveries.Exchange.new", "before"),
    "in the copy": ("exchange.CollectPlainFiles._contents", "after"),
    "after the copy": ("exchange.CollectPlainFiles.files_of", "after"),
    "while grading": ("serve.wait", "after"),
    "after grading": ("attempt_writer.AttemptWriter.write", "before"),
    "in the gradebook's transaction": ("writer.GradebookWriter._save_comments", "after"),
    "before feedback": ("attempt_writer.make_page", "before"),
    "in feedback": ("feedback.without_scripts", "before"),
    "before release": ("exchange.CollectPlainFiles.release", "before"),
    "after release": ("exchange.CollectPlainFiles.release", "after"),
}
# a process that has imported everything and of which each one that is killed is a fork
WARM = get_context("forkserver")
WARM.set_forkserver_preload(["autograder.classroom.serve"])


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def serve_until(root: Path, boundary: str, when: str) -> None:
    """Serve a course, and end at a boundary in the program."""
    os.chdir(root)
    module, *names = boundary.split(".")
    owner = import_module(f"autograder.classroom.{module}")
    for name in names[:-1]:
        owner = getattr(owner, name)
    real = getattr(owner, names[-1])

    def last(*given: object, **named: object) -> None:
        if when == "after":
            real(*given, **named)
        end()

    setattr(owner, names[-1], last)
    serve(Course(root), 1, {}, print, lambda: False)


@pytest.fixture(scope="module")
def exchange(classroom: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return add_exchange(classroom, tmp_path_factory.mktemp("exchange"))


def killed_at(course: Course, moment: str) -> None:
    """Serve a course in a process that ends itself at a moment."""
    process = WARM.Process(target=serve_until, args=(course.root, *MOMENTS[moment]))
    process.start()
    process.join(600)
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_the_next_one_goes_on(
    classroom, exchange, package, right, full: int, monkeypatch, moment: str
) -> None:
    student = moment.replace(" ", "_").replace("'", "")
    secret = hand_in(exchange, student, notebook_text(submission(package, right)))
    killed_at(classroom, moment)
    monkeypatch.chdir(classroom.root)
    with ThreadPoolExecutor(1) as pool:
        service = Running(classroom, pool, exchange, {})
        service.run()
        before = rows(classroom)
        assert [(a.status, a.released, a.points) for a in service.attempts(student)] == [(GRADED, "open", full)]
        assert service.points()[student] == full
        assert "It counts" in feedback(exchange, secret)
        service.begin()
        service.run()
    assert rows(classroom) == before
    assert not list(classroom.attempts.glob(f"*/{LESSON}/"))


def rows(course: Course) -> list[tuple[str, ...]]:
    """Return the gradebook's rows about points, without doubles, which would be a defect of their own."""
    with open_gradebook(course) as gradebook:
        found = [
            (grade.notebook.assignment.student.id, grade.cell.name, grade.auto_score)
            for grade in gradebook.db.query(api.Grade)
        ]
    assert len({row[:2] for row in found}) == len(found)
    return sorted(found, key=str)
