# %% [markdown]
# # 3. Scaling
#
# After this lesson you can say what happens to attention when its vectors get longer, how its scores are scaled to prevent this, and what becomes of a model that does not scale them. You should have done lesson 2 and know what a variance is. About 115 minutes, in two sittings, of which the first ends before "Does a model notice?". The optional sections at the end take another 40.
#
# ## The idea
#
# In lesson 2 the vectors that met in a dot product had two to four entries each. Real models use 64 or 128, and it seems that nothing should depend on that number. So let us raise the dimension and leave everything else as it was: one random query and five random keys, in dimension 4, 64 and 1024. The dimension is called `head_dim` in code and $d_k$ in formulas.

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
torch.manual_seed(0)
for head_dim in (4, 64, 1024):
    q, k = torch.randn(head_dim), torch.randn(5, head_dim)
    print(f"{head_dim:5}", (k @ q).softmax(dim=-1))

# %% [markdown]
# In dimension 4 one key, the *favorite*, gets a weight of 0.548, and the other four share the rest. In dimension 64 the favorite already has 0.998, and in dimension 1024 it has everything. Attention has turned into picking a single key.
#
# The keys are noise in all three rows, so they give no reason to prefer one of them. All the certainty must have come from the dimension of the vectors. But how?
#
# **Predict.** A score is a sum of `head_dim` products, each of which is about as large as 1, positive or negative. How large is the sum of 64 of them, typically?

# %%
predict("size of a score in dimension 64", options=("about 64", "about 8", "about 1"))

# %%
torch.manual_seed(0)
for head_dim in (4, 64, 1024):
    q, k = torch.randn(10_000, head_dim), torch.randn(10_000, head_dim)
    print(f"{head_dim:5}  standard deviation {(q * k).sum(dim=-1).std():.1f}")
reveal("size of a score in dimension 64", "about 8")

# %% [markdown]
# The sum of 64 products is typically about 8 away from zero. About half of the products are negative, and they cancel most of the positive ones. What is left over grows only with the square root of their number, because variances add up. `torch.randn` draws *standard normal* entries, which have mean 0 and variance 1, and the product of two independent ones has variance 1 as well. So a sum of 64 products has variance 64. Its standard deviation, which we will call its *spread*, is $\sqrt{64} = 8$.
#
# In symbols, let the entries of q and k be independent, with mean 0 and variance 1. Each product then has the mean $E[q_i]\,E[k_i] = 0$ and the variance $E[q_i^2]\,E[k_i^2] = 1$, because the variance of a number with mean 0 is the mean of its square. Since the products are independent of one another, their variances add:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d_k} \operatorname{Var}(q_i k_i) = d_k.$$
#
# Softmax responds to the *differences* between scores, since the ratio of two weights is $e$ to the power of the difference between their scores. In dimension 1024 each score has a spread of 32, and the difference of two such scores has twice the variance of one, so it is typically about $32\sqrt2 \approx 45$. The key with the smaller score then gets $e^{-45} \approx 3 \cdot 10^{-20}$ times the weight of the other, which is nothing.
#
# ## By hand
#
# Take the query [2, 0, 0, 0] from lesson 2. The first entries of the three keys were 0, ln 2 and ln 3, and the others meet a 0 in the query. The scores of this query are therefore 0, 2 ln 2 and 2 ln 3, and they gave the weights $\tfrac1{14}, \tfrac4{14}, \tfrac9{14}$.
#
# If scores spread by $\sqrt{d_k}$, then dividing them by $\sqrt{d_k}$ should bring the spread back to 1. The vectors of this example have dimension $d_k = 4$, so divide its scores by 2, on paper, and work out the weights and the output again. The values were [6, 0], [0, 6] and [12, 12].

# %%
scores = torch.tensor([0.0, 2 * math.log(2), 2 * math.log(3)])
weights = (scores / 2).softmax(dim=-1)
weights, weights @ torch.tensor([[6.0, 0], [0, 6], [12, 12]])

