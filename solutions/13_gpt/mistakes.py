"""The mistakes that students make in lesson 13, as edits of its solutions. Never given to students."""

import itertools

from autograder.checks import solution


def counted(tokens, words):
    """Count pairs of neighbors, those that overlap once."""
    counts = {}
    for word, parts in tokens.items():
        for pair, run in itertools.groupby(itertools.pairwise(parts)):
            counts[pair] = counts.get(pair, 0) + (len(list(run)) + 1) // 2 * words[word]
    return counts

learn = solution("learn_merges")
learn.mutant("every_word_once", "words[word]", "1", hint=1,
    says="Every word was counted once. A pair counts as often as the words that hold it occur.")
learn.mutant("once_per_word", "itertools.pairwise(parts)", "dict.fromkeys(itertools.pairwise(parts))", hint=1,
    says="A pair that is in a word several times was counted once for it. Every occurrence counts.")
learn.mutant("overlaps_counted", "(len(list(run)) + 1) // 2", "len(list(run))", hint=2,
    says="Pairs that overlap were counted as several. In \"aaa\" only one pair can be merged, so it counts once.")
learn.mutant("runs_counted_once", "(len(list(run)) + 1) // 2", "1", hint=2,
    says="A run of one letter was counted as one pair, however long it is. In \"aaaa\" two pairs can be merged.")
learn.mutant("largest_of_equal", "min(counts, key=lambda pair: (-counts[pair], pair))",
    "max(counts, key=lambda pair: (counts[pair], pair))", hint=3,
    says="Of equally frequent pairs, the largest tuple was taken. The smallest one comes first.")
learn.mutant("first_met_of_equal", "min(counts, key=lambda pair: (-counts[pair], pair))", "max(counts, key=counts.get)",
    hint=3, says="Of equally frequent pairs, the one that was met first was taken, which depends on the order of the "
    "words. The smallest tuple comes first.")
learn.mutant("last_met_of_equal", "min(counts, key=lambda pair: (-counts[pair], pair))",
    "max(reversed(counts), key=counts.get)", hint=3, says="Of equally frequent pairs, the one that was met last was "
    "taken, which depends on the order of the words. The smallest tuple comes first.")
learn.mutant("equal_by_their_text", "(-counts[pair], pair)", "(-counts[pair], ''.join(pair))", hint=3,
    says="Equally frequent pairs were compared by the token that they make. Compare the pairs themselves, as tuples.")
learn.mutant("shortest_of_equal", "(-counts[pair], pair)", "(-counts[pair], len(''.join(pair)), pair)", hint=3,
    says="Of equally frequent pairs, the shortest was taken. The smallest tuple comes first, whatever its length.")
learn.mutant("longest_of_equal", "(-counts[pair], pair)", "(-counts[pair], -len(''.join(pair)), pair)", hint=3,
    says="Of equally frequent pairs, the longest was taken. The smallest tuple comes first, whatever its length.")
learn.mutant("rarest_first", "-counts[pair]", "counts[pair]",
    says="The rarest pair was merged first. Merge the most frequent one.")
learn.mutant("no_end", drop="if not counts: break",
    says="It stops with an error when every word is a single token. Then no pair is left: return what there is.")
learn.mutant("only_pairs_that_repeat", "if not counts:", "if not counts or max(counts.values()) < 2:",
    says="It stops at a pair that occurs once. Go on until no pair is left.")
learn.mutant("never_merged", drop="tokens = {word: merge(parts, best) for word, parts in tokens.items()}",
    says="The same pair comes again and again, as when the words are never merged and the count stays that of the "
    "characters. Merge each pair before the next count.")
learn.mutant("only_the_last_merge", "merge(parts, best)", "merge(list(word), best)",
    says="The pairs repeat, as when each merge starts from characters again. Merge what the merges before it have "
    "made of the words.")
learn.mutant("from_one_count", body="""
    counts = counted({word: list(word) for word in words}, words)
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:merges]""", hint=3,
    says="All pairs come from one count of characters. Each merge makes new tokens, so count anew after each.")
learn.mutant("never_counted_anew", "for _ in range(merges):\n    counts: dict[tuple[str, str], int] = {}",
    "counts = {}\nfor _ in range(merges):", hint=3,
    says="Pairs that have been merged already come again, as when the counts of earlier rounds are kept and added to. "
    "Begin each count anew.")
learn.mutant("across_words", body="""
    tokens, learned = [c for word, count in words.items() for _ in range(count) for c in word], []
    for _ in range(merges):
        counts = counted({'': tokens}, {'': 1})
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        learned.append(best)
        tokens = merge(tokens, best)
    return learned""", says="Pairs were counted across the ends of words: the last token of one and the first of the "
    "next. Count within each word.")
learn.mutant("mark_at_the_end", "list(word)", "[*word, '</w>']",
    says="A mark for the end was added to every word. At first the characters of a word are its tokens, and no more.")
learn.mutant("tokens_returned", "learned.append(best)", "learned.append(''.join(best))",
    says="What came back is no list of pairs. Return the pairs that were merged, each a tuple of two strings.")
learn.mutant("newest_first", "learned.append(best)", "learned.insert(0, best)",
    says="The pairs are in the opposite order: the first merge comes first.")
