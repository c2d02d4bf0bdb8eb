"""The checks of lesson 12 that you can run yourself. Grading runs them again on new inputs, along with a few more."""

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.checks import Inputs, check, law, shortcut

NUMPY_ALONE = shortcut(
    "numpy_attention",
    "torch",
    "keras",
    "scipy",
    because="The exercise is to write attention with NumPy alone.",
)

# Attention in NumPy


def array(draw: Inputs, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Draw an array of standard normal numbers."""
    return draw.give(draw.normal(*shape).numpy().astype(dtype))


def rule(draw: Inputs, *shape: int) -> np.ndarray:
    """Draw a mask with about half of its entries True and at least one True in each row."""
    mask = draw.normal(*shape).numpy() > 0
    mask[..., draw.integer(0, shape[-1] - 1)] = True
    return draw.give(mask)


def called(attention: Any, *arrays: np.ndarray) -> tuple[Any, str]:
    """Call attention; return what came back, and what NumPy warned of on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        output = attention(*arrays)
    found = {str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)}
    return output, ", ".join(sorted(found)) or "no warning"


@check("numpy_attention", points=1, show=True)
def plain_tables(numpy_attention: Any, draw: Inputs) -> Any:
    """Three queries, five keys, values of a different dimension, no mask."""
    q, k, v = array(draw, 3, 4), array(draw, 5, 4), array(draw, 5, 2)
    return called(numpy_attention, q, k, v)[0]


@check("numpy_attention", points=1, show=True)
def heads_and_a_mask(numpy_attention: Any, draw: Inputs) -> Any:
    """Two sentences in three heads, with a mask: four queries, five keys."""
    q, k = array(draw, 2, 3, 4, 7), array(draw, 2, 3, 5, 7)
    v, mask = array(draw, 2, 3, 5, 6), rule(draw, 2, 3, 4, 5)
    return called(numpy_attention, q, k, v, mask)[0]


# One mask, four conventions

# one rule for three queries and four keys, written in each of the four
TABLES: dict[str, list[list[Any]]] = {
    "may_attend": [
        [True, False, False, True],
        [True, True, False, True],
        [False, False, True, False],
    ],
    "hide": [
        [False, True, True, False],
        [False, False, True, False],
        [True, True, False, True],
    ],
    "zero_one": [[1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0]],
    "additive": [
        [0.0, -torch.inf, -torch.inf, 0.0],
        [0.0, 0.0, -torch.inf, 0.0],
        [-torch.inf, -torch.inf, 0.0, -torch.inf],
    ],
}


def masks(draw: Inputs) -> dict[str, Tensor]:
    """Return one drawn rule in each of the four conventions."""
    queries, keys = draw.normal(3).argsort(), draw.normal(4).argsort()
    return {
        name: draw.give(torch.tensor(table)[queries][:, keys])
        for name, table in TABLES.items()
    }


@check("convert_mask", points=1, show=True)
def all_pairs(convert_mask: Any, draw: Inputs) -> Any:
    """Three queries and four keys, from each of the four conventions to each."""
    four = masks(draw)
    return {
        f"{source} to {target}": convert_mask(four[source], source, target)
        for source in four
        for target in four
    }


# Keras's weights


def keras_weights(
    draw: Inputs, heads: int, dim: int, dtype: Any = np.float32
) -> dict[str, np.ndarray]:
    """Draw weights as Keras's MultiHeadAttention has them."""
    size = heads * dim
    weights = {}
    for part in ("query", "key", "value"):
        weights[f"{part}/kernel"] = array(draw, size, heads, dim, dtype=dtype)
        weights[f"{part}/bias"] = array(draw, heads, dim, dtype=dtype)
    weights["attention_output/kernel"] = array(draw, heads, dim, size, dtype=dtype)
    weights["attention_output/bias"] = array(draw, size, dtype=dtype)
    return weights


def torch_module(
    draw: Inputs, size: int, heads: int, dtype: Any = torch.float32
) -> nn.MultiheadAttention:
    """Make a module with drawn parameters, in eval mode."""
    module = nn.MultiheadAttention(size, heads, batch_first=True, dtype=dtype).eval()
    with torch.no_grad():
        for _, parameter in sorted(module.named_parameters()):
            parameter.copy_(draw.normal(*parameter.shape))
    return module


