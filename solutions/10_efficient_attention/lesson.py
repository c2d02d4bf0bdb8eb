# %% [markdown]
# # 10. Efficient attention
#
# After this lesson you can say where attention's time and memory go, and write the next token without recomputing the last thousand. You can also let heads share keys and values, and compute attention without ever holding its table of scores. You need lessons 4 to 6 and lesson 8. About 190 minutes, in two sittings, of which the first ends before "Fewer keys than queries".
#
# **From memory.** In which corner does a causal mask end if there are more keys than queries? Which three things does attention in one pass keep, and by what are the sum and the mixture multiplied when a larger score arrives?
#
# <details><summary>Answers</summary>
#
# At the bottom right, since the last query belongs to the last key. The largest score so far, the sum of the exponentials and the mixture of the values. By $e^{m_\text{old} - m_\text{new}}$.
#
# </details>
#
# ## The idea
#
# The answer of a chat program appears one piece after another, because the model behind it is called once per token, and each time it is given everything that has been written so far. The hundredth call therefore repeats what the ninety-ninth did for ninety-nine tokens, in order to add a single one. How much of that repetition is waste?
#
# To find out, we let a stack of four attention layers write vectors instead of words, each made from the one before. The time would be the same if they meant something, and in lesson 13 a model writes words in the same way. The stack writes the same sequence twice, once by computing everything anew for each vector and once by *keeping* what it has already computed.

# %% setup
import figures
import measure
import torch
from attention import MultiHeadAttention
from measure import largest, seconds, tensors
from torch import Tensor
from torch.nn import functional

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **Predict.** With 64 vectors, keeping what was computed makes the stack about twice as fast. With 512 vectors, keeping makes it … (The cell after this one takes some ten seconds, and longer on a busy computer.)

# %%
predict(
    "512 vectors",
    options=("twice as fast", "three times as fast", "many times faster"),
)

# %% measured
model, lengths = measure.Stack().to(measure.DEVICE), (64, 128, 256, 512)
for length in lengths:
    anew = seconds(measure.write, model, length, keep=False)
    kept = seconds(measure.write, model, length, keep=True)
    print(
        f"{length:4} vectors: {anew:6.3f} s anew, {kept:6.3f} s kept, ratio {anew / kept:4.1f}"
    )
reveal("512 vectors", "many times faster")

# %% [markdown]
# The longer the sequence, the larger the part of the work that is repeated, so the factor should grow. Each time is the shortest of up to three runs, but times as short as the first ones are still disturbed by other programs, so compare 128 with 512. Nothing is lost on the way, since both ways write the same vectors:

# %%
with torch.no_grad():
    both = [measure.write(model, 100, keep=keep) for keep in (False, True)]
f"largest difference: {(both[0] - both[1]).abs().max():.5f}"

# %% [markdown]
# The times in this lesson are measured on *your* computer, and on its GPU if it has one. For a model as small as this one, a short sequence costs a GPU about as much as a long one, because most of the time is spent on starting the work. If your factor at 512 is small, this is why, and it will grow at greater lengths.
#
# ## By hand
#
# In lesson 2 a query met three keys with the scores 0, ln 2 and ln 3, which gave the weights 1/6, 1/3 and 1/2 and the output [7, 8]. Suppose that this query belonged to the third word of a text, and that a fourth word now arrives. What has to be computed?
#
# The fourth word needs a query, a key and a value of its own. It also needs four scores, which compare its query with the three old keys and with its own. The old queries are not needed, because they have been answered already. Their answers cannot change, since under a causal mask none of them may look at the fourth word. So only the old keys and the old values must be kept. The store that keeps them is called the *KV cache*.

# %%
figures.cache()

# %% [markdown]
# Say the new query gives the three old keys the same scores as before, and gives the fourth key, whose value is [0, 0], the score ln 6. The exponentials are then 1, 2, 3 and 6, and the weights are 1/12, 2/12, 3/12 and 6/12:

# %%
scores = torch.tensor([1.0, 2, 3, 6]).log()
values = torch.tensor([[6.0, 0], [0, 6], [12, 12], [0, 0]])
scores.softmax(dim=-1), scores.softmax(dim=-1) @ values

# %% [markdown]
# Half of the attention goes to the new word, whose value is zero, and so exactly half of [7, 8] is left.
#
# ## In PyTorch
#
# ### What it costs
#
# A dot product of two vectors with D entries takes D multiplications and about as many additions. This is counted as 2·D *floating-point operations*, or flops. Attention needs one dot product for each pair of a query and a key, and mixing the values afterward costs the same again. For 100 queries, 100 keys and D = 64 the total is:

# %%
pairs, D = 100 * 100, 64
{"score flops": 2 * pairs * D, "mix flops": 2 * pairs * D, "score bytes": 4 * pairs}

# %% [markdown]
# A flop takes time. A byte takes room, and a number in `float32` has four of them. Each byte also has to be carried to the place where the flops happen, and that often takes longer than the flops themselves. An H100, a GPU that many large models run on, computes about 1,000 trillion flops per second in 16 bits and reads 3.35 trillion bytes from its memory, so in the time of one byte it could do about 300 flops.
#
# ### Exercise 10.1: what attention costs
#
# Write a function that returns two counts of flops and two of bytes.

# %% hints attention_cost [markdown]
# How many pairs of a query and a key are there, over all heads and sentences? Everything but "kv_bytes" is that number times something.
#
# One pair costs a dot product for its score, and one scaled value added to the output. Count multiplications *and* additions for each.
#
# The keys and values do not depend on the number of queries. How many vectors are there of each, how many entries does each have, and how many bytes does an entry take?


# %% exercise attention_cost
def attention_cost(
    batch: int,
    heads: int,
    q_len: int,
    k_len: int,
    d_head: int,
    *,
    bytes_per_el: int = 4,
) -> dict[str, int]:
    """Return what attention of queries (B, H, L, D) to keys (B, H, S, D) costs, without projections and softmax.

    The dictionary has "score_flops" and "mix_flops", for scores and for mixing the values, where a dot product of
    two rows counts as 2 * d_head operations; "score_bytes", the table of scores; "kv_bytes", keys and values together.
    A value has d_head entries, as a key has.
    """
    ### BEGIN SOLUTION
    pairs = batch * heads * q_len * k_len
    return {
        "score_flops": 2 * pairs * d_head,
        "mix_flops": 2 * pairs * d_head,
        "score_bytes": pairs * bytes_per_el,
        "kv_bytes": 2 * batch * heads * k_len * d_head * bytes_per_el,
    }
    ### END SOLUTION


# %% check attention_cost

# %% [markdown]
# ### What that is in gigabytes
#
# Let us put the numbers of a large model into these formulas: 32 layers of 32 heads, D = 128, a text of 32,768 tokens, and 2 bytes per number.

# %%
layers, heads, length, D = 32, 32, 32_768, 128
for name, size in (
    ("one layer's table of scores", 2 * heads * length**2),
    ("all layers' keys and values", 2 * layers * 2 * heads * length * D),
):
    print(f"{name}: {size / 1e9:5.1f} GB")

# %% [markdown]
# The first row is a table that exists only while the whole text is read at once, since a single new token needs one row of it. The second must be kept for as long as the text goes on, once for each user of the model. The rest of the lesson shows how to do without the table, and how to make the cache smaller.
#
# ### Exercise 10.2: keep keys and values
#
# Write the class that holds the keys and values.

# %% hints KVCache [markdown]
# Before the first call there is nothing. How do you represent that, and what should `len` say then?
#
# New positions go behind the old ones. Which axis of (B, H, T, D) are the positions on? Counting from the end helps.
#
# Joining tensors makes a new one, so later appends are safe anyway. The first append is the one that may hold on to a tensor of the caller.


