"""The hidden checks of lesson 8, and the mistakes that students make in it. Never given to students."""

from typing import Any, ClassVar

import torch
from attention import MultiHeadAttention
from checks import (
    ATTENTIONS,
    BLOCK,
    DECODER,
    factors,
    filled,
    in_int64,
    model,
    rule,
)
from torch import nn
from torch.nn import functional

from autograder.checks import Inputs, check, mistake

# The block


def apart(block_class: Any, names: tuple[str, ...], draw: Inputs, *inputs: Any) -> Any:
    """Say whether a block is untouched by what happens to a second one, and whether it can be saved and loaded."""
    block, other = (filled(block_class(6, 3, 10), names, draw) for _ in range(2))
    before = block(*inputs)
    other.load_state_dict(block.state_dict())
    copied = bool(other(*inputs).equal(before))
    with torch.no_grad():
        for p in other.parameters():
            p.add_(100.0)
    layers = [name.split(".")[0] for name in block.state_dict()]
    return before, block(*inputs), copied, [name in layers for name in names]


def gradients_of(block: nn.Module, names: tuple[str, ...]) -> Any:
    """Return the gradients of each documented layer's parameters."""
    return {
        f"{layer}.{name}": p.grad
        for layer in names
        for name, p in sorted(getattr(block, layer).named_parameters())
    }


@check("TransformerBlock", points=1)
def share_that_is_dropped(block_class: Any, draw: Inputs) -> Any:
    """Dropout: how much, where, and in training only."""
    block = filled(block_class(6, 3, 10, dropout=0.25), BLOCK, draw)
    x = draw.normal(4, 9, 6)
    calm = block.train().eval()(x)
    without = filled(block_class(6, 3, 10), BLOCK, draw).train()(x)
    outer = [block.attention.out_proj, block.linear2]
    parts = factors(block, ("attention",), outer, x)
    return calm, without, parts, block.attention.dropout.p


@check("TransformerBlock", points=1)
def learning(block_class: Any, draw: Inputs) -> Any:
    """Gradients of every parameter, one position, one head, names for saving, and two blocks side by side."""
    block = filled(block_class(8, 2, 5), BLOCK, draw)
    mask = rule(draw, 3, 7, 7)
    mask[1, 2] = False
    output = block(draw.normal(3, 7, 8), draw.give(mask))
    (output * draw.normal(3, 7, 8)).sum().backward()
    single = filled(block_class(4, 1, 6), BLOCK, draw)(draw.normal(1, 1, 4))
    pair = apart(block_class, BLOCK, draw, draw.normal(2, 3, 6))
    return output, gradients_of(block, BLOCK), single, pair


class Block(nn.Module):
    """A transformer block in steps, so that a mistake can get one of them wrong."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def attend(self, x, mask):
        return self.attention(x, mask=mask)[0]

    def feed(self, x):
        return self.linear2(self.linear1(x).relu())

    def drop(self, x):
        return functional.dropout(x, self.p, self.training)

    def first(self, x, mask):
        return x + self.drop(self.attend(self.norm1(x), mask))

    def second(self, x):
        return x + self.drop(self.feed(self.norm2(x)))

    def forward(self, x, mask=None):
        return self.second(self.first(x, mask))


@mistake("TransformerBlock", hint=1)
class PostNorm(Block):
    """This is post-norm: each norm came after the addition. In a pre-norm block a norm acts on what enters a branch,
    and nothing acts on the sum.
    """

    def first(self, x, mask):
        return self.norm1(x + self.drop(self.attend(x, mask)))

    def second(self, x):
        return self.norm2(x + self.drop(self.feed(x)))


@mistake("TransformerBlock", hint=1)
class NoResidual(Block):
    """There is no residual connection: each branch replaced what came in. It should be added to what came in."""

    def first(self, x, mask):
        return self.drop(self.attend(self.norm1(x), mask))

    def second(self, x):
        return self.drop(self.feed(self.norm2(x)))


@mistake("TransformerBlock", hint=1)
class AttentionNotAdded(Block):
    """The output of attention replaced x. It is a branch, like the feed-forward network: add x to it."""

    def first(self, x, mask):
        return self.drop(self.attend(self.norm1(x), mask))


@mistake("TransformerBlock", hint=1)
class NetworkNotAdded(Block):
    """The second residual connection is missing: the feed-forward network's output was returned on its own."""

    def second(self, x):
        return self.drop(self.feed(self.norm2(x)))


@mistake("TransformerBlock", hint=1)
class NormalizedAndAdded(Block):
    """The branches were added to the normalized x. The residual stream is x itself, which no norm has touched."""

    def first(self, x, mask):
        x = self.norm1(x)
        return x + self.drop(self.attend(x, mask))

    def second(self, x):
        x = self.norm2(x)
        return x + self.drop(self.feed(x))


@mistake("TransformerBlock", hint=1)
class FirstNormKept(Block):
    """Attention was added to norm1's output instead of x. Did `x` get overwritten by its norm?"""

    def first(self, x, mask):
        x = self.norm1(x)
        return x + self.drop(self.attend(x, mask))


@mistake("TransformerBlock", hint=1)
class SecondNormKept(Block):
    """The network was added to norm2's output. Only the branch reads the normalized sum, the residual stream does
    not.
    """

    def second(self, x):
        x = self.norm2(x)
        return x + self.drop(self.feed(x))


@mistake("TransformerBlock", hint=1)
class NormOnTheBranch(Block):
    """Each norm acted on the output of its branch. It belongs in front of the branch, on what goes in."""

    def first(self, x, mask):
        return x + self.drop(self.norm1(self.attend(x, mask)))

    def second(self, x):
        return x + self.drop(self.norm2(self.feed(x)))


@mistake("TransformerBlock", hint=1)
class FirstNormOnTheBranch(Block):
    """norm1 acted on the output of attention. It belongs in front, on what goes in."""

    def first(self, x, mask):
        return x + self.drop(self.norm1(self.attend(x, mask)))


@mistake("TransformerBlock", hint=1)
class SecondNormOnTheFirstBranch(Block):
    """norm2 acted on the output of attention, inside the first branch. It belongs in front of the network."""

    def first(self, x, mask):
        return x + self.drop(self.norm2(self.attend(self.norm1(x), mask)))

    def second(self, x):
        return x + self.drop(self.feed(x))


@mistake("TransformerBlock", hint=1)
class OnlyKeyNotNormed(Block):
    """The keys came from x itself. In self-attention queries, keys and values all come from norm1(x): pass it alone."""

    def first(self, x, mask):
        n = self.norm1(x)
        return x + self.drop(self.attention(n, x, n, mask)[0])


@mistake("TransformerBlock", hint=1)
class NormedTwice(Block):
    """The sum was normalized once more at the end, with norm2. The block returns the residual stream as it is."""

    def second(self, x):
        return self.norm2(x + self.drop(self.feed(self.norm2(x))))


@mistake("TransformerBlock", hint=1)
class SecondPostNorm(Block):
    """norm2 came after the second addition. It belongs in front of the feed-forward network, as norm1 is in front of
    attention.
    """

    def second(self, x):
        return self.norm2(x + self.drop(self.feed(x)))


@mistake("TransformerBlock", hint=1)
class FirstPostNorm(Block):
    """norm1 came after the first addition. It belongs in front of attention, as norm2 is in front of the network."""

    def first(self, x, mask):
        return self.norm1(x + self.drop(self.attend(x, mask)))


@mistake("TransformerBlock", hint=1)
class NoNorms(Block):
    """Neither norm was used. Each branch reads a normalized x."""

    def first(self, x, mask):
        return x + self.drop(self.attend(x, mask))

    def second(self, x):
        return x + self.drop(self.feed(x))


@mistake("TransformerBlock", hint=1)
class FirstNormMissing(Block):
    """Attention read x as it was: norm1 is missing in front of it."""

    def first(self, x, mask):
        return x + self.drop(self.attend(x, mask))


@mistake("TransformerBlock", hint=1)
class SecondNormMissing(Block):
    """The feed-forward network read the sum as it was: norm2 is missing in front of it."""

    def second(self, x):
        return x + self.drop(self.feed(x))


@mistake("TransformerBlock")
class OneNormTwice(Block):
    """norm1 was used twice and norm2 never. Each branch has a norm with weights of its own."""

    def second(self, x):
        return x + self.drop(self.feed(self.norm1(x)))


@mistake("TransformerBlock")
class NormsSwapped(Block):
    """norm1 and norm2 are swapped: norm1 precedes attention, norm2 the feed-forward network."""

    def first(self, x, mask):
        return x + self.drop(self.attend(self.norm2(x), mask))

    def second(self, x):
        return x + self.drop(self.feed(self.norm1(x)))


