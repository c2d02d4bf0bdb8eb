"""Slips: made from a solution, told to those who made one and to nobody else, and never before an author's words."""

import ast
import json
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.judging.answer_key import AnswerKey
from autograder.judging.mutants import definition, mutants_of, mutations, one_slip
from autograder.judging.sentences import ANSWERS, SLIPS
from autograder.judging.verdict import Verdict
from autograder.student.check import ReleasedChecks

from .answer_keys import key_of

SOLUTION = '''
def attend(query, key, value, scale=1.0):
    """Attend."""
    scores = query @ key.mT / scale
    weights = scores.softmax(dim=-1)
    while weights.numel() < 0:
        weights = weights + 1
    return weights @ value
'''


def sources() -> dict[str, str]:
    names: dict[str, object] = {}
    exec(SOLUTION, names)
    return {slip.message: slip.name for slip in mutants_of(SOLUTION, "attend", names)}


@pytest.mark.parametrize(
    "words",
    [
        "softmax runs along another axis, `dim=-2`",
        "a division, the one with `scale`, is missing",
        "a division, the one with `scale`, is replaced by a multiplication",
        "`scale` is ignored",
        "softmax is left out",
        SLIPS["opposite sign"].format(what="softmax"),
        "a division comes after softmax, not before it",
        SLIPS["other name"].format(other="key", name="value"),
        SLIPS["reshape"],
    ],
)
def test_slips_are_made_and_have_words(words: str) -> None:
    assert any(words == clause or words in clause for clause in sources()), sorted(sources())


IN_NUMPY = """
import numpy as np
def attend(query, key, mask):
    scores = np.where(mask, query @ key.swapaxes(-1, -2), -np.inf)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)
"""


@pytest.mark.parametrize(
    "words",
    [
        "the sum runs along another axis, `axis=-2`",
        "`keepdims` is missing, so other entries meet by broadcasting",
        "exp is left out",
        SLIPS["filled with 0"],
        SLIPS["reshape"],
    ],
)
def test_slips_are_made_of_solutions_in_numpy(words: str) -> None:
    names: dict[str, object] = {}
    exec(IN_NUMPY, names)
    assert any(slip.message.startswith(words) for slip in mutants_of(IN_NUMPY, "attend", names))


def test_a_slip_has_the_same_name_each_time_and_no_two_share_one() -> None:
    names: dict[str, object] = {}
    exec(SOLUTION, names)
    first, again = ([slip.name for slip in mutants_of(SOLUTION, "attend", names)] for _ in range(2))
    assert first == again
    assert len(set(first)) == len(first)


def test_nothing_in_a_while_loop_changes_so_that_no_slip_runs_for_ever() -> None:
    tree = definition(SOLUTION, "attend")
    assert tree is not None
    for mutation in mutations(tree):
        loops = [ast.unparse(node) for node in ast.walk(mutation.tree) if isinstance(node, ast.While)]
        assert loops == ["while weights.numel() < 0:\n    weights = weights + 1"]


HALVES = """
def halves(x):
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] + 1
    result[..., 1::2] = x[..., 1::2]
    return result
"""


def test_a_slip_that_leaves_entries_unwritten_gives_the_same_each_time() -> None:
    def define(source: str, exercise: str) -> Any:
        names: dict[str, Any] = {"torch": torch}
        exec(source, names)
        return names[exercise]

    called = {name for slip in mutants_of(HALVES, "halves", define) for name in slip.work.__code__.co_names}
    assert "zeros_like" in called
    assert "empty_like" not in called


def as_a_student(key: AnswerKey, exercise: str, work: object) -> Verdict:
    released = json.loads(json.dumps(key.fingerprints()))["exercises"]
    return ReleasedChecks(key.visible, released, key.shortcuts).judge(exercise, work)[0]


def as_graded(key: AnswerKey, exercise: str, work: object, seed: int = 77) -> Verdict:
    return key.verdict(exercise, seed, [check.values(work, seed) for check in key.checks_of(exercise)])


@pytest.fixture(scope="module")
def scores_key() -> AnswerKey:
    return key_of("01_why_attention")


def weights_reshaped(query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor) -> Tensor:
    """Answer exercise 1.2 with a mistake that nobody wrote down."""
    q, k = query @ w_q.reshape(-1, len(v)), key @ w_k.reshape(-1, len(v))
    return torch.tanh(q[:, :, None] + k[:, None]) @ v


@pytest.mark.parametrize("read", [as_a_student, as_graded])
def test_a_slip_that_no_author_listed_is_named_at_home_and_when_graded(scores_key: AnswerKey, read) -> None:
    verdict = read(scores_key, "additive_scores", weights_reshaped)
    assert verdict.failure is not None
    assert (verdict.failure.mistake, verdict.failure.relation) == (None, "slip")
    assert SLIPS["reshape"] in verdict.failure.message
    assert verdict.failure.unknown, "the report still groups what no author has named"


def test_slips_that_cannot_be_told_apart_are_named_together() -> None:
    assert one_slip(["a", "b", "a", "c"]) == ANSWERS["slip"].format(clauses="a, or if b")


def test_every_slip_of_a_solution_loses_points_or_changes_nothing(key: AnswerKey) -> None:
    """A mutation test of the checks: what survives here was looked at, and gives the right results."""
    survivors = {"copy_previous_qk": ["the logarithm is left out", "an addition, the one with `length`, is replaced"]}
    for exercise in key.exercises:
        for slip in key.slips_of(exercise):
            if as_graded(key, exercise, slip.work).passed:
                assert any(slip.message.startswith(known) for known in survivors.get(exercise, ())), slip.message
