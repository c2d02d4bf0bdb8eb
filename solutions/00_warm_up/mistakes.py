"""The mistakes that students make in lesson 0, as edits of its solutions. Never given to students."""

import torch
from torch.nn import functional

from autograder.checks import SHARED, solution


def answers_but(**wrong):
    """Return the right answers, but for some."""
    right = {
        "product": ("a @ b", (2, 3, 5)),
        "swap": ("a.mT", (2, 4, 3)),
        "both": ("c + d", (3, 5)),
        "total": ("a.sum(dim=-1)", (2, 3)),
        "mean": ("a.mean(dim=1, keepdim=True)", (2, 1, 4)),
        "flat": ("a.flatten(1)", (2, 12)),
    }
    return {key: wrong.get(name, shape) for name, (key, shape) in right.items()}

pairwise = solution("pairwise_dots")
pairwise.mutant("not_transposed", "b.mT", "b", hint=2, says="It stopped: in a matrix product, the rows of the left one "
    "meet the columns of the right one. To meet the rows of b, swap its last two axes first.")
pairwise.mutant("the_wrong_one_transposed", "a @ b.mT", "a.mT @ b", every=True, hint=3,
    says="It stopped: a came into the product with its axes swapped, and b did not. In a matrix product the rows of "
    "the left one stay rows.")
pairwise.mutant("both_transposed", "a @ b.mT", "a.mT @ b.mT", hint=3,
    says="It stopped: both came into the product with their axes swapped. In a matrix product the rows of the left one "
    "stay rows.")
pairwise.mutant("all_axes_reversed", "b.mT", "b.permute(*range(b.dim() - 1, -1, -1))", hint=3,
    says="Right for two tables, but it stopped on a batch: there, the axes in front no longer line up. `.T` reverses "
    "ALL axes; `.mT` swaps the last two only.")
pairwise.mutant("first_two_axes_swapped", "b.mT", "b.transpose(0, 1)", hint=3, says="Right for two tables, but it "
    "stopped on a batch: there, the axes in front no longer line up, and axes 0 and 1 are not the last two. Count from "
    "the end: -2 and -1.")
pairwise.mutant("later_axes_swapped", "b.mT", "b.transpose(1, 2)", hint=3, says="It stopped on two tables: they have "
    "no axis 2. Count axes from the end, -2 and -1, and any number may be in front.")
pairwise.mutant("small_t", "b.mT", "b.t()", hint=3, says="Right for two tables, but `.t()` knows no batch. `.mT` "
    "swaps the last two axes, whatever is in front of them.")
pairwise.mutant("matrices_only", "a @ b.mT", "torch.mm(a, b.mT)",
    says="Right for two tables, but `torch.mm` knows no batch. `@` takes any number of axes in front.")
pairwise.mutant("batches_only", "a @ b.mT", "torch.bmm(a, b.mT)",
    says="It stopped on two tables: `torch.bmm` wants exactly one axis in front. `@` takes any number, or none.")
pairwise.mutant("letters_for_two_axes", "a @ b.mT", 'torch.einsum("md,nd->mn", a, b)', says="Right for two tables, "
    "but the equation of einsum names two axes and a batch has more. Three dots stand for the others.")
pairwise.mutant("vectors_only", "a @ b.mT", "torch.dot(a, b)", hint=2,
    says="It stopped: `torch.dot` takes two vectors, and these are tables. A matrix product makes them all at once.")
pairwise.mutant("rows_in_pairs", "a @ b.mT", "(a * b).sum(dim=-1)", hint=2, says="It stopped: taken entry by entry, "
    "row i of a meets only row i of b, and they have different numbers of rows. Every row should meet every row.")
pairwise.mutant("rows_of_b_down", "a @ b.mT", "b @ a.mT", hint=1,
    says="The table is transposed: its rows belong to b. Rows should belong to a and columns to b.")
pairwise.mutant("every_batch_with_every_batch", "a @ b.mT", "torch.inner(a, b)", says="Right for two tables. In a "
    "batch, every table met every other one, so there are too many axes. Only tables in the same place meet.")
pairwise.mutant("batch_made_flat", "a @ b.mT", "a.reshape(-1, a.size(-1)) @ b.reshape(-1, b.size(-1)).mT", hint=3,
    says="Right for two tables. In a batch, all tables were joined into one, so rows of different tables met.")
