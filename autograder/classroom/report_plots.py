"""The class report's two figures, as addresses of pictures that need no file, each with its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..plot.drawing import BAR, png


def points_plot(points: Sequence[float | None], most: float) -> tuple[str, str]:
    """Draw how many students have how many points; return the picture and its words."""
    counts = Counter(round(p or 0) for p in points)
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.bar(list(counts), list(counts.values()), color=BAR)
    axes.set(xlabel="points", ylabel="students", xlim=(-0.7, most + 0.7))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    words = ", ".join(f"{n} with {p}" for p, n in sorted(counts.items())) or "nobody is graded"
    return f"data:image/png;base64,{png(figure)}", f"Students by points: {words}."


def solved_plot(solved: Mapping[str, int], graded: int) -> tuple[str, str]:
    """Draw how many solved each exercise; return the picture and its words."""
    figure = Figure(figsize=(6.4, 0.8 + 0.35 * len(solved)), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(list(solved), list(solved.values()), color=BAR)
    axes.bar_label(bars, fmt=f" %d of {graded}")
    axes.set(xlabel="students who solved it", xlim=(0, max(graded, 1) * 1.2))
    axes.invert_yaxis()
    words = ", ".join(f"{name} {count}" for name, count in solved.items())
    return f"data:image/png;base64,{png(figure)}", f"Solved, of {graded}: {words}."
