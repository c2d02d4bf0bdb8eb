"""The hidden checks of lesson 2, and the mistakes that students make in it. Never released to students."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from checks import where_rows_look

from autograder.checks import Inputs, check, mistake

# Project


@check("project_qkv", points=1)
def one_word_and_gradients(project_qkv: Any, draw: Inputs) -> Any:
    """A single word in float32, and gradients for all three matrices."""
    x = draw.normal(1, 1, 6, dtype=torch.float32)
    weights = [
        draw.normal(6, width, dtype=torch.float32).requires_grad_()
        for width in (2, 2, 7)
    ]
    projected = project_qkv(x, *weights)
    sum((part * draw.normal(*part.shape)).sum() for part in projected).backward()
    return *projected, x, *(w.grad for w in weights)


@mistake("project_qkv", hint=3)
def one_matrix_for_all(x, w_q, w_k, w_v):
    """All three came from w_q. With a single matrix, a word can only ask for what it is itself."""
    return x @ w_q, x @ w_q, x @ w_q


@mistake("project_qkv", hint=3)
def key_from_w_q(x, w_q, w_k, w_v):
    """The keys came from w_q, like the queries. Then a word can only look for what it is itself."""
    return x @ w_q, x @ w_q, x @ w_v


@mistake("project_qkv", hint=3)
def value_is_x(x, w_q, w_k, w_v):
    """The values are x itself. They have a matrix of their own, w_v, which decides what is passed on."""
    return x @ w_q, x @ w_k, x


@mistake("project_qkv", hint=3)
def value_from_w_k(x, w_q, w_k, w_v):
    """The values came from w_k. What a word is found by and what it passes on are two different things."""
    return x @ w_q, x @ w_k, x @ w_k


@mistake("project_qkv", hint=3)
def key_before_query(x, w_q, w_k, w_v):
    """The first two results are swapped. The order should be query, key, value."""
    return x @ w_k, x @ w_q, x @ w_v


@mistake("project_qkv", hint=3)
def value_before_key(x, w_q, w_k, w_v):
    """The last two results are swapped: query, then key, then value."""
    return x @ w_q, x @ w_v, x @ w_k


@mistake("project_qkv", hint=3)
def value_key_query(x, w_q, w_k, w_v):
    """The first and last results are swapped: query, then key, then value."""
    return x @ w_v, x @ w_k, x @ w_q


@mistake("project_qkv", hint=3)
def one_after_another(x, w_q, w_k, w_v):
    """The keys were computed from the queries, and the values from the keys. All three come from x itself."""
    query = x @ w_q
    key = query @ w_k
    return query, key, key @ w_v


@mistake("project_qkv", hint=2)
def tokens_transposed(x, w_q, w_k, w_v):
    """The tokens were transposed. Each word is already a row of x, so x needs no transpose."""
    return x.mT @ w_q, x.mT @ w_k, x.mT @ w_v


@mistake("project_qkv", hint=3)
def values_transposed(x, w_q, w_k, w_v):
    """The values are transposed. Each word keeps its row: (B, L, D_v)."""
    return x @ w_q, x @ w_k, (x @ w_v).mT


@mistake("project_qkv", hint=2)
def first_sentence_only(x, w_q, w_k, w_v):
    """Only the first sentence of the batch was projected. `@` handles the whole batch."""
    return x[0] @ w_q, x[0] @ w_k, x[0] @ w_v


@mistake("project_qkv", hint=2)
def batch_flattened(x, w_q, w_k, w_v):
    """All the sentences were joined into one. The batch axis stays in front: (B, L, D)."""
    rows = x.flatten(0, 1)
    return rows @ w_q, rows @ w_k, rows @ w_v


@mistake("project_qkv")
def matrix_changed(x, w_q, w_k, w_v):
    """The values are right, but one of the caller's tensors was changed along the way. Make a new one instead."""
    projected = x @ w_q, x @ w_k, x @ w_v
    w_q *= 2
    return projected


