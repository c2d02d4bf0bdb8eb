# %% [markdown]
# # 7. Order and position
#
# After this lesson you can tell a model in four ways where its tokens are, say what each way promises about distances, and show which of them survive sequences longer than any seen in training. You need lesson 6, and sine and cosine. About 60 minutes.
#
# ## The idea
#
# Sixteen random digits come in, and the same digits should come out in reverse order. For attention this ought to be an easy job: at each place, look at one other place and copy what is there.

# %% setup
import math

import reader
import torch
from reader import accuracy, train
from torch import Tensor, nn

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %%
def reverse(digits: Tensor) -> Tensor:
    return digits.flip(1)


x = reader.digits(1, seed=0, length=16)
x[0].tolist(), reverse(x)[0].tolist()

# %% [markdown]
# The model is one layer of self-attention, with four heads of dimension 8. It is in `reader.py`, beside this notebook. Each token is a digit's embedding and nothing else.
#
# **Predict.** After 300 steps of training, what share of its digits is right?

# %%
predict(
    "reversing without positions",
    options=("nearly all", "about half", "about a quarter"),
)

# %% measured
lost = train(reverse, "none")
print(f"right: {accuracy(lost, reverse):.0%}")
reveal("reversing without positions", "about a quarter")

# %% [markdown]
# A quarter. Longer training does not help, because the information is not there. The position of a token plays no part in anything that self-attention computes: a score compares two *contents*. To see it, take three words in their usual order, then swap two of them:

# %%
words = {"dog": torch.randn(8), "bites": torch.randn(8), "man": torch.randn(8)}
attention = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
orders = [["dog", "bites", "man"], ["man", "bites", "dog"]]
one, other = (torch.stack([words[w] for w in order])[None] for order in orders)
for x in (one, other):
    print(attention(x, x, x)[0][0, 1].detach())

# %% [markdown]
# These are the outputs for "bites", the second token in both orders. They are identical, and so are those for "dog" and those for "man": whoever bites, the model hears the same three words. Self-attention is *equivariant*, as lesson 6 showed. Shuffled tokens give shuffled outputs.
#
# (Then why a quarter, and not a tenth? Because the model knows which digits there are. Always naming the one that occurs most often is right about as often:)

# %%
x = reader.digits(300, seed=1_000_000, length=16)
most_frequent = x.mode(dim=-1).values[:, None]
f"{(most_frequent == reverse(x)).double().mean():.0%}"

# %% [markdown]
# The first remedy is the one that the models of lessons 5 and 6 used. Keep a second table, with one learned vector per *place*, and add it to the token there:

# %% measured
learned = train(reverse, "learned")
for length in (16, 17):
    print(f"{length} digits: {accuracy(learned, reverse, length):.0%} right")

# %% [markdown]
# 100% at 16, and at 17 no better than a guess. With one more digit, every place has a different partner, which no training on 16 digits could teach; besides, nothing in training ever touched the vector of place 16. A table knows its rows one by one. It has no idea that place 7 lies between 6 and 8, or that "three to the left" means the same thing everywhere.
#
# Reversing happens to be about absolute places. Much of language is not: the word before, the last noun, the open bracket. So the question of this lesson is not how to number the places. It is how to say *how far apart* two tokens are.
#
# ## By hand
#
# Take a clock with one hand. At each place it moves on by a quarter turn, counterclockwise: [1, 0], [0, 1], [−1, 0], [0, −1], and then all over again. Let the hand's direction represent the place, and compare two places by a dot product. Fill in the 4 × 4 table of dot products for places 0 to 3 on paper before you run the cell.

# %%
quarter = torch.tensor([[0.0, -1], [1, 0]])
hands = torch.stack(
    [torch.matrix_power(quarter, p) @ torch.tensor([1.0, 0]) for p in range(4)]
)
hands @ hands.mT

# %% [markdown]
# Along each diagonal, all entries are equal. The same place gives 1, one step apart gives 0, two steps −1. The dot product of two hands is the cosine of the angle between them, and the angle depends on nothing but the number of steps. Nobody told the clock about distances. They come for free with turning.
#
# One hand is not enough, though. Four steps are a full turn, so places 0, 4 and 8 look alike; a slower hand could tell them apart, but could hardly tell neighbors apart. That is why clocks have several.
#
# ## In PyTorch
#
# ### A clock with many hands
#
# A hand that points at an angle $\alpha$ has the coordinates $(\cos\alpha, \sin\alpha)$. Give each place a vector of dimension E, made of E/2 hands. Hand i, counted from 0, turns by $1 / 10000^{2i/E}$ radians per place: the first by 1, the last by almost nothing. Here are the speeds of four hands, and their angles at three places:

# %%
E, places = 8, torch.arange(3)
speeds = 1 / 10_000 ** (torch.arange(0, E, 2) / E)
speeds, places[:, None] * speeds

# %% [markdown]
# One row per place, one column per hand; each hand is ten times slower than the one before it. What goes into the vector is the sine and the cosine of each angle, side by side:
#
# $$PE_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/E}}\right), \qquad PE_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/E}}\right).$$
#
# (Sine first is the convention of the original paper, Vaswani et al. 2017.)
#
# ### Exercise 7.1: sinusoidal positions
#
# Write the table, one row for each *position*, which is the usual word for what this lesson calls a place.

# %% hints sinusoidal_positions [markdown]
# The angles form a table with one row per position and one column per hand. Which two vectors, combined by broadcasting, give that table?
#
# Sines belong in columns 0, 2, 4 and so on, cosines in the columns between them. A slice with a step picks out such columns.
#
# The exponent of hand i is 2i divided by the dimension. If the dimension is odd, there is one sine more than there are cosines, so the table of cosines must be cut.


# %% exercise sinusoidal_positions
def sinusoidal_positions(length: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return one vector per position (Vaswani et al. 2017, section 3.5).

    Returns (length, d_model), float32. Entry 2i of position p is sin(p / base^(2i / d_model)), and entry 2i + 1 the
    cosine of the same angle. If d_model is odd, the last entry is a sine without its cosine.
    """
    ### BEGIN SOLUTION
    even = torch.arange(0, d_model, 2)
    angles = torch.arange(length)[:, None] / base ** (even / d_model)
    table = torch.empty(length, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d_model // 2]
    return table
    ### END SOLUTION


# %% check sinusoidal_positions

# %% [markdown]
# ### What the table promises
#
# Here is such a table for 24 places, one row for each, one column per entry. (In `reader.py` the sines come first and the cosines after them; that is the same table with its columns in another order.)

# %%
table = reader.waves(24)
plot.heatmap(
    table,
    [str(p) for p in range(24)],
    [str(i) if i % 4 == 0 else "" for i in range(32)],
    "Columns i and i + 16 are one hand: fast on the left of each half, slow on the right",
    kind="numbers",
    alt="Columns 0 and 16 wave quickly from place to place, the columns after them ever more slowly. The last columns "
    "of each half hardly change over 24 places.",
)

# %% [markdown]
# Now the promise about distances. Take the dot products of places 4, 10 and 16 with the places around them, from four steps back to seven ahead:

# %%
steps = range(-4, 8)
plot.curves(
    steps,
    {
        f"place {p}": [float(table[p] @ table[p + s]) for s in steps]
        for p in (4, 10, 16)
    },
    "The similarity of two places depends on their distance alone",
    xlabel="steps from the place",
    ylabel="dot product",
    alt="The three curves lie on top of one another: highest at distance 0, equal on both sides, and lower at a distance.",
)

# %% [markdown]
# Three curves, one line. Nearby places look alike, and how much alike depends only on how far apart they are. (The small rise after four steps is the fastest hand, coming round again.) And there is more: moving on by k places is a rotation of each hand, one and the same for all places. So one matrix can stand for "three ahead", wherever you start.
#
# But a promise about *positions* is not yet a promise about *scores*. The vector was added to the token, so a query is made of content plus place, and so is a key. Multiply out one score, and you get four products: content with content, content with place, place with content, place with place. Only the last can depend on the distance alone, and only if the projections keep each hand intact, which nothing forces them to do.
#
# ### Rotating instead of adding
#
# Why add at all? Take the finished query and the finished key, and *turn* them: the query at place p by p steps, the key at place s by s steps. Their dot product then sees the difference of the two angles. This is *RoPE*, rotary position embedding, and most of today's language models use it.
#
# By hand again, with quarter turns. Query and key are both [1, 0]. The query is at place 5, the key at place 4:


# %%
def turned(x: Tensor, place: int) -> Tensor:
    return torch.matrix_power(quarter, place) @ x


arrow = torch.tensor([1.0, 0.0])
for p, s in ((5, 4), (9, 8), (5, 3), (9, 7)):
    print(f"query at {p}, key at {s}: score {turned(arrow, p) @ turned(arrow, s):2.0f}")

# %% [markdown]
# 5 and 4 give the same as 9 and 8, and 5 and 3 the same as 9 and 7. Wherever the pair moves, its score stays the same.
#
# A vector of dimension D has D/2 pairs of neighboring entries, and each pair turns at a speed of its own, as the hands did. To turn the pair (a, b) by an angle $\alpha$:
#
# $$(a, b) \;\mapsto\; (a\cos\alpha - b\sin\alpha,\; a\sin\alpha + b\cos\alpha).$$
#
# In the next figure a query and four keys are all the same arrow, turned by 40° per place. The keys are at places 0 to 3. **Predict** before you run the figure: when the query is at place 2, which key gets the most weight?

# %%
predict(
    "a query at place 2 prefers",
    options=("the key at place 0", "the key at place 2", "all keys alike"),
)


# %%
def arrows_at(place: float) -> tuple[Tensor, Tensor]:
    angles = math.radians(40) * torch.tensor([place, 0.0, 1.0, 2.0, 3.0])
    arrows = 1.6 * torch.stack([angles.cos(), angles.sin()], dim=-1)
    return arrows[0], arrows[1:]


def weights_at(place: float) -> Tensor:
    query, keys = arrows_at(place)
    return (keys @ query).softmax(dim=-1)


names = [f"place {s}" for s in range(4)]
plot.slide(
    weights_at,
    names,
    name="place of the query",
    low=0,
    high=3,
    start=2,
    arrows=arrows_at,
)

# %% [markdown]
# Here are four settings of the slider, one per row:

# %%
reveal("a query at place 2 prefers", "the key at place 2")
plot.heatmap(
    torch.stack([weights_at(p) for p in range(4)]),
    [f"query at {p}" for p in range(4)],
    names,
    "Equal keys, different places: near ones get more",
)

# %% [markdown]
# Four equal keys, and yet the weights differ, and the pattern moves along the diagonal with the query. Near keys win here because query and keys are the same arrow before they turn. A query that starts 120° behind its keys would favor the key three places back. So a rotation can express any offset, not only "near".
#
# Two details. Values are *not* turned: the place decides who is looked at, not what is passed on. And since the angles are computed, there is nothing to learn and no table to run out of.
#
# ### Exercise 7.2: rotary positions
#
# Turn queries or keys. Positions can be passed in, because with a KV cache (lesson 5) the tokens that come in are not the first ones.

# %% hints apply_rope [markdown]
# Pairs are the entries 0 and 1, then 2 and 3. How do you get all first entries of the pairs as one tensor, and all second entries as another?
#
# The angles are a table again, positions by pairs: each position gets a last axis of size 1, so that it meets all speeds. The leading axes of x take care of themselves.
#
# After turning you have two tensors of half the size. Stack them along a new last axis, so that partners are neighbors, and join the last two axes. Convert to the dtype of x at the very end.


# %% exercise apply_rope
def apply_rope(
    x: Tensor, positions: Tensor | None = None, base: float = 10_000.0
) -> Tensor:
    """Rotate each pair of entries by an angle that grows with the position (Su et al. 2021).

    x is (..., L, D) with D even: queries or keys. positions holds the position of each token and broadcasts to
    (..., L), as (L,) and (B, 1, L) do; by default 0 to L - 1. The pair of entries 2i and 2i + 1 at position p is
    rotated counterclockwise by p / base^(2i / D). Returns a new tensor with the shape, dtype and device of x; in half
    precision the angles are computed in float32.
    """
    ### BEGIN SOLUTION
    precise = torch.promote_types(x.dtype, torch.float32)
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    even = torch.arange(0, x.size(-1), 2, device=x.device, dtype=precise)
    angles = positions[..., None] / base ** (even / x.size(-1))  # (L, D / 2)
    first, second = x[..., 0::2].to(precise), x[..., 1::2].to(precise)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack(
        [first * cos - second * sin, first * sin + second * cos], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)
    ### END SOLUTION


# %% check apply_rope

# %% [markdown]
# ### Or change the scores themselves
#
# The simplest way is to leave queries and keys alone and subtract something from each score, more for distant keys. This is *ALiBi*, attention with linear biases: the bias is minus the distance times a slope, and each head has a slope of its own. Five equal scores, a query at place 4, and three slopes:

# %%
distance = torch.tensor([4.0, 3, 2, 1, 0])
for slope in (1.0, 0.25, 1 / 16):
    print(slope, (-slope * distance).softmax(dim=-1))

# %% [markdown]
# A steep head sees its neighborhood, a flat one nearly everything. The slopes are fixed and form a geometric sequence: with 8 heads ½, ¼, ⅛ … 1/256; with H heads, head h (counted from 1) has $2^{-8h/H}$.
#
# ### Exercise 7.3: linear biases
#
# Write the table that is added to the scores. The query positions end where the key positions end, as they did in your causal mask.

# %% hints alibi_bias [markdown]
# You need a distance for every pair of query and key. Which two vectors of positions, one as a column and one as a row, give all differences at once?
#
# With fewer queries than keys, the *last* query is at the last key. So at which position is the first query?
#
# The slopes need two more axes, so that each meets the whole table of distances. A bias that favors near keys is zero at distance 0 and negative everywhere else.


# %% exercise alibi_bias
def alibi_bias(num_heads: int, q_len: int, k_len: int) -> Tensor:
    """Return the table that is added to the scores to favor near keys (Press et al. 2022).

    Returns (H, L, S), float32: minus the slope of the head times the distance between query and key. Head h, counted
    from 1, has the slope 2^(-8h / H). The last query is at the last key, as in causal_mask of lesson 5. A key
    after its query has a distance too: it is never negative.
    """
    ### BEGIN SOLUTION
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    queries = torch.arange(k_len - q_len, k_len)
    distance = (queries[:, None] - torch.arange(k_len)).abs()
    return -slopes[:, None, None] * distance
    ### END SOLUTION


# %% check alibi_bias

# %% [markdown]
# ### What four slopes see
#
# Here are the weights of four heads for 32 equal scores, with the query at place 31:

# %%
away = torch.arange(31, -1, -1)
plot.curves(
    range(32),
    {f"head {h}": (-away / 4**h).softmax(dim=-1).tolist() for h in range(1, 5)},
    "Four slopes, four windows",
    xlabel="place of the key",
    ylabel="weight",
    alt="Head 1 gives its weight to the last few keys. From head to head the window widens, and the line of head 4 is "
    "almost flat.",
)

# %% [markdown]
# ### Three experiments
#
# Train one model for each of the four ways, and one without positions, on 16 digits and with a causal mask. Test each on 16, 24 and 32. The task: at each place, name the most recent digit *below 4*; the digit at that place counts too. So the model must find the most recent of several candidates, however long ago it was.


# %%
def most_recent(digits: Tensor) -> Tensor:
    places = torch.arange(digits.size(1)).expand_as(digits)
    latest = places.where(digits < 4, -1).cummax(dim=-1).values  # the largest so far
    return digits.gather(1, latest.clamp(min=0))


x = reader.digits(1, seed=3, length=16)
x[0].tolist(), most_recent(x)[0].tolist()

# %% [markdown]
# (Before the first small digit there is nothing to name, and the answer is the first digit of the sequence.)
#
# **Predict.** All four get more than nine answers in ten right at length 16. Which of them still do at 32?

# %%
ways = ("learned", "sinusoidal", "rotary", "linear bias")
predict(
    "good at twice the length",
    options=("all four", "rotary and linear bias", "only learned"),
)


# %% measured
def table_of(task, ways: tuple[str, ...]) -> None:
    print(f"{'trained at 16, tested at':24}   16   24   32")
    for way in ways:
        model = train(task, way, causal=True)
        shares = [f"{accuracy(model, task, length):4.0%}" for length in (16, 24, 32)]
        print(f"{way:24}", *shares)


table_of(most_recent, ("none", *ways))
reveal("good at twice the length", "rotary and linear bias")

# %% [markdown]
# Read the columns. At 16 three of the four are all but perfect, and the linear bias is not far behind. At 32 the first two ways get a fifth to a quarter of the answers wrong, and the average flatters them, because under a causal mask places 0 to 15 look as they did in training. On places 16 to 31 alone (twice the share at 32 minus the share at 16) that leaves 62% and 50%, against 64% with no positions at all. The learned table has rows that were never trained, and the sinusoids show combinations of hands that no projection has ever met.
#
# The two ways that speak of *distances* hardly notice, since nearly all distances that matter at 32 also occurred at 16.
#
# (Without positions, 78% is a lot. The small digit that occurs most often so far is a good guess, right about two times in three at length 16, and the causal mask gives away some order: the first query sees one key, the second two.)
#
# So is a linear bias as good as a rotation? Change the task. At each place, name the digit exactly three places back (at the first three places, the first digit):


# %%
def three_back(digits: Tensor) -> Tensor:
    return digits[:, (torch.arange(digits.size(1)) - 3).clamp(min=0)]


# %% measured
table_of(three_back, ("rotary", "linear bias"))

# %% [markdown]
# The rotation is perfect at every length. The linear bias is lost, even at 16. It can say "nearer is better", but it cannot say "three away is better than two". And reversing, where we began, is about absolute places, so no distance will do:

# %% measured
for way in ("sinusoidal", "rotary", "linear bias"):
    print(f"reversing, {way:12} {accuracy(train(reverse, way), reverse):4.0%}")

# %% [markdown]
# None of the four is best. Each builds in one idea of what matters, and works where that idea is true. In text, much of what matters is how far back something is, which is one reason why most language models today turn their queries and keys.
#
# ## What can go wrong
#
# **Two layouts of the same rotation.** Some libraries pair entry i with entry i + D/2, not entry 2i with 2i + 1. Both are correct, and a model trained with one is broken by the other: the shapes fit, nothing complains, and the scores are wrong. Here is one query at place 3, turned in each layout:

# %%
q, turn = torch.randn(8), reader.turns(4, 8)[3]
halves = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])
adjacent, split = turn @ q, (turn @ q[halves])[halves.argsort()]
adjacent, split

# %% [markdown]
# **Starting again at zero.** A model that writes computes one new query at a time. If its position is forgotten, it is turned as if it were at place 0, and looks for its neighbors at the wrong end. Here are the weights of a query at place 3, turned as it should be (first row) and with its place forgotten (second row):

# %%
torch.stack([weights_at(3), weights_at(0)])

# %% [markdown]
# **Positions in half precision.** In `float16` there is no 2049. Angles have to be computed in `float32`, even if the model is not:

# %%
torch.tensor([2047.0, 2048, 2049, 2050, 2051]).half().tolist()

# %% [markdown]
# **"Works at any length."** A rotation *runs* at any length. Whether it works is an experiment, and ours went to twice the length, on toys. Slow hands that never made a full turn in training show new angles later on, and real models need extra care before they can read texts much longer than those they were trained on.
#
# ## What you learned
#
# | | what it does | what it knows | beyond the training length |
# |---|---|---|---|
# | learned | adds a vector per place | each place by itself | untrained rows |
# | sinusoidal | adds sines and cosines | distances, until the projections mix the hands | unseen combinations |
# | rotary | turns queries and keys | the distance, exactly | holds in our tests |
# | linear bias | lowers the scores | nearer is better, but not how many steps | holds in our tests |
#
# %%
recap()

# %% [markdown]
# ## Questions
#
# **Question R7** (2 points, graded by a person). A colleague gives a model a table of 100 learned positions, trains it on sentences of up to 50 tokens, and wants to use it on documents of 100. Which rows of the table will hurt, and would sinusoidal or rotary positions have helped? Support your answer with numbers from this lesson, and name one thing that these numbers do *not* show.

# %% question R7 [markdown] points=2
# Rows 50 to 99 of the position table have never been trained: they still hold their random start and are added to the tokens there. In our experiment the learned table fell from 100% at length 16 to about 80% at length 32. The sinusoids did no better (about 75%): their vectors exist at every length, but the projections had never met such combinations. Rotary positions stayed at 99%, because places enter the scores only through distances, and the distances that matter had occurred in training.
#
# Not shown: real text, real lengths, several layers. In our task the answer is usually a few places back, so large distances hardly mattered. A task that needs a distance of 70 would be new to a rotary model too. And reversing shows that a relative scheme can be the wrong choice altogether.
#
# | points | rubric |
# |---|---|
# | 2 | Untrained rows named, relative against absolute supported by numbers, and a limit of the experiment |
# | 1 | Two of the three |
# | 0 | "Rotary is better" without numbers |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.5: sinusoids, and a first comparison with learned vectors.
# - Su et al. 2021, [RoFormer](https://arxiv.org/abs/2104.09864): rotary positions.
# - Press, Smith and Lewis 2022, [Train Short, Test Long](https://arxiv.org/abs/2108.12409): linear biases, and a similar experiment on real text.
#
# **Next:** [lesson 8](../08_transformer_block/08_transformer_block.ipynb) puts attention, positions and two more parts together into a transformer.