@mistake("TransformerBlock")
class OneNormObject(Block):
    """norm1 and norm2 are one object, so they share their weights. Make two LayerNorms."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm2 = self.norm1


@mistake("TransformerBlock")
class NormsWithoutWeights(Block):
    """The norms have no parameters. nn.LayerNorm has a weight and a bias unless it is told not to."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm1, self.norm2 = (
            nn.LayerNorm(d_model, elementwise_affine=False) for _ in range(2)
        )


@mistake("TransformerBlock")
class RootMeanSquareNorm(Block):
    """These are RMSNorms, which neither subtract the mean nor have a bias. The docstring asks for nn.LayerNorm."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm1, self.norm2 = nn.RMSNorm(d_model), nn.RMSNorm(d_model)


@mistake("TransformerBlock", hint=1)
class NormOfTheHidden(Block):
    """norm2 has d_ff entries: it would normalize inside the network. It acts on x, in front of linear1."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm2 = nn.LayerNorm(d_ff)

    def second(self, x):
        return x + self.drop(self.linear2(self.norm2(self.linear1(x)).relu()))


@mistake("TransformerBlock")
class NoReLU(Block):
    """There is no ReLU between the two linear layers. Without it they are no more than a single one."""

    def feed(self, x):
        return self.linear2(self.linear1(x))


@mistake("TransformerBlock")
class ReLUAtTheEnd(Block):
    """ReLU came after linear2, so the network can only add positive numbers. It belongs between the two layers."""

    def feed(self, x):
        return self.linear2(self.linear1(x)).relu()


@mistake("TransformerBlock")
class TwoReLUs(Block):
    """There is one ReLU too many: between the layers is right, after linear2 there is none."""

    def feed(self, x):
        return self.linear2(self.linear1(x).relu()).relu()


@mistake("TransformerBlock")
class ReLUFirst(Block):
    """ReLU came before linear1. It belongs between the two layers, on the d_ff hidden entries."""

    def feed(self, x):
        return self.linear2(self.linear1(x.relu()))


@mistake("TransformerBlock")
class GELUInstead(Block):
    """The activation is GELU, as in GPT-2. This block uses ReLU."""

    def feed(self, x):
        return self.linear2(functional.gelu(self.linear1(x)))


@mistake("TransformerBlock", hint=2)
class MaskIgnored(Block):
    """The mask had no effect: it was not passed on to the attention."""

    def attend(self, x, mask):
        return self.attention(x)[0]


@mistake("TransformerBlock")
class MaskInverted(Block):
    """The mask was inverted on its way. True already means "may attend" for both modules: pass it on as it is."""

    def attend(self, x, mask):
        return self.attention(x, mask=None if mask is None else ~mask)[0]


@mistake("TransformerBlock", hint=2)
class MaskAsKey(Block):
    """The mask was passed in a place where the attention takes its key or its value. Pass it by its name."""

    def attend(self, x, mask):
        return self.attention(x, mask)[0]


@mistake("TransformerBlock")
class AlwaysCausal(Block):
    """Positions saw no later ones although no mask was passed in. Whether to be causal is up to the caller."""

    def attend(self, x, mask):
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
        return self.attention(x, mask=causal if mask is None else mask & causal)[0]


@mistake("TransformerBlock")
class CausalByDefault(Block):
    """Without a mask, positions saw no later ones. None means that everything may be attended to."""

    def attend(self, x, mask):
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
        return self.attention(x, mask=causal if mask is None else mask)[0]


@mistake("TransformerBlock")
class HeadAxisAdded(Block):
    """The mask got another axis before it was passed on. The attention takes masks with two, three or four axes as
    they are.
    """

    def attend(self, x, mask):
        return self.attention(x, mask=None if mask is None else mask.unsqueeze(1))[0]


@mistake("TransformerBlock", hint=1)
class KeyNotNormed(Block):
    """Only the query was normalized: keys and values came from x itself. In self-attention all three read norm1(x)."""

    def first(self, x, mask):
        return x + self.drop(self.attention(self.norm1(x), x, x, mask)[0])


@mistake("TransformerBlock", hint=1)
class ValueNotNormed(Block):
    """The values came from x itself. In self-attention queries, keys and values all come from norm1(x)."""

    def first(self, x, mask):
        n = self.norm1(x)
        return x + self.drop(self.attention(n, n, x, mask)[0])


@mistake("TransformerBlock", hint=2)
class PairAdded(Block):
    """It stopped when x met a tuple: the attention returns two things, the output and the weights or None."""

    def first(self, x, mask):
        return x + self.attention(self.norm1(x), mask=mask)


@mistake("TransformerBlock", hint=2)
class PairDropped(Block):
    """It stopped in dropout, which was given a tuple. The attention returns a pair, and the first of it is the
    output.
    """

    def first(self, x, mask):
        return x + self.drop(self.attention(self.norm1(x), mask=mask))


@mistake("TransformerBlock", hint=2)
class PairReturned(Block):
    """A tuple came back. Unlike the attention, the block returns one tensor, without weights."""

    def forward(self, x, mask=None):
        return super().forward(x, mask), None


@mistake("TransformerBlock", hint=2)
class WeightsAdded(Block):
    """It stopped when None was to be added: the output is the FIRST thing that the attention returns."""

    def first(self, x, mask):
        return x + self.attention(self.norm1(x), mask=mask)[1]


@mistake("TransformerBlock", hint=2)
class WeightsDropped(Block):
    """It stopped in dropout, which was given None: of the two things that the attention returns, the output is the
    first.
    """

    def first(self, x, mask):
        return x + self.drop(self.attention(self.norm1(x), mask=mask)[1])


@mistake("TransformerBlock")
class NormWithoutItsWeights(Block):
    """x was normalized without the norms' own weights and biases. Call the modules norm1 and norm2."""

    def first(self, x, mask):
        n = functional.layer_norm(x, x.shape[-1:])
        return x + self.drop(self.attend(n, mask))

    def second(self, x):
        n = functional.layer_norm(x, x.shape[-1:])
        return x + self.drop(self.feed(n))


@mistake("TransformerBlock")
class SiLUInstead(Block):
    """The activation is SiLU. This block uses ReLU."""

    def feed(self, x):
        return self.linear2(functional.silu(self.linear1(x)))


@mistake("TransformerBlock")
class NothingReturned(Block):
    """It returned None. `forward` ends with a return of x, once both branches have been added."""

    def forward(self, x, mask=None):
        self.second(self.first(x, mask))


@mistake("TransformerBlock")
class MaskOfNumbers(Block):
    """It stopped because the mask had become numbers. The attention wants it as it comes, True and False."""

    def attend(self, x, mask):
        return self.attention(x, mask=None if mask is None else mask.to(x.dtype))[0]


@mistake("TransformerBlock", hint=1)
class Parallel(Block):
    """Both branches read the same x. The feed-forward network should read the sum of x and attention."""

    def forward(self, x, mask=None):
        return x + self.drop(self.attend(self.norm1(x), mask)) + self.second(x) - x


@mistake("TransformerBlock", hint=1)
class AddedToTheOldX(Block):
    """The network's output was added to the x that came in, so what attention added is lost. Add it to the sum."""

    def forward(self, x, mask=None):
        return x + self.drop(self.feed(self.norm2(self.first(x, mask))))


@mistake("TransformerBlock", hint=1)
class SumNotRead(Block):
    """The network read norm2 of attention's output without x. It should read the sum of the two."""

    def forward(self, x, mask=None):
        a = self.drop(self.attend(self.norm1(x), mask))
        return x + a + self.drop(self.feed(self.norm2(a)))


@mistake("TransformerBlock", hint=1)
class NormedXAgain(Block):
    """The network read norm1(x), which was computed before attention. It reads norm2 of the sum."""

    def forward(self, x, mask=None):
        n = self.norm1(x)
        return x + self.drop(self.attend(n, mask)) + self.drop(self.feed(n))


@mistake("TransformerBlock")
class NetworkFirst(Block):
    """The feed-forward network came before attention. Attention comes first."""

    def forward(self, x, mask=None):
        return self.first(self.second(x), mask)


@mistake("TransformerBlock", hint=1)
class NetworkMissing(Block):
    """The second half is missing: the feed-forward network was not applied, or its result was not used."""

    def forward(self, x, mask=None):
        return self.first(x, mask)


@mistake("TransformerBlock", hint=1)
class AttentionMissing(Block):
    """The attention was never called, or its result was not used: positions do not see one another."""

    def forward(self, x, mask=None):
        return self.second(x)


@mistake("TransformerBlock", hint=1)
class ResidualAtTheVeryEnd(Block):
    """x was added once, around both branches together. Each branch has its own residual connection."""

    def forward(self, x, mask=None):
        a = self.drop(self.attend(self.norm1(x), mask))
        return x + self.drop(self.feed(self.norm2(a)))


