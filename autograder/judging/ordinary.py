"""What an exercise's code may use without anybody being asked: modules, and the names in them.

A function can be reached in more ways than anybody lists, and some of them lead past the record of what ran. So what is
ordinary is listed, and from it what finds or runs something by a text is taken away.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from collections.abc import Collection
from functools import cache

import torch

from .vocabulary import READY_MADE, around, is_in, is_usual_part


def listed(names: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(names.split())


MODULES = listed("""
__future__ abc bisect cmath collections contextlib copy dataclasses datetime decimal enum
fractions functools heapq IPython.display.display itertools json
logging.DEBUG logging.ERROR logging.INFO logging.WARNING logging.debug logging.error
logging.getLogger logging.info logging.warning math numbers numpy.e
numpy.float32 numpy.float64 numpy.inf numpy.int64 numpy.log numpy.nan numpy.newaxis numpy.pi numpy.prod numpy.sqrt
operator pprint random re statistics string.ascii_letters string.ascii_lowercase string.ascii_uppercase
sys.float_info sys.maxsize sys.stderr sys.stdout sys.version sys.version_info
time torch torch.* torch.amp torch.backends torch.backends.cuda torch.backends.cudnn.allow_tf32
torch.backends.cudnn.benchmark torch.backends.cudnn.deterministic torch.backends.cudnn.enabled
torch.backends.cudnn.is_available torch.backends.cudnn.version torch.backends.mps torch.cuda torch.mps torch.nn
torch.nn.utils.clip_grad_norm_ torch.nn.utils.clip_grad_value_ torch.nn.utils.parameters_to_vector
torch.nn.utils.parametrize torch.nn.utils.rnn torch.nn.utils.vector_to_parameters torch.profiler.record_function
torch.testing torch.version traceback.format_exc traceback.print_exc typing typing.* warnings
""")
OF_TORCH = (
    listed("""
BoolTensor DoubleTensor FloatTensor Generator IntTensor LongTensor Size Tensor
as_tensor asarray atleast_1d atleast_2d atleast_3d autocast block_diag broadcast_shapes cdist
cartesian_prod compile device dtype einsum enable_grad finfo from_numpy get_default_device
get_default_dtype get_num_threads iinfo inference_mode is_complex is_floating_point
is_grad_enabled is_tensor layout load manual_seed meshgrid no_grad norm save seed set_default_device set_default_dtype
set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_threads set_printoptions set_rng_state split
stft tensor tensordot typename unique unique_consecutive unravel_index use_deterministic_algorithms vmap
""")
)  # beside its operators, types and numbers: PyTorch has classes that switch the record off, or run things in threads
RUN_TEXTS = listed("""
__future__.barry_as_FLUFL collections.UserString
contextlib.redirect_stderr contextlib.redirect_stdout copy.dispatch_table
dataclasses.make_dataclass enum.global_enum enum.pickle_by_enum_name enum.pickle_by_global_name
enum.property functools.singledispatch functools.singledispatchmethod functools.update_wrapper
inspect.signature matplotlib.backends matplotlib.sphinxext matplotlib.testing numpy.info numpy.load
numpy.test operator.attrgetter operator.call operator.methodcaller pandas.eval pandas.read_pickle PIL.ImageMath
sklearn.utils string.Formatter timeit.repeat timeit.timeit torch.autograd.graph torch.autograd.profiler_util
torch.cuda.CUDAPluggableAllocator torch.frombuffer torch.load torch.random typing.evaluate_forward_ref typing.get_origin
typing.get_type_hints unittest.mock
""")  # what finds or runs something that a text names, knows how inputs were drawn, keeps hooks, or changes bytes
LEADING = listed("""
asyncio autograder builtins concurrent ctypes gc importlib inspect joblib multiprocessing os pickle subprocess sys
threading torch
""")  # modules that an object from anywhere leads to, if it is a module itself
SETTABLE = listed("""
matplotlib.pyplot.rcParams matplotlib.rcParams torch.backends.cuda.matmul.allow_tf32
torch.backends.cudnn.allow_tf32 torch.backends.cudnn.benchmark torch.backends.cudnn.deterministic
""")  # what one may set, in modules
SHELLS = listed("InteractiveShell get_ipython")  # IPython's, which run texts, wherever they are found
ASKED_ABOUT = listed("__import__ breakpoint compile eval exec get_ipython get_type_hints globals locals vars")
DESCRIBING = listed("""
__all__ __author__ __doc__ __file__ __name__ __qualname__ __slots__ __version__ _asdict _fields _make _replace _version
""")
READ = listed("""
__cause__ __context__ __module__ __traceback__ co_argcount co_filename co_name co_varnames f_lineno tb_lineno
""")  # tells about an object, and changes something where it is set
OPERATORS = {f"__{name.strip('_')}__" for name in operator.__all__} | {
    name for name in dir(int) if name.startswith("__") and name not in {*dir(object), "__getnewargs__"}
}
CALLED = OPERATORS | listed("""
__init__ __call__ __len__ __iter__ __next__ __enter__ __exit__ __repr__ __str__ __hash__ __post_init__ __bytes__
__format__ __missing__ __reversed__
""")  # to be defined; a library's own, called with any object as `self`, finds what a text names
KEPT_FOR_LATER = listed("""
grad_fn metadata next_functions register register_hook register_module_backward_hook
register_module_forward_hook register_module_forward_pre_hook register_module_full_backward_hook
register_module_full_backward_pre_hook register_module_module_registration_hook register_multi_grad_hook
register_post_accumulate_grad_hook register_prehook save_on_cpu saved_tensors_hooks
""")  # the graph or a library calls it when nobody watches, or counts as something from then on
EXACT = ("torch", "autograder", "numpy")  # of these, each module has to be allowed by itself
OF_NUMPY = listed("numpy.fft numpy.linalg numpy.polynomial numpy.random numpy.typing")  # allowed where NumPy is


def is_dunder(name: str) -> bool:
    """Say whether a name is one of the language's: two underscores at either end."""
    return name.startswith("__") and name.endswith("__")


