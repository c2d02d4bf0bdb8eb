# %% [markdown]
# # 7. Order and position
#
# After this lesson you can tell a model in four ways where its tokens are, and say what each way promises about distances. You can also show which ways survive sequences longer than any seen in training. You should have done lesson 6, and remember sine and cosine. About 150 minutes, in two sittings, of which the first ends before "Or change the scores themselves". The two optional sections take another 25.
#
# **From memory.** Which part of the model dimension does each head work on? It divides its scores by the square root of what? And what does `out_proj` do with the results of the heads?
#
# <details><summary>Answers</summary>
#
# Each head works on a slice of its own. It divides by the root of the dimension of that slice, not of the model dimension. `out_proj` mixes what the heads have found.
#
# </details>
#
# ## The idea
#
# Sixteen random digits come in, and the same digits should come out in reverse order. This ought to be easy: at each place, attention has to look at one other place and copy what is there.

# %% setup
import math

import figures
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
# The model is one layer of self-attention with four heads of dimension 8 (in `reader.py`). Each token is a digit's embedding and nothing else. The output of attention is added to it, for a reason that lesson 8 gives. All shares of right answers in this lesson are measured on 300 new sequences.
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
# Only about a quarter of the digits are right, and longer training cannot help. The position of a token plays no part in anything that self-attention computes, since a score compares two *contents*. To see this, take three words in their usual order, and then swap two of them:

# %%
words = {"dog": torch.randn(8), "bites": torch.randn(8), "man": torch.randn(8)}
attention = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
orders = [["dog", "bites", "man"], ["man", "bites", "dog"]]
one, other = (torch.stack([words[w] for w in order])[None] for order in orders)
for x in (one, other):
    print(attention(x, x, x)[0][0, 1].detach())

# %% [markdown]
# The outputs for "bites", the second token in both orders, are identical, as are those for "dog" and those for "man". The model hears the same three words no matter who bites whom. As lesson 6 showed, self-attention is *equivariant*: if the tokens are shuffled, its outputs are shuffled in the same way.
#
# Why is a quarter right, then, and not a tenth? The model does know *which* digits there are, and always naming the one that occurs most often is right about as often as the model is:

# %%
x = reader.digits(300, seed=1_000_000, length=16)
favorite = x.mode(dim=-1).values[:, None]
f"{(favorite == reverse(x)).double().mean():.0%}"

# %% [markdown]
# The first remedy is that of lessons 5 and 6. Keep a second table with one learned vector per *place*, and add each of them to the token at its place. The next cell trains such a model on 16 digits and tests it on 16 and on 17. Before you run it, write down what share you expect at 17: nearly all, all but the new place, or no more than by chance?

# %% measured
learned = train(reverse, "learned")
for length in (16, 17):
    print(f"{length} digits: {accuracy(learned, reverse, length):.0%} right")

# %% [markdown]
# At length 16 the model is right everywhere. One digit more, and it is no better than if it named digits at random. At length 17 every place has a different partner, and training on 16 digits could not teach that. Besides, no training sequence used the rows of the table beyond 15, so their vectors are still random.
#
# In a table, each row is learned by itself. Nothing in it says that place 7 lies between 6 and 8, or that "three to the left" means the same thing everywhere.
#
# Reversing happens to be about absolute places. Much of language is not, because what matters there is the word before, or the last noun, or the bracket that is still open. So more than the number of each place, a model needs to know *how far apart* two tokens are.
#
# ## By hand
#
# Take a clock with one hand that starts at the right and moves on by a quarter turn at each place, counterclockwise. The hand points at [1, 0], then at [0, 1], [−1, 0] and [0, −1], and starts all over again:

# %%
figures.clocks(
    range(5),
    [math.pi / 2],
    "A quarter turn per place",
    alt="Five clocks. The hand points right at place 0, up at 1, left at 2, down at 3, and right again at 4.",
)

# %% [markdown]
# Let the direction of the hand represent the place, and compare two places by a dot product. Before you run the next cell, fill in the 4 × 4 table of dot products for places 0 to 3 on paper.

# %%
quarter = torch.tensor([[0.0, -1], [1, 0]])
hands = torch.stack(
    [torch.matrix_power(quarter, p) @ torch.tensor([1.0, 0]) for p in range(4)]
)
hands @ hands.mT

