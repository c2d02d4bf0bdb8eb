# %% [markdown]
# # 9. Train it, look inside
#
# After this lesson you can train a language model and judge it by more than its loss. You can also find the heads that do a job by a score instead of by eye, and test by taking a head away whether the model needs it. You need lesson 8. About 185 minutes, in three sittings, which end before "Exercise 9.2", before "Back to the twelve", and at the end. The two optional sections take another 25 minutes.
#
# ## The idea
#
# If a transformer predicts the next character again and again, it writes. All that it needs is text, and we have some at hand, the prose of an earlier edition of these lessons.

# %% setup
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

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
# This text is tiny. Llama 3 (2024), for example, read some 15 trillion tokens, which is several hundred million times as much. Nine tenths of it are for learning, and the last tenth is set aside.
#
# The model is a stack of two blocks with a causal mask, four heads in each and 64 dimensions, and it looks at the last 64 characters. If your block from lesson 8 passes its checks, the model is built from it (and your numbers differ a little from those printed here), otherwise from the same block in `writer.py`.

# %% measured
block = earlier("08_transformer_block", "TransformerBlock") or writer.Block
torch.manual_seed(0)
model = writer.Writer(len(text.characters), block)
whose = "the block in writer.py" if block is writer.Block else "your own block"
print(f"built from {whose}, {sum(p.numel() for p in model.parameters()):,} parameters")

# %% measured
writer.write(model, text, "Attention ", 60, temperature=0.7)

# %% [markdown]
# Before training, the model writes confetti. **Predict.** Training takes 600 steps, about half a minute. Afterward it writes …

# %%
predict(
    "after half a minute",
    options=("confetti", "words, more or less", "sentences that make sense"),
)


# %% [markdown]
# Every 150 steps, the next cell prints the loss on the text that was set aside, and the model continues the word "Attention".


# %%
def show(step: int) -> None:
    loss = writer.loss_on(model, text, text.unseen)
    sample = writer.write(model, text, "Attention ", 60, temperature=0.7)
    print(f"{step:4} steps, loss {loss:.2f}: {sample!r}")


# %% measured
writer.train(model, text, steps=600, show=show, every=150)
reveal("after half a minute", "words, more or less")

# %% [markdown]
# The model first finds pieces that are as long as words, although nobody told it that there are words. What it writes makes no sense yet. But the model is built like the large ones, only a million times smaller.
#
# ## By hand
#
# ### What a loss means
#
# The loss is the mean of −ln p, where p is the probability that the model gave to the character that came. A model that knows nothing gives 1/84 to each of the 84 characters. Work out its loss before you run the cell. Our model has a loss of about 1.9 after its training. A choice among how many equally likely characters would have the same loss?

# %%
torch.tensor(84.0).log(), torch.tensor(1.9).exp()

# %% [markdown]
# The model that knows nothing has a loss of ln 84 = 4.431. A loss of 1.9 is like choosing among $e^{1.9} = 6.686$ characters, fewer than 7, and this number is called the *perplexity*.
#
# Compare this with models that need no training, only counting. How often does each character occur, and how often does it follow a given character, or two, or three?

# %%
for length, name in enumerate(("single characters", "pairs", "triples", "fours"), 1):
    print(f"{name:18} {writer.loss_of_counts(text, length):.2f}")

# %% [markdown]
# Our model's loss of 1.9 is well below that of pairs, so it must use more than the last character. It is about as good as counting triples. Counting four characters at a time, without any network, beats it.
#
# ### Temperature
#
# The next character is *drawn* from the softmax of the logits. How boldly it is drawn depends on the temperature of lessons 1 and 4:

# %% measured
for temperature in (0.2, 0.7, 1.5):
    sample = writer.write(model, text, "The ", 100, temperature)
    print(f"{temperature}: {sample!r}")

# %% [markdown]
# At 0.2 the model nearly always takes its favorite and soon repeats itself, and at 1.5 it takes characters that it thinks unlikely. In between it is closest to English.
#
# ## In PyTorch
#
# ### Twelve heads, and one question
#
# Beside this notebook is a second model, `model.safetensors`. We call it the *larger model*, and the one that you have trained the *small* one. The larger model has three layers of four heads, 128 dimensions and 0.6 million parameters. It learned for about eight minutes, from the same text and from random strings, which we come to below. Its loss on unseen text is 1.56, lower than those of our counts. (Cleverer counting gets to 1.51, not shown.) But the larger model has learned something that no such counting can do. First, here is what it writes:

# %% measured
large, facts = writer.load(text)
writer.write(large, text, "Attention ", 120, temperature=0.7)

# %% [markdown]
# Two fifths of what the larger model saw in training were no text at all, but strings of random characters that repeat. Here is such a string that it has never seen, with 24 characters shown twice, and what it predicts for each character of the second copy:

# %% measured
string = writer.repeats(text, 1, period=24, seed=1)[:, :48]
guessed = large(string)[0, 24:47].argmax(dim=-1)
print("first copy:", text.decode(string[0, :24]))
print("predicted: ", " " + text.decode(guessed))

# %% [markdown]
# The model is right every time, in a string that no statistics of English can help with. Its predictions begin one place later, because nobody can know the first character of the copy. The model has twelve heads. **Which of them is responsible for copying?**
#
# Here are the maps of all twelve heads to explore, on twelve characters of text that the model has not seen. A head is named by its layer and its number in that layer, both counted from 0, and a dot stands for a space:

# %%
names = [f"{layer}.{head}" for layer in range(3) for head in range(4)]
start = text.text.index("One token in, one row")
sample = text.text[start : start + 12].replace(" ", "·")
sample_weights, _ = writer.heads(large, text.encode(sample.replace("·", " ")))
plot.explore(
    sample_weights[0],
    list(sample),
    names=names,
    shown=[("0.2", 8), ("1.2", 8), ("2.2", 8)],
)

# %% [markdown]
# Here are three of them side by side:

# %%
three = [names.index(name) for name in ("0.0", "0.2", "2.2")]
plot.heads(
    sample_weights[0, three],
    list(sample),
    "A stripe, a smear, and columns of spaces",
    names=["0.0", "0.2", "2.2"],
    alt="The first map is a stripe just below the diagonal, the second is smeared over many places. In the third, from "
    "the first space on, all bright cells are in the columns of spaces.",
)

# %% [markdown]
# Head 0.0 draws a stripe, so it looks one character back. Head 0.2 is a smear, and head 2.2 looks at spaces as soon as one is in sight. You cannot tell by looking which of these three has to do with copying, and there are nine more.
#
# We need an input for which we know what a head should do (exercise 9.1), a number that says whether the head does it (9.2 and 9.3), and a way to find out whether the model depends on the head (9.4). We try these tools on a third model, which is tiny, the *copier*, in which we *know* what has to happen, and then return to the twelve heads.
#
# ### Copying by analogy
#
# Read the string P K D X P K. What comes next? You have never seen it, but you look for the previous K and see that D came after it. A model that can do this has learned something about *repetition*, and nothing about letters.
#
# Here is that task with tokens in place of letters. A sequence has 32 tokens. The first 6 to 16 are random and distinct, and then they repeat until the sequence is full. The number of tokens before the repeat is called the *period*, and it differs from sequence to sequence.

# %%
tokens, periods = induction.repeated(3, seed=1)
for row, period in zip(tokens[:, :20], periods, strict=True):
    print(f"period {int(period):2}:", row.tolist())

# %% [markdown]
# Why must the period differ? Suppose that it were always 16. The next token would then be a copy of the one 16 places before it, which is 15 places before the current token. "Look 15 places back" would solve the task without any analogy, and one layer can learn that.

# %% measured
lazy = induction.train(depth=1, shortest=16)
print(f"period 16: {induction.accuracy(lazy, shortest=16):.0%} right")
print(f"periods of 6 to 16: {induction.accuracy(lazy):.0%} right")

# %% [markdown]
# The model learned a distance and nothing else. Its 17% come mostly from period 16, and from period 8, where the right token is 7 and also 7 + 8 = 15 places back. If a task has a shortcut, expect the model to take it.
#
# ### Exercise 9.1: sequences that repeat
#
# Draw such a batch, with a period for each row.

