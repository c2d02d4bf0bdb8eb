# %% [markdown]
# # 8. The transformer block
#
# After this lesson you can build the block that transformers are made of, and say what each of its parts is for. You can assemble a whole model from two such blocks, and let it write dates. And you can find out why a model does not learn. You should have done lessons 5 to 7. About 190 minutes, in three sittings, which end before "The decoder looks twice", before "When a model does not learn", and at the end. An optional section takes another 15.
#
# **From memory.** Which way of telling a model about order adds something to the tokens, and which turns queries and keys? What is a causal mask for, and how do you find out whether one is missing?
#
# <details><summary>Answers</summary>
#
# Learned and sinusoidal positions are added. Rotary positions turn queries and keys. A causal mask keeps each token from seeing later ones. The leak test changes one token after another and checks that no earlier output moves.
#
# </details>
#
# ## The idea
#
# Lesson 1 ended with a translator that reads dates as people write them and writes them as computers store them. It consists of two recurrent networks with attention between them, and the attention turned out to be the good part. In 2017 eight authors proposed a model in which attention takes the place of the recurrent networks. They called it a *transformer*, and their paper "Attention Is All You Need".
#
# You will build that model and let it compete with the translator on the dates of lesson 1. Here is the mark to beat, the share of 500 new dates that the recurrent translator writes without a mistake after 100 training steps:

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
# **Predict.** The transformer will have one block that reads and one that writes. It is trained on the same batches with a lower learning rate, for 130 steps, which take no longer than the 100 steps of the recurrent network. After these 130 steps it is …

# %%
predict(
    "the transformer is", options=("clearly worse", "about equal", "clearly better")
)

# %% [markdown]
# Here is the plan of the model:

# %%
figures.encoder_and_decoder()

# %% [markdown]
# The *encoder* on the left reads the whole input. The *decoder* on the right writes one character after another, and looks at what the encoder has made of the input. Each side first turns its characters into vectors and adds a learned vector for each place, which will do here because the lengths, 18 and 10, never change. Then comes a *block*, which takes a sequence of vectors and returns a sequence of the same shape, so that blocks can be stacked. Ours has one on each side, where the original has six on each side and large models today have dozens.
#
# Models built from such blocks form three families. An encoder alone, such as BERT, reads a text and returns one vector per token, which can be used to classify or to search. A decoder alone, such as GPT, continues a text; you will build one in lesson 13. The pair above is the original design, still in use where one sequence becomes another, in translation or in the transcription of speech. All three are made of the same block. What is inside it?
#
# ## By hand
#
# ### What attention cannot do
#
# Consider a sentence that consists of a single token. Whatever its score is, its weight is 1, so softmax has nothing to decide. The token is multiplied by the value matrix and then by the output matrix, and the two together are a linear map. For such a sentence a stack of attention layers, without norms, is again a linear map. And no linear map can compute even the absolute value of a number.
#
# A *feed-forward network* can. It consists of a matrix, a *ReLU*, which replaces negative numbers by 0, and another matrix. For |x| two hidden entries are enough. The first matrix makes them x and −x, and the second adds what the ReLU has left of them:

# %%
x = torch.tensor([[-3.0], [0.5], [2.0]])
first, second = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
(x @ first).relu(), (x @ first).relu() @ second

# %% [markdown]
# For −3 the hidden entries are 0 and 3, for 2 they are 2 and 0, and their sum is the absolute value. This is why a block has two halves. Attention moves information *between* tokens, and the feed-forward network, which sees one token at a time, computes something with what has arrived. The network is usually four times as wide inside as the model. Ours is only twice as wide.
#
# ### Adding instead of replacing
#
# Let us call attention and the feed-forward network the two *branches* of a block. How should the result of a branch be combined with its input? Suppose first that each of twelve blocks *replaces* its input by its output. Whatever the twelfth block is to know about the input must then survive eleven replacements, and what one of them loses no later block can get back.
#
# The remedy is to write `x + branch(x)`, a *residual connection*. A branch now *adds* what it has found out, and what was there before stays in the sum. Attention profits in particular, because without the addition a head would have to look at its own position in order to keep its token. The sum that runs through the whole stack is called the *residual stream*. Every branch reads from it and adds to it.
#
# ### Keeping the numbers in range
#
# Twelve blocks with two branches each make 24 additions, and the sums grow. For that reason each token is *normalized* before a branch reads it: the mean of its entries is subtracted, and the result is divided by their standard deviation, the root of the mean squared deviation. Do it on paper for 1, 3, 5, 7. Their mean is 4, and the mean of the squared deviations is 5.

