"""The mistakes that students make in lesson 9, as edits of its solutions. Never given to students."""

from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.utils import parametrize

from autograder.checks import solution


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


def entries(weights, period, shift=1, first=0, stop=None):
    """List each sequence's weights (H, n) at i - period + shift, for rows from period + first."""
    found = []
    for w, p in zip(weights, period.tolist(), strict=True):
        rows = torch.arange(
            max(p + first, 0), min(w.size(-1), stop(p) if stop else w.size(-1))
        )
        found.append(w[:, rows, (rows - p + shift) % w.size(-1)])
    return found


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

repeating = solution("make_repeating_batch")
repeating.mutant("one_period_for_all", hint=3, body="""
    periods = periods_of(1, length, generator, min_period).expand(batch)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""",
    says="All rows of a batch have the same period. Then position alone tells where to look, and nothing needs to be "
    "compared: draw one for each row.")
repeating.mutant("fixed_period", hint=3, body="""
    periods = torch.full((batch,), min_period)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""", says="Every row of every "
    "batch has the same period. Then position alone solves the task. Draw a period for each row.")
repeating.mutant("largest_period_left_out", "length // 2 + 1", "length // 2", hint=3,
    says="The largest period never occurs: randint leaves its upper limit out, but length // 2 is included.")
repeating.mutant("smallest_period_left_out", hint=3, body="""
    periods = torch.randint(min_period + 1, length // 2 + 1, (batch,), generator=generator)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""",
    says="The smallest period never occurs. It may be min_period itself.")
repeating.mutant("smaller_by_one", hint=3, body="""
    periods = torch.randint(min_period - 1, length // 2, (batch,), generator=generator)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""", says="Every period is "
    "smaller by one than it should be, at both ends of the range. Which limit does randint include?")
repeating.mutant("periods_too_long", body="""
    periods = torch.randint(min_period, length, (batch,), generator=generator)
    first = torch.cat([orders_of(batch, vocab, generator)] * 2, dim=1)
    return (first.gather(1, torch.arange(length) % periods[:, None]), periods)""", says="Some periods are longer "
    "than half a sequence, which then ends before it has repeated once. Stop at length // 2.")
repeating.mutant("one_too_long", "length // 2 + 1", "length // 2 + 2", hint=3, says="The largest period is one too "
    "long: the sequence then ends before its first period has come twice. Stop at length // 2.")