@mistake("TransformerBlock", hint=1)
class AddedTwice(Block):
    """x was added twice: once around each branch, and once more at the end."""

    def forward(self, x, mask=None):
        return x + super().forward(x, mask)


@mistake("TransformerBlock")
class InPlace(Block):
    """x was changed in place, by += or the like. The caller still needs it, and so does autograd: make a new
    tensor.
    """

    def first(self, x, mask):
        x += self.drop(self.attend(self.norm1(x), mask))
        return x


@mistake("TransformerBlock")
class CutOff(Block):
    """The values are right, but no gradient reaches x: somewhere the result is detached from it."""

    def forward(self, x, mask=None):
        return super().forward(x.detach(), mask)


@mistake("TransformerBlock")
class ResidualCutOff(Block):
    """The values are right, but the gradient of x lacks the direct path: the residual connection was detached."""

    def first(self, x, mask):
        return x.detach() + self.drop(self.attend(self.norm1(x), mask))


@mistake("TransformerBlock", hint=3)
class AlwaysDropping(Block):
    """Dropout acts in eval mode too: `functional.dropout` assumes training. Use nn.Dropout, or pass self.training."""

    def drop(self, x):
        return functional.dropout(x, self.p)


@mistake("TransformerBlock", hint=3)
class NoDropoutOnBranches(Block):
    """In training, dropout acts on the attention weights alone. It also acts on what each branch adds."""

    def drop(self, x):
        return x


@mistake("TransformerBlock", hint=3)
class NoDropoutOnTheNetwork(Block):
    """In training, what the feed-forward network adds is not dropped. Dropout acts on both branches."""

    def second(self, x):
        return x + self.feed(self.norm2(x))


@mistake("TransformerBlock", hint=3)
class NoDropoutOnAttention(Block):
    """In training, what attention adds is not dropped. Dropout inside the attention is on its weights, not on its
    output.
    """

    def first(self, x, mask):
        return x + self.attend(self.norm1(x), mask)


@mistake("TransformerBlock")
class NoDropoutOnWeights(Block):
    """Dropout does not act on the attention weights: `dropout` was not passed to MultiHeadAttention."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(d_model, num_heads)


@mistake("TransformerBlock", hint=3)
class NoDropoutAnywhere(Block):
    """The argument `dropout` has no effect. It goes to the attention and acts on what each branch adds."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff)


@mistake("TransformerBlock", hint=3)
class DroppedAfterAdding(Block):
    """Dropout acts on the sum, so the residual stream itself loses entries. Drop what a branch adds, before adding."""

    def first(self, x, mask):
        return self.drop(x + self.attend(self.norm1(x), mask))

    def second(self, x):
        return self.drop(x + self.feed(self.norm2(x)))


@mistake("TransformerBlock", hint=3)
class DroppedOnTheWayIn(Block):
    """Dropout acts on what goes into the branches. It acts on what comes out of them, before it is added."""

    def first(self, x, mask):
        return x + self.attend(self.drop(self.norm1(x)), mask)

    def second(self, x):
        return x + self.feed(self.drop(self.norm2(x)))


@mistake("TransformerBlock", hint=3)
class DroppedInsideTheNetwork(Block):
    """Dropout acts between linear1 and linear2, and not on what the network adds. It belongs after linear2."""

    def second(self, x):
        return x + self.linear2(self.drop(self.linear1(self.norm2(x)).relu()))


@mistake("TransformerBlock", hint=3)
class DroppedTwice(Block):
    """In training, what the network adds is neither 0 nor its output scaled up. Does dropout act between linear1 and
    linear2 too, or does the network not read the sum that dropout left?
    """

    def feed(self, x):
        return self.linear2(self.drop(self.linear1(x).relu()))


@mistake("TransformerBlock")
class ShareThatIsKept(Block):
    """dropout was used as the probability of keeping an entry. It is the probability of setting it to 0."""

    def drop(self, x):
        return functional.dropout(x, 1 - self.p, self.training)


@mistake("TransformerBlock")
class FixedDropout(Block):
    """The branches are dropped with a fixed probability, such as nn.Dropout's default. Use the argument `dropout`."""

    def drop(self, x):
        return functional.dropout(x, 0.5, self.training)


@mistake("TransformerBlock")
class DropoutByPosition(Block):
    """It stopped in `__init__`: MultiHeadAttention takes two arguments by position, and dropout by its name."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout)


@mistake("TransformerBlock")
class HeadsAndWidthSwapped(Block):
    """The attention has the wrong sizes. Its arguments are d_model, then num_heads."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(num_heads, d_model, dropout=dropout)


@mistake("TransformerBlock")
class OneHead(Block):
    """num_heads has no effect: the attention has another number of heads than was asked for."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, 1, d_ff, dropout=dropout)


@mistake("TransformerBlock")
class OverTheBatch(Block):
    """Attention ran over the sentences: two axes were swapped on the way in. MultiHeadAttention takes (B, L, E) as it
    is.
    """

    def attend(self, x, mask):
        return self.attention(x.transpose(0, 1), mask=mask)[0].transpose(0, 1)


@mistake("TransformerBlock")
class NetworkOfFixedSize(Block):
    """linear1 and linear2 ignore d_ff: the hidden size is four times d_model, whatever was asked for."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, 4 * d_model, dropout=dropout)


@mistake("TransformerBlock")
class NetworkWithoutHidden(Block):
    """linear1 and linear2 go from d_model to d_model. The hidden entries between them are d_ff."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_model, dropout=dropout)


@mistake("TransformerBlock")
class LinearsSwapped(Block):
    """linear1 and linear2 are swapped: linear1 goes from d_model to d_ff, linear2 back."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.linear1, self.linear2 = self.linear2, self.linear1

    def feed(self, x):
        return self.linear1(self.linear2(x).relu())


@mistake("TransformerBlock")
class LinearsWithoutBias(Block):
    """linear1 and linear2 have no bias. The docstring's nn.Linear has one: leave `bias` at its default."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.linear1 = nn.Linear(d_model, d_ff, bias=False)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)


@mistake("TransformerBlock")
class AttentionWithBias(Block):
    """The attention has biases that nobody asked for. Leave MultiHeadAttention's `bias` at its default."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(
            d_model, num_heads, dropout=dropout, bias=True
        )


@mistake("TransformerBlock", hint=3)
class NetworkInSequential(Block):
    """The feed-forward network is a Sequential, so its layers have other names. Make linear1 and linear2 attributes
    of the block.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)
        del self.linear1, self.linear2

    def feed(self, x):
        return self.feed_forward(x)


@mistake("TransformerBlock")
class PyTorchsAttention(Block):
    """The attention is nn.MultiheadAttention, whose parameters and masks differ. Use MultiHeadAttention of lesson 6."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = nn.MultiheadAttention(
            d_model, num_heads, dropout=dropout, batch_first=True
        )

    def attend(self, x, mask):
        return self.attention(x, x, x, attn_mask=mask)[0]


@mistake("TransformerBlock", hint=3)
class PyTorchsLayer(nn.TransformerEncoderLayer):
    """This is PyTorch's own layer, whose parts have other names. Build the block from the layers that the docstring
    lists.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(
            d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True
        )


@mistake("TransformerBlock")
class LayersInForward(Block):
    """The layers are made in `forward`, so each call has new random weights and nothing can be learned. Make them in
    `__init__`.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        nn.Module.__init__(self)
        self.sizes, self.p = (d_model, num_heads, d_ff), dropout

    def forward(self, x, mask=None):
        block = Block(*self.sizes, dropout=self.p).to(x.dtype).train(self.training)
        return block(x, mask)


@mistake("TransformerBlock")
class LayersInAList(Block):
    """No parameters are registered: nn.Module does not see layers in a plain list or dictionary. Store each one as an
    attribute.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.layers = [dict(self._modules)]
        self._modules.clear()

    def __getattr__(self, name):
        layers = self.__dict__.get("layers")
        if layers and name in layers[0]:
            return layers[0][name]
        return super().__getattr__(name)


@mistake("TransformerBlock")
class LayersShared(Block):
    """Two blocks share their layers, so training one changes the other. Make new layers in each `__init__`."""

    made: ClassVar = {}

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        layers = (self.linear1, self.linear2)
        layers = self.made.setdefault((d_model, d_ff), layers)
        self.linear1, self.linear2 = layers


@mistake("TransformerBlock")
class InitForgotten(nn.Module):
    """It stopped because `super().__init__()` is missing or comes too late: a module cannot hold layers before it."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        self.norm1 = nn.LayerNorm(d_model)


