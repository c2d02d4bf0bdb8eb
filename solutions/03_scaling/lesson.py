# %% [markdown]
# # 3. Scaling
#
# After this lesson you can say why attention divides its scores by $\sqrt{d_k}$, and show what happens to a model without that division. You need lesson 2, and should know what a variance is. About 45 minutes.
#
# ## The idea
#
# In lesson 2, queries and keys had dimension 2 to 4. Models use 64, or 128. So raise the dimension and touch nothing else: one random query, five random keys, three dimensions. (It is `head_dim` in code, $d_k$ in formulas and `D` in shapes.)

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
torch.manual_seed(0)
for head_dim in (4, 64, 1024):
    q, k = torch.randn(head_dim), torch.randn(5, head_dim)
    print(f"{head_dim:5}", (k @ q).softmax(dim=-1))

# %% [markdown]
# Read the rows from top to bottom. In dimension 4 the favorite key gets 0.548 and the other four share the rest. In dimension 64 it gets 0.998. In dimension 1024 it gets everything, and attention has turned into picking.
#
# Nothing about the keys became more certain: they are noise. The certainty came from the dimension. How?
#
# **Predict.** A score is a sum of `head_dim` products, each of them around 1 in size, positive or negative. How large is the sum of 64 of them, typically?

# %%
predict("size of a score in dimension 64", options=("about 64", "about 8", "about 1"))

# %%
torch.manual_seed(0)
for head_dim in (4, 64, 1024):
    q, k = torch.randn(10_000, head_dim), torch.randn(10_000, head_dim)
    print(f"{head_dim:5}  standard deviation {(q * k).sum(dim=-1).std():.1f}")
reveal("size of a score in dimension 64", "about 8")

# %% [markdown]
# About 8. About half of the products are negative, and they cancel most of the sum, but not all of it. A product of two independent numbers with mean 0 and variance 1 has variance 1 as well, and the variances of independent numbers add. So a sum of 64 products has variance 64, and its standard deviation, or *spread*, is $\sqrt{64} = 8$.
#
# Softmax sees differences between scores. The ratio of two weights is $e$ to the power of the difference between their scores. In dimension 1024 each score has a spread of 32. The difference of two has twice the variance, so its spread is $32\sqrt2 \approx 45$, and $e^{-45}$ is next to nothing.
#
# ## By hand
#
# Take the insistent query from lesson 2, [2, 0, 0, 0], and its three keys, whose first entries were 0, ln 2 and ln 3. Its scores are 0, 2 ln 2 and 2 ln 3, and its weights were $\tfrac1{14}, \tfrac4{14}, \tfrac9{14}$.
#
# If scores spread by $\sqrt{d_k}$, where $d_k$ is `head_dim`, then dividing by $\sqrt{d_k}$ should bring the spread back to 1. These vectors have dimension $d_k = 4$, so divide the scores by 2, on paper, and work out the weights and the output again. The values were [6, 0], [0, 6] and [12, 12].

# %%
scores = torch.tensor([0.0, 2 * math.log(2), 2 * math.log(3)])
weights = (scores / 2).softmax(dim=-1)
weights, weights @ torch.tensor([[6.0, 0], [0, 6], [12, 12]])

# %% [markdown]
# One sixth, one third, one half, and [7, 8] again. That $\sqrt4$ undoes the doubling of lesson 2 is a coincidence of this example. What the division always does is shrink all differences between scores by the same factor and keep the order of the keys.
#
# ## In PyTorch
#
# Why the root? A more familiar fix is to divide by the *number* of terms, as for a mean. **Predict.** What will the weights be in dimension 1024?

# %%
predict(
    "dividing by 1024",
    options=("one key still wins", "as in dimension 4", "all about 1/5"),
)

# %%
torch.manual_seed(0)
for head_dim in (4, 64, 1024):
    q, k = torch.randn(head_dim), torch.randn(5, head_dim)
    print(f"{head_dim:5}", (k @ q / head_dim).softmax(dim=-1))
reveal("dividing by 1024", "all about 1/5")

