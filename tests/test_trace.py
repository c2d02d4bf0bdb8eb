"""Where NaN appears first: what a submission's process sends about it, and what is said of it."""

import ast
from typing import Any

import pytest
import torch

from autograder.judging.parsing import parse
from autograder.judging.trace import first_special, is_table, rewritten

HONEST = torch.tensor([[0.0, 2.0, 1.0]], dtype=torch.float64)


def told(*lines: str, x: Any) -> str:
    """Return what is said of a function that was run with `x`."""
    source = "\n    ".join(["def f(x):", *lines])
    code, places = rewritten(parse(source))
    names: dict[str, Any] = {"torch": torch}
    exec(code, names)
    names["f"](x)
    table = names["__trace__"].table()
    assert is_table(table, places)
    return first_special(places, table, source)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("return x - x",), ""),
        (("y = x / 0", "return y - y"), "Infinity appears first in line 2, `x / 0`, and NaN in line 3, `y - y`."),
        (("for _ in range(2):", "    x = x * 0 / 0", "return x"), "NaN appears first in line 3, `x * 0 / 0`. There, 0"),
        (("return [x.log(), (-x).sqrt()]",), "NaN appears first in line 2, `(-x).sqrt()`."),
        (("y = x.clone()", "y /= y - y", "y -= y", "return y"), "Infinity appears first in line 3, `y /= y - y`, and"),
    ],
)
def test_the_first_expressions_are_named(lines: tuple[str, ...], said: str) -> None:
    words = told(*lines, x=torch.ones(3))
    assert words.startswith(said)
    assert bool(words) == bool(said)


def test_infinity_that_came_in_is_not_told_as_a_cause() -> None:
    assert told("return x - x", x=torch.tensor([torch.inf])) == (
        "NaN appears first in line 2, `x - x`. There, infinity minus infinity is NaN."
    )


@pytest.mark.parametrize(
    "forged",
    [
        None,
        [1.0, 2.0],
        HONEST[0],
        HONEST[:, :2],
        HONEST.float(),
        HONEST + 5,
        torch.cat([HONEST, HONEST]),
        HONEST * torch.inf,
        torch.full_like(HONEST, torch.nan),
    ],
)
def test_a_forged_table_is_none(forged: Any) -> None:
    assert is_table(HONEST, [ast.Pass()])
    assert not is_table(forged, [ast.Pass()])
