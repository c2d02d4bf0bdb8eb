"""Grading runs in threads: what belongs to the process is the same afterward, on every Python."""

import builtins
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest
import torch
import tqdm

from autograder.grading.sandbox.not_graded import replace_what_is_not_run
from autograder.judging.answer_key import AnswerKey, LessonSource, load_answer_key
from autograder.judging.parsing import read_statements

HEAD = "import torch\nfrom autograder.checks import check\n"
CHECK = '@check("double", points=1)\ndef numbers(double, draw):\n    """Any."""\n    return double(draw.normal(3))\n'
MISTAKES = (
    "from autograder.checks import solution\n"
    'solution("double").mutant("tripled", "2 * x", "3 * x", says="Three times, not twice.")\n'
)
# the default is evaluated each time a mutant is defined, so that two threads are inside at once
SLOW = """
import sys, time
import told
OUTPUT = sys.stdout
print("the set-up prints")
def double(x, delay=time.sleep({seconds})):
    print("so does the solution")
    return 2 * x + 0 * x - 0
"""


def key_with(seconds: float) -> AnswerKey:
    modules = (("told.py", "print('and a module')"),)
    reference = SLOW.format(seconds=seconds)
    return load_answer_key(
        LessonSource("l", "l", "L", 1, ("double",), reference, HEAD + CHECK, HEAD, modules, MISTAKES)
    )


def test_a_lesson_that_prints_neither_shows_it_nor_replaces_the_output(capsys) -> None:
    key = key_with(0)
    assert key.targets("double", 1)
    assert all(mistake.work for mistake in key.mistakes)
    assert key.reference["OUTPUT"] is sys.stdout
    assert capsys.readouterr().out == ""


def test_two_threads_that_define_mistakes_leave_the_output_as_it_was() -> None:
    before = sys.stdout
    short, long = key_with(0.002), key_with(0.01)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda key: [mistake.work for mistake in key.mistakes], (short, long)))
    after, sys.stdout = sys.stdout, before
    assert after is before


def test_threads_that_judge_leave_the_process_as_it_was() -> None:
    """Without its own lock, as in Python 3.12, cached_property no longer keeps them apart."""
    key, modules = key_with(0.001), dict(sys.modules)
    torch.manual_seed(5)
    before, state = sys.stdout, torch.get_rng_state()
    with ThreadPoolExecutor(4) as pool:
        targets = list(pool.map(lambda seed: key.targets("double", seed)[0], range(8)))
        mistakes = list(pool.map(lambda target: dict(target.mistakes), targets))
    after, sys.stdout = sys.stdout, before
    assert after is before
    assert len(mistakes) == 8
    assert torch.get_rng_state().equal(state)
    assert "told" not in sys.modules.keys() - modules.keys()


class Cycle:
    """What only the garbage collector ends, which then runs Python code wherever it happens to be called from."""

    ended: ClassVar[set[weakref.ref[object]]] = set()

    def __init__(self) -> None:
        self.itself = self
        self.ended.add(weakref.ref(self, self.end))

    @classmethod
    def end(cls, reference: weakref.ref[object]) -> None:
        sum(range(1000))
        cls.ended.discard(reference)


def test_threads_that_read_code_do_not_disturb_one_another() -> None:
    """Without a lock, three of four threads end with a SystemError: "AST constructor recursion depth mismatch"."""
    source = "\n".join(f"def f{i}(a, b):\n    return [a + {i} for _ in b if a or (b and c(d(e)))]" for i in range(60))
    interval = sys.getswitchinterval()

    def read(_: int) -> int:
        found = 0
        for _ in range(50):
            for _ in range(20):
                Cycle()
            found += len(read_statements(source))
        return found

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(read, range(4))) == [3000] * 4
    finally:
        sys.setswitchinterval(interval)


def test_a_progress_bar_leaves_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 10)
    for owner, name in ((builtins, "input"), (builtins, "open"), (torch, "compile"), (torch.nn.Module, "compile")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    replace_what_is_not_run()
    assert tqdm.tqdm.monitor_interval == 0
