"""The figures of lesson 9. The notebook uses them by way of `induction`."""

import textwrap
from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes

from autograder.plot.drawing import (
    BAR,
    CREAM,
    EDGE,
    INK,
    KEY,
    QUERY,
    VALUE,
    block,
    new_figure,
    show,
)

INPUTS = {
    "query": ("queries of layer 1", QUERY),
    "key": ("keys of layer 1", KEY),
    "value": ("values of layer 1", VALUE),
    "rest": ("rest, past layer 1", CREAM),
}


def switches(experiments: Mapping[str, Collection[str]]) -> None:
    """Draw experiments side by side in which some inputs of layer 1 get what layer 0 has added.

    Args:
        experiments: for each name the inputs that get it, as in `patched`.
    """
    figure = new_figure(7.5, 2.7)
    panels = figure.subplots(1, len(experiments))
    for axes, (name, parts) in zip(panels, experiments.items(), strict=True):
        block(axes, (0, 0), (1.5, 4), CREAM, "what\nlayer 0\nadds")
        for i, (part, (text, color)) in enumerate(INPUTS.items()):
            draw_switch(axes, 3.5 - i, closed=part in parts)
            block(axes, (4, 3.1 - i), (2.6, 0.8), color, text)
        axes.set(xlim=(-0.1, 6.7), ylim=(-0.1, 4.1))
        axes.set_axis_off()
        axes.set_title(name, fontsize=10)
    title = "Two experiments: who gets what layer 0 adds?"
    figure.suptitle(title, fontsize=11)
    alt = "In each, four lines with a switch lead from what layer 0 adds to the queries, keys and values of layer 1 "
    alt += "and to the rest. "
    alt += " ".join(
        f"If {name}, closed: {', '.join(t)}." for name, t in experiments.items()
    )
    show(figure, f"{title}. {alt}")


def draw_switch(axes: Axes, y: float, *, closed: bool) -> None:
    """Draw a line with a switch in it. What is behind an open one is dashed."""
    color = INK if closed else EDGE
    axes.plot([1.5, 2.3], [y, y], color=color, linewidth=2)
    axes.plot([2.3, 3.1], [y, y if closed else y + 0.45], color=color, linewidth=2)
    axes.plot([3.1, 4], [y, y], "-" if closed else ":", color=color, linewidth=2)
    axes.plot([2.3, 3.1], [y, y], "o", color=color, markersize=5)


def ablations(
    rises: Mapping[str, Sequence[float]], copied: Mapping[str, Sequence[float]]
) -> None:
    """Draw what is lost without groups of heads: of copying on the left, on text on the right.

    Args:
        rises: for each group by how much the loss on text rises, with zeros and with means in its place.
        copied: for each group what share of the characters in strings is still copied, in the same way.
    """
    figure = new_figure(5.5, 4.2)
    left, right = figure.subplots(1, 2, sharey=True)
    draw_pairs(left, copied, "{:.0%}")
    draw_pairs(right, rises, "{:+.2f}")
    left.set_yticks(range(len(copied)), [textwrap.fill(name, 15) for name in copied])
    left.set(ylim=(len(copied) - 0.5, -0.5), xlim=(0, 1.4), xticks=(0, 0.5, 1))
    left.xaxis.set_major_formatter("{x:.0%}")
    left.set_ylabel("switched off")
    left.set_title("characters still copied", fontsize=10)
    right.set_xlim(0, 1.4 * max(map(max, rises.values())))
    right.set_title("loss on text rises by", fontsize=10)
    handles = left.get_legend_handles_labels()
    figure.legend(
        *handles, loc="outside lower center", ncols=2, fontsize=9, frameon=False
    )
    title = "Copying needs both groups of three, and not the other six"
    figure.suptitle(title, fontsize=11)
    rows = [
        f"without {name}: {copied[name][0]:.0%} copied with zeros and {copied[name][1]:.0%} with means, "
        f"loss on text {rises[name][0]:+.2f} and {rises[name][1]:+.2f}"
        for name in rises
    ]
    show(figure, f"{title}. {'; '.join(rows)}.")


def draw_pairs(axes: Axes, pairs: Mapping[str, Sequence[float]], form: str) -> None:
    """Draw two bars for each name, with their numbers at their ends."""
    looks = ({"color": BAR}, {"color": CREAM, "edgecolor": INK, "hatch": "//"})
    for n, (name, look) in enumerate(
        zip(("zeros instead", "means instead"), looks, strict=True)
    ):
        lengths = [pair[n] for pair in pairs.values()]
        places = [i + 0.36 * n - 0.18 for i in range(len(pairs))]
        bars = axes.barh(places, lengths, 0.32, label=name, **look)
        axes.bar_label(
            bars, [form.format(length) for length in lengths], padding=3, fontsize=9
        )
