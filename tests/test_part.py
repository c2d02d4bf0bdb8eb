"""Part of a lesson: what an edit concerns is proved again, and nothing else."""

import pytest

from autograder.authoring.lesson import lesson_source, read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.part import needed_exercises, part_of, proof_bases
from autograder.authoring.sample_submissions import one_mistake_each, solutions
from autograder.authoring.verify import graded_submission_problems, key_problems
from autograder.paths import Course, Lesson

from .conftest import LESSON, needs_sandbox

EXERCISES = {"project_qkv", "attention_scores", "attend", "copy_previous_qk"}
EDITS = [
    ("mistakes", '"value_from_w_k", "x @ w_v", "x @ w_k"', '"value_from_w_k", "x @ w_v", "x @ w_q"', {"project_qkv"}),
    ("mistakes", "The values are x itself.", "The values are x.", {"project_qkv"}),
    ("checks", "draw.normal(3, 4), draw.normal(5, 4)", "draw.normal(3, 4), draw.normal(6, 4)", {"attention_scores"}),
    ("checks", "clamp(min=0)", "clamp(0)", EXERCISES),  # a helper, which might be anybody's
    ("hidden", "# Project", "# Projections", set()),
    ("text", "return query @ key.mT", "return query @ key.transpose(-2, -1)", {"attention_scores"}),
    ("text", "torch.set_num_threads(1)", "torch.set_num_threads(2)", EXERCISES),
    ("text", "## The idea", "## An idea", set()),
]


@pytest.fixture
def lesson(scratch: Course) -> Lesson:
    return scratch.lesson(LESSON)


def bases(lesson: Lesson) -> dict[str, str]:
    cells = read_lesson(lesson)
    return proof_bases(lesson_source(lesson, cells), cells)


@pytest.mark.parametrize(("file", "old", "new", "concerned"), EDITS)
def test_an_edit_concerns_the_exercises_whose_proof_it_can_change(lesson, file, old, new, concerned) -> None:
    before, path = bases(lesson), getattr(lesson, file)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert {name for name, basis in bases(lesson).items() if basis != before[name]} == concerned


def test_an_exercise_needs_those_whose_names_it_reads_or_that_overwrite_its_own() -> None:
    code = {
        "f": "def _help(x):\n    return x\n\ndef f(x):\n    return _help(x)",
        "g": "def g(x):\n    return f(x)",
        "h": "def h(x):\n    return x",
        "k": "def _help(x):\n    return -x\n\ndef k(x):\n    return h(x)",
    }
    assert needed_exercises(code) == {
        "f": ("f", "h", "k"),
        "g": ("f", "g", "h", "k"),
        "h": ("h",),
        "k": ("h", "k"),
    }


@needs_sandbox
def test_a_part_is_proved_by_itself_and_a_gap_in_it_is_found(course: Course) -> None:
    lesson = course.lesson("06_multi_head_attention")
    cells, package = read_lesson(lesson), package_of(lesson)
    part = part_of(package, cells, {"split_heads"})
    right = {"split_heads": solutions(cells)["split_heads"]}
    mistakes = one_mistake_each(part, right)
    assert len(mistakes) > 5
    graded = graded_submission_problems(part, right, mistakes, 2, demonstrations=False)
    assert [*key_problems(part.key, cells, 2), *graded] == []
    wrong = {"split_heads": "def split_heads(x, num_heads):\n    return x"}
    assert list(graded_submission_problems(part, wrong, [], 2, demonstrations=False))
