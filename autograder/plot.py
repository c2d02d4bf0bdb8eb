"""The figures that lessons share: queries down, keys across, numbers in the cells.

Each function shows its figure at once. The picture carries an alternative text, which is also its plain-text form,
so a screen reader, a terminal and nbval all get the same words.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import torch
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

NUMBERED = 8
WIDEST = 7.5
WEIGHTS: dict[str, Any] = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0}
SCORES: dict[str, Any] = {"cmap": "BrBG"}
INK, PAPER = "#111111", "#ffffff"


def heatmap(
    weights: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    *,
    kind: str = "weights",
) -> None:
    """Draw a matrix of attention weights, or of scores.

    Args:
        weights: `(L, S)`; a query's row, a key's column.
        queries: `L` labels.
        keys: `S` labels.
        title: the claim that the figure makes.
        kind: `"weights"` for 0 to 1, `"scores"` for a map centred at 0.

    Raises:
        ValueError: the labels do not fit the matrix.
    """
    if tuple(weights.shape) != (len(queries), len(keys)):
        raise ValueError(
            f"{len(queries)} queries and {len(keys)} keys do not label a matrix of {tuple(weights.shape)}."
        )
    size = (min(1.9 + 0.68 * len(keys), WIDEST), min(1.3 + 0.5 * len(queries), WIDEST))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = draw_matrix(axes, weights, kind)
    label(axes, queries, keys)
    axes.set_xlabel("keys")
    axes.set_ylabel("queries")
    axes.set_title(title, fontsize=11)
    figure.colorbar(image, ax=axes, label=f"attention {kind}")
    show(figure, f"{title}. " + describe(weights, queries, keys, kind))


def matrices(panels: Sequence[tuple[str, Tensor, str]], title: str, rows: Sequence[str] = ()) -> None:
    """Draw matrices side by side, each with its name and shape: one step of a computation per panel.

    Args:
        panels: name, matrix with at most 8 rows and columns, and kind (`"weights"` or `"scores"`) of each.
        title: the claim that the figure makes.
        rows: labels of the first panel's rows.
    """
    widths = [0.35 + 0.42 * matrix.shape[1] for _, matrix, _ in panels]
    height = 1.2 + 0.42 * max(matrix.shape[0] for _, matrix, _ in panels)
    figure = Figure(figsize=(min(sum(widths) + 0.7, WIDEST), height), layout="constrained")
    grid = figure.subplots(1, len(panels), width_ratios=widths, squeeze=False)[0]
    for axes, (name, matrix, kind) in zip(grid, panels, strict=True):
        draw_matrix(axes, matrix, kind)
        axes.set_aspect("equal")
        axes.set_anchor("N")
        shape = " × ".join(map(str, matrix.shape))
        axes.set_title(f"{name}\n({shape})", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks(range(len(rows)) if axes is grid[0] else [], rows if axes is grid[0] else [])
    figure.suptitle(title, fontsize=11)
    parts = [f"{name} is {' by '.join(map(str, m.shape))}" for name, m, _ in panels]
    show(figure, f"{title}. From left to right: {'; '.join(parts)}.")


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
    axes.fill(outline[:, 0], outline[:, 1], facecolor="#f1eedf", edgecolor="#6b6b6b", linewidth=1)
    axes.scatter(values[:, 0], values[:, 1], marker="s", s=60, color="#00204d", zorder=3, label="values")
    axes.scatter(
        outputs[:, 0], outputs[:, 1], marker="X", s=80, color="#b8860b", edgecolor=INK, zorder=4, label="outputs"
    )
    annotate(axes, values, labels, outwards=12)
    annotate(axes, outputs, names, outwards=0)
    axes.margins(0.25)
    axes.set_xlabel("first number")
    axes.set_ylabel("second number")
    axes.legend(loc="upper left", frameon=True, fontsize=9)
    axes.set_title(title, fontsize=11)
    parts = [f"{text} at ({x:.2f}, {y:.2f})" for text, (x, y) in zip(names, outputs.tolist(), strict=True)]
    show(figure, f"{title}. Outputs inside the outline of the values: {', '.join(parts)}.")


def draw_matrix(axes: Axes, matrix: Tensor, kind: str) -> Any:
    """Draw one matrix with its numbers, in a colour map that fits its kind."""
    numbers = matrix.detach().to(torch.float64)
    largest = max(float(numbers.abs().max()), 1e-9)
    style = WEIGHTS if kind == "weights" else {**SCORES, "vmin": -largest, "vmax": largest}
    image = axes.imshow(numbers, aspect="auto", **style)
    axes.set_xticks([])
    axes.set_yticks([])
    if max(numbers.shape) <= NUMBERED:
        for (i, j), number in zip(
            torch.cartesian_prod(*map(torch.arange, numbers.shape)), numbers.flatten(), strict=True
        ):
            red, green, blue, _ = image.to_rgba(number.numpy())
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = f"{float(number):.2f}" if float(number) % 1 else f"{float(number):.0f}"
            axes.text(int(j), int(i), text, ha="center", va="center", color=PAPER if dark else INK, fontsize=9)
    return image


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


def describe(weights: Tensor, queries: Sequence[str], keys: Sequence[str], kind: str) -> str:
    """Say in words where each row is largest."""
    rows = [f"{query} {favourites(row, keys)}" for query, row in zip(queries, weights.detach(), strict=True)]
    return f"Attention {kind}, a row per query: {'; '.join(rows)}."


def favourites(row: Tensor, keys: Sequence[str]) -> str:
    """Name the keys that share a row's largest number."""
    best = [key for key, number in zip(keys, row, strict=True) if bool(row.max() - number < 1e-6)]
    if len(best) == len(keys):
        return f"equally on all ({float(row.max()):.2f})"
    return f"most on {' and '.join(best)} ({float(row.max()):.2f})"


def hull(points: Tensor) -> list[int]:
    """Return the indices of the outline of points in the plane, in order around it."""
    centre = points.mean(dim=0)
    angles = torch.atan2(points[:, 1] - centre[1], points[:, 0] - centre[0])
    return [int(i) for i in angles.argsort()]


def show(figure: Figure, alt: str) -> None:
    """Display a figure as a PNG on white with its alternative text. The bytes depend on the figure alone."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, facecolor=PAPER, metadata={"Software": None})
    data = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": alt}
    display(data, metadata={"image/png": {"alt": alt}}, raw=True)
