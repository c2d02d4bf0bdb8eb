"""Whether what the judge relies on in a student's process is what it was before the student's code ran."""

from __future__ import annotations

import json
from collections.abc import Collection
from operator import is_not

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

OF_TENSORS: tuple[type, ...] = (torch.Tensor, nn.Parameter, torch.UntypedStorage, torch.TypedStorage)
OF_REPLIES: tuple[type, ...] = (json.JSONEncoder, json.JSONDecoder, TorchFunctionMode, TorchDispatchMode)
ADDED_BY_PYTHON = {"__annotations__", "__slotnames__"}  # when a class that has none is asked, or one is first copied
_kept: list[tuple[type, tuple[str, ...], tuple[object, ...]]] = []


def remember_classes(*others: type) -> None:
    """Keep what classes hold that checks, recorders and replies use: PyTorch's, some of Python's, and some others."""
    kinds = {kind: None for kind in (*OF_TENSORS, *OF_REPLIES, *others, *vars(nn).values()) if isinstance(kind, type)}
    _kept[:] = [(kind, (*vars(kind),), (*vars(kind).values(),)) for kind in kinds]


def classes_changed() -> bool:
    """Say whether a class holds something else by now, whatever way led there. Nothing in it is asked."""
    return any(
        (len(vars(kind)) != len(values) or any(map(is_not, vars(kind).values(), values)))
        and not is_same(kind, names, values)
        for kind, names, values in _kept
    )


def is_same(kind: type, names: Collection[str], values: Collection[object]) -> bool:
    """Say whether a class holds what it held, and no more than what Python itself adds."""
    now, was = dict(vars(kind)), dict(zip(names, values, strict=True))
    return {*now} | ADDED_BY_PYTHON == {*was} | ADDED_BY_PYTHON and all(now[name] is was[name] for name in was)


remember_classes()
