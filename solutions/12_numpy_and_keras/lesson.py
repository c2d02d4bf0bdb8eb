# %% [markdown]
# # 12. NumPy and Keras
#
# After this lesson you can write attention without PyTorch, translate masks between four conventions, copy a trained layer from one library into another, and show that both layers compute the same. You need lessons 4 to 6. Lesson 13 does not need this one, so leave it out if you work in PyTorch alone. About 120 minutes, in two sittings, of which the first ends before "The same weights". None of the exercises needs Keras.
#
# **From memory.** What does `True` mean in a mask of `scaled_dot_product_attention`, and what in one of `nn.MultiheadAttention`? What is added to a score that is to be hidden? And what does a query get in this course if it may look at nothing?
#
# <details><summary>Answers</summary>
#
# In the first it means that a query may look, and in the second that a key is hidden from it. Minus infinity is added. The query gets zeros.
#
# </details>
#
# ## The idea
#
# Someone has trained a model in Keras, and you have to run it in PyTorch and check it in NumPy. It should not matter which library computes attention, because the formula is the same everywhere. Let us ask all three, with one query, three keys and three values.

# %% setup
import frameworks
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)
np.set_printoptions(precision=3, suppress=True)

# %%
query = np.array([[1.0, 0.5, -0.5, 0.2]])
key = np.array([[1.0, 0.4, -0.3, 0.1], [-0.5, 0.8, 0.2, -0.4], [0.9, 0.5, -0.6, 0.3]])
value = np.array([[0.1, 0.2], [0.8, 0.9], [0.3, 0.4]])

# %% [markdown]
# Keras 3 runs on top of PyTorch, TensorFlow or JAX. For this lesson `frameworks.py`, beside this notebook, chooses PyTorch, on the CPU. Where Keras is not installed, its cells say how to get it, and the rest of the lesson goes on without it.
#
# **Predict.** NumPy by hand, PyTorch's `scaled_dot_product_attention` and Keras's layer `Attention` are given the same numbers. How many different answers do they return?

# %%
predict("different answers", options=("one", "two", "three"))

# %%
scores = query @ key.T / 4**0.5
weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
print("NumPy  ", weights @ value)
tensors = [torch.from_numpy(array) for array in (query, key, value)]
print("PyTorch", functional.scaled_dot_product_attention(*tensors).numpy())

# %% [markdown]
# These two agree, and the third is Keras:

# %%
keras = frameworks.load_keras()
if keras:
    layer = keras.layers.Attention()
    print("Keras  ", layer([query[None], value[None], key[None]])[0].numpy())
else:
    print(frameworks.INSTALL)
reveal("different answers", "two")

# %% [markdown]
# Keras answers something else, although nothing is broken. Its `Attention` leaves out the scale and computes $\mathrm{softmax}(QK^\top)V$, with one of the scores that Luong and others compared in 2015. The docstring says so only by the words "Luong-style" and by the argument `use_scale`, which is `False` by default. Even with `use_scale=True` the layer does not divide by √D, but multiplies the scores by a learned number that starts at 1. Keras's `MultiHeadAttention`, which we meet below, does scale.
#
# The order of the inputs is a second trap, because Keras wants the query, the *value*, and then the key.
#
# So "the same layer in another library" is a claim, and claims need evidence. This lesson tests three claims: that the formula is the same, that the mask is the same, and that the weights are the same.
#
# ## By hand
#
# If the missing scale is the whole difference, Keras must agree as soon as we put it in. The products q·k are 1.37, −0.28 and 1.51, and divided by √4 they are 0.685, −0.14 and 0.755. You get the same scores if you divide the query by 2 before you pass it to Keras:

# %%
if keras:
    scaled = layer([query[None] / 2, value[None], key[None]])[0].numpy()
    print(f"{scaled}, largest difference {np.abs(scaled - weights @ value).max():.0e}")
else:
    print(frameworks.INSTALL)

