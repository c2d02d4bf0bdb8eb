"""What strikes the eye in a wrong answer: it is read off the code and the result, and claims no cause."""

import ast

import pytest
import torch
from autograder.judging.patterns import labels_seen

from autograder.authoring.lesson_package import package_of
from autograder.judging.case import Case
from autograder.judging.diagnose import explain, explanations
from autograder.judging.exceptions import meaning
from autograder.judging.fingerprint import fingerprint
from autograder.judging.observations import arguments_in_effect, calls_in, observed, strange_calls, unread_parameters
from autograder.judging.sentences import OBSERVED
from autograder.judging.target import Target
from autograder.judging.values import Outcome, Raised, Returned
from autograder.paths import find_course

RIGHT = torch.tensor([[1.0, 2.0, -3.0], [4.0, 5.0, -6.0]])
HALF = "def scale(scores, d_k):\n    return scores / 2"


def told(outcome: Outcome, source: str, **options: object) -> str:
    target = Target("one", "One check.", 1, fingerprint(Returned(RIGHT)), expected={"": RIGHT})
    return explain(Case([target], [outcome], 0, source=source, **options)).message


def test_an_argument_that_nothing_reads_is_named() -> None:
    assert told(Returned(RIGHT.sin()), HALF) == OBSERVED["unread"].format(name="d_k")


def test_beside_a_repair_nothing_else_is_said() -> None:
    case = Case([Target("one", "One.", 1, fingerprint(Returned(RIGHT)))], [Returned(RIGHT.sin())], 0, source=HALF)
    repaired = Case(case.targets, case.outcomes, 0, source=HALF, repair=lambda: "Line 2: every check passes.")
    assert next(explanations(repaired))[1].message == "Line 2: every check passes."


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("def f(x):\n    x.masked_fill(x > 0, 0)\n    return x", "`x.masked_fill(x > 0, 0)` stands alone"),
        ("def f(x):\n    x.masked_fill_(x > 0, 0)\n    return x", ""),
        ("def f(g, x):\n    return (g(x) != x).any()", "`g(x) != x` compares exactly"),
        ("def f(g, x):\n    return g(x).shape != x.shape", ""),
        ("def f(x):\n    a = []\n    a.append(x)\n    return a", ""),
    ],
)
def test_code_is_read(code: str, seen: str) -> None:
    assert observed(code).startswith(seen)
    assert bool(observed(code)) == bool(seen)


@pytest.mark.parametrize("lesson", ["04_softmax", "10_efficient_attention"])
def test_no_solution_strikes_the_eye(lesson: str) -> None:
    reference = package_of(find_course().lesson(lesson)).key.source.reference
    assert not observed(reference)


def test_a_step_that_no_solution_takes_is_named() -> None:
    solution = "def one(x):\n    return x.softmax(-1)\ndef two(x):\n    return one(x).argmax(-1)"
    assert calls_in(solution, "two") == ["softmax"]
    code = "def two(x):\n    return torch.multinomial(x.softmax(-1), 1)"
    assert "multinomial" in strange_calls(code, calls_in(solution, "two"))
    assert "softmax" not in strange_calls(code, calls_in(solution, "two"))


@pytest.mark.parametrize("stored", ["self.p = p\n        self.n = n", "self.p, self.n = p, n"])
def test_a_field_that_nothing_reads_leaves_its_argument_without_effect(stored: str) -> None:
    code = f"class M:\n    def __init__(self, p, n):\n        {stored}\n    def f(self):\n        {{}}"
    both, one = (arguments_in_effect(ast.parse(code.format(body))) for body in ("return self.n * self.p", "self.n"))
    assert both - one == {"__init__(p)"}
    assert unread_parameters(ast.parse("def f(a, _b, self): pass").body[0]) == ["a"]


def test_labels_say_which_was_taken_for_which() -> None:
    right = {"a": "scale", "b": "empty_row", "c": "none", "d": "dtype"}
    mine = {"a": "value", "b": "empty_row, mask_leak", "c": "value", "d": "none"}
    said = labels_seen(mine, right)
    for words in ("scale was taken for value", "Beside empty_row, mask_leak", "value came back", "Not found: dtype"):
        assert words in said
    assert labels_seen({"a": "yes", "b": "as little as 3"}, {"a": "no", "b": "x"}) == ""


def test_where_none_came_from_is_told_where_only_one_line_can_have_given_it() -> None:
    code = "def f(*masks):\n    result = masks[0]\n    for m in masks:\n        result = result & m\n    return result"
    error = Raised("TypeError", "unsupported: 'NoneType' and 'Tensor'", "result = result & m", "result is None")
    assert "`result = masks[0]` gave it" in meaning(error, source=code)[1]
    assert "left out" in meaning(error, source="def f(result, m):\n    result = result & m")[1]
    assert meaning(error)[1] == "`result` is None on that line."


def test_a_transpose_is_suggested_only_where_it_would_fit() -> None:
    text = "mat1 and mat2 shapes cannot be multiplied ({})"
    assert meaning(Raised("RuntimeError", text.format("8x5 and 6x3")))[0] == "no transpose"
    assert meaning(Raised("RuntimeError", text.format("8x5 and 6x5")))[0] == "matrix product"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x(y).isnan().any()", "`x(y).isnan()` is true for NaN alone"),
        ("y.isnan().any()", ""),
        ("torch.diagonal(x, -1)", "`torch.diagonal(x, -1)` names no axes, so it takes the first two."),
        ("x.diagonal(dim1=-2, dim2=-1)", ""),
        ("(x - x.max()).exp()", "`x.max()` names no axis, so it is one number of the whole tensor"),
        ("x / x.sum(dim=-1)", ""),
        ("x / y.sum()", ""),
        ("[row - row.max() for row in x]", ""),
    ],
)
def test_axes_that_nobody_named_and_a_question_about_nan_alone_are_pointed_out(code: str, said: str) -> None:
    words = observed(f"def f(x, y):\n    return {code}, x, y")
    assert words.startswith(said)
    assert bool(words) == bool(said)
