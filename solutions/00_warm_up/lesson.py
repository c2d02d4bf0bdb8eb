# %% [markdown]
# # 0. Warm-up
#
# After this lesson you will be able to follow the PyTorch in lesson 1, and you will know how the exercises here work: a check, a hint, a repair. You need Python, and should have seen a matrix product. About 60 minutes.
#
# The times that the lessons give are meant for someone who reads quickly. If you stop to think, or do not often read English, it is normal to need a third more.
#
# ## The idea
#
# Mia and Tom share a shelf with two books, and each of them has one evening for reading. Three tables follow below the set-up cell. (That cell is nearly the same in all lessons, and you need not understand it.) The first says how much Mia and Tom like crime and romance, and the second says how much crime and romance each book contains. The third table says what a reader can finish if one book gets the whole evening. In the first book that is six pages of dialogue, and in the second it is six pages of description.

# %% setup
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
likes = torch.tensor([[2.0, 1], [1, 3]])  # rows: Mia, Tom; columns: crime, romance
two_books = torch.tensor([[2.0, 0], [1, 1]])  # rows: books; columns: crime, romance
two_pages = torch.tensor([[6.0, 0], [0, 6]])  # rows: books; dialogue, description

# %% [markdown]
# Somebody has written a three-line program that plans the two evenings. It compares every reader with every book, turns each reader's comparisons into shares of the evening, and mixes the books' pages by these shares:

# %%
two_scores = likes @ two_books.mT
two_shares = two_scores / two_scores.sum(dim=-1)
evenings = two_shares @ two_pages
evenings, evenings.sum(dim=-1)

# %% [markdown]
# The program runs and returns a row for Mia and a row for Tom, and the two have been quarreling over these rows ever since. According to the plan Mia reads 6.429 pages and Tom 5.714, but an evening has six pages, whichever books are read and however the evening is divided. So both rows are wrong, and PyTorch raised no error.
#
# One of the three lines must be wrong. **Predict.** Which line is it? A guess will do, because the next pages examine the lines one after another.

# %%
predict("the wrong line", options=("comparing", "sharing", "mixing"))

# %% [markdown]
# These three lines are worth the trouble, because without the mistake they are attention in its simplest form. The other lessons say what is compared, why attention computes the shares in another way than this program, and what all this is good for. This lesson is about the symbols. What does `@` do, and why is there an `.mT`? Which axis is `dim=-1`? And what is wrong in one of the three lines?
#
# The figure shows which table goes into which step, and gives each axis a name. (In these lessons you may skip the code that draws a figure.) *Tastes* are crime and romance, *kinds* are dialogue and description, and from now on the numbers that come from comparing are called *scores*.

# %%
plot.diagram(
    {
        "likes (readers, tastes)": (0, 3),
        "books (books, tastes)": (2.6, 3),
        "scores (readers, books)": (1.3, 2),
        "shares (readers, books)": (1.3, 1),
        "pages (books, kinds)": (3.9, 1),
        "evening (readers, kinds)": (2.6, 0),
    },
    [
        ("likes (readers, tastes)", "scores (readers, books)"),
        ("books (books, tastes)", "scores (readers, books)", 0.25, "compare"),
        ("scores (readers, books)", "shares (readers, books)", 0.25, "share out"),
        ("shares (readers, books)", "evening (readers, kinds)"),
        ("pages (books, kinds)", "evening (readers, kinds)", 0.25, "mix"),
    ],
    "Compare, share out, mix",
    roles={
        "likes (readers, tastes)": "query",
        "books (books, tastes)": "key",
        "pages (books, kinds)": "value",
    },
    alt="Likes and books meet in a table of scores, readers by books. The scores become shares, and the shares mix "
    "the pages: one row per reader remains.",
)

# %% [markdown]
# In a matrix product, the axis that both tables have in common, such as the tastes, disappears. If you keep an eye on that axis, you will rarely get lost in the shapes.
#
# ## By hand
#
# ### Comparing
#
# A *dot product* compares two rows: multiply them entry by entry, then add up the products. Tom's liking is 1 for crime and 3 for romance, and the second book has 1 of each, so the dot product is 1 · 1 + 3 · 1 = 4. Two loops do this for all pairs:

# %%
for reader in likes:
    print([float((reader * book).sum()) for book in two_books])
two_scores

