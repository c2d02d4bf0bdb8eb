# %% [markdown]
# # 1. Why attention?
#
# After this lesson you can say what a network forgets when it reads first and writes afterward, build a lookup that can be trained, and compute attention nearly in its first form, from 2014. You need a little PyTorch, as in [lesson 0](../00_warm_up/00_warm_up.ipynb). About 45 minutes.
#
# ## The idea
#
# Start with the easiest translation there is: repeat what you have read. The "words" are random numbers below 12.

# %% setup
from functools import partial

import figures
import torch
from torch import Tensor, nn
from translator import CHARACTERS, accuracy, date_pair, dates, to_ids, to_text, train

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %%
def copies(n: int, seed: int, length: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 12, (n, length), generator=generator)
    return x, x  # what is read, what should be written


copies(1, seed=0, length=8)

# %% [markdown]
# In 2014, neural translators were built from two *recurrent* networks. Such a network reads one word at a time and keeps a vector, its *hidden state*. Each new state is computed from the old state and the next word, always with the same weights. The first network, the *encoder*, reads the whole sentence and passes its last state to the second, the *decoder*. The decoder writes one word after another, each from its own state and the word it wrote before.

# %%
figures.bottleneck()

# %% [markdown]
# Our states have 64 dimensions. Is that enough to remember 4 words? 8? 16? The model is in `translator.py`, a short file beside this notebook. Open it if you like; nothing below depends on its details.
#
# Two terms you will meet there. While it trains, the decoder is told the right previous word instead of its own guess: *teacher forcing*. And because a recurrent network's gradient is sometimes huge, a gradient with a norm above 1 is scaled down to norm 1: *gradient clipping*. In the test the decoder is on its own, and a sequence counts as right only if every word in it is.


# %%
def copying(length: int, look=None, steps: int = 250) -> tuple[nn.Module, float]:
    task = partial(copies, length=length)
    model = train(task, symbols=12, look=look, steps=steps, rate=0.005)
    return model, accuracy(model, task)


# %% [markdown]
# **Predict.** After 250 steps it repeats 4 words almost perfectly. How about 8, and 16?

# %%
predict(
    "8 words",
    options=("nearly always right", "right half the time", "nearly never right"),
)
predict(
    "16 words",
    options=("nearly always right", "right half the time", "nearly never right"),
)

# %% measured
LENGTHS = (4, 8, 16)
plain = [copying(length)[1] for length in LENGTHS]
reveal("8 words", "nearly never right")
reveal("16 words", "nearly never right")
for length, share in zip(LENGTHS, plain, strict=True):
    print(f"{length:2} words: {share:4.0%} right")

# %% [markdown]
# Nearly always right with 4 words, nearly never with 8, never with 16. No single word got harder: each is repeated as it was. What grew is what has to fit through the last state. This is the *bottleneck* in the figure. (Or was it the number of steps? When the same network reads four words and then twelve blanks, which are as many steps as sixteen words, it still repeats more than eight sequences out of ten. So it is the words.) Does longer training help? Three times as long, for 8 words:

# %% measured
_, longer = copying(8, steps=750)
print(f" 8 words after 750 steps: {longer:4.0%} right")

# %% [markdown]
# That is better, but not good: about half of the sequences are right, after three times the work. More training moves the limit, but it would be better not to have one. (Your digits may differ by a few percent.)
#
# While it read, the encoder computed a state after every word, and all but the last were thrown away. So keep them. Each time the decoder is about to write, let it look at *all* the states, decide how much each one matters *now*, and mix them in those proportions. The mixture is called the *context*. The decoder writes from its own state and the context.

# %%
figures.attention([0.1, 0.05, 0.6, 0.2, 0.05])

# %% [markdown]
# Here is that step as code. A small network, `score`, gives each pair of a decoder state and an encoder state a *score*. *Softmax* turns the scores $a_1, a_2, \ldots$ into shares that sum to 1: share $i$ is $e^{a_i}$ divided by the sum of all these exponentials. Then the states are mixed. `state` is (B, 64) and `states` is (B, S, 64): `B` sequences in the batch, `S` words read. Indexing with `None` inserts an axis of size 1, `expand_as` repeats along it, `cat` joins tensors along an axis, and `squeeze` removes an axis of size 1.


