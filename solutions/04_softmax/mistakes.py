"""The mistakes that students make in lesson 4, as edits of its solutions. Never given to students."""

import math

import torch

from autograder.checks import solution


def pieces_of(scores, values, chunk):
    """Cut scores and values into the same pieces."""
    return list(zip(scores.split(chunk), values.split(chunk), strict=True))


def one_pass(
    scores, values, chunk, sum_factor=1.0, mix_factor=1.0, start=-math.inf, divide=True
):
    """Run the pass with altered factors on the exponents that shrink the old sum and the old mixture."""
    largest = scores.new_tensor(start)
    total, mixed = scores.new_zeros(()), values.new_zeros(values.size(-1))
    for s, v in pieces_of(scores, values, chunk):
        new = torch.maximum(largest, s.amax())
        gap, e = largest - new, (s - new).exp()
        gap = torch.where(gap.isinf(), 0.0, gap)
        total = total * (sum_factor * gap).exp() + e.sum()
        mixed = mixed * (mix_factor * gap).exp() + e @ v
        largest = new
    return mixed / total if divide else mixed

softmax = solution("stable_softmax")
softmax.mutant("no_shift", hint=3, body="return x.exp() / x.exp().sum(dim=dim, keepdim=True)",
    says="Large scores came out as NaN: exp of ten thousand is infinite, and infinity over infinity is NaN. Shift the "
    "scores first.")
softmax.mutant("one_shift_for_all", "x.amax(dim=dim, keepdim=True)", "x.max()", hint=3, says="Rows far below the "
    "largest score came out as NaN, 0/0, as when one number shifts the whole table. Each row has a largest score of "
    "its own.")
softmax.mutant("shifted_by_the_mean", "x.amax", "x.mean", hint=3,
    says="Where large scores are far apart, NaN came out, as after a shift by the mean: the largest score can still be "
    "far above it and overflow. Shift by the largest.")
softmax.mutant("shifted_by_the_smallest", "x.amax", "x.amin", hint=3, says="Where large scores are far apart, NaN came "
    "out, as after a shift by the smallest: no exponent is negative then, and large ones overflow. Shift by the "
    "largest.")
softmax.mutant("sum_without_its_axis", "exponentials.sum(dim=dim, keepdim=True)", "exponentials.sum(dim=dim)", hint=1,
    says="It stopped: one number per row, without an axis of its own, was matched with columns. Keep the axis of the "
    "sums and of the largest scores, with keepdim.")
softmax.mutant("both_results_of_max", hint=2, body="return (x - x.max(dim=dim, keepdim=True)).exp()",
    says="`max` with a `dim` returns the maxima and their indices. You need only the maxima: amax, or the first "
    "result.")
softmax.mutant("whole_table_sums_to_one", "exponentials.sum(dim=dim, keepdim=True)", "exponentials.sum()", hint=3,
    says="All weights together sum to 1. Each row should, so the sum needs the axis too.")
softmax.mutant("not_divided", hint=3, body="return (x - x.amax(dim=dim, keepdim=True)).exp()",
    says="The exponentials were not divided by their sum: rows do not sum to 1.")
softmax.mutant("divided_by_the_mean", "exponentials.sum", "exponentials.mean", hint=3,
    says="The exponentials were divided by their mean, so each row sums to the number of keys. Divide by the sum.")
softmax.mutant("another_axis_for_the_largest", "x.amax(dim=dim, keepdim=True)", "x.amax(dim=0, keepdim=True)", hint=3,
    says="The largest scores were taken along a different axis than the sums. Both go along dim.")
softmax.mutant("largest_along_the_last_axis", "x.amax(dim=dim, keepdim=True)", "x.amax(dim=-1, keepdim=True)", hint=3,
    says="The largest scores were taken along the last axis, the sums along `dim`. Both go along `dim`.")
softmax.mutant("axis_ignored", hint=1, body="return x.softmax(dim=-1)",
    says="Right along the last axis, but the argument dim had no effect.")
softmax.mutant("shifted_by_the_largest_magnitude", "x.amax", "x.abs().amax", hint=3,
    says="Where negative scores are the largest in magnitude, NaN came out, as after a shift by the largest absolute "
    "value: every exp rounds to 0. Shift by the largest score, whatever its sign.")
