"""The hidden checks of lesson 6, and the mistakes that students make in it. Never given to students."""

import math
from typing import Any

import torch
from checks import LAYERS, filled, pair
from torch import nn
from torch.nn import functional

from autograder.checks import Inputs, check, mistake

# Split


@check("split_heads", points=1)
def other_memory_order(split_heads: Any, draw: Inputs) -> Any:
    """Tokens that are not contiguous in memory, half precision, and gradients."""
    moved, x = (
        draw.give(draw.normal(3, 6, 4, dtype=torch.float16).mT),
        draw.normal(1, 2, 4).requires_grad_(),
    )
    (split_heads(x, 2) * draw.normal(1, 2, 2, 2)).sum().backward()
    return split_heads(moved, 2), x.grad


@check("split_heads", points=1)
def one_head_and_many(split_heads: Any, draw: Inputs) -> Any:
    """One head, as many heads as dimensions, and a single token."""
    x = draw.normal(2, 3, 4)
    return split_heads(x, 1), split_heads(x, 4), split_heads(draw.normal(1, 1, 8), 2)


def fitting(x, num_heads):
    """Refuse what cannot be divided, and return the head dimension."""
    if x.size(-1) % num_heads:
        raise ValueError("heads do not divide the width")
    return x.size(-1) // num_heads


@mistake("split_heads", hint=1)
def sequence_cut(x, num_heads):
    """The sequence was split: head 0 holds pieces of a few tokens instead of a part of every token. Split the last
    axis, then move the new one.
    """
    return x.reshape(x.size(0), num_heads, x.size(1), fitting(x, num_heads))


@mistake("split_heads", hint=1)
def numbers_interleaved(x, num_heads):
    """The entries are interleaved: head 0 has every third one or so. Of the two new axes, the head comes first."""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), d, num_heads).permute(0, 3, 1, 2)


@mistake("split_heads", hint=2)
def heads_left_behind_tokens(x, num_heads):
    """The shape is (B, L, H, D): the heads come after the tokens. Attention would then run over the heads."""
    return x.reshape(x.size(0), x.size(1), num_heads, fitting(x, num_heads))


@mistake("split_heads", hint=2)
def heads_first(x, num_heads):
    """The heads came first, before the sentences. The batch stays the first axis: (B, H, L, D)."""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(2, 0, 1, 3)


@mistake("split_heads", hint=2)
def heads_last(x, num_heads):
    """Tokens and entries are swapped: each head is (D, L). It should be (L, D), one row per token."""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(0, 2, 3, 1)


@mistake("split_heads", hint=2)
def scrambled_after_the_move(x, num_heads):
    """The axes were moved first and split afterward, so entries of different tokens ended up in one row."""
    d = fitting(x, num_heads)
    return x.transpose(1, 2).reshape(x.size(0), num_heads, x.size(1), d)


@mistake("split_heads", hint=3)
def any_width(x, num_heads):
    """Where num_heads does not divide E, there is an error other than ValueError, or none at all. Check before you
    split.
    """
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@mistake("split_heads", hint=3)
def rest_dropped(x, num_heads):
    """An E that num_heads does not divide was accepted, or the error was returned. `raise` a ValueError."""
    d = x.size(-1) // num_heads
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(num_heads)], dim=1)


@mistake("split_heads")
def assertion(x, num_heads):
    """An E that num_heads does not divide is refused, but not with a ValueError. `assert` raises AssertionError."""
    assert x.size(-1) % num_heads == 0
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@mistake("split_heads", hint=3)
def fitting_widths_refused(x, num_heads):
    """An E that num_heads does divide was refused. What decides is the remainder of the division, not the quotient."""
    if x.size(-1) % num_heads == 0:
        raise ValueError("refused")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@mistake("split_heads", hint=2)
def stacked_behind(x, num_heads):
    """The heads were stacked along an axis other than 1."""
    d = fitting(x, num_heads)
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(num_heads)], dim=-1)


@mistake("split_heads")
def list_of_heads(x, num_heads):
    """This is a tuple or list of heads. Return one tensor, with the heads as axis 1."""
    return list(x.split(fitting(x, num_heads), dim=-1))


@mistake("split_heads", hint=1)
def number_as_width(x, num_heads):
    """num_heads was taken for the head dimension. It is the number of heads."""
    fitting(x, num_heads)
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


@mistake("split_heads", hint=2)
def only_contiguous(x, num_heads):
    """It stopped on tokens that are not contiguous in memory. `view` needs them to be, `reshape` and `unflatten` do
    not.
    """
    d = fitting(x, num_heads)
    return x.view(-1).view(x.size(0), x.size(1), num_heads, d).transpose(1, 2)


@mistake("split_heads", hint=2)
def joined_to_the_batch(x, num_heads):
    """The heads were joined along the batch axis. They need an axis of their own: stack makes one, cat does not."""
    fitting(x, num_heads)
    return torch.cat(x.chunk(num_heads, dim=-1))


@mistake("split_heads", hint=2)
def head_and_number_swapped(x, num_heads):
    """Heads and entries are swapped: (B, D, L, H). The heads are axis 1, and the entries of a head come last."""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(0, 3, 1, 2)


@mistake("split_heads", hint=2)
def heads_in_the_batch(x, num_heads):
    """The heads were merged into the batch axis: (B * H, L, D). Leave them an axis of their own: (B, H, L, D)."""
    return (
        x.unflatten(-1, (num_heads, fitting(x, num_heads)))
        .transpose(1, 2)
        .flatten(0, 1)
    )


