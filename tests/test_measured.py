"""What cells marked as measured claim, as ranges over several seeds."""

import re
from typing import Any

import pytest
import torch

from autograder.authoring.lesson import read_lesson
from autograder.paths import find_course

COURSE = find_course()


def cells(lesson: str, *starts: str, seed: int = 0) -> dict[str, Any]:
    """Run a lesson's set-up and the cells that contain certain texts, from another seed."""
    found = read_lesson(COURSE.lesson(lesson))
    names: dict[str, Any] = {}
    setup = next(cell.text for cell in found if cell.kind == "setup").replace("import figures\n", "")
    sources = [setup, *(next(cell.text for cell in found if start in cell.text) for start in starts)]
    for source in sources:
        exec(re.sub(r"manual_seed\(0\)", f"manual_seed({seed})", source.split("\nplot.")[0]), names)
    torch.set_num_threads(1)
    return names


SCALING = ("FACTORS = ", "def lookup_batch", "class Lookup", "def train(", "def favorites")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unscaled_attention_crawls_from_one_wrong_favorite_to_the_next(seed: int) -> None:
    names = cells("03_scaling", *SCALING, seed=seed)
    torch.manual_seed(seed)
    before, place = names["favorites"](names["Lookup"](1.0))
    gradients, right = {}, {}
    for name, factor in names["FACTORS"].items():
        model, losses, gradients[name] = names["train"](factor(256))
        after, _ = names["favorites"](model)
        right[name] = float((after == place).double().mean())
        assert (min(losses) < 0.3) == (name != "unscaled")
        if name == "unscaled":
            assert 0.7 < float((after != before).double().mean()) < 0.9
    assert 0.4 < right["unscaled"] < 0.7
    assert min(right["over √d"], right["over d"]) > 0.97
    assert gradients["unscaled"] > 2 * gradients["over √d"] > 4 * gradients["over d"]


def test_a_default_linear_layer_has_a_third_of_the_variance() -> None:
    torch.manual_seed(1)
    outputs = torch.nn.Linear(256, 256)(torch.randn(10_000, 256)).detach()
    assert float(outputs.var()) == pytest.approx(1 / 3, abs=0.02)


HEADS = ("def questions", "class Reader", "def trained", "def each_right")


@pytest.mark.parametrize("seed", range(5))
def test_one_head_reads_one_digit_and_two_heads_read_both(seed: int) -> None:
    names = cells("06_multi_head_attention", *HEADS)
    low, high = sorted(names["each_right"](names["trained"](1, seed)).tolist())
    assert low < 0.2
    assert high > 0.95
    assert min(names["each_right"](names["trained"](2, seed)).tolist()) > 0.95


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_head_of_four_goes_by_the_digits(seed: int) -> None:
    names = cells("06_multi_head_attention", "def four_answers", "class Layer", "layer = Layer()", seed=seed)
    digits, _ = names["four_answers"](500, 999)
    weights = names["layer"](digits)[1].detach()
    renamed = torch.randperm(10, generator=torch.Generator().manual_seed(1))[digits]
    moved = ((names["layer"](renamed)[1].detach() - weights).abs().sum(dim=-1) / 2).mean(dim=(0, 2)).sort().values
    assert float(moved[-1]) > 0.6
    assert float(moved[-2]) < 0.2


def test_empty_rows_are_what_the_lessons_say_of_this_version() -> None:
    q = torch.randn(1, 2, 4)
    hidden = torch.zeros(2, 2, dtype=torch.bool)
    assert not torch.nn.functional.scaled_dot_product_attention(q, q, q, hidden).any()
    module = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    assert module(q, q, q, attn_mask=~hidden)[0].isnan().all()
