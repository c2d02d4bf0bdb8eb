"""From which expressions of a cell each expression's value is made, followed through the text."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from .syntax import called, is_self


def inputs_in(tree: ast.Module, places: Sequence[ast.AST]) -> set[int]:
    """Return the places of what goes in from outside: parameters of functions that the cell itself does not call."""
    inner = {called(node) for node in ast.walk(tree)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name not in inner]
    outer = {id(node) for function in functions for node in ast.walk(function.args)}
    return {place for place, node in enumerate(places) if id(node) in outer}


def sources_in(tree: ast.Module, places: Sequence[ast.AST]) -> Mapping[int, set[int]]:
    """Return from which places each place's value is made, directly or not."""
    direct = Flow(places).of(tree)
    found: dict[int, set[int]] = {}
    for place in sorted(direct):
        waiting, reached = list(direct[place]), set[int]()
        while waiting:
            source = waiting.pop()
            if source not in reached and source != place:
                reached.add(source)
                waiting += direct.get(source, ())
        found[place] = reached
    return found


class Flow:
    """Which places of a cell's code each place's value is made from.

    Names are followed through the text from top to bottom, as if each line ran once.

    Args:
        places: what was looked at, by number.
    """

    def __init__(self, places: Sequence[ast.AST]) -> None:
        self._numbers = {id(node): place for place, node in enumerate(places)}
        self._names: dict[str, set[int]] = {}
        self._made: dict[int, set[int]] = {}

    def of(self, tree: ast.Module) -> Mapping[int, set[int]]:
        """Return from which places each one is made, directly."""
        for _ in range(2):  # a function may be called above the lines that define it
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
                given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
                self._names |= {a.arg: {self._numbers[id(a)]} for a in given if id(a) in self._numbers}
                for statement in function.body:
                    self._follow(statement, function.name)
        return self._made

    def _follow(self, statement: ast.stmt, function: str) -> None:
        """Follow one statement, and those in it."""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return
        children = list(ast.iter_child_nodes(statement))
        inner = [part for c in children if not isinstance(c, ast.stmt | ast.ExceptHandler) for part in ast.walk(c)]
        for part in inner:
            if isinstance(part, ast.comprehension):
                self._give(part.target, self._feeding(part.iter))
        for part in (statement, *inner):
            if id(part) in self._numbers:
                place = self._numbers[id(part)]
                self._made[place] = self._feeding(part) - {place}
        self._keep(statement, function)
        for child in children:
            if isinstance(child, ast.stmt):
                self._follow(child, function)

    def _keep(self, statement: ast.stmt, function: str) -> None:
        """Keep what a statement gives to names, or returns."""
        if isinstance(statement, ast.AugAssign) and id(statement) in self._numbers:
            self._names[getattr(statement.target, "id", "")] = {self._numbers[id(statement)]}
        elif isinstance(statement, ast.Assign | ast.AugAssign | ast.For):
            value = self._feeding(statement.iter if isinstance(statement, ast.For) else statement.value)
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                self._give(target, value)
        elif isinstance(statement, ast.Return) and statement.value:
            returned = {self._numbers[id(statement)]} if id(statement) in self._numbers else set()
            self._names.setdefault(f"{function}()", set()).update(returned or self._feeding(statement.value))

    def _give(self, target: ast.AST, value: set[int]) -> None:
        """Keep what a name, or a field of self, is made from; one that is written into keeps what it had."""
        whole = isinstance(target, ast.Name | ast.Attribute)
        for part in ast.walk(target):
            key = key_of(part)
            if key and isinstance(getattr(part, "ctx", None), ast.Store):
                self._names[key] = value if whole else self._names.get(key, set()) | value
            elif key:
                self._names[key] = self._names.get(key, set()) | value

    def _feeding(self, node: ast.AST) -> set[int]:
        """Return the places in a piece of code, and those that its names are made from."""
        found = {self._numbers[id(part)] for part in ast.walk(node) if id(part) in self._numbers}
        for part in ast.walk(node):
            found |= self._names.get(key_of(part), set()) | self._names.get(f"{called(part)}()", set())
        return found


def key_of(node: ast.AST) -> str:
    """Return what a variable, or a field of self, is kept under; '' for anything else."""
    if isinstance(node, ast.Attribute) and is_self(node.value):
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
