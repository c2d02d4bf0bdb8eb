"""What an exercise's code may get hold of, and what stops it."""

import ast
import contextlib
import inspect
import io
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.judging.guard import STOPPED, USES, Guard, NotOrdinaryError, used_in, word_in
from autograder.judging.mediated import mediated
from autograder.judging.ordinary import MODULES, Ordinary
from autograder.judging.syntax import called
from autograder.judging.values import Raised, Returned

GIVEN = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"
FAILED = (
    "def attend(q):\n    try: 1 / 0\n    except Exception as error:\n        match error.__traceback__:\n            "
)
SHAPED = """
import typing
@typing.runtime_checkable
class T(typing.Protocol): pass
"""
EQUAL = """
class A:
    def __eq__(self, other): other['$0'] = print
def attend(q):
    try: 1 / 0
    except Exception as error: A.trace = error.__traceback__
    match A():
        case A.trace.tb_frame.f_globals: pass
"""
NAMING = """
class K(nn.ParameterDict):
    def forward(self, *given): return print
k = K()
k['__prepare__'] = lambda *given: {'$0': lambda value: value}
"""
PEEKING = "class A:\n    _is_view = None\n    def look(self): return self._is_view()\n"


class Notebook:
    """A notebook whose student's cells are guarded.

    Args:
        known: what may be used beyond what is ordinary.
        lesson: names of the lesson's own modules.
        given: the course's own cell.
    """

    def __init__(self, known: tuple[str, ...] = (), lesson: tuple[str, ...] = (), given: str = GIVEN) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.guard = Guard(self.names, known, lesson)
        before = set(self.names)
        eval(compile(given, "given", "exec"), self.names)
        self.guard.trust([value for name, value in self.names.items() if name not in before | {"__builtins__"}])

    def run(self, *cells: str) -> str:
        """Run cells, and what they define as `attend` with a tensor; return the word for what was stopped, or ''."""
        for cell in cells:
            eval(compile(mediated(ast.parse(cell)), "cell", "exec"), self.names)
        call(self.names.get("attend"))
        return word_in(self.guard.words)


def call(attend: Any) -> None:
    """Call what is there: a function, or a class and then its objects' methods."""
    made = attend(torch.ones(2, 2, requires_grad=True)) if inspect.isfunction(attend) else attend and attend()
    for name in {"__call__", "forward", "look"}.intersection(vars(attend) if isinstance(attend, type) else ()):
        method = getattr(made, name)
        method(*[torch.ones(2, 2)] * len(inspect.signature(method).parameters))


