import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import SandboxError
from autograder.grading.sandbox.codec import HEADER, LONGEST_NAME, pack, pack_outcome, unpack_outcome
from autograder.judging.values import Lost, Other, Raised, Returned

PLAIN = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text()
NAMES = st.text(max_size=LONGEST_NAME)  # longer ones are cut
TREES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=20)
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool]


def there_and_back(value: object) -> object:
    outcome = unpack_outcome(pack_outcome(Returned(value)))
    assert isinstance(outcome, Returned)
    return outcome.tree


@given(TREES)
def test_plain_data_comes_back_as_it_was(tree: object) -> None:
    assert there_and_back(tree) == tree


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_comes_back_exactly(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[0.0, 1.0, -2.5], [1e-3, 3.0, 4.0]]).to(dtype)
    back = there_and_back({"x": (tensor, tensor.mT, tensor[0, 0])})
    assert all(
        a.equal(b) and a.dtype == dtype for a, b in zip(back["x"], (tensor, tensor.mT, tensor[0, 0]), strict=True)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "bool"])
def test_an_array_comes_back_as_an_array(dtype: str) -> None:
    array = np.array([[0.0, 1.0, -2.5], [1e-3, 3.0, 4.0]]).astype(dtype)
    back = there_and_back([array, array.T, array[0, 0:0], array[::-1]])
    for mine, theirs in zip(back, [array, array.T, array[0, 0:0], array[::-1]], strict=True):
        assert type(mine) is np.ndarray
        assert mine.dtype == dtype
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["<U3", "datetime64[s]", "object"])
def test_an_array_without_numbers_comes_back_as_its_kind(kind: str) -> None:
    array = np.zeros(2, dtype=kind)
    assert there_and_back(array) == Other(f"array of {array.dtype}")


def test_an_array_in_another_order_of_bytes_comes_back_as_its_numbers() -> None:
    (back,) = there_and_back([np.arange(3.0).astype(">f8")])
    assert back.tolist() == [0.0, 1.0, 2.0]


def test_an_array_larger_than_the_memory_comes_back_as_its_kind() -> None:
    assert there_and_back(np.broadcast_to(np.float32(1), (2**50,))) == Other("array of float32")


def test_a_subclass_of_an_array_comes_back_as_a_plain_one() -> None:
    class Odd(np.ndarray):
        def __array__(self, *_args, **_options):
            return np.full(2, 7.0)

    assert there_and_back(np.ones(2).view(Odd)).tolist() == [1.0, 1.0]


def test_numbers_that_are_not_finite_come_back() -> None:
    assert there_and_back([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert math.isnan(there_and_back(math.nan))
    assert there_and_back(torch.tensor([math.nan])).isnan().all()


def test_what_is_neither_tensor_nor_plain_comes_back_as_its_types_name() -> None:
    assert there_and_back([object(), {1: 2}, 2**70]) == [Other("object"), Other("dict"), Other("int")]


def test_a_subclass_comes_back_as_a_plain_tensor() -> None:
    assert type(there_and_back(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor


@pytest.mark.parametrize("outcome", [Raised("KeyError", "text", "line"), Lost("too slow")])
def test_other_outcomes_come_back(outcome: object) -> None:
    assert unpack_outcome(pack_outcome(outcome)) == outcome


def deep(levels: int) -> object:
    return {"plain": 1} if not levels else {"list": [deep(levels - 1)]}


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"tree": 1},
        {"tree": {"tensor": "9"}},
        {"tree": {"pickle": "x"}},
        {"tree": {"plain": [1]}},
        {"tree": {"plain": 1, "list": []}},
        {"tree": deep(40)},
        {"tree": {"list": [{"plain": 0}] * 20_000}},
        {"tree": {"dict": [["a"]]}},
        {"tree": {"float": "x"}},
        {"tree": {"array": {"plain": 1}}},
        {"tree": {"array": {"array": {"plain": 1}}}},
        {"tree": {"array": 3}},
        {"raised": "a"},
    ],
    ids=lambda h: json.dumps(h)[:30],
)
def test_a_malformed_message_raises_and_does_nothing_else(header: dict) -> None:
    with pytest.raises(SandboxError):
        unpack_outcome(pack(header))


@given(st.binary(max_size=200))
def test_noise_raises_a_sandbox_error(noise: bytes) -> None:
    with pytest.raises(SandboxError):
        unpack_outcome(noise)


@pytest.mark.parametrize("body", [b"\xff" * 8 + b"{}", (10**9).to_bytes(8, "little") + b"{}", b"\x80\x04K\x01."])
def test_a_broken_block_of_tensors_raises(body: bytes) -> None:
    text = json.dumps({"tree": {"tensor": "0"}}).encode()
    with pytest.raises(SandboxError):
        unpack_outcome(HEADER.pack(len(text)) + text + body)
