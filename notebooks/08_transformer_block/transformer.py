"""What the transformer of lesson 8 needs beside its own code: dates, PyTorch's blocks, and how to measure it.

The notebook beside this file imports it.
"""

import time
from collections.abc import Callable
from typing import Any

import torch
import translator
from torch import Tensor, nn
from translator import CHARACTERS, dates, to_ids, to_text

__all__ = ["BEGIN", "CHARACTERS", "dates", "to_ids", "to_text"]

WRITTEN = 10
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


def not_padding(x: Tensor) -> Tensor:
    """Return which places of the dates x (B, S) are not padding, (B, 1, 1, S): those up to the last character."""
    places = torch.arange(x.size(1))
    lengths = (places * (x != BLANK)).amax(dim=-1) + 1
    return (places < lengths[:, None])[:, None, None]


@torch.no_grad()
def written_by(model: nn.Module, x: Tensor) -> Tensor:
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
        return (weights[:, None] @ states).squeeze(1), weights

    return translator.train(
        dates, len(CHARACTERS), look, steps=steps, rate=0.01, seed=seed
    )


def accuracy(model: nn.Module) -> float:
    """Return the share of 500 new dates that either translator writes without a mistake, on its own."""
    if isinstance(model, translator.Translator):
        return translator.accuracy(model, dates)
    x, y = dates(500, 99_999)
    return float((written_by(model, x) == y).all(dim=-1).double().mean())


def cross_attention(model: nn.Module, x: Tensor) -> Tensor:
    """Return where a model with PyTorch's blocks looks while it writes, (B, heads, 10, S)."""
    return weights_of(model.decoder.multihead_attn, model, x)


def weights_of(layer: nn.MultiheadAttention, model: nn.Module, x: Tensor) -> Tensor:
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
