"""Lesson 10's reference against independent oracles: PyTorch's functions, the whole sequence at once, and laws."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from autograder.authoring.lesson import read_lesson
from autograder.judging.modules import importable
from autograder.judging.shortcuts import ran_in
from autograder.judging.values import Returned
from autograder.paths import find_course

from .answer_keys import key_of

KEY = key_of("10_efficient_attention")
REFERENCE = KEY.reference
CHECKS = {check.name: check for check in (*KEY.visible, *KEY.hidden)}
MultiHeadAttention = REFERENCE["MultiHeadAttention"]


def double(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


# What attention costs


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.integers(1, 8))
def test_operations_and_bytes_are_what_pytorch_counts(b: int, h: int, q_len: int, k_len: int, d: int) -> None:
    query, key = torch.randn(b, h, q_len, d), torch.randn(2, b, h, k_len, d)
    with FlopCounterMode(display=False) as scoring:
        scores = query @ key[0].mT
    with FlopCounterMode(display=False) as mixing:
        scores @ key[1]
    cost = REFERENCE["attention_cost"](b, h, q_len, k_len, d)
    assert (cost["score_flops"], cost["mix_flops"]) == (scoring.get_total_flops(), mixing.get_total_flops())
    assert (cost["score_bytes"], cost["kv_bytes"]) == (scores.nbytes, key.nbytes)


@pytest.mark.parametrize(("heads", "gigabytes"), [(32, 17.2), (8, 4.3), (1, 0.54)])
def test_the_caches_of_a_large_model_are_those_of_the_question(heads: int, gigabytes: float) -> None:
    layer = REFERENCE["attention_cost"](1, heads, 1, 32768, 128, bytes_per_el=2)["kv_bytes"]
    assert 32 * layer / 1e9 == pytest.approx(gigabytes, rel=0.01)


# The cache and a step


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_a_cache_is_what_was_appended_joined(sizes: list[int]) -> None:
    cache, parts = REFERENCE["KVCache"](), [(double(2, 3, t, 4), double(2, 3, t, 4)) for t in sizes]
    assert len(cache) == 0
    for key, value in parts:
        keys, values = cache.append(key, value)
    assert len(cache) == sum(sizes)
    assert keys.equal(torch.cat([key for key, _ in parts], dim=2))
    assert values.equal(torch.cat([value for _, value in parts], dim=2))


def test_a_cache_keeps_what_its_callers_overwrite() -> None:
    cache, key, value = REFERENCE["KVCache"](), double(1, 2, 3, 4), double(1, 2, 3, 4)
    before = key.clone()
    cache.append(key, value)
    key.zero_()
    keys, _ = cache.append(value, value)
    assert keys[:, :, :3].equal(before)


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("steps", [(1, 1, 1, 1, 1, 1), (4, 1, 1), (2, 2, 2), (6,), (1, 3, 2)])
def test_steps_give_the_rows_of_the_whole_sequence(heads: int, steps: tuple[int, ...]) -> None:
    mha, x, cache = MultiHeadAttention(6, heads, bias=True).double(), double(3, 6, 6), REFERENCE["KVCache"]()
    rows = [REFERENCE["decode_step"](mha, x_new, cache) for x_new in x.split(list(steps), dim=1)]
    whole, _ = mha(x, mask=causal(6))
    torch.testing.assert_close(torch.cat(rows, dim=1), whole, rtol=1e-10, atol=1e-10)


def test_room_set_aside_is_a_cache_as_good_as_the_one_that_joins() -> None:
    names: dict[str, Any] = {"torch": torch, "Tensor": torch.Tensor}
    cells = read_lesson(find_course().lesson("10_efficient_attention"))
    exec(next(cell.text for cell in cells if "class RoomyCache" in cell.text), names)
    roomy, joining, mha = names["RoomyCache"](2, 3, 8, 4), REFERENCE["KVCache"](), MultiHeadAttention(12, 3)
    for size in (3, 1, 1, 2):
        new = torch.randn(2, size, 12)
        with torch.no_grad():
            rows = [REFERENCE["decode_step"](mha, new, cache) for cache in (roomy, joining)]
        assert rows[0].equal(rows[1])
    assert len(roomy) == len(joining) == 7


@pytest.mark.parametrize("name", ["q_proj", "k_proj", "v_proj"])
def test_only_new_tokens_pass_through_the_projections(name: str) -> None:
    mha, cache, passed = MultiHeadAttention(6, 2), REFERENCE["KVCache"](), []
    getattr(mha, name).register_forward_hook(lambda _, given, __: passed.append(given[0].size(1)))
    for x_new in torch.randn(2, 7, 6).split([4, 1, 2], dim=1):
        REFERENCE["decode_step"](mha, x_new, cache)
    assert passed == [4, 1, 2]


# Fewer heads, shorter windows


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))
def test_each_head_is_there_n_rep_times_in_a_row(batch: int, groups: int, n_rep: int) -> None:
    x = double(batch, groups, 5, 2)
    repeated = REFERENCE["repeat_kv"](x, n_rep)
    assert all(repeated[:, h].equal(x[:, h // n_rep]) for h in range(groups * n_rep))


@given(st.integers(1, 8), st.integers(1, 10), st.integers(0, 6))
def test_a_window_is_a_difference_of_triangles(q_len: int, window: int, more: int) -> None:
    k_len = q_len + more
    mask = REFERENCE["sliding_window_mask"](q_len, window, k_len)
    square = causal(k_len)
    assert mask.equal((square & ~square.tril(-window))[-q_len:])
    assert mask.sum(dim=-1).tolist() == [min(window, more + i + 1) for i in range(q_len)]


# Block by block


@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 12), st.booleans(), st.integers(0, 10**6))
def test_blockwise_equals_dense(q_len: int, k_len: int, block: int, masked: bool, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = double(2, 3, q_len, 4), double(2, 3, k_len, 4), double(2, 3, k_len, 5)
    mask = torch.rand(2, 1, q_len, k_len) < 0.4 if masked else None
    right = functional.scaled_dot_product_attention(q, k, v, mask).nan_to_num(0.0)
    mine = REFERENCE["blockwise_attention"](q, k, v, block, mask)
    torch.testing.assert_close(mine, right, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("block", [1, 3, 20])
def test_gradients_are_right_where_blocks_and_rows_are_hidden(block: int) -> None:
    mask = torch.rand(4, 7) < 0.5
    mask[:, :3], mask[1] = False, False
    inputs = [double(2, n, d).requires_grad_() for n, d in ((4, 3), (7, 3), (7, 2))]
    assert gradcheck(lambda q, k, v: REFERENCE["blockwise_attention"](q, k, v, block, mask), inputs)


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_scores_stay_finite(size: float) -> None:
    q, k, v = size * double(3, 4), double(9, 4), double(9, 2)
    right = functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(REFERENCE["blockwise_attention"](q, k, v, 2), right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_dtype_stays(dtype: torch.dtype) -> None:
    q, k, v = (torch.randn(2, n, 4, dtype=dtype) for n in (3, 5, 5))
    assert REFERENCE["blockwise_attention"](q, k, v, 2, torch.zeros(3, 5, dtype=torch.bool)).dtype == dtype


def meter_of(work: Any, block: int, q: torch.Tensor, k: torch.Tensor) -> Any:
    with importable(KEY.source.modules, KEY.source.folder):
        meter = CHECKS["never_all_scores"].run.__globals__["Meter"](q)
    with meter:
        work(q, k, k, block)
    return meter


@pytest.mark.parametrize("block", [8, 16, 64])
def test_no_tensor_is_larger_than_a_block_of_scores_or_an_input(block: int) -> None:
    q, k = torch.randn(96, 4), torch.randn(128, 4)
    meter = meter_of(REFERENCE["blockwise_attention"], block, q, k)
    assert meter.largest <= max(96 * block, k.numel())
    assert meter_of(REFERENCE["blockwise_attention"], block, q[:1], torch.randn(1021, 4)).most_of_query < 1021


def test_the_meter_sees_a_table_of_all_scores() -> None:
    def dense(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block: int) -> torch.Tensor:
        return (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ v

    meter = meter_of(dense, 16, torch.randn(96, 4), torch.randn(128, 4))
    assert meter.largest == 96 * 128
    assert meter.most_of_query >= 96 * 128
    assert meter.most_kept >= 96 * 128


def test_a_mask_that_is_expanded_takes_no_room() -> None:
    def expanding(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block: int) -> torch.Tensor:
        return torch.ones(1, dtype=torch.bool).expand(q.size(0), k.size(0))

    assert meter_of(expanding, 16, torch.randn(96, 4), torch.randn(128, 4)).largest == 1


def test_in_training_a_loop_over_blocks_keeps_more_than_the_plain_computation() -> None:
    given = [torch.randn(1, 4, 512, 32, requires_grad=True) for _ in range(3)]

    def kept(work: Any) -> int:
        sizes: dict[int, int] = {}

        def note(x: torch.Tensor) -> torch.Tensor:
            sizes[x.data_ptr()] = max(x.numel(), sizes.get(x.data_ptr(), 0))
            return x

        with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
            result = work(*given)
        assert result.requires_grad
        return sum(sizes.values())

    plain = kept(lambda q, k, v: (q @ k.mT / 32**0.5).softmax(dim=-1) @ v)
    blocks = kept(lambda q, k, v: REFERENCE["blockwise_attention"](q, k, v, 32))
    assert blocks > plain > 4 * 512**2


def test_numbers_that_are_taken_out_one_by_one_are_seen() -> None:
    def by_hand(query, key, value, block, mask=None):
        [float(number) for number in query.flatten()]
        return torch.zeros(*query.shape[:-1], value.size(-1))

    outcomes = [check.values(by_hand, 5, record=True) for check in KEY.checks_of("blockwise_attention")]
    assert ran_in(KEY.shortcuts, "blockwise_attention", outcomes)[0] == "item"


ROW = "for all keys"
BLOCK = "for a block of keys"
ROWS = {
    "padded, a query at a time": (
        ROW,
        """
        pad = torch.nn.functional.pad
        n, key, value = key.size(-2), pad(key, (0, 0, 0, 1)), pad(value, (0, 0, 0, 1))
        keep = pad(torch.ones(1, n, dtype=torch.bool) if mask is None else mask, (0, 1))
        rows = [(q @ key.mT / q.size(-1) ** 0.5).masked_fill(~keep, -torch.inf) for q in query.split(1)]
        return torch.cat([row.softmax(-1) @ value for row in rows])""",
    ),
    "one key, then the others": (
        ROW,
        """
        rows = [torch.cat([q @ key[:1].mT, q @ key[1:].mT], -1) for q in query.split(1)]
        return torch.cat([row.softmax(-1) @ value for row in rows])""",
    ),
    "as a column": (
        ROW,
        """
        columns = [key @ q.mT for q in query.split(1)]
        return torch.cat([column.softmax(0).mT @ value for column in columns])""",
    ),
    "as complex numbers": (
        ROW,
        """
        half = key[::2] + 1j * torch.cat([key[1::2], key[:1]])[: len(key[::2])]
        rows = [torch.view_as_real(half @ q[0].to(half.dtype)).flatten()[: len(key)] for q in query.split(1)]
        return torch.stack([row.softmax(-1) @ value for row in rows])""",
    ),
    "all blocks in one table": (
        ROW,
        """
        blocks = torch.nn.functional.pad(key, (0, 0, 0, -len(key) % block)).view(-1, block, key.size(-1))
        rows = [(blocks * q).sum(-1).flatten()[: len(key)] for q in query.split(1)]
        return torch.stack([row.softmax(-1) @ value for row in rows])""",
    ),
    "a list of blocks": (
        ROW,
        """
        outputs = []
        for q in query.split(1):
            scores = [q @ k.mT for k in key.split(block)]
            largest = max(s.max() for s in scores)
            e = [(s - largest).exp() for s in scores]
            outputs.append(sum(n @ v for n, v in zip(e, value.split(block))) / sum(n.sum() for n in e))
        return torch.cat(outputs)""",
    ),
    "blocks joined at the end": (
        BLOCK,
        """
        parts = []
        for k, v in zip(key.split(block), value.split(block)):
            e = ((s := query @ k.mT) - s.amax(-1, keepdim=True)).exp()
            parts.append((s.amax(-1), e.sum(-1), e @ v))
        largest, total, mixed = (torch.stack(part) for part in zip(*parts))
        factor = (largest - largest.amax(0)).exp()
        return (factor[..., None] * mixed).sum(0) / (factor * total).sum(0)[..., None]""",
    ),
    "keys and mask padded, in another dtype": (
        BLOCK,
        """
        pad, n = torch.nn.functional.pad, -len(key) % block
        key, value = (pad(t.float(), (0, 0, 0, n)) for t in (key, value))
        bias = query.new_zeros(len(key)) if mask is None else torch.where(pad(mask, (0, n)), 0.0, -1e9)
        highest, total, output = query.new_full((len(query), 1), -1e9), 0, 0
        for k, v, b in zip(key.split(block), value.split(block), bias.split(block)):
            s = (query[:, None].float() * k).sum(-1) + b
            now = torch.maximum(highest, s.amax(-1, keepdim=True))
            new, old, highest = (s - now).exp(), (highest - now).exp(), now
            total, output = old * total + new.sum(-1, keepdim=True), old * output + new @ v.to(new.dtype)
        return (output / total).to(query.dtype)""",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_all_keys_is_seen_in_any_form(name: str) -> None:
    expected, body = ROWS[name]
    names: dict[str, Any] = {"torch": torch}
    exec(f"def blockwise_attention(query, key, value, block, mask=None):{body}", names)
    outcome = CHECKS["never_all_scores"].values(names["blockwise_attention"], 5)
    assert isinstance(outcome, Returned), outcome
    assert outcome.tree["a row of scores"] == expected
