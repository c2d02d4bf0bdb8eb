"""What no known answer needs is a question; `verify` sees that solutions and variants raise none."""

import ast
import contextlib
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from autograder.grading.sandbox.codec import pack, unpack
from autograder.judging.guard import Guard, NotOrdinaryError, word_in
from autograder.judging.mediated import mediated
from autograder.judging.operators import CALLER, recording
from autograder.judging.shortcuts import allow, record_of
from autograder.judging.values import Outcome
from autograder.judging.vocabulary import ELEMENTARY, FOR_NUMPY, bare, is_usual, outside

from .answer_keys import SEED, key_of

QUESTIONS = sorted((Path(__file__).parent / "hostile" / "questions").glob("*.py"))
IN_A_THREAD = """
def stable_softmax(x, dim=-1):
    found = []
    worker = Thread(target=lambda: found.append(torch.nn.functional.softmin(-x, dim=dim)))
    worker.start()
    worker.join()
    return found[0] * 1
"""


@cache
def known(name: str, exercise: str) -> frozenset[str]:
    return frozenset(key_of(name).known(exercise, SEED))


def test_every_elementary_operator_is_one_of_pytorchs() -> None:
    names = {full.removeprefix("aten::").split(".")[0] for full in torch._C._dispatch_get_all_op_names()}
    assert {name for name in ELEMENTARY if name not in names and f"{name}_" not in names} == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_what_no_known_answer_needs_is_a_question(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line says where it belongs and what the question names: what it gets hold of, or what ran.

    A file without the exercise's function gets hold of `Thread`, in which what runs is not recorded.
    """
    source = path.read_text(encoding="utf-8")
    name, exercise, word = re.match(r"# (\S+) (\w+): (.+)", source).groups()
    source += "" if f"def {exercise}" in source or f"class {exercise}" in source else IN_A_THREAD
    asked = [word_guarded(name, exercise, source)]
    if not asked[0].startswith(word):
        notebook = notebook_of(name)
        monkeypatch.setitem(sys.modules, "__main__", notebook)
        exec(compile(source, "a cell", "exec"), vars(notebook))
        outcomes = run_checks(name, exercise, vars(notebook))
        asked += [outside(record_of([outcome]), known(name, exercise)) for outcome in outcomes]
    assert any(each.startswith(word) for each in asked), asked


def notebook_of(name: str) -> ModuleType:
    notebook = ModuleType("__main__")
    vars(notebook).update({**key_of(name).reference, "torch": torch, "nn": torch.nn, "__name__": "__main__"})
    return notebook


def word_guarded(name: str, exercise: str, source: str) -> str:
    """Return the word for what stops a cell, or the exercise in it, where a guard looks at what it gets hold of."""
    names = vars(notebook_of(name))
    guard = Guard(names)
    guard.trust([names["torch"], names["nn"]])
    with contextlib.suppress(NotOrdinaryError):
        exec(compile(mediated(ast.parse(source)), "a cell", "exec"), names)
        run_checks(name, exercise, names)
    return word_in(guard.words)


def run_checks(name: str, exercise: str, names: dict[str, Any]) -> list[Outcome]:
    return [check.values(names[exercise], SEED, record=True) for check in key_of(name).checks_of(exercise)]


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("aten::exp", True),
        ("aten::exp_", True),
        ("aten::tanh_backward", True),
        ("aten::_softmax_backward_data", True),
        ("aten::_masked_softmax", False),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", False),
        ("onnx::Attention", False),
        ("prims::exp", False),
        ("higher_order::flex_attention", False),
        ("softmax", True),
        ("__array__", False),
        ("from torch.nn.functional", True),
        ("from torch.nn.modules.linear", True),
        ("from torch.nn.modules.transformer", False),
        ("from torch.nn.attention.flex_attention", False),
        ("from torch._refs", False),
        ("from functools", True),
        ("from IPython.core.display_functions", True),
        ("from keras.src.ops", False),
        ("from <string>", False),
    ],
)
def test_what_is_usual(name: str, usual: bool) -> None:
    assert is_usual(name) is usual


def test_what_a_solution_runs_and_what_an_author_allows_is_no_question() -> None:
    assert outside({"aten::_cdist_forward"}, ()) == "aten::_cdist_forward"
    assert outside({"aten::_cdist_forward"}, {"aten::_cdist_forward"}) == ""
    assert outside({"aten::_cdist_forward", "aten::_cdist_backward"}, {"aten::_cdist*"}) == ""
    assert outside({"from helpers"}, (), {"helpers"}) == ""


def test_a_forged_record_puts_nothing_of_its_own_into_a_question() -> None:
    assert outside({"<script>alert(1)</script>"}, ()) == ""
    assert outside({"aten::<script>alert(1)\x1b[2J"}, ()) == "something with a name of its own"


def test_a_permission_belongs_to_one_exercise() -> None:
    key = key_of("02_queries_keys_values")
    allowing = replace(key, permissions=[allow("project_qkv", "aten::_cdist*", because="Distances.")])
    assert "aten::_cdist*" in allowing.known("project_qkv", SEED)
    assert allowing.known("attend", SEED) == key.known("attend", SEED)


def test_a_record_names_functions_operators_and_callers() -> None:
    names: set[str] = set()
    with recording(names):
        torch.nn.functional.normalize(torch.ones(2, 2))
    assert {"normalize", "aten::linalg_vector_norm", "from torch.nn.functional"} <= names
    assert not any(name.startswith("from autograder") for name in names)
    assert bare("aten::threshold_backward") == "threshold"
    assert not names & set(FOR_NUMPY)


def test_what_the_machinery_runs_to_send_a_message_is_nobodys_answer() -> None:
    """A black box is called by message while a student's function runs."""
    names: set[str] = set()
    asked = torch.ones(2)
    with recording(names):
        unpack(pack({}, {"asked": asked}))
    assert not any(name.startswith(CALLER) for name in names)