# %% [markdown]
# The loops give one row per reader and one column per book, and `likes @ two_books.mT` gives the same table in one step. The first line of the program is therefore innocent.
#
# The `.mT` is needed because a product `a @ b` pairs the rows of `a` with the *columns* of `b`, while our books are rows. `.mT` swaps the last two axes, so that rows become columns. With two readers, two books and two tastes you cannot see any of this in the shapes, because every table is 2 by 2. So a third book joins the shelf. It contains only romance, and it is so easy to read that 24 pages fit into an evening, 12 of dialogue and 12 of description.

# %%
books = torch.tensor([[2.0, 0], [1, 1], [0, 2]])
pages = torch.tensor([[6.0, 0], [0, 6], [12, 12]])
scores = likes @ books.mT
books.shape, books.mT.shape, scores.shape

# %% [markdown]
# ### Which axis is `dim`?
#
# PyTorch calls a table of numbers with any number of axes a *tensor*, and its *shape* lists the sizes of the axes. The table of scores now has the shape (2, 3), in which axis 0 runs over the readers and axis 1 over the books. Counted from the end, the books are axis −1, and they are still axis −1 when more axes appear in front.
#
# Many functions take a `dim`, and the program's second line takes a sum. **Predict.** How many entries does `scores.sum(dim=0)` have?

# %%
predict(
    "entries of scores.sum(dim=0)",
    options=("two, one per reader", "three, one per book"),
)

# %%
reveal("entries of scores.sum(dim=0)", "three, one per book")
scores, scores.sum(dim=0), scores.sum(dim=-1)

# %% [markdown]
# It has three entries, because `dim` names the axis that is *summed over*, and that axis disappears: `dim=0` adds up the readers and leaves one number per book. For the shares of an evening we need one number per reader. That is what `dim=-1` leaves, 9 for Mia and 12 for Tom. The program's sum therefore runs along the correct axis, and yet the evenings are wrong.
#
# ### What `keepdim` keeps
#
# Now divide each row by its sum, as the program does.

# %%
try:
    scores / scores.sum(dim=-1)
except RuntimeError as error:
    print(error)

# %% [markdown]
# To combine two tensors, PyTorch lines up their shapes *from the right*. Here (2, 3) meets (2), so the 3 (books) meets the 2 (one sum per reader), and since these sizes differ, PyTorch refuses. With two books PyTorch raised no error, because (2, 2) met (2), and equal sizes fit. Look at what it did there:

# %%
two_scores, two_scores.sum(dim=-1), two_shares, two_shares.sum(dim=-1)

# %% [markdown]
# The sums of the rows are 7 and 6. They were lined up with the *columns*. So Mia's first score was divided by her own sum, 4 / 7 = 0.571, but her second score was divided by Tom's sum, 3 / 6 = 0.5. Her shares add up to 1.071 evenings and Tom's to 0.952. So the wrong line is the one that computes the shares, because its `sum` removes an axis that the division needs. With `keepdim=True` that axis stays, with size 1:

# %%
reveal("the wrong line", "sharing")
repaired = two_scores / two_scores.sum(dim=-1, keepdim=True)
repaired, (repaired @ two_pages).sum(dim=-1)

# %% [markdown]
# Now (2, 2) meets (2, 1), where the 1 stands for "the same for every column", and each row is divided by its own sum. Both evenings have their six pages, and the quarrel is over.
#
# A table with as many rows as columns hides this mistake, and so does one with a single column, which is stretched to a square. With most other tables PyTorch refuses to divide, which is why most examples and checks of this course use a different size for every axis. Here is the repaired program with three books:

# %%
shares = scores / scores.sum(dim=-1, keepdim=True)
shares, shares @ pages

# %% [markdown]
# Tom's shares are 1/6, 1/3 and 1/2, and his evening has 7 pages of dialogue and 8 of description. These are more than six pages because the third book is so easy to read, and only the shares have to sum to 1. Tom's shares and his evening will come back in lesson 2.
#
# How do the shares move when somebody's taste changes? Call the books A, B and C, keep Mia's liking for crime at 2, and let her liking for romance go from 0 to 3. Before you look, say which book's share will not move at all.


# %%
def shares_of(romance: float) -> Tensor:
    scores = books @ torch.tensor([2.0, romance])
    return scores / scores.sum()


names = ["book A", "book B", "book C"]
plot.slide(
    shares_of,
    names,
    name="liking for romance",
    low=0,
    high=3,
    start=1,
    step=0.5,
    quantity="share",
)

