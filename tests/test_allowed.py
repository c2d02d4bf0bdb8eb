"""What in an exercise's code a person should look at, and what is nobody's business."""

import ast
import contextlib
import inspect
import sys
import time
from collections import Counter
from pathlib import Path
from textwrap import indent

import pytest

from autograder.judging import ordinary
from autograder.judging.allowed import CodeReader
from autograder.judging.built_texts import columns_of
from autograder.judging.names import binding_in
from autograder.judging.ordinary import MODULES, Paths
from autograder.judging.private import called_in_body
from autograder.judging.syntax import called

GIVEN = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"
PEEKING = "class A:\n    _is_view = None\n    def look(self): return self._is_view()\n"
MEASURE = (
    "import time\nimport torch\nfrom torch import nn\nfrom torch.nn import functional\njit = torch.jit\n"
    "from torch.utils._python_dispatch import TorchDispatchMode\ndef tensors(f): return f\n"
    "def everything() -> ModuleType | None: return torch"
)
RIGHT = "def attend(q): return q.exp()"


def asked(*cells: str, allowed: tuple[str, ...] = ()) -> str:
    reader = CodeReader([GIVEN, *cells], cells)
    return reader.question("attend", allowed)


def asked_inside(cell: str) -> str:
    """What is asked about an exercise whose function does what a cell does."""
    return asked(f"def attend(q):\n{indent(cell, '    ')}\n    return q")


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def attend(q): return eval('q.exp()')", "eval"),
        ("def attend(q):\n    exec('r = q')\n    return r", "exec"),
        ("def attend(q): return compile('q', 'f', 'eval')", "compile"),
        ("def attend(q): return torch.initial_seed()", "torch.initial_seed"),
        ("def attend(q): return torch.default_generator.initial_seed()", "torch.default_generator"),
        ("def attend(q): return torch.get_rng_state()[0]", "torch.get_rng_state"),
        ("def attend(q): return __import__('torch').exp(q)", "__import__"),
        ("def attend(q): return getattr(torch, 'ex' + 'p')(q)", "getattr"),
        (
            "from torch.nn.utils import prune\ndef attend(q): return prune.global_unstructured([(q, 'a' + 'b')])",
            "torch.nn.utils.prune",
        ),
        ("def attend(q): return torch.nn.utils.prune.identity(q, 'a' + 'b')", "torch.nn.utils.prune"),
        (
            "from torch.nn.utils.weight_norm import WeightNorm\nclass attend(WeightNorm): pass",
            "torch.nn.utils.weight_norm",
        ),
        ("def attend(q): return attend.__code__.replace(co_names=('a' + 'b',))", "__code__"),
        ("import logging\ndef attend(q): return logging.currentframe()", "logging.currentframe"),
        (
            "import logging\ndef attend(q): return logging.makeLogRecord({'__red' + 'uce__': q})",
            "texts put together",
        ),
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
        ("def attend(q):\n    q.grad_fn.register_prehook(print)\n    return q", "register_prehook"),
        ("def attend(q):\n    q.grad_fn.metadata['f'] = q\n    return q", "metadata"),
        ("from torch.autograd.graph import saved_tensors_hooks as s\ndef attend(q): return s", "torch.autograd.graph"),
        ("def attend(q): return q + torch.random.initial_seed()", "torch.random.initial_seed"),
    ],
)
def test_a_way_round_in_an_exercises_code_is_shown_to_a_person(code: str, word: str) -> None:
    assert f"its code uses `{word}" in asked(code)