# %% [markdown]
# The weights are one sixth, one third and one half, and the output is [7, 8], as in lesson 2 before the query was doubled. (That $\sqrt4$ undoes exactly this doubling is a coincidence.) In every example the division shrinks all differences between scores by the same factor. The order of the keys stays as it was, and the preference among them becomes milder.
#
# ## In PyTorch
#
# Why divide by the root? When a sum has grown because it has many terms, the familiar repair is to divide by the *number* of terms, as for a mean. **Predict.** What will the weights be in dimension 1024 if we divide by 1024?

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
# That was too much. At 1024 all five weights are within about 0.01 of 0.2 whatever the keys say. Attention has turned from picking into averaging, because a spread that was 32 times too large is now 32 times too small. Since the spread grows with $\sqrt{d_k}$ and not with $d_k$, the scores should be divided by the root:
#
# $$\text{output} = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V .$$
#
# ### Exercise 3.1: scale the scores
#
# Write the division. `d_k` is the dimension of the queries and keys, which is passed in because it cannot be read off the scores, whose axes count queries and keys.

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
# ### Exercise 3.2: measure it
#
# The rule that variances add is a claim about many draws, so it can be measured. Draw `n` random pairs of a query and a key, each with `d_k` standard normal entries, and return the standard deviation of their dot products (`torch.std`'s default will do), before scaling and after it.
#
# A `torch.Generator` holds the state of a random stream. A caller who passes one in can repeat your measurement exactly, provided that you draw from it and from nothing else.

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
# Let us take five values of the dimension and multiply the scores by one of three factors: 1, $1/\sqrt d$ or $1/d$. (From here on, $d$ is short for $d_k$, in code as well. In shapes it is `D`.)

# %%
DIMENSIONS = (4, 16, 64, 256, 1024)
FACTORS = {
    "unscaled": lambda d: 1.0,
    "over √d": lambda d: d**-0.5,
    "over d": lambda d: 1 / d,
}

# %% [markdown]
# For each $d$ there are 500 queries with 16 keys each, all of them with standard normal entries:


# %%
def vectors_of_dimension(d: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(500, n, d, generator=generator) for n in (1, 16)]


def scores_of_dimension(d: int) -> Tensor:
    q, k = vectors_of_dimension(d)
    return (q @ k.mT).squeeze(dim=-2)  # (500, 16)


# %% [markdown]
# How much weight does the favorite key get, averaged over the 500 queries? If all sixteen keys got the same weight, each would have $\tfrac1{16} \approx 0.06$.


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
    xlabel="dimension d",
    ylabel="largest weight",
    log=True,
    from_zero=True,
    alt="As d grows, the largest weight climbs to 0.97 without scaling and falls to 0.07 over d. Over √d it stays near 0.25.",
)

# %% [markdown]
# Without scaling, attention hardens as the dimension grows, and the favorite's weight climbs to 0.97. Dividing by $d$ brings it down to 0.07, close to the 0.06 of no preference at all. Dividing by $\sqrt d$ keeps it at about 0.25. A model can therefore be made wider without its attention changing character, at least at the start of training.
#
# Here are one query and sixteen keys, unscaled, to play with. At which $d$ does one key first get more than half of the weight?

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
    shown=(8, 16, 256),
    across="key",
)

# %% [markdown]
# With these random numbers, it first happens at d = 8, where the leading key gets 0.98. That is chance, because at 16 the largest weight is only 0.52. From 256 on one key has everything. If you move the slider, watch also *which* key leads. The leader keeps changing, because it depends on the random numbers alone.
#
# ### What a saturated softmax does to learning
#
# So far a hard softmax may look like a matter of taste. It becomes a problem when the model has to learn. On its way back to the queries and keys a gradient has to pass through softmax. How much of it passes depends on how strongly a weight responds to its score.
#
# Begin with two keys. With the scores $s_1$ and $s_2$, the first has the weight $w = 1/(1 + e^{s_2 - s_1})$. The derivative of $w$ with respect to $s_1$ is $w(1 - w)$. It says how fast the weight rises with its score:

# %%
w = torch.linspace(0, 1, 101)
plot.curves(
    w.tolist(),
    {"w (1 − w)": (w * (1 - w)).tolist()},
    "An undecided weight responds, a decided one does not",
    xlabel="weight w of one of two keys",
    ylabel="response to its score",
    alt="A parabola: 0 at both ends, where the weight is 0 or 1, and 0.25 in the middle, where it is one half.",
)

# %% [markdown]
# A weight of one half responds with a quarter of the change in its score, whereas a weight close to 0 or close to 1 hardly responds at all. A softmax in which one weight is close to 1 is called *saturated*.
#
# With more than two keys, each weight depends on every score. The responses therefore form a table, the *Jacobian*, whose entry in row i and column j says how weight i responds to score j. PyTorch can compute such a table. We give it the logarithms of the weights as scores, because softmax turns these back into exactly the weights.

# %%
weights = torch.tensor([0.1, 0.2, 0.7])
jacobian = torch.autograd.functional.jacobian(
    lambda s: s.softmax(dim=-1), weights.log()
)
jacobian