# %% [markdown]
# Along each diagonal, all entries are equal. A place compared with itself gives 1, places one step apart give 0, and places two steps apart give −1. The dot product of two hands is the cosine of the angle between them, and that angle depends only on the number of steps. Nobody told the clock about distances. They come for free with turning, because $\cos\alpha\cos\beta + \sin\alpha\sin\beta = \cos(\alpha - \beta)$.
#
# One hand is not enough, though. Four steps are a full turn, so places 0, 4 and 8 look the same. A slower hand could tell those apart, but it would hardly move between neighbors. That is why clocks have several hands. In the next one, the short hand is eight times slower than the long one:

# %%
figures.clocks(
    (0, 1, 2, 4, 8, 9),
    [math.pi / 2, math.pi / 16],
    "Together, two hands tell more places apart",
    alt="Six clocks with a fast long hand and a slow short one. At places 0, 4 and 8 the long hand points right, while "
    "the short one has moved from right to 45 degrees and to straight up.",
)

# %% [markdown]
# ## In PyTorch
#
# There are four usual ways to tell attention about order, and you have seen the first:
#
# | way | what is changed | built in | for instance in |
# |---|---|---|---|
# | learned positions | a learned vector is added to each token | nothing | BERT, GPT-2 |
# | sinusoidal positions | a computed vector is added to each token | the hands of a clock | the original transformer |
# | rotary positions | queries and keys are turned | scores depend on the distance | Llama |
# | linear biases | numbers are subtracted from the scores | near keys get more | BLOOM |
#
# ### A clock with many hands
#
# A hand that points at an angle $\alpha$ has the coordinates $(\cos\alpha, \sin\alpha)$. Give each place a vector of dimension E, made of E/2 hands. Hand i, counted from 0, turns by $1 / 10000^{2i/E}$ radians per place, so the first turns by 1 and the last by almost nothing. For E = 8, here are the speeds of the four hands and their angles at three places:

# %%
E, places = 8, torch.arange(3)
speeds = 1 / 10_000 ** (torch.arange(0, E, 2) / E)
speeds, places[:, None] * speeds

# %% [markdown]
# The table has one row per place and one column per hand, and each hand is ten times slower than the one before it. What goes into the vector is the sine and the cosine of each angle, side by side:
#
# $$PE_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/E}}\right), \qquad PE_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/E}}\right).$$
#
# The sine comes first by convention, that of Vaswani et al. 2017.
#
# ### Exercise 7.1: sinusoidal positions
#
# Write the table, with one row for each *position*, which is the usual word for what this lesson calls a place.

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
# Here is a table with 32 entries per place, and so with 16 hands. Four of them are drawn, over the first 32 places.

# %%
table = reader.waves(96)
figures.waves(table[:32], hands=(0, 2, 4, 6))

# %% [markdown]
# Now take the dot product of every place with every other one. If only the distance counts, this table of 96 × 96 numbers is constant along each diagonal:

# %%
products = table @ table.mT
diagonals = [products.diagonal(distance) for distance in range(96)]
apart = max(float(line.max() - line.min()) for line in diagonals)
print(f"largest difference along a diagonal: {apart:.4f}")
figures.pairs(products, distance=16)

# %% [markdown]
# Along each diagonal the numbers are the same up to rounding. The bright band in the middle shows that places near each other have similar vectors. The fainter stripes beside it, about six places apart, come from the fastest hand, which has come round again after 2π ≈ 6.3 places. Moving on by k places is also a rotation of each hand, the same for all places, so one matrix can stand for "three ahead" wherever you start.
#
# But a promise about *positions* is not yet a promise about *scores*. Because the vector was added to the token, a query is made of content plus place, and so is a key.
#
# Take one score with contents $a$ and $b$, vectors $e_p$ and $e_s$ of their places, and $W = W_q W_k^\top$, the product of the query and key matrices. Multiplied out, the score is a sum of four products:
#
# $$(a + e_p)^\top W (b + e_s) = a^\top W b \;+\; a^\top W e_s \;+\; e_p^\top W b \;+\; e_p^\top W e_s .$$
#
# Only the fourth, place with place, has a chance to depend on the distance alone. But $W$ stands between the two places. The promise held for $e_p^\top e_s$, and it holds for $e_p^\top W e_s$ only with special matrices $W$, which training need not find.
#
# ### Rotating instead of adding
#
# So why add at all? We could take the finished query and the finished key and *turn* them, the query at place p by p steps and the key at place s by s steps. Their dot product then depends on the difference of the two angles. This way is called *RoPE*, for rotary position embedding, and most of today's language models use it.
#
# Here is an example with quarter turns, in which query and key are both [1, 0]:


# %%
def turned(x: Tensor, place: int) -> Tensor:
    return torch.matrix_power(quarter, place) @ x


arrow = torch.tensor([1.0, 0.0])
for p, s in ((5, 4), (9, 8), (5, 3), (9, 7)):
    print(f"query at {p}, key at {s}: score {turned(arrow, p) @ turned(arrow, s):2.0f}")

# %% [markdown]
# Places 5 and 4 give the same score as 9 and 8. Wherever a pair moves, its score stays the same.
#
# A vector of dimension D has D/2 pairs of neighboring entries, and each pair turns at a speed of its own, as the hands did. Turning the pair (a, b) by an angle $\alpha$ is a product with a 2 × 2 matrix:
#
# $$\begin{pmatrix} \cos\alpha & -\sin\alpha \\ \sin\alpha & \cos\alpha \end{pmatrix} \begin{pmatrix} a \\ b \end{pmatrix} = \begin{pmatrix} a\cos\alpha - b\sin\alpha \\ a\sin\alpha + b\cos\alpha \end{pmatrix}.$$
#
# Write $R_p$ for the rotation by p steps. Turning back is the same as transposing, $R_p^\top = R_{-p}$, and turns add up, so that
#
# $$(R_p\, q) \cdot (R_s\, k) = q^\top R_p^\top R_s\, k = q \cdot (R_{s-p}\, k).$$
#
# The two places have disappeared from the score, and only their difference is left. This holds for every pair of entries at its own speed, and the score of the whole vectors is the sum over the pairs.
#
# Try it on paper with two pairs that turn by 1 and by 0.1 radians per place. Query and key are both [1, 0, 1, 0] before they are turned. What does the query become at place 2, and what is its score with the key at place 1? Then move both by seven places.
#
# <details><summary>The numbers</summary>
#
# The query becomes [cos 2, sin 2, cos 0.2, sin 0.2] = [−0.42, 0.91, 0.98, 0.20]. Its score is cos 1 + cos 0.1 = 0.54 + 1.00 = 1.54, and the same at places 9 and 8, because each pair contributes the cosine of the angle between its two arrows.
#
# </details>
#
# In the next figure a query and four keys are all the same arrow, turned by 40° per place. (The query is drawn longer and wider, so that no key hides it.) The keys are at places 0 to 3. **Predict**: when the query is at place 2, which key gets the most weight?

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
# The four keys are equal, and yet their weights differ, in a pattern that moves with the query. Near keys win here because query and keys are the same arrow before they turn. If near keys were all we wanted, there would be simpler ways.
#
# ### Choose an angle
#
# Suppose that a head should look exactly *three* places back. Keys turn by 40° per place and so do queries. **Predict**: at place 5 the query is to point in the same direction as the key at place 2. By how much must it be turned at the start, before its place is taken into account?

# %%
predict(
    "to look three places back, the query starts",
    options=("40° behind", "120° behind", "120° ahead"),
)

# %% [markdown]
# At place 5 the query will have turned by 200° and the key at place 2 by 80°, so the query has to start 120° behind. The same 120° serve at every place up to 11. From place 12 on, the key nine places further back points in the same direction, a full turn behind. The slower hands are there to tell the two apart. Here are eight queries with this start, under a causal mask, with longer arrows for a clear preference:


# %%
def looking_back(degrees: float, places: int = 8) -> Tensor:
    turns = math.radians(40) * torch.arange(places)
    starts = turns - math.radians(degrees)
    keys = 5 * torch.stack([turns.cos(), turns.sin()], dim=-1)
    queries = 5 * torch.stack([starts.cos(), starts.sin()], dim=-1)
    hidden = torch.ones(places, places).triu(1) > 0
    return (queries @ keys.mT).masked_fill(hidden, -torch.inf).softmax(dim=-1)


