"""The figures of lesson 3. The notebook beside this file imports it."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from torch import Tensor

from autograder.plot.drawing import (
    BAR,
    EDGE,
    INK,
    KEY,
    QUERY,
    VALUE,
    arrow,
    chip,
    new_figure,
    show,
)
from autograder.plot.matrices import name_ends

Case = tuple[Tensor, Tensor, Tensor]
DASHES = {"unscaled": "-", "over √d": "--"}  # of the softmax of the way forward
COLORS = {"unscaled": BAR, "over √d": "#a5522d"}  # of that of the way back
PASSES = {  # which softmax a model uses forward and backward
    "unscaled": ("unscaled", "unscaled"),
    "over √d": ("over √d", "over √d"),
    "A": ("unscaled", "over √d"),
    "B": ("over √d", "unscaled"),
}


def exchanged(runs: Mapping[str, Sequence[float]], title: str, alt: str) -> None:
    """Draw losses as lines whose dash shows the softmax of the way forward, and whose color that of the way back.

    Args:
        runs: the losses of each of the four models, step by step.
        title: the claim that the figure makes.
        alt: what to see, in a sentence.
    """
    figure = new_figure(6.2, 4.2)
    axes = figure.subplots()
    looks = [(DASHES[PASSES[name][0]], COLORS[PASSES[name][1]]) for name in runs]
    ends = {}
    for (name, losses), (dash, color) in zip(runs.items(), looks, strict=True):
        tens = torch.tensor(losses).view(-1, 10).mean(dim=-1).tolist()
        axes.plot(range(5, len(losses), 10), tens, dash, color=color, linewidth=2)
        ends[name] = tens[-1]
    axes.set(xlabel="step", ylabel="loss", ylim=(0, 3.1))
    name_ends(axes, len(losses) - 5, ends, [color for _, color in looks])
    forward = [Line2D([], [], color=INK, linestyle=dash) for dash in DASHES.values()]
    back = [Line2D([], [], color=color, linewidth=6) for color in COLORS.values()]
    names = [f"forward {name}" for name in DASHES] + [f"back {name}" for name in COLORS]
    figure.legend(
        forward + back, names, loc="outside lower center", ncols=2, frameon=False
    )
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {alt}")


def responses(cases: Sequence[Case], tables: Sequence[Tensor], title: str) -> None:
    """Draw two keys and two values of each case as points, with discs as large as their weights.

    Args:
        cases: a query (2,), two keys (2, 2) and two values (2, 2) each. Scores are plain dot products.
        tables: how the output of each case responds to its query; their norms are written below.
        title: the claim that the figure makes.
    """
    figure = new_figure(5.5, 3.5)
    above, below = figure.subplots(2, len(cases), height_ratios=(3.3, 4.6))
    alt = []
    for i, ((q, k, v), table) in enumerate(zip(cases, tables, strict=True)):
        weights = (k @ q).softmax(dim=-1)
        draw_discs(above[i], k, weights, KEY, (-0.9, 2.4))
        draw_discs(below[i], v, weights, VALUE, (-2.3, 2.3))
        arrow(above[i], (0, 0), q.tolist(), color=QUERY, linewidth=2, mutation_scale=14)
        output = (weights @ v).tolist()
        below[i].plot(*output, "x", color=INK, markersize=8, markeredgewidth=2)
        shares = " and ".join("½" if w == 0.5 else f"{w:.4f}" for w in weights.tolist())
        above[i].set_title(f"weights\n{shares}", fontsize=10)
        below[i].set_xlabel(f"norm {table.norm():.3f}", fontsize=10)
        alt.append(f"weights {shares}, norm {table.norm():.3f}")
    above[0].set_ylabel("keys", bbox=chip(KEY), labelpad=8)
    below[0].set_ylabel("values", bbox=chip(VALUE), labelpad=8)
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. From left to right: {'; '.join(alt)}.")


def draw_discs(
    axes: Axes,
    points: Tensor,
    weights: Tensor,
    color: str,
    height: tuple[float, float],
) -> None:
    """Draw points of a plane, each in a disc whose area is its weight."""
    for line in (axes.axhline, axes.axvline):
        line(0, color=EDGE, linewidth=0.6, zorder=0)
    x, y = points.T.tolist()
    areas = (1100 * weights).tolist()
    axes.scatter(x, y, areas, color=color, edgecolor=EDGE, alpha=0.75)
    axes.plot(x, y, "o", color=INK, markersize=3)
    axes.set(xlim=(-3.1, 3.1), ylim=height, xticks=[], yticks=[], aspect="equal")
