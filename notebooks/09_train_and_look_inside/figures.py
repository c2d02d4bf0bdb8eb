"""The figure of lesson 9. The notebook uses it by way of `induction`."""

from collections.abc import Collection, Mapping

from matplotlib.axes import Axes

from autograder.plot.drawing import (
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
    """Draw experiments side by side in which some inputs of layer 1 are told what layer 0 has added.

    Args:
        experiments: for each name the inputs that are told, as in `patched`.
    """
    figure = new_figure(7.5, 2.7)
    panels = figure.subplots(1, len(experiments))
    for axes, (name, told) in zip(panels, experiments.items(), strict=True):
        block(axes, (0, 0), (1.5, 4), CREAM, "what\nlayer 0\nadds")
        for i, (part, (text, color)) in enumerate(INPUTS.items()):
            draw_switch(axes, 3.5 - i, closed=part in told)
            block(axes, (4, 3.1 - i), (2.6, 0.8), color, text)
        axes.set(xlim=(-0.1, 6.7), ylim=(-0.1, 4.1))
        axes.set_axis_off()
        axes.set_title(name, fontsize=10)
    title = "Two experiments: a closed switch lets through what layer 0 adds"
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
