"""Functions that a submission may call and cannot read: a name and tensors go out, and tensors come back."""

from collections.abc import Iterator

import pytest
import torch

from autograder.grading.sandbox import Limits, Session, open_process, shared_sandbox, unavailable_reason
from autograder.judging import black_box
from autograder.judging.black_box import black_boxes_in
from autograder.judging.check import Check, checks_alone, checks_in, load_module
from autograder.judging.values import Lost, Raised, Returned

HIDDEN = '''
import torch
from autograder.checks import black_box, check

SECRET = 3

def times_the_secret(x):
    return SECRET * x

def shown(result):
    return [result]

@black_box
def tripled(x, mask=None):
    return times_the_secret(x)

@black_box
def negated(x):
    x.neg_()
    return x.sum()

@black_box
def refused(x):
    raise ValueError("no such x")

@check("tester", points=1)
def tried(tester, draw):
    """Tried."""
    return shown(tester(tripled))

@check("tester", points=1)
def tried_in_place(tester, draw):
    """Tried."""
    return tester(negated)

@check("tester", points=1)
def tried_and_refused(tester, draw):
    """Tried."""
    return tester(refused)
'''
MODULE = load_module(HIDDEN, "hidden.py")
BOXES = black_boxes_in(MODULE)
CHECKS = {check.name: check for check in checks_in(MODULE)}
SENT = checks_alone(HIDDEN, "tester")
LIMITS = Limits(cell_seconds=5, check_seconds=2)


@pytest.fixture(params=["isolated", "ordinary"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    if request.param == "isolated" and unavailable_reason():
        pytest.skip(unavailable_reason())
    opened = shared_sandbox().session({}, LIMITS) if request.param == "isolated" else open_process({}, LIMITS)
    with opened as process:
        process.run("import torch")
        yield process


def ask(session: Session, tester: str, check: Check = CHECKS["tried"], boxes=BOXES) -> object:
    session.run(tester)
    return session.check(check, ("", SENT), seed=1, boxes=boxes)


def test_what_is_sent_has_no_body_and_no_helper_of_a_black_box() -> None:
    assert "def tripled(x, mask=None):\n    pass" in SENT
    assert "times_the_secret" not in SENT
    assert "def shown" in SENT


def test_a_call_returns_what_the_judge_computed(session: Session) -> None:
    outcome = ask(session, "def tester(f): return f(torch.tensor([1.0, 2.0])), f(x=torch.tensor(1), mask=None)")
    assert isinstance(outcome, Returned)
    assert [t.tolist() for t in outcome.tree[0]] == [[3.0, 6.0], 3]


def test_what_a_box_does_to_its_argument_is_seen_by_the_caller(session: Session) -> None:
    source = "def tester(f):\n    x = torch.ones(2)\n    return f(x), x"
    outcome = ask(session, source, CHECKS["tried_in_place"])
    assert [t.tolist() for t in outcome.tree] == [-2.0, [-1.0, -1.0]]


def test_an_error_in_a_box_is_one_at_the_caller(session: Session) -> None:
    outcome = ask(session, "def tester(f): return f(torch.ones(2))", CHECKS["tried_and_refused"])
    assert (outcome.kind, outcome.text) == ("ValueError", "no such x")


def test_a_call_with_large_tensors_is_refused_alike_here_and_there(session: Session) -> None:
    with pytest.raises(ValueError, match="4,096 entries"):
        BOXES["tripled"](torch.ones(4097))
    outcome = ask(session, "def tester(f): return f(torch.ones(4097))")
    assert isinstance(outcome, Raised)
    assert black_box.TOO_LARGE in outcome.text


def test_limits_hold_where_the_judge_is_and_not_in_the_submission_alone(session: Session) -> None:
    source = "from autograder.judging import black_box\nblack_box.MOST_ENTRIES = 10**9\n"
    outcome = ask(session, source + "def tester(f): return f(torch.ones(4097))")
    assert (outcome.kind, outcome.text) == ("ValueError", black_box.TOO_LARGE)


@pytest.mark.parametrize("attribute", ["_work.__code__.co_consts", "__doc__", "_work.__defaults__"])
def test_a_submission_cannot_read_a_box(session: Session, attribute: str) -> None:
    outcome = ask(session, f"def tester(f): return str(f.{attribute})")
    assert outcome.tree[0] in {"(None,)", "None"}


@pytest.mark.parametrize("boxes", [{}, {"negated": BOXES["negated"]}])
def test_a_box_of_another_check_cannot_be_called(session: Session, boxes) -> None:
    assert isinstance(ask(session, "def tester(f): return f(torch.ones(1))", boxes=boxes), Lost | Raised)


def test_calls_without_end_cost_the_check_alone(session: Session) -> None:
    copy = session.copy()
    outcome = ask(copy, "def tester(f):\n    while True:\n        f(torch.ones(1))")
    assert outcome == Lost("It was still running after 2 seconds.")
    assert isinstance(ask(session, "def tester(f): return f(torch.ones(1))"), Returned)


@pytest.mark.parametrize("arguments", ["5", '{"plain": 1}', '{"tuple": []}', '{"tuple": [{"plain": 1}, {"plain": 1}]}'])
def test_a_forged_call_ends_the_process_and_nothing_else(session: Session, arguments: str) -> None:
    forge = f"""
from autograder.grading.sandbox.codec import pack
from autograder.judging import black_box
def tester(f):
    server = black_box._line[0].func.__globals__
    server["pack_call"] = lambda name, given: pack({{"call": "tripled", "arguments": {arguments}}})
    return f(torch.ones(1))
"""
    assert isinstance(ask(session, forge), Lost)
