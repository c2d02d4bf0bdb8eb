"""The mistakes that students make in lesson 3, as edits of its solutions. Never given to students."""

import math

import torch
import torch.nn.functional as F

from autograder.checks import SHARED, solution


def pairs(d_k, n, generator):
    """Draw n queries and keys."""
    return torch.randn(n, d_k, generator=generator), torch.randn(
        n, d_k, generator=generator
    )


def mixed(scores, value):
    """Finish attention from the scores."""
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

scores = solution("scale_scores")
scores.mutant("divided_by_d", "math.sqrt(d_k)", "d_k", hint=1, says="The scores were divided by d_k itself. Their "
    "spread grows with its square root, so this overshoots: softmax goes flat.")
scores.mutant("multiplied", "scores / math.sqrt(d_k)", "scores * math.sqrt(d_k)", hint=3,
    says="The scores were multiplied by the square root. They were too large already: divide.")
scores.mutant("half_as_divisor", "math.sqrt(d_k)", "(d_k / 2)",
    says="The scores were divided by half of d_k, which is what `d_k ** 1 / 2` gives. The square root is d_k ** 0.5.")
scores.mutant("number_of_keys", "math.sqrt(d_k)", "math.sqrt(scores.size(-1))", hint=2, says="The scores were "
    "divided by the square root of the number of keys. What made them large is the dimension of the vectors, d_k.")
scores.mutant("number_of_queries", "math.sqrt(d_k)", "math.sqrt(scores.size(-2))", hint=2, says="The scores were "
    "divided by the square root of the number of queries. What made them large is the dimension of the vectors, d_k.")
scores.mutant("unchanged", "scores / math.sqrt(d_k)", "scores * 1", says="The scores were returned unchanged.")
scores.mutant("in_place", "scores / math.sqrt(d_k)", "scores.div_(math.sqrt(d_k))", hint=3,
    says="The numbers are right, but the caller's scores were changed. Make new ones.")
scores.mutant("by_the_measured_spread", "math.sqrt(d_k)", "scores.std()",
    says="The scores were divided by their own spread. The factor depends on d_k alone: a sharp query stays sharp.")
scores.mutant("softmax_included", "scores / math.sqrt(d_k)", "(scores / math.sqrt(d_k)).softmax(dim=-1)", hint=3,
    says="Softmax was applied as well. Return only the scaled scores.")
scores.mutant("whole_numbers", "scores / math.sqrt(d_k)", "scores // math.sqrt(d_k)",
    says="The scores were rounded down, as // does: it cuts the fraction off. Use /.")
scores.mutant("weights_divided", "scores / math.sqrt(d_k)", "scores.softmax(dim=-1) / math.sqrt(d_k)", hint=3,
    says="These are weights, divided afterwards. It is the scores that have to shrink, before any softmax.")
scores.mutant("half_of_d", "scores / math.sqrt(d_k)", "scores / d_k / 2", every=True, says="The scores were divided by "
    "d_k and by 2, as in `/ d_k**1/2` without parentheses. Compute the divisor alone and look at it.")
scores.mutant("whole_root", "math.sqrt(d_k)", "int(d_k ** 0.5)", every=True,
    says="The square root became a whole number, which goes unnoticed for 64. The root of 10 is 3.162, not 3.")
scores.mutant("root_of_the_scores", "scores / math.sqrt(d_k)", "(scores / d_k).sqrt()",
    says="The scores are under the square root too, so negative ones became NaN. Only d_k belongs under the root.")
scores.mutant("each_row_by_its_spread", "math.sqrt(d_k)", "scores.std(dim=-1, keepdim=True)",
    says="Each row was divided by its own spread. The factor depends on d_k alone.")

score = solution("score_std")
score_in_steps = solution("score_std", spelled="""
    def score_std(d_k: int, n: int, generator: torch.Generator) -> tuple[float, float]:
        q, k = torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)
        raw = torch.einsum('nd,nd->n', q, k)
        return (raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)
    """)
score_in_steps.mutant("mean_absolute_value", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'raw = torch.einsum("nd,nd->n", q, k)', "raw = (q * k).sum(dim=-1).abs().mean().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))",
    says="Both numbers are about 0.8 of the standard deviation, as the mean of the absolute values is. `std` computes "
    "the spread.")
score_in_steps.mutant("variance", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).var().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / d_k)",
    says="The raw number is about d_k, as a variance is. The standard deviation is its square root.")
