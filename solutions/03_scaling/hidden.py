"""The hidden checks of lesson 3, and the mistakes that students make in it. Never released to students."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from checks import as_multiples, measured

from autograder.checks import Inputs, check, invariant, mistake

# Scale


@check("scale_scores", points=1)
def heads_in_float32(scale_scores: Any, draw: Inputs) -> Any:
    """A batch with heads in float32, with the scores left unchanged."""
    scores = draw.normal(2, 3, 5, 7, dtype=torch.float32)
    return scale_scores(scores, 12), scores


@mistake("scale_scores", hint=1)
def divided_by_d(scores, d_k):
    """The scores were divided by d_k itself. Their spread grows with its square root, so this overshoots: softmax goes
    flat.
    """
    return scores / d_k


@mistake("scale_scores", hint=3)
def multiplied(scores, d_k):
    """The scores were multiplied by the square root. They were too large already: divide."""
    return scores * math.sqrt(d_k)


@mistake("scale_scores")
def half_as_divisor(scores, d_k):
    """The scores were divided by half of d_k: `d_k ** 1 / 2` is `(d_k ** 1) / 2`. The square root is d_k ** 0.5."""
    return scores / (d_k / 2)


@mistake("scale_scores", hint=2)
def number_of_keys(scores, d_k):
    """The scores were divided by the square root of the number of keys. What made them large is the dimension of the
    vectors, d_k.
    """
    return scores / math.sqrt(scores.size(-1))


@mistake("scale_scores", hint=2)
def number_of_queries(scores, d_k):
    """The scores were divided by the square root of the number of queries. What made them large is the dimension of the
    vectors, d_k.
    """
    return scores / math.sqrt(scores.size(-2))


@mistake("scale_scores")
def unchanged(scores, d_k):
    """The scores were returned unchanged."""
    return scores * 1


@mistake("scale_scores", hint=3)
def in_place(scores, d_k):
    """The numbers are right, but the caller's scores were changed. Make new ones."""
    return scores.div_(math.sqrt(d_k))


@mistake("scale_scores")
def by_the_measured_spread(scores, d_k):
    """The scores were divided by their own spread. The factor depends on d_k alone: a sharp query stays sharp."""
    return scores / scores.std()


@mistake("scale_scores", hint=3)
def softmax_included(scores, d_k):
    """Softmax was applied as well. Return only the scaled scores."""
    return (scores / math.sqrt(d_k)).softmax(dim=-1)


@mistake("scale_scores")
def whole_numbers(scores, d_k):
    """The scores were rounded down: // cuts the fraction off. Use /."""
    return scores // math.sqrt(d_k)


@mistake("scale_scores", hint=3)
def weights_divided(scores, d_k):
    """These are weights, divided afterwards. It is the scores that have to shrink, before any softmax."""
    return scores.softmax(dim=-1) / math.sqrt(d_k)


@mistake("scale_scores")
def half_of_d(scores, d_k):
    """The scores were divided by d_k and by 2: in `d_k**1/2` the power binds first. Compute the divisor alone and look
    at it.
    """
    return scores / d_k / 2


@mistake("scale_scores")
def whole_root(scores, d_k):
    """The square root was truncated to a whole number, which goes unnoticed for 64. The root of 10 is 3.162, not 3."""
    return scores / int(d_k**0.5)


@mistake("scale_scores")
def root_of_the_scores(scores, d_k):
    """The scores are under the square root too, so negative ones became NaN. Only d_k belongs under the root."""
    return (scores / d_k).sqrt()


@mistake("scale_scores")
def each_row_by_its_spread(scores, d_k):
    """Each row was divided by its own spread. The factor depends on d_k alone."""
    return scores / scores.std(dim=-1, keepdim=True)


# Measure


@check("score_std", points=1, summary=as_multiples)
def another_width(score_std: Any, draw: Inputs) -> Any:
    """Another dimension."""
    return measured(score_std, draw, draw.integer(20, 30))


def pairs(d_k, n, generator):
    """Draw n queries and keys."""
    return torch.randn(n, d_k, generator=generator), torch.randn(
        n, d_k, generator=generator
    )