pairwise.mutant("batch_axes_joined", hint=3, body="""
    made = a.reshape(-1, *a.shape[-2:]) @ b.reshape(-1, *b.shape[-2:]).mT
    return made if a.dim() > 2 else made[0]""",
    says="Right for two tables. With two axes in front, these were joined into one. Give them back at the end.")
pairwise.mutant("always_a_batch", "a @ b.mT", "a.reshape(-1, *a.shape[-2:]) @ b.reshape(-1, *b.shape[-2:]).mT",
    says="There is an axis of size 1 too many in front. Two tables give one table.")
pairwise.mutant("products_not_summed", "a @ b.mT", "a[..., :, None, :] * b[..., None, :, :]", says="The products "
    "were not added up: there is an axis too many, the last one. A dot product is a sum of products.")
pairwise.mutant("averaged", "a @ b.mT", "a @ b.mT / a.size(-1)",
    says="The products were averaged. A dot product is their sum.")
pairwise.mutant("everything_added", "a @ b.mT", "(a @ b.mT).sum()",
    says="One number came back: all dot products were added up. Each pair of rows has its own.")
pairwise.mutant("sums_multiplied", "return a @ b.mT",
    "return a.sum(dim=-1)[..., :, None] * b.sum(dim=-1)[..., None, :]",
    says="Each number is the sum of a row times the sum of another row. Multiply entry by entry first, then add up.")
pairwise.mutant("first_row_of_a", "a @ b.mT", "(a @ b.mT)[..., 0, :]", says="Only one row came back: the first row of "
    "a met the rows of b. There is one row for each row of a. Where are the others lost?")
pairwise.mutant("a_with_itself", "b.mT", "a.mT", hint=1, says="The rows of a met each other, and b was not used.")
pairwise.mutant("b_with_itself", "a @ b.mT", "b @ b.mT", hint=1,
    says="The rows of b met each other, and a was not used.")
pairwise.mutant("scaled", "a @ b.mT", "a @ b.mT / a.size(-1) ** 0.5", says="The dot products were divided by the "
    "square root of D, as attention does later. Here they are asked for as they are.")
pairwise.mutant("cosines", body="return functional.normalize(a, dim=-1) @ functional.normalize(b, dim=-1).mT",
    says="The dot products were divided by the norms of the rows, which makes cosines. Leave the division out.")
pairwise.mutant("softmax_on_top", "a @ b.mT", "(a @ b.mT).softmax(dim=-1)",
    says="Softmax was applied to the dot products. Here they are asked for as they are.")
pairwise.mutant("distances", "a @ b.mT", "torch.cdist(a, b)",
    says="These are distances between rows. A dot product multiplies entry by entry and adds up.")
pairwise.mutant("entries_added", "return a @ b.mT", "return (a[..., :, None, :] + b[..., None, :, :]).sum(dim=-1)",
    says="The entries of two rows were added, where a dot product multiplies them.")
pairwise.mutant("table_of_float32", "a @ b.mT", "(a @ b.mT).float()", says="The numbers are right, but they are "
    "float32 and the inputs are float64.")
pairwise.mutant("rounded_to_whole_numbers", "a @ b.mT", "(a @ b.mT).long()",
    says="The dot products were cut down to whole numbers, in a tensor of integers. The result has the dtype of a.")
pairwise.mutant("gradients_lost", "a @ b.mT", "(a @ b.mT).detach()", says=SHARED["no gradient"])
pairwise.mutant("loops_of_dot", body="return torch.stack([torch.stack([torch.dot(x, y) for y in b]) for x in a])",
    says="Right for two tables. With axes in front, `torch.dot` was given tables, and it takes vectors. `@` takes any "
    "number of axes.")
pairwise.mutant("one_loop_over_a", "a @ b.mT", "torch.stack([b @ row for row in a])",
    says="Right for two tables. With axes in front, it stopped in a product: along its first axis, a has tables there, "
    "not rows. `@` needs no loop.")
pairwise.mutant("one_loop_over_b", "a @ b.mT", "torch.stack([a @ row for row in b])", hint=1, says="With axes in "
    "front, it stopped in a product: along its first axis, b has tables there, not rows. `@` needs no loop; the one on "
    "its left gives the rows of the result.")