@mistake("split_heads")
def cut_off(x, num_heads):
    """The result is right, but no gradient reaches x: something on the way drops the graph, as detach,
    .data, torch.tensor and numpy do.
    """
    fitting(x, num_heads)
    return x.detach().unflatten(-1, (num_heads, -1)).transpose(1, 2)


# Merge


@check("merge_heads", points=1)
def moved_heads(merge_heads: Any, draw: Inputs) -> Any:
    """Heads that are not contiguous in memory, one head, heads of dimension 1, and gradients."""
    moved, x = (
        draw.give(draw.normal(2, 5, 3, 4).transpose(1, 2)),
        draw.normal(1, 2, 3, 2).requires_grad_(),
    )
    (merge_heads(x) * draw.normal(1, 3, 4)).sum().backward()
    return x.grad, (
        merge_heads(moved),
        merge_heads(draw.normal(2, 1, 3, 4)),
        merge_heads(draw.normal(1, 4, 3, 1)),
    )


@mistake("merge_heads", hint=1)
def tokens_scrambled(x):
    """The tokens are scrambled: rows mix entries of several. Move the heads next to the entries, then join."""
    b, h, n, d = x.shape
    return x.reshape(b, n, h * d)


@mistake("merge_heads", hint=1)
def heads_added(x):
    """The heads were added up. They belong side by side: (B, L, H * D)."""
    return x.sum(dim=1)


@mistake("merge_heads")
def sentences_side_by_side(x):
    """The sentences ended up side by side, not the heads: a loop over a tensor runs along its first axis, the batch."""
    return torch.cat(list(x), dim=-1)


@mistake("merge_heads", hint=1)
def heads_averaged(x):
    """The heads were averaged. They belong side by side: (B, L, H * D)."""
    return x.mean(dim=1)


@mistake("merge_heads", hint=3)
def view_of_moved_numbers(x):
    """It stopped: after a transpose the entries are no longer in memory order, which `view` needs. Use `reshape` or
    `flatten`.
    """
    b, h, n, d = x.shape
    return (
        x.permute(0, 2, 1, 3).expand(b, n, h, d).view(b, n * h * d // (h * d), h * d)
        if h > 1
        else x[:, 0]
    )


@mistake("merge_heads", hint=1)
def numbers_interleaved_back(x):
    """The entries of the heads are interleaved. All entries of head 0 come first, then those of head 1."""
    return x.permute(0, 2, 3, 1).flatten(2)


@mistake("merge_heads", hint=2)
def tokens_behind(x):
    """The tokens came last. The result is (B, L, E), one row per token."""
    return x.transpose(1, 2).flatten(2).mT


@mistake("merge_heads", hint=2)
def moved_only(x):
    """The axes were moved but not joined: the result has four axes and should have three."""
    return x.transpose(1, 2)


@mistake("merge_heads")
def first_head_only(x):
    """Only one head came out. All of them belong side by side."""
    return x[:, 0]


@mistake("merge_heads", hint=1)
def joined_along_tokens(x):
    """The heads were joined along the tokens, one below the other. They belong side by side, along the last axis."""
    return torch.cat(list(x.unbind(dim=1)), dim=1)


@mistake("merge_heads", hint=1)
def everything_joined(x):
    """Too many axes were joined. Sentences and tokens stay separate axes."""
    return x.transpose(1, 2).flatten(1)


@mistake("merge_heads", hint=1)
def numbers_and_tokens_swapped(x):
    """Tokens and entries were swapped before joining. Swap heads and tokens instead: move the heads next to the
    entries.
    """
    b, h, n, d = x.shape
    return x.transpose(2, 3).reshape(b, n, h * d)


@mistake("merge_heads", hint=2)
def sentences_moved(x):
    """Sentences and heads were swapped. Heads and tokens should be: axes 1 and 2, counted from 0."""
    b, h, n, d = x.shape
    return x.transpose(0, 1).reshape(b, n, h * d)


@mistake("merge_heads")
def cut_off_from_heads(x):
    """The result is right, but no gradient reaches x: something on the way drops the graph, as detach,
    .data, torch.tensor and numpy do.
    """
    return x.detach().transpose(1, 2).flatten(2)


# The module


@check("MultiHeadAttention", points=1)
def dropout_in_training_only(attention_class: Any, draw: Inputs) -> Any:
    """Dropout on the weights, in training and at no other time."""
    module = filled(attention_class(8, 2, dropout=0.25), draw)
    x = draw.normal(1, 6, 8)
    calm = [module(x, need_weights=True) for _ in range(2)]
    module.out_proj.weight.data = torch.eye(8, dtype=torch.float64)
    query, key = draw.normal(200, 1, 8), draw.normal(1, 1, 8).expand(200, 1, 8)
    single = module(query, key)[
        0
    ]  # one key: its weight is 1, so each head is its value, dropped or scaled up
    module.train()
    output, weights = module(query, key, need_weights=True)
    factors = (output / single).view(200, 2, 4).round(decimals=6)
    together = bool((factors == factors[..., :1]).all())
    return (
        calm,
        weights,
        factors.unique(),
        together,
        filled(attention_class(8, 2), draw).training,
    )


@check("MultiHeadAttention", points=1)
def learning(attention_class: Any, draw: Inputs) -> Any:
    """Gradients of every parameter and of the input, with a query that has no visible keys; names for saving."""
    module, x = (
        filled(attention_class(4, 2, bias=True), draw, bias=True),
        draw.normal(2, 3, 4).requires_grad_(),
    )
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    mask[0] = False
    output, _ = module(x, mask=draw.give(mask))
    (output * draw.normal(2, 3, 4)).sum().backward()
    gradients = {name: p.grad for name, p in sorted(module.named_parameters())}
    return gradients, x.grad, sorted(module.state_dict())


@mistake("merge_heads")
def axes_misnamed(x):
    """The sizes of tokens and heads changed places. Which order do the axes have on the line that names them? x comes
    in as (B, H, L, D), and a transpose makes it (B, L, H, D).
    """
    batch, length, heads, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)