@pytest.mark.parametrize(
    "put",
    [
        "def setup(d): d['f'] = np.exp\nsetup(bag)",
        "kept = bag.setdefault('f', np.exp)",
        "[bag.update(f=f) for f in [np.exp]]",
        "if not bag.update(f=np.exp): pass",
        "for k, bag['f'] in [(1, np.exp)]: pass",
    ],
)
def test_what_an_object_holds_counts_however_it_was_put_there(put: str) -> None:
    assert "numpy" in asked("bag = {}", f"import numpy as np\n{put}", "def attend(q): return bag['f'](q)")
    assert asked("bag = {}", f"import numpy as np\n{put}", "def attend(q): return q.exp()") == ""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("def attend(q): return torch.sys.modules['threading'].Thread(q)", "torch.sys.modules"),
        ("t = torch\ndef attend(q): return t.sys.modules", "torch.sys.modules"),
        ("def attend(q, m=torch): return m.sys", "torch"),
        ("def attend(q): return (lambda m: m.sys)(torch)", "torch"),
        ("def look(m): return m.modules\ndef attend(q): return look(torch.sys)", "torch.sys"),
        ("import warnings\ndef attend(q): return [warnings.sys][0].modules", "warnings.sys"),
        ("class attend:\n    m = torch\n    def __call__(self, q): return self.m.sys", "torch"),
        ("def attend(q):\n    match torch:\n        case object(sys=s): return s", "torch"),
        ("def attend(q):\n    match q:\n        case object(gi_frame=f): return f", "gi_frame"),
        ("def attend(q):\n    match q:\n        case object(__class__=c): return c", "__class__"),
        ("def attend(q): return (x for x in q).gi_frame.f_back.f_globals", "f_globals"),
        ("def attend(q): return type(q).mro()[-1].__subclasses__()", "__subclasses__"),
        ("def attend(q): return q.__class__.__mro__[-1]", "__mro__"),
        ("def attend(q): return type('X', (torch.Tensor,), {'a': q})", "type"),
        ("class Meta(type): pass\nclass attend(metaclass=Meta): pass", "type"),
        ("class attend(torch.Tensor):\n    def __torch_dispatch__(self): pass", "__torch_dispatch__"),
        ("class attend(torch.Tensor):\n    __torch_dispatch__ = classmethod(print)", "__torch_dispatch__"),
        ("class attend:\n    def __class_getitem__(cls, q): return q", "__class_getitem__"),
        ("class attend:\n    from math import exp as __torch_function__", "import in a class"),
        ("class attend:\n    class __torch_function__: pass", "__torch_function__"),
        ("class attend:\n    match print:\n        case __torch_function__: pass", "__torch_function__"),
        ("def attend(q): return q.shell.get_ipython().ev('q')", "get_ipython"),
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
        ("import numpy\ndef attend(q): return numpy.frombuffer(q)", "numpy.frombuffer"),
        ("import numpy as np\ndef attend(q): return np.exp(q) / np.sqrt(2)", "numpy.exp"),
        ("import numpy as np\ndef attend(q): return helper(np)", "numpy"),
        ("import numpy as np\ndef attend(q, m=np): return m.exp(q)", "numpy"),
        ("import numpy as np\ndef attend(q): return np.linalg.norm(q)", "numpy.linalg"),
        ("import numpy as np\ndef attend(q): return np.log.__globals__", "__globals__"),
        ("def attend(q):\n    for n, k in enumerate(('exp', '__globals__')): q = getattr(q, k)", "__globals__"),
        ("class Tools:\n    import sys as s\ndef attend(q): return Tools.s.modules", "import in a class"),
        (
            "class Tools:\n    if 1:\n        from torch import nn as n\ndef attend(q): return Tools.n",
            "import in a class",
        ),
        ("import torch\nclass Tools:\n    if 1:\n        s = torch\ndef attend(q): return Tools.s", "torch"),
        ("def attend(q):\n    try: q.nothing\n    except AttributeError as e: return e.obj", "obj"),
        ("import logging\ndef attend(q): return getattr(logging, 'sys').modules", "logging.sys"),
        ("def attend(q):\n    word = '__glo' + 'bals__'\n    return helper(q, word)", "texts put together"),
        ("import unittest\ndef attend(q): return unittest.main(module='sys', exit=False).module", "unittest"),
        ("import sys\ndef attend(q):\n    if q:\n        a = sys\n    b = a\n    return b.modules", "sys"),
        (
            "class T:\n    def help(m): return m\n    def go(m=help(torch)): return m\ndef attend(q): return T.go()",
            "help",
        ),
        ("class T:\n    global help\n    def help(m): return m\ndef attend(q): return help(torch)", "help"),
        ("import math\ndef attend(q): return getattr(q, 'nothing', math).os", "math"),
        ("class T:\n    global __s\n    import math as __s\ndef attend(q): return _T__s.tau", "_T__s"),
        ("import matplotlib\ndef attend(q): return matplotlib.colors.re.enum.bltns", "bltns"),
        ("import torch\ndef attend(q):\n    a = b = torch\n    return b.sys", "torch"),
        ("import math, random\ndef attend(q):\n    s = random\n    if q: s = math\n    return s.os", "a name of two"),
        ("from torch.nn.functional import *\ndef attend(q): return importlib.util", "torch.nn.functional.importlib"),
        ("from torch.nn.functional import *\ndef attend(q): return nowhere(q)", "nowhere"),
        ("from torch import *\ndef attend(q): return initial_seed()", "torch.initial_seed"),
        ("from torch import *\ndef attend(q): return sys.modules", "sys"),
        ("def zip(*q): return [('__dict__',)]\ndef attend(q):\n    for (n,) in zip(['a']): q = getattr(q, n)", "zip"),
        ("def attend(q): return torch.jit.script(q)", "torch.jit.script"),
        ("import typing as _T__t\nclass T:\n    def f(self): return __t.get_type_hints(q)\nattend = T", "__t"),
        (
            "for typing in [1]:\n    def f(): typing.get_type_hints(f)\nimport typing\ndef attend(q): return f()",
            "typing.get_type_hints",
        ),
        ("class S: pass\nseen = S()\ndef attend(q): return 'a' in globals() in seen", "globals"),
        ("class S: pass\nseen = S()\ndef attend(q): return type(q) == seen", "type"),
        ("names = [name for name in ('shape',)]\ndef attend(q): return getattr(q, name)", "getattr"),
        ("def attend(q):\n    a = [n for n in ('shape',)]\n    return getattr(q, n)", "getattr"),
        ("import enum\ndef attend(q): return enum.pickle_by_enum_name(q, 2)", "enum.pickle_by_enum_name"),
        ("import random\ndef attend(q): return random.mix(q)", "random.mix"),
        ("from collections.abc import Iterator\ndef attend(q): return Iterator.register(float)", "register"),
        ("def attend(q): return q.grad_fn(q)", "grad_fn"),
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
        "class attend:\n    _b = 1\n    def __call__(self, q): return getattr(self, f'head_{1}')(q) + self._b",
        "def attend(q): return getattr(q, 'mT', None)",
        "class attend:\n    def append(self, q):\n        self._values = q\n        return self._values",
        "def attend(q, model): return model.eval()(q)",
        "import re\ndef attend(q): return re.compile('a')",
        "@torch.compile\ndef attend(q): return q",
        "def attend(q, kind='a'):\n    for n, i in (('k', 0), ('v', 1)): q = getattr(q, n)\n    return q",
        "def attend(q):\n    for i, n in enumerate(['k', 'v']): q = getattr(q, n)\n    return q",
        "def attend(q):\n    for n, i in zip(['k', 'v'], q): q = getattr(q, n)\n    return q",
        "def attend(q):\n    functional = torch.nn.functional\n    return functional.relu(q) if type(q) is int else q",
        "try:\n    from typing import Self\nexcept ImportError as why:\n    print(why)\ndef attend(q): return q",
        "import numpy as np\ndef attend(q): return q / np.sqrt(np.prod(q.shape)) * np.log(2) + np.inf",
        "from numpy import sqrt\ndef attend(q): return q / sqrt(q.shape[-1])",
        "from math import *\ndef attend(q): return q * sqrt(2)",
        "import operator, functools\ndef attend(q): return functools.reduce(operator.mul, q)",
        "from torch.nn.utils import parametrize\ndef attend(q): return torch.func.vmap(torch.linalg.norm)(q)",
        "def attend(q): return F.relu(q) if torch.cuda.is_available() else nn.Linear(2, 2).eval()(q)",
        "import typing as t\nclass attend(t.NamedTuple):\n    q: int\n    def __len__(self): return 1",
        "def attend(q):\n    torch.manual_seed(0)\n    with torch.no_grad(): return q.ops",
        "def attend(q):\n    match q:\n        case int(a) | torch.Size(): return a",
        "from torch.nn.functional import *\ndef attend(q): return relu(q)",
        "from torch import *\ndef attend(q): return exp(q) + ones(3, dtype=float32)",
        "def attend(x):\n    if str(x.dtype) == 'torch.float16': return x.float()\n    return x",
        "def attend(x, t):\n    message = 't is ' + str(t)\n    if t <= 0: raise ValueError(message)\n    return x",
        "def attend(x):\n    print('x', x.shape, sep='_')\n    return x",
        "import time\nfrom time import time\ndef attend(q):\n    print(time())\n    return q",
        "class attend:\n    def __init__(self, q): self.obj = q\n    def main(self, n): return self.obj.main(n)",
        "from torch.nn import functional as F\nimport torch.nn.functional as F\ndef attend(q): return F.relu(q)",
        "import torch\ndef attend(q):\n    kind = torch.float32\n    kind = torch.float64\n    return q.to(kind)",
        "import torch\ndef attend(q): return q if hasattr(torch, 'mps') else getattr(torch.backends, 'mps').is_built()",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass attend:\n    q: int",
        "import dataclasses as d\n@d.dataclass\nclass attend:\n    q: int",
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
        "__author__ = 'A'\nfrom google.colab import drive\nimport os\nos.chdir('a')\n'attend' in globals()",
        "attend.calls = 0\ntorch.manual_seed(0)\ntorch.set_printoptions(precision=3)",
    ],
)
def test_what_another_cell_does_is_no_question(cell: str) -> None:
    assert asked(RIGHT, cell) == ""


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
        "import ipywidgets\nipywidgets.widgets.interaction.get_ipython().run_cell('x = 1')",
        "import copy\ncopy.dispatch_table.update({A: print})",
        "from ipywidgets.widgets.interaction import get_ipython as find",
        "import IPython.display as d\nd.display_functions.InteractiveShell.instance()",
        "import matplotlib.pyplot as plt\nplt.importlib = print",
        "import matplotlib.pyplot as plt\nplt.sys.settrace(print)",
        "import matplotlib.pyplot as plt\nprint([plt.functools.sys][0].modules)",
        "torch.library.Library('aten', 'IMPL').impl('exp', print)",
        "import __main__\nsetattr(__main__, 'attend', print)",
        "setattr(nn.Linear, 'forward', print)",
        "globals()['attend'] = print",
        "x = Own() == globals()",
        "x = 1 in torch.ones(1) == globals()",
        "import threading",
        "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(print)",
        "from modern import *",
        "from typing import *\nget_type_hints(attend)",
        "%run other.py",
        "%%writefile pandas.py\nx = 1",
        "%load_ext other",
        "import numpy as np\nnp.testing.runstring('x = 1', {})",
        "import numpy.f2py.crackfortran as c\nc.myeval('print(1)', {}, {})",
        "import numpy as np\nnp.lib.introspect.opt_func_info('a')",
        "from matplotlib.sphinxext import plot_directive",
        "import numpy as np\nnp.load('a.npy', allow_pickle=True)",
        "import inspect\ninspect.signature(attend, eval_str=True)",
    ],
)
def test_what_may_change_the_record_or_a_name_is_shown_where_an_exercise_leads_to_it(cell: str) -> None:
    assert "its code uses" in asked_inside(cell)
    assert asked(RIGHT, cell) == ""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (
            "from torch._utils import try_import\ndef attend(q): return try_import('threading').Thread(q)",
            "torch._utils",
        ),
        ("from torch._jit_internal import ForwardRef\ndef attend(q): return ForwardRef(q)", "torch._jit_internal"),
        ("import torch.autograd.profiler_util as p\ndef attend(q): return p.attrgetter('a')(q)", "torch.autograd.prof"),
        ("import enum\ndef attend(q): return enum.global_enum(q)", "enum.global_enum"),
        ("import functools as f\ndef attend(q): return f.update_wrapper(q, q, ('__globals__',))", "functools.update"),
        ("import functools\ndef attend(q): return functools.wraps(q, ('__globals__',))(q)", "functools.wraps"),
        ("import functools\ndef attend(q): return functools.wraps(q, assigned=('a',))(q)", "functools.wraps"),
        ("import contextlib\ndef attend(q): return contextlib.wraps(q, assigned=('a',))(q)", "contextlib.wraps"),
        ("import dataclasses\ndef attend(q): return dataclasses.make_dataclass('A', ['__globals__'])", "dataclasses.m"),
        ("def attend(q):\n    torch.distributions.Distribution.__init__(q, validate_args=True)", "__init__"),
        ("class P(nn.ParameterDict): pass\ndef attend(q): return P.__getitem__(q, '__globals__')", "__getitem__"),
        ("class P(nn.ParameterDict):\n    def __init__(self): P.__getitem__(self, 'a')\nattend = P", "__getitem__"),
        ("class P:\n    def look(self): nn.Linear.__init__(self)\ndef attend(q): return P.look(q)", "__init__"),
        ("class P:\n    def __init__(self): nn.Linear.__init__(self)\n    look = __init__\nattend = P", "__init__"),
        ("def attend(q): return getattr(nn.ParameterDict, '__getitem__')(q, 'a')", "__getitem__"),
        ("def attend(q): return type(*('X', (torch.Tensor,), {}))(q)", "type"),
        ("def attend(q): return q().sys.modules", "sys"),
        (
            "def print(k): return k('X', (torch.Tensor,), {'__torch_' + q: q})\ndef attend(q): return print(type(int))",
            "p",
        ),
        ("class attend:\n    def getattr(m, name): return m.jit\n    found = getattr(torch, 'exp')", "getattr"),
        ("def attend(q):\n    str = lambda k: k('X', (), {})\n    return str(type(int))", "str"),
        ("def getattr(m, name): return m.jit.script\ndef attend(q): return getattr(torch, 'exp')(q)", "getattr"),
        ("def attend(q): return q.made().torch.jit.script", "torch"),
        ("def attend(q): return torch.cuda.CUDAPluggableAllocator('a.so', 'a', 'b')", "torch.cuda.CUDAPl"),
        ("def attend(q):\n    match q:\n        case nn.Linear(a): return a", "case"),
        (
            "class P:\n    def look(self, q): return self._make_subclass(P, q)\n"
            "def attend(q): return P.look(torch.Tensor, q)",
            "_make_subclass",
        ),
        ("import dataclasses\ndef attend(q): return dataclasses.dataclass(q)", "dataclasses.dataclass"),
        (
            "import contextlib\nclass R(contextlib.redirect_stdout):\n    _stream = 'a'\nattend = R(1)",
            "contextlib.redirect_stdout",
        ),
        ("import contextlib\nr = contextlib.redirect_stdout(1)\ndef attend(q): return r", "contextlib.redirect_stdout"),
        ("from contextlib import redirect_stdout as r\ndef attend(q):\n    with r(q): print('_')\nr(1)", "contextlib."),
        ("import contextlib\nclass R(type(contextlib.suppress())): pass\nattend = R(1)", "type"),
        ("kind = type(int)\ndef attend(q): return kind('X', (torch.Tensor,), {'__torch_' + q: q})", "type"),
        ("def attend(q): return q.__class__.__class__('X', (q.__class__,), {})", "__class__"),
        ("import abc\ndef attend(q): return abc.ABCMeta('X', (torch.Tensor,), {'__torch_' + q: q})", "abc.ABCMeta"),
        ("import abc\nclass Meta(abc.ABCMeta): pass\nclass attend(metaclass=Meta): pass", "abc.ABCMeta"),
        ("import enum\ndef attend(q): return enum.EnumType('X', (), q)", "enum.EnumType"),
        ("def attend(q): return torch.autograd.function.FunctionMeta('X', (), q)", "torch.autograd.function.FunctionM"),
        ("import contextlib\ndef attend(q): return contextlib.MethodType(q, torch.Tensor)", "contextlib.MethodType"),
        ("def attend(q): return torch.autograd.graph.TorchDispatchMode()", "torch.autograd.graph.TorchDispatchMode"),
        ("def attend(q): return F.handle_torch_function(q, (q,))", "torch.nn.functional.handle_torch_function"),
        ("def attend(q): return nn.TransformerEncoderLayer(8, 2)(q)", "torch.nn.TransformerEncoderLayer"),
        ("def attend(q): return torch.optim.lr_scheduler.ref(q, print)", "torch.optim.lr_scheduler.ref"),
        (
            "from typing import get_args\nclass P:\n    def look(self): return self._evaluate({}, {}, frozenset())\n"
            "def attend(q): return P.look(get_args(q)[0])",
            "_evaluate",
        ),
    ],
)
def test_what_a_call_may_give_that_finds_things_by_their_names_is_shown(code: str, word: str) -> None:
    assert f"its code uses `{word}" in asked(code)