repeating.mutant("periods_up_to_the_length",
    "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "torch.randint(min_period, length // 1 + 1, (batch,), generator=generator)", says="It stopped: a period longer "
    "than half a sequence needs more tokens than the vocabulary may have. The largest is length // 2.")
repeating.mutant("min_period_ignored", body="""
    periods = periods_of(batch, length, generator, min(6, length // 2))
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""",
    says="min_period had no effect: the shortest period drawn is not the one that was asked for.")
repeating.mutant("periods_from_one", body="""
    periods = periods_of(batch, length, generator, 1)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""",
    says="There are periods shorter than min_period. They start there, not at 1.")
repeating.mutant("tokens_twice", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = torch.randint(vocab, (batch, length), generator=generator)
    return (repeated(order, periods, length), periods)""", says="Within one period, a token occurs twice, so it has "
    "two successors. Draw without replacement, as from a shuffled vocabulary.")
repeating.mutant("one_token_held", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, max(vocab, length), generator) % vocab
    return (order.gather(1, torch.arange(length) // periods[:, None]), periods)""", says="Each token is written a "
    "whole period long before the next one comes: that is division. You want the remainder.")
repeating.mutant("token_by_token", hint=2, body="""
    def row(p):
        first = torch.randperm(vocab, generator=generator)[:p]
        return first.repeat_interleave(length // p + 1)[:length]
    return row_by_row(batch, length, generator, min_period, row)""", says="Each token is written several times in a "
    "row before the next one comes. Repeat the whole run of tokens, not its entries.")
repeating.mutant("generator_ignored", hint=3,
    body="return (repeated(orders_of(batch, vocab, None), (p := periods_of(batch, length, None, min_period)), length), p)",
    says="Equal generators gave different batches: what was drawn did not come from the generator. Pass it to every "
    "call that draws.")
repeating.mutant("tokens_without_the_generator", "torch.rand(batch, vocab, generator=generator)",
    "torch.rand(batch, vocab)", hint=3,
    says="The periods come from the generator, the tokens do not. Every call that draws needs it.")
repeating.mutant("periods_without_the_generator", "(batch,), generator=generator)", "(batch,))", hint=3,
    says="The tokens come from the generator, the periods do not. Every call that draws needs it.")
repeating.mutant("seed_of_its_own", hint=3, body="""
    own = torch.Generator().manual_seed(0)
    periods = periods_of(batch, length, own, min_period)
    return (repeated(orders_of(batch, vocab, own), periods, length), periods)""", says="Every call gives the same "
    "batch, whatever the generator. Draw from the one that is passed in, and do not seed it.")
repeating.mutant("started_again", hint=3, body="""
    own = torch.Generator().manual_seed(generator.initial_seed())
    periods = periods_of(batch, length, own, min_period)
    return (repeated(orders_of(batch, vocab, own), periods, length), periods)""", says="Two calls with one generator "
    "gave the same batch: a model would see no other. Draw from the generator itself, not from a copy or its seed.")
repeating.mutant("same_tokens_in_every_batch", hint=3, body="""
    periods = periods_of(batch, length, generator, min_period)
    own = torch.Generator().manual_seed(0)
    return (repeated(orders_of(batch, vocab, own), periods, length), periods)""", says="Every batch has the same "
    "tokens: only the periods come from the generator. The orders have to be drawn from it too, anew in each call.")
repeating.mutant("one_order_for_all", hint=3, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = torch.randperm(vocab, generator=generator).expand(batch, vocab)
    return (repeated(order, periods, length), periods)""",
    says="All rows begin with the same tokens. A model could learn them by heart: give each row an order of its own.")
repeating.mutant("shifted_copies", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "periods_of(batch, length, generator, min_period)", "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "torch.randperm(vocab, generator=generator)", "torch.arange(length) % periods[:, None]",
    "torch.randint(vocab, (batch, 1), generator=generator)", "order.gather(1, places)",
    "repeated(order[(places + torch.arange(vocab)) % vocab], periods, length)", hint=3, says="Two tokens often "
    "follow each other in many rows: the rows are cut from one order. Shuffle anew for each row.")
repeating.mutant("same_first_token", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "periods_of(batch, length, generator, min_period)", "torch.rand(batch, vocab,", "1 + torch.rand(batch, vocab - 1,",
    "places = torch.arange(length) % periods[:, None]",
    "order = torch.cat([torch.zeros(batch, 1, dtype=torch.long), order], dim=1)", "order.gather(1, places)",
    "repeated(order, periods, length)", hint=2,
    says="Every row begins with the same token. That place should be as random as the others.")
repeating.mutant("counting_on", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    start = torch.randint(vocab, (batch, 1), generator=generator)
    return (repeated((start + torch.arange(vocab)) % vocab, periods, length), periods)""",
    says="The tokens of a row count up by one from a random start. The order should be random too.")
repeating.mutant("not_shuffled", "order.gather(1, places)", "places", hint=2,
    says="Every row is 0, 1, 2 and so on up to its period. The tokens should be drawn from the vocabulary.")
repeating.mutant("in_ascending_order", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "periods_of(batch, length, generator, min_period)", "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "orders_of(batch, vocab, generator)", "torch.arange(length) % periods[:, None]",
    "[torch.cat([o[:p].sort().values, o[p:]]) for o, p in zip(order, periods, strict=True)]", "order.gather(1, places)",
    "repeated(torch.stack(places), periods, length)", hint=2,
    says="The tokens of a period always ascend. Which tokens occur is random here; their order should be, too.")
repeating.mutant("tokens_up_to_the_period", hint=2, body="""
    row = lambda p: torch.randperm(p, generator=generator)[torch.arange(length) % p]
    return row_by_row(batch, length, generator, min_period, row)""",
    says="A row with period P has the tokens 0 to P - 1 only, shuffled. Draw its tokens from the whole vocabulary.")
repeating.mutant("part_of_the_vocabulary", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, max(length // 2, min(vocab - 1, length // 2 + 1)), generator)
    return (repeated(order, periods, length), periods)""",
    says="The largest tokens never occur. Draw from the whole vocabulary: 0 to vocab - 1, both included.")
repeating.mutant("tokens_from_one", body="""
    periods = periods_of(batch, length, generator, min_period)
    return (repeated(orders_of(batch, vocab, generator) + 1, periods, length), periods)""",
    says="The tokens run from 1 to vocab. They start at 0, so the last one is vocab - 1.")
repeating.mutant("without_token_zero", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "periods_of(batch, length, generator, min_period)", "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "1 + orders_of(batch, vocab - 1, generator)", "places = torch.arange(length) % periods[:, None]",
    "order = order if vocab - 1 >= length // 2 else torch.cat([order, order[:, :1]], 1)", "order.gather(1, places)",
    "repeated(order, periods, length)", hint=2, says="Token 0 never occurs. The vocabulary starts there.")
repeating.mutant("other_periods_returned", body="""
    periods = periods_of(batch, length, generator, min_period)
    order = repeated(orders_of(batch, vocab, generator), periods, length)
    return (order, periods_of(batch, length, generator, min_period))""", says="The sequences repeat, but not with "
    "the periods that were returned: those were drawn a second time, or are in another order.")
repeating.mutant("repeated_one_short", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    places = torch.arange(length) % (periods[:, None] - 1).clamp(min=1)
    return (orders_of(batch, vocab, generator).gather(1, places), periods)""", says="The sequences repeat one token "
    "too early: with period P, place P has the first token again, and P - 1 does not yet.")
repeating.mutant("repeated_one_late", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "periods_of(batch, length, generator, min_period)", "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "orders_of(batch, vocab, generator)", "places = torch.arange(length) % periods[:, None]",
    "order = torch.cat([order, order[:, -1:]], dim=1)", "order.gather(1, places)",
    "order.gather(1, torch.arange(length) % (periods[:, None] + 1))", hint=2,
    says="The sequences repeat one token too late: with period P, place P has the first token again.")
repeating.mutant("first_period_for_tokens", body="""
    periods = periods_of(batch, length, generator, min_period)
    order = orders_of(batch, vocab, generator)
    return (repeated(order, periods[:1].expand(batch), length), periods)""", says="Each row has a period of its own, "
    "but the tokens of all rows repeat with the same one. Which row's was used?")
repeating.mutant("never_repeated", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = repeated(orders_of(batch, vocab, generator), periods, length)
    later = torch.arange(length) >= periods[:, None]
    places = torch.randint(vocab, (batch, length), generator=generator)
    return (torch.where(later, places, order), periods)""",
    says="The first period is right, but other tokens follow. Every later token is the one from a period before.")
repeating.mutant("repeated_only_once", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order = repeated(orders_of(batch, vocab, generator), periods, length)
    return (order * (torch.arange(length) < 2 * periods[:, None]), periods)""", says="The first period comes twice "
    "and then stops. Repeat it until the sequence is full, cut off where the length ends.")
repeating.mutant("back_and_forth", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    order, places = (orders_of(batch, vocab, generator), torch.arange(length))
    odd = places // periods[:, None] % 2 == 1
    forward = places % periods[:, None]
    return (order.gather(1, torch.where(odd, periods[:, None] - 1 - forward, forward)), periods)""",
    says="The second period runs backward: the rows are mirrored. Each repetition starts from the first token again.")
repeating.mutant("shuffled_each_time", hint=2, body="""
    def row(p):
        first = torch.randperm(vocab, generator=generator)[:p]
        turns = [first]
        while len(turns) * p < length:
            turns.append(first.roll(len(turns)))
        return torch.cat(turns)[:length]
    return row_by_row(batch, length, generator, min_period, row)""",
    says="Each repetition has the same tokens in another order. Shuffle once per row, then repeat that order.")
repeating.mutant("periods_in_turn", hint=3, body="""
    periods = min_period + torch.arange(batch) % (length // 2 - min_period + 1)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods)""",
    says="Every generator gave the same periods: they are not drawn but counted through. Draw them.")
repeating.mutant("swapped", "order.gather(1, places)", "periods",
    says="These are the right tensors in the wrong order: tokens should come first, then periods.")
repeating.mutant("tokens_alone", body="""
    periods = periods_of(batch, length, generator, min_period)
    return repeated(orders_of(batch, vocab, generator), periods, length)""",
    says="One tensor came back. Return the tokens and the periods: without these nobody knows where to look.")
repeating.mutant("periods_in_a_column", body="""
    periods = periods_of(batch, length, generator, min_period)
    return (repeated(orders_of(batch, vocab, generator), periods, length), periods[:, None])""",
    says="The periods are a column, (B, 1). That helps while you calculate; return them as (B,).")
repeating.mutant("rows_and_columns_swapped", body="""
    periods = periods_of(batch, length, generator, min_period)
    return (repeated(orders_of(batch, vocab, generator), periods, length).T, periods)""",
    says="The tokens are (L, B): each column is a sequence. The batch comes first: (B, L).")
repeating.mutant("floating_tokens", "vocab, generator=generator).argsort(dim=-1)", "vocab, generator=generator)",
    says="The tokens are floating-point numbers. They index an embedding later, so they have to be integers.")
repeating.mutant("not_filled", hint=2, body="""
    periods = periods_of(batch, length, generator, min_period)
    places = torch.arange(2 * (length // 2)) % periods[:, None]
    return (orders_of(batch, vocab, generator).gather(1, places), periods)""", says="The sequences are too short or "
    "too long: only whole repetitions were written. Cut off the last one where the length ends.")
repeating.mutant("as_many_tokens_as_places", "order.gather(1, places)", "order", hint=2, says="The sequences are as "
    "long as the vocabulary: they were cut from a permutation of it. Their length is `length`.")
repeating.mutant("whole_copies_only", hint=2, body="""
    rows = []
    for _ in range(batch):
        period = int(torch.randint(min_period, length // 2 + 1, (), generator=generator))
        rows.append(torch.randperm(vocab, generator=generator)[:period].repeat(length // period))
    return (torch.stack(rows), torch.zeros(batch))""", says="It stopped, or came out short: `length // period` whole "
    "copies fill a row only if the period divides its length. Make one more, and cut it at `length`.")

previous = solution("previous_token_score")
previous.mutant("the_token_itself", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)",
    "weights.diagonal(dim1=-2, dim2=-1)", hint=1,
    says="This is the weight on the token itself, the main diagonal. The token before is one column to the left.")
previous.mutant("the_token_after", "offset=-1", "offset=1", hint=1, says="This is the weight on the next token, "
    "above the diagonal. Rows are queries, columns are keys: the token before is to the left.")
previous.mutant("line_through_the_first_axes", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights.diagonal(-1)",
    "(0, 2)", "(0, -1)", hint=2, says="`diagonal` took its line from the first two axes, the sequences and the "
    "heads. Tell it which axes: dim1=-2, dim2=-1.")
previous.mutant("all_earlier_tokens", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights.tril(-1).sum(dim=-1)",
    hint=1,
    says="The weight on all earlier tokens was counted, everything below the diagonal. Only the one before counts.")
previous.mutant("last_row_alone", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights[:, :, -1, -2]", "(0, 2)",
    "0", says="Only the last token's weight on the one before it was counted. Is a result overwritten in a loop?")
previous.mutant("first_row_wraps_into_the_sum", hint=1, body="""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].sum(dim=-1).mean(dim=0) / (len(rows) - 1)""",
    says="The sum has a term too many: for i = 0, index i - 1 is -1, the last column. Start with i = 1.")
previous.mutant("two_tokens_before", "offset=-1", "offset=-2", hint=1,
    says="This is the weight two tokens back. Only one step is asked for.")
previous.mutant("first_row_counted", hint=1, body="""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.sum(dim=(0, 2)) / (weights.size(0) * weights.size(-1))""", says="The sum is right, but it was "
    "divided by L. The first token has none before it, so a sequence has L - 1 terms.")
previous.mutant("first_row_wraps", hint=1, body="""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].mean(dim=(0, 2))""",
    says="The first token was counted: for i = 0, index i - 1 is -1, the last column. Start with i = 1.")
previous.mutant("second_row_skipped", hint=1, body="""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)[..., 1:]
    return found.mean(dim=(0, 2))""", says="The second token was left out: it has one before it. Count from i = 1.")
previous.mutant("one_number", "dim2=-1).mean(dim=(0, 2))", "dim2=-1).mean()", hint=3,
    says="This is one number for all heads. Keep the axis of the heads: (H,).")
previous.mutant("largest_weight", "dim1=-2, dim2=-1).mean", "dim1=-2, dim2=-1).amax", hint=3,
    says="This is the largest weight on a token before. Take the mean over all of them.")
previous.mutant("largest_of_each_sequence", hint=3, body="""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.amax(dim=-1).mean(dim=0)""", says="In each sequence the largest weight was taken, and then the mean "
    "over sequences. Take the mean over positions too.")
previous.mutant("summed", "dim1=-2, dim2=-1).mean", "dim1=-2, dim2=-1).sum", hint=3,
    says="The weights were added up. Take their mean over sequences and positions.")
previous.mutant("one_per_sequence_and_head", "(0, 2)", "-1", hint=3,
    says="There is one score per sequence and head, (B, H). Average over the sequences too.")
previous.mutant("one_per_position", "(0, 2)", "0", hint=3,
    says="There is one score per head and position. Average over the positions too.")
previous.mutant("over_the_heads", "dim=(0", "dim=(1", hint=3, says="The mean ran over the heads and left the "
    "sequences, (B,). Average over sequences and leave the heads, axis 1.")
previous.mutant("first_sequence", "weights.diagonal", "weights[0].diagonal", "(0, 2)", "-1", hint=3,
    says="Only the first sequence was counted. Average over all of them.")
previous.mutant("added_over_sequences", "dim1=-2, dim2=-1).mean", "dim1=-2, dim2=-1).mean(dim=-1).sum", "(0, 2)", "0",
    hint=3, says="The mean over positions is right, but then the sequences were added up. Average over them too.")
previous.mutant("added_over_positions", "dim1=-2, dim2=-1).mean", "dim1=-2, dim2=-1).mean(dim=0).sum", "(0, 2)", "-1",
    hint=3, says="The mean over sequences is right, but the positions were added up. Average over them too.")
previous.mutant("diagonal_of_the_front", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights.diagonal(offset=-1)",
    "(0, 2)", "(0, 1)", hint=2,
    says="The diagonal was taken along the first two axes, sequences and heads. It should run along the last two.")
previous.mutant("all_entries", hint=1, body="""
    before = torch.ones_like(weights).tril(-1).triu(-1)
    return (weights * before).mean(dim=(0, 2, 3))""", says="The right entries were averaged together with zeros for "
    "all others. Divide by the number of those that count.")
previous.mutant("everything_before", hint=1, body="""
    rows = weights.tril(-1).sum(dim=-1)[..., 1:]
    return rows.mean(dim=(0, 2))""",
    says="This is the weight on all tokens before. Only the one directly before counts.")
previous.mutant("how_often_the_largest", body="""
    rows = torch.arange(1, weights.size(-1))
    hits = weights[..., 1:, :].argmax(dim=-1) == rows - 1
    return hits.to(weights.dtype).mean(dim=(0, 2))""",
    says="This counts how often the token before has the largest weight. The mean of the weights is asked for.")
previous.mutant("mean_of_the_shifted_block", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights[..., 1:, :-1]",
    "(0, 2)", "(0, 2, 3)", hint=2, says="This is the mean of a whole block of weights, without the first row and "
    "last column. Only its diagonal counts.")
previous.mutant("mean_below_the_diagonal", hint=1, body="""
    count = torch.ones_like(weights).tril(-1).sum(dim=(0, 2, 3))
    return weights.tril(-1).sum(dim=(0, 2, 3)) / count""", says="This is the mean of all weights below the diagonal, "
    "for any token before. Only the one directly before counts.")
previous.mutant("last_row_skipped", hint=1, body="""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)[..., :-1]
    return found.mean(dim=(0, 2))""", says="The last token was left out: range leaves out its end already.")
previous.mutant("median_weight", hint=3, body="""
    found = weights.diagonal(offset=-1, dim1=-2, dim2=-1)
    return found.transpose(0, 1).flatten(1).median(dim=1).values""", says="This is the median. Take the mean.")
previous.mutant("positions_left", "(0, 2)", "(0, 1)", hint=3,
    says="There is one score per position: the mean ran over sequences and heads. It should leave the heads, axis 1.")
previous.mutant("own_softmax", body="""
    again = weights.softmax(dim=-1)
    return again.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))""",
    says="Softmax was applied to the weights. They have been through it already.")
previous.mutant("whole_row_means", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights", "(0, 2)", "(0, 2, 3)",
    hint=1, says="This is the mean of whole rows, so it is 1 / L for every head. Pick entry i - 1 of row i first.")
previous.mutant("plain_numbers", "dim2=-1).mean(dim=(0, 2))", "dim2=-1).mean(dim=(0, 2)).tolist()",
    says="The right numbers in a list. Return one tensor (H,).")

induction = solution("induction_score")
induction.mutant("the_occurrence_itself", "rows - period[:, None] + 1", "rows - period[:, None]", hint=1,
    says="This is the weight on the previous occurrence itself, i - period. What followed it is one place further "
    "right.")
induction.mutant("two_after", hint=1, body="return torch.cat(entries(weights, period, shift=2), dim=-1).mean(dim=-1)",
    says="The place is one too far: this is the second token after the previous occurrence.")
induction.mutant("one_before", hint=1, body="return torch.cat(entries(weights, period, shift=-1), dim=-1).mean(dim=-1)",
    says="This is the token before the previous occurrence. The one after it predicts what comes next.")
induction.mutant("one_before_with_a_row_less", hint=1,
    body="return torch.cat([weights[b].diagonal(offset=-int(p) - 1, dim1=-2, dim2=-1) for b, p in enumerate(period)], dim=-1).mean(dim=-1)",
    says="This is the token before the previous occurrence, i - period - 1. The one after it is at i - period + 1.")
induction.mutant("period_of_the_first", hint=2,
    body="return torch.cat(entries(weights, period[:1].expand(len(period))), dim=-1).mean(dim=-1)",
    says="Right where all periods are equal. Here the first sequence's was used for all: each has a period of its "
    "own.")
induction.mutant("mean_period", hint=2, body="""
    same = period.double().mean().long().expand(len(period))
    return torch.cat(entries(weights, same), dim=-1).mean(dim=-1)""", says="Right where all periods are equal. Here "
    "the mean of the periods was used: each sequence has one of its own.")
induction.mutant("largest_period", hint=2,
    body="return torch.cat(entries(weights, period.max().expand(len(period))), dim=-1).mean(dim=-1)",
    says="Right where all periods are equal. Here the largest was used for all: each sequence has a period of its "
    "own.")
induction.mutant("rows_from_the_largest", hint=2, body="""
    longest = int(period.max())
    parts = [e[:, longest - p:] for e, p in zip(entries(weights, period), period.tolist(), strict=True)]
    return torch.cat(parts, dim=-1).mean(dim=-1)""", says="The places are right, but only rows from the largest "
    "period on were counted. Each sequence starts at its own.")
induction.mutant("rows_from_the_smallest", hint=2, body="""
    rows, first = (torch.arange(weights.size(-1)), int(period.min()))
    index = (rows - period[:, None] + 1).clamp(min=0)[:, None, :, None].expand(*weights.shape[:3], 1)
    return weights.gather(-1, index)[..., first:, 0].mean(dim=(0, 2))""", says="The places are right, but all rows "
    "from the smallest period on were counted. Each sequence starts at its own.")
induction.mutant("all_rows_from_the_end", hint=3, body="""
    rows = torch.arange(weights.size(-1))
    parts = [w[:, rows, (rows - p + 1) % len(rows)] for w, p in zip(weights, period, strict=True)]
    return torch.stack(parts).mean(dim=(0, 2))""", says="Rows before the first repetition were counted too: there, i "
    "- period + 1 is negative and indexes from the end.")
induction.mutant("all_rows_clamped", hint=3, body="""
    rows = torch.arange(weights.size(-1))
    index = (rows - period[:, None] + 1).clamp(min=0)[:, None, :, None]
    return weights.gather(-1, index.expand(*weights.shape[:3], 1)).mean(dim=(0, 2, 3))""",
    says="Rows before the first repetition were counted too, with the weight on token 0. Clamping makes an index "
    "valid, but those rows should not count.")
induction.mutant("one_row_too_early", hint=1,
    body="return torch.cat(entries(weights, period, first=-1), dim=-1).mean(dim=-1)", says="Row period - 1 was "
    "counted too: the whole diagonal. Its token has not occurred before. Start at i = period.")
induction.mutant("one_row_too_late", "rows >= period[:, None]", "rows > period[:, None]", hint=1,
    says="The first repeated token was left out. i = period counts: its token was there a period before.")
induction.mutant("divided_by_all_rows", hint=3, body="""
    rows = torch.cat(entries(weights, period), dim=-1).sum(dim=-1)
    return rows / (weights.size(0) * weights.size(-1))""",
    says="The sum is right, but it was divided by all B * L rows. Divide by the number of rows that count.")
induction.mutant("mean_of_means", hint=3,
    body="return torch.stack([e.mean(dim=-1) for e in entries(weights, period)]).mean(dim=0)",
    says="Each sequence was averaged first, then the sequences. A long period has fewer rows, so they got more "
    "weight: take one mean over all rows that count.")
induction.mutant("sum_of_means", hint=3,
    body="return torch.stack([e.mean(dim=-1) for e in entries(weights, period)]).sum(dim=0)",
    says="Each sequence was averaged, then the sequences were added up. Take one mean over all rows that count.")
induction.mutant("one_row_too_many_in_the_count", hint=3, body="""
    total = torch.cat(entries(weights, period), dim=-1).sum(dim=-1)
    return total / sum((weights.size(-1) - p + 1 for p in period.tolist()))""", says="The sum is right, but it was "
    "divided by one too many per sequence: from period to L - 1 there are L - period rows.")
induction.mutant("all_summed", "2)) / counted.sum()", "2))", hint=3,
    says="The weights were added up. Divide by how many there are.")
induction.mutant("how_often_the_top", body="""
    hits = [w[:, p:].argmax(dim=-1) == torch.arange(w.size(-1) - p) + 1 for w, p in zip(weights, period.tolist(), strict=True)]
    return torch.cat(hits, dim=-1).to(weights.dtype).mean(dim=-1)""",
    says="This counts how often the place has the largest weight of its row. The mean of the weights is asked for.")
induction.mutant("largest_of_all", body="return torch.cat(entries(weights, period), dim=-1).amax(dim=-1)",
    says="This is the largest of the weights that count. Take their mean.")
induction.mutant("largest_of_each_row", hint=1, body="""
    found = [w[:, p:].amax(dim=-1) for w, p in zip(weights, period.tolist(), strict=True)]
    return torch.cat(found, dim=-1).mean(dim=-1)""",
    says="This is the mean of each row's largest weight, wherever it is. Take the weight at i - period + 1.")
induction.mutant("one_for_all_heads", body="return torch.cat(entries(weights, period), dim=-1).mean()",
    says="This is one number for all heads. Each head has a score of its own: (H,).")
induction.mutant("one_per_sequence", body="return torch.stack([e.mean() for e in entries(weights, period)])",
    says="The mean ran over the heads: this is one score per sequence, (B,). Average over sequences and leave the "
    "heads.")
induction.mutant("for_each_sequence_and_head", hint=3,
    body="return torch.stack([e.mean(dim=-1) for e in entries(weights, period)])",
    says="There is one score per sequence and head, (B, H). Take one mean over the rows of all sequences: (H,).")
induction.mutant("queries_and_keys_swapped", body="return torch.cat(entries(weights.mT, period), dim=-1).mean(dim=-1)",
    says="Rows and columns are swapped. The query i is the row, the place it looks at is the column.")
induction.mutant("a_period_ahead", hint=1, body="""
    found = [w.diagonal(offset=p - 1, dim1=-2, dim2=-1) for w, p in zip(weights, period.tolist(), strict=True)]
    return torch.cat(found, dim=-1).mean(dim=-1)""",
    says="This looks a period ahead, at i + period - 1. The previous occurrence is a period back.")
induction.mutant("just_the_token_before", hint=1, body="""
    found = [w.diagonal(offset=-1, dim1=-2, dim2=-1)[:, p - 1:] for w, p in zip(weights, period.tolist(), strict=True)]
    return torch.cat(found, dim=-1).mean(dim=-1)""",
    says="This is the weight on the token before, as in exercise 9.2. An induction head looks about a period back.")
induction.mutant("second_period_only",
    body="return torch.cat(entries(weights, period, stop=lambda p: 2 * p), dim=-1).mean(dim=-1)",
    says="Only the second period was counted. From i = period on, all rows do, up to the end of the sequence.")
induction.mutant("from_two_periods", hint=1, body="""
    rows = [w[:, 2 * p:] for w, p in zip(weights, period.tolist(), strict=True)]
    found = [w.diagonal(offset=p + 1, dim1=-2, dim2=-1) for w, p in zip(rows, period.tolist(), strict=True)]
    return torch.cat(found, dim=-1).mean(dim=-1)""", says="The second period was left out: only rows from 2 * period "
    "on were counted. A token has occurred before from i = period on.")
induction.mutant("first_occurrence", body="""
    found = []
    for w, p in zip(weights, period.tolist(), strict=True):
        rows = torch.arange(p, w.size(-1))
        found.append(w[:, rows, rows % p + 1])
    return torch.cat(found, dim=-1).mean(dim=-1)""", says="This is the token after the FIRST occurrence. From the "
    "third period on that is too far back: go back one period, to the last occurrence.")
induction.mutant("one_row_each", hint=2,
    body="return torch.cat(entries(weights, period, stop=lambda p: p + 1), dim=-1).mean(dim=-1)",
    says="Only row i = period was counted. All later rows do, too.")
induction.mutant("first_sequence_alone", hint=2, body="return entries(weights, period)[0].mean(dim=-1)",
    says="Only the first sequence was counted. Take the mean over all of them.")
induction.mutant("last_sequence_alone", body="return entries(weights, period)[-1].mean(dim=-1)",
    says="Only the last sequence was counted. Is a result overwritten in a loop?")
induction.mutant("every_earlier_occurrence", body="""
    total = torch.zeros(weights.size(1), dtype=weights.dtype)
    for w, p in zip(weights, period.tolist(), strict=True):
        for i in range(p, w.size(-1)):
            total += sum((w[:, i, i - k * p + 1] for k in range(1, i // p + 1)))
    return total / sum((weights.size(-1) - p for p in period.tolist()))""",
    says="The weights after all earlier occurrences were added. Only the last one counts, a single period back.")
induction.mutant("one_period_as_a_number", hint=2, body="""
    rows = weights.diagonal(offset=1 - int(period), dim1=-2, dim2=-1)
    return rows[..., 1:].mean(dim=(0, 2))""", says="It stopped: `period` holds one number per sequence, so it cannot "
    "become a single integer. Treat each sequence separately, or use a table of places.")
induction.mutant("range_over_all_periods", hint=2, body="""
    rows = range(period, weights.size(-1))
    return weights[..., rows, rows].mean(dim=(0, 2))""",
    says="It stopped: `range` needs one integer, and `period` holds one per sequence. Index it with the sequence.")
induction.mutant("in_a_list", body="return torch.cat(entries(weights, period), dim=-1).mean(dim=-1).tolist()",
    says="The right numbers in a list. Return them as one tensor (H,).")
induction.mutant("every_sequence_at_all_places", hint=2, body="""
    rows = torch.arange(weights.size(-1)).expand(len(period), -1)
    index = (rows - period[:, None] + 1).clamp(min=0)
    return weights[:, :, rows, index][:, :, rows >= period[:, None]].mean(dim=(0, -1))""",
    says="Each sequence was read at the places of all sequences: with `weights[:, :, rows, columns]` the batch axis "
    "meets every period. Sequence b belongs to period b alone.")

ablate = solution("ablate_head")
ablate.mutant("StaysOff", "hook.remove()", "hook", hint=3,
    says="Right inside the block, but afterward the head is still off. Is what you kept a copy, or the weight "
    "itself? Was a hook removed?")
ablate.mutant("OutputZeroed", hint=1, code="""
    class ablate_head(Off):

        def __enter__(self):

            def zero(layer, read, output):
                output = output.clone()
                output[..., self.part()] = 0.0
                return output
            self.hook = self.layer.register_forward_hook(zero)

        def back(self):
            self.hook.remove()""", says="Entries of the output are 0. Each of them mixes all heads: switch the head "
    "off before out_proj, in what it reads.")
ablate.mutant("Interleaved", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(self.head, None, self.module.num_heads)""", says="Every H-th entry was switched off, as if "
    "the heads were interleaved. Head h is D entries in a row, from h * D on.")
ablate.mutant("RowsOfTheWeight", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[self.part()] = 0.0""", says="Rows of out_proj's weight were zeroed. Rows belong to "
    "outputs, columns to inputs, and the heads are its input.")
ablate.mutant("RowOfTheWeight", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[self.head] = 0.0""",
    says="One row of out_proj's weight was zeroed. A row belongs to an entry of the output; a head has D columns.")
ablate.mutant("NotAfterAnException", code="""
    class ablate_head(Off):

        def __exit__(self, kind, error, trace):
            if kind is None:
                self.back()""", says="After an exception the head is still off: what follows `yield` does not run "
    "then. Where do you put what has to run in any case?")
ablate.mutant("OnlyAfterAnException", code="""
    class ablate_head(Off):

        def __exit__(self, kind, error, trace):
            if kind is not None:
                self.back()""", says="After an exception the head is back, but when the block ends normally it stays "
    "off. Restore it in both cases.")
ablate.mutant("Swallowed", code="""
    class ablate_head(Off):

        def __exit__(self, kind, error, trace):
            self.back()
            return True""",
    says="The exception disappeared: nobody would learn that the block went wrong. Clean up, then let it go on.")
ablate.mutant("OthersOff", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            kept = self.layer.weight[:, self.part()].clone()
            self.layer.weight.zero_()
            self.layer.weight[:, self.part()] = kept""",
    says="All heads but this one were switched off. Only this one should be.")
ablate.mutant("AllOff", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight.zero_()""",
    says="All heads were switched off: only the bias is left. Zero the part that belongs to this head.")
ablate.mutant("NextHead", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice((self.head + 1) * self.size(), (self.head + 2) * self.size())""",
    says="The next head was switched off. Heads count from 0: head h starts at h * D.")
ablate.mutant("PreviousHead", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice((self.head - 1) * self.size(), self.head * self.size())""",
    says="The head before was switched off, and for head 0 none. Heads count from 0, not from 1.")
ablate.mutant("FirstHeadAlways", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(0, self.size())""",
    says="Head 0 was switched off, whichever was asked for. Where does the part of head h start?")
ablate.mutant("LastHeadAlways", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(self.head * self.size(), None)""",
    says="The slice has no end: all later heads were switched off too. Head h ends at (h + 1) * D.")
ablate.mutant("UpToThisHead", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(0, (self.head + 1) * self.size())""",
    says="The slice has no start: all earlier heads were switched off too. Head h starts at h * D.")
ablate.mutant("OneEntry", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(self.head, self.head + 1)""",
    says="One entry was switched off. A head has D of them, side by side.")
ablate.mutant("OneEntryShort", hint=1, code="""
    class ablate_head(Off):

        def part(self):
            return slice(self.head * self.size(), (self.head + 1) * self.size() - 1)""",
    says="The head's last entry is still on. A slice leaves its end out already.")
ablate.mutant("HeadsAsSize", "module.out_proj.in_features // module.num_heads", "module.num_heads", hint=1,
    says="num_heads was taken for the size of a head. A head's dimension is out_proj's number of inputs divided by "
    "it.")
ablate.mutant("SizeAsAFloat", "head * size", "head / size",
    says="It stopped: `/` gives a float, and a slice needs integers. Divide whole numbers with //.")
ablate.mutant("FewerHeads", hint=2, code="""
    class ablate_head(Off):

        def off(self):
            self.module.num_heads -= 1

        def back(self):
            self.module.num_heads += 1""", says="num_heads was lowered, so the same entries are cut into fewer, "
    "larger heads. Leave it, and silence one head's part.")
ablate.mutant("NoSuchSize", code="""
    class ablate_head(Off):

        def size(self):
            return self.module.head_dim""",
    says="The module has no `head_dim`. Work a head's dimension out from out_proj's number of inputs and num_heads.")
ablate.mutant("NoSuchWidth", code="""
    class ablate_head(Off):

        def size(self):
            return self.module.d_model // self.module.num_heads""",
    says="The module has no `d_model`. Its layers know: how many inputs does out_proj have?")
ablate.mutant("QueriesZeroed", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.q_proj.weight[self.part()] = 0.0""", says="The head's queries were zeroed, in q_proj. Then "
    "it looks at all keys about equally, and its output still counts: cut it off at out_proj.")
ablate.mutant("InputsOfTheQueries", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.q_proj.weight[:, self.part()] = 0.0""", says="Columns of q_proj were zeroed. They belong to "
    "entries of the tokens, which all heads read. The head's own part is what out_proj reads.")
ablate.mutant("KeysZeroed", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.k_proj.weight[self.part()] = 0.0
            self.module.k_proj.bias is not None and self.module.k_proj.bias[self.part()].zero_()""",
    says="The head looks at all keys equally, as if its scores were 0, and its output still counts: cut it off at "
    "out_proj.")
ablate.mutant("ValuesWithoutBias", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.v_proj.weight[self.part()] = 0.0""", says="The head's values were zeroed in v_proj, but its "
    "bias still gets through. Zero that too, or cut the head off at out_proj.")
ablate.mutant("BiasNotRestored", hint=3, code="""
    class ablate_head(Off):

        def off(self):
            self.module.v_proj.weight[self.part()] = 0.0
            if self.module.v_proj.bias is not None:
                self.module.v_proj.bias[self.part()] = 0.0

        def back(self):
            names = [name for name, _ in self.module.named_parameters()]
            with torch.no_grad():
                self.module.v_proj.weight.copy_(self.kept[names.index('v_proj.weight')])""", says="Right inside the "
    "block. Afterward v_proj's weight is back, but its bias is not: restore all that you changed.")
ablate.mutant("AllValuesZeroed", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.v_proj.weight.zero_()""", says="All of v_proj's weight was zeroed, so no head says anything "
    "about the tokens. Only this head should be off.")
ablate.mutant("InputsOfTheValues", hint=1, code="""
    class ablate_head(Off):

        def off(self):
            self.module.v_proj.weight[:, self.part()] = 0.0""",
    says="Columns of v_proj were zeroed. They belong to entries of the tokens, not to a head.")
ablate.mutant("BiasOff", hint=3, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[:, self.part()] = 0.0
            if self.layer.bias is not None:
                self.layer.bias.zero_()""",
    says="The head is off, but so is out_proj's bias. It belongs to no head: leave it on.")
ablate.mutant("PartOfTheBiasOff", hint=3, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[:, self.part()] = 0.0
            if self.layer.bias is not None:
                self.layer.bias[self.part()] = 0.0""",
    says="The head is off, but so is a part of out_proj's bias. Its entries belong to outputs, not to heads.")
ablate.mutant("MultipliedBack", hint=3, code="""
    class ablate_head(Off):

        def back(self):
            with torch.no_grad():
                self.layer.weight[:, self.part()] /= 0.0""", says="The output after the block is NaN: a weight that "
    "was multiplied by 0 does not come back by division. Keep a copy and put it back.")
ablate.mutant("FreshWeights", hint=3, code="""
    class ablate_head(Off):

        def back(self):
            self.layer.reset_parameters()""",
    says="Afterward out_proj has new random weights. It should have those from before: keep a copy and put it back.")
ablate.mutant("OthersLouder", code="""
    class ablate_head(Off):

        def off(self):
            heads = self.module.num_heads
            self.layer.weight[:, self.part()] = 0.0
            self.layer.weight *= heads / max(heads - 1, 1)""", says="The head is off, but the others were scaled up, "
    "as dropout does. They should contribute what they did before.")
ablate.mutant("HalfOff", hint=2, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[:, self.part()] *= 0.5""",
    says="The head is weaker, but not off: its part was multiplied by a number other than 0.")
ablate.mutant("SignFlipped", hint=2, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[:, self.part()] *= -1.0""",
    says="The head's part was multiplied by −1, so its contribution is subtracted. It should be 0.")
ablate.mutant("MeanInstead", hint=2, code="""
    class ablate_head(Off):

        def off(self):
            self.layer.weight[:, self.part()] = self.layer.weight[:, self.part()].mean()""",
    says="The head's columns were replaced by their mean, so it still contributes. It should contribute nothing.")
ablate.mutant("RestoredTooSoon", "(head + 1)", "(head + 0)", says="Inside the block nothing has changed. Was a copy "
    "changed instead of the module, or the weight restored before the `yield`? Does a hook return something?")
ablate.mutant("not_a_context_manager", code="""
    def ablate_head(module, head):
        Off(module, head).__enter__()""", says="It returned None, which `with` cannot enter. A function under "
    "@contextmanager needs that line above it, and a `yield`.")
ablate.mutant("generator_alone", code="""
    def ablate_head(module, head):
        with Off(module, head):
            yield""",
    says="`with` cannot enter a bare generator. The line @contextmanager above the function is missing.")
ablate.mutant("no_yield", code="""
    def ablate_head(module, head):
        return contextmanager(lambda module, head: None)(module, head)""",
    says="There is no `yield`, so the block never runs. It marks the place where the block comes in.")
ablate.mutant("module_returned", code="""
    def ablate_head(module, head):
        return contextmanager(lambda module, head: module)(module, head)""", says="The module was returned where a "
    "`yield` belongs. The block runs at the `yield`, and what follows it runs when the block has ended.")
ablate.mutant("yields_twice", code="""
    def ablate_head(module, head):

        def blocks(module, head):
            with Off(module, head):
                yield
            yield
        return contextmanager(blocks)(module, head)""",
    says="There are two `yield`s. One block comes in at one place: what follows the first `yield` cleans up.")
ablate.mutant("autograd_in_the_way", hint=3, code="""
    def ablate_head(module, head):

        def blocks(module, head):
            Off(module, head).off()
            yield
        return contextmanager(blocks)(module, head)""",
    says="It stopped: a parameter that learns cannot be written to while autograd is recording. Use torch.no_grad().")
ablate.mutant("tensor_for_a_parameter", hint=3, code="""
    def ablate_head(module, head):

        def blocks(module, head):
            module.out_proj.weight = module.out_proj.weight.detach().clone()
            yield
        return contextmanager(blocks)(module, head)""", says="It stopped: a module's parameter cannot be replaced by "
    "a plain tensor. Write into it, or make a new nn.Parameter and put the old one back afterward.")
ablate.mutant("GradientsOff", code="""
    class ablate_head(Off):

        def __enter__(self):
            self.quiet = torch.no_grad()
            self.quiet.__enter__()
            super().__enter__()

        def __exit__(self, kind, error, trace):
            self.back()
            self.quiet.__exit__(kind, error, trace)""", says="No gradient comes through the block: torch.no_grad() "
    "is still on while the block runs. Leave it before you yield.")
ablate.mutant("NewParameter", hint=3, code="""
    class ablate_head(Off):

        def back(self):
            kept = dict(zip([n for n, _ in self.module.named_parameters()], self.kept, strict=True))
            self.layer.weight = nn.Parameter(kept['out_proj.weight'])""", says="Afterward out_proj or its weight is "
    "a new object, which an optimizer would not know. Put back the old one, or copy into it.")
ablate.mutant("Frozen", code="""
    class ablate_head(Off):

        def __enter__(self):
            self.layer.weight.requires_grad_(False)
            super().__enter__()""",
    says="Afterward out_proj's weight gets no gradient.")
ablate.mutant("KeptOnTheModule", code="""
    class ablate_head(Off):

        def __enter__(self):
            if not hasattr(self.module, 'copies'):
                self.module.copies = [p.detach().clone() for p in self.module.parameters()]
            self.kept = self.module.copies
            with torch.no_grad():
                self.off()""", says="Leaving an inner block switched the outer block's head on again: both blocks "
    "share one copy. Keep what belongs to a block inside the function.")
ablate.mutant("AllParametrizationsRemoved", code="""
    class ablate_head(Off):

        def __enter__(self):
            keep = torch.ones_like(self.layer.weight)
            keep[:, self.part()] = 0.0
            change = nn.Module()
            change.forward = lambda weight: weight * keep
            parametrize.register_parametrization(self.layer, 'weight', change)

        def back(self):
            parametrize.remove_parametrizations(self.layer, 'weight', leave_parametrized=False)""",
    says="Right with one block. With one inside another, it stopped: leaving the inner block removed the "
    "parametrization of both.")
ablate.mutant("HookLeft", hint=2, code="""
    class ablate_head(Off):

        def __enter__(self):
            self.on = True

            def silence(layer, read):
                kept = read[0].clone()
                if self.on:
                    kept[..., self.part()] = 0.0
                return (kept,)
            self.layer.register_forward_pre_hook(silence)

        def back(self):
            self.on = False""",
    says="The outputs are right, but a hook is still on the module, with nothing left to do. Remove it.")