pairwise.mutant("new_axes_from_the_left", "a @ b.mT", "(a[:, None] * b[None]).sum(dim=-1)", says="Right for two "
    "tables. With axes in front, a and b did not line up. Count new axes from the end: ..., None, : and so on.")
pairwise.mutant("sum_over_rows_of_b", "return a @ b.mT", "return (a[..., :, None, :] * b[..., None, :, :]).sum(dim=-2)",
    says="The products were added up along the wrong axis, over the rows of b. Add along the last one, which both "
    "share.")
pairwise.mutant("sum_over_rows_of_a", "return a @ b.mT", "return (a[..., :, None, :] * b[..., None, :, :]).sum(dim=-3)",
    says="The products were added up along the wrong axis, over the rows of a. Add along the last one, which both "
    "share.")
pairwise.mutant("reshaped", "b.mT", "b.reshape(*b.shape[:-2], b.size(-1), b.size(-2))", hint=3,
    says="The entries of b were mixed up, as happens when a reshape fills the swapped shape row by row. Swap its axes "
    "instead.")
pairwise.mutant("the_other_way", "a @ b.mT", "b.mT @ a", every=True, hint=3,
    says="It stopped: b is on the left. The one on the left gives the rows of the result, and these belong to a.")
pairwise.mutant("exactly_three_axes", "b.mT", "b.permute(0, 2, 1)", hint=3,
    says="It stopped on two tables: permute names three axes. Swap the last two by counting from the end, -2 and -1.")
pairwise.mutant("signs_dropped", "a @ b.mT", "(a @ b.mT).abs()",
    says="The signs are gone: these are absolute values. A dot product may be negative.")

normalize = solution("normalize_rows")
normalize.mutant("axis_not_kept", "x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1)", hint=2,
    says="It stopped: sums without a last axis line up with the columns. keepdim=True keeps that axis. Only a square "
    "table would fit, and come out wrong.")
normalize.mutant("columns_sum_to_one", "dim=-1", "dim=-2", hint=1,
    says="The columns sum to 1 instead of the rows. A row runs along the last axis: dim=-1.")
normalize.mutant("first_axis", "dim=-1", "dim=0", hint=1,
    says="The sums run along the first axis, dim=0. A row runs along the last one: dim=-1.")
normalize.mutant("second_axis", "dim=-1", "dim=1", hint=1,
    says="Right for a table. With axes in front, the sums run along axis 1, which is no longer the last one. Count "
    "from the end: dim=-1.")
normalize.mutant("one_sum_for_all", "x.sum(dim=-1, keepdim=True)", "x.sum()", hint=1,
    says="All entries together sum to 1: x was divided by the sum of everything. Each row has its own sum: dim=-1.")
normalize.mutant("one_sum_per_table", "dim=-1", "dim=(-2, -1)", hint=1,
    says="Each table sums to 1, not each row: the sums run over the last two axes. A row is the last axis alone.")
normalize.mutant("one_sum_per_item", hint=1, body="return torch.stack([part / part.sum() for part in x])",
    says="Right for a table. With axes in front, each item of the first axis sums to 1 as a whole. A row is the last "
    "axis alone: dim=-1.")
normalize.mutant("changed_in_place", hint=3, body="""
    x /= x.sum(dim=-1, keepdim=True)
    return x""",
    says="x itself was changed, and it belongs to the caller: `/=`, x[...] = ... and functions that end in _ write "
    "into it. Make a new tensor with `/`.")
normalize.mutant("column_by_none", "x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1)[:, None]", hint=2,
    says="Right for a table. With axes in front, the sums do not line up with their rows. Their axis of size 1 belongs "
    "in last place: keepdim=True.")
normalize.mutant("column_by_reshape", "x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1).reshape(-1, 1)", hint=2,
    says="Right for a table. With axes in front, the sums were made into one long column. keepdim=True keeps all "
    "axes.")
normalize.mutant("softmaxed", "x / x.sum(dim=-1, keepdim=True)", "x.softmax(dim=-1)",
    says="This is a softmax of each row: e to the power of each entry, divided by the sum of these. Here the entries "
    "themselves are divided.")
normalize.mutant("unit_norm", "x.sum", "x.norm",
    says="Each row was divided by its norm, the root of the sum of squares. Divide by the sum of the entries.")
