"""Lesson 12's reference against independent oracles: PyTorch's attention, Keras itself, and round trips."""

import os
import sys
import warnings
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.sample_submissions import solutions
from autograder.grading.grade import RECORD
from autograder.grading.package import LessonPackage
from autograder.judging.answer_key import load_answer_key
from autograder.judging.modules import importable
from autograder.judging.shortcuts import found_in
from autograder.paths import find_course

from .conftest import needs_sandbox
from .graded import graded, handed_in, points_in

LESSON = find_course().lesson("12_numpy_and_keras")
PACKAGE = package_of(LESSON)
KEY = PACKAGE.key
REFERENCE = KEY.reference
NAMES = ("may_attend", "hide", "zero_one", "additive")
DTYPES = dict(zip(NAMES, (torch.bool, torch.bool, torch.int64, torch.float32), strict=True))


def numpy_attention(*tensors: Tensor | None) -> Tensor:
    return torch.from_numpy(REFERENCE["numpy_attention"](*(None if t is None else t.numpy() for t in tensors)))


def convert(mask: Tensor, source: str, target: str) -> Tensor:
    converted: Tensor = REFERENCE["convert_mask"](mask, source, target)
    return converted


def double(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def torch_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, mask).nan_to_num(0.0)


# Attention in NumPy: a warning is an error here, as everywhere in the tests


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 5), st.booleans(), st.integers(0, 10**6))
def test_numpys_attention_is_pytorchs(q_len: int, k_len: int, dim: int, masked: bool, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = double(2, 3, q_len, dim), double(2, 3, k_len, dim), double(2, 3, k_len, 4)
    mask = torch.rand(2, 1, q_len, k_len) < 0.4 if masked else None
    torch.testing.assert_close(numpy_attention(q, k, v, mask), torch_attention(q, k, v, mask), rtol=1e-10, atol=1e-10)


@given(*(st.sampled_from([(), (1,), (3,), (2, 1), (1, 3), (2, 3)]) for _ in range(3)), st.integers(0, 10**6))
def test_leading_axes_broadcast(of_q: tuple, of_k: tuple, of_v: tuple, seed: int) -> None:
    torch.manual_seed(seed)
    lead = torch.broadcast_shapes(of_q, of_k, of_v)
    q, k, v = double(*of_q, 4, 3), double(*of_k, 5, 3), double(*of_v, 5, 2)
    right = torch_attention(*(t.expand(*lead, *t.shape[-2:]) for t in (q, k, v)))
    torch.testing.assert_close(numpy_attention(q, k, v).expand(right.shape), right, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scores_and_empty_rows_stay_in_their_dtype(dtype: torch.dtype) -> None:
    q, k, v = (1000 * torch.randn(n, 4).to(dtype) for n in (3, 5, 5))
    mask = torch.tensor([True, False, True])[:, None].expand(3, 5).contiguous()
    mine = numpy_attention(q, k, v, mask)
    torch.testing.assert_close(mine, torch_attention(q, k, v, mask))
    assert mine.dtype == dtype
    assert not mine[1].any()


def test_a_warning_is_part_of_what_the_hidden_check_compares() -> None:
    (edges,) = [check for check in KEY.hidden if check.name == "empty_rows_and_large_scores"]
    right = edges.values(REFERENCE["numpy_attention"], 3).tree

    def warning(*arrays: Any) -> Any:
        warnings.warn("invalid value", RuntimeWarning, stacklevel=1)
        return REFERENCE["numpy_attention"](*arrays)

    said = edges.values(warning, 3).tree
    texts = [name for name, value in right.items() if isinstance(value, str)]
    assert {right[name] for name in texts} == {"no warning"}
    assert {said[name] for name in texts} == {"invalid value"}


# One mask, four conventions

rules = st.integers(0, 10**6).map(lambda seed: torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(seed)) < 0.5)
names = st.sampled_from(NAMES)


@given(rules, names, names)
def test_there_and_back_again(rule: Tensor, source: str, target: str) -> None:
    mask = convert(rule, "may_attend", source)
    there = convert(mask, source, target)
    assert (there.dtype, there.shape) == (DTYPES[target], rule.shape)
    assert convert(there, target, source).equal(mask)


@given(rules)
def test_pytorchs_function_takes_two_of_them_for_the_same_rule(rule: Tensor) -> None:
    q, k, v = torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.randn(2, 4, 2)
    additive = torch_attention(q, k, v, convert(rule, "may_attend", "additive"))
    torch.testing.assert_close(additive, torch_attention(q, k, v, rule))


def test_pytorchs_module_hides_where_its_function_may_attend() -> None:
    rule = torch.ones(4, 4, dtype=torch.bool).tril()
    module, x = nn.MultiheadAttention(6, 1, batch_first=True).eval(), torch.randn(2, 4, 6)
    hidden, _ = module(x, x, x, attn_mask=convert(rule, "may_attend", "hide"))
    added, _ = module(x, x, x, attn_mask=convert(rule, "may_attend", "additive"))
    torch.testing.assert_close(hidden, added)
    y = torch.cat([x[:, :1], torch.randn(2, 3, 6)], dim=1)
    other, _ = module(x, y, y, attn_mask=convert(rule, "may_attend", "hide"))
    torch.testing.assert_close(other[:, 0], hidden[:, 0])


@pytest.mark.parametrize("pair", [("hide", "Hide"), ("mask", "hide"), ("mask", "mask"), ("additive", "")])
def test_any_other_name_is_a_value_error(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="may_attend"):
        convert(torch.ones(2, 2, dtype=torch.bool), *pair)


# Keras itself


@pytest.fixture(scope="module")
def frameworks() -> Any:
    with importable(KEY.source.modules, KEY.source.folder):
        import frameworks

        yield frameworks


@pytest.fixture(scope="module")
def keras(frameworks: Any) -> Any:
    found = frameworks.load_keras()
    assert found is not None, "the dev extra has Keras"
    assert found.backend.backend() == "torch"
    return found


@pytest.mark.parametrize(("heads", "dim"), [(1, 4), (2, 4), (4, 2), (3, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_both_modules_compute_the_same_with_the_same_weights(keras, frameworks, heads, dim, seed) -> None:
    torch.manual_seed(seed)
    size = heads * dim
    layer, module = keras.layers.MultiHeadAttention(heads, dim), nn.MultiheadAttention(size, heads, batch_first=True)
    query, value = torch.randn(2, 3, size), torch.randn(2, 5, size)
    layer(query, value)
    layer.set_weights([torch.randn(w.shape).numpy() / size**0.5 for w in layer.weights])
    REFERENCE["keras_to_torch"](frameworks.weights_of(layer), module)
    theirs, scores = layer(query, value, return_attention_scores=True)
    mine, weights = module(query, value, value, average_attn_weights=False)
    assert (mine - theirs).abs().max() <= 1e-6
    assert (weights - scores).abs().max() <= 1e-6


def test_keras_calls_its_weights_as_the_exercise_does(keras, frameworks) -> None:
    layer = keras.layers.MultiHeadAttention(3, 2)
    layer(torch.randn(1, 4, 6), torch.randn(1, 5, 6))
    found = {name: array.shape for name, array in frameworks.weights_of(layer).items()}
    (check,) = [check for check in KEY.visible if check.name == "several_heads"]
    given: dict[str, tuple[int, ...]] = {}
    check.values(lambda weights, module: given.update({name: a.shape for name, a in weights.items()}), 0)
    assert found == given


def test_true_means_may_attend_in_keras(keras) -> None:
    layer, x, mask = keras.layers.MultiHeadAttention(2, 3), torch.randn(2, 4, 6), torch.rand(2, 4, 4) < 0.5
    mask[..., 0] = True
    _, weights = layer(x, x, attention_mask=mask, return_attention_scores=True)
    assert (weights > 0).equal(mask[:, None].expand_as(weights))


def test_keras_writes_nothing_into_the_home_of_whoever_runs_the_tests(keras) -> None:
    assert sys.modules["keras.src.backend.config"].keras_home() == os.devnull


def test_where_keras_is_missing_none_comes_back(frameworks, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", None)
    assert frameworks.load_keras() is None


# Graded


def test_attention_by_pytorch_is_forbidden_for_the_one_in_numpy() -> None:
    code = "def numpy_attention(*arrays): return functional.softmax(torch.from_numpy(arrays[0]), -1).numpy()"
    assert found_in(KEY.shortcuts, "numpy_attention", ["import torch\nfrom torch.nn import functional", code])


def without_keras(package: LessonPackage) -> LessonPackage:
    blocked = "import sys\nsys.modules['keras'] = None\n"
    modules = tuple(
        (name, blocked + text if name == "frameworks.py" else text) for name, text in package.source.modules
    )
    return replace(package, key=load_answer_key(replace(package.source, modules=modules)))


@needs_sandbox
def test_where_keras_is_missing_no_cell_of_the_lesson_stops_and_the_points_are_the_same() -> None:
    right = solutions(read_lesson(LESSON))
    notebook = graded(handed_in(without_keras(PACKAGE), right, demonstrations=True))
    stopped = [o["evalue"] for c in notebook["cells"] for o in c.get("outputs", []) if o["output_type"] == "error"]
    assert stopped == []
    assert points_in(notebook["metadata"][RECORD]) == KEY.points()