# %%
stream = torch.tensor([1.0, 3.0, 5.0, 7.0])
norm = nn.LayerNorm(4, elementwise_affine=False)
norm(stream), norm(1000 * stream)

# %% [markdown]
# You should have found −3/√5 = −1.342 and so on, and a token a thousand times as large gives the same result. By default `nn.LayerNorm` then multiplies each entry by a learned weight, which starts at 1, and adds a learned bias, which starts at 0.
#
# ### One token through one block
#
# Now send the token [1, 3, 5, 7] through a whole block on paper. Suppose that attention, which has read the normalized tokens, adds [1, −1, 0, 0]. The sum is normalized for the second branch. Its feed-forward network has one hidden entry, which copies the fourth entry of what it reads, passes it through the ReLU, and adds twice the result to the first entry of the stream. What comes out?
#
# <details><summary>The numbers</summary>
#
# The stream becomes [2, 2, 5, 7]. Its mean is 4 and the mean of its squared deviations is 4.5, so the normalized token is [−2, −2, 1, 3] / √4.5 = [−0.94, −0.94, 0.47, 1.41]. The hidden entry is 1.41, twice that is 2.83, and the block returns [4.83, 2, 5, 7]. Three of the four entries are what they were before the second branch.
#
# </details>
#
# ## In PyTorch
#
# ### Where the norm belongs
#
# With these parts the block is complete: normalize, attend and add, then normalize again, apply the feed-forward network, and add.

# %%
figures.block()

# %% [markdown]
# The first half is $x \leftarrow x + \text{attention}(\text{norm}_1(x))$. The second has the same form, with a norm of its own and with the feed-forward network in place of attention.
#
# On the left side of the figure the stream runs down to the output through additions only, with no norm and no matrix in its way. To normalize at the beginning of each branch, as here, is called *pre-norm*. The paper of 2017 normalized *after* each addition instead, $x \leftarrow \text{norm}_1(x + \text{attention}(x))$ and likewise for the network. In this design, called *post-norm*, the stream itself passes through every norm.
#
# How much depends on this choice? Here are stacks of twelve blocks that learn for 100 steps to reverse eight digits. The "bare" ones are post-norm blocks without the additions, $x \leftarrow \text{norm}_1(\text{attention}(x))$, and the last ones are pre-norm blocks without the norms. The cell prints the standard deviation of the numbers in the untrained stream, before the first block and after the last, and then the losses after 50, 80 and 100 steps, in braces. Before you run it, write down which of the four will have learned nothing, and which will be first.

# %% measured
print("loss of a guess     2.30")
for kind in ("bare", "post-norm", "pre-norm", "no norm"):
    first, *_, last = stack.spread(kind)
    losses = stack.train(kind, steps=100)
    after = {step: round(losses[step - 1], 2) for step in (50, 80, 100)}
    print(f"{kind:10} {first:.1f} to {last:.1f}  {after}")

