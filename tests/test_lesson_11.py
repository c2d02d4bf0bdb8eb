"""Lesson 11: its reference against independent oracles, and the attentions that testers are tried on.

What the suspects' labels are is written down here. `verify` proves that testers of several designs agree with the
reference about all of them. That testers cannot look at anything but answers, `test_black_box` proves.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.judging.check import Check
from autograder.judging.values import Returned
from autograder.paths import find_course

from .conftest import needs_sandbox
from .graded import handed_in, points_in, record_of

PACKAGE = package_of(find_course().lesson("11_bug_hunt"))
KEY = PACKAGE.key
REFERENCE = KEY.reference
WRONG, TEAMS = REFERENCE["wrong"], REFERENCE["teams"]
FIND_BUGS = REFERENCE["find_bugs"]
SUSPECTS = {box.name: box for name, box in KEY.boxes.items() if name not in KEY.public_boxes}
HIDDEN = [check for check in KEY.hidden if check.exercise == "find_bugs"]
MASK_LABELS = ("mask_inverted", "mask_leak", "empty_row")
LABELS = {
    "suspect_01": "mask_leak",  # hidden scores become -3
    "suspect_02": "scale",  # divides by the root of D_v
    "suspect_03": "softmax_axis",  # softmax over axis 1: right for plain tables
    "suspect_04": "empty_row",  # minus a billion
    "suspect_05": "dtype empty_row",  # naN, and float32
    "suspect_06": "none",  # right: writes to its own copies
    "suspect_07": "softmax_axis",  # softmax over the first axis
    "suspect_08": "mask_leak",  # adds the mask as 0 and 1
    "suspect_09": "value",  # mixes values whose entries have moved by one
    "suspect_10": "softmax_axis",  # softmax over the queries
    "suspect_11": "mask_leak",  # uses the first sentence's mask for all
    "suspect_12": "value",  # mixes the keys
    "suspect_13": "mask_leak",  # ignores the mask
    "suspect_14": "scale",  # divides by 8, the root of another dimension
    "suspect_15": "mask_inverted value",  # inverted, and the values without their signs
    "suspect_16": "softmax_axis",  # softmax over axis 2: wrong for four axes
    "suspect_17": "mutates_input",  # inverts the mask in place
    "suspect_18": "empty_row",  # naN where nothing may be seen
    "suspect_19": "value",  # mixes the values without their signs
    "suspect_20": "mask_leak",  # zeroes weights after softmax
    "suspect_21": "none",  # right: three keys at a time
    "suspect_22": "empty_row",  # a query that may see nothing sees everything
    "suspect_23": "mutates_input",  # scales the query in place
    "suspect_24": "none",  # right: adds minus infinity
    "suspect_25": "mask_inverted",  # hides what may be seen
    "suspect_26": "none",  # right: query by query
    "suspect_27": "none",  # right: calculates in float32
    "suspect_28": "scale",  # does not scale
    "suspect_29": "dtype mask_leak",  # float64, and zeroes weights after softmax
    "suspect_30": "scale",  # divides by D
    "suspect_31": "scale",  # multiplies by the root
    "suspect_32": "mutates_input",  # scales the key in place
    "suspect_33": "none",  # right: with einsum, softmax in steps
    "suspect_34": "none",  # right: from the last key to the first
    "suspect_35": "mutates_input",  # leaves zeros where the values were
    "suspect_36": "scale",  # divides by the root of S
    "suspect_37": "none",  # right: PyTorch's own
    "suspect_38": "dtype",  # float64 whatever comes in
    "suspect_39": "mask_leak scale",  # no scale, no mask
    "suspect_40": "none",  # right: with logsumexp
    "suspect_41": "empty_row mutates_input scale",  # by D, in place, and minus a billion
    "suspect_42": "mutates_input softmax_axis",  # scales in place, softmax over the queries
    "suspect_43": "dtype",  # float32 whatever comes in
    "suspect_44": "mask_leak",  # multiplies scores by the mask
    "suspect_45": "none",  # right: two keys at a time, with a running maximum
    "suspect_46": "softmax_axis",  # softmax over the queries of plain tables alone
    "suspect_47": "softmax_axis",  # softmax over the queries of three axes alone
}


def double(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rule(q_len: int, k_len: int) -> Tensor:
    return torch.ones(q_len, k_len, dtype=torch.bool).tril(diagonal=2)


def with_an_empty_row(mask: Tensor) -> Tensor:
    return mask.index_fill(-2, torch.tensor([1]), False)


# One example that tells


def survivors(*inputs: Tensor | None) -> list[str]:
    """Return the wrong attentions that nobody would notice: those that stop with an error are."""
    right, found = functional.scaled_dot_product_attention(*inputs), []
    for name, attention in WRONG.WRONG.items():
        with suppress(RuntimeError):
            result = attention(*inputs)
            if result.shape == right.shape and torch.allclose(result, right, rtol=0, atol=1e-3):
                found.append(name)
    return found


SIZES = (double(2, 3, 5, 4), double(2, 3, 7, 4, seed=1), double(2, 3, 7, 6, seed=2))
SQUARE = double(1, 4, 4)


@pytest.mark.parametrize(
    ("inputs", "unnoticed"),
    [
        ((SQUARE, SQUARE, SQUARE, None), 12),
        ((*SIZES, None), 8),
        ((*SIZES, rule(5, 7)), 2),
        ((*SIZES, with_an_empty_row(rule(5, 7))), 0),
    ],
    ids=["square self-attention", "different sizes", "a mask", "an empty row"],
)
def test_an_example_leaves_as_many_mistakes_unnoticed_as_the_lesson_says(inputs: Any, unnoticed: int) -> None:
    assert len(WRONG.WRONG) == 21
    assert len(survivors(*inputs)) == unnoticed
    assert survivors(*inputs) == WRONG.unnoticed(*inputs)


def test_the_reference_example_tells_all_and_keeps_to_its_limits() -> None:
    example = REFERENCE["revealing_example"]()
    assert survivors(*example) == []
    assert all(2 <= part.ndim <= 4 and max(part.shape) <= 8 for part in example)


def visible(name: str) -> Check:
    return next(check for check in KEY.visible if check.name == name)


def told(*parts: Any) -> str:
    outcome = visible("all_mistakes").summarize(Returned(parts))
    return "" if isinstance(outcome, Returned) else outcome.reason


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda q, k, v, m: (q, k, v), "3 things came back"),
        (lambda q, k, v, m: (q, k, v, None), "The mask is not a tensor."),
        (lambda q, k, v, m: (q, k, v, m.long()), "The mask is int64. It should be bool."),
        (lambda q, k, v, m: (q.half(), k, v, m), "The query is float16. It should be float64."),
        (lambda q, k, v, m: (q[None], k, v, m), "The query should have two to four axes, and it has 5."),
        (lambda q, k, v, m: (q, k, v, m[0]), "The mask should have two to four axes, and it has 1."),
        (lambda q, k, v, m: (double(9, 4), k, v, m), "The query has an axis of 9."),
        (lambda q, k, v, m: (q[..., :0, :], k, v, m), "The query has an axis without entries."),
        (lambda q, k, v, m: (q / 0, k, v, m), "The query has an entry that is not a finite number."),
        (lambda q, k, v, m: (q[..., :3], k, v, m), "The last axes of query and key should have the same size"),
        (lambda q, k, v, m: (q, k, v[..., :6, :], m), "There should be as many values as keys"),
        (lambda q, k, v, m: (q, k[:, :2], v, m), "The axes before the last two of query, key and value do not fit."),
        (lambda q, k, v, m: (q, k, v, m.mT), "does not broadcast to (..., L, S)"),
        (lambda q, k, v, m: (q, k, v, m.expand(4, 1, 1, 5, 7)[:, 0]), "does not broadcast to (..., L, S)"),
        (lambda q, k, v, m: (1e300 * q, 1e300 * k, v, m), "itself gives NaN"),
        (lambda q, k, v, m: (q, k, v, m | True), "mask_after_softmax, fill_minus_1e9, and 3 more."),
    ],
)
def test_what_is_wrong_with_an_example_is_said_in_a_sentence(spoil: Callable[..., Any], words: str) -> None:
    example = (*SIZES, with_an_empty_row(rule(5, 7)))
    assert told(*example) == ""
    assert words in told(*spoil(*example))


# How far apart


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(-5, 5, allow_subnormal=False))
def test_a_constant_difference_is_measured(seed: int, trials: int, offset: float) -> None:
    right, difference = WRONG.right, REFERENCE["max_difference"]

    def moved(*inputs: Tensor) -> Tensor:
        return right(*inputs) + offset

    assert difference(right, moved, trials=trials, seed=seed) == pytest.approx(abs(offset))
    assert difference(moved, right, trials=trials, seed=seed) == pytest.approx(abs(offset))


@pytest.mark.parametrize("name", ["no_scale", "mask_ignored", "softmax_over_queries"])
def test_more_trials_find_no_smaller_difference(name: str) -> None:
    pair = WRONG.right, WRONG.WRONG[name]
    found = [REFERENCE["max_difference"](*pair, trials=trials, seed=3) for trials in range(12)]
    assert found == sorted(found)
    assert found[0] == 0.0 < found[-1]


# Finding bugs


def test_the_teams_have_the_bugs_that_the_lesson_is_about() -> None:
    found = {team: FIND_BUGS(attention) for team, attention in TEAMS.TEAMS.items()}
    bugs = {"bo": {"scale"}, "cleo": {"mask_inverted"}, "dag": {"empty_row"}, "eve": {"mutates_input"}}
    assert found == {"ada": set()} | bugs


def test_those_to_practice_on_have_the_bug_that_they_are_named_for() -> None:
    assert {label: FIND_BUGS(attention) for label, attention in TEAMS.PRACTICE.items()} == {
        label: {label} for label in TEAMS.PRACTICE
    }


def labels_of(name: str) -> set[str]:
    return set(LABELS[name].split()) - {"none"}


def test_the_solution_finds_what_each_suspect_has() -> None:
    assert {name: FIND_BUGS(box) for name, box in SUSPECTS.items()} == {n: labels_of(n) for n in LABELS}


def partly(when: Callable[..., bool], otherwise: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make an attention that is wrong for some inputs only."""
    return lambda q, k, v, mask: (otherwise if when(q, mask) else WRONG.right)(q, k, v, mask)