normalize.mutant("ready_made_normalize", "return x / x.sum(dim=-1, keepdim=True)", "return functional.normalize(x)",
    says="The entries were divided by a norm along axis 1, as F.normalize does by default. Divide by the sum, along "
    "the last axis.")
normalize.mutant("largest_is_one", "x.sum", "x.amax",
    says="Each row was divided by its largest entry, so that this is 1. Divide by the sum.")
normalize.mutant("divided_by_the_mean", "x.sum", "x.mean",
    says="Each row was divided by its mean, so it sums to its number of entries. Divide by the sum.")
normalize.mutant("divided_by_the_length", "x.sum(dim=-1, keepdim=True)", "x.size(-1)",
    says="Each row was divided by its number of entries. Divide by the sum of the entries.")
normalize.mutant("mean_subtracted", "x / x.sum(dim=-1, keepdim=True)", "x - x.mean(dim=-1, keepdim=True)",
    says="The mean was subtracted from each row, so it sums to 0. Divide by the sum.")
normalize.mutant("sum_subtracted", "x / x.sum(dim=-1, keepdim=True)", "x - x.sum(dim=-1, keepdim=True)",
    says="The sum was subtracted. Divide by it.")
normalize.mutant("standardized", body="""
    away = x - x.mean(dim=-1, keepdim=True)
    variance = (away ** 2).sum(dim=-1, keepdim=True) / (x.size(-1) - 1)
    return away / variance.sqrt()""",
    says="Each row was shifted to mean 0 and scaled to standard deviation 1. Here it is only divided by its sum.")
normalize.mutant("between_zero_and_one", body="""
    low, high = (x.amin(dim=-1, keepdim=True), x.amax(dim=-1, keepdim=True))
    return (x - low) / (high - low + 1e-12)""",
    says="Each row was stretched from 0 to 1 by its smallest and largest entry. Here it is only divided by its sum.")
normalize.mutant("multiplied", "x / x.sum(dim=-1, keepdim=True)", "x * x.sum(dim=-1, keepdim=True)",
    says="Each row was multiplied by its sum. Divide by it.")
normalize.mutant("upside_down", "x / x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1, keepdim=True) / x", every=True,
    says="The fraction is upside down: the sum was divided by the entries. Divide the entries by the sum.")
normalize.mutant("only_the_sums", "x / x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1, keepdim=True)",
    says="These are the sums, one per row. Divide x by them.")
normalize.mutant("only_the_sums_flat", "x / x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1)", hint=2,
    says="These are the sums, and their axis is gone as well. Divide x by them; keepdim=True keeps the axis.")
normalize.mutant("sum_of_the_result", "x / x.sum(dim=-1, keepdim=True)",
    "(x / x.sum(dim=-1, keepdim=True)).sum(dim=-1)",
    says="One number per row came back, and each is 1, the sum of a finished row. Return the rows.")
normalize.mutant("sum_of_the_first_row", "x.sum", "x[..., :1, :].sum", hint=1,
    says="Every row was divided by the sum of the first one. Each row has its own sum.")
normalize.mutant("whole_division", "x / x.sum(dim=-1, keepdim=True)", "x // x.sum(dim=-1, keepdim=True)",
    says="Fractions below 1 came out as 0, which is what // does: it rounds down. Divide with /.")
normalize.mutant("twice", "x / x.sum(dim=-1, keepdim=True)", "x / x.sum(dim=-1, keepdim=True) / x.size(-2)", every=True,
    says="The rows were divided by their number as well as by their sum, so the whole table sums to 1. Divide by the "
    "sum only.")
normalize.mutant("running_sums", "x.sum(dim=-1, keepdim=True)", "x.cumsum(dim=-1)",
    says="Each entry was divided by the sum up to it. Divide all entries of a row by the same sum, that of the whole "
    "row.")
normalize.mutant("left_as_it_was", "x / x.sum(dim=-1, keepdim=True)", "x.clone()", hint=3,
    says="x came back as it was. Where does the result of the division go?")
normalize.mutant("in_float32", "x / x.sum(dim=-1, keepdim=True)", "(x / x.sum(dim=-1, keepdim=True)).float()",
    says="The numbers are right, but they are float32 and x is float64.")
normalize.mutant("result_and_sums", body="""
    sums = x.sum(dim=-1, keepdim=True)
    return (x / sums, sums)""",
    says="Two things came back, the divided rows and the sums. Return the divided rows alone.")
