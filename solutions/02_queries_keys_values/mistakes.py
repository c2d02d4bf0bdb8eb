"""The mistakes that students make in lesson 2, as edits of its solutions. Never given to students."""

import torch
import torch.nn.functional as F

from autograder.checks import SHARED, solution


def shifted(length, steps, sharpness=30.0):
    """Make a query that looks `steps` columns to the right of its own."""
    key = torch.eye(length)
    columns = (torch.arange(length) + steps).clamp(0, length - 1)
    return sharpness * key[columns], key

project = solution("project_qkv")
project.mutant("one_matrix_for_all", "x @ w_k", "x @ w_q", "x @ w_v", "x @ w_q", hint=3,
    says="All three came from w_q. With a single matrix, a word can only ask for what it is itself.")
project.mutant("key_from_w_q", "x @ w_k", "x @ w_q", hint=3,
    says="The keys came from w_q, like the queries. Then a word can only look for what it is itself.")
project.mutant("value_is_x", "x @ w_v", "x", hint=3,
    says="The values are x itself. They have a matrix of their own, w_v, which decides what is passed on.")
project.mutant("value_from_w_k", "x @ w_v", "x @ w_k", hint=3,
    says="The values came from w_k. What a word is found by and what it passes on are two different things.")
project.mutant("key_before_query", "(x @ w_q, x @ w_k, x @ w_v)", "(x @ w_k, x @ w_q, x @ w_v)", every=True, hint=3,
    says="The first two results are swapped. The order should be query, key, value.")
project.mutant("value_before_key", "(x @ w_q, x @ w_k, x @ w_v)", "(x @ w_q, x @ w_v, x @ w_k)", every=True, hint=3,
    says="The last two results are swapped: query, then key, then value.")
project.mutant("value_key_query", "(x @ w_q, x @ w_k, x @ w_v)", "(x @ w_v, x @ w_k, x @ w_q)", every=True, hint=3,
    says="The first and last results are swapped: query, then key, then value.")
project.mutant("one_after_another", hint=3, body="""
    query = x @ w_q
    key = query @ w_k
    return (query, key, key @ w_v)""",
    says="It stopped: x had been multiplied by one matrix when it met the next. Queries, keys and values all come from "
    "x itself.")
project.mutant("tokens_transposed", "x @ w_q", "x.mT @ w_q", "x @ w_k", "x.mT @ w_k", "x @ w_v", "x.mT @ w_v", hint=2,
    says="The tokens were transposed. Each word is already a row of x, so x needs no transpose.")
project.mutant("values_transposed", "x @ w_v", "(x @ w_v).mT", hint=3,
    says="The values are transposed. Each word keeps its row: (B, L, D_v).")
project.mutant("first_sentence_only", "x @ w_q", "x[0] @ w_q", "x @ w_k", "x[0] @ w_k", "x @ w_v", "x[0] @ w_v", hint=2,
    says="Only the first sentence of the batch was projected. `@` handles the whole batch.")
project.mutant("batch_flattened", hint=2, body="""
    rows = x.flatten(0, 1)
    return (rows @ w_q, rows @ w_k, rows @ w_v)""",
    says="All the sentences were joined into one. The batch axis stays in front: (B, L, D).")
project.mutant("matrix_changed", body="""
    projected = (x @ w_q, x @ w_k, x @ w_v)
    w_q *= 2
    return projected""",
    says="The values are right, but one of the caller's tensors was changed along the way. Make a new one instead.")
project.mutant("weights_from_the_left", "x @ w_q", "w_q @ x", "x @ w_k", "w_k @ x", "x @ w_v", "w_v @ x", hint=2,
    says="The matrix is on the left. Each word is a row of x, so the product is x @ w.")
project.mutant("weights_transposed", hint=2, body="return (F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v))",
    says="The matrix was transposed. F.linear and .mT do that. Here the matrices are already (E, D), so @ alone is "
    "right.")
project.mutant("gradient_cut_off", "x @ w_q", "x @ w_q.data", "x @ w_k", "x @ w_k.data", "x @ w_v", "x @ w_v.data",
    says="The values are right, but no gradient reaches the matrices, so they could not learn. .data and detach, for "
    "example, cut it off.")
