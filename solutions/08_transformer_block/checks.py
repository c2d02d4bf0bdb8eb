"""The checks of lesson 8 that you can run yourself. Grading runs them again on new inputs, with a few more."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import Inputs, check, law

BLOCK = ("norm1", "attention", "norm2", "linear1", "linear2")
DECODER = (
    "norm1",
    "self_attention",
    "norm2",
    "cross_attention",
    "norm3",
    "linear1",
    "linear2",
)
ATTENTIONS = ("self_attention", "cross_attention")
STATES = 997


def layers_of(block_class: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """List the parameters of each layer, those of no layer, and how many numbers there are in all."""
    block, other = block_class(6, 3, 10, dropout=0.5), block_class(6, 3, 10)
    found = sorted(block.named_parameters(remove_duplicate=False))
    first: dict[int, str] = {}
    listed = {}
    for layer in names:
        mine = [(name, p) for name, p in found if name.startswith(f"{layer}.")]
        for name, p in mine:
            first.setdefault(id(p), name)
        own = [
            f"{name.removeprefix(layer)[1:]} {tuple(p.shape)}"
            if first[id(p)] == name
            else f"{first[id(p)]} once more"
            for name, p in mine
        ]
        there = "without parameters" if hasattr(block, layer) else "missing"
        listed[layer] = ", ".join(own) or there
    rest = [name for name, p in found if id(p) not in first]
    shared = {id(p) for p in block.parameters()} & {id(p) for p in other.parameters()}
    return {
        **listed,
        "the list of other parameters": ", ".join(rest) or "empty",
        "the number of entries in all parameters": sum(
            p.numel() for p in block.parameters()
        ),
        "the number of parameters that two blocks share": len(shared),
    }


def filled(block: nn.Module, names: tuple[str, ...], draw: Inputs) -> nn.Module:
    """Draw float64 parameters for a block's layers, and choose eval mode."""
    block = block.double()
    for layer in names:
        for _, p in sorted(getattr(block, layer).named_parameters()):
            scale = p.size(-1) ** -0.5 if p.dim() > 1 else 1.0
            p.data = draw.normal(*p.shape) * scale
    return block.eval()


def rule(draw: Inputs, *shape: int) -> Tensor:
    """Draw a mask in which every query has a visible key and a hidden one."""
    mask, seen = draw.normal(*shape) > 0, draw.integer(0, shape[-1] - 1)
    mask[..., seen], mask[..., seen - 1] = True, False
    return draw.give(mask)


def learn_from(output: Any, weights: Tensor) -> None:
    """Send gradients back from an output, if it is one."""
    if isinstance(output, Tensor) and output.requires_grad:
        (output * weights).sum().backward()


def silence(*layers: nn.Linear) -> None:
    """Make layers return zeros."""
    for layer in layers:
        for p in layer.parameters():
            p.data = torch.zeros_like(p)


def alone(block: nn.Module, outer: list[nn.Linear], i: int, *inputs: Tensor) -> Any:
    """Run a block in which all branches but one return zeros; each branch ends in one of the outer layers."""
    others = [p for k, layer in enumerate(outer) if k != i for p in layer.parameters()]
    kept = [p.data for p in others]
    silence(*(layer for k, layer in enumerate(outer) if k != i))
    output = block(*inputs)
    for p, numbers in zip(others, kept, strict=True):
        p.data = numbers
    return output


