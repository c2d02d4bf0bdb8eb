"""The mistakes that students make in lesson 11, as edits of its solutions. Never given to students."""

import math

import torch
import wrong
from torch import nn
from torch.nn import functional
from wrong import random_inputs

from autograder.checks import SHARED, solution


def table(*shape, seed=0):
    """Return random numbers, the same ones each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def rule(q_len, k_len, empty=1):
    """Return a mask in which one query sees nothing."""
    mask = torch.ones(q_len, k_len, dtype=torch.bool).tril(diagonal=2)
    if empty is not None:
        mask[empty] = False
    return mask


def example(lead=(2, 3), *, q_len=5, k_len=7, d=4, d_v=6, mask=None):
    """Return an example of some sizes."""
    inputs = (
        table(*lead, *shape, seed=i)
        for i, shape in enumerate(((q_len, d), (k_len, d), (k_len, d_v)))
    )
    return (*inputs, rule(q_len, k_len) if mask is None else mask)


def absolute(a, b):
    """Return the largest absolute difference, infinite where the docstring says so."""
    if a.shape != b.shape or not (a.isfinite().all() and b.isfinite().all()):
        return math.inf
    return float((a.double() - b.double()).abs().max())


def measured(a, b, trials, seed, *, distance=absolute, overall=max, generator=None):
    """Measure differences, with another distance, or otherwise put together."""
    generator = generator or torch.Generator().manual_seed(seed)
    found = []
    for _ in range(trials):
        inputs = random_inputs(generator)
        results = (f(*(x.clone() for x in inputs)) for f in (a, b))
        found.append(distance(*results))
    return overall(found) if found else 0.0


def close(a, b, tolerance=1e-4):
    """Compare two results as a tester should."""
    return a.shape == b.shape and torch.allclose(a, b, atol=tolerance)


def only_first(tests):
    """Return the label of the first test that failed, as a set."""
    return set([label for label, failed in tests.items() if failed][:1])


def every(tests):
    """Return the labels of all tests that failed."""
    return {label for label, failed in tests.items() if failed}


class Tester:
    """A tester in steps, so that a mistake can get one of them wrong."""

    lead = (2, 3)
    shapes = ((5, 4), (7, 4), (7, 6))
    dtypes = (torch.float32, torch.float64)
    kept = (0, 1, 2, 3)
    same = staticmethod(close)
    chosen = staticmethod(only_first)
    empty = True
    changed = ("key", "value")
    shared = False

    def table(self, *shape):
        return table(*shape, seed=self.drawn.pop())

    def __call__(self, attention):
        self.attention, self.drawn = attention, [3, 2, 1]
        self.inputs = [self.table(*self.lead, *shape) for shape in self.shapes]
        return self.numbers() | self.masks() | self.sides()

    def result(self, *inputs):
        return self.attention(*map(self.passed, inputs)).double()

    def passed(self, x):
        return x if x is None or self.shared else x.clone()

    def tests_of_numbers(self):
        query, key, value = self.inputs
        ones = self.result(query, torch.ones_like(key), torch.ones_like(value), None)
        mixed = self.result(0 * query, key, value, None)
        mean = value.mean(dim=-2, keepdim=True).expand((*mixed.shape[:-1], -1))
        plain = wrong.right(query, key, value)
        return {
            "softmax_axis": not self.same(ones, torch.ones_like(ones)),
            "value": not self.same(mixed, mean),
            "scale": not self.same(self.result(query, key, value, None), plain),
        }

    def numbers(self):
        return self.chosen(self.tests_of_numbers())

    def rule(self):
        q_len, k_len = self.shapes[0][0], self.shapes[1][0]
        mask = torch.ones(*self.lead[:1], q_len, k_len, dtype=torch.bool)
        if len(self.lead) == 2:
            mask = mask[:, None]
        if self.empty:
            mask[..., 0, :] = False
        mask[..., k_len - 1] = False
        if self.lead:
            mask[0, ..., k_len - 1], mask[0, ..., k_len - 2] = mask[-1, ..., 0], False
        return mask

    def watched(self, result):
        return result[..., 1:, :]

    def matters(self, mask, before, positions):
        query, *others = (x.clone() for x in self.inputs)
        for name, x, change in zip(
            ("key", "value"), others, (-3.0, 1000.0), strict=True
        ):
            if name in self.changed:
                for sentence, position in positions:
                    part = x[sentence, ..., position, :] if self.lead else x[position]
                    part.copy_(part * change if name == "key" else part + change)
        after = self.result(query, *others, mask)
        return not self.same(self.watched(before), self.watched(after))

    def tests_of_masks(self):
        mask = self.rule()
        before = self.result(*self.inputs, mask)
        last = self.shapes[1][0] - 1
        hidden = ((0, last - 1), (-1, last)) if self.lead else ((0, last),)
        seen = self.matters(mask, before, hidden)
        row = before[..., 0, :]
        return {
            "mask_inverted": seen and not self.matters(mask, before, ((0, 1), (-1, 1))),
            "mask_leak": seen,
            "empty_row": self.empty and not self.same(row, torch.zeros_like(row)),
        }

    def masks(self):
        return self.chosen(self.tests_of_masks())

    def sides(self):
        found, mask = set(), self.rule()
        for dtype in self.dtypes:
            inputs = [*(x.to(dtype) for x in self.inputs), mask.clone()]
            before = [x.clone() for x in inputs]
            found |= {"dtype"} if self.attention(*inputs).dtype != dtype else set()
            pairs = [(inputs[i], before[i]) for i in self.kept]
            found |= set() if all(a.equal(b) for a, b in pairs) else {"mutates_input"}
        return found


class Repaired(nn.Module):
    """The repaired module in steps, so that a mistake can get one of them wrong."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def projected(self, x):
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)

    def scaled(self, q, k):
        return q @ k.mT / q.size(-1) ** 0.5

    def future(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)

    def weights(self, scores):
        hidden = self.future(scores.size(-1))
        return scores.masked_fill(hidden, -math.inf).softmax(dim=-1)

    def drop(self, weights):
        return functional.dropout(weights, self.dropout, self.training)

    def forward(self, x):
        q, k, v = (self.split(part) for part in self.projected(x))
        mixed = self.drop(self.weights(self.scaled(q, k))) @ v
        return self.out_proj(self.merge(mixed))


