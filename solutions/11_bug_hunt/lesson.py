# %% [markdown]
# # 11. Bug hunt
#
# After this lesson you can find a bug in an attention that you did not write, often without reading the code, and say which bug it is. You can also choose examples that none of 21 typical bugs survives. You need lessons 4 to 6. About 260 minutes, in three sittings, which end before "Questions whose answer you know", before "Repair", and at the end.
#
# **From memory.** List the steps of attention in their order. Then note for each step one mistake that raises no error, from lessons 4 to 6. You will meet most of your list again.
#
# ## The idea
#
# Five teams hand in an attention, and you are the reviewer. Each team has tried its code on the example from lesson 2, whose answer is known to be exactly [7, 8].

# %% setup
from itertools import product

import teams
import torch
import wrong
from torch import Tensor, nn
from torch.nn import functional
from wrong import Attention, random_inputs

from autograder import check, plot, predict, recap, reveal

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
query = torch.tensor([[1.0]])
key = torch.tensor([[1.0], [2], [3]]).log()
value = torch.tensor([[6.0, 0], [0, 6], [12, 12]])
for name, attention in teams.TEAMS.items():
    print(f"{name:5}", attention(query.clone(), key, value))

# %% [markdown]
# **Predict.** All five agree with the calculation on paper. How many of the five are right?

# %%
predict("right attentions among five", options=("five", "four", "three", "one"))

# %% [markdown]
# Let us give the teams something else: five queries and seven keys with four entries each, and a random mask that allows about half of the pairs and hides everything from one query. The next cell prints each team's largest difference from PyTorch's own result, which `wrong.right` computes.

# %%
torch.manual_seed(0)
q, k, v = torch.randn(5, 4), torch.randn(7, 4), torch.randn(7, 6)
mask = torch.rand(5, 7) < 0.6
mask[2] = False
for name, attention in teams.TEAMS.items():
    difference = attention(q.clone(), k, v, mask) - wrong.right(q, k, v, mask)
    print(f"{name:5} {difference.abs().max():.3f}")

# %% [markdown]
# That settles three of the five. Ada and Eve are left, so we call each of them twice with the same tensors. The next cell prints the results for the first query, two lines for Ada and then two for Eve.

# %%
for attention in (teams.ada, teams.eve):
    print(attention(q, k, v)[0])
    print(attention(q, k, v)[0])
reveal("right attentions among five", "one")

# %% [markdown]
# Eve's second answer differs from her first. The first line of her code is `query /= ...`, which scales the caller's tensor in place. Her second call starts from queries that are scaled already, and so does everybody who uses `q` after her. The two comparisons before gave her a copy, so they could not show this.
#
# Only one of the five is right, and the example that all of them passed could not tell which. It is a good example for *explaining* attention and a bad one for *testing* it.
#
# ## By hand
#
# Take Bo, who divides by D where √D belongs. The example cannot show this, because its vectors have a single entry, and √1 is 1.
#
# Take D = 4 instead. Say that a query has the products 0 and 2 ln 3 with two keys. Divided by √4 = 2 they become 0 and ln 3, which makes the weights ¼ and ¾. Bo divides by 4 instead and gets 0 and ½ ln 3, which is ln √3. Work out his weights before you run the cell, given that the two exponentials are 1 and √3 ≈ 1.73.

# %%
products = torch.tensor([1.0, 9]).log()
(products / 4**0.5).softmax(dim=0), (products / 4).softmax(dim=0)

# %% [markdown]
# Bo has divided by √D twice, so the larger D is, the further off his weights are. To see this, take the correctly scaled scores 0, ln 2 and ln 3 of lesson 2, with which the third key should get one half whatever D is. The curve shows what it gets from Bo instead.

# %%
sizes = [2.0**n for n in range(8)]
bo = [float((torch.tensor([1.0, 2, 3]).log() / D**0.5).softmax(0)[2]) for D in sizes]
plot.curves(
    sizes,
    {"right": [0.5] * len(sizes), "Bo": bo, "no preference": [1 / 3] * len(sizes)},
    "At D = 1 the bug does not exist",
    xlabel="D",
    ylabel="weight of the third key",
    log=True,
    from_zero=True,
    alt="Bo's weight starts at 0.5 for D = 1, where it is right, and falls toward one third, the line of no preference.",
)