normalize.mutant("transposed", "x / x.sum(dim=-1, keepdim=True)", "(x / x.sum(dim=-1, keepdim=True)).mT",
    says="The numbers are right, but the table is transposed. Rows stay rows.")
normalize.mutant("rows_then_columns", body="""
    x = x / x.sum(dim=-1, keepdim=True)
    return x / x.sum(dim=-2, keepdim=True)""",
    says="After the rows, the columns were divided by their sums as well, so the rows no longer sum to 1.")
normalize.mutant("squares_shared", "x / x.sum(dim=-1, keepdim=True)", "x ** 2 / (x ** 2).sum(dim=-1, keepdim=True)",
    says="These are the squares of the entries, divided by their sum. Divide the entries themselves.")
normalize.mutant("roots_shared", "x.sum(dim=-1, keepdim=True)", "x.sum(dim=-1, keepdim=True).sqrt()",
    says="Each row was divided by the root of its sum. Divide by the sum itself.")
normalize.mutant("first_two_axes", "dim=-1", "dim=(0, 1)", hint=1,
    says="The sums run over two axes, 0 and 1, which in a table is everything. A row is the last axis alone: dim=-1.")
normalize.mutant("rounded", "x / x.sum(dim=-1, keepdim=True)", "(x / x.sum(dim=-1, keepdim=True)).round(decimals=2)",
    says="The result was rounded to two decimals, so the rows no longer sum to exactly 1. Leave the rounding out.")
normalize.mutant("one_added_to_the_sum", "x.sum(dim=-1, keepdim=True)", "(x.sum(dim=-1, keepdim=True) + 1)",
    says="Something was added to the sums, so the rows sum to less than 1. The entries are positive: no sum is 0.")
normalize.mutant("loop_that_writes_into_x", hint=3, body="""
    for i in range(x.size(0)):
        x[i] = x[i] / x[i].sum()
    return x""", says="Two things: x itself was changed, and it belongs to the caller; and with axes in front, each "
    "item of the first axis sums to 1 as a whole, not each row.")
normalize.mutant("transposed_and_back", hint=2, body="""
    back = tuple(range(x.dim() - 1, -1, -1))
    return (x.permute(back) / x.sum(dim=-1)).permute(back)""", says="Right for a table. With axes in front, the sums "
    "met the wrong axis, as they do where `.T` reverses all axes. keepdim=True needs no transpose.")
normalize.mutant("swapped_and_back", "x / x.sum(dim=-1, keepdim=True)", "(x.mT / x.sum(dim=-1)).mT", hint=2,
    says="Right for a table. With axes in front, the sums do not line up with their tables. They need an axis of size "
    "1, which keepdim=True gives.")
normalize.mutant("nothing_returned", "return x / x.sum(dim=-1, keepdim=True)", "return",
    says="Nothing came back: the result is None. A function needs a `return` for what it has calculated.")
normalize.mutant("gradient_lost", "x / x.sum(dim=-1, keepdim=True)",
    "x.detach() / x.detach().sum(dim=-1, keepdim=True)", says=SHARED["no gradient"])
normalize.mutant("gradient_through_one_part", "x.sum", "x.detach().sum", says="The numbers are right, but half of the "
    "gradient is missing: the part that goes through the sums. They depend on x as well, so they must not be detached.")

shapes = solution("shapes")
shapes.mutant("product_keeps_both_inner_sizes", hint=1, body="return answers_but(product=(2, 3, 4, 4, 5))",
    says="a @ b: these are all sizes of a and b, one after the other. The two axes that meet, both of size 4, "
    "disappear.")
shapes.mutant("product_keeps_one_inner_size", hint=1, body="return answers_but(product=(2, 3, 4, 5))",
    says="a @ b: the size 4 of the axes that meet is still there. Each entry is a sum over that axis, so it "
    "disappears.")
shapes.mutant("product_changes_nothing", hint=1, body="return answers_but(product=(2, 3, 4))",
    says="a @ b: that is the shape of a itself. Its last axis meets b and disappears. What takes its place?")
shapes.mutant("product_without_the_front", hint=2, body="return answers_but(product=(3, 5))",
    says="a @ b: the axis in front is missing. b has no such axis, so it is used for each of the two tables in a.")
shapes.mutant("product_without_the_rows", hint=1, body="return answers_but(product=(2, 5))",
    says="a @ b: the rows of a are missing. Only the axis that meets b disappears.")