learn.mutant("in_order_of_the_alphabet", "return learned", "return sorted(learned)",
    says="The pairs were sorted. Their order is that of their merges.")
learn.mutant("one_too_many", "range(merges)", "range(merges + 1)", says="There is one merge too many.")
learn.mutant("one_too_few", "range(merges)", "range(1, merges)", says="One merge is missing.")
learn.mutant("as_counted_in_the_text", "words[word]", "words[word] * word.count(''.join(pair))",
    says="A pair's count is too high: for each occurrence it grew by the number of times that its text is in the word. "
    "Count pairs of tokens.")
learn.mutant("letters_only", "list(word)", "[c for c in word if c.isascii() and c.isalpha()]",
    says="Some characters were left out. Every character of a word is a token at first, whatever it is.")

split = solution("split_word")
split.mutant("longest_match", body="""
    known, tokens = {''.join(pair) for pair in merges}, []
    while word:
        size = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        tokens.append(word[:size])
        word = word[size:]
    return tokens""", hint=2, says="These are the longest known tokens, taken from left to right. Merge in the order "
    "of merges, which may give other tokens.")
split.mutant("one_pass_over_the_merges", body="""
    tokens = list(word)
    for pair in merges:
        tokens = merge(tokens, pair)
    return tokens""", hint=3, says="Each merge had one turn. A later merge can make an earlier pair possible, "
    "so look again at all pairs after each merge.")
split.mutant("one_empty_token", "list(word)", "list(word) or ['']",
    says="An empty word came back as one empty token. It has no tokens: an empty list.")
split.mutant("only_once", "for _ in word:", "for _ in word[:1]:",
    hint=3, says="It stopped after one merge. Go on until no pair of neighbors is in merges.")
split.mutant("in_the_order_of_the_word", "min(known, key=rank.__getitem__)", "known[0]", hint=1,
    says="The first pair in the word was merged first. The first pair in merges goes first, wherever it is.")
split.mutant("last_in_the_word", "min(known, key=rank.__getitem__)", "known[-1]", hint=1,
    says="The last pair in the word was merged first. The first pair in merges goes first, wherever it is.")
split.mutant("last_merge_first", "min(known", "max(known", hint=2,
    says="The pair that comes last in merges was merged first. What was learned first goes first.")
split.mutant("longest_pair_first", "key=rank.__getitem__", "key=lambda p: (-len(p[0] + p[1]), rank[p])", hint=2,
    says="The pair that makes the longest token was merged first. The first pair in merges goes first.")
split.mutant("smallest_pair_first", "min(known, key=rank.__getitem__)", "min(known)", hint=2,
    says="The smallest pair, as Python compares tuples, was merged first. The order is that of merges.")
split.mutant("most_frequent_pair_first", "min(known, key=rank.__getitem__)",
    "min(known, key=lambda p: (-known.count(p), rank[p]))", hint=2, says="The pair that is most frequent in this word "
    "was merged first. That was for learning; here the order is that of merges.")
split.mutant("one_place_at_a_time", "tokens = merge(tokens, min(known, key=rank.__getitem__))", """
    best = min(known, key=rank.__getitem__)
    i = list(itertools.pairwise(tokens)).index(best)
    tokens = [*tokens[:i], ''.join(best), *tokens[i + 2:]]""", says="A pair was merged in one place, and then another "
    "pair had its turn. Merge it wherever it occurs first.")
split.mutant("known_characters_only", "tokens = list(word)",
    "letters = set(''.join(a + b for a, b in merges))\ntokens = [c for c in word if c in letters]",
    says="Characters that are in no pair are missing. They stay as they are, or the word could not be read back.")
split.mutant("unknown_mark", "tokens = list(word)",
    "letters = set(''.join(a + b for a, b in merges))\ntokens = [c if c in letters else '?' for c in word]",
    says="Characters that are in no pair were replaced. They stay as they are, or the word could not be read back.")
split.mutant("merged_tokens_only", "return tokens", "return [t for t in tokens if len(t) > 1]",
    says="Single characters are missing. Return every token of the word.")
split.mutant("characters_alone", "return tokens", "return list(word)", says="The characters came back, not merged.")
split.mutant("no_tokens_twice", "return tokens", "return list(dict.fromkeys(tokens))",
    says="A token that occurs twice in the word is there once. Return all of them, in the order of the word.")
split.mutant("as_one_text", "return tokens", "return ' '.join(tokens)",
    says="One text came back. Return the tokens as a list of strings.")

gpt = solution("GPT")
gpt.mutant("no_mask", "positions[:, None] >= positions", "positions[:, None] >= 0 * positions", hint=1,
    says="Every token sees the whole text, also what comes after it. Pass a causal mask to the blocks.")
gpt.mutant("mask_upside_down", "positions[:, None] >= positions", "positions[:, None] <= positions", hint=1,
    says="Every token sees itself and what comes after it. True is where a query may look: at itself and before.")
gpt.mutant("mask_that_hides", "positions[:, None] >= positions", "positions[:, None] < positions", hint=1,
    says="Every token sees only what comes after it. True means may look, here as in all lessons.")
gpt.mutant("not_itself", "positions[:, None] >= positions", "positions[:, None] > positions", hint=1,
    says="A token does not see itself. The diagonal of the mask is True: it may look at itself, too.")
