"""The checks of lesson 6 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import Inputs, check, law, shortcut

LAYERS = ("q_proj", "k_proj", "v_proj", "out_proj")

NO_MULTI_HEAD_ATTENTION = shortcut(
    "MultiHeadAttention",
    "scaled_dot_product_attention",
    "MultiheadAttention",
    "multi_head_attention_forward",
    because="Writing its steps is the exercise.",
)


def what_happens(call: Callable[[], Any]) -> str:
    """Return the name of the error that a call raises, 'ValueError' for any kind of it, or 'no error'."""
    try:
        call()
    except Exception as error:
        return "ValueError" if isinstance(error, ValueError) else type(error).__name__
    return "no error"


def numbered(*shape: int) -> Tensor:
    """Make a tensor that holds 0, 1, 2 and so on, so that you can see where each entry went."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).view(shape)


@check("split_heads", points=1, show=True)
def numbered_tokens(split_heads: Any, draw: Inputs) -> Any:
    """Two sentences of five tokens with twelve entries each, in three heads."""
    return split_heads(draw.give(numbered(2, 5, 12) + draw.size(0, 1, 99)), 3)


@check("split_heads", points=1, show=True)
def widths_that_do_not_fit(split_heads: Any, draw: Inputs) -> Any:
    """Model dimensions that num_heads does not divide are refused, and others are not."""
    x = draw.normal(1, 4, 10)
    refused = {
        f"the error for {n} heads and dimension 10": what_happens(
            lambda n=n: split_heads(x, n)
        )
        for n in (3, 4, 5)
    }
    return {**refused, "5 heads": split_heads(x, 5)}


def filled(module: nn.Module, draw: Inputs, bias: bool = False) -> nn.Module:
    """Draw float64 parameters for a module's four layers, and for no others."""
    module = module.double()
    for name in LAYERS:
        layer = getattr(module, name)
        layer.weight.data = (
            draw.normal(*layer.weight.shape) / layer.weight.size(-1) ** 0.5
        )
        if bias:
            layer.bias.data = draw.normal(*layer.bias.shape)
    return module.eval()


def parameters_of(module: nn.Module) -> str:
    """List the names and shapes of a module's parameters."""
    found = sorted(module.named_parameters())
    return ", ".join(f"{name} {tuple(p.shape)}" for name, p in found) or "none"


@check("MultiHeadAttention", points=2)
def its_layers(attention_class: Any, draw: Inputs) -> Any:
    """The four layers, with and without bias, and a refusal of 3 heads for a model dimension of 10."""
    kept = isinstance(attention_class(12, 3), nn.Module)
    refused = what_happens(lambda: attention_class(10, 3))
    with_bias = parameters_of(attention_class(4, 2, bias=True))
    return {
        "the class is a module": kept,
        "the error for 3 heads and dimension 10": refused,
        "the list of its parameters": parameters_of(attention_class(12, 3)),
        "the list of its parameters with bias=True": with_bias,
    }


@check("MultiHeadAttention", points=3, show=True)
def tokens_among_themselves(attention_class: Any, draw: Inputs) -> Any:
    """Self-attention of two sentences in three heads, without a mask: the output and weights in eval mode, and the
    weights in training.
    """
    module, x = filled(attention_class(6, 3, dropout=0.5), draw), draw.normal(2, 4, 6)
    output, weights = module(x, need_weights=True)
    _, in_training = module.train()(x, need_weights=True)
    return {
        "output": output,
        "weights": weights,
        "weights in training (before dropout)": in_training,
    }


@check("MultiHeadAttention", points=2, show=True)
def another_sequence(attention_class: Any, draw: Inputs) -> Any:
    """Keys and values from another sequence, values from a third, and None for weights that nobody asked for."""
    module = filled(attention_class(6, 2, bias=True), draw, bias=True)
    query, key, value = draw.normal(2, 3, 6), draw.normal(2, 5, 6), draw.normal(2, 5, 6)
    return {
        "with keys": module(query, key),
        "with keys and values": module(query, key, value),
        "with need_weights": module(query, key, need_weights=True),
    }