def cut_up(x, heads):
    """Cut a sequence into heads, instead of the dimensions."""
    return x.reshape(x.size(0), heads, x.size(1), -1)

revealing = solution("revealing_example")
revealing.mutant("drawn_anew", "generator=generator, dtype=torch.float64)", "dtype=torch.float64)",
    says="Another call gives another example, so who runs your test again sees other numbers. Draw from a generator "
    "with a seed of its own, or write the numbers down.")
revealing.mutant("no_empty_row", "mask[1] = False", "pass", hint=2, says="Each query can see at least one key. Two "
    "of the wrong attentions go wrong only for a query that may look at nothing.")
revealing.mutant("all_may_look", hint=3, body="return example(mask=torch.ones(5, 7, dtype=torch.bool))",
    says="The mask hides nothing, so what an attention does with it cannot show.")
revealing.mutant("all_hidden", "torch.ones", "torch.zeros", hint=3, says="The right result is all zeros, as when the "
    "mask hides everything, and so are those of half of the wrong attentions. True means \"may look\".")
revealing.mutant("nothing_hidden_but_one_row", "torch.ones(5, 7, dtype=torch.bool).tril(diagonal=2)",
    "torch.ones(5, 7, dtype=torch.bool)", hint=3, says="An attention whose rows no longer sum to 1 goes unnoticed, as "
    "when only the query that may look at nothing has hidden keys. Hide some from the other queries, too.")
revealing.mutant("one_table_for_all_three", body="""
    x = table(2, 3, 4, 4)
    return (x, x, x, rule(4, 4))""",
    says="An attention that confuses query, key and value gives the right result, as when the three are one tensor. "
    "Draw each by itself.")
revealing.mutant("keys_are_values", "(query, key, value, mask)", "(query, key, key, mask)",
    says="An attention that mixes the keys gives the right result, as when key and value are one tensor. Draw each by "
    "itself.")
revealing.mutant("queries_are_keys", body="""
    x = table(2, 3, 4, 4)
    return (x, x, table(2, 3, 4, 6, seed=1), rule(4, 4))""",
    says="An attention that swaps query and key gives the right result, as when the two are one tensor. Draw each by "
    "itself.")
revealing.mutant("all_sizes_equal", body="return example(q_len=4, k_len=4, d=4, d_v=4)",
    says="S, D and D_v are equal, so an attention that scales by the wrong one gives the right result.")
