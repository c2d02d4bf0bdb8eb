# %% [markdown]
# # 1. Why attention?
#
# After this lesson you can say how long a text one vector can carry, and what to do about it. You can also build a lookup that can be trained, and see what attention looks at while it translates. You need a little PyTorch, as in [lesson 0](../00_warm_up/00_warm_up.ipynb). About 75 minutes, and 35 more for the optional section at the end, in which you build attention as it was first published in 2014.
#
# ## The idea
#
# A chat program writes its answer one word at a time. Before each word it looks back at everything that has been said, your question as well as the answer so far, and decides which parts matter for the next word. This step is called *attention*. It was invented in 2014 for translation, in programs so small that you can train them again in seconds. By lesson 5 you will have written the function that today's language models call in every layer, by lesson 8 the block that they are stacked from, and in lesson 13 a small model that writes on your own computer.
#
# We begin with the problem that attention was invented for. Let us take the easiest translation there is: repeating what has been read. The "words" are random numbers below 12.

# %% setup
from functools import partial

import figures
import torch
from torch import Tensor, nn
from translator import CHARACTERS, accuracy, date_pair, dates, to_ids, to_text, train

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)


# %%
def copies(n: int, seed: int, length: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 12, (n, length), generator=generator)
    return x, x  # what is read, what should be written


copies(1, seed=0, length=8)

# %% [markdown]
# Until then, neural translators were built from two *recurrent* networks. Such a network reads one word at a time and keeps a vector, its *hidden state*. It computes each new state from the old one and the next word, always with the same weights. The first network, the *encoder*, reads the whole sentence and passes its last state to the second, the *decoder*, which writes one word after another. Each word comes from the decoder's own state and the word that it wrote before.
#
# In the figure, x are the words that are read, h the states of the encoder, s the states of the decoder, and y the words that are written.

# %%
figures.bottleneck()

# %% [markdown]
# Our states have 64 dimensions. Is that enough to remember 4 words, or 8, or 16? The model is in `translator.py` beside this notebook, but nothing below depends on its details.
#
# During training the decoder is told the right previous word instead of its own guess, which is called *teacher forcing*. In the test it is on its own with 500 new sequences, and a sequence counts as right only if every word in it is right. Gradients of recurrent networks are sometimes huge, so a gradient whose norm (length) is above 1 is scaled down to norm 1 (*gradient clipping*).


# %%
def copying(length: int, look=None, steps: int = 250) -> tuple[nn.Module, float]:
    task = partial(copies, length=length)
    model = train(task, symbols=12, look=look, steps=steps, rate=0.005)
    return model, accuracy(model, task)


# %% [markdown]
# **Predict.** After 250 training steps the model repeats 4 words almost perfectly. What will it do with 8 words, and with 16? (Training the three models takes some ten seconds.)

# %%
predict(
    "8 words",
    options=("nearly always right", "right half the time", "nearly never right"),
)
predict(
    "16 words",
    options=("nearly always right", "right half the time", "nearly never right"),
)

# %% measured
LENGTHS = (4, 8, 16)
plain = [copying(length)[1] for length in LENGTHS]
reveal("8 words", "nearly never right")
reveal("16 words", "nearly never right")
for length, share in zip(LENGTHS, plain, strict=True):
    print(f"{length:2} words: {share:4.0%} right")

# %% [markdown]
# With 4 words the model is nearly always right, with 8 nearly never, and with 16 never. A longer sequence is harder even if each word is equally easy, because all of its words must be right. Does this explain the result? Suppose that each word is right with probability 0.985, independently of the others. Then four words are right with probability $0.985^4 = 0.94$, which is what we found. That would leave 89% for 8 words and 79% for 16. The model does far worse.
#
# The decoder never sees the sentence. It sees only one vector, the last state of the encoder. A place through which everything must pass is called a *bottleneck*. Let us first remove it, and then ask whether it was really to blame.
#
# ### Looking back
#
# While it read, the encoder computed a state after every word, and all but the last were thrown away. Suppose that we keep them. Each time the decoder is about to write, it looks at *all* the states, decides how much each of them matters *now*, and mixes them in those proportions. The decoder then writes from its own state and this mixture, which is called the *context*. The figure shows one such step for five states, from the top down, with made-up scores.