# %% [markdown]
# On the diagonal are 0.09, 0.16 and 0.21, which is $w_i(1 - w_i)$ for each weight, as in the curve. Off the diagonal the entries are $-w_i w_j$ and always negative, because what one key gains the others lose. That is why each column sums to 0. Each row sums to 0 as well, because adding the same amount to all scores changes no weight.
#
# Both kinds of entries come from the quotient rule for $w_i = e^{s_i} / \sum_k e^{s_k}$. If $\delta_{ij}$ is 1 where $i = j$ and 0 elsewhere, they fit into one line: $\;\partial w_i / \partial s_j = w_i\,(\delta_{ij} - w_j)$.

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
# Now put weights close to [0, 0, 1] into the formula, and every entry of the table has a factor that is almost 0. A saturated softmax hardly responds to its scores anymore.
#
# How much does that matter in dimension 1024? The next cell makes such a table for each of the 500 queries of "Three ways to scale". It prints the mean of their norms, where a table's norm is the root of the sum of its squared entries. (`jacrev` is PyTorch's function for such tables, and `vmap` applies it to each row.)

# %%
jacobian_of_rows = torch.func.vmap(torch.func.jacrev(lambda s: s.softmax(dim=-1)))
for name in ("unscaled", "over √d"):
    tables = jacobian_of_rows(scores_of_dimension(1024) * FACTORS[name](1024))
    print(f"{name:9} {tables.flatten(-2).norm(dim=-1).mean():.2f}")

# %% [markdown]
# With scaling, softmax responds six times as strongly to a change of its scores. The small number is what people mean when they say that gradients vanish without scaling.
#
# ### Exercise 3.3: the Jacobian of softmax
#
# Compute this table for any number of rows of weights at once. The input consists of weights, so softmax has already been applied. You may not use PyTorch's own derivatives (`jacobian`, `jacrev`, `grad` and the like), a second `softmax`, or derivatives from small differences, for which complex numbers are sometimes used.

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
# ### Exercise 3.4: attention with scale
#
# To see what this does to learning, we need a model, and for the model we need attention with a scale. It is lesson 2's function with one more argument, `scale`, by which the scores are *multiplied*. If `scale` is None, use $1/\sqrt{d_k}$. PyTorch's own attention is not allowed, because it is what you are building. Here is a small case to compare your function with:

# %%
query = torch.tensor([[1.0, 0.5, -0.5, 0.2]])  # (L, D) = (1, 4)
key = torch.tensor(
    [[1.0, 0.4, -0.3, 0.1], [-0.5, 0.8, 0.2, -0.4], [0.9, 0.5, -0.6, 0.3]]
)
value = torch.tensor([[0.1, 0.2], [0.8, 0.9], [0.3, 0.4]])  # (S, D_v) = (3, 2)
functional.scaled_dot_product_attention(query, key, value)

# %% [markdown]
# This is PyTorch's own function, which scales by default and does not return its weights. On paper, the scores are 1.37, −0.28 and 1.51. Divided by $\sqrt4 = 2$, they are 0.685, −0.14 and 0.755, and the weights are 0.398, 0.175 and 0.427.
#
# Think also about *where* to multiply. Since $(c\,q) \cdot k = c\,(q \cdot k)$, you could scale the query instead of its scores. With a thousand keys of dimension 64, that takes 64 multiplications per query instead of a thousand, and the result is the same up to rounding.

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
# Here is a small task made for attention. There are 64 symbols, each of them a fixed random vector of dimension 256. An example shows 16 of the symbols, each with a label from 0 to 15, and asks for the label of one of them. The labels are drawn anew for each example, so there is nothing to memorize. (Sorting random numbers is a way to shuffle, and here `argsort` picks 16 different symbols.)

# %%
symbols = torch.randn(64, 256, generator=torch.Generator().manual_seed(1))


def lookup_batch(
    generator: torch.Generator, n: int = 32
) -> tuple[Tensor, Tensor, Tensor]:
    shown = torch.rand(n, 64, generator=generator).argsort(dim=-1)[:, :16]  # (B, S)
    labels = torch.randint(0, 16, (n, 16), generator=generator)
    place = torch.randint(0, 16, (n,), generator=generator)
    return symbols[shown], labels, place


# %% [markdown]
# The model is a single attention layer. The symbol that is asked for is the query, the symbols that are shown are the keys, and their labels are the values. The query and key matrices must learn to give the query for a symbol its highest score with the key of the same symbol, and the last matrix must learn to read the label off the mixture of values. The entries of queries and keys are initialized to have variance 1, the case that the square root is made for.


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
        weights = self.weights(self.q_proj(asked) @ self.k_proj(x).mT)  # (B, 1, S)
        return self.out_proj(weights @ self.value(labels)).squeeze(-2)  # (B, 16)

    def weights(self, scores: Tensor) -> Tensor:
        return (self.scale * scores).softmax(dim=-1)


