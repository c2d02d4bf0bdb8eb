"""The checks of lesson 4 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from typing import Any

import torch

from autograder.checks import Inputs, check
from autograder.checks import shortcut

NO_STABLE_SOFTMAX = shortcut(
    "stable_softmax",
    "softmax",
    "log_softmax",
    "logsumexp",
    "Softmax",
    because="Use exp: the exercise is about what happens inside softmax.",
)
NO_STREAMING_ATTEND = shortcut(
    "streaming_attend",
    "softmax",
    "logsumexp",
    "scaled_dot_product_attention",
    because="The scores come in pieces: write the one pass.",
)


@check("stable_softmax", points=1, show=True)
def a_table(stable_softmax: Any, draw: Inputs) -> Any:
    """A table of small scores, each row for itself."""
    return stable_softmax(draw.normal(3, 5))


@check("stable_softmax", points=1)
def rows_far_apart(stable_softmax: Any, draw: Inputs) -> Any:
    """Scores of ten thousand, and rows that lie far from one another."""
    levels = torch.tensor([[0.0], [10_000.0], [-10_000.0]], dtype=torch.float64)
    apart, large = (
        draw.give(levels + draw.normal(3, 4)),
        draw.give(3000 * draw.normal(3, 4)),
    )
    return stable_softmax(apart), stable_softmax(large)


def what_happens(call: Any) -> str:
    """Return the name of the error that a call raises, or 'no error'."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "no error"


@check("temperature_softmax", points=1, show=True)
def cold_and_hot(temperature_softmax: Any, draw: Inputs) -> Any:
    """The same scores at 0.5 and at 3; then what happens at 0 and at -1."""
    x = draw.normal(2, 4)
    refused = [what_happens(lambda t=t: temperature_softmax(x, t)) for t in (0.0, -1.0)]
    return temperature_softmax(x, 0.5), temperature_softmax(x, 3.0), refused


@check("attention_entropy", points=1, show=True)
def a_few_rows(attention_entropy: Any, draw: Inputs) -> Any:
    """Three rows of five weights, none of them 0."""
    return attention_entropy(draw.give(draw.normal(3, 5).softmax(dim=-1)))


@check("attention_entropy", points=1)
def one_key_and_all_keys(attention_entropy: Any, draw: Inputs) -> Any:
    """Weights that are exactly 0: all on one key, half and half, and spread evenly."""
    rows = [[1.0, 0, 0, 0], [0, 0.5, 0.5, 0], [0.25, 0.25, 0.25, 0.25]]
    weights = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    entropy = attention_entropy(draw.give(weights))
    entropy.sum().backward()
    return {
        "entropy": entropy,
        "NaN in the gradient": bool(weights.grad.isnan().any()),
        "infinity in the gradient": bool(weights.grad.isinf().any()),
    }


@check("streaming_attend", points=1, show=True)
def two_pieces(streaming_attend: Any, draw: Inputs) -> Any:
    """Six keys in two pieces of three."""
    return streaming_attend(draw.give(2 * draw.normal(6)), draw.normal(6, 4), 3)


@check("streaming_attend", points=1)
def last_piece_short(streaming_attend: Any, draw: Inputs) -> Any:
    """Eleven keys in pieces of four: the last has three. Then scores around a thousand and minus a thousand."""
    values = draw.normal(11, 3)
    return {
        "small scores": streaming_attend(2 * draw.normal(11), values, 4),
        "scores around 1000": streaming_attend(
            draw.give(2 * draw.normal(11) + 1000), values, 4
        ),
        "scores around -1000": streaming_attend(
            draw.give(2 * draw.normal(11) - 1000), values, 4
        ),
    }
