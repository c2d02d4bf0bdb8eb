"""The standard battery: which items are asked, what they notice, and that the sandbox asks the same ones."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.authoring.verify import unasked_promise_problems
from autograder.judging.battery import Battery, asked_of, battery, choices_in, kind_of
from autograder.judging.check import load_module
from autograder.judging.compare import equal
from autograder.judging.inputs import Inputs

HIDDEN = '''
from functools import partial
from autograder.checks import battery

@battery("shares", points=1, off={"long 2": "Long rows are slow."})
def kinds(shares, draw):
    """Inputs of every kind."""
    return partial(shares, draw.normal(2, 3, 4)), shares(draw.normal(5, 5))
'''


def shares(x: Tensor) -> Tensor:
    """Softmax of x, which is (..., n), in its dtype. Scores may be in the thousands."""
    return x.softmax(dim=-1)


@pytest.fixture(scope="module")
def asked() -> Battery:
    return asked_of(load_module(HIDDEN, "hidden.py").kinds, shares)


def test_what_is_promised_is_asked_and_what_is_off_is_not(asked: Battery) -> None:
    assert {kind_of(item) for item in asked.items} == {
        *("gradients", "twice", "views", "front", "large", "single", "long"),
        *("float16", "bfloat16", "float32", "float64"),
    }
    assert "long 1" in asked.items
    assert "long 2" not in asked.items


def once_only(x: Tensor, kept: list[Tensor] = []) -> Tensor:  # noqa: B006  (that is the mistake)
    if x.requires_grad or x.dim() != 3 or x.size(0) != 2:
        return shares(x)
    kept.append(shares(x))
    return kept[0]


WRONG = {
    "gradients": lambda x: shares(x.detach()) + 0 * x,
    "twice": once_only,
    "views": lambda x: shares(x if x.is_contiguous() else -x),
    "front": lambda x: shares(x) if x.dim() < 4 else x.softmax(dim=2),
    "large": lambda x: x.exp() / x.exp().sum(dim=-1, keepdim=True),
    "single 1": lambda x: shares(x.squeeze(1)),
    "long 1": lambda x: torch.cat([shares(x[..., :300, :]), 0 * x[..., 300:, :]], dim=-2),
    "float16": lambda x: shares(x.float()).to(x.dtype if x.dtype != torch.float16 else torch.float32),
}


@pytest.mark.parametrize("item", WRONG)
def test_an_item_is_failed_by_what_it_is_for_and_by_nothing_that_is_right(asked: Battery, item: str) -> None:
    one, right = asked.only([item]), partial(shares)
    assert not equal(one.values(WRONG[item], 1), one.values(shares, 1), None)
    assert equal(one.values(right, 1), one.values(shares, 1), None)


def test_an_input_that_a_variation_made_is_watched_too(asked: Battery) -> None:
    outcome = asked.only(["views"]).values(lambda x: x.data.mul_(2), 1)
    assert outcome.changed  # type: ignore[union-attr]


def test_where_there_is_no_solution_the_same_items_are_asked(asked: Battery) -> None:
    sent = load_module(HIDDEN + choices_in([asked]), "hidden.py").kinds
    assert sent.items == asked.items
    assert equal(sent.values(shares, 3), asked.values(shares, 3), None)


def test_an_item_that_does_not_exist_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="no item 'speed'"):
        battery("shares", points=1, off={"speed": "It is fast."})


def test_a_module_is_varied_with_its_parameters_and_stays_as_it_is() -> None:
    @battery("Layer", points=1)
    def layers(layer_class: Any, draw: Inputs) -> Any:
        """Layers."""
        module = layer_class(3, 2).double()
        return partial(module, draw.normal(4, 3)), module

    asked = asked_of(layers, Layer)
    assert {"gradients", "float32", "twice"} <= {kind_of(item) for item in asked.items}
    tree = asked.values(Layer, 1).tree  # type: ignore[union-attr]
    assert tree["float32"].dtype == torch.float32
    assert [tuple(grad.shape) for grad in tree["gradients"][1]] == [(2,), (2, 3)]
    renamed = asked.values(Renamed, 1).tree["gradients"]  # type: ignore[union-attr]
    assert [grad.equal(right) for grad, right in zip(renamed[1], tree["gradients"][1], strict=True)] == [True, True]


class Layer(torch.nn.Linear):
    """A linear layer."""


class Renamed(Layer):
    """The same, with its parameters under further names that come first."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.a, self.b = self.weight, self.bias
        self._parameters = dict(sorted(self._parameters.items()))


def test_a_promise_that_no_check_asks_is_a_problem(asked: Battery) -> None:
    def key_with(check: Battery) -> Any:
        reference = {"shares": shares}
        return SimpleNamespace(exercises=("shares",), reference=reference, checks_of=lambda _: [check])

    assert list(unasked_promise_problems(key_with(asked))) == []
    problems = list(unasked_promise_problems(key_with(asked.only(["twice"]))))
    assert [word for word in ("'(...'", "'dtype'") if not any(word in problem for problem in problems)] == []
