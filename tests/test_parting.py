"""A trace: up to where a wrong answer's numbers are those of a solution, in any order, layout and loop."""

import ast
import json
from typing import Any

import pytest
import torch

from autograder.judging import parting
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.parsing import parse
from autograder.judging.parting import Numbers, Walk, is_table, numbers_of, packed, steps_in, steps_of, unpacked
from autograder.judging.sentences import TRACED
from autograder.judging.trace import Trace, rewritten
from autograder.judging.trial import Trials
from autograder.judging.values import Returned

from .answer_keys import SEED, key_of

Q, K, V = (torch.randn(*shape, generator=torch.Generator().manual_seed(1)) for shape in ((5, 4), (7, 4), (7, 3)))
SOLUTION = """
def attend(q, k, v):
    weights = (q @ k.mT / q.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ v
"""


def looked_at(source: str, *, widely: bool = False) -> tuple[ast.Module, Any, torch.Tensor]:
    """Run a function on the inputs above, and return what was seen."""
    tree = parse(source)
    code = rewritten(tree, widely=widely)
    names: dict[str, Any] = {"torch": torch}
    exec(code.source, names)
    names["attend"](Q, K, V)
    return tree, code.places, names["__trace__"].table()


STEPS = steps_in(*looked_at(SOLUTION, widely=True))


def told(*lines: str, steps: list[Numbers] = STEPS) -> str:
    """Return what is told about a body of the function."""
    source = "\n    ".join(["def attend(q, k, v):", *lines])
    tree, places, table = looked_at(source)
    return Walk(tree, places, table, steps, source).found()


@pytest.mark.parametrize(
    ("lines", "known", "other"),
    [
        (
            ("scores = q @ k.mT", "scores = scores / 2", "return scores.softmax(dim=0) @ v"),
            "`scores / 2` in line 3",
            "line 4, `scores.softmax(dim=0)`",
        ),
        (
            ("scores = q @ k.mT", "weights = scores.softmax(dim=-1)", "return weights @ v"),
            "`q @ k.mT` in line 2",
            "line 3, `scores.softmax(dim=-1)`",
        ),
        (
            ("w = (q @ k.mT / 2).softmax(dim=-1)", "return (w @ v).tanh()"),
            "`w @ v` in line 3",
            "line 3, `(w @ v).tanh()`",
        ),
        (
            (
                "rows = [(row @ k.mT / 2).softmax(dim=0) for row in q]",
                "return torch.stack([w.cumsum(0) @ v for w in rows])",
            ),
            "`(row @ k.mT / 2).softmax(dim=0)` in line 2",
            "line 3, `w.cumsum(0)`",
        ),
    ],
)
def test_where_the_numbers_part_is_told(lines: tuple[str, ...], known: str, other: str) -> None:
    assert told(*lines) == TRACED.format(known=known, other=other)


@pytest.mark.parametrize(
    "lines",
    [
        ("return (q @ k.mT / 2).softmax(dim=-1) @ v",),
        ("return ((k / 2) @ q.mT).softmax(dim=0).mT @ v",),
        ("e = (q @ k.mT / 2 - (q @ k.mT / 2).amax(-1, True)).exp()", "return e / e.sum(-1, True) @ v"),
        (
            "rows = []",
            "for row in q:",
            "    scores = torch.stack([row @ key for key in k]) / 2",
            "    rows.append(scores.softmax(dim=0) @ v)",
            "return torch.stack(rows)",
        ),
        ("return torch.einsum('ls,sd->ld', (torch.einsum('ld,sd->ls', q, k) / 2).softmax(dim=-1), v)",),
    ],
)
def test_another_way_to_write_it_parts_nowhere(lines: tuple[str, ...]) -> None:
    assert not told(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("return (q.cosh() @ k.mT).softmax(dim=-1) @ v",),  # none of a solution's numbers come before
        ("q.cosh()", "return (q @ k.mT).softmax(dim=0) @ v"),  # some of them come after
        ("return torch.randn(5, 3)",),
        ("return torch.dropout(q @ k.mT, 0.5, True) @ v",),
        ("def inner(function):", "    return function(q @ k.mT)", "return inner(torch.tanh) @ v"),
    ],
)
def test_where_the_run_does_not_fall_into_two_parts_or_depends_on_chance_nothing_is_told(
    lines: tuple[str, ...],
) -> None:
    assert not told(*lines)