project.mutant("cut_into_thirds", hint=3, body="return (x @ torch.cat([w_q, w_k, w_v], dim=-1)).chunk(3, dim=-1)",
    says="Queries, keys and values were cut from one product as equal thirds. Values may be wider or narrower than "
    "queries and keys.")

attention = solution("attention_scores")
attention.mutant("no_transpose", "key.mT", "key", hint=2,
    says="The inner sizes do not match: rows of the query meet columns of the key. Swap the key's last two axes.")
attention.mutant("all_axes_reversed", "key.mT", "key.permute(*range(key.ndim - 1, -1, -1))", hint=3,
    says="With batch and heads in front it stopped, because these axes no longer line up. `.T` reverses all axes. "
    "`.mT` swaps only the last two.")
attention.mutant("first_axes_swapped", "key.mT", "key.transpose(0, 1)", hint=2,
    says="With batch and heads in front it stopped, because these axes no longer line up. `transpose(0, 1)` would swap "
    "them. Count from the end: -2 and -1.")
attention.mutant("keys_in_rows", "query @ key.mT", "key @ query.mT", hint=1,
    says="The table is transposed: it has a row per key. Each query gets a row of its own, with one column per key.")
attention.mutant("scaled_already", "query @ key.mT", "query @ key.mT / query.size(-1) ** 0.5", hint=3,
    says="The scores were divided by the square root of the dimension. That is lesson 3. Return the plain dot "
    "products here.")
attention.mutant("cosine", "query @ key.mT", "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT", hint=3,
    says="The norms of the vectors are lost: these are cosines. A dot product keeps the norms: a larger norm is more "
    "insistent.")
attention.mutant("entry_by_entry", "query @ key.mT", "(query * key).sum(dim=-1)", hint=1,
    says="It stopped: taken entry by entry, query i meets only key i. Every query has to meet every key, which is what "
    "`@` does.")
attention.mutant("softmax_too_early", "query @ key.mT", "(query @ key.mT).softmax(dim=-1)", hint=3,
    says="These are weights: softmax was applied. Scores are the numbers before softmax.")
attention.mutant("distance", "query @ key.mT", "torch.cdist(query, key)", says="These are distances between queries "
    "and keys. A score is their dot product, which is large where they match.")
attention.mutant("input_changed", body="""
    scores = query @ key.mT
    query -= query.mean()
    return scores""",
    says="The scores are right, but an input was changed along the way. `-=` or a trailing underscore does that.")
attention.mutant("reshaped", "key.mT", "key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])", hint=3,
    says="The key's entries are mixed up, as `reshape` and `view` leave them: they regroup the same numbers without "
    "swapping axes. `.mT` swaps them.")
attention.mutant("matrices_only", "key.mT", "key.t()", hint=3,
    says="`.t()` is for a single matrix. With batch and heads in front, swap the last two axes.")
attention.mutant("three_axes_only", "key.mT", "key.transpose(1, 2)", hint=2, says="It stopped: a single table has no "
    "axis 2. Count from the end, -2 and -1, and any number of leading axes will do.")
attention.mutant("batched_product_only", "query @ key.mT", "torch.bmm(query, key.mT)",
    says="`bmm` takes exactly three axes. `@` takes any number.")
attention.mutant("loop_over_the_first_axis", "query @ key.mT",
    "torch.stack([torch.stack([q @ k for k in key]) for q in query])",
    says="It stopped as soon as there was a batch: along the first axis there are sentences then, and no longer "
    "queries. `@` needs no loop.")
attention.mutant("every_pair_of_all_heads", "query @ key.mT", "torch.tensordot(query, key, dims=([-1], [-1]))",
    says="Every query met the keys of all sentences and heads. Leading axes stay paired. Only the last two are "
    "multiplied.")
attention.mutant("all_added_up", "query @ key.mT", "(query.unsqueeze(-2) * key.unsqueeze(-3)).sum()", hint=1,
    says="Everything was added up into one number: a sum without `dim` does that. Each pair has its own score.")
attention.mutant("summed_over_keys", "query @ key.mT", "(query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-2)",
    says="The products were summed over the keys. Each pair has D products: sum over the last axis.")
