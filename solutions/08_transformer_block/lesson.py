# %% [markdown]
# # 8. The transformer block
#
# After this lesson you can build the block that transformers are made of, say what each of its parts is for, connect an encoder to a decoder, and let the result write dates. You should have done lessons 5 to 7. About 110 minutes.
#
# ## The idea
#
# Lesson 1 ended with a translator that reads dates as people write them, and writes them as computers store them. It consists of two recurrent networks with attention between them, and the attention turned out to be the good part. What if we drop the recurrent networks and let attention do all the work?
#
# Let us race the two. The recurrent translator trains for 100 steps. The other one, a *transformer*, trains for 130 steps, which take about as long on the computer on which this lesson was written. Both learn from the same kind of dates.

# %% setup
from collections.abc import Callable

import figures
import stack
import torch
import transformer
from attention import MultiHeadAttention
from torch import Tensor, nn

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %% measured
recurrent, seconds = transformer.seconds(lambda: transformer.recurrent(steps=100))
print(f"recurrent:   {transformer.accuracy(recurrent):.0%} in {seconds:.1f} s")

# %% [markdown]
# **Predict.** The transformer has never seen the task either. It has one block that reads and one that writes. After its 130 steps it is …

# %%
predict(
    "the transformer is", options=("clearly worse", "about equal", "clearly better")
)

# %% measured
torch.manual_seed(0)
model = transformer.Transformer()
_, seconds = transformer.seconds(lambda: transformer.train(model, steps=130))
print(f"transformer: {transformer.accuracy(model):.0%} in {seconds:.1f} s")
reveal("the transformer is", "clearly better")

# %% [markdown]
# At this moment of the race it is clearly better. It is not for long, because these dates are short and not hard: with twice the steps both models get 94% to 99%, and the recurrent one is ahead more often than not. The transformer also has about twice the parameters, 91,000 against 48,000. So this race does not show that one of the two is the better model. It shows that attention alone is enough for the job, which nobody could take for granted in 2017.
#
# What made the transformer win elsewhere is that nothing in it has to wait. A recurrent network reads character 18 only after the 17 before it. In the transformer all positions go through each layer at once, and in training that includes the characters to be *written*, because a causal mask keeps each of them from seeing its successors, so that ten predictions cost one pass. On a single thread, as here, this saves little more than the overhead of many small operations. On a GPU, which can compute thousands of positions at once, it decides. Here is the model as a whole:

# %%
figures.encoder_and_decoder()

# %% [markdown]
# Each side first turns its characters into vectors and adds a learned vector per place (lesson 7; the lengths, 18 and 10, never change). Then come *blocks*, which take a sequence of vectors and return one of the same shape. Real models stack a dozen of them, or a hundred. What is inside one?
#
# ## By hand
#
# ### What attention cannot do
#
# The output of a head is a weighted mean of values, and values are a matrix times the tokens. Take a sentence with a single token. Its only weight is 1 whatever its score is, so softmax has nothing to decide, and what attention makes of the token is the value matrix and the output matrix times the token, a linear map. For such a sentence a stack of attention layers is a stack of linear maps, and no such stack can compute even the absolute value of a number.
#
# A *feed-forward network* can: a matrix, then a *ReLU*, which replaces negative numbers by 0, then another matrix. For |x| two hidden entries are enough. Choose the first matrix so that they hold x and −x, and the second so that it adds what is left:

# %%
x = torch.tensor([[-3.0], [0.5], [2.0]])
first, second = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
(x @ first).relu(), (x @ first).relu() @ second

# %% [markdown]
# For −3 the hidden entries are 0 and 3, for 2 they are 2 and 0. So a block has two halves. Attention moves information *between* tokens, and the feed-forward network, which sees one token at a time, does something with it. The network is usually four times as wide inside as the model; ours is twice as wide.
#
# ### Adding instead of replacing
#
# A *branch* is one part of a block: its attention, or its feed-forward network. Suppose you stack twelve blocks, and each *replaces* its input by its output. Then whatever the twelfth is to know about the input must survive eleven replacements. It is the bottleneck of lesson 1 again, this time through layers instead of through time.
#
# The remedy is short: `x + branch(x)`, a *residual connection*. A branch *adds* what it found out, and what was there stays there. What runs through the whole stack is called the *residual stream*: each branch reads from it and adds to it.
#
# ### Keeping the numbers in range
#
# Twelve blocks with two branches each are 24 additions, and sums grow. So before a branch reads the stream, each token is *normalized*: subtract the mean of its entries, divide by their standard deviation. Do it on paper for 1, 3, 5, 7. The mean is 4, the deviations are −3, −1, 1 and 3, and the mean of their squares is 5.