# %%
plot.heatmap(
    torch.stack([shares_of(romance) for romance in range(4)]),
    [f"romance {romance}" for romance in range(4)],
    names,
    "Each row sums to 1",
    kind="shares",
)

# %% [markdown]
# Book A's share falls from 0.67 to 0.27 and book C's rises from 0 to 0.40, while book B keeps exactly a third. Book B has one part of each taste, so its score is always the mean of the other two, and the sum of all three scores is three times its own.
#
# ### Broadcasting
#
# The rule that stretched the 1 is called *broadcasting*. Line up the two shapes from the right. Two sizes go together if they are equal, if one of them is 1, or if one is missing, and a 1 or a gap is stretched to the other size.

# %%
a, b = torch.zeros(2, 1, 5), torch.zeros(3, 1)
(a + b).shape

# %% [markdown]
# From the right, 5 and 1 make 5, then 1 and 3 make 3, and finally 2 and nothing make 2. For `@` the last two axes are the matrices themselves, and only what is in front of them is broadcast, so any number of products can be done at once.
#
# **Predict.** What is the shape of a (2, 1, 5, 4) tensor times a (3, 4, 7) tensor?

# %%
predict(
    "(2, 1, 5, 4) @ (3, 4, 7)", options=("(2, 3, 5, 7)", "(2, 1, 5, 7)", "an error")
)

# %%
product = torch.zeros(2, 1, 5, 4) @ torch.zeros(3, 4, 7)
reveal("(2, 1, 5, 4) @ (3, 4, 7)", str(tuple(product.shape)))

# %% [markdown]
# The matrices (5, 4) and (4, 7) make (5, 7), and in front of them (2, 1) meets (3), which makes (2, 3).
#
# ## In PyTorch
#
# Here is the first exercise. You will get it wrong on purpose, to see what a failed check looks like.
#
# ### Exercise 0.1: all dot products
#
# Write the comparison for tensors with any number of axes in front: each row of `a` with each row of `b`. You have seen the line that does it, because this exercise is about the check.
#
# Below are three hints, folded away, then a cell to fill in, then a check. **Do it wrong first.** Replace `raise NotImplementedError()` with `return b @ a.mT`, run the cell, and run the check below it. A card appears, with a cross at its top and a red line below it. The card says which check failed, what is wrong, and which hint may help. Read it, open the hint, repair the line, and run both cells again.

# %% hints pairwise_dots [markdown]
# The product of the first matrix with the second pairs rows with columns. Which of the two, `a` or `b`, should give the rows of the result, and which its columns?
#
# Look at how readers met books above. The result had one row per reader, because the readers were on the left of the product. What was done to the books?
#
# Put `a` on the left. Swap the last two axes of `b`, and only those: the axes in front stay where they are.


# %% exercise pairwise_dots
def pairwise_dots(a: Tensor, b: Tensor) -> Tensor:
    """Return the dot product of every row of a with every row of b.

    a is (..., M, D) and b is (..., N, D), with the same axes in front.
    Returns (..., M, N): entry (i, j) belongs to row i of a and row j of b.
    """
    ### BEGIN SOLUTION
    return a @ b.mT
    ### END SOLUTION


# %% check pairwise_dots

# %% [markdown]
# ### How a check works
#
# When the cross has turned into a check mark, the exercise is solved. A check runs on the spot and knows the usual mistakes by name. When your work is graded later, the same checks are repeated with other inputs, and a few more are run. So write code that works for all inputs that the *docstring* (the text below the first line of a function) allows, in `float32` too, and that lets gradients through. You may change your answer as often as you like.
#
# There is also `.T`, without the m. It reverses *all* axes, which is the same thing for a matrix and a mistake for a tensor with more axes.
#
# ### Exercise 0.2: shares
#
# Write the line that the program got wrong: divide each row by its sum.

# %% hints normalize_rows [markdown]
# Each row needs a number of its own. Along which axis do you add to get one sum per row, and is that axis the first or the last?
#
# The sums have one axis fewer than the table. What did the section above do so that every sum met its own row, in a square table too?
#
# Return a new tensor. Dividing with `/` makes one. Its in-place form, with an equals sign behind it, would write into the tensor that was passed in, as "What can go wrong" shows below.


# %% exercise normalize_rows
def normalize_rows(x: Tensor) -> Tensor:
    """Divide each row by its sum, so that it sums to 1.

    x is (..., L, S) with positive entries. Returns a new tensor of the same shape; x itself stays as it is.
    """
    ### BEGIN SOLUTION
    return x / x.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% check normalize_rows

