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
