# %% [markdown]
# # 2. Queries, keys, values
#
# After this lesson you can build attention from three matrices, say what each of them is for, and read the weights that come out. You should have done lesson 1 and be comfortable with logarithms. About 115 minutes, in two sittings, of which the first ends before "From scores to weights to output". The optional section takes another 10.
#
# **From memory.** In lesson 0, what were the three steps called? Which axis disappears in `a @ b.mT`? And in lesson 1, what was the bottleneck of a network that reads everything before it writes?
#
# <details><summary>Answers</summary>
#
# Compare, share out, mix. The last axis of both disappears, which is the one that they have in common. The bottleneck was a single state for everything that had been read.
#
# </details>
#
# ## The idea
#
# A library has one shelf per subject. In Python, such a library is a dictionary, which finds a shelf immediately if you ask for it by its exact label.

# %% setup
import math

import torch
from torch import Tensor

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
shelves = {
    "fiction": "Book 1",
    "history": "Book 2",
    "deep learning": "Book 3",
    "biology": "Book 4",
    "math": "Book 5",
}
shelves.get("deep learning"), shelves.get("deep learning textbook")

# %% [markdown]
# If you add one word to the request, the answer is `None`, because to a dictionary two labels are equal or unequal and nothing in between. A librarian would have gone to the deep learning shelf, perhaps with a glance at math on the way.
#
# To get from the dictionary to the librarian, give each shelf a *score* that says how well its label matches the request. Let deep learning have a 6, math a 3, and the rest 0. *Softmax*, which takes `exp` of each score and divides by the sum, turns the scores into shares of our attention.

# %%
scores = torch.tensor([0.0, 0.0, 6.0, 0.0, 3.0])
scores.softmax(dim=-1)

# %% [markdown]
# Deep learning gets 0.946 of our attention, math 0.047, and even the other shelves keep 0.002 each: on paper softmax never gives exactly zero. We carry home not one book but a mixture of all five.
#
# Nobody can read a mixture of books, but vectors can be mixed, and vectors are what we look up. Three things took part in the search, and you know their names from lesson 1:
#
# | | in a database | in a translation network | as if the word spoke |
# |---|---|---|---|
# | **query** | the search text | the state of the decoder, which writes | "I want …" |
# | **key** | the label that is searched | the encoder's state at each word | "I have …" |
# | **value** | the content of the record | the same state, once more | "I give …" |
#
# A query is compared with keys, and the comparison decides *how much* of each value is taken. The values are *what* gets passed on. A key and its value can be very different vectors, because they do different jobs. Every GPT makes these three vectors of each token that it reads, anew in each of its layers.
#
# ## By hand
#
# Take a pencil, and work with one query, three keys and three values. A score is again the dot product of the query with a key.

# %%
q = torch.tensor([1.0, 0.0, 0.0, 0.0])
keys = torch.tensor([[0, 1, 0, 2], [math.log(2), 0, 3, 1], [math.log(3), 1, 1, 0]])
values = torch.tensor([[6.0, 0], [0, 6], [12, 12]])
keys @ q

# %% [markdown]
# The query asks about the first entry of each key and about nothing else, because its other entries are 0. Those first entries are 0, ln 2 and ln 3, whose exponentials are easy to work with: $e^0 = 1$, $e^{\ln 2} = 2$ and $e^{\ln 3} = 3$. Their sum is 6, so the weights are $\tfrac16, \tfrac13, \tfrac12$.
#
# Now use them to mix the values, on paper, before you run the next cell.

# %%
weights = (keys @ q).softmax(dim=-1)
weights, weights @ values

# %% [markdown]
# The output is exactly [7, 8], which is Tom's evening in lesson 0. Its first entry is $\tfrac16\cdot 6 + \tfrac13\cdot 0 + \tfrac12\cdot 12 = 7$.
#
# The third value leads with half of the weight. **Predict.** If the query doubles, to [2, 0, 0, 0], then so do all the scores. What happens to the weight of the third key?

# %%
predict("weight of the third key", options=("stays 1/2", "grows", "shrinks"))

# %%
weights = (keys @ (2 * q)).softmax(dim=-1)
reveal("weight of the third key", "grows")
weights, weights @ values