attention.mutant("sums_of_entries", body="return query.sum(dim=-1, keepdim=True) @ key.sum(dim=-1, keepdim=True).mT",
    says="Each score is the sum of a query's entries times the sum of a key's. A dot product multiplies entry by entry "
    "first and sums afterwards.")
attention.mutant("mean_instead_of_sum", "query @ key.mT", "query @ key.mT / query.size(-1)", hint=3,
    says="The sum was divided by the number of entries, which makes it a mean. A dot product is the sum.")
attention.mutant("negated", "query @ key.mT", "-(query @ key.mT)",
    says="All signs are reversed. Vectors that match get a large positive score.")
attention.mutant("another_dtype", "query @ key.mT",
    "(query @ key.mT).to(torch.float32 if query.dtype == torch.float64 else torch.float64)",
    says="The numbers are right, but in float32. Scores have the dtype of the query.")

attend = solution("attend")
attend.mutant("scores_cut_off", "query @ key.mT", "(query @ key.mT).clamp(-80, 80)", hint=3,
    says="Large scores were clipped, so keys with different scores got the same weight. Softmax itself can handle any "
    "scores.")
attend.mutant("softmax_again_before_mixing", "weights @ value", "weights.softmax(dim=-1) @ value", hint=2,
    says="The weights are right, but they went through softmax once more before they mixed the values.")
attend.mutant("softmax_over_queries", "dim=-1", "dim=-2", hint=2, says=SHARED["softmax over queries"])
attend.mutant("softmax_over_axis_0", "dim=-1", "dim=0", hint=2, says="Softmax ran over axis 0: the queries of one "
    "sentence, and the batch as soon as there is one. Count from the end: the keys are -1.")
attend.mutant("softmax_over_axis_1", "dim=-1", "dim=1", hint=2, says="Axis 1 is right for one sentence, but with a "
    "batch and heads in front it is the heads. Count from the end: -1. Without a dim, softmax picks axis 0 or 1 itself.")
attend.mutant("no_softmax", "(query @ key.mT).softmax(dim=-1)", "query @ key.mT", hint=2,
    says="The second result is the scores: some are negative, and rows do not sum to 1. Softmax is missing.")
attend.mutant("scores_returned", "(query @ key.mT).softmax(dim=-1)", "query @ key.mT", "weights @ value",
    "weights.softmax(dim=-1) @ value", hint=3,
    says="The output is right, but the second result is the scores. Return the weights, which come after softmax.")
attend.mutant("softmax_over_everything", hint=2, body="""
    scores = query @ key.mT
    weights = scores.flatten(-2).softmax(dim=-1).reshape(scores.shape)
    return (weights @ value, weights)""",
    says="All the weights together sum to 1. Every query has a whole unit of attention, so every row must sum to 1.")
attend.mutant("keys_mixed", "weights @ value", "weights @ key", hint=1,
    says="You mixed the keys. Keys decide how much. Values are what is mixed.")
attend.mutant("weights_transposed_in_the_mix", "weights @ value", "weights.mT @ value", says="It stopped: the weights "
    "came into the mix with a row per key. Their rows belong to queries and their columns to keys, each of which has a "
    "value.")
attend.mutant("weights_first", "(weights @ value, weights)", "(weights, weights @ value)", every=True, hint=3,
    says="Right tensors, wrong order: the output should come first, then the weights.")
attend.mutant("output_alone", hint=3, body="return (query @ key.mT).softmax(dim=-1) @ value",
    says="You returned one tensor, the output. Return a pair: output, weights.")
attend.mutant("weights_alone", hint=3, body="return (query @ key.mT).softmax(dim=-1)",
    says="You returned one tensor, the weights. Mix the values with them, and return a pair: output, weights.")
attend.mutant("scaled", "query @ key.mT", "query @ key.mT / query.size(-1) ** 0.5",
    says="The scores were divided by the square root of the dimension. That is lesson 3. Here they stay as they are.")
attend.mutant("softmax_of_values", "weights @ value", "weights @ value.softmax(dim=-1)", hint=2,
    says="Softmax was applied to the values too. They are passed on as they are.")
attend.mutant("no_transpose_of_key", "key.mT", "key",
    says="The inner sizes do not match: every query has to meet every key. Swap the key's last two axes with .mT.")
