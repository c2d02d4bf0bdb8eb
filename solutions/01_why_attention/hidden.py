"""The hidden checks of lesson 1, and the mistakes that students make in it. Never given to students."""

from typing import Any

import torch
from checks import network

from autograder.checks import Inputs, check, mistake

# A soft lookup


@check("soft_lookup", points=1, tolerance=1e-3)
def one_entry_and_large_scores(soft_lookup: Any, draw: Inputs) -> Any:
    """One entry, scores of thousands, float32."""
    one = soft_lookup(draw.normal(2), draw.normal(1, 2), draw.normal(1, 3))
    query, keys = draw.normal(4), draw.normal(6, 4)
    query[0] = keys[:, 0] = (
        60.0  # adds 3600 to every score, and shares stay as they are
    )
    large = soft_lookup(draw.give(query), draw.give(keys), draw.normal(6, 3), 0.8)
    single = [
        0.7 * draw.normal(*shape, dtype=torch.float32)
        for shape in ((3,), (4, 3), (4, 5))
    ]
    return one, large, soft_lookup(*single, 0.5)


@mistake("soft_lookup", hint=3)
def hard_lookup(query, keys, values, temperature=1.0):
    """The best entry was picked. A hard lookup has no gradient for the query and the keys: mix by softmax instead."""
    return values[(keys @ query).argmax()]


@mistake("soft_lookup")
def temperature_multiplied(query, keys, values, temperature=1.0):
    """The temperature multiplied the scores, so hot came out sharper. Divide."""
    return (keys @ query * temperature).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=2)
def squared_distances(query, keys, values, temperature=1.0):
    """The scores are minus squared distances between query and keys. A score is a dot product here."""
    scores = -(keys - query).square().sum(dim=-1)
    return (scores / temperature).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=2)
def temperature_ignored(query, keys, values, temperature=1.0):
    """The temperature had no effect. It divides the scores, before softmax."""
    return (keys @ query).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=2)
def temperature_after_softmax(query, keys, values, temperature=1.0):
    """The shares were divided by the temperature, after softmax: they no longer sum to 1."""
    return (keys @ query).softmax(dim=-1) / temperature @ values


@mistake("soft_lookup")
def root_of_the_temperature(query, keys, values, temperature=1.0):
    """The scores were divided by something other than the temperature. Is there a root, or a width, in it?"""
    return (keys @ query / temperature**0.5).softmax(dim=-1) @ values


@mistake("soft_lookup")
def temperature_twice(query, keys, values, temperature=1.0):
    """The temperature divided twice, once in the query and once in the keys, say. It divides each score once."""
    return (keys @ query / temperature**2).softmax(dim=-1) @ values


@mistake("soft_lookup")
def scaled_by_the_width(query, keys, values, temperature=1.0):
    """The scores were divided by the root of the width too. That is lesson 3; here the temperature alone divides."""
    return (keys @ query / temperature / query.size(-1) ** 0.5).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=3)
def rows_not_mixed(query, keys, values, temperature=1.0):
    """n rows are left. Multiply each value by its share AND add them up into one."""
    return (keys @ query / temperature).softmax(dim=-1)[:, None] * values


@mistake("soft_lookup", hint=3)
def rows_not_mixed_and_crossed(query, keys, values, temperature=1.0):
    """It stopped: n shares do not line up with values of D_v numbers. A product, @, mixes rows."""
    return ((keys @ query / temperature).softmax(dim=-1) * values).sum(dim=0)


@mistake("soft_lookup", hint=3)
def mean_of_the_rows(query, keys, values, temperature=1.0):
    """The weighted rows were averaged. The shares sum to 1 already: add them up."""
    return ((keys @ query / temperature).softmax(dim=-1)[:, None] * values).mean(dim=0)


@mistake("soft_lookup")
def softmax_of_the_values(query, keys, values, temperature=1.0):
    """Softmax was taken of values. It makes shares of the scores; values are mixed as they are."""
    return keys @ query / temperature @ values.softmax(dim=-1)