# %% [markdown]
# ### Splitting, swapping, viewing
#
# Three more functions change the shape of a tensor but not its numbers: `unflatten` splits an axis in two, `flatten` joins neighboring axes, and `transpose` swaps two. Take two tokens (for now, two rows) with six entries each, and split the entries into three pairs:

# %%
x = torch.arange(12).view(2, 6)
x, x.unflatten(-1, (3, 2))[0]

# %% [markdown]
# The first token's entries 0 to 5 have become the pairs 0 1, 2 3 and 4 5. Now suppose that you want the shape (3, 2, 2), with one block for each pair, and in each block one row for each token. That is what `transpose` does, but `view`, which makes any shape with the same number of entries, is shorter and tempting:

# %%
swapped = x.unflatten(-1, (3, 2)).transpose(0, 1)
swapped.shape, swapped[0], x.view(3, 2, 2)[0]

# %% [markdown]
# Both results have the shape (3, 2, 2). After `transpose`, the first block holds the first pair of each token, 0 1 and 6 7. After `view` it holds 0 to 3, all of them from the first token, because `view` moves nothing. It takes the numbers in the order in which they lie in memory, row after row, and fills the new shape with them. The shape is right and only the contents are wrong, so PyTorch raises no error, as with the wrong shares above. This mistake comes back in lesson 6, so remember what it looks like.
#
# ### Exercise 0.3: shapes on paper
#
# Work out six shapes, with a pencil rather than by running the lines. The functions are all above, except `mean`, which treats its axis as `sum` does, and the form `flatten(1)`, which joins all axes from axis 1 on.

# %% hints shapes [markdown]
# For each expression, ask two questions: which axes meet, and what happens to an axis that is summed or joined? Write the shapes one below the other, lined up on the right.
#
# `@` works on the last two axes and leaves those in front alone. `+` broadcasts. `sum` removes an axis unless told to keep it at size 1.
#
# Where axes are joined into a single one, how many entries does that axis have, if the tensor is to keep all of its numbers?