softmax.mutant("capped_from_above", "x - x.amax(dim=dim, keepdim=True)", "x.clamp(max=80.0)", hint=3,
    says="Large scores were capped, so keys with different scores got the same weight, and rows far below 0 still "
    "fail. Shift each row instead: that changes no weight.")
softmax.mutant("scores_clipped", "x - x.amax(dim=dim, keepdim=True)", "x.clamp(-80, 80)", hint=3,
    says="Large scores were clipped, so keys with different scores got the same weight. A shift needs no clipping.")
softmax.mutant("more_bits", "(x - x.amax(dim=dim, keepdim=True)).exp()",
    "torch.float32 if x.dtype != torch.float32 else torch.float64",
    "exponentials / exponentials.sum(dim=dim, keepdim=True)", "x.to(exponentials).softmax(dim=dim)",
    says="The weights have a different dtype than the scores. With a shift, no extra bits are needed.")
softmax.mutant("gradient_cut_off", body="return x.detach().softmax(dim=dim)",
    says="The weights are right, but no gradient reaches the scores. detach and .data, for example, cut it off.")
softmax.mutant("scores_changed", "exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()",
    "x -= x.amax(dim=dim, keepdim=True)", "exponentials / exponentials.sum(dim=dim, keepdim=True)",
    "x.softmax(dim=dim)", hint=3,
    says="The weights are right, but the caller's scores were changed, as by -= and whatever else works in place. Make "
    "a new tensor.")
softmax.mutant("logarithms", body="return x.log_softmax(dim=dim)",
    says="These are the logarithms of the weights. Weights are positive and sum to 1.")
softmax.mutant("small_number_added", "exponentials.sum(dim=dim, keepdim=True)",
    "(exponentials.sum(dim=dim, keepdim=True) + 0.01)", says="Rows do not sum to exactly 1: something was added to "
    "the sum. After the shift the sum is at least 1, so it is safe.")
softmax.mutant("divided_by_the_largest", hint=3, body="return (x / x.amax(dim=dim, keepdim=True)).softmax(dim=dim)",
    says="The scores were divided by the largest one. That changes their differences; a shift does not.")
softmax.mutant("shifted_above_only", hint=3,
    body="return (x - x.amax(dim=dim, keepdim=True)).exp() / x.exp().sum(dim=dim, keepdim=True)",
    says="Rows do not sum to 1: the exponentials in the numerator differ from those in the sum. Compute them once.")
softmax.mutant("nan_replaced_by_zero", hint=3,
    body="return torch.nan_to_num(x.exp() / x.exp().sum(dim=dim, keepdim=True))",
    says="Rows of large scores have no weights at all: all are 0, as when exp overflows and NaN is then replaced by 0. "
    "Shift the scores before exp, and nothing overflows.")
softmax.mutant("shifted_by_the_sum", "x.amax", "x.sum", hint=3, says="Large scores came out as NaN, as after a shift "
    "by their sum, which can be anything. Only a shift by the largest keeps every exp between 0 and 1.")
softmax.mutant("first_axis_in_a_loop", "(x - x.amax(dim=dim, keepdim=True)).exp()",
    "[(row - row.max()).exp() for row in x]", "exponentials / exponentials.sum(dim=dim, keepdim=True)",
    "torch.stack([e / e.sum() for e in exponentials])", hint=1,
    says="Each part along the first axis sums to 1 as a whole, like a single row, so `dim` plays no part. Weights sum "
    "to 1 along `dim`.")
softmax.mutant("sum_along_the_last_axis", "exponentials.sum(dim=dim, keepdim=True)",
    "exponentials.sum(dim=-1, keepdim=True)", hint=3,
    says="The largest score was found along `dim`, but the sum ran along the last axis. Both go along `dim`.")
softmax.mutant("infinities_replaced", body="return x.nan_to_num(neginf=0.0).softmax(dim=dim)",
    says="Right for finite scores, but a key with a score of minus infinity got some weight. It must get none.")
