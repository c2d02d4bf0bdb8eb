"""Lesson 9's reference against independent oracles."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from autograder.judging.modules import importable

from .answer_keys import key_of

KEY = key_of("09_train_and_look_inside")
REFERENCE = KEY.reference
batch, previous, induction, ablate = (REFERENCE[name] for name in KEY.exercises)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


sizes = st.tuples(st.integers(1, 5), st.integers(0, 6), st.integers(0, 9), st.integers(0, 1))


@given(sizes, st.integers(0, 10**6))
def test_each_row_repeats_distinct_tokens_with_its_own_period(drawn: tuple[int, ...], seed: int) -> None:
    shortest, wider, more, odd = drawn
    length = 2 * (shortest + wider) + odd
    vocab = length // 2 + more
    tokens, periods = batch(7, length, vocab, generator=generator(seed), min_period=shortest)
    for row, period in zip(tokens.tolist(), periods.tolist(), strict=True):
        assert shortest <= period <= length // 2
        assert len(set(row[:period])) == period
        assert row == (row[:period] * length)[:length]
        assert set(row) <= set(range(vocab))


def test_every_period_and_every_token_in_every_place_is_drawn() -> None:
    tokens, periods = batch(4000, 25, 13, generator=generator())
    assert torch.bincount(periods, minlength=13)[6:].min() > 4000 / 7 * 0.8
    for place in range(25):
        assert torch.bincount(tokens[:, place], minlength=13).min() > 4000 / 13 * 0.7


def test_the_generator_alone_decides() -> None:
    one, equal = generator(3), generator(3)
    state = torch.random.get_rng_state()
    tokens, periods = batch(9, 20, 15, generator=one)
    assert all(a.equal(b) for a, b in zip((tokens, periods), batch(9, 20, 15, generator=equal), strict=True))
    assert not tokens.equal(batch(9, 20, 15, generator=one)[0])
    assert torch.random.get_rng_state().equal(state)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(2, 9))
def test_a_head_that_always_looks_one_back_scores_1(sentences: int, heads: int, length: int) -> None:
    back = torch.eye(length).roll(1, 0).tril(-1)
    weights = torch.rand(sentences, heads, length, length)
    weights[:, 0] = back
    assert previous(weights)[0] == 1
    torch.testing.assert_close(previous(weights), (weights * back).sum((0, 2, 3)) / (sentences * (length - 1)))


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.integers(1, 3), st.integers(8, 12))
def test_an_induction_score_is_the_mean_over_a_list(periods: list[int], heads: int, length: int) -> None:
    weights = torch.rand(len(periods), heads, length, length, dtype=torch.float64)
    found = [weights[b, :, i, i - p + 1] for b, p in enumerate(periods) for i in range(p, length)]
    right = torch.stack(found).mean(dim=0)
    torch.testing.assert_close(induction(weights, torch.tensor(periods)), right)


def test_a_head_that_matches_tokens_scores_1() -> None:
    tokens, periods = batch(8, 24, 12, generator=generator())
    matches = nn.functional.pad(tokens[:, :, None] == tokens[:, None, :-1], (1, 0))  # the key's predecessor is my token
    keys = torch.arange(24) * (matches & torch.ones(24, 24, dtype=torch.bool).tril())
    head = nn.functional.one_hot(keys.amax(dim=-1), 24).double()[:, None]
    torch.testing.assert_close(induction(head, periods), torch.ones(1, dtype=torch.float64))


def attention(heads: int, bias: bool) -> Any:
    with importable(KEY.source.modules, KEY.source.folder):
        from attention import MultiHeadAttention
    module = MultiHeadAttention(12, heads, bias=bias).double()
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def without(module: Any, heads: set[int], x: torch.Tensor) -> torch.Tensor:
    """Add up the contributions of the heads that are left."""
    seen = []
    with module.out_proj.register_forward_pre_hook(lambda layer, read: seen.append(read[0])):
        module(x)
    parts = zip(seen[0].chunk(module.num_heads, -1), module.out_proj.weight.chunk(module.num_heads, 1), strict=True)
    left = sum(z @ w.mT for h, (z, w) in enumerate(parts) if h not in heads)
    return left + (0 if module.out_proj.bias is None else module.out_proj.bias)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("heads", [1, 3, 4])
def test_an_ablated_head_is_missing_from_the_sum_over_heads(heads: int, bias: bool) -> None:
    module, x = attention(heads, bias), torch.randn(2, 5, 12, dtype=torch.float64)
    before = module(x)[0]
    torch.testing.assert_close(before, without(module, set(), x))
    for head in range(heads):
        with ablate(module, head):
            torch.testing.assert_close(module(x)[0], without(module, {head}, x) + torch.zeros_like(before))
        assert module(x)[0].equal(before)


def test_blocks_nest_and_exceptions_restore() -> None:
    module, x = attention(4, True), torch.randn(1, 5, 12, dtype=torch.float64)
    before, parameters = module(x)[0], list(module.parameters())
    with ablate(module, 3):
        with ablate(module, 1):
            torch.testing.assert_close(module(x)[0], without(module, {1, 3}, x))
        with pytest.raises(KeyError), ablate(module, 1):
            raise KeyError
        torch.testing.assert_close(module(x)[0], without(module, {3}, x))
    assert module(x)[0].equal(before)
    assert all(a is b and a.requires_grad for a, b in zip(parameters, module.parameters(), strict=True))


def test_gradients_may_be_taken_after_the_block_and_blocks_end_in_any_order() -> None:
    module, x = attention(4, True), torch.randn(1, 5, 12, dtype=torch.float64)
    before = module(x)[0]
    with ablate(module, 1):
        inside = module(x)[0].sum()
    (inside + before.sum()).backward()
    outer, inner = ablate(module, 0), ablate(module, 2)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert module(x)[0].equal(before)


def test_the_shipped_module_equals_pytorchs() -> None:
    module, x = attention(3, True), torch.randn(2, 5, 12, dtype=torch.float64)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True).double()
    layers = (module.q_proj, module.k_proj, module.v_proj)
    theirs.in_proj_weight.data = torch.cat([layer.weight.data for layer in layers])
    theirs.in_proj_bias.data = torch.cat([layer.bias.data for layer in layers])
    theirs.out_proj.load_state_dict(module.out_proj.state_dict())
    rule = torch.ones(5, 5, dtype=torch.bool).tril()
    right = theirs(x, x, x, attn_mask=~rule, average_attn_weights=False)
    torch.testing.assert_close(module(x, mask=rule, need_weights=True), right)
