"""The checks of lesson 4 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.checks import Inputs, check, shortcut

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
    because="The scores arrive in pieces: write the single pass yourself.",
)


@check("stable_softmax", points=1, show=True)
def a_table(stable_softmax: Any, draw: Inputs) -> Any:
    """A table of small scores, each row separately; rows with a single score; and three axes, along the middle one."""
    return {
        "rows": stable_softmax(draw.normal(3, 5)),
        "rows with a single score": stable_softmax(draw.normal(2, 1)),
        "dim=1 of three axes": stable_softmax(draw.normal(2, 4, 3), dim=1),
    }


@check("stable_softmax", points=1, show=True, tolerance=1e-3)
def rows_far_apart(stable_softmax: Any, draw: Inputs) -> Any:
    """Scores around ten thousand, and rows far apart from one another."""
    levels = torch.tensor([[0.0], [10_000.0], [-20_000.0]], dtype=torch.float64)
    apart, large = (
        draw.give(levels + draw.normal(3, 4)),
        draw.give(3000 * draw.normal(3, 4)),
    )
    return {
        "rows far apart": stable_softmax(apart),
        "large scores": stable_softmax(large),
    }


FAR_APART = torch.tensor([[20.0, 18, -7, 3], [-2, 0, -3, -5]])


def what_happens(call: Any) -> str:
    """Return the name of the error that a call raises, or 'no error'."""
    try:
        result = call()
    except Exception as error:
        return type(error).__name__
    return "no error, but a result" if isinstance(result, Exception) else "no error"


@check("temperature_softmax", points=1, show=True)
def cold_and_hot(temperature_softmax: Any, draw: Inputs) -> Any:
    """The same scores at temperatures 0.5 and 3; scores in half precision at 0.0001; and what happens at 0 and -1."""
    x = draw.normal(2, 4)
    half = draw.give((FAR_APART + 0.1 * draw.normal(2, 4)).half())
    refused = [what_happens(lambda t=t: temperature_softmax(x, t)) for t in (0.0, -1.0)]
    return {
        "temperature 0.5": temperature_softmax(x, 0.5),
        "temperature 3": temperature_softmax(x, 3.0),
        "half precision, temperature 0.0001": temperature_softmax(half, 0.0001),
        "what temperature 0 raises": refused[0],
        "what temperature -1 raises": refused[1],
    }


@check("attention_entropy", points=1, show=True)
def a_few_rows(attention_entropy: Any, draw: Inputs) -> Any:
    """Three rows of five weights, none of them 0."""
    return attention_entropy(draw.give(draw.normal(3, 5).softmax(dim=-1)))


@check("attention_entropy", points=1, show=True)
def one_key_and_all_keys(attention_entropy: Any, draw: Inputs) -> Any:
    """Weights that may be exactly 0: all on one key, where the entropy is exactly 0; half and half; spread evenly."""
    rows = [[1.0, 0, 0, 0], [0, 0.5, 0.5, 0], [0.25, 0.25, 0.25, 0.25]]
    weights = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    entropy = attention_entropy(draw.give(weights))
    entropy.sum().backward()
    return {
        "entropy": entropy,
        "exactly 0 where all weight is on one key": bool(
            (entropy[:1].abs() < 1e-8).all()
        ),
        "NaN in the gradient": bool(weights.grad.isnan().any()),
        "infinity in the gradient": bool(weights.grad.isinf().any()),
    }


class LargestExp(TorchDispatchMode):
    """Records the largest number of entries that went into exp at once."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first operation imports PyTorch's compiler: two seconds

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run an operation and inspect its result."""
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in ("exp", "exp_", "exp2", "pow", "_softmax"):
            self.most = max(self.most, result.numel())
        return result


def both_ways(
    streaming_attend: Any, scores: Tensor, values: Tensor, chunk: int
) -> dict[str, Tensor]:
    """Put the largest score last, then first."""
    rising = scores.sort().values
    return {
        "rising scores": streaming_attend(rising, values, chunk),
        "falling scores": streaming_attend(rising.flip(0), values, chunk),
    }


@check("streaming_attend", points=1, show=True)
def two_pieces(streaming_attend: Any, draw: Inputs) -> Any:
    """Six keys in two pieces of three, one piece at a time, with rising scores and with falling ones."""
    scores, values = draw.give(2 * draw.normal(6)), draw.normal(6, 4)
    with LargestExp() as counted:
        results = both_ways(streaming_attend, scores, values, 3)
    return {**results, "exp of one piece at a time": counted.most <= 3}


@check("streaming_attend", points=1, show=True, tolerance=1e-3)
def last_piece_short(streaming_attend: Any, draw: Inputs) -> Any:
    """Eleven keys in pieces of four, so the last has three. Scores around 1000, around -1000, and falling or rising
    from one to the other.
    """
    values = draw.normal(11, 3)
    falling = torch.tensor([1000.0, 900.0, -1000.0, 0.0], dtype=torch.float64)
    return {
        **both_ways(streaming_attend, 2 * draw.normal(11), values, 4),
        "scores around 1000": streaming_attend(
            draw.give(2 * draw.normal(11) + 1000), values, 4
        ),
        "scores around -1000": streaming_attend(
            draw.give(2 * draw.normal(11) - 1000), values, 4
        ),
        "a score of 1000, then lower ones": streaming_attend(falling, values[:4], 1),
        "lower scores, then one of 1000": streaming_attend(
            falling.flip(0) - 500, values[:4], 1
        ),
    }
