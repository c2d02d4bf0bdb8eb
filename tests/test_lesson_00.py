"""Lesson 0's reference against independent oracles, and what its checks say about shapes."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from autograder.judging.card import Card
from autograder.judging.verdict import Verdict
from autograder.student.check import ReleasedChecks

from .answer_keys import key_of
from .test_measured import cells

KEY = key_of("00_warm_up")
REFERENCE = KEY.reference
RIGHT: dict[str, tuple[int, ...]] = REFERENCE["shapes"]()
SIZES = st.integers(1, 5)
FRONT = st.lists(st.integers(1, 3), max_size=3)


def judged(answers: object) -> Verdict:
    """Judge an answer to `shapes` as a student's workspace does."""
    released = json.loads(json.dumps(KEY.fingerprints()))["exercises"]
    return ReleasedChecks(KEY.visible, released, KEY.shortcuts).judge("shapes", lambda: answers)[0]


def told(answers: object) -> str:
    """Return the whole card that a student sees."""
    return repr(Card(judged(answers)))


@given(FRONT, SIZES, SIZES, SIZES)
def test_each_dot_product_is_that_of_two_rows(front: list[int], m: int, n: int, d: int) -> None:
    a, b = (torch.randn(*front, rows, d, dtype=torch.float64) for rows in (m, n))
    dots = REFERENCE["pairwise_dots"](a, b)
    assert dots.shape == (*front, m, n)
    for i in range(m):
        for j in range(n):
            right = torch.linalg.vecdot(a[..., i, :], b[..., j, :])
            torch.testing.assert_close(dots[..., i, j], right, rtol=1e-10, atol=1e-10)


@given(FRONT, SIZES, SIZES)
def test_normalized_rows_sum_to_one_and_keep_their_proportions(front: list[int], rows: int, columns: int) -> None:
    x = torch.rand(*front, rows, columns, dtype=torch.float64) + 0.1
    before = x.clone()
    shares = REFERENCE["normalize_rows"](x)
    torch.testing.assert_close(shares, functional.normalize(x, p=1, dim=-1))
    torch.testing.assert_close(shares.sum(dim=-1), torch.ones(*front, rows, dtype=torch.float64))
    torch.testing.assert_close(REFERENCE["normalize_rows"](shares), shares)
    assert x.equal(before)


def test_the_six_shapes_are_those_of_pytorch() -> None:
    names = {"a": torch.zeros(2, 3, 4), "b": torch.zeros(4, 5), "c": torch.zeros(3, 1), "d": torch.zeros(5)}
    assert {expression: tuple(eval(expression, names).shape) for expression in RIGHT} == RIGHT


@pytest.mark.parametrize("expression", RIGHT)
@pytest.mark.parametrize("wrong", [(7,), (2, 9), (9, 9, 9), (), 7, "(7,)", None, (1.5, 2), torch.zeros(7)], ids=str)
def test_a_wrong_shape_is_explained_without_the_right_one(expression: str, wrong: object) -> None:
    card = told({**RIGHT, expression: wrong})
    assert expression in card
    assert str(RIGHT[expression]) not in card
    assert str(list(RIGHT[expression])) not in card


def test_no_known_mistake_is_told_the_right_shape() -> None:
    for mistake in KEY.mistakes_of("shapes"):
        answers = mistake.work()
        wrong = {e for e in RIGHT if isinstance(answers, dict) and answers.get(e) != RIGHT[e]}
        for expression in wrong if len(wrong) == 1 else ():
            assert str(RIGHT[expression]) not in told(answers)


def test_nothing_that_students_get_holds_the_six_shapes() -> None:
    released = KEY.fingerprints()["exercises"]["shapes"]
    (check,) = released["checks"].values()
    assert {leaf["plain"] for leaf in check["right"]["leaves"].values()} == {True}
    assert "expected" not in check
    texts = [*released["messages"].values(), *(known["lost"] for known in check["mistakes"].values())]
    for expression, shape in RIGHT.items():
        assert str(shape) not in KEY.source.checks
        assert [t for t in texts if t.startswith(expression) and str(shape) in t] == []


def test_of_several_wrong_shapes_the_first_is_explained() -> None:
    card = told({**RIGHT, "c + d": (3, 1), "a.flatten(1)": (24,)})
    (known,) = [m for m in KEY.mistakes_of("shapes") if m.name == "sum_like_c"]
    assert known.message in card
    assert "flatten" not in card


def test_the_order_of_the_keys_and_further_keys_do_not_matter() -> None:
    assert judged(dict(reversed(RIGHT.items()))).passed
    assert judged({**RIGHT, "b.mT": (5, 4)}).passed
    assert judged({expression: torch.Size(shape) for expression, shape in RIGHT.items()}).passed


@pytest.mark.parametrize("seed", range(5))
def test_the_model_counts_after_fifty_steps(seed: int) -> None:
    names = cells("00_warm_up", "model = nn.Sequential", "question = ", "optimizer = ", seed=seed)
    assert names["model"](names["question"]).argmax(dim=-1).equal(names["answer"])
