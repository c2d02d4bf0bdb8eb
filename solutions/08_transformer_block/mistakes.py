"""The mistakes that students make in lesson 8, as edits of its solutions. Never given to students."""

from typing import Any, ClassVar

import torch
from attention import MultiHeadAttention
from torch import nn
from torch.nn import functional

from autograder.checks import solution


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

transformer = solution("TransformerBlock")
transformer_in_steps = solution("TransformerBlock", spelled="""
    class TransformerBlock(nn.Module):

        def __init__(self, d_model: int, num_heads: int, d_ff: int, *, dropout: float=0.0) -> None:
            super().__init__()
            self.p = dropout
            self.norm1, self.norm2 = (nn.LayerNorm(d_model), nn.LayerNorm(d_model))
            self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
            self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))

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

        def forward(self, x: Tensor, mask: Tensor | None=None) -> Tensor:
            return self.second(self.first(x, mask))
    """)
transformer_in_steps.mutant("PostNorm", "x + self.drop(self.attend(self.norm1(x), mask))",
    "self.norm1(x + self.drop(self.attend(x, mask)))", "x + self.drop(self.feed(self.norm2(x)))",
    "self.norm2(x + self.drop(self.feed(x)))", hint=1, says="This is post-norm: each norm came after the addition. "
    "In a pre-norm block a norm acts on what enters a branch, and nothing acts on the sum.")
transformer_in_steps.mutant("NoResidual", "x + self.drop(self.attend(self.norm1(x), mask))",
    "self.drop(self.attend(self.norm1(x), mask))", "x + self.drop(self.feed(self.norm2(x)))",
    "self.drop(self.feed(self.norm2(x)))", hint=1,
    says="There is no residual connection: each branch replaced what came in. It should be added to what came in.")
transformer_in_steps.mutant("AttentionNotAdded", "x + self.drop(self.attend(self.norm1(x), mask))",
    "self.drop(self.attend(self.norm1(x), mask))", hint=1,
    says="The output of attention replaced x. It is a branch, like the feed-forward network: add x to it.")
transformer_in_steps.mutant("NetworkNotAdded", "x + self.drop(self.feed(self.norm2(x)))",
    "self.drop(self.feed(self.norm2(x)))", hint=1,
    says="The second residual connection is missing: the feed-forward network's output was returned on its own.")
transformer_in_steps.mutant("NormalizedAndAdded",
    "return x + self.drop(self.attend(self.norm1(x), mask))",
    """
    x = self.norm1(x)
    return x + self.drop(self.attend(x, mask))""",
    "return x + self.drop(self.feed(self.norm2(x)))",
    """
    x = self.norm2(x)
    return x + self.drop(self.feed(x))""", hint=1,
    says="The branches were added to the normalized x. The residual stream is x itself, which no norm has touched.")
transformer_in_steps.mutant("FirstNormKept", hint=1, method="first", body="""
    x = self.norm1(x)
    return x + self.drop(self.attend(x, mask))""",
    says="Attention was added to norm1's output instead of x. Did `x` get overwritten by its norm?")
transformer_in_steps.mutant("SecondNormKept", hint=1, method="second", body="""
    x = self.norm2(x)
    return x + self.drop(self.feed(x))""", says="The network was added to norm2's output. Only the branch reads the "
    "normalized sum, the residual stream does not.")
transformer_in_steps.mutant("NormOnTheBranch", "self.attend(self.norm1(x), mask)", "self.norm1(self.attend(x, mask))",
    "self.feed", "self.norm2", "self.norm2(x)", "self.feed(x)", hint=1,
    says="Each norm acted on the output of its branch. It belongs in front of the branch, on what goes in.")
transformer_in_steps.mutant("FirstNormOnTheBranch", "self.attend(self.norm1(x), mask)",
    "self.norm1(self.attend(x, mask))", hint=1,
    says="norm1 acted on the output of attention. It belongs in front, on what goes in.")
transformer_in_steps.mutant("SecondNormOnTheFirstBranch", "self.attend(self.norm1(x), mask)",
    "self.norm2(self.attend(self.norm1(x), mask))", "self.norm2(x)", "x", hint=1,
    says="norm2 acted on the output of attention, inside the first branch. It belongs in front of the network.")
transformer_in_steps.mutant("OnlyKeyNotNormed", hint=1, method="first", body="""
    n = self.norm1(x)
    return x + self.drop(self.attention(n, x, n, mask)[0])""", says="The keys came from x itself. In self-attention "
    "queries, keys and values all come from norm1(x): pass it alone.")
transformer_in_steps.mutant("NormedTwice", "x + self.drop(self.feed(self.norm2(x)))",
    "self.norm2(x + self.drop(self.feed(self.norm2(x))))", hint=1,
    says="The sum was normalized once more at the end, with norm2. The block returns the residual stream as it is.")
transformer_in_steps.mutant("SecondPostNorm", "x + self.drop(self.feed(self.norm2(x)))",
    "self.norm2(x + self.drop(self.feed(x)))", hint=1, says="norm2 came after the second addition. It belongs in "
    "front of the feed-forward network, as norm1 is in front of attention.")
transformer_in_steps.mutant("FirstPostNorm", "x + self.drop(self.attend(self.norm1(x), mask))",
    "self.norm1(x + self.drop(self.attend(x, mask)))", hint=1, says="norm1 came after the first addition. It belongs "
    "in front of attention, as norm2 is in front of the network.")
transformer_in_steps.mutant("NoNorms", "self.norm1(x)", "x", "self.norm2(x)", "x", hint=1,
    says="Neither norm was used. Each branch reads a normalized x.")
transformer_in_steps.mutant("FirstNormMissing", "self.norm1(x)", "x", hint=1,
    says="Attention read x as it was: norm1 is missing in front of it.")
transformer_in_steps.mutant("SecondNormMissing", "self.norm2(x)", "x", hint=1,
    says="The feed-forward network read the sum as it was: norm2 is missing in front of it.")
transformer_in_steps.mutant("OneNormTwice", "self.norm2(x)", "self.norm1(x)",
    says="norm1 was used twice and norm2 never. Each branch has a norm with weights of its own.")
transformer_in_steps.mutant("NormsSwapped", "self.attend(self.norm1(x), mask)", "self.attend(self.norm2(x), mask)",
    "self.feed(self.norm2(x))", "self.feed(self.norm1(x))",
    says="norm1 and norm2 are swapped: norm1 precedes attention, norm2 the feed-forward network.")
transformer_in_steps.mutant("OneNormObject",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.norm2 = self.norm1""",
    says="norm1 and norm2 are one object, so they share their weights. Make two LayerNorms.")
transformer_in_steps.mutant("NormsWithoutWeights",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.norm1, self.norm2 = (nn.LayerNorm(d_model, elementwise_affine=False) for _ in range(2))""",
    says="The norms have no parameters. nn.LayerNorm has a weight and a bias unless it is told not to.")
transformer_in_steps.mutant("RootMeanSquareNorm",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.norm1, self.norm2 = (nn.RMSNorm(d_model), nn.RMSNorm(d_model))""",
    says="These are RMSNorms, which neither subtract the mean nor have a bias. The docstring asks for nn.LayerNorm.")
transformer_in_steps.mutant("NormOfTheHidden",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.norm2 = nn.LayerNorm(d_ff)""",
    "self.feed",
    "self.linear2",
    "self.norm2(x)",
    "self.norm2(self.linear1(x)).relu()", hint=1,
    says="norm2 has d_ff entries: it would normalize inside the network. It acts on x, in front of linear1.")
transformer_in_steps.mutant("NoReLU", "self.linear1(x).relu()", "self.linear1(x)",
    says="There is no ReLU between the two linear layers. Without it they are no more than a single one.")
transformer_in_steps.mutant("ReLUAtTheEnd", "self.linear2(self.linear1(x).relu())",
    "self.linear2(self.linear1(x)).relu()",
    says="ReLU came after linear2, so the network can only add positive numbers. It belongs between the two layers.")
transformer_in_steps.mutant("TwoReLUs", "self.linear2(self.linear1(x).relu())",
    "self.linear2(self.linear1(x).relu()).relu()",
    says="There is one ReLU too many: between the layers is right, after linear2 there is none.")
transformer_in_steps.mutant("ReLUFirst", "self.linear1(x).relu()", "self.linear1(x.relu())",
    says="ReLU came before linear1. It belongs between the two layers, on the d_ff hidden entries.")