# %%
def look(score: nn.Module, state: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
    pairs = torch.cat([state[:, None].expand_as(states), states], dim=-1)
    weights = score(pairs).squeeze(-1).softmax(dim=-1)  # (B, S)
    context = (weights[..., None] * states).sum(dim=1)  # (B, 64)
    return weights, context


# %% [markdown]
# Nobody tells the network which word to look at; training has to find that out. Same task, same number of steps, same seed. The third run takes a few seconds, because each of the 16 words written looks at all 16 words read.

# %% measured
_, four = copying(4, look)
model, eight = copying(8, look)
print(f" 4 words: {four:4.0%} right\n 8 words: {eight:4.0%} right")

# %% measured
_, sixteen = copying(16, look)
print(f"16 words: {sixteen:4.0%} right")

# %% [markdown]
# The same model, plus one look back per word, now gets 16 words right more than eight times out of ten.

# %% measured
plot.curves(
    LENGTHS,
    {"with attention": [four, eight, sixteen], "without": plain},
    "With attention, length matters far less",
    xlabel="words",
    ylabel="sequences that are right",
    alt="Without attention the share of right sequences falls from above 0.8 at 4 words to 0 at 16. With attention it stays above 0.7.",
)

# %% [markdown]
# Where does the decoder look while it writes word 0, word 1, and so on? Called with sequences and the number of words to write, the model returns *logits* (a score for each symbol, before softmax) and weights. Here are the weights for eight words, averaged over 500 sequences:

# %%
_, weights = model(copies(500, 5, 8)[0], 8)
plot.heatmap(
    weights.mean(dim=0).detach(),
    [f"write {i}" for i in range(8)],
    [f"read {i}" for i in range(8)],
    kind="shares",
    title="While writing word i it looks at word i",
    alt="A bright diagonal: each row puts most of its weight on the word with the same number.",
)

# %% [markdown]
# A different context for every word it writes. That is the whole idea. Bahdanau, Cho and Bengio published it in 2014, to get rid of exactly this bottleneck.
#
# ## By hand
#
# The shares behind the arrows in the second figure, 0.1, 0.05, 0.6, 0.2 and 0.05, are toy numbers. So are these two-dimensional states: [10, 0], [0, 20], [5, 5], [0, 10] and [20, 0]. Compute the context on paper: each state times its share, all added up.

# %%
shares = torch.tensor([0.1, 0.05, 0.6, 0.2, 0.05])
states = torch.tensor([[10.0, 0], [0, 20], [5, 5], [0, 10], [20, 0]])
shares @ states

# %% [markdown]
# The context is [5, 6]: $0.1 \cdot 10 + 0.6 \cdot 5 + 0.05 \cdot 20 = 5$, and $0.05 \cdot 20 + 0.6 \cdot 5 + 0.2 \cdot 10 = 6$. It has the dimension of one state, however many states there are.
#
# Why mix at all? The more direct way is to *pick* the state with the highest score. Ask both ways for a gradient:

# %%
scores = torch.tensor([1.0, 2.0, 4.0, 3.0, 0.5], requires_grad=True)
picked = states[scores.argmax()]
mixed = scores.softmax(dim=-1) @ states
print("picking passes a gradient to the scores:", picked.requires_grad)
print("mixing passes a gradient to the scores: ", mixed.requires_grad)

# %% [markdown]
# Picking passes nothing back: a slightly higher score changes nothing until it changes everything. Gradient descent has nothing to follow. (There are ways around that: REINFORCE, for instance, picks at random and rewards the lucky picks. They are slower and noisier.) Mixing needs no such trick. Raise a score a little, and the context moves a little.
#
# ## In PyTorch
#
# Leave the translator for a moment and look at this step alone. A *query* says what is wanted. Each entry of a table has a *key*, by which it is found, and a *value*, which is what you get. The score of an entry is the dot product of its key with the query. (In the translator the decoder's state was the query, and each encoder state was both key and value. Lesson 2 takes the three apart.)

# %%
key = torch.tensor([[4.0, 0], [0, 4], [3, 3]])
value = torch.tensor([[100.0, 0, 0], [0, 100, 0], [0, 0, 100]])
query = torch.tensor([1.0, 0.5])
scores = torch.stack([query.dot(k) for k in key])
scores

# %% [markdown]
# The third entry fits best, the first nearly as well. Now softmax, written out, and the mixture, one entry at a time:

# %%
shares = scores.exp() / scores.exp().sum()
output = torch.zeros(3)
for share, v in zip(shares, value, strict=True):
    output = output + share * v
shares, output

# %% [markdown]
# The output is 36% of the first value, 5% of the second and 59% of the third.
#
# How strict should a lookup be? Divide the scores by a *temperature* before softmax. **Predict.** What does a temperature of 0.1 do to these shares?

# %%
predict(
    "temperature 0.1", options=("all nearly equal", "nothing", "one takes nearly all")
)

# %%
reveal("temperature 0.1", "one takes nearly all")
torch.stack([(scores / t).softmax(dim=-1) for t in (0.1, 1.0, 10.0)])

# %% [markdown]
# At 0.1 the third entry takes 0.993: nearly a hard lookup, but with a gradient. At 10 all three are close to a third.
#
# ### Exercise 1.1: a soft lookup
#
# Look up one query among n keys, and mix their values. No loop is needed: what the cells above did entry by entry is two products. PyTorch has a function for attention, which you will meet later; it is not allowed here, because the steps are the exercise.

# %% hints soft_lookup [markdown]
# Which three steps lead from a query to an output? After which of them do you have n numbers, and after which D_v?
#
# A matrix times a vector takes the dot product of each row with that vector. Which of your tensors is the matrix? And where does the temperature belong: before softmax, or after it?
#
# The shares are n numbers that sum to 1. A vector times a matrix multiplies every row by its number and adds the rows up. And what is `exp` of a score of 1000? PyTorch's softmax avoids that; lesson 4 shows how.


# %% exercise soft_lookup
def soft_lookup(
    query: Tensor, key: Tensor, value: Tensor, temperature: float = 1.0
) -> Tensor:
    """Mix the values by how well their keys fit the query.

    query is (D,), key is (n, D), value is (n, D_v). Scores are dot products, divided by the temperature, which is
    above 0. Scores may be in the thousands. Returns (D_v,), with gradients for query, key and value.
    """
    ### BEGIN SOLUTION
    return (key @ query / temperature).softmax(dim=-1) @ value
    ### END SOLUTION


# %% check soft_lookup

# %% [markdown]
# ### The first attention
#
# A dot product compares vectors of the same dimension. But the decoder's state and the encoder's states come from different networks, and nothing makes them comparable entry by entry. So the first attention *learned* to compare. A matrix $W_q$ takes the query and a matrix $W_k$ takes the key into a common space of h dimensions; there they are added; $\tanh$ bends the sum; and a vector $v$ (not a value) turns it into one score:
#
# $$\text{score}(q, k) = v \cdot \tanh(W_q\, q + W_k\, k) .$$
#
# This is *additive attention*, and you have met it: apart from biases, it is the network `score` in the translator. (A matrix times two concatenated vectors is a sum of two products, one for each block of its columns.) From lesson 2 on we use dot products; exercises 1.2 and 1.3 build the attention that came first. Try it on paper first, with a query of two dimensions, a key of three, and h = 2.

# %%
q, k = torch.tensor([1.0, 2]), torch.tensor([0.0, 1, 1])
w_q = torch.tensor([[1.0, 0], [0, 1]])  # (h, D_q)
w_k = torch.tensor([[0.0, -1, 0], [1, 0, -2]])  # (h, D_k)
v = torch.tensor([2.0, 1])
w_q @ q, w_k @ k, v @ torch.tanh(w_q @ q + w_k @ k)

# %% [markdown]
# [1, 2] and [−1, −2] cancel, tanh of 0 is 0, and so is the score. Why have tanh at all? Leave it out, and the score is $v \cdot W_q q + v \cdot W_k k$: one part for the query, one for the key. The query adds the same number to the scores of *all* keys. See what softmax makes of that, with four keys and two very different queries:

# %%
keys = torch.tensor([[0.0, 1, 1], [2, 0, 0], [1, 1, 0], [0, 0, 2]])
for q in (torch.tensor([1.0, 2]), torch.tensor([-3.0, 0.5])):
    sums = w_q @ q + keys @ w_k.mT  # (4, h)
    print((sums @ v).softmax(dim=-1), (sums.tanh() @ v).softmax(dim=-1))

# %% [markdown]
# Without tanh (left) both queries look at the same keys in the same shares. Softmax sees only differences, because a number added to every score multiplies every exponential by the same factor. What the query added cancels. With tanh (right) the shares depend on who asks.
#
# ### Exercise 1.2: additive scores
#
# Score every query against every key, for a batch. Queries and keys may differ in number and in dimension. The weights are laid out as in `nn.Linear`, (outputs, inputs).

# %% hints additive_scores [markdown]
# The sum inside tanh exists for every *pair* of a query and a key. How many axes does it have, counting the batch and h?
#
# Project queries and keys first, each to h dimensions. Then give each of the two an axis of size 1 (index with `None`), in different places, so that broadcasting makes all pairs when you add them.
#
# tanh works entry by entry, and `v` removes the last axis: a product with a vector sums over it. `.mT` swaps the last two axes of a weight matrix.


# %% exercise additive_scores
def additive_scores(
    query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> Tensor:
    """Score every query against every key with a small network (Bahdanau et al. 2014).

    query is (B, L, D_q), key is (B, S, D_k), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns (B, L, S): v · tanh(w_q query + w_k key) for each pair. Each query and each key is a row.
    """
    ### BEGIN SOLUTION
    q, k = query @ w_q.mT, key @ w_k.mT  # (B, L, h), (B, S, h)
    return torch.tanh(q[:, :, None] + k[:, None]) @ v
    ### END SOLUTION


# %% check additive_scores

# %% [markdown]
# ### Exercise 1.3: additive attention
#
# Go the rest of the way, from scores to weights to contexts. You may use your `additive_scores`.

# %% hints additive_attention [markdown]
# Whose attention is shared out: each query's among the keys, or each key's among the queries? Which axis of the scores is that?
#
# What is mixed in the end, keys or values? How many rows does the result have, and how wide is it?
#
# Two steps follow the scores: softmax along one axis, and one product. Two things are returned, and the context comes first.


# %% exercise additive_attention
def additive_attention(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> tuple[Tensor, Tensor]:
    """Mix the values by additive scores.

    query is (B, L, D_q), key is (B, S, D_k), value is (B, S, D_v), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns contexts (B, L, D_v) and weights (B, L, S); the weights of each query sum to 1.
    """
    ### BEGIN SOLUTION
    weights = additive_scores(query, key, w_q, w_k, v).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check additive_attention

# %% [markdown]
# ### A real translation
#
# People write dates in many ways; computers store them in one. Ours are generated, in five styles and from the years 1900 to 2029, and all are to be rewritten in the style of `1955-01-28`. Three of them:

# %%
generator = torch.Generator().manual_seed(0)
[date_pair(generator) for _ in range(3)]

# %% [markdown]
# A "word" is now a single character. The model reads 18 of them (short dates are padded with spaces) and writes 10. Both models get 200 steps.

# %% measured
without = train(dates, len(CHARACTERS), steps=200, rate=0.01)
print(f"without attention: {accuracy(without, dates):4.0%} right")

# %% measured
translator = train(dates, len(CHARACTERS), look, steps=200, rate=0.01)
print(f"with attention:    {accuracy(translator, dates):4.0%} right")

# %% [markdown]
# Nearly none without, nearly all with. Neither has met most of the 500 test dates in training: there are over 200,000 different inputs, and training showed 12,800. Give the one with attention a date, and look at its weights:

# %%
text = "28 january 1955"
logits, weights = translator(torch.tensor([to_ids(text)]), 10)
written = to_text(logits.argmax(dim=-1)[0])
plot.heatmap(
    weights[0, :, : len(text)].detach(),
    list(written),
    list(text),
    f"{text} becomes {written}",
    alt="The digits of the year look at the year, those of the month at the name of the month, those of the day at the day.",
)

# %% [markdown]
# Read it row by row. For the year it looks at the end of the text, for the month at the name, for the day at the front. Nobody told it what a month is or where to find one. The rows of the hyphens are smeared: a hyphen is the same in every date, so nothing needs to be looked up. (What fell on the padding is not drawn.) An encoder state carries some of what was read before it, so a row may be bright a character or two *after* the one you expect.
#
# ### The distance
#
# There is a second reason for attention: the distance that a gradient has to travel. For the last state to depend on the first word, that dependence has to survive every step in between. How much of it survives? Take an untrained `nn.GRU`, the kind of recurrent network in our translator. Take the norm of its last state. (The norm is a vector's length.) Compare two gradients of this norm, one with respect to the first word and one with respect to the last. How much smaller is the first?

# %%
torch.manual_seed(0)
gru = nn.GRU(32, 64, batch_first=True)
for length in (2, 8, 32):
    x = torch.randn(1, length, 32, requires_grad=True)
    gru(x)[1].norm().backward()
    size = x.grad[0].norm(dim=-1)
    print(f"{length:2} words: {size[0] / size[-1]:.0e}")

# %% [markdown]
# About half is left after one step, and less than a millionth after 31. The network can learn to carry a few words that far, but it has to start from almost nothing. With attention there is one step between any two words, however far apart they are:

# %%
figures.distance()

# %% [markdown]
# | | recurrent network | attention alone (from lesson 2 on) |
# |---|---|---|
# | what it sees | all earlier words, through the state (a second network, run backward, sees the later ones) | all words, or those that a mask allows (lesson 5) |
# | steps between two words | their distance | one |
# | what it keeps | one vector of fixed size | a vector for every word |
# | in training | one word after another | all at once |
# | when it writes | one word after another | one word after another |
# | work for n words | grows with n | grows with n² |
# | what you can look at | states that nobody can read | the attention weights: they show where a vector was mixed from, though not why |
#
# The last two rows say what attention costs, and what it does not give. In the translator both were at work: a recurrent network for the order, attention for the reach. In 2017 the recurrent part was dropped. Lesson 2 builds what remained.
#
# ## What can go wrong
#
# **A mixture forgets, too.** Two different contents can have the same mean, and a context is nothing but a weighted mean:

# %%
half = torch.tensor([0.5, 0.5])
half @ torch.tensor([[2.0, 0], [0, 2]]), half @ torch.tensor([[1.0, 1], [1, 1]])

# %% [markdown]
# Given [1, 1], you cannot tell which of the two it was. Attention widens the bottleneck and moves it: what passes is one context *per word written*, instead of one vector for everything. Lesson 6 shows how to pass several at once.
#
# **Weights along the wrong axis.** Softmax over queries instead of keys also gives numbers between 0 and 1. Only the sums give it away: each *query* has one whole unit of attention to spend.
#
# **Nothing is found, but something is returned.** A dictionary can say that a key is missing. A soft lookup cannot. Its shares always sum to 1, even if nothing fits.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | bottleneck | one state for everything that was read | the longer the text, the harder to learn |
# | attention | all states, mixed by how well they fit now | a different context at every step |
# | soft lookup | softmax of scores, times values | like a dictionary, but with a gradient |
# | additive score | $v \cdot \tanh(W_q q + W_k k)$ | a learned comparison; without tanh the query cancels |
#
# %%
recap()

# %% [markdown]
# Did your prediction for 8 words hold? Four more words were enough to turn "nearly always" into "nearly never".
#
# ## Questions
#
# **Question R1** (2 points, graded by a person). The state has 64 dimensions with 32 bits each, 2048 bits in all, and a sequence of 16 words, each drawn from 12, holds fewer than 58. So there is room. Why does the model without attention fail at 16 words all the same? And what would you expect from a state ten times as large?

# %% question R1 [markdown] points=2
# Capacity in bits is not the problem; *learning* to use it is. The same few weights must write the whole sequence into one vector, step by step, and then read it out again in order. What has to be learned is a code for all the words at once, in one vector, and with every further word there is more to keep apart. The number of steps matters less: four words followed by twelve blanks are still repeated in more than eight cases out of ten. In 250 steps no code for sixteen words is found.
#
# A state of 640 dimensions would push the limit to longer sequences (there is more room to keep words apart, so a code is easier to find), at the cost of more computation at every step. It would not remove the limit. There is still one vector of fixed size, and a text twice as long reaches the limit again. Attention keeps one vector per word, so what it remembers grows with the text.
#
# | points | rubric |
# |---|---|
# | 2 | Says that learning a code for many words in one vector is the problem rather than the bits (learning to store and retrieve is near enough), and that a larger state moves the limit without removing it |
# | 1 | One of the two |
# | 0 | "64 numbers are too few", or no reason |

# %% [markdown]
# ## Further reading
#
# - Bahdanau, Cho and Bengio 2014, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473): the paper behind this lesson. Figure 3 shows such maps for English and French.
# - Sutskever, Vinyals and Le 2014, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215): how far one vector can go, and the trick of reading backward.
#
# **Next:** [lesson 2, Queries, keys, values](../02_queries_keys_values/02_queries_keys_values.ipynb). The decoder's state asked, the encoder's states answered. What if every word of a sentence could ask every other?