class Heads(nn.Module):
    """Multi-head attention in steps, so that a mistake can get one of them wrong."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads do not divide the width")
        self.num_heads, self.p = num_heads, dropout
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def sources(self, query, key, value):
        key = query if key is None else key
        return query, key, key if value is None else value

    def scale(self, q):
        return math.sqrt(q.size(-1))

    def axes(self, mask):
        return mask[:, None] if mask.dim() == 3 else mask

    def share(self, scores, mask):
        if mask is None:
            return scores.softmax(dim=-1)
        mask = self.axes(mask)
        return (
            scores.masked_fill(~mask, -math.inf).softmax(dim=-1).masked_fill(~mask, 0.0)
        )

    def drop(self, weights):
        return functional.dropout(weights, self.p, self.training)

    def finish(self, x):
        return self.out_proj(x)

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k, v = (
            self.split(self.q_proj(query)),
            self.split(self.k_proj(key)),
            self.split(self.v_proj(value)),
        )
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return output, weights if need_weights else None


@mistake("MultiHeadAttention", hint=3)
class RootOfTheWholeWidth(Heads):
    """Scaled by the root of the whole model dimension. The dot products are between vectors of ONE head: use its
    dimension.
    """

    def scale(self, q):
        return math.sqrt(q.size(-1) * self.num_heads)


@mistake("MultiHeadAttention", hint=3)
class NotScaled(Heads):
    """The scores were not scaled. Divide by the root of the head dimension."""

    def scale(self, q):
        return 1.0


@mistake("MultiHeadAttention", hint=3)
class WidthWithoutRoot(Heads):
    """The scores were divided by the head dimension instead of its root."""

    def scale(self, q):
        return q.size(-1)


@mistake("MultiHeadAttention", hint=3)
class RootOfTheHeads(Heads):
    """Scaled by the root of the number of heads. It is the dimension of a head that makes scores large."""

    def scale(self, q):
        return math.sqrt(self.num_heads)


@mistake("MultiHeadAttention")
class NoOutputProjection(Heads):
    """The heads are side by side but never mixed: out_proj was not applied."""

    def finish(self, x):
        return x


@mistake("MultiHeadAttention")
class MergedWithoutMoving(Heads):
    """The tokens were scrambled when the heads were merged: move the heads next to the entries first (exercise 6.2)."""

    def merge(self, x):
        b, h, n, d = x.shape
        return x.reshape(b, n, h * d)


@mistake("MultiHeadAttention")
class SequenceCut(Heads):
    """The sequence was split instead of the model dimension: a head holds pieces of a few tokens (exercise 6.1)."""

    def split(self, x):
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)


@mistake("MultiHeadAttention")
class Interleaved(Heads):
    """The entries are interleaved among the heads. Head 0 gets the first D entries of each token (exercise 6.1)."""

    def split(self, x):
        return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)


@mistake("MultiHeadAttention")
class OverHeads(Heads):
    """Attention ran over the heads: the weights are (B, L, H, H). Move the heads in front of the tokens first."""

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1))

    def merge(self, x):
        return x.flatten(2)


@mistake("MultiHeadAttention", hint=1)
class OneHeadOnly(Heads):
    """There is only one head, whatever num_heads says: the model dimension was never split."""

    def split(self, x):
        return x[:, None]

    def merge(self, x):
        return x[:, 0]


@mistake("MultiHeadAttention")
class HeadsAveraged(Heads):
    """The weights were averaged over the heads. Return each head's own: (B, H, L, S)."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return output, weights.mean(dim=1) if need_weights else None


@mistake("MultiHeadAttention", hint=2)
class SecondSequenceIgnored(Heads):
    """The second sequence had no effect: keys and values came from the query. Does `forward` use key and value?"""

    def sources(self, query, key, value):
        return query, query, query


@mistake("MultiHeadAttention", hint=2)
class ValueFromTheQuery(Heads):
    """A missing value was replaced by the query. It defaults to the KEY, which may be a different sequence."""

    def sources(self, query, key, value):
        return query, query if key is None else key, query if value is None else value