transformer_in_steps.mutant("GELUInstead", "self.linear1(x).relu()", "functional.gelu(self.linear1(x))",
    says="The activation is GELU, as in GPT-2. This block uses ReLU.")
transformer_in_steps.mutant("MaskIgnored", "self.attention(x, mask=mask)", "self.attention(x)", hint=2,
    says="The mask had no effect: it was not passed on to the attention.")
transformer_in_steps.mutant("MaskInverted", "mask=mask", "mask=None if mask is None else ~mask",
    says="The mask was inverted on its way. True already means \"may attend\" for both modules: pass it on as it "
    "is.")
transformer_in_steps.mutant("MaskAsKey", "self.attention(x, mask=mask)", "self.attention(x, mask)", hint=2,
    says="The mask was passed in a place where the attention takes its key or its value. Pass it by its name.")
transformer_in_steps.mutant("AlwaysCausal", method="attend", body="""
    causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
    return self.attention(x, mask=causal if mask is None else mask & causal)[0]""",
    says="Positions saw no later ones although no mask was passed in. Whether to be causal is up to the caller.")
transformer_in_steps.mutant("CausalByDefault", method="attend", body="""
    causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
    return self.attention(x, mask=causal if mask is None else mask)[0]""",
    says="Without a mask, positions saw no later ones. None means that everything may be attended to.")
transformer_in_steps.mutant("HeadAxisAdded", "mask=mask", "mask=None if mask is None else mask.unsqueeze(1)",
    says="The mask got another axis before it was passed on. The attention takes masks with two, three or four axes "
    "as they are.")
transformer_in_steps.mutant("KeyNotNormed", "self.attend(self.norm1(x), mask)",
    "self.attention(self.norm1(x), x, x, mask)[0]", hint=1, says="Only the query was normalized: keys and values "
    "came from x itself. In self-attention all three read norm1(x).")
transformer_in_steps.mutant("ValueNotNormed", hint=1, method="first", body="""
    n = self.norm1(x)
    return x + self.drop(self.attention(n, n, x, mask)[0])""",
    says="The values came from x itself. In self-attention queries, keys and values all come from norm1(x).")
transformer_in_steps.mutant("PairAdded", "self.drop(self.attend(self.norm1(x), mask))",
    "self.attention(self.norm1(x), mask=mask)", hint=2,
    says="It stopped when x met a tuple: the attention returns two things, the output and the weights or None.")
transformer_in_steps.mutant("PairDropped", "self.attend(self.norm1(x), mask)",
    "self.attention(self.norm1(x), mask=mask)", hint=2, says="It stopped in dropout, which was given a tuple. The "
    "attention returns a pair, and the first of it is the output.")
transformer.mutant("PairReturned", hint=2, code="""
    class TransformerBlock(Block):

        def forward(self, x, mask=None):
            return (super().forward(x, mask), None)""",
    says="A tuple came back. Unlike the attention, the block returns one tensor, without weights.")
transformer_in_steps.mutant("WeightsAdded", "self.drop(self.attend(self.norm1(x), mask))",
    "self.attention(self.norm1(x), mask=mask)[1]", hint=2,
    says="It stopped when None was to be added: the output is the FIRST thing that the attention returns.")
transformer_in_steps.mutant("WeightsDropped", "self.attend(self.norm1(x), mask)",
    "self.attention(self.norm1(x), mask=mask)[1]", hint=2, says="It stopped in dropout, which was given None: of the "
    "two things that the attention returns, the output is the first.")
transformer_in_steps.mutant("NormWithoutItsWeights",
    "return x + self.drop(self.attend(self.norm1(x), mask))",
    """
    n = functional.layer_norm(x, x.shape[-1:])
    return x + self.drop(self.attend(n, mask))""",
    "return x + self.drop(self.feed(self.norm2(x)))",
    """
    n = functional.layer_norm(x, x.shape[-1:])
    return x + self.drop(self.feed(n))""",
    says="x was normalized without the norms' own weights and biases. Call the modules norm1 and norm2.")
transformer_in_steps.mutant("SiLUInstead", "self.linear1(x).relu()", "functional.silu(self.linear1(x))",
    says="The activation is SiLU. This block uses ReLU.")
transformer_in_steps.mutant("NothingReturned", "return self.second(self.first(x, mask))",
    "self.second(self.first(x, mask))",
    says="It returned None. `forward` ends with a return of x, once both branches have been added.")
transformer_in_steps.mutant("MaskOfNumbers", "mask=mask", "mask=None if mask is None else mask.to(x.dtype)",
    says="It stopped because the mask had become numbers. The attention wants it as it comes, True and False.")
transformer_in_steps.mutant("Parallel", "self.second(self.first(x, mask))",
    "x + self.drop(self.attend(self.norm1(x), mask)) + self.second(x) - x", hint=1,
    says="Both branches read the same x. The feed-forward network should read the sum of x and attention.")
transformer_in_steps.mutant("AddedToTheOldX", "self.second(self.first(x, mask))",
    "x + self.drop(self.feed(self.norm2(self.first(x, mask))))", hint=1,
    says="The network's output was added to the x that came in, so what attention added is lost. Add it to the sum.")
transformer_in_steps.mutant("SumNotRead", hint=1, method="forward", body="""
    a = self.drop(self.attend(self.norm1(x), mask))
    return x + a + self.drop(self.feed(self.norm2(a)))""",
    says="The network read norm2 of attention's output without x. It should read the sum of the two.")
transformer_in_steps.mutant("NormedXAgain", hint=1, method="forward", body="""
    n = self.norm1(x)
    return x + self.drop(self.attend(n, mask)) + self.drop(self.feed(n))""",
    says="The network read norm1(x), which was computed before attention. It reads norm2 of the sum.")
transformer_in_steps.mutant("NetworkFirst", "self.second(self.first(x, mask))", "self.first(self.second(x), mask)",
    says="The feed-forward network came before attention. Attention comes first.")
transformer_in_steps.mutant("NetworkMissing", "self.second(self.first(x, mask))", "self.first(x, mask)", hint=1,
    says="The second half is missing: the feed-forward network was not applied, or its result was not used.")
transformer_in_steps.mutant("AttentionMissing", "self.first(x, mask)", "x", hint=1,
    says="The attention was never called, or its result was not used: positions do not see one another.")
transformer_in_steps.mutant("ResidualAtTheVeryEnd", hint=1, method="forward", body="""
    a = self.drop(self.attend(self.norm1(x), mask))
    return x + self.drop(self.feed(self.norm2(a)))""",
    says="x was added once, around both branches together. Each branch has its own residual connection.")
transformer.mutant("AddedTwice", hint=1, code="""
    class TransformerBlock(Block):

        def forward(self, x, mask=None):
            return x + super().forward(x, mask)""",
    says="x was added twice: once around each branch, and once more at the end.")
transformer_in_steps.mutant("InPlace", method="first", body="""
    x += self.drop(self.attend(self.norm1(x), mask))
    return x""", says="x was changed in place, by += or the like. The caller still needs it, and so does autograd: "
    "make a new tensor.")
transformer.mutant("CutOff", code="""
    class TransformerBlock(Block):

        def forward(self, x, mask=None):
            return super().forward(x.detach(), mask)""",
    says="The values are right, but no gradient reaches x: somewhere the result is detached from it.")
transformer_in_steps.mutant("ResidualCutOff", "x + self.drop(self.attend(self.norm1(x),",
    "x.detach() + self.drop(self.attend(self.norm1(x),",
    says="The values are right, but the gradient of x lacks the direct path: the residual connection was detached.")
transformer_in_steps.mutant("AlwaysDropping", "functional.dropout(x, self.p, self.training)",
    "functional.dropout(x, self.p)", hint=3, says="Dropout acts in eval mode too: `functional.dropout` assumes "
    "training. Use nn.Dropout, or pass self.training.")
transformer_in_steps.mutant("NoDropoutOnBranches", "return functional.dropout(x, self.p, self.training)", "return x",
    hint=3, says="In training, dropout acts on the attention weights alone. It also acts on what each branch adds.")
transformer_in_steps.mutant("NoDropoutOnTheNetwork", "self.drop(self.feed(self.norm2(x)))", "self.feed(self.norm2(x))",
    hint=3, says="In training, what the feed-forward network adds is not dropped. Dropout acts on both branches.")