@pytest.mark.parametrize(
    "code",
    [
        "import functools\n@functools.wraps(abs)\ndef attend(q): return q",
        "class attend(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)",
        "class attend(dict):\n    def __getitem__(self, q): return super().__getitem__(q)",
        "def attend(q): return q.mT if hasattr(q, '__len__') else q",
        "def attend(q):\n    assert type(q) is torch.Tensor, f'{type(q)}'\n    print(type(q), q.__class__.__name__)",
        "class attend(nn.Module):\n    def forward(self, q): return super(self.__class__, self).forward(q)",
        "def attend(q):\n    if type(q).__name__ == 'Tensor' or isinstance(q, torch.linalg.LinAlgError): return q",
        "import collections\ndef attend(q): return collections.namedtuple('Pair', 'a b')(q, q)._replace(a=1)",
    ],
)
def test_ones_own_special_methods_are_nobodys_business(code: str) -> None:
    assert asked(code) == ""


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (
            f"{PEEKING}def attend(q): return A.look(q)",
            "A.look",
        ),
        (
            f"{PEEKING}attend = partial(A.look)",
            "A.look",
        ),
        (
            f"{PEEKING}    seen = look(q)\ndef attend(): return A",
            "look",
        ),
        (
            "class attend:\n    _is_view = None\n    @staticmethod\n    def look(self): return self._is_view()",
            "self._is_view",
        ),
        ("class A:\n    def _is_view(q): pass\nA = torch.Tensor\ndef attend(q): return A._is_view(q)", "_is_view"),
        ("class A:\n    def _f(q): pass\nfor A in [nn]: pass\ndef attend(q): return A._f(q)", "_f"),
        ("class attend:\n    _is_view = None\n    @grab\n    def look(self): return self._is_view()", "self._is_view"),
        ("class attend:\n    def look(self, q): return super(nn.Module, q)._is_view()", "_is_view"),
        (f"{PEEKING}K = A\ndef attend(q): return K.look(q)", "K.look"),
        (f"{PEEKING}def attend(q): return [A][0].look(q)", "look"),
        (f"{PEEKING}def use(k, q): return k.look(q)\ndef attend(q): return use(A, q)", "k.look"),
        (f"{PEEKING}def attend(q):\n    for k in (A,): return k.look(q)", "k.look"),
        ("def attend(self): return self._is_view()", "self._is_view"),
        (
            "import enum\nclass Kind(enum.Enum):\n    @classmethod\n    def more(cls, q): return cls._convert_(q)\n"
            "def attend(q): return Kind.more(q)",
            "_convert_",
        ),
        (
            "def cache(f): return f\nclass attend:\n    _b = 1\n    @cache\n    def look(self): return self._b",
            "self._b",
        ),
        (
            "class attend:\n    _b = 1\n    def look(self, q):\n        self = q\n        return self._b",
            "self._b",
        ),
    ],
)
def test_a_method_with_another_self_is_a_question(code: str, word: str) -> None:
    assert f"its code uses `{word}`" in asked(code)


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    @staticmethod\n    def half(q): return q / 2\ndef attend(q): return A.half(q)",
        "class A:\n    _x = 1\n    def f(self): return self._x\nclass attend(A):\n    def f(self): return A.f(self)",
        "class attend:\n    def __init__(self):\n        self._x = 1\n        self._f = lambda: self._x",
        "class attend:\n    _kinds = ()\n    @classmethod\n    def make(cls): return cls._kinds",
        "class A:\n    @staticmethod\n    def _half(q): return q / 2\ndef attend(q): return A._half(q)",
        f"{PEEKING}def attend(q: A): return isinstance(q, (A, int)) and A().look()",
        "class A:\n    def half(self): return self.q / 2\nK = A\ndef attend(q): return K.half(q)",
        "class attend(nn.Module):\n    _x = 1\n    @torch.no_grad()\n    def look(self): return super(attend, self)._x",
        "def attend(self): return self.mT",
    ],
)
def test_a_method_with_its_own_self_is_no_question(code: str) -> None:
    assert asked(code) == ""


