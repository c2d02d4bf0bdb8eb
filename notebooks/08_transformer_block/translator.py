"""The translator of lesson 1: two recurrent networks, with attention between them or without.

The score is that of Bahdanau, Cho and Bengio 2014, https://arxiv.org/abs/1409.0473. For brevity the decoder steps first
and looks afterward, as in Luong, Pham and Manning 2015, and the encoder reads in one direction only. The notebook
beside this file imports it.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

Look = Callable[[nn.Module, Tensor, Tensor], tuple[Tensor, Tensor]]
Draw = Callable[[int, int], tuple[Tensor, Tensor]]

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
CHARACTERS = " abcdefghijklmnopqrstuvwxyz0123456789,./-"
LONGEST_DATE = 18


class Translator(nn.Module):
    """Reads a sequence with one recurrent network and writes another one with a second.

    Args:
        symbols: how many different symbols there are.
        look: attention: takes a small network that scores pairs, the decoder's state (B, 64) and the encoder's states
            (B, S, 64), and returns a context (B, 64) and weights (B, S). Without it the decoder has only its own state.
    """

    def __init__(self, symbols: int, look: Look | None = None) -> None:
        super().__init__()
        self.begin, self.look = symbols, look
        self.embed = nn.Embedding(symbols + 1, 32)  # one symbol more: "begin"
        self.encoder = nn.GRU(32, 64, batch_first=True)
        self.decoder = nn.GRUCell(32, 64)
        self.score = nn.Sequential(nn.Linear(128, 32), nn.Tanh(), nn.Linear(32, 1))
        self.out = nn.Linear(128 if look else 64, symbols)

    def forward(
        self, x: Tensor, length: int, y: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read x (B, S) and write `length` symbols.

        With y (B, length) each step is told the right previous symbol: teacher forcing. Without it each step gets the
        symbol that the model has just written. Returns logits (B, length, symbols) and weights (B, length, S), which
        are empty without attention.
        """
        states, last = self.encoder(self.embed(x))  # (B, S, 64), (1, B, 64)
        state, symbol = last[0], torch.full_like(x[:, 0], self.begin)
        logits, weights = [], []
        for t in range(length):
            state = self.decoder(self.embed(symbol), state)  # (B, 64)
            known = state
            if self.look:
                context, shares = self.look(self.score, state, states)
                known = torch.cat([state, context], dim=-1)  # (B, 128)
                weights.append(shares)
            logits.append(self.out(known))
            symbol = logits[-1].argmax(dim=-1) if y is None else y[:, t]
        return torch.stack(logits, dim=1), torch.stack(
            weights, dim=1
        ) if weights else torch.empty(0)


def train(
    draw: Draw,
    symbols: int,
    look: Look | None = None,
    *,
    steps: int,
    rate: float,
    seed: int = 0,
) -> Translator:
    """Train a new translator on batches of 64 that are drawn as it goes.

    Args:
        draw: takes a number of examples and a seed, returns what is read and what should be written.
        symbols: how many different symbols there are.
        look: attention, or None for none.
        steps: how many batches.
        rate: the learning rate.
        seed: of the initial weights.
    """
    torch.manual_seed(seed)
    model = Translator(symbols, look)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(steps):
        x, y = draw(64, step)
        logits, _ = model(x, y.size(1), y)
        loss = functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(
            model.parameters(), 1.0
        )  # a recurrent network's gradient can be huge now and then
        optimizer.step()
    return model


def accuracy(model: Translator, draw: Draw) -> float:
    """Return the share of 500 new sequences that the model writes without a mistake, on its own."""
    x, y = draw(500, 99_999)
    with torch.no_grad():
        written = model(x, y.size(1))[0].argmax(dim=-1)
    return float((written == y).all(dim=-1).double().mean())


def date_pair(generator: torch.Generator) -> tuple[str, str]:
    """Draw a date: as one of five kinds of people would write it, and as a computer stores it."""
    ranges = ((1900, 2030), (1, 13), (1, 29), (0, 5))
    year, month, day, style = (
        int(torch.randint(low, high, (), generator=generator)) for low, high in ranges
    )
    name = MONTHS[month - 1]
    styles = (
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{day:02}.{month:02}.{year}",
        f"{day} {name[:3]} {year}",
        f"{month}/{day}/{year}",
    )
    return styles[style], f"{year}-{month:02}-{day:02}"


def to_ids(text: str, length: int = LONGEST_DATE) -> list[int]:
    """Turn a text into numbers, one per character, padded with spaces."""
    return [CHARACTERS.index(character) for character in text.ljust(length)]


def to_text(numbers: Tensor) -> str:
    """Turn numbers back into a text."""
    return "".join(CHARACTERS[number] for number in numbers)


def dates(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw n dates: what is read (n, 18) and what should be written (n, 10)."""
    generator = torch.Generator().manual_seed(seed)
    read, written = zip(*[date_pair(generator) for _ in range(n)], strict=True)
    return torch.tensor([to_ids(text) for text in read]), torch.tensor(
        [to_ids(text, 10) for text in written]
    )