# %% [markdown]
# Too much. At 1024 all five weights are within about 0.01 of 0.2, whatever the keys say: attention has turned into averaging. The spread of the scores was 32 and is now $\tfrac{32}{1024} = \tfrac1{32}$: first 32 times too large, now 32 times too small. The spread grows with $\sqrt{d_k}$, so that is what to divide by:
#
# $$\text{output} = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V .$$
#
# ## Exercise 3.1: scale the scores
#
# Write the division. `d_k` is the dimension of the queries and keys. You cannot read it off the scores, which is why it is passed in.

# %% hints scale_scores [markdown]
# By what factor did the spread of the scores grow when the dimension grew 16-fold, from 64 to 1024? By 16, or by 4?
#
# The shape of the scores tells you how many queries and keys there are. Is either of those the number that made the scores large?
#
# One division is enough. The caller may still need the scores as they were, so make new ones and leave the old ones alone.


# %% exercise scale_scores
def scale_scores(scores: Tensor, d_k: int) -> Tensor:
    """Undo the growth of the scores with the dimension of queries and keys.

    scores is (..., L, S), computed from queries and keys of dimension d_k. Returns a new tensor (..., L, S), the scores
    times a factor that depends on d_k alone.
    """
    ### BEGIN SOLUTION
    return scores / math.sqrt(d_k)
    ### END SOLUTION


# %% check scale_scores

# %% [markdown]
# ## Exercise 3.2: measure it
#
# The rule "variances add" is a claim about many draws, so measure it. Draw `n` random pairs of a query and a key, each with `d_k` standard normal entries, and return the standard deviation of their dot products, before and after scaling.
#
# A `torch.Generator` holds the state of a random stream. Whoever passes it in can repeat your measurement exactly, as long as you draw from it and from nothing else.

# %% hints score_std [markdown]
# Which cell above did this for 10,000 pairs? What is the shape of the queries there, and along which axis are the products summed?
#
# `torch.randn` takes a `generator`. Each pair gives one score. The standard deviation is taken over the pairs, not over the entries of a vector.
#
# Return two Python floats, not tensors. You can compute the second from the first or measure it on the scaled scores. Both are right.


# %% exercise score_std
def score_std(d_k: int, n: int, generator: torch.Generator) -> tuple[float, float]:
    """Measure the spread of dot products of random vectors.

    Draws n independent pairs of standard normal vectors (d_k,) from the generator: each key has a query of its own.
    Returns two floats, not rounded: the standard deviation of these n scores, raw and scaled.
    """
    ### BEGIN SOLUTION
    q = torch.randn(n, d_k, generator=generator)
    k = torch.randn(n, d_k, generator=generator)
    raw = (q * k).sum(dim=-1).std().item()
    return raw, raw / math.sqrt(d_k)
    ### END SOLUTION


# %% check score_std

# %% [markdown]
# ### Three ways to scale, side by side
#
# Now five dimensions, $d$ for short, and three factors: 1, $1/\sqrt d$ and $1/d$.

# %%
DIMENSIONS = (4, 16, 64, 256, 1024)
FACTORS = {
    "unscaled": lambda d: 1.0,
    "over √d": lambda d: d**-0.5,
    "over d": lambda d: 1 / d,
}

# %% [markdown]
# For each $d$, 500 queries with 16 keys each, all with standard normal entries:


# %%
def scores_of_dimension(d: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(500, n, d, generator=generator) for n in (1, 16))
    return (q @ k.mT).squeeze(dim=-2)  # (500, 16)


# %% [markdown]
# How much does the favorite key get, averaged over the queries? If all keys got the same, it would be $\tfrac1{16} \approx 0.06$.


# %%
largest = {
    name: [
        float((scores_of_dimension(d) * factor(d)).softmax(-1).amax(-1).mean())
        for d in DIMENSIONS
    ]
    for name, factor in FACTORS.items()
}
plot.curves(
    DIMENSIONS,
    largest,
    "Only √d keeps the largest weight nearly constant",
    xlabel="d",
    ylabel="largest weight",
    log=True,
)

# %% [markdown]
# Left alone, the favorite's share climbs to 0.97: attention hardens as the dimension grows. Dividing by $d$ brings it down to 0.07, close to the 0.06 of no preference at all. Dividing by $\sqrt d$ keeps it at about 0.25 for every $d$. A model can be made wider without its attention changing character.
#
# Here are one query and sixteen keys, unscaled, to play with. At which $d$ does one key get more than half?