@mistake("score_std")
def mean_absolute_value(d_k, n, generator):
    """This is the mean of the absolute values, about 0.8 of the standard deviation. `std` computes the spread."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).abs().mean().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std")
def variance(d_k, n, generator):
    """The raw number is a variance: it is about d_k. The standard deviation is its square root."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).var().item()
    return raw, raw / d_k


@mistake("score_std", hint=2)
def generator_ignored(d_k, n, generator):
    """The spreads are right, but not all draws came from the generator: the same state gave different numbers."""
    q, k = torch.randn(n, d_k), torch.randn(n, d_k)
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=2)
def seed_of_its_own(d_k, n, generator):
    """Every call gives the same numbers: a seed is set inside. Draw from the generator that is passed in, as it is."""
    q, k = pairs(d_k, n, torch.Generator().manual_seed(0))
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=2)
def uniform_numbers(d_k, n, generator):
    """The spread is too small: these numbers are uniform, from torch.rand. Standard normal ones come from randn."""
    q, k = (
        torch.rand(n, d_k, generator=generator),
        torch.rand(n, d_k, generator=generator),
    )
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=1)
def not_summed(d_k, n, generator):
    """This is the spread of single products, about 1. A score is the sum of d_k of them."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=1)
def summed_over_pairs(d_k, n, generator):
    """The products were summed over the n pairs, not over the d_k entries of a vector: the axes have changed places."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=0).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std")
def scaled_by_d(d_k, n, generator):
    """The raw spread is right, but the scaled one is too small: it was divided by d_k. Divide by the square root of
    d_k.
    """
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / d_k


@mistake("score_std", hint=3)
def not_scaled(d_k, n, generator):
    """Both numbers are the raw spread. The second should be the spread of the scaled scores."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw


@mistake("score_std")
def scaled_first(d_k, n, generator):
    """The two numbers are swapped: raw should come first, then scaled."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).std().item()
    return raw / math.sqrt(d_k), raw


@mistake("score_std")
def one_vector_for_both(d_k, n, generator):
    """Queries and keys are the same vectors, so every product is a square. Draw the keys separately."""
    q, _ = pairs(d_k, n, generator)
    raw = (q * q).sum(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=1)
def one_query_for_all(d_k, n, generator):
    """One query met all n keys. Draw n queries, so that every pair is independent of the others."""
    q, k = pairs(d_k, n, generator)
    raw = (k @ q[0]).std().item()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std", hint=3)
def drawn_twice(d_k, n, generator):
    """The scaled scores come from a second draw. Draw n pairs once, then measure the same scores raw and scaled."""
    raw, scaled = (
        (q * k).sum(dim=-1).std().item()
        for q, k in (pairs(d_k, n, generator), pairs(d_k, n, generator))
    )
    return raw, scaled / math.sqrt(d_k)


@mistake("score_std", hint=3)
def tensors_returned(d_k, n, generator):
    """Both results should be Python floats, but they are tensors. item() turns a tensor into a number."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).std()
    return raw, raw / math.sqrt(d_k)


@mistake("score_std")
def number_of_pairs_fixed(d_k, n, generator):
    """Plausible numbers, but not from n pairs: with few pairs they should vary more. Draw n queries and n keys, and
    score each query with its own key.
    """
    q, k = pairs(d_k, 2000, generator)
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / d_k**0.5


@mistake("score_std")
def rounded_off(d_k, n, generator):
    """The results were rounded. Return what was measured: it differs a little from one draw to the next."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).sum(dim=-1).std().item()
    return round(raw, 2), round(raw / d_k**0.5, 2)


@mistake("score_std")
def not_measured(d_k, n, generator):
    """These are the theoretical values, √d_k and 1. Draw n pairs, and measure."""
    return float(d_k**0.5), 1.0


@mistake("score_std", hint=1)
def mean_of_products(d_k, n, generator):
    """The products were averaged. A score is their sum."""
    q, k = pairs(d_k, n, generator)
    raw = (q * k).mean(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)


# The Jacobian