revealing.mutant("values_as_wide_as_keys", body="return example(d_v=4)",
    says="D_v equals D, so you cannot see which of the two an attention scales by.")
revealing.mutant("as_many_keys_as_dimensions", body="return example(d=7)",
    says="S equals D, so you cannot see which of the two an attention scales by.")
revealing.mutant("one_dimension", body="return example(d=1)",
    says="D is 1, and so is its root: dividing by the wrong thing, or not at all, makes no difference.")
revealing.mutant("one_key", body="return example(k_len=1)",
    says="What score a key has makes no difference here, as when there is a single key: its weight is 1 whatever its "
    "score is.")
revealing.mutant("a_table_without_batch", body="return example(lead=())",
    says="These are plain tables, in which axis 1 is that of the keys. With an axis in front, it is not.")
revealing.mutant("square_tables_without_batch", body="return example(lead=(), q_len=4, k_len=4, d=4, d_v=4)",
    says="These are plain tables of one size. Give each axis a size of its own, and put an axis or two in front.")
revealing.mutant("scores_of_zero", body="""
    query, key, value, mask = example()
    return (0 * query, key, value, mask)""", says="How the scores are scaled makes no difference here. It does where a "
    "query's scores differ, by about 1, and the values of its keys differ as well.")
revealing.mutant("tiny_values", body="""
    query, key, value, mask = example()
    return (query, key, 0.0001 * value, mask)""",
    says="Most of the wrong results are within 0.001 of the right one, as when all values are small. Numbers around 1 "
    "will do.")
revealing.mutant("huge_scores", body="""
    query, key, value, mask = example()
    return (1e+200 * query, 1e+200 * key, value, mask)""",
    says="The numbers are so large that their products overflow. Numbers around 1 will do.")
revealing.mutant("in_float32", "generator=generator, dtype=torch.float64)", "generator=generator)",
    says="The query is in float32, PyTorch's usual dtype. Another one has to be asked for where the numbers are made.")
revealing.mutant("mask_of_numbers", "(query, key, value, mask)", "(query, key, value, key)",
    says="The mask holds numbers. A comparison, or `.bool()`, gives True and False.")
revealing.mutant("mask_left_out", hint=1, body="return example()[:3]",
    says="Three tensors came back. The fourth is the mask.")
revealing.mutant("mask_is_none", "(query, key, value, mask)", "(query, key, value, generator)", hint=1,
    says="The mask is not a tensor, and without one, mistakes with masks cannot show. Make a boolean tensor, in which "
    "True means \"may look\".")
revealing.mutant("axes_too_long", body="return example(k_len=12)",
    says="An axis is longer than 8. Sizes need to differ; they do not need to be large.")
revealing.mutant("mask_transposed", body="return example(mask=rule(7, 5))",
    says="The axes of the mask are in the wrong order. Its rows belong to queries: (..., L, S).")

difference = solution("max_difference")
difference.mutant("first_trial_only", hint=1, body="return measured(a, b, min(trials, 1), seed)",
    says="Only the first trial counts. Each trial has new inputs, drawn from one and the same generator, and the "
    "largest difference of them all is asked for.")
difference.mutant("last_trial_only", body="return measured(a, b, trials, seed, overall=lambda found: found[-1])",
    says="Only the last trial counts. Keep the largest difference so far.")
difference.mutant("one_trial_too_few", "range(trials)", "range(trials - 1)",
    says="One trial is missing. How often does the loop run?")
difference.mutant("mean_of_entries", body="""
    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).abs().mean()) if largest < math.inf else largest
    return measured(a, b, trials, seed, distance=distance)""",
    says="The difference of a trial is the mean over its entries, so a single entry that is far off hardly counts. "
    "Take the largest.")
difference.mutant("mean_of_trials",
    body="return measured(a, b, trials, seed, overall=lambda found: sum(found) / len(found))",
    says="The trials were averaged. One bad trial in a thousand is what a test is for: keep the largest.")
difference.mutant("sum_of_trials", body="return measured(a, b, trials, seed, overall=sum)",
    says="The trials' differences were added up. Keep the largest.")
difference.mutant("smallest_trial", body="return measured(a, b, trials, seed, overall=min)",
    says="The smallest difference of all trials came back, not the largest.")
