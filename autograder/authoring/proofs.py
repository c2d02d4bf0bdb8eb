"""Proofs about a lesson's checks: no score depends on the draw, and no derived answer earns full points."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..judging.answer_key import AnswerKey
from ..judging.battery import Battery, one_by_one
from ..judging.black_box import BlackBox
from ..judging.check import Check
from ..judging.compare import equal
from ..judging.edits import Mutant
from ..judging.guard import Guard, NotOrdinaryError, word_in
from ..judging.inputs import PUBLIC_SEED, Inputs
from ..judging.mediated import mediated
from ..judging.modules import running_lesson
from ..judging.parsing import parse
from ..judging.shortcuts import record_of
from ..judging.target import Target
from ..judging.values import Outcome, Returned
from ..judging.vocabulary import outside

Derive = Callable[[Any], Any]
SEED = 20260101
GRADED_WITH = (SEED, 101)


def same_points_under_seeds(key: AnswerKey, seeds: Sequence[int], each: int | None = None) -> Iterator[str]:
    """Check that every known mistake fails under every seed, and earns the same points each time.

    Args:
        key: a lesson's answer key.
        seeds: all that are tried.
        each: how many of them a mistake meets at least, beside the one that it is judged under; by default all. An
            exercise's mistakes share them out, so that its checks and its solution run with every one.
    """
    rights = {seed: ReferenceOutcomes(key, seed) for seed in seeds}
    for mistake, own in (pair for exercise in key.exercises for pair in shared_out(key, exercise, seeds, each)):
        exercise, work, checks = mistake.exercise, asked_once(mistake.work), key.checks_of(mistake.exercise)
        earned = {seed: rights[seed].passed(exercise, work) for seed in own}
        if each is not None:
            judged = zip(checks, key.targets(exercise, SEED), strict=True)
            earned[SEED] = [check for check, target in judged if not target.tells_apart(mistake.name)]
        unseen = next((seed for seed, passed in earned.items() if len(passed) == len(checks)), None)
        if unseen is not None:
            yield f"{exercise}: the mistake {mistake.name} passes every check with seed {unseen}: add what tells it"
        for check in checks:
            if len({check in passed for passed in earned.values()}) > 1:
                what = f"whether {mistake.name} passes {check.name} depends on the seed"
                yield f"{exercise}: {what}: draw what always tells"
                break


def shared_out(
    key: AnswerKey, exercise: str, seeds: Sequence[int], each: int | None
) -> Iterator[tuple[Mutant, list[int]]]:
    """Yield an exercise's mistakes with the seeds that each one meets, which go round."""
    mistakes = key.mistakes_of(exercise)
    count = len(seeds) if each is None else max(each, ceil(len(seeds) / max(len(mistakes), 1)))
    turn = cycle(seeds)
    return ((mistake, list(islice(turn, count))) for mistake in mistakes)


def derived_answers_fail(key: AnswerKey, seed: int) -> Iterator[str]:
    """Check that the reference with its result transposed, negated and so on never earns full points.

    Left out are changes that an exercise declares to be none, and exercises where more than one answer is right.
    """
    rights = ReferenceOutcomes(key, seed)
    declared = {(each.exercise, each.change) for each in key.invariances}
    for exercise in key.exercises:
        work, checks = key.reference[exercise], key.checks_of(exercise)
        if any(check.summary for check in checks):
            continue
        for name, derive in DERIVED.items():
            passes = len(rights.passed(exercise, derived_work(work, derive))) == len(checks)
            if passes and (exercise, name) not in declared and rights.concerns(exercise, derive):
                yield f"{exercise}: the right result, {name}, passes every check: add one that it fails"


def variant_problems(key: AnswerKey, seeds: Sequence[int] = GRADED_WITH) -> Iterator[str]:
    """Check that every exercise has right answers written another way, and that nobody who writes them is punished."""
    for exercise in key.exercises:
        if not any(variant.exercise == exercise for variant in key.variants):
            remedy = f'declare some with solution("{exercise}").variant(…) in {key.source.folder}/variants.py'
            yield f"{exercise} has no right answer written another way, such as a loop or einsum: {remedy}"
    yield from honest_answers_pass(key, key.variants, seeds)


