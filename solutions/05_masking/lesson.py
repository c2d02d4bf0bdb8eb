# %% [markdown]
# # 5. Masking
#
# After this lesson you can hide padding and the future from a query, test for leaks, and read the four conventions in which masks are written. You need lesson 4. About 90 minutes.
#
# ## The idea
#
# A fair coin is flipped eight times. A small model reads the flips and says, at each one, what the *next* will be.

# %% setup
import math
from collections.abc import Callable

import torch
import wrong
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
# Each row is one sequence. The model is the attention of lessons 2 and 3, with two tables in front of it and a matrix behind it. The tables turn a flip and its position into a vector; the matrix turns the output into two logits, one for each side of the coin. PyTorch's own `scaled_dot_product_attention` does the middle part.


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
# It trains for 200 steps, each on 64 fresh sequences. Then we count how often it is right on 2000 more sequences, freshly flipped. The last flip has no next one, so seven guesses per sequence count.


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
# It predicts a fair coin, every time, on fresh flips. Do not bet on it yet. Let it guess as it would have to at the table, where the later flips have not happened. Show it the first five and ask for the sixth:

# %%
guess = model(x[:, :5])[:, -1].argmax(dim=-1)
print(f"right, with five flips on the table: {(guess == x[:, 5]).double().mean():.1f}")

# %% [markdown]
# Half, like anybody else. In training the model could see the whole sequence, so the answer to each question was in its input, one place further on. The attention weights, averaged over the 2000 sequences, show what the model learned:

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
# It copied its neighbor. This is what a *leak* looks like: perfect in training, worthless in use, and no error anywhere. An *autoregressive* model, one that writes text token by token, is trained in exactly this way, on sentences whose ends are known, so it must be kept from looking ahead.
#
# You can test for a leak without training. Change the last flip. The outputs *before* it must not move:


# %%
def moved(model: nn.Module, mask: Tensor | None) -> Tensor:
    one = flips(1, seed=5)
    other = one.clone()
    other[0, -1] = 1 - one[0, -1]
    return (model(one, mask) != model(other, mask)).any(dim=-1)[0]  # (L,)


moved(Guesser(), mask=None)

# %% [markdown]
# Everything moved, in a model that has not even been trained. That is the *leak test*, in its simplest form. Only the last output was allowed to move. It can be fooled. Exercise 5.6 shows how, and asks you for a better one.
#
# ## By hand
#
# The scores of one query are 0, ln 2 and ln 3, and its weights $\tfrac16, \tfrac13, \tfrac12$. The third key is to be hidden from it. Three ways suggest themselves. The first: set the key's weight to 0.

# %%
scores = torch.tensor([0.0, math.log(2), math.log(3)])
may_look = torch.tensor([True, True, False])
scores.softmax(dim=-1) * may_look

# %% [markdown]
# The hidden key gets nothing, and the rest sum to a half. Its exponential was in the sum that the others were divided by, so the *sizes* of the remaining weights tell you how large it was. It shaped the result without being seen. (Dividing the row by its new sum repairs this on paper. On a computer it gives 0/0 when the hidden score is so large that the other weights round to 0.)
#
# The second: set its score to 0, before softmax. **Predict** the weight of the hidden key.

# %%
predict("hidden by a score of 0", options=("0", "1/6", "1/4"))

# %%
reveal("hidden by a score of 0", "1/4")
scores.masked_fill(~may_look, 0.0).softmax(dim=-1)

# %% [markdown]
# A quarter. A score of 0 is a score like any other: $e^0 = 1$, so the exponentials are 1, 2 and 1. (`masked_fill` writes a number wherever its mask is `True`; `~` inverts a boolean mask.)
#
# What score has the exponential 0? On paper, no finite one. So take −∞. What weights do the scores 0, ln 2 and −∞ give, and what output, if the values are [6, 0], [0, 6] and [12, 12]?

# %%
weights = scores.masked_fill(~may_look, -torch.inf).softmax(dim=-1)
weights, weights @ torch.tensor([[6.0, 0], [0, 6], [12, 12]])

