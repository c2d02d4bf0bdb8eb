"""The figures of lesson 7: clocks, waves, and all pairs of places. The notebook beside this file imports it."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from autograder.plot.drawing import BAR, EDGE, INK, PAPER, arrow, new_figure, show

BROWN = "#a5522d"
HANDS = (BAR, EDGE)  # few enough to be told apart


def clocks(
    places: Sequence[int], speeds: Sequence[float], title: str, alt: str
) -> None:
    """Draw one clock per place. A hand starts at the right and turns counterclockwise.

    Args:
        places: where the clocks are.
        speeds: radians per place, one for each hand; the first hand is the longest.
        title: the claim that the figure makes.
        alt: what to see, in a sentence.
    """
    figure = new_figure(1.25 * len(places), 1.95)
    for column, place in enumerate(places):
        axes = figure.add_subplot(1, len(places), column + 1, aspect="equal")
        axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
        axes.set_axis_off()
        ring = [math.tau * i / 100 for i in range(101)]
        axes.plot([math.cos(a) for a in ring], [math.sin(a) for a in ring], color=INK)
        for i, speed in enumerate(speeds):
            length = 0.95 - 0.22 * i
            tip = (length * math.cos(speed * place), length * math.sin(speed * place))
            arrow(axes, (0, 0), tip, color=HANDS[i], linewidth=1.6 + 0.6 * i)
        axes.set_title(f"place {place}", fontsize=9)
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {alt}")


def waves(table: Tensor, hands: Sequence[int]) -> None:
    """Draw some pairs of a table's columns, which are the sine and the cosine of a hand's angle.

    Args:
        table: (L, E), one row per place.
        hands: which pairs.
    """
    figure = new_figure(6.2, 1 + 0.95 * len(hands))
    rows = figure.subplots(len(hands), 1, sharex=True)
    for axes, hand in zip(rows, hands, strict=True):
        sine, cosine = table[:, 2 * hand], table[:, 2 * hand + 1]
        axes.plot(sine, "o-", color=BAR, markersize=3.5, label="sine")
        axes.plot(cosine, "s--", color=BROWN, markersize=3.5, label="cosine")
        axes.set(ylim=(-1.25, 1.25), yticks=(-1, 0, 1))
        axes.set_ylabel(f"hand {hand}", rotation=0, ha="right", va="center")
        axes.axhline(0, color=EDGE, linewidth=0.6)
    rows[-1].set_xlabel("place")
    names = rows[0].get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=2, frameon=False)
    title = (
        "Each pair of columns is one hand, and each hand is slower than the one before"
    )
    figure.suptitle(title, fontsize=11)
    alt = f"Sine and cosine of the angles of hands {', '.join(map(str, hands))} over places 0 to {len(table) - 1}. The "
    alt += "first pair goes up and down every six places, each later one more slowly, and the last hardly once."
    show(figure, f"{title}. {alt}")


def pairs(products: Tensor, distance: int) -> None:
    """Draw the dot products of all pairs of places, and mark the pairs that are a certain distance apart.

    Args:
        products: (L, L).
        distance: of the pairs that dashed lines join.
    """
    figure = Figure(figsize=(5.4, 4.4), layout="constrained")
    axes, title = figure.subplots(), "Along a diagonal, the dot product does not change"
    image = axes.imshow(products, cmap="cividis")
    said = mark(axes, products, distance)
    ticks = range(0, len(products), 16)
    axes.set(xticks=ticks, yticks=ticks, xlabel="place", ylabel="place")
    figure.colorbar(image, ax=axes, label="dot product of the two vectors")
    axes.set_title(title, fontsize=11)
    alt = f"A map of all pairs of {len(products)} places. It is brightest on the main diagonal, where a place meets "
    alt += "itself, and darker away from it, in stripes that are parallel to it. Two dashed lines join "
    alt += "the pairs that are "
    show(figure, f"{title}. {alt}{said}.")


def mark(axes: Axes, products: Tensor, distance: int) -> str:
    """Draw dashed lines through the pairs of a certain distance. Returns what is written at one of them."""
    last, alike = len(products) - 1, float(products.diagonal(distance).mean())
    for x, y in ((distance, 0), (0, distance)):
        ends = [x, last - y], [y, last - x]
        axes.plot(*ends, "--", color=PAPER, linewidth=2)
    said = f"{distance} apart: {alike:.2f} everywhere"
    axes.annotate(
        said.replace(": ", ":\n"),
        (distance + 8, 8),
        (0.72 * last, 0.1 * last),
        ha="center",
        va="center",
        fontsize=9,
        color=INK,
        bbox={"facecolor": PAPER, "edgecolor": EDGE, "boxstyle": "round,pad=0.3"},
        arrowprops={"arrowstyle": "-", "color": PAPER, "linewidth": 1.5},
    )
    return said
