"""How the shared figures are drawn: matrices, labels, descriptions, and the way to the page."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from torch import Tensor

NUMBERED = 8
STRONG, MOST_STRONG = 0.1, 20  # in a larger map only such weights have numbers, if it has no more columns than this
WIDEST = 7.5
WEIGHTS: dict[str, Any] = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0}
SCORES: dict[str, Any] = {"cmap": "BrBG"}
PLAIN: dict[str, Any] = {"cmap": ListedColormap(["#ffffff"])}
BAR = "#00204d"
INK, PAPER, EDGE, CREAM = "#111111", "#ffffff", "#6b6b6b", "#f1eedf"
ALLOWED = "#dc9fd2"  # by a mask: a color that no weight has
HIDDEN: dict[str, Any] = {"facecolor": "#e9e9e9", "edgecolor": "#8c8c8c", "hatch": "///"}
QUERY, KEY, VALUE = (
    "#2563c4",
    "#f5c021",
    "#57bd84",
)  # in every lesson; dark, light and in between where there is no color
STEMS = {"quer": QUERY, "key": KEY, "value": VALUE}


def draw_matrix(axes: Axes, matrix: Tensor, kind: str, mask: Tensor | None = None) -> Any:
    """Draw one matrix with its numbers, in a color map that fits its kind. Cells that a mask hides are hatched."""
    visible = torch.ones(matrix.shape, dtype=torch.bool) if mask is None else mask.expand(matrix.shape)
    numbers = matrix.detach().to(torch.float64)
    largest = max(float(numbers.abs().max()), 1e-9)
    style = WEIGHTS if kind in ("weights", "shares") else {**SCORES, "vmin": -largest, "vmax": largest}
    style = PLAIN if kind == "plain" else style
    image = axes.imshow(numbers.numpy(), aspect="auto", **style)
    axes.set_xticks([])
    axes.set_yticks([])
    strong = STRONG if style is WEIGHTS and numbers.shape[1] <= MOST_STRONG else torch.inf
    write_numbers(axes, image, numbers, visible, -torch.inf if has_numbers(numbers) else strong)
    hatch(axes, ~visible)
    return image


def write_numbers(axes: Axes, image: Any, numbers: Tensor, visible: Tensor, least: float) -> None:
    """Write into the visible cells of a matrix the numbers that are large enough, and nan everywhere."""
    whole = bool((numbers[visible].nan_to_num() % 1 == 0).all())
    form, size = "{:.0f}" if whole else "{:.2f}", 10 if least < 0 else 8
    for i, j in torch.cartesian_prod(*map(torch.arange, numbers.shape)).tolist():
        number, ink, behind = float(numbers[i, j]), INK, None
        if math.isnan(number):
            behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
        elif visible[i, j] and number >= least:
            ink = ink_on(image.to_rgba(numbers[i, j].numpy()))
        else:
            continue
        text = form.format(number).replace("-", "−")
        axes.text(j, i, text, ha="center", va="center", color=ink, fontsize=size, bbox=behind)


def has_numbers(matrix: Tensor) -> bool:
    """Say whether a matrix is small enough for its numbers to be written into its cells."""
    return max(matrix.shape) <= NUMBERED or matrix.numel() <= 3 * NUMBERED


def ink_on(color: Any) -> str:
    """Return the color of text that can be read on a color."""
    red, green, blue = to_rgb(color)
    return PAPER if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else INK


def tint(color: str) -> tuple[float, ...]:
    """Return a color mixed with white, for areas that hold text."""
    return tuple(0.7 + 0.3 * part for part in to_rgb(color))


def block(
    axes: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    color: Any,
    text: str = "",
    *,
    fontsize: float = 9,
    **look: Any,
) -> None:
    """Draw a filled rectangle with a text in its middle. `look` is what a Rectangle takes."""
    axes.add_patch(Rectangle(corner, *size, facecolor=color, **{"edgecolor": EDGE, **look}))
    middle = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
    axes.text(*middle, text, ha="center", va="center", color=ink_on(color), fontsize=fontsize)


def arrow(axes: Axes, start: Sequence[float], end: Sequence[float], **look: Any) -> None:
    """Draw an arrow from a point to a point. `look` is what a FancyArrowPatch takes."""
    style = {"arrowstyle": "-|>", "color": EDGE, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style | look)


def new_figure(width: float, height: float) -> Figure:
    """Return a figure, in inches, with a margin in which the edge of a name's color has room."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.08))


def wide_enough(width: float, title: str) -> float:
    """Return a figure's width in inches, wide enough for its title and narrow enough for a page."""
    return min(max(width, 0.085 * len(title)), WIDEST)


def hatch(axes: Axes, hidden: Tensor) -> None:
    """Cover hidden cells with gray and stripes, so that they are told apart without color."""
    for i, j in hidden.nonzero().tolist():
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, linewidth=0, **HIDDEN))


