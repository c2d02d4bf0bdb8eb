"""The checks of lesson 4 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from collections.abc import Iterator
from types import NoneType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder.checks import Inputs, check, law, shortcut

NO_STABLE_SOFTMAX = shortcut(
    "stable_softmax",
    "softmax",
    "log_softmax",
    "logsumexp",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "Softmax",
    because="Use exp: the exercise is about what happens inside softmax.",
)
NO_STREAMING_ATTEND = shortcut(
    "streaming_attend",
    "softmax",
    "logsumexp",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
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
    """Return the name of the error that a call raises, 'ValueError' for any kind of it, or 'no error'."""
    try:
        result = call()
    except Exception as error:
        return "ValueError" if isinstance(error, ValueError) else type(error).__name__
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


MOVING = (
    "_to_copy",
    "clone",
    "constant_pad_nd",
    "cat",
)  # operators that compute nothing
NOT_OF_IT = (Tensor, NoneType, int, str, torch.dtype, torch.device, Iterator)


class Passes(TorchDispatchMode):
    """Notes which keys are computed with: more than a piece of them at a time, or a piece again after another.

    Args:
        scores: one for each key, (n,).
        chunk: how many keys are in a piece.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first operation imports PyTorch's compiler: two seconds

    def __init__(self, scores: Tensor, chunk: int) -> None:
        super().__init__()
        self.chunk, self.many = chunk, False
        self.again: set[int] = set()
        self._rows = {scores.untyped_storage().data_ptr(): scores}  # and its copies
        self._here: set[int] = set()
        self._left: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run an operator, and note what it computes with."""
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in MOVING:
            if any(map(self.is_row, tree_leaves(args))):
                self._rows[result.untyped_storage().data_ptr()] = result
        elif not (func.is_view or name.startswith("new_")):
            self.note(args)
        return result

    def is_row(self, item: Any) -> bool:
        """Say whether something is made of all scores: of more than a piece."""
        whole = isinstance(item, Tensor) and item.numel() > self.chunk
        return whole and item.untyped_storage().data_ptr() in self._rows

    def note(self, args: Any) -> None:
        """Note what is computed with. Beside scores, it may be a few times as large as a piece."""
        for tensor in tree_leaves(args):
            if not isinstance(tensor, Tensor) or not tensor.numel():
                continue
            if tensor.untyped_storage().data_ptr() not in self._rows:
                self.many |= tensor.numel() > 4 * self.chunk
                continue
            sizes = zip(tensor.shape, tensor.stride(), strict=True)
            start = tensor.storage_offset()
            end = start + 1 + sum((size - 1) * step for size, step in sizes)
            keys = set(range(start, end))
            self.many |= len(keys) > self.chunk
            self.again |= keys & self._left
            if len(self._here | keys) > self.chunk:
                self._left |= self._here - keys
                self._here = set()
            self._here |= keys


class Leaving(TorchFunctionMode):
    """Notes numbers that leave PyTorch, as tolist and NumPy take them."""

    def __init__(self, passes: Passes) -> None:
        super().__init__()
        self.passes = passes

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function, and note the tensors whose numbers it returns."""
        result = func(*args, **(kwargs or {}))
        if not all(isinstance(item, NOT_OF_IT) for item in tree_leaves(result)):
            self.passes.note(args)
        return result


def how_it_reads(streaming_attend: Any, draw: Inputs) -> str:
    """Follow how it reads 150 keys in pieces of 12."""
    scores, values = draw.normal(150), draw.normal(150, 2)
    passes = Passes(scores, 12)
    with passes, Leaving(passes):
        streaming_attend(scores, values, 12)
    if passes.many:
        return "more than one piece at a time"
    some = len(passes.again) > 2 * 12  # the largest score so far may be a view of one
    return "most pieces twice" if some else "each piece once"


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
    """Six keys in two pieces of three, with rising and falling scores; and how it reads 150 keys in pieces."""
    scores, values = draw.give(2 * draw.normal(6)), draw.normal(6, 4)
    return {
        **both_ways(streaming_attend, scores, values, 3),
        "what it reads": how_it_reads(streaming_attend, draw),
    }


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


