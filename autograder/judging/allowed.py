"""What an exercise's code may use without anybody being asked: ordinary modules, public names, ordinary built-ins.

A function can be reached in more ways than anybody lists, and some of them lead past the record of what ran. So what is
ordinary is listed. What lies outside of it is a question for a person, and never a verdict.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ..errors import escaped
from .built_texts import loop_texts, texts_in
from .names import Names, binding_in, brought, names_in_module, only_name, path_of, with_renamed
from .ordinary import (
    ASKED_ABOUT,
    BY_NAME,
    CALLED,
    DESCRIBING,
    LEADING,
    MODULES,
    READ,
    SETTABLE,
    SHOWING,
    Paths,
)
from .private import OwnClasses, body_of, is_own, is_private, methods_of, own_classes, with_another_self
from .syntax import (
    Path,
    as_code,
    bound_at,
    bound_by_loops,
    called,
    imported,
    is_self,
    reachable,
    root_of,
    wanted_by,
)

MOST_SHOWN = 80  # characters of a word
IN_HEADS = ("dataclasses.dataclass",)
ANYWHERE = frozenset(dir(builtins)).union(["display", "In", "Out", "_", "__"])  # names that no cell defines
TRUSTED = BY_NAME.union(SHOWING, ("dir", "enumerate", "help", "zip"))  # built-ins, by what they do with what they get


class CodeReader:
    """Reads what an exercise leads to for what is not ordinary.

    Args:
        sources: all code cells.
        own: those that the student wrote or changed. They may use what the others import.
        modules: file name and text of each module of the lesson.
    """

    def __init__(self, sources: Sequence[str], own: Collection[str], modules: Iterable[tuple[str, str]] = ()) -> None:
        self._sources = [as_code(source) for source in sources]
        self._own = [as_code(source) for source in own]
        given = [source for source in self._sources if source not in own]
        self._given = {id(node) for source in given for node, _ in source.binding}
        imports = [path for source in given for path in source.imports.values()]
        self._lesson = {file.removesuffix(".py"): names_in_module(text) for file, text in modules}
        self._modules = MODULES.union((path[0] for path in imports), map(".".join, imports), self._lesson)
        self._bound = ANYWHERE.union(*(source.bound - {"*"} for source in self._sources))

    def question(self, exercise: str, known: Collection[str] = ()) -> str:
        """Return what a person should look at before an exercise's points count, or ''.

        Args:
            exercise: its name. Read is what binds it, and what that leads to: nothing else runs where a record is kept.
            known: what its honest answers use beyond what is ordinary.
        """
        nodes = reachable(["", *self._sources], exercise)
        if word := next(self._words(nodes, known), ""):
            return f"its code uses `{shown_word(word)}`"
        defined = self._bound.union(known, *([*brought(part)] for part in stars_in(nodes)))
        own = (node for node in nodes if id(node) not in self._given)
        if "*" not in defined and (names := sorted({name for node in own for name in wanted_by(node)} - defined)):
            return f"its code uses `{shown_word(names[0])}`, which no cell defines that can be read"
        unread = any(exercise in source and source.strip() and not source.statements for source in self._own)
        return "a cell with its name cannot be read" if unread else ""

    def words(self, exercise: str) -> frozenset[str]:
        """Return all that an exercise's code uses beyond what is ordinary."""
        return frozenset(self._words(reachable(["", *self._sources], exercise), ()))

    def _words(self, nodes: Collection[ast.stmt], known: Collection[str]) -> Iterator[str]:
        """Yield what is not ordinary in those statements that are the student's own."""
        paths = Paths(self._modules.union(known), self._lesson)
        own = [node for node in nodes if id(node) not in self._given]
        imports = {name: path for node in nodes for part in ast.walk(node) for name, path in imported(part).items()}
        names = with_renamed((part for node in own for part in ast.walk(node)), imports)
        classes = own_classes(nodes, own)
        rebound = TRUSTED.intersection(chain(*map(bound_outside_classes, own)))
        words = chain(
            (word for node in own for word in words_in(node, names, paths, classes)),
            (name for node in own for name in map(called, ast.walk(node)) if name in rebound),
            (word for node in own for word in with_another_self(node, classes)),
            (word for node in own for word in texts_in(node)),
        )
        return (word for word in words if word not in known)


