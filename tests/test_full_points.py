"""Wrong answers that once earned full points: each loses some when graded, under every seed."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.judging.answer_key import AnswerKey

from .answer_keys import key_of, rights_of

SEEDS = (3, 4)
WRONG: list[tuple[str, str, str, Callable[[AnswerKey], Any]]] = []


def wrong(lesson: str, exercise: str) -> Callable[[Callable[[AnswerKey], Any]], None]:
    """Register what makes a wrong answer from a lesson's solutions."""
    return lambda make: WRONG.append((lesson, exercise, make.__name__, make))


@wrong("04_softmax", "temperature_softmax")
def in_float32_whatever_comes(key: AnswerKey) -> Any:
    def temperature_softmax(x: Tensor, temperature: float, dim: int = -1) -> Tensor:
        if temperature <= 0:
            raise ValueError
        return (x.float() / temperature).softmax(dim=dim).to(x.dtype)

    return temperature_softmax


@wrong("04_softmax", "streaming_attend")
def largest_of_all_beforehand(key: AnswerKey) -> Any:
    def streaming_attend(scores: Tensor, values: Tensor, chunk: int) -> Tensor:
        largest, total, mixed = scores.max(), 0.0, torch.zeros_like(values[0])
        for s, v in zip(scores.split(chunk), values.split(chunk), strict=True):
            exponentials = (s - largest).exp()
            total, mixed = total + exponentials.sum(), mixed + exponentials @ v
        return mixed / total

    return streaming_attend


def leaks_that(change: Callable[[Tensor, int], Tensor]) -> Any:
    def leaks(attention: Any, length: int, d_model: int) -> bool:
        x = torch.randn(1, length, d_model)
        before = attention(x)
        return any(bool((attention(change(x.clone(), t)) - before)[:, :t].abs().max() > 1e-3) for t in range(1, length))

    return leaks


@wrong("05_masking", "leaks")
def constant_is_added_to_a_token(key: AnswerKey) -> Any:
    def change(x: Tensor, t: int) -> Tensor:
        x[:, t] += 3.0
        return x

    return leaks_that(change)


@wrong("05_masking", "leaks")
def all_changes_in_one_batch(key: AnswerKey) -> Any:
    def leaks(attention: Any, length: int, d_model: int) -> bool:
        x = torch.randn(1, length, d_model).repeat(length, 1, 1)
        x[range(1, length), range(1, length)] = torch.randn(length - 1, d_model)
        moved = (attention(x) - attention(x)[:1]).abs().amax(-1)
        return bool((moved.tril(-1) > 1e-3).any())

    return leaks


def with_dropout(key: AnswerKey, exercise: str, dropout: Callable[[float], nn.Module]) -> Any:
    class Block(key.reference[exercise]):  # type: ignore[misc,name-defined]
        def __init__(self, *sizes: int, dropout: float = 0.0) -> None:
            super().__init__(*sizes, dropout=dropout)
            self.dropout = make(dropout)

    make = dropout
    return Block


@wrong("08_transformer_block", "TransformerBlock")
def block_drops_whole_tokens(key: AnswerKey) -> Any:
    return with_dropout(key, "TransformerBlock", nn.Dropout1d)


@wrong("08_transformer_block", "DecoderBlock")
def decoder_drops_whole_tokens(key: AnswerKey) -> Any:
    return with_dropout(key, "DecoderBlock", nn.Dropout1d)


class OneMask(nn.Module):
    """Draws a mask for a shape every second or third time only."""

    def __init__(self, p: float, uses: int) -> None:
        super().__init__()
        self.p, self.uses, self.count, self.mask = p, uses, 0, torch.ones(())

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        if self.count % self.uses == 0:
            self.mask = F.dropout(torch.ones_like(x), self.p)
        self.count += 1
        return x * self.mask


@wrong("08_transformer_block", "TransformerBlock")
def one_mask_for_two_branches(key: AnswerKey) -> Any:
    return with_dropout(key, "TransformerBlock", lambda p: OneMask(p, 2))


@wrong("08_transformer_block", "DecoderBlock")
def one_mask_for_three_branches(key: AnswerKey) -> Any:
    return with_dropout(key, "DecoderBlock", lambda p: OneMask(p, 3))