# %% [markdown]
# One third and two thirds of the first two values: [2, 4]. It is as if the third key did not exist, which is what hiding means. Its own score can be anything; it no longer matters.
#
# ## In PyTorch
#
# A *mask* is a boolean table with a row per query and a column per key, and in these lessons **`True` means: this query may look at this key**. `scaled_dot_product_attention` reads masks this way too. To rule out looking ahead, query i may look at keys 0 to i. That makes a triangle, called a *causal mask*.

# %%
causal = torch.ones(3, 3, dtype=torch.bool).tril()
causal

# %% [markdown]
# Three tokens, few enough to follow. Queries and keys are the same here, and the scores are divided by $\sqrt2$ before anything is hidden.

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
# Token 0 can see only itself, so its output is its own value, [1, 2, 3]. Token 1 mixes two values. The last row is the same with and without the mask, because the last token may see everything.
#
# Now train the coin model again, with the mask, and put it through both tests.

# %%
mask = torch.ones(8, 8, dtype=torch.bool).tril()
honest = trained(mask)
accuracy = (honest(x, mask)[:, :-1].argmax(dim=-1) == x[:, 1:]).double().mean()
print(f"right: {accuracy:.1f}")
moved(honest, mask)

# %% [markdown]
# Half, as it should be. And in the leak test only the last output moved, the one at the changed flip itself.
#
# When a model writes, it keeps the keys and values of all earlier tokens in a *KV cache* and computes queries only for the new ones. Then there are fewer queries than keys, and the *last* query belongs to the *last* key. The staircase then ends in the bottom right corner:

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
# Make the mask for any number of queries and keys. `device` is the device to create the tensor on; PyTorch's functions that create tensors take an argument of that name.

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
# A batch is a rectangle, but its sentences differ in length. The short ones are extended with *padding*, a symbol that means nothing and that no query may look at.
#
# A table that says which positions are tokens has the shape `(B, S)`, one row per *sentence*. Scores have a row per *query*, and with heads (lesson 6) their shape is `(B, H, L, S)`. PyTorch aligns shapes from the right, so a `(B, S)` table would be read as `(L, S)`, one row per query. If B happens to equal L, there is not even an error:

# %%
two_by_two = torch.tensor([[True, False], [True, True]])  # lengths 1 and 2
scores = torch.zeros(2, 1, 2, 2)  # (B, H, L, S)
as_it_is = scores.masked_fill(~two_by_two, -torch.inf)
with_axes = scores.masked_fill(~two_by_two[:, None, None], -torch.inf)
as_it_is[0, 0], with_axes[0, 0]

# %% [markdown]
# Sentence 0 has one real token, so its column 1 must be hidden from *both* queries. In the first table, query 1 still sees it. For the second, the mask has the shape `(B, 1, 1, S)`: one row of keys per sentence, the same for all heads and all queries.
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
# Often two rules hold at once: no future *and* no padding. Say it as a sentence and you have the operator: a query may look at a key if the first rule allows it **and** the second does.

# %%
causal = torch.ones(5, 5, dtype=torch.bool).tril()
padding = torch.tensor([[True, True, True, False, False]]).expand(5, 5)
window = torch.ones(5, 5, dtype=torch.bool).triu(
    -1
)  # the token before, and all later ones
plot.masks(
    [
        ("causal", causal),
        ("padding", padding),
        ("causal and padding", causal & padding),
        ("causal and near", causal & window),
    ],
    "Rules are combined with &",
)

# %% [markdown]
# The last one, a *sliding window*, lets each query see itself and the token before it. In the third mask, queries 3 and 4 are padding, and what they get is ignored later. All other rows are those of the causal mask, because padding at the end is in the future of every token. The padding rule makes a difference only where padding comes first, or where there is no causal mask.
#
# ### Exercise 5.3: combine masks
#
# Combine any number of masks. `None` means "no rule", and an axis of size 1 means "the same for all".

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
# Combine rules, and sooner or later a row has no `True` left: an empty sentence in a batch is enough. Its scores are all −∞. **Predict** what softmax makes of them.

# %%
predict("softmax of -inf, -inf, -inf", options=("0, 0, 0", "1/3, 1/3, 1/3", "nan"))

