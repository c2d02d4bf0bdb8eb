# %% [markdown]
# # 6. Multi-head attention
#
# After this lesson you can say what a second head is good for, cut a model's width into heads and put it together again, and write the module that sits in every transformer, equal to PyTorch's. You need lesson 5 and `nn.Module`. About 90 minutes.
#
# ## The idea
#
# Eight places hold a random digit each. A request names two of the places, a first and a second, and the answer is the two digits, in that order.

# %% setup
import math

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
# Digits, the two places (counted from 0), and the answer. For attention this should be easy: a query made from both places, a key per place, a value per digit, and a matrix that reads both answers off the output.
#
# The model below has one new number, `num_heads`. With 1 it is what you know. With 2, queries, keys and values of 32 numbers are cut into two halves, each half does attention by itself, and the two outputs are laid side by side. How that is done comes later, and PyTorch's module does it for now; what it is good for comes first.


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
# Two scores for each of ten digits come out: ten for the first answer, ten for the second. Training is as in lesson 5.


# %%
def trained(num_heads: int) -> Reader:
    torch.manual_seed(0)
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
# Both models have the same number of parameters. An answer counts as right if both digits are. Of 2000 new requests we take those whose two digits differ, because equal ones can be read from any mixture.
#
# **Predict.** What will one head reach? And two?

# %%
predict("one head", options=("nearly always right", "about half", "rarely right"))
predict("two heads", options=("nearly always right", "about half", "rarely right"))


# %%
def both_right(model: Reader) -> float:
    digits, places, answers = questions(2000, seed=999)
    right = (model(digits, places)[0].argmax(dim=-1) == answers).all(dim=-1)
    return float(right[answers[:, 0] != answers[:, 1]].double().mean())


one_head, two_heads = trained(num_heads=1), trained(num_heads=2)
print("one head, below 0.3: ", both_right(one_head) < 0.3)
print("two heads, above 0.95:", both_right(two_heads) > 0.95)
reveal("one head", "rarely right")
reveal("two heads", "nearly always right")

# %% [markdown]
# One head is wrong most of the time; two are right nearly always. Same width, same parameters, same training. What does the second head have that the first lacks?
#
# Look at where they look, for the request "places 2 and 5", averaged over the 2000 sequences:


# %%
def gaze(model: Reader) -> Tensor:
    digits, _, _ = questions(2000, seed=999)
    _, weights = model(digits, torch.tensor([[2, 5]]).expand(2000, 2))
    return weights[:, :, 0].mean(dim=0).detach()  # (H, 8)


plot.heatmap(
    torch.cat([gaze(one_head), gaze(two_heads)]),
    ["the only head", "head 0 of 2", "head 1 of 2"],
    [f"place {i}" for i in range(8)],
    "Asked for places 2 and 5: one head reads one of them, two divide the work",
    kind="shares",
    alt="The only head puts nearly all its weight on place 5. Of two heads each reads one of the two places.",
)

# %% [markdown]
# With two heads, one reads the first place and the other the second. The only head has one row of weights, so it can give one mixture. Count its digits one by one:

# %%
digits, places, answers = questions(2000, seed=999)
right = (one_head(digits, places)[0].argmax(dim=-1) == answers).double().mean(dim=0)
print(f"the only head: first digit {right[0]:.1f}, second digit {right[1]:.1f}")

# %% [markdown]
# It has given up on the first place, where it is right as often as a guess among ten, and reads the second. Trained from other random numbers it sometimes does the reverse, or shares its weight between both. Then both digits are in the mixture, and which is which is lost.
#
# ## By hand
#
# Two places hold the values a = [6, 0] and b = [0, 6]. One head looks at both alike. What does it hand on for "a, then b"? And for "b, then a"?

# %%
a, b = torch.tensor([6.0, 0]), torch.tensor([0, 6.0])
(a + b) / 2, (b + a) / 2

# %% [markdown]
# [3, 3] both times. A sum has no order, and no matrix behind it can find one that is not there. Two heads, each with a weight of 1 on its own place, hand on four numbers instead of two:

# %%
torch.cat([a, b]), torch.cat([b, a])

# %% [markdown]
# Laying the heads' outputs side by side is called *concatenating*. Here it keeps apart what adding would mix.
#
# Did we pay for it? Take a width of 12, once as one head and once cut into three heads of 4. **Predict**: how many multiplications do the scores of the three heads take, compared to the one?

# %%
predict("cost of three heads of 4", options=("a third", "the same", "three times"))

