"""What lesson 10 measures, on the reader's own computer: time, and the largest tensor. The notebook imports it."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def seconds(function: Callable[..., Any], *given: Any, **options: Any) -> float:
    """Return how long a call takes: after one that does not count, the shortest of three, if a second suffices."""
    runs: list[float] = []
    while len(runs) < 4 and sum(runs[1:]) < 1:
        start = time.perf_counter()
        function(*given, **options)
        if DEVICE == "cuda":
            torch.cuda.synchronize()  # a GPU works on after the call has returned
        runs.append(time.perf_counter() - start)
    return min(runs[1:])


class Largest(TorchDispatchMode):
    """Remembers the size of the largest tensor that is made while it is on."""

    entries = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else PyTorch imports its compiler, for two seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Run an operator and look at what it returns."""
        result = func(*args, **(kwargs or {}))
        for made in result if isinstance(result, tuple | list) else [result]:
            if isinstance(made, Tensor):
                self.entries = max(self.entries, made.numel())
        return result


def largest(function: Callable[..., Any], *given: Any) -> int:
    """Return how many entries the largest tensor has that a call makes."""
    with Largest() as seen:
        function(*given)
    return seen.entries


def tensors(length: int, heads: int = 4, size: int = 32, seed: int = 0) -> list[Tensor]:
    """Draw query, key and value for one sentence, (1, heads, length, size) each."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(3, 1, heads, length, size, generator=generator).to(DEVICE)
    return list(drawn)


class Stack(nn.Module):
    """Four layers of causal attention that can keep what they have computed, in room set aside for it."""

    def __init__(self, width: int = 128, depth: int = 4, room: int = 1024) -> None:
        super().__init__()
        self.in_proj = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(depth))
        self.out_proj = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.heads, self.filled = 4, 0
        shape = (depth, 2, 1, self.heads, room, width // self.heads)
        self.register_buffer("kept", torch.zeros(shape), persistent=False)

    def forward(self, x: Tensor, *, keep: bool) -> Tensor:
        """Return (1, T, E) for x (1, T, E): the whole sequence, or with `keep` the tokens after those that are kept."""
        start = self.filled if keep else 0
        end = start + x.size(1)
        for i, (first, last) in enumerate(
            zip(self.in_proj, self.out_proj, strict=True)
        ):
            q, k, v = first(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            if keep:
                self.kept[i, 0, :, :, start:end], self.kept[i, 1, :, :, start:end] = (
                    k,
                    v,
                )
                k, v = self.kept[i, :, :, :, :end]
            one_by_one = q.size(-2) == 1
            mixed = functional.scaled_dot_product_attention(
                q, k, v, is_causal=not one_by_one
            )
            x = x + last(mixed.transpose(1, 2).flatten(2))
        self.filled = end if keep else self.filled
        return x

    @contextmanager
    def fresh(self) -> Any:
        """Forget what was kept, before and after."""
        self.filled = 0
        yield self
        self.filled = 0


@torch.no_grad()
def write(model: Stack, length: int, *, keep: bool) -> Tensor:
    """Let a model write `length` vectors, each from those before it: its last output is its next input."""
    x = torch.ones(1, 1, model.in_proj[0].in_features, device=DEVICE)
    with model.fresh():
        for _ in range(length):
            new = model(x[:, -1:] if keep else x, keep=keep)[:, -1:]
            x = torch.cat([x, new / new.norm()], dim=1)
    return x
