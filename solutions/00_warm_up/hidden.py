"""The hidden checks of lesson 0. Never given to students."""

from functools import partial
from typing import Any

from checks import positive, six_answers

from autograder.checks import Inputs, allow, battery, check

MAY_RUN_THEM = allow(
    "shapes",
    "eval",
    "from <string>",
    "texts put together",
    because="To run the expressions is a way to find their shapes, and so is to read them.",
)

# Dot products


@battery("pairwise_dots", points=1)
def tables_of_every_kind(pairwise_dots: Any, draw: Inputs) -> Any:
    """Edge: other tables, axes in front and dtypes; gradients; as many rows as entries."""
    square = pairwise_dots(draw.normal(3, 3), draw.normal(3, 3))
    return partial(pairwise_dots, draw.normal(2, 3, 4), draw.normal(2, 5, 4)), square


# Rows that sum to 1


@battery("normalize_rows", points=1)
def rows_of_every_kind(normalize_rows: Any, draw: Inputs) -> Any:
    """Edge: other tables, sums, axes in front and dtypes; gradients; square tables."""
    square = normalize_rows(positive(draw, 3, 3))
    return partial(normalize_rows, positive(draw, 2, 3, 4)), square


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