# %%
generator = torch.Generator().manual_seed(0)
one, sixteen = (torch.randn(n, 1024, generator=generator) for n in (1, 16))
plot.slide(
    lambda d: (one[:, : int(d)] @ sixteen[:, : int(d)].mT).softmax(dim=-1)[0],
    [str(j) for j in range(16)],
    name="dimension",
    low=1,
    high=10,
    start=2,
    doubling=True,
)

# %% [markdown]
# From d = 8 on. At 4 the leader has 0.19, at 8, by luck, 0.98, at 16 only 0.52, and from 256 on it has everything. Watch which key leads: 8, then 11, 7, 11, 2, 12, 14. One key wins decisively, and chance decides which.
#
# ### What a saturated softmax does to learning
#
# A model learns from gradients, and here a gradient has to pass through softmax. How does a weight change when a score does? The answer is a table, the *Jacobian*: row i, column j says how weight i responds to score j. Ask PyTorch for the Jacobian at three scores. (Logarithms of weights serve as scores here, because their softmax gives the weights back.)

# %%
weights = torch.tensor([0.1, 0.2, 0.7])
jacobian = torch.autograd.functional.jacobian(
    lambda s: s.softmax(dim=-1), weights.log()
)
jacobian

# %% [markdown]
# The diagonal says how fast raising a score raises its own weight: 0.09, 0.16, 0.21. Those are $w_i(1 - w_i)$, which is what the quotient rule gives for $e^{s_i} / \sum_k e^{s_k}$. Off the diagonal the same rule gives $-w_i w_j$, always negative: what one key gains, the others lose, so each column sums to 0. So does each row, because adding the same amount to all scores changes nothing.
#
# Both cases in one line, with $\delta_{ij}$ equal to 1 where $i = j$ and 0 elsewhere: $\;\partial w_i / \partial s_j = w_i\,(\delta_{ij} - w_j)$.

# %%
names = ["weight 0", "weight 1", "weight 2"]
plot.heatmap(
    jacobian,
    names,
    ["score 0", "score 1", "score 2"],
    "What one gains, the others lose",
    kind="numbers",
)

# %% [markdown]
# Put $w$ close to [0, 0, 1] into the formula. Every entry has a factor that is almost 0. A softmax that has made up its mind, a *saturated* one, hardly responds to its scores anymore.
#
# ## Exercise 3.3: the Jacobian of softmax
#
# Compute this table for any number of rows of weights at once. The input is weights: softmax has already been applied. PyTorch can compute Jacobians itself, but here the formula is the exercise, so that is not allowed.

# %% hints softmax_jacobian [markdown]
# For one row of n weights the answer is an n × n table. Which part of the formula appears only on the diagonal, and which part fills the whole table?
#
# `torch.diag_embed` puts the last axis on the diagonal of a new matrix. The products of every weight with every other are a column times a row.
#
# An axis added after the last one makes a column. An axis added before it makes a row. Broadcasting then fills the table, whatever the leading axes.


# %% exercise softmax_jacobian
def softmax_jacobian(weights: Tensor) -> Tensor:
    """Return how each weight of a softmax responds to each of its scores.

    weights is (..., n), each row the result of a softmax. Returns (..., n, n):
    entry [i, j] is the derivative of weight i with respect to score j. weights is not changed, and PyTorch's own
    derivatives are not used.
    """
    ### BEGIN SOLUTION
    products = weights.unsqueeze(-1) * weights.unsqueeze(-2)  # (..., n, n)
    return torch.diag_embed(weights) - products
    ### END SOLUTION


# %% check softmax_jacobian

# %% [markdown]
# How much of this response is left in dimension 1024? Measure the size of a table by its norm, the square root of the sum of its squared entries. Here is its mean over the 500 queries, for each way of scaling. `jacrev` is PyTorch's Jacobian as a function, and `vmap` applies it to each row:

# %%
jacobian_of_rows = torch.func.vmap(torch.func.jacrev(lambda s: s.softmax(dim=-1)))
scores = scores_of_dimension(1024)
for name, factor in FACTORS.items():
    tables = jacobian_of_rows(scores * factor(1024))  # (500, 16, 16)
    print(f"{name:12} {tables.flatten(-2).norm(dim=-1).mean():.2f}")