@mistake("soft_lookup", hint=1)
def softmax_of_the_result(query, keys, values, temperature=1.0):
    """Softmax came last, on the mixture. It makes shares of the scores, before anything is mixed."""
    return (keys @ query / temperature @ values).softmax(dim=-1)


@mistake("soft_lookup", hint=1)
def no_softmax(query, keys, values, temperature=1.0):
    """The values were multiplied by raw scores. Softmax makes shares of them that sum to 1."""
    return keys @ query / temperature @ values


@mistake("soft_lookup", hint=1)
def keys_mixed(query, keys, values, temperature=1.0):
    """The keys were mixed. They say how much; the values are what is passed on."""
    return (keys @ query / temperature).softmax(dim=-1) @ keys


@mistake("soft_lookup", hint=3)
def weights_returned(query, keys, values, temperature=1.0):
    """These are the shares, one per entry. Mix the values with them."""
    return (keys @ query / temperature).softmax(dim=-1)


@mistake("soft_lookup")
def pair_returned(query, keys, values, temperature=1.0):
    """Two things came back. Only the mixture was asked for."""
    weights = (keys @ query / temperature).softmax(dim=-1)
    return weights @ values, weights


@mistake("soft_lookup")
def a_row_too_many(query, keys, values, temperature=1.0):
    """The result has an axis too many. One query gives one vector, (D_v,)."""
    return ((keys @ query / temperature).softmax(dim=-1) @ values)[None]


@mistake("soft_lookup")
def exponentials_overflow(query, keys, values, temperature=1.0):
    """Right for small scores. Large ones overflow when exp is written out: use PyTorch's softmax."""
    e = (keys @ query / temperature).exp()
    return e / e.sum() @ values


@mistake("soft_lookup")
def shares_without_exp(query, keys, values, temperature=1.0):
    """The scores were divided by their sum, without exp. Scores can be negative; softmax makes them positive first."""
    scores = keys @ query / temperature
    return scores / scores.sum() @ values


@mistake("soft_lookup")
def cosine(query, keys, values, temperature=1.0):
    """The query and the keys were scaled to the same norm first. The score is the plain dot product."""
    unit = torch.nn.functional.normalize
    return (unit(keys, dim=-1) @ unit(query, dim=-1) / temperature).softmax(
        dim=-1
    ) @ values


@mistake("soft_lookup", hint=2)
def distances(query, keys, values, temperature=1.0):
    """The scores are distances. A large score means a good fit: the dot product."""
    return ((keys - query).norm(dim=-1) / temperature).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=2)
def negative_distances(query, keys, values, temperature=1.0):
    """The scores are negative distances. That is a sound lookup too, but the task asks for dot products."""
    return (-(keys - query).norm(dim=-1) / temperature).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=2)
def keys_beside_keys(query, keys, values, temperature=1.0):
    """The keys were compared with one another, or with the best of them. Compare them with the query."""
    best = keys[(keys @ query).argmax()]
    return (keys @ best / temperature).softmax(dim=-1) @ values


@mistake("soft_lookup")
def no_gradient(query, keys, values, temperature=1.0):
    """The result is right, but no gradient comes back: something on the way drops the graph, as detach, .data,
    item(), torch.tensor, no_grad and the math module do.
    """
    return (keys.detach() @ query.detach() / temperature).softmax(dim=-1) @ values