def draw_mask(axes: Axes, mask: Tensor, fontsize: float = 9) -> None:
    """Draw a boolean mask: a check mark on a color of its own where a query may look at a key, the rest hatched."""
    axes.imshow(mask.to(torch.float64).numpy(), cmap=ListedColormap([ALLOWED]))
    for i, j in mask.nonzero().tolist():
        axes.text(j, i, "✓", ha="center", va="center", color=INK, fontsize=fontsize)
    hatch(axes, ~mask)
    grid_between(axes, mask.shape, PAPER)


def grid_between(axes: Axes, shape: Sequence[int], color: str) -> None:
    """Draw lines between the cells of a matrix of a shape."""
    axes.set_xticks([j + 0.5 for j in range(shape[1] - 1)], minor=True)
    axes.set_yticks([i + 0.5 for i in range(shape[0] - 1)], minor=True)
    axes.grid(which="minor", color=color)
    axes.tick_params(which="minor", length=0)


def annotate(axes: Axes, points: Tensor, texts: Sequence[str], outwards: int) -> None:
    """Write a label at each point: away from the middle of all of them, or a little above it."""
    middle = points.mean(dim=0)
    for point, text in zip(points, texts, strict=True):
        away = torch.nn.functional.normalize(point - middle, dim=0) * outwards
        offset = (float(away[0]), float(away[1]) - 3) if outwards else (8, 5)
        side = "center" if outwards and abs(offset[0]) < 9 else "right" if offset[0] < 0 else "left"
        axes.annotate(text, point.tolist(), xytext=offset, textcoords="offset points", ha=side, fontsize=9)


def label(axes: Axes, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Write tokens along the axes."""
    axes.set_xticks(range(len(keys)), keys)
    axes.set_yticks(range(len(queries)), queries)


def name_sides(axes: Axes, down: str, across: str) -> None:
    """Write what the rows are and what the columns are; queries and keys on their colors."""
    for write, name in ((axes.set_ylabel, down), (axes.set_xlabel, across)):
        color = color_of(name)
        write(name, labelpad=6, bbox=chip(color) if color else None)


def color_of(name: str) -> str | None:
    """Return the color of what a name is about: queries, keys or values, if it is one of them."""
    return next((color for stem, color in STEMS.items() if stem in name), None)


def chip(color: str) -> dict[str, Any]:
    """Return the look of a name that lies on its color."""
    return {"boxstyle": "round,pad=0.2", "facecolor": tint(color), "edgecolor": color, "linewidth": 1.5}


def describe(weights: Tensor, queries: Sequence[str], keys: Sequence[str], kind: str) -> str:
    """Say in words where each row is largest."""
    rows = [f"{query} {favorites(row, keys)}" for query, row in zip(queries, weights.detach(), strict=True)]
    return f"{kind.capitalize()}, row by row: {'; '.join(rows)}."


def favorites(row: Tensor, keys: Sequence[str]) -> str:
    """Name the keys that share a row's largest number."""
    best = [key for key, number in zip(keys, row, strict=True) if bool(row.max() - number < 1e-6)]
    if len(best) == len(keys):
        return f"equally on all ({float(row.max()):.2f})"
    return f"most on {' and '.join(best)} ({float(row.max()):.2f})"


def allowed_keys(row: Tensor) -> str:
    """Name the keys that a mask's row allows."""
    allowed = row.nonzero().flatten().tolist()
    if not allowed:
        return "none"
    together = len(allowed) > 1 and allowed[-1] - allowed[0] == len(allowed) - 1
    return f"{allowed[0]} to {allowed[-1]}" if together else " and ".join(map(str, allowed))


def hull(points: Tensor) -> list[int]:
    """Return the indices of the convex hull of points in the plane, in order around it.

    Source: Andrew's monotone chain.
    """
    order = sorted(range(len(points)), key=lambda i: tuple(points[i].tolist()))

    def half(indices: Sequence[int]) -> list[int]:
        chain: list[int] = []
        for i in indices:
            while len(chain) > 1 and not turns_left(points[chain[-2]], points[chain[-1]], points[i]):
                chain.pop()
            chain.append(i)
        return chain[:-1]

    return half(order) + half(order[::-1])


def turns_left(a: Tensor, b: Tensor, c: Tensor) -> bool:
    """Say whether the way from a over b to c turns left."""
    (ux, uy), (vx, vy) = (b - a).tolist(), (c - b).tolist()
    return bool(ux * vy - uy * vx > 0)


def png(figure: Figure, dpi: int = 110) -> str:
    """Return a figure as a PNG on white, in base64."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, facecolor=PAPER, metadata={"Software": None})
    return base64.b64encode(buffer.getvalue()).decode()


def show(figure: Figure, alt: str) -> None:
    """Display a figure as a PNG on white with its alternative text. The bytes depend on the figure alone."""
    show_data({"image/png": png(figure), "text/plain": alt}, {"image/png": {"alt": alt}})


def show_data(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
    """Display something in the richest form that can be shown; in plain Python, print its text."""
    if InteractiveShell.initialized():
        display(data, metadata=metadata, raw=True)
    else:
        print(data["text/plain"])
