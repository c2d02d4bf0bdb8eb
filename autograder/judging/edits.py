"""Edits of a solution: known mistakes with words, and right answers written another way.

A lesson declares them in mistakes.py and variants.py.

Solutions are compared and edited in one spelling, that of `ast.unparse` without docstrings, and white space between
tokens makes no difference, so an edit may be copied from the lesson as it stands there.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from types import ModuleType
from typing import Any

from .parsing import parse
from .syntax import TOKEN, Code, definition, imports_and_helpers

VARIANT = "~"
DECLARED = "__solutions__"  # where a module's namespace keeps what `solution` returned in it


class EditError(ValueError):
    """An edit does not fit the solution's text."""


def family_of(name: str) -> str:
    """Return the name of a mistake as its author gave it, of itself or of one of its variants."""
    return name.partition(VARIANT)[0]


@dataclass(frozen=True, eq=False)
class Mutant:
    """A wrong solution, and what it is called.

    Args:
        exercise: whose.
        name: its own, unique in an exercise.
        message: what a student who wrote it should read; an operator's is a clause.
        source: a cell that defines it.
        define: returns what a source defines under the exercise's name.
        hint: the number of the hint that helps here, 0 for the next one.
    """

    exercise: str
    name: str
    message: str
    source: str
    define: Callable[[str, str], Any]
    hint: int = 0

    @cached_property
    def work(self) -> Any:
        """The wrong function or class."""
        return self.define(self.source, self.exercise)


@dataclass(frozen=True)
class Wording:
    """A known mistake, or a right answer written another way, as its author declares it.

    Args:
        name: its own, unique in an exercise.
        edits: what stands in the solution, and what stands there instead, in turn.
        says: a sentence or two for the student; '' of a right answer.
        line: where it stands in its file.
        hint: the number of the hint that helps here, 0 for the next one.
        every: each edit is made wherever its text occurs.
        method: which of a class's methods `body` is of.
        body: the whole body of the function or the method, where no edit will do.
        code: the whole definition, with helpers before it, where the signature is wrong too.
    """

    name: str
    edits: tuple[str, ...]
    says: str
    line: int
    hint: int = 0
    every: bool = False
    method: str = ""
    body: str = ""
    code: str = ""


@dataclass(frozen=True)
class Solution:
    """An exercise's solution, as what mistakes and variants are edits of.

    Args:
        exercise: its name.
        also_without: statements, by how they begin, that a student who makes a mistake may also have left out.
        spelled: a right solution in another spelling, which mistakes edit in place of the lesson's own.
    """

    exercise: str
    also_without: tuple[str, ...] = ()
    spelled: str = ""
    declared: list[Wording] = field(default_factory=list)

    def mutant(self, name: str, *edits: str, says: str, drop: str = "", **how: Any) -> None:
        """Declare a known mistake: an edit of the solution, and what a student who made it should read.

        Args:
            name: its own, unique in an exercise.
            edits: what stands in the solution, exactly once, and what stands there instead; then the next pair.
            says: a sentence or two for the student.
            drop: what to leave out of the solution, with the comma before it.
            how: other fields of `Wording`: `hint`, `every`, `body` with `method`, or `code`.
        """
        pairs, line = (*edits, *((drop, "") if drop else ())), sys._getframe(1).f_lineno
        self.declared.append(Wording(name, pairs, " ".join(says.split()), line, **how))

    def variant(self, name: str, *edits: str, **how: Any) -> None:
        """Declare a right answer written another way; its arguments are those of `mutant`."""
        self.declared.append(Wording(name, edits, "", sys._getframe(1).f_lineno, **how))

    def itself(self) -> Solution:
        """Return the other spelling as a right answer written another way."""
        return Solution(self.exercise, declared=[Wording("spelled", (), "", 0, code=self.spelled)])


def solution(exercise: str, *, also_without: str | Sequence[str] = (), spelled: str = "") -> Solution:
    """Return an exercise's solution, to declare edits of it.

    Args:
        exercise: its name.
        also_without: how statements begin that a student may have left out as well, such as `if temperature <= 0:`.
            Each mistake is then known with and without them.
        spelled: a right solution in another spelling, for mistakes that are edits of that.
    """
    guards = (also_without,) if isinstance(also_without, str) else tuple(also_without)
    declared = Solution(exercise, guards, textwrap.dedent(spelled))
    sys._getframe(1).f_globals.setdefault(DECLARED, []).append(declared)
    return declared


def solutions_in(module: ModuleType) -> list[Solution]:
    """Return what a mistakes.py or a variants.py declares, in its order."""
    return list(vars(module).get(DECLARED, []))