difference.mutant("signed", body="""
    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).max()) if largest < math.inf else largest
    return measured(a, b, trials, seed, distance=distance)""",
    says="Only entries in which a is larger than b count. Take the absolute value of the difference.")
difference.mutant("relative", body="""
    def distance(x, y):
        largest = absolute(x, y)
        size = float(y.abs().max()) if largest < math.inf else 1.0
        return largest / size if size else largest
    return measured(a, b, trials, seed, distance=distance)""",
    says="The differences were divided by the size of the results. The absolute difference was asked for.")
difference.mutant("euclidean", body="""
    def distance(x, y):
        largest = absolute(x, y)
        return float((x - y).norm()) if largest < math.inf else largest
    return measured(a, b, trials, seed, distance=distance)""", says="The norm of the difference came back, which "
    "adds up the squares of all entries. The largest entry was asked for.")
difference.mutant("nan_lost", "not difference.isfinite()", "False", hint=3,
    says="NaN went unnoticed. A comparison with it, as in max, is always False: test whether results are finite.")
difference.mutant("nan_returned", hint=3, body="""
    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        return float((x.double() - y.double()).abs().max())
    def overall(found):
        return math.nan if any(map(math.isnan, found)) else max(found)
    return measured(a, b, trials, seed, distance=distance, overall=overall)""",
    says="NaN came back. A result that is not finite counts as an infinite difference.")
difference.mutant("nan_as_zero", hint=3, body="""
    def distance(x, y):
        if x.shape != y.shape:
            return math.inf
        x, y = (t.double().nan_to_num(0.0, posinf=0.0, neginf=0.0) for t in (x, y))
        return float((x - y).abs().max())
    return measured(a, b, trials, seed, distance=distance)""",
    says="What is not finite came out as if it were 0, which hides the fault. It counts as an infinite difference.")
difference.mutant("shapes_broadcast", "first.shape", "second.shape", hint=3, says="It stopped where the two results "
    "have different shapes and cannot be subtracted. Others would broadcast: compare shapes first.")
difference.mutant("dtypes_have_to_agree",
    body="return measured(a, b, trials, seed, distance=lambda x, y: absolute(x, y) if x.dtype == y.dtype else math.inf)",
    says="Results of different dtypes were taken to be infinitely far apart. Compare their numbers.")
difference.mutant("global_numbers", body="""
    generator = torch.default_generator.manual_seed(seed)
    return measured(a, b, trials, seed, generator=generator)""", says="The random numbers of the whole program were "
    "changed, as by torch.manual_seed. The seed is for a generator of your own.")
difference.mutant("seed_ignored", body="return measured(a, b, trials, 0)",
    says="The inputs are those of seed 0, whatever seed is passed in. They should follow from the argument `seed`.")
difference.mutant("inputs_of_their_own", "not difference.isfinite()", "True",
    says="The difference is infinite even between an attention and itself, as when the two get inputs of different "
    "shapes. Draw once in each trial, and give both the same.")
difference.mutant("shared_inputs", "x.clone()", "x", hint=2,
    says="An attention that writes to its inputs spoiled those of the other one. Give each of the two its own copies.")
difference.mutant("mask_not_passed",
    body="return measured(lambda q, k, v, mask: a(q, k, v, None), lambda q, k, v, mask: b(q, k, v, None), trials, seed)",
    says="An attention that ignores the mask came out like the right one, as when the mask is not passed on. Call "
    "both with all four inputs.")
difference.mutant("tensor_returned", body="return torch.tensor(measured(a, b, trials, seed), dtype=torch.float64)",
    says="The difference is a tensor. float(...) turns it into a number.")
difference.mutant("no_trials_no_number", body="return measured(a, b, trials, seed) if trials else max([])",
    says="Without any trial it stopped with an error: nothing has no largest number. What does the docstring ask for "
    "then?")

find = solution("find_bugs")
find.mutant("nothing_found", body="return set()",
    says="No bug was ever found. Which of your tests fails for an attention that you know to be wrong?")
find.mutant("list_returned", "return found", "return copies",
    says="A list came back. A set has no order and holds no label twice; set(...) makes one from a list.")
find.mutant("nothing_returned_if_right", body="return Tester()(attention) or None",
    says="For a right attention, None came back. An empty set, set(), says that no bug was found.")
