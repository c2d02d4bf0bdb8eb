"""What strikes the eye in a wrong answer: it is read off the code and the result, and claims no cause."""

import ast

import pytest
import torch

from autograder.judging.case import Case, Seen
from autograder.judging.diagnose import explain, explanations
from autograder.judging.fingerprint import fingerprint
from autograder.judging.observations import (
    arguments_in_effect,
    calls_in,
    unread_parameters,
)
from autograder.judging.sentences import OBSERVED
from autograder.judging.target import Target
from autograder.judging.values import Outcome, Returned

RIGHT = torch.tensor([[1.0, 2.0, -3.0], [4.0, 5.0, -6.0]])
HALF = "def scale(scores, d_k):\n    return scores / 2"


def told(outcome: Outcome, source: str, **options: object) -> str:
    target = Target("one", "One check.", 1, fingerprint(Returned(RIGHT)), expected={"": RIGHT})
    return explain(Case([target], [outcome], 0, source=source, **options)).message


def test_an_argument_that_nothing_reads_is_named() -> None:
    assert told(Returned(RIGHT.sin()), HALF).endswith(OBSERVED["unread"].format(name="d_k"))


def test_beside_a_repair_nothing_else_is_said() -> None:
    case = Case([Target("one", "One.", 1, fingerprint(Returned(RIGHT)))], [Returned(RIGHT.sin())], 0, source=HALF)
    repaired = Case(
        case.targets, case.outcomes, 0, source=HALF, search=lambda: Seen(repair="Line 2: every check passes.")
    )
    assert next(explanations(repaired))[1].message == "Line 2: every check passes."


def test_what_a_solution_calls_is_known() -> None:
    solution = "def one(x):\n    return x.softmax(-1)\ndef two(x):\n    return one(x).argmax(-1)"
    assert calls_in(solution, "two") == ["softmax"]


@pytest.mark.parametrize("stored", ["self.p = p\n        self.n = n", "self.p, self.n = p, n"])
def test_a_field_that_nothing_reads_leaves_its_argument_without_effect(stored: str) -> None:
    code = f"class M:\n    def __init__(self, p, n):\n        {stored}\n    def f(self):\n        {{}}"
    both, one = (arguments_in_effect(ast.parse(code.format(body))) for body in ("return self.n * self.p", "self.n"))
    assert both - one == {"__init__(p)"}
    assert unread_parameters(ast.parse("def f(a, _b, self): pass").body[0]) == ["a"]