def factors(
    block: nn.Module,
    names: tuple[str, ...],
    outer: list[nn.Linear],
    x: Tensor,
    *memory: Tensor,
) -> list[str]:
    """Name the factors by which dropout changes what each branch adds, given what the branches before it added.

    Each branch writes to a part of the entries of its own, so that they can be told apart.
    """
    parts = torch.arange(x.size(-1)).chunk(len(outer))
    for layer, part in zip(outer, parts, strict=True):
        for p in layer.parameters():
            p.data = torch.zeros_like(p).index_copy(0, part, p.data[part])
    block.train()
    for name in names:
        getattr(block, name).eval()
    added = block(x, *memory) - x
    block.eval()
    found = []
    for i, part in enumerate(parts):
        calm = alone(block, outer, i, x, *memory) - x
        values = ((added / calm)[..., part].round(decimals=3) + 0.0).unique().tolist()
        few = " and ".join(f"{value:g}" for value in values)
        dropped = (added[..., part] == 0).float().mean(dim=-1)
        few += " for whole tokens" if bool((dropped * (1 - dropped) == 0).all()) else ""
        found.append(few if len(values) < 4 else "many different ones")
        x = x.index_add(-1, part, added[..., part])
    return found


def all_dropped(
    block: nn.Module, attentions: tuple[str, ...], *inputs: Tensor
) -> dict[str, Tensor]:
    """Run a block whose dropout is 1 in training, and with its attention or the rest of it in eval mode."""
    results = {"in training": block.train()(*inputs)}
    for name in attentions:
        getattr(block, name).eval()
    results["in training, attention in eval mode"] = block(*inputs)
    block.eval()
    for name in attentions:
        getattr(block, name).train()
    results["in eval mode, attention in training"] = block(*inputs)
    return results


@check("TransformerBlock", points=1)
def its_layers(block_class: Any, draw: Inputs) -> Any:
    """The five layers, the number of entries in their parameters, and two blocks that share none."""
    return layers_of(block_class, BLOCK)


@check("TransformerBlock", points=1, show=True)
def without_the_network(block_class: Any, draw: Inputs) -> Any:
    """Attention alone: two sentences in eval mode, without a mask, and linear2 returns zeros."""
    block = filled(block_class(6, 3, 10, dropout=0.5), BLOCK, draw)
    silence(block.linear2)
    return block(draw.normal(2, 4, 6))


@check("TransformerBlock", points=1, show=True)
def both_branches(block_class: Any, draw: Inputs) -> Any:
    """The feed-forward network alone, where attention returns zeros; then both branches, and the gradient of x."""
    block = filled(block_class(6, 3, 10, dropout=0.5), BLOCK, draw)
    x = draw.normal(2, 4, 6).requires_grad_()
    output = block(x)
    learn_from(output, draw.normal(2, 4, 6))
    silence(block.attention.out_proj)
    return {"the network alone": block(x), "both": output, "gradient": x.grad}


@check("TransformerBlock", points=1, show=True)
def masks_of_each_kind(block_class: Any, draw: Inputs) -> Any:
    """Masks with two, three and four axes, one of them causal, and a query with no visible keys."""
    block, x = filled(block_class(6, 3, 10), BLOCK, draw), draw.normal(2, 4, 6)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    each = rule(draw, 2, 4, 4)
    each[0, 1] = False
    return {
        "a causal mask (L, L)": block(x, draw.give(causal)),
        "a mask (B, L, L)": block(x, mask=draw.give(each)),
        "a mask (B, 1, 1, L)": block(x, mask=rule(draw, 2, 1, 1, 4)),
        "a mask (B, H, L, L)": block(x, mask=rule(draw, 2, 3, 4, 4)),
    }


@check("TransformerBlock", points=1, show=True)
def dropout_in_training(block_class: Any, draw: Inputs) -> Any:
    """With dropout=1 the branches add nothing in training; with 0.5 each entry of a branch is dropped or doubled."""
    all_of_it = filled(block_class(6, 3, 10, dropout=1.0), BLOCK, draw)
    half = filled(block_class(6, 3, 10, dropout=0.5), BLOCK, draw)
    first, second = factors(
        half,
        ("attention",),
        [half.attention.out_proj, half.linear2],
        draw.normal(4, 8, 6),
    )
    return {
        **all_dropped(all_of_it, ("attention",), draw.normal(2, 4, 6)),
        "the set of factors of attention with dropout=0.5": first,
        "the set of factors of the network with dropout=0.5": second,
    }