@mistake("TransformerBlock")
class Frozen(Block):
    """The norms or layers do not learn: their parameters have requires_grad turned off, or are used under no_grad."""

    def first(self, x, mask):
        with torch.no_grad():
            a = self.attend(self.norm1(x), mask)
        return x + self.drop(a)


# The decoder block


@check("DecoderBlock", points=1)
def everything_else(block_class: Any, draw: Inputs) -> Any:
    """Masks of each rank, gradients of every parameter, one position, how much is dropped, and two blocks."""
    block = filled(block_class(8, 2, 5), DECODER, draw)
    own, far = rule(draw, 3, 4, 4), rule(draw, 3, 2, 4, 7)
    own[1, 2], far[0, 1, 3] = False, False
    x, memory = draw.normal(3, 4, 8), draw.normal(3, 7, 8)
    outputs = [
        block(x, memory, draw.give(own), draw.give(far)),
        block(x, memory, rule(draw, 3, 1, 1, 4), rule(draw, 4, 7)),
        block(x, memory, rule(draw, 3, 2, 4, 4), rule(draw, 3, 4, 7)),
        filled(block_class(4, 1, 6), DECODER, draw)(
            draw.normal(1, 1, 4), draw.normal(1, 1, 4)
        ),
    ]
    (outputs[0] * draw.normal(3, 4, 8)).sum().backward()
    x, memory = draw.normal(3, 5, 6), draw.normal(3, 4, 6)
    one = filled(block_class(6, 3, 10, dropout=0.25), DECODER, draw)
    outer = [getattr(one, name).out_proj for name in ATTENTIONS] + [one.linear2]
    parts = factors(one, ATTENTIONS, outer, draw.normal(5, 8, 6), draw.normal(5, 4, 6))
    rates = [getattr(one, name).dropout.p for name in ATTENTIONS]
    pair = apart(block_class, DECODER, draw, x, memory)
    return outputs, gradients_of(block, DECODER), parts, rates, pair


class Decoder(nn.Module):
    """A decoder block in steps, so that a mistake can get one of them wrong."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def feed(self, x):
        return self.linear2(self.linear1(x).relu())

    def drop(self, x):
        return functional.dropout(x, self.p, self.training)

    def own(self, x, mask):
        return self.self_attention(x, mask=mask)[0]

    def far(self, x, memory, mask):
        return self.cross_attention(x, memory, mask=mask)[0]

    def first(self, x, mask):
        return x + self.drop(self.own(self.norm1(x), mask))

    def second(self, x, memory, mask):
        return x + self.drop(self.far(self.norm2(x), memory, mask))

    def third(self, x):
        return x + self.drop(self.feed(self.norm3(x)))

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.second(self.first(x, self_mask), memory, memory_mask)
        return self.third(x)


@mistake("DecoderBlock", hint=2)
class MemoryIgnored(Decoder):
    """The memory had no effect: in cross-attention, keys and values came from x. They come from the memory."""

    def far(self, x, memory, mask):
        return self.cross_attention(x)[0]


@mistake("DecoderBlock", hint=2)
class QueryFromMemory(Decoder):
    """In cross-attention, the queries came from the memory, so its output is as long as the memory and cannot be added
    to x. Queries come from x.
    """

    def far(self, x, memory, mask):
        return self.cross_attention(memory, x, mask=mask)[0]


@mistake("DecoderBlock", hint=2)
class ValueFromX(Decoder):
    """In cross-attention, the values came from x although the keys came from the memory. Both come from the memory."""

    def far(self, x, memory, mask):
        return self.cross_attention(x, memory, x, mask=mask)[0]


@mistake("DecoderBlock", hint=2)
class KeyFromX(Decoder):
    """In cross-attention, the keys came from x although the values came from the memory. Both come from the memory."""

    def far(self, x, memory, mask):
        return self.cross_attention(x, x, memory, mask=mask)[0]


@mistake("DecoderBlock", hint=3)
class SelfMaskOnMemory(Decoder):
    """self_mask met the length of the memory: it was used in cross-attention, or combined with memory_mask. Each mask
    goes to its own attention.
    """

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return self.third(self.second(self.first(x, self_mask), memory, self_mask))


@mistake("DecoderBlock", hint=3)
class MasksSwapped(Decoder):
    """The masks are swapped: self_mask is for self-attention, memory_mask for cross-attention."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return self.third(self.second(self.first(x, memory_mask), memory, self_mask))


@mistake("DecoderBlock", hint=3)
class MasksIgnored(Decoder):
    """Neither mask had an effect. Each is passed on to its own attention."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return self.third(self.second(self.first(x, None), memory, None))


@mistake("DecoderBlock", hint=3)
class SelfMaskIgnored(Decoder):
    """self_mask had no effect: it was not passed on to self-attention, so positions see later ones."""

    def first(self, x, mask):
        return super().first(x, None)


@mistake("DecoderBlock", hint=3)
class MemoryMaskIgnored(Decoder):
    """memory_mask had no effect: it was not passed on to cross-attention, so padding of the memory is read."""

    def second(self, x, memory, mask):
        return super().second(x, memory, None)


@mistake("DecoderBlock", hint=3)
class MemoryMaskOnlyWithoutSelfMask(Decoder):
    """With both masks, only one of them had an effect. They belong to different attentions: pass on each by itself."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self_mask is not None:
            memory_mask = None
        return super().forward(x, memory, self_mask, memory_mask)


@mistake("DecoderBlock")
class BothMasksInverted(Decoder):
    """The masks were inverted. True means "may attend", here and in MultiHeadAttention: pass them on as they are."""

    def own(self, x, mask):
        return super().own(x, None if mask is None else ~mask)

    def far(self, x, memory, mask):
        return super().far(x, memory, None if mask is None else ~mask)


@mistake("DecoderBlock")
class MemoryMaskInverted(Decoder):
    """memory_mask was inverted, so cross-attention read the padding alone. True means "may attend"."""

    def far(self, x, memory, mask):
        return super().far(x, memory, None if mask is None else ~mask)


@mistake("DecoderBlock")
class SelfMaskInverted(Decoder):
    """self_mask was inverted, so positions saw later ones alone. True means "may attend"."""

    def own(self, x, mask):
        return super().own(x, None if mask is None else ~mask)


@mistake("DecoderBlock")
class MaskAsSecondArgument(Decoder):
    """self_mask was passed as the attention's second argument, which is the key. Pass it by its name."""

    def own(self, x, mask):
        return self.self_attention(x, mask)[0]


@mistake("DecoderBlock")
class MaskAsThirdArgument(Decoder):
    """memory_mask was passed as the attention's third argument, which is the value. Pass it by its name."""

    def far(self, x, memory, mask):
        return self.cross_attention(x, memory, mask)[0]


@mistake("DecoderBlock")
class CausalByItself(Decoder):
    """Without self_mask, positions saw no later ones. A mask is only what the caller passes in."""

    def own(self, x, mask):
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
        return super().own(x, causal if mask is None else mask)


@mistake("DecoderBlock", hint=3)
class CausalOverMemory(Decoder):
    """Cross-attention was causal: early positions saw little of the memory. It is complete, and all of it may be
    read.
    """

    def far(self, x, memory, mask):
        causal = torch.ones(x.size(1), memory.size(1), dtype=torch.bool).tril()
        return super().far(x, memory, causal if mask is None else mask & causal)


@mistake("DecoderBlock", hint=2)
class MemoryNormalized(Decoder):
    """The memory went through norm2. The encoder has already normalized it: only x does."""

    def second(self, x, memory, mask):
        return super().second(x, self.norm2(memory), mask)


@mistake("DecoderBlock", hint=2)
class MemoryNormalizedOnly(Decoder):
    """norm2 was applied to the memory instead of x. It belongs on x, which asks; the memory stays as it is."""

    def second(self, x, memory, mask):
        return x + self.drop(self.far(x, self.norm2(memory), mask))


@mistake("DecoderBlock", hint=2)
class MemoryThroughThirdNorm(Decoder):
    """The memory went through norm3, which belongs to the feed-forward network. The memory is not normalized again."""

    def second(self, x, memory, mask):
        return super().second(x, self.norm3(memory), mask)


@mistake("DecoderBlock", hint=2)
class MemoryThroughFirstNorm(Decoder):
    """The memory went through norm1, which belongs to self-attention. The memory is not normalized again."""

    def second(self, x, memory, mask):
        return super().second(x, self.norm1(memory), mask)


