"""Texts that code puts together, hands over in loops, or that name what is private: a library may find by them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from typing import Any, TypeGuard

from .names import MOST_STEPS
from .ordinary import CALLED, DESCRIBING, listed
from .private import FRAMES, FUNCTIONS, is_own, is_private
from .syntax import bound_at, called, names_read

BUILT = "texts put together"
METHODS = listed("""
capitalize casefold center decode encode expandtabs format format_map join ljust loads lower lstrip partition readline
removeprefix removesuffix rjust rpartition rstrip splitlines strip swapcase title translate upper zfill
""")
BUILTINS = listed("ascii bytearray bytes chr dir format open repr str vars")
TELLING = listed("__doc__ __file__ __module__ __name__ __qualname__ __slots__ _fields args")  # attributes
QUIET = listed("debug display error info log print warn warning")  # what these are given is only shown
EVERYWHERE = listed("autograder builtins ctypes gc importlib sys")  # modules that lead there, if a text finds them
PLAIN_START = re.compile("[A-Za-z]{3}")
APART = (ast.Subscript, ast.Starred, ast.For, ast.comprehension)
PRIVATE = re.compile(r"_[A-Za-z]\w*")
AT_AN_END = re.compile("^_|_$|__")


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield private names in a statement's texts, and `BUILT` for each text that it puts together.

    What is only shown to somebody counts for neither. An underscore at an end of a text is a part of a private name.
    """
    parts = list(ast.walk(node))
    shown = {id(inner) for part in parts for each in shown_by(part) for inner in ast.walk(each)}
    if isinstance(node, ast.FunctionDef) and not any(isinstance(part, ast.Global | ast.Nonlocal) for part in parts):
        used = {"", *(part.id for part in parts if is_read(part) and id(part) not in shown)}
        messages = [part.value for part in parts if isinstance(part, ast.Assign) and used.isdisjoint(bound_by(part))]
        shown |= {id(inner) for message in messages for inner in ast.walk(message)}
    for part in parts:
        if id(part) in shown:
            continue
        if isinstance(part, ast.Constant):
            yield from private_in(part.value)
        elif puts_together(part):
            yield BUILT


def shown_by(part: ast.AST) -> Sequence[ast.AST]:
    """Return the expressions in a node that are only shown or compared, or whose text is read with the node's own."""
    match part:
        case ast.Raise():
            return [part]
        case ast.Assert(msg=ast.AST() as message):
            return [message]
        case ast.Expr(value=ast.Constant() | ast.Call(func=ast.Name(id="dir"))):
            return [part]
        case ast.Call(args=args) if called(part) in QUIET:
            files = (keyword.value for keyword in part.keywords if keyword.arg == "file")
            between = [keyword.value for keyword in part.keywords if keyword.arg in ("sep", "end")]
            return [*args, *between] if all(getattr(file, "attr", "") in ("stdout", "stderr") for file in files) else []
        case ast.JoinedStr(values=values):
            return [value for value in values if isinstance(value, ast.Constant)]
        case ast.Compare(left=left, comparators=others):
            sides = (left, *others)
            written = all(isinstance(each, ast.Constant | ast.Attribute) or is_plain_text(each) for each in sides)
            return [each for each in sides if isinstance(each, ast.Attribute) or (written and is_plain_text(each))]
    return []


def is_plain_text(node: ast.AST) -> bool:
    """Say whether an expression makes a text in one step, as `str(x.dtype)` does, whose parts nobody is given."""
    steps = [part for part in ast.walk(node) if isinstance(part, ast.Call | ast.BinOp | ast.JoinedStr)]
    return steps == [node] and puts_together(node)