# %% [markdown]
# The same goes for everything else that the example lacks. It has no mask, so Cleo, whose mask is inverted, cannot fail. Every query in it sees something, so Dag, who fills hidden scores with −1,000,000,000 instead of minus infinity, cannot fail either. And since Eve divides by √1, her bug does nothing here.
#
# ## In PyTorch
#
# ### Mutants
#
# To judge an example we need bugs to try it on. The file `wrong.py` beside this notebook has 21 wrong attentions, each of which is one slip away from the right one. Most of their names say which. Two need a word: `fill_minus_inf` fills hidden scores with minus infinity, as it should, and is wrong in one situation only. `fill_1e_minus_9` fills them with 10⁻⁹ where −10⁹ was meant. Testers call such programs *mutants*, and say that a mutant has *survived* an example that cannot tell it from the original.

# %%
print(*wrong.WRONG)

# %% [markdown]
# The function `wrong.unnoticed` names the survivors of an example, the mutants whose result is within 0.001 of the right one. These survive the example that the five teams used:

# %%
survivors = wrong.unnoticed(query, key, value)
print(len(survivors), "of 21 survive:", *survivors)

# %% [markdown]
# **Predict.** A more usual example is one sentence of four random vectors with four entries each, which serve as query, key and value at once, without a mask. How many of the 21 survive it?

# %%
predict("survivors of four by four", options=("none", "about 4", "about 12"))

# %%
torch.manual_seed(0)
x = torch.randn(1, 4, 4, dtype=torch.float64)
survivors = wrong.unnoticed(x, x, x)
print(len(survivors), "of 21 survive:", *survivors)
reveal("survivors of four by four", "about 12")

# %% [markdown]
# With four vectors of four entries, the number of keys *is* D, and so is the number of entries of a value. Three kinds of scaling are therefore the same. Query, key and value are one tensor, so mixing the keys, or letting the keys ask, changes nothing. And without a mask all eight mutants of the mask are unharmed.
#
# The next example repairs the first two of these: all its sizes differ, and query, key and value are three different tensors.

# %%
torch.manual_seed(0)
q, k, v = (torch.randn(2, 3, *s, dtype=torch.float64) for s in ((5, 4), (7, 4), (7, 6)))
survivors = wrong.unnoticed(q, k, v)
print(len(survivors), "of 21 survive:", *survivors)

# %% [markdown]
# Those that are left are all about masks. So the rule for examples is to **give every axis a different size, and use a different tensor for query, key and value.** The eight that remain are for you to catch.
#
# ### Exercise 11.1: one example that no bug survives
#
# Write the function that returns such an example. The check names the mutants that are still alive.

# %% hints revealing_example [markdown]
# Which mutants survive an example without a mask? Give it one, and see which of them are left. What have those in common?
#
# Two mutants differ from the right attention in one situation only. Lesson 5 gave it a section of its own: what happens to softmax when a query may look at nothing?
#
# A mask that treats all queries alike, or all keys, is a weak one. Let different queries see different keys, and think of the situation from hint 2.


# %% exercise revealing_example
def revealing_example() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return a query, key, value and mask on which all 21 wrong attentions can be told from the right one.

    All entries are finite. On them, each function in `wrong.WRONG` must stop with an error or give a result that
    differs from `wrong.right`'s by more than 0.001 somewhere, has another shape, or contains NaN. Query (..., L, D),
    key (..., S, D) and value (..., S, D_v) are float64, the mask is boolean, True = may attend, and broadcasts to
    (..., L, S). Two to four axes each, and no axis is longer than 8. Each call returns the same example.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(2, 3, *shape, generator=generator, dtype=torch.float64)
        for shape in ((5, 4), (7, 4), (7, 6))
    )
    mask = torch.ones(5, 7, dtype=torch.bool).tril(diagonal=2)
    mask[1] = False  # a query that may look at nothing
    return query, key, value, mask
    ### END SOLUTION


# %% check revealing_example

