"""The date translator of lesson 8: a transformer, after Vaswani et al. 2017.

The notebook beside this file imports it.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
import translator
from torch import Tensor, nn
from torch.nn import functional
from translator import CHARACTERS, LONGEST_DATE, dates, to_ids, to_text

__all__ = ["BEGIN", "CHARACTERS", "Transformer", "dates", "to_ids", "to_text", "train"]

WIDTH, HEADS, HIDDEN, WRITTEN = 64, 4, 128, 10
BEGIN = len(CHARACTERS)
BLANK = CHARACTERS.index(" ")


class TorchBlock(nn.TransformerEncoderLayer):
    """PyTorch's pre-norm encoder layer, with the arguments and the masks of this course: True = may attend."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__(
            d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=True
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E) and a padding mask (B, 1, 1, L)."""
        return super().forward(x, src_key_padding_mask=~mask[:, 0, 0])


class TorchDecoderBlock(nn.TransformerDecoderLayer):
    """PyTorch's pre-norm decoder layer, with the arguments and the masks of this course."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__(
            d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=True
        )

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor, memory_mask: Tensor
    ) -> Tensor:
        """Return (B, L, E) for x (B, L, E), memory (B, S, E), masks (L, L) and (B, 1, 1, S)."""
        return super().forward(
            x, memory, ~self_mask, memory_key_padding_mask=~memory_mask[:, 0, 0]
        )


class Transformer(nn.Module):
    """Reads a date with one encoder block and writes it with one decoder block.

    Args:
        block: makes an encoder block from d_model, num_heads and d_ff.
        decoder_block: makes a decoder block from the same.
    """

    def __init__(
        self,
        block: Callable[..., nn.Module] = TorchBlock,
        decoder_block: Callable[..., nn.Module] = TorchDecoderBlock,
    ) -> None:
        super().__init__()
        self.causal = True
        self.embed = nn.Embedding(len(CHARACTERS) + 1, WIDTH)  # one more: "begin"
        self.read_place = nn.Embedding(LONGEST_DATE, WIDTH)
        self.write_place = nn.Embedding(WRITTEN, WIDTH)
        self.encoder = block(WIDTH, HEADS, HIDDEN)
        self.decoder = decoder_block(WIDTH, HEADS, HIDDEN)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, len(CHARACTERS))

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the memory (B, S, E) of x (B, S), and which of its places are not padding, (B, 1, 1, S)."""
        places = torch.arange(x.size(1))
        lengths = (places * (x != BLANK)).amax(dim=-1) + 1
        mask = (places < lengths[:, None])[:, None, None]
        return self.encoder_norm(
            self.encoder(self.embed(x) + self.read_place(places), mask)
        ), mask

    def write(self, tokens: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Return logits (B, T, characters): what comes after each of the tokens (B, T)."""
        places = torch.arange(tokens.size(1))
        causal = (places[:, None] >= places) | (not self.causal)
        x = self.embed(tokens) + self.write_place(places)
        return self.out(self.decoder_norm(self.decoder(x, memory, causal, memory_mask)))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return logits (B, 10, characters) for x (B, 18), told the right previous characters: teacher forcing."""
        begin = torch.full_like(y[:, :1], BEGIN)
        return self.write(torch.cat([begin, y[:, :-1]], dim=1), *self.encode(x))


def train(model: Transformer, steps: int, causal: bool = True) -> Transformer:
    """Train a transformer on batches of 64 dates; with causal=False its decoder may look ahead, which is a mistake."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=30)
    model.causal = causal
    for step in range(steps):
        x, y = dates(64, step)
        loss = functional.cross_entropy(model(x, y).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warm_up.step()
    return model.eval()


@torch.no_grad()
def written_by(model: Transformer, x: Tensor) -> Tensor:
    """Return what a model writes on its own, (B, 10).

    It guesses all characters at once, ten times, each time told its last guess: since no character depends on a later
    one, the first n are final after n rounds.
    """
    y = torch.zeros(len(x), WRITTEN, dtype=torch.long)
    for _ in range(WRITTEN):
        y = model(x, y).argmax(dim=-1)
    return y


def seconds(call: Callable[[], nn.Module]) -> tuple[nn.Module, float]:
    """Return what a call returns, and the processor time that it took."""
    start = time.process_time()
    return call(), time.process_time() - start


def recurrent(steps: int, seed: int = 0) -> nn.Module:
    """Train lesson 1's translator, with its attention, on the same dates."""

    def look(score: nn.Module, state: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        pairs = torch.cat([state[:, None].expand_as(states), states], dim=-1)
        weights = score(pairs).squeeze(-1).softmax(dim=-1)  # (B, S)
        return weights, (weights[:, None] @ states).squeeze(1)

    return translator.train(
        dates, len(CHARACTERS), look, steps=steps, rate=0.01, seed=seed
    )


def accuracy(model: nn.Module) -> float:
    """Return the share of 500 new dates that either translator writes without a mistake, on its own."""
    if isinstance(model, translator.Translator):
        return translator.accuracy(model, dates)
    x, y = dates(500, 99_999)
    return float((written_by(model, x) == y).all(dim=-1).double().mean())


def cross_attention(model: Transformer, x: Tensor) -> Tensor:
    """Return where a model with PyTorch's blocks looks while it writes, (B, heads, 10, S)."""
    return weights_of(model.decoder.multihead_attn, model, x)


def weights_of(layer: nn.MultiheadAttention, model: Transformer, x: Tensor) -> Tensor:
    """Return the weights in one attention layer while a model reads x and writes."""
    seen: dict[str, Any] = {}
    hook = layer.register_forward_pre_hook(
        lambda _, args, options: seen.update(args=args, options=options),
        with_kwargs=True,
    )
    model(x, written_by(model, x))
    hook.remove()
    options = {**seen["options"], "need_weights": True, "average_attn_weights": False}
    return layer(*seen["args"], **options)[1].detach()