@mistake("DecoderBlock", hint=2)
class OnlySelfAttentionRead(Decoder):
    """Cross-attention read what self-attention added, without x. Its queries come from the sum of the two."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        a = self.drop(self.own(self.norm1(x), self_mask))
        b = self.drop(self.far(self.norm2(a), memory, memory_mask))
        return self.third(x + a + b)


@mistake("DecoderBlock")
class AxesForTheMemoryMask(Decoder):
    """memory_mask got more axes before it was passed on. The attention takes masks with two, three or four axes as
    they are.
    """

    def far(self, x, memory, mask):
        mask = None if mask is None else mask[:, None, None]
        return super().far(x, memory, mask)


@mistake("DecoderBlock", hint=1)
class CrossFirst(Decoder):
    """Cross-attention came before self-attention, each with its own norm. Self-attention comes first."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.first(self.second(x, memory, memory_mask), self_mask)
        return self.third(x)


@mistake("DecoderBlock", hint=1)
class CrossFirstWithFirstNorm(Decoder):
    """Cross-attention came before self-attention, with norm1 in front of it. Self-attention is the first branch."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.drop(self.far(self.norm1(x), memory, memory_mask))
        return self.third(x + self.drop(self.own(self.norm2(x), self_mask)))


@mistake("DecoderBlock", hint=1)
class CrossLast(Decoder):
    """Cross-attention came last. The order is self-attention, cross-attention, feed-forward network."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.third(self.first(x, self_mask))
        return self.second(x, memory, memory_mask)


@mistake("DecoderBlock", hint=1)
class NetworkBeforeCross(Decoder):
    """The feed-forward network came before cross-attention, with norm2 in front. It is the last branch, with norm3."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.first(x, self_mask)
        x = x + self.drop(self.feed(self.norm2(x)))
        return x + self.drop(self.far(self.norm3(x), memory, memory_mask))


@mistake("DecoderBlock")
class LaterNormsSwapped(Decoder):
    """norm2 and norm3 are swapped: norm2 precedes cross-attention, norm3 the feed-forward network."""

    def second(self, x, memory, mask):
        return x + self.drop(self.far(self.norm3(x), memory, mask))

    def third(self, x):
        return x + self.drop(self.feed(self.norm2(x)))


@mistake("DecoderBlock")
class EarlyNormsSwapped(Decoder):
    """norm1 and norm2 are swapped: norm1 precedes self-attention, norm2 cross-attention."""

    def first(self, x, mask):
        return x + self.drop(self.own(self.norm2(x), mask))

    def second(self, x, memory, mask):
        return x + self.drop(self.far(self.norm1(x), memory, mask))


@mistake("DecoderBlock")
class FirstNormTwice(Decoder):
    """norm1 was used in front of cross-attention too. Each of the three branches has a norm of its own number."""

    def second(self, x, memory, mask):
        return x + self.drop(self.far(self.norm1(x), memory, mask))


@mistake("DecoderBlock")
class SecondNormTwice(Decoder):
    """norm2 was used in front of the feed-forward network, and norm3 never. Each branch has a norm of its own."""

    def third(self, x):
        return x + self.drop(self.feed(self.norm2(x)))


@mistake("DecoderBlock")
class FirstNormEverywhere(Decoder):
    """norm1 was used in front of all three branches. norm2 and norm3 are for the other two."""

    def second(self, x, memory, mask):
        return x + self.drop(self.far(self.norm1(x), memory, mask))

    def third(self, x):
        return x + self.drop(self.feed(self.norm1(x)))


@mistake("DecoderBlock", hint=2)
class QueryNotNormalized(Decoder):
    """norm2 is missing: cross-attention read x as it was."""

    def second(self, x, memory, mask):
        return x + self.drop(self.far(x, memory, mask))


@mistake("DecoderBlock")
class ThirdNormMissing(Decoder):
    """norm3 is missing: the feed-forward network read the sum as it was."""

    def third(self, x):
        return x + self.drop(self.feed(x))


@mistake("DecoderBlock")
class FirstNormForgotten(Decoder):
    """norm1 is missing: self-attention read x as it was."""

    def first(self, x, mask):
        return x + self.drop(self.own(x, mask))


@mistake("DecoderBlock")
class AllNormsMissing(Decoder):
    """None of the three norms was used. Each precedes the branch of its number."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.drop(self.own(x, self_mask))
        x = x + self.drop(self.far(x, memory, memory_mask))
        return x + self.drop(self.feed(x))


@mistake("DecoderBlock")
class NormsAfterwards(Decoder):
    """This is post-norm: the norms came after the additions. Each belongs in front of its branch."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x + self.drop(self.own(x, self_mask)))
        x = self.norm2(x + self.drop(self.far(x, memory, memory_mask)))
        return self.norm3(x + self.drop(self.feed(x)))


@mistake("DecoderBlock")
class NormsKept(Decoder):
    """The branches were added to the normalized x. The residual stream is x itself, and only branches read its norm."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x)
        x = x + self.drop(self.own(x, self_mask))
        x = self.norm2(x)
        x = x + self.drop(self.far(x, memory, memory_mask))
        x = self.norm3(x)
        return x + self.drop(self.feed(x))


@mistake("DecoderBlock")
class NoResiduals(Decoder):
    """There are no residual connections: each branch replaced what came in. It should be added to what came in."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.drop(self.own(self.norm1(x), self_mask))
        x = self.drop(self.far(self.norm2(x), memory, memory_mask))
        return self.drop(self.feed(self.norm3(x)))


@mistake("DecoderBlock")
class CrossNotAdded(Decoder):
    """The output of cross-attention replaced x. It is added to x, like that of the other branches."""

    def second(self, x, memory, mask):
        return self.drop(self.far(self.norm2(x), memory, mask))


@mistake("DecoderBlock")
class SelfNotAdded(Decoder):
    """The output of self-attention replaced x. It is added to x, like that of the other branches."""

    def first(self, x, mask):
        return self.drop(self.own(self.norm1(x), mask))


@mistake("DecoderBlock")
class LastNotAdded(Decoder):
    """The feed-forward network's output was returned on its own. The last residual connection is missing."""

    def third(self, x):
        return self.drop(self.feed(self.norm3(x)))


@mistake("DecoderBlock")
class CrossAddedToTheOldX(Decoder):
    """Cross-attention was added to the x that came in, so what self-attention added is lost. Add it to the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm2(self.first(x, self_mask))
        return self.third(x + self.drop(self.far(n, memory, memory_mask)))


@mistake("DecoderBlock", hint=2)
class QueryFromTheOldX(Decoder):
    """Cross-attention read the x that came in. Its queries come from the sum that self-attention was added to."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        a = self.drop(self.own(self.norm1(x), self_mask))
        b = self.drop(self.far(self.norm2(x), memory, memory_mask))
        return self.third(x + a + b)


@mistake("DecoderBlock", hint=2)
class QueryFromTheFirstNorm(Decoder):
    """Cross-attention read norm1(x), computed before self-attention. Its queries are norm2 of the sum."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm1(x)
        x = x + self.drop(self.own(n, self_mask))
        return self.third(x + self.drop(self.far(n, memory, memory_mask)))


@mistake("DecoderBlock")
class CrossNormKept(Decoder):
    """Cross-attention was added to norm2(x) instead of x. The residual stream is x, which no norm has touched."""

    def second(self, x, memory, mask):
        return super().second(x, memory, mask) - x + self.norm2(x)


@mistake("DecoderBlock", hint=2)
class CrossPostNorm(Decoder):
    """norm2 came after cross-attention was added. It belongs in front, on what asks."""

    def second(self, x, memory, mask):
        return self.norm2(x + self.drop(self.far(x, memory, mask)))


@mistake("DecoderBlock", hint=1)
class BranchesInParallel(Decoder):
    """Each branch alone is right, but all three read the same x. Each reads the sum that the one before it left."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        a = self.drop(self.own(self.norm1(x), self_mask))
        b = self.drop(self.far(self.norm2(x), memory, memory_mask))
        return self.third(x) + a + b


@mistake("DecoderBlock")
class MemoryDropped(Decoder):
    """Dropout acts on the memory too. It acts on attention weights and on what each branch adds."""

    def far(self, x, memory, mask):
        return super().far(x, self.drop(memory), mask)


@mistake("DecoderBlock", hint=2)
class MemoryCut(Decoder):
    """Only a part of the memory was read, as much as x is long. Cross-attention may read all of it."""

    def far(self, x, memory, mask):
        return self.cross_attention(x, memory[:, : x.size(1)])[0]


@mistake("DecoderBlock", hint=2)
class MemoryAveraged(Decoder):
    """The memory was averaged before it was read. Cross-attention chooses among its positions: pass it on whole."""

    def far(self, x, memory, mask):
        return self.cross_attention(x, memory.mean(dim=1, keepdim=True))[0]


@mistake("DecoderBlock", hint=1)
class NetworkTwice(Decoder):
    """The feed-forward network was applied after each attention. It comes once, as the last branch."""

    def second(self, x, memory, mask):
        return super().second(self.third(x), memory, mask)


