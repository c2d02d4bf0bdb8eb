"""The hidden checks of lesson 9, and the mistakes that students make in it. Never given to students."""

from contextlib import contextmanager
from typing import Any

import torch
from checks import (
    ROWS,
    attention_for,
    described,
    generator_of,
    given,
    looks,
)
from torch import nn
from torch.nn.utils import parametrize

from autograder.checks import Inputs, check, mistake

# Sequences that repeat

EDGES = (
    (12, 6, 6),  # no freedom: one period, and a token for each of its places
    (9, 4, 1),
    (40, 20, 3),
    (3, 1, 1),
)


def described_edges(measured: Any) -> Any:
    """Describe a batch of each of some sizes."""
    return [
        described(tuple(sizes), result, ROWS)
        for *sizes, result in ((*s, r) for s, r in measured)
    ]


@check("make_repeating_batch", points=1, summary=described_edges)
def small_and_tight(make_repeating_batch: Any, draw: Inputs) -> Any:
    """Other lengths, short periods, a single possible period, and the smallest vocabulary that is allowed."""
    generator = generator_of(draw.integer(0, 999))
    return [
        (
            (length, vocab, shortest),
            make_repeating_batch(
                ROWS, length, vocab, generator=generator, min_period=shortest
            ),
        )
        for length, vocab, shortest in EDGES
    ]


def periods_of(batch, length, generator, min_period):
    """Draw the periods."""
    return torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)


def orders_of(batch, vocab, generator):
    """Draw a permutation of the vocabulary for each row."""
    return torch.rand(batch, vocab, generator=generator).argsort(dim=-1)


def repeated(order, periods, length):
    """Write each row's first tokens again and again."""
    return order.gather(1, torch.arange(length) % periods[:, None])


def row_by_row(batch, length, generator, min_period, row):
    """Build the rows one at a time."""
    periods = periods_of(batch, length, generator, min_period)
    rows = [row(p) for p in periods.tolist()]
    return torch.stack(rows), periods