@mistake("project_qkv", hint=2)
def weights_from_the_left(x, w_q, w_k, w_v):
    """The matrix is on the left. Each word is a row of x, so the product is x @ w."""
    return w_q @ x, w_k @ x, w_v @ x


@mistake("project_qkv", hint=2)
def weights_transposed(x, w_q, w_k, w_v):
    """The matrix was transposed. F.linear and .mT do that. Here the matrices are already (E, D), so @ alone
    is right.
    """
    return F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v)


@mistake("project_qkv")
def gradient_cut_off(x, w_q, w_k, w_v):
    """The values are right, but no gradient reaches the matrices, so they could not learn. Use neither .data nor
    detach.
    """
    return x @ w_q.data, x @ w_k.data, x @ w_v.data


# Scores


@check("attention_scores", points=1)
def single_query_in_float32(attention_scores: Any, draw: Inputs) -> Any:
    """A single query in float32, with the inputs left unchanged."""
    query, key = (
        draw.normal(3, 1, 4, dtype=torch.float32),
        draw.normal(3, 6, 4, dtype=torch.float32),
    )
    return attention_scores(query, key), query, key


@mistake("project_qkv", hint=3)
def cut_into_thirds(x, w_q, w_k, w_v):
    """Queries, keys and values were cut from one product as equal thirds. Values may be wider or narrower than queries
    and keys.
    """
    return (x @ torch.cat([w_q, w_k, w_v], dim=-1)).chunk(3, dim=-1)


@mistake("attention_scores", hint=2)
def no_transpose(query, key):
    """The inner sizes do not match: rows of the query meet columns of the key. Swap the key's last two axes."""
    return query @ key


@mistake("attention_scores", hint=3)
def all_axes_reversed(query, key):
    """`.T` reverses all axes, including batch and heads. `.mT` swaps only the last two."""
    return query @ key.permute(*range(key.ndim - 1, -1, -1))


@mistake("attention_scores", hint=2)
def first_axes_swapped(query, key):
    """`transpose(0, 1)` counts from the front, where the batch and heads are. Count from the end: -2 and -1."""
    return query @ key.transpose(0, 1)


@mistake("attention_scores", hint=1)
def keys_in_rows(query, key):
    """The table is transposed: it has a row per key. Rows belong to queries, so the query goes on the left."""
    return key @ query.mT


@mistake("attention_scores", hint=3)
def scaled_already(query, key):
    """The scores were divided by the square root of the dimension. That is lesson 3. Return the plain dot products
    here.
    """
    return query @ key.mT / query.size(-1) ** 0.5


@mistake("attention_scores", hint=3)
def cosine(query, key):
    """The vectors were normalized first, so their norms are lost. A dot product keeps them: a larger norm is more
    insistent.
    """
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


@mistake("attention_scores", hint=1)
def entry_by_entry(query, key):
    """`*` pairs up entries. Every query has to meet every key, which is what `@` does."""
    return (query * key).sum(dim=-1)


@mistake("attention_scores", hint=3)
def softmax_too_early(query, key):
    """These are weights: softmax was applied. Scores are the numbers before softmax."""
    return (query @ key.mT).softmax(dim=-1)


@mistake("attention_scores")
def distance(query, key):
    """These are distances between queries and keys. A score is their dot product, which is large where they match."""
    return torch.cdist(query, key)


@mistake("attention_scores")
def input_changed(query, key):
    """The scores are right, but an input was changed along the way. `-=` or a trailing underscore does that."""
    scores = query @ key.mT
    query -= query.mean()
    return scores


@mistake("attention_scores", hint=3)
def reshaped(query, key):
    """`reshape` and `view` regroup the same numbers without swapping axes. `.mT` swaps them."""
    return query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])


@mistake("attention_scores", hint=3)
def matrices_only(query, key):
    """`.t()` is for a single matrix. With batch and heads in front, swap the last two axes."""
    return query @ key.t()


@mistake("attention_scores", hint=2)
def three_axes_only(query, key):
    """`transpose(1, 2)` needs exactly three axes. Count from the end, -2 and -1, and any number of leading axes will
    do.
    """
    return query @ key.transpose(1, 2)