# %% [markdown]
# The weight of the third key grows from 0.5 to 0.643. The exponentials are now 1, 4 and 9, each the square of what it was before, so the weights are $\tfrac1{14}, \tfrac4{14}, \tfrac9{14}$. The direction of a query says what the query asks for. Its length, which is called its *norm*, says how insistently it asks.
#
# **Predict.** Now change the keys instead, so that all three are the same vector, no matter which. What does the query get?

# %%
predict(
    "three equal keys", options=("the first value", "the mean of the values", "zeros")
)

# %%
same_keys = keys[1].expand(3, 4)
output = (same_keys @ q).softmax(dim=-1) @ values
reveal("three equal keys", "the mean of the values")
output, values.mean(dim=0)

# %% [markdown]
# Equal keys give equal scores, equal scores give each value a weight of one third, and the output is the plain mean, [6, 6]. Whatever the query is, values whose keys are equal get equal weights.
#
# None of the three outputs has left the range of the values. The weights are positive and sum to 1, and a mixture with such weights is called a *convex combination*. It can never leave the region between the values, which for three values is the triangle that they form. Here are the outputs of four queries. (In the figures of these lessons, queries are blue, keys yellow, and values green.)

# %%
queries = torch.tensor([[1.0, 0, 0, 0], [2, 0, 0, 0], [-2, 0, 0, 0], [0, 0, 1, 0]])
outputs = torch.stack([(keys @ one).softmax(dim=-1) @ values for one in queries])
plot.mixture(
    values,
    outputs,
    ["value 1", "value 2", "value 3"],
    ["q", "2q", "−2q", "another"],
    "Attention mixes: no output leaves the triangle",
)

# %% [markdown]
# The query q lands at [7, 8], 2q closer to value 3, and −2q, which asks for the opposite, near value 1. The fourth query asks about the third entry of the keys, which the others ignore, and even its output stays inside the triangle.
#
# Now turn a query yourself. Three keys of equal norm lie in a plane, at 0°, 90° and 210°, and the norm of the query is twice theirs. Which angle gives the second key the most weight, and where do two keys get the same weight?


# %%
def toward(degrees: Tensor) -> Tensor:
    return torch.stack([degrees.deg2rad().cos(), degrees.deg2rad().sin()], dim=-1)


around = toward(torch.tensor([0.0, 90, 210]))  # three keys, (3, 2)
plot.slide(
    lambda angle: (around @ (2 * toward(torch.tensor(angle)))).softmax(dim=-1),
    ["key 1", "key 2", "key 3"],
    name="query's angle",
    low=0,
    high=360,
    start=30,
    step=15,
    arrows=lambda angle: (2 * toward(torch.tensor(angle)), around),
    shown=(45, 90, 105),
)

# %% [markdown]
# A query that points straight at key 2, at 90°, gives it a weight of 0.84. At 105° the weight is 0.85, the most on this slider. Why not at 90°? There the query is closer to key 1 than to key 3, and key 1 takes some of the weight. At 105° it is equally far from both, and the two together take less.
#
# Two keys get the same weight when the query points halfway between them, at 45°, 150° and 285°, or the opposite way, as at 105°. No angle gives one key everything. A query of larger norm would come closer, though on paper it would never get there.
#
# ## In PyTorch
#
# Our sentence is *the cat sat on the mat*. Each word is a row of five numbers, which say whether the word is an article, a noun, a verb or a preposition, and whether it is alive. These are toy numbers, chosen by hand, because a model would learn its own and you could not read them.

# %%
tokens = ["the", "cat", "sat", "on", "the", "mat"]
x = torch.tensor(
    [
        # article, noun, verb, preposition, alive
        [1.0, 0, 0, 0, 0],  # the
        [0.0, 1, 0, 0, 1],  # cat
        [0.0, 0, 1, 0, 0],  # sat
        [0.0, 0, 0, 1, 0],  # on
        [1.0, 0, 0, 0, 0],  # the
        [0.0, 1, 0, 0, 0],  # mat
    ]
)

