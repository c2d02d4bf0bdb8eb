"""The mistakes that students make in lesson 10, as edits of its solutions. Never given to students."""

import torch

from autograder.checks import solution

attention = solution("attention_cost")
attention.mutant("multiplications_only", "2 * pairs", "pairs", every=True, hint=2,
    says="Both counts of operations are half of what they should be. A multiplication and an addition are two.")
attention.mutant("additions_forgotten_in_scores", "2 * pairs * d_head, 'mix_flops':", "pairs * d_head, 'mix_flops':",
    hint=2, says="score_flops is half of what it should be, mix_flops is right. A dot product has additions too.")
attention.mutant("additions_forgotten_in_the_mixture", "2 * pairs * d_head, 'score_bytes':",
    "pairs * d_head, 'score_bytes':", hint=2,
    says="mix_flops is half of what it should be, score_flops is right. A weighted sum has additions too.")
attention.mutant("heads_forgotten_in_operations", "2 * pairs", "2 * batch * q_len * k_len", every=True, hint=1,
    says="The bytes are right, but the operations are those of one head. d_head is the dimension of a single one.")
attention.mutant("one_table_for_all_heads", "pairs * bytes_per_el", "batch * q_len * k_len * bytes_per_el", hint=1,
    says="Only score_bytes is wrong: it has one table per sentence. Each head has a table of scores of its own.")
attention.mutant("batch_forgotten", "batch *", "", every=True, hint=1,
    says="The batch was forgotten: this is what one sentence costs.")
attention.mutant("bytes_swapped", "'score_bytes': pairs", "'kv_bytes': pairs", "'kv_bytes': 2", "'score_bytes': 2",
    says="score_bytes and kv_bytes are swapped.")
attention.mutant("batch_and_heads_forgotten", "batch * heads *", "", every=True, hint=1,
    says="Batch and heads were both forgotten: this is what one head of one sentence costs.")
attention.mutant("keys_alone", "2 * batch", "batch", hint=3,
    says="kv_bytes is half of what it should be: it counts the keys or the values, and both are stored.")
attention.mutant("entries_counted", "* bytes_per_el", "", every=True, hint=3,
    says="These are entries, not bytes: score_bytes and kv_bytes were not multiplied by bytes_per_el.")
attention.mutant("mixed_without_the_keys", "pairs * d_head, 'score_bytes':",
    "batch * heads * q_len * d_head, 'score_bytes':", hint=1,
    says="mix_flops lacks the number of keys: each entry of an output is a sum over all of them.")

cache = solution("KVCache")
cache.mutant("HeadsJoined", "dim=-2", "dim=1", every=True, hint=2,
    says="It stopped: the new positions were to be joined along axis 1, the heads. Positions are axis -2.")
cache.mutant("FeaturesJoined", "dim=-2", "dim=-1", every=True, hint=2,
    says="It stopped: the new positions were to be joined along the last axis, the entries. Positions are the axis "
    "before it, -2.")
cache.mutant("SentencesJoined", "dim=-2", "dim=0", every=True, hint=2, says="It stopped: the new positions were to be "
    "joined along axis 0, the batch, as torch.cat does without `dim`. Positions are axis -2.")
cache.mutant("OnlyTheNewest", "self.key is None or self.value is None", "True", hint=2,
    says="Only the newest positions are in the cache: each append replaces what was there. Join the new to the old.")
cache.mutant("NewReturned", "return (self.key, self.value)", "return (key, value)",
    says="append returned the new positions only, although all are stored. Return everything that the cache holds.")
cache.mutant("ValuesForgotten", "torch.cat([self.value, value], dim=-2)", "value.clone()",
    says="The keys are right, but the values are only the new ones. They are kept in the same way as keys.")
cache.mutant("KeysForgotten", "torch.cat([self.key, key], dim=-2)", "key.clone()",
    says="The values are right, but the keys are only the new ones. They are kept in the same way as values.")