# %% [markdown]
# The bare stack stays at the loss of a guess among ten digits, $\ln 10 = 2.30$, and the optional section at the end looks for the reason. After 50 steps post-norm has begun to learn, and pre-norm is nearly done. Without norms the numbers in the stream grow to twice their size before any training, and learning takes about as long as with post-norm. In deeper stacks they grow much more (not shown).
#
# The original transformer had post-norm. Larger models of this kind need a learning rate that starts tiny (Xiong et al., below).
#
# ### Exercise 8.1: the block
#
# Write the block of the figure. Its attention is the module of lesson 6, with the mask. The module is in `attention.py` beside this notebook, so nothing depends on your other notebooks, and it returns a pair.
#
# While a model trains, *dropout* acts in three places: on the attention weights, which the module takes care of, and on what each of the two branches is about to add. PyTorch's own layer has a fourth place, between the two linear layers, which yours does not.

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
# With the usual inner width of 4E, attention has 4E² parameters and the feed-forward network has 8E². "Attention is all you need" is a good title, but two thirds of such a block are something else, as the next cell shows for the sizes of the original paper.

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
# The models of recent years have kept this plan and changed details. Many leave most biases out. The feed-forward network of most is *gated*, as in SwiGLU: it makes two linear maps of the token, applies a smooth function to one of them, and multiplies the two entry by entry. And most use *RMSNorm*, which is cheaper than LayerNorm: it does not subtract the mean, and divides each token by the root of its mean square. Lesson 13 measures what these details are worth. Here is RMSNorm as a single line:

# %%
x = torch.tensor([1.0, 3.0, 5.0, 7.0])
x / x.square().mean().sqrt(), nn.RMSNorm(4)(x).detach()

# %% [markdown]
# ### The decoder looks twice
#
# The encoder's block may look at the whole input apart from padding. The decoder has to look in two places: at what it has written so far, with a causal mask, and at the *memory*, as the encoder's output is called. The second look is called *cross-attention*, because its queries come from one sequence and its keys and values from another.
#
# | | queries from | keys and values from | mask |
# |---|---|---|---|
# | encoder, self-attention | what is read | what is read | padding `(B, 1, 1, S)` |
# | decoder, self-attention | what is written | what is written | causal `(L, L)` |
# | decoder, cross-attention | what is written | the memory | padding of the memory |
#
# A decoder block therefore has three branches, each with a norm of its own: it looks back, it looks across, and it feeds forward. Since pre-norm leaves the stream itself unnormalized, one more norm follows the last block on each side. The decoder uses the memory as it is, because it has already passed the encoder's last norm. For eighteen characters read and ten to be written, the table of the cross-attention has ten rows and eighteen columns.

# %%
figures.decoder_block()

# %% [markdown]
# ### Exercise 8.2: the decoder block
#
# Start from a copy of your block and add what is missing, which is one branch with its norm.

# %% hints DecoderBlock [markdown]
# How many branches are there, and in which order? For each of the two attentions, write down where its queries, keys and values come from before you write any code.
#
# The query of the cross-attention is the normalized stream. Its keys are the memory, and values follow the keys unless you say otherwise.
#
# There are two masks for two attentions. One speaks about positions that have been written, the other about positions that were read. The memory needs no causal mask.


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
# ### The whole model
#
# Here is the figure from the beginning of this lesson as code. The blocks are arguments of the constructor, by default PyTorch's, so that the lesson goes on even if your exercises are still open.


# %%
class Transformer(nn.Module):
    def __init__(
        self,
        block: Callable[..., nn.Module] = transformer.TorchBlock,
        decoder_block: Callable[..., nn.Module] = transformer.TorchDecoderBlock,
        causal: bool = True,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(transformer.CHARACTERS) + 1, 64)  # and "begin"
        self.read_place, self.write_place = nn.Embedding(18, 64), nn.Embedding(10, 64)
        self.encoder, self.decoder = block(64, 4, 128), decoder_block(64, 4, 128)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(64), nn.LayerNorm(64)
        self.out = nn.Linear(64, len(transformer.CHARACTERS))
        self.causal = causal

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mask = transformer.not_padding(x)  # (B, 1, 1, S)
        stream = self.embed(x) + self.read_place.weight  # (B, S, E)
        return self.encoder_norm(self.encoder(stream, mask)), mask

    def write(self, tokens: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        length = tokens.size(1)
        may_look = torch.ones(length, length, dtype=torch.bool)
        mask = may_look.tril() if self.causal else may_look
        stream = self.embed(tokens) + self.write_place.weight[:length]
        return self.out(
            self.decoder_norm(self.decoder(stream, memory, mask, memory_mask))
        )

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        begin = torch.full_like(y[:, :1], transformer.BEGIN)
        return self.write(torch.cat([begin, y[:, :-1]], dim=1), *self.encode(x))


# %% [markdown]
# Read `forward` from the inside. The encoder makes the memory, and the decoder is given the *right* answer, shifted by one place. For 1955-01-28 its inputs are `begin 1 9 5 5 - 0 1 - 2`, and it has to predict `1 9 5 5 - 0 1 - 2 8`. This is the *teacher forcing* of lesson 1, with a difference. The recurrent decoder takes the ten characters one after another. Here one pass gives all ten predictions, because the causal mask keeps each character from seeing its successors.
#
# In `train` the learning rate rises over the first 30 steps from a tenth to its full value. This is called a *warm-up*, and lesson 13 measures what it is worth:


# %%
def train(model: Transformer, steps: int) -> Transformer:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=30)
    for step in range(steps):
        x, y = transformer.dates(64, step)
        logits = model(x, y)  # (B, 10, characters)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warm_up.step()
    return model.eval()