gpt.mutant("no_positions", "self.token_embedding(tokens) + self.position_embedding(positions)",
    "self.token_embedding(tokens)", says="The position embeddings were not added, so the order of the tokens is known "
    "from the mask alone.")
gpt.mutant("positions_of_the_batch", "+ self.position_embedding(positions)",
    "+ self.position_embedding(torch.arange(tokens.size(0)))[:, None]", hint=2, says="All tokens of one text got the "
    "same position: the positions ran over the batch. They run along the text.")
gpt.mutant("positions_from_one", "self.position_embedding(positions)",
    "self.position_embedding((positions + 1) % max_len)", says="The positions begin at 1. The first token has position 0.")
gpt.mutant("positions_backward", "self.position_embedding(positions)", "self.position_embedding(positions.flip(0))",
    says="The positions run backward: the last token got position 0.")
gpt.mutant("wrapped_positions", drop="if length > max_len:\n    raise ValueError(f'{length} tokens, but at most {max_len} fit')",
    says="Texts that are longer than max_len do not end with a ValueError. A text is as long as tokens.size(1).")
gpt.mutant("positions_modulo", "if length > max_len:\n    raise ValueError(f'{length} tokens, but at most {max_len} fit')", "",
    "self.position_embedding(positions)", "self.position_embedding(positions % max_len)",
    says="A text that is longer than max_len was taken without a word. Raise a ValueError.")
gpt.mutant("longest_text_refused", "length > max_len", "length >= max_len",
    says="A text of max_len tokens was refused. That many fit; one more does not.")
gpt.mutant("another_matrix_for_the_output", "self.norm = nn.LayerNorm(d_model)",
    "self.norm = nn.LayerNorm(d_model)\nself.out = nn.Linear(d_model, vocab_size, bias=False)",
    "self.norm(x) @ self.token_embedding.weight.mT", "self.out(self.norm(x))", hint=3,
    says="The output matrix is a parameter of its own. It is the matrix of token_embedding, used again.")
gpt.mutant("biases_begin_as_zeros", "for parameter in self.parameters():",
    "for name, parameter in self.named_parameters():\n    if name.endswith('bias'):\n        nn.init.zeros_(parameter)\n"
    "for parameter in self.parameters():",
    says="Biases begin as zeros. Only matrices get the normal numbers; biases stay as PyTorch makes them.")
gpt.mutant("a_bias_for_the_output", "self.norm = nn.LayerNorm(d_model)",
    "self.norm = nn.LayerNorm(d_model)\nself.out = nn.Linear(d_model, vocab_size)\nself.out.weight = self.token_embedding.weight",
    "self.norm(x) @ self.token_embedding.weight.mT", "self.out(self.norm(x))", hint=3,
    says="The output has a bias. Its matrix is that of token_embedding, and there are no other parameters.")
gpt.mutant("no_last_norm", "self.norm(x) @", "x @", says="The stream was not normalized before the output matrix.")
gpt.mutant("norm_at_the_start", "x = self.dropout(x)", "x = self.dropout(self.norm(x))",
    "self.norm(x) @", "x @", says="The norm acts before the blocks. It belongs after the last one.")
gpt.mutant("norm_after_each_block", "x = block(x, causal)", "x = self.norm(block(x, causal))", "self.norm(x) @", "x @",
    says="The norm acts after each block. It acts once, after the last one.")
gpt.mutant("softmax", "return self.norm(x) @ self.token_embedding.weight.mT",
    "return (self.norm(x) @ self.token_embedding.weight.mT).softmax(dim=-1)", hint=3,
    says="Probabilities came back. Return the logits: the loss takes the softmax itself.")
gpt.mutant("log_softmax", "return self.norm(x) @ self.token_embedding.weight.mT",
    "return (self.norm(x) @ self.token_embedding.weight.mT).log_softmax(dim=-1)", hint=3,
    says="Logarithms of probabilities came back. Return the logits: the loss takes the softmax itself.")
gpt.mutant("one_block_again_and_again", "nn.ModuleList(Block(d_model, num_heads, dropout) for _ in range(num_layers))",
    "nn.ModuleList([Block(d_model, num_heads, dropout)] * num_layers)",
    says="The same block is in the list several times, so all layers share their parameters. Make one for each layer.")
gpt.mutant("one_block_too_few", "for block in self.blocks:", "for block in self.blocks[1:]:",
    says="The first block was left out.")
gpt.mutant("blocks_backward", "for block in self.blocks:", "for block in self.blocks[::-1]:",
    says="The blocks ran from the last to the first.")
gpt.mutant("blocks_side_by_side", "x = block(x, causal)", "x = x + block(x0, causal)",
    "x = self.dropout(x)", "x0 = x = self.dropout(x)",
    says="Every block read the embeddings. Each reads what the block before it returned.")
gpt.mutant("added_twice", "x = block(x, causal)", "x = x + block(x, causal)",
    says="The stream was added to what each block returned. The block has done so already.")
gpt.mutant("scaled_embeddings", "self.token_embedding(tokens) +",
    "self.token_embedding(tokens) * self.token_embedding.embedding_dim ** 0.5 +",
    says="The token embeddings were multiplied by √E, as in the paper of 2017. GPT does not do that.")
