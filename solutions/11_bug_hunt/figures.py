"""The figure of lesson 11. The notebook beside this file imports it."""

from collections.abc import Mapping, Sequence

from autograder.plot.drawing import BAR, EDGE, PAPER, block, new_figure, show

GROUPS = {"scale": 6, "softmax": 5, "mask": 8, "inputs": 2}  # in the order of wrong.py
CELL, BETWEEN = 1.0, 0.5  # the height of a row, and the gap between two groups


def found(names: Sequence[str], survivors: Mapping[str, Sequence[str]]) -> None:
    """Draw a table of mutants and examples, with a cross where an example finds a mutant.

    Args:
        names: of all mutants.
        survivors: for each example the mutants that it does not find.
    """
    figure = new_figure(5.6, 6.4)
    axes = figure.subplots()
    tops, y = [], 0.0
    for group, size in GROUPS.items():
        axes.text(-3.9, y + size / 2, group, rotation=90, ha="center", va="center")
        tops += [y + CELL * i for i in range(size)]
        y += CELL * size + BETWEEN
    for column, (example, alive) in enumerate(survivors.items()):
        for name, top in zip(names, tops, strict=True):
            color, text = (PAPER, "") if name in alive else (BAR, "×")
            block(axes, (1.6 * column, top), (1.6, CELL), color, text, edgecolor=EDGE)
        count = f"{len(names) - len(alive)} of {len(names)}"
        middle = {"x": 1.6 * column + 0.8, "ha": "center", "va": "center"}
        axes.text(**middle, y=-0.7, s=example, fontsize=10)
        axes.text(**middle, y=y + 0.2, s=count, fontsize=10, weight="bold")
    for name, top in zip(names, tops, strict=True):
        words = name.replace("_", " ")
        axes.text(-0.15, top + 0.5, words, ha="right", va="center", fontsize=9)
    axes.set(xlim=(-4.3, 1.6 * len(survivors) + 0.1), ylim=(y + 0.8, -1.2))
    axes.set_axis_off()
    title = "Each example finds more of the mutants than the one before"
    figure.suptitle(title, fontsize=11)
    figure.supxlabel("dark, with a cross: found; white: survives", fontsize=9)
    counts = [f"{name} {len(names) - len(left)}" for name, left in survivors.items()]
    show(figure, f"{title}. Of {len(names)} mutants are found: {', '.join(counts)}.")