def sources_of(declared: Solution, wording: Wording, reference: str, file: Code) -> Iterator[tuple[str, str]]:
    """Yield a mistake's name and source: once, and once more without each of the statements that may be missing.

    Args:
        declared: the solution that it is a mistake in.
        wording: the mistake.
        reference: the code that defines every solution.
        file: the text that declares it, whose imports and helpers it may use.

    Raises:
        EditError: the text of an edit is not there exactly once, or what comes out is no Python.
    """
    text, number = text_of(declared.exercise, declared.spelled or reference), 1
    for count in range(len(declared.also_without) + 1):
        for guards in combinations(declared.also_without, count):
            try:
                source = edited(without(text, guards) if guards else text, wording)
            except EditError:
                if not count:
                    raise
                continue  # the mistake is in what is left out
            helpers = imports_and_helpers(file, source)
            name = wording.name if number == 1 else f"{wording.name}{VARIANT}{number}"
            number += 1
            yield name, "\n\n".join([*helpers, source])


@lru_cache(maxsize=64)
def text_of(exercise: str, reference: str) -> str:
    """Return a solution in the one spelling. Raises EditError where there is none."""
    right = definition(reference, exercise)
    if right is None:
        raise EditError(f"there is no solution of {exercise}")
    return ast.unparse(right)


def edited(text: str, wording: Wording) -> str:
    """Return a solution's text with a mistake in it. Raises EditError where the mistake does not fit."""
    if wording.code:
        return textwrap.dedent(wording.code).strip()
    for old, new in zip(wording.edits[::2], wording.edits[1::2], strict=True):
        text = replaced_once(text, old, new, every=wording.every)
    if wording.body:
        text = with_body(text, wording.method, wording.body)
    return parsed_again(text)


def parsed_again(text: str) -> str:
    """Return code in the one spelling. Raises EditError where it is no Python."""
    try:
        return ast.unparse(parse(text))
    except SyntaxError as error:
        raise EditError(f"what comes out is not Python: {error.msg}, in `{(error.text or '').strip()}`") from error


def replaced_once(text: str, old: str, new: str, *, every: bool = False) -> str:
    """Replace what stands in a text exactly once, or everywhere. Raises EditError for any other count."""
    spots = list(re.finditer(pattern_of(old, with_comma=not new), text))
    if not spots or (len(spots) > 1 and not every):
        raise EditError(f"`{old}` is there {len(spots)} times" if spots else f"`{old}` is not there")
    for spot in reversed(spots):
        start, end = spot.span()
        line = text[text.rfind("\n", 0, start) + 1 : start]
        margin = line[: len(line) - len(line.lstrip())]
        text = text[:start] + textwrap.dedent(new).replace("\n", f"\n{margin}") + text[end:]
    return text


def pattern_of(old: str, *, with_comma: bool = False) -> str:
    """Return what finds a piece of code however it is spaced; what is left out takes its comma with it."""
    old = textwrap.dedent(old).strip()
    with contextlib.suppress(SyntaxError):  # of less than an expression, such as `/ temperature`
        old = ast.unparse(parse(old))
    words = [re.escape(token) if token not in "'\"" else "['\"]" for token in TOKEN.findall(old)]
    start = r"(?<!\w)" if re.match(r"\w", old) else ""
    end = r"(?!\w)" if re.search(r"\w$", old) else ""
    return (r"(?:,\s*)?" if with_comma else "") + start + r"\s*".join(words) + end


def with_body(text: str, method: str, body: str) -> str:
    """Return a definition with another body of itself or of one of its methods."""
    tree = parse(text)
    whole = tree.body[-1]
    inner = [n for n in ast.walk(whole) if isinstance(n, ast.FunctionDef) and n.name == (method or n.name)]
    if not inner or (isinstance(whole, ast.ClassDef) and not method):
        raise EditError(f"there is no method {method!r}")
    try:
        inner[0].body = parse(textwrap.dedent(body)).body
    except SyntaxError as error:
        raise EditError(f"the body is not Python: {error.msg}") from error
    return ast.unparse(tree)


def without(text: str, guards: Sequence[str]) -> str:
    """Return a solution without the statements that begin with some words. Raises EditError where one is missing."""
    tree = parse(text)
    for guard in guards:
        start = re.compile(pattern_of(guard))
        bodies = [n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        spots = [(body, s) for body in bodies for s in body if start.match(ast.unparse(s))]
        if len(spots) != 1:
            raise EditError(f"{len(spots)} statements begin with `{guard}`")
        body, statement = spots[0]
        body.remove(statement)
    return ast.unparse(tree)
