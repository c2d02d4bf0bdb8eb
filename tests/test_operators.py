"""What runs is seen under any name, so a ready-made function earns nothing, however it was reached."""

import gc
import subprocess
import sys
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from autograder.judging.operators import AND_MORE, LATER, is_frozen, later_code_in, recording
from autograder.judging.shortcuts import ran_in
from autograder.judging.values import Returned
from autograder.judging.vocabulary import outside

from .answer_keys import SEED, key_of, released

HIDDEN_WAYS = sorted((Path(__file__).parent / "hostile" / "ready_made").glob("*.py"))


def ran(path: Path) -> Any:
    """Run the graded checks on an answer whose source nobody can read; return what is forbidden and ran."""
    source = path.read_text(encoding="utf-8")
    _, name, exercise = source.splitlines()[0].split()
    key = key_of(name)
    names = {**key.reference, "torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    exec(source, names)
    outcomes = [check.values(names[exercise], SEED, record=True) for check in key.checks_of(exercise)]
    assert any(isinstance(outcome, Returned) for outcome in outcomes), outcomes
    return ran_in(key.shortcuts, exercise, outcomes)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of functions that a student would call
@pytest.mark.parametrize("path", HIDDEN_WAYS, ids=lambda path: path.stem)
def test_a_ready_made_function_is_seen_to_run(path: Path) -> None:
    assert ran(path)


def test_a_student_is_told_at_home_what_ran() -> None:
    names: dict[str, Any] = {"torch": torch}
    exec("def stable_softmax(x, dim=-1): return torch.nn.functional.softmin(-x, dim=dim)", names)
    verdict, _ = released("04_softmax").judge("stable_softmax", names["stable_softmax"])
    assert verdict.points == 0
    assert verdict.failure
    assert "Your code uses softmax" in verdict.failure.message


def test_nothing_is_noted_where_nobody_asks() -> None:
    names: set[str] = set()
    with recording(None):
        torch.ones(2).softmax(dim=0)
    with recording(names):
        torch.ones(2).exp()
    assert "exp" in names
    assert "softmax" not in names


def test_a_record_does_not_change_what_comes_out() -> None:
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def work(t: Tensor) -> Tensor:
        return torch.func.vmap(lambda row: row.softmax(dim=-1))(t)

    with recording(set()):
        recorded = work(x)
    assert recorded.equal(work(x))
    recorded.sum().backward()
    assert x.grad is not None


def test_recording_imports_nothing_heavy() -> None:
    code = (
        "import sys, torch\nfrom autograder.judging.operators import AND_MORE, LATER, later_code_in, recording\n"
        "with recording(set()):\n    torch.ones(2).softmax(dim=0)\nassert 'torch._dynamo' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(2),
        torch.nn.Parameter(torch.ones(2)),
        torch.ones(2, 3).max(dim=0),
        torch.Size([2]),
        np.float64(1),
        Pair(torch.ones(1), torch.ones(1)),
        {"a": [1, "b", None, (2.0, True)]},
        OrderedDict(a=1),
    ],
    ids=str,
)
def test_data_runs_no_code_later(value: object) -> None:
    assert list(later_code_in(value)) == []


class OwnTensor(torch.Tensor):
    pass


class OwnList(list):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(value, kind, id=kind)  # the text of a generator has an address: two workers would see two names
        for value, kind in [
            ((n for n in [1]), "generator"),
            (map(str, []), "map"),
            ([{"a": lambda: 1}], "function"),
            (torch.ones(2).as_subclass(OwnTensor), "OwnTensor"),
            (OwnList(), "OwnList"),
            (torch.nn.Linear(1, 1), "Module"),
        ]
    ],
)
def test_what_may_run_code_later_is_noted(value: object, kind: str) -> None:
    assert list(later_code_in(value)) == [LATER + kind]


def softmax_seen(setting: str, body: str) -> set[str]:
    """Return what is recorded of a softmax in lesson 4's first check: a student's cell, and the body of the answer."""
    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    source = f"{setting}\ndef stable_softmax(x, dim=-1):\n    {body}"
    exec(compile(source, "a cell", "exec"), names)
    check = key_of("04_softmax").checks_of("stable_softmax")[0]
    outcome = check.values(names["stable_softmax"], SEED, record=True)
    assert isinstance(outcome, Returned), outcome
    return set(outcome.ran)