def stopped(*cells: str, known: tuple[str, ...] = ()) -> str:
    """The word for what was stopped, whatever the code does about it."""
    notebook = Notebook(known)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(NotOrdinaryError, AttributeError, TypeError):
        return notebook.run(*cells)
    return word_in(notebook.guard.words)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("eval('q.exp()')", "eval"),
        ("exec('r = q')", "exec"),
        ("compile('q', 'f', 'eval')", "compile"),
        ("__import__('torch').exp(q)", "__import__"),
        ("breakpoint()", "breakpoint"),
        ("__builtins__", "__builtins__"),
        ("torch.initial_seed()", "torch.initial_seed"),
        ("torch.default_generator.initial_seed()", "torch.default_generator"),
        ("torch.get_rng_state()[0]", "torch.get_rng_state"),
        ("torch.random.initial_seed()", "torch.random"),
        ("getattr(torch, '_' + 'refs')", "torch._refs"),
        ("vars(torch)['exp'](q)", "vars"),
        ("torch.__dict__['exp'](q)", "torch.__dict__"),
        ("torch._masked_softmax(q)", "torch._masked_softmax"),
        ("torch.ops.aten.exp(q)", "torch.ops"),
        ("F._in_projection(q)", "torch.nn.functional._in_projection"),
        ("torch.jit.script(print)", "torch.jit"),
        ("torch.hub.load(q)", "torch.hub"),
        ("torch.load('a', weights_only=False)", "torch.load"),
        ("torch.frombuffer(b'ab', dtype=torch.uint8).fill_(0)", "torch.frombuffer"),
        ("torch.get_device_module('cpu')", "torch.get_device_module"),
        ("torch.ThroughputBenchmark(q)", "torch.ThroughputBenchmark"),
        ("torch.DisableTorchFunction()", "torch.DisableTorchFunction"),
        ("torch.cuda.CUDAPluggableAllocator('a.so', 'a', 'b')", "torch.cuda.CUDAPluggableAllocator"),
        ("torch.autograd.graph.saved_tensors_hooks(print, print)", "torch.autograd.graph"),
        ("torch.sys.modules", "sys.modules"),
        ("(lambda m: m.sys)(torch).modules", "sys.modules"),
        ("[torch.sys][0].modules", "sys.modules"),
        ("torch.nn.TransformerEncoderLayer(8, 2)", "torch.nn.TransformerEncoderLayer"),
        ("F.handle_torch_function", "torch.nn.functional.handle_torch_function"),
        ("(x for x in q).gi_frame", "frame"),
        ("type(q).mro()[-1].__subclasses__()", "object.__subclasses__"),
        ("q.__class__.__mro__", "torch.Tensor.__mro__"),
        ("math.exp.__self__", "__self__"),
        ("(lambda: 1).__globals__", "__globals__"),
        ("type('X', (torch.Tensor,), {'a': q})", "type"),
        ("type(int)", "type"),
        ("list(map(type, [q]))", "type"),
        ("[find(q, '__cla' + 'ss_' + '_').__mro__ for find in [getattr]]", "torch.Tensor.__mro__"),
        ("(q * 2).grad_fn", "grad_fn"),
        ("q.register_hook(print)", "register_hook"),
        ("nn.Linear.__init__(q)", "torch.nn.modules.linear.Linear.__init__"),
        ("nn.ParameterDict.__getitem__(q, 'a')", "torch.nn.modules.container.ParameterDict.__getitem__"),
        ("setattr(nn.Linear, 'forward', print)", "torch.nn.modules.linear.Linear.forward"),
        ("setattr(torch, 'exp', print)", "torch.exp"),
        ("delattr(F, 'relu')", "torch.nn.functional.relu"),
        ("setattr(q, '__class__', int)", "__class__"),
    ],
)
def test_a_way_round_stops_an_exercises_code(code: str, word: str) -> None:
    assert stopped(f"def attend(q): return {code}") == word


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("import sys\ndef attend(q): return sys._getframe(1)", "sys._getframe"),
        ("import sys as s\ndef attend(q): return s.setprofile(print)", "sys.setprofile"),
        ("from sys import settrace\nsettrace(print)", "sys.settrace"),
        ("import os", "os"),
        ("import functools\nclass B:\n    at = (eval,)\n", "eval"),
        ("def attend(q): return [*map(*[[type(attend).__call__, attend]])]", "function"),
        ("import functools, typing\nhidden = typing.Literal[1].__class__\n", "typing._LiteralGenericAlias"),
        ("import gc", "gc"),
        ("import ctypes", "ctypes"),
        ("import threading", "threading"),
        ("import inspect", "inspect"),
        ("import autograder.judging.operators as o\no.note = print", "autograder.judging.operators"),
        ("from autograder.judging import operators", "autograder.judging"),
        ("from pkgutil import resolve_name", "pkgutil"),
        ("import __main__", "__main__"),
        ("from timeit import *\nONE = timeit('1')", "timeit"),
        ("from torch import *\ndef attend(q): return initial_seed()", "torch.random.initial_seed"),
        ("from torch.nn.functional import *\ndef attend(q): return importlib.util", "importlib"),
        ("from typing import *\ndef attend(q): return get_type_hints(q)", "typing.get_type_hints"),
        (
            "import typing as _attend__t\nclass attend:\n    def look(self): return __t.get_type_hints(1)",
            "typing.get_type_hints",
        ),
        ("from operator import methodcaller", "operator.methodcaller"),
        ("import operator\ndef attend(q): return operator.attrgetter('exp')(q)", "operator.attrgetter"),
        ("import enum\ndef attend(q): return enum.pickle_by_enum_name(q, 2)", "enum.pickle_by_enum_name"),
        ("import copy\ncopy.dispatch_table[int] = print", "copy.dispatch_table"),
        ("import warnings\ndef attend(q): return warnings.filters", "warnings.filters"),
        ("import enum\nE = enum.Enum('E', {'__array_interface__': {}})\nE", "__array_interface__"),
        ("import enum\nE = enum.Enum('torch', {'__torch_function__': print})\nE", "__torch_function__"),
        ("import enum\nE = enum.Enum('E', {'__torch_function__': print}, module='checks')\nE", "checks.E"),
        ("import enum\nE = enum.Enum('E', {'A': 1, '__prepare__': print})\nclass B(E.A): eval('1')", "__prepare__"),
        (
            "class attend(nn.ModuleDict({'__mro_entries__': nn.Identity()})): pass",
            "torch.nn.modules.container.ModuleDict",
        ),
        ("class attend(*[int]): pass", "metaclass"),
        ("class attend:\n    def f(self, x=(__torch_function__ := print)): pass", "__torch_function__"),
        ("class K: pass\ndef attend(q): return isinstance(q, K, key=eval)", "eval"),
        ("def isinstance(*a): return [*map(staticmethod, a[1:])]\nONE = isinstance(1, type)", "type"),
        ("kinds = []\nclass A: __eq__ = kinds.append\nA() == type", "type"),
        ("import functools\ndef f(q): pass\nfunctools.wraps(f)(nn.Linear)", "torch.nn.modules.linear.Linear"),
        ("class S(super): pass\nclass M(nn.Module): pass\nS(M, M())._compiled_call_impl", "_compiled_call_impl"),
        (
            "class A: __ror__ = [].append\ndef attend(q):\n    try: 1 / 0\n"
            "    except Exception as error: error.__traceback__.tb_frame |= A()",
            "frame",
        ),
        (f"{SHAPED}{FAILED}case T(tb_frame=T(f_globals=found)): found['$0'] = print", "case"),
        ("from torch import onnx", "torch.onnx"),
        ("from torch._decomp import decompositions", "torch._decomp"),
        ("import functools as f\ndef attend(q): return f.update_wrapper(q, q)", "functools.update_wrapper"),
        ("import dataclasses\ndef attend(q): return dataclasses.dataclass(torch.Tensor)", "torch.Tensor"),
        ("from dataclasses import dataclass\n@dataclass\nclass attend:\n    q: int = eval('1')", "eval"),
        ("import abc\nclass Meta(abc.ABCMeta): pass", "abc.ABCMeta"),
        ("class Meta(type): pass", "type"),
        ("class attend(torch.Tensor):\n    def __torch_dispatch__(self): pass", "__torch_dispatch__"),
        ("class attend:\n    from math import exp as __torch_function__", "__torch_function__"),
        ("class attend:\n    match print:\n        case __getattr__: pass", "__getattr__"),
        ("class attend:\n    __torch_function__ = print", "__torch_function__"),
        ("def attend(q):\n    match nn.Linear(1, 1):\n        case nn.Linear(a): return a", "case"),
        ("def attend(q):\n    match q:\n        case object(__class__=c): return c", "__class__"),
        ("class M(nn.Module): __match_args__ = '_modules',\nmatch M():\n    case M(found): found.clear()", "case"),
        ("def attend(q):\n    try: eval('1')\n    except Exception: return q.exp()", "eval"),
        (
            "from collections.abc import Iterator\ndef attend(q): return Iterator.register(float)",
            "collections.abc.Iterator.register",
        ),
        (
            "import enum\nclass K(enum.Enum):\n    @classmethod\n    def look(cls): return cls._convert_(1)\nK.look()",
            "K._convert_",
        ),
        (
            "import warnings\nclass W(warnings.catch_warnings):\n    def look(self): return self._module\nW().look()",
            "_module",
        ),
        ("class attend(nn.Module):\n    def look(self): return self._modules", "_modules"),
        ("class P(nn.ParameterDict): pass\ndef attend(q): return P.__getitem__(q, 'a')", "P.__getitem__"),
        (f"{PEEKING}def attend(q): return A.look(q)", "_is_view"),
        (
            "class A:\n    _x = 1\n    def look(self): return self._x\nadd = A.look\ndef attend(q): return add(q)",
            "_x",
        ),
        ("def attend(self): return self._is_view()", "_is_view"),
        (
            "for typing in [1]:\n    def f(): return typing.get_type_hints(f)\nimport typing\nONE = f()",
            "typing.get_type_hints",
        ),
        (
            "__name__ = 'typing'\nfrom typing import Annotated\ndef attend(q): return Annotated[q, 1].__metadata__",
            "__metadata__",
        ),
        (f"{FAILED}case object(tb_frame=object(f_globals=found)): found['$0'] = found['$1'] = print", "case"),
        (f"{FAILED}case object(stack=object(tb_frame=object())): pass", "case"),
        (EQUAL, "frame"),
        ("def attend(q):\n    match warnings:\n        case object(filters=f): f.clear()\nimport warnings", "case"),
        ("def attend(q): return '{0.__globals__}'.format(attend)", "__globals__"),
        ("def attend(q): return [*map('{0.sys.modules}'.format, [torch])]", "sys.modules"),
        ("def attend(q): return str.format('{0[f].sys.modules}', {'f': torch})", "sys.modules"),
        ("def attend(q): return '{f.__code__}'.format_map({'f': attend})", "__code__"),
        (
            "class K:\n    def prepare(self, *a): return {'$0': lambda v: v}\nk = K()\n"
            "k.__dict__['__prep' + 'are__'] = k.prepare\nclass A(metaclass=k): eval('1')",
            "__prepare__",
        ),
        (f"{NAMING}class attend(metaclass=k): eval('1')", "metaclass"),
        (f"{NAMING}class attend(**{{'metaclass': k}}): eval('1')", "metaclass"),
        ("class K: pass\nk = K()\nk.__dict__ |= {'__prepare__': print}", "__dict__"),
        ("__builtins__ = {'__import__': print}", "__builtins__"),
        (
            "def attend(q):\n    global __builtins__\n    match {'a': print}:\n        case {**__builtins__}: pass",
            "__builtins__",
        ),
        (
            "import typing, operator\ndef attend(q):\n    of_type = map(typing.get_origin, [typing.Type[int]])\n"
            "    return [*map(operator.getitem, of_type, [int])][0]('X', (), {})",
            "typing.get_origin",
        ),
        ("from collections import UserString", "collections.UserString"),
        ("import random\nfound = {'f': random}\ndef attend(q): return found['f']._inst", "random._inst"),
    ],
)
def test_it_is_the_value_that_counts_and_not_its_name(code: str, word: str) -> None:
    assert stopped(code) == word