@check("DecoderBlock", points=1)
def layers_of_a_decoder(block_class: Any, draw: Inputs) -> Any:
    """The seven layers, the number of entries in their parameters, and two blocks that share none."""
    return layers_of(block_class, DECODER)


@check("DecoderBlock", points=1, show=True)
def with_a_memory(block_class: Any, draw: Inputs) -> Any:
    """Four positions and a memory of five: each branch alone, where the others return zeros; all three; gradients."""
    block = filled(block_class(6, 3, 10, dropout=0.5), DECODER, draw)
    x, memory = (draw.normal(2, n, 6).requires_grad_() for n in (4, 5))
    output = block(x, memory)
    learn_from(output, draw.normal(2, 4, 6))
    outer = [getattr(block, name).out_proj for name in ATTENTIONS] + [block.linear2]
    return {
        "self-attention alone": alone(block, outer, 0, x, memory),
        "cross-attention alone": alone(block, outer, 1, x, memory),
        "the network alone": alone(block, outer, 2, x, memory),
        "all three": output,
        "gradient of x": x.grad,
        "gradient of the memory": memory.grad,
    }


@check("DecoderBlock", points=1, show=True)
def two_masks_and_dropout(block_class: Any, draw: Inputs) -> Any:
    """Each mask alone and both together, in eval mode; and in training, dropout of 1 and 0.5."""
    block = filled(block_class(6, 3, 10), DECODER, draw)
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    causal = draw.give(torch.ones(4, 4, dtype=torch.bool).tril())
    padding = rule(draw, 2, 1, 1, 5)
    results = {
        "with memory_mask": block(x, memory, memory_mask=padding),
        "with self_mask": block(x, memory, self_mask=causal),
        "with both": block(x, memory, causal, padding),
    }
    all_of_it = filled(block_class(6, 3, 10, dropout=1.0), DECODER, draw)
    half = filled(block_class(6, 3, 10, dropout=0.5), DECODER, draw)
    outer = [getattr(half, name).out_proj for name in ATTENTIONS] + [half.linear2]
    first, second, third = factors(
        half, ATTENTIONS, outer, draw.normal(4, 8, 6), draw.normal(4, 5, 6)
    )
    return {
        **results,
        **all_dropped(all_of_it, ATTENTIONS, x, memory),
        "the set of factors of self-attention with dropout=0.5": first,
        "the set of factors of cross-attention with dropout=0.5": second,
        "the set of factors of the network with dropout=0.5": third,
    }


def model(
    draw: Inputs, batch: int, vocab_size: int, dtype: torch.dtype = torch.float64
) -> Callable[[Tensor], Tensor]:
    """Make a step whose logits depend on the sentence, on all of its tokens so far, and on their order."""
    table = draw.normal(STATES, vocab_size, dtype=dtype)

    def step(tokens: Tensor) -> Tensor:
        if tokens.dim() != 2 or tokens.size(0) != batch or not tokens.size(1):
            raise ValueError(
                f"step takes ({batch}, T) tokens, at least one per sentence, "
                f"and was given {tuple(tokens.shape)}"
            )
        if tokens.is_floating_point():
            raise TypeError(f"step takes integers and was given {tokens.dtype}")
        state, states = 100 * torch.arange(batch), []
        for column in tokens.unbind(dim=1):
            state = (31 * state + column + 1) % STATES
            states.append(state)
        return table[torch.stack(states, dim=1)]  # (B, T, V)

    return step


def in_int64(tokens: Any) -> Any:
    """Return integers of any kind as int64, and everything else as it is."""
    if not isinstance(tokens, Tensor) or tokens.is_floating_point():
        return tokens
    return tokens.long()


@check("greedy_decode", points=1, show=True)
def three_sentences(greedy_decode: Any, draw: Inputs) -> Any:
    """Six tokens for each of three sentences."""
    return in_int64(greedy_decode(model(draw, 3, 20), draw.size(7, 8, 19), 6, 3))