@mistake("MultiHeadAttention", hint=2)
class ProjectedTwice(Heads):
    """A missing key or value was taken from what had been projected already, so it went through two projections.
    Settle the defaults first, then project.
    """

    def attend(self, query, key, value, mask):
        q = self.q_proj(query)
        k = self.k_proj(q if key is None else key)
        v = self.v_proj(k if value is None else value)
        q, k, v = self.split(q), self.split(k), self.split(v)
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention", hint=2)
class DefaultsNotProjected(Heads):
    """A missing key was replaced by the projected query, or a missing value by the projected key. Settle the defaults
    first: each role has its own projection.
    """

    def attend(self, query, key, value, mask):
        q = self.q_proj(query)
        k = q if key is None else self.k_proj(key)
        v = k if value is None else self.v_proj(value)
        q, k, v = self.split(q), self.split(k), self.split(v)
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention", hint=2)
class RowsTakenForSentences(Heads):
    """A mask (L, S) was read as if its rows were sentences: axes were put behind the first. Its rows are queries, and
    it lines up with the scores as it is.
    """

    def axes(self, mask):
        return mask[:, None, None] if mask.dim() == 2 else super().axes(mask)


@mistake("MultiHeadAttention")
class ValueNotProjected(Heads):
    """The values were mixed as they came in: v_proj was not applied to them."""

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k, v = (
            self.split(self.q_proj(query)),
            self.split(self.k_proj(key)),
            self.split(value),
        )
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention", hint=2)
class ValueIgnored(Heads):
    """The values that were passed in had no effect: the keys were mixed instead."""

    def sources(self, query, key, value):
        key = query if key is None else key
        return query, key, key


@mistake("MultiHeadAttention", hint=2)
class KeysNeeded(Heads):
    """It stopped when only a query was given. The key defaults to the query, and the value to the key."""

    def sources(self, query, key, value):
        if key is None and value is None and query.size(0):
            raise TypeError("key is None")
        return query, key, key if value is None else value


