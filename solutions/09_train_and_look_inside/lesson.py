# %% [markdown]
# # 9. Train it, look inside
#
# After this lesson you can train a language model and judge it by more than its loss, find heads whose job you can name, by a score rather than by eye, and test such a claim by taking the head away. You need lesson 8. About 75 minutes.
#
# ## The idea
#
# A transformer that predicts the next character, again and again, writes. All it needs is text. There is some at hand: the prose of these lessons.

# %% setup
from collections.abc import Iterator
from contextlib import contextmanager

import induction
import torch
import writer
from attention import MultiHeadAttention
from torch import Tensor

from autograder import check, earlier, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
text = writer.Text()
print(f"{len(text.text):,} characters, {len(text.characters)} different ones")
print(text.text[206:424])

# %% [markdown]
# That is tiny; real models read a hundred million times as much. Nine tenths of our text is for learning, and the last tenth is set aside.
#
# The model is a stack of two blocks with a causal mask, four heads each, 64 dimensions, and it looks at the last 64 characters. If your block from lesson 8 passes its checks, the model is built from it, and your numbers differ a little from those printed here. If not, it is built from PyTorch's.

# %% measured
block = earlier("08_transformer_block", "TransformerBlock") or writer.TorchBlock
torch.manual_seed(0)
model = writer.Writer(len(text.characters), block)
whose = "PyTorch's block" if block is writer.TorchBlock else "your own block"
print(f"built from {whose}, {sum(p.numel() for p in model.parameters()):,} parameters")

# %% measured
writer.write(model, text, "Attention ", 60, temperature=0.7)

# %% [markdown]
# Before training it produces confetti. **Predict.** Training takes 600 steps, about half a minute. Afterward it writes …

# %%
predict(
    "after half a minute",
    options=("confetti", "words, more or less", "sentences that make sense"),
)


# %% [markdown]
# Every 150 steps the cell prints the loss on the text set aside, and the model continues the word "Attention".


# %%
def show(step: int) -> None:
    loss = writer.loss_on(model, text, text.unseen)
    sample = writer.write(model, text, "Attention ", 60, temperature=0.7)
    print(f"{step:4} steps, loss {loss:.2f}: {sample!r}")


# %% measured
writer.train(model, text, steps=600, show=show, every=150)
reveal("after half a minute", "words, more or less")

# %% [markdown]
# Spaces and short words come first, endings later. Nobody told it that there are words. It makes no sense: a hundred thousand parameters and 70,000 characters are too few for that. But it is built like the large models, a million times smaller.
#
# ## By hand
#
# ### What a loss of 2 means
#
# The loss is the mean of −ln p, where p is the probability that the model gave to the character that came. A model that knows nothing gives each of the 84 characters 1/84. Work out its loss before you run the cell. And if the loss of another model is 1.9: how many equally likely characters would that be?

# %%
torch.tensor(84.0).log(), torch.tensor(1.9).exp()

# %% [markdown]
# ln 84 = 4.431. A loss of 1.9 is like choosing among $e^{1.9} = 6.686$, fewer than 7 characters. This number is called *perplexity*.
#
# Compare with models that need no training, only counting. How often does each character occur? And how often does it follow a given character, or a given two? A tenth is added to each count, so that nothing has the probability 0, whose logarithm would be −∞:


# %%
def loss_of_counts(length: int) -> float:
    n = len(text.characters)
    # every run of `length` characters as a row, then each row as one number in base n
    seen, unseen = (t.unfold(0, length, 1) for t in (text.seen, text.unseen))
    powers = n ** torch.arange(length - 1, -1, -1)
    counts = 0.1 + (seen @ powers).bincount(minlength=n**length).view(-1, n)
    shares = counts / counts.sum(dim=-1, keepdim=True)
    return float(-shares.flatten()[unseen @ powers].log().mean())


for length, name in ((1, "single characters"), (2, "pairs"), (3, "triples")):
    print(f"{name:18} {loss_of_counts(length):.2f}")

# %% [markdown]
# The model is well below pairs, so it uses more than the last character. It is about level with triples, and counting four at a time beats it with 1.78. (The larger model further down gets 1.56.)
#
# ### Temperature
#
# The next character is *drawn* from the softmax of the logits. Lesson 4's temperature decides how boldly:

# %% measured
for temperature in (0.2, 0.7, 1.5):
    sample = writer.write(model, text, "The ", 100, temperature)
    print(f"{temperature}: {sample!r}")

# %% [markdown]
# At 0.2 it nearly always takes the favorite and soon repeats itself. At 1.5 it takes characters that it thinks unlikely. In between it is closest to English.
#
# ## In PyTorch
#
# So it writes. How does it do it? Which head does what? The weights are all there, and looking at them is tempting. We need something smaller first: a model in which we *know* what has to happen.
#
# ### Copying by analogy
#
# Read: P K D X P K. What comes next? You have never seen this string, and no statistics of English will help. You look for the previous K and see what came after it: D. A model that can do this has learned something about *repetition*, and nothing about letters.
#
# Here is the task for a model: a sequence of 32 tokens. The first 6 to 16 are random and distinct, and then they repeat until the sequence is full. How many there are before the repeat differs from sequence to sequence and is called the *period*.

# %%
tokens, periods = induction.repeated(3, seed=1)
for row, period in zip(tokens[:, :20], periods, strict=True):
    print(f"period {int(period):2}:", row.tolist())

# %% [markdown]
# Why must the period differ? If it is always 16, no analogy is needed. "Look 15 places back" does it, and one layer can learn that:

# %% measured
lazy = induction.train(depth=1, shortest=16)
print(f"period 16: {induction.accuracy(lazy, shortest=16):.0%} right")
print(f"periods of 6 to 16: {induction.accuracy(lazy):.0%} right")

# %% [markdown]
# It learned a distance and nothing else. (The 17% are the sequences with a period of 16, and about two thirds of those with 8, where 15 back is right too.) If a task has a shortcut, expect the model to take it.
#
# ### Exercise 9.1: sequences that repeat
#
# Draw such a batch, with a period for each row.

# %% hints make_repeating_batch [markdown]
# For one row: how do you draw, say, 7 distinct tokens out of the vocabulary? And how do you get a row of full length from them?
#
# A random order of the whole vocabulary begins with distinct tokens, as many as you need. Position i of the sequence then holds the token at position i modulo the period.
#
# Both bounds of the period count, and `torch.randint` leaves out its upper one. Every random function you call takes the generator. A loop over the rows is fine.


# %% exercise make_repeating_batch
def make_repeating_batch(
    batch: int,
    length: int,
    vocab: int,
    *,
    generator: torch.Generator,
    min_period: int = 6,
) -> tuple[Tensor, Tensor]:
    """Draw sequences that repeat, each with a period of its own.

    Each period is drawn from min_period to length // 2, both included and all equally likely. A sequence begins with
    that many distinct random tokens, 0 to vocab - 1, and then repeats them until it is full. vocab is at least
    length // 2.
    Returns the tokens (B, L) and the periods (B,), integers. All randomness comes from the generator.
    """
    ### BEGIN SOLUTION
    periods = torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)
    order = torch.rand(batch, vocab, generator=generator).argsort(dim=-1)
    places = torch.arange(length) % periods[:, None]  # (B, L)
    return order.gather(1, places), periods
    ### END SOLUTION


# %% check make_repeating_batch

# %% [markdown]
# ### Two layers can, one cannot
#
# The model that follows has layers of attention that add to the stream, with one head each and no feed-forward network. **Predict** for one layer and for two: trained on periods of 6 to 16, how often is the next token right? Only places where it can be known count, from the first repetition on.

# %%
predict("one layer", options=("nearly always", "about a quarter", "never"))
predict("two layers", options=("nearly always", "about a quarter", "never"))

# %% measured
shallow, deep = induction.train(depth=1), induction.train(depth=2)
print(f"one layer:  {induction.accuracy(shallow):.0%} right")
print(f"two layers: {induction.accuracy(deep):.0%} right")
reveal("one layer", "about a quarter")
reveal("two layers", "nearly always")

# %% [markdown]
# A quarter is more than a guess among the tokens of the sequence would get, which is 10%. One layer can learn distances, and is right where the period happens to fit one: every other time for a period of 6, hardly ever for 10. Why do two layers do better? Here is what the two heads of the deep model look at, in one sequence with period 15:

# %%
tokens, periods = induction.repeated(1, seed=4, shortest=15)
with torch.no_grad():
    weights = deep(tokens)[1][0]  # (layers, L, L)
plot.heads(
    weights,
    [str(i) if i % 5 == 0 else "" for i in range(32)],
    "Two heads, two stripes",
    names=["of layer 0", "of layer 1"],
    alt="In the first layer, a stripe one place below the diagonal, which ends at place 15. In the second, from "
    "the first repetition on, a stripe that starts at the left edge: each query looks one place after the previous "
    "occurrence of its own token.",
)

# %% [markdown]
# The first layer looks one place back and adds what it finds to the stream, so that each token carries a note: "before me came K". The second layer asks for notes. At K, its query says "whose note says K?", and the answer is the token *after* the previous K. That is the token to predict. (Rows 30 and 31 have two earlier copies to choose from, and the head takes the first.)
#
# So it takes two, in this order: a *previous-token head* writes the notes, and an *induction head* reads them. A single layer cannot read notes that nobody has written.
#
# It is a good story, told by two pictures. Now turn it into numbers, because a larger model has more heads than you can look at.
#
# ### Exercise 9.2: the previous-token score
#
# How much of its weight does each head put on the token before?

# %% hints previous_token_score [markdown]
# Which entries of one head's table belong to "one before"? Draw a 4 × 4 table and mark them. How many are there, and does row 0 have one?
#
# They lie on a line parallel to the diagonal. PyTorch can take such a line out of the last two axes; or index rows and columns with two ranges.
#
# Average over the sequences and over the places, and keep the axis of the heads. Which axes are left after the line has been taken out?


# %% exercise previous_token_score
def previous_token_score(weights: Tensor) -> Tensor:
    """Return how much of its weight each head puts on the token before.

    weights is (B, H, L, L). Returns (H,): the mean of weights[b, h, i, i - 1] over all sequences and all i >= 1.
    """
    ### BEGIN SOLUTION
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
    ### END SOLUTION


# %% check previous_token_score

# %% [markdown]
# ### Exercise 9.3: the induction score
#
# And how much on the token after the previous occurrence of the current one? If sequence b repeats after P tokens, the previous occurrence is at i − P, and the token after it at i − P + 1.

# %% hints induction_score [markdown]
# For a single sequence with period 5: where should query 7 look? And query 5? From which row on does the question make sense?
#
# The target differs from sequence to sequence, so no diagonal will do for all of them. A loop over the sequences is a good start, with a range of rows for each.
#
# Rows before the first repetition do not count, neither in the sum nor in the number you divide by. All counted places weigh the same, whichever sequence they are from: do not average over each sequence first.


# %% exercise induction_score
def induction_score(weights: Tensor, period: Tensor) -> Tensor:
    """Return how much of its weight each head puts on the token after the previous occurrence of the current one.

    weights is (B, H, L, L). period is (B,), integers from 1 to L - 1: sequence b repeats after period[b] tokens.
    Returns (H,): the mean of weights[b, h, i, i - period[b] + 1] over all sequences and all i >= period[b].
    """
    ### BEGIN SOLUTION
    rows = torch.arange(weights.size(-1), device=weights.device)
    target = rows - period[:, None] + 1  # (B, L)
    counted = rows >= period[:, None]  # (B, L)
    index = target.clamp(min=0)[:, None, :, None].expand(-1, weights.size(1), -1, 1)
    picked = weights.gather(-1, index).squeeze(-1)  # (B, H, L)
    return (picked * counted[:, None]).sum(dim=(0, 2)) / counted.sum()
    ### END SOLUTION


# %% check induction_score

# %% [markdown]
# ### The scores of the two heads
#
# Your scores for the two heads of the deep model, on 300 sequences with periods of 14 to 16:

# %% measured
tokens, periods = induction.repeated(300, seed=99_999, shortest=14)
with torch.no_grad():
    weights = deep(tokens)[1]
try:
    print("previous token:", previous_token_score(weights))
    print("induction:     ", induction_score(weights, periods))