# %% [markdown]
# Follow the word *sat*, which wants to know who sat. What it *is* (a verb) and what it *wants* (something alive) are different things, so the row of *sat* cannot serve as its query.
#
# A matrix turns the row into a query. There is one matrix for each of the three roles, and the step is called a *projection*, though not in the strict sense of linear algebra. The first matrix says, row by row, what each kind of word asks for. Its two columns mean "a thing" and "alive":

# %%
w_q = torch.tensor([[2.0, 0], [0, 0], [2, 2], [2, -2], [0, 0]])  # (E, D)
for word, row in zip(tokens, x, strict=True):
    print(f"{word:4}", row @ w_q)

# %% [markdown]
# The query of *sat* is [2, 2], "a thing, and alive", and that of *on* is [2, −2], "a thing, preferably not alive". Articles want a thing of any kind, and nouns ask for nothing.
#
# Keys and values come from the same rows through two more matrices. Keys must have the same dimension as queries, because otherwise the two could not be compared. Values may have any dimension. Here it is three, and their entries mean "animal", "object" and "grammar".

# %%
w_k = torch.tensor([[0.0, 0], [1, 0], [0, 0], [0, 0], [0, 1]])  # (E, D)
w_v = torch.tensor(
    [[0.0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 1], [1, -1, 0]]
)  # (E, D_v)
sat, cat = x[2], x[1]
sat @ w_q, cat @ w_k, cat @ w_v

# %% [markdown]
# *sat* asks [2, 2], and the key of *cat* answers [1, 1], "I am a thing, and I am alive". *cat* would give its value [1, 0, 0], an animal. Its value comes from two rows of `w_v`. As a noun it gets [0, 1, 0], one "object". Because it is alive, it gets [1, −1, 0] as well, which takes the object back and gives an "animal".
#
# The same letters recur in all lessons. A *token* is one element of the sequence, here a word. `B` counts the sentences in a batch, `L` the queries, and `S` the keys, each of which has a value. `E` is the dimension of a token, `D` that of a query or a key, and `D_v` that of a value. The dots stand for any leading axes: a batch or, from lesson 6 on, several *heads*, each of which computes an attention of its own.
#
# | | shape | here |
# |---|---|---|
# | tokens `x` | `(B, L, E)` | 6 × 5 |
# | `query` | `(…, L, D)` | 6 × 2 |
# | `key` | `(…, S, D)` | 6 × 2 |
# | `value` | `(…, S, D_v)` | 6 × 3 |
# | scores, weights | `(…, L, S)` | 6 × 6 |
# | output | `(…, L, D_v)` | 6 × 3 |
#
# <details><summary>What papers and libraries call these sizes</summary>
#
# | here | Vaswani et al. | PyTorch's documentation | code of GPT-2 |
# |---|---|---|---|
# | `B` | none | `N` | `batch_size` |
# | `L`, `S` | $n$ | `L`, `S` | `n_ctx` at most |
# | `E` | $d_\text{model}$ | `embed_dim` | `n_embd` |
# | `D`, `D_v` | $d_k$, $d_v$ | `E`, `Ev` | `n_embd // n_head` |
# | number of heads `H` | $h$ | `num_heads` | `n_head` |
#
# The third column has a trap, because in the documentation of `scaled_dot_product_attention` the letter `E` is the dimension of a query.
#
# </details>
#
# If queries, keys and values all come from the same tokens, this is *self-attention*. If the queries come from one sequence and the keys and values from another, it is *cross-attention*, and `L` and `S` can differ.
#
# ### Exercise 2.1: three projections
#
# Compute the queries, keys and values of all tokens of a batch of sentences, without a loop. There is one matrix for each role, and the last may have a different number of columns from the first two.

# %% hints project_qkv [markdown]
# The cells above multiplied one token, a vector, by a matrix. What comes out if you multiply a whole sentence, a matrix with one token per row?
#
# `@` multiplies the last two axes and carries along all the axes before them. Check the inner sizes: which axis of `x` meets which axis of a weight matrix?
#
# There are three products of the same form, each with its own matrix. Return them in the order in which the function's name lists them.