def honest_answers_pass(key: AnswerKey, variants: Sequence[Mutant], seeds: Iterable[int]) -> Iterator[str]:
    """Check that right answers written another way pass every check, at home and graded, and raise no question."""
    graded = list(seeds)
    for variant in variants:
        names = dict(key.reference)
        guard = Guard(names, key.permitted(variant.exercise), key.module_names)
        guard.trust(key.reference.values())
        with running_lesson(key.source.modules, key.source.folder), suppress(NotOrdinaryError):
            exec(compile(mediated(parse(variant.source)), "variant", "exec", dont_inherit=True), names)
        problems = [*refusals(key, variant.exercise, names[variant.exercise], graded)]
        if word := word_in(guard.words):  # where it was stopped, it also fails
            problems = [f"raises a question: its code uses {word}"]
        yield from (f"{variant.exercise}: the right answer {variant.name} {problem}" for problem in problems)


def refusals(key: AnswerKey, exercise: str, work: Any, seeds: Iterable[int]) -> Iterator[str]:
    """Yield what an answer fails, or what a person would be asked about it."""
    checks = key.checks_of(exercise)
    for target, check in zip(key.targets(exercise, PUBLIC_SEED), checks, strict=True):
        if not (target.hidden or as_released(target).accepts(check.summarize(check.values(work, PUBLIC_SEED)))):
            yield f"fails {check.name} at home"
    for seed in seeds:
        for law in key.laws_of(exercise):
            if getattr(law.values(work, seed), "tree", None) is not True:
                yield f"breaks the law {law.name} with seed {seed}"
        outcomes = [check.values(work, seed, record=True) for check in checks]
        for check, target, outcome in zip(checks, key.targets(exercise, seed), outcomes, strict=True):
            if not target.accepts(check.summarize(outcome)):
                yield f"fails {check.name} when graded with seed {seed}"
        if unusual := outside(record_of(outcomes), key.known(exercise, seed), key.module_names):
            yield f"raises a question: it ran {unusual}"


def as_released(target: Target) -> Target:
    """Return a target without what students do not have."""
    return replace(target, exact=None, hidden=False)


class ReferenceOutcomes:
    """The right answers of a lesson's checks under one seed."""

    def __init__(self, key: AnswerKey, seed: int) -> None:
        self._key, self.seed = key, seed
        self._right: dict[str, tuple[Outcome, Check]] = {}

    def outcome(self, check: Check, work: Any) -> Outcome:
        """Run a check on a piece of work."""
        return check.summarize(check.values(work, self.seed))

    def accepts(self, check: Check, work: Any) -> bool:
        """Say whether work passes a check."""
        if check.name not in self._right:
            right = self.outcome(check, self._key.reference[check.exercise])
            self._right[check.name] = right, until_it_differs(check, right)
        right, narrowed = self._right[check.name]
        return equal(self.outcome(narrowed, work), right, check.tolerance)

    def passed(self, exercise: str, work: Any) -> list[Check]:
        """Return the checks that work passes."""
        return [check for check in self._key.checks_of(exercise) if self.accepts(check, work)]

    def concerns(self, exercise: str, derive: Derive) -> bool:
        """Say whether a change would change results like those of the reference, were they other numbers."""
        changes: list[bool] = []

        def look(result: Any) -> Any:
            like = random_like(result)
            changes.append(not equal(Returned(derive(like)), Returned(like), None))
            return result

        for check in self._key.checks_of(exercise):
            self.outcome(check, derived_work(self._key.reference[exercise], look))
        return any(changes)