cache.mutant("BatchCounted", "self.key.size(-2)", "len(self.key)", hint=2,
    says="The length is the size of the batch: that is what len of a tensor gives. Count positions, axis -2.")
cache.mutant("EntriesCounted", "self.key.size(-2)", "self.key.numel()", hint=2,
    says="The length is the number of entries, which is what numel gives. Count positions: the size of axis -2.")
cache.mutant("LastLength", "self.key.size(-2)", "self.last", "return (self.key, self.value)", """
    self.last = key.size(-2)
    return (self.key, self.value)""",
    says="The length is that of the last append. It should count all positions so far.")
cache.mutant("Aliased", "(key.clone(), value.clone())", "(key, value)", hint=3, says="What is stored changed when the "
    "caller overwrote its tensors: the cache holds the caller's own tensor. Copy what comes in.")
cache.mutant("FirstAppendTwice", method="append", hint=1, body="""
    self.key = torch.cat([key if self.key is None else self.key, key], dim=-2)
    self.value = torch.cat([value if self.value is None else self.value, value], dim=-2)
    return (self.key, self.value)""", says="The first positions are in the cache twice, as when an empty cache is "
    "filled with them and then they are joined again.")
cache.mutant("NewInFront", "[self.key, key]", "[key, self.key]", "[self.value, value]", "[value, self.value]", hint=2,
    says="The new positions were put in front of the old ones. Time runs on: they belong at the end.")
cache.mutant("NewAdded", "torch.cat([self.key, key], dim=-2)", "self.key + key",
    "torch.cat([self.value, value], dim=-2)", "self.value + value", hint=2,
    says="It stopped: old and new positions met entry by entry, as in a sum. Join them: each position stays.")
cache.mutant("FirstKept", "torch.cat([self.key, key], dim=-2)", "self.key", "torch.cat([self.value, value], dim=-2)",
    "self.value", hint=2, says="After the first append nothing more is stored: the same keys and values come back "
    "each time. Join the new ones to them.")
cache.mutant("NothingStored", "self.key, self.value = (key.clone(), value.clone())",
    "return (key.clone(), value.clone())",
    says="Each append starts anew, and the length stays 0: nothing was stored. Assign to attributes of `self`.")
listed = solution("KVCache", spelled="""
    class KVCache:
        def __init__(self) -> None:
            self.keys, self.values = [], []

        def __len__(self) -> int:
            return sum(key.size(-2) for key in self.keys)

        def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
            self.keys.append(key.clone())
            self.values.append(value.clone())
            return torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2)
    """)
listed.mutant("ListsReturned", "return (torch.cat(self.keys, dim=-2), torch.cat(self.values, dim=-2))",
    "return (self.keys, self.values)",
    says="append returned lists of what came in. Join each to one tensor, (B, H, len(self), D).")
listed.mutant("ListCounted", "sum((key.size(-2) for key in self.keys))", "len(self.keys)",
    says="The length is the number of appends. It should be the number of positions: one append can bring several.")

decode = solution("decode_step")
decode.mutant("top_left", "length - new + 1", "1", hint=3, says="The causal mask starts at the top left, so most of "
    "the cache is hidden. The last new token belongs to the last key.")
decode.mutant("masked_in_the_first_call_alone", "length - new + 1).bool()", "1).bool() & (new == length)", hint=3,
    says="After the first call nothing is masked. That is right for T = 1, but several new tokens must not see the "
    "ones after them.")
decode.mutant("no_mask", drop=".masked_fill(hidden, -torch.inf)", hint=3,
    says="New tokens see the ones after them: right for T = 1 alone. Hide those, and line the mask up at the end: the "
    "last new token belongs to the last key, which is its own.")
decode.mutant("mask_of_the_new_alone", "q.new_ones(new, length)", "q.new_ones(new, new)", hint=3,
    says="It stopped: a table with a column for each new token, such as a mask, met scores with one for each key. A "
    "mask needs one per key, old ones included.")