def test_the_numbers_of_another_right_answer_are_those_of_a_solution() -> None:
    key = key_of("02_queries_keys_values")
    check = key.checks_of("attend")[0]
    way = "def attend(query, key, value):\n    return (query.cosh() - query.cosh() + query) @ key.mT @ value"
    alone, both = (steps_of(ways, key.source.reference, key.reference, check, SEED) for ways in ([""], ["", way]))
    assert both[: len(alone)] == alone != both


def test_a_right_answer_that_takes_long_to_look_at_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of("02_queries_keys_values")
    check = key.checks_of("attend")[0]
    way = "def attend(query, key, value):\n    for _ in range(3):\n        query.cosh()\n    return query @ value"
    given = key.source.reference, key.reference, check, SEED
    alone, both = steps_of([""], *given), steps_of(["", way], *given)
    monkeypatch.setattr(parting, "MOST_LOOKS", 2)
    assert steps_of(["", way], *given) == alone != both


def test_a_lessons_variants_and_spellings_are_known_to_the_trace() -> None:
    key = key_of("03_scaling")
    assert {"spelled"} < {variant.name for variant in key.variants if variant.exercise == "score_std"}
    (target,) = (t for t in key.targets("score_std", SEED) if t.name == key.checks_of("score_std")[0].name)
    alone = steps_of([""], key.source.reference, key.reference, key.checks_of("score_std")[0], SEED)
    assert len(target.steps()) > len(alone)


def test_a_student_gets_a_few_rounded_numbers_that_tell_the_same() -> None:
    given = unpacked(json.loads(json.dumps(packed(STEPS))))
    assert all(mine.is_like(theirs) for mine, theirs in zip(given, STEPS, strict=True))
    lines = ("scores = q @ k.mT", "return (scores / 2).softmax(dim=0) @ v")
    assert told(*lines, steps=given) == told(*lines) != ""


def test_what_is_kept_of_a_value_knows_no_order_and_no_layout() -> None:
    x = torch.randn(3, 4, dtype=torch.float64)
    kept = []
    for values in ([x], [x.mT], [x.flip(0).flatten()], list(x), [x.tolist()], [x.numpy()]):
        trace = Trace()
        for value in values:
            trace(value, 0)
        kept.append(numbers_of(trace.table()[0].tolist()))
    assert all(numbers.is_like(kept[0]) for numbers in kept)
    assert not any(numbers_of(row).is_like(kept[0]) for row in seen(x * 1.001).tolist())


def seen(value: Any) -> torch.Tensor:
    trace = Trace()
    trace(value, 0)
    return trace.table()


def test_of_a_table_of_zeros_and_ones_the_order_counts() -> None:
    mask = torch.ones(4, 4).tril()
    one, other, inverted = (numbers_of(seen(x)[0].tolist()) for x in (mask, mask.mT, mask == 0))
    assert not one.is_like(other)
    assert inverted.is_like(one)
    assert numbers_of(seen(torch.zeros(3, 4))[0].tolist()).is_constant


HONEST = seen(Q)


@pytest.mark.parametrize(
    "forged",
    [
        None,
        [1.0, 2.0],
        HONEST[0],
        HONEST[:, :4],
        HONEST.float(),
        HONEST + 5,
        torch.cat([HONEST, HONEST]),
        HONEST * torch.inf,
        torch.full_like(HONEST, 1e300),
        torch.zeros_like(HONEST),
        torch.full_like(HONEST, torch.nan),
    ],
)
def test_a_forged_table_is_none(forged: Any) -> None:
    assert is_table(HONEST, [ast.Pass()])
    assert not is_table(forged, [ast.Pass()])


def test_no_solution_parts_from_itself_at_home_and_graded() -> None:
    key, compared = key_of("03_scaling"), 0
    for exercise in key.exercises:
        source = key.source.reference
        tree = ast.Module([node for node in parse(source).body if getattr(node, "name", "") == exercise], [])
        for check, seed in ((check, seed) for check in key.checks_of(exercise) for seed in (PUBLIC_SEED, SEED)):
            code = rewritten(tree)
            outcome = Trials(key.reference, exercise, 60.0).run(code.source, check, seed)
            if not isinstance(outcome, Returned):
                continue  # it takes longer than a trial may
            compared += 1
            steps = next(t for t in key.targets(exercise, seed) if t.name == check.name).steps()
            walk = Walk(tree, code.places, outcome.tree, unpacked(json.loads(json.dumps(packed(steps)))), source)
            assert is_table(outcome.tree, code.places)
            assert not walk.found()
    assert compared > 10
