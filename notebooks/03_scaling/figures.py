"""The figure of lesson 3. The notebook beside this file imports it."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from torch import Tensor

from autograder.plot.drawing import EDGE, INK, KEY, QUERY, VALUE, chip, new_figure, show

Case = tuple[Tensor, Tensor, Tensor]


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
        arrow = {"arrowstyle": "-|>", "color": QUERY, "linewidth": 2}
        above[i].annotate("", q.tolist(), (0, 0), arrowprops=arrow)
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
    x, y = points.T.tolist()
    areas = (1100 * weights).tolist()
    axes.scatter(x, y, areas, color=color, edgecolor=EDGE, alpha=0.75)
    axes.plot(x, y, "o", color=INK, markersize=3)
    axes.set(xlim=(-3.1, 3.1), ylim=height, xticks=[], yticks=[], aspect="equal")