transformer_in_steps.mutant("NoDropoutOnAttention", "self.drop(self.attend(self.norm1(x), mask))",
    "self.attend(self.norm1(x), mask)", hint=3, says="In training, what attention adds is not dropped. Dropout "
    "inside the attention is on its weights, not on its output.")
transformer_in_steps.mutant("NoDropoutOnWeights",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = MultiHeadAttention(d_model, num_heads)""",
    says="Dropout does not act on the attention weights: `dropout` was not passed to MultiHeadAttention.")
transformer_in_steps.mutant("NoDropoutAnywhere",
    "super().__init__()",
    """
    dropout = 0.0
    super().__init__()""", hint=3,
    says="The argument `dropout` has no effect. It goes to the attention and acts on what each branch adds.")
transformer_in_steps.mutant("DroppedAfterAdding", "x + self.drop(self.attend(self.norm1(x),",
    "self.drop(x + self.attend(self.norm1(x),", "x + self.drop(self.feed(self.norm2(x)))",
    "self.drop(x + self.feed(self.norm2(x)))", hint=3, says="Dropout acts on the sum, so the residual stream itself "
    "loses entries. Drop what a branch adds, before adding.")
transformer_in_steps.mutant("DroppedOnTheWayIn", "self.drop(self.attend(self.norm1(x), mask))",
    "self.attend(self.drop(self.norm1(x)), mask)", "self.drop(self.feed(self.norm2(x)))",
    "self.feed(self.drop(self.norm2(x)))", hint=3,
    says="Dropout acts on what goes into the branches. It acts on what comes out of them, before it is added.")
transformer_in_steps.mutant("DroppedInsideTheNetwork", "self.drop(self.feed(self.norm2(x)))",
    "self.linear2(self.drop(self.linear1(self.norm2(x)).relu()))", hint=3,
    says="Dropout acts between linear1 and linear2, and not on what the network adds. It belongs after linear2.")
transformer_in_steps.mutant("DroppedTwice", "self.linear1(x).relu()", "self.drop(self.linear1(x).relu())", hint=3,
    says="In training, what the network adds is neither 0 nor its output scaled up. Does dropout act between linear1 "
    "and linear2 too, or does the network not read the sum that dropout left?")
transformer_in_steps.mutant("ShareThatIsKept", "self.p, self.training)", "1 - self.p, self.training)",
    says="dropout was used as the probability of keeping an entry. It is the probability of setting it to 0.")
transformer_in_steps.mutant("FixedDropout", "functional.dropout(x, self.p, self.training)",
    "functional.dropout(x, 0.5, self.training)", says="The branches are dropped with a fixed probability, such as "
    "nn.Dropout's default. Use the argument `dropout`.")
transformer_in_steps.mutant("DropoutByPosition",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = MultiHeadAttention(d_model, num_heads, dropout)""",
    says="It stopped in `__init__`: MultiHeadAttention takes two arguments by position, and dropout by its name.")
transformer_in_steps.mutant("HeadsAndWidthSwapped",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = MultiHeadAttention(num_heads, d_model, dropout=dropout)""",
    says="The attention has the wrong sizes. Its arguments are d_model, then num_heads.")
transformer_in_steps.mutant("OneHead",
    "super().__init__()",
    """
    num_heads = 1
    super().__init__()""",
    says="num_heads has no effect: the attention has another number of heads than was asked for.")
transformer_in_steps.mutant("OverTheBatch", "self.attention(x, mask=mask)[0]",
    "self.attention(x.transpose(0, 1), mask=mask)[0].transpose(0, 1)", says="Attention ran over the sentences: two "
    "axes were swapped on the way in. MultiHeadAttention takes (B, L, E) as it is.")
transformer_in_steps.mutant("NetworkOfFixedSize",
    "super().__init__()",
    """
    d_ff = 4 * d_model
    super().__init__()""",
    says="linear1 and linear2 ignore d_ff: the hidden size is four times d_model, whatever was asked for.")
transformer_in_steps.mutant("NetworkWithoutHidden",
    "super().__init__()",
    """
    d_ff = d_model
    super().__init__()""",
    says="linear1 and linear2 go from d_model to d_model. The hidden entries between them are d_ff.")
transformer_in_steps.mutant("LinearsSwapped",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.linear1, self.linear2 = (self.linear2, self.linear1)""",
    "self.linear2(self.linear1(x).relu())",
    "self.linear1(self.linear2(x).relu())",
    says="linear1 and linear2 are swapped: linear1 goes from d_model to d_ff, linear2 back.")
transformer_in_steps.mutant("LinearsWithoutBias",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.linear1 = nn.Linear(d_model, d_ff, bias=False)
    self.linear2 = nn.Linear(d_ff, d_model, bias=False)""",
    says="linear1 and linear2 have no bias. The docstring's nn.Linear has one: leave `bias` at its default.")
transformer_in_steps.mutant("AttentionWithBias",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout, bias=True)""",
    says="The attention has biases that nobody asked for. Leave MultiHeadAttention's `bias` at its default.")
transformer_in_steps.mutant("NetworkInSequential",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)
    del self.linear1, self.linear2""",
    "self.linear2(self.linear1(x).relu())",
    "self.feed_forward(x)", hint=3, says="The feed-forward network is a Sequential, so its layers have other names. "
    "Make linear1 and linear2 attributes of the block.")
transformer_in_steps.mutant("PyTorchsAttention",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)""",
    "self.attention(x, mask=mask)",
    "self.attention(x, x, x, attn_mask=mask)", says="The attention is nn.MultiheadAttention, whose parameters and "
    "masks differ. Use MultiHeadAttention of lesson 6.")
transformer.mutant("PyTorchsLayer", hint=3, code="""
    class TransformerBlock(nn.TransformerEncoderLayer):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True)""",
    says="This is PyTorch's own layer, whose parts have other names. Build the block from the layers that the "
    "docstring lists.")
transformer.mutant("LayersInForward", code="""
    class TransformerBlock(Block):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            nn.Module.__init__(self)
            self.sizes, self.p = ((d_model, num_heads, d_ff), dropout)

        def forward(self, x, mask=None):
            block = Block(*self.sizes, dropout=self.p).to(x.dtype).train(self.training)
            return block(x, mask)""", says="The layers are made in `forward`, so each call has new random weights "
    "and nothing can be learned. Make them in `__init__`.")
transformer.mutant("LayersInAList", code="""
    class TransformerBlock(Block):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout=dropout)
            self.layers = [dict(self._modules)]
            self._modules.clear()

        def __getattr__(self, name):
            layers = self.__dict__.get('layers')
            if layers and name in layers[0]:
                return layers[0][name]
            return super().__getattr__(name)""", says="No parameters are registered: nn.Module does not see layers "
    "in a plain list or dictionary. Store each one as an attribute.")
transformer.mutant("LayersShared", code="""
    class TransformerBlock(Block):
        made: ClassVar = {}

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout=dropout)
            layers = (self.linear1, self.linear2)
            layers = self.made.setdefault((d_model, d_ff), layers)
            self.linear1, self.linear2 = layers""",
    says="Two blocks share their layers, so training one changes the other. Make new layers in each `__init__`.")
transformer.mutant("InitForgotten", "super().__init__", "super", says="It stopped because `super().__init__()` is "
    "missing or comes too late: a module cannot hold layers before it.")
transformer_in_steps.mutant("Frozen", method="first", body="""
    with torch.no_grad():
        a = self.attend(self.norm1(x), mask)
    return x + self.drop(a)""", says="The norms or layers do not learn: their parameters have requires_grad turned "
    "off, or are used under no_grad.")

decoder = solution("DecoderBlock")
decoder_in_steps = solution("DecoderBlock", spelled="""
    class DecoderBlock(nn.Module):

        def __init__(self, d_model: int, num_heads: int, d_ff: int, *, dropout: float=0.0) -> None:
            super().__init__()
            self.p = dropout
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
            self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
            self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))

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

        def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor | None=None, memory_mask: Tensor | None=None) -> Tensor:
            x = self.second(self.first(x, self_mask), memory, memory_mask)
            return self.third(x)
    """)
decoder_in_steps.mutant("MemoryIgnored", "self.cross_attention(x, memory, mask=mask)", "self.cross_attention(x)",
    hint=2,
    says="The memory had no effect: in cross-attention, keys and values came from x. They come from the memory.")