shapes.mutant("product_loses_the_columns", hint=1, body="return answers_but(product=(2, 3))",
    says="a @ b: the columns of b are missing. A product with a table is a table again, or a batch of them.")
shapes.mutant("product_with_the_wrong_axis", hint=1, body="return answers_but(product=(2, 4, 5))",
    says="a @ b: the wrong axis of a disappeared. Its last axis, of size 4, is the one that meets b.")
shapes.mutant("product_transposed", body="return answers_but(product=(2, 5, 3))", says="a @ b: rows and columns are "
    "swapped. The rows of the left one come first, then the columns of the right one.")
shapes.mutant("product_is_b", hint=1, body="return answers_but(product=(4, 5))",
    says="a @ b: that is the shape of b. The axes of a come first, all but the last, and then the columns of b.")
shapes.mutant("all_axes_swapped", body="return answers_but(swap=(4, 3, 2))",
    says="a.mT: all axes were reversed, which is what .T would do. The m stands for matrix: the last two axes alone.")
shapes.mutant("front_axes_swapped", body="return answers_but(swap=(3, 2, 4))",
    says="a.mT: the first two axes were swapped. The m stands for matrix, and that is the last two axes.")
shapes.mutant("last_axis_first", body="return answers_but(swap=(4, 2, 3))",
    says="a.mT: the last axis moved to the front. Only two axes change places, the last two; the first one stays.")
shapes.mutant("first_axis_last", body="return answers_but(swap=(3, 4, 2))",
    says="a.mT: the first axis moved to the end. It stays in front, and the two behind it change places.")
shapes.mutant("nothing_swapped", body="return answers_but(swap=(2, 3, 4))",
    says="a.mT: that is the shape of a itself. Which two axes does .mT swap?")
shapes.mutant("swap_without_the_front", body="return answers_but(swap=(4, 3))",
    says="a.mT: the first axis is missing. It stays where it is, and the tables behind it are transposed.")
shapes.mutant("sum_like_c", hint=1, body="return answers_but(both=(3, 1))",
    says="c + d: that is the shape of c. Its last axis has size 1, so it stretches to what it meets in d.")
shapes.mutant("sum_like_d", hint=1, body="return answers_but(both=(5,))",
    says="c + d: that is the shape of d. d has no axis that meets the first one of c, so d is repeated along it.")
shapes.mutant("sum_crosswise", hint=1, body="return answers_but(both=(5, 3))", says="c + d: the axes are in the "
    "wrong order. Write the shapes above one another, flush right, and compare column by column.")
shapes.mutant("sum_with_all_axes", hint=1, body="return answers_but(both=(3, 1, 5))",
    says="c + d: these are the axes of both, one after the other. They are lined up from the right: the last ones "
    "meet.")
shapes.mutant("sum_of_the_sizes", hint=2, body="return answers_but(both=(3, 6))",
    says="c + d: 6 is the sum of the sizes 1 and 5. Adding tensors adds entries, never sizes; an axis of size 1 "
    "stretches.")
shapes.mutant("sum_with_one_axis_left", hint=1, body="return answers_but(both=(3,))",
    says="c + d: one axis is missing. The result has as many axes as the tensor with more of them.")
shapes.mutant("sum_in_one_row", hint=1, body="return answers_but(both=(15,))", says="c + d: the number of entries is "
    "right, but they are not in one row: c lies along one axis and d along another.")
shapes.mutant("sum_kept_its_axis", hint=2, body="return answers_but(total=(2, 3, 1))",
    says="a.sum(dim=-1): the axis is still there, with size 1. Without keepdim=True it disappears.")
shapes.mutant("sum_over_the_first", body="return answers_but(total=(3, 4))",
    says="a.sum(dim=-1): the first axis disappeared. -1 counts from the end.")
shapes.mutant("sum_over_the_middle", body="return answers_but(total=(2, 4))",
    says="a.sum(dim=-1): the middle axis disappeared. -1 is the last one; the middle one of three is -2.")
shapes.mutant("sum_of_everything", hint=2, body="return answers_but(total=())",
    says="a.sum(dim=-1): every axis disappeared. With dim, only that one does.")
shapes.mutant("sum_of_one_axis_left", hint=2, body="return answers_but(total=(4,))",
    says="a.sum(dim=-1): only the last axis is left. It is the other way: that axis is the one that disappears.")
