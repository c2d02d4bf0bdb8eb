"""Byte pairs: one merge, and a text as tokens with the merges of somebody else. The notebook imports it."""

from collections.abc import Sequence


def merge(tokens: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Return tokens with a pair of neighbors as one token wherever it occurs, from left to right."""
    merged: list[str] = []
    i = 0
    while i < len(tokens):
        size = 2 if tuple(tokens[i : i + 2]) == tuple(pair) else 1
        merged.append("".join(tokens[i : i + size]))
        i += size
    return merged