# %%
nothing = torch.full((3,), -torch.inf)
reveal("softmax of -inf, -inf, -inf", "nan")
nothing.softmax(dim=-1), torch.full((3,), -1_000_000_000.0).softmax(dim=-1)

# %% [markdown]
# `nan`: every exponential is 0, and 0/0 is not a number. One such row spoils the loss of the whole batch. Here are the three tokens from above, with a button for each query and key. Hide the keys of query 1 one by one, and see where its weight goes:

# %%
three = torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 1, 2]]) / math.sqrt(2)
plot.click_mask(
    lambda mask: three.masked_fill(~mask, -torch.inf).softmax(dim=-1),
    ["token 0", "token 1", "token 2"],
)

# %% [markdown]
# Older code writes −1,000,000,000 instead of −∞, which gave the second result of the prediction. No `nan`, but something worse: the query looks at all the *hidden* keys equally. Padding enters the output, and nothing complains. (In float16, where the largest number is 65504, `masked_fill` rejects a billion.)
#
# The honest answer is that with nothing to look at, nothing gets weight, and the output is 0. In the version of PyTorch that this course uses, its function agrees (earlier ones returned `nan`):

# %%
q, k, v = (torch.ones(1, 3, 4) for _ in range(3))
mask = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
functional.scaled_dot_product_attention(q, k, v, mask)

# %% [markdown]
# Query 1 gets zeros. The tempting fix is to let softmax produce its `nan` and then replace it by 0. Does the gradient survive that? Try it on an empty row, hidden in two ways: first −∞ is *added* to the scores, then it is *written over* them.

# %%
everything = torch.ones(3, dtype=torch.bool)
for hide in (lambda s: s - torch.inf, lambda s: s.masked_fill(everything, -torch.inf)):
    scores = torch.zeros(3, requires_grad=True)
    weights = hide(scores).softmax(dim=-1).nan_to_num(0.0)
    weights[0].backward()
    print(weights.detach(), scores.grad)

# %% [markdown]
# The weights are right both times. The first gradient is `nan`, and one optimizer step later the model is `nan` as well. On its way back, a gradient passes first through softmax, where it meets the `nan` that was replaced too late, and then through the step that hid the scores. An addition passes on whatever arrives. `masked_fill` passes on *nothing* to the entries that it overwrote: their gradient is exactly 0.
#
# So hide scores with `masked_fill`. The gradient is then safe, and the `nan` in the weights is all that is left to remove.
#
# ### Exercise 5.4: masked softmax
#
# Write a softmax in which hidden keys get exactly 0 and the visible ones share 1. A row with no visible keys is all zeros. Gradients are finite everywhere. You may use PyTorch's softmax, but its ready-made attention is not allowed here: the steps are the exercise.

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
# ### Exercise 5.5: scaled dot-product attention
#
# Put everything so far into one function: scores, scale, mask, softmax, values. It is PyTorch's function of the same name, except that it returns the weights as well. You may use what you wrote in exercise 5.4. PyTorch's own attention is not allowed here: the steps are the exercise.

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
    True where a query may look. scale multiplies the scores and defaults to 1/sqrt(D).
    Returns output (..., L, D_v) and weights (..., L, S). A query with no visible keys gets zeros in both.
    """
    ### BEGIN SOLUTION
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    weights = masked_softmax(scale * query @ key.mT, mask)
    return weights @ value, weights
    ### END SOLUTION


# %% check scaled_dot_product_attention

# %% [markdown]
# ### Exercise 5.6: the leak test
#
# The test at the start of this lesson changed the last flip and asked which earlier outputs moved. Here is an attention that passes it. Its mask is causal, except that query 0 may also look at key 2:

# %%
hole = torch.ones(5, 5, dtype=torch.bool).tril()
hole[0, 2] = True
x = torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(0))
other = x.clone()
other[:, -1] = 1.0  # another last token
x = torch.cat([x, other])
functional.scaled_dot_product_attention(x, x, x, hole)[:, :4, 0]

# %% [markdown]
# The first four outputs (their first entries are shown) are the same both times. Yet output 0 depends on token 2, because the mask lets query 0 look there. A test that can be trusted asks about *every* later token and *every* earlier output. It also has to forgive: two ways of computing the same number may differ in the last digits, and that is not a leak.

# %% hints leaks [markdown]
# An output may depend on its own token and on earlier ones. If you change token t, which outputs are allowed to move, and which are not?
#
# Keep the original tokens: change a copy, one token at a time. What does `clone` do that an assignment does not?
#
# Compare with a tolerance, such as a thousandth, rather than for equality. Only when no change of any token has moved an earlier output can you say `False`.


# %% exercise leaks
def leaks(attention: Callable[[Tensor], Tensor], length: int, d_model: int) -> bool:
    """Say whether some output of an attention depends on a later token.

    attention maps tokens (1, L, E) to outputs (1, L, E). L is length and E is d_model; other sizes may fail.
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
# ### The test that accepts too much
#
# Suppose you had checked your function as most people do, on one small example, against the right numbers. How many *wrong* functions would have passed? `wrong.py` beside this notebook has 21, each with one fault: six in the scale, five in the softmax, eight in the mask, and two in the inputs. A wrong function *survives* an example if it gives the right output there; one that stops with an error does not. (Lesson 11 takes this up again.)
#
# Here are five examples, from the one that everybody writes first to one with all the trimmings. **Predict** for the first, a sentence of four tokens whose queries, keys and values are all the same, with no mask: how many of the 21 does it let through?