softmax.mutant("infinities_made_finite", body="return x.clamp(min=-10000.0).softmax(dim=dim)",
    says="Right as long as the other scores are larger. Very low scores, such as minus infinity, were replaced by a "
    "higher number, so in a row of low scores their keys get weight that is not theirs.")

temperature = solution("temperature_softmax")
temperature_in_steps = solution("temperature_softmax", spelled="""
    def temperature_softmax(x: Tensor, temperature: float, dim: int=-1) -> Tensor:
        if temperature <= 0:
            raise ValueError(f'the temperature must be above 0, not {temperature}')
        return (x.double() / temperature).softmax(dim).to(x.dtype)
    """)
temperature.mutant("multiplied", hint=1, body="return (x * temperature).softmax(dim=dim)",
    says="Inverted: hot came out sharper. A higher temperature makes differences smaller.")
temperature.mutant("weights_divided", hint=1, body="return x.softmax(dim=dim) / temperature",
    says="The weights were divided after softmax, so rows sum to 1/T. The temperature should divide the scores.")
temperature.mutant("temperature_ignored", hint=1, body="return x.softmax(dim=dim)",
    says="The temperature had no effect. It should divide the scores, before softmax. Where does it enter?")
temperature.mutant("powers_of_weights", "x - x.amax(dim=dim, keepdim=True)", "x.softmax(dim=dim) ** (1 / temperature)",
    "(shifted / temperature).softmax(dim=dim)", "shifted / shifted.sum(dim=dim, keepdim=True)", hint=1,
    says="Right on paper. But weights that are raised to such a power round to 0, and 0/0 is NaN: divide the scores.")
temperature.mutant("any_temperature", hint=2, body="return (x / temperature).softmax(dim=dim)",
    says="Temperatures of 0 and below are not rejected. Raise a ValueError for them.")
temperature_in_steps.mutant("zero_accepted", "temperature <= 0", "temperature < 0",
    "(x.double() / temperature).softmax(dim).to(x.dtype)", "(x / temperature).softmax(dim=dim)", hint=2,
    says="Negative temperatures are rejected, but 0 is not. It would divide by 0.")
temperature.mutant("another_error", hint=2, body="""
    assert temperature > 0
    return (x / temperature).softmax(dim=dim)""",
    says="A bad temperature ends in an AssertionError, where a ValueError was asked for: use `raise ValueError(...)`.")
temperature_in_steps.mutant("axis_ignored_here", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "((x - x.amax(dim=-1, keepdim=True)) / temperature).softmax(dim=-1)",
    says="Right along the last axis, but the argument dim had no effect.")
temperature_in_steps.mutant("power_of_the_scores", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x.sign() * x.abs() ** (1 / temperature)).softmax(dim=dim)",
    says="The scores were raised to a power. The temperature should divide them.")
temperature_in_steps.mutant("root_of_the_temperature", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x / math.sqrt(temperature)).softmax(dim=dim)",
    says="The scores were divided by the square root of the temperature. The square root belongs to d_k, not to T.")
temperature.mutant("below_one_refused", hint=2, code="""
    def temperature_softmax(x, temperature, dim=-1):
        if temperature < 1:
            raise ValueError(f'the temperature must be above 0, not {temperature}')
        return (x / temperature).softmax(dim=dim)""",
    says="A valid temperature was rejected. Only 0 and below have no meaning.")
temperature_in_steps.mutant("rounded_down", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x // temperature).softmax(dim=dim)",
    says="The scores were rounded down, as // does: it drops the fraction. Use /.")
temperature.mutant("overflow", "x - x.amax(dim=dim, keepdim=True)", "(x / temperature).exp()",
    "(shifted / temperature).softmax(dim=dim)", "shifted / shifted.sum(dim=dim, keepdim=True)", hint=3,
    says="Right for small scores, but large ones come out as NaN because exp overflows: use PyTorch's softmax, or "
    "shift as in exercise 4.1.")
temperature_in_steps.mutant("multiplied_and_refusing", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x * temperature).softmax(dim=dim)", hint=1, says="Bad temperatures are rejected, as they should be, but good "
    "ones multiply the scores. They should divide them.")