decoder_in_steps.mutant("QueryFromMemory", "self.cross_attention(x, memory, mask=mask)",
    "self.cross_attention(memory, x, mask=mask)", every=True, hint=2, says="In cross-attention, the queries came "
    "from the memory, so its output is as long as the memory and cannot be added to x. Queries come from x.")
decoder_in_steps.mutant("ValueFromX", "self.cross_attention(x, memory, mask=mask)",
    "self.cross_attention(x, memory, x, mask=mask)", hint=2, says="In cross-attention, the values came from x "
    "although the keys came from the memory. Both come from the memory.")
decoder_in_steps.mutant("KeyFromX", "self.cross_attention(x, memory, mask=mask)",
    "self.cross_attention(x, x, memory, mask=mask)", hint=2, says="In cross-attention, the keys came from x although "
    "the values came from the memory. Both come from the memory.")
decoder.mutant("SelfMaskOnMemory", "mask=memory_mask", "mask=self_mask", hint=3, says="self_mask met the length of "
    "the memory: it was used in cross-attention, or combined with memory_mask. Each mask goes to its own attention.")
decoder.mutant("MasksSwapped", "mask=self_mask", "mask=memory_mask", hint=3,
    says="The masks are swapped: self_mask is for self-attention, memory_mask for cross-attention.")
decoder_in_steps.mutant("MasksIgnored", hint=3, method="forward",
    body="return self.third(self.second(self.first(x, None), memory, None))",
    says="Neither mask had an effect. Each is passed on to its own attention.")
decoder_in_steps.mutant("SelfMaskIgnored", "self.self_attention(x, mask=mask)", "self.self_attention(x)", hint=3,
    says="self_mask had no effect: it was not passed on to self-attention, so positions see later ones.")
decoder.mutant("MemoryMaskIgnored", "memory, mask=memory_mask)", "memory)", hint=3,
    says="memory_mask had no effect: it was not passed on to cross-attention, so padding of the memory is read.")
decoder.mutant("MemoryMaskOnlyWithoutSelfMask", hint=3, code="""
    class DecoderBlock(Decoder):

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self_mask is not None:
                memory_mask = None
            return super().forward(x, memory, self_mask, memory_mask)""", says="With both masks, only one of them "
    "had an effect. They belong to different attentions: pass on each by itself.")
decoder.mutant("BothMasksInverted", code="""
    class DecoderBlock(Decoder):

        def own(self, x, mask):
            return super().own(x, None if mask is None else ~mask)

        def far(self, x, memory, mask):
            return super().far(x, memory, None if mask is None else ~mask)""", says="The masks were inverted. True "
    "means \"may attend\", here and in MultiHeadAttention: pass them on as they are.")
decoder.mutant("MemoryMaskInverted", code="""
    class DecoderBlock(Decoder):

        def far(self, x, memory, mask):
            return super().far(x, memory, None if mask is None else ~mask)""",
    says="memory_mask was inverted, so cross-attention read the padding alone. True means \"may attend\".")
decoder.mutant("SelfMaskInverted", code="""
    class DecoderBlock(Decoder):

        def own(self, x, mask):
            return super().own(x, None if mask is None else ~mask)""",
    says="self_mask was inverted, so positions saw later ones alone. True means \"may attend\".")
decoder_in_steps.mutant("MaskAsSecondArgument", "self.self_attention(x, mask=mask)", "self.self_attention(x, mask)",
    says="self_mask was passed as the attention's second argument, which is the key. Pass it by its name.")
decoder_in_steps.mutant("MaskAsThirdArgument", "self.cross_attention(x, memory, mask=mask)",
    "self.cross_attention(x, memory, mask)",
    says="memory_mask was passed as the attention's third argument, which is the value. Pass it by its name.")
decoder.mutant("CausalByItself", code="""
    class DecoderBlock(Decoder):

        def own(self, x, mask):
            causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
            return super().own(x, causal if mask is None else mask)""",
    says="Without self_mask, positions saw no later ones. A mask is only what the caller passes in.")
decoder.mutant("CausalOverMemory", hint=3, code="""
    class DecoderBlock(Decoder):

        def far(self, x, memory, mask):
            causal = torch.ones(x.size(1), memory.size(1), dtype=torch.bool).tril()
            return super().far(x, memory, causal if mask is None else mask & causal)""", says="Cross-attention was "
    "causal: early positions saw little of the memory. It is complete, and all of it may be read.")
decoder.mutant("MemoryNormalized", hint=2, code="""
    class DecoderBlock(Decoder):

        def second(self, x, memory, mask):
            return super().second(x, self.norm2(memory), mask)""",
    says="The memory went through norm2. The encoder has already normalized it: only x does.")
decoder_in_steps.mutant("MemoryNormalizedOnly", "self.far(self.norm2(x), memory, mask)",
    "self.far(x, self.norm2(memory), mask)", every=True, hint=2,
    says="norm2 was applied to the memory instead of x. It belongs on x, which asks; the memory stays as it is.")
decoder.mutant("MemoryThroughThirdNorm", hint=2, code="""
    class DecoderBlock(Decoder):

        def second(self, x, memory, mask):
            return super().second(x, self.norm3(memory), mask)""", says="The memory went through norm3, which "
    "belongs to the feed-forward network. The memory is not normalized again.")
decoder.mutant("MemoryThroughFirstNorm", hint=2, code="""
    class DecoderBlock(Decoder):

        def second(self, x, memory, mask):
            return super().second(x, self.norm1(memory), mask)""",
    says="The memory went through norm1, which belongs to self-attention. The memory is not normalized again.")
decoder_in_steps.mutant("OnlySelfAttentionRead", hint=2, method="forward", body="""
    a = self.drop(self.own(self.norm1(x), self_mask))
    b = self.drop(self.far(self.norm2(a), memory, memory_mask))
    return self.third(x + a + b)""",
    says="Cross-attention read what self-attention added, without x. Its queries come from the sum of the two.")
decoder.mutant("AxesForTheMemoryMask", code="""
    class DecoderBlock(Decoder):

        def far(self, x, memory, mask):
            mask = None if mask is None else mask[:, None, None]
            return super().far(x, memory, mask)""", says="memory_mask got more axes before it was passed on. The "
    "attention takes masks with two, three or four axes as they are.")
decoder_in_steps.mutant("CrossFirst", "self.second(self.first(x, self_mask), memory, memory_mask)",
    "self.first(self.second(x, memory, memory_mask), self_mask)", hint=1,
    says="Cross-attention came before self-attention, each with its own norm. Self-attention comes first.")
decoder_in_steps.mutant("CrossFirstWithFirstNorm", "self.second(self.first(x, self_mask), memory, memory_mask)",
    "x + self.drop(self.far(self.norm1(x), memory, memory_mask))", "self.third(x)",
    "self.third(x + self.drop(self.own(self.norm2(x), self_mask)))", hint=1,
    says="Cross-attention came before self-attention, with norm1 in front of it. Self-attention is the first branch.")
decoder_in_steps.mutant("CrossLast", "self.second(self.first(x, self_mask), memory, memory_mask)",
    "self.third(self.first(x, self_mask))", "self.third(x)", "self.second(x, memory, memory_mask)", hint=1,
    says="Cross-attention came last. The order is self-attention, cross-attention, feed-forward network.")
decoder_in_steps.mutant("NetworkBeforeCross", hint=1, method="forward", body="""
    x = self.first(x, self_mask)
    x = x + self.drop(self.feed(self.norm2(x)))
    return x + self.drop(self.far(self.norm3(x), memory, memory_mask))""", says="The feed-forward network came "
    "before cross-attention, with norm2 in front. It is the last branch, with norm3.")
decoder_in_steps.mutant("LaterNormsSwapped", "self.far(self.norm2(x), memory, mask)",
    "self.far(self.norm3(x), memory, mask)", "self.feed(self.norm3(x))", "self.feed(self.norm2(x))",
    says="norm2 and norm3 are swapped: norm2 precedes cross-attention, norm3 the feed-forward network.")
decoder_in_steps.mutant("EarlyNormsSwapped", "self.own(self.norm1(x), mask)", "self.own(self.norm2(x), mask)",
    "self.far(self.norm2(x), memory, mask)", "self.far(self.norm1(x), memory, mask)",
    says="norm1 and norm2 are swapped: norm1 precedes self-attention, norm2 cross-attention.")