find.mutant("first_bug_only", body="return set(sorted(Tester()(attention))[:1])",
    says="Where an attention has several bugs, only one of them was reported. What you find by one test must not keep "
    "the others from running: collect the labels of all.")
find.mutant("exactly_equal", body="""
    tester = Tester()
    tester.same = lambda a, b: a.equal(b)
    return tester(attention)""",
    says="Attentions without a bug were accused of a wrong softmax, as when results have to be equal to the last "
    "digit. Allow for rounding.")
find.mutant("tolerance_too_tight", body="""
    tester = Tester()
    tester.same = lambda a, b: close(a, b, 1e-08)
    return tester(attention)""",
    says="The attention that calculates in float32 was accused of a wrong scale as well. Differences up to 0.0001 are "
    "rounding.")
find.mutant("no_empty_rows", 'masks["empty_row"] = differ(empty, torch.zeros_like(empty))', "pass",
    says="No bug was found in the row of a query that may look at nothing. Try a mask with such a row: what should "
    "come out there?")
find.mutant("nan_is_no_difference", body="""
    tester = Tester()
    tester.same = lambda a, b: a.shape == b.shape and (not bool((a - b).abs().max() > 0.0001))
    return tester(attention)""", says="NaN in an empty row went unnoticed. Any comparison with NaN is False, `> "
    "0.0001` too: test that a difference is small, not that it is large.")
find.mutant("shapes_not_compared", body="""
    tester = Tester()
    tester.same = lambda a, b: bool((a - b).abs().max() < 0.0001)
    return tester(attention)""", says="Your function itself stopped with an error: a bug may change the result's "
    "shape. Compare shapes before you compare entries.")
find.mutant("square_inputs", body="""
    tester = Tester()
    tester.shapes = ((4, 4), (4, 4), (4, 4))
    return tester(attention)""",
    says="Attentions that scale by the wrong size went unnoticed, as when sizes are equal: D_v = D, or S = D. Give "
    "each a size of its own.")
find.mutant("values_as_wide", body="""
    tester = Tester()
    tester.shapes = ((5, 4), (7, 4), (7, 4))
    return tester(attention)""",
    says="An attention that divides by the root of D_v went unnoticed, as when D_v equals D in all inputs.")
find.mutant("keys_as_many", body="""
    tester = Tester()
    tester.shapes = ((5, 7), (7, 7), (7, 6))
    return tester(attention)""",
    says="An attention that divides by the root of S went unnoticed, as when S equals D in all inputs.")
find.mutant("plain_tables_only", body="""
    tester = Tester()
    tester.lead = ()
    return tester(attention)""",
    says="Bugs that show only when there are axes in front went unnoticed. Try tensors of two, three and four axes.")
find.mutant("three_axes_only", body="""
    tester = Tester()
    tester.lead = (2,)
    return tester(attention)""", says="An attention went unnoticed whose softmax is wrong for four axes only: an axis "
    "that is counted from the front is the right one for some numbers of axes. Try all of them.")
find.mutant("positive_values", "torch.randn", "torch.rand",
    says="An attention that mixes the values without their signs went unnoticed, as when all values that are tried "
    "are positive.")
find.mutant("no_masks", "first(tests) | first(masks)", "first(tests)", hint=2,
    says="No bug with masks was ever found. Try each attention with a mask that hides something.")
find.mutant("one_rule_for_all", "k2[sentence, :, position]", "k2[sentence, :, sentence]", hint=2,
    says="Attentions without a bug were accused of a leak, as when a key or value is changed that some query may see. "
    "In each sentence, change only what its own mask hides.")
find.mutant("values_changed_only", "k2[sentence, :, position]", "v2[sentence, :, position]", hint=2,
    says="A leak through hidden keys went unnoticed, as when only hidden values are changed. A hidden key can matter "
    "too, through what softmax divides by.")
find.mutant("keys_changed_only", "v2[sentence, :, position]", "k2[sentence, :, position]", hint=2,
    says="An inverted mask was reported as an empty row, as when only hidden keys are changed. If hidden scores are "
    "overwritten, keys no longer matter, and values do: change both.")
find.mutant("empty_rows_leak", hint=2, body="""
    tester = Tester()
    tester.watched = lambda result: result
    return tester(attention)""",
    says="What comes out for a query that may look at nothing was reported as a leak. Look for leaks in the other "
    "rows.")