# %% [markdown]
# The 2 · 10⁻⁸ that is left is rounding, because Keras computes in `float32` and NumPy here in `float64`. So one cause explains the whole difference.
#
# ## In PyTorch
#
# ### What NumPy does differently
#
# Most names have a twin in NumPy, such as `axis` for `dim`, `keepdims` for `keepdim`, and `np.where` for `masked_fill`. The mask of `masked_fill` says what to replace, but the condition of `np.where` says what to keep. Three more differences are easy to trip over.
#
# The first difference is in transposing. PyTorch's `transpose(-1, -2)` swaps two axes, while NumPy's `transpose` wants all axes in their new order, and its `.T` reverses all of them. For a batch of matrices you want `swapaxes(-1, -2)`, or `.mT`, which arrays have since NumPy 2.

# %%
batch = np.zeros((2, 3, 5, 4))
batch.T.shape, batch.swapaxes(-1, -2).shape

# %% [markdown]
# **Predict.** `x` is an array in `float32`, as nearly all weights are. What dtype does `x / np.sqrt(4)` have?

# %%
predict("float32 divided by np.sqrt(4)", options=("float16", "float32", "float64"))

# %%
x = np.ones(3, dtype=np.float32)
reveal("float32 divided by np.sqrt(4)", str((x / np.sqrt(4)).dtype))
(x / 4**0.5).dtype

# %% [markdown]
# This is the second difference. The number `np.sqrt(4)` is a `float64`, and since NumPy 2 such a number pulls the whole array up with it. From there on everything takes twice the memory, without a warning. Python's own `4**0.5` is a plain float and leaves the dtype of the array as it is. In PyTorch, a tensor without axes behaves like Python's number.
#
# The third difference is that NumPy has no softmax, so preventing overflow is your task, as in lesson 4. Dividing 0 by 0 gives NaN *and* a warning, even if `np.where` throws the NaN away afterward, because both sides are computed before `np.where` chooses between them. Subtracting −∞ from −∞ does the same.
#
# ### Exercise 12.1: attention in NumPy
#
# Write attention for any leading axes, and without PyTorch.

# %% hints numpy_attention [markdown]
# Which of the three differences does each of your lines run into? Write the lines for two axes first, then ask of each of them what it does with four.
#
# Where the mask hides a key, what score makes its weight 0? And what is the largest score of a row in which everything is hidden? Minus infinity minus itself is NaN.
#
# A row that may look at nothing has a sum of 0. Replace the sum, not the quotient, before you divide, so that no 0 is ever divided by 0.