@mistake("attention_scores")
def batched_product_only(query, key):
    """`bmm` takes exactly three axes. `@` takes any number."""
    return torch.bmm(query, key.mT)


@mistake("attention_scores")
def loop_over_the_first_axis(query, key):
    """`for q in query` runs over the first axis, which is the batch as soon as there is one."""
    return torch.stack([torch.stack([q @ k for k in key]) for q in query])


@mistake("attention_scores")
def every_pair_of_all_heads(query, key):
    """Every query met the keys of all sentences and heads. Leading axes stay paired. Only the last two are
    multiplied.
    """
    return torch.tensordot(query, key, dims=([-1], [-1]))


@mistake("attention_scores", hint=1)
def all_added_up(query, key):
    """Everything was added up into one number: a sum without `dim` does that. Each pair has its own score."""
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum()


@mistake("attention_scores")
def summed_over_keys(query, key):
    """The products were summed over the keys. Each pair has D products: sum over the last axis."""
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-2)


@mistake("attention_scores")
def sums_of_entries(query, key):
    """Each vector was summed before the product. A dot product multiplies entry by entry first and sums afterwards."""
    return query.sum(dim=-1, keepdim=True) @ key.sum(dim=-1, keepdim=True).mT


@mistake("attention_scores", hint=3)
def mean_instead_of_sum(query, key):
    """The sum was divided by the number of entries, which makes it a mean. A dot product is the sum."""
    return query @ key.mT / query.size(-1)


@mistake("attention_scores")
def negated(query, key):
    """All signs are reversed. Vectors that match get a large positive score."""
    return -(query @ key.mT)


@mistake("attention_scores")
def another_dtype(query, key):
    """The numbers are right, but in float32, the default of `torch.zeros`. Give it the query's dtype."""
    return (query @ key.mT).to(
        torch.float32 if query.dtype == torch.float64 else torch.float64
    )


# Attention


@check("attend", points=1, tolerance=1e-3)
def scores_of_a_thousand(attend: Any, draw: Inputs) -> Any:
    """Scores in the thousands, above and below zero."""
    query, key = draw.normal(2, 3, 4), draw.normal(2, 5, 4)
    query[..., 0] = torch.tensor([50.0, 0.0, -50.0])  # adds 2500, 0, -2500 to rows
    key[..., 0] = 50.0  # which leaves the weights unchanged
    return attend(draw.give(query), draw.give(key), draw.normal(2, 5, 2))


@check("attend", points=1)
def single_query_and_gradients(attend: Any, draw: Inputs) -> Any:
    """A single query, inputs that are not contiguous, and gradients for all three."""
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


@mistake("attend", hint=3)
def scores_cut_off(query, key, value):
    """Large scores were clipped to keep exp finite, so keys with different scores got the same weight. Softmax itself
    can handle any scores.
    """
    weights = (query @ key.mT).clamp(-80, 80).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_again_before_mixing(query, key, value):
    """The weights are right, but they went through softmax once more before they mixed the values."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights.softmax(dim=-1) @ value, weights


@mistake("attend", hint=2)
def softmax_over_queries(query, key, value):
    """Your columns sum to 1: softmax ran over the queries. Each query shares out its own attention, along its row."""
    weights = (query @ key.mT).softmax(dim=-2)
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_over_axis_0(query, key, value):
    """`dim=0` is the queries of one sentence, and the batch as soon as there is one. Count from the end: the keys are
    -1.
    """
    weights = (query @ key.mT).softmax(dim=0)
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_over_axis_1(query, key, value):
    """`dim=1` is right for one sentence, but with a batch and heads in front, axis 1 is the heads. Count
    from the end.
    """
    weights = (query @ key.mT).softmax(dim=1)
    return weights @ value, weights


@mistake("attend", hint=2)
def no_softmax(query, key, value):
    """The second result is the scores: some are negative, and rows do not sum to 1. Softmax is missing."""
    weights = query @ key.mT
    return weights @ value, weights


@mistake("attend", hint=3)
def scores_returned(query, key, value):
    """The output is right, but the second result is the scores. Return the weights, which come after softmax."""
    scores = query @ key.mT
    return scores.softmax(dim=-1) @ value, scores


@mistake("attend", hint=2)
def softmax_over_everything(query, key, value):
    """All the weights together sum to 1. Every query has a whole unit of attention, so every row must sum to 1."""
    scores = query @ key.mT
    weights = scores.flatten(-2).softmax(dim=-1).reshape(scores.shape)
    return weights @ value, weights


@mistake("attend", hint=1)
def keys_mixed(query, key, value):
    """You mixed the keys. Keys decide how much. Values are what is mixed."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ key, weights