@mistake("MultiHeadAttention")
class AsLongAsTheQueries(Heads):
    """It stopped where the second sequence has another length: keys and values were reshaped with the length of the
    queries. Each takes its own.
    """

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k, v = (
            layer(x)
            .view(*query.shape[:2], self.num_heads, x.size(2) // self.num_heads)
            .transpose(1, 2)
            for layer, x in (
                (self.q_proj, query),
                (self.k_proj, key),
                (self.v_proj, value),
            )
        )
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention", hint=2)
class MaskWithoutHeadAxis(Heads):
    """The batch axis of a (B, L, S) mask lined up with the heads. Give the mask a head axis after the batch: (B, 1, L,
    S).
    """

    def axes(self, mask):
        return mask


@mistake("MultiHeadAttention", hint=2)
class HeadAxisForEveryMask(Heads):
    """Every mask was given a head axis. Only one with three axes needs it. The others line up as they are."""

    def axes(self, mask):
        return mask.unsqueeze(1)


@mistake("MultiHeadAttention")
class MaskTurnedRound(Heads):
    """The mask was inverted. True means "may look", unlike in nn.MultiheadAttention."""

    def share(self, scores, mask):
        return super(self.__class__, self).share(
            scores, None if mask is None else ~mask
        )


@mistake("MultiHeadAttention", hint=2)
class MaskIgnored(Heads):
    """The mask had no effect. Is the result of masked_fill used, and does softmax come after it?"""

    def share(self, scores, mask):
        return scores.softmax(dim=-1)


@mistake("MultiHeadAttention", hint=2)
class EmptyRowIsNan(Heads):
    """A query with no visible keys came out as NaN. Its weights should be zeros, as in exercise 5.4."""

    def share(self, scores, mask):
        return (
            scores if mask is None else scores.masked_fill(~self.axes(mask), -math.inf)
        ).softmax(dim=-1)


@mistake("MultiHeadAttention", hint=2)
class LargeNegativeNumber(Heads):
    """A query with no visible keys looked at hidden ones: a large negative number is finite. Hide with minus infinity,
    then zero the weights.
    """

    def share(self, scores, mask):
        return (
            scores if mask is None else scores.masked_fill(~self.axes(mask), -1e9)
        ).softmax(dim=-1)


@mistake("MultiHeadAttention", hint=2)
class CutAfterSoftmax(Heads):
    """The weights were zeroed after softmax, so rows sum to less than 1. Hide the scores, before softmax."""

    def share(self, scores, mask):
        return scores.softmax(dim=-1) * (1.0 if mask is None else self.axes(mask))


@mistake("MultiHeadAttention", hint=2)
class MendedAfterwards(Heads):
    """The values are right, but the gradients are NaN: minus infinity was added to the scores. Write it with
    masked_fill, as in exercise 5.4.
    """

    def share(self, scores, mask):
        hidden = (
            0.0
            if mask is None
            else torch.zeros_like(scores).masked_fill(~self.axes(mask), -math.inf)
        )
        return (scores + hidden).softmax(dim=-1).nan_to_num(0.0)


@mistake("MultiHeadAttention")
class OverQueries(Heads):
    """Softmax ran over the queries: columns sum to 1. It should run along the last axis, over the keys."""

    def share(self, scores, mask):
        return scores.softmax(dim=-2)


@mistake("MultiHeadAttention")
class AlwaysDropping(Heads):
    """Dropout acts in eval mode too: `functional.dropout` assumes training. Use nn.Dropout, or pass self.training."""

    def drop(self, weights):
        return functional.dropout(weights, self.p)


@mistake("MultiHeadAttention", hint=3)
class NeverDropping(Heads):
    """In training, dropout does not act on the weights. It belongs after softmax, on the weights that mix values."""

    def drop(self, weights):
        return weights


@mistake("MultiHeadAttention", hint=3)
class OutputDropped(Heads):
    """Dropout acts on the output instead of the weights: single entries vanish where a whole value should."""

    def drop(self, weights):
        return weights

    def merge(self, x):
        return functional.dropout(x.transpose(1, 2).flatten(2), self.p, self.training)


@mistake("MultiHeadAttention", hint=3)
class ScoresDropped(Heads):
    """Dropout acts on the scores, before softmax: a score of 0 is a score like any other. It belongs after softmax, on
    the weights that mix the values.
    """

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k, v = (
            self.split(self.q_proj(query)),
            self.split(self.k_proj(key)),
            self.split(self.v_proj(value)),
        )
        weights = self.share(self.drop(q @ k.mT / self.scale(q)), mask)
        return self.finish(self.merge(weights @ v)), weights


@mistake("MultiHeadAttention", hint=3)
class DroppedWeightsReturned(Heads):
    """The returned weights were taken after dropout, so their rows do not sum to 1. Return those from before it."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        seen = []
        own = self.drop

        def spying(weights):
            seen.append(own(weights))
            return seen[-1]

        self.drop = spying
        output, _ = self.attend(query, key, value, mask)
        del self.drop
        return output, seen[-1] if need_weights else None


@mistake("MultiHeadAttention")
class ShareThatIsKept(Heads):
    """dropout was used as the probability of keeping a weight. It is the probability of setting it to 0."""

    def drop(self, weights):
        return functional.dropout(weights, 1 - self.p, self.training)


@mistake("MultiHeadAttention", hint=1)
class PlainList(Heads):
    """No parameters are registered, so nothing would be learned: nn.Module does not see plain tensors or layers in a
    plain list. Store each nn.Linear as an attribute.
    """

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
        layers = {
            name: self._modules.pop(name)
            for name in ("q_proj", "k_proj", "v_proj", "out_proj")
        }
        self.hidden = [layers]

    def __getattr__(self, name):
        hidden = self.__dict__.get("hidden")
        return (
            hidden[0][name]
            if hidden and name in hidden[0]
            else nn.Module.__getattr__(self, name)
        )


@mistake("MultiHeadAttention")
class OneSharedProjection(Heads):
    """One layer serves several roles, so parameters are missing. Queries, keys and values each have their own layer."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
        self.k_proj = self.v_proj = self.q_proj


@mistake("MultiHeadAttention")
class OneStackedProjection(Heads):
    """Queries, keys and values share one stacked layer. Here each has its own, named as in the docstring."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
        del self.q_proj, self.k_proj, self.v_proj
        self.qkv_proj = nn.Linear(d_model, 3 * d_model, bias=bias)


@mistake("MultiHeadAttention")
class AlwaysBias(Heads):
    """The layers have biases that nobody asked for: pass `bias` on to nn.Linear, whose default is True."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=True)


@mistake("MultiHeadAttention")
class NeverBias(Heads):
    """bias=True had no effect. Pass it on to each nn.Linear."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=False)


@mistake("MultiHeadAttention")
class OutputWithoutBias(Heads):
    """out_proj has no bias although one was asked for, or has one although none was."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)


@mistake("MultiHeadAttention")
class NarrowLayers(Heads):
    """The layers project to the dimension of one head. They go from E to E, and the split into heads comes later."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self, name, nn.Linear(d_model, d_model // num_heads, bias=bias))


@mistake("MultiHeadAttention")
class AnyWidth(Heads):
    """A model dimension that num_heads does not divide was accepted. Raise a ValueError in __init__."""

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        Heads.__init__(self, d_model, 1, dropout=dropout, bias=bias)
        self.num_heads = num_heads


@mistake("MultiHeadAttention")
class RefusedByAssert(Heads):
    """A model dimension that num_heads does not divide is refused, but not with a ValueError. `assert` raises
    AssertionError.
    """

    def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
        assert d_model % num_heads == 0
        Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)


@mistake("MultiHeadAttention")
class WeightsAlways(Heads):
    """Weights came back although nobody asked for them. Without need_weights the second result is None."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        return self.attend(query, key, value, mask)


@mistake("MultiHeadAttention")
class OutputAlone(Heads):
    """Only the output came back. Return a pair: the output, and the weights or None."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return (output, weights) if need_weights else output


@mistake("MultiHeadAttention")
class WeightsNever(Heads):
    """The weights did not come back although they were asked for. Are they in the return, and is need_weights used?"""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        return self.attend(query, key, value, mask)[0], None


@mistake("MultiHeadAttention")
class ScoresReturned(Heads):
    """The second result holds scores. The weights are what softmax makes of them."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return output, weights.log() if need_weights else None


@mistake("MultiHeadAttention")
class ResidualAdded(Heads):
    """The input was added to the output. A transformer block does that around this module, not inside it."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return query + output, weights if need_weights else None


@mistake("MultiHeadAttention")
class KeysAndValuesSwapped(Heads):
    """k_proj and v_proj are swapped: keys are compared, values are mixed."""

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k, v = (
            self.split(self.q_proj(query)),
            self.split(self.v_proj(key)),
            self.split(self.k_proj(value)),
        )
        weights = self.share(q @ k.mT / self.scale(q), mask)
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention")
class VisibleKeysHidden(Heads):
    """The mask was read inverted, so rows where every key is visible became NaN. Hide where ~mask."""

    def share(self, scores, mask):
        hidden = (
            scores if mask is None else scores.masked_fill(self.axes(mask), -math.inf)
        )
        return hidden.softmax(dim=-1)


@mistake("MultiHeadAttention", hint=2)
class MaskAdded(Heads):
    """The mask was added to the scores as 0 and 1, so hidden keys stay visible. Overwrite their scores with minus
    infinity.
    """

    def share(self, scores, mask):
        return (scores if mask is None else scores + self.axes(mask)).softmax(dim=-1)


@mistake("MultiHeadAttention")
class OverHeadsSoftmax(Heads):
    """Softmax ran over the heads, axis 1. It should run over the keys, the last axis."""

    def share(self, scores, mask):
        return scores.softmax(dim=1)


@mistake("MultiHeadAttention")
class QueryProjectionForKeys(Heads):
    """Keys went through q_proj. They have a projection of their own, k_proj."""

    def attend(self, query, key, value, mask):
        query, key, value = self.sources(query, key, value)
        q, k = self.split(self.q_proj(query)), self.split(self.q_proj(key))
        v, weights = (
            self.split(self.v_proj(value)),
            self.share(q @ k.mT / self.scale(q), mask),
        )
        return self.finish(self.merge(self.drop(weights) @ v)), weights


@mistake("MultiHeadAttention")
class PairSwapped(Heads):
    """These are the right tensors in the wrong order: the output should come first, then the weights or None."""

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        output, weights = self.attend(query, key, value, mask)
        return weights if need_weights else None, output


@mistake("MultiHeadAttention", hint=2)
class OutputOnlyMended(Heads):
    """The output of a query with no visible keys was fixed, but its weights are still NaN. Zero the weights too."""

    def attend(self, query, key, value, mask):
        output, weights = super(self.__class__, self).attend(query, key, value, mask)
        if mask is None:
            return output, weights
        empty = ~self.axes(mask).any(dim=-1, keepdim=True)
        return output, weights.masked_fill(empty, math.nan)


# Copying


@check("copy_torch_weights", points=1)
def still_two_modules(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The two modules do not share tensors afterward."""
    mine, reference = pair(draw, bias=True)
    copy_torch_weights(mine, reference)
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(100.0)
    return {
        name: [getattr(mine, name).weight, getattr(mine, name).bias] for name in LAYERS
    }


@check("copy_torch_weights", points=1)
def same_objects(copy_torch_weights: Any, draw: Inputs) -> Any:
    """The parameters stay the same objects and still learn, and the reference is unchanged."""
    mine, reference = pair(draw, bias=True)
    before = dict(mine.named_parameters())
    kept = {name: p.detach().clone() for name, p in reference.named_parameters()}
    copy_torch_weights(mine, reference)
    now = dict(mine.named_parameters())
    same = [now.get(name) is parameter for name, parameter in before.items()]
    learning = [p.requires_grad and p.is_leaf for p in now.values()]
    untouched = [bool(p.equal(kept[name])) for name, p in reference.named_parameters()]
    return same, learning, untouched, mine.v_proj.weight


def copied(mine, weights, biases=None):
    """Copy the given tensors into the four layers, in place."""
    layers = (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj)
    with torch.no_grad():
        for layer, weight in zip(layers, weights, strict=True):
            layer.weight.copy_(weight)
        for layer, bias in zip(layers, biases or (None,) * 4, strict=True):
            if bias is not None:
                layer.bias.copy_(bias)


def parts(reference):
    """Split the stacked weights."""
    return (*reference.in_proj_weight.chunk(3), reference.out_proj.weight)


def bias_parts(reference):
    """Split the stacked biases, if there are any."""
    if reference.in_proj_bias is None:
        return None
    return (*reference.in_proj_bias.chunk(3), reference.out_proj.bias)


@mistake("copy_torch_weights")
def transposed(mine, reference):
    """The matrices were transposed on the way. Both modules store weights as (out, in)."""
    copied(mine, [w.mT for w in parts(reference)], bias_parts(reference))


@mistake("copy_torch_weights", hint=1)
def cut_across(mine, reference):
    """The stacked matrix was split along the wrong axis. Rows belong to outputs: split along axis 0."""
    pieces = [
        w.reshape(mine.q_proj.weight.shape)
        for w in reference.in_proj_weight.chunk(3, dim=1)
    ]
    copied(mine, [*pieces, reference.out_proj.weight], bias_parts(reference))


@mistake("copy_torch_weights", hint=1)
def chunked_across(mine, reference):
    """It stopped because the stacked matrix was split along the wrong axis: split (3E, E) along its rows, axis 0."""
    copied(mine, [*reference.in_proj_weight.chunk(3, dim=1), reference.out_proj.weight])


@mistake("copy_torch_weights", hint=1)
def another_order(mine, reference):
    """The parts are in the wrong order. From top to bottom, the stack holds queries, keys, values."""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (k, q, v, out), biases and (biases[1], biases[0], *biases[2:]))


