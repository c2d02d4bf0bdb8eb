# %% [markdown]
# # 4. Softmax
#
# After this lesson you can compute softmax so that it never overflows, move it from picking to averaging with a single number, and measure where it lies between the two. You can also run attention over keys that arrive in pieces. You need lesson 3. About 110 minutes, in two sittings, of which the first ends before "In pieces".
#
# **From memory.** Which weights do the scores 0, ln 2 and ln 3 give? By which number does attention divide its scores, and what would go wrong without it?
#
# <details><summary>Answers</summary>
#
# 1/6, 1/3 and 1/2. By $\sqrt{d_k}$, the root of the dimension of queries and keys. Without it the scores of long vectors lie so far apart that one key gets nearly all of the weight.
#
# </details>
#
# ## The idea
#
# So far we have used softmax as a recipe: take `exp` of each score, then divide by the sum. Let us follow this recipe exactly with three scores that are large but close together:

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
scores = torch.tensor([1000.0, 1001.0, 1002.0])
scores.exp() / scores.exp().sum(), scores.softmax(dim=-1)

# %% [markdown]
# All three results are `nan`, "not a number", whereas PyTorch's own softmax gives 0.090, 0.245 and 0.665. The formula is right on paper and fails on a computer. What does PyTorch do that we did not?
#
# The trouble is `exp`, which grows so fast that even a moderate score gives a number too large for the format, and then the result is infinity. PyTorch's default format is float32, and float16 has half as many bits:

# %%
for dtype, below, above in ((torch.float16, 11.0, 11.2), (torch.float32, 88.7, 88.8)):
    print(dtype, torch.tensor([below, above], dtype=dtype).exp().isinf())

# %% [markdown]
# Here `True` means infinity, so in float32 `exp` overflows between 88.7 and 88.8, and in float16 between 11.0 and 11.2. Infinity divided by infinity is `nan`, and any finite number divided by infinity is 0. A single `nan` in a table of weights makes the loss `nan`, and one step later every parameter. That can be the end of a training run that has taken weeks.
#
# ## By hand
#
# The three scores that run through these lessons, 0, ln 2 and ln 3, have the exponentials 1, 2 and 3 and the weights $\tfrac16, \tfrac13, \tfrac12$. Subtract ln 3 from each score, on paper. The exponentials become $\tfrac13, \tfrac23$ and 1, and their sum is 2. What are the weights now?

# %%
scores = torch.tensor([0.0, math.log(2), math.log(3)])
scores.softmax(dim=-1), (scores - math.log(3)).softmax(dim=-1)

# %% [markdown]
# The weights are the same, because every exponential was divided by 3 and so was their sum. **Predict.** Does the same hold if you add 100 to every score? And what happens if you multiply every score by 10?

# %%
predict(
    "adding 100",
    options=("nothing changes", "the largest gets more", "the weights even out"),
)
predict(
    "multiplying by 10",
    options=("nothing changes", "the largest gets more", "the weights even out"),
)

# %%
reveal("adding 100", "nothing changes")
reveal("multiplying by 10", "the largest gets more")
(scores + 100).softmax(dim=-1), (10 * scores).softmax(dim=-1)

# %% [markdown]
# Softmax depends only on the differences between scores. A shift leaves these differences as they are, whereas a factor above 1 makes them larger and one between 0 and 1 makes them smaller. Here the factor has raised the weight of the third key from a half to 0.983.
#
# Why does softmax take exponentials and not, say, squares? The scores 1 and 2 have the squares 1 and 4 and so the weights 0.2 and 0.8. Add 1 to both scores, and the squares are 4 and 9 and the weights 0.31 and 0.69. So with squares a shift changes the weights. With exponentials the ratio of two weights is $e^{s_i} / e^{s_j} = e^{s_i - s_j}$, and the shift cancels.
#
# ## In PyTorch
#
# Since a shift leaves the weights unchanged, we can subtract something that makes every exponential harmless. If the largest score becomes 0, no exponential exceeds 1. At least one of the exponentials *is* 1, so the sum cannot be 0 either.
#
# But the largest of which scores? A first attempt may subtract the largest score in the whole table:

# %%
table = torch.tensor([[0.0, 1.0], [-2000.0, -2001.0]])
shifted = (table - table.max()).exp()
shifted / shifted.sum(dim=-1, keepdim=True)