except NotImplementedError:
    print("not yet: exercise 9.2 or 9.3 is still open")

# %% [markdown]
# Layer 0 has about 0.4 on the token before, layer 1 about 0.85 on the token after the previous occurrence, and neither has much of the other score. (Why only 0.4? Up to place 15 it is about 0.8, after that less than 0.1. By then each token of the sequence has its note, and later copies need none. And why not 1 in layer 1? Some of the last places have two earlier copies, and the score counts only the later one. Where there is one copy, it is 0.96.)
#
# ### Take it away
#
# A score says where a head looks. Whether the model *needs* that is another question, and there is a way to ask: switch the head off and see what is lost. This is an *ablation*.
#
# ### Exercise 9.4: ablate a head
#
# Write it as a context manager: inside a `with` block the head adds nothing, and afterward all is as before, whatever happens inside. Python makes one from a function with a single `yield`:


# %%
@contextmanager
def announced(what: str) -> Iterator[None]:
    print(f"{what}: begin")
    try:
        yield
    finally:
        print(f"{what}: end")


with announced("experiment"):
    print("working")

# %% [markdown]
# What is before `yield` runs on the way in, and what is in `finally` runs on the way out, after an exception too.

# %% hints ablate_head [markdown]
# The heads lie side by side when the output projection reads them. Which of its input features belong to head h, and where do you find those in its weight, which is (out, in)?
#
# There are two ways. Set that part of the weight to zero and put the old one back; or catch the projection's input on its way in, with a hook, and remove the hook.
#
# Keep a *copy* of what you overwrite, and write it back into the same parameter, without autograd. A bias of the projection belongs to no head and stays.


# %% exercise ablate_head
@contextmanager
def ablate_head(module: MultiHeadAttention, head: int) -> Iterator[None]:
    """Switch one head off inside a `with` block.

    module is attention.MultiHeadAttention, with num_heads heads: its out_proj (nn.Linear, called as a layer) reads the
    heads side by side, head h at entries h * D to (h + 1) * D - 1. Inside the block that head contributes nothing (a
    bias stays), and gradients can be taken there. Blocks can be nested. Afterward, also after an exception (which
    passes through), the module computes what it computed before, with the same parameter objects.
    """
    ### BEGIN SOLUTION
    size = module.out_proj.in_features // module.num_heads
    columns = slice(head * size, (head + 1) * size)
    kept = module.out_proj.weight.detach().clone()
    with torch.no_grad():
        module.out_proj.weight[:, columns] = 0.0
    try:
        yield
    finally:
        with torch.no_grad():
            module.out_proj.weight.copy_(kept)
    ### END SOLUTION


# %% check ablate_head

# %% [markdown]
# ### Without one or the other
#
# The two heads of the deep model, each switched off in turn:

# %% measured
try:
    for layer in (0, 1):
        with ablate_head(deep.layers[layer], 0):
            print(f"without layer {layer}: {induction.accuracy(deep):.0%} right")
    print(f"with both: {induction.accuracy(deep):.0%} right")
except NotImplementedError:
    print("not yet: exercise 9.4 is still open")

# %% [markdown]
# Less than a tenth without either of them, no better than a guess among the tokens in the sequence. It could hardly have come out otherwise: with one head off, one layer is left, and you have seen how far one layer gets. So the ablation shows that both heads are needed. What each of them does rests on the maps and the scores. In a larger model the outcome is open.
#
# ### A larger model
#
# Back to writing. `model.safetensors`, beside this notebook, holds a model with three layers of four heads, 128 dimensions and 0.6 million parameters. Two fifths of what it was shown were random strings that start over, so that it had a reason to learn copying; the rest was our text. Its trainer, `pretrain.py`, noted every 100 steps how well it copies strings that it has never seen:

# %%
large, facts = writer.load(text)
copied = [float(share) for share in facts["copied"].split()]
plot.curves(
    range(100, 1600, 100),
    {"copied": copied},
    "For 800 steps next to nothing, at 1000 everything",
    xlabel="training steps",
    ylabel="share of characters copied",
    alt="The line stays below 0.06 for 800 steps, reaches 0.13 at 900 and 1.00 at 1000, and stays there.",
)