@check("greedy_decode", points=1, show=True)
def one_of_each(greedy_decode: Any, draw: Inputs) -> Any:
    """One sentence of eight tokens, eight sentences of one token, and a vocabulary of two words."""
    return {
        "one sentence": in_int64(greedy_decode(model(draw, 1, 20), 5, 8, 1)),
        "one token each": in_int64(greedy_decode(model(draw, 8, 20), 5, 1, 8)),
        "two words": [
            in_int64(greedy_decode(model(draw, 1, 2), 1, 10, 1)) for _ in range(4)
        ],
    }


@law("TransformerBlock")
def branches_are_added(block_class: Any, draw: Inputs) -> bool:
    """Each branch is added to what came in: where both branches give 0, the block returns x unchanged."""
    block, x = filled(block_class(6, 3, 10), BLOCK, draw), draw.normal(2, 4, 6)
    silence(block.attention.out_proj, block.linear2)
    return torch.allclose(block(x), x, atol=1e-4)


@law("TransformerBlock")
def norms_come_first(block_class: Any, draw: Inputs) -> bool:
    """A LayerNorm comes before each branch: with x a hundred times as large, attention adds what it added before."""
    block, x = filled(block_class(6, 3, 10), BLOCK, draw), draw.normal(2, 4, 6)
    silence(block.linear2)
    return torch.allclose(block(100 * x) - 100 * x, block(x) - x, atol=1e-2)


@law("DecoderBlock")
def three_branches_are_added(block_class: Any, draw: Inputs) -> bool:
    """Each of the three branches is added to what came in: where all give 0, the block returns x unchanged."""
    block, x = filled(block_class(6, 3, 10), DECODER, draw), draw.normal(2, 4, 6)
    outputs = (getattr(block, name).out_proj for name in ATTENTIONS)
    silence(*outputs, block.linear2)
    return torch.allclose(block(x, draw.normal(2, 5, 6)), x, atol=1e-4)


@law("DecoderBlock")
def only_cross_attention_reads_the_memory(block_class: Any, draw: Inputs) -> bool:
    """The memory is read in cross-attention alone: where that gives 0, another memory changes nothing."""
    block, x = filled(block_class(6, 3, 10), DECODER, draw), draw.normal(2, 4, 6)
    silence(block.cross_attention.out_proj)
    one, other = (block(x, draw.normal(2, 5, 6)) for _ in range(2))
    return torch.allclose(one, other, atol=1e-4)


@law("DecoderBlock")
def the_memory_is_not_normalized(block_class: Any, draw: Inputs) -> bool:
    """The memory goes into cross-attention as it is: one that is ten times as large does not give the same."""
    block, x = filled(block_class(6, 3, 10), DECODER, draw), draw.normal(2, 4, 6)
    memory = draw.normal(2, 5, 6)
    return not torch.allclose(block(x, memory), block(x, 10 * memory), atol=1e-3)


@law("greedy_decode")
def each_token_follows_all_before(greedy_decode: Any, draw: Inputs) -> bool:
    """Each token is the one with the largest of the last position's logits, for the start and all tokens so far."""
    step = model(draw, 2, 9)
    tokens = torch.cat(
        [torch.full((2, 1), 3), greedy_decode(step, 3, 5, 2).long()], dim=1
    )
    return torch.equal(step(tokens)[:, :-1].argmax(dim=-1), tokens[:, 1:])


@law("greedy_decode")
def without_the_start(greedy_decode: Any, draw: Inputs) -> bool:
    """`length` tokens come back for each sentence, and the start is not one of them."""
    return all(
        greedy_decode(model(draw, 3, 9), 2, n, 3).shape == (3, n) for n in (1, 4)
    )


@law("greedy_decode")
def longer_begins_alike(greedy_decode: Any, draw: Inputs) -> bool:
    """A longer text begins as a shorter one does: nothing is drawn at random, and no token is changed later."""
    step = model(draw, 3, 9)
    return torch.equal(
        greedy_decode(step, 2, 6, 3)[:, :4], greedy_decode(step, 2, 4, 3)
    )
