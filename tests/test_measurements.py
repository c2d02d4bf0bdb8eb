"""What is measured again, and what is not."""

import json
import shutil
from pathlib import Path

import pytest

from autograder.paths import Course, Lesson

from . import measurements
from .measurements import digest, digests, entry, measured_already

TEST = Path(__file__)
NAME = "07_position"


@pytest.fixture
def lesson(course: Course, tmp_path: Path) -> Lesson:
    """A copy of a lesson, to change."""
    shutil.copytree(course.lesson(NAME).folder, tmp_path / "solutions" / NAME)
    return Lesson(NAME, tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("lesson.py", "def reverse", "def backwards"),  # the code of a cell
        ("reader.py", "import torch", "import torch "),  # a module beside it
    ],
)
def test_a_changed_training_is_measured_again(lesson: Lesson, file: str, old: str, new: str) -> None:
    before, path = digest(TEST, lesson), lesson.folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert digest(TEST, lesson) != before


def test_another_text_to_learn_from_and_another_test_are_measured(lesson: Lesson) -> None:
    before = digest(TEST, lesson)
    assert digest(Path(measurements.__file__), lesson) != before
    (lesson.folder / "more.txt").write_text("a text to learn from")
    assert digest(TEST, lesson) != before


def test_changed_checks_and_sentences_are_no_reason_to_measure(lesson: Lesson) -> None:
    before = digest(TEST, lesson)
    for path in (lesson.checks_py, lesson.hidden_py):
        path.write_text(path.read_text() + "\n# a remark\n")
    lesson.lesson_py.write_text(lesson.lesson_py.read_text() + "\n# %% [markdown]\n# One sentence more.\n")
    assert digest(TEST, lesson) == before


@pytest.mark.skip(reason="an example of a test that measures")
@pytest.mark.measures(NAME)
def test_example() -> None: ...


def test_a_test_is_left_out_only_where_its_measurements_are_known(
    course: Course, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = next(item for item in request.session.items if item.name == "test_example" and item.path == TEST)
    monkeypatch.setattr(measurements, "KNOWN", tmp_path / "measured.json")
    monkeypatch.delenv(measurements.AGAIN, raising=False)
    assert not measured_already(item)
    measurements.KNOWN.write_text(json.dumps({entry(TEST, NAME): digest(TEST, course.lesson(NAME))}))
    assert measured_already(item)
    assert not measured_already(request.node)
    monkeypatch.setenv(measurements.AGAIN, "1")
    assert not measured_already(item)
    monkeypatch.delenv(measurements.AGAIN)
    measurements.KNOWN.write_text(json.dumps({entry(TEST, NAME): "of something else"}))
    assert not measured_already(item)


def test_every_file_that_measures_is_found(course: Course) -> None:
    names = {name for name, _ in digests(course)}
    assert {"test_measured.py 13_gpt", "test_measured.py 09_train_and_look_inside"} <= names
    assert "test_lesson_01.py 01_why_attention" in names
