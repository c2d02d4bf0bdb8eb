"""What of an author's words about a mistake may be told: praise that values show, operations that the code has."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from .case import Case, Explanation
from .observations import parts_of
from .sentences import ANSWERS, ANY_VALUE
from .syntax import called
from .target import shows_its_own_numbers
from .values import Returned

PRAISE = re.compile(r"\b(?:is|are) (?:right|correct|fine|back)\b|(?:^|[.:] )Right\b")
PRAISE_IN_FRONT = re.compile(r"^(?:[^.,:;]* (?:is|are) )?[Rr]ight\b[^.,:;]*(?:, but |[.,:;] (?:But )?)")
SENTENCES = re.compile(r"(?<=[.?!])\s+")
OPEN = re.compile(r"\?$|^Either\b")
LEAVES_OPEN = re.compile(r"\?|\bEither\b|, or ")
IN_CODE = re.compile(r"`(?:torch|np|functional)\.(\w+)")
IN_WORDS = re.compile(r"(?<!e to the )\b(power|einsum|assert)s?\b(?! of e)")
OPERATIONS: dict[type[ast.AST], str] = {ast.Pow: "power", ast.BitXor: "power", ast.Assert: "assert"}
LIKE = {"pow": "power", "square": "power", "float_power": "power"}


def told(explanation: Explanation, name: str, case: Case, *, alone: bool) -> Explanation | None:
    """Return an author's words as far as they are known to be true of this answer; None where they are not.

    What a known mistake has no numbers of its own for, such as an error, a dtype or a yes, other mistakes give too.
    Words that name operations are not told then where the code has none of them, praise is not where nothing that
    passes shows it, and of several mistakes none is where an edit of the student's code passes. Such an edit is told
    as well, and in place of what the words leave open.

    Args:
        explanation: the author's words.
        name: the known mistake's.
        case: the answer.
        alone: it is the only known mistake that fits.
    """
    target = case.target
    own = shows_its_own_numbers(target.mistakes[name], target.right, target.tolerance)
    if not own and not speaks_of(explanation.message, case.source):
        return None
    if not own and not alone and proof(case):
        return None
    passed = any(t.accepts(o) for t, o in zip(case.targets, case.outcomes, strict=True) if not t.hidden)
    if not isinstance(case.outcome, Returned) and not passed:
        explanation = replace(explanation, message=without_praise(explanation.message))
    definite = own and not LEAVES_OPEN.search(explanation.message)
    return explanation if definite else with_proof(explanation, case)


def with_proof(explanation: Explanation, case: Case) -> Explanation:
    """Return an author's words with the edit of the student's code that passes, where it says more than a number."""
    if not (proved := proof(case)):
        return explanation
    sure = [sentence for sentence in SENTENCES.split(explanation.message) if not OPEN.search(sentence)]
    return replace(explanation, message=" ".join([*sure, proved]))


def proof(case: Case) -> str:
    """Return the edit of the student's code with which every check passes, '' where any other number would do."""
    repair = case.search()
    return repair if ANSWERS["passes"] in repair and not ANY_VALUE.search(repair) else ""


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