decoder_in_steps.mutant("FirstNormTwice", "self.norm2(x)", "self.norm1(x)",
    says="norm1 was used in front of cross-attention too. Each of the three branches has a norm of its own number.")
decoder_in_steps.mutant("SecondNormTwice", "self.norm3(x)", "self.norm2(x)",
    says="norm2 was used in front of the feed-forward network, and norm3 never. Each branch has a norm of its own.")
decoder_in_steps.mutant("FirstNormEverywhere", "self.norm2(x)", "self.norm1(x)", "self.norm3(x)", "self.norm1(x)",
    says="norm1 was used in front of all three branches. norm2 and norm3 are for the other two.")
decoder_in_steps.mutant("QueryNotNormalized", "self.norm2(x)", "x", hint=2,
    says="norm2 is missing: cross-attention read x as it was.")
decoder_in_steps.mutant("ThirdNormMissing", "self.norm3(x)", "x",
    says="norm3 is missing: the feed-forward network read the sum as it was.")
decoder_in_steps.mutant("FirstNormForgotten", "self.norm1(x)", "x",
    says="norm1 is missing: self-attention read x as it was.")
decoder_in_steps.mutant("AllNormsMissing", method="forward", body="""
    x = x + self.drop(self.own(x, self_mask))
    x = x + self.drop(self.far(x, memory, memory_mask))
    return x + self.drop(self.feed(x))""",
    says="None of the three norms was used. Each precedes the branch of its number.")
decoder_in_steps.mutant("NormsAfterwards", method="forward", body="""
    x = self.norm1(x + self.drop(self.own(x, self_mask)))
    x = self.norm2(x + self.drop(self.far(x, memory, memory_mask)))
    return self.norm3(x + self.drop(self.feed(x)))""",
    says="This is post-norm: the norms came after the additions. Each belongs in front of its branch.")
decoder_in_steps.mutant("NormsKept", method="forward", body="""
    x = self.norm1(x)
    x = x + self.drop(self.own(x, self_mask))
    x = self.norm2(x)
    x = x + self.drop(self.far(x, memory, memory_mask))
    x = self.norm3(x)
    return x + self.drop(self.feed(x))""", says="The branches were added to the normalized x. The residual stream is "
    "x itself, and only branches read its norm.")
decoder.mutant("NoResiduals", "x + self.dropout(self.self_attention(self.norm1(x),",
    "self.dropout(self.self_attention(self.norm1(x),", "x + self.dropout(cross)", "self.dropout(cross)",
    "x + self.dropout(self.linear2(hidden))", "self.dropout(self.linear2(hidden))",
    says="There are no residual connections: each branch replaced what came in. It should be added to what came in.")
decoder_in_steps.mutant("CrossNotAdded", "x + self.drop(self.far(self.norm2(x),", "self.drop(self.far(self.norm2(x),",
    says="The output of cross-attention replaced x. It is added to x, like that of the other branches.")
decoder_in_steps.mutant("SelfNotAdded", "x + self.drop(self.own(self.norm1(x), mask))",
    "self.drop(self.own(self.norm1(x), mask))",
    says="The output of self-attention replaced x. It is added to x, like that of the other branches.")
decoder_in_steps.mutant("LastNotAdded", "x + self.drop(self.feed(self.norm3(x)))",
    "self.drop(self.feed(self.norm3(x)))",
    says="The feed-forward network's output was returned on its own. The last residual connection is missing.")
decoder_in_steps.mutant("CrossAddedToTheOldX", "x = self.second(self.first(x, self_mask), memory, memory_mask)",
    "n = self.norm2(self.first(x, self_mask))", "self.third(x)",
    "self.third(x + self.drop(self.far(n, memory, memory_mask)))",
    says="Cross-attention was added to the x that came in, so what self-attention added is lost. Add it to the sum.")
decoder_in_steps.mutant("QueryFromTheOldX", hint=2, method="forward", body="""
    a = self.drop(self.own(self.norm1(x), self_mask))
    b = self.drop(self.far(self.norm2(x), memory, memory_mask))
    return self.third(x + a + b)""",
    says="Cross-attention read the x that came in. Its queries come from the sum that self-attention was added to.")
decoder_in_steps.mutant("QueryFromTheFirstNorm", hint=2, method="forward", body="""
    n = self.norm1(x)
    x = x + self.drop(self.own(n, self_mask))
    return self.third(x + self.drop(self.far(n, memory, memory_mask)))""",
    says="Cross-attention read norm1(x), computed before self-attention. Its queries are norm2 of the sum.")
decoder.mutant("CrossNormKept", code="""
    class DecoderBlock(Decoder):

        def second(self, x, memory, mask):
            return super().second(x, memory, mask) - x + self.norm2(x)""",
    says="Cross-attention was added to norm2(x) instead of x. The residual stream is x, which no norm has touched.")
decoder_in_steps.mutant("CrossPostNorm", "x + self.drop(self.far(self.norm2(x), memory, mask))",
    "self.norm2(x + self.drop(self.far(x, memory, mask)))", hint=2,
    says="norm2 came after cross-attention was added. It belongs in front, on what asks.")
decoder_in_steps.mutant("BranchesInParallel", hint=1, method="forward", body="""
    a = self.drop(self.own(self.norm1(x), self_mask))
    b = self.drop(self.far(self.norm2(x), memory, memory_mask))
    return self.third(x) + a + b""",
    says="Each branch alone is right, but all three read the same x. Each reads the sum that the one before it left.")
decoder.mutant("MemoryDropped", code="""
    class DecoderBlock(Decoder):

        def far(self, x, memory, mask):
            return super().far(x, self.drop(memory), mask)""",
    says="Dropout acts on the memory too. It acts on attention weights and on what each branch adds.")
decoder_in_steps.mutant("MemoryCut", "self.cross_attention(x, memory, mask=mask)",
    "self.cross_attention(x, memory[:, :x.size(1)])", hint=2,
    says="Only a part of the memory was read, as much as x is long. Cross-attention may read all of it.")
decoder_in_steps.mutant("MemoryAveraged", "memory, mask=mask)", "memory.mean(dim=1, keepdim=True))", hint=2,
    says="The memory was averaged before it was read. Cross-attention chooses among its positions: pass it on whole.")
decoder.mutant("NetworkTwice", hint=1, code="""
    class DecoderBlock(Decoder):

        def second(self, x, memory, mask):
            return super().second(self.third(x), memory, mask)""",
    says="The feed-forward network was applied after each attention. It comes once, as the last branch.")
decoder.mutant("NoReturn", code="""
    class DecoderBlock(Decoder):

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            super().forward(x, memory, self_mask, memory_mask)""",
    says="It returned None. `forward` ends with a return of x, once all three branches have been added.")
decoder_in_steps.mutant("SelfAttentionTwice", "self.cross_attention(x, memory, mask=mask)",
    "self.self_attention(x, memory, mask=mask)", hint=2,
    says="self_attention was called for the memory too. Cross-attention has a layer with weights of its own.")
decoder_in_steps.mutant("AttentionsSwapped", "self.self_attention(x, mask=mask)", "self.cross_attention(x, mask=mask)",
    "self.cross_attention(x, memory, mask=mask)", "self.self_attention(x, memory, mask=mask)", hint=2,
    says="self_attention and cross_attention are swapped: cross_attention is the one that reads the memory.")
decoder_in_steps.mutant("BothReadTheMemory", hint=1, method="forward", body="""
    n = self.norm1(x)
    x = x + self.drop(self.self_attention(n, memory, mask=memory_mask)[0])
    return self.third(self.second(x, memory, memory_mask))""",
    says="Both attentions read the memory. In self-attention, queries, keys and values all come from x.")