def scaled_in_place(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    right: Tensor = WRONG.right(q, k, v, mask)
    q.mul_(2)
    return right


def softmax_along(axis: int) -> Callable[..., Tensor]:
    return lambda q, k, v, mask: WRONG.shares(WRONG.scores_of(q, k, mask), dim=axis) @ v


PARTLY = {
    "softmax_axis three": partly(lambda q, mask: q.dim() == 3, softmax_along(1)),
    "softmax_axis two": partly(lambda q, mask: q.dim() == 2, softmax_along(0)),
    "dtype": partly(lambda q, mask: mask is None, lambda *x: WRONG.right(*x).float()),
    "mutates_input": partly(lambda q, mask: mask is None, scaled_in_place),
    "mask_leak": partly(
        lambda q, mask: mask is not None and (q.dim(), mask.dim()) == (4, 2), lambda q, k, v, _: WRONG.right(q, k, v)
    ),
}


@pytest.mark.parametrize("name", PARTLY)
def test_the_solution_finds_a_bug_that_some_numbers_of_axes_or_masks_alone_show(name: str) -> None:
    calls: list[int] = []

    def counted(*inputs: Any) -> Tensor:
        calls.append(1)
        return PARTLY[name](*inputs)

    assert FIND_BUGS(counted) == {name.split()[0]}
    assert len(calls) <= 200


def test_there_are_enough_suspects_and_each_label_is_needed_more_than_once() -> None:
    texts = [cell.text for cell in read_lesson(find_course().lesson("11_bug_hunt"))]
    assert any(f"your function meets {len(LABELS)} attentions" in text for text in texts)
    assert sum(not labels_of(name) for name in LABELS) >= 5
    assert all(sum(label in labels_of(name) for name in LABELS) >= 2 for label in TEAMS.PRACTICE)
    assert all(len(labels_of(name) & set(MASK_LABELS)) <= 1 for name in LABELS)


INPUTS = [
    [double(*lead, 3, 4).to(dtype), double(*lead, 6, 4, seed=1).to(dtype), double(*lead, 6, 5, seed=2).to(dtype)]
    for lead, dtype in product(((), (2,), (2, 3)), (torch.float32, torch.float64))
]


@pytest.mark.parametrize("name", SUSPECTS)
def test_a_suspect_works_on_every_number_of_axes_with_and_without_a_mask(name: str) -> None:
    for inputs, mask in product(INPUTS, (None, rule(3, 6), with_an_empty_row(rule(3, 6))[:, :1], rule(1, 6)[:1])):
        first, second = (
            SUSPECTS[name](*(x.clone() for x in inputs), None if mask is None else mask.clone()) for _ in range(2)
        )
        assert first.shape[:-1] == inputs[0].shape[:-1]
        assert torch.equal(first.nan_to_num(9.0), second.nan_to_num(9.0))


@pytest.mark.parametrize("name", [name for name in SUSPECTS if not labels_of(name)])
def test_a_right_suspect_is_right(name: str) -> None:
    for inputs, mask in product(INPUTS, (None, rule(3, 6), with_an_empty_row(rule(3, 6)))):
        right = functional.scaled_dot_product_attention(*inputs, mask).nan_to_num(0.0)
        torch.testing.assert_close(SUSPECTS[name](*inputs, mask), right, rtol=1e-5, atol=1e-5)


# What gives nothing away


SENT = PACKAGE.sandbox_sources["find_bugs"][1]


def test_a_submission_gets_names_of_suspects_and_nothing_else_of_them() -> None:
    bodies = dict(re.findall(r"^def (box_\w{8})\(\*args, \*\*options\):\n    (.*)$", SENT, re.M))
    assert bodies == dict.fromkeys(KEY.boxes.keys() - KEY.public_boxes, "pass")
    assert "suspect" not in SENT
    assert [word for word in ("blockwise", "logical_not_", "1000000000", "Tester") if word in SENT] == []


def names_called(check: Check) -> list[str]:
    return [name for name in check.run.__code__.co_names if name in SUSPECTS]


@pytest.mark.parametrize("check", HIDDEN, ids=lambda c: c.name)
def test_each_check_has_right_suspects_and_wrong_ones(check: Check) -> None:
    labels = {LABELS[name] for name in names_called(check)}
    assert "none" in labels
    assert len(labels) > 1


def test_no_suspect_is_in_two_checks_and_all_are_in_one() -> None:
    assert sorted(name for check in HIDDEN for name in names_called(check)) == sorted(SUSPECTS)


@pytest.mark.parametrize("check", HIDDEN, ids=lambda c: c.name)
def test_suspects_are_called_in_an_order_that_is_drawn(check: Check) -> None:
    orders = set()
    for seed in range(3):
        order: list[str] = []
        check.values(lambda box, order=order: order.append(box.name), seed)
        assert sorted(order) == sorted(names_called(check))
        orders.add(tuple(order))
    assert len(orders) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["scale"], "An object of type list came back; a set of labels was asked for."),
        ("scale", "An object of type str came back"),
        ({"scales"}, "'scales' is not one of the labels."),
        ({("scale", "dtype")}, "is not one of the labels."),
    ],
)
def test_what_is_no_set_of_labels_is_said_in_a_sentence(answer: Any, words: str) -> None:
    check = visible("five_teams")
    assert words in check.summarize(check.values(lambda attention: answer, 1)).reason


