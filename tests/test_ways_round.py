"""What in an exercise's code a person should look at, and what is nobody's business."""

import ast

import pytest

from autograder.grading.ways_round import dotted, starred, way_round

RIGHT = "def attend(q): return q.exp()"


def asked(*cells: str, allowed: tuple[str, ...] = ()) -> str:
    return way_round(cells, "attend", cells, allowed)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def attend(q): return eval('q.exp()')", "eval"),
        ("def attend(q):\n    exec('r = q')\n    return r", "exec"),
        ("def attend(q): return compile('q', 'f', 'eval')", "compile"),
        ("def attend(q): return __import__('torch').exp(q)", "__import__"),
        ("def attend(q): return getattr(torch, 'ex' + 'p')(q)", "getattr"),
        ("name = 'exp'\ndef attend(q): return getattr(q, name)()", "getattr"),
        ("def attend(q): return vars(torch)['exp'](q)", "vars"),
        ("def attend(q): return globals()['torch'].exp(q)", "globals"),
        ("def attend(q): return torch.__dict__['exp'](q)", "__dict__"),
        ("def attend(q): return torch._masked_softmax(q)", "torch._masked_softmax"),
        ("def attend(q): return torch.ops.aten.exp(q)", "torch.ops.aten.exp"),
        ("import torch as t\ndef attend(q): return t._refs.exp(q)", "torch._refs.exp"),
        ("import torch.nn.functional as F\ndef attend(q): return F._in_projection(q)", "torch.nn.functional._in_proj"),
        ("from torch import onnx\ndef attend(q): return onnx.ops.attention(q)", "torch.onnx"),
        ("from torch._decomp import decompositions as d\ndef attend(q): return d.exp(q)", "torch._decomp"),
        ("def attend(q):\n    from torch._C import _nn\n    return _nn.gelu(q)", "torch._C"),
        ("import threading\ndef attend(q): return threading.Thread(q)", "threading"),
        (
            "from concurrent.futures import Executor as E\npool = E()\ndef attend(q): return pool.submit(q)",
            "conc",
        ),
        ("import multiprocessing as m\ndef attend(q): return m.Pool().map(q)", "multiprocessing"),
        ("import os\ndef attend(q): return os.fork()", "fork"),
        ("import importlib\ndef attend(q): return importlib.import_module('torch')", "import_module"),
        ("from operator import methodcaller\ndef attend(q): return methodcaller('exp')(q)", "methodcaller"),
        ("def helper(q): return eval('q')\ndef attend(q): return helper(q)", "eval"),
        ("class attend:\n    def forward(self, q): return torch._softmax(q)", "torch._softmax"),
    ],
)
def test_a_way_round_in_an_exercises_code_is_shown_to_a_person(code: str, word: str) -> None:
    assert f"its code uses `{word}" in asked(code)


@pytest.mark.parametrize(
    "code",
    [
        "import math\nfrom torch import nn\ndef attend(q): return nn.Linear(2, 3)(torch.cat([q, q])) * math.pi",
        "class attend(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._own = 1",
        "class attend:\n    def __call__(self, q): return getattr(self, f'head_{1}')(q) + vars(self)['b']",
        "def attend(q): return getattr(q, 'mT', None)",
        "def attend(q, model): return model.eval()(q)",
        "import re\ndef attend(q): return re.compile('a')",
        "@torch.compile\ndef attend(q): return q",
        "def attend(q):\n    torch.manual_seed(0)\n    with torch.no_grad(): return q.ops",
    ],
)
def test_ordinary_code_is_nobodys_business(code: str) -> None:
    assert asked(code) == ""


@pytest.mark.parametrize(
    "cell",
    [
        "import asyncio\nasync def wait(): await asyncio.sleep(1)",
        "import multiprocessing\nprint(multiprocessing.cpu_count())",
        "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(print)",
        "import gc\ngc.collect()",
        "print(vars(torch)['exp'], eval('1 + 1'), torch._softmax)",
        "F.scaled_dot_product_attention(q, q, q) - attend(q)",
    ],
)
def test_what_another_cell_does_is_no_question_about_the_exercise(cell: str) -> None:
    assert asked(RIGHT, cell) == ""


@pytest.mark.parametrize(
    "cell",
    [
        "torch.utils._python_dispatch._disable_current_modes()",
        "import sys\nsys._getframe(1)",
        "with torch._C.DisableTorchFunction(): pass",
        "import autograder.judging.operators as o\no.note = print",
        "import ctypes",
        "import sys\nsys.setprofile(print)",
        "import sys\nsys.settrace(print)",
        "find('torch:_C.DisableTorchFunction')",
        "class Box: pass\nBox.run, Box.make = exec, compile",
        "getattr(torch, '_C')",
    ],
)
def test_ways_to_the_record_itself_are_shown_wherever_they_are(cell: str) -> None:
    assert "a cell uses" in asked(RIGHT, cell)


def test_a_cell_that_nobody_can_read_is_shown_where_it_names_the_exercise() -> None:
    assert asked(RIGHT, "attend = (") == "a cell with its name cannot be read"
    assert asked(RIGHT, "other = (") == ""


def test_what_an_author_allows_is_no_question() -> None:
    code = "def attend(q): return eval('q.exp()')"
    assert asked(code, allowed=("eval",)) == ""


def test_a_cell_that_imports_all_of_a_lessons_module_is_shown() -> None:
    assert starred(["import torch", "if True:\n    from modern import *"], ("modern",)) == "modern"
    assert starred(["from math import *", "from modern import GPT", "from ."], ("modern",)) == ""


def test_of_a_chain_without_end_only_the_beginning_is_read() -> None:
    (statement,) = ast.parse(f"torch{'.a' * 2000}").body
    assert dotted(statement.value, {"torch": "torch"}) == ""
    assert "torch._C" in asked(f"import torch\ndef attend(q): return torch._C{'.a' * 2000}")
