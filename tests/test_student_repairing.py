"""Repairs in the student's workspace: looked for in a fork, of which nothing remains but a sentence."""

import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.judging.case import Seen
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.target import Target
from autograder.judging.values import Outcome
from autograder.student import repairing
from autograder.student.repairing import defining_cell, last_line_of_copy, search_in_copy

from .answer_keys import defined_in_a_cell, key_of

KEY = key_of("03_scaling")
CHECKS = [check for check in KEY.visible if check.exercise == "scale_scores"]
TWICE = "def scale_scores(scores, d_k):\n    return scores / math.sqrt(2 * d_k)\n"


def targets() -> list[Target]:
    return KEY.targets("scale_scores", PUBLIC_SEED)[: len(CHECKS)]


def told(cell: str, names: dict[str, Any] | None = None) -> str:
    names = {**KEY.reference, **(names or {})}
    work = defined_in_a_cell(cell, names, "scale_scores")
    outcomes: list[Outcome] = [check.values(work, PUBLIC_SEED) for check in CHECKS]
    return search_in_copy(defining_cell(work), CHECKS, targets(), outcomes, names).repair


def test_a_repair_is_told() -> None:
    assert told(TWICE) == "Without `2 *` in line 2, every check passes."


def test_the_cell_is_that_of_a_class_too() -> None:
    cell = "class scale_scores:\n    def forward(self):\n        return 0\n"
    assert defining_cell(defined_in_a_cell(cell, {}, "scale_scores")) == cell


def test_the_cell_is_that_of_a_decorated_function_too() -> None:
    cell = "import functools\n\n@functools.cache\ndef scale_scores(scores, d_k):\n    return scores\n"
    assert defining_cell(defined_in_a_cell(cell, {}, "scale_scores")) == cell


def test_what_no_cell_defines_is_left_alone() -> None:
    assert defining_cell(told) == ""
    assert defining_cell(torch.add) == ""
    assert search_in_copy("", CHECKS, targets(), [], {}) == Seen()


def test_where_processes_cannot_be_forked_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    assert told(TWICE) == ""


def test_nothing_remains_of_the_trials(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    file = tmp_path / "kept"
    names = {"seen": [], "random": random, "file": file}
    cell = (
        "def scale_scores(scores, d_k):\n    print('noise', flush=True)\n    seen.append(d_k)\n    torch.rand(3)\n"
        "    random.random()\n    torch.Tensor.extra = 1\n    return scores / math.sqrt(2 * d_k)\n"
    )
    work = defined_in_a_cell(cell, names | KEY.reference, "scale_scores")
    outcomes = [check.values(work, PUBLIC_SEED) for check in CHECKS]
    capfd.readouterr()
    before = len(names["seen"]), torch.random.get_rng_state(), random.getstate(), set(vars(torch.Tensor))
    words = search_in_copy(cell, CHECKS, targets(), outcomes, names | KEY.reference).repair
    after = len(names["seen"]), torch.random.get_rng_state(), random.getstate(), set(vars(torch.Tensor))
    del torch.Tensor.extra
    assert words.startswith("Without `2 *` in line 7")
    assert torch.equal(before[1], after[1])
    assert (before[0], before[2:]) == (after[0], after[2:])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "act",
    [
        lambda path: path.write_text("x"),
        lambda path: torch.save(torch.ones(9), str(path)),
        lambda path: torch.from_file(str(path), shared=True, size=6, dtype=torch.uint8).zero_(),
        lambda path: sqlite3.connect(path.with_suffix(".db")).execute("CREATE TABLE x (y)"),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_suffix(".new")),
        lambda path: path.with_suffix(".folder").mkdir(),
        lambda path: os.system(f"rm {path}"),
        lambda path: os.kill(os.getppid(), 9),
        lambda path: input(),
    ],
    ids=["write", "save", "map", "database", "unlink", "rename", "mkdir", "system", "kill", "input"],
)
def test_a_copy_changes_nothing_outside_itself(tmp_path: Path, act: Callable[[Path], Any]) -> None:
    file = tmp_path / "kept"
    file.write_text("before")

    def lines() -> list[str]:
        try:
            act(file)
        except (OSError, RuntimeError, sqlite3.Error):
            return ["refused"]
        return ["it was done"]

    assert last_line_of_copy(lines) == "refused"
    assert file.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_copy_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "LONGEST_WAIT", 0.3)

    def lines() -> Any:
        yield str(os.getpid())
        while True:
            pass

    pid = last_line_of_copy(lines)
    assert not pid or not Path(f"/proc/{pid}").exists()


def test_what_was_found_before_a_copy_ended_is_told() -> None:
    def lines() -> Any:
        yield "found"
        os._exit(1)

    assert last_line_of_copy(lines) == "found"


def test_a_copy_has_little_memory() -> None:
    def lines() -> list[str]:
        try:
            torch.zeros(2**31)
        except RuntimeError:
            return ["refused"]
        return ["it was given"]

    assert last_line_of_copy(lines) == "refused"


def test_gradients_can_be_taken_in_a_copy() -> None:
    x = torch.ones(3, requires_grad=True)
    (x * x).sum().backward()

    def lines() -> list[str]:
        y = torch.ones(3, requires_grad=True)
        (y * 3).sum().backward()
        return [str(y.grad.tolist())]

    assert last_line_of_copy(lines) == "[3.0, 3.0, 3.0]"
