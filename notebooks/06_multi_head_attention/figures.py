"""The diagram of lesson 6. The notebook beside this file imports it."""

from autograder import plot

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
