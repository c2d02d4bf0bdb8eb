"""The hidden checks, and the mistakes that students make. Never given to students."""

from typing import Any

from autograder.checks import Inputs, check, mistake


@check("row_means", points=1)
def leading_axes(row_means: Any, draw: Inputs) -> Any:
    """More leading axes."""
    return row_means(draw.normal(2, 3, 5))


@mistake("row_means")
def column_means(x):
    """These are the means of the columns. The last axis runs along a row."""
    return x.mean(dim=-2)


@mistake("row_means")
def first_axis(x):
    """`dim=1` is the last axis only if there are two. Count from the end."""
    return x.mean(dim=1)
