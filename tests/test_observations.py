"""What strikes the eye in a wrong answer: it is read off the code and the result, and claims no cause."""

import ast
from dataclasses import replace

import pytest
import torch

from autograder.judging.case import Case, Seen
from autograder.judging.diagnose import explain, explanations
from autograder.judging.fingerprint import fingerprint
from autograder.judging.observations import (
    arguments_in_effect,
    calls_in,
    own_steps,
    steps_of_answers,
    unread_parameters,
)
from autograder.judging.sentences import OBSERVED
from autograder.judging.target import Target
from autograder.judging.values import Outcome, Raised, Returned

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


SOLUTION = "def scale(x, d):\n    return helper(x) / d\ndef helper(x):\n    return x.log2()"


KNOWN = ["mean"]


def test_what_right_answers_do_is_read_off_all_of_them() -> None:
    other = "def scale(x, d):\n    return x.mean(0)"
    assert steps_of_answers("scale", SOLUTION) == ["log2"]
    assert steps_of_answers("scale", SOLUTION, [other]) == ["log2", "mean"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x.mean(-1, keepdim=True) / d", ""),
        ("x.argmax(-1)", "Line 2, `x.argmax(-1)`, keeps only places, not how large the entries are: no known"),
        ("x.tanh().std()", "Line 2, `x.tanh().std()`, measures a spread, and takes a tanh: no known"),
        ("x.abs().std().tanh().softmax(0)", ""),
    ],
)
def test_the_few_steps_that_no_right_answer_takes_are_named(body: str, said: str) -> None:
    words = "".join(own_steps(f"def scale(x, d):\n    return {body}", KNOWN))
    assert words.startswith(said)
    assert bool(words) == bool(said)


def test_no_step_is_named_beside_an_error_or_a_repair() -> None:
    case = Case([Target("one", "One.", 1, fingerprint(Returned(RIGHT)))], [Raised("KeyError", "x")], 0, steps=list)
    again = replace(case, source="def f(x):\n    return x.argmax()")
    assert "argmax" not in next(explanations(again))[1].message
    returned = replace(again, outcomes=[Returned(-RIGHT)])
    assert "argmax" in next(explanations(returned))[1].message
    repaired = replace(returned, search=lambda: Seen(repair="Line 2: every check passes."))
    assert "argmax" not in [*explanations(repaired)][-1][1].message


@pytest.mark.parametrize("stored", ["self.p = p\n        self.n = n", "self.p, self.n = p, n"])
def test_a_field_that_nothing_reads_leaves_its_argument_without_effect(stored: str) -> None:
    code = f"class M:\n    def __init__(self, p, n):\n        {stored}\n    def f(self):\n        {{}}"
    both, one = (arguments_in_effect(ast.parse(code.format(body))) for body in ("return self.n * self.p", "self.n"))
    assert both - one == {"__init__(p)"}
    assert unread_parameters(ast.parse("def f(a, _b, self): pass").body[0]) == ["a"]


def test_a_long_answer_goes_its_own_way() -> None:
    code = "def f(x):\n" + "    x = x * 2\n" * 30 + "    return x.argmax()"
    assert own_steps(code, []) == []