@mistake("copy_torch_weights", hint=1)
def keys_and_values_mixed_up(mine, reference):
    """Keys and values are swapped. From top to bottom, the stack holds queries, keys, values."""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(
        mine, (q, v, k, out), biases and (biases[0], biases[2], biases[1], biases[3])
    )


@mistake("copy_torch_weights", hint=1)
def values_first(mine, reference):
    """The order is reversed. From top to bottom, the stack holds queries, keys, values."""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (v, k, q, out), biases and (*biases[2::-1], biases[3]))


@mistake("copy_torch_weights", hint=1)
def every_third_row(mine, reference):
    """The rows are mixed up: the queries are the first E rows of the stack, not every third one."""
    w, b = reference.in_proj_weight, reference.in_proj_bias
    biases = None if b is None else (b[0::3], b[1::3], b[2::3], reference.out_proj.bias)
    copied(mine, (w[0::3], w[1::3], w[2::3], reference.out_proj.weight), biases)


@mistake("copy_torch_weights", hint=3)
def output_forgotten(mine, reference):
    """out_proj was not copied. It is a separate layer in both modules."""
    biases = bias_parts(reference)
    own = mine.out_proj
    copied(
        mine, (*parts(reference)[:3], own.weight), biases and (*biases[:3], own.bias)
    )