@check("MultiHeadAttention", points=2, show=True)
def masks_of_each_kind(attention_class: Any, draw: Inputs) -> Any:
    """Masks with two, three and four axes, as many sentences as heads, and a query with no visible keys."""
    module, x = filled(attention_class(6, 2), draw), draw.normal(2, 4, 6)
    x.requires_grad_()
    rules = [
        draw.normal(*shape) > -0.5
        for shape in ((4, 4), (2, 4, 4), (2, 1, 4), (2, 1, 1, 4), (2, 2, 4, 4))
    ]
    rules[1][0, 1] = False
    rules[1][1, :, 0] = True
    names = ("(L, S)", "(B, L, S)", "(B, 1, S)", "(B, 1, 1, S)", "(B, H, L, S)")
    results = {
        f"mask {name}": module(x, mask=draw.give(rule), need_weights=True)
        for name, rule in zip(names, rules, strict=True)
    }
    sum(output.sum() for output, _ in results.values()).backward()
    return {**results, "the gradient": x.grad}


class FourLayers(nn.Module):
    """Has the layers of a MultiHeadAttention and does nothing with them."""

    def __init__(self, width: int, bias: bool) -> None:
        super().__init__()
        for name in LAYERS:
            setattr(self, name, nn.Linear(width, width, bias=bias))
        for parameter in self.parameters():
            nn.init.zeros_(parameter)


def pair(draw: Inputs, bias: bool) -> tuple[nn.Module, nn.MultiheadAttention]:
    """Make two float64 modules, the second with drawn parameters."""
    reference = nn.MultiheadAttention(6, 2, bias=bias, batch_first=True).double()
    for parameter in reference.parameters():
        parameter.data = draw.normal(*parameter.shape)
    return FourLayers(6, bias).double(), reference