# %% [markdown]
# A saturated softmax hardly responds to its scores, and so most texts give the reason for the division in one sentence: "without scaling, gradients vanish". **Predict.** At the first step, before anything is learned, is the gradient of the query matrix smaller or larger without scaling?

# %%
predict(
    "the first gradient without scaling",
    options=("smaller", "about the same", "larger"),
)

# %% [markdown]
# Training is the usual loop with the optimizer Adam. The query and key matrices have a learning rate of their own, `rate`, which we will need later. The function `train` returns the losses, and the norm of the query matrix's first gradient.


# %%
def train(
    model_class: type[Lookup], scale: float, rate: float = 1e-3
) -> tuple[list[float], float]:
    torch.manual_seed(0)
    model, generator = model_class(scale), torch.Generator().manual_seed(0)
    matrices, rest = list(model.parameters())[:2], list(model.parameters())[2:]
    groups = [{"params": matrices, "lr": rate}, {"params": rest}]
    optimizer, losses = torch.optim.Adam(groups, lr=1e-3), []
    for step in range(300):
        x, labels, place = lookup_batch(generator)
        logits, asked = model(x, labels, place), labels[torch.arange(len(x)), place]
        loss = functional.cross_entropy(logits, asked)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            first_gradient = float(matrices[0].grad.norm())
        optimizer.step()
        losses.append(loss.item())
    return losses, first_gradient


# %% [markdown]
# Three runs follow, one for each way of scaling, with everything else equal. The loss starts near $\ln 16 \approx 2.8$, which is the loss of a model that guesses, and a model whose loss is below 0.3 counts as trained.


# %% measured
runs = {name: train(Lookup, factor(256)) for name, factor in FACTORS.items()}
for name, (losses, gradient) in runs.items():
    first = next((step for step, loss in enumerate(losses) if loss < 0.3), "never")
    print(f"{name:9} below 0.3 at step: {first!s:5}  first gradient: {gradient:.2f}")
reveal("the first gradient without scaling", "larger")

# %% [markdown]
# Without scaling, the loss does not get below 0.3 in 300 steps, and yet the first gradient of that run was the *largest* of the three. The sentence "gradients vanish" looks only at how softmax responds to its scores. But training changes the matrices, and the scores change because of that. Without the division by $\sqrt{256} = 16$, the same change in the query matrix changes the scores sixteen times as much. Softmax passes on less of that change, but not sixteen times less, so the gradient is larger.


# %%
tens = {
    name: torch.tensor(losses).view(-1, 10).mean(dim=-1).tolist()
    for name, (losses, _) in runs.items()
}  # means of 10 steps each
plot.curves(
    range(5, 300, 10),
    tens,
    "Here, learning crawls without scaling",
    xlabel="step",
    ylabel="loss",
    from_zero=True,
    alt="Over √d the loss drops to nearly 0 within about 50 steps, over d within about 90. Unscaled, it falls slowly and is still above 1 after 300.",
)

# %% [markdown]
# The model that divides by $d$ starts with a plain average, and it learns nevertheless. It is only slower, because the same step of its matrices moves its scores only a sixteenth as far as in the model that divides by $\sqrt d$. If that is the reason, then larger steps should make up for it:

# %% measured
losses, _ = train(Lookup, 1 / 256, rate=4e-3)
first = next(step for step, loss in enumerate(losses) if loss < 0.3)
print(f"over d, with four times the learning rate: below 0.3 at step {first}")

# %% [markdown]
# They do: in this run, with four times the rate for its two matrices, this model is as fast as the one that divides by $\sqrt d$. So dividing by $d$ is not a mistake. In this task a model can learn its way out of an average. Out of a saturated softmax it hardly can, at least as long as its gradients have to come back through that softmax.
#
# <details><summary>Why four times and not sixteen, and who divides by d</summary>
#
# A score is a product of a query and a key. If both have moved four times as far, their product has moved up to sixteen times as far. The argument says only that this is possible, and the run shows that it happens.
#
# Some very wide models divide by $d$ on purpose (Yang et al., below). Once training has lined a query up with its key, the products no longer cancel, and their sum grows with $d$ itself and not with its root. For such vectors, dividing by $d$ keeps scores the same in every dimension.
#
# </details>

