"""What nbgrader_config.py does for whoever starts nbgrader itself: on a hub, or before anything was collected."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.nbgrader_course import load_config
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
