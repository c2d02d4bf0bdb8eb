"""Building on one's own work of an earlier lesson."""

import shutil
from pathlib import Path

import pytest
import torch

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import solutions, submission
from autograder.paths import find_course
from autograder.student.earlier import earlier

BLOCK = "08_transformer_block"
COURSE = find_course()
RIGHT = solutions(read_lesson(COURSE.lesson(BLOCK)))


@pytest.fixture
def neighbor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two released lessons side by side; the notebook of the later one is running."""
    for lesson in ("07_position", BLOCK):
        shutil.copytree(COURSE.lesson(lesson).released_dir, tmp_path / lesson)
    monkeypatch.chdir(tmp_path / "07_position")
    return tmp_path / BLOCK / f"{BLOCK}.ipynb"


def hand_in(path: Path, cells: dict[str, str]) -> None:
    path.write_text(notebook_text(submission(package_of(COURSE.lesson(BLOCK)), cells)), encoding="utf-8")


def test_work_that_passes_is_returned(neighbor: Path) -> None:
    hand_in(neighbor, RIGHT)
    block = earlier(BLOCK, "TransformerBlock")
    assert block(8, 2, 16)(torch.zeros(1, 3, 8)).shape == (1, 3, 8)


def test_a_released_stub_is_not(neighbor: Path) -> None:
    assert earlier(BLOCK, "TransformerBlock") is None


def test_work_that_fails_is_not(neighbor: Path) -> None:
    wrong = RIGHT["TransformerBlock"].replace("self.norm2(x)", "x")
    hand_in(neighbor, {**RIGHT, "TransformerBlock": wrong})
    assert earlier(BLOCK, "TransformerBlock") is None


def test_a_missing_notebook_or_a_broken_one_is_no_error(neighbor: Path) -> None:
    neighbor.write_text("{")
    assert earlier(BLOCK, "TransformerBlock") is None
    neighbor.unlink()
    assert earlier(BLOCK, "TransformerBlock") is None


def test_what_is_drawn_afterward_does_not_depend_on_it(neighbor: Path) -> None:
    torch.manual_seed(5)
    earlier(BLOCK, "TransformerBlock")
    drawn = torch.rand(1)
    torch.manual_seed(5)
    assert drawn.equal(torch.rand(1))
