"""Code rewritten so that whatever it gets hold of goes through a guard, and nothing else about it changes.

A value enters a piece of code by a name, an attribute, an item, a call, an import, or by being sent to it. Each of
these is wrapped in a call of the guard, which is asked with the value itself: by which name or alias the code has found
it does not matter. The guard stands under names that no text can spell, because they are none of Python's.
"""

from __future__ import annotations

import ast
from typing import Any

from .guard import ABOUT, BASE, CASE, EACH, GET, GRANT, HELD, HINT, IMPORT, OWNER, REFUSE, SEEN, TYPE
from .ordinary import CALLED, DESCRIBING, READ, is_dunder
from .syntax import bound_at

ABOUT_CLASSES = ("isinstance", "issubclass")
OPERATORS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.NamedExpr)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def mediated(tree: ast.Module, *, hints_run: bool = True) -> Any:
    """Return a module's code with its values guarded. The tree is changed.

    Args:
        tree: the code.
        hints_run: annotations are expressions that run; no earlier cell has made texts of them.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if any(name == "__builtins__" for part in ast.walk(tree) for name in bound_at(part)):  # by which stars are imported
        tree.body = [ast.Expr(asked(REFUSE, ast.Constant("__builtins__")))]
        return ast.fix_missing_locations(tree)
    return ast.fix_missing_locations(Mediation(hints_run).visit(tree))


class Mediation(ast.NodeTransformer):
    """Wraps what gives a value in calls of the guard.

    Args:
        hints_run: annotations are expressions that run.
    """

    def __init__(self, hints_run: bool) -> None:
        self._classes: list[str] = []
        self._hints_run = hints_run

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Guard what a name stands for."""
        if not isinstance(node.ctx, ast.Load):
            return node
        return refused(node.id, node) if is_reserved(node.id) else asked(SEEN, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Guard an attribute that is read, or the owner of one that is set or deleted."""
        owner, name = self._given(node.value), ast.Constant(self._mangled(node.attr))
        if isinstance(node.ctx, ast.Load):
            return ast.copy_location(asked(GET, owner, name), node)
        node.value = ast.copy_location(asked(OWNER, owner, name), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Guard what a call gives. `type` may be asked for one object's class, and stand for all classes in a test."""
        name, given = getattr(node.func, "id", ""), list(node.args)
        plain = not node.keywords and not any(isinstance(each, ast.Starred) for each in given)
        if name == "type" and plain and len(given) == 1:
            node.func, node.args = asked(TYPE, node.func), [self.visit(given[0])]
        elif name in ABOUT_CLASSES and plain and len(given) == 2 and is_type(given[1]):
            return ast.copy_location(asked(SEEN, asked(ABOUT, *map(self.visit, (node.func, given[0])), given[1])), node)
        else:
            node.func, node.args = self._given(node.func), [self._given(each) for each in given]
            node.keywords = [ast.keyword(each.arg, self._given(each.value)) for each in node.keywords]
        for star in (each for each in node.args if isinstance(each, ast.Starred)):
            star.value = asked(EACH, star.value)
        return ast.copy_location(asked(SEEN, node), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Guard what is compared; `type` may stand beside `is`, which calls nothing."""
        same = all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
        parts = (node.left, *node.comparators)
        node.left, *node.comparators = (asked(TYPE, e) if same and is_type(e) else self.visit(e) for e in parts)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Guard an item that is read. `type[X]` is a hint."""
        node.value, node.slice = self._hint(node.value), self.visit(node.slice)
        return ast.copy_location(asked(SEEN, node), node) if isinstance(node.ctx, ast.Load) else node

    def _sent(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        return ast.copy_location(asked(SEEN, node), node)

    visit_Yield = visit_YieldFrom = visit_Await = _sent  # noqa: N815 (what `ast` calls)

    def _given(self, node: ast.expr) -> ast.expr:
        """Guard what is called, given or looked into without a name; what an operator gives may be anything."""
        guarded = self.visit(node)
        return asked(SEEN, guarded) if isinstance(node, OPERATORS) else guarded

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        """Guard what is changed in place. Of an object, it is an attribute that is read, too."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Attribute):
            node.target.value.args.append(ast.Constant(True))  # type: ignore[attr-defined]
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        """Ask before modules are imported."""
        return [*(self._statement(node, IMPORT, ast.Constant(alias.name)) for alias in node.names), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        """Ask before names are imported from a module; what they stand for may be used from then on."""
        if node.module == "__future__" and not node.level:
            self._hints_run = self._hints_run and all(alias.name != "annotations" for alias in node.names)
            return node
        module = ast.Constant("." * node.level + (node.module or ""))
        names = ast.Tuple([ast.Constant(alias.name) for alias in node.names], ast.Load())
        before, after = self._statement(node, IMPORT, module, names), self._statement(node, GRANT, module, names)
        return [before, node, after]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Guard a class; its special methods have to be ordinary ones."""
        strange = [name for part in statements_of(node) for name in bound_at(part) if is_special(name)]
        strange += ["metaclass" for each in node.keywords if each.arg in ("metaclass", None)]  # it chooses the names
        strange += ["metaclass" for each in node.bases if isinstance(each, ast.Starred)]
        self._classes.append(node.name)
        node.body = [each for statement in node.body for each in in_list(self.visit(statement))]
        self._classes.pop()
        node.bases = [asked(BASE, self._given(each)) for each in node.bases]
        for field in ("keywords", "decorator_list", "type_params"):
            setattr(node, field, [self.visit(each) for each in getattr(node, field, [])])
        return [*(self._statement(node, REFUSE, ast.Constant(name)) for name in strange[:1]), node]

    def visit_Match(self, node: ast.Match) -> Any:
        """Guard a `match`, whose patterns read attributes by themselves."""
        node.subject = self.visit(node.subject)
        before: list[ast.stmt] = []
        for case in node.cases:
            for part in [*ast.walk(case.pattern)]:
                before += self._pattern(part, f"$case{len(before)}")
            case.guard = case.guard and self.visit(case.guard)
            case.body = [each for statement in case.body for each in in_list(self.visit(statement))]
        return [*before, node]

    def _pattern(self, part: ast.AST, name: str) -> list[ast.stmt]:
        """Guard a part of a pattern. Return the statements that name its class, as Python takes names there only."""
        if isinstance(part, ast.MatchValue):
            part.value = self._held(part.value)
        elif isinstance(part, ast.MatchMapping):
            part.keys = [self._held(key) for key in part.keys]
        elif isinstance(part, ast.MatchClass):
            strange = [each for each in part.kwd_attrs if each.startswith("_")]
            asked_for = asked(CASE, part.cls) if isinstance(part.cls, ast.Name) else asked(CASE, self.visit(part.cls))
            ways = {"items": bool(part.patterns), "named": bool(part.kwd_attrs)}
            asked_for.keywords = [ast.keyword(way, ast.Constant(value)) for way, value in ways.items()]
            part.cls = ast.copy_location(ast.Name(name, ast.Load()), part.cls)
            store = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], asked_for), part.cls)
            return [*(self._statement(store, REFUSE, ast.Constant(each)) for each in strange[:1]), store]
        return []

    def _held(self, value: ast.expr) -> ast.expr:
        """Return a value in a pattern, guarded where it is an attribute; Python takes only attributes there."""
        if not isinstance(value, ast.Attribute):
            return value
        holder = asked(HELD)
        holder.keywords = [ast.keyword("value", self.visit(value))]
        return ast.copy_location(ast.Attribute(ast.copy_location(holder, value), "value", ast.Load()), value)

    def visit_arg(self, node: ast.arg) -> Any:
        """Guard a parameter's annotation where it runs."""
        return self._annotated(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Guard an assignment, and its annotation where that runs."""
        node.target, node.value = self.visit(node.target), node.value and self.visit(node.value)
        return self._annotated(node)

    def _annotated(self, node: Any) -> Any:
        if node.annotation and self._hints_run:
            node.annotation = self._hint(node.annotation)
        return node

    def _hint(self, node: ast.expr) -> ast.expr:
        return asked(HINT, node) if is_type(node) else self.visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Guard a function, and what it is said to return where that runs."""
        hint, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = self._hint(hint) if hint and self._hints_run else hint
        return node

    visit_AsyncFunctionDef: Any = visit_FunctionDef  # noqa: N815 (what `ast` calls)

    def _mangled(self, name: str) -> str:
        """Return an attribute's name as Python takes it within a class."""
        kind = self._classes[-1].lstrip("_") if self._classes else ""
        return f"_{kind}{name}" if kind and name.startswith("__") and not is_dunder(name) else name

    @staticmethod
    def _statement(node: ast.stmt, word: str, *given: ast.expr) -> ast.stmt:
        return ast.copy_location(ast.Expr(asked(word, *given)), node)


def asked(word: str, *given: ast.expr) -> ast.Call:
    """Return a call of the guard."""
    call = ast.Call(ast.Name(word, ast.Load()), list(given), [])
    return ast.copy_location(call, given[0]) if given and hasattr(given[0], "lineno") else call


def refused(name: str, node: ast.expr) -> ast.expr:
    """Return what stands in place of a name that nobody may use."""
    return ast.copy_location(asked(REFUSE, ast.Constant(name)), node)


def is_type(node: ast.expr) -> bool:
    """Say whether an expression is the bare name `type`."""
    return isinstance(node, ast.Name) and node.id == "type"


def is_reserved(name: str) -> bool:
    """Say whether a bare name is the interpreter's own, such as `__builtins__`."""
    return is_dunder(name) and name not in DESCRIBING | CALLED | {"__class__"}


def is_special(name: str) -> bool:
    """Say whether a name in a class is one of the language's or a library's hooks that is not ordinary there."""
    return is_dunder(name) and name not in DESCRIBING | READ | CALLED | {"__annotations__", "__match_args__"}


def statements_of(kind: ast.ClassDef) -> list[ast.AST]:
    """Return all that a class's body binds by itself, at any depth but in the bodies of functions and classes."""
    waiting: list[ast.AST] = list(kind.body)
    found = []
    while waiting:
        part = waiting.pop()
        found.append(part)
        within = in_list(part.body) if isinstance(part, SCOPES) else []
        waiting += (each for each in ast.iter_child_nodes(part) if each not in within)
    return found


def in_list(node: Any) -> list[Any]:
    """Return what a visit gives, as a list."""
    return node if isinstance(node, list) else [node]
