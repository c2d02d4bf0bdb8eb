"""The hidden checks of lesson 2, and the mistakes that students make in it. Never given to students."""

from typing import Any

import torch
import torch.nn.functional as F
from checks import where_rows_look

from autograder.checks import Draw, check, mistake

# Project


@check("project_qkv", points=1)
def one_word_and_gradients(project_qkv: Any, draw: Draw) -> Any:
    """edge: a single word in float32, and gradients for all three matrices."""
    x = draw.normal(1, 1, 6, dtype=torch.float32)
    weights = [
        draw.normal(6, width, dtype=torch.float32).requires_grad_()
        for width in (2, 2, 7)
    ]
    projected = project_qkv(x, *weights)
    sum((part * draw.normal(*part.shape)).sum() for part in projected).backward()
    return *projected, x, *(w.grad for w in weights)


@mistake("project_qkv")
def one_matrix_for_all(x, w_q, w_k, w_v):
    """All three came from w_q. With one matrix a word can only ask for what it is
    itself.
    """
    return x @ w_q, x @ w_q, x @ w_q


@mistake("project_qkv")
def key_from_w_q(x, w_q, w_k, w_v):
    """The keys came from w_q, like the queries. Then a word can only look for what it
    is itself.
    """
    return x @ w_q, x @ w_q, x @ w_v


@mistake("project_qkv")
def value_is_x(x, w_q, w_k, w_v):
    """The values are x itself. They have a matrix of their own, w_v, which decides
    what is handed over.
    """
    return x @ w_q, x @ w_k, x


@mistake("project_qkv")
def value_from_w_k(x, w_q, w_k, w_v):
    """The values came from w_k. What a word is found by and what it hands over are two
    things.
    """
    return x @ w_q, x @ w_k, x @ w_k


@mistake("project_qkv")
def key_before_query(x, w_q, w_k, w_v):
    """The first two results are swapped: query, then key, then value."""
    return x @ w_k, x @ w_q, x @ w_v


@mistake("project_qkv")
def value_before_key(x, w_q, w_k, w_v):
    """The last two results are swapped: query, then key, then value."""
    return x @ w_q, x @ w_v, x @ w_k


@mistake("project_qkv")
def weights_from_the_left(x, w_q, w_k, w_v):
    """The matrix stands on the left. A word is a row of x, so the product is x @ w."""
    return w_q @ x, w_k @ x, w_v @ x


@mistake("project_qkv")
def weights_transposed(x, w_q, w_k, w_v):
    """The matrix was transposed. F.linear and .mT do that; here the weights are (E, D)
    already, so @ alone is right.
    """
    return F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v)


@mistake("project_qkv")
def gradient_cut_off(x, w_q, w_k, w_v):
    """The values are right, but no gradient reaches the matrices, so they could not
    learn. Use neither .data nor detach.
    """
    return x @ w_q.data, x @ w_k.data, x @ w_v.data


# Scores


@check("attention_scores", points=1)
def single_query_in_float32(attention_scores: Any, draw: Draw) -> Any:
    """edge: a single query in float32; the inputs are left as they were."""
    query, key = (
        draw.normal(3, 1, 4, dtype=torch.float32),
        draw.normal(3, 6, 4, dtype=torch.float32),
    )
    return attention_scores(query, key), query, key


@mistake("attention_scores")
def no_transpose(query, key):
    """The inner sizes do not fit: rows of the query meet columns of the key. Swap the
    key's last two axes.
    """
    return query @ key


@mistake("attention_scores")
def all_axes_reversed(query, key):
    """`.T` turns around all axes, also batch and heads. `.mT` swaps the last two."""
    return query @ key.permute(*range(key.ndim - 1, -1, -1))


@mistake("attention_scores")
def first_axes_swapped(query, key):
    """`transpose(0, 1)` counts from the front and meets batch and heads. Count from
    the end: -2 and -1.
    """
    return query @ key.transpose(0, 1)


@mistake("attention_scores")
def keys_in_rows(query, key):
    """The table lies on its side: a row per key. Rows belong to queries, so the query
    stands on the left.
    """
    return key @ query.mT


@mistake("attention_scores")
def scaled_already(query, key):
    """Divided by the root of the width. That is lesson 3; here the plain dot products
    are asked for.
    """
    return query @ key.mT / query.size(-1) ** 0.5