# %%
stream = torch.tensor([1.0, 3.0, 5.0, 7.0])
norm = nn.LayerNorm(4, elementwise_affine=False)
norm(stream), norm(1000 * stream)

# %% [markdown]
# That is −3/√5 = −1.342 and so on, and a token a thousand times as large gives the same. Unless told otherwise, `nn.LayerNorm` then multiplies each entry by a learned weight and adds a learned bias, which start at 1 and 0.
#
# ## In PyTorch
#
# ### The block
#
# Put together: normalize, attend, add; normalize, feed forward, add.

# %%
figures.block()

# %% [markdown]
# $$x \leftarrow x + \text{attention}(\text{norm}_1(x)), \qquad x \leftarrow x + \text{linear}_2\big(\text{ReLU}(\text{linear}_1(\text{norm}_2(x)))\big).$$
#
# Follow the stream on the left of the figure: it meets no norm and no matrix, only additions. Normalizing before each branch is called *pre-norm*. The 2017 paper normalized *after* each addition: *post-norm*, where the stream itself passes through every norm. It looks like a detail. We train twelve blocks for 50 steps to reverse eight digits:

# %% measured
losses = {
    kind: stack.train(kind, steps=50) for kind in ("bare", "post-norm", "pre-norm")
}
print("loss of a guess    2.30")
for kind, loss in losses.items():
    print(f"{kind:10} after 50 {loss[-1]:5.2f}")

# %% [markdown]
# "Bare" blocks are post-norm blocks without the additions, and after 50 steps they are no better than a guess among ten digits, $\ln 10 = 2.30$. Post-norm has begun to learn, and pre-norm is nearly done. Here is how post-norm goes on from there:

# %% measured
longer = stack.train("post-norm", steps=100)
print("post-norm", {step: round(longer[step - 1], 2) for step in (50, 80, 100)})

# %% [markdown]
# Post-norm gets there too, by step 100 (in three runs it had 0.02 to 0.11 then). The original transformer was trained with post-norm, and with a learning rate that started tiny.
#
# The usual explanation is that gradients vanish on their way back. Is it true? How large is the gradient at the first block, relative to that at the last block's output, before any training? Here are three random starts:

# %% measured
for kind in ("bare", "post-norm", "pre-norm"):
    ratios = [stack.gradients(kind, seed)[0] for seed in range(3)]
    print(f"{kind:10}", [f"{ratio:.1f}" for ratio in ratios])

# %% [markdown]
# In pre-norm the gradient grows a little on its way. In post-norm it shrinks to between 0.6 and 0.9, and in the bare stack mostly to a half or a tenth. The gradient shrinks, but it does not vanish, so its *size* is only part of the story. Look at the way forward, too. How alike are the eight tokens of a sequence, before any training? Here is the mean cosine between two of them, at the bottom, after three blocks and after twelve:

# %% measured
for kind in ("bare", "post-norm", "pre-norm"):
    cosines = stack.likeness(kind)
    print(f"{kind:9}", [f"{cosines[block]:.2f}" for block in (0, 3, 12)])

# %% [markdown]
# After three bare blocks the tokens are all but equal, and from then on they can hardly be told apart, whereas telling them apart is all that reversing needs. This is known as *rank collapse* (Dong, Cordonnier and Loukas, below). Residual connections prevent it, because a token that is added to stays the token that it was.
#
# ### Exercise 8.1: the block
#
# Write it. The attention is the module of lesson 6, with its mask; it is in `attention.py` beside this notebook, so nothing depends on your other notebooks. It returns a pair.
#
# While a model trains, *dropout* acts in three places: on the attention weights (the module does that), and on what each of the two branches is about to add. (PyTorch's own layer has a fourth, between the two linear layers. Yours does not.)

# %% hints TransformerBlock [markdown]
# There are two additions. For each of them: what is normalized, what happens to it, and what exactly is it added to, the stream or the normalized stream?
#
# The attention module returns the output *and* weights or None; which of the two goes on? And its second argument is the key, so how should a mask be passed to it?
#
# One `nn.Dropout` can serve both branches. Each time it acts on what the branch returns, before the addition, never on the stream. The names of the layers are part of the contract.