HONEST = (Path(__file__).parent / "honest_answers.txt").read_text(encoding="utf-8").split("# %%\n")[1:]


@pytest.mark.parametrize("code", HONEST)
def test_ordinary_code_runs_as_it_does_without_a_guard(code: str) -> None:
    notebook, printed, plain = Notebook(), io.StringIO(), io.StringIO()
    names: dict[str, Any] = {"__name__": "__main__"}
    with torch.random.fork_rng(), contextlib.redirect_stdout(printed):
        assert notebook.run(code) == ""
    with torch.random.fork_rng(), contextlib.redirect_stdout(plain):
        eval(compile(f"{GIVEN}\n{code}", "cell", "exec"), names)
        call(names.get("attend"))
    torch.backends.cudnn.benchmark = False
    if "locals" not in code and " at 0x" not in printed.getvalue():
        assert printed.getvalue() == plain.getvalue()


def test_what_stops_code_ends_what_it_was_about_to_do() -> None:
    notebook = Notebook()
    with pytest.raises(NotOrdinaryError, match=r"^sys\.setprofile$"):
        notebook.run("import sys\nsys.setprofile(1 / 0)")
    assert notebook.guard.words == [f"{USES}sys.setprofile"]


def test_what_an_author_allows_runs() -> None:
    assert stopped("def attend(q): return eval('3')", known=("eval",)) == ""
    assert stopped("import timeit\ndef attend(q): return timeit.default_timer()", known=("timeit",)) == ""


