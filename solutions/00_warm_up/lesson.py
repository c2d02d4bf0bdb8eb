# %% [markdown]
# # 0. Warm-up
#
# After this lesson you will be able to follow the PyTorch in lesson 1, and you will know how the exercises here work: a check, a hint, a repair. You need Python, and should have seen a matrix product. About 40 minutes.
#
# ## The idea
#
# Two readers, three books. The first table says how much each reader likes crime and romance, the second how much of each a book has. The third says how many pages of dialogue and of description a reader gets through if the whole evening goes to one book.

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
likes = torch.tensor([[2.0, 1], [1, 3]])  # one row per reader: crime, romance
books = torch.tensor([[2.0, 0], [1, 1], [0, 2]])  # one row per book: crime, romance
pages = torch.tensor(
    [[6.0, 0], [0, 6], [12, 12]]
)  # one row per book: dialogue, description

# %% [markdown]
# What does each reader's evening look like? Compare every reader with every book, turn each reader's comparisons into shares of the evening, and mix the books' pages by those shares:

# %%
scores = likes @ books.mT
shares = scores / scores.sum(dim=-1, keepdim=True)
shares @ pages

# %% [markdown]
# The first reader gets through 5.333 pages of dialogue and 4.667 of description, the second through 7 and 8.
#
# Those three lines are the skeleton of attention. The other lessons say what is compared, why the shares are computed differently, and what all this is good for. This one is about the symbols: what `@` does, why `.mT`, which axis `dim=-1` is, and what `keepdim` keeps. Here is the plumbing, with a name for each axis. *Tastes* are crime and romance, *kinds* are dialogue and description:

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
        ("books (books, tastes)", "scores (readers, books)"),
        ("scores (readers, books)", "shares (readers, books)"),
        ("shares (readers, books)", "evening (readers, kinds)"),
        ("pages (books, kinds)", "evening (readers, kinds)"),
    ],
    "Compare, share out, mix",
    marked=["shares (readers, books)"],
    alt="Likes and books meet in a table of scores, readers by books. The scores become shares, and the shares mix "
    "the pages: one row per reader remains.",
)

# %% [markdown]
# In a matrix product, the inner axis that both tables share, such as the tastes, disappears. Keep an eye on that and you will rarely be lost in the shapes.
#
# ## By hand
#
# A *dot product* compares two rows: multiply entry by entry, then add up. The second reader likes crime 1 and romance 3, and the third book has 0 and 2 of them. That makes 1 · 0 + 3 · 2 = 6. For all pairs, with two loops:

# %%
for reader in likes:
    print([float((reader * book).sum()) for book in books])

# %% [markdown]
# One row per reader, one column per book, and `likes @ books.mT` is the same table in one step. Why the `.mT`? A product `a @ b` pairs the rows of `a` with the *columns* of `b`, and our books are rows. `.mT` swaps the last two axes, so that rows become columns.

# %%
books.shape, books.mT.shape, (likes @ books.mT).shape

# %% [markdown]
# ### Which axis is `dim`?
#
# A *shape* lists the sizes of the axes. `scores` has shape (2, 3): axis 0 runs over the readers, axis 1 over the books. Counted from the end, the books are axis −1, and that stays true when more axes appear in front.
#
# Many functions take a `dim`. **Predict.** How many entries does `scores.sum(dim=0)` have?

# %%
predict(
    "entries of scores.sum(dim=0)",
    options=("two, one per reader", "three, one per book"),
)

# %%
reveal("entries of scores.sum(dim=0)", "three, one per book")
scores, scores.sum(dim=0), scores.sum(dim=-1)

# %% [markdown]
# Three. `dim` names the axis that is *summed over*, and that axis disappears: `dim=0` adds up the readers and leaves one number per book. For shares of an evening we need one number per reader, which is `dim=-1`: 9 and 12.
#
# ### What `keepdim` keeps
#
# Now divide each row by its sum.

# %%
try:
    scores / scores.sum(dim=-1)
except RuntimeError as error:
    print(error)

# %% [markdown]
# PyTorch lines up two shapes *from the right*: (2, 3) against (2). The 3 meets the 2, and neither of them is 1. With `keepdim=True`, the summed axis stays, with size 1:

# %%
scores.sum(dim=-1, keepdim=True).shape, scores / scores.sum(dim=-1, keepdim=True)

# %% [markdown]
# Now (2, 3) meets (2, 1). The 1 stands for "the same for every column", and each row is divided by its own sum. The second reader's shares are 1/6, 1/3 and 1/2.
#
# How do the shares move when a reader changes her mind? Keep the first reader's liking for crime at 2, and let her liking for romance go from 0 to 3:


# %%
def shares_of(romance: float) -> Tensor:
    scores = books @ torch.tensor([2.0, romance])
    return scores / scores.sum()


names = ["book A", "book B", "book C"]
plot.slide(
    shares_of, names, name="liking for romance", low=0, high=3, start=1, step=0.5
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
# Back to the division without `keepdim`: you were lucky to get an error. Leave out one book, so that the table is square, and there is none:

# %%
square = scores[:, :2]
without = square / square.sum(dim=-1)
without, without.sum(dim=-1)

# %% [markdown]
# The rows sum to 1.071 and 0.952. The sums were lined up with the columns, so each *column* was divided by a row's sum. A square example hides this mistake, so most examples and checks of this course use a different size for every axis.
#
# ### Broadcasting
#
# The rule behind this is called *broadcasting*. Line up the shapes from the right. Two sizes go together if they are equal, if one of them is 1, or if one is missing; a 1 or a gap is stretched to the other size.

# %%
a, b = torch.zeros(2, 1, 5), torch.zeros(3, 1)
(a + b).shape

# %% [markdown]
# From the right: 5 and 1 make 5, 1 and 3 make 3, 2 and nothing make 2. For `@` the last two axes are the matrices themselves, and what is in front of them is broadcast. So any number of products can be done at once. **Predict.** What is the shape of a (2, 1, 5, 4) tensor times a (3, 4, 7) tensor?

# %%
predict(
    "(2, 1, 5, 4) @ (3, 4, 7)", options=("(2, 3, 5, 7)", "(2, 1, 5, 7)", "an error")
)

# %%
product = torch.zeros(2, 1, 5, 4) @ torch.zeros(3, 4, 7)
reveal("(2, 1, 5, 4) @ (3, 4, 7)", str(tuple(product.shape)))

# %% [markdown]
# (5, 4) times (4, 7) makes (5, 7). In front, (2, 1) meets (3), which makes (2, 3).
#
# ## In PyTorch
#
# Time for an exercise, and for getting one wrong.
#
# ### Exercise 0.1: all dot products
#
# Write the comparison for tensors with any number of axes in front: each row of `a` with each row of `b`.
#
# Below are three hints, folded away, then a cell to fill in, then a check. **Do it wrong first.** Replace `raise NotImplementedError()` with `return b @ a.mT`, run the cell, and run the check below it. A card appears, with a red line below it. The card says which check failed, what is wrong, and which hint may help. Read it, open the hint, repair the line, and run both cells again.

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
# When the cross has turned into a check mark, the exercise is solved. A check runs on the spot and knows the usual mistakes by name. Grading later repeats these checks with other inputs and adds a few of its own, so write code that works for all inputs that the docstring allows, in `float32` too, and that lets gradients through. You may change your answer as often as you like.
#
# (There is also `.T`, without the m. It reverses *all* axes, which is the same thing for a matrix and a mistake for a tensor with more axes.)
#
# ### Exercise 0.2: shares
#
# Divide each row by its sum.

# %% hints normalize_rows [markdown]
# Each row needs a number of its own. Along which axis do you add to get one sum per row, and is that axis the first or the last?
#
# The sums have one axis fewer than the table. What did the section above do so that every sum met its own row, in a square table too?
#
# Return a new tensor: an operator such as `/` makes one, while its in-place form with an equals sign would write into the tensor that was passed in.


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
# Three more moves change the shape but not the numbers. `unflatten` splits an axis in two, `flatten` joins neighboring axes, `transpose` swaps two. Take two tokens (for now, two rows) with six entries each, and split the entries into three pairs:

# %%
x = torch.arange(12).view(2, 6)
x, x.unflatten(-1, (3, 2))[0]

# %% [markdown]
# The first token's entries 0 to 5 became the pairs 0 1, 2 3 and 4 5. Now suppose you want (3, 2, 2): for each pair, both tokens. `transpose` does that. `view`, which makes any shape with the same number of entries, is tempting:

# %%
swapped = x.unflatten(-1, (3, 2)).transpose(0, 1)
swapped.shape, swapped[0], x.view(3, 2, 2)[0]

# %% [markdown]
# Both have the shape (3, 2, 2). After `transpose`, the first block holds the first pair of each token, 0 1 and 6 7. `view` does not move anything: it fills the new shape in memory order, and its first block holds 0 to 3, all from the first token. A right shape with wrong contents raises no error. This mistake comes back in lesson 6, so remember what it looks like.
#
# ### Exercise 0.3: shapes on paper
#
# Work out six shapes, with a pencil rather than by running the lines. The functions are all above, except `mean`, which treats its axis as `sum` does. `flatten(1)` joins all axes from axis 1 on.

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
    Each value is a tuple of sizes, such as (2, 3, 4).
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
# Models learn by small steps that make a number, the *loss*, smaller. The direction comes from the *gradient*, which PyTorch computes for any tensor that asks for it:

# %%
w = torch.tensor(3.0, requires_grad=True)
loss = (w - 1) ** 2
loss.backward()
w.grad

# %% [markdown]
# At w = 3 the loss changes four times as fast as w. On paper, the derivative of (w − 1)² is 2(w − 1) = 4. A step against the gradient makes the loss smaller.
#
# ### Modules
#
# A *module* holds tensors that learn, its *parameters*. Two kinds will take us a long way. `nn.Embedding(10, 8)` is a table with one vector of 8 numbers for each of 10 symbols. `nn.Linear(8, 10)` multiplies by a matrix and adds a vector. Put together, they map a digit to ten numbers, one per possible answer, called *logits*:

# %%
model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 10))
digits = torch.tensor([3, 1, 4])
{name: tuple(p.shape) for name, p in model.named_parameters()}, model(digits).shape

