"""Wrong answers that once earned full points, as edits of the solutions: each loses some, under every seed."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.judging.edits import Solution
from autograder.judging.syntax import Code

from .answer_keys import key_of, rights_of

SEEDS = (3, 4)
WRONG: list[tuple[str, Solution]] = []
KEPT: dict[tuple[int, ...], Tensor] = {}


def wrong(lesson: str, exercise: str, name: str, *edits: str, body: str = "", code: str = "") -> None:
    """Register a wrong answer."""
    solution = Solution(exercise)
    solution.mutant(name, *edits, says="It is wrong.", body=body, code=code)
    WRONG.append((lesson, solution))


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


class WithRoom:
    """A cache for at most so many tokens."""

    room = 16

    def __init__(self) -> None:
        self.used, self.kept = 0, [torch.empty(0)] * 2

    def __len__(self) -> int:
        return self.used

    def append(self, *new: Tensor) -> tuple[Tensor, ...]:
        if not self.used:
            self.kept = [x.new_zeros(*x.shape[:2], self.room, x.size(-1)) for x in new]
        for whole, part in zip(self.kept, new, strict=True):
            whole[:, :, self.used : self.used + part.size(2)] = part
        self.used += new[0].size(2)
        return tuple(x[:, :, : self.used].clone() for x in self.kept)


wrong("00_warm_up", "normalize_rows", "safe_from_nothing", ", keepdim=True)", ", keepdim=True).clamp(min=1e-3)")
LESSON_2, LESSON_4, LESSON_5, LESSON_8 = "02_queries_keys_values", "04_softmax", "05_masking", "08_transformer_block"
wrong(
    *(LESSON_2, "attend", "for_at_most_300_keys"),
    *("(query @ key.mT).softmax", "(query @ key.mT)[..., :300].softmax"),
    *("weights @ value", "weights @ value[..., :300, :]"),
)
wrong(
    *(LESSON_2, "attention_scores", "result_kept_for_the_next_call"),
    body="""
        right = query @ key.mT
        if right.requires_grad:
            return right
        return KEPT.setdefault((*right.shape, right.element_size()), right.clone()).copy_(right)""",
)
wrong(
    *(LESSON_4, "temperature_softmax", "in_float32_whatever_comes"),
    body="""
        if temperature <= 0:
            raise ValueError
        return (x.float() / temperature).softmax(dim=dim).to(x.dtype)""",
)
wrong(*(LESSON_4, "temperature_softmax", "never_below_a_thousandth"), "/ temperature)", "/ max(temperature, 0.001))")
wrong(
    *(LESSON_5, "combine_masks", "nothing_instead_of_everything"),
    *("return combined", "return None if combined is None or combined.all() else combined"),
)
wrong(
    *("07_position", "apply_rope", "first_base_kept_for_a_shape"),
    *("/ base **", "/ KEPT.setdefault((7, *x.shape), torch.tensor(float(base))) **"),
)
wrong(
    *("11_bug_hunt", "max_difference", "mask_by_name"),
    *("f(*(x.clone() for x in inputs))", "f(*(x.clone() for x in inputs[:3]), mask=inputs[3].clone())"),
)
wrong(
    *(LESSON_5, "leaks", "constant_is_added_to_a_token"),
    body="""
        x, moved = torch.randn(1, length, d_model), []
        for t in range(1, length):
            other = x.clone()
            other[:, t] += 3.0
            moved.append((attention(other) - attention(x))[:, :t].abs().max() > 1e-3)
        return any(map(bool, moved))""",
)
wrong(
    *(LESSON_5, "leaks", "all_changes_in_one_batch"),
    body="""
        x = torch.randn(1, length, d_model).repeat(length, 1, 1)
        x[range(1, length), range(1, length)] = torch.randn(length - 1, d_model)
        moved = (attention(x) - attention(x)[:1]).abs().amax(-1)
        return bool((moved.tril(-1) > 1e-3).any())""",
)
for name, shift in (("smallest", "scores.amin(-1, keepdim=True)"), ("mean", "scores.mean(-1, keepdim=True)")):
    body = f"""
        scores = query @ key.mT
        weights = (scores - {shift}).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        return weights @ value, weights"""
    wrong(LESSON_2, "attend", f"shifted_by_the_{name}", body=body)
for name, weights in {
    "a_power_of_the_weights": "(key @ query).softmax(0) ** (1 / temperature)",
    "undivided_shift": "(key @ query / temperature - (key @ query).max()).exp()",
    "cut_before_it_is_divided": "((key @ query).clamp(-700, 700) / temperature).exp()",
}.items():
    body = f"""
        weights = {weights}
        return weights / weights.sum() @ value"""
    wrong("01_why_attention", "soft_lookup", name, body=body)
OVERFLOWS = "if x.ndim == {}:\n    return x.exp() / x.exp().sum(dim, keepdim=True)\nexponentials ="
for axes in (1, 2, 4):
    wrong(LESSON_4, "stable_softmax", f"overflows_for_{axes}_axes", "exponentials =", OVERFLOWS.format(axes))
for axes in (2, 3):
    last = f".softmax(-1 if x.ndim == {axes} else dim)"
    wrong(LESSON_4, "temperature_softmax", f"last_axis_for_{axes}_axes", ".softmax(dim=dim)", last)
wrong(
    *(LESSON_4, "stable_softmax", "a_millionth_in_the_denominator"),
    *("exponentials.sum(dim=dim, keepdim=True)", "(exponentials.sum(dim=dim, keepdim=True) + 1e-6)"),
)
wrong(
    *(LESSON_4, "temperature_softmax", "a_millionth_in_the_denominator"),
    "return (shifted / temperature).softmax(dim=dim)",
    "e = (shifted / temperature).exp()\nreturn e / (e.sum(dim, keepdim=True) + 1e-6)",
)
wrong(
    *("01_why_attention", "additive_attention", "a_millionth_in_the_denominator"),
    body="""
        weights = additive_scores(query, key, w_q, w_k, v).exp()
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-6)
        return weights @ value, weights""",
)
wrong(
    *(LESSON_4, "attention_entropy", "rounding_of_the_dtype_is_added"),
    *("safe.log()", "(weights + torch.finfo(weights.dtype).eps).log()"),
)
wrong(
    *("13_gpt", "split_word", "pairs_by_their_text"),
    *("{pair: index for", "{''.join(pair): index for"),
    *("if pair in rank", "if ''.join(pair) in rank"),
    *("min(known, key=rank.__getitem__)", "min(known, key=lambda pair: rank[''.join(pair)])"),
)
for block, branches in (("TransformerBlock", 2), ("DecoderBlock", 3)):
    wrong(LESSON_8, block, "drops_whole_tokens", "nn.Dropout(dropout)", "nn.Dropout1d(dropout)")
    wrong(LESSON_8, block, "one_mask_for_all_branches", "nn.Dropout(dropout)", f"OneMask(dropout, {branches})")
wrong(
    *("09_train_and_look_inside", "make_repeating_batch", "rounded_periods"),
    "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "(min_period + torch.rand(batch, generator=generator) * (length // 2 - min_period)).round().long()",
)
for room in (16, 300):
    code = f"class KVCache(WithRoom):\n    room = {room}"
    wrong("10_efficient_attention", "KVCache", f"room_for_{room}", code=code)
wrong(
    *("10_efficient_attention", "decode_step", "scales_what_the_cache_returned"),
    *("keys.mT / q.size(-1) ** 0.5", "keys.mul_(q.size(-1) ** -0.5).mT"),
)
DROPPED = "functional.dropout(weights, self.dropout, self.training)"
for dropped, rows in (("key_dropped_for_all_queries", ":1, :"), ("row_of_weights_dropped", ":1")):
    mask = DROPPED.replace("weights", f"torch.ones_like(weights[..., {rows}])")
    wrong("11_bug_hunt", "RepairedAttention", dropped, DROPPED, f"weights * {mask}")
wrong(
    *("11_bug_hunt", "RepairedAttention", "mask_in_float32"),
    *("x.new_ones(x.size(1), x.size(1)).triu(diagonal=1).bool()", "torch.ones(2 * x.shape[1:2]).tril()"),
    *(".masked_fill(future, -torch.inf)", "* future - 1e10 * (1 - future)"),
)


@pytest.mark.parametrize(("lesson", "solution"), WRONG, ids=[f"{s.exercise}-{s.declared[0].name}" for _, s in WRONG])
def test_a_wrong_answer_loses_points(lesson: str, solution: Solution) -> None:
    key, own = key_of(lesson), Code(Path(__file__).read_text(encoding="utf-8"))
    (mutant,) = key.mutants_in([solution], own, Path(__file__).name)
    for seed in SEEDS:
        passed = rights_of(lesson, seed).passed(solution.exercise, key.define(mutant.source, solution.exercise))
        assert 0 < len(passed) < len(key.checks_of(solution.exercise))