@mistake("DecoderBlock")
class NoReturn(Decoder):
    """It returned None. `forward` ends with a return of x, once all three branches have been added."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        super().forward(x, memory, self_mask, memory_mask)


@mistake("DecoderBlock", hint=2)
class SelfAttentionTwice(Decoder):
    """self_attention was called for the memory too. Cross-attention has a layer with weights of its own."""

    def far(self, x, memory, mask):
        return self.self_attention(x, memory, mask=mask)[0]


@mistake("DecoderBlock", hint=2)
class AttentionsSwapped(Decoder):
    """self_attention and cross_attention are swapped: cross_attention is the one that reads the memory."""

    def own(self, x, mask):
        return self.cross_attention(x, mask=mask)[0]

    def far(self, x, memory, mask):
        return self.self_attention(x, memory, mask=mask)[0]


@mistake("DecoderBlock", hint=1)
class BothReadTheMemory(Decoder):
    """Both attentions read the memory. In self-attention, queries, keys and values all come from x."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm1(x)
        x = x + self.drop(self.self_attention(n, memory, mask=memory_mask)[0])
        return self.third(self.second(x, memory, memory_mask))


@mistake("DecoderBlock")
class OneAttentionObject(Decoder):
    """self_attention and cross_attention are one object, so they share their weights. Make two."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.cross_attention = self.self_attention


@mistake("DecoderBlock", hint=1)
class CrossMissing(Decoder):
    """Nothing of the memory reached the output: cross-attention is missing, or its result was not used."""

    def second(self, x, memory, mask):
        return x


@mistake("DecoderBlock", hint=1)
class SelfMissing(Decoder):
    """Self-attention is missing, or its result was not used: positions of x never see one another."""

    def first(self, x, mask):
        return x


@mistake("DecoderBlock", hint=1)
class FeedForwardMissing(Decoder):
    """The feed-forward network is missing: the block returned what cross-attention left."""

    def third(self, x):
        return x


@mistake("DecoderBlock", hint=2)
class MemoryAdded(Decoder):
    """It stopped when the memory was added to x: they differ in length. Only cross-attention brings them together."""

    def second(self, x, memory, mask):
        return super().second(x, memory, mask) + memory


@mistake("DecoderBlock", hint=2)
class OneLongSequence(Decoder):
    """x and memory were joined into one sequence. Here each has its own attention, and keys of cross-attention are the
    memory's alone.
    """

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        n = self.norm1(x)
        joined = torch.cat([n, memory], dim=1)
        x = x + self.drop(self.self_attention(n, joined)[0])
        return self.third(self.second(x, memory, memory_mask))


@mistake("DecoderBlock")
class ActivationMissing(Decoder):
    """There is no ReLU between linear1 and linear2."""

    def feed(self, x):
        return self.linear2(self.linear1(x))


@mistake("DecoderBlock")
class AnotherActivation(Decoder):
    """The activation is GELU. The layers are built as in TransformerBlock, with ReLU between."""

    def feed(self, x):
        return self.linear2(functional.gelu(self.linear1(x)))


@mistake("DecoderBlock")
class ActivationLast(Decoder):
    """ReLU came after linear2. It belongs between the two linear layers, as in TransformerBlock."""

    def feed(self, x):
        return self.linear2(self.linear1(x)).relu()


@mistake("DecoderBlock")
class TupleAdded(Decoder):
    """It stopped when x met a tuple: each attention returns a pair, the output and the weights or None."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = x + self.self_attention(self.norm1(x), mask=self_mask)
        return x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)


@mistake("DecoderBlock")
class TupleDropped(Decoder):
    """It stopped in dropout, which was given a tuple: take the first of the two things that an attention returns."""

    def first(self, x, mask):
        return x + self.drop(self.self_attention(self.norm1(x), mask=mask))


@mistake("DecoderBlock")
class MemoryReturned(Decoder):
    """A tuple came back. The block returns x alone, and the memory stays with the caller."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        return super().forward(x, memory, self_mask, memory_mask), memory


@mistake("DecoderBlock")
class WrittenInPlace(Decoder):
    """x was changed in place, by += or the like. The caller still needs it: make a new tensor."""

    def first(self, x, mask):
        x += self.drop(self.own(self.norm1(x), mask))
        return x


@mistake("DecoderBlock")
class MemoryDetached(Decoder):
    """The output is right, but no gradient reaches the memory: the encoder would learn nothing. Leave out detach."""

    def far(self, x, memory, mask):
        return super().far(x, memory.detach(), mask)


@mistake("DecoderBlock")
class DroppingInEval(Decoder):
    """Dropout acts in eval mode too: `functional.dropout` has to be told about self.training. nn.Dropout knows."""

    def drop(self, x):
        return functional.dropout(x, self.p)


@mistake("DecoderBlock")
class BranchesNotDropped(Decoder):
    """In training, dropout acts on attention weights alone. As in TransformerBlock, it also acts on what each branch
    adds.
    """

    def drop(self, x):
        return x


@mistake("DecoderBlock")
class CrossNotDropped(Decoder):
    """In training, what cross-attention adds is not dropped. Dropout acts on all three branches."""

    def second(self, x, memory, mask):
        return x + self.far(self.norm2(x), memory, mask)


@mistake("DecoderBlock")
class SelfNotDropped(Decoder):
    """In training, what self-attention adds is not dropped. Dropout acts on all three branches."""

    def first(self, x, mask):
        return x + self.own(self.norm1(x), mask)


@mistake("DecoderBlock")
class AttentionsNotDropped(Decoder):
    """In training, only the feed-forward network's output is dropped. What the attentions add is dropped too."""

    def first(self, x, mask):
        return x + self.own(self.norm1(x), mask)

    def second(self, x, memory, mask):
        return x + self.far(self.norm2(x), memory, mask)


@mistake("DecoderBlock")
class NetworkNotDropped(Decoder):
    """In training, what the feed-forward network adds is not dropped. Dropout acts on all three branches."""

    def third(self, x):
        return x + self.feed(self.norm3(x))


@mistake("DecoderBlock")
class SumsDropped(Decoder):
    """Dropout acts on the sums, so x itself loses entries. Drop what a branch adds, before it is added."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.drop(x + self.own(self.norm1(x), self_mask))
        x = self.drop(x + self.far(self.norm2(x), memory, memory_mask))
        return self.drop(x + self.feed(self.norm3(x)))


@mistake("DecoderBlock")
class HiddenDropped(Decoder):
    """In training, the network's part is neither dropped nor scaled up as a whole. Does dropout act between linear1
    and linear2 too, or on what the network reads?
    """

    def feed(self, x):
        return self.linear2(self.drop(self.linear1(x).relu()))


@mistake("DecoderBlock")
class WeightsNotDropped(Decoder):
    """Dropout does not act on attention weights: `dropout` was not passed to either MultiHeadAttention."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)


@mistake("DecoderBlock")
class CrossWeightsNotDropped(Decoder):
    """Dropout does not act on the weights of one attention: pass `dropout` to both of them."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)


@mistake("DecoderBlock")
class NothingDropped(Decoder):
    """The argument `dropout` has no effect in training. It goes to both attentions and acts on every branch."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff)


@mistake("DecoderBlock", hint=1)
class ThirdNormNotMade(Decoder):
    """There is no norm3. Three branches need three norms."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        del self.norm3

    def third(self, x):
        return x + self.drop(self.feed(self.norm2(x)))


@mistake("DecoderBlock", hint=2)
class MemoryNorm(Decoder):
    """There is a fourth norm. Three precede the branches, and the memory needs none."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.norm4 = nn.LayerNorm(d_model)

    def far(self, x, memory, mask):
        return super().far(x, self.norm4(memory), mask)


@mistake("DecoderBlock")
class BuiltOnTheBlock(Decoder):
    """Self-attention is called `attention`, as in TransformerBlock. Here it is self_attention: saved weights are found
    by these names.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = self.self_attention
        del self.self_attention

    def own(self, x, mask):
        return self.attention(x, mask=mask)[0]


@mistake("DecoderBlock")
class AttentionLeftOver(Decoder):
    """There are parameters that no branch uses: `attention` of TransformerBlock. A decoder block has two attentions."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)