# %% exercise shapes
def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shapes of six results, worked out on paper.

    a is (2, 3, 4), b is (4, 5), c is (3, 1) and d is (5,). The keys are the six expressions, spelled as here:
    "a @ b", "a.mT", "c + d", "a.sum(dim=-1)", "a.mean(dim=1, keepdim=True)", "a.flatten(1)".
    Each value is a tuple or a list of sizes, such as (2, 3, 4).
    """
    ### BEGIN SOLUTION
    return {
        "a @ b": (2, 3, 5),
        "a.mT": (2, 4, 3),
        "c + d": (3, 5),
        "a.sum(dim=-1)": (2, 3),
        "a.mean(dim=1, keepdim=True)": (2, 1, 4),
        "a.flatten(1)": (2, 12),
    }
    ### END SOLUTION


# %% check shapes

# %% [markdown]
# ### Gradients
#
# Models learn by small steps that make a number, the *loss*, smaller. The direction of a step comes from the *gradient*, which PyTorch computes for any tensor that asks for it:

# %%
w = torch.tensor(3.0, requires_grad=True)
loss = (w - 1) ** 2
loss.backward()
w.grad

# %% [markdown]
# At w = 3 the loss changes four times as fast as w. You get the same on paper, since the derivative of (w − 1)² is 2(w − 1) = 4. A small step against the gradient makes the loss smaller.
#
# ### Modules
#
# A *module* holds tensors that learn, called its *parameters*. Two kinds of modules will take us a long way. `nn.Embedding(10, 8)` is a table with one vector of 8 numbers for each of 10 symbols, and `nn.Linear(8, 10)` multiplies by a matrix and adds a vector. Put together, they map a digit to ten numbers, one for each possible answer, which are called *logits*:

# %%
model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 10))
digits = torch.tensor([3, 1, 4])
{name: tuple(p.shape) for name, p in model.named_parameters()}, model(digits).shape

# %% [markdown]
# `nn.Linear` stores its matrix as (outputs, inputs). Three digits, a *batch* of three, go in and three rows of ten logits come out. In each row the position of the largest logit, its `argmax`, is the model's answer. So far the answers are noise, but the model can learn to count, so that the answer to 3 is 4 and the answer to 9 is 0.

# %%
question = torch.arange(10)
answer = (question + 1) % 10
print("before:", model(question).argmax(dim=-1).tolist())

# %% [markdown]
# Which number should the training make smaller? Ten logits can be turned into ten shares that sum to 1, and lesson 1 shows how. Let p be the share of the right answer. The *cross-entropy* is −ln p. If the model is certain and right, p is 1 and the cross-entropy is 0. With the shares 0.1, 0.2 and 0.7 and the third answer right, it is −ln 0.7 = 0.36.
#
# **Predict.** A model that guesses gives each of the ten digits a share of 0.1. How large is its cross-entropy?

# %%
predict("cross-entropy of a guess among ten", options=("0.1", "1", "2.3"))

# %%
reveal("cross-entropy of a guess among ten", "2.3")
-torch.tensor(0.1).log()

# %% [markdown]
# It is ln 10 = 2.303, a number that comes back in lesson 8. The loss that the next cell makes smaller is the mean of the cross-entropy over all ten questions:

# %%
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(50):
    loss = functional.cross_entropy(model(question), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("after: ", model(question).argmax(dim=-1).tolist())

# %% [markdown]
# This is the training loop, and every model in this course is trained with one like it. In each step `cross_entropy` turns the logits into shares and computes the loss, `zero_grad` forgets the last gradients, `backward` computes new ones, and the optimizer (here *Adam*) moves each parameter a little. After 50 steps the model counts.
#
# ## What can go wrong
#
# **Two kinds of floating-point number.** PyTorch's default is `float32`, with about seven digits. Most checks use `float64`, which has sixteen, because then a difference in the fifth digit must be a mistake and cannot be rounding. A tensor that *you* create must therefore take the dtype of your input:

# %%
x = torch.ones(2, 3, dtype=torch.float64)
try:
    x @ torch.ones(3, 4)
except RuntimeError as error:
    print(error)
(x @ torch.ones(3, 4, dtype=x.dtype)).dtype

# %% [markdown]
# In PyTorch's messages "double" is `float64` and "float" is `float32`. Where possible, make new tensors from old ones, with `torch.zeros_like(x)` or an operation on `x`, because then dtype and device take care of themselves.
#
# **Changing what belongs to somebody else.** Operations with a trailing underscore, and `/=` or `+=` on a tensor, write into that tensor. The code that passed it to your function then finds different numbers in it:

# %%
before = torch.tensor([1.0, 3.0])
after = before
after /= after.sum()
before

# %% [markdown]
# `after` is not a copy but a second name for the same tensor, so both show 0.25 and 0.75. The checks notice when an input has changed.
#
# **A notebook remembers.** Cells share their variables, and a variable keeps its last value in whatever order you run the cells. If something makes no sense, choose Restart Kernel and Run All Cells from the menu. Unsolved exercises do not stop the run.
#
# ## What you learned
#
# Compare, share out, mix: these three steps are attention, and each lesson that follows changes one of them or asks what they do. Mia and Tom's program had all three steps. It lacked only one argument, `keepdim=True`.
#
# | | what it does | what to remember |
# |---|---|---|
# | `a @ b.mT` | every row of a with every row of b | the inner axis disappears |
# | `dim=-1` | the last axis | it is the axis that is summed over |
# | `keepdim=True` | keeps the summed axis, with size 1 | so that a row meets its own sum |
# | broadcasting | lines up shapes from the right | equal, 1 or missing |
# | `unflatten`, `flatten`, `transpose` | split, join, swap axes | `view` regroups in memory order |
# | `float64` | sixteen digits | new tensors take the dtype of your input |
# %%
recap()

# %% [markdown]
# ### Handing in
#
# Your answers are in this notebook, so this notebook is what you hand in. Save it, then upload the `.ipynb` file where your instructor collects it. From a terminal, `make submit LESSON=00_warm_up` (or `lessons submit --lesson 00_warm_up`) puts a copy into `handin/` and says what is still open. You can hand in with exercises still open: they earn nothing, and the others count all the same.
#
# From lesson 1 on, each lesson ends with an open question, which has no automatic check because your instructor reads the answer.
#
# ## Further reading
#
# - PyTorch's [Broadcasting semantics](https://pytorch.org/docs/stable/notes/broadcasting.html): the rule on one page.
# - PyTorch's [Learn the Basics](https://pytorch.org/tutorials/beginner/basics/intro.html): tensors, modules and training, at a slower pace.
#
# **Next:** [lesson 1](../01_why_attention/01_why_attention.ipynb) asks what a network forgets if it reads the whole text before it writes.
