"""No library runs a text as code for a submission."""

import ast
import collections
import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType

import matplotlib as mpl
import pytest
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


def test_the_hook_says_what_is_wrong() -> None:
    with pytest.raises(RuntimeError, match="numpy was to run a text as code"):
        run_as("numpy.testing", lambda: run_as("numpy.lib", partial(texts.look, "compile", ())))


@pytest.fixture
def other_ways_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((dataclasses, "_process_class"), (plt, "importlib")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
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
