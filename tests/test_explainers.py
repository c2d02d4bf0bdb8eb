"""Explaining is a list: the same in code, in docs/grading.md and in the record. With `lessons explain`."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.__main__ import main
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.grading.package import LessonPackage
from autograder.judging.case import Case, Seen
from autograder.judging.diagnose import EXPLAINERS, explanations
from autograder.judging.fingerprint import fingerprint
from autograder.judging.recognize import speaks_of, without_praise
from autograder.judging.sentences import OBSERVED
from autograder.judging.target import Target
from autograder.judging.trial import Trials
from autograder.judging.values import Lost, Raised, Returned
from autograder.judging.verdict import judge

from .answer_keys import SEED, key_of
from .conftest import LESSON, needs_sandbox

RIGHT = Returned(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
DOCS = Path(__file__).parent.parent / "docs" / "grading.md"


def target(**options: object) -> Target:
    return Target("one", "One check.", 1, fingerprint(RIGHT), **options)


def test_the_docs_list_the_explainers_in_their_order() -> None:
    listed = re.findall(r"^\d+\. `(\w+)`: ", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [explainer.__name__ for explainer in EXPLAINERS]


def test_the_first_explainer_that_applies_is_recorded() -> None:
    rules = {
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
        "what_is_there",
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("It lies on its side. Was .mT forgotten?", "It lies on its side. {}"),
        ("It lies on its side: swap the axes.", "It lies on its side: swap the axes."),
    ],
)
def test_a_repair_is_looked_for_in_place_of_a_question_alone(words: str, expected: str) -> None:
    wrong = Returned(RIGHT.tree.mT)
    passes, asked = "Without `x` in line 2, every check passes.", []
    case = Case([target(mistakes={"sideways": fingerprint(wrong)})], [wrong], 0, {"sideways": words})
    _, explanation = next(explanations(replace(case, search=lambda: asked.append(words) or Seen(repair=passes))))
    assert (explanation.message, bool(asked)) == (expected.format(passes), "{}" in expected)


def test_a_repair_stands_beside_an_authors_words_that_others_share() -> None:
    wrong, passes = Returned(RIGHT.tree > 0), "Without `> 0` in line 2, every check passes."
    case = Case([target(mistakes={"asks": fingerprint(wrong)})], [wrong], 0, {"asks": "It is yes or no."})
    _, explanation = next(explanations(replace(case, search=lambda: Seen(repair=passes))))
    assert explanation.message == f"It is yes or no. {passes}"


def test_of_a_hidden_check_an_explainer_says_no_number() -> None:
    hidden = judge("task", [target(hidden=True)], [Returned(RIGHT.tree.mT)], {}).failure
    visible = judge("task", [target(expected={"": RIGHT.tree})], [Returned(RIGHT.tree.mT)], {}).failure
    assert not re.search(r"\d", hidden.message)
    assert "not seen" in hidden.message
    assert visible.picture
    assert (hidden.detail, hidden.picture) == ("", None)


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ("Right for one row, but it stopped on two: `.t()` is for tables.", "It stopped on two: `.t()` is for tables."),
        ("Right for one row. Two rows are a table.", "Two rows are a table."),
        ("Right on paper. But exp is large.", "Exp is large."),
        ("`dim=1` is right for one text, but a batch has more axes.", "A batch has more axes."),
        ("a.mT: the rows are too short.", "a.mT: the rows are too short."),
    ],
)
def test_where_nothing_passes_no_part_is_praised(words: str, rest: str) -> None:
    assert without_praise(words) == rest


PRAISED = {"sideways": "Right for one table. With more, it lies on its side."}


def test_an_error_says_nothing_about_what_is_right() -> None:
    error = Raised("RuntimeError", "no")
    known = target(mistakes={"sideways": fingerprint(error)})
    assert judge("task", [known], [error], PRAISED).failure.message == "With more, it lies on its side."
    both = judge("task", [target(), known], [RIGHT, error], PRAISED)
    assert both.failure.message == PRAISED["sideways"]


def test_words_about_an_operation_are_told_of_code_that_has_it() -> None:
    words = "A power of 0 stays 0."
    assert speaks_of(words, "def f(x, t):\n    return x ** t")
    assert speaks_of(words, "def f(x, t):\n    return torch.pow(x, t)")
    assert not speaks_of(words, "def f(x, t):\n    return x / t")
    assert speaks_of("`torch.mm` knows no batch. `@` does.", "def f(x, y):\n    return x.mm(y)")
    assert not speaks_of("`torch.mm` knows no batch. `@` does.", "def f(x, y):\n    return x * y")
    assert speaks_of("It has to be e to the power of x.", "def f(x):\n    return x.exp()")


def test_a_yes_or_no_is_not_explained_by_an_operation_that_the_code_lacks() -> None:
    asked = Target("one", "One check.", 1, fingerprint(Returned(True)), {"power": fingerprint(Returned(False))})
    judged = [
        judge(
            "task", [asked], [Returned(False)], {"power": "A power was taken."}, source=f"def f(x):\n    return {code}"
        )
        for code in ("x ** 2", "x")
    ]
    assert [verdict.failure.rule for verdict in judged] == ["known_mistake", "what_is_there"]


def test_where_nothing_visible_tells_a_mistake_it_has_to_agree_on_every_hidden_check() -> None:
    texts = [Returned(text) for text in ("leak", "none", "dtype")]
    right, mine, _ = map(fingerprint, texts)
    hidden = [Target(name, "One check.", 1, right, {"axes": mine}, hidden=True) for name in ("one", "two")]
    for outcomes, rule in ((texts[1:2] * 2, "known_mistake"), (texts[1:], "what_is_there")):
        assert judge("task", hidden, outcomes, {"axes": "Try more axes."}).failure.rule == rule


def test_what_an_author_leaves_open_gives_way_to_a_proof() -> None:
    known = target(mistakes={"sideways": fingerprint(Returned(RIGHT.tree.mT))})
    words = {"sideways": "It lies on its side. Is a transpose missing? Either here or there."}
    proof = "Without `.mT` in line 2, every check passes."
    verdict = judge("task", [known], [Returned(RIGHT.tree.mT)], words, search=lambda: Seen(repair=proof))
    assert verdict.failure.message == f"It lies on its side. {proof}"


PLAIN_NUMBERS = """
def soft_lookup(query, key, value, temperature=1.0):
    scores = torch.tensor([(k @ query).item() for k in key], dtype=value.dtype)
    return (scores / temperature).softmax(0) @ value
