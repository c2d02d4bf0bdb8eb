# %% [markdown]
# # 13. A GPT of your own
#
# After this lesson you can build a language model from its tokens to its text, and train it with the recipe that large models are trained with. You can also let it write, tell whether it quotes, and run published weights in it. You should have done lessons 8 and 9, and for one optional section lesson 10. About 250 minutes, in four sittings, which end before "The recipe", before "Part 2", before "Published weights", and at the end.
#
# **From memory.** What are the two branches of a block, and what is added to what? Which mask does a model need that writes one token after another? And where does an induction head look?
#
# <details><summary>Answers</summary>
#
# Attention and a feed-forward network. Each of them is added to the stream that it has read through a norm. A causal mask. An induction head looks at what came after the previous occurrence of the present token.
#
# </details>
#
# ## The idea
#
# A dictionary explains a word in a few words, seven on average here. That is short enough for a small model to get right, so in this lesson we teach one to write dictionary entries. The model beside this notebook has read 60,136 entries of WordNet, such as `titrator: an apparatus for performing a titration`, and nothing else. Given a word and a colon, it goes on until it decides that the definition has ended, whether the word exists or not.

# %% setup
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial

import given
import torch
from given import Block, merge
from torch import Tensor, nn

from autograder import check, earlier, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_flush_denormal(True)
torch.set_num_threads(1)

# %% measured
text, shipped = given.Dictionary(), given.GPT(2048, **given.LARGE)
given.load(shipped)
define = partial(given.define, shipped, text)
for seed, word in enumerate(("ability", "student", "transformer", "blicket")):
    print(define(word, seed=seed))

# %% [markdown]
# *Blicket* is not in that dictionary. Psychologists made the word up for experiments with children. Now replace "ada" by your own name, in small letters from a to z and without spaces. Each seed gives another definition. Unless the text says otherwise, tokens are drawn at a temperature of 0.7, as in lesson 4.

# %% measured
name = "ada"
for seed in range(4):
    print(define(name, seed=seed))

# %% [markdown]
# Some of these could be read out to a friend, and some are not quite English. You are about to build all that it takes to write them. At the end, your own model runs weights that somebody else has trained and published.
#
# ### Part 1: tokens, model, training
#
# This part needs the block and the training loop of lesson 8. It has exercises 13.1 to 13.4, and ends with a model that has learned on your computer for three minutes.
#
# ## By hand
#
# ### Between characters and words
#
# A model reads numbers, so the first thing to decide is what gets a number. The models of lesson 9 read characters, so they had to learn how words are spelled, too. Whole words would save them that work, but there are too many, and every new text brings words that the model has never met. *Byte-pair encoding* takes the middle way. It starts from characters and merges the pair of neighbors that occurs most often into one token, again and again. Frequent words end up as a single token, and rare ones stay in pieces.
#
# Take a text in which *low* occurs five times, *lower* twice and *slow* three times. The pairs l, o and o, w occur in all ten words. Of equally frequent pairs, the one that comes first in the alphabet is merged first, which is l, o here. Before you run the next cell, write down what the three words look like after this merge, and which pair is then the most frequent.

# %%
once = {word: merge(list(word), ("l", "o")) for word in ("low", "lower", "slow")}
twice = {word: merge(tokens, ("lo", "w")) for word, tokens in once.items()}
once, twice

# %% [markdown]
# Now the pair lo, w occurs in all ten words, and so *low* is a token after two merges. No merge crosses the end of a word, so it is enough to know how often each word occurs.
#
# ### Exercise 13.1: learn byte pairs
#
# Learn the merges of a text. `merge(tokens, pair)` makes a single one in a list of tokens; it is in `byte_pairs.py` beside this notebook.

# %% hints learn_merges [markdown]
# Where do you keep the tokens of each word between two merges, and what does one word of the text add to the count of a pair if it occurs seven times?
#
# A dictionary from each word to its list of tokens is enough. `itertools.pairwise` goes through all neighbors in a list. Only a pair of equal tokens can overlap with itself.
#
# The best pair has the largest count, and among equal counts it is the smallest tuple. One call of `min` finds it if its key has both, the count with a minus. Count anew after each merge.


