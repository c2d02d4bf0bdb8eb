"""Negative controls: what CI must turn red is red."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.paths import Course
from autograder.authoring.notebook import read_notebook, text_of

from .conftest import LESSON


def run(root: Path, folder: str) -> tuple[int, str]:
    """Run nbval on a folder under the project's rules."""
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-rA", "-p", "no:cacheprovider", folder]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture
def small(course: Course, tmp_path: Path) -> Path:
    """A course whose notebooks end after the first check, with the project's nbval rules."""
    for name in ("solutions", "notebooks"):
        shutil.copytree(course.root / name / LESSON, tmp_path / name / LESSON)
        path = tmp_path / name / LESSON / f"{LESSON}.ipynb"
        notebook = read_notebook(path)
        last = next(i for i, c in enumerate(notebook.cells) if c.source.startswith("check("))
        notebook.cells = notebook.cells[: last + 1]
        path.write_text(text_of(notebook))
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.nbval_rules"]\n')
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "nbval_rules.py"):
        shutil.copy(course.root / "tests" / name, tmp_path / "tests")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_released_notebook_is_green_with_its_check_not_started(small: Path) -> None:
    code, report = run(small, "notebooks")
    assert code == 0, report
    assert "1 xfailed" in report


def test_a_changed_number_in_a_solved_notebook_is_red(small: Path) -> None:
    assert run(small, "solutions")[0] == 0
    change(small / "solutions" / LESSON / f"{LESSON}.ipynb", "0.946, 0.002, 0.047", "0.945, 0.002, 0.047")
    code, report = run(small, "solutions")
    assert code == 1
    assert "1 failed" in report


def test_a_typo_in_a_released_check_cell_is_red(small: Path) -> None:
    change(small / "notebooks" / LESSON / f"{LESSON}.ipynb", "check(project_qkv)", "chekc(project_qkv)")
    code, report = run(small, "notebooks")
    assert code == 1
    assert "1 failed" in report


def test_a_released_check_that_passes_unsolved_is_red(small: Path) -> None:
    change(small / "notebooks" / LESSON / f"{LESSON}.ipynb", "check(project_qkv)", "None")
    code, report = run(small, "notebooks")
    assert code == 1
    assert "passes although nothing was solved" in report


def test_an_error_elsewhere_in_a_released_notebook_is_red(small: Path) -> None:
    change(small / "notebooks" / LESSON / f"{LESSON}.ipynb", "keys @ q", "keys @ qq")
    assert run(small, "notebooks")[0] == 1