# %% [markdown]
# From 5% to 13% to 100%, within 200 steps. One explanation is that copying needs two kinds of heads, and that one without the other earns next to nothing. This curve does not test it. Larger models show a similar jump (Olsson et al., below).
#
# Which heads are they? Here are your two scores for all twelve, named by layer and head, on random strings of 24 characters that are shown twice:

# %% measured
names = [f"{layer}.{head}" for layer in range(3) for head in range(4)]
strings = writer.repeats(text, 16, period=24, seed=5)[:, :48]  # one earlier copy
weights = writer.maps(large, strings)
try:
    scores = (
        previous_token_score(weights),
        induction_score(weights, torch.full((16,), 24)),
    )
    plot.heatmap(
        torch.stack(scores),
        ["one back", "repetition"],
        names,
        "Three heads look back, three look for repetitions",
        kind="shares",
        alt="Heads 0.0, 0.1 and 0.3 have 0.79 to 0.91 on the token before. Heads 1.0, 1.3 and 2.2 have 0.92 to 0.97 on "
        "the token after the previous occurrence.",
    )
except NotImplementedError:
    print("not yet: exercise 9.2 or 9.3 is still open")

# %% [markdown]
# Layer 0 has three previous-token heads: 0.0, 0.1 and 0.3. Above it there are three that look for repetitions: 1.0, 1.3 and 2.2. Nobody asked for three of each. (A score has no natural threshold: 1.2 has 0.43 on repetitions, and on text 1.1 and 1.2 put about half of their weight one back.) All twelve are here to explore, on a stretch of text the model has not seen. One of them looks at next to nothing but spaces. Which?

# %%
start = text.text.index("One token in, one row")
sample = text.text[start : start + 24]
weights = writer.maps(large, text.encode(sample))[0]
plot.explore(weights, [f"{i}:{character}" for i, character in enumerate(sample)])

# %%
plot.heads(
    weights[[0, 2, 10]],
    list(sample.replace(" ", "·")),
    "Three of twelve heads, on one line of text",
    names=["0.0", "0.2", "2.2"],
    alt="The first map is a stripe just below the diagonal, the second is smeared over many places. In the third, all "
    "bright cells are in the columns of spaces.",
)

# %% [markdown]
# The third, head 2.2, looks at spaces: they get 0.99 of its weight here, and 0.94 on all our unseen stretches. On random strings, where each character occurs once before it returns, it looks for repetitions. A head may have more than one job.
#
# The map of head 0.0 is sharp, that of 0.2 is a smear. **Predict.** Take away one of the two. Without which of them does the loss on text rise more? (This model has PyTorch's attention, which reads the weight of `out_proj` without calling it. So `writer.without_heads` does the job of your `ablate_head`, on a copy.)

# %%
predict("the more important head", options=("0.0, the stripe", "0.2, the smear"))

# %% measured
loss = writer.loss_on(large, text, text.unseen)
for head in (0, 2):
    less = writer.without_heads(large, (head,))
    print(
        f"without {names[head]}: {writer.loss_on(less, text, text.unseen) - loss:+.3f}"
    )
reveal("the more important head", "0.2, the smear")

# %% [markdown]
# The smear, by a factor of five. A stripe catches the eye. It does not say how much the loss depends on it.
#
# So is the stripe useless? And how about copying, which your ablation of the small model destroyed at once?

# %% measured
groups = {
    "0.0": (0,),
    "1.0": (4,),
    "the three that look back": (0, 1, 3),
    "the three that look for repetitions": (4, 7, 10),
    "0.2, 1.1 and 1.2": (2, 5, 6),
}
for name, heads in groups.items():
    less = writer.without_heads(large, heads)
    worse = writer.loss_on(less, text, text.unseen) - loss
    right = writer.right_on_repeats(less, text)
    print(f"without {name:36} text {worse:+.3f}, copying {right:4.0%}")

