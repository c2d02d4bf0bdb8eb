"""Names that are the language's, a library's or a class's own, and whether the object that has them is a method's."""

from __future__ import annotations

import ast
import re
import types
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from torch import Tensor

from .ordinary import CALLED, DESCRIBING, SHELLS, SHOWING, listed
from .syntax import bound_at, bound_by, called, imported, is_self, root_of

RUNNING = (types.FrameType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.TracebackType)
FRAMES = {name for kind in (*RUNNING, types.CodeType) for name in dir(kind) if re.match("(f|gi|cr|ag|tb|co)_", name)}
UNSEEN = {name for name in dir(Tensor) if name.startswith("_make_")}  # tensors of a class that hides what runs
UNSEEN |= {"register", "grad_fn", "next_functions"}  # what a class counts as; derivatives by hand
UNSEEN |= {"bltns", "currentframe", "obj", "_evaluate", *SHELLS}  # lead to a frame or a module; run a text
UNSEEN |= listed("""
register_hook register_prehook register_multi_grad_hook register_post_accumulate_grad_hook saved_tensors_hooks metadata
save_on_cpu register_module_forward_hook register_module_forward_pre_hook register_module_full_backward_hook
register_module_full_backward_pre_hook register_module_backward_hook register_module_module_registration_hook
captureWarnings setLogRecordFactory setLoggerClass
""")  # what is kept for later: the graph calls it or drops it when nobody watches
OWN = frozenset({"self", "cls"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
AROUND_METHODS = listed("""
abstractmethod cache cached_property classmethod compile contextmanager enable_grad final getter inference_mode
lru_cache no_grad override property setter
""")  # decorators that hand a method its own object


@dataclass(frozen=True)
class OwnClasses:
    """What a submission's classes are.

    Args:
        names: their names.
        private: those of their methods that use a private name of their object, and need it to be theirs.
        escape: whether a class may be the value of any expression.
        methods: all that they define, such as `Kind._method`, where nothing else has the class's name.
        inherited: where a class uses a private name of its object that no class of one's own in its line defines or
            sets: it is a library's. The attributes' identities.
        bound: what the submission gives a meaning itself, so that a decorator of this name may be anything.
    """

    names: frozenset[str]
    private: frozenset[str]
    escape: bool
    methods: frozenset[str]
    inherited: frozenset[int]
    bound: frozenset[str]


def own_classes(nodes: Collection[ast.stmt], own: Collection[ast.stmt]) -> OwnClasses:
    """Read all statements of a submission, and those of the student's own, for classes."""
    classes = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.ClassDef)]
    methods = [method for kind in classes for method in methods_of(kind) if not method.decorator_list]
    names = frozenset(kind.name for kind in classes)
    private = frozenset(m.name for m in methods if any(uses_private(part, m) for part in ast.walk(m)))
    bound = Counter(name for node in nodes for part in ast.walk(node) for name in bound_at(part))
    defined = (f"{kind.name}.{m.name}" for kind in classes if bound[kind.name] == 1 for m in methods_of(kind))
    own_ones = frozenset(name for name in defined if name.split(".")[1] not in (*UNSEEN, *dir(Tensor)))
    escape = bool(private) and any(is_given_away(node, names) for node in own)
    inherited = frozenset(id(part) for kind in classes for part in inherited_in(kind, classes))
    return OwnClasses(names, private, escape, own_ones, inherited, frozenset(meanings_in(own)))