# %% [markdown]
# `nn.Linear` stores its matrix as (outputs, inputs). Three digits in, three rows of ten logits out. The largest logit is the model's answer, and so far the answers are noise. Let it learn to count: the answer to 3 is 4, the answer to 9 is 0.

# %%
question = torch.arange(10)
answer = (question + 1) % 10
print("before:", model(question).argmax(dim=-1).tolist())

# %%
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(50):
    loss = functional.cross_entropy(model(question), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("after: ", model(question).argmax(dim=-1).tolist())

# %% [markdown]
# This is the training loop, and every model in this course is trained with one like it. *Cross-entropy* is small when the right answer has by far the largest logit. `zero_grad` forgets the last gradients, `backward` computes new ones, and the optimizer (here *Adam*) moves each parameter a little. After 50 steps it counts.
#
# ## What can go wrong
#
# **Two kinds of floating-point number.** PyTorch's default is `float32`, with about seven digits. Most checks use `float64`, with sixteen, because then a difference in the fifth digit is a mistake and not rounding. So a tensor that *you* create must take the dtype of your input:

# %%
x = torch.ones(2, 3, dtype=torch.float64)
try:
    x @ torch.ones(3, 4)
except RuntimeError as error:
    print(error)
(x @ torch.ones(3, 4, dtype=x.dtype)).dtype

# %% [markdown]
# "Double" is `float64`, "float" is `float32`. Where possible, make new tensors from old ones (`torch.zeros_like(x)`, or an operation on `x`), and dtype and device take care of themselves.
#
# **Changing what belongs to somebody else.** Operations with a trailing underscore, and `/=` or `+=` on a tensor, write into it. Whoever passed it to your function finds different numbers in it afterward:

# %%
before = torch.tensor([1.0, 3.0])
after = before
after /= after.sum()
before

# %% [markdown]
# `after` is not a copy. It is a second name for the same tensor, and both show 0.25 and 0.75. The checks notice when an input has changed.
#
# **A notebook remembers.** Cells share their variables, and a variable keeps its last value, in whatever order you run the cells. If something makes no sense, choose Restart Kernel and Run All Cells from the menu: unsolved exercises do not stop it.
#
# ## What you learned
#
# | | what it does | what to remember |
# |---|---|---|
# | `a @ b.mT` | every row of a with every row of b | the inner axis disappears |
# | `dim=-1` | the last axis | it is the axis that is summed over |
# | `keepdim=True` | keeps the summed axis, with size 1 | so that a row meets its own sum |
# | broadcasting | lines up shapes from the right | equal, 1 or missing |
# | `unflatten`, `flatten`, `transpose` | split, join, swap axes | `view` regroups in memory order |
# | `float64` | sixteen digits | new tensors take the dtype of your input |
#
# %%
recap()

# %% [markdown]
# ### Handing in
#
# Your answers are in this notebook, so this notebook is what you hand in. Save it, then upload the `.ipynb` file where your instructor collects it. From a terminal, `make submit LESSON=00_warm_up` (or `lessons submit --lesson 00_warm_up`) puts a copy into `handin/` and says what is still open. Open exercises are no obstacle: they earn nothing, and the others count.
#
# From lesson 1 on, each lesson ends with an open question. It has no automatic check: your instructor reads the answer.
#
# ## Further reading
#
# - PyTorch's [Broadcasting semantics](https://pytorch.org/docs/stable/notes/broadcasting.html): the rule on one page.
# - PyTorch's [Learn the Basics](https://pytorch.org/tutorials/beginner/basics/intro.html): tensors, modules and training, at a slower pace.
#
# **Next:** [lesson 1](../01_why_attention/01_why_attention.ipynb) asks what a network forgets when it reads first and writes afterward.