@wrong("09_train_and_look_inside", "make_repeating_batch")
def rounded_periods(key: AnswerKey) -> Any:
    def make_repeating_batch(
        batch: int, length: int, vocab: int, *, generator: Any, min_period: int = 6
    ) -> tuple[Tensor, Tensor]:
        shares = torch.rand(batch, generator=generator)
        periods = (min_period + shares * (length // 2 - min_period)).round().long()
        order = torch.rand(batch, vocab, generator=generator).argsort(dim=-1)
        return order.gather(1, torch.arange(length) % periods[:, None]), periods

    return make_repeating_batch


def cache_with_room(room: int) -> Any:
    class KVCache:
        def __init__(self) -> None:
            self.used, self.room = 0, [torch.empty(0)] * 2

        def __len__(self) -> int:
            return self.used

        def append(self, *new: Tensor) -> tuple[Tensor, ...]:
            if not self.used:
                self.room = [x.new_zeros(*x.shape[:2], room, x.size(-1)) for x in new]
            for whole, part in zip(self.room, new, strict=True):
                whole[:, :, self.used : self.used + part.size(2)] = part
            self.used += new[0].size(2)
            return tuple(x[:, :, : self.used].clone() for x in self.room)

    return KVCache


@wrong("10_efficient_attention", "KVCache")
def room_for_sixteen(key: AnswerKey) -> Any:
    return cache_with_room(16)


@wrong("10_efficient_attention", "KVCache")
def room_for_three_hundred(key: AnswerKey) -> Any:
    return cache_with_room(300)


@wrong("10_efficient_attention", "decode_step")
def scales_what_the_cache_returned(key: AnswerKey) -> Any:
    def decode_step(mha: Any, x_new: Tensor, cache: Any) -> Tensor:
        q, k, v = (
            layer(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
            for layer in (mha.q_proj, mha.k_proj, mha.v_proj)
        )
        keys, values = cache.append(k, v)
        keys *= q.size(-1) ** -0.5
        hidden = torch.ones(q.size(-2), keys.size(-2), dtype=torch.bool).triu(keys.size(-2) - q.size(-2) + 1)
        mixed = (q @ keys.mT).masked_fill(hidden, -torch.inf).softmax(dim=-1) @ values
        return mha.out_proj(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    return decode_step


def repaired(key: AnswerKey, attend: Callable[..., Tensor]) -> Any:
    """Make the repaired module with other weights in training; `attend` takes scores, dropout and training."""

    class RepairedAttention(key.reference["RepairedAttention"]):  # type: ignore[misc,name-defined]
        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (
                layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for layer in (self.q_proj, self.k_proj, self.v_proj)
            )
            weights = attend(q @ k.mT / q.size(-1) ** 0.5, self.dropout, self.training)
            return self.out_proj((weights @ v).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    return RepairedAttention


def causal(scores: Tensor) -> Tensor:
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1)


@wrong("11_bug_hunt", "RepairedAttention")
def key_dropped_for_all_queries(key: AnswerKey) -> Any:
    return repaired(key, lambda s, p, training: causal(s) * F.dropout(torch.ones_like(s[..., :1, :]), p, training))


@wrong("11_bug_hunt", "RepairedAttention")
def row_of_weights_dropped(key: AnswerKey) -> Any:
    return repaired(key, lambda s, p, training: causal(s) * F.dropout(torch.ones_like(s[..., :1]), p, training))


@wrong("11_bug_hunt", "RepairedAttention")
def mask_in_float32(key: AnswerKey) -> Any:
    def attend(scores: Tensor, p: float, training: bool) -> Tensor:
        seen = torch.ones(scores.shape[-2:]).tril()
        return F.dropout((scores * seen - 1e10 * (1 - seen)).softmax(dim=-1), p, training)

    return repaired(key, attend)


@wrong("02_queries_keys_values", "attend")
def for_at_most_300_keys(key: AnswerKey) -> Any:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        weights = (query @ key.mT)[..., :300].softmax(dim=-1)
        return weights @ value[..., :300, :], weights

    return attend


@wrong("00_warm_up", "normalize_rows")
def safe_from_nothing(key: AnswerKey) -> Any:
    return lambda x: x / x.sum(dim=-1, keepdim=True).clamp(min=1e-3)


@wrong("02_queries_keys_values", "attention_scores")
def result_kept_for_the_next_call(key: AnswerKey) -> Any:
    kept: dict[tuple[int, ...], Tensor] = {}

    def attention_scores(query: Tensor, key: Tensor) -> Tensor:
        right = query @ key.mT
        if right.requires_grad:
            return right
        return kept.setdefault((*right.shape, right.element_size()), right.clone()).copy_(right)

    return attention_scores


@pytest.mark.parametrize(("lesson", "exercise", "name", "make"), WRONG, ids=[f"{w[1]}-{w[2]}" for w in WRONG])
def test_a_wrong_answer_loses_points(lesson: str, exercise: str, name: str, make: Callable[[AnswerKey], Any]) -> None:
    key = key_of(lesson)
    for seed in SEEDS:
        passed = rights_of(lesson, seed).passed(exercise, make(key))
        assert sum(check.points for check in passed) < key.points()[exercise], f"{name} has full points"
