"""Random inputs for checks."""

from __future__ import annotations

import zlib

import torch
from torch import Tensor

PUBLIC_SEED = 0


class Inputs:
    """Random inputs for one check, the same for everyone who has the same seed.

    Source of randomness: a `torch.Generator` of its own, so nothing that a solution draws moves it.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._at_home = seed == PUBLIC_SEED
        self._generator = torch.Generator().manual_seed(seed * 1_000_003 + zlib.crc32(name.encode()))
        self._drawn: list[tuple[Tensor, int]] = []
        self.given: list[Tensor] = []

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return independent standard normal numbers, float64 unless told otherwise."""
        return self.give(torch.randn(*shape, generator=self._generator, dtype=torch.float64).to(dtype))

    def give(self, tensor: Tensor) -> Tensor:
        """Return a tensor made from drawn ones, and notice when it is changed in place like those."""
        self._drawn.append((tensor, tensor._version))
        self.given.append(tensor.detach().clone())
        return tensor

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))

    def size(self, at_home: int, low: int, high: int) -> int:
        """Return a given size at a student's desk, and one from low to high where it is graded.

        So what a card shows cannot be handed in as an answer.
        """
        drawn = self.integer(low, high)
        return at_home if self._at_home else drawn

    @property
    def changed(self) -> bool:
        """Whether a tensor that was drawn has been written to since."""
        return any(tensor._version != version for tensor, version in self._drawn)