# %% [markdown]
# ### What each example finds
#
# Here are the three examples so far, and yours beside them if it is there.

# %%
examples = {"teams": (query, key, value), "4 × 4": (x, x, x), "sizes": (q, k, v)}
try:
    examples["yours"] = revealing_example()
except NotImplementedError:
    print("not yet: exercise 11.1 is still open, so its column is missing")
survivors = [wrong.unnoticed(*example) for example in examples.values()]
found = [[name not in alive for alive in survivors] for name in wrong.WRONG]
plot.crosses(
    torch.tensor(found),
    [name.replace("_", " ") for name in wrong.WRONG],
    list(examples),
    "A cross says that the example finds the mutant",
    groups={"scale": 6, "softmax": 5, "mask": 8, "inputs": 2},
    alt="One row per mutant, one column per example, a cross where the example finds the mutant. The five teams' example finds 7 of the 21, four by four 9, and the one whose sizes differ 13.",
)

# %% [markdown]
# ### How strict?
#
# How far may one right attention be from another? Here is Ada's attention in three dtypes, compared with PyTorch's in `float64`:

# %% measured
torch.manual_seed(0)
inputs = [
    torch.randn(2, 3, *s, dtype=torch.float64) for s in ((50, 64), (70, 64), (70, 48))
]
expected = wrong.right(*inputs)
for dtype in (torch.float64, torch.float32, torch.bfloat16):
    result = teams.ada(*(x.to(dtype) for x in inputs))
    print(f"{dtype!s:15} {(result - expected).abs().max():.0e}")

# %% [markdown]
# Nobody made a mistake here, and yet none of the differences is 0, because sums that are taken in another order, or with fewer digits, are rounded differently. The mutants that the example with different sizes finds are off by more than 0.1, or have another shape. In `float32` and `float64` that leaves a lot of room for a tolerance between 10⁻⁶ and 10⁻¹. The functions of `wrong.py` take 10⁻³, and the exercises below take 10⁻⁴.
#
# ### Many examples
#
# An example that you make up catches the bugs that you have in mind. So let the computer make up examples, too. The function `random_inputs(generator)` draws a query, keys, values and a mask, all of random sizes. These run only from 1 to 4, so they are often equal, but there are many draws. In about one draw in three, there is a query that sees nothing.

# %%
generator = torch.Generator().manual_seed(0)
names = ("query", "key", "value", "mask")
for _ in range(4):
    shapes = [tuple(x.shape) for x in random_inputs(generator)]
    print(*(f"{name} {shape} " for name, shape in zip(names, shapes, strict=True)))

# %% [markdown]
# ### Exercise 11.2: how far apart are two attentions?
#
# Write the function that draws such inputs again and again and remembers the largest difference. Two things are easy to get wrong. A NaN can hide a bug, and an attention like Eve's changes its inputs, so the attention that it is compared with would get other tensors.

# %% hints max_difference [markdown]
# The inputs of trial 2 must not be those of trial 1. Where is the generator made: inside the loop, or before it?
#
# If both attentions get the same tensors, what does the second one see after Eve has been there? And what does max() return when it compares a number with NaN?
#
# Compare the shapes before you subtract: PyTorch stretches (1, 4) to (3, 4) without complaint. Then ask whether the difference is finite before you compare it with the largest one so far.