# %% exercise project_qkv
def project_qkv(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Project tokens to queries, keys and values.

    x is (B, L, E); w_q and w_k are (E, D); w_v is (E, D_v).
    Returns query (B, L, D), key (B, L, D) and value (B, L, D_v).
    """
    ### BEGIN SOLUTION
    return x @ w_q, x @ w_k, x @ w_v
    ### END SOLUTION


# %% check project_qkv

# %% [markdown]
# ### Every query meets every key
#
# Now *sat* reads all six keys, one at a time:

# %%
query, key, value = x @ w_q, x @ w_k, x @ w_v
scores = torch.stack([query[2] @ k for k in key])
scores

# %%
places = {f"{i} {word}": (i, 0) for i, word in enumerate(tokens)}
widths = (scores / scores.max()).tolist()
plot.diagram(
    {**places, "sat asks": (2.5, 1.3)},
    [("sat asks", place, width) for place, width in zip(places, widths, strict=True)],
    "One query meets every key",
    roles={"sat asks": "query"} | dict.fromkeys(places, "key"),
    notes={
        place: f"score {score:g}"
        for place, score in zip(places, scores.tolist(), strict=True)
    },
    alt="Arrows lead from the query of sat to all six words: the thickest to cat, one half as thick to mat, hairlines to the rest.",
)

# %% [markdown]
# *cat* scores 4, *mat* scores 2, and the rest score nothing. *mat* is a thing but not alive, so it answers half of the question.
#
# Every word has a query, not only *sat*. A second loop gives a table with a row per query and a column per key:

# %%
torch.stack([torch.stack([q @ k for k in key]) for q in query])  # (L, S)

# %% [markdown]
# These numbers are called *attention scores*, and they can have any size and any sign. Two loops in Python are slow, so we want a single matrix product that gives the same table. Entry (i, j) of a product is row i of the left factor times *column* j of the right one. But our keys are the rows of their matrix. What do we have to do with this matrix first?
#
# ### Exercise 2.2: scores
#
# This is exercise 0.1 under its proper name. Compute the table of scores with one product, for any number of leading axes.

# %% hints attention_scores [markdown]
# The score of query i with key j is a single number, in row i and column j. What shapes must the two factors have for their product to have `L` rows and `S` columns?
#
# Two of the key's axes have to trade places. With a batch and heads in front there may be four axes. Which two are they, counted from the end?
#
# `.T` reverses *all* axes, `.mT` swaps only the last two. Nothing else happens to the scores: no softmax yet, and no division in this lesson.


# %% exercise attention_scores
def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """Return the dot product of every query with every key.

    query is (..., L, D), key is (..., S, D), with the same leading axes. Returns (..., L, S).
    """
    ### BEGIN SOLUTION
    return query @ key.mT
    ### END SOLUTION


# %% check attention_scores

# %% [markdown]
# ### From scores to weights to output
#
# A smaller case, with two queries and three keys, makes sure that rows and columns cannot be confused:

# %%
q2 = torch.tensor([[1.0, 0, 1, 0], [0, 1, 1, 0]])  # (L, D) = (2, 4)
k3 = torch.tensor([[1.0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 1, 0]])  # (S, D) = (3, 4)
v3 = torch.tensor([[10.0, 0], [0, 10], [5, 5]])  # (S, D_v) = (3, 2)
scores = torch.stack([torch.stack([q @ k for k in k3]) for q in q2])  # (L, S)
scores

# %% [markdown]
# Each query scores 2 with the key that equals it and 1 with the others. Softmax has to share out *each query's* attention among the keys. But the table has two axes, and softmax can run along either of them. Try the first axis:

# %%
wrong = scores.softmax(dim=0)
wrong.sum(dim=-1)

# %% [markdown]
# With `dim=0` the queries compete for each key, and each of the two ends up with 1.5 units of attention. PyTorch raises no error, and only the sums reveal the mistake, because every row should have one unit. So take one row at a time.

# %%
weights = torch.stack([row.exp() / row.exp().sum() for row in scores])
plot.heatmap(
    weights, ["query 1", "query 2"], ["key 1", "key 2", "key 3"], "Each row sums to 1"
)

# %% [markdown]
# The key that equals the query gets 0.576 and the other two get 0.212 each, which is $e^2 / (e^2 + 2e)$ and $e / (e^2 + 2e)$. These shares are called the *attention weights*. That name always means the numbers after softmax, while the numbers before softmax are the scores.
#
# The last step mixes the values, one row of weights at a time:

# %%
mixtures = [sum(w * v for w, v in zip(row, v3, strict=True)) for row in weights]
output = torch.stack(mixtures)  # (L, D_v)
output

# %% [markdown]
# The first query takes mostly [10, 0] and ends up at [6.821, 3.179]. The second prefers value 3, which is [5, 5], and gives equal weights to the other two values. Their mean is also [5, 5], and so is the output. If the rows of $Q$, $K$ and $V$ are the queries, the keys and the values, then the whole lesson is one line:
#
# $$\text{output} = \text{softmax}(Q K^\top)\, V .$$
#
# ### Exercise 2.3: attention
#
# Write that line as a function, without a loop, and return the weights as well, because we will want to look at them. Leave the scores as they are. Some texts divide the scores here, and lesson 3 says why. PyTorch's own attention is not allowed, because you are to write it yourself.
#
# The figure shows all the matrices of our small case. In its first line, the framed row of a query meets the framed column of a key, and their dot product is the framed score. In its second line, the framed row of weights mixes the values into the framed output.

# %%
q_names, k_names = ["q1", "q2"], ["k1", "k2", "k3"]
plot.matrices(
    [
        [
            ("query", q2, q_names, (0, None)),
            ("@ keyᵀ", k3.mT, [], (None, 0)),
            ("= scores", scores, q_names, (0, 0)),
        ],
        [
            ("softmax → weights", weights, q_names, (0, None)),
            ("@ value", v3, k_names, (None, None)),
            ("= output", output, q_names, (0, None)),
        ],
    ],
    "Queries score keys, softmax normalizes each row, weights mix values",
)

# %% hints attend [markdown]
# Of the three inputs, which two decide how much, and which one is mixed? Where in the figure does that third input come in?
#
# Scores, then softmax, then one more product. Which axis of the scores runs over the keys? Count from the end, so that batches and heads make no difference.
#
# The output has the dimension of the values. Return a pair: first the mixture, then the table of shares. PyTorch's `softmax` copes even with scores of a thousand, while `exp` written out by hand does not.


# %% exercise attend
def attend(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Mix values according to how well their keys match each query.

    query is (..., L, D), key is (..., S, D), value is (..., S, D_v).
    Returns the output (..., L, D_v) and the attention weights (..., L, S). Scores are not scaled, and may be in the
    thousands.
    """
    ### BEGIN SOLUTION
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check attend

# %% [markdown]
# ### The whole sentence
#
# Back to the whole sentence. Of its six words, *cat* has the highest score for *sat*. Now let the two nouns change places: *the mat sat on the cat*. **Predict.** Which word gets most of the weight of *sat* now?

# %%
predict("in 'the mat sat on the cat', 'sat' looks at", options=("mat", "cat", "both"))

# %%
weights = (query @ key.mT).softmax(dim=-1)
order = [0, 5, 2, 3, 4, 1]  # the mat sat on the cat
swapped = (query[order] @ key[order].mT).softmax(dim=-1)
reveal("in 'the mat sat on the cat', 'sat' looks at", "cat")
swapped[2], weights[2]

# %% [markdown]
# It still looks at *cat*, which is now the last word, with the same weight of 0.83. Query and key are made from the two words alone, and the position of a word plays no part. Here are the weights of the whole sentence in its usual order:

# %%
plot.heatmap(weights, tokens, tokens, "'sat' looks at 'cat', 'on' looks at 'mat'")

# %% [markdown]
# For the same reason the two rows of *the* are identical, although the articles come before different nouns. As long as nothing in the rows of `x` says where a word is, and every word may look at every other, attention sees a bag of words and not a sentence. Lesson 7 shows how positions get into the rows.
#
# The rest is what the matrices were made for. *sat* puts 0.83 on *cat*, and *on* puts 0.60 on *mat*. The nouns ask for nothing, so all their scores are 0 and they look at everything equally. And this is what *sat* now carries:

# %%
(weights @ value)[2]

# %% [markdown]
# This is mostly "animal", with 0.83. *sat* asked who sat and got an answer from the rest of the sentence, and that is what attention is for. Here the answer replaces the row of *sat*, whereas lesson 8 adds the answer to the row, so that nothing is lost.
#
# This is also where attention differs from a linear layer, which mixes its inputs with learned numbers that are the same for every sentence. Attention computes its table of weights from the sentence itself. Another sentence gets another table, and only the three matrices are learned.
#
# ### Exercise 2.4: look one back
#
# So far the vectors were given and the weights followed. Now work backward, from weights that you want to vectors that produce them. Choose queries and keys such that every position looks at the one before it, with a weight above 0.99, and the first position looks at itself. Your queries and keys depend on the position alone and not on the words. For six positions, these are the weights to come close to:

# %%
wanted = torch.zeros(6, 6)
wanted[[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4]] = 1.0
wanted

# %% [markdown]
# On paper softmax never gives one of several keys exactly 1, so above 0.99 will do. In a long sequence many keys keep a small weight each. All those weights together must stay below 0.01, for 300 positions as well as for 6.
#
# Why would a model want such weights? Suppose that a text says *Anna Karenina* and later *Anna* once more. To continue with *Karenina*, the model must know which word came after the first *Anna*. An attention that looks one position back can add to the vector of *Karenina* that the word before it was *Anna*. A second attention can then search for a word that comes after *Anna*, and finds *Karenina*. Lesson 9 shows a model that does so.

# %% hints copy_previous_qk [markdown]
# Suppose no two keys have anything in common, so that a query can single out one of them and score 0 with all the others. What is the simplest set of such vectors?
#
# If the keys are the rows of an identity matrix (`torch.eye`), the query of position i should be a multiple of the key of position i − 1. Indexing with a tensor of positions picks those rows. Which index does the first position need? `clamp` can help.
#
# The right direction is not enough: how large must the norm be? With score c on the target and 0 elsewhere, the target's weight is e^c / (e^c + n − 1). Aim above 0.99, let c depend on `length` or be generous, and try lengths 1 and 300.


# %% exercise copy_previous_qk
def copy_previous_qk(length: int) -> tuple[Tensor, Tensor]:
    """Return queries and keys, both (length, D) for one D of your choice, that make attention look one position back.

    Row i of softmax(query @ key.mT) is above 0.99 in column i - 1; row 0 is above 0.99 in column 0.
    Both are floating-point, with finite entries. length is at least 1.
    """
    ### BEGIN SOLUTION
    key = torch.eye(length)
    previous = (torch.arange(length) - 1).clamp(min=0)
    sharpness = 10.0 + math.log(length)
    return sharpness * key[previous], key
    ### END SOLUTION


# %% check copy_previous_qk

# %% [markdown]
# ## What can go wrong
#
# **A product that fits by accident.** `query @ key`, without the transpose, needs as many keys as a query has entries. With 4 tokens of dimension 4 it runs, although it means nothing:

# %%
square = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
(
    (square @ square).shape == (square @ square.mT).shape,
    (square @ square).allclose(square @ square.mT),
)

# %% [markdown]
# The shape is the same and the numbers are different, so use different sizes in your own tests, too.
#
# **An axis counted from the front.** In a single matrix of scores `dim=1` runs over the keys. With a batch in front it runs over the queries, and with a batch and heads it runs over the heads, whereas `dim=-1` always runs over the keys.
#
# **Reading weights as importance.** A weight says how large a share of a value was taken, but not how large the value was. Take three values, the first with the largest weight and the smallest norm:

# %%
shares, norms = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.01, 2.0, 3.0])
shares * norms

