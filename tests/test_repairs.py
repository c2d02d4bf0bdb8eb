"""A repair: what the student's own code passes with. It is run, it says the line, and not what to write instead."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch

from autograder.judging import tried
from autograder.judging.fingerprint import fingerprint
from autograder.judging.inputs import PUBLIC_SEED
from autograder.judging.neighbors import MOST_EDITS, edits_of
from autograder.judging.repairs import Repair, Search
from autograder.judging.target import Target
from autograder.judging.trial import NO_TIME_LEFT, Trials, definitions_in
from autograder.judging.tried import MOST_READ
from autograder.judging.values import Outcome, Returned

from .answer_keys import key_of


def repair(
    lesson: str,
    exercise: str,
    cell: str,
    seconds: float = 20.0,
    needed: Sequence[str] = (),
    laws: Mapping[str, Outcome] = {},
) -> Repair | None:
    """Look for a repair with the visible checks, as at home but with time enough on a busy computer."""
    key = key_of(lesson)
    checks = [check for check in key.visible if check.exercise == exercise]
    targets = key.targets(exercise, PUBLIC_SEED)[: len(checks)]
    names: dict[str, Any] = dict(key.reference)
    exec(cell, names)
    outcomes = [check.summarize(check.values(names[exercise], PUBLIC_SEED)) for check in checks]
    trials = Trials(key.reference, exercise, seconds)

    def run(source: str, i: int) -> Any:
        return checks[i].summarize(trials.run(source, checks[i], PUBLIC_SEED))

    found = list(Search(cell, targets, outcomes, run, needed=needed, laws=lambda source: laws).repairs())
    return found[-1] if found else None


def sentence(lesson: str, exercise: str, cell: str) -> str:
    found = repair(lesson, exercise, cell)
    return found.sentence if found else ""


WITHOUT_AN_AXIS = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax()
    return weights @ value, weights
"""
FALSE_LIKE_ZERO = """
def scaled_attend(query, key, value, scale=None):
    if not scale:
        scale = query.size(-1) ** -0.5
    weights = (query @ key.mT * scale).softmax(dim=-1)
    return weights @ value, weights
"""
BOTH_SCALED = """
def scaled_attend(query, key, value, scale=None):
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    query = query * scale
    key = key * scale
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value, weights
"""
FLOATS = """
def attention_scores(query, key):
    return query.float() @ key.float().mT
"""
DROPOUT = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    weights = torch.nn.functional.dropout(weights, 0.1)
    return weights @ value, weights
"""
FIXED_WIDTH = """
def soft_lookup(query, key, value, temperature=1.0):
    shares = (key @ query / temperature).softmax(dim=-1)
    output = torch.zeros(3)
    for share, v in zip(shares, value, strict=True):
        output = output + share * v
    return output
"""
TWO_SLIPS = """
def attend(query, key, value):
    scores = query.float() @ key.float().mT
    weights = scores.softmax(dim=1)
    return weights @ value, weights
