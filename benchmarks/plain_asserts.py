"""Goes beside the stock notebooks: a check's values must be close to what the solution gave. Raises where not."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.judging.check import Check, checks_in, load_module
from autograder.judging.values import Returned

SEED = 7


@lru_cache(maxsize=1)
def load() -> tuple[list[Check], dict[str, dict[str, Any]]]:
    """Return all checks, and what the solution gave in each of them; read once per process."""
    visible = load_module(Path("checks.py").read_text(encoding="utf-8"), "checks.py")
    hidden = load_module(Path("hidden_checks.py").read_text(encoding="utf-8"), "hidden_checks.py", visible)
    return [*checks_in(visible), *checks_in(hidden)], torch.load("expected.pt")


def assert_passes(exercise: str, work: Any) -> None:
    """Run an exercise's checks, visible and hidden ones, and compare every value."""
    checks, expected = load()
    for check in checks:
        if check.exercise != exercise:
            continue
        outcome = check.summarize(check.values(work, SEED))
        assert isinstance(outcome, Returned), outcome
        values = {leaf.path: leaf.value for leaf in outcome.leaves()}
        assert values.keys() == expected[check.name].keys()
        for path, value in values.items():
            if isinstance(value, Tensor | float):
                torch.testing.assert_close(value, expected[check.name][path], equal_nan=True, check_stride=False)
            else:
                assert value == expected[check.name][path]