# %% [markdown]
# Take away any one head of the twelve (the table shows two), and copying stays above 99%: the others do the job. Take away all three that look back, and a twentieth is left, and the text suffers most of all. Take away all three that look for repetitions, and an eighth is left, while the loss on text hardly moves. The last line is the control. Of the twenty triples among the other six heads it costs the text most, and copying survives it.
#
# So an ablation that shows nothing does not prove that a head does nothing. It may have a twin. Remove one alone, then all together: only the two results tell the cases apart.
#
# ## What can go wrong
#
# **A large weight on nothing.** A weight says how much of a value is passed on, and the value may be tiny. Three weights, and the norms of their values:

# %%
weights, norms = torch.tensor([0.70, 0.20, 0.10]), torch.tensor([0.01, 2.0, 3.0])
weights * norms

# %% [markdown]
# The token with the weight of 0.70 contributes 0.007, and the one with 0.10 contributes over forty times as much. A map of weights shows the first as the brightest.
#
# **Zero is not neutral.** A head that is switched off adds nothing, and the layers above have never seen that. Some of the damage comes from the unusual input alone. Gentler experiments replace the head's output by its mean over many inputs, or by its output on another input.
#
# **Choosing and testing on the same data.** One of twelve heads scores highest even if all are noise. Choose on one batch, test on another. Here the heads are chosen on random strings, and the strings that test copying are drawn anew.
#
# **Learning the text by heart.** Compare the loss on what was trained on with the loss on what was not:

# %% measured
for name, part in (("seen", text.seen), ("unseen", text.unseen)):
    print(f"{name:7} {writer.loss_on(large, text, part):.2f}")

# %% [markdown]
# The gap is small. `pretrain.py` trains with dropout and stops early. An earlier version, without the strings, ran longer and had 1.00 and 1.42: a wider gap, and still better on unseen text. A gap shows memorizing. It does not rank models.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | language model | predicts the next token, all positions at once | judged on unseen text, and by what it writes |
# | perplexity | $e^{\text{loss}}$ | how many choices it hesitates between |
# | previous-token head | looks one place back | adds "before me came …" to the stream |
# | induction head | looks one place after the previous occurrence | needs a previous-token head in a layer below |
# | score | a number per head, over many inputs | where it looks |
# | ablation | the model without a head | what the head is needed for, unless it has twins |
#
# %%
recap()

# %% [markdown]
# ## Questions
#
# **Question R9** (4 points, graded by a person). Somebody says of the two-layer copier: "The head of layer 1 copies." Collect the evidence. Say what the map, the score and the ablation each show, and what each leaves open. Then propose a *counterfactual* test, one in which the input is changed and not the model: what do you change, what do you measure, which result would refute the claim? And why would the same sentence about head 1.0 of the larger model need more than one ablation?

# %% question R9 [markdown] points=4
# Map: in one sequence the second layer's head puts its weight one place after the previous occurrence. It shows where it looks in that sequence, not what is done with it.
#
# Score: about 0.85 over 300 sequences, so it is not an accident of one. It still says nothing about use. Ablation: without it 7% are right instead of 100%, so the model needs it. But without the head of layer 0 hardly more are right, so "copies" is too much for one head: both are needed, one to write notes, one to read them. And zero is an unusual input for what follows.
#
# Counterfactual: replace the token after the previous occurrence (position i − P + 1) with another one, and leave the rest. If the head copies, the prediction at i changes to the new token. If it stays the same, the claim is refuted. (Changing a token elsewhere should not matter.)
#
# In the large model copying stays at 100% without head 1.0, because 1.3 and 2.2 do the same. The claim needs the ablation of the group, and of a group of other heads for comparison.
#
# | points | rubric |
# |---|---|
# | 4 | What each of the three shows and leaves open, a counterfactual with a result that would refute, and the twins |
# | 2 | Evidence read correctly, but no refutable counterfactual, or no twins |
# | 0 | "The map shows that it copies" |

# %% [markdown]
# ## Further reading
#
# - Olsson et al. 2022, [In-context Learning and Induction Heads](https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads/index.html): the jump, in models of all sizes.
# - Jain and Wallace 2019, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), and the answer by Wiegreffe and Pinter 2019, [Attention is not not Explanation](https://arxiv.org/abs/1908.04626).
# - Elhage et al. 2021, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html): attention-only models of one and two layers, taken apart.
#
# **Next:** [lesson 10](../10_efficient_attention/10_efficient_attention.ipynb) makes all of this fast.
