"""The smallest model that copies by analogy, for lesson 9: attention and nothing else. The notebook imports it."""

import torch
from attention import MultiHeadAttention
from figures import ablations, switches
from heads import one_back, repetition, silenced
from torch import Tensor, nn
from torch.nn import functional

__all__ = [
    "ablations",
    "accuracy",
    "one_back",
    "patched",
    "repeated",
    "repetition",
    "silenced",
    "switches",
    "train",
]

VOCAB, LENGTH, WIDTH = 32, 32, 64


def repeated(n: int, seed: int, shortest: int = 6) -> tuple[Tensor, Tensor]:
    """Draw sequences that start over, each after `shortest` to 16 distinct tokens: tokens (n, 32), periods (n,)."""
    generator = torch.Generator().manual_seed(seed)
    rows, periods = [], []
    for _ in range(n):
        period = int(torch.randint(shortest, LENGTH // 2 + 1, (), generator=generator))
        once = torch.randperm(VOCAB, generator=generator)[:period]
        rows.append(torch.cat([once] * (LENGTH // period + 1))[:LENGTH])
        periods.append(period)
    return torch.stack(rows), torch.tensor(periods)


class Copier(nn.Module):
    """Layers with one head each, which add to the stream. It predicts the next token.

    A learned vector per place and layer is added to queries and keys only: it says where to look, and is not passed on.
    """

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.ParameterList(
            torch.randn(LENGTH, WIDTH) / 4 for _ in range(depth)
        )
        self.layers = nn.ModuleList(MultiHeadAttention(WIDTH, 1) for _ in range(depth))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (B, L, vocab) for tokens (B, L), and the weights of all layers, (B, layers, L, L)."""
        x, maps = self.embed(tokens), []
        causal = torch.ones(LENGTH, LENGTH).tril() > 0
        for layer, place in zip(self.layers, self.places, strict=True):
            added, weights = layer(x + place, x + place, x, causal, need_weights=True)
            x = x + added
            maps.append(weights)
        return self.out(self.norm(x)), torch.cat(maps, dim=1)


def known(periods: Tensor) -> Tensor:
    """Return the places whose next token can be known, (B, L - 1): their own token has occurred before."""
    return torch.arange(LENGTH - 1) >= periods[:, None]


def train(depth: int, shortest: int = 6, steps: int = 250, seed: int = 0) -> Copier:
    """Train to predict the next token, where it can be known."""
    torch.manual_seed(seed)
    model = Copier(depth)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for step in range(steps):
        tokens, periods = repeated(64, step, shortest)
        where = known(periods)
        logits = model(tokens)[0][:, :-1]
        loss = functional.cross_entropy(logits[where], tokens[:, 1:][where])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: Copier, shortest: int = 6) -> float:
    """Return the share of right predictions on 300 new sequences, where they can be known."""
    tokens, periods = repeated(300, 99_999, shortest)
    guesses, where = model(tokens)[0][:, :-1].argmax(dim=-1), known(periods)
    return float((guesses == tokens[:, 1:])[where].double().mean())


@torch.no_grad()
def patched(model: Copier, parts: tuple[str, ...]) -> float:
    """Return the accuracy of a model of two layers if only a part of the second gets what the first one added.

    parts names it: "query", "key" and "value" of layer 1, and "rest" for the stream that it adds to. Everything
    else gets the tokens as they were before layer 0.
    """
    tokens, periods = repeated(300, 99_999)
    causal = torch.ones(LENGTH, LENGTH).tril() > 0
    (first, second), (place0, place1) = model.layers, model.places
    x = model.embed(tokens)
    after = x + first(x + place0, x + place0, x, causal)[0]
    query, key, value, rest = (
        after if name in parts else x for name in ("query", "key", "value", "rest")
    )
    added = second(query + place1, key + place1, value, causal)[0]
    guesses = model.out(model.norm(rest + added))[:, :-1].argmax(dim=-1)
    return float((guesses == tokens[:, 1:])[known(periods)].double().mean())