@mistake("make_repeating_batch", hint=3)
def one_period_for_all(batch, length, vocab, *, generator, min_period=6):
    """All rows of a batch have the same period. Then position alone tells where to look, and nothing needs to be
    compared: draw one for each row.
    """
    periods = periods_of(1, length, generator, min_period).expand(batch)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def fixed_period(batch, length, vocab, *, generator, min_period=6):
    """Every row of every batch has the same period. Then position alone solves the task. Draw a period for each row."""
    periods = torch.full((batch,), min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def largest_period_left_out(batch, length, vocab, *, generator, min_period=6):
    """The largest period never occurs: randint leaves its upper limit out, but length // 2 is included."""
    periods = torch.randint(min_period, length // 2, (batch,), generator=generator)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def smallest_period_left_out(batch, length, vocab, *, generator, min_period=6):
    """The smallest period never occurs. It may be min_period itself."""
    periods = torch.randint(
        min_period + 1, length // 2 + 1, (batch,), generator=generator
    )
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def smaller_by_one(batch, length, vocab, *, generator, min_period=6):
    """Every period is smaller by one than it should be, at both ends of the range. Which limit does randint include?"""
    periods = torch.randint(min_period - 1, length // 2, (batch,), generator=generator)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch")
def periods_too_long(batch, length, vocab, *, generator, min_period=6):
    """Some periods are longer than half a sequence, which then ends before it has repeated once. Stop at
    length // 2.
    """
    periods = torch.randint(min_period, length, (batch,), generator=generator)
    first = torch.cat([orders_of(batch, vocab, generator)] * 2, dim=1)
    return first.gather(1, torch.arange(length) % periods[:, None]), periods


@mistake("make_repeating_batch", hint=3)
def one_too_long(batch, length, vocab, *, generator, min_period=6):
    """The largest period is one too long: the sequence then ends before its first period has come twice. Stop at
    length // 2.
    """
    periods = periods_of(batch, length + 2, generator, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch")
def periods_up_to_the_length(batch, length, vocab, *, generator, min_period=6):
    """It stopped: a period longer than half a sequence needs more tokens than the vocabulary may have. The largest is
    length // 2.
    """
    periods = torch.randint(min_period, length + 1, (batch,), generator=generator)
    periods[0] = length
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch")
def min_period_ignored(batch, length, vocab, *, generator, min_period=6):
    """min_period had no effect: the shortest period drawn is not the one that was asked for."""
    periods = periods_of(batch, length, generator, min(6, length // 2))
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch")
def periods_from_one(batch, length, vocab, *, generator, min_period=6):
    """There are periods shorter than min_period. They start there, not at 1."""
    periods = periods_of(batch, length, generator, 1)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=2)
def tokens_twice(batch, length, vocab, *, generator, min_period=6):
    """Within one period, a token occurs twice, so it has two successors. Draw without replacement, as from a shuffled
    vocabulary.
    """
    periods = periods_of(batch, length, generator, min_period)
    order = torch.randint(vocab, (batch, length), generator=generator)
    return repeated(order, periods, length), periods


@mistake("make_repeating_batch", hint=2)
def one_token_held(batch, length, vocab, *, generator, min_period=6):
    """Each token is written a whole period long before the next one comes: that is division. You want the remainder."""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, max(vocab, length), generator) % vocab
    return order.gather(1, torch.arange(length) // periods[:, None]), periods


@mistake("make_repeating_batch", hint=2)
def token_by_token(batch, length, vocab, *, generator, min_period=6):
    """Each token is written several times in a row before the next one comes. Repeat the whole run of tokens, not its
    entries.
    """

    def row(p):
        first = torch.randperm(vocab, generator=generator)[:p]
        return first.repeat_interleave(length // p + 1)[:length]

    return row_by_row(batch, length, generator, min_period, row)


@mistake("make_repeating_batch", hint=3)
def generator_ignored(batch, length, vocab, *, generator, min_period=6):
    """Equal generators gave different batches: what was drawn did not come from the generator. Pass it to every call
    that draws.
    """
    return repeated(
        orders_of(batch, vocab, None),
        p := periods_of(batch, length, None, min_period),
        length,
    ), p


@mistake("make_repeating_batch", hint=3)
def tokens_without_the_generator(batch, length, vocab, *, generator, min_period=6):
    """The periods come from the generator, the tokens do not. Every call that draws needs it."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, None), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def periods_without_the_generator(batch, length, vocab, *, generator, min_period=6):
    """The tokens come from the generator, the periods do not. Every call that draws needs it."""
    periods = periods_of(batch, length, None, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def seed_of_its_own(batch, length, vocab, *, generator, min_period=6):
    """Every call gives the same batch, whatever the generator. Draw from the one that is passed in, and do not seed
    it.
    """
    own = torch.Generator().manual_seed(0)
    periods = periods_of(batch, length, own, min_period)
    return repeated(orders_of(batch, vocab, own), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def started_again(batch, length, vocab, *, generator, min_period=6):
    """Two calls with one generator gave the same batch: a model would see no other. Draw from the generator itself, not
    from a copy or its seed.
    """
    own = torch.Generator().manual_seed(generator.initial_seed())
    periods = periods_of(batch, length, own, min_period)
    return repeated(orders_of(batch, vocab, own), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def same_tokens_in_every_batch(batch, length, vocab, *, generator, min_period=6):
    """Every batch has the same tokens: only the periods come from the generator. The orders have to be drawn from it
    too, anew in each call.
    """
    periods = periods_of(batch, length, generator, min_period)
    own = torch.Generator().manual_seed(0)
    return repeated(orders_of(batch, vocab, own), periods, length), periods


@mistake("make_repeating_batch", hint=3)
def one_order_for_all(batch, length, vocab, *, generator, min_period=6):
    """All rows begin with the same tokens. A model could learn them by heart: give each row an order of its own."""
    periods = periods_of(batch, length, generator, min_period)
    order = torch.randperm(vocab, generator=generator).expand(batch, vocab)
    return repeated(order, periods, length), periods


@mistake("make_repeating_batch", hint=3)
def shifted_copies(batch, length, vocab, *, generator, min_period=6):
    """Two tokens often follow each other in many rows: the rows are cut from one order. Shuffle anew for each row."""
    periods = periods_of(batch, length, generator, min_period)
    order = torch.randperm(vocab, generator=generator)
    start = torch.randint(vocab, (batch, 1), generator=generator)
    return repeated(
        order[(start + torch.arange(vocab)) % vocab], periods, length
    ), periods


@mistake("make_repeating_batch", hint=2)
def same_first_token(batch, length, vocab, *, generator, min_period=6):
    """Every row begins with the same token. That place should be as random as the others."""
    periods = periods_of(batch, length, generator, min_period)
    order = 1 + torch.rand(batch, vocab - 1, generator=generator).argsort(dim=-1)
    order = torch.cat([torch.zeros(batch, 1, dtype=torch.long), order], dim=1)
    return repeated(order, periods, length), periods


@mistake("make_repeating_batch", hint=2)
def counting_on(batch, length, vocab, *, generator, min_period=6):
    """The tokens of a row count up by one from a random start. The order should be random too."""
    periods = periods_of(batch, length, generator, min_period)
    start = torch.randint(vocab, (batch, 1), generator=generator)
    return repeated((start + torch.arange(vocab)) % vocab, periods, length), periods


@mistake("make_repeating_batch", hint=2)
def not_shuffled(batch, length, vocab, *, generator, min_period=6):
    """Every row is 0, 1, 2 and so on up to its period. The tokens should be drawn from the vocabulary."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(torch.arange(vocab).expand(batch, vocab), periods, length), periods


@mistake("make_repeating_batch", hint=2)
def in_ascending_order(batch, length, vocab, *, generator, min_period=6):
    """The tokens of a period always ascend. Which tokens occur is random here; their order should be, too."""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, vocab, generator)
    rows = [
        torch.cat([o[:p].sort().values, o[p:]])
        for o, p in zip(order, periods, strict=True)
    ]
    return repeated(torch.stack(rows), periods, length), periods


@mistake("make_repeating_batch", hint=2)
def tokens_up_to_the_period(batch, length, vocab, *, generator, min_period=6):
    """A row with period P has the tokens 0 to P - 1 only, shuffled. Draw its tokens from the whole vocabulary."""
    row = lambda p: torch.randperm(p, generator=generator)[torch.arange(length) % p]  # noqa: E731
    return row_by_row(batch, length, generator, min_period, row)


@mistake("make_repeating_batch", hint=2)
def part_of_the_vocabulary(batch, length, vocab, *, generator, min_period=6):
    """The largest tokens never occur. Draw from the whole vocabulary: 0 to vocab - 1, both included."""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(
        batch, max(length // 2, min(vocab - 1, length // 2 + 1)), generator
    )
    return repeated(order, periods, length), periods


@mistake("make_repeating_batch")
def tokens_from_one(batch, length, vocab, *, generator, min_period=6):
    """The tokens run from 1 to vocab. They start at 0, so the last one is vocab - 1."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, generator) + 1, periods, length), periods


@mistake("make_repeating_batch", hint=2)
def without_token_zero(batch, length, vocab, *, generator, min_period=6):
    """Token 0 never occurs. The vocabulary starts there."""
    periods = periods_of(batch, length, generator, min_period)
    order = 1 + orders_of(batch, vocab - 1, generator)
    order = order if vocab - 1 >= length // 2 else torch.cat([order, order[:, :1]], 1)
    return repeated(order, periods, length), periods


@mistake("make_repeating_batch")
def other_periods_returned(batch, length, vocab, *, generator, min_period=6):
    """The sequences repeat, but not with the periods that were returned: those were drawn a second time, or are in
    another order.
    """
    periods = periods_of(batch, length, generator, min_period)
    tokens = repeated(orders_of(batch, vocab, generator), periods, length)
    return tokens, periods_of(batch, length, generator, min_period)


@mistake("make_repeating_batch", hint=2)
def repeated_one_short(batch, length, vocab, *, generator, min_period=6):
    """The sequences repeat one token too early: with period P, place P has the first token again, and P - 1 does not
    yet.
    """
    periods = periods_of(batch, length, generator, min_period)
    places = torch.arange(length) % (periods[:, None] - 1).clamp(min=1)
    return orders_of(batch, vocab, generator).gather(1, places), periods


@mistake("make_repeating_batch", hint=2)
def repeated_one_late(batch, length, vocab, *, generator, min_period=6):
    """The sequences repeat one token too late: with period P, place P has the first token again."""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, vocab, generator)
    order = torch.cat([order, order[:, -1:]], dim=1)
    return order.gather(1, torch.arange(length) % (periods[:, None] + 1)), periods


@mistake("make_repeating_batch")
def first_period_for_tokens(batch, length, vocab, *, generator, min_period=6):
    """Each row has a period of its own, but the tokens of all rows repeat with the same one. Which row's was used?"""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, vocab, generator)
    return repeated(order, periods[:1].expand(batch), length), periods


@mistake("make_repeating_batch", hint=2)
def never_repeated(batch, length, vocab, *, generator, min_period=6):
    """The first period is right, but other tokens follow. Every later token is the one from a period before."""
    periods = periods_of(batch, length, generator, min_period)
    tokens = repeated(orders_of(batch, vocab, generator), periods, length)
    later = torch.arange(length) >= periods[:, None]
    others = torch.randint(vocab, (batch, length), generator=generator)
    return torch.where(later, others, tokens), periods


@mistake("make_repeating_batch", hint=2)
def repeated_only_once(batch, length, vocab, *, generator, min_period=6):
    """The first period comes twice and then stops. Repeat it until the sequence is full, cut off where the length
    ends.
    """
    periods = periods_of(batch, length, generator, min_period)
    tokens = repeated(orders_of(batch, vocab, generator), periods, length)
    return tokens * (torch.arange(length) < 2 * periods[:, None]), periods


@mistake("make_repeating_batch", hint=2)
def back_and_forth(batch, length, vocab, *, generator, min_period=6):
    """The second period runs backward: the rows are mirrored. Each repetition starts from the first token again."""
    periods = periods_of(batch, length, generator, min_period)
    order, places = orders_of(batch, vocab, generator), torch.arange(length)
    odd = (places // periods[:, None]) % 2 == 1
    forward = places % periods[:, None]
    return order.gather(
        1, torch.where(odd, periods[:, None] - 1 - forward, forward)
    ), periods


@mistake("make_repeating_batch", hint=2)
def shuffled_each_time(batch, length, vocab, *, generator, min_period=6):
    """Each repetition has the same tokens in another order. Shuffle once per row, then repeat that order."""

    def row(p):
        first = torch.randperm(vocab, generator=generator)[:p]
        turns = [first]
        while len(turns) * p < length:
            turns.append(first.roll(len(turns)))
        return torch.cat(turns)[:length]

    return row_by_row(batch, length, generator, min_period, row)


@mistake("make_repeating_batch", hint=3)
def periods_in_turn(batch, length, vocab, *, generator, min_period=6):
    """Every generator gave the same periods: they are not drawn but counted through. Draw them."""
    periods = min_period + torch.arange(batch) % (length // 2 - min_period + 1)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods


@mistake("make_repeating_batch")
def swapped(batch, length, vocab, *, generator, min_period=6):
    """These are the right tensors in the wrong order: tokens should come first, then periods."""
    periods = periods_of(batch, length, generator, min_period)
    return periods, repeated(orders_of(batch, vocab, generator), periods, length)


@mistake("make_repeating_batch")
def tokens_alone(batch, length, vocab, *, generator, min_period=6):
    """One tensor came back. Return the tokens and the periods: without these nobody knows where to look."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length)


@mistake("make_repeating_batch")
def periods_in_a_column(batch, length, vocab, *, generator, min_period=6):
    """The periods are a column, (B, 1). That helps while you calculate; return them as (B,)."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length), periods[
        :, None
    ]


@mistake("make_repeating_batch")
def rows_and_columns_swapped(batch, length, vocab, *, generator, min_period=6):
    """The tokens are (L, B): each column is a sequence. The batch comes first: (B, L)."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length).T, periods


@mistake("make_repeating_batch")
def floating_tokens(batch, length, vocab, *, generator, min_period=6):
    """The tokens are floating-point numbers. They index an embedding later, so they have to be integers."""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(
        orders_of(batch, vocab, generator), periods, length
    ).float(), periods


@mistake("make_repeating_batch", hint=2)
def not_filled(batch, length, vocab, *, generator, min_period=6):
    """The sequences are too short or too long: only whole repetitions were written. Cut off the last one where the
    length ends.
    """
    periods = periods_of(batch, length, generator, min_period)
    places = torch.arange(2 * (length // 2)) % periods[:, None]
    return orders_of(batch, vocab, generator).gather(1, places), periods


@mistake("make_repeating_batch", hint=2)
def as_many_tokens_as_places(batch, length, vocab, *, generator, min_period=6):
    """The sequences are as long as the vocabulary: they were cut from a permutation of it. Their length is `length`."""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, vocab, generator)[:, :length]
    return order.gather(1, torch.arange(order.size(1)) % periods[:, None]), periods


# The token before


@check("previous_token_score", points=1)
def other_sizes(previous_token_score: Any, draw: Inputs) -> Any:
    """Two tokens, one sequence, one head, and float32."""
    return [
        previous_token_score(looks(draw, 4, 3, 2)),
        previous_token_score(looks(draw, 1, 1, 6)),
        previous_token_score(looks(draw, 3, 2, 7, dtype=torch.float32)),
    ]


@mistake("make_repeating_batch", hint=2)
def whole_copies_only(batch, length, vocab, *, generator, min_period=6):
    """It stopped, or came out short: `length // period` whole copies fill a row only if the period divides its length.
    Make one more, and cut it at `length`.
    """
    rows = []
    for _ in range(batch):
        period = int(
            torch.randint(min_period, length // 2 + 1, (), generator=generator)
        )
        rows.append(
            torch.randperm(vocab, generator=generator)[:period].repeat(length // period)
        )
    return torch.stack(rows), torch.zeros(batch)


@mistake("previous_token_score", hint=1)
def the_token_itself(weights):
    """This is the weight on the token itself, the main diagonal. The token before is one column to the left."""
    return weights.diagonal(dim1=-2, dim2=-1).mean(dim=(0, 2))


@mistake("previous_token_score", hint=1)
def the_token_after(weights):
    """This is the weight on the next token, above the diagonal. Rows are queries, columns are keys: the token before is
    to the left.
    """
    return weights.diagonal(offset=1, dim1=-2, dim2=-1).mean(dim=(0, 2))


@mistake("previous_token_score", hint=2)
def line_through_the_first_axes(weights):
    """`diagonal` took its line from the first two axes, the sequences and the heads. Tell it which axes: dim1=-2,
    dim2=-1.
    """
    return weights.diagonal(-1).mean(dim=(0, -1))


@mistake("previous_token_score", hint=1)
def all_earlier_tokens(weights):
    """The weight on all earlier tokens was counted, everything below the diagonal. Only the one before counts."""
    return weights.tril(-1).sum(dim=-1).mean(dim=(0, 2))


@mistake("previous_token_score")
def last_row_alone(weights):
    """Only the last token's weight on the one before it was counted. Is a result overwritten in a loop?"""
    return weights[:, :, -1, -2].mean(dim=0)


@mistake("previous_token_score", hint=1)
def first_row_wraps_into_the_sum(weights):
    """The sum has a term too many: for i = 0, index i - 1 is -1, the last column. Start with i = 1."""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].sum(dim=-1).mean(dim=0) / (len(rows) - 1)


@mistake("previous_token_score", hint=1)
def two_tokens_before(weights):
    """This is the weight two tokens back. Only one step is asked for."""
    return weights.diagonal(offset=-2, dim1=-2, dim2=-1).mean(dim=(0, 2))


@mistake("previous_token_score", hint=1)
def first_row_counted(weights):
    """The sum is right, but it was divided by L. The first token has none before it, so a sequence has L - 1
    terms.
    """
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.sum(dim=(0, 2)) / (weights.size(0) * weights.size(-1))


@mistake("previous_token_score", hint=1)
def first_row_wraps(weights):
    """The first token was counted: for i = 0, index i - 1 is -1, the last column. Start with i = 1."""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].mean(dim=(0, 2))


@mistake("previous_token_score", hint=1)
def second_row_skipped(weights):
    """The second token was left out: it has one before it. Count from i = 1."""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)[..., 1:]
    return found.mean(dim=(0, 2))


@mistake("previous_token_score", hint=3)
def one_number(weights):
    """This is one number for all heads. Keep the axis of the heads: (H,)."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean()


@mistake("previous_token_score", hint=3)
def largest_weight(weights):
    """This is the largest weight on a token before. Take the mean over all of them."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).amax(dim=(0, 2))


@mistake("previous_token_score", hint=3)
def largest_of_each_sequence(weights):
    """In each sequence the largest weight was taken, and then the mean over sequences. Take the mean over positions
    too.
    """
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.amax(dim=-1).mean(dim=0)


@mistake("previous_token_score", hint=3)
def summed(weights):
    """The weights were added up. Take their mean over sequences and positions."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=(0, 2))


@mistake("previous_token_score", hint=3)
def one_per_sequence_and_head(weights):
    """There is one score per sequence and head, (B, H). Average over the sequences too."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


@mistake("previous_token_score", hint=3)
def one_per_position(weights):
    """There is one score per head and position. Average over the positions too."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=0)


@mistake("previous_token_score", hint=3)
def over_the_heads(weights):
    """The mean ran over the heads and left the sequences, (B,). Average over sequences and leave the heads, axis 1."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(1, 2))


@mistake("previous_token_score", hint=3)
def first_sequence(weights):
    """Only the first sequence was counted. Average over all of them."""
    return weights[0].diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


@mistake("previous_token_score", hint=3)
def added_over_sequences(weights):
    """The mean over positions is right, but then the sequences were added up. Average over them too."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1).sum(dim=0)


@mistake("previous_token_score", hint=3)
def added_over_positions(weights):
    """The mean over sequences is right, but the positions were added up. Average over them too."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=0).sum(dim=-1)


@mistake("previous_token_score", hint=2)
def diagonal_of_the_front(weights):
    """The diagonal was taken along the first two axes, sequences and heads. It should run along the last two."""
    return weights.diagonal(offset=-1).mean(dim=(0, 1))


@mistake("previous_token_score", hint=1)
def all_entries(weights):
    """The right entries were averaged together with zeros for all others. Divide by the number of those that count."""
    before = torch.ones_like(weights).tril(-1).triu(-1)
    return (weights * before).mean(dim=(0, 2, 3))


@mistake("previous_token_score", hint=1)
def everything_before(weights):
    """This is the weight on all tokens before. Only the one directly before counts."""
    rows = weights.tril(-1).sum(dim=-1)[..., 1:]
    return rows.mean(dim=(0, 2))


@mistake("previous_token_score")
def how_often_the_largest(weights):
    """This counts how often the token before has the largest weight. The mean of the weights is asked for."""
    rows = torch.arange(1, weights.size(-1))
    hits = weights[..., 1:, :].argmax(dim=-1) == rows - 1
    return hits.to(weights.dtype).mean(dim=(0, 2))


@mistake("previous_token_score", hint=2)
def mean_of_the_shifted_block(weights):
    """This is the mean of a whole block of weights, without the first row and last column. Only its diagonal counts."""
    return weights[..., 1:, :-1].mean(dim=(0, 2, 3))


@mistake("previous_token_score", hint=1)
def mean_below_the_diagonal(weights):
    """This is the mean of all weights below the diagonal, for any token before. Only the one directly before counts."""
    count = torch.ones_like(weights).tril(-1).sum(dim=(0, 2, 3))
    return weights.tril(-1).sum(dim=(0, 2, 3)) / count


@mistake("previous_token_score", hint=1)
def last_row_skipped(weights):
    """The last token was left out: range leaves out its end already."""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)[..., :-1]
    return found.mean(dim=(0, 2))


@mistake("previous_token_score", hint=3)
def median_weight(weights):
    """This is the median. Take the mean."""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.transpose(0, 1).flatten(1).median(dim=1).values


@mistake("previous_token_score", hint=3)
def positions_left(weights):
    """There is one score per position: the mean ran over sequences and heads. It should leave the heads, axis 1."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 1))


@mistake("previous_token_score")
def own_softmax(weights):
    """Softmax was applied to the weights. They have been through it already."""
    again = weights.softmax(dim=-1)
    return again.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


@mistake("previous_token_score", hint=1)
def whole_row_means(weights):
    """This is the mean of whole rows, so it is 1 / L for every head. Pick entry i - 1 of row i first."""
    return weights.mean(dim=(0, 2, 3))


@mistake("previous_token_score")
def plain_numbers(weights):
    """The right numbers in a list. Return one tensor (H,)."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2)).tolist()


# Induction


@check("induction_score", points=1)
def longest_and_shortest(induction_score: Any, draw: Inputs) -> Any:
    """The shortest and longest periods, two tokens, one sequence with one head, and float32."""
    return [
        induction_score(looks(draw, 3, 2, 6), given(draw, 5, 1, 4)),
        induction_score(looks(draw, 4, 3, 2), given(draw, 1, 1, 1, 1)),
        induction_score(looks(draw, 1, 1, 8), given(draw, 3)),
        induction_score(looks(draw, 2, 5, 7, dtype=torch.float32), given(draw, 6, 2)),
    ]


def entries(weights, period, shift=1, first=0, stop=None):
    """List each sequence's weights (H, n) at i - period + shift, for rows from period + first."""
    found = []
    for w, p in zip(weights, period.tolist(), strict=True):
        rows = torch.arange(
            max(p + first, 0), min(w.size(-1), stop(p) if stop else w.size(-1))
        )
        found.append(w[:, rows, (rows - p + shift) % w.size(-1)])
    return found


@mistake("induction_score", hint=1)
def the_occurrence_itself(weights, period):
    """This is the weight on the previous occurrence itself, i - period. What followed it is one place further right."""
    return torch.cat(entries(weights, period, shift=0), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def two_after(weights, period):
    """The place is one too far: this is the second token after the previous occurrence."""
    return torch.cat(entries(weights, period, shift=2), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def one_before(weights, period):
    """This is the token before the previous occurrence. The one after it predicts what comes next."""
    return torch.cat(entries(weights, period, shift=-1), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def one_before_with_a_row_less(weights, period):
    """This is the token before the previous occurrence, i - period - 1. The one after it is at i - period + 1."""
    return torch.cat(
        [
            weights[b].diagonal(offset=-int(p) - 1, dim1=-2, dim2=-1)
            for b, p in enumerate(period)
        ],
        dim=-1,
    ).mean(dim=-1)


@mistake("induction_score", hint=2)
def period_of_the_first(weights, period):
    """Right where all periods are equal. Here the first sequence's was used for all: each has a period of its own."""
    return torch.cat(entries(weights, period[:1].expand(len(period))), dim=-1).mean(
        dim=-1
    )


@mistake("induction_score", hint=2)
def mean_period(weights, period):
    """Right where all periods are equal. Here the mean of the periods was used: each sequence has one of its own."""
    same = period.double().mean().long().expand(len(period))
    return torch.cat(entries(weights, same), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=2)
def largest_period(weights, period):
    """Right where all periods are equal. Here the largest was used for all: each sequence has a period of its own."""
    return torch.cat(entries(weights, period.max().expand(len(period))), dim=-1).mean(
        dim=-1
    )


@mistake("induction_score", hint=2)
def rows_from_the_largest(weights, period):
    """The places are right, but only rows from the largest period on were counted. Each sequence starts at its own."""
    longest = int(period.max())
    parts = [
        e[:, longest - p :]
        for e, p in zip(entries(weights, period), period.tolist(), strict=True)
    ]
    return torch.cat(parts, dim=-1).mean(dim=-1)


@mistake("induction_score", hint=2)
def rows_from_the_smallest(weights, period):
    """The places are right, but all rows from the smallest period on were counted. Each sequence starts at its own."""
    rows, first = torch.arange(weights.size(-1)), int(period.min())
    index = (
        (rows - period[:, None] + 1)
        .clamp(min=0)[:, None, :, None]
        .expand(*weights.shape[:3], 1)
    )
    return weights.gather(-1, index)[..., first:, 0].mean(dim=(0, 2))


@mistake("induction_score", hint=3)
def all_rows_from_the_end(weights, period):
    """Rows before the first repetition were counted too: there, i - period + 1 is negative and indexes from the end."""
    rows = torch.arange(weights.size(-1))
    parts = [
        w[:, rows, (rows - p + 1) % len(rows)]
        for w, p in zip(weights, period, strict=True)
    ]
    return torch.stack(parts).mean(dim=(0, 2))


@mistake("induction_score", hint=3)
def all_rows_clamped(weights, period):
    """Rows before the first repetition were counted too, with the weight on token 0. Clamping makes an index valid, but
    those rows should not count.
    """
    rows = torch.arange(weights.size(-1))
    index = (rows - period[:, None] + 1).clamp(min=0)[:, None, :, None]
    return weights.gather(-1, index.expand(*weights.shape[:3], 1)).mean(dim=(0, 2, 3))


@mistake("induction_score", hint=1)
def one_row_too_early(weights, period):
    """Row period - 1 was counted too: the whole diagonal. Its token has not occurred before. Start at i = period."""
    return torch.cat(entries(weights, period, first=-1), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def one_row_too_late(weights, period):
    """The first repeated token was left out. i = period counts: its token was there a period before."""
    found = torch.cat(entries(weights, period, first=1), dim=-1)
    return found.mean(dim=-1)


@mistake("induction_score", hint=3)
def divided_by_all_rows(weights, period):
    """The sum is right, but it was divided by all B * L rows. Divide by the number of rows that count."""
    total = torch.cat(entries(weights, period), dim=-1).sum(dim=-1)
    return total / (weights.size(0) * weights.size(-1))


@mistake("induction_score", hint=3)
def mean_of_means(weights, period):
    """Each sequence was averaged first, then the sequences. A long period has fewer rows, so they got more weight: take
    one mean over all rows that count.
    """
    return torch.stack([e.mean(dim=-1) for e in entries(weights, period)]).mean(dim=0)


@mistake("induction_score", hint=3)
def sum_of_means(weights, period):
    """Each sequence was averaged, then the sequences were added up. Take one mean over all rows that count."""
    return torch.stack([e.mean(dim=-1) for e in entries(weights, period)]).sum(dim=0)


@mistake("induction_score", hint=3)
def one_row_too_many_in_the_count(weights, period):
    """The sum is right, but it was divided by one too many per sequence: from period to L - 1 there are L - period
    rows.
    """
    total = torch.cat(entries(weights, period), dim=-1).sum(dim=-1)
    return total / sum(weights.size(-1) - p + 1 for p in period.tolist())


@mistake("induction_score", hint=3)
def all_summed(weights, period):
    """The weights were added up. Divide by how many there are."""
    return torch.cat(entries(weights, period), dim=-1).sum(dim=-1)


@mistake("induction_score")
def how_often_the_top(weights, period):
    """This counts how often the place has the largest weight of its row. The mean of the weights is asked for."""
    hits = [
        w[:, p:].argmax(dim=-1) == torch.arange(w.size(-1) - p) + 1
        for w, p in zip(weights, period.tolist(), strict=True)
    ]
    return torch.cat(hits, dim=-1).to(weights.dtype).mean(dim=-1)


@mistake("induction_score")
def largest_of_all(weights, period):
    """This is the largest of the weights that count. Take their mean."""
    return torch.cat(entries(weights, period), dim=-1).amax(dim=-1)


@mistake("induction_score", hint=1)
def largest_of_each_row(weights, period):
    """This is the mean of each row's largest weight, wherever it is. Take the weight at i - period + 1."""
    found = [
        w[:, p:].amax(dim=-1) for w, p in zip(weights, period.tolist(), strict=True)
    ]
    return torch.cat(found, dim=-1).mean(dim=-1)


@mistake("induction_score")
def one_for_all_heads(weights, period):
    """This is one number for all heads. Each head has a score of its own: (H,)."""
    return torch.cat(entries(weights, period), dim=-1).mean()


@mistake("induction_score")
def one_per_sequence(weights, period):
    """The mean ran over the heads: this is one score per sequence, (B,). Average over sequences and leave the heads."""
    return torch.stack([e.mean() for e in entries(weights, period)])


@mistake("induction_score", hint=3)
def for_each_sequence_and_head(weights, period):
    """There is one score per sequence and head, (B, H). Take one mean over the rows of all sequences: (H,)."""
    return torch.stack([e.mean(dim=-1) for e in entries(weights, period)])


@mistake("induction_score")
def queries_and_keys_swapped(weights, period):
    """Rows and columns are swapped. The query i is the row, the place it looks at is the column."""
    return torch.cat(entries(weights.mT, period), dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def a_period_ahead(weights, period):
    """This looks a period ahead, at i + period - 1. The previous occurrence is a period back."""
    found = [
        w.diagonal(offset=p - 1, dim1=-2, dim2=-1)
        for w, p in zip(weights, period.tolist(), strict=True)
    ]
    return torch.cat(found, dim=-1).mean(dim=-1)


@mistake("induction_score", hint=1)
def just_the_token_before(weights, period):
    """This is the weight on the token before, as in exercise 9.2. An induction head looks about a period back."""
    found = [
        w.diagonal(offset=-1, dim1=-2, dim2=-1)[:, p - 1 :]
        for w, p in zip(weights, period.tolist(), strict=True)
    ]
    return torch.cat(found, dim=-1).mean(dim=-1)


@mistake("induction_score")
def second_period_only(weights, period):
    """Only the second period was counted. From i = period on, all rows do, up to the end of the sequence."""
    return torch.cat(entries(weights, period, stop=lambda p: 2 * p), dim=-1).mean(
        dim=-1
    )


@mistake("induction_score", hint=1)
def from_two_periods(weights, period):
    """The second period was left out: only rows from 2 * period on were counted. A token has occurred before from
    i = period on.
    """
    rows = [w[:, 2 * p :] for w, p in zip(weights, period.tolist(), strict=True)]
    found = [
        w.diagonal(offset=p + 1, dim1=-2, dim2=-1)
        for w, p in zip(rows, period.tolist(), strict=True)
    ]
    return torch.cat(found, dim=-1).mean(dim=-1)


@mistake("induction_score")
def first_occurrence(weights, period):
    """This is the token after the FIRST occurrence. From the third period on that is too far back: go back one period,
    to the last occurrence.
    """
    found = []
    for w, p in zip(weights, period.tolist(), strict=True):
        rows = torch.arange(p, w.size(-1))
        found.append(w[:, rows, rows % p + 1])
    return torch.cat(found, dim=-1).mean(dim=-1)


@mistake("induction_score", hint=2)
def one_row_each(weights, period):
    """Only row i = period was counted. All later rows do, too."""
    return torch.cat(entries(weights, period, stop=lambda p: p + 1), dim=-1).mean(
        dim=-1
    )


@mistake("induction_score", hint=2)
def first_sequence_alone(weights, period):
    """Only the first sequence was counted. Take the mean over all of them."""
    return entries(weights, period)[0].mean(dim=-1)


@mistake("induction_score")
def last_sequence_alone(weights, period):
    """Only the last sequence was counted. Is a result overwritten in a loop?"""
    return entries(weights, period)[-1].mean(dim=-1)


@mistake("induction_score")
def every_earlier_occurrence(weights, period):
    """The weights after all earlier occurrences were added. Only the last one counts, a single period back."""
    total = torch.zeros(weights.size(1), dtype=weights.dtype)
    for w, p in zip(weights, period.tolist(), strict=True):
        for i in range(p, w.size(-1)):
            total += sum(w[:, i, i - k * p + 1] for k in range(1, i // p + 1))
    return total / sum(weights.size(-1) - p for p in period.tolist())


@mistake("induction_score", hint=2)
def one_period_as_a_number(weights, period):
    """It stopped: `period` holds one number per sequence, so it cannot become a single integer. Treat each sequence
    separately, or use a table of places.
    """
    found = weights.diagonal(offset=1 - int(period), dim1=-2, dim2=-1)
    return found[..., 1:].mean(dim=(0, 2))


@mistake("induction_score", hint=2)
def range_over_all_periods(weights, period):
    """It stopped: `range` needs one integer, and `period` holds one per sequence. Index it with the sequence."""
    rows = range(period, weights.size(-1))
    return weights[..., rows, rows].mean(dim=(0, 2))


@mistake("induction_score")
def in_a_list(weights, period):
    """The right numbers in a list. Return them as one tensor (H,)."""
    return torch.cat(entries(weights, period), dim=-1).mean(dim=-1).tolist()


# Ablation


@check("ablate_head", points=1)
def blocks_in_blocks(ablate_head: Any, draw: Inputs) -> Any:
    """One block inside another, an exception in the inner one, a single head, no bias, and nothing left behind."""
    module, x = attention_for(draw, 12, 4, bias=False), draw.normal(2, 5, 12)
    single = attention_for(draw, 3, 1)
    seen = []
    with ablate_head(module, 0):
        try:
            with ablate_head(module, 2):
                seen.append(module(x)[0])
                raise KeyError
        except KeyError:
            seen.append(module(x)[0])
    seen.append(module(x)[0])
    with ablate_head(single, 0):
        seen.append(single(draw.normal(1, 2, 3))[0])
    learning = [p.requires_grad and p.is_leaf for p in module.parameters()]
    layers = list(module.modules())
    hooks = sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in layers)
    names = sorted(name for name, _ in module.named_parameters())
    return seen, learning, hooks, names, module.training


class Off:
    """Switches a head off, in steps that a mistake can replace."""

    def __init__(self, module, head):
        self.module, self.head, self.layer = module, head, module.out_proj

    def size(self):
        return self.layer.in_features // self.module.num_heads

    def part(self):
        return slice(self.head * self.size(), (self.head + 1) * self.size())

    def off(self):
        self.layer.weight[:, self.part()] = 0.0

    def back(self):
        with torch.no_grad():
            for parameter, kept in zip(
                self.module.parameters(), self.kept, strict=True
            ):
                parameter.copy_(kept)

    def __enter__(self):
        self.kept = [p.detach().clone() for p in self.module.parameters()]
        with torch.no_grad():
            self.off()

    def __exit__(self, kind, error, trace):
        self.back()


@mistake("induction_score", hint=2)
def every_sequence_at_all_places(weights, period):
    """Each sequence was read at the places of all sequences: with `weights[:, :, rows, columns]` the batch axis meets
    every period. Sequence b belongs to period b alone.
    """
    rows = torch.arange(weights.size(-1)).expand(len(period), -1)
    columns = (rows - period[:, None] + 1).clamp(min=0)
    return weights[:, :, rows, columns][:, :, rows >= period[:, None]].mean(dim=(0, -1))


@mistake("ablate_head", hint=3)
class StaysOff(Off):
    """Right inside the block, but afterward the head is still off. Is what you kept a copy, or the weight itself? Was a
    hook removed?
    """

    def back(self):
        pass


@mistake("ablate_head", hint=1)
class OutputZeroed(Off):
    """Entries of the output are 0. Each of them mixes all heads: switch the head off before out_proj, in what it
    reads.
    """

    def __enter__(self):
        def zero(layer, read, output):
            output = output.clone()
            output[..., self.part()] = 0.0
            return output

        self.hook = self.layer.register_forward_hook(zero)

    def back(self):
        self.hook.remove()


@mistake("ablate_head", hint=1)
class Interleaved(Off):
    """Every H-th entry was switched off, as if the heads were interleaved. Head h is D entries in a row, from h * D
    on.
    """

    def part(self):
        return slice(self.head, None, self.module.num_heads)


@mistake("ablate_head", hint=1)
class RowsOfTheWeight(Off):
    """Rows of out_proj's weight were zeroed. Rows belong to outputs, columns to inputs, and the heads are its input."""

    def off(self):
        self.layer.weight[self.part()] = 0.0


@mistake("ablate_head", hint=1)
class RowOfTheWeight(Off):
    """One row of out_proj's weight was zeroed. A row belongs to an entry of the output; a head has D columns."""

    def off(self):
        self.layer.weight[self.head] = 0.0


@mistake("ablate_head")
class NotAfterAnException(Off):
    """After an exception the head is still off: what follows `yield` does not run then. Where do you put what has to
    run in any case?
    """

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.back()


@mistake("ablate_head")
class OnlyAfterAnException(Off):
    """After an exception the head is back, but when the block ends normally it stays off. Restore it in both cases."""

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.back()


@mistake("ablate_head")
class Swallowed(Off):
    """The exception disappeared: nobody would learn that the block went wrong. Clean up, then let it go on."""

    def __exit__(self, kind, error, trace):
        self.back()
        return True


@mistake("ablate_head", hint=1)
class OthersOff(Off):
    """All heads but this one were switched off. Only this one should be."""

    def off(self):
        kept = self.layer.weight[:, self.part()].clone()
        self.layer.weight.zero_()
        self.layer.weight[:, self.part()] = kept


@mistake("ablate_head", hint=1)
class AllOff(Off):
    """All heads were switched off: only the bias is left. Zero the part that belongs to this head."""

    def off(self):
        self.layer.weight.zero_()


@mistake("ablate_head", hint=1)
class NextHead(Off):
    """The next head was switched off. Heads count from 0: head h starts at h * D."""

    def part(self):
        return slice((self.head + 1) * self.size(), (self.head + 2) * self.size())


@mistake("ablate_head", hint=1)
class PreviousHead(Off):
    """The head before was switched off, and for head 0 none. Heads count from 0, not from 1."""

    def part(self):
        return slice((self.head - 1) * self.size(), self.head * self.size())


@mistake("ablate_head", hint=1)
class FirstHeadAlways(Off):
    """Head 0 was switched off, whichever was asked for. Where does the part of head h start?"""

    def part(self):
        return slice(0, self.size())


@mistake("ablate_head", hint=1)
class LastHeadAlways(Off):
    """The slice has no end: all later heads were switched off too. Head h ends at (h + 1) * D."""

    def part(self):
        return slice(self.head * self.size(), None)


@mistake("ablate_head", hint=1)
class UpToThisHead(Off):
    """The slice has no start: all earlier heads were switched off too. Head h starts at h * D."""

    def part(self):
        return slice(0, (self.head + 1) * self.size())


@mistake("ablate_head", hint=1)
class OneEntry(Off):
    """One entry was switched off. A head has D of them, side by side."""

    def part(self):
        return slice(self.head, self.head + 1)


@mistake("ablate_head", hint=1)
class OneEntryShort(Off):
    """The head's last entry is still on. A slice leaves its end out already."""

    def part(self):
        return slice(self.head * self.size(), (self.head + 1) * self.size() - 1)


@mistake("ablate_head", hint=1)
class HeadsAsSize(Off):
    """num_heads was taken for the size of a head. A head's dimension is out_proj's number of inputs divided by it."""

    def size(self):
        return self.module.num_heads


@mistake("ablate_head")
class SizeAsAFloat(Off):
    """It stopped: `/` gives a float, and a slice needs integers. Divide whole numbers with //."""

    def size(self):
        return self.layer.in_features / self.module.num_heads


@mistake("ablate_head", hint=2)
class FewerHeads(Off):
    """num_heads was lowered, so the same entries are cut into fewer, larger heads. Leave it, and silence one head's
    part.
    """

    def off(self):
        self.module.num_heads -= 1

    def back(self):
        self.module.num_heads += 1


@mistake("ablate_head")
class NoSuchSize(Off):
    """The module has no `head_dim`. Work a head's dimension out from out_proj's number of inputs and num_heads."""

    def size(self):
        return self.module.head_dim


@mistake("ablate_head")
class NoSuchWidth(Off):
    """The module has no `d_model`. Its layers know: how many inputs does out_proj have?"""

    def size(self):
        return self.module.d_model // self.module.num_heads


@mistake("ablate_head", hint=1)
class QueriesZeroed(Off):
    """The head's queries were zeroed, in q_proj. Then it looks at all keys about equally, and its output still counts:
    cut it off at out_proj.
    """

    def off(self):
        self.module.q_proj.weight[self.part()] = 0.0


@mistake("ablate_head", hint=1)
class InputsOfTheQueries(Off):
    """Columns of q_proj were zeroed. They belong to entries of the tokens, which all heads read. The head's own part is
    what out_proj reads.
    """

    def off(self):
        self.module.q_proj.weight[:, self.part()] = 0.0


@mistake("ablate_head", hint=1)
class KeysZeroed(Off):
    """The head's keys were zeroed, in k_proj. Then it looks at all of them equally, and its output still counts: cut it
    off at out_proj.
    """

    def off(self):
        self.module.k_proj.weight[self.part()] = 0.0
        self.module.k_proj.bias is not None and self.module.k_proj.bias[
            self.part()
        ].zero_()


@mistake("ablate_head", hint=1)
class ValuesWithoutBias(Off):
    """The head's values were zeroed in v_proj, but its bias still gets through. Zero that too, or cut the head off at
    out_proj.
    """

    def off(self):
        self.module.v_proj.weight[self.part()] = 0.0


@mistake("ablate_head", hint=3)
class BiasNotRestored(Off):
    """Right inside the block. Afterward v_proj's weight is back, but its bias is not: restore all that you changed."""

    def off(self):
        self.module.v_proj.weight[self.part()] = 0.0
        if self.module.v_proj.bias is not None:
            self.module.v_proj.bias[self.part()] = 0.0

    def back(self):
        names = [name for name, _ in self.module.named_parameters()]
        with torch.no_grad():
            self.module.v_proj.weight.copy_(self.kept[names.index("v_proj.weight")])


@mistake("ablate_head", hint=1)
class AllValuesZeroed(Off):
    """All of v_proj's weight was zeroed, so no head says anything about the tokens. Only this head should be off."""

    def off(self):
        self.module.v_proj.weight.zero_()


@mistake("ablate_head", hint=1)
class InputsOfTheValues(Off):
    """Columns of v_proj were zeroed. They belong to entries of the tokens, not to a head."""

    def off(self):
        self.module.v_proj.weight[:, self.part()] = 0.0


@mistake("ablate_head", hint=3)
class BiasOff(Off):
    """The head is off, but so is out_proj's bias. It belongs to no head: leave it on."""

    def off(self):
        self.layer.weight[:, self.part()] = 0.0
        if self.layer.bias is not None:
            self.layer.bias.zero_()


@mistake("ablate_head", hint=3)
class PartOfTheBiasOff(Off):
    """The head is off, but so is a part of out_proj's bias. Its entries belong to outputs, not to heads."""

    def off(self):
        self.layer.weight[:, self.part()] = 0.0
        if self.layer.bias is not None:
            self.layer.bias[self.part()] = 0.0


@mistake("ablate_head", hint=3)
class MultipliedBack(Off):
    """The output after the block is NaN: a weight that was multiplied by 0 does not come back by division. Keep a copy
    and put it back.
    """

    def back(self):
        with torch.no_grad():
            self.layer.weight[:, self.part()] /= 0.0


@mistake("ablate_head", hint=3)
class FreshWeights(Off):
    """Afterward out_proj has new random weights. It should have those from before: keep a copy and put it back."""

    def back(self):
        self.layer.reset_parameters()


@mistake("ablate_head")
class OthersLouder(Off):
    """The head is off, but the others were scaled up, as dropout does. They should contribute what they did before."""

    def off(self):
        heads = self.module.num_heads
        self.layer.weight[:, self.part()] = 0.0
        self.layer.weight *= heads / max(heads - 1, 1)


@mistake("ablate_head", hint=2)
class HalfOff(Off):
    """The head is weaker, but not off: its part was multiplied by a number other than 0."""

    def off(self):
        self.layer.weight[:, self.part()] *= 0.5


@mistake("ablate_head", hint=2)
class SignFlipped(Off):
    """The head's part was multiplied by −1, so its contribution is subtracted. It should be 0."""

    def off(self):
        self.layer.weight[:, self.part()] *= -1.0


@mistake("ablate_head", hint=2)
class MeanInstead(Off):
    """The head's columns were replaced by their mean, so it still contributes. It should contribute nothing."""

    def off(self):
        self.layer.weight[:, self.part()] = self.layer.weight[:, self.part()].mean()


@mistake("ablate_head")
class RestoredTooSoon(Off):
    """Inside the block nothing has changed. Was a copy changed instead of the module, or the weight restored before the
    `yield`? Does a hook return something?
    """

    def off(self):
        pass


@mistake("ablate_head")
def not_a_context_manager(module, head):
    """It returned None, which `with` cannot enter. A function under @contextmanager needs that line above it, and
    a `yield`.
    """
    Off(module, head).__enter__()


@mistake("ablate_head")
def generator_alone(module, head):
    """`with` cannot enter a bare generator. The line @contextmanager above the function is missing."""
    with Off(module, head):
        yield


@mistake("ablate_head")
def no_yield(module, head):
    """There is no `yield`, so the block never runs. It marks the place where the block comes in."""
    return contextmanager(lambda module, head: None)(module, head)


@mistake("ablate_head")
def module_returned(module, head):
    """The module was returned where a `yield` belongs. The block runs at the `yield`, and what follows it runs when the
    block has ended.
    """
    return contextmanager(lambda module, head: module)(module, head)


@mistake("ablate_head")
def yields_twice(module, head):
    """There are two `yield`s. One block comes in at one place: what follows the first `yield` cleans up."""

    def blocks(module, head):
        with Off(module, head):
            yield
        yield

    return contextmanager(blocks)(module, head)


@mistake("ablate_head", hint=3)
def autograd_in_the_way(module, head):
    """It stopped: a parameter that learns cannot be written to while autograd is recording. Use torch.no_grad()."""

    def blocks(module, head):
        Off(module, head).off()
        yield

    return contextmanager(blocks)(module, head)


@mistake("ablate_head", hint=3)
def tensor_for_a_parameter(module, head):
    """It stopped: a module's parameter cannot be replaced by a plain tensor. Write into it, or make a new nn.Parameter
    and put the old one back afterward.
    """

    def blocks(module, head):
        module.out_proj.weight = module.out_proj.weight.detach().clone()
        yield

    return contextmanager(blocks)(module, head)


@mistake("ablate_head")
class GradientsOff(Off):
    """No gradient comes through the block: torch.no_grad() is still on while the block runs. Leave it before you
    yield.
    """

    def __enter__(self):
        self.quiet = torch.no_grad()
        self.quiet.__enter__()
        super().__enter__()

    def __exit__(self, kind, error, trace):
        self.back()
        self.quiet.__exit__(kind, error, trace)


@mistake("ablate_head", hint=3)
class NewParameter(Off):
    """Afterward out_proj or its weight is a new object, which an optimizer would not know. Put back the old one, or
    copy into it.
    """

    def back(self):
        kept = dict(
            zip([n for n, _ in self.module.named_parameters()], self.kept, strict=True)
        )
        self.layer.weight = nn.Parameter(kept["out_proj.weight"])


@mistake("ablate_head")
class Frozen(Off):
    """Afterward out_proj's weight gets no gradient: requires_grad was turned off and never turned back on."""

    def __enter__(self):
        self.layer.weight.requires_grad_(False)
        super().__enter__()


@mistake("ablate_head")
class KeptOnTheModule(Off):
    """Leaving an inner block switched the outer block's head on again: both blocks share one copy. Keep what belongs to
    a block inside the function.
    """

    def __enter__(self):
        if not hasattr(self.module, "copies"):
            self.module.copies = [p.detach().clone() for p in self.module.parameters()]
        self.kept = self.module.copies
        with torch.no_grad():
            self.off()


@mistake("ablate_head")
class AllParametrizationsRemoved(Off):
    """Right with one block. With one inside another, it stopped: leaving the inner block removed the parametrization of
    both.
    """

    def __enter__(self):
        keep = torch.ones_like(self.layer.weight)
        keep[:, self.part()] = 0.0
        change = nn.Module()
        change.forward = lambda weight: weight * keep
        parametrize.register_parametrization(self.layer, "weight", change)

    def back(self):
        parametrize.remove_parametrizations(
            self.layer, "weight", leave_parametrized=False
        )


@mistake("ablate_head", hint=2)
class HookLeft(Off):
    """The outputs are right, but a hook is still on the module, with nothing left to do. Remove it."""

    def __enter__(self):
        self.on = True

        def silence(layer, read):
            kept = read[0].clone()
            if self.on:
                kept[..., self.part()] = 0.0
            return (kept,)

        self.layer.register_forward_pre_hook(silence)

    def back(self):
        self.on = False
