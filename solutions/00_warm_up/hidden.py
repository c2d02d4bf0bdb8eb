"""The hidden checks of lesson 0. Never given to students."""

from typing import Any

import torch
from checks import positive, six_answers

from autograder.checks import Inputs, allow, check

MAY_RUN_THEM = allow(
    "shapes",
    "eval",
    "from <string>",
    because="To run the expressions is a way to find their shapes.",
)

# Dot products


@check("pairwise_dots", points=1)
def small_tables_and_gradients(pairwise_dots: Any, draw: Inputs) -> Any:
    """Edge: a single row, a single entry per row, as many rows as entries; one axis in front; float32; gradients."""
    a, b = draw.normal(2, 3).requires_grad_(), draw.normal(4, 3).requires_grad_()
    (pairwise_dots(a, b) * draw.normal(2, 4)).sum().backward()
    single = torch.float32
    return a.grad, (
        b.grad,
        pairwise_dots(draw.normal(1, 6), draw.normal(3, 6)),
        pairwise_dots(draw.normal(4, 1), draw.normal(2, 1)),
        pairwise_dots(draw.normal(3, 3), draw.normal(3, 3)),
        pairwise_dots(draw.normal(5, 2, 4), draw.normal(5, 3, 4)),
        pairwise_dots(draw.normal(2, 7, dtype=single), draw.normal(3, 7, dtype=single)),
    )


# Rows that sum to 1


@check("normalize_rows", points=1)
def small_and_square_tables(normalize_rows: Any, draw: Inputs) -> Any:
    """Edge: square tables, a single row, a single column, one axis in front; float32; gradients; x as it was."""
    x = positive(draw, 2, 3).requires_grad_()
    (normalize_rows(x) * draw.normal(2, 3)).sum().backward()
    kept = positive(draw, 4, 3)
    before = kept.clone()
    return x.grad, (
        normalize_rows(positive(draw, 3, 3)),
        normalize_rows(positive(draw, 1, 5)),
        normalize_rows(positive(draw, 4, 1)),
        normalize_rows(positive(draw, 4, 2, 3)),
        normalize_rows(positive(draw, 2, 5, dtype=torch.float32)),
        normalize_rows(kept),
        bool(kept.equal(before)),
    )


# Shapes


def numbers_of_axes(answers: Any) -> dict[str, int]:
    """Count the axes of each answer; -1 where it is no shape."""
    return {
        expression: len(answer) if isinstance(answer, tuple | list) else -1
        for expression, answer in six_answers(answers).items()
    }


@check("shapes", points=1, summary=numbers_of_axes)
def six_numbers_of_axes(shapes: Any, draw: Inputs) -> Any:
    """The number of axes of each of the six, whatever their sizes."""
    return shapes()