decode.mutant("old_hidden", "length - new + 1).bool()",
    "length - new + 1).bool() | (torch.arange(length) < length - new)", hint=3, says="The new tokens see one another "
    "but none of the old ones. Attend to all that append returned, and hide only what comes after a token.")
decode.mutant("not_oneself", "length - new + 1", "length - new", hint=3,
    says="No new token sees itself, and the very first has nothing to look at. A query may see its own key.")
decode.mutant("mask_inverted", "(hidden, -torch.inf)", "(~hidden, -torch.inf)",
    says="The mask is inverted: each new token sees only what comes after it. With True = may attend, fill where the "
    "mask is False.")
decode.mutant("tokens_unprojected", "keys, values = cache.append(k, v)", """
    x = x_new.unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)
    keys, values = cache.append(x, x)""", hint=1,
    says="The tokens themselves went into the cache. Keys and values are what k_proj and v_proj make of them.")
decode.mutant("values_not_projected", "cache.append(k, v)",
    "cache.append(k, x_new.unflatten(-1, (mha.num_heads, -1)).transpose(1, 2))", hint=1,
    says="The values are the tokens themselves: v_proj was not applied.")
decode.mutant("read_before_the_append", "keys, values = cache.append(k, v)", """
    before = len(cache) or None
    keys, values = (t[:, :, :before] for t in cache.append(k, v))""", drop=".masked_fill(hidden, -torch.inf)", hint=2,
    says="The new tokens are missing among the keys, as when the cache is read before they are appended. A token sees "
    "itself too.")
decode.mutant("swapped_both_times", "keys, values = cache.append(k, v)", "values, keys = cache.append(v, k)",
    says="The output is right, but keys and values are swapped in the cache. append takes the keys first.")
decode.mutant("swapped_on_the_way_back", "keys, values =", "values, keys =", says="The cache is right, but keys and "
    "values are swapped in what is computed from it. append returns all keys first, then all values.")
decode.mutant("module_on_the_new_alone", hint=1, body="return mha(x_new)[0]", says="The new tokens see no past, and "
    "nothing was appended, as when mha is called on them alone. Its layers are what you need.")
decode.mutant("module_on_cached_keys", "mha.out_proj(mixed.transpose(1, 2).flatten(2))",
    "mha(x_new, *(t.transpose(1, 2).flatten(2) for t in (keys, values)), mask=~hidden)[0]", hint=1,
    says="Keys and values from the cache were projected a second time, as by a call of mha. They are projected "
    "already: attend to them as they are.")
decode.mutant("without_softmax", "(hidden, -torch.inf)", "(hidden, 0.0)", "scores.softmax(dim=-1)", "scores",
    says="Softmax is missing: the values were mixed by their scores.")
decode.mutant("triangle_on_the_left", "length - new + 1).bool()", "1).bool() & (torch.arange(length) < new)", hint=3,
    says="The triangle of the new tokens covers the oldest keys, and the new keys are all visible. The new keys are "
    "the last ones.")
decode.mutant("heads_behind_positions", "(mha.num_heads, -1)).transpose(1, 2)", "(mha.num_heads, -1))",
    "mixed.transpose(1, 2)", "mixed", drop=".masked_fill(hidden, -torch.inf)", hint=2, says="The keys came to the "
    "cache as (B, T, H, D), positions before heads. It takes (B, H, T, D): move the heads forward.")
decode.mutant("not_split", ".unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)", "[:, None]", hint=2,
    says="The heads were never split: there is one head of the whole model dimension. Split queries, keys and values "
    "as in lesson 6.")
decode.mutant("sequence_cut", ".unflatten(-1, (mha.num_heads, -1)).transpose(1, 2)",
    ".reshape(x_new.size(0), mha.num_heads, x_new.size(1), -1)", hint=2,
    says="The split is wrong: the sequence was cut into heads, as by view or reshape alone. Split the last axis, then "
    "move the heads forward.")
