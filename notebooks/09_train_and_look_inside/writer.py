"""The language model of lesson 9: it reads characters and says which comes next. The notebook imports it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from attention import MultiHeadAttention
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

PROSE, CHECKPOINT = Path("prose.txt"), Path("model.safetensors")  # beside the notebook
LARGE = {"d_model": 128, "depth": 3, "longest": 96}


class Text:
    """The prose of these lessons, as numbers: nine tenths to learn from, the last tenth to be judged by."""

    def __init__(self) -> None:
        self.text = PROSE.read_text(encoding="ascii")
        self.characters = "".join(sorted(set(self.text)))
        numbers = torch.tensor([self.characters.index(c) for c in self.text])
        self.seen, self.unseen = numbers.split(
            [len(numbers) * 9 // 10, len(numbers) - len(numbers) * 9 // 10]
        )

    def batch(
        self, numbers: Tensor, n: int, length: int, seed: int
    ) -> tuple[Tensor, Tensor]:
        """Draw n stretches of text, and the same stretches one character later: both (n, length)."""
        generator = torch.Generator().manual_seed(seed)
        starts = torch.randint(0, len(numbers) - length, (n, 1), generator=generator)
        stretches = numbers[starts + torch.arange(length + 1)]
        return stretches[:, :-1], stretches[:, 1:]

    def encode(self, text: str) -> Tensor:
        """Return a text as one row of numbers, (1, length)."""
        return torch.tensor([[self.characters.index(c) for c in text]])

    def decode(self, numbers: Tensor) -> str:
        """Return numbers (length,) as a text."""
        return "".join(self.characters[n] for n in numbers)


def loss_of_counts(text: Text, length: int) -> float:
    """Return the loss on unseen text, in nats per character, of counting runs of so many characters in the seen text.

    A tenth is added to each count, so that nothing has the probability 0.
    """
    n = len(text.characters)
    powers = n ** torch.arange(length - 1, -1, -1)  # a run as one number in base n
    seen, unseen = (t.unfold(0, length, 1) @ powers for t in (text.seen, text.unseen))
    ordered = seen.sort().values

    def count(table: Tensor, runs: Tensor) -> Tensor:
        ends = torch.searchsorted(table, runs, right=True)
        return ends - torch.searchsorted(table, runs)

    starts = count(ordered // n, unseen // n)  # runs that begin with the same ones
    shares = (0.1 + count(ordered, unseen)) / (0.1 * n + starts)
    return float(-shares.log().mean())


class Block(nn.Module):
    """A pre-norm transformer block (lesson 8) around the attention of lesson 6, with biases as PyTorch's has them."""

    def __init__(
        self, d_model: int, num_heads: int, d_ff: int, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(
            d_model, num_heads, dropout=dropout, bias=True
        )
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E) and a mask (L, L)."""
        x = x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])
        hidden = self.linear1(self.norm2(x)).relu()
        return x + self.dropout(self.linear2(hidden))


class Writer(nn.Module):
    """A stack of causal blocks over characters.

    Args:
        vocab: how many characters there are.
        block: makes a block from d_model, num_heads, d_ff and dropout, such as the one of lesson 8.
        longest: how many characters it can look at.
    """

    def __init__(
        self,
        vocab: int,
        block: Callable[..., nn.Module] = Block,
        *,
        d_model: int = 64,
        depth: int = 2,
        num_heads: int = 4,
        longest: int = 64,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.longest = longest
        self.embed, self.place = (
            nn.Embedding(vocab, d_model),
            nn.Embedding(longest, d_model),
        )
        blocks = (
            block(d_model, num_heads, 4 * d_model, dropout=dropout)
            for _ in range(depth)
        )
        self.blocks = nn.ModuleList(blocks)
        self.norm, self.out = nn.LayerNorm(d_model), nn.Linear(d_model, vocab)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, L, vocab) for tokens (B, L): what comes after each of them."""
        places = torch.arange(tokens.size(1))
        causal = places[:, None] >= places
        x = self.embed(tokens) + self.place(places)
        for block in self.blocks:
            x = block(x, causal)
        return self.out(self.norm(x))