"""
ALL_HEADS_SHARED = """
def repeat_kv(x, n_rep):
    groups = x.size(1)
    if n_rep % groups:
        raise ValueError("heads cannot be shared evenly")
    return x.repeat_interleave(n_rep // groups, dim=1)
"""
WEIGHTS_LEFT = """
def scaled_dot_product_attention(query, key, value, mask=None, *, scale=None):
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    output = weights @ value
    output = output.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return output, weights
"""
FIRST_MERGE_FALSE = """
def split_word(word, merges):
    ranks, tokens = {pair: rank for rank, pair in enumerate(merges)}, list(word)
    while known := [pair for pair in itertools.pairwise(tokens) if ranks.get(pair)]:
        tokens = merge(tokens, min(known, key=ranks.get))
    return tokens
"""
KEYS_MIXED = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ (key * 1), weights
"""
DROPPING_ALWAYS = """
def attend(query, key, value, dropout=0.0):
    weights = (query @ key.mT).softmax(dim=-1)
    weights = torch.nn.functional.dropout(weights, dropout + 0.5)
    return weights @ value, weights
"""
WITHOUT_A_MINUS = """
def softmax_jacobian(weights):
    n = weights.size(-1)
    table = torch.zeros(*weights.shape, n, dtype=weights.dtype)
    for i in range(n):
        for j in range(n):
            if i == j:
                table[..., i, j] = weights[..., i] * (1 - weights[..., i])
            else:
                table[..., i, j] = weights[..., i] * weights[..., j]
    return table
"""
ONE_DRAW_ELSEWHERE = """
def score_std(d_k, n, generator):
    q = torch.randn(n, d_k, generator=generator)
    k = torch.randn(n, d_k)
    scores = (q * k).sum(dim=-1)
    return scores.std().item(), (scores / math.sqrt(d_k)).std().item()
"""


@pytest.mark.parametrize(
    ("lesson", "exercise", "cell", "said"),
    [
        (
            "03_scaling",
            "softmax_jacobian",
            WITHOUT_A_MINUS,
            "Line 10, `weights[..., i] * weights[..., j]`: with the op",
        ),
        ("03_scaling", "score_std", ONE_DRAW_ELSEWHERE, "Line 4, `torch.randn(n, d_k)`: with the generator passed on"),
        ("02_queries_keys_values", "attend", WITHOUT_AN_AXIS, "Line 3, `(query @ key.mT).softmax()`: along one axis,"),
        ("03_scaling", "scaled_attend", FALSE_LIKE_ZERO, "Line 3, `not scale`: if it asks whether that is None"),
        (
            "03_scaling",
            "scaled_attend",
            BOTH_SCALED,
            "Without `* scale` in line 4, every check passes. The same change",
        ),
        ("02_queries_keys_values", "attention_scores", FLOATS, "Without `.float()` in line 3, both times,"),
        ("02_queries_keys_values", "attend", DROPOUT, "Without `torch.nn.functional.dropout(…)` in line 4,"),
        (
            "01_why_attention",
            "soft_lookup",
            FIXED_WIDTH,
            "Line 4, `torch.zeros(3)`: with a size of one of the arguments",
        ),
        ("02_queries_keys_values", "attend", TWO_SLIPS, "With two changes, every check passes: "),
        (
            "10_efficient_attention",
            "repeat_kv",
            ALL_HEADS_SHARED,
            "With two changes, every check passes: without `raise",
        ),
        (
            "05_masking",
            "scaled_dot_product_attention",
            WEIGHTS_LEFT,
            "Line 7, `output = output.masked_fill(~mask.any(di … pdim=True), 0.0)`: with the same for `weights`",
        ),
        ("13_gpt", "split_word", FIRST_MERGE_FALSE, "Line 4, `ranks.get(pair)`: if it asks whether that is None"),
        (
            "02_queries_keys_values",
            "attend",
            KEYS_MIXED,
            "Line 4, `key`: with an argument in its place that nothing",
        ),
    ],
)
def test_a_fault_is_told_by_the_edit_that_passes(lesson: str, exercise: str, cell: str, said: str) -> None:
    words = sentence(lesson, exercise, cell)
    assert words.startswith(said)
    assert "every check passes" in words


def test_a_call_that_the_solution_makes_too_is_not_left_out() -> None:
    assert repair("02_queries_keys_values", "attend", DROPOUT)
    found = repair("02_queries_keys_values", "attend", DROPOUT, needed=("dropout",))
    assert found is None or "Without" not in found.sentence


RIGHT_IN_ONE_CASE_WITH_ONE_EDIT = """
def temperature_softmax(x, temperature, dim=-1):
    if temperature == 0.5:
        return (x // temperature).softmax(dim)
    return (0 - x).softmax(dim)
"""


def test_nothing_is_said_of_an_edit_that_makes_a_part_right_alone() -> None:
    assert not sentence("04_softmax", "temperature_softmax", RIGHT_IN_ONE_CASE_WITH_ONE_EDIT)


def test_nan_is_followed_to_where_it_comes_from() -> None:
    cell = "def stable_softmax(x, dim=-1):\n    y = (x * 1000).exp()\n    return y / y.sum(dim=dim, keepdim=True)"
    key = key_of("04_softmax")
    check = next(check for check in key.visible if check.exercise == "stable_softmax")
    trials = Trials(key.reference, "stable_softmax", 20.0)

    def run(source: str, _i: int = 0) -> Outcome:
        return check.summarize(trials.run(source, check, PUBLIC_SEED))

    def trace(source: str, _i: int) -> Outcome:
        return trials.run(source, check, PUBLIC_SEED)

    target = next(t for t in key.targets("stable_softmax", PUBLIC_SEED) if t.name == check.name)
    said = (
        "Infinity appears first in line 2, `(x * 1000).exp()`, and NaN in line 3, `y / y.sum(dim=dim, keepdim=True)`."
    )
    assert next(Search(cell, [target], [run(cell)], run, trace=trace).found()).nan.startswith(said)


def test_no_repair_leaves_an_argument_without_effect() -> None:
    assert "dropout" not in sentence("02_queries_keys_values", "attend", DROPPING_ALWAYS)


def test_nothing_is_said_where_no_edit_passes() -> None:
    assert repair("02_queries_keys_values", "attend", "def attend(query, key, value):\n    return value.sort()") is None


def test_nothing_is_said_where_the_cell_does_not_define_what_failed() -> None:
    cell = "def attend(query, key, value):\n    return 0\nattend = lambda query, key, value: 1"
    assert repair("02_queries_keys_values", "attend", cell) is None


def test_the_same_answer_is_told_the_same() -> None:
    first, again = (repair("03_scaling", "scaled_attend", BOTH_SCALED) for _ in range(2))
    assert first
    assert again
    assert first.sentence == again.sentence


@pytest.mark.parametrize(
    "body", ["while True:\n        pass", "for i in iter(int, 1):\n        x = i", "f = lambda: f()\n    return f()"]
)
def test_an_endless_neighbor_is_stopped(body: str) -> None:
    check = next(check for check in key_of("03_scaling").visible if check.exercise == "scale_scores")
    trials = Trials(key_of("03_scaling").reference, "scale_scores")
    outcome = trials.run(f"def scale_scores(scores, d_k):\n    {body}", check, PUBLIC_SEED)
    assert "Time" in repr(outcome) or "Recursion" in repr(outcome)


def test_the_time_of_all_trials_is_limited() -> None:
    check = next(check for check in key_of("03_scaling").visible if check.exercise == "scale_scores")
    trials = Trials(key_of("03_scaling").reference, "scale_scores", seconds=0.01)
    source = "def scale_scores(scores, d_k):\n    for i in range(300_000):\n        scores = scores\n    return scores"
    outcomes = [trials.run(source, check, PUBLIC_SEED) for _ in range(2)]
    assert outcomes[0] != NO_TIME_LEFT
    assert outcomes[1] == NO_TIME_LEFT


def test_a_search_ends_when_no_time_is_left() -> None:
    assert repair("03_scaling", "scaled_attend", BOTH_SCALED, seconds=0.0) is None


def test_a_trial_changes_no_name_and_no_random_number() -> None:
    check = next(check for check in key_of("03_scaling").visible if check.exercise == "scale_scores")
    names = dict(key_of("03_scaling").reference) | {"kept": {}, "table": torch.zeros(2)}
    before, state = dict(names), torch.random.get_rng_state()
    source = (
        "def scale_scores(scores, d_k):\n    global kept\n    kept['x'] = 1\n    table.add_(1)\n"
        "    torch.manual_seed(3)\n    kept = 2\n    return scores"
    )
    Trials(names, "scale_scores").run(source, check, PUBLIC_SEED)
    assert names == before
    assert names["kept"] == {}
    assert names["table"].sum() == 0
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_very_long_cell_is_left_alone() -> None:
    cell = "def scale_scores(scores, d_k):\n" + "    scores = scores + 1\n" * 2000 + "    return scores"
    assert repair("03_scaling", "scale_scores", cell) is None


def test_a_very_deep_cell_is_left_alone() -> None:
    cell = f"def scale_scores(scores, d_k):\n    return scores{' + 1' * 900}"
    assert repair("03_scaling", "scale_scores", cell) is None


def test_code_with_neighbors_without_end_is_not_read_without_end(monkeypatch) -> None:
    """Each deletion loses an argument here, so nothing is run and no time of a trial is used up."""
    names, read = [f"a{i}" for i in range(500)], []
    text = f"def attend({', '.join(names)}):\n    return [{', '.join(names)}]"
    assert MOST_EDITS <= len(edits_of(definitions_in(text), text)) < 2 * MOST_EDITS
    monkeypatch.setattr(tried, "arguments_in_effect", lambda tree: read.append(tree) or frozenset(names[: -len(read)]))
    right, wrong = Returned(torch.ones(3)), Returned(torch.zeros(3))
    target = Target("c", "C.", 1, fingerprint(right), {}, None, right)
    assert list(Search(text, [target], [wrong], lambda source, i: wrong).repairs()) == []
    assert 100 < len(read) < MOST_READ / 1000


def test_an_edit_that_breaks_a_law_is_no_repair() -> None:
    assert repair("02_queries_keys_values", "attend", WITHOUT_AN_AXIS, laws={"one": Returned(True)})
    assert not repair("02_queries_keys_values", "attend", WITHOUT_AN_AXIS, laws={"one": Returned(False)})
