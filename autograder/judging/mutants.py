"""Mutants of a solution: what one small slip makes of it, so that a student who made that slip can be told.

Known mistakes are written down by a lesson's author; mutants are made from the solution by the operators in
`mutations`, one edit each, as in mutation testing. They never decide about points.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .fingerprint import Fingerprint
from .mutant import Mutant
from .mutations import OPERATORS, Operator, Scope, is_self, steps_swapped
from .sentences import ANSWERS, SLIPS
from .syntax import Definition, definition
from .target import Target

MOST_CLAUSES = 2
UNTOUCHED = (ast.While, ast.Raise, ast.arguments, ast.AnnAssign)  # no mutant may run longer than its solution
# a slip that leaves entries unwritten would give other numbers at every run
UNINITIALIZED = re.compile(r"\b(new_)?empty(_like)?(?=\()")


@dataclass(frozen=True)
class Mutation:
    """A solution with one edit.

    Args:
        tree: the definition.
        words: what the edit is, as a clause.
    """

    tree: Definition
    words: str


def mutants_of(reference: str, exercise: str, define: Callable[[str, str], Any]) -> list[Mutant]:
    """Return the mutants of one exercise's solution, each once, likelier slips first.

    Args:
        reference: the code that defines every solution.
        exercise: whose.
        define: returns what a source defines under the exercise's name.
    """
    solution = definition(reference, exercise)
    if solution is None:
        return []
    seen, mutants = {ast.unparse(solution)}, []
    for mutation in mutations(solution):
        source = ast.unparse(ast.fix_missing_locations(mutation.tree))
        if source not in seen:
            seen.add(source)
            name = f"slip_{hashlib.sha256(source.encode()).hexdigest()[:8]}"
            written = UNINITIALIZED.sub(r"\1zeros\2", source)
            mutants.append(Mutant(exercise, name, mutation.words, written, define))
    return mutants


def one_slip(clauses: Iterable[str]) -> str:
    """Return what a student reads: one sentence for slips that give the same values."""
    return ANSWERS["slip"].format(clauses=joined(clauses))


def joined(clauses: Iterable[str]) -> str:
    """Join the first of the distinct clauses."""
    return ", or if ".join(list(dict.fromkeys(clauses))[:MOST_CLAUSES])


def distinct_slips(targets: Sequence[Target], clauses: Mapping[str, str]) -> dict[str, tuple[str, list[int]]]:
    """Return the slips that these checks notice: what each is, and on which checks its answer is worth keeping.

    That is the first check that it fails, and every one where others give the same there and not elsewhere. Those that
    look alike on all checks are one, and those that look like a known mistake are left to it.

    Args:
        targets: what is known about an exercise's visible checks.
        clauses: what each slip is, by name.
    """
    groups: dict[tuple[int, str], list[str]] = {}
    for name in clauses:
        place = next((i for i, t in enumerate(targets) if t.is_wrong(t.slips[name])), None)
        if place is not None and targets[place].tells_slip(name):
            groups.setdefault((place, look_of([targets[place].slips[name]])), []).append(name)
    found: dict[str, tuple[str, list[int]]] = {}
    for (place, look), names in groups.items():
        if look not in {look_of([known]) for known in targets[place].mistakes.values()}:
            alike: dict[str, list[str]] = {}
            for name in names:
                elsewhere = look_of([t.slips[name] for t in targets[place + 1 :]]) if len(names) > 1 else ""
                alike.setdefault(elsewhere, []).append(name)
            places = [place] if len(alike) == 1 else list(range(place, len(targets)))
            found |= {same[0]: (joined(clauses[name] for name in same), places) for same in alike.values()}
    return found


def look_of(prints: Sequence[Fingerprint]) -> str:
    """Return a text that is the same for fingerprints that are, to six digits."""
    return repr(to_six_digits(prints))


def to_six_digits(data: Any) -> Any:
    """Return data with its numbers to six digits."""
    if isinstance(data, dict):
        return {key: to_six_digits(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [to_six_digits(value) for value in data]
    return float(f"{data:.6g}") + 0.0 if isinstance(data, float) else data


def mutations(solution: Definition) -> Iterator[Mutation]:
    """Yield a solution's mutations, operator by operator."""
    flat = inlined(solution)
    yield from ignored_parameters(solution)
    for tree, operator in (*((solution, operator) for operator in OPERATORS), (flat, steps_swapped)):
        alike: dict[str, list[tuple[ast.AST, ast.AST]]] = {}
        for node, new, words in edits(tree, operator):
            alike.setdefault(words, []).append((node, new))
        for words, found in alike.items():
            yield from (Mutation(replaced(tree, [edit]), words) for edit in found)
            if len({id(node) for node, _ in found}) == len(found) > 1:
                yield Mutation(replaced(tree, found), words)  # a slip made once is made again on the next line
    yield from early_returns(solution)


