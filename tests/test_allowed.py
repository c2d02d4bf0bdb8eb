"""What in an exercise's code a person should look at, and what is nobody's business."""

import pytest

from autograder.judging.allowed import CodeReader

GIVEN = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"
RIGHT = "def attend(q): return q.exp()"


def asked(*cells: str, allowed: tuple[str, ...] = ()) -> str:
    reader = CodeReader([GIVEN, *cells], cells)
    return reader.question("attend", allowed)


def asked_elsewhere(*cells: str) -> str:
    return CodeReader([GIVEN, RIGHT, *cells], [RIGHT, *cells]).question_elsewhere()


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
        ("def attend(q): return torch.__dict__['exp'](q)", "torch.__dict__"),
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
            "concurrent.futures",
        ),
        ("import multiprocessing as m\ndef attend(q): return m.Pool().map(q)", "multiprocessing"),
        ("import os\ndef attend(q): return os.fork()", "os"),
        ("import importlib\ndef attend(q): return importlib.import_module('torch')", "importlib"),
        ("from operator import methodcaller\ndef attend(q): return methodcaller('exp')(q)", "operator.methodcaller"),
        ("def helper(q): return eval('q')\ndef attend(q): return helper(q)", "eval"),
        ("class attend:\n    def forward(self, q): return torch._softmax(q)", "torch._softmax"),
    ],
)
def test_a_way_round_in_an_exercises_code_is_shown_to_a_person(code: str, word: str) -> None:
    assert f"its code uses `{word}" in asked(code)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def attend(q): return torch.sys.modules['threading'].Thread(q)", "torch.sys.modules"),
        ("t = torch\ndef attend(q): return t.sys.modules", "torch.sys.modules"),
        ("def attend(q, m=torch): return m.sys", "torch"),
        ("def attend(q): return (lambda m: m.sys)(torch)", "torch"),
        ("class attend:\n    m = torch\n    def __call__(self, q): return self.m.sys", "torch"),
        ("def attend(q):\n    match torch:\n        case object(sys=s): return s", "torch"),
        ("def attend(q):\n    match q:\n        case object(__class__=c, gi_frame=f): return f", "gi_frame"),
        ("def attend(q): return (x for x in q).gi_frame.f_back.f_globals", "f_globals"),
        ("def attend(q): return type(q).mro()[-1].__subclasses__()", "__subclasses__"),
        ("def attend(q): return q.__class__.__mro__[-1]", "__mro__"),
        ("def attend(q): return type('X', (torch.Tensor,), {'a': q})", "type"),
        ("class Meta(type): pass\nclass attend(metaclass=Meta): pass", "type"),
        ("class attend(torch.Tensor):\n    def __torch_dispatch__(self): pass", "__torch_dispatch__"),
        ("class attend(torch.Tensor):\n    __torch_dispatch__ = classmethod(print)", "__torch_dispatch__"),
        ("class attend:\n    def __class_getitem__(cls, q): return q", "__class_getitem__"),
        ("class attend:\n    def look(self): return self.__globals__", "__globals__"),
        ("class attend:\n    def look(self, n): return getattr(self, '__glo' + n)", "getattr"),
        ("def attend(q):\n    for n in ('exp',): n = '__glo' + n\n    return getattr(q, n)", "getattr"),
        ("def attend(q):\n    for n in ('exp', '__globals__'): q = getattr(q, n)\n    return q", "__globals__"),
        ("find = getattr\ndef attend(q): return find(q, 'sys')", "getattr"),
        ("import functools\ndef attend(q): return functools.reduce(getattr, ['a'], q)", "getattr"),
        ("import typing\ndef attend(q): return typing.get_type_hints(q)", "typing.get_type_hints"),
        ("import string\ndef attend(q): return string.Formatter().get_field('0.__globals__', q, {})", "string"),
        ("import pickle\ndef attend(q): return pickle.loads(q)", "pickle"),
        ("import inspect\ndef attend(q): return inspect.stack()", "inspect"),
        ("import numpy\ndef attend(q): return numpy.frombuffer(q)", "numpy"),
        ("def attend(q): return torch.jit.script(q)", "torch.jit.script"),
        ("def attend(q): return torch.utils.benchmark.Timer(q)", "torch.utils.benchmark"),
        ("def attend(q): return torch.package.PackageImporter(q)", "torch.package"),
        ("def attend(q): return torch.hub.load(q)", "torch.hub"),
        ("def attend(q):\n    with torch.DisableTorchFunction(): return q", "torch.DisableTorchFunction"),
        ("def attend(q): return torch.ThroughputBenchmark(q)", "torch.ThroughputBenchmark"),
        ("def attend(q): return torch.get_device_module('cpu').torch.threading", "torch.get_device_module"),
        ("def attend(q): return torch.load(q, '\\x1b' * 90)", "torch.load"),
        ("def attend(q): return torch.nn.attention.flex_attention(q)", "torch.nn.attention"),
        ("def attend(q): return torch.load(q)", "torch.load"),
        ("def attend(q): return get_ipython().ev(q)", "get_ipython"),
        ("%t ready = eval('torch')\ndef attend(q): return ready(q)", "eval"),
        ("def attend(q): return ready(q)", "ready"),
        ("if True:\n    import threading\ndef attend(q): return threading.Thread(q)", "threading"),
        ("def make():\n    global attend\n    attend = torch.jit.script\ndef attend(q): return q", "torch.jit.script"),
    ],
)
def test_what_no_list_of_ways_round_knew_is_shown_too(code: str, word: str) -> None:
    assert f"its code uses `{word}" in asked(code)


