"""The mistakes that students make in lesson 9, as edits of its solutions. Never given to students."""

from contextlib import contextmanager

from autograder.checks import solution

repeating = solution("make_repeating_batch")
repeating.mutant("one_period_for_all", "(batch,), generator=generator)", "(1,), generator=generator).expand(batch)",
    hint=3, says="All rows of a batch have the same period. Then position alone tells where to look, and nothing needs "
    "to be compared: draw one for each row.")
repeating.mutant("fixed_period", "torch.randint(min_period, length // 2 + 1, (batch,), generator=generator)",
    "torch.full((batch,), min_period)", hint=3, says="Every row of every batch has the same period. Then position "
    "alone solves the task. Draw a period for each row.")
repeating.mutant("largest_period_left_out", "length // 2 + 1", "length // 2", hint=3,
    says="The largest period, length // 2, never occurs. It is included, and randint leaves its upper limit out.")
repeating.mutant("periods_up_to_the_length", "length // 2 + 1", "length + 1", says="It stopped: a row needs more "
    "tokens than the vocabulary may have, as with a period longer than half a sequence. The largest is length // 2.")
repeating.mutant("tokens_twice", "torch.rand(batch, vocab, generator=generator).argsort(dim=-1)",
    "torch.randint(vocab, (batch, length), generator=generator)", hint=2, says="Within one period, a token occurs "
    "twice, so it has two successors. Draw without replacement, as from a shuffled vocabulary.")
repeating.mutant("token_by_token", "% periods[:, None]", "// (length // periods[:, None] + 1)", hint=2, says="Each token "
    "is written several times in a row before the next one comes. Repeat the whole run of tokens, not its entries.")
repeating.mutant("other_periods_returned", "places), periods)", "places), periods[torch.randperm(batch)])",
    says="The sequences repeat, but not with the periods that were returned. Return those that the rows were built "
    "with, in the order of the rows.")
repeating.mutant("first_period_for_tokens", "periods[:, None]", "periods[:1, None].expand(batch, 1)", says="Each row has a period of its "
    "own, but the tokens of all rows repeat with the same one. Which row's was used?")
repeating.mutant("repeated_one_short", "periods[:, None]", "(periods[:, None] - 1).clamp(min=1)", hint=2, says="The "
    "sequences repeat one token too early: with period P, place P has the first token again, and P - 1 does not yet.")
repeating.mutant("seed_of_its_own", "periods = torch.randint", "generator = torch.Generator().manual_seed(0)\nperiods = "
    "torch.randint", hint=3, says="Two calls with one generator gave the same batch: a model would see no other. Draw "
    "from the generator itself, not from one with a seed of its own.")
repeating.mutant("tokens_up_to_the_period", "order.gather(1, places)", "torch.stack([torch.randperm(int(p), "
    "generator=generator)[i] for p, i in zip(periods, places)])", hint=2,
    says="A row with period P has the tokens 0 to P - 1 only, shuffled. Draw its tokens from the whole vocabulary.")

previous = solution("previous_token_score")
previous.mutant("the_token_itself", "diagonal(offset=-1,", "diagonal(", hint=1,
    says="This is the weight on the token itself, the main diagonal. The token before is one column to the left.")
previous.mutant("all_earlier_tokens", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights.tril(-1).sum(dim=-1)",
    hint=1,
    says="The weight on all earlier tokens was counted, everything below the diagonal. Only the one before counts.")
previous.mutant("last_row_alone", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights[:, :, -1, -2]", "(0, 2)",
    "0", says="Only the last token's weight on the one before it was counted. Every token but the first counts.")
previous.mutant("first_row_wraps_into_the_sum", hint=1, body="""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].sum(dim=-1).mean(dim=0) / (len(rows) - 1)""",
    says="The sum has a term too many, the first token's weight on the last one: for i = 0, index i - 1 is -1, the "
    "last column. Start with i = 1.")
previous.mutant("first_row_counted", "mean(dim=(0, 2))", "sum(dim=(0, 2)) / (weights.size(0) * weights.size(-1))",
    hint=1, says="The sum is right, but it was divided by L. The first token has none before it, so a sequence has "
    "L - 1 terms.")
previous.mutant("first_row_wraps", hint=1, body="""
    rows = torch.arange(weights.size(-1))
    return weights[..., rows, rows - 1].mean(dim=(0, 2))""",
    says="The first token was counted: for i = 0, index i - 1 is -1, the last column. Start with i = 1.")