def edits(tree: Definition, operator: Operator) -> Iterator[tuple[ast.AST, ast.AST, str]]:
    """Yield every node that an operator has something for, the new node, and the words."""
    for function, scope in functions(tree):
        for node in nodes(function):
            for new, words in operator(node, scope):
                yield node, new, words


def functions(tree: Definition) -> Iterator[tuple[ast.FunctionDef, Scope]]:
    """Yield the functions of a definition, each with what is known in it."""
    for function in [tree] if isinstance(tree, ast.FunctionDef) else tree.body:
        if isinstance(function, ast.FunctionDef):
            yield function, Scope(parameters(function), layers(tree), siblings(function))


def parameters(function: ast.FunctionDef) -> dict[str, str]:
    """Return a function's parameters with their annotations, `self` left out."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {a.arg: ast.unparse(a.annotation) if a.annotation else "" for a in arguments if a.arg != "self"}


def layers(tree: Definition) -> tuple[str, ...]:
    """Return the attributes of `self` that a class calls, in order."""
    called = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    names = dict.fromkeys(f.attr for f in called if is_self(f.value))
    return tuple(names) if isinstance(tree, ast.ClassDef) else ()


def siblings(function: ast.FunctionDef) -> tuple[tuple[str, ...], ...]:
    """Return the groups of names that one assignment defines together."""
    targets = [n.targets[0] for n in ast.walk(function) if isinstance(n, ast.Assign)]
    targets += [n.target for n in ast.walk(function) if isinstance(n, ast.For)]
    groups = [[e.id for e in t.elts if isinstance(e, ast.Name)] for t in targets if isinstance(t, ast.Tuple)]
    return tuple(tuple(group) for group in groups if len(group) > 1)


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, leaving out what must stay."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, UNTOUCHED):
            yield child
            yield from nodes(child)


class Replacement(ast.NodeTransformer):
    """Puts other nodes into some nodes' places.

    Args:
        new: what stands where, by the old node's id.
    """

    def __init__(self, new: Mapping[int, ast.AST]) -> None:
        self._new = new

    def visit(self, node: ast.AST) -> Any:
        """Return the new node where the old one stands."""
        return self._new[id(node)] if id(node) in self._new else self.generic_visit(node)


def replaced(tree: Definition, edits: Sequence[tuple[ast.AST, ast.AST]]) -> Definition:
    """Return a copy of a definition with some nodes replaced; of two, one inside the other, the outer one."""
    places = {id(node): place for place, node in enumerate(ast.walk(tree))}
    duplicate = copy.deepcopy(tree)
    here = list(ast.walk(duplicate))
    new = {id(here[places[id(node)]]): copy.deepcopy(other) for node, other in edits}
    changed: Definition = Replacement(new).visit(duplicate)
    return changed


def ignored_parameters(tree: Definition) -> Iterator[Mutation]:
    """Set a parameter that has a default to it, whatever was passed."""
    for function, _ in functions(tree):
        given = function.args
        pairs = list(zip(given.args[len(given.args) - len(given.defaults) :], given.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
        for argument, default in pairs:
            changed = copy.deepcopy(function)
            changed.body.insert(0, ast.Assign([ast.Name(argument.arg, ast.Store())], copy.deepcopy(default), lineno=0))
            yield Mutation(replaced(tree, [(function, changed)]), SLIPS["ignored"].format(name=argument.arg))


def early_returns(tree: Definition) -> Iterator[Mutation]:
    """Return an intermediate result in the place of the last one."""
    for function, _ in functions(tree):
        last = function.body[-1] if function.body else None
        if not isinstance(last, ast.Return) or last.value is None:
            continue
        names = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        parts = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        for part in parts:
            for name in dict.fromkeys(reversed(names)):
                new = ast.Name(name, ast.Load())
                yield Mutation(replaced(tree, [(part, new)]), SLIPS["last steps"])


def inlined(tree: Definition) -> Definition:
    """Return a definition in which a name that is assigned once and used once has become what it stands for."""
    changed = copy.deepcopy(tree)
    for function, _ in functions(changed):
        i = 0
        while i < len(function.body) - 1:
            rest = ast.Module(function.body[i + 1 :], [])
            if put_in_place(function.body[i], rest):
                function.body[i:] = rest.body
            else:
                i += 1
    return changed


def put_in_place(statement: ast.stmt, rest: ast.Module) -> bool:
    """Put what is assigned into its only place of use; say whether there was one."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    uses = [n for n in ast.walk(rest) if isinstance(n, ast.Name) and n.id == name]
    again = [n for loop in ast.walk(rest) if isinstance(loop, ast.For | ast.While) for n in ast.walk(loop)]
    if len(uses) != 1 or not isinstance(uses[0].ctx, ast.Load) or uses[0] in again:
        return False
    Replacement({id(uses[0]): statement.value}).visit(rest)
    return True
