"""What attackers did to the record of what runs: each way leaves something in it that is a question."""

import builtins
import contextlib
import copy
import inspect
import json
import pickle
import socket
import sys
from collections import UserList
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from autograder.authoring.proofs import refusals
from autograder.grading.sandbox import server
from autograder.grading.sandbox.channel import receive, send
from autograder.grading.sandbox.codec import pack, unpack_outcome
from autograder.judging.check import recording_returns
from autograder.judging.intact import classes_changed, remember_classes
from autograder.judging.operators import (
    AFTERWARD,
    CALLER,
    INSIDE,
    LATER,
    callers,
    is_students,
    later_code_in,
    noticing,
    recording,
)
from autograder.judging.values import Raised, Returned
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


def functions() -> tuple[Any, Any]:
    """Return a function whose backward pass is NumPy's, and one that works in place, for one test alone."""

    class ByNumPy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, slope: Tensor) -> Tensor:
            return torch.from_numpy(np.asarray(slope) * 1)

    class Doubled(ByNumPy):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.mark_dirty(x)
            return x.mul_(2)

    return ByNumPy, Doubled


class Place(Row):
    def __getitem__(self, index: int) -> int:
        return int(super().__getitem__(index))


WAYS = {
    "tensor": lambda own: torch.tensor(own()),
    "a list": lambda own: torch.tensor([[0.0]] * 2000 + [own()]),
    "by its name": lambda own: torch.as_tensor(data=own()),
    "new": lambda own: torch.ones(2).new(own()),
}


def record(work: Any) -> set[str]:
    names: set[str] = set()
    with recording(names):
        work()
    return {name for name in names if not name.startswith(CALLER)}


def questions(work: Any) -> str:
    return outside(record(work), ())


def ending() -> Iterator[None]:
    try:
        yield
    finally:
        torch.ones(2).softmax(0)


def end_within(replace: Any) -> None:
    """Leave the end of a generator to the operator that gives up what holds a tensor's numbers."""
    tensor, code = torch.ones(2), ending()
    next(code)
    tensor.untyped_storage().own = code
    del code
    replace(tensor)


def take_back(way: str) -> None:
    x = torch.ones(2, requires_grad=True)
    if way == "function":
        functions()[0].apply(x).sum().backward()
        return
    product = x * 2
    product.register_hook(lambda slope: torch.from_numpy(np.asarray(slope)))
    torch.autograd.grad(product.sum(), x)


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


def give_up_data(tensor: Tensor) -> None:
    tensor.data = torch.zeros(3)


@pytest.mark.parametrize("replace", [lambda tensor: tensor.set_(torch.zeros(3)), give_up_data])
def test_code_that_ends_within_an_operator_is_noted(replace: Any) -> None:
    assert INSIDE in record(lambda: end_within(replace))


@pytest.mark.parametrize("way", ["function", "hook"])
def test_numpy_within_a_backward_pass_is_noted(way: str) -> None:
    assert {"__array__", INSIDE} <= record(lambda: take_back(way))


def test_a_backward_pass_of_pytorchs_own_is_no_question() -> None:
    assert questions(lambda: nn.Linear(2, 3)(torch.ones(2, requires_grad=True)).softmax(0).sum().backward()) == ""


@pytest.mark.parametrize("module", ["_collections_abc", "abc", "codecs", "importlib._bootstrap", "os", "posixpath"])
def test_pythons_frozen_modules_are_nobodys_code(module: str) -> None:
    names = vars(sys.modules[module])
    code = compile("0", f"<frozen {module}>", "eval")
    assert not is_students(code, names)
    assert is_students(code, dict(names))


def test_a_watch_that_was_ended_is_missed() -> None:
    names: set[str] = set()
    with noticing(names):
        sys.setprofile(None)
    assert names == {AFTERWARD}


def test_a_lessons_own_module_that_a_check_calls_is_nobodys_code() -> None:
    assert AFTERWARD not in key_of("10_efficient_attention").known("decode_step", 1)


def test_a_tensor_that_is_printed_is_no_question() -> None:
    assert questions(lambda: f"{torch.ones(2, 3)}") == ""


@pytest.mark.parametrize("given", [nn.Softmax(0), nn.Softmax, Own])
def test_a_module_or_a_class_among_arguments_is_a_question(given: Any) -> None:
    def work() -> None:
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            torch.tensor([given])

    assert questions(work)


def test_copies_of_modules_and_pythons_numbers_are_no_question() -> None:
    layer = nn.Sequential(nn.Linear(2, 3), nn.Softmax(0))
    assert questions(lambda: [copy.deepcopy(layer), torch.ones(2).to(dtype=float), torch.ones(2, dtype=int)]) == ""


def test_fields_of_what_holds_the_numbers_are_a_question() -> None:
    tensor = torch.ones(2)
    assert list(later_code_in(tensor)) == []
    tensor.untyped_storage().own = []
    assert list(later_code_in(tensor)) == [LATER + "attributes"]


def put_in(kind: Any) -> None:
    kind.is_complex = kind.is_floating_point = lambda tensor: bool(torch.ones(2).softmax(0).sum())


@pytest.fixture
def tensors_patched() -> Iterator[None]:
    """A student's function in place of a method of all tensors, as an argument of another name puts it there."""
    put_in(torch.Tensor)
    yield
    del torch.Tensor.is_complex, torch.Tensor.is_floating_point  # what they hid is their base's
    assert not classes_changed()


@pytest.mark.usefixtures("tensors_patched")
def test_a_recorder_calls_no_method_that_somebody_has_put_in_place_of_pytorchs() -> None:
    assert not {"softmax", "aten::_softmax", INSIDE} & record(lambda: bool((torch.ones(2) + 1).any()))