reveal("to look three places back, the query starts", "120° behind")
numbers = [str(p) for p in range(8)]
plot.heatmap(
    looking_back(120),
    numbers,
    numbers,
    "A query that starts 120° behind looks three places back",
    mask=torch.ones(8, 8).tril() > 0,
)

# %% [markdown]
# From place 3 on, every query gives nearly all of its weight to the key three places before it. The head does not need to know the place of the query, because the offset lies in the query and key matrices, which can learn any angle. That is why a rotation can express "three back" as easily as "near".
#
# Values are *not* turned. The place decides only which keys are looked at, and not what is passed on. And since the angles are computed, no table can run out of rows.
#
# ### Exercise 7.2: rotary positions
#
# Turn queries or keys. The positions can be passed in, because with a KV cache (lesson 5) the tokens that come in are not the first ones.

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
# The simplest way of all is to leave queries and keys as they are and to subtract something from each score, more for keys that are further away. This is *ALiBi*, attention with linear biases. The bias is minus the distance times a slope, and each head has a slope of its own. Here are five equal scores, a query at place 4, and three slopes:

# %%
distance = torch.tensor([4.0, 3, 2, 1, 0])
for slope in (1.0, 0.25, 1 / 16):
    print(slope, (-slope * distance).softmax(dim=-1))

# %% [markdown]
# A steep head sees its neighborhood, and a flat one sees nearly everything. The slopes are fixed and form a geometric sequence: with 8 heads they are ½, ¼, ⅛ … 1/256, and with H heads, head h (counted from 1) has the slope $2^{-8h/H}$.
#
# ### Exercise 7.3: linear biases
#
# Write the table that is added to the scores. The last query is at the last key, as in your causal mask of lesson 5.

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
# ### What the slopes see
#
# The models of the next section have four heads. Three of them are drawn here. Suppose that all 32 scores are equal, and that the query is at place 31. How much of its weight has each of the three heads spent up to a certain distance?

# %%
away = torch.arange(32)
plot.curves(
    away[:20],
    {
        f"head {h}": (-away / 4**h).softmax(dim=-1).cumsum(-1)[:20].tolist()
        for h in (1, 2, 3)
    },
    "Three slopes, three windows",
    xlabel="distance of the key",
    ylabel="share of the weight up to there",
    from_zero=True,
    alt="Head 1 has spent nearly all of its weight within 12 places. Head 2 rises more slowly, and head 3 is almost a "
    "straight line.",
)

# %% [markdown]
# Head 1 has spent half of its weight by distance 2, head 2 by distance 8 to 9, and head 3 only by distance 14, hardly less than the 15 of a head without a bias. The fourth head, with a slope of 1/256, would be closer still to that.
#
# ### Longer than in training
#
# Now compare the four ways, and a model without positions, on sequences longer than any they were trained on. Each model is trained on 16 digits with a causal mask and tested on 16, 32, 64 and 128. The task is to name, at each place, the most recent digit *below 4*, however long ago it was. The digit at that place counts too.


# %%
def most_recent(digits: Tensor) -> Tensor:
    places = torch.arange(digits.size(1)).expand_as(digits)
    latest = places.where(digits < 4, -1).cummax(dim=-1).values  # the largest so far
    return digits.gather(1, latest.clamp(min=0))


x = reader.digits(1, seed=3, length=16)
x[0].tolist(), most_recent(x)[0].tolist()

# %% [markdown]
# Before the first small digit there is nothing to name, so the answer is the first digit of the sequence.
#
# **Predict.** All four ways get more than nine answers in ten right at length 16. Which of them still do at 64?

# %%
ways = ("learned", "sinusoidal", "rotary", "linear bias")
predict(
    "good at four times the length",
    options=("all four", "rotary and linear bias", "only the linear bias"),
)


# %% measured
LENGTHS = (16, 32, 64, 128)


def shares_of(task, models: dict[str, reader.Reader]) -> dict[str, list[float]]:
    print(f"{'trained at 16, tested at':24}", *(f"{length:4}" for length in LENGTHS))
    shares = {}
    for way, model in models.items():
        shares[way] = [accuracy(model, task, length) for length in LENGTHS]
        print(f"{way:24}", *(f"{share:4.0%}" for share in shares[way]))
    return shares


models = {way: train(most_recent, way, causal=True) for way in ("none", *ways)}
shares = shares_of(most_recent, models)
reveal("good at four times the length", "only the linear bias")

