"""What a student's code says of itself, without being run: unread arguments, steps of its own."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from .sentences import OBSERVED, OWN_STEPS
from .site import in_one_line, parameters_of
from .syntax import Definition, called, parsed

MOST_NAMED = 2
MOST_OWN, LONGEST = 3, 30  # steps and lines: with more, an answer is another way of going about it
NOT_READ = ("self", "cls")
MEANINGFUL = (  # steps that are hardly another way of writing one that a solution takes
    *("mean", "std", "var", "median", "multinomial", "bernoulli", "cumsum", "cumprod"),
    *("log2", "log10", "tanh", "sigmoid", "relu", "gelu", "sin", "cos", "prod", "dropout", "softmax", "norm"),
    *("normalize", "layer_norm", "sort", "round", "floor", "ceil"),
)
BY_NAME = ("startswith", "removeprefix", "removesuffix", "partition", "rpartition")  # as `endswith`


def unread_parameters(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """Return the parameters that nothing in a function reads."""
    read = names_in(function)
    names = (name for name in parameters_of(function) if name not in NOT_READ and not name.startswith("_"))
    return [name for name in names if name not in read]


def arguments_in_effect(tree: ast.Module) -> frozenset[str]:
    """Return the parameters that something in a cell's definitions depends on, by function and name.

    One that a class only stores in `self` counts where what was stored is read.
    """
    found: set[str] = set()
    for node in tree.body:
        fields = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
        for function in functions_in(node):
            read = {name for statement in function.body for name in names_read(statement, fields)}
            found |= {f"{function.name}({name})" for name in parameters_of(function) if name in read}
    return frozenset(found)


def names_read(statement: ast.stmt, fields: set[str]) -> set[str]:
    """Return the names that a statement reads, but for those that it only stores in fields that nothing reads."""
    if not isinstance(statement, ast.Assign):
        return names_in(statement)
    pairs = stored_in(statement)
    unread = [value for target, value in pairs if isinstance(target, ast.Attribute) and target.attr not in fields]
    kept = [part for pair in pairs for part in pair if pair[1] not in unread]
    return {name for part in kept for name in names_in(part)}


def stored_in(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Return what an assignment stores where, taken apart where both sides are."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def names_in(node: ast.AST) -> set[str]:
    """Return the names whose values a piece of code reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def functions_in(node: ast.stmt) -> list[ast.FunctionDef]:
    """Return a function, or those of a class."""
    functions = [node] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
    return [function for function in functions if isinstance(function, ast.FunctionDef)]


def parts_of(source: str) -> Iterator[ast.AST]:
    """Yield every node of a student's code."""
    return (part for statement in parsed(source) for part in ast.walk(statement))


def seen_in(source: str, steps: Collection[str] | None = None) -> list[str]:
    """Return sentences about a student's code: arguments that nothing reads, steps of its own.

    Args:
        source: the code.
        steps: those that right answers take, where that is known.
    """
    sentences = []
    for function in (function for node in parsed(source) for function in functions_in(node)):
        if unread := unread_parameters(function):
            kind = "unread" if len(unread) == 1 else "unread ones"
            sentences.append(OBSERVED[kind].format(name="` and `".join(unread)))
    sentences += own_steps(source, steps) if steps is not None else []
    return sentences[:MOST_NAMED]


def own_steps(source: str, steps: Collection[str]) -> list[str]:
    """Return a sentence about the steps that no known right answer takes, if they are few."""
    own, known = dict[str, ast.Call](), {OWN_STEPS.get(step) for step in steps}
    nodes = [part for node in definitions_in(source).values() for part in ast.walk(node)]
    calls = (part for part in nodes if isinstance(part, ast.Call))
    for part in sorted(calls, key=lambda part: (part.lineno, part.col_offset)):
        if (does := OWN_STEPS.get(step_in(part), "")) and does not in known:
            own.setdefault(does, part)
    if not 0 < len(own) <= MOST_OWN or source.count("\n") > LONGEST:
        return []
    (first, part), *others = own.items()
    said = OBSERVED["own step"].format(line=part.lineno, code=in_one_line(ast.unparse(part)), does=first)
    for does, other in others[:1]:
        said += f", and {f'line {other.lineno} ' if other.lineno != part.lineno else ''}{does}"
    return [f"{said}{OBSERVED['not known']}"]


def step_in(node: ast.AST) -> str:
    """Return the step that a node is, by one name however it is written; '' for none."""
    name = called(node)
    return "endswith" if name in BY_NAME else name


def steps_of_answers(exercise: str, reference: str, others: Collection[str] = ()) -> list[str]:
    """Return which of the telling steps some right answer takes.

    Args:
        exercise: the name that right answers define.
        reference: the code of the solution, and of what any of them calls.
        others: right answers written in other ways.
    """
    shared = definitions_in(reference)
    made = (made_of(exercise, shared | definitions_in(source)) for source in ("", *others))
    steps = {step_in(node) for nodes in made for node in nodes}
    return sorted(steps.intersection(OWN_STEPS))


def calls_in(reference: str, exercise: str) -> list[str]:
    """Return which meaningful functions a solution calls, with those that it is made of."""
    return sorted(set(map(called, made_of(exercise, definitions_in(reference)))).intersection(MEANINGFUL))


def definitions_in(source: str) -> dict[str, ast.stmt]:
    """Return what a text defines, by name."""
    return {node.name: node for node in reversed(parsed(source)) if isinstance(node, Definition)}


def made_of(exercise: str, definitions: Mapping[str, ast.stmt]) -> list[ast.AST]:
    """Return the nodes of a solution, and of what it calls, directly or not."""
    waiting, nodes = [exercise], list[ast.AST]()
    for name in waiting:  # grows while it is read
        nodes += (new := list(ast.walk(definitions.get(name, ast.Pass()))))
        waiting += sorted(set(map(called, new)).difference(waiting))
    return nodes
