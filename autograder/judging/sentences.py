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

# what a result is, seen from the right one: `relations`
RELATIONS: Mapping[str, str] = {
    "dtype": "The right numbers, but as {mine}; they should be {right}.",
    "shape": "The right numbers in the right order, but axes were joined, split, added or lost.",
    "nan": "Right, except for NaN where there should be 0.",
    "transposed": "The right numbers, but the result is transposed: rows and columns are swapped.",
    "permuted": "The right numbers, but the axes of the result are in another order.",
    "rolled": "The right numbers, all moved by one position along axis {axis}.",
    "cut anew": "The right numbers in the wrong order: the axes were {before} when a reshape or view made this shape, "
    "and should have been {right}.",
    "cut anew unseen": "The right numbers in the wrong order: the axes were in another order when a reshape or view "
    "made this shape.",
    "complement": "Inverted: True is where False belongs, and False where True does.",
    "one minus": "This is 1 minus the right result.",
    "negative": "Right except for the sign: plus and minus are swapped everywhere.",
    "logarithm": "This is the logarithm of the right result.",
    "scores": "These are scores: softmax of them gives the right weights.",
    "root": "This is the square root of the right result.",
    "square": "This is the square of the right result.",
    "inverse": "This is 1 divided by the right result.",
    "factor of a size": "Every entry is {factor} times what it should be, and {size} is a size of the inputs.",
    "factor": "Every entry is {factor} times what it should be.",
    "factor unseen": "Right up to one factor.",
    "input": "That is one of the inputs as it was.",
    "nearly": "Right to about three digits, but no further. Is a small number added, or something rounded?",
    "one value": "Every entry is {value}.",
    "one value unseen": "All entries are equal.",
    "signs": "Every entry has the opposite sign of what it should have.",
    "first for all": "Every {part} is what only the first one should be.",
    "repeated": "Every {part} came out the same.",
    "unfilled": "The last {part} is all 0.",
    "wrong order": "The right tensors in the wrong order. Asked for is {asked}.",
}

# why two tensors do not fit together: `misfits`
SHAPES: Mapping[str, str] = {
    "one slice": "{a} is one slice of {b} along its first axis, as a loop or an index takes it. With axes in front, "
    "that is a whole sentence or head, not a row.",
    "one slice asked": "{a} is one slice of {b} along its first axis, as a loop or an index takes it: a whole row or "
    "more, where one number is asked for.",
    "empty": "{a} has an axis of size 0. Where does that size come from?",
    "axis lost": "{a} has the axes of {b} but one. If the two belong together, it needs an axis of size 1 in its "
    "place: keepdim=True in a sum or a maximum, or unsqueeze.",
    "axis moved": "{a} has an axis of size 1 for one of those of {b}, but in another position, so it meets the wrong "
    "one. keepdim=True leaves it where it was.",
    "axes swapped": "{a} has the sizes of {b}, but two of its axes are swapped: one of the two is transposed.",
    "left transposed": "Transposed, {a} would fit {b}. Is a transpose missing, or one too many?",
    "made too early": "What is added to {a} has another length than {a}. Where does the length of {a} come from?",
    "two rows": "{a} and {b} have one axis each and different lengths, so their entries cannot be paired. For a table "
    "of all pairs, one becomes a column: [:, None].",
    "right transposed": "The rows of {a} are as long as the rows of {b}: {b}, transposed, would fit on the right.",
}

# what an answer is, when nothing explains it: `diagnose`
ANSWERS: Mapping[str, str] = {
    "no return": "It returned None. Is a `return` missing at the end, or in one of its branches?",
    "differs": f"It differs {UNSEEN}.",
    "only numbers": "The shape is right, the numbers are not.",
    "too large": "Far more came back than was asked for.",
    "changed": "One of the inputs was changed in place, and the result is wrong as well. The caller still needs that "
    "input: make a new tensor.",
    "no value unseen": f"It was stopped {UNSEEN}, or returned something of another kind than was asked for.",
    "no return unseen": f"It returned None {UNSEEN}. Is a `return` missing in one of its branches?",
    "overtime unseen": f"It took too long {UNSEEN}.",
    "error unseen": f"It stopped with an error {UNSEEN}.",
    "trouble unseen": f"{{trouble}} {UNSEEN}.",
    "unexplained": "Not the expected result.",
    "passes": "every check passes",
    "two": "With two changes,",
    "in part": "and the rest still does not.",
    "more right": "more of the results come out right",
}

