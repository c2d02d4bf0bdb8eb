"""What a student reads about a visible check is the same at home and when it is graded, but for numbers."""

import ast
import re
from collections.abc import Iterator

import pytest

from autograder.judging.answer_key import AnswerKey
from autograder.judging.edits import Mutant
from autograder.judging.neighbors import edits_of
from autograder.judging.syntax import definition
from autograder.judging.trial import Trials
from autograder.judging.verdict import Verdict
from autograder.student import repairing

from .answer_keys import SEED, defined_in_a_cell, key_of, released

SAMPLE = 40
SECONDS = 4.0  # of processor time for a search on either side, which takes less than one
LESSON = "01_why_attention"


def sample(key: AnswerKey) -> Iterator[Mutant]:
    """Yield wrong answers that no author has listed, evenly from all exercises: the solution with one edit."""
    for exercise in key.exercises:
        solution = definition(key.source.reference, exercise)
        assert solution
        tree = ast.Module([solution], [])
        edits = edits_of(tree, ast.unparse(tree))
        for number, edit in enumerate(edits[:: -(-len(edits) * len(key.exercises) // SAMPLE)]):
            with edit.applied():
                source = ast.unparse(ast.fix_missing_locations(tree))
            yield Mutant(exercise, f"{exercise}_{number}", "", source, key.define)


def told(verdict: Verdict) -> str:
    assert verdict.failure is not None
    return re.sub(r"-?\d+(\.\d+)?", "…", f"{verdict.failure.rule}: {verdict.failure.message}")


@pytest.mark.slow
def test_the_same_words_come_out_at_home_and_when_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "TRIED", SECONDS)
    key = key_of(LESSON)
    compared = 0
    for wrong in sample(key):
        exercise, names = wrong.exercise, dict(key.reference)
        work = defined_in_a_cell(wrong.source, names, exercise)
        home = released(LESSON).judge(exercise, work, names)[0]
        outcomes = [check.values(work, SEED) for check in key.checks_of(exercise)]
        graded = key.verdict(exercise, SEED, outcomes, wrong.source, Trials(names, exercise, SECONDS).run)
        if home.failure and graded.failure and home.failure.title == graded.failure.title:
            compared += 1
            assert told(home) == told(graded), wrong.source
    assert compared