# %% exercise TransformerBlock
class TransformerBlock(nn.Module):
    """A pre-norm transformer block: attention, then a feed-forward network, each added to what came in.

    Layers: norm1 and norm2 are nn.LayerNorm(d_model), attention is MultiHeadAttention(d_model, num_heads,
    dropout=dropout), linear1 is nn.Linear(d_model, d_ff), linear2 is nn.Linear(d_ff, d_model), with a ReLU
    between the two. There are no other parameters. In training, dropout also acts on what each of the two branches adds.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_ff: int, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, L, E) for x (B, L, E). mask is passed on to the attention, True = may attend."""
        ### BEGIN SOLUTION
        x = x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])
        hidden = self.linear1(self.norm2(x)).relu()
        return x + self.dropout(self.linear2(hidden))
        ### END SOLUTION


# %% check TransformerBlock

# %% [markdown]
# ### Where the parameters are
#
# With the usual inner width of 4E, attention has 4E² parameters and the feed-forward network has 8E². So "attention is all you need" is a good title, and two thirds of such a block are something else. (Ours is only 2E wide inside, which makes it one half; in today's large models it is about four fifths.)

# %%
block = nn.TransformerEncoderLayer(512, 8, 2048)
sizes = {
    name: sum(p.numel() for p in part.parameters())
    for name, part in block.named_children()
}
{name: size for name, size in sizes.items() if size}

# %% [markdown]
# ### The block today
#
# The models of recent years have kept this plan and changed four details. *RMSNorm* divides each token by the root of its mean square and does not subtract the mean, which is cheaper and works as well. The feed-forward network is *gated*: one linear map of the token is multiplied, entry by entry, with a smooth function of another, as in SwiGLU. Biases are left out. And queries and keys are normalized before their dot product, or get fewer heads of keys than of queries (lesson 10). RMSNorm is one line:

# %%
x = torch.tensor([1.0, 3.0, 5.0, 7.0])
x / x.square().mean().sqrt(), nn.RMSNorm(4)(x).detach()

# %% [markdown]
# ### The decoder looks twice
#
# The encoder's block is finished: it sees the whole input, apart from padding. The decoder has to look twice: at what it has written so far, with a causal mask, and at the *memory*, the encoder's output. The second is *cross-attention*: queries come from the decoder, keys and values from the memory.
#
# | | queries from | keys and values from | mask |
# |---|---|---|---|
# | encoder, self-attention | what is read | what is read | padding `(B, 1, 1, S)` |
# | decoder, self-attention | what is written | what is written | causal `(L, L)` |
# | decoder, cross-attention | what is written | the memory | padding of the memory |
#
# So three branches, each with its norm: look back, look across, feed forward. Pre-norm leaves the stream itself unnormalized, so one more norm follows the last block on each side. What comes out of the encoder's norm is the memory, and no other norm touches it.
#
# Here is where the cross-attention of the winning transformer looks for one date (the mean over its four heads). Each row is labeled with the character it writes:

# %%
text = "28 january 1955"
x = torch.tensor([transformer.to_ids(text)])
written = transformer.to_text(transformer.written_by(model, x)[0])
looks = transformer.cross_attention(model, x)[0].mean(dim=0)[:, : len(text)]
plot.heatmap(
    looks,
    list(written),
    list(text.replace(" ", "·")),
    f"{text} becomes {written}",
    alt="While it writes the year the model looks at the year. For the month it looks at the letters of the name, and "
    "for the day at the day.",
)

# %% [markdown]
# It is the map of lesson 1, drawn by another model. Compare the two if you have it at hand: the year, the name of the month and the day show up again. Read it once more as the model writes, one character at a time. The slider is the row, and the labels are place and character:

# %%
plot.slide(
    lambda row: looks[int(row)],
    [f"{i}:{character}" for i, character in enumerate(text)],
    name="character to write",
    low=0,
    high=9,
    start=0,
)

# %% [markdown]
# ### Exercise 8.2: the decoder block
#
# Write the block with three branches.

# %% hints DecoderBlock [markdown]
# How many branches are there, and in which order? For each of the two attentions, write down where its queries, keys and values come from before you write any code.
#
# The query of the cross-attention is the normalized stream. Its keys are the memory, and values follow the keys unless you say otherwise.
#
# There are two masks for two attentions. One speaks about positions that have been written, the other about positions that were read. A causal mask has no business in the memory.