def is_read(node: ast.AST) -> TypeGuard[ast.Name]:
    """Say whether a node is a name whose value is used."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def bound_by(assignment: ast.Assign) -> list[str]:
    """Return the names that an assignment gives a value to; an empty one where that is a field or an item."""
    return [getattr(target, "id", "") for target in assignment.targets]


def private_in(text: object) -> Iterator[str]:
    """Yield the private names in a text, and `BUILT` where it may be a part of one."""
    if not isinstance(text, str):
        return
    names = [name for name in re.findall(r"\w+", text) if name in FRAMES or is_private(name, None)]
    names += [step for step in text.split(".")[1:] if PRIVATE.fullmatch(step)]
    names += [begin for begin in [text.rpartition("/")[2].partition(".")[0]] if begin in EVERYWHERE]
    yield from (name for name in names if name != "__main__")
    if not names and AT_AN_END.search(text) and text not in DESCRIBING | CALLED:
        yield BUILT


def puts_together(part: ast.AST) -> bool:
    """Say whether an expression makes a text of others, cuts one, or gives an object's name as a text."""
    match part:
        case ast.BinOp() | ast.AugAssign():
            return any(map(is_text, ast.iter_child_nodes(part)))
        case ast.JoinedStr(values=values):
            return not (values and PLAIN_START.match(str(getattr(values[0], "value", ""))))
        case ast.Call(func=ast.Name(id=name)):
            return name in BUILTINS or (
                name == "map" and any(getattr(each, "id", "") in BUILTINS for each in part.args)
            )
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=given):
            return name in METHODS or is_text(owner) or (name == "replace" and len(given) > 1)
        case ast.Attribute(value=owner, attr=name):
            return name in TELLING and not (is_own(owner) and name == "args")
        case ast.keyword(arg=str(name)):
            return bool(AT_AN_END.search(name))
    taken_apart: Any = getattr(part, "iter", None) or getattr(part, "value", part)
    return isinstance(part, APART) and is_text(taken_apart) and "_" in ast.unparse(taken_apart)


def is_text(node: ast.AST) -> bool:
    """Say whether an expression is a text that is written out, also one with values in it."""
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def loop_texts(parts: Sequence[ast.AST]) -> dict[str, list[str]]:
    """Return the texts of names that nothing binds, and nothing reads, but loops over a few that are written out.

    Args:
        parts: a statement and all that is in it.
    """
    bound, read, found = Counter[str](), Counter(names_read(parts[0])), dict[str, list[list[str]]]()
    inside = Counter[str]()
    for part in parts:
        bound.update(bound_at(part))
    for loop in parts:
        around = list(comprehended_in(loop))
        for target, values in chain.from_iterable(map(columns_of, around)):
            texts = [text for value in values[:MOST_STEPS] if isinstance(text := getattr(value, "value", None), str)]
            if isinstance(target, ast.Name) and len(texts) == len(values):
                found.setdefault(target.id, []).append(texts)
                inside[target.id] += Counter(names_read(loop))[target.id]
    plain = {name: texts for name, texts in found.items() if len(texts) == bound[name] <= MOST_STEPS}
    return {name: [*chain(*texts)] for name, texts in plain.items() if inside[name] == read[name]}


def comprehended_in(node: ast.AST) -> Iterator[ast.For | ast.comprehension]:
    """Yield the loops that a node is: a `for` without functions of its own, or those of a comprehension."""
    if isinstance(node, ast.For) and not any(isinstance(part, FUNCTIONS) for part in ast.walk(node)):
        yield node
    yield from getattr(node, "generators", ())


def columns_of(loop: ast.For | ast.comprehension) -> Iterator[tuple[ast.AST, Sequence[ast.AST | None]]]:
    """Yield what a loop over a list that is written out gives to each of its names."""
    yield from columns(loop.target, loop.iter)


def columns(target: ast.AST, rows: ast.AST) -> Iterator[tuple[ast.AST, Sequence[ast.AST | None]]]:
    """Yield what a name, or each of several ones, is given one after another, also by `enumerate` and `zip`."""
    together = {"enumerate": [rows, *getattr(rows, "args", [])[:1]], "zip": getattr(rows, "args", [])}
    names = getattr(target, "elts", [])
    if called(rows) in together and names:
        yield from chain(*starmap(columns, zip(names, together[called(rows)], strict=False)))
        return
    values = getattr(rows, "elts", [None])
    yield target, values
    for n, name in enumerate(names if len(values) <= MOST_STEPS else ()):
        yield name, [row.elts[n] if isinstance(row, ast.Tuple) and n < len(row.elts) else None for row in values]