score_in_steps.mutant("generator_ignored", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "(torch.randn(n, d_k), torch.randn(n, d_k))", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=2,
    says="The spreads are right, but not all draws came from the generator: the same state gave different numbers.")
score_in_steps.mutant("seed_of_its_own", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, torch.Generator().manual_seed(0))", 'torch.einsum("nd,nd->n", q, k)',
    "(q * k).sum(dim=-1).std().item()", "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)",
    "(raw, raw / math.sqrt(d_k))", hint=2, says="Every call gives the same numbers, as it does when a seed is set "
    "inside. Draw from the generator that is passed in, as it is.")
score_in_steps.mutant("uniform_numbers", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "(torch.rand(n, d_k, generator=generator), torch.rand(n, d_k, generator=generator))",
    'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=2,
    says="The spread is much too small, as it is with uniform numbers from torch.rand. Standard normal ones come from "
    "randn.")
score_in_steps.mutant("not_summed", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=1,
    says="The raw spread is about 1, which is that of single products. A score is the sum of d_k of them.")
score_in_steps.mutant("summed_over_pairs", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=0).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=1,
    says="The raw spread is about the root of n, as it is when the products are summed over the n pairs. A score sums "
    "over the d_k entries of its two vectors.")
score_in_steps.mutant("scaled_by_d", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / d_k)",
    says="The raw spread is right, but the scaled one is too small, as it is when divided by d_k. Divide by the square "
    "root of d_k.")
score_in_steps.mutant("not_scaled", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw)", hint=3,
    says="Both numbers are the raw spread. The second should be the spread of the scaled scores.")
score_in_steps.mutant("scaled_first", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw / math.sqrt(d_k), raw)",
    says="The two numbers are swapped: raw should come first, then scaled.")
score_in_steps.mutant("one_vector_for_both", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * q).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))",
    says="Both spreads are about 1.4 times what they should be, as when queries and keys are the same vectors. Draw "
    "the keys separately.")
score_in_steps.mutant("one_query_for_all", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(k @ q[0]).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=1,
    says="The spread varies too much from draw to draw, as when one query meets all n keys. Draw n queries, so that "
    "every pair is independent of the others.")
score.mutant("drawn_twice", "raw / math.sqrt(d_k)", "math.sqrt(d_k) / raw", every=True, hint=3,
    says="The two spreads are not of the same scores. Draw n pairs once, then measure the same scores raw and scaled.")
score_in_steps.mutant("tensors_returned", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=3,
    says="Both results should be Python floats, but they are tensors. item() turns a tensor into a number.")
