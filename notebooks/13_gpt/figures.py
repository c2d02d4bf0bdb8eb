"""The diagram of lesson 13. The notebook imports it by way of `given`."""

from itertools import pairwise

from autograder import plot

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
