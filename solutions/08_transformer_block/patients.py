"""Programs that do not learn, for lesson 8, and one that does. The notebook beside this file imports it.

Each is to reverse eight digits with two pre-norm blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from stack import LENGTH, Stack
from torch import Tensor, nn
from torch.nn import functional


def pairs(seed: int) -> tuple[Tensor, Tensor]:
    """Draw 32 sequences of digits (32, 8), and the same digits in reverse order."""
    generator = torch.Generator().manual_seed(seed)
    digits = torch.randint(0, 10, (32, LENGTH), generator=generator)
    return digits, digits.flip(1)


def with_answers_of_others(seed: int) -> tuple[Tensor, Tensor]:
    """Draw 32 sequences of digits (32, 8), and answers that have been given to other sequences than their own."""
    digits, answers = pairs(seed)
    return digits, answers.roll(1, dims=0)


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


def sound(rate: float = 0.003, seed: int = 0) -> Program:
    """Return the program that learns."""
    torch.manual_seed(seed)
    model = Stack("pre-norm", depth=2)
    return Program(model, torch.optim.Adam(model.parameters(), lr=rate))


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