# %% hints make_repeating_batch [markdown]
# For one row: how do you draw, say, 7 distinct tokens out of the vocabulary? And how do you get a row of full length from them?
#
# A random order of the whole vocabulary begins with distinct tokens, as many as you need. Position i of the sequence then holds the token at position i modulo the period.
#
# Both bounds of the period are allowed, and `torch.randint` leaves out its upper one. Every random function you call takes the generator. A loop over the rows is fine.


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
# ### One layer or two?
#
# The copier has layers of attention with one head each, which add their outputs to the stream of vectors (lesson 8), and no feed-forward network. A learned vector per place is added to queries and keys alone, so places say where to look and are not passed on.
#
# **Predict** for one layer and for two: when trained on periods of 6 to 16, how often is the next token right? Only the places where it can be known count, from the first repetition on.

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
# A guess among the tokens of the sequence would be right in 10% of the cases (the mean of 1/6 to 1/16). One layer is right in a quarter of the cases, namely where the period happens to fit a distance that it has learned. To see why two layers do better, look at the maps of the two heads of the two-layer copier, in one sequence with period 15:

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
# The first layer looks one place back and adds what it finds to the stream, so each token carries a note: "before me came K". The second layer asks for notes. At K, its query says "whose note says K?", and the answer is the token *after* the previous K, the one to predict. Rows 30 and 31 have two earlier copies to choose from, and the head takes the one at the left edge.
#
# So it takes two heads, in this order. A *previous-token head* writes the notes, and an *induction head* reads them. In a single layer there is no earlier head, so there are no notes to read.
#
# So far this story rests on two pictures of one sequence. Two scores will turn it into numbers.
#
# Try both scores on paper first. Here is one head on the string abcab, whose period is 3. How much of its weight is on the token before, on average over the four rows that have one? And in the rows of the second a and the second b, how much is on the token that came *after* the first a and the first b?

# %%
one_head = torch.tensor(
    [
        [4, 0, 0, 0, 0],
        [2, 2, 0, 0, 0],
        [1, 2, 1, 0, 0],
        [0, 3, 1, 0, 0],
        [0, 0, 3, 1, 0],
    ]
)
labels = ["a", "b", "c", "a again", "b again"]
plot.heatmap(one_head / 4, labels, labels, "Where does this head look?")

# %% [markdown]
# One place back, the four rows have the weights 0.5, 0.5, 0.25 and 0.25, which makes a score of 0.375 for the token before. The first a is followed by b and the first b by c. The last two rows have 0.75 on these, which is the score for repetitions.
#
# ### Exercise 9.2: the previous-token score
#
# How much of its weight does each head put on the token before? (`induction.one_back` is not allowed here. Later cells use it as long as this exercise is not solved.)

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
# And how much of its weight does each head put on the token after the previous occurrence of the current one? If sequence b repeats after P tokens, the previous occurrence is at i − P, and the token after it at i − P + 1. (`induction.repetition` is not allowed here.)

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
# Here are your scores for the two heads of the two-layer copier, on 300 sequences with periods of 14 to 16. If an exercise is still open, a function of `induction.py` stands in for it:

# %% measured
tokens, periods = induction.repeated(300, seed=99_999, shortest=14)
with torch.no_grad():
    weights = deep(tokens)[1]
try:
    back, repeat = previous_token_score(weights), induction_score(weights, periods)
    score_back, score_repeat = previous_token_score, induction_score
except NotImplementedError:
    score_back, score_repeat = induction.one_back, induction.repetition
print("previous token:", score_back(weights))
print("induction:     ", score_repeat(weights, periods))

# %% [markdown]
# Layer 0 has about 0.4 on the token before, layer 1 about 0.85 on repetitions, and neither has much of the other score. Why only 0.4? The figure shows that this head looks one place back in the first copy and hardly ever in the second. Perhaps it has no reason to, because each token that has to be found has its note by then. The 0.85 is held down by the last rows, which have two earlier copies. There the head looks at the one further to the left, while the score counts only the other.
#
# ### Take it away
#
# A score says where a head looks, but not whether the model *needs* the head. To find that out, switch the head off and see what is lost. This is an *ablation*.
#
# ### Exercise 9.4: ablate a head
#
# Write an ablation as a context manager, without `induction.silenced`, which is not allowed here. Inside a `with` block the head adds nothing, and afterward all is as before, whatever happened inside. Python makes a context manager from a function with a single `yield`:


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
# There are two ways. Set that part of the weight to zero and put the old one back; or change the projection's input with a *hook*, a function that PyTorch calls before the layer (`register_forward_pre_hook`), and remove the hook.
#
# Keep a *copy* of what you overwrite, and write it back into the same parameter, without autograd. A bias of the projection belongs to no head and stays.


