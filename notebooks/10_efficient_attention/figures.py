"""The figures of lesson 10: what is kept, which heads share it, and attention block by block."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from autograder import plot
from autograder.plot.drawing import (
    BAR,
    CREAM,
    EDGE,
    KEY,
    PAPER,
    QUERY,
    VALUE,
    block,
    chip,
    new_figure,
    show,
    tint,
)

HEADS = 6
BLOCK = 2  # keys at a time
GAP = 0.7  # between the scores and what is kept, in cells


def cache() -> None:
    """Draw what a new token needs: the keys and values of all tokens, but only its own query."""
    keys = {f"k{i}": (1.5 * i, 2) for i in range(4)}
    values = {f"v{i}": (1.5 * i, 1) for i in range(4)}
    asks = [("q3", key) for key in keys]
    mixes = [(value, "output 3") for value in values]
    plot.diagram(
        keys | values | {"q3": (4.5, 3), "output 3": (4.5, 0)},
        [*asks, *mixes],
        "A new token asks all keys and mixes all values, and the old ones were kept",
        roles=dict.fromkeys(keys, "key")
        | dict.fromkeys(values, "value")
        | {"q3": "query"},
        notes=dict.fromkeys([*keys][:3], "kept") | {"k3": "new"},
        alt="A row of four keys and below it a row of their values, of which the first three pairs are kept and the "
        "last is new. The query of the new token, q3, has an arrow to each key, and each value has one to its output.",
    )


def groups(sets_of: Sequence[int]) -> None:
    """Draw which heads share keys and values, for several numbers of sets."""
    figure = new_figure(7.5, 3.0)
    for axes, sets in zip(figure.subplots(1, len(sets_of)), sets_of, strict=True):
        for head in range(HEADS):
            block(axes, (head, 2.6), (0.8, 0.6), QUERY, f"q{head}")
            middle = (head // (HEADS // sets) + 0.5) * HEADS / sets - 0.1
            axes.plot([head + 0.4, middle], [2.6, 1.4], color=EDGE, linewidth=1.5)
        for n in range(sets):
            left = (n + 0.5) * HEADS / sets - 0.5
            block(axes, (left, 0.8), (0.8, 0.6), KEY, f"k{n}")
            block(axes, (left, 0.2), (0.8, 0.6), VALUE, f"v{n}")
        axes.set(xlim=(-0.2, HEADS), ylim=(-0.1, 3.4))
        axes.set_axis_off()
        name = {HEADS: "multi-head", 1: "multi-query"}.get(sets, "grouped-query")
        room = f"{sets} of {HEADS} sets, {sets / HEADS:.0%} of the cache"
        axes.set_title(f"{name}\n{room}", fontsize=10)
    title = "Each head keeps its own query, and several may share a key and a value"
    figure.suptitle(title, fontsize=11)
    alt = "Three panels with the queries of six heads above and sets of a key and a value below. On the left each head "
    alt += "is joined to a set of its own. In the middle heads 0 to 2 share set 0 and heads 3 to 5 share set 1. On the "
    alt += "right all six heads share one set."
    show(figure, f"{title}. {alt}")


def blocks(scores: Tensor, values: Tensor) -> None:
    """Draw blockwise attention step by step: the scores that exist, and what is kept of all blocks so far.

    Args:
        scores: (L, S).
        values: (S, 2).
    """
    ends = range(BLOCK, scores.size(1) + 1, BLOCK)
    figure = new_figure(7.5, 1.5 * len(ends) + 0.7)
    largest = torch.full((len(scores), 1), -torch.inf)
    for axes, end in zip(figure.subplots(len(ends), 1), ends, strict=True):
        before, largest = largest, scores[:, :end].amax(dim=-1, keepdim=True)
        shares = (scores[:, :end] - largest).exp()
        total, mix = shares.sum(dim=-1, keepdim=True), shares @ values[:end]
        draw_scores(axes, scores, end)
        kept = torch.cat([largest, total, mix], dim=-1)
        draw_kept(axes, scores.size(1) + GAP, kept, (before < largest) & (end > BLOCK))
        axes.set_title(f"keys {end - BLOCK} and {end - 1}", fontsize=10, loc="left")
    title = "Scores exist for two keys at a time, and three things are kept per query"
    figure.suptitle(title, fontsize=11)
    figure.supxlabel("hatched: no longer there, dark: has just grown", fontsize=9)
    outputs = ", ".join(f"[{a:.2f}, {b:.2f}]" for a, b in (mix / total).tolist())
    alt = "One panel per block of two keys. In each, only the scores of that block are written. Those of earlier "
    alt += "blocks are hatched, later ones empty. Beside them are the largest score so far, the sum and the mix of "
    alt += f"each query. After the last block, mix divided by sum is {outputs}."
    show(figure, f"{title}. {alt}")


def draw_scores(axes: Axes, scores: Tensor, end: int) -> None:
    """Draw the table of scores as it is when the block before `end` is there."""
    for j in range(scores.size(1)):
        axes.text(
            j + 0.5, -0.1, f"k{j}", ha="center", va="bottom", fontsize=9, bbox=chip(KEY)
        )
        for i in range(len(scores)):
            if end - BLOCK <= j < end:
                block(axes, (j, i), (1, 1), tint(BAR), f"{float(scores[i, j]):g}")
            else:
                block(axes, (j, i), (1, 1), PAPER, hatch="///" if j < end else "")
    axes.set(xlim=(-0.1, scores.size(1) + 6), ylim=(len(scores) + 0.1, -0.9), xticks=[])
    axes.set_yticks(
        [i + 0.5 for i in range(len(scores))], [f"q{i}" for i in range(len(scores))]
    )
    for name in axes.get_yticklabels():
        name.set_bbox(chip(QUERY))
    axes.tick_params(length=0, pad=8)
    axes.spines[:].set_visible(False)


def draw_kept(axes: Axes, left: float, kept: Tensor, grown: Tensor) -> None:
    """Draw what is kept of each query. A largest score that has just grown is dark."""
    for n, name in ((0, "largest"), (1.2, "sum")):
        axes.text(left + n + 0.5, -0.1, name, ha="center", va="bottom", fontsize=9)
    axes.text(left + 3.5, -0.1, "mix of values", ha="center", va="bottom", fontsize=9)
    for i, row in enumerate(kept.tolist()):
        for n, (x, number) in enumerate(zip((0, 1.2, 2.4, 3.5), row, strict=True)):
            color = tint(VALUE) if n > 1 else BAR if n == 0 and grown[i] else CREAM
            block(
                axes,
                (left + x, i),
                (1.1, 1),
                color,
                f"{number:.2f}" if n else f"{number:g}",
            )
