# %% [markdown]
# # 1. Why attention?
#
# After this lesson you can say what a network forgets when it reads first and writes afterwards, look something up softly, and compute attention in its first form, of 2014. You need PyTorch's basics. About 45 minutes.
#
# ## The idea
#
# Take the easiest translation there is: say again what you have read. The "words" are random numbers below 12.

# %% setup
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %%
def copies(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 12, (n, length), generator=generator)
    return x, x  # what is read, what is to be written


copies(1, length=8, seed=0)

# %% [markdown]
# For years a translator was built from two *recurrent* networks. Such a network reads one word at a time and keeps a vector, its *state*: the new state is computed from the old state and the word, always by the same weights. The first network, the *encoder*, reads the whole sentence. Its last state is handed to the second, the *decoder*, which writes one word after the other, each from its state and the word that it wrote before.

# %%
reads = {f"h{i}": (i, 0) for i in range(1, 6)}
writes = {f"s{i}": (i + 5.6, 0) for i in range(1, 6)}
words = {f"x{i}": (i, -1) for i in range(1, 6)} | {
    f"y{i}": (i + 5.6, 1) for i in range(1, 6)
}
steps = [(f"{a}{i}", f"{a}{i + 1}") for a in "hs" for i in range(1, 5)]
steps += [(f"x{i}", f"h{i}") for i in range(1, 6)] + [
    (f"s{i}", f"y{i}") for i in range(1, 6)
]
plot.diagram(
    reads | writes | words,
    [*steps, ("h5", "s1", 1.0)],
    "All that was read passes through one state",
    marked=["h5"],
    alt="Words x1 to x5 enter states h1 to h5, one after the other. One thick arrow leads from h5, the last state, to the decoder's states s1 to s5, which write y1 to y5. No other arrow joins the two halves.",
)

# %% [markdown]
# A state here has 64 numbers. Is that enough to remember 4 words? 8? 16? The model below has both networks (`nn.GRU` and `nn.GRUCell` are PyTorch's recurrent networks), and an argument `attends` that we leave at `False` for now.


