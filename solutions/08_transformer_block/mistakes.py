"""The mistakes that students make in lesson 8, as edits of its solutions. Never given to students."""

import torch

from autograder.checks import solution

FIRST = "x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])"
OWN = "x + self.dropout(self.self_attention(self.norm1(x), mask=self_mask)[0])"
NETWORK = "x + self.dropout(self.linear2(hidden))"
BEST = "step(tokens)[:, -1].argmax(dim=-1, keepdim=True)"

block = solution("TransformerBlock")
block.mutant("PostNorm", FIRST, "self.norm1(x + self.dropout(self.attention(x, mask=mask)[0]))", "self.norm2(x)", "x",
    NETWORK, f"self.norm2({NETWORK})", hint=1, says="This is post-norm: each norm came after the addition. In a "
    "pre-norm block a norm acts on what enters a branch, and nothing acts on the sum.")
block.mutant("NoResidual", "x + self.dropout(", "self.dropout(", every=True, hint=1,
    says="There is no residual connection: each branch replaced what came in. It should be added to what came in.")
block.mutant("AttentionNotAdded", "x = x + self.dropout(", "x = self.dropout(", hint=1,
    says="The output of attention replaced x. It is a branch, like the feed-forward network: add x to it.")
block.mutant("NetworkNotAdded", "return x + self.dropout(", "return self.dropout(", hint=1,
    says="The second residual connection is missing: the feed-forward network's output was returned on its own.")
block.mutant("NormalizedAndAdded", FIRST, "self.norm1(x) + self.dropout(self.attention(self.norm1(x), mask=mask)[0])",
    NETWORK, "self.norm2(x) + self.dropout(self.linear2(hidden))", hint=1,
    says="The branches were added to the normalized x. The residual stream is x itself, which no norm has touched.")
block.mutant("FirstNormKept", FIRST, "self.norm1(x) + self.dropout(self.attention(self.norm1(x), mask=mask)[0])",
    hint=1, says="Attention was added to norm1's output instead of x. Only the branch reads the normalized x; the sum "
    "starts from x itself.")
block.mutant("SecondNormKept", NETWORK, "self.norm2(x) + self.dropout(self.linear2(hidden))", hint=1, says="The "
    "network was added to norm2's output. Only the branch reads the normalized sum, the residual stream does not.")
block.mutant("NormOnTheBranch", FIRST, "x + self.dropout(self.norm1(self.attention(x, mask=mask)[0]))", "self.norm2(x)",
    "x", NETWORK, "x + self.dropout(self.norm2(self.linear2(hidden)))", hint=1,
    says="Each norm acted on the output of its branch. It belongs in front of the branch, on what goes in.")
block.mutant("FirstNormOnTheBranch", FIRST, "x + self.dropout(self.norm1(self.attention(x, mask=mask)[0]))", hint=1,
    says="norm1 acted on the output of attention. It belongs in front, on what goes in.")
block.mutant("NormedTwice", NETWORK, f"self.norm2({NETWORK})", hint=1,
    says="The sum was normalized once more at the end, with norm2. The block returns the residual stream as it is.")
block.mutant("SecondPostNorm", "self.norm2(x)", "x", NETWORK, f"self.norm2({NETWORK})", hint=1, says="norm2 came after "
    "the second addition. It belongs in front of the feed-forward network, as norm1 is in front of attention.")
block.mutant("FirstPostNorm", FIRST, "self.norm1(x + self.dropout(self.attention(x, mask=mask)[0]))", hint=1,
    says="norm1 came after the first addition. It belongs in front of attention, as norm2 is in front of the network.")
block.mutant("NoNorms", "self.norm1(x)", "x", "self.norm2(x)", "x", hint=1,
    says="Neither norm was used. Each branch reads a normalized x.")
block.mutant("NormsSwapped", "self.norm2(x)", "self.norm1(x)", "self.attention(self.norm1(x)",
    "self.attention(self.norm2(x)",
    says="norm1 and norm2 are swapped: norm1 precedes attention, norm2 the feed-forward network.")
