"""The mistakes that students make in lesson 1, as edits of its solutions. Never given to students."""

import torch

from autograder.checks import SHARED, solution


def summed(query, keys, w_q, w_k):
    """Add every query to every key, in the common space."""
    return (query @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, None]


def scored(query, keys, w_q, w_k, v):
    """Do the scores right."""
    return torch.tanh(summed(query, keys, w_q, w_k)) @ v

lookup = solution("soft_lookup")
lookup.mutant("hard_lookup", hint=3, body="return value[(key @ query).argmax()]", says="The best entry was picked. A "
    "hard lookup has no gradient for the query and the keys: mix by softmax instead.")
lookup.mutant("temperature_multiplied", "key @ query / temperature", "key @ query * temperature",
    says="The temperature multiplied the scores, so hot came out sharper. Divide.")
lookup.mutant("squared_distances", hint=2, body="""
    scores = -(key - query).square().sum(dim=-1)
    return (scores / temperature).softmax(dim=-1) @ value""",
    says="The scores are minus squared distances between query and keys. A score is a dot product here.")
lookup.mutant("temperature_ignored", "key @ query / temperature", "key @ query", hint=2,
    says="The temperature had no effect. It divides the scores, before softmax.")
lookup.mutant("temperature_after_softmax", hint=2, body="return (key @ query).softmax(dim=-1) / temperature @ value",
    says="The mixture was divided by the temperature, so the shares in it no longer sum to 1. It is the scores that "
    "are divided, before softmax.")
lookup.mutant("root_of_the_temperature", "key @ query / temperature", "key @ query / temperature ** 0.5",
    says="The scores were divided by the root of the temperature. Divide them by the temperature itself.")
lookup.mutant("temperature_twice", "key @ query / temperature", "key @ query / temperature ** 2",
    says="The scores were divided by the temperature twice. It divides each score once.")
lookup.mutant("scaled_by_the_width", "key @ query / temperature", "key @ query / temperature / query.size(-1) ** 0.5",
    says="The scores were divided by the root of the width too. That is lesson 3; here the temperature alone "
    "divides.")
lookup.mutant("rows_not_mixed", "temperature).softmax(dim=-1) @", "temperature).softmax(dim=-1)[:, None] *", hint=3,
    says="n rows are left. Multiply each value by its share AND add them up into one.")
lookup.mutant("rows_not_mixed_and_crossed", "(key @ query / temperature).softmax(dim=-1) @ value",
    "((key @ query / temperature).softmax(dim=-1) * value).sum(dim=0)", hint=3,
    says="It stopped: n shares do not line up with values of D_v numbers. A product, @, mixes rows.")
lookup.mutant("mean_of_the_rows", "(key @ query / temperature).softmax(dim=-1) @ value",
    "((key @ query / temperature).softmax(dim=-1)[:, None] * value).mean(dim=0)", hint=3,
    says="The weighted rows were averaged. The shares sum to 1 already: add them up.")
lookup.mutant("softmax_of_the_values", body="return key @ query / temperature @ value.softmax(dim=-1)",
    says="Softmax was taken of values. It makes shares of the scores; values are mixed as they are.")
lookup.mutant("softmax_of_the_result", "temperature).softmax(dim=-1) @ value", "temperature @ value).softmax(dim=-1)",
    hint=1, says="Softmax came last, on the mixture. It makes shares of the scores, before anything is mixed.")
lookup.mutant("no_softmax", "(key @ query / temperature).softmax(dim=-1)", "key @ query / temperature", hint=1,
    says="The values were multiplied by raw scores. Softmax makes shares of them that sum to 1.")
lookup.mutant("keys_mixed", "@ value", "@ key", hint=1,
    says="The keys were mixed. They say how much; the values are what is passed on.")
lookup.mutant("weights_returned", "temperature).softmax(dim=-1) @ value", "temperature).softmax(dim=-1)", hint=3,
    says="These are the shares, one per entry. Mix the values with them.")
lookup.mutant("pair_returned", body="""
    weights = (key @ query / temperature).softmax(dim=-1)
    return (weights @ value, weights)""", says="Two things came back. Only the mixture was asked for.")
lookup.mutant("a_row_too_many", body="return ((key @ query / temperature).softmax(dim=-1) @ value)[None]",
    says="The result has an axis too many. One query gives one vector, (D_v,).")
lookup.mutant("exponentials_overflow", body="""
    e = (key @ query / temperature).exp()
    return e / e.sum() @ value""",
    says="Right for small scores. For large ones NaN came out, as it does when exp is written out and overflows: use "
    "PyTorch's softmax.")
