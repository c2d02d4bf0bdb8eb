"""Lesson 8's reference against PyTorch's own layers."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.testing import assert_close

from .answer_keys import key_of

REFERENCE = key_of("08_transformer_block").reference
Block, Decoder, greedy_decode = (REFERENCE[name] for name in ("TransformerBlock", "DecoderBlock", "greedy_decode"))
EXACT = {"rtol": 1e-10, "atol": 1e-10}
CAUSAL = torch.ones(4, 4, dtype=torch.bool).tril()


def numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def drawn(module: nn.Module) -> Any:
    for parameter in module.double().parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.eval()


def copy_attention(mine: nn.Module, theirs: nn.MultiheadAttention) -> None:
    """Give PyTorch's module the weights of ours, which has no biases."""
    layers = (mine.q_proj, mine.k_proj, mine.v_proj)
    theirs.in_proj_weight.data = torch.cat([layer.weight for layer in layers]).detach()
    theirs.out_proj.weight.data = mine.out_proj.weight.detach()
    nn.init.zeros_(theirs.in_proj_bias)
    nn.init.zeros_(theirs.out_proj.bias)


def twin(mine: nn.Module, kind: Any, attentions: dict[str, str]) -> Any:
    """Build PyTorch's layer with the same weights."""
    theirs = kind(12, 3, 20, dropout=0.0, norm_first=True, batch_first=True).double().eval()
    for ours, name in attentions.items():
        copy_attention(getattr(mine, ours), getattr(theirs, name))
    for name, layer in mine.named_children():
        if isinstance(layer, nn.Linear | nn.LayerNorm):
            getattr(theirs, name).load_state_dict(layer.state_dict())
    return theirs


def some_mask(*shape: int) -> Tensor:
    mask = torch.rand(*shape) < 0.5
    mask[..., 0] = True  # PyTorch's layers give NaN where nothing is visible
    return mask


@pytest.mark.parametrize("shape", [None, (4, 4), (2, 4, 4), (2, 3, 4, 4), (2, 1, 1, 4)])
def test_the_block_equals_pytorchs_encoder_layer(shape: tuple[int, ...] | None) -> None:
    mine, x = drawn(Block(12, 3, 20)), numbers(2, 4, 12)
    theirs = twin(mine, nn.TransformerEncoderLayer, {"attention": "self_attn"})
    mask = None if shape is None else some_mask(*shape)
    full = mask[:, None] if mask is not None and mask.dim() == 3 else mask
    hide = None if full is None else ~full.expand(2, 3, 4, 4).flatten(0, 1)
    assert_close(mine(x, mask), theirs(x, src_mask=hide), **EXACT)


@pytest.mark.parametrize("with_self_mask", [False, True])
@pytest.mark.parametrize("with_memory_mask", [False, True])
def test_the_decoder_block_equals_pytorchs_decoder_layer(with_self_mask: bool, with_memory_mask: bool) -> None:
    mine, x, memory = drawn(Decoder(12, 3, 20)), numbers(2, 4, 12), numbers(2, 5, 12)
    attentions = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
    theirs = twin(mine, nn.TransformerDecoderLayer, attentions)
    own = CAUSAL if with_self_mask else None
    padding = some_mask(2, 5) if with_memory_mask else None
    right = theirs(
        x,
        memory,
        tgt_mask=None if own is None else ~own,
        memory_key_padding_mask=None if padding is None else ~padding,
    )
    output = mine(x, memory, own, None if padding is None else padding[:, None, None])
    assert_close(output, right, **EXACT)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.sampled_from([Block, Decoder]))
@settings(max_examples=30)
def test_parameters_are_counted_by_a_formula(heads: int, width: int, d_ff: int, kind: Any) -> None:
    e = heads * width
    attentions, norms = (1, 2) if kind is Block else (2, 3)
    count = sum(p.numel() for p in kind(e, heads, d_ff).parameters())
    assert count == 4 * e * e * attentions + 2 * e * norms + 2 * e * d_ff + d_ff + e


def test_a_memory_of_which_nothing_is_visible_adds_nothing() -> None:
    mine, x = drawn(Decoder(6, 2, 5)), numbers(2, 4, 6)
    nothing = torch.zeros(1, 3, dtype=torch.bool)
    one, other = (mine(x, numbers(2, 3, 6), memory_mask=nothing) for _ in range(2))
    assert_close(one, other, **EXACT)


def test_gradients_are_right_with_masks_and_an_empty_row() -> None:
    mine, mask = drawn(Decoder(4, 2, 3)), CAUSAL[:3, :3].clone()
    mask[0] = False
    x, memory = (numbers(2, n, 4).requires_grad_() for n in (3, 2))
    assert gradcheck(lambda x, memory: mine(x, memory, mask), (x, memory))


@pytest.mark.parametrize("kind", [Block, Decoder])
def test_dropout_acts_in_training_only_and_keeps_the_mean(kind: Any) -> None:
    module, inputs = drawn(kind(6, 2, 5, dropout=0.2)), [numbers(1, 3, 6)] * (1 if kind is Block else 2)
    for name in ("attention", "self_attention", "cross_attention"):
        if hasattr(module, name):  # leave the last branch alone: the others change what it reads
            nn.init.zeros_(getattr(module, name).out_proj.weight)
    calm = module(*inputs)
    assert module(*inputs).equal(calm)
    many = [t.expand(20_000, 3, 6) for t in inputs]
    noisy = module.train()(*many)
    assert not noisy[0].equal(noisy[1])
    assert_close(noisy.mean(dim=0), calm[0], rtol=0.05, atol=0.05)


def language_model(seed: int, vocab_size: int) -> Any:
    """Logits that depend on all tokens up to their position."""
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(vocab_size + 1, 16, generator=generator, dtype=torch.float64)
    head = torch.randn(16, vocab_size, generator=generator, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(16, 16, generator=generator, dtype=torch.float64)).Q

    def step(tokens: Tensor) -> Tensor:
        state, states = torch.zeros(16, dtype=torch.float64), []
        for column in tokens.unbind(dim=1):
            state = (state @ turn + table[column]).tanh()
            states.append(state)
        return torch.stack(states, dim=1) @ head

    return step


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3), st.integers(2, 9))
@settings(max_examples=50)
def test_every_token_is_the_best_one_after_those_before(seed: int, length: int, batch: int, vocab_size: int) -> None:
    step = language_model(seed, vocab_size)
    tokens = greedy_decode(step, vocab_size, length, batch)
    assert tokens.shape == (batch, length)
    assert tokens.dtype == torch.int64
    start = torch.full((batch, 1), vocab_size)
    logits = step(torch.cat([start, tokens[:, :-1]], dim=1))
    assert tokens.equal(logits.argmax(dim=-1))