@pytest.mark.usefixtures("tensors_patched")
def test_a_changed_class_is_a_question() -> None:
    assert questions(lambda: torch.ones(2) + 1) == "changed_class"


def test_who_changes_the_class_that_writes_replies_changes_no_reply_and_is_asked(monkeypatch) -> None:
    before = pack({"ran": ["softmax"]})
    monkeypatch.setattr(json.JSONEncoder, "encode", lambda encoder, thing: "{}")
    assert pack({"ran": ["softmax"]}) == before
    assert questions(lambda: torch.ones(2) + 1) == "changed_class"


def test_who_changes_sockets_changes_no_reply(monkeypatch) -> None:
    here, there = socket.socketpair()
    monkeypatch.setattr(socket.socket, "sendall", lambda channel, message: None, raising=False)
    with here, there:
        send(here, b"reply")
        assert receive(there, 100) == b"reply"


def test_a_hook_that_is_left_open_is_a_question() -> None:
    with contextlib.ExitStack() as stack:
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
        assert questions(lambda: stack.enter_context(hooks)) == "hook"
        assert questions(lambda: torch.ones(2) + 1) == ""


def test_a_class_that_python_was_asked_about_is_not_changed() -> None:
    assert inspect.get_annotations(nn.ReLU6) == nn.ReLU6.__annotations__ == {}
    assert not classes_changed()


@pytest.fixture
def never_copied() -> Iterator[None]:
    """A process in which nobody has copied a tensor yet: Python notes in the class what a copy has to take along."""
    for kind in (torch.Tensor, nn.Parameter):
        if "__slotnames__" in vars(kind):
            del kind.__slotnames__
    remember_classes()
    yield
    remember_classes()


@pytest.mark.usefixtures("never_copied")
@pytest.mark.parametrize("copied", [copy.copy, pickle.dumps])
@pytest.mark.parametrize("work", [torch.ones(2), nn.Parameter(torch.ones(2))])
def test_the_first_copy_of_something_is_no_question(copied: Callable[[Any], Any], work: Any) -> None:
    assert questions(lambda: copied(work)) == ""
    assert "__slotnames__" in vars(type(work))


def of_stable_softmax(work: Any) -> Any:
    return key_of("04_softmax").checks_of("stable_softmax")[0].values(work, 5, record=True)


@pytest.mark.parametrize("hold", [lambda x: x, lambda x: x.untyped_storage()])
def test_a_method_of_an_arguments_own_is_a_question(hold: Any) -> None:
    def answer(x: Tensor, dim: int = -1) -> Tensor:
        hold(x).detach = lambda: torch.Tensor.detach(x)
        return x.exp()

    assert f"{LATER}attributes" in of_stable_softmax(answer).ran


def test_what_a_function_is_given_as_fields_is_not_called_by_the_judge() -> None:
    def answer(x: Tensor, dim: int = -1) -> Tensor:
        raise ValueError("no")

    answer.explain = lambda _outcome: Returned(0)
    assert of_stable_softmax(answer) == Raised("ValueError", "no")


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


def test_nothing_of_a_callable_object_is_read_while_nobody_watches() -> None:
    read: list[str] = []

    class Soft:
        __doc__ = property(lambda self: read.append("doc"))  # type: ignore[assignment]
        __name__ = property(lambda self: read.append("name"))

        def __call__(self, x: Tensor) -> Tensor:
            return x

    assert recording_returns(Soft())(torch.ones(1)).equal(torch.ones(1))
    assert read == []


NOBODY: Any = None  # is asked for a black box
KEPT = {
    "a generator that ends with what it is left to": (
        "def ending():\n    try: yield\n    finally: torch.ones(2).softmax(0)",
        "code = ending(); next(code); x.grad = torch.zeros_like(x); x.grad.kept = code",
    ),
    "a reference that tells of an end": ("import weakref", "weakref.finalize(x, lambda: torch.ones(2).softmax(0))"),
    "a function with its backward pass": (
        "class Own(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 1\n"
        "    @staticmethod\n    def backward(ctx, g): return g",
        "x = Own.apply(x)",
    ),
    "such a function in place on a view": (
        "class Own(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.mark_dirty(x)\n"
        "        return x\n    @staticmethod\n    def backward(ctx, g): return g",
        "x = x * 1; Own.apply(x[:1])",
    ),
    "a hook of the graph": (
        "kept = []\nhooks = torch.autograd.graph.saved_tensors_hooks(kept.append, lambda nothing: kept.pop())",
        "with hooks: x = x.exp().log()",
    ),
}


@pytest.mark.parametrize("way", KEPT)
def test_code_that_is_kept_for_later_is_noted_until_the_values_are_packed(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, (setting, body) = key_of("04_softmax"), KEPT[way]
    checks = {check.name: check for check in key.checks_of("stable_softmax")}
    monkeypatch.setattr(builtins, "input", print)
    monkeypatch.setattr(server, "load_checks", lambda: checks)
    names: dict[str, Any] = {"torch": torch}
    answer = f"def stable_softmax(x, dim=-1):\n    {body}\n    return (e := x.exp()) / e.sum(dim=dim, keepdim=True)"
    exec(compile(f"{setting}\n{answer}", "a cell", "exec"), names)
    ran: set[str] = set()
    for name in checks:
        request = {"exercise": "stable_softmax", "name": name, "seed": 1, "sources": (), "record": True}
        outcome = unpack_outcome(server.run_check(SimpleNamespace(user_ns=names, guard=None), request, NOBODY))
        ran |= set(outcome.ran) if isinstance(outcome, Returned) else set()
    assert outside({AFTERWARD} & ran, key.known("stable_softmax", 1)) == "code_afterward"