# %% [markdown]
# ### Which queries does the gradient come from?
#
# Without scaling the loss is still about 2 after 300 steps, although the first gradient is four times as large as over $\sqrt d$. A gradient that is summed over a batch does not say which queries it comes from, so let us look at each query on its own. Exercise 3.3 says what to expect: once a query has given nearly all its weight to one key, its weights hardly respond to anything. Call a query *decided* if its largest weight is above 0.9.
#
# The next cell computes the squared norm of each query's own gradient. Squares can be added up, so we can ask which share of the sum comes from the decided queries.

# %% measured
x, labels, place = lookup_batch(torch.Generator().manual_seed(99), n=256)
rows = torch.arange(256)
torch.manual_seed(0)
untrained = Lookup(1.0)
queries = untrained.q_proj(x[rows, place]).detach().unsqueeze(-2).requires_grad_()
weights = untrained.weights(queries @ untrained.k_proj(x).mT)  # (B, 1, S)
logits = untrained.out_proj(weights @ untrained.value(labels)).squeeze(-2)
functional.cross_entropy(logits, labels[rows, place], reduction="sum").backward()
squares = queries.grad.square().sum(dim=(-2, -1))
decided = weights.amax(dim=(-2, -1)) > 0.9
print(f"decided queries: {decided.double().mean():.0%}")
print(f"their share of the squares: {squares[decided].sum() / squares.sum():.0%}")

# %% [markdown]
# Nearly three quarters of the queries have decided before training has begun, each for a key that was picked at random, and together they contribute 2% of the sum. (Their share of the gradient itself is larger, since squares favor what is large.)
#
# In its first steps Adam moves each entry of a matrix by about the learning rate, however large the gradient is, so what matters is the gradient's direction, and this comes mostly from the queries that have not decided. Our guess is therefore that learning crawls because most queries contribute next to nothing.
#
# ### One cause at a time
#
# There is another candidate. Without the division, the same step of the matrices moves the *scores* sixteen times as far, and steps that are too large are a good reason not to learn. In the first two rows of the table below, the two causes go together. Models A and B, which we build now, keep them apart:
#
# | | weights | steps of the scores | gradient comes back through |
# |---|---|---|---|
# | unscaled | saturated | large | a saturated softmax |
# | over $\sqrt d$ | soft | small | a soft softmax |
# | A | saturated | large | a soft softmax |
# | B | soft | small | a saturated softmax |
#
# Model A attends without scaling, and model B over $\sqrt d$. Going backward, each of them pretends that its weights were computed with the scale of the *other*. PyTorch lets us do this with `detach`:


# %%
class Swapped(Lookup):
    def weights(self, scores: Tensor) -> Tensor:
        other = 1 / (16 * self.scale)  # 1 becomes 1/16, and 1/16 becomes 1
        backward = (other * scores).softmax(dim=-1)
        return super().weights(scores).detach() + (backward - backward.detach())


# %% [markdown]
# When the model computes its output, the bracket in the last line is 0, so the weights are those of its own scale. When gradients are computed, PyTorch treats whatever is detached as a constant. Only the `backward` without `.detach()` is not a constant, so the gradient passes through the softmax with the other scale.
#
# **Predict.** Which of the two learns as fast as the scaled model did?

# %%
predict("which swap learns", options=("A", "B", "both", "neither"))

# %% measured
runs["A"], runs["B"] = train(Swapped, 1.0), train(Swapped, 1 / 16)
del runs["over d"]
for name, (losses, _) in runs.items():
    first = next((step for step, loss in enumerate(losses) if loss < 0.3), "never")
    last = sum(losses[-20:]) / 20
    print(f"{name:9} below 0.3 at step: {first!s:5}  loss in the last 20: {last:.2f}")
reveal("which swap learns", "A")

# %% [markdown]
# The four curves together show it best:

# %%
figures.exchanged(
    {name: losses for name, (losses, _) in runs.items()},
    "With the gradients exchanged, A learns fast and B slowly",
    alt="Over √d and A fall together to nearly 0 within about 50 steps. Unscaled and B fall slowly and are still above 1 after 300.",
)

# %% [markdown]
# The two have changed sides. Model A learns as fast as the scaled model, with saturated weights and with steps that move its scores sixteen times as far. So neither of these two stops a model. Model B starts from the same weights as the scaled model and takes steps of the same size, but it does not get below 0.3.
#
# Neither model follows the gradient of its own loss, so the failure of B alone would prove little. But A has the same handicap, and it learns. Most of the harm is therefore done on the way back, by a softmax in which most queries have nearly all of their weight on one key. In B this softmax exists only on the way back, and still B has a loss of 1.23 after 300 steps, where A is below 0.3 after fewer than 60. It is not all of the harm, because B ends at a lower loss than the unscaled model.
#
# "Without scaling, gradients vanish" is therefore half right. The gradient of the matrices did not vanish. It was the largest of all. What vanishes is the gradient of each query that has decided, and in this task such a backward pass made learning crawl.
#
# All of this is one task, one optimizer and 300 steps. With two other starts and with two other learning rates, too, A learned fast and B did not (not shown).