lookup.mutant("shares_without_exp", body="""
    scores = key @ query / temperature
    return scores / scores.sum() @ value""", says="The scores were divided by their sum, without exp. Scores can be "
    "negative; softmax makes them positive first.")
lookup.mutant("cosine", body="""
    unit = torch.nn.functional.normalize
    return (unit(key, dim=-1) @ unit(query, dim=-1) / temperature).softmax(dim=-1) @ value""",
    says="The scores are cosines: the norms of the query and the keys play no part. The score is the plain dot "
    "product.")
lookup.mutant("distances", "key @ query", "(key - query).norm(dim=-1)", hint=2,
    says="The scores are distances. A large score means a good fit: the dot product.")
lookup.mutant("negative_distances", "key @ query", "-(key - query).norm(dim=-1)", hint=2,
    says="The scores are negative distances. That is a sound lookup too, but the task asks for dot products.")
lookup.mutant("keys_beside_keys", hint=2, body="""
    best = key[(key @ query).argmax()]
    return (key @ best / temperature).softmax(dim=-1) @ value""",
    says="The keys were compared with the best of them. Compare them with the query.")
lookup.mutant("no_gradient", "key @ query", "key.detach() @ query.detach()", every=True,
    says="The result is right, but no gradient comes back: something on the way drops the graph, as detach, .data, "
    "item(), torch.tensor, no_grad and the math module do.")
lookup.mutant("rounded_down", "key @ query / temperature", "key @ query // temperature",
    says="The scores were rounded down to whole numbers, as // does. Use /.")
lookup.mutant("softmax_twice", "key @ query / temperature", "(key @ query / temperature).softmax(dim=-1)",
    says="Softmax was applied twice: the shares are too even. Once is enough.")
lookup.mutant("last_term_only", hint=3, body="return (key @ query / temperature).softmax(dim=-1)[-1] * value[-1]",
    says="Only the last value arrives, times its share. All of them belong in the mixture, so in a loop each is added "
    "to the sum so far.")
lookup.mutant("summed_over_the_wrong_axis", "(key @ query / temperature).softmax(dim=-1) @ value",
    "((key @ query / temperature).softmax(dim=-1)[:, None] * value).sum(dim=-1)", hint=3,
    says="Summed over the wrong axis: n numbers are left. Add up the n rows, so that D_v numbers are left.")
lookup.mutant("logarithms_of_shares", "(key @ query / temperature).softmax", "(key @ query / temperature).log_softmax",
    says="The values were mixed with logarithms of the shares, which do not sum to 1. log_softmax gives those. Use "
    "softmax.")

additive = solution("additive_scores")
additive.mutant("no_tanh", hint=3, body="return summed(query, key, w_q, w_k) @ v", says="tanh is missing: the score "
    "collapses to one part per query and one per key, and every query ranks the keys in the same way.")
additive.mutant("tanh_outside", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k) @ v)",
    says="tanh came after v. It bends the h numbers of the sum; v then turns them into one score.")
additive.mutant("tanh_of_each", hint=1,
    body="return (torch.tanh(query @ w_q.mT)[:, :, None] + torch.tanh(key @ w_k.mT)[:, None]) @ v",
    says="tanh was taken of query and key apart, before they were added. Add first: tanh of the sum.")
additive.mutant("one_matrix_for_both", body="return torch.tanh(summed(query, key, w_q, w_q)) @ v",
    says="Queries and keys went through the same matrix. Each has its own: w_q for queries, w_k for keys.")
additive.mutant("matrices_swapped", body="return torch.tanh(summed(query, key, w_k, w_q)) @ v",
    says="w_q and w_k are swapped.")
additive.mutant("weights_not_transposed", "w_q.mT", "w_q", "w_k.mT", "w_k", hint=3,
    says="The weights are laid out as (out, in), as in a linear layer: multiply by their transpose, `.mT`.")
additive.mutant("entry_by_entry", hint=2, body="return torch.tanh(query @ w_q.mT + key @ w_k.mT) @ v",
    says="Query i met key i only. Every query must meet every key: put an axis into each before adding.")
additive.mutant("keys_down", body="return (torch.tanh(summed(query, key, w_q, w_k)) @ v).mT",
    says="The table lies on its side, (B, S, L). Rows belong to queries, columns to keys.")
additive.mutant("added_along_the_sequence", hint=2,
    body="return torch.tanh(torch.cat([query @ w_q.mT, key @ w_k.mT], dim=1)) @ v",
    says="Queries and keys were concatenated. A score belongs to a pair: add each query to each key.")
additive.mutant("axes_in_the_same_place", hint=2,
    body="return torch.tanh((query @ w_q.mT)[:, :, None] + (key @ w_k.mT)[:, :, None]) @ v",
    says="Query i met key i only, as happens when both get their axis of size 1 in the same place. For pairs, these "
    "axes belong in different places.")
