"""The hidden checks of lesson 0, and the mistakes that students make in it. Never given to students."""

from typing import Any

import torch
from checks import positive, six_answers
from torch.nn import functional

from autograder.checks import Inputs, allow, check, mistake

MAY_RUN_THEM = allow(
    "shapes",
    "eval",
    "from <string>",
    because="To run the expressions is a way to find their shapes.",
)

# Dot products


@check("pairwise_dots", points=1)
def small_tables_and_gradients(pairwise_dots: Any, draw: Inputs) -> Any:
    """Edge: a single row, a single entry per row, as many rows as entries; one axis in front; float32; gradients."""
    a, b = draw.normal(2, 3).requires_grad_(), draw.normal(4, 3).requires_grad_()
    (pairwise_dots(a, b) * draw.normal(2, 4)).sum().backward()
    single = torch.float32
    return a.grad, (
        b.grad,
        pairwise_dots(draw.normal(1, 6), draw.normal(3, 6)),
        pairwise_dots(draw.normal(4, 1), draw.normal(2, 1)),
        pairwise_dots(draw.normal(3, 3), draw.normal(3, 3)),
        pairwise_dots(draw.normal(5, 2, 4), draw.normal(5, 3, 4)),
        pairwise_dots(draw.normal(2, 7, dtype=single), draw.normal(3, 7, dtype=single)),
    )


@mistake("pairwise_dots", hint=2)
def not_transposed(a, b):
    """It stopped: `a @ b` makes the rows of a meet the columns of b. To meet its rows, swap the last two axes of b
    first.
    """
    return a @ b


@mistake("pairwise_dots", hint=3)
def the_wrong_one_transposed(a, b):
    """It stopped: a was transposed instead of b. In a matrix product the rows of the left one stay rows."""
    return a.mT @ b


@mistake("pairwise_dots", hint=3)
def both_transposed(a, b):
    """It stopped: both tensors were transposed. In a matrix product the rows of the left one stay rows."""
    return a.mT @ b.mT


@mistake("pairwise_dots", hint=3)
def all_axes_reversed(a, b):
    """Right for two tables, but it stopped on a batch: `.T` reverses ALL axes. `.mT` swaps the last two only."""
    return a @ b.permute(*range(b.dim() - 1, -1, -1))


@mistake("pairwise_dots", hint=3)
def first_two_axes_swapped(a, b):
    """Right for two tables, but it stopped on a batch: axes 0 and 1 are not the last two there. Count from the end:
    -2 and -1.
    """
    return a @ b.transpose(0, 1)


@mistake("pairwise_dots", hint=3)
def later_axes_swapped(a, b):
    """It stopped on two tables: they have no axis 2. Count axes from the end, -2 and -1, and any number may be in
    front.
    """
    return a @ b.transpose(1, 2)


@mistake("pairwise_dots", hint=3)
def small_t(a, b):
    """Right for two tables, but `.t()` knows no batch. `.mT` swaps the last two axes, whatever is in front of them."""
    return a @ b.t()


@mistake("pairwise_dots")
def matrices_only(a, b):
    """Right for two tables, but `torch.mm` knows no batch. `@` takes any number of axes in front."""
    return torch.mm(a, b.mT)


@mistake("pairwise_dots")
def batches_only(a, b):
    """It stopped on two tables: `torch.bmm` wants exactly one axis in front. `@` takes any number, or none."""
    return torch.bmm(a, b.mT)


@mistake("pairwise_dots")
def letters_for_two_axes(a, b):
    """Right for two tables, but the equation of einsum names two axes and a batch has more. Three dots stand for the
    others.
    """
    return torch.einsum("md,nd->mn", a, b)


@mistake("pairwise_dots", hint=2)
def vectors_only(a, b):
    """It stopped: `torch.dot` takes two vectors, and these are tables. A matrix product makes them all at once."""
    return torch.dot(a, b)


@mistake("pairwise_dots", hint=2)
def rows_in_pairs(a, b):
    """It stopped: `a * b` multiplies entry by entry, so row i of a meets only row i of b. Every row should meet every
    row.
    """
    return (a * b).sum(dim=-1)


