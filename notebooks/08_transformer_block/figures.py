"""The diagrams of lesson 8, and how programs learn. The notebook beside this file imports it."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from matplotlib.axes import Axes
from torch import Tensor

from autograder import plot
from autograder.plot.drawing import (
    BAR,
    CREAM,
    EDGE,
    INK,
    arrow,
    draw_mask,
    draw_matrix,
    label,
    new_figure,
    show,
)
from autograder.plot.drawing import block as draw_box

Answers = tuple[Sequence[float], Sequence[float], tuple[int, int]]
GUESS = math.log(10)
BROWN = "#a5522d"
LOSSES = {"one batch, again and again": ("-", INK), "new batches": ("--", BROWN)}

# lesson 1's weights for 28 january 1955, in percent: a row for each character that is written
LESSON_1 = (
    "0 1 2 1 0 0 0 0 0 0 0 0 96 1 0 0 0 0",
    "0 1 2 0 0 0 0 0 0 0 0 0 77 9 1 1 4 5",
    "0 0 0 0 0 0 0 0 0 0 0 0 1 97 0 0 0 0",
    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 50 16 18 16",
    "0 7 3 4 0 0 0 0 0 0 0 0 8 47 13 6 5 5",
    "1 2 0 1 59 15 10 0 3 2 2 1 1 1 0 0 0 0",
    "0 0 0 0 4 48 24 2 4 13 3 1 0 0 0 0 0 0",
    "2 16 2 11 5 4 1 0 0 0 1 1 12 19 9 6 5 5",
    "5 86 0 2 2 1 1 0 0 0 1 0 1 0 0 0 0 0",
    "0 98 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
)
BLOCK = {
    "x (B, L, E)": (0, 4.8),
    "norm1": (1.6, 4.16),
    "attention": (1.6, 3.36),
    "+": (0, 2.88),
    "norm2": (1.6, 2.24),
    "feed-forward": (1.6, 1.44),
    "+ ": (0, 0.96),
    "output (B, L, E)": (0, 0),
}
DECODER_BLOCK = {
    "x (B, L, E)": (0, 6.4),
    "norm1": (1.8, 5.92),
    "self-attention, causal": (1.8, 5.28),
    "+": (0, 4.8),
    "norm2": (1.8, 4.16),
    "cross-attention": (1.8, 3.52),
    "memory (B, S, E)": (4.4, 3.52),
    "+ ": (0, 3.04),
    "norm3": (1.8, 2.4),
    "feed-forward": (1.8, 1.76),
    "+  ": (0, 1.28),
    "output (B, L, E)": (0, 0.48),
}
READS, TOLD, WRITES = "28·january·1955", ("begin", *"1955-01-2"), "1955-01-28"
ENCODER = ("embed + place", "encoder block\nself-attention,\nfeed-forward", "norm")
DECODER = (
    "embed + place",
    "decoder block\ncausal self-attention,\ncross-attention,\nfeed-forward",
    "norm, linear",
)
DECODER_LEFT, WIDE = 7.7, 0.74  # where the decoder begins, and one of its characters


def block() -> None:
    """Draw the two branches of a pre-norm block beside the residual stream."""
    x, norm1, attention, first, norm2, network, second, output = BLOCK
    stream = [(x, first, 0.9), (first, second, 0.9), (second, output, 0.9)]
    branches = [(x, norm1), (norm1, attention), (attention, first)]
    branches += [(first, norm2), (norm2, network), (network, second)]
    plot.diagram(
        BLOCK,
        [*stream, *branches],
        "Two branches read the stream and add to it",
        marked=[attention, network],
        alt="On the left x runs straight down through two additions to the output. On the right two branches leave it "
        "and return: norm1 and attention to the first addition, norm2 and feed-forward to the second.",
    )


def decoder_block() -> None:
    """Draw the three branches of a pre-norm decoder block beside the residual stream."""
    names = iter(DECODER_BLOCK)
    x, norm1, back, first, norm2, across, memory, second = (
        next(names) for _ in range(8)
    )
    norm3, network, third, output = names
    corners = [(x, norm1, back, first), (first, norm2, across, second)]
    corners += [(second, norm3, network, third)]
    stream = [(x, first, 0.9), (first, second, 0.9), (second, third, 0.9)]
    plot.diagram(
        DECODER_BLOCK,
        [
            *stream,
            (third, output, 0.9),
            *(pair for corner in corners for pair in pairwise(corner)),
            (memory, across, 0.25, "keys, values"),
        ],
        "The middle branch asks the memory, the others ask the stream",
        marked=[across],
        alt="On the left x runs straight down through three additions to the output. Three branches leave and return: "
        "norm1 and causal self-attention, norm2 and cross-attention, norm3 and feed-forward. An arrow labeled keys, "
        "values leads from the memory to the cross-attention.",
    )


def encoder_and_decoder() -> None:
    """Draw the date translator: what is read on the left, what is written on the right."""
    figure = new_figure(7.5, 4.7)
    axes = figure.subplots()
    draw_column(axes, 0, 0.36, READS, ENCODER, "memory")
    draw_column(axes, DECODER_LEFT, WIDE, TOLD, DECODER, WRITES)
    mask = axes.inset_axes(
        (DECODER_LEFT + 6.15, 2.25, 1.1, 1.0), transform=axes.transData
    )
    draw_mask(mask, torch.ones(4, 4, dtype=torch.bool).tril(), fontsize=6)
    mask.set(xticks=[], yticks=[], aspect="auto")
    look = {"linewidth": 2.5, "mutation_scale": 14}
    arrow(axes, (5.4, 0.3), (DECODER_LEFT, 2.75), color=INK, **look)
    axes.text(6.6, 2.0, "keys,\nvalues", ha="right", va="center", fontsize=10)
    written, told = (DECODER_LEFT + WIDE * n for n in (8.5, 9.5))
    edge = told + 0.9  # right of the decoder
    path = [(written, 0), (written, -0.4), (edge, -0.4), (edge, 6.1), (told, 6.1)]
    axes.plot(*zip(*path, strict=True), "--", color=BROWN, linewidth=2)
    arrow(axes, path[-1], (told, 5.6), color=BROWN, **look)
    side = {"rotation": 90, "color": BROWN, "ha": "left", "va": "center"}
    axes.text(edge + 0.1, 2.8, "what was written is read next", fontsize=10, **side)
    axes.set(xlim=(-0.1, edge + 0.6), ylim=(-0.5, 6.3))
    axes.set_axis_off()
    title = "The encoder reads once, the decoder looks at what was read"
    figure.suptitle(title, fontsize=11)
    alt = "Left: the characters of 28 january 1955 are embedded and pass an encoder block and a norm. The result is "
    alt += "the memory, from which an arrow labeled keys, values leads to the decoder block. Right: the decoder reads "
    alt += "begin 1955-01-2 in ten boxes and writes 1955-01-28 in ten boxes below them, so that each character stands "
    alt += "below the one before it. Between them are an embedding, a decoder block with a causal mask, and a norm "
    alt += "with a linear layer. A dashed arrow leads from a written character to the next box that is read."
    show(figure, f"{title}. {alt}")


def draw_column(
    axes: Axes,
    left: float,
    wide: float,
    read: Sequence[str],
    parts: Sequence[str],
    result: Sequence[str],
) -> None:
    """Draw boxes with what is read, below them the parts that it passes, and at the bottom the result."""
    whole = wide * len(read)
    rows = {5.0: read, 0.0: [result] if result == "memory" else result}
    for y, texts in rows.items():
        each = whole / len(texts)
        for i, text in enumerate(texts):
            more = 0.25 if text == "begin" else 0  # a long word
            corner, size = (left + i * each - more, y), (each + more, 0.6)
            draw_box(axes, corner, size, CREAM, text, fontsize=10)
    draw_box(axes, (left, 2.1), (whole, 1.3), BAR, parts[1], fontsize=10)
    draw_box(axes, (left, 4.0), (whole, 0.5), CREAM, parts[0], fontsize=10)
    draw_box(axes, (left, 1.1), (whole, 0.5), CREAM, parts[2], fontsize=10)
    for top, bottom in ((5.0, 4.5), (4.0, 3.4), (2.1, 1.6), (1.1, 0.6)):
        middle = left + whole / 2
        arrow(axes, (middle, top), (middle, bottom))


def maps(weights: Tensor, written: str, read: str) -> None:
    """Draw where lesson 1's translator looks while it writes a date, and below it where another model does.

    Args:
        weights: of the other model, (10, 18). Keys that never get any are hatched.
        written: 10 characters.
        read: the characters of the date, without the padding.
    """
    recurrent = torch.tensor([[int(n) for n in row.split()] for row in LESSON_1]) / 100
    both = {"lesson 1: recurrent, 200 steps": recurrent, "the transformer": weights}
    figure = new_figure(7.5, 7.2)
    for axes, (name, matrix) in zip(figure.subplots(2, 1), both.items(), strict=True):
        draw_matrix(axes, matrix, "weights", matrix.sum(dim=0) > 0)
        label(axes, list(written), list(read.ljust(18).replace(" ", "·")))
        axes.set_title(name, fontsize=10)
        axes.set_ylabel("written")
    axes.set_xlabel("read")
    title = f"{read} becomes {written}: both models look mostly at the same parts"
    figure.suptitle(title, fontsize=11)
    alt = "Two maps, a row for each character that is written. While they write the year both models look at the year. "
    alt += "For the month they look at the letters of the name, and for the day at the day: the recurrent translator "
    alt += "at the 8 for both digits, the transformer at the 2 for the 2. It gives nothing to the padding, which is "
    alt += "hatched."
    show(figure, f"{title}. {alt}")


def examined(title: str, **programs: Answers) -> None:
    """Draw how programs learn one batch by heart and how they learn from new ones, a panel for each program.

    Args:
        title: the claim that the figure makes.
        programs: for each name the losses on one batch and on new ones, step by step, and how many of how many
            parameters move.
    """
    down = across = 1 if len(programs) == 1 else 2
    figure = new_figure(5.5, 3.0 if down == 1 else 4.8)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    alt = []
    for axes, (name, answers) in zip(grid.flatten(), programs.items(), strict=True):
        one, new, (moved, every) = answers
        draw_losses(axes, one, new)
        start = f"{name}: starts at {one[0]:.2f}, {moved} of {every} move"
        axes.set_title(start, fontsize=10)
        alt.append(f"{start}, ends at {one[-1]:.2f} on one batch, {new[-1]:.2f} on new")
    for axes in grid[-1]:
        axes.set_xlabel("steps")
    for axes in grid[:, 0]:
        axes.set_ylabel("loss")
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {'; '.join(alt)}.")


def draw_losses(axes: Axes, one: Sequence[float], new: Sequence[float]) -> None:
    """Draw the two losses of a program, step by step, with the last number of each beside its end."""
    axes.axhline(GUESS, linestyle=":", color=EDGE, label="a guess")
    for losses, up, (name, (dash, color)) in zip(
        (one, new), (-5, 5), LOSSES.items(), strict=True
    ):
        axes.plot(losses, dash, color=color, label=name)
        end = (len(losses) - 1, losses[-1])
        words = {"textcoords": "offset points", "va": "center", "fontsize": 9}
        axes.annotate(f"{losses[-1]:.2f}", end, (4, up), color=color, **words)
    axes.set(xlim=(0, 120), ylim=(-0.4, 3.2), xticks=(0, 50, 100), yticks=range(4))
