"""The commonest errors, raised by PyTorch itself, and what a student reads about them."""

import math
from collections.abc import Callable
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
from autograder.judging.sentences import ANSWERS
from autograder.judging.sentences import ERRORS as ERROR_WORDS
from autograder.judging.target import Target
from autograder.judging.values import Lost, Raised, Returned, capture_outcome
from autograder.judging.verdict import judge

from .answer_keys import defined_in_a_cell

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


ERRORS = [
    ("matrix product", lambda: A @ B),
    ("in place", lambda: torch.ones(3, dtype=torch.long).mul_(0.5)),
    ("line up", lambda: torch.einsum("ij,jk->ik", A, B)),
    ("bool minus", lambda: -(A > 0)),
    ("fill a shape", lambda: A.unflatten(1, (3, 2))),
    ("fill a shape", lambda: A.reshape(-1, -1)),
    ("index", lambda: F.one_hot(torch.tensor([5]), 3)),
    ("whole numbers", lambda: torch.ones(2, dtype=torch.long).std()),
    ("whole numbers", lambda: A.long().softmax(-1)),
    ("whole numbers", lambda: torch.arange(3).mean()),
    ("whole tensor", lambda: torch.cat(A, B)),
    ("line up", lambda: A + torch.ones(3, 5)),
    ("in place", lambda: V.add_(A)),
    ("learned", lambda: LEARNING.add_(1)),
    ("overwritten", overwritten),
    ("no gradient", lambda: LEARNING.numpy()),
    ("bool minus", lambda: 1 - (A > 0)),
    ("two dtypes", lambda: A @ B.double().mT),
    ("no super", WithoutSuper),
    ("unpack", unpacked),
    ("is none", lambda: None & (A > 0)),
    ("no axis", lambda: A.softmax(dim=2)),
    ("indices", lambda: A[0, 0, 0]),
    ("index", lambda: A[7]),
    ("list index", lambda: [1, 2][7]),
    ("list index", lambda: [].pop()),
    ("view", lambda: A.mT.view(12)),
    ("fill a shape", lambda: A.reshape(5, 5)),
    ("no gradient", lambda: A.sum().backward()),
    ("plain number", lambda: torch.sqrt(4)),
    ("whole tensor", lambda: math.exp(A)),
    ("truth", lambda: A > 0 and B > 0),
    ("einsum", lambda: torch.einsum("bhld,bhsd->bhls", A, B)),
    ("one axis", lambda: V.mT),
    ("fixed axes", lambda: torch.diag(torch.ones(2, 3, 3))),
    ("fixed axes", lambda: torch.bmm(A, B)),
    ("fixed axes", lambda: torch.ones(3).dot(A)),
    ("stack", lambda: torch.stack([A, B])),
    ("cat", lambda: torch.cat([A, B], dim=1)),
    ("cat", lambda: torch.cat([A, V])),
    ("boolean mask", lambda: A.masked_fill(A, 0.0)),
    ("two things", lambda: A - A.max(dim=-1, keepdim=True)),
    ("not defined", lambda: softmaxx(A)),  # noqa: F821
    ("arguments", lambda: F.softmax(A, axis=-1, nonsense=1)),
    ("bool minus", lambda: (A > 0) - (A > 1)),
    ("boolean mask", lambda: ~A),
]


X, Y, BATCH = np.ones((3, 4)), np.ones((5, 4)), np.ones((2, 3, 4))


def read_only() -> None:
    np.broadcast_to(X, (2, 3, 4))[0] = 1.0


OF_NUMPY = [
    ("matrix product", lambda: X @ Y),
    ("matrix product", lambda: np.dot(X, Y)),
    ("einsum", lambda: np.einsum("bqd,bkd->bqk", X, Y)),
    ("einsum", lambda: np.einsum("qd,kd->qk", X, BATCH)),
    ("in place", lambda: np.add(X[0], X, out=X[0])),
    ("in place", read_only),
    ("in place", lambda: np.divide(np.arange(3), 2, out=np.arange(3))),
    ("line up", lambda: X / X.sum(axis=-1)),
    ("line up", lambda: np.where(np.ones((3, 5)) > 0, X, -np.inf)),
    ("no axis", lambda: X.sum(axis=2)),
    ("truth", lambda: X > 0 and X < 1),
    ("fill a shape", lambda: X.reshape(5, 5)),
    ("indices", lambda: X[0, 0, 0]),
    ("stack", lambda: np.stack([X, Y])),
    ("cat", lambda: np.concatenate([X, Y], axis=1)),
    ("whole tensor", lambda: np.concatenate(X, X)),
    ("whole tensor", lambda: math.exp(X)),
    ("boolean mask", lambda: ~X),
    ("arguments", lambda: X.sum(dim=-1)),
    ("arguments", lambda: np.max(X, axis=-1, keepdim=True)),
    ("bool minus", lambda: (X > 0) - (X > 1)),
    ("index", lambda: X[7]),
]