def test_what_the_courses_own_cells_have_may_be_used() -> None:
    given = "import numpy as np\nimport matplotlib.pyplot as plt\nfrom pathlib import Path\ndef helper(q): return q"
    notebook = Notebook(given=f"{GIVEN}\n{given}")
    assert notebook.run("here = Path('.')\ndef attend(q): return helper(np.exp(1)) + np.linalg.norm(np.ones(2))") == ""
    assert notebook.run("import matplotlib.pyplot as p\nfig, ax = p.subplots()\nax.plot([1], [2])\np.close(fig)") == ""
    with pytest.raises(NotOrdinaryError, match=r"^numpy\.testing"):
        notebook.run("np.testing.runstring('1', {})")
    with pytest.raises(NotOrdinaryError, match="ctypes"):
        notebook.run("np.ctypeslib.ctypes")


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType("heads")
    eval(
        compile("import torch, threading\ndef one_back(w): return w\ndef other(w): return w", "heads", "exec"),
        vars(module),
    )
    monkeypatch.setitem(sys.modules, "heads", module)
    return module


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize(
    "code",
    [
        "import heads\ndef attend(q): return heads.one_back(q)",
        "from heads import one_back as mine\ndef attend(q): return mine(q)",
        "import heads\nname = 'one' + '_back'\ndef attend(q): return getattr(heads, name)(q)",
        "from heads import *\ndef attend(q): return one_back(q)",
    ],
)
def test_the_lessons_own_functions_are_noted_under_any_name(code: str) -> None:
    notebook = Notebook(lesson=("heads",))
    assert notebook.run(code) == ""
    assert "heads::one_back" in notebook.guard.words


