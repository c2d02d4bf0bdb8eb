"""The checks of lesson 2 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

from typing import Any

import torch
from torch import Tensor

from autograder.checks import Inputs, check, law, shortcut

NO_ATTEND = shortcut(
    "attend",
    "scaled_dot_product_attention",
    "MultiheadAttention",
    because="Writing its steps is the exercise.",
)


@check("project_qkv", points=1, show=True)
def a_batch_of_sentences(project_qkv: Any, draw: Inputs) -> Any:
    """Two sentences of four words: queries, keys and values, in that order."""
    x = draw.normal(2, 4, 6)
    return project_qkv(x, draw.normal(6, 5), draw.normal(6, 5), draw.normal(6, 3))


@check("attention_scores", points=1, show=True)
def three_queries_five_keys(attention_scores: Any, draw: Inputs) -> Any:
    """Three queries and five keys: a score for each pair."""
    return attention_scores(draw.normal(3, 4), draw.normal(5, 4))


@check("attention_scores", points=1, show=True)
def scores_with_heads(attention_scores: Any, draw: Inputs) -> Any:
    """A batch with several heads: each head has its own table."""
    return attention_scores(draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4))


@check("attend", points=1, show=True)
def two_queries_three_keys(attend: Any, draw: Inputs) -> Any:
    """Two queries, three keys: the output, then the weights."""
    query = draw.give(0.4 * draw.normal(2, 4))
    return attend(query, draw.normal(3, 4), draw.normal(3, 6))


@check("attend", points=1, show=True)
def attention_with_heads(attend: Any, draw: Inputs) -> Any:
    """A batch with several heads: each query shares out its attention among the keys of its own head."""
    return attend(
        draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4), draw.normal(2, 3, 7, 6)
    )


def where_rows_look(result: Any) -> dict[str, Any]:
    """Describe the pattern that a query and a key produce. Many pairs produce the right one."""
    query, key = two_matrices(result)
    weights = (query @ key.mT).softmax(dim=-1)  # (L, S)
    best = weights.topk(min(2, len(weights)), dim=-1).values
    positions = torch.arange(len(weights))
    previous = (positions - 1).clamp(min=0)
    looks_at = weights.argmax(dim=-1)
    right = bool(looks_at.equal(previous))
    return {
        "rows with a tie for the largest weight": best[:, 0] - best[:, -1] < 1e-6
        if len(weights) > 1
        else torch.tensor([False]),
        "the column each row looks at": looks_at,
        "rows with a weight above 0.99 there": weights[positions, previous] > 0.99
        if right
        else torch.zeros(len(weights), dtype=torch.bool),
    }


def two_matrices(result: Any) -> tuple[Tensor, Tensor]:
    """Return query and key in float64. Raises ValueError, with the message for the student, for anything else."""
    if not isinstance(result, list | tuple):
        kind = getattr(result, "kind", type(result).__name__)
        raise ValueError(
            f"It should return two matrices, query and key, not a single {kind}."
        )
    if len(result) != 2:
        raise ValueError(f"It should return query and key, not {len(result)} results.")
    for item in result:
        if not isinstance(item, Tensor) or not item.is_floating_point():
            kind = (
                item.dtype
                if isinstance(item, Tensor)
                else getattr(item, "kind", type(item).__name__)
            )
            raise ValueError(
                f"Query and key should be floating-point tensors, because softmax needs them, not {kind}."
            )
    query, key = (item.detach().double() for item in result)
    if query.ndim != 2 or query.shape != key.shape:
        shapes = f"{tuple(query.shape)} and {tuple(key.shape)}"
        raise ValueError(
            f"Query and key should both be (length, D), but they are {shapes}."
        )
    if not (query.isfinite().all() and key.isfinite().all()):
        raise ValueError("All entries of query and key should be finite.")
    return query, key


def where_all_look(results: Any) -> list[dict[str, Any]]:
    """Describe several patterns."""
    return [where_rows_look(result) for result in results]


@check("copy_previous_qk", points=1, show=True, summary=where_rows_look)
def six_positions(copy_previous_qk: Any, draw: Inputs) -> Any:
    """A few positions: each row looks at the one before it, with a weight above 0.99."""
    return copy_previous_qk(draw.size(6, 7, 9))


@check("copy_previous_qk", points=1, summary=where_all_look)
def other_lengths(copy_previous_qk: Any, draw: Inputs) -> Any:
    """Other lengths: one position, two, more than six, and 300."""
    lengths = (1, 2, draw.integer(11, 15), 300)
    return [copy_previous_qk(length) for length in lengths]


@law("project_qkv")
def each_token_by_itself(project_qkv: Any, draw: Inputs) -> bool:
    """The query, key and value of a token depend on no other token."""
    x, matrices = draw.normal(1, 4, 6), [draw.normal(6, 5) for _ in range(3)]
    other = torch.cat([x[:, :2], draw.normal(1, 2, 6)], dim=1)
    pairs = zip(project_qkv(x, *matrices), project_qkv(other, *matrices), strict=True)
    return all(torch.allclose(a[:, :2], b[:, :2], atol=1e-4) for a, b in pairs)


@law("project_qkv")
def a_matrix_for_each(project_qkv: Any, draw: Inputs) -> bool:
    """Another matrix for the queries changes the queries, and neither keys nor values."""
    x, rest = draw.normal(1, 4, 6), [draw.normal(6, 5) for _ in range(2)]
    first, second = (project_qkv(x, draw.normal(6, 5), *rest) for _ in range(2))
    same = [torch.allclose(a, b, atol=1e-4) for a, b in zip(first, second, strict=True)]
    return same == [False, True, True]


@law("attention_scores")
def linear_in_the_query(attention_scores: Any, draw: Inputs) -> bool:
    """A query twice as long gets scores twice as large, as a dot product does and a distance does not."""
    query, key = draw.normal(3, 4), draw.normal(5, 4)
    doubled = attention_scores(2 * query, key)
    return torch.allclose(doubled, 2 * attention_scores(query, key), atol=1e-4)


@law("attention_scores")
def a_score_for_each_pair(attention_scores: Any, draw: Inputs) -> bool:
    """The score of a query and a key depends on no other query or key."""
    query, key = draw.normal(3, 4), draw.normal(5, 4)
    part = attention_scores(query[:2], key[:3])
    return torch.allclose(attention_scores(query, key)[:2, :3], part, atol=1e-4)


@law("attend")
def equal_values(attend: Any, draw: Inputs) -> bool:
    """Where all values are the same vector, every output is that vector: the weights sum to 1."""
    value = draw.normal(6)
    output, _ = attend(draw.normal(2, 4), draw.normal(3, 4), value.expand(3, 6))
    return torch.allclose(output, value.expand(2, 6), atol=1e-4)


@law("attend")
def keys_in_another_order(attend: Any, draw: Inputs) -> bool:
    """Keys and values in another order, both the same, give the same output."""
    query, key, value = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 6)
    turned = attend(query, key.flip(0), value.flip(0))
    return torch.allclose(attend(query, key, value)[0], turned[0], atol=1e-4)


@law("attend")
def each_query_by_itself(attend: Any, draw: Inputs) -> bool:
    """The output of a query depends on no other query."""
    query, key, value = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 6)
    alone = attend(query[:1], key, value)
    return torch.allclose(attend(query, key, value)[0][:1], alone[0], atol=1e-4)


@law("project_qkv")
def nothing_but_a_product(project_qkv: Any, draw: Inputs) -> bool:
    """With x twice as large all three are twice as large, as products with a matrix are."""
    x, matrices = draw.normal(2, 3, 4), [draw.normal(4, 4) for _ in range(3)]
    pairs = zip(project_qkv(2 * x, *matrices), project_qkv(x, *matrices), strict=True)
    return all(torch.allclose(two, 2 * one, atol=1e-4) for two, one in pairs)


@law("project_qkv")
def each_with_its_own_matrix(project_qkv: Any, draw: Inputs) -> bool:
    """A matrix of zeros for the values makes the third result 0, and no other one."""
    x, w = draw.normal(2, 3, 4), draw.normal(4, 4)
    zero = [
        bool((part == 0).all()) for part in project_qkv(x, w, w, torch.zeros_like(w))
    ]
    return zero == [False, False, True]


@law("attention_scores")
def linear_in_the_key(attention_scores: Any, draw: Inputs) -> bool:
    """A key twice as long gets scores twice as large."""
    query, key = draw.normal(3, 4), draw.normal(5, 4)
    return torch.allclose(
        attention_scores(query, 2 * key), 2 * attention_scores(query, key), atol=1e-4
    )


@law("attention_scores")
def not_scaled(attention_scores: Any, draw: Inputs) -> bool:
    """Two rows of D ones have a score of D, for every D: nothing is divided."""
    scores = [attention_scores(torch.ones(2, d), torch.ones(3, d)) for d in (1, 4, 9)]
    return all(
        torch.allclose(s, torch.full_like(s, d), atol=1e-3)
        for s, d in zip(scores, (1, 4, 9), strict=True)
    )


@law("attend")
def returned_weights_mix(attend: Any, draw: Inputs) -> bool:
    """The output is the values mixed by the very weights that are returned."""
    query, key, value = draw.normal(2, 4), draw.normal(3, 4), draw.normal(3, 5)
    output, weights = attend(query, key, value)
    return torch.allclose(output, weights @ value, atol=1e-4)


@law("attend")
def a_score_larger_by_one(attend: Any, draw: Inputs) -> bool:
    """A score that is larger by 1 has a weight e times as large, for every D: scores are not scaled."""
    query, key = torch.zeros(1, 9).double(), torch.zeros(2, 9).double()
    query[0, 0], key[0, 0] = 1.0, 1.0
    weights = attend(query, key, draw.normal(2, 3))[1]
    return abs(float(weights[0, 0] / weights[0, 1]) - torch.e) < 1e-2


@law("attend")
def rows_sum_to_one(attend: Any, draw: Inputs) -> bool:
    """The weights of each query, a row of the table, sum to 1, also with axes in front."""
    weights = attend(
        draw.normal(2, 3, 4, 6), draw.normal(2, 3, 5, 6), draw.normal(2, 3, 5, 2)
    )[1]
    sums = weights.sum(dim=-1)
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


def weights_of(copy_previous_qk: Any, length: int) -> Tensor:
    """Return the weights that queries and keys of some length have."""
    query, key = copy_previous_qk(length)
    return (query.double() @ key.double().mT).softmax(dim=-1)


@law("copy_previous_qk")
def one_position_back(copy_previous_qk: Any, draw: Inputs) -> bool:
    """From row 1 on, the largest weight is one position back."""
    places = weights_of(copy_previous_qk, 6).argmax(dim=-1)
    return bool(places[1:].equal(torch.arange(5)))


@law("copy_previous_qk")
def the_first_looks_at_itself(copy_previous_qk: Any, draw: Inputs) -> bool:
    """Row 0 has nothing before it, and looks at position 0."""
    return int(weights_of(copy_previous_qk, 6)[0].argmax()) == 0


@law("copy_previous_qk")
def sharp_enough_for_many(copy_previous_qk: Any, draw: Inputs) -> bool:
    """Among many keys too the right one has more than 0.99: the gap to the other scores is large enough for
    them all.
    """
    return bool((weights_of(copy_previous_qk, 400).amax(dim=-1) > 0.99).all())


@law("copy_previous_qk")
def a_sequence_of_one(copy_previous_qk: Any, draw: Inputs) -> bool:
    """A sequence of one token looks at that token."""
    return bool((weights_of(copy_previous_qk, 1) > 0.99).all())
