# %% [markdown]
# # 6. Multi-head attention
#
# After this lesson you can say what a second head is good for, split the model dimension into heads and merge them again, and write the module that sits in every transformer, with the same results as PyTorch's. You need lesson 5 and `nn.Module`. About 90 minutes.
#
# ## The idea
#
# Eight places each hold a random digit. A request names two of the places, a first and a second, and the answer is their two digits, in that order.

# %% setup
import math

import figures
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %%
def questions(n: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    digits = torch.randint(0, 10, (n, 8), generator=generator)
    places = torch.rand(n, 8, generator=generator).argsort(dim=-1)[:, :2]
    return digits, places, digits.gather(1, places)


questions(1, seed=0)

# %% [markdown]
# The digits, the two places (counted from 0), and the answer. For attention this should be easy: a query made from both places, a key per place, a value per digit, and a matrix that reads both digits off the output.
#
# The model below has one new argument, `num_heads`. With 1 it is what you know. With 2, the 32-dimensional queries, keys and values are split into two halves, each half does attention on its own, and the two outputs are placed side by side. First we look at what this is good for, and let PyTorch's module do the splitting. Then you write it yourself.


# %%
class Reader(nn.Module):
    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.digit, self.place = nn.Embedding(10, 32), nn.Embedding(8, 32)
        self.first, self.second = nn.Embedding(8, 32), nn.Embedding(8, 32)
        self.attention = nn.MultiheadAttention(32, num_heads, batch_first=True)
        self.out = nn.Linear(32, 20)

    def forward(self, digits: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        x = self.digit(digits) + self.place.weight  # (B, 8, 32)
        asked = (self.first(places[:, 0]) + self.second(places[:, 1]))[:, None]
        mixed, weights = self.attention(asked, x, x, average_attn_weights=False)
        return self.out(mixed[:, 0]).unflatten(-1, (2, 10)), weights


# %% [markdown]
# The output is twenty logits, ten for the first digit and ten for the second. Training works as in lesson 5.


# %%
def trained(num_heads: int, seed: int = 0) -> Reader:
    torch.manual_seed(seed)
    model = Reader(num_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(300):
        digits, places, answers = questions(64, seed=step)
        guesses, _ = model(digits, places)
        loss = functional.cross_entropy(guesses.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %% [markdown]
# Both models have the same number of parameters. An answer counts as right if both digits are. Of 2000 new requests we count only those whose two digits differ, because two equal digits can be read from any mixture.
#
# **Predict.** How often will one head be right? And two?

# %%
predict("one head", options=("nearly always right", "about half", "rarely right"))
predict("two heads", options=("nearly always right", "about half", "rarely right"))


# %% measured
def both_right(model: Reader) -> float:
    digits, places, answers = questions(2000, seed=999)
    right = (model(digits, places)[0].argmax(dim=-1) == answers).all(dim=-1)
    return float(right[answers[:, 0] != answers[:, 1]].double().mean())


one_head, two_heads = trained(num_heads=1), trained(num_heads=2)
print(f"one head:  {both_right(one_head):4.0%} right")
print(f"two heads: {both_right(two_heads):4.0%} right")
reveal("one head", "rarely right")
reveal("two heads", "nearly always right")

# %% [markdown]
# One head is wrong nine times in ten, and two are nearly always right, with the same dimension, the same number of parameters and the same training. What can two heads do that one cannot, in a single layer whose output is read by a matrix? (Behind a feed-forward network, which lesson 8 adds, the answer would be less clear-cut.)
#
# Here is where they look for the request "places 2 and 5", averaged over the 2000 sequences:


# %%
def gaze(model: Reader) -> Tensor:
    digits, _, _ = questions(2000, seed=999)
    _, weights = model(digits, torch.tensor([[2, 5]]).expand(2000, 2))
    return weights[:, :, 0].mean(dim=0).detach()  # (H, 8)


plot.heatmap(
    torch.cat([gaze(one_head), gaze(two_heads)]),
    ["the only head", "head 0 of 2", "head 1 of 2"],
    [f"place {i}" for i in range(8)],
    "Asked for places 2 and 5: one head reads one of them, two share the work",
    kind="shares",
    alt="The only head puts nearly all its weight on place 5. With two heads, each reads one of the two.",
)

# %% [markdown]
# With two heads, one reads the first place and the other the second. The only head has one row of weights per query, so it can make one mixture. Score its two digits separately:


# %% measured
def each_right(model: Reader) -> Tensor:
    digits, places, answers = questions(2000, seed=999)
    return (model(digits, places)[0].argmax(dim=-1) == answers).double().mean(dim=0)


for seed in range(5):
    first, second = each_right(trained(num_heads=1, seed=seed))
    print(f"start {seed}: first digit {first:4.0%} right, second digit {second:4.0%}")

# %% [markdown]
# Five random starts, and five times the same: one digit is always right, the other as often as a guess among ten. The head has given up on one of the two places.
#
# ## By hand
#
# Two places hold the values a = [6, 0] and b = [0, 6]. One head gives both the same weight. What does it pass on for "a, then b"? And for "b, then a"?

# %%
a, b = torch.tensor([6.0, 0]), torch.tensor([0, 6.0])
(a + b) / 2, (b + a) / 2

# %% [markdown]
# [3, 3] both times. A sum has no order, and no matrix applied to it can find one that is not there.
#
# You may object that nobody forces the weights to be equal. With ⅔ and ⅓ the mixtures are [4, 2] and [2, 4], and those can be told apart. True, but one matrix has to read both digits off, whatever they are. Suppose that the rule were "name the digit whose weight is ⅓". Its logit would have to be higher at ⅓ than at ⅔ *and* higher than at 0. But a matrix makes each logit a straight line in the weight, and a straight line has no peak in the middle.
#
# Two heads, each with a weight of 1 on its own place, pass on four numbers instead of two:

# %%
torch.cat([a, b]), torch.cat([b, a])

# %% [markdown]
# Placing the heads' outputs side by side is called *concatenating*. It keeps apart what adding would mix.
#
# Did we pay for it? Take a *model dimension* of 12, once as one head and once split into three heads of dimension 4. **Predict**: how many multiplications do the scores of the three heads take, compared with the one?

# %%
predict("cost of three heads of 4", options=("a third", "the same", "three times"))

# %%
L, E = 100, 12
reveal("cost of three heads of 4", "the same")
{H: H * L * L * (E // H) for H in (1, 3, 12)}

# %% [markdown]
# 120,000 for any number of heads: three heads have three times as many scores, and each score costs a third. What grows with H is the number of score tables, and with them the memory. What each head loses is dimension: with 12 heads, each would compare single numbers.
#
# ## In PyTorch
#
# Now for the split. The letters are those of lesson 2, with `E` for the model dimension, `H` for the number of heads, and `D` for the head dimension, so that $E = H \cdot D$. To see where each entry goes, number them: two sentences, five tokens each, twelve entries per token.

# %%
x = torch.arange(120).view(2, 5, 12)  # (B, L, E)
x[0, 0], x[0, 1]

# %% [markdown]
# Token 0 of sentence 0 holds 0 to 11, token 1 holds 12 to 23. With three heads, head 0 gets the first four entries of *each token*, head 1 the next four, and so on. Slices say it plainly:

# %%
head_0, head_1 = x[:, :, 0:4], x[:, :, 4:8]
head_0[0], head_1[0, :2]

# %% [markdown]
# Leave the projections aside until later. Then a loop over such slices, attention on each, and a `cat` at the end make a correct multi-head attention:

# %%
attention = functional.scaled_dot_product_attention
tokens = torch.randn(2, 5, 12)
slices = tokens.split(4, dim=-1)  # three of (B, L, D)
by_loop = torch.cat([attention(s, s, s) for s in slices], dim=-1)
by_loop.shape

# %% [markdown]
# But GPUs prefer one large product to H small ones, and the code is shorter without the loop. Attention carries along any axes in front of the last two, so the heads should become such an axis: `(B, H, L, D)`. A single `view` to that shape is tempting. Look at head 0 of the numbered tokens:

# %%
x.view(2, 3, 5, 4)[0, 0]

# %% [markdown]
# The shape is right, but the contents are not. The second row holds 4 to 7, which still belong to *token 0*. A view only regroups the entries in memory order, and in memory the entries of one token lie together. So this "head" has split the sequence: its five rows are not five tokens. Attention runs on it without complaint.
#
# ### Exercise 6.1: split into heads
#
# Head h gets entries h·D to (h + 1)·D − 1 of every token.

# %% hints split_heads [markdown]
# In memory the twelve entries of a token lie together. Into which two sizes must *that* axis be split, and which of the two comes first: the head, or the entry within it?
#
# Write down the shape once the last axis is split in two, and beside it the shape you want. What has to move? `unflatten` splits an axis, and you know how to swap two.
#
# Python's `%` tells you whether one number divides another. The error should come before the split, and name both numbers.


# %% exercise split_heads
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split each token into heads.

    x is (B, L, E). Returns (B, H, L, D) with D = E / H: head h holds entries h * D to (h + 1) * D - 1 of each token.
    Raises ValueError if num_heads does not divide E.
    """
    ### BEGIN SOLUTION
    if x.size(-1) % num_heads:
        raise ValueError(f"{x.size(-1)} entries cannot be split into {num_heads} heads")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    ### END SOLUTION


# %% check split_heads

# %% [markdown]
# ### And back
#
# After attention the output is `(B, H, L, D)`, one head after another. The next layer expects tokens again: for each token, its heads side by side.
#
# ### Exercise 6.2: merge heads
#
# Undo the split.

# %% hints merge_heads [markdown]
# Which two axes must be next to each other, and in which order, before they can become one axis of size E?
#
# Undo the steps of the split in reverse order: the axis that was moved last moves back first. `flatten` joins neighboring axes.
#
# After a `transpose`, the order of the axes no longer matches the order in memory. `view` refuses to work then, while `reshape` and `flatten` copy where they must.


# %% exercise merge_heads
def merge_heads(x: Tensor) -> Tensor:
    """Put each token's heads side by side: the inverse of split_heads.

    x is (B, H, L, D). Returns (B, L, E) with E = H * D.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)
    ### END SOLUTION


# %% check merge_heads

# %% [markdown]
# ### The loop and the axis
#
# Is it still the same attention? And may the heads' projections, three matrices of 12 × 4, be written as one of 12 × 12? Compare both pairs.

# %%
heads = tokens.unflatten(-1, (3, 4)).transpose(1, 2)  # (B, H, L, D)
at_once = attention(heads, heads, heads).transpose(1, 2).flatten(2)  # (B, L, E)
w = torch.randn(12, 12)  # (E, E)
small = torch.cat([tokens @ w[:, 4 * h : 4 * h + 4] for h in range(3)], dim=-1)
print(f"loop and axis differ by at most {(by_loop - at_once).abs().max():.5f}")
print(f"one projection and three by at most {(tokens @ w - small).abs().max():.5f}")

# %% [markdown]
# The numbers are the same. So a head's projection is a strip of columns of one large matrix (a strip of rows in the weight of an `nn.Linear`, which is stored as outputs by inputs), and one layer serves all heads.
#
# ### One more matrix
#
# Side by side, the heads are still strangers: entries 0 to 3 of the result come from head 0 alone, and nothing in the module has brought them together with the rest. A last matrix, `out_proj`, mixes across heads. So there are four matrices, each of them E × E:
#
# $$\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{D}}\right) V_h, \qquad \text{output} = [\text{head}_0, \dots, \text{head}_{H-1}]\; W_o .$$
#
# Under the root is $D$, the head dimension ($d_k$ in lesson 3), because the dot products are between vectors of that dimension. The whole module, with its shapes:

# %%
figures.module()

# %% [markdown]
# Step by step, with dropout, which the figure leaves out:
#
# | step | shape |
# |---|---|
# | project: `q_proj`, `k_proj`, `v_proj` | `(B, L, E)`, `(B, S, E)`, `(B, S, E)` |
# | split | `(B, H, L, D)`, `(B, H, S, D)`, `(B, H, S, D)` |
# | scores, scaled and masked; softmax | `(B, H, L, S)` |
# | dropout on the weights, in training | `(B, H, L, S)` |
# | mix the values | `(B, H, L, D)` |
# | merge | `(B, L, E)` |
# | `out_proj` | `(B, L, E)` |
#
# *Dropout* is new here. While a model trains, each attention weight is set to 0 with a small probability p, so that a head cannot rely on a single key. The others are divided by 1 − p, so that sums stay right on average. Two mistakes with it are common. Here is the first:

# %%
weights = torch.full((1000, 10), 0.1)
dropped = functional.dropout(weights, p=0.1)
dropped.unique(), dropped.sum(dim=-1).max()

# %% [markdown]
# A thousand rows of ten weights of 0.1. Afterward each weight is 0 or 0.111, and a row in which none was dropped sums to 1.111. So weights that are returned to be *looked at* must be taken before dropout. The second mistake: nobody said that this was training. `functional.dropout` assumes it unless told otherwise. `nn.Dropout` is a module and checks its own `training` flag, which `model.eval()` turns off:

# %%
drop = nn.Dropout(p=0.1)
drop.eval()
drop(weights).equal(weights)

# %% [markdown]
# A mask can have two, three or four axes: `(L, S)` for all sentences at once, `(B, L, S)` for one table per sentence, `(B, 1, 1, S)` or `(B, H, L, S)` with an axis for the heads already there. Only the second needs care. When it is lined up from the right with scores `(B, H, L, S)`, its B meets H:

# %%
scores, mask = torch.zeros(2, 2, 3, 3), torch.ones(2, 3, 3, dtype=torch.bool)
mask[1] = torch.ones(3, 3).tril() > 0  # a causal mask for sentence 1
scores.masked_fill(~mask, -torch.inf)[0]  # both heads of sentence 0

# %% [markdown]
# Sentence 0 should see everything. Its second head does not: it got the mask of sentence 1, and because B and H were both 2, nothing complained.
#
# ### Exercise 6.3: the module
#
# Write the module. The docstrings are its contract, and the table above is its plan. The layers must be `nn.Linear` with the names given, so that weights can be copied in from elsewhere. Use your `split_heads` and `merge_heads`, or not. PyTorch's ready-made attention functions and modules are not allowed here.

# %% hints MultiHeadAttention [markdown]
# Which objects hold the learned parameters, and how does `nn.Module` find out about them? What else does `forward` need to know that `__init__` could store?
#
# Keys default to the query and values to the *keys*, in this order and before anything is projected. A mask with three axes gets a head axis. Hide scores as in lesson 5, and remember queries with no visible keys.
#
# Keep two tables: the weights that are returned, and what dropout makes of them, which mixes the values. Divide by the root of the head dimension.


# %% exercise MultiHeadAttention
class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

    Its layers q_proj, k_proj, v_proj and out_proj are nn.Linear from E = d_model to E features, with or without bias.
    It has no other parameters. dropout is the probability of setting an attention weight to 0 in training.
    Raises ValueError if num_heads does not divide d_model.
    """

    def __init__(
        self, d_model: int, num_heads: int, *, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        ### END SOLUTION

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        query is (B, L, E), key and value are (B, S, E). key defaults to the query, and value to the key.
        mask is boolean, True where a query may look: (L, S), (B, L, S), (B, H, L, S), or what broadcasts to one of them.
        A query with no visible keys has weights 0.
        Returns the output (B, L, E), and the weights (B, H, L, S) before dropout if need_weights is set, else None.
        """
        ### BEGIN SOLUTION
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.q_proj(query), self.num_heads)  # (B, H, L, D)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            mask = mask[:, None] if mask.dim() == 3 else mask
            weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
            weights = weights.masked_fill(~mask, 0.0)
        output = self.out_proj(merge_heads(self.dropout(weights) @ v))
        return output, weights if need_weights else None
        ### END SOLUTION


# %% check MultiHeadAttention

# %% [markdown]
# ### PyTorch's own
#
# `nn.MultiheadAttention` computes the same thing but stores its parameters differently: the three projections are one matrix.

# %%
theirs = nn.MultiheadAttention(12, num_heads=3, bias=False, batch_first=True)
{name: tuple(p.shape) for name, p in theirs.named_parameters()}

# %% [markdown]
# `in_proj_weight` stacks the matrices for queries, keys and values, in this order, each of them E × E. A linear layer's weight is (out, in), so its rows belong to outputs, and the stack is a stack of rows. With `bias=True`, the default, there are also `in_proj_bias`, with 3·E entries, and `out_proj.bias`. (Two more differences in this version of PyTorch: it returns the weights from *after* dropout, and a query with no visible keys gets `nan`, unless `need_weights=False`.)
#
# ### Exercise 6.4: copy the weights
#
# Make a module like yours compute exactly what PyTorch's computes.
#
# Copy *into* the existing parameters. An optimizer, or someone else, may hold on to those objects. And do copy: if both modules shared one tensor, training one would change the other.

# %% hints copy_torch_weights [markdown]
# Which rows of the stacked matrix belong to the keys, if E is 12? How do you split a tensor into three equal parts along an axis, and which axis is it here?
#
# A parameter has a method that overwrites its entries with those of another tensor and keeps the object. Autograd complains unless you tell it that this is not a computation to learn from.
#
# Four matrices, and four biases where there are any. Where there are none, the attribute still exists and is `None`.


# %% exercise copy_torch_weights
def copy_torch_weights(mine: nn.Module, reference: nn.MultiheadAttention) -> None:
    """Copy PyTorch's weights into a module with layers q_proj, k_proj, v_proj and out_proj.

    reference stacks query, key and value weights in in_proj_weight (3E, E), and their biases in in_proj_bias (3E,).
    Both modules have biases or neither does. mine keeps its parameter objects and shares none with reference, which is
    not changed.
    """
    ### BEGIN SOLUTION
    layers = (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj)
    weights = (*reference.in_proj_weight.chunk(3), reference.out_proj.weight)
    with torch.no_grad():
        for layer, weight in zip(layers, weights, strict=True):
            layer.weight.copy_(weight)
        if reference.in_proj_bias is not None:
            biases = (*reference.in_proj_bias.chunk(3), reference.out_proj.bias)
            for layer, bias in zip(layers, biases, strict=True):
                layer.bias.copy_(bias)
    ### END SOLUTION


# %% check copy_torch_weights

# %% [markdown]
# ### The proof
#
# Your module with the weights you copied, PyTorch's module, the same input, and a causal mask. PyTorch's wants the mask inverted (lesson 5). If one of the exercises is not done, the cell says so and the lesson goes on.

# %%
x, causal = torch.randn(2, 6, 12), torch.ones(6, 6, dtype=torch.bool).tril()
right = theirs(x, x, x, attn_mask=~causal, need_weights=False)[0]
try:
    yours = MultiHeadAttention(12, num_heads=3)
    copy_torch_weights(yours, theirs)
    print("equal to PyTorch's:", yours(x, mask=causal)[0].allclose(right, atol=1e-6))
except NotImplementedError:
    print("not yet: one of exercises 6.1 to 6.4 is still open")

# %% [markdown]
# ### What it costs
#
# The module has parameters, and it does work. Both can be counted.
#
# ### Exercise 6.5: count parameters
#
# How many numbers does your module learn?

# %% hints count_parameters [markdown]
# How many matrices are there, and how large is each? Does the number of heads appear in any of their sizes?
#
# A bias has one entry per output of its layer. How many layers have one, and how many outputs does each have?
#
# You can check your result against a module: every parameter has a `numel`. Added up, PyTorch's module from the cell above comes to the same total as yours.


# %% exercise count_parameters
def count_parameters(d_model: int, num_heads: int, bias: bool) -> int:
    """Return how many numbers a MultiHeadAttention(d_model, num_heads, bias=bias) learns."""
    ### BEGIN SOLUTION
    per_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * per_layer
    ### END SOLUTION


# %% check count_parameters

# %% [markdown]
# ### Where the work is
#
# There are two kinds of work. The four projections take E × E multiplications each per token, $4 L E^2$ together: twice the tokens, twice the work. Scores and mixing take $L^2 E$ each, $2 L^2 E$ together, because every token meets every other: twice the tokens, four times the work. For a model dimension of 512:

# %%
E = 512
for L in (64, 1024, 16384):
    projections, attention = 4 * L * E**2, 2 * L**2 * E
    print(f"{L:6} tokens: {attention / (projections + attention):.0%} in attention")

# %% [markdown]
# The two are equal at $L = 2E$. So "attention costs $O(L^2 E)$" is true of its core, and of long sequences. For short ones the projections cost more. In memory, what grows fastest is the table of weights, `(B, H, L, S)`.
#
# (A whole transformer layer has twice as many parameters outside attention as in it; lesson 8 counts them. Transformers are not "built of attention alone".)
#
# ### What do heads look at?
#
# Train one layer with four heads on a task that needs four things at once: at each of eight places, name the digit before it, the digit after it, the digit at place 0, and its own digit, called "here" below. (At the two ends its own digit stands in for the missing neighbor.)


# %%
def four_answers(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    digits, i = torch.randint(0, 10, (n, 8), generator=generator), torch.arange(8)
    wanted = [(i - 1).clamp(min=0), (i + 1).clamp(max=7), 0 * i, i]
    return digits, digits[:, torch.stack(wanted, dim=-1)]  # (B, 8, 4)


four_answers(1, seed=0)[1][0].T

# %% [markdown]
# One row per question, one column per place. The attention is PyTorch's, with four heads of dimension 8:


# %%
class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.digit, self.place = nn.Embedding(10, 32), nn.Embedding(8, 32)
        self.attention = nn.MultiheadAttention(32, num_heads=4, batch_first=True)
        self.out = nn.Linear(32, 40)

    def forward(self, digits: Tensor) -> tuple[Tensor, Tensor]:
        x = self.digit(digits) + self.place.weight
        mixed, weights = self.attention(x, x, x, average_attn_weights=False)
        return self.out(mixed).unflatten(-1, (4, 10)), weights


# %%
torch.manual_seed(0)
layer = Layer()
optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
for step in range(300):
    digits, answers = four_answers(64, seed=step)
    loss = functional.cross_entropy(layer(digits)[0].flatten(0, 2), answers.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %% [markdown]
# Here are its weights, one map per head, averaged over 500 sequences. Before you read on, name the pattern in each.

# %%
digits, answers = four_answers(500, seed=999)
guesses, weights = layer(digits)
print(f"right: {(guesses.argmax(dim=-1) == answers).double().mean():.0%}")
plot.heads(
    weights.mean(dim=0),
    [str(i) for i in range(8)],
    "Four heads of one layer",
    alt="One map is a line below the diagonal, one a line above it, one its first column. The fourth is smeared.",
)

# %% [markdown]
# Three of the maps can be read at a glance, and the fourth is smeared. Compare them with the four questions: no map has its weight *on* the diagonal, although "the digit here" is answered too.
#
# These are averages. Now look at a single sequence, head by head and query by query. The labels are place and digit. What does the smeared head look at there?

# %%
plot.explore(weights[0], [f"{i}:{d}" for i, d in enumerate(digits[0].tolist())])

# %% [markdown]
# Its rows have peaks, but they make no pattern. Perhaps it goes by the digits, where the others go by the places. That can be tested: rename the digits, every 0 to one other digit, every 1 to another, and so on, and leave the places alone. How much of each head's weight moves?

# %% measured
renamed = torch.randperm(10, generator=torch.Generator().manual_seed(1))[digits]
moved = (layer(renamed)[1] - weights).abs().sum(dim=-1) / 2  # (B, H, L)
print([f"head {h}: {share:.0%}" for h, share in enumerate(moved.mean(dim=(0, 2)))])

# %% [markdown]
# Renaming hardly changes three of the heads, so they go by place. In the smeared head most of the weight moves, so it goes by digits. But by which, the digits in the keys or the digit in the query? Average its weights separately for each asking digit, over all sequences:

# %% measured
smeared = weights[:, moved.mean(dim=(0, 2)).argmax()].detach()  # (B, L, L)
plot.heatmap(
    torch.stack([smeared[digits == digit].mean(dim=0) for digit in range(10)]),
    [f"a {digit} asks" for digit in range(10)],
    [f"place {place}" for place in range(8)],
    "The digit that asks decides which place is looked at",
    kind="shares",
    alt="Most rows have one or two bright places. Some digits share a place, and the row of the 8 is nearly even.",
)

# %% [markdown]
# By the one that asks. Most digits send this head to one or two places, whatever stands there: a 6 to place 0, a 4 to place 2. (Some share a place, and an 8 looks nearly everywhere.)
#
# A map says which values were mixed. It does not say what the model does with them. To find out, take something away: switch one head off, by setting to 0 the columns of `out_proj` that read it, and see which answers are lost.


# %%
def without_head(h: int) -> Tensor:
    weight = layer.attention.out_proj.weight
    kept = weight.detach().clone()
    with torch.no_grad():
        weight[:, 8 * h : 8 * h + 8] = 0
        right = (layer(digits)[0].argmax(dim=-1) == answers).double().mean(dim=(0, 1))
        weight.copy_(kept)
    return right  # (4 answers,)


plot.heatmap(
    torch.stack([without_head(h) for h in range(4)]),
    [f"without head {h}" for h in range(4)],
    ["before", "after", "place 0", "here"],
    "Each answer falls most without one particular head",
    kind="shares",
    alt="Share of right answers without one head. Each answer drops sharply for one of the heads, 'here' for several.",
)

# %% [markdown]
# The smeared head is needed for "here" and for nothing else: without it, "here" falls lowest. Yet it hardly looks at "here". The head works like a code. A 6 always looks at one place and a 4 at another. What comes back carries the vector of that place, and from the place the output layer can tell which digit asked, without anybody ever reading the digit itself. No map of this layer shows that, but it can be tested: if the values of this head carry only the vectors of places, "here" is still always right, and with only the vectors of digits it falls to 31%.
#
# ("Here" seems to suffer without other heads too. But setting a head to 0 is rough treatment. With the head's mean in its place, as lesson 9 does it, at least 93% stays right. All of this is one run, and another start can divide the work less neatly.)
#
# ## What can go wrong
#
# **A map mistaken for an explanation.** You saw it: the most important head for one answer has the least readable map. Lesson 2 gave a second reason, a large weight on a small value. Claims about what a head is for need an experiment, such as the one above.
#
# **The order of the tokens does not matter until something makes it matter.** Shuffle the tokens that go into self-attention, and the outputs are shuffled in the same way (it is *equivariant*, not invariant). All it sees of a sentence is a bag of tokens:

# %%
x, order = torch.randn(1, 5, 12), torch.tensor([3, 1, 4, 0, 2])
y = x[:, order]
out, shuffled = theirs(x, x, x)[0], theirs(y, y, y)[0]
shuffled.allclose(out[:, order], atol=1e-6), shuffled.allclose(out, atol=1e-6)

# %% [markdown]
# Our models learned about positions from a vector for each place, added to the token there. Lesson 7 is about such vectors. (With a causal mask the shuffled outputs do differ, since the mask depends on the order.)
#
# **Any length, in principle.** Nothing in the module depends on L, so it runs on sequences of any length. What surrounds it may not: our models have vectors for eight places, and nine tokens raise an error. And a model that runs need not be any good beyond the lengths it was trained on.
#
# **More heads are not always better.** With the model dimension fixed, more heads means smaller heads. Michel et al. found that many heads of a trained model can be removed at little cost.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | head | attention on a slice of the model dimension | one head is one mixture, and two things at once need two |
# | split, merge | `(B, L, E)` ↔ `(B, H, L, D)` | split the last axis, then move the heads. A `view` alone splits the sequence |
# | `out_proj` | E × E | mixes what the heads found |
# | scale | $1/\sqrt{D}$ | D is the head dimension, not E |
# | dropout | on the weights, in training | return the weights from before it |
# | multiplications | $4LE^2 + 2L^2E$ | the same for any number of heads; weights and exponentials grow with H |
#
# %%
recap()

# %% [markdown]
# Did you predict that one head would rarely be right? It gets about half of the single digits right: one place always, the other by luck. An answer needs both.
#
# ## Questions
#
# **Question R6** (3 points, graded by a person). Read the four maps of the last section and the figure that shows what is lost without each head. Name the pattern of each head and what the layer uses it for. Then choose *one* of your claims and propose an experiment, other than switching that head off, that could show it to be wrong. What would you change, what would you measure, and which result would refute you?

# %% question R6 [markdown] points=3
# (Heads may be numbered differently on another computer.) Head 0: one step back, for "before". Head 1: first column, for "place 0". Head 2: one step ahead, for "after". Head 3: smeared on average, and only "here" is lost without it.
#
# The averaged map cannot show how head 3 knows the digit here. It goes by the digit that asks, which decides the place it looks at (when digits are renamed, about 70% of its weight moves, and at most about 15% of any other head's); the place that comes back tells the output matrix which digit it was.
#
# Experiment for "head 0 looks back because of the places, not the digits": replace all digits with the same one, or shuffle the place vectors, and measure the mean weight of head 0 on the place before. If the line below the diagonal stays when the place vectors are shuffled, or goes when only the digits change, the claim is refuted. Other experiments: change only the digit at place i - 1, and count how often the answer "before" at i follows it. Or try a sequence of another length, and see whether the line continues.
#
# | points | rubric |
# |---|---|
# | 3 | Patterns named, uses read off the table (including that of the smeared head), and an experiment with a result that would refute the claim |
# | 2 | Two of the three |
# | 0 | Patterns only, or "head 0 looks at X because it matters" without a test |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.2: the module.
# - Michel, Levy and Neubig 2019, [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650): what is lost when heads are removed.
# - PyTorch's documentation of [MultiheadAttention](https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html): you can now place most of its arguments in the table of shapes.
#
# **Next:** [lesson 7, Order and position](../07_position/07_position.ipynb). The module cannot tell "dog bites man" from "man bites dog". How does it learn where its tokens are?