@mistake("copy_torch_weights", hint=1)
def first_part_everywhere(mine, reference):
    """All three layers got the same part of the stack. Each has its own rows."""
    q, _, _, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (q, q, q, out), biases and (*[biases[0]] * 3, biases[3]))


@mistake("copy_torch_weights", hint=3)
def biases_forgotten(mine, reference):
    """The weights are right, but the biases were not copied. in_proj_bias is stacked like the weights."""
    biases = bias_parts(reference)
    copied(mine, parts(reference), biases and [b * 0 for b in biases])


@mistake("copy_torch_weights", hint=3)
def output_bias_forgotten(mine, reference):
    """The bias of out_proj was not copied, or those of the three projections were not."""
    biases = bias_parts(reference)
    copied(mine, parts(reference), biases and (*biases[:3], biases[3] * 0))


@mistake("copy_torch_weights", hint=3)
def biases_expected(mine, reference):
    """It stopped where there are no biases: in_proj_bias is None then. Check for that first."""
    copied(
        mine,
        parts(reference),
        (*reference.in_proj_bias.chunk(3), reference.out_proj.bias),
    )


@mistake("copy_torch_weights", hint=2)
def layer_taken_over(mine, reference):
    """out_proj is now the reference's own layer: training one module would change the other. Copy its entries into the
    layer that is there.
    """
    copied(mine, parts(reference), bias_parts(reference))
    mine.out_proj = reference.out_proj


@mistake("copy_torch_weights", hint=2)
def shared_numbers(mine, reference):
    """Both modules now share their tensors: training one would change the other. Copy the entries, with copy_."""
    for layer, weight in zip(
        (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj),
        parts(reference),
        strict=True,
    ):
        layer.weight.data = weight.data
    if reference.in_proj_bias is not None:
        for layer, bias in zip(
            (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj),
            bias_parts(reference),
            strict=True,
        ):
            layer.bias.data = bias.data


@mistake("copy_torch_weights", hint=2)
def new_parameters(mine, reference):
    """The parameters were replaced by new objects: an optimizer would go on training the old ones. Use copy_."""
    layers = (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj)
    for layer, weight in zip(layers, parts(reference), strict=True):
        layer.weight = nn.Parameter(weight.detach().clone())
    if reference.in_proj_bias is not None:
        for layer, bias in zip(layers, bias_parts(reference), strict=True):
            layer.bias = nn.Parameter(bias.detach().clone())


@mistake("copy_torch_weights", hint=2)
def autograd_in_the_way(mine, reference):
    """It stopped: a parameter that learns cannot be overwritten while autograd is recording. Use torch.no_grad()."""
    mine.q_proj.weight.copy_(reference.in_proj_weight.chunk(3)[0])


@mistake("copy_torch_weights", hint=2)
def frozen(mine, reference):
    """The copied parameters no longer learn: requires_grad was turned off and never turned back on."""
    mine.requires_grad_(False)
    copied(mine, parts(reference), bias_parts(reference))


@mistake("copy_torch_weights")
def wrong_direction(mine, reference):
    """The copy went the wrong way, or nothing was copied: mine must get the weights of reference."""
    copied(mine, [torch.full_like(w, 0.0) for w in parts(reference)])
    for parameter in mine.parameters():
        parameter.data.zero_()


# Counting


@check("count_parameters", points=1)
def large_models(count_parameters: Any, draw: Inputs) -> Any:
    """One head, and the sizes of well-known models."""
    return [
        count_parameters(width, heads, bias)
        for width, heads in ((8, 1), (768, 12), (4096, 32))
        for bias in (True, False)
    ]


@mistake("count_parameters", hint=1)
def three_matrices(d_model, num_heads, bias):
    """Three matrices were counted. There is a fourth: out_proj."""
    return 3 * (d_model * d_model + d_model * bias)


@mistake("count_parameters", hint=1)
def times_heads(d_model, num_heads, bias):
    """Each head was counted as if it had matrices of full size. The heads share four E × E matrices."""
    return 4 * num_heads * (d_model * d_model + d_model * bias)


@mistake("count_parameters", hint=2)
def three_biases(d_model, num_heads, bias):
    """Three biases were counted. out_proj has one too."""
    return 4 * d_model * d_model + 3 * d_model * bias


@mistake("count_parameters", hint=2)
def one_bias(d_model, num_heads, bias):
    """One bias was counted. Each of the four layers has its own."""
    return 4 * d_model * d_model + d_model * bias