"""


def test_where_a_gradient_is_lost_the_line_is_named() -> None:
    key, exercise = key_of("01_why_attention"), "soft_lookup"
    names = {**key.reference, exercise: key.define(PLAIN_NUMBERS, exercise)}
    outcomes = [check.values(names[exercise], SEED) for check in key.checks_of(exercise)]
    failure = key.verdict(exercise, SEED, outcomes, PLAIN_NUMBERS, Trials(names, exercise, 20.0).run).failure
    assert failure.mistake == "no_gradient"
    assert failure.message.endswith(OBSERVED["cut"].format(cut="line 3, `(k @ query).item()`"))


def test_what_a_layer_is_called_makes_no_other_mistake() -> None:
    texts = ("none", "head.weight (2, 3)", "out.weight (2, 3)")
    right, mine, theirs = (Returned({"others": text}) for text in texts)
    asked = Target("one", "One check.", 1, fingerprint(right), {"untied": fingerprint(theirs)})
    assert judge("task", [asked], [mine], {"untied": "It is untied."}).failure.mistake == "untied"


WEIGHTS_FIRST = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    return weights, weights @ value
"""


def test_who_is_explained_once_more_runs_no_edit_again() -> None:
    key, source = key_of(LESSON), "def attend(query, key, value):\n    return query, value + 1\n"
    work, runs = key.define(source, "attend"), []

    def run(edited: str, check: object, seed: int) -> Returned:
        runs.append(edited)
        return Returned(torch.zeros(1))

    outcomes = [check.values(work, SEED) for check in key.checks_of("attend")]
    verdict = key.verdict("attend", SEED, outcomes, source, run)
    said, before = list(explanations(verdict.case)), len(runs)
    assert before
    assert list(explanations(verdict.case)) == said
    assert len(runs) == before


@needs_sandbox
def test_every_explainer_is_asked_and_the_first_one_is_marked(
    package: LessonPackage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = tmp_path / "handed_in.ipynb"
    notebook.write_text(notebook_text(submission(package, {"attend": WEIGHTS_FIRST})), encoding="utf-8")
    assert main(["explain", "--lesson", LESSON, "--exercise", "attend", "--from", str(notebook)]) == 0
    first, second, *said = capsys.readouterr().out.splitlines()
    assert first == "attend: 0 of 4 checks passed"
    assert second.startswith("first failed: ")
    assert said[0].startswith("> known_mistake (")
    assert {"- repair", "- what_is_there"} <= {line.split(":")[0] for line in said[1:]}


def test_an_exercise_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--lesson", LESSON, "--exercise", "atend", "--from", "ada"]) == 2
    assert "'atend' is not an exercise" in capsys.readouterr().err