# %% [markdown]
# 0.05 without scaling, 0.31 with it: six times as much gets through. (0.24, over $d$, is the response of sixteen equal weights: $\sqrt{15}/16$.) This is the reason most texts give: "without scaling, gradients vanish". It is half the truth.
#
# ## Exercise 3.4: attention with scale
#
# Before the other half of the truth, build the scaled attention. It is lesson 2's function with one more argument: `scale`, by which the scores are *multiplied*. If it is None, use $1/\sqrt{d_k}$. Here is a small case to check your function against, with one query and three keys of dimension 4:

# %%
q = torch.tensor([[1.0, 0.5, -0.5, 0.2]])  # (L, D) = (1, 4)
k = torch.tensor([[1.0, 0.4, -0.3, 0.1], [-0.5, 0.8, 0.2, -0.4], [0.9, 0.5, -0.6, 0.3]])
v = torch.tensor([[0.1, 0.2], [0.8, 0.9], [0.3, 0.4]])  # (S, D_v) = (3, 2)
functional.scaled_dot_product_attention(q, k, v)

# %% [markdown]
# That is PyTorch's own function, which scales by default and keeps its weights to itself. On paper: the scores are 1.37, −0.28 and 1.51. Halved, they are 0.685, −0.14 and 0.755, and the weights are 0.398, 0.175 and 0.427. Keys 0 and 2 fit almost equally well, so the output is mostly a mixture of their values.
#
# Where will you multiply? The scores are a table of L × S numbers. But $(c\,q) \cdot k = c\,(q \cdot k)$, so you could scale the query instead, which has L × D. With a thousand keys of dimension 64, which is less work? The result is the same up to rounding.

# %% hints scaled_attend [markdown]
# Which of the three inputs tell you how many terms a dot product has? Is that the same number as the dimension of the values?
#
# Should the scores be scaled before softmax, or the weights after it? Look at what each order would do to the sum of a row.
#
# A scale of 0.0 is legal: it treats all keys the same. Python counts 0.0 as false, so ask whether `scale` is None, not whether it is true.