# %% exercise ablate_head
@contextmanager
def ablate_head(module: MultiHeadAttention, head: int) -> Iterator[None]:
    """Switch one head off inside a `with` block.

    module is attention.MultiHeadAttention with module.num_heads heads: its out_proj (nn.Linear, called as a layer)
    reads the heads side by side, head h at entries h * D to (h + 1) * D - 1. Inside the block that head contributes nothing (a
    bias stays), and gradients can be taken there. Blocks can be nested. Afterward, also after an exception (which
    passes through), the module computes what it computed before, with the same parameter objects.
    """
    ### BEGIN SOLUTION
    size = module.out_proj.in_features // module.num_heads
    columns = slice(head * size, (head + 1) * size)

    def silence(_: torch.nn.Module, read: tuple[Tensor]) -> tuple[Tensor]:
        heads = read[0].clone()
        heads[..., columns] = 0.0
        return (heads,)

    hook = module.out_proj.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()
    ### END SOLUTION


# %% check ablate_head

# %% [markdown]
# ### Without one or the other
#
# Now switch off each of the two heads of the two-layer copier in turn. (If your `ablate_head` is still open, `induction.py` has one.)

# %% measured
try:
    ablate_head(deep.layers[0], 0)
    ablate = ablate_head
except NotImplementedError:
    ablate = induction.silenced
for layer in (0, 1):
    with ablate(deep.layers[layer], 0):
        print(f"without layer {layer}: {induction.accuracy(deep):.0%} right")
print(f"with both heads on: {induction.accuracy(deep):.0%} right")

# %% [markdown]
# When either of them is off, less than a tenth is right, no more than by guessing among the tokens of the sequence. That was to be expected, because only one layer is left, and this one was never trained to work alone. So the ablation shows that both heads are needed, but not that the first writes notes and the second reads them. (The optional section "which way do the notes go?" tests this, too.)
#
# ### Back to the twelve
#
# With these tools we can ask which of the twelve heads copies. Here are your two scores for all of them, on random strings of 24 characters that are shown twice:

# %% measured
strings = writer.repeats(text, 16, period=24, seed=5)[:, :48]  # one earlier copy
weights, _ = writer.heads(large, strings)
scores = score_back(weights), score_repeat(weights, torch.full((16,), 24))
plot.heatmap(
    torch.stack(scores),
    ["one back", "repetition"],
    names,
    "Three heads look back, three look for repetitions",
    kind="shares",
    sides=("", "head"),
    alt="Heads 0.0, 0.1 and 0.3 have 0.79 to 0.91 on the token before. Heads 1.0, 1.3 and 2.2 have 0.92 to 0.97 on "
    "the token after the previous occurrence.",
)

# %% [markdown]
# Layer 0 has three previous-token heads, 0.0, 0.1 and 0.3. Above it, 1.0, 1.3 and 2.2 look for repetitions. These are scores on random strings. On text a head may look elsewhere, as head 1.2 does in the first figure of this lesson, where it looks one place back. Nor is there a natural threshold for a score: head 1.2 has 0.43 on repetitions. We count it among the others, which should not be needed for copying, and the control below can prove us wrong.
#
# ### Compared with what?
#
# Before we switch off the candidates for copying, we should know what switching off does. The next function takes heads of the larger model away, with your `ablate_head`, and adds a vector to the output of the attention in place of each. (You need not read it line by line.)


# %%
@contextmanager
def replaced(vectors: dict[str, Tensor | float]) -> Iterator[None]:
    with ExitStack() as open_blocks:  # leaves all of them at the end
        for name, vector in vectors.items():
            attention = large.blocks[int(name[0])].attention
            open_blocks.enter_context(ablate(attention, int(name[2])))
            hook = attention.out_proj.register_forward_hook(
                lambda _, __, output, vector=vector: output + vector
            )
            open_blocks.callback(hook.remove)
        yield


# %% [markdown]
# What switching off does is easiest to see in ordinary text. We take the stripe, 0.0, and the smear, 0.2.
#
# **Predict.** We take away one of the two, and the loss on text rises. For which of them does it rise more?

# %%
predict("the more important head", options=("0.0, the stripe", "0.2, the smear"))


# %% measured
loss = writer.loss_on(large, text, text.unseen)
for name in ("0.0", "0.2"):
    with replaced({name: 0.0}):
        worse = writer.loss_on(large, text, text.unseen) - loss
    print(f"without {name}: {worse:+.3f}")
reveal("the more important head", "0.2, the smear")