@mistake("pairwise_dots", hint=1)
def rows_of_b_down(a, b):
    """The table is transposed: its rows belong to b. Rows should belong to a and columns to b."""
    return b @ a.mT


@mistake("pairwise_dots")
def every_batch_with_every_batch(a, b):
    """Right for two tables. In a batch, every table met every other one, so there are too many axes. Only tables in the
    same place meet.
    """
    return torch.inner(a, b)


@mistake("pairwise_dots", hint=3)
def batch_made_flat(a, b):
    """Right for two tables. In a batch, all tables were joined into one, so rows of different tables met."""
    return a.reshape(-1, a.size(-1)) @ b.reshape(-1, b.size(-1)).mT


@mistake("pairwise_dots", hint=3)
def batch_axes_joined(a, b):
    """Right for two tables. With two axes in front, these were joined into one. Give them back at the end."""
    made = a.reshape(-1, *a.shape[-2:]) @ b.reshape(-1, *b.shape[-2:]).mT
    return made if a.dim() > 2 else made[0]


@mistake("pairwise_dots")
def always_a_batch(a, b):
    """There is an axis of size 1 too many in front. Two tables give one table."""
    return a.reshape(-1, *a.shape[-2:]) @ b.reshape(-1, *b.shape[-2:]).mT


@mistake("pairwise_dots")
def products_not_summed(a, b):
    """The products were not added up: there is an axis too many, the last one. A dot product is a sum of products."""
    return a[..., :, None, :] * b[..., None, :, :]


@mistake("pairwise_dots")
def averaged(a, b):
    """The products were averaged. A dot product is their sum."""
    return a @ b.mT / a.size(-1)


@mistake("pairwise_dots")
def everything_added(a, b):
    """One number came back: all dot products were added up. Each pair of rows has its own."""
    return (a @ b.mT).sum()


@mistake("pairwise_dots")
def sums_multiplied(a, b):
    """The rows were added up first and then multiplied. Multiply entry by entry first, then add up."""
    return a.sum(dim=-1)[..., :, None] * b.sum(dim=-1)[..., None, :]


@mistake("pairwise_dots")
def first_row_of_a(a, b):
    """Only one row came back: the first row of a met the rows of b. There is one row for each row of a. Does a loop
    return too early?
    """
    return (a @ b.mT)[..., 0, :]


@mistake("pairwise_dots", hint=1)
def a_with_itself(a, b):
    """The rows of a met each other, and b was not used."""
    return a @ a.mT


@mistake("pairwise_dots", hint=1)
def b_with_itself(a, b):
    """The rows of b met each other, and a was not used."""
    return b @ b.mT


@mistake("pairwise_dots")
def scaled(a, b):
    """The dot products were divided by the square root of D, as attention does later. Here they are asked for as they
    are.
    """
    return a @ b.mT / a.size(-1) ** 0.5


@mistake("pairwise_dots")
def cosines(a, b):
    """The dot products were divided by the norms of the rows, which makes cosines. Leave the division out."""
    return functional.normalize(a, dim=-1) @ functional.normalize(b, dim=-1).mT


@mistake("pairwise_dots")
def softmax_on_top(a, b):
    """Softmax was applied to the dot products. Here they are asked for as they are."""
    return (a @ b.mT).softmax(dim=-1)


@mistake("pairwise_dots")
def distances(a, b):
    """These are distances between rows. A dot product multiplies entry by entry and adds up."""
    return torch.cdist(a, b)


@mistake("pairwise_dots")
def entries_added(a, b):
    """The entries of two rows were added, where a dot product multiplies them."""
    return (a[..., :, None, :] + b[..., None, :, :]).sum(dim=-1)


@mistake("pairwise_dots")
def table_of_float32(a, b):
    """The numbers are right, but they are float32 and the inputs are float64. A tensor that you create needs the dtype
    of a: dtype=a.dtype.
    """
    return (a @ b.mT).float()