def stars_in(nodes: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the imports in some code that bring all names of a module."""
    return (part for part in binding_in(chain(*map(ast.walk, nodes))) if "*" in imported(part))


def shown_word(word: str) -> str:
    """Return a word as a line shows it: the student wrote it, and it may be long or hold what a terminal obeys."""
    return escaped(word)[:MOST_SHOWN]


def words_in(node: ast.stmt, names: Names, ordinary_paths: Paths, classes: OwnClasses) -> Iterator[str]:
    """Yield what is not ordinary in a statement: modules, private names, built-ins that run a text.

    Args:
        node: the statement.
        names: what names of all cells stand for that lead into modules.
        ordinary_paths: says where paths lead, and knows the modules that it may use.
        classes: one's own.
    """
    # a loop's own name is a module's, too, where a function in the loop reads it
    parts, outside, modules = list(ast.walk(node)), wanted_by(node) | bound_by_loops(node), ordinary_paths.modules
    names = with_renamed(parts, {name: names[name] for name in outside if name in names})
    fields = {id(statement) for part in parts for statement in body_of(part)}
    followed = {id(inner) for part in parts if id(part) not in fields for inner in followed_in(part)}
    shown = {id(call.func): call for call in parts if isinstance(call, ast.Call)}
    leading: list[str] = []
    bases, loops = {id(inner) for part in parts for inner in bases_called(part)}, loop_texts(parts)
    heads = {id(inner) for part in parts for inner in heads_of(part)}
    described = {id(inner) for part in parts for inner in described_by(part)}
    for part in parts:
        call, reached = shown.get(id(part)), list(reached_for(part, loops))
        in_head = not heads.isdisjoint((id(part), id(call)))
        for path in paths_of(part, reached, names):
            module, ordinary = ordinary_paths.follow(path)
            word = ".".join(path)
            if not ordinary and f"call:{word}" in modules and is_shown(part, call, word, in_head):
                continue
            value = isinstance(part, ast.Name | ast.Attribute) or called(part) == "getattr"
            if not ordinary or (module and value and id(part) not in followed):
                yield word
        if isinstance(part, ast.Name) and part.id in outside and id(call) not in described:
            yield from (part.id,) if is_asked_about(part.id, call, loops) else ()
        yield from chain(set_in_module(part, names), unseen_in(part), not_as_written(part, classes))
        leading += [word for word, owner in reached if word in LEADING and owner and not path_of(owner, names)]
        for word, owner in reached:
            owned = f"{getattr(owner, 'id', '')}.{word}" in classes.methods
            taken = is_taken(part, word, owner, id(part) in bases, id(part) in described)
            if taken and not owned:
                yield word
    yield from leading


def is_taken(part: ast.AST, word: str, owner: ast.AST | None, of_base: bool, is_described: bool) -> bool:
    """Say whether a node takes a name that is the language's or a library's own.

    Args:
        part: the node.
        word: the name.
        owner: what has it.
        of_base: whether it is a base class's, called for the same object.
        is_described: whether it is only shown or compared.
    """
    if word in READ and isinstance(getattr(part, "ctx", None), ast.Load):
        return False
    borrowed = word in CALLED and not of_base and is_borrowed(part, owner)
    return borrowed or (is_private(word, owner) and not (word == "__class__" and is_described))


def bound_outside_classes(node: ast.AST) -> Iterator[str]:
    """Return the names that a piece of code binds, but not those of methods, which are no built-in's."""
    parts = list(ast.walk(node))
    everywhere = {name for part in parts if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    methods = {id(method) for part in parts for method in methods_of(part) if method.name not in everywhere}
    return (name for part in parts if id(part) not in methods for name in bound_at(part))


def unseen_in(part: ast.AST) -> Iterator[str]:
    """Yield the kind of a statement that does what no name in it shows."""
    if isinstance(part, ast.MatchClass) and part.patterns and not is_builtin(part.cls):
        yield "case"  # which fields are matched by their places, a text says
    if isinstance(part, ast.Global | ast.Nonlocal):
        yield from (name for name in part.names if name.startswith("__"))  # in a class, it has another name outside
    if any(isinstance(statement, ast.Import | ast.ImportFrom) for statement in body_of(part)):
        yield "import in a class"  # a module becomes a field, and where fields lead nobody follows


def not_as_written(part: ast.AST, classes: OwnClasses) -> Iterator[str]:
    """Yield a private name that stands for something else than its code shows: a library's, or in a class another."""
    if isinstance(part, ast.Attribute) and id(part) in classes.inherited:
        yield part.attr
    if isinstance(part, ast.Name) and part.id.startswith("__") and not part.id.endswith("__"):
        yield part.id


def set_in_module(part: ast.AST, names: Names) -> Iterator[str]:
    """Yield what a node sets or deletes in something that begins in a module: others mean it, too."""
    if not isinstance(part, ast.Attribute | ast.Subscript) or isinstance(part.ctx, ast.Load):
        return
    owner: ast.AST = part.value
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    path = path_of(owner, names)
    whole = ".".join(path_of(part, names) or path)
    if path and not any(whole.startswith(name) for name in SETTABLE):
        yield whole


def is_builtin(node: ast.AST) -> bool:
    """Say whether an expression is the name of a built-in."""
    return isinstance(node, ast.Name) and node.id in dir(builtins)


def is_asked_about(name: str, call: ast.Call | None, loops: Mapping[str, Sequence[str]]) -> bool:
    """Say whether a built-in runs a text, or reaches for what its call does not show."""
    return name in ASKED_ABOUT or (name in BY_NAME and not (call and any(reached_for(call, loops))))


def heads_of(part: ast.AST) -> Iterator[ast.AST]:
    """Yield a definition's decorators, and what a `with` block enters."""
    yield from getattr(part, "decorator_list", ())
    yield from (item.context_expr for item in getattr(part, "items", ()) if isinstance(item, ast.withitem))


def described_by(part: ast.AST) -> Iterator[ast.AST]:
    """Yield expressions that may be an object's class, or all names, where these are only shown or compared."""
    values: Sequence[ast.AST] = ()
    asks_for_name = False
    if isinstance(part, ast.Attribute) and part.attr in DESCRIBING:
        values = [part.value]
    elif isinstance(part, ast.Compare) and len(part.ops) == 1:
        sides = [part.left, *part.comparators]
        asks_for_name = isinstance(part.left, ast.Constant) and isinstance(part.ops[0], ast.In | ast.NotIn)
        asks_nobody = isinstance(part.ops[0], ast.Is | ast.IsNot)  # others ask the other side's own methods
        values = [one for one, other in (sides, sides[::-1]) if asks_nobody or asks_for_name or is_usual_class(other)]
    elif isinstance(part, ast.FormattedValue | ast.Expr):
        values = getattr(part.value, "elts", [part.value])
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in SHOWING:
        values = part.args
    for value in values:
        one = isinstance(value, ast.Call) and called(value) == "type" and has_one_argument(value)
        names = called(value) in ("globals", "locals") and (asks_for_name or called(part) == "print")
        if one or isinstance(value, ast.Attribute) or names:
            yield value


def is_usual_class(node: ast.AST) -> bool:
    """Say whether an expression is a built-in's name, one from PyTorch or NumPy, another object's class, or several."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_usual_class, node.elts))
    if isinstance(node, ast.Call):
        return called(node) == "type" and has_one_argument(node)
    return is_builtin(node) or (isinstance(node, ast.Attribute) and root_of(node) in ("torch", "nn", "np", "numpy"))


def is_shown(part: ast.AST, call: ast.Call | None, word: str, in_head: bool) -> bool:
    """Say whether something that is ordinary in such a call alone is in one, or imported for one."""
    plain = call is not None and has_one_argument(call) and not call.keywords
    return isinstance(part, ast.ImportFrom) or (in_head if word in IN_HEADS else plain)


def has_one_argument(call: ast.Call) -> bool:
    """Say whether a call has one argument, and shows that, beside those with names."""
    return len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)


def is_borrowed(part: ast.AST, owner: ast.AST | None) -> bool:
    """Say whether a special method is taken from where it is, to be called with another object: not `super()`'s."""
    if isinstance(part, ast.Name):
        return isinstance(part.ctx, ast.Load)
    return owner is not None and called(owner) != "super" and called(part) != "hasattr"


def bases_called(part: ast.AST) -> Iterator[ast.AST]:
    """Yield `Base.__init__` where a class's own method of this name calls it for its object."""
    for method in part.body if isinstance(part, ast.ClassDef) else ():
        for inner in ast.walk(method) if isinstance(method, ast.FunctionDef) and method.name == "__init__" else ():
            if called(inner) == "__init__" and isinstance(inner, ast.Call) and inner.args and is_self(inner.args[0]):
                yield inner.func


def followed_in(part: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions in a node that may be a module, because what becomes of them is read."""
    if isinstance(part, ast.Attribute) or (isinstance(part, ast.Assign) and only_name(part)):
        yield part.value
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in BY_NAME | {"dir", "help"}:
        yield from part.args[:1]


def paths_of(part: ast.AST, reached: Iterable[tuple[str, ast.AST | None]], names: Names) -> Iterator[Path]:
    """Yield where a node leads to: what it imports, and what it reaches from where a module begins."""
    if isinstance(part, ast.Import):
        yield from ((alias.name,) for alias in part.names)
    elif isinstance(part, ast.ImportFrom):
        module = "." * part.level + (part.module or "")
        yield from (path for alias in part.names for path in ((module,), (module, alias.name)))
    elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
        yield from [names[part.id]] if part.id in names else []
    yield from ((*path, word) for word, owner in reached if (path := path_of(owner, names)))


def reached_for(part: ast.AST, loops: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield the names that a node reaches for or defines, each with the object that has it, where there is one.

    Args:
        part: the node.
        loops: the texts that names of loops stand for.
    """
    if isinstance(part, ast.Attribute):
        yield part.attr, part.value
    elif isinstance(part, ast.MatchClass):
        yield from ((name, part.cls) for name in part.kwd_attrs)
    elif isinstance(part, ast.Name | ast.FunctionDef | ast.AsyncFunctionDef):
        yield part.id if isinstance(part, ast.Name) else part.name, None
    elif isinstance(part, ast.Call) and len(part.args) > 1 and asks_by_name(part.func, part.args[0]):
        yield from ((text, part.args[0]) for text in texts_of(part.args[1], loops))
    else:
        yield from ((name, None) for name in bound_at(part))


def asks_by_name(function: ast.expr, owner: ast.expr) -> bool:
    """Say whether a function gives what a text names, or sets it in the object itself."""
    name = function.id if isinstance(function, ast.Name) else ""
    return name in ("getattr", "hasattr") or (name in ("setattr", "delattr") and is_own(owner))


def texts_of(node: ast.AST, loops: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the texts that an expression can be, or begins with, where they are written out: also in a loop's head."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    if isinstance(node, ast.Name):
        return loops.get(node.id, ())
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
