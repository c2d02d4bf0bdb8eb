"""The diagrams of lesson 13. The notebook imports it by way of `given`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from autograder import plot

WHOLE = {
    "tokens (B, L)": (0, 6),
    "token embedding (V, E)": (0, 5),
    "+ position embedding (B, L, E)": (0, 4),
    "num_layers blocks, causal mask (B, L, E)": (0, 3),
    "norm (B, L, E)": (0, 2),
    "× the same matrix, transposed (E, V)": (0, 1),
    "logits (B, L, V)": (0, 0),
}


def whole_model() -> None:
    """Draw the model from tokens to logits, with the shape after each part."""
    names = list(WHOLE)
    plot.diagram(
        WHOLE,
        list(pairwise(names)),
        "One matrix, drawn dark, reads the tokens and writes the logits",
        marked=["token embedding (V, E)", "× the same matrix, transposed (E, V)"],
        alt="From top to bottom: tokens become vectors by the token embedding and the position embedding, pass the "
        "blocks and a norm, and are multiplied by the matrix of the token embedding once more, which gives the logits.",
    )


def merge_tree(word: str, merges: Sequence[tuple[str, str]]) -> None:
    """Draw how a word becomes tokens. Of the merges that fit, the one that was learned first is made first.

    Args:
        word: a word without the space before it, which is drawn as a dot.
        merges: the pairs that were learned, in order.
    """
    boxes = {  # equal letters have boxes of their own
        dotted(character) + " " * i: (0.8 * i, 0.0)
        for i, character in enumerate(f" {word}")
    }
    arrows, row = [], [(name.strip().replace("·", " "), name) for name in boxes]
    ranks = {pair: rank for rank, pair in enumerate(merges, 1)}
    while known := [
        (ranks[a, b], i)
        for i, ((a, _), (b, _)) in enumerate(pairwise(row))
        if (a, b) in ranks
    ]:
        rank, i = min(known)
        (a, left), (b, right) = row[i : i + 2]
        name = f"{dotted(a + b)}\nmerge {rank}"
        row[i : i + 2] = [(a + b, name)]
        arrows += [(left, name), (right, name)]
        (x1, y1), (x2, y2) = boxes[left], boxes[right]
        boxes[name] = ((x1 + x2) / 2, min(y1, y2) - 1)
    draw_tree(word, boxes, arrows, row)


def draw_tree(
    word: str,
    boxes: Mapping[str, tuple[float, float]],
    arrows: Sequence[tuple[str, str]],
    row: Sequence[tuple[str, str]],
) -> None:
    """Draw a tree, in which row has each token with the name of its box."""
    merged = [name.replace("\nmerge", ", merge") for name in boxes if "merge" in name]
    tokens = [dotted(token) for token, _ in row]
    plot.diagram(
        boxes,
        arrows,
        f"{len(merged)} merges turn {word} into {len(row)} tokens, drawn dark",
        marked=[name for _, name in row],
        alt="At the top are the characters, below them what is merged of two neighbors: "
        f"{'; '.join(merged)}. The tokens are {', '.join(tokens)}.",
    )


def dotted(token: str) -> str:
    """Return a token with a dot for its space."""
    return token.replace(" ", "·")