# %% measured
torch.manual_seed(0)
model = Transformer()
_, seconds = transformer.seconds(lambda: train(model, steps=130))
print(f"transformer: {transformer.accuracy(model):.0%} in {seconds:.1f} s")
reveal("the transformer is", "clearly better")

# %% [markdown]
# The transformer is clearly better, but its lead does not last. With twice the steps, both models get nearly all dates right (not shown). So the race does not show which is the better model. It shows that attention can do the job without a recurrent network, which was new in 2017.
#
# The main advantage that its authors named is that in training nothing has to wait. A recurrent network can read character 18 only after the 17 before it. A transformer takes all positions through each layer at once.
#
# ### Where the decoder looks
#
# Here is where the cross-attention of the model looks for one date, as the mean over its four heads, below the map of lesson 1. Each row is labeled with the character that it writes:

# %%
text = "28 january 1955"
x = torch.tensor([transformer.to_ids(text)])
written = transformer.to_text(transformer.written_by(model, x)[0])
looks = transformer.cross_attention(model, x)[0].mean(dim=0)  # (10, 18)
figures.maps(looks, written, text)

# %% [markdown]
# Most of the weight lies in the same regions of both maps: the year, the name of the month, the day. The transformer is less tidy. While it writes the 1 and the 9, about a fifth of its weight is on the r of january, and for the 2 of the day about a quarter is on the j. It reads this 2 mostly at the 2. In lesson 1 it was read at the 8, where the recurrent state had seen both digits. In the lower map the rows of the hyphens are smeared, which does no harm, because hyphens never move.
#
# ### What each part is worth
#
# A branch only adds, and that makes it easy to take one away. If its last matrix is 0 and stays 0, everything else can be trained without it. Such an experiment is called an *ablation*. The next cells ablate three kinds of branches in turn, and then the two tables of places, each time in a fresh model that learns for the same 130 steps.
#
# **Predict.** What does the model need most for its dates?

# %%
predict(
    "the dates need most",
    options=(
        "feed-forward networks",
        "the encoder's self-attention",
        "the decoder's self-attention",
        "places of what is read",
        "places of what is written",
    ),
)

# %% measured
PARTS = {
    "feed-forward networks": lambda m: (m.encoder.linear2, m.decoder.linear2),
    "the encoder's self-attention": lambda m: (m.encoder.self_attn.out_proj,),
    "the decoder's self-attention": lambda m: (m.decoder.self_attn.out_proj,),
    "places of what is read": lambda m: (m.read_place,),
    "places of what is written": lambda m: (m.write_place,),
}
for name, layers_of in PARTS.items():
    torch.manual_seed(0)
    smaller = Transformer()
    for parameter in nn.ModuleList(layers_of(smaller)).parameters():
        nn.init.zeros_(parameter).requires_grad_(False)
    right = transformer.accuracy(train(smaller, steps=130))
    print(f"without {name:29} {right:.0%}")
reveal("the dates need most", "places of what is read")