@mistake("soft_lookup")
def rounded_down(query, keys, values, temperature=1.0):
    """The scores were rounded down: // cuts the fraction off. Use /."""
    return (keys @ query // temperature).softmax(dim=-1) @ values


@mistake("soft_lookup")
def softmax_twice(query, keys, values, temperature=1.0):
    """Softmax was applied twice: the shares are too even. Once is enough."""
    return (keys @ query / temperature).softmax(dim=-1).softmax(dim=-1) @ values


@mistake("soft_lookup", hint=3)
def last_term_only(query, keys, values, temperature=1.0):
    """Only the last value arrives, times its share: the loop overwrites the result instead of adding to it."""
    return (keys @ query / temperature).softmax(dim=-1)[-1] * values[-1]


@mistake("soft_lookup", hint=3)
def summed_over_the_wrong_axis(query, keys, values, temperature=1.0):
    """Summed over the wrong axis: n numbers are left. Add up the n rows, so that D_v numbers are left."""
    return ((keys @ query / temperature).softmax(dim=-1)[:, None] * values).sum(dim=-1)


@mistake("soft_lookup")
def logarithms_of_shares(query, keys, values, temperature=1.0):
    """These shares do not sum to 1: log_softmax gives logarithms, sigmoid judges each score by itself. Use softmax."""
    return (keys @ query / temperature).log_softmax(dim=-1) @ values


# Additive scores


@check("additive_scores", points=1)
def lonely_and_large(additive_scores: Any, draw: Inputs) -> Any:
    """A single query, a single key, h = 1, float32, gradients, and keys with very large numbers."""
    weights = [
        draw.normal(*shape, dtype=torch.float32) for shape in ((1, 3), (1, 2), (1,))
    ]
    single = additive_scores(
        draw.normal(3, 1, 3, dtype=torch.float32),
        draw.normal(3, 4, 2, dtype=torch.float32),
        *weights,
    )
    query = draw.normal(1, 5, 2).requires_grad_()
    keys = draw.normal(1, 1, 4)
    scores = additive_scores(query, keys, *network(draw, 7, 2, 4))
    (scores * draw.normal(1, 5, 1)).sum().backward()
    large = additive_scores(query, 1e5 * keys, *network(draw, 7, 2, 4))
    return single, scores, query.grad, large


def summed(query, keys, w_q, w_k):
    """Add every query to every key, in the common space."""
    return (query @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, None]


@mistake("additive_scores", hint=3)
def no_tanh(query, keys, w_q, w_k, v):
    """tanh is missing: the score collapses to one part per query and one per key, and every query ranks the keys
    in the same way.
    """
    return summed(query, keys, w_q, w_k) @ v


@mistake("additive_scores", hint=3)
def tanh_outside(query, keys, w_q, w_k, v):
    """tanh came after v. It bends the h numbers of the sum; v then turns them into one score."""
    return torch.tanh(summed(query, keys, w_q, w_k) @ v)


@mistake("additive_scores", hint=1)
def tanh_of_each(query, keys, w_q, w_k, v):
    """tanh was taken of query and key apart, before they were added. Add first: tanh of the sum."""
    return (
        torch.tanh(query @ w_q.mT)[:, :, None] + torch.tanh(keys @ w_k.mT)[:, None]
    ) @ v


@mistake("additive_scores")
def one_matrix_for_both(query, keys, w_q, w_k, v):
    """Queries and keys went through the same matrix. Each has its own: w_q for queries, w_k for keys."""
    return torch.tanh(summed(query, keys, w_q, w_q)) @ v


@mistake("additive_scores")
def matrices_swapped(query, keys, w_q, w_k, v):
    """w_q and w_k are swapped."""
    return torch.tanh(summed(query, keys, w_k, w_q)) @ v


@mistake("additive_scores", hint=3)
def weights_not_transposed(query, keys, w_q, w_k, v):
    """The weights are laid out as (out, in), as in a linear layer: multiply by their transpose, `.mT`."""
    return torch.tanh((query @ w_q)[:, :, None] + (keys @ w_k)[:, None]) @ v


@mistake("additive_scores", hint=2)
def entry_by_entry(query, keys, w_q, w_k, v):
    """Query i met key i only. Every query must meet every key: put an axis into each before adding."""
    return torch.tanh(query @ w_q.mT + keys @ w_k.mT) @ v


@mistake("additive_scores")
def keys_down(query, keys, w_q, w_k, v):
    """The table lies on its side, (B, S, L). Rows belong to queries, columns to keys."""
    return (torch.tanh(summed(query, keys, w_q, w_k)) @ v).mT


@mistake("additive_scores", hint=2)
def added_along_the_sequence(query, keys, w_q, w_k, v):
    """Queries and keys were concatenated. A score belongs to a pair: add each query to each key."""
    return torch.tanh(torch.cat([query @ w_q.mT, keys @ w_k.mT], dim=1)) @ v


@mistake("additive_scores", hint=2)
def axes_in_the_same_place(query, keys, w_q, w_k, v):
    """Both got their axis of size 1 in the same place, so no pairs were made. They belong in different places."""
    return torch.tanh((query @ w_q.mT)[:, :, None] + (keys @ w_k.mT)[:, :, None]) @ v


@mistake("additive_scores")
def multiplied(query, keys, w_q, w_k, v):
    """Query and key were multiplied. In the additive score they are added, inside tanh."""
    return torch.tanh((query @ w_q.mT)[:, :, None] * (keys @ w_k.mT)[:, None]) @ v


@mistake("additive_scores", hint=2)
def dot_products(query, keys, w_q, w_k, v):
    """These are dot products of projected queries and keys. The additive score adds them and weights the sum by v."""
    return (query @ w_q.mT) @ (keys @ w_k.mT).mT


@mistake("additive_scores", hint=3)
def v_forgotten(query, keys, w_q, w_k, v):
    """The h numbers were added up without v. v says how much each of them counts."""
    return torch.tanh(summed(query, keys, w_q, w_k)).sum(dim=-1)


@mistake("additive_scores", hint=3)
def v_not_summed(query, keys, w_q, w_k, v):
    """Four axes are left: the h numbers were weighted by v and not added up."""
    return torch.tanh(summed(query, keys, w_q, w_k)) * v


@mistake("additive_scores")
def tanh_written_out(query, keys, w_q, w_k, v):
    """Right for small numbers. Written with exp, tanh overflows for large ones: use torch.tanh."""
    s = summed(query, keys, w_q, w_k)
    return ((s.exp() - (-s).exp()) / (s.exp() + (-s).exp())) @ v


@mistake("additive_scores", hint=3)
def averaged(query, keys, w_q, w_k, v):
    """The h numbers were averaged where they should be added up."""
    return (torch.tanh(summed(query, keys, w_q, w_k)) * v).mean(dim=-1)


@mistake("additive_scores")
def sigmoid(query, keys, w_q, w_k, v):
    """A function other than tanh was used, such as sigmoid or ReLU."""
    return torch.sigmoid(summed(query, keys, w_q, w_k)) @ v


@mistake("additive_scores")
def relu(query, keys, w_q, w_k, v):
    """ReLU was used. The formula has tanh, which keeps the sign."""
    return torch.relu(summed(query, keys, w_q, w_k)) @ v


@mistake("additive_scores")
def already_softmax(query, keys, w_q, w_k, v):
    """Softmax was applied. Scores were asked for: weights come in the next exercise."""
    return (torch.tanh(summed(query, keys, w_q, w_k)) @ v).softmax(dim=-1)


@mistake("additive_scores")
def subtracted(query, keys, w_q, w_k, v):
    """The key was subtracted. The formula adds the two."""
    return torch.tanh((query @ w_q.mT)[:, :, None] - (keys @ w_k.mT)[:, None]) @ v


@mistake("additive_scores", hint=3)
def an_axis_of_one_kept(query, keys, w_q, w_k, v):
    """An axis of size 1 is left at the end. A product with the vector v removes it by itself."""
    return torch.tanh(summed(query, keys, w_q, w_k)) @ v[:, None]


@mistake("additive_scores")
def as_many_columns_as_queries(query, keys, w_q, w_k, v):
    """The loop over keys counted the queries. There are S keys, so S columns: keys.size(1)."""
    table = query.new_zeros(query.size(0), query.size(1), query.size(1))
    for column in range(query.size(1)):
        key = (keys @ w_k.mT)[:, column, None]
        table[:, :, column] = torch.tanh(query @ w_q.mT + key) @ v
    return table


@mistake("additive_scores", hint=1)
def batches_mixed(query, keys, w_q, w_k, v):
    """Sentences met one another: the result has a batch axis twice, or too many axes."""
    return (
        torch.tanh((query @ w_q.mT)[:, None, :, None] + (keys @ w_k.mT)[None, :, None])
        @ v
    )


@mistake("additive_scores", hint=3)
def v_is_missing(query, keys, w_q, w_k, v):
    """v is missing: each pair still has h numbers. v turns them into one score."""
    return torch.tanh(summed(query, keys, w_q, w_k))


@mistake("additive_scores", hint=3)
def v_inside_tanh(query, keys, w_q, w_k, v):
    """v was multiplied inside tanh. It weights the h numbers after they were bent."""
    return torch.tanh(summed(query, keys, w_q, w_k) * v).sum(dim=-1)


@mistake("additive_scores")
def scaled_scores(query, keys, w_q, w_k, v):
    """The scores were divided by a root. That belongs to dot products (lesson 3), not here."""
    return torch.tanh(summed(query, keys, w_q, w_k)) @ v / v.numel() ** 0.5


@mistake("additive_scores")
def rows_in_other_places(query, keys, w_q, w_k, v):
    """The right numbers in the wrong places: reshape and view do not transpose. Build the table with queries first."""
    scores = (torch.tanh(summed(query, keys, w_q, w_k)) @ v).mT
    return scores.reshape(query.size(0), query.size(1), keys.size(1))


@mistake("additive_scores")
def scores_cut_off(query, keys, w_q, w_k, v):
    """The scores are right, but no gradient passes: detach, .item(), torch.tensor and no_grad drop the graph."""
    return (torch.tanh(summed(query, keys, w_q, w_k)) @ v).detach()


# Additive attention


@check("additive_attention", points=1)
def lonely_and_single(additive_attention: Any, draw: Inputs) -> Any:
    """A single query, a single key, gradients."""
    query = draw.normal(2, 1, 3).requires_grad_()
    keys, values, weights = (
        draw.normal(2, 5, 3),
        draw.normal(2, 5, 4),
        network(draw, 4, 3, 3),
    )
    contexts, shares = additive_attention(query, keys, values, *weights)
    (contexts * draw.normal(2, 1, 4)).sum().backward()
    one = additive_attention(
        draw.normal(1, 3, 3), draw.normal(1, 1, 3), draw.normal(1, 1, 2), *weights
    )
    return contexts, shares, query.grad, one


def scored(query, keys, w_q, w_k, v):
    """Do the scores right."""
    return torch.tanh(summed(query, keys, w_q, w_k)) @ v


@mistake("additive_attention", hint=1)
def over_queries(query, keys, values, w_q, w_k, v):
    """Softmax ran over the queries: columns sum to 1. Each query shares its attention among the keys: the last axis."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=1)
    return weights @ values, weights


@mistake("additive_attention", hint=1)
def over_the_batch(query, keys, values, w_q, w_k, v):
    """Softmax ran over the sentences. Each query shares its attention among its own keys: the last axis."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=0)
    return weights @ values, weights


@mistake("additive_attention", hint=3)
def scores_returned(query, keys, values, w_q, w_k, v):
    """The second result holds scores. Weights are what softmax makes of them."""
    scores = scored(query, keys, w_q, w_k, v)
    return scores.softmax(dim=-1) @ values, scores


@mistake("additive_attention", hint=3)
def without_softmax(query, keys, values, w_q, w_k, v):
    """Softmax is missing: the weights of a query do not sum to 1."""
    scores = scored(query, keys, w_q, w_k, v)
    return scores @ values, scores


@mistake("additive_attention", hint=3)
def pair_swapped(query, keys, values, w_q, w_k, v):
    """The right tensors in the wrong order: contexts should come first, then weights."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return weights, weights @ values


@mistake("additive_attention", hint=2)
def keys_are_mixed(query, keys, values, w_q, w_k, v):
    """The keys were mixed. They say how much; the values are what is passed on."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return weights @ keys, weights


@mistake("additive_attention", hint=3)
def contexts_only(query, keys, values, w_q, w_k, v):
    """Only one thing came back. Contexts and weights were asked for."""
    return scored(query, keys, w_q, w_k, v).softmax(dim=-1) @ values


@mistake("additive_attention")
def dot_product_attention(query, keys, values, w_q, w_k, v):
    """The scores are dot products of the projections. Here they are additive: tanh of the sum, weighted by v."""
    weights = ((query @ w_q.mT) @ (keys @ w_k.mT).mT).softmax(dim=-1)
    return weights @ values, weights


@mistake("additive_attention")
def tanh_left_out(query, keys, values, w_q, w_k, v):
    """Every query got the same weights: without tanh what the query adds cancels in softmax."""
    weights = (summed(query, keys, w_q, w_k) @ v).softmax(dim=-1)
    return weights @ values, weights


@mistake("additive_attention", hint=2)
def one_context_for_all(query, keys, values, w_q, w_k, v):
    """The contexts of all queries were added up. Each query has a context of its own."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return (weights @ values).sum(dim=1), weights


@mistake("additive_attention", hint=2)
def context_per_key(query, keys, values, w_q, w_k, v):
    """The sum ran over the queries, so there is a context per key. Each query has a context of its own."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return (weights[..., None] * values[:, None]).sum(dim=1), weights


@mistake("additive_attention")
def sigmoid_for_softmax(query, keys, values, w_q, w_k, v):
    """Sigmoid judges each score by itself, so the weights of a query do not sum to 1. Softmax shares them out."""
    weights = torch.sigmoid(scored(query, keys, w_q, w_k, v))
    return weights @ values, weights


@mistake("additive_attention")
def scaled(query, keys, values, w_q, w_k, v):
    """The scores were divided by a root before softmax. That belongs to dot products (lesson 3), not here."""
    weights = (scored(query, keys, w_q, w_k, v) / v.numel() ** 0.5).softmax(dim=-1)
    return weights @ values, weights


@mistake("additive_attention", hint=1)
def one_softmax_for_all(query, keys, values, w_q, w_k, v):
    """All weights of a sentence together sum to 1. Each query has a whole unit of attention of its own."""
    scores = scored(query, keys, w_q, w_k, v)
    weights = scores.flatten(1).softmax(dim=-1).view(scores.shape)
    return weights @ values, weights


@mistake("additive_attention")
def lying_on_its_side(query, keys, values, w_q, w_k, v):
    """The table lies on its side, (B, S, L). Rows belong to queries, columns to keys."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return weights @ values, weights.mT


@mistake("additive_attention")
def divided_by_the_sum(query, keys, values, w_q, w_k, v):
    """The scores were divided by their sum, without exp. Scores can be negative; softmax makes them positive first."""
    scores = scored(query, keys, w_q, w_k, v)
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ values, weights


@mistake("additive_attention")
def weights_of_the_first_sentence(query, keys, values, w_q, w_k, v):
    """The weights of the first sentence were used for all of them. Each sentence has weights of its own."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1)
    return weights[:1] @ values, weights


@mistake("additive_attention", hint=3)
def twice_softmax(query, keys, values, w_q, w_k, v):
    """Softmax was applied twice: the weights are too even. Once is enough."""
    weights = scored(query, keys, w_q, w_k, v).softmax(dim=-1).softmax(dim=-1)
    return weights @ values, weights


@mistake("additive_attention")
def tanh_taken_apart(query, keys, values, w_q, w_k, v):
    """Every query got the same weights: tanh was taken of query and key apart. Add first, as in exercise 1.2."""
    apart = torch.tanh(query @ w_q.mT)[:, :, None] + torch.tanh(keys @ w_k.mT)[:, None]
    weights = (apart @ v).softmax(dim=-1)
    return weights @ values, weights


@mistake("additive_attention", hint=3)
def one_query_as_in_look(query, key, value, w_q, w_k, v):
    """It stopped: weights[..., None] is (B, L, S, 1), and value has no axis for the L queries. `weights @ value` mixes
    for each query.
    """
    weights = scored(query, key, w_q, w_k, v).softmax(dim=-1)
    return (weights[..., None] * value).sum(dim=2), weights