def test_a_recorder_that_was_taken_off_is_missed() -> None:
    setting = """
import contextlib
held = [contextlib.ExitStack(), contextlib.ExitStack()]
held[0].enter_context(torch.autograd.graph.allow_mutation_on_saved_tensors())
held[1].enter_context(torch.device("cpu"))
"""
    close = "[h.close() for h in held]"
    back = "held[0].enter_context(torch.autograd.graph.allow_mutation_on_saved_tensors())"
    back += "; held[1].enter_context(torch.device('cpu'))"
    seen = softmax_seen(setting, f"(x + 0).exp(); {close}; y = F.softmin(-x, dim=dim); {back}; return y")
    torch.overrides._pop_mode()  # the student's own, which stay behind
    assert AND_MORE in seen


CALLED_BACK = {
    "the module's name": (
        "turns = []\nclass Own:\n    def __str__(self):\n        turns.append(0)\n"
        "        return take('__main__') if len(turns) == 2 else '__main__'\n__name__ = Own()",
        "some = torch.ones(1).any(); state[:] = [x]; turns.clear(); bool(some)",
    ),
    "a number of its own": (
        "from fractions import Fraction\nclass Own(Fraction):\n    @property\n    def numerator(self): return take(1)",
        "state[:] = [x]; torch.tensor([Own(1, 2)], dtype=torch.float64)",
    ),
    "a number in a library's sequence": (
        "from collections import deque\nfrom fractions import Fraction\nclass Own(Fraction):\n"
        "    @property\n    def numerator(self): return take(1)",
        "state[:] = [x]; torch.tensor([deque([Own(1, 2)])], dtype=torch.float64)",
    ),
    "how numbers are printed": (
        "from fractions import Fraction\nclass Own(Fraction):\n"
        "    def _richcmp(self, other, op): return take(True)\ntorch.set_printoptions(precision=Own(4))",
        "state[:] = [x]\n    try: str(torch.ones(1) / 3)\n    except Exception: pass",
    ),
    "how digits are printed": (
        "class Own:\n    def __str__(self): return take('4')\ntorch.set_printoptions(precision=Own())",
        "state[:] = [x]; str(torch.ones(1) / 3)",
    ),
    "a function": ("def own(number): return take(number)", "state[:] = [x]; torch.ones(1).apply_(own)"),
    "a thread": (
        "from threading import Thread",
        "state[:] = [x]; t = Thread(target=take, args=(0,)); t.start(); t.join()",
    ),
    "a thread that no module for it starts": (
        "from _thread import allocate_lock, start_new_thread",
        "state[:] = [x]; done = allocate_lock(); done.acquire()\n"
        "    start_new_thread(lambda: (take(0), done.release()), ()); done.acquire()",
    ),
    "what the garbage collector ends": (
        "def waiting():\n    try: yield\n    finally: take(0)\n"
        "def leave():\n    pair, it = [], waiting()\n    next(it)\n    pair.append((pair, it))",
        "leave(); state[:] = [x]; torch.ones(2000).unbind()",
    ),
    "what the garbage collector ends afterward": (
        "def waiting(x, out):\n    try: yield\n    finally: out.copy_(F.softmin(-x, dim=-1))\n"
        "def leave(x, out):\n    pair, it = [], waiting(x, out)\n    next(it)\n    pair.append((pair, it))",
        "out = x * 0; leave(x, out); return out",
    ),
    "a class of its class": (
        "import abc\nclass Meta(abc.ABCMeta):\n    def __hash__(self): return take(1)\nclass Own(metaclass=Meta): pass",
        "state[:] = [x]\n    try: torch.norm(x, Own())\n    except Exception: pass",
    ),
    "what its class is": (
        "class Own:\n    @property\n    def __class__(self): return take(list)",
        "state[:] = [x]\n    try: torch.norm(x, [Own()])\n    except Exception: pass",
    ),
    "a place": (
        "class Own:\n    def __index__(self): return take(0)",
        "state[:] = [x]; x[Own():]",
    ),
    "a dictionary": (
        "class Own(dict):\n    def values(self): return take([])",
        "state[:] = [x]\n    try: torch.norm(x, Own())\n    except Exception: pass",
    ),
}