@pytest.mark.usefixtures("heads")
def test_what_a_lessons_module_imports_is_what_it_is_elsewhere() -> None:
    notebook = Notebook(lesson=("heads",))
    assert notebook.run("import heads\ndef attend(q): return heads.torch.exp(heads.other(q))") == ""
    with pytest.raises(NotOrdinaryError, match=r"^threading$"):
        notebook.run("heads.threading")


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ("[*map(getattr, held, ['f_globals'])]", "frame"),
        ("[*map(setattr, held, ['f_trace'], [print])]", "frame"),
        ("[*map('{0.f_lineno}'.format, held)]", "frame"),
        ("class A: __add__ = held.pop\n(A() + 0).f_globals", "frame"),
        ("class A: __add__ = held.pop\n(0 or A() + 0).f_globals", "frame"),
        ("class A: __add__ = held.pop\n(x := A() + 0).f_trace = print", "frame"),
        ("class A: __add__ = held.pop\n(A() + 0 if 1 else 0)(1)", "frame"),
        ("class A: __add__ = held.pop\nprint(end=A() + 0)", "frame"),
        ("class A: __neg__ = held.copy\nclass B: __lt__ = held.pop\n(B() < 0).f_globals", "frame"),
        ("import functools\n[*map(functools.wraps, held)]", "frame"),
        ("[find] = map(staticmethod, find)\nfind('__globals__')", "operator.attrgetter"),
        ("import functools\n[find] = map(functools.cache, find)\nfind('__globals__')", "operator.attrgetter"),
        ("[find] = map(classmethod, find)\nfind", "operator.attrgetter"),
    ],
)
def test_what_lies_in_a_list_is_looked_at_before_anything_is_done_with_it(cell: str, word: str) -> None:
    notebook = Notebook()
    notebook.names |= {"held": [sys._getframe()], "find": [operator.attrgetter]}
    with pytest.raises(NotOrdinaryError, match=f"^{word}$"):
        notebook.run(cell)


def test_what_wraps_a_function_gets_what_python_gives_it_and_no_more() -> None:
    notebook = Notebook()
    notebook.run("import functools\nclass Box: pass\nbox = Box()\nfunctools.wraps(torch)(box)")
    assert "exp" not in vars(notebook.names["box"])
    with pytest.raises(TypeError, match="unexpected keyword"):
        notebook.run("def attend(q): return q\nfunctools.wraps(attend)(box, assigned=['__globals__'])")