SYMMETRIC = "A softmax's table of derivatives is symmetric."
TRANSPOSED = invariant("softmax_jacobian", "transposed", because=SYMMETRIC)
LAST_TRANSPOSED = invariant(
    "softmax_jacobian", "with its last result transposed", because=SYMMETRIC
)


@check("softmax_jacobian", points=1)
def one_hot_and_float32(softmax_jacobian: Any, draw: Inputs) -> Any:
    """Weights that are all on one key, in float32, and left unchanged."""
    sure = (200 * draw.normal(4, 6, dtype=torch.float32)).softmax(dim=-1)
    even = torch.full((1, 6), 1 / 6)
    weights = torch.cat([sure, even])
    return softmax_jacobian(weights), weights


@mistake("softmax_jacobian", hint=1)
def diagonal_only(weights):
    """Only the diagonal is filled. Raising one score also lowers the other weights."""
    return torch.diag_embed(weights * (1 - weights))


@mistake("softmax_jacobian")
def sign_turned(weights):
    """All signs are reversed. Raising a score raises its own weight, so the diagonal is positive."""
    return weights.unsqueeze(-1) * weights.unsqueeze(-2) - torch.diag_embed(weights)


@mistake("softmax_jacobian")
def softmax_again(weights):
    """Softmax was applied to the input, which already holds weights."""
    w = weights.softmax(dim=-1)
    return torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)


@mistake("softmax_jacobian", hint=2)
def row_times_column(weights):
    """One number was subtracted everywhere, the sum of the squared weights: a row times a column. A column times a row
    gives the table of products.
    """
    total = weights.square().sum(dim=-1, keepdim=True).unsqueeze(-1)
    return torch.diag_embed(weights) - total


@mistake("softmax_jacobian", hint=1)
def products_off_the_diagonal(weights):
    """Right off the diagonal. The diagonal holds the weights alone: the products are subtracted there too, w - w²."""
    products = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return (
        2 * torch.diag_embed(weights)
        - products
        - torch.diag_embed(weights * (1 - weights))
    )


@mistake("softmax_jacobian", hint=1)
def products_only(weights):
    """Only the products are there, with a minus sign. The weights themselves are missing from the diagonal."""
    return -weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake("softmax_jacobian")
def plus_instead_of_minus(weights):
    """The products were added. What one key gains, the others lose, so the products are subtracted."""
    return torch.diag_embed(weights) + weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake("softmax_jacobian", hint=3)
def single_row_only(weights):
    """`torch.outer` and `torch.diag` handle only a single row. For more rows, add axes and let them broadcast."""
    return torch.diag(weights) - torch.outer(weights, weights)


@mistake("softmax_jacobian", hint=1)
def rows_entry_by_entry(weights):
    """You returned one number per weight. How each weight responds to each score is an n by n table per row."""
    return weights * (1 - weights)


@mistake("softmax_jacobian", hint=3)
def weight_of_the_score(weights):
    """The factor in front is the column's weight. It should be the row's weight: the one that responds."""
    eye = torch.eye(weights.size(-1), dtype=weights.dtype)
    return weights.unsqueeze(-2) * (eye - weights.unsqueeze(-2))


@mistake("softmax_jacobian")
def weights_changed(weights):
    """The table is right, but the caller's weights were changed along the way. Make new ones."""
    table = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    weights *= 1 - weights
    return table


@mistake("softmax_jacobian", hint=2)
def one_on_the_diagonal(weights):
    """The entries off the diagonal are right. The diagonal starts from 1 here. It should start from the weight."""
    eye = torch.eye(weights.size(-1), dtype=weights.dtype)
    return eye - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake("softmax_jacobian", hint=1)
def square_subtracted_twice(weights):
    """The entries off the diagonal are right. On the diagonal, the square of the weight was subtracted twice."""
    return torch.diag_embed(weights * (1 - weights)) - weights.unsqueeze(
        -1
    ) * weights.unsqueeze(-2)