@pytest.mark.parametrize(
    "code",
    [
        "import math\nfrom torch import nn\ndef attend(q): return nn.Linear(2, 3)(torch.cat([q, q])) * math.pi",
        "class attend(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._own = 1",
        "class attend:\n    def __call__(self, q): return getattr(self, f'head_{1}')(q) + self._b",
        "def attend(q): return getattr(q, 'mT', None)",
        "def attend(q, model): return model.eval()(q)",
        "import re\ndef attend(q): return re.compile('a')",
        "@torch.compile\ndef attend(q): return q",
        "def attend(q, kind='a'):\n    for n, i in (('k', 0), ('v', 1)): q = getattr(q, n)\n    return q",
        "def attend(q):\n    functional = torch.nn.functional\n    return functional.relu(q) if type(q) else q",
        "try:\n    from typing import Self\nexcept ImportError as why:\n    print(why)\ndef attend(q): return q",
        "from math import *\ndef attend(q): return q * sqrt(2)",
        "import operator, functools\ndef attend(q): return functools.reduce(operator.mul, q)",
        "from torch.nn.utils import parametrize\ndef attend(q): return torch.func.vmap(torch.linalg.norm)(q)",
        "def attend(q): return F.relu(q) if torch.cuda.is_available() else nn.Linear(2, 2).eval()(q)",
        "import typing as t\nclass attend(t.NamedTuple):\n    q: int\n    def __len__(self): return 1",
        "def attend(q):\n    torch.manual_seed(0)\n    with torch.no_grad(): return q.ops",
    ],
)
def test_ordinary_code_is_nobodys_business(code: str) -> None:
    assert asked(code) == ""


@pytest.mark.parametrize(
    "cell",
    [
        "import asyncio\nasync def wait(): await asyncio.sleep(1)",
        "import multiprocessing, os, sys\nprint(multiprocessing.cpu_count(), os.environ['HOME'], sys.version)",
        "import gc\ngc.collect()",
        "import inspect, figures\nprint(inspect.getsource(figures.draw), torch.__version__)",
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot(attend(q), cmap=plt.cm.viridis)",
        "import numpy as np, pandas as pd, time\npd.DataFrame(np.random.rand(3)), torch.testing.assert_close(1, 1)",
        "from IPython.display import display\n%matplotlib inline\n%timeit attend(q)\n!pip install einops",
        "%%time\nrows = open('rows.txt').read()\nwith open('rows.txt', 'rb') as file: file.read()",
        "help(torch)\nF.scaled_dot_product_attention(q, q, q) - attend(q)",
        "attend.calls = 0\ntorch.manual_seed(0)\ntorch.set_printoptions(precision=3)",
    ],
)
def test_what_another_cell_does_is_no_question(cell: str) -> None:
    assert (asked(RIGHT, cell), asked_elsewhere("import figures", cell)) == ("", "a cell uses `figures`")
    reader = CodeReader([GIVEN, "import figures", RIGHT, cell], [RIGHT, cell])
    assert reader.question_elsewhere() == ""