FINDING = frozenset(
    {"fields", "interpolate", "max_pool3d_with_indices", "namedtuple", "no_type_check", "orthogonal", "pad"}
)
FINDING |= {"register_parametrization", "remove_parametrizations", "replace", "spectral_norm", "total_ordering"}
FINDING |= {"transfer_parametrizations_and_params"}


def names_found_by_text(function: object) -> bool:
    """Say whether a function of Python's gets, sets or runs what a text names that it did not write itself."""
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        for call in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))):
            name = called(call)
            if name in ("import_module", "__import__", "eval", "exec"):
                return True
            if name in ("getattr", "setattr") and not isinstance(call.args[1], ast.Constant):
                return True
    return False


def test_no_ordinary_function_finds_something_by_a_text_but_known_ones() -> None:
    """Those that are known check what they find, or take the texts from a class that is written out."""
    paths = Paths(MODULES)
    modules = [name for name in sys.modules if paths.follow((name,))[1] and name.split(".")[0] in MODULES]
    found = set()
    for module in modules:
        for name, value in vars(sys.modules[module]).items():
            ordinary = inspect.isfunction(value) and paths.follow((module, name)) == ("", True)
            if ordinary and names_found_by_text(value):
                found.add(name)
    assert found <= FINDING, sorted(found - FINDING)


