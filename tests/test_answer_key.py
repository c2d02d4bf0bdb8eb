"""What the instructor's side loads of a lesson, and that loading it changes nothing else."""

import torch

from autograder.judging.answer_key import load_kit
from autograder.paths import Course

from .conftest import LESSON


def test_loading_a_reference_leaves_the_process_as_it_was(course: Course) -> None:
    torch.manual_seed(5)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    assert load_kit(course.lesson(LESSON)).reference["attend"]
    assert torch.get_num_threads() == threads
    assert torch.get_rng_state().equal(state)
    assert float(torch.tensor(1e-310, dtype=torch.float64) * 1) > 0
    assert repr(torch.tensor([1 / 3])) == "tensor([0.3333])"


def test_points_are_the_sum_of_the_checks(kit) -> None:
    assert kit.points() == {"project_qkv": 2, "attention_scores": 3, "attend": 4, "copy_previous_qk": 3}


def test_targets_are_computed_once_per_seed_and_forgotten_in_the_end(course: Course) -> None:
    kit = load_kit(course.lesson(LESSON))
    assert kit.targets("attend", 1) is kit.targets("attend", 1)
    for seed in range(250):
        kit.targets("project_qkv", seed)
    assert len(kit._targets) <= 101


def test_the_sandbox_gets_no_mistake_and_no_solution(kit) -> None:
    for check in (*kit.visible, *kit.hidden):
        text = "".join(kit.sandbox_source(check))
        assert "def softmax_over_queries" not in text
        assert "Your columns sum to 1" not in text
    assert kit.sandbox_source(kit.visible[0])[1] == ""