gpt.mutant("scaled_logits", "return self.norm(x) @ self.token_embedding.weight.mT",
    "return self.norm(x) @ self.token_embedding.weight.mT / x.size(-1) ** 0.5",
    says="The logits were divided by √E. They are plain dot products.")
gpt.mutant("last_position_only", "self.norm(x) @", "self.norm(x[:, -1:]) @",
    says="Only the last position has logits. In training, each position predicts what follows it.")
gpt.mutant("embeddings_swapped", "nn.Embedding(vocab_size, d_model)", "nn.Embedding(max_len, d_model)",
    "self.position_embedding = nn.Embedding(max_len, d_model)", "self.position_embedding = nn.Embedding(vocab_size, d_model)",
    says="The sizes of the two embeddings are swapped: token_embedding has vocab_size rows, position_embedding max_len.")
gpt.mutant("no_dropout_of_embeddings", "self.dropout(x)", "x",
    says="In training, the sum of the embeddings passes without dropout.")
gpt.mutant("no_dropout_in_blocks", "Block(d_model, num_heads, dropout)", "Block(d_model, num_heads)",
    says="In training, nothing is dropped inside the blocks. Pass the argument `dropout` on to them.")
gpt.mutant("dropout_of_each_embedding", "self.token_embedding(tokens) + self.position_embedding(positions)",
    "self.dropout(self.token_embedding(tokens)) + self.dropout(self.position_embedding(positions))", "self.dropout(x)", "x",
    says="Dropout acted on each of the two embeddings. It acts on their sum.")
gpt.mutant("dropout_always", "self.dropout(x)", "nn.functional.dropout(x, self.dropout.p)",
    says="Dropout acts in eval mode, too. `nn.Dropout` knows the mode, and so does `training=self.training`.")
gpt.mutant("tokens_alone_dropped", "self.token_embedding(tokens) +", "self.dropout(self.token_embedding(tokens)) +",
    "self.dropout(x)", "x", says="Dropout acted on the token embeddings alone. It acts on the sum of the two.")
gpt.mutant("begins_as_pytorch_does", drop="""
    for parameter in self.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)""", says="The matrices begin with other numbers than the "
    "docstring says: normal ones with a standard deviation of 0.02.")
gpt.mutant("embeddings_alone_drawn", "for parameter in self.parameters():",
    "for parameter in (self.token_embedding.weight, self.position_embedding.weight):",
    says="Only the embeddings begin with a standard deviation of 0.02. The matrices of the blocks should, too.")
gpt.mutant("drawn_before_the_blocks", "for parameter in self.parameters():", "for parameter in self.blocks.parameters():",
    says="The matrices of the blocks begin with a standard deviation of 0.02. Those of the embeddings should, too.")
gpt.mutant("gains_drawn", "if parameter.dim() == 2:", "if True:",
    says="The gains of the norms were drawn, too, so they begin near 0. Draw matrices only.")

rate = solution("learning_rate")
rate.mutant("begins_at_zero", "(step + 1) / warmup", "step / warmup", hint=2,
    says="Each step of the warm-up has the rate of the step before it: step 0 has 0, and should have peak / warmup.")
rate.mutant("one_part_too_many", "(step + 1) / warmup", "(step + 1) / (warmup + 1)", hint=2,
    says="The warm-up was cut into warmup + 1 parts. Step warmup - 1 should have the peak already.")
rate.mutant("warm_up_too_long", "step < warmup", "step <= warmup", hint=1,
    says="The warm-up goes on for one step too many, beyond the peak. Step `warmup` begins the cosine.")
rate.mutant("no_warm_up", drop="if step < warmup: return peak * (step + 1) / warmup", hint=1,
    says="There is no warm-up. Steps 0 to warmup - 1 should rise to the peak.")
rate.mutant("warm_up_from_the_floor", "peak * (step + 1) / warmup", "floor + (peak - floor) * (step + 1) / warmup",
    says="The warm-up begins at the floor. The floor is for the end: step 0 has peak / warmup.")
rate.mutant("cosine_over_all_steps", "(step - warmup) / (total - warmup)", "step / total", hint=2,
    says="The cosine began at step 0, behind the warm-up. It begins at step `warmup`, with the peak.")
rate.mutant("cosine_too_long", "(step - warmup) / (total - warmup)", "(step - warmup) / total", hint=2,
    says="The cosine is as long as the whole training, so that it is not at the floor at its end. It takes the rest "
    "after the warm-up.")
rate.mutant("cosine_from_one", "(step - warmup) / (total - warmup)", "(step - warmup + 1) / (total - warmup)", hint=2,
    says="The cosine is one step ahead. Step `warmup` has the peak.")
rate.mutant("done_one_step_early", "(step - warmup) / (total - warmup)", "(step - warmup) / max(total - 1 - warmup, 1)",
    hint=2, says="The floor is reached at step total - 1. It is reached at step `total`, one later.")
rate.mutant("straight_down", "(1 + math.cos(math.pi * progress)) / 2", "(1 - progress)", hint=3,
    says="The rate falls along a straight line. It should fall along half a cosine.")
rate.mutant("quarter_of_a_cosine", "(1 + math.cos(math.pi * progress)) / 2", "math.cos(math.pi * progress / 2)", hint=3,
    says="The rate falls along a quarter of a cosine's turn. It is half a turn, from 1 to -1, raised and halved.")