@mistake("softmax_jacobian", hint=3)
def one_table_for_all_rows(weights):
    """All rows were joined into one and gave a single large table. Each row has its own table: (..., n, n)."""
    w = weights.flatten()
    return w.diag() - torch.outer(w, w)


@mistake("softmax_jacobian", hint=2)
def as_large_as_the_first_axis(weights):
    """The identity matrix got its size from the first axis, which is the batch as soon as there is one. It is n by n:
    count from the end.
    """
    eye = torch.eye(weights.size(0), dtype=weights.dtype)
    return weights.unsqueeze(-1) * (eye - weights.unsqueeze(-2))


@mistake("softmax_jacobian", hint=2)
def same_weight_twice(weights):
    """Off the diagonal, a weight is multiplied by itself. Entry [i, j] needs two weights: that of i and that of j."""
    eye = torch.eye(weights.size(-1), dtype=weights.dtype)
    return weights.unsqueeze(-1) * (eye - weights.unsqueeze(-1))


@mistake("softmax_jacobian", hint=3)
def rows_with_rows(weights):
    """Rows were multiplied by one another: `@` sums over rows. Each row needs its own column times its own row."""
    if weights.ndim == 1:
        return weights.diag() - torch.outer(weights, weights)
    return torch.diag_embed(weights) - weights.mT @ weights


@mistake("softmax_jacobian", hint=1)
def weights_on_the_diagonal(weights):
    """The weights are on the diagonal, and nothing else is there. The products w_i · w_j have to be subtracted from the
    whole table.
    """
    return torch.diag_embed(weights)


@mistake("softmax_jacobian", hint=1)
def delta_everywhere(weights):
    """The 1 was used for every entry. Delta is 1 on the diagonal and 0 elsewhere."""
    return weights.unsqueeze(-1) * (1 - weights.unsqueeze(-2))


# Attention


@check("scaled_attend", points=1, tolerance=1e-3)
def given_scales(scaled_attend: Any, draw: Inputs) -> Any:
    """Given scales, zero among them, with heads, and scores in the thousands."""
    inputs = draw.normal(2, 3, 4, 8), draw.normal(2, 3, 6, 8), draw.normal(2, 3, 6, 5)
    large = 50 * draw.normal(6, 8), 50 * draw.normal(7, 8), draw.normal(7, 2)
    given = [scaled_attend(*inputs, scale=scale) for scale in (0.3, 0.0, None)]
    return [*given, scaled_attend(*large)]


def mixed(scores, value):
    """Finish attention from the scores."""
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