@mistake("pairwise_dots")
def rounded_to_whole_numbers(a, b):
    """The dot products were cut down to whole numbers, in a tensor of integers. Create it with the dtype of a."""
    return (a @ b.mT).long()


@mistake("pairwise_dots")
def gradients_lost(a, b):
    """The numbers are right, but no gradient comes back: something on the way drops the graph, as detach, .data,
    .item(), torch.tensor and numpy do.
    """
    return (a @ b.mT).detach()


@mistake("pairwise_dots")
def loops_over_the_first_axis(a, b):
    """Right for two tables. With axes in front, a loop over a runs over its first axis, and a[i] is no longer a row."""
    dots = torch.zeros(a.size(0), b.size(0), dtype=a.dtype)
    for i in range(a.size(0)):
        for j in range(b.size(0)):
            dots[i, j] = (a[i] * b[j]).sum()
    return dots


@mistake("pairwise_dots")
def loops_of_dot(a, b):
    """Right for two tables. With axes in front, a[i] is a table, and `torch.dot` takes vectors. `@` takes any number of
    axes.
    """
    return torch.stack([torch.stack([torch.dot(x, y) for y in b]) for x in a])


@mistake("pairwise_dots")
def one_loop_over_a(a, b):
    """Right for two tables. With axes in front, `for row in a` gives tables, not rows. `@` needs no loop."""
    return torch.stack([b @ row for row in a])


@mistake("pairwise_dots", hint=1)
def one_loop_over_b(a, b):
    """Two things: the rows of the result belong to b, not to a; and with axes in front, `for row in b` gives tables."""
    return torch.stack([a @ row for row in b])


@mistake("pairwise_dots")
def new_axes_from_the_left(a, b):
    """Right for two tables. With axes in front, the new axes are in the wrong places. Count from the end: ..., None, :
    and so on.
    """
    return (a[:, None] * b[None]).sum(dim=-1)


@mistake("pairwise_dots")
def sum_over_rows_of_b(a, b):
    """The products were added up along the wrong axis, over the rows of b. Add along the last one, which both share."""
    return (a[..., :, None, :] * b[..., None, :, :]).sum(dim=-2)


@mistake("pairwise_dots")
def sum_over_rows_of_a(a, b):
    """The products were added up along the wrong axis, over the rows of a. Add along the last one, which both share."""
    return (a[..., :, None, :] * b[..., None, :, :]).sum(dim=-3)


@mistake("pairwise_dots", hint=3)
def reshaped(a, b):
    """b was reshaped, which fills another shape row by row and mixes its entries up. Swap its axes instead."""
    return a @ b.reshape(*b.shape[:-2], b.size(-1), b.size(-2))


@mistake("pairwise_dots", hint=3)
def the_other_way(a, b):
    """It stopped: b is on the left. The one on the left gives the rows of the result, and these belong to a."""
    return b.mT @ a


@mistake("pairwise_dots", hint=3)
def exactly_three_axes(a, b):
    """It stopped on two tables: permute names three axes. Swap the last two by counting from the end, -2 and -1."""
    return a @ b.permute(0, 2, 1)


@mistake("pairwise_dots")
def signs_dropped(a, b):
    """The signs are gone: these are absolute values. A dot product may be negative."""
    return (a @ b.mT).abs()


# Rows that sum to 1


@check("normalise_rows", points=1)
def small_and_square_tables(normalise_rows: Any, draw: Inputs) -> Any:
    """Edge: square tables, a single row, a single column, one axis in front; float32; gradients; x as it was."""
    x = positive(draw, 2, 3).requires_grad_()
    (normalise_rows(x) * draw.normal(2, 3)).sum().backward()
    kept = positive(draw, 4, 3)
    before = kept.clone()
    return x.grad, (
        normalise_rows(positive(draw, 3, 3)),
        normalise_rows(positive(draw, 1, 5)),
        normalise_rows(positive(draw, 4, 1)),
        normalise_rows(positive(draw, 4, 2, 3)),
        normalise_rows(positive(draw, 2, 5, dtype=torch.float32)),
        normalise_rows(kept),
        bool(kept.equal(before)),
    )