@mistake("attend")
def weights_transposed_in_the_mix(query, key, value):
    """The weights were transposed before mixing. Their columns belong to keys, and each key has a value, so no
    transpose is needed.
    """
    weights = (query @ key.mT).softmax(dim=-1)
    return weights.mT @ value, weights


@mistake("attend", hint=3)
def weights_first(query, key, value):
    """Right tensors, wrong order: the output should come first, then the weights."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights, weights @ value


@mistake("attend", hint=3)
def output_alone(query, key, value):
    """You returned one tensor, the output. Return a pair: output, weights."""
    return (query @ key.mT).softmax(dim=-1) @ value


@mistake("attend", hint=3)
def weights_alone(query, key, value):
    """You returned one tensor, the weights. Mix the values with them, and return a pair: output, weights."""
    return (query @ key.mT).softmax(dim=-1)


@mistake("attend")
def scaled(query, key, value):
    """The scores were divided by the square root of the dimension. That is lesson 3. Here they stay as they are."""
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_of_values(query, key, value):
    """Softmax was applied to the values too. They are passed on as they are."""
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value.softmax(dim=-1), weights


@mistake("attend")
def no_transpose_of_key(query, key, value):
    """The inner sizes do not match: every query has to meet every key. Swap the key's last two axes with .mT."""
    weights = (query @ key).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend", hint=3)
def divided_by_the_plain_sum(query, key, value):
    """The scores were divided by their sum. They can be negative or sum to 0, so softmax takes exp first."""
    scores = query @ key.mT
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("attend", hint=3)
def exp_without_care(query, key, value):
    """Right for small scores. But `exp` of a thousand is infinite, and infinity over infinity is NaN. PyTorch's softmax
    avoids that.
    """
    scores = (query @ key.mT).exp()
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("attend")
def weights_detached(query, key, value):
    """The values are right, but queries and keys get no gradient, so they could not learn. Do not detach the
    weights.
    """
    weights = (query @ key.mT).softmax(dim=-1).detach()
    return weights @ value, weights


@mistake("attend")
def row_sums_without_their_axis(query, key, value):
    """The row sums lost their axis, so they were lined up with the columns. Keep the axis with keepdim."""
    scores = (query @ key.mT).exp()
    weights = scores / scores.sum(dim=-1)
    return weights @ value, weights


@mistake("attend", hint=2)
def scores_mixed(query, key, value):
    """The weights are right, but the values were mixed with the scores. Mix them with the weights."""
    scores = query @ key.mT
    return scores @ value, scores.softmax(dim=-1)


@mistake("attend", hint=3)
def exp_alone(query, key, value):
    """All entries are positive, but the rows do not sum to 1: this is half of softmax. Divide by the sum of the row."""
    weights = (query @ key.mT).exp()
    return weights @ value, weights


@mistake("attend")
def logarithms(query, key, value):
    """These are logarithms of weights, as returned by log_softmax. Weights are positive and sum to 1."""
    weights = (query @ key.mT).log_softmax(dim=-1)
    return weights @ value, weights


@mistake("attend")
def sigmoid(query, key, value):
    """Sigmoid treats each key separately, so rows do not sum to 1. Softmax makes the keys share."""
    weights = (query @ key.mT).sigmoid()
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_twice(query, key, value):
    """Softmax was applied twice, which flattens the weights. Once is enough."""
    weights = (query @ key.mT).softmax(dim=-1).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend")