@mistake("DecoderBlock")
class DropoutWithoutItsName(Decoder):
    """It stopped in `__init__`: pass dropout to MultiHeadAttention by its name, as in TransformerBlock."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)


@mistake("DecoderBlock")
class BlockInside(nn.Module):
    """A TransformerBlock is a part of it, which brings a feed-forward network of its own. List the seven layers
    instead.
    """

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__()
        self.block = Block(d_model, num_heads, d_ff, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.block(x, self_mask)
        return x + self.cross_attention(self.norm3(x), memory, mask=memory_mask)[0]


@mistake("DecoderBlock")
class LayersOfOneModel(Decoder):
    """Two decoder blocks share their layers. Make new ones in each `__init__`."""

    made: ClassVar = {}

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout)
        layers = (self.linear1, self.linear2)
        layers = self.made.setdefault((d_model, d_ff), layers)
        self.linear1, self.linear2 = layers


@mistake("DecoderBlock")
class HiddenSizeIgnored(Decoder):
    """linear1 and linear2 ignore d_ff, the size between them."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(d_model, num_heads, 4 * d_model, dropout=dropout)


@mistake("DecoderBlock")
class PyTorchsDecoder(nn.TransformerDecoderLayer):
    """This is PyTorch's own decoder layer, whose parts have other names. Build the block from the seven layers."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
        super().__init__(
            d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True
        )


# Greedy decoding


@check("greedy_decode", points=1)
def other_logits(greedy_decode: Any, draw: Inputs) -> Any:
    """Another start token and vocabulary, float32 logits that are all negative, and more tokens."""
    step = model(draw, 4, 11, torch.float32)
    return (
        in_int64(greedy_decode(lambda tokens: step(tokens) - 20.0, 0, 12, 4)),
        [in_int64(greedy_decode(model(draw, 1, 2), 40, 12, 1)) for _ in range(4)],
    )


def begun(start, batch):
    """Begin each sentence with the start token."""
    return torch.full((batch, 1), start)


def best_of(logits):
    """Return the best token of the last position, as (B, 1)."""
    return logits[:, -1].argmax(dim=-1, keepdim=True)


def written(step, start, length, batch, best=best_of):
    """Write tokens behind the start token, and return both."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best(step(tokens))], dim=1)
    return tokens


@mistake("greedy_decode", hint=2)
def position_0(step, start, length, batch):
    """All tokens of a sentence are the same: position 0 was read each time, or step was given the start token alone.
    Append each token, and read the last position.
    """

    def best(logits):
        return logits[:, 0].argmax(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=2)
def position_ahead(step, start, length, batch):
    """It stopped because there is no position t + 1 yet. Position t holds the logits for token t + 1: read the last."""
    tokens = begun(start, batch)
    for t in range(length):
        best = step(tokens)[:, t + 1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, best], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=3)
def newest_in_front(step, start, length, batch):
    """Each new token was put in front of the others, so `step` read the sentence backward. Append it at the end."""
    tokens = begun(start, batch)
    for _ in range(length):
        best = step(tokens)[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([best, tokens], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=2)
def positions_added(step, start, length, batch):
    """The logits of all positions were added up or averaged. Those of the last position alone are for the next
    token.
    """

    def best(logits):
        return logits.sum(dim=1).argmax(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def last_sentence(step, start, length, batch):
    """It stopped: an index without a colon in front picked a sentence, since axis 0 is the batch. Positions are
    axis 1.
    """

    def best(logits):
        return logits[-1].argmax(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def one_number(step, start, length, batch):
    """It stopped at `item` or `int`, which take a single number. There is one best token per sentence: keep them in
    a tensor.
    """

    def best(logits):
        return torch.tensor([[logits[:, -1].argmax(dim=-1).item()]])

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def sampled_sharply(step, start, length, batch):
    """The tokens were sampled, at a low temperature. Greedy decoding draws nothing: it takes the largest logit."""

    def best(logits):
        return torch.multinomial((logits[:, -1] / 0.5).softmax(dim=-1), 1)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def largest_size(step, start, length, batch):
    """The logit farthest from zero was taken, even if it was negative. The largest one counts, with its sign."""

    def best(logits):
        return logits[:, -1].abs().argmax(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def pair_of_max(step, start, length, batch):
    """It stopped because `max` with a `dim` returns two tensors, values and indices. A token is an index."""

    def best(logits):
        return logits[:, -1].max(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=3)
def last_three(step, start, length, batch):
    """step was given the last three tokens. It needs all tokens so far, from the start token on."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens[:, -3:]))], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode")
def nothing_returned(step, start, length, batch):
    """It returned None. After the loop, return the tokens without the start."""
    written(step, start, length, batch)


@mistake("greedy_decode", hint=1)
def start_doubled(step, start, length, batch):
    """The sentences began with the start token twice. It comes once."""
    tokens = begun(start, batch).expand(batch, 2)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 2:]


@mistake("greedy_decode", hint=2)
def one_position_early(step, start, length, batch):
    """The logits came from the last position but one, and those are for a token that is already there. Use the last."""

    def best(logits):
        place = max(logits.size(1) - 2, 0)
        return logits[:, place].argmax(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=3)
def start_included(step, start, length, batch):
    """The start token was returned too. It begins the sentence, but it was not written: leave it out."""
    return written(step, start, length, batch)


@mistake("greedy_decode", hint=3)
def start_counted(step, start, length, batch):
    """The start token came back as the first of the tokens, and the last one is missing. `length` does not count the
    start.
    """
    return written(step, start, length - 1, batch)


@mistake("greedy_decode")
def one_too_many(step, start, length, batch):
    """One token too many was written. `length` says how many there are without the start."""
    return written(step, start, length + 1, batch)[:, 1:]


@mistake("greedy_decode", hint=3)
def one_too_few(step, start, length, batch):
    """One token too few was written: the start token was counted. `length` says how many there are without it."""
    return written(step, start, length - 1, batch)[:, 1:]


@mistake("greedy_decode", hint=3)
def first_one_dropped(step, start, length, batch):
    """The first token is missing, and one too many stands at the end. Only the start token is to be left out."""
    return written(step, start, length + 1, batch)[:, 2:]


@mistake("greedy_decode")
def sampled(step, start, length, batch):
    """The tokens were sampled, so twice the same call gives different ones. Greedy decoding takes the largest logit."""

    def best(logits):
        return torch.multinomial(logits[:, -1].softmax(dim=-1), 1)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def smallest(step, start, length, batch):
    """The token with the SMALLEST logit was taken."""

    def best(logits):
        return logits[:, -1].argmin(dim=-1, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def second_best(step, start, length, batch):
    """The token with the second-largest logit was taken. Sorted from small to large, the largest is the last one."""

    def best(logits):
        return logits[:, -1].argsort(dim=-1)[:, -2:-1]

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def first_in_the_vocabulary(step, start, length, batch):
    """Every token is 0: argmax ran along an axis of size 1, and not over the vocabulary, the last axis."""

    def best(logits):
        return logits[:, -1:].argmax(dim=1)[:, :1]

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def over_sentences(step, start, length, batch):
    """It stopped: argmax ran over the sentences, axis 0. It runs over the vocabulary, the last axis."""

    def best(logits):
        return logits[:, -1].argmax(dim=0, keepdim=True)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def over_sentences_and_back(step, start, length, batch):
    """The numbers are those of sentences: argmax ran over the batch, axis 0, and not over the vocabulary."""

    def best(logits):
        return logits[:, -1].argmax(dim=0)[:batch, None]

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=2)
def over_positions(step, start, length, batch):
    """argmax ran over the positions, axis 1, so its results are positions. Take the last position, then the largest
    entry of the vocabulary.
    """

    def best(logits):
        return logits.argmax(dim=1)[:, -1:]

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=2)
def positions_with_vocabulary(step, start, length, batch):
    """Too many tokens: argmax over the positions leaves a number for each word of the vocabulary. Take the last
    position first.
    """
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens).argmax(dim=1)], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode")
def one_token_for_all(step, start, length, batch):
    """All sentences got the same token: argmax without `dim` looks for one entry in the whole table. Each sentence has
    its own best token.
    """

    def best(logits):
        return logits[:, -1].argmax().expand(batch, 1)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def first_sentence_for_all(step, start, length, batch):
    """Every sentence got the tokens of the first one. Each has logits of its own."""

    def best(logits):
        return logits[:1, -1].argmax(dim=-1, keepdim=True).expand(batch, 1)

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=1)
def newest_only(step, start, length, batch):
    """step was given the newest token alone. It needs all tokens so far: what comes next depends on each of them."""
    best, rest = begun(start, batch), []
    for _ in range(length):
        best = best_of(step(best))
        rest.append(best)
    return torch.cat(rest, dim=1)


@mistake("greedy_decode", hint=3)
def without_the_start(step, start, length, batch):
    """After the first token, step no longer got the start token. It stays the first of the tokens so far."""
    tokens = best_of(step(begun(start, batch)))
    while tokens.size(1) < length:
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens


@mistake("greedy_decode", hint=3)
def start_and_newest(step, start, length, batch):
    """step was given the start token and the newest one, without those between. It needs all tokens so far."""
    tokens = begun(start, batch)
    for _ in range(length):
        seen = tokens if tokens.size(1) < 2 else tokens[:, [0, -1]]
        tokens = torch.cat([tokens, best_of(step(seen))], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=3)
def last_two(step, start, length, batch):
    """step was given the last two tokens. It needs all tokens so far."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens[:, -2:]))], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=1)
def start_repeated(step, start, length, batch):
    """step was given the start token in every place. A token has to be known, and fed back, before the next one can
    be.
    """
    return torch.cat(
        [
            best_of(step(begun(start, batch).expand(batch, t + 1)))
            for t in range(length)
        ],
        dim=1,
    )


@mistake("greedy_decode", hint=3)
def several_best(step, start, length, batch):
    """These are the best few tokens for the FIRST place. Write one token at a time, and feed it back."""
    return step(begun(start, batch))[:, -1].topk(length, dim=-1).indices


@mistake("greedy_decode", hint=2)
def doubled(step, start, length, batch):
    """The tokens of all positions were appended in each step. Only that of the last position is new."""
    tokens = begun(start, batch)
    while tokens.size(1) <= length:
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)], dim=1)
    return tokens[:, 1 : length + 1]


@mistake("greedy_decode", hint=2)
def doubled_without_end(step, start, length, batch):
    """There are too many tokens: each step appended one for every position. Only that of the last position is new."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=3)
def in_front(step, start, length, batch):
    """New tokens were put in front of the others. They come after them: the start token stays first."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([best_of(step(tokens)), tokens], dim=1)
    return tokens[:, :-1]


@mistake("greedy_decode", hint=3)
def backward(step, start, length, batch):
    """The right tokens in reverse order."""
    return written(step, start, length, batch)[:, 1:].flip(1)


@mistake("greedy_decode", hint=2)
def padded(step, start, length, batch):
    """step was given places that are not yet written, and the logits came from the last of them. Pass it the tokens so
    far, or read position t.
    """
    tokens = torch.zeros(batch, length + 1, dtype=torch.long)
    tokens[:, 0] = start
    for t in range(length):
        tokens[:, t + 1] = step(tokens)[:, -1].argmax(dim=-1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=2)
def padded_with_start(step, start, length, batch):
    """Places that are not yet written held the start token, and the logits came from the last of them. Position t holds
    those for token t + 1.
    """
    tokens = torch.full((batch, length + 1), start)
    for t in range(length):
        tokens[:, t + 1] = step(tokens)[:, -1].argmax(dim=-1)
    return tokens[:, 1:]


@mistake("greedy_decode")
def softmax_over_positions(step, start, length, batch):
    """Softmax ran over the positions, axis 1, so logits of different places were compared. The vocabulary is the last
    axis.
    """

    def best(logits):
        return best_of(logits.softmax(dim=1))

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode", hint=1)
def begun_with_zero(step, start, length, batch):
    """The sentences began with token 0 instead of `start`."""
    return written(step, 0, length, batch)[:, 1:]


@mistake("greedy_decode", hint=1)
def begun_with_one(step, start, length, batch):
    """The sentences began with token 1 instead of `start`: torch.ones holds ones."""
    return written(step, 1, length, batch)[:, 1:]


@mistake("greedy_decode", hint=1)
def sentence_numbers(step, start, length, batch):
    """The sentences began with different tokens. Each one begins with `start`."""
    tokens = torch.arange(batch)[:, None] + start
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=1)
def one_sentence(step, start, length, batch):
    """step was given a single sentence. All `batch` sentences are written at once, one row for each."""
    return written(step, start, length, 1)[:, 1:].expand(batch, length)


