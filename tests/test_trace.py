"""Where NaN appears first: what a submission's process sends about it, and what is said of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from autograder.judging.sentences import OBSERVED
from autograder.judging.trace import MARK, first_special, marked, watching

HONEST = torch.tensor([[2.0, 2.0, 11.0, 16.0], *[[0.0] * 4] * 6], dtype=torch.float64)
CELL = "def f(x):\n    return x - x"


def told(*lines: str, x: Any, kinds: Sequence[str] = ("nan", "cut")) -> str:
    """Return what is said of a function that was run with `x`, in a cell with something else before it."""
    cell = "\n    ".join(["first = 1", "", "def f(x):", *lines]).replace("    \n    def", "\ndef")
    names: dict[str, Any] = {"torch": torch, "np": np}
    source = marked(cell)
    with watching(source, "cell") as watch:
        exec(compile(source, "cell", "exec"), names)
        names["f"](x)
    assert watch
    assert "first" not in names
    return " ".join(first_special(watch.table(), cell, kinds).values())


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("return x - x",), ""),
        (("y = x / 0", "return y - y"), "Infinity appears first in line 4, `x / 0`, and NaN in line 5, `y - y`."),
        (("for _ in range(2):", "    x = x * 0 / 0", "return x"), "NaN appears first in line 5, `x * 0 / 0`."),
        (("return [x.log(), (-x).sqrt()]",), "NaN appears first in line 4, `(-x).sqrt()`."),
        (("x = 100 * x", "return x.exp() / x.exp()"), "Infinity appears first in line 5, `x.exp()`, and NaN in line 5"),
        (("y = x.clone()", "y /= y - y", "y -= y", "return y"), "Infinity appears first in line 5, `y /= y - y`, and"),
    ],
)
def test_the_first_expressions_are_named(lines: tuple[str, ...], said: str) -> None:
    words = told(*lines, x=torch.ones(3))
    assert words.startswith(said)
    assert bool(words) == bool(said)


def test_infinity_that_came_in_is_not_told_as_a_cause() -> None:
    assert told("return x - x", x=torch.tensor([torch.inf])) == "NaN appears first in line 4, `x - x`."


def test_numpys_operations_are_looked_at_too() -> None:
    said = told("y = np.exp(x)", "return y / y.sum()", x=np.array([1000.0, 2.0]))
    assert said.startswith("Infinity appears first in line 4, `np.exp(x)`, and NaN in line 5, `y / y.sum()`.")


@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize(
    ("lines", "cut"),
    [
        (("y = x * 2", "return x * y[0].item()"), "line 5, `y[0].item()`"),
        (("return torch.tensor([x[0], x[1]])",), "line 4, `torch.tensor([x[0], x[1]])`"),
        (("y = x * 2", "return y.data"), "line 5, `y.data`"),
        (("return x * float(x.sum())",), "line 4, `float(x.sum())`"),
        (("with torch.no_grad():", "    y = x * 2", "return y"), "line 5, `x * 2`"),
        (("return x * torch.ones_like(x) * (x.argmax() + 1)",), ""),
    ],
)
def test_what_autograd_cannot_follow_is_named(lines: tuple[str, ...], cut: str) -> None:
    assert told(*lines, x=torch.ones(3, requires_grad=True)) == (OBSERVED["cut"].format(cut=cut) if cut else "")


@pytest.mark.parametrize(
    ("line", "first"), [("x.float()", "`x.float()`"), ("x + torch.ones(3).sum()", "`torch.ones(3)`")]
)
def test_the_first_expression_in_a_dtype_is_named(line: str, first: str) -> None:
    words = told(f"return {line}", x=torch.ones(3, dtype=torch.float64), kinds=["float32"])
    assert words == OBSERVED["dtype"].format(dtype="float32", first=f"line 4, {first}")


def test_what_is_not_to_be_looked_at_is_not() -> None:
    with watching(CELL, "cell") as watch:
        assert watch is None
    assert marked(CELL).endswith(MARK)


@pytest.mark.parametrize(
    "forged",
    [None, [1.0, 2.0], HONEST[0], HONEST.float(), -HONEST, HONEST * torch.inf, torch.full_like(HONEST, torch.nan)],
)
def test_a_forged_table_says_nothing(forged: object) -> None:
    assert first_special(HONEST, CELL, ["nan"]) == {"nan": "NaN appears first in line 2, `x - x`."}
    assert first_special(forged, CELL, ["nan"]) == {}


def test_a_table_of_places_that_are_none_says_nothing() -> None:
    assert first_special(HONEST + 7, CELL, ["nan"]) == {}