def winner_takes_all(query, key, value):
    """Each query took only its best key. Attention mixes: every key gets a share."""
    scores = query @ key.mT
    weights = F.one_hot(scores.argmax(dim=-1), scores.size(-1)).to(scores.dtype)
    return weights @ value, weights


@mistake("attend")
def built_in_function(query, key, value):
    """The weights are right, but the output was scaled: the built-in function divides the scores by the square root of
    the dimension.
    """
    return F.scaled_dot_product_attention(query, key, value), (query @ key.mT).softmax(
        -1
    )


@mistake("attend")
def all_axes_of_the_key_reversed(query, key, value):
    """`.T` reverses all axes of the key, including batch and heads. `.mT` swaps only the last two."""
    weights = (query @ key.permute(*range(key.ndim - 1, -1, -1))).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend")
def values_first(query, key, value):
    """The values are on the left. Rows of the output belong to queries, and so do rows of the weights, so the weights
    go on the left.
    """
    weights = (query @ key.mT).softmax(dim=-1)
    return value @ weights, weights


@mistake("attend")
def later_keys_hidden(query, key, value):
    """Keys to the right of the diagonal were hidden by a causal mask. Here every query may look at every key."""
    scores = query @ key.mT
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    return weights @ value, weights


@mistake("attend", hint=2)
def softmax_of_the_mixture(query, key, value):
    """Softmax ran on the output too, or only there. It turns scores into weights. The mixture stays as it is."""
    scores = query @ key.mT
    return (scores @ value).softmax(dim=-1), scores.softmax(dim=-1)


@mistake("attend", hint=3)
def largest_of_the_whole_table(query, key, value):
    """Right for small scores. A single maximum was subtracted from the whole table, so a row far below it becomes 0/0.
    Each row has its own maximum.
    """
    e = (query @ key.mT - (query @ key.mT).max()).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@mistake("attend")
def rounded(query, key, value):
    """Almost right: the weights seem to have been rounded, or small ones set to zero. Leave them as they are."""
    weights = (query @ key.mT).softmax(dim=-1)
    weights = (10 * weights).round() / 10
    return weights @ value, weights


# Look one back


@check("copy_previous_qk", points=1, summary=where_rows_look)
def hundreds_of_positions(copy_previous_qk: Any, draw: Inputs) -> Any:
    """Hundreds of positions."""
    return copy_previous_qk(draw.integer(300, 400))


def shifted(length, steps, sharpness=30.0):
    """Make a query that looks `steps` columns to the right of its own."""
    key = torch.eye(length)
    columns = (torch.arange(length) + steps).clamp(0, length - 1)
    return sharpness * key[columns], key


@mistake("copy_previous_qk", hint=2)
def looks_at_itself(length):
    """Each row looks at its own column. It should look at the column before: the query of row i is the key of i - 1."""
    return shifted(length, 0)


@mistake("copy_previous_qk", hint=2)
def looks_ahead(length):
    """Each row looks one column ahead, at what comes next. The previous position has the smaller index."""
    return shifted(length, 1)


@mistake("copy_previous_qk", hint=2)
def key_and_query_swapped(length):
    """Each row looks ahead: the keys were shifted instead of the queries, or the two are swapped. A query asks for the
    key of the position before it.
    """
    query, key = shifted(length, -1)
    return key, query


@mistake("copy_previous_qk", hint=1)
def positions_as_numbers(length):
    """Positions as plain numbers: in a product, the largest key wins, so rows look at the last column. Give each
    position a direction of its own, such as a row of the identity matrix.
    """
    places = torch.arange(float(length))[:, None]
    return (places - 1).clamp(min=0), places


@mistake("copy_previous_qk", hint=1)
def positions_as_numbers_from_minus_one(length):
    """Positions as plain numbers: in a product, the largest key wins, whatever is asked for. Give each position a
    direction of its own, such as a row of the identity matrix.
    """
    places = torch.arange(float(length))[:, None]
    return places - 1, places