decode.mutant("not_merged", "mixed.transpose(1, 2).flatten(2)", "mixed", hint=3,
    says="It stopped because a projection got the heads one by one. Merge them into (B, T, E) before out_proj, as in "
    "lesson 6.")
decode.mutant("no_output_projection", "mha.out_proj(mixed", "(mixed", hint=3,
    says="out_proj was not applied: the heads are side by side but not mixed.")
decode.mutant("last_token_only", "mixed.transpose(1, 2)", "mixed[:, :, -1:].transpose(1, 2)", hint=3,
    says="Only the last token's output came back. With T new tokens there are T rows.")
decode.mutant("scaled_by_the_model", "q.size(-1)", "x_new.size(-1)",
    says="The scores were scaled by the root of the model dimension. A dot product is within one head.")
decode.mutant("scaled_by_the_heads", "q.size(-1)", "mha.num_heads",
    says="The scores were scaled by the root of the number of heads. The dimension of a head makes them large.")
decode.mutant("masked_after_softmax", ".masked_fill(hidden, -torch.inf)", "", "scores.softmax(dim=-1)",
    "scores.softmax(dim=-1).masked_fill(hidden, 0.0)",
    says="The mask came after softmax, so rows sum to less than 1. Hide the scores first.")
decode.mutant("window_of_one", "q.new_ones(new, length).triu(length - new + 1).bool()",
    "torch.arange(length) != torch.arange(length - new, length)[:, None]", hint=3,
    says="Of the new tokens, each sees only itself. It may look at all earlier ones as well.")

repeat = solution("repeat_kv")
repeat.mutant("tiled", "x.repeat_interleave(n_rep, dim=1)", "x.repeat(1, n_rep, 1, 1)", hint=2,
    says="The heads come in turn: 0, 1, 2, 0, 1, 2. Each head's copies belong together, 0, 0, 1, 1, 2, 2. `repeat` "
    "and cat tile.")
repeat.mutant("without_an_axis", "x.repeat_interleave(n_rep, dim=1)", "x.repeat_interleave(n_rep)", hint=2,
    says="All axes were flattened into one: that is what repeat_interleave does without `dim`. The heads are axis 1.")
repeat.mutant("an_axis_too_many", hint=3, body="return x[:, :, None].expand(-1, -1, n_rep, -1, -1)",
    says="The copies have an axis of their own, (B, G, n_rep, L, D). Join it with the heads: (B, G * n_rep, L, D).")
repeat.mutant("copies_in_front_of_heads", hint=3, body="return x[:, None].expand(-1, n_rep, -1, -1, -1)",
    says="The copies have an axis of their own, in front of the heads. They come after it, and the two are then "
    "joined.")
repeat.mutant("expanded_heads", "x.repeat_interleave(n_rep, dim=1)", "x.expand(-1, x.size(1) * n_rep, -1, -1)", hint=3,
    says="It stopped: `expand` stretches only axes of size 1, and there are several heads. Give the copies a new "
    "axis first.")
repeat.mutant("rows_scrambled", hint=3, body="""
    b, g, n, d = x.shape
    return x[:, :, :, None].expand(b, g, n, n_rep, d).reshape(b, g * n_rep, n, d)""", says="The shape is right, but "
    "positions are scrambled, as when the copies' axis is in the wrong place before joining. It goes next to the "
    "heads.")
repeat.mutant("features_scrambled", hint=1, body="""
    b, g, n, d = x.shape
    return x.repeat_interleave(n_rep, dim=-1).reshape(b, g * n_rep, n, d)""", says="The shape is right, but the "
    "entries of different keys are mixed up, as when the last axis is repeated before reshaping. Repeat heads.")
repeat.mutant("sentences_scrambled", hint=1, body="""
    b, g, n, d = x.shape
    return x.repeat(n_rep, 1, 1, 1).reshape(b, g * n_rep, n, d)""", says="The shape is right, but sentences are mixed "
    "up, as when the batch is repeated and then reshaped into heads. Repeat axis 1.")
