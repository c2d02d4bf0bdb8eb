"""Figures that are not matrices: points of the plane, boxes and arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from .drawing import BAR, CREAM, EDGE, INK, PAPER, VALUE, annotate, chip, color_of, hull, show, wide_enough


def mixture(values: Tensor, outputs: Tensor, labels: Sequence[str], names: Sequence[str], title: str) -> None:
    """Draw values and the outputs mixed from them as points of the plane.

    Args:
        values: `(S, 2)`, drawn as squares joined by their outline.
        outputs: `(L, 2)`, drawn as crosses.
        labels: a label per value.
        names: a label per output.
        title: the claim that the figure makes.
    """
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    outline = values[hull(values)]
    axes.fill(outline[:, 0], outline[:, 1], facecolor=CREAM, edgecolor=EDGE, linewidth=1)
    axes.scatter(values[:, 0], values[:, 1], marker="s", s=70, color=VALUE, edgecolor=INK, zorder=3, label="values")
    axes.scatter(outputs[:, 0], outputs[:, 1], marker="X", s=80, color=INK, zorder=4, label="outputs")
    annotate(axes, values, labels, outwards=12)
    annotate(axes, outputs, names, outwards=0)
    axes.margins(0.25)
    axes.set_xlabel("first entry")
    axes.set_ylabel("second entry")
    axes.legend(loc="upper left", frameon=True, fontsize=9)
    axes.set_title(title, fontsize=11)
    parts = [f"{text} at ({x:.2f}, {y:.2f})" for text, (x, y) in zip(names, outputs.tolist(), strict=True)]
    show(figure, f"{title}. Outputs inside the outline of the values: {', '.join(parts)}.")


def diagram(
    boxes: Mapping[str, tuple[float, float]],
    arrows: Sequence[tuple[str, str] | tuple[str, str, float] | tuple[str, str, float, str]],
    title: str,
    *,
    alt: str,
    marked: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Draw named boxes and arrows between them.

    Args:
        boxes: where the middle of each box is; one unit to the right is the distance of two boxes. Spaces around a name
            tell boxes apart that look alike.
        arrows: from, to, a weight from 0 to 1 that decides how thick the arrow is (0.25 if there is none), and a label.
        title: the claim that the figure makes.
        alt: what to see, in a sentence.
        marked: the boxes that the figure is about; they are dark.
        roles: which boxes hold a "query", a "key" or a "value"; they have its color.
        notes: what stands below a box.
    """
    (left, right), (low, high) = extent(boxes)
    figure = Figure(figsize=(wide_enough(0.95 * (right - left), title), 0.85 * (high - low)), layout="constrained")
    axes = figure.add_subplot(xlim=(left, right), ylim=(low, high))
    axes.set_axis_off()
    outlines: dict[str, Patch | None] = {}
    for name, (x, y) in boxes.items():
        color = color_of((roles or {}).get(name, ""))
        shape = chip(color) if color else {"facecolor": BAR if name in marked else CREAM, "edgecolor": EDGE}
        ink = PAPER if name in marked else INK
        look = {**shape, "boxstyle": "round,pad=0.35"}
        box = axes.text(x, y, name.strip(), ha="center", va="center", fontsize=10, color=ink, bbox=look)
        outlines[name] = box.get_bbox_patch()
    for arrow in arrows:
        (start, end), weight = arrow[:2], arrow[2] if len(arrow) > 2 else 0.25
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": "#4d4d4d", "linewidth": 0.4 + 4 * weight}
        # clipped at both boxes, so that heads end at an edge, where they can be seen
        style |= {"patchA": outlines[start], "patchB": outlines[end], "shrinkA": 1, "shrinkB": 1, "mutation_scale": 12}
        axes.annotate("", boxes[end], boxes[start], arrowprops=style)
        if len(arrow) > 3:
            label_between(axes, boxes[start], boxes[end], arrow[3])
    for name, text in (notes or {}).items():
        below: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 9, "color": INK}
        axes.annotate(text, boxes[name], (0, -13), textcoords="offset points", **below)
    axes.set_title(title, fontsize=11)
    show(figure, f"{title}. {alt}")


def extent(boxes: Mapping[str, tuple[float, float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return from where to where boxes reach across and up, their names included."""
    halves = {name: max(0.6, 0.1 + 0.045 * max(map(len, name.strip().split("\n")))) for name in boxes}
    across = [x + side * halves[name] for name, (x, _) in boxes.items() for side in (-1, 1)]
    heights = [y for _, y in boxes.values()]
    return (min(across), max(across)), (min(heights) - 0.5, max(heights) + 0.5)


def label_between(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str) -> None:
    """Write beside the middle of an arrow."""
    (x1, y1), (x2, y2) = start, end
    middle, upright = ((x1 + x2) / 2, (y1 + y2) / 2), x1 == x2
    behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}  # some labels lie on their arrow
    words: dict[str, Any] = {"ha": "left" if upright else "center", "fontsize": 9, "color": INK, "bbox": behind}
    words |= {"va": "center"} if upright else {}
    axes.annotate(text, middle, (6, 0) if upright else (0, 7), textcoords="offset points", **words)