def train(
    model: Writer, text: Text, steps: int, show: Callable[[int], None], every: int
) -> None:
    """Train with AdamW, a rate that rises and falls again, and gradient clipping; call `show` every so many steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps)
    for step in range(steps):
        x, y = text.batch(text.seen, 32, model.longest, seed=step)
        loss = functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % every == 0:
            show(step + 1)


@torch.no_grad()
def loss_on(model: Writer, text: Text, numbers: Tensor) -> float:
    """Return the mean loss per character, in nats, on 64 stretches of the text's seen or unseen part."""
    training = model.training
    x, y = text.batch(numbers, 64, model.longest, seed=99_999)
    loss = functional.cross_entropy(model.eval()(x).flatten(0, 1), y.flatten())
    model.train(training)
    return float(loss)


@torch.no_grad()
def write(
    model: Writer,
    text: Text,
    start: str,
    length: int,
    temperature: float = 1.0,
    seed: int = 0,
) -> str:
    """Continue a text by drawing one character after another, each from the softmax of the last logits."""
    generator, tokens = torch.Generator().manual_seed(seed), text.encode(start)
    for _ in range(length):
        logits = model.eval()(tokens[:, -model.longest :])[0, -1]
        weights = (logits / temperature).softmax(dim=-1)
        drawn = torch.multinomial(weights, 1, generator=generator)
        tokens = torch.cat([tokens, drawn[None]], dim=1)
    return text.decode(tokens[0])


def load(text: Text) -> tuple[Writer, dict[str, str]]:
    """Return the larger model that `pretrain.py` trained, and what it noted about that."""
    model = Writer(len(text.characters), **LARGE)
    model.load_state_dict(from_torch(load_file(CHECKPOINT)))
    with safe_open(CHECKPOINT, "pt") as file:
        return model.eval(), file.metadata()


def from_torch(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters of PyTorch's blocks under the names of `Block`, as in exercise 6.3."""
    renamed = {}
    for name, parameter in parameters.items():
        name = name.replace(".self_attn.", ".attention.")
        if "in_proj_" in name:
            for layer, part in zip("qkv", parameter.float().chunk(3), strict=True):
                renamed[name.replace("in_proj_", f"{layer}_proj.")] = part
        else:
            renamed[name] = parameter.float()
    return renamed


@torch.no_grad()
def heads(model: Writer, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return what every head of a model does with tokens (B, L); heads are counted through all layers.

    Returns the attention weights (B, layers * heads, L, L), and the values (B, layers * heads, L, E) as they would be
    added to the stream: after the head's part of the output matrix.
    """
    weights: list[Tensor] = []
    values: list[Tensor] = []

    def keep(layer: MultiHeadAttention, args: tuple, options: dict) -> None:
        weights.append(layer.forward(*args, **options, need_weights=True)[1])
        v = layer.v_proj(args[0]).unflatten(-1, (layer.num_heads, -1))
        parts = layer.out_proj.weight.unflatten(1, (layer.num_heads, -1))
        values.append(torch.einsum("bshd,ehd->bhse", v, parts))

    hooks = [
        block.attention.register_forward_pre_hook(keep, with_kwargs=True)
        for block in model.eval().blocks
    ]
    model(tokens)
    for hook in hooks:
        hook.remove()
    return torch.cat(weights, dim=1), torch.cat(values, dim=1)


def repeats(text: Text, n: int, period: int, seed: int) -> Tensor:
    """Draw strings of random, distinct characters that start again after `period` of them, (n, 96)."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(n, len(text.characters), generator=generator).argsort(dim=-1)
    return order[:, :period].repeat(1, LARGE["longest"] // period + 1)[
        :, : LARGE["longest"]
    ]


@torch.no_grad()
def right_on_repeats(model: Writer, text: Text, period: int = 24) -> float:
    """Return the share of characters that a model predicts in the repetitions of random strings."""
    x = repeats(text, 64, period, seed=99_999)
    guesses = model.eval()(x)[:, period:-1].argmax(dim=-1)
    return float((guesses == x[:, period + 1 :]).double().mean())