@mistake("normalise_rows", hint=2)
def axis_not_kept(x):
    """It stopped: without keepdim=True the sums lose their axis and line up with the columns. Only a square table would
    fit, and come out wrong.
    """
    return x / x.sum(dim=-1)


@mistake("normalise_rows", hint=1)
def columns_sum_to_one(x):
    """The columns sum to 1 instead of the rows. A row runs along the last axis: dim=-1."""
    return x / x.sum(dim=-2, keepdim=True)


@mistake("normalise_rows", hint=1)
def first_axis(x):
    """The sums run along the first axis, dim=0. A row runs along the last one: dim=-1."""
    return x / x.sum(dim=0, keepdim=True)


@mistake("normalise_rows", hint=1)
def second_axis(x):
    """Right for a table. With axes in front, dim=1 is no longer the last axis. Count from the end: dim=-1."""
    return x / x.sum(dim=1, keepdim=True)


@mistake("normalise_rows", hint=1)
def one_sum_for_all(x):
    """All entries together sum to 1: x was divided by the sum of everything. Each row has its own sum: dim=-1."""
    return x / x.sum()


@mistake("normalise_rows", hint=1)
def one_sum_per_table(x):
    """Each table sums to 1, not each row: the sums run over the last two axes. A row is the last axis alone."""
    return x / x.sum(dim=(-2, -1), keepdim=True)


@mistake("normalise_rows", hint=1)
def one_sum_per_item(x):
    """Right for a table. With axes in front, a loop over x runs over its first axis, and x[i] is no longer a row."""
    return torch.stack([part / part.sum() for part in x])


@mistake("normalise_rows", hint=3)
def changed_in_place(x):
    """You changed the caller's tensor: `/=` and x[...] = ... write into x itself. Make a new tensor with `/`."""
    x /= x.sum(dim=-1, keepdim=True)
    return x


@mistake("normalise_rows", hint=2)
def column_by_none(x):
    """Right for a table. [:, None] puts the new axis in second place, and it belongs in last place: keepdim=True."""
    return x / x.sum(dim=-1)[:, None]


@mistake("normalise_rows", hint=2)
def column_by_reshape(x):
    """Right for a table. With axes in front, the sums were made into one long column. keepdim=True keeps all axes."""
    return x / x.sum(dim=-1).reshape(-1, 1)


@mistake("normalise_rows")
def softmaxed(x):
    """Softmax was used: it takes e to the power of each entry first. Here the entries themselves are divided."""
    return x.softmax(dim=-1)


@mistake("normalise_rows")
def unit_norm(x):
    """Each row was divided by its norm, the root of the sum of squares. Divide by the sum of the entries."""
    return x / x.norm(dim=-1, keepdim=True)


@mistake("normalise_rows")
def ready_made_normalize(x):
    """F.normalize was used with its defaults: it divides by the norm, along axis 1. Divide by the sum, along the last
    axis.
    """
    return functional.normalize(x)


@mistake("normalise_rows")
def largest_is_one(x):
    """Each row was divided by its largest entry, so that this is 1. Divide by the sum."""
    return x / x.amax(dim=-1, keepdim=True)


@mistake("normalise_rows")
def divided_by_the_mean(x):
    """Each row was divided by its mean, so it sums to its number of entries. Divide by the sum."""
    return x / x.mean(dim=-1, keepdim=True)


@mistake("normalise_rows")
def divided_by_the_length(x):
    """Each row was divided by its number of entries. Divide by the sum of the entries."""
    return x / x.size(-1)


@mistake("normalise_rows")
def mean_subtracted(x):
    """The mean was subtracted from each row, so it sums to 0. Divide by the sum."""
    return x - x.mean(dim=-1, keepdim=True)


@mistake("normalise_rows")
def sum_subtracted(x):
    """The sum was subtracted. Divide by it."""
    return x - x.sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def standardized(x):
    """Each row was shifted to mean 0 and scaled to standard deviation 1. Here it is only divided by its sum."""
    away = x - x.mean(dim=-1, keepdim=True)
    variance = (away**2).sum(dim=-1, keepdim=True) / (x.size(-1) - 1)
    return away / variance.sqrt()