# %% [markdown]
# ## What can go wrong
#
# **Scaling after softmax.** The weights then sum to $1/\sqrt{d_k}$, and the saturation is the same as before.

# %%
torch.manual_seed(0)
q, k = torch.randn(1, 64), torch.randn(5, 64)
late = (q @ k.mT).softmax(dim=-1) / math.sqrt(64)
late, late.sum()

# %% [markdown]
# The favorite still has 0.108 of the 0.125 that the row now sums to. That is 86%, the same share as without scaling. (These are not the random numbers of the first section, where it was 99.8%.)
#
# **The wrong number under the root.** The dimension of the values does not belong there, nor does the number of keys. In a square example all of these numbers are equal, and nobody notices the mistake.
#
# **Taking $\sqrt{d_k}$ for a law.** The root is right for independent entries with mean 0 and variance 1, and models start near that case rather than at it. The model above set the variance of its own queries and keys. PyTorch's default for `nn.Linear` gives a third of it:

# %%
torch.manual_seed(0)
outputs = nn.Linear(256, 256)(torch.randn(10_000, 256)).detach()
print(f"variance {outputs.var():.2f}")

# %% [markdown]
# Vectors that have been trained are not independent, either. For them $\sqrt{d_k}$ is a good start, and the matrices learn the rest, since a query that needs sharper weights can grow in norm. Some recent models do not leave the norms to chance: they normalize queries and keys before the dot product, which is called *QK-norm*, and learn the scale.
#
# **Believing that saturation always stops learning.** If the loss is applied to the scores themselves, as cross-entropy is to a classifier's logits, then its gradient is the prediction minus the target. This difference is largest exactly where the model is confidently wrong.

# %%
scores = torch.tensor([100.0, 0.0, 0.0], requires_grad=True)
functional.cross_entropy(scores, torch.tensor(1)).backward()
scores.grad

# %% [markdown]
# The gradient is [1, −1, 0]. It is as large as such a gradient can be although this softmax is completely saturated, because the logarithm in the loss cancels the flatness of softmax. Attention sits inside a network, where no logarithm follows its softmax directly.
#
# ## What you learned
#
# Of the three steps, this lesson has changed the first: each score is now divided by the square root of the dimension of queries and keys.
#
# | | what it is | what to remember |
# |---|---|---|
# | spread of a score | standard deviation $\sqrt{d_k}$ | variances add, so the root |
# | scaled scores | `query @ key.mT / sqrt(d_k)` | before softmax; the same character in every dimension |
# | over $d_k$ | makes scores of random vectors nearly 0 | attention starts as an average; larger steps make up for it |
# | Jacobian of softmax | $w_i(\delta_{ij} - w_j)$ | rows sum to 0; near 0 where softmax is saturated |
# | response to the query (optional) | $c\,\text{Cov}(v, k)$ under the weights | 0 where one key has everything |
# | unscaled training | a larger first gradient, and little learning | the queries that have decided get hardly any gradient |
#
# %%
recap()

# %% [markdown]
# Did one of your predictions go wrong? If it was the one about the first gradient, you may have trusted the common story. Here that gradient was four times as large without scaling.
#
# ## Questions
#
# **Question R3** (2 points, graded by a person). A fifth model divides its scores by $\sqrt{256}$ like the second row of the table, but the entries of its query matrix start with sixteen times the standard deviation.
#
# (a) What goes in its row, under "weights" and under "gradient comes back through"? Predict from the table whether its loss gets below 0.3 in 300 steps, and say which column decides.
#
# (b) Try it. Derive a class from `Lookup` that multiplies `self.q_proj.weight` by 16 at the end of `__init__`, inside `torch.no_grad()`, and pass it to `train`. Somebody says: "Attention learns because its scores are divided by $\sqrt{d_k}$." What do two numbers from your run say about that?