# %% [markdown]
# Here are the same numbers as curves, whose title speaks of this one task:

# %% measured
plot.curves(
    LENGTHS,
    shares,
    "Beyond 32, only the linear bias holds",
    xlabel="length in the test",
    ylabel="share of right answers",
    log=True,
    alt="All start high at 16. The linear bias stays above 0.9 up to 128; the rotation holds at 32 and then falls; learned and sinusoidal positions fall at once, and end where the model without positions is, or below it.",
)

# %% [markdown]
# At 32, learned and sinusoidal positions get a fifth to a quarter of the answers wrong, and even this flatters them. Under a causal mask, places 0 to 15 see what they saw in training. Nearly all errors are therefore at places 16 to 31, where four to five answers in ten are wrong.
#
# Why do they fail? The learned table uses rows that were never trained. The sinusoids are defined everywhere, and probably fail because their slower hands point, beyond place 15, in directions that the query and key matrices never saw.
#
# At 32, the rotation is better than the bias, 99% against 92%. At 64 it is worse, 85% against 92%. At 128 it has 68%, little more than the 62% of a model without positions. Two more trainings with the rotation and with the bias agreed with these numbers to within three points.
#
# <details><summary>How can a model without positions be right at all?</summary>
#
# Two rules need no order. Two places in five hold a small digit, and there the answer is that digit. Elsewhere, the small digit that has occurred most often so far is a good guess.
#
# </details>
#
# Is a linear bias better than a rotation, then? Change the task. At each place, name the digit exactly three places back, and at the first three places the first digit. Before you run the cell after the next one, decide which of the two will be right more often at length 16, and why.


# %%
def three_back(digits: Tensor) -> Tensor:
    return digits[:, (torch.arange(digits.size(1)) - 3).clamp(min=0)]


# %% measured
models = {way: train(three_back, way, causal=True) for way in ("rotary", "linear bias")}
shares_of(three_back, models)
rotary = models["rotary"]

# %% [markdown]
# The linear bias is lost even at 16, since it can say "nearer is better" but not "three away is better than two". The rotation has found an angle like the one that you chose above, and is perfect up to 32. Then it fails too, although the only distance that matters, 3, occurred in every training sequence.
#
# Now return to the task of reversing. Here the right distance is different at each place: at place 0 the partner is 15 places ahead, and at place 10 it is five places back. With a rotation or a linear bias, a query is made from its digit alone. The same digit would have to look for both distances, and in a single layer it cannot:

# %% measured
for way in ("sinusoidal", "rotary", "linear bias"):
    print(f"reversing, {way:12} {accuracy(train(reverse, way), reverse):4.0%}")

# %% [markdown]
# Neither the rotation nor the linear bias was good at all three tasks. The two vectors that are added were not tried on three back. The linear bias was best for the most recent small digit, in long sequences, and the rotation was the better of the two for three back. For reversing, only a vector that is added to each token worked. Every way of telling a model about order has an assumption built in, and works where the assumption holds. In text, much of what matters is how far back something is.

# %% [markdown]
# ## What can go wrong
#
# **Two layouts of the same rotation.** Some libraries pair entry i with entry i + D/2, not entry 2i with 2i + 1. Both layouts are correct, but a model trained with one is broken by the other. The shapes fit, PyTorch raises no error, and the scores are wrong. You will meet both: Llama's own code pairs neighbors, while the transformers library pairs halves, and its converter permutes the rows of the query and key matrices. Here is one query at place 3, turned in each layout:

# %%
q, turn = torch.randn(8), reader.turns(4, reader.speeds_of(10_000))[3]
halves = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])
adjacent, split = turn @ q, (turn @ q[halves])[halves.argsort()]
adjacent, split

# %% [markdown]
# **Starting again at zero.** A model that writes computes one new query at a time. If the position of that query is forgotten, it is turned as if it were at place 0, and looks for its neighbors at the wrong end. Here are the weights of a query at place 3, turned as it should be and then with its place forgotten:

# %%
torch.stack([weights_at(3), weights_at(0)])

# %% [markdown]
# **Positions in half precision.** Most models run in `bfloat16`, which cannot represent 257 and makes it 256. The first whole number that `float16` cannot represent is 2049. Angles have to be computed in `float32`, even if the model is not.