def parameters_of(module: nn.Module) -> dict[str, Tensor]:
    """Return copies of a module's parameters by name."""
    return {name: p.detach().clone() for name, p in sorted(module.named_parameters())}


@check("keras_to_torch", points=1, show=True)
def one_head(keras_to_torch: Any, draw: Inputs) -> Any:
    """One head of dimension 3: the module's parameters afterward."""
    module = torch_module(draw, 3, 1)
    keras_to_torch(keras_weights(draw, 1, 3), module)
    return parameters_of(module)


@check("keras_to_torch", points=1, show=True)
def several_heads(keras_to_torch: Any, draw: Inputs) -> Any:
    """Three heads of dimension 2: the module's parameters afterward."""
    module = torch_module(draw, 6, 3)
    keras_to_torch(keras_weights(draw, 3, 2), module)
    return parameters_of(module)


@law("numpy_attention")
def keys_moved_together(numpy_attention: Any, draw: Inputs) -> bool:
    """The same vector added to all keys changes nothing, even if scores are then in the thousands: all scores of a
    query move by the same number.
    """
    query, key, value = array(draw, 3, 4), array(draw, 5, 4), array(draw, 5, 2)
    moved = key + 2000 * np.ones(4)
    one, other = (numpy_attention(query, k, value) for k in (key, moved))
    return bool(np.allclose(one, other, atol=1e-3))


@law("convert_mask")
def added_to_scores(convert_mask: Any, draw: Inputs) -> bool:
    """Scores plus an additive mask stay what they are where a query may look, and are minus infinity elsewhere."""
    rules = masks(draw)
    seen = rules["may_attend"]
    scores = torch.ones(seen.shape)
    added = scores + convert_mask(seen, "may_attend", "additive")
    return torch.equal(added, scores.masked_fill(~seen, -torch.inf))


@law("keras_to_torch")
def numbers_of_its_own(keras_to_torch: Any, draw: Inputs) -> bool:
    """What is copied does not change when Keras's arrays do."""
    weights, module = keras_weights(draw, 2, 3), torch_module(draw, 6, 2)
    keras_to_torch(weights, module)
    before = parameters_of(module)
    for array_ in weights.values():
        array_ += 1
    after = parameters_of(module)
    return all(torch.equal(before[name], after[name]) for name in before)


@law("numpy_attention")
def hidden_keys_change_nothing(numpy_attention: Any, draw: Inputs) -> bool:
    """What a hidden key and its value hold changes nothing."""
    query, key, value = array(draw, 3, 4), array(draw, 5, 4), array(draw, 5, 2)
    mask = rule(draw, 5)
    other = np.where(mask[:, None], key, 30.0), np.where(mask[:, None], value, -50.0)
    one, two = (numpy_attention(query, *kv, mask) for kv in ((key, value), other))
    return bool(np.allclose(one, two, atol=1e-4))


@law("numpy_attention")
def equal_values(numpy_attention: Any, draw: Inputs) -> bool:
    """Where all values are the same vector, every output is that vector: the weights of a query sum to 1 over the
    keys.
    """
    value = np.tile(array(draw, 2), (5, 1))
    output = numpy_attention(array(draw, 3, 4), array(draw, 5, 4), value)
    return bool(np.allclose(output, value[:3], atol=1e-4))


@law("numpy_attention")
def an_empty_query_gets_zeros(numpy_attention: Any, draw: Inputs) -> bool:
    """A query that may look at nothing gets zeros, whatever the other queries see."""
    mask = rule(draw, 3, 5)
    mask[1] = False
    output = numpy_attention(
        array(draw, 3, 4), array(draw, 5, 4), array(draw, 5, 2), mask
    )
    return not output[1].any() and bool(output[[0, 2]].any())