# %% exercise max_difference
def max_difference(a: Attention, b: Attention, *, trials: int, seed: int) -> float:
    """Return the largest absolute difference between the results of two attentions on random inputs.

    The inputs are drawn with random_inputs(generator), once per trial, from one generator with the given seed, so the
    same seed gives the same number. In each trial both are called with query, key, value and mask in this order, and
    with tensors of their own: one that writes to its inputs must not change what the other one sees. The difference is
    taken in float64. It is infinite if the shapes differ, or if either result has an entry that is not finite, even
    if both have it in the same place. 0 trials give 0.0.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    largest = 0.0
    for _ in range(trials):
        inputs = random_inputs(generator)
        first, second = (f(*(x.clone() for x in inputs)).double() for f in (a, b))
        if first.shape != second.shape:
            return torch.inf
        difference = (first - second).abs().max()
        if not difference.isfinite():  # infinity minus infinity is NaN
            return torch.inf
        largest = max(largest, float(difference))
    return largest
    ### END SOLUTION


# %% check max_difference

# %% [markdown]
# ### Five teams, measured
#
# The next cell prints what your function finds between each team and PyTorch in 1, 10 and 100 trials. Before you run it, say which of the four wrong teams even 100 trials will not find.

# %%
try:
    for trials in (1, 10, 100):
        found = {
            name: max_difference(attention, wrong.right, trials=trials, seed=0)
            for name, attention in teams.TEAMS.items()
        }
        print(trials, {name: f"{number:.3f}" for name, number in found.items()})
except NotImplementedError:
    print("not yet: exercise 11.2 is still open")

# %% [markdown]
# One trial misses Bo, because it happened to draw a single key, which gets all the attention whatever its score is. Ten trials find his bug, but no number of trials finds Eve's. Her results are right. What she changes is her inputs, and since each attention is given tensors of its own, nobody notices. A comparison of results finds bugs in results only.
#
# ### Questions whose answer you know
#
# The function `max_difference` has a second weakness: it needs a right attention to compare with. Yours may be the first attention there is, or the other one may have the same bug. You can still ask questions whose answers are known without computing them.
#
# *If all values are ones and nothing is masked, every result is one*, because the weights sum to 1 whatever the scores are. A softmax over the queries does not pass:

# %%
ones = torch.ones(2, 3, 7, 6, dtype=torch.float64)
wrong.right(q, k, ones)[0, 0, :, 0], wrong.softmax_over_queries(q, k, ones)[0, 0, :, 0]

# %% [markdown]
# *If the query is 0, the result is the mean of the values*, because all scores are 0 then. No scaling of the scores can spoil that, but an attention that mixes the keys gets the mean of the keys:

# %%
level = torch.zeros_like(q)
for attention in (wrong.right, wrong.values_from_keys):
    print(attention(level, k, v)[0, 0, 0])
print(v.mean(dim=-2)[0, 0], "mean of the values")

# %% [markdown]
# *If something that is hidden from a query changes, the query's result does not change*, because that is what a mask is for. We try this on the mutant that sets the hidden weights to 0 after the softmax, and change first a hidden value and then a hidden key.
#
# **Predict.** Which of the two changes the result?

# %%
predict("the mask after softmax", options=("the value", "the key", "both", "neither"))

# %%
mask = torch.ones(5, 7, dtype=torch.bool)
mask[:, 6] = False
before = wrong.mask_after_softmax(q, k, v, mask)
other_k, other_v = k.clone(), v.clone()
other_k[..., 6, :] *= -3
other_v[..., 6, :] += 1000
for name, inputs in (("value", (q, k, other_v)), ("key", (q, other_k, v))):
    after = wrong.mask_after_softmax(*inputs, mask)
    print(
        f"hidden {name} changed: result differs by {(after - before).abs().max():.3f}"
    )
reveal("the mask after softmax", "the key")

# %% [markdown]
# A test that changed only the value would have passed this mutant. The weight of the hidden key is 0, as it should be, but its *score* has already taken something from the other weights, and how much depends on the key. So a test should change both key and value.
#
# The same question about what is *visible* has the opposite answer: when a visible key and its value change, the result must change, too. An inverted mask fails both tests.
#
# A test that relates one result to another, as this last one does, is called a *metamorphic test*. None of the three questions needs a second implementation. And an attention that fails one of them gives you a good idea of what is wrong with it.
#
# ### It happens to everyone
#
# Most of the bugs that you are about to look for have been found in public libraries:
#
# | bug | where |
# |---|---|
# | scale | [vit-pytorch](https://github.com/lucidrains/vit-pytorch/issues/65) divided by the root of the model's dimension instead of the head's |
# | axis of softmax | [fastNLP](https://github.com/FudanNLP/fastNLP/issues/254) wrote `dim=2` where `dim=-1` was meant: right for three axes, wrong for four |
# | mask inverted | [x-transformers](https://github.com/lucidrains/x-transformers/issues/160) passed its mask on to a function with the opposite convention |
# | mask without effect | [flamingo-pytorch](https://github.com/lucidrains/flamingo-pytorch/issues/10) called `masked_fill` and dropped the result; `masked_fill_` was meant |
# | empty row | [PyTorch's own module](https://github.com/pytorch/pytorch/issues/41508) gives NaN gradients; reported in 2020 |
# | dtype | [tinygrad](https://github.com/tinygrad/tinygrad/pull/5100) returned `float32` for half-precision inputs |
# | causal alignment | [flash-attention](https://github.com/Dao-AILab/flash-attention/issues/517) aligned its causal mask at the top left until version 2.1; a cache needs the bottom right |
# | positions in half precision | [transformers](https://github.com/huggingface/transformers/pull/29285) computed rotary angles in `bfloat16`, which cannot represent 257 |
#
# The last two have no label in the exercise that follows. You know them from exercise 5.1 and from lesson 7.
#
# ### Exercise 11.3: find the bugs
#
# Now write the reviewer: a function that is given an attention and says what is wrong with it. It is longer than the other exercises, so write it in two stages. The first three labels, "scale", "softmax_axis" and "value", need no mask, and the first check asks for nothing else. Get this check to pass before you go on to the other five labels. The dictionary `teams.PRACTICE` has an attention for each label, on which you can try your function. For instance, the label "dtype" can be found in this way, with the tensors from above, which are `float64`:

# %%
for name in ("right", "dtype"):
    attention = wrong.right if name == "right" else teams.PRACTICE[name]
    print(f"{name:5}", attention(q, k, v, None).dtype)

# %% [markdown]
# One dtype is not enough, though, because an attention that always returns `float64` would pass.
#
# For the grade, your function meets 47 attentions that you have not seen, none of them random. Some of them have two bugs. Others are right and only look odd, and a false alarm costs as much as a missed bug. The attentions come in five groups, and a group earns its one or two points only if all of its answers are right. Overflow, the subject of lesson 4, has no label, and none of the attentions overflows.

# %% hints find_bugs [markdown]
# Take one label at a time, without a mask. "softmax_axis": keys and values of ones keep the other two bugs out, so what must come back? "value": a query of 0 makes the scale harmless. "scale": if both tests pass and `wrong.right` still gives other numbers, nothing else is left.
#
# For the masks, compare the attention with itself: what happens when hidden keys and values change, and what when visible ones do? Inverted: only the hidden ones count. Leaking: both do. Look at queries that see something, and hide different keys in different sentences: a wrong axis shows only there.
#
# Give it copies each time, or one bug spoils the tests of the next. Then compare the copies with the originals after a call, the mask included, and try `float32` as well as `float64`.


# %% exercise find_bugs
def find_bugs(attention: Attention) -> set[str]:
    """Return the labels of an attention's bugs: an empty set for a right one.

    attention(query, key, value, mask) takes query (..., L, D), key (..., S, D), value (..., S, D_v) and a boolean mask,
    True = may attend, that broadcasts to (..., L, S), or None. The tensors have the same leading axes, two to four axes
    in all, finite entries, one dtype (float32 or float64), and together at most 4,096 entries in one call. A right
    attention returns what `wrong.right` returns; for entries up to 10, differences up to 0.0001 are rounding.

    The labels:

    - "scale": scores are divided by something other than the square root of D before softmax, or not at all.
    - "softmax_axis": softmax runs along another axis than the keys'. It may do so only for inputs with some number of
      axes (2, 3 or 4).
    - "value": weights are right, and something other than the values is mixed; the shape may differ then.
    - "mask_inverted": every query sees what the mask hides from it, and nothing else.
    - "mask_leak": for a query that may look at something, a hidden key or value changes its result.
    - "empty_row": a query that may look at nothing gets something other than zeros.
    - "mutates_input": a tensor that was passed in is different after the call.
    - "dtype": the result's dtype is not that of the query, key and value.

    Of the first three at most one applies. Of the three about masks only the first that applies is reported, in the
    order above. No attention is random, and none raises an error on such inputs. Call it at most 200
    times.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)
    shapes = (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)
    q, k, v = (torch.randn(shape, generator=generator).double() for shape in shapes)
    rule = torch.ones(2, 3, 5, 7, dtype=torch.bool)
    rule[0, :, :, 6] = rule[1, :, :, 5] = rule[:, :, 0] = False
    rules = [rule[0, 0], rule[0], rule[:, :1]]  # with two, three and four axes

    def cut(x: Tensor, axes: int) -> Tensor:
        return x[(0,) * max(x.dim() - axes, 0)]

    def result(axes: int, *inputs: Tensor | None) -> Tensor:
        copies = (x if x is None else cut(x, axes).clone() for x in inputs)
        return attention(*copies).double()

    def differ(a: Tensor, b: Tensor) -> bool:
        return a.shape != b.shape or not torch.allclose(a, b, atol=1e-4)

    def first(tests: list[dict[str, bool]]) -> set[str]:
        failed = (label for label in tests[0] if any(test[label] for test in tests))
        return set(list(failed)[:1])

    def test_numbers(axes: int) -> dict[str, bool]:
        mixed = result(axes, q, torch.ones_like(k), torch.ones_like(v), None)
        mean = cut(v.mean(dim=-2, keepdim=True).expand(2, 3, 5, 6), axes)
        tests = {"softmax_axis": differ(mixed, torch.ones_like(mixed))}
        tests["value"] = differ(result(axes, 0 * q, k, v, None), mean)
        right = cut(wrong.right(q, k, v), axes)
        tests["scale"] = differ(result(axes, q, k, v, None), right)
        return tests

    def test_mask(axes: int, mask: Tensor) -> dict[str, bool]:
        masked = result(axes, q, k, v, mask)

        def matters(in_first: int, in_second: int) -> bool:
            k2, v2 = k.clone(), v.clone()
            for sentence, position in enumerate((in_first, in_second)):
                k2[sentence, :, position] *= -3
                v2[sentence, :, position] += 1000
            changed = result(axes, q, k2, v2, mask)
            return differ(masked[..., 1:, :], changed[..., 1:, :])

        hidden, empty = matters(6, 5 if mask.dim() == 4 else 6), masked[..., 0, :]
        masks = {"mask_inverted": hidden and not matters(0, 0), "mask_leak": hidden}
        masks["empty_row"] = differ(empty, torch.zeros_like(empty))
        return masks

    tests = [test_numbers(axes) for axes in (2, 3, 4)]
    masks = [test_mask(axes, m) for axes in (2, 3, 4) for m in rules[: axes - 1]]
    found = first(tests) | first(masks)
    for dtype, mask in product((torch.float32, torch.float64), (*rules, None)):
        copies = [x.to(dtype, copy=True) for x in (q, k, v)]
        copies += [] if mask is None else [mask.clone()]
        originals = [x.clone() for x in copies]
        given = copies if mask is not None else [*copies, None]
        found |= {"dtype"} if attention(*given).dtype != dtype else set()
        kept = all(x.equal(copy) for x, copy in zip(originals, copies, strict=True))
        found |= set() if kept else {"mutates_input"}
    return found
    ### END SOLUTION