@mistake("count_parameters", hint=2)
def biases_for_each_head(d_model, num_heads, bias):
    """Four biases were counted for each head. There are four in all, with one entry per output of their layer."""
    return 4 * d_model * d_model + num_heads * 4 * d_model * bias


@mistake("count_parameters", hint=1)
def one_head(d_model, num_heads, bias):
    """This counts D × D matrices, with the dimension of one head. The layers go from E to E."""
    return 4 * (d_model // num_heads) ** 2 + 4 * (d_model // num_heads) * bias


@mistake("count_parameters", hint=1)
def narrow_inputs(d_model, num_heads, bias):
    """This counts E × D per layer, for one head only. All heads together have dimension E."""
    return 4 * d_model * (d_model // num_heads) + 4 * d_model * bias


@mistake("count_parameters", hint=1)
def three_narrow_layers(d_model, num_heads, bias):
    """q_proj, k_proj and v_proj were counted for one head only, E × D. For all heads together they are E × E."""
    return (3 * (d_model // num_heads) + d_model) * (d_model + bias)


@mistake("count_parameters", hint=1)
def matrices_times_heads(d_model, num_heads, bias):
    """The matrices were counted once per head. The heads share four E × E matrices, cut into strips."""
    return 4 * num_heads * d_model * d_model + 4 * d_model * bias


@mistake("count_parameters", hint=1)
def projection_matrices_times_heads(d_model, num_heads, bias):
    """The matrices of q_proj, k_proj and v_proj were counted once per head. Each is one E × E matrix that all heads
    share, cut into strips.
    """
    return (3 * num_heads + 1) * d_model * d_model + 4 * d_model * bias


@mistake("count_parameters", hint=1)
def narrow_out(d_model, num_heads, bias):
    """out_proj was counted as D × E. It reads all heads side by side, so it is E × E."""
    return d_model * (3 * d_model + d_model // num_heads) + 4 * d_model * bias


@mistake("count_parameters", hint=1)
def projections_times_heads(d_model, num_heads, bias):
    """q_proj, k_proj and v_proj were counted once per head. Each is one E × E matrix that all heads share, cut into
    strips.
    """
    return (3 * num_heads + 1) * (d_model * d_model + d_model * bias)


@mistake("count_parameters", hint=1)
def square_heads(d_model, num_heads, bias):
    """Each head was given D × D matrices. A head reads all E entries of a token, so its part of a layer is E × D."""
    narrow = 3 * num_heads * (d_model // num_heads) ** 2 + d_model * d_model
    return narrow + 4 * d_model * bias


@mistake("count_parameters")
def caret(d_model, num_heads, bias):
    """In Python `^` is not a power but a bitwise operation: 12 ^ 2 is 14. A square is written d_model ** 2."""
    return ((4 * d_model) ^ 2) + 4 * d_model * bias


@mistake("count_parameters", hint=2)
def bias_ignored(d_model, num_heads, bias):
    """Right without bias. With bias there are four more vectors."""
    return 4 * d_model * d_model


@mistake("count_parameters")
def bias_always(d_model, num_heads, bias):
    """Biases were counted although there are none."""
    return 4 * d_model * d_model + 4 * d_model


@mistake("count_parameters", hint=2)
def one_number_per_bias(d_model, num_heads, bias):
    """A bias was counted as a single number. It has one entry per output of its layer."""
    return 4 * d_model * d_model + 4 * bias


@mistake("count_parameters", hint=2)
def bias_as_a_matrix(d_model, num_heads, bias):
    """A bias was counted like a matrix, E × E. It is a vector: one entry per output of its layer."""
    return 4 * d_model * d_model * (2 if bias else 1)


@mistake("count_parameters", hint=1)
def sides_added(d_model, num_heads, bias):
    """The two sides of a matrix were added. A matrix with E rows and E columns has E times E entries."""
    return 8 * d_model + 4 * d_model * bias


@mistake("count_parameters", hint=3)
def bytes_not_numbers(d_model, num_heads, bias):
    """These are bytes, four per number. Count the numbers themselves."""
    return 16 * (d_model * d_model + d_model * bias)


@mistake("count_parameters")
def a_float(d_model, num_heads, bias):
    """The right number, but as a float. A count is an int: use // instead of /, or leave out the division."""
    return 4.0 * (d_model * d_model + d_model * bias)


@mistake("count_parameters")
def precedence(d_model, num_heads, bias):
    """0 without a bias: Python reads `a + b if bias else 0` as `(a + b) if bias else 0`. Put the condition in
    parentheses.
    """
    return 4 * d_model * d_model + 4 * d_model if bias else 0


@mistake("count_parameters", hint=3)
def tensors_counted(d_model, num_heads, bias):
    """The tensors were counted. How many numbers does each one hold?"""
    return 8 if bias else 4


@mistake("count_parameters", hint=1)
def whole_layer(d_model, num_heads, bias):
    """The feed-forward network of a transformer layer was counted too. This module has attention's matrices only."""
    return 12 * d_model * d_model + 4 * d_model * bias


@mistake("copy_torch_weights", hint=1)
def names_that_fit(mine, reference):
    """Only out_proj was copied. `strict=False` passes over names that do not match, and in_proj_weight has no
    counterpart here: cut it in three yourself.
    """
    mine.load_state_dict(reference.state_dict(), strict=False)
