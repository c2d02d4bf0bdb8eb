"""The hidden checks. Never given to students."""

from typing import Any

from autograder.checks import Inputs, check


@check("row_means", points=1)
def leading_axes(row_means: Any, draw: Inputs) -> Any:
    """More leading axes."""
    return row_means(draw.normal(2, 3, 5))
