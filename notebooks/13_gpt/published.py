"""Published weights for lesson 13: an example, GPT-2 where it was fetched, and its tokens. The notebook imports it."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

EXAMPLE = Path("published.safetensors")  # beside the notebook
HEADS = 12  # of GPT-2 small
PIECE = re.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+"
)
Split = Callable[[str, Sequence[tuple[str, str]]], list[str]]


def example() -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Return random weights as GPT-2's are published, tokens (B, L), and the logits (B, L, vocab_size) for them.

    The model has two heads. The logits are those of the library transformers, which also drew the weights.
    """
    weights = load_file(EXAMPLE)
    return weights, weights.pop("tokens"), weights.pop("logits")


def gpt2() -> Path | None:
    """Return the folder with GPT-2's files if `lessons gpt2` has fetched them, else None."""
    try:
        from autograder.student.gpt2 import folder, missing
    except (
        ModuleNotFoundError
    ):  # where submissions are graded there is nothing to fetch
        return None
    return None if missing(folder()) else folder()


def weights_in(folder: Path) -> dict[str, Tensor]:
    """Return GPT-2's weights, as they were published."""
    return load_file(folder / "model.safetensors")


def byte_characters() -> dict[int, str]:
    """Return the printable character that stands for each byte in GPT-2's tokens.

    Printable bytes stand for themselves, and the others, such as the space, for characters from 256 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + n) for n, byte in enumerate(others)
    }


class Tokens:
    """GPT-2's tokens: a text as bytes, the bytes as characters, and characters merged by a split_word.

    Args:
        folder: where merges.txt and vocab.json are.
        split_word: exercise 13.2.
    """

    def __init__(self, folder: Path, split_word: Split) -> None:
        lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
        pairs = (
            tuple(line.split(" ")) for line in lines if not line.startswith("#version")
        )
        self.merges: list[tuple[str, str]] = [pair for pair in pairs if len(pair) == 2]
        self.numbers: dict[str, int] = json.loads(
            (folder / "vocab.json").read_text(encoding="utf-8")
        )
        self._tokens = {number: token for token, number in self.numbers.items()}
        self._characters = byte_characters()
        self._split = lru_cache(maxsize=None)(
            lambda word: split_word(word, self.merges)
        )

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        words = (
            "".join(self._characters[byte] for byte in piece.encode())
            for piece in PIECE.findall(text)
        )
        return [self.numbers[token] for word in words for token in self._split(word)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Return the text of some tokens; bytes that are no whole character become a question mark in a diamond."""
        bytes_of = {character: byte for byte, character in self._characters.items()}
        characters = "".join(self._tokens[number] for number in numbers)
        return bytes(bytes_of[c] for c in characters).decode(errors="replace")


@torch.no_grad()
def head_weights(model: nn.Module, tokens: Tensor, num_heads: int) -> Tensor:
    """Return the attention weights of every head of a GPT, (B, layers * heads, L, L), for tokens (B, L)."""
    inputs: list[Tensor] = []
    hooks = [
        block.attention.register_forward_pre_hook(
            lambda _, given: inputs.append(given[0])
        )
        for block in model.eval().blocks
    ]
    model(tokens)
    for hook in hooks:
        hook.remove()
    hidden = torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).triu(1)
    weights = []
    for block, x in zip(model.blocks, inputs, strict=True):
        q, k = (
            layer(x).unflatten(-1, (num_heads, -1)).transpose(1, 2)
            for layer in (block.attention.q_proj, block.attention.k_proj)
        )
        scores = q @ k.mT / q.size(-1) ** 0.5
        weights.append(scores.masked_fill(hidden, -torch.inf).softmax(dim=-1))
    return torch.cat(weights, dim=1)


@torch.no_grad()
def write(
    model: nn.Module,
    tokens: Tokens,
    start: str,
    length: int,
    probabilities: Callable[[Tensor], Tensor],
    seed: int = 0,
) -> str:
    """Continue a text by some tokens, each drawn from what probabilities makes of the last logits, (V,) to (V,)."""
    generator, numbers = torch.Generator().manual_seed(seed), tokens.encode(start)
    for _ in range(length):
        logits = model.eval()(torch.tensor([numbers]))[0, -1]
        drawn = torch.multinomial(probabilities(logits), 1, generator=generator)
        numbers.append(int(drawn))
    return tokens.decode(numbers)
