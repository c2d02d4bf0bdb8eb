# %% [markdown]
# # 6. Multi-head attention
#
# After this lesson you can say what a second head is good for, and split the model dimension into heads and merge them again. You can also write the module of the original transformer, with the same results as PyTorch's. You should have done lesson 5 and know `nn.Module`. About 170 minutes, in three sittings, which end before "Exercise 6.2", before "PyTorch's own", and at the end. The three optional sections take another 80 minutes.
#
# ## The idea
#
# Here is a task that seems to be made for attention. Eight places each hold a random digit. A request names two of the places, a first and a second, and the answer is their two digits in that order.

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
    return digits, places, digits.gather(1, places)  # the digit at each of the places


questions(1, seed=0)

# %% [markdown]
# You see the digits, the two places (counted from 0), and the answer. Attention should find this easy. A query can ask for the two places, a key can say which place it belongs to, and a value can carry the digit. A matrix could then read both digits off the output.
#
# The model below tries exactly that. Its single query is the sum of two learned vectors, one for the first place and one for the second. Its attention is PyTorch's `nn.MultiheadAttention`, with an argument that you have not met, `num_heads`. (Another, `average_attn_weights=False`, keeps the weights of each head apart.)
#
# With one head it is the attention that you know. With two, the 32-dimensional queries, keys and values are cut in half, each half does attention on its own, and the two outputs are put side by side. What could that be good for?