HONEST = (Path(__file__).parent / "honest_cells.txt").read_text(encoding="utf-8").split("# %%\n")[1:]


@pytest.mark.parametrize("cell", HONEST)
def test_nobody_is_asked_about_the_cells_that_students_add(cell: str) -> None:
    assert asked(RIGHT, cell) == ""


@pytest.mark.parametrize(
    "cell",
    [
        "vars(*[])['attend'] = print",
        "torch.load('a.pt', weights_only=False)",
        "torch.load('a.pt', weights_only=x)",
        "torch.load(*['a.pt', None, None])",
        "import timeit\ntimeit.timeit('x = 1')",
        "import timeit\ntimeit.timeit(lambda: 1, setup='x = 1')",
        "import inspect\ninspect.signature(attend, locals={})",
        "import logging.config",
        "from importlib.metadata import EntryPoint",
        "torch.save.__defaults__[0]",
        "attend.__module__ = 'torch'",
        "attend.__code__ = print.__code__",
        "%store -r",
        "from torch.utils.benchmark import Timer\nTimer('x = 1').timeit()",
        "from unittest import mock",
        "from tqdm.contrib.concurrent import thread_map",
        "%load_ext other",
    ],
)
def test_what_looks_like_honest_code_and_is_none_is_shown(cell: str) -> None:
    assert "its code uses" in asked_inside(cell)


