# %% [markdown]
# # 2. Queries, keys, values
#
# After this lesson you can build attention from three matrices, say what each of them is for, and read the weights that come out. You need matrix multiplication, `exp` and logarithms, and PyTorch's `dim`. About 60 minutes.
#
# ## The idea
#
# A library has one shelf per subject. In Python that is a dictionary, and it answers at once.

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
    "maths": "Book 5",
}
shelves.get("deep learning"), shelves.get("deep learning textbook")

# %% [markdown]
# One word more, and the second answer is `None`. A dictionary knows equal and unequal, nothing between. A librarian would have gone to the deep learning shelf, and might have glanced at maths on the way.
#
# So give each shelf a *score*: how well its label fits the request. Say 6 for deep learning, 3 for maths, 0 for the rest. To turn scores into shares of our attention, take `exp` of each and divide by the sum. That is *softmax*.

# %%
scores = torch.tensor([0.0, 0.0, 6.0, 0.0, 3.0])
scores.softmax(dim=-1)

# %% [markdown]
# Deep learning gets 0.946 of the attention, maths 0.047, and the other shelves 0.002 each. On paper softmax never gives an exact zero: every shelf keeps a little. What we carry home is not one book but a mixture, 0.946 of Book 3 and a trace of the others.
#
# A mixture of books is nonsense. A mixture of vectors is not, and that is where we are going. Three things took part, and they have names:
#
# | | in a database | in a translating network | as a word in a sentence would say it |
# |---|---|---|---|
# | **query** | the search text | where the writing part (the decoder) stands | "I want …" |
# | **key** | the label that is searched | what the reading part (the encoder) noted at each word | "I have …" |
# | **value** | the content of the record | what that word passes on | "I give …" |
#
# A query is compared with keys. The comparison decides *how much*. Values are *what* is handed over. Labels and contents may be quite different things: nobody reads the label instead of the book.
#
# ## By hand
#
# Take a pencil. One query, three keys, three values. A score is the *dot product* of the query with a key: multiply entry by entry and add up.

# %%
q = torch.tensor([1.0, 0.0, 0.0, 0.0])
keys = torch.tensor([[0, 1, 0, 2], [math.log(2), 0, 3, 1], [math.log(3), 1, 1, 0]])
values = torch.tensor([[6.0, 0], [0, 6], [12, 12]])
keys @ q

# %% [markdown]
# The query is 0 except in its first entry, so it asks about the first entry of each key and about nothing else. Those entries are 0, ln 2 and ln 3, which makes the exponentials pleasant: $e^0 = 1$, $e^{\ln 2} = 2$, $e^{\ln 3} = 3$. They sum to 6.
#
# The weights are therefore $\tfrac16, \tfrac13, \tfrac12$. Now mix the values with them, on paper, before you run the next cell.

# %%
weights = (keys @ q).softmax(dim=-1)
weights, weights @ values

# %% [markdown]
# The output is exactly [7, 8]. Its first number is $\tfrac16\cdot 6 + \tfrac13\cdot 0 + \tfrac12\cdot 12 = 7$.
#
# The third value leads with half of the weight. **Predict.** If the query becomes twice as long, [2, 0, 0, 0], all scores double. What happens to the weight of the third key?

# %%
predict("weight of the third key", options=("stays 1/2", "grows", "shrinks"))

# %%
weights = (keys @ (2 * q)).softmax(dim=-1)
reveal("weight of the third key", "grows")
weights, weights @ values

# %% [markdown]
# It grows, from 0.5 to 0.643. The exponentials are now 1, 4 and 9, each the square of what it was, so the weights are $\tfrac1{14}, \tfrac4{14}, \tfrac9{14}$. The direction of a query says what it asks for; its length says how insistently. Lesson 3 comes back to this, when a vector has 64 numbers and not four.
#
# **Predict.** Now the other extreme: all three keys are the same vector, whichever it is. What does the query get?

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
# Equal keys give equal scores, equal scores give each value one third, and the output is the plain mean, [6, 6]. A query can only prefer what the keys let it tell apart.
#
# None of the three outputs went beyond the values. That is no accident: weights are positive and sum to 1, so an output is a point inside the shape that the values span. Four queries show it; `keys.mT` is the transpose, so that one product scores them all.