rate.mutant("whole_turn", "math.cos(math.pi * progress)", "math.cos(2 * math.pi * progress)", hint=3,
    says="The cosine makes a whole turn, so the rate rises again. Half a turn ends at the floor.")
rate.mutant("not_raised", "(1 + math.cos(math.pi * progress)) / 2", "math.cos(math.pi * progress)", hint=3,
    says="The cosine goes down to -1, and the rate below the floor. Add 1 and halve it.")
rate.mutant("not_halved", "(1 + math.cos(math.pi * progress)) / 2", "(1 + math.cos(math.pi * progress))", hint=3,
    says="The cosine begins at twice the height: 1 + cos goes from 2 to 0. Halve it.")
rate.mutant("rising", "1 + math.cos", "1 - math.cos", hint=3,
    says="The rate rises from the floor to the peak after the warm-up. It should fall.")
rate.mutant("no_floor", "floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2",
    "peak * (1 + math.cos(math.pi * progress)) / 2", hint=3, says="The cosine falls to 0. It should end at the floor.")
rate.mutant("floor_on_top", "(peak - floor)", "peak", hint=3,
    says="The floor was added to the whole cosine, so it begins above the peak. Stretch it from the peak to the floor.")
rate.mutant("cut_at_the_floor", "floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2",
    "max(floor, peak * (1 + math.cos(math.pi * progress)) / 2)", hint=3,
    says="The cosine falls toward 0 and was cut off at the floor. Stretch it from the peak to the floor.")
rate.mutant("up_again", drop="if step >= total: return floor", hint=1,
    says="After the end, the rate is not the floor. The cosine would rise again, so ask about the end first.")
rate.mutant("zero_after_the_end", "if step >= total: return floor", "if step >= total: return 0.0", hint=1,
    says="After the end, the rate is 0. It stays at the floor.")
rate.mutant("floor_one_step_late", "step >= total", "step > total", "(total - warmup)", "max(total - warmup, 1)",
    hint=3, says="If the warm-up takes all steps, step `total` should have the floor already.")
rate.mutant("without_the_peak", "peak * (step + 1) / warmup", "(step + 1) / warmup", hint=1,
    says="The warm-up rises to 1. It should rise to the peak.")

groups = solution("parameter_groups")
groups.mutant("everything_decays", "p.dim() >= 2", "p.dim() >= 0", "p.dim() < 2", "p.dim() < 0", hint=2,
    says="Everything decays. Biases and the gains of norms should not.")
groups.mutant("nothing_decays", "p.dim() >= 2", "p.dim() < 0", "p.dim() < 2", "p.dim() >= 0", hint=2,
    says="Nothing decays. Matrices should.")
groups.mutant("inverted", "p.dim() >= 2", "p.dim() < 2", "for p in learning if p.dim() < 2], 'weight_decay': 0.0",
    "for p in learning if p.dim() >= 2], 'weight_decay': 0.0", hint=2,
    says="Biases and gains decay here, and matrices do not. Matrices should, and the others should not.")
groups.mutant("matrices_with_two_axes_only", "p.dim() >= 2", "p.dim() == 2", "p.dim() < 2", "p.dim() != 2", hint=3,
    says="A convolution's weight does not decay. Every parameter with two axes or more does, whatever layer it is in.")
groups.mutant("numbers_decay", "p.dim() >= 2", "p.dim() != 1", "p.dim() < 2", "p.dim() == 1", hint=3,
    says="A parameter without axes, a single number, decays. Only those with two axes or more do.")
groups.mutant("numbers_left_out", "p.dim() < 2", "p.dim() == 1", hint=3,
    says="A parameter without axes, a single number, is in neither group. It learns, too.")
groups.mutant("embeddings_do_not_decay", body="""
    outside = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    learning = [p for p in model.parameters() if p.requires_grad]
    return [{'params': [p for p in learning if p.dim() >= 2 and id(p) not in outside], 'weight_decay': decay},
            {'params': [p for p in learning if p.dim() < 2 or id(p) in outside], 'weight_decay': 0.0}]""", hint=1,
    says="The embeddings do not decay. They are matrices, and one of them is the output matrix, too.")
groups.mutant("shared_twice", "model.parameters()", "(q for _, q in model.named_parameters(remove_duplicate=False))",
    hint=2, says="A matrix that two layers share is in a group twice. `model.parameters()` goes through each once.")
groups.mutant("frozen_ones_too", "[p for p in model.parameters() if p.requires_grad]", "list(model.parameters())",
    hint=2, says="Parameters that do not learn are in the groups. Leave them out.")
groups.mutant("without_a_decay", drop="'weight_decay': 0.0", hint=3, says="The second group has no weight_decay, so "
    "AdamW takes its own, 0.01. Write 0.0.")
groups.mutant("the_same_decay", "0.0", "decay", says="Both groups have the decay. That of biases and gains is 0.0.")
groups.mutant("decay_fixed", "'weight_decay': decay", "'weight_decay': 0.1", says="The decay is always the same. Use "
    "the argument.")
groups.mutant("children_only", "model.parameters()", "(q for m in model.children() for q in m.parameters(recurse=False))",
    hint=2, says="Some parameters are missing: those of the model itself, or of modules in modules. "
    "`model.parameters()` finds all of them.")