previous.mutant("first_sequence", "weights.diagonal", "weights[0].diagonal", "(0, 2)", "-1", hint=3,
    says="Only the first sequence was counted. Average over all of them.")
previous.mutant("all_entries", hint=1, body="return weights.tril(-1).triu(-1).mean(dim=(0, 2, 3))", says="The right "
    "entries were averaged together with zeros for all others. Divide by the number of those that count.")
previous.mutant("everything_before", hint=1, body="return weights.tril(-1).sum(dim=-1)[..., 1:].mean(dim=(0, 2))",
    says="This is the weight on all tokens before. Only the one directly before counts.")
previous.mutant("mean_below_the_diagonal", hint=1, body="""
    count = torch.ones_like(weights).tril(-1).sum(dim=(0, 2, 3))
    return weights.tril(-1).sum(dim=(0, 2, 3)) / count""", says="This is the mean of all weights below the diagonal, "
    "for any token before. Only the one directly before counts.")
previous.mutant("whole_row_means", "weights.diagonal(offset=-1, dim1=-2, dim2=-1)", "weights", "(0, 2)", "(0, 2, 3)",
    hint=1, says="This is the mean of whole rows, so it is 1 / L for every head. Pick entry i - 1 of row i first.")

induction = solution("induction_score")
induction.mutant("the_occurrence_itself", "rows - period[:, None] + 1", "rows - period[:, None]", hint=1,
    says="This is the weight on the previous occurrence itself, i - period. What followed it is one place further "
    "right.")
induction.mutant("two_after", "period[:, None] + 1", "period[:, None] + 2", hint=1,
    says="The place is one too far: this is the second token after the previous occurrence.")
induction.mutant("one_before", "period[:, None] + 1", "period[:, None] - 1", "target.clamp(min=0)",
    "(target % len(rows))", hint=1,
    says="This is the token before the previous occurrence. The one after it predicts what comes next.")
induction.mutant("one_before_with_a_row_less", "period[:, None] + 1", "period[:, None] - 1", "rows >= period",
    "rows > period", hint=1,
    says="This is the token before the previous occurrence, i - period - 1. The one after it is at i - period + 1.")
induction.mutant("period_of_the_first", "rows = torch", "period = period[:1].expand(len(period))\nrows = torch", hint=2,
    says="Right where all periods are equal. Here the first sequence's was used for all: each has a period of its own.")
induction.mutant("mean_period", "rows = torch",
    "period = period.double().mean().long().expand(len(period))\nrows = torch", hint=2, says="Right where all periods "
    "are equal. Here the mean of the periods was used: each sequence has one of its own.")
induction.mutant("largest_period", "rows = torch", "period = period.max().expand(len(period))\nrows = torch", hint=2,
    says="Right where all periods are equal. Here the largest was used for all: each sequence has a period of its own.")
induction.mutant("rows_from_the_largest", "rows >= period[:, None]", "(rows >= period.max()).expand(len(period), -1)",
    hint=2, says="The places are right, but only rows from the largest period on were counted. Each sequence starts at "
    "its own.")
induction.mutant("rows_from_the_smallest", "rows >= period[:, None]", "(rows >= period.min()).expand(len(period), -1)",
    hint=2, says="The places are right, but all rows from the smallest period on were counted. Each sequence starts at "
    "its own.")
induction.mutant("all_rows_from_the_end", "target.clamp(min=0)", "(target % len(rows))", "rows >= period[:, None]",
    "(rows >= 0).expand(len(period), -1)", hint=3, says="Rows before the first repetition were counted too: there, i "
    "- period + 1 is negative and indexes from the end.")
induction.mutant("all_rows_clamped", "rows >= period[:, None]", "(rows >= 0).expand(len(period), -1)", hint=3,
    says="Rows before the first repetition were counted too, with the weight on token 0. Clamping makes an index valid, "
    "but those rows should not count.")
induction.mutant("one_row_too_early", "rows >= period[:, None]", "rows >= period[:, None] - 1", hint=1, says="Row "
    "period - 1 was counted too: the whole diagonal. Its token has not occurred before. Start at i = period.")
induction.mutant("divided_by_all_rows", "counted.sum()", "counted.numel()", hint=3,
    says="The sum is right, but it was divided by all B * L rows. Divide by the number of rows that count.")
induction.mutant("mean_of_means", "sum(dim=(0, 2)) / counted.sum()",
    "sum(dim=2).div(counted.sum(dim=1)[:, None]).mean(dim=0)", hint=3, says="Each sequence was averaged first, then "
    "the sequences. A long period has fewer rows, so they got more weight: take one mean over all rows that count.")
