"""Random inputs for checks."""

from __future__ import annotations

import zlib
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from .values import identical

PUBLIC_SEED, LARGEST_SEED = 0, 2**31 - 1
Numbers = TypeVar("Numbers", Tensor, np.ndarray[Any, Any])


class Inputs:
    """Random inputs for one check, the same for everyone who has the same seed.

    Source of randomness: a `torch.Generator` of its own, so nothing that a solution draws moves it.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._at_home = seed == PUBLIC_SEED
        self._generator = torch.Generator().manual_seed(seed * 1_000_003 + zlib.crc32(name.encode()))
        self._drawn: list[tuple[Tensor, int, Tensor]] = []
        self._arrays: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return independent standard normal numbers, float64 unless told otherwise."""
        return self.give(torch.randn(*shape, generator=self._generator, dtype=torch.float64).to(dtype))

    def give(self, tensor: Numbers) -> Numbers:
        """Return a tensor or an array made from drawn ones, and notice when it is changed in place like those."""
        if isinstance(tensor, np.ndarray):
            self._arrays.append((tensor, tensor.copy()))
        else:
            self._drawn.append((tensor, tensor._version, tensor.detach().clone()))
        return tensor

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))

    def size(self, at_home: int, low: int, high: int) -> int:
        """Return a given size in a student's workspace, and one from low to high where it is graded.

        So what a card shows cannot be handed in as an answer.
        """
        drawn = self.integer(low, high)
        return at_home if self._at_home else drawn

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors that were drawn, or made from drawn ones."""
        return [tensor for tensor, _, _ in self._drawn]

    @property
    def changed(self) -> bool:
        """Whether a tensor or an array that was drawn has been written to since, by whatever way."""
        written = any(not np.array_equal(array, copy, equal_nan=True) for array, copy in self._arrays)
        return written or any(
            tensor._version != version or not identical(tensor.detach(), copy) for tensor, version, copy in self._drawn
        )
