"""The figures of lesson 13. The notebook imports it by way of `given`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import torch
from matplotlib.axes import Axes
from torch import Tensor

from autograder import plot
from autograder.plot.drawing import BAR, CREAM, EDGE, INK, new_figure, show

BARS = 9  # tokens that have one of their own
# what lesson 9 measured at its twelve heads: the weight one back, and on repetitions
LESSON_9 = (
    (0.90, 0.91, 0.10, 0.79, 0.06, 0.18, 0.13, 0.06, 0.08, 0.08, 0.06, 0.08),
    (0.00, 0.00, 0.03, 0.01, 0.97, 0.17, 0.43, 0.97, 0.06, 0.13, 0.92, 0.05),
)

CHANCE = (0.08, 0.03)  # of a head that looks at all tokens alike
CORNER = {"xlim": (-0.01, 0.26), "ylim": (-0.008, 0.07)}  # where most heads are
BROWN = "#a5522d"
BESIDE = {"textcoords": "offset points", "fontsize": 9}

WHOLE = {
    "tokens (B, L)": (0, 6),
    "token embedding (V, E)": (0, 5),
    "+ position embedding (B, L, E)": (0, 4),
    "num_layers blocks, causal mask (B, L, E)": (0, 3),
    "norm (B, L, E)": (0, 2),
    "× the same matrix, transposed (E, V)": (0, 1),
    "logits (B, L, V)": (0, 0),
}


def whole_model() -> None:
    """Draw the model from tokens to logits, with the shape after each part."""
    names = list(WHOLE)
    plot.diagram(
        WHOLE,
        list(pairwise(names)),
        "One matrix, drawn dark, reads the tokens and writes the logits",
        marked=["token embedding (V, E)", "× the same matrix, transposed (E, V)"],
        alt="From top to bottom: tokens become vectors by the token embedding and the position embedding, pass the "
        "blocks and a norm, and are multiplied by the matrix of the token embedding once more, which gives the logits.",
    )


def merge_tree(word: str, merges: Sequence[tuple[str, str]]) -> None:
    """Draw how a word becomes tokens. Of the merges that fit, the one that was learned first is made first.

    Args:
        word: a word without the space before it, which is drawn as a dot.
        merges: the pairs that were learned, in order.
    """
    boxes = {  # equal letters have boxes of their own
        dotted(character) + " " * i: (0.8 * i, 0.0)
        for i, character in enumerate(f" {word}")
    }
    arrows, row = [], [(name.strip().replace("·", " "), name) for name in boxes]
    ranks = {pair: rank for rank, pair in enumerate(merges, 1)}
    while known := [
        (ranks[a, b], i)
        for i, ((a, _), (b, _)) in enumerate(pairwise(row))
        if (a, b) in ranks
    ]:
        rank, i = min(known)
        (a, left), (b, right) = row[i : i + 2]
        name = f"{dotted(a + b)}\nmerge {rank}"
        row[i : i + 2] = [(a + b, name)]
        arrows += [(left, name), (right, name)]
        (x1, y1), (x2, y2) = boxes[left], boxes[right]
        boxes[name] = ((x1 + x2) / 2, min(y1, y2) - 1)
    draw_tree(word, boxes, arrows, row)


def draw_tree(
    word: str,
    boxes: Mapping[str, tuple[float, float]],
    arrows: Sequence[tuple[str, str]],
    row: Sequence[tuple[str, str]],
) -> None:
    """Draw a tree, in which row has each token with the name of its box."""
    merged = [name.replace("\nmerge", ", merge") for name in boxes if "merge" in name]
    tokens = [dotted(token) for token, _ in row]
    plot.diagram(
        boxes,
        arrows,
        f"{len(merged)} merges turn {word} into {len(row)} tokens, drawn dark",
        marked=[name for _, name in row],
        alt="At the top are the characters, below them what is merged of two neighbors: "
        f"{'; '.join(merged)}. The tokens are {', '.join(tokens)}.",
    )


def dotted(token: str) -> str:
    """Return a token with a dot for its space."""
    return token.replace(" ", "·")


def four_ways(logits: Tensor, tokens: Sequence[str]) -> None:
    """Draw the probabilities of the next token, and what each of four ways to choose it leaves of them.

    Args:
        logits: what a model returns for one place, (V,).
        tokens: the V tokens.
    """
    ordered, index = logits.sort(descending=True)
    shares = ordered.softmax(dim=-1)
    nucleus = 1 + int((shares.cumsum(dim=-1) < 0.8).sum())
    ways = {
        "the model's own": shares,
        "greedy": first(shares, 1),
        "temperature 0.5": (ordered / 0.5).softmax(dim=-1),
        "top-k with k = 3": first(shares, 3),
        "top-p with p = 0.8": first(shares, nucleus),
    }
    names = [tokens[i].strip() for i in index[:BARS]]
    draw_ways(
        {
            way: [*left[:BARS].tolist(), float(left[BARS:].sum())]
            for way, left in ways.items()
        },
        [*names, "others"],
    )


def first(shares: Tensor, n: int) -> Tensor:
    """Return probabilities of which only the first n are left."""
    kept = torch.where(torch.arange(len(shares)) < n, shares, 0.0)
    return kept / kept.sum()


def draw_ways(ways: Mapping[str, Sequence[float]], names: Sequence[str]) -> None:
    """Draw a row of bars for each way, of which the last one is the sum of many."""
    figure = new_figure(5.5, 5.4)
    rows = figure.subplots(len(ways), 1, sharex=True, sharey=True)
    alt = []
    for axes, (way, shares) in zip(rows, ways.items(), strict=True):
        texts = [percent(share) for share in shares]
        bars = axes.bar(names, shares, color=[BAR] * BARS + [CREAM])
        bars[-1].set(edgecolor=INK, hatch="//", linewidth=float(shares[-1] > 0))
        axes.bar_label(bars, texts, fontsize=9, padding=1)
        axes.set(ylim=(0, 1.2), yticks=[])
        axes.spines[["left", "right", "top"]].set_visible(False)
        axes.set_title(way, loc="right", y=0.55, fontsize=10)
        left = [f"{n} {text}" for n, text in zip(names, texts, strict=True) if text]
        alt.append(f"{way}: {', '.join(left)}")
    rows[-1].set_xticks(range(len(names)), names, rotation=35, ha="right")
    title = "A temperature tilts the bars, top-k and top-p cut them off"
    figure.suptitle(title, fontsize=11)
    show(figure, f"{title}. {'; '.join(alt)}.")


def percent(share: float) -> str:
    """Return a share in whole percent, and nothing if it is 0."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}" if share else ""


