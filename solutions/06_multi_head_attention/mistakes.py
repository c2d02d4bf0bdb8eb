"""The mistakes that students make in lesson 6, as edits of its solutions. Never given to students."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.checks import SHARED, solution


def fitting(x, num_heads):
    """Refuse what cannot be divided, and return the head dimension."""
    if x.size(-1) % num_heads:
        raise ValueError("heads do not divide the width")
    return x.size(-1) // num_heads


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

split = solution("split_heads")
split_unguarded = solution("split_heads", also_without="if x.size(-1) % num_heads:")
split.mutant("sequence_cut", hint=1, body="return x.reshape(x.size(0), num_heads, x.size(1), fitting(x, num_heads))",
    says="The sequence was split: head 0 holds pieces of a few tokens instead of a part of every token. Split the "
    "last axis, then move the new one.")
split.mutant("numbers_interleaved", "x.unflatten(-1, (num_heads, -1))", "x.unflatten(-1, (-1, num_heads)).mT", hint=1,
    says="The entries are interleaved: head 0 has every third one or so. Of the two new axes, the head comes first.")
split_unguarded.mutant("heads_left_behind_tokens", "x.unflatten(-1, (num_heads, -1)).transpose(1, 2)",
    "x.reshape(x.size(0), x.size(1), num_heads, fitting(x, num_heads))", hint=2,
    says="The shape is (B, L, H, D): the heads come after the tokens. Attention would then run over the heads.")
split.mutant("heads_first", hint=2, body="""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(2, 0, 1, 3)""",
    says="The heads came first, before the sentences. The batch stays the first axis: (B, H, L, D).")
split.mutant("heads_last", hint=2, body="""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(0, 2, 3, 1)""",
    says="Tokens and entries are swapped: each head is (D, L). It should be (L, D), one row per token.")
split.mutant("any_width", hint=3, body="return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)",
    says="Where num_heads does not divide E, there is a RuntimeError, and a ValueError was asked for. Check before you "
    "split.")
split.mutant("rest_dropped", hint=3, body="""
    d = x.size(-1) // num_heads
    return torch.stack([x[..., h * d:(h + 1) * d] for h in range(num_heads)], dim=1)""",
    says="Where num_heads does not divide E, there is no error. Is a ValueError raised there?")
split.mutant("assertion", body="""
    assert x.size(-1) % num_heads == 0
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)""",
    says="Where num_heads does not divide E, there is an AssertionError, and a ValueError was asked for. `raise` one.")
split.mutant("stacked_behind", "-1)).transpose(1, 2)", "-1)).transpose(-1, 2)", hint=2,
    says="The heads are along an axis other than 1.")
split.mutant("list_of_heads", body="return list(x.split(fitting(x, num_heads), dim=-1))",
    says="This is a tuple or list of heads. Return one tensor, with the heads as axis 1.")
split.mutant("number_as_width", hint=1, body="""
    fitting(x, num_heads)
    return torch.stack(x.split(num_heads, dim=-1), dim=1)""",
    says="num_heads was taken for the head dimension. It is the number of heads.")
split.mutant("only_contiguous", hint=2, body="""
    d = fitting(x, num_heads)
    return x.view(-1).view(x.size(0), x.size(1), num_heads, d).transpose(1, 2)""", says="It stopped on tokens that "
    "are not contiguous in memory. `view` needs them to be, `reshape` and `unflatten` do not.")
split.mutant("joined_to_the_batch", hint=2, body="""
    fitting(x, num_heads)
    return torch.cat(x.chunk(num_heads, dim=-1))""",
    says="The heads were joined along the batch axis. They need an axis of their own: stack makes one, cat does not.")
split.mutant("head_and_number_swapped", hint=2, body="""
    d = fitting(x, num_heads)
    return x.reshape(x.size(0), x.size(1), num_heads, d).permute(0, 3, 1, 2)""",
    says="Heads and entries are swapped: (B, D, L, H). The heads are axis 1, and the entries of a head come last.")
split_unguarded.mutant("heads_in_the_batch", "-1)).transpose(1, 2)",
    "fitting(x, num_heads))).transpose(1, 2).flatten(0, 1)", hint=2,
    says="The heads were merged into the batch axis: (B * H, L, D). Leave them an axis of their own: (B, H, L, D).")
split.mutant("cut_off", body="""
    fitting(x, num_heads)
    return x.detach().unflatten(-1, (num_heads, -1)).transpose(1, 2)""", says="The result is right, but no gradient "
    "reaches x: something on the way drops the graph, as detach, .data, torch.tensor and numpy do.")

attention = solution("MultiHeadAttention")
attention_in_steps = solution("MultiHeadAttention", spelled="""
    class MultiHeadAttention(nn.Module):

        def __init__(self, d_model: int, num_heads: int, *, dropout: float=0.0, bias: bool=False) -> None:
            super().__init__()
            if d_model % num_heads:
                raise ValueError('heads do not divide the width')
            self.num_heads, self.p = (num_heads, dropout)
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
            return (query, key, key if value is None else value)

        def scale(self, q):
            return math.sqrt(q.size(-1))

        def axes(self, mask):
            return mask[:, None] if mask.dim() == 3 else mask

        def share(self, scores, mask):
            if mask is None:
                return scores.softmax(dim=-1)
            mask = self.axes(mask)
            return scores.masked_fill(~mask, -math.inf).softmax(dim=-1).masked_fill(~mask, 0.0)

        def drop(self, weights):
            return functional.dropout(weights, self.p, self.training)

        def finish(self, x):
            return self.out_proj(x)

        def attend(self, query, key, value, mask):
            query, key, value = self.sources(query, key, value)
            q, k, v = (self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value)))
            weights = self.share(q @ k.mT / self.scale(q), mask)
            return (self.finish(self.merge(self.drop(weights) @ v)), weights)

        def forward(self, query: Tensor, key: Tensor | None=None, value: Tensor | None=None, mask: Tensor | None=None, need_weights: bool=False) -> tuple[Tensor, Tensor | None]:
            output, weights = self.attend(query, key, value, mask)
            return (output, weights if need_weights else None)
    """)
attention_in_steps.mutant("RootOfTheWholeWidth", "q.size(-1)", "q.size(-1) * self.num_heads", hint=3,
    says="Scaled by the root of the whole model dimension. The dot products are between vectors of ONE head: use its "
    "dimension.")
attention_in_steps.mutant("NotScaled", "math.sqrt(q.size(-1))", "1.0", hint=3,
    says="The scores were not scaled. Divide by the root of the head dimension.")
attention_in_steps.mutant("WidthWithoutRoot", "math.sqrt", "q.size", "q.size(-1)", "-1", hint=3,
    says="The scores were divided by the head dimension instead of its root.")
attention_in_steps.mutant("RootOfTheHeads", "q.size(-1)", "self.num_heads", hint=3,
    says="Scaled by the root of the number of heads. It is the dimension of a head that makes scores large.")
attention_in_steps.mutant("NoOutputProjection", "self.out_proj(x)", "x",
    says="The heads are side by side but never mixed: out_proj was not applied.")
attention_in_steps.mutant("MergedWithoutMoving", method="merge", body="""
    b, h, n, d = x.shape
    return x.reshape(b, n, h * d)""", says="The tokens were scrambled when the heads were merged: move the heads "
    "next to the entries first.")
attention_in_steps.mutant("SequenceCut", method="split",
    body="return x.reshape(x.size(0), self.num_heads, x.size(1), -1)",
    says="The sequence was split instead of the model dimension: a head holds pieces of a few tokens (exercise 6.1).")
attention_in_steps.mutant("Interleaved", "(self.num_heads, -1)).transpose(1,", "(-1, self.num_heads)).permute(0, 3, 1,",
    says="The entries are interleaved among the heads. Head 0 gets the first D entries of each token (exercise 6.1).")
attention_in_steps.mutant("OverHeads", "x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
    "x.unflatten(-1, (self.num_heads, -1))", "x.transpose(1, 2)", "x",
    says="Attention ran over the heads: the weights are (B, L, H, H). Move the heads in front of the tokens first.")
attention_in_steps.mutant("OneHeadOnly", "return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
    "return x[:, None]", "x.transpose(1, 2).flatten(2)", "x[:, 0]", hint=1,
    says="There is only one head, whatever num_heads says: the model dimension was never split.")
attention_in_steps.mutant("HeadsAveraged", "weights if need_weights else None",
    "weights.mean(dim=1) if need_weights else None",
    says="The weights were averaged over the heads. Return each head's own: (B, H, L, S).")
attention_in_steps.mutant("SecondSequenceIgnored", hint=2, method="sources", body="return (query, query, query)",
    says="The second sequence had no effect: keys and values came from the query. Where does `forward` use key and "
    "value?")
attention_in_steps.mutant("ValueFromTheQuery", hint=2, method="sources",
    body="return (query, query if key is None else key, query if value is None else value)",
    says="It stopped: the values were as many as the queries, and not as many as the keys. A missing value defaults to "
    "the KEY, which may be a different sequence.")
attention.mutant("RowsTakenForSentences", hint=2, code="""
    class MultiHeadAttention(Heads):

        def axes(self, mask):
            return mask[:, None, None] if mask.dim() == 2 else super().axes(mask)""",
    says="It stopped: the rows of a mask (L, S) were lined up with the sentences. They are queries, and such a mask "
    "lines up with the scores as it is.")
attention_in_steps.mutant("ValueNotProjected", "self.v_proj(value)", "value",
    says="The values were mixed as they came in: v_proj was not applied to them.")
attention_in_steps.mutant("ValueIgnored", "key if value is None else value", "key", hint=2,
    says="The values that were passed in had no effect: the keys were mixed instead.")
attention_in_steps.mutant("KeysNeeded", hint=2, method="sources", body="""
    if key is None and value is None and query.size(0):
        raise TypeError('key is None')
    return (query, key, key if value is None else value)""",
    says="It stopped when only a query was given. The key defaults to the query, and the value to the key.")
attention_in_steps.mutant("AsLongAsTheQueries",
    "(self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value)))",
    "(layer(x).view(*query.shape[:2], self.num_heads, x.size(2) // self.num_heads).transpose(1, 2) for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value)))",
    says="It stopped where the second sequence has another length: keys and values were reshaped with the length of "
    "the queries. Each takes its own.")
attention_in_steps.mutant("MaskWithoutHeadAxis", "mask[:, None] if mask.dim() == 3 else mask", "mask", hint=2,
    says="The batch axis of a (B, L, S) mask lined up with the heads. Give the mask a head axis after the batch: (B, "
    "1, L, S).")
attention_in_steps.mutant("HeadAxisForEveryMask", "mask[:, None] if mask.dim() == 3 else mask", "mask.unsqueeze(1)",
    hint=2, says="It stopped: the rows of a mask (L, S) were lined up with the heads, as when every mask gets a head "
    "axis. Only one with three axes needs it; the others line up as they are.")
attention.mutant("MaskTurnedRound", "~mask", "mask", every=True,
    says="The mask was inverted. True means \"may look\", unlike in nn.MultiheadAttention.")
attention_in_steps.mutant("MaskIgnored", hint=2, method="share", body="return scores.softmax(dim=-1)",
    says="The mask had no effect. Where does it enter, and does softmax come after it?")
attention.mutant("EmptyRowIsNan", "weights.masked_fill(~mask, 0.0)", "weights", hint=2,
    says="A query with no visible keys came out as NaN. Its weights should be zeros, as in exercise 5.4.")
attention_in_steps.mutant("LargeNegativeNumber", hint=2, method="share",
    body="return (scores if mask is None else scores.masked_fill(~self.axes(mask), -1000000000.0)).softmax(dim=-1)",
    says="A query with no visible keys looked at hidden ones, as when these get a large negative number, which is "
    "finite. Hide with minus infinity, then zero the weights.")
attention.mutant("CutAfterSoftmax", "scores.masked_fill(~mask, -torch.inf)", "scores", hint=2,
    says="The weights were zeroed after softmax, so rows sum to less than 1. Hide the scores, before softmax.")
attention_in_steps.mutant("MendedAfterwards", hint=2, method="share", body="""
    mask = 0.0 if mask is None else torch.zeros_like(scores).masked_fill(~self.axes(mask), -math.inf)
    return (scores + mask).softmax(dim=-1).nan_to_num(0.0)""", says="The values are right, but the gradients are NaN, "
    "as when minus infinity is added to the scores. Write it with masked_fill, as in exercise 5.4.")
attention_in_steps.mutant("OverQueries", method="share", body="return scores.softmax(dim=-2)",
    says=SHARED["softmax over queries"])
attention_in_steps.mutant("AlwaysDropping", method="drop", body="return functional.dropout(weights, self.p)",
    says="Dropout acts in eval mode too. `functional.dropout` assumes training unless it is given "
    "self.training, and an nn.Dropout learns of eval mode only if __init__ makes it.")
attention_in_steps.mutant("NeverDropping", "functional.dropout(weights, self.p, self.training)", "weights", hint=3,
    says="In training, dropout does not act on the weights. It belongs after softmax, on the weights that mix "
    "values.")
attention_in_steps.mutant("OutputDropped", "x.transpose(1, 2).flatten(2)",
    "functional.dropout(x.transpose(1, 2).flatten(2), self.p, self.training)",
    "functional.dropout(weights, self.p, self.training)", "weights", hint=3,
    says="With dropout, single entries vanish where a whole value should, as when it acts on the output. It belongs on "
    "the weights.")
attention_in_steps.mutant("ScoresDropped", "q @ k.mT / self.scale(q)", "self.drop(q @ k.mT / self.scale(q))",
    "self.drop(weights)", "weights", hint=3, says="Dropout acts on the scores, before softmax: a score of 0 is a "
    "score like any other. It belongs after softmax, on the weights that mix the values.")
attention_in_steps.mutant("DroppedWeightsReturned", hint=3, method="forward", body="""
    seen = []
    own = self.drop
    def spying(weights):
        seen.append(own(weights))
        return seen[-1]
    self.drop = spying
    output, _ = self.attend(query, key, value, mask)
    del self.drop
    return (output, seen[-1] if need_weights else None)""",
    says="The returned weights were taken after dropout, so their rows do not sum to 1. Return those from before it.")
attention_in_steps.mutant("ShareThatIsKept", "self.p, self.training)", "1 - self.p, self.training)",
    says="dropout was used as the probability of keeping a weight. It is the probability of setting it to 0.")
attention.mutant("PlainList", hint=1, code="""
    class MultiHeadAttention(Heads):

        def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
            Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
            layers = {name: self._modules.pop(name) for name in ('q_proj', 'k_proj', 'v_proj', 'out_proj')}
            self.hidden = [layers]

        def __getattr__(self, name):
            hidden = self.__dict__.get('hidden')
            return hidden[0][name] if hidden and name in hidden[0] else nn.Module.__getattr__(self, name)""",
    says="No parameters are registered, so nothing would be learned: nn.Module does not see plain tensors or layers "
    "in a plain list. Store each nn.Linear as an attribute.")
attention.mutant("OneSharedProjection", code="""
    class MultiHeadAttention(Heads):

        def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
            Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
            self.k_proj = self.v_proj = self.q_proj""", says="Parameters are missing, as when one layer serves several "
    "roles. Queries, keys and values each have their own layer.")
attention.mutant("AlwaysBias", "nn.Linear(d_model, d_model, bias=bias)", "nn.Linear(d_model, d_model)", every=True,
    says="The layers have biases that nobody asked for: pass `bias` on to nn.Linear, whose default is True.")
attention.mutant("NeverBias",
    "super().__init__()",
    """
    bias = False
    super().__init__()""", says="bias=True had no effect. Pass it on to each nn.Linear.")
attention.mutant("OutputWithoutBias", code="""
    class MultiHeadAttention(Heads):

        def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
            Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)
            self.out_proj = nn.Linear(d_model, d_model, bias=False)""",
    says="out_proj has no bias although one was asked for. Pass `bias` on to it as well.")
attention.mutant("AnyWidth", "d_model % num_heads", "False",
    says="A model dimension that num_heads does not divide was accepted. Raise a ValueError in __init__.")
attention.mutant("RefusedByAssert", code="""
    class MultiHeadAttention(Heads):

        def __init__(self, d_model, num_heads, *, dropout=0.0, bias=False):
            assert d_model % num_heads == 0
            Heads.__init__(self, d_model, num_heads, dropout=dropout, bias=bias)""", says="A model dimension that "
    "num_heads does not divide ends in an AssertionError, and a ValueError was asked for. `raise` one.")
attention_in_steps.mutant("WeightsAlways", method="forward", body="return self.attend(query, key, value, mask)",
    says="Weights came back although nobody asked for them. Without need_weights the second result is None.")
attention_in_steps.mutant("OutputAlone", "(output, weights if need_weights else None)",
    "(output, weights) if need_weights else output",
    says="Only the output came back. Return a pair: the output, and the weights or None.")
attention_in_steps.mutant("WeightsNever", method="forward",
    body="return (self.attend(query, key, value, mask)[0], None)",
    says="The weights did not come back although they were asked for. Where does need_weights decide on the second "
    "result?")
attention_in_steps.mutant("ScoresReturned", "weights if need_weights else None",
    "weights.log() if need_weights else None",
    says="The second result holds scores. The weights are what softmax makes of them.")
attention_in_steps.mutant("ResidualAdded", "(output, weights", "(query + output, weights",
    says="The input was added to the output. A transformer block does that around this module, not inside it.")
attention_in_steps.mutant("KeysAndValuesSwapped", "self.k_proj(key)", "self.v_proj(key)", "self.v_proj(value)",
    "self.k_proj(value)", says="k_proj and v_proj are swapped: keys are compared, values are mixed.")
attention_in_steps.mutant("VisibleKeysHidden", method="share", body="""
    mask = scores if mask is None else scores.masked_fill(self.axes(mask), -math.inf)
    return mask.softmax(dim=-1)""",
    says="The mask was read inverted, so rows where every key is visible became NaN. Hide where ~mask.")
attention_in_steps.mutant("MaskAdded", hint=2, method="share",
    body="return (scores if mask is None else scores + self.axes(mask)).softmax(dim=-1)", says="The mask was added "
    "to the scores as 0 and 1, so hidden keys stay visible. Overwrite their scores with minus infinity.")
attention_in_steps.mutant("OverHeadsSoftmax", method="share", body="return scores.softmax(dim=1)",
    says="Softmax ran over the heads, axis 1. It should run over the keys, the last axis.")
attention_in_steps.mutant("QueryProjectionForKeys",
    "k, v = (self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value)))",
    "k = (self.split(self.q_proj(query)), self.split(self.q_proj(key)))",
    "weights = self.share(q @ k.mT / self.scale(q), mask)",
    "v, weights = (self.split(self.v_proj(value)), self.share(q @ k.mT / self.scale(q), mask))",
    says="Keys went through q_proj. They have a projection of their own, k_proj.")
attention_in_steps.mutant("PairSwapped", "(output, weights if need_weights else None)",
    "(weights if need_weights else None, output)", every=True,
    says="These are the right tensors in the wrong order: the output should come first, then the weights or None.")

weights = solution("copy_torch_weights")
weights.mutant("transposed", body="copied(mine, [w.mT for w in parts(reference)], bias_parts(reference))",
    says="The matrices were transposed on the way. Both modules store weights as (out, in).")
weights.mutant("cut_across", hint=1, body="""
    pieces = [w.reshape(mine.q_proj.weight.shape) for w in reference.in_proj_weight.chunk(3, dim=1)]
    copied(mine, [*pieces, reference.out_proj.weight], bias_parts(reference))""",
    says="The stacked matrix was split along the wrong axis. Rows belong to outputs: split along axis 0.")
weights.mutant("chunked_across", hint=1,
    body="copied(mine, [*reference.in_proj_weight.chunk(3, dim=1), reference.out_proj.weight])",
    says="It stopped: the parts of the stacked matrix have too few columns. Split (3E, E) along its rows, axis 0.")
weights.mutant("another_order", hint=1, body="""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (k, q, v, out), biases and (biases[1], biases[0], *biases[2:]))""",
    says="The parts are in the wrong order. From top to bottom, the stack holds queries, keys, values.")
weights.mutant("keys_and_values_mixed_up", hint=1, body="""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (q, v, k, out), biases and (biases[0], biases[2], biases[1], biases[3]))""",
    says="Keys and values are swapped. From top to bottom, the stack holds queries, keys, values.")
weights.mutant("values_first", hint=1, body="""
    q, k, v, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (v, k, q, out), biases and (*biases[2::-1], biases[3]))""",
    says="The order is reversed. From top to bottom, the stack holds queries, keys, values.")
weights.mutant("output_forgotten", hint=3, body="""
    biases = bias_parts(reference)
    own = mine.out_proj
    copied(mine, (*parts(reference)[:3], own.weight), biases and (*biases[:3], own.bias))""",
    says="out_proj was not copied. It is a separate layer in both modules.")
weights.mutant("first_part_everywhere", hint=1, body="""
    q, _, _, out = parts(reference)
    biases = bias_parts(reference)
    copied(mine, (q, q, q, out), biases and (*[biases[0]] * 3, biases[3]))""",
    says="All three layers got the same part of the stack. Each has its own rows.")
weights.mutant("biases_forgotten", "layer.bias.copy_(bias)", "layer.bias", hint=3,
    says="The weights are right, but the biases were not copied. in_proj_bias is stacked like the weights.")
weights.mutant("output_bias_forgotten", hint=3, body="""
    biases = bias_parts(reference)
    copied(mine, parts(reference), biases and (*biases[:3], biases[3] * 0))""",
    says="The bias of out_proj was not copied. It is a separate one in both modules.")
weights.mutant("biases_expected", "reference.in_proj_bias is not None", "True", hint=3,
    says="It stopped at a `chunk` of something that has none. Without biases, in_proj_bias is None: check for that "
    "first.")
weights.mutant("layer_taken_over", hint=2, body="""
    copied(mine, parts(reference), bias_parts(reference))
    mine.out_proj = reference.out_proj""", says="Parameters of the reference were taken over: training one module "
    "would change the other. Copy their entries into those that are there.")
weights.mutant("shared_numbers", hint=2, body="""
    for layer, weight in zip((mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj), parts(reference), strict=True):
        layer.weight.data = weight.data
    if reference.in_proj_bias is not None:
        for layer, bias in zip((mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj), bias_parts(reference), strict=True):
            layer.bias.data = bias.data""",
    says="Both modules now share their tensors: training one would change the other. Copy the entries, with copy_.")
weights.mutant("new_parameters", hint=2, body="""
    layers = (mine.q_proj, mine.k_proj, mine.v_proj, mine.out_proj)
    for layer, weight in zip(layers, parts(reference), strict=True):
        layer.weight = nn.Parameter(weight.detach().clone())
    if reference.in_proj_bias is not None:
        for layer, bias in zip(layers, bias_parts(reference), strict=True):
            layer.bias = nn.Parameter(bias.detach().clone())""",
    says="The parameters were replaced by new objects: an optimizer would go on training the old ones. Use copy_.")
weights.mutant("autograd_in_the_way", hint=2, body="mine.q_proj.weight.copy_(reference.in_proj_weight.chunk(3)[0])",
    says="It stopped: a parameter that learns cannot be overwritten while autograd is recording. Use "
    "torch.no_grad().")
weights.mutant("frozen", hint=2, body="""
    mine.requires_grad_(False)
    copied(mine, parts(reference), bias_parts(reference))""",
    says="The copied parameters no longer learn: their requires_grad is False afterward.")
weights.mutant("wrong_direction", "layer.weight.copy_(weight)", "layer.weight", "layer.bias.copy_(bias)", "layer.bias",
    says="Nothing arrived in mine. It must get the weights of reference, and reference stays as it is.")
weights.mutant("names_that_fit", hint=1, body="mine.load_state_dict(reference.state_dict(), strict=False)",
    says="Only out_proj was copied. in_proj_weight has no counterpart here, and `strict=False` passes over names that "
    "do not match: cut it in three yourself.")
