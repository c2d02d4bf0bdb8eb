"""The three diagrams of lesson 1. The notebook imports this file, which lies beside it."""

import math
from collections.abc import Sequence

from autograder import plot

READ = {f"h{i}": (i, 0) for i in range(5)}
CHAIN = [(f"h{i}", f"h{i + 1}") for i in range(4)]


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
    """Draw one step of a decoder that looks at all of the encoder's states.

    Args:
        scores: of the five states.
    """
    total = sum(math.exp(score) for score in scores)
    weights = [math.exp(score) / total for score in scores]
    # equal numbers have boxes of their own
    scored = {f"{score:g}" + " " * i: (i, -1.0) for i, score in enumerate(scores)}
    shares = {f"{weight:.2f}" + " " * i: (i, 1.0) for i, weight in enumerate(weights)}
    sides = {"scores": (-1.5, -1.0), "weights": (-1.5, 1.0)}
    plot.diagram(
        READ
        | scored
        | shares
        | sides
        | {"s0": (2, -2.1), "context": (2, 2.3), "y0": (4, 2.3)},
        [
            *CHAIN,
            ("scores", "weights", 0.25, "softmax"),
            *(("s0", score, 0.1) for score in scored),
            *zip(READ, scored, [0.1] * 5, strict=True),
            *zip(READ, shares, weights, strict=True),
            *((name, "context", w) for name, w in zip(shares, weights, strict=True)),
            ("context", "y0"),
        ],
        "The state s0 scores every h, and the scores decide how much of it counts",
        marked=["context"],
        notes={"y0": "from s0, too"},
        alt="Five states h0 to h4 in a row. Below them are their scores, "
        f"{', '.join(f'{score:g}' for score in scores)}, to each of which an arrow leads from its state and one from "
        "the decoder's state s0. Softmax turns the scores into the weights above the states, "
        f"{', '.join(f'{w:.2f}' for w in weights)}. From each state an arrow leads through its weight to the context, "
        "as thick as the weight. The word y0 is written from the context and s0.",
    )


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
