"""The figures of lesson 7: clocks. The notebook beside this file imports it."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from autograder.plot.drawing import INK, show

HANDS = ("#00204d", "#b8860b", "#6b6b6b", "#7c7b78")


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
    figure = Figure(figsize=(1.25 * len(places), 1.7), layout="constrained")
    for column, place in enumerate(places):
        axes = figure.add_subplot(1, len(places), column + 1, aspect="equal")
        axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
        axes.set_axis_off()
        ring = [math.tau * i / 100 for i in range(101)]
        axes.plot([math.cos(a) for a in ring], [math.sin(a) for a in ring], color=INK)
        for i, speed in enumerate(speeds):
            length = 0.95 - 0.22 * i
            tip = (length * math.cos(speed * place), length * math.sin(speed * place))
            style = {"arrowstyle": "-|>", "color": HANDS[i], "linewidth": 1.6 + 0.6 * i}
            axes.annotate(
                "", tip, (0, 0), arrowprops={**style, "shrinkA": 0, "shrinkB": 0}
            )
        axes.set_title(f"place {place}", fontsize=9)
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {alt}")
