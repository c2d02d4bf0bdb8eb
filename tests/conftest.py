import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.authoring.lesson import read_lesson
from autograder.authoring.notebook import read_notebook, text_of
from autograder.authoring.package import package_of
from autograder.authoring.sample_submissions import solutions, submission
from autograder.grading.package import LessonPackage
from autograder.judging.answer_key import AnswerKey
from autograder.paths import CONFIG_NAME, Course, Lesson, find_course

collect_ignore = ["hostile"]

LESSON = "02_queries_keys_values"
HandIn = Callable[..., Path]


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
def right(course: Course) -> dict[str, str]:
    """Every exercise's solution, as a student's cells."""
    return solutions(read_lesson(course.lesson(LESSON)))


def printed(lesson: Lesson) -> str:
    """Return all that a solved notebook prints, as text."""
    cells = [c for c in read_notebook(lesson.solved).cells if c.cell_type == "code"]
    return "".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for c in cells for o in c.outputs)


def copy_course(course: Course, root: Path) -> Course:
    """Copy what a course needs, without a class's data."""
    shutil.copy(course.root / CONFIG_NAME, root)
    for part in ("solutions", "notebooks"):
        shutil.copytree(course.root / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return Course(root)


@pytest.fixture
def scratch(course: Course, tmp_path: Path) -> Course:
    """A copy of the course that a test may change."""
    return copy_course(course, tmp_path)


@pytest.fixture(scope="module")
def classroom(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A copy of the course that the tests of one module share."""
    return copy_course(course, tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def hand_in(package: LessonPackage) -> HandIn:
    """Put a notebook with the given exercise cells where submissions are."""

    def put(course: Course, student: str, edits: dict[str, str]) -> Path:
        path = course.submission(course.lesson(LESSON), student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(submission(package, edits)), encoding="utf-8")
        return path

    return put