decoder_in_steps.mutant("OneAttentionObject",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.cross_attention = self.self_attention""",
    says="self_attention and cross_attention are one object, so they share their weights. Make two.")
decoder_in_steps.mutant("CrossMissing", "return x + self.drop(self.far(self.norm2(x), memory, mask))", "return x",
    hint=1, says="Nothing of the memory reached the output: cross-attention is missing, or its result was not used.")
decoder_in_steps.mutant("SelfMissing", "return x + self.drop(self.own(self.norm1(x), mask))", "return x", hint=1,
    says="Self-attention is missing, or its result was not used: positions of x never see one another.")
decoder_in_steps.mutant("FeedForwardMissing", "return x + self.drop(self.feed(self.norm3(x)))", "return x", hint=1,
    says="The feed-forward network is missing: the block returned what cross-attention left.")
decoder.mutant("MemoryAdded", "self.norm3(x)", "self.norm3(memory)", hint=2, says="It stopped when the memory was "
    "added to x: they differ in length. Only cross-attention brings them together.")
decoder_in_steps.mutant("OneLongSequence", hint=2, method="forward", body="""
    n = self.norm1(x)
    joined = torch.cat([n, memory], dim=1)
    x = x + self.drop(self.self_attention(n, joined)[0])
    return self.third(self.second(x, memory, memory_mask))""", says="x and memory were joined into one sequence. "
    "Here each has its own attention, and keys of cross-attention are the memory's alone.")
decoder_in_steps.mutant("ActivationMissing", "self.linear1(x).relu()", "self.linear1(x)",
    says="There is no ReLU between linear1 and linear2.")
decoder_in_steps.mutant("AnotherActivation", "self.linear1(x).relu()", "functional.gelu(self.linear1(x))",
    says="The activation is GELU. The layers are built as in TransformerBlock, with ReLU between.")
decoder_in_steps.mutant("ActivationLast", "self.linear2(self.linear1(x).relu())",
    "self.linear2(self.linear1(x)).relu()",
    says="ReLU came after linear2. It belongs between the two linear layers, as in TransformerBlock.")
decoder_in_steps.mutant("TupleAdded", "self.second(self.first(x, self_mask), memory, memory_mask)",
    "x + self.self_attention(self.norm1(x), mask=self_mask)", "self.third(x)",
    "x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)",
    says="It stopped when x met a tuple: each attention returns a pair, the output and the weights or None.")
decoder_in_steps.mutant("TupleDropped", "self.own(self.norm1(x), mask)",
    "self.self_attention(self.norm1(x), mask=mask)", says="It stopped in dropout, which was given a tuple: take the "
    "first of the two things that an attention returns.")
decoder.mutant("MemoryReturned", code="""
    class DecoderBlock(Decoder):

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            return (super().forward(x, memory, self_mask, memory_mask), memory)""",
    says="A tuple came back. The block returns x alone, and the memory stays with the caller.")
decoder_in_steps.mutant("WrittenInPlace", method="first", body="""
    x += self.drop(self.own(self.norm1(x), mask))
    return x""", says="x was changed in place, by += or the like. The caller still needs it: make a new tensor.")
decoder.mutant("MemoryDetached", code="""
    class DecoderBlock(Decoder):

        def far(self, x, memory, mask):
            return super().far(x, memory.detach(), mask)""", says="The output is right, but no gradient reaches the "
    "memory: the encoder would learn nothing. Leave out detach.")
decoder_in_steps.mutant("DroppingInEval", "functional.dropout(x, self.p, self.training)",
    "functional.dropout(x, self.p)",
    says="Dropout acts in eval mode too: `functional.dropout` has to be told about self.training. nn.Dropout knows.")
decoder_in_steps.mutant("BranchesNotDropped", "return functional.dropout(x, self.p, self.training)", "return x",
    says="In training, dropout acts on attention weights alone. As in TransformerBlock, it also acts on what each "
    "branch adds.")
decoder_in_steps.mutant("CrossNotDropped", "self.drop(self.far(self.norm2(x), memory, mask))",
    "self.far(self.norm2(x), memory, mask)",
    says="In training, what cross-attention adds is not dropped. Dropout acts on all three branches.")
decoder_in_steps.mutant("SelfNotDropped", "self.drop(self.own(self.norm1(x), mask))", "self.own(self.norm1(x), mask)",
    says="In training, what self-attention adds is not dropped. Dropout acts on all three branches.")
decoder_in_steps.mutant("AttentionsNotDropped", "self.drop(self.own(self.norm1(x), mask))",
    "self.own(self.norm1(x), mask)", "self.drop(self.far(self.norm2(x), memory, mask))",
    "self.far(self.norm2(x), memory, mask)",
    says="In training, only the feed-forward network's output is dropped. What the attentions add is dropped too.")
decoder_in_steps.mutant("NetworkNotDropped", "self.drop(self.feed(self.norm3(x)))", "self.feed(self.norm3(x))",
    says="In training, what the feed-forward network adds is not dropped. Dropout acts on all three branches.")
decoder_in_steps.mutant("SumsDropped", method="forward", body="""
    x = self.drop(x + self.own(self.norm1(x), self_mask))
    x = self.drop(x + self.far(self.norm2(x), memory, memory_mask))
    return self.drop(x + self.feed(self.norm3(x)))""",
    says="Dropout acts on the sums, so x itself loses entries. Drop what a branch adds, before it is added.")
decoder_in_steps.mutant("HiddenDropped", "self.linear1(x).relu()", "self.drop(self.linear1(x).relu())",
    says="In training, the network's part is neither dropped nor scaled up as a whole. Does dropout act between "
    "linear1 and linear2 too, or on what the network reads?")
decoder_in_steps.mutant("WeightsNotDropped",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.self_attention = MultiHeadAttention(d_model, num_heads)
    self.cross_attention = MultiHeadAttention(d_model, num_heads)""",
    says="Dropout does not act on attention weights: `dropout` was not passed to either MultiHeadAttention.")
decoder_in_steps.mutant("CrossWeightsNotDropped",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.cross_attention = MultiHeadAttention(d_model, num_heads)""",
    says="Dropout does not act on the weights of one attention: pass `dropout` to both of them.")
decoder_in_steps.mutant("NothingDropped",
    "super().__init__()",
    """
    dropout = 0.0
    super().__init__()""",
    says="The argument `dropout` has no effect in training. It goes to both attentions and acts on every branch.")
decoder_in_steps.mutant("ThirdNormNotMade",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    del self.norm3""",
    "self.norm3(x)",
    "self.norm2(x)", hint=1, says="There is no norm3. Three branches need three norms.")
decoder.mutant("MemoryNorm", hint=2, code="""
    class DecoderBlock(Decoder):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout=dropout)
            self.norm4 = nn.LayerNorm(d_model)

        def far(self, x, memory, mask):
            return super().far(x, self.norm4(memory), mask)""",
    says="There is a fourth norm. Three precede the branches, and the memory needs none.")
decoder_in_steps.mutant("BuiltOnTheBlock",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = self.self_attention
    del self.self_attention""",
    "self.self_attention(x, mask=mask)",
    "self.attention(x, mask=mask)", says="Self-attention is called `attention`, as in TransformerBlock. Here it is "
    "self_attention: saved weights are found by these names.")
decoder_in_steps.mutant("AttentionLeftOver",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)""", says="There are parameters that no "
    "branch uses: `attention` of TransformerBlock. A decoder block has two attentions.")
decoder_in_steps.mutant("DropoutWithoutItsName",
    "self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))",
    """
    self.linear1, self.linear2 = (nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
    self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)""",
    says="It stopped in `__init__`: pass dropout to MultiHeadAttention by its name, as in TransformerBlock.")
decoder.mutant("BlockInside", code="""
    class DecoderBlock(nn.Module):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__()
            self.block = Block(d_model, num_heads, d_ff, dropout=dropout)
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
            self.norm3 = nn.LayerNorm(d_model)

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = self.block(x, self_mask)
            return x + self.cross_attention(self.norm3(x), memory, mask=memory_mask)[0]""", says="A TransformerBlock "
    "is a part of it, which brings a feed-forward network of its own. List the seven layers instead.")
decoder.mutant("LayersOfOneModel", code="""
    class DecoderBlock(Decoder):
        made: ClassVar = {}

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout=dropout)
            layers = (self.linear1, self.linear2)
            layers = self.made.setdefault((d_model, d_ff), layers)
            self.linear1, self.linear2 = layers""",
    says="Two decoder blocks share their layers. Make new ones in each `__init__`.")
decoder_in_steps.mutant("HiddenSizeIgnored",
    "super().__init__()",
    """
    d_ff = 4 * d_model
    super().__init__()""", says="linear1 and linear2 ignore d_ff, the size between them.")
decoder.mutant("PyTorchsDecoder", code="""
    class DecoderBlock(nn.TransformerDecoderLayer):

        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.0):
            super().__init__(d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True)""",
    says="This is PyTorch's own decoder layer, whose parts have other names. Build the block from the seven layers.")

