"""Goes beside the stock notebooks: a check's values must be close to what the solution gave. Raises where not."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.judging.check import checks_in, load_module
from autograder.judging.values import Returned

SEED = 7


def assert_passes(exercise: str, work: Any) -> None:
    """Run an exercise's checks, visible and hidden ones, and compare every value."""
    visible = load_module(Path("checks.py").read_text(encoding="utf-8"), "checks.py")
    hidden = load_module(Path("hidden_checks.py").read_text(encoding="utf-8"), "hidden_checks.py", visible)
    expected = torch.load("expected.pt")
    for check in [c for c in (*checks_in(visible), *checks_in(hidden)) if c.exercise == exercise]:
        outcome = check.summarise(check.values(work, SEED))
        assert isinstance(outcome, Returned), outcome
        values = {leaf.path: leaf.value for leaf in outcome.leaves()}
        assert values.keys() == expected[check.name].keys()
        for path, value in values.items():
            if isinstance(value, Tensor | float):
                torch.testing.assert_close(value, expected[check.name][path], equal_nan=True, check_stride=False)
            else:
                assert value == expected[check.name][path]