induction.mutant("one_row_too_many_in_the_count", "counted.sum()", "(counted.sum() + len(period))", hint=3,
    says="The sum is right, but it was divided by one too many per sequence: from period to L - 1 there are L - period "
    "rows.")
induction.mutant("queries_and_keys_swapped", "weights.gather", "weights.mT.gather",
    says="Rows and columns are swapped. The query i is the row, the place it looks at is the column.")
induction.mutant("just_the_token_before", "rows - period[:, None] + 1", "(rows - 1).expand(len(period), -1)", hint=1,
    says="This is the weight on the token before, as in exercise 9.2. An induction head looks about a period back.")
induction.mutant("second_period_only", "rows >= period[:, None]",
    "(rows >= period[:, None]) & (rows < 2 * period[:, None])",
    says="Only the second period was counted. From i = period on, all rows do, up to the end of the sequence.")
induction.mutant("first_occurrence", "rows - period[:, None] + 1", "rows % period[:, None] + 1", says="This is the token "
    "after the FIRST occurrence. From the third period on that is too far back: go back one period, to the last "
    "occurrence.")
induction.mutant("one_row_each", "rows >= period", "rows == period", hint=2,
    says="Only row i = period was counted. All later rows do, too.")
induction.mutant("first_sequence_alone", "rows = torch", "weights, period = weights[:1], period[:1]\nrows = torch",
    hint=2, says="Only the first sequence was counted. Take the mean over all of them.")
induction.mutant("last_sequence_alone", "rows = torch", "weights, period = weights[-1:], period[-1:]\nrows = torch",
    says="Only the last sequence was counted. Take the mean over all of them.")
induction.mutant("range_over_all_periods", hint=2, body="return weights[..., range(period, weights.size(-1)), 0]",
    says="It stopped where one integer is needed, as by `range` or a slice: `period` holds one per sequence. Index it "
    "with the sequence.")
induction.mutant("every_sequence_at_all_places", hint=2, body="""
    rows = torch.arange(weights.size(-1)).expand(len(period), -1)
    index = (rows - period[:, None] + 1).clamp(min=0)
    return weights[:, :, rows, index][:, :, rows >= period[:, None]].mean(dim=(0, -1))""",
    says="Each sequence was read at the places of all sequences, as with `weights[:, :, rows, columns]`, where the "
    "batch axis meets every period. Sequence b belongs to period b alone.")

PART, ZERO = "slice(head * size, (head + 1) * size)", "layer.weight[:, part] = 0.0"
ENDS = """
    try:
        yield
    finally:
        hook.remove()"""
BACK = """
    for parameter, old in kept:
        parameter.copy_(old)"""
ablate = solution("ablate_head")
weights_zeroed = solution("ablate_head", spelled="""
    @contextmanager
    def ablate_head(module: MultiHeadAttention, head: int) -> Iterator[None]:
        layer, size = module.out_proj, module.out_proj.in_features // module.num_heads
        part = slice(head * size, (head + 1) * size)
        kept = [(p, p.detach().clone()) for p in module.parameters()]
        with torch.no_grad():
            layer.weight[:, part] = 0.0
        try:
            yield
        finally:
            with torch.no_grad():
                for parameter, old in kept:
                    parameter.copy_(old)
    """)
ablate.mutant("StaysOff", "hook.remove()", "hook", hint=3,
    says="Right inside the block, but afterward the head is still off. Undo what was done: put back a copy of what was "
    "there before, or remove the hook.")
ablate.mutant("OutputZeroed", "register_forward_pre_hook(silence)",
    "register_forward_hook(lambda _, read, out: out * (torch.arange(out.size(-1)) // size != head))", hint=1,
    says="Entries of the output are 0. Each of them mixes all heads: switch the head off before out_proj, in what it "
    "reads.")
ablate.mutant("Interleaved", PART, "slice(head, None, module.num_heads)", hint=1, says="Every H-th entry was switched "
    "off, as if the heads were interleaved. Head h is D entries in a row, from h * D on.")
weights_zeroed.mutant("RowsOfTheWeight", ZERO, "layer.weight[part] = 0.0", hint=1, says="Entries of the output have "
    "lost what every head adds, as when rows of out_proj's weight are zeroed. Rows belong to outputs, columns to "
    "inputs, and the heads are its input.")
