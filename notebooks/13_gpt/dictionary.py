"""The text of lesson 13: definitions of English words, one per line, as tokens. The notebook imports it.

The definitions are those of WordNet 3.0; `pretrain.py` says which. definitions.txt.xz begins with WordNet's license.
"""

import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from byte_pairs import merge

DEFINITIONS, MERGES = (
    Path("definitions.txt.xz"),
    Path("merges.txt"),
)  # beside the notebook
END = "\n"  # the token that begins and ends a line
PIECE = re.compile(r" ?[A-Za-z]+| ?[0-9]| ?[^A-Za-z0-9 ]")


def pieces(line: str) -> list[str]:
    """Return a line as words, numerals and marks. Each has the space before it, and the first one gets a space."""
    return PIECE.findall(f" {line}")


def word_counts(lines: Iterable[str]) -> Counter[str]:
    """Return how often each piece occurs in the lines."""
    return Counter(piece for line in lines for piece in pieces(line))


def is_seen(line: str) -> bool:
    """Return whether a model may learn from a line: one word in twenty, chosen by its checksum, is kept for tests."""
    word = line.split(":")[0]
    return zlib.crc32(word.encode()) % 20 != 0


class Dictionary:
    """The lines to learn from (`seen`), those to be judged by (`unseen`), and the tokens of both.

    Args:
        lines: the text, line by line; by default the definitions.
        merges: the byte pairs that were learned from it, in order.
    """

    def __init__(
        self,
        lines: Sequence[str] = (),
        merges: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.license, self.lines = ("", list(lines)) if lines else definitions()
        self.seen = [line for line in self.lines if is_seen(line)]
        self.unseen = [line for line in self.lines if not is_seen(line)]
        self.merges = list(merges) if lines else read_merges()
        characters = sorted(set(" ".join(self.lines)))
        self.tokens = [END, *characters, *(a + b for a, b in self.merges)]
        self._numbers = {token: number for number, token in enumerate(self.tokens)}
        self._ranks = {merge: rank for rank, merge in enumerate(self.merges)}
        self._split: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, without END."""
        return [number for piece in pieces(text) for number in self._of_piece(piece)]

    def decode(self, numbers: Iterable[int]) -> str:
        """Return the text of tokens, without END and without the space before its first word."""
        text = "".join(self.tokens[number] for number in numbers)
        return text.replace(END, "").removeprefix(" ")

    def row(self, line: str) -> list[int]:
        """Return the numbers of a whole line, with END on both sides."""
        end = self._numbers[END]
        return [end, *self.encode(line), end]

    def _of_piece(self, piece: str) -> list[int]:
        if piece not in self._split:
            symbols = list(piece)
            while pairs := set(pairwise(symbols)) & self._ranks.keys():
                symbols = merge(symbols, min(pairs, key=self._ranks.__getitem__))
            self._split[piece] = [self._numbers[symbol] for symbol in symbols]
        return self._split[piece]


def definitions() -> tuple[str, list[str]]:
    """Return WordNet's license, and its definitions, one per line."""
    text = lzma.decompress(DEFINITIONS.read_bytes()).decode("ascii")
    license_text, lines = text.split("\n\n", 1)
    return license_text, lines.splitlines()


def read_merges() -> list[tuple[str, str]]:
    """Return the merges that were learned from the seen lines, in order."""
    lines = MERGES.read_text(encoding="ascii").splitlines()
    return [tuple(line.replace("_", " ").split("|")) for line in lines]


class Quotations:
    """Finds what written definitions have in common with the lines that a model has learned from."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = list(lines)
        self._text = "".join(f" {line} \n" for line in self._lines)
        self._definitions = {tuple(words_of(line)) for line in self._lines}
        self._words = {word for words in self._definitions for word in words}

    def nearest(self, line: str) -> tuple[str, str]:
        """Return the line with the longest run of words of a definition, and that run.

        Of several runs or lines, the first one counts. Only what comes after the colon is compared.
        """
        words = words_of(line)
        for length in range(len(words), 0, -1):
            for start in range(len(words) - length + 1):
                run = " ".join(words[start : start + length])
                position = self._text.find(f" {run} ")
                if position >= 0:
                    return self._lines[self._text.count("\n", 0, position)], run
        return "", ""

    def shares(self, lines: Iterable[str]) -> tuple[float, float, float]:
        """Return three shares of written lines.

        They are the share of words that occur in any line, the mean share of a definition that its longest run is,
        and the share of definitions that are a line's own, word for word.
        """
        lines = list(lines)
        words = [words_of(line) for line in lines]
        known = [word in self._words for definition in words for word in definition]
        runs = [
            len(self.nearest(line)[1].split()) / max(len(definition), 1)
            for line, definition in zip(lines, words, strict=True)
        ]
        whole = [tuple(definition) in self._definitions for definition in words]
        return tuple(sum(part) / max(len(part), 1) for part in (known, runs, whole))


def words_of(line: str) -> list[str]:
    """Return the words after a line's colon."""
    return line.partition(":")[2].split()
