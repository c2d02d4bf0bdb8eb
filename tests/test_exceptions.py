"""The commonest errors, raised by PyTorch itself, and what a student reads about them."""

import linecache
import math
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.judging import exceptions
from autograder.judging.check import NO_RETURN, Check
from autograder.judging.exceptions import meaning, what_happened
from autograder.judging.fingerprint import fingerprint
from autograder.judging.target import Target
from autograder.judging.values import Lost, Raised, Returned, capture_outcome
from autograder.judging.verdict import judge

A, B, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(4)
LEARNING = torch.randn(3, requires_grad=True)


class WithoutSuper(nn.Module):
    def __init__(self) -> None:
        self.q_proj = nn.Linear(2, 2)


def overwritten() -> None:
    weights = torch.randn(3, requires_grad=True).softmax(dim=0)
    weights[0] = 0.0
    weights.sum().backward()


def unpacked() -> None:
    _, _ = [A]


ERRORS = {
    "A matrix product needs": lambda: A @ B,
    "Two tensors do not line up: 4 meets 5": lambda: A + torch.ones(3, 5),
    "An operation in place, such as &=, += or copy_": lambda: V.add_(A),
    "A tensor that learns was written to": lambda: LEARNING.add_(1),
    "A result was overwritten": overwritten,
    "NumPy knows nothing of gradients": lambda: LEARNING.numpy(),
    "True and False cannot be subtracted": lambda: 1 - (A > 0),
    "Two dtypes met": lambda: A @ B.double().mT,
    "`super().__init__()` is missing": WithoutSuper,
    "The left side names 2 things": unpacked,
    "Something is None on that line": lambda: None & (A > 0),
    "Two tensors live on different devices": lambda: A + torch.ones(3, 4, device="meta"),
    "There is no axis 2": lambda: A.softmax(dim=2),
    "More indices than axes: the tensor has 2": lambda: A[0, 0, 0],
    "Index 7 was asked for on axis 0, which has size 3": lambda: A[7],
    "A list or a tuple is shorter than that index": lambda: [1, 2][7],
    "A state_dict fits a module": lambda: nn.Linear(2, 2).load_state_dict({}),
    "A number does not fit into the dtype": lambda: torch.arange(3).masked_fill(A[0, :3] > 9, torch.inf),
    "After a transpose": lambda: A.mT.view(12),
    "12 numbers do not fill the shape [5, 5]": lambda: A.reshape(5, 5),
    "No gradient comes back": lambda: A.sum().backward(),
    "torch's functions take tensors": lambda: torch.sqrt(4),
    "A whole tensor was put where one number belongs": lambda: math.exp(A),
    "`if`, `and`, `or` and a chain such as 0 <= x < n ask for one": lambda: A > 0 and B > 0,
    "The einsum names 4 axes": lambda: torch.einsum("bhld,bhsd->bhls", A, B),
    "A tensor with one axis cannot be transposed": lambda: V.mT,
    "That function knows a single row or matrix": lambda: torch.diag(torch.ones(2, 3, 3)),
    "That product takes a fixed number of axes": lambda: torch.bmm(A, B),
    "Tensors that are stacked or joined need equal shapes": lambda: torch.stack([A, B]),
    "That is not defined for whole numbers": lambda: A.long().softmax(-1),
    "A mask has to be boolean here": lambda: A.masked_fill(A, 0.0),
    "max and min with a `dim` return two things": lambda: A - A.max(dim=-1, keepdim=True),
    "`softmaxx` is not defined": lambda: softmaxx(A),  # noqa: F821
    "A function was called with arguments": lambda: F.softmax(A, axis=-1, nonsense=1),
    "Round and square brackets": lambda: A.shape(0),
    "A size or a position has to be a whole number": lambda: A.view(3, 4 / 2, 2),
    "`arange` was asked to count": lambda: torch.arange(5, 3),
    "True and False cannot be subtracted. Use ~": lambda: (A > 0) - (A > 1),
    "`permute` lists as many axes": lambda: A.permute(0, 2, 1),
    "A boolean index has to have the shape": lambda: A[torch.ones(2, 4) > 0],
    "The largest, or the first, of no numbers": lambda: A[:0].max(),
    "`randn` took one of your arguments for its `size`": lambda: torch.randn(3, 4, torch.Generator()),
    "`max` does not take these kinds of arguments": lambda: torch.max(0.5, A),
    "A function or method stands there": lambda: sum(t.numel for t in (A, B)),
    "A mask has to be boolean": lambda: ~A,
    "That is not defined for whole numbers or booleans (Long)": lambda: torch.arange(3).mean(),
    "A file is not there": lambda: open("my_model.pt"),  # noqa: PTH123, SIM115
    "A package is not there": lambda: __import__("nowhere_installed"),
    "There is no `sotfmax` on that object": lambda: A.sotfmax(-1),
}