@pytest.mark.parametrize(("name", "stopping"), ERRORS)
def test_an_error_of_pytorch_is_explained(name: str, stopping: Callable[[], object]) -> None:
    outcome = capture_outcome(stopping)
    assert isinstance(outcome, Raised)
    assert meaning(outcome)[0] == name, outcome


@pytest.mark.parametrize(("name", "stopping"), OF_NUMPY)
def test_an_error_of_numpy_or_of_both_is_explained(name: str, stopping: Callable[[], object]) -> None:
    outcome = capture_outcome(stopping)
    assert isinstance(outcome, Raised)
    assert meaning(outcome)[0] == name, outcome


def test_what_pytorchs_own_functions_do_not_take_is_no_matter_of_numpys_names() -> None:
    outcome = capture_outcome(lambda: overwritten(dim=-1))
    assert isinstance(outcome, Raised)
    assert meaning(outcome)[0] == "arguments"


def in_a_cell(source: str, name: str) -> object:
    """Define a student's function as a notebook does."""
    return defined_in_a_cell(source, {"torch": torch, "helper": lambda q, k: q @ k}, name)


def test_the_line_is_the_students_own_and_the_shapes_that_met_are_named() -> None:
    attend = in_a_cell("def attend(q, k):\n    x = q + 1\n    return helper(x, k)\n", "attend")
    outcome = capture_outcome(lambda: attend(A, B))
    assert (outcome.where, outcome.shapes) == ("return helper(x, k)", "x is (3, 4), k is (5, 4)")
    assert what_happened(outcome).endswith("There x is (3, 4), k is (5, 4).")


def test_an_empty_list_on_the_line_that_stopped_is_named() -> None:
    best = in_a_cell("def best(q):\n    pairs = [x for x in q if x > 9]\n    return pairs[0]\n", "best")
    outcome = capture_outcome(lambda: best([1, 2]))
    assert (outcome.kind, outcome.shapes) == ("IndexError", "pairs is an empty list")


OPEN = "def scores(q, k):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"


def test_an_exercise_that_calls_an_open_one_is_told_so_and_is_started() -> None:
    attend = in_a_cell(f"{OPEN}def attend(q, k):\n    return scores(q, k).exp()\n", "attend")
    outcome = capture_outcome(lambda: attend(A, B), "attend")
    assert isinstance(outcome, Raised)
    assert meaning(outcome)[1].startswith("`scores`, which your code calls, is still open")
    target = Target("one", "One check.", 1, fingerprint(Returned(A)))
    assert judge("attend", [target], [outcome], {}).started
    own = capture_outcome(lambda: attend(A, B), "scores")
    assert not judge("scores", [target], [own], {}).started


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        (lambda x: None, Lost(NO_RETURN)),
        (lambda x: (x, x), "2 things in a tuple"),
        (lambda x: 1.5, "the number 1.5"),
        (lambda x: True, "the value True"),
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
    assert failure.failure.message.endswith(f"(3x4 and 5x4). {ERROR_WORDS['matrix product']}")
    assert "\n" not in failure.failure.message + failure.failure.detail


def test_every_pattern_has_a_sentence_and_every_sentence_a_pattern() -> None:
    assert {name for name, _ in exceptions.PATTERNS} == ERROR_WORDS.keys() - {"own raise", "own assert"}


@pytest.mark.parametrize(
    ("where", "name"), [("raise ValueError(d)", "own raise"), ("assert d % 2", "own assert"), ("f(d)", "")]
)
def test_what_the_students_own_code_refuses_is_told_as_its_own(where: str, name: str) -> None:
    assert meaning(Raised("AssertionError", "d is odd", where))[0] == name


def test_an_exercise_whose_cell_did_not_run_is_told_so() -> None:
    """No name was misspelled in it: `–` is not defined at that point` would send the student looking for one."""
    assert meaning(Raised("NotDefined", "attend is not defined: …"))[0] == "not run"


def test_a_hidden_checks_error_repeats_nothing_of_its_text() -> None:
    error = Raised("RuntimeError", "shape '[12, 34]' is invalid for input of size 56")
    target = Target("t", "T.", 1, fingerprint(Returned(torch.ones(2))), hidden=True)
    message = judge("task", [target], [error], {}).failure.message
    assert message.startswith(ANSWERS["error unseen"])
    assert not any(number in message for number in ("12", "34", "56"))


def test_a_hidden_checks_error_names_the_line_where_it_was_handed_in() -> None:
    target = Target("t", "T.", 1, fingerprint(Returned(torch.ones(2))), hidden=True)
    cell = "def task(x):\n    return x.view(2)"
    unseen = ANSWERS["error unseen"], ANSWERS["error in line"].format(line=2)
    for where, said in (("return secret", unseen[0]), ("return x.view(2)", unseen[1])):
        message = judge("task", [target], [Raised("RuntimeError", "no", where)], {}, source=cell).failure.message
        assert message.startswith(said)