@pytest.mark.parametrize(
    "code",
    [
        "words = ['__glo' + 'bals__']\ndef attend(q): return words",
        "def attend(q): return ''.join(q)",
        "def attend(q): return '_{}'.format(q) * 2",
        "def attend(q): return f'{q}a'",
        "def attend(q): return f'f_{q}'",
        "def attend(q): return bytes(q).decode()",
        "def attend(q): return [chr(n) for n in q]",
        "def attend(q): return map(str, q)",
        "def attend(q): return q(attend.__name__)",
        "def attend(q):\n    try: raise ValueError('a' + q)\n    except ValueError as e: return e.args",
        "def attend(q): return q(_=1)",
        "def attend(q):\n    q += '_'\n    return q",
        "def attend(q): return 'a_b'[1]",
        "def attend(q): return [c for c in 'a_b']",
        "def attend(q): return add('__glo', 'bals__')\ndef add(a, b): return a + b",
        "def attend(q): print('_', q, file=Own())",
        "def attend(q): return open('a').read()",
        "def attend(q): return q.replace('x', q)",
        "def attend(q): return ['abc'.upper(), dir(q)]",
    ],
)
def test_a_text_that_an_exercise_puts_together_is_shown_to_a_person(code: str) -> None:
    assert asked(code) == "its code uses `texts put together`"
    assert asked(RIGHT, code.replace("attend", "other")) == ""
    assert asked(code, allowed=("texts put together", "Own")) == ""