X, Y, BATCH = np.ones((3, 4)), np.ones((5, 4)), np.ones((2, 3, 4))


def parameter_replaced() -> None:
    nn.Linear(2, 2).weight = torch.ones(2, 2)


def read_only() -> None:
    np.broadcast_to(X, (2, 3, 4))[0] = 1.0


OF_NUMPY = {
    "A matrix product needs": lambda: X @ Y,
    "A matrix product needs as many columns": lambda: np.dot(X, Y),
    "The einsum names another number of axes": lambda: np.einsum("bqd,bkd->bqk", X, Y),
    "The einsum names": lambda: np.einsum("qd,kd->qk", X, BATCH),
    "An operation in place": lambda: np.add(X[0], X, out=X[0]),
    "An operation in place, such as += or /=": read_only,
    "An operation in place, such as += or /=, writes": lambda: np.divide(np.arange(3), 2, out=np.arange(3)),
    "Two arrays do not line up": lambda: X / X.sum(axis=-1),
    "Two arrays do not line up. Shapes": lambda: np.where(np.ones((3, 5)) > 0, X, -np.inf),
    "NumPy's `transpose` wants the new order": lambda: BATCH.transpose(-1, -2),
    "There is no such axis": lambda: X.sum(axis=2),
    "`if`, `and`, `or` and a chain": lambda: X > 0 and X < 1,
    "12 numbers do not fill the shape (5,5)": lambda: X.reshape(5, 5),
    "More indices than axes: the array has 2": lambda: X[0, 0, 0],
    "A boolean index has to have the shape": lambda: X[np.ones((2, 4)) > 0],
    "Arrays that are stacked or joined need equal shapes": lambda: np.stack([X, Y]),
    "Arrays that are stacked or joined": lambda: np.concatenate([X, Y], axis=1),
    "A whole array was put where one position": lambda: np.concatenate(X, X),
    "A whole array was put where one number": lambda: math.exp(X),
    "A mask has to be boolean here": lambda: ~X,
    "A number stands where a dtype belongs": lambda: np.zeros(3, 4),
    "The largest, or the smallest, of no numbers": lambda: X[:0].max(),
    "NumPy says axis and keepdims": lambda: X.sum(dim=-1),
    "NumPy says axis and keepdims where": lambda: np.max(X, axis=-1, keepdim=True),
    "Arrays have no `masked_fill`": lambda: X.masked_fill(X > 0, 0.0),
    "NumPy has no `softmax`": lambda: np.softmax(X),
    "A PyTorch function, or a tensor, met": lambda: torch.softmax(X, -1),
    "A PyTorch function, or a tensor, met a": lambda: torch.ones(3, 4).copy_(X),
    "torch.from_numpy takes an array": lambda: torch.from_numpy(A),
    "True and False cannot be subtracted": lambda: (X > 0) - (X > 1),
    "An index points past the end": lambda: X[7],
    "A parameter cannot be replaced by a plain tensor": parameter_replaced,
    "A number does not fit into the dtype": lambda: torch.ones(2).long().masked_fill(V[:2] == V[:2], -torch.inf),
}


@pytest.mark.parametrize("words", ERRORS)
def test_an_error_of_pytorch_is_explained(words: str) -> None:
    outcome = capture_outcome(ERRORS[words])
    assert isinstance(outcome, Raised)
    assert meaning(outcome).startswith(words), outcome


@pytest.mark.parametrize("words", OF_NUMPY)
def test_an_error_of_numpy_or_of_both_is_explained(words: str) -> None:
    outcome = capture_outcome(OF_NUMPY[words])
    assert isinstance(outcome, Raised)
    assert meaning(outcome).startswith(words), outcome


def test_what_pytorchs_own_functions_do_not_take_is_no_matter_of_numpys_names() -> None:
    outcome = capture_outcome(lambda: overwritten(dim=-1))
    assert isinstance(outcome, Raised)
    assert meaning(outcome).startswith("A function was called with arguments")