additive.mutant("multiplied", body="return torch.tanh((query @ w_q.mT)[:, :, None] * (key @ w_k.mT)[:, None]) @ v",
    says="Query and key were multiplied. In the additive score they are added, inside tanh.")
additive.mutant("dot_products", hint=2, body="return query @ w_q.mT @ (key @ w_k.mT).mT", says="These are dot "
    "products of projected queries and keys. The additive score adds them and weights the sum by v.")
additive.mutant("v_forgotten", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k)).sum(dim=-1)",
    says="The h numbers were added up without v. v says how much each of them counts.")
additive.mutant("v_not_summed", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k)) * v",
    says="Four axes are left: the h numbers were weighted by v and not added up.")
additive.mutant("tanh_written_out", "q, k = (query @ w_q.mT, key @ w_k.mT)", "s = summed(query, key, w_q, w_k)",
    "torch.tanh(q[:, :, None] + k[:, None])", "(s.exp() - (-s).exp()) / (s.exp() + (-s).exp())",
    says="Right for small numbers. For large ones NaN came out, as it does when tanh is written with exp, which "
    "overflows: use torch.tanh.")
additive.mutant("averaged", hint=3, body="return (torch.tanh(summed(query, key, w_q, w_k)) * v).mean(dim=-1)",
    says="The h numbers were averaged where they should be added up.")
additive.mutant("sigmoid", body="return torch.sigmoid(summed(query, key, w_q, w_k)) @ v",
    says="The sum went through a sigmoid. The formula has tanh, which keeps the sign.")
additive.mutant("relu", "torch.tanh", "torch.relu",
    says="The negative numbers in the sum became 0, as ReLU makes them. The formula has tanh, which keeps the sign.")
additive.mutant("already_softmax", body="return (torch.tanh(summed(query, key, w_q, w_k)) @ v).softmax(dim=-1)",
    says="Softmax was applied. Scores were asked for: weights come in the next exercise.")
additive.mutant("subtracted", body="return torch.tanh((query @ w_q.mT)[:, :, None] - (key @ w_k.mT)[:, None]) @ v",
    says="The key was subtracted. The formula adds the two.")
additive.mutant("an_axis_of_one_kept", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k)) @ v[:, None]",
    says="An axis of size 1 is left at the end. A product with the vector v removes it by itself.")
additive.mutant("as_many_columns_as_queries", body="""
    table = query.new_zeros(query.size(0), query.size(1), query.size(1))
    for q in range(query.size(1)):
        k = (key @ w_k.mT)[:, q, None]
        table[:, :, q] = torch.tanh(query @ w_q.mT + k) @ v
    return table""", says="There are only as many columns as queries. There are S keys, so S columns: key.size(1).")
additive.mutant("batches_mixed", hint=1,
    body="return torch.tanh((query @ w_q.mT)[:, None, :, None] + (key @ w_k.mT)[None, :, None]) @ v",
    says="Sentences met one another, so the result has a batch axis twice. Queries meet the keys of their own sentence "
    "only.")
additive.mutant("v_is_missing", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k))",
    says="v is missing: each pair still has h numbers. v turns them into one score.")
additive.mutant("v_inside_tanh", hint=3, body="return torch.tanh(summed(query, key, w_q, w_k) * v).sum(dim=-1)",
    says="v was multiplied inside tanh. It weights the h numbers after they were bent.")
additive.mutant("scaled_scores", body="return torch.tanh(summed(query, key, w_q, w_k)) @ v / v.numel() ** 0.5",
    says="The scores were divided by a root. That belongs to dot products (lesson 3), not here.")
additive.mutant("rows_in_other_places", "q, k = (query @ w_q.mT, key @ w_k.mT)",
    "q = (torch.tanh(summed(query, key, w_q, w_k)) @ v).mT", "torch.tanh(q[:, :, None] + k[:, None]) @ v",
    "q.reshape(query.size(0), query.size(1), key.size(1))", says="The right numbers in the wrong places, as reshape "
    "and view leave them, which do not transpose. Build the table with queries first.")
additive.mutant("scores_cut_off", body="return (torch.tanh(summed(query, key, w_q, w_k)) @ v).detach()",
    says="The scores are right, but no gradient passes: detach, .item(), torch.tensor and no_grad drop the graph.")

attention = solution("additive_attention")
attention.mutant("over_queries", "additive_scores", "scored", "dim=-1", "dim=1", hint=1,
    says=SHARED["softmax over queries"])
attention.mutant("over_the_batch", "additive_scores", "scored", "dim=-1", "dim=0", hint=1,
    says="Softmax ran over the sentences. Each query shares its attention among its own keys: the last axis.")