repeat.mutant("number_of_query_heads", body="return x[:, [g * x.size(1) // n_rep for g in range(n_rep)]]",
    says="There are n_rep heads in all. n_rep says how often each of the given heads occurs.")
repeat.mutant("as_it_was", "x.repeat_interleave(n_rep, dim=1)", "x",
    says="The heads were not repeated: x came back as it was. repeat and expand leave it as it is, and return a new "
    "tensor.")
repeat.mutant("always_twice", "n_rep, dim=1", "2, dim=1",
    says="Each head occurs twice, whatever n_rep says. It should occur n_rep times.")

sliding = solution("sliding_window_mask")
sliding.mutant("one_too_few_keys", "key > query - window", "key > query - window + 1", hint=3, says="Each query sees "
    "one key too few, at the far end: with a window of 1 it sees nothing. Its own and window - 1 earlier ones.")
sliding.mutant("one_ahead_as_well", "key <= query", "key <= query + 1", hint=2,
    says="Each query sees the next key, which a causal mask hides. The window ends at the query's own position.")
sliding.mutant("window_one_ahead", "key <= query", "key <= query + 1", "key > query", "key > query + 1", hint=2,
    says="The whole window is one position too far right: its last key is the one after the query. It ends at the "
    "query's own.")
sliding.mutant("own_key_hidden", "key <= query", "key < query", "key > query", "key >= query", hint=3,
    says="No query sees its own key: the window ends one position before it. It should end with it.")
sliding.mutant("symmetric", "key <= query", "key < query + window", hint=2,
    says="The window reaches to both sides: each query sees later keys too. A causal mask looks back only.")
sliding.mutant("centered", "(key <= query) & (key > query - window)", "(key - query).abs() <= window // 2", hint=2,
    says="The window is centered on the query, with half of it in the future. It should end at the query's own "
    "position.")
sliding.mutant("looking_ahead", "key <= query", "key >= query", "key > query - window", "key < query + window", hint=2,
    says="Inverted in time: each query sees its own key and later ones. It should see its own and earlier ones.")
sliding.mutant("window_at_the_top_left", "torch.arange(k_len - q_len, k_len)", "torch.arange(q_len)", hint=1,
    says="Right for as many keys as queries. With more keys the last query belongs to the last key, and here the "
    "first ones line up.")
sliding.mutant("lower_edge_at_the_top_left", "query - window", "query - window - (k_len - q_len)", hint=1,
    says="With more keys than queries, the causal edge is right but the far end of the window did not move along.")
sliding.mutant("upper_edge_at_the_top_left", "key <= query", "key <= query - (k_len - q_len)", hint=1,
    says="With more keys than queries, the far end of the window is right but the causal edge did not move along.")
sliding.mutant("cached_keys_all_seen", "& (key > query - window)", "& ((key > query - window) | (key < k_len - q_len))",
    hint=2, says="With more keys than queries, all keys before the first query are visible. The window applies to "
    "those as well.")
sliding.mutant("edge_on_the_wrong_side", "key > query - window", "key >= query - (k_len - q_len) + window", hint=2,
    says="No query sees its own key, as when `triu` with a positive diagonal keeps what lies right of it. The "
    "window's far end lies left.")
sliding.mutant("blocks", "key > query - window", "key // window == query // window", hint=2,
    says="The sequence was cut into blocks: a query sees its own block only. The window slides, one step per query.")
sliding.mutant("last_keys_of_all", "key > query - window", "key >= k_len - window", hint=2,
    says="All queries have one window, at the end of the sequence. Each has its own, which ends at its own position.")
sliding.mutant("first_keys_of_all", "key > query - window", "key < window", hint=2, says="Only the first keys of the "
    "sequence are visible. Each query has a window of its own, which ends at its own position.")
sliding.mutant("lying", "(key <= query) & (key > query - window)", "((key <= query) & (key > query - window)).mT",
    says="The table is transposed: rows belong to queries, columns to keys.")
