"""The figures of lesson 6. The notebook beside this file imports it."""

import torch
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from autograder import plot
from autograder.plot.drawing import (
    BAR,
    CREAM,
    EDGE,
    block,
    show,
)

WANTED = "#a5522d"
STEPS = {
    "query (B, L, E)": (0, 6),
    "key (B, S, E)": (2.2, 6),
    "value (B, S, E)": (4.4, 6),
    "q_proj": (0, 5),
    "k_proj": (2.2, 5),
    "v_proj": (4.4, 5),
    "split (B, H, L, D)": (0, 4),
    "split (B, H, S, D)": (2.2, 4),
    "split (B, H, S, D) ": (4.4, 4),
    "scores / √D, mask, softmax (B, H, L, S)": (1.1, 3),
    "mix the values (B, H, L, D)": (2.2, 2),
    "merge (B, L, E)": (2.2, 1),
    "out_proj (B, L, E)": (2.2, 0),
}


def module() -> None:
    """Draw the way of the data through a multi-head attention module, with shapes."""
    names = list(STEPS)
    columns = [(names[i], names[i + 3]) for i in range(6)]
    weights, mixed, merged, out = names[9:]
    arrows = [
        (names[6], weights),
        (names[7], weights),
        (weights, mixed),
        (names[8], mixed),
    ]
    plot.diagram(
        STEPS,
        [*columns, *arrows, (mixed, merged), (merged, out)],
        "The module: dark boxes hold what is learned",
        roles=dict(
            zip((*names[:3], *names[6:9]), ("query", "key", "value") * 2, strict=True)
        ),
        marked=["q_proj", "k_proj", "v_proj", out],
        alt="Query, key and value each pass through a projection and are split into heads. Queries and keys meet in a "
        "table of weights per head, the weights mix the values, the heads are merged, and out_proj mixes across them. "
        "The four projections, drawn dark, are all that is learned.",
    )


def cut() -> None:
    """Draw which head gets which entries of five tokens: by a split with a swap, and by a single view."""
    colors = (CREAM, "#a5a5a5", BAR)
    figure = Figure(figsize=(7.5, 2.7), layout="constrained")
    panels = (
        ("as it should be: a part of every token", lambda n: n % 12 // 4),
        ("a single view: a part of the sequence", lambda n: n // 20),
    )
    for axes, (title, head_of) in zip(figure.subplots(1, 2), panels, strict=True):
        for n in range(60):
            block(axes, (n % 12, n // 12), (1, 1), colors[head_of(n)], str(n))
        axes.set(
            xlim=(0, 12), ylim=(5, 0), xticks=[], yticks=[y + 0.5 for y in range(5)]
        )
        axes.set_yticklabels([f"token {y}" for y in range(5)], fontsize=9)
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=10)
    heads = [
        Patch(facecolor=c, edgecolor=EDGE, label=f"head {h}")
        for h, c in enumerate(colors)
    ]
    figure.legend(
        handles=heads, loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
    alt = "Five tokens of twelve entries, numbered from 0 to 59. On the left each head gets four columns, so four "
    alt += "entries of every token. On the right head 0 gets entries 0 to 19, which are all of token 0 and most of "
    alt += "token 1, head 1 gets 20 to 39, and head 2 gets 40 to 59."
    show(figure, f"Which head gets which entry. {alt}")


def no_peak() -> None:
    """Draw why no matrix names the digit whose weight is one third: a logit is a straight line in the weight."""
    weights = torch.tensor([0, 1 / 3, 2 / 3])
    figure = Figure(figsize=(6.6, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(weights, [0.0, 1.0, 0.0], "--", color=WANTED, linewidth=2)
    axes.plot(weights[1], 1.0, "*", color=WANTED, markersize=15)
    words = {"textcoords": "offset points", "fontsize": 10, "va": "bottom"}
    wanted = "wanted: highest at ⅓"
    axes.annotate(wanted, (1 / 3, 1), (0, 10), ha="center", color=WANTED, **words)
    axes.plot(weights, [0.45] * 3, color=BAR, linewidth=2)
    level = "equally high\neverywhere"
    axes.annotate(level, (2 / 3, 0.45), (8, -12), color=BAR, **words)
    for slope, top, side, name in (
        (1.0, 2, "right", "highest at ⅔:\nnames the first digit"),
        (-1.0, 0, "left", "highest at 0:\nnames an absent digit"),
    ):
        logits = 0.45 + slope * (weights - 1 / 3)
        axes.plot(weights, logits, color=BAR, linewidth=2)
        end = (float(weights[top]), float(logits[top]))
        axes.plot(*end, "o", color=BAR, markersize=9)
        axes.annotate(name, end, (0, 8), ha=side, color=BAR, **words)
    axes.set(xlim=(-0.05, 0.85), ylim=(-0.1, 1.3), yticks=[])
    axes.set_xticks(weights, ["0\nabsent", "⅓\nsecond digit", "⅔\nfirst digit"])
    axes.set(xlabel="weight of a digit in the mixture", ylabel="logit of the digit")
    axes.set_title("A straight line is never highest in the middle", fontsize=11)
    alt = "The logit of a digit over its weight, at 0, one third and two thirds. A dashed line shows what the second "
    alt += "digit needs, a peak at one third. Of three straight lines the rising one is highest at two thirds, the "
    alt += "falling one at 0, which circles mark, and the level one is equally high everywhere."
    show(figure, f"A straight line is never highest in the middle. {alt}")