block.mutant("OneNormObject", "self.attention = ", "self.norm2 = self.norm1\nself.attention = ",
    says="norm1 and norm2 are one object, so they share their weights. Make two LayerNorms.")
block.mutant("NormsWithoutWeights", "nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, elementwise_affine=False)",
    every=True, says="The norms have no parameters. nn.LayerNorm has a weight and a bias unless it is told not to.")
block.mutant("RootMeanSquareNorm", "nn.LayerNorm", "nn.RMSNorm", every=True,
    says="These are RMSNorms, which neither subtract the mean nor have a bias. The docstring asks for nn.LayerNorm.")
block.mutant("GELUInstead", "self.linear1(self.norm2(x)).relu()", "nn.functional.gelu(self.linear1(self.norm2(x)))",
    says="The activation is GELU, as in GPT-2. This block uses ReLU.")
block.mutant("SiLUInstead", "self.linear1(self.norm2(x)).relu()", "nn.functional.silu(self.linear1(self.norm2(x)))",
    says="The activation is SiLU. This block uses ReLU.")
block.mutant("MaskAsKey", "mask=mask", "mask", hint=2,
    says="It stopped because the mask met a projection, as when it takes the place of the attention's key or value. "
    "Pass it by its name.")
block.mutant("CausalByDefault", "mask=mask",
    "mask=torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if mask is None else mask",
    says="Without a mask, positions saw no later ones. None means that everything may be attended to.")
block.mutant("KeyNotNormed", "self.norm1(x), mask=mask", "self.norm1(x), x, x, mask=mask", hint=1, says="Only the "
    "query was normalized: keys and values came from x itself. In self-attention all three read norm1(x).")
block.mutant("ValueNotNormed", "self.norm1(x), mask=mask", "self.norm1(x), self.norm1(x), x, mask=mask", hint=1,
    says="The values came from x itself. In self-attention queries, keys and values all come from norm1(x).")
block.mutant("PairAdded", FIRST, "x + self.attention(self.norm1(x), mask=mask)", hint=2,
    says="It stopped when x met a tuple: the attention returns two things, the output and the weights or None.")
block.mutant("PairDropped", "mask=mask)[0]", "mask=mask)", hint=2, says="It stopped in dropout, which was given a "
    "tuple. The attention returns a pair, and the first of it is the output.")
block.mutant("NormWithoutItsWeights", "self.norm1(x)", "nn.functional.layer_norm(x, x.shape[-1:])", "self.norm2(x)",
    "nn.functional.layer_norm(x, x.shape[-1:])",
    says="x was normalized without the norms' own weights and biases. Call the modules norm1 and norm2.")
block.mutant("Parallel", "x = x + self", "a = self", NETWORK, f"a + {NETWORK}", hint=1,
    says="Both branches read the same x. The feed-forward network should read the sum of x and attention.")
block.mutant("AddedToTheOldX", "x = x + self", "a = x + self", "self.norm2(x)", "self.norm2(a)", hint=1,
    says="The network's output was added to the x that came in, so what attention added is lost. Add it to the sum.")
block.mutant("SumNotRead", "x = x + self", "a = self", "self.norm2(x)", "self.norm2(a)", NETWORK, f"a + {NETWORK}",
    hint=1, says="The network read norm2 of attention's output without x. It should read the sum of the two.")
block.mutant("NormedXAgain", "x = x + self", "a = self", "self.norm2(x)", "self.norm1(x)", NETWORK, f"a + {NETWORK}",
    hint=1, says="The network read norm1(x), which was computed before attention. It reads norm2 of the sum.")
block.mutant("NetworkFirst", method="forward", body=f"""
    hidden = self.linear1(self.norm2(x)).relu()
    x = {NETWORK}
    return {FIRST}""", says="The feed-forward network came before attention. Attention comes first.")
block.mutant("AttentionMissing", FIRST, "x", hint=1,
    says="Attention has no effect: positions do not see one another. Its output is added to x before the feed-forward "
    "network reads it.")
