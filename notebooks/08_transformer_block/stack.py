"""Deep stacks of blocks that learn to reverse eight digits, for lesson 8, and programs that do not learn it.

The notebook beside this file imports it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, LENGTH = 32, 8


class Replacing(nn.Module):
    """Attention, then a feed-forward network, each followed by a norm. What each returns replaces what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.network = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)
        )
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E)."""
        x = self.norm1(self.attention(x, x, x, need_weights=False)[0])
        return self.norm2(self.network(x))


def residual(kind: str) -> nn.Module:
    """Return PyTorch's block, with the norms before its branches, after its additions, or without any."""
    block = nn.TransformerEncoderLayer(
        WIDTH,
        4,
        2 * WIDTH,
        dropout=0.0,
        batch_first=True,
        norm_first=kind != "post-norm",
    )
    if kind == "no norm":
        block.norm1, block.norm2 = nn.Identity(), nn.Identity()
    return block


class Stack(nn.Module):
    """Says something about each place of a sequence of 8 digits, with a stack of blocks.

    kind is "bare" (nothing is added), "post-norm", "pre-norm" or "no norm", or "small gradients", which is pre-norm
    with a gradient that loses a fifth in each block on its way back.
    """

    def __init__(self, kind: str, depth: int = 12) -> None:
        super().__init__()
        self.digit, self.place = nn.Embedding(10, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(
            Replacing() if kind == "bare" else residual(kind) for _ in range(depth)
        )
        normalized = kind in ("pre-norm", "small gradients")
        self.norm = nn.LayerNorm(WIDTH) if normalized else nn.Identity()
        self.passes_back = 0.8 if kind == "small gradients" else 1.0
        self.out = nn.Linear(WIDTH, 10)

    def forward(self, digits: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return logits (B, L, 10) for digits (B, L), and what went into each block and out of the last."""
        x = self.digit(digits) + self.place.weight
        stream = [x]
        for block in self.blocks:
            x = block(stream[-1])
            stream.append(x.detach() + self.passes_back * (x - x.detach()))
        return self.out(self.norm(stream[-1])), stream


def pairs(seed: int) -> tuple[Tensor, Tensor]:
    """Draw 32 sequences of digits (32, 8), and the same digits in reverse order."""
    generator = torch.Generator().manual_seed(seed)
    digits = torch.randint(0, 10, (32, LENGTH), generator=generator)
    return digits, digits.flip(1)


def loss_of(model: Stack, seed: int) -> tuple[Tensor, list[Tensor]]:
    """Return the loss of reversing 32 random sequences, and the stream."""
    digits, answers = pairs(seed)
    logits, stream = model(digits)
    return functional.cross_entropy(logits.flatten(0, 1), answers.flatten()), stream


def gradients(kind: str, seed: int = 0) -> list[float]:
    """Return how large the gradient is at each block, relative to that at the top, before any training."""
    torch.manual_seed(seed)
    loss, stream = loss_of(Stack(kind), seed=0)
    norms = [g.norm().item() for g in torch.autograd.grad(loss, stream)]
    return [norm / norms[-1] for norm in norms]


def likeness(kind: str, seed: int = 0) -> list[float]:
    """Return how alike a sequence's tokens are in the stream, untrained: their mean cosine, block by block."""
    torch.manual_seed(seed)
    _, stream = loss_of(Stack(kind), seed=0)
    others = ~torch.eye(LENGTH, dtype=torch.bool)
    unit = [functional.normalize(x, dim=-1) for x in stream]
    return [(x @ x.mT)[:, others].mean().item() for x in unit]


def spread(kind: str, seed: int = 0) -> list[float]:
    """Return the standard deviation of the stream's entries, untrained, block by block."""
    torch.manual_seed(seed)
    _, stream = loss_of(Stack(kind), seed=0)
    return [x.std().item() for x in stream]


@dataclass
class Program:
    """A model with the loss, the data and the optimizer that it is trained with."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    draw: Callable[[int], tuple[Tensor, Tensor]] = pairs
    loss_of: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy

    def loss(self, seed: int) -> Tensor:
        """Return the loss on the batch that the seed draws."""
        x, y = self.draw(seed)
        return self.loss_of(self.model(x)[0].flatten(0, 1), y.flatten())

    def step(self, seed: int) -> float:
        """Take one step on the batch that the seed draws, and return the loss before it."""
        loss = self.loss(seed)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def program_for(kind: str, depth: int, rate: float, seed: int) -> Program:
    """Return a program that is about to train a stack."""
    torch.manual_seed(seed)
    model = Stack(kind, depth)
    return Program(model, torch.optim.Adam(model.parameters(), lr=rate))


def train(kind: str, steps: int = 100, seed: int = 0) -> list[float]:
    """Train a stack of twelve to reverse, and return the loss after each step."""
    program = program_for(kind, depth=12, rate=0.003, seed=seed)
    return [program.step(step) for step in range(steps)]


def sound(rate: float = 0.003, seed: int = 0) -> Program:
    """Return a program that learns."""
    return program_for("pre-norm", depth=2, rate=rate, seed=seed)


def with_answers_of_others(seed: int) -> tuple[Tensor, Tensor]:
    """Draw 32 sequences of digits (32, 8), and answers that have been given to other sequences than their own."""
    digits, answers = pairs(seed)
    return digits, answers.roll(1, dims=0)


def answers_mixed_up(seed: int = 0) -> Program:
    """Return a program that puts the answers in another order than the questions."""
    program = sound(seed=seed)
    program.draw = with_answers_of_others
    return program


def softmax_twice(seed: int = 0) -> Program:
    """Return a program that gives probabilities to a loss that expects logits."""
    program = sound(seed=seed)
    program.loss_of = lambda logits, y: functional.cross_entropy(logits.softmax(-1), y)
    return program


def steps_too_large(seed: int = 0) -> Program:
    """Return a program with a learning rate that is a hundred times too high."""
    return sound(rate=0.3, seed=seed)


def blocks_replaced(seed: int = 0) -> Program:
    """Return a program that makes new blocks after its optimizer has been made."""
    program = sound(seed=seed)
    program.model.blocks = Stack("pre-norm", depth=2).blocks
    return program


BROKEN = {
    "A": answers_mixed_up,
    "B": softmax_twice,
    "C": steps_too_large,
    "D": blocks_replaced,
}
