"""What code that is rewritten for it may get hold of: its own things, ordinary ones, and what these give.

A function can be reached in more ways than anybody lists, and some of them lead past the record of what ran. So it is
not the code that is read, but each value that it gets is looked at, and stops it where it is not ordinary. What was
stopped is a question for a person, and never a verdict.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import torch
from torch._ops import OpOverloadPacket

from ..errors import escaped
from .kinds import (
    ABOVE,
    AROUND_OTHERS,
    BASES,
    CONTAINERS,
    FIELDS,
    HOOKS,
    INNER,
    LINE,
    METHODS,
    MODULE,
    NAMES,
    OF_C,
    OF_CLASSES,
    OF_TORCH,
    PLAIN,
    TAKEN_WHOLE,
    callable_of,
    line_of,
    word_of,
    words_in,
)
from .ordinary import (
    CALLED,
    DESCRIBING,
    KEPT_FOR_LATER,
    MODULES,
    READ,
    RUN_TEXTS,
    SETTABLE,
    Ordinary,
    is_dunder,
    is_plain_builtin,
)
from .stand_ins import Fields, Held, Text, plain_text, without_guard
from .values import Outcome, Raised
from .vocabulary import is_usual_part

SEEN, GET, OWNER, IMPORT, GRANT, REFUSE, TYPE, HINT, EACH, CASE, HELD, ABOUT, BASE = WORDS = [
    f"${n}" for n in range(13)
]
USES = "uses::"  # before a word in a record
STOPPED = "NotOrdinary"  # what a check raises, as a record says it, where nothing came back
MOST_SHOWN = 80  # characters of a word
CHECKS = ("checks", "hidden", "reference")  # modules that call what students write, and hand them functions


class NotOrdinaryError(RuntimeError):
    """Code was stopped before it got hold of something. Its text is the word for that."""


class Guard:
    """Looks at each value that code gets hold of.

    Args:
        names: where the code runs. What is defined there is its own.
        known: modules, and names in them, that may be used beyond the ordinary ones, and words that an author allows.
        lesson: the lesson's own modules.

    Attributes:
        words: what was stopped, and which of the lesson's own functions were used.
    """

    def __init__(self, names: dict[str, Any], known: Collection[str] = (), lesson: Collection[str] = ()) -> None:
        self.words: list[str] = []
        self._home = names["__name__"]
        self._names, self._known, self._lesson = names, set(known), frozenset(lesson).union(CHECKS)
        self._ordinary = Ordinary(MODULES.union(known), self._lesson)
        self._plain: dict[int, object] = {id(kind): kind for kind in PLAIN}
        self._instead: dict[int, object] = {id(real): other for real, other in self._substitutes()}
        usual = (each for name, each in vars(builtins).items() if is_plain_builtin(name))
        given = (*PLAIN, torch.Tensor.__base__, *usual, *self._instead.values())
        self._granted: dict[int, object] = {id(each): each for each in given}
        words = (self.seen, self.get, self.owner, self.import_, self.grant, self.refuse)
        more = (self.one_type, self.hint, self.each, self.case, Held, self.about, self.base)
        names.update(zip(WORDS, (*words, *more), strict=True))

    def seen(self, value: Any) -> Any:
        """Return a value that code gets, or what stands in its place."""
        kind = type(value)
        return value if id(kind) in self._plain else self._look(value, kind)

    def get(self, owner: Any, name: str) -> Any:
        """Return an object's attribute."""
        if issubclass(type(owner), types.ModuleType):
            return self._from_module(owner, name)
        fits = (name.startswith("_") or name in KEPT_FOR_LATER) and self._private(owner, name)
        value = getattr(owner, name)
        myself = ABOVE(owner) if issubclass(type(owner), super) else owner
        bound = type(value) in METHODS and value.__self__ is myself
        if name in ("format", "format_map") and bound and isinstance(myself, str):
            return getattr(Text(myself, self), name)
        if name == "__dict__" and not issubclass(type(owner), type):
            return Fields(owner, self._set)
        return value if fits or bound else self.seen(value)

    def each(self, values: Iterable[Any]) -> list[Any]:
        """Return what a call is given by a star: it would be called with it before any name stands for it."""
        return [self.seen(value) for value in values]

    def owner(self, owner: Any, name: str, read: bool = False) -> Any:
        """Return an object of which an attribute is to be set or deleted, or changed in place: then it is read, too."""
        kind = type(owner)
        if read and not self._is_own(owner):
            self.get(owner, name)
        if issubclass(kind, types.ModuleType):
            word = f"{owner.__name__}.{name}"
            if word not in SETTABLE:
                self.refuse(word)
        elif (issubclass(kind, type) and not self._is_own(owner)) or (callable_of(kind) and not self._is_own(owner)):
            self.refuse(f"{word_of(owner)}.{name}")
        elif name == "__dict__":
            self.refuse(name)
        elif name.startswith("_") and name not in DESCRIBING:
            self._private(owner, name, setting=True)
        return owner

    def import_(self, module: str, names: Collection[str] = ()) -> None:
        """Stop code that imports what is not ordinary.

        Args:
            module: its name; with a dot before it where it is said from where it is imported.
            names: what is imported from it, if not it itself.
        """
        if not self._ordinary.module(module):
            self.refuse(module)
        for name in names:
            whole = f"{module}.{name}"
            if not (self._ordinary.module(whole) if whole in sys.modules else self._is_in(module, name)):
                self.refuse(whole)

    def _is_in(self, module: str, name: str) -> bool:
        return module not in sys.modules or name == "*" or self._ordinary.name(module, name)

    def grant(self, module: str, names: Collection[str]) -> None:
        """Let code use what it has imported from a module."""
        has = vars(sys.modules[module])
        everything = has.get("__all__") or [name for name in has if not name.startswith("_")]
        for name in everything if "*" in names else names:
            value: Any = has.get(name)
            inner = issubclass(type(value), types.ModuleType)
            if self._ordinary.module(value.__name__) if inner else self._ordinary.name(module, name):
                self._note_lessons(module, name, value)
                self._keep(value)
            elif "*" not in names:
                self.refuse(f"{module}.{name}")

    def trust(self, values: Iterable[Any]) -> None:
        """Let code use what the course's own code has defined, and all of the modules among it."""
        for value in values:
            self._keep(value)
            if issubclass(type(value), types.ModuleType):
                self._known.add(value.__name__)
        self._ordinary = Ordinary(MODULES.union(self._known), self._lesson)

    def refuse(self, word: str) -> None:
        """Stop code, and keep the word for what it was about to do; what the author allows goes on."""
        if word not in self._known:
            self._note(USES + word[:MOST_SHOWN])
            raise NotOrdinaryError(word)

    def _note(self, word: str) -> None:
        if word not in self.words:
            self.words.append(word)

    def one_type(self, value: Any) -> Any:
        """Return the class of all classes, for a call that asks for one object's class; anything else as it is seen."""
        return value if value is type else self.seen(value)

    def case(self, kind: Any, *, items: bool, named: bool) -> Any:
        """Return a class in a pattern. Where that has items or names, it reads attributes without asking."""
        # other classes of classes take objects of any class for one of theirs
        usual = type(kind).__instancecheck__ is type.__instancecheck__  # type: ignore[comparison-overlap]
        names = getattr(kind, "__match_args__", ()) if items else ()  # of the items
        own = usual and self._is_own(kind) and not any(map(str.startswith, names, "_" * len(names)))
        if not own and (named or (items and kind not in TAKEN_WHOLE)):
            self.refuse("case")
        return self.seen(kind)

    def about(self, function: Any, value: Any, kind: Any) -> Any:
        """Return whether an object is a class; another function of the name `isinstance` gets `type` as it is seen."""
        return function(value, kind if function is isinstance or function is issubclass else self.seen(kind))

    def base(self, value: Any) -> Any:
        """Return what a class is made from. Any other object than a class may choose the class's names."""
        kind = type(value)
        if not issubclass(kind, type) and MODULE(kind) not in ("typing", "types") and id(value) not in map(id, BASES):
            self.refuse(word_of(value))
        return value

    def hint(self, value: Any) -> Any:
        """Return what stands for the class of all classes in `type[X]`, and makes none; anything else as it is seen."""
        return typing.Type if value is type else self.seen(value)  # noqa: UP006 (`type[X]` can be called)

    def _from_module(self, module: types.ModuleType, name: str) -> Any:
        home = module.__name__
        value = getattr(module, name)
        if f"{home}.{name}" in ("torch.ops", "torch.ops.aten") or type(value) is OpOverloadPacket:
            self._note(f"{USES}torch.ops")  # it goes on: a record sees what these run, whatever it is
            return self._keep(value)
        if not self._ordinary.name(home, name):
            self.refuse(f"{home}.{name}")
        if issubclass(type(value), CONTAINERS) and f"{home}.{name}" not in SETTABLE and home not in self._known:
            self.refuse(f"{home}.{name}")  # whoever changes it changes it for others
        self._note_lessons(home, name, value)
        if not issubclass(type(value), types.ModuleType):
            self._keep(value)
        return self.seen(value)

    def _note_lessons(self, module: str, name: str, value: object) -> None:
        """Keep in mind which of the lesson's own functions code uses: an exercise may forbid it."""
        if module in self._lesson and isinstance(value, types.FunctionType | type):
            self._note(f"{module}::{name}")

    def _keep(self, value: Any) -> Any:
        self._granted[id(value)] = value
        return value

    def _look(self, value: Any, kind: type) -> Any:
        """Return a value of a kind that has to be looked at."""
        if id(value) in self._instead:
            return self._instead[id(value)]
        if kind in AROUND_OTHERS and id(value) not in self._granted:
            self.seen(getattr(value, AROUND_OTHERS[kind]))
        elif not self._may_have(value):
            self.refuse(value.__name__ if issubclass(kind, types.ModuleType) else word_of(value))
        return value

    def _is_own(self, value: Any) -> bool:
        """Say whether a function or class was defined by the code, or an object is of such a class."""
        kind = type(value)
        if kind is types.FunctionType:
            return value.__globals__ is self._names
        if kind is types.MethodType:
            return self._is_own(value.__func__)
        if issubclass(kind, type):
            if MODULE(value) != self._home:
                return False
            if hooks := HOOKS.intersection(NAMES(value)):  # made of texts that name what libraries look for
                self.refuse(min(hooks))
            if issubclass(value, type):
                self.refuse("metaclass")
            return True
        if self._is_own(kind):
            self._plain[id(kind)] = kind
            return True
        return False

    def _is_allowed(self, value: Any) -> bool:
        """Say whether code may have a function or class that is not its own."""
        kind = type(value)
        if kind is types.MethodType:
            owner = value.__self__
            return self._is_public(value.__func__) and (self._is_own(owner) or bool(self._may_have(owner)))
        if kind is types.FunctionType and "__wrapped__" in vars(value):  # a decorator has put it around something
            return self._is_at_home(value) or (value.__wrapped__ is not value and self._may_have(value.__wrapped__))
        if kind in (*OF_CLASSES, *FIELDS):
            return self._is_public(value) and self._may_have(value.__objclass__)
        owner = getattr(value, "__self__", None) if kind in OF_C else None
        if owner is not None and not issubclass(type(owner), types.ModuleType):
            return self._is_public(value) and self._may_have(owner)
        hooked = issubclass(kind, type) and not HOOKS.isdisjoint(NAMES(value))  # whatever a class says of itself
        return (str(value.__module__) in self._lesson and not hooked) or self._is_at_home(value)

    def _is_at_home(self, value: Any) -> bool:
        """Say whether something is what its module and its name say, and whether that is ordinary."""
        module, (name, *inner) = str(value.__module__), str(value.__qualname__).split(".")
        found = vars(sys.modules.get(module, self)).get(name)
        fits = self._ordinary.module(module) and self._ordinary.name(module, name)
        for each in inner:
            found = getattr(found, each, None)
        return fits and found is value and all(not each.startswith("_") for each in inner)

    def _is_public(self, function: Any) -> bool:
        name = str(getattr(function, "__name__", ""))
        return name not in KEPT_FOR_LATER and (not name.startswith("_") or name in CALLED)

    def _may_have(self, value: Any) -> bool:
        """Say whether code may have a value, without stopping it."""
        kind = type(value)
        if id(kind) in self._plain or id(value) in self._granted or self._is_own(value):
            return True
        if issubclass(kind, types.ModuleType):
            return self._ordinary.module(value.__name__)
        return self._is_allowed(value) if callable_of(kind) or issubclass(kind, type) else self._fits(kind)

    def _fits(self, kind: type) -> bool:
        """Say whether objects of a library's class may be had."""
        home = str(MODULE(kind))
        package = home.split(".")[0].removeprefix("_")
        if issubclass(kind, INNER) or issubclass(kind, type):
            return False
        if package == "torch":
            fits = is_usual_part(home) or home.startswith(OF_TORCH)
        else:
            usual = package in ("builtins", "io", "autograder") or self._ordinary.package(package)
            fits = usual or any(id(each) in self._granted for each in LINE(kind) if MODULE(each) != "builtins")
            fits = fits and f"{home}.{kind.__name__}" not in RUN_TEXTS - self._known
        if fits:
            self._plain[id(kind)] = kind
        return fits

    def _private(self, owner: Any, name: str, *, setting: bool = False) -> bool:
        """Stop code that uses a private name which is not its own; say whether it is the language's, used as usual."""
        if name in DESCRIBING or (name in READ | {"__class__"} and not setting):
            return False
        special = is_dunder(name)
        own, home = self._where(owner, name)
        if special and name in CALLED and not own and not setting and self._fits_owner(owner, home, name):
            return True
        if not own and (special or home is not None or not self._is_own(owner)):
            self.refuse(name if not issubclass(type(owner), type) else f"{word_of(owner)}.{name}")
        return False

    def _fits_owner(self, owner: Any, home: type | None, name: str) -> bool:
        """Say whether a library's special method is called with the object that it belongs to."""
        if not issubclass(type(owner), type):
            return True
        above = any(self._is_own(kind) for kind in type.__subclasses__(owner))
        return name == "__init__" and above and home is not None

    def _where(self, owner: Any, name: str) -> tuple[bool, type | None]:
        """Return whether an object has a name from the code itself, and the library's class that has or uses it."""
        line = line_of(owner)
        above = [kind for kind in line if not self._is_own(kind)]
        for kind in line:
            if name in NAMES(kind):
                return self._is_own(kind), None if self._is_own(kind) else kind
        return False, next((kind for kind in above if name in words_in(kind)), None)

    def _substitutes(self) -> Iterator[tuple[object, object]]:
        """Yield what finds or changes something by a text, each with what does the same through the guard."""

        def getattr_(owner: Any, name: str, *default: Any) -> Any:
            try:
                return self.get(self.seen(owner), plain_text(name))
            except AttributeError:
                if default:
                    return self.seen(default[0])
                raise

        yield getattr, getattr_
        yield setattr, self._set
        yield str.format, lambda text, *given, **named: Text(text, self).format(*given, **named)
        yield str.format_map, lambda text, names: Text(text, self).format_map(names)
        yield delattr, lambda owner, name: delattr(self.owner(self.seen(owner), plain_text(name)), name)
        yield globals, lambda: without_guard(self._names)
        yield locals, lambda: without_guard(sys._getframe(1).f_locals)
        yield vars, lambda *owner: self._vars(*owner) if owner else without_guard(sys._getframe(1).f_locals)
        yield functools.wraps, lambda wrapped: self._keep(functools.partial(self._wrap, self.seen(wrapped)))
        yield functools.total_ordering, lambda kind: functools.total_ordering(self._own_class(kind))
        yield functools.lru_cache, lambda *given, **named: self._keep(functools.lru_cache(*self.each(given), **named))
        yield dataclasses.dataclass, self._dataclass

    def _set(self, owner: Any, name: Any, value: Any) -> None:
        setattr(self.owner(self.seen(owner), plain_text(name)), name, value)

    def _wrap(self, wrapped: Any, wrapper: Any) -> Any:
        if not (self._is_own(wrapper) or self._is_own(getattr(wrapper, "__wrapped__", None))):
            self.refuse(word_of(wrapper))
        return functools.update_wrapper(wrapper, wrapped, updated=("__dict__",) if self._is_own(wrapped) else ())

    def _vars(self, owner: Any) -> Any:
        if not self._is_own(owner):
            self.refuse("vars")
        return dict(vars(owner))

    def _own_class(self, kind: Any) -> Any:
        return kind if self._is_own(kind) else self.refuse(word_of(kind))

    def _dataclass(self, kind: Any = None, **options: Any) -> Any:
        if kind is None:
            return self._keep(functools.partial(self._dataclass, **options))
        return dataclasses.dataclass(self._own_class(kind), **options)


def used_in(outcomes: Iterable[Outcome]) -> str:
    """Return the first word for what a guard has stopped in some checks, or ''."""
    records = [(e.text,) if isinstance(e, Raised) and e.kind == STOPPED else getattr(e, "ran", ()) for e in outcomes]
    return next(filter(None, map(word_in, records)), "")


def word_in(record: Iterable[str]) -> str:
    """Return the first word of a record for what a guard has stopped, as a line shows it, or ''."""
    words = (word.removeprefix(USES) for word in record if word.startswith(USES))
    return escaped(next(words, ""))[:MOST_SHOWN]