attend.mutant("divided_by_the_plain_sum", hint=3, body="""
    scores = query @ key.mT
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return (weights @ value, weights)""",
    says="The scores were divided by their sum. They can be negative or sum to 0, so softmax takes exp first.")
attend.mutant("exp_without_care", hint=3, body="""
    scores = (query @ key.mT).exp()
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return (weights @ value, weights)""", says="Right for small scores. For large ones NaN came out: `exp` of a "
    "thousand is infinite, and infinity over infinity is NaN. PyTorch's softmax avoids that.")
attend.mutant("weights_detached", "(query @ key.mT).softmax(dim=-1)", "(query @ key.mT).softmax(dim=-1).detach()",
    says="The values are right, but queries and keys get no gradient, so they could not learn. Neither scores nor "
    "weights may be detached.")
attend.mutant("row_sums_without_their_axis", body="""
    scores = (query @ key.mT).exp()
    weights = scores / scores.sum(dim=-1)
    return (weights @ value, weights)""",
    says="It stopped: one number per row was lined up with the columns, since it has no axis of its own for them. "
    "keepdim keeps this axis.")
attend.mutant("scores_mixed", "(query @ key.mT).softmax(dim=-1)", "query @ key.mT", "(weights @ value, weights)",
    "(weights @ value, weights.softmax(dim=-1))", hint=2,
    says="The weights are right, but the values were mixed with the scores. Mix them with the weights.")
attend.mutant("exp_alone", "(query @ key.mT).softmax(dim=-1)", "(query @ key.mT).exp()", hint=3,
    says="All entries are positive, but the rows do not sum to 1: this is half of softmax. Divide by the sum of the "
    "row.")
attend.mutant("logarithms", "(query @ key.mT).softmax", "(query @ key.mT).log_softmax",
    says="These are logarithms of weights, as returned by log_softmax. Weights are positive and sum to 1.")
attend.mutant("sigmoid", "(query @ key.mT).softmax(dim=-1)", "(query @ key.mT).sigmoid()",
    says="Sigmoid treats each key separately, so rows do not sum to 1. Softmax makes the keys share.")
attend.mutant("softmax_twice", "query @ key.mT", "(query @ key.mT).softmax(dim=-1)", hint=2,
    says="Softmax was applied twice, which flattens the weights. Once is enough.")
attend.mutant("built_in_function",
    body="return (F.scaled_dot_product_attention(query, key, value), (query @ key.mT).softmax(-1))",
    says="The weights are right, but the output was scaled, as by the built-in function, which divides the scores by "
    "the square root of the dimension.")
attend.mutant("all_axes_of_the_key_reversed", "key.mT", "key.permute(*range(key.ndim - 1, -1, -1))",
    says="With batch and heads in front it stopped, because these axes no longer line up. `.T` reverses all axes. "
    "`.mT` swaps only the last two.")
attend.mutant("values_first", "weights @ value", "value @ weights", every=True, says="The values are on the left. "
    "Rows of the output belong to queries, and so do rows of the weights, so the weights go on the left.")
attend.mutant("later_keys_hidden", body="""
    scores = query @ key.mT
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    return (weights @ value, weights)""",
    says="Keys to the right of the diagonal were hidden, as by a causal mask. Here every query may look at every key.")
attend.mutant("softmax_of_the_mixture", "(query @ key.mT).softmax(dim=-1)", "query @ key.mT",
    "(weights @ value, weights)", "((weights @ value).softmax(dim=-1), weights.softmax(dim=-1))", hint=2,
    says="The output went through softmax after the scores had mixed the values. Softmax turns scores into weights. "
    "The mixture stays as it is.")
attend.mutant("largest_of_the_whole_table", hint=3, body="""
    e = (query @ key.mT - (query @ key.mT).max()).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return (weights @ value, weights)""", says="Right for small scores. Rows far below the largest score become 0/0, "
    "as happens when one maximum is subtracted from the whole table. Each row has its own.")
attend.mutant("rounded", body="""
    weights = (query @ key.mT).softmax(dim=-1)
    weights = (10 * weights).round() / 10
    return (weights @ value, weights)""",
    says="The weights are rounded to one decimal. Leave them as they are.")