@mistake("normalise_rows")
def between_zero_and_one(x):
    """Each row was stretched from 0 to 1 by its smallest and largest entry. Here it is only divided by its sum."""
    low, high = x.amin(dim=-1, keepdim=True), x.amax(dim=-1, keepdim=True)
    return (x - low) / (high - low + 1e-12)


@mistake("normalise_rows")
def multiplied(x):
    """Each row was multiplied by its sum. Divide by it."""
    return x * x.sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def upside_down(x):
    """The fraction is upside down: the sum was divided by the entries. Divide the entries by the sum."""
    return x.sum(dim=-1, keepdim=True) / x


@mistake("normalise_rows")
def only_the_sums(x):
    """These are the sums, one per row. Divide x by them."""
    return x.sum(dim=-1, keepdim=True)


@mistake("normalise_rows", hint=2)
def only_the_sums_flat(x):
    """These are the sums, and their axis is gone as well. Divide x by them; keepdim=True keeps the axis."""
    return x.sum(dim=-1)


@mistake("normalise_rows")
def sum_of_the_result(x):
    """The sums of the finished rows came back. Return the rows."""
    return (x / x.sum(dim=-1, keepdim=True)).sum(dim=-1)


@mistake("normalise_rows", hint=1)
def sum_of_the_first_row(x):
    """Every row was divided by the sum of the first one. Each row has its own sum."""
    return x / x[..., :1, :].sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def whole_division(x):
    """Everything was rounded down: // drops what is behind the decimal point. Divide with /."""
    return x // x.sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def twice(x):
    """The rows were divided by their number as well as by their sum, so the whole table sums to 1. Divide by the sum
    only.
    """
    return x / x.sum(dim=-1, keepdim=True) / x.size(-2)


@mistake("normalise_rows")
def running_sums(x):
    """Each entry was divided by the sum up to it. Divide all entries of a row by the same sum: sum, not cumsum."""
    return x / x.cumsum(dim=-1)


@mistake("normalise_rows", hint=3)
def left_as_it_was(x):
    """x came back as it was. Is the result of the division what you return?"""
    return x.clone()


@mistake("normalise_rows")
def in_float32(x):
    """The numbers are right, but they are float32 and x is float64. A tensor that you create needs the dtype of x."""
    return (x / x.sum(dim=-1, keepdim=True)).float()


@mistake("normalise_rows")
def result_and_sums(x):
    """Two things came back, separated by a comma. Return the divided rows alone."""
    sums = x.sum(dim=-1, keepdim=True)
    return x / sums, sums


@mistake("normalise_rows")
def transposed(x):
    """The numbers are right, but the table is transposed. Rows stay rows."""
    return (x / x.sum(dim=-1, keepdim=True)).mT


@mistake("normalise_rows")
def rows_then_columns(x):
    """After the rows, the columns were divided by their sums as well, so the rows no longer sum to 1."""
    x = x / x.sum(dim=-1, keepdim=True)
    return x / x.sum(dim=-2, keepdim=True)


@mistake("normalise_rows")
def squares_shared(x):
    """These are the squares of the entries, divided by their sum. Divide the entries themselves."""
    return x**2 / (x**2).sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def roots_shared(x):
    """Each row was divided by the root of its sum. Divide by the sum itself."""
    return x / x.sum(dim=-1, keepdim=True).sqrt()


@mistake("normalise_rows", hint=1)
def first_two_axes(x):
    """The sums run over two axes, 0 and 1, which in a table is everything. A row is the last axis alone: dim=-1."""
    return x / x.sum(dim=(0, 1), keepdim=True)


@mistake("normalise_rows")
def rounded(x):
    """The result was rounded to two decimals, so the rows no longer sum to exactly 1. Leave the rounding out."""
    return (x / x.sum(dim=-1, keepdim=True)).round(decimals=2)