# %%
queries = torch.tensor([[1.0, 0, 0, 0], [2, 0, 0, 0], [-2, 0, 0, 0], [0, 0, 1, 0]])
outputs = (queries @ keys.mT).softmax(dim=-1) @ values  # (4 queries, 2)
plot.mixture(
    values,
    outputs,
    ["value 1", "value 2", "value 3"],
    ["q", "2q", "-2q", "another"],
    "Attention mixes: no output leaves the triangle",
)

# %% [markdown]
# The triangle's corners are the values. The query q lands at [7, 8], 2q closer to value 3, and −2q, which wants the opposite, near value 1. None can get outside.
#
# Turn a query yourself. Three keys lie in a plane, 0°, 90° and 210° around, and the query is twice as long as they are. Which angle gives the second key the most? Where do two keys share?


# %%
def towards(degrees: Tensor) -> Tensor:
    return torch.stack([degrees.deg2rad().cos(), degrees.deg2rad().sin()], dim=-1)


around = towards(torch.tensor([0.0, 90, 210]))  # three keys, (3, 2)
plot.slide(
    lambda angle: (around @ (2 * towards(torch.tensor(angle)))).softmax(dim=-1),
    ["key 1", "key 2", "key 3"],
    name="query's angle",
    low=0,
    high=360,
    start=30,
    step=15,
    arrows=lambda angle: (2 * towards(torch.tensor(angle)), around),
)

# %% [markdown]
# A key gets the most when the query points straight at it, here 0.84 for key 2 at 90°; half-way between two keys they get the same. No angle gives a key everything: for that the query would have to be longer.
#
# ## In PyTorch
#
# Our sentence is *the cat sat on the mat*. Each word is a row of five numbers, chosen by hand so that you can read them: is it an article, a noun, a verb, a preposition, and is it alive? These are toy numbers. A model would learn its own, and you could not read them.

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
# Follow the word *sat*. It is a verb, and it wants to know who sat. What it *is* (a verb) and what it *wants* (something alive) are different things, so the row of *sat* cannot serve as its own query. It has to be translated.
#
# A matrix does that, one for each role. This one says, row by row, what each kind of word asks for. Its two columns mean "a thing" and "alive":

# %%
w_q = torch.tensor([[2.0, 0], [0, 0], [2, 2], [2, -2], [0, 0]])  # (E, D)
x @ w_q  # (L, D)

# %% [markdown]
# Row 2, counted from 0, is *sat*: [2, 2], "a thing, and alive". Row 3 is *on*: [2, −2], "a thing, and rather not alive". Articles want a thing of any sort. Nouns ask for nothing.
#
# Keys and values come from the same rows through two more matrices. Keys must have the width of queries, or they could not be compared. Values may have any width: here three, meaning "animal", "object", "grammar".

# %%
w_k = torch.tensor([[0.0, 0], [1, 0], [0, 0], [0, 0], [0, 1]])  # (E, D)
w_v = torch.tensor(
    [[0.0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 1], [1, -1, 0]]
)  # (E, D_v)
query, key, value = x @ w_q, x @ w_k, x @ w_v
query[2], key[1], value[1]

# %% [markdown]
# *sat* asks [2, 2]. *cat* answers "I have a thing, alive", [1, 1], and what it would give is [1, 0, 0], an animal: being a noun makes it an object, and being alive turns the object into an animal, which is what [1, −1, 0] in the last row of `w_v` is for.
#
# In lessons and papers the same letters come back, so here they are once. A *token* is one element of the sequence, here a word. `B` counts sentences in a batch, `L` queries, `S` keys (each key has a value). `E` is the width of a token's row, `D` that of a query and a key, `D_v` that of a value. The dots stand for any axes in front: a batch, or from lesson 6 on several *heads*, which are attentions side by side.
#
# | | shape | here | older texts write |
# |---|---|---|---|
# | tokens `x` | `(B, L, E)` | 6 × 5 | $N \times d_{model}$ |
# | `query` | `(…, L, D)` | 6 × 2 | $N_Q \times D_K$ |
# | `key` | `(…, S, D)` | 6 × 2 | $N_K \times D_K$ |
# | `value` | `(…, S, D_v)` | 6 × 3 | $N_K \times D_V$ |
# | scores, weights | `(…, L, S)` | 6 × 6 | $N_Q \times N_K$ |
# | output | `(…, L, D_v)` | 6 × 3 | $N_Q \times D_V$ |
#
# Queries, keys and values that come from the same tokens make *self-attention*. If queries come from one sequence and keys and values from another, it is *cross-attention*, and `L` and `S` differ.
#
# ## Exercise 2.1: three projections
#
# Give a batch of sentences its queries, keys and values. You have `x` and one matrix for each role; the last of them may have another width than the first two.