# %%
predict("survivors of the first example", options=("none", "about 5", "about 12"))

# %%
torch.manual_seed(0)
same = torch.randn(1, 4, 4)
t, v3 = torch.tensor([[[1.0, 0], [0, 1], [1, 1]]]), torch.arange(1.0, 10).view(1, 3, 3)
q, k, v = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 6)
holes = torch.rand(2, 1, 5, 7) < 0.6
holes[..., 0] = True  # no row is empty
empty = holes.clone()
empty[0, 0, 2] = False
for example, inputs in {
    "a sentence with itself, L = D": (same, same, same),
    "the three tokens from above": (t, t, v3),
    "every size different": (q, k, v),
    "the same, with a mask": (q, k, v, holes),
    "the same, with an empty row": (q, k, v, empty),
}.items():
    alive = wrong.unnoticed(*inputs)
    print(f"{len(alive):2} of 21 survive: {example}", alive if len(alive) < 5 else "")
reveal("survivors of the first example", "about 12")

# %% [markdown]
# The first example lets 12 of the 21 through. It has no mask, so it cannot see a fault in the mask. Its queries, keys and values are equal, so it cannot see them swapped. And L = D = 4, so it cannot see one size used for the other. With a different size everywhere, only the mask faults are left, all eight. A mask with holes leaves two of those, and a single empty row catches them.
#
# ### Four conventions
#
# The same rule is written in four ways, and each library is sure of its own:
#
# | | where | hidden is | from ours |
# |---|---|---|---|
# | boolean, may look | these lessons, `scaled_dot_product_attention` | `False` | as it is |
# | boolean, hide | `nn.MultiheadAttention`, much older code | `True` | `~mask` |
# | 0 or 1, tested with `mask == 0` | older tutorials | 0 | `mask.int()` |
# | added to the scores | also accepted by both of PyTorch's | −∞ | zeros, filled with −∞ where `~mask` |
#
# A mask in the wrong convention rarely raises an error. Here is our causal mask, passed to PyTorch's module as it is, and then inverted:

# %%
torch.manual_seed(0)
module = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
tokens, causal = torch.randn(1, 3, 4), torch.ones(3, 3, dtype=torch.bool).tril()
for mask in (causal, ~causal):
    print(module(tokens, tokens, tokens, attn_mask=mask)[1][0].detach() > 0)

# %% [markdown]
# The first table is the opposite of causal: token 0 looks at tokens 1 and 2, and the last token, with nothing left to see, at nothing (its weights are `nan`, and `nan > 0` is `False`). The second table is right.
#
# The most treacherous mistake is a mask of *floats*, 0 and 1, passed to `scaled_dot_product_attention`. Floats are read in the fourth convention and added: allowed scores rise by 1, hidden ones stay as they are. A mask of integers is rejected:

# %%
sdpa = functional.scaled_dot_product_attention
q = k = torch.zeros(1, 3, 4)
v = torch.eye(3)[None]  # with these values the output is the table of weights
print(sdpa(q, k, v, causal.float())[0])
try:
    sdpa(q, k, v, causal.int())
except RuntimeError as error:
    print(str(error)[:44])

# %% [markdown]
# Token 0 gives 0.576 to itself and 0.212 to each token in its future: $e / (e + 2)$ and $1 / (e + 2)$. Integers hold one more trap. `~` flips their bits, so `~torch.tensor([1, 0])` is [−2, −1], and both count as true.
#
# **`is_causal=True` starts at the top left.** This argument of `scaled_dot_product_attention` is a shortcut for a causal mask, but it lines up the *first* query with the *first* key. With as many queries as keys there is no difference. With one new query and five keys in the KV cache, it lets the query see only the *first* key:

# %%
q, k, v = torch.zeros(1, 1, 4), torch.zeros(1, 5, 4), torch.eye(5)[None]
sdpa(q, k, v, is_causal=True)[0], sdpa(q, k, v)[0]

# %% [markdown]
# **A mask decides what is seen, not who sees.** Padding masks hide padding as *keys*. The queries at padding positions still produce outputs, and it is up to you to leave those out of the loss and of everything else.

# %%
recap()

# %% [markdown]
# ## What you learned
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
# Were you right about the coin? A perfect score on something that cannot be predicted is not success: it is the first sign of a leak.
#
# ## Questions
#
# **Question R5a** (2 points, graded by a person). A colleague's mask has worked for a year in `nn.MultiheadAttention`. After a move to `scaled_dot_product_attention`, the loss falls much faster than before, and the text that the model writes is nonsense. What happened, why was there no error, and which five-line test would have shown it?

# %% question R5a [markdown] points=2
# In nn.MultiheadAttention True means "hide"; in scaled_dot_product_attention it means "may look". Both accept a boolean tensor of the same shape, so nothing can complain. After the move each token sees its future and not its past (the causal mask is inverted), so the next token is there to be copied: the loss falls, but when the model writes, there is no future to copy from. The fix is ~mask. The leak test shows it: change the last token and compare all earlier outputs. They must not move.
#
# | points | rubric |
# |---|---|
# | 2 | The opposite meaning of True, why that is a leak (or why no error), and the leak test or an equivalent one |
# | 1 | The opposite meaning, without a test or without explaining the falling loss |
# | 0 | Neither, or "the mask was wrong" without saying how |

# %% [markdown]
# **Question R5b** (2 points, graded by a person). Padding could be handled in three places: hide it as keys, set the *outputs* at padding to 0, or leave its positions out of the loss. Which of the three are necessary in a model that stacks several attention layers and has no causal mask, and what does each of the others change?

# %% question R5b [markdown] points=2
# Hiding it as keys: necessary, in every layer. Otherwise real tokens mix padding into their outputs, and how much depends on how long the other sentences in the batch are. Leaving it out of the loss: necessary wherever a loss is computed per position. Otherwise the model is trained to predict padding, and its loss looks better than it is.
#
# Setting the outputs to 0: not necessary. What comes out at a padding position is never seen by real tokens, because it is hidden as a key in the next layer, and it does not count in the loss. Nor would it be enough for an average over positions: the zeros still count in the denominator.
#
# | points | rubric |
# |---|---|
# | 2 | Keys and loss, with a reason for each, and why the outputs need nothing |
# | 1 | Keys with a reason, but one of the other two wrong or without a reason |
# | 0 | No reason, or outputs instead of keys |

# %% [markdown]
# ## Further reading
#
# - PyTorch's documentation of [scaled_dot_product_attention](https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html): read what it says about `attn_mask` and `is_causal` with this lesson open beside it.
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.2.3: which mask a translation model needs where.
#
# **Next:** [lesson 6, Multi-head attention](../06_multi_head_attention/06_multi_head_attention.ipynb). One attention can look in one place at a time. What if you need two? Back to [lesson 4](../04_softmax/04_softmax.ipynb).