@pytest.mark.parametrize("way", CALLED_BACK)
def test_what_pytorch_or_the_recorder_calls_back_is_seen_or_asked_about(way: str) -> None:
    setting, body = CALLED_BACK[way]
    take = (
        "state, made = [], []\ndef take(result):\n"
        "    while state: made[:] = [F.softmin(-state.pop(), dim=-1)]\n    return result\n"
    )
    gc.freeze()  # as in a sandbox
    is_frozen.cache_clear()
    try:
        seen = softmax_seen(take + setting, f"{body}\n    return made[0] if made else x")
    finally:
        gc.unfreeze()
        is_frozen.cache_clear()
        torch.set_printoptions(profile="default")
    assert {"softmax", "softmin"} & seen or outside(seen, key_of("04_softmax").known("stable_softmax", SEED))


def test_a_thread_that_somebody_else_starts_meanwhile_is_not_the_answers() -> None:
    """Else the solution's record has it, as those are made beside threads, and no student is asked about one."""
    names: set[str] = set()
    turn = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(lambda: turn.wait(9) and threading.Thread(target=turn.set).start())
        with recording(names):
            turn.set()
            other.result()
    assert names == set()


@pytest.mark.parametrize(
    ("setting", "body", "kind"),
    [
        ("", "r = x.exp(); r.detach = lambda: F.softmin(-x, dim=dim); return r", "attributes"),
        ("", "r = x.clone().requires_grad_().exp(); r.register_hook(lambda g: g); return r", "function"),
    ],
)
def test_what_autograd_or_a_tensor_of_its_own_calls_later_is_noted(setting: str, body: str, kind: str) -> None:
    assert LATER + kind in softmax_seen(setting, body)


def test_complex_numbers_are_seen_under_any_name() -> None:
    assert "complex" in softmax_seen("", "return (x + 1j).exp().real")
    assert "complex" not in softmax_seen("", "return x.exp()")


@pytest.mark.parametrize("options", [{"precision": 17}, {"threshold": 10_000}])
def test_numbers_leave_in_what_is_printed_with_many_digits_or_at_length(options: dict[str, Any]) -> None:
    torch.set_printoptions(**options)
    seen = softmax_seen("", "str(x); return x.exp()")
    torch.set_printoptions(profile="default")
    assert "item" in seen


@pytest.mark.parametrize("way", ["format(y, '.17g')", "int(y * 2.0**52)", "float(y)", "[*map(repr, [y.item()])]"])
def test_a_number_leaves_under_any_name(way: str) -> None:
    assert "item" in softmax_seen("", f"y = x.sum(); {way}; return x.exp()")


@pytest.mark.parametrize("way", ["print(x)", "bool((x > 0).any())", "[x[i] for i in torch.arange(2)]"])
def test_what_is_printed_asked_or_counted_is_no_number_that_leaves(way: str) -> None:
    assert "item" not in softmax_seen("", f"{way}; return x.exp()")


def test_very_many_whole_numbers_are_odd() -> None:
    way = "[int(i) for i in torch.arange(6000)]"
    assert AND_MORE in softmax_seen("", f"{way}; return x.exp()")


def test_very_many_numbers_with_a_fraction_are_not_odd() -> None:
    """An honest loop takes one for each of thousands of pairs; where they are forbidden, one is enough to be seen."""
    assert AND_MORE not in softmax_seen("", "[float(i) for i in torch.arange(6000.0)]; return x.exp()")


def test_what_is_frozen_is_counted_once_and_not_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting goes through all objects of the process, of which a sandbox has a quarter of a million."""
    counted = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or 0)
    is_frozen.cache_clear()
    for _ in range(3):
        softmax_seen("", "return x.exp()")
    assert len(counted) == 1