@mistake("normalise_rows")
def one_added_to_the_sum(x):
    """Something was added to the sums, so the rows sum to less than 1. The entries are positive: no sum is 0."""
    return x / (x.sum(dim=-1, keepdim=True) + 1)


@mistake("normalise_rows", hint=3)
def loop_that_writes_into_x(x):
    """Two things: writing x[i] = ... changes the caller's tensor; and with axes in front, x[i] is no longer a row."""
    for i in range(x.size(0)):
        x[i] = x[i] / x[i].sum()
    return x


@mistake("normalise_rows", hint=3)
def changed_through_data(x):
    """You changed the caller's tensor: `.data` is the same memory under another name. Make a new tensor with `/`."""
    x.data /= x.data.sum(dim=-1, keepdim=True)
    return x


@mistake("normalise_rows", hint=2)
def transposed_and_back(x):
    """Right for a table. With axes in front, `.T` reverses all axes, so the sums meet the wrong one. keepdim=True needs
    no transpose.
    """
    back = tuple(range(x.dim() - 1, -1, -1))
    return (x.permute(back) / x.sum(dim=-1)).permute(back)


@mistake("normalise_rows", hint=2)
def swapped_and_back(x):
    """Right for a table. With axes in front, each table met the sums of all tables. The sums need an axis of size 1,
    which keepdim=True gives.
    """
    return (x.mT / x.sum(dim=-1)).mT


@mistake("normalise_rows")
def nothing_returned(x):
    """Nothing came back: the result is None. A function needs a `return` for what it has calculated."""
    return


@mistake("normalise_rows")
def gradient_lost(x):
    """The numbers are right, but no gradient comes back: something on the way drops the graph, as detach, .data,
    .item(), torch.tensor and numpy do.
    """
    return x.detach() / x.detach().sum(dim=-1, keepdim=True)


@mistake("normalise_rows")
def gradient_through_one_part(x):
    """The numbers are right, but half of the gradient is missing: the sums are detached. They depend on x as well."""
    return x / x.detach().sum(dim=-1, keepdim=True)


# Shapes


def numbers_of_axes(answers: Any) -> dict[str, int]:
    """Count the axes of each answer; -1 where it is no shape."""
    return {
        expression: len(answer) if isinstance(answer, tuple | list) else -1
        for expression, answer in six_answers(answers).items()
    }


@check("shapes", points=1, summary=numbers_of_axes)
def six_numbers_of_axes(shapes: Any, draw: Inputs) -> Any:
    """The number of axes of each of the six, whatever their sizes."""
    return shapes()


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


@mistake("shapes", hint=1)
def product_keeps_both_inner_sizes():
    """a @ b: you wrote all sizes of a and b one after the other. The two axes that meet, both of size 4, disappear."""
    return answers_but(product=(2, 3, 4, 4, 5))


@mistake("shapes", hint=1)
def product_keeps_one_inner_size():
    """a @ b: the size 4 of the axes that meet is still there. Each entry is a sum over that axis, so it disappears."""
    return answers_but(product=(2, 3, 4, 5))


@mistake("shapes", hint=1)
def product_changes_nothing():
    """a @ b: that is the shape of a itself. Its last axis meets b and disappears. What takes its place?"""
    return answers_but(product=(2, 3, 4))


@mistake("shapes", hint=2)
def product_without_the_front():
    """a @ b: the axis in front is missing. b has no such axis, so it is used for each of the two tables in a."""
    return answers_but(product=(3, 5))


@mistake("shapes", hint=1)
def product_without_the_rows():
    """a @ b: the rows of a are missing. Only the axis that meets b disappears."""
    return answers_but(product=(2, 5))


@mistake("shapes", hint=1)
def product_loses_the_columns():
    """a @ b: the columns of b are missing. A product with a table is a table again, or a batch of them."""
    return answers_but(product=(2, 3))


@mistake("shapes", hint=1)
def product_with_the_wrong_axis():
    """a @ b: the wrong axis of a disappeared. Its last axis, of size 4, is the one that meets b."""
    return answers_but(product=(2, 4, 5))