# %% [markdown]
# The favorite contributes 0.007 and the runner-up 0.4. A heatmap shows what an output was mixed from, but not whether the model needed it. Only an experiment can answer that: take something away and see what changes. You make that experiment in lesson 9.
#
# ## What you learned
#
# This lesson has given the first and the last of the three steps vectors of their own. Queries and keys are compared, and values are mixed.
#
# | | what it is | what to remember |
# |---|---|---|
# | query | what a position asks for | its norm says how insistently |
# | key | what a position can be found by | equal keys cannot be told apart |
# | value | what a position passes on | outputs are convex combinations of values |
# | scores | `query @ key.mT`, `(…, L, S)` | any size, any sign |
# | weights | softmax over the last axis | each row sums to 1 |
# | output | `weights @ value`, `(…, L, D_v)` | one row per query, with the dimension of a value |
#
# %%
recap()

# %% [markdown]
# Did one of your three predictions go wrong? If it was the last one, remember that nothing in these rows says where a word is.
#
# ## Questions
#
# **Question R2** (2 points, graded by a person). Why does attention have keys *and* values, when both come from the same token? Describe a task (a small one will do) in which forcing the keys to equal the values would hurt, and say what would go wrong.

# %% question R2 [markdown] points=2
# A key is what a token is found by, a value is what it passes on, and the two have different jobs. With K = V one vector has to do both. That can work: lesson 1's translator used each encoder state as key and value, because a vector may hold an address in some of its entries and content in others. The cost is that the two share one space and one dimension. The content takes part in every score, and the address is mixed into every output, so the query and everything downstream must learn to ignore the other half.
#
# Task: "repeat the word after each name". Suppose that an attention as in exercise 2.4 has noted in each token whether a name comes before it. The position has to be *found* by this note, whatever its own word is, and has to *pass on* that word. If the vector has room only for the word, then a query can find the position only by resembling that word, and the word is what the model is looking for. If some of its entries are set aside for "follows a name", fewer are left for the word.
#
# | points | for |
# |---|---|
# | 1 | Separates *how much* (keys, by which a token is found) from *what* (values, which it passes on) |
# | 1 | A task with a concrete cost of K = V: the content disturbs the scores, the address ends up in the output, or both must share the dimension |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "The key is what a token looks for, and the value is what it contains." | The query looks for something. A key is what a token is found by. |
# | 0 | "With K = V every token attends to itself, so nothing can be learned." | Lesson 1's translator used each encoder state as key and value, and it worked. Queries still come from another vector, so nothing makes a token choose itself. |
# | 1 | "Keys are for finding and values are for passing on. In translation K = V would be worse, because there are fewer parameters." | Right about the two jobs. Fewer parameters are a cost in any task. What goes wrong in yours? |
# | 0 | "Both come from the same token and hold the same information, so K = V saves memory and costs nothing." (sounds right) | They come from the same token through two matrices, and each matrix keeps what its job needs. With K = V one vector has to do both jobs: what does that do to the scores, and to the output? |

