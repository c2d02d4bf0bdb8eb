"""The figures of lesson 6. The notebook beside this file imports it."""

from matplotlib.figure import Figure

from autograder import plot
from autograder.plot.drawing import show

STEPS = {
    "query (B, L, E)": (0, 6),
    "key (B, S, E)": (2.2, 6),
    "value (B, S, E)": (4.4, 6),
    "q_proj": (0, 5),
    "k_proj": (2.2, 5),
    "v_proj": (4.4, 5),
    "split (B, H, L, D)": (0, 4),
    "split (B, H, S, D)": (2.2, 4),
    "split (B, H, S, D) ": (4.4, 4),
    "scores / √D, mask, softmax (B, H, L, S)": (1.1, 3),
    "mix the values (B, H, L, D)": (2.2, 2),
    "merge (B, L, E)": (2.2, 1),
    "out_proj (B, L, E)": (2.2, 0),
}


def module() -> None:
    """Draw the way of the data through a multi-head attention module, with shapes."""
    names = list(STEPS)
    columns = [(names[i], names[i + 3]) for i in range(6)]
    weights, mixed, merged, out = names[9:]
    arrows = [
        (names[6], weights),
        (names[7], weights),
        (weights, mixed),
        (names[8], mixed),
    ]
    plot.diagram(
        STEPS,
        [*columns, *arrows, (mixed, merged), (merged, out)],
        "The module: dark boxes hold what is learned",
        marked=["q_proj", "k_proj", "v_proj", out],
        alt="Query, key and value each pass through a projection and are split into heads. Queries and keys meet in a "
        "table of weights per head, the weights mix the values, the heads are merged, and out_proj mixes across them. "
        "The four projections, drawn dark, are all that is learned.",
    )


def no_peak() -> None:
    """Draw why no matrix names the digit whose weight is one third: a logit is a straight line in the weight."""
    weights, wanted = [0, 1 / 3, 2 / 3], [0.0, 1.0, 0.0]
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = figure.subplots()
    ways = (
        (1.0, "-", "prefers the first"),
        (0.0, "--", "prefers none"),
        (-1.0, ":", "prefers what is not there"),
    )
    for slope, style, name in ways:
        ends = [0.4 - slope / 3, 0.4 + slope / 3]
        axes.plot([0, 2 / 3], ends, style, color="#00204d")
        axes.text(0.69, ends[1], name, va="center", fontsize=9, color="#00204d")
    axes.plot(weights, wanted, "o", color="#a66a00", markersize=9)
    axes.set(
        xticks=weights,
        xticklabels=["0 (not there)", "⅓ (second)", "⅔ (first)"],
        yticks=[],
    )
    axes.set(
        xlabel="weight of a digit",
        ylabel="its logit",
        ylim=(-0.3, 1.3),
        xlim=(-0.1, 1.1),
    )
    axes.set_title(
        "No straight line passes through the logits that are wanted (points)",
        fontsize=9,
    )
    alt = "Three points, of which the middle one is highest, and three straight lines, rising, level and falling. "
    alt += "None of the lines is highest in the middle."
    show(figure, alt)