block.mutant("ResidualAtTheVeryEnd", "x = x + self", "a = self", "self.norm2(x)", "self.norm2(a)", hint=1,
    says="x was added once, around both branches together. Each branch has its own residual connection.")
block.mutant("AddedTwice", "x = x + self", "old, x = x, x + self", NETWORK, f"old + {NETWORK}", hint=1,
    says="x was added twice: once around each branch, and once more at the end.")
block.mutant("AlwaysDropping", "self.dropout(", "nn.functional.dropout(p=self.dropout.p, input=", every=True, hint=3,
    says="Dropout acts in eval mode too. `functional.dropout` assumes training unless it is given self.training, "
    "and an nn.Dropout learns of eval mode only if __init__ makes it.")
block.mutant("NoDropoutOnBranches", "self.dropout(", "(", every=True, hint=3,
    says="In training, dropout acts on the attention weights alone. It also acts on what each branch adds.")
block.mutant("DroppedAfterAdding", FIRST, "self.dropout(x + self.attention(self.norm1(x), mask=mask)[0])", NETWORK,
    "self.dropout(x + self.linear2(hidden))", hint=3, says="Dropout acts on the sum, so the residual stream itself "
    "loses entries. Drop what a branch adds, before adding.")
block.mutant("DroppedOnTheWayIn", FIRST, "x + self.attention(self.dropout(self.norm1(x)), mask=mask)[0]",
    "self.norm2(x)", "self.dropout(self.norm2(x))", NETWORK, "x + self.linear2(hidden)", hint=3,
    says="Dropout acts on what goes into the branches. It acts on what comes out of them, before it is added.")
block.mutant("DroppedTwice", "self.linear2(hidden)", "self.linear2(self.dropout(hidden))", hint=3,
    says="In training, what the network adds is neither 0 nor its output scaled up. It reads the sum that dropout has "
    "left; dropout acts again on its output, not between linear1 and linear2.")
block.mutant("FixedDropout", "nn.Dropout(dropout)", "nn.Dropout()", says="The branches are dropped with a fixed "
    "probability, such as nn.Dropout's default. Use the argument `dropout`.")
block.mutant("ShareThatIsKept", "nn.Dropout(dropout)", "nn.Dropout(1 - dropout)",
    says="dropout was used as the probability of keeping an entry. It is the probability of setting it to 0.")
block.mutant("OneHead", "MultiHeadAttention(d_model, num_heads", "MultiHeadAttention(d_model, 1",
    says="num_heads has no effect: the attention has another number of heads than was asked for.")
block.mutant("OverTheBatch", "self.norm1(x), mask=mask)[0]",
    "self.norm1(x).transpose(0, 1), mask=mask)[0].transpose(0, 1)",
    says="Attention ran over the sentences and not over the positions. MultiHeadAttention takes (B, L, E) as it is.")
block.mutant("PyTorchsAttention", "MultiHeadAttention(d_model, num_heads, dropout=dropout)",
    "nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)", says="The attention is "
    "nn.MultiheadAttention, whose parameters and masks differ. Use MultiHeadAttention of lesson 6.")

decoder = solution("DecoderBlock")
decoder.mutant("MemoryIgnored", "self.norm2(x), memory, mask=memory_mask", "self.norm2(x)", hint=2,
    says="The memory had no effect: in cross-attention, keys and values came from x. They come from the memory.")
decoder.mutant("QueryFromMemory", "(self.norm2(x), memory, mask", "(memory, self.norm2(x), mask", hint=2,
    says="It stopped: something as long as the memory met x, as when the queries of cross-attention come from the "
    "memory. They come from x.")
decoder.mutant("ValueFromX", "memory, mask=memory_mask", "memory, self.norm2(x), mask=memory_mask", hint=2,
    says="It stopped: the keys came from the memory and the values from x. In cross-attention, both come from the "
    "memory.")
decoder.mutant("KeyFromX", "memory, mask=memory_mask", "self.norm2(x), memory, mask=memory_mask", hint=2,
    says="It stopped: the keys came from x and the values from the memory. In cross-attention, both come from the "
    "memory.")
