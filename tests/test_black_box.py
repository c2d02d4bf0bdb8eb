"""Functions that a submission may call and cannot read: a name and tensors go out, and tensors come back."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from autograder.errors import LessonError
from autograder.grading.sandbox import Limits, Session, open_process, shared_sandbox, unavailable_reason
from autograder.judging.answer_key import LessonSource, load_answer_key
from autograder.judging.black_box import NO_WORDS, TOO_LARGE, black_boxes_in, fits, misplaced, name_sent
from autograder.judging.check import Check, checks_alone, checks_in, load_module
from autograder.judging.values import Lost, Raised, Returned

HIDDEN = '''
import torch
from autograder.checks import black_box, check

SECRET = 3
FIRST = 0

def times_the_secret(x):
    return SECRET * x

def shown(result):
    return [result][FIRST:]

def as_it_was(tree):
    return tree

@black_box
def tripled(x, mask=SECRET):
    return times_the_secret(x)

@black_box
def negated(x):
    x.neg_()
    return x.sum()

@black_box
def refused(x):
    raise ValueError("no such x")

@check("tester", points=1, summary=as_it_was)
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
BOXES = {name_sent(name, HIDDEN): box for name, box in black_boxes_in(MODULE).items()}
TRIPLED, NEGATED = (name_sent(name, HIDDEN) for name in ("tripled", "negated"))
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


def test_of_a_black_box_nothing_is_sent_but_a_name_that_says_nothing() -> None:
    assert f"def {TRIPLED}(*args, **options):\n    pass" in SENT
    assert [word for word in ("tripled", "times_the_secret", "SECRET", "mask") if word in SENT] == []


def test_what_a_check_needs_to_run_is_sent() -> None:
    assert "def shown" in SENT
    assert "FIRST = 0" in SENT
    assert "as_it_was" not in SENT  # a summary runs where the judge runs


@pytest.mark.parametrize(
    "source",
    [
        "f = black_box(helper)",
        "fs = [black_box(f) for f in fs]",
        "from autograder.checks import black_box as kept",
        "checks.black_box(helper)",
        "if True:\n    @black_box\n    def f(x): pass",
    ],
)
def test_a_box_made_in_another_way_would_be_sent_and_is_refused(source: str) -> None:
    assert misplaced(source)
    assert not misplaced(HIDDEN)


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
        BOXES[TRIPLED](torch.ones(4097))
    outcome = ask(session, "def tester(f): return f(torch.ones(4097))")
    assert isinstance(outcome, Raised)
    assert TOO_LARGE in outcome.text


@pytest.mark.parametrize(
    "large",
    [[[torch.ones(4097)]], {"x": np.ones(4097)}, torch.ones(0, 10**9), 5000, "x" * 5000, torch.ones(1, 1, 1, 1, 1)],
)
def test_a_large_thing_is_large_however_it_is_wrapped(large: object) -> None:
    assert not fits(([large], {}))
    assert not fits(([], {"x": large}))


def test_what_fits_together_fits() -> None:
    assert fits(([torch.ones(8, 8, 8), [np.ones(100)], None, True, "causal"], {"heads": 4, "scale": 1e9}))


def test_limits_hold_where_the_judge_is_and_not_in_the_submission_alone(session: Session) -> None:
    source = "from autograder.judging import black_box\nblack_box.MOST_ENTRIES = 10**9\n"
    outcome = ask(session, source + "def tester(f): return f(torch.ones(4097))")
    assert (outcome.kind, outcome.text) == ("ValueError", TOO_LARGE)


@pytest.mark.parametrize("call", ["f(torch.ones(2), torch.ones(3), torch.ones(4))", "f(scale=2)", "f({'a': None})"])
def test_the_words_of_an_error_do_not_describe_a_boxs_code(session: Session, call: str) -> None:
    outcome = ask(session, f"def tester(f): return {call}")
    assert (outcome.kind, outcome.text) == ("TypeError", NO_WORDS)


def test_calls_whose_answers_nobody_reads_take_no_longer_than_a_check_may(session: Session) -> None:
    flood = """
from autograder.grading.sandbox import channel, codec
from autograder.judging import black_box
def tester(f):
    call = codec.pack_call(f.name, ([torch.ones(2), ["x"] * 900], {}))
    while True:
        channel.send(black_box._line[0].args[0], call)
"""
    began = time.monotonic()
    assert isinstance(ask(session, flood), Lost)
    assert time.monotonic() - began < 2 * LIMITS.check_seconds  # it took a minute


@pytest.mark.parametrize("attribute", ["_work.__code__.co_consts", "__doc__", "_work.__defaults__"])
def test_a_submission_cannot_read_a_box(session: Session, attribute: str) -> None:
    outcome = ask(session, f"def tester(f): return str(f.{attribute})")
    assert outcome.tree[0] in {"(None,)", "None"}


@pytest.mark.parametrize("boxes", [{}, {NEGATED: BOXES[NEGATED]}])
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
    server["pack_call"] = lambda name, given: pack({{"call": f.name, "arguments": {arguments}}})
    return f(torch.ones(1))
"""
    assert isinstance(ask(session, forge), Lost)


VISIBLE = '''
from autograder.checks import black_box, check

@black_box
def public(x):
    return x

@check("one", points=1)
def seen(one, draw):
    """Seen."""
    return one(public)
'''
OF_TWO = """
import checks
from autograder.checks import black_box, check

@black_box
def ones(x):
    return x

@black_box
def twos(x):
    return x

@check("one", points=1)
def first(one, draw):
    "First."
    return one(ones)

@check("two", points=1)
def second(two, draw):
    "Second."
    return two(twos), two(checks.public)
"""


def test_only_the_boxes_of_an_exercises_own_checks_can_be_called() -> None:
    key = load_answer_key(LessonSource("lesson", "lesson", "", 1, ("one", "two"), "", VISIBLE, OF_TWO))
    boxes = {check.name: set(key.boxes_of(check)) for check in (*key.visible, *key.hidden)}
    ones, twos = (name_sent(name, OF_TWO) for name in ("ones", "twos"))
    assert boxes == {"seen": {"public"}, "first": {"public", ones}, "second": {"public", twos}}


def test_a_lesson_whose_boxs_body_would_be_sent_is_refused() -> None:
    hidden = OF_TWO + "twice = black_box(lambda x: 2 * x)\n"
    with pytest.raises(LessonError, match="black_box is not above"):
        load_answer_key(LessonSource("lesson", "lesson", "", 1, ("one", "two"), "", VISIBLE, hidden))
