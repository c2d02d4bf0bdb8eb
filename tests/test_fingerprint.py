"""Fingerprints: what they notice, and how students get them: smaller, and recognized as before."""

import json
import resource

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.authoring.lesson_package import package_of
from autograder.grading.sandbox.codec import pack_outcome, unpack_outcome
from autograder.judging.compact import compact, expanded
from autograder.judging.compare import contract
from autograder.judging.fingerprint import fingerprint, same
from autograder.judging.inputs import PUBLIC_SEED, Inputs
from autograder.judging.values import Lost, Other, Raised, Returned


def prints(value: object) -> dict:
    return fingerprint(Returned(value))


def test_an_answer_is_recognized_through_rounding() -> None:
    x = torch.randn(3, 5, dtype=torch.float64)
    assert same(prints(x), prints(x + 1e-7))


def test_one_wrong_entry_is_noticed() -> None:
    x = torch.randn(2, 3, 5, 7, dtype=torch.float64)
    y = x.clone()
    y[1, 2, 4, 6] += 0.05
    assert not same(prints(x), prints(y))


def test_shape_dtype_and_nan_are_part_of_it() -> None:
    x = torch.ones(2, 3)
    for other in (torch.ones(3, 2), torch.ones(2, 3).double(), torch.ones(2, 3) * torch.nan, torch.ones(6)):
        assert not same(prints(x), prints(other))


def test_an_array_is_no_tensor_of_the_same_numbers() -> None:
    x = torch.randn(2, 3)
    assert same(prints(x.numpy()), prints(x.numpy()))
    assert not same(prints(x), prints(x.numpy()))
    told = contract(prints(x), prints(x.numpy()))
    assert told == "The result is a PyTorch tensor; a NumPy array was asked for."


@pytest.mark.parametrize("write", [lambda x: x, lambda x: np.negative(x, out=x)])
def test_an_array_that_was_written_to_counts_as_changed(write) -> None:
    draw = Inputs(1, "name")
    array = draw.give(draw.normal(2, 3).numpy())
    before = array.copy()
    write(array)
    assert draw.changed == (not np.array_equal(array, before))


def test_a_tuple_and_a_list_of_the_same_tensors_are_the_same() -> None:
    a, b = torch.ones(2), torch.zeros(3)
    assert same(prints((a, b)), prints([a, b]))
    assert not same(prints((a, b)), prints((b, a)))


def test_none_a_number_and_a_foreign_object_have_prints_of_their_own() -> None:
    kinds = [prints(v) for v in (None, 1, 1.0, True, "1", object(), torch.ones(()))]
    assert [sum(same(a, b) for b in kinds) for a in kinds] == [1] * len(kinds)


def test_an_error_is_recognized_by_its_type_and_text() -> None:
    a, b = Raised("RuntimeError", "3x4 and 5x4"), Raised("RuntimeError", "other")
    assert same(fingerprint(a), fingerprint(a))
    assert not same(fingerprint(a), fingerprint(b))
    assert not same(fingerprint(a), fingerprint(Lost("too slow")))


@given(st.integers(0, 10_000), st.permutations(range(5)))
def test_a_permutation_of_rows_is_noticed(seed: int, order: list[int]) -> None:
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    assert same(prints(x), prints(x[order])) == (list(order) == sorted(order))


def test_a_tensor_subclass_cannot_pretend() -> None:
    class Agreeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), options=None):
            return torch.ones(2, 2)

    assert not same(prints(torch.zeros(2, 2).as_subclass(Agreeing)), prints(torch.ones(2, 2)))


def test_the_sign_of_infinity_is_part_of_it() -> None:
    assert not same(prints(torch.tensor([1.0, torch.inf])), prints(torch.tensor([1.0, -torch.inf])))
    assert not same(prints(float("inf")), prints(float("-inf")))
    assert not same(prints(1.0), prints(float("inf")))
    assert same(prints(float("nan")), prints(float("nan")))


def test_a_tensor_without_numbers_has_a_print_too() -> None:
    assert not same(prints(torch.zeros(2, device="meta")), prints(torch.zeros(2)))
    assert prints(torch.eye(2).to_sparse())["leaves"][""] == {"other": "sparse tensor"}
    assert prints({})["leaves"][""] == {"other": "empty dict"}


def test_a_tensor_that_is_too_large_to_be_sent_has_the_print_that_a_sent_one_gets() -> None:
    """One of 16 million entries, which a wrong Jacobian has for long rows, took the judge 900 MB."""
    tensor = torch.ones(4000, 4000)
    sent = unpack_outcome(pack_outcome(Returned((tensor,))))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert fingerprint(Returned((tensor,)))["leaves"] == fingerprint(sent)["leaves"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 2**10


def test_the_name_of_a_class_or_function_is_no_part_of_an_error() -> None:
    for text in ("'{}' object has no attribute 'q_proj'", "{}() missing 1 required positional argument: 'x'"):
        mine, listed = (fingerprint(Raised("E", text.format(name))) for name in ("MyAttention", "OneLayer"))
        assert same(mine, listed)


@pytest.mark.parametrize("size", [1e153, 1e200, 1e308])
def test_numbers_too_large_to_be_squared_are_compared_too(size: float) -> None:
    huge = prints(torch.full((3,), size, dtype=torch.float64))
    assert not same(huge, prints(torch.ones(3, dtype=torch.float64)))
    assert same(huge, huge)


NUMBERS = st.lists(st.floats(width=32) | st.floats(-1, 1, width=32), min_size=1, max_size=6)
TREES = st.one_of(
    NUMBERS.map(torch.tensor),
    NUMBERS.map(lambda row: torch.tensor(row).round()),
    NUMBERS.map(lambda row: torch.tensor(row) > 0),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(Other("Thing")),
    st.lists(NUMBERS.map(torch.tensor), min_size=2, max_size=3),
    st.dictionaries(st.sampled_from("abc"), NUMBERS.map(torch.tensor), min_size=1),
)
OUTCOMES = st.one_of(
    st.builds(Returned, TREES, st.booleans()),
    st.builds(Raised, st.just("ValueError"), st.text(max_size=5)),
    st.just(Lost("It took too long.")),
)


def there_and_back(known: dict, right: dict) -> dict:
    return expanded(json.loads(json.dumps(compact(known, right))), right)


@given(OUTCOMES, OUTCOMES)
def test_a_fingerprint_survives_being_compact(wrong, right) -> None:
    known, right = fingerprint(wrong), fingerprint(right)
    again = there_and_back({"one": known, "two": known}, right)
    for name in ("one", "two"):
        assert same(known, again[name])
        assert same(known, right) == same(again[name], right)


def test_equal_fingerprints_are_written_once() -> None:
    right, wrong = (fingerprint(Returned(torch.tensor([number]))) for number in (1.0, 2.5))
    data = compact({"a": wrong, "b": wrong, "c": right}, right)
    assert data["b"] == "a"
    assert data["c"] == {"but": {}}


@pytest.mark.parametrize("name", ["04_softmax", "12_numpy_and_keras"])
def test_every_mistake_of_a_lesson_is_recognized_through_it(course, name: str) -> None:
    key = package_of(course.lesson(name)).key
    for target in (t for e in key.exercises for t in key.targets(e, PUBLIC_SEED) if not t.hidden):
        again = there_and_back(dict(target.mistakes), target.right)
        assert all(same(known, again[mistake], target.tolerance) for mistake, known in target.mistakes.items())