# %% exercise numpy_attention
def numpy_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Return scaled dot-product attention's output, computed with NumPy alone (Vaswani et al. 2017, equation 1).

    query is (..., L, D), key (..., S, D), value (..., S, D_v), all of one dtype, float32 or float64, with any leading
    axes that broadcast, S at least 1, and finite entries; mask is boolean, True = may attend, and broadcasts to
    (..., L, S). Returns an array (..., L, D_v) in the dtype of query. A query that may look at nothing gets zeros. Scores
    may be in the thousands, hidden ones too. NumPy gives no warning, and the inputs stay as they are.
    """
    ### BEGIN SOLUTION
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    allowed = np.ones_like(scores, dtype=bool) if mask is None else mask
    scores = np.where(allowed, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value
    ### END SOLUTION


# %% check numpy_attention

# %% [markdown]
# ### Beside PyTorch
#
# The next cell compares your function with PyTorch's, on random inputs with a mask.

# %%
rng = np.random.default_rng(0)
q, k, v = (rng.normal(size=(2, 3, *s)) for s in ((5, 4), (7, 4), (7, 6)))
mask = rng.random((2, 1, 5, 7)) < 0.6
expected = functional.scaled_dot_product_attention(
    *(torch.from_numpy(array) for array in (q, k, v, mask))
)
try:
    difference = np.abs(numpy_attention(q, k, v, mask) - expected.numpy()).max()
    print(f"largest difference: {difference:.0e}")
except NotImplementedError:
    print("not yet: exercise 12.1 is still open")

# %% [markdown]
# ### Four kinds of mask
#
# You know the four conventions of lesson 5. Here they are called may attend, hide, zero-one and additive, and Keras uses the first. No error tells the first two apart, as you saw there. The other two have traps of their own when you translate one convention into another. Zero-one masks are what tokenizers return for padding, and their trap is the operator `~`. On booleans it means "not", but on integers it flips every bit:

# %%
padding = torch.tensor([1, 1, 1, 0])
~padding, ~padding.bool()

# %% [markdown]
# All four entries of `~padding` differ from 0. Where booleans are expected, each of them counts as true: in `np.where`, in Keras, and after `.bool()`.
#
# Additive masks have two traps, and the first of them is arithmetic. **Predict.** What is `(1 - mask) * -inf` where the mask is 1?

# %%
predict("0 times minus infinity", options=("0", "-inf", "nan"))

# %%
additive = (1 - padding.float()) * -torch.inf
reveal("0 times minus infinity", str(additive[0].item()))
additive

# %% [markdown]
# The second trap is the number itself. Many programs use a large negative number in place of minus infinity, and it has to be large enough. Take three tokens with the scores 0, 1 and 2, and hide the third one by adding a number to its score. It then keeps this weight:

# %%
scores = torch.tensor([0.0, 1, 2])
fills = list(range(-12, 1))
leaks = [float((scores + torch.tensor([0, 0, fill])).softmax(0)[2]) for fill in fills]
plot.curves(
    fills,
    {"weight of the hidden token": leaks},
    "A mask that only adds a little hides only a little",
    xlabel="what the mask adds to the score",
    ylabel="weight of the hidden token",
    log_y=True,
    alt="On a logarithmic axis the weight falls from 0.67 at 0 to a hundred-thousandth at -12, almost along a straight line.",
)

# %% [markdown]
# At −6, half a percent of the weight is left. Here −12 is plenty, and −10,000 is more than plenty. A large number fails only where *every* score of a row gets it, which happens to a query that may look at nothing. As lesson 4 showed, adding the same number to all scores does not change their softmax:

# %%
for power in (4, 9):
    print(f"minus 10^{power}:", (scores - 10.0**power).softmax(dim=0))

# %% [markdown]
# With −10,000 the row looks at everything as it would without a mask. With −1,000,000,000 it looks at everything equally, because `float32` has only about seven digits and the scores are lost behind the nine zeros. Neither number gives zeros or NaN, so the mistake is easy to overlook.
#
# ### Exercise 12.2: one mask, four conventions
#
# Write a function that translates a mask from any of the four conventions into any other.

# %% hints convert_mask [markdown]
# Sixteen pairs of names, but you need not write sixteen cases. Is there one convention through which all the others can go?
#
# Going in: for each source, which comparison or operation tells where attention is allowed? Mind `~` on integers, and that additive masks mean the opposite of zero-one masks.
#
# Coming out: for the additive one, start from zeros and put minus infinity where it belongs, without multiplying. And what does your code do with an unknown name, also where source and target are the same one?


# %% exercise convert_mask
def convert_mask(mask: Tensor, source: str, target: str) -> Tensor:
    """Return a mask in another convention.

    source and target are each one of four names:

    - "may_attend": boolean, True = may attend (`scaled_dot_product_attention`, Keras).
    - "hide": boolean, True = hidden (`nn.MultiheadAttention`).
    - "zero_one": int64, 1 = may attend, 0 = hidden (tokenizers).
    - "additive": float32, added to the scores: 0 = may attend, minus infinity = hidden.

    A "zero_one" mask may come in any integer dtype. Returns a mask of the same shape; the one passed in is not changed.
    Raises ValueError for any other name as source or as target, also where both are the same.
    """
    ### BEGIN SOLUTION
    names = ("may_attend", "hide", "zero_one", "additive")
    if source not in names or target not in names:
        raise ValueError(f"source and target must be among {names}")
    visible = mask == 0 if source == "additive" else mask.bool()
    if source == "hide":
        visible = ~visible
    if target == "additive":
        return torch.zeros(mask.shape, device=mask.device).masked_fill(
            ~visible, -torch.inf
        )
    if target == "zero_one":
        return visible.long()
    return ~visible if target == "hide" else visible
    ### END SOLUTION


# %% check convert_mask

# %% [markdown]
# ### The same weights
#
# The last claim is the largest: given the same weights, a layer of Keras and PyTorch's `nn.MultiheadAttention` compute the same. Both have four projections, each of which is a matrix and a bias, but they store these differently. Here are the two lists of parameters for H = 3 heads of D = 4 dimensions, and E = 12.

# %%
torch.manual_seed(0)
module, x = nn.MultiheadAttention(12, 3, batch_first=True), torch.randn(2, 5, 12)
for name, parameter in module.named_parameters():
    print(f"{name:25}", tuple(parameter.shape))

# %%
if keras:
    keras.utils.set_random_seed(0)  # PyTorch's own seed is not Keras's
    layer = keras.layers.MultiHeadAttention(num_heads=3, key_dim=4)
    layer(x, x)  # the first call makes the weights; key_dim is the size per head
    for name, array in frameworks.weights_of(layer).items():
        print(f"{name:25}", array.shape)
else:
    print(frameworks.INSTALL)

# %% [markdown]
# Keras keeps one array for each projection, called its *kernel*, with the heads and the head dimension as axes of their own, and computes $xW$. The input therefore comes first in a kernel (E, H, D). PyTorch keeps the three input projections in one matrix, one below the other, and computes $xW^\top$, so the rows of this matrix are the outputs. Within each of the three parts the rows of a head lie together, first those of head 0 and then those of head 1, as in lesson 6.
#
# In the output kernel, too, the input comes first. Its input is the heads, so its shape is (H, D, E).
#
# With E = 2, one head, D = 2 and x = [1, 0], the next cell prints what Keras does with a kernel, and what PyTorch does with the same matrix.

# %%
kernel = np.array([[1.0, 2.0], [3.0, 4.0]])  # (E, D)
x_small = np.array([1.0, 0.0])
x_small @ kernel, functional.linear(torch.from_numpy(x_small), torch.from_numpy(kernel))

# %% [markdown]
# The results differ in their second entry. A square matrix fits either way, so no error is raised.
#
# ### Exercise 12.3: copy Keras's weights
#
# Write the function that fills PyTorch's module. An optimizer may hold the module's parameters already, so they must stay the same objects: write *into* them.

# %% hints keras_to_torch [markdown]
# Take one kernel, (E, H, D). Which two axes belong together as outputs? Merge those two first, without moving anything, and look at what is left to do.
#
# Three matrices of (E, E) become one of (3E, E). In which order does PyTorch keep query, key and value, and are they side by side or one below the other?
#
# The output kernel is (H, D, E). There the two axes that belong together are inputs. To write into a parameter, think of `copy_` where no gradient is recorded, or of `load_state_dict`.


# %% exercise keras_to_torch
def keras_to_torch(
    weights: dict[str, np.ndarray], module: nn.MultiheadAttention
) -> None:
    """Copy the weights of Keras's MultiHeadAttention into PyTorch's, so that both compute the same.

    With H heads of dimension D, and E = H * D, weights holds "query/kernel", "key/kernel" and "value/kernel", each
    (E, H, D), "query/bias", "key/bias" and "value/bias", each (H, D), "attention_output/kernel", (H, D, E), and
    "attention_output/bias", (E,). module has the same E and H, and biases. Its parameters stay the same objects, in their
    own dtype, and trainable; what is copied does not change when the arrays do.
    """
    ### BEGIN SOLUTION
    size = module.embed_dim
    parts = ("query", "key", "value")
    kernels = [weights[f"{part}/kernel"].reshape(size, size).T for part in parts]
    biases = [weights[f"{part}/bias"].reshape(size) for part in parts]
    out = weights["attention_output/kernel"].reshape(size, size).T
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(np.concatenate(kernels)))
        module.in_proj_bias.copy_(torch.from_numpy(np.concatenate(biases)))
        module.out_proj.weight.copy_(torch.from_numpy(out.copy()))  # not a view
        module.out_proj.bias.copy_(torch.from_numpy(weights["attention_output/bias"]))
    ### END SOLUTION


# %% check keras_to_torch

# %% [markdown]
# ### The evidence
#
# Keras's weights now go into PyTorch's module, and both layers get the same input. The cell does this twice, the second time with random numbers in all of Keras's weights, biases included, because fresh biases are 0, so they would look the same without having been copied.

# %% measured
try:
    if not keras:
        print(frameworks.INSTALL)
    for kind in ("fresh", "random") if keras else ():
        if kind == "random":
            for weight in layer.weights:
                weight.assign(0.3 * torch.randn(weight.shape))
        keras_to_torch(frameworks.weights_of(layer), module)
        difference = (module(x, x, x)[0] - layer(x, x)).abs().max()
        print(f"{kind:6} weights: largest difference {difference:.0e}")
except NotImplementedError:
    print("not yet: exercise 12.3 is still open")

# %% [markdown]
# Copying the weights does not settle what a query gets if it may look at nothing. Below, the first of five queries may not look at any key. Each layer can be asked either for the output alone or for the attention weights as well, so there are four answers to one question. Both layers are fresh, so their biases are 0.
#
# **Predict.** How many kinds of answer are among the four?

# %%
predict("kinds of answer", options=("one", "two", "three"))

# %%
visible = torch.ones(1, 5, 5, dtype=torch.bool)
visible[:, 0] = False
torch.manual_seed(0)
fresh = nn.MultiheadAttention(12, 3, batch_first=True)
for asked in (True, False):
    output = fresh(x, x, x, attn_mask=~visible[0], need_weights=asked)[0]
    print(f"PyTorch, weights asked for: {asked!s:5}", output[0, 0, :4].detach())

# %% [markdown]
# Two calls of the same layer give NaN and zeros. Now the same two for Keras:

# %%
if keras:
    keras.utils.set_random_seed(0)
    fresh = keras.layers.MultiHeadAttention(num_heads=3, key_dim=4)
    output = fresh(x, x, attention_mask=visible, return_attention_scores=True)[0]
    print("Keras,   weights asked for: True ", output[0, 0, :4].detach())
    output = fresh(x, x, attention_mask=visible)
    print("Keras,   weights asked for: False", output[0, 0, :4].detach())
else:
    print(frameworks.INSTALL)
reveal("kinds of answer", "three")

# %% [markdown]
# Keras gives zeros the first time and something else the second time. Its faster path adds a large negative number to every score of the row, with the effect that you saw above, so it averages all five tokens, hidden or not. In the versions used here, PyTorch 2.13 and Keras 3.15, the answer of either library depends on whether weights are asked for. Where a query may look at nothing, decide the answer yourself, and test it.
#
# ## What can go wrong
#
# **Comparing the wrong things.** With dropout switched on, two calls of the *same* layer differ. PyTorch's module needs `.eval()`, while Keras drops entries only where `training=True` is passed, or in `fit`.
#
# **Sizes that forgive.** A square matrix lets a transposed kernel pass without an error, and with a single head a wrong order of heads does not even change the numbers. Make all sizes different where you can. Where you cannot, as with these E × E matrices, only a comparison of the results can decide.
#
# **Biases that start at 0, norms that start at 1.** While biases and norms are fresh, nothing shows whether you have copied them, so compare the layers with random ones.
#
# **A tolerance chosen afterward.** Before you look, say what difference you expect. In `float32` it is a few parts in ten million of the outputs' size, and something like 10⁻³ is not rounding of `float32`. It may come from products that are `float32` only by name, because some frameworks let a GPU multiply with 10 bits (*TF32*). It may also come from a setting that is not a weight, such as the number that a layer norm adds to the variance, which is 10⁻³ in Keras and 10⁻⁵ in PyTorch.
#
# **The whole model at once.** Compare layer by layer, from the input on, and stop at the first layer that differs.
#
# ## What you learned
#
# The three steps are the same in every library, while the conventions around them are not:
#
# | claim | how it fails silently | how to test it |
# |---|---|---|
# | same formula | no scale in Keras's `Attention` | numbers by hand, one query |
# | same mask | `True` means the opposite; `~` on integers; a large number in an empty row | one row per case, an empty one among them |
# | same weights | transposed kernel, heads swapped | random weights *and* biases, several heads, outputs compared |
# | same dtype | `np.sqrt` makes `float64` | compare dtypes, too |

# %%
recap()

# %% [markdown]
# Did you predict that the three libraries agree, or that `float32` stays `float32`? Both would be reasonable, and both are wrong for reasons that no error message gives. What a library does by default has to be looked up or measured.
#
# ## Questions
#
# **Question R12** (2 points, graded by a person). You port a model of twelve transformer blocks from Keras to PyTorch, both in `float32`. The outputs, which are about 1 in size, differ by up to 3·10⁻³. List what you would check, in order, and say for each check why it comes at that place.

# %% question R12 [markdown] points=2
# First that both are deterministic and comparable: evaluation mode on both sides (two calls of the same model must agree), the same dtype, the same input after tokenizing and padding. That costs a minute and invalidates everything else if it fails. On a GPU it includes the question whether `float32` products are really computed in float32: TF32, which some frameworks use by default, makes about 1e-3 here (`torch.set_float32_matmul_precision("highest")`, and the equivalent in Keras's backend, rule it out).
#
# Then the first layer alone: embeddings, then one block, and so on, to find the first place where they differ by more than about 1e-6. Then, in that place, the weights: are all parameters copied, biases and norms included, and none transposed (square ones fit both ways)?
#
# Then the settings that are not weights: the epsilon of the layer norms (Keras 1e-3, PyTorch 1e-5: a typical cause of a difference of this size), the variant of GELU, the scale.
#
# Then the masks: which convention, and what happens in empty rows; differences in some rows only point here. Ordinary rounding comes last: it explains 1e-6, or 1e-4 after many blocks, and not 3e-3.
#
# | points | for |
# |---|---|
# | 1 | An order with its reason: first what is cheap and would make the rest worthless (evaluation mode, dtype, the same input), then block by block to the first difference |
# | 1 | At least three causes, each with why it comes where it does (weights missing or transposed, epsilon, GELU, masks, TF32), and ordinary float32 rounding is not blamed |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 0 | "Rounding errors add up over twelve blocks, so 3·10⁻³ is normal in float32." | Ordinary rounding explains 10⁻⁶ here, or 10⁻⁴ after many blocks. What makes a difference thirty times as large? |
# | 1 | "Epsilon of the layer norms, the variant of GELU, transposed weights, masks." | Good causes. Which comes first, and why? Some checks are worth nothing as long as another one fails. |
# | 1 | "Compare block by block and look for the bug where they first differ." | A good order. Name what you would look for in that place, and what has to be sure before you compare. |
# | 0 | "Dropout draws other numbers in the other library, so I would set the same seed in both." (sounds right) | The same seed draws other numbers in another library. Switch dropout off, by evaluation mode on both sides, before you compare anything. |

# %% [markdown]
# ## Further reading
#
# - Harris et al. 2020, [Array programming with NumPy](https://arxiv.org/abs/2006.10256): what arrays, axes and broadcasting are, from those who made them.
# - [NEP 50](https://numpy.org/neps/nep-0050-scalar-promotion.html): why `float32` and `np.sqrt(4)` make `float64`.
# - Keras, [MultiHeadAttention](https://keras.io/api/layers/attention_layers/multi_head_attention/), and PyTorch, [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html): read the paragraphs on masks side by side.
#
# **Next:** [lesson 13](../13_gpt/13_gpt.ipynb) builds a language model from its tokens to its text, and runs published weights in it.