# %% [markdown]
# Without places in what it reads, the model cannot know which of two numbers came first, and it gets hardly a date right. Without places in what it writes, it still gets between three and five dates in ten.
#
# Without self-attention in the encoder, each character reaches the memory alone, and about a quarter of the dates were lost when this page was made. From other starts, and on other computers, it was between one in six and one in three. The other two parts are missed much less. Yet "What attention cannot do" argued that a block needs its feed-forward network. Is that wrong?
#
# No, the argument and the measurement are both right. The argument was about what a stack of attention layers can compute at all. An ablation measures what a part is worth to this model for this task. Dates are mostly copied, and copying needs little computing. And the decoder's self-attention has a stand-in: places tell which part of the date comes next, and so do the characters already written. Without both, hardly a date is right (not shown).
#
# ### Writing
#
# In training, the decoder was told the right previous characters. On its own it has nothing but a start symbol, so it must write one character, read what it has written, and write the next. The first round looks like this:

# %%
x, y = transformer.dates(1, seed=7)
memory, mask = model.encode(x)
tokens = torch.tensor([[transformer.BEGIN]])
logits = model.write(tokens, memory, mask)  # (1, 1, characters)
transformer.to_text(x[0]), transformer.CHARACTERS[int(logits[0, -1].argmax())]

# %% [markdown]
# One token went in, one row of logits came out, and its largest entry belongs to "1", the first character of the year. If the "1" is appended, two rows of logits come out. The first is the same as before, as the causal mask guarantees, and the second is the one we want. Always taking the character with the largest logit is called *greedy* decoding.
#
# ### Exercise 8.3: greedy decoding
#
# Write the loop. It knows nothing about dates, since `step` may be any function from tokens to logits. It writes a fixed number of tokens, since no token marks the end.

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
# The next model is built from your blocks, learns for the same 130 steps, and writes with your loop.

# %% measured
try:
    torch.manual_seed(0)
    mine = train(Transformer(TransformerBlock, DecoderBlock), steps=130)
    x, y = transformer.dates(500, 99_999)
    memory, mask = mine.encode(x)
    tokens = greedy_decode(
        lambda t: mine.write(t, memory, mask), transformer.BEGIN, 10, 500
    )
    print(f"your transformer: {(tokens == y).all(dim=-1).double().mean():.0%} right")
except NotImplementedError:
    print("not yet: one of exercises 8.1 to 8.3 is still open")

# %% [markdown]
# Your number may differ from the first one by a few points, because PyTorch's attention has biases and draws its first weights differently. Another seed makes as much of a difference.

# %% [markdown]
# ### Two masks that are easy to forget
#
# **The causal mask, in training.** The decoder is given the right answer, shifted by one. If it may look ahead, then every character that it is to predict, apart from the last, is among its inputs. **Predict**: without the mask, what share of dates does it get right in training, and what share on its own?

# %%
predict("told the right characters", options=("nearly all right", "nearly all wrong"))
predict("writing on its own", options=("nearly all right", "nearly all wrong"))

# %% measured
torch.manual_seed(0)
peeking = train(Transformer(causal=False), steps=130)
x, y = transformer.dates(500, 99_999)
told = (peeking(x, y).argmax(dim=-1) == y).all(dim=-1).double().mean()
print(f"told: {told:.0%} right, on its own: {transformer.accuracy(peeking):.0%}")
reveal("told the right characters", "nearly all right")
reveal("writing on its own", "nearly all wrong")

# %% [markdown]
# As long as it is told the right characters, the model reads nine of the ten off its input. The next cell counts the mistakes at each place, and all of them are at the tenth. On its own the model has nothing to read off, and it fails. Its training loss gave no sign of this failure, so judge a model that writes by what it writes.

# %% measured
(peeking(x, y).argmax(dim=-1) != y).sum(dim=0).tolist()