@law("stable_softmax")
def scores_moved_together(stable_softmax: Any, draw: Inputs) -> bool:
    """The same number added to all scores changes no weight."""
    scores = draw.normal(3, 5)
    moved = stable_softmax(scores + 700)
    return torch.allclose(stable_softmax(scores), moved, rtol=1e-3, atol=1e-4)


@law("temperature_softmax")
def one_unit_at_any_temperature(temperature_softmax: Any, draw: Inputs) -> bool:
    """The weights of a row sum to 1 at every temperature."""
    scores = draw.normal(3, 5)
    sums = [temperature_softmax(scores, t).sum(dim=-1) for t in (0.3, 1.0, 5.0)]
    return all(torch.allclose(each, torch.ones_like(each), atol=1e-3) for each in sums)


@law("temperature_softmax")
def scores_moved_together_at_a_temperature(
    temperature_softmax: Any, draw: Inputs
) -> bool:
    """The same number added to all scores changes no weight, whatever the temperature."""
    scores = (8 * draw.normal(3, 5)).round() / 8
    pairs = [
        (temperature_softmax(scores, t), temperature_softmax(scores + 3000, t))
        for t in (0.5, 1.0, 50.0)
    ]
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in pairs)


@law("temperature_softmax")
def the_largest_wins(temperature_softmax: Any, draw: Inputs) -> bool:
    """At a temperature of 0.00001 the largest score has nearly all of the weight, in half precision too."""
    weights = temperature_softmax(torch.tensor([1.0, 3.0, 2.0]).half(), 1e-5)
    return torch.allclose(weights.float(), torch.tensor([0.0, 1.0, 0.0]), atol=1e-3)


@law("temperature_softmax")
def twice_the_scores(temperature_softmax: Any, draw: Inputs) -> bool:
    """Scores twice as large at twice the temperature have the same weights."""
    scores = draw.normal(3, 5)
    one, other = temperature_softmax(scores, 0.7), temperature_softmax(2 * scores, 1.4)
    return torch.allclose(one, other, atol=1e-4)


@law("attention_entropy")
def even_weights_have_more(attention_entropy: Any, draw: Inputs) -> bool:
    """Weights of 0.9 and 0.1 have a smaller entropy than 0.6 and 0.4, and those a smaller one than 0.5 and 0.5."""
    weights = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], dtype=torch.float64)
    low, middle, high = attention_entropy(weights).tolist()
    return low < middle < high


@law("streaming_attend")
def pieces_of_any_size(streaming_attend: Any, draw: Inputs) -> bool:
    """Pieces of any size give the same result, all keys in one piece as well."""
    scores, values = draw.normal(6), draw.normal(6, 4)
    one, three, all_of_them = (streaming_attend(scores, values, c) for c in (1, 3, 6))
    alike = torch.allclose(one, three, atol=1e-4)
    return alike and torch.allclose(three, all_of_them, atol=1e-4)


@law("streaming_attend")
def every_key_counts(streaming_attend: Any, draw: Inputs) -> bool:
    """With equal scores every value counts the same, also those of a last piece that is shorter."""
    values = draw.normal(7, 4)
    mixed = streaming_attend(torch.zeros(7, dtype=values.dtype), values, 3)
    return torch.allclose(mixed, values.mean(dim=0), atol=1e-4)


@law("streaming_attend")
def keys_in_another_order(streaming_attend: Any, draw: Inputs) -> bool:
    """The order in which the keys come changes nothing."""
    scores, values = draw.normal(6), draw.normal(6, 4)
    turned = streaming_attend(scores.flip(0), values.flip(0), 2)
    return torch.allclose(streaming_attend(scores, values, 2), turned, atol=1e-4)


@law("stable_softmax")
def sums_along_dim(stable_softmax: Any, draw: Inputs) -> bool:
    """The weights sum to 1 along dim, whichever axis that is, and along the last one by default."""
    x = draw.normal(2, 3, 4)
    sums = [stable_softmax(x, dim).sum(dim) for dim in (0, 1, -1)] + [
        stable_softmax(x).sum(-1)
    ]
    return all(torch.allclose(each, torch.ones_like(each), atol=1e-4) for each in sums)