decoder.mutant("SelfMaskOnMemory", "mask=memory_mask", "mask=self_mask", hint=3, says="It stopped: a mask over the "
    "positions of x met the length of the memory. self_mask goes to self-attention alone, and memory_mask to "
    "cross-attention alone.")
decoder.mutant("MasksSwapped", "mask=self_mask", "mask=memory_mask", hint=3,
    says="It stopped: a mask over the memory met the positions of x. self_mask is for self-attention, memory_mask for "
    "cross-attention.")
decoder.mutant("MasksIgnored", "mask=self_mask", "mask=None", "mask=memory_mask", "mask=None", hint=3,
    says="Neither mask had an effect. Each is passed on to its own attention.")
decoder.mutant("BothMasksInverted", "mask=self_mask", "mask=None if self_mask is None else ~self_mask",
    "mask=memory_mask", "mask=None if memory_mask is None else ~memory_mask",
    says='The masks were inverted. True means "may attend", here and in MultiHeadAttention: pass them on as they are.')
decoder.mutant("MaskAsSecondArgument", "mask=self_mask", "self_mask",
    says="It stopped because self_mask met a projection, as when it is the attention's second argument, which is the "
    "key. Pass it by its name.")
decoder.mutant("MaskAsThirdArgument", "mask=memory_mask", "memory_mask",
    says="It stopped because memory_mask met a projection, as when it is the attention's third argument, which is the "
    "value. Pass it by its name.")
decoder.mutant("CausalByItself", "mask=self_mask",
    "mask=torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if self_mask is None else self_mask",
    says="Without self_mask, positions saw no later ones. A mask is only what the caller passes in.")
decoder.mutant("CausalOverMemory", "mask=memory_mask",
    "mask=torch.ones(x.size(1), memory.size(1), dtype=torch.bool).tril()", hint=3, says="Cross-attention was causal: "
    "early positions saw little of the memory. It is complete, and all of it may be read.")
decoder.mutant("MemoryNormalized", "memory, mask=memory_mask", "self.norm2(memory), mask=memory_mask", hint=2,
    says="The memory went through norm2. The encoder has already normalized it: only x does.")
decoder.mutant("MemoryNormalizedOnly", "(self.norm2(x), memory, mask", "(x, self.norm2(memory), mask", hint=2,
    says="norm2 was applied to the memory instead of x. It belongs on x, which asks; the memory stays as it is.")
decoder.mutant("OnlySelfAttentionRead", "x = x + self.dropout(self", "a = self.dropout(self", "self.norm2(x)",
    "self.norm2(a)", "x + self.dropout(cross)", "x + a + self.dropout(cross)", hint=2,
    says="Cross-attention read what self-attention added, without x. Its queries come from the sum of the two.")
decoder.mutant("CrossFirst", method="forward", hint=1, body=f"""
    x = x + self.dropout(self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0])
    x = {OWN}
    hidden = self.linear1(self.norm3(x)).relu()
    return {NETWORK}""",
    says="Cross-attention came before self-attention, each with its own norm. Self-attention comes first.")
decoder.mutant("CrossLast", method="forward", hint=1, body=f"""
    x = {OWN}
    hidden = self.linear1(self.norm3(x)).relu()
    x = {NETWORK}
    return x + self.dropout(self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0])""",
    says="Cross-attention came last. The order is self-attention, cross-attention, feed-forward network.")
decoder.mutant("NetworkBeforeCross", method="forward", hint=1, body=f"""
    x = {OWN}
    hidden = self.linear1(self.norm2(x)).relu()
    x = {NETWORK}
    return x + self.dropout(self.cross_attention(self.norm3(x), memory, mask=memory_mask)[0])""", says="The "
    "feed-forward network came before cross-attention, with norm2 in front. It is the last branch, with norm3.")