@pytest.mark.parametrize(
    "cell",
    [
        "torch.utils._python_dispatch._disable_current_modes()",
        "import sys\nsys._getframe(1)",
        "with torch._C.DisableTorchFunction(): pass",
        "import autograder.judging.operators as o\no.note = print",
        "import autograder\nautograder.judging.operators.note = print",
        "from autograder.judging import operators",
        "import ctypes",
        "import sys\nsys.setprofile(print)",
        "import sys\nsys.settrace(print)",
        "import sys as s\nfind = [s]",
        "from sys import settrace",
        "from pkgutil import resolve_name as find\nfind('torch:_C.DisableTorchFunction')",
        "class Box: pass\nBox.run, Box.make = exec, compile",
        "getattr(torch, '_C')",
        "import gc\ngc.callbacks.append(print)",
        "import os\nos.fork()",
        "import asyncio\nasyncio.sys.settrace(print)",
        "import matplotlib.pyplot as plt\nplt.sys.settrace(print)",
        "torch.library.Library('aten', 'IMPL').impl('exp', print)",
        "import __main__\nsetattr(__main__, 'attend', print)",
        "setattr(nn.Linear, 'forward', print)",
        "attend.__code__ = print.__code__",
        "globals()['attend'] = print",
        "import threading",
        "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(print)",
        "from modern import *",
        "from typing import *",
        "%run other.py",
        "%%writefile pandas.py\nx = 1",
        "%load_ext other",
        "open('pandas.py', 'w').write('x = 1')",
        "print('x = 1', file=open('pandas.py', mode='a'))",
        "import pathlib\npathlib.Path('pandas.py').write_text('x = 1')",
        "import numpy as np\nnp.load('a.npy', allow_pickle=True)",
        "import inspect\ninspect.signature(attend, eval_str=True)",
    ],
)
def test_what_may_change_the_record_or_a_name_is_shown_wherever_it_is(cell: str) -> None:
    assert "a cell uses" in asked_elsewhere(cell)


def test_a_cell_that_nobody_can_read_is_shown_where_it_names_the_exercise() -> None:
    assert asked(RIGHT, "attend = (") == "a cell with its name cannot be read"
    assert asked(RIGHT, "other = (") == ""


def test_what_an_author_allows_is_no_question() -> None:
    code = "def attend(q): return eval('q.exp()')"
    assert asked(code, allowed=("eval",)) == ""


def test_of_a_chain_without_end_only_the_beginning_is_read() -> None:
    assert "torch._C" in asked(f"def attend(q): return torch._C{'.a' * 2000}")


def test_what_the_lesson_imports_may_be_used_and_nothing_below_it() -> None:
    def question(code: str) -> str:
        return CodeReader(["import numpy as np\nfrom autograder import check", code], [code]).question("attend")

    assert question("import numpy\ndef attend(q): return numpy.exp(np.random.rand(3))") == ""
    assert "autograder.judging" in question("from autograder.judging import check\ndef attend(q): return check(q)")
    assert "ctypes" in question("def attend(q): return np.ctypeslib.ctypes")


def test_what_the_solution_uses_is_nobodys_business() -> None:
    code = "import runpy\ndef attend(q): return runpy.run_path(q)"
    words = CodeReader([code], [code]).words("attend")
    assert words == {"runpy"}
    assert asked(code, allowed=tuple(words)) == ""