greedy = solution("greedy_decode")
greedy.mutant("position_0", "step(tokens)[:, -1]", "step(tokens)[:, 0]", hint=2,
    says="All tokens of a sentence are the same: position 0 was read each time, or step was given the start token "
    "alone. Append each token, and read the last position.")
greedy.mutant("position_ahead", "torch.full((batch, 1), start)", "begun(start, batch)", "step(tokens)[:, -1]",
    "step(tokens)[:, _ + 1]", hint=2, says="It stopped because there is no position t + 1 yet. Position t holds the "
    "logits for token t + 1: read the last.")
greedy.mutant("newest_in_front", "torch.full((batch, 1), start)", "begun(start, batch)", "[tokens, best]",
    "[best, tokens]", hint=3,
    says="Each new token was put in front of the others, so `step` read the sentence backward. Append it at the end.")
greedy.mutant("positions_added", hint=2, body="""
    def best(logits):
        return logits.sum(dim=1).argmax(dim=-1, keepdim=True)
    return written(step, start, length, batch, best)[:, 1:]""", says="The logits of all positions were added up or "
    "averaged. Those of the last position alone are for the next token.")
greedy.mutant("last_sentence", body="""
    def best(logits):
        return logits[-1].argmax(dim=-1, keepdim=True)
    return written(step, start, length, batch, best)[:, 1:]""", says="It stopped: an index without a colon in front "
    "picked a sentence, since axis 0 is the batch. Positions are axis 1.")
greedy.mutant("one_number", body="""
    def best(logits):
        return torch.tensor([[logits[:, -1].argmax(dim=-1).item()]])
    return written(step, start, length, batch, best)[:, 1:]""", says="It stopped at `item` or `int`, which take a "
    "single number. There is one best token per sentence: keep them in a tensor.")
greedy.mutant("sampled_sharply", body="""
    def best(logits):
        return torch.multinomial((logits[:, -1] / 0.5).softmax(dim=-1), 1)
    return written(step, start, length, batch, best)[:, 1:]""",
    says="The tokens were sampled, at a low temperature. Greedy decoding draws nothing: it takes the largest logit.")
greedy.mutant("largest_size", body="""
    def best(logits):
        return logits[:, -1].abs().argmax(dim=-1, keepdim=True)
    return written(step, start, length, batch, best)[:, 1:]""",
    says="The logit farthest from zero was taken, even if it was negative. The largest one counts, with its sign.")
greedy.mutant("pair_of_max", body="""
    def best(logits):
        return logits[:, -1].max(dim=-1, keepdim=True)
    return written(step, start, length, batch, best)[:, 1:]""",
    says="It stopped because `max` with a `dim` returns two tensors, values and indices. A token is an index.")
greedy.mutant("last_three", hint=3, body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens[:, -3:]))], dim=1)
    return tokens[:, 1:]""",
    says="step was given the last three tokens. It needs all tokens so far, from the start token on.")
greedy.mutant("nothing_returned", body="written(step, start, length, batch)",
    says="It returned None. After the loop, return the tokens without the start.")
greedy.mutant("start_doubled", hint=1, body="""
    tokens = begun(start, batch).expand(batch, 2)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 2:]""", says="The sentences began with the start token twice. It comes once.")
greedy.mutant("one_position_early", hint=2, body="""
    def best(logits):
        _ = max(logits.size(1) - 2, 0)
        return logits[:, _].argmax(dim=-1, keepdim=True)
    return written(step, start, length, batch, best)[:, 1:]""", says="The logits came from the last position but "
    "one, and those are for a token that is already there. Use the last.")
greedy.mutant("start_included", "tokens[:, 1:]", "tokens[:, 0:]", hint=3,
    says="The start token was returned too. It begins the sentence, but it was not written: leave it out.")
greedy.mutant("start_counted", hint=3, body="return written(step, start, length - 1, batch)", says="The start token "
    "came back as the first of the tokens, and the last one is missing. `length` does not count the start.")
greedy.mutant("one_too_many", body="return written(step, start, length + 1, batch)[:, 1:]",
    says="One token too many was written. `length` says how many there are without the start.")
greedy.mutant("one_too_few", "range(length)", "range(length - 1)", hint=3,
    says="One token too few was written: the start token was counted. `length` says how many there are without it.")
greedy.mutant("first_one_dropped", hint=3, body="return written(step, start, length + 1, batch)[:, 2:]",
    says="The first token is missing, and one too many stands at the end. Only the start token is to be left out.")
greedy.mutant("sampled", body="""
    def best(logits):
        return torch.multinomial(logits[:, -1].softmax(dim=-1), 1)
    return written(step, start, length, batch, best)[:, 1:]""", says="The tokens were sampled, so twice the same "
    "call gives different ones. Greedy decoding takes the largest logit.")
greedy.mutant("smallest", "step(tokens)[:, -1].argmax", "step(tokens)[:, -1].argmin",
    says="The token with the SMALLEST logit was taken.")
greedy.mutant("second_best", body="""
    def best(logits):
        return logits[:, -1].argsort(dim=-1)[:, -2:-1]
    return written(step, start, length, batch, best)[:, 1:]""", says="The token with the second-largest logit was "
    "taken. Sorted from small to large, the largest is the last one.")
greedy.mutant("first_in_the_vocabulary", body="""
    def best(logits):
        return logits[:, -1:].argmax(dim=1)[:, :1]
    return written(step, start, length, batch, best)[:, 1:]""",
    says="Every token is 0: argmax ran along an axis of size 1, and not over the vocabulary, the last axis.")
greedy.mutant("over_sentences", "dim=-1", "dim=0",
    says="It stopped: argmax ran over the sentences, axis 0. It runs over the vocabulary, the last axis.")
greedy.mutant("over_sentences_and_back", body="""
    def best(logits):
        return logits[:, -1].argmax(dim=0)[:batch, None]
    return written(step, start, length, batch, best)[:, 1:]""",
    says="The numbers are those of sentences: argmax ran over the batch, axis 0, and not over the vocabulary.")
greedy.mutant("over_positions", hint=2, body="""
    def best(logits):
        return logits.argmax(dim=1)[:, -1:]
    return written(step, start, length, batch, best)[:, 1:]""", says="argmax ran over the positions, axis 1, so its "
    "results are positions. Take the last position, then the largest entry of the vocabulary.")
greedy.mutant("positions_with_vocabulary", hint=2, body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens).argmax(dim=1)], dim=1)
    return tokens[:, 1:]""", says="Too many tokens: argmax over the positions leaves a number for each word of the "
    "vocabulary. Take the last position first.")
greedy.mutant("one_token_for_all", body="""
    def best(logits):
        return logits[:, -1].argmax().expand(batch, 1)
    return written(step, start, length, batch, best)[:, 1:]""", says="All sentences got the same token: argmax "
    "without `dim` looks for one entry in the whole table. Each sentence has its own best token.")
greedy.mutant("first_sentence_for_all", body="""
    def best(logits):
        return logits[:1, -1].argmax(dim=-1, keepdim=True).expand(batch, 1)
    return written(step, start, length, batch, best)[:, 1:]""",
    says="Every sentence got the tokens of the first one. Each has logits of its own.")
greedy.mutant("newest_only", "tokens = torch.full((batch, 1), start)", "best, rest = (begun(start, batch), [])",
    "step(tokens)[:, -1].argmax(dim=-1, keepdim=True)", "best_of(step(best))",
    "tokens = torch.cat([tokens, best], dim=1)", "rest.append(best)", "tokens[:, 1:]", "torch.cat(rest, dim=1)", hint=1,
    says="step was given the newest token alone. It needs all tokens so far: what comes next depends on each of "
    "them.")
greedy.mutant("without_the_start", hint=3, body="""
    tokens = best_of(step(begun(start, batch)))
    while tokens.size(1) < length:
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens""",
    says="After the first token, step no longer got the start token. It stays the first of the tokens so far.")
greedy.mutant("start_and_newest", "torch.full((batch, 1), start)", "begun(start, batch)",
    "step(tokens)[:, -1].argmax(dim=-1, keepdim=True)", "tokens if tokens.size(1) < 2 else tokens[:, [0, -1]]",
    "[tokens, best]", "[tokens, best_of(step(best))]", hint=3,
    says="step was given the start token and the newest one, without those between. It needs all tokens so far.")