# %% exercise KVCache
class KVCache:
    """Keys and values of all tokens so far, to be used again for the next one.

    len(cache) is the number of positions it holds, 0 at first.
    """

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.key: Tensor | None = None
        self.value: Tensor | None = None
        ### END SOLUTION

    def __len__(self) -> int:
        ### BEGIN SOLUTION
        return 0 if self.key is None else self.key.size(-2)
        ### END SOLUTION

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add keys and values (B, H, T, D) of T new positions; return all keys and all values, (B, H, len(self), D).

        What is stored does not change when the caller later changes the tensors it passed in.
        """
        ### BEGIN SOLUTION
        if self.key is None or self.value is None:
            self.key, self.value = key.clone(), value.clone()
        else:
            self.key = torch.cat([self.key, key], dim=-2)
            self.value = torch.cat([self.value, value], dim=-2)
        return self.key, self.value
        ### END SOLUTION


# %% check KVCache

# %% [markdown]
# ### Optional: room set aside
#
# A cache that joins tensors with `torch.cat` copies everything it holds each time a token arrives. For a long text this is wasteful. A real cache sets room aside at the start and writes each new key into its place, as the model in `measure.py` does:


# %%
class RoomyCache:
    def __init__(self, *shape: int) -> None:  # B, H, the room, D
        self.kept, self.length = torch.empty(2, *shape), 0

    def __len__(self) -> int:
        return self.length

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        start, self.length = self.length, self.length + key.size(-2)
        for kept, new in zip(self.kept, (key, value), strict=True):
            kept[..., start : self.length, :] = new
        keys, values = self.kept[..., : self.length, :]
        return keys, values


cache, prompt, token = RoomyCache(1, 2, 1000, 4), torch.ones(500, 4), torch.ones(1, 4)
before, _ = cache.append(prompt, prompt)
after, _ = cache.append(token, token)
before.shape, after.shape, before.data_ptr() == after.data_ptr()

# %% [markdown]
# The keys after the second call have one position more than those after the first and begin at the same place in memory. So nothing but the new token was written. Setting room aside has two costs. The text cannot be longer than that room, and such a cache cannot be used in training, because autograd raises an error if a tensor that it still needs is overwritten. Where the texts of many users share the memory, a cache keeps *pages* of a fixed size (Kwon et al., below).
#
# For a text of 1000 tokens, the next cell prints how many positions are copied in each of the two ways:

# %%
copied = sum(range(1, 1001))
print(f"one after another: {copied:,}   into room set aside: {1000:,}")

# %% [markdown]
# ### Prefill and decode
#
# Suppose that a model is given a prompt of 500 tokens and continues it. The whole prompt goes through the model in one call, which fills the cache and is called *prefill*. From then on each call brings one token and is called *decode*. Both are the same computation, in which T new tokens follow S − T old ones, so there are S tokens in all. In prefill T = S = 500, and in decode T = 1.
#
# Only the mask needs care. It is the causal mask of lesson 5, aligned at the bottom right of the table and not, as `is_causal=True` has it, at the top left. PyTorch has the right one, too, under the name `causal_lower_right` in `torch.nn.attention.bias`. Here are both, the wrong one first, for two new tokens that follow three old ones. All scores are 0, and the values show which tokens were looked at:

# %%
q, k, v = torch.zeros(1, 2, 4), torch.zeros(1, 5, 4), torch.eye(5)[None]
seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
bottom_right = torch.ones(2, 5, dtype=torch.bool).tril(3)  # 5 - 2 = 3 old tokens
right = functional.scaled_dot_product_attention(q, k, v, bottom_right)
seen[0], right[0]

# %% [markdown]
# In the first table, the new tokens see one and two tokens of the text. In the second they see the first four and all five, as the model did in training. PyTorch raises no error in either case, so a model with the wrong alignment runs, and writes nonsense.
#
# ### Exercise 10.3: one step
#
# Write the one call that serves for both prefill and decode. It gets a multi-head attention as in lesson 6 (`mha.num_heads` is its number of heads), the new tokens, and the cache, of which you use only `append` and `len`. PyTorch's ready-made attention is not allowed here.

# %% hints decode_step [markdown]
# Which tokens go through which projections? Then which tensor is as long as the new tokens, and which is as long as everything so far?
#
# The cache wants keys and values split into heads, and returns them with the old ones in front. Queries are split the same way and not stored.
#
# There are as many rows as new tokens and as many columns as positions so far. The last row sees everything, each row above it one position less. Then merge the heads, and project.


# %% exercise decode_step
def decode_step(mha: MultiHeadAttention, x_new: Tensor, cache: KVCache) -> Tensor:
    """Return what mha, with a causal mask on the whole sequence, returns for the last T tokens, (B, T, E).

    x_new is (B, T, E), the tokens that follow those in the cache: only these pass through mha.q_proj, k_proj and
    v_proj. Their keys and values go through cache.append, and the tensors that it returns are not changed. T is 1 while a model
    writes, and larger for the prompt.
    """
    ### BEGIN SOLUTION
    q, k, v = (
        layer(x_new).unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
        for layer in (mha.q_proj, mha.k_proj, mha.v_proj)
    )  # (B, H, T, D)
    keys, values = cache.append(k, v)  # (B, H, S, D)
    new, length = q.size(-2), keys.size(-2)
    hidden = q.new_ones(new, length).triu(length - new + 1).bool()
    scores = (q @ keys.mT / q.size(-1) ** 0.5).masked_fill(hidden, -torch.inf)
    mixed = scores.softmax(dim=-1) @ values
    return mha.out_proj(mixed.transpose(1, 2).flatten(2))
    ### END SOLUTION


# %% check decode_step

# %% [markdown]
# ### What the cache saves
#
# With a cache, the flops that attention needs for token n are proportional to n. Without one they are proportional to n², because all n outputs must be computed again: the next layer makes its keys and values from them. Summed over a text of n tokens, the flops grow like n² with a cache and like n³ without, so their ratio should grow like n.
#
# The times at the start of the lesson do not show this yet, because at these lengths most of the time goes into the projections and into Python's own work. With a cache each token is projected once. Without one, call n projects all n tokens again, so this part grows like n² instead of n, and the ratio grows like n as well. The printed ratios follow this only roughly, because even the shortest of several runs can be disturbed.
#
# One cost remains: the whole cache is read from memory for each new token.
#
# ### Fewer keys than queries
#
# So far every head has had keys and values of its own, but does it need them? In *multi-query attention* all heads share a single set of keys and values. In *grouped-query attention* there are a few sets, each of which serves a group of heads. Here are the three ways side by side, for six heads:

# %%
figures.groups((6, 2, 1))

# %% [markdown]
# Every head still compares a query of its own with one key per position, so there are as many scores as before, and as many flops. But fewer keys and values have to be kept and read from memory. The cache of the model above had 17.2 GB. Work out what is left of it with 8 sets and with a single one, before you run the next cell:

# %%
for name, sets in (("one set per head", 32), ("8 sets", 8), ("1 set", 1)):
    print(f"{name:17} {2 * layers * 2 * sets * length * D / 1e9:5.2f} GB")
print(f"{'a latent of 576':17} {2 * layers * 576 * length / 1e9:5.2f} GB")

# %% [markdown]
# Many large models now use something like the second row. Ainslie et al. found that its quality is close to that of one set per head, at a speed close to that of a single set. The last row belongs to another method, the *latent attention* of the DeepSeek models. For each token and layer it stores one vector of 512 + 64 entries, from which the keys and values of all heads can be computed.
#
# Each set serves a run of neighboring heads. In the middle of the figure, heads 0, 1 and 2 use set 0, and heads 3, 4 and 5 use set 1. PyTorch has two functions that repeat the entries of a tensor, and only one of them puts the copies where these heads will find them:

# %%
sets = torch.tensor([0, 1])
sets.repeat(3), sets.repeat_interleave(3)

# %% [markdown]
# The first function cycles through the sets, while the second finishes with one set before it starts the next. The two results have the same shape. PyTorch therefore raises no error if a model was trained with one of the functions and runs with the other, although its heads get the wrong keys and values.
#
# The cache holds the sets before they are repeated, because the copies are needed only while attention is computed. PyTorch's own attention does without the copies if it is called with `enable_gqa=True`.
#
# ### Exercise 10.4: repeat keys and values
#
# Repeat each set for its group of heads, in tensors with four axes.

# %% hints repeat_kv [markdown]
# Along which axis of (B, G, L, D) are the sets? What should come directly after set 0 in the result?
#
# The cell above shows two ways of repeating. Which one keeps copies of the same set next to each other, and how do you tell it the axis?
#
# It can also be done by hand: a new axis behind the sets, expanded to the number of repetitions, and then the two axes merged.


# %% exercise repeat_kv
def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """Give each set of keys or values to n_rep query heads (grouped-query attention, Ainslie et al. 2023).

    x is (B, G, L, D): keys or values in G sets. Returns (B, G * n_rep, L, D): set 0 n_rep times, then set 1 n_rep
    times, and so on.
    """
    ### BEGIN SOLUTION
    return x.repeat_interleave(n_rep, dim=1)
    ### END SOLUTION


# %% check repeat_kv

# %% [markdown]
# ### Forgetting on purpose
#
# The other way to make the cache smaller is to look back less far. With a *sliding window* of 4, each token sees itself and the three tokens before it, so everything older can be dropped from the cache. This works for a model that was trained with the window. Many models that were trained without one break when the first tokens are dropped (Xiao et al., below). Some of their heads put most of their weight on these tokens, as a head of lesson 9 rested on spaces.

# %%
i, j = torch.arange(8)[:, None], torch.arange(8)
causal = j <= i
plot.masks(
    [("causal", causal), ("a window of 4", causal & (i - j < 4))],
    "A window limits how far back a query sees",
)

# %% [markdown]
# It seems that everything older than the window is lost. In a single layer it is. But in a stack, each token carries along something of what it has seen.
#
# **Predict.** With a window of 4 and three layers, how far back does information reach?

# %%
predict("reach of three layers", options=("3 places", "9 places", "64 places"))

# %%
back = torch.arange(32)[:, None] - torch.arange(32)  # how far key j is behind query i
one_layer = ((back >= 0) & (back < 4)).double()
paths = one_layer @ one_layer @ one_layer  # through three layers
reach = paths[31].nonzero()[0]
reveal("reach of three layers", f"{31 - int(reach)} places")

# %% [markdown]
# Each layer adds three places, because the token three places back has itself seen three places further back. A model with a window of 4096 and 32 layers therefore reaches back 32 · 4095 = 131,040 tokens in principle, although this says nothing about how much of a token survives 32 steps.
#
# ### Exercise 10.5: the window
#
# Write the mask, in such a way that it works with a cache, too.

# %% hints sliding_window_mask [markdown]
# At which position is the first query, if there are fewer queries than keys and the last query is at the last key?
#
# Two conditions say where a query may look: not after itself, and not too far back. Positions as a column and as a row give all pairs at once.
#
# A window of 1 is the token alone, so its own position counts. With a window of w, how large may the distance be at most?


# %% exercise sliding_window_mask
def sliding_window_mask(q_len: int, window: int, k_len: int | None = None) -> Tensor:
    """Return a causal mask in which a query sees the last `window` positions, its own included.

    Returns (L, S), boolean, True = may attend. window is at least 1. k_len is at least q_len and defaults to it. The
    last query belongs to the last key, as in causal_mask of lesson 5.
    """
    ### BEGIN SOLUTION
    k_len = q_len if k_len is None else k_len
    query = torch.arange(k_len - q_len, k_len)[:, None]
    key = torch.arange(k_len)
    return (key <= query) & (key > query - window)
    ### END SOLUTION


# %% check sliding_window_mask

# %% [markdown]
# ### Never the whole table
#
# Nothing so far has touched the table of scores. During prefill it is still there with its L × S entries for each head. At 32,768 tokens it is the largest thing of all, 68.7 GB per layer, although it is only a step on the way to the output.
#
# Lesson 4 computed attention for one query in a single pass, taking the keys a piece at a time. Such a piece is called a *block* here. Only three things were kept: the largest score so far, the sum of the exponentials, and the mix of the values. Whenever a block brought a new largest score, the sum and the mix shrank by the same factor. For many queries, the largest score and the sum become columns with one entry per query, and the rest stays as it was.
#
# Here are three queries and six keys, in blocks of two, and below the figure is the output of the plain computation:

# %%
scores = torch.tensor([[0.0, 1, 3, 2, 0, 1], [2, 0, 0, 1, 1, 4], [1, 1, 0, 0, 2, 0]])
values = torch.tensor([[6.0, 0], [0, 6], [12, 12], [0, 0], [6, 6], [0, 12]])
figures.blocks(scores, values)
scores.softmax(dim=-1) @ values

# %% [markdown]
# Follow query 0. After the first block its largest score is 1, and then the second block brings a 3. So its old sum and its old mix are multiplied by $e^{1-3} \approx 0.14$ before the second block is added to them. After the last block, its mix divided by its sum is [12.60, 14.73] / 1.74, which but for rounding is the first row of the output. No more than two columns of scores were needed at any time.
#
# That is the idea of *FlashAttention*, which keeps each block in the GPU's small, fast memory. In training, a loop like yours saves nothing, because autograd keeps what it needs of every block for the backward pass. FlashAttention keeps none of the blocks and computes them once more on the way back.
#
# ### Exercise 10.6: blockwise attention
#
# Write it for all queries at once, with a mask. Begin with a version without the mask, and let the first hint help you with the shapes. Since the check measures how large your tensors are, everything has to stay a tensor. NumPy, `tolist`, `item`, `float` and PyTorch's ready-made attention are not allowed here.

# %% hints blockwise_attention [markdown]
# What three things are kept from block to block, and what are their shapes, if there are L queries? With what do they start?
#
# When a larger score turns up, everything computed so far shrinks by a factor, as in lesson 4: the sum and the mix. Then the new block is added to both.
#
# A query that has seen nothing yet has minus infinity as its largest score, and minus infinity minus itself is not a number. Subtract 0 there. At the end, its sum is 0 too.


# %% exercise blockwise_attention
def blockwise_attention(
    query: Tensor, key: Tensor, value: Tensor, block: int, mask: Tensor | None = None
) -> Tensor:
    """Return scaled dot-product attention's output, computed from `block` keys at a time (Dao et al. 2022).

    query is (..., L, D), key (..., S, D), value (..., S, D_v). mask is boolean, True = may attend, and broadcasts to
    (..., L, S); its last axis has size S. The last block may be shorter. Returns (..., L, D_v) in the dtype of query. A
    query that may look at nothing gets zeros, and gradients are those of the plain computation. Scores exist for one
    block of keys at a time: no tensor has more entries than L * block times the sizes of the leading axes, or than the
    largest of inputs and output if that is more.
    """
    ### BEGIN SOLUTION
    shape = (*query.shape[:-1], 1)
    highest, total = query.new_full(shape, -torch.inf), query.new_zeros(shape)
    output = query.new_zeros(*query.shape[:-1], value.size(-1))
    for start in range(0, key.size(-2), block):
        part = slice(start, start + block)
        scores = query @ key[..., part, :].mT / query.size(-1) ** 0.5  # (..., L, block)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., part], -torch.inf)
        # any constant cancels in the end, so no gradient has to pass through this one
        now = torch.maximum(highest, scores.detach().amax(dim=-1, keepdim=True))
        finite = now.masked_fill(now == -torch.inf, 0.0)  # nothing seen yet
        new, old = (scores - finite).exp(), (highest - finite).exp()
        total = old * total + new.sum(dim=-1, keepdim=True)
        output = old * output + new @ value[..., part, :]
        highest = now
    return output / total.masked_fill(total == 0, 1.0)
    ### END SOLUTION


# %% check blockwise_attention

# %% [markdown]
# ### Yours beside the plain computation
#
# The next cell runs your function on 512 queries and keys in each of four heads, beside the plain computation, whose table has 4 · 512 · 512 entries.


# %% measured
def plain(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return (query @ key.mT / query.size(-1) ** 0.5).softmax(dim=-1) @ value


q, k, v = tensors(512)
print(f"plain:     largest tensor {largest(plain, q, k, v):9,} entries")
try:
    size = largest(blockwise_attention, q, k, v, 32)
    difference = (blockwise_attention(q, k, v, 32) - plain(q, k, v)).abs().max()
    print(f"blockwise: largest tensor {size:9,} entries, difference {difference:.6f}")
except NotImplementedError:
    print("not yet: exercise 10.6 is still open")

# %% [markdown]
# ### PyTorch's own
#
# Your loop runs in Python and will not win a race, but `scaled_dot_product_attention` does the same in compiled code. The next cell divides the time of the plain computation by the time of this function. Both do the same number of flops. What factor do you expect at length 2048?

# %% measured
lengths = (256, 512, 1024, 2048)
for L in lengths:
    long = seconds(plain, *tensors(L))
    short = seconds(functional.scaled_dot_product_attention, *tensors(L))
    print(
        f"length {L:4}: the plain computation takes {long / short:4.1f} times as long"
    )

# %% [markdown]
# The room that compiled code takes cannot be seen from here, but that of your loop can. The next cell draws its largest tensor, with 64 keys at a time, beside that of the plain computation. With logarithmic axes a power becomes a straight line, whose *slope* is the exponent.

# %% measured
room = {"plain": [largest(plain, *tensors(L)) for L in lengths]}
try:
    room["blockwise"] = [largest(blockwise_attention, *tensors(L), 64) for L in lengths]
except NotImplementedError:
    room["blockwise (calculated)"] = [4 * L * 64 for L in lengths]  # 10.6 is open
plot.curves(
    lengths,
    room,
    "Twice the length: plain needs four times the room, blockwise twice",
    xlabel="length",
    ylabel="entries of the largest tensor",
    log=True,
    log_y=True,
    alt="Two straight lines. The one of the plain computation rises by a factor of four per doubling, the other by two.",
)

# %% [markdown]
# The slopes are 2 for the plain computation and 1 for your loop, so the room grows with L² in one case and with L in the other. At length 2048 the plain computation's table is 32 times as large as your largest tensor, because it holds the scores of 2048 keys where yours holds those of 64. The *flops* grow with L² in both cases, because every query still meets every key. Only a causal mask saves some, because about half of the blocks are hidden as a whole and can be skipped.
#
# What is saved, then, is not arithmetic. The plain computation makes the table three times over, as scores, scaled scores and weights, and each time it carries the table to memory and back. The ratio at length 2048 says what this is worth on your computer. Run that cell again if one line is far from its neighbors, because another program has then disturbed it. On a GPU, whose arithmetic is fast compared with its memory, the ratio can be larger.
#
# <details><summary>Which implementation PyTorch takes</summary>
#
# PyTorch chooses among several implementations, which it calls *backends*, and with dropout or an unusual mask it may have to take the slow one. For unusual masks there is also *FlexAttention*, in `torch.nn.attention.flex_attention`, which takes the mask as a function and compiles it.
#
# </details>
#
# ## What can go wrong
#
# **A mask for a single token.** When a single new token may see everything before it, it needs no mask at all. It does need one when there is a window, or when the texts of a batch are padded to the same length.
#
# **A position that starts again.** As long as nothing is dropped from the cache, the place of the new token is `len(cache)` before the append, and not 0. Padding in front of the text does not count as a place. With a window that drops old keys, you have to count the tokens yourself.
#
# **Differences in the last digits.** Sums that are taken in another order are rounded differently, so in `float32` two exact methods differ by about one part in a million. Compare with a tolerance instead of `==`, such as 1e-5 for outputs near 1.
#
# **Timing the wrong thing.** The first call sets things up, so it must not count. On a GPU a call returns before the work is finished, so you have to wait for it. Other programs run at the same time, so take the shortest of several runs. The function `seconds` in `measure.py` does all three.
#
# ## What you learned
#
# The three steps are the same as before. This lesson has changed which of them are repeated, for which keys, and what is kept in between.
#
# | | what it saves | what to remember |
# |---|---|---|
# | KV cache | computing old keys and values again | grows with the text; mask at the bottom right |
# | grouped queries | room for keys and values | neighbors share: `repeat_interleave` |
# | sliding window | old keys and values | loses what is older, unless a chain of layers carries it |
# | blockwise | the table of scores | same result up to rounding; keeps the largest score, sum and mix |
# %%
recap()

# %% [markdown]
# If you expected a window of 4 to reach back three places through three layers, you thought of one layer, where that is right. In a stack each layer starts from what the layer below has gathered, and so the reach adds up.
#
# ## Questions
#
# **Question R10** (2 points, graded by a person). A model has 32 layers, 32 heads of dimension 128 (4096 together), and is to read texts of 32,768 tokens with 2 bytes per number. You have a GPU with 80 GB (1 GB is a billion bytes), of which the parameters take 14 GB, and you may choose between one set of keys and values per head, 8 sets, and 1 set. Each user has a text of that length, and you leave room for nothing but the parameters and the cache.
#
# How many users can you serve at once with each choice? Which one do you take, and what would you measure before you decide?

# %% question R10 [markdown] points=2
# Per user 17.2 GB, 4.3 GB and 0.54 GB. In the 66 GB that are left: 3, 15 and about 120 users (less in practice, since activations need room too).
#
# Eight sets are the usual choice: five times as many users, at little loss of quality. A single set saves more, but loses more. For either, the model must have been trained, or converted and trained further. To measure: quality on the task with each variant, and tokens per second with many users, because reading the cache from memory is what limits decoding.
#
# | points | for |
# |---|---|
# | 1 | All three numbers: 3, 15 and about 120 users (17.2, 4.3 and 0.54 GB for each) |
# | 1 | A choice with a reason, and a measurement of quality or of speed that could change it |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 1 | "8.6, 2.1 and 0.27 GB, so 7, 30 and 245 users. I take 8 sets, which cost little quality, and measure it on our task." | A good choice. Both keys and values are kept, so each user needs twice as much. |
# | 1 | "3, 15 and 122 users. I take one set, because it serves the most." | The numbers are right. What does a single set cost in quality, and how would you find out? |
# | 0 | "80 GB are enough for 4, 18 and 149 users, and I take the largest number." | Of the 80 GB the parameters take 14. And what would you measure before you give up that many keys and values? |
# | 1 | "3, 15 and about 120 users. I take 8 sets, because attention then computes a quarter, so nothing has to be measured." (sounds right) | The numbers are right. Each query head still scores every token, so it computes as much. What is saved is memory, and the time to read it: measure speed and quality. |

# %% [markdown]
# ## Further reading
#
# - Dao et al. 2022, [FlashAttention](https://arxiv.org/abs/2205.14135): attention block by block, in fast memory.
# - Shazeer 2019, [Fast Transformer Decoding](https://arxiv.org/abs/1911.02150): one set of keys and values for all heads.
# - Ainslie et al. 2023, [GQA](https://arxiv.org/abs/2305.13245): grouped queries, and how to convert a trained model.
# - Kwon et al. 2023, [Efficient Memory Management for Large Language Model Serving with PagedAttention](https://arxiv.org/abs/2309.06180): pages.
# - Xiao et al. 2023, [Efficient Streaming Language Models with Attention Sinks](https://arxiv.org/abs/2309.17453): a window that keeps the first tokens.
# - DeepSeek-AI 2024, [DeepSeek-V2](https://arxiv.org/abs/2405.04434): latent attention.
# - Milakov and Gimelshein 2018, [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867): the single pass.
#
# **Next:** [lesson 11, Bug hunt](../11_bug_hunt/11_bug_hunt.ipynb). Attention that others wrote, and how to find out what is wrong with it.