sliding.mutant("window_kept_full", "return (key <= query) & (key > query - window)", """
    start = (query - window + 1).clamp(min=0)
    return (key >= start) & (key < start + window)""", hint=2,
    says="Early queries see later keys, as when a window is kept full. Near the start a window is shorter.")
sliding.mutant("short_windows_left_out", "& (key > query - window)", "& (key > query - window) & (query >= window - 1)",
    says="The first queries see nothing: only full windows were allowed. Near the start a window holds fewer keys.")
sliding.mutant("negative_start", "return (key <= query) & (key > query - window)", """
    seen = torch.zeros(q_len, k_len, dtype=torch.bool)
    for row, last in zip(seen, query[:, 0]):
        row[last - window + 1:last + 1] = True
    return seen""", says="Rows at the start are wrong, as when a slice begins at a negative index, which counts from "
    "the end. Where the window would begin before 0, it begins at 0.")

blocks = solution("blockwise_attention")
blocks.mutant("softmax_per_block_averaged", "old * total + new.sum(dim=-1, keepdim=True)", "total + 1",
    "old * output + new", "output + scores.softmax(dim=-1)", hint=1, says="Softmax ran within each block, and the "
    "blocks were averaged as equals. Each should count by its sum of exponentials.")
blocks.mutant("softmax_per_block_added", "old * output + new", "output + scores.softmax(dim=-1)",
    "/ total.masked_fill(total == 0, 1.0)", "", hint=1, says="Softmax ran within each block, and the results were "
    "added: each block has a whole unit of attention. All keys share one.")
blocks.mutant("softmax_per_block_by_length", "old * total + new.sum(dim=-1, keepdim=True)", "total + scores.size(-1)",
    "old * output + new", "output + scores.size(-1) * scores.softmax(dim=-1)", hint=1,
    says="The blocks were weighted by their number of keys. What counts is a block's sum of exponentials.")
blocks.mutant("each_block_its_own_measure", "torch.maximum(highest, scores.detach().amax(dim=-1, keepdim=True))",
    "scores.detach().amax(dim=-1, keepdim=True)", "old * total", "total", "old * output", "output", hint=2,
    says="Each block was measured against its own largest score, then all were added. Rescale the old sums when a "
    "larger score comes.")
blocks.mutant("nothing_shrinks", "old * total", "total", "old * output", "output", hint=2, says="The old sum and "
    "mixture never shrink when a larger score arrives. Keep the old maximum until both have been rescaled.")
blocks.mutant("only_the_sum_shrinks", "old * output", "output", hint=2,
    says="The sum of exponentials was rescaled, the mixture was not. Both were measured against the same maximum.")
blocks.mutant("only_the_mixture_shrinks", "old * total", "total", hint=2,
    says="The mixture was rescaled, the sum of exponentials was not. Both were measured against the same maximum.")
blocks.mutant("softmax_of_a_hidden_block", "old * total + new.sum(dim=-1, keepdim=True)",
    "total + scores.exp().sum(dim=-1, keepdim=True)", "old * output + new",
    "output + scores.exp().sum(dim=-1, keepdim=True) * scores.softmax(dim=-1)", "total.masked_fill(total == 0, 1.0)",
    "total", hint=3, says="Where a block is hidden the result is NaN: softmax of nothing, for example, is NaN, and "
    "weighting it by 0 leaves NaN. Also, exponentials without a shift overflow.")
blocks.mutant("not_divided", "/ total.masked_fill(total == 0, 1.0)", "",
    says="The mixture was not divided by the sum of exponentials at the end.")
blocks.mutant("divided_in_the_loop", "return output / total.masked_fill(total == 0, 1.0)", "return output",
    "old * output + new @ value[..., part, :]",
    "(old * output + new @ value[..., part, :]) / total.masked_fill(total == 0, 1.0)",
    says="The mixture was divided by the sum after every block, and then went on growing. Divide once, after the loop.")