# %%
figures.attention([0.7, 0.0, 2.5, 1.4, 0.0])

# %% [markdown]
# How much a state matters is a number, the *score*, and a network can compute it. In the next cell a small network reads the decoder's state and one encoder state, joined into 128 numbers, and returns their score. (The states are random, because only the steps matter here.) Scores can be negative, so *softmax* replaces each score $a_i$ by $e^{a_i}$, which is always positive, and divides it by the sum of all these exponentials. The results are shares that sum to 1, also called *weights*. Finally, the states are multiplied by their weights and added up.

# %%
score = nn.Sequential(nn.Linear(128, 32), nn.Tanh(), nn.Linear(32, 1))
state, states = torch.randn(64), torch.randn(5, 64)
scores = torch.cat([score(torch.cat([state, one])) for one in states])
weights = scores.softmax(dim=0)
context = sum(weight * one for weight, one in zip(weights, states, strict=True))
weights.detach(), context.shape

# %% [markdown]
# That is the whole step, and since the network is untrained, all five weights are near a fifth. (`detach` drops the record that PyTorch keeps for gradients.) The version below does the same for a whole batch: `state` is (B, 64) and `states` is (B, S, 64), with `B` sequences in the batch and `S` words in each. The comments give the shapes.


# %%
def look(score: nn.Module, state: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
    repeated = state[:, None].expand_as(states)  # (B, 64) → (B, 1, 64) → (B, S, 64)
    pairs = torch.cat([repeated, states], dim=-1)  # (B, S, 128)
    scores = score(pairs).squeeze(-1)  # (B, S, 1) → (B, S)
    weights = scores.softmax(dim=-1)  # (B, S)
    context = (weights[..., None] * states).sum(
        dim=1
    )  # (B, S, 1) * (B, S, 64) → (B, 64)
    return context, weights


# %% [markdown]
# The first line repeats the decoder's state once for every word: `state[:, None]` inserts an axis of size 1, and `expand_as` repeats the state along it. `cat` joins the two halves of each pair. The network returns one score for each pair, and `squeeze` removes the last axis, whose size is 1. In the last line, `weights[..., None]` adds such an axis at the end, so that each weight multiplies all 64 entries of its state.
#
# The model that is trained below has a network like `score` of its own, which it passes to `look` before it writes each word. Nobody tells this network where to look, so training has to find that out. The task, the number of steps and the seed are the same as before.

# %% measured
_, four = copying(4, look)
model, eight = copying(8, look)
print(f" 4 words: {four:4.0%} right\n 8 words: {eight:4.0%} right")

# %% measured
_, sixteen = copying(16, look)
print(f"16 words: {sixteen:4.0%} right")

# %% [markdown]
# With one look back per word, the same two networks get 16 words right more than eight times out of ten. Is it only that this model is larger? The network that scores and a wider last layer make it larger by an eighth. A plain model with a state of 72 dimensions is larger still, but in one run of 250 steps it got only 10% of the sequences of 8 words right (not shown).

# %% measured
plot.curves(
    LENGTHS,
    {"with attention": [four, eight, sixteen], "without": plain},
    "With attention, length matters far less",
    xlabel="words",
    ylabel="sequences that are right",
    alt="Without attention the share of right sequences falls from above 0.8 at 4 words to 0 at 16. With attention it stays above 0.8.",
)

# %% [markdown]
# Where does the decoder look while it writes word 0, word 1, and so on? If you call the model with a batch of sequences and the number of words to write, it returns the logits and the weights. Here are the weights for eight words, averaged over 500 sequences:

# %%
_, weights = model(copies(500, 5, 8)[0], 8)
plot.heatmap(
    weights.mean(dim=0).detach(),
    [f"word {i}" for i in range(8)],
    [f"word {i}" for i in range(8)],
    kind="shares",
    title="While the decoder writes word i, it looks at word i",
    sides=("written", "read"),
    alt="A bright diagonal: each row puts most of its weight on the word with the same number.",
)

# %% [markdown]
# Each word that the decoder writes gets a context of its own, made mostly from the word that is needed. This is the whole idea of *attention*, which Bahdanau, Cho and Bengio published in 2014 to get rid of exactly this bottleneck.
#
# ### Was it the bottleneck?
#
# Attention has solved the problem, but this does not show what the problem was. Three other things could have stopped the plain model: the distance between the first word and the end, too little training, or too much to write.
#
# Distance is a serious candidate. The first word can influence the last state only through all the steps in between, and the gradient has to come back through the same steps. How much of it survives in an untrained `nn.GRU`, the kind of recurrent network that our models consist of? Backpropagation starts from a single number, so we take the norm of the last state, `gru(x)[1]`. The cell prints the size of its gradient with respect to the first word, divided by that with respect to the last:

# %%
torch.manual_seed(0)
gru = nn.GRU(32, 64, batch_first=True)
for length in (2, 8, 16):
    x = torch.randn(1, length, 32, requires_grad=True)
    gru(x)[1].norm().backward()
    size = x.grad[0].norm(dim=-1)
    print(f"{length:2} words: first / last = {size[0] / size[-1]:.0e}")

# %% [markdown]
# With these random numbers, the first of 2 words gets about six tenths of the gradient that the last one gets, and the first of 16 less than a thousandth. So when training begins, a distant word has almost no influence on the last state. But does this stop a model that learns?
#
# The next function changes one thing at a time. The model reads `read` words. It must write the beginning, `first` words long, and repeat it until it has been written `times` times. With `read=16, first=4, times=1`, it reads sixteen words and writes the first four once.


# %%
def repeating(read: int, first: int, times: int, steps: int) -> float:
    def task(n: int, seed: int) -> tuple[Tensor, Tensor]:
        x, _ = copies(n, seed, length=read)
        return x, x[:, :first].repeat(1, times)

    return accuracy(train(task, symbols=12, steps=steps, rate=0.005), task)


# %% measured
for steps in (250, 750):
    print(f"{steps} steps, the first 4 of 16: {repeating(16, 4, 1, steps):4.0%}")

# %% [markdown]
# This model reads as many words as the one that failed, but it has only four of them to remember. After 250 steps it does not get even those right. So at this point even four words are too many if twelve others follow. After 750 steps it mostly succeeds. Distance makes learning slower, but it does not stop it.
#
# Was it too much to write? If four words have to be written four times over, there are 16 words to write and four to remember. Or was it too little training? To find out, we also train three times as long:

# %% measured
print(f"250 steps, 4 words four times: {repeating(4, 4, 4, 250):4.0%}")
for length in (8, 16):
    print(f"750 steps, all {length} words: {repeating(length, length, 1, 750):4.0%}")

# %% [markdown]
# Here are all five runs:
#
# | what is tested | read | remembered | written | steps | sequences that are right |
# |---|---|---|---|---|---|
# | distance | 16 | 4 | 4 | 250 | hardly any |
# | distance, longer training | 16 | 4 | 4 | 750 | most |
# | much to write | 4 | 4 | 16 | 250 | most |
# | longer training | 8 | 8 | 8 | 750 | about half |
# | longer training | 16 | 16 | 16 | 750 | none |
#
# Given 750 steps, the model can keep four words while it reads twelve others, and it can write 16 words if only four of them are different. What it has not learned, even then, is to *keep* 16 words in one state. In this sense one state is a bottleneck: what has to pass through it is hard to learn.
#
# A state of 64 numbers has room for the words. But the model would have to find a way to store them all in one vector, and in 750 steps it has not found one for 16 words. What much longer training would do, we have not measured. Attention needed 250 steps.
#
# ## By hand
#
# Take the weights 0.1, 0.05, 0.6, 0.2 and 0.05 from the figure in "Looking back" as shares. Give the five states two dimensions: [10, 0], [0, 20], [5, 5], [0, 10] and [20, 0]. Multiply each state by its share, on paper, and add everything up.

# %%
shares = torch.tensor([0.1, 0.05, 0.6, 0.2, 0.05])
states = torch.tensor([[10.0, 0], [0, 20], [5, 5], [0, 10], [20, 0]])
shares @ states

# %% [markdown]
# The context is [5, 6], because $0.1 \cdot 10 + 0.6 \cdot 5 + 0.05 \cdot 20 = 5$ and $0.05 \cdot 20 + 0.6 \cdot 5 + 0.2 \cdot 10 = 6$. It has the dimension of a single state, however many states there are.
#
# ### Why mix at all?
#
# It would be more direct to *pick* the state with the highest score. To see what speaks against it, ask both ways for a gradient:

# %%
scores = torch.tensor([1.0, 2.0, 4.0, 3.0, 0.5], requires_grad=True)
picked = states[scores.argmax()]
mixed = scores.softmax(dim=-1) @ states
print("picking passes a gradient to the scores:", picked.requires_grad)
print("mixing passes a gradient to the scores: ", mixed.requires_grad)

# %% [markdown]
# Picking passes nothing back, because a slightly higher score changes nothing until it suddenly changes everything, and gradient descent has nothing to follow. When states are mixed, a score that rises a little moves the context a little, and a gradient needs no more than that.
#
# ## In PyTorch
#
# ### A lookup that can be trained
#
# Leave the translator for a moment and look at this step alone, as a lookup in a table. A *query* says what is wanted. Each entry of the table has a *key*, by which the entry is found, and a *value*, which is what the lookup returns. In the translator the decoder's state was the query, and each encoder state was both key and value. Here the two are different, as they will be from lesson 2 on. The score of an entry is easier to compute here: it is the dot product of its key with the query.

# %%
key = torch.tensor([[4.0, 0], [0, 4], [3, 3]])
value = torch.tensor([[100.0, 0, 0], [0, 100, 0], [0, 0, 100]])
query = torch.tensor([1.0, 0.5])
scores = torch.stack([query.dot(k) for k in key])
scores

# %% [markdown]
# The third entry fits best, and the first nearly as well. Softmax, written out in full, and the mixture follow:

# %%
shares = scores.exp() / scores.exp().sum()
output = torch.zeros(3)
for share, v in zip(shares, value, strict=True):
    output = output + share * v
shares, output

# %% [markdown]
# The values were chosen so that the output can be read as a recipe: 36% of the first value, 5% of the second and 59% of the third.
#
# How strict should a lookup be? You can adjust this by dividing the scores by a number, the *temperature*, before softmax. **Predict.** What does a temperature of 0.1 do to these shares?

# %%
predict(
    "temperature 0.1", options=("all nearly equal", "nothing", "one takes nearly all")
)

# %%
reveal("temperature 0.1", "one takes nearly all")
torch.stack([(scores / t).softmax(dim=-1) for t in (0.1, 1.0, 10.0)])

# %% [markdown]
# At 0.1 the third entry takes 0.993, which is nearly a hard lookup, but one with a gradient. At 10 all three lie between 0.28 and 0.37.
#
# ### Exercise 1.1: a soft lookup
#
# Look up one query among n keys, and mix their values. No loop is needed, because what the cells above did entry by entry is two products. You may use `softmax`, but not PyTorch's own function for attention, which you will meet later.

# %% hints soft_lookup [markdown]
# Which three steps lead from a query to an output? After which of them do you have n numbers, and after which D_v?
#
# A matrix times a vector takes the dot product of each row with that vector. Which of your tensors is the matrix? And where does the temperature belong: before softmax, or after it?
#
# The shares are n numbers that sum to 1. A vector times a matrix multiplies every row by its number and adds the rows up. And what is `exp` of a score of 1000? PyTorch's softmax avoids that; lesson 4 shows how.


# %% exercise soft_lookup
def soft_lookup(
    query: Tensor, key: Tensor, value: Tensor, temperature: float = 1.0
) -> Tensor:
    """Mix the values by how well their keys fit the query.

    query is (D,), key is (n, D), value is (n, D_v). Scores are dot products, divided by the temperature, which is
    above 0. Scores may be in the thousands. Returns (D_v,), with gradients for query, key and value.
    """
    ### BEGIN SOLUTION
    return (key @ query / temperature).softmax(dim=-1) @ value
    ### END SOLUTION


# %% check soft_lookup

# %% [markdown]
# ### A real translation
#
# Let us give the translator something that is worth translating. Our dates lie between 1900 and 2029, are written in five styles, and have to be rewritten like `1955-01-28`. Here are three:

# %%
generator = torch.Generator().manual_seed(0)
[date_pair(generator) for _ in range(3)]

# %% [markdown]
# A "word" is now a single character. The model reads 18 characters, short dates being padded with spaces, and writes 10. It is trained for 200 steps, once without attention and once with it.

# %% measured
without = train(dates, len(CHARACTERS), steps=200, rate=0.01)
print(f"without attention: {accuracy(without, dates):4.0%} right")

# %% measured
translator = train(dates, len(CHARACTERS), look, steps=200, rate=0.01)
print(f"with attention:    {accuracy(translator, dates):4.0%} right")

# %% [markdown]
# After 200 steps, hardly any date is right without attention, and nearly all of them are right with it. Two more results are not shown. Without attention, longer training helps slowly, and in two runs of 2000 steps fewer than half of the dates were right. And the scores need not come from a network, since with a dot product in its place the result is as good.
#
# The model cannot have learned the test inputs by heart, since there are over 200,000 different ones (about 47,500 days in five styles), and 200 steps with 64 dates each have shown only 12,800. Give the model with attention a date, and look at its weights:

# %%
text = "28 january 1955"
logits, weights = translator(torch.tensor([to_ids(text)]), 10)
written = to_text(logits.argmax(dim=-1)[0])
plot.heatmap(
    weights[0].detach(),
    list(written),
    list(text.ljust(18).replace(" ", "·")),
    f"{text} becomes {written}",
    sides=("written", "read"),
    alt="The digits of the year look at the year, those of the month at the name of the month, those of the day at the day.",
)

# %% [markdown]
# Read the map row by row. For the year the decoder looks at the end of the text, for the month at the name, and for the day at the front.
#
# The rows of the hyphens are smeared, probably because a hyphen is at the same position in every date, so that the decoder can write it without looking anything up. An encoder state also carries some of what was read before it, so a row may be bright a character or two *after* the one that you expect. A dot in the map is a space, and the last three columns are the padding. The row of the second 5 has half of its weight on them, because to the model padding is a character like any other. Lesson 5 shows how to hide the padding.
#
# ### What attention changes
#
# Attention removes the bottleneck, and it shortens the path as well. One step leads from every state to the context, however long the sentence is:

# %%
figures.distance()

# %% [markdown]
# Lesson 2 drops the recurrent network and keeps attention alone. This is what changes then:
#
# | | recurrent network | attention alone (from lesson 2 on) |
# |---|---|---|
# | what it sees | all earlier words, through the state (an extra encoder that reads from right to left sees the later ones) | all words, or those that a mask allows (lesson 5) |
# | steps between two words | their distance | one |
# | what it keeps | one vector of fixed size | a vector for every word |
# | in training | one word after another | all at once, since no word waits for a state |
# | when it writes | one word after another | one word after another |
# | work for n words | grows with n | grows with n², since every word looks at every word |
# | what you can look at | states that nobody can read | the attention weights, which show where a vector was mixed from, though not why |
#
# The translator used both: a recurrent network, which knows the order of the words, and attention, which connects words that are far apart. In 2017 the recurrent part was dropped, and lesson 2 builds what remained.

# %% [markdown]
# ## What can go wrong
#
# **A mixture forgets, too.** Two different contents can have the same mean, and a context is nothing but a weighted mean:

# %%
half = torch.tensor([0.5, 0.5])
half @ torch.tensor([[2.0, 0], [0, 2]]), half @ torch.tensor([[1.0, 1], [1, 1]])

# %% [markdown]
# Given [1, 1], you cannot tell which of the two contents was mixed. A context is still a bottleneck, but a wider one: there is now one context *per word written* where there was one vector for everything. Lesson 6 shows how to pass on several contexts at once.
#
# **Weights along the wrong axis.** A softmax over the queries instead of the keys also gives numbers between 0 and 1, and only the sums reveal the mistake. Each *query* has one whole unit of attention to spend.
#
# **Nothing is found, but something is returned.** A dictionary can say that a key is missing, but a soft lookup cannot, since its weights sum to 1 even if nothing fits.
#
# ## What you learned
#
# Compare, share out, mix: in this lesson a small network compares, softmax shares out, and the states that were read are mixed.
#
# | | what it is | what to remember |
# |---|---|---|
# | bottleneck | one state for everything that was read | the longer the text, the harder to learn |
# | attention | all states, mixed by how well they fit now | a different context at every step |
# | soft lookup | softmax of scores, times values | like a dictionary, but with a gradient |
# | additive score (optional) | $v \cdot \tanh(W_q q + W_k k)$ | a learned comparison |
#
# %%
recap()

# %% [markdown]
# Did your prediction for 8 words hold? Four more words were enough to turn "nearly always" into "nearly never".
#
# ## Questions
#
# **Question R1** (2 points, graded by a person). The state has 64 dimensions with 32 bits each, 2048 bits in all. A sequence of 16 words, each drawn from 12, holds $16 \log_2 12$ bits, which is less than 58. So there is room, and still the model without attention fails at 16 words, even after 750 steps.
#
# A friend says: "It is the training. With enough of it, one state will do for texts of any length." Plan one run with `repeating` that would tell us something about "It is the training": what do you change, what do you leave as it is, and which result would speak against him? Then say what is wrong with his second sentence, also for a state ten times as large.

# %% question R1 [markdown] points=2
# `repeating(16, 16, 1, 7500)`: ten times as many steps, with the task, the model and everything else as they were. If still hardly any sequence is right, more training is not what was missing, and the first sentence has lost its support. If most are right, he has a point: the code for sixteen words could be learned and only took longer. One run decides it for one task and one start, no more. (Training three times as long brought eight words from nearly never to about half, so either result is possible.)
#
# The second sentence cannot be true of any training. A vector of fixed size holds a fixed number of bits, and at some length a text has more. A state of 640 dimensions moves that limit to longer texts (and long before it, there is more room to keep words apart, so a code may be easier to find), at the cost of more computation at every step. It does not remove the limit. Attention keeps one vector per word, so what it remembers grows with the text.
#
# | points | for |
# |---|---|
# | 1 | A run that changes the training alone (more steps, for the same 16 words), and a result named beforehand that would speak against the friend |
# | 1 | One vector of fixed size has a limit at some length whatever the training, and a larger state moves the limit without removing it |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 1 | "`repeating(16, 16, 1, 7500)`. If it fails, he is wrong. With 640 dimensions any length will do, because there is always room." | Right about the run. A state ten times as large still has a fixed size, so a longer text reaches its limit too. |
# | 1 | "`repeating(32, 32, 1, 750)`: if it fails as well, he is wrong. And one vector of fixed size cannot hold texts of any length." | Right about the limit. But your run has the same training and a harder task, so its failure says nothing about what more training would do. |
# | 0 | "64 numbers are too few for 16 words, so training cannot help." | The question counts the bits: 2048 are there and 58 are needed. Which run would show whether a code that makes use of them can be learned? |
# | 1 | "I train longer, with a state of 640 dimensions. If it then repeats 16 words, he is right. The limit only moves." (sounds right) | Right about the limit. But your run changes two things at once. If it succeeds, was it the training or the larger state? |

# %% [markdown]
# ## Optional: two ways to score
#
# You have now seen two ways to compare a query with a key: a small network in the translator, and a dot product in the lookup. Today nearly everybody uses the dot product, and from lesson 2 on so will you. The other way is worth building once if you have the time. It shows that a score can be any function of a query and a key, and that the function itself can be learned.
#
# A dot product multiplies the first entry of one vector by the first entry of the other, the second by the second, and so on. This makes sense only if both vectors use each entry for the same thing. In the translator, query and key come from two different networks, and at first nothing makes entry 5 of the query mean the same as entry 5 of the key. But training can bring about such an agreement.
#
# The first attention *learned* how to compare. A matrix $W_q$ turns the query into h numbers, where h is a size of your choice, and a matrix $W_k$ does the same with the key. The two are added, and $\tanh$ is applied to each of the h sums. The dot product of the result with a learned vector $v$ is the score. (This $v$ is not a value, and this h is not a state.)
#
# $$\text{score}(q, k) = v \cdot \tanh(W_q\, q + W_k\, k) .$$
#
# This is *additive attention*, and you have seen it already: apart from biases it is the network `score` of "Looking back". There the two vectors were joined and multiplied by one matrix, whose left half is $W_q$ and whose right half is $W_k$. Since $[W_q \; W_k]$ times a joined vector $[q; k]$ is $W_q q + W_k k$, the two ways are the same. Try it on paper first, with a query of two dimensions, a key of three, and h = 2.

# %%
q, k = torch.tensor([1.0, 2]), torch.tensor([0.0, 1, 1])
w_q = torch.tensor([[1.0, 0], [0, 1]])  # (h, D_q)
w_k = torch.tensor([[0.0, -1, 0], [1, 0, -2]])  # (h, D_k)
v = torch.tensor([2.0, 1])
w_q @ q, w_k @ k, v @ torch.tanh(w_q @ q + w_k @ k)

# %% [markdown]
# [1, 2] and [−1, −2] cancel, tanh of 0 is 0, and so the score is 0.
#
# Why is there a tanh at all? Without it the score would be $v \cdot W_q q + v \cdot W_k k$, with one part for the query and one for the key. The query would then add the same number to the scores of *all* keys. See what softmax makes of such scores, for four keys and two very different queries:

# %%
keys = torch.tensor([[0.0, 1, 1], [2, 0, 0], [1, 1, 0], [0, 0, 2]])
for q in (torch.tensor([1.0, 2]), torch.tensor([-3.0, 0.5])):
    sums = w_q @ q + keys @ w_k.mT  # (4, h)
    print((sums @ v).softmax(dim=-1), (sums.tanh() @ v).softmax(dim=-1))

# %% [markdown]
# Without tanh, on the left, both queries look at the same keys with the same weights. Softmax responds only to differences between scores. A number that is added to every score multiplies every exponential by the same factor, so what the query has added cancels. With tanh, on the right, the weights depend on who asks.
#
# ### Exercise 1.2: additive scores (optional, without points)
#
# Score every query against every key, for a batch. Each sequence has L queries and S keys, and the two may also differ in dimension. The matrices `w_q` and `w_k` are laid out as in `nn.Linear`, (outputs, inputs).

# %% hints additive_scores [markdown]
# The sum inside tanh exists for every *pair* of a query and a key. How many axes does it have, counting the batch and h?
#
# Project queries and keys first, each to h dimensions. Then give each of the two an axis of size 1 (index with `None`), in different places, so that broadcasting makes all pairs when you add them.
#
# tanh works entry by entry, and `v` removes the last axis: a product with a vector sums over it. `.mT` swaps the last two axes of a weight matrix.


# %% exercise additive_scores
def additive_scores(
    query: Tensor, key: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> Tensor:
    """Score every query against every key with a small network (Bahdanau et al. 2014).

    query is (B, L, D_q), key is (B, S, D_k), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns (B, L, S): v · tanh(w_q query + w_k key) for each pair. Each query and each key is a row.
    """
    ### BEGIN SOLUTION
    q, k = query @ w_q.mT, key @ w_k.mT  # (B, L, h), (B, S, h)
    return torch.tanh(q[:, :, None] + k[:, None]) @ v
    ### END SOLUTION


# %% check additive_scores

# %% [markdown]
# ### Exercise 1.3: additive attention (optional, without points)
#
# Softmax and the mixture follow, as in "Looking back". Go from scores to weights to contexts. You may use your `additive_scores`.

# %% hints additive_attention [markdown]
# Whose attention is shared out: each query's among the keys, or each key's among the queries? Which axis of the scores is that?
#
# What is mixed in the end, keys or values? How many rows does the result have, and how wide is it?
#
# Two steps follow the scores: softmax along one axis, and one product. Two things are returned, and the context comes first.


# %% exercise additive_attention
def additive_attention(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor
) -> tuple[Tensor, Tensor]:
    """Mix the values by additive scores.

    query is (B, L, D_q), key is (B, S, D_k), value is (B, S, D_v), w_q is (h, D_q), w_k is (h, D_k), v is (h,).
    Returns contexts (B, L, D_v) and weights (B, L, S); the weights of each query sum to 1.
    """
    ### BEGIN SOLUTION
    weights = additive_scores(query, key, w_q, w_k, v).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check additive_attention

# %% [markdown]
# ## Further reading
#
# - Bahdanau, Cho and Bengio 2014, [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473): the paper behind this lesson. Figure 3 shows such maps for English and French.
# - Sutskever, Vinyals and Le 2014, [Sequence to Sequence Learning with Neural Networks](https://arxiv.org/abs/1409.3215): how far one vector can go, and the trick of reading backward.
#
# **Next:** [lesson 2, Queries, keys, values](../02_queries_keys_values/02_queries_keys_values.ipynb). In this lesson the decoder's state asked and the encoder's states answered. In the next one every word of a sentence can ask every other.