score_in_steps.mutant("number_of_pairs_fixed", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, 2000, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item()", "(raw, raw",
    says="Plausible numbers, but not from n pairs: with few pairs they should vary more. Draw n queries and n keys, "
    "and score each query with its own key.")
score_in_steps.mutant("rounded_off", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'torch.einsum("nd,nd->n", q, k)', "(q * k).sum(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)",
    "(round(raw, 2), round(raw / d_k ** 0.5, 2))",
    says="The results were rounded. Return what was measured: it differs a little from one draw to the next.")
score.mutant("not_measured", body="return (float(d_k ** 0.5), 1.0)",
    says="These are the theoretical values, √d_k and 1. Draw n pairs, and measure.")
score_in_steps.mutant("mean_of_products", "torch.randn(2, n, d_k, generator=generator, dtype=torch.float64)",
    "pairs(d_k, n, generator)", 'raw = torch.einsum("nd,nd->n", q, k)', "raw = (q * k).mean(dim=-1).std().item()",
    "(raw.std(correction=0).item(), raw.std(correction=0).item() / d_k ** 0.5)", "(raw, raw / math.sqrt(d_k))", hint=1,
    says="Both spreads are close to 0, as they are when the products are averaged. A score is their sum.")

jacobian = solution("softmax_jacobian")
jacobian_in_steps = solution("softmax_jacobian", spelled="""
    def softmax_jacobian(weights: Tensor) -> Tensor:
        eye = torch.eye(weights.size(-1), dtype=weights.dtype)
        return weights[..., :, None] * (eye - weights[..., None, :])
    """)
jacobian.mutant("diagonal_only", hint=1, body="return torch.diag_embed(weights * (1 - weights))",
    says="Only the diagonal is filled. Raising one score also lowers the other weights.")
jacobian.mutant("sign_turned", body="return weights.unsqueeze(-1) * weights.unsqueeze(-2) - torch.diag_embed(weights)",
    says="All signs are reversed. Raising a score raises its own weight, so the diagonal is positive.")
jacobian_in_steps.mutant("softmax_again", "eye = torch.eye(weights.size(-1), dtype=weights.dtype)",
    "w = weights.softmax(dim=-1)", "weights[..., :, None] * (eye - weights[..., None, :])",
    "torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)",
    says="Softmax was applied to the input, which already holds weights.")
jacobian.mutant("row_times_column", "weights.unsqueeze(-1) * weights.unsqueeze(-2)",
    "weights.square().sum(dim=-1, keepdim=True).unsqueeze(-1)", hint=2, says="One number was subtracted everywhere, "
    "the sum of the squared weights: a row times a column. A column times a row gives the table of products.")
jacobian.mutant("products_off_the_diagonal", "torch.diag_embed(weights) - products",
    "2 * torch.diag_embed(weights) - products - torch.diag_embed(weights * (1 - weights))", every=True, hint=1,
    says="Right off the diagonal. The diagonal holds the weights alone: the products are subtracted there too, w - "
    "w².")
jacobian.mutant("products_only", hint=1, body="return -weights.unsqueeze(-1) * weights.unsqueeze(-2)",
    says="Only the products are there, with a minus sign. The weights themselves are missing from the diagonal.")
jacobian.mutant("plus_instead_of_minus",
    body="return torch.diag_embed(weights) + weights.unsqueeze(-1) * weights.unsqueeze(-2)",
    says="The products were added. What one key gains, the others lose, so the products are subtracted.")
jacobian.mutant("single_row_only", hint=3, body="return torch.diag(weights) - torch.outer(weights, weights)",
    says="`torch.outer` and `torch.diag` handle only a single row. For more rows, add axes and let them broadcast.")
jacobian.mutant("rows_entry_by_entry", hint=1, body="return weights * (1 - weights)",
    says="You returned one number per weight. How each weight responds to each score is an n by n table per row.")
jacobian_in_steps.mutant("weight_of_the_score", "weights[..., :, None]", "weights.unsqueeze(-2)",
    "weights[..., None, :]", "weights.unsqueeze(-2)", hint=3,
    says="The factor in front is the column's weight. It should be the row's weight: the one that responds.")
jacobian.mutant("weights_changed", body="""
    table = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    weights *= 1 - weights
    return table""", says="The table is right, but the caller's weights were changed along the way. Make new ones.")
jacobian_in_steps.mutant("one_on_the_diagonal", "weights[..., :, None] * (eye - weights[..., None, :])",
    "eye - weights.unsqueeze(-1) * weights.unsqueeze(-2)", hint=2,
    says="The entries off the diagonal are right. The diagonal starts from 1 here. It should start from the weight.")
jacobian.mutant("square_subtracted_twice", hint=1,
    body="return torch.diag_embed(weights * (1 - weights)) - weights.unsqueeze(-1) * weights.unsqueeze(-2)",
    says="The entries off the diagonal are right. On the diagonal, the square of the weight was subtracted twice.")
jacobian.mutant("one_table_for_all_rows", "products = weights.unsqueeze(-1) * weights.unsqueeze(-2)",
    "w = weights.flatten()", "torch.diag_embed(weights) - products", "w.diag() - torch.outer(w, w)", hint=3,
    says="All rows were joined into one and gave a single large table. Each row has its own table: (..., n, n).")
jacobian_in_steps.mutant("as_large_as_the_first_axis", "weights.size(-1)", "weights.size(0)", "weights[..., :, None]",
    "weights.unsqueeze(-1)", "weights[..., None, :]", "weights.unsqueeze(-2)", hint=2, says="It stopped: something is "
    "as large as the first axis, which is the batch as soon as there is one. The identity matrix is n by n: count from "
    "the end.")
jacobian_in_steps.mutant("same_weight_twice", "weights[..., :, None]", "weights.unsqueeze(-1)", "weights[..., None, :]",
    "weights.unsqueeze(-1)", hint=2, says="Off the diagonal, a weight is multiplied by itself. Entry [i, j] needs "
    "two weights: that of i and that of j.")
jacobian.mutant("rows_with_rows", hint=3, body="""
    if weights.ndim == 1:
        return weights.diag() - torch.outer(weights, weights)
    return torch.diag_embed(weights) - weights.mT @ weights""",
    says="It stopped: one table was to be subtracted for several rows, as when `@` sums over them. Each row needs its "
    "own column times its own row.")
jacobian.mutant("weights_on_the_diagonal", hint=1, body="return torch.diag_embed(weights)", says="The weights are on "
    "the diagonal, and nothing else is there. The products w_i · w_j have to be subtracted from the whole table.")
jacobian.mutant("delta_everywhere", hint=1, body="return weights.unsqueeze(-1) * (1 - weights.unsqueeze(-2))",
    says="The 1 was used for every entry. Delta is 1 on the diagonal and 0 elsewhere.")

scaled = solution("scaled_attend")
scaled.mutant("scaled_after_softmax", "(query @ key.mT * scale).softmax(dim=-1)",
    "(query @ key.mT).softmax(dim=-1) * scale", hint=2,
    says="The weights were scaled after softmax: your rows sum to 1 over the square root of D. Scale the scores.")
scaled.mutant("width_of_values", "query.size", "value.size", hint=1, says="The scale comes from the dimension of the "
    "values. It is the dimension of queries and keys that makes scores large.")
scaled.mutant("count_of_keys", hint=1, body="""
    scale = key.size(-2) ** (-0.5) if scale is None else scale
    return mixed(query @ key.mT * scale, value)""",
    says="The scale comes from the number of keys. It is the dimension of queries and keys that makes scores large.")
scaled.mutant("axis_from_the_front", body="""
    scale = query.size(1) ** (-0.5) if scale is None else scale
    return mixed(query @ key.mT * scale, value)""",
    says="With heads, the scale comes from their number, which is what axis 1 is then. D is the last axis: count from "
    "the end.")
scaled.mutant("zero_taken_for_none", hint=3,
    body="return mixed(query @ key.mT * (scale or query.size(-1) ** (-0.5)), value)",
    says="A scale of 0.0 was treated as no scale at all: `or` and `if scale` do that. Ask whether it is None.")
scaled.mutant("root_of_the_given_scale", body="""
    width = query.size(-1) if scale is None else scale
    return mixed(query @ key.mT / math.sqrt(width), value) if width else (torch.full_like(query[..., :1] * value[..., :1, :], math.nan), torch.full_like(query @ key.mT, math.nan))""",
    says="The scores were divided by the square root of the given scale. They are multiplied by it; the root belongs "
    "to the default.")
scaled.mutant("given_scale_ignored", hint=3, body="return mixed(query @ key.mT * query.size(-1) ** (-0.5), value)",
    says="The given scale had no effect. The default is for None only.")
scaled.mutant("given_scale_divides",
    body="return mixed(query @ key.mT / (query.size(-1) ** 0.5 if scale is None else scale), value)",
    says="The scores were divided by the given scale. They are multiplied by it, and the default is 1 over the "
    "square root.")
scaled.mutant("both_scales", hint=3,
    body="return mixed(query @ key.mT * query.size(-1) ** (-0.5) * (1.0 if scale is None else scale), value)",
    says="The given scale was applied on top of the default. It replaces the default.")
scaled.mutant("scaled_on_both_sides", body="""
    scale = query.size(-1) ** (-0.5) if scale is None else scale
    return mixed(query * scale @ (key * scale).mT, value)""", says="The scores were multiplied by the scale twice, as "
    "they are when query and key both are. Scale one of them, or the scores.")
scaled.mutant("no_scale_at_all", body="return mixed(query @ key.mT * (1.0 if scale is None else scale), value)",
    says="With no scale given, the scores were not scaled. The default is 1 over the square root of D.")
scaled.mutant("divided_by_the_width", "math.sqrt", "query.size", "query.size(-1)", "-1",
    says="The default came out as 1 over D. It is 1 over the square root of D: divide by the root once.")
scaled.mutant("multiplied_by_the_root", "1 / math.sqrt(query.size(-1))", "math.sqrt(query.size(-1))",
    says="The default multiplies by the square root of D. The scores are too large already: use 1 over the square "
    "root.")
scaled.mutant("softmax_over_queries", "dim=-1", "dim=-2", says=SHARED["softmax over queries"])
scaled.mutant("output_alone", body="return F.scaled_dot_product_attention(query, key, value, scale=scale)",
    says="You returned one tensor, the output. Return a pair: output, weights.")
scaled.mutant("weights_first", body="""
    scale = query.size(-1) ** (-0.5) if scale is None else scale
    return mixed(query @ key.mT * scale, value)[::-1]""",
    says="Right tensors, wrong order: the output should come first, then the weights.")
scaled.mutant("scores_returned", body="""
    scale = query.size(-1) ** (-0.5) if scale is None else scale
    scores = query @ key.mT * scale
    return (scores.softmax(dim=-1) @ value, scores)""",
    says="The output is right, but the second result is the scores. Return the weights, which come after softmax.")
scaled.mutant("output_scaled", hint=2, body="""
    scale = query.size(-1) ** (-0.5) if scale is None else scale
    output, weights = mixed(query @ key.mT, value)
    return (output * scale, weights)""",
    says="The weights come from unscaled scores, and no scaling of the output repairs that. Scale the scores.")
scaled.mutant("exponentials_overflow", body="""
    e = (query @ key.mT * (query.size(-1) ** (-0.5) if scale is None else scale)).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return (weights @ value, weights)""",
    says="Right for small scores. For large ones NaN came out, as it does when exp is written out by hand and "
    "overflows. Use PyTorch's softmax.")
scaled.mutant("count_of_queries", hint=1, body="""
    scale = query.size(-2) ** (-0.5) if scale is None else scale
    return mixed(query @ key.mT * scale, value)""", says="The scale comes from the number of queries. It is the "
    "dimension of queries and keys that makes scores large.")

response = solution("query_jacobian")
response.mutant("means_not_subtracted", "products - means", "products", hint=1, says="This is the mean of the "
    "products. A covariance subtracts the product of the means from it.")
response.mutant("means_only", "products - means", "means", hint=1, says="This is the product of the means. A "
    "covariance is the mean of the products minus that.")
response.mutant("means_added", "products - means", "products + means",
    says="The product of the means was added. Subtract it, because what one key gains the others lose.")
response.mutant("sign_turned", "products - means", "means - products", says="Every entry has the wrong sign. The mean "
    "of the products comes first, and the product of the means is subtracted from it.")
response.mutant("scale_left_out", "scale * (products - means)", "products - means",
    says="The covariance is right, and the scale is missing. A score moves by the key times the scale.")
response.mutant("divided_by_the_scale", "scale * (products - means)", "(products - means) / scale",
    says="The covariance was divided by the scale. A score moves by the key times the scale, so multiply.")
response.mutant("only_products_scaled", "scale * (products - means)", "scale * products - means",
    says="Only the mean of the products was multiplied by the scale. It belongs to both terms.")
response.mutant("plain_means", "(weights @ value).unsqueeze(-1) * (weights @ key).unsqueeze(-2)",
    "value.mean(dim=-2).unsqueeze(-2).unsqueeze(-1) * key.mean(dim=-2).unsqueeze(-2).unsqueeze(-2)", hint=1,
    says="The means of values and keys count every key alike. They are weighted: the mean of the values is the output.")
response.mutant("plain_mean_of_keys", "(weights @ key).unsqueeze(-2)", "key.mean(dim=-2).unsqueeze(-2).unsqueeze(-2)",
    hint=1, says="The mean of the keys counts every key alike. It is weighted, as the mean of the values is.")
response.mutant("axes_exchanged", "scale * (products - means)", "scale * (products - means).mT", says="Right numbers, "
    "with rows and columns exchanged. Rows are entries of the output, and columns are entries of the query.")
response.mutant("summed_over_queries", body="""
    products = (weights.sum(dim=-2).unsqueeze(-2) * value.mT) @ key
    return scale * (products - (weights @ value).mT @ (weights @ key))""", hint=3,
    says="All queries were added up into a single table. Each query has weights of its own, and so a table of its own.")
response.mutant("values_with_themselves", "weighted @ key.unsqueeze(-3)", "weighted @ value.unsqueeze(-3)",
    "weights @ key", "weights @ value", says="This is the covariance of the values with themselves. It is the keys "
    "that turn a change of the query into a change of the scores.")
response.mutant("weights_not_in_the_products", "weights.unsqueeze(-2) * value.mT.unsqueeze(-3)",
    "torch.ones_like(weights).unsqueeze(-2) * value.mT.unsqueeze(-3)", hint=2,
    says="The products of values and keys were added up without weights. They are a mean with the weights of each query.")