# %% check find_bugs

# %% [markdown]
# ### Your reviewer at work
#
# Here is what your reviewer says about the five teams:

# %%
try:
    for name, attention in teams.TEAMS.items():
        print(f"{name:5}", *sorted(find_bugs(attention)) or ["no bug found"])
except NotImplementedError:
    print("not yet: exercise 11.3 is still open")

# %% [markdown]
# The questions of your reviewer are measured as an example is, by the mutants that survive them. `swapped_q_k`, which lets the keys ask, stops with an error on such inputs and is left out.

# %%
try:
    mutants = {n: f for n, f in wrong.WRONG.items() if n != "swapped_q_k"}
    missed = [name for name, attention in mutants.items() if not find_bugs(attention)]
    print(f"{len(missed)} of {len(mutants)} survive", *missed)
except NotImplementedError:
    print("not yet: exercise 11.3 is still open")

# %% [markdown]
# ### Repair
#
# The last attention comes with its source. It is a causal self-attention with several heads, as in lesson 6. It runs without an error and returns the right shapes. Read it slowly.


# %%
class HandedIn(nn.Module):
    """Causal self-attention with several heads, as it was handed in."""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, d_model = x.shape
        q, k, v = (
            layer(x).reshape(batch, self.num_heads, length, -1)
            for layer in (self.q_proj, self.q_proj, self.v_proj)
        )
        scores = q @ k.mT / d_model**0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2)
        weights = scores.softmax(dim=-1).masked_fill(future, 0.0)
        weights = functional.dropout(weights, self.dropout)
        return self.out_proj((weights @ v).reshape(batch, length, d_model))


