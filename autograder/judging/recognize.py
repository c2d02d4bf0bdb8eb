"""Which mutants a wrong answer could be: those that give its values, and how far they agree with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .case import Case
from .fingerprint import Fingerprint, fingerprint, leaf_fingerprint, same, same_leaf
from .target import Target, shows_numbers
from .values import Returned


@dataclass(frozen=True)
class Fit:
    """How far a mutant agrees with an answer, beyond the first failed check.

    Args:
        name: the mutant's.
        everywhere: it gives the answer's values on every check that tells it from the right answer.
        visible: it does so on the visible ones.
        unopposed: it fails no check that the answer passed.
        numbers: on the first failed check it differs in a tensor, which no two mutants do alike by chance.
        whole: it fails each visible check that the answer fails, so what it does right is right in the answer.
    """

    name: str
    everywhere: bool
    visible: bool
    unopposed: bool
    numbers: bool
    whole: bool


Level = Callable[[Fit], bool]
AUTHORS: tuple[Level, ...] = (
    lambda fit: fit.everywhere,
    lambda fit: fit.visible,
)
WHOLE: tuple[Level, ...] = (lambda fit: fit.whole,)
# whoever made two mistakes is told of one, unless a passed check speaks against it
AMONG_OTHERS: tuple[Level, ...] = (lambda fit: fit.unopposed and fit.numbers,)


def mutants_that_fit(case: Case, levels: Sequence[Level]) -> list[str]:
    """Name the known mistakes that give the values of the first failed check and agree best otherwise."""
    target, outcome = case.target, fingerprint(case.outcome)
    names = [n for n, known in target.mistakes.items() if is_like(outcome, known, target)]
    fits = [fit_of(case, name) for name in names]
    return next((best for level in levels if (best := [fit.name for fit in fits if level(fit)])), [])


def is_like(outcome: Fingerprint, known: Fingerprint, target: Target) -> bool:
    """Say whether an outcome is that of a mutant, and the mutant is wrong here."""
    return same(outcome, known, target.tolerance) and target.is_wrong(known)


def fit_of(case: Case, name: str) -> Fit:
    """Return how far a mutant agrees with an answer that it gives on the first failed check."""
    triples = list(zip(case.targets, case.outcomes, (t.mistakes.get(name) for t in case.targets), strict=True))
    telling = [(t, o, known) for t, o, known in triples if known is not None and t.is_wrong(known)]
    agree = [(t, same(fingerprint(o), known, t.tolerance)) for t, o, known in telling]
    passes = [(t, o) for t, o, known in triples if known is not None and not t.hidden and not t.is_wrong(known)]
    target, known = case.target, case.target.mistakes[name]
    return Fit(
        name,
        everywhere=all(agrees for _, agrees in agree),
        visible=all(agrees for t, agrees in agree if not t.hidden),
        unopposed=not any(t.accepts(o) for t, o, _ in telling),
        numbers=shows_numbers(known, target.right, target.tolerance),
        whole=all(t.accepts(o) for t, o in passes),
    )


def mutant_in_another_dtype(case: Case) -> str | None:
    """Name a mutant whose numbers came out in another floating-point dtype than that of the inputs."""
    target, outcome = case.target, case.outcome
    if not isinstance(outcome, Returned):
        return None
    right = target.right.get("leaves", {})
    leaves, other = {}, False
    for leaf in outcome.leaves():
        wanted, value = right.get(leaf.path, {}).get("dtype", ""), leaf.value
        floats = isinstance(value, Tensor) and value.is_floating_point() and "float" in wanted
        if isinstance(value, Tensor) and floats and str(value.dtype) != f"torch.{wanted}":
            value, other = value.to(getattr(torch, wanted)), True
        leaves[leaf.path] = leaf_fingerprint(replace(leaf, value=value))
    found = {"leaves": leaves}
    return next((n for n, known in target.mistakes.items() if is_like(found, known, target)), None) if other else None


def mutant_in_part(case: Case) -> str | None:
    """Name the mutant that gives some of the wrong tensors in a result of several, where others differ.

    They are the first of them, or more than half: what two mistakes have left behind can coincide later on, and tables
    of True and False coincide anyway. Descriptions in words count like tensors, single numbers do not: where they were
    drawn at random, they never coincide. It fails no check that the answer passed.
    """
    target, outcome = case.target, fingerprint(case.outcome)
    right = target.right.get("leaves", {})
    if outcome.get("changed") or len(right) < 2:
        return None  # what was computed from a changed input tells nothing
    leaves = outcome.get("leaves", {}).items()
    leaves = {p: leaf for p, leaf in leaves if p in right and ("dtype" in leaf or is_described(leaf))}
    wrong = {p: leaf for p, leaf in leaves.items() if not same_leaf(leaf, right[p], target.tolerance)}
    best, most = None, 0
    for name, known in target.mistakes.items() if wrong else ():
        equal = [tells_alike(leaf, known.get("leaves", {}).get(p), target) for p, leaf in wrong.items()]
        enough = equal[0] or 2 * sum(equal) > len(wrong)
        if enough and sum(equal) > most and fit_of(case, name).unopposed:
            best, most = name, sum(equal)
    return best


def is_described(leaf: Fingerprint) -> bool:
    """Say whether a value is a description in words, as a summary gives where numbers are drawn at random."""
    return isinstance(leaf.get("plain"), str) and " " in leaf["plain"]


def tells_alike(leaf: Fingerprint, known: Fingerprint | None, target: Target) -> bool:
    """Say whether a wrong tensor, or a description, is the same as a mutant's, and not by chance."""
    if known is None or is_described(leaf):
        return leaf == known
    return bool(leaf["norm"] > 0 and leaf["dtype"] != "bool" and same_leaf(leaf, known, target.tolerance))