@mistake("attention_scores")
def cosine(query, key):
    """The vectors were normalised first, so their lengths are lost. A dot product
    keeps them: longer means more insistent.
    """
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


@mistake("attention_scores")
def entry_by_entry(query, key):
    """`*` pairs entries. Every query has to meet every key, which is what `@` does."""
    return (query * key).sum(dim=-1)


@mistake("attention_scores")
def softmax_too_early(query, key):
    """These are weights: softmax was applied. Scores are the numbers before it."""
    return (query @ key.mT).softmax(dim=-1)


@mistake("attention_scores")
def distance(query, key):
    """These are distances between queries and keys. A score is their dot product:
    large where they fit.
    """
    return torch.cdist(query, key)


@mistake("attention_scores")
def query_changed(query, key):
    """The scores are right, but the caller's query was changed on the way. Make a new
    tensor instead.
    """
    scores = query @ key.mT
    query -= query.mean()
    return scores


# Attention


@check("attend", points=1)
def scores_of_a_thousand(attend: Any, draw: Draw) -> Any:
    """edge: scores in the thousands."""
    return attend(
        100 * draw.normal(2, 3, 4), 100 * draw.normal(2, 5, 4), draw.normal(2, 5, 2)
    )


@check("attend", points=1)
def single_query_and_gradients(attend: Any, draw: Draw) -> Any:
    """edge: a single query, inputs that are not contiguous, and gradients for all
    three.
    """
    inputs = [
        draw.normal(3, width, length).mT.requires_grad_()
        for length, width in ((1, 4), (6, 4), (6, 2))
    ]
    before = [tensor.detach().clone() for tensor in inputs]
    output, weights = attend(*inputs)
    (output * draw.normal(3, 1, 2)).sum().backward()
    changed = [
        float((tensor.detach() - old).abs().max())
        for tensor, old in zip(inputs, before, strict=True)
    ]
    return output, weights, *(tensor.grad for tensor in inputs), changed


@mistake("attend")
def softmax_over_queries(query, key, value):
    """Your columns sum to 1: softmax ran over the queries. Each query shares out its
    own attention, along its row.
    """
    weights = (query @ key.mT).softmax(dim=-2)
    return weights @ value, weights


@mistake("attend")
def softmax_over_axis_0(query, key, value):
    """`dim=0` is the queries of one sentence, and the batch as soon as there is one.
    Count from the end: the keys are -1.
    """
    weights = (query @ key.mT).softmax(dim=0)
    return weights @ value, weights


@mistake("attend")
def softmax_over_axis_1(query, key, value):
    """`dim=1` is right for one sentence, but with a batch and heads in front axis 1 is
    the heads. Count from the end.
    """
    weights = (query @ key.mT).softmax(dim=1)
    return weights @ value, weights


@mistake("attend")
def no_softmax(query, key, value):
    """The second result is the scores: some are negative and rows do not sum to 1.
    Softmax is missing.
    """
    weights = query @ key.mT
    return weights @ value, weights


@mistake("attend")
def scores_returned(query, key, value):
    """The output is right, but the second result is the scores. The weights were asked
    for: after softmax.
    """
    scores = query @ key.mT
    return scores.softmax(dim=-1) @ value, scores


@mistake("attend")
def softmax_over_everything(query, key, value):
    """All weights together sum to 1. Every query has a whole unit of attention, so
    every row must.
    """
    scores = query @ key.mT
    weights = scores.flatten(-2).softmax(dim=-1).reshape(scores.shape)
    return weights @ value, weights


@mistake("attend")
def keys_mixed(query, key, value):
    """You mixed the keys. Keys decide how much; values are what is mixed."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ key, weights


@mistake("attend")
def weights_transposed_in_the_mix(query, key, value):
    """The weights were transposed before mixing. Their columns belong to keys, and
    each key has a value: no transpose.
    """
    weights = (query @ key.mT).softmax(dim=-1)
    return weights.mT @ value, weights


@mistake("attend")
def weights_first(query, key, value):
    """Right tensors, wrong order: first the output, then the weights."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights, weights @ value


@mistake("attend")
def output_alone(query, key, value):
    """One tensor came back, the output. Return a pair: output, weights."""
    return (query @ key.mT).softmax(dim=-1) @ value


@mistake("attend")
def weights_alone(query, key, value):
    """One tensor came back, the weights. Mix the values with them, and return a pair:
    output, weights.
    """
    return (query @ key.mT).softmax(dim=-1)