# what strikes the eye in a student's code: `observations`
OBSERVED: Mapping[str, str] = {
    "unread": "Nothing in your code reads the argument `{name}`.",
    "unread ones": "Nothing in your code reads the arguments `{names}`.",
    "exact": "`{code}` compares exactly, so a difference in the last digits, which is rounding, counts.",
    "other draw": "`{code}` draws, but not from the `generator` that was passed in.",
    "seed in loop": "`{code}` stands in a loop, so every round draws the same numbers again.",
    "yield without gradients": "`yield` stands inside `{code}`, so gradients are off for all that runs in the block.",
    "nan from": "NaN appears first in {nan}.",
    "nan after infinity": "Infinity appears first in {infinite}, and NaN in {nan}.",
    "nan alone": "`{code}` is true for NaN alone: any other wrong number passes.",
    "left out": " Nothing in the function gives it a value, so the argument was left out.",
    "given": " `{code}` gave it that value.",
    "loop": " Does a loop stop too early?",
    "lost": "`{code}` stands alone on its line: it returns something new, and nothing keeps it.",
}

# up to where a wrong answer's numbers are those of a solution: `parting`
TRACED: Mapping[str, str] = {
    "parts": "up to {known} these are numbers of a solution; {other}, makes others.",
    "parts at once": "{other}, makes numbers that a solution does not have.",
    "same": " A solution has {name} there too, with something else in it.",
    "later": " A solution has {name} later: another step comes before it.",
    "another": " A solution goes on from there with another step.",
    "ends": " A solution ends there.",
    "same too": " A solution has {name} too, with something else in it.",
    "none": " A solution has no {name}.",
    "all": "All numbers on the way are those of a solution.",
}

# the kind of change that an edit of a student's code is, as a clause: `edit_operators`
CHANGES: Mapping[str, str] = {
    "sign": "without the sign in front",
    "one case": "with one of its cases always",
    "body always": "with its body done in every case",
    "other case always": "with the other case always",
    "setting": "with the opposite setting",
    "number": "with a {how} number {what}",
    "offset": "with a {how} offset: a diagonal further to the {side}",
    "index": "with another index",
    "round": "with the loop's `{name}` as index",
    "axis": "along another axis",
    "two axes": "along two other axes",
    "one axis": "along one axis",
    "axis kept": "with that axis kept, of size 1",
    "from axis": "from another axis on",
    "keyword": "with `{keyword}`, as in the other `{name}`",
    "dtype": "with the dtype of `{name}`",
    "end": "with its end moved by one",
    "mode": "with the module's mode passed on",
    "operation": "with another operation",
    "joined": "with the conditions joined another way",
    "comparison": "with another comparison",
    "equal too": "true for equal values too",
    "equal not": "no longer true for equal values",
    "opposite": "the other way around",
    "none": "asking whether it is None instead of whether it is true",
    "condition": "with the opposite condition",
    "elements": "with two of its elements exchanged",
    "arguments": "with two of its arguments exchanged",
    "cases": "with its two cases exchanged",
    "sides": "with its two sides exchanged",
    "steps": "with its two steps in the other order",
    "minus": "with the opposite sign",
    "function": "with another function",
    "other transpose": "transposed along other axes: `.T` turns all of them around, `.mT` the last two",
    "not in place": "as a new tensor instead of in place",
    "copy": "on a copy",
    "inverted": "inverted",
    "transposed": "transposed",
    "new axis": "with a new axis for `{name}`",
    "root": "with the root of `{name}`",
    "raised for returned": "raised instead of returned",
    "raised": "raised",
    "returned for printed": "returned instead of printed",
    "returned": "returned",
    "first round": "with its first round only",
    "moved": "earlier, before `{before}`",
    "name": "with another name for `{name}`",
    "layer": "with another layer",
    "argument": "with an argument of the function in place of `{name}`",
    "all axes": "over all axes",
    "unread": "with an argument in its place that nothing uses so far",
    "passed": "with `{name}` passed on",
    "factor": "with one more factor",
    "factor unread": "with `{name}` as one more factor",
    "copy kept": "with a copy of it, not a view, which changes with what it is a view of",
    "generator": "with the generator passed on",
    "whole axis": "with the whole axis in place of one position",
    "new axis moved": "with the new axis in another place",
    "tolerance": "with room for rounding",
    "turned first": "after a transpose, since it keeps the order in which numbers lie",
    "turned after": "with its axes put in place by a transpose, since it keeps the order in which numbers lie",
    "every row": "for all of them, and not for the first one alone",
    "random": "with random numbers in its place, of which no two are alike",
    "one part": "called for one part at a time, with no axes in front",
    "one batch": "called with exactly one axis in front",
    "axis last": "with the axis `{name}` moved to the end before, and back afterward",
    "nan too": "asked so that NaN counts too: a comparison with NaN is False",
    "elif": "as `elif`, only where the condition before it is false",
    "pieces": "with another function: split takes the size of a piece, chunk how many there are",
}

