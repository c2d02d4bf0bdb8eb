"""Which mutants a wrong answer could be: those that give its values, and how far they agree with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .case import Case
from .fingerprint import Fingerprint, fingerprint, same
from .target import Target, shows_numbers

LAYER = re.compile(r"\b\w+(?=\.(?:weight|bias)\b)")


@dataclass(frozen=True)
class Fit:
    """How far a mutant agrees with an answer, beyond the first failed check.

    Args:
        name: the mutant's.
        everywhere: it gives the answer's values on every check that tells it from the right answer.
        visible: it does so on the visible ones.
        unopposed: it fails no check that the answer passed.
        numbers: on the first failed check it differs in a tensor without NaN: no two mutants do that alike by chance.
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
    return same(without_names(outcome), without_names(known), target.tolerance) and target.is_wrong(known)


def without_names(outcome: Fingerprint) -> Fingerprint:
    """Return a fingerprint whose texts do not name the layers that hold parameters: everybody calls them otherwise."""
    leaves = outcome.get("leaves", {})
    texts = {p: leaf["plain"] for p, leaf in leaves.items() if isinstance(leaf.get("plain"), str)}
    named = {p: {**leaves[p], "plain": LAYER.sub("…", text)} for p, text in texts.items() if LAYER.search(text)}
    return {**outcome, "leaves": {**leaves, **named}} if named else outcome


def fit_of(case: Case, name: str) -> Fit:
    """Return how far a mutant agrees with an answer that it gives on the first failed check."""
    triples = list(zip(case.targets, case.outcomes, (t.mistakes.get(name) for t in case.targets), strict=True))
    telling = [(t, o, known) for t, o, known in triples if known is not None and t.is_wrong(known)]
    agree = [(t, is_like(fingerprint(o), known, t)) for t, o, known in telling]
    passes = [(t, o) for t, o, known in triples if known is not None and not t.hidden and not t.is_wrong(known)]
    target, known = case.target, case.target.mistakes[name]
    finite = {path: leaf for path, leaf in known.get("leaves", {}).items() if not leaf.get("nan")}
    numbers = shows_numbers({"leaves": finite}, target.right, target.tolerance)
    return Fit(
        name,
        everywhere=all(agrees for _, agrees in agree),
        visible=all(agrees for t, agrees in agree if not t.hidden),
        unopposed=not any(t.accepts(o) for t, o, _ in telling),
        numbers=numbers,
        whole=all(t.accepts(o) for t, o in passes),
    )


def mutant_in_words(case: Case) -> str | None:
    """Name the mutant whose result is described in the same words, where numbers drawn at random never coincide."""
    target, mine = case.target, texts_in(fingerprint(case.outcome))
    right = texts_in(target.right)
    if mine == right or mine.keys() != right.keys():
        return None
    same_words = [name for name, known in target.mistakes.items() if texts_in(known) == mine]
    return next((name for name in same_words if fit_of(case, name).unopposed), None)


def texts_in(outcome: Fingerprint) -> dict[str, str]:
    """Return what a result holds of descriptions in words, by path."""
    leaves = {path: leaf.get("plain") for path, leaf in outcome.get("leaves", {}).items()}
    return {path: text for path, text in leaves.items() if isinstance(text, str) and " " in text}