# %% exercise learn_merges
def learn_merges(words: Mapping[str, int], merges: int) -> list[tuple[str, str]]:
    """Learn byte pairs (Sennrich et al. 2016): which pair of neighboring tokens to merge first, which second, and so on.

    words maps each word to how often it occurs. At first every character of a word is a token. Then, `merges` times,
    the most frequent pair of neighbors is merged into one token wherever it occurs in a word, from left to right. A
    pair counts as often as it could be merged: in "aaa", ("a", "a") counts once. Of equally frequent pairs, the
    smallest comes first, as Python compares tuples. Nothing is merged across words.
    Returns the pairs in the order of their merges, fewer than `merges` if no pair is left. words stays as it is.
    """
    ### BEGIN SOLUTION
    tokens = {word: list(word) for word in words}
    learned: list[tuple[str, str]] = []
    for _ in range(merges):
        counts: dict[tuple[str, str], int] = {}
        for word, parts in tokens.items():
            for pair, run in itertools.groupby(itertools.pairwise(parts)):
                fit = (len(list(run)) + 1) // 2  # "aaa" holds two, of which one fits
                counts[pair] = counts.get(pair, 0) + fit * words[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        learned.append(best)
        tokens = {word: merge(parts, best) for word, parts in tokens.items()}
    return learned
    ### END SOLUTION


# %% check learn_merges

# %% [markdown]
# ### What the model sees
#
# The tokens of our model were learned in this way from its definitions. There are 2,048 of them: 71 single characters, 1,976 merges, and one token, END, that stands for no character. Here is a line as the model sees it, and below it a word whose letters language models are famous for miscounting:

# %%
for line in (text.seen[0], "strawberry"):
    print("|".join(text.tokens[number] for number in text.encode(line)))
given.merge_tree("strawberry", text.merges)

# %% [markdown]
# The characters of *strawberry* are at the top, with a dot for the space before the word. The number in each box says when its pair was learned. The pair e, r is the earliest and goes first. At the end no two neighbors are a pair that was ever learned, and four tokens are left.
#
# A line is first cut into words, each with the space before it. Marks such as the colon are words of their own. A token END, not shown here, comes before the first word and after the last one. When the model draws it, the definition is over. The tokens that were merged first are short, and many of those that came last are whole words:

# %%
[text.tokens[number] for number in (75, 80, 90, 150, 400, 1000, 1800, 2047)]

# %% [markdown]
# How many letters r are there in the tokens of *strawberry*? You can count one in each of three tokens. The model cannot, because it gets one number per token and not the letters. It learns about the spelling of a token only from the texts in which the token occurs.
#
# ### Exercise 13.2: split a word
#
# Split a word, which may be new, into tokens, with merges that were learned before. The class `Dictionary`, which splits the lines of this notebook, is not allowed here.

# %% hints split_word [markdown]
# If two pairs in a word could be merged, and they overlap, which of them goes first? What does its place in the word have to do with it?
#
# Each pair has a rank, its index in `merges`. Look at all neighbors that are in the word now, and merge the one with the lowest rank.
#
# A merge makes new neighbors, and these may have a lower rank than the pair that was merged last. So look at all of them again after each merge, until none is known.


# %% exercise split_word
def split_word(word: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """Split a word into tokens with merges that were learned before.

    At first every character is a token. Then, again and again: of all pairs of neighbors in the word, the one that
    comes first in merges is merged wherever it occurs, from left to right, until no pair is in merges.
    Returns the tokens in the order of the word. Characters that are in no pair stay as they are, and an empty word
    has no tokens (an empty list). No pair is twice in merges.
    """
    ### BEGIN SOLUTION
    rank = {pair: index for index, pair in enumerate(merges)}
    tokens = list(word)
    for _ in word:  # every merge leaves fewer tokens
        known = [pair for pair in itertools.pairwise(tokens) if pair in rank]
        if not known:
            break
        tokens = merge(tokens, min(known, key=rank.__getitem__))
    return tokens
    ### END SOLUTION


# %% check split_word

# %% [markdown]
# ## In PyTorch
#
# ### From tokens to logits
#
# The model is a decoder without an encoder. Each token becomes a vector, to which the vector of its position is added. Then come the blocks, in which every token looks at itself and at the tokens before it. After one more norm, each vector is compared with the embedding of every token in the vocabulary, and these dot products are the logits. So the matrix that turns tokens into vectors also turns vectors into logits. Such an output matrix is called *tied*.

# %%
given.whole_model()

# %% [markdown]
# The block is that of lesson 8 with three differences. The linear layers of its attention have biases, its network is four times as wide inside as outside, and between the two layers of the network is a *GELU*. A GELU is x times the probability that a standard normal number is below x, which GPT-2 and our block approximate with tanh. Its curve is that of a ReLU without the corner. You find the block in `blocks.py`.
#
# ### Exercise 13.3: the model
#
# Write the whole model, from tokens to logits. `Block(d_model, num_heads, dropout)` makes a block. The class `given.GPT`, which other cells fall back on if this exercise is open, is not allowed here.

# %% hints GPT [markdown]
# What does a token bring along besides what it is? And which positions may position 3 look at, itself included?
#
# The positions of all texts of a batch are the same numbers, 0 to L − 1, and what their embedding returns is (L, E), which is added to (B, L, E). The mask is that of lesson 5, and each block takes it as its second argument.
#
# The logit of a token is the dot product of the normalized stream with that token's embedding, for all tokens at once one matrix product, with no softmax. Draw the initial weights at the end of `__init__`, when all layers exist.


# %% exercise GPT
class GPT(nn.Module):
    """A decoder-only transformer: which token comes next, at every position (Radford et al. 2019).

    Layers: token_embedding is nn.Embedding(vocab_size, d_model), position_embedding is nn.Embedding(max_len, d_model),
    blocks is an nn.ModuleList of num_layers times Block(d_model, num_heads, dropout), norm is nn.LayerNorm(d_model).
    The output matrix is that of token_embedding; there are no other parameters. All matrices, those of the embeddings
    too, begin as normal numbers with mean 0 and a standard deviation of 0.02, biases and norms as PyTorch makes them.
    In training, dropout also acts on the sum of the two embeddings.
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, dropout) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, L, vocab_size) for tokens (B, L): what comes after each of them.

        Raises ValueError if there are more tokens than max_len.
        """
        ### BEGIN SOLUTION
        length, max_len = tokens.size(1), self.position_embedding.num_embeddings
        if length > max_len:
            raise ValueError(f"{length} tokens, but at most {max_len} fit")
        positions = torch.arange(length, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(positions)
        x = self.dropout(x)
        causal = positions[:, None] >= positions  # (L, L)
        for block in self.blocks:
            x = block(x, causal)
        return self.norm(x) @ self.token_embedding.weight.mT
        ### END SOLUTION


# %% check GPT

# %% [markdown]
# ### How many parameters?
#
# With the sizes of GPT-2 small, your class has its architecture: a vocabulary of 50,257 tokens, 1,024 positions, a width of 768, and 12 blocks with 12 heads each. A block has about 12 E² parameters, 4 E² in attention and 8 E² in the network, and 768² is about 590,000. **Predict** how many parameters the whole model has.

# %%
predict(
    "parameters of GPT-2 small", options=("12 million", "124 million", "1.2 billion")
)

# %%
with torch.device("meta"):  # shapes without numbers
    gpt2 = given.GPT(50_257, 1024, 768, 12, 12)
sizes = {n: sum(p.numel() for p in m.parameters()) for n, m in gpt2.named_children()}
print({part: f"{size:,}" for part, size in sizes.items() if size})
print(f"{sum(sizes.values()):,} tied, {sum(sizes.values()) + 50_257 * 768:,} untied")
reveal("parameters of GPT-2 small", "124 million")

# %% [markdown]
# Of the 124 million parameters, 39 million are the embeddings of tokens. Without tying, the model would have them twice.
#
# ### The recipe
#
# Large and small models are trained by a recipe whose core has changed little in years. Each part is a remedy for one trouble:
#
# - *Warm-up*: the learning rate starts near 0 and rises for a while, because Adam's first steps rest on very few gradients.
# - *Cosine*: afterward the rate falls along half a cosine, so that the last steps settle where the first ones have led.
# - *Clipping*: a gradient whose norm exceeds 1 is scaled down, so that one odd batch cannot undo the work of many (lesson 1).
# - *Weight decay*: at every step AdamW makes each weight a little smaller. A weight stays large only if the gradients keep pushing it away from 0. Biases and the weights of LayerNorm, its *gains*, do not decay.
#
# How much is each of them worth? The small model of this notebook was trained without each part in turn, for 600 steps and from three seeds. The whole recipe reaches a loss of about 5.1 on unseen lines, and the table shows by how much that loss rises. **Predict** which of the four is missed most.

# %%
predict("missed most", options=("warm-up", "cosine", "clipping", "weight decay"))

# %%
for way, row in given.worse("recipe", than="everything").items():
    print(f"{way:20}", [f"{d:+.3f}" for d in row])
reveal("missed most", "warm-up")

# %% [markdown]
# Warm-up matters most here, at a peak rate of 0.004. With a lower peak it might matter less. Clipping and the cosine bring a little from every seed. In the last two rows either nothing decays, or biases and gains decay as well. There the differences are so small that three seeds cannot tell them from chance. In much longer runs, decay may well matter.
#
# ### Exercise 13.4: the learning rate, and what decays
#
# Write two functions. The class `given.Recipe`, which other cells fall back on, is not allowed here. The first returns the learning rate of every step.

# %% hints learning_rate [markdown]
# There are three stretches: the warm-up, the cosine, and everything after the end. Which step is the first of each, and what should the rate be there?
#
# The steps are counted from 0, but step 0 should learn something already, so the warm-up counts from 1. In the cosine's stretch, how far along is a step, as a number from 0 to 1?
#
# Half a turn of the cosine goes from 1 to −1. Add 1 and halve it, and it goes from 1 to 0. Stretch that from the peak to the floor. Ask about the end before you divide.


# %% exercise learning_rate
def learning_rate(
    step: int, *, peak: float, warmup: int, total: int, floor: float = 0.0
) -> float:
    """Return the learning rate of a step, which counts from 0: a warm-up, then half a cosine (Loshchilov and Hutter 2017).

    Steps 0 to warmup - 1 rise in equal parts: the first has peak / warmup, the last has peak. Then half a cosine falls
    from peak at step `warmup` to floor at step `total`, and every later step has floor. warmup is from 0 to total; if
    it is total, there is no cosine.
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= total:
        return floor
    progress = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2
    ### END SOLUTION


# %% check learning_rate

# %% [markdown]
# ### What decays
#
# The second function of this exercise sorts the parameters into those that decay and those that do not. The class `given.Recipe` is not allowed here either.

# %% hints parameter_groups [markdown]
# How can you tell a matrix from a bias or a gain if you do not know what they are called? And how often does a matrix that two layers share come up?
#
# `model.parameters()` goes through every parameter once, also a shared one. Each parameter knows how many axes it has, and whether it learns.
#
# Two lists, made by one condition and its opposite, go into two dictionaries, in the order of the docstring. The optimizer reads the names of the keys, so spell them as they are there.


# %% exercise parameter_groups
def parameter_groups(model: nn.Module, decay: float) -> list[dict]:
    """Return the two groups that torch.optim.AdamW takes: what decays, then what does not.

    Each is a dictionary with "params", a list, and "weight_decay". Parameters with two axes or more (matrices, and
    embeddings among them) have the decay; those with fewer (biases, gains of norms) have 0.0. Every parameter that
    learns (requires_grad) is there once, also one that two layers share; others are left out.
    """
    ### BEGIN SOLUTION
    learning = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in learning if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in learning if p.dim() < 2], "weight_decay": 0.0},
    ]
    ### END SOLUTION


# %% check parameter_groups

# %% [markdown]
# ### Three minutes
#
# Now train. With two blocks and 128 dimensions, the model needs three minutes. The loop is that of lesson 8, with the recipe in it. If a model of your own does not learn one day, turn to "When a model does not learn" in lesson 8. `given.batches` yields 32 lines at a time, as tokens to read and tokens to predict. After the end of a line the tokens to predict are −100, which `cross_entropy` leaves out.


# %%
def train(model: nn.Module, rows: list, steps: int, rate, groups, show) -> list[float]:
    optimizer, losses = torch.optim.AdamW(groups, betas=(0.9, 0.99)), []
    for step, (tokens, targets) in enumerate(given.batches(rows, steps)):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        logits = model.train()(tokens)  # (B, L, V)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % (steps // 4) == 0:
            show(step + 1)
    return losses


# %% [markdown]
# The next cell takes what you have written, and otherwise what is provided. If your computer is slow or shared, replace `given.notebook_steps()` with 900. The definitions get worse, but everything below still works.

# %% measured
torch.manual_seed(0)
sizes, steps = {"vocab_size": len(text.tokens), **given.SMALL}, given.notebook_steps()
try:
    model = GPT(**sizes)
    plan = [learning_rate(n, peak=0.004, warmup=100, total=steps) for n in range(steps)]
    rate, groups = lambda step: plan[step], parameter_groups(model, decay=0.1)
except NotImplementedError:
    model, recipe = given.GPT(**sizes), given.Recipe(steps=steps)
    rate, groups = recipe.rate, recipe.groups(model)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
print(given.define(model, text, "attention"))


# %% [markdown]
# Before training the model writes confetti. What loss should you expect? A model that has learned nothing gives each of the 2,048 tokens about the same probability, so its loss is near ln 2048 = 7.6. At the beginning and four times on the way, `show` prints the loss per token on lines that were set aside, and one definition.


# %%
def show(step: int) -> None:
    loss = given.loss_on(model, text, text.unseen)
    written = given.define(model, text, "attention", seed=1)
    print(f"{step:4} steps, loss {loss:.2f}: {written}")


# %% measured
show(0)
rows = [text.row(line) for line in text.seen]
losses = train(model, rows, steps, rate, groups, show)

# %% [markdown]
# The next figure shows the loss on the training lines, as a mean of every 100 steps after the first.

# %% measured
parts = torch.tensor(losses).chunk(36)  # 100 steps each
plot.curves(
    [n * steps // len(parts) for n in range(len(parts) + 1)],
    {"loss": [losses[0], *(float(part.mean()) for part in parts)]},
    "Most of what is gained is gained early",
    xlabel="step",
    ylabel="loss per token, on the lines trained on",
    alt="The loss falls steeply at first, then ever more slowly, and hardly falls any more at the end.",
)

# %% [markdown]
# After a quarter of the time, the text sounds like a definition but makes little sense. From then on progress is slower. The shipped model has 2.2 million parameters, about three times as many, and has learned for half an hour:

# %% measured
for name, one in (("three minutes", model), ("shipped", shipped)):
    seen, unseen = (given.loss_on(one, text, p) for p in (text.seen, text.unseen))
    print(f"{name:14} loss on seen lines {seen:.2f}, on unseen lines {unseen:.2f}")

# %% [markdown]
# The shipped model is better on both. The gap between its two losses is several times as wide, 0.24 instead of less than 0.1, so it gains a little from having seen a line. Do not compare these losses with those of lesson 9, which are per character and not per token.
#
# ### Part 2: choosing, quoting, published weights
#
# This part needs lesson 4 and the shipped model, so you can start here once the first two code cells of this notebook have run. Only "Words that do not exist" and everything from "Published weights" on need Part 1 as well.
#
# ### Choosing the next token
#
# A model returns probabilities, and a program has to choose one token from them. There are four ways to choose:
#
# - *Greedy*: always the most probable one, which makes the same definition every time.
# - *Temperature*: divide the logits by a number below 1 to favor the probable ones, as in lesson 4, or above 1 to be bold.
# - *Top-k*: draw from the k most probable tokens only.
# - *Top-p*: draw from as few of the most probable tokens as together have the probability p. These are few where the model is sure, and many where it is not.
#
# Here is what the shipped model expects after "blicket: a device", and what each of the four leaves of it. The nine most probable tokens have bars of their own, and the bar on the right is the sum of the other 2,039:

# %% measured
row = torch.tensor([text.row("blicket: a device")[:-1]])
with torch.no_grad():
    logits = shipped(row)[0, -1]
given.four_ways(logits, text.tokens)

# %% [markdown]
# In the top row, the favorite has no more than 40%, since a definition may go on in many ways. Greedy decoding gives it everything. A temperature of 0.5 makes tall bars taller, but every token keeps a little. Top-k and top-p cut off all but the first bars. A probability of 0.8 takes seven tokens here, and fewer where the model is surer.
#
# The last two were invented because of the *tail*, which here means all tokens except the hundred most probable ones. Each of them is unlikely, but how much probability do they have together, on average over unseen lines?

# %% measured
with torch.no_grad():
    rows = [torch.tensor([text.row(line)[:-1]]) for line in text.unseen[::80]]
    likely = [shipped(row)[0].softmax(dim=-1).topk(100).values for row in rows]
print(f"after the first hundred: {1 - torch.cat(likely).sum(dim=-1).mean():.3f}")

# %% [markdown]
# At temperature 1, one token in eight comes from the tail. Real definitions have such tokens, too, but the model knows little about them, and those that it draws often do not fit.
#
# ### Exercise 13.5: probabilities of the next token
#
# Write a function that can do all four, alone and in combination.

# %% hints next_token_probabilities [markdown]
# In which order do temperature, top-k, top-p and softmax act, and which of them need to know the most probable tokens first?
#
# Sort the logits once, from large to small, and keep where each came from. Top-k is then a number of places, and top-p a condition on the sum of everything *before* a place. A stable sort leaves equal logits in their order.
#
# Fill what is dropped with −∞, so that one softmax at the end makes the rest sum to 1, and write the result back to where the sorted entries came from. A temperature of 0 is a case of its own.


# %% exercise next_token_probabilities
def next_token_probabilities(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Return the probabilities from which the next token is drawn.

    logits is (..., V). They are divided by the temperature first; at 0 the largest logit gets all of the probability.
    top_k then keeps the top_k most probable tokens (all, if there are not so many). top_p keeps as few of the most
    probable as are needed for their probabilities, as softmax gives them after the steps before, to sum to at least
    top_p (Holtzman et al. 2020). The probabilities of what is kept sum to 1, all others are 0.
    Of equal logits, the one with the smaller index counts as more probable. top_k is 1 or more; top_p is above 0, and 1
    keeps all.
    Returns (..., V), in the dtype and in the order of the logits.
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        largest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, largest, 1.0)
    ordered, index = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        rank = torch.arange(logits.size(-1), device=logits.device)
        ordered = ordered.masked_fill(rank >= top_k, -torch.inf)
    if top_p is not None:
        shares = ordered.softmax(dim=-1)
        before = shares.cumsum(dim=-1) - shares
        ordered = ordered.masked_fill(before >= top_p, -torch.inf)
    return torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))
    ### END SOLUTION


# %% check next_token_probabilities

# %% [markdown]
# ### How bold?
#
# Here is the shipped model on one word, three times under each of five settings:

# %% measured
ways = ({"temperature": 0.0}, {"temperature": 0.7}, {"temperature": 1.5})
try:
    for options in (*ways, {"top_k": 5}, {"top_p": 0.5}):
        chosen = partial(next_token_probabilities, **options)
        lines = [define("blicket", probabilities=chosen, seed=n) for n in range(3)]
        print(options, *lines, sep="\n    ")
except NotImplementedError:
    print("not yet: exercise 13.5 is still open")

# %% [markdown]
# At temperature 0 nothing is left to chance, and at 1.5 the model often writes words that do not exist.
#
# ### Learned or quoted?
#
# A model that knew its lines by heart would be no more than a slow search. To find out, the next cell takes six words that the model has not seen. Below each definition it prints the longest run of words that the definition shares with any line the model has learned from, and that line.

# %% measured
quotations = given.Quotations(text.seen)
for seed, unseen in enumerate(text.unseen[:960:160]):
    line = define(unseen.partition(":")[0], seed=seed)
    nearest, run = quotations.nearest(line)
    print(f'{line}\n      "{run}" as in "{nearest}"')

# %% [markdown]
# The shared runs are mostly phrases such as "the act of", and no definition is shared as a whole. But people who write dictionaries repeat themselves, too. The fair comparison is with *real* definitions that the model has not seen. For each definition we take the longest run of words that also occurs in a training line, and divide its length by the length of the definition.
#
# The next cell prints the mean of these shares, over 41 real definitions and over those that the model writes for the same words at four temperatures. An invented word cuts a run short, so the cell also prints what share of the words occurs in any training line:

# %% measured
words = [line.partition(":")[0] for line in text.unseen[::80]]
print("                  known words  shared")


def print_shares(name: str, lines: list[str]) -> None:
    known, shared, _ = quotations.shares(lines)
    print(f"{name:16} {known:12.2f} {shared:7.2f}")


print_shares("real definitions", text.unseen[::80])
for heat in (0.1, 0.7, 1.0, 1.5):
    chosen = partial(given.softmax, heat=heat)
    lines = [define(w, probabilities=chosen, seed=n) for n, w in enumerate(words)]
    print_shares(f"temperature {heat:4}", lines)

# %% [markdown]
# At temperature 1 the model shares less with its text than real new definitions do, 0.45 against 0.50. But one in six of its words occurs in no training line, against one in twenty-five in real definitions, so this does not show that it quotes less than a lexicographer does. At 0.1, where it hardly invents words, it clearly quotes more, because the most probable continuation is the one that it has seen most often. Whether it knows definitions of *seen* words by heart, this test cannot say.
#
# ### Words that do not exist
#
# Nothing in the model or in its loop is specific to definitions. Given other lines, the model learns those. Here are the words of the dictionary without their definitions, one in ten of them:

# %%
words = [line.partition(":")[0] for line in text.lines]
some = words[::10]
print(f"{len(some)} words:", *some[::500])

# %% [markdown]
# The loop that writes is short. It draws one token after another from the probabilities that a function makes of the logits:


# %%
def write(model: nn.Module, lines: given.Dictionary, chosen, seed: int) -> str:
    generator, numbers = torch.Generator().manual_seed(seed), lines.row("")[:-1]
    while len(numbers) < 20:
        logits = model.eval()(torch.tensor([numbers]))[0, -1]
        drawn = int(torch.multinomial(chosen(logits), 1, generator=generator))
        if drawn == numbers[0]:  # END
            break
        numbers.append(drawn)
    return lines.decode(numbers)


# %% [markdown]
# The next cell goes through the whole lesson once more, with your functions. It learns byte pairs from these words, trains a small model on them for a quarter of a minute, and lets it write ten words. The shipped model says what they mean.

# %% measured
try:
    torch.manual_seed(0)
    own = given.Dictionary(some, learn_merges(given.word_counts(some), 200))
    inventor, steps = GPT(len(own.tokens), **given.SMALL), min(steps, 400)
    rate = partial(learning_rate, peak=0.004, warmup=50, total=400)
    rows, groups = [own.row(word) for word in own.seen], parameter_groups(inventor, 0.1)
    train(inventor, rows, steps, rate, groups, show=lambda step: None)
    chosen = partial(next_token_probabilities, temperature=0.8, top_p=0.9)
    for seed in range(10):
        word = write(inventor, own, chosen, seed)
        print("known:   " if word in words else "invented:", define(word, seed=seed))
except NotImplementedError:
    print("not yet: exercises 13.1 and 13.3 to 13.5 are needed here")

# %% [markdown]
# <details><summary>A text of your own</summary>
#
# Replace `some` with `open("mine.txt").read().splitlines()`, whose lines may have at most 48 tokens. `torch.save(inventor.state_dict(), "inventor.pt")` keeps what the model has learned, and `inventor.load_state_dict(torch.load("inventor.pt"))` brings it back.
#
# </details>
#
# ### Optional: the same text with less work
#
# For each new token, `write` hands the model the whole line again, although the keys and values of what has been read never change. The cache of lesson 10 can keep them. **Predict** how many tokens pass through the first block while a line of 20 tokens is written one by one, without a cache and with one.

# %%
predict(
    "tokens through a block",
    options=(
        "20 without a cache, 1 with it",
        "210 without a cache, 20 with it",
        "400 without a cache, 20 with it",
    ),
)

# %% [markdown]
# The next cell is the `forward` of exercise 13.3 with your `decode_step` of lesson 10 as its attention, or with the one in `cache.py` if that exercise is still open. Each block has a cache, and the model is given only what is new. A new token's place is the number of tokens that the cache already holds.

# %%
lesson = "10_efficient_attention"
decode_step = earlier(lesson, "decode_step") or given.decode_step
KVCache = earlier(lesson, "KVCache") or given.KVCache


def next_logits(model: nn.Module, new: Tensor, caches: list) -> Tensor:
    places = torch.arange(len(caches[0]), len(caches[0]) + new.size(1))
    x = model.token_embedding(new) + model.position_embedding(places)
    for block, cache in zip(model.blocks, caches, strict=True):
        x = x + decode_step(block.attention, block.norm1(x), cache)
        x = x + block.network(block.norm2(x))
    return model.norm(x[0, -1]) @ model.token_embedding.weight.mT  # (V,)


# %% [markdown]
# The shipped model now reads a line in both ways. The cell compares the logits, and counts the tokens that pass through the first block.

# %% measured
passed = []
counter = shipped.blocks[0].norm1.register_forward_hook(
    lambda _, inputs, output: passed.append(output.size(1))
)
line = next(row[:20] for row in map(text.row, text.unseen) if len(row) > 20)
with torch.no_grad():
    anew = [shipped(torch.tensor([line[:n]]))[0, -1] for n in range(1, 21)]
    caches = [KVCache() for _ in shipped.blocks]
    kept = [next_logits(shipped, torch.tensor([[token]]), caches) for token in line]
counter.remove()
print(
    "the same logits:", torch.allclose(torch.stack(kept), torch.stack(anew), atol=1e-3)
)
print(f"without a cache {sum(passed[:20])}, with one {sum(passed[20:])}")
reveal("tokens through a block", "210 without a cache, 20 with it")

# %% [markdown]
# Without a cache, 1 + 2 + … + 20 = 210 tokens pass through the block. For a text of 1,000 tokens it would be half a million in place of 1,000. That is why every model that answers while you watch has a cache, and why its memory (lesson 10) decides how many users share a GPU.
#
# ### Published weights
#
# A model is a class and some numbers. If your class computes what OpenAI's did, then their numbers run in it. But they were published under other names and in other layouts than yours. Here are those of a small example with random weights (of its two blocks, the first):

# %%
weights, tokens, logits = given.example()
{name: tuple(w.shape) for name, w in weights.items() if not name.startswith("h.1")}

# %% [markdown]
# Three things are different. The projections to queries, keys and values are one matrix, `c_attn`. Every matrix that belongs to a linear layer is transposed, because OpenAI used a layer called `Conv1D` that computes `x @ weight` where `nn.Linear` computes `x @ weight.mT`. And some files contain more than parameters, such as the causal mask in `attn.bias`, which is not a bias.
#
# ### Exercise 13.6: published weights in your class
#
# Write the translator. It builds your `GPT` of exercise 13.3, so that exercise has to pass first. Inside a `Block`, `norm1` belongs to `attention`, whose linear layers are `q_proj`, `k_proj`, `v_proj` and `out_proj`, and `norm2` to `network`, whose linear layers are `network[0]` and `network[2]`. The library transformers is not allowed here.

# %% hints from_published [markdown]
# Which sizes does `GPT` want, and in which shape does each of them show? How can you tell how many blocks there are?
#
# Compare the shape of `attn.c_attn.weight` with that of an `nn.Linear` that makes 3E numbers out of E. What is side by side in its columns, and which layers of `attention` take the parts?
#
# Make the names equal first, and drop what is not a parameter. Then copy tensor by tensor into parameters that exist already, without autograd. What lay in a `Conv1D` has to be transposed, and embeddings and norms do not.


# %% exercise from_published
def from_published(weights: Mapping[str, Tensor], num_heads: int) -> GPT:
    """Return a GPT with weights as GPT-2's were published. They are copied: neither changes when the other does.

    Names, with E the width: wte.weight (vocab_size, E) and wpe.weight (max_len, E) are the embeddings of tokens and of
    positions, and ln_f.weight and ln_f.bias are the last norm. Block n, from 0, has h.n.ln_1 and h.n.ln_2, its norms.
    It has h.n.attn.c_attn.weight (E, 3E) and .bias (3E), with the columns of query, key and value in this order, and of
    all heads of each side by side. It has h.n.attn.c_proj.weight (E, E), h.n.mlp.c_fc.weight (E, 4E) and
    h.n.mlp.c_proj.weight (4E, E), each with .bias. These four are of a Conv1D, which computes x @ weight + bias.
    In some files every name begins with "transformer.". Some have h.n.attn.bias and h.n.attn.masked_bias, which belong
    to the causal mask, and lm_head.weight, which is wte.weight again: they are not needed.
    """
    ### BEGIN SOLUTION
    w = {name.removeprefix("transformer."): tensor for name, tensor in weights.items()}
    vocab_size, d_model = w["wte.weight"].shape
    max_len, num_layers = len(w["wpe.weight"]), sum("ln_1.bias" in name for name in w)
    state = {
        "token_embedding.weight": w["wte.weight"],
        "position_embedding.weight": w["wpe.weight"],
        "norm.weight": w["ln_f.weight"],
        "norm.bias": w["ln_f.bias"],
    }
    names = {"ln_1": "norm1", "attn.c_proj": "attention.out_proj", "ln_2": "norm2"}
    names |= {"mlp.c_fc": "network.0", "mlp.c_proj": "network.2"}
    for n, kind in itertools.product(range(num_layers), ("weight", "bias")):
        of_block = {new: w[f"h.{n}.{old}.{kind}"] for old, new in names.items()}
        thirds = w[f"h.{n}.attn.c_attn.{kind}"].chunk(3, dim=-1)
        for letter, third in zip("qkv", thirds, strict=True):
            of_block[f"attention.{letter}_proj"] = third
        for name, tensor in of_block.items():
            turned = tensor.mT if tensor.dim() == 2 else tensor  # a Conv1D's
            state[f"blocks.{n}.{name}.{kind}"] = turned
    model = GPT(vocab_size, max_len, d_model, num_heads, num_layers)
    model.load_state_dict(state)
    return model
    ### END SOLUTION


# %% check from_published

# %% [markdown]
# ### The same numbers
#
# The example comes with the logits that the library *transformers* has computed for it. How far are your logits from those?

# %% measured
try:
    apart = (from_published(weights, 2)(tokens).detach() - logits).abs().max()
    print(f"largest difference: {apart:.0e}, largest logit: {logits.abs().max():.0f}")
except NotImplementedError:
    print("not yet: exercise 13.3 or 13.6 is still open")

# %% [markdown]
# Two programs by different authors agree within the rounding of float32. This is strong evidence. But it is one example, and lesson 11 has shown that an example can miss a bug.
#
# Suppose that somebody forgets to transpose one matrix of a `Conv1D`. Look at the shapes above, and write down for which of the four matrices PyTorch raises no error, so that only the logits can show it. The answer is below, in "What can go wrong".
#
# ### Somebody else's model
#
# GPT-2's merges start from the 256 bytes instead of from characters, so nothing is ever unknown to it. The class `given.Tokens` writes each byte as a character, and your `split_word` serves as it is. To fetch the weights of GPT-2 small, half a gigabyte, type `lessons gpt2` in a terminal, or `make gpt2` if you opened the course with make. The command asks first. If the weights are there and your exercises are solved, the next cell lets your class write with them. Otherwise it uses the shipped model.

# %% measured
folder = given.gpt2()
try:
    gpt2_tokens = given.Tokens(folder, split_word) if folder else None
    writer = from_published(given.weights_in(folder), 12) if folder else shipped
except NotImplementedError:
    folder, writer = None, shipped
if folder:
    start = "The most surprising thing about attention is"
    print(given.write(writer, gpt2_tokens, start, 40, given.softmax))
else:
    print(define("surprise"))

# %% [markdown]
# Which heads look at the token before, and which look for repetitions? Your two scores of lesson 9 can tell, on random tokens that are shown twice.

# %% measured
heads = 12 if folder else given.LARGE["num_heads"]
once = torch.randint(100, 1000, (8, 20), generator=torch.Generator().manual_seed(0))
looks = given.head_weights(writer, once.repeat(1, 2), heads)
looks.shape

# %% [markdown]
# The result is a table of 40 by 40 weights for each of the 8 texts and each of the 24 heads (more in GPT-2), which the scores reduce to two numbers per head. If exercise 9.2 or 9.3 is still open, the functions in `heads.py` stand in for yours.

# %% measured
lesson = "09_train_and_look_inside"
back = earlier(lesson, "previous_token_score") or given.one_back
repeat = earlier(lesson, "induction_score") or given.repetition
found = torch.stack([back(looks), repeat(looks, torch.full((8,), 20))])
given.jobs(found, heads)

# %% [markdown]
# A head that looks at all tokens so far alike has 0.08 of its weight one back and 0.03 on repetitions, where the cross is. No head of the shipped model has more than 0.23 and 0.05. A few look one back more often than by chance, and none looks for repetitions, because in a short definition little comes twice.
#
# GPT-2 has read whole pages. In the sentences that Wang and others studied (below), its heads 2.2 and 4.11 look one back and its heads 5.5 and 6.9 look for repetitions, where block and head are counted from 0. If you have the weights, look where these four are in the figure. A block has 12 heads, so they are columns 26, 59, 65 and 81 of `found`.
#
# ### GPT-2 and today
#
# Your model is that of 2019. Many large models of today differ from it mainly in size, and within a block in five details that you have met: RMSNorm instead of LayerNorm, a gated network, and no biases (lesson 8), rotary positions (lesson 7), and several heads of queries that share one head of keys and values (lesson 10).
#
# Two more details are left out here. Some models normalize queries and keys. And many of the largest have a *mixture of experts* in place of the feed-forward network: several networks, of which each token passes only a few.
#
# `modern.py` has your class with an option for each. How much do they change the loss on unseen lines, from three seeds, with as many parameters as before and the same learning rate?

# %%
for table, after in (("model", 600), ("longer", 3600)):
    for way, row in given.worse(table, than="2019").items():
        print(f"{way:17} {after:4} steps", [f"{d:+.3f}" for d in row])

# %% [markdown]
# Rotary positions bring most, and a gated network brings something from two seeds of three. The three others change nothing that three seeds could show, but none of them was introduced to lower the loss. They save time or memory, or let large models train more steadily (Chowdhery et al., below). After 600 steps all five together bring no more than rotary positions alone. After the full three minutes they lower the loss by 0.07 to 0.14, out of about 4.1.
#
# ## What can go wrong
#
# **The same shape and another meaning.** Of the matrices of a `Conv1D`, only `attn.c_proj.weight` is square, so only there PyTorch raises no error if it is not transposed. The next cell gives your translator this matrix already transposed, and only the comparison shows how wrong the logits are:

# %% measured
name = "h.0.attn.c_proj.weight"
try:
    with torch.no_grad():
        turned = from_published({**weights, name: weights[name].mT}, 2)(tokens)
    print(f"largest difference: {(turned - logits).abs().max():.2f}")
except NotImplementedError:
    print("not yet: exercise 13.3 or 13.6 is still open")

# %% [markdown]
# **A temperature after the filter.** Which tokens top-p keeps depends on the temperature, and libraries differ in the order of the two. The docstring of 13.5 says which order is meant.
#
# **Fluency taken for knowledge.** The model writes "a person who" with confidence because it has seen those words hundreds of times. Nothing in its loss rewards it for being right about blickets.
#
# ## What you learned
#
# The tokens of a GPT learn of one another by comparing, sharing out and mixing, in every head of every block. The rest of this lesson was about what goes in, what comes out, and how all of it is trained.
#
# | | what it is | what to remember |
# |---|---|---|
# | byte-pair encoding | merges learned by counting pairs | between characters and words; over bytes, as in GPT-2, nothing is unknown |
# | tied output matrix | the embedding of tokens, used again | nearly a third of GPT-2 small would otherwise be there twice |
# | recipe | AdamW, warm-up, cosine, clipping | measure what each is worth where you are |
# | top-k, top-p | draw from the most probable tokens only | they cut off the tail |
# | quoting | the longest run shared with the text | compare with real text that was not seen |
# | published weights | names and layouts, then the same numbers | compare logits |
#
# Replace "ada" by your name once more. This time the model that you have trained defines it:

# %% measured
for seed in range(4):
    print(given.define(model, text, "ada", seed=seed))

# %%
recap()

# %% [markdown]
# If you guessed that the cosine or weight decay would be missed most, remember for how long these models learned. What matters most in 600 steps may matter little in a million, and the other way around. Measure what a part is worth where you want to use it.
#
# ## Questions
#
# **Question R13** (4 points, graded by a person). The model wrote "blicket: a roof made of blossoms". Argue from what you measured in this lesson whether it knows anything. What would it need in order to know more? Then design the test that tells memory from form: what do you compare, and which result would speak for which?

# %% question R13 [markdown] points=4
# The word is not in this dictionary, so nothing about blickets could be known. What the model has learned is form: an article comes first, then a noun, "made of" is followed by a material, and then the sentence ends. The samples beside their nearest training lines show that runs of words are quoted and the whole is not, and the losses on seen and unseen lines are close, so the form was not learned line by line.
#
# To know more, it would need text in which the same words occur in many situations, a model that can hold what they have in common, and, for a word that is new, a context that says something about it.
#
# A test: take words that the model has seen, words that were held out, and invented ones, alike in length and in endings, and let people or a rule judge whether a definition is about the right thing, such as the right category of noun.
#
# If only the seen words are defined better than invented ones, then it is memory. If the held-out ones are, too, then something general was learned. It cannot be the endings, which are alike in all three groups. It may be another part of the word, such as *spiro*, which the model has met in other entries. Form alone predicts no difference between any of the three.
#
# | points | for |
# |---|---|
# | 1 | Answers from what was measured, with a sample or a loss as evidence, that this is form and not knowledge |
# | 1 | What is missing: more text or context about the word, and not only more steps |
# | 1 | A test with groups that differ in one thing only (seen, held out and invented words) |
# | 1 | Which result would speak for memory and which for form, said before the test |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "It knows nothing, because it only predicts the next token." | That argues from how the model was trained. What did you measure in this lesson? |
# | 1 | "I would ask it for words that it has seen and compare the definitions with the dictionary." | A test that finds memory. With which words that it has not seen would you compare, and what would each result mean? |
# | 1 | "The samples repeat pieces of training lines, so it is form. To know more, it would need more steps." | Form, with evidence. More steps on the same lines teach the same lines. What would it have to read about the word? |
# | 1 | "The loss on unseen lines is as low as on seen ones, so it has understood what roofs are." (sounds right) | The loss is evidence, and it counts. It shows that the form carries over to unseen lines, which a model without any knowledge of roofs can do. |

# %% [markdown]
# ## Further reading
#
# - Sennrich, Haddow and Birch 2016, [Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909): byte-pair encoding for words.
# - Radford et al. 2019, [Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf): GPT-2, and byte pairs over bytes.
# - Chowdhery et al. 2022, [PaLM](https://arxiv.org/abs/2204.02311), section 2: what one large model changed in the block, and why.
# - Loshchilov and Hutter 2017, [SGDR](https://arxiv.org/abs/1608.03983): the cosine.
# - Holtzman et al. 2020, [The Curious Case of Neural Text Degeneration](https://arxiv.org/abs/1904.09751): what the tail does to a text, and top-p.
# - Wang et al. 2022, [Interpretability in the Wild](https://arxiv.org/abs/2211.00593): what 26 heads of GPT-2 small do together in one task.
#
# ### Where to go from here
#
# Three projects need nothing but what you have built.
#
# - **A language of your own.** Train the model on words or proverbs of another language, or on lines of verse. Compare the loss on unseen lines with that of a model whose lines have their tokens shuffled, and measure how much it quotes.
# - **Images.** Cut small images into patches of 4 × 4 pixels, put a linear layer in the place of the token embedding, leave out the causal mask, and classify the mean of the last stream (Dosovitskiy et al. 2020, [An Image is Worth 16x16 Words](https://arxiv.org/abs/2010.11929)). Compare it with a linear classifier of the pixels, and with itself without positions.
# - **A finding.** The model of lesson 9 learned to copy quite suddenly. Train it from ten seeds, and with half as many heads. When does that happen, and does it always?
#
# <details><summary>From here to the models that people talk to</summary>
#
# Those models are trained twice more, on conversations that people have written (Ouyang et al. 2022, [Training language models to follow instructions](https://arxiv.org/abs/2203.02155)) and on judgments about which of two answers is better (Rafailov et al. 2023, [Direct Preference Optimization](https://arxiv.org/abs/2305.18290)). Neither changes the architecture. The first uses your loss, counted only where the model is to speak, and the second a loss that compares the probabilities of the two answers.
#
# On a GPU the training runs as it is, once the model and its inputs are moved there with `.to("cuda")`. You then make the batch larger, compute the products in `bfloat16`, and add `torch.compile`, because without it a small model spends much of its time on starting operations.
#
# </details>
#
# **The end.** You began with shares that sum to 1, and you end with a model of your own that defines words that do not exist. If you like, go back to [the first lesson](../00_warm_up/00_warm_up.ipynb). It will look short.