@pytest.mark.parametrize(
    "text", ["'__globals__'", "'{0.f_back}'", "('a', 'gi_frame')", "'__glo' 'bals__'", "'module://sys'", "'gc'"]
)
def test_a_private_name_in_a_text_is_shown(text: str) -> None:
    assert "its code uses" in asked(f"words = {text}\ndef attend(q): return words")


@pytest.mark.parametrize(
    "code",
    [
        "def attend(q):\n    if q: raise ValueError('a ' + str(q) + f'{q}')\n    assert q, f'{q} __x'",
        "import sys\ndef attend(q):\n    print(f'{q}', '_' * 9, str(q), file=sys.stderr)\n    return q",
        "def attend(q):\n    'Give _x_ back.'\n    return q.double() if attend.__name__ == 'attend' else q",
        "class attend:\n    def __init__(self, args): self.args = args\n    def look(self): return self.args.rate",
        "def attend(q): return torch.einsum('bqd,bkd->bqk', q, q), getattr(q, f'head{1}'), {'d_model': 1}",
        "for name, part in zip('qkv', (1, 2, 3)): print(name)\ndef attend(q): return q.split(1), hasattr(q, '__len__')",
    ],
)
def test_texts_that_are_only_shown_or_written_out_are_nobodys_business(code: str) -> None:
    assert asked(code) == ""


def test_a_cell_that_nobody_can_read_is_shown_where_it_names_the_exercise() -> None:
    assert asked(RIGHT, "attend = (") == "a cell with its name cannot be read"
    assert asked(RIGHT, "other = (") == ""


def test_what_an_author_allows_is_no_question() -> None:
    code = "def attend(q): return eval('q.exp()')"
    assert asked(code, allowed=("eval",)) == ""


def test_of_a_chain_without_end_only_the_beginning_is_read() -> None:
    assert "torch._C" in asked(f"def attend(q): return torch._C{'.a' * 2000}")
    assert "torch.x" in asked(f"def attend(q):\n    torch.x{'[0]' * 1500} = 1")


def test_what_the_lesson_imports_may_be_used_and_nothing_below_it() -> None:
    def question(code: str) -> str:
        return CodeReader(["import numpy as np\nfrom autograder import check", code], [code]).question("attend")

    assert question("import numpy\ndef attend(q): return numpy.exp(np.random.rand(3)) + np.linalg.norm(q)") == ""
    assert "numpy.testing" in question("def attend(q): return np.testing.runstring(q, {})")
    assert "autograder.judging" in question("from autograder.judging import check\ndef attend(q): return check(q)")
    assert "ctypes" in question("def attend(q): return np.ctypeslib.ctypes")