# %% [markdown]
# **The padding mask of the memory.** Short dates are padded to 18 characters with spaces. These must be hidden both in the encoder's self-attention and in the cross-attention, or the model mixes them in. Here is how far the logits of one short date move when only the cross-attention may look at its padding:

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
# ### When a model does not learn
#
# Sooner or later a model of your own will not learn, and most often no error will tell you why. Guessing takes days. It is faster to ask five questions in this order. Each of them rules out a whole family of mistakes, and the first ones cost only seconds:
#
# 1. **Does the loss start at that of a guess?** With ten equally likely answers, that is $\ln 10 = 2.30$. A start far above it means that the logits are much too large. A start clearly below it usually means that there are fewer classes than you think, or that the mean also counts places whose loss was set to 0, such as padding.
#
# 2. **Can the model learn a single batch by heart?** After 100 steps on the same few examples, the loss on them should be close to 0. If it is not, then neither more data nor a larger model will help, because the mistake is in the program or in its learning rate.
#
# 3. **Does every parameter move in a step?** One that stays where it is has either not been reached by the gradient, or is not known to the optimizer.
#
# 4. **Does another learning rate help?** Try factors of ten. Anything finer can wait until the model learns at all.
#
# 5. **Is it better than a guess on new data?** If a program fails only here, read the pairs of inputs and answers themselves.
#
# The next cell asks all but the fourth, each time of a program that is made anew, and draws the answers. The program is sound, and trains two pre-norm blocks to reverse eight digits.


# %% measured
def examine(make: Callable[[], stack.Program]) -> figures.Answers:
    """Return the losses on one batch and on new ones, and how many tensors move."""
    program = make()
    by_heart = [program.step(seed=0) for _ in range(100)]
    program = make()
    on_new = [program.step(seed) for seed in range(100)]
    program = make()
    before = [p.clone() for p in program.model.parameters()]
    program.step(seed=0)
    pairs = zip(before, program.model.parameters(), strict=True)
    moved = sum(not old.equal(new) for old, new in pairs)
    return by_heart, on_new, (moved, len(before))


figures.examined("Health: both losses fall to 0", sound=examine(stack.sound))

# %% [markdown]
# This is what health looks like. The loss starts slightly above the dotted line at 2.30, because random logits are a little worse than equal ones. The batch is learned by heart (solid), all thirty tensors of parameters move, and new sequences (dashed) follow fifteen to twenty steps later.
#
# Now for four programs that contain one mistake each. One has a learning rate of 0.3 instead of 0.003. In another the answers are in a different order from the questions. One makes new blocks after its optimizer has been made, and one applies softmax to its logits although the loss, PyTorch's `cross_entropy`, does so itself.

# %% measured
ill = {name: examine(make) for name, make in stack.BROKEN.items()}
figures.examined("Four programs, each ill in its own way", **ill)

# %% [markdown]
# **Predict.** Which program has which mistake? Each question that a program fails rules out some of the four.

# %%
MISTAKES = ("rate too high", "answers mixed up", "blocks replaced", "softmax twice")
for name in stack.BROKEN:
    predict(f"program {name}", options=MISTAKES)

# %%
for name, number in zip(stack.BROKEN, (1, 3, 0, 2), strict=True):
    reveal(f"program {name}", MISTAKES[number])

# %% [markdown]
# **A** learns its batch by heart, so its model, its loss and its optimizer are all in order. Yet on new data it is no better than a guess. That is what happens if the answers belong to other questions: they can be learned by heart, but they follow no rule.
#
# **B** stops at 1.46, and you can find this number on paper. Where the loss expects logits it gets probabilities, at best 1 for the right digit and 0 for the nine others. The best that a second softmax can make of them is $e / (e + 9) = 0.232$, and $-\ln 0.232 = 1.46$. So this model has learned everything that there is to learn. It gets all digits of a new batch right, as the next cell shows.
#
# **C** moves all of its parameters and cannot even learn one batch, so try another learning rate. **D** learns a little, with the 6 tensors that do move. The other 24 belong to the new blocks, which the optimizer has never heard of.

# %% measured
program = stack.softmax_twice()
for seed in range(100):
    program.step(seed)
x, y = stack.pairs(seed=9_999)
f"{(program.model(x)[0].argmax(dim=-1) == y).double().mean():.0%} of the digits are right"

# %% [markdown]
# That leaves question 4. Here is the loss of the sound program after 100 steps with five learning rates:

# %% measured
for rate in (3e-5, 3e-4, 3e-3, 3e-2, 3e-1):
    program = stack.sound(rate)
    print(f"{rate:7.5f}  {[program.step(seed) for seed in range(100)][-1]:.2f}")

# %% [markdown]
# After 100 steps two of the five rates have learned, two have hardly begun, and the largest is no better than a guess. With 0.0003 the same program gets there after 1,000 steps (not shown). So a rate that is too small may look like a mistake in the program when all it needs is patience. Before you look for a mistake, try one rate that is ten times smaller and one that is ten times larger.
#
# The five questions do not find everything. The model without a causal mask passes all of them, because its mistake shows only when it writes on its own. The last word belongs to a measurement of what the model is for.
#
# ## What can go wrong
#
# **A branch that forgets to add.** If you write `x = self.dropout(...)` instead of `x = x + self.dropout(...)`, PyTorch raises no error, but the branch replaces the stream. Without any addition you have the bare stack of this lesson, which learned nothing.
#
# **Dropout left on.** In training mode a model with dropout writes something different every time, so call `model.eval()` before it writes and `model.train()` before it learns again.
#
# **Ten passes for ten characters.** The loop computes 1 + 2 + … + 10 = 55 positions, of which 45 have been computed before. Lesson 10 keeps what can be kept.
#
# ## What you learned
#
# After compare, share out and mix, a block does two more things: it adds the result to what was there, and it computes with the sum, token by token.
#
# | | what it is | what to remember |
# |---|---|---|
# | residual stream | `x + branch(x)` | no branch stands in its way |
# | LayerNorm | each token to mean 0 and standard deviation 1 | before the branch: pre-norm |
# | feed-forward network | linear, ReLU, linear, per token | two thirds of the parameters at four times the width |
# | cross-attention | queries from the decoder, keys and values from the memory | its mask is the memory's padding |
# | teacher forcing | the decoder is told the right previous characters | in a transformer, only with a causal mask |
# | greedy decoding | the largest logit, again and again | the last position counts |
# | five questions | start, one batch, movement, rate, new data | cheapest first |
#
# <details><summary>Our words, and those of papers</summary>
#
# | in these lessons | in papers and documentation |
# |---|---|
# | place | position |
# | table of scores | attention logits, $QK^\top$ |
# | map of weights | attention pattern, attention matrix |
# | smeared | diffuse, of high entropy |
# | mixture | weighted sum, context vector |
# | room | memory |
#
# </details>
#
# %%
recap()

# %% [markdown]
# If you expected the dates to need the feed-forward networks most, you may have gone by the number of their parameters. The size of a part does not say how much it matters for a task, and what an ablation says of this task need not hold for another.
#
# ## Questions
#
# **Question R8** (2 points, graded by a person). For each of the three attentions of an encoder-decoder, say where queries, keys and values come from. Then swap: in the cross-attention, let queries come from the memory, and keys and values from the decoder. What shape does the result have, what breaks, and in which case would nothing complain?

# %% question R8 [markdown] points=2
# Encoder self-attention: all three from what is read. Decoder self-attention: all three from what has been written, with a causal mask. Cross-attention: queries from the decoder's stream, keys and values from the memory.
#
# Swapped, there is one query per position *read*, so the result is (B, S, E) instead of (B, L, E). Adding it to the stream (B, L, E) fails if S and L differ. If they are equal (or one of them is 1, and broadcasts) nothing complains: position i of the output then gets what input position i found among the written characters. The mask for the memory's padding would also be applied to the wrong axis. And the written characters would be read *without a causal mask*, so that training looks perfect and the model cannot write.
#
# | points | for |
# |---|---|
# | 1 | The sources of all three: what is read, what has been written, and queries from the decoder's stream with keys and values from the memory |
# | 1 | Swapped: the shape (B, S, E), so that adding it to the stream fails, and the silent case S = L (or no causal mask hides later characters, so that training looks perfect) |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "In cross-attention the memory asks, because the encoder comes first." | Whoever wants to know something asks. The decoder is about to write, and it looks things up in the memory. |
# | 1 | "[Sources right.] Swapped, the shape is (B, L, E) as before, because attention does not change shapes." | The sources are right. Attention returns one row for each query. How many queries are there now? |
# | 1 | "[Sources right.] Swapped, it is (B, S, E), and adding it raises an error, so one would notice." | Right for S and L that differ. What happens where they are equal, and what can each position then see? |
# | 1 | "[Sources right.] Swapping changes nothing, because a dot product does not care which vector comes first." (sounds right) | The scores are only transposed. But softmax runs over the keys, and the values are now what was written: who gets a row of the result, and what is mixed into it? |

