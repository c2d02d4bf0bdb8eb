# %% [markdown]
# # N. Title
#
# After this lesson you can … You need lesson … About 45 minutes.
#
# ## The idea
#
# A question that nags, in two or three sentences. Then the smallest cell that shows it.

# %% setup
import torch
from torch import Tensor

from autograder import check, plot, predict, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
torch.tensor([1.0, 2.0, 3.0]).mean()

# %% [markdown]
# Say what the number means. **Predict.** Ask before each surprise.
#
# ## By hand
#
# Numbers that can be worked out on paper.
#
# ## In PyTorch
#
# A loop, then one matrix product, then the equation.
#
# ### Exercise N.1: a name
#
# One sentence that says what to write.

# %% hints row_means [markdown]
# A question that leads to the first step. Do not give the step itself, and do not name the function that does it.
#
# A pointer: where the lesson has already shown it, which axis it concerns, what to keep and what to sum.
#
# The idea in words, as close to the code as it can be without anything that can be pasted.


# %% exercise row_means
def row_means(x: Tensor) -> Tensor:
    """Return the mean of each row.

    x is (..., L, S). Returns (..., L).
    """
    ### BEGIN SOLUTION
    return x.mean(dim=-1)
    ### END SOLUTION


# %% check row_means

# %% [markdown]
# ## What can go wrong
#
# The most common mistakes, each with a cell that shows it.
#
# ## What you learned
#
# | | what it is | what to remember |
# |---|---|---|
# | row mean | sum over the last axis, divided by its size | one number per row |
#
# ## Questions
#
# **Question RN** (2 points, graded by a person). Why …?

# %% question RN [markdown] points=2
# A good answer in three sentences.
#
# | points | for |
# |---|---|
# | 1 | … |
# | 1 | … |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "…" | … |
# | 1 | "…" | … |
# | 1 | "…" | … |
# | 0 | "…" (sounds right) | … |

# %% [markdown]
# ## Further reading
#
# - Author year, title, section: what it adds.
#
# **Next:** the lesson that follows, and the question it answers.