weights_zeroed.mutant("RowOfTheWeight", ZERO, "layer.weight[head] = 0.0", hint=1,
    says="One entry of the output has lost what every head adds, as when a row of out_proj's weight is zeroed. A row "
    "belongs to an entry of the output; a head has D columns.")
ablate.mutant("NotAfterAnException", ENDS, "yield\nhook.remove()", says="After an exception the head is still off: what "
    "follows `yield` does not run then. Where do you put what has to run in any case?")
ablate.mutant("OnlyAfterAnException", "finally:", "except BaseException:", "hook.remove()", "hook.remove()\nraise",
    says="After an exception the head is back, but when the block ends normally it stays off. Restore it in both cases.")
ablate.mutant("Swallowed", "finally:", "except Exception:\n    pass\nfinally:",
    says="The exception disappeared: nobody would learn that the block went wrong. Clean up, then let it go on.")
ablate.mutant("OthersOff", "heads = read[0].clone()", "heads, old = torch.zeros_like(read[0]), read[0]",
    "heads[..., columns] = 0.0", "heads[..., columns] = old[..., columns]", hint=1,
    says="All heads but this one were switched off. Only this one should be.")
ablate.mutant("AllOff", "heads[..., columns]", "heads[...]", hint=1,
    says="All heads were switched off: only the bias is left. Zero the part that belongs to this head.")
ablate.mutant("NextHead", PART, "slice((head + 1) * size, (head + 2) * size)", hint=1,
    says="The next head was switched off. Heads count from 0: head h starts at h * D.")
ablate.mutant("PreviousHead", PART, "slice((head - 1) * size, head * size)", hint=1,
    says="The head before was switched off, and for head 0 none. Heads count from 0, not from 1.")
ablate.mutant("FirstHeadAlways", PART, "slice(0, size)", hint=1,
    says="Head 0 was switched off, whichever was asked for. Where does the part of head h start?")
ablate.mutant("LastHeadAlways", PART, "slice(head * size, None)", hint=1,
    says="All later heads were switched off too, as by a slice without an end. Head h ends at (h + 1) * D.")
ablate.mutant("UpToThisHead", PART, "slice(0, (head + 1) * size)", hint=1,
    says="All earlier heads were switched off too, as by a slice without a start. Head h starts at h * D.")
ablate.mutant("OneEntry", PART, "slice(head, head + 1)", hint=1,
    says="One entry was switched off. A head has D of them, side by side.")
ablate.mutant("OneEntryShort", PART, "slice(head * size, (head + 1) * size - 1)", hint=1,
    says="The head's last entry is still on. A slice leaves its end out already.")
ablate.mutant("HeadsAsSize", "module.out_proj.in_features // module.num_heads", "module.num_heads", hint=1,
    says="The part that was switched off has num_heads entries. A head's dimension is out_proj's number of inputs "
    "divided by num_heads.")
ablate.mutant("SizeAsAFloat", "head * size", "head / size",
    says="It stopped because a slice needs integers, and `/` gives a float. Divide whole numbers with //.")
ablate.mutant("FewerHeads", "hook = module.out_proj.register_forward_pre_hook(silence)", "module.num_heads -= 1",
    "hook.remove()", "module.num_heads += 1", hint=2, says="The same entries are cut into fewer, larger heads, as when "
    "num_heads is lowered. Leave it, and silence one head's part.")
weights_zeroed.mutant("QueriesZeroed", ZERO, "module.q_proj.weight[part] = 0.0", hint=1, says="The head looks at all "
    "keys about equally, as when its queries are zeroed in q_proj, and its output still counts: cut it off at "
    "out_proj.")
weights_zeroed.mutant("InputsOfTheQueries", ZERO, "module.q_proj.weight[:, part] = 0.0", hint=1, says="The queries of "
    "all heads have changed, as when columns of q_proj are zeroed: they belong to entries of the tokens, which all "
    "heads read. The head's own part is what out_proj reads.")
weights_zeroed.mutant("KeysZeroed", ZERO, """
    module.k_proj.weight[part] = 0.0
    if module.k_proj.bias is not None:
        module.k_proj.bias[part] = 0.0""", hint=1, says="The head looks at all keys equally, as if its scores were 0, "
    "and its output still counts: cut it off at out_proj.")
weights_zeroed.mutant("ValuesWithoutBias", ZERO, "module.v_proj.weight[part] = 0.0", hint=1, says="The bias of the "
    "head's values still gets through, as when only the weight of v_proj is zeroed. Zero that too, or cut the head "
    "off at out_proj.")