temperature_in_steps.mutant("weights_divided_and_refusing", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "x.softmax(dim=dim) / temperature", hint=1, says="Bad temperatures are rejected, as they should be, but good "
    "ones divide the weights. They should divide the scores.")
temperature_in_steps.mutant("error_returned", 'raise ValueError(f"the temperature must be above 0, not {temperature}")',
    'return ValueError("a temperature is above 0")', "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x / temperature).softmax(dim=dim)", hint=2,
    says="The error was returned as a result, so the caller carries on with it. `raise` stops the function.")
temperature_in_steps.mutant("negative_accepted", "temperature <= 0", "temperature == 0",
    "(x.double() / temperature).softmax(dim).to(x.dtype)", "(x / temperature).softmax(dim=dim)", hint=2,
    says="0 is rejected, but negative temperatures are not. They would reverse the order.")
temperature_in_steps.mutant("squared_and_refusing", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x / temperature ** 2).softmax(dim=dim)", says="Bad temperatures are rejected, as they should be, but good ones "
    "divide twice: the scores were divided by the square of the temperature.")
temperature_in_steps.mutant("ignored_and_refusing", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "x.softmax(dim=dim)", hint=1, says="Bad temperatures are rejected, as they should be, but good ones have no "
    "effect. They should divide the scores.")
temperature_in_steps.mutant("quotient_overflows", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "(x / temperature).softmax(dim=dim)", hint=3, says="Right until scores / T no longer fits the dtype: there it is "
    "infinite, and softmax gives nan. Shift each row, before you divide, so that no score is above 0.")
temperature_in_steps.mutant("table_shifted", "(x.double() / temperature).softmax(dim).to(x.dtype)",
    "((x - x.max()) / temperature).softmax(dim=dim)", hint=3, says="The row of lower scores came out as NaN, as when "
    "the largest score of the whole table is subtracted: all of the row's become −∞. Subtract each row's own largest.")
temperature.mutant("never_below_a_tenth", "shifted / temperature", "shifted / max(temperature, 0.1)",
    says="Small temperatures had the effect of a larger one. Any temperature above 0 is allowed, and counts as it "
    "is.")

attention = solution("attention_entropy")
attention.mutant("logarithm_of_zero", hint=1, body="return -(weights * weights.log()).sum(dim=-1)",
    says="A weight of 0 gave NaN: its logarithm is minus infinity. It should contribute nothing.")
attention.mutant("zero_mended_afterwards", hint=3, body="return -(weights * weights.log()).nan_to_num(0.0).sum(dim=-1)",
    says="The values are right, but the gradient at 0 is NaN, as it is when the product is fixed after the logarithm "
    "has already seen the 0.")
attention.mutant("built_in_entr", hint=3, body="return torch.special.entr(weights).sum(dim=-1)",
    says="The values are right, but the gradient at 0 is infinite, as it is for entr and xlogy.")
attention.mutant("small_number_added_to_weights", hint=2, body="return -(weights * (weights + 0.01).log()).sum(dim=-1)",
    says="A small number was added before the logarithm, so a row with all weight on one key no longer gives exactly "
    "0.")
attention.mutant("tiny_number_added_to_weights", hint=2,
    body="return -(weights * (weights + 1e-8).log()).sum(dim=-1)",
    says="A row with all weight on one key does not give exactly 0, as when a small number is added inside the "
    "logarithm: then all values are a little off.")
attention.mutant("weights_clamped", "torch.where(weights > 0, weights, 1.0)", "weights.clamp(min=0.001)",
    "weights * safe.log()", "safe * safe.log()", hint=3, says="Small weights were raised to a lower bound, in the "
    "product too, so rows with zeros get too large an entropy.")
attention.mutant("bits", body="return torch.special.entr(weights).sum(dim=-1) / math.log(2)",
    says="This is in bits: the logarithm has base 2. Nats use the natural logarithm.")
attention.mutant("sign_missing", body="return -torch.special.entr(weights).sum(dim=-1)",
    says="The entropy came out negative: the minus sign is missing.")
attention.mutant("mean_of_terms", body="return torch.special.entr(weights).mean(dim=-1)",
    says="The terms were averaged. They should be summed: n equal weights then give ln n.")