# %% [markdown]
# ## Optional: why a dot product?
#
# Scores are dot products throughout this lesson. But perhaps the most natural way to compare two vectors is their distance: the closer a key is to the query, the higher its score should be. Take $-\tfrac12\|q - k\|^2$ as the score, and multiply it out:
#
# $$-\tfrac12\|q-k\|^2 \;=\; q \cdot k \;-\; \tfrac12\|q\|^2 \;-\; \tfrac12\|k\|^2 .$$
#
# The second term is the same for all keys. A number that is added to every score changes no weight, because it multiplies all exponentials by the same factor. If the keys have equal norms, the third term cancels for the same reason, and only the dot product is left of the distance. Here it is with the three keys of the slider:

# %%
pointing = 2 * toward(torch.tensor(75.0))
distances = (pointing - around).norm(dim=-1)
(-(distances**2) / 2).softmax(dim=-1), (around @ pointing).softmax(dim=-1)

# %% [markdown]
# So attention by dot products is attention by distance, with one difference. If two keys point in the direction of the query, the longer one gets the higher score, even if the shorter one is nearer. A key with a large norm is easy to find, whatever it contains, for every query that points roughly its way. A dot product is also a little cheaper than a distance, because the two norms need not be computed.

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2: the formula, with the scaling that lesson 3 explains.
# - Jay Alammar, [The Illustrated Transformer](https://jalammar.github.io/illustrated-transformer/): the same steps in drawings.
# - PyTorch, [`torch.matmul`](https://docs.pytorch.org/docs/stable/generated/torch.matmul.html): which axes are multiplied and which are carried along.
#
# **Next:** [lesson 3, Scaling](../03_scaling/03_scaling.ipynb). The query in *By hand* became more insistent when its norm grew. Real vectors have dimension 64 or 128. What does that do to the weights? Back to [lesson 1](../01_why_attention/01_why_attention.ipynb).