def test_a_tester_that_returns_nothing_for_a_right_attention_is_told() -> None:
    check = visible("five_teams")
    outcome = check.summarize(check.values(lambda attention: FIND_BUGS(attention) or None, 1))
    assert "None came back" in outcome.reason


WITHOUT_TESTING = {
    "a set that is equal to any": """
class Agreeable(set):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __contains__(self, label): return True
def find_bugs(attention):
    return Agreeable()
""",
    "the check's name": """
import sys
def find_bugs(attention):
    frame, names = sys._getframe(), []
    while frame:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return set() if "several_ways" in names else {"mask_leak"} if "what_masks_do" in names else {"scale"}
""",
}


@needs_sandbox
@pytest.mark.parametrize("name", WITHOUT_TESTING)
def test_an_answer_without_a_test_earns_nothing(name: str) -> None:
    assert points_in(record_of(handed_in(PACKAGE, {"find_bugs": WITHOUT_TESTING[name]})))["find_bugs"] == 0


# The repaired module


def pytorchs(module: nn.Module, d_model: int, num_heads: int) -> nn.MultiheadAttention:
    """Return PyTorch's module with the same numbers."""
    other = nn.MultiheadAttention(d_model, num_heads, batch_first=True).double()
    layers = [module.q_proj, module.k_proj, module.v_proj]
    with torch.no_grad():
        other.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        other.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    other.out_proj.load_state_dict(module.out_proj.state_dict())
    return other


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("length", [1, 2, 7])
def test_the_repaired_module_gives_what_pytorchs_gives(heads: int, length: int) -> None:
    module, x = REFERENCE["RepairedAttention"](6, heads, dropout=0.5).double().eval(), double(3, length, 6)
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)  # in nn.MultiheadAttention, True hides
    theirs, _ = pytorchs(module, 6, heads)(x, x, x, attn_mask=hidden)
    torch.testing.assert_close(module(x), theirs)


def class_shown() -> Any:
    """Return the class that the lesson shows."""
    cells = read_lesson(find_course().lesson("11_bug_hunt"))
    names: dict[str, Any] = {"nn": nn, "torch": torch, "functional": functional, "Tensor": Tensor}
    exec(next(cell.text for cell in cells if cell.kind == "demo" and "class HandedIn" in cell.text), names)
    return names["HandedIn"]


@pytest.mark.parametrize("heads", [1, 3])
def test_the_module_left_as_it_was_handed_in_is_a_known_mistake(heads: int) -> None:
    known = next(m.work for m in KEY.mistakes if m.name == "AsHandedIn")(6, heads)
    shown, x = class_shown()(6, heads), torch.randn(2, 4, 6)
    shown.load_state_dict(known.state_dict())
    assert torch.equal(shown(x), known(x))