# %% question R3 [markdown] points=2
# (a) At the start the scores are those of the unscaled model, because 16 / 16 = 1. So the weights are saturated, and the gradient comes back through a saturated softmax. In the table the last column decides: A learns and B does not. This model should therefore fail, although it divides. (The steps are mixed: those of the query matrix move the scores as little as in the scaled model, those of the key matrix as far as in the unscaled one. By the table this does not matter.)
#
# (b) The loss was not below 0.3 in any of the 300 steps, and its mean over the last 20 was 1.61. (The scaled model is below 0.3 after about 40. The first gradient was 0.11, a sixteenth of the unscaled model's 1.79.) So the division alone does not make a model learn. What counts is that its scores start with a spread near 1, and the division brings that about only if the entries of queries and keys have a variance near 1.
#
# | points | for |
# |---|---|
# | 1 | Saturated weights and a gradient that comes back through a saturated softmax, because the factors 16 and 1/16 cancel, and a prediction from the last column |
# | 1 | Two numbers of the run (such as the step below 0.3 or "never", and the loss at the end), and the sentence corrected: the spread of the scores at the start counts, and the division yields it only for entries of variance 1 |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "It divides by √d, so its row is the second one, and it learns in about 40 steps." | The division is there. But how large are the scores that it divides? Work out their spread at the start, and then run the model. |
# | 1 | "(a) Saturated twice, so it fails like B. (b) Never below 0.3, loss 1.61 at the end. So dividing by √d is useless." | Row, prediction and run are right. But the second model of the table divides, and it learns. What do its queries have that yours do not? |
# | 1 | "(a) Soft and soft, so it learns. (b) It does not: never below 0.3, 1.61 at the end. The scores were as large as without the division, and the division cannot know that." | The run is read right, and the sentence is corrected. Put what you found into the row: what do scores of that size make of the weights? |
# | 1 | "(a) Saturated twice, so it fails. (b) Never below 0.3, and the first gradient is 0.11, a quarter of the scaled model's. The gradient is too small to learn with." (sounds right) | Row and run are right. But the model that divides by d has a first gradient of 0.02, and it learns. What is the same in your model and in the unscaled one? |

# %% [markdown]
# ## Optional: what is left for the query
#
# A query that has decided hardly responds. Can we also tell what a query *does* respond to? Let us follow one small change of a query all the way to the output. Each score of this query moves by the key times the scale $c$, and the weights move as the Jacobian says. The output moves with the weights, because it is the sum of the values times the weights.
#
# For one query $q$, the three steps have these derivatives:
#
# - score $j$ with respect to the query: $c\,k_j^\top$, a row,
# - weight $i$ with respect to score $j$: $w_i(\delta_{ij} - w_j)$, a number,
# - the output with respect to weight $i$: $v_i$, a column.
#
# Multiplied out and summed over $i$ and $j$, they give the formula below, because $\delta_{ij}$ keeps only the terms with $i = j$, and the product $w_i w_j$ splits into two sums:
#
# $$\frac{\partial\,\text{output}}{\partial q} = \sum_{i,j} v_i\; w_i(\delta_{ij} - w_j)\; c\,k_j^\top = c\,\Big(\sum_i w_i\, v_i k_i^\top - \bar v\,\bar k^\top\Big) \quad\text{with}\quad \bar v = \sum_i w_i v_i, \;\; \bar k = \sum_j w_j k_j .$$
#
# Now read the weights as probabilities: imagine that one key is drawn at random, key $i$ with probability $w_i$, and its value with it. Then $\bar v$, which is the output, is the mean of the values, and $\bar k$ is the mean of the keys. The brackets hold the mean of the products minus the product of the means, which is the *covariance* of values and keys. It is a table here, with one number for each entry of a value and each entry of a key.
#
# So the output changes with the query only if the query mixes several keys, and if different keys bring different values. A query that gives everything to a single key mixes nothing. Almost no gradient then reaches this query through its output, even if the key is the wrong one.
#
# Here are three queries, each with two keys and two values in a plane, and with $c = 1$. A disc is as large as the weight of its key, the arrow is the query, and the cross is the output. PyTorch computes the table of derivatives, whose norm is written below.