shapes.mutant("sum_changes_nothing", hint=2, body="return answers_but(total=(2, 3, 4))",
    says="a.sum(dim=-1): that is the shape of a itself. A sum makes one number out of a whole axis.")
shapes.mutant("mean_lost_its_axis", hint=2, body="return answers_but(mean=(2, 4))",
    says="a.mean(dim=1, keepdim=True): the axis disappeared. What does keepdim=True keep?")
shapes.mutant("mean_over_the_first", body="return answers_but(mean=(1, 3, 4))",
    says="a.mean(dim=1, keepdim=True): the first axis was averaged. Axes are counted from 0, so which one is axis 1?")
shapes.mutant("mean_over_the_last", body="return answers_but(mean=(2, 3, 1))",
    says="a.mean(dim=1, keepdim=True): the last axis was averaged. Axes are counted from 0, so which one is axis 1?")
shapes.mutant("mean_keeps_only_one", body="return answers_but(mean=(2, 1))",
    says="a.mean(dim=1, keepdim=True): the last axis is missing. Only the axis that dim names is averaged.")
shapes.mutant("mean_changes_nothing", hint=2, body="return answers_but(mean=(2, 3, 4))", says="a.mean(dim=1, "
    "keepdim=True): that is the shape of a itself. keepdim keeps the axis, but not its size: one mean is left of it.")
shapes.mutant("mean_of_everything", body="return answers_but(mean=(1, 1, 1))",
    says="a.mean(dim=1, keepdim=True): every axis was averaged. With dim, only that one is.")
shapes.mutant("all_flat", body="return answers_but(flat=(24,))",
    says="a.flatten(1): everything was joined into one axis. The 1 says where joining begins, counted from 0.")
shapes.mutant("front_joined", body="return answers_but(flat=(6, 4))", says="a.flatten(1): the first two axes were "
    "joined. Joining begins at axis 1, counted from 0, and goes to the end.")
shapes.mutant("sizes_added", hint=3, body="return answers_but(flat=(2, 7))",
    says="a.flatten(1): 7 is the sum of the sizes 3 and 4. Joined axes hold every combination, so their sizes are "
    "multiplied.")
shapes.mutant("flat_changes_nothing", hint=3, body="return answers_but(flat=(2, 3, 4))",
    says="a.flatten(1): that is the shape of a itself. The axes from 1 on become one.")
shapes.mutant("flat_lost_the_front", hint=3, body="return answers_but(flat=(12,))",
    says="a.flatten(1): the first axis is missing. It is before axis 1, so it stays as it is.")
shapes.mutant("flat_the_wrong_way", body="return answers_but(flat=(12, 2))",
    says="a.flatten(1): the axes are in the wrong order. What is not joined stays in front.")
shapes.mutant("flat_with_one_kept", body="return answers_but(flat=(2, 1, 12))",
    says="a.flatten(1): there is an axis of size 1. Joining leaves one axis where there were two, and no trace.")
shapes.mutant("number_without_a_comma", body="return answers_but(flat=24)", says="a.flatten(1): a single number is "
    "not a shape, which is a tuple: write every size, in parentheses, with commas.")
shapes.mutant("sum_without_a_comma", hint=1, body="return answers_but(both=5)",
    says="c + d: there is the number 5 in place of a shape. A tuple of one needs a comma, (5,). It is not the right "
    "shape either.")
shapes.mutant("shapes_as_text", body="return {key: str(shape) for key, shape in answers_but().items()}",
    says="a @ b: there is text in place of its shape. Only the keys are text; a shape is a tuple, without quotation "
    "marks.")
shapes.mutant("tensors_instead", body="return {key: torch.zeros(shape) for key, shape in answers_but().items()}",
    says="a @ b: there is a tensor in place of its shape. Write the shape that you worked out, as a tuple of whole "
    "numbers.")
shapes.mutant("list_of_shapes", body="return list(answers_but().values())",
    says="That is not a dictionary, and one was asked for: each expression, a colon, its shape.")
shapes.mutant("keys_without_spaces",
    body='return {key.replace(" ", ""): shape for key, shape in answers_but().items()}', says="There is no key \"a @ "
    "b\". Copy the keys from the docstring, spaces included: a dictionary finds only what is equal to the letter.")