groups.mutant("names_for_parameters", "[p for p in model.parameters() if p.requires_grad]",
    "[p for _, p in model.named_parameters() if p.requires_grad]",
    "[p for p in learning if p.dim() >= 2]", "[n for n, p in model.named_parameters() if p.dim() >= 2]",
    "[p for p in learning if p.dim() < 2]", "[n for n, p in model.named_parameters() if p.dim() < 2]",
    says="The groups hold names. The optimizer needs the parameters themselves.")
groups.mutant("sets", "[p for p in learning if p.dim() >= 2]", "{p for p in learning if p.dim() >= 2}",
    "[p for p in learning if p.dim() < 2]", "{p for p in learning if p.dim() < 2}", hint=2,
    says="The parameters are in a set. The optimizer refuses that, because a set has no order: make a list.")
groups.mutant("key_misspelled", "'weight_decay': decay", "'decay': decay", "'weight_decay': 0.0", "'decay': 0.0", hint=3,
    says="The optimizer reads the key \"weight_decay\".")

choose = solution("next_token_probabilities")
choose.mutant("temperature_multiplied", "logits / temperature", "logits * temperature", hint=1,
    says="The logits were multiplied by the temperature. Divide, so that a high temperature makes them more equal.")
choose.mutant("temperature_ignored", "(logits / temperature)", "logits", hint=1, says="The temperature was not used.")
choose.mutant("temperature_last", "(logits / temperature).sort", "logits.sort", "ordered.softmax(dim=-1))",
    "(ordered / temperature).softmax(dim=-1))", hint=1,
    says="top_p kept other tokens, as if the temperature came after it. The temperature comes first.")
choose.mutant("no_zero", drop="""
    if temperature == 0:
        largest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, largest, 1.0)""", hint=3,
    says="At temperature 0 the result is NaN, as from a division by 0. The largest logit gets all of the probability "
    "then.")
choose.mutant("last_of_equal_at_zero", "logits.argmax(dim=-1, keepdim=True)",
    "logits.size(-1) - 1 - logits.flip(-1).argmax(dim=-1, keepdim=True)", hint=3,
    says="At temperature 0, the last of equal logits was taken. It is the first.")
choose.mutant("filtered_after_softmax", "ordered.softmax(dim=-1))",
    "(logits / temperature).sort(dim=-1, descending=True, stable=True)[0].softmax(dim=-1) * ordered.isfinite())", hint=3,
    says="What is left does not sum to 1, as when softmax comes before the filter. Fill what is dropped with -inf, "
    "then softmax.")
choose.mutant("zeros_for_what_is_dropped", "-torch.inf", "0.0", every=True, hint=3,
    says="What is dropped got a logit of 0, and softmax gave it a probability. Fill it with -inf.")
choose.mutant("one_more_of_top_k", "rank >= top_k", "rank > top_k", hint=2, says="top_k kept one token too many.")
choose.mutant("one_less_of_top_k", "rank >= top_k", "rank >= top_k - 1", hint=2, says="top_k kept one token too few.")
choose.mutant("least_probable", "descending=True", "descending=False",
    hint=2, says="top_k and top_p kept the least probable tokens.")
choose.mutant("all_of_equal_logits", "ordered = ordered.masked_fill(rank >= top_k, -torch.inf)",
    "ordered = ordered.masked_fill(ordered < ordered[..., :top_k][..., -1:], -torch.inf)", hint=2,
    says="top_k kept more than top_k tokens, because several logits are equal. The ones with smaller indices stay.")
choose.mutant("none_of_equal_logits", "ordered = ordered.masked_fill(rank >= top_k, -torch.inf)", """
    if top_k < logits.size(-1):
        ordered = ordered.masked_fill(ordered <= ordered[..., top_k:][..., :1], -torch.inf)""", hint=2,
    says="top_k kept fewer than top_k tokens, because several logits are equal. The ones with smaller indices stay.")
choose.mutant("last_of_equal_logits", "(logits / temperature).sort(dim=-1, descending=True, stable=True)",
    "(logits / temperature).flip(-1).sort(dim=-1, descending=True, stable=True)",
    "ordered.softmax(dim=-1))", "ordered.softmax(dim=-1)).flip(-1)", hint=2,
    says="Of equal logits, the ones with larger indices were kept. Those with smaller indices count as more probable.")
choose.mutant("top_k_too_large", "ordered.masked_fill(rank >= top_k, -torch.inf)",
    "ordered.masked_fill(ordered < ordered.topk(top_k, dim=-1).values[..., -1:], -torch.inf).masked_fill(rank >= top_k, -torch.inf)",
    says="It stops with an error if there are fewer than top_k tokens. Then all of them are kept.")
choose.mutant("crossing_token_left_out", "before >= top_p", "before + shares > top_p", hint=2,
    says="The token with which the sum reaches top_p was left out. What is kept has to sum to at least top_p.")
choose.mutant("one_more_for_top_p", "before >= top_p", "before - shares.roll(1, dims=-1) * (before > 0) >= top_p", hint=2,
    says="top_p kept one token too many. Once the sum has reached top_p, no further one is needed.")
choose.mutant("one_more_at_the_border", "before >= top_p", "before > top_p", hint=2,
    says="Where the sum was top_p already, one token more was kept. At least top_p is enough.")
