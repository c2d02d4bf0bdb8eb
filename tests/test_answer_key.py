"""What the instructor's side loads of a lesson, and that loading it changes nothing else."""

import torch

from autograder.authoring.lesson_package import package_of
from autograder.authoring.nbgrader_course import load_config
from autograder.grading.package import LessonPackage
from autograder.judging import answer_key
from autograder.judging.answer_key import AnswerKey, load_answer_key
from autograder.paths import CONFIG_NAME, Course

from .conftest import LESSON


def test_loading_a_reference_leaves_the_process_as_it_was(course: Course) -> None:
    torch.manual_seed(5)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    assert package_of(course.lesson(LESSON)).key.reference["attend"]
    assert torch.get_num_threads() == threads
    assert torch.get_rng_state().equal(state)
    assert float(torch.tensor(1e-310, dtype=torch.float64) * 1) > 0
    assert repr(torch.tensor([1 / 3])) == "tensor([0.3333])"


def test_copies_of_a_lesson_share_an_answer_key(package: LessonPackage, scratch: Course) -> None:
    assert package_of(scratch.lesson(LESSON)).key is package.key


def test_a_lesson_that_has_changed_is_read_again(scratch: Course) -> None:
    """Also where no file's content has: a module has another name, or other questions count."""
    lesson = scratch.lesson(LESSON)
    module = lesson.folder / "helper.py"
    module.write_text("SIZE = 3\n")
    before = package_of(lesson)
    assert "helper" in before.key.module_names
    module.rename(module.with_name("tools.py"))
    renamed = package_of(lesson)
    assert "tools" in renamed.key.module_names
    with (scratch.root / CONFIG_NAME).open("a", encoding="utf-8") as config:
        config.write('c.Questions.graded = ["nobody_asks_this"]\n')
    load_config(scratch.root)
    assert package_of(lesson).digest != renamed.digest


def test_targets_are_computed_once_per_seed_and_forgotten_in_the_end(key: AnswerKey, monkeypatch) -> None:
    monkeypatch.setattr(answer_key, "MOST_TARGETS", 4)
    own = load_answer_key(key.source)
    assert own.targets("attend", 1) is own.targets("attend", 1)
    for seed in range(10):
        own.targets("project_qkv", seed)
    assert sorted(own.cache.targets) == [("project_qkv", seed) for seed in range(6, 10)]


def test_the_sandbox_gets_no_mistake_and_no_solution(package: LessonPackage) -> None:
    assert set(package.sandbox_sources) == set(package.key.exercises)
    messages = [mistake.message for mistake in package.key.mistakes]
    assert len(messages) > 20
    for sources in package.sandbox_sources.values():
        text = " ".join("".join(sources).split())
        assert [m.name for m in package.key.mistakes if f"def {m.name}(" in text] == []
        assert [message for message in messages if message in text] == []


def test_the_sandbox_gets_the_hidden_checks_of_one_exercise_only(package: LessonPackage) -> None:
    for exercise, (visible, hidden) in package.sandbox_sources.items():
        assert visible == package.source.checks
        for check in package.key.hidden:
            assert (f"def {check.name}(" in hidden) is (check.exercise == exercise)
