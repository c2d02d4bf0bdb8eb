"""Where an exercise runs by itself, no text runs as code."""

import collections
import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from autograder.grading.sandbox import server, texts

CELL = """
import timeit, typing
def by_exec(): exec("1")
def by_timeit(): timeit.timeit("1", number=1)
def by_hints():
    def f(x: "1 + 1"): pass
    typing.get_type_hints(f)
def change():
    by_exec.__code__ = by_timeit.__code__
"""


@pytest.fixture
def refused() -> Iterator[list[str]]:
    """What the hook has to say of whoever runs something in this test."""
    said: list[str] = []
    active = [True]

    def hook(event: str, details: Sequence[object]) -> None:
        if active and event in ("exec", "object.__setattr__"):
            # the hook is one frame deeper here
            frame = sys._getframe(1)
            changes = event != "exec" and details[1] == "__code__"
            if changes or (event == "exec" and not texts.may_run(frame)):
                said.append(event)

    sys.addaudithook(hook)
    yield said
    active.clear()  # no hook can be taken back


@pytest.mark.parametrize("name", ["by_exec", "by_timeit", "by_hints", "change"])
def test_no_text_of_a_cell_runs(refused: list[str], name: str) -> None:
    names: dict[str, Callable[[], object]] = {}
    code = compile(CELL, "a cell", "exec")
    eval(code, names)
    refused.clear()
    names[name]()
    assert set(refused) == {"object.__setattr__" if name == "change" else "exec"}


@pytest.mark.parametrize(
    "work", [partial(collections.namedtuple, "Pair", "a b"), partial(dataclasses.make_dataclass, "Pair", ["a", "b"])]
)
def test_classes_that_python_writes_are_made(refused: list[str], work: Callable[[], object]) -> None:
    work()
    assert refused == []


def test_what_has_a_librarys_name_is_not_the_library(refused: list[str]) -> None:
    eval(compile("exec('1')", "a cell", "exec"), {"__name__": "dataclasses"})
    assert refused[-1:] == ["exec"]


def test_no_dataclass_is_made_of_a_field_whose_name_is_code() -> None:
    @dataclasses.dataclass
    class First:
        a: int = 0

    make = partial(texts.process_class, texts.PROCESS_CLASS)
    flags = {"init": True, "repr": True, "eq": True, "order": False, "unsafe_hash": False, "frozen": False}
    options = {**flags, "match_args": True, "kw_only": False, "slots": False, "weakref_slot": False}
    assert typing.cast(typing.Any, make(type("Second", (First,), {}), **options))(1).a == 1
    dataclasses.fields(First)[0].name = "a: print(1)"
    with pytest.raises(TypeError, match="is no name"):
        make(type("Third", (First,), {}), **options)


def test_no_dataclass_is_made_of_a_hint_or_a_field_that_writes_code() -> None:
    said: list[int] = []

    class Renamed(dataclasses.Field):  # type: ignore[type-arg]
        name = property(lambda self: "a: said.append(1)", lambda self, name: None)

    plain: Any = dataclasses.field(init=False, repr=False, compare=False)
    make = partial(texts.process_class, texts.PROCESS_CLASS)
    options = dict.fromkeys(inspect.signature(texts.PROCESS_CLASS).parameters, False)
    del options["cls"]
    names = {"__annotations__": {"a": int, "b: said.append(1)": int}, "b: said.append(1)": plain}
    values = (getattr(plain, name) for name in inspect.signature(dataclasses.Field).parameters)
    field = {"__annotations__": {"a": int}, "a": Renamed(*values)}
    for bad in (names, field, {"__annotations__": collections.OrderedDict(a=int)}):
        with pytest.raises(TypeError, match="is no name"):
            make(type("Third", (), bad), **{**options, "init": True})
    assert said == []


def test_a_module_of_ours_takes_a_new_module_and_nothing_else() -> None:
    module = ModuleType("autograder.x")
    module.note = print  # type: ignore[attr-defined]
    module.__class__ = texts.Sealed
    for name in ("note", "other"):
        with pytest.raises(AttributeError, match=r"autograder\.x does not change"):
            setattr(module, name, len)
    module.later = ModuleType("autograder.x.later")  # type: ignore[attr-defined]
    assert module.note is print


@pytest.mark.parametrize("guarded", [True, False])
def test_it_begins_where_an_exercise_runs_by_itself(monkeypatch: pytest.MonkeyPatch, guarded: bool) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(server, "refuse_texts", lambda: begun.append(True))
    server.run_cell(SimpleNamespace(guard=object()), {"alone": {"guarded": guarded}}, None)
    assert begun == [True] * guarded
