"""The checks of lesson 3 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from typing import Any

import torch

from autograder.checks import Inputs, check, law, shortcut

NO_SOFTMAX_JACOBIAN = shortcut(
    "softmax_jacobian",
    "jacobian",
    "jacrev",
    "jacfwd",
    "complex",
    "softmax",
    because="Write the formula yourself: the exercise is about what is inside.",
)
NO_QUERY_JACOBIAN = shortcut(
    "query_jacobian",
    "jacobian",
    "jacrev",
    "jacfwd",
    "complex",
    "softmax",
    because="Write the formula yourself: the exercise is about the covariance in it.",
)
NO_SCALED_ATTEND = shortcut(
    "scaled_attend",
    "scaled_dot_product_attention",
    "MultiheadAttention",
    because="Writing its steps is the exercise.",
)


@check("scale_scores", points=1, show=True)
def a_table_of_scores(scale_scores: Any, draw: Inputs) -> Any:
    """Scores from vectors of dimension 64, and of dimension 10."""
    return {f"d_k = {d_k}": scale_scores(draw.normal(3, 5), d_k) for d_k in (64, 10)}


FEW = 40  # pairs: their measured spread varies by about a tenth
SOME = 600  # pairs: theirs varies by about a thirtieth, if every pair is freshly drawn


def measured(score_std: Any, draw: Inputs, d_k: int) -> Any:
    """Measure many pairs three times, the second time from the first one's generator state, then few and some
    repeatedly.
    """
    seeds = (draw.integer(0, 99), draw.integer(100, 199))
    many = [
        score_std(d_k, 5000, torch.Generator().manual_seed(seeds[i])) for i in (0, 0, 1)
    ]
    few = [
        score_std(d_k, FEW, torch.Generator().manual_seed(seeds[1] + i))
        for i in range(60)
    ]
    some = [
        score_std(d_k, SOME, torch.Generator().manual_seed(seeds[0] + 1000 + i))
        for i in range(40)
    ]
    return d_k, [*many, *few, *some]


def rough(number: float) -> str:
    """Round a measured number to one decimal, a large one to one digit, so that two sound measurements agree."""
    return f"{number:.1f}" if number < 3 else f"{number:.1g}"


def as_multiples(measured: Any) -> Any:
    """Describe a measurement: each spread as a multiple of what it should be, to one decimal."""
    d_k, results = measured
    for result in results:
        if not isinstance(result, list | tuple) or len(result) != 2:
            raise ValueError(
                "It should return two numbers: the raw and the scaled standard deviation."
            )
        if not all(isinstance(item, float) for item in result):
            kinds = ", ".join(
                getattr(item, "kind", type(item).__name__) for item in result
            )
            raise ValueError(
                f"Both results should be Python floats, but they are {kinds}. item() turns a tensor into one."
            )
    (raw, scaled), again, other, *rest = results
    return {
        "the raw spread, in multiples of √d_k": rough(raw / d_k**0.5),
        "the scaled spread": rough(scaled),
        "the same generator state gives the same numbers": [raw, scaled] == list(again),
        "another generator state gives other numbers": raw != other[0],
        "both spreads are of the same scores": all(
            abs(raw - scaled * d_k**0.5) < 2e-3 * abs(raw)  # n or n - 1 in it: both do
            for raw, scaled in (*results[:3], *rest[60:])
        ),
        "the numbers were rounded": round(raw, 4) == raw or round(scaled, 4) == scaled,
        f"how much the spread over {FEW} pairs varies": scatter(rest[:60], FEW),
        f"how much the spread over {SOME} pairs varies": scatter(rest[60:], SOME),
    }


def scatter(results: Any, pairs: int) -> str:
    """Compare how much a measured spread varies with how much it should for that many independent pairs."""
    spreads = torch.tensor([result[0] for result in results])
    times = float(spreads.std() / spreads.mean()) * (2 * pairs) ** 0.5
    if times <= 0.6:
        return "as little as for many more pairs"
    return (
        f"as much as for {pairs} independent pairs"
        if times < 1.6
        else "too much: the pairs are not independent"
    )


@check("score_std", points=1, summary=as_multiples)
def spread_for_64(score_std: Any, draw: Inputs) -> Any:
    """5000 pairs of dimension 64, then 40 and 600: both measured spreads, and the generator."""
    return measured(score_std, draw, 64)


@check("softmax_jacobian", points=1, show=True)
def three_weights(softmax_jacobian: Any, draw: Inputs) -> Any:
    """One row of three weights."""
    return softmax_jacobian(draw.normal(3).softmax(dim=-1))


@check("softmax_jacobian", points=1, show=True)
def many_rows(softmax_jacobian: Any, draw: Inputs) -> Any:
    """Many rows at once: a table for each. Then weights far apart: each response of one to another, by their product,
    which tells the formula from differences.
    """
    return {
        "many rows": softmax_jacobian(draw.normal(2, 3, 5).softmax(dim=-1)),
        "weights far apart, by their product": responses_far_apart(
            softmax_jacobian, draw
        ),
    }


def responses_far_apart(softmax_jacobian: Any, draw: Inputs) -> torch.Tensor:
    """Return the responses of very small weights to one another, each divided by both: -1, and 0 on the diagonal."""
    apart = draw.give(torch.tensor([1e-9, 1.0, 1e-15, 1e-18], dtype=torch.float64))
    table = softmax_jacobian(apart) / (apart.unsqueeze(-1) * apart)
    return table - table.diag().diag()


@check("scaled_attend", points=1, show=True)
def default_scale(scaled_attend: Any, draw: Inputs) -> Any:
    """Two queries, three keys: without a scale, with a scale of 0.3, and with 0; then a batch with heads."""
    inputs = draw.normal(2, 5), draw.normal(3, 5), draw.normal(3, 7)
    heads = draw.normal(2, 3, 4, 5), draw.normal(2, 3, 6, 5), draw.normal(2, 3, 6, 7)
    results = {
        f"scale={scale}": scaled_attend(*inputs, scale) for scale in (None, 0.3, 0.0)
    }
    return {**results, "with heads": scaled_attend(*heads)}


@check("query_jacobian", points=0, show=True)
def two_queries(query_jacobian: Any, draw: Inputs) -> Any:
    """Two queries, four keys: a table for each query; then a batch with heads."""
    weights = draw.normal(2, 4).softmax(dim=-1)
    heads = draw.normal(2, 3, 4, 6).softmax(dim=-1)
    return {
        "two queries": query_jacobian(
            weights, draw.normal(4, 3), draw.normal(4, 5), 0.5
        ),
        "with heads": query_jacobian(
            heads, draw.normal(2, 3, 6, 5), draw.normal(2, 3, 6, 7), 2.0
        ),
    }


@law("scale_scores")
def linear(scale_scores: Any, draw: Inputs) -> bool:
    """Scores twice as large are twice as large after scaling: one and the same factor for all scores."""
    scores = draw.normal(3, 5)
    doubled = scale_scores(2 * scores, 64)
    return torch.allclose(doubled, 2 * scale_scores(scores, 64), atol=1e-4)


@law("softmax_jacobian")
def responses_sum_to_zero(softmax_jacobian: Any, draw: Inputs) -> bool:
    """The responses to one score, a column of the table, sum to 0: what one weight gains the others lose."""
    sums = softmax_jacobian(draw.normal(5).softmax(dim=-1)).sum(dim=-2)
    return torch.allclose(sums, torch.zeros_like(sums), atol=1e-4)


@law("softmax_jacobian")
def scores_moved_together(softmax_jacobian: Any, draw: Inputs) -> bool:
    """Each row sums to 0: a weight responds to all scores together as to none, since only differences count."""
    sums = softmax_jacobian(draw.normal(5).softmax(dim=-1)).sum(dim=-1)
    return torch.allclose(sums, torch.zeros_like(sums), atol=1e-4)


@law("scaled_attend")
def a_scale_of_zero(scaled_attend: Any, draw: Inputs) -> bool:
    """With a scale of 0 all scores are equal, so every output is the mean of the values."""
    value = draw.normal(3, 7)
    output, _ = scaled_attend(draw.normal(2, 5), draw.normal(3, 5), value, 0.0)
    return torch.allclose(output, value.mean(dim=0).expand(2, 7), atol=1e-4)


@law("query_jacobian")
def one_key_has_all(query_jacobian: Any, draw: Inputs) -> bool:
    """Where one key has all of the weight, no weight can move, so every response is 0."""
    weights = torch.eye(4, dtype=torch.float64)[:2]
    found = query_jacobian(weights, draw.normal(4, 3), draw.normal(4, 5), 0.5)
    return torch.allclose(found, torch.zeros_like(found), atol=1e-4)


@law("query_jacobian")
def keys_moved_together(query_jacobian: Any, draw: Inputs) -> bool:
    """The same vector added to all keys moves no weight, because each weight gives to or takes from the others.
    So it changes no response.
    """
    weights, key = draw.normal(2, 4).softmax(dim=-1), draw.normal(4, 3)
    value, moved = draw.normal(4, 5), key + 10 * draw.normal(3)
    one, other = (query_jacobian(weights, k, value, 0.5) for k in (key, moved))
    return torch.allclose(one, other, atol=1e-4)


@law("scale_scores")
def four_times_the_dimension(scale_scores: Any, draw: Inputs) -> bool:
    """With d_k four times as large, scores become half as large as before: they are divided by its root."""
    scores = draw.normal(3, 5)
    one, four = scale_scores(scores, 9), scale_scores(scores, 36)
    return torch.allclose(one, 2 * four, atol=1e-4)


@law("scale_scores")
def one_dimension(scale_scores: Any, draw: Inputs) -> bool:
    """With a d_k of 1 nothing has grown, and nothing changes."""
    scores = draw.normal(3, 5)
    return torch.allclose(scale_scores(scores, 1), scores, atol=1e-4)


def spreads(
    score_std: Any, draw: Inputs, d_k: int, n: int = 4000
) -> tuple[float, float]:
    """Return the two spreads for some dimension."""
    raw, scaled = score_std(d_k, n, torch.Generator().manual_seed(draw.integer(0, 999)))
    return float(raw), float(scaled)


@law("score_std")
def grows_like_the_root(score_std: Any, draw: Inputs) -> bool:
    """Sixteen times the dimension has four times the raw spread: a score sums d_k products, and a spread is no
    variance.
    """
    ratio = spreads(score_std, draw, 64)[0] / spreads(score_std, draw, 4)[0]
    return 3.4 < ratio < 4.7


@law("score_std")
def scaled_is_about_one(score_std: Any, draw: Inputs) -> bool:
    """The scaled spread is about 1 at every dimension."""
    return all(0.85 < spreads(score_std, draw, d_k)[1] < 1.15 for d_k in (4, 64))


@law("score_std")
def the_same_scores_twice(score_std: Any, draw: Inputs) -> bool:
    """Raw and scaled are the spreads of the same scores: one is the root of d_k times the other."""
    raw, scaled = spreads(score_std, draw, 16, 400)
    return abs(raw / scaled - 4) < 0.02


@law("softmax_jacobian")
def alike_both_ways(softmax_jacobian: Any, draw: Inputs) -> bool:
    """Weight i responds to score j as weight j does to score i."""
    table = softmax_jacobian(draw.normal(5).softmax(dim=-1))
    return torch.allclose(table, table.mT, atol=1e-4)


@law("softmax_jacobian")
def up_with_its_own_score(softmax_jacobian: Any, draw: Inputs) -> bool:
    """A weight rises with its own score and falls with every other one."""
    table = softmax_jacobian(draw.normal(5).softmax(dim=-1))
    return bool((table.diagonal() > 0).all()) and int((table < 0).sum()) == 20


@law("scaled_attend")
def default_is_the_root(scaled_attend: Any, draw: Inputs) -> bool:
    """Without a scale, scores are multiplied by 1 / sqrt(D), with D the last size of query and key, and not
    of value.
    """
    inputs = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 7)
    pairs = zip(scaled_attend(*inputs), scaled_attend(*inputs, 0.5), strict=True)
    return all(torch.allclose(one, other, atol=1e-4) for one, other in pairs)


@law("scaled_attend")
def scale_multiplies_scores(scaled_attend: Any, draw: Inputs) -> bool:
    """Twice the scale does what queries twice as long do: it multiplies the scores once, before softmax."""
    query, key, value = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 7)
    pairs = zip(
        scaled_attend(query, key, value, 0.6),
        scaled_attend(2 * query, key, value, 0.3),
        strict=True,
    )
    return all(torch.allclose(one, other, atol=1e-4) for one, other in pairs)


@law("scaled_attend")
def these_weights_mix(scaled_attend: Any, draw: Inputs) -> bool:
    """The output is the values mixed by the very weights that are returned, and these sum to 1 for each query."""
    query, key, value = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 7)
    output, weights = scaled_attend(query, key, value)
    sums = weights.sum(dim=-1)
    return torch.allclose(output, weights @ value, atol=1e-4) and torch.allclose(
        sums, torch.ones_like(sums), atol=1e-4
    )


@law("query_jacobian")
def twice_the_scale(query_jacobian: Any, draw: Inputs) -> bool:
    """Twice the scale makes every response twice as large, whatever D is."""
    inputs = draw.normal(2, 4).softmax(dim=-1), draw.normal(4, 3), draw.normal(4, 5)
    one, two = query_jacobian(*inputs, 0.3), query_jacobian(*inputs, 0.6)
    return torch.allclose(two, 2 * one, atol=1e-4)


@law("query_jacobian")
def values_moved_together(query_jacobian: Any, draw: Inputs) -> bool:
    """The same vector added to all values changes no response: the output only moves with them."""
    weights, key, value = (
        draw.normal(2, 4).softmax(dim=-1),
        draw.normal(4, 3),
        draw.normal(4, 5),
    )
    one, other = (query_jacobian(weights, key, v, 0.5) for v in (value, value + 10))
    return torch.allclose(one, other, atol=1e-4)