@mistake("greedy_decode", hint=1)
def without_positions(step, start, length, batch):
    """step was given one axis only. It takes (B, T): one row per sentence, at first with a single token."""
    return torch.stack(
        [step(torch.full((batch,), start)).argmax(dim=-1)] * length, dim=1
    )


@mistake("greedy_decode", hint=1)
def batch_last(step, start, length, batch):
    """step was given (T, B). The sentences are the first axis: (B, T)."""
    tokens = torch.full((1, batch), start)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens)[-1:].argmax(dim=-1)], dim=0)
    return tokens[1:].mT


@mistake("greedy_decode")
def floats_fed(step, start, length, batch):
    """step was given floats, which an embedding refuses. torch.ones and torch.zeros make floats unless they are told
    dtype=torch.long.
    """
    tokens = torch.ones(batch, 1) * start
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode")
def floats_returned(step, start, length, batch):
    """The right tokens, but as floats. Tokens are integers: create the tensor for them with dtype=torch.long."""
    return written(step, start, length, batch)[:, 1:].float()


@mistake("greedy_decode", hint=3)
def axis_lost(step, start, length, batch):
    """It stopped: argmax took an axis away, so (B,) met (B, T). Keep it with keepdim, or add one."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens)[:, -1].argmax(dim=-1)], dim=1)
    return tokens[:, 1:]


@mistake("greedy_decode", hint=3)
def appended_to_the_batch(step, start, length, batch):
    """It stopped: the new tokens were joined along the batch, so step got too many sentences. Join them along the
    positions, axis 1.
    """
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))])
    return tokens[:, 1:]


@mistake("greedy_decode")
def tensor_appended_to(step, start, length, batch):
    """It stopped: a tensor has no `append`. Join tensors with torch.cat."""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens.append(best_of(step(tokens)))
    return tokens[:, 1:]


@mistake("greedy_decode")
def list_of_columns(step, start, length, batch):
    """A list of tensors came back, one per step. Join them into one tensor, (B, length)."""
    tokens = written(step, start, length, batch)[:, 1:]
    return list(tokens.unbind(dim=1))


@mistake("greedy_decode")
def list_of_lists(step, start, length, batch):
    """The right tokens, but in lists. Return one tensor, (B, length)."""
    return written(step, start, length, batch)[:, 1:].tolist()


@mistake("greedy_decode", hint=3)
def stacked_in_front(step, start, length, batch):
    """The result is (length, B): stack puts a new axis first unless it is told otherwise. Sentences come first."""
    return written(step, start, length, batch)[:, 1:].mT


@mistake("greedy_decode")
def an_axis_more(step, start, length, batch):
    """The result is (B, length, 1): columns that kept their axis were stacked. Join them with cat."""
    return written(step, start, length, batch)[:, 1:, None]


@mistake("greedy_decode")
def squeezed(step, start, length, batch):
    """An axis of size 1 got lost, of a single sentence or a single token. `squeeze` without `dim` removes every one."""
    return written(step, start, length, batch)[:, 1:].squeeze()


@mistake("greedy_decode", hint=3)
def last_token_only(step, start, length, batch):
    """Only the last token came back. Return all of them, in the order in which they were written."""
    return written(step, start, length, batch)[:, -1:]


@mistake("greedy_decode")
def logits_returned(step, start, length, batch):
    """These are logits. Return the tokens: the index of the largest one at each position."""
    return step(written(step, start, length, batch)[:, :-1])


@mistake("greedy_decode")
def largest_logit(step, start, length, batch):
    """These are the largest logits themselves. A token is the INDEX of the largest logit: use argmax."""
    return step(written(step, start, length, batch)[:, :-1]).amax(dim=-1)


@mistake("greedy_decode")
def value_fed_back(step, start, length, batch):
    """It stopped because a logit was fed back instead of a token: `max` returns values first, then indices."""

    def best(logits):
        return logits[:, -1].max(dim=-1, keepdim=True).values

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def values_as_tokens(step, start, length, batch):
    """The largest logits were rounded and used as tokens. A token is the index of the largest logit: use argmax."""

    def best(logits):
        return logits[:, -1].amax(dim=-1, keepdim=True).long()

    return written(step, start, length, batch, best)[:, 1:]


@mistake("greedy_decode")
def stopped_at_the_start(step, start, length, batch):
    """Writing stopped after one token: is the `return` inside the loop?"""
    return written(step, start, 1, batch)[:, 1:]


@mistake("greedy_decode")
def stopped_at_zero(step, start, length, batch):
    """Writing stopped early, once token 0 came up. No token ends a sentence here: write `length` of them."""
    tokens = written(step, start, length, batch)[:, 1:]
    ends = (tokens == 0).all(dim=0).nonzero()
    return tokens[:, : int(ends[0]) + 1] if len(ends) else tokens


@mistake("greedy_decode")
def stopped_at_another_start(step, start, length, batch):
    """Writing stopped early, once the start token came up again. It is a token like any other: write `length` of
    them.
    """
    tokens = written(step, start, length, batch)[:, 1:]
    ends = (tokens == start).all(dim=0).nonzero()
    return tokens[:, : int(ends[0])] if len(ends) else tokens
