"""What attackers did to the record of what runs: each way leaves something in it that is a question."""

import sys
from collections import UserList
from typing import Any

import pytest
import torch

from autograder.authoring.proofs import refusals
from autograder.judging.operators import CALLER, callers, recording
from autograder.judging.vocabulary import outside

from .answer_keys import key_of


class Row:
    """A sequence that computes when PyTorch asks for its items the last time, with its recorders out."""

    def __init__(self) -> None:
        self.turn = 0

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> float:
        self.turn += 1
        if index:
            raise IndexError
        torch.ones(2).softmax(0)
        return 0.0


class Quiet(UserList):
    data = property(lambda self: [torch.ones(2).softmax(0).sum().item()], lambda self, value: None)


class Own(torch.Tensor):
    pass


class Place(Row):
    def __getitem__(self, index: int) -> int:
        return int(super().__getitem__(index))


WAYS = {
    "tensor": lambda own: torch.tensor(own()),
    "a list": lambda own: torch.tensor([[0.0]] * 2000 + [own()]),
    "by its name": lambda own: torch.as_tensor(data=own()),
    "new": lambda own: torch.ones(2).new(own()),
}


def questions(work: Any) -> str:
    names: set[str] = set()
    with recording(names):
        work()
    return outside({name for name in names if not name.startswith(CALLER)}, ())


def test_a_deep_copy_of_tensors_is_no_question() -> None:
    key = key_of("11_bug_hunt")
    (copying,) = (variant for variant in key.variants if variant.name == "with_deep_copies")
    assert list(refusals(key, copying.exercise, key.define(copying.source, copying.exercise), [101])) == []


@pytest.mark.parametrize("own", [Row, Quiet])
@pytest.mark.parametrize("way", WAYS)
def test_a_sequence_of_ones_own_that_pytorch_reads_is_a_question(way: str, own: type) -> None:
    assert questions(lambda: WAYS[way](own)) == own.__name__


def test_a_sequence_of_ones_own_that_says_where_is_a_question() -> None:
    assert questions(lambda: torch.ones(2)[Place()]) == "Place"


def test_a_tensor_of_ones_own_class_is_a_question() -> None:
    assert questions(lambda: torch.ones(2).as_subclass(Own) + 1) == "Own"
    assert questions(lambda: torch.nn.Parameter(torch.ones(2)) + 1) == ""


def test_usual_arguments_are_no_question() -> None:
    def work() -> None:
        x = torch.ones(2, 3, dtype=torch.float64)
        x.view(x.shape).to("cpu", torch.float32, memory_format=torch.contiguous_format)
        x[..., None, slice(0, 1)], x.tolist(), torch.tensor([[1, 2], (3, 4)]), torch.stack([x, x]), x[[0, 1]]
        x.sum(dim=(0, 1)), torch.tensor(range(3))

    assert questions(work) == ""


def test_a_name_that_a_submission_gives_its_module_hides_no_caller() -> None:
    names = {"__name__": "autograder.grading.mine", "sys": sys, "callers": callers}
    exec(compile("def ask(look): return look()", "a cell", "exec"), names)
    library = {"__name__": "torch.distributions.transforms", "sys": sys, "callers": callers, "ask": names["ask"]}
    exec(compile("def look(): return callers(sys._getframe())", "a library", "exec"), library)
    assert names["ask"](library["look"]) == ["torch.distributions.transforms"]
    names["__name__"] = "autograder.grading.sandbox.server"
    assert names["ask"](library["look"]) == ["torch.distributions.transforms"]
