"""Points for an exercise that forbids something depend on what it runs by itself, not on what other cells do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from autograder.authoring.lesson_package import package_of
from autograder.authoring.sample_submissions import submission
from autograder.grading.repair import repair_submission
from autograder.grading.sandbox import SandboxSession
from autograder.grading.sandbox.shell import GradingShell
from autograder.grading.witness import Witness, above_check, part_of
from autograder.judging.syntax import Code, reachable, wanted_by
from autograder.paths import find_course

from .conftest import needs_sandbox
from .graded import handed_in, points_in, record_of

LESSON, EXERCISE = "04_softmax", "stable_softmax"
READY_MADE = "import torch.nn.functional as F\ndef stable_softmax(x, dim=-1): return F.softmin(-x, dim=dim)"
ENCODE = """
import json
real = json.JSONEncoder.encode
def encode(self, thing):
    if isinstance(thing, dict) and "ran" in thing:
        thing["ran"] = [name for name in thing["ran"] if "soft" not in name]
    return real(self, thing)
for kind in [json.JSONEncoder]:
    kind.encode = encode
"""
RECORDER = """
import autograder.judging.operators as operators
operators.note = lambda names, name: names.add("exp")
"""
UNREAD = """
import ipywidgets.widgets.trait_types as kinds
CODE = "import sys; frame = sys._getframe()\\n"
CODE += "while not frame.f_globals['__name__'].endswith('sandbox.server'): frame = frame.f_back\\n"
CODE += "operators = frame.f_globals['Check'].values.__globals__['recording'].__wrapped__.__globals__\\n"
CODE += "operators['note'] = lambda names, name: names.add('exp')"
kinds.traitlets.utils.importstring.import_item("timeit").timeit(CODE, number=1)
"""
RIGHT = """
def stable_softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""


def said_of(answer: str, *cells: str) -> tuple[int, str]:
    """Return an exercise's points where other cells come before its own, and all that a person is told."""
    package = package_of(find_course().lesson(LESSON))
    notebook = submission(package, {EXERCISE: answer})
    first = next(n for n, cell in enumerate(notebook.cells) if cell.metadata.get("nbgrader", {}).get("solution"))
    notebook.cells[first:first] = [nbformat.v4.new_code_cell(cell, id=f"own-{n}") for n, cell in enumerate(cells)]
    record = record_of(handed_in(package, notebook))
    return points_in(record)[EXERCISE], "; ".join(record["flags"])


@needs_sandbox
@pytest.mark.parametrize("cell", [ENCODE, RECORDER, UNREAD])
def test_no_other_cell_hides_what_runs(cell: str) -> None:
    assert said_of(READY_MADE, cell) == (0, f"{EXERCISE} uses softmax")


@needs_sandbox
@pytest.mark.parametrize(
    "cell",
    [
        "import __main__\nsetattr(__main__, 'mine', lambda x, dim: torch.nn.functional.softmin(-x, dim))",
        "globals()['mine'] = lambda x, dim: (x - x.logsumexp(dim, keepdim=True)).exp()",
        "In, Out = [], {1: torch.softmax}\nexec('mine = Out[1]')",
    ],
)
def test_what_depends_on_cells_that_it_does_not_lead_to_is_a_question(cell: str) -> None:
    points, told = said_of("def stable_softmax(x, dim=-1): return mine(x, dim)", cell)
    assert (points, told) == (
        4,
        f"look at {EXERCISE}: without the notebook's other cells it does not give what it gives with them",
    )


@needs_sandbox
def test_the_notebooks_own_processes_have_ended_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    events = []
    for owner, name in ((SandboxSession, "close_all"), (Witness, "outcomes")):
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, n=name, r=real: (events.append(n), r(*given))[1])
    assert said_of(RIGHT) == (4, "")
    assert events[:2] == ["close_all", "outcomes"]


@needs_sandbox
def test_a_process_that_cannot_be_copied_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, opened = Witness._sessions, []

    def sessions(witness: Witness) -> Iterator[SandboxSession]:
        for session in real(witness):
            opened.append(session)
            if len(opened) == 1:
                monkeypatch.setattr(session, "copy", lambda: None)
            yield session

    monkeypatch.setattr(Witness, "_sessions", sessions)
    assert said_of(RIGHT) == (4, "")
    assert len(opened) == 2


@needs_sandbox
@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        (RIGHT, ["import threading, os, gc, sys\nsys.setrecursionlimit(5000)\nexec('a = 1')\nos.environ['A'] = 'b'"]),
        (RIGHT, ["scale = {}\nscale['one'] = 1", "%matplotlib inline\nimport math as m\nfrom torch import *"]),
        (RIGHT.replace("x.amax(", "top(x, "), ["%%time\ntop = torch.amax"]),
        (RIGHT.replace("x.amax(", "tools['top'](x, "), ["tools = {}", "tools['top'] = torch.amax"]),
    ],
)
def test_other_cells_cost_nothing_and_ask_nobody(answer: str, cells: list[str]) -> None:
    assert said_of(answer, *cells) == (4, "")