blocks.mutant("divided_in_the_loop_and_after", "old * output + new @ value[..., part, :]",
    "(old * output + new @ value[..., part, :]) / total.masked_fill(total == 0, 1.0)", says="The mixture was divided "
    "by the sum after every block, and once more at the end. Divide once, after the loop.")
blocks.mutant("all_at_once", "shape = (*query.shape[:-1], 1)", "shape, block = (*query.shape[:-1], 1), key.size(-2)",
    hint=1, says="The output is right, but a table of all scores existed, made at once or joined from blocks. Use the "
    "scores of one block, then forget them.")
blocks.mutant("blocks_kept_in_a_list", "shape = (*query.shape[:-1], 1)", "shape, kept = (*query.shape[:-1], 1), []",
    "highest = now", "highest, _ = now, kept.append(scores)", hint=1, says="No tensor is too large, but the scores of "
    "all blocks are kept: together they are the whole table. Forget each block after its turn.")
blocks.mutant("queries_in_blocks", body="""
    visible = None if mask is None else mask.expand(*query.shape[:-1], key.size(-2))
    rows = []
    for start in range(0, query.size(-2), block):
        part = slice(start, start + block)
        scores = query[..., part, :] @ key.mT / query.size(-1) ** 0.5
        if visible is not None:
            scores = scores.masked_fill(~visible[..., part, :], -torch.inf)
        largest = scores.detach().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
        e = (scores - largest).exp()
        rows.append(e / e.sum(dim=-1, keepdim=True).clamp(min=1) @ value)
    return torch.cat(rows, dim=-2)""", says="The scores of a query for all keys exist at once, as when the queries "
    "are cut into blocks. Cut the keys and values: a row of scores may be long too.")
blocks.mutant("number_of_blocks", "shape = (*query.shape[:-1], 1)",
    "shape, block = (*query.shape[:-1], 1), -(-key.size(-2) // block)",
    says="The output is right, but a block, or what is kept of all of them, is too large. `block` is the number of "
    "keys in one, not the number of blocks.")
blocks.mutant("table_for_no_mask", "shape = (*query.shape[:-1], 1)", """
    shape = (*query.shape[:-1], 1)
    mask = torch.ones(*shape[:-1], key.size(-2), dtype=torch.bool) if mask is None else mask""",
    says="Without a mask, a table as large as all scores was made, such as a mask of True. Skip the mask where it is "
    "None.")
blocks.mutant("mask_of_the_first_block", "mask[..., part]", "mask[..., :scores.size(-1)]",
    says="Every block got the mask of the first one. Its columns belong to the keys: cut both at the same places.")
blocks.mutant("mask_not_cut", "mask[..., part]", "mask", says="It stopped where the mask met a block's "
    "scores: it still has a column for every key. Cut the mask's last axis, like the keys.")
blocks.mutant("hidden_with_a_large_number", "part], -torch.inf", "part], torch.finfo(scores.dtype).min", hint=3,
    says="A query with nothing to look at mixes hidden values, as when a large negative number takes the place of "
    "minus infinity. It should get zeros.")
blocks.mutant("billion_in_half_precision", "part], -torch.inf", "part], -1e9", says="It stopped in half precision: "
    "float16 cannot hold a number as large as 1e9. Hide with minus infinity instead.")
blocks.mutant("first_block_hidden", "now.masked_fill(now == -torch.inf, 0.0)", "now",
    "total.masked_fill(total == 0, 1.0)", "total", hint=3, says="Where a first block is hidden, or a whole row, the "
    "result is NaN, as from minus infinity minus minus infinity. Nothing was seen by then.")
blocks.mutant("empty_row_is_nan", "total.masked_fill(total == 0, 1.0)", "total", hint=3,
    says="A query with nothing to look at came out as NaN, as from 0 divided by 0. It should get zeros.")