find.mutant("inverted_is_a_leak", "v.clone()", "v", hint=2,
    says="An inverted mask was reported as a leak. Do the visible keys still count?")
find.mutant("all_labels_that_fit", hint=2, body="""
    tester = Tester()
    tester.masks = lambda: every(tester.tests_of_masks())
    return tester(attention)""",
    says="Several labels about masks were reported, where only the first that applies was asked for.")
find.mutant("scale_for_all", hint=1, body="""
    tester = Tester()
    tester.numbers = lambda: every(tester.tests_of_numbers())
    return tester(attention)""", says="Wrong weights or values were reported as a wrong scale too. Rule out the axis "
    "of softmax and the values first.")
find.mutant("softmax_not_tested", "torch.ones_like(mixed)", "mixed", hint=1,
    says="A softmax along the wrong axis was reported as something else. What does a query's row of weights sum to?")
find.mutant("values_not_tested", 'tests["value"] = differ(result(axes, 0 * q, k, v, None), mean)', "pass", hint=1,
    says="Wrong values were reported as a wrong scale. For which queries does the scale make no difference?")
find.mutant("inputs_shared", hint=3, body="""
    tester = Tester()
    tester.shared = True
    return tester(attention)""",
    says="An attention that changes its inputs was accused of a leak, too, as when later tests see what it has "
    "changed. Give each call copies, and keep the originals.")
find.mutant("changes_not_tested", 'set() if kept else {"mutates_input"}', "set()", hint=3,
    says="No change of an input was ever reported. Compare each input with a copy from before the call.")
find.mutant("query_watched_only", hint=3, body="""
    tester = Tester()
    tester.kept = (0,)
    return tester(attention)""",
    says="A change of an input other than the query went unnoticed. There are four inputs to compare with their "
    "copies, and the mask is one of them.")
find.mutant("float32_only",
    'found |= set() if kept else {"mutates_input"}',
    """
    found |= set() if kept else {'mutates_input'}
    break""", hint=3, says="An attention that returns float32 whatever comes in went unnoticed. Look at the result's "
    "dtype for inputs of both dtypes.")
find.mutant("float64_only", hint=3, body="""
    tester = Tester()
    tester.dtypes = (torch.float64,)
    return tester(attention)""",
    says="An attention that returns float64 whatever comes in went unnoticed, as when the dtype is tested only with "
    "float64.")

attention = solution("RepairedAttention")
attention_in_steps = solution("RepairedAttention", spelled="""
    class RepairedAttention(nn.Module):

        def __init__(self, d_model: int, num_heads: int, dropout: float=0.0) -> None:
            super().__init__()
            self.num_heads, self.dropout = (num_heads, dropout)
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def split(self, x):
            return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

        def merge(self, x):
            return x.transpose(1, 2).flatten(2)

        def projected(self, x):
            return (self.q_proj(x), self.k_proj(x), self.v_proj(x))

        def scaled(self, q, k):
            return q @ k.mT / q.size(-1) ** 0.5

        def future(self, length):
            return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)

        def weights(self, scores):
            hidden = self.future(scores.size(-1))
            return scores.masked_fill(hidden, -math.inf).softmax(dim=-1)

        def drop(self, weights):
            return functional.dropout(weights, self.dropout, self.training)

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (self.split(part) for part in self.projected(x))
            mixed = self.drop(self.weights(self.scaled(q, k))) @ v
            return self.out_proj(self.merge(mixed))
    """)
attention_in_steps.mutant("AsHandedIn", hint=1, method="forward", body="""
    batch, length, d_model = x.shape
    q, k, v = (cut_up(layer(x), self.num_heads) for layer in (self.q_proj, self.q_proj, self.v_proj))
    scores = q @ k.mT / d_model ** 0.5
    future = torch.ones(length, length, dtype=torch.bool).triu(diagonal=2)
    weights = scores.softmax(dim=-1).masked_fill(future, 0.0)
    weights = functional.dropout(weights, self.dropout)
    return self.out_proj((weights @ v).reshape(batch, length, d_model))""",
    says="This is still the module as it was handed in, with all six faults. Test one line after another.")
attention_in_steps.mutant("TokensScrambled", "x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
    "cut_up(x, self.num_heads)", "x.transpose(1, 2).flatten(2)", "x.reshape(x.size(0), x.size(2), -1)", hint=2,
    says="Right for one head. With several, the sequence is cut into pieces instead of the dimensions, both on the way "
    "in and on the way out.")
