"""Which known mistakes a wrong answer could be, and what of their authors' words may be told of it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from .case import Case, Explanation
from .fingerprint import Fingerprint, fingerprint, same
from .observations import parts_of
from .syntax import called
from .target import Target, shows_numbers
from .values import Returned

PRAISE = re.compile(r"\b(?:is|are) (?:right|correct|fine|back)\b|(?:^|[.:] )Right\b")
PRAISE_IN_FRONT = re.compile(r"^(?:[^.,:;]* (?:is|are) )?[Rr]ight\b[^.,:;]*(?:, but |[.,:;] (?:But )?)")
SENTENCES = re.compile(r"(?<=[.?!])\s+")
OPEN = re.compile(r"\?$|^Either\b")
IN_CODE = re.compile(r"`(?:torch|np|functional)\.(\w+)")
IN_WORDS = re.compile(r"(?<!e to the )\b(power|einsum|assert)s?\b(?! of e)")
OPERATIONS: dict[type[ast.AST], str] = {ast.Pow: "power", ast.BitXor: "power", ast.Assert: "assert"}
LIKE = {"pow": "power", "square": "power", "float_power": "power"}
LAYER = re.compile(r"\b\w+(?=\.(?:weight|bias)\b)")


@dataclass(frozen=True)
class Fit:
    """How far a mutant agrees with an answer, beyond the first failed check.

    Args:
        name: the mutant's.
        everywhere: it gives the answer's values on every check that tells it from the right answer.
        visible: it does so on the visible ones.
        whole: it fails each visible check that the answer fails, so what it does right is right in the answer.
    """

    name: str
    everywhere: bool
    visible: bool
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
    telling = [(t, is_like(fingerprint(o), known, t)) for t, o, known in rows if t.is_wrong(known)]
    return Fit(
        name,
        everywhere=all(agrees for _, agrees in telling),
        visible=all(agrees for t, agrees in telling if not t.hidden),
        whole=all(t.accepts(o) for t, o, known in rows if not t.hidden and not t.is_wrong(known)),
    )


def told(explanation: Explanation, name: str, case: Case, *, alone: bool) -> Explanation | None:
    """Return an author's words as far as they are known to be true of this answer; None where they are not.

    What a known mistake has no numbers of its own for, such as an error, a dtype or a yes, other mistakes give too.
    Words that name operations are not told then where the code has none of them, praise is not where nothing that
    passes shows it, and of several mistakes none is where an edit of the student's code passes. Such an edit is told
    as well, and in place of a question. Where the numbers are the mistake's own, and its words ask nothing, none is
    looked for: it would take longer than the judging, and say the same.

    Args:
        explanation: the author's words.
        name: the known mistake's.
        case: the answer.
        alone: it is the only known mistake that fits.
    """
    target = case.target
    own = shows_numbers(target.mistakes[name], target.right, target.tolerance, own=True)
    if not own and not speaks_of(explanation.message, case.source):
        return None
    if not own and not alone and case.search().proof:
        return None
    passed = any(t.accepts(o) for t, o in zip(case.targets, case.outcomes, strict=True) if not t.hidden)
    if not isinstance(case.outcome, Returned) and not passed:
        explanation = replace(explanation, message=without_praise(explanation.message))
    definite = own and not any(map(OPEN.search, SENTENCES.split(explanation.message)))
    return explanation if definite else with_proof(explanation, case)


def with_proof(explanation: Explanation, case: Case) -> Explanation:
    """Return an author's words with the edit of the student's code that passes, or else where a gradient was lost.

    What the author asks is left out then, but not for another number, of which many would do.
    """
    seen, said = case.search(), [explanation.message]
    if seen.proof:
        said = [sentence for sentence in SENTENCES.split(explanation.message) if not OPEN.search(sentence)]
    return replace(explanation, message=" ".join(filter(None, [*said, seen.repair or seen.cut])))


def without_praise(message: str) -> str:
    """Return an author's words without the praise that they begin with."""
    rest = PRAISE_IN_FRONT.sub("", message)
    return rest[:1].upper() + rest[1:] if rest not in ("", message) else message


def speaks_of(message: str, source: str) -> bool:
    """Say whether words name no operation, or one that the code has; where the code is not known they may."""
    named = {*IN_CODE.findall(message), *IN_WORDS.findall(message)}
    return not named or not source or not named.isdisjoint(operations_in(source))


def operations_in(source: str) -> set[str]:
    """Return what a code calls, names or does, in the words of a message."""
    found: set[str] = set()
    for part in parts_of(source):
        name = called(part) or getattr(part, "attr", "") or getattr(part, "id", "") or getattr(part, "arg", "")
        found |= {name, LIKE.get(name, ""), OPERATIONS.get(type(part), "")}
    return found