class Ordinary:
    """Says which modules are ordinary where some more may be used, and which names in them.

    Args:
        modules: those that may be used, and names in them.
        lesson: the lesson's own modules, of which all may be used.
    """

    def __init__(self, modules: Collection[str], lesson: Collection[str] = ()) -> None:
        self._modules, self._lesson = frozenset(modules), frozenset(lesson)
        self._unfit = RUN_TEXTS - self._modules
        self._packages = {package for module in self._modules for package in around(module)}
        self.module, self.name = cache(self._is_module), cache(self._is_name)

    def package(self, package: str) -> bool:
        """Say whether of a package something may be used."""
        return package in self._packages or package in self._lesson

    def _is_module(self, module: str) -> bool:
        package, *parts = module.split(".")
        if is_in(module, self._unfit) or any(part.startswith("_") or part in LEADING for part in parts):
            return False
        if package in EXACT:
            parent = module.rpartition(".")[0]
            of_numpy = "numpy" in self._modules and not OF_NUMPY.isdisjoint((module, parent))
            return module in self._modules or is_usual_part(module) or of_numpy or self._has_few(module)
        return module in self._lesson or is_in(module, self._modules) or module in self._packages

    def _is_name(self, module: str, name: str) -> bool:
        whole = f"{module}.{name}"
        if name in DESCRIBING or module in self._lesson:
            return True
        if not self._unfit.isdisjoint((whole, origin_of(module, name))) or name.startswith("_") or name in SHELLS:
            return False
        if self._has_few(module):
            return whole in self._modules | self._packages
        ordinary = is_ordinary_in_torch(name) if module == "torch" else is_at_home(module, name, self._modules)
        return whole in self._modules or ordinary

    def _has_few(self, module: str) -> bool:
        """Say whether of a module only what is listed may be used, such as the numbers in NumPy."""
        whole = module in self._modules if module.split(".")[0] in EXACT else is_in(module, self._modules)
        return module in self._packages and not whole and not is_usual_part(module)


def is_plain_builtin(name: str) -> bool:
    """Say whether a built-in may be used as it is."""
    return not name.startswith("_") and name not in ASKED_ABOUT and name not in ("type", "copyright", "credits")


def is_ordinary_in_torch(name: str) -> bool:
    """Say whether `torch.<name>` is an operator, a type, a number or a helper; a module is asked about itself."""
    value = vars(torch).get(name)
    plain = (torch.dtype, torch.layout, torch.memory_format, float, int, str, types.ModuleType, types.NoneType)
    return name in OF_TORCH or isinstance(value, plain) or hasattr(torch._C._VariableFunctions, name)


def is_at_home(module: str, name: str, modules: Collection[str]) -> bool:
    """Say whether a known module's function or class is its own, or from a module that may be used as well.

    A module's names are not only its own. Classes of classes are nobody's: they make a class of what texts name.
    """
    value = getattr(sys.modules.get(module), name, None)
    if not isinstance(value, type | types.FunctionType):
        return True
    if isinstance(value, type) and issubclass(value, Exception):
        return True
    home = value.__module__.removeprefix("_")
    if (isinstance(value, type) and issubclass(value, type)) or is_in(home, READY_MADE):
        return False
    if home == "builtins":
        return vars(builtins).get(value.__name__) is value
    if home.split(".")[0] == "torch":
        return is_in(home, [module]) or is_usual_part(home)
    return home.split(".")[0] not in sys.stdlib_module_names or is_in(home, [module]) or is_in(home, modules)


def origin_of(module: str, name: str) -> str:
    """Return where a module has a function or class from, '' where nobody can say."""
    value = vars(sys.modules.get(module, sys)).get(name)
    return f"{value.__module__}.{value.__name__}" if isinstance(value, type | types.FunctionType) else ""