def until_it_differs(check: Check, right: Outcome) -> Check:
    """Return a battery that stops at the first item whose value is not the right one; another check as it is."""
    if not isinstance(check, Battery) or not isinstance(right, Returned):
        return check
    example, items, tolerance = check.example, check.items, check.tolerance
    expected = {item: Returned(value) for item, value in right.tree.items()}

    def run(work: Any, draw: Inputs) -> dict[str, Any]:
        values = {}
        for item, value in one_by_one(example, items, work, draw):
            values[item] = value
            if not equal(Returned(value), expected[item], tolerance):
                raise AssertionError(item)
        return {item: values[item] for item in expected}

    return replace(check, run=run)


def asked_once(work: Any) -> Any:
    """Return work that keeps what it says about a black box: no seed changes that, unless it draws numbers itself."""
    if not callable(work) or isinstance(work, type):
        return work
    kept: dict[BlackBox, Any] = {}

    @functools.wraps(work)
    def ask(*given: Any, **options: Any) -> Any:
        if options or len(given) != 1 or not isinstance(given[0], BlackBox):
            return work(*given, **options)
        if given[0] not in kept:
            before, answer = torch.get_rng_state(), work(*given)
            if not before.equal(torch.get_rng_state()):
                return answer
            kept[given[0]] = answer
        return copy.copy(kept[given[0]])

    return ask


def random_like(result: Any) -> Any:
    """Return random numbers in the form of a result."""
    if isinstance(result, tuple):
        return tuple(random_like(item) for item in result)
    if isinstance(result, np.ndarray):
        return random_like(torch.from_numpy(result)).numpy()
    if not isinstance(result, Tensor) or result.is_meta:
        return result
    numbers = torch.randn(result.shape, generator=torch.Generator().manual_seed(0))
    return numbers > 0 if result.dtype == torch.bool else numbers.to(result.dtype)


def derived_work(work: Any, derive: Derive) -> Any:
    """Return a function, or a module class, whose result is derived from that of the reference."""
    if isinstance(work, type):
        forward: Any = work.forward  # type: ignore[attr-defined]
        return type(work.__name__, (work,), {"forward": lambda self, *a, **k: derive(forward(self, *a, **k))})

    def derived(*arguments: Any, **options: Any) -> Any:
        return derive(work(*arguments, **options))

    return derived


def on_tensors(change: Callable[[Tensor], Tensor], *, last_only: bool = False) -> Derive:
    """Make a derivation that changes each tensor of a result, or the last one of several."""

    def derive(result: Any) -> Any:
        if isinstance(result, tuple):
            first = len(result) - 1 if last_only else 0
            return tuple(derive(item) if i >= first else item for i, item in enumerate(result))
        if isinstance(result, np.ndarray):
            return change(torch.from_numpy(result)).numpy()
        return change(result) if isinstance(result, Tensor) and not result.is_meta else result

    return derive


def floating(change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Leave masks out of a change."""
    return lambda tensor: change(tensor) if tensor.is_floating_point() else tensor


def one_row(tensor: Tensor) -> Tensor:
    """Write the first row everywhere."""
    return tensor[..., :1, :].expand(tensor.shape) if tensor.ndim > 1 else tensor


DERIVED: Mapping[str, Derive] = {
    "transposed": on_tensors(lambda t: t.mT if t.ndim > 1 else t),
    "with its last result transposed": on_tensors(lambda t: t.mT if t.ndim > 1 else t, last_only=True),
    "negated": on_tensors(floating(torch.neg)),
    "doubled": on_tensors(floating(lambda t: 2 * t)),
    "1 minus it": on_tensors(lambda t: ~t if t.dtype == torch.bool else 1 - t),
    "moved by one": on_tensors(lambda t: t.roll(1, dims=-1) if t.ndim else t),
    "without the other sentences": on_tensors(lambda t: t[:1] if t.ndim else t),
    "with one row everywhere": on_tensors(one_row),
    "in another dtype": on_tensors(lambda t: t.double() if t.dtype == torch.float32 else t.float()),
    "in the opposite order": lambda result: result[::-1] if isinstance(result, tuple) else result,
    "with an axis too many": on_tensors(lambda t: t[None]),
    "in a list": lambda result: [result] if isinstance(result, Tensor | np.ndarray) else result,
    "left out": lambda result: None,
}
