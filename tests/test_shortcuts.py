"""What counts as a shortcut, and what does not."""

import pytest

from autograder.shortcuts import found_in, shortcut

BANS = [shortcut("attend", "ready_made", because="Write it.")]
FOUND = ("ready_made", "Write it.")


@pytest.mark.parametrize(
    "code",
    [
        "def attend(q): return F.ready_made(q)",
        "def attend(q):\n    from torch.nn.functional import ready_made as f\n    return f(q)",
        "def attend(q): return getattr(F, 'ready_made')(q)",
        "from torch.nn.functional import ready_made as attend",
        "attend = F.ready_made",
        "class attend:\n    def __call__(self, q): return F.ready_made(q)",
    ],
)
def test_a_shortcut_is_found(code: str) -> None:
    assert found_in(BANS, "attend", [code]) == FOUND


def test_a_shortcut_in_another_cell_counts_where_the_exercise_leads_to_it() -> None:
    cells = ["def attend(q): return step(q)", "def step(q): return other(q)", "other = F.ready_made"]
    assert found_in(BANS, "attend", cells) == FOUND


@pytest.mark.parametrize(
    "cells",
    [
        ["def attend(q): return q", "F.ready_made(q) == attend(q)"],
        ["def attend(q): return ready_made(q)", "def ready_made(q): return q"],
        ["def attend(q): return q  # not F.ready_made"],
        ["def attend(q", "F.ready_made"],
        ["def attend(q):\n    weights = q\n    return weights", "weights = F.ready_made(1)"],
        ["%time\ndef attend(q): return q"],
    ],
)
def test_what_is_no_shortcut_is_not_found(cells: list[str]) -> None:
    assert found_in(BANS, "attend", cells) is None


def test_another_exercise_may_use_it() -> None:
    assert found_in(BANS, "other", ["def other(q): return F.ready_made(q)"]) is None