attention.mutant("scores_returned", "additive_scores(query, key, w_q, w_k, v).softmax(dim=-1)",
    "scored(query, key, w_q, w_k, v)", "weights @ value", "weights.softmax(dim=-1) @ value", hint=3,
    says="The second result holds scores. Weights are what softmax makes of them.")
attention.mutant("without_softmax", "additive_scores(query, key, w_q, w_k, v).softmax(dim=-1)",
    "scored(query, key, w_q, w_k, v)", hint=3, says="Softmax is missing: the weights of a query do not sum to 1.")
attention.mutant("pair_swapped", "additive_scores", "scored", "(weights @ value, weights)",
    "(weights, weights @ value)", hint=3,
    says="The right tensors in the wrong order: contexts should come first, then weights.")
attention.mutant("keys_are_mixed", "additive_scores", "scored", "weights @ value", "weights @ key", hint=2,
    says="The keys were mixed. They say how much; the values are what is passed on.")
attention.mutant("contexts_only", hint=3, body="return scored(query, key, w_q, w_k, v).softmax(dim=-1) @ value",
    says="Only one thing came back. Contexts and weights were asked for.")
attention.mutant("dot_product_attention", "additive_scores(query, key, w_q, w_k, v)",
    "(query @ w_q.mT @ (key @ w_k.mT).mT)",
    says="The scores are dot products of the projections. Here they are additive: tanh of the sum, weighted by v.")
attention.mutant("tanh_left_out", "additive_scores(query, key, w_q, w_k, v)", "(summed(query, key, w_q, w_k) @ v)",
    says="Every query got the same weights, as happens without tanh: what the query adds then cancels in softmax.")
attention.mutant("one_context_for_all", "additive_scores", "scored", "weights @ value", "(weights @ value).sum(dim=1)",
    hint=2, says="The contexts of all queries were added up. Each query has a context of its own.")
attention.mutant("context_per_key", "additive_scores", "scored", "weights @ value",
    "(weights[..., None] * value[:, None]).sum(dim=1)", hint=2,
    says="The sum ran over the queries, so there is a context per key. Each query has a context of its own.")
attention.mutant("sigmoid_for_softmax", "additive_scores(query, key, w_q, w_k, v).softmax(dim=-1)",
    "torch.sigmoid(scored(query, key, w_q, w_k, v))",
    says="Sigmoid judges each score by itself, so the weights of a query do not sum to 1. Softmax shares them out.")
attention.mutant("scaled", "additive_scores(query, key, w_q, w_k, v)",
    "(scored(query, key, w_q, w_k, v) / v.numel() ** 0.5)",
    says="The scores were divided by a root before softmax. That belongs to dot products (lesson 3), not here.")
attention.mutant("one_softmax_for_all", hint=1, body="""
    scores = scored(query, key, w_q, w_k, v)
    weights = scores.flatten(1).softmax(dim=-1).view(scores.shape)
    return (weights @ value, weights)""",
    says="All weights of a sentence together sum to 1. Each query has a whole unit of attention of its own.")
attention.mutant("lying_on_its_side", "additive_scores", "scored", "(weights @ value, weights)",
    "(weights @ value, weights.mT)",
    says="The table lies on its side, (B, S, L). Rows belong to queries, columns to keys.")
attention.mutant("divided_by_the_sum", body="""
    scores = scored(query, key, w_q, w_k, v)
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return (weights @ value, weights)""", says="The scores were divided by their sum, without exp. Scores can be "
    "negative; softmax makes them positive first.")
attention.mutant("weights_of_the_first_sentence", "additive_scores", "scored", "weights @ value", "weights[:1] @ value",
    says="The weights of the first sentence were used for all of them. Each sentence has weights of its own.")
attention.mutant("twice_softmax", "additive_scores(query, key, w_q, w_k, v)",
    "scored(query, key, w_q, w_k, v).softmax(dim=-1)", hint=3,
    says="Softmax was applied twice: the weights are too even. Once is enough.")
attention.mutant("tanh_taken_apart", body="""
    apart = torch.tanh(query @ w_q.mT)[:, :, None] + torch.tanh(key @ w_k.mT)[:, None]
    weights = (apart @ v).softmax(dim=-1)
    return (weights @ value, weights)""",
    says="Every query got the same weights, as happens when tanh is taken of query and key apart. Add first, as in "
    "exercise 1.2.")
attention.mutant("one_query_as_in_look", "additive_scores", "scored", "weights @ value",
    "(weights[..., None] * value).sum(dim=2)", hint=3, says="It stopped: the weights have an axis for the L queries "
    "and value has none, so the two do not line up. `weights @ value` mixes for each query.")