blocks.mutant("nan_replaced_at_the_end", "now.masked_fill(now == -torch.inf, 0.0)", "now",
    "output / total.masked_fill(total == 0, 1.0)", "(output / total).nan_to_num(0.0)", hint=3,
    says="Queries whose first block is hidden got zeros, as when NaN is replaced at the end. Nothing seen yet means "
    "minus infinity minus itself: treat it there.")
blocks.mutant("nan_replaced", "now.masked_fill(now == -torch.inf, 0.0)", "now", "(scores - finite).exp()",
    "(scores - finite).exp().nan_to_num(0.0)", "(highest - finite).exp()", "(highest - finite).exp().nan_to_num(0.0)",
    "output / total.masked_fill(total == 0, 1.0)", "(output / total).nan_to_num(0.0)", hint=3,
    says="The values are right, but the gradients are NaN, as when a NaN is computed and then replaced. Replace the "
    "maximum, or the sum, beforehand.")
blocks.mutant("over_block", "query.size(-1) ** 0.5", "block ** 0.5",
    says="The scores were scaled by the number of keys in a block. The dimension of queries and keys counts.")
blocks.mutant("last_block_dropped", "range(0, key.size(-2), block)", "range(0, key.size(-2) - block + 1, block)",
    says="The last, shorter block was left out: only whole blocks were counted. Where does the loop end?")
blocks.mutant("last_block_alone", "range(0, key.size(-2), block)", "range((key.size(-2) - 1) // block * block,"
    "key.size(-2), block)", hint=1, says="Only the last block of keys is in the result. Carry the sums of earlier ones "
    "over, and update the largest score so far in each round.")
blocks.mutant("first_block_twice", "range(0, key.size(-2), block)", "(0, *range(0, key.size(-2), block))", hint=1,
    says="The first block counts twice, as when the sums start from it and the loop meets it again.")
blocks.mutant("maximum_from_zero", "query.new_full(shape, -torch.inf)", "query.new_zeros(shape)", hint=1,
    says="Where all scores are far below 0, all exponentials round to 0, as if the running maximum started at 0. Start "
    "below all scores.")
blocks.mutant("never_shifted", "(scores - finite).exp(), (highest - finite).exp()", "scores.exp(), 1.0", hint=1,
    says="Right for small scores only: exp of large ones is infinite. Measure the scores against the largest so far.")
blocks.mutant("hidden_after_the_maximum", "scores = scores.masked_fill(~mask[..., part], -torch.inf)", "pass",
    "(scores - finite).exp()", "(scores - finite).exp() * (1 if mask is None else mask[..., part])",
    says="A hidden key with a large score makes all visible ones round to 0, as when the mask comes after the "
    "maximum. Hide first.")
blocks.mutant("maximum_of_this_block", "torch.maximum(highest, scores.detach().amax(dim=-1, keepdim=True))",
    "scores.detach().amax(dim=-1, keepdim=True)", hint=2, says="Where a block's scores are far lower than before, or "
    "hidden, the factor overflows, as it does if the current block's own maximum is the measure. Keep the largest so "
    "far.")
blocks.mutant("one_maximum_for_all", "amax(dim=-1, keepdim=True)", "amax()", hint=1, says="A query whose scores are "
    "far below those of others gets zeros, as if one maximum were taken over all queries. Each row has its own.")
blocks.mutant("value_width_assumed", "value.size", "key.size", hint=1,
    says="It stopped because values met an output as wide as the queries. It is as wide as the values, (..., L, D_v).")
blocks.mutant("values_not_cut", "value[..., part, :]", "value", says="It stopped where weights met values: a block "
    "has few weights per query, and all values were there. Cut the values like the keys.")
blocks.mutant("axis_one_cut", "[..., part, :]", "[:, part]", every=True, says="Plain tables were cut along axis 1, "
    "their features, as by `[:, …]`, which counts from the front. Keys are axis -2 however many axes come before.")
blocks.mutant("axis_zero_cut", "[..., part, :]", "[part]", every=True,
    says="Keys and values were cut along the first axis, which is the batch where there is one. Keys are axis -2.")