# %% exercise scaled_attend
def scaled_attend(
    query: Tensor, key: Tensor, value: Tensor, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention, without a mask.

    query is (..., L, D), key is (..., S, D), value is (..., S, D_v). Scores are multiplied by
    scale, which may be 0.0, by default 1 / sqrt(D). Returns the output (..., L, D_v) and the weights (..., L, S).
    Written without PyTorch's own attention.
    """
    ### BEGIN SOLUTION
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1))
    weights = (query @ key.mT * scale).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check scaled_attend

# %% [markdown]
# ### Does a model notice?
#
# Here is a small task made for attention. There are 64 symbols, each a fixed random vector of dimension 256. An example shows 16 of them, each with a label from 0 to 15, and asks about one: which label did it have? The labels are new each time, so nothing can be memorized. (Sorting random numbers is a shuffle: `argsort` picks 16 different symbols for each example.)

# %%
symbols = torch.randn(64, 256, generator=torch.Generator().manual_seed(1))


def lookup_batch(generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    shown = torch.rand(32, 64, generator=generator).argsort(dim=-1)[:, :16]  # (B, S)
    labels = torch.randint(0, 16, (32, 16), generator=generator)
    place = torch.randint(0, 16, (32,), generator=generator)
    return symbols[shown], labels, place


# %% [markdown]
# The model is a single attention layer. It has to learn a query matrix and a key matrix that let a symbol find itself, and a way to read a label off the mixture. The matrices are initialized so that the entries of queries and keys have variance 1.


# %%
class Lookup(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.q_proj, self.k_proj = (nn.Linear(256, 256, bias=False) for _ in range(2))
        for layer in (self.q_proj, self.k_proj):
            nn.init.normal_(layer.weight, std=256**-0.5)
        self.value, self.out_proj = nn.Embedding(16, 256), nn.Linear(256, 16)

    def forward(self, x: Tensor, labels: Tensor, place: Tensor) -> Tensor:
        asked = x[torch.arange(len(x)), place].unsqueeze(-2)  # (B, 1, E)
        q, k, v = self.q_proj(asked), self.k_proj(x), self.value(labels)
        output = functional.scaled_dot_product_attention(q, k, v, scale=self.scale)
        return self.out_proj(output).squeeze(-2)  # (B, 16)


# %% [markdown]
# Training is the usual loop. It also records the norm of the query matrix's first gradient, for a reason you will see.
#
# **Predict.** At the first step, before anything is learned, is that gradient smaller or larger without scaling?

# %%
predict(
    "the first gradient without scaling",
    options=("smaller", "about the same", "larger"),
)


# %%
def train(scale: float, steps: int = 300) -> tuple[Lookup, list[float], float]:
    torch.manual_seed(0)
    model, generator = Lookup(scale), torch.Generator().manual_seed(0)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=1e-3), []
    for step in range(steps):
        x, labels, place = lookup_batch(generator)
        loss = functional.cross_entropy(
            model(x, labels, place), labels[torch.arange(len(x)), place]
        )
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            first_gradient = float(model.q_proj.weight.grad.norm())
        optimizer.step()
        losses.append(loss.item())
    return model, losses, first_gradient


# %% [markdown]
# Three runs, which differ only in scale. The loss starts near $\ln 16 \approx 2.8$, that of a blind guess.


# %% measured
runs = {name: train(factor(256)) for name, factor in FACTORS.items()}
for name, (_, losses, gradient) in runs.items():
    first = next((step for step, loss in enumerate(losses) if loss < 0.3), "never")
    print(f"{name:9} below 0.3 at step: {first!s:5}  first gradient: {gradient:.2f}")
reveal("the first gradient without scaling", "larger")

# %% [markdown]
# Unscaled, the model does not get below 0.3 in 300 steps. Yet its first gradient was the *largest* of the three. The gradient did not vanish. Over $d$ the gradient was the smallest, and that model learns: Adam, which trains all three, corrects for the size of gradients anyway. Why is the unscaled gradient the largest? Without the division by $\sqrt{256} = 16$, a change in the query matrix changes the scores sixteen times as much. Softmax lets less through, but not sixteen times less.

# %%
curves = {name: losses for name, (_, losses, _) in runs.items()}
plot.curves(
    range(300),
    curves,
    "Without scaling, learning crawls",
    xlabel="step",
    ylabel="loss",
    alt="Over √d the loss drops to nearly 0 within about 50 steps, over d within about 90. Unscaled, it falls slowly and is still above 1 after 300.",
)

# %% [markdown]
# Over $\sqrt d$, the loss is near 0 after some 50 steps. Over $d$, that takes about 85, because attention first has to learn to prefer anything at all.
#
# Unscaled, the trouble is not the size of the gradient but what it says. At the start, three queries in four have picked one key, at random, with a weight above 0.9. Are those early winners frozen, as one often reads? All three models started from the same matrices (seed 0), so one `before` serves them all. Compare what 256 queries favor before training and after it:


# %%
def favorites(model: Lookup) -> tuple[Tensor, Tensor, Tensor]:
    generator, found = torch.Generator().manual_seed(99), []
    for x, _, place in (lookup_batch(generator) for _ in range(8)):
        asked = x[torch.arange(len(x)), place].unsqueeze(-2)
        scores = model.scale * model.q_proj(asked) @ model.k_proj(x).mT  # (B, 1, S)
        weight, favorite = scores.softmax(dim=-1).squeeze(-2).max(dim=-1)
        found.append((favorite, weight, place))
    return tuple(torch.cat(parts) for parts in zip(*found, strict=True))


# %% measured
torch.manual_seed(0)
untrained = Lookup(1.0)
before, _, place = favorites(untrained)
models = {"before": untrained} | {name: model for name, (model, _, _) in runs.items()}
print("           right   new   above 0.9")
for name, model in models.items():
    after, weight, _ = favorites(model)
    shares = (after == place, after != before, weight > 0.9)
    print(f"{name:9}", *(f"{share.double().mean():6.0%}" for share in shares))

# %% [markdown]
# Not frozen: four out of five have a new favorite. (Of the other two models, nine in ten; the rest were right from the start, by luck.) But after 300 steps only about half favor the right key, and nearly all are certain of what they favor, right or wrong. The model never stops being certain. It keeps changing its mind.
#
# Look at the Jacobian again. A key with a weight near 0 gets almost no gradient, and neither does a favorite with a weight near 1, right or wrong. The large gradient comes from the few queries still torn between two keys. It moves weight between those two, whether or not the right one is among them. And since all queries share the same two matrices, the settled ones are moved along by what the torn ones ask for.
#
# ## What can go wrong
#
# **Scaling after softmax.** The weights then sum to $1/\sqrt{d_k}$, and the saturation is the same as before.

# %%
torch.manual_seed(0)
q, k = torch.randn(1, 64), torch.randn(5, 64)
late = (q @ k.mT).softmax(dim=-1) / math.sqrt(64)
late, late.sum()

# %% [markdown]
# The favorite still has 0.108 of the 0.125 that the row now sums to: 86%, the same as without scaling.
#
# **The wrong number under the root.** The dimension of the values and the number of keys do not belong there. In a square example all of these are equal, and nobody notices.
#
# **Taking $\sqrt{d_k}$ for a law.** It is right for independent entries with mean 0 and variance 1. Models start near that, not at it. The model above set its own spread; PyTorch's default for `nn.Linear` gives a third of that variance:

# %%
torch.manual_seed(0)
outputs = nn.Linear(256, 256)(torch.randn(10_000, 256)).detach()
print(f"variance {outputs.var():.2f}")

# %% [markdown]
# A third. Trained vectors are not independent, either. For them $\sqrt{d_k}$ is a good start, and the matrices learn the rest: a query that needs to be insistent can grow in norm.
#
# **Believing that saturation always stops learning.** If the loss is applied to the scores themselves, as cross-entropy is to a classifier's *logits* (its scores before softmax), its gradient is the prediction minus the target: large exactly when the model is confidently wrong.

# %%
scores = torch.tensor([100.0, 0.0, 0.0], requires_grad=True)
functional.cross_entropy(scores, torch.tensor(1)).backward()
scores.grad

# %% [markdown]
# [1, −1, 0]: the full push, through a softmax as saturated as can be. What suffers is attention inside a network, where no logarithm follows softmax to make up for its flatness.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | spread of a score | standard deviation $\sqrt{d_k}$ | variances add, so the root |
# | scaled scores | `query @ key.mT / sqrt(d_k)` | before softmax; the same character in every dimension |
# | over $d_k$ | a mean | too much: attention turns into averaging |
# | Jacobian of softmax | $w_i(\delta_{ij} - w_j)$ | rows sum to 0; near 0 where softmax is saturated |
# | unscaled training | crawls | not a small gradient, but one that rarely reaches the right key |
#
# %%
recap()

# %% [markdown]
# Did one of your predictions go wrong? If it was the last one: the common story is that gradients vanish without scaling. Here the first gradient was about four times as large without it.
#
# ## Questions
#
# **Question R3** (2 points, graded by a person). "Without scaling, gradients vanish." Confirm or correct this sentence with two numbers from your own runs of this notebook, and say what each number shows.

# %% question R3 [markdown] points=2
# Half true. The Jacobian of softmax does shrink: its mean norm at d = 1024 is 0.05 unscaled and 0.31 scaled. But the query matrix's gradient at the first step is larger without scaling (1.79 against 0.45), because without the division a change in the matrix changes the scores √d times as much. Training fails all the same: with nearly all weight on one key, the gradient hardly reaches the others, so queries leave a wrong favorite for another wrong one (after 300 steps about 80% have a new favorite, and about half have the right one). So "the response of softmax shrinks" is right, "gradients vanish" is not.
#
# | points | rubric |
# |---|---|
# | 2 | Two measured numbers that point in different directions (Jacobian smaller, first gradient larger; or gradient larger, loss stuck), with what each one shows |
# | 1 | One number used correctly, or two numbers without a word on what they show |
# | 0 | Repeats the slogan, or cites numbers that are not from the notebook |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote: the variance argument in three lines.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): what else keeps the numbers in range, a topic of lesson 8.
#
# **Next:** [lesson 4, Softmax](../04_softmax/04_softmax.ipynb). It has been a recipe so far: what does it do with scores of a thousand, and can it be computed one piece at a time? Back to [lesson 2](../02_queries_keys_values/02_queries_keys_values.ipynb).
