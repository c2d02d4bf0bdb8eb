"""How lesson 13 trains a model, lets it write and judges it. The notebook imports it."""

import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from dictionary import Dictionary
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional
from tqdm.auto import tqdm

tqdm.monitor_interval = 0  # no thread that outlives a bar
CHECKPOINT = Path("model.safetensors")  # beside the notebook
MAX_LEN = 48  # tokens: the longest line has 47 and END
SMALL = {"max_len": MAX_LEN, "d_model": 128, "num_heads": 4, "num_layers": 2}
LARGE = {"max_len": MAX_LEN, "d_model": 192, "num_heads": 6, "num_layers": 4}
IGNORED = -100  # what is predicted at padding


@dataclass(frozen=True)
class Recipe:
    """How to train: how long, and which of the four usual measures to take.

    Args:
        steps: how many batches to learn from.
        batch: lines per batch.
        peak: the learning rate after the warm-up.
        warmup: over how many steps the rate rises from nearly 0 to its peak; 0 for none.
        cosine: whether the rate then falls to 0, along half a cosine, or stays.
        clip: the largest norm of a step's gradient; infinity for any.
        decay: AdamW's weight decay.
        decay_all: whether vectors (biases and the norms' gains) decay, too, or matrices only.
        seed: decides on the order of the lines.
    """

    steps: int = 3600
    batch: int = 32
    peak: float = 0.004
    warmup: int = 100
    cosine: bool = True
    clip: float = 1.0
    decay: float = 0.1
    decay_all: bool = False
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, the first of which is 0."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        done = (step - self.warmup) / (self.steps - self.warmup)
        return (
            self.peak * (1 + math.cos(math.pi * done)) / 2 if self.cosine else self.peak
        )

    def groups(self, model: nn.Module) -> list[dict[str, Any]]:
        """Return what AdamW takes: parameters that decay, by their number of dimensions, and those that do not."""
        matrices = [p for p in model.parameters() if p.dim() > 1 or self.decay_all]
        vectors = [p for p in model.parameters() if p.dim() <= 1 and not self.decay_all]
        return [
            {"params": matrices, "weight_decay": self.decay},
            {"params": vectors, "weight_decay": 0.0},
        ]


def notebook_steps() -> int:
    """Return the steps of three minutes on one thread; the environment's LESSON_STEPS, which tests set, goes first."""
    return int(os.environ.get("LESSON_STEPS", Recipe.steps))


def batch_of(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """Return lines as tokens to read and tokens to predict, both (B, L); IGNORED is predicted at padding."""
    length = max(map(len, rows))
    padded = torch.tensor([row + [IGNORED] * (length - len(row)) for row in rows])
    return padded[:, :-1].clamp(min=0), padded[:, 1:]


def endless(
    rows: Sequence[list[int]], size: int, seed: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield batches of lines without end, no line twice before the next round begins.

    The lines of a batch are about equally long, so that there is little padding: of every 32 batches, or of all where
    there are fewer, the lines are sorted by length, and then the batches are shuffled. A text of fewer lines than size
    is one batch.
    """
    generator, size = random.Random(seed), min(size, len(rows))
    pool = min(32, len(rows) // size) * size
    while True:
        order = generator.sample(range(len(rows)), len(rows))
        for start in range(0, len(order) - pool + 1, pool):
            by_length = sorted(
                order[start : start + pool], key=lambda number: len(rows[number])
            )
            starts = generator.sample(range(0, pool, size), pool // size)
            for first in starts:
                yield batch_of(
                    [rows[number] for number in by_length[first : first + size]]
                )


def batches(
    rows: Sequence[list[int]],
    steps: int,
    size: int = 32,
    seed: int = 0,
    *,
    bar: bool = True,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield as many batches as there are steps, with a progress bar or without."""
    drawn = itertools.islice(endless(rows, size, seed), steps)
    return iter(tqdm(drawn, total=steps, disable=not bar))


def loss_of(model: nn.Module, tokens: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss per token, in nats."""
    logits = model(tokens)
    return functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED
    )


def train(
    model: nn.Module,
    text: Dictionary,
    recipe: Recipe,
    show: Callable[[int], None] | None = None,
    every: int = 500,
) -> None:
    """Train a model on the seen lines; with `show`, which is called every so many steps, there is a progress bar."""
    optimizer = torch.optim.AdamW(recipe.groups(model), betas=(0.9, 0.99))
    rows = [text.row(line) for line in text.seen]
    drawn = batches(rows, recipe.steps, recipe.batch, recipe.seed, bar=bool(show))
    for step, (tokens, targets) in enumerate(drawn):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(step)
        model.train()
        optimizer.zero_grad()
        loss_of(model, tokens, targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimizer.step()
        if show and (step + 1) % every == 0:
            show(step + 1)


@torch.no_grad()
def loss_on(
    model: nn.Module, text: Dictionary, lines: Sequence[str], n: int = 1000
) -> float:
    """Return the mean loss per token, in nats, on n lines, drawn always in the same way."""
    training, total, count = model.training, 0.0, 0
    drawn = random.Random(99_999).sample(list(lines), min(n, len(lines)))
    rows = sorted((text.row(line) for line in drawn), key=len)
    model.eval()
    for start in range(0, len(rows), 100):
        tokens, targets = batch_of(rows[start : start + 100])
        predicted = int((targets != IGNORED).sum())
        total += float(loss_of(model, tokens, targets)) * predicted
        count += predicted
    model.train(training)
    return total / count


def softmax(logits: Tensor, heat: float = 0.7) -> Tensor:
    """Return the probabilities of the next token at a temperature."""
    return (logits / heat).softmax(dim=-1)


@torch.no_grad()
def define(
    model: nn.Module,
    text: Dictionary,
    word: str,
    *,
    probabilities: Callable[[Tensor], Tensor] = softmax,
    seed: int = 0,
    max_len: int = MAX_LEN,
) -> str:
    """Return a line that a model writes: a word, a colon, and tokens drawn until END.

    probabilities turns the logits of the next token, (V,), into what it is drawn from, (V,).
    """
    generator = torch.Generator().manual_seed(seed)
    numbers = text.row(f"{word}:")[:-1]
    end = numbers[0]
    model.eval()
    while len(numbers) < max_len:
        logits = model(torch.tensor([numbers]))[0, -1]
        drawn = int(torch.multinomial(probabilities(logits), 1, generator=generator))
        if drawn == end:
            break
        numbers.append(drawn)
    return text.decode(numbers)


def load(model: nn.Module) -> dict[str, str]:
    """Fill a model of the size LARGE with the parameters that `pretrain.py` found; return its notes on the training."""
    model.load_state_dict(
        {name: p.float() for name, p in load_file(CHECKPOINT).items()}
    )
    model.eval()
    with safe_open(CHECKPOINT, "pt") as file:
        return file.metadata()