def jobs(found: Tensor, heads: int) -> None:
    """Draw the heads of a model as points: how much each looks one back, and how much for repetitions.

    Args:
        found: the two scores of all heads of all blocks, (2, heads of all blocks).
        heads: of one block.
    """
    figure = new_figure(5.6, 5.0)
    axes = figure.subplots()
    corner = axes.inset_axes((0.46, 0.42, 0.52, 0.52), **CORNER)
    for panel in (axes, corner):
        draw_heads(panel, found)
    for head, (back, repetition) in enumerate(found.T.tolist()):
        if max(back, repetition) > 0.5:
            number = f"{head // heads}.{head % heads}"
            axes.annotate(number, (back, repetition), (6, 3), color=BAR, **BESIDE)
    axes.annotate("1.0, 1.3 and 2.2", (0.06, 0.95), (8, 0), va="center", **BESIDE)
    axes.annotate("1.2", (0.13, 0.43), (0, 7), ha="center", **BESIDE)
    axes.annotate("0.0, 0.1 and 0.3", (0.85, 0), (0, 10), ha="center", **BESIDE)
    corner.set_title("the corner, enlarged", fontsize=9)
    corner.tick_params(labelsize=9)
    axes.indicate_inset_zoom(corner, edgecolor=EDGE)
    axes.set(xlim=(-0.04, 1.08), ylim=(-0.04, 1.08))
    axes.set(xlabel="share of weight one back", ylabel="share of weight on repetitions")
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    title = "A head on the right looks one back, one at the top looks for repetitions"
    figure.suptitle(title, fontsize=11)
    alt = "A point for each head, and a cross for chance, at 0.08 and 0.03. Of lesson 9's twelve heads three are far "
    alt += "to the right, three at the top, and head 1.2 halfway to the top. The heads of this model have at most "
    alt += f"{float(found[0].max()):.2f} of their weight one back and at most {float(found[1].max()):.2f} on "
    alt += "repetitions. The corner around chance is also drawn enlarged."
    show(figure, f"{title}. {alt}")


def draw_heads(axes: Axes, found: Tensor) -> None:
    """Draw the heads of lesson 9, those of a model, and where a head would be that looks at all tokens alike."""
    squares = {"facecolor": CREAM, "edgecolor": INK, "marker": "s", "s": 45}
    axes.scatter(*LESSON_9, label="12 heads of lesson 9", **squares)
    name = f"{found.size(1)} heads of this model"
    dots = {"color": BAR, "alpha": 0.6, "linewidth": 0, "s": 32}
    axes.scatter(*found.tolist(), label=name, zorder=3, **dots)
    look = {"color": BROWN, "markersize": 10, "markeredgewidth": 2.5, "zorder": 4}
    axes.plot(*CHANCE, "+", label="chance", **look)