@check("copy_torch_weights", points=1, show=True)
def four_matrices(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The four weight matrices after copying, without biases."""
    mine, reference = pair(draw, bias=False)
    copy_torch_weights(mine, reference)
    return {name: getattr(mine, name).weight for name in LAYERS}


@check("copy_torch_weights", points=1, show=True)
def four_biases(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The four weight matrices and four biases, in the same parameter objects as before."""
    mine, reference = pair(draw, bias=True)
    before = dict(mine.named_parameters())
    copy_torch_weights(mine, reference)
    now = dict(mine.named_parameters())
    numbers = {f"{n}.weight": getattr(mine, n).weight.detach().clone() for n in LAYERS}
    numbers |= {f"{n}.bias": getattr(mine, n).bias.detach().clone() for n in LAYERS}
    same = all(now.get(name) is p for name, p in before.items())
    kept = [p.detach().clone() for p in now.values()]
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(100.0)
    own = all(p.equal(old) for p, old in zip(now.values(), kept, strict=True))
    return {
        **numbers,
        "each parameter is the object that it was before": same,
        "changing the reference afterward leaves the copy alone": own,
    }


@law("split_heads")
def tokens_stay_together(split_heads: Any, draw: Inputs) -> bool:
    """Every head of a token is made of entries of that token alone."""
    tokens = torch.arange(5.0).view(1, 5, 1).expand(1, 5, 12)
    heads = split_heads(tokens.contiguous(), 3)  # (1, 3, 5, ...)
    return bool((heads == torch.arange(5.0).view(1, 1, 5, 1)).all())


@law("MultiHeadAttention")
def each_head_has_its_entries(attention_class: Any, draw: Inputs) -> bool:
    """Each head fills D entries of its own in what out_proj reads: what another head looks at does not change them."""
    module, x = filled(attention_class(12, 3), draw), draw.normal(2, 5, 12)
    outputs = []
    for factor in (1, -2):
        with torch.no_grad():
            module.q_proj.weight[4:8] *= factor
            module.out_proj.weight.copy_(torch.eye(12))
            outputs.append(module(x)[0].flatten(0, 1))
    changed = (outputs[0] - outputs[1]).abs().gt(1e-6).any(dim=0)
    return changed.tolist() == [False] * 4 + [True] * 4 + [False] * 4


@law("MultiHeadAttention")
def keys_in_another_order(attention_class: Any, draw: Inputs) -> bool:
    """Keys and values in another order, both the same, give the same output."""
    module = filled(attention_class(6, 3), draw).eval()
    query, key = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    turned = module(query, key.flip(1), key.flip(1))[0]
    return torch.allclose(module(query, key, key)[0], turned, atol=1e-4)


@law("MultiHeadAttention")
def each_sentence_by_itself(attention_class: Any, draw: Inputs) -> bool:
    """The output of one sentence in a batch does not depend on the other sentences."""
    module, x = filled(attention_class(6, 3), draw).eval(), draw.normal(2, 4, 6)
    return torch.allclose(module(x)[0][:1], module(x[:1])[0], atol=1e-4)


@law("copy_torch_weights")
def three_blocks_of_rows(copy_torch_weights: Any, draw: Inputs) -> bool:
    """The first third of the rows of in_proj_weight belongs to all queries, the second to the keys, the last to the
    values.
    """
    mine, reference = pair(draw, bias=False)
    copy_torch_weights(mine, reference)
    layers = (mine.q_proj, mine.k_proj, mine.v_proj)
    thirds = reference.in_proj_weight.chunk(3)
    return all(torch.equal(a.weight, b) for a, b in zip(layers, thirds, strict=True))


@law("split_heads")
def neighbors_stay_together(split_heads: Any, draw: Inputs) -> bool:
    """Head h has the entries h * D to (h + 1) * D - 1 of a token, next to each other and in their order."""
    heads = split_heads(torch.arange(12.0).expand(1, 2, 12).contiguous(), 3)
    return torch.equal(heads[0, :, 0], torch.arange(12.0).view(3, 4))


@law("MultiHeadAttention")
def one_table_for_each_head(attention_class: Any, draw: Inputs) -> bool:
    """The weights are (B, H, L, S): a table for each head, in which every row sums to 1."""
    module = filled(attention_class(6, 3), draw).eval()
    weights = module(draw.normal(2, 4, 6), draw.normal(2, 5, 6), need_weights=True)[1]
    return weights.shape == (2, 3, 4, 5) and torch.allclose(
        weights.sum(dim=-1), torch.ones(2, 3, 4).to(weights), atol=1e-4
    )


@law("MultiHeadAttention")
def the_root_of_a_heads_size(attention_class: Any, draw: Inputs) -> bool:
    """A head's scores are divided by the root of its own dimension D: one that is larger by sqrt(D) has a weight e
    times as large.
    """
    module = attention_class(8, 2).double().eval()
    with torch.no_grad():
        for layer in (module.q_proj, module.k_proj):
            layer.weight.copy_(torch.eye(8))
    tokens = torch.zeros(1, 2, 8, dtype=torch.float64)
    tokens[0, 0, ::4] = 2**0.5  # in each head its score with itself is 2, and D is 4
    weights = module(tokens, need_weights=True)[1]
    return torch.allclose(
        weights[0, :, 0, 0] / weights[0, :, 0, 1],
        torch.full((2,), torch.e).to(weights),
        atol=1e-3,
    )


@law("MultiHeadAttention")
def values_are_the_keys(attention_class: Any, draw: Inputs) -> bool:
    """Without a value, the values come from what the keys come from, and not from the query."""
    module = filled(attention_class(6, 3), draw).eval()
    query, key = draw.normal(2, 5, 6), draw.normal(2, 5, 6)
    return torch.allclose(module(query, key)[0], module(query, key, key)[0], atol=1e-4)


@law("MultiHeadAttention")
def hidden_tokens_change_nothing(attention_class: Any, draw: Inputs) -> bool:
    """What a hidden token holds changes no output."""
    module, x = filled(attention_class(6, 3), draw).eval(), draw.normal(2, 4, 6)
    mask = torch.tensor([True, True, True, False])
    key = torch.cat([x[:, :3], x[:, 3:] + 20], dim=1)
    one, other = (module(x, k, k, mask)[0] for k in (x, key))
    return torch.allclose(one, other, atol=1e-4)


@law("copy_torch_weights")
def all_four_matrices(copy_torch_weights: Any, draw: Inputs) -> bool:
    """The output's matrix is copied too, as it is: both sides keep it as (out, in)."""
    mine, reference = pair(draw, bias=False)
    copy_torch_weights(mine, reference)
    return torch.equal(mine.out_proj.weight, reference.out_proj.weight)


@law("copy_torch_weights")
def nothing_is_shared(copy_torch_weights: Any, draw: Inputs) -> bool:
    """Once copied, what happens to the reference does not change mine, nor the other way around."""
    mine, reference = pair(draw, bias=False)
    copy_torch_weights(mine, reference)
    before = [
        layer.weight.clone() for layer in (mine.q_proj, mine.v_proj, mine.out_proj)
    ]
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(1)
    after = [layer.weight for layer in (mine.q_proj, mine.v_proj, mine.out_proj)]
    return all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


@law("copy_torch_weights")
def parameters_stay(copy_torch_weights: Any, draw: Inputs) -> bool:
    """The parameters of mine stay the same objects, so an optimizer that has them keeps them: only numbers are
    copied.
    """
    mine, reference = pair(draw, bias=True)
    before = [id(parameter) for parameter in mine.parameters()]
    copy_torch_weights(mine, reference)
    return [id(parameter) for parameter in mine.parameters()] == before