# %%
torch.tensor([255.0, 256, 257, 258, 259]).bfloat16().tolist()

# %% [markdown]
# **"Works at any length."** A rotation *runs* at any length. In two of our tasks it *worked* up to twice the length of training, and not up to four times.
#
# **"Without positions there is no order."** Without a mask that is true, however many layers there are. A causal mask gives away some order, because the first query sees one key and the second sees two. Models with several layers can build on that, and some are trained without any positions (*NoPE*).
#
# ## What you learned
#
# This lesson has changed the first of the three steps, so that a comparison also depends on where the two tokens are.
#
# | | what it does | what it knows | beyond the training length, in our tests |
# |---|---|---|---|
# | learned | adds a vector per place | each place by itself | untrained rows |
# | sinusoidal | adds sines and cosines | distances, until the projections mix the hands | unseen combinations |
# | rotary | turns queries and keys | distance, not place | to twice the length; with slower hands (optional) to four times, in one task |
# | linear bias | lowers the scores | nearer is better, but not how many steps | where near is what counts, to eight times |
#
# %%
recap()

# %% [markdown]
# If you expected rotations to hold at four times the length, you trusted the formula, and the formula is right: a score depends on the distance alone. But a model has to learn what to do with each distance, and it met none above 15. What a formula allows and what training has taught are two questions.
#
# ## Questions
#
# **Question R7** (2 points, graded by a person). A colleague gives a model a table of 100 learned positions, trains it on sentences of up to 50 tokens, and wants to use it on documents of 100. Which rows of the table will hurt, and would sinusoidal or rotary positions have helped? Support your answer with numbers from this lesson, and name one thing that these numbers do *not* show.

# %% question R7 [markdown] points=2
# Rows 50 to 99 of the position table have never been trained. They still hold their random start and are added to the tokens there.
#
# In our experiment the learned table fell from 100% at length 16 to about 80% at length 32. The sinusoids did no better (about 75%): their vectors exist at every length, but the projections had never met such combinations. Rotary positions stayed at 99% at twice the length and fell to 85% at four times, because distances that had not occurred in training were not ignored. So 100 instead of 50 may work with them, and is not guaranteed.
#
# Not shown: real text, real lengths, several layers. In our task the answer is usually a few places back, so large distances hardly mattered. A task that needs a distance of 70 would be new to a rotary model too. And reversing shows that a relative scheme can be the wrong choice altogether.
#
# | points | for |
# |---|---|
# | 1 | Names rows 50 to 99 as never trained, and supports the comparison by numbers of the lesson (at twice the length the table and the sinusoids fall and rotary positions do not, or rotary positions fall at four times) |
# | 1 | One thing that the numbers do not show (real text, real lengths, several layers, a task that needs large distances) |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "Rotary positions would have helped, because all modern models use them." | Which numbers of this lesson say so, and at which length do they stop saying so? |
# | 1 | "Rows 50 to 99 are still random. Rotary positions have 99% at twice the length and the table about 80%, so they work at any length." | Right about the rows and about twice the length. What happened at four times, and which task did these numbers come from? |
# | 1 | "The last rows were trained too little. Rotary positions would have helped. Our task is not real text, though." | A fair limit of the experiment. Rows 50 to 99 were not trained at all, and the comparison needs its numbers. |
# | 0 | "Sinusoids are defined at every length, so they would have worked." (sounds right) | The vectors exist, but the projections have never met these combinations. In the lesson the sinusoids had about 75% at twice the length, no more than the table. |

# %% [markdown]
# ## Optional: where the rotation looks, and slower hands
#
# What goes wrong with the rotation? Here is where a query at place 60 puts its weight in a sequence of 64, as the mean over 300 sequences and the four heads:

# %% measured
x = reader.digits(300, seed=1_000_000, length=64)


def by_distance(model: reader.Reader) -> list[float]:
    with torch.no_grad():
        weights = model.attend(x)[1].softmax(dim=-1)  # (B, H, L, S)
    return weights[:, :, 60, :61].mean(dim=(0, 1)).flip(0).tolist()


plot.curves(
    range(61),
    {"query at place 60": by_distance(rotary)},
    "The weight goes to distances that training never showed",
    xlabel="distance of the key",
    ylabel="weight",
    shaded=(0, 15, "shown in training"),
    alt="A small peak at distance 3, the right one, and much higher ones at 41, 47, 53 and 60.",
)