# %% [markdown]
# There are six faults in it, where splitting into heads and joining them again count as one. Four of the six show in three quick checks. First we change the last of eight tokens and print by how much each position changes. Then we call the module twice in evaluation mode, and finally we look at the gradients.

# %%
torch.manual_seed(0)
module, x = HandedIn(12, 3), torch.randn(1, 8, 12)
other = x.clone()
other[:, -1] += 1
print((module(other) - module(x)).detach().abs().amax(dim=-1)[0])

# %%
module = HandedIn(12, 3, dropout=0.5).eval()
print(f"two calls differ by {(module(x) - module(x)).abs().max():.3f}")
module(x).sum().backward()
print("no gradient:", *(n for n, p in module.named_parameters() if p.grad is None))

# %% [markdown]
# In a causal model only the last position may change. Here positions 6 and 5 change as well, although position 6 would have to see one token ahead and position 5 two. So more than one fault lets the future in. Do not trust the zeros either, because another fault hides how far the leak goes. The second check shows that something is random in evaluation mode, where nothing should be, and the third shows that one layer never learns.
#
# ### Exercise 11.4: repair it
#
# Copy the class, rename it, and repair all six faults. The two that the checks do not show appear only as wrong numbers.

# %% hints RepairedAttention [markdown]
# The output above names a layer that gets no gradient. Which line of `forward` should have used it, and what does it use instead?
#
# Follow one token's vector through the reshape. Do its entries stay together, and does each head get its own part of every token? The same question comes up on the way back.
#
# Three lines are left: what the scores are divided by, which pairs count as future, and what happens to the hidden ones, before or after softmax. Dropout has a third argument.


