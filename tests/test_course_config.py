"""What nbgrader_config.py does for whoever starts nbgrader itself, and the settings of grading in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.authoring.nbgrader_course import load_config
from autograder.classroom.preprocessors import GradeSubmission
from autograder.errors import CourseError
from autograder.judging.inputs import PUBLIC_SEED
from autograder.paths import CONFIG_NAME, Course

HIDE = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Editable' not in str(f)]"  # the tests' own package
LOAD = f"from traitlets.config.loader import PyFileConfigLoader as L; L('{CONFIG_NAME}', path='.').load_config()"


@pytest.fixture
def empty(course: Course, tmp_path: Path) -> Path:
    """A clone that nobody has worked in."""
    shutil.copy(course.root / CONFIG_NAME, tmp_path)
    (tmp_path / "autograder").symlink_to(course.root / "autograder")
    return tmp_path


def test_nbgraders_own_commands_work_before_anything_was_collected(empty: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "db", "student", "list"]
    done = subprocess.run(command, cwd=empty, capture_output=True, text=True)
    assert (done.returncode, "There are 0 students in the database" in done.stderr + done.stdout) == (0, True)


def test_it_needs_no_more_than_the_students_side_of_the_package_installed(empty: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    (installed / "autograder").mkdir(parents=True)
    (installed / "autograder" / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", f"{HIDE}; {LOAD}"], cwd=empty, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_name_that_a_hub_gives_to_whoever_is_logged_in_is_not_the_courses(course: Course) -> None:
    assert load_config(course.root).CourseDirectory.student_id == "*"


def test_the_seed_of_the_public_inputs_is_refused() -> None:
    with pytest.raises(CourseError, match="draws the inputs that students have"):
        GradeSubmission(config=Config(GradeSubmission={"seed": PUBLIC_SEED}))


def test_a_seed_that_nobody_chose_is_never_the_public_one(package, monkeypatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda bound: PUBLIC_SEED)
    assert GradeSubmission().submission(b"", package).seed != PUBLIC_SEED


def test_limits_are_the_settings_in_bytes() -> None:
    limits = GradeSubmission(config=Config(GradeSubmission={"memory": 3, "cell_seconds": 7.5})).limits()
    assert (limits.memory_bytes, limits.cell_seconds) == (3 * 2**20, 7.5)