weights_zeroed.mutant("BiasNotRestored", "module.parameters()", "[module.v_proj.weight]", ZERO, """
    module.v_proj.weight[part] = 0.0
    if module.v_proj.bias is not None:
        module.v_proj.bias[part] = 0.0""", hint=3, says="Right inside the block. Afterward v_proj's weight is back, "
    "but its bias is not: restore all that you changed.")
weights_zeroed.mutant("AllValuesZeroed", ZERO, "module.v_proj.weight.zero_()", hint=1, says="No head says anything "
    "about the tokens, as when all of v_proj's weight is zeroed. Only this head should be off.")
weights_zeroed.mutant("InputsOfTheValues", ZERO, "module.v_proj.weight[:, part] = 0.0", hint=1,
    says="The values of all heads have changed, as when columns of v_proj are zeroed. They belong to entries of the "
    "tokens, not to a head.")
weights_zeroed.mutant("BiasOff", ZERO, f"{ZERO}\nif layer.bias is not None:\n    layer.bias.zero_()", hint=3,
    says="The head is off, but so is out_proj's bias. It belongs to no head: leave it on.")
weights_zeroed.mutant("PartOfTheBiasOff", ZERO, f"{ZERO}\nif layer.bias is not None:\n    layer.bias[part] = 0.0",
    hint=3, says="The head is off, but so is a part of out_proj's bias. Its entries belong to outputs, not to heads.")
weights_zeroed.mutant("MultipliedBack", BACK, "layer.weight[:, part] /= 0.0", hint=3, says="The output after the block "
    "is NaN, as when a weight that was multiplied by 0 is divided by 0 again. Keep a copy and put it back.")
weights_zeroed.mutant("NeverPutBack", BACK, "pass", hint=3, says="Right inside the block, but afterward the head is still "
    "off, because its part of out_proj's weight was not put back. Keep a *copy* of it: a view would change with it.")
weights_zeroed.mutant("FreshWeights", BACK, "layer.reset_parameters()", hint=3,
    says="Afterward out_proj has other weights than before. Keep a copy and put it back.")
ablate.mutant("OthersLouder", "return (heads,)", "return (heads * module.num_heads / max(module.num_heads - 1, 1),)",
    says="The head is off, but the others were scaled up, as dropout does. They should contribute what they did before.")
weights_zeroed.mutant("MeanInstead", ZERO, "layer.weight[:, part] = layer.weight[:, part].mean()", hint=2,
    says="The head still contributes, as if its columns were replaced by their mean. It should contribute nothing.")
ablate.mutant("RestoredTooSoon", "(head + 1)", "(head + 0)", says="Inside the block nothing has changed. The change "
    "has to reach the module itself and last until the block ends; a hook before a layer acts through what it returns.")
ablate.mutant("not_a_context_manager", code="def ablate_head(module, head): pass", says="It returned None, which `with` "
    "cannot enter. A function under @contextmanager needs that line above it, and a `yield`.")
ablate.mutant("generator_alone", drop="@contextmanager",
    says="`with` cannot enter a bare generator. The line @contextmanager above the function is missing.")
ablate.mutant("no_yield", code="ablate_head = contextmanager(lambda module, head: None)",
    says="There is no `yield`, so the block never runs. It marks the place where the block comes in.")
ablate.mutant("module_returned", code="ablate_head = contextmanager(lambda module, head: module)", says="The module was "
    "returned where a `yield` belongs. The block runs at the `yield`, and what follows it runs when the block has "
    "ended.")
ablate.mutant("yields_twice", "hook.remove()", "hook.remove()\nyield",
    says="The function reached a second `yield`. One block comes in at one place: what follows the first `yield` "
    "cleans up.")
weights_zeroed.mutant("NewParameter", BACK, "layer.weight = torch.nn.Parameter(dict(kept)[layer.weight])", hint=3,
    says="Afterward out_proj or its weight is a new object, which an optimizer would not know. Put back the old one, "
    "or copy into it.")
weights_zeroed.mutant("KeptOnTheModule", "kept = [(p, p.detach().clone()) for p in module.parameters()]",
    "kept = vars(module).setdefault('copies', [(p, p.detach().clone()) for p in module.parameters()])",
    says="Leaving an inner block switched the outer block's head on again. Undo what this block has done, and "
    "nothing else.")
ablate.mutant("HookLeft", "hook.remove()", "columns = slice(0, 0)", hint=2,
    says="The outputs are right, but a hook is still on the module, with nothing left to do. Remove it.")
