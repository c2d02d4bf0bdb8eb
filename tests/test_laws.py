"""Laws: what holds of every right answer, told to whoever breaks one where nothing else explains what is wrong."""

from dataclasses import replace

import pytest

from autograder.authoring.proofs import refusals
from autograder.judging.case import Case, Seen
from autograder.judging.check import Law
from autograder.judging.diagnose import explain
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.repairs import laws_told
from autograder.judging.sentences import ANSWERS
from autograder.judging.trial import Trials
from autograder.judging.values import Lost, Outcome, Raised, Returned
from autograder.paths import find_course
from autograder.student.repairing import search_in_copy

from .answer_keys import SEED, key_of

LESSONS = [lesson.name for lesson in find_course().lessons()]
KEY = key_of("02_queries_keys_values")
DISTANCES = """
def attention_scores(query, key):
    return -0.5 * (query.unsqueeze(-2) - key.unsqueeze(-3)).pow(2).sum(dim=-1)
"""
LINEAR = next(law for law in KEY.laws if law.name == "linear_in_the_query")
TOLD = ANSWERS["law"].format(law=f"“{LINEAR.title}”")


def answer(cell: str) -> tuple[list[Outcome], Trials]:
    """Return what all checks give on a cell's attention_scores, and what tries cells out."""
    names = dict(KEY.reference)
    exec(cell, names)
    outcomes = [check.values(names["attention_scores"], SEED) for check in KEY.checks_of("attention_scores")]
    return outcomes, Trials(names, "attention_scores", seconds=60)


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("seed", [PUBLIC_SEED, SEED])
def test_every_solution_obeys_its_laws(lesson: str, seed: int) -> None:
    key = key_of(lesson)
    broken = {law.name: law.values(key.reference[law.exercise], seed) for law in key.laws}
    assert {name: outcome for name, outcome in broken.items() if getattr(outcome, "tree", None) is not True} == {}


def test_a_right_answer_that_breaks_a_law_is_no_right_answer_or_it_is_no_law() -> None:
    never = replace(KEY, laws=(Law("attention_scores", "never", 0, "It never holds.", lambda work, draw: False),))
    assert not list(refusals(KEY, "attention_scores", KEY.reference["attention_scores"], [SEED]))
    found = list(refusals(never, "attention_scores", KEY.reference["attention_scores"], [SEED]))
    assert found == [f"breaks the law never with seed {SEED}"]


def test_the_law_is_told_when_graded() -> None:
    outcomes, trials = answer(DISTANCES)
    verdict = replace(KEY, laws=(LINEAR,)).verdict("attention_scores", SEED, outcomes, DISTANCES, trials.run)
    assert verdict.failure is not None
    assert verdict.failure.message.endswith(TOLD)


def test_the_law_is_told_at_home() -> None:
    checks = [check for check in KEY.visible if check.exercise == "attention_scores"]
    targets = [t for t in KEY.targets("attention_scores", PUBLIC_SEED) if not t.hidden]
    names = dict(KEY.reference)
    exec(DISTANCES, names)
    outcomes = [check.values(names["attention_scores"], PUBLIC_SEED) for check in checks]
    assert search_in_copy(DISTANCES, checks, targets, outcomes, names, (), [LINEAR]).law == TOLD


def test_no_law_is_told_beside_a_proof_that_says_what_to_do_or_of_what_takes_too_long() -> None:
    case = Case(KEY.targets("attention_scores", SEED), [Returned(0.0)] * len(KEY.checks_of("attention_scores")), 0)
    proved = Seen(repair="Without `x` in line 2, every check passes.", law=TOLD)

    def message(case: Case, seen: Seen) -> str:
        return explain(replace(case, search=lambda: seen)).message

    assert TOLD in message(case, Seen(law=TOLD))
    assert TOLD in message(case, Seen(repair="Line 2, `x`: with another function, every check passes.", law=TOLD))
    assert TOLD not in message(case, proved)
    assert TOLD not in message(replace(case, outcomes=[Lost("It took too long.")] * len(case.outcomes)), Seen(law=TOLD))


def test_an_error_breaks_no_law() -> None:
    error, yes, no = Raised("TypeError", ""), Returned(True), Returned(False)
    assert laws_told({"one": error}) == laws_told({"one": error, "two": yes}) == ""
    assert laws_told({"one": error, "two": yes, "three": no}) == ANSWERS["law"].format(law="“three”")


def test_two_laws_are_told_where_more_are_broken() -> None:
    told = laws_told(dict.fromkeys(("one", "two", "three"), Returned(False)))
    assert told == ANSWERS["laws"].format(law="“one” “two”")