# %% hints project_qkv [markdown]
# What did the cells above do with `x` to get the queries of one sentence? What would have to change for a batch of sentences, if anything?
#
# `@` multiplies the last two axes and carries all axes before them along. Check the inner sizes: which axis of `x` meets which axis of a weight matrix?
#
# There are three products of the same form, each with its own matrix. Return them in the order in which the name of the function lists them.


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
# Now *sat* reads all six keys. One query, one dot product per key, in a loop so that nothing is hidden:

# %%
sat = query[2]
torch.stack([sat @ k for k in key])

# %% [markdown]
# 4 for *cat*, 2 for *mat*, nothing for the rest. *mat* is a thing but not alive, so it answers half of the question.
#
# Every word asks, not only *sat*. A second loop around the first gives a table with a row per query and a column per key. That is exactly what one matrix product does, if the keys stand in columns:

# %%
by_loops = torch.stack([torch.stack([q @ k for k in key]) for q in query])  # (L, S)
by_product = query @ key.mT  # (L, D) @ (D, S)
by_product.equal(by_loops), by_product.shape

# %% [markdown]
# `.mT` swaps the last two axes and leaves the others alone, so the same line works for a batch, with heads or without. These numbers are *attention scores*: any size, any sign, and their rows sum to nothing in particular.
#
# ## Exercise 2.2: scores
#
# Compute the table of scores for any number of leading axes. In the checks there are more keys than queries, so a table that lies on its side has the wrong shape.

# %% hints attention_scores [markdown]
# The score of query i with key j is one number in row i and column j. Which sizes do the two factors of the product need so that a table with `L` rows and `S` columns comes out?
#
# Two of the key's axes have to change places. With batches and heads in front there may be four axes: which two are they, counted from the end?
#
# `.T` turns around *all* axes, `.mT` the last two. Nothing else happens to a score in this lesson: no softmax yet, and no division.


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
# A smaller case first, two queries and three keys, so that rows and columns cannot be confused. Queries ask from one sequence, keys answer from another.

# %%
q2 = torch.tensor([[1.0, 0, 1], [0, 1, 1]])  # (L, D) = (2, 3)
k3 = torch.tensor([[1.0, 0, 1], [1, 1, 0], [0, 1, 1]])  # (S, D) = (3, 3)
v3 = torch.tensor([[10.0, 0], [0, 10], [5, 5]])  # (S, D_v) = (3, 2)
scores = q2 @ k3.mT  # (L, S)
scores

# %% [markdown]
# Each query has score 2 with the key that equals it and 1 with the others. Softmax has to share out *each query's* attention among the keys, so it runs along a row, which is the last axis. What if it runs along the other one?

# %%
wrong, weights = scores.softmax(dim=0), scores.softmax(dim=-1)
wrong.sum(dim=-1), weights.sum(dim=-1)

# %% [markdown]
# With `dim=0` the queries compete for each key, and each of the two ends up with 1.5 units of attention. With `dim=-1` the keys compete for each query, and every row sums to 1. Nothing crashes in the wrong case; only the sums tell. Look at the right one.

# %%
plot.heatmap(
    weights, ["query 1", "query 2"], ["key 1", "key 2", "key 3"], "Each row sums to 1"
)