@pytest.mark.parametrize(
    ("word", "asked_about"),
    [
        ("measure.tensors", False),
        ("measure.everything", True),
        ("measure.nn.Linear", False),
        ("measure.functional.relu", False),
        ("given.tensors", False),
        ("measure.TorchDispatchMode", True),
        ("measure.time.sys", True),
        ("measure.functional.handle_torch_function", True),
        ("measure.nn.parallel.parallel_apply", True),
        ("measure.jit.script", True),
        ("given.hidden.TorchDispatchMode", True),
    ],
)
def test_what_a_lessons_module_imports_is_what_it_is_elsewhere(word: str, asked_about: bool) -> None:
    modules = [("measure.py", MEASURE), ("given.py", "import measure as hidden\nfrom measure import tensors")]
    module, name, *more = word.split(".")
    taken = f"from {module} import {name}\ndef attend(q): return {'.'.join([name, *more])}"
    for code in (f"def attend(q): return {word}", taken):
        question = CodeReader(["import measure, given", code], [code], modules).question("attend")
        assert question == (f"its code uses `{word}`" if asked_about else "")


def test_what_is_imported_in_the_same_line_is_not_used_by_it() -> None:
    assert asked("import torch, numpy as np\nnp.random.seed(0)", "def attend(q): return torch.exp(q)") == ""
    assert "numpy" in asked("import torch, numpy as np", "def attend(q): return np.exp(q)")


def test_what_the_solution_uses_is_nobodys_business() -> None:
    code = "import runpy\ndef attend(q): return runpy.run_path(q)"
    words = CodeReader([code], [code]).words("attend")
    assert words == {"runpy"}
    assert asked(code, allowed=tuple(words)) == ""


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.autograd.grad.__name__ = 'sum'",
        "import torch\ntorch.Tensor.whole = lambda x: x",
        "from torch.nn import functional as F\nF.relu = F.gelu",
        "import torch\ndel torch.exp",
        "import logging.handlers",
        "import logging\nlogging.captureWarnings(True)",
        "import logging\nlogging.Logger.manager.setLogRecordFactory(print)",
        "import torch\ntorch.backends.cuda.is_built = print",
    ],
)
def test_what_changes_what_others_mean_is_a_question(code: str) -> None:
    assert "its code uses" in asked_inside(code)


def test_settings_that_one_may_set_are_no_question() -> None:
    assert asked_inside("torch.backends.cudnn.benchmark = True\ntorch.backends.cuda.matmul.allow_tf32 = False") == ""


def test_names_that_stand_for_one_another_make_no_path_without_an_end() -> None:
    lines = "\n".join(f"a{n + 1} = a{n}" + ".b" * 18 for n in range(60))
    start = time.process_time()
    assert "very many names" in asked_inside(f"from random import Random as a0\n{lines}")
    assert time.process_time() - start < 10


def test_the_head_of_a_loop_is_read_in_a_time_that_grows_with_its_length() -> None:
    names, rows = ",".join(f"a{n}" for n in range(900)), ",".join("0" * 900)
    loop = ast.parse(f"for {names} in [{rows}]: pass").body[0]
    assert sum(len(values) for _, values in columns_of(loop)) == 900


def test_each_step_of_many_long_paths_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, real = [], ordinary.origin_of
    monkeypatch.setattr(ordinary, "origin_of", lambda module, name: (looked.append(name), real(module, name))[1])
    lines = "".join(f"\n    a.nn.Linear{'.b' * 15}{n % 3}" for n in range(900))
    assert asked(f"import torch as a\ndef attend(q):{lines}") == ""
    assert len(looked) < 100


def test_a_map_of_nothing_is_read_like_any_call() -> None:
    assert asked("def attend(q): return map()") == ""


def test_a_class_in_a_class_is_not_searched_for_each_of_its_statements() -> None:
    class Unsearched(list[ast.stmt]):
        def __contains__(self, _: object) -> bool:
            raise AssertionError("searched")

    outer = ast.parse("class Outer:\n    @made\n    class Inner(base()):\n        inner()").body[0]
    assert isinstance(outer, ast.ClassDef)
    inner = outer.body[0]
    assert isinstance(inner, ast.ClassDef)
    inner.body = Unsearched(inner.body)
    assert [*filter(None, called_in_body(outer))] == ["base"]


def test_a_star_that_comes_again_is_not_read_again() -> None:
    """Four words bring 1,700 names: forty such lines took the judge seven seconds."""
    parts = ast.walk(ast.parse("from torch import *\nfrom math import *\nx = 1\n" * 40))
    assert Counter(type(part).__name__ for part in binding_in(parts)) == {"ImportFrom": 2, "Assign": 40}