# %% [markdown]
# ## Optional: why the bare stack fails
#
# The bare stack of "Where the norm belongs" learned nothing. The usual explanation is that gradients vanish on their way back through the layers. To test it we build one more stack, called "small gradients". Going forward, it computes exactly what pre-norm computes. Only on the way back, each block multiplies the gradient by 0.8. The next cell divides the gradient at the first block by the gradient at the output of the last one, before any training, for three random starts:

# %% measured
KINDS = ("bare", "post-norm", "pre-norm", "small gradients")
for kind in KINDS:
    ratios = [stack.gradients(kind, seed)[0] for seed in range(3)]
    print(f"{kind:15}", [f"{ratio:.1f}" for ratio in ratios])

# %% [markdown]
# In the bare stack between a tenth and a half of the gradient arrives, and in the control, "small gradients", about a tenth. So if the size of the gradient were what mattered, the control should fail as well.

# %% measured
losses = stack.train("small gradients", steps=100)
print(f"small gradients, after 100: {losses[-1]:.2f}")

# %% [markdown]
# It learns as well as plain pre-norm. Adam divides each gradient by its usual size, so the size of a gradient hardly matters to it.
#
# Let us look at the way forward instead. To reverse a sequence, a stack must be able to tell its eight tokens apart. How alike are they? The figure shows the mean cosine between every two of them in the untrained stacks, before the first block and after each of the twelve. At 1, all eight point in the same direction. "Small gradients" has the same line as pre-norm.

# %% measured
plot.curves(
    range(13),
    {kind: stack.likeness(kind) for kind in KINDS[:3]},
    "Where branches replace the stream, all tokens become alike",
    xlabel="blocks passed",
    ylabel="mean cosine between two tokens",
    from_zero=True,
    alt="All lines start near 0. The bare stack reaches 1 within three blocks. Post-norm stays low, and pre-norm lower still.",
)

# %% [markdown]
# After three blocks the bare stack is at 1.00. Its eight tokens have become all but equal, which is known as *rank collapse* (Dong, Cordonnier and Loukas, below). The likely reason is that every attention layer averages over the tokens, and averages of averages become equal. The additions prevent the collapse, because a token to which something is added stays similar to what it was.
#
# The table sets the two explanations side by side: the share of the *gradient* that arrives at the first block, and the mean *cosine* after twelve blocks. Each range is that of three starts.
#
# | | gradient | cosine | learns |
# |---|---|---|---|
# | bare | 0.1 to 0.5 | 1.00 | no |
# | post-norm | 0.6 to 0.9 | 0.42 to 0.66 | yes |
# | pre-norm | 1.2 to 1.3 | 0.19 to 0.36 | yes |
# | small gradients | 0.1 | 0.19 to 0.36 | yes |
#
# The size of the gradient does not tell which stack learns, and the collapse does. That is evidence and not a proof, since the one stack that collapses is also the only one without additions.

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.1 and figure 1: encoder and decoder.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): pre-norm against post-norm.
# - Dong, Cordonnier and Loukas 2021, [Attention is not all you need](https://arxiv.org/abs/2103.03404): why tokens of a bare stack become equal.
# - He et al. 2015, [Deep Residual Learning](https://arxiv.org/abs/1512.03385): where adding instead of replacing comes from.
#
# **Next:** [lesson 9](../09_train_and_look_inside/09_train_and_look_inside.ipynb) stacks these blocks, trains them on text, and looks inside.