# %% [markdown]
# A row per query, a column per key. The key that equals the query gets 0.576 and the other two 0.212 each: that is $e^2 / (e^2 + 2e)$ and $e / (e^2 + 2e)$. These shares are *attention weights*, always the numbers after softmax, never the scores.
#
# The last step mixes values, the same way as with the pencil: weights times values.

# %%
weights @ v3  # (L, S) @ (S, D_v)

# %% [markdown]
# The first query takes most of [10, 0] and ends at [6.821, 3.179]. The second prefers value 3, which is [5, 5], and takes equal shares of the other two, whose mean is [5, 5] as well: it lands there exactly. In one line, all of this lesson is
#
# $$\text{output} = \text{softmax}(Q K^\top)\, V .$$
#
# ## Exercise 2.3: attention
#
# Write that line as a function that also returns the weights, because we will want to look at them. The figure shows all matrices of our small case in the order in which they are used. Scores stay as they are: some texts divide them, which is lesson 3. (PyTorch has attention ready-made; here you write it.)

# %%
plot.matrices(
    [
        ("query", q2, "scores"),
        ("key", k3, "scores"),
        ("scores", scores, "scores"),
        ("weights", weights, "weights"),
        ("value", v3, "scores"),
        ("output", weights @ v3, "scores"),
    ],
    "Queries score keys, softmax shares out each row, weights mix values",
    rows=["query 1", "query 2"],
)

# %% hints attend [markdown]
# Of the three inputs, which two decide how much, and which one is mixed? Where in the figure does the third input enter?
#
# Scores, then softmax, then one more product. Which axis of the scores holds the keys, if you count from the end so that batches and heads do not matter?
#
# The width of the output is the width of the values. Return a pair: what was mixed first, then the table that says in which shares. PyTorch's `softmax` also copes with scores of a thousand; `exp` written out does not.


# %% exercise attend
def attend(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Mix values by how well their keys fit each query.

    query is (..., L, D), key is (..., S, D), value is (..., S, D_v).
    Returns the output (..., L, D_v) and the attention weights (..., L, S). Scores are not scaled.
    """
    ### BEGIN SOLUTION
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check attend

# %% [markdown]
# ### The whole sentence
#
# Back to the cat. The sentence contains *the* twice, in rows 0 and 4, in front of different nouns. **Predict.** Each asks for a noun. Are the two rows of weights the same?

# %%
predict("the two rows of 'the'", options=("the same", "different"))

# %%
weights = (query @ key.mT).softmax(dim=-1)
reveal("the two rows of 'the'", "the same")
plot.heatmap(weights, tokens, tokens, "'sat' looks at 'cat', 'on' looks at 'mat'")

# %% [markdown]
# The same, to the last digit. Both articles are the same row of `x`, so they make the same query and meet the same keys. Where a word stands enters nowhere. Attention sees a bag of words, not a sentence, until positions are added to the rows (lesson 7).
#
# The rest does what the matrices were made for. *sat* puts 0.83 on *cat*. *on* puts 0.60 on *mat*. The nouns ask for nothing, all their scores are 0, and they look at everything equally. And *sat* now carries this:

# %%
(weights @ value)[2]

# %% [markdown]
# Mostly animal: 0.83. *sat* asked who sat and got an answer from the rest of the sentence. That is what attention is for. (Here the answer replaces the row of *sat*; lesson 8 adds it to the row, so that nothing is lost.)
#
# This is how attention differs from a linear layer. A linear layer mixes its inputs with numbers that were learned and are the same for every sentence. Attention's table of weights is made from the sentence itself: another sentence, another table. Learned are only the three matrices that make it.
#
# ## Exercise 2.4: look one back
#
# So far the vectors were given and the weights followed. Now turn it around: choose queries and keys so that every position looks at the one before it, with a weight above 0.99, and the first position looks at itself. Parts that do exactly this appear in trained language models; lesson 9 finds one.

# %%
wanted = torch.zeros(6, 6)
wanted[[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4]] = 1.0
plot.heatmap(wanted, tokens, tokens, "The pattern to reach: one step back")

# %% [markdown]
# On paper no weight of softmax is exactly 1, so above 0.99 will do. The sequence may be long: with `n` keys, `n - 1` of them each keep a share, and together those may hold at most 0.01.

# %% hints copy_previous_qk [markdown]
# Suppose that no two keys have anything in common, so that a query can name one of them and get score 0 with all others. What is the plainest set of such vectors?
#
# If the keys are the rows of an identity matrix, position i needs as its query the key of position i − 1. Which index does the first position need? `clamp` can help.
#
# The right target alone is not enough: how long must the query be? With score c on the target and 0 elsewhere its weight is e^c / (e^c + n − 1). Ask for a bit more than 0.99, let c depend on `length` or be generous, and try lengths 1 and 300.


# %% exercise copy_previous_qk
def copy_previous_qk(length: int) -> tuple[Tensor, Tensor]:
    """Return a query and a key, each (length, D) with any D, that make attention look one position back.

    Row i of softmax(query @ key.mT) is above 0.99 in column i - 1; row 0 is above 0.99 in column 0.
    All numbers are finite. length is at least 1.
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
# **A product that fits by accident.** `query @ key`, without the transpose, needs as many keys as numbers in a query. With 4 tokens of width 4 it runs, and it means nothing:

# %%
square = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
(
    (square @ square).shape == (square @ square.mT).shape,
    (square @ square).allclose(square @ square.mT),
)

# %% [markdown]
# Same shape, other numbers. Whoever tests with a square example cannot notice. The checks of this course use different sizes for everything, and so should your own tests.
#
# **An axis counted from the front.** `dim=1` holds the keys of a matrix, and the heads as soon as there are some. `dim=-1` is right always.
#
# **Reading weights as importance.** A weight says how large a share of a value was taken, not how large the value was. Three values with weights 0.7, 0.2 and 0.1 and lengths 0.01, 2 and 3:

# %%
shares, lengths = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.01, 2.0, 3.0])
shares * lengths