@mistake("scaled_attend", hint=2)
def scaled_after_softmax(query, key, value, scale=None):
    """The weights were scaled after softmax: your rows sum to 1 over the square root of D. Scale the scores."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    weights = (query @ key.mT).softmax(dim=-1) * scale
    return weights @ value, weights


@mistake("scaled_attend", hint=1)
def width_of_values(query, key, value, scale=None):
    """The scale comes from the dimension of the values. It is the dimension of queries and keys that makes scores
    large.
    """
    scale = value.size(-1) ** -0.5 if scale is None else scale
    return mixed(query @ key.mT * scale, value)


@mistake("scaled_attend", hint=1)
def count_of_keys(query, key, value, scale=None):
    """The scale comes from the number of keys. It is the dimension of queries and keys that makes scores large."""
    scale = key.size(-2) ** -0.5 if scale is None else scale
    return mixed(query @ key.mT * scale, value)


@mistake("scaled_attend")
def axis_from_the_front(query, key, value, scale=None):
    """D was read from axis 1, which is the heads as soon as there are any. Count from the end."""
    scale = query.size(1) ** -0.5 if scale is None else scale
    return mixed(query @ key.mT * scale, value)


@mistake("scaled_attend", hint=3)
def zero_taken_for_none(query, key, value, scale=None):
    """A scale of 0.0 was treated as no scale at all: `or` and `if scale` do that. Ask whether it is None."""
    return mixed(query @ key.mT * (scale or query.size(-1) ** -0.5), value)


@mistake("scaled_attend")
def root_of_the_given_scale(query, key, value, scale=None):
    """The scores were divided by the square root of the given scale. They are multiplied by it; the root belongs to the
    default.
    """
    width = query.size(-1) if scale is None else scale
    return (
        mixed(query @ key.mT / math.sqrt(width), value)
        if width
        else (
            torch.full_like(query[..., :1] * value[..., :1, :], math.nan),
            torch.full_like(query @ key.mT, math.nan),
        )
    )


@mistake("scaled_attend", hint=3)
def given_scale_ignored(query, key, value, scale=None):
    """The given scale had no effect. The default is for None only."""
    return mixed(query @ key.mT * query.size(-1) ** -0.5, value)


@mistake("scaled_attend")
def given_scale_divides(query, key, value, scale=None):
    """The scores were divided by the given scale. They are multiplied by it, and the default is 1 over the
    square root.
    """
    return mixed(
        query @ key.mT / (query.size(-1) ** 0.5 if scale is None else scale), value
    )


@mistake("scaled_attend", hint=3)
def both_scales(query, key, value, scale=None):
    """The given scale was applied on top of the default. It replaces the default."""
    return mixed(
        query @ key.mT * query.size(-1) ** -0.5 * (1.0 if scale is None else scale),
        value,
    )


@mistake("scaled_attend")
def scaled_on_both_sides(query, key, value, scale=None):
    """Query and key were both multiplied by the scale, so the scores got it twice. Scale one of them, or the scores."""
    factor = query.size(-1) ** -0.5 if scale is None else scale
    return mixed((query * factor) @ (key * factor).mT, value)


@mistake("scaled_attend")
def no_scale_at_all(query, key, value, scale=None):
    """With no scale given, the scores were not scaled. The default is 1 over the square root of D."""
    return mixed(query @ key.mT * (1.0 if scale is None else scale), value)


@mistake("scaled_attend")
def divided_by_the_width(query, key, value, scale=None):
    """The default came out as 1 over D: the scores were divided by D itself, or by its square root twice."""
    return mixed(
        query @ key.mT * (1 / query.size(-1) if scale is None else scale), value
    )


@mistake("scaled_attend")
def multiplied_by_the_root(query, key, value, scale=None):
    """The default multiplies by the square root of D. The scores are too large already: use 1 over the square root."""
    return mixed(
        query @ key.mT * (query.size(-1) ** 0.5 if scale is None else scale), value
    )


@mistake("scaled_attend")
def softmax_over_queries(query, key, value, scale=None):
    """Your columns sum to 1: softmax ran over the queries. Each query shares out its own attention, along its row."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    weights = (query @ key.mT * scale).softmax(dim=-2)
    return weights @ value, weights


@mistake("scaled_attend")
def output_alone(query, key, value, scale=None):
    """You returned one tensor, the output. Return a pair: output, weights."""
    return F.scaled_dot_product_attention(query, key, value, scale=scale)


@mistake("scaled_attend")
def weights_first(query, key, value, scale=None):
    """Right tensors, wrong order: the output should come first, then the weights."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    return mixed(query @ key.mT * scale, value)[::-1]


@mistake("scaled_attend")
def scores_returned(query, key, value, scale=None):
    """The output is right, but the second result is the scores. Return the weights, which come after softmax."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    scores = query @ key.mT * scale
    return scores.softmax(dim=-1) @ value, scores


@mistake("scaled_attend", hint=2)
def output_scaled(query, key, value, scale=None):
    """The weights come from unscaled scores, and no scaling of the output repairs that. Scale the scores."""
    scale = query.size(-1) ** -0.5 if scale is None else scale
    output, weights = mixed(query @ key.mT, value)
    return output * scale, weights


@mistake("scaled_attend")
def exponentials_overflow(query, key, value, scale=None):
    """Right for small scores. Large ones overflow when exp is written out by hand. Use PyTorch's softmax."""
    e = (query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("scaled_attend", hint=1)
def count_of_queries(query, key, value, scale=None):
    """The scale comes from the number of queries. It is the dimension of queries and keys that makes scores large."""
    scale = query.size(-2) ** -0.5 if scale is None else scale
    return mixed(query @ key.mT * scale, value)