# %% exercise DecoderBlock
class DecoderBlock(nn.Module):
    """A pre-norm decoder block: self-attention, cross-attention to the memory (B, S, E), feed-forward network.

    Layers: norm1, norm2, norm3, self_attention, cross_attention, linear1, linear2, built as in TransformerBlock. Each
    norm precedes the branch with the same number. The memory is the encoder's output and is not normalized again. In
    training, dropout also acts on what each of the three branches adds.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_ff: int, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        self_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Return (B, L, E) for x (B, L, E) and memory (B, S, E).

        self_mask says which positions of x each position of x may attend to, memory_mask which positions of memory.
        """
        ### BEGIN SOLUTION
        x = x + self.dropout(self.self_attention(self.norm1(x), mask=self_mask)[0])
        cross = self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0]
        x = x + self.dropout(cross)
        hidden = self.linear1(self.norm3(x)).relu()
        return x + self.dropout(self.linear2(hidden))
        ### END SOLUTION


# %% check DecoderBlock

# %% [markdown]
# ### Writing
#
# In training, the decoder was told the right previous characters (*teacher forcing*, lesson 1), all at once. On its own it has nothing but a start symbol. So it writes one character, reads what it has written, and writes the next:

# %%
x, y = transformer.dates(1, seed=7)
memory, mask = model.encode(x)
tokens = torch.tensor([[transformer.BEGIN]])
logits = model.write(tokens, memory, mask)  # (1, 1, characters)
transformer.to_text(x[0]), transformer.CHARACTERS[int(logits[0, -1].argmax())]

# %% [markdown]
# One token in, one row of logits out, and its largest entry is at "1", the first character of the year. With the "1" appended there are two tokens, and two rows of logits come out: the first is the same as before (the causal mask sees to that), and the second is what we want. Always taking the largest logit is called *greedy* decoding.
#
# ### Exercise 8.3: greedy decoding
#
# Write the loop. It knows nothing of dates: `step` is any function from tokens to logits, and there is no end token.

# %% hints greedy_decode [markdown]
# What goes into `step` in the first round, and what shape does it have for several sentences at once? What goes in in the second round?
#
# `step` answers for every position, and most of its answers are about tokens you already have. Which of its rows predicts the token that does not exist yet?
#
# Each round appends one column to the tokens, along the axis of time. The start symbol is needed to begin with, and is cut off at the end.


# %% exercise greedy_decode
def greedy_decode(
    step: Callable[[Tensor], Tensor], start: int, length: int, batch: int
) -> Tensor:
    """Write `length` tokens for each of B = `batch` sentences, each time the one with the largest logit.

    step maps the tokens so far, (B, T) in torch.long, to logits (B, T, V): position t holds the logits for token
    t + 1, computed from tokens 0 to t.
    Every sentence begins with the token `start`. Returns (B, length), torch.long, without the start token.
    """
    ### BEGIN SOLUTION
    tokens = torch.full((batch, 1), start)
    for _ in range(length):
        best = step(tokens)[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, best], dim=1)
    return tokens[:, 1:]
    ### END SOLUTION


# %% check greedy_decode

# %% [markdown]
# ### All of it yours
#
# The model of the race is built from PyTorch's blocks. This one is built from yours, trained for the same 130 steps, and writes with your loop. If an exercise is still open, the cell says so and the lesson goes on.

# %% measured
try:
    torch.manual_seed(0)
    mine = transformer.Transformer(TransformerBlock, DecoderBlock)
    transformer.train(mine, steps=130)
    x, y = transformer.dates(500, 99_999)
    memory, mask = mine.encode(x)
    tokens = greedy_decode(
        lambda t: mine.write(t, memory, mask), transformer.BEGIN, 10, 500
    )
    print(f"your transformer: {(tokens == y).all(dim=-1).double().mean():.0%} right")
except NotImplementedError:
    print("not yet: one of exercises 8.1 to 8.3 is still open")

# %% [markdown]
# Your number may differ from the winner's 97% by a few points, because PyTorch's attention has biases and draws its first weights differently. Another seed does as much: four of them gave 92% to 98% with these blocks and 90% to 98% with PyTorch's.
#
# ## What can go wrong
#
# **No causal mask in training.** The decoder is given the right answer, shifted by one. If it may look ahead, every character it should predict, except the last, is one of its inputs. **Predict**: without the mask, what share of dates does it get right in training, and on its own?

