"""Shapes that do not fit: what the tensors on the line that stopped say about the reason."""

import linecache

import pytest
import torch

from autograder.judging.exceptions import meaning
from autograder.judging.values import Raised, capture_outcome

QUERY, KEY = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4)


def stopped(line: str, **tensors: torch.Tensor) -> Raised:
    """Return the error of a student's function with one line, or with a loop around it."""
    source = f"def work({', '.join(tensors)}):\n    {line}\n"
    file = "/tmp/ipykernel_7/misfit.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, object] = {"torch": torch}
    exec(compile(source, file, "exec"), names)
    outcome = capture_outcome(lambda: names["work"](**tensors))
    assert isinstance(outcome, Raised)
    return outcome


MISFITS = [
    ("one slice", ("for q in query: key @ q", {"query": QUERY, "key": KEY})),
    ("right transposed", ("return query @ key", {"query": QUERY, "key": KEY})),
    ("left transposed", ("return w @ value", {"w": torch.ones(4, 3), "value": torch.ones(4, 2)})),
    ("left transposed", ("return w.mT @ value", {"w": torch.ones(3, 4), "value": torch.ones(4, 2)})),
    ("empty", ("return x + mask", {"x": torch.ones(3, 4), "mask": torch.ones(3, 0)})),
    ("axis lost", ("return x - m", {"x": torch.ones(2, 4, 3), "m": torch.ones(2, 3)})),
    ("axis moved", ("return x - m", {"x": torch.ones(2, 4, 3), "m": torch.ones(2, 3, 1)})),
    ("axes swapped", ("return x - m", {"m": torch.ones(4, 3), "x": torch.ones(3, 4)})),
    ("made too early", ("out = out + v", {"out": torch.ones(3), "v": torch.ones(2)})),
    ("two rows", ("return a < b", {"a": torch.ones(3), "b": torch.ones(2)})),
]


@pytest.mark.parametrize(("name", "case"), MISFITS)
def test_shapes_that_do_not_fit_tell_the_reason(name: str, case: tuple[str, dict[str, torch.Tensor]]) -> None:
    line, tensors = case
    found, words = meaning(stopped(line, **tensors))
    assert found == name
    assert "`" in words


@pytest.mark.parametrize(("name", "case"), MISFITS)
def test_no_name_is_told_where_the_inputs_are_hidden(name: str, case: tuple[str, dict[str, torch.Tensor]]) -> None:
    line, tensors = case
    found, words = meaning(stopped(line, **tensors), hidden=True)
    assert found == name
    assert not any(f"`{tensor}" in words for tensor in tensors)


def test_shapes_that_tell_nothing_are_left_to_the_error() -> None:
    error = stopped("return a + b", a=torch.ones(3, 4), b=torch.ones(5, 6))
    assert meaning(error)[0] == "line up"


def test_a_loop_over_sentences_whose_tables_do_not_fit_is_not_blamed() -> None:
    error = stopped("for q, k in zip(query, key): q @ k", query=QUERY[0], key=KEY[0])
    assert meaning(error)[0] != "one slice"
