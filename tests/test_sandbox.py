import platform
from collections.abc import Iterator

import pytest
import torch

from autograder.judging.check import Check, checks_in, load_module
from autograder.grading.sandbox import Bubble, Limits, Session, missing, open_process
from autograder.grading.sandbox.seccomp import MACHINES, REFUSED
from autograder.judging.values import Lost, Raised, Returned

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


LIMITS = Limits(cell_seconds=5, check_seconds=2)


@pytest.fixture(scope="module")
def bubble() -> Iterator[Bubble | None]:
    """A sandbox, which tests need as much as graders do; without bubblewrap its tests are skipped."""
    opened = None if missing() else Bubble(LIMITS)
    yield opened
    if opened:
        opened.close()


@pytest.fixture(params=["isolated", "ordinary"])
def session(request: pytest.FixtureRequest, bubble: Bubble | None) -> Iterator[Session]:
    if request.param == "isolated" and bubble is None:
        pytest.skip(missing())
    with bubble.session({}) if request.param == "isolated" else open_process({}, LIMITS) as opened:
        yield opened


def ask(session: Session, check: Check = A_NUMBER) -> object:
    return session.check(check, (CHECKS, ""), seed=1)


def test_cells_share_names_and_show_their_outputs(session: Session) -> None:
    session.run("x = 20")
    result = session.run("print('hello'); x + 1")
    assert result.success
    assert [o.get("text") or o["data"]["text/plain"] for o in result.outputs] == ["hello\n", "21"]


def test_an_error_is_an_output_and_the_next_cell_runs(session: Session) -> None:
    result = session.run("1 / 0")
    assert (result.success, result.outputs[0]["ename"]) == (False, "ZeroDivisionError")
    assert session.run("x = ").outputs[0]["ename"] == "SyntaxError"
    assert session.run("1").success


def test_a_check_returns_values_of_inputs_drawn_from_the_seed(session: Session) -> None:
    session.run("def double(x): return 2 * x")
    there = ask(session)
    here = A_NUMBER.values(lambda x: 2 * x, seed=1)
    assert isinstance(there, Returned)
    assert there.tree.equal(here.tree)


def test_what_a_student_raises_is_a_value_with_its_line(session: Session) -> None:
    session.run("def double(x):\n    return x.nonsense")
    outcome = ask(session)
    assert (outcome.kind, outcome.where) == ("AttributeError", "return x.nonsense")


def test_a_missing_name_is_said(session: Session) -> None:
    assert ask(session) == Raised("NotDefined", "double is not defined: its cell is missing or stopped with an error.")


def test_a_check_leaves_nothing_behind_for_the_next(session: Session) -> None:
    session.run(
        "seen = []\ndef double(x):\n    seen.append(x)\n    return torch.tensor(float(len(seen)))\nimport torch"
    )
    assert [float(ask(session, c).tree) for c in (A_NUMBER, OTHER_NUMBER, A_NUMBER)] == [1.0, 1.0, 1.0]
    assert session.run("len(seen)").outputs[0]["data"]["text/plain"] == "0"


def test_an_endless_check_is_ended_and_the_next_one_runs(session: Session) -> None:
    session.run("def double(x):\n    while True: pass")
    assert ask(session) == Lost("It was still running after 2 seconds.")
    session.run("def double(x): return x")
    assert isinstance(ask(session), Returned)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()"])
def test_ending_the_process_in_a_check_loses_that_check_only(session: Session, end: str) -> None:
    session.run(f"import os, sys\ndef double(x): {end}")
    assert isinstance(ask(session), Lost | Raised)
    session.run("def double(x): return x")
    assert isinstance(ask(session), Returned)


def test_ending_the_process_in_a_cell_is_told_from_then_on(session: Session) -> None:
    assert session.run("import os; os._exit(0)").outputs[0]["ename"] == "SubmissionStopped"
    assert ask(session) == Lost("The Python process ended in this cell.")


def test_an_endless_cell_ends_the_notebook_there(session: Session) -> None:
    result = session.run("while True: pass")
    assert "still running after 5 seconds" in result.outputs[0]["evalue"]
    assert not session.run("1").success


def test_a_flood_of_output_is_cut(session: Session) -> None:
    result = session.run("for _ in range(100_000): print('x' * 100)")
    assert result.success
    assert len(str(result.outputs)) < 2 * Limits.output_bytes
    assert "more output was left out" in str(result.outputs[-1])


def test_a_figure_and_a_widget_free_display_are_recorded(session: Session) -> None:
    code = "from autograder import plot\nimport torch\nplot.heatmap(torch.ones(1, 1), ['q'], ['k'], 'one')"
    (output,) = session.run(code).outputs
    assert set(output["data"]) == {"image/png", "text/plain"}


def test_pyplot_figures_are_recorded(session: Session) -> None:
    outputs = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()").outputs
    assert any("image/png" in o.get("data", {}) for o in outputs)


def test_a_notebook_that_used_several_threads_is_still_checked(session: Session) -> None:
    session.run("import torch\ntorch.set_num_threads(2)\nx = torch.randn(1000, 1000)\ny = x @ x + x.exp()")
    session.run("def double(x): return (torch.randn(1000, 1000) @ torch.randn(1000, 1000)).exp()[0, 0] * 0 + x")
    assert isinstance(ask(session), Returned)


def test_the_usual_magics_of_notebooks_run(session: Session) -> None:
    assert session.run("%matplotlib inline").success
    assert session.run("%time 1 + 1").success


def test_a_solution_that_answers_with_another_type_sends_its_name(session: Session) -> None:
    session.run("def double(x): return (x, object(), {'a': x})")
    tree = ask(session).tree
    assert isinstance(tree[0], torch.Tensor)
    assert tree[1].kind == "object"


@pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")
def test_refused_calls_are_refused_and_others_work() -> None:
    numbers = MACHINES[platform.machine()][1]
    source = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
results = [(libc.syscall(n, 0, 0, 0, 0, 0), ctypes.get_errno()) for n in {numbers}]
print(set(results), libc.getpid() > 0)
"""
    bubble = Bubble(Limits())
    try:
        with bubble.session({}) as session:
            (output,) = session.run(source).outputs
    finally:
        bubble.close()
    assert output["text"] == "{(-1, 1)} True\n"


def test_a_name_is_kept_for_every_refused_number() -> None:
    assert {len(numbers) for _, numbers in MACHINES.values()} == {len(REFUSED)}