# %% [markdown]
# The right distance has a weight of 0.05, and there are larger peaks at 41, 47, 53 and 60. They are 6 to 7 places apart, about one full turn of the fastest hand. At each peak this hand points where it points at distance 3.
#
# Hand 1, which turns by 0.1 radians per place, has to tell these places apart. In training, all distances were at most 15, where it makes at most a quarter of a turn. It only had to make near keys better than far ones. What it adds to the score is a cosine of the distance. In this model the cosine falls up to distance 20 (means over the four heads, not shown). Then it rises again, and half a turn further, near distance 51, it is highest. Nothing in training has told the model that this direction is wrong.
#
# This suggests a repair that needs no training. Let the hands after the first turn more slowly, so that a text of 64 does not bring them full circle. Hand i turns by base^(−2i/D), so a larger `base` leaves the first hand as it is and slows down all others, the last one most. Here are the speeds for D = 8, in radians per place, with a base that makes the last hand four times slower:
#
# | base | hand 0 | hand 1 | hand 2 | hand 3 |
# |---|---|---|---|---|
# | 10,000 | 1 | 0.1 | 0.01 | 0.001 |
# | 63,496 | 1 | 0.063 | 0.0040 | 0.00025 |
#
# **Predict.** What does the model for three back get at 64 with the new base, without a single step of training?

# %%
predict(
    "three back at 64, with slower hands",
    options=("less than before", "about the same", "nearly all"),
)

# %% measured
for base in (10_000, 63_496):
    rotary.speeds = reader.speeds_of(base)
    shares = [accuracy(rotary, three_back, length) for length in (16, 64, 128)]
    print(f"base {base:6}: ", *(f"{share:4.0%}" for share in shares))
reveal("three back at 64, with slower hands", "nearly all")

# %% [markdown]
# At 64 the model is now right in 97% of the places, and at 16 it has lost nothing.
#
# It was hand 1 that made the difference, because the two slowest hands move by at most a tenth of a turn over a text of 64 in any case. Hand 1 had come full circle after 63 places. With the new base it gets no further than two thirds of the way round in a text of 64. At 128 it comes round again, and the repair is not enough. Models that read long texts do something like this, under names such as *NTK-aware scaling* and *YaRN*, and usually train a little longer afterward.
#
# ## Optional: when the order means nothing
#
# In all these tasks the order of the digits mattered. Here is one in which it does not: at every place, name the most frequent digit of the whole sequence, or the smallest of them if there are several. There is no mask:


# %%
def most_common(digits: Tensor) -> Tensor:
    return digits.mode(dim=-1, keepdim=True).values.expand_as(digits)


# %% [markdown]
# **Predict.** Two models are trained on 16 digits, one with learned positions and one with none. Which of them is right more often at 64?

# %%
predict(
    "the most frequent digit of 64",
    options=("with positions", "without positions", "both about equally often"),
)


# %% measured
models = {way: train(most_common, way) for way in ("none", "learned")}
shares_of(most_common, models)
reveal("the most frequent digit of 64", "without positions")

# %% [markdown]
# At 16, where both were trained, they are about level. At every greater length the model without positions is far ahead. It is equivariant, so what it has learned about some orders of the digits holds for all orders. The other model has to learn this, and beyond place 15 it adds vectors that were never trained.
#
# At the beginning of this lesson, equivariance was a defect to be repaired. Where the tokens are really a set, such as the points that a laser scanner measures, it is the assumption that you want.

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.5: sinusoids, and a first comparison with learned vectors.
# - Su et al. 2021, [RoFormer](https://arxiv.org/abs/2104.09864): rotary positions.
# - Press, Smith and Lewis 2022, [Train Short, Test Long](https://arxiv.org/abs/2108.12409): linear biases, and on real text what you saw here, since rotary models got worse soon after their training length and linear biases did not.
# - Peng et al. 2023, [YaRN](https://arxiv.org/abs/2309.00071): slower hands, done with care.
# - Kazemnejad et al. 2023, [The Impact of Positional Encoding on Length Generalization](https://arxiv.org/abs/2305.19466): models without positions among others.
#
# **Next:** [lesson 8](../08_transformer_block/08_transformer_block.ipynb) puts attention, positions and two more parts together into a transformer.
