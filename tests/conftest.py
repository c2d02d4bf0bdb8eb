import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import solutions, submission
from autograder.classroom.feedback import make_feedback
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson
from autograder.grading import running
from autograder.grading.package import LessonPackage
from autograder.grading.sandbox import unavailable_reason
from autograder.judging import verdict
from autograder.judging.answer_key import AnswerKey
from autograder.judging.sentences import SHARED
from autograder.paths import CONFIG_NAME, Course, find_course
from autograder.student import progress, repairing, telling

from .measurements import measured_already

# the same clone draws the same examples, however busy it is; `pytest --hypothesis-profile=default` looks for new ones
BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", derandomize=True, **BUSY)
settings.load_profile("repeatable")

# messages name commands as somebody types them who has activated the environment
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# an explanation that stops is a defect, which grading would only note
verdict.SURVIVED = ()

# limits by the clock keep people from waiting; on a busy computer, tests would meet them
repairing.LONGEST_WAIT = running.LONGEST_SEARCH = progress.LOCK_SECONDS = running.CLOCK_PATIENCE = 600.0
telling.ANSWER_SECONDS = telling.LOCK_SECONDS = 600.0

collect_ignore = ["hostile"]
PROOF = "::test_a_lesson_is_proved["
# what takes longest starts first, so that no worker is left with it in the end
FIRST = "test_measured.py"
LONGEST = (
    *("test_hub.py", "test_lesson_01.py", "test_serve.py", "test_cheats.py", "test_writer.py", "test_cluster.py"),
    *("test_postgres.py", "test_interrupted.py", "test_black_box.py", "test_killed_serving.py", "test_site.py"),
    *("test_browser.py", "test_browser_hostile.py", "test_nbval.py", "test_cli.py"),
    *("test_browser_formgrader.py", "test_run.py", "test_shards.py", "test_build.py", "test_lesson_11.py"),
    *("test_strictness.py", "test_bounds.py", "test_bundle.py"),
)

LESSON = "02_queries_keys_values"
OVER_QUERIES = SHARED["softmax over queries"].partition(":")[0]  # how the words about that mistake begin
HandIn = Callable[..., Path]
MadeOnce = Callable[[str, Callable[[Path], None]], Path]
needs_sandbox = pytest.mark.skipif(bool(unavailable_reason()), reason=unavailable_reason() or "isolated")
FRAGILE = """
def attend(query, key, value):
    weights = (query @ key.mT).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights
"""


class OneFileOneWorker(LoadScopeScheduling):
    """Keeps a file or a notebook on one worker, but distributes the proofs of lessons.

    pytest-xdist's own `loadgroup` does that with marks, which 3.8.0 loses under pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if PROOF in nodeid else nodeid.split("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return OneFileOneWorker(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=rank)
    for item in filter(measured_already, items):
        item.add_marker(pytest.mark.skip(reason="measured before, and nothing has changed: `make test-measured`"))


def rank(item: pytest.Item) -> int:
    """Return a place in the queue: trainings, notebooks and proofs of lessons, then long files, then the rest."""
    if item.path.suffix == ".ipynb" or PROOF in item.nodeid or item.path.name == FIRST:
        return 0
    return LONGEST.index(item.path.name) + 1 if item.path.name in LONGEST else len(LONGEST) + 1


@pytest.fixture(autouse=True, scope="module")
def denormals_kept() -> Iterator[None]:
    """What a lesson's set-up changes in this process ends with a file: hypothesis needs the smallest numbers."""
    yield
    torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def course() -> Course:
    return find_course(Path(__file__).parent)


@pytest.fixture(scope="session")
def package(course: Course) -> LessonPackage:
    return package_of(course.lesson(LESSON))


@pytest.fixture(scope="session")
def key(package: LessonPackage) -> AnswerKey:
    return package.key


@pytest.fixture(scope="session")
def full(key: AnswerKey) -> int:
    """What all of the lesson's exercises earn."""
    return sum(key.points().values())


@pytest.fixture(scope="session")
def possible(full: int, package: LessonPackage) -> int:
    """The same with the questions, which a person grades."""
    return full + sum(int(package.nbgrader_cells[name].points or 0) for name in package.rubrics)


@pytest.fixture(scope="session")
def right(course: Course) -> dict[str, str]:
    """Every exercise's solution, as a student's cells."""
    return solutions(read_lesson(course.lesson(LESSON)))


def copy_course(course: Course, root: Path) -> Course:
    """Copy what a course needs, without a class's data; with the empty gradebook of the `pristine` copy."""
    shutil.copy(course.root / CONFIG_NAME, root)
    for part in ("solutions", "notebooks"):
        shutil.copytree(course.root / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    if course != find_course(Path(__file__).parent):
        shutil.copytree(course.coursework, root / "coursework")
    return Course(root)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> MadeOnce:
    """Return a folder that all workers of this run share: the first that asks makes it, others wait for it."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent

    def once(name: str, make: Callable[[Path], None]) -> Path:
        folder, finished = root / name, root / f"{name}.finished"
        with FileLock(root / f"{name}.lock"):
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                finished.touch()
        return folder

    return once


@pytest.fixture(scope="session")
def pristine(course: Course, made_once: MadeOnce) -> Course:
    """A copy of the course with an empty gradebook, which nbgrader takes seconds to make. Nobody may change it."""

    def make(folder: Path) -> None:
        with open_gradebook(copy_course(course, folder)):
            pass

    return Course(made_once("pristine", make))


@pytest.fixture
def scratch(pristine: Course, tmp_path: Path) -> Course:
    """A copy of the course that a test may change."""
    return copy_course(pristine, tmp_path)


@pytest.fixture(scope="module")
def classroom(pristine: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy of the course that the tests of one module share."""
    return copy_course(pristine, tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def notebook(package: LessonPackage) -> bytes:
    """The released notebook as somebody hands it in who has not begun."""
    return notebook_text(submission(package, {})).encode()


@pytest.fixture(scope="session")
def hand_in(package: LessonPackage) -> HandIn:
    """Put a notebook with the given exercise cells where submissions are."""

    def put(course: Course, student: str, edits: dict[str, str]) -> Path:
        path = course.submission(course.lesson(LESSON), student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook_text(submission(package, edits)), encoding="utf-8")
        return path

    return put


@pytest.fixture(scope="session")
def reported(
    pristine: Course, package: LessonPackage, right: dict[str, str], hand_in: HandIn, made_once: MadeOnce
) -> Course:
    """A graded class with feedback, which tests only read.

    One is right, one has a mistake, one more with the same mistake has an odd name, one fails a hidden check only, one
    has not started, one is unreadable.
    """
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    wrong = {**right, "attend": known["attend", "softmax_over_queries"].source}
    fragile = {**right, "attend": FRAGILE}
    submitted = {"right_101": right, "two_mistakes": wrong, "=cmd_77": wrong, "fragile": fragile, "unsolved": {}}

    def make(folder: Path) -> None:
        classroom = copy_course(pristine, folder)
        for student, cells in submitted.items():
            hand_in(classroom, student, cells)
        hand_in(classroom, "broken", {}).write_text("{")
        lesson = classroom.lesson(LESSON)
        grade_lesson(classroom, lesson, options={"allow_unsandboxed": True, "seed": 5})
        make_feedback(classroom, lesson)
        with open_gradebook(classroom) as gradebook:
            gradebook.update_or_create_student("right_101", first_name="Ada", last_name="Bo", email="ada@example.org")

    return Course(made_once("reported", make))
