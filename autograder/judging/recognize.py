"""Which mutants a wrong answer could be: those that give its values, and how far they agree with it."""

from __future__ import annotations

import re
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


def mutants_that_fit(case: Case) -> list[Fit]:
    """Return the known mistakes that give the values of the first failed check."""
    target, outcome = case.target, fingerprint(case.outcome)
    return [fit_of(case, name) for name, known in target.mistakes.items() if is_like(outcome, known, target)]


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
    rows = [(t, o, t.mistakes[name]) for t, o in zip(case.targets, case.outcomes, strict=True) if name in t.mistakes]
    telling = [(t, o, is_like(fingerprint(o), known, t)) for t, o, known in rows if t.is_wrong(known)]
    known = case.target.mistakes[name]
    finite = {path: leaf for path, leaf in known.get("leaves", {}).items() if not leaf.get("nan")}
    return Fit(
        name,
        everywhere=all(agrees for _, _, agrees in telling),
        visible=all(agrees for t, _, agrees in telling if not t.hidden),
        unopposed=not any(t.accepts(o) for t, o, _ in telling),
        numbers=shows_numbers({"leaves": finite}, case.target.right, case.target.tolerance),
        whole=all(t.accepts(o) for t, o, known in rows if not t.hidden and not t.is_wrong(known)),
    )