# %%
predict("told the right characters", options=("nearly all right", "nearly all wrong"))
predict("writing on its own", options=("nearly all right", "nearly all wrong"))

# %% measured
torch.manual_seed(0)
peeking = transformer.train(transformer.Transformer(), 130, causal=False)
x, y = transformer.dates(500, 99_999)
told = (peeking(x, y).argmax(dim=-1) == y).all(dim=-1).double().mean()
print(f"told: {told:.0%} right, on its own: {transformer.accuracy(peeking):.0%}")
reveal("told the right characters", "nearly all right")
reveal("writing on its own", "nearly all wrong")

# %% [markdown]
# It reads nine of ten characters off its input. The tenth is never among them, and that is where its mistakes are when it is told the right characters: the next cell counts them by place. On its own it has nothing to read off. Its training loss gave no sign of that, so judge a model that writes by what it writes.

# %% measured
(peeking(x, y).argmax(dim=-1) != y).sum(dim=0).tolist()

# %% [markdown]
# **No padding mask for the memory.** Short dates are padded to 18 characters with spaces. Hide those from the encoder's self-attention and from the cross-attention, or the model mixes them in. Here is how far the logits of one short date move when the cross-attention may look at its padding:

# %% measured
x, y = (
    torch.tensor([transformer.to_ids("3/8/1925")]),
    torch.zeros(1, 10, dtype=torch.long),
)
memory, mask = model.encode(x)
hidden = model.write(y, memory, mask)
seen = model.write(y, memory, torch.ones_like(mask))
f"{int((~mask).sum())} padded places, and a logit moves by up to {(hidden - seen).abs().max():.0f}"

# %% [markdown]
# **A branch that forgets to add.** `x = self.dropout(...)` instead of `x = x + self.dropout(...)` raises no error. You have seen the price: it is the bare stack.
#
# **Dropout left on.** With dropout, a model in training mode writes something different every time. `model.eval()` before writing, `model.train()` before training.
#
# **Ten passes for ten characters.** The loop computes 1 + 2 + … + 10 = 55 positions, and 45 of them have been computed before. Lesson 10 keeps what can be kept.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | residual stream | `x + branch(x)` | no branch stands in its way |
# | LayerNorm | each token to mean 0 and standard deviation 1 | before the branch: pre-norm |
# | feed-forward network | linear, ReLU, linear, per token | two thirds of the parameters at four times the width |
# | cross-attention | queries from the decoder, keys and values from the memory | its mask is the memory's padding |
# | teacher forcing | the decoder is told the right previous characters | only with a causal mask |
# | greedy decoding | the largest logit, again and again | the last position counts |
#
# %%
recap()

# %% [markdown]
# ## Questions
#
# **Question R8** (2 points, graded by a person). For each of the three attentions of an encoder-decoder, say where queries, keys and values come from. Then swap: in the cross-attention, let queries come from the memory, and keys and values from the decoder. What shape does the result have, what breaks, and in which case would nothing complain?

# %% question R8 [markdown] points=2
# Encoder self-attention: all three from what is read. Decoder self-attention: all three from what has been written, with a causal mask. Cross-attention: queries from the decoder's stream, keys and values from the memory.
#
# Swapped, there is one query per position *read*, so the result is (B, S, E) instead of (B, L, E). Adding it to the stream (B, L, E) fails if S and L differ. If they are equal (or one of them is 1, and broadcasts) nothing complains: position i of the output then gets what input position i found among the written characters. The mask for the memory's padding would also be applied to the wrong axis. And the written characters would be read *without a causal mask*, so that training looks perfect and the model cannot write.
#
# | points | rubric |
# |---|---|
# | 2 | All three sources right, the shape (B, S, E), and the silent case S = L (or: no causal mask hides later characters, so training looks perfect) |
# | 1 | Sources right, shape or silent case missing |
# | 0 | Sources confused |

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.1 and figure 1: encoder and decoder.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): pre-norm against post-norm.
# - Dong, Cordonnier and Loukas 2021, [Attention is not all you need](https://arxiv.org/abs/2103.03404): why tokens of a bare stack become equal.
# - He et al. 2015, [Deep Residual Learning](https://arxiv.org/abs/1512.03385): where adding instead of replacing comes from.
#
# **Next:** [lesson 9](../09_train_and_look_inside/09_train_and_look_inside.ipynb) stacks these blocks, trains them on text, and looks inside.
