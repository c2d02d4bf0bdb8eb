"""The figures that lessons share: queries down, keys across, numbers in the cells.

Each function shows its figure at once. The picture carries an alternative text, which is also its plain-text form,
so a screen reader, a terminal and nbval all get the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from .drawing import (
    BAR,
    CREAM,
    INK,
    KEY,
    PAPER,
    QUERY,
    WEIGHTS,
    WIDEST,
    allowed_keys,
    block,
    chip,
    color_of,
    describe,
    draw_mask,
    draw_matrix,
    grid_between,
    has_numbers,
    label,
    name_sides,
    new_figure,
    show,
    tint,
    wide_enough,
)

FEW_POINTS = 20
NAMES = {"weights": "attention weights", "scores": "attention scores", "numbers": "", "shares": ""}
LINES = (
    ("-", "o", "#00204d"),
    ("--", "s", "#6b6a67"),
    (":", "^", "#8e4a7d"),
    ("-.", "D", "#00695c"),
    ("-", "v", "#a5522d"),
)
BETWEEN_NAMES = 0.075
MOST_ACROSS = 3  # masks
Panel = tuple[str, Tensor, Sequence[str], tuple[int | None, int | None]]
CELL, BESIDE, ABOVE = 0.45, 0.62, 0.62  # inches: of a cell, left of a panel, and above it
FRAME: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 2.5, "clip_on": False, "zorder": 5}


def heatmap(
    weights: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    *,
    kind: str = "weights",
    mask: Tensor | None = None,
    sides: tuple[str, str] = ("queries", "keys"),
    gaps: Sequence[int] = (),
    alt: str = "",
) -> None:
    """Draw a matrix of attention weights, or of scores.

    Args:
        weights: `(L, S)`; a query's row, a key's column.
        queries: `L` labels.
        keys: `S` labels.
        title: the claim that the figure makes.
        kind: `"weights"` for 0 to 1, `"scores"` for a map centered at 0; `"numbers"` or `"shares"` (0 to 1) for
            a table of another kind.
        mask: `(L, S)`, boolean, True where a query may look; the other cells are hatched.
        sides: what the rows are, and the columns; of a table of another kind, named only where it is not this.
        gaps: before which rows another group begins.
        alt: what to see, in a sentence; by default where each row is largest. What a model has learned is described
            in words, because its digits differ from computer to computer.

    Raises:
        ValueError: the labels do not fit the matrix.
    """
    if tuple(weights.shape) != (len(queries), len(keys)):
        raise ValueError(
            f"{len(queries)} queries and {len(keys)} keys do not label a matrix of {tuple(weights.shape)}."
        )
    width = wide_enough(1.5 + 0.68 * len(keys), title)
    figure = new_figure(width, min(1.35 + 0.5 * len(queries), WIDEST))
    axes = figure.add_subplot()
    image = draw_matrix(axes, weights, kind, mask)
    label(axes, queries, keys)
    for row in gaps:
        axes.axhline(row - 0.5, color=PAPER, linewidth=8)
    if NAMES[kind] or sides != ("queries", "keys"):
        name_sides(axes, *sides)
    figure.suptitle(title, fontsize=11)
    if has_numbers(weights):
        beside: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "rotation": 90}
        axes.annotate(NAMES[kind], (1, 0.5), (6, 0), va="center", fontsize=9, **beside)
    else:
        figure.colorbar(image, ax=axes, label=NAMES[kind])
    show(figure, f"{title}. " + (alt or describe(weights, queries, keys, NAMES[kind] or "numbers")))


def masks(panels: Sequence[tuple[str, Tensor]], title: str) -> None:
    """Draw boolean masks side by side: checked where a query may look at a key, hatched where it may not.

    Where there are fewer queries than keys, the queries are the last ones, and are numbered as such.

    Args:
        panels: name and mask `(L, S)` of each.
        title: the claim that the figure makes.
    """
    across = min(len(panels), MOST_ACROSS)
    down = -(-len(panels) // across)
    widths = [mask.shape[1] + 1.5 for _, mask in panels[:across]]
    cell = min(0.28, (WIDEST - 0.5) / sum(widths))
    rows = max(mask.shape[0] for _, mask in panels)
    figure = new_figure(cell * sum(widths) + 0.5, 0.5 + down * (cell * rows + 1))
    grid = figure.subplots(down, across, width_ratios=widths, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (name, mask) in zip(grid.flat, panels, strict=False):
        draw_mask(axes, mask)
        axes.set_title(name, fontsize=10)
        axes.set_xticks(range(mask.shape[1]))
        axes.set_yticks(range(mask.shape[0]), range(mask.shape[1] - mask.shape[0], mask.shape[1]))
        name_sides(axes, "query" if axes in grid[:, 0] else "", "key")
    figure.supxlabel("✓ may look, hatched: may not", fontsize=9)
    figure.suptitle(title, fontsize=11)
    parts = [f"{name}: {', '.join(allowed_keys(row) for row in mask)}" for name, mask in panels]
    show(figure, f"{title}. Keys that each query may look at, row by row. {'; '.join(parts)}.")


def matrices(lines: Sequence[Sequence[Panel]], title: str) -> None:
    """Draw matrices side by side, each with its name and shape: one step of a computation per panel.

    Weights are colored by their numbers, queries, keys and values by what they are. The others are white.

    Args:
        lines: the panels of each line of the figure: a name, a matrix, labels of its rows (none where they need no
            name), and the index of the row and of the column that are framed, or None for either. Where both are
            given, the cell is framed.
        title: the claim that the figure makes.
    """
    wide = max(sum(BESIDE + CELL * matrix.shape[1] for _, matrix, _, _ in line) for line in lines)
    heights = [ABOVE + CELL * max(matrix.shape[0] for _, matrix, _, _ in line) for line in lines]
    width, height = wide + 0.2, sum(heights) + 0.45
    figure = Figure(figsize=(width, height))
    bottom, parts = height - 0.35, []
    for line, line_height in zip(lines, heights, strict=True):
        bottom, left = bottom - line_height, 0.0
        for name, matrix, names, (row, column) in line:
            rows, columns = matrix.shape
            left += BESIDE
            lower = bottom + line_height - ABOVE - CELL * rows
            place = (left / width, lower / height, CELL * columns / width, CELL * rows / height)
            axes = figure.add_axes(place)
            left += CELL * columns
            image = draw_matrix(axes, matrix, "weights" if name.endswith("weights") else "plain")
            if color := color_of(name):
                image.set_cmap(ListedColormap([tint(color)]))
            axes.set_title(f"{name}\n({rows} × {columns})", fontsize=10)
            axes.set_yticks(range(len(names)), names)
            grid_between(axes, matrix.shape, "#c9c7c0")
            framed = (0 if column is None else column, 0 if row is None else row)
            if (row, column) != (None, None):
                size = (columns if column is None else 1, rows if row is None else 1)
                axes.add_patch(Rectangle((framed[0] - 0.5, framed[1] - 0.5), *size, **FRAME))
            parts.append(f"{name} is {rows} by {columns}")
    figure.suptitle(title, fontsize=11, y=1 - 0.08 / height, va="top")
    show(figure, f"{title}. In the order of the computation: {'; '.join(parts)}.")


def crosses(
    table: Tensor, rows: Sequence[str], columns: Sequence[str], title: str, *, groups: Mapping[str, int], alt: str
) -> None:
    """Draw a table of yes and no: dark with a cross, or white, with a count below each column.

    Args:
        table: `(R, C)`, boolean.
        rows: `R` labels.
        columns: `C` labels.
        title: the claim that the figure makes.
        groups: what the rows are about, and how many of them, in their order.
        alt: what to see, in a sentence.
    """
    figure = new_figure(5.6, 1.6 + 0.22 * len(rows))
    axes = figure.subplots()
    centered: dict[str, Any] = {"ha": "center", "va": "center"}
    first, tops = 0.0, []
    for name, size in groups.items():
        axes.text(-2.5, first + size / 2, name, rotation=90, **centered)
        tops += [first + i for i in range(size)]
        first += size + 0.5
    for row, name, top in zip(table.tolist(), rows, tops, strict=True):
        axes.text(-0.1, top + 0.5, name, ha="right", va="center", fontsize=9)
        for j, yes in enumerate(row):
            block(axes, (j, top), (1, 1), BAR if yes else PAPER, "×" if yes else "")
    for j, (name, count) in enumerate(zip(columns, table.sum(dim=0).tolist(), strict=True)):
        axes.text(j + 0.5, -0.7, name, **centered)
        axes.text(j + 0.5, first + 0.2, f"{count} of {len(rows)}", weight="bold", **centered)
    axes.set(xlim=(-2.7, len(columns) + 0.05), ylim=(first + 0.8, -1.2))
    axes.set_axis_off()
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {alt}")


def heads(weights: Tensor, tokens: Sequence[str], title: str, *, alt: str, names: Sequence[str] = ()) -> None:
    """Draw the weights of several heads as maps side by side, without numbers.

    Args:
        weights: `(H, L, L)`.
        tokens: labels along both axes of each map.
        title: the claim that the figure makes.
        alt: what to see, in a sentence.
        names: what the heads are called, where that is not 0, 1, 2.
    """
    called = names or [str(h) for h in range(len(weights))]
    down = 2 if len(weights) == 4 else 1  # four in a row would be too small to read
    across = len(weights) // down
    figure = new_figure(WIDEST, 1.0 + down * (WIDEST - 1.5) / across)
    grid = figure.subplots(down, across, squeeze=False).flatten()
    for name, axes, matrix in zip(called, grid, weights.detach(), strict=True):
        image = axes.imshow(matrix, **WEIGHTS)
        axes.set_title(f"head {name}", fontsize=10)
        label(axes, tokens, tokens)
        axes.tick_params(labelsize=10, length=2)
    figure.supylabel("queries", fontsize=10, bbox=chip(QUERY))
    figure.supxlabel("keys", fontsize=10, bbox=chip(KEY))
    figure.colorbar(image, ax=grid, label=NAMES["weights"], shrink=0.7)
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {alt}")


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    title: str,
    *,
    xlabel: str,
    ylabel: str,
    log: bool = False,
    log_y: bool = False,
    from_zero: bool = False,
    shaded: tuple[float, float, str] | None = None,
    alt: str = "",
) -> None:
    """Draw at most five lines over a common axis, each with a dash and a marker of its own, and its name at its end.

    Args:
        x: positions along the axis.
        lines: a name and one number per position for each line. A line alone needs no name: `ylabel` says what it is.
        title: the claim that the figure makes.
        xlabel: what the positions are.
        ylabel: what the numbers are.
        log: space the positions by their logarithm.
        log_y: space the numbers by theirs; with both, a power of x is a straight line.
        from_zero: let their axis begin at 0, where they are shares.
        shaded: a part of the axis that is set off, from where to where, and what it is called.
        alt: what to see, in a sentence; by default the numbers at both ends. Losses are described in words.

    Raises:
        ValueError: there are more lines than can be told apart.
    """
    if len(lines) > len(LINES):
        raise ValueError(f"{len(lines)} lines; at most {len(LINES)} can be told apart")
    figure = Figure(figsize=(6.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    marked = slice(None, None, max(1, len(x) // 10)) if len(lines) > 1 or len(x) <= FEW_POINTS else slice(0)
    for numbers, (dash, marker, color) in zip(lines.values(), LINES, strict=False):
        axes.plot(x, numbers, dash, marker=marker, markevery=marked, color=color)
    if log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    elif all(float(position).is_integer() for position in x):
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    if log_y:
        axes.set_yscale("log")
    if from_zero:
        axes.set_ylim(0, 1.06 * max(map(max, lines.values())))
    if shaded:
        start, end, name = shaded
        axes.axvspan(start, end, color=CREAM, zorder=0)
        words: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "top", "fontsize": 9}
        axes.annotate(name, ((start + end) / 2, 0.97), color=INK, **words)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    if len(lines) > 1:
        ends = {name: numbers[-1] for name, numbers in lines.items()}
        name_ends(axes, x[-1], ends, [color for _, _, color in LINES])
    axes.set_title(title, fontsize=11)
    both = [f"{name} from {numbers[0]:.1f} to {numbers[-1]:.1f}" for name, numbers in lines.items()]
    show(figure, f"{title}. {alt or f'{ylabel} over {xlabel}: ' + '; '.join(both) + '.'}")


def name_ends(axes: Axes, x: float, ends: Mapping[str, float], colors: Sequence[str]) -> None:
    """Write each line's name beside its last point, in its color. Names that would overlap move apart.

    A thin line leads from a name that has moved to its point, so that it is not read as a number on the axis.

    Args:
        axes: holds the lines, with their scales set.
        x: the last position.
        ends: the last number of each line.
        colors: theirs, in the same order.
    """
    axes.autoscale_view()
    to_fraction = axes.transData + axes.transAxes.inverted()
    heights = {name: float(to_fraction.transform((x, number))[1]) for name, number in ends.items()}
    names = dict(sorted(heights.items(), key=lambda item: item[1]))
    for _, (below, above) in product(range(50), pairwise(names)):
        overlap = max(0.0, BETWEEN_NAMES - names[above] + names[below])
        names |= {below: names[below] - overlap / 2, above: names[above] + overlap / 2}
    for name, color in zip(ends, colors, strict=False):
        moved = abs(names[name] - heights[name]) > 0.01
        leader = {"arrowstyle": "-", "color": color, "linewidth": 0.8, "relpos": (0, 0.5), "shrinkB": 4}
        axes.annotate(
            name, (x, ends[name]), (1.05, names[name]), textcoords="axes fraction", va="center", fontsize=10,
            color=color, annotation_clip=False, arrowprops=leader if moved else None,
        )  # fmt: skip
