"""Explaining is a list: the same in code, in docs/grading.md and in the record."""

import re
from pathlib import Path

import torch

from autograder.judging.case import Case
from autograder.judging.diagnose import EXPLAINERS, explanations, of_the_wrong_part
from autograder.judging.fingerprint import fingerprint
from autograder.judging.target import Target
from autograder.judging.values import Lost, Raised, Returned
from autograder.judging.verdict import judge

RIGHT = Returned(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
DOCS = Path(__file__).parent.parent / "docs" / "grading.md"


def target(**options: object) -> Target:
    return Target("one", "One check.", 1, fingerprint(RIGHT), **options)


def test_the_docs_list_the_explainers_in_their_order() -> None:
    listed = re.findall(r"^\d+\. `(\w+)`: ", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [explainer.__name__ for explainer in EXPLAINERS]


def test_the_first_explainer_that_applies_is_recorded() -> None:
    rules = {
        "relation": Returned(RIGHT.tree.mT),
        "exception": Raised("NameError", "name 'q' is not defined"),
        "what_is_there": Lost("It took longer than 20 seconds."),
        "too_large": Returned([0] * 100_000),
    }
    for rule, outcome in rules.items():
        assert judge("task", [target()], [outcome], {}).failure.rule == rule


def test_every_explainer_that_applies_can_be_asked() -> None:
    case = Case([target(mistakes={"sideways": fingerprint(Returned(RIGHT.tree.mT))})], [Returned(RIGHT.tree.mT)], 0)
    case = Case(case.targets, case.outcomes, 0, {"sideways": "It lies on its side."})
    assert [rule for rule, _ in explanations(case)] == [
        "known_mistake",
        "known_mistake_among_others",
        "relation",
        "what_is_there",
    ]


def test_of_a_hidden_check_an_explainer_says_no_number() -> None:
    hidden = judge("task", [target(hidden=True)], [Returned(RIGHT.tree.mT)], {}).failure
    shown = target(expected={"": RIGHT.tree})
    visible = judge("task", [shown], [Returned(RIGHT.tree.mT)], {}).failure
    assert hidden.message.endswith(visible.message)
    assert "not seen" in hidden.message
    assert visible.detail
    assert visible.picture
    assert (hidden.detail, hidden.picture) == ("", None)


def test_a_mistake_that_explains_a_part_says_nothing_about_the_others() -> None:
    assert of_the_wrong_part("The weights are right. No bias was copied.") == "No bias was copied."
    assert of_the_wrong_part("Right for one table.") == ""