@law("stable_softmax")
def larger_by_one(stable_softmax: Any, draw: Inputs) -> bool:
    """A score that is larger by 1 has a weight e times as large, also beside scores that are far larger."""
    weights = stable_softmax(torch.tensor([3.0, 2.0, 9.0]).double())
    return abs(float(weights[0] / weights[1]) - torch.e) < 1e-3


@law("stable_softmax")
def nothing_for_minus_infinity(stable_softmax: Any, draw: Inputs) -> bool:
    """A score of -inf has a weight of 0, and the others have the weights that they have without it."""
    x = draw.normal(3)
    weights = stable_softmax(torch.cat([x, x.new_tensor([-torch.inf])]))
    return bool(weights[3] == 0) and torch.allclose(
        weights[:3], stable_softmax(x), atol=1e-4
    )


@law("temperature_softmax")
def along_dim(temperature_softmax: Any, draw: Inputs) -> bool:
    """The weights sum to 1 along dim, whichever axis that is."""
    x = draw.normal(2, 3, 4)
    sums = [temperature_softmax(x, 0.8, dim).sum(dim) for dim in (0, 1, 2)]
    return all(torch.allclose(each, torch.ones_like(each), atol=1e-4) for each in sums)


@law("attention_entropy")
def equal_weights(attention_entropy: Any, draw: Inputs) -> bool:
    """n equal weights have an entropy of log(n) nats: the natural logarithm, not divided by its largest value."""
    found = [float(attention_entropy(torch.full((n,), 1 / n).double())) for n in (2, 8)]
    return abs(found[0] - 0.693147) < 1e-3 and abs(found[1] - 2.079442) < 1e-3


@law("attention_entropy")
def zeros_change_nothing(attention_entropy: Any, draw: Inputs) -> bool:
    """A weight of exactly 0 adds nothing to the entropy, and makes no other weight count less."""
    weights = draw.normal(3).softmax(dim=-1)
    longer = torch.cat([weights, torch.zeros(2).to(weights)])
    return torch.allclose(
        attention_entropy(longer), attention_entropy(weights), atol=1e-6
    )


@law("attention_entropy")
def each_row_has_its_own(attention_entropy: Any, draw: Inputs) -> bool:
    """Each row has an entropy of its own: a table of (2, 3, n) weights gives (2, 3) numbers."""
    weights = draw.normal(2, 3, 4).softmax(dim=-1)
    found = attention_entropy(weights)
    return found.shape == (2, 3) and torch.allclose(
        found[1, 2], attention_entropy(weights[1, 2]), atol=1e-6
    )


@law("streaming_attend")
def all_scores_moved(streaming_attend: Any, draw: Inputs) -> bool:
    """The same number added to all scores changes nothing, even 3000 or -3000, in pieces of any size."""
    scores, values = draw.normal(7), draw.normal(7, 2)
    results = [streaming_attend(scores + n, values, 3) for n in (0, 3000, -3000)]
    return all(torch.allclose(results[0], each, atol=1e-4) for each in results[1:])


@law("streaming_attend")
def a_larger_score_comes_later(streaming_attend: Any, draw: Inputs) -> bool:
    """When a larger score comes in a later piece, what was summed up so far shrinks: the sum of exponentials and the
    mixed values, by the same factor.
    """
    scores, values = (
        torch.tensor([0.0, 0.0, 1.0, 1.0, 2.0, 2.0]).double(),
        draw.normal(6, 2),
    )
    right = (scores.exp() / scores.exp().sum()) @ values
    return torch.allclose(streaming_attend(scores, values, 2), right, atol=1e-4)


@law("streaming_attend")
def values_moved_together(streaming_attend: Any, draw: Inputs) -> bool:
    """The same vector added to all values is added to the result: the sum is divided once, by all exponentials."""
    scores, values = draw.normal(7), draw.normal(7, 2)
    moved = streaming_attend(scores, values + 5, 3)
    return torch.allclose(moved, streaming_attend(scores, values, 3) + 5, atol=1e-4)