def test_what_comes_after_an_exercises_check_gives_its_names_no_other_meaning() -> None:
    package = package_of(find_course().lesson(LESSON))
    notebook = submission(package, {EXERCISE: "def stable_softmax(x, dim=-1): return top(x, dim)"})
    notebook.cells.insert(0, nbformat.v4.new_code_cell("top = torch.amax"))
    notebook.cells.append(nbformat.v4.new_code_cell("def top(x): return x.max()"))
    code = repair_submission(handed_in(package, notebook).notebook, package).code
    binding = [cell.source for cell in above_check(code, EXERCISE) if cell.source.bound & {"top", EXERCISE}]
    assert binding == ["top = torch.amax", "def stable_softmax(x, dim=-1): return top(x, dim)"]


def test_of_a_cell_runs_what_the_exercise_leads_to() -> None:
    cell = Code(
        "from __future__ import annotations\nimport math, sys\nsys.settrace(print)\nTINY = 1e-9\n"
        "def attend(q):\n    '''\n    >>> import os\n    '''\n    return q * TINY * math.pi\nattend(1)\nother = 2"
    )
    part = part_of(cell, {id(node) for node in reachable(["", cell], "attend")})
    kept = [ast.unparse(node).partition("\n")[0] for node in ast.parse(part).body]
    assert kept == ["from __future__ import annotations", "import math", "TINY = 1e-09", "def attend(q):"]
    assert part_of(cell, set()) == "from __future__ import annotations"


@pytest.mark.parametrize(
    ("setting", "using"),
    [("def put(n):\n    global MOST\n    MOST = n", "MOST"), ("bag = {}\ndef put(n):\n    bag[n] = n", "bag[3]")],
)
def test_a_call_runs_that_gives_a_name_its_value(setting: str, using: str) -> None:
    cell = Code(f"{setting}\nput(3)\nprint(3)\ndef attend(q): return q * {using}")
    reached = {id(node) for node in reachable(["", cell], "attend")}
    assert ast.unparse(ast.parse(part_of(cell, reached))) == ast.unparse(ast.parse(cell.replace("print(3)", "")))


def test_a_function_that_is_called_top_has_names_of_its_own() -> None:
    """Python's own module for symbols takes a function of this name for the module."""
    assert wanted_by(ast.parse("def top(x, dim): return x.amax(dim) * TWO").body[0]) == {"TWO"}


def test_hints_that_an_earlier_cell_has_made_texts_of_stay_as_they_are() -> None:
    cells = [Code("from __future__ import annotations\nimport math"), Code("class attend:\n    kind: type")]
    reached = {id(node) for node in reachable(["", *cells], "attend")}
    assert part_of(cells[0], reached) == "from __future__ import annotations"
    for flags, shown in ((0, "$7"), (annotations.compiler_flag, "kind: type")):
        shell: Any = SimpleNamespace(guarded=True, compile=SimpleNamespace(flags=flags))
        code = GradingShell.transform_ast(shell, ast.parse(cells[1]))
        assert shown in ast.unparse(code)


def test_a_star_runs_where_it_may_bring_a_name() -> None:
    cells = [Code("from math import *"), Code("def attend(q): return q * pi"), Code("def other(q): return q")]
    assert part_of(cells[0], set(map(id, reachable(["", *cells], "attend")))) == "from math import *"
    assert part_of(cells[0], set(map(id, reachable(["", *cells], "other")))) == ""


@pytest.mark.parametrize(
    "line",
    [
        r"label = f'{1:wide\x7bexec(1)\x7d}'",
        f"label = {' + '.join(['1'] * 600)}",
    ],
)
def test_what_would_not_run_as_it_is_read_does_not_run(line: str) -> None:
    cell = Code(f"{line}\nscale = 2")
    part = part_of(cell, {id(node) for node, _ in cell.binding})
    assert part.strip() == "scale = 2"


@pytest.mark.parametrize(
    ("cell", "reached"),
    [("for name in TABLE: print(name)", False), ("for name in TABLE: print(name)\nelse: use(name)", True)],
)
def test_a_loops_own_name_leads_to_no_other_cell(cell: str, reached: bool) -> None:
    cells = [Code("name = train()"), Code("TABLE = [1]"), Code("def attend(q): return TABLE"), Code(cell)]
    assert ("name" in part_of(cells[0], set(map(id, reachable(["", *cells], "attend"))))) is reached