decoder.mutant("LaterNormsSwapped", "self.norm2(x)", "self.norm3(x)", "self.linear1(self.norm3(x)",
    "self.linear1(self.norm2(x)",
    says="norm2 and norm3 are swapped: norm2 precedes cross-attention, norm3 the feed-forward network.")
decoder.mutant("EarlyNormsSwapped", "self.norm2(x)", "self.norm1(x)", "self.self_attention(self.norm1(x)",
    "self.self_attention(self.norm2(x)",
    says="norm1 and norm2 are swapped: norm1 precedes self-attention, norm2 cross-attention.")
decoder.mutant("FirstNormEverywhere", "self.norm2(x)", "self.norm1(x)", "self.norm3(x)", "self.norm1(x)",
    says="norm1 was used in front of all three branches. norm2 and norm3 are for the other two.")
decoder.mutant("AllNormsMissing", "self.norm1(x)", "x", "self.norm2(x)", "x", "self.norm3(x)", "x",
    says="None of the three norms was used. Each precedes the branch of its number.")
decoder.mutant("NormsAfterwards", OWN, "self.norm1(x + self.dropout(self.self_attention(x, mask=self_mask)[0]))",
    "self.norm2(x)", "x", "x + self.dropout(cross)", "self.norm2(x + self.dropout(cross))", "self.norm3(x)", "x",
    NETWORK, f"self.norm3({NETWORK})",
    says="This is post-norm: the norms came after the additions. Each belongs in front of its branch.")
decoder.mutant("NormsKept", "x + self.dropout(self.self_attention", "self.norm1(x) + self.dropout(self.self_attention",
    "x + self.dropout(cross)", "self.norm2(x) + self.dropout(cross)", NETWORK,
    "self.norm3(x) + self.dropout(self.linear2(hidden))", says="The branches were added to the normalized x. The "
    "residual stream is x itself, and only branches read its norm.")
decoder.mutant("NoResiduals", "x + self.dropout(", "self.dropout(", every=True,
    says="There are no residual connections: each branch replaced what came in. It should be added to what came in.")
decoder.mutant("CrossNotAdded", "x + self.dropout(cross)", "self.dropout(cross)",
    says="The output of cross-attention replaced x. It is added to x, like that of the other branches.")
decoder.mutant("SelfNotAdded", "x + self.dropout(self.self_attention", "self.dropout(self.self_attention",
    says="The output of self-attention replaced x. It is added to x, like that of the other branches.")
decoder.mutant("LastNotAdded", NETWORK, "self.dropout(self.linear2(hidden))",
    says="The feed-forward network's output was returned on its own. The last residual connection is missing.")
decoder.mutant("CrossAddedToTheOldX", "x = x + self.dropout(self", "a = x + self.dropout(self", "self.norm2(x)",
    "self.norm2(a)",
    says="Cross-attention was added to the x that came in, so what self-attention added is lost. Add it to the sum.")
decoder.mutant("QueryFromTheOldX", "x = x + self.dropout(self", "a = self.dropout(self", "x + self.dropout(cross)",
    "x + a + self.dropout(cross)", hint=2,
    says="Cross-attention read the x that came in. Its queries come from the sum that self-attention was added to.")
decoder.mutant("QueryFromTheFirstNorm", "x = x + self.dropout(self", "a = self.dropout(self", "x + self.dropout(cross)",
    "x + a + self.dropout(cross)", "self.norm2(x)", "self.norm1(x)", hint=2,
    says="Cross-attention read norm1(x), computed before self-attention. Its queries are norm2 of the sum.")
decoder.mutant("CrossNormKept", "x + self.dropout(cross)", "self.norm2(x) + self.dropout(cross)",
    says="Cross-attention was added to norm2(x) instead of x. The residual stream is x, which no norm has touched.")
decoder.mutant("CrossPostNorm", "self.norm2(x)", "x", "x + self.dropout(cross)", "self.norm2(x + self.dropout(cross))",
    hint=2, says="norm2 came after cross-attention was added. It belongs in front, on what asks.")
