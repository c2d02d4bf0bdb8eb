"""What the machinery says about any answer, by id. An exercise's own sentences stand in its mistakes.py.

A sentence states as a fact only what was computed: equal values, an edit that passes, an exception in a line. All else
is an observation, or one question. Tests assert ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

UNSEEN = "on inputs that you have not seen"

# what the mistakes of several lessons are told: `says=SHARED["softmax over queries"]`
SHARED: Mapping[str, str] = {
    "softmax over queries": "Your columns sum to 1: softmax ran over the queries. Each query shares out its own "
    "attention, along its row.",
    "no gradient": "The numbers are right, but no gradient comes back: something on the way drops the graph, as "
    "detach, .data, .item(), torch.tensor and numpy do.",
}

# what an answer is, when nothing explains it: `diagnose`
ANSWERS: Mapping[str, str] = {
    "no return": "It returned None. Is a `return` missing at the end, or in one of its branches?",
    "differs": f"It differs {UNSEEN}.",
    "only numbers": "The shape is right, the numbers are not.",
    "too large": "Far more came back than was asked for.",
    "no value unseen": f"It was stopped {UNSEEN}, or returned something of another kind than was asked for.",
    "no return unseen": f"It returned None {UNSEEN}. Is a `return` missing in one of its branches?",
    "overtime unseen": f"It took too long {UNSEEN}.",
    "error in line": f"It stopped with an error in line {{line}} {UNSEEN}.",
    "error unseen": f"It stopped with an error {UNSEEN}.",
    "trouble unseen": f"{{trouble}} {UNSEEN}.",
    "unexplained": "Not the expected result.",
    "passes": "every check passes",
    "law": "Every right answer obeys this law, and yours breaks it: {law}",
    "laws": "Every right answer obeys these laws, and yours breaks them: {law}",
    "two": "With two changes,",
}

# what strikes the eye in a student's code: `observations`
OBSERVED: Mapping[str, str] = {
    "unread": "Nothing in your code reads the argument `{name}`.",
    "unread ones": "Nothing in your code reads the arguments `{name}`.",
    "nan from": "NaN appears first in {nan}.",
    "nan after infinity": "Infinity appears first in {infinite}, and NaN in {nan}.",
    "dtype": "{dtype} appears first in {first}.",
    "cut": "Autograd cannot follow what comes out of {cut}.",
}

# the kind of change that an edit of a student's code is, as a clause: `edit_operators`
CHANGES: Mapping[str, str] = {
    "sign": "without the sign in front",
    "opposite sign": "with the opposite sign",
    "setting": "with the opposite setting",
    "number": "with a {how} number {what}",
    "size": "with a size of one of the arguments in place of the number",
    "index": "with another index",
    "axis": "along another axis",
    "two axes": "along two other axes",
    "one axis": "along one axis",
    "axis kept": "with that axis kept, of size 1",
    "keyword": "with `{keyword}`, as in the other `{name}`",
    "dtype": "with the dtype of `{name}`",
    "end": "with `{end}` {how} by one",
    "mode": "with the module's mode passed on",
    "operation": "with another operation",
    "equal too": "if it is true for equal values too",
    "equal not": "if it is no longer true for equal values",
    "none": "if it asks whether that is None instead of whether it is true",
    "elements": "with two of its elements exchanged",
    "arguments": "with two of its arguments exchanged",
    "sides": "with its two sides exchanged",
    "steps": "with `{inner}` after `{outer}`",
    "function": "with another function",
    "wrapped": "with `{name}` around it as well",
    "other transpose": "if it is transposed along other axes (`.T` turns all of them around, `.mT` the last two)",
    "not in place": "as a new tensor instead of in place",
    "copy": "on a copy",
    "grouping": "with its operations grouped in another way",
    "after": "if it comes after the block that it is in",
    "before": "if it comes before the block that it is in",
    "later": "if it comes after the next line",
    "another": "with the same for `{name}`",
    "factor": "with `{name}` as one more factor",
    "turned too": "with two axes exchanged",
    "plain": "if that replaces what is there instead of being added to it",
    "added": "if that is added to what is there instead of replacing it",
    "added to": "if that is added to `{name}`",
    "infinite": "with an infinite number in place of `{name}`",
    "as beside": "with `{inner}` in place of `{name}` there too",
    "turned around": "the other way around",
    "count": "divided by how many there are, and not by one less",
    "inverted": "if it is inverted",
    "transposed": "if it is transposed",
    "new axis": "with a new axis for `{name}`",
    "root": "with the root of `{name}`",
    "raised for returned": "if it is raised instead of returned",
    "returned for printed": "if it is returned instead of printed",
    "name": "with another name for `{name}`",
    "argument": "with an argument of the function in place of `{name}`",
    "unread": "with an argument in its place that nothing reads so far",
    "passed": "with `{name}` passed on",
    "generator": "with the generator passed on",
    "turned instead": "if axes are exchanged instead (`{name}` keeps the order in which numbers lie)",
    "turned first": "after a transpose, since it keeps the order in which numbers lie",
}

VAGUE = re.compile(r"another \w+|two other|argument of the function|argument in its place")  # where, and not what
ANY_VALUE = re.compile(r"with a \w+ number|with another name")  # any mistake may end in another number, or name


# what an error means: `exceptions`
ERRORS: Mapping[str, str] = {
    "own raise": "Your own `raise` was reached: its condition is true for inputs that the exercise allows.",
    "own assert": "Your own `assert` was reached: its condition is false for inputs that the exercise allows.",
    "stub": "The line `raise NotImplementedError()` is still reached. Your code goes in its place.",
    "open": "`{name}`, which your code calls, is still open: its `raise NotImplementedError()` was reached. Solve it "
    "first.",
    "is none": "{what} is None. Where it may be, ask `is None` before it is used; a function without `return` gives "
    "None, too.",
    "matrix product": "A matrix product needs as many columns on the left as rows on the right: the last axis of the "
    "left one is as long as the second-to-last of the right one. What shape does each have?",
    "line up": "Two tensors do not line up. Shapes are compared from the right, and only an axis of size 1 stretches.",
    "in place": "An operation in place, such as +=, &= or copy_, writes into its first tensor, which cannot take the "
    "result. A new one can: a = a & b leaves the caller's alone.",
    "learned": "A tensor that learns was written to while autograd was watching. Make a new tensor; if you do mean to "
    "overwrite a parameter, do it under torch.no_grad().",
    "overwritten": "A result was overwritten that autograd still needs for the gradient. Make a new tensor instead of "
    "writing into that one: masked_fill and torch.where do.",
    "no gradient": "No gradient comes back to the inputs: what is returned does not depend on them, or it was cut "
    "off on the way, as detach, .data, .item(), NumPy, math.* and torch.tensor(...) do.",
    "bool minus": "True and False cannot be subtracted. Use ~ to invert a mask; to calculate with one, turn it into "
    "numbers first.",
    "two dtypes": "Two dtypes met. What you create yourself needs the dtype of the inputs: dtype=x.dtype.",
    "no super": "`super().__init__()` is missing. It comes first in `__init__`, before any layer.",
    "unpack": "The left side names another number of things than came. Will it always be that many?",
    "no axis": "There is no such axis. Counted from the end, -1 and -2, axes exist for any number of axes in front.",
    "indices": "More indices than axes. What shape does it have in this check?",
    "list index": "A list has fewer entries than the index asks for. Can it be empty, or shorter than you think?",
    "index": "An index points past the end of an axis or a list. Is that the axis you mean, with a batch in front?",
    "view": "`view` needs numbers that lie in memory in order, and after a transpose or an expand they do not. Use "
    "`reshape` or `flatten`.",
    "fill a shape": "The tensor has more or fewer numbers than the shape that was asked for. Which of the two is not "
    "what you expected in this check, the tensor or the sizes?",
    "plain number": "torch's functions take tensors, and this is a plain number. For those there are `math`, ** 0.5, "
    "and Python's own max and min.",
    "whole tensor": "Many numbers were put where one belongs. PyTorch's and NumPy's own functions work on all entries "
    "at once, and functions that join take their tensors in one list, in brackets.",
    "truth": "That line asks for one True or False, and there are as many as entries. For entries there are & and | in "
    "place of `and` and `or`; whether an argument was given says `is None`.",
    "einsum": "The einsum names another number of axes than there are. `...` stands for any number of axes in front.",
    "one axis": "A tensor with one axis cannot be transposed. What shape comes in here: a single row, or a matrix that "
    "a loop took apart?",
    "fixed axes": "That function takes a fixed number of axes, and here it is another. `@`, .mT and what has a `dim` "
    "take any number in front.",
    "stack": "What torch.stack lays along a new axis has to have one shape, and these shapes differ. torch.cat joins "
    "along an axis that they have, where they may differ.",
    "cat": "Joining needs the same number of axes, and equal sizes along all but one. Is that the axis you mean?",
    "whole numbers": "That is not defined for whole numbers or booleans. Turn them into floating-point numbers first.",
    "boolean mask": "A mask has to be boolean here: True and False, not numbers.",
    "two things": "max and min with a `dim` return two things, the values and their positions. You need the values "
    "alone: amax, amin.",
    "not run": "The exercise is not defined: its cell is missing, or it stopped with an error. Run that cell by "
    "itself, and then from a fresh start all cells in order.",
    "not defined": "A name has no value at that point. Is it spelled as it was where it got one?",
    "arguments": "A function was called with arguments that it does not take. NumPy says axis and keepdims where "
    "PyTorch says dim and keepdim.",
}