# %%
class Translator(nn.Module):
    def __init__(self, symbols: int, attends: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols + 1, 32)  # the last one says "begin"
        self.encoder = nn.GRU(32, 64, batch_first=True)
        self.decoder = nn.GRUCell(32, 64)
        self.attends = attends
        self.fit = nn.Sequential(nn.Linear(128, 32), nn.Tanh(), nn.Linear(32, 1))
        self.out = nn.Linear(128 if attends else 64, symbols)

    def forward(
        self, x: Tensor, length: int, y: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        states, last = self.encoder(self.embed(x))  # (B, S, 64), (1, B, 64)
        state, word = last[0], torch.full_like(x[:, 0], self.embed.num_embeddings - 1)
        scores, maps = [], []
        for t in range(length):
            state = self.decoder(self.embed(word), state)
            known, weights = (
                self.look(state, states) if self.attends else (state, state)
            )
            scores.append(self.out(known))
            maps.append(weights)
            word = scores[-1].argmax(dim=-1) if y is None else y[:, t]
        return torch.stack(scores, dim=1), torch.stack(maps, dim=1)

    def look(self, state: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        pairs = torch.cat([state[:, None].expand_as(states), states], dim=-1)
        weights = self.fit(pairs).squeeze(-1).softmax(dim=-1)  # (B, S)
        context = (weights[..., None] * states).sum(dim=1)  # (B, 64)
        return torch.cat([state, context], dim=-1), weights


# %% [markdown]
# While it trains, the decoder is told the right previous word (`y`). Afterwards it has to use its own. A sequence counts as right only if all its words are.


# %%
def trained(attends: bool, draw, symbols: int, steps: int, rate: float) -> Translator:
    torch.manual_seed(0)
    model = Translator(symbols, attends)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(steps):
        x, y = draw(64, seed=step)
        scores, _ = model(x, y.size(1), y)
        loss = functional.cross_entropy(scores.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


# %%
def accuracy(model: Translator, draw) -> float:
    x, y = draw(500, seed=99_999)
    with torch.no_grad():
        written = model(x, y.size(1))[0].argmax(dim=-1)
    return float((written == y).all(dim=-1).double().mean())


# %% [markdown]
# Put together for copying, 250 steps:


# %%
def copying(attends: bool, length: int) -> tuple[Translator, float]:
    task = partial(copies, length=length)
    model = trained(attends, task, symbols=12, steps=250, rate=0.005)
    return model, accuracy(model, task)


# %% [markdown]
# **Predict.** With 4 words it learns to be right nearly always, in 250 steps. With 8 and with 16?

# %%
predict("8 words", options=("nearly always right", "half right", "nearly never right"))
predict("16 words", options=("nearly always right", "half right", "nearly never right"))

# %%
LENGTHS = (4, 8, 16)
plain = [copying(False, length)[1] for length in LENGTHS]
reveal("8 words", "nearly never right")
reveal("16 words", "nearly never right")
print([p > 0.8 for p in plain], [p < 0.2 for p in plain])

# %% [markdown]
# Right with 4 words, lost with 8, hopeless with 16. No single word got harder: each is repeated as it was. What grew is what has to pass through the last state. This is the *bottleneck* of the figure. Longer training moves the limit, and so does a larger state; question R1 comes back to that.
#
# While it read, the encoder computed a state after every word, and all but the last were thrown away. So keep them. Each time the decoder is about to write, let it look at *all* the states, decide how much each one matters *now*, and mix them in these shares. The mixture is called the *context*. The decoder writes from its own state and from the context.

# %%
shares = {"h1": 0.1, "h2": 0.05, "h3": 0.6, "h4": 0.2, "h5": 0.05}
plot.diagram(
    reads | {"context": (3, 1), "s1": (3, 2), "y1": (5, 1.5)},
    [(f"h{i}", f"h{i + 1}") for i in range(1, 5)]
    + [(name, "context", share) for name, share in shares.items()]
    + [("s1", "context", 0.1), ("s1", "y1"), ("context", "y1")],
    "Attention: every state is asked, some count more",
    marked=["context"],
    alt="From each of the states h1 to h5 an arrow leads to the context, thickest from h3. The decoder's state s1 decides the widths. The word y1 is written from s1 and the context. For the next word the arrows have other widths.",
)

# %% [markdown]
# In the model this is the method `look`. A small network `fit` judges each pair of decoder state and encoder state; and *softmax* turns the judgements $s_i$ into shares that sum to 1: each is $e^{s_i}$, divided by the sum of all of them. Nobody tells it which word to look at; training has to find out. Same task, same steps, same seed.

# %%
_, four = copying(True, 4)
model, eight = copying(True, 8)
print(four > 0.9, eight > 0.9)

# %% [markdown]
# Four words and eight, both right. The third run takes a few seconds, because every word written looks at 16 words read:

# %%
_, sixteen = copying(True, 16)
print(sixteen > 0.7)

# %%
plot.curves(
    LENGTHS,
    {"with attention": [four, eight, sixteen], "without": plain},
    "With attention the length hardly matters",
    xlabel="words",
    ylabel="sequences that are right",
    alt="Without attention the share of right sequences falls from above 0.8 at 4 words to 0 at 16. With attention it stays above 0.7.",
)

# %% [markdown]
# With attention 16 words are right most of the time, where without it none was. Where does the decoder look while it writes word 0, word 1, and so on? Here are its weights for eight words, averaged over 500 sequences:

# %%
_, weights = model(copies(500, 8, seed=5)[0], 8)
plot.heatmap(
    weights.mean(dim=0).detach(),
    [f"write {i}" for i in range(8)],
    [f"read {i}" for i in range(8)],
    kind="shares",
    title="While writing word i it looks at word i",
    alt="A bright diagonal: each row puts most of its weight on the word of the same number.",
)

# %% [markdown]
# A different context for every word that is written. That is the whole idea, and it was found for exactly this problem, by Bahdanau, Cho and Bengio in 2014.
#
# ## By hand
#
# The shares behind the arrows of the second figure, 0.1, 0.05, 0.6, 0.2 and 0.05, are toy numbers. So are these states, of two numbers each: [10, 0], [0, 20], [5, 5], [0, 10] and [20, 0]. Compute the context on paper: each state times its share, all added up.

# %%
shares = torch.tensor([0.1, 0.05, 0.6, 0.2, 0.05])
states = torch.tensor([[10.0, 0], [0, 20], [5, 5], [0, 10], [20, 0]])
shares @ states

# %% [markdown]
# The context is [5, 6]: $0.1 \cdot 10 + 0.6 \cdot 5 + 0.05 \cdot 20 = 5$, and $0.05 \cdot 20 + 0.6 \cdot 5 + 0.2 \cdot 10 = 6$. It is a vector like the states, whatever their number. Sixteen states would make a context of two numbers as well.
#
# How could one *choose* the right state instead of mixing? Take the one with the highest score. It is the obvious way, and it cannot be trained:

# %%
scores = torch.tensor([1.0, 2.0, 4.0, 3.0, 0.5], requires_grad=True)
picked = states[scores.argmax()]
mixed = scores.softmax(dim=-1) @ states
picked.requires_grad, mixed.requires_grad

# %% [markdown]
# Picking passes no gradient to the scores: a slightly higher score changes nothing until it changes everything. Mixing does. Each score, raised a little, moves the context a little, and training can follow that.
#
# ## In PyTorch
#
# Leave the translator for a moment and look at this step alone. A *query* says what is wanted. Each entry of a store has a *key*, by which it is found, and a *value*, which is handed over. The score of an entry is the dot product of its key with the query. Softmax makes shares of the scores. (In the translator the decoder's state was the query, and each encoder state was key and value at once. Lesson 2 takes these three apart.)

# %%
keys = torch.tensor([[4.0, 0], [0, 4], [3, 3]])
values = torch.tensor([[100.0, 0, 0], [0, 100, 0], [0, 0, 100]])
query = torch.tensor([1.0, 0.5])
scores = keys @ query
scores, scores.softmax(dim=-1) @ values

# %% [markdown]
# The scores are 4, 2 and 4.5, and the output has 0.36, 0.05 and 0.59 of the three values. The third entry fits best and the first nearly as well.
#
# How strict should a lookup be? Divide the scores by a *temperature* before softmax. **Predict**: what does a temperature of 0.1 do to these shares?

# %%
predict(
    "temperature 0.1", options=("all nearly equal", "nothing", "one takes nearly all")
)

# %%
reveal("temperature 0.1", "one takes nearly all")
torch.stack([(scores / t).softmax(dim=-1) for t in (0.1, 1.0, 10.0)])

# %% [markdown]
# At 0.1 the third entry takes 0.993: nearly a hard lookup, and still with a gradient. At 10 all three are close to a third.
#
# ## Exercise 1.1: a soft lookup
#
# Look one query up among n keys, and mix their values.

# %% hints soft_lookup [markdown]
# What are the three steps from a query to an output? After which of them are there n numbers, and after which D_v?
#
# One product of the keys with the query gives all scores at once; the cell above does it. Where does the temperature go: before softmax, or after it?
#
# The shares are n numbers that sum to 1. A product of a vector with a matrix multiplies every row by its number and adds up.


# %% exercise soft_lookup
def soft_lookup(
    query: Tensor, keys: Tensor, values: Tensor, temperature: float = 1.0
) -> Tensor:
    """Mix the values by how well their keys fit the query.

    query is (D,), keys is (n, D), values is (n, D_v). Scores are dot products, divided by the temperature, which is
    above 0. Returns (D_v,), with gradients for query, keys and values.
    """
    ### BEGIN SOLUTION
    return (keys @ query / temperature).softmax(dim=-1) @ values
    ### END SOLUTION


# %% check soft_lookup

# %% [markdown]
# ### How well do they fit?
#
# A dot product compares vectors with the same number of entries. In 2014 the decoder's state and the encoder's states were vectors of different origin, and nobody expected them to be comparable number by number. So the first attention *learned* to compare. A matrix $W_q$ takes the query and a matrix $W_k$ the key into a common space of h numbers; there they are added; $\tanh$ bends the sum; and a vector $v$ turns it into one score:
#
# $$\text{score}(q, k) = v \cdot \tanh(W_q\, q + W_k\, k) .$$
#
# This is *additive attention*, and you have met it: it is the network `fit` in the translator. (A matrix times two vectors laid end to end is the sum of two products.) Try it on paper, with a query of two numbers, a key of three, and h = 2.

# %%
q, k = torch.tensor([1.0, 2]), torch.tensor([0.0, 1, 1])
w_q = torch.tensor([[1.0, 0], [0, 1]])  # (h, D_q)
w_k = torch.tensor([[0.0, -1, 0], [1, 0, -2]])  # (h, D_k)
v = torch.tensor([2.0, 1])
w_q @ q, w_k @ k, v @ torch.tanh(w_q @ q + w_k @ k)

# %% [markdown]
# [1, 2] and [−1, −2] cancel, tanh of 0 is 0, and so is the score. Why tanh at all? Leave it out, and the score is $v \cdot W_q q + v \cdot W_k k$: one part for the query, one for the key. The query adds the same number to the scores of *all* keys. Watch what softmax makes of that, with four keys and two very different queries:

# %%
keys = torch.tensor([[0.0, 1, 1], [2, 0, 0], [1, 1, 0], [0, 0, 2]])
for q in (torch.tensor([1.0, 2]), torch.tensor([-3.0, 0.5])):
    sums = w_q @ q + keys @ w_k.mT  # (4, h)
    print((sums @ v).softmax(dim=-1), (sums.tanh() @ v).softmax(dim=-1))

# %% [markdown]
# Without tanh (left) both queries look at the same keys in the same shares: softmax sees differences only, because a number added to every score multiplies every exponential by the same factor. What the query added cancels. With tanh (right) the shares depend on who asks.
#
# ## Exercise 1.2: additive scores
#
# Score every query with every key, for a batch. There may be as many queries as keys, or not; their widths may differ; the weights are laid out as in PyTorch's linear layers, (out, in).

# %% hints additive_scores [markdown]
# The sum inside tanh exists for every *pair* of a query and a key. How many axes does it have, with the batch and h?
#
# Project queries and keys first, each to width h. Then put an axis of size 1 into each of the two, in different places, so that adding them makes all pairs.
#
# tanh works entry by entry, and `v` removes the last axis: a product with a vector sums over it. `.mT` swaps the last two axes of a weight.


# %% exercise additive_scores
def additive_scores(
    query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> Tensor:
    """Score every query with every key by a small network (Bahdanau et al. 2014).

    query is (B, L, D_q), keys is (B, S, D_k), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns (B, L, S): v · tanh(w_q query + w_k key) for each pair.
    """
    ### BEGIN SOLUTION
    q, k = query @ w_q.mT, keys @ w_k.mT  # (B, L, h), (B, S, h)
    return torch.tanh(q[:, :, None] + k[:, None]) @ v
    ### END SOLUTION


# %% check additive_scores

# %% [markdown]
# ## Exercise 1.3: additive attention
#
# Go the rest of the way: from scores to weights to contexts. You may use your `additive_scores`.

# %% hints additive_attention [markdown]
# Whose attention is shared out: each query's among the keys, or each key's among the queries? Which axis of the scores is that?
#
# What is mixed in the end, keys or values? How wide is the result, and how many rows does it have?
#
# Two steps follow the scores, softmax along one axis and one product. Two things are returned, and the context comes first.


# %% exercise additive_attention
def additive_attention(
    query: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> tuple[Tensor, Tensor]:
    """Mix the values by additive scores.

    query is (B, L, D_q), keys is (B, S, D_k), values is (B, S, D_v), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns contexts (B, L, D_v) and weights (B, L, S); the weights of each query sum to 1.
    """
    ### BEGIN SOLUTION
    weights = additive_scores(query, keys, w_q, w_k, v).softmax(dim=-1)
    return weights @ values, weights
    ### END SOLUTION


# %% check additive_attention

# %% [markdown]
# ### A translation worth the name
#
# Dates are written in many ways and stored in one. Five ways, over 130 years, all to be turned into `1955-01-28`. The lists are generated.

# %%
MONTHS = "january february march april may june july august september october november december"
SIGNS = " abcdefghijklmnopqrstuvwxyz0123456789,./-"


def a_date(generator: torch.Generator) -> tuple[str, str]:
    y, m, d, style = (
        int(torch.randint(low, high, (), generator=generator))
        for low, high in ((1900, 2030), (1, 13), (1, 29), (0, 5))
    )
    name = MONTHS.split()[m - 1]
    styles = [f"{d} {name} {y}", f"{name} {d}, {y}", f"{d:02}.{m:02}.{y}"]
    styles += [f"{d} {name[:3]} {y}", f"{m}/{d}/{y}"]
    return styles[style], f"{y}-{m:02}-{d:02}"


# %%
def dates(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    pairs = [a_date(generator) for _ in range(n)]
    x, y = zip(*[(a.ljust(18), b) for a, b in pairs], strict=True)
    return tuple(
        torch.tensor([[SIGNS.index(c) for c in t] for t in texts]) for texts in (x, y)
    )


generator = torch.Generator().manual_seed(0)
[a_date(generator) for _ in range(3)]

# %% [markdown]
# A "word" is now one sign. The model reads 18 of them (short dates are filled up with spaces) and writes 10. Both models get 200 steps.

# %%
without = trained(False, dates, len(SIGNS), steps=200, rate=0.01)
print("without attention, below 0.1:", accuracy(without, dates) < 0.1)

# %%
translator = trained(True, dates, len(SIGNS), steps=200, rate=0.01)
print("with attention, above 0.9:   ", accuracy(translator, dates) > 0.9)

# %% [markdown]
# Nearly none without, nearly all with. Most of these dates neither has seen in training: there are over 200,000 different inputs, and training showed 12,800. Give it one and look at the map:

# %%
text = "28 january 1955"
x = torch.tensor([[SIGNS.index(c) for c in text.ljust(18)]])
scores, weights = translator(x, 10)
written = "".join(SIGNS[i] for i in scores.argmax(dim=-1)[0])
plot.heatmap(
    weights[0, :, : len(text)].detach(),
    list(written),
    list(text),
    f"{text} becomes {written}",
    alt="The digits of the year look at the year, those of the month at the name of the month, those of the day at the day.",
)

# %% [markdown]
# Read it row by row. To write the year it looks to the end of the text, for the month into the name, for the day to the front. Nobody told it what a month is or where it stands. (A hyphen needs no look, and its rows are smeared. What fell on the spaces after the text is not drawn.) Encoder states carry some of what was read before them, so a row may be bright a sign or two *after* the one that you expect.
#
# ### The distance
#
# There is a second reason for attention, and it has to do with learning. For the last state to depend on the first word, the dependence has to survive every step between. How much of it does? Ask an untrained network for the gradient at the first word, compared to that at the last:

# %%
torch.manual_seed(0)
gru = nn.GRU(32, 64, batch_first=True)
for length in (2, 8, 32):
    x = torch.randn(1, length, 32, requires_grad=True)
    gru(x)[1].norm().backward()
    size = x.grad[0].norm(dim=-1)
    print(f"{length:2} words: {size[0] / size[-1]:.0e}")

# %% [markdown]
# Six tenths after one step; less than one millionth after 31. (Training improves that, but this is where it has to start.) With attention there is one step between any two places, whatever their distance:

# %%
tokens = {
    name: (i, 0) for i, name in enumerate(["the", "cat", "sat", "on", "the ", "mat"])
}
hops = {f"h{i}": (i, 1) for i in range(6)}
plot.diagram(
    tokens | hops | {"look": (2.5, -1.2)},
    [(f"h{i}", f"h{i + 1}", 0.8) for i in range(5)]
    + [(name, f"h{i}", 0.1) for i, name in enumerate(tokens)]
    + [(name, "look", 0.8 if name == "the" else 0.1) for name in tokens],
    "Above: six steps from the first word to the last state. Below: one",
    marked=["look"],
    alt="A sentence of six words. Above it a chain of six states, so what came in first passes six arrows. Below it one box into which an arrow leads from every word directly.",
)

# %% [markdown]
# | | recurrent network | attention alone (from lesson 2 on) |
# |---|---|---|
# | what is seen | all earlier words, through the state (a second one, run backwards, sees the later ones) | all words, or those that a mask allows (lesson 5) |
# | steps between two words | their distance | one |
# | what it keeps | one vector of fixed size | every word's own vector |
# | in training | one word after the other | all at once |
# | when it writes | one word after the other | one word after the other |
# | work for n words | grows with n | grows with n² |
# | what can be looked at | states that nobody can read | weights: where from, not why |
#
# The last rows say what attention costs and what it does not give. In the translator both were at work: a recurrent network for the order, attention for the reach. In 2017 the recurrent part was dropped. That is where lesson 2 begins.
#
# ## What can go wrong
#
# **A mixture forgets, too.** Two different contents can have the same mean, and a context is nothing but a weighted mean:

# %%
half = torch.tensor([0.5, 0.5])
half @ torch.tensor([[2.0, 0], [0, 2]]), half @ torch.tensor([[1.0, 1], [1, 1]])

# %% [markdown]
# Whoever gets [1, 1] cannot tell which of the two it was. Attention widens the bottleneck, and moves it: what passes is one context *per word written* instead of one in all. Lesson 6 shows how several are passed at once.
#
# **Weights along the wrong axis.** Softmax over queries instead of keys gives numbers between 0 and 1 as well. Only the sums tell: each *query* has a whole unit of attention to spend.
#
# **Nothing is found, something is returned.** A dictionary can say that a key is missing. A soft lookup cannot; its shares always sum to 1, even if nothing fits.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | bottleneck | one state for all that was read | the longer the text, the harder to learn |
# | attention | all states, mixed by how well they fit now | a different context for every step |
# | soft lookup | softmax of scores, times values | like a dictionary, but it has a gradient |
# | additive score | $v \cdot \tanh(W_q q + W_k k)$ | a learned comparison; without tanh the query cancels |
#
# %%
recap()

# %% [markdown]
# Did your prediction for 8 words hold? Four more words were enough to turn "nearly always" into "nearly never".
#
# ## Questions
#
# **Question R1** (2 points, read by a person). The state has 64 numbers with 32 bits each, and a sequence of 16 words out of 12 has fewer than 58 bits. So there is room. Why does the model without attention fail at 16 words all the same? And what would you expect from a state ten times as large?

# %% question R1 [markdown] points=2
# Capacity in bits is not the problem, *learning* to use it is. The whole sequence must be written into one vector by the same few weights, step by step, each step overwriting a bit of what the earlier ones left, and it must be read out again in order. What has to be learned is a code, and the gradient that should teach it passes through up to 32 steps and fades on its way. In 250 steps no such code is found.
#
# A state of 640 numbers would push the limit to longer sequences (there is more room for words to be kept apart, so a code is easier to find), for more computation at every step; it would not remove it. There is still one vector of fixed size, and a text of twice the length comes to the limit again. Attention keeps one vector per word, so what it remembers grows with the text.
#
# | points | rubric |
# |---|---|
# | 2 | Says that learning to store and retrieve through many steps is the problem and not the bits, and that a larger state moves the limit without removing it |
# | 1 | One of the two |
# | 0 | "64 numbers are too few", or no reason |

# %% [markdown]
# ## Further reading
#
# - Bahdanau, Cho and Bengio 2014, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473): the paper of this lesson. Figure 3 shows such maps for English and French.
# - Sutskever, Vinyals and Le 2014, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215): how far one vector can be made to go, and the trick of reading backwards.
#
# **Next:** [lesson 2, Queries, keys, values](../02_queries_keys_values/02_queries_keys_values.ipynb). The decoder's state asked, the encoder's states answered. What if every word of a sentence could ask every other?
