"""The diagrams of lesson 8, and how programs learn. The notebook beside this file imports it."""

import math
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from autograder import plot
from autograder.plot.drawing import EDGE, INK, new_figure, show

Answers = tuple[Sequence[float], Sequence[float], tuple[int, int]]
GUESS = math.log(10)
LOSSES = {"one batch, again and again": ("-", INK), "new batches": ("--", "#a5522d")}

BLOCK = {
    "x (B, L, E)": (0, 6),
    "norm1": (1.6, 5.2),
    "attention": (1.6, 4.2),
    "+": (0, 3.6),
    "norm2": (1.6, 2.8),
    "feed-forward": (1.6, 1.8),
    "+ ": (0, 1.2),
    "output (B, L, E)": (0, 0),
}
DECODER_BLOCK = {
    "x (B, L, E)": (0, 8),
    "norm1": (1.8, 7.4),
    "self-attention, causal": (1.8, 6.6),
    "+": (0, 6),
    "norm2": (1.8, 5.2),
    "cross-attention": (1.8, 4.4),
    "memory (B, S, E)": (4.4, 4.4),
    "+ ": (0, 3.8),
    "norm3": (1.8, 3),
    "feed-forward": (1.8, 2.2),
    "+  ": (0, 1.6),
    "output (B, L, E)": (0, 0.6),
}
WHOLE = {
    "28 january 1955": (0, 5),
    "embed + place": (0, 4),
    "encoder block": (0, 3),
    "norm → memory": (0, 2),
    "begin 1955-01-2": (3, 4),
    "embed + place ": (3, 3),
    "decoder block": (3, 2),
    "norm, linear": (3, 1),
    "1955-01-28": (3, 0),
}


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
    names = list(WHOLE)
    left, right = names[:4], names[4:]
    plot.diagram(
        WHOLE,
        [
            *pairwise(left),
            *pairwise(right),
            (left[-1], "decoder block", 0.5, "keys, values"),
        ],
        "The encoder reads once, the decoder looks at what was read",
        marked=["encoder block", "decoder block"],
        alt="Left: the date as people write it is embedded, passes an encoder block and a norm, and becomes the "
        "memory, from which an arrow labeled keys, values leads to the decoder block. "
        "Right: the characters written so far are embedded and pass a decoder block, which also looks at the memory; "
        "a norm and a linear layer give the next character.",
    )


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