# %% exercise RepairedAttention
class RepairedAttention(nn.Module):
    """HandedIn without its six faults: causal self-attention with several heads.

    x is (B, L, E), with E = d_model, which num_heads divides. Head h uses entries h * D to (h + 1) * D - 1 of each
    projection, with D = E / num_heads. Token i may look at tokens 0 to i. Dropout acts on the attention weights, in
    training mode only. Returns (B, L, E) in the dtype of x. Submodules: q_proj, k_proj, v_proj and out_proj, linear
    layers with bias, made in this order.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        future = x.new_ones(x.size(1), x.size(1)).triu(diagonal=1).bool()
        scores = (q @ k.mT / q.size(-1) ** 0.5).masked_fill(future, -torch.inf)
        weights = scores.softmax(dim=-1)
        weights = functional.dropout(weights, self.dropout, self.training)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))
        ### END SOLUTION


# %% check RepairedAttention

# %% [markdown]
# ### Is it repaired?
#
# Here are the three quick checks once more, on your class:

# %%
try:
    module = RepairedAttention(12, 3, dropout=0.5).eval()
    print((module(other) - module(x)).detach().abs().amax(dim=-1)[0])
    print(f"two calls differ by {(module(x) - module(x)).abs().max():.3f}")
    module(x).sum().backward()
    without = [n for n, p in module.named_parameters() if p.grad is None]
    print("no gradient:", *without or ["none"])
except NotImplementedError:
    print("not yet: exercise 11.4 is still open")

# %% [markdown]
# ## What can go wrong
#
# **False alarms.** A test with `==` reports an attention that only sums in another order, and a tolerance of 10⁻⁷ still reports most of those in `float32`. After the third false alarm nobody reads the fourth.
#
# **Bugs in pairs.** One bug can hide another. An attention that writes to its inputs spoils the test that follows, and NaN in one place makes every comparison false. Give copies to each test, and look at one thing at a time.
#
# **Random inputs that never get there.** If one mask in a million has an empty row, a thousand trials will hardly meet one. Small sizes make rare cases more frequent. The rarest are best made on purpose.
#
# **Absence of evidence.** An empty set from `find_bugs` says only that none of your questions found a bug. What it is worth depends on the questions, and you have counted the mutants that survive them.
#
# ## What you learned
#
# Every step has its own slips, and each of these questions finds some of them:
#
# | question | known answer | finds |
# |---|---|---|
# | D = 4, products 0 and 2 ln 3 | weights ¼ and ¾ | another scale |
# | all values are ones | ones | softmax along another axis |
# | the query is 0 | the mean of the values | something other than values mixed |
# | hidden keys and values change | nothing changes | a leak, an inverted mask |
# | visible ones change | the result changes | an inverted mask |
# | a query may look at nothing | zeros | NaN, or the mean of everything |
# | the inputs after the call | as before | writing in place |
# | another dtype goes in | the same comes out | a dtype that is fixed |

# %%
recap()

# %% [markdown]
# If you thought that four of the five teams were right, or all five, you trusted an example because its answer is known. A known answer makes an example easy to explain. What makes it a test is how many mistakes would change that answer.
#
# ## Questions
#
# **Question R11** (4 points, graded by a person). Read Cleo's attention in `teams.py`, beside this notebook. Then write the review that the team gets, as you would to a colleague: what is wrong and in which line, how anyone can see it, why their own test passed, and what they should do so that it does not come back. Half a page at most.

# %% question R11 [markdown] points=4
# Dear Cleo, your attention takes `True` in the mask for "hidden", and the rest of the course takes it for "may attend", as `scaled_dot_product_attention` does. With one query, two keys with equal scores, the values 1 and 2, and the mask `[True, False]`, the result should be 1 and is 2. Your test could not see this, because it has no mask at all.
#
# `masked_fill` wants the entries to be hidden, so `~mask` is missing in one place. Please also add two tests: one with a mask in which hidden and visible keys have different values, and one that changes everything hidden and expects no change. The second also catches leaks. A line in the docstring that says what `True` means would have prevented the mix-up; `nn.MultiheadAttention` means the opposite, so people will come with either.
#
# | points | for |
# |---|---|
# | 1 | Names the bug: True hides in Cleo's mask, and `~mask` is missing in one place |
# | 1 | An example with numbers that anyone can repeat |
# | 1 | Why their own test passed: it has no mask |
# | 1 | A test with a mask, or a written convention, that keeps the bug from coming back |
#
# | points | an answer that is not right | what to write below it |
# |---|---|---|
# | 1 | "Your mask is the wrong way around. Please correct it." | The bug is right. A colleague who believes in their test needs an example with numbers, and the reason why the test passed. |
# | 2 | "The mask is inverted: with two equal scores, the values 1 and 2 and the mask `[True, False]` the result is 2 and not 1." | Bug and example are right. Why did their own test pass, and what keeps this from coming back? |
# | 3 | "[Bug, example and reason right.] Please be more careful with masks." | Three parts are right. Nobody can check care. Which test or which line in the docstring would have caught it? |
# | 2 | "The mask is inverted. Your test passed because its tolerance is too large. Add one with a mask." (sounds right) | Bug and test are right. An inverted mask is larger than any tolerance. Does their test have a mask at all? And show the bug by an example. |

# %% [markdown]
# ## Further reading
#
# - DeMillo, Lipton and Sayward 1978, [Hints on Test Data Selection](https://doi.org/10.1109/C-M.1978.218136): judge tests by the mutants that survive.
# - Claessen and Hughes 2000, [QuickCheck](https://doi.org/10.1145/351240.351266): random inputs and laws. A descendant for Python is [Hypothesis](https://hypothesis.readthedocs.io).
# - Chen et al. 2018, [Metamorphic Testing](https://doi.org/10.1145/3143561): questions that need no second implementation.
#
# **Next:** [lesson 12, NumPy and Keras](../12_numpy_and_keras/12_numpy_and_keras.ipynb). The same attention in two other libraries, and a check that they agree.