decoder.mutant("BranchesInParallel", "x = x + self.dropout(self", "a = self.dropout(self", "x = x + self.dropout(cross)",
    "a = a + self.dropout(cross)", NETWORK, f"a + {NETWORK}", hint=1,
    says="Each branch alone is right, but all three read the same x. Each reads the sum that the one before it left.")
decoder.mutant("AttentionsSwapped", "self.cross_attention(", "self.self_attention(", "self.dropout(self.self_attention(",
    "self.dropout(self.cross_attention(", hint=2,
    says="self_attention and cross_attention are swapped: cross_attention is the one that reads the memory.")
decoder.mutant("BothReadTheMemory", "self.norm1(x), mask=self_mask", "self.norm1(x), memory, mask=memory_mask", hint=1,
    says="Both attentions read the memory. In self-attention, queries, keys and values all come from x.")
decoder.mutant("OneAttentionObject", "self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)",
    "self.cross_attention = self.self_attention",
    says="self_attention and cross_attention are one object, so they share their weights. Make two.")
decoder.mutant("CrossMissing", "x + self.dropout(cross)", "x", hint=1,
    says="Nothing of the memory reached the output. What cross-attention reads there is added to x, like the output of "
    "the other branches.")
decoder.mutant("SelfMissing", OWN, "x", hint=1,
    says="Self-attention has no effect: positions of x never see one another. Its output is the first that is added to "
    "x.")
decoder.mutant("OneLongSequence", "self.norm1(x), mask=self_mask",
    "self.norm1(x), torch.cat([self.norm1(x), memory], dim=1)", hint=2, says="Self-attention reads x and the memory "
    "together, as one sequence. Each has its own attention: self-attention reads x alone.")
decoder.mutant("AnotherActivation", "self.linear1(self.norm3(x)).relu()",
    "nn.functional.gelu(self.linear1(self.norm3(x)))",
    says="The activation is GELU. The layers are built as in TransformerBlock, with ReLU between.")
decoder.mutant("TupleAdded", OWN, "x + self.self_attention(self.norm1(x), mask=self_mask)",
    says="It stopped when x met a tuple: each attention returns a pair, the output and the weights or None.")
decoder.mutant("TupleDropped", "mask=self_mask)[0]", "mask=self_mask)", says="It stopped in dropout, which was given a "
    "tuple: take the first of the two things that an attention returns.")
decoder.mutant("DroppingInEval", "self.dropout(", "nn.functional.dropout(p=self.dropout.p, input=", every=True,
    says="Dropout acts in eval mode too. `functional.dropout` assumes training unless it is given self.training, and "
    "an nn.Dropout learns of eval mode only if __init__ makes it.")
decoder.mutant("BranchesNotDropped", "self.dropout(", "(", every=True, says="In training, dropout acts on attention "
    "weights alone. As in TransformerBlock, it also acts on what each branch adds.")
decoder.mutant("SumsDropped", OWN, "self.dropout(x + self.self_attention(self.norm1(x), mask=self_mask)[0])",
    "x + self.dropout(cross)", "self.dropout(x + cross)", NETWORK, "self.dropout(x + self.linear2(hidden))",
    says="Dropout acts on the sums, so x itself loses entries. Drop what a branch adds, before it is added.")
decoder.mutant("HiddenDropped", "self.linear2(hidden)", "self.linear2(self.dropout(hidden))",
    says="In training, the network's part is neither dropped nor scaled up as a whole. It reads the sum that dropout "
    "has left; dropout acts again on its output, not between linear1 and linear2.")
decoder.mutant("ThirdNormNotMade", "self.norm1, self.norm2, self.norm3 =", "self.norm1, self.norm2 =", "range(3)",
    "range(2)", "self.norm3(x)", "self.norm2(x)", hint=1, says="There is no norm3. Three branches need three norms.")

greedy = solution("greedy_decode")
greedy.mutant("positions_added", "step(tokens)[:, -1]", "step(tokens).sum(dim=1)", hint=2,
    says="Each token follows from the logits of all positions taken together. Those of the last position alone are for "
    "the next token.")