choose.mutant("each_above_top_p", "before >= top_p", "shares < shares[..., :1] * top_p", hint=2,
    says="Each token was compared with a share of the largest. top_p is about the sum of the most probable ones.")
choose.mutant("probability_below_top_p", "before >= top_p", "(shares < top_p) & (before > 0)", hint=2,
    says="Each token's own probability was compared with top_p. It is about the sum of the most probable ones.")
choose.mutant("top_p_before_top_k", "shares = ordered.softmax(dim=-1)",
    "shares = (logits / temperature).sort(dim=-1, descending=True, stable=True)[0].softmax(dim=-1)", hint=1,
    says="top_p used the probabilities before top_k. It uses those of the tokens that top_k has kept.")
choose.mutant("top_p_ignored", "if top_p is not None:", "if top_p is not None and top_k is None:",
    says="With top_k, top_p was ignored. They can act together, top_k first.")
choose.mutant("sorted", "torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))",
    "ordered.softmax(dim=-1)", hint=3, says="The probabilities came back sorted. Put each where its logit was.")
choose.mutant("gathered", "torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))",
    "ordered.softmax(dim=-1).gather(-1, index)", hint=3, says="The probabilities are in the wrong places, as when "
    "`gather` reads from the index. Here you have to write to it: put each where its logit was.")
choose.mutant("logits_returned", "torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))",
    "torch.zeros_like(logits).scatter(-1, index, ordered)", hint=3,
    says="Logits came back. Return probabilities, which sum to 1.")
choose.mutant("logarithms_returned", "torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))",
    "torch.zeros_like(logits).scatter(-1, index, ordered.log_softmax(dim=-1))", hint=3,
    says="Logarithms came back. Return probabilities, which sum to 1.")
choose.mutant("first_row_for_all", "logits.argmax(dim=-1, keepdim=True)", "logits.argmax(dim=-1, keepdim=True)[:1]",
    says="At temperature 0 only the first row was filled. Each row has its own largest logit.")
choose.mutant("in_place", "(logits / temperature)", "logits.div_(temperature)",
    says="The caller's logits were changed, as by a function with an underscore, which writes to its tensor. Make a "
    "new one.")
choose.mutant("always_float32", "return torch.zeros_like(logits).scatter(-1, index, ordered.softmax(dim=-1))",
    "return torch.zeros(logits.shape).scatter(-1, index, ordered.softmax(dim=-1).float())",
    says="The result is float32 whatever came in. It should have the dtype of the logits.")
choose.mutant("equal_shares", "ordered.softmax(dim=-1))", "ordered.isfinite().to(logits) / ordered.isfinite().sum(-1, keepdim=True))",
    hint=3, says="What is kept got equal probabilities. They keep their ratios.")

weights = solution("from_published")
weights.mutant("prefix_kept", "name.removeprefix('transformer.')", "name",
    says="It stopped, because every name begins with `transformer.` in this file. Make the names equal first.")
weights.mutant("nothing_turned", "tensor.mT if tensor.dim() == 2 else tensor",
    "tensor if tensor.dim() == 2 and tensor.size(0) == tensor.size(1) else tensor.mT if tensor.dim() == 2 else tensor",
    hint=2, says="Square matrices were not transposed. A Conv1D's weight is (in, out) whatever its shape; nn.Linear has "
    "(out, in).")
weights.mutant("thirds_not_turned", "of_block[f'attention.{letter}_proj'] = third",
    "of_block[f'attention.{letter}_proj'] = third.mT if third.dim() == 2 else third", hint=2,
    says="The parts of c_attn.weight were not transposed. They are square, so nothing complains, but a Conv1D's weight "
    "is (in, out) and that of nn.Linear (out, in).")
weights.mutant("output_not_turned", "tensor.mT if tensor.dim() == 2 else tensor",
    "tensor.mT if tensor.dim() == 2 and 'out_proj' not in name else tensor", hint=3,
    says="attn.c_proj.weight was not transposed. It is square, so nothing complains, but it is of a Conv1D, too.")
weights.mutant("reshaped", "tensor.mT if tensor.dim() == 2 else tensor",
    "tensor.reshape(tensor.shape[::-1]) if tensor.dim() == 2 else tensor", hint=3,
    says="The matrices have the right shape, but their numbers are in other rows, as after a reshape. Transpose them.")
weights.mutant("key_first", "zip('qkv',", "zip('kqv',", hint=2,
    says="Query and key are swapped. The columns of c_attn are query, key and value, in this order.")
weights.mutant("value_first", "zip('qkv',", "zip('vqk',", hint=2,
    says="The parts of c_attn are in the wrong order. Its columns are query, key and value.")
weights.mutant("key_and_value_swapped", "zip('qkv',", "zip('qvk',", hint=2,
    says="Key and value are swapped. The columns of c_attn are query, key and value, in this order.")
weights.mutant("thirds_of_each_head", "w[f'h.{n}.attn.c_attn.{kind}'].chunk(3, dim=-1)",
    "w[f'h.{n}.attn.c_attn.{kind}'].unflatten(-1, (num_heads, 3, -1)).unbind(-2)",
    "of_block[f'attention.{letter}_proj'] = third", "of_block[f'attention.{letter}_proj'] = third.flatten(-2)", hint=2,
    says="c_attn was cut into heads first, each with its query, key and value. Its columns are all queries, then all "
    "keys, then all values.")