# %% [markdown]
# The favourite contributes 0.007, the runner-up 0.4. A heatmap shows where an output was mixed from. Whether the model needed it is another question, which only an experiment answers: take it away and see what changes.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | query | what a position asks for | its length says how insistently |
# | key | what a position can be found by | equal keys cannot be told apart |
# | value | what a position hands over | outputs stay between the values |
# | scores | `query @ key.mT`, `(…, L, S)` | any size, any sign |
# | weights | softmax over the last axis | each row sums to 1 |
# | output | `weights @ value`, `(…, L, D_v)` | one row per query, as wide as a value |
#
# %%
recap()

# %% [markdown]
# Which of your three predictions was wrong? If it was the last one: attention knows nothing about order.
#
# ## Questions
#
# **Question R2** (2 points, read by a person). Why does attention have keys *and* values, when both come from the same token? Describe a task, a small one will do, in which forcing the keys to equal the values would hurt, and say what would go wrong.

# %% question R2 [markdown] points=2
# A key is what a token can be found by, a value is what it hands over, and the two have different jobs. With K = V a token must be found by the very content that it passes on. Task: "repeat the word after each name". The position after a name has to be *found* by what stands before it and has to *hand over* its own word. With K = V, a query that finds it must resemble the word itself, which is what the model does not know yet.
#
# | points | rubric |
# |---|---|
# | 2 | Separates "how much" (keys) from "what" (values) **and** gives a task with the concrete failure under K = V |
# | 1 | Either the separation, or a plausible task, but the failure is asserted and not explained |
# | 0 | Restates definitions, or confuses keys with queries |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2: the formula, with the scaling that lesson 3 explains.
# - Jay Alammar, [The Illustrated Transformer](https://jalammar.github.io/illustrated-transformer/): the same steps as drawings.
# - PyTorch, [`torch.matmul`](https://docs.pytorch.org/docs/stable/generated/torch.matmul.html): which axes multiply and which are carried along.
#
# **Next:** [lesson 3, Scaling](../03_scaling/03_scaling.ipynb). The query in *By hand* got more insistent when it got longer. Real vectors have 64 numbers or 128. What does that do to the weights? Back to [lesson 1](../01_why_attention/01_why_attention.ipynb).