greedy.mutant("last_sentence", "[:, -1].argmax", "[-1].argmax", says="It stopped: there was not one new token for each "
    "sentence, as when an index picks a sentence. Axis 0 is the batch; positions are axis 1.")
greedy.mutant("pair_of_max", "argmax", "max",
    says="It stopped because `max` with a `dim` returns two tensors, values and indices. A token is an index.")
greedy.mutant("value_fed_back", "argmax", "amax",
    says="It stopped because step was given numbers that are not integers. A token is the index of the largest logit, "
    "not that logit.")
greedy.mutant("start_included", "tokens[:, 1:]", "tokens", hint=3,
    says="The start token was returned too. It begins the sentence, but it was not written: leave it out.")
greedy.mutant("start_counted", "range(length)", "range(length - 1)", "tokens[:, 1:]", "tokens", hint=3,
    says="The start token came back as the first of the tokens, and the last one is missing. `length` does not count "
    "the start.")
greedy.mutant("sampled", BEST, "torch.multinomial(step(tokens)[:, -1].softmax(dim=-1), 1)", says="The tokens were "
    "sampled, so twice the same call gives different ones. Greedy decoding takes the largest logit.")
greedy.mutant("first_in_the_vocabulary", BEST, "step(tokens)[:, -1:].argmax(dim=1)[:, :1]",
    says="Every token is 0, as when argmax runs along an axis of size 1. The vocabulary is the last axis.")
greedy.mutant("one_token_for_all", BEST, "step(tokens)[:, -1].argmax().expand(batch, 1)", says="All sentences got the "
    "same token, as when argmax without `dim` looks for one entry in the whole table. Each sentence has its own best "
    "token.")
greedy.mutant("newest_only", "step(tokens)", "step(tokens[:, -1:])", hint=1,
    says="step was given the newest token alone. It needs all tokens so far: what comes next depends on each of them.")
greedy.mutant("without_the_start", "step(tokens)", "step(tokens[:, min(tokens.size(1) - 1, 1):])", hint=3,
    says="After the first token, step no longer got the start token. It stays the first of the tokens so far.")
greedy.mutant("start_repeated", "step(tokens)", "step(torch.full_like(tokens, start))", hint=1,
    says="step was given the start token in every place. A token has to be known, and fed back, before the next one "
    "can be.")
greedy.mutant("several_best", hint=3, body="return step(torch.full((batch, 1), start))[:, -1].topk(length, dim=-1)[1]",
    says="These are the best few tokens for the FIRST place. Write one token at a time, and feed it back.")
greedy.mutant("doubled", BEST, "step(tokens).argmax(dim=-1)", "1:]", "1:length + 1]", hint=2,
    says="The tokens of all positions were appended in each step. Only that of the last position is new.")
greedy.mutant("doubled_without_end", BEST, "step(tokens).argmax(dim=-1)", hint=2, says="There are too many tokens: "
    "each step appended one for every position. Only that of the last position is new.")
greedy.mutant("in_front", "[tokens, best]", "[best, tokens]", "tokens[:, 1:]", "tokens[:, :-1]", hint=3,
    says="New tokens were put in front of the others. They come after them: the start token stays first.")
greedy.mutant("begun_with_zero", "torch.full((batch, 1), start)", "torch.zeros(batch, 1, dtype=torch.long)", hint=1,
    says="The sentences began with token 0 instead of `start`.")
greedy.mutant("begun_with_one", "torch.full((batch, 1), start)", "torch.ones(batch, 1, dtype=torch.long)", hint=1,
    says="The sentences began with token 1 instead of `start`.")
greedy.mutant("axis_lost", "dim=-1, keepdim=True", "dim=-1", hint=3,
    says="It stopped: the new tokens are (B,) and the tokens so far (B, T). argmax takes an axis away unless you keep "
    "it; both need two axes.")
greedy.mutant("last_token_only", "tokens[:, 1:]", "best", hint=3,
    says="Only the last token came back. Return all of them, in the order in which they were written.")