@mistake("copy_previous_qk", hint=1)
def positions_as_numbers_from_one(length):
    """Every row looks at the last column, which happens when positions are plain numbers: the largest always wins. Give
    each a direction of its own, such as a row of the identity matrix.
    """
    places = torch.arange(float(length))[:, None] + 1
    return 100 * (places - 1).clamp(min=1), places


@mistake("copy_previous_qk", hint=2)
def wraps_around(length):
    """The first row looks at the last column. There is nothing before it, so it should look at itself."""
    key = torch.eye(length)
    return 30.0 * key.roll(1, dims=0), key


@mistake("copy_previous_qk", hint=3)
def too_soft(length):
    """Each row looks at the right column, but with too small a weight. The scores are too close: ask more
    insistently.
    """
    return shifted(length, -1, sharpness=1.0)


@mistake("copy_previous_qk", hint=3)
def a_gap_for_six(length):
    """Sharp enough for six positions, but not for more. The more keys share the rest, the larger the gap has to be."""
    return shifted(length, -1, sharpness=6.3)


@mistake("copy_previous_qk", hint=3)
def a_gap_for_dozens(length):
    """Sharp enough for short sequences, but not for hundreds of positions. Let the gap grow with length, or be
    generous, and let no two keys be alike: points on a circle crowd together.
    """
    return shifted(length, -1, sharpness=8.0)


@mistake("copy_previous_qk", hint=2)
def first_row_asks_for_nothing(length):
    """The first row's query is all zeros, so it favors no column over another. It should ask for its own key."""
    query, key = shifted(length, -1)
    query[0] = 0.0
    return query, key


@mistake("copy_previous_qk", hint=3)
def logarithm_of_nothing(length):
    """It failed at length 1, because the logarithm of 0 does not exist. With a single key, any query will do."""
    query, key = shifted(length, -1)
    return query * math.log(99 * (length - 1)), key


@mistake("copy_previous_qk", hint=2)
def two_back(length):
    """Each row looks two columns back. It should look one back: the query of row i is the key of i - 1."""
    return shifted(length, -2)


@mistake("copy_previous_qk", hint=2)
def all_rows_ask_alike(length):
    """Every row asks for the first column: all the queries are the same. Each row has to ask for its own
    predecessor.
    """
    key = torch.eye(length)
    return 30.0 * key[:1].expand(length, length), key


@mistake("copy_previous_qk", hint=2)
def last_row_forgotten(length):
    """The rows look one column ahead, and the last one asks for nothing. The previous position has the
    smaller index.
    """
    key = torch.eye(length)
    return 30.0 * torch.cat([key[1:], torch.zeros(1, length)]), key


@mistake("copy_previous_qk", hint=1)
def everywhere_alike(length):
    """Every row weights all columns equally. Either all keys are the same, or query and key share memory and one
    overwrote the other.
    """
    return torch.zeros(length, length), torch.zeros(length, length)


@mistake("copy_previous_qk", hint=3)
def always_six(length):
    """Right for six positions only: the size is hard-coded. Use length."""
    return shifted(6, -1)


@mistake("copy_previous_qk", hint=3)
def infinite_numbers(length):
    """One of the entries is infinite. A finite gap is enough: the weights have to be above 0.99, not equal to 1."""
    query, key = shifted(length, -1)
    return query.masked_fill(query == 0, -torch.inf), key


@mistake("copy_previous_qk")
def weights_instead(length):
    """This is the finished pattern. Return the two matrices that produce it, query and key."""
    return torch.eye(length)[(torch.arange(length) - 1).clamp(min=0)]


@mistake("copy_previous_qk", hint=2)
def second_row_by_hand(length):
    """It needs a second row, and fails where there is only one. Build all rows the same way and clamp the
    first index.
    """
    query = shifted(length, -1)[0]
    query[1] = query[0]
    return query, torch.eye(length)
