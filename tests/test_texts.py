"""No library runs a text as code for a submission."""

import ast
import builtins
import collections
import contextlib
import copy
import dataclasses
import functools
import inspect
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace

import matplotlib as mpl
import pytest
import torch
from matplotlib import pyplot as plt

from autograder.grading.sandbox import server, texts


def run_as(module: str, work: Callable[[], object]) -> object:
    return FunctionType((lambda: WORK()).__code__, {"__name__": module, "WORK": work})()  # noqa: F821


@pytest.mark.parametrize("change", ["replace", "set"])
def test_a_function_keeps_its_code(change: str) -> None:
    active, refused = [True], []

    def hook(event: str, details: Sequence[object]) -> None:
        if active:
            try:
                texts.look(event, details)
            except RuntimeError:
                refused.append(event)

    def own() -> int:
        return 0

    sys.addaudithook(hook)
    other = own.__code__.replace(co_names=("softmax",)) if change == "replace" else (lambda: 1).__code__
    if change == "set":
        own.__code__ = other
    active.clear()  # no hook can be taken back
    assert set(refused) == {"code.__new__" if change == "replace" else "object.__setattr__"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the hook says of whoever compiles or runs a text in this test."""
    seen: list[str] = []
    active = [True]

    def hook(event: str, _details: object) -> None:
        if active and event in ("compile", "exec"):
            seen.append(texts.library_at(sys._getframe(1)))

    sys.addaudithook(hook)
    yield seen
    active.clear()  # no hook can be taken back


@pytest.mark.parametrize("work", [partial(eval, "1 + 1"), partial(exec, "a = 1"), partial(ast.parse, "1")])
def test_a_library_that_reads_a_text_as_code_is_seen(asked: list[str], work: Callable[[], object]) -> None:
    run_as("numpy.core", work)
    assert set(asked) == {"numpy"}


@pytest.mark.parametrize("module", ["IPython.core", "dataclasses", "__main__", "autograder.judging.check"])
def test_what_runs_cells_and_makes_classes_is_not_meant(asked: list[str], module: str) -> None:
    run_as(module, partial(eval, "1 + 1"))
    assert set(asked) == {""}


def test_numbers_in_a_text_and_named_tuples_are_not_meant(asked: list[str]) -> None:
    run_as("numpy.lib", partial(ast.literal_eval, "[1, 2]"))
    run_as("numpy.lib", lambda: collections.namedtuple("Pair", "a b"))
    assert set(asked) == {""}


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (run_as, "__globals__"),
        (run_as, "__builtins__"),
        (print, "__self__"),
        (sys._getframe(), "f_back"),
        (sys, "settrace"),
        (torch, "sys"),
        (torch, "_C"),
        (torch, "DisableTorchFunction"),
        (torch.Tensor, "__subclasses__"),
        (torch.Tensor, "_make_subclass"),
        (torch.Tensor(), "__reduce_ex__"),
    ],
)
def test_no_library_finds_by_a_text_what_leads_everywhere(thing: object, name: str) -> None:
    find = texts.by_written_names(getattr)
    with pytest.raises(RuntimeError, match="text that is not in the code"):
        run_as("torch.nn.utils.prune", lambda: find(thing, name))


class Word(str):
    """A text that says it is another one."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


def test_no_library_sets_by_a_text_what_changes_a_function() -> None:
    name = Word("".join(("__defaults", "__")))
    with pytest.raises(RuntimeError, match="`__defaults__` was to be found"):
        texts.by_written_names(setattr)(run_as, name, ())


def test_what_libraries_find_every_day_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for real in (getattr, setattr):
        monkeypatch.setitem(vars(builtins), real.__name__, texts.by_written_names(real))

    @dataclasses.dataclass(frozen=True)
    class First:
        a: int = 0

    @functools.wraps(run_as)
    def own() -> None:
        pass

    assert own.__name__ == "run_as"
    assert copy.deepcopy(torch.nn.LSTM(1, 1)).all_weights
    assert inspect.getmembers(First)
    with torch.random.fork_rng(), contextlib.redirect_stdout(io.StringIO()):
        torch.save(torch.ones(1), io.BytesIO())
    assert getattr(run_as, "__globals__")  # noqa: B009 - the name is in the code


def test_a_frame_is_given_to_whoever_writes_its_name() -> None:
    def ask(name: str) -> None:
        texts.look("object.__getattr__", (None, name))

    def ask_openly() -> None:
        texts.look("object.__getattr__", (None, "gi_frame"))

    ask_openly()
    with pytest.raises(RuntimeError, match="`gi_frame` was to be found"):
        ask("gi_frame")


def test_the_hook_says_what_is_wrong() -> None:
    with pytest.raises(RuntimeError, match="numpy was to run a text as code"):
        run_as("numpy.testing", lambda: run_as("numpy.lib", partial(texts.look, "compile", ())))


@pytest.fixture
def other_ways_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((dataclasses, "_process_class"), (plt, "importlib")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    for real in (getattr, setattr, vars):  # put back by no call of theirs
        monkeypatch.setitem(vars(builtins), real.__name__, real)
    texts.close_other_ways()


@pytest.mark.usefixtures("other_ways_closed")
def test_a_figure_calls_nothing_that_a_text_names() -> None:
    with mpl.rc_context({"figure.hooks": ["builtins:print"]}), pytest.raises(AttributeError, match="import_module"):
        plt.figure()


@pytest.mark.usefixtures("other_ways_closed")
def test_no_dataclass_is_made_of_a_field_whose_name_is_code() -> None:
    @dataclasses.dataclass
    class First:
        a: int = 0

    assert dataclasses.dataclass(type("Second", (First,), {}))(1).a == 1
    dataclasses.fields(First)[0].name = "a: print(1)"
    with pytest.raises(TypeError, match="is no name"):
        dataclasses.dataclass(type("Second", (First,), {}))


def test_it_begins_with_the_first_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(server, "refuse_texts", lambda: begun.append(True))
    server.run_cell(None, {}, None)
    assert begun == [True]


def test_a_module_of_ours_takes_a_new_module_and_nothing_else() -> None:
    module = ModuleType("autograder.x")
    module.note = print  # type: ignore[attr-defined]
    module.__class__ = texts.Sealed
    for name in ("note", "other"):
        with pytest.raises(AttributeError, match=r"autograder\.x does not change"):
            setattr(module, name, len)
    module.later = ModuleType("autograder.x.later")  # type: ignore[attr-defined]
    assert module.note is print


@pytest.mark.usefixtures("other_ways_closed")
def test_nothing_in_a_module_is_changed_by_what_vars_gives() -> None:
    vars(mpl)["planted"] = 1
    assert not hasattr(mpl, "planted")
    kept = SimpleNamespace()
    vars(kept)["mine"] = 1
    assert kept.mine == 1


@pytest.mark.parametrize("event", ["gc.get_objects", "gc.get_referrers", "gc.get_referents"])
def test_nothing_looks_around_in_memory(event: str) -> None:
    with pytest.raises(RuntimeError, match=event):
        texts.look(event, ())