# %% [markdown]
# A stripe catches the eye, but it does not say how much the loss depends on it. The smear seems to matter more than five times as much.
#
# A head that is switched off adds nothing. But suppose that a head always adds *about the same*, whatever the text is. Then the layers above count on this constant, and taking it away does damage even if the head says nothing about the text. To tell the two cases apart, put the head's own mean in its place, the mean of what it adds over many stretches of text. `writer.heads` returns two things for each head: its weights, and its values, already multiplied by its part of `out_proj`. So `weights @ values` is the vector that this head adds to the stream:


# %%
def means_of(tokens: Tensor) -> dict[str, Tensor]:
    weights, values = writer.heads(large, tokens)
    added = weights @ values  # (B, heads, L, E)
    return dict(zip(names, added.mean(dim=(0, 2)), strict=True))


# %% [markdown]
# **Predict.** Of which head does the mean repair most of the damage?

# %%
predict("repaired by the mean", options=("0.0, the stripe", "0.2, the smear", "both"))

# %% measured
text_means = means_of(text.batch(text.seen, 200, 96, seed=1)[0])
for name in ("0.0", "0.2"):
    with replaced({name: text_means[name]}):
        worse = writer.loss_on(large, text, text.unseen) - loss
    print(f"mean in place of {name}: {worse:+.3f}")
reveal("repaired by the mean", "0.2, the smear")

# %% [markdown]
# With its mean in its place, the smear costs 0.005 instead of 0.071, while for the stripe hardly anything has changed. So a constant vector repairs most of the damage of removing the smear, and almost none of the damage of removing the stripe. Every ablation raises the question "compared with what?", and zero is only one possible answer.
#
# ### Who copies?
#
# Now we switch off whole groups of heads, first with zeros and then with means in their place. The last group is a control: the six heads that neither look back nor look for repetitions, head 1.2 among them.

# %%
groups = {
    "1.0": ["1.0"],
    "1.0 and 1.3": ["1.0", "1.3"],
    "the three that look back": ["0.0", "0.1", "0.3"],
    "the three that look for repetitions": ["1.0", "1.3", "2.2"],
    "the other six": ["0.2", "1.1", "1.2", "2.0", "2.1", "2.3"],
}
string_means = means_of(writer.repeats(text, 64, period=24, seed=5))


# %% [markdown]
# Two things are measured: by how much the loss on unseen text rises, and what share of the characters in the strings is still copied. For copying, the means are taken over strings.


# %%
def without(group: list[str], instead: dict, measure) -> float:
    with replaced({name: instead[name] for name in group}):
        return measure()


def on_text() -> float:
    return writer.loss_on(large, text, text.unseen) - loss


def on_strings() -> float:
    return writer.right_on_repeats(large, text)


# %% measured
zeros = dict.fromkeys(names, 0.0)
rises, still_copied = (
    {
        name: [without(group, fill, measure) for fill in (zeros, means)]
        for name, group in groups.items()
    }
    for measure, means in ((on_text, text_means), (on_strings, string_means))
)
induction.ablations(rises, still_copied)

# %% [markdown]
# Look for the short bars in the left panel. Copying stays above 99% without head 1.0, and without any other single head. It goes on without 1.0 and 1.3, and without any other two of the heads that look for repetitions. (Only these two rows are shown.) But without all three it falls from 100% to 12%, while text is hardly affected. So one of these three is enough, and one is needed.
#
# Without the three heads that look back, copying falls to 5%. But the loss on text also rises, by 0.68, so perhaps the model is so damaged that it can do nothing well. This is what the control is for. Without the other six heads, the loss on text rises by 0.39 (or by 0.28 with means, because 0.2 is among them), and still 99% of the characters are copied. So a damaged model can copy. The two groups are needed for copying, and no other heads are.
#
# So our question was wrong: no single head is responsible for copying. An ablation that shows nothing does not prove that a head does nothing, because the head may have a twin. To tell the two cases apart, remove the head alone and then together with the heads that might do the same.

# %% [markdown]
# ## What can go wrong
#
# **A large weight on nothing.** Head 2.2 looks for repetitions in strings and at spaces in text. Is that a second job? A weight says only how much of a value is passed on. So look at the values that this head fetches, and at how much it adds to the stream in text and in strings:

# %% measured
stretches, _ = text.batch(text.unseen, 64, 96, seed=3)
weights, values = writer.heads(large, stretches)
added = (weights @ values).norm(dim=-1).mean(dim=(0, 2))
spaces = stretches == text.characters.index(" ")
norms = values[:, names.index("2.2")].norm(dim=-1)
print(f"norm of a value: {norms[spaces].mean():.1f} at spaces", end=", ")
print(f"{norms[~spaces].mean():.1f} elsewhere")
in_text = {name: round(float(norm), 1) for name, norm in zip(names, added, strict=True)}
print("added in text:", in_text)
weights, values = writer.heads(large, strings)
in_strings = (weights @ values)[:, names.index("2.2")].norm(dim=-1).mean()
print(f"2.2 in strings: {in_strings:.1f}")
print(f"text without 2.2: {without(['2.2'], zeros, on_text):+.3f}")

# %% [markdown]
# A value at a space has a fifth of the usual norm, and in text head 2.2 adds the least of all twelve. Nor does the loss on text rise when it is switched off. The weights of a head sum to 1 even where there is nothing to copy. In that case this head puts them on the spaces, whose values are small. Such a place is called an *attention sink*, and in large models it is often the first token.
#
# **Choosing and testing on the same data.** One of twelve heads scores highest even if all are noise. So choose a head on one batch and test it on another: `writer.right_on_repeats` draws other strings than those that gave the scores.
#
# **Learning the text by heart.** Compare the loss on the text that was used in training with the loss on the text that was not:

# %% measured
for name, part in (("seen", text.seen), ("unseen", text.unseen)):
    print(f"{name:7} {writer.loss_on(large, text, part):.2f}")

# %% [markdown]
# The gap is 0.12, which is small. `pretrain.py` trains with dropout and for few steps, both of which are meant to keep a model from memorizing. A wide gap tells you that a model has memorized, but not which of two models is better. (An earlier version that was trained for longer had a wider gap and a lower loss on unseen text, not shown.)
#
# ## What you learned
#
# This lesson has changed none of the three steps. It has asked which of a model's heads compares what, and tested the answer by taking heads away.
#
# | | what it is | what to remember |
# |---|---|---|
# | language model | predicts the next token, all positions at once | judged on unseen text, and by what it writes |
# | perplexity | $e^{\text{loss}}$ | how many choices it hesitates between |
# | previous-token head | looks one place back | adds "before me came …" to the stream |
# | induction head | looks one place after the previous occurrence | usually needs a previous-token head in a layer below |
# | score | a number per head, over many inputs | where it looks |
# | ablation | the model with something in place of a head | compared with what? And is there a twin? |
# | path patching (optional) | only some inputs get what a layer added | which way the information goes |
# | attention sink | where a head rests | a large weight on a small value |
#
# %%
recap()

# %% [markdown]
# ## Questions
#
# **Question R9** (4 points, graded by a person). Somebody says of the two-layer copier: "The head of layer 1 copies."
#
# (a) Collect the evidence: say what the map, the score and the ablation each show, and what each leaves open.
#
# (b) Propose a *counterfactual* test, one in which the input is changed and not the model, for example by putting another token in one place of the sequence. What do you change, what do you measure, and which result would refute the claim?
#
# (c) Without 1.0, 1.3 and 2.2, the larger model still copies about 13% of the characters (with means in their place), although a guess among the 24 characters of a string would be right in 4%. Is there another head that copies? Find out with `without` and `on_strings`. Say what you switched off, what came out, and with what you compared it.