# %%
def output_of(one: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return (key @ one).softmax(dim=-1) @ value  # (D_v,)


far, alike = torch.tensor([[-2.0, 1], [2, 1]]), torch.tensor([[-0.3, 1], [0.3, 1]])
even, sharp = torch.tensor([0.0, 2]), torch.tensor([2.0, 0])
cases = [
    (one, k, k.flip(-1) / 2) for one, k in ((even, far), (even, alike), (sharp, far))
]
tables = [torch.autograd.functional.jacobian(output_of, case)[0] for case in cases]
figures.responses(cases, tables, "An output responds only if it mixes what differs")

# %% [markdown]
# On the left, the query points between two keys that are far apart. Both get the weight ½, so the output lies halfway between their values, and the norm of the table is 2. With two keys the covariance is $w_0 w_1\,(v_0 - v_1)(k_0 - k_1)^\top$, and its norm is $w_0 w_1$ times the distance of the values times the distance of the keys, which is ½ · ½ · 2 · 4.
#
# In the middle the weights are the same, but the keys are close together and so are the values, so little varies. On the right, the points are as far apart as on the left, but one key has nearly everything, and little more than a thousandth of the first response is left.
#
# ### Exercise 3.5: the response to the query (optional, without points)
#
# Compute this table from the weights, for any number of queries at once. As in exercise 3.3, you may not use PyTorch's own derivatives (`jacobian`, `jacrev`, `grad` and the like), a second `softmax`, or complex numbers. To test your function, compute the weights of each of the `cases` above with a scale of 1, and compare with `tables`.

# %% hints query_jacobian [markdown]
# For one query the answer is a table with a row for each entry of the output and a column for each entry of the query. Which of the two terms of the formula is a product of two means?
#
# The product of means is a column times a row, as in exercise 3.3. The other term sums over keys, as a matrix product does, once the weights are on one of its two factors.
#
# Each query has weights of its own, whereas values and keys are shared by all queries. Give the shared ones an axis of size 1 where the queries are counted.


# %% exercise query_jacobian
def query_jacobian(weights: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Return how each output of attention responds to its query.

    weights is (..., L, S), each row the softmax of scores that were multiplied by scale, key is (..., S, D) and value
    is (..., S, D_v). Returns (..., L, D_v, D): entry [l, i, j] is the derivative of entry i of output l with respect to
    entry j of query l. The inputs are not changed, and PyTorch's own derivatives are not used.
    """
    ### BEGIN SOLUTION
    weighted = weights.unsqueeze(-2) * value.mT.unsqueeze(-3)  # (..., L, D_v, S)
    products = weighted @ key.unsqueeze(-3)  # (..., L, D_v, D)
    means = (weights @ value).unsqueeze(-1) * (weights @ key).unsqueeze(-2)
    return scale * (products - means)
    ### END SOLUTION


# %% check query_jacobian

# %% [markdown]
# ## Optional: what is left in dimension 1024
#
# How large are such responses for random vectors of dimension 1024? The next cell measures two tables for each of the 500 queries of "Three ways to scale". The first is $J$ of exercise 3.3 and says how the weights respond to their scores, as above. The second says how they respond to the query. It is $J$ times $c\,K$, because a change of the query changes the scores by $c\,K$ times this change. The cell prints the mean norm of either table, and in its last column the median of the second.

# %%
q, k = vectors_of_dimension(1024)
print("             to the scores  to the query      median")
for name, factor in FACTORS.items():
    c = factor(1024)
    tables = jacobian_of_rows((q @ k.mT).squeeze(-2) * c)  # (500, 16, 16)
    norms = [m.flatten(-2).norm(dim=-1) for m in (tables, c * tables @ k)]
    means = " ".join(f"{norm.mean():13.2f}" for norm in norms)
    print(f"{name:12} {means} {norms[1].median():11.4f}")

# %% [markdown]
# The column *to the scores* has the two numbers from before, 0.05 without scaling and 0.31 over √d. (The 0.24 of the last row, $\sqrt{15}/16$, is the response of sixteen equal weights. The 0.31 is in the next column as well, because keys divided by √d have a norm of about 1.)
#
# The column *to the query* contradicts it, because the same change of a query moves a score 32 times as far if nothing divides the score by 32. Softmax responds a sixth as strongly, but to a change that is 32 times as large. The unscaled weights therefore respond about five times as strongly as the scaled ones, 1.52 against 0.31.
#
# This is a mean, though, and the median tells the same story as the model did. Over √d, most queries respond about as the mean says. Without scaling, half of the queries hardly respond at all, and a few respond so strongly that the mean is 1.52.

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote: the variance argument in three lines.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): what else keeps the numbers in range, a topic of lesson 8.
# - Yang et al. 2022, [Tensor Programs V](https://arxiv.org/abs/2203.03466): learning rates that stay right as models grow wider, and division by $d$.
# - Henry et al. 2020, [Query-Key Normalization for Transformers](https://arxiv.org/abs/2010.04245): another way to keep scores in range.
#
# **Next:** [lesson 4, Softmax](../04_softmax/04_softmax.ipynb). So far softmax has been a recipe. The next lesson asks what becomes of it at scores of a thousand, and whether it can be computed one piece at a time. Back to [lesson 2](../02_queries_keys_values/02_queries_keys_values.ipynb).