# %% [markdown]
# The first row is right, but in the second all exponentials are $e^{-2001}$ or less. A computer rounds them to 0, and 0 divided by 0 is `nan` again. So each row needs its own largest score.
#
# ### Exercise 4.1: a softmax that does not overflow
#
# Write softmax along any one axis, for scores of any size. Some scores may be −∞, which will mean "not allowed" in the next lesson, but each row has at least one finite score. Use `exp` and not PyTorch's `softmax`, `logsumexp` or `logaddexp`, because this exercise is about what happens inside them.

# %% hints stable_softmax [markdown]
# Which two steps of the recipe work along an axis? What shape must their results have so that they can be combined with the table again, whatever the axis is?
#
# `amax` takes a `dim` and a `keepdim`. Plain `max` with a `dim` returns two things, the maxima and their indices, and you need only the maxima.
#
# Shift each row by its own largest score, take the exponentials once, and divide by their sum along the same axis. The caller still needs the original scores, so make new tensors.


# %% exercise stable_softmax
def stable_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Softmax along one axis, without overflow.

    x has any shape (...); along dim at least one entry is finite, others may be -inf.
    Returns weights of the same shape and dtype, which sum to 1 along dim, and are 0 where x is -inf. x is not changed.
    """
    ### BEGIN SOLUTION
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
    ### END SOLUTION


# %% check stable_softmax

# %% [markdown]
# ### One knob
#
# A factor on the scores changes how concentrated the weights are. It is usually written as a division by a *temperature* $T$, which you have met in lesson 1.

# %%
scores = torch.tensor([0.0, 1.0, 2.0])
torch.stack([(scores / t).softmax(dim=-1) for t in (0.25, 1.0, 4.0)])

# %% [markdown]
# At a temperature of a quarter, the largest score takes 0.98 of the weight, and at 4 only 0.42. As $T$ goes to 0, attention picks a single value, and as $T$ grows, it averages them all.
#
# You have seen this knob under another name. A query that is twice as long doubles all of its scores, as a temperature of a half does. So a model that learns its queries also learns how sharp each of them is. Where queries and keys are divided by their norms (*QK-norm*, lesson 3), a temperature takes over this task.

# %%
temperatures = [2.0**k for k in range(-4, 6)]
lines = {
    f"score {j}": [float((scores / t).softmax(-1)[j]) for t in temperatures]
    for j in (2, 1, 0)
}
plot.curves(
    temperatures,
    lines,
    "Every weight approaches 1/3 as the temperature rises",
    xlabel="temperature",
    ylabel="weight",
    log=True,
)

# %% [markdown]
# No two lines cross, because the temperature never changes which key leads. You can move it yourself here.

# %%
plot.slide(
    lambda t: (scores / t).softmax(dim=-1),
    ["score 0", "score 1", "score 2"],
    name="temperature",
    low=-4,
    high=5,
    start=0,
    step=0.25,
    doubling=True,
    shown=(0.25, 1, 4),
)

# %% [markdown]
# A program that wants only the winner may ask for a temperature of 0.0001. **Predict.** What does PyTorch's softmax return for the scores 20, 19 and 7 at this temperature, in float16, whose largest number is 65504?

# %%
predict("temperature 0.0001 in float16", options=("1, 0, 0", "1/3, 1/3, 1/3", "nan"))

# %%
reveal("temperature 0.0001 in float16", "nan")
half = torch.tensor([20.0, 19.0, 7.0], dtype=torch.float16)
half / 0.0001, (half / 0.0001).softmax(dim=-1)

# %% [markdown]
# The quotients would be 200,000, 190,000 and 70,000. All of them are too large, so they became ∞, and the softmax of three infinities is `nan`. The right answer would have been harmless: one weight of 1 and two of 0.
#
# ### Exercise 4.2: temperature
#
# Write softmax with a temperature. It has to work in every precision, also for the row above in float16. For a temperature of 0, which would divide by zero, and for a negative one, which would reverse the order of the keys, raise a `ValueError` whose message names the temperature. You may use PyTorch's softmax. Where a program offers "temperature 0", it picks the largest score without any softmax.

# %% hints temperature_softmax [markdown]
# A high temperature should even out the weights. If T is large, should the differences between scores become larger or smaller before softmax?
#
# Check the temperature first, and `raise` the error with a message of your own. Which temperatures are rejected: only those below zero, or zero as well?
#
# PyTorch's softmax shifts its input, but here the damage is done before softmax sees it. Which scores can a small temperature not make too large? Shift each row so that it has only such scores, then divide.


# %% exercise temperature_softmax
def temperature_softmax(x: Tensor, temperature: float, dim: int = -1) -> Tensor:
    """Softmax of the scores divided by a temperature.

    x has any shape (...). Returns weights of the same shape and dtype that sum to 1 along dim, even where
    x / temperature is too large for x's dtype. Raises ValueError for a temperature of 0 or less.
    """
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"the temperature must be above 0, not {temperature}")
    shifted = x - x.amax(dim=dim, keepdim=True)
    return (shifted / temperature).softmax(dim=dim)
    ### END SOLUTION


# %% check temperature_softmax

# %% [markdown]
# ### How concentrated is a row?
#
# How far is a row from picking, and how far from averaging? The largest weight alone cannot tell [0.5, 0.5, 0] from [0.5, 0.25, 0.25], although the second row is more spread out. A better measure starts from −ln p of lesson 0, which is 0 for p = 1 and large for a small p. The mean of −ln w over all keys, in which each key counts by its weight w, is called the *entropy*
#
# $$H(w) = -\sum_i w_i \ln w_i .$$
#
# The entropy is 0 when one weight is 1, and it is $\ln n$ when all n weights are equal. With the natural logarithm its unit is called the *nat*.

# %%
w = torch.tensor([[0.5, 0.5 - 1e-9, 1e-9], [0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]])
-(w * w.log()).sum(dim=-1), torch.tensor([2.0, 3.0]).log()

# %% [markdown]
# The first row, spread evenly over two keys, has an entropy of 0.693, which is ln 2. The last row, spread evenly over three, has 1.099, which is ln 3, and the second row lies in between. You can read $e^H$ as the effective number of keys, which is 2, 2.8 and 3 here.
#
# The first row has a 1e-9 where it should have a 0, because the formula fails on an exact 0:

# %%
w = torch.tensor([0.5, 0.5, 0.0])
w.log(), w * w.log()

# %% [markdown]
# The logarithm of 0 is −∞, and 0 times −∞ is `nan`. On paper $w \ln w$ goes to 0 as $w$ does, so a weight of 0 should contribute nothing. Exact zeros do occur: tiny weights round to 0, and the next lesson will produce zeros on purpose.
#
# Replacing the `nan` in the result would fix the value. **Predict.** What would the gradient of the last weight be?

# %%
predict("gradient once nan is replaced", options=("0", "infinite", "nan"))

# %%
reveal("gradient once nan is replaced", "nan")
w = torch.tensor([0.5, 0.5, 0.0], requires_grad=True)
entropy = -(w * w.log()).nan_to_num(0.0).sum()
entropy.backward()
entropy.detach(), w.grad

# %% [markdown]
# The entropy is right, ln 2, but the last gradient is `nan`. On the way back, `nan_to_num` passes a gradient of 0 to the product, the product multiplies it by ln 0, and 0 times −∞ is `nan` again. The true slope of $-w \ln w$ at 0 is infinite, so any finite gradient there is a choice, but a finite one lets training go on.
#
# ### Exercise 4.3: entropy
#
# Compute the entropy of each row. Weights of exactly 0 contribute nothing, and the *gradient* must be finite at these weights too, because someone may want to add the entropy to a loss.

# %% hints attention_entropy [markdown]
# Which entries cause trouble, and what would their logarithm have to be for the product to come out as 0? Any finite number will do.
#
# Adding a small number such as 1e-6 to all weights avoids the −∞, but then a row like [1, 0, 0] no longer has an entropy of exactly 0. Fixing the product, once it is computed, fixes the value but not the gradient.
#
# `torch.where` can replace the zeros *before* the logarithm sees them. Replace them with something whose logarithm is harmless, and multiply by the true weights.


# %% exercise attention_entropy
def attention_entropy(weights: Tensor) -> Tensor:
    """Return the entropy of each row of attention weights, in nats.

    weights is (..., n); each row sums to 1, and entries may be exactly 0. Returns (...).
    The entropy is exactly 0 where one weight is 1. Value and gradient are finite; where a weight is 0, any finite
    gradient will do.
    """
    ### BEGIN SOLUTION
    safe = torch.where(weights > 0, weights, 1.0)
    return -(weights * safe.log()).sum(dim=-1)
    ### END SOLUTION


# %% check attention_entropy

# %% [markdown]
# ### In pieces
#
# When a large language model reads a text of 100,000 tokens, each of its 100,000 queries has 100,000 scores, which makes 10 billion for every head. That is too many to keep. But softmax needs the largest score and the sum of all exponentials before it can produce the first weight. Can attention be computed while the keys arrive in pieces, without keeping any of their scores?
#
# It can, because only two numbers and a vector have to be remembered:
#
# - the largest score so far, $m$,
# - the sum of the exponentials $e^{s_i - m}$ so far,
# - the *mixture*, in which the values so far are added up, each multiplied by its exponential.
#
# When a larger score arrives, the sum and the mixture have been computed with the wrong $m$. But a shift of the scores is only a factor on their exponentials. Since $e^{s - m_\text{new}} = e^{s - m_\text{old}} \cdot e^{m_\text{old} - m_\text{new}}$, it suffices to multiply the sum and the mixture by $e^{m_\text{old} - m_\text{new}}$.
#
# Do this on paper, with our scores in two pieces, {0} and {ln 2, ln 3}, and with the values [6, 0], [0, 6] and [12, 12]:
#
# | | largest $m$ | sum | mixture |
# |---|---|---|---|
# | first piece | 0 | $1$ | $1\,[6, 0]$ |
# | the old, rescaled: times $\tfrac13$ | 0 → ln 3 | $\tfrac13$ | $[2, 0]$ |
# | with the second piece | ln 3 | $\tfrac13 + \tfrac23 + 1 = 2$ | $[2, 0] + \tfrac23[0, 6] + 1\,[12, 12] = [14, 16]$ |
#
# The factor in the second row is $e^{0 - \ln 3} = \tfrac13$. The last step is to divide, and [14, 16] / 2 is [7, 8], the output that you know from lesson 2.
#
# Would it not be simpler to run attention on each piece by itself and to average the two outputs? **Predict.** Where does this average lie?

# %%
predict(
    "the average of two pieces",
    options=("at [7, 8]", "too near the first piece", "too near the second piece"),
)

# %%
reveal("the average of two pieces", "too near the first piece")
scores = torch.tensor([0.0, math.log(2), math.log(3)])
values = torch.tensor([[6.0, 0.0], [0.0, 6.0], [12.0, 12.0]])
pieces = [(scores[:1], values[:1]), (scores[1:], values[1:])]
(
    torch.stack([s.softmax(dim=-1) @ v for s, v in pieces]).mean(dim=0),
    scores.softmax(dim=-1) @ values,
)

# %% [markdown]
# The average is [6.6, 4.8], and the right output is [7, 8]. The first piece holds one key, whose weight should be a sixth, and in the average its value [6, 0] counts half. Each piece has shared out a whole unit of attention, although there is only one unit for all of them together. A piece's part of that unit is proportional to its sum of exponentials, which the average ignores.
#
# ### Exercise 4.4: attention in one pass
#
# Mix the values in one pass over pieces of `chunk` keys each, of which the last may be shorter. Subtract the largest score so far before every `exp`, so that nothing overflows. PyTorch's softmax, `logsumexp`, `logaddexp` and ready-made attention are not allowed here, because the single pass is the exercise.

# %% hints streaming_attend [markdown]
# Which three quantities does the table above keep track of, and what are they before the first piece? For the largest score so far, which number is smaller than every score?
#
# `split` cuts a tensor into pieces and leaves the last one shorter if need be. For each piece: find the largest score so far, shrink what you remember, and add the piece's share to the sum and to the mixture.
#
# The factor that shrinks the old sum shrinks the old mixture as well, because both were measured against the same score. Divide once, at the end.


# %% exercise streaming_attend
def streaming_attend(scores: Tensor, values: Tensor, chunk: int) -> Tensor:
    """Attention of one query over keys that arrive in pieces.

    scores is (n,), values is (n, D_v); each piece has chunk keys, the last may have fewer.
    All scores are finite. Returns (D_v,), the same as softmax(scores) @ values, in one pass that takes exp of one
    piece at a time, without PyTorch's softmax or logsumexp.
    """
    ### BEGIN SOLUTION
    largest = scores.new_tensor(-torch.inf)
    total, mixed = scores.new_zeros(()), values.new_zeros(values.size(-1))
    for s, v in zip(scores.split(chunk), values.split(chunk), strict=True):
        new_largest = torch.maximum(largest, s.amax())
        shrink, exponentials = (largest - new_largest).exp(), (s - new_largest).exp()
        total = total * shrink + exponentials.sum()
        mixed = mixed * shrink + exponentials @ v
        largest = new_largest
    return mixed / total
    ### END SOLUTION


# %% check streaming_attend

# %% [markdown]
# ### What the loop is good for
#
# The way in which your loop updates the largest score and the sum is called *online softmax*. For many queries at once, and laid out for a GPU, it is the core of FlashAttention, with which most large models compute their attention today. Lesson 10 comes back to it.
#
# ## What can go wrong
#
# **An overflow before softmax.** A stable softmax does not help if the scores are infinite before they reach it. A dot product of large entries can exceed float16's largest number, too:

# %%
q = torch.full((64,), 40.0, dtype=torch.float16)
q @ q, (q / 8) @ q

# %% [markdown]
# $64 \cdot 40 \cdot 40 = 102400$ is too large, and so the score is `inf`. Dividing the *query* by $\sqrt{64} = 8$ before the product gives 12800.
#
# **Weights read as probabilities.** The weights sum to 1, as probabilities do, but no value is picked at random. A weight of 0.7 is the share of a value in a mixture.

# %% [markdown]
# ## What you learned
#
# This lesson was about the second of the three steps, sharing out.
#
# | | what it is | what to remember |
# |---|---|---|
# | shift | subtract each row's largest score | the weights stay the same, and `exp` cannot overflow |
# | temperature | scores divided by $T$, before softmax | a low $T$ picks, a high $T$ averages |
# | entropy | $-\sum w \ln w$, in nats | 0 for all weight on one key, $\ln n$ for $n$ equal weights; a weight of 0 contributes nothing |
# | online softmax | largest score, sum and mixture so far | a larger score shrinks the old sum and mixture by $e^{m_\text{old} - m_\text{new}}$ |
#
# %%
recap()

# %% [markdown]
# Your first two predictions were about a shift and a factor. A shift changes nothing, and that is why it can prevent overflow. A factor does change the weights, as a temperature does. The next two ended in `nan`, each time because an infinity had arisen one step before the `nan`, so that the earlier step is the one to repair.
#
# ## Questions
#
# **Question R4** (2 points, graded by a person). Temperature and $\sqrt{d_k}$ both divide the scores. Are they the same knob? Say what each is for, and when it would make sense to *learn* one of them.

# %% question R4 [markdown] points=2
# Mathematically they are the same: both divide the scores by a positive number. Their purposes differ. √d_k undoes a known effect, the growth of the scores' spread with the dimension, so attention starts out equally concentrated in any dimension. It follows from d_k and is not chosen. A temperature says how concentrated attention should be beyond that.
#
# Learning it makes sense where the model cannot change the norms of queries and keys itself, for instance when they are normalized (cosine attention): then no matrix can make a query insistent, and a learned temperature per head makes up for that. Where the projections are free, a learned temperature adds nothing that queries of larger norm could not do.
#
# | points | for |
# |---|---|
# | 1 | The same operation for different purposes: $\sqrt{d_k}$ undoes the growth of the scores' spread with the dimension, and a temperature sets how concentrated attention is to be |
# | 1 | A case in which learning makes sense, with a reason (where queries and keys are normalized, their norms cannot make a query insistent) |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "They are the same, because both divide the scores by a positive number." | The operation is the same. What is each for? One follows from the dimension, and the other is chosen. |
# | 1 | "$\sqrt{d_k}$ keeps the variance at 1, a temperature sets the sharpness. One should learn both, because learning beats a constant." | Right about the purposes. Where the projections are free, a query of larger norm already does what a learned factor would do. When can it not? |
# | 1 | "There is no difference. In cosine attention one learns it, because scores between −1 and 1 leave softmax almost uniform." | A good case with the right reason. It shows that there is a difference: what is $\sqrt{d_k}$ for, which is not learned? |
# | 0 | "$\sqrt{d_k}$ is for training, and the temperature is for generating, where it makes the text more random or less." (sounds right) | That temperature divides the logits at a model's output. The one of this lesson divides attention scores, as $\sqrt{d_k}$ does, in training and after it. |

# %% [markdown]
# ## Further reading
#
# - Milakov and Gimelshein 2018, [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867): the one-pass sum.
# - Dao et al. 2022, [FlashAttention](https://arxiv.org/abs/2205.14135), section 3.1: the same idea with the values included, for a whole matrix.
#
# **Next:** [lesson 5, Masking](../05_masking/05_masking.ipynb). Some keys must not be seen: padding, or the future. What score should they get? Back to [lesson 3](../03_scaling/03_scaling.ipynb).