# %% question R9 [markdown] points=4
# Map: in one sequence the second layer's head puts its weight one place after the previous occurrence. It shows where it looks in that sequence, not what is done with it.
#
# Score: about 0.85 over 300 sequences, so it is not an accident of one. It still says nothing about use. Ablation: without it 7% are right instead of 100%, so the model needs it. But without the head of layer 0 hardly more are right, so "copies" is too much for one head: both are needed, one to write notes, one to read them. And zero is an unusual input for what follows; a mean in its place would be a second answer.
#
# Counterfactual: replace the token after the previous occurrence (position i − P + 1) with another one, and leave the rest. If the head copies, the prediction at i changes to the new token. If it stays the same, the claim is refuted. (Changing a token elsewhere should not matter.)
#
# Head 1.2 copies a little. With means in their place, the model copies 13% without the three, and 3.7% without the three and 1.2, which is no more than guessing. For comparison, without the three and one of the eight others it copies 9% to 13%. Without 1.2 alone it copies 100%, because the three others do the same, and better. (With zeros, taking away 0.2 in place of 1.2 leaves 7%, but with its mean 13%. The zero did that damage.)
#
# | points | for |
# |---|---|
# | 1 | Map and score: where the head looks, in one sequence and in many, and that neither shows what is done with it |
# | 1 | Ablation: the model needs the head, and what that leaves open (the head of layer 0 is needed too, or a mean in place of zero could answer otherwise) |
# | 1 | A counterfactual: the input is changed, with what is measured and which result would refute the claim |
# | 1 | Head 1.2, found by switching it off together with the three (about 4% are left), and compared with other heads in its place (9% to 13%) |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "The map shows that it copies, because its weight is in the right place." | The map shows where the head looks in one sequence. What is done with what it finds there? |
# | 2 | "[Evidence read right.] For a counterfactual I would switch off the head of layer 0 as well." | The evidence is read right. That changes the model. Change a token of the input: which one, what should the model then write, and which result would refute you? |
# | 3 | "[Evidence and counterfactual right.] I switched off each of the nine others alone. 100% are copied each time, so none of them copies." | Three parts are right. As long as the three heads are on, nobody misses a fourth. What happens if one of the nine goes together with them? |
# | 1 | "Without the head 7% are right instead of 100%, so this is the head that copies." (sounds right) | The model needs the head. Without the head of layer 0 hardly more are right, so needing a head does not show that it copies alone. And what do map and score leave open? |
# | 3 | "[Evidence and counterfactual right.] With zeros, 12% are copied without the three, and 7% without them and 0.2. So 0.2 copies." (sounds right) | Three parts are right. Zero is one possible answer to "compared with what?". What is left if 0.2 gets its mean, and what without 1.2? |

# %% [markdown]
# ## Optional: which way do the notes go?
#
# The ablations show that both heads of the copier are needed. The story says more: the first head writes notes, and the second reads them. That can be tested as well.
#
# What layer 0 adds can reach the output in four ways: through the queries of layer 1, through its keys, through its values, or past layer 1 (the *rest*). The story says that only the keys matter: the notes are read there, whereas the query and the value need only the token itself. So we open some of these ways and close the others. With the values closed, for example, layer 1 computes its values from the stream as it was before layer 0 added anything. This is called *path patching*. Here are two such experiments:

# %%
experiments = {
    "only the keys": ("key",),
    "all but the keys": ("query", "value", "rest"),
}
induction.switches(experiments)

# %% [markdown]
# **Predict.** What share of the predictions is right in each of the two?

# %%
predict("only the keys", options=("nearly all", "about a tenth"))
predict("all but the keys", options=("nearly all", "about a tenth"))

# %% measured
for name, parts in experiments.items():
    print(f"{name:17} {induction.patched(deep, parts):.0%} right")
reveal("only the keys", "nearly all")
reveal("all but the keys", "about a tenth")

# %% [markdown]
# If only the way through the keys is open, every prediction is right. If it alone is closed, hardly any is. So copying uses what layer 0 adds only in the keys of layer 1. This was a test of the *route* in our story, and it could have failed. It does not test whether the notes say "before me came K". For that we have only the map and the score of layer 0.

# %% [markdown]
# ## Optional: when did it learn that?
#
# While the larger model was trained, its trainer `pretrain.py` noted every 100 steps how well it copies strings that it has never seen:

# %%
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
# Within 200 steps the share goes from 5% to 13% to 100%. One explanation is that copying needs two kinds of heads, and that either kind alone hardly helps with it. This curve does not test it, although larger models with two or more layers show a similar jump (Olsson et al., below).

# %% [markdown]
# ## Further reading
#
# - Olsson et al. 2022, [In-context Learning and Induction Heads](https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads/index.html): the jump, in models of all sizes with two layers or more, and in none with one.
# - Jain and Wallace 2019, [Attention is not Explanation](https://arxiv.org/abs/1902.10186), and the answer by Wiegreffe and Pinter 2019, [Attention is not not Explanation](https://arxiv.org/abs/1908.04626).
# - Kobayashi et al. 2020, [Attention is Not Only a Weight](https://arxiv.org/abs/2004.10102): weights times the norms of values. Xiao et al. 2023, [Efficient Streaming Language Models with Attention Sinks](https://arxiv.org/abs/2309.17453).
# - Elhage et al. 2021, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html): attention-only models of one and two layers, taken apart.
#
# **Next:** [lesson 10](../10_efficient_attention/10_efficient_attention.ipynb) makes all of this fast.