PROVED = re.compile(r"\bchecks? pass")
ANY_VALUE = re.compile(r"with (?:a \w+ number|one more factor)")  # any mistake may end in another number


# what an error means: `exceptions`. {0}, {1} … are what the pattern's groups found; the second sentence is for inputs
# that the student has not seen, where the first has gaps
ERRORS: Mapping[str, tuple[str, ...]] = {
    "own raise": ("Your own `raise` was reached: its condition is true for inputs that the exercise allows.",),
    "stub": ("The line `raise NotImplementedError()` is still reached. Your code goes in its place.",),
    "no transpose": (
        "A matrix product needs as many columns on the left as rows on the right, and no transpose makes these two "
        "fit. Is one of them another tensor than you meant?",
    ),
    "matrix product": (
        "A matrix product needs as many columns on the left as rows on the right. Is a transpose missing, or one too "
        "many?",
    ),
    "inner sizes": (
        "The inner sizes of a matrix product differ: the last axis of the left one has to be as long as the "
        "second-to-last of the right one. What shape does each have?",
    ),
    "line up": (
        "Two tensors do not line up: {0} meets {1} on axis {2}. Shapes are compared from the right, and only an axis "
        "of size 1 stretches.",
        "Two tensors do not line up. Shapes are compared from the right, and only an axis of size 1 stretches.",
    ),
    "cannot grow": (
        "An operation in place, such as &=, += or copy_, writes into its first tensor, {0}, which cannot grow to {1}. "
        "A new tensor can: a = a & b leaves the caller's alone.",
        "An operation in place, such as &=, += or copy_, writes into its first tensor, which cannot grow. A new "
        "tensor can.",
    ),
    "expanded": (
        "An operation in place, such as &= or +=, writes into a tensor that was expanded, whose rows share their "
        "memory. Make a new tensor instead: a = a & b leaves the caller's alone.",
    ),
    "learned": (
        "A tensor that learns was written to while autograd was watching. Make a new tensor; if you do mean to "
        "overwrite a parameter, do it under torch.no_grad().",
    ),
    "parameter": (
        "A parameter cannot be replaced by a plain tensor. Write into the one that is there: copy_, under "
        "torch.no_grad().",
    ),
    "overflow": (
        "A number does not fit into the dtype of the tensor it goes to: whole numbers have no infinity, and float16 "
        "ends at 65504. Create the tensor with a dtype that has it.",
    ),
    "overwritten": (
        "A result was overwritten that autograd still needs for the gradient. Make a new tensor instead of writing "
        "into that one: masked_fill and torch.where do.",
    ),
    "no gradient": (
        "No gradient comes back to the inputs: the result was cut off from them. detach, .data, .item(), NumPy, "
        "math.* and torch.tensor(...) all do that.",
    ),
    "numpy gradient": (
        "NumPy knows nothing of gradients, so a tensor that has one cannot become an array. Stay with PyTorch's "
        "functions.",
    ),
    "bool minus": (
        "True and False cannot be subtracted. Use ~ to invert a mask; to calculate with one, turn it into numbers "
        "first.",
    ),
    "two dtypes": ("Two dtypes met. What you create yourself needs the dtype of the inputs: dtype=x.dtype.",),
    "no super": ("`super().__init__()` is missing. It comes first in `__init__`, before any layer.",),
    "unpack": (
        "The left side names {0} things, and a different number came. Will it always be {0}?",
        "The left side names another number of things than came. Will it always be that many?",
    ),
    "is none": ("`{0}` is None on that line.{1}",),
    "none": ("Something on that line is None: an optional argument, or the result of a function without `return`.",),
    "devices": ("Two tensors are on different devices. What you create yourself needs device=... too.",),
    "no axis": (
        "The tensor has no axis {2}. Counted from the end, -1 and -2, axes exist for any number of axes in front.",
        "The tensor does not have that axis. Counted from the end, -1 and -2, axes exist for any number in front.",
    ),
    "permute": (
        "`permute` lists as many axes as the tensor has, and here it has another number. .mT, or transpose(-2, -1), "
        "swaps the last two of any.",
    ),
    "indices": (
        "More indices than axes: there are {0}. What shape does it have in this check?",
        "More indices than axes. What shape can it have?",
    ),
    "boolean index": (
        "A boolean index has to have the shape of what it indexes: indexing does not broadcast. torch.where, "
        "masked_fill and np.where do.",
    ),
    "nothing there": (
        "Something is empty there, so it has no maximum and no first entry. Where does its size come from?",
    ),
    "not whole": (
        "A size or a position has to be a whole number, and this one is a float: `/` makes one, `//` does not.",
    ),
    "arange": (
        "`arange` was asked to count up to a number below the one where it begins. What are the two on these inputs?",
    ),
    "taken for": (
        "`{0}` took one of your arguments for its `{1}`. What is not a size is passed by name, as in dtype=... or "
        "generator=...",
        "A function took one of your arguments for a size. What is not a size is passed by name, as in dtype=...",
    ),
    "combination": (
        "`{0}` does not take these kinds of arguments together: {1}. Which of them does it want as a number, and which "
        "as a tensor?",
        "A function does not take these kinds of arguments together. Which of them does it want as a number?",
    ),
    "index": (
        "Index {0} was asked for on axis {1}, which has size {2}. Is that the axis you mean, with a batch in front?",
        "An index points past the end of an axis. Is that the axis you mean, with a batch in front?",
    ),
    "list index": ("A list or a tuple is shorter than that index asks for. What does it hold on these inputs?",),
    "state dict": (
        "A state_dict fits a module whose parameters have the same names and shapes, and here they do not. Copy them "
        "one by one.",
    ),
    "past the end": ("An index points past the end. Which size should the loop or the index run over?",),
    "view": (
        "After a transpose the numbers no longer lie in memory in order, which `view` needs. Use `reshape` or "
        "`flatten`.",
    ),
    "fill a shape": (
        "{1} numbers do not fill the shape {0}. Each size has to come from what you reshape, and from this call.",
        "The numbers do not fill the shape that was asked for. Each size has to come from what you reshape.",
    ),
    "assigned": ("What you assign or expand does not have the shape of what it is written to.",),
    "plain number": (
        "torch's functions take tensors, and this is a plain number. For those there are `math`, ** 0.5, and Python's "
        "own max and min.",
    ),
    "whole tensor": (
        "A whole tensor was put where one number belongs. PyTorch's own functions work on all entries at once.",
    ),
    "joined truth": (
        "`and`, `or` and a chain such as 0 <= x < n ask for one True or False, and there are many. For entries there "
        "are & and |, with each comparison in parentheses.",
    ),
    "truth": (
        "That line asks for one True or False, and there are as many as the tensor has entries. Work on all entries at "
        "once. Whether an argument was given says `is None`.",
    ),
    "einsum": (
        "The einsum names {0} axes, and here a tensor has {1}. `...` stands for any number of axes in front.",
        "The einsum names another number of axes than a tensor has. `...` stands for any number of axes in front.",
    ),
    "einsum array": (
        "The einsum names another number of axes than an array has. `...` stands for any number of axes in front.",
    ),
    "one axis": (
        "A tensor with one axis cannot be transposed. What shape comes in here: a single row, or a matrix that a loop "
        "took apart?",
    ),
    "single": (
        "That function knows a single row or matrix, and here there are axes in front. Which one takes any number of "
        "them?",
    ),
    "fixed axes": (
        "That product takes a fixed number of axes, and here there are others. `@` takes any number in front.",
    ),
    "stack": (
        "torch.stack makes a new axis, along which all have to have the same shape. To join along an axis that they "
        "have, of any length, there is torch.cat.",
    ),
    "cat": (
        "torch.cat joins along one axis; all others have to be equal, and here they differ. Is that the axis you mean?",
    ),
    "cat axes": ("torch.cat joins tensors with the same number of axes, and one of these has another: {0} and {1}.",
        "torch.cat joins tensors with the same number of axes, and one of these has another.",),
    "list": (
        "A Python list, a tuple or a text takes whole numbers as indices, one at a time. With several, or with None or "
        "a mask, only a tensor can be indexed: torch.tensor makes one of a list.",
    ),
    "not in it": ("`index` and `remove` stop with an error where what they look for is not there. Is it there always?",),
    "no key": ("The dictionary has no entry under that key. Which keys does it have on these inputs?",),
    "joined": (
        "torch.stack and torch.cat join tensors, and there is a {0} among them.",
        "torch.stack and torch.cat join tensors, and something else is among them.",
    ),
    "whole numbers": (
        "That is not defined for whole numbers or booleans ({0}). Turn them into floating-point numbers first.",
        "That is not defined for whole numbers or booleans. Turn them into floating-point numbers first.",
    ),
    "boolean mask": ("A mask has to be boolean here: True and False, not numbers.",),
    "two things": (
        "max and min with a `dim` return two things, the values and their positions. You need the values alone: amax, "
        "amin.",
    ),
    "not run": (
        "The exercise is not defined: its cell is missing, or it stopped with an error. Run that cell by itself, and "
        "then from a fresh start all cells in order.",
    ),
    "not defined": (
        "`{0}` has no value at that point. Is it spelled as it was where it got one?",
        "A name has no value at that point. Is it spelled as it was where it got one?",
    ),
    "arguments": (
        "A function was called with arguments that it does not take, or without some that it needs. The `def` line of "
        "the exercise stays as it was released.",
    ),
    "brackets": (
        "Round and square brackets were mixed up: a method is called, x.size(0), and an attribute is indexed, "
        "x.shape[0].",
    ),
    "not called": ("A function or method is used without being called: its parentheses are missing.",),
    "no file": ("A file is missing. When graded, only this lesson's own files are beside the notebook.",),
    "no package": ("A package is missing. When graded, only what this course installs is there.",),
    "zero": ("Something was divided by 0.",),
    "recursion": ("The function calls itself without end.",),
    "no attribute": (
        "There is no `{0}` on that object. What type does it have there?",
        "An object does not have the attribute that was asked for. What type does it have there?",
    ),
    "in place array": (
        "An operation in place, such as += or /=, writes into an array that cannot take the result: its shape, its "
        "dtype or its memory is another. Make a new array: a = a / b leaves the caller's alone.",
    ),
    "arrays line up": (
        "Two arrays do not line up. Shapes are compared from the right, and only an axis of size 1 stretches. Did a "
        "sum or a maximum lose its axis?",
    ),
    "transpose array": (
        "NumPy's `transpose` wants the new order of all axes, as many as the array has. Two of them are swapped by "
        "swapaxes; .mT swaps the last two.",
    ),
    "no axis array": (
        "The array does not have that axis. Counted from the end, -1 and -2, axes exist for any number in front.",
    ),
    "fill an array": (
        "{0} numbers do not fill the shape {1}. Each size has to come from what you reshape, and from this call.",
        "The numbers do not fill the shape that was asked for. Each size has to come from what you reshape.",
    ),
    "one position": (
        "A whole array was put where one position belongs. np.concatenate and np.stack take their arrays in one list, "
        "in brackets.",
    ),
    "whole array": (
        "A whole array was put where one number belongs. NumPy's own functions, such as np.exp, work on all entries at "
        "once.",
    ),
    "dtype argument": (
        "A number was passed where a dtype belongs. np.zeros and its like take a shape as one argument, a tuple.",
    ),
    "numpy names": ("NumPy says axis and keepdims where PyTorch says dim and keepdim.",),
    "array method": (
        "Arrays have no `{0}`: is it one of PyTorch's methods? NumPy has functions of its own for most of them.",
        "Arrays have no such method: is it one of PyTorch's? NumPy has functions of its own for most of them.",
    ),
    "numpy function": (
        "NumPy has no `{0}`. What it does can be written with a few functions that NumPy has.",
        "NumPy has no such function. What it does can be written with a few functions that NumPy has.",
    ),
    "mixed libraries": (
        "A PyTorch function, or a tensor, met a NumPy array. Stay with one of the two; torch.from_numpy makes a tensor "
        "of an array.",
    ),
    "a tensor already": ("torch.from_numpy takes an array, and this is a tensor already.",),
}