@mistake("attend")
def scaled(query, key, value):
    """The scores were divided by the root of the width. That is lesson 3; here they
    stay as they are.
    """
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend")
def softmax_of_values(query, key, value):
    """Softmax was applied to the values too. They are handed over as they are."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value.softmax(dim=-1), weights


@mistake("attend")
def no_transpose_of_key(query, key, value):
    """The inner sizes do not fit: every query has to meet every key. Swap the key's
    last two axes with .mT.
    """
    weights = (query @ key).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend")
def divided_by_the_plain_sum(query, key, value):
    """Scores were divided by their sum. They can be negative or sum to 0: softmax
    takes exp first.
    """
    scores = query @ key.mT
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("attend")
def exp_without_care(query, key, value):
    """Right for small scores. `exp` of a thousand is infinite, and infinity over
    infinity is NaN. PyTorch's softmax avoids that.
    """
    scores = (query @ key.mT).exp()
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("attend")
def weights_detached(query, key, value):
    """The values are right, but queries and keys get no gradient, so they could not
    learn. Do not detach the weights.
    """
    weights = (query @ key.mT).softmax(dim=-1).detach()
    return weights @ value, weights


# Look one back


def where_both_look(results: Any) -> list[dict[str, Any]]:
    """Describe two patterns."""
    return [where_rows_look(result) for result in results]


@check("copy_previous_qk", points=1, summary=where_rows_look)
def hundreds_of_positions(copy_previous_qk: Any, draw: Draw) -> Any:
    """edge: hundreds of positions."""
    return copy_previous_qk(draw.integer(300, 400))


@check("copy_previous_qk", points=1, summary=where_both_look)
def one_position_and_two(copy_previous_qk: Any, draw: Draw) -> Any:
    """edge: a single position, and two."""
    return copy_previous_qk(1), copy_previous_qk(2)


def shifted(length, steps, sharpness=30.0):
    """Make a query that looks `steps` columns to the right of its own."""
    key = torch.eye(length)
    columns = (torch.arange(length) + steps).clamp(0, length - 1)
    return sharpness * key[columns], key


@mistake("copy_previous_qk")
def looks_at_itself(length):
    """Each row looks at its own column. It should be the column before: the query of
    row i is the key of i - 1.
    """
    return shifted(length, 0)


@mistake("copy_previous_qk")
def looks_ahead(length):
    """Each row looks one column ahead, at what comes next. Previous means the smaller
    index.
    """
    return shifted(length, 1)


@mistake("copy_previous_qk")
def key_and_query_swapped(length):
    """Key and query are swapped. The function returns the query first; its rows are
    what asks.
    """
    query, key = shifted(length, -1)
    return key, query


@mistake("copy_previous_qk")
def wraps_around(length):
    """The first row looks at the last column. There is nothing before it, so it should
    look at itself.
    """
    key = torch.eye(length)
    return 30.0 * key.roll(1, dims=0), key


@mistake("copy_previous_qk")
def too_soft(length):
    """Each row looks at the right column, but with too small a weight. Raise the score
    gap: it has to exceed ln(99 (n - 1)).
    """
    return shifted(length, -1, sharpness=1.0)


@mistake("copy_previous_qk")
def sharp_enough_for_six(length):
    """Sharp enough for a short sequence only. The gap has to grow with length, like
    ln(99 (n - 1)), or be generous.
    """
    return shifted(length, -1, sharpness=8.0)


@mistake("copy_previous_qk")
def everywhere_alike(length):
    """All scores are equal, so every row looks everywhere alike. Give each position a
    key of its own, such as torch.eye.
    """
    return torch.zeros(length, length), torch.zeros(length, length)


@mistake("copy_previous_qk")
def infinite_numbers(length):
    """There is an infinity among the numbers. A finite gap is enough: weights above
    0.99 were asked for, not 1.
    """
    query, key = shifted(length, -1)
    return query.masked_fill(query == 0, -torch.inf), key


@mistake("copy_previous_qk")
def weights_instead(length):
    """This is the finished pattern. Return the query and the key that make it, two
    matrices.
    """
    return torch.eye(length)[(torch.arange(length) - 1).clamp(min=0)]


@mistake("copy_previous_qk")
def second_row_by_hand(length):
    """It needs a second row, and stops where there is only one. Build all rows the
    same way and clamp the first.
    """
    query = shifted(length, -1)[0]
    query[1] = query[0]
    return query, torch.eye(length)