attention.mutant("one_number_for_all", body="return torch.special.entr(weights).sum()",
    says="All rows were summed into one number. Each row has an entropy of its own. Where are the rows joined?")
attention.mutant("along_the_first_axis", body="return torch.special.entr(weights).sum(dim=0)",
    says="The sum ran along the first axis. A row's weights lie along the last one.")
attention.mutant("terms_not_summed", body="return torch.special.entr(weights)",
    says="These are the terms, one per weight. The entropy of a row is their sum.")
attention.mutant("softmax_again", body="return torch.special.entr(weights.softmax(dim=-1)).sum(dim=-1)",
    says="Softmax was applied to the input, which already holds weights.")
attention.mutant("effective_keys", body="return torch.special.entr(weights).sum(dim=-1).exp()",
    says="This is the effective number of keys, e to the entropy. The exercise asks for the entropy itself.")
attention.mutant("share_of_the_largest",
    body="return torch.special.entr(weights).sum(dim=-1) / math.log(weights.size(-1))",
    says="The entropy was divided by ln n, the largest it can be. The exercise asks for the entropy itself, in nats.")
attention.mutant("logarithms_unweighted", hint=3,
    body="return -torch.where(weights > 0, weights, 1.0).log().sum(dim=-1)",
    says="The logarithms were summed without their weights. Each counts in proportion to its weight.")
attention.mutant("tiny_number_added", "torch.where(weights > 0, weights, 1.0)", "weights + 1e-06",
    "weights * safe.log()", "safe * safe.log()", hint=2,
    says="A row with all its weight on one key has an entropy that is not exactly 0, as when a small number is added. "
    "Add none.")
attention.mutant("axis_kept", body="return torch.special.entr(weights).sum(dim=-1, keepdim=True)",
    says="There is one axis too many: each row gives one number, so the last axis should be gone.")
attention.mutant("log_softmax_of_weights", body="return -(weights * weights.log_softmax(dim=-1)).sum(dim=-1)",
    says="The logarithm is that of other, more even weights, as after a second softmax, which is also in log_softmax. "
    "That takes scores, and these are weights.")

streaming = solution("streaming_attend")
streaming.mutant("pieces_averaged", hint=2, body="""
    outputs = [s.softmax(dim=-1) @ v for s, v in pieces_of(scores, values, chunk)]
    return torch.stack(outputs).mean(dim=0)""",
    says="The pieces were averaged as equals. Each should count in proportion to its sum of exponentials.")
streaming.mutant("measured_against_the_mean", "s.amax", "s.amin", hint=2, says="Where scores are far apart, NaN came "
    "out, as when a piece is measured against its mean or its smallest score: larger ones in it overflow. Only the "
    "largest score is safe.")
streaming.mutant("pieces_added", hint=3,
    body="return sum((s.softmax(dim=-1) @ v for s, v in pieces_of(scores, values, chunk)))",
    says="The pieces were added up, each with a whole unit of attention. Together they should have only one.")
streaming.mutant("pieces_by_their_length", hint=2, body="""
    outputs = [len(s) * (s.softmax(dim=-1) @ v) for s, v in pieces_of(scores, values, chunk)]
    return sum(outputs) / len(scores)""",
    says="The pieces were weighted by their number of keys. What counts is their sum of exponentials.")
streaming.mutant("each_piece_its_own_measure", hint=2, body="""
    mixed, total = (0, 0)
    for s, v in pieces_of(scores, values, chunk):
        e = (s - s.max()).exp()
        mixed, total = (mixed + e @ v, total + e.sum())
    return mixed / total""", says="Each piece was measured against its own largest score and then added to the "
    "others. Rescale the earlier ones.")
streaming.mutant("first_piece_twice", hint=1, body="""
    first, again = (scores[:chunk], values[:chunk])
    pieces = [(first, again), *pieces_of(scores, values, chunk)]
    largest = max((piece.amax() for piece, _ in pieces))
    parts = [((s - largest).exp(), v) for s, v in pieces]
    return sum((e @ v for e, v in parts)) / sum((e.sum() for e, _ in parts))""",
    says="The first piece counts twice. A loop whose start holds the first piece already goes on with the second.")
