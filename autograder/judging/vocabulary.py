"""What honest answers run: PyTorch's elementary operators, and the modules that functions are called from.

A list of what is forbidden never ends, because PyTorch can write a softmax or an attention in a dozen ways. This is the
list of what is usual, and what lies outside of it is a question for a person, not a verdict. To it belongs, for each
exercise, what its solution runs and what its author allows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase

from .operators import CALLER, FOR_NUMPY, LATER

ARITHMETIC = """
abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh ceil clamp clamp_max clamp_min conj_physical
_conj_physical copysign cos cosh deg2rad digamma div erf erfc erfinv exp exp2 expm1 float_power floor floor_divide
fmax fmin fmod frac frexp gcd heaviside hypot lcm ldexp lerp lgamma log log10 log1p log2 logaddexp logaddexp2 logit
maximum minimum mul nan_to_num neg positive pow rad2deg reciprocal remainder round rsqrt rsub sgn sign sigmoid sin
sinc sinh sqrt square sub tan tanh true_divide trunc xlogy special_entr special_xlog1py
"""
ACTIVATIONS = "celu elu gelu hardshrink hardsigmoid hardtanh leaky_relu mish relu relu6 selu silu softplus threshold"
COMPARISONS = """
allclose bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor __and__ __or__ __xor__
__lshift__ __rshift__ __iand__ __ior__ __ixor__ eq equal ge gt is_nonzero isclose isfinite isin isinf isnan isneginf
isposinf le logical_and logical_not logical_or logical_xor lt ne signbit where
"""
REDUCTIONS = """
all amax amin aminmax any argmax argmin argsort bincount count_nonzero cummax cummin cumprod cumsum _logcumsumexp dist
histc kthvalue linalg_vector_norm logsumexp max mean median min mode msort nanmean nanmedian nansum norm prod
searchsorted bucketize sort std std_mean sum topk unique_consecutive unique_dim _unique _unique2 var var_mean
"""
PRODUCTS = "addbmm addmm addmv addr baddbmm bmm dot matmul mm mv outer ger vdot _trilinear linalg_cross cross"
SHAPES = """
_conj _neg_view _reshape_alias _unsafe_view alias as_strided as_strided_scatter broadcast_tensors cat clone
constant_pad_nd contiguous copy detach diag diag_embed diagonal diagonal_scatter expand flip imag lift lift_fresh
movedim narrow permute pixel_shuffle real repeat repeat_interleave reshape resize resolve_conj resolve_neg roll rot90
select select_scatter set slice slice_scatter split split_with_sizes split_with_sizes_copy squeeze stack t transpose
tril tril_indices triu triu_indices unbind unfold unsafe_chunk unsafe_split unsqueeze view view_as_complex
view_as_real meshgrid block_diag combinations
"""
INDEXING = """
embedding gather index index_add index_copy index_fill index_put _index_put_impl _unsafe_index index_select
masked_fill masked_scatter masked_select nonzero nonzero_static put scatter scatter_add scatter_reduce take
_unsafe_masked_index
"""
CREATION = """
_local_scalar_dense _efficientzerotensor _to_copy arange complex empty empty_like empty_permuted empty_strided eye
fill full full_like linspace logspace new_empty new_empty_strided new_full new_ones new_zeros ones ones_like polar
promote_types result_type scalar_tensor to type_as zero zeros zeros_like _pin_memory _has_same_storage_numel
is_same_size
"""
CHANCE = """
bernoulli exponential cauchy geometric log_normal multinomial native_dropout normal normal_functional poisson rand
rand_like randint randint_like randn randn_like randperm random uniform
"""
SOFTMAX = "_softmax _log_softmax"  # where writing it is the exercise, a shortcut forbids it
ELEMENTARY = frozenset(
    " ".join(
        (ARITHMETIC, ACTIVATIONS, COMPARISONS, REDUCTIONS, PRODUCTS, SHAPES, INDEXING, CREATION, CHANCE, SOFTMAX)
    ).split()
)
BACKWARD = re.compile(r"(_dense)?_backward(_data)?$")  # what autograd runs is as usual as what it differentiates
ATEN, PROFILER = "aten::", "profiler::"

# packages whose functions call PyTorch's on behalf of whoever uses them as their documentation says
USUAL = {
    *("torch.nn.functional", "torch.nn.init", "torch.nn.modules", "torch.nn.parameter"),
    *("torch.nn.utils.clip_grad", "torch.nn.utils.convert_parameters", "torch.nn.utils.rnn"),
    *("torch.functional", "torch._tensor", "torch._tensor_str", "torch._utils", "torch._VF", "torch._jit_internal"),
    *("torch.autograd", "torch.func", "torch._functorch", "torch.optim", "torch.random", "torch.distributions"),
    *("torch.utils._contextlib", "torch.utils._pytree", "torch.storage", "torch.linalg", "torch.special", "torch.fft"),
}
READY_MADE = {
    *("torch.nn.modules.transformer", "torch.distributions.transforms", "torch.distributions.constraint_registry"),
}
SHOWING = ("IPython", "decorator", "traitlets")  # what `display` asks for an object's representations
SHOWN = re.compile(r"[\w.:<>]+")


def outside(ran: Iterable[str], known: Collection[str], own: Collection[str] = ()) -> str:
    """Return the first of what ran that neither is usual nor known, in the words of a question; or ''.

    Args:
        ran: a record, see `operators`.
        known: what the exercise's solution ran, and patterns that its author allows.
        own: the lesson's own modules.
    """
    patterns = [name for name in known if "*" in name]
    for name in sorted(ran):
        if not is_usual(name, own) and name not in known and not any(fnmatchcase(name, p) for p in patterns):
            what = "NumPy" if name in FOR_NUMPY else name.removeprefix(CALLER).removeprefix(LATER)
            return what if SHOWN.fullmatch(what) else "something with a name of its own"
    return ""


def is_usual(name: str, own: Collection[str] = ()) -> bool:
    """Say whether any exercise's answer may run this: an operator, a function, or a module that called one."""
    if name.startswith(CALLER):
        module = name.removeprefix(CALLER)
        top = module.split(".")[0]
        return is_usual_part(module) or top in SHOWING or top in sys.stdlib_module_names or module in own
    if "::" not in name:
        return name not in FOR_NUMPY
    if name.partition("::")[0] in own:  # one of the lesson's own functions
        return True
    return name.startswith(PROFILER) or (name.startswith(ATEN) and bare(name) in ELEMENTARY)


def is_usual_part(module: str) -> bool:
    """Say whether a module is PyTorch itself or a part of it that answers may use."""
    return module == "torch" or (is_in(module, USUAL) and not is_in(module, READY_MADE))


def is_in(module: str, packages: Collection[str]) -> bool:
    """Say whether a module is one of these or inside of one."""
    return any(package in packages for package in around(module))


def around(module: str) -> Iterator[str]:
    """Yield a module's name and those of the packages that it is in, the innermost first."""
    while module:
        yield module
        module = module.rpartition(".")[0]


def bare(name: str) -> str:
    """Return an operator's name without its namespace, whether in place or not, forward or backward."""
    word = BACKWARD.sub("", name.split("::")[-1])
    return word if word.startswith("__") else word.removesuffix("_")
