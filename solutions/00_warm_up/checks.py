"""The checks of lesson 0 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from typing import Any

import torch
from torch import Tensor

from autograder.checks import Inputs, check, law


@check("pairwise_dots", points=1, show=True)
def every_row_with_every_row(pairwise_dots: Any, draw: Inputs) -> Any:
    """Three rows with five rows; then a batch of such tables, with two axes in front."""
    rows, columns = draw.size(3, 2, 3), draw.size(5, 5, 8)
    a, b = draw.normal(rows, 4), draw.normal(columns, 4)
    return {
        "the result for two tables": pairwise_dots(a, b),
        "the result with two axes in front": pairwise_dots(
            draw.normal(2, 3, 4, 5), draw.normal(2, 3, 6, 5)
        ),
    }


def positive(draw: Inputs, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Draw a tensor with positive entries."""
    return draw.give((draw.normal(*shape).abs() + 0.1).to(dtype))


@check("normalize_rows", points=1, show=True)
def every_row_sums_to_one(normalize_rows: Any, draw: Inputs) -> Any:
    """A table; then a batch of tables, with two axes in front. x is the same afterward."""
    x = positive(draw, 3, draw.size(4, 5, 8))
    before = x.clone()
    return {
        "the result for a table": normalize_rows(x),
        "the result with two axes in front": normalize_rows(positive(draw, 2, 3, 4, 5)),
        "x is the same afterward": bool(x.equal(before)),
    }


RULES = {
    "a @ b": "In this product the last axis of a meets the first axis of b: those two disappear, and the others stay, "
    "in their order.",
    "a.mT": ".mT swaps the last two axes and leaves the others where they are.",
    "c + d": "Shapes are lined up from the right. A missing axis counts as size 1, and an axis of size 1 stretches to "
    "the size that it meets.",
    "a.sum(dim=-1)": "sum adds up along the axis that dim names, and this axis disappears. -1 is the last one.",
    "a.mean(dim=1, keepdim=True)": "Axes are counted from 0. keepdim=True keeps the axis that dim names, with size 1.",
    "a.flatten(1)": "flatten(1) joins axis 1 and all later axes into one, whose size is the product of theirs. "
    "Axes are counted from 0.",
}


def results() -> dict[str, Tensor]:
    """Calculate the six results that the exercise asks for."""
    a, b, c, d = (torch.zeros(shape) for shape in ((2, 3, 4), (4, 5), (3, 1), (5,)))
    return {
        "a @ b": a @ b,
        "a.mT": a.mT,
        "c + d": c + d,
        "a.sum(dim=-1)": a.sum(dim=-1),
        "a.mean(dim=1, keepdim=True)": a.mean(dim=1, keepdim=True),
        "a.flatten(1)": a.flatten(1),
    }


def as_shape(expression: str, answer: Any) -> tuple[int, ...]:
    """Return an answer as a shape. Raises ValueError where it is none."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        raise ValueError(
            f"For {expression} there is a single number, {answer}. A shape is a tuple, even with one size, and a tuple "
            "of one needs a comma: (7,)."
        )
    if not isinstance(answer, tuple | list):
        kinds = {str: "text", Tensor: "a tensor", type(None): "None"}
        found = kinds.get(type(answer), "something other than a shape")
        raise ValueError(
            f"For {expression} there is {found}. None of the six stops with an error: write a tuple of sizes, such as "
            "(2, 3, 4)."
        )
    if not all(isinstance(size, int) and not isinstance(size, bool) for size in answer):
        raise ValueError(
            f"For {expression} there is a tuple that holds something other than whole numbers. Each size is an int."
        )
    return tuple(answer)


def six_answers(answers: Any) -> dict[str, Any]:
    """Return the six answers in order. Raises ValueError where they are not a dictionary with these keys."""
    if not isinstance(answers, dict):
        raise ValueError(
            "A dictionary was asked for: {expression: shape}, with the six expressions as keys."
        )
    missing = [expression for expression in RULES if expression not in answers]
    if missing:
        raise ValueError(
            f"The key {missing[0]!r} is missing. Is it spelled as in the docstring, spaces included?"
        )
    return {expression: answers[expression] for expression in RULES}


def all_right(answers: Any) -> dict[str, bool]:
    """Compare the answers with PyTorch's. Raises ValueError for the first wrong one, with the rule that decides it."""
    right = results()
    for expression, answer in six_answers(answers).items():
        shape = as_shape(expression, answer)
        if shape != tuple(right[expression].shape):
            raise ValueError(
                f"{expression} does not have the shape {shape}. {RULES[expression]}"
            )
    return dict.fromkeys(right, True)


@check("shapes", points=1, summary=all_right)
def six_shapes(shapes: Any, draw: Inputs) -> Any:
    """Six shapes, compared with those that PyTorch finds. The first wrong one is explained."""
    return shapes()


@law("pairwise_dots")
def linear_in_each_row(pairwise_dots: Any, draw: Inputs) -> bool:
    """A row of `a` that is twice as long has dot products twice as large."""
    a, b = draw.normal(3, 4), draw.normal(5, 4)
    return torch.allclose(pairwise_dots(2 * a, b), 2 * pairwise_dots(a, b), atol=1e-4)


@law("pairwise_dots")
def each_batch_by_itself(pairwise_dots: Any, draw: Inputs) -> bool:
    """The table of one sentence in a batch does not depend on the other sentences."""
    a, b = draw.normal(2, 3, 4), draw.normal(2, 5, 4)
    return torch.allclose(
        pairwise_dots(a, b)[:1], pairwise_dots(a[:1], b[:1]), atol=1e-4
    )


@law("pairwise_dots")
def two_rows_each(pairwise_dots: Any, draw: Inputs) -> bool:
    """Entry (i, j) depends on row i of `a` and row j of `b`, and on no other row."""
    a, b = draw.normal(4, 5), draw.normal(6, 5)
    part = pairwise_dots(a[1:3], b[2:5])
    return torch.allclose(pairwise_dots(a, b)[1:3, 2:5], part, atol=1e-4)


@law("pairwise_dots")
def second_rows_count_too(pairwise_dots: Any, draw: Inputs) -> bool:
    """A row of `b` that is twice as long has dot products twice as large."""
    a, b = draw.normal(2, 3, 4), draw.normal(2, 5, 4)
    return torch.allclose(pairwise_dots(a, 2 * b), 2 * pairwise_dots(a, b), atol=1e-4)


@law("normalize_rows")
def rows_keep_their_proportions(normalize_rows: Any, draw: Inputs) -> bool:
    """A row is only divided by one number: an entry twice as large as its neighbor still is."""
    x = positive(draw, 3, 4)
    found = normalize_rows(x)
    return torch.allclose(found / found[:, :1], x / x[:, :1], rtol=1e-3)


@law("normalize_rows")
def each_row_sums_to_one(normalize_rows: Any, draw: Inputs) -> bool:
    """Each row sums to 1, and not its squares, its column or the whole table."""
    sums = normalize_rows(positive(draw, 2, 3, 4)).sum(dim=-1)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


@law("normalize_rows")
def rows_do_not_meet(normalize_rows: Any, draw: Inputs) -> bool:
    """A row is divided by its own sum, whatever the other rows hold."""
    x = positive(draw, 3, 4)
    return torch.allclose(normalize_rows(x)[:1], normalize_rows(x[:1]), atol=1e-4)