@mistake("shapes")
def product_transposed():
    """a @ b: rows and columns are swapped. The rows of the left one come first, then the columns of the right one."""
    return answers_but(product=(2, 5, 3))


@mistake("shapes", hint=1)
def product_is_b():
    """a @ b: that is the shape of b. The axes of a come first, all but the last, and then the columns of b."""
    return answers_but(product=(4, 5))


@mistake("shapes")
def all_axes_swapped():
    """a.mT: all axes were reversed, which is what .T would do. The m stands for matrix: the last two axes alone."""
    return answers_but(swap=(4, 3, 2))


@mistake("shapes")
def front_axes_swapped():
    """a.mT: the first two axes were swapped. The m stands for matrix, and that is the last two axes."""
    return answers_but(swap=(3, 2, 4))


@mistake("shapes")
def last_axis_first():
    """a.mT: the last axis moved to the front. Only two axes change places, the last two; the first one stays."""
    return answers_but(swap=(4, 2, 3))


@mistake("shapes")
def first_axis_last():
    """a.mT: the first axis moved to the end. It stays in front, and the two behind it change places."""
    return answers_but(swap=(3, 4, 2))


@mistake("shapes")
def nothing_swapped():
    """a.mT: that is the shape of a itself. Which two axes does .mT swap?"""
    return answers_but(swap=(2, 3, 4))


@mistake("shapes")
def swap_without_the_front():
    """a.mT: the first axis is missing. It stays where it is, and the tables behind it are transposed."""
    return answers_but(swap=(4, 3))


@mistake("shapes", hint=1)
def sum_like_c():
    """c + d: that is the shape of c. Its last axis has size 1, so it stretches to what it meets in d."""
    return answers_but(both=(3, 1))


@mistake("shapes", hint=1)
def sum_like_d():
    """c + d: that is the shape of d. d has no axis that meets the first one of c, so d is repeated along it."""
    return answers_but(both=(5,))


@mistake("shapes", hint=1)
def sum_crosswise():
    """c + d: the axes are in the wrong order. Write the shapes above one another, flush right, and compare column by
    column.
    """
    return answers_but(both=(5, 3))


@mistake("shapes", hint=1)
def sum_with_all_axes():
    """c + d: you wrote the axes one after the other. They are lined up from the right: the last ones meet."""
    return answers_but(both=(3, 1, 5))


@mistake("shapes", hint=2)
def sum_of_the_sizes():
    """c + d: the sizes were added. Adding tensors adds entries, never sizes; an axis of size 1 stretches."""
    return answers_but(both=(3, 6))


@mistake("shapes", hint=1)
def sum_with_one_axis_left():
    """c + d: one axis is missing. The result has as many axes as the tensor with more of them."""
    return answers_but(both=(3,))


@mistake("shapes", hint=1)
def sum_in_one_row():
    """c + d: the number of entries is right, but they are not in one row: c lies along one axis and d along another."""
    return answers_but(both=(15,))


@mistake("shapes", hint=2)
def sum_kept_its_axis():
    """a.sum(dim=-1): the axis is still there, with size 1. Without keepdim=True it disappears."""
    return answers_but(total=(2, 3, 1))


@mistake("shapes")
def sum_over_the_first():
    """a.sum(dim=-1): the first axis disappeared. -1 counts from the end."""
    return answers_but(total=(3, 4))


@mistake("shapes")
def sum_over_the_middle():
    """a.sum(dim=-1): the middle axis disappeared. -1 is the last one; the middle one of three is -2."""
    return answers_but(total=(2, 4))


@mistake("shapes", hint=2)
def sum_of_everything():
    """a.sum(dim=-1): every axis disappeared. With dim, only that one does."""
    return answers_but(total=())


@mistake("shapes", hint=2)
def sum_of_one_axis_left():
    """a.sum(dim=-1): only the last axis is left. It is the other way: that axis is the one that disappears."""
    return answers_but(total=(4,))


@mistake("shapes", hint=2)
def sum_changes_nothing():
    """a.sum(dim=-1): that is the shape of a itself. A sum makes one number out of a whole axis."""
    return answers_but(total=(2, 3, 4))


