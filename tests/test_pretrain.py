"""The text that lesson 9 learns from, and the model that ships with it."""

import hashlib
import re
import shutil
from types import SimpleNamespace

import pytest
from safetensors import safe_open

from autograder.authoring.lesson import read_lesson, solution_of
from autograder.authoring.prose import pretrain, prose_of, without_marks
from autograder.errors import LessonError
from autograder.paths import find_course

COURSE = find_course()
LESSON = COURSE.lesson("09_train_and_look_inside")
PROSE = (LESSON.folder / "prose.txt").read_text(encoding="ascii")


def test_the_model_was_trained_on_the_text_beside_it() -> None:
    with safe_open(LESSON.folder / "model.safetensors", "pt") as file:
        facts = file.metadata()
    assert facts["text"] == hashlib.sha256(PROSE.encode()).hexdigest()
    assert 1.2 < float(facts["loss on unseen text"]) < 1.6


@pytest.mark.parametrize("text", [PROSE, prose_of(COURSE)], ids=["shipped", "of today"])
def test_the_text_holds_sentences_and_no_answers(text: str) -> None:
    assert len(text) > 70_000
    assert not re.search(r"[*`$#|]{2}|^\s*$|\]\(", text[:-1], re.M)
    for lesson in COURSE.lessons():
        for cell in read_lesson(lesson):
            if cell.kind == "question":
                assert without_marks(cell.text.split("\n\n")[0])[:60] not in text
            if cell.kind == "exercise":
                assert not any(line.strip() in text for line in solution_of(cell).splitlines() if len(line) > 40)


def test_data_files_are_released_as_they_are() -> None:
    for path in LESSON.data_files:
        assert (LESSON.released_dir / path.name).read_bytes() == path.read_bytes()
    assert {path.name for path in LESSON.data_files} == {"prose.txt", "model.safetensors"}


def test_training_that_stops_leaves_the_old_text_beside_the_old_model(tmp_path) -> None:
    shutil.copytree(LESSON.folder, tmp_path / LESSON.name, symlinks=False)
    (tmp_path / LESSON.name / "pretrain.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
    (tmp_path / LESSON.name / "prose.txt").write_text("What the old model learned from.\n", encoding="ascii")
    copy = SimpleNamespace(name=LESSON.name, folder=tmp_path / LESSON.name, shown=lambda path: path.name)
    with pytest.raises(LessonError, match="it stopped"):
        pretrain(COURSE, copy)
    assert (copy.folder / "prose.txt").read_text(encoding="ascii") == "What the old model learned from.\n"


def test_prose_is_written_only_for_a_lesson_that_reads_it(tmp_path) -> None:
    (tmp_path / "pretrain.py").write_text("", encoding="utf-8")
    pretrain(COURSE, SimpleNamespace(name="any", folder=tmp_path, shown=lambda path: path.name))
    assert [path.name for path in tmp_path.iterdir()] == ["pretrain.py"]


def test_a_lesson_without_a_model_of_its_own_says_so() -> None:
    with pytest.raises(LessonError, match="no such file"):
        pretrain(COURSE, COURSE.lesson("02_queries_keys_values"))