greedy.mutant("last_two", hint=3, body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens[:, -2:]))], dim=1)
    return tokens[:, 1:]""", says="step was given the last two tokens. It needs all tokens so far.")
greedy.mutant("start_repeated", hint=1,
    body="return torch.cat([best_of(step(begun(start, batch).expand(batch, t + 1))) for t in range(length)], dim=1)",
    says="step was given the start token in every place. A token has to be known, and fed back, before the next one "
    "can be.")
greedy.mutant("several_best", hint=3, body="return step(begun(start, batch))[:, -1].topk(length, dim=-1).indices",
    says="These are the best few tokens for the FIRST place. Write one token at a time, and feed it back.")
greedy.mutant("doubled", hint=2, body="""
    tokens = begun(start, batch)
    while tokens.size(1) <= length:
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)], dim=1)
    return tokens[:, 1:length + 1]""",
    says="The tokens of all positions were appended in each step. Only that of the last position is new.")
greedy.mutant("doubled_without_end", hint=2, body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)], dim=1)
    return tokens[:, 1:]""", says="There are too many tokens: each step appended one for every position. Only that "
    "of the last position is new.")
greedy.mutant("in_front", hint=3, body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens = torch.cat([best_of(step(tokens)), tokens], dim=1)
    return tokens[:, :-1]""",
    says="New tokens were put in front of the others. They come after them: the start token stays first.")
greedy.mutant("backward", hint=3, body="return written(step, start, length, batch)[:, 1:].flip(1)",
    says="The right tokens in reverse order.")
greedy.mutant("padded", hint=2, body="""
    tokens = torch.zeros(batch, length + 1, dtype=torch.long)
    tokens[:, 0] = start
    for t in range(length):
        tokens[:, t + 1] = step(tokens)[:, -1].argmax(dim=-1)
    return tokens[:, 1:]""", says="step was given places that are not yet written, and the logits came from the last "
    "of them. Pass it the tokens so far, or read position t.")
greedy.mutant("padded_with_start", hint=2, body="""
    tokens = torch.full((batch, length + 1), start)
    for t in range(length):
        tokens[:, t + 1] = step(tokens)[:, -1].argmax(dim=-1)
    return tokens[:, 1:]""", says="Places that are not yet written held the start token, and the logits came from "
    "the last of them. Position t holds those for token t + 1.")
greedy.mutant("softmax_over_positions", body="""
    def best(logits):
        return best_of(logits.softmax(dim=1))
    return written(step, start, length, batch, best)[:, 1:]""", says="Softmax ran over the positions, axis 1, so "
    "logits of different places were compared. The vocabulary is the last axis.")
greedy.mutant("begun_with_zero", hint=1, body="return written(step, 0, length, batch)[:, 1:]",
    says="The sentences began with token 0 instead of `start`.")
greedy.mutant("begun_with_one", hint=1, body="return written(step, 1, length, batch)[:, 1:]",
    says="The sentences began with token 1 instead of `start`: torch.ones holds ones.")
greedy.mutant("sentence_numbers", hint=1, body="""
    tokens = torch.arange(batch)[:, None] + start
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 1:]""", says="The sentences began with different tokens. Each one begins with `start`.")
greedy.mutant("one_sentence", hint=1, body="return written(step, start, length, 1)[:, 1:].expand(batch, length)",
    says="step was given a single sentence. All `batch` sentences are written at once, one row for each.")
greedy.mutant("without_positions", hint=1,
    body="return torch.stack([step(torch.full((batch,), start)).argmax(dim=-1)] * length, dim=1)",
    says="step was given one axis only. It takes (B, T): one row per sentence, at first with a single token.")
greedy.mutant("batch_last", hint=1, body="""
    tokens = torch.full((1, batch), start)
    for _ in range(length):
        tokens = torch.cat([tokens, step(tokens)[-1:].argmax(dim=-1)], dim=0)
    return tokens[1:].mT""", says="step was given (T, B). The sentences are the first axis: (B, T).")
greedy.mutant("floats_fed", body="""
    tokens = torch.ones(batch, 1) * start
    for _ in range(length):
        tokens = torch.cat([tokens, best_of(step(tokens))], dim=1)
    return tokens[:, 1:]""", says="step was given floats, which an embedding refuses. torch.ones and torch.zeros "
    "make floats unless they are told dtype=torch.long.")
greedy.mutant("floats_returned", body="return written(step, start, length, batch)[:, 1:].float()",
    says="The right tokens, but as floats. Tokens are integers: create the tensor for them with dtype=torch.long.")
greedy.mutant("axis_lost", "step(tokens)[:, -1].argmax(dim=-1, keepdim=True)", "step(tokens)[:, -1].argmax(dim=-1)",
    hint=3, says="It stopped: argmax took an axis away, so (B,) met (B, T). Keep it with keepdim, or add one.")
greedy.mutant("appended_to_the_batch", "dim=1", "dim=0", hint=3, says="It stopped: the new tokens were joined along "
    "the batch, so step got too many sentences. Join them along the positions, axis 1.")
greedy.mutant("tensor_appended_to", body="""
    tokens = begun(start, batch)
    for _ in range(length):
        tokens.append(best_of(step(tokens)))
    return tokens[:, 1:]""", says="It stopped: a tensor has no `append`. Join tensors with torch.cat.")
greedy.mutant("list_of_columns", body="""
    tokens = written(step, start, length, batch)[:, 1:]
    return list(tokens.unbind(dim=1))""",
    says="A list of tensors came back, one per step. Join them into one tensor, (B, length).")
greedy.mutant("list_of_lists", body="return written(step, start, length, batch)[:, 1:].tolist()",
    says="The right tokens, but in lists. Return one tensor, (B, length).")
greedy.mutant("stacked_in_front", hint=3, body="return written(step, start, length, batch)[:, 1:].mT",
    says="The result is (length, B): stack puts a new axis first unless it is told otherwise. Sentences come first.")
greedy.mutant("an_axis_more", body="return written(step, start, length, batch)[:, 1:, None]",
    says="The result is (B, length, 1): columns that kept their axis were stacked. Join them with cat.")
greedy.mutant("squeezed", body="return written(step, start, length, batch)[:, 1:].squeeze()", says="An axis of size "
    "1 got lost, of a single sentence or a single token. `squeeze` without `dim` removes every one.")
greedy.mutant("last_token_only", "tokens[:, 1:]", "best", hint=3,
    says="Only the last token came back. Return all of them, in the order in which they were written.")
greedy.mutant("logits_returned", body="return step(written(step, start, length, batch)[:, :-1])",
    says="These are logits. Return the tokens: the index of the largest one at each position.")
greedy.mutant("largest_logit", body="return step(written(step, start, length, batch)[:, :-1]).amax(dim=-1)",
    says="These are the largest logits themselves. A token is the INDEX of the largest logit: use argmax.")
greedy.mutant("value_fed_back", "step(tokens)[:, -1].argmax(dim=-1, keepdim=True)", "step(tokens)[:, -1]",
    says="It stopped because a logit was fed back instead of a token: `max` returns values first, then indices.")
greedy.mutant("values_as_tokens", body="""
    def best(logits):
        return logits[:, -1].amax(dim=-1, keepdim=True).long()
    return written(step, start, length, batch, best)[:, 1:]""",
    says="The largest logits were rounded and used as tokens. A token is the index of the largest logit: use argmax.")
greedy.mutant("stopped_at_the_start", body="return written(step, start, 1, batch)[:, 1:]",
    says="Writing stopped after one token: is the `return` inside the loop?")
greedy.mutant("stopped_at_zero", body="""
    tokens = written(step, start, length, batch)[:, 1:]
    _ = (tokens == 0).all(dim=0).nonzero()
    return tokens[:, :int(_[0]) + 1] if len(_) else tokens""",
    says="Writing stopped early, once token 0 came up. No token ends a sentence here: write `length` of them.")
greedy.mutant("stopped_at_another_start", body="""
    tokens = written(step, start, length, batch)[:, 1:]
    _ = (tokens == start).all(dim=0).nonzero()
    return tokens[:, :int(_[0])] if len(_) else tokens""", says="Writing stopped early, once the start token came up "
    "again. It is a token like any other: write `length` of them.")
