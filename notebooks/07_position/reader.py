"""The model of lesson 7's experiments. The notebook beside this file imports it; nothing in it is an exercise."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

Task = Callable[[Tensor], Tensor]
WIDTH, HEADS, LONGEST = 32, 4, 128


def speeds_of(base: float, size: int = WIDTH // HEADS) -> Tensor:
    """Return how far each hand turns per position, in radians, (D / 2,)."""
    return base ** (-torch.arange(0, size, 2) / size)


def turns(length: int, speeds: Tensor) -> Tensor:
    """Return the rotation of each position as a matrix, (L, D, D): the exponential of the position times a generator.

    The generator turns each pair of neighboring entries at a speed of its own (Su et al. 2021, section 3.2.2).
    """
    quarter = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    generator = torch.block_diag(*(speed * quarter for speed in speeds))
    return torch.matrix_exp(torch.arange(length)[:, None, None] * generator)


def distances(length: int) -> Tensor:
    """Return how far apart two positions are, (L, L)."""
    line = torch.arange(length, dtype=torch.float32)[:, None]
    return torch.cdist(line, line)


def waves(length: int) -> Tensor:
    """Return sinusoidal positions, (L, E), a sine and its cosine side by side, as in exercise 7.1."""
    speeds = 10_000.0 ** (-torch.arange(WIDTH // 2) * 2 / WIDTH)
    angles = torch.outer(torch.arange(length), speeds)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class Reader(nn.Module):
    """One layer of attention that says something about each place of a sequence of digits.

    positions is "none", "learned", "sinusoidal", "rotary" or "linear bias". With causal=True a place sees itself and
    what came before. speeds are those of the rotation; they can be changed after training.
    """

    def __init__(self, positions: str, causal: bool = False) -> None:
        super().__init__()
        self.positions, self.causal = positions, causal
        self.speeds = speeds_of(10_000.0)
        self.digit, self.place = nn.Embedding(10, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.in_proj = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out_proj, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 10)

    def forward(self, digits: Tensor) -> Tensor:
        """Return logits (B, L, 10) for digits (B, L)."""
        x, scores, values = self.attend(digits)
        mixed = scores.softmax(dim=-1) @ values
        return self.out(x + self.out_proj(mixed.transpose(1, 2).flatten(2)))

    def attend(self, digits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return tokens (B, L, E), scores (B, H, L, L), −∞ where a place may not look, and values (B, H, L, D)."""
        length, x = digits.size(1), self.digit(digits)
        if self.positions == "learned":
            x = x + self.place.weight[:length]
        if self.positions == "sinusoidal":
            x = x + waves(length)
        q, k, v = self.in_proj(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        if self.positions == "rotary":
            rotation = turns(length, self.speeds)
            q, k = (torch.einsum("lij,bhlj->bhli", rotation, t) for t in (q, k))
        bias = torch.zeros(HEADS, length, length)
        if self.positions == "linear bias":
            slopes = torch.tensor([1 / 4, 1 / 16, 1 / 64, 1 / 256])
            bias = bias - torch.einsum("h,ls->hls", slopes, distances(length))
        if self.causal:
            bias = bias.masked_fill(torch.ones(length, length).triu(1) > 0, -torch.inf)
        return x, q @ k.mT / math.sqrt(q.size(-1)) + bias, v


def digits(n: int, seed: int, length: int) -> Tensor:
    """Draw sequences of random digits, (n, length)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 10, (n, length), generator=generator)


def train(
    task: Task, positions: str, causal: bool = False, steps: int = 300, seed: int = 0
) -> Reader:
    """Train a reader on sequences of length 16. task maps digits (B, L) to the right answers (B, L)."""
    torch.manual_seed(seed)
    model = Reader(positions, causal)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for step in range(steps):
        x = digits(64, seed=step, length=16)
        loss = functional.cross_entropy(model(x).flatten(0, 1), task(x).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def accuracy(model: Reader, task: Task, length: int = 16) -> float:
    """Return the share of right answers on 300 new sequences."""
    x = digits(300, seed=1_000_000, length=length)
    return float((model(x).argmax(dim=-1) == task(x)).double().mean())