streaming.mutant("nothing_shrinks", hint=2,
    body="return one_pass(scores, values, chunk, sum_factor=0.0, mix_factor=0.0)",
    says="The old sum and mixture never shrink when a larger score arrives. Which two scores is their factor computed "
    "from at that moment?")
streaming.mutant("factor_upside_down", hint=3,
    body="return one_pass(scores, values, chunk, sum_factor=-1.0, mix_factor=-1.0)", says="The old sum and mixture "
    "grow when a larger score arrives. The factor is e to the power of old minus new, at most 1.")
streaming.mutant("only_the_sum_shrinks", hint=3, body="return one_pass(scores, values, chunk, mix_factor=0.0)",
    says="The old sum was rescaled, but the old mixture was not. Both were measured against the same score.")
streaming.mutant("only_the_mixture_shrinks", hint=3, body="return one_pass(scores, values, chunk, sum_factor=0.0)",
    says="The old mixture was rescaled, but the old sum was not. Both were measured against the same score.")
streaming.mutant("measured_against_the_old", "largest - new_largest", "-(largest - new_largest)", hint=2,
    says="The result is NaN. Measure each piece against the new largest score, and shrink the old sum and mixture by "
    "e to the power of old minus new, never the reverse.")
streaming.mutant("largest_not_remembered", hint=1, body="""
    mixed, total = (0, 0)
    for s, v in pieces_of(scores, values, chunk):
        e = (s - s.max()).exp()
        mixed, total = (0 * mixed + e @ v, 0 * total + e.sum())
    return mixed / total""",
    says="Only the last piece is in the result. What is carried over from one piece to the next?")
streaming.mutant("not_divided_by_the_sum", hint=3, body="return one_pass(scores, values, chunk, divide=False)",
    says="The mixture was not divided by the sum of exponentials at the end.")
streaming.mutant("starts_at_zero", hint=1, body="return one_pass(scores, values, chunk, start=0.0)",
    says="Scores far below 0 came out as NaN, 0/0, as when the largest score so far starts at 0 and all exponentials "
    "round to 0. Start below all scores.")
streaming.mutant("never_shifted", "s.amax", "v.amax", hint=2,
    says="Right for small scores only: exp of ten thousand is infinite. Measure against the largest score so far.")
streaming.mutant("first_piece_alone", body="""
    s, v = pieces_of(scores, values, chunk)[0]
    return s.softmax(dim=-1) @ v""",
    says="Only the first piece is in the result. How often does the loop run before something is returned?")
streaming.mutant("largest_of_the_first_piece", hint=2, body="""
    mixed, total, largest = (0.0, 0.0, scores[:chunk].max())
    for s, v in pieces_of(scores, values, chunk):
        e = (s - largest).exp()
        mixed, total = (mixed + e @ v, total + e.sum())
    return mixed / total""", says="Where a far larger score comes later, NaN came out, as when everything is measured "
    "against the first piece's largest score: exp overflows. Update the largest score in each round.")
streaming.mutant("largest_of_this_piece", hint=1, body="""
    largest, total, mixed = (scores.new_tensor(-math.inf), 0.0, 0.0)
    for s, v in pieces_of(scores, values, chunk):
        shrink, e = ((largest - s.max()).exp(), (s - s.max()).exp())
        total, mixed, largest = (total * shrink + e.sum(), mixed * shrink + e @ v, s.max())
    return mixed / total""", says="Where far lower scores come later, NaN came out, as when everything is measured "
    "against the current piece's largest: the factor for the old sums overflows. Keep the largest so far.")
streaming.mutant("all_at_once", hint=2, body="""
    e = (scores - scores.max()).exp()
    return e @ values / e.sum()""",
    says="The result is right, but more than `chunk` scores are read at once on the way. Use one piece at a time, "
    "for the largest score and for the sum, too.")
streaming.mutant("row_of_a_matrix", body="return one_pass(scores, values, chunk).unsqueeze(0)",
    says="The result has one axis too many. One query gives one vector, (D_v,).")
