# %% [markdown]
# # 5. Masking
#
# After this lesson you can hide padding and the future from a query and read the four conventions in which masks are written. You can also write a test for leaks that looks at every token. You should have done lesson 4. About 140 minutes, in two sittings, of which the first ends before "A query with nothing to look at".
#
# **From memory.** What happens to the weights if 100 is added to every score of a row? What should softmax subtract before it takes exponentials, and why for each row separately?
#
# <details><summary>Answers</summary>
#
# Nothing happens, because only differences between scores count. Softmax subtracts the largest score of the row, so that no exponential overflows. If it subtracted the largest score of the whole table, all exponentials of another row could round to 0.
#
# </details>
#
# ## The idea
#
# A fair coin is flipped eight times. A small model reads the flips and says, after each of them, what the *next* one will be.

# %% setup
import math
from collections.abc import Callable

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
def flips(n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 2, (n, 8), generator=generator)  # (B, L)


flips(3, seed=0)

# %% [markdown]
# Each row is one sequence of flips. The model is the attention of lessons 2 and 3, in PyTorch's own version, `scaled_dot_product_attention`. In front of it, two tables turn a flip and its position into a vector. Behind it, a matrix turns the output into two logits, one for each side of the coin.


# %%
class Guesser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.side, self.place = nn.Embedding(2, 16), nn.Embedding(8, 16)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(16, 16) for _ in range(3))
        self.out = nn.Linear(16, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        h = self.side(x) + self.place.weight[: x.size(1)]  # (B, L, E)
        q, k, v = self.q_proj(h), self.k_proj(h), self.v_proj(h)
        return self.out(functional.scaled_dot_product_attention(q, k, v, mask))


# %% [markdown]
# The model learns for 200 steps, each with 64 fresh sequences. Then we count how often it is right on 2000 new ones. Seven guesses per sequence count, because the last flip has no next one.


# %%
def trained(mask: Tensor | None) -> Guesser:
    torch.manual_seed(0)
    model = Guesser()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(200):
        x = flips(64, seed=step)
        guesses = model(x, mask)[:, :-1]
        loss = functional.cross_entropy(guesses.flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %% [markdown]
# **Predict.** Nothing in a fair coin's past tells you its next flip. How often will the model be right?

# %%
predict("right guesses", options=("about half", "about three quarters", "always"))

# %%
model = trained(mask=None)
x = flips(2000, seed=999)
accuracy = (model(x)[:, :-1].argmax(dim=-1) == x[:, 1:]).double().mean()
reveal("right guesses", "always")
print(f"right: {accuracy:.0%}")

# %% [markdown]
# The model predicts a fair coin, every time, on fresh flips. Before you bet on it, let the model guess as it would have to in a real game, where the later flips have not happened yet. Show it the first five flips and ask for the sixth:

# %%
guess = model(x[:, :5])[:, -1].argmax(dim=-1)
accuracy = (guess == x[:, 5]).double().mean().round(decimals=1)
print(f"right, with five flips on the table: {accuracy:.0%}")

# %% [markdown]
# Now it is right about half of the time, like anybody else. In training the model saw the whole sequence, so the answer to each question was in its input, one position further on. Its attention weights, averaged over the 2000 sequences, show what it has learned:

# %%
h = model.side(x) + model.place.weight
scores = model.q_proj(h) @ model.k_proj(h).mT / math.sqrt(16)
names = [f"flip {i}" for i in range(8)]
plot.heatmap(
    scores.softmax(dim=-1).mean(dim=0),
    names,
    names,
    "Each flip looks at the next one",
    alt="Rows 0 to 6 put nearly all their weight one place to the right of the diagonal. The last row has no next flip.",
)

# %% [markdown]
# Flips 0 to 6 each copy the flip to their right. (Flip 7 has none, so its row means nothing.) This is what a *leak* looks like: the model is perfect in training and worthless in use, and PyTorch raises no error. An *autoregressive* model such as GPT, which writes a text token by token, is trained on whole sentences at once. The end of each sentence is there while the model learns to predict its middle. So the model must be kept from looking ahead.
#
# You can test for a leak without any training. Change the last flip, and the outputs *before* it must not move:


# %%
def moved(model: nn.Module, mask: Tensor | None) -> Tensor:
    one = flips(1, seed=5)
    other = one.clone()
    other[0, -1] = 1 - one[0, -1]
    difference = model(one, mask) - model(other, mask)
    return (difference.abs() > 1e-5).any(dim=-1)[0]  # (L,); less is rounding


moved(Guesser(), mask=None)

# %% [markdown]
# Only the last output was allowed to move, and all eight have moved, in a model that has not even been trained. This is the *leak test* in its simplest form. At the end of the lesson you meet a leak that it misses.
#
# ## By hand
#
# ### Three ways to hide a key
#
# A query has the scores 0, ln 2 and ln 3, and therefore the weights $\tfrac16, \tfrac13, \tfrac12$. The third key is to be hidden from it. The most obvious way is to set its weight to 0.

# %%
scores = torch.tensor([0.0, math.log(2), math.log(3)])
may_look = torch.tensor([True, True, False])
scores.softmax(dim=-1) * may_look

# %% [markdown]
# The hidden key gets nothing, but the other two weights sum to only a half. The exponential of the hidden key was part of the sum by which they were divided, so the hidden key still influences the result.
#
# The second way is to set the key's score to 0, before softmax. **Predict** the weight of the hidden key.

# %%
predict("hidden by a score of 0", options=("0", "1/6", "1/4"))

# %%
reveal("hidden by a score of 0", "1/4")
scores.masked_fill(~may_look, 0.0).softmax(dim=-1)

# %% [markdown]
# The hidden key gets a quarter, because a score of 0 is a score like any other. Since $e^0 = 1$, the three exponentials are 1, 2 and 1. (`masked_fill` writes a number wherever its mask is `True`, and `~` inverts a boolean mask.)
#
# Which score has the exponential 0? On paper no finite score does, so take −∞. Work out which weights the scores 0, ln 2 and −∞ give, and which output, if the values are [6, 0], [0, 6] and [12, 12].

# %%
weights = scores.masked_fill(~may_look, -torch.inf).softmax(dim=-1)
weights, weights @ torch.tensor([[6.0, 0], [0, 6], [12, 12]])

# %% [markdown]
# The weights are one third and two thirds, and the output is [2, 4], as if the third key did not exist. That is what hiding means.
#
# The first way could have been repaired by dividing each row by its new sum. On paper this gives the same numbers as −∞. On a computer it does so only as long as the hidden score is not too large:

# %%
for hidden in (math.log(3), 200.0):
    scores[2] = hidden
    kept = scores.softmax(dim=-1) * may_look
    print(kept / kept.sum(), scores.masked_fill(~may_look, -torch.inf).softmax(dim=-1))

# %% [markdown]
# With a hidden score of 200, the weights of the visible keys round to 0 before they can be divided by their sum, which is then 0 too. Hiding with −∞ removes the large score before it can do any damage.
#
# ## In PyTorch
#
# ### The future
#
# A *mask* is a boolean table with a row per query and a column per key. In these lessons, as in `scaled_dot_product_attention`, **`True` means that this query may look at this key**. If no query may look ahead, query i may look at keys 0 to i. The entries that are `True` form a triangle, called a *causal mask*.

# %%
causal = torch.ones(3, 3, dtype=torch.bool).tril()
causal

# %% [markdown]
# Three tokens are few enough to follow every number. Queries and keys are the same here, and the scores are divided by $\sqrt2$ before anything is hidden.

# %%
q = k = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
v = torch.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
scores = q @ k.mT / math.sqrt(2)
weights = scores.masked_fill(~causal, -torch.inf).softmax(dim=-1)
plot.heatmap(
    weights,
    ["token 0", "token 1", "token 2"],
    ["token 0", "token 1", "token 2"],
    "The future is hidden, and each row still sums to 1",
    mask=causal,
)
weights @ v, scores.softmax(dim=-1) @ v

# %% [markdown]
# Token 0 can see only itself, so its output is its own value, [1, 2, 3]. The last token may see everything anyway, so its row is the same with and without the mask.
#
# Now train the coin model again, with the mask, and put it through both tests.

# %%
mask = torch.ones(8, 8, dtype=torch.bool).tril()
honest = trained(mask)
accuracy = (honest(x, mask)[:, :-1].argmax(dim=-1) == x[:, 1:]).double().mean()
print(f"right: {accuracy.round(decimals=1):.0%}")
moved(honest, mask)

# %% [markdown]
# The model is right about half of the time, as it should be. In the leak test only the last output has moved, that of the changed flip itself.
#
# So far there were as many queries as keys. In lesson 10 a model will write one token at a time and keep the earlier keys and values in a *KV cache*, so only the new tokens have queries. Since the *last* query belongs to the *last* key, the staircase of the mask then ends in the bottom right corner:

# %%
plot.masks(
    [
        ("4 queries, 4 keys", torch.ones(4, 4, dtype=torch.bool).tril()),
        ("3 new queries, 7 keys", torch.arange(7) <= torch.tensor([[4], [5], [6]])),
        ("1 new query, 5 keys", torch.ones(1, 5, dtype=torch.bool)),
    ],
    "A causal mask ends at the last key",
)

# %% [markdown]
# ### Exercise 5.1: the causal mask
#
# Make the mask for any number of queries and keys. `device` is the device to create the tensor on, and PyTorch's functions that create tensors take an argument of that name.

# %% hints causal_mask [markdown]
# Write down which keys the *first* of 2 new queries may see if there are 5 keys. How many more is that than the first of 5 queries may see?
#
# `tril` keeps a triangle and takes a `diagonal`: 0 starts at the top left corner, and larger numbers move the edge to the right. By how many columns must it move?
#
# Make the result boolean from the start: `torch.ones` takes a `dtype`. Try your formula for the diagonal on paper, with equal lengths and with a single query.


# %% exercise causal_mask
def causal_mask(
    q_len: int, k_len: int | None = None, *, device: torch.device | str | None = None
) -> Tensor:
    """Return which keys each query may look at when none may look ahead.

    The last of q_len queries lines up with the last of k_len keys. k_len is at least q_len and defaults to it.
    Returns a boolean tensor (q_len, k_len) on the device, True where a query may look.
    """
    ### BEGIN SOLUTION
    k_len = q_len if k_len is None else k_len
    every = torch.ones(q_len, k_len, dtype=torch.bool, device=device)
    return every.tril(k_len - q_len)
    ### END SOLUTION


# %% check causal_mask

# %% [markdown]
# ### Sentences of different lengths
#
# A batch is a rectangle, but its sentences differ in length. The short ones are therefore extended with *padding*, a symbol that means nothing and that no query may look at.
#
# A table that says which positions are tokens has the shape `(B, S)`, with one row per *sentence*. Scores have a row per *query*, and with heads (lesson 6) their shape is `(B, H, L, S)`. Because PyTorch aligns shapes from the right, a `(B, S)` table is read as `(L, S)`, as if each of its rows belonged to a query. If B equals L, this does not even raise an error:

# %%
two_by_two = torch.tensor([[True, False], [True, True]])  # lengths 1 and 2
scores = torch.zeros(2, 1, 2, 2)  # (B, H, L, S)
as_it_is = scores.masked_fill(~two_by_two, -torch.inf)
with_axes = scores.masked_fill(~two_by_two[:, None, None], -torch.inf)
as_it_is[0, 0], with_axes[0, 0]

# %% [markdown]
# Sentence 0 has one real token, so its column 1 must be hidden from *both* queries. In the first table query 1 still sees that column. For the second table, `None` in the index has put two axes of size 1 into the mask. Its shape `(B, 1, 1, S)` means one row of keys per sentence, the same for all heads and all queries.
#
# ### Exercise 5.2: the padding mask
#
# Turn lengths into such a mask.

# %% hints padding_mask [markdown]
# A sentence of length 3 in a batch of width 5: which positions hold real tokens, counting from 0? Is position 3 one of them?
#
# Compare all positions with each length. Which of the two has to become a column for the comparison to give a table?
#
# The table has a row per sentence and a column per key. Heads and queries go between the two, as axes of size 1. The lengths may be on another device, and the positions should be created there.


# %% exercise padding_mask
def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Return which keys are tokens and which are padding.

    lengths is (B,), integers from 0 to max_len. Sentence b has tokens at positions 0 to lengths[b] - 1.
    Returns a boolean tensor (B, 1, 1, max_len) on the device of lengths, True where there is a token.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None]
    ### END SOLUTION


# %% check padding_mask

# %% [markdown]
# ### Several rules at once
#
# Often two rules hold at the same time: a query may look neither at the future *nor* at padding. Put positively, it may look at a key if the first rule **and** the second rule allow it, so the two masks are combined with `&`.

# %%
causal = torch.ones(5, 5, dtype=torch.bool).tril()
padding = torch.tensor([[True, True, True, False, False]]).expand(5, 5)
window = torch.ones(5, 5, dtype=torch.bool).triu(-1)  # one back, and all later ones
text = torch.tensor([0, 0, 0, 1, 1])  # which text each token belongs to
plot.masks(
    [
        ("causal", causal),
        ("padding", padding),
        ("causal and padding", causal & padding),
        ("causal and near", causal & window),
        ("causal, two texts", causal & (text[:, None] == text)),
    ],
    "Rules are combined with &",
)

# %% [markdown]
# The fourth mask is called a *sliding window*, in which each query sees itself and the token before it. The last mask is for packed texts: tokens 0 to 2 and tokens 3 and 4 are two texts in one row, and neither may look into the other. If a program packs the requests of two users into one row without this mask, the model can answer one of them with what it has read in the other's text.
#
# In the third mask, queries 3 and 4 are padding themselves, and what they get is ignored later. The rows of the real tokens, 0 to 2, are the same as in the causal mask. Padding that comes last is in the future of every real token, so the causal mask hides it already. You need a padding mask only if the padding comes first, or if there is no causal mask.
#
# ### Exercise 5.3: combine masks
#
# Combine any number of masks. `None` means that there is no rule, and an axis of size 1 means that the rule is the same for all.

# %% hints combine_masks [markdown]
# If one of the masks is `None`, what does it forbid? If all of them are `None`, or no masks were given at all, what should come back?
#
# First leave out every `None`. Then there are zero, one or more masks left, and only the last case needs work.
#
# `&` works entry by entry and broadcasts axes of size 1. It makes a new tensor, whereas its in-place form would write into one of the caller's masks.


# %% exercise combine_masks
def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Allow only what every mask allows.

    Each mask is boolean, True where a query may look, with shapes that broadcast; None forbids nothing.
    Returns a boolean tensor of the shape they broadcast to, such as (B, 1, L, S), or None if there is no mask at all. No
    mask is changed.
    """
    ### BEGIN SOLUTION
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
    ### END SOLUTION


# %% check combine_masks

# %% [markdown]
# ### A query with nothing to look at
#
# When rules are combined, sooner or later a row has no `True` left. An empty sentence in a batch is enough to cause this, and all scores of such a row are −∞. **Predict** what softmax makes of them.

# %%
predict("softmax of -inf, -inf, -inf", options=("0, 0, 0", "1/3, 1/3, 1/3", "nan"))

# %%
nothing = torch.full((3,), -torch.inf)
reveal("softmax of -inf, -inf, -inf", "nan")
nothing.softmax(dim=-1), torch.full((3,), -1_000_000_000.0).softmax(dim=-1)

# %% [markdown]
# Softmax turns all three scores into `nan`, because all exponentials in the formula are 0, and 0/0 is not defined. A softmax that subtracts the largest score first, as lesson 4's does, fails even earlier, at −∞ − (−∞). The loss is a mean over the batch, so a single `nan` makes the whole loss `nan`.
#
# Here are the three tokens from above, with a button for each query and key. Hide the keys of query 1 one by one, and watch where its weight goes:

# %%
three = torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 1, 2]]) / math.sqrt(2)
plot.click_mask(
    lambda mask: three.masked_fill(~mask, -torch.inf).softmax(dim=-1),
    ["token 0", "token 1", "token 2"],
)

# %% [markdown]
# Older code writes −1,000,000,000 instead of −∞, and you saw that softmax turns three such scores into one third each. In a row in which every key is hidden, that avoids the `nan` and puts something worse in its place: the query now looks at all the hidden keys equally. Padding enters the output, and nothing warns you.
#
# In these lessons a query that may look at nothing gives weight to nothing. Its output is 0, and no hidden key can influence any result. PyTorch's function follows this convention in the version that this course uses, while earlier versions returned `nan`:

# %%
q, k, v = (torch.ones(1, 3, 4) for _ in range(3))
mask = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
functional.scaled_dot_product_attention(q, k, v, mask)

# %% [markdown]
# Query 1 gets zeros. To produce such zeros, it is tempting to let softmax return its `nan` and to replace it with 0 afterward. The weights are then right, but does the gradient survive? Try it on an empty row that is hidden in two ways, first by *adding* −∞ to the scores and then by *overwriting* them with −∞.

# %%
everything = torch.ones(3, dtype=torch.bool)
for hide in (lambda s: s - torch.inf, lambda s: s.masked_fill(everything, -torch.inf)):
    scores = torch.zeros(3, requires_grad=True)
    weights = hide(scores).softmax(dim=-1).nan_to_num(0.0)
    weights[0].backward()
    print(weights.detach(), scores.grad)

# %% [markdown]
# The weights are right both times, but the first gradient is `nan`, and one optimizer step later the model is `nan` as well. The figure shows the row on its way forward, and below it the gradient on its way back, once for each way of hiding:

# %%
figures.there_and_back()

# %% [markdown]
# Replacing the `nan` helps only on the way forward. The way back leads from right to left, and each box there holds the gradient of the numbers above it. It starts with 1, 0, 0, because the cell asked for the first weight. The replacement passes on 0 wherever it replaced a `nan`, so g = [0, 0, 0] arrives at the weights w. By the Jacobian of lesson 3, score i gets $\sum_j g_j\,w_j(\delta_{ij} - w_i) = w_i\,(g_i - w \cdot g)$. But w is `nan`, and even 0 times `nan` is `nan`.
#
# What happens then depends on how the scores were hidden. An addition passes on whatever arrives, so the `nan` reaches the scores and everything before them. `masked_fill` passes on *nothing* to the entries that it overwrote. Their gradient is exactly 0, and only the `nan` in the weights is left to remove.
#
# ### Exercise 5.4: masked softmax
#
# Write a softmax in which hidden keys get exactly 0 and the visible ones share 1. A row with no visible keys is all zeros, and gradients are finite everywhere. You may use PyTorch's softmax, but its ready-made attention is not allowed here, because the steps are the exercise.

# %% hints masked_softmax [markdown]
# Which steps does a row with at least one visible key need? What is different about a row with none, and at which point can you still tell the two apart?
#
# Hide the scores with `masked_fill`, take the softmax, and clean up with `masked_fill` once more. The second one writes zeros. Where?
#
# Ask what weight a hidden key should get, whether its row is empty or not. If one answer fits both cases, the empty row needs no special treatment.


# %% exercise masked_softmax
def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax of each row, over the keys that the mask allows.

    scores is (..., L, S); mask is boolean, broadcasts to that shape, True where a query may look; None allows all.
    Returns weights (..., L, S) of the same dtype, 0 where hidden. A row with no visible keys is all zeros.
    Values and gradients are finite, for finite scores of any magnitude.
    """
    ### BEGIN SOLUTION
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
    ### END SOLUTION


# %% check masked_softmax

# %% [markdown]
# ### Everything together
#
# Scores, scale, mask, softmax, values: these are all the steps of attention. Later lessons add to them, but their order stays the same.
#
# ### Exercise 5.5: scaled dot-product attention
#
# Put the steps into one function. It is PyTorch's function of the same name, except that it returns the weights as well. You may use what you wrote in exercise 5.4, but PyTorch's own attention is not allowed here, because the steps are the exercise.

# %% hints scaled_dot_product_attention [markdown]
# Does it matter whether the mask or the scale comes first? Try minus infinity times a scale of 0. And what did lesson 3 divide the scores by? That is your default.
#
# A scale of 0.0 is a scale, although Python treats it as false. How do you test whether an argument was given at all?
#
# The mask has to act on the scores, and the empty rows have to come out as 0, in the weights and therefore in the output. Return the pair in the same order as in lesson 2.


# %% exercise scaled_dot_product_attention
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention with a scale and a mask (Vaswani et al. 2017, equation 1).

    query is (..., L, D), key is (..., S, D), value is (..., S, D_v); mask is boolean, broadcasts to (..., L, S),
    True where a query may look. scale multiplies the scores; it may be 0 or negative, and defaults to 1/sqrt(D).
    Returns output (..., L, D_v) and weights (..., L, S). A query with no visible keys gets zeros in both.
    """
    ### BEGIN SOLUTION
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    weights = masked_softmax(scale * query @ key.mT, mask)
    return weights @ value, weights
    ### END SOLUTION


# %% check scaled_dot_product_attention

# %% [markdown]
# ### Four conventions
#
# The same rule is written in four ways. Only a function's documentation says which one it expects, and usually no error tells you when you are wrong:
#
# | | where | hidden is | how to make it from ours |
# |---|---|---|---|
# | boolean, may look | these lessons, `scaled_dot_product_attention` | `False` | as it is |
# | boolean, hide | `nn.MultiheadAttention`, much older code | `True` | `~mask` |
# | 0 or 1, tested with `mask == 0` | tokenizers, older tutorials | 0 | `mask.int()` |
# | added to the scores | also accepted by both of these functions | −∞ | zeros, filled with −∞ where `~mask` |
#
# Here are three traps. Make up your mind about each before you look.
#
# **Predict.** First, our causal mask is passed to `nn.MultiheadAttention` as it is. What does the model see?

# %%
predict("our mask, PyTorch's module", options=("the past", "the future", "an error"))

# %%
torch.manual_seed(0)
module = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
tokens, causal = torch.randn(1, 3, 4), torch.ones(3, 3, dtype=torch.bool).tril()
for mask in (causal, ~causal):
    print(module(tokens, tokens, tokens, attn_mask=mask)[1][0].detach() > 0)
reveal("our mask, PyTorch's module", "the future")

# %% [markdown]
# The first table shows the opposite of a causal mask. Token 0 looks at tokens 1 and 2, and the last token, which has nothing left to see, looks at nothing (its weights are `nan`, and `nan > 0` is `False`). The second table, with the mask inverted, is right.
#
# **Predict.** Second, the causal mask is converted to floats, 0 and 1, and passed to `scaled_dot_product_attention`. Does the future leak?

# %%
predict("a mask of floats", options=("no", "a part of it", "an error"))

# %%
sdpa = functional.scaled_dot_product_attention
q = k = torch.zeros(1, 3, 4)
v = torch.eye(3)[None]  # with these values the output is the table of weights
print(sdpa(q, k, v, causal.float())[0])
reveal("a mask of floats", "a part of it")

# %% [markdown]
# Floats are added to the scores, as in the fourth convention, so the allowed scores rise by 1 and the hidden ones stay as they are. Token 0 gives 0.576 to itself and 0.212 to each token in its future, which is $e / (e + 2)$ and $1 / (e + 2)$. This trap is harder to notice than the first, because the table still looks a little causal. A mask of integers, at least, is rejected.
#
# **Predict.** Third, `scaled_dot_product_attention` has an argument `is_causal=True`, a shortcut for a causal mask. One new query meets five keys in a KV cache. Which of them may it see?

# %%
predict("is_causal, 1 query and 5 keys", options=("all five", "the last", "the first"))

# %%
q, k, v = torch.zeros(1, 1, 4), torch.zeros(1, 5, 4), torch.eye(5)[None]
reveal("is_causal, 1 query and 5 keys", "the first")
sdpa(q, k, v, is_causal=True)[0], sdpa(q, k, v)[0]

# %% [markdown]
# The shortcut lines up the *first* query with the *first* key. With as many queries as keys that makes no difference, but a single new query sees only the oldest key. It should have seen all five, as in the second result, without a mask.
#
# ### The test that was fooled
#
# The test at the beginning of this lesson changes only the last flip. Here is an attention that passes it. Its mask is causal, except that query 0 may also look at key 2:

# %%
hole = torch.ones(5, 5, dtype=torch.bool).tril()
hole[0, 2] = True
x = torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(0))
other = x.clone()
other[:, -1] = 1.0  # another last token
for name, tokens in (("before", x), ("after", other)):
    output = sdpa(tokens, tokens, tokens, hole)
    print(f"{name:6}", output[0, :4, 0])  # the first entries of outputs 0 to 3

# %% [markdown]
# The first four outputs are the same before and after the change, and yet output 0 depends on token 2. A test that can be trusted has to ask about *every* later token and *every* earlier output. It also needs a tolerance, because two ways of computing the same number may differ in the last digits.
#
# ### Exercise 5.6: the leak test
#
# Write a leak test that changes every token and looks at every earlier output. It can miss a leak that is smaller than its tolerance, or one that shows only with particular tokens, so `False` means "none found". This is the test to reach for whenever a model learns suspiciously well, and lesson 11 uses it to find bugs.

# %% hints leaks [markdown]
# An output may depend on its own token and on earlier ones. If you change token t, which outputs are allowed to move, and which are not?
#
# Keep the original tokens: change a copy, one token at a time. What does `clone` do that an assignment does not?
#
# Compare with a tolerance, such as a thousandth, rather than for equality. Only when no change of any token has moved an earlier output can you say `False`.


# %% exercise leaks
def leaks(attention: Callable[[Tensor], Tensor], length: int, d_model: int) -> bool:
    """Say whether some output of an attention depends on a later token.

    attention maps tokens (1, L, E) to outputs (1, L, E). L is length and E is d_model; other sizes may fail. Give it
    entries of about 1, as torch.randn draws them. It may normalize each token, so a change of size alone may not show.
    Returns True if changing some token moves an earlier output by more than rounding does (say, 0.001), else False.
    """
    ### BEGIN SOLUTION
    x = torch.randn(1, length, d_model)
    before = attention(x)
    for t in range(1, length):
        changed = x.clone()
        changed[:, t] = torch.randn(d_model)
        if (attention(changed) - before)[:, :t].abs().max() > 1e-3:
            return True
    return False
    ### END SOLUTION


# %% check leaks

# %% [markdown]
# ## What can go wrong
#
# **A convention taken for granted.** The same table of booleans means opposite things to two functions of one library. Read what `True` means each time, and run a leak test on three tokens after every move to another function.
#
# **Outputs at padding.** Every convention leaves one task to you. Since a padding mask hides *keys* and removes no queries, padding positions still produce outputs, and you have to leave these out of the loss and of everything else.
#
# **A test that asks too little.** A leak test that changes only the last token, or looks at only one output, passes models that leak elsewhere. And a test with one sequence may miss what depends on its tokens.
#
# ## What you learned
#
# This lesson has changed the second step once more. A query now shares out its attention among the keys that it may see.
#
# | | rule | what to remember |
# |---|---|---|
# | mask | boolean, `True` = may look | applied to scores, before softmax, with −∞ |
# | causal mask | keys up to the query's own | ends at the last key; without it, training leaks |
# | padding mask | keys that are tokens | `(B, 1, 1, S)`, the same for all heads and queries |
# | several rules | `&` | `None` forbids nothing |
# | empty row | weights 0, output 0 | finite in value *and* gradient |
# | leak test | change each token in turn | earlier outputs must not move, trained or not |
#
# %%
recap()

# %% [markdown]
# If you expected the model to be right half of the time, you reasoned correctly about the coin, but this model could see the answer. When a model is always right about something that nobody can predict, look for a leak before you celebrate.
#
# ## Questions
#
# **Question R5a** (2 points, graded by a person). A colleague's mask has worked for a year in `nn.MultiheadAttention`. After a move to `scaled_dot_product_attention`, the loss falls much faster than before, and the text that the model writes is nonsense. What happened, why was there no error, and which five-line test would have shown it?

# %% question R5a [markdown] points=2
# In nn.MultiheadAttention True means "hide"; in scaled_dot_product_attention it means "may look". Both accept a boolean tensor of the same shape, so nothing can complain. After the move each token sees its future and not its past (the causal mask is inverted), so the next token is there to be copied: the loss falls, but when the model writes, there is no future to copy from. The fix is ~mask. The leak test shows it: change the last token and compare all earlier outputs. They must not move.
#
# | points | for |
# |---|---|
# | 1 | True means the opposite in the two functions, with why nothing complained (same dtype and shape) or why the loss falls (each token sees its future) |
# | 1 | The leak test, or an equivalent one: change the last token, compare all earlier outputs, and they must not move |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "The new function trains better, and the text is nonsense because the model overfits." | A model that overfits writes text like that of its training. Which tokens can each position see after the move? |
# | 1 | "True means the opposite now, so each token sees its future. I would print the mask." | Right about the cause. The mask itself looks as it did for a year. Test what the model does with it: change the last token and compare all earlier outputs. |
# | 1 | "Something leaks: change the last token and compare the earlier outputs. The new function wants a float mask, and ours was boolean." | The test is right. A boolean mask is accepted by both functions, so its type is not the cause. What does True mean in each? |
# | 0 | "Without `is_causal=True` the function ignores the mask, so nothing was hidden." (sounds right) | It uses `attn_mask` without `is_causal`. Compare what True means in its documentation with what it means in `nn.MultiheadAttention`. |

# %% [markdown]
# **Question R5b** (2 points, graded by a person). Padding could be handled in three places: hide it as keys, set the *outputs* at padding to 0, or leave its positions out of the loss. Which of the three are necessary in a model that stacks several attention layers and has no causal mask, and what does each of the others change?

# %% question R5b [markdown] points=2
# Hiding it as keys: necessary, in every layer. Otherwise real tokens mix padding into their outputs, and how much depends on how long the other sentences in the batch are. Leaving it out of the loss: necessary wherever a loss is computed per position. Otherwise the model is trained to predict padding, and its loss looks better than it is.
#
# Setting the outputs to 0: not necessary. What comes out at a padding position is never seen by real tokens, because it is hidden as a key in the next layer, and it does not count in the loss. Nor would it be enough for an average over positions: the zeros still count in the denominator.
#
# | points | for |
# |---|---|
# | 1 | Hiding padding as keys is necessary, in every layer, with a reason (otherwise real tokens mix it into their outputs) |
# | 1 | Leaving padding out of the loss is necessary and setting its outputs to 0 is not, with a reason for each |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "Set the outputs to 0, because zeros add nothing in the next layer." | A key that is 0 gets the score 0, and $e^0$ is 1, so it still takes weight from the real tokens. |
# | 0 | "Hide it as keys in the first layer. After that nothing of the padding is left." | A padding position has an output too, which is a key of the second layer. It must be hidden in every layer. |
# | 1 | "As keys in every layer, because real tokens would mix it in. In the loss it does no harm, because padding is easy to predict." | Right about the keys. What is easy to predict makes the loss look better than the model is, and it is still trained on. |
# | 0 | "All three, to be safe, because each keeps padding out." (sounds right) | The question asks which are necessary. Where would an output at a padding position be seen, once it is hidden as a key and left out of the loss? |

# %% [markdown]
# ## Further reading
#
# - PyTorch's documentation of [scaled_dot_product_attention](https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html): read what it says about `attn_mask` and `is_causal` with this lesson open beside it.
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.3: which mask a translation model needs where.
#
# **Next:** [lesson 6, Multi-head attention](../06_multi_head_attention/06_multi_head_attention.ipynb). One attention can look in one place at a time. What if you need two? Back to [lesson 4](../04_softmax/04_softmax.ipynb).