# %%
L, E = 100, 12
reveal("cost of three heads of 4", "the same")
{H: H * L * L * (E // H) for H in (1, 3, 12)}

# %% [markdown]
# 120,000 for every number of heads: a score of a narrow head is cheaper by as much as there are more of them. What grows with H is the number of tables, and with them memory. What a head loses is width: with 12 heads each would compare single numbers.
#
# ## In PyTorch
#
# Now the cutting. The letters are those of lesson 2, with `E` for the width of a token, `H` heads, and `D` numbers per head, so that $E = H \cdot D$. To see where each number goes, number them: two sentences, five tokens, twelve numbers each.

# %%
x = torch.arange(120).view(2, 5, 12)  # (B, L, E)
x[0, 0], x[0, 1]

# %% [markdown]
# Token 0 of sentence 0 holds 0 to 11, token 1 holds 12 to 23. With three heads, head 0 gets the first four numbers of *each token*, head 1 the next four, and so on. Slices say it plainly:

# %%
head_0, head_1 = x[:, :, 0:4], x[:, :, 4:8]
head_0[0], head_1[0, :2]

# %% [markdown]
# A loop over such slices, attention for each, and a `cat` at the end would be a correct multi-head attention. But GPUs like one large product better than H small ones, and the code is shorter without the loop. Attention carries all axes in front of the last two along, so the heads should become such an axis: `(B, H, L, D)`. One `view` to that shape is tempting. Look at head 0:

# %%
x.view(2, 3, 5, 4)[0, 0]

# %% [markdown]
# The shape is right and the contents are not. Its second row holds 4 to 7, which are still numbers of *token 0*. A view only cuts up the numbers in the order in which they lie in memory, and there the numbers of one token lie together. So this "head" has cut the sequence: its five rows are not five tokens. Attention on it runs without complaint.
#
# ## Exercise 6.1: split into heads
#
# Head h gets the numbers h·D to (h + 1)·D − 1 of every token.

# %% hints split_heads [markdown]
# In memory the twelve numbers of a token lie together. Into which two sizes must *that* axis be cut, and which of the two comes first: the head, or the number within it?
#
# Write down the shape after the last axis was cut in two, beside the shape that is asked for. What has to move? `unflatten` cuts an axis, and you know how to swap two.
#
# Python's `%` tells whether a width can be divided. The error should come before the cut, and say both numbers.


# %% exercise split_heads
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut each token's numbers into heads.

    x is (B, L, E). Returns (B, H, L, D) with D = E / H: head h holds numbers h * D to (h + 1) * D - 1 of each token.
    Raises ValueError if num_heads does not divide E.
    """
    ### BEGIN SOLUTION
    if x.size(-1) % num_heads:
        raise ValueError(f"{x.size(-1)} numbers cannot be cut into {num_heads} heads")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    ### END SOLUTION


# %% check split_heads

# %% [markdown]
# ### And back
#
# After attention each head has an output `(B, H, L, D)`, and the next layer expects tokens again: for each token the heads side by side.
#
# ## Exercise 6.2: merge heads
#
# Undo the split.

# %% hints merge_heads [markdown]
# Which two axes must lie next to each other, and in which order, before they can become one axis of width E?
#
# Undo the steps of the split in the opposite order: the axis that was moved last moves back first. `flatten` joins neighbouring axes.
#
# After a `transpose` the numbers lie in memory in another order than the axes say. `view` refuses to work then; `reshape` and `flatten` copy where they must.


# %% exercise merge_heads
def merge_heads(x: Tensor) -> Tensor:
    """Put the heads of each token side by side: the inverse of split_heads.

    x is (B, H, L, D). Returns (B, L, E) with E = H * D.
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)
    ### END SOLUTION


# %% check merge_heads

# %% [markdown]
# ### One more matrix
#
# Side by side the heads are still strangers: numbers 0 to 3 of the result come from head 0 alone, and nothing in the module has brought them together. A last matrix, `out_proj`, mixes across heads. So there are four matrices, all of them E × E:
#
# $$\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{D}}\right) V_h, \qquad \text{output} = [\text{head}_0, \dots, \text{head}_{H-1}]\; W_o .$$
#
# The root holds $D$, the width of one head. That is how long the vectors are whose products are taken. Step by step, with the shapes:
#
# | step | shape |
# |---|---|
# | project: `q_proj`, `k_proj`, `v_proj` | `(B, L, E)`, `(B, S, E)`, `(B, S, E)` |
# | split | `(B, H, L, D)`, `(B, H, S, D)`, `(B, H, S, D)` |
# | scores, scaled and masked; softmax | `(B, H, L, S)` |
# | dropout on the weights, while training | `(B, H, L, S)` |
# | mix values | `(B, H, L, D)` |
# | merge | `(B, L, E)` |
# | `out_proj` | `(B, L, E)` |
#
# *Dropout* is new. While a model trains, each weight is set to 0 with a small probability p, so that a head cannot rely on a single key. The others are divided by 1 − p, so that sums stay right on average. Two things go wrong with it so often that we look at them first:

# %%
weights = torch.full((1000, 10), 0.1)
dropped = functional.dropout(weights, p=0.1)
dropped.unique(), dropped.sum(dim=-1).max()

# %% [markdown]
# A thousand rows of ten weights of 0.1. Afterwards a weight is 0 or 0.111, and a row in which none was dropped sums to 1.111. So weights that are returned to be *looked at* must be taken before dropout. And nobody had said that this was training: `functional.dropout` assumes it unless told otherwise. `nn.Dropout` is a module and asks its own `training` flag, which `model.eval()` turns off:

# %%
drop = nn.Dropout(p=0.1)
drop.eval()
drop(weights).equal(weights)

# %% [markdown]
# A mask comes with two, three or four axes: `(L, S)` for all sentences, `(B, L, S)` one per sentence, `(B, 1, 1, S)` or `(B, H, L, S)` ready for heads. Only the second needs care. Lined up from the right with scores `(B, H, L, S)`, its B meets H:

# %%
scores, mask = torch.zeros(2, 2, 3, 3), torch.ones(2, 3, 3, dtype=torch.bool)
mask[1] = torch.ones(3, 3).tril() > 0  # a rule for sentence 1
scores.masked_fill(~mask, -torch.inf)[0]  # both heads of sentence 0

# %% [markdown]
# Sentence 0 should see everything. Its second head does not: it got the rule of sentence 1, and because B and H were both 2 nothing complained.
#
# ## Exercise 6.3: the module
#
# Write the module. The docstrings are its contract; the table above is its plan. The layers must be `nn.Linear` with the names given, so that weights can be copied in from elsewhere. Use your `split_heads` and `merge_heads`, or not; PyTorch's ready-made attentions are not allowed here.

# %% hints MultiHeadAttention [markdown]
# Which objects hold numbers that are learned, and how does `nn.Module` learn about them? What else must be known in `forward`, and could be stored in `__init__`?
#
# Keys default to the query and values to the *keys*, in this order. A mask with three axes gets a head axis. Hide scores as in lesson 5, and remember the queries that may look nowhere.
#
# Keep two tables: the weights that are returned, and what dropout makes of them, which mixes the values. Divide by the root of one head's width.


# %% exercise MultiHeadAttention
class MultiHeadAttention(nn.Module):
    """Attention in several heads (Vaswani et al. 2017, section 3.2.2).

    Its layers q_proj, k_proj, v_proj and out_proj are nn.Linear of E = d_model to E numbers, with or without bias.
    dropout is the share of attention weights that is set to 0 while training.
    Raises ValueError if num_heads does not divide d_model.
    """

    def __init__(
        self, d_model: int, num_heads: int, *, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {d_model}")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
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

        query is (B, L, E), key and value are (B, S, E); key is the query and value is the key if not given. Empty rows have weights 0.
        mask is boolean, (L, S), (B, L, S) or (B, H, L, S), as far as it broadcasts; True where a query may look.
        Returns the output (B, L, E), and the weights (B, H, L, S) before dropout if they are needed, else None.
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
# `nn.MultiheadAttention` computes the same, and keeps its numbers differently: the three projections in one matrix.

# %%
theirs = nn.MultiheadAttention(12, num_heads=3, bias=False, batch_first=True)
{name: tuple(p.shape) for name, p in theirs.named_parameters()}

# %% [markdown]
# `in_proj_weight` stacks queries on keys on values, in this order, each of them E × E. A linear layer's weight is (out, in), and its rows belong to outputs; so the stack is a stack of rows. With `bias=True`, which is its default, there are also `in_proj_bias`, of 3·E numbers, and `out_proj.bias`. (Two more differences: it returns weights from *after* dropout, and a query that may look nowhere gets `nan`.)
#
# ## Exercise 6.4: copy the weights
#
# Make a module like yours compute exactly what PyTorch's computes.
#
# Copy *into* the parameters that are there. An optimizer, or someone else, may hold on to those objects. And copy: if both modules shared one tensor, training one would change the other.

# %% hints copy_torch_weights [markdown]
# Which rows of the stacked matrix belong to the keys, if E is 12? How do you cut a tensor into three equal parts along an axis, and along which axis here?
#
# A parameter has a method that overwrites its numbers with those of another tensor and keeps the object. Autograd objects unless you tell it that this is no computation to learn from.
#
# Four matrices, and four biases where there are any. Where there are none, the attribute exists and is `None`.


# %% exercise copy_torch_weights
def copy_torch_weights(mine: nn.Module, reference: nn.MultiheadAttention) -> None:
    """Copy PyTorch's weights into a module with layers q_proj, k_proj, v_proj and out_proj.

    reference keeps query, key and value weights stacked in in_proj_weight (3E, E), biases in in_proj_bias (3E,).
    Both modules have biases, or neither does. The parameters of mine stay the same objects; reference is not changed.
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
# Your module, your copy, PyTorch's module; the same input, and a causal mask. Theirs wants it turned round (lesson 5). If one of your two exercises is not done, the cell says so and the lesson goes on.

# %%
x, causal = torch.randn(2, 6, 12), torch.ones(6, 6, dtype=torch.bool).tril()
right = theirs(x, x, x, attn_mask=~causal, need_weights=False)[0]
try:
    yours = MultiHeadAttention(12, num_heads=3)
    copy_torch_weights(yours, theirs)
    print("equal to PyTorch's:", yours(x, mask=causal)[0].allclose(right, atol=1e-6))
except NotImplementedError:
    print("not yet: one of the exercises 6.1 to 6.4 is still open")

# %% [markdown]
# ### What it costs
#
# The module has parameters, and it does work; both can be counted.
#
# ## Exercise 6.5: count parameters
#
# How many numbers does your module learn?

# %% hints count_parameters [markdown]
# How many matrices are there, and how large is each? Does the number of heads appear in any of their sizes?
#
# A bias has one number per output of its layer. How many layers have one, and how wide is the output of each?
#
# You can check the result against a module: every parameter has a `numel`. PyTorch's module from the cell above has the same number of them as yours.


# %% exercise count_parameters
def count_parameters(d_model: int, num_heads: int, bias: bool) -> int:
    """Return how many numbers a MultiHeadAttention(d_model, num_heads, bias=bias) learns."""
    ### BEGIN SOLUTION
    per_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * per_layer
    ### END SOLUTION


# %% check count_parameters

# %% [markdown]
# The work is of two kinds. The four projections take E × E multiplications per token, $4 L E^2$ together: twice the tokens, twice the work. Scores and mixing take $L^2 E$ each, $2 L^2 E$ together, because every token meets every other: twice the tokens, four times the work. For a width of 512:

# %%
E = 512
for L in (64, 1024, 16384):
    projections, attention = 4 * L * E**2, 2 * L**2 * E
    print(f"{L:6} tokens: {attention / (projections + attention):.0%} in attention")

# %% [markdown]
# The two are equal at $L = 2E$. So "attention costs $O(L^2 E)$" is true of its core and of long sequences; for short ones the projections cost more. In memory the table of weights, `(B, H, L, S)`, is what grows fastest.
#
# (A whole transformer layer also has a small network per token, usually of $8 E^2$ parameters beside attention's $4 E^2$. So two thirds of the layer are that network: transformers are not "built of attention alone".)
#
# ### What do heads look at?
#
# Train one layer with four heads on a task that needs four things at once: at each of eight places, say the digit before, the digit after, the digit at place 0, and the digit that stands here.


# %%
def four_answers(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    digits, i = torch.randint(0, 10, (n, 8), generator=generator), torch.arange(8)
    wanted = [(i - 1).clamp(min=0), (i + 1).clamp(max=7), 0 * i, i]
    return digits, digits[:, torch.stack(wanted, dim=-1)]  # (B, 8, 4)


four_answers(1, seed=0)[1][0].T

# %% [markdown]
# One row per question, one column per place. The layer is PyTorch's, with four heads of 8 numbers:


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
# Here are its weights, one map per head, averaged over 500 sequences. Before you read on, name the pattern of each.

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
# Three of the maps can be read at once, and the fourth is smeared. Compare them with the four questions: none of them has its light *on* the diagonal, although "the digit that stands here" is answered too.
#
# These are averages. Look into a single sequence, head by head and query by query; the labels are place and digit. What does the smeared head look at in a single sequence?

# %%
plot.explore(weights[0], [f"{i}:{d}" for i, d in enumerate(digits[0].tolist())])

# %% [markdown]
# A map says where values were mixed from. It does not say what the model does with them. To learn that, take something away: switch one head off, by setting to 0 the columns of the output matrix that read it, and see which answers are lost.


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
    "Each answer depends on some head",
    kind="shares",
    alt="Right answers after one head was switched off. Each answer falls far for one of the heads; 'here' for several.",
)

# %% [markdown]
# The smeared head is needed for "here", and for nothing else: without it "here" falls lowest. It is read from a head whose map has no light on the diagonal. The map is an average over 500 sequences, and an average could not show it. ("Here" suffers without others too. A 0 is rough treatment: the rest of the layer has never met it. And at the ends "before" and "after" *are* "here".)
#
# ## What can go wrong
#
# **A map taken for an explanation.** You saw it: the most important head for one answer has the least readable map. Lesson 2 gave a second reason, a large weight on a small value. Claims about what a head is for need an experiment, such as the one above.
#
# **The order of the tokens does not matter, until something says it does.** Shuffle the tokens of a self-attention, and its outputs are shuffled in the same way (it is *equivariant*, not invariant). The sentence as a set of tokens is all that it sees:

# %%
x, order = torch.randn(1, 5, 12), torch.tensor([3, 1, 4, 0, 2])
out, shuffled = theirs(x, x, x)[0], theirs(*[x[:, order]] * 3)[0]
shuffled.allclose(out[:, order], atol=1e-6), shuffled.allclose(out, atol=1e-6)

# %% [markdown]
# In our models the places were told by adding a vector per place to each token. Lesson 7 is about such vectors. (With a causal mask the shuffled outputs differ, since the mask depends on the order.)
#
# **Any length, in principle.** Nothing in the module depends on L, so it runs on sequences of any length. What is around it may not: our models have vectors for eight places and stop at the ninth, and a model that runs need not be any good beyond the lengths that it was trained on.
#
# **More heads are not always better.** With the width fixed, more heads are narrower heads. Michel et al. found that in trained models many heads can be removed at little cost: they had not all been needed.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | head | attention on a slice of the width | one head is one mixture; two things at once need two |
# | split, merge | `(B, L, E)` ↔ `(B, H, L, D)` | cut the last axis, then move it; a `view` alone cuts the sequence |
# | `out_proj` | E × E | mixes what the heads found |
# | scale | $1/\sqrt{D}$ | the width of one head |
# | dropout | on weights, in training | return the weights from before it |
# | cost | $4LE^2 + 2L^2E$ | the same for any number of heads |
#
# %%
recap()

# %% [markdown]
# Did you predict that one head would be rarely right? Of single digits it gets about half. An answer needs both.
#
# ## Questions
#
# **Question R6** (3 points, read by a person). Read the four maps and the table below them. Name the pattern of each head and what the layer uses it for. Then choose *one* of your claims and propose an experiment, other than switching that head off, which could show it to be wrong: what would you change, what would you measure, and which result would refute you?

# %% question R6 [markdown] points=3
# (Heads may be numbered differently on another computer.) Head 0: one step back, for "before". Head 1: first column, for "place 0". Head 2: one step ahead, for "after". Head 3: smeared on average, and only "here" is lost without it.
#
# How head 3 knows the digit that stands here the averaged map cannot show; in single sequences its rows differ from one another, so it goes by the digits.
#
# Experiment for "head 0 looks back because of the places, not of the digits": replace all digits by the same one, or shuffle the vectors of the places, and measure the mean weight of head 0 on the place before. If the line below the diagonal stays when the vectors of the places are shuffled, or goes when only digits change, the claim is refuted. Others: swap the digit at place i - 1 only, and count how often the answer "before" at i follows it; in a sequence of another length, look whether the line goes on.
#
# | points | rubric |
# |---|---|
# | 3 | Patterns named, uses read off the table (with the smeared head), and an experiment with a result that would refute the claim |
# | 2 | Two of the three |
# | 0 | Patterns only, or "head 0 looks at X because it matters", with no test |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.2: the module.
# - Michel, Levy and Neubig 2019, [Are Sixteen Heads Really Better than One?](https://arxiv.org/abs/1905.10650): what is lost when heads are removed.
# - PyTorch's documentation of [MultiheadAttention](https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html): most of its arguments you can now place in the table of shapes.
#
# **The end.** This was the last lesson so far. You have built attention from a dot product to the module that transformers are made of. Back to [lesson 5](../05_masking/05_masking.ipynb).
