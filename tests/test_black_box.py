"""Functions that a submission may call and cannot read: a name and tensors go out, and tensors come back."""

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from autograder.errors import LessonError
from autograder.grading.sandbox import (
    BoxProcess,
    Limits,
    SandboxSession,
    open_process,
    shared_sandbox,
    unavailable_reason,
)
from autograder.grading.sandbox.boxes import BOX_ENDED, Names
from autograder.judging.answer_key import LessonSource, load_answer_key
from autograder.judging.black_box import NO_WORDS, TOO_LARGE_FOR_A_BOX, black_boxes_in, fits, misplaced, name_sent
from autograder.judging.check import Check, boxes_alone, checks_alone, checks_in, load_module
from autograder.judging.values import Lost, Raised, Returned

HIDDEN = '''
import os
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

@black_box
def greedy(x):
    return torch.ones(2**33).sum()

@black_box
def fatal(x):
    os._exit(1)

@black_box
def endless(x):
    while True:
        pass

@check("tester", points=1)
def tried_with_much(tester, draw):
    """Tried."""
    return tester(greedy)

@check("tester", points=1)
def tried_to_the_end(tester, draw):
    """Tried."""
    return tester(fatal)

@check("tester", points=1)
def tried_for_ever(tester, draw):
    """Tried."""
    return tester(endless)

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
NAMES = {sent: ("hidden", box.name) for sent, box in BOXES.items()}
TRIPLED, NEGATED = (name_sent(name, HIDDEN) for name in ("tripled", "negated"))
CHECKS = {check.name: check for check in checks_in(MODULE)}
SENT = checks_alone(HIDDEN, "tester")
LIMITS = Limits(cell_seconds=20, check_seconds=2)
Ask = Callable[..., Any]


Opener = Callable[[Limits], AbstractContextManager[SandboxSession]]


@pytest.fixture(scope="module", params=["isolated", "ordinary"])
def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "isolated" and unavailable_reason():
        pytest.skip(unavailable_reason())
    return partial(shared_sandbox().session if request.param == "isolated" else open_process, {})


@pytest.fixture(scope="module")
def first(opener: Opener) -> Iterator[SandboxSession]:
    """A process that has PyTorch, which an ordinary one takes seconds to import. Each test gets a fork of it."""
    with opener(LIMITS) as process:
        process.run("import torch")
        yield process


@pytest.fixture
def session(first: SandboxSession) -> Iterator[SandboxSession]:
    process = first.copy()
    assert process
    yield process
    process.close()


@pytest.fixture(scope="module")
def computing(opener: Opener) -> Iterator[BoxProcess]:
    with closing(BoxProcess(lambda: opener(LIMITS), ("", boxes_alone(HIDDEN)))) as process:
        yield process


@pytest.fixture
def ask(session: SandboxSession, computing: BoxProcess) -> Ask:
    """Run a check on a tester, in the session or in another process."""

    def run(tester: str, check: Check = CHECKS["tried"], names: Names = NAMES, process: SandboxSession | None = None):
        chosen = process or session
        chosen.run(tester)
        return chosen.check(check, ("", SENT), 1, partial(computing.line, names))

    return run


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


def test_a_call_returns_what_the_judge_computed(ask: Ask) -> None:
    outcome = ask("def tester(f): return f(torch.tensor([1.0, 2.0])), f(x=torch.tensor(1), mask=None)")
    assert isinstance(outcome, Returned)
    assert [t.tolist() for t in outcome.tree[0]] == [[3.0, 6.0], 3]


def test_trials_of_edited_code_call_boxes_too(session: SandboxSession, computing: BoxProcess) -> None:
    cell, boxes = "def tester(f):\n    return f(torch.tensor(2))", partial(computing.line, NAMES)
    session.run("def tester(f): return f(torch.tensor(1))")
    outcomes = [session.trial(cell, CHECKS["tried"], ("", SENT), seed, boxes) for seed in (1, 2)]
    assert [outcome.tree[0].item() for outcome in outcomes] == [6, 6]


def test_what_a_box_does_to_its_argument_is_seen_by_the_caller(ask: Ask) -> None:
    source = "def tester(f):\n    x = torch.ones(2)\n    return f(x), x"
    outcome = ask(source, CHECKS["tried_in_place"])
    assert [t.tolist() for t in outcome.tree] == [-2.0, [-1.0, -1.0]]


def test_an_error_in_a_box_is_one_at_the_caller(ask: Ask) -> None:
    outcome = ask("def tester(f): return f(torch.ones(2))", CHECKS["tried_and_refused"])
    assert (outcome.kind, outcome.text) == ("ValueError", "no such x")


def test_a_call_with_large_tensors_is_refused_alike_here_and_there(ask: Ask) -> None:
    with pytest.raises(ValueError, match="4,096 entries"):
        BOXES[TRIPLED](torch.ones(4097))
    outcome = ask("def tester(f): return f(torch.ones(4097))")
    assert isinstance(outcome, Raised)
    assert TOO_LARGE_FOR_A_BOX in outcome.text


@pytest.mark.parametrize(
    "large",
    [[[torch.ones(4097)]], {"x": np.ones(4097)}, torch.ones(0, 10**9), 5000, "x" * 5000, torch.ones(1, 1, 1, 1, 1)],
)
def test_a_large_thing_is_large_however_it_is_wrapped(large: object) -> None:
    assert not fits(([large], {}))
    assert not fits(([], {"x": large}))


def test_what_fits_together_fits() -> None:
    assert fits(([torch.ones(8, 8, 8), [np.ones(100)], None, True, "causal"], {"heads": 4, "scale": 1e9}))


CUBE = "torch.ones(n, 1, 1, 1), torch.ones(1, n, 1, 1), torch.ones(1, 1, 1, n)"


@pytest.mark.parametrize("n", [200, 1365])
def test_what_broadcasting_would_make_of_a_call_is_refused_before_the_call(ask: Ask, n: int) -> None:
    assert not fits((eval(CUBE, {"torch": torch, "n": n}), {}))
    outcome = ask(f"def tester(f):\n    n = {n}\n    return f([{CUBE}])")
    assert (outcome.kind, outcome.text) == ("ValueError", TOO_LARGE_FOR_A_BOX)


def test_memory_that_a_box_takes_is_not_the_graders(ask: Ask) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = ask("def tester(f): return f(torch.ones(2))", CHECKS["tried_with_much"])
    assert isinstance(outcome, Raised)  # the limit of its process: the box's error is the caller's
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000


@pytest.mark.parametrize("end", ["tried_to_the_end", "tried_for_ever"])
def test_a_box_that_ends_its_process_costs_that_check_alone(ask: Ask, session: SandboxSession, end: str) -> None:
    copy, other = session.copy(), session.copy()
    assert ask(
        "def tester(f):\n    try: f(torch.ones(2))\n    except BaseException: pass", CHECKS[end], process=copy
    ) == Lost(BOX_ENDED)
    assert isinstance(ask("def tester(f): return f(torch.ones(1))", process=other), Returned)


def test_limits_hold_where_the_judge_is_and_not_in_the_submission_alone(ask: Ask) -> None:
    source = "from autograder.judging import black_box\nblack_box.MOST_ENTRIES = 10**9\n"
    outcome = ask(source + "def tester(f): return f(torch.ones(4097))")
    assert (outcome.kind, outcome.text) == ("ValueError", TOO_LARGE_FOR_A_BOX)


@pytest.mark.parametrize("call", ["f(torch.ones(2), torch.ones(3), torch.ones(4))", "f(scale=2)", "f({'a': None})"])
def test_the_words_of_an_error_do_not_describe_a_boxs_code(ask: Ask, call: str) -> None:
    outcome = ask(f"def tester(f): return {call}")
    assert (outcome.kind, outcome.text) == ("TypeError", NO_WORDS)


def test_calls_whose_answers_nobody_reads_take_no_longer_than_a_check_may(ask: Ask) -> None:
    flood = """
from autograder.grading.sandbox import channel, codec
from autograder.judging import black_box
def tester(f):
    call = codec.pack_call(f.name, ([torch.ones(2), ["x"] * 900], {}))
    while True:
        channel.send(black_box._transport[0].args[0], call)
"""
    began = time.process_time()
    assert isinstance(ask(flood), Lost)
    assert time.process_time() - began < 10 * LIMITS.check_seconds  # the judge was busy for a minute


@pytest.mark.parametrize("attribute", ["_work.__code__.co_consts", "__doc__", "_work.__defaults__"])
def test_a_submission_cannot_read_a_box(ask: Ask, attribute: str) -> None:
    outcome = ask(f"def tester(f): return str(f.{attribute})")
    assert outcome.tree[0] in {"(None,)", "None"}


@pytest.mark.parametrize("names", [{}, {NEGATED: NAMES[NEGATED]}])
def test_a_box_of_another_check_cannot_be_called(ask: Ask, names: Names) -> None:
    assert isinstance(ask("def tester(f): return f(torch.ones(1))", names=names), Lost | Raised)


def test_calls_without_end_cost_the_check_alone(ask: Ask, session: SandboxSession) -> None:
    copy = session.copy()
    outcome = ask("def tester(f):\n    while True:\n        f(torch.ones(1))", process=copy)
    assert isinstance(outcome, Lost)
    assert outcome.overtime  # on a busy computer most of the time is spent waiting for answers
    assert isinstance(ask("def tester(f): return f(torch.ones(1))"), Returned)


@pytest.mark.parametrize("arguments", ["5", '{"plain": 1}', '{"tuple": []}', '{"tuple": [{"plain": 1}, {"plain": 1}]}'])
def test_a_forged_call_is_answered_by_nobody(ask: Ask, arguments: str) -> None:
    forge = f"""
from autograder.grading.sandbox.codec import pack
from autograder.judging import black_box
def tester(f):
    server = black_box._transport[0].func.__globals__
    server["pack_call"] = lambda name, given: pack({{"call": f.name, "arguments": {arguments}}})
    return f(torch.ones(1))
"""
    assert isinstance(ask(forge), Lost | Raised)
    assert isinstance(ask("def tester(f): return 1"), Returned)


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
    boxes = {check.name: set(key.boxes_of(check, 5).values()) for check in (*key.visible, *key.hidden)}
    public, ones, twos = ("checks", "public"), ("hidden", "ones"), ("hidden", "twos")
    assert boxes == {"seen": {public}, "first": {public, ones}, "second": {public, twos}}


def test_a_box_that_students_have_has_another_name_under_each_seed() -> None:
    key = load_answer_key(LessonSource("lesson", "lesson", "", 1, ("one", "two"), "", VISIBLE, OF_TWO))
    (first,), (second,) = (key.boxes_of(key.visible[0], seed) for seed in (5, 6))
    assert len({first, second, "public"}) == 3


def test_a_lesson_whose_boxs_body_would_be_sent_is_refused() -> None:
    hidden = OF_TWO + "twice = black_box(lambda x: 2 * x)\n"
    with pytest.raises(LessonError, match="black_box is not above"):
        load_answer_key(LessonSource("lesson", "lesson", "", 1, ("one", "two"), "", VISIBLE, hidden))