weights.mutant("every_third_column", "w[f'h.{n}.attn.c_attn.{kind}'].chunk(3, dim=-1)",
    "[w[f'h.{n}.attn.c_attn.{kind}'][..., i::3] for i in range(3)]", hint=2,
    says="Every third column went to the query. The first third of the columns is the query's, in one piece.")
weights.mutant("norms_swapped", "'ln_1': 'norm1'", "'ln_2': 'norm1'", "'ln_2': 'norm2'", "'ln_1': 'norm2'",
    says="The two norms of a block are swapped: ln_1 is before the attention.")
weights.mutant("same_norm_twice", "w[f'h.{n}.{old}.{kind}']", "w[f\"h.{n}.{old.replace('ln_2', 'ln_1')}.{kind}\"]",
    says="Both norms of a block are ln_1. The one before the network is ln_2.")
weights.mutant("first_block_everywhere", "w[f'h.{n}.{old}.{kind}']", "w[f'h.0.{old}.{kind}']",
    says="Every block got weights of block 0.")
weights.mutant("attention_of_the_first_block", "w[f'h.{n}.attn.c_attn.{kind}']", "w[f'h.0.attn.c_attn.{kind}']",
    says="Every block got the queries, keys and values of block 0.")
weights.mutant("last_block_missing", "sum('ln_1.bias' in name for name in w)", "sum('ln_1.bias' in name for name in w) - 1",
    hint=1, says="The last block is missing. Their numbers begin at 0, so there is one more than the largest.")
weights.mutant("blocks_counted_by_a_digit", "sum('ln_1.bias' in name for name in w)",
    "len({name[2] for name in w if name.startswith('h.')})", hint=1,
    says="The number of blocks is wrong where there are more than ten: their numbers have two digits then.")
weights.mutant("blocks_in_the_order_of_texts", "w[f'h.{n}.{old}.{kind}']",
    "w[f'h.{sorted(map(str, range(num_layers)))[n]}.{old}.{kind}']", "w[f'h.{n}.attn.c_attn.{kind}']",
    "w[f'h.{sorted(map(str, range(num_layers)))[n]}.attn.c_attn.{kind}']",
    says="The blocks are in the order of texts, where 10 comes before 2. Their numbers count.")
weights.mutant("positions_not_copied", "'position_embedding.weight': w['wpe.weight']",
    "'position_embedding.weight': torch.zeros(w['wpe.weight'].shape)",
    says="The position embeddings are not those of the file.")
weights.mutant("last_norm_not_copied", "'norm.weight': w['ln_f.weight'], 'norm.bias': w['ln_f.bias']", "",
    "model.load_state_dict(state)", "model.load_state_dict(state, strict=False)",
    says="The last norm, ln_f, is not that of the file.")
weights.mutant("biases_left_out", "('weight', 'bias')", "('weight',)", "model.load_state_dict(state)",
    "model.load_state_dict({n: torch.zeros_like(p) if n.endswith('bias') else p for n, p in model.state_dict().items()} | state)",
    says="The biases of the blocks were left out.")
weights.mutant("one_head", "GPT(vocab_size, max_len, d_model, num_heads, num_layers)",
    "GPT(vocab_size, max_len, d_model, 1, num_layers)", hint=1,
    says="The model has one head. How many there are is in no shape, so it is an argument.")
weights.mutant("exact_gelu", "model.load_state_dict(state)",
    "model.load_state_dict(state)\nfor block in model.blocks:\n    block.network[1] = nn.GELU()",
    says="The GELU is the exact one. GPT-2 was trained with the form with a tanh, which the block has already.")
weights.mutant("another_eps", "model.load_state_dict(state)",
    "model.load_state_dict(state)\nfor layer in model.modules():\n    if isinstance(layer, nn.LayerNorm):\n        layer.eps = 0.1",
    says="The norms add another eps than 1e-5, which is GPT-2's and PyTorch's.")
weights.mutant("head_read_from_the_file", "w['wte.weight'],\n 'position_embedding.weight'",
    "w['lm_head.weight'],\n 'position_embedding.weight'", says="It stopped at a file without lm_head.weight. The "
    "output matrix is wte.weight, and that is always there.")
weights.mutant("masks_as_biases", "if tensor.dim() == 2 else tensor", "if tensor.dim() == 2 else w.get(f'h.{n}.attn.{kind}', tensor)",
    says="It stopped, because h.0.attn.bias was taken for a bias. It belongs to the mask, and is not needed.")
weights.mutant("too_short", "len(w['wpe.weight'])", "len(w['wpe.weight']) - 1", "'position_embedding.weight': w['wpe.weight']", "'position_embedding.weight': w['wpe.weight'][:-1]",
    says="The longest text does not fit: max_len is the number of rows of wpe.weight.")
weights.mutant("shared_with_the_file", "model.load_state_dict(state)", "model.load_state_dict(state, assign=True)",
    says="The model's parameters are the file's tensors themselves, so training would change those. Copy them.")
weights.mutant("frozen", "return model", "return model.requires_grad_(False)",
    says="The parameters do not learn. Nobody asked for that: the model may be trained on.")