def meanings_in(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that code binds, but for what it imports under its own name."""
    for node in nodes:
        renamed = {name for name, path in imported(node).items() if path[-1] != name}
        yield from renamed if isinstance(node, ast.Import | ast.ImportFrom) else bound_by(node)


def inherited_in(kind: ast.ClassDef, classes: Iterable[ast.ClassDef]) -> Iterator[ast.Attribute]:
    """Yield where a class uses a private name of its object that neither it nor an own class above it defines."""
    line, fields = {kind.name}, set[str]()
    for _ in classes:  # often enough: each of them is above it or not
        above = [each for each in classes if each.name in line]
        line |= {base.id for each in above for base in each.bases if isinstance(base, ast.Name)}
    for each in (each for each in classes if each.name in line):
        fields.update(fields_of(each))
    for part in ast.walk(kind):
        if isinstance(part, ast.Attribute) and is_own(part.value) and is_single(part.attr) and part.attr not in fields:
            yield part


def is_single(name: str) -> bool:
    """Say whether a name is private to whoever defined it: not one of the language's."""
    return name.startswith("_") and not name.endswith("__") and name not in DESCRIBING


def fields_of(kind: ast.ClassDef) -> Iterator[str]:
    """Yield the names that a class defines, or that its methods set in their objects."""
    yield from (name for statement in kind.body for name in bound_by(statement))
    for part in ast.walk(kind):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and is_own(part.value):
            yield part.attr


def with_another_self(node: ast.stmt, classes: OwnClasses) -> Iterator[str]:
    """Yield methods of one's own that are taken from their class, and what another `self` has than a method's."""
    parts = list(ast.walk(node))
    methods = [method for part in parts for method in methods_of(part)]
    given = [(method, [*method.args.posonlyargs, *method.args.args]) for method in methods]
    first = {id(arguments[0]) for method, arguments in given if arguments and gives_self(method, classes.bound)}
    others = [part for part in parts if id(part) not in first and not OWN.isdisjoint(bound_at(part))]
    with_self = {id(part.func) for part in parts if isinstance(part, ast.Call) and part.args and is_self(part.args[0])}
    for part in parts:
        if called(part) == "getattr" and isinstance(part, ast.Call):
            yield from classes.private.intersection(str(getattr(text, "value", "")) for text in part.args[1:])
        if isinstance(part, ast.ClassDef):
            yield from {method.name for method in methods_of(part)}.intersection(called_in_body(part))
        if not isinstance(part, ast.Attribute):
            continue
        kind = getattr(part.value, "id", "")
        taken = kind != "self" if classes.escape else kind in {*classes.names, "cls"}
        if taken and part.attr in classes.private and id(part) not in with_self:
            yield f"{kind}.{part.attr}".strip(".")
        if others and uses_private(part, node):
            yield f"self.{part.attr}"


def uses_private(part: ast.AST, owner: ast.AST) -> bool:
    """Say whether a piece of code uses a private name of `self`."""
    return isinstance(part, ast.Attribute) and is_own(part.value) and is_private(part.attr, owner)


def is_given_away(node: ast.AST, kinds: Collection[str]) -> bool:
    """Say whether a class is a value in code, and not only called, inherited from, shown, or an annotation."""
    parts, usual = list(ast.walk(node)), set[int]()
    for part in parts:
        heads = [getattr(part, "func", None), *getattr(part, "bases", ())]
        heads += [part.value] if isinstance(part, ast.Attribute) else []
        for shown in part.args if isinstance(part, ast.Call) and called(part) in SHOWING else ():
            heads += [shown, *getattr(shown, "elts", ())]
        for hint in filter(None, (getattr(part, "annotation", None), getattr(part, "returns", None))):
            heads += ast.walk(hint)
        usual |= set(map(id, heads))
    return any(isinstance(part, ast.Name) and part.id in kinds and id(part) not in usual for part in parts)


def methods_of(node: ast.AST) -> list[ast.FunctionDef]:
    """Return the functions that a class defines for its objects; none of anything else."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return [statement for statement in body if isinstance(statement, ast.FunctionDef)]


def gives_self(method: ast.FunctionDef, bound: Collection[str]) -> bool:
    """Say whether a method gets its object: nothing that is put around it may call it with another one.

    Args:
        method: the method.
        bound: names with another meaning than usual.
    """
    heads = [getattr(decorator, "func", decorator) for decorator in method.decorator_list]
    return all(decorator_name(head) in AROUND_METHODS and root_of(head) not in {*bound, ""} for head in heads)


def decorator_name(decorator: ast.expr) -> str:
    """Return the last part of a decorator's name."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def body_of(kind: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that run in a class's own body, those in blocks as well, and not those of its methods."""
    waiting: list[ast.AST] = list(kind.body) if isinstance(kind, ast.ClassDef) else []
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(part, ast.stmt):
            yield part
        inside = (ast.stmt, ast.excepthandler, ast.match_case)
        waiting += [inner for inner in ast.iter_child_nodes(part) if isinstance(inner, inside)]


def called_in_body(kind: ast.ClassDef) -> Iterator[str]:
    """Yield the functions that a class's own body calls by their names, not those of its methods."""
    for statement in kind.body:
        inside = {*map(id, statement.body)} if isinstance(statement, FUNCTIONS) else set()
        for part in ast.iter_child_nodes(statement):
            yield from map(called, ast.walk(part) if id(part) not in inside else ())


def is_private(word: str, owner: ast.AST | None) -> bool:
    """Say whether a name is the language's or a library's own: of an object's own ones, only the language's."""
    if word.startswith("__") and word.endswith("__") and word.strip("_"):
        return word not in DESCRIBING | CALLED
    private = word.startswith("_") and word not in DESCRIBING
    unseen = word in UNSEEN and not (word == "obj" and owner is not None and is_own(owner))
    return owner is not None and (word in FRAMES or unseen or (private and not is_own(owner)))


def is_own(node: ast.AST) -> bool:
    """Say whether an expression is the object whose method this is: `self`, `cls`, `super()`, `super(Kind, self)`."""
    if isinstance(node, ast.Call):
        return called(node) == "super" and isinstance(node.func, ast.Name) and all(map(is_own, node.args[1:]))
    return isinstance(node, ast.Name) and node.id in OWN
