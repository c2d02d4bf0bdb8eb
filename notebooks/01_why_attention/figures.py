"""The three diagrams of lesson 1. The notebook imports this file, which lies beside it."""

import math
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from autograder import plot
from autograder.plot.drawing import BAR, CREAM, EDGE, arrow, block, new_figure, show

READ = {f"h{i}": (i, 0) for i in range(5)}
CHAIN = [(f"h{i}", f"h{i + 1}") for i in range(4)]
# the rows of the second diagram, and what they are called
STATES, MEETS, SCORES, SOFTMAX, WEIGHTS, TIMES = 0, -0.75, -1.5, -2.4, -3.3, -4.15
CONTEXT, DECODER = -5.4, -6.4
CAPTIONS = {
    "states of the\nencoder": STATES,
    "scores": SCORES,
    "weights": WEIGHTS,
    "weight\ntimes state": TIMES,
    "their sum": CONTEXT,
}
MIDDLE, HALF = 2, 0.22  # of the columns, and of a box's height


def bottleneck() -> None:
    """Draw an encoder and a decoder that only the last state joins."""
    written = {f"s{i}": (i + 5.6, 0) for i in range(5)}
    words = {f"x{i}": (i, -1) for i in range(5)} | {
        f"y{i}": (i + 5.6, 1) for i in range(5)
    }
    arrows = [*CHAIN, *((f"s{i}", f"s{i + 1}") for i in range(4))]
    arrows += [(f"x{i}", f"h{i}") for i in range(5)] + [
        (f"s{i}", f"y{i}") for i in range(5)
    ]
    arrows += [(f"y{i}", f"s{i + 1}") for i in range(4)]
    plot.diagram(
        READ | written | words,
        [*arrows, ("h4", "s0", 1.0)],
        "All that was read passes through one state",
        marked=["h4"],
        notes={"x2": "what the encoder reads", "s2": "the decoder, which writes"},
        alt="Words x0 to x4 enter the states h0 to h4, one after another. One thick arrow leads from h4, the last "
        "state, to s0, the first of the decoder's states s0 to s4, which write y0 to y4. Each written word enters the "
        "next state. No other arrow joins the two halves.",
    )


def attention(scores: Sequence[float]) -> None:
    """Draw one step of a decoder that looks at all of the encoder's states, from the top down.

    Args:
        scores: of the five states.
    """
    total = sum(math.exp(score) for score in scores)
    weights = [math.exp(score) / total for score in scores]
    figure = new_figure(5.6, 6.2)
    axes = figure.subplots()
    for name, row in CAPTIONS.items():
        axes.text(-0.5, row, name, ha="right", va="center", fontsize=10)
    for i, (score, weight) in enumerate(zip(scores, weights, strict=True)):
        draw_column(axes, i, f"{score:g}", weight)
    box(axes, MIDDLE, SOFTMAX, "softmax, over all scores together", 4.7)
    box(axes, MIDDLE, CONTEXT, "context", 1.0, BAR)
    box(axes, MIDDLE, DECODER, "the decoder writes y0", 2.2)
    arrow(axes, (MIDDLE, CONTEXT - HALF), (MIDDLE, DECODER + HALF))
    draw_state(axes)
    axes.set(xlim=(-1.9, 4.45), ylim=(DECODER - 0.35, 0.35))
    axes.set_axis_off()
    title = "The state s0 scores every h,\nand the scores decide how much of it counts"
    figure.suptitle(title, fontsize=11)
    alt = "From top to bottom: the encoder's states h0 to h4 in a row. Each meets the decoder's state s0, which a line "
    alt += f"brings from the left, and gets a score: {', '.join(f'{score:g}' for score in scores)}. All scores enter "
    alt += f"one softmax, which makes the weights {', '.join(f'{w:.2f}' for w in weights)} of them. Each weight is "
    alt += "multiplied by its state, and an arrow as thick as the weight leads to the sum of all, the context. The "
    alt += "decoder writes y0 from the context and s0."
    show(figure, f"{title}. {alt}".replace("\n", " "))


def draw_column(axes: Axes, x: int, score: str, weight: float) -> None:
    """Draw what becomes of one of the encoder's states on its way to the context."""
    rows = {STATES: f"h{x}", SCORES: score, WEIGHTS: f"{weight:.2f}", TIMES: f"× h{x}"}
    for row, text in rows.items():
        box(axes, x, row, text)
    for above, below in pairwise((STATES, SCORES, SOFTMAX, WEIGHTS, TIMES)):
        arrow(axes, (x, above - HALF), (x, below + HALF))
    if x:
        arrow(axes, (x - 0.65, STATES), (x - 0.35, STATES))
    axes.plot(x, MEETS, "o", color=EDGE)
    end = (MIDDLE + 0.15 * (x - MIDDLE), CONTEXT + HALF)
    arrow(axes, (x, TIMES - HALF), end, linewidth=0.6 + 7 * weight, mutation_scale=14)


def draw_state(axes: Axes) -> None:
    """Draw the decoder's state, which meets all of the encoder's states and goes to the decoder."""
    left = -1.6
    axes.plot([left, 4], [MEETS, MEETS], color=EDGE, linewidth=1.5)
    axes.plot([left, left], [MEETS, DECODER], color=EDGE, linewidth=1.5)
    arrow(axes, (left, DECODER), (MIDDLE - 1.1, DECODER))
    box(axes, left, MEETS, "s0", 0.5)


def box(
    axes: Axes, x: float, y: float, text: str, width: float = 0.7, color: str = CREAM
) -> None:
    """Draw a box around a point, with a text in it."""
    corner, size = (x - width / 2, y - HALF), (width, 2 * HALF)
    block(axes, corner, size, color, text, fontsize=10, zorder=3)


def distance() -> None:
    """Draw how far the first word of a sentence is from the last state, in a chain and with attention."""
    words = {
        word: (i, 0)
        for i, word in enumerate(["the", "cat", "sat", "on", "the ", "mat"])
    }
    states = {f"h{i}": (i, 1) for i in range(6)}
    plot.diagram(
        words | states | {"context": (2.5, 2.3)},
        [(f"h{i}", f"h{i + 1}", 0.8) for i in range(5)]
        + [(word, f"h{i}", 0.1) for i, word in enumerate(words)]
        + [(h, "context", 0.8 if h == "h0" else 0.1) for h in states],
        "Five steps from the first state to the last, one from any state to the context",
        marked=["context"],
        alt="A sentence of six words. Above it is a chain of six states, so what came in first passes through "
        "five arrows. Above the chain is one box, which an arrow enters from every state directly.",
    )