previous = solution("copy_previous_qk")
previous.mutant("looks_at_itself", hint=2, body="return shifted(length, 0)", says="Each row looks at its own column. "
    "It should look at the column before: the query of row i is the key of i - 1.")
previous.mutant("looks_ahead", hint=2, body="return shifted(length, 1)",
    says="Each row looks one column ahead, at what comes next. The previous position has the smaller index.")
previous.mutant("key_and_query_swapped", hint=2, body="""
    query, key = shifted(length, -1)
    return (key, query)""", says="Each row looks ahead, as it does when the keys are shifted in place of the queries. "
    "A query asks for the key of the position before it.")
previous.mutant("positions_as_numbers", hint=1, body="""
    key = torch.arange(float(length))[:, None]
    return ((key - 1).clamp(min=0), key)""",
    says="Beyond the first rows, all look at the last column, which happens when positions are plain numbers: the "
    "largest key wins. Give each a direction of its own, such as a row of the identity matrix.")
previous.mutant("positions_as_numbers_from_minus_one", hint=1, body="""
    key = torch.arange(float(length))[:, None]
    return (key - 1, key)""", says="Most rows look at the last column, which happens when positions are plain numbers: "
    "the largest key wins. Give each a direction of its own, such as a row of the identity matrix.")
previous.mutant("positions_as_numbers_from_one", hint=1, body="""
    key = torch.arange(float(length))[:, None] + 1
    return (100 * (key - 1).clamp(min=1), key)""",
    says="Every row looks at the last column, which happens when positions are plain numbers: the largest always "
    "wins. Give each a direction of its own, such as a row of the identity matrix.")
previous.mutant("wraps_around", "(torch.arange(length) - 1).clamp(min=0)", "torch.arange(length) - 1", hint=2,
    says="The first row looks at the last column, which is where an index of -1 leads. There is nothing before the "
    "first token, so it should look at itself.")
previous.mutant("too_soft", hint=3, body="return shifted(length, -1, sharpness=1.0)", says="Each row looks at the "
    "right column, but with too small a weight. The scores are too close: ask more insistently.")
previous.mutant("a_gap_for_six", hint=3, body="return shifted(length, -1, sharpness=6.3)", says="Sharp enough for "
    "six positions, but not for more. The more keys share the rest, the larger the gap has to be.")
previous.mutant("a_gap_for_dozens", hint=3, body="return shifted(length, -1, sharpness=8.0)",
    says="Sharp enough for short sequences, but not for hundreds of positions. Let the gap grow with length, or be "
    "generous, and let no two keys be alike: points on a circle crowd together.")
previous.mutant("two_back", hint=2, body="return shifted(length, -2)",
    says="Each row looks two columns back. It should look one back: the query of row i is the key of i - 1.")
previous.mutant("all_rows_ask_alike", hint=2, body="""
    key = torch.eye(length)
    return (30.0 * key[:1].expand(length, length), key)""", says="Every row looks at the first column, as it does when "
    "all the queries are the same. Each row has to ask for its own predecessor.")
previous.mutant("last_row_forgotten", hint=2, body="""
    key = torch.eye(length)
    return (30.0 * torch.cat([key[1:], torch.zeros(1, length)]), key)""", says="The rows look one column ahead, and "
    "the last one favors no column. The previous position has the smaller index.")
previous.mutant("everywhere_alike", hint=1, body="return (torch.zeros(length, length), torch.zeros(length, length))",
    says="No row favors one column: its largest weights are equal, as they are when all keys are the same. Each "
    "position needs its own, and query and key need memory of their own.")
previous.mutant("always_six", hint=3, body="return shifted(6, -1)",
    says="Right for six positions only: whatever the length, there are six. Use length.")
previous.mutant("infinite_numbers", "sharpness * key[previous]", "sharpness / key[previous]", hint=3,
    says="One of the entries is infinite or NaN. A finite gap is enough: the weights have to be above 0.99, not equal "
    "to 1.")
previous.mutant("weights_instead", body="return torch.eye(length)[(torch.arange(length) - 1).clamp(min=0)]",
    says="A single tensor came back. The pattern itself is not asked for: return the two matrices that produce it, "
    "query and key.")
