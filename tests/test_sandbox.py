import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from autograder.grading.sandbox import (
    BubblewrapSandbox,
    Limits,
    SandboxSession,
    open_process,
    shared_sandbox,
    unavailable_reason,
)
from autograder.judging.check import Check, checks_in, load_module
from autograder.judging.values import Lost, Raised, Returned

from .conftest import needs_sandbox
from .graded import errors_in

CHECKS = '''
import torch
from autograder.judging.check import check

@check("double", points=1)
def a_number(double, draw):
    """A number."""
    return double(draw.normal(2))

@check("double", points=1)
def other_number(double, draw):
    """Another number."""
    return double(draw.normal(2))
'''
A_NUMBER, OTHER_NUMBER = checks_in(load_module(CHECKS, "checks.py"))


PATIENT = Limits(cell_seconds=120, check_seconds=120, total_seconds=600)  # a busy computer decides no test
HURRIED = Limits(cell_seconds=2, check_seconds=1.5)  # for what never ends


@pytest.fixture(scope="module")
def ordinary() -> Iterator[SandboxSession]:
    """A process without isolation. It takes seconds to start, so each test gets a copy."""
    with open_process({}, PATIENT) as opened:
        yield opened


@pytest.fixture(params=["isolated", "ordinary"])
def session(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    """A submission's process."""
    if request.param == "ordinary":
        yield copy_of(request.getfixturevalue("ordinary"))
    else:
        with isolated(PATIENT) as opened:
            yield opened


@pytest.fixture(params=["isolated", "ordinary"])
def hurried(request: pytest.FixtureRequest) -> Iterator[SandboxSession]:
    """A submission's process with little time."""
    with isolated(HURRIED) if request.param == "isolated" else open_process({}, HURRIED) as opened:
        yield opened


@contextmanager
def isolated(limits: Limits) -> Iterator[SandboxSession]:
    if unavailable_reason():
        pytest.skip(unavailable_reason())
    with shared_sandbox().session({}, limits) as opened:
        yield opened


@pytest.mark.parametrize("backend", [open_process, lambda *args: shared_sandbox().session(*args)])
def test_what_a_lesson_reads_lies_beside_its_notebook_whatever_it_is(backend) -> None:
    if backend is not open_process and unavailable_reason():
        pytest.skip(unavailable_reason())
    with backend({"model.bin": bytes(range(256))}, PATIENT) as opened:
        result = opened.run("from pathlib import Path\nsum(Path('model.bin').read_bytes())")
    assert result.outputs[0]["data"]["text/plain"] == "32640"


def ask(session: SandboxSession, check: Check = A_NUMBER) -> object:
    return session.check(check, (CHECKS, ""), seed=1)


def copy_of(session: SandboxSession) -> SandboxSession:
    copy = session.copy()
    assert copy
    return copy


def test_cells_share_names_and_show_their_outputs(session: SandboxSession) -> None:
    session.run("x = 20")
    result = session.run("print('hello'); x + 1")
    assert [o.get("text") or o["data"]["text/plain"] for o in result.outputs] == ["hello\n", "21"]


def test_an_error_is_an_output_and_the_next_cell_runs(session: SandboxSession) -> None:
    assert errors_in(session.run("1 / 0")) == ["ZeroDivisionError"]
    assert errors_in(session.run("x = ")) == ["SyntaxError"]
    assert errors_in(session.run("1")) == []


def test_a_check_returns_values_of_inputs_drawn_from_the_seed(session: SandboxSession) -> None:
    session.run("def double(x): return 2 * x")
    there = ask(session)
    here = A_NUMBER.values(lambda x: 2 * x, seed=1)
    assert isinstance(there, Returned)
    assert there.tree.equal(here.tree)


def test_what_a_student_raises_is_a_value_with_its_line(session: SandboxSession) -> None:
    session.run("def double(x):\n    return x.nonsense")
    outcome = ask(session)
    assert (outcome.kind, outcome.where) == ("AttributeError", "return x.nonsense")


def test_a_missing_name_is_said(session: SandboxSession) -> None:
    assert ask(session) == Raised("NotDefined", "double is not defined: its cell is missing or stopped with an error.")


def test_what_a_check_does_in_a_copy_stays_in_that_copy(session: SandboxSession) -> None:
    session.run("import torch\nseen = []\ndef double(x):\n    seen.append(x)\n    return torch.tensor(len(seen))")
    copy = copy_of(session)
    assert [int(ask(copy, check).tree) for check in (A_NUMBER, OTHER_NUMBER, A_NUMBER)] == [1, 2, 3]
    assert int(ask(copy_of(session)).tree) == 1
    assert session.run("len(seen)").outputs[0]["data"]["text/plain"] == "0"


def test_a_copy_keeps_the_moment_at_which_it_was_made(session: SandboxSession) -> None:
    session.run("def double(x): return 2 * x")
    copy = copy_of(session)
    session.run("def double(x): return 0 * x")
    assert ask(copy).tree.equal(A_NUMBER.values(lambda x: 2 * x, seed=1).tree)


def test_an_endless_check_loses_its_copy_and_another_copy_goes_on(hurried: SandboxSession) -> None:
    hurried.run("calls = 0\ndef double(x):\n    while True: pass")
    first, second = copy_of(hurried), copy_of(hurried)
    assert [isinstance(ask(copy), Lost) for copy in (first, first, second)] == [True] * 3
    hurried.run("def double(x): return x")
    assert isinstance(ask(copy_of(hurried)), Returned)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()"])
def test_ending_the_process_in_a_check_loses_that_copy_only(session: SandboxSession, end: str) -> None:
    session.run(f"import os, sys\ndef double(x): {end}")
    assert isinstance(ask(copy_of(session)), Lost | Raised)
    session.run("def double(x): return x")
    assert isinstance(ask(copy_of(session)), Returned)


def test_a_process_that_ended_cannot_be_copied(session: SandboxSession) -> None:
    session.run("import os; os._exit(0)")
    assert session.copy() is None


def test_ending_the_process_in_a_cell_is_told_from_then_on(session: SandboxSession) -> None:
    assert errors_in(session.run("import os; os._exit(0)")) == ["SubmissionStopped"]
    assert ask(session) == Lost("The Python process ended in this cell.")


def test_an_endless_cell_ends_the_notebook_there(hurried: SandboxSession) -> None:
    result = hurried.run("while True: pass")
    assert "still running after 2 seconds" in result.outputs[0]["evalue"]
    assert errors_in(hurried.run("1")) == ["SubmissionStopped"]


def test_a_flood_of_output_is_cut(session: SandboxSession) -> None:
    result = session.run("for _ in range(100_000): print('x' * 100)")
    assert errors_in(result) == []
    assert len(str(result.outputs)) < 2 * Limits.output_bytes
    assert "more output was left out" in str(result.outputs[-1])


def test_a_figure_and_a_widget_free_display_are_recorded(session: SandboxSession) -> None:
    code = "from autograder import plot\nimport torch\nplot.heatmap(torch.ones(1, 1), ['q'], ['k'], 'one')"
    (output,) = session.run(code).outputs
    assert set(output["data"]) == {"image/png", "text/plain"}


def test_pyplot_figures_are_recorded(session: SandboxSession) -> None:
    outputs = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()").outputs
    assert any("image/png" in o.get("data", {}) for o in outputs)


def test_a_notebook_that_used_several_threads_is_still_checked(session: SandboxSession) -> None:
    session.run("import torch\ntorch.set_num_threads(2)\nx = torch.randn(1000, 1000)\ny = x @ x + x.exp()")
    session.run("def double(x): return (torch.randn(1000, 1000) @ torch.randn(1000, 1000)).exp()[0, 0] * 0 + x")
    assert isinstance(ask(session), Returned)


def test_the_usual_magics_of_notebooks_run(session: SandboxSession) -> None:
    assert errors_in(session.run("%matplotlib inline")) == []
    assert errors_in(session.run("%time 1 + 1")) == []


def test_a_solution_that_answers_with_another_type_sends_its_name(session: SandboxSession) -> None:
    session.run("def double(x): return (x, object(), {'a': x})")
    tree = ask(session).tree
    assert isinstance(tree[0], torch.Tensor)
    assert tree[1].kind == "object"


@needs_sandbox
def test_a_sandbox_outlives_the_thread_that_asked_for_it() -> None:
    made = []

    def ask() -> None:
        made.append(BubblewrapSandbox())
        made[0].wait_until_ready()

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    (sandbox,) = made
    try:
        with sandbox.session({}, Limits()) as session:
            assert errors_in(session.run("1")) == []
    finally:
        sandbox.close()