def in_a_cell(source: str, name: str) -> object:
    """Define a student's function as a notebook does."""
    file = f"/tmp/ipykernel_7/{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"torch": torch, "helper": lambda q, k: q @ k}
    exec(compile(source, file, "exec"), names)
    return names[name]


def test_the_line_is_the_students_own_and_the_shapes_that_met_are_named() -> None:
    attend = in_a_cell("def attend(q, k):\n    x = q + 1\n    return helper(x, k)\n", "attend")
    outcome = capture_outcome(lambda: attend(A, B))
    assert (outcome.where, outcome.shapes) == ("return helper(x, k)", "x is (3, 4), k is (5, 4)")
    assert what_happened(outcome).endswith("There x is (3, 4), k is (5, 4).")


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        (lambda x: None, Lost(NO_RETURN)),
        (lambda x: (x, x), "2 things in a tuple"),
        (lambda x: 1.5, "the number 1.5"),
    ],
)
def test_a_check_that_cannot_go_on_with_the_result_says_what_came_back(work, ending) -> None:
    check = Check("task", "t", 1, "T.", lambda work, draw: work(draw.normal(3)).softmax(-1).backward())
    outcome = check.values(work, 0)
    assert isinstance(outcome, Lost)
    assert outcome == ending or ending in outcome.reason


def test_an_error_inside_a_with_block_is_its_own_and_not_about_what_was_returned() -> None:
    @contextmanager
    def broken():
        yield undefined_name  # noqa: F821

    def enter(work, draw):
        with work():
            pass

    outcome = Check("broken", "enter", 1, "A title.", enter).values(broken, 0)
    assert isinstance(outcome, Raised)
    assert outcome.kind == "NameError"


def test_a_message_has_at_most_three_lines() -> None:
    right = Returned(torch.ones(2))
    target = Target("t", "T.", 1, fingerprint(right))
    failure = judge(
        "task", [target], [Raised("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x4)")], {}
    )
    assert failure.failure.message.startswith("A matrix product needs")
    assert "\n" not in failure.failure.message + failure.failure.detail


def test_an_index_past_the_end_on_hidden_inputs_is_told_without_numbers() -> None:
    outcome = capture_outcome(lambda: A[7])
    assert isinstance(outcome, Raised)
    assert meaning(outcome, hidden=True).startswith("An index points past the end")


def test_every_sentence_with_a_gap_has_one_without_for_hidden_inputs() -> None:
    for pattern, sentence, *unseen in (*exceptions.OF_NUMPY, *exceptions.MEANINGS):
        assert bool(unseen) is ("{" in sentence), pattern
        assert not any("{" in text for text in unseen)


def test_the_first_meaning_counts_on_hidden_inputs_too() -> None:
    error = Raised("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x4)")
    assert meaning(error, hidden=True).startswith("A matrix product needs as many columns")


@pytest.mark.parametrize("hidden", [False, True])
def test_an_exercise_whose_cell_did_not_run_is_told_so(hidden: bool) -> None:
    """No name was misspelled in it: `–` is not defined at that point` would send the student looking for one."""
    message = meaning(Raised("NotDefined", "attend is not defined: …"), hidden=hidden)
    assert "its cell is missing, or it stopped with an error" in message
    assert "–" not in message


def test_a_sentence_with_a_gap_that_nothing_was_found_for_is_not_said(monkeypatch) -> None:
    pairs = ((r"bent|broken '(\w+)'", "`{0}` is broken."), (r"bent", "Something is bent."))
    monkeypatch.setattr("autograder.judging.exceptions.MEANINGS", pairs)
    assert meaning(Raised("OddError", "bent")) == "Something is bent."
    assert meaning(Raised("OddError", "broken 'x'")) == "`x` is broken."


def test_a_hidden_checks_error_repeats_nothing_of_its_text() -> None:
    error = Raised("RuntimeError", "shape '[12, 34]' is invalid for input of size 56")
    target = Target("t", "T.", 1, fingerprint(Returned(torch.ones(2))), hidden=True)
    message = judge("task", [target], [error], {}).failure.message
    assert message.startswith("It stopped with an error on inputs that you have not seen.")
    assert not any(number in message for number in ("12", "34", "56"))
