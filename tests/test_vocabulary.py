"""What an honest answer runs raises no question; what no known answer needs does."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.grading.sandbox.codec import pack, unpack
from autograder.grading.vocabulary import ELEMENTARY, FOR_NUMPY, bare, is_usual, outside
from autograder.grading.ways_round import way_round
from autograder.judging.operators import CALLER, recording
from autograder.judging.shortcuts import allow, record_of
from autograder.judging.values import Outcome
from autograder.paths import find_course

from .answer_keys import SEED, key_of
from .honest_variants import VARIANTS, Variant

QUESTIONS = sorted((Path(__file__).parent / "hostile" / "questions").glob("*.py"))
LESSONS = [found.name for found in find_course(Path(__file__).parent).lessons()]
OF_THE_TESTS = {f"{CALLER}{name}" for name in ("tests.honest_variants", "<run_path>")}


@cache
def known(name: str, exercise: str) -> frozenset[str]:
    return frozenset(key_of(name).known(exercise, SEED))


def outcomes_of(name: str, exercise: str, work: Any) -> list[Outcome]:
    return [check.values(work, SEED, record=True) for check in key_of(name).checks_of(exercise)]


def test_every_elementary_operator_is_one_of_pytorchs() -> None:
    names = {full.removeprefix("aten::").split(".")[0] for full in torch._C._dispatch_get_all_op_names()}
    assert {name for name in ELEMENTARY if name not in names and f"{name}_" not in names} == set()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v.exercise}-{v.name}")
def test_an_honest_answer_raises_no_question(variant: Variant) -> None:
    """Nor is it wrong: these are inputs of one seed more than `test_strictness` has."""
    key, outcomes = key_of(variant.lesson), outcomes_of(variant.lesson, variant.exercise, variant.work)
    triples = zip(key.checks_of(variant.exercise), key.targets(variant.exercise, SEED), outcomes, strict=True)
    assert [check.name for check, target, outcome in triples if not target.accepts(check.summarize(outcome))] == []
    record = record_of(outcomes) - OF_THE_TESTS
    assert outside(record, known(variant.lesson, variant.exercise), key.module_names) == ""


@pytest.mark.parametrize("name", LESSONS)
def test_a_solution_raises_no_question(name: str) -> None:
    key = key_of(name)
    for exercise in key.exercises:
        cells = [key.source.reference]
        assert outside(record_of(outcomes_of(name, exercise, key.reference[exercise])), known(name, exercise)) == ""
        assert way_round(cells, exercise, [], known(name, exercise)) == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_what_no_known_answer_needs_is_a_question(path: Path) -> None:
    """The first line says where it belongs and what the question names: what ran, or what the source says."""
    source = path.read_text(encoding="utf-8")
    name, exercise, word = re.match(r"# (\S+) (\w+): (.+)", source).groups()
    names = {**key_of(name).reference, "__name__": "__main__", "torch": torch, "nn": torch.nn}
    exec(compile(source, "a cell", "exec"), names)
    outcomes = outcomes_of(name, exercise, names[exercise])
    ran = outside(record_of(outcomes), known(name, exercise))
    written = way_round([source], exercise, [source], known(name, exercise))
    assert ran.startswith(word) or word in written, (ran, written)


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
