"""Which of PyTorch's functions run while a student's code does, whatever it calls them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

MOST_NAMES = 500  # PyTorch has more operators, but no answer needs so many
AND_MORE = "(and more)"


class FunctionRecorder(TorchFunctionMode):
    """Notes the names of functions as Python calls them, such as `scaled_dot_product_attention` and `softmax`."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names = names

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note a function, and call it."""
        note(self._names, getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class OperatorRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the operators that functions end in, such as `_softmax`, by whatever way they were reached."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Leave the compiler out of it: PyTorch's hook. Else the first operator imports it, which takes two seconds."""
        return False

    def __init__(self, names: set[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._names = names

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note an operator, and run it."""
        note(self._names, getattr(getattr(func, "overloadpacket", func), "__name__", ""))
        return func(*args, **(kwargs or {}))


def note(names: set[str], name: str) -> None:
    """Keep one name more, within limits; what is left out is said so."""
    names.add(name if len(names) < MOST_NAMES - 1 or name in names else AND_MORE)


@contextlib.contextmanager
def recording(names: set[str] | None) -> Iterator[None]:
    """Note what runs in the block; nothing where there is no set to note it in."""
    if names is None:
        yield
        return
    with FunctionRecorder(names), OperatorRecorder(names):
        yield
