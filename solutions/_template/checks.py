"""The checks that you can run yourself. Grading runs them again on new inputs, with a few more."""

from typing import Any

from autograder.checks import Inputs, check


@check("row_means", points=1, show=True)
def a_table(row_means: Any, draw: Inputs) -> Any:
    """A table of three rows: one mean per row."""
    return row_means(draw.normal(3, 5))
