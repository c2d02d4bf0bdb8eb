"""What a guard has to know about classes: which are plain data, which are called, and where names are looked for."""

from __future__ import annotations

import functools
import types
import typing
from typing import Any

import numpy as np
import torch

PLAIN = (
    *(types.NoneType, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice),
    *(torch.Tensor, torch.nn.Parameter, torch.Size, torch.dtype, torch.device, np.ndarray),
    *(types.GeneratorType, types.UnionType),
)
INNER = (types.CodeType, types.FrameType, types.ModuleType)
OF_C = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType)
METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
OF_CLASSES = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
FIELDS = (types.GetSetDescriptorType, types.MemberDescriptorType)
OF_TORCH = (
    *("torch._C", "torch.return_types", "torch.utils.data", "torch.utils.hooks"),
    *("torch.backends", "torch.cuda", "torch.amp", "torch.nn.utils.parametrize"),
)
CONTAINERS = (dict, list, set)
TAKEN_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple, torch.Size)  # by patterns
AROUND_OTHERS = {  # call something, each with the name of what that is; `map` makes them where nobody looks
    functools.partial: "func",
    types.GenericAlias: "__origin__",
    staticmethod: "__func__",
    classmethod: "__func__",
    functools._lru_cache_wrapper: "__wrapped__",
}
HOOKS = frozenset(
    {
        *("__torch_function__", "__torch_dispatch__", "__array_interface__", "__array_struct__", "__array__"),
        *("__cuda_array_interface__", "__dlpack__", "__getattr__", "__getattribute__", "__reduce__", "__reduce_ex__"),
        *(
            "__prepare__",
            "__mro_entries__",
            "__instancecheck__",
            "__subclasscheck__",
            "__get__",
            "__set_name__",
            "__del__",
        ),
    }
)
BASES = (typing.NamedTuple, typing.TypedDict)  # functions that stand for a class above others
MODULE, LINE, NAMES = (vars(type)[name].__get__ for name in ("__module__", "__mro__", "__dict__"))
ABOVE = vars(super)["__self__"].__get__


def callable_of(kind: type) -> bool:
    """Say whether this is the class of functions or methods."""
    return kind in (types.FunctionType, types.MethodType, *OF_C, *OF_CLASSES, *FIELDS)


def line_of(owner: Any) -> Any:
    """Return the classes in which an object's names are looked for."""
    if issubclass(type(owner), super):
        first, kind = (vars(super)[name].__get__(owner) for name in ("__thisclass__", "__self_class__"))
        line = LINE(kind)
        return line[line.index(first) + 1 :]
    return (*LINE(owner), *LINE(type(owner))) if issubclass(type(owner), type) else LINE(type(owner))


@functools.lru_cache(maxsize=1000)
def words_in(kind: type) -> frozenset[str]:
    """Return the names and texts that a class's own methods use, by which they would set a field of an object."""
    codes = [each.__code__ for each in NAMES(kind).values() if type(each) is types.FunctionType]
    return frozenset(word for code in codes for word in (*code.co_names, *code.co_consts) if type(word) is str)


def word_of(value: Any) -> str:
    """Return a few words for a function, a class, or an object's class."""
    named = value if callable_of(type(value)) or issubclass(type(value), type) else type(value)
    name = str(getattr(named, "__qualname__", "") or getattr(named, "__name__", ""))
    module = str(getattr(named, "__module__", "") or "")
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"