@mistake("shapes", hint=2)
def mean_lost_its_axis():
    """a.mean(dim=1, keepdim=True): the axis disappeared. What does keepdim=True keep?"""
    return answers_but(mean=(2, 4))


@mistake("shapes")
def mean_over_the_first():
    """a.mean(dim=1, keepdim=True): the first axis was averaged. Axes are counted from 0, so which one is axis 1?"""
    return answers_but(mean=(1, 3, 4))


@mistake("shapes")
def mean_over_the_last():
    """a.mean(dim=1, keepdim=True): the last axis was averaged. Axes are counted from 0, so which one is axis 1?"""
    return answers_but(mean=(2, 3, 1))


@mistake("shapes")
def mean_keeps_only_one():
    """a.mean(dim=1, keepdim=True): the last axis is missing. Only the axis that dim names is averaged."""
    return answers_but(mean=(2, 1))


@mistake("shapes", hint=2)
def mean_changes_nothing():
    """a.mean(dim=1, keepdim=True): that is the shape of a itself. keepdim keeps the axis, but not its size: one mean is
    left of it.
    """
    return answers_but(mean=(2, 3, 4))


@mistake("shapes")
def mean_of_everything():
    """a.mean(dim=1, keepdim=True): every axis was averaged. With dim, only that one is."""
    return answers_but(mean=(1, 1, 1))


@mistake("shapes")
def all_flat():
    """a.flatten(1): everything was joined into one axis. The 1 says where joining begins, counted from 0."""
    return answers_but(flat=(24,))


@mistake("shapes")
def front_joined():
    """a.flatten(1): the first two axes were joined. Joining begins at axis 1, counted from 0, and goes to the end."""
    return answers_but(flat=(6, 4))


@mistake("shapes", hint=3)
def sizes_added():
    """a.flatten(1): the sizes were added. Joined axes hold every combination, so their sizes are multiplied."""
    return answers_but(flat=(2, 7))


@mistake("shapes", hint=3)
def flat_changes_nothing():
    """a.flatten(1): that is the shape of a itself. The axes from 1 on become one."""
    return answers_but(flat=(2, 3, 4))


@mistake("shapes", hint=3)
def flat_lost_the_front():
    """a.flatten(1): the first axis is missing. It is before axis 1, so it stays as it is."""
    return answers_but(flat=(12,))


@mistake("shapes")
def flat_the_wrong_way():
    """a.flatten(1): the axes are in the wrong order. What is not joined stays in front."""
    return answers_but(flat=(12, 2))


@mistake("shapes")
def flat_with_one_kept():
    """a.flatten(1): there is an axis of size 1. Joining leaves one axis where there were two, and no trace."""
    return answers_but(flat=(2, 1, 12))


@mistake("shapes")
def number_without_a_comma():
    """a.flatten(1): a single number is not a shape, which is a tuple: write every size, in parentheses, with commas."""
    return answers_but(flat=24)


@mistake("shapes", hint=1)
def sum_without_a_comma():
    """c + d: (5) is the number 5, since a tuple of one needs a comma, (5,). It is not the right shape either."""
    return answers_but(both=5)


@mistake("shapes")
def shapes_as_text():
    """The shapes are in quotation marks, which makes them text. Only the keys are text; a shape is a tuple."""
    return {key: str(shape) for key, shape in answers_but().items()}


@mistake("shapes")
def tensors_instead():
    """These are tensors. Write the shapes that you worked out, as tuples of whole numbers."""
    return {key: torch.zeros(shape) for key, shape in answers_but().items()}


@mistake("shapes")
def list_of_shapes():
    """The shapes came back without their keys. A dictionary was asked for: each expression, a colon, its shape."""
    return list(answers_but().values())


@mistake("shapes")
def keys_without_spaces():
    """The keys are spelled without spaces. Copy them from the docstring: a dictionary finds only what is equal to the
    letter.
    """
    return {key.replace(" ", ""): shape for key, shape in answers_but().items()}