@law("numpy_attention")
def the_root_of_d(numpy_attention: Any, draw: Inputs) -> bool:
    """Scores are divided by sqrt(D): one that is larger by sqrt(D) has a weight e times as large."""
    query, key = np.zeros((1, 4)), np.zeros((2, 4))
    query[0, 0], key[0, 0] = 1.0, 2.0
    weights = numpy_attention(query, key, np.eye(2))[0]
    return bool(abs(weights[0] / weights[1] - np.e) < 1e-3)


@law("numpy_attention")
def in_the_inputs_dtype(numpy_attention: Any, draw: Inputs) -> bool:
    """float32 in gives float32 out, with and without a mask, and float64 gives float64."""
    found = []
    for dtype in (np.float32, np.float64):
        inputs = [array(draw, n, 4, dtype=dtype) for n in (3, 5, 5)]
        outputs = numpy_attention(*inputs), numpy_attention(*inputs, rule(draw, 3, 5))
        found.append(all(output.dtype == dtype for output in outputs))
    return all(found)


@law("convert_mask")
def there_and_back(convert_mask: Any, draw: Inputs) -> bool:
    """A mask that is converted to another convention and back is what it was, in its own dtype."""
    four = masks(draw)
    pairs = [(s, t) for s in four for t in four]
    back = [
        (convert_mask(convert_mask(four[s], s, t), t, s), four[s]) for s, t in pairs
    ]
    return all(a.dtype == b.dtype and torch.equal(a, b) for a, b in back)


@law("convert_mask")
def zero_means_two_things(convert_mask: Any, draw: Inputs) -> bool:
    """0 hides in a "zero_one" mask and shows in an "additive" one; True shows in "may_attend" and hides in "hide"."""
    four = masks(draw)
    found = [convert_mask(four[s], s, "may_attend") for s in four]
    return all(torch.equal(each, four["may_attend"]) for each in found)


@law("keras_to_torch")
def parameters_stay(keras_to_torch: Any, draw: Inputs) -> bool:
    """The module keeps its parameters as objects, with their dtype: only numbers are copied."""
    module = torch_module(draw, 6, 2, torch.float64)
    before = [(id(p), p.dtype) for p in module.parameters()]
    keras_to_torch(keras_weights(draw, 2, 3), module)
    return [(id(p), p.dtype) for p in module.parameters()] == before


@law("keras_to_torch")
def query_key_value(keras_to_torch: Any, draw: Inputs) -> bool:
    """in_proj holds query, key and value one below the other, E rows each, and of a head its D rows: row h * D + d has
    the numbers kernel[:, h, d].
    """
    weights, module = keras_weights(draw, 2, 3), torch_module(draw, 6, 2)
    keras_to_torch(weights, module)
    rows = [weights[f"{part}/kernel"][:, 1, 2] for part in ("query", "key", "value")]
    found = module.in_proj_weight.detach()[[5, 11, 17]].numpy()
    return bool(np.allclose(found, np.stack(rows), atol=1e-6))


@law("keras_to_torch")
def four_biases(keras_to_torch: Any, draw: Inputs) -> bool:
    """All four biases are copied: of query, key and value one after the other, head by head, and that of the output."""
    weights, module = keras_weights(draw, 2, 3), torch_module(draw, 6, 2)
    keras_to_torch(weights, module)
    three = np.concatenate(
        [weights[f"{part}/bias"].ravel() for part in ("query", "key", "value")]
    )
    biases = (
        (module.in_proj_bias, three),
        (module.out_proj.bias, weights["attention_output/bias"]),
    )
    return all(
        np.allclose(mine.detach().numpy(), keras, atol=1e-6) for mine, keras in biases
    )


@law("keras_to_torch")
def the_output_matrix(keras_to_torch: Any, draw: Inputs) -> bool:
    """The output's kernel maps heads and their entries to E numbers: kernel[h, d] is column h * D + d of
    out_proj.weight.
    """
    weights, module = keras_weights(draw, 2, 3), torch_module(draw, 6, 2)
    keras_to_torch(weights, module)
    column = module.out_proj.weight.detach()[:, 5].numpy()
    return bool(
        np.allclose(column, weights["attention_output/kernel"][1, 2], atol=1e-6)
    )