# %%
class Reader(nn.Module):
    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.digit, self.place = nn.Embedding(10, 32), nn.Embedding(8, 32)
        self.first, self.second = nn.Embedding(8, 32), nn.Embedding(8, 32)
        self.attention, self.out = attention, nn.Linear(32, 20)

    def forward(self, digits: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        x = self.digit(digits) + self.place.weight
        asked = self.first(places[:, 0]) + self.second(places[:, 1])
        query = asked[:, None]  # (B, 1, E)
        mixed, weights = self.attention(query, x, x, average_attn_weights=False)
        return self.out(mixed[:, 0]).unflatten(-1, (2, 10)), weights


# %% [markdown]
# The output consists of ten logits for each of the two digits, and training works as in lesson 5:


# %%
def trained(model: Reader) -> Reader:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(300):
        digits, places, answers = questions(64, seed=step)
        guesses, _ = model(digits, places)
        loss = functional.cross_entropy(guesses.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def reader(num_heads: int, seed: int = 0) -> Reader:
    torch.manual_seed(seed)
    return trained(Reader(nn.MultiheadAttention(32, num_heads, batch_first=True)))


# %% [markdown]
# A model with two heads has exactly as many parameters as a model with one. An answer counts as right if both of its digits are right. Of 2000 new requests we count only those whose two digits differ, because two equal digits can be read from any mixture.
#
# **Predict.** How often will the model with one head be right, and how often the one with two?

# %%
predict("one head", options=("nearly always right", "about half", "rarely right"))
predict("two heads", options=("nearly always right", "about half", "rarely right"))


# %% measured
def both_right(model: Reader) -> float:
    digits, places, answers = questions(2000, seed=999)
    right = (model(digits, places)[0].argmax(dim=-1) == answers).all(dim=-1)
    return float(right[answers[:, 0] != answers[:, 1]].double().mean())


one_head, two_heads = reader(num_heads=1), reader(num_heads=2)
print(f"one head:  {both_right(one_head):4.0%} right")
print(f"two heads: {both_right(two_heads):4.0%} right")
reveal("one head", "rarely right")
reveal("two heads", "nearly always right")

# %% [markdown]
# One head is wrong nine times in ten, and two heads are right in nearly every case, although the two models have the same size and the same training. To see what two heads do that one cannot, compare their weights for the request "places 2 and 5", averaged over the 2000 sequences:


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
    gaps=[1],
    alt="The only head puts nearly all its weight on place 5. With two heads, each reads one of the two.",
)

# %% [markdown]
# With two heads, each of them reads one of the two places. The only head has a single row of weights per query, so it can make a single mixture, and it has chosen place 5. To see whether that was an accident, here are five models from five random starts, with the two digits scored separately:


# %% measured
def each_right(model: Reader) -> Tensor:
    digits, places, answers = questions(2000, seed=999)
    return (model(digits, places)[0].argmax(dim=-1) == answers).double().mean(dim=0)


for seed in range(5):
    first, second = each_right(reader(num_heads=1, seed=seed))
    print(f"start {seed}: first digit {first:4.0%} right, second digit {second:4.0%}")

# %% [markdown]
# All five end in the same way: one digit is always right, and the other is right as often as a guess among ten. Each model has given up on one of the two places, and its start decides which. Two heads, in contrast, got nearly all requests right from 23 of 24 starts (not shown). They can do what one head cannot, but training has to find out how.
#
# ## By hand
#
# Why does the head not look at both places, with half of its weight on each? Suppose that two places hold the values a = [6, 0] and b = [0, 6], and that a head gives half of its weight to each. What does it pass on for the request "a, then b", and what for "b, then a"?

# %%
a, b = torch.tensor([6.0, 0]), torch.tensor([0, 6.0])
(a + b) / 2, (b + a) / 2

# %% [markdown]
# It passes on [3, 3] both times. A sum has no order, and no matrix that is applied to the sum can find an order that is not there.
#
# You may object that the two weights need not be equal. With ⅔ and ⅓ the mixtures are [4, 2] and [2, 4], which can be told apart. But a single matrix has to read off both digits, and for the second it would have to follow the rule "name the digit whose weight is ⅓". A matrix makes a digit's logit a straight line in the digit's weight, and a straight line that is higher at ⅓ than at 0 is higher still at ⅔, where the first digit is. (The optional section "why unequal weights do not help" works this out.)
#
# A feed-forward network, which lesson 8 puts behind the attention, can bend the line. Two heads need not bend anything. Each has a weight of 1 on its own place, and the two values are put side by side instead of being added. (In the model above, each head carries only half of the entries of a value. What counts is that the values stay apart.)

# %%
torch.cat([a, b]), torch.cat([b, a])

# %% [markdown]
# Putting the outputs of the heads side by side is called *concatenating* them, and it keeps apart what adding would mix.
#
# ### What heads cost
#
# Take a *model dimension* of 12, once as a single head and once split into three heads of dimension 4. **Predict**: compared with the single head, how many multiplications do the scores of the three heads take?

# %%
predict("cost of three heads of 4", options=("a third", "the same", "three times"))

# %%
L, E = 100, 12
reveal("cost of three heads of 4", "the same")
{H: H * L * L * (E // H) for H in (1, 3, 12)}

# %% [markdown]
# For 100 tokens the scores take 120,000 multiplications, however many heads there are. Three heads have three times as many scores to compute, and each score costs a third, because the vectors have a third as many entries. The price is paid elsewhere. The tables of scores need H times the memory, and each head compares tokens in fewer dimensions. With 12 heads, each would compare single numbers.
#
# ## In PyTorch
#
# ### Cutting tokens into heads
#
# The letters are those of lesson 2, with `E` for the model dimension, `H` for the number of heads and `D` for the head dimension, so $E = H \cdot D$. To see where each entry goes, we number the entries of two sentences with five tokens each and twelve entries per token.

# %%
x = torch.arange(120).view(2, 5, 12)  # (B, L, E)
x[0, 0], x[0, 1]

# %% [markdown]
# Token 0 of sentence 0 holds 0 to 11, and token 1 holds 12 to 23. With three heads, head 0 gets the first four entries of *each token*, head 1 the next four, and head 2 the rest. Slices say this plainly:

# %%
head_0, head_1 = x[:, :, 0:4], x[:, :, 4:8]
head_0[0], head_1[0, :2]

# %% [markdown]
# If we leave the projections aside for the moment, multi-head attention is a loop over such slices, with attention on each and a `cat` at the end:

# %%
attention = functional.scaled_dot_product_attention
tokens = torch.randn(2, 5, 12)
slices = tokens.split(4, dim=-1)  # three of (B, L, D)
by_loop = torch.cat([attention(s, s, s) for s in slices], dim=-1)
by_loop.shape

# %% [markdown]
# The loop is slower than it has to be, because computers prefer one large product to H small ones. Attention carries along any axes in front of the last two, so the heads could become such an axis, in the shape `(B, H, L, D)`. It is tempting to reach that shape with a single `view`. Here is a module that does so, in the lines marked with an arrow, and is right otherwise:


# %%
class Hasty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(32, 32), nn.Linear(32, 32)
        self.v_proj, self.out_proj = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, **_: bool
    ) -> tuple[Tensor, None]:  # **_ takes options that we do not need
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (t.view(len(t), 2, -1, 16) for t in (q, k, v))  # ← two heads
        mixed = attention(q, k, v)
        return self.out_proj(mixed.view(len(query), -1, 32)), None  # ← and back


# %% [markdown]
# The shapes are right and PyTorch raises no error. But look at what head 0 of the numbered tokens gets:

# %%
x.view(2, 3, 5, 4)[0, 0]

# %% [markdown]
# The second row holds 4 to 7, which still belong to *token 0*. A view only regroups the entries in the order in which they lie in memory, and there the entries of one token lie together. So the view has cut the *sequence* and not the tokens. The five rows of this "head" are pieces of tokens 0 and 1. Here are all heads of sentence 0, as they should be cut and as they are:

# %%
figures.cut()

# %% [markdown]
# **Predict.** We put this module into the task with the two places and train it as before. How often will it be right?

# %%
predict(
    "a view for two heads", options=("rarely", "half of the time", "mostly", "always")
)

# %% measured
torch.manual_seed(0)
hasty = trained(Reader(Hasty()))
print(f"two heads by a single view: {both_right(hasty):.0%} right")
reveal("a view for two heads", "mostly")

# %% [markdown]
# Mistakes of this kind are dangerous. No exception is raised, the loss falls, and the model is right most of the time. We know that something is wrong only because the same model did better with PyTorch's heads.
#
# The numbered entries tell us where to look. With eight places, head 0 sees pieces of places 0 to 3 only, and head 1 pieces of places 4 to 7. So we score the requests for two places in the same half separately from those for one place in each half:

# %% measured
digits, places, answers = questions(4000, seed=999)
right = (hasty(digits, places)[0].argmax(dim=-1) == answers).all(dim=-1).double()
differ = answers[:, 0] != answers[:, 1]
same_half = places[:, 0] // 4 == places[:, 1] // 4
print(f"one place in each half:      {right[differ & ~same_half].mean():.0%} right")
print(f"both places in the same one: {right[differ & same_half].mean():.0%} right")

# %% [markdown]
# If each half holds one of the two places, every head has one place to read, and all is well. If both places lie in the same half, one head has to read two digits.
#
# <details><summary>One head cannot read two digits in order. Why is this one still right so often?</summary>
#
# In our argument each token had one value and one weight. Here the head sees four tokens, each cut into two pieces, and each piece has a value and a weight of its own. The head can therefore take the first piece of one token and the second piece of another. The two pieces hold different entries of a value, so the output matrix can often tell which digit came from which place.
#
# </details>
#
# ### Exercise 6.1: split into heads
#
# Cut every token into heads, so that head h gets its entries h·D to (h + 1)·D − 1.

# %% hints split_heads [markdown]
# In memory the twelve entries of a token lie together. Into which two sizes must *that* axis be split, and which of the two comes first: the head, or the entry within it?
#
# Write down the shape once the last axis is split in two, and beside it the shape you want. What has to move? `unflatten` splits an axis, and you know how to swap two.
#
# Python's `%` tells you whether one number divides another. The error should come before the split, and its reader will want to see both numbers.


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
# After attention the output has the shape `(B, H, L, D)`, and the next layer expects tokens again, with the outputs of all heads side by side in each. Merging undoes the two steps of the split in reverse order: the axis that was moved moves back, and then two axes are joined. The next cell compares the result with that of the loop. It also returns to the projections that we left aside. Can those of three heads, each 12 × 4, be written as one matrix of 12 × 12?

# %%
heads = tokens.unflatten(-1, (3, 4)).transpose(1, 2)  # (B, H, L, D)
at_once = attention(heads, heads, heads).transpose(1, 2).flatten(2)  # (B, L, E)
w = torch.randn(12, 12)  # (E, E)
small = torch.cat([tokens @ w[:, 4 * h : 4 * h + 4] for h in range(3)], dim=-1)
print(f"loop and axis differ by at most {(by_loop - at_once).abs().max():.5f}")
print(f"one matrix and three differ by at most {(tokens @ w - small).abs().max():.5f}")

# %% [markdown]
# The numbers agree in both cases. A head's projection is a strip of columns of one large matrix, so a single layer can serve all heads. (`nn.Linear` stores its weight as outputs by inputs, and there the strip consists of rows.)
#
# To merge, use `flatten`, which copies the entries if it must. `view` refuses to work after a `transpose`.
#
# ### One more matrix
#
# After the merge the heads lie side by side, but no entry has seen another head yet: entries 0 to 3 of the result come from head 0 alone. A last matrix, `out_proj`, mixes across heads. That makes four matrices, each of them E × E:
#
# $$\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{D}}\right) V_h, \qquad \text{output} = [\text{head}_0, \dots, \text{head}_{H-1}]\; W_o .$$
#
# The number under the root is $D$, the head dimension ($d_k$ in lesson 3), because each head compares tokens in only D dimensions.
#
# <details><summary>Why only D dimensions?</summary>
#
# Written out for tokens $x$, the scores of head h are $x\, W_q^h (W_k^h)^\top x^\top / \sqrt{D}$, where both matrices are E × D. Their product is E × E but has a rank of at most D. The head learns which D dimensions these are, and it is blind to the others.
#
# </details>
#
# Here is the whole module with its shapes:

# %%
figures.module()

# %% [markdown]
# Step by step, and with the dropout that the figure leaves out:
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
# ### Dropout on the weights
#
# *Dropout* is new here. While a model trains, each attention weight is set to 0 with a small probability p, so that a head cannot rely on a single key. The weights that remain are divided by 1 − p, which keeps sums right on average. Two mistakes with dropout are common, and here is the first:

# %%
weights = torch.full((1000, 10), 0.1)
dropped = functional.dropout(weights, p=0.1)
dropped.unique(), dropped.sum(dim=-1).max()

# %% [markdown]
# Each weight of 0.1 has become 0 or 0.111, and a row that lost none sums to 1.111. Weights that are returned to be *looked at* must be taken before dropout. The same cell contains the second mistake, because nothing in it says whether this is training. `functional.dropout` assumes that it is, unless it is given `training=False`. `nn.Dropout`, in contrast, is a module and checks its own `training` flag, which `model.eval()` turns off:

# %%
drop = nn.Dropout(p=0.1)
drop.eval()
drop(weights).equal(weights)

# %% [markdown]
# ### Masks and heads
#
# A mask can have two, three or four axes. `(L, S)` is one table for all sentences at once, and `(B, L, S)` is one table per sentence. `(B, 1, 1, S)` and `(B, H, L, S)` already have an axis for the heads. Only `(B, L, S)` needs care. Lined up from the right with scores of shape `(B, H, L, S)`, its B meets their H:

# %%
scores, mask = torch.zeros(2, 2, 3, 3), torch.ones(2, 3, 3, dtype=torch.bool)
mask[1] = torch.ones(3, 3).tril() > 0  # a causal mask for sentence 1
scores.masked_fill(~mask, -torch.inf)[0]  # both heads of sentence 0

# %% [markdown]
# In sentence 0 everything should be visible, but its second head has been given the mask of sentence 1. B and H are both 2, so the shapes fit, and nothing gives the mistake away.
#
# ### Exercise 6.2: the module
#
# Write the module. The docstrings are its contract and the table above is its plan. The layers must be `nn.Linear` with the names given there, so that weights can be copied in from elsewhere. You may use your `split_heads`, but PyTorch's ready-made attention functions and modules are not allowed here.

# %% hints MultiHeadAttention [markdown]
# Which objects hold the learned parameters, and how does `nn.Module` find out about them? What else does `forward` need to know that `__init__` could store?
#
# If no key is given, use the query, and if no value is given, use the key, before anything is projected. A mask with three axes gets a head axis. Hide scores as in lesson 5, and remember queries with no visible keys.
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
        mask is boolean, True where a query may look: (L, S), (B, L, S) or (B, H, L, S), where any axis may also be 1.
        Three axes always mean (B, L, S).
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
        mixed = (self.dropout(weights) @ v).transpose(1, 2).flatten(2)  # (B, L, E)
        output = self.out_proj(mixed)
        return output, weights if need_weights else None
        ### END SOLUTION


# %% check MultiHeadAttention

# %% [markdown]
# ### PyTorch's own
#
# `nn.MultiheadAttention` computes the same thing but stores its parameters differently, because its three projections are one matrix:

# %%
theirs = nn.MultiheadAttention(12, num_heads=3, bias=False, batch_first=True)
{name: tuple(p.shape) for name, p in theirs.named_parameters()}

# %% [markdown]
# `in_proj_weight` stacks the E × E matrices for queries, keys and values, in this order. The weight of a linear layer is (out, in), so the stack is a stack of rows. With `bias=True`, which is the default, there are also `in_proj_bias` with 3·E entries and `out_proj.bias`. In PyTorch 2.13 there are two more differences: the module returns the weights from *after* dropout, and a query with no visible keys gets `nan` unless `need_weights=False`.
#
# ### Exercise 6.3: copy the weights
#
# Make a module like yours compute exactly what PyTorch's computes.
#
# Copy *into* the existing parameters, because an optimizer, for instance, keeps references to these objects. And do copy, because if both modules shared one tensor, training one of them would change the other.

# %% hints copy_torch_weights [markdown]
# Which rows of the stacked matrix belong to the keys, if E is 12? How do you split a tensor into three equal parts along an axis, and which axis is it here?
#
# `a.copy_(b)` overwrites the entries of a tensor `a` with those of `b` and keeps the object. With a parameter it has to stand inside `with torch.no_grad():`, which tells autograd that this is not a computation to learn from.
#
# Four matrices, and four biases where there are any. Where there are none, the attribute still exists and is `None`.


# %% exercise copy_torch_weights
def copy_torch_weights(mine: nn.Module, reference: nn.MultiheadAttention) -> None:
    """Copy PyTorch's weights into a module with layers q_proj, k_proj, v_proj and out_proj.

    reference stacks query, key and value weights in in_proj_weight (3E, E), and their biases in in_proj_bias (3E,).
    Its out_proj is a layer like mine.out_proj. Both modules have biases or neither does. mine keeps its parameter
    objects and shares none with reference, which is not changed.
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
# ### The comparison
#
# Here your module, with the weights that you have copied, meets PyTorch's on the same input. Both use a causal mask, which PyTorch's module expects inverted (lesson 5). If an exercise is still open, the cell says so and the lesson goes on.

# %%
x, causal = torch.randn(2, 6, 12), torch.ones(6, 6, dtype=torch.bool).tril()
right = theirs(x, x, x, attn_mask=~causal, need_weights=False)[0]
try:
    yours = MultiHeadAttention(12, num_heads=3)
    copy_torch_weights(yours, theirs)
    print("equal to PyTorch's:", yours(x, mask=causal)[0].allclose(right, atol=1e-6))
except NotImplementedError:
    print("not yet: one of exercises 6.1 to 6.3 is still open")

# %% [markdown]
# ### How many parameters?
#
# A module with a model dimension of 512, eight heads and no biases has this many parameters:

# %%
module = nn.MultiheadAttention(512, num_heads=8, bias=False)
f"{sum(p.numel() for p in module.parameters()):,}"

# %% [markdown]
# There are four matrices of 512 × 512, however many heads share them. With biases there would be 4 · 512 more.
#
# As long as a text is short, these matrices also do most of the work. They take $4 L E^2$ multiplications, $E^2$ for each of the four matrices and each of the $L$ tokens. The scores and the mixing of the values take $2 L^2 E$, which is as much at $L = 2E$ tokens and more beyond. Lesson 10 is about what to do then.
#
# ### What do heads look at?
#
# What do four heads make of a task that needs four things at once? At each of eight places, the model is to name the digit before it, the digit after it, the digit at place 0, and its own digit, which is called "here" below. The output layer sees only what the attention returns, so even a token's own digit has to come through a head. (At the two ends its own digit replaces the missing neighbor.)


# %%
def four_answers(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    digits, i = torch.randint(0, 10, (n, 8), generator=generator), torch.arange(8)
    wanted = [(i - 1).clamp(min=0), (i + 1).clamp(max=7), 0 * i, i]
    return digits, digits[:, torch.stack(wanted, dim=-1)]  # (B, 8, 4)


four_answers(1, seed=0)[1][0].T

# %% [markdown]
# There is one row per question and one column per place. The attention is PyTorch's, with four heads of dimension 8:


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
# Here are the weights of the trained layer, one map per head, averaged over 500 sequences. Before you read on, name the pattern in each of them.

# %%
digits, answers = four_answers(500, seed=999)
guesses, weights = layer(digits)
print(f"right: {(guesses.argmax(dim=-1) == answers).double().mean():.0%}")
plot.heads(
    weights.mean(dim=0),
    [str(i) for i in range(8)],
    "Four heads of one layer",
    alt="Four maps of weights, one for each head, with queries as rows and keys as columns.",
)

# %% [markdown]
# Three of the maps can be read at a glance, and one is smeared (that of head 3 in the run printed here). The entropy of lesson 4 puts a number on this: $e$ raised to the power of the entropy says how many places a row effectively covers:

# %% measured
spread = torch.special.entr(weights).sum(dim=-1).mean(dim=(0, 2)).exp()
print([f"head {h}: {places:.1f} places" for h, places in enumerate(spread)])

# %% [markdown]
# The rows of the three readable heads cover one to two places each, and those of the smeared one cover three. (The map is an average over 500 sequences, so it is more smeared than the rows it is made of.) Now compare the maps with the four questions. Apart from single rows at the two ends, no map has its weight *on* the diagonal. How, then, is the question about the digit "here" answered?
#
# A map says which values were mixed, but not what the model does with the mixture. To find that out, take something away. The next cell switches off one head at a time, by setting to 0 the columns of `out_proj` that read it, and shows which answers are lost.


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
    "Which answers are lost without each head",
    kind="shares",
    alt="Share of right answers without one head. Each answer drops sharply for one of the heads, and 'here' falls without others too, lowest without head 3.",
)

# %% [markdown]
# Without the smeared head, "here" falls to 0.21, lower than without any other head, while the other three answers stay right. So the layer needs this head for "here" and for none of the others. Yet the head rarely looks at its own place. (It does not do the job alone, since "here" also falls, though less far, without heads 1 and 2. And each head was replaced by zeros, a choice that lesson 9 will question.)

# %% [markdown]
# ## What can go wrong
#
# **A map mistaken for an explanation.** The head that is needed for "here" has the least readable of the four maps. Lesson 2 gave another reason for doubt: a large weight can lie on a small value. Claims about what a head is for need an experiment such as the one above.
#
# **Tokens without an order.** If you shuffle the tokens that go into self-attention, the outputs are shuffled in the same way. This property is called *equivariance*. (*Invariance* would mean that the outputs do not change at all.) To the module, a sentence is a bag of tokens:

# %%
x, order = torch.randn(1, 5, 12), torch.tensor([3, 1, 4, 0, 2])
y = x[:, order]
out, shuffled = theirs(x, x, x)[0], theirs(y, y, y)[0]
shuffled.allclose(out[:, order], atol=1e-6), shuffled.allclose(out, atol=1e-6)

# %% [markdown]
# Our models learned about positions because a vector for each place was added to the token there, which is the subject of lesson 7. (With a causal mask the shuffled outputs do differ, because the mask depends on the order.)
#
# **Any length, in principle.** Nothing in the module depends on L, so it runs on sequences of any length. The rest of a model may not: ours have vectors for eight places and raise an error for nine tokens. And a model that runs need not be any good beyond the lengths of its training.
#
# **More heads are not always better.** With the model dimension fixed, more heads means smaller heads. Nor are all of them needed: Michel et al. found that many heads of a trained model can be removed at little cost.
#
# ## What you learned
#
# Multi-head attention performs all three steps several times side by side.
#
# | | what it is | what to remember |
# |---|---|---|
# | head | attention on a slice of the model dimension | one head makes one mixture; to pass on two things in order, use two heads |
# | split, merge | `(B, L, E)` ↔ `(B, H, L, D)` | split the last axis, then move the heads. A `view` alone splits the sequence, and trains nevertheless |
# | `out_proj` | E × E | mixes what the heads found |
# | scale | $1/\sqrt{D}$ | D is the head dimension, not E |
# | dropout | on the weights, in training | return the weights from before it |
# | multiplications | $4LE^2 + 2L^2E$ | the same for any number of heads |
#
# %%
recap()

# %% [markdown]
# If you predicted that one head would be right about half of the time, you may have thought that it sees both digits and loses only their order. But it reads one place and guesses the digit of the other.
#
# ## Questions
#
# **Question R6** (3 points, graded by a person). Read the four maps of "What do heads look at?" and the figure that shows what is lost without each head. Name the pattern of each head and what the layer uses it for. (How the smeared head does its job is not asked.) Then choose *one* of your claims and propose an experiment, other than switching that head off, that could show it to be wrong. What would you change, what would you measure, and which result would refute you?

# %% question R6 [markdown] points=3
# (Heads may be numbered differently on another computer.) Head 0: one step back, for "before". Head 1: first column, for "place 0". Head 2: one step ahead, for "after". Head 3: smeared on average, and only "here" is lost without it.
#
# Experiment for "head 0 looks back because of the places, not the digits": replace all digits with the same one, or shuffle the place vectors, and measure the mean weight of head 0 on the place before. If the line below the diagonal stays when the place vectors are shuffled, or goes when only the digits change, the claim is refuted. Other experiments: change only the digit at place i - 1, and count how often the answer "before" at i follows it. Or try a sequence of another length, and see whether the line continues.
#
# | points | for |
# |---|---|
# | 1 | The pattern of each head (one back, first column, one ahead, smeared) |
# | 1 | What the layer uses each head for, read off the figure of what is lost, and the smeared head is among them |
# | 1 | An experiment other than switching the head off: what is changed, what is measured, and which result would refute the claim |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 1 | "One back, the start, one ahead, everywhere. To test the first, I would remove head 0 and see whether 'before' gets worse." | The patterns are right. The lesson has switched that head off already: read the uses off its figure, and find an experiment of another kind. |
# | 2 | "… Head 3 is spread evenly, so it is used for nothing. I would shuffle the place vectors: if head 0 still looks back, I am wrong." | Patterns and experiment are right. Look at what is lost without head 3. An average can hide a head that goes by the digit. |
# | 2 | "… Head 0 looks back because training made its loss small that way." | Patterns and uses are right. Every head could be explained like this, so no result would refute it. What would have to happen if you were wrong? |
# | 2 | "… If I train again with another seed and the same patterns appear, I am right." (sounds right) | Patterns and uses are right. Another seed shows whether a pattern is stable, and not whether the head goes by places or by digits. Which result would refute your claim? |

# %% [markdown]
# ## Optional: why unequal weights do not help
#
# Let $w$ be the weight of a digit in the mixture, which is ⅔ for the first digit, ⅓ for the second, and 0 for a digit that does not occur. We assume that the weights depend on the places alone, and that the matrix treats all digits alike.
#
# From the mixture, the matrix computes a logit for each digit, and the digit with the highest logit is named. To name the second digit, the logit must be higher at $w = ⅓$ than at ⅔, where the first digit is, and than at 0, where all absent digits are. But a matrix makes the logit a straight line in $w$.
#
# For example, if a digit with the whole weight gets the logit 3 and a digit with no weight gets 0, then a digit of weight ⅓ gets 1 and a digit of weight ⅔ gets 2, so the larger weight wins. With $s$ in place of 3 and $t$ in place of 0, the logit is $sw + t(1 - w) = (s - t)\,w + t$, which is a straight line too:

# %%
figures.no_peak()

# %% [markdown]
# The dashed line is what the second digit would need, a peak at ⅓. But a straight line is highest at one of its ends, or equally high everywhere. So a matrix can name the digit with the larger weight every time. No matrix can name the digit with the smaller weight for every pair of digits.
#
# <details><summary>Could a matrix succeed that treats the digits differently?</summary>
#
# No. Suppose that there were one, called M. Exchange two digits, such as 3 and 7, both in what it reads and in what it writes. The task treats all digits alike, so the new matrix succeeds as well. In the same way every other renaming of the ten digits turns M into a matrix that succeeds. For each request all of these matrices give the largest logit to the right digit, and therefore their mean does so, too. But in the mean no digit is special, and such a matrix fails, so M cannot exist.
#
# The argument is about one layer whose output is read by a matrix, and about weights that depend on the places alone. Our keys contain the digits too, so it makes the failure likely, and the five starts show it.
#
# </details>

# %% [markdown]
# ## Optional: from an empty page
#
# Every exercise so far has begun with a signature, a docstring and three hints. To find out what you know without them, close this notebook, open an empty one, and write multi-head attention with a mask from memory. Twenty-five lines are enough.
#
# Then let PyTorch decide whether it is right. Copy the weights of an `nn.MultiheadAttention` into your module, and draw a batch in `torch.float64` in which all sizes differ. Compare the outputs without a mask, with a causal one, and with padding. If the differences stay below $10^{-12}$, you can build what everything after this lesson is made of.

# %% [markdown]
# ## Optional: a head whose map does not show its job
#
# How does this head know the digit "here" if it rarely looks there? The maps are averages. The next figure shows a single sequence, head by head and query by query, with labels that give the place and its digit. Watch the smeared head.

# %%
plot.explore(weights[0], [f"{i}:{d}" for i, d in enumerate(digits[0].tolist())])

# %% [markdown]
# Its rows have peaks, but no pattern. Perhaps this head goes by the digits, and the others by the places. To test this, we rename the digits, as if every 0 were now called 4, every 1 were called 7, and so on, and measure how much of each head's weight moves:

# %% measured
renamed = torch.randperm(10, generator=torch.Generator().manual_seed(1))[digits]
moved = (layer(renamed)[1] - weights).abs().sum(dim=-1) / 2  # (B, H, L)
print([f"head {h}: {share:.0%}" for h, share in enumerate(moved.mean(dim=(0, 2)))])

# %% [markdown]
# In three of the heads, renaming moves at most 15% of the weight, so they go mostly by place. In the smeared head it moves more than two thirds, so this head goes at least partly by digits. (Weight that leaves one key arrives at another, so the cell divides by 2.) It could go by the digits in the keys or by the digit in the query, so average its weights over all sequences, separately for each digit that asks:

# %% measured
smeared = weights[:, moved.mean(dim=(0, 2)).argmax()].detach()  # (B, L, L)
asked = torch.stack([smeared[digits == digit].mean(dim=0) for digit in range(10)])
order = asked.argmax(dim=-1).argsort(stable=True)  # by the place they like most
plot.heatmap(
    asked[order],
    [f"a {digit} asks" for digit in order.tolist()],
    [f"place {place}" for place in range(8)],
    "The digit that asks decides which place is looked at",
    kind="shares",
    alt="Most rows have one or two bright places. Some digits share a place, and the row of the 8 is nearly even.",
)

# %% [markdown]
# The digit in the query decides where this head looks, whatever the places hold. A 6 looks at place 0, a 4 at place 2, and an 8 nearly everywhere.
#
# The places may work like a code. Each digit spreads its weight over the places in a way of its own. If the mixture says *which places* were looked at, the output layer can tell which digit the query had. Then the values of this head have to carry the places, and need not carry any digit. The next cell makes these values from the vectors of the places alone, and then from those of the digits alone, with the other part replaced by its mean.


# %% measured
digit, place = layer.digit(digits), layer.place.weight.expand(500, 8, 32)
projection = [  # weight and bias of the values, the last third of the stack
    p.chunk(3)[2]
    for p in (layer.attention.in_proj_weight, layer.attention.in_proj_bias)
]
head = moved.mean(dim=(0, 2)).argmax()


@torch.no_grad()
def here_with(carried: Tensor) -> Tensor:
    values = functional.linear(digit + place, *projection).unflatten(-1, (4, 8))
    other = functional.linear(carried, *projection).unflatten(-1, (4, 8))
    values[:, :, head] = other[:, :, head]  # for one head: only this part
    mixed = (weights @ values.transpose(1, 2)).transpose(1, 2).flatten(2)
    logits = layer.out(layer.attention.out_proj(mixed)).unflatten(-1, (4, 10))
    return (logits[:, :, 3].argmax(dim=-1) == digits).double().mean()


print(f"places alone: {here_with(place + digit.mean(dim=(0, 1))):.0%} right")
print(f"digits alone: {here_with(digit + place.mean(dim=1, keepdim=True)):.0%} right")

# %% [markdown]
# The places are enough and the digits are not. What this head contributes to "here" is *where* it has looked, and not a digit that it has passed on. (It needs the help of the other heads, because the digits 0, 2 and 6 all look mostly at place 0 and cannot be told apart by that.) All of this is one run of one small layer.

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.2: the module.
# - Michel, Levy and Neubig 2019, [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650): what is lost when heads are removed.
# - PyTorch's documentation of [MultiheadAttention](https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html): you can now place most of its arguments in the table of shapes.
#
# **Next:** [lesson 7, Order and position](../07_position/07_position.ipynb). The module cannot tell "dog bites man" from "man bites dog". How does it learn where its tokens are?
