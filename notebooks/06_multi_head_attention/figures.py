"""The figures of lesson 6. The notebook beside this file imports it."""

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

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


def cut() -> None:
    """Draw which head gets which entries of five tokens: by a split with a swap, and by a single view."""
    colors, inks = ("#f1eedf", "#9db4c8", "#00204d"), ("#111111", "#111111", "#ffffff")
    figure = Figure(figsize=(7.4, 2.6), layout="constrained")
    panels = (
        ("as it should be: a part of every token", lambda n: n % 12 // 4),
        ("a single view: a part of the sequence", lambda n: n // 20),
    )
    for axes, (title, head_of) in zip(figure.subplots(1, 2), panels, strict=True):
        for n in range(60):
            head, x, y = head_of(n), n % 12, n // 12
            cell = Rectangle((x, y), 1, 1, facecolor=colors[head], edgecolor="#6b6b6b")
            axes.add_patch(cell)
            middle = {"ha": "center", "va": "center", "fontsize": 7}
            axes.text(x + 0.5, y + 0.5, str(n), color=inks[head], **middle)
        axes.set(
            xlim=(0, 12), ylim=(5, 0), xticks=[], yticks=[y + 0.5 for y in range(5)]
        )
        axes.set_yticklabels([f"token {y}" for y in range(5)], fontsize=8)
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=9)
    heads = [
        Patch(facecolor=c, edgecolor="#6b6b6b", label=f"head {h}")
        for h, c in enumerate(colors)
    ]
    figure.legend(
        handles=heads, loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
    alt = "Five tokens of twelve entries, numbered from 0 to 59. On the left each head gets four columns, so four "
    alt += "entries of every token. On the right head 0 gets entries 0 to 19, which are all of token 0 and most of "
    alt += "token 1, head 1 gets 20 to 39, and head 2 gets 40 to 59."
    show(figure, f"Which head gets which entry. {alt}")


def no_peak() -> None:
    """Draw why no matrix names the digit whose weight is one third: a logit is a straight line in the weight."""
    weights, wanted = [0, 1 / 3, 2 / 3], [0.0, 1.0, 0.0]
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = figure.subplots()
    ways = (
        (1.0, "-", "prefers the first"),
        (0.0, "--", "prefers none"),
        (-1.0, ":", "prefers the absent"),
    )
    for slope, style, name in ways:
        ends = [0.4 - slope / 3, 0.4 + slope / 3]
        axes.plot([0, 2 / 3], ends, style, color="#00204d")
        axes.text(0.69, ends[1], name, va="center", fontsize=9, color="#00204d")
    axes.plot(weights, wanted, "o", color="#a66a00", markersize=9)
    for x, y, name in zip(weights, wanted, ("lower", "highest", "lower"), strict=True):
        axes.annotate(name, (x, y), (9, -9), textcoords="offset points", fontsize=9)
    axes.set(
        xticks=weights,
        xticklabels=["0 (not there)", "⅓ (second)", "⅔ (first)"],
        yticks=[],
    )
    axes.set(
        xlabel="weight of a digit",
        ylabel="its logit",
        ylim=(-0.3, 1.3),
        xlim=(-0.1, 0.95),
    )
    axes.set_title(
        "No straight line passes through the logits that are wanted (points)",
        fontsize=9,
    )
    alt = "Three points, of which the middle one is highest, and three straight lines, rising, level and falling. "
    alt += "None of the lines is highest in the middle."
    show(figure, alt)