attention_in_steps.mutant("ScrambledOnTheWayIn", "x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)",
    "cut_up(x, self.num_heads)", every=True, hint=2, says="Merging the heads is right now. On the way in, the sequence "
    "is still cut into pieces instead of the dimensions.")
attention_in_steps.mutant("ScrambledOnTheWayOut", "x.transpose(1, 2).flatten(2)", "x.reshape(x.size(0), x.size(2), -1)",
    hint=2, says="Splitting into heads is right now. On the way out, numbers of several tokens still come into one "
    "row: bring a token's heads together first.")
attention_in_steps.mutant("Interleaved", "(self.num_heads, -1)).transpose(1,", "(-1, self.num_heads)).permute(0, 3, 1,",
    hint=2,
    says="The dimensions of the heads are interleaved. Those of one head are next to each other in a projection.")
attention_in_steps.mutant("KeysFromQueries", "self.k_proj(x)", "self.q_proj(x)", hint=1,
    says="Query and key come from the same layer, and one of the four layers is never used.")
attention_in_steps.mutant("ValuesFromKeys", "self.v_proj(x)", "self.k_proj(x)", hint=1,
    says="Key and value come from the same layer, and v_proj is never used.")
attention_in_steps.mutant("ScaledByModel", "q.size(-1)", "self.q_proj.out_features", hint=3, says="Right for one "
    "head. With several, over how many dimensions does a dot product run? The scale is the root of that.")
attention_in_steps.mutant("NotScaled", "q @ k.mT / q.size(-1) ** 0.5", "q @ k.mT", hint=3,
    says="The scores are not scaled any more. What were they to be divided by?")
attention_in_steps.mutant("OneStepAhead", "diagonal=1", "diagonal=2", hint=3, says="Each token sees the next one. "
    "Print the mask for three tokens, and compare its diagonal with what you want.")
attention_in_steps.mutant("WithoutItself", "diagonal=1", "diagonal=0", hint=3, says="A token may look at itself. "
    "Here the mask hides the diagonal too, and the first token is left with nothing.")
attention_in_steps.mutant("PastHidden", "length, dtype=torch.bool).triu", "length, dtype=torch.bool).tril",
    "diagonal=1", "diagonal=-1", hint=3,
    says="Tokens see what comes after them, and nothing of what came before: the mask is inverted.")
attention.mutant("NoMask", "x.new_ones", "x.new_zeros",
    says="All tokens see each other: no score is hidden. masked_fill leaves its tensor as it is and returns a new one.")
attention_in_steps.mutant("ZeroedWeights", hint=3, method="weights",
    body="return scores.softmax(dim=-1).masked_fill(self.future(scores.size(-1)), 0.0)", says="Weights were set to 0 "
    "after softmax, so they no longer sum to 1, and later tokens have already taken their share.")
attention_in_steps.mutant("ZeroedScores", "-math.inf", "0.0", hint=3,
    says="Hidden scores were set to 0, which is a score like any other. Which score has weight 0 after softmax?")
attention_in_steps.mutant("SoftmaxOverQueries", "dim=-1", "dim=-2",
    says=SHARED["softmax over queries"])
attention_in_steps.mutant("DropoutAlways", "self.dropout, self.training)", "self.dropout)", hint=3,
    says="Dropout acts in evaluation mode too. It has to be off wherever self.training is False.")
attention_in_steps.mutant("DropoutGone", "functional.dropout(weights, self.dropout, self.training)", "weights", hint=3,
    says="No weight is dropped in training. Dropout acts on the weights, after softmax.")
attention_in_steps.mutant("DropoutInverted", "self.training", "not self.training", hint=3,
    says="Dropout acts in evaluation mode, and not in training.")
attention_in_steps.mutant("SingleOutput", "self.out_proj(self.merge(mixed))", "self.merge(mixed)", every=True,
    says="The output projection is missing: the heads are next to each other, but nothing mixes them.")
attention.mutant("GradientsStopped", code="""
    class RepairedAttention(Repaired):

        def weights(self, scores):
            return Repaired.weights(self, scores.detach())""", says="No gradient reaches the weights of the query "
    "and the key: something on the way drops the graph, as detach, .data and torch.no_grad do.")