def test_a_hint_of_all_classes_hands_out_none_that_makes_classes() -> None:
    notebook = Notebook()
    notebook.run("class Box:\n    kind: type\nhints = vars(Box)['__annotations__']")
    assert notebook.names["hints"] == {"kind": typing.Type}  # noqa: UP006


def test_hints_are_guarded_where_an_import_of_that_name_is_no_statement_about_the_future() -> None:
    """Python 3.13 takes it for an ordinary import."""
    tree = mediated(ast.parse("from .__future__ import annotations\ndef attend(q: int): return q"))
    assert "$0(int)" in ast.unparse(tree)


def test_names_are_found_and_changed_through_the_guard() -> None:
    notebook = Notebook()
    notebook.run(
        "class Box:\n    a = 1\nbox = Box()\nsetattr(box, 'b', 2)\ndelattr(box, 'b')\n"
        "found = getattr(box, 'a'), getattr(box, 'b', 3), vars(box), 'found' in globals(), hasattr(box, 'b')\n"
        "def inner():\n    here = 1\n    return locals(), vars()\ninside = inner()\nglobals()['box'] = None"
    )
    assert notebook.names["found"] == (1, 3, {}, False, False)
    assert notebook.names["inside"] == ({"here": 1}, {"here": 1})
    assert notebook.names["box"] is not None
    with pytest.raises(AttributeError, match="no attribute 'c'"):
        notebook.run("getattr(box, 'c')")


def test_a_text_that_is_another_one_when_it_is_asked_again_finds_nothing() -> None:
    cell = "class T(str):\n    def startswith(self, *a): return False\ngetattr(torch, T('_C'))"
    with pytest.raises(TypeError, match="must be string"):
        Notebook().run(cell)


def test_annotations_that_do_not_run_stay_as_they_are() -> None:
    notebook = Notebook()
    notebook.run(
        "from __future__ import annotations\nimport dataclasses, typing\n@dataclasses.dataclass\nclass P:\n"
        "    kind: typing.ClassVar[int] = 1\n    q: Nowhere = 2\n"
    )
    assert notebook.names["P"].__annotations__ == {"kind": "typing.ClassVar[int]", "q": "Nowhere"}


def test_the_words_of_a_record_are_told_of_whatever_came_back() -> None:
    assert used_in([Returned(1, ran=("exp",)), Returned(1, ran=(f"{USES}os",))]) == "os"
    assert used_in([Raised(STOPPED, f"{USES}o\x1bs" + "s" * 99)]) == ("o\\x1bs" + "s" * 99)[:80]
    assert used_in([Raised("ValueError", f"{USES}os")]) == ""


FINDING = frozenset(
    {"fields", "interpolate", "max_pool3d_with_indices", "namedtuple", "no_type_check", "orthogonal", "pad"}
)
FINDING |= {"register_parametrization", "remove_parametrizations", "replace", "spectral_norm"}
FINDING |= {"transfer_parametrizations_and_params"}
THROUGH_THE_GUARD = {"wraps", "total_ordering", "dataclass"}


def names_found_by_text(function: Callable[..., object]) -> bool:
    """Say whether a function of Python's gets, sets or runs what a text names that it did not write itself."""
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        for part in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))):
            name = called(part)
            if name in ("import_module", "__import__", "eval", "exec"):
                return True
            if name in ("getattr", "setattr") and not isinstance(part.args[1], ast.Constant):  # type: ignore[attr-defined]
                return True
    return False


def ordinary_functions() -> Iterator[Callable[..., object]]:
    ordinary = Ordinary(MODULES)
    for module in [name for name in sys.modules if name.split(".")[0] in MODULES and ordinary.module(name)]:
        for name, value in [*vars(sys.modules[module]).items()]:
            if inspect.isfunction(value) and ordinary.name(module, name):
                yield value


def test_no_ordinary_function_finds_something_by_a_text_but_known_ones() -> None:
    """Those that are known check what they find, or take the texts from a class that is written out."""
    found = {function.__name__ for function in ordinary_functions() if names_found_by_text(function)}
    assert found <= FINDING | THROUGH_THE_GUARD, sorted(found - FINDING)
